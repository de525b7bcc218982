package v1

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
)

func TestBackup(t *testing.T) {
	t.Run("whole", func(t *testing.T) {
		r := newRig(t, nil)
		r.hub.export = []string{"SQLite format 3\x00", "and more"}
		res := r.do(t, adminToken, "GET", "/v1/backup", "")
		if got := text(t, res); res.StatusCode != 200 || got != strings.Join(r.hub.export, "") {
			t.Errorf("%d %q", res.StatusCode, got)
		}
		for name, value := range map[string]string{
			"Content-Type": "application/vnd.sqlite3", "Content-Disposition": `attachment; filename="switchboard-journal.db"`, "X-Content-Type-Options": "nosniff",
		} {
			if got := res.Header.Get(name); got != value {
				t.Errorf("%s: %q, want %q", name, got, value)
			}
		}
		if diff := cmp.Diff(call{"Backup", hub.Actor{}, nil}, r.hub.last(t)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("not for everybody", func(t *testing.T) {
		r := newRig(t, nil)
		expectProblem(t, r.do(t, observeToken, "GET", "/v1/backup", ""), 403, api.CodeForbidden)
	})
	t.Run("fails at once", func(t *testing.T) {
		r := newRig(t, nil)
		r.hub.err = api.Errorf(503, api.CodeStorage, "There is no room")
		expectProblem(t, r.do(t, adminToken, "GET", "/v1/backup", ""), 503, api.CodeStorage)
	})
	t.Run("fails on the way", func(t *testing.T) {
		r := newRig(t, nil)
		r.hub.export, r.hub.exportErr = []string{strings.Repeat("x", 1<<20)}, errors.New("secret")
		res := r.do(t, adminToken, "GET", "/v1/backup", "")
		if _, err := io.ReadAll(res.Body); err == nil {
			t.Error("half a backup looks like a whole one")
		}
	})
}
