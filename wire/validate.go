package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxFrontEndLine is the longest line that [Validate] accepts from a front end.
const MaxFrontEndLine = 64 << 20

// An InvalidError reports a line that must not reach a CLI: at least one version
// would end, hang or misread it.
type InvalidError struct {
	// Line is the line's number where it came from, from 1; zero if unknown.
	Line int
	// Path names the member that is wrong, such as "message.role"; empty for the
	// line as a whole.
	Path string
	// Want says what was expected there.
	Want string
	// Got says what was found, shortened; empty if nothing was.
	Got string
}

// Error names the line, the member and what was expected.
func (e *InvalidError) Error() string {
	var b strings.Builder
	b.WriteString("invalid line")
	if e.Line > 0 {
		fmt.Fprintf(&b, " %d", e.Line)
	}
	if e.Path != "" {
		fmt.Fprintf(&b, ": %s", e.Path)
	}
	fmt.Fprintf(&b, ": expected %s", e.Want)
	if e.Got != "" {
		fmt.Fprintf(&b, ", found %s", e.Got)
	}
	return b.String()
}

// Validate reports whether a line may be sent to a CLI, as far as that does not
// depend on the CLI's version; [Fit] knows the rest. It accepts the types that a
// client may send (user, control_request, control_response,
// control_cancel_request, keep_alive, update_environment_variables) in the
// shapes that every version reads, and nothing else. The error is an
// [*InvalidError].
func Validate(line []byte) error {
	_, err := validate(line, MaxFrontEndLine)
	return err
}

// outgoing is a validated line, taken apart as far as it was needed.
type outgoing struct {
	line    []byte
	typ     string
	members []member
}

func (o *outgoing) get(name string) []byte { return get(o.members, name) }

func get(list []member, name string) []byte {
	for _, m := range list {
		if m.name == name {
			return m.raw
		}
	}
	return nil
}

func validate(line []byte, limit int) (*outgoing, error) {
	line = bytes.Trim(line, " \t\r")
	switch {
	case len(line) > limit:
		return nil, &InvalidError{Want: fmt.Sprintf("at most %d bytes", limit), Got: fmt.Sprintf("%d", len(line))}
	case bytes.IndexByte(line, '\n') >= 0:
		return nil, &InvalidError{Want: "one line, without a line break inside"}
	case !utf8.Valid(line):
		return nil, &InvalidError{Want: "UTF-8"}
	}
	if err := checkObject(line); err != nil {
		return nil, &InvalidError{Want: "one complete JSON object", Got: strings.TrimPrefix(err.Error(), ErrNotObject.Error()+", found ")}
	}
	list, err := members(line)
	if err != nil { // cannot happen: checkObject has passed
		return nil, &InvalidError{Want: "one complete JSON object", Got: err.Error()}
	}
	o := &outgoing{line: line, members: list}
	typ := o.get("type")
	if !isString(typ) {
		return nil, invalid("type", "a string", typ)
	}
	o.typ = text(typ)
	return o, o.check()
}

func (o *outgoing) check() error {
	switch o.typ {
	case "user":
		return checkUser(o)
	case "control_request":
		return checkRequest(o)
	case "control_response":
		return checkResponse(o.get("response"))
	case "control_cancel_request":
		return wantID("request_id", o.get("request_id"))
	case "keep_alive":
		return nil
	case "update_environment_variables":
		return checkEnvironment(o.get("variables"))
	}
	return &InvalidError{Path: "type", Want: "a type that a CLI reads: user, control_request, control_response, control_cancel_request, keep_alive or update_environment_variables", Got: short(o.get("type"))}
}

func invalid(path, want string, got []byte) error {
	return &InvalidError{Path: path, Want: want, Got: short(got)}
}

// short is a value for an error message. It is cut, so that a message quotes no
// more of a prompt than is needed to find it.
func short(raw []byte) string {
	const most = 24
	if raw == nil {
		return "nothing"
	}
	if len(raw) <= most {
		return string(raw)
	}
	return strings.ToValidUTF8(string(raw[:most]), "") + "…"
}

func wantID(path string, raw []byte) error {
	if !isString(raw) || len(raw) == 2 {
		return invalid(path, "a string that is not empty", raw)
	}
	return nil
}

func checkUser(o *outgoing) error {
	body := o.get("message")
	if !isObject(body) {
		return invalid("message", "an object", body)
	}
	list, err := members(body)
	if err != nil {
		return invalid("message", "an object", body)
	}
	if role := get(list, "role"); !isString(role) || text(role) != "user" {
		return invalid("message.role", `"user"`, role)
	}
	// 2.1.120 swallows a prompt with a priority that it does not know.
	if p := o.get("priority"); p != nil && !slices.Contains([]string{`"now"`, `"next"`, `"later"`}, string(p)) {
		return invalid("priority", `"now", "next" or "later"`, p)
	}
	content := get(list, "content")
	if isString(content) {
		return nil
	}
	items, ok := elements(content)
	if !ok {
		return invalid("message.content", "a string or a list of blocks", content)
	}
	for i, item := range items {
		if !isObject(item) {
			return invalid(fmt.Sprintf("message.content[%d]", i), "a block (an object)", item)
		}
		if err := checkBlock(fmt.Sprintf("message.content[%d]", i), item); err != nil {
			return err
		}
	}
	return nil
}

// checkBlock refuses blocks that end 2.1.37 and 2.1.120: those that lack what
// they are about.
func checkBlock(path string, item []byte) error {
	switch lookupString(item, "type") {
	case "":
		return invalid(path+".type", "a string that is not empty", lookup(item, "type"))
	case "text":
		if t := lookup(item, "text"); !isString(t) {
			return invalid(path+".text", "a string", t)
		}
	case "image", "document":
		if s := lookup(item, "source"); !isObject(s) {
			return invalid(path+".source", "an object", s)
		}
	}
	return nil
}

func checkRequest(o *outgoing) error {
	if err := wantID("request_id", o.get("request_id")); err != nil {
		return err
	}
	body := o.get("request")
	if !isObject(body) {
		return invalid("request", "an object", body)
	}
	subtype := lookup(body, "subtype")
	if err := wantID("request.subtype", subtype); err != nil {
		return err
	}
	r := decodeFrom(body, decodeRequest)
	spec, known := requestSpecOf(r.RequestSubtype())
	if !known {
		return nil
	}
	if _, shapeless := r.(*UnknownRequest); shapeless {
		// It could not be decoded, so what it says cannot be judged either.
		return &InvalidError{Path: "request", Want: fmt.Sprintf("values nested at most %d deep", maxDepth)}
	}
	if spec.direction == FromCLI {
		return invalid("request.subtype", "a request that a client makes; this one is the CLI's to make", subtype)
	}
	for _, name := range spec.required {
		if lookup(body, name) == nil {
			return invalid("request."+name, "a value", nil)
		}
	}
	if err := checkFields("request", r); err != nil {
		return err
	}
	return checkParticular(r)
}

// checkFields refuses a value that does not fit the field it is for.
func checkFields(path string, v object) error {
	for _, m := range v.source().extra {
		// Every field takes null, so this tells a known name from an unknown one.
		if setField(v.fresh(), m.name, []byte("null")) {
			return invalid(path+"."+m.name, "a value of another kind", m.raw)
		}
	}
	return nil
}

// checkParticular knows what the shapes do not say.
func checkParticular(r Request) error {
	switch r := r.(type) { //nolint:gochecksumtype // only some requests have more to check
	case *SetPermissionModeRequest:
		// 2.1.37 and 2.1.62 take any string for a mode and then act on none.
		if !slices.Contains(permissionModes(), r.Mode) {
			return invalid("request.mode", "a permission mode", r.Extra("mode"))
		}
	case *SetMaxThinkingTokensRequest:
		// A negative number is accepted by 2.1.37 and fails at the next API call.
		if r.MaxThinkingTokens != nil && *r.MaxThinkingTokens < 0 {
			return &InvalidError{Path: "request.max_thinking_tokens", Want: "a number from 0 on, or null", Got: fmt.Sprint(*r.MaxThinkingTokens)}
		}
	case *MCPMessageRequest:
		if !isObject(r.Message.Raw()) {
			return invalid("request.message", "a JSON-RPC message (an object)", r.Message.Raw())
		}
	case *MCPSetServersRequest:
		if servers := lookup(r.Raw(), "servers"); r.Raw() != nil && !isObject(servers) {
			return invalid("request.servers", "an object of servers by name", servers)
		}
	case *ApplyFlagSettingsRequest:
		return checkSettings(r.Settings)
	}
	return nil
}

// checkSettings refuses settings that 2.1.120 takes badly: from what is no object
// it does not recover, and for rules that are no list it forgets those before.
func checkSettings(settings []byte) error {
	if !isObject(settings) {
		return invalid("request.settings", "an object", settings)
	}
	permissions := lookup(settings, "permissions")
	if permissions == nil || isNull(permissions) {
		return nil
	}
	if !isObject(permissions) {
		return invalid("request.settings.permissions", "an object", permissions)
	}
	for _, name := range []string{"allow", "ask", "deny"} {
		list := lookup(permissions, name)
		if list == nil {
			continue
		}
		items, ok := elements(list)
		if !ok || slices.ContainsFunc(items, func(v []byte) bool { return !isString(v) }) {
			return invalid("request.settings.permissions."+name, "a list of rules", list)
		}
	}
	return nil
}

func permissionModes() []PermissionMode {
	return []PermissionMode{
		PermissionModeDefault, PermissionModeAcceptEdits, PermissionModeBypassPermissions, PermissionModePlan,
		PermissionModeDontAsk, PermissionModeAuto, PermissionModeDelegate, PermissionModeManual,
	}
}

func checkResponse(body []byte) error {
	if !isObject(body) {
		return invalid("response", "an object with subtype, request_id and response", body)
	}
	if err := wantID("response.request_id", lookup(body, "request_id")); err != nil {
		return err
	}
	switch subtype := lookup(body, "subtype"); lookupString(body, "subtype") {
	case "success":
		answer := lookup(body, "response")
		if answer == nil {
			return nil
		}
		if !isObject(answer) {
			return invalid("response.response", "an object", answer)
		}
		if lookup(answer, "behavior") != nil {
			return checkPermission("response.response", answer)
		}
		return nil
	case "error":
		if e := lookup(body, "error"); !isString(e) {
			return invalid("response.error", "a string", e)
		}
		return nil
	default:
		return invalid("response.subtype", `"success" or "error"`, subtype)
	}
}

// checkPermission checks an answer to can_use_tool.
func checkPermission(path string, raw []byte) error {
	switch r := decodeFrom(raw, decodePermissionResult).(type) {
	case *Allow:
		if in := lookup(raw, "updatedInput"); in != nil && !isObject(in) {
			return invalid(path+".updatedInput", "an object", in)
		}
		if err := checkFields(path, r); err != nil {
			return err
		}
		for i, u := range r.UpdatedPermissions {
			if err := checkUpdate(fmt.Sprintf("%s.updatedPermissions[%d]", path, i), u); err != nil {
				return err
			}
		}
		return nil
	case *Deny:
		if m := lookup(raw, "message"); !isString(m) {
			return invalid(path+".message", "a string that tells the model why", m)
		}
		return checkFields(path, r)
	case *UnknownResult:
		switch DialogBehavior(lookupString(raw, "behavior")) {
		case DialogBehaviorCompleted, DialogBehaviorCancelled: // the answer to a dialog
			return nil
		}
		return invalid(path+".behavior", `"allow" or "deny"`, lookup(raw, "behavior"))
	}
	return invalid(path, "a permission answer", raw)
}

// checkUpdate refuses what makes 2.1.37 refuse the whole answer.
func checkUpdate(path string, u PermissionUpdate) error {
	if u == nil {
		return invalid(path, "an update (an object)", []byte("null"))
	}
	if unknown, ok := u.(*UnknownUpdate); ok {
		return invalid(path+".type", "a kind of update that is known", lookup(unknown.Raw(), "type"))
	}
	if err := checkFields(path, u); err != nil {
		return err
	}
	raw := u.Raw()
	destinations := []UpdateDestination{
		UpdateDestinationUserSettings, UpdateDestinationProjectSettings, UpdateDestinationLocalSettings, UpdateDestinationSession, UpdateDestinationCliArg,
	}
	if d := UpdateDestination(lookupString(raw, "destination")); !slices.Contains(destinations, d) {
		return invalid(path+".destination", "a destination that is known", lookup(raw, "destination"))
	}
	switch u := u.(type) {
	case *AddRules:
		return checkRules(path, u.Rules, u.Behavior, raw)
	case *ReplaceRules:
		return checkRules(path, u.Rules, u.Behavior, raw)
	case *RemoveRules:
		return checkRules(path, u.Rules, u.Behavior, raw)
	case *SetMode:
		if !slices.Contains(permissionModes(), u.Mode) {
			return invalid(path+".mode", "a permission mode", lookup(raw, "mode"))
		}
	case *AddDirectories:
		return wantList(path+".directories", lookup(raw, "directories"))
	case *RemoveDirectories:
		return wantList(path+".directories", lookup(raw, "directories"))
	case *UnknownUpdate: // dealt with above
	}
	return nil
}

func wantList(path string, raw []byte) error {
	if _, ok := elements(raw); !ok {
		return invalid(path, "a list", raw)
	}
	return nil
}

func checkRules(path string, rules []PermissionRule, behavior RuleBehavior, raw []byte) error {
	if err := wantList(path+".rules", lookup(raw, "rules")); err != nil {
		return err
	}
	if !slices.Contains([]RuleBehavior{RuleBehaviorAllow, RuleBehaviorDeny, RuleBehaviorAsk}, behavior) {
		return invalid(path+".behavior", `"allow", "deny" or "ask"`, lookup(raw, "behavior"))
	}
	for i := range rules {
		if rules[i].ToolName == "" {
			return invalid(fmt.Sprintf("%s.rules[%d].toolName", path, i), "a string that is not empty", nil)
		}
		if err := checkFields(fmt.Sprintf("%s.rules[%d]", path, i), &rules[i]); err != nil {
			return err
		}
	}
	return nil
}

func checkEnvironment(variables []byte) error {
	list, err := members(variables)
	if err != nil {
		// It is not quoted: it may be a secret.
		return &InvalidError{Path: "variables", Want: "an object of strings"}
	}
	for _, m := range list {
		if m.name == "" || strings.ContainsAny(m.name, "=\x00") {
			return &InvalidError{Path: "variables", Want: "names without \"=\" and NUL"}
		}
		if !isString(m.raw) || strings.Contains(text(m.raw), "\x00") {
			// The value is not quoted: it may be a secret.
			return &InvalidError{Path: "variables." + m.name, Want: "a string without NUL"}
		}
	}
	return nil
}

// errBuilt marks a line that a builder made and that did not pass; it wraps the
// reason.
var errBuilt = errors.New("building a line")

// built checks a line that a builder made.
func built(line []byte, err error) ([]byte, error) {
	if err == nil {
		_, err = validate(line, DefaultMaxLine)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBuilt, err)
	}
	return line, nil
}

// jsonObject checks a free-form value that must be an object.
func jsonObject(raw json.RawMessage) bool {
	return isObject(bytes.TrimSpace(raw)) && json.Valid(raw)
}
