package claude

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// How often it is tried to store something, and the pause after the first time;
// each one after it is four times as long.
const (
	mirrorTries = 3
	mirrorPause = 200 * time.Millisecond
)

// A mirror is a [Transport] that gives a store what the CLI tells of its
// transcript. Those lines go no further. A result is held back until what was
// told before it is stored, and what could not be stored is told by a line
// system/mirror_error.
type mirror struct {
	inner   Transport
	store   SessionStore
	options StoreOptions // filled
	cleanup func() error // called at the end of Close; not nil
	ctx     context.Context
	cancel  context.CancelFunc
	wake    chan struct{} // has room for one; never closed
	worker  sync.WaitGroup
	closing sync.Once
	closed  error // what Close returns

	// readMu is held by the goroutine that reads inner. Guarded by it:
	readMu chan struct{} // a mutex that can be waited for with a context
	ready  [][]byte      // lines to be read next
	ended  error         // why there are no more

	mu        sync.Mutex
	queue     []mirrored
	entries   int   // in queue
	bytes     int   // in queue, and on their way to the store
	flush     bool  // what is in queue is to be stored now
	stop      bool  // no more will come
	added     int64 // how many were ever queued
	settled   int64 // how many of them are stored or given up
	progress  chan struct{}
	notices   [][]byte
	lost      map[StoreKey]int // entries that were given up because too much waited
	sessionID string
}

// A mirrored is an entry on its way to the store.
type mirrored struct {
	key   StoreKey
	entry json.RawMessage
}

// newMirror wraps a transport. Without a Project in the options, what is stored
// has the names that the CLI gives.
func newMirror(inner Transport, store SessionStore, o *StoreOptions, cleanup func() error) *mirror {
	m := &mirror{
		inner: inner, store: store, options: o.filled(), cleanup: cleanup,
		wake: make(chan struct{}, 1), readMu: make(chan struct{}, 1), progress: make(chan struct{}), lost: make(map[StoreKey]int),
	}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	m.worker.Go(m.run) // ends with Close
	return m
}

// Unwrap returns the transport that the lines come from.
func (m *mirror) Unwrap() Transport { return m.inner }

// Write implements [Transport].
func (m *mirror) Write(ctx context.Context, line []byte) error { return m.inner.Write(ctx, line) }

// CloseInput implements [Transport].
func (m *mirror) CloseInput() error { return m.inner.CloseInput() }

// State implements [Transport].
func (m *mirror) State() (string, <-chan struct{}) { return m.inner.State() }

// Read implements [Transport].
func (m *mirror) Read(ctx context.Context) ([]byte, error) {
	select {
	case m.readMu <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-m.readMu }()
	for {
		m.queueNotices()
		if len(m.ready) > 0 {
			line := m.ready[0]
			if isResult(line) {
				if err := m.awaitStored(ctx, m.options.ResultWait); err != nil {
					return nil, err // the result comes with the next Read
				}
				if m.queueNotices() {
					continue // they come first
				}
			}
			m.ready = m.ready[1:]
			return line, nil
		}
		if m.ended != nil {
			return nil, m.ended
		}
		if err := m.readInner(ctx); err != nil {
			return nil, err
		}
	}
}

// readInner reads the next line and keeps it, unless it is for the store. An
// error is one that leaves the transport usable.
func (m *mirror) readInner(ctx context.Context) error {
	line, err := m.inner.Read(ctx)
	_, tooLong := errors.AsType[*wire.LineTooLongError](err)
	switch {
	case err == nil:
		if !m.intercept(line) {
			m.ready = append(m.ready, line)
		}
		return nil
	case tooLong:
		return err // if it was for the store, that cannot be known
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return err
	}
	// What is still to be stored is stored before the end is told.
	m.ended = err
	return m.awaitStored(context.WithoutCancel(ctx), m.options.ResultWait)
}

// queueNotices puts what could not be stored in front of what is read next.
func (m *mirror) queueNotices() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	some := len(m.notices) > 0
	m.ready = append(m.notices, m.ready...)
	m.notices = nil
	return some
}

func isResult(line []byte) bool {
	h, err := wire.Peek(line)
	return err == nil && string(h.Type) == "result"
}

// intercept queues the entries of a line that is for the store, and reports whether the line is one.
func (m *mirror) intercept(line []byte) bool {
	h, err := wire.Peek(line)
	if err != nil {
		return false
	}
	if string(h.Type) != "transcript_mirror" {
		if len(h.SessionID) > 0 {
			m.mu.Lock()
			if m.sessionID != string(h.SessionID) {
				m.sessionID = string(h.SessionID)
			}
			m.mu.Unlock()
		}
		return false
	}
	var told struct {
		FilePath string            `json:"filePath"`
		Entries  []json.RawMessage `json:"entries"`
	}
	if err := json.Unmarshal(line, &told); err != nil {
		m.report(StoreKey{}, fmt.Errorf("the CLI told of its transcript what cannot be read: %w", err))
		return true
	}
	key, ok := keyOfPath(told.FilePath)
	if m.options.Project != "" {
		key.Project = m.options.Project
	}
	if !ok {
		m.report(key, fmt.Errorf("the CLI told of a transcript at an unexpected place: %.200s", told.FilePath))
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, entry := range told.Entries {
		if len(entry)+m.bytes > m.options.MaxPending && m.bytes > 0 {
			m.lost[key]++
			m.flush = true
			continue
		}
		m.queue = append(m.queue, mirrored{key, bytes.Clone(entry)})
		m.entries, m.bytes, m.added = m.entries+1, m.bytes+len(entry), m.added+1
	}
	if m.options.Eager || m.entries >= batchEntries || m.bytes >= batchBytes {
		m.flush = true
	}
	m.nudge()
	return true
}

// nudge wakes the worker. The caller holds mu.
func (m *mirror) nudge() {
	if !m.flush && !m.stop {
		return
	}
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// awaitStored waits until all that was queued so far is stored or given up, but no
// longer than a while. Its error is that of ctx.
func (m *mirror) awaitStored(ctx context.Context, longest time.Duration) error {
	if longest < 0 {
		longest = 0
	}
	m.mu.Lock()
	until := m.added
	m.flush = true
	m.nudge()
	m.mu.Unlock()
	timer := time.NewTimer(longest)
	defer timer.Stop()
	for {
		m.mu.Lock()
		done, progress := m.settled >= until && len(m.lost) == 0, m.progress
		m.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-progress:
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// run stores what is queued, until it is stopped and nothing is left.
func (m *mirror) run() {
	for {
		m.mu.Lock()
		var queue []mirrored
		var lost map[StoreKey]int
		if m.flush || m.stop {
			queue, m.queue, m.entries, m.flush = m.queue, nil, 0, false
			lost, m.lost = m.lost, make(map[StoreKey]int)
		}
		stop := m.stop
		m.mu.Unlock()
		if len(queue) == 0 && len(lost) == 0 {
			if stop {
				return
			}
			<-m.wake
			continue
		}
		m.deliver(queue)
		for key, n := range lost {
			m.report(key, fmt.Errorf("%d entries were not stored: the store is too slow and too much waits for it", n))
		}
		m.mu.Lock()
		close(m.progress)
		m.progress = make(chan struct{})
		m.mu.Unlock()
	}
}

// deliver stores entries: those of a key in their order, many at a time.
func (m *mirror) deliver(queue []mirrored) {
	for len(queue) > 0 {
		key := queue[0].key
		batch, rest := storeBatch{most: batchEntries}, make([]mirrored, 0, len(queue))
		full := false
		for _, each := range queue {
			if each.key != key || full {
				rest = append(rest, each)
				continue
			}
			if full = len(batch.entries) == batch.most || len(batch.entries) > 0 && batch.bytes+len(each.entry) > batchBytes; full {
				rest = append(rest, each)
				continue
			}
			batch.entries = append(batch.entries, each.entry)
			batch.bytes += len(each.entry)
		}
		queue = rest
		if err := m.appendRetrying(key, batch.entries); err != nil {
			m.report(key, fmt.Errorf("%d entries were not stored: %w", len(batch.entries), err))
		}
		m.mu.Lock()
		m.settled += int64(len(batch.entries))
		m.bytes -= batch.bytes
		close(m.progress)
		m.progress = make(chan struct{})
		m.mu.Unlock()
	}
}

// appendRetrying stores entries, again if that fails, but not if it took too long: that
// call may still succeed.
func (m *mirror) appendRetrying(key StoreKey, entries []json.RawMessage) error {
	for attempt, wait := 1, mirrorPause; ; attempt, wait = attempt+1, 4*wait {
		ctx, cancel := context.WithTimeout(m.ctx, m.options.Timeout)
		err := appendWithin(ctx, m.store, key, entries)
		late := ctx.Err() != nil
		cancel()
		if err == nil || late || attempt == mirrorTries {
			return err
		}
		pause := time.NewTimer(wait)
		select {
		case <-pause.C:
		case <-m.ctx.Done():
			pause.Stop()
			return err
		}
	}
}

// appendWithin calls a store that is not ours: it may hang, or panic.
func appendWithin(ctx context.Context, store SessionStore, key StoreKey, entries []json.RawMessage) error {
	done := make(chan error, 1)
	go func() { // ends when the store does
		defer func() {
			if cause := recover(); cause != nil {
				done <- fmt.Errorf("the store panicked: %v", cause)
			}
		}()
		done <- store.Append(ctx, key, entries)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("the store did not answer in time: %w", ctx.Err())
	}
}

// report makes a line about what could not be stored.
func (m *mirror) report(key StoreKey, cause error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	line, err := wire.Encode(&wire.MirrorError{
		Error: cause.Error(), UUID: wire.NewUUID(), SessionID: m.sessionID,
		Key: wire.SessionKey{ProjectKey: key.Project, SessionID: key.Conversation, Subpath: key.Subpath},
	})
	if err == nil && len(m.notices) < 1000 { // a bound for a session without a reader
		m.notices = append(m.notices, line)
	}
}

// Close ends the connection, stores what is left, for at most
// [StoreOptions.Timeout], and removes what was made for it.
func (m *mirror) Close() error {
	m.closing.Do(func() {
		err := m.inner.Close()
		// Lines that came before the end may tell of the transcript, whether
		// any reader reads them or not.
		m.readMu <- struct{}{}
		for m.ended == nil {
			_ = m.readInner(m.ctx) // a line that is too long has no reader now
		}
		<-m.readMu
		m.mu.Lock()
		m.stop = true
		m.nudge()
		m.mu.Unlock()
		late := time.AfterFunc(m.options.Timeout, m.cancel)
		m.worker.Wait()
		late.Stop()
		m.cancel()
		m.closed = errors.Join(err, m.cleanup())
	})
	return m.closed
}

// keyOfPath returns the key for a transcript's path: what is behind the folder of
// all transcripts.
func keyOfPath(path string) (StoreKey, bool) {
	path, ok := strings.CutSuffix(filepath.ToSlash(path), ".jsonl")
	parts := strings.Split(path, "/")
	for i := 0; ok && i+2 < len(parts); i++ {
		if parts[i] != "projects" {
			continue
		}
		key := StoreKey{Project: parts[i+1], Conversation: parts[i+2], Subpath: strings.Join(parts[i+3:], "/")}
		if key.check() == nil {
			return key, true
		}
	}
	return StoreKey{}, false
}
