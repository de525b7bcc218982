package journal

import (
	"context"
	"time"

	"github.com/switchboard-dev/switchboard/internal/killpoint"
)

// idleCheckpoint is how long after the last wake-up what lies in the write-ahead
// log is merged into the file even if it is little.
const idleCheckpoint = 30 * time.Second

// countPages counts the pages that went into the write-ahead log, about, and wakes
// the goroutine of checkpoints when there are enough. If that does not keep up, the
// log is merged here and now. Only the queue's leader calls it.
func (s *SQLite) countPages(pages int64) {
	s.pages += pages
	if s.pages < s.options.checkpointPages {
		return
	}
	if s.pages >= 4*s.options.checkpointPages {
		if err := s.withWriter(s.finishCheckpoint); err != nil {
			s.options.Logger.Warn("merging the journal's write-ahead log failed", "error", err)
		}
		return
	}
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

// finishCheckpoint copies what is left of the log, between two transactions. Only
// the queue's leader calls it.
func (s *SQLite) finishCheckpoint(w *conn) error {
	done, err := passiveCheckpoint(context.Background(), w)
	s.pages = 0
	if !done {
		// A reader has an old snapshot open, or another process copies just now. It is tried again
		// before long, but not with every transaction.
		s.pages = 3 * s.options.checkpointPages
	}
	return err
}

// checkpoints is the goroutine that merges the write-ahead log into the file: when
// the log has grown, when nothing has happened for a while, and when a process that
// was killed has left one. It ends with ctx.
func (s *SQLite) checkpoints(ctx context.Context) {
	done := s.last.Load() // the position at the last checkpoint
	if s.logLeft {
		done = s.checkpoint(ctx)
	}
	for {
		idle := time.NewTimer(idleCheckpoint)
		select {
		case <-ctx.Done():
			idle.Stop()
			return
		case <-s.kick:
			idle.Stop()
		case <-idle.C:
			if s.last.Load() == done {
				continue
			}
		}
		done = s.checkpoint(ctx)
	}
}

// checkpoint copies most of the log while batches are being written, and then
// the rest between two transactions: only a log that was copied whole is begun
// again from its start, and without that it would grow for ever under load. It
// returns the position before it began.
func (s *SQLite) checkpoint(ctx context.Context) int64 {
	position := s.last.Load()
	c, err := connect(ctx, s.path, s.options.vfs, setting{"synchronous", "NORMAL"})
	if err == nil {
		_, err = passiveCheckpoint(ctx, c)
		killpoint.Reach("journal.in-checkpoint")
		if err == nil {
			err = s.queue.do(ctx, &request{job: s.finishCheckpoint})
		}
		if closing := c.close(); err == nil {
			err = closing
		}
	}
	if err != nil && ctx.Err() == nil {
		// Nothing is lost: it stays in the log, and the next one tries again.
		s.options.Logger.Warn("merging the journal's write-ahead log failed", "error", err)
	}
	return position
}

// passiveCheckpoint copies what it can of the log without blocking any reader or
// writer, and reports whether that was all.
func passiveCheckpoint(ctx context.Context, c *conn) (all bool, err error) {
	err = c.query(ctx, func(r row) error {
		all = r.int(0) == 0 && r.int(1) == r.int(2)
		return nil
	}, "PRAGMA wal_checkpoint(PASSIVE)")
	return all, err
}
