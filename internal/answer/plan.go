package answer

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire"
)

// Outcomes returns the outcomes that are offered. fresh says that the hub may start another
// process in the place of the one that asks.
func Outcomes(plan *api.Plan, fresh, stale bool) []api.PlanOutcome {
	var out []api.PlanOutcome
	switch {
	case stale && plan.Text == "":
		return []api.PlanOutcome{api.PlanRevise, api.PlanReject}
	case stale:
		return []api.PlanOutcome{api.PlanFresh, api.PlanRevise, api.PlanReject}
	case plan.Text == "":
		return []api.PlanOutcome{api.PlanAsk, api.PlanReject}
	case fresh:
		out = append(out, api.PlanFresh)
	}
	return append(out, api.PlanAcceptEdits, api.PlanAsk, api.PlanRevise, api.PlanReject, api.PlanOutline)
}

// CheckPlan says what is wrong with an answer to a plan.
func CheckPlan(admin bool, plan *api.Plan, stale bool, in api.Answer) error {
	approves := in.Outcome == api.PlanFresh || in.Outcome == api.PlanAcceptEdits || in.Outcome == api.PlanAsk
	switch in.Outcome {
	case api.PlanFresh, api.PlanAcceptEdits, api.PlanAsk, api.PlanRevise, api.PlanReject, api.PlanOutline:
	default:
		return record.Unfit("outcome: expected fresh, accept_edits, ask, revise, reject or outline, got %q", in.Outcome)
	}
	switch {
	case in.Decision != "" && (in.Decision == "allow") != approves:
		return record.Unfit("decision %q contradicts outcome %q; leave it out", in.Decision, in.Outcome)
	case in.Input != nil || in.Updates != nil:
		return record.Unfit("input and updates do not go with an outcome; an edited plan is in plan")
	case stale && in.Outcome != api.PlanFresh && in.Outcome != api.PlanRevise && in.Outcome != api.PlanReject:
		return &api.Error{
			Status: http.StatusConflict, Code: api.CodeEnded, Title: "the process that made the plan has ended and can't be told " + string(in.Outcome),
			Hint: "start over with the plan (fresh), keep planning (revise), or reject it",
		}
	case !stale && plan.Text == "" && in.Outcome != api.PlanFresh && in.Outcome != api.PlanAsk && in.Outcome != api.PlanReject:
		return record.Unfit("there is no plan: it can be approved (ask) or rejected")
	case in.Plan != nil && !approves:
		return record.Unfit("plan: only an approval carries an edited plan")
	case in.Plan != nil && strings.TrimSpace(*in.Plan) == "":
		return record.Unfit("plan: an edited plan must not be empty")
	case in.Plan != nil && plan.Text == "":
		return record.Unfit("plan: there is no plan to edit")
	case in.Outcome == api.PlanRevise && strings.TrimSpace(in.Message) == "" && in.Images == nil:
		return record.Unfit("message: say what to change, or attach images")
	case in.Outcome == api.PlanOutline && in.Message != "" || approves && in.Message != "":
		return record.Unfit("message goes with revise and reject")
	case in.Images != nil && in.Outcome != api.PlanRevise:
		return record.Unfit("images go with revise")
	case in.Interrupt && in.Outcome != api.PlanReject:
		return record.Unfit("interrupt goes with reject")
	case in.Compact && !approves:
		return record.Unfit("compact goes with an approval")
	case in.NoPrompts && !approves:
		return record.Unfit("no_prompts goes with an approval")
	}
	if in.Images != nil {
		if err := checkImages(in.Images); err != nil {
			return err
		}
	}
	return checkMode(admin, plan, in)
}

// checkMode says whether an outcome may have the mode that it asks for.
func checkMode(admin bool, plan *api.Plan, in api.Answer) error {
	bypass := in.Mode == string(wire.PermissionModeBypassPermissions)
	switch {
	case in.Mode == "":
	case bypass && (in.Outcome == api.PlanFresh || in.Outcome == api.PlanAcceptEdits):
		if !plan.Bypass {
			return record.Unfit("mode: the session was started without permission to bypass")
		}
		if !admin {
			return api.Errorf(http.StatusForbidden, api.CodeForbidden, "bypassPermissions needs the scope admin")
		}
	case !bypass && in.Mode == string(Mode(in)):
	default:
		return record.Unfit("mode: outcome %q does not go with mode %q", in.Outcome, in.Mode)
	}
	return nil
}

// Mode returns the mode in which an approved plan is carried out.
func Mode(in api.Answer) wire.PermissionMode {
	switch {
	case in.Mode == string(wire.PermissionModeBypassPermissions):
		return wire.PermissionModeBypassPermissions
	case in.Outcome == api.PlanAsk:
		return wire.PermissionModeDefault
	}
	return wire.PermissionModeAcceptEdits
}

// checkImages says what is wrong with images.
func checkImages(raw json.RawMessage) error {
	var content wire.Content
	if err := json.Unmarshal(raw, &content); err != nil || len(content.Blocks) == 0 {
		return record.Unfit("images: expected a list of image blocks")
	}
	for _, b := range content.Blocks {
		switch b.(type) {
		case *wire.ImageBlock, *wire.TextBlock, *wire.DocumentBlock:
		default:
			return record.Unfit("images: expected image, document or text blocks")
		}
	}
	return nil
}

// Approval builds the answer that approves a plan and sets the mode along
// with it.
func Approval(ask *wire.ControlRequest, in api.Answer, plan string) ([]byte, error) {
	request, ok := ask.Request.(*wire.CanUseToolRequest)
	if !ok {
		return nil, record.Unfit("the question is not a plan")
	}
	allow := &wire.Allow{UpdatedInput: request.Input}
	allow.UpdatedPermissions = append(allow.UpdatedPermissions, &wire.SetMode{Mode: Mode(in), Destination: wire.UpdateDestinationSession})
	if rules := wire.PlanRules(request); len(rules) > 0 && !in.NoPrompts {
		allow.UpdatedPermissions = append(allow.UpdatedPermissions, &wire.AddRules{Rules: rules, Behavior: wire.RuleBehaviorAllow, Destination: wire.UpdateDestinationSession})
	}
	if in.Plan != nil && *in.Plan != plan {
		var exit wire.PlanExit
		if err := json.Unmarshal(request.Input, &exit); err != nil {
			return nil, record.Unfit("the plan cannot be edited: %v", err)
		}
		exit.Plan = *in.Plan
		edited, err := json.Marshal(&exit)
		if err != nil {
			return nil, record.Unfit("plan: %v", err)
		}
		allow.UpdatedInput = edited
	}
	return wire.NewPermission(ask, allow)
}
