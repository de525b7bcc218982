package journal_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"modernc.org/sqlite"

	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/journal/journaltest"
)

// These benchmarks compare in pairs: a round of ours, a round of the other, and
// so on, so that whatever else the machine does concerns both. The metric
// x-bare is the median of the quotients: how many times the time of SQLite
// itself an append takes, with the same schema and the same transactions, by the
// driver's own statements. x-sql is the same against database/sql, which the
// journal does without, and x-file against a plain file. A median of few rounds
// on a busy machine says little: look at the count.

// benchLine is a line of about 1 KiB.
var benchLine = journaltest.Line(strings.Repeat("lorem ipsum dolor sit amet ", 34))

const benchUUID = "01234567-89ab-cdef-0123-456789abcdef"

// An appender appends a batch of n entries to a session.
type appender func(n int) error

func openBench(b *testing.B, dir string, d journal.Durability) *journal.SQLite {
	b.Helper()
	j, err := journal.Open(b.Context(), dir, &journal.Options{Durability: d})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := j.Close(); err != nil {
			b.Error(err)
		}
	})
	return j
}

// ours appends entries of a kind through the journal.
func ours(b *testing.B, j *journal.SQLite, id, kind string) appender {
	row := &journal.Session{ID: id, Epoch: "e", State: "running", Title: "A title", Dir: "/home/user/project"}
	if _, _, err := j.Commit(b.Context(), &journal.Batch{SessionID: id, Session: row}); err != nil {
		b.Fatal(err)
	}
	return func(n int) error {
		batch := &journal.Batch{SessionID: id, After: row.Seq, Session: row, Entries: make([]journal.Entry, n)}
		now := time.Now()
		for i := range batch.Entries {
			batch.Entries[i] = journal.Entry{Run: 1, Time: now, Source: journal.SourceAgent, Kind: kind, UUID: benchUUID, Line: benchLine}
		}
		row.Updated = now
		_, _, err := j.Commit(context.Background(), batch)
		return err
	}
}

const (
	bareInsert = "INSERT INTO entries (session, pos, seq, run, time, source, who, kind, uuid, line, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	bareUpdate = "UPDATE sessions SET seq = ?, bytes = bytes + ?, updated = ? WHERE n = ?"
)

// bareFile makes a file with the journal's own schema and one session, and
// returns its name for the driver.
func bareFile(b *testing.B, journalFile string, d journal.Durability) string {
	b.Helper()
	name := "file:" + filepath.Join(b.TempDir(), "bare.db") + "?_pragma=journal_mode(wal)&_pragma=synchronous(" + d.String() +
		")&_pragma=wal_autocheckpoint(8000)&_txlock=immediate"
	db, err := sql.Open("sqlite", name)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	for _, statement := range append(schemaOf(b, journalFile), `INSERT INTO sessions
(id, epoch, seq, title, dir, state, model, conversation, run, created, updated, open, cost, ended, archived)
VALUES ('s', 'e', 0, 'A title', '/home/user/project', 'running', '', '', 0, 0, 0, 0, 0, 0, 0)`) {
		if _, err := db.Exec(statement); err != nil {
			b.Fatal(err)
		}
	}
	return name
}

// bare appends with the driver's own statements and nothing between: the least
// that SQLite takes from Go.
func bare(b *testing.B, journalFile string, d journal.Durability) appender {
	b.Helper()
	connector, err := sqlite.NewConnector(bareFile(b, journalFile, d))
	if err != nil {
		b.Fatal(err)
	}
	c, err := connector.Connect(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := c.Close(); err != nil {
			b.Error(err)
		}
	})
	prepare := func(text string) func(...driver.Value) error {
		s, err := c.Prepare(text)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = s.Close() })
		return func(values ...driver.Value) error {
			args := make([]driver.NamedValue, len(values))
			for i, v := range values {
				args[i] = driver.NamedValue{Ordinal: i + 1, Value: v}
			}
			_, err := s.(driver.StmtExecContext).ExecContext(context.Background(), args)
			return err
		}
	}
	begin, commit, insert, update := prepare("BEGIN IMMEDIATE"), prepare("COMMIT"), prepare(bareInsert), prepare(bareUpdate)
	position := int64(0)
	return func(n int) error {
		if err := begin(); err != nil {
			return err
		}
		now := time.Now().UnixNano()
		for range n {
			position++
			if err := insert(int64(1), position, position, int64(1), now, "agent", "", "line", benchUUID, benchLine, nil); err != nil {
				return err
			}
		}
		if err := update(position, int64(n*len(benchLine)), now, int64(1)); err != nil {
			return err
		}
		return commit()
	}
}

// usual appends with database/sql, as most programs do.
func usual(b *testing.B, journalFile string, d journal.Durability) appender {
	b.Helper()
	db, err := sql.Open("sqlite", bareFile(b, journalFile, d))
	if err != nil {
		b.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	b.Cleanup(func() {
		if err := db.Close(); err != nil {
			b.Error(err)
		}
	})
	insert, err := db.Prepare(bareInsert)
	if err != nil {
		b.Fatal(err)
	}
	update, err := db.Prepare(bareUpdate)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _, _ = insert.Close(), update.Close() })
	position := 0
	return func(n int) error {
		tx, err := db.Begin()
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		into, to := tx.Stmt(insert), tx.Stmt(update)
		defer into.Close()
		defer to.Close()
		now := time.Now().UnixNano()
		for range n {
			position++
			if _, err := into.Exec(1, position, position, 1, now, "agent", "", "line", benchUUID, benchLine, nil); err != nil {
				return err
			}
		}
		if _, err := to.Exec(position, n*len(benchLine), now, 1); err != nil {
			return err
		}
		return tx.Commit()
	}
}

// schemaOf returns the statements that make an empty file like this one.
func schemaOf(b *testing.B, file string) []string {
	b.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'")
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	var list []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			b.Fatal(err)
		}
		list = append(list, text)
	}
	if err := rows.Err(); err != nil {
		b.Fatal(err)
	}
	return list
}

// plain appends lines to a file.
func plain(b *testing.B, d journal.Durability) appender {
	b.Helper()
	file, err := os.Create(filepath.Join(b.TempDir(), "plain.ndjson"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { file.Close() })
	return func(n int) error {
		if _, err := file.Write(slices.Repeat(append(benchLine, '\n'), n)); err != nil {
			return err
		}
		if d == journal.DurabilityFull {
			return file.Sync()
		}
		return nil
	}
}

// BenchmarkAppend appends batches of 1, 8 and 64 entries of 1 KiB: as "log" entries
// that are not for the search index, which is the work that bare SQLite does too;
// as "indexed" messages, all of which the index goroutine reads and indexes at the
// same time, which bare SQLite does not do. Both are to be looked at: the first
// is what the journal adds to an append, the second what a hub has.
func BenchmarkAppend(b *testing.B) {
	for _, d := range []journal.Durability{journal.DurabilityNormal, journal.DurabilityFull} {
		for _, size := range []int{1, 8, 64} {
			for _, name := range []string{"log", "indexed"} {
				kind := map[string]string{"log": "event", "indexed": "line"}[name]
				b.Run(fmt.Sprintf("%s/%d/%s", d, size, name), func(b *testing.B) { benchAppend(b, d, size, kind) })
			}
		}
	}
}

func benchAppend(b *testing.B, d journal.Durability, size int, kind string) {
	dir := b.TempDir()
	j := openBench(b, dir, d)
	file := filepath.Join(dir, "journal.db")
	candidates := []appender{ours(b, j, "s", kind), bare(b, file, d), usual(b, file, d), plain(b, d)}
	perRound := max(16/size, 2)
	var rounds [4][]float64
	for i := 0; b.Loop(); i++ {
		for k := range candidates {
			k = (k + i) % len(candidates) // nobody is always first
			begin := time.Now()
			for range perRound {
				if err := candidates[k](size); err != nil {
					b.Fatal(err)
				}
			}
			rounds[k] = append(rounds[k], float64(time.Since(begin).Nanoseconds())/float64(perRound*size))
		}
	}
	b.ReportMetric(median(rounds[0]), "ns/entry")
	b.ReportMetric(medianQuotient(rounds[0], rounds[1]), "x-bare")
	b.ReportMetric(medianQuotient(rounds[0], rounds[2]), "x-sql")
	b.ReportMetric(medianQuotient(rounds[0], rounds[3]), "x-file")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkGroupCommit has sessions append one entry at a time, side by side.
func BenchmarkGroupCommit(b *testing.B) {
	for _, d := range []journal.Durability{journal.DurabilityNormal, journal.DurabilityFull} {
		for _, sessions := range []int{1, 16, 200} {
			b.Run(fmt.Sprintf("%s/%d", d, sessions), func(b *testing.B) {
				j := openBench(b, b.TempDir(), d)
				var list []appender
				for i := range sessions {
					list = append(list, ours(b, j, fmt.Sprintf("s%d", i), "line"))
				}
				var left atomic.Int64
				left.Store(int64(b.N))
				b.ResetTimer()
				var wg sync.WaitGroup
				for _, add := range list {
					wg.Go(func() {
						for left.Add(-1) >= 0 {
							if err := add(1); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				wg.Wait()
			})
		}
	}
}

func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

func medianQuotient(a, b []float64) float64 {
	var list []float64
	for i := range a {
		list = append(list, a[i]/b[i])
	}
	return median(list)
}

// fill writes sessions with some entries each, many at a time.
func fill(b *testing.B, j *journal.SQLite, sessions, entries int, kind string, line func(session, entry int) []byte) {
	b.Helper()
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= sessions {
					return
				}
				now := begin.Add(time.Duration(i) * time.Second)
				id := fmt.Sprintf("s%08d", i)
				row := &journal.Session{
					ID: id, Epoch: "e", Title: fmt.Sprintf("Task number %d", i), Dir: fmt.Sprintf("/home/user/project%d", i%50), State: "ended",
					Created: now, Updated: now, Ended: now, Data: []byte(`{"options":{"model":"some-model","permission_mode":"default"},"summary":"` + strings.Repeat("x", 200) + `"}`),
				}
				if i%1000 == 0 {
					row.State = "running"
				}
				for after := 0; after < entries || after == 0; after += 1000 {
					batch := &journal.Batch{SessionID: id, After: int64(after), Session: row}
					for k := after; k < min(entries, after+1000); k++ {
						batch.Entries = append(batch.Entries, journal.Entry{Time: now, Source: journal.SourceAgent, Kind: kind, UUID: benchUUID, Line: line(i, k)})
					}
					if _, _, err := j.Commit(context.Background(), batch); err != nil {
						b.Error(err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
}

// BenchmarkReplay reads all entries of one session, page by page. They are not for
// the search index, which would otherwise still be busy with them. That ten times
// the entries take about ten times the time shows in ns/entry.
func BenchmarkReplay(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			j := openBench(b, b.TempDir(), journal.DurabilityNormal)
			fill(b, j, 1, n, "event", func(int, int) []byte { return benchLine })
			for b.Loop() {
				got := 0
				for after := int64(0); ; {
					list, err := j.Entries(b.Context(), "s00000000", after, 0, 0)
					if err != nil {
						b.Fatal(err)
					}
					if len(list) == 0 {
						break
					}
					got += len(list)
					after = list[len(list)-1].Seq
				}
				if got != n {
					b.Fatalf("read %d entries of %d", got, n)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/entry")
		})
	}
}

// BenchmarkSessions lists a page of 100 out of many sessions.
func BenchmarkSessions(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			j := openBench(b, b.TempDir(), journal.DurabilityNormal)
			fill(b, j, n, 0, "", nil)
			middle, err := j.Sessions(b.Context(), journal.SessionQuery{Limit: 1000})
			for range n / 2000 {
				if err == nil {
					middle, err = j.Sessions(b.Context(), journal.SessionQuery{Limit: 1000, Cursor: middle.Next})
				}
			}
			if err != nil {
				b.Fatal(err)
			}
			for _, test := range []struct {
				name  string
				query journal.SessionQuery
			}{
				{"first", journal.SessionQuery{}},
				{"middle", journal.SessionQuery{Cursor: middle.Next}},
				{"state", journal.SessionQuery{States: []string{"running", "idle"}}},
				{"folder", journal.SessionQuery{Dir: "/home/user/project7"}},
				{"text", journal.SessionQuery{Text: "number 77"}},
				{"nothing", journal.SessionQuery{Text: "no such thing"}},
			} {
				b.Run(test.name, func(b *testing.B) {
					for b.Loop() {
						if _, err := j.Sessions(b.Context(), test.query); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		})
	}
}

// BenchmarkSearch asks for the first page out of many lines.
func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			j := openBench(b, b.TempDir(), journal.DurabilityNormal)
			begin := time.Now()
			fill(b, j, n/1000, 1000, "line", func(session, entry int) []byte {
				text := fmt.Sprintf("common text with %s and %s, line %d", word(session*1000+entry), word(entry), entry)
				if session == 3 && entry == 5 {
					text += " needle"
				}
				return journaltest.Line(text)
			})
			filled := time.Since(begin)
			last := journaltest.NewSession("last", 0)
			last.Entries = []journal.Entry{{Kind: "line", Line: journaltest.Line("thelastone")}}
			if _, _, err := j.Commit(b.Context(), last); err != nil {
				b.Fatal(err)
			}
			journaltest.SearchFor(b, j, journal.SearchQuery{Text: "thelastone"}, func(p journal.SearchPage) bool { return len(p.Hits) == 1 })
			b.Logf("writing took %v, until all was indexed %v", filled, time.Since(begin))
			for _, test := range []struct {
				name  string
				query journal.SearchQuery
			}{
				{"common", journal.SearchQuery{Text: "common"}},
				{"two-common", journal.SearchQuery{Text: "common text"}},
				{"phrase", journal.SearchQuery{Text: `"common text"`}},
				{"rare", journal.SearchQuery{Text: "needle"}},
				{"common-and-rare", journal.SearchQuery{Text: "common needle"}},
				{"prefix", journal.SearchQuery{Text: "com*"}},
				{"session", journal.SearchQuery{Text: "common", Session: "s00000003"}},
				{"nothing", journal.SearchQuery{Text: "absent"}},
			} {
				b.Run(test.name, func(b *testing.B) {
					for b.Loop() {
						if _, err := j.Search(b.Context(), test.query); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		})
	}
}

// word returns one of some ten thousand made-up words.
func word(seed int) string {
	r := rand.New(rand.NewPCG(uint64(seed)%10_000, 1))
	letters := make([]byte, 6)
	for i := range letters {
		letters[i] = byte('a' + r.IntN(26))
	}
	return string(letters)
}

// BenchmarkScanLog reads the log of a process that was killed, as opening does.
func BenchmarkScanLog(b *testing.B) {
	dir := b.TempDir()
	j, err := journal.Open(b.Context(), dir, journal.WithCheckpoints(journal.Options{}, 1<<40))
	if err != nil {
		b.Fatal(err)
	}
	for i := range int64(40) {
		batch := journaltest.NewSession("s", 400)
		batch.After = 400 * i
		for k := range batch.Entries {
			batch.Entries[k].Line = benchLine
		}
		if _, _, err := j.Commit(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	path := filepath.Join(dir, "journal.db-wal")
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	for b.Loop() {
		if frames, err := journal.ScanLog(path); err != nil || frames != (info.Size()-32)/(24+4096) {
			b.Fatalf("%d frames in %d bytes, %v", frames, info.Size(), err)
		}
	}
	if err := j.Close(); err != nil {
		b.Fatal(err)
	}
}
