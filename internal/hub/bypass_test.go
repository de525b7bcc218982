package hub_test

import (
	"context"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/journal"
)

// bypassLines are the lines of a front end that have a CLI ask no more.
var bypassLines = map[string]string{
	"mode":                 `{"type":"control_request","request_id":"x","request":{"subtype":"set_permission_mode","mode":"bypassPermissions"}}`,
	"settings":             `{"type":"control_request","request_id":"x","request":{"subtype":"apply_flag_settings","settings":{"permissions":{"defaultMode":"bypassPermissions"}}}}`,
	"settings, escaped":    `{"type":"control_request","request_id":"x","request":{"subtype":"apply_flag_settings","settings":{"permissions":{"default\u004dode":"bypass\u0050ermissions"}}}}`,
	"settings, the prompt": `{"type":"control_request","request_id":"x","request":{"subtype":"apply_flag_settings","settings":{"skipDangerousModePermissionPrompt":true}}}`,
	"settings in a file":   `{"type":"control_request","request_id":"x","request":{"subtype":"update_settings","source":"userSettings","settings":{"permissions":{"defaultMode":"bypassPermissions"}}}}`,
	"answer":               `{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{"behavior":"allow","updatedInput":{},"updatedPermissions":[{"type":"setMode","mode":"bypassPermissions","destination":"session"}]}}}`,
}

// TestBypassNotLaunched: 2.1.37 obeys every one of these although it was started
// without leave, so that the hub must not send them, whatever rights their sender
// has.
func TestBypassNotLaunched(t *testing.T) {
	for name, line := range bypassLines {
		t.Run(name, func(t *testing.T) {
			s := newStage(newLab(t), "2.1.37")
			s.asks("r1", askBash)
			before := len(s.w.texts())
			select {
			case <-s.w.changed: // of what was sent until now
			default:
			}
			ctx, cancel := context.WithCancel(s.ctx())
			done := make(chan struct{})
			var answer []byte
			var err error
			go func() {
				defer close(done)
				answer, err = s.hub.Submit(ctx, person, s.id, []byte(line), everything)
			}()
			select {
			case <-done:
			case <-s.w.changed: // a request that was sent waits for its answer
				cancel()
				<-done
			}
			cancel()
			if got := s.w.texts(); len(got) != before {
				t.Errorf("the CLI was sent %q", got[before:])
			}
			if refusal := string(answer) + errorText(err); !strings.Contains(refusal, "was started without permission to bypass") {
				t.Errorf("the answer is %s, %v", answer, err)
			}
		})
	}
}

// TestBypassLaunched sends them to a session that was created with leave.
func TestBypassLaunched(t *testing.T) {
	for name, line := range bypassLines {
		if name == "settings, the prompt" || name == "settings in a file" {
			continue // one does not name the mode, the other is not a request of 2.1.120
		}
		t.Run(name, func(t *testing.T) {
			s := newStageOf(newLab(t), "2.1.120", api.SessionOptions{AllowBypass: true})
			s.asks("r1", askBash)
			ctx, cancel := context.WithCancel(s.ctx())
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, _ = s.hub.Submit(ctx, person, s.id, []byte(line), everything) // ends with its context: this CLI does not answer
			}()
			s.written(`ermissions"`)
			cancel()
			<-done
		})
	}
}

// TestSettingsWithoutHooks refuses settings that would keep the hub's hooks from
// running.
func TestSettingsWithoutHooks(t *testing.T) {
	s := newStage(newLab(t), "2.1.120")
	before := len(s.w.texts())
	for _, subtype := range []string{`"apply_flag_settings"`, `"update_settings","source":"localSettings"`} {
		line := `{"type":"control_request","request_id":"x","request":{"subtype":` + subtype + `,"settings":{"disableAllHooks":true}}}`
		answer, err := s.hub.Submit(s.ctx(), person, s.id, []byte(line), everything)
		if err != nil || !strings.Contains(string(answer), "disableAllHooks") || !strings.Contains(string(answer), `"subtype":"error"`) {
			t.Errorf("%s: %s, %v", subtype, answer, err)
		}
	}
	if got := s.w.texts(); len(got) != before {
		t.Errorf("the CLI was sent %q", got[before:])
	}
}

// TestBypassingAgents: the launcher is told of sub-agents that ask for nothing, so
// that it asks for the server's consent, and a Direct Connect program cannot define
// them in a session that was made without leave.
func TestBypassingAgents(t *testing.T) {
	const agents = `{"a":{"description":"d","prompt":"p"},"b":{"description":"d","prompt":"p","permissionMode":"bypassPermissions"}}`
	l := newLab(t)
	if _, err := l.hub.Create(l.ctx(), hub.Actor{Source: journal.SourcePerson, Name: "bo"}, api.CreateSession{Dir: l.dir, Options: api.SessionOptions{Agents: []byte(agents)}}); code(err) != api.CodeForbidden {
		t.Errorf("without the right: %v", err)
	}
	for text, want := range map[string]bool{agents: true, `{"a":{"description":"d","prompt":"p","permissionMode":"plan"}}`: false} {
		created, err := l.hub.Create(l.ctx(), person, api.CreateSession{Dir: l.dir, Options: api.SessionOptions{Agents: []byte(text)}})
		if err != nil {
			t.Fatal(err)
		}
		if got := l.launcher.specOf(created.ID).BypassingAgents; got != want {
			t.Errorf("%s: the launcher is told %v", text, got)
		}
	}
	made, err := l.hub.CreateDirect(l.ctx(), person, api.CreateSession{Dir: l.dir})
	if err != nil {
		t.Fatal(err)
	}
	d, err := l.hub.Join(l.ctx(), made.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Leave()
	answer, err := d.Submit(l.ctx(), person, []byte(`{"type":"control_request","request_id":"i","request":{"subtype":"initialize","agents":`+agents+`}}`), everything)
	if err != nil || !strings.Contains(string(answer), "without permission to bypass") {
		t.Errorf("Direct Connect: %s, %v", answer, err)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
