package journal_test

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/journal/journaltest"
)

// An image is what is on disk of a journal when its process is killed.
type image struct {
	files    map[string][]byte
	sessions map[string]int // how many entries were committed
}

// takeImage reads the files of a journal that is open and at rest. Without a
// search index nothing but the log and its index tell what was written.
func takeImage(t *testing.T, dir string, index bool, sessions map[string]int) *image {
	t.Helper()
	im := &image{files: map[string][]byte{}, sessions: sessions}
	names := []string{"journal.db", "journal.db-wal", "journal.db-shm", "lock"}
	if index {
		names = append(names, "search.db", "search.db-wal", "search.db-shm")
	}
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		im.files[name] = content
	}
	return im
}

// checkpoint copies the whole log into the journal. A reader, such as the search
// index, may be in the way for a moment: then only a part is copied.
func checkpoint(t *testing.T, dir string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for ; ; <-tick.C { // nothing tells when the reader is done
		var busy, frames, copied int
		if err := db.QueryRowContext(t.Context(), "PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &frames, &copied); err != nil {
			t.Fatal(err)
		}
		if busy == 0 && copied == frames {
			return
		}
	}
}

// write puts the files into a new folder, some of them changed. A file that is
// changed to nil is left out.
func (im *image) write(t *testing.T, changed map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range im.files {
		if c, ok := changed[name]; ok {
			content = c
		}
		if content == nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// restarted is the lock of a process that ran before the machine was started.
func restarted() map[string][]byte {
	return map[string][]byte{"lock": []byte("1\nanother boot\n")}
}

// reopen opens a folder and says how many entries are missing, and whether anybody
// was told: by an error, or by a loss that is on record.
func (im *image) reopen(t *testing.T, dir string) (missing int, told string) {
	t.Helper()
	j, err := journal.Open(t.Context(), dir, nil)
	if refused, ok := errors.AsType[*journal.FileError](err); ok && strings.Contains(refused.Reason, "damaged") && strings.Contains(refused.Hint, "--journal=new") {
		return 0, refused.Error()
	}
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	defer closed(t, j)
	for id, want := range im.sessions {
		missing += want - count(t, j, id)
	}
	sound(t, j)
	for _, loss := range j.Losses() {
		told += loss.String()
	}
	return missing, told
}

// busyImage writes sessions in many transactions, so that the log holds a
// generation that was begun over an older one.
func busyImage(t *testing.T, index bool) *image {
	t.Helper()
	dir := t.TempDir()
	j := open(t, dir, journal.WithCheckpoints(journal.Options{}, 1<<40))
	sessions := map[string]int{}
	batch := func(id string, entries int) {
		b := journaltest.NewSession(id, entries)
		b.After = int64(sessions[id])
		for i := range b.Entries {
			b.Entries[i].Line = fmt.Appendf(nil, `{"type":"user","message":{"content":"word%d %s"}}`, b.After+int64(i), strings.Repeat("x", 700))
		}
		commit(t, j, b)
		sessions[id] += entries
	}
	for i := range 30 {
		batch(fmt.Sprintf("old%d", i%3), 3)
	}
	// The next transaction begins the log again.
	checkpoint(t, dir)
	for i := range 12 {
		batch(fmt.Sprintf("s%d", i%2), 2)
	}
	if index {
		journaltest.SearchFor(t, j, journal.SearchQuery{Text: "word11", Session: "s1"}, func(p journal.SearchPage) bool { return len(p.Hits) == 1 })
	}
	return takeImage(t, dir, index, sessions)
}

// frames returns the offsets at which the transactions of the log's generation end.
func transactions(log []byte) (ends []int) {
	const header, frame = 32, 24 + 4096
	for at := header; at+frame <= len(log) && string(log[at+8:at+16]) == string(log[16:24]); at += frame {
		if binary.BigEndian.Uint32(log[at+4:]) != 0 {
			ends = append(ends, at+frame)
		}
	}
	return ends
}

// TestLogDamaged damages the write-ahead log of a killed process at random. Either
// everything is there, or it is said that something is not.
func TestLogDamaged(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	rounds := 40
	if os.Getenv("SWITCHBOARD_SOAK") != "" {
		rounds = 3000
	}
	im := busyImage(t, false)
	ends := transactions(im.files["journal.db-wal"])
	if len(ends) < 10 {
		t.Fatalf("the log has %d transactions", len(ends))
	}
	silent, told := 0, 0
	for range rounds {
		log := slices.Clone(im.files["journal.db-wal"])
		from := random.IntN(ends[len(ends)-1])
		length := 1 + random.IntN(1<<uint(random.IntN(15)))
		what := ""
		switch random.IntN(4) {
		case 0:
			what = "one bit"
			log[from] ^= 1 << uint(random.IntN(8))
			length = 1
		case 1:
			what = "zeros"
			clear(log[from:min(from+length, len(log))])
		case 2:
			what = "garbage"
			for i := from; i < min(from+length, len(log)); i++ {
				log[i] = byte(random.Uint32())
			}
		case 3:
			what = "cut off"
			log = log[:from]
			length = len(im.files["journal.db-wal"]) - from
		}
		changed := map[string][]byte{"journal.db-wal": log}
		reboot := random.IntN(2) == 0
		if reboot {
			changed["lock"] = restarted()["lock"]
		}
		dir := im.write(t, changed)
		missing, said := im.reopen(t, dir)
		if said != "" {
			told++
		} else {
			silent++
		}
		// After a start of the machine the end of the log may be missing: that is what
		// a power cut does, and nothing can tell.
		tail := reboot && (from >= ends[len(ends)-2] || what == "cut off" || from+length >= ends[len(ends)-1])
		if missing > 0 && said == "" && !tail {
			t.Errorf("%s at %d, %d bytes (%v): %d entries are missing without a word", what, from, length, reboot, missing)
		}
	}
	t.Logf("%d times it was said, %d times there was nothing to say", told, silent)
}

// TestLogHole damages one frame in the middle of the log: the loss is said, recorded,
// and said again by the next process, and the log is kept as it was found.
func TestLogHole(t *testing.T) {
	im := busyImage(t, false)
	ends := transactions(im.files["journal.db-wal"])
	for name, changed := range map[string]map[string][]byte{"after a kill": {}, "after a power cut": restarted()} {
		t.Run(name, func(t *testing.T) {
			log := slices.Clone(im.files["journal.db-wal"])
			copy(log[ends[5]+100:], "damage")
			changed["journal.db-wal"] = log
			dir := im.write(t, changed)
			missing, told := im.reopen(t, dir)
			if missing == 0 || !strings.Contains(told, "write-ahead log is damaged") {
				t.Fatalf("%d entries are missing: %q", missing, told)
			}
			kept, err := filepath.Glob(filepath.Join(dir, "journal.db.lost-*-wal"))
			if err != nil || len(kept) != 1 || !strings.Contains(told, kept[0]) {
				t.Fatalf("kept: %q (%v)", kept, err)
			}
			if content, err := os.ReadFile(kept[0]); err != nil || string(content) != string(log) {
				t.Errorf("the log that was kept is not the one that was found (%v)", err)
			}
			if _, again := im.reopen(t, dir); again != told {
				t.Errorf("the next process says %q", again)
			}
			in, err := journal.Inspect(t.Context(), dir)
			if err != nil || len(in.Lost) != 1 || in.Lost[0] != told {
				t.Errorf("Inspect: %+v, %v", in, err)
			}
			later := journal.Options{Now: func() time.Time { return time.Now().Add(31 * 24 * time.Hour) }}
			j := open(t, dir, &later)
			if l := j.Losses(); len(l) > 0 {
				t.Errorf("a month later: %v", l)
			}
		})
	}
}

// TestLogInspected looks at a damaged log before any process opens it; that changes
// nothing, so the process finds it as well.
func TestLogInspected(t *testing.T) {
	im := busyImage(t, false)
	ends := transactions(im.files["journal.db-wal"])
	log := slices.Clone(im.files["journal.db-wal"])
	clear(log[ends[len(ends)-2]:]) // the last transaction, which nothing follows
	dir := im.write(t, map[string][]byte{"journal.db-wal": log})
	in, err := journal.Inspect(t.Context(), dir)
	if err != nil || len(in.Lost) != 1 || !in.Checked || len(in.Wrong) > 0 {
		t.Errorf("Inspect: %+v, %v", in, err)
	}
	if missing, told := im.reopen(t, dir); missing != 2 || told == "" {
		t.Errorf("%d entries are missing: %q", missing, told)
	}
}

// TestLogTail cuts the log off inside of its last transaction, as a crash does: that
// was not promised to anybody.
func TestLogTail(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, journal.WithCheckpoints(journal.Options{}, 1<<40))
	commit(t, j, journaltest.NewSession("s", 3))
	im := takeImage(t, dir, false, map[string]int{"s": 3})
	b := journaltest.NewSession("s", 40)
	b.After = 3
	commit(t, j, b)
	after, err := os.ReadFile(filepath.Join(dir, "journal.db-wal"))
	if err != nil {
		t.Fatal(err)
	}
	// The index on disk is that from before: a transaction is not in it until it was
	// written whole.
	begin := transactions(im.files["journal.db-wal"])
	end := transactions(after)
	first, last := begin[len(begin)-1], end[len(end)-1]
	// From a random place on, at least one in each frame. The long tests try three times as many.
	at, step := first+rand.IntN(3000), 3000
	if os.Getenv("SWITCHBOARD_SOAK") != "" {
		at, step = first, 1000
	}
	for ; at < last; at += step {
		// A frame is written in two steps, into a log that may have been longer.
		log := append(slices.Clone(after[:at]), make([]byte, last-at)...)
		for _, log := range [][]byte{log, log[:at]} {
			if missing, told := im.reopen(t, im.write(t, map[string][]byte{"journal.db-wal": log})); missing != 0 || told != "" {
				t.Fatalf("cut off at %d: %d entries are missing: %q", at, missing, told)
			}
		}
	}
}

// TestLogRolledBack leaves frames of a transaction that was rolled back behind the
// end of the log. They are of the same generation, and nothing that was lost.
func TestLogRolledBack(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, journal.WithCheckpoints(journal.Options{}, 1<<40))
	commit(t, j, journaltest.NewSession("s", 3))
	before, err := os.Stat(filepath.Join(dir, "journal.db-wal"))
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"PRAGMA cache_size = 5", "BEGIN IMMEDIATE",
		"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO meta SELECT 'extra' || i, randomblob(3000) FROM n",
		"UPDATE meta SET value = randomblob(3000) WHERE key LIKE 'extra%'", "ROLLBACK",
	} {
		if _, err := c.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(c.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(filepath.Join(dir, "journal.db-wal"))
	if err != nil || after.Size() < before.Size()+100*4096 {
		t.Fatalf("nothing of the transaction is in the log: %d bytes before, %d after (%v)", before.Size(), after.Size(), err)
	}
	b := journaltest.NewSession("s", 2)
	b.After = 3
	commit(t, j, b)
	for name, changed := range map[string]map[string][]byte{"killed": nil, "restarted": restarted()} {
		im := takeImage(t, dir, false, map[string]int{"s": 5})
		if missing, told := im.reopen(t, im.write(t, changed)); missing != 0 || told != "" {
			t.Errorf("%s: %d entries are missing: %q", name, missing, told)
		}
	}
}

// TestLogGone removes the log: of a process that was killed, and of one that was cut
// off by a restart of the machine, where the search index remembers.
func TestLogGone(t *testing.T) {
	im := busyImage(t, true)
	for name, changed := range map[string]map[string][]byte{"after a kill": {"search.db": nil, "search.db-wal": nil, "search.db-shm": nil}, "after a restart": restarted()} {
		t.Run(name, func(t *testing.T) {
			changed["journal.db-wal"] = nil
			missing, told := im.reopen(t, im.write(t, changed))
			if missing != 24 && !strings.Contains(told, "--journal=new") || told == "" {
				t.Errorf("%d entries are missing: %q", missing, told)
			}
		})
	}
}

// TestLogHalfCopied damages a log of which a checkpoint has copied a part already:
// what is left is no state that the journal was ever in, and is refused.
func TestLogHalfCopied(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir, journal.WithCheckpoints(journal.Options{}, 1<<40))
	for i := range 40 {
		b := journaltest.NewSession("s", 5)
		b.After = int64(5 * i)
		commit(t, j, b)
	}
	checkpoint(t, dir)
	im := takeImage(t, dir, false, map[string]int{"s": 200})
	log := im.files["journal.db-wal"]
	copy(log[transactions(log)[3]+200:], "damage")
	dir = im.write(t, nil)
	if _, err := journal.Open(context.Background(), dir, nil); err == nil || !strings.Contains(err.Error(), "it is damaged (frame") {
		t.Fatalf("Open: %v", err)
	}
	for _, name := range []string{"journal.db", "journal.db-wal"} {
		if content, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(content) != string(im.files[name]) {
			t.Errorf("%s was changed (%v)", name, err)
		}
	}
}
