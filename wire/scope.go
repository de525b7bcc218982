package wire

import (
	"slices"
	"strings"
)

// A Scope is a right that a line to a CLI needs. The scopes are not a ladder: a
// token with approve may not prompt because of that.
type Scope int

// The scopes.
const (
	// ScopeNone is no right at all: a line that needs it may never be sent.
	ScopeNone Scope = iota
	// ScopeObserve is the right to look.
	ScopeObserve
	// ScopePrompt is the right to send prompts and to steer a turn.
	ScopePrompt
	// ScopeApprove is the right to answer questions.
	ScopeApprove
	// ScopeAdmin is the right to everything else.
	ScopeAdmin
)

// String returns the scope's name as tokens carry it.
func (s Scope) String() string {
	switch s {
	case ScopeNone:
		return "none"
	case ScopeObserve:
		return "observe"
	case ScopePrompt:
		return "prompt"
	case ScopeApprove:
		return "approve"
	case ScopeAdmin:
		return "admin"
	}
	return "none"
}

// ScopeOf returns the right that is needed to send a line to a CLI. The answer
// is never wider than what is known to be safe: a line that [Validate] refuses
// needs [ScopeNone], a request that is not listed needs [ScopeAdmin].
//
// question is the request that a control_response answers, nil if it is not
// known. An answer without its question needs ScopeAdmin, because what it would
// settle cannot be seen. With its question known, an answer needs ScopeApprove
// as long as the updates that it carries are for the session only, are updates
// that the question itself brought (its suggestions, the prompts that a plan asks
// for), or set the mode to default, plan or acceptEdits; with any other update
// it needs ScopeAdmin.
func ScopeOf(line []byte, question *ControlRequest) Scope {
	o, err := validate(line, DefaultMaxLine)
	if err != nil {
		return ScopeNone
	}
	switch o.typ {
	case "keep_alive":
		return ScopeObserve
	case "user":
		return scopeOfUser(o)
	case "control_request":
		return scopeOfRequest(decodeFrom(o.get("request"), decodeRequest))
	case "control_response":
		return scopeOfAnswer(o, question)
	}
	return ScopeAdmin
}

// scopeOfUser lets a prompt pass as one only if it has no more than a person
// says: the other members speak in the name of tools, sub-agents or the CLI.
func scopeOfUser(o *outgoing) Scope {
	for _, m := range o.members {
		switch m.name {
		case "type", "message", "uuid", "session_id", "priority", "timestamp", "shouldQuery", "client_composed", "pasted_content", "inline_pastes":
		case "parent_tool_use_id":
			if !isNull(m.raw) {
				return ScopeAdmin
			}
		case "isSynthetic":
			if string(m.raw) != "false" {
				return ScopeAdmin
			}
		default:
			return ScopeAdmin
		}
	}
	content := lookup(o.get("message"), "content")
	items, _ := elements(content) // none for plain text
	for _, item := range items {
		switch lookupString(item, "type") {
		case "text", "image", "document", "search_result":
		default:
			return ScopeAdmin
		}
	}
	return ScopePrompt
}

func scopeOfRequest(r Request) Scope {
	spec, known := requestSpecOf(r.RequestSubtype())
	// A member that the table does not know may mean anything.
	if !known || len(r.ExtraNames()) > 0 {
		return ScopeAdmin
	}
	switch r := r.(type) { //nolint:gochecksumtype // only some requests depend on what they carry
	case *SetPermissionModeRequest:
		if !harmlessMode(r.Mode) {
			return ScopeAdmin
		}
	case *RewindFilesRequest:
		if r.DryRun {
			return ScopeObserve
		}
	}
	return spec.scope
}

// harmlessMode reports whether a mode still asks before it runs commands.
func harmlessMode(m PermissionMode) bool {
	switch m { //nolint:exhaustive // every other mode, known or not, needs admin
	case PermissionModeDefault, PermissionModeManual, PermissionModePlan, PermissionModeAcceptEdits:
		return true
	}
	return false
}

func scopeOfAnswer(o *outgoing, question *ControlRequest) Scope {
	body := o.get("response")
	if question == nil || question.RequestID != lookupString(body, "request_id") {
		return ScopeAdmin
	}
	switch ask := question.Request.(type) { //nolint:gochecksumtype // the other requests are for programs, not people
	case *CanUseToolRequest:
		answer := lookup(body, "response")
		if answer == nil { // an error answer denies
			return ScopeApprove
		}
		result := decodeFrom(answer, decodePermissionResult)
		if _, unknown := result.(*UnknownResult); unknown {
			return ScopeNone // the answer to a dialog; a tool call would wait for ever
		}
		allow, ok := result.(*Allow)
		if !ok {
			return ScopeApprove
		}
		for _, u := range allow.UpdatedPermissions {
			if !brought(ask, u) {
				return ScopeAdmin
			}
		}
		return ScopeApprove
	case *ElicitationRequest, *UserDialogRequest:
		return ScopeApprove
	}
	return ScopeAdmin
}

// brought reports whether an update is one that a client that may approve may send.
func brought(ask *CanUseToolRequest, u PermissionUpdate) bool {
	if lookupString(u.Raw(), "destination") != string(UpdateDestinationSession) || len(u.ExtraNames()) > 0 {
		return false
	}
	switch u := u.(type) {
	case *SetMode:
		return harmlessMode(u.Mode)
	case *AddRules:
		// A rule that refuses or asks only narrows what may run.
		if u.Behavior != RuleBehaviorAllow {
			return true
		}
		return !slices.ContainsFunc(u.Rules, func(r PermissionRule) bool { return !offersRule(ask, r) })
	case *AddDirectories:
		return !slices.ContainsFunc(u.Directories, func(d string) bool { return !offersDirectory(ask, d) })
	case *ReplaceRules, *RemoveRules, *RemoveDirectories, *UnknownUpdate:
		return false
	}
	return false
}

func offersRule(ask *CanUseToolRequest, rule PermissionRule) bool {
	for _, s := range ask.PermissionSuggestions {
		if add, ok := s.(*AddRules); ok && add.Behavior == RuleBehaviorAllow &&
			slices.ContainsFunc(add.Rules, func(r PermissionRule) bool { return sameRule(r, rule) }) {
			return true
		}
	}
	return ask.ToolName == "ExitPlanMode" && slices.ContainsFunc(PlanRules(ask), func(r PermissionRule) bool { return sameRule(r, rule) })
}

func sameRule(a, b PermissionRule) bool {
	return a.ToolName == b.ToolName && a.RuleContent == b.RuleContent && len(b.extra) == 0
}

func offersDirectory(ask *CanUseToolRequest, dir string) bool {
	return slices.ContainsFunc(ask.PermissionSuggestions, func(s PermissionUpdate) bool {
		add, ok := s.(*AddDirectories)
		return ok && slices.Contains(add.Directories, dir)
	})
}

// PlanRules returns the rules that a plan asks for: one for each of the allowed
// prompts in the input of an ExitPlanMode request.
func PlanRules(ask *CanUseToolRequest) []PermissionRule {
	var plan PlanExit
	if !jsonObject(ask.Input) || decodeInto(&plan, ask.Input) != nil {
		return nil
	}
	var rules []PermissionRule
	for _, p := range plan.AllowedPrompts {
		if p.Tool == "" || strings.TrimSpace(p.Prompt) == "" {
			continue
		}
		rules = append(rules, PermissionRule{ToolName: p.Tool, RuleContent: "prompt: " + strings.TrimSpace(p.Prompt)})
	}
	return rules
}

// BypassSetting returns the path of the member of a settings object, as the CLI
// reads it, that switches permission questions off or accepts the warning before
// that: the same as the flags --permission-mode=bypassPermissions and
// --dangerously-skip-permissions. It returns "" if there is none. The object is
// trusted to be valid JSON.
//
// Settings that only widen what runs unasked, such as permissions.allow,
// permissions.additionalDirectories or the mode acceptEdits, are not among them:
// they correspond to flags that need no consent to bypass permissions.
func BypassSetting(settings []byte) string {
	permissions := lookup(settings, "permissions")
	if lookupString(permissions, "defaultMode") == string(PermissionModeBypassPermissions) {
		return "permissions.defaultMode"
	}
	// The CLI has this member at the top; a version that reads it elsewhere would
	// do so beside the mode that it is about.
	const skip = "skipDangerousModePermissionPrompt"
	switch {
	case switchedOn(settings, skip):
		return skip
	case switchedOn(permissions, skip):
		return "permissions." + skip
	}
	return ""
}

// HooklessSetting returns the member of a settings object that keeps hooks from
// running, "" if there is none. A controller that judges calls by a hook would not
// be asked any more. The object is trusted to be valid JSON.
func HooklessSetting(settings []byte) string {
	for _, name := range [...]string{"disableAllHooks", "allowManagedHooksOnly"} {
		if switchedOn(settings, name) {
			return name
		}
	}
	return ""
}

// switchedOn reports whether a member is there and is anything but false or null.
func switchedOn(object []byte, name string) bool {
	value := lookup(object, name)
	return value != nil && string(value) != "false" && !isNull(value)
}
