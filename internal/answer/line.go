package answer

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/policy"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire"
)

// A Line is what an answer comes to.
type Line struct {
	// Bytes are what the CLI is sent.
	Bytes []byte
	// Rule is one of the session's own that is added along with the answer.
	Rule string
}

// Of checks an answer and builds the line that the CLI is sent. admin says that
// the client may do what needs the scope admin. Plans are answered elsewhere.
func Of(admin bool, kind api.QuestionKind, ask *wire.ControlRequest, in api.Answer) (v Line, err error) {
	if err := CheckMembers(kind, &in); err != nil {
		return v, err
	}
	switch kind {
	case api.QuestionPermission:
		if IsHook(ask) {
			v.Bytes, err = Hook(ask, in)
			break
		}
		v.Bytes, v.Rule, err = permissionLine(admin, ask, in)
	case api.QuestionChoice:
		v.Bytes, err = choiceLine(ask, in)
	case api.QuestionForm:
		v.Bytes, err = formLine(ask, in)
	case api.QuestionDialog:
		v.Bytes, err = dialogLine(ask, in)
	case api.QuestionPlan:
		fallthrough
	default:
		err = api.Errorf(http.StatusUnprocessableEntity, api.CodeUnsupported, "questions of kind %q cannot be answered here", kind)
	}
	return v, err
}

// CheckMembers refuses members of an answer that another kind of question has:
// a client that sends them expects something that will not happen.
func CheckMembers(kind api.QuestionKind, in *api.Answer) error {
	tool := kind == api.QuestionPermission || kind == api.QuestionPlan || kind == api.QuestionChoice
	plan := kind == api.QuestionPlan
	for _, m := range []struct {
		name    string
		set, ok bool
	}{
		{"message", in.Message != "", tool},
		{"interrupt", in.Interrupt, tool},
		{"input", in.Input != nil, tool},
		{"updates", in.Updates != nil, kind == api.QuestionPermission || plan},
		{"always", in.Always != nil, kind == api.QuestionPermission},
		{"choices", in.Choices != nil, kind == api.QuestionChoice},
		{"outcome", in.Outcome != "", plan},
		{"plan", in.Plan != nil, plan},
		{"mode", in.Mode != "", plan},
		{"images", in.Images != nil, plan},
		{"compact", in.Compact, plan},
		{"no_prompts", in.NoPrompts, plan},
		{"content", in.Content != nil, kind == api.QuestionForm},
		{"result", in.Result != nil, kind == api.QuestionDialog},
	} {
		if m.set && !m.ok {
			return record.Unfit("%s: a question of kind %s is not answered with it", m.name, kind)
		}
	}
	denies := in.Decision == "deny" || in.Decision == "decline" || in.Decision == "cancel"
	switch {
	case denies && (in.Input != nil || in.Updates != nil || in.Always != nil || in.Choices != nil || in.Content != nil || in.Result != nil):
		return record.Unfit("an answer that refuses carries no input, updates, always, choices, content or result")
	case in.Decision == "allow" && (in.Message != "" || in.Interrupt):
		return record.Unfit("message and interrupt go with deny: an agent that is allowed something is told nothing else")
	}
	return nil
}

// permissionLine builds the answer to a permission, and returns the rule of ours
// that goes with it.
func permissionLine(admin bool, ask *wire.ControlRequest, in api.Answer) (line []byte, rule string, err error) {
	switch in.Decision {
	case "deny":
		line, err = wire.NewPermission(ask, &wire.Deny{Message: in.Message, Interrupt: in.Interrupt})
		return line, "", err
	case "allow":
	default:
		return nil, "", record.Unfit("decision: expected allow or deny for a permission, got %q", in.Decision)
	}
	allow, err := Allow(in)
	if err != nil {
		return nil, "", err
	}
	if in.Always != nil {
		update, own, err := alwaysOf(admin, ask, in.Always)
		if err != nil {
			return nil, "", err
		}
		if rule = own; update != nil {
			allow.UpdatedPermissions = append(allow.UpdatedPermissions, update)
		}
	}
	line, err = wire.NewPermission(ask, allow)
	return line, rule, err
}

// Allow returns what allows a tool call, with an edited input and updates.
func Allow(in api.Answer) (*wire.Allow, error) {
	body, err := json.Marshal(struct {
		Behavior string          `json:"behavior"`
		Input    json.RawMessage `json:"updatedInput,omitempty"`
		Updates  json.RawMessage `json:"updatedPermissions,omitempty"`
	}{"allow", in.Input, in.Updates})
	if err != nil {
		return nil, record.Unfit("input and updates must be JSON: %v", err)
	}
	result, err := wire.DecodePermission(body)
	if err != nil {
		return nil, record.Unfit("%v", err)
	}
	allow, ok := result.(*wire.Allow)
	if !ok {
		return nil, record.Unfit("input and updates make no answer")
	}
	return allow, nil
}

// destinationOwn is that of a rule which the hub keeps itself.
const destinationOwn = "switchboard"

// alwaysOf returns the update that allows what is like a call from now on, or the
// rule of ours that does.
func alwaysOf(admin bool, ask *wire.ControlRequest, in *api.Always) (wire.PermissionUpdate, string, error) {
	request, ok := ask.Request.(*wire.CanUseToolRequest)
	if !ok {
		return nil, "", record.Unfit("always: only a tool call can be allowed for good")
	}
	if (in.Suggestion == nil) == (in.Rule == "") {
		return nil, "", record.Unfit("always: either a suggestion of the question, by its number, or a rule")
	}
	if in.Rule == EveryTool {
		return nil, "", record.Unfit("always: everything can only be allowed for a time, by a rule of the session's")
	}
	if rule, ours, err := hostAlways(admin, ask, request, in); ours {
		return nil, rule, err
	}
	destination := wire.UpdateDestination(in.Destination)
	switch in.Destination {
	case "":
		destination = wire.UpdateDestinationSession
	case "session", "localSettings", "projectSettings", "userSettings":
	case destinationOwn:
		if in.Suggestion != nil {
			return nil, "", record.Unfit("always: a suggestion is the CLI's own; write a rule for destination switchboard")
		}
		if !admin {
			return nil, "", api.Errorf(http.StatusForbidden, api.CodeForbidden, "a rule that allows needs the scope admin")
		}
		return nil, in.Rule, CheckRule(in.Rule, api.RuleAllow)
	default:
		return nil, "", record.Unfit("always: destination: expected session, localSettings, projectSettings, userSettings or switchboard, got %q", in.Destination)
	}
	if in.Rule != "" {
		if err := CheckRule(in.Rule, api.RuleAllow); err != nil {
			return nil, "", err
		}
		return &wire.AddRules{Rules: []wire.PermissionRule{ruleOf(in.Rule)}, Behavior: wire.RuleBehaviorAllow, Destination: destination}, "", nil
	}
	if n := len(request.PermissionSuggestions); *in.Suggestion < 0 || *in.Suggestion >= n {
		return nil, "", record.Unfit("always: there is no suggestion %d; the question has %d", *in.Suggestion, n)
	}
	update, err := redirected(request.PermissionSuggestions[*in.Suggestion], destination, in.Destination != "")
	return update, "", err
}

// redirected returns a suggestion with another destination. One that a CLI newer
// than this program suggests is sent back as it came.
func redirected(u wire.PermissionUpdate, to wire.UpdateDestination, chosen bool) (wire.PermissionUpdate, error) {
	switch u := u.(type) {
	case *wire.AddRules:
		return &wire.AddRules{Rules: u.Rules, Behavior: u.Behavior, Destination: to}, nil
	case *wire.ReplaceRules:
		return &wire.ReplaceRules{Rules: u.Rules, Behavior: u.Behavior, Destination: to}, nil
	case *wire.RemoveRules:
		return &wire.RemoveRules{Rules: u.Rules, Behavior: u.Behavior, Destination: to}, nil
	case *wire.SetMode:
		return &wire.SetMode{Mode: u.Mode, Destination: to}, nil
	case *wire.AddDirectories:
		return &wire.AddDirectories{Directories: u.Directories, Destination: to}, nil
	case *wire.RemoveDirectories:
		return &wire.RemoveDirectories{Directories: u.Directories, Destination: to}, nil
	case *wire.UnknownUpdate:
		if chosen {
			return nil, record.Unfit("always: this suggestion is of a kind that is not known here; leave out the destination to take it as it is")
		}
		return u, nil
	}
	return nil, record.Unfit("always: this suggestion cannot be taken")
}

// ruleOf splits a rule's text into tool and content, which has no escapes.
func ruleOf(text string) wire.PermissionRule {
	tool, rest, found := strings.Cut(text, "(")
	if !found {
		return wire.PermissionRule{ToolName: text}
	}
	content := strings.NewReplacer(`\\`, `\`, `\(`, `(`, `\)`, `)`).Replace(strings.TrimSuffix(rest, ")"))
	return wire.PermissionRule{ToolName: tool, RuleContent: content}
}

// textOf writes a rule as people write it.
func textOf(r wire.PermissionRule) string {
	if r.RuleContent == "" {
		return r.ToolName
	}
	return r.ToolName + "(" + r.RuleContent + ")"
}

// How many of a plan's prompts go into a new process, and how long they may be.
// They are arguments of its command.
const (
	maxPrompts = 64
	maxPrompt  = 1024
)

// PromptRules returns what a plan asks to be allowed as rules for a command line.
// The words are the agent's own: a parenthesis in them would end the rule and
// begin another, which was not approved.
func PromptRules(request *wire.CanUseToolRequest) []string {
	var list []string
	for _, r := range wire.PlanRules(request) {
		r.RuleContent = strings.Join(strings.FieldsFunc(r.RuleContent, func(c rune) bool {
			return strings.ContainsRune(`()\`, c) || unicode.IsSpace(c) || unicode.IsControl(c)
		}), " ")
		if text := textOf(r); len(list) < maxPrompts && len(text) <= maxPrompt && policy.CheckRule(r.ToolName) == nil {
			list = append(list, text)
		}
	}
	return list
}

// choiceLine builds the answer to a choice.
func choiceLine(ask *wire.ControlRequest, in api.Answer) ([]byte, error) {
	switch {
	case in.Decision == "deny":
		message := in.Message
		if strings.TrimSpace(message) == "" {
			message = "The user skipped the question."
		}
		return wire.NewPermission(ask, &wire.Deny{Message: message, Interrupt: in.Interrupt})
	case in.Decision != "allow":
		return nil, record.Unfit("decision: expected allow, or deny to skip, for a choice, got %q", in.Decision)
	case in.Input != nil && in.Choices != nil:
		return nil, record.Unfit("either choices or a whole input, not both")
	case in.Input != nil:
		if _, found := wire.Lookup(in.Input, "questions"); !found {
			return nil, record.Unfit("input: the questions have to be repeated in it; or answer with choices")
		}
		allow, err := Allow(in)
		if err != nil {
			return nil, err
		}
		return wire.NewPermission(ask, allow)
	}
	choices := map[string]wire.Choice{}
	left := copyOf(in.Choices)
	for _, question := range choicesOf(ask) {
		c, found := left[question.Question]
		delete(left, question.Question)
		answer, err := choiceOf(question, c)
		if err != nil {
			return nil, err
		}
		if !found && !c.Skip {
			return nil, record.Unfit("choices: %.200q is not answered; answer it, skip it, or deny to skip all", question.Question)
		}
		if !c.Skip {
			choices[question.Question] = answer
		}
	}
	for text := range left {
		return nil, record.Unfit("choices: no question has the text %.200q; the keys are the questions' texts", text)
	}
	if len(choices) == 0 {
		return nil, record.Unfit("choices: nothing is answered; deny to skip the questions")
	}
	return wire.NewChoice(ask, choices)
}

func copyOf(in map[string]api.ChoiceAnswer) map[string]api.ChoiceAnswer {
	out := make(map[string]api.ChoiceAnswer, len(in))
	maps.Copy(out, in)
	return out
}

// choiceOf checks the answer to one question.
func choiceOf(question api.Choice, c api.ChoiceAnswer) (wire.Choice, error) {
	answers := slices.Clone(c.Labels)
	out := wire.Choice{Notes: c.Notes}
	for _, label := range c.Labels {
		i := slices.IndexFunc(question.Options, func(o api.Option) bool { return o.Label == label })
		if i < 0 {
			return out, record.Unfit("choices: %.200q is no option of %.200q; other answers go into text", label, question.Question)
		}
		if out.Preview == "" {
			out.Preview = question.Options[i].Preview
		}
	}
	if strings.TrimSpace(c.Text) != "" {
		answers = append(answers, c.Text)
	}
	switch {
	case c.Skip && len(answers) > 0:
		return out, record.Unfit("choices: %.200q is skipped and answered at once", question.Question)
	case !c.Skip && len(answers) == 0:
		return out, record.Unfit("choices: %.200q is not answered; answer it, skip it, or deny to skip all", question.Question)
	case len(answers) > 1 && !question.Multiple:
		return out, record.Unfit("choices: %.200q takes one answer, got %d", question.Question, len(answers))
	}
	out.Answers = answers
	return out, nil
}

// dialogLine builds the answer to a dialog.
func dialogLine(ask *wire.ControlRequest, in api.Answer) ([]byte, error) {
	switch in.Decision {
	case "choose":
		if len(in.Result) == 0 {
			return nil, record.Unfit("result: a dialog is answered with what was chosen, as the dialog defines it")
		}
		return wire.NewAnswer(ask.RequestID, &wire.UserDialogAnswer{Behavior: wire.DialogBehaviorCompleted, Result: in.Result})
	case "cancel":
		return wire.NewAnswer(ask.RequestID, &wire.UserDialogAnswer{Behavior: wire.DialogBehaviorCancelled})
	}
	return nil, record.Unfit("decision: expected choose or cancel for a dialog, got %q", in.Decision)
}

// formLine builds the answer to a form.
func formLine(ask *wire.ControlRequest, in api.Answer) ([]byte, error) {
	request, ok := ask.Request.(*wire.ElicitationRequest)
	if !ok {
		return nil, record.Unfit("the question is not a form")
	}
	action := wire.ElicitationAction(in.Decision)
	switch action {
	case wire.ElicitationActionAccept:
		if err := wire.CheckForm(request, in.Content); err != nil {
			return nil, record.Unfit("content: %v", err)
		}
	case wire.ElicitationActionDecline, wire.ElicitationActionCancel:
	default:
		return nil, record.Unfit("decision: expected accept, decline or cancel for a form, got %q", in.Decision)
	}
	return wire.NewAnswer(ask.RequestID, &wire.ElicitationAnswer{Action: action, Content: in.Content})
}

// HookLine builds the answer of a hook; nil leaves everything to the CLI.
func HookLine(id string, out *wire.PreToolUseOutput) ([]byte, error) {
	answer := &wire.HookCallbackAnswer{}
	if out != nil {
		answer.HookSpecificOutput = out
	}
	return wire.NewAnswer(id, answer)
}

// Hook builds the answer to a question that a hook holds open.
func Hook(ask *wire.ControlRequest, in api.Answer) ([]byte, error) {
	out := &wire.PreToolUseOutput{}
	switch {
	case in.Always != nil || in.Updates != nil:
		return nil, record.Unfit("this question comes from a hook, which can only allow the call once")
	case in.Interrupt:
		return nil, record.Unfit("interrupt: this question comes from a hook, which can't stop the turn; deny it and interrupt the session")
	case in.Decision == "allow":
		out.PermissionDecision, out.UpdatedInput = wire.HookPermissionDecisionAllow, in.Input
		out.PermissionDecisionReason = "The user allowed it."
	case in.Decision == "deny":
		out.PermissionDecision, out.PermissionDecisionReason = wire.HookPermissionDecisionDeny, in.Message
		if in.Message == "" {
			out.PermissionDecisionReason = wire.DefaultDenial
		}
	default:
		return nil, record.Unfit("decision: expected allow or deny for a permission, got %q", in.Decision)
	}
	return HookLine(ask.RequestID, out)
}

// IsHook reports whether a question is one that a hook holds open.
func IsHook(ask *wire.ControlRequest) bool {
	_, ok := ask.Request.(*wire.HookCallbackRequest)
	return ok
}

// CheckRule says what is wrong with a rule's text.
func CheckRule(text string, decision api.RuleDecision) error {
	if err := policy.CheckRuleFor(text, policy.Decision(decision)); err != nil {
		return record.Unfit("rule: %v", err)
	}
	return nil
}

// EveryTool is the rule that names every tool.
const EveryTool = "*"
