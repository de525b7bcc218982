//go:build linux || darwin

package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/wire"
)

// TestMetrics holds that a hub tells what it does, to those who may look, and
// nothing of what it is about.
func TestMetrics(t *testing.T) {
	t.Parallel()
	a := newAssault(t, nil)
	looks := a.mint("looks", wire.ScopeObserve)
	prompts := a.mint("prompts", wire.ScopePrompt)
	status, content := a.ask(http.MethodGet, "/metrics", prompts.Text, nil)
	a.refuses("without observe", status, content, http.StatusForbidden)
	var told string
	// A request is counted when it has been answered.
	if err := eventually(patience, func() error {
		status, content := a.ask(http.MethodGet, "/metrics", looks.Text, nil)
		told = string(content)
		lines := strings.Split(told, "\n")
		for _, want := range []string{
			`switchboard_sessions{state="idle"} 1`, `switchboard_questions_open{kind="permission"} 0`, `switchboard_sessions_loaded 1`,
			`switchboard_http_requests_total{method="POST",route="POST /v1/sessions/{id}/messages",status="202"} 1`,
			`switchboard_http_requests_total{method="GET",route="GET /metrics",status="403"} 1`,
		} {
			if status != http.StatusOK || !slices.Contains(lines, want) {
				return fmt.Errorf("status %d, and no line %s", status, want)
			}
		}
		return nil
	}); err != nil {
		t.Errorf("%v in:\n%s", err, told)
	}
	for _, name := range []string{"switchboard_commit_seconds_count", "switchboard_show_lag_seconds_count", `switchboard_lines_total{kind="line"}`, `switchboard_lines_total{kind="sent"}`, `switchboard_drift{kind="type"}`, "go_goroutines"} {
		at := strings.Index(told, "\n"+name+" ")
		if at < 0 || !strings.HasPrefix(name, "switchboard_drift") && strings.HasPrefix(told[at+1:], name+" 0\n") {
			t.Errorf("%s is missing, or 0", name)
		}
	}
	for _, secret := range []string{a.s.id, a.s.dir, looks.Text, prompts.Text, "zeroth"} {
		if strings.Contains(told, secret) {
			t.Errorf("%q is told", secret)
		}
	}
}
