//go:build unix

package launch

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestRuns lists a run whose shim lives, one whose shim is dead and one whose shim never got its orders.
func TestRuns(t *testing.T) {
	dir := t.TempDir()
	if runs, err := Runs(dir); err != nil || len(runs) > 0 {
		t.Errorf("without a folder: %v, %v", runs, err)
	}
	start, _, ok := processStat(os.Getpid())
	if !ok {
		t.Fatal("this very process is not found")
	}
	for name, r := range map[string]record{
		"s1-1": {Session: "s1", Run: 1, Marker: "m", PID: os.Getpid(), Start: start},
		"s2-1": {Session: "s2", Run: 1, Marker: "m", PID: os.Getpid(), Start: "another process with this number"},
		"s3-1": {},
	} {
		folder := filepath.Join(dir, "run", "cli", name)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if r.PID > 0 {
			if err := writeRecord(folder, r); err != nil {
				t.Fatal(err)
			}
		}
	}
	got, err := Runs(dir)
	want := []RunFolder{{"s1-1", os.Getpid(), true}, {"s2-1", os.Getpid(), false}, {"s3-1", 0, false}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
}
