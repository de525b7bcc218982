package config

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
)

// A Budget is one of the tables [[budget]]: how much may be used, and what happens then. Of USD, Turns, Wall and Idle at least one is set; zero
// means no limit.
type Budget struct {
	// Name is how people are told which one is used up. No two have the same.
	Name string
	// Per is session, folder or day: what is counted together.
	Per string
	// Folder is the folder in which, or below which, a session has to be for the budget to count. If empty, all count.
	Folder Folder
	// USD is money, as the CLI reckons it. Turns are the agent's.
	USD   float64
	Turns int64
	// Wall is time at work, Idle time without work.
	Wall, Idle Duration
	// Action is warn, ask or interrupt.
	Action string
	// WarnAt is the part of the budget, from 0 to 1, at which people are warned.
	WarnAt float64
}

// Notify is the section [notify]: where notifications go, outside of all front ends, when an agent needs an answer.
type Notify struct {
	// Link is the address of the console, for links in notifications. If empty, they have none.
	Link Link
	// Targets are the tables [[notify.target]].
	Targets []Target
}

// A Target is where notifications go.
type Target struct {
	// Kind is webhook or ntfy.
	Kind string
	// URL is where to post to.
	URL Link
	// SecretFile holds the key that a webhook is signed with, TokenFile the token that the server wants, if it wants one.
	SecretFile, TokenFile Folder
	// Events are what it is told about. If empty, everything.
	Events []string
	// Detail also tells titles, folders and texts, not only which session and what kind of event.
	Detail bool
}

// The values of members that are one of a few words.
var (
	budgetPer     = [...]string{"session", "folder", "day"}
	budgetActions = [...]string{"warn", "ask", "interrupt"}
	targetKinds   = [...]string{"webhook", "ntfy"}
	notifyEvents  = [...]string{"needs_input", "done", "failed", "limit"}
)

// defaultWarnAt is when people are warned unless the budget says otherwise.
const defaultWarnAt = 0.8

// A Link is the address of something on the web.
type Link string

// UnmarshalText accepts addresses of HTTP with a host and without a password, which would end up in logs. The errors do not show the address: it
// may be a secret, or have one in it.
func (l *Link) UnmarshalText(text []byte) error {
	value := string(text)
	u, err := url.Parse(value)
	switch {
	case err != nil, u.Scheme != "https" && u.Scheme != "http", u.Hostname() == "":
		return errors.New("this is no address on the web; write it as https://example.com/path")
	case u.User != nil:
		return errors.New("the address has a name or a password in it, which is no place for one")
	case u.Fragment != "" || strings.Contains(value, "#"):
		return errors.New("the address has a # in it, and what follows it is never sent")
	}
	*l = Link(value)
	return nil
}

// A Member describes a member of a table of which there may be several, for documentation.
type Member struct {
	// Key is its name with that of its table: "budget.per".
	Key string
	// Default is what holds if it is not set, in words where there are none to write.
	Default string
	// What says what it does, in a sentence without its full stop.
	What string
	// want says what has to be written.
	want string
}

// Members returns the members of the tables [[budget]] and [[notify.target]].
func Members() []Member {
	const text, number, whole, list, truth = "a text in quotes", "a number", "a whole number", `a list of texts: ["done", "failed"]`, "true or false"
	return []Member{
		{"budget.name", "required", "name shown when the budget is used up", text},
		{"budget.per", "session", "what is counted together: each `session`, all in a `folder`, or all on a `day`", text},
		{"budget.folder", "everywhere", "counts only sessions in this folder and below", text},
		{"budget.usd", "no limit", "cost in US dollars, as Claude Code reports it at the end of each turn", number},
		{"budget.turns", "no limit", "number of turns", whole},
		{"budget.wall", "no limit", "working time", text},
		{"budget.idle", "no limit", "idle time, per session", text},
		{"budget.action", "warn", "what happens when it is used up: `warn` reports it, `ask` holds the queue until someone releases it, `interrupt` also interrupts the turn", text},
		{"budget.warn_at", "0.8", "fraction of the budget at which to warn", number},
		{"notify.target.kind", "required", "`webhook` or `ntfy`", text},
		{"notify.target.url", "required", "URL to post to; for ntfy with its topic", text},
		{"notify.target.secret_file", "required for a webhook", "file with the signing key of the webhook, readable by you alone", text},
		{"notify.target.token_file", "none", "file with the access token for the target, readable by you alone", text},
		{"notify.target.events", "all", "events to send: `needs_input`, `done`, `failed`, `limit`", list},
		{"notify.target.detail", "false", "includes titles and texts, not only the session and the kind of event", truth},
	}
}

// A fileBudget is a [Budget] as the decoder sees it.
type fileBudget struct {
	Name   *string                    `toml:"name"`
	Per    *string                    `toml:"per"`
	Folder value[Folder, *Folder]     `toml:"folder"`
	USD    *float64                   `toml:"usd"`
	Turns  *int64                     `toml:"turns"`
	Wall   value[Duration, *Duration] `toml:"wall"`
	Idle   value[Duration, *Duration] `toml:"idle"`
	Action *string                    `toml:"action"`
	WarnAt *float64                   `toml:"warn_at"`
}

// A fileTarget is a [Target] as the decoder sees it.
type fileTarget struct {
	Kind       *string                `toml:"kind"`
	URL        value[Link, *Link]     `toml:"url"`
	SecretFile value[Folder, *Folder] `toml:"secret_file"`
	TokenFile  value[Folder, *Folder] `toml:"token_file"`
	Events     []string               `toml:"events"`
	Detail     *bool                  `toml:"detail"`
}

// refused returns the member whose type did not like its text.
func (b *fileBudget) refused() (member string, err error) {
	return first("folder", b.Folder.err, "wall", b.Wall.err, "idle", b.Idle.err)
}

// refused returns the member whose type did not like its text.
func (t *fileTarget) refused() (member string, err error) {
	return first("url", t.URL.err, "secret_file", t.SecretFile.err, "token_file", t.TokenFile.err)
}

// first returns the first of some names, each followed by an error, whose error there is.
func first(pairs ...any) (string, error) {
	for i := 0; i < len(pairs); i += 2 {
		if err, _ := pairs[i+1].(error); err != nil {
			name, _ := pairs[i].(string)
			return name, err
		}
	}
	return "", nil
}

// A wrongMember says what is wrong with one of the tables, and where in it.
type wrongMember struct {
	member string // "" if it is the table itself
	reason string
}

// Error returns the reason.
func (w *wrongMember) Error() string { return w.reason }

func wrong(member, format string, args ...any) error {
	return &wrongMember{member, fmt.Sprintf(format, args...)}
}

// budget checks what the decoder has read. others are the budgets before it.
func (b *fileBudget) budget(home string, others []Budget) (Budget, error) {
	read := Budget{Per: budgetPer[0], Action: budgetActions[0], WarnAt: defaultWarnAt}
	put(&read.Name, b.Name)
	put(&read.Per, b.Per)
	put(&read.Folder, b.Folder.read)
	put(&read.USD, b.USD)
	put(&read.Turns, b.Turns)
	put(&read.Wall, b.Wall.read)
	put(&read.Idle, b.Idle.read)
	put(&read.Action, b.Action)
	put(&read.WarnAt, b.WarnAt)
	switch {
	case strings.TrimSpace(read.Name) == "":
		return read, wrong("name", "the budget has no name; give it one, by which people are told that it is used up")
	case slices.ContainsFunc(others, func(other Budget) bool { return other.Name == read.Name }):
		return read, wrong("name", "there is another budget %q", read.Name)
	case !slices.Contains(budgetPer[:], read.Per):
		return read, wrong("per", "%q is none of %s", read.Per, strings.Join(budgetPer[:], ", "))
	case !slices.Contains(budgetActions[:], read.Action):
		return read, wrong("action", "%q is none of %s", read.Action, strings.Join(budgetActions[:], ", "))
	case read.USD < 0 || math.IsInf(read.USD, 0) || math.IsNaN(read.USD):
		return read, wrong("usd", "%v is no amount of money; write it as 2.50", read.USD)
	case read.Turns < 0:
		return read, wrong("turns", "%d is less than nothing", read.Turns)
	case read.WarnAt <= 0 || read.WarnAt > 1 || math.IsNaN(read.WarnAt):
		return read, wrong("warn_at", "%v is no part of a budget; write it as 0.8 for four fifths", read.WarnAt)
	case read.USD == 0 && read.Turns == 0 && read.Wall == 0 && read.Idle == 0:
		return read, wrong("", "the budget %q limits nothing; set usd, turns, wall or idle", read.Name)
	}
	if err := read.Folder.expand(home); err != nil {
		return read, wrong("folder", "%s", err)
	}
	return read, nil
}

// target checks what the decoder has read.
func (t *fileTarget) target(home string) (Target, error) {
	read := Target{Events: t.Events}
	put(&read.Kind, t.Kind)
	put(&read.URL, t.URL.read)
	put(&read.SecretFile, t.SecretFile.read)
	put(&read.TokenFile, t.TokenFile.read)
	put(&read.Detail, t.Detail)
	for _, event := range read.Events {
		if !slices.Contains(notifyEvents[:], event) {
			return read, wrong("events", "%q is none of %s", event, strings.Join(notifyEvents[:], ", "))
		}
	}
	switch {
	case !slices.Contains(targetKinds[:], read.Kind):
		return read, wrong("kind", "%q is none of %s", read.Kind, strings.Join(targetKinds[:], ", "))
	case read.URL == "":
		return read, wrong("url", "the target has no url; set the address to post to")
	case read.Kind == "webhook" && read.SecretFile == "":
		return read, wrong("", "the webhook has no secret_file; name a file with the key to sign with, else nobody can tell our messages from others")
	case read.Kind == "ntfy" && read.SecretFile != "":
		return read, wrong("secret_file", "nothing for ntfy is signed; its token belongs into token_file")
	}
	for member, file := range map[string]*Folder{"secret_file": &read.SecretFile, "token_file": &read.TokenFile} {
		if err := file.expand(home); err != nil {
			return read, wrong(member, "%s", err)
		}
	}
	return read, nil
}

// lists returns the tables of which there may be several. An error is an *[Error].
func (f *fileConfig) lists(name string, text []byte, home string) (budgets []Budget, targets []Target, err error) {
	for i := range f.Budget {
		b, err := f.Budget[i].budget(home, budgets)
		if err != nil {
			return nil, nil, inTable(name, text, "budget", i, err)
		}
		budgets = append(budgets, b)
	}
	for i := range f.Notify.Target {
		t, err := f.Notify.Target[i].target(home)
		if err != nil {
			return nil, nil, inTable(name, text, "notify.target", i, err)
		}
		targets = append(targets, t)
	}
	return budgets, targets, nil
}

// inTable gives an error in the n-th table of a name, from 0, its place.
func inTable(name string, text []byte, table string, n int, err error) *Error {
	key := table
	member := ""
	if w, ok := errors.AsType[*wrongMember](err); ok && w.member != "" {
		member = w.member
		key += "." + member
	}
	return &Error{Source: name, Line: lineIn(text, table, n, member), Column: 1, Reason: key + ": " + err.Error()}
}
