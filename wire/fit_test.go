package wire

import (
	"errors"
	"strings"
	"testing"
)

func TestFit(t *testing.T) {
	var (
		unknown = Version{}
		v37     = Version{2, 1, 37}
		v62     = Version{2, 1, 62}
		v120    = Version{2, 1, 120}
		v325    = Version{2, 1, 325}
		all     = []Version{unknown, v37, v62, v120, v325}
		none    []Version
	)
	request := func(body string) string {
		return `{"type":"control_request","request_id":"r1","request":` + body + `}`
	}
	tests := []struct {
		name string
		line string
		ok   []Version // the versions that take it; all others refuse it
	}{
		{"prompt", `{"type":"user","message":{"role":"user","content":"hi"}}`, all},
		{"keep_alive", `{"type":"keep_alive"}`, all},
		{"cancel", `{"type":"control_cancel_request","request_id":"r1"}`, []Version{v62, v120, v325}},
		{"unknown request", request(`{"subtype":"brand_new"}`), []Version{v62, v120, v325}},
		{"interrupt", request(`{"subtype":"interrupt"}`), all},
		{"stop_task", request(`{"subtype":"stop_task","task_id":"t"}`), []Version{v62, v120, v325}},
		{"context usage", request(`{"subtype":"get_context_usage"}`), []Version{v120, v325}},
		{"rename", request(`{"subtype":"rename_session","title":"x"}`), []Version{v325}},
		{"color", request(`{"subtype":"set_color","color":"red"}`), none},
		{"mode auto", request(`{"subtype":"set_permission_mode","mode":"auto"}`), []Version{v120, v325}},
		{"append", `{"type":"user","shouldQuery":false,"message":{"role":"user","content":"hi"}}`, []Version{v120, v325}},
		{"literal", `{"type":"user","client_composed":true,"message":{"role":"user","content":"hi"}}`, []Version{v325}},
		{"environment", `{"type":"update_environment_variables","variables":{"A":"b"}}`, []Version{unknown, v37, v62, v120}},
		{"token", `{"type":"update_environment_variables","variables":{"CLAUDE_CODE_SESSION_ACCESS_TOKEN":"b"}}`, all},
		{"allow without input", `{"type":"control_response","response":{"subtype":"success","request_id":"r","response":{"behavior":"allow"}}}`, []Version{v325}},
		{"allow with input", `{"type":"control_response","response":{"subtype":"success","request_id":"r","response":{"behavior":"allow","updatedInput":{}}}}`, all},
		{"12 MB", `{"type":"user","message":{"role":"user","content":"` + strings.Repeat("x", 12_000_000) + `"}}`, []Version{v120, v325}},
		{"not JSON", `nonsense`, none},
	}
	for _, tt := range tests {
		for _, v := range all {
			t.Run(tt.name+" "+v.String(), func(t *testing.T) {
				want := false
				for _, o := range tt.ok {
					want = want || o == v
				}
				out, changes, err := Fit([]byte(tt.line), v)
				if want {
					if err != nil || string(out) != tt.line || changes != nil {
						t.Fatalf("changed or refused: %.200q %v %v", out, changes, err)
					}
					return
				}
				var unsupported *UnsupportedError
				var bad *InvalidError
				if !errors.As(err, &unsupported) && !errors.As(err, &bad) {
					t.Fatalf("got %v", err)
				}
				if unsupported != nil && unsupported.Version != v {
					t.Errorf("the error names version %v", unsupported.Version)
				}
			})
		}
	}
}

func TestFitAdapts(t *testing.T) {
	tests := []struct {
		name       string
		line, want string
		v          Version
		changed    string
	}{
		{
			"manual is default",
			`{"type":"control_request", "x":1, "request_id":"r","request":{"mode":"manual","subtype":"set_permission_mode"}}`,
			`{"type":"control_request","x":1,"request_id":"r","request":{"mode":"default","subtype":"set_permission_mode"}}`,
			Version{2, 1, 37},
			"manual",
		},
		{
			"queued messages cannot be cancelled",
			`{"type":"control_request","request_id":"r","request":{"subtype":"interrupt","cancel_queued":true}}`,
			`{"type":"control_request","request_id":"r","request":{"subtype":"interrupt"}}`,
			Version{2, 1, 120},
			"cancel_queued",
		},
		{
			"a list of system prompts is one",
			`{"type":"control_request","request_id":"r","request":{"subtype":"initialize","systemPrompt":["one","two"]}}`,
			`{"type":"control_request","request_id":"r","request":{"subtype":"initialize","systemPrompt":"one\n\ntwo"}}`,
			Version{2, 1, 37},
			"systemPrompt",
		},
		{
			"the id of the tool call is left out",
			`{"type":"control_response","response":{"subtype":"success","request_id":"r","response":{"behavior":"deny","message":"no","toolUseID":"t","x":1}}}`,
			`{"type":"control_response","response":{"subtype":"success","request_id":"r","response":{"behavior":"deny","message":"no","x":1}}}`,
			Version{},
			"toolUseID",
		},
		{
			"white space around the line",
			"  {\"type\":\"keep_alive\"} \r",
			`{"type":"keep_alive"}`,
			Version{2, 1, 37},
			"",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, changes, err := Fit([]byte(tt.line), tt.v)
			if err != nil || string(out) != tt.want {
				t.Fatalf("got %s, %v\nwant %s", out, err, tt.want)
			}
			if (tt.changed == "") != (changes == nil) || !strings.Contains(strings.Join(changes, " "), tt.changed) {
				t.Errorf("changes told: %q", changes)
			}
		})
	}
	// What the newest version knows is left alone.
	line := `{"type":"control_request","request_id":"r","request":{"subtype":"interrupt","cancel_queued":true}}`
	if out, changes, err := Fit([]byte(line), Version{2, 1, 325}); err != nil || changes != nil || string(out) != line {
		t.Errorf("got %s %v %v", out, changes, err)
	}
}

func TestUnsupportedErrorSaysWhatToDo(t *testing.T) {
	_, _, err := Fit([]byte(`{"type":"control_cancel_request","request_id":"r"}`), Version{2, 1, 37})
	for _, part := range []string{"control_cancel_request", "2.1.37", "since 2.1.47"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
	_, _, err = Fit([]byte(`{"type":"control_cancel_request","request_id":"r"}`), Version{})
	if !strings.Contains(err.Error(), "unknown version") {
		t.Errorf("%q does not say that the version is unknown", err)
	}
}

// A CLI of unknown version that answers what it does not know is asked for what
// newer versions have.
func TestFitLeast(t *testing.T) {
	request := func(body string) string {
		return `{"type":"control_request","request_id":"r1","request":` + body + `}`
	}
	least := FeatureOf(FeatureBehavior, "unknown_request_answered").Since
	tests := []struct {
		name              string
		line              string
		unknown, answered bool // is it sent if nothing is known, and if least is
	}{
		{"always there", request(`{"subtype":"interrupt"}`), true, true},
		{"newer", request(`{"subtype":"get_context_usage"}`), false, true},
		{"newest", request(`{"subtype":"list_models"}`), false, true},
		{"brand new", request(`{"subtype":"brand_new"}`), false, true},
		{"of no version", request(`{"subtype":"set_color","color":"red"}`), false, false},
		{"a line that is newer", `{"type":"user","client_composed":true,"message":{"role":"user","content":"hi"}}`, false, false},
		{"an answer that is newer", `{"type":"control_response","response":{"subtype":"success","request_id":"r","response":{"behavior":"allow"}}}`, false, false},
		{"not valid", request(`{"subtype":"rename_session"}`), false, false},
	}
	for _, tt := range tests {
		for v, want := range map[Version]bool{{}: tt.unknown, least: tt.answered} {
			_, _, err := FitLeast([]byte(tt.line), v)
			if (err == nil) != want {
				t.Errorf("%s, at least %s: %v", tt.name, v, err)
			}
		}
		// What is known to be that version is not asked.
		if _, _, err := Fit([]byte(tt.line), Version{2, 1, 37}); (err == nil) != tt.unknown {
			t.Errorf("%s in 2.1.37: %v", tt.name, err)
		}
	}
	_, _, err := FitLeast([]byte(request(`{"subtype":"list_models"}`)), Version{})
	if err == nil || !strings.Contains(err.Error(), "a CLI of unknown version, only since") {
		t.Errorf("got %v", err)
	}
}

func TestLeastVersion(t *testing.T) {
	pid, agents := FeatureOf(FeatureAnswer, "pid").Since, FeatureOf(FeatureAnswer, "agents").Since
	for _, tt := range []struct {
		answer InitializeAnswer
		want   Version
	}{
		{InitializeAnswer{}, Version{}},
		{InitializeAnswer{PID: 7}, pid},
		{InitializeAnswer{PID: 7, Agents: []AgentInfo{}}, agents},
	} {
		if got := LeastVersion(&tt.answer); got != tt.want {
			t.Errorf("%+v: %s, want %s", tt.answer, got, tt.want)
		}
	}
}
