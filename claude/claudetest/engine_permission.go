package claudetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"

	"github.com/switchboard-dev/switchboard/claude/claudetest/internal/permit"
	"github.com/switchboard-dev/switchboard/wire"
)

// mayUse asks the controller. It returns the input to use, or the result that stands for the call.
func (e *engine) mayUse(t *turn, th *thread, call ToolCall, verdict permit.Verdict) (json.RawMessage, playedResult, bool, error) {
	background := th.agent.detached()
	asks := (e.flags.PermissionPromptTool == "stdio" || e.dialled) && e.flags.InputFormat == "stream-json"
	if !asks || background && !e.quirks.BackgroundAsks {
		return nil, e.deny(t, th, call, verdict), true, nil
	}
	answer, err := e.askPermission(t, th, call, verdict, background)
	switch {
	case errors.Is(err, errStreamClosed):
		e.noteDenial(t, call)
		name := "Error"
		if e.quirks.AbortRejects {
			name = "AbortError"
		}
		return nil, failed("Tool permission request failed: "+name+": "+err.Error(), "config"), true, nil
	case err != nil:
		e.noteDenial(t, call)
		return nil, e.aborted(), true, err
	}
	input, updates, no := e.readPermission(call, answer)
	if no != nil {
		e.noteDenial(t, call)
		result := failed(no.words, "user_reject")
		switch {
		case !no.stop && e.decidedByHook(call):
			result.meta = hookMeta("reject")
			return nil, result, true, nil
		case !no.stop:
			return nil, result, true, nil
		case e.quirks.AbortRejects:
			return nil, userRejected(), true, errDenied
		}
		return nil, result, true, errDenied
	}
	for _, update := range updates {
		e.applyUpdate(update)
	}
	return input, playedResult{}, false, nil
}

// shownInput is the input of a call as the person is shown it: newer versions name files by their whole path, the oldest knows no previews.
func (e *engine) shownInput(call ToolCall) json.RawMessage {
	if call.Name == "AskUserQuestion" && !e.quirks.ChoicesAnnotated {
		return withoutPreviews(call.Input)
	}
	if !e.quirks.QuestionNames {
		return call.Input
	}
	var input map[string]json.RawMessage
	var path string
	if json.Unmarshal(call.Input, &input) != nil || json.Unmarshal(input["file_path"], &path) != nil || filepath.IsAbs(path) {
		return call.Input
	}
	before, after := plainJSON(path), plainJSON(filepath.Join(e.dir, path))
	at := bytes.Index(call.Input, append([]byte(`"file_path":`), before...))
	if at < 0 {
		return call.Input // written in an unusual way
	}
	at += len(`"file_path":`)
	return slices.Concat(call.Input[:at], json.RawMessage(after), call.Input[at+len(before):])
}

// withoutPreviews returns the input of AskUserQuestion without the previews of its options.
func withoutPreviews(input json.RawMessage) json.RawMessage {
	if !bytes.Contains(input, []byte(`"preview"`)) {
		return input
	}
	var set struct {
		Questions []struct {
			Question string `json:"question"`
			Header   string `json:"header"`
			Options  []struct {
				Label       string `json:"label"`
				Description string `json:"description"`
			} `json:"options"`
			MultiSelect bool `json:"multiSelect"`
		} `json:"questions"`
	}
	if json.Unmarshal(input, &set) != nil {
		return input
	}
	return plainJSON(set)
}

// askPermission sends can_use_tool and waits.
func (e *engine) askPermission(t *turn, th *thread, call ToolCall, verdict permit.Verdict, background bool) (answerBody, error) {
	request := members{"subtype", "can_use_tool", "tool_name", call.Name}
	request = request.when(e.quirks.QuestionNames, "display_name", e.displayName(call.Name)).with("input", e.shownInput(call)).
		when(e.quirks.QuestionNames && verdict.Description != "", "description", verdict.Description).
		when(verdict.Suggestions != nil, "permission_suggestions", rawUpdates(verdict.Suggestions)).
		when(verdict.BlockedPath != "", "blocked_path", verdict.BlockedPath).
		when(verdict.Reason != "", "decision_reason", verdict.Reason).
		when(e.quirks.QuestionReasons && verdict.ReasonType != "", "decision_reason_type", verdict.ReasonType).
		with("tool_use_id", call.ID)
	for _, more := range verdict.More {
		request = request.with(more.Name, more.Value)
	}
	if th.agent != nil {
		request = request.with("agent_id", th.agent.id)
	}
	request = request.when(e.quirks.QuestionInteraction && (call.Name == "AskUserQuestion" || call.Name == "ExitPlanMode"), "requires_user_interaction", true)
	request = e.mcpQuestion(call, request)
	ctx := t.ctx
	if background {
		ctx = th.agent.ctx
	}
	if !e.quirks.StateLateQuestion {
		e.tellState("requires_action")
	}
	answer, err := e.askOrHook(ctx, t, th, call, request, verdict, background)
	if e.quirks.StateLateQuestion {
		e.tellState("requires_action")
	}
	if !errors.Is(err, errKilled) { // of a task that was stopped nothing is told any more
		e.tellState("running")
	}
	return answer, err
}

func rawUpdates(updates []wire.PermissionUpdate) []json.RawMessage {
	raw := make([]json.RawMessage, 0, len(updates))
	for _, update := range updates {
		if encoded, err := json.Marshal(update); err == nil {
			raw = append(raw, encoded)
		}
	}
	return raw
}

// readPermission reads the answer to can_use_tool: the input to use with the updates, or why the call is denied.
func (e *engine) readPermission(call ToolCall, answer answerBody) (input json.RawMessage, updates []json.RawMessage, no *refusal) {
	if answer.subtype == "error" {
		return nil, nil, refuse("Tool permission request failed: Error: "+answer.message, false)
	}
	var body struct {
		Behavior           string            `json:"behavior"`
		UpdatedInput       json.RawMessage   `json:"updatedInput"`
		UpdatedPermissions []json.RawMessage `json:"updatedPermissions"`
		Message            *string           `json:"message"`
		Interrupt          bool              `json:"interrupt"`
	}
	if !has(answer.body) || json.Unmarshal(answer.body, &body) != nil {
		return nil, nil, refuse("Tool permission request failed: ZodError: the answer has no valid body", false)
	}
	switch {
	case body.Behavior == "deny" && body.Message != nil:
		return nil, nil, refuse(*body.Message, body.Interrupt)
	case body.Behavior != "allow":
		return nil, nil, refuse("Tool permission request failed: ZodError: the answer has no valid behavior", false)
	case !has(body.UpdatedInput) && (e.quirks.AllowNeedsInput || body.UpdatedInput != nil):
		// An explicit null is wrong everywhere.
		return nil, nil, refuse("Tool permission request failed: ZodError: updatedInput is required", false)
	}
	for _, update := range body.UpdatedPermissions {
		var kind struct{ Type string }
		known := json.Unmarshal(update, &kind) == nil &&
			slices.Contains([]string{"addRules", "replaceRules", "removeRules", "setMode", "addDirectories", "removeDirectories"}, kind.Type)
		switch {
		case known:
			updates = append(updates, update)
		case e.quirks.BadUpdateDenies:
			return nil, nil, refuse("Tool permission request failed: ZodError: an update has an unknown type", false)
		}
	}
	input = body.UpdatedInput
	if !has(input) || string(compactJSON(input)) == "{}" && !e.quirks.EmptyInputCounts && call.Name != "ExitPlanMode" {
		input = call.Input
	}
	return input, updates, nil
}

// A refusal is an answer that does not let a call happen.
type refusal struct {
	words string // may be empty
	stop  bool   // the turn ends
}

func refuse(words string, stop bool) *refusal { return &refusal{words: words, stop: stop} }
