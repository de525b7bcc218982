package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/switchboard-dev/switchboard/internal/killpoint"
)

// maxKnown bounds how many sessions are in SQLite.known.
const maxKnown = 20_000

// A session is what the queue's leader remembers of a session.
type session struct {
	n   int64 // its key
	seq int64
}

// Commit writes a batch. See [Journal].
//
// The values of the batch may be changed again when it has returned. If ctx ends
// while the batch still waits, nothing is written; once it is being written ctx
// is not looked at, so an error always means that nothing was.
func (s *SQLite) Commit(ctx context.Context, b *Batch) (first, last int64, err error) {
	p, err := s.prepareBatch(b)
	defer p.blobs.done()
	if err != nil {
		if err = s.unavailable(err); errors.As(err, new(*UnavailableError)) {
			s.recordHealth(err)
		}
		return 0, 0, err
	}
	if err := s.queue.do(ctx, &request{batch: p}); err != nil {
		return 0, 0, err
	}
	for i := range b.Entries {
		e := &b.Entries[i]
		e.Session, e.Seq, e.Position = b.SessionID, b.After+int64(i)+1, p.first+int64(i)
	}
	if b.Session != nil {
		b.Session.ID, b.Session.Seq = b.SessionID, b.After+int64(len(b.Entries))
	}
	if len(b.Entries) == 0 {
		return 0, 0, nil
	}
	s.index.wake()
	return p.first, p.first + int64(len(b.Entries)) - 1, nil
}

// write is the group commit, called by the queue's leader: it writes a group of
// batches in one transaction, or does one job. Batches that arrive while a transaction
// runs are written together in the next one, so a slow disk gets fewer and larger
// transactions, and no goroutine waits for a timer.
func (s *SQLite) write(group []*request) {
	if len(group) == 0 {
		return
	}
	if job := group[0].job; job != nil {
		group[0].done <- s.withWriter(job)
		return
	}
	err := s.writeGroup(group)
	if err == nil || len(group) == 1 {
		s.reportOutcome(group, err)
		return
	}
	// One of them failed. Each is written alone, and its goroutine gets its own error.
	for i := range group {
		s.reportOutcome(group[i:i+1], s.writeGroup(group[i:i+1]))
	}
}

// reportOutcome gives the goroutines that wait in Commit the outcome of their
// batches. A batch that was refused has its own error already.
func (s *SQLite) reportOutcome(group []*request, err error) {
	// A transaction in which all were refused says nothing about the disk.
	if err != nil || slices.ContainsFunc(group, func(r *request) bool { return r.batch.refused == nil }) {
		s.recordHealth(err)
	}
	for _, r := range group {
		if err != nil {
			r.done <- err
		} else {
			r.done <- r.batch.refused
		}
	}
}

// recordHealth remembers the outcome of a write for Health.
func (s *SQLite) recordHealth(err error) {
	var u *UnavailableError
	errors.As(err, &u)
	before := s.health.Swap(u)
	switch {
	case u != nil && before == nil:
		s.options.Logger.Error("the journal cannot be written", "reason", u.Reason, "error", u.Err)
	case u == nil && before != nil:
		s.options.Logger.Info("the journal can be written again")
	}
}

// withWriter calls the function with the connection that writes, which is opened
// anew after an error of the storage. Only the queue's leader calls it.
func (s *SQLite) withWriter(use func(*conn) error) error {
	if s.writer == nil {
		w, err := s.openWriter(context.Background())
		if err != nil {
			return s.unavailable(err)
		}
		// No other goroutine writes, but after an error of the disk it is not known
		// whether the last transaction was committed.
		position, err := lastPosition(w)
		if err != nil {
			return errors.Join(s.unavailable(err), w.close())
		}
		s.writer, s.position = w, position
		s.last.Store(position)
	}
	err := use(s.writer)
	if err == nil {
		return nil
	}
	clear(s.known)
	if storageError(err) {
		if err := s.writer.close(); err != nil {
			s.options.Logger.Debug("closing the journal's connection failed", "error", err)
		}
		s.writer = nil
	}
	return s.unavailable(err)
}

// writeGroup writes batches in one transaction: all that are not refused, or
// none.
func (s *SQLite) writeGroup(group []*request) error {
	before := s.position
	size, entries := 0, 0
	err := s.withWriter(func(w *conn) error {
		before = s.position
		if err := w.exec("BEGIN IMMEDIATE"); err != nil {
			return err
		}
		err := func() error {
			for _, r := range group {
				if err := s.apply(w, r.batch); err != nil {
					return err
				}
				size += r.batch.size
				entries += len(r.batch.batch.Entries)
			}
			killpoint.Reach("journal.before-commit")
			return w.exec("COMMIT")
		}()
		if err != nil {
			// SQLite has rolled back by itself after most failures of the disk.
			_ = w.exec("ROLLBACK")
		}
		return err
	})
	if err != nil {
		s.position = before
		return err
	}
	killpoint.Reach("journal.after-commit")
	s.last.Store(s.position)
	s.countPages(int64(size/4096 + entries/8 + 4))
	return nil
}

// apply writes one batch inside a transaction. A batch that is refused writes
// nothing and has the reason in preparedBatch.refused; an error concerns the whole
// transaction.
func (s *SQLite) apply(w *conn, p *preparedBatch) error {
	p.refused = nil
	of, err := s.lookUpSession(w, p.batch.SessionID)
	if err != nil {
		return err
	}
	if p.refused, err = s.refusal(w, p, of); err != nil || p.refused != nil {
		return err
	}
	if of == nil {
		if err := w.exec(insertSession, p.batch.SessionID); err != nil {
			return err
		}
		if of, err = s.lookUpSession(w, p.batch.SessionID); err != nil {
			return err
		}
	}
	p.first = s.position + 1
	for _, t := range p.inserts {
		t.args[0].Value, t.args[1].Value = of.n, s.position+1
		if err := w.execArgs(t.text, t.args); err != nil {
			return err
		}
		s.position += int64(t.n)
	}
	of.seq += int64(len(p.batch.Entries))
	if p.session != nil {
		p.session[0].Value, p.session[1].Value, p.session[len(p.session)-1].Value = of.seq, int64(p.bytes), of.n
		err = w.execArgs(updateSession, p.session)
	} else if len(p.batch.Entries) > 0 {
		err = w.exec("UPDATE sessions SET seq = ?, bytes = bytes + ? WHERE n = ?", of.seq, p.bytes, of.n)
	}
	if err != nil {
		return err
	}
	for _, r := range p.rows {
		r.args[0].Value = of.n
		if err := w.execArgs(r.text, r.args); err != nil {
			return err
		}
	}
	return nil
}

// lookUpSession returns the key and the last sequence number of a session, nil if
// there is none.
func (s *SQLite) lookUpSession(w *conn, id string) (*session, error) {
	if of, ok := s.known[id]; ok {
		return of, nil
	}
	var of *session
	err := w.query(context.Background(), func(r row) error {
		of = &session{n: r.int(0), seq: r.int(1)}
		return nil
	}, "SELECT n, seq FROM sessions WHERE id = ?", id)
	if err != nil || of == nil {
		return nil, err
	}
	if len(s.known) >= maxKnown {
		clear(s.known)
	}
	s.known[id] = of
	return of, nil
}

// refusal returns why a batch cannot be written, nil if it can.
func (s *SQLite) refusal(w *conn, p *preparedBatch, of *session) (refused, err error) {
	b := p.batch
	if of == nil {
		if b.After != 0 {
			return fmt.Errorf("session %s does not exist, so it has no entry %d: %w", b.SessionID, b.After, ErrConflict), nil
		}
		if b.Session == nil {
			return fmt.Errorf("session %s: %w; its first batch must bring its row", b.SessionID, ErrNotFound), nil
		}
		of = &session{}
	}
	if of.seq != b.After {
		return fmt.Errorf("session %s is at entry %d, not %d: %w", b.SessionID, of.seq, b.After, ErrConflict), nil
	}
	for i := range b.ClientIDs {
		id := &b.ClientIDs[i]
		held, owner, err := clientID(w, id.Scope, id.ID)
		if err != nil {
			return nil, err
		}
		if held != nil && (owner != of.n || string(held.Sum) != string(id.Sum)) {
			return &TakenError{ClientID: held}, nil
		}
	}
	for i := range b.Leases {
		lease := &b.Leases[i]
		held, err := leaseOf(w, lease.ConfigDir, lease.Conversation)
		if err != nil {
			return nil, err
		}
		if held == nil || held.Session == b.SessionID && (held.Run == lease.Run || releases(b, held)) {
			continue
		}
		return &TakenError{Lease: held}, nil
	}
	for i := range b.Questions {
		n, found, err := w.first("SELECT session FROM questions WHERE id = ?", b.Questions[i].ID)
		if err != nil {
			return nil, err
		}
		if found && n != of.n {
			return fmt.Errorf("question %s belongs to another session: %w", b.Questions[i].ID, ErrConflict), nil
		}
	}
	return nil, nil
}

// releases reports whether a batch gives a lease back.
func releases(b *Batch, held *Lease) bool {
	for _, r := range b.Release {
		if r.ConfigDir == held.ConfigDir && r.Conversation == held.Conversation {
			return true
		}
	}
	return false
}
