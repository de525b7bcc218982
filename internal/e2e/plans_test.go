//go:build linux

package e2e

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/wire"
)

// planPath finds the plan's file in what the model was told.
var planPath = regexp.MustCompile(`/[^\s"'()\x60\\]+/plans/[A-Za-z0-9_-]+\.md`)

// planFile stands in a prompt for the file of the plan, which only the model is
// told.
const planFile = "PLANFILE"

// planScript obeys directives, as a model does that has read where its plan is
// to be written.
func planScript() func(claudetest.Request) claudetest.Reply {
	directives := claudetest.Directives(nil)
	return func(r claudetest.Request) claudetest.Reply {
		if found := planPath.FindAll(r.Body, -1); len(found) > 0 {
			path := string(found[len(found)-1])
			r.Messages = slices.Clone(r.Messages)
			for i := range r.Messages {
				content := slices.Clone(r.Messages[i].Content)
				for j := range content {
					content[j].Text = strings.ReplaceAll(content[j].Text, planFile, path)
				}
				r.Messages[i].Content = content
			}
		}
		return directives(r)
	}
}

// planning is a prompt whose turn writes a plan, presents it, and goes on with
// what is to follow.
func planning(plan string, then ...string) string {
	lines := []string{`@tool Write {"file_path":"` + planFile + `","content":` + quoted(plan) + `}`, "@next", "@tool ExitPlanMode {}"}
	return strings.Join(append(lines, then...), "\n")
}

// A planTalk is a talk whose agent plans.
type planTalk struct {
	*talk
	version wire.Version
	model   *claudetest.Model
	seen    int // how many requests the model had before the step
}

// begin begins a step in plan mode, without the plan of the step before.
func (k *planTalk) begin(name string) {
	k.t.Helper()
	k.step(name)
	k.setMode(wire.PermissionModePlan)
	requests := k.model.Requests()
	k.seen = len(requests)
	for _, r := range slices.Backward(requests) {
		if found := planPath.FindAll(r.Body, -1); len(found) > 0 {
			if err := os.Remove(string(found[len(found)-1])); err != nil && !os.IsNotExist(err) {
				k.fail("%v", err)
			}
			return
		}
	}
}

// present has the agent present a plan, and returns the question.
func (k *planTalk) present(plan string, then ...string) *api.Question {
	k.t.Helper()
	k.prompt(planning(plan, then...))
	q := k.question(1)
	if q.Kind != api.QuestionPlan || q.Plan == nil || q.Plan.Text != plan {
		k.fail("the question is %s with the plan %+v; want %q", q.Kind, q.Plan, plan)
	}
	return q
}

// toldModel waits until the model has been told all of some texts in one request
// since the step began, and returns it.
func (k *planTalk) toldModel(texts ...string) claudetest.Request {
	k.t.Helper()
	var told claudetest.Request
	_, err := k.model.Await(k.lab.ctx(), func(requests []claudetest.Request) bool {
		for _, r := range requests[min(k.seen, len(requests)):] {
			if r.Kind == claudetest.KindTurn && holds(string(r.Body), texts...) {
				told = r
				return true
			}
		}
		return false
	})
	if err != nil {
		k.fail("the model was not told %q: %v", texts, err)
	}
	return told
}

// writes is the directive of a file that is written into the session's folder.
func (k *planTalk) writes(name string) string {
	return fmt.Sprintf(`@tool Write {"file_path":%s,"content":"x"}`, quoted(k.dir+"/"+name))
}

// TestRealPlans has plans of the real CLIs reviewed, with each outcome.
func TestRealPlans(t *testing.T) {
	t.Parallel()
	for _, version := range differing() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			l, model := newRealLabWith(t, version, "dangerously_skip_permissions = true\n", planScript())
			l.options.env = append(l.options.env, "IS_SANDBOX=1") // without it root may not skip permissions
			l.start()
			parsed, err := wire.ParseVersion(version)
			if err != nil {
				t.Fatal(err)
			}
			k := &planTalk{talk: l.talk(t, func(c *api.CreateSession) { c.Options.AllowBypass = true }), version: parsed, model: model}
			k.withoutPlan()
			k.approvals()
			k.refusals()
			k.compacted()
			k.fresh()
			k.stale()
			k.outline()
		})
	}
}

// withoutPlan reviews a plan that there is none of: it can be approved or
// rejected, that is all.
func (k *planTalk) withoutPlan() {
	k.t.Helper()
	k.begin("without a plan")
	k.prompt("@tool ExitPlanMode {}", "@say Over.")
	q := k.question(1)
	if q.Plan == nil || q.Plan.Text != "" || !slices.Equal(q.Plan.Outcomes, []api.PlanOutcome{api.PlanAsk, api.PlanReject}) {
		k.fail("the plan is %+v; want none, to approve or reject", q.Plan)
	}
	k.refused(q, unfitStatus, api.Answer{Outcome: api.PlanAcceptEdits})
	k.refused(q, unfitStatus, api.Answer{Outcome: api.PlanRevise, Message: "More."})
	k.settle(q, api.Answer{Outcome: api.PlanAsk})
	k.asked(1)
	k.mode(wire.PermissionModeDefault)
}

// approvals approves plans that the same process carries out.
func (k *planTalk) approvals() {
	k.t.Helper()
	k.begin("accept edits")
	q := k.present("# Plan one\n", k.writes("one.txt"), "@say Over.")
	k.settle(q, api.Answer{Outcome: api.PlanAcceptEdits})
	k.asked(1)
	k.there("one.txt", true)
	k.mode(wire.PermissionModeAcceptEdits)

	k.begin("ask")
	k.prompt(strings.Replace(planning("# Plan two\n", k.writes("two.txt"), "@say Over."), "ExitPlanMode {}", `ExitPlanMode {"allowedPrompts":[{"tool":"Bash","prompt":"run tests"}]}`, 1))
	q = k.question(1)
	if want := []api.PlanPrompt{{Tool: "Bash", Prompt: "run tests"}}; !slices.Equal(q.Plan.Prompts, want) {
		k.fail("the plan asks for %v; want %v", q.Plan.Prompts, want)
	}
	if k.version.AtLeast(2, 1, 120) { // those before cannot be asked
		k.await("how full the context is", func([]api.Event) bool { return k.look(q).Plan.Percent != nil })
	}
	k.settle(q, api.Answer{Outcome: api.PlanAsk})
	k.settle(k.question(2), api.Answer{Decision: "deny", Message: "Not that file."})
	k.asked(2)
	k.there("two.txt", false)
	k.mode(wire.PermissionModeDefault)
	if !hasSent(k.events(), `"setMode"`, `"default"`, `"addRules"`, `"prompt: run tests"`) {
		k.fail("what the plan asks to be allowed is not in the answer")
	}

	k.begin("edited")
	q = k.present("# Plan three\nBuild it.\n", "@say Over.")
	edited := "# Plan three\nPaint it green.\n"
	k.settle(q, api.Answer{Outcome: api.PlanAsk, Plan: &edited})
	k.over()
	k.toldModel("Paint it green.", "tool_result")
	if k.version.AtLeast(2, 1, 120) {
		k.told(2, false, "Paint it green.")
	}

	k.begin("bypass")
	q = k.present("# Plan four\n", bash("touch four.txt"), "@say Over.")
	if !q.Plan.Bypass {
		k.fail("the plan does not say that permissions may be bypassed")
	}
	k.settle(q, api.Answer{Outcome: api.PlanAcceptEdits, Mode: string(wire.PermissionModeBypassPermissions)})
	k.asked(1)
	k.there("four.txt", true)
	k.mode(wire.PermissionModeBypassPermissions)
}

// onePixel is an image.
const onePixel = `[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="}}]`

// refusals does not approve plans: the agent goes on planning.
func (k *planTalk) refusals() {
	k.t.Helper()
	k.begin("revise")
	q := k.present("# Plan five\n", "@say Over.")
	k.refused(q, unfitStatus, api.Answer{Outcome: api.PlanRevise, Message: "  "})
	k.settle(q, api.Answer{Outcome: api.PlanRevise, Message: "Make it blue."})
	k.asked(1)
	k.told(2, true, "Make it blue.")
	k.toldModel("Make it blue.")
	k.mode(wire.PermissionModePlan)

	k.begin("revise with an image")
	q = k.present("# Plan six\n", "@say Over.")
	k.refused(q, unfitStatus, api.Answer{Outcome: api.PlanRevise, Images: []byte(`[{"type":"tool_result","tool_use_id":"x","content":"y"}]`)})
	k.settle(q, api.Answer{Outcome: api.PlanRevise, Message: "As in the picture.", Images: []byte(onePixel)})
	k.toldModel("As in the picture.", `"image/png"`)
	k.over()
	k.mode(wire.PermissionModePlan)

	k.begin("reject")
	q = k.present("# Plan seven\n", "@say Over.")
	k.settle(q, api.Answer{Outcome: api.PlanReject})
	k.asked(1)
	k.told(2, true, "rejected")
	k.mode(wire.PermissionModePlan)

	k.begin("reject and stop")
	q = k.present("# Plan eight\n", k.writes("eight.txt"), "@say Over.")
	k.settle(q, api.Answer{Outcome: api.PlanReject, Message: "Stop it.", Interrupt: true})
	if result := k.over(); !result.Interrupted && result.Subtype != "error_during_execution" {
		k.fail("the turn ended with %+v; want an interrupt", result)
	}
	k.there("eight.txt", false)
}

// compacted approves a plan and has the conversation compacted.
func (k *planTalk) compacted() {
	k.t.Helper()
	k.begin("compact")
	q := k.present("# Plan nine\n", k.writes("nine.txt"), "@say Over.")
	k.settle(q, api.Answer{Outcome: api.PlanAcceptEdits, Compact: true})
	k.await("a compaction", func(events []api.Event) bool { return hasLine(events, `"compact_boundary"`) })
	k.over()
	k.there("nine.txt", true)
}

// carriedOut waits for a new process that carries out a plan, and holds that it
// knows nothing but the plan.
func (k *planTalk) carriedOut(run int, plan, file, secret string) {
	k.t.Helper()
	k.await("a new process, and the end of its turn", func(events []api.Event) bool {
		return slices.ContainsFunc(events, func(e api.Event) bool { return e.Run == run && isResult(e) })
	})
	s, err := k.awaitState(k.lab.ctx(), api.StateIdle)
	k.check(err)
	if s.Run != run || s.PermissionMode != string(wire.PermissionModeAcceptEdits) || len(s.Questions) > 0 {
		k.fail("run %d is in mode %s with %d questions; want run %d, which accepts edits", s.Run, s.PermissionMode, len(s.Questions), run)
	}
	k.there(file, true)
	prompts := 0
	for _, e := range k.events() {
		if e.Run == run && e.Kind == api.KindSent && holds(string(e.Line), `"user"`, "Implement the following plan:") {
			prompts++
		}
	}
	if prompts != 1 {
		k.fail("the plan was sent %d times", prompts)
	}
	title, _, _ := strings.Cut(plan, "\n")
	first := k.toldModel(strings.Trim(quoted("Implement the following plan:\n\n"+title), `"`))
	if prompt := first.Prompt(); !strings.HasPrefix(prompt, "Implement the following plan:\n\n") || !strings.Contains(prompt, strings.TrimSpace(plan)) {
		k.fail("the prompt is %q; want the plan", prompt)
	}
	if first.Replies() != 0 || strings.Contains(string(first.Body), secret) {
		k.fail("the new conversation knows of the old one: %s", first.Body)
	}
}

// fresh has a new process carry out a plan, after a kill of the hub.
func (k *planTalk) fresh() {
	k.t.Helper()
	k.begin("fresh")
	before := k.shot()
	plan := "# Plan ten\n" + k.writes("ten.txt") + "\n@say Carried out.\n"
	q := k.present(plan, "@say Over, and nobody is told about the heron.")
	k.restart()
	if now := k.look(q); now.State != api.QuestionOpen || now.Plan == nil || now.Plan.Text != plan {
		k.fail("after a restart the question is %+v", now)
	}
	k.settle(q, api.Answer{Outcome: api.PlanFresh})
	k.carriedOut(before.Run+1, plan, "ten.txt", "heron")
	if after := k.shot(); after.Conversation == before.Conversation || len(after.Conversations) != len(before.Conversations)+1 {
		k.fail("the conversation is %s, was %s; want a new one", after.Conversation, before.Conversation)
	}
}

// stop ends the process with a plan open, which is stale then.
func (k *planTalk) stop(q *api.Question) {
	k.t.Helper()
	_, err := k.c.Stop(k.lab.ctx(), k.id, api.Stop{Force: true})
	k.check(err)
	_, err = k.awaitState(k.lab.ctx(), api.StateEnded)
	k.check(err)
	now := k.look(q)
	if want := []api.PlanOutcome{api.PlanFresh, api.PlanRevise, api.PlanReject}; now.State != api.QuestionOpen || !now.Stale || !slices.Equal(now.Plan.Outcomes, want) {
		k.fail("without its process the plan is %s, stale %t, with %v", now.State, now.Stale, now.Plan.Outcomes)
	}
	k.refused(q, http.StatusConflict, api.Answer{Outcome: api.PlanAcceptEdits})
}

// stale answers plans whose process has ended.
func (k *planTalk) stale() {
	k.t.Helper()
	k.begin("stale, revise")
	before := k.shot()
	q := k.present("# Plan eleven\n", "@say Over.")
	k.stop(q)
	plan := "# Plan twelve\n" + k.writes("twelve.txt") + "\n@say Carried out.\n"
	// What is missing is told to a new process of the same conversation, which
	// goes on planning.
	k.settle(q, api.Answer{Outcome: api.PlanRevise, Message: "Make it blue, as herons are.\n" + planning(plan, "@say Over.")})
	again := k.question(2)
	if again.Plan == nil || again.Plan.Text != plan || again.Run != before.Run+1 {
		k.fail("the question is %+v of run %d; want the new plan of run %d", again.Plan, again.Run, before.Run+1)
	}
	if s := k.shot(); s.Conversation != before.Conversation || s.PermissionMode != string(wire.PermissionModePlan) {
		k.fail("the conversation is %s in mode %s; want %s, which plans", s.Conversation, s.PermissionMode, before.Conversation)
	}
	k.step("stale, fresh")
	k.seen = len(k.model.Requests())
	k.stop(again)
	k.settle(again, api.Answer{Outcome: api.PlanFresh})
	k.carriedOut(before.Run+2, plan, "twelve.txt", "herons")
}

// outline pauses for an outline. A plan that comes again at once is refused by
// itself, and the agent is told to wait.
func (k *planTalk) outline() {
	k.t.Helper()
	k.begin("outline")
	q := k.present("# Plan thirteen\n", "@next", "@tool ExitPlanMode {}", "@say Over.")
	k.settle(q, api.Answer{Outcome: api.PlanOutline})
	k.asked(2)
	again := k.look(k.question(2))
	if again.State != api.QuestionAnswered || again.From != "hub" || again.Answer == nil || again.Answer.Outcome != api.PlanOutline {
		k.fail("a plan that came too soon is %s from %s with %+v", again.State, again.From, again.Answer)
	}
	k.told(2, true, "numbered list")
	k.told(3, true, "too soon")
	k.mode(wire.PermissionModePlan)
}
