package v1

import (
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
)

func TestBackup(t *testing.T) {
	r, lab := newHubRig(t)
	lab.Dial(api.CreateSession{})
	res := r.do(t, adminToken, "GET", "/v1/backup", "")
	if got := text(t, res); res.StatusCode != 200 || !strings.HasPrefix(got, "SQLite format 3\x00") {
		t.Errorf("%d %.100q", res.StatusCode, got)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/vnd.sqlite3", "Content-Disposition": `attachment; filename="switchboard-journal.db"`, "X-Content-Type-Options": "nosniff",
	} {
		if got := res.Header.Get(name); got != value {
			t.Errorf("%s: %q, want %q", name, got, value)
		}
	}
	expectProblem(t, r.do(t, observeToken, "GET", "/v1/backup", ""), 403, api.CodeForbidden)
}
