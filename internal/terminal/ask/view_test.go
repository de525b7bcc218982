package ask

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

var update = flag.Bool("update", false, "write the golden files anew")

// A scene is a question after some keys.
type scene struct {
	name   string
	q      *api.Question
	keys   string
	height int
}

func scenes() []scene {
	long := asking(api.QuestionPermission, "Bash", `{"command":"`+strings.Repeat(`echo one two three four five six seven eight nine ten eleven twelve\n`, 30)+`"}`)
	known := with(bash, func(q *api.Question) {
		q.AgentID, q.Why, q.BlockedPath, q.Deadline = "agent-7", "The command is not covered by any rule.", "/etc/hosts", 60
		q.Title, q.Description = "Run all the tests", "Run the tests"
		q.Rule = &api.RuleRef{Rule: "Bash(npm:*)", Decision: api.RuleAsk, Scope: "folder", Reason: "npm test is covered"}
	})
	edit := asking(api.QuestionPermission, "Edit", `{"file_path":"/src/parser.go","old_string":"func parse() {\n\treturn nil\n}\n","new_string":"func parse() error {\n\treturn errors.New(\"not yet, and this line is much longer than a narrow terminal is wide\")\n}\n","replace_all":false}`)
	write := asking(api.QuestionPermission, "Write", `{"file_path":"/src/a.txt","content":"one\ntwo\n"}`)
	connection := with(asking(api.QuestionPermission, "SandboxNetworkAccess", `{"host":"registry.npmjs.org","port":443,"command":"npm install --save-dev typescript"}`), func(q *api.Question) {
		q.Title, q.Description = "Connect to registry.npmjs.org:443?", "npm install --save-dev typescript"
		q.Suggestions = []api.Suggestion{{Text: "allow Network(host:registry.npmjs.org)", Destination: "session", Update: json.RawMessage(`{"type":"addRules"}`)}}
	})
	mcp := asking(api.QuestionPermission, "mcp__notes__add", `{"title":"A note","tags":["a","b"],"text":"One line,\nand another."}`)
	choices := with(asking(api.QuestionChoice, "AskUserQuestion", `{}`), func(q *api.Question) {
		q.Choices = []api.Choice{
			{Question: "Which database shall the service use from now on, in production and in the tests?", Header: "Database", Options: []api.Option{
				{Label: "SQLite", Description: "One file beside the program, nothing to install, enough for one machine", Preview: "+------+\n| file |\n+------+"},
				{Label: "PostgreSQL", Description: "A server"},
			}},
			{Question: "Which parts?", Header: "Parts", Multiple: true, Options: []api.Option{{Label: "API", Description: "The interface"}, {Label: "Console"}}},
		}
	})
	page := &api.Question{ID: "q1", Kind: api.QuestionForm, State: api.QuestionOpen, Request: json.RawMessage(
		`{"subtype":"elicitation","mcp_server_name":"notes","message":"Log in first","mode":"url","url":"https://notes.example/login?state=0123456789abcdef0123456789abcdef"}`)}
	branch := &api.Question{ID: "q1", Kind: api.QuestionDialog, State: api.QuestionOpen, Request: json.RawMessage(
		`{"subtype":"request_user_dialog","dialog_kind":"pick_branch","payload":{"branches":["main","next"]}}`)}
	plan := reviewed(func(p *api.Plan) {
		p.Text = "# Fix the parser\n\nIt reads **too much**:\n\n1. Write a test that fails.\n2. Mend `parse`.\n\n```go\nfunc parse() error\n```\n\n| file | lines |\n|---|---|\n| a.go | 12 |\n\n" + strings.Repeat("- and so on\n", 40)
		p.Path = "/home/ann/.claude/plans/mend.md"
	})
	return []scene{
		{"permission", bash, "", 0},
		{"permission, known", known, "", 0},
		{"permission, long", long, "", 0},
		{"permission, long, unfolded and scrolled", long, "v<pgdown><pgdown>", 24},
		{"permission, edit", edit, "", 0},
		{"permission, write", write, "", 0},
		{"permission, of an MCP server", mcp, "", 0},
		{"permission, always", bash, "a", 0},
		{"permission, where", bash, "a1<down>", 0},
		{"permission, deny", bash, "nBecause.", 0},
		{"permission, by a hook", hooked, "", 0},
		{"permission, to connect", connection, "", 0},
		{"permission, to connect, always", connection, "a", 0},
		{"permission, to connect, by a rule", connection, "a2", 0},
		{"permission, plan mode", asking(api.QuestionPermission, "EnterPlanMode", `{}`), "", 0},
		{"permission, answering", bash, "y", 0},
		{"choice", choices, "", 0},
		{"choice, several", choices, "2<space>", 0},
		{"choice, at the end", choices, "2-", 0},
		{"choice, in little room", choices, "", 8},
		{"plan", plan, "", 24},
		{"plan, scrolled", plan, "<pgdown>bc", 24},
		{"plan, feedback", plan, "4More tests, please.", 24},
		{"plan, stale", staleReview, "", 24},
		{"no plan", reviewed(func(p *api.Plan) {
			p.Text, p.Prompts, p.Bypass, p.Outcomes = "", nil, false, []api.PlanOutcome{api.PlanAsk, api.PlanReject}
		}), "", 0},
		{"form", everyField, "inbox", 0},
		{"form, choosing", everyField, "<tab><tab><tab><tab><right>", 0},
		{"form, wrong", everyField, "<ctrl+s>", 0},
		{"form, a page", page, "", 0},
		{"dialog", branch, "", 0},
		{"dialog, the result", branch, "1", 0},
		{"a question of tomorrow", &api.Question{ID: "q1", Kind: "riddle", Request: json.RawMessage(`{"what":"walks?"}`)}, "", 0},
		{"settled", with(bash, func(q *api.Question) {
			q.State, q.By, q.From, q.Answer = api.QuestionAnswered, "ann", "person", &api.Answer{Decision: "deny", Message: "Not on a Friday."}
		}), "", 0},
	}
}

func TestGolden(t *testing.T) {
	for _, width := range []int{40, 80, 120} {
		for _, colour := range []bool{false, true} {
			name := fmt.Sprintf("views-%d.txt", width)
			if colour {
				name = fmt.Sprintf("views-%d-colour.txt", width)
			}
			t.Run(name, func(t *testing.T) {
				styles := paint.Profile{Color: colour, Dark: true, Width: width}.Styles()
				var b strings.Builder
				for _, s := range scenes() {
					m, _ := press(t, New(s.q, Options{Styles: styles, Width: width, Height: s.height}), s.keys)
					check(t, m, width, s.height)
					view := strings.ReplaceAll(m.View(), "\x1b", "␛")
					if !colour && view != strings.ReplaceAll(m.View(), "\x1b", "") {
						t.Errorf("%s: there are escape codes in a view without colours", s.name)
					}
					cursor := ""
					if c := m.Cursor(); c != nil {
						cursor = fmt.Sprintf(" (the cursor is in line %d, column %d)", c.Y+1, c.X+1)
					}
					fmt.Fprintf(&b, "== %s%s\n%s\n\n", s.name, cursor, view)
				}
				golden(t, filepath.Join("testdata", name), b.String())
			})
		}
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the views differ (-want +got); -update writes them anew:\n%s", diff)
	}
}

// check holds a view against what every view must be.
func check(t testing.TB, m Model, width, height int) {
	t.Helper()
	view := m.View()
	if !utf8.ValidString(view) {
		t.Fatalf("the view is no UTF-8: %q", view)
	}
	lines := strings.Split(view, "\n")
	if view == "" {
		lines = nil
	}
	if len(lines) != m.Height() {
		t.Fatalf("there are %d lines, and Height says %d", len(lines), m.Height())
	}
	if height > 0 && len(lines) > height {
		t.Fatalf("there are %d lines, and room for %d:\n%s", len(lines), height, view)
	}
	for _, line := range lines {
		if w := ansi.StringWidth(line); w > width {
			t.Fatalf("a line is %d columns wide, and there are %d: %q", w, width, line)
		}
		harmless(t, line)
	}
	if c := m.Cursor(); c != nil && (c.X < 0 || c.X >= width || c.Y < 0 || c.Y >= len(lines)) {
		t.Fatalf("the cursor is at %d, %d in %d lines of %d columns", c.X, c.Y, len(lines), width)
	}
}

// harmless fails if a line holds anything but letters, colours and other attributes.
func harmless(t testing.TB, line string) {
	t.Helper()
	state := byte(0)
	for rest := line; rest != ""; {
		seq, w, n, next := ansi.DecodeSequence(rest, state, nil)
		if w == 0 && (strings.HasPrefix(seq, "\x1b") && !(strings.HasPrefix(seq, "\x1b[") && strings.HasSuffix(seq, "m"))) {
			t.Fatalf("there is the escape code %q in a view: %q", seq, line)
		}
		if len(seq) == 1 && seq[0] < 0x20 || seq == "\x7f" {
			t.Fatalf("there is the control character %q in a view: %q", seq, line)
		}
		for _, r := range seq {
			if r >= 0x80 && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
				t.Fatalf("there is %q in a view: %q", r, line)
			}
		}
		rest, state = rest[n:], next
	}
}

// hostile are texts that no terminal may see as they are.
var hostile = map[string]string{
	"escape codes":    "\x1b[2J\x1b[1;1Hall clear\x1b]0;title\x07\x1b]52;c;Zm9v\x07\x1bc\x1b[?1049h",
	"C1":              "a\u009b2Jb\u009d0;t\u009cc\u0085d",
	"line ends":       "one\r\ntwo\rthree\u2028four\u2029five\vsix\fseven",
	"right to left":   "safe \u202eevil\u202c \u2066x\u2069 \u200fשלום עולם\u200e مرحبا",
	"wide":            strings.Repeat("漢字かな", 60),
	"emoji":           strings.Repeat("👩‍👩‍👧‍👦🏳️‍🌈🇩🇪👍🏽", 12),
	"combining":       "e" + strings.Repeat("\u0301", 3000) + " Z̸̡̢̛͓̮͉͚a̴l̸g̶o",
	"no UTF-8":        "\xff\xfe\x80abc\xf0\x9f",
	"NUL and tabs":    "a\x00b\tc\bd",
	"a forged prompt": "ls\n\n? Run this command?\n$ rm -rf /\ny/enter allow",
	"a long line":     strings.Repeat("x", 16<<10),
	"many lines":      strings.Repeat("line of text\n", 1<<10),
	"many spaces":     strings.Repeat(" ", 16<<10),
	"many accents":    strings.Repeat("e\u0301", 4<<10),
	"much Markdown":   strings.Repeat("> - **a** `b` [c](javascript:alert) ", 256),
}

// poisoned returns questions of every kind that hold a text everywhere.
func poisoned(text string) []*api.Question {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	fill := func(template string) json.RawMessage {
		return json.RawMessage(strings.ReplaceAll(template, "TEXT", string(quoted)))
	}
	base := api.Question{
		ID: "q1", State: api.QuestionOpen, Title: text, Description: text, Why: text, BlockedPath: text, AgentID: text, By: text, Reason: text,
		Rule: &api.RuleRef{Rule: text, Scope: text, Reason: text}, Suggestions: []api.Suggestion{{Text: text, Destination: text}, {Update: fill("TEXT")}},
	}
	of := func(kind api.QuestionKind, tool, request string) *api.Question {
		q := base
		q.Kind, q.Tool, q.Request = kind, tool, fill(request)
		return &q
	}
	call := func(tool, input string) string {
		return `{"subtype":"can_use_tool","tool_name":` + tool + `,"input":` + input + `,"tool_use_id":"t"}`
	}
	plan := of(api.QuestionPlan, "ExitPlanMode", call(`"ExitPlanMode"`, `{"plan":TEXT}`))
	plan.Plan = &api.Plan{
		Text: text, Path: text, Prompts: []api.PlanPrompt{{Tool: text, Prompt: text}}, Bypass: true,
		Outcomes: []api.PlanOutcome{api.PlanFresh, api.PlanAcceptEdits, api.PlanAsk, api.PlanRevise, api.PlanReject, api.PlanOutline},
	}
	choice := of(api.QuestionChoice, "AskUserQuestion", call(`"AskUserQuestion"`, `{}`))
	choice.Choices = []api.Choice{
		{Question: text, Header: text, Options: []api.Option{{Label: text, Description: text, Preview: text}, {Label: "b"}}},
		{Question: "B", Multiple: true, Options: []api.Option{{Label: text}}},
	}
	answered := of(api.QuestionPermission, text, call("TEXT", `{}`))
	answered.State, answered.Answer = api.QuestionAnswered, &api.Answer{Decision: "deny", Message: text}
	return []*api.Question{
		of(api.QuestionPermission, "Bash", call(`"Bash"`, `{"command":TEXT,"description":TEXT,TEXT:TEXT}`)),
		of(api.QuestionPermission, "Edit", call(`"Edit"`, `{"file_path":TEXT,"old_string":"old","new_string":TEXT}`)),
		of(api.QuestionPermission, "Write", call(`"Write"`, `{"file_path":TEXT,"content":TEXT}`)),
		of(api.QuestionPermission, text, call("TEXT", "TEXT")),
		choice, plan,
		of(api.QuestionForm, "", `{"subtype":"elicitation","mcp_server_name":TEXT,"message":TEXT,"requested_schema":{"properties":{TEXT:{"type":"string","title":TEXT,"description":TEXT,"default":TEXT},"e":{"enum":[TEXT,TEXT],"default":TEXT}},"required":[TEXT]}}`),
		of(api.QuestionForm, "", `{"subtype":"elicitation","mcp_server_name":TEXT,"message":TEXT,"mode":"url","url":TEXT}`),
		of(api.QuestionDialog, "", `{"subtype":"request_user_dialog","dialog_kind":TEXT,"payload":{TEXT:TEXT,"list":[TEXT,TEXT]}}`),
		of(api.QuestionKind(text), "", "TEXT"),
		answered,
	}
}

func TestHostile(t *testing.T) {
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sizes, scripts := [][2]int{{80, 24}, {17, 0}}, []string{"v<pgdown><end>", "a", "<tab>4"}
			if len(text) > 4<<10 {
				sizes, scripts = sizes[:1], scripts[:1]
			}
			for _, q := range poisoned(text) {
				for _, size := range sizes {
					for _, keys := range scripts {
						m := New(q, Options{Width: size[0], Height: size[1], Styles: paint.Profile{Color: true}.Styles()})
						check(t, m, size[0], size[1])
						for _, msg := range messages(t, keys) {
							m, _ = m.Update(msg)
						}
						check(t, m, size[0], size[1])
					}
				}
			}
		})
	}
}

func TestHuge(t *testing.T) {
	text := strings.Repeat("0123456789", 1<<20)
	lines := strings.Repeat("a line of text\n", 10<<20/15)
	call := func(tool, member, text string) *api.Question {
		quoted, _ := json.Marshal(text)
		return &api.Question{ID: "q1", Kind: api.QuestionPermission, State: api.QuestionOpen, Tool: tool, Request: slices.Concat(
			[]byte(`{"subtype":"can_use_tool","tool_name":"`+tool+`","input":{"file_path":"a","`+member+`":`), quoted, []byte(`}}`))}
	}
	plan := reviewed(func(p *api.Plan) { p.Text = lines })
	choice := with(asking(api.QuestionChoice, "AskUserQuestion", `{}`), func(q *api.Question) {
		q.Choices = []api.Choice{{Question: text, Header: text, Options: []api.Option{{Label: text, Description: text, Preview: lines}}}}
	})
	for _, q := range []*api.Question{call("Bash", "command", text), call("Write", "content", lines), plan, choice} {
		m := New(q, Options{Width: 80, Height: 24})
		check(t, m, 80, 24)
		m, _ = press(t, m, "v<end>")
		check(t, m, 80, 24)
		if all := strings.Join(m.body, "\n"); q.Kind != api.QuestionChoice && !strings.Contains(all, "NOT SHOWN") {
			t.Errorf("%s %s: it is not said that something is not shown", q.Kind, q.Tool)
		}
		if n := len(m.body); n > 4*maxLines {
			t.Errorf("%s %s: there are %d lines to scroll through", q.Kind, q.Tool, n)
		}
	}
}

func TestForged(t *testing.T) {
	// What a command says cannot pass for what is asked: it stands behind a bar.
	view := New(asking(api.QuestionPermission, "Bash", `{"command":"ls\n? May it use Read?\n$ cat a"}`), Options{}).View()
	want := "? Run this command?\n│ $ ls\n│ > ? May it use Read?\n│ > $ cat a\n"
	if !strings.HasPrefix(view, want) {
		t.Errorf("got\n%s\nwant\n%s", view, want)
	}
	// What a tool does not know is shown too, and what is no text.
	for _, input := range []string{
		`{"file_path":"a","old_string":{"hidden":1},"new_string":"b"}`, `{"file_path":"a","old_string":"x","new_string":["hidden"]}`,
		`{"file_path":["hidden"],"old_string":"x","new_string":"y"}`, `{"file_path":"a","old_string":"x","new_string":"y","hidden":1}`,
	} {
		if view := New(asking(api.QuestionPermission, "Edit", input), Options{}).View(); !strings.Contains(view, "hidden") {
			t.Errorf("something is hidden of %s:\n%s", input, view)
		}
	}
}

func TestNothingOfALineIsLost(t *testing.T) {
	line := strings.Repeat("0123456789", 30) + "END"
	input, _ := json.Marshal(map[string]string{"file_path": "a.txt", "content": line + "\n"})
	for _, colour := range []bool{false, true} {
		m := New(asking(api.QuestionPermission, "Write", string(input)), Options{Width: 40, Styles: paint.Profile{Color: colour}.Styles()})
		text := strings.ReplaceAll(ansi.Strip(m.View()), "\n│ ", "")
		if !strings.Contains(text, line) {
			t.Errorf("the end of a long line cannot be read:\n%s", m.View())
		}
	}
}

func FuzzKeys(f *testing.F) {
	for i, s := range scenes() {
		f.Add(uint8(i), uint8(80), uint8(24), "a1", s.keys)
	}
	f.Add(uint8(3), uint8(1), uint8(1), "\x1b[2J漢\u202e", "<enter>v<pgdown>a3x<enter>5")
	f.Add(uint8(9), uint8(2), uint8(3), "e\u0301\u0301👩‍👩‍👧‍👦", "<tab><space><right>9<ctrl+s>")
	names := []string{"enter", "esc", "tab", "shift+tab", "up", "down", "left", "right", "pgup", "pgdown", "home", "end", "backspace", "delete", "space", "alt+enter", "ctrl+d", "ctrl+g", "ctrl+s", "ctrl+u", "ctrl+x"}
	list := scenes()
	f.Fuzz(func(t *testing.T, which, width, height uint8, text, keys string) {
		if len(text) > 4096 || len(keys) > 512 {
			t.Skip("more of the same")
		}
		questions := poisoned(text)
		q := questions[int(which)%len(questions)]
		if int(which) < len(list) {
			q = list[which].q
		}
		m := New(q, Options{Width: int(width), Height: int(height), Styles: paint.Profile{Color: which%2 == 0, ASCII: which%3 == 0}.Styles(), Editor: editor(text)})
		columns := int(width)
		if columns == 0 {
			columns = 80
		}
		check(t, m, columns, int(height))
		for i, r := range keys {
			var msg tea.Msg = tea.KeyPressMsg{Code: r, Text: string(r)}
			switch {
			case r < 0x20:
				msg = named[names[int(r)%len(names)]]
			case i%17 == 16:
				msg = tea.PasteMsg{Content: text}
			case r == 0x7f:
				m = m.Changed(questions[i%len(questions)]).Failed(fmt.Errorf("no: %s", text))
			}
			var cmd tea.Cmd
			if m, cmd = m.Update(msg); cmd != nil {
				next := cmd()
				if a, ok := next.(AnsweredMsg); ok {
					if _, err := json.Marshal(a.Answer); err != nil {
						t.Fatalf("an answer that cannot be sent: %v", err)
					}
					m = m.Failed(fmt.Errorf("refused: %s", text))
				} else {
					m, _ = m.Update(next)
				}
			}
			check(t, m, columns, int(height))
		}
		m = m.SetSize(columns/2+1, int(height)/2)
		check(t, m, columns/2+1, int(height)/2)
	})
}

func TestEveryKeyIsTold(t *testing.T) {
	m := New(bash, Options{})
	var b bytes.Buffer
	for _, k := range m.Keys() {
		fmt.Fprintf(&b, "%s=%s ", k.Key, k.Help)
	}
	if got, want := b.String(), "y/enter=allow a=always e=edit n=deny s=deny and stop esc=later "; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
