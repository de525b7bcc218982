package claudetest

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// DemoOptions are the choices of [Demo] and [DemoTools].
type DemoOptions struct {
	// Fast leaves out the pauses that make the demo pleasant to watch, for tests.
	Fast bool
	// Real is for a real CLI in a folder with the files of [DemoFiles]: only the tools that it offers are called.
	Real bool
}

const (
	demoPace = 45 * time.Millisecond // before each delta
	demoID   = "toolu_demo_"         // how the ids of the demo's tool calls begin; then the step, _ and something random
)

// Demo returns a script for a short, believable coding task: a bug in a small Go package is found, discussed, fixed, tested and reviewed.
// It thinks, keeps a list of what is to do, reads and searches, runs the tests (which fail, and later pass), asks the user two things, makes a
// plan and has it approved, edits a file, has a sub-agent review the change, adds a line to the release notes through an MCP server that has
// a form to fill in, and sums up. With that it touches a permission, a choice, a plan and a form. o may be nil.
//
// The task begins with the first prompt, whatever it says. What the user answers counts: a plan that is rejected is made anew, once; an edit
// that is denied ends the task. After an interrupt, "continue" resumes it. Further prompts get short answers; one that speaks of tests runs them.
//
// The script is for a simulated CLI with the tools of [DemoTools], or for a real one in a folder with the files of [DemoFiles]. It keeps no
// state, so one can serve any number of conversations at once.
func Demo(o *DemoOptions) func(Request) Reply {
	if o == nil {
		o = &DemoOptions{}
	}
	options := *o
	return func(r Request) Reply {
		d := readDemo(r)
		d.real = options.Real
		reply := d.reply()
		if !options.Fast {
			reply.Delay = demoPace
		}
		return reply
	}
}

// A demoStep is a point of the task at which the model has called tools.
type demoStep string

// The steps, in order.
const (
	demoFind   demoStep = "find"   // searches for the code
	demoLook   demoStep = "look"   // reads it
	demoTest   demoStep = "test"   // runs the tests, which fail
	demoAsk    demoStep = "ask"    // asks the user
	demoEnter  demoStep = "enter"  // enters plan mode
	demoWrite  demoStep = "write"  // writes the plan
	demoExit   demoStep = "exit"   // has it approved
	demoEdit   demoStep = "edit"   // edits the file
	demoCheck  demoStep = "check"  // runs the tests, which pass
	demoReview demoStep = "review" // has a sub-agent review it
	demoNote   demoStep = "note"   // adds a line to the release notes, for which a form is to be filled in
	demoTick   demoStep = "tick"   // ticks everything off
	// Outside the task:
	demoReread demoStep = "reread" // the sub-agent reads the code
	demoAgain  demoStep = "again"  // the tests once more
)

// demoOrder is the order of the task's steps.
func demoOrder() []demoStep {
	return []demoStep{demoFind, demoLook, demoTest, demoAsk, demoEnter, demoWrite, demoExit, demoEdit, demoCheck, demoReview, demoNote, demoTick}
}

// A demoOutcome is what became of a step.
type demoOutcome struct {
	said   int    // how often
	failed bool   // its last result was an error: it was denied, or went wrong
	text   string // that result
}

// A demo is what a conversation tells about where the task stands.
type demo struct {
	done     map[demoStep]demoOutcome
	last     demoStep // that the newest messages bring the results of; empty if they are a prompt
	prompt   string
	reviewer bool   // this is the sub-agent's conversation
	planFile string // where the CLI wants the plan; empty if it has not said so
	offered  []string
	real     bool
}

// planPath finds the place that the CLI names for a plan.
var planPath = regexp.MustCompile(`(?:/|[A-Za-z]:\\)[^\s"']*[/\\]plans[/\\][^\s/\\"']+\.md`)

// readDemo reads the state of the task out of the conversation.
func readDemo(r Request) demo {
	d := demo{done: map[demoStep]demoOutcome{}, prompt: r.Prompt(), offered: r.Tools}
	d.reviewer = strings.Contains(d.prompt, demoReviewPrompt)
	stopped := false
	for _, message := range r.Messages {
		if message.Role == "assistant" {
			d.last, stopped = "", false
		}
		said := map[demoStep]bool{} // in this message, which may hold several calls of one step
		for _, part := range message.Content {
			if d.planFile == "" {
				d.planFile = planPath.FindString(part.Text)
			}
			stopped = stopped || part.Type == "text" && strings.HasPrefix(part.Text, interruptedText)
			switch step, ours := demoStepOf(part.ID + part.ToolUseID); {
			case !ours:
			case part.Type == "tool_use" && !said[step]:
				said[step] = true
				outcome := d.done[step]
				outcome.said++
				d.done[step] = outcome
			case part.Type == "tool_result":
				outcome := d.done[step]
				outcome.failed, outcome.text = part.IsError, part.Text
				d.done[step], d.last = outcome, step
			}
		}
	}
	if stopped {
		d.last = ""
	}
	return d
}

// demoStepOf returns the step that a tool call with this id belongs to.
func demoStepOf(id string) (step demoStep, ours bool) {
	rest, found := strings.CutPrefix(id, demoID)
	name, _, cut := strings.Cut(rest, "_")
	return demoStep(name), found && cut
}

// call returns a call of a tool in a step.
func (s demoStep) call(tool string, input map[string]any) Block {
	return Tool(tool, input).WithID(demoID + string(s) + "_" + newID()[:12])
}

// offers reports whether the demo may call a tool that not every CLI has.
func (d demo) offers(tool string) bool { return !d.real || slices.Contains(d.offered, tool) }

// reply is what the model says next.
func (d demo) reply() Reply {
	switch {
	case d.reviewer:
		return d.review()
	case d.last == demoAgain:
		if d.done[demoAgain].failed {
			return Say(Text("The tests didn't run or didn't pass."))
		}
		return Say(Text("All tests still pass."))
	case d.last != "":
		return d.next()
	case len(d.done) == 0:
		return d.say(demoFind)
	case d.finished() || !wants(d.prompt, "go on", "continue"):
		return d.smallTalk()
	}
	// What was broken off is tried again.
	for _, step := range []demoStep{demoExit, demoEdit} {
		if outcome := d.done[step]; outcome.failed {
			return d.say(step)
		}
	}
	return d.next()
}

// finished reports whether the task has come to its end.
func (d demo) finished() bool {
	last, ticked := d.done[demoTick]
	_, reviewed := d.done[demoReview]
	return ticked && last.text != "" || reviewed && !d.offers("TodoWrite")
}

// next goes on with the task behind the results of a step.
func (d demo) next() Reply {
	switch outcome := d.done[d.last]; {
	case d.last == demoExit && outcome.failed && outcome.said > 1:
		return Say(Text("OK, I won't change anything. What would you like instead?"))
	case d.last == demoExit && outcome.failed:
		return d.say(demoExit)
	case d.last == demoEdit && outcome.failed:
		return Say(Text("OK, I'll leave " + demoFile + " as it is. The tests will keep failing until it's fixed."))
	}
	for _, step := range demoOrder() {
		_, done := d.done[step]
		switch {
		case done,
			step == demoWrite && d.planFile == "", // it goes with the request for approval
			step == demoNote && !d.offers(demoNoteTool),
			step == demoTick && !d.offers("TodoWrite"):
			continue
		}
		return d.say(step)
	}
	return d.summary()
}

// wants reports whether a prompt has one of these words in it.
func wants(prompt string, words ...string) bool {
	prompt = strings.ToLower(prompt)
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(prompt, word) })
}
