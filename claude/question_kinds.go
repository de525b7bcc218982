package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// A PermissionQuestion asks whether a tool may run.
type PermissionQuestion struct {
	*asked
	// Tool is the tool's name, Input its arguments.
	Tool  string
	Input json.RawMessage
	// Suggestions are the changes of rules that would spare this question the next
	// time; see AllowAlways. There may be none.
	Suggestions []wire.PermissionUpdate
	// Request is everything else that the CLI says.
	Request *wire.CanUseToolRequest
}

// Allow lets the tool run, this time.
func (q *PermissionQuestion) Allow() Reply { return q.permit(&wire.Allow{}) }

// AllowWith lets the tool run with other arguments, an object.
func (q *PermissionQuestion) AllowWith(input json.RawMessage) Reply {
	if len(bytes.TrimSpace(input)) == 0 {
		return q.refuse("the other arguments must be an object; Allow takes those that were asked about")
	}
	return q.permit(&wire.Allow{UpdatedInput: input})
}

// AllowAlways lets the tool run and has the CLI apply its own Suggestions, as
// they came. Without any it is the same as Allow.
func (q *PermissionQuestion) AllowAlways() Reply { return q.AllowUpdating(q.Suggestions...) }

// AllowUpdating lets the tool run and has the CLI apply the changes given. A
// [*wire.SetMode] to bypassPermissions is refused unless the session was started
// with Options.AllowBypass: up to 2.1.62 the CLI would obey, later ones would
// silently not.
func (q *PermissionQuestion) AllowUpdating(updates ...wire.PermissionUpdate) Reply {
	for _, u := range updates {
		if u != nil && bypasses(u) && !q.bypass {
			return q.refuse("bypassPermissions needs Options.AllowBypass")
		}
	}
	return q.permit(&wire.Allow{UpdatedPermissions: updates})
}

// bypasses reports whether an update sets the mode in which no person is asked, in
// whatever way it is written.
func bypasses(u wire.PermissionUpdate) bool {
	if m, ok := u.(*wire.SetMode); ok {
		return m.Mode == wire.PermissionModeBypassPermissions
	}
	mode, _ := wire.LookupString(u.Raw(), "mode")
	return mode == string(wire.PermissionModeBypassPermissions)
}

// Deny refuses the call and tells the model why. The turn goes on.
func (q *PermissionQuestion) Deny(message string) Reply {
	return q.permit(&wire.Deny{Message: message})
}

// DenyAndStop refuses the call and ends the turn, with every other call that is
// being asked about.
func (q *PermissionQuestion) DenyAndStop(message string) Reply {
	return q.permit(&wire.Deny{Message: message, Interrupt: true})
}

// Decline is Deny.
func (q *PermissionQuestion) Decline(message string) Reply { return q.Deny(message) }

// A ChoiceQuestion asks the user to choose: the tool AskUserQuestion.
type ChoiceQuestion struct {
	*asked
	// Questions are what is asked, mostly one.
	Questions []wire.Question
	// Request is everything else that the CLI says.
	Request *wire.CanUseToolRequest
}

// Choose answers by the questions' texts. A question may be left out.
func (q *ChoiceQuestion) Choose(choices map[string]wire.Choice) Reply {
	return q.reply(func(wire.Version) ([]byte, error) { return wire.NewChoice(q.request, choices) })
}

// Pick answers the questions in their order, one label or free text for each. An
// empty one leaves its question out.
func (q *ChoiceQuestion) Pick(answers ...string) Reply {
	if len(answers) > len(q.Questions) {
		return q.refuse("%d answers for %d questions", len(answers), len(q.Questions))
	}
	choices := map[string]wire.Choice{}
	for i, text := range answers {
		if text != "" {
			choices[q.Questions[i].Question] = wire.Choice{Answers: []string{text}}
		}
	}
	return q.Choose(choices)
}

// Decline answers nothing and tells the model why. The turn goes on.
func (q *ChoiceQuestion) Decline(message string) Reply {
	return q.permit(&wire.Deny{Message: message})
}

// DeclineAndStop answers nothing and ends the turn.
func (q *ChoiceQuestion) DeclineAndStop(message string) Reply {
	return q.permit(&wire.Deny{Message: message, Interrupt: true})
}

// A PlanQuestion asks whether a plan may be carried out: the tool ExitPlanMode.
// It comes in every permission mode.
//
// To carry a plan out with a fresh context, keep Plan, answer DenyAndStop, and
// start another session with the plan as its prompt.
type PlanQuestion struct {
	*asked
	// Plan is the text of the plan; empty if the model wrote none.
	Plan string
	// Path is the plan's file, since 2.1.120.
	Path string
	// Prompts are what the plan asks leave for in advance.
	Prompts []wire.AllowedPrompt
	// Request is everything else that the CLI says.
	Request *wire.CanUseToolRequest
}

// An Approval says how a plan is carried out. The zero value approves it as it
// is, in the mode that was there before the plan.
type Approval struct {
	// Mode is the permission mode to go on in. If empty, the one before the plan.
	// [wire.PermissionModeBypassPermissions] needs Options.AllowBypass.
	Mode wire.PermissionMode
	// Plan is the plan as edited; if empty, it is as it came. It needs 2.1.120.
	Plan string
	// Prompts also allows what the plan asks leave for, for this session.
	Prompts bool
}

// Approve has the plan carried out in a mode: [wire.PermissionModeAcceptEdits] to
// be asked less, [wire.PermissionModeDefault] to be asked as usual, empty for
// the mode before the plan.
func (q *PlanQuestion) Approve(mode wire.PermissionMode) Reply {
	return q.ApproveWith(Approval{Mode: mode})
}

// ApproveWith has the plan carried out.
func (q *PlanQuestion) ApproveWith(a Approval) Reply {
	if a.Mode == wire.PermissionModeBypassPermissions && !q.bypass {
		return q.refuse("bypassPermissions needs Options.AllowBypass")
	}
	allow := &wire.Allow{}
	if a.Mode != "" {
		allow.UpdatedPermissions = append(allow.UpdatedPermissions, &wire.SetMode{Mode: a.Mode, Destination: wire.UpdateDestinationSession})
	}
	if rules := wire.PlanRules(q.Request); a.Prompts && len(rules) > 0 {
		allow.UpdatedPermissions = append(allow.UpdatedPermissions, &wire.AddRules{
			Rules: rules, Behavior: wire.RuleBehaviorAllow, Destination: wire.UpdateDestinationSession,
		})
	}
	edited := a.Plan != "" && a.Plan != q.Plan
	if edited {
		var exit wire.PlanExit
		if err := json.Unmarshal(q.Request.Input, &exit); err != nil {
			return q.refuse("the plan cannot be edited: %w", err)
		}
		exit.Plan = a.Plan
		input, err := json.Marshal(&exit)
		if err != nil {
			return q.refuse("the plan cannot be edited: %w", err)
		}
		allow.UpdatedInput = input
	}
	return q.reply(func(v wire.Version) ([]byte, error) {
		if edited && !v.AtLeast(2, 1, 120) {
			return nil, &UnsupportedError{
				Feature: "editing a plan", Version: v, Since: wire.Version{Major: 2, Minor: 1, Patch: 120},
				Hint: "older ones hand on the plan as it was: send the edited one with Prompt.Steer and approve the plan as it is",
			}
		}
		return wire.NewPermission(q.request, allow)
	})
}

// KeepPlanning sends the model back to its plan and tells it what to change.
func (q *PlanQuestion) KeepPlanning(feedback string) Reply {
	if strings.TrimSpace(feedback) == "" {
		feedback = "The user wants changes to the plan."
	}
	return q.permit(&wire.Deny{Message: feedback})
}

// Decline rejects the plan and tells the model why. The mode stays plan, and the
// turn goes on.
func (q *PlanQuestion) Decline(message string) Reply {
	if strings.TrimSpace(message) == "" {
		message = "The user rejected the plan."
	}
	return q.permit(&wire.Deny{Message: message})
}

// DenyAndStop rejects the plan and ends the turn. The mode stays plan.
func (q *PlanQuestion) DenyAndStop(message string) Reply {
	return q.permit(&wire.Deny{Message: message, Interrupt: true})
}

// A FormQuestion is an MCP server's: to fill in a form, or to visit a page.
type FormQuestion struct {
	*asked
	// Server is the MCP server that asks, Message its words.
	Server, Message string
	// URL is the page to visit; empty for a form.
	URL string
	// Schema is the form as a JSON Schema of an object with plain fields.
	Schema json.RawMessage
	// Request is everything else that the CLI says.
	Request *wire.ElicitationRequest
}

// Accept returns the form as filled in: an object of its fields, such as a map or
// a struct. What the form would not take is refused before it is sent. For a page
// that was visited it is nil.
func (q *FormQuestion) Accept(content any) Reply {
	var raw json.RawMessage
	if content != nil {
		var err error
		if raw, err = json.Marshal(content); err != nil {
			return q.refuse("writing the fields of the form: %w", err)
		}
	}
	if err := wire.CheckForm(q.Request, raw); err != nil {
		return q.refuse("%w", err)
	}
	return q.react(wire.ElicitationActionAccept, raw)
}

// Decline refuses to fill in the form. There is no place for the message.
func (q *FormQuestion) Decline(string) Reply { return q.react(wire.ElicitationActionDecline, nil) }

// Cancel closes the form without an answer.
func (q *FormQuestion) Cancel() Reply { return q.react(wire.ElicitationActionCancel, nil) }

func (q *FormQuestion) react(action wire.ElicitationAction, content json.RawMessage) Reply {
	return q.reply(func(wire.Version) ([]byte, error) {
		return wire.NewAnswer(q.ID(), &wire.ElicitationAnswer{Action: action, Content: content})
	})
}

// A DialogQuestion asks the program to show a dialog. Only kinds that
// Options.DialogKinds names are asked.
type DialogQuestion struct {
	*asked
	// Dialog is the kind of dialog, Payload what it shows.
	Dialog  string
	Payload json.RawMessage
	// Request is everything else that the CLI says.
	Request *wire.UserDialogRequest
}

// Complete returns what the user chose, in the form that the kind of dialog wants.
func (q *DialogQuestion) Complete(result any) Reply {
	raw, err := json.Marshal(result)
	if err != nil {
		return q.refuse("writing the result of the dialog: %w", err)
	}
	return q.end(wire.DialogBehaviorCompleted, raw)
}

// Cancel closes the dialog without a result.
func (q *DialogQuestion) Cancel() Reply { return q.end(wire.DialogBehaviorCancelled, nil) }

// Decline is Cancel.
func (q *DialogQuestion) Decline(string) Reply { return q.Cancel() }

func (q *DialogQuestion) end(how wire.DialogBehavior, result json.RawMessage) Reply {
	return q.reply(func(wire.Version) ([]byte, error) {
		return wire.NewAnswer(q.ID(), &wire.UserDialogAnswer{Behavior: how, Result: result})
	})
}

// questionOf makes the question of a request. What no version sends, such as a
// choice whose questions cannot be read, is asked as a plain permission.
func questionOf(a *asked) Question {
	switch r := a.request.Request.(type) { //nolint:gochecksumtype // the others are no questions
	case *wire.CanUseToolRequest:
		a.toolUse, a.agent = r.ToolUseID, r.AgentID
		a.title = r.Title
		if a.title == "" {
			a.title = wire.ActionTitle(r.ToolName, r.Input)
		}
		switch a.kind { //nolint:exhaustive // the others are no tools
		case fold.KindChoice:
			var set wire.QuestionSet
			if json.Unmarshal(r.Input, &set) == nil && len(set.Questions) > 0 {
				a.title = oneLine(set.Questions[0].Question)
				return &ChoiceQuestion{asked: a, Questions: set.Questions, Request: r}
			}
			a.kind = fold.KindPermission
		case fold.KindPlan:
			q := &PlanQuestion{asked: a, Request: r}
			var exit wire.PlanExit
			if json.Unmarshal(r.Input, &exit) == nil {
				q.Plan, q.Path, q.Prompts = exit.Plan, exit.PlanFilePath, exit.AllowedPrompts
			}
			a.title = "Carry out the plan?"
			return q
		}
		return &PermissionQuestion{asked: a, Tool: r.ToolName, Input: r.Input, Suggestions: r.PermissionSuggestions, Request: r}
	case *wire.ElicitationRequest:
		a.title = fmt.Sprintf("%s: %s", r.MCPServerName, oneLine(r.Message))
		return &FormQuestion{asked: a, Server: r.MCPServerName, Message: r.Message, URL: r.URL, Schema: r.RequestedSchema, Request: r}
	case *wire.UserDialogRequest:
		a.title, a.toolUse = "Dialog "+r.DialogKind, r.ToolUseID
		return &DialogQuestion{asked: a, Dialog: r.DialogKind, Payload: r.Payload, Request: r}
	}
	return nil
}
