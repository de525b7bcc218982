package claudetest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A demoTalk talks with a script as a CLI would, without one.
type demoTalk struct {
	t        *testing.T
	script   func(Request) Reply
	tools    []string
	messages []TurnMessage
	// result is what a tool call gives.
	result func(block Block) (text string, failed bool)
	calls  []Block
}

// prompt says something and follows the turn to its end; it returns what the model said last.
func (x *demoTalk) prompt(text string) string {
	x.t.Helper()
	x.messages = append(x.messages, TurnMessage{Role: "user", Content: []ContentPart{{Type: "text", Text: text}}})
	return x.goOn()
}

func (x *demoTalk) goOn() string {
	x.t.Helper()
	for range 30 {
		reply := x.script(Request{Kind: KindTurn, Messages: x.messages, Tools: x.tools})
		assistant, results := TurnMessage{Role: "assistant"}, TurnMessage{Role: "user"}
		said := ""
		for _, block := range reply.Blocks {
			assistant.Content = append(assistant.Content, ContentPart{Type: block.kind, Text: block.text, ID: block.id, Name: block.name, Input: block.input})
			switch block.kind {
			case "text":
				said = block.text
			case "tool_use":
				x.calls = append(x.calls, block)
				text, failed := x.result(block)
				results.Content = append(results.Content, ContentPart{Type: "tool_result", ToolUseID: block.id, Text: text, IsError: failed})
			}
		}
		x.messages = append(x.messages, assistant)
		if results.Content == nil {
			return said
		}
		x.messages = append(x.messages, results)
	}
	x.t.Fatal("the demo does not end")
	return ""
}

// names lists the tools that were called, in order.
func (x *demoTalk) names() string {
	var names []string
	for _, block := range x.calls {
		names = append(names, block.name)
	}
	return strings.Join(names, " ")
}

// input returns a member of the input of the last call of a tool.
func (x *demoTalk) input(tool, member string) string {
	x.t.Helper()
	for _, block := range slices.Backward(x.calls) {
		if block.name != tool {
			continue
		}
		var input map[string]any
		if err := json.Unmarshal(block.input, &input); err != nil {
			x.t.Fatal(err)
		}
		value, _ := input[member].(string)
		return value
	}
	x.t.Fatalf("%s was not called, only %s", tool, x.names())
	return ""
}

const planTold = "Entered plan mode.\nYou should create your plan at /home/me/.claude/plans/noble-summit.md using the Write tool."

// willing is a user who agrees to everything, with the tools of the demo.
func willing(block Block) (string, bool) {
	switch block.name {
	case "EnterPlanMode":
		return planTold, false
	case "AskUserQuestion":
		return `Your questions have been answered: "` + demoEmptyTitle + `"="` + demoUntitled + `", "` + demoMoreCases + `"="Surrounding spaces". You can now continue.`, false
	}
	outcome, ok := DemoTools(nil)(ToolCall{ID: block.id, Name: block.name, Input: block.input})
	if !ok {
		return "(simulated)", false
	}
	return outcome.Text, outcome.Failed
}

func newDemoTalk(t *testing.T, o *DemoOptions) *demoTalk {
	return &demoTalk{t: t, script: Demo(o), result: willing}
}

const wholeDemo = "TodoWrite Grep Read Bash AskUserQuestion EnterPlanMode Write ExitPlanMode TodoWrite Edit Bash Task mcp__notes__add TodoWrite"

func TestDemo(t *testing.T) {
	x := newDemoTalk(t, nil)
	said := x.prompt("Anything at all.")
	if got := x.names(); got != wholeDemo {
		t.Errorf("the demo calls %s\nwant %s", got, wholeDemo)
	}
	if !strings.Contains(said, "is fixed") || !strings.Contains(said, demoUntitled) || !strings.Contains(said, "release notes now mention") {
		t.Errorf("it ends with %q", said)
	}
	if path := x.input("Write", "file_path"); path != "/home/me/.claude/plans/noble-summit.md" {
		t.Errorf("the plan is written to %q", path)
	}
	if plan := x.input("Write", "content"); !strings.Contains(plan, demoUntitled) {
		t.Errorf("the plan does not heed the answer:\n%s", plan)
	}
	ids := map[string]bool{}
	for _, block := range x.calls {
		if ids[block.id] {
			t.Errorf("the id %s is used twice", block.id)
		}
		ids[block.id] = true
	}
	for prompt, want := range map[string]string{"Thanks!": "welcome", "And now?": "new session"} {
		if said := x.prompt(prompt); !strings.Contains(said, want) {
			t.Errorf("to %q it says %q, want something with %q", prompt, said, want)
		}
	}
	if said := x.prompt("Do the tests still pass?"); !strings.Contains(said, "still") || x.names() != wholeDemo+" Bash" {
		t.Errorf("asked for the tests it says %q after %s", said, x.names())
	}
}

func TestDemoIsPaced(t *testing.T) {
	first := Request{Messages: []TurnMessage{{Role: "user", Content: []ContentPart{{Type: "text", Text: "go"}}}}}
	if delay := Demo(nil)(first).Delay; delay == 0 {
		t.Error("the demo has no pauses")
	}
	if delay := Demo(&DemoOptions{Fast: true})(first).Delay; delay != 0 {
		t.Errorf("the fast demo pauses for %v", delay)
	}
	for _, fast := range []bool{false, true} {
		outcome, ok := DemoTools(&DemoOptions{Fast: fast})(ToolCall{ID: demoID + "test_x", Name: "Bash"})
		if !ok || !outcome.Failed || outcome.Takes == 0 != fast {
			t.Errorf("fast %t: the first test run gives %+v, %t", fast, outcome, ok)
		}
	}
	if _, ok := DemoTools(nil)(ToolCall{ID: "toolu_other", Name: "Bash"}); ok {
		t.Error("DemoTools knows a call that is not the demo's")
	}
}

// TestDemoHeedsTheUser has a user who does not agree to everything.
func TestDemoHeedsTheUser(t *testing.T) {
	deny := func(tool string, times int) func(Block) (string, bool) {
		return func(block Block) (string, bool) {
			if block.name == tool && times > 0 {
				times--
				return "No.", true
			}
			return willing(block)
		}
	}
	noPlanFile := func(block Block) (string, bool) {
		if block.name == "EnterPlanMode" {
			return "Entered plan mode.", false
		}
		return willing(block)
	}
	tests := []struct {
		name   string
		result func(Block) (string, bool)
		calls  string
		said   string
	}{
		{"plan rejected once", deny("ExitPlanMode", 1), strings.Replace(wholeDemo, "ExitPlanMode", "ExitPlanMode ExitPlanMode", 1), "is fixed"},
		{"plan rejected", deny("ExitPlanMode", 9), "TodoWrite Grep Read Bash AskUserQuestion EnterPlanMode Write ExitPlanMode ExitPlanMode", "I won't change anything"},
		{"edit denied", deny("Edit", 9), "TodoWrite Grep Read Bash AskUserQuestion EnterPlanMode Write ExitPlanMode TodoWrite Edit", "as it is"},
		{"form declined", deny(demoNoteTool, 9), wholeDemo, "Let me know"},
		{"question skipped", deny("AskUserQuestion", 9), wholeDemo, "`untitled`"},
		{"tests not allowed", deny("Bash", 9), wholeDemo, "please run them"},
		{"no plan file told", noPlanFile, strings.Replace(wholeDemo, " Write ", " ", 1), "is fixed"},
		{"the other answer", func(block Block) (string, bool) {
			if block.name == "AskUserQuestion" {
				return `"` + demoEmptyTitle + `"="` + demoNothing + `".`, false
			}
			return willing(block)
		}, wholeDemo, "an empty title still becomes an empty slug"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			x := newDemoTalk(t, nil)
			x.result = test.result
			if said := x.prompt("Please fix the slugs."); !strings.Contains(said, test.said) || x.names() != test.calls {
				t.Errorf("it says %q after %s\nwant something with %q after %s", said, x.names(), test.said, test.calls)
			}
		})
	}
	t.Run("plan in the request", func(t *testing.T) {
		x := newDemoTalk(t, nil)
		x.result = noPlanFile
		x.prompt("Please.")
		if plan := x.input("ExitPlanMode", "plan"); !strings.Contains(plan, "slug.Make") {
			t.Errorf("the request for approval has the plan %q", plan)
		}
	})
}

func TestDemoInterrupted(t *testing.T) {
	x := newDemoTalk(t, nil)
	x.prompt("Please fix the slugs.")
	// Cut the conversation off behind the question for the edit.
	at := slices.IndexFunc(x.messages, func(m TurnMessage) bool {
		return slices.ContainsFunc(m.Content, func(p ContentPart) bool { return p.Name == "Edit" })
	})
	x.messages = x.messages[:at+2]
	results := x.messages[at+1].Content
	edit := &results[len(results)-1]
	edit.IsError, edit.Text = true, "The user doesn't want to proceed."
	x.messages[at+1].Content = append(results, ContentPart{Type: "text", Text: interruptedText + " for tool use]"})
	x.calls = nil
	if said := x.prompt("What are you doing?"); !strings.Contains(said, "continue") || x.names() != "" {
		t.Errorf("after an interrupt it says %q and calls %q", said, x.names())
	}
	if said := x.prompt("Continue, please."); !strings.Contains(said, "is fixed") || x.names() != "TodoWrite Edit Bash Task mcp__notes__add TodoWrite" {
		t.Errorf("told to go on it says %q after %s", said, x.names())
	}
}

func TestDemoReviewer(t *testing.T) {
	x := newDemoTalk(t, nil)
	if said := x.prompt(demoReviewPrompt); !strings.Contains(said, "The change is correct") || x.names() != "Read" {
		t.Errorf("the reviewer says %q after %s", said, x.names())
	}
}

// TestDemoBesideDirectives has other turns before the demo's.
func TestDemoBesideDirectives(t *testing.T) {
	x := newDemoTalk(t, nil)
	x.script = Directives(Demo(nil))
	if said := x.prompt("@tool Bash {\"command\":\"true\"}\n@say hello"); said != "hello" || x.names() != "Bash" {
		t.Errorf("a prompt with directives gives %q after %s", said, x.names())
	}
	if said := x.prompt("Please fix the slugs."); !strings.Contains(said, "is fixed") || x.names() != "Bash "+wholeDemo {
		t.Errorf("then the demo says %q after %s", said, x.names())
	}
}

// TestDemoForReal calls only what is offered.
func TestDemoForReal(t *testing.T) {
	x := newDemoTalk(t, &DemoOptions{Real: true})
	x.tools = []string{"Bash", "Read", "Edit"}
	x.prompt("Please.")
	if want := "Bash Read Bash AskUserQuestion EnterPlanMode Write ExitPlanMode Edit Bash Task"; x.names() != want {
		t.Errorf("the demo calls %s\nwant %s", x.names(), want)
	}
	if said := x.prompt("And now?"); !strings.Contains(said, "new session") {
		t.Errorf("behind its end it says %q", said)
	}
}

// TestDemoIsTrue tries the project that the demo is about: its tests fail as the demo shows it, and the demo's edit fixes them.
func TestDemoIsTrue(t *testing.T) {
	for _, answer := range []string{demoUntitled, demoNothing} {
		t.Run(answer, func(t *testing.T) {
			dir := t.TempDir()
			for name, content := range DemoFiles() {
				path := filepath.Join(dir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			runTests := func() (string, error) {
				cmd := exec.CommandContext(t.Context(), "go", "test", "./...")
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "GOWORK=off", "GOTOOLCHAIN=local", "GOFLAGS=")
				output, err := cmd.CombinedOutput()
				return string(output), err
			}
			shown, _ := DemoTools(nil)(ToolCall{ID: demoID + "test_x", Name: "Bash"})
			const telling = `slug_test.go:11: Make("Hello, World!") = "hello--world-", want "hello-world"`
			if output, err := runTests(); err == nil || !strings.Contains(output, telling) || !strings.Contains(shown.Text, telling) {
				t.Errorf("before: %v\n%s\nshown: %s\nwant %s", err, output, shown.Text, telling)
			}

			x := newDemoTalk(t, nil)
			x.result = func(block Block) (string, bool) {
				if block.name == "AskUserQuestion" {
					return `"` + demoEmptyTitle + `"="` + answer + `"`, false
				}
				return willing(block)
			}
			x.prompt("Please.")
			path := filepath.Join(dir, filepath.FromSlash(x.input("Edit", "file_path")))
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			old := x.input("Edit", "old_string")
			if strings.Count(string(before), old) != 1 {
				t.Fatalf("what the edit replaces is not there once:\n%s", before)
			}
			if err := os.WriteFile(path, []byte(strings.Replace(string(before), old, x.input("Edit", "new_string"), 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			if output, err := runTests(); err != nil {
				t.Errorf("after: %v\n%s", err, output)
			}
		})
	}
}
