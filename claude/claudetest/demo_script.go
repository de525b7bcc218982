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
const demoForm = `{"mcp_server_name":"notes","message":"Where does the line go?","requested_schema":{"type":"object","properties":{` +
	`"release":{"type":"string","title":"Release","enum":["1.4.1","1.5.0"],"default":"1.5.0"},` +
	`"breaking":{"type":"boolean","title":"It breaks something","default":true}},"required":["release"]}}`

// demoLine is the line.
const demoLine = "slugs no longer contain double or trailing dashes"

// What is said in the demo, where more than one place needs it.
const (
	demoUntitled   = "untitled"
	demoNothing    = "An empty string"
	demoEmptyTitle = "What should a title without any letter or digit give?"
	demoMoreCases  = "Which further cases shall the tests cover?"
)

// DemoFiles returns the files of the small project that [Demo] is about, by their path in it: for those who let a real CLI play the demo, or
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
	gap := false // something was left out since the last character
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

// ending is the end of the mended function, as the user wants it.
func (d demo) ending() string {
	if d.untitled() {
		return "	if b.Len() == 0 {\n		return \"" + demoUntitled + "\"\n	}\n	return b.String()\n"
	}
	return "	return b.String()\n"
}

// untitled reports what the user answered; who does not answer gets what was recommended.
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
			Text("`Make` writes one dash for every character that it leaves out. I run the tests to see what that breaks."),
			step.call("Bash", map[string]any{"command": "go test ./...", "description": "Run the tests"}),
		)
	case demoAsk:
		return Say(
			Text("The tests show it: `hello--world-` instead of `hello-world`. Two things are for you to decide."),
			step.call("AskUserQuestion", map[string]any{"questions": demoQuestions()}),
		)
	case demoEnter:
		return Say(
			Thinking("The change is small, but it alters URLs that people may have linked to. Better to write down what I am going to do and have it approved."),
			step.call("EnterPlanMode", map[string]any{}),
		)
	case demoWrite:
		return Say(step.call("Write", map[string]any{"file_path": d.planFile, "content": d.plan()}))
	case demoExit:
		return d.approve()
	case demoEdit:
		blocks := []Block{Text("Thank you. Here is the change.")}
		blocks = append(blocks, d.todo(step, 2)...)
		return Say(append(blocks, step.call("Edit", map[string]any{
			"file_path": demoFile, "old_string": demoBefore, "new_string": demoAfter + d.ending(),
		}))...)
	case demoCheck:
		return Say(
			Text("Now the tests again."),
			step.call("Bash", map[string]any{"command": "go test ./...", "description": "Run the tests"}),
		)
	case demoReview:
		said := "Green. Somebody else should look at it before you do."
		if d.done[demoCheck].failed {
			said = "I have no green tests to show. Somebody else should look at it all the more."
		}
		return Say(
			Text(said),
			step.call("Task", map[string]any{
				"description": "Review the change", "prompt": demoReviewPrompt, "subagent_type": "general-purpose", "run_in_background": false,
			}),
		)
	case demoNote:
		return Say(
			Text("The reviewer is right about the old links: that belongs into the release notes."),
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
		Thinking("The slugs come from package slug. First I want to see the function and what its tests expect; then I can say what is wrong."),
		Text("I will look at how slugs are made, and at what the tests expect."),
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
		{"Find out how slugs are made", "Finding out how slugs are made"},
		{"Agree on what to do", "Agreeing on what to do"},
		{"Mend slug.Make", "Mending slug.Make"},
		{"Run the tests and have it reviewed", "Running the tests"},
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
				option(demoUntitled, "A page always has a name (recommended)"),
				option(demoNothing, "The caller has to deal with it"),
			},
		},
		{
			"question": demoMoreCases, "header": "Tests", "multiSelect": true,
			"options": []map[string]any{
				option("Spaces around", "\"  Hello  \""),
				option("Only punctuation", "\"?!\""),
				option("Other alphabets", "\"Привет\""),
			},
		},
	}
}

// plan is the plan that the user is asked to approve.
func (d demo) plan() string {
	empty := "An empty title gives an empty slug, as it does today."
	if d.untitled() {
		empty = "A title without letters and digits gives `" + demoUntitled + "`."
	}
	return "# Mend slug.Make\n\n**Why:** every character that is left out becomes a dash of its own, so `Hello, World!` becomes `hello--world-`.\n\n" +
		"1. In `" + demoFile + "`, remember that something was left out, and write one dash before the next character that stays.\n" +
		"2. No dash at the beginning or at the end.\n" +
		"3. " + empty + "\n\n**Check:** `go test ./...`, then a review.\n"
}

func (d demo) approve() Reply {
	input := map[string]any{}
	if d.planFile == "" {
		input["plan"] = d.plan()
	}
	ask := demoExit.call("ExitPlanMode", input)
	if outcome := d.done[demoExit]; outcome.said > 0 {
		return Say(Text("I have thought about what you said, and would still keep it as small as this."), ask)
	}
	return Say(ask)
}

// review is the sub-agent's part.
func (d demo) review() Reply {
	if _, read := d.done[demoReread]; !read {
		return Say(demoReread.call("Read", map[string]any{"file_path": demoFile}))
	}
	return Say(Text("The change is right: runs of characters that are left out become one dash, and none stands at either end. " +
		"It allocates no more than before. Links to old slugs with double dashes will break, which is worth a line in the release notes."))
}

func (d demo) summary() Reply {
	empty := "an empty title still gives an empty slug"
	if d.untitled() {
		empty = "a title without letters and digits gives `" + demoUntitled + "`"
	}
	tests := "`go test ./...` passes"
	if d.done[demoCheck].failed {
		tests = "The tests have not passed yet: please run them"
	}
	said := "`slug.Make` is mended.\n\n" +
		"- `" + demoFile + "`: one dash for any run of characters that are left out, none at the ends; " + empty + ".\n" +
		"- " + tests + ".\n"
	if note, done := d.done[demoNote]; done && !note.failed {
		return Say(Text(said + "- The reviewer agrees. Old links change, which the release notes now say."))
	}
	return Say(Text(said + "- The reviewer agrees, and asks for a line in the release notes, since old links change:\n\n" +
		"```\n" + demoLine + "\n```\n\nSay the word if I shall add it."))
}

// smallTalk answers what is said outside the task.
func (d demo) smallTalk() Reply {
	switch {
	case wants(d.prompt, "test"):
		return Say(Text("I run them once more."), demoAgain.call("Bash", map[string]any{"command": "go test ./...", "description": "Run the tests"}))
	case wants(d.prompt, "thank"):
		return Say(Text("You are welcome."))
	case !d.finished():
		return Say(Text("I have stopped. Say \"go on\" and I take it up where I left it."))
	default:
		return Say(Text("That was the whole task: this agent is simulated, and its script ends here. It can run the tests again if you ask it to; " +
			"a new session begins from the start."))
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
