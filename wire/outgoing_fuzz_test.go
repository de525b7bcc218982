package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
)

var outgoingSeeds = []string{
	`{"type":"user","message":{"role":"user","content":"hi"}}`,
	`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"hi"}]},"shouldQuery":false}`,
	`{"type":"control_request","request_id":"r1","request":{"subtype":"set_permission_mode","mode":"manual"}}`,
	`{"type":"control_request","request_id":"r1","request":{"subtype":"initialize","systemPrompt":["a","b"],"hooks":{"PreToolUse":[{"hookCallbackIds":["a"]}]}}}`,
	`{"type":"control_request","request_id":"r1","request":{"subtype":"interrupt","cancel_queued":true}}`,
	`{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{"behavior":"allow","updatedInput":{},"updatedPermissions":[{"type":"setMode","mode":"plan","destination":"session"}]}}}`,
	`{"type":"control_response","response":{"subtype":"error","request_id":"r1","error":"no"}}`,
	`{"request_id":"r1","type":"control_response","response":{"subtype":"allow","updatedInput":{"a":1}}}`,
	`{"type":"control_response","request_id":"r1","approved":true}`,
	`{"type":"control_response","request_id":"r1","approved":false,"denial_message":"no"}`,
	`{"type":"control_response","request_id":"r1","permission":{"allow":true}}`,
	`{"type":"update_environment_variables","variables":{"A":"b"}}`,
	`{"type":"control_cancel_request","request_id":"r1"}`,
	`{"type":"keep_alive"}`, `{}`, `null`, ``,
}

// FuzzValidate checks that what passes is what the CLI's own rules let pass, and
// that fitting it keeps it so.
func FuzzValidate(f *testing.F) {
	for _, s := range outgoingSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		valid := Validate(line) == nil
		scope := ScopeOf(line, nil)
		if valid == (scope == ScopeNone) {
			t.Fatalf("valid is %v and the scope %v", valid, scope)
		}
		if !valid {
			return
		}
		var v map[string]json.RawMessage
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatalf("accepted, but not an object: %v", err)
		}
		for _, version := range []Version{{}, {2, 1, 37}, {2, 1, 120}, {2, 1, 325}} {
			out, _, err := Fit(line, version)
			if err != nil {
				continue
			}
			if Validate(out) != nil || bytes.ContainsAny(out, "\n") || len(out) == 0 {
				t.Fatalf("fitted to %v it is no longer valid: %q", version, out)
			}
			again, changes, err := Fit(out, version)
			if err != nil || changes != nil || !bytes.Equal(again, out) {
				t.Fatalf("fitting twice to %v: %q, then %q %v %v", version, out, again, changes, err)
			}
		}
	})
}

// FuzzTranslate checks that a translation is valid, about the question that was
// asked, and never consent that the answer does not hold.
func FuzzTranslate(f *testing.F) {
	for _, s := range outgoingSeeds {
		f.Add([]byte(s))
	}
	ask := &ControlRequest{RequestID: "r1", Request: &CanUseToolRequest{ToolName: "Bash", Input: json.RawMessage(`{"command":"ls"}`), ToolUseID: "t1"}}
	f.Fuzz(func(t *testing.T, line []byte) {
		asked := false
		out, err := Translate(line, func(id string) *ControlRequest {
			asked = id == "r1"
			if asked {
				return ask
			}
			return nil
		})
		if err != nil || bytes.Equal(out, line) {
			return
		}
		if !asked {
			t.Fatalf("changed without asking for the question: %q", out)
		}
		if err := Validate(out); err != nil {
			t.Fatalf("the translation %q is not valid: %v", out, err)
		}
		answer := lookup(lookup(out, "response"), "response")
		if lookupString(answer, "behavior") == "allow" && !saysYes(line) {
			t.Fatalf("%q became consent: %q", line, out)
		}
	})
}

// saysYes looks for consent in any of the forms, without regard to the form.
func saysYes(line []byte) bool {
	response := lookup(line, "response")
	words := []string{
		lookupString(response, "subtype"), lookupString(response, "behavior"), lookupString(lookup(response, "response"), "behavior"),
	}
	return slices.Contains(words, "allow") || string(lookup(line, "approved")) == "true" || string(lookup(lookup(line, "permission"), "allow")) == "true"
}
