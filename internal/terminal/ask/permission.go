package ask

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/terminal/words"
	"github.com/switchboard-dev/switchboard/wire"
)

// A permission asks whether a tool may be used.
type permission struct {
	call   call
	title  string          // what the hub makes of the call itself
	edited json.RawMessage // the input as it was edited; nil if it was not
}

func newPermission(q *api.Question) permission {
	c := callOf(q)
	return permission{call: c, title: wire.ActionTitle(c.tool, c.input)}
}

// enterPlanMode is the tool with which an agent goes into plan mode.
const enterPlanMode = "EnterPlanMode"

// network reports whether the sandbox asks, on behalf of a program, whether a host may be reached.
func (p permission) network() bool { return p.call.tool == wire.ToolSandboxNetwork }

// input returns what the tool would be given.
func (p permission) input() json.RawMessage {
	if p.edited != nil {
		return p.edited
	}
	return p.call.input
}

func (p permission) head(m Model) []string {
	tool := p.call.tool
	if tool == "" {
		tool = m.q.Tool
	}
	lines := question(m, reveal(words.ToolHeadline(brief(tool), p.input())))
	// What the hub makes of the call itself is shown already.
	if m.q.Title != p.title && tool != enterPlanMode && !p.network() {
		lines = append(lines, note(m, "title", m.q.Title)...)
	}
	if !p.network() {
		lines = append(lines, note(m, "purpose", m.q.Description)...)
	}
	lines = append(lines, about(m)...)
	if p.edited != nil {
		lines = append(lines, fittedLines(m.styles.Warn.Render, "as you edited it:", m.o.Width, 1)...)
	}
	return lines
}

// writes reports whether the tool is one that writes a file.
func (p permission) writes() bool {
	switch p.call.tool {
	case "Edit", "Write", "MultiEdit", "NotebookEdit":
		return true
	}
	return false
}

func (p permission) body(m Model) []string {
	if len(p.input()) == 0 {
		return fittedLines(m.styles.Warn.Render, notKnown, m.o.Width, 6)
	}
	return shownCall(m, p.call.tool, p.input())
}

// notKnown is said where a question does not hold what the tool would be given: no user may allow what they could not see.
const notKnown = "What it would do can't be shown here. Deny it, or see it first with switchboard questions."

// shownCall shows all of what a tool would do. What is shown in another way than as a member must be a text, else it would be hidden.
func shownCall(m Model, tool string, input json.RawMessage) []string {
	switch tool {
	case "Bash":
		command, ok := wire.LookupString(input, "command")
		if !ok {
			break
		}
		lines := commandLines(m, command)
		but := []string{"command"}
		if purpose, ok := wire.LookupString(input, "description"); ok && purpose == m.q.Description {
			but = append(but, "description")
		}
		return append(lines, members(m, input, but...)...)
	case wire.ToolSandboxNetwork:
		if command, ok := wire.LookupString(input, "command"); ok && command != "" {
			return append(members(m, input, "command"), commandLines(m, command)...)
		}
	case "Edit", "Write", "MultiEdit", "NotebookEdit":
		if m.o.Diff != nil {
			if lines := m.o.Diff(tool, input, m.o.Width); lines != nil {
				return whole(revealed(lines), m.o.Width)
			}
		}
		return change(m, tool, input)
	}
	return members(m, input)
}

// commandLines shows a command. A sign as a shell has it stands before each line of it, for a line that is wrapped and two commands that
// stand below each other must not look the same.
func commandLines(m Model, command string) []string {
	var lines []string
	sign := "$"
	for line := range strings.SplitSeq(strings.TrimRight(bounded(command), "\n"), "\n") {
		if len(lines) > maxLines {
			return append(lines, paint.CleanLine("… (more, NOT SHOWN; e opens all of it)", m.o.Width))
		}
		before := m.styles.Accent.Render(sign) + " "
		for _, row := range paint.Wrap(reveal(strings.TrimSuffix(line, "\r")), max(1, m.o.Width-2)) {
			lines = append(lines, paint.Cut(before+m.styles.Code.Render(row), m.o.Width))
			before = "  "
		}
		sign = ">"
	}
	return lines
}

// maxDiff is how much is compared, in bytes.
const maxDiff = 512 << 10

// change shows what a tool would change in a file.
func change(m Model, tool string, input json.RawMessage) []string {
	path, named := wire.LookupString(input, "file_path")
	before, replaces := wire.LookupString(input, "old_string")
	after, by := wire.LookupString(input, "new_string")
	content, writes := wire.LookupString(input, "content")
	// Nothing of a line is cut away: a user who allows something must have been able to read it to its end.
	// What is too long for that is cut as a member, which says so.
	if len(before)+len(after)+len(content) > maxDiff {
		return members(m, input)
	}
	diff := func(before, after string) []string {
		return whole(revealed(m.styles.Diff(path, before, after, paint.DiffOptions{Lines: maxLines})), m.o.Width)
	}
	switch {
	case tool == "Edit" && named && replaces && by: // the change begins with the path
		return append(members(m, input, "file_path", "old_string", "new_string"), diff(before, after)...)
	case tool == "Write" && named && writes:
		return append(members(m, input, "file_path", "content"), diff("", content)...)
	}
	return members(m, input)
}

func (p permission) tail(m Model) tail {
	if p.call.tool != enterPlanMode {
		return tail{}
	}
	return tail{lines: append(keyed(m, "y", "Yes, enter plan mode", false), keyed(m, "n", "No, start implementing now", false)...)}
}

// always reports whether the call can be allowed for good.
func (p permission) always() bool {
	return !p.call.hook && !p.call.once && p.call.tool != enterPlanMode
}

func (p permission) keys(m Model) []Key {
	yes := "y/enter"
	if p.call.no {
		yes = "y"
	}
	keys := []Key{{yes, "allow"}}
	if p.always() {
		keys = append(keys, Key{"a", "always"})
	}
	if !p.network() {
		keys = append(keys, Key{"e", "edit"})
	}
	keys = append(keys, Key{"n", "deny"})
	if !p.call.hook && !p.network() {
		keys = append(keys, Key{"s", "deny and stop"})
	}
	if p.writes() && len(m.body) > folded {
		help := "unfold"
		if m.unfolded {
			help = "fold"
		}
		keys = append(keys, Key{"v", help})
	}
	return keys
}

func (p permission) changed(m Model) part {
	fresh := newPermission(m.q)
	if fresh.call.tool == p.call.tool && bytes.Equal(fresh.call.input, p.call.input) {
		fresh.edited = p.edited // what was edited is of another call otherwise
	}
	return fresh
}

func (p permission) key(m Model, key tea.KeyPressMsg) (Model, tea.Cmd) {
	name := key.String()
	allows := name == "y" || name == "enter" && !p.call.no
	if allows || name == "a" && p.always() {
		if len(p.input()) == 0 {
			m.problem = notKnown
			return m, nil
		}
		// A file may be long, and its beginning says what it is; a command may hide in its last line what it does.
		if !p.writes() || m.seen == 0 {
			if warned, ok := m.unseen(); ok {
				return warned, nil
			}
		}
	}
	switch {
	case allows:
		return m.answered(p.allow(nil))
	case name == "enter":
		m.problem = "press y to allow this, n to deny it"
		return m, nil
	case name == "a":
		switch {
		case p.call.hook:
			m.problem = "a hook asked this: it can only be allowed once"
		case !p.always():
			m.problem = "this can't be allowed always; press y to allow it once"
		default:
			return p.suggest(m)
		}
		return m, nil
	case p.network() && (name == "e" || name == "s"):
		m.problem = "the sandbox asks this: allow the connection or deny it"
		return m, nil
	case name == "e":
		return p.edit(m)
	case name == "n":
		m.entry = newEntry("Deny. Why? (shown to the agent)", "enter alone: no reason", true, func(m Model, in written) (Model, tea.Cmd) {
			return m.answered(api.Answer{Decision: "deny", Message: in.text})
		}).optional()
		return m, nil
	case name == "s" && p.call.hook:
		m.problem = "a hook asked this and can't stop the turn: deny it, then interrupt the session"
		return m, nil
	case name == "s":
		m.entry = newEntry("Deny and stop the turn. Why? (shown to the agent)", "enter alone: no reason", true, func(m Model, in written) (Model, tea.Cmd) {
			return m.answered(api.Answer{Decision: "deny", Message: in.text, Interrupt: true})
		}).optional()
		return m, nil
	}
	return m.common(key)
}

func (p permission) allow(always *api.Always) api.Answer {
	return api.Answer{Decision: "allow", Input: p.edited, Always: always}
}

// suggest asks what is to be allowed for good.
func (p permission) suggest(m Model) (Model, tea.Cmd) {
	if p.network() {
		return p.suggestHost(m)
	}
	suggestions := m.q.Suggestions
	if len(suggestions) == 0 {
		return p.rule(m)
	}
	list := menu{open: true, title: "Always allow:"}
	for _, s := range suggestions {
		list.items = append(list.items, suggestionText(s))
	}
	list.items = append(list.items, "your own rule")
	list.pick = func(m Model, i int) (Model, tea.Cmd) {
		if i == len(suggestions) {
			return p.rule(m)
		}
		return p.where(m, api.Always{Suggestion: &i}, suggestions[i].Destination)
	}
	m.menu = list
	return m, nil
}

// suggestHost asks whether a host, or which, is to be allowed for good. The CLI does not know of the question: the hub keeps the rule.
func (p permission) suggestHost(m Model) (Model, tea.Cmd) {
	suggestions := m.q.Suggestions
	if len(suggestions) == 0 {
		return p.hostRule(m)
	}
	list := menu{open: true, title: "Always allow in this session:"}
	for _, s := range suggestions {
		list.items = append(list.items, strings.TrimPrefix(suggestionText(s), "allow "))
	}
	list.items = append(list.items, "your own rule")
	list.pick = func(m Model, i int) (Model, tea.Cmd) {
		if i == len(suggestions) {
			return p.hostRule(m)
		}
		return m.answered(p.allow(&api.Always{Suggestion: &i, Destination: "session"}))
	}
	m.menu = list
	return m, nil
}

// suggestionText says what a suggestion allows.
func suggestionText(s api.Suggestion) string {
	switch {
	case s.Text == "":
		return reveal(string(s.Update))
	case ofTomorrow(s):
		return reveal(s.Text + ": " + string(s.Update))
	default:
		return reveal(s.Text)
	}
}

// ofTomorrow reports whether a suggestion is of a kind that is not known here. Such a one can only be taken as it is.
func ofTomorrow(s api.Suggestion) bool {
	if len(s.Update) == 0 || string(s.Update) == "null" {
		return false
	}
	kind, _ := wire.LookupString(s.Update, "type")
	return !slices.Contains([]string{"addRules", "replaceRules", "removeRules", "setMode", "addDirectories", "removeDirectories"}, kind)
}

// rule asks for a rule.
func (p permission) rule(m Model) (Model, tea.Cmd) {
	e := newEntry("Always allow, by a rule such as Bash(npm test:*) or Edit(src/**):", p.call.tool, false, func(m Model, in written) (Model, tea.Cmd) {
		return p.where(m, api.Always{Rule: in.text}, "")
	})
	e.field = e.field.Set(p.call.tool)
	m.entry = e
	return m, nil
}

// hostRule asks for a rule about hosts, which the hub keeps with the session.
func (p permission) hostRule(m Model) (Model, tea.Cmd) {
	rule := "Network(host:)"
	if list := m.q.Suggestions; len(list) > 0 {
		rule = strings.TrimPrefix(list[0].Text, "allow ")
	}
	e := newEntry("Always allow in this session, by a rule such as Network(host:*.example.com):", rule, false, func(m Model, in written) (Model, tea.Cmd) {
		return m.answered(p.allow(&api.Always{Rule: in.text, Destination: "switchboard"}))
	})
	e.field = e.field.Set(rule)
	m.entry = e
	return m, nil
}

// A destination is where something that is allowed for good is kept.
type destination struct{ name, text string }

// destinations returns where something can be kept.
func destinations(rule bool) []destination {
	list := []destination{
		{"session", "this session, until its agent stops"},
		{"localSettings", "this project, for you alone (.claude/settings.local.json)"},
		{"projectSettings", "this project, for everyone (.claude/settings.json)"},
		{"userSettings", "all your projects (~/.claude/settings.json)"},
	}
	if rule {
		list = append(list, destination{"switchboard", "Switchboard's rules for this session, also after a restart"})
	}
	return list
}

// where asks where it is to be kept.
func (p permission) where(m Model, always api.Always, suggested string) (Model, tea.Cmd) {
	list := destinations(always.Rule != "")
	what := always.Rule
	switch {
	case always.Suggestion != nil:
		s := m.q.Suggestions[*always.Suggestion]
		if what = suggestionText(s); ofTomorrow(s) {
			list = []destination{{"", "where Claude Code keeps it"}}
		}
	case !strings.Contains(what, "("):
		what += " (every use of it)"
	}
	u := menu{open: true, title: "Where should it be saved? " + what}
	if len(u.title) > maxBrief || len(paint.Wrap(u.title, m.o.Width)) > maxTitle {
		m.problem = "this is too long to be shown whole: write your own rule, or allow it once"
		return m, nil
	}
	for _, d := range list {
		text := d.text
		if d.name == suggested {
			text += " - suggested by Claude Code"
		}
		u.items = append(u.items, text)
	}
	u.pick = func(m Model, i int) (Model, tea.Cmd) {
		always.Destination = list[i].name
		return m.answered(p.allow(&always))
	}
	m.menu = u
	return m, nil
}

// edit has the input edited: the command itself of Bash, else all of it as JSON.
func (p permission) edit(m Model) (Model, tea.Cmd) {
	if p.call.tool == "Bash" {
		if command, ok := wire.LookupString(p.input(), "command"); ok {
			return m.edit("Command to run:", command, ".sh", func(m Model, text string) (Model, tea.Cmd) {
				if strings.TrimSpace(text) == "" {
					m.problem = "a command can't be empty; deny it instead"
					return m, nil
				}
				if text == command {
					return m, nil
				}
				input, err := withMember(p.input(), "command", text)
				if err != nil {
					m.problem = err.Error()
					return m, nil
				}
				return p.with(m, input), nil
			})
		}
	}
	text := indented(p.input())
	return m.edit("Input for the tool, as JSON:", text, ".json", func(m Model, edited string) (Model, tea.Cmd) {
		if edited == text {
			return m, nil
		}
		var object map[string]json.RawMessage
		if err := json.Unmarshal([]byte(edited), &object); err != nil || object == nil {
			m.problem = "the input must be one JSON object"
			if err != nil {
				m.problem += ": " + err.Error()
			}
			return m, nil
		}
		var b bytes.Buffer
		if err := json.Compact(&b, []byte(edited)); err != nil {
			m.problem = err.Error()
			return m, nil
		}
		return p.with(m, b.Bytes()), nil
	})
}

// with shows the input as it was edited.
func (p permission) with(m Model, input json.RawMessage) Model {
	p.edited = input
	m.part, m.scroll = p, 0
	return m.relaid()
}

// indented returns JSON that a person can edit.
func indented(input json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, input, "", "  ") != nil {
		return string(input)
	}
	return b.String()
}

// withMember replaces a member of an object.
func withMember(input json.RawMessage, name, value string) (json.RawMessage, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(input, &object); err != nil {
		return nil, fmt.Errorf("reading the input: %w", err)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("writing the input: %w", err)
	}
	object[name] = text
	return json.Marshal(object)
}
