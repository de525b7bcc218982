package journaltest

import (
	"context"
	"database/sql"
	_ "embed"
	"os"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite" // registers the driver
)

//go:embed testdata/v1.sql
var oldSchema string

// OldEntries is how many entries the session of WriteOld has.
const OldEntries = 3

// WriteOld makes a journal of an older version (1) in a folder, which Open must
// migrate. It has one session, which has ended, with one run, a turn, a
// settled question and OldEntries entries of [Line].
func WriteOld(t testing.TB, dir, session string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	exec := func(text string, args ...any) {
		t.Helper()
		if _, err := db.ExecContext(context.Background(), text, args...); err != nil {
			t.Fatalf("making an old journal: %v", err)
		}
	}
	at := start.UnixNano()
	exec("PRAGMA journal_mode = WAL")
	exec(oldSchema)
	exec("INSERT INTO meta (key, value) VALUES ('id', 'old')")
	exec(`INSERT INTO sessions (n, id, epoch, seq, title, dir, state, model, conversation, run, created, updated, open, cost, ended, archived, data)
VALUES (1, ?1, 'old-epoch', ?2, 'An old session', '/', 'ended', '', 'old-conversation', 1, ?3, ?3, 0, 0.25, ?3, 0, CAST('{}' AS BLOB))`, session, OldEntries, at)
	for i := range OldEntries {
		exec(`INSERT INTO entries (pos, session, seq, run, time, source, who, kind, uuid, line, data) VALUES (?1, 1, ?1, 1, ?2, 'agent', '', 'line', '', ?3, NULL)`,
			i+1, at, OldLine(i+1))
	}
	exec(`INSERT INTO runs (session, run, transport, instance, marker, pid, pid_start, have, next_command, last_uuids, started, ended, reason)
VALUES (1, 1, 'shim', 'i', 'm', 1, '1', ?1, 1, '[]', ?2, ?2, 'it was stopped')`, OldEntries, at)
	exec(`INSERT INTO questions (session, id, run, request_id, kind, state, opened, settled, who, reason, opened_at, settled_at)
VALUES (1, 'old-question', 1, 'r', 'permission', 'answered', 1, 2, 'ada', '', ?1, ?1)`, at)
	exec("INSERT INTO turns (session, run, seq, time, cost) VALUES (1, 1, ?1, ?2, 0.25)", OldEntries, at)
	exec("INSERT INTO conversations (session, conversation) VALUES (1, 'old-conversation')")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// OldLine is the line of an entry of WriteOld.
func OldLine(seq int) []byte { return NewSession("old", seq).Entries[seq-1].Line }

// CheckOld fails the test unless all that WriteOld wrote is in the journal.
func CheckOld(t testing.TB, j Journal, session string) {
	t.Helper()
	ctx := context.Background()
	entries, err := j.Entries(ctx, session, 0, 0, 0)
	if err != nil || len(entries) < OldEntries {
		t.Fatalf("the old session has %d entries (%v)", len(entries), err)
	}
	for i, e := range entries[:OldEntries] {
		if string(e.Line) != string(OldLine(i+1)) || !e.Time.Equal(start) {
			t.Errorf("old entry %d is %s at %v", i+1, e.Line, e.Time)
		}
	}
	row, err := j.SessionByConversation(ctx, "old-conversation")
	if err != nil || row.ID != session || row.CostUSD != 0.25 {
		t.Errorf("the old session is %+v (%v)", row, err)
	}
	if q, err := j.Question(ctx, "old-question"); err != nil || q.State != "answered" {
		t.Errorf("the old question is %+v (%v)", q, err)
	}
	if r, err := j.Run(ctx, session, 1); err != nil || r.Have != OldEntries {
		t.Errorf("the old run is %+v (%v)", r, err)
	}
}
