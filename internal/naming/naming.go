package naming

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/api"
)

// Last is the name that stands for the session that was updated last, or for the question that has waited longest.
const Last = "-"

// The kinds of things that have names.
const (
	KindSession      = "session"
	KindQuestion     = "question"
	KindConversation = "conversation"
)

const (
	// leastPrefix is how many letters the beginning of an id must have: with fewer, a title of a letter or two would often be taken for one.
	leastPrefix = 3
	// shortID is how much of an id people are shown. Among a million sessions it is still very likely that it names one.
	shortID = 9
	// page is how many sessions are asked for at a time, maxMeant how many an error lists.
	page     = 200
	maxMeant = 8
	// maxPasses is how often a list is read again that changes meanwhile.
	maxPasses = 20
	// maxAbout is how many letters of a title an error quotes.
	maxAbout = 60
	// leastConversation and maxConversation bound what may be the id of a conversation, or the beginning of one.
	leastConversation = 4
	maxConversation   = 64
	// sameMoment is how close together two sessions were updated if it is chance which of them was the last.
	sameMoment = 2 * time.Second
)

// A Lister knows sessions. A client of a server is one.
type Lister interface {
	List(ctx context.Context, f api.SessionFilter) (*api.SessionList, error)
	Session(ctx context.Context, id string) (*api.Session, error)
}

// A Questioner knows questions, and sessions to name them by. A client of a server is one.
type Questioner interface {
	Lister
	Questions(ctx context.Context, f api.QuestionFilter) (*api.QuestionList, error)
	Question(ctx context.Context, id string) (*api.Question, error)
}

// A Reader knows sessions and the conversations on disk. A client of a server is one.
type Reader interface {
	Lister
	Transcripts(ctx context.Context, f api.TranscriptFilter) (*api.TranscriptList, error)
}

// An Error says that a name stands for nothing, or for more than one thing.
type Error struct {
	// Name is what was asked for, Kind is KindSession, KindQuestion or what else has names.
	Name, Kind string
	// Candidates are what it could stand for, an id with some words each; none if there is nothing of this name.
	Candidates []string
	// Why, if not empty, says in place of the usual words why there is nothing.
	Why string
}

// Error says what the name could stand for, or where to look.
func (e *Error) Error() string {
	list := map[string]string{KindSession: "; switchboard ls lists them", KindQuestion: "; switchboard questions lists them"}[e.Kind]
	switch {
	case len(e.Candidates) > 0:
		shown, more := e.Candidates, ""
		if len(shown) > maxMeant {
			shown, more = shown[:maxMeant], fmt.Sprintf("\n  … and %d more", len(shown)-maxMeant)
		}
		return fmt.Sprintf("%q matches several %ss; name one by its id:\n  %s%s", e.Name, e.Kind, strings.Join(shown, "\n  "), more)
	case e.Why != "":
		return e.Why + list
	default:
		return fmt.Sprintf("no %s %q%s", e.Kind, e.Name, list)
	}
}

// Short returns as much of an id as people are shown. It names the same session or question.
func Short(id string) string {
	if len(id) <= shortID {
		return id
	}
	return id[:shortID]
}

// Session returns the session that a name stands for: its id; the beginning of one, with or without the s before it, of at least three letters; its
// title; the beginning of its title, in capitals or not; or [Last]. Of sessions with the same title those that are not archived come first.
//
// What has the form of a whole id is never taken for anything else. A title can be what an agent likes: if one is the same as the beginning of
// another session's id, both are meant, and the error is an *[Error] like that for a name that stands for nothing.
func Session(ctx context.Context, hub Lister, name string) (*api.Session, error) {
	switch {
	case name == "":
		return nil, &Error{Name: name, Kind: KindSession, Why: "name a session"}
	case name == Last:
		list, err := hub.List(ctx, api.SessionFilter{Limit: 1})
		if err != nil {
			return nil, err
		}
		if len(list.Sessions) == 0 {
			return nil, &Error{Name: name, Kind: KindSession, Why: "no sessions yet"}
		}
		return hub.Session(ctx, list.Sessions[0].ID)
	case isID(name, 's'):
		session, err := hub.Session(ctx, name)
		if notFound(err) {
			return nil, &Error{Name: name, Kind: KindSession}
		}
		return session, err
	}
	all, err := All(ctx, hub, api.SessionFilter{Archived: true})
	if err != nil {
		return nil, err
	}
	meant, rest := match(all, name)
	if len(meant) == 0 {
		meant = rest
	}
	switch len(meant) {
	case 0:
		return nil, &Error{Name: name, Kind: KindSession}
	case 1:
		return hub.Session(ctx, meant[0].ID)
	default:
		return nil, severalSessions(name, meant)
	}
}

// SessionToEnd is like [Session], for callers that take something from an agent that is at work. While several are, which of them was updated last
// changes from one moment to the next, so that [Last] would hit one by chance: then it stands for none.
func SessionToEnd(ctx context.Context, hub Lister, name string) (*api.Session, error) {
	session, err := Session(ctx, hub, name)
	if err != nil || name != Last || session.State == api.StateEnded {
		return session, err
	}
	list, err := hub.List(ctx, api.SessionFilter{State: LiveStates(), Limit: maxMeant + 1})
	if err != nil {
		return nil, err
	}
	several := &Error{Name: name, Kind: KindSession, Candidates: []string{line(session.ID, brief(session.Title))}}
	for i := range list.Sessions {
		if other := &list.Sessions[i]; other.ID != session.ID && session.Updated.Sub(other.Updated).Abs() < sameMoment {
			several.Candidates = append(several.Candidates, line(other.ID, brief(other.Title)))
		}
	}
	if len(several.Candidates) > 1 {
		return nil, several
	}
	return session, nil
}

// LiveStates returns the states of sessions that have a process.
func LiveStates() []api.State {
	return []api.State{api.StateStarting, api.StateIdle, api.StateRunning, api.StateRequiresAction, api.StateBackground, api.StateOffline}
}

// Conversation finds a session by any of its names, see [Session], or else a conversation on disk by its id or the beginning of it. A conversation on
// disk that is the present one of a session is that session, and both are returned. A conversation that a session had before is not: the session
// would not continue it.
func Conversation(ctx context.Context, hub Reader, name string) (*api.Session, *api.Transcript, error) {
	session, err := Session(ctx, hub, name)
	if err == nil {
		return session, nil, nil
	}
	if unknown, ok := errors.AsType[*Error](err); !ok || len(unknown.Candidates) > 0 || !IsConversation(name) {
		return nil, nil, err
	}
	t, err := Transcript(ctx, hub, "", name)
	if err != nil || t.Session == "" {
		return nil, t, err
	}
	if session, err = hub.Session(ctx, t.Session); err != nil {
		return nil, nil, err
	}
	if session.Conversation != t.Conversation {
		session = nil
	}
	return session, t, nil
}

// Transcript finds a conversation on the disk of a machine, by its id or the beginning of it. An empty node is the hub's own machine.
func Transcript(ctx context.Context, hub Reader, node, name string) (*api.Transcript, error) {
	list, err := hub.Transcripts(ctx, api.TranscriptFilter{Node: node, Conversation: name, Limit: maxMeant + 2})
	if err != nil {
		return nil, err
	}
	unknown := &Error{Name: name, Kind: KindConversation}
	for i := range list.Transcripts {
		t := &list.Transcripts[i]
		if t.Conversation == name || len(list.Transcripts) == 1 {
			return t, nil
		}
		unknown.Candidates = append(unknown.Candidates, line(t.Conversation, brief(t.Title)))
	}
	unknown.Why = fmt.Sprintf("there is neither a session %q nor a conversation on disk whose id begins so (switchboard disk ls)", name)
	return nil, unknown
}

// IsConversation reports whether a text may be the id of a conversation, or the beginning of one.
func IsConversation(text string) bool {
	other := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	}
	return len(text) >= leastConversation && len(text) <= maxConversation && !strings.ContainsFunc(text, other)
}

// severalSessions says which sessions a name could stand for.
func severalSessions(name string, meant []api.SessionSummary) *Error {
	e := &Error{Name: name, Kind: KindSession}
	for i := range meant {
		e.Candidates = append(e.Candidates, line(meant[i].ID, meant[i].Title))
	}
	return e
}

// line returns an id with what is said about it. That may be an agent's: with a line end in it, it could look like another candidate.
func line(id, about string) string {
	return strings.TrimSpace(id + "  " + strings.Join(strings.Fields(about), " "))
}

// brief cuts a title that is long.
func brief(title string) string {
	if runes := []rune(title); len(runes) > maxAbout {
		return string(runes[:maxAbout-1]) + "…"
	}
	return title
}

// Question returns the question that a name stands for: its id; the beginning of the id of an open one, of at least three letters, with or without
// the q before it; the name of a session that has only one open question, see [Session]; or [Last], the open one that has waited longest.
//
// As much of an id as [Short] shows, or more, is never taken for anything else while there is such a question, also if it is settled: a person who
// answers what was settled a moment ago must not answer another one. For the same reason a name that could be the beginning of a question's id and
// that of a session stands for neither.
func Question(ctx context.Context, hub Questioner, name string) (*api.Question, error) {
	switch {
	case name == "":
		return nil, &Error{Name: name, Kind: KindQuestion, Why: "name a question"}
	case name == Last:
		open, err := questions(ctx, hub, api.QuestionFilter{State: api.QuestionOpen})
		if err != nil {
			return nil, err
		}
		if len(open) == 0 {
			return nil, &Error{Name: name, Kind: KindQuestion, Why: "no open questions"}
		}
		return &open[0], nil
	case isID(name, 'q'):
		question, err := hub.Question(ctx, name)
		if notFound(err) {
			return nil, &Error{Name: name, Kind: KindQuestion}
		}
		return question, err
	case len(name) >= shortID && name[0] == 'q' && isLetters(name):
		meant, err := questions(ctx, hub, api.QuestionFilter{Prefix: name})
		if err != nil {
			return nil, err
		}
		if len(meant) > 0 {
			return only(name, meant)
		}
	}
	open, err := questions(ctx, hub, api.QuestionFilter{State: api.QuestionOpen})
	if err != nil {
		return nil, err
	}
	all, err := All(ctx, hub, api.SessionFilter{Archived: true})
	if err != nil {
		return nil, err
	}
	exact, rest := match(all, name)
	if len(exact) > 1 {
		return nil, severalSessions(name, exact)
	}
	meant := open[:0:0]
	for _, q := range open {
		if beginsID(q.ID, name) || slices.ContainsFunc(exact, func(s api.SessionSummary) bool { return s.ID == q.Session }) {
			meant = append(meant, q)
		}
	}
	if len(meant) > 0 {
		return only(name, meant)
	}
	if len(exact) == 0 {
		exact = rest
	}
	switch len(exact) {
	case 0:
		return nil, &Error{Name: name, Kind: KindQuestion}
	case 1:
	default:
		return nil, severalSessions(name, exact)
	}
	for _, q := range open {
		if q.Session == exact[0].ID {
			meant = append(meant, q)
		}
	}
	if len(meant) == 0 {
		return nil, &Error{Name: name, Kind: KindQuestion, Why: fmt.Sprintf("session %s has no open question", exact[0].ID)}
	}
	return only(name, meant)
}

// only returns the question if there is one, and says which there are if there are several.
func only(name string, meant []api.Question) (*api.Question, error) {
	if len(meant) == 1 {
		return &meant[0], nil
	}
	e := &Error{Name: name, Kind: KindQuestion}
	for i := range meant {
		q := &meant[i]
		e.Candidates = append(e.Candidates, line(q.ID, fmt.Sprintf("%s %s %s", q.Kind, q.Tool, q.Title)))
	}
	return nil, e
}

// match returns the sessions that a name could stand for: those whose id begins so or that are called so, and, if there is none, those whose title
// begins so.
func match(all []api.SessionSummary, name string) (exact, rest []api.SessionSummary) {
	exact = pick(all, func(s *api.SessionSummary) bool { return beginsID(s.ID, name) })
	exact = append(exact, unarchived(pick(all, func(s *api.SessionSummary) bool { return s.Title == name && !beginsID(s.ID, name) }))...)
	if len(exact) > 0 {
		return exact, nil
	}
	begin := strings.ToLower(name)
	return nil, unarchived(pick(all, func(s *api.SessionSummary) bool { return strings.HasPrefix(strings.ToLower(s.Title), begin) }))
}

// unarchived leaves out those that are archived, unless all are.
func unarchived(list []api.SessionSummary) []api.SessionSummary {
	if some := pick(list, func(s *api.SessionSummary) bool { return !s.Archived }); len(some) > 0 {
		return some
	}
	return list
}

// pick returns what is wanted.
func pick(list []api.SessionSummary, want func(*api.SessionSummary) bool) []api.SessionSummary {
	var picked []api.SessionSummary
	for i := range list {
		if want(&list[i]) {
			picked = append(picked, list[i])
		}
	}
	return picked
}

// ByID reports whether a name is an id, or the beginning of it, rather than another name of the same thing.
func ByID(id, name string) bool { return beginsID(id, name) }

// beginsID reports whether an id begins so, with or without the letter that all ids of its kind begin with.
func beginsID(id, begin string) bool {
	return len(begin) >= leastPrefix && id != "" && (strings.HasPrefix(id, begin) || strings.HasPrefix(id[1:], begin))
}

// isID reports whether a text has the form of a whole id.
func isID(text string, kind byte) bool {
	return len(text) == 21 && text[0] == kind && isLetters(text[1:])
}

// isLetters reports whether a text has only what ids are made of.
func isLetters(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '2' || r > '9') })
}

// notFound reports whether the server says that there is no such thing.
func notFound(err error) bool {
	failed, ok := errors.AsType[*api.Error](err)
	return ok && failed.Code == api.CodeNotFound
}

// questions lists questions, the oldest first.
func questions(ctx context.Context, hub Questioner, f api.QuestionFilter) ([]api.Question, error) {
	var all []api.Question
	for {
		list, err := hub.Questions(ctx, f)
		if err != nil {
			return nil, err
		}
		all = append(all, list.Questions...)
		if f.Cursor = list.Next; f.Cursor == "" {
			return all, nil
		}
	}
}

// All lists all sessions that a filter selects, the most recently updated first. Sessions at work are updated all the time: while one page is read, one
// of the next may move to a page that was read before. So what was updated meanwhile is read again, until that is no more than one page, which the
// server reads at one moment. Else a name would seem to stand for one session that stands for two, and an agent would be missed that is to be ended.
func All(ctx context.Context, hub Lister, f api.SessionFilter) ([]api.SessionSummary, error) {
	var all []api.SessionSummary
	at := map[string]int{} // where a session is in all
	since := time.Time{}   // what was updated before is known
	for pass := 0; ; pass++ {
		begun, pages, known := since, 0, false
		for f.Cursor, f.Limit = "", page; !known; pages++ {
			list, err := hub.List(ctx, f)
			if err != nil {
				return nil, err
			}
			if pages == 0 && len(list.Sessions) > 0 {
				begun = list.Sessions[0].Updated
			}
			for _, s := range list.Sessions {
				known = known || s.Updated.Before(since)
				if i, seen := at[s.ID]; seen {
					all[i] = s
				} else {
					at[s.ID] = len(all)
					all = append(all, s)
				}
			}
			f.Cursor = list.Next
			known = known || f.Cursor == ""
		}
		if pages == 1 || pass == maxPasses {
			slices.SortStableFunc(all, func(a, b api.SessionSummary) int { return b.Updated.Compare(a.Updated) })
			return all, nil
		}
		since = begun
	}
}
