package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// A session is one that is in use. Its goroutine, loop, owns its state. Other
// goroutines post operations, which loop carries out in the order of their arrival.
type session struct {
	// Static after construction.
	hub *Hub
	id  string
	log *slog.Logger
	// feed is what followers read.
	feed *feed
	// done is closed when loop has returned.
	done chan struct{}

	// Guarded by mu.
	mu    sync.Mutex
	ops   []*op
	wake  chan struct{} // has room for one; loop waits for it
	stop  chan struct{} // closed to end loop
	ended bool          // no more operations are taken

	// Guarded by hub.mu.
	users    int       // how many hold the session
	released time.Time // when the last of them let go

	// Owned by loop.
	projection *projection
	run        journal.Run // the row of the current run
	link       *RunLink    // nil while there is none
	waits      []*wait
	unsaved    int64 // how many entries the stored fold lacks
	// Owned by loop: what is known beside the projection, by the file that it belongs to.
	links    linkState     // run_link.go
	outbox   outboxState   // outbox.go
	requests requests      // requests.go
	process  processState  // run.go
	policy   policyState   // policy.go
	waiting  questionState // questions.go
	drivers  driverState   // driver.go
	plans    planState     // plans.go
	doubt    doubtState    // doubt.go
	sandbox  sandboxState  // sandbox_refused.go
	follow   followState   // elsewhere.go

	// followers counts cursors, awake says that the session has to be looked at
	// from time to time.
	followers atomic.Int64
	awake     atomic.Bool
	// boxed is what holds the running process back, see sandboxName; "" for none of
	// ours, and nil before the first step.
	boxed atomic.Pointer[string]
}

// An op is something to be done by loop. It may look at the session and add to
// the step; what has to follow the commit is given to step.then.
type op struct {
	do func(*step) error
	// then is called once with the outcome, which is do's error, or that of the
	// commit: by loop, or by the goroutine that has taken the operation back. It must
	// not block.
	then func(error)
	// lines says that it takes in lines, after which there is something to do only if it
	// has added entries; see step.finish.
	lines bool
}

// A wait is a caller that waits for a state of the session.
type wait struct {
	ready func(*session) bool
	done  chan struct{}
}

// A step is what loop does at once: several operations, one commit.
type step struct {
	s       *session
	now     time.Time
	entries []journal.Entry
	bytes   int
	asked   bool // an operation did something else than take in lines
	rows    changes
	runs    map[int]journal.Run
	batch   journal.Batch
	saves   bool // the fold is to be stored
	// shown are what followers are shown after the commit, in order: entries
	// and, between them, live lines.
	shown  []shown
	blocks []*lineBlock // memory of the lines in it
	after  []func()
}

// shown is one thing that followers are shown.
type shown struct {
	entry int        // index into step.entries, -1 for a live line
	live  *Item      // nil for an entry
	line  *fold.Line // as it is folded: a live line, or an entry's of the CLI
}

// How much a step takes on at most, so that one busy session's commits stay
// short and followers see lines soon.
const (
	maxStepOps   = 256
	maxStepBytes = 2 << 20
)

// enqueue hands an operation to loop. It fails if the session is being evicted; then
// is not called in that case.
func (s *session) enqueue(o *op) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return errEvicted
	}
	s.ops = append(s.ops, o)
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return nil
}

// withdraw takes back an operation that was not begun, and gives it the outcome err.
// It reports whether it could.
func (s *session) withdraw(o *op, err error) bool {
	s.mu.Lock()
	i := slices.Index(s.ops, o)
	if i >= 0 {
		s.ops = slices.Delete(s.ops, i, i+1)
	}
	s.mu.Unlock()
	if i < 0 {
		return false
	}
	o.then(err)
	return true
}

// errEvicted says that a session is not in memory any more.
var errEvicted = errors.New("the session is being evicted")

// post has an operation done for which no caller waits. If the session is being
// evicted there is nothing left to do it to.
func (s *session) post(f func(*step)) {
	do := func(st *step) error {
		f(st)
		return nil
	}
	_ = s.enqueue(&op{do: do, then: func(error) {}})
}

// A patience says what do makes of a journal that cannot be written.
type patience int

const (
	// patient waits until it can be written. Links do, which is their back-pressure,
	// and so does what the hub does by itself.
	patient patience = iota
	// reading is for what needs nothing written: it only fails if the session itself
	// waits for the journal.
	reading
	// writing is for a caller that would rather hear that nothing can be written than
	// wait until it can. What is being written already is waited for.
	writing
)

// do runs an operation and waits until what it did is in the journal. It returns
// early when ctx ends; if the operation was begun it may then still take place, so
// what it sets must not be looked at after an error.
func (s *session) do(ctx context.Context, p patience, f func(*step) error) error {
	return s.doThen(ctx, p, f, func() {})
}

// doThen is do, and has over called when the operation has taken place or cannot any
// more. That may be after doThen has returned. over must not block.
func (s *session) doThen(ctx context.Context, p patience, f func(*step) error, over func()) error {
	var err error
	if p == writing {
		err = s.hub.unwritable()
	}
	done := make(chan error, 1)
	o := &op{do: f, then: func(err error) {
		over()
		done <- err
	}}
	if err == nil {
		err = s.enqueue(o)
	}
	if err != nil {
		over()
		return err
	}
	var check <-chan time.Time
	if p != patient {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		check = ticker.C
	}
	for {
		select {
		case err := <-done:
			return err
		case <-check:
			if err := s.hub.unwritable(); err != nil {
				s.withdraw(o, err)
			}
		case <-ctx.Done():
			err := ctx.Err()
			if unwritable := s.hub.unwritable(); p != patient && unwritable != nil {
				err = unwritable
			}
			s.withdraw(o, err) // or callers that ask again and again would fill the memory
			select {
			case err := <-done: // the end of a context does not count then
				return err
			default:
				return err
			}
		}
	}
}

// errUnknown says that an operation has to know something that was not looked up.
var errUnknown = errors.New("it is not known yet")

// lookUp runs an operation that may have to know what a disk or a process tells, for
// which no step waits. f is given nil at first. If it returns errUnknown, before it has
// done anything, read finds out what is to be known, not in a step, and f is tried
// again. key says in a step what that is about: if it changes, it is not known again.
func lookUp[K comparable, V any](ctx context.Context, s *session, p patience, key func() K, read func(K) V, f func(*step, *V) error) error {
	var about K
	var known *V
	for {
		err := s.do(ctx, p, func(st *step) error {
			if k := key(); k != about {
				about, known = k, nil
			}
			return f(st, known)
		})
		if !errors.Is(err, errUnknown) {
			return err
		}
		v := read(about)
		known = &v
	}
}

// loop works through operations until the session is evicted or the hub closes.
func (s *session) loop() {
	defer close(s.done)
	defer s.hub.forget(s)
	for {
		select {
		case <-s.stop:
			s.leave(errEvicted)
			return
		case <-s.hub.ctx.Done():
			s.leave(ErrClosed)
			return
		case <-s.wake:
		}
		if err := s.drain(); err != nil {
			s.leave(err)
			s.hub.forget(s)
			if s.hub.ctx.Err() == nil {
				// Another process has written to the session, or removed it: what
				// the journal says counts, and its run is looked after.
				s.log.Error("a session has to be read anew", "session", s.id, "err", err)
				s.hub.checkSoon(s.id)
			}
			return
		}
	}
}

// drain carries out operations until there are none. After an error the session is of
// no use any more.
func (s *session) drain() error {
	for {
		ops := s.take()
		if len(ops) == 0 {
			return nil
		}
		if err := s.work(ops); err != nil {
			return err
		}
	}
}

// take removes the next operations.
func (s *session) take() []*op {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := min(len(s.ops), maxStepOps)
	ops := slices.Clone(s.ops[:n])
	s.ops = slices.Delete(s.ops, 0, n)
	if len(s.ops) == 0 {
		s.ops = nil // do not hold on to a burst's memory
	}
	return ops
}

// leave refuses what is left and ends all waits. Only loop calls it, as it returns.
func (s *session) leave(err error) {
	s.mu.Lock()
	s.ended = true
	ops := s.ops
	s.ops = nil
	s.mu.Unlock()
	for _, o := range ops {
		o.then(err)
	}
	for _, w := range s.waits {
		close(w.done)
	}
	s.waits = nil
	if s.link != nil {
		s.link.sender.Close(err.Error())
	}
	s.feed.close()
}

// work carries out operations, in steps. An error ends the session: its memory does
// not fit the journal any more.
func (s *session) work(ops []*op) error {
	for len(ops) > 0 {
		st := &step{s: s, now: s.hub.now()}
		n := 0
		var refused []error
		for n < len(ops) && st.bytes < maxStepBytes {
			refused = append(refused, ops[n].do(st))
			st.asked = st.asked || !ops[n].lines
			n++
		}
		st.finish()
		if err := st.commit(); err != nil {
			for i, o := range ops[:n] {
				o.then(errors.Join(err, refused[i]))
			}
			for _, o := range ops[n:] {
				o.then(err)
			}
			return err
		}
		for i, o := range ops[:n] {
			o.then(refused[i])
		}
		st.free()
		ops = ops[n:]
	}
	return nil
}

// add adds an entry of the current run to the step, folds it, and adds what follows
// from what it did to questions. line is that of an entry of kind line, nil for others.
// It returns the entry's number.
func (st *step) add(e journal.Entry, line *fold.Line) int64 {
	s := st.s
	if e.Time.IsZero() {
		e.Time = st.now
	}
	if e.Source == "" {
		e.Source = journal.SourceHub
	}
	if e.Run == 0 {
		e.Run = s.projection.Run
	}
	e.Session, e.Seq = s.id, s.projection.Seq+1
	if err := s.projection.apply(&e, line, &st.rows); err != nil {
		// The journal keeps what came; that it could not be understood is a bug.
		s.log.Error("folding an entry", "session", s.id, "seq", e.Seq, "err", err)
	}
	st.entries = append(st.entries, e)
	st.bytes += len(e.Line) + len(e.Data) + 128
	st.shown = append(st.shown, shown{entry: len(st.entries) - 1, line: line})
	asked := st.rows.asked
	st.rows.asked = nil // the entries that follow from these have their own
	st.react(asked)
	return e.Seq
}

// event adds an entry of the hub's own with data.
func (st *step) event(kind string, by Actor, data any) int64 {
	raw, err := json.Marshal(data)
	if err != nil {
		st.s.log.Error("encoding an event", "session", st.s.id, "kind", kind, "err", err)
		raw = []byte("{}")
	}
	e := journal.Entry{Kind: kind, Data: raw, Source: by.Source, By: by.Name}
	return st.add(e, nil)
}

// then has loop call f after the commit.
func (st *step) then(f func()) { st.after = append(st.after, f) }

// touch has the run's row written.
func (st *step) touch() {
	if st.runs == nil {
		st.runs = map[int]journal.Run{}
	}
	st.runs[st.s.run.Run] = st.s.run
}

// finish adds what follows from what the operations did: changes of state, and
// prompts whose time has come. Nothing follows from live lines alone.
func (st *step) finish() {
	s := st.s
	if s.projection.Seq == 0 || !st.asked && len(st.entries) == 0 {
		return
	}
	st.expireRules()
	st.push()
	st.countWaiting()
	st.presume()
	st.advancePlan()
	st.checkLimits()
	st.dispatch()
	st.emitMode()
	if phase := s.projection.phase(); phase != s.projection.Told && len(st.entries) > 0 {
		st.event(api.KindState, Actor{}, record.State{State: api.State(phase)})
		if phase == fold.PhaseIdle || phase == fold.PhaseEnded {
			st.saves = true
		}
	}
	st.followDue()
	st.notify()
	s.awake.Store(s.needsClock())
	s.unsaved += int64(len(st.entries))
	if s.unsaved >= foldEvery {
		st.saves = true
	}
}

// emitMode tells that the agent is in another permission mode.
func (st *step) emitMode() {
	p := st.s.projection
	if p.ToldMode == "" || p.State.Mode == "" || p.State.Mode == p.ToldMode {
		return
	}
	change := api.ModeChange{Mode: string(p.State.Mode), Was: string(p.ToldMode)}
	if p.State.Mode == wire.PermissionModePlan || p.ToldMode == wire.PermissionModePlan {
		change.Tool = st.s.plans.tool
	}
	st.s.plans.tool = ""
	st.event(api.KindMode, Actor{Source: journal.SourceAgent}, change)
}

// foldEvery is after how many entries the fold is stored, at the latest.
const foldEvery = 500

// commit writes the step to the journal, shows it and does what follows. While
// the journal cannot be written it tries again, for ever: nothing more is taken
// in meanwhile, and what has been is not lost.
func (st *step) commit() error {
	if err := st.write(); err != nil {
		return err
	}
	st.present()
	return nil
}

// present shows a step that is in the journal, and does what follows.
func (st *step) present() {
	s := st.s
	s.hub.globalFeed.publish(st)
	st.measure()
	s.countSandbox()
	if s.link != nil {
		s.link.committed()
	}
	for _, f := range st.after {
		f()
	}
	s.waits = slices.DeleteFunc(s.waits, func(w *wait) bool {
		if !w.ready(s) {
			return false
		}
		close(w.done)
		return true
	})
}

// write writes what there is to write.
func (st *step) write() error {
	s := st.s
	b := &st.batch
	if len(st.entries) == 0 && st.runs == nil {
		return nil
	}
	b.SessionID, b.After, b.Entries = s.id, s.projection.Seq-int64(len(st.entries)), st.entries
	b.Session = s.projection.row()
	b.Runs = slices.Collect(maps.Values(st.runs))
	b.Commands = slices.Collect(maps.Values(st.rows.commands))
	// They are listed in the order in which they were opened.
	b.Questions = slices.SortedFunc(maps.Values(st.rows.questions), func(x, y journal.Question) int { return cmp.Compare(x.Opened, y.Opened) })
	b.Turns, b.Conversations = st.rows.turns, st.rows.conversations
	if st.saves {
		fold, err := json.Marshal(s.projection)
		if err != nil {
			return fmt.Errorf("storing the fold of session %s: %w", s.id, err)
		}
		b.Fold = fold
	}
	pause := 50 * time.Millisecond
	waiting := false
	defer func() {
		if waiting {
			s.hub.stuck.Add(-1)
		}
	}()
	for {
		begun := time.Now()
		_, _, err := s.hub.journal.Commit(s.hub.ctx, b)
		if err == nil {
			s.hub.metrics.Commit(len(b.Entries), time.Since(begun))
			if st.saves {
				s.unsaved = 0
			}
			return nil
		}
		if s.hub.ctx.Err() != nil {
			return ErrClosed
		}
		if taken := new(journal.TakenError); errors.As(err, &taken) && taken.Lease != nil && len(b.Leases) > 0 {
			s.log.Warn("a conversation is in use elsewhere", "session", s.id, "err", err)
			b.Leases = nil
			continue
		}
		if _, ok := errors.AsType[*journal.UnavailableError](err); !ok {
			return fmt.Errorf("writing to the journal: %w", err)
		}
		if !waiting {
			waiting = true
			s.hub.stuck.Add(1)
		}
		select {
		case <-s.hub.ctx.Done():
			return ErrClosed
		case <-time.After(pause):
		}
		pause = min(2*pause, 2*time.Second)
	}
}

// await waits until the session is in a state, which it may be already.
func (s *session) await(ctx context.Context, ready func(*session) bool) error {
	w := &wait{ready: ready, done: make(chan struct{})}
	err := s.do(ctx, patient, func(st *step) error {
		st.then(func() {
			if ready(s) {
				close(w.done)
				return
			}
			s.waits = append(s.waits, w)
		})
		return nil
	})
	forget := func(*step) {
		s.waits = slices.DeleteFunc(s.waits, func(other *wait) bool { return other == w })
	}
	if err != nil {
		s.post(forget) // it may have been begun
		return err
	}
	select {
	case <-w.done:
		select {
		case <-s.done:
			return ErrClosed
		default:
			return nil
		}
	case <-ctx.Done():
		// Forget it, so that waits that time out do not pile up.
		s.post(forget)
		return ctx.Err()
	}
}
