package ask

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/switchboard-dev/switchboard/api"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// named are the keys that write nothing.
var named = map[string]tea.KeyPressMsg{
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift},
	"up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight},
	"pgup": {Code: tea.KeyPgUp}, "pgdown": {Code: tea.KeyPgDown}, "home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd},
	"backspace": {Code: tea.KeyBackspace}, "delete": {Code: tea.KeyDelete}, "space": {Code: ' ', Text: " "},
	"alt+enter": {Code: tea.KeyEnter, Mod: tea.ModAlt},
	"ctrl+c":    {Code: 'c', Mod: tea.ModCtrl}, "ctrl+d": {Code: 'd', Mod: tea.ModCtrl}, "ctrl+g": {Code: 'g', Mod: tea.ModCtrl},
	"ctrl+s": {Code: 's', Mod: tea.ModCtrl}, "ctrl+u": {Code: 'u', Mod: tea.ModCtrl}, "ctrl+x": {Code: 'x', Mod: tea.ModCtrl},
}

// messages turns a script into messages: names of keys in angle brackets, everything else letter by letter.
func messages(t testing.TB, script string) []tea.Msg {
	t.Helper()
	var list []tea.Msg
	for script != "" {
		if script[0] == '<' {
			name, rest, ok := strings.Cut(script[1:], ">")
			key, known := named[name]
			if !ok || !known {
				t.Fatalf("%q is no key", name)
			}
			list, script = append(list, key), rest
			continue
		}
		r, n := utf8.DecodeRuneInString(script)
		list, script = append(list, tea.KeyPressMsg{Code: r, Text: string(r)}), script[n:]
	}
	return list
}

// press presses keys, and returns what came of it: the last message of a command, or nil.
func press(t testing.TB, m Model, script string) (Model, tea.Msg) {
	t.Helper()
	var last tea.Msg
	for _, msg := range messages(t, script) {
		var cmd tea.Cmd
		if m, cmd = m.Update(msg); cmd != nil {
			last = cmd()
			// What a command brings is the question's again, as in a program.
			if next, then := m.Update(last); then != nil {
				t.Fatal("a message has led to another command")
			} else {
				m = next
			}
		}
	}
	return m, last
}

// editor is one that writes a text of the test's.
func editor(edited string) func(text, suffix string) tea.Cmd {
	return func(string, string) tea.Cmd { return func() tea.Msg { return EditedMsg{Text: edited} } }
}

// asking returns a question about a tool call.
func asking(kind api.QuestionKind, tool, input string) *api.Question {
	request, err := json.Marshal(map[string]any{"type": "control_request", "request_id": "r1", "request": map[string]any{
		"subtype": "can_use_tool", "tool_name": tool, "input": json.RawMessage(input), "tool_use_id": "t1",
	}})
	if err != nil {
		panic(err)
	}
	return &api.Question{ID: "q1", Session: "s1", Kind: kind, State: api.QuestionOpen, Tool: tool, Request: request}
}

func with(q *api.Question, change func(q *api.Question)) *api.Question {
	c := *q
	change(&c)
	return &c
}

// A row is a question, the keys that are pressed, and the answer that must come of them.
type row struct {
	name   string
	q      *api.Question
	keys   string
	want   *api.Answer // nil: no answer, and the view says words
	words  string
	editor string // what the editor writes; "-": there is none
}

func run(t *testing.T, rows []row) {
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			o := Options{Width: 100}
			if r.editor != "-" {
				o.Editor = editor(r.editor)
			}
			m := New(r.q, o)
			before := m.View()
			after, msg := press(t, m, r.keys)
			if m.View() != before {
				t.Error("pressing keys has changed the model that they were pressed in")
			}
			got, ok := msg.(AnsweredMsg)
			if !ok {
				if r.want != nil {
					t.Fatalf("got %#v, and no answer; the view is\n%s", msg, after.View())
				}
				if !strings.Contains(after.View(), r.words) {
					t.Errorf("the view does not say %q:\n%s", r.words, after.View())
				}
				return
			}
			if r.want == nil {
				t.Fatalf("got the answer %+v, and wanted none", got.Answer)
			}
			if got.Question != r.q.ID {
				t.Errorf("the answer is to %q", got.Question)
			}
			if diff := cmp.Diff(*r.want, got.Answer); diff != "" {
				t.Errorf("the answer differs (-want +got):\n%s", diff)
			}
			if again, msg := press(t, after, "y<enter>1"); msg != nil {
				t.Errorf("it was answered twice: %#v\n%s", msg, again.View())
			}
		})
	}
}

var bash = with(asking(api.QuestionPermission, "Bash", `{"command":"npm test","description":"Run the tests","timeout":5000}`), func(q *api.Question) {
	q.Title, q.Description = "npm test", "Run the tests"
	q.Suggestions = []api.Suggestion{
		{Text: "allow Bash(npm test:*)", Destination: "localSettings", Update: json.RawMessage(`{"type":"addRules"}`)},
		{Text: "", Destination: "session", Update: json.RawMessage(`{"type":"setMode","mode":"acceptEdits"}`)},
	}
})

// hooked is a call that a hook has brought.
var hooked = &api.Question{ID: "q1", Kind: api.QuestionPermission, State: api.QuestionOpen, Tool: "Bash", Request: json.RawMessage(
	`{"subtype":"hook_callback","callback_id":"c","input":{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t"}}`)}

// flagged returns a permission with a member of the request set.
func flagged(member string) *api.Question {
	return with(bash, func(q *api.Question) {
		q.Request = json.RawMessage(strings.Replace(string(q.Request), `"subtype"`, `"`+member+`":true,"subtype"`, 1))
	})
}

func TestPermission(t *testing.T) {
	write := asking(api.QuestionPermission, "Write", `{"file_path":"a.txt","content":"one"}`)
	none := with(bash, func(q *api.Question) { q.Suggestions = nil })
	enter := asking(api.QuestionPermission, "EnterPlanMode", `{}`)
	run(t, []row{
		{name: "allow", q: bash, keys: "y", want: &api.Answer{Decision: "allow"}},
		{name: "allow with enter", q: bash, keys: "<enter>", want: &api.Answer{Decision: "allow"}},
		{name: "deny", q: bash, keys: "n<enter>", want: &api.Answer{Decision: "deny"}},
		{name: "deny with a reason", q: bash, keys: "nUse make, please.<enter>", want: &api.Answer{Decision: "deny", Message: "Use make, please."}},
		{name: "a reason of two lines", q: bash, keys: "nOne<alt+enter>two<enter>", want: &api.Answer{Decision: "deny", Message: "One\ntwo"}},
		{name: "think again", q: bash, keys: "nNo<esc>y", want: &api.Answer{Decision: "allow"}},
		{name: "deny and stop", q: bash, keys: "s<enter>", want: &api.Answer{Decision: "deny", Interrupt: true}},
		{name: "deny and stop with a reason", q: bash, keys: "sEnough.<enter>", want: &api.Answer{Decision: "deny", Message: "Enough.", Interrupt: true}},
		{name: "always, in the session", q: bash, keys: "a11", want: &api.Answer{Decision: "allow", Always: &api.Always{Suggestion: new(0), Destination: "session"}}},
		{name: "always, with arrows", q: bash, keys: "a<down><enter><down><down><enter>", want: &api.Answer{Decision: "allow", Always: &api.Always{Suggestion: new(1), Destination: "projectSettings"}}},
		{name: "always, for the project alone", q: bash, keys: "a12", want: &api.Answer{Decision: "allow", Always: &api.Always{Suggestion: new(0), Destination: "localSettings"}}},
		{name: "always, everywhere", q: bash, keys: "a24", want: &api.Answer{Decision: "allow", Always: &api.Always{Suggestion: new(1), Destination: "userSettings"}}},
		{name: "a suggestion is no rule of ours", q: bash, keys: "a15", words: "Where should it be saved?"},
		{name: "a rule", q: bash, keys: "a3(npm run:*)<enter>1", want: &api.Answer{Decision: "allow", Always: &api.Always{Rule: "Bash(npm run:*)", Destination: "session"}}},
		{name: "a rule of ours", q: bash, keys: "a3<ctrl+u>Edit(src/**)<enter>5", want: &api.Answer{Decision: "allow", Always: &api.Always{Rule: "Edit(src/**)", Destination: "switchboard"}}},
		{name: "a rule where nothing is suggested", q: none, keys: "a<enter>2", want: &api.Answer{Decision: "allow", Always: &api.Always{Rule: "Bash", Destination: "localSettings"}}},
		{name: "an empty rule", q: none, keys: "a<ctrl+u><enter>", words: "write something first"},
		{name: "always, and back", q: bash, keys: "a1<esc>y", want: &api.Answer{Decision: "allow"}},
		{
			name: "an edited command", q: bash, keys: "ey", editor: "npm test -- --silent\n",
			want: &api.Answer{Decision: "allow", Input: json.RawMessage(`{"command":"npm test -- --silent","description":"Run the tests","timeout":5000}`)},
		},
		{
			name: "an edited command, always", q: bash, keys: "ea11", editor: "npm test -s",
			want: &api.Answer{
				Decision: "allow", Input: json.RawMessage(`{"command":"npm test -s","description":"Run the tests","timeout":5000}`),
				Always: &api.Always{Suggestion: new(0), Destination: "session"},
			},
		},
		{name: "an edited command is shown", q: bash, keys: "e", editor: "npm run all", words: "as you edited it:\n│ $ npm run all"},
		{name: "an edited command that is the same", q: bash, keys: "ey", editor: "npm test\n", want: &api.Answer{Decision: "allow"}},
		{name: "an edited command that is empty", q: bash, keys: "e", editor: " \n", words: "a command can't be empty"},
		{
			name: "an edited command, in place", q: bash, keys: "e -s<enter>y", editor: "-",
			want: &api.Answer{Decision: "allow", Input: json.RawMessage(`{"command":"npm test -s","description":"Run the tests","timeout":5000}`)},
		},
		{name: "an edited command that is empty, in place", q: bash, keys: "e<ctrl+u><enter>", editor: "-", words: "a command can't be empty"},
		{
			name: "an edited input", q: write, keys: "ey", editor: "{\n  \"file_path\": \"b.txt\",\n  \"content\": \"two\"\n}\n",
			want: &api.Answer{Decision: "allow", Input: json.RawMessage(`{"file_path":"b.txt","content":"two"}`)},
		},
		{name: "an edited input that is no JSON", q: write, keys: "e", editor: `{"file_path":`, words: "the input must be one JSON object: unexpected end"},
		{name: "an edited input that is no object", q: write, keys: "e", editor: `null`, words: "the input must be one JSON object"},
		{name: "the obvious answer is no", q: flagged("default_to_no"), keys: "<enter>", words: "press y to allow this, n to deny it"},
		{name: "the obvious answer is no, and yes", q: flagged("default_to_no"), keys: "y", want: &api.Answer{Decision: "allow"}},
		{name: "not for good", q: flagged("suppress_always_allow_rule"), keys: "a", words: "this can't be allowed always"},
		{name: "a hook allows", q: hooked, keys: "y", want: &api.Answer{Decision: "allow"}},
		{name: "a hook does not allow for good", q: hooked, keys: "a", words: "it can only be allowed once"},
		{name: "a hook does not stop", q: hooked, keys: "s", words: "can't stop the turn"},
		{name: "into plan mode", q: enter, keys: "y", want: &api.Answer{Decision: "allow"}},
		{name: "not into plan mode", q: enter, keys: "n<enter>", want: &api.Answer{Decision: "deny"}},
		{name: "a request that cannot be read", q: with(bash, func(q *api.Question) { q.Request = json.RawMessage(`1`) }), keys: "n<enter>", want: &api.Answer{Decision: "deny"}},
	})
}

func TestChoice(t *testing.T) {
	one := with(asking(api.QuestionChoice, "AskUserQuestion", `{}`), func(q *api.Question) {
		q.Choices = []api.Choice{{Question: "Which database?", Header: "Database", Options: []api.Option{{Label: "SQLite", Description: "One file"}, {Label: "PostgreSQL"}}}}
	})
	several := with(one, func(q *api.Question) {
		q.Choices = []api.Choice{{Question: "Which parts?", Multiple: true, Options: []api.Option{{Label: "API"}, {Label: "Console"}, {Label: "Docs"}}}}
	})
	both := with(one, func(q *api.Question) { q.Choices = append(one.Choices[:1:1], several.Choices[0]) })
	raw := asking(api.QuestionChoice, "AskUserQuestion", `{"questions":[{"question":"Now?","header":"When","multiSelect":false,"options":[{"label":"Yes","description":"d"},{"label":"No","description":"d"}]}]}`)
	answer := func(answers map[string]api.ChoiceAnswer) *api.Answer {
		return &api.Answer{Decision: "allow", Choices: answers}
	}
	const db, parts = "Which database?", "Which parts?"
	run(t, []row{
		{name: "a number", q: one, keys: "2", want: answer(map[string]api.ChoiceAnswer{db: {Labels: []string{"PostgreSQL"}}})},
		{name: "enter", q: one, keys: "<enter>", want: answer(map[string]api.ChoiceAnswer{db: {Labels: []string{"SQLite"}}})},
		{name: "arrows", q: one, keys: "<down><enter>", want: answer(map[string]api.ChoiceAnswer{db: {Labels: []string{"PostgreSQL"}}})},
		{name: "arrows go round", q: one, keys: "<up><up><enter>", want: answer(map[string]api.ChoiceAnswer{db: {Labels: []string{"PostgreSQL"}}})},
		{name: "own words", q: one, keys: "oThe one we have<enter>", want: answer(map[string]api.ChoiceAnswer{db: {Text: "The one we have"}})},
		{name: "own words by number", q: one, keys: "3Mine<enter>", want: answer(map[string]api.ChoiceAnswer{db: {Text: "Mine"}})},
		{name: "no words", q: one, keys: "o<enter>", words: "write something first"},
		{name: "own words, and back", q: one, keys: "oMi<esc>1", want: answer(map[string]api.ChoiceAnswer{db: {Labels: []string{"SQLite"}}})},
		{name: "with a comment", q: one, keys: "cIn memory.<enter>1", want: answer(map[string]api.ChoiceAnswer{db: {Labels: []string{"SQLite"}, Notes: "In memory."}})},
		{name: "skip", q: one, keys: "-", want: &api.Answer{Decision: "deny"}},
		{name: "none", q: one, keys: "n<enter>", want: &api.Answer{Decision: "deny"}},
		{name: "none, and why", q: one, keys: "nDecide yourself.<enter>", want: &api.Answer{Decision: "deny", Message: "Decide yourself."}},
		{name: "skip all and stop", q: one, keys: "s<enter>", want: &api.Answer{Decision: "deny", Interrupt: true}},
		{name: "a number that there is not", q: one, keys: "9", words: "? Which database?"},
		{name: "several, in the order of the options", q: several, keys: "31<enter>", want: answer(map[string]api.ChoiceAnswer{parts: {Labels: []string{"API", "Docs"}}})},
		{name: "several with space", q: several, keys: "<space><down><space><enter>", want: answer(map[string]api.ChoiceAnswer{parts: {Labels: []string{"API", "Console"}}})},
		{name: "several, and one taken back", q: several, keys: "1231<enter>", want: answer(map[string]api.ChoiceAnswer{parts: {Labels: []string{"Console", "Docs"}}})},
		{name: "several and own words", q: several, keys: "2oand the tests<enter>", want: answer(map[string]api.ChoiceAnswer{parts: {Labels: []string{"Console"}, Text: "and the tests"}})},
		{name: "nothing is chosen yet: enter chooses", q: several, keys: "<enter><enter>", want: answer(map[string]api.ChoiceAnswer{parts: {Labels: []string{"API"}}})},
		{name: "two questions", q: both, keys: "112<enter><enter>", want: answer(map[string]api.ChoiceAnswer{db: {Labels: []string{"SQLite"}}, parts: {Labels: []string{"API", "Console"}}})},
		{name: "two questions, one skipped", q: both, keys: "2-<enter>", want: answer(map[string]api.ChoiceAnswer{db: {Labels: []string{"PostgreSQL"}}, parts: {Skip: true}})},
		{name: "two questions, both skipped", q: both, keys: "--<enter>", want: &api.Answer{Decision: "deny"}},
		{name: "the second first", q: both, keys: "<tab>3<enter>2<enter>", want: answer(map[string]api.ChoiceAnswer{db: {Labels: []string{"PostgreSQL"}}, parts: {Labels: []string{"Docs"}}})},
		{name: "changed at the end", q: both, keys: "1-<shift+tab><shift+tab>2<enter>", want: answer(map[string]api.ChoiceAnswer{db: {Labels: []string{"PostgreSQL"}}, parts: {Skip: true}})},
		{name: "one without an answer", q: both, keys: "1<tab><enter>", words: "no answer yet"},
		{name: "what was answered is shown", q: both, keys: "1-", words: "Database: SQLite"},
		{name: "a skip that is taken back", q: both, keys: "-<shift+tab>1" + "3<enter><enter>", want: answer(map[string]api.ChoiceAnswer{db: {Labels: []string{"SQLite"}}, parts: {Labels: []string{"Docs"}}})},
		{name: "from the request itself", q: raw, keys: "2", want: answer(map[string]api.ChoiceAnswer{"Now?": {Labels: []string{"No"}}})},
		{name: "a choice that cannot be read", q: asking(api.QuestionChoice, "AskUserQuestion", `[]`), keys: "1n<enter>", want: &api.Answer{Decision: "deny"}},
	})
}
