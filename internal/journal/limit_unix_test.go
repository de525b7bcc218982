//go:build unix

package journal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/journal/journaltest"
)

// limited is the part of a process whose files may not grow, and then may again.
func limited(dir string) error {
	ctx := context.Background()
	j, err := journal.Open(ctx, dir, nil)
	if err != nil {
		return err
	}
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		return err
	}
	limit := func(size uint64) error {
		return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: before.Max})
	}
	next := func(size int) (*journal.Batch, error) {
		b := journaltest.NewSession("s", 2)
		b.Entries[1].Line = bytes.Repeat([]byte("y"), size)
		list, err := j.Entries(ctx, "s", 0, 1<<20, 1<<40)
		b.After = int64(len(list))
		return b, err
	}
	b, err := next(10)
	if err != nil {
		return err
	}
	if _, _, err := j.Commit(ctx, b); err != nil {
		return err
	}
	// Lines in the database, then long ones in files of their own.
	for _, size := range []int{20_000, 2 << 20} {
		// Too little for a transaction, wherever in the log it is written.
		if err := limit(16 << 10); err != nil {
			return err
		}
		if b, err = next(size); err != nil {
			return err
		}
		for range 3 {
			_, _, failed := j.Commit(ctx, b)
			if u, ok := errors.AsType[*journal.UnavailableError](failed); !ok || !strings.Contains(u.Reason, "may not grow") || j.Health() == nil {
				return fmt.Errorf("at the limit with lines of %d bytes: %w; Health: %w", size, failed, j.Health())
			}
			if again, err := next(size); err != nil || again.After != b.After {
				return fmt.Errorf("something of the batch was written: %d, %d, %w", again.After, b.After, err)
			}
		}
		if err := limit(before.Cur); err != nil {
			return err
		}
		if _, _, err := j.Commit(ctx, b); err != nil || j.Health() != nil {
			return fmt.Errorf("when the limit was raised: %w; Health: %w", err, j.Health())
		}
		for range 5 {
			if b, err = next(size); err != nil {
				return err
			}
			if _, _, err := j.Commit(ctx, b); err != nil {
				return err
			}
		}
	}
	return j.Close()
}
