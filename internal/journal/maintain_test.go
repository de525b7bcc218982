package journal_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/journal/journaltest"
)

// long returns a session whose second entry is too long for the database.
func long(id string, fill byte) *journal.Batch {
	b := journaltest.NewSession(id, 3)
	b.Entries[1].Line = bytes.Repeat([]byte{fill}, 1<<20+1)
	return b
}

// blobs lists the files of long lines.
func blobs(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(filepath.Join(dir, "blobs"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			list = append(list, path)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return list
}

func TestLongLineFiles(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, nil)
	commit(t, j, long("a", 'x'))
	commit(t, j, long("b", 'x'))
	commit(t, j, long("c", 'y'))
	if n := len(blobs(t, dir)); n != 2 {
		t.Errorf("three long lines, two of them equal, are in %d files", n)
	}
	for i, id := range []string{"a", "c", "b"} {
		if err := j.Delete(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if n, want := len(blobs(t, dir)), []int{2, 1, 0}[i]; n != want {
			t.Errorf("after session %s was removed there are %d files, not %d", id, n, want)
		}
	}
	// A batch that is refused leaves its file, until the next time.
	b := long("a", 'z')
	b.After = 7
	if _, _, err := j.Commit(t.Context(), b); !errors.Is(err, journal.ErrConflict) {
		t.Fatal(err)
	}
	if n := len(blobs(t, dir)); n != 1 {
		t.Errorf("a batch that was refused left %d files", n)
	}
	commit(t, j, long("d", 'd'))
	closed(t, j)
	stray := filepath.Join(dir, "blobs", "ab", ".part-1")
	if err := os.MkdirAll(filepath.Dir(stray), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(stray, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	j = open(t, dir, nil)
	if list := blobs(t, dir); len(list) != 1 {
		t.Errorf("after opening it again there are %v", list)
	}
	if n := count(t, j, "d"); n != 3 {
		t.Errorf("there are %d entries", n)
	}
}

func TestLongLineDamage(t *testing.T) {
	tests := []struct {
		name   string
		damage func(path string) error
	}{
		{"missing", os.Remove},
		{"shorter", func(path string) error { return os.Truncate(path, 100) }},
		{"changed", func(path string) error { return os.WriteFile(path, bytes.Repeat([]byte("y"), 1<<20+1), 0o600) }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			j := open(t, dir, nil)
			commit(t, j, long("s", 'x'))
			path := blobs(t, dir)[0]
			if err := test.damage(path); err != nil {
				t.Fatal(err)
			}
			_, err := j.Entries(t.Context(), "s", 0, 0, 0)
			var file *journal.FileError
			if !errors.As(err, &file) || file.Path != path {
				t.Errorf("Entries: %v", err)
			}
			wrong, err := j.Check(t.Context())
			if err != nil || len(wrong) != 1 || !strings.Contains(wrong[0], filepath.Base(path)) {
				t.Errorf("Check: %q, %v", wrong, err)
			}
			// The others can still be read.
			if list, err := j.Entries(t.Context(), "s", 2, 0, 0); err != nil || len(list) != 1 {
				t.Errorf("Entries after it: %d, %v", len(list), err)
			}
		})
	}
}

func TestCheckFindsHoles(t *testing.T) {
	tests := []struct{ name, damage, want string }{
		{"in the middle", "DELETE FROM entries WHERE seq = 2", "session s should have the entries 1 to 3, but has 2, from 1 to 3"},
		{"at the end", "DELETE FROM entries WHERE seq = 3", "session s should have the entries 1 to 3, but has 2, from 1 to 2"},
		{"all", "DELETE FROM entries", "session s should have the entries 1 to 3, but has 0"},
		{"too many", "UPDATE sessions SET seq = 2", "session s should have the entries 1 to 2, but has 3"},
		{"nobody's", "UPDATE entries SET session = 99 WHERE seq = 3; UPDATE sessions SET seq = 2", "1 entries belong to a session that does not exist"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			j := open(t, dir, nil)
			commit(t, j, journaltest.NewSession("s", 3))
			closed(t, j)
			sqlExec(t, filepath.Join(dir, "journal.db"), test.damage)
			j = open(t, dir, nil)
			wrong, err := j.Check(t.Context())
			if err != nil || len(wrong) != 1 || !strings.Contains(wrong[0], test.want) {
				t.Errorf("Check: %q, %v", wrong, err)
			}
		})
	}
}

func TestBackupRestored(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, nil)
	b := long("s", 'x')
	commit(t, j, b)
	commit(t, j, long("t", 'y'))
	file := filepath.Join(t.TempDir(), "backup.db")
	if err := j.Backup(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	later := journaltest.NewSession("s", 1)
	later.After = 3
	commit(t, j, later)
	if err := j.Delete(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	journaltest.SearchFor(t, j, journal.SearchQuery{Text: "entry", Session: "s"}, func(p journal.SearchPage) bool { return len(p.Hits) == 3 })
	closed(t, j)
	// Put in the place of the journal: it is as it was, and the index follows.
	if err := os.Rename(file, filepath.Join(dir, "journal.db")); err != nil {
		t.Fatal(err)
	}
	j = open(t, dir, nil)
	if count(t, j, "s") != 3 || count(t, j, "t") != 3 {
		t.Errorf("the sessions have %d and %d entries", count(t, j, "s"), count(t, j, "t"))
	}
	list, err := j.Entries(t.Context(), "t", 1, 1, 0)
	if err != nil || len(list) != 1 || len(list[0].Line) != 1<<20+1 {
		t.Errorf("the long line: %d entries, %v", len(list), err)
	}
	sound(t, j)
	for id, want := range map[string]int{"s": 2, "t": 2} {
		journaltest.SearchFor(t, j, journal.SearchQuery{Text: "entry", Session: id}, func(p journal.SearchPage) bool { return len(p.Hits) == want })
	}
	closed(t, j)
	var carried int
	db, err := sql.Open("sqlite", filepath.Join(dir, "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow("SELECT count(*) FROM carried").Scan(&carried); err != nil || carried != 0 {
		t.Errorf("%d long lines are still in the database (%v)", carried, err)
	}
}

func TestBackupFails(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, nil)
	commit(t, j, long("s", 'x'))
	target := t.TempDir()
	if err := os.Remove(blobs(t, dir)[0]); err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, err := range map[string]error{
		"a long line is missing": j.Backup(t.Context(), filepath.Join(target, "a")),
		"no such folder":         j.Backup(t.Context(), filepath.Join(target, "none", "a")),
		"cancelled":              j.Backup(cancelled, filepath.Join(target, "a")),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if left, err := os.ReadDir(target); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

// TestRemovalGoesOn removes a session in a process that ends before all its
// traces are gone; the next one finishes that.
func TestRemovalGoesOn(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, nil)
	commit(t, j, journaltest.NewSession("s", 3))
	commit(t, j, journaltest.NewSession("t", 3))
	journaltest.SearchFor(t, j, journal.SearchQuery{Text: "entry"}, func(p journal.SearchPage) bool { return len(p.Hits) == 6 })
	closed(t, j)
	file := filepath.Join(dir, "journal.db")
	sqlExec(t, file, "INSERT INTO removed SELECT n FROM sessions WHERE id = 's'; DELETE FROM sessions WHERE id = 's'")
	j = open(t, dir, nil)
	if page, err := j.Search(t.Context(), journal.SearchQuery{Text: "entry"}); err != nil || len(page.Hits) != 3 {
		t.Errorf("Search: %d hits, %v", len(page.Hits), err)
	}
	sound(t, j)
	// A removal is finished before anything new is indexed.
	commit(t, j, journaltest.NewSession("u", 1))
	journaltest.SearchFor(t, j, journal.SearchQuery{Text: "entry", Session: "u"}, func(p journal.SearchPage) bool { return len(p.Hits) == 1 })
	closed(t, j)
	for _, query := range []string{"SELECT count(*) FROM entries WHERE session NOT IN (SELECT n FROM sessions)", "SELECT count(*) FROM removed"} {
		db, err := sql.Open("sqlite", file)
		if err != nil {
			t.Fatal(err)
		}
		var n int
		if err := errors.Join(db.QueryRow(query).Scan(&n), db.Close()); err != nil || n != 0 {
			t.Errorf("%s: %d, %v", query, n, err)
		}
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "search.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var n int
	if err := db.QueryRow("SELECT count(*) FROM messages WHERE messages MATCH 'entry'").Scan(&n); err != nil || n != 4 {
		t.Errorf("the index has %d texts, not 4 (%v)", n, err)
	}
}

// TestPositionsAfterRemoval removes the newest session and opens the journal
// again: its positions are still not given out a second time.
func TestPositionsAfterRemoval(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, nil)
	commit(t, j, journaltest.NewSession("s", 2))
	commit(t, j, journaltest.NewSession("t", 3))
	if err := j.Delete(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	closed(t, j)
	j = open(t, dir, nil)
	if last, err := j.LastPosition(t.Context()); err != nil || last != 5 {
		t.Errorf("the position is %d (%v)", last, err)
	}
	b := journaltest.NewSession("u", 1)
	commit(t, j, b)
	if b.Entries[0].Position != 6 {
		t.Errorf("position %d was given out twice", b.Entries[0].Position)
	}
}

func TestManyEntriesRemoved(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, nil)
	b := journaltest.NewSession("s", 0)
	b.Entries = make([]journal.Entry, 2100) // more than go in one transaction
	commit(t, j, b)
	commit(t, j, journaltest.NewSession("t", 1))
	if err := j.Delete(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	list, err := j.EntriesByPosition(t.Context(), 0, 0, 0)
	if err != nil || len(list) != 1 || list[0].Session != "t" {
		t.Errorf("left are %d entries (%v)", len(list), err)
	}
	sound(t, j)
}

// TestIndexMadeAnew has the search index missing, damaged, of another version,
// of another journal.
func TestIndexMadeAnew(t *testing.T) {
	tests := []struct {
		name   string
		damage func(t *testing.T, file string) error
	}{
		{"missing", func(_ *testing.T, file string) error { return os.Remove(file) }},
		{"no database", func(_ *testing.T, file string) error { return os.WriteFile(file, []byte("nonsense"), 0o600) }},
		{"damaged", func(t *testing.T, file string) error {
			info, err := os.Stat(file)
			if err == nil {
				write(t, file, 4096, []byte(strings.Repeat("\xa5", int(info.Size())-4096)))
			}
			return err
		}},
		{"another version", func(t *testing.T, file string) error {
			sqlExec(t, file, "PRAGMA user_version = 99")
			return nil
		}},
		{"another journal", func(t *testing.T, file string) error {
			sqlExec(t, file, "UPDATE meta SET value = 'other' WHERE key = 'id'")
			return nil
		}},
		{"ahead", func(t *testing.T, file string) error {
			sqlExec(t, file, "UPDATE meta SET value = 1000 WHERE key = 'position'")
			return nil
		}},
		{"behind", func(t *testing.T, file string) error {
			sqlExec(t, file, "UPDATE meta SET value = 2 WHERE key = 'position'; DELETE FROM messages WHERE rowid > 2")
			return nil
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			j := open(t, dir, nil)
			commit(t, j, journaltest.NewSession("s", 4))
			all := func(p journal.SearchPage) bool { return len(p.Hits) == 4 }
			journaltest.SearchFor(t, j, journal.SearchQuery{Text: "entry"}, all)
			closed(t, j)
			if err := test.damage(t, filepath.Join(dir, "search.db")); err != nil {
				t.Fatal(err)
			}
			journaltest.SearchFor(t, open(t, dir, nil), journal.SearchQuery{Text: "entry"}, all)
		})
	}
}

// TestFoundOnce looks for prompts and answers that the log has twice.
func TestFoundOnce(t *testing.T) {
	j := open(t, t.TempDir(), nil)
	b := journaltest.NewSession("s", 0)
	add := func(kind, uuid, line string) {
		b.Entries = append(b.Entries, journal.Entry{Kind: kind, UUID: uuid, Line: []byte(line)})
	}
	add("sent", "u1", `{"type":"user","uuid":"u1","message":{"role":"user","content":"please explain"}}`)
	add("line", "u1", `{"type":"user","uuid":"u1","isReplay":true,"message":{"role":"user","content":"please explain"}}`)
	add("line", "u2", `{"type":"user","uuid":"u2","isReplay":true,"message":{"role":"user","content":"please, from elsewhere"}}`)
	add("line", "u3", string(journaltest.Line("the answer")))
	add("line", "u4", `{"type":"result","subtype":"success","result":"the answer","uuid":"u4"}`)
	add("line", "u5", `{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["a strange failure"],"uuid":"u5"}`)
	add("line", "u6", `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"output of a tool"},{"type":"image","source":{"type":"base64","data":"please"}}]}}`)
	add("line", "u7", `{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"secretthought"},{"type":"tool_use","id":"t","name":"Bash","input":{"command":"secretcommand"}}]}}`)
	add("state", "", string(journaltest.Line("hubevent")))
	commit(t, j, b)
	commit(t, j, &journal.Batch{SessionID: "s", After: b.Session.Seq, Entries: []journal.Entry{{Kind: "line", Line: journaltest.Line("theend")}}})
	journaltest.SearchFor(t, j, journal.SearchQuery{Text: "theend"}, func(p journal.SearchPage) bool { return len(p.Hits) == 1 })
	for text, want := range map[string]string{
		"please": "[3 1]", "answer": "[4]", "strange": "[6]", "tool": "[7]", "secretthought": "[]", "secretcommand": "[]", "hubevent": "[]",
	} {
		page, err := j.Search(t.Context(), journal.SearchQuery{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		got := []int64{}
		for _, hit := range page.Hits {
			got = append(got, hit.Seq)
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%q was found in the entries %v, expected %s", text, got, want)
		}
	}
}

// TestLogIsMerged writes much more than the write-ahead log is meant to hold, and
// looks that it is begun again instead of growing.
func TestLogIsMerged(t *testing.T) {
	dir := t.TempDir()
	const pages = 100
	j := open(t, dir, journal.WithCheckpoints(journal.Options{}, pages))
	b := journaltest.NewSession("s", 1)
	b.Entries[0].Line = bytes.Repeat([]byte("x"), 200_000)
	b.Entries[0].Kind = "x" // not for the index, whose reading would keep the log
	size := func() int64 {
		t.Helper()
		info, err := os.Stat(filepath.Join(dir, "journal.db-wal"))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	// It is merged beside the writing, which may be faster for a while on a machine that has much to do.
	grew := int64(0)
	for range 5 {
		before := size()
		for range 100 { // 20 MB
			commit(t, j, b)
			b.After = b.Session.Seq
		}
		if grew = size() - before; grew <= 10<<20 {
			break
		}
	}
	if grew > 10<<20 {
		t.Errorf("the write-ahead log has %d bytes, and grows", size())
	}
	closed(t, j)
	if _, err := os.Stat(filepath.Join(dir, "journal.db-wal")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the write-ahead log is left: %v", err)
	}
}
