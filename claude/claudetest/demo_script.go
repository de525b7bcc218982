package claudetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"
)

const (
	demoFile = "slug/slug.go"
	// demoReviewPrompt is what the sub-agent is told. It also tells its conversation from the main one.
	demoReviewPrompt = "Review the change to " + demoFile + ": is it right, and is anything missing? Answer in a few sentences."
)

// demoNoteTool is a tool of a server that does not exist; see [DemoTools].
const demoNoteTool = "mcp__notes__add"

// demoForm is what that server asks before it adds a line.
const demoForm = `{"mcp_server_name":"notes","message":"Which release is this for?","requested_schema":{"type":"object","properties":{` +
	`"release":{"type":"string","title":"Release","enum":["1.4.1","1.5.0"],"default":"1.5.0"},` +
	`"breaking":{"type":"boolean","title":"Breaking change","default":true}},"required":["release"]}}`

// demoLine is the line.
const demoLine = "slugs no longer contain double or trailing dashes"

// What is said in the demo, where more than one place needs it.
const (
	demoUntitled   = "untitled"
	demoNothing    = "An empty string"
	demoEmptyTitle = "What should the slug be for a title without letters or digits?"
	demoMoreCases  = "Which other cases should the tests cover?"
)

// DemoFiles returns the files of the small project that [Demo] is about, by their path in it: for callers that let a real CLI play the demo, or
// want to show more of it.
func DemoFiles() map[string]string {
	return map[string]string{
		"go.mod":            "module example.com/blog\n\ngo 1.24\n",
		demoFile:            demoSource(demoBefore),
		"slug/slug_test.go": demoTests,
	}
}

// demoSource is the file that the task is about.
func demoSource(body string) string {
	return "// Package slug makes names for URLs.\npackage slug\n\nimport \"strings\"\n\n" +
		"// Make turns a title into the part of a URL that names it.\nfunc Make(title string) string {\n" + body + "}\n"
}

const demoBefore = `	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		default:
			b.WriteByte('-')
		}
	}
	return b.String()
`

const demoAfter = `	var b strings.Builder
	gap := false // characters were dropped since the last one
	for _, r := range strings.ToLower(title) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			gap = false
			b.WriteRune(r)
		default:
			gap = true
		}
	}
`

const demoTests = `package slug

import "testing"

func TestMake(t *testing.T) {
	for title, want := range map[string]string{
		"Hello, World!":  "hello-world",
		"Go 1.26 is out": "go-1-26-is-out",
	} {
		if got := Make(title); got != want {
			t.Errorf("Make(%q) = %q, want %q", title, got, want)
		}
	}
}
`

// ending is the end of the fixed function, as the user wants it.
func (d demo) ending() string {
	if d.untitled() {
		return "	if b.Len() == 0 {\n		return \"" + demoUntitled + "\"\n	}\n	return b.String()\n"
	}
	return "	return b.String()\n"
}

// untitled reports what the user answered; without an answer that is what was recommended.
func (d demo) untitled() bool {
	return !strings.Contains(d.done[demoAsk].text, demoEmptyTitle+`"="`+demoNothing)
}

// say is what the model says in a step.
func (d demo) say(step demoStep) Reply {
	switch step {
	case demoFind:
		return d.find()
	case demoLook:
		return Say(step.call("Read", map[string]any{"file_path": demoFile}))
	case demoTest:
		return Say(
			Text("`Make` writes a dash for every character it drops. I'll run the tests to see what that breaks."),
			step.call("Bash", map[string]any{"command": "go test ./...", "description": "Run the tests"}),
		)
	case demoAsk:
		return Say(
			Text("The tests confirm it: `hello--world-` instead of `hello-world`. I have two questions before I fix it."),
			step.call("AskUserQuestion", map[string]any{"questions": demoQuestions()}),
		)
	case demoEnter:
		return Say(
			Thinking("The change is small, but it changes URLs that people may have linked to. I should write a plan and get it approved first."),
			step.call("EnterPlanMode", map[string]any{}),
		)
	case demoWrite:
		return Say(step.call("Write", map[string]any{"file_path": d.planFile, "content": d.plan()}))
	case demoExit:
		return d.approve()
	case demoEdit:
		blocks := []Block{Text("Thanks, I'll make the change now.")}
		blocks = append(blocks, d.todo(step, 2)...)
		return Say(append(blocks, step.call("Edit", map[string]any{
			"file_path": demoFile, "old_string": demoBefore, "new_string": demoAfter + d.ending(),
		}))...)
	case demoCheck:
		return Say(
			Text("Now I'll run the tests again."),
			step.call("Bash", map[string]any{"command": "go test ./...", "description": "Run the tests"}),
		)
	case demoReview:
		said := "All tests pass. I'll have a sub-agent review the change."
		if d.done[demoCheck].failed {
			said = "The tests haven't passed yet. I'll have a sub-agent review the change."
		}
		return Say(
			Text(said),
			step.call("Task", map[string]any{
				"description": "Review the change", "prompt": demoReviewPrompt, "subagent_type": "general-purpose", "run_in_background": false,
			}),
		)
	case demoNote:
		return Say(
			Text("The reviewer is right about the old links. I'll add a line to the release notes."),
			step.call(demoNoteTool, map[string]any{"line": demoLine}),
		)
	case demoTick:
		return Say(d.todo(step, len(demoItems()))...)
	default:
		return d.smallTalk()
	}
}

func (d demo) find() Reply {
	blocks := []Block{
		Thinking("Slugs come from the slug package. I'll look at the function and its tests first to find out what's wrong."),
		Text("I'll look at how slugs are made and what the tests expect."),
	}
	blocks = append(blocks, d.todo(demoFind, 0)...)
	if d.offers("Grep") {
		return Say(append(blocks, demoFind.call("Grep", map[string]any{"pattern": `slug\.Make|func Make`, "output_mode": "content", "-n": true}))...)
	}
	return Say(append(blocks, demoFind.call("Bash", map[string]any{"command": "grep -rnE 'slug.Make|func Make' .", "description": "Find the function"}))...)
}

// demoItems is the list of what is to do.
func demoItems() [][2]string {
	return [][2]string{
		{"Find how slugs are made", "Finding how slugs are made"},
		{"Agree on the fix", "Agreeing on the fix"},
		{"Fix slug.Make", "Fixing slug.Make"},
		{"Run the tests and review the change", "Running the tests"},
	}
}

// todo writes the list with the first items done; nothing if the CLI has no such list.
func (d demo) todo(step demoStep, done int) []Block {
	if !d.offers("TodoWrite") {
		return nil
	}
	var todos []map[string]any
	for i, item := range demoItems() {
		status := "pending"
		switch {
		case i < done:
			status = "completed"
		case i == done:
			status = "in_progress"
		}
		todos = append(todos, map[string]any{"content": item[0], "status": status, "activeForm": item[1]})
	}
	return []Block{step.call("TodoWrite", map[string]any{"todos": todos})}
}

func demoQuestions() []map[string]any {
	option := func(label, description string) map[string]any {
		return map[string]any{"label": label, "description": description}
	}
	return []map[string]any{
		{
			"question": demoEmptyTitle, "header": "Empty title", "multiSelect": false,
			"options": []map[string]any{
				option(demoUntitled, "Every page gets a name (recommended)"),
				option(demoNothing, "The caller has to handle it"),
			},
		},
		{
			"question": demoMoreCases, "header": "Tests", "multiSelect": true,
			"options": []map[string]any{
				option("Surrounding spaces", "\"  Hello  \""),
				option("Only punctuation", "\"?!\""),
				option("Other alphabets", "\"Привет\""),
			},
		},
	}
}

// plan is the plan that the user is asked to approve.
func (d demo) plan() string {
	empty := "An empty title still becomes an empty slug."
	if d.untitled() {
		empty = "A title without letters or digits becomes `" + demoUntitled + "`."
	}
	return "# Fix slug.Make\n\n**Why:** every dropped character becomes its own dash, so `Hello, World!` becomes `hello--world-`.\n\n" +
		"1. In `" + demoFile + "`, write one dash for each run of dropped characters.\n" +
		"2. Write no dash at the start or end.\n" +
		"3. " + empty + "\n\n**Verify:** run `go test ./...`, then a review.\n"
}

func (d demo) approve() Reply {
	input := map[string]any{}
	if d.planFile == "" {
		input["plan"] = d.plan()
	}
	ask := demoExit.call("ExitPlanMode", input)
	if outcome := d.done[demoExit]; outcome.said > 0 {
		return Say(Text("I considered your feedback and still recommend this small change."), ask)
	}
	return Say(ask)
}

// review is the sub-agent's part.
func (d demo) review() Reply {
	if _, read := d.done[demoReread]; !read {
		return Say(demoReread.call("Read", map[string]any{"file_path": demoFile}))
	}
	return Say(Text("The change is correct: each run of dropped characters becomes one dash, with none at either end. " +
		"It doesn't allocate more than before. Links to old slugs with double dashes will break, so the release notes should mention it."))
}

func (d demo) summary() Reply {
	empty := "an empty title still becomes an empty slug"
	if d.untitled() {
		empty = "a title without letters or digits becomes `" + demoUntitled + "`"
	}
	tests := "`go test ./...` passes"
	if d.done[demoCheck].failed {
		tests = "The tests haven't passed yet; please run them"
	}
	said := "`slug.Make` is fixed.\n\n" +
		"- `" + demoFile + "`: one dash for each run of dropped characters, none at the ends; " + empty + ".\n" +
		"- " + tests + ".\n"
	if note, done := d.done[demoNote]; done && !note.failed {
		return Say(Text(said + "- The reviewer approved it. The release notes now mention that old links change."))
	}
	return Say(Text(said + "- The reviewer approved it and suggests a line for the release notes, since old links change:\n\n" +
		"```\n" + demoLine + "\n```\n\nLet me know if I should add it."))
}

// smallTalk answers what is said outside the task.
func (d demo) smallTalk() Reply {
	switch {
	case wants(d.prompt, "test"):
		return Say(Text("I'll run them again."), demoAgain.call("Bash", map[string]any{"command": "go test ./...", "description": "Run the tests"}))
	case wants(d.prompt, "thank"):
		return Say(Text("You're welcome."))
	case !d.finished():
		return Say(Text("I've stopped. Say \"continue\" and I'll pick up where I left off."))
	default:
		return Say(Text("That's the whole task: this agent is simulated and its script ends here. Ask me to run the tests again, or start a new session."))
	}
}

// DemoTools returns what the tools of [Demo] print in a simulated CLI, for [SimOptions].Tool. It leaves every call alone that is not the
// demo's. o may be nil.
func DemoTools(o *DemoOptions) func(ToolCall) (ToolOutcome, bool) {
	fast := o != nil && o.Fast
	const (
		red = "Exit code 1\n--- FAIL: TestMake (0.00s)\n    slug_test.go:11: Make(\"Hello, World!\") = \"hello--world-\", want \"hello-world\"\n" +
			"FAIL\nFAIL\texample.com/blog/slug\t0.002s\nFAIL"
		green = "ok  \texample.com/blog/slug\t0.002s"
	)
	found := fmt.Sprintf("%s:7:func Make(title string) string {\npost/post.go:31:\tp.Name = slug.Make(p.Title)", demoFile)
	outcomes := map[demoStep]map[string]ToolOutcome{
		demoFind:   {"Grep": {Text: found}, "Bash": {Text: found}},
		demoLook:   {"Read": {Text: numbered(demoSource(demoBefore)), Takes: 100 * time.Millisecond}},
		demoTest:   {"Bash": {Text: red, Failed: true, Takes: 1500 * time.Millisecond}},
		demoCheck:  {"Bash": {Text: green, Takes: 1500 * time.Millisecond}},
		demoAgain:  {"Bash": {Text: green, Takes: time.Second}},
		demoNote:   {demoNoteTool: {Text: "Added.", Form: json.RawMessage(demoForm)}},
		demoReread: {"Read": {Text: numbered(demoSource(demoAfter + "	return b.String()\n")), Takes: 500 * time.Millisecond}},
	}
	for _, step := range []demoStep{demoFind, demoEdit, demoTick} {
		tools := maps.Clone(outcomes[step])
		if tools == nil {
			tools = map[string]ToolOutcome{}
		}
		tools["TodoWrite"] = ToolOutcome{Text: "The list has been updated."}
		outcomes[step] = tools
	}
	return func(call ToolCall) (ToolOutcome, bool) {
		step, ours := demoStepOf(call.ID)
		outcome, known := outcomes[step][call.Name]
		if fast {
			outcome.Takes = 0
		}
		return outcome, ours && known
	}
}

// numbered returns a text with its lines numbered, as the Read tool shows it.
func numbered(text string) string {
	var out strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		n++
		fmt.Fprintf(&out, "%6d→%s", n, line)
	}
	return out.String()
}
