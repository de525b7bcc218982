package hub_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
)

// TestEnvironmentSecret sets a variable: its value reaches the agent, and is neither in
// the journal's files nor in anything that a client is shown.
func TestEnvironmentSecret(t *testing.T) {
	const secret = "s3cr3t-0123456789"
	l := newLab(t)
	s := l.create(api.CreateSession{})
	l.awaitState(s.ID, api.StateIdle)
	set := func(variables map[string]string) error { return l.hub.Environment(l.ctx(), person, s.ID, variables) }
	if err := set(map[string]string{"CLAUDE_CODE_OAUTH_TOKEN": secret}); err != nil {
		t.Fatal(err)
	}
	line := `{"type":"update_environment_variables","variables":{"CLAUDE_CODE_SESSION_ACCESS_TOKEN":"` + secret + `"}}`
	if _, err := l.hub.Submit(l.ctx(), person, s.ID, []byte(line), everything); err != nil {
		t.Fatal(err)
	}
	l.await(s.ID, "the agent was sent both", func(*api.Session) bool {
		return strings.Count(strings.Join(l.launcher.of(s.ID).commands(), "\n"), secret) == 2
	})
	shown := 0
	for _, e := range l.events(s.ID) {
		text := string(e.Line) + e.Text + string(e.Data)
		if strings.Contains(text, secret) {
			t.Errorf("an event shows the value: %s", text)
		}
		if strings.Contains(text, `"CLAUDE_CODE_OAUTH_TOKEN":"hidden"`) {
			shown++
		}
	}
	if shown != 1 {
		t.Errorf("%d events show the name, want 1", shown)
	}
	refused := map[string]map[string]string{
		"nothing":          {},
		"the hub's own":    {"SWITCHBOARD_RUN": secret},
		"in small letters": {"switchboard_run": secret},
		"a newer version":  {"LANG": secret},
		"no name":          {"": secret},
		"too long":         {"CLAUDE_CODE_OAUTH_TOKEN": strings.Repeat(secret, 10_000)},
	}
	for name, variables := range refused {
		err := set(variables)
		if code(err) != api.CodeInvalid && code(err) != api.CodeUnsupported || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := l.hub.Submit(l.ctx(), person, s.ID, []byte(`{"type":"update_environment_variables","variables":"`+secret+`"}`), everything); err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("variables that are none: %v", err)
	}
	l.close()
	files, err := filepath.Glob(filepath.Join(l.dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the journal's files: %v, %v", files, err)
	}
	for _, file := range files {
		if raw, err := os.ReadFile(file); err == nil && strings.Contains(string(raw), secret) {
			t.Errorf("%s holds the value", file)
		}
	}
}

// TestSubmitInterruptByAnotherName interrupts a turn as some front ends call it.
func TestSubmitInterruptByAnotherName(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{})
	l.awaitState(s.ID, api.StateIdle)
	l.send(s.ID, `@tool Bash {"command":"make"}`)
	l.awaitState(s.ID, api.StateRequiresAction)
	answer, err := l.hub.Submit(l.ctx(), person, s.ID, []byte(`{"type":"control_request","request_id":"x1","request":{"subtype":"sdk_control_interrupt"}}`), everything)
	if err != nil || !strings.Contains(string(answer), `"subtype":"success","request_id":"x1"`) {
		t.Fatalf("answered %s, %v", answer, err)
	}
	l.awaitState(s.ID, api.StateIdle)
	if sent := strings.Join(l.launcher.of(s.ID).commands(), "\n"); strings.Contains(sent, "sdk_control_interrupt") || !strings.Contains(sent, `"subtype":"interrupt"`) {
		t.Errorf("the agent was sent\n%s", sent)
	}
	l.judge(s.ID)
}
