package hub_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
)

// TestBackup writes a backup, reads the session from it, and looks for what it leaves behind.
func TestBackup(t *testing.T) {
	scratch := t.TempDir()
	l := newLab(t)
	l.report(nil, scratch)
	s := l.create(api.CreateSession{Prompt: "@say hello"})
	l.awaitDone(s.ID, 1)
	// What one has left that was killed.
	if err := os.Mkdir(filepath.Join(scratch, ".backup-old"), 0o700); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := l.reports.Backup(l.ctx(), &out); err != nil {
		t.Fatal(err)
	}
	wantEmpty(t, scratch)

	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "journal.db"), out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}()
	row, err := j.Session(t.Context(), s.ID)
	if err != nil || row.ID != s.ID {
		t.Errorf("the backup has no session %s: %v", s.ID, err)
	}
}

// TestBackupLeft looks for what a backup left that was killed with its hub: the next
// hub removes it, and nothing else, whatever the folder is called.
func TestBackupLeft(t *testing.T) {
	scratch := filepath.Join(t.TempDir(), "a [b*")
	for _, name := range []string{".backup-1", "backup-2", "other"} {
		if err := os.MkdirAll(filepath.Join(scratch, name, "journal.db.part"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(scratch, ".backup-of-somebody"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l := newLab(t)
	l.report(nil, scratch)
	look := func(when string) {
		t.Helper()
		entries, err := os.ReadDir(scratch)
		if err != nil || len(entries) != 3 || entries[0].Name() != ".backup-of-somebody" {
			t.Errorf("%s there is %v, %v", when, entries, err)
		}
	}
	look("at the start")
	var out bytes.Buffer
	if err := l.reports.Backup(l.ctx(), &out); err != nil || out.Len() == 0 {
		t.Errorf("%d bytes, %v", out.Len(), err)
	}
	look("after a backup")
}

// wantEmpty checks that nothing is in a folder.
func wantEmpty(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 0 {
		t.Errorf("%v is left, %v", entries, err)
	}
}

func TestBackupFails(t *testing.T) {
	scratch := t.TempDir()
	var log bytes.Buffer
	l := newLab(t)
	l.report(nil, scratch)
	if err := l.reports.Backup(l.ctx(), &smallDisk{left: 1000}); !errors.Is(err, errFull) {
		t.Errorf("to a full disk: %v", err)
	}
	wantEmpty(t, scratch)
	ctx, cancel := context.WithCancel(l.ctx())
	cancel()
	if err := l.reports.Backup(ctx, &log); !errors.Is(err, context.Canceled) || log.Len() > 0 {
		t.Errorf("for nobody: %v, and %d bytes", err, log.Len())
	}
	wantEmpty(t, scratch)

	l = newLab(t)
	l.report(nil, filepath.Join(scratch, "nowhere"))
	err := l.reports.Backup(l.ctx(), &log)
	if code(err) != api.CodeStorage || strings.Contains(err.Error(), scratch) {
		t.Errorf("to nowhere: %v", err)
	}
}
