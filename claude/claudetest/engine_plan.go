package claudetest

import (
	"encoding/json"
	"strings"

	"github.com/switchboard-dev/switchboard/claude/claudetest/internal/history"
	"github.com/switchboard-dev/switchboard/claude/claudetest/internal/permit"
	"github.com/switchboard-dev/switchboard/wire"
)

// planState is what plan mode remembers.
type planState struct {
	before string // the mode before plan
	path   string // the plan file
	shown  string // the plan in the last question about one
	warned bool   // it was told that calls cannot be checked
}

// planPath is where the plan of this conversation lies.
func (e *engine) planPath() string {
	e.mu.Lock()
	path, session, words := e.planned.path, e.session, ""
	if e.turn != nil && len(e.turn.prompts) > 0 {
		words = e.turn.prompts[0].text
	}
	e.mu.Unlock()
	if path != "" {
		return path
	}
	path = e.store.PlanPath(session, words)
	e.mu.Lock()
	e.planned.path = path
	e.mu.Unlock()
	return path
}

// planOf is where the plan of a thread lies: a sub-agent that plans has one of its own.
func (e *engine) planOf(th *thread) string {
	path := e.planPath()
	if th.agent.plans() {
		path = strings.TrimSuffix(path, ".md") + "-agent-" + th.agent.id + ".md"
	}
	return path
}

// notePlanMode remembers which mode to go back to.
func (e *engine) notePlanMode(before, mode string) {
	if mode == "plan" {
		e.mu.Lock()
		e.planned.before = before
		e.mu.Unlock()
	}
}

// completeInput adds what the CLI adds to the input of a call: the plan.
func (e *engine) completeInput(th *thread, name string, input json.RawMessage) json.RawMessage {
	if name != "ExitPlanMode" {
		return input
	}
	text, ok, err := e.store.ReadPlan(e.planOf(th))
	if !ok || err != nil {
		return input
	}
	e.mu.Lock()
	e.planned.shown = text
	e.mu.Unlock()
	var given map[string]json.RawMessage
	_ = json.Unmarshal(input, &given) // an input of the model's, or none
	out := members{}
	if allowed, ok := given["allowedPrompts"]; ok {
		out = out.with("allowedPrompts", allowed)
	}
	return plainJSON(out.with("plan", text).when(e.quirks.PlanPathTold, "planFilePath", e.planOf(th)))
}

// warnClassifier says once that no classifier checks calls: it is not available behind another address of the API.
func (e *engine) warnClassifier(verdict permit.Verdict) {
	if verdict.ReasonType != "classifier" {
		return
	}
	e.mu.Lock()
	told := e.planned.warned
	e.planned.warned = true
	e.mu.Unlock()
	if !told {
		e.emit(e.systemLine("informational", "content", "The automatic check of calls is not available here", "level", "warning", "tag", "auto_mode_no_server_check"))
	}
}

// enterPlan switches to plan mode.
func (e *engine) enterPlan(*turn) playedResult {
	before := e.gate.Mode()
	e.gate.SetMode("plan")
	e.modeChanged(before, "plan")
	return playedResult{content: "Entered plan mode. The plan file is " + e.planPath()}
}

// exitPlan leaves plan mode, for the mode before it unless the answer named another. A sub-agent has no mode to leave.
func (e *engine) exitPlan(th *thread, call ToolCall) playedResult {
	plan, edited := e.approvedPlan(th, call)
	detail := members{"plan", orNull(plan), "isAgent", th.agent.plans(), "filePath", e.planOf(th)}.when(edited, "planWasEdited", true)
	if th.agent.plans() {
		return playedResult{content: `User has approved the plan. There is nothing else needed from you now. Please respond with "ok"`, detail: detail}
	}
	if e.gate.Mode() == "plan" {
		e.mu.Lock()
		mode := e.planned.before
		e.mu.Unlock()
		if mode == "" {
			mode = "default"
		}
		e.gate.SetMode(mode)
		e.modeChanged("plan", mode)
	}
	text := "User has approved your plan. You can now start coding."
	if plan != "" {
		note := ""
		if edited {
			note = " (edited by user)"
		}
		text += "\n\n## Approved Plan" + note + ":\n" + plan
	}
	return playedResult{content: text, detail: detail}
}

// approvedPlan returns the plan that holds after its approval, and whether the person has changed it: then it is written to its file.
func (e *engine) approvedPlan(th *thread, call ToolCall) (plan string, edited bool) {
	var input struct{ Plan string }
	_ = json.Unmarshal(call.Input, &input) // without a plan there is none
	e.mu.Lock()
	shown := e.planned.shown
	e.mu.Unlock()
	path := e.planOf(th)
	file, written, _ := e.store.ReadPlan(path) // one that cannot be read is none
	untouched := input.Plan == shown && !e.quirks.PlanAnswerWins
	switch {
	case !written:
		return input.Plan, false
	case input.Plan == "" || input.Plan == file || untouched || !e.quirks.PlanEditMarked:
		return file, false
	}
	if err := e.store.WritePlan(path, input.Plan); err != nil {
		_, _ = e.stderr.Write([]byte("writing the plan: " + err.Error() + "\n"))
	}
	return input.Plan, true
}

// applyUpdate makes a permission update take effect.
func (e *engine) applyUpdate(raw json.RawMessage) {
	result, err := wire.DecodePermission(plainJSON(members{"behavior", "allow", "updatedInput", members{}, "updatedPermissions", []json.RawMessage{raw}}))
	if err != nil {
		return
	}
	allow, ok := result.(*wire.Allow)
	if !ok {
		return
	}
	for _, update := range allow.UpdatedPermissions {
		before := e.gate.Mode()
		e.gate.Apply(update)
		e.modeChanged(before, e.gate.Mode())
	}
}

// wrote notes a file that a tool is said to have written. Only the plan is really written.
func (e *engine) wrote(t *turn, path, content string) {
	if path == e.planPath() {
		if err := e.store.WritePlan(path, content); err != nil {
			_, _ = e.stderr.Write([]byte("writing the plan: " + err.Error() + "\n"))
		}
		return
	}
	e.checkpoint(t, path, strings.Count(content, "\n"), 0, true)
}

// edited notes a file that a tool is said to have changed.
func (e *engine) edited(t *turn, path, before, after string) {
	e.checkpoint(t, path, 1+strings.Count(after, "\n"), 1+strings.Count(before, "\n"), false)
}

func (e *engine) checkpoint(t *turn, path string, insertions, deletions int, created bool) {
	if len(t.prompts) == 0 || t.prompts[0].uuid == "" {
		return
	}
	err := e.store.Checkpoint(history.Edit{Session: e.conversation(), User: t.prompts[0].uuid, Path: path, Insertions: insertions, Deletions: deletions, Created: created})
	if err != nil {
		_, _ = e.stderr.Write([]byte("writing a checkpoint: " + err.Error() + "\n"))
	}
}

// playQuestion is the result of AskUserQuestion with its answers.
func (e *engine) playQuestion(call ToolCall) playedResult {
	var set struct {
		Questions json.RawMessage            `json:"questions"`
		Answers   map[string]json.RawMessage `json:"answers"`
		Notes     map[string]struct {
			Notes   string `json:"notes"`
			Preview string `json:"preview"`
		} `json:"annotations"`
		Response string `json:"response"`
	}
	_ = json.Unmarshal(call.Input, &set) // what does not fit is no answer
	var questions []struct{ Question string }
	_ = json.Unmarshal(set.Questions, &questions) // no list is no question
	if len(questions) == 0 && e.quirks.ChoicesNeedQuestions {
		text := "InputValidationError: questions are required"
		return playedResult{content: text, failed: true, detail: "Error: " + text}
	}
	var order []string
	for _, q := range questions {
		if _, answered := set.Answers[q.Question]; answered {
			order = append(order, q.Question)
		}
	}
	if e.quirks.ChoicesByAnyKey {
		order = sortedKeys(set.Answers)
	}
	var answers []string
	for _, question := range order {
		answer := `"` + question + `"="` + choiceText(set.Answers[question]) + `"`
		if note := set.Notes[question]; e.quirks.ChoicesAnnotated {
			answer += labelled(" selected preview:\n", note.Preview) + labelled(" user notes: ", note.Notes)
		}
		answers = append(answers, answer)
	}
	text := "User has answered your questions: " + strings.Join(answers, ", ") + ". You can now continue with the user's answers in mind."
	if len(answers) == 0 && e.quirks.ChoicesMissed {
		text = "The user did not answer the questions."
		if set.Response != "" {
			text = "The user replied: " + set.Response
		}
	}
	given := members{}
	for _, question := range sortedKeys(set.Answers) {
		given = given.with(question, set.Answers[question])
	}
	return playedResult{content: text, detail: members{"questions", orList(set.Questions), "answers", given}}
}

// choiceText is an answer as the model reads it; several are joined.
func choiceText(answer json.RawMessage) string {
	var text string
	var list []string
	if json.Unmarshal(answer, &text) != nil && json.Unmarshal(answer, &list) == nil {
		text = strings.Join(list, ",")
	}
	return text
}

// labelled is a text with a label before it, nothing if there is none.
func labelled(label, text string) string {
	if text == "" {
		return ""
	}
	return label + text
}

// orList is a list that is always there.
func orList(list json.RawMessage) any {
	if !has(list) {
		return []any{}
	}
	return list
}
