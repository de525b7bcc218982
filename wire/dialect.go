package wire

import (
	"encoding/json"
	"errors"
	"fmt"
)

// ErrNoQuestion says that an answer cannot be translated because the question
// that it answers is not known.
var ErrNoQuestion = errors.New("no open question has this request id")

// Translate turns a permission answer in one of the forms that front ends use
// into the only form that a CLI takes:
//
//   - {"request_id":…,"response":{"subtype":"allow","updatedInput":…}}
//   - {"request_id":…,"approved":false,"denial_message":…}
//   - {"request_id":…,"permission":{"allow":true},"updated_input":…}
//   - the real envelope, where it lacks the input or the message
//
// What the answer lacks is taken from its question, which question looks up by
// request id (nil if there is none): the tool's own input, and [DefaultDenial]
// for a refusal without words. A line of another type, and an answer that needs
// nothing, are returned as they are. An answer that says two things at once is
// refused with an [*InvalidError]; it is never taken for consent.
func Translate(line []byte, question func(requestID string) *ControlRequest) ([]byte, error) {
	if err := checkObject(line); err != nil {
		return nil, &InvalidError{Want: "one complete JSON object"}
	}
	h, err := Peek(line)
	if err != nil {
		return nil, fmt.Errorf("translating an answer: %w", err)
	}
	if string(h.Type) != "control_response" {
		return line, nil
	}
	a, err := readAnswer(line)
	if err != nil {
		return nil, err
	}
	if a == nil { // the real envelope, complete or about something else
		return line, nil
	}
	if len(h.RequestID) == 0 {
		return nil, invalid("request_id", "a string that is not empty", nil)
	}
	q := question(string(h.RequestID))
	if q == nil {
		return nil, fmt.Errorf("translating an answer: %w", ErrNoQuestion)
	}
	if a.allow {
		return NewPermission(q, &Allow{UpdatedInput: a.input, UpdatedPermissions: a.updates})
	}
	return NewPermission(q, &Deny{Message: a.message, Interrupt: a.interrupt})
}

// TranslateRequest turns a control request that has another name with front ends
// into the one that a CLI knows: sdk_control_interrupt is interrupt. Every other
// line is returned as it is, also one that [Validate] refuses.
func TranslateRequest(line []byte) []byte {
	if checkObject(line) != nil {
		return line
	}
	h, err := Peek(line)
	if err != nil || string(h.Type) != "control_request" || string(h.RequestSubtype) != "sdk_control_interrupt" {
		return line
	}
	var cancelQueued bool
	_ = setFrom(&cancelQueued, orNull(lookup(lookup(line, "request"), "cancel_queued")), setBool) // false unless it is true
	translated, err := NewRequest(lookupString(line, "request_id"), &InterruptRequest{CancelQueued: cancelQueued})
	if err != nil { // it has no id
		return line
	}
	return translated
}

// answer is a permission answer, whatever form it came in.
type answer struct {
	allow     bool
	input     json.RawMessage
	updates   []PermissionUpdate
	message   string
	interrupt bool
}

// readAnswer finds out which form an answer has. It returns nil for one that
// goes to the CLI as it is.
func readAnswer(line []byte) (*answer, error) {
	list, err := members(line)
	if err != nil {
		return nil, &InvalidError{Want: "one complete JSON object"}
	}
	response, approved, permission := get(list, "response"), get(list, "approved"), get(list, "permission")
	var found []*answer
	var real bool
	if response != nil {
		a, isReal, err := readResponse(response)
		if err != nil {
			return nil, err
		}
		real = isReal
		if a != nil {
			found = append(found, a)
		}
	}
	if approved != nil {
		a := &answer{}
		if !wantBool(&a.allow, approved) {
			return nil, invalid("approved", "true or false", approved)
		}
		if !setFrom(&a.message, orNull(get(list, "denial_message")), setString[string]) {
			return nil, invalid("denial_message", "a string", get(list, "denial_message"))
		}
		found = append(found, a)
	}
	if permission != nil {
		a := &answer{}
		allow := lookup(permission, "allow")
		if !isObject(permission) || !wantBool(&a.allow, allow) {
			return nil, invalid("permission.allow", "true or false", allow)
		}
		a.message = lookupString(permission, "message")
		// Beside it stands what the user has edited.
		for _, name := range []string{"updated_input", "updatedInput"} {
			in := get(list, name)
			if in == nil || isNull(in) {
				continue
			}
			if !isObject(in) || !a.allow || a.input != nil {
				return nil, invalid(name, "an object, once, with what is allowed", in)
			}
			a.input = in
		}
		found = append(found, a)
	}
	switch {
	case len(found) > 1, len(found) == 1 && real && (approved != nil || permission != nil):
		return nil, &InvalidError{Want: "one answer in one form", Got: "several"}
	case len(found) == 1:
		return found[0], nil
	case real:
		return nil, nil
	}
	return nil, &InvalidError{Path: "response", Want: "an answer", Got: "nothing"}
}

// wantBool is setBool without its tolerance for null: silence is no consent.
func wantBool(dst *bool, raw []byte) bool {
	return !isNull(raw) && setFrom(dst, raw, setBool)
}

func orNull(raw []byte) []byte {
	if raw == nil {
		return []byte("null")
	}
	return raw
}

// readResponse reads the member "response". real is true for the envelope that
// the CLI itself reads; the answer is nil if it needs no translation.
func readResponse(raw []byte) (a *answer, real bool, err error) {
	if !isObject(raw) {
		return nil, false, invalid("response", "an object", raw)
	}
	inside := lookup(raw, "response")
	switch subtype := lookupString(raw, "subtype"); subtype {
	case "success":
		behavior := lookup(inside, "behavior")
		if behavior == nil {
			return nil, true, nil
		}
		a, err := readDecision("response.response", lookupString(inside, "behavior"), inside)
		if err != nil {
			return nil, true, err
		}
		if a.allow && a.input != nil || !a.allow && a.message != "" {
			return nil, true, nil
		}
		return a, true, nil
	case "error":
		return nil, true, nil
	case "allow", "deny":
		if inside != nil {
			return nil, false, &InvalidError{Path: "response", Want: "one answer in one form", Got: "several"}
		}
		a, err := readDecision("response", subtype, raw)
		return a, false, err
	case "":
		// Seen in the wild: the permission result without its envelope.
		if behavior := lookupString(raw, "behavior"); behavior != "" && inside == nil {
			a, err := readDecision("response", behavior, raw)
			return a, false, err
		}
	}
	return nil, false, invalid("response.subtype", `"success", "error", "allow" or "deny"`, lookup(raw, "subtype"))
}

func readDecision(path, behavior string, raw []byte) (*answer, error) {
	a := &answer{}
	switch behavior {
	case "allow":
		a.allow = true
		if in := lookup(raw, "updatedInput"); in != nil && !isNull(in) {
			if !isObject(in) {
				return nil, invalid(path+".updatedInput", "an object", in)
			}
			a.input = in
		}
		updates := lookup(raw, "updatedPermissions")
		if updates != nil && !setFrom(&a.updates, updates, setUpdates) {
			return nil, invalid(path+".updatedPermissions", "a list", updates)
		}
	case "deny":
		message := lookup(raw, "message")
		if !setFrom(&a.message, orNull(message), setString[string]) {
			return nil, invalid(path+".message", "a string", message)
		}
		interrupt := lookup(raw, "interrupt")
		if interrupt != nil && !setFrom(&a.interrupt, interrupt, setBool) {
			return nil, invalid(path+".interrupt", "true or false", interrupt)
		}
	default:
		return nil, invalid(path+".behavior", `"allow" or "deny"`, lookup(raw, "behavior"))
	}
	return a, nil
}

// Cost returns what the session has cost so far in US dollars, by the member
// total_cost_usd or, where a relay wrote the line, cost_usd.
func (v *Result) Cost() float64 {
	if v.TotalCostUSD != 0 {
		return v.TotalCostUSD
	}
	var usd float64
	setFrom(&usd, v.Extra("cost_usd"), setNum)
	return usd
}

// Failed reports whether the turn failed. The subtype alone does not tell: an
// API error is a success with is_error set, and older versions report an
// interrupted turn without it.
func (v *Result) Failed() bool { return v.IsError || v.Subtype != ResultSubtypeSuccess }

func setUpdates(d *decoder, dst *[]PermissionUpdate, v value) bool {
	return setList(d, dst, v, func(d *decoder, dst *PermissionUpdate, v value) bool {
		return setUnion(d, dst, v, decodePermissionUpdate)
	})
}
