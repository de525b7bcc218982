package journal_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/journal/journaltest"
)

const writers = 4

// writer is the part of a process that writes until it is killed, and says what
// was promised to it.
func writer(dir string) error {
	ctx := context.Background()
	j, err := journal.Open(ctx, dir, nil)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	errs := make(chan error, writers)
	for w := range writers {
		wg.Go(func() {
			id := fmt.Sprintf("s%d", w)
			var after int64
			switch row, err := j.Session(ctx, id); {
			case err == nil:
				after = row.Seq
			case !errors.Is(err, journal.ErrNotFound):
				errs <- err
				return
			}
			for i := 0; ; i++ {
				b := journaltest.NewSession(id, 1+i%3)
				b.After = after
				if i%16 == 7 {
					b.Entries[0].Line = bytes.Repeat([]byte{byte('a' + i%26)}, 1<<20+i)
				}
				after += int64(len(b.Entries))
				b.Runs = []journal.Run{{Session: id, Run: 1, Have: after}}
				b.Fold = fmt.Append(nil, after)
				if _, _, err := j.Commit(ctx, b); err != nil {
					errs <- err
					return
				}
				mu.Lock()
				_, err := fmt.Printf("%s %d\n", id, after)
				mu.Unlock()
				if err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	return <-errs
}

// TestKill kills a process that writes, at random, and looks whether all that
// was promised is there, and nothing by halves.
func TestKill(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	rounds := 4
	if os.Getenv("SWITCHBOARD_SOAK") != "" {
		rounds = 200
	}
	dir := t.TempDir()
	promised := map[string]int64{}
	for range rounds {
		c := child(t, "writer", dir)
		var stderr bytes.Buffer
		c.Stderr = &stderr
		stdout, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		left := 1 + random.IntN(80)
		lines := bufio.NewScanner(stdout)
		for lines.Scan() {
			var id string
			var seq int64
			if n, err := fmt.Sscanf(lines.Text(), "%s %d", &id, &seq); n != 2 {
				break // the last line may be cut short
			} else if err != nil {
				t.Fatal(err)
			}
			promised[id] = seq
			if left--; left == 0 {
				if err := c.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = c.Process.Kill()
		_ = c.Wait() // it was killed
		if stderr.Len() > 0 {
			t.Fatalf("the process that writes: %s", &stderr)
		}
		verify(t, dir, promised)
	}
	if len(promised) != writers {
		t.Errorf("%d of %d wrote anything", len(promised), writers)
	}
}

// verify opens the journal and looks at every session in it.
func verify(t *testing.T, dir string, promised map[string]int64) {
	t.Helper()
	j := open(t, dir, nil)
	for id, seq := range promised {
		row, err := j.Session(t.Context(), id)
		if err != nil {
			t.Fatalf("session %s, which was promised up to %d: %v", id, seq, err)
		}
		run, err := j.Run(t.Context(), id, 1)
		if err != nil {
			t.Fatal(err)
		}
		_, folded, err := j.Fold(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		n := int64(count(t, j, id))
		if row.Seq < seq || n != row.Seq || run.Have != row.Seq || folded != row.Seq {
			t.Errorf("session %s: promised %d, row %d, entries %d, run %d, fold %d", id, seq, row.Seq, n, run.Have, folded)
		}
	}
	sound(t, j)
	if losses := j.Losses(); len(losses) > 0 {
		t.Errorf("nothing was lost, and yet: %v", losses)
	}
	closed(t, j)
	parts, err := filepath.Glob(filepath.Join(dir, "blobs", "*", ".part-*"))
	if err != nil || len(parts) > 0 {
		t.Errorf("left in the folder: %s (%v)", strings.Join(parts, ", "), err)
	}
}
