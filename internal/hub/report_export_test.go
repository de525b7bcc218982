package hub_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/policy"
)

// timeline returns the whole timeline of a session, in pages of some size.
func (l *lab) timeline(id string, limit int) []api.TimelineItem {
	l.t.Helper()
	var items []api.TimelineItem
	for after := ""; ; {
		page, err := l.reports.Timeline(l.ctx(), id, after, limit)
		if err != nil {
			l.t.Fatal(err)
		}
		items = append(items, page.Items...)
		if !page.More {
			return items
		}
		if after == page.Next {
			l.t.Fatalf("the page after %s leads nowhere", after)
		}
		after = page.Next
	}
}

// story makes a session in which a good deal happens.
func (l *lab) story() *api.Session {
	l.t.Helper()
	s := l.create(api.CreateSession{Prompt: "@say first\n" + `@tool Bash {"command":"make"}` + "\n" + `@tool Bash {"command":"touch x"}` + "\n@say over", Title: "A story"})
	q := l.question(s.ID)
	l.answer(q.ID, api.Answer{Decision: "deny", Message: "Not now."})
	l.awaitDone(s.ID, 1)
	l.send(s.ID, `@tool AskUserQuestion {"questions":[{"question":"Which one?","header":"One","multiSelect":false,"options":[{"label":"Left","description":"l"},{"label":"Right","description":"r"}]}]}`+"\n@say chosen")
	q = l.question(s.ID)
	l.answer(q.ID, api.Answer{Decision: "allow", Choices: map[string]api.ChoiceAnswer{"Which one?": {Labels: []string{"Right"}}}})
	l.awaitDone(s.ID, 2)
	if _, err := l.hub.Stop(l.ctx(), person, s.ID, api.Stop{}); err != nil {
		l.t.Fatal(err)
	}
	return s
}

func TestTimeline(t *testing.T) {
	l, _ := rulesLab(t, "allow = [\"Bash(make:*)\"]\n")
	s := l.story()
	items := l.timeline(s.ID, 0)
	var lines []string
	for _, i := range items {
		line := i.Kind + ": " + strings.ReplaceAll(i.Title, s.Dir, "DIR")
		if i.By != "" {
			line += " by " + i.By
		}
		if i.Failed {
			line += ", failed"
		}
		if i.EventID == "" || i.Seq == 0 || i.Time.IsZero() {
			t.Errorf("an item is %s", encode(i))
		}
		lines = append(lines, line)
	}
	want := []string{
		"run: Session created in DIR by ada",
		"run: Process started",
		"prompt: @say first @tool Bash {\"command\":\"make\"} @tool Bash {\"command\":\"touch x\"} @say over by ada",
		"tool: make, failed",
		"tool: touch x, failed",
		"question: make",
		"decision: Allowed: make by rule Bash(make:*)",
		"question: touch x",
		"decision: Denied: touch x by ada",
		"turn: Turn finished",
		"prompt: @tool AskUserQuestion",
		"question: Which one?",
		"decision: Answered: Which one? by ada",
		"turn: Turn finished",
		"run: Process ended: it was stopped by ada",
	}
	for i, line := range lines {
		if i < len(want) && !strings.HasPrefix(line, strings.TrimSuffix(want[i], ", failed")) {
			t.Errorf("item %d is %q, expected %q", i, line, want[i])
		}
	}
	if len(lines) != len(want) {
		t.Fatalf("%d items, expected %d:\n%s", len(lines), len(want), strings.Join(lines, "\n"))
	}
	if turn := items[9]; turn.USD <= 0 {
		t.Errorf("the first turn cost nothing: %s", encode(turn))
	}
	if denied := items[4]; !denied.Failed {
		t.Errorf("the call that was denied did not fail: %s", encode(denied))
	}
	// In pages it is the same, results that come on a later page included.
	for _, limit := range []int{1, 2, 5} {
		if diff := cmp.Diff(items, l.timeline(s.ID, limit)); diff != "" {
			t.Errorf("in pages of %d (-whole +paged):\n%s", limit, diff)
		}
	}
	if _, err := l.reports.Timeline(l.ctx(), s.ID, "other:7", 0); code(err) != api.CodeInvalid {
		t.Errorf("after an event of another session: %v", err)
	}
	if _, err := l.reports.Timeline(l.ctx(), "snobody", "", 0); code(err) != api.CodeNotFound {
		t.Errorf("of nobody: %v", err)
	}
}

// TestTimelineTrouble tells of an interrupt, of a link that was lost and of a
// process that died, in pages of any size.
func TestTimelineTrouble(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{Prompt: `@tool Bash {"command":"touch x"}`})
	l.question(s.ID)
	if _, err := l.hub.Interrupt(l.ctx(), person, s.ID, api.Interrupt{}); err != nil {
		t.Fatal(err)
	}
	l.awaitState(s.ID, api.StateIdle)
	l.launcher.of(s.ID).cut()
	l.awaitState(s.ID, api.StateOffline)
	l.launcher.of(s.ID).connect()
	l.awaitState(s.ID, api.StateIdle)
	l.launcher.of(s.ID).kill()
	l.awaitState(s.ID, api.StateEnded)
	for _, limit := range []int{0, 1, 3} {
		var titles []string
		for _, i := range l.timeline(s.ID, limit) {
			titles = append(titles, i.Title)
			if strings.HasPrefix(i.Title, "Turn interrupted") != (i.Kind == "turn") || i.Kind == "turn" && !i.Failed {
				t.Errorf("an item is %s", encode(i))
			}
		}
		all := strings.Join(titles, "\n")
		for _, part := range []string{"Cancelled (", "Turn interrupted", "Connection lost: the link was cut", "Connected again", "Process ended: its shim process died"} {
			if strings.Count(all, part) != 1 && part != "Connection lost: the link was cut" || !strings.Contains(all, part) {
				t.Errorf("in pages of %d %q is not told once:\n%s", limit, part, all)
			}
		}
	}
}

func (l *lab) export(id, format string) string {
	l.t.Helper()
	var out bytes.Buffer
	if err := l.reports.Export(l.ctx(), id, format, &out); err != nil {
		l.t.Fatal(err)
	}
	return out.String()
}

func TestExportLines(t *testing.T) {
	l, _ := rulesLab(t, "allow = [\"Bash(make:*)\"]\n")
	s := l.story()
	var lines, events []string
	for _, e := range l.events(s.ID) {
		if e.Kind == api.KindLine || e.Kind == api.KindSent {
			lines = append(lines, string(e.Line))
		}
		events = append(events, encode(e))
	}
	if diff := cmp.Diff(lines, strings.Split(strings.TrimSuffix(l.export(s.ID, "jsonl"), "\n"), "\n")); diff != "" {
		t.Errorf("the lines (-log +export):\n%s", diff)
	}
	got := strings.Split(strings.TrimSuffix(l.export(s.ID, "events"), "\n"), "\n")
	for i, line := range got {
		var e api.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		got[i] = encode(e)
	}
	if diff := cmp.Diff(events, got); diff != "" {
		t.Errorf("the events (-log +export):\n%s", diff)
	}
}

// errFull is what a full disk says.
var errFull = errors.New("no room")

// A smallDisk takes so many bytes.
type smallDisk struct{ left int }

func (d *smallDisk) Write(p []byte) (int, error) {
	if d.left -= len(p); d.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestExportRefused(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{Prompt: "@say " + strings.Repeat("much ", 40_000)})
	l.awaitDone(s.ID, 1)
	for _, test := range []struct{ id, format, want string }{
		{"snobody", "jsonl", api.CodeNotFound},
		{s.ID, "pdf", api.CodeInvalid},
		{s.ID, "", api.CodeInvalid},
	} {
		var out bytes.Buffer
		if err := l.reports.Export(l.ctx(), test.id, test.format, &out); code(err) != test.want || out.Len() > 0 {
			t.Errorf("%s of %s: %v, and %d bytes", test.format, test.id, err, out.Len())
		}
	}
	for _, format := range []string{"jsonl", "events", "markdown"} {
		if err := l.reports.Export(l.ctx(), s.ID, format, &smallDisk{left: 70_000}); !errors.Is(err, errFull) {
			t.Errorf("%s to a full disk: %v", format, err)
		}
	}
}

func TestExportMarkdown(t *testing.T) {
	l, _ := rulesLab(t, "allow = [\"Bash(make:*)\"]\n")
	s := l.story()
	text := l.export(s.ID, "markdown")
	for _, part := range []string{
		"# A story\n", "- Session: `" + s.ID + "`\n", "- Cost: $", " in 2 turns\n",
		"\n## Turn 1\n", "\n### Prompt of ada\n\n```text\n@say first\n", "\n### Agent\n\n> first\n",
		"\n**Tool** `Bash: make`\n\n```text\n{\"command\":\"make\"}\n```\n", "\n**Question** (permission) `make`\n", "\n**Allowed** by rule `Bash(make:*)`\n",
		"\n**Denied** by ada\n\n```text\nNot now.\n```\n", "\nError of `Bash`\n", "\n*Turn finished after ",
		"\n## Turn 2\n", "\n**Question** (choice) `Which one?`\n", "  - `Left`\n", "\n**Answered** by ada\n\n- `Which one?`: `Right`\n", "\n*Process ended at ",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("there is no %q", part)
		}
	}
	if strings.Contains(text, "\n## Turn 3") {
		t.Error("there is a third turn")
	}
	if t.Failed() {
		t.Log(text)
	}
}

// hostile is what an agent could say to whoever reads an export.
var hostile = []string{
	"\x1b[2J\x1b]0;owned\x07",
	"<script>alert(1)</script>",
	"```\n<img src=x onerror=alert(1)>\n```",
	"~~~\n# No heading\n~~~",
	"`````\n![beacon](https://evil.example/x.png)",
	"\r\n\r<b>bold</b>\r",
	"[link](javascript:alert(1))",
	"[link](Java\\script:alert(1)) [x]: javascript:alert(1)\n[link](&#106;avascript:alert(1)) \\<b> \\",
	"# A heading\n\n- **bold** `<b>` and ``a ` b``\n\n```go\nx <- y\n```",
	"\u202egnp.exe\u2066",
	"\u009b31m\x7f\x00",
	"broken \xff\xfe",
	"\u2028## no heading\u2029",
}

// TestExportHostile exports what an agent said: whatever it is, in Markdown it is
// text within a block of code, code within a line, or Markdown in a quotation that
// loads nothing and runs nothing.
func TestExportHostile(t *testing.T) {
	l := newLab(t)
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	for i, text := range hostile {
		quoted := encode(text)
		add(`{"type":"user","message":{"role":"user","content":%s},"uuid":"u%d","isReplay":true}`, quoted, i)
		add(`{"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"text","text":%s},{"type":"tool_use","id":"t%d","name":%s,"input":{"command":%s}}]},"uuid":"a%d"}`, quoted, i, quoted, quoted, i)
		add(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","is_error":true,"content":%s}]},"uuid":"r%d"}`, i, quoted, i)
	}
	l.launcher.history = map[string][]string{"c": lines}
	created, err := l.hub.Create(l.ctx(), hub.Actor{Source: "person", Name: "<b>*ada*</b>", Admin: true},
		api.CreateSession{Resume: "c", Transport: "websocket", Title: "<script>\x1b[1m`*_[x](y)", Dir: "/<i>`x`"})
	if err != nil {
		t.Fatal(err)
	}
	text := l.export(created.ID, "markdown")
	if found := regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f\x{80}-\x{9f}\x{202a}-\x{202e}\x{2066}-\x{2069}\x{2028}\x{2029}]`).FindString(text); found != "" {
		t.Errorf("%q is there as it came", found)
	}
	outside, quoted := outsideCode(t, text)
	if found := regexp.MustCompile(`(?i)<|!\[|(^|[^\\])\][(:]\s*java`).FindString(quoted); found != "" {
		t.Errorf("%q is in a quotation:\n%s", found, quoted)
	}
	for _, part := range []string{"<", "](", "evil", "alert", "onerror", "No heading", "no heading"} {
		if strings.Contains(strings.ReplaceAll(outside, `\<`, ""), part) && part != "](" {
			t.Errorf("%q is outside of code:\n%s", part, outside)
		}
	}
	if regexp.MustCompile(`(^|[^\\])\]\(`).MatchString(outside) {
		t.Errorf("there is a link outside of code:\n%s", outside)
	}
	if n := strings.Count(text, "alert(1)"); n < 9 {
		t.Errorf("what was said is there %d times only", n)
	}
	// As JSON it is all there, escaped.
	for _, format := range []string{"jsonl", "events"} {
		if out := l.export(created.ID, format); strings.ContainsAny(out, "\x1b\x07\x00") {
			t.Errorf("%s has control characters", format)
		}
	}
}

// outsideCode returns what of a Markdown text is not in a block of code or in code
// within a line, as CommonMark sees it.
func outsideCode(t *testing.T, text string) (outside, quoted string) {
	t.Helper()
	var own, quotation strings.Builder
	fence := ""
	for line := range strings.Lines(text) {
		line, isQuoted := strings.CutPrefix(strings.TrimSuffix(line, "\n"), ">")
		line = strings.TrimPrefix(line, " ")
		ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence != "":
			if len(ticks) >= len(fence) && strings.TrimSpace(line[len(ticks):]) == "" {
				fence = ""
			}
		case len(ticks) >= 3 && !strings.Contains(line[len(ticks):], "`"):
			fence = ticks
		case isQuoted:
			quotation.WriteString(withoutSpans(line) + "\n")
		default:
			own.WriteString(withoutSpans(line) + "\n")
		}
	}
	if fence != "" {
		t.Error("a block of code is not closed")
	}
	return own.String(), quotation.String()
}

// withoutSpans takes code out of a line.
func withoutSpans(line string) string {
	var out strings.Builder
	for {
		i := strings.IndexByte(line, '`')
		if i < 0 || i > 0 && line[i-1] == '\\' {
			if i < 0 {
				out.WriteString(line)
				return out.String()
			}
			out.WriteString(line[:i+1])
			line = line[i+1:]
			continue
		}
		out.WriteString(line[:i])
		rest := strings.TrimLeft(line[i:], "`")
		ticks := line[i : len(line)-len(rest)]
		end := closing(rest, len(ticks))
		if end < 0 {
			out.WriteString(ticks)
			line = rest
			continue
		}
		line = rest[end:]
	}
}

// closing returns where a run of just so many back quotes ends, -1 if there is
// none.
func closing(text string, n int) int {
	for _, at := range regexp.MustCompile("`+").FindAllStringIndex(text, -1) {
		if at[1]-at[0] == n {
			return at[1]
		}
	}
	return -1
}

// fileRules are rules that stand in a file.
type fileRules struct {
	*rules
	text string
}

func (r *fileRules) Text() (*api.RulesFile, error) {
	return &api.RulesFile{Path: "rules.toml", Text: r.text, Hash: fmt.Sprint("h", len(r.text))}, nil
}

func (r *fileRules) Replace(text, hash string) error {
	if hash != fmt.Sprint("h", len(r.text)) {
		return api.Errorf(409, api.CodeConflict, "another one")
	}
	r.text = text
	r.set(text)
	return nil
}

func (r *fileRules) Try(text string) (*policy.Engine, error) {
	file, err := policy.ParseFile("rules.toml", []byte(text), "/home/me")
	if err != nil {
		return nil, api.Errorf(422, api.CodeInvalid, "%v", err)
	}
	return policy.New(file, policy.Options{Home: "/home/me", Resolve: policy.Real})
}

func TestRulesFile(t *testing.T) {
	r := &fileRules{rules: newRules(t, ""), text: "# mine\n"}
	l := newLab(t, func(o *hub.Options) { o.Rules = r })
	file, err := l.hub.RulesFile(l.ctx())
	if err != nil || file.Text != "# mine\n" || file.Hash != "h7" {
		t.Fatalf("%+v, %v", file, err)
	}
	in := api.ReplaceRules{Text: "deny = [\"Bash(dd:*)\"]\n", Hash: file.Hash}
	if _, err := l.hub.ReplaceRules(l.ctx(), hub.Actor{Source: "person", Name: "eve"}, in); code(err) != api.CodeForbidden || r.text != "# mine\n" {
		t.Errorf("without the right: %v", err)
	}
	if p, err := l.hub.ReplaceRules(l.ctx(), person, in); err != nil || p.File != "rules.toml" || r.text != in.Text {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := l.hub.ReplaceRules(l.ctx(), person, in); code(err) != api.CodeConflict {
		t.Errorf("with an old hash: %v", err)
	}
	bare := newLab(t)
	if _, err := bare.hub.RulesFile(bare.ctx()); code(err) != api.CodeConflict {
		t.Errorf("without a file: %v", err)
	}
	if _, err := bare.hub.ReplaceRules(bare.ctx(), person, in); code(err) != api.CodeConflict {
		t.Errorf("without a file: %v", err)
	}
}

func TestExplain(t *testing.T) {
	l, _ := rulesLab(t, "allow = [\"Bash(make:*)\"]\ndeny = [\"Bash(dd:*)\"]\n")
	s := l.create(api.CreateSession{})
	if _, err := l.hub.AddRule(l.ctx(), person, s.ID, api.AddRule{Rule: "Bash(touch:*)", Decision: api.RuleAllow}); err != nil {
		t.Fatal(err)
	}
	bash := func(command string) json.RawMessage {
		return json.RawMessage(encode(map[string]string{"command": command}))
	}
	for _, test := range []struct {
		name string
		in   api.ExplainCall
		want string
	}{
		{"allowed", api.ExplainCall{Tool: "Bash", Input: bash("make all")}, "allow Bash(make:*) global"},
		{"denied", api.ExplainCall{Tool: "Bash", Input: bash("make && dd if=x"), Dir: "/home/me"}, "deny Bash(dd:*) global"},
		{"no rule", api.ExplainCall{Tool: "Bash", Input: bash("touch x")}, "ask  "},
		{"a session's own rule", api.ExplainCall{Tool: "Bash", Input: bash("touch x"), Session: s.ID}, "allow Bash(touch:*) session"},
		{"without input", api.ExplainCall{Tool: "WebSearch"}, "ask  "},
	} {
		d, err := l.hub.Explain(l.ctx(), test.in)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if got := fmt.Sprintf("%s %s %s", d.Rule.Decision, d.Rule.Rule, d.Rule.Scope); got != test.want || d.Tool != test.in.Tool || d.Rule.Reason == "" {
			t.Errorf("%s: %s", test.name, encode(d))
		}
	}
	for _, test := range []struct {
		name string
		in   api.ExplainCall
		want string
	}{
		{"no tool", api.ExplainCall{}, api.CodeInvalid},
		{"no object", api.ExplainCall{Tool: "Bash", Input: json.RawMessage(`"make"`)}, api.CodeInvalid},
		{"no JSON", api.ExplainCall{Tool: "Bash", Input: json.RawMessage(`{"a"`)}, api.CodeInvalid},
		{"a relative folder", api.ExplainCall{Tool: "Bash", Dir: "here"}, api.CodeInvalid},
		{"nobody's session", api.ExplainCall{Tool: "Bash", Session: "snobody"}, api.CodeNotFound},
	} {
		if _, err := l.hub.Explain(l.ctx(), test.in); code(err) != test.want {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

func TestTestRules(t *testing.T) {
	r := &fileRules{rules: newRules(t, "allow = [\"Bash(make:*)\"]\n")}
	l := newLab(t, func(o *hub.Options) { o.Rules = r })
	s := l.story() // make is allowed by a rule, touch x denied by a person
	same, err := l.reports.TestRules(l.ctx(), api.TestRules{})
	if err != nil {
		t.Fatal(err)
	}
	if same.Calls != 3 || same.Allowed != 1 || same.Denied != 0 || same.Asked != 2 || len(same.Changed) != 0 {
		t.Errorf("the rules in force: %s", encode(same))
	}
	changed, err := l.reports.TestRules(l.ctx(), api.TestRules{Text: "deny = [\"Bash(make:*)\"]\nallow = [\"Bash(touch:*)\"]\n", Sessions: []string{s.ID}})
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, row := range changed.Changed {
		rows = append(rows, fmt.Sprintf("%s %s: %s, now %s by %s", row.Tool, row.Title, row.Was, row.Now, row.Rule.Rule))
		if row.Session != s.ID || !strings.Contains(encode(l.events(s.ID)), `"id":"`+row.EventID+`"`) {
			t.Errorf("the row is of event %s of %s", row.EventID, row.Session)
		}
	}
	want := []string{"Bash make: allowed, now deny by Bash(make:*)", "Bash touch x: denied, now allow by Bash(touch:*)"}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("other rules (-want +got):\n%s", diff)
	}
	for _, test := range []struct {
		name string
		in   api.TestRules
		want string
	}{
		{"wrong rules", api.TestRules{Text: "allow = 7"}, api.CodeInvalid},
		{"nobody's session", api.TestRules{Sessions: []string{"snobody"}}, api.CodeNotFound},
		{"too many", api.TestRules{Sessions: make([]string, 101)}, api.CodeInvalid},
		{"too long", api.TestRules{Text: "#" + strings.Repeat("x", 256<<10)}, api.CodeTooLarge},
		{"too many rules", api.TestRules{Text: "deny = [" + strings.Repeat(`"A",`, 5001) + "]"}, api.CodeInvalid},
	} {
		if _, err := l.reports.TestRules(l.ctx(), test.in); code(err) != test.want {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// TestTestRulesBounds has more judged than one request may have: many rules against
// many calls, of which one line alone has enough. It stops, and says so.
func TestTestRulesBounds(t *testing.T) {
	r := &fileRules{rules: newRules(t, "")}
	l := newLab(t, func(o *hub.Options) { o.Rules = r })
	s := newStage(l, "2.1.120")
	var calls strings.Builder
	const n = 2500
	for i := range n {
		fmt.Fprintf(&calls, `,{"type":"tool_use","id":"u%d","name":"Bash","input":{"command":"ls %d"}}`, i, i)
	}
	s.says(`{"type":"assistant","uuid":"a1","session_id":"c","message":{"role":"assistant","content":[{"type":"text","text":"x"}` + calls.String() + `]}}`)
	few, err := l.reports.TestRules(l.ctx(), api.TestRules{Text: `deny = ["Bash(rm:*)"]`, Sessions: []string{s.id}})
	if err != nil || few.Calls != n || few.Incomplete {
		t.Fatalf("few rules: %s, %v", encode(few), err)
	}
	// Rules for another tool are cheap to hold against a call: the count of judgements ends this one, and not its time.
	const rules = 4990
	many, err := l.reports.TestRules(l.ctx(), api.TestRules{Text: "deny = [" + strings.Repeat(`"WebFetch",`, rules) + "]", Sessions: []string{s.id}})
	if err != nil || !many.Incomplete || many.Calls == 0 || many.Calls*rules > 10_000_000 {
		t.Errorf("many rules: %d calls, incomplete %v, %v", many.Calls, many.Incomplete, err)
	}
	gone, cancel := context.WithCancel(l.ctx())
	cancel()
	if _, err := l.reports.TestRules(gone, api.TestRules{Sessions: []string{s.id}}); !errors.Is(err, context.Canceled) {
		t.Errorf("a client that has gone: %v", err)
	}
}
