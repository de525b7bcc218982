//go:build linux || darwin

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/internal/journal"
)

// Evidence is all that is known of a session when everything is over: what its
// CLI says it wrote and read, and what the journal holds.
type evidence struct {
	// records are those of the session's processes, in the order in which they
	// were started.
	records [][]claudetest.Entry

	entries   []journal.Entry
	commands  []journal.Command
	questions []journal.Question

	dialled bool // the CLI dialled in
	shot    bool // a shim or a CLI was killed on purpose
	// restored says that the journal was replaced by an older copy: it does not
	// know all that the CLI has read.
	restored bool
}

// readRecord reads a record; each process that wrote to it numbers its own
// lines. A last line that was cut off belongs to a process that was killed.
func readRecord(path string) ([][]claudetest.Entry, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	var records [][]claudetest.Entry
	reader := bufio.NewReader(file)
	for {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return records, nil
		}
		if err != nil {
			return nil, err
		}
		var entry claudetest.Entry
		if err := json.Unmarshal(bytes.TrimSpace(line), &entry); err != nil {
			return nil, fmt.Errorf("reading %s: %w", path, err)
		}
		if entry.Number == 1 {
			records = append(records, nil)
		}
		if len(records) == 0 {
			return nil, fmt.Errorf("%s begins with number %d", path, entry.Number)
		}
		records[len(records)-1] = append(records[len(records)-1], entry)
	}
}

// gather reads what the journal holds of a session.
func gather(ctx context.Context, j *journal.SQLite, s *session) (*evidence, error) {
	e := &evidence{dialled: s.dialled, shot: s.shot, restored: s.restored}
	var err error
	if e.records, err = readRecord(s.record); err != nil {
		return nil, err
	}
	for after := int64(0); ; {
		page, err := j.Entries(ctx, s.id, after, 0, 0)
		if err != nil {
			return nil, err
		}
		if len(page) == 0 {
			break
		}
		e.entries = append(e.entries, page...)
		after = page[len(page)-1].Seq
	}
	if e.commands, err = j.Commands(ctx, s.id, false); err != nil {
		return nil, err
	}
	e.questions, err = j.Questions(ctx, journal.QuestionQuery{Session: s.id})
	return e, err
}

// openJournal opens the journal of a hub that does not run.
func (l *lab) openJournal() *journal.SQLite {
	l.t.Helper()
	j, err := journal.Open(l.t.Context(), l.data, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	return j
}

// newestRecord is the record of a session's last process.
func (s *session) newestRecord() ([]claudetest.Entry, error) {
	records, err := readRecord(s.record)
	if err != nil || len(records) == 0 {
		return nil, err
	}
	return records[len(records)-1], nil
}
