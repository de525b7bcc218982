package journal_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/switchboard-dev/switchboard/internal/journal"
)

// TestInspect looks at a journal while it is open, after it was closed, and after it was damaged; none of it changes a file.
func TestInspect(t *testing.T) {
	dir := t.TempDir()
	if _, err := journal.Inspect(t.Context(), dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a journal: %v", err)
	}
	j := open(t, dir, nil)
	look := func(when string) *journal.Inspection {
		t.Helper()
		before, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		in, err := journal.Inspect(t.Context(), dir)
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		after, err := os.ReadDir(dir)
		if err != nil || len(after) != len(before) {
			t.Errorf("%s: there were %d files and are %d, %v", when, len(before), len(after), err)
		}
		return in
	}
	if in := look("open"); !in.Checked || len(in.Wrong) > 0 || in.Size == 0 {
		t.Errorf("open: %+v", in)
	}
	closed(t, j)
	if in := look("closed"); !in.Checked || len(in.Wrong) > 0 {
		t.Errorf("closed: %+v", in)
	}
	file := filepath.Join(dir, "journal.db")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := 4096; i < len(content); i++ {
		content[i] = 'x'
	}
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if in := look("damaged"); !in.Checked || len(in.Wrong) == 0 {
		t.Errorf("damaged: %+v", in)
	}
	if err := os.WriteFile(file, []byte("this is no database, and long enough to be looked at as one: "+string(make([]byte, 200))), 0o600); err != nil {
		t.Fatal(err)
	}
	if in := look("another file"); !in.Checked || len(in.Wrong) == 0 {
		t.Errorf("another file: %+v", in)
	}
}
