package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/budget"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/policy"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// ErrClosed means that the hub is closed, or about to be.
var ErrClosed = errors.New("the hub is closed")

// An Actor is the person, program or part of the hub that does something.
type Actor struct {
	// Source is SourcePerson or SourceProgram. If empty, it is the hub itself.
	Source journal.Source
	// Name is what other clients are shown.
	Name string
	// Admin says that the actor may do what needs the scope admin.
	Admin bool
}

// Options are the options of a [Hub].
type Options struct {
	// Journal is where everything is kept. It is required, and stays the
	// caller's to close, after the hub.
	Journal journal.Journal
	// Launcher starts processes on the hub's own machine. If nil, none can be started
	// there; CLIs may dial in.
	Launcher Launcher
	// Nodes are the other machines that agents run on. If nil, there are none.
	Nodes Nodes
	// Logger takes what an operator should know. If nil, nothing is logged.
	Logger *slog.Logger
	// Now is the clock. If nil, time.Now.
	Now func() time.Time
	// Watch is how often runs without a link are looked after. If zero, 2 s.
	Watch time.Duration
	// Rules are the rules for all sessions. If nil, there are none.
	Rules Rules
	// QuestionDeadline is how long a question may wait while a client could show
	// it, where the session does not say so. If zero, for ever.
	QuestionDeadline time.Duration
	// Budgets limit what sessions use. ResumeAtReset has all queues that a rate
	// limit holds back go on by themselves when it is over.
	Budgets       []budget.Budget
	ResumeAtReset bool
	// Notify is told what people want to know who are not looking. It must not
	// block. It may be nil.
	Notify func(Notification)
	// Metrics count what the hub does. They may be nil.
	Metrics Metrics
	// Left takes in what the process of a run kept for a hub and could not give one
	// (see [Hub.AttachSpool]), if there is something. It is called when the process is
	// dead, before the run is ended for that, not by a session's loop, and returns when
	// ctx ends. node is the machine that the process ran on, "" for the hub's own. It may
	// be nil.
	Left func(ctx context.Context, h *Hub, node, session string, run int) error
	// Silence is how long a CLI that dialled in may be silent after it came back
	// and lines were lost, before its turn counts as over; see the file doubt.go.
	// If zero, 30 s.
	Silence time.Duration
	// Rest is how long a session that no caller uses stays in memory. If zero, 30 s.
	Rest time.Duration
	// Presets are sets of options that sessions can be started with by name.
	Presets []Preset
	// Sandbox is what the operating system enforces where a session does not say.
	Sandbox SandboxDefaults
}

// A Hub keeps the sessions. It owns one goroutine per session in use and one
// that looks after them, which Close joins.
type Hub struct {
	// Static after construction.
	journal    journal.Journal
	launcher   Launcher
	log        *slog.Logger
	clock      func() time.Time
	watch      time.Duration
	rest       time.Duration
	silence    time.Duration
	rules      Rules
	deadline   time.Duration
	options    Options
	ledger     *budget.Ledger
	globalFeed *globalFeed
	metrics    Metrics
	elsewhere  nodeRules

	lineBlocks sync.Pool // *lineBlock

	ctx     context.Context
	cancel  context.CancelFunc
	tasks   sync.WaitGroup
	look    chan string   // sessions to look after at once
	finding chan struct{} // a slot for each session whose node is being asked
	stuck   atomic.Int64  // sessions that wait for the journal to be writable

	mu       sync.Mutex
	sessions map[string]*session
	loading  map[string]chan struct{}
	leases   map[string]journal.Lease // by conversation
	names    map[string]string        // sessions by the path that a CLI dialled, see nameKey
	offline  map[string]bool          // sessions whose run has no link
	places   map[string]string        // nodes of sessions whose run is on one and has not ended
	finds    map[string]bool          // sessions whose node is being asked, see find: whether once more
	requests map[string]chan struct{} // with a client's id that are under way, by scope and id
	closed   bool
}

// New opens a hub on a journal: runs that had not ended are found again, and wait
// for their processes to connect.
func New(ctx context.Context, o Options) (*Hub, error) {
	h := &Hub{
		journal: o.Journal, launcher: o.Launcher, log: o.Logger, clock: o.Now, watch: o.Watch, rest: o.Rest, silence: o.Silence,
		sessions: map[string]*session{}, loading: map[string]chan struct{}{}, leases: map[string]journal.Lease{},
		places: map[string]string{}, finds: map[string]bool{}, finding: make(chan struct{}, maxFinds),
		names: map[string]string{}, offline: map[string]bool{}, requests: map[string]chan struct{}{}, look: make(chan string, 64),
	}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	if h.clock == nil {
		h.clock = time.Now
	}
	if h.watch <= 0 {
		h.watch = 2 * time.Second
	}
	if h.rest <= 0 {
		h.rest = 30 * time.Second
	}
	if h.silence <= 0 {
		h.silence = defaultSilence
	}
	h.rules, h.deadline, h.options = o.Rules, o.QuestionDeadline, o
	if h.rules == nil {
		engine, err := policy.New(nil, policy.Options{})
		if err != nil {
			return nil, fmt.Errorf("making rules: %w", err)
		}
		h.rules = fixedRules{engine}
	}
	if h.metrics = o.Metrics; h.metrics == nil {
		h.metrics = noMetrics{}
	}
	var err error
	if h.ledger, err = budget.Open(ctx, budget.Options{Journal: o.Journal, Budgets: o.Budgets, ResumeAtReset: o.ResumeAtReset, Now: h.clock, NodeName: h.nodeName}); err != nil {
		return nil, err
	}
	h.globalFeed = newGlobalFeed(o.Journal)
	// The hub's own context: a caller's that ends must not end the sessions.
	h.ctx, h.cancel = context.WithCancel(context.WithoutCancel(ctx))
	changed := h.rules.Changed() // before any session reads the rules
	var nodesChanged <-chan struct{}
	if o.Nodes != nil {
		nodesChanged = o.Nodes.Changed()
	}
	if err := h.recover(ctx); err != nil {
		h.cancel()
		h.tasks.Wait()
		return nil, err
	}
	h.tasks.Go(h.maintain)
	h.tasks.Go(func() { h.watchRules(changed) })
	if o.Nodes != nil {
		h.tasks.Go(func() { h.watchNodes(nodesChanged) })
	}
	return h, nil
}

// Close puts all sessions away and waits for them. Their processes go on.
func (h *Hub) Close() error {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.cancel()
	h.tasks.Wait()
	h.globalFeed.close()
	return nil
}

// unwritable says why nothing can be written at present. It is only believed as
// long as the link keeps trying.
func (h *Hub) unwritable() error {
	if h.stuck.Load() == 0 {
		return nil
	}
	return h.journal.Health()
}

// now returns the time, in the form in which it is stored.
func (h *Hub) now() time.Time { return h.clock().UTC().Round(0) }

// recover finds the runs that had not ended when the last hub did.
func (h *Hub) recover(ctx context.Context) error {
	runs, err := h.journal.LiveRuns(ctx)
	if err != nil {
		return fmt.Errorf("finding the runs that have not ended: %w", err)
	}
	for _, r := range runs {
		s, release, err := h.acquire(ctx, r.Session)
		if err != nil {
			if ctx.Err() != nil {
				return fmt.Errorf("finding session %s again: %w", r.Session, err)
			}
			// It is tried again; the others must not wait for it.
			h.log.Error("a session cannot be read", "session", r.Session, "err", err)
			h.mu.Lock()
			h.offline[r.Session] = true
			h.mu.Unlock()
			continue
		}
		// What became of a start on another machine is asked when that is there, see find.
		unborn := r.Transport == transportShim && r.PID == 0 && r.Node == ""
		if unborn && h.launcher != nil {
			// The hub was killed between writing the run down and noting its
			// process, if it came to that: such a process was never spoken to.
			if _, err := h.launcher.Sweep(ctx, r.Marker); err != nil && !errors.Is(err, errors.ErrUnsupported) {
				h.log.Warn("sweeping up after a start that was cut off", "session", r.Session, "err", err)
			}
		}
		err = s.do(ctx, patient, func(st *step) error {
			p := s.projection
			if p.Run != r.Run || p.Ended != nil {
				// A row that was left behind; the log knows better.
				return nil
			}
			if unborn {
				st.unborn("the hub ended before the process was started")
				return nil
			}
			if p.Linked || p.phase() != fold.PhaseOffline && (p.phase() != fold.PhaseStarting || r.Node != "") {
				st.down("the hub was restarted")
			}
			held := p.State.Conversation()
			if held == "" && !p.Fork {
				held = p.Resume
			}
			h.holdLease(p.Node, held, p.leaseOf(held))
			h.noteRun(s.id, p.Node)
			return nil
		})
		h.mu.Lock()
		h.offline[r.Session] = true
		if spec := specOf(r.Spec); spec.Name != "" {
			h.names[nameKey(spec.Name, spec.Unauthenticated)] = r.Session
		}
		h.mu.Unlock()
		release()
		if err != nil {
			return fmt.Errorf("finding session %s again: %w", r.Session, err)
		}
	}
	if len(runs) > 0 {
		h.log.Info("runs go on", "runs", len(runs))
	}
	return nil
}

// acquire returns a session, loaded if need be, and a function that lets go of
// it.
func (h *Hub) acquire(ctx context.Context, id string) (*session, func(), error) {
	for {
		h.mu.Lock()
		if h.closed {
			h.mu.Unlock()
			return nil, nil, h.problem(ErrClosed, id)
		}
		if s := h.sessions[id]; s != nil {
			s.users++
			h.mu.Unlock()
			return s, h.releaser(s), nil
		}
		wait, loading := h.loading[id]
		if !loading {
			wait = make(chan struct{})
			h.loading[id] = wait
		}
		h.mu.Unlock()
		if loading {
			select {
			case <-wait:
				continue
			case <-ctx.Done():
				return nil, nil, ctx.Err()
			}
		}
		s, err := h.load(ctx, id)
		h.mu.Lock()
		delete(h.loading, id)
		close(wait)
		if err == nil {
			err = h.startLocked(s)
		}
		h.mu.Unlock()
		if err != nil {
			return nil, nil, h.problem(err, id)
		}
		return s, h.releaser(s), nil
	}
}

// startLocked puts a session into use, with one user. mu is held.
func (h *Hub) startLocked(s *session) error {
	if h.closed {
		return ErrClosed
	}
	s.users = 1
	h.sessions[s.id] = s
	h.tasks.Go(s.loop)
	return nil
}

func (h *Hub) releaser(s *session) func() {
	return sync.OnceFunc(func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		s.users--
		s.released = h.now()
	})
}

// forget takes a session whose loop has ended out of use.
func (h *Hub) forget(s *session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sessions[s.id] == s {
		delete(h.sessions, s.id)
	}
}

// newSession returns a session without a loop.
func (h *Hub) newSession(id string) *session {
	return &session{
		hub: h, id: id, log: h.log, feed: &feed{session: id}, done: make(chan struct{}), wake: make(chan struct{}, 1),
		stop: make(chan struct{}), projection: &projection{ID: id, Form: projectionForm},
	}
}

// load reads a session back from the journal.
func (h *Hub) load(ctx context.Context, id string) (*session, error) {
	row, err := h.journal.Session(ctx, id)
	if err != nil {
		return nil, err
	}
	s := h.newSession(id)
	if s.projection, err = h.rebuild(ctx, id, true); err != nil {
		return nil, err
	}
	if s.projection.Seq < row.Seq {
		return nil, fmt.Errorf("session %s has %d entries, and its row speaks of %d", id, s.projection.Seq, row.Seq)
	}
	if s.projection.Run > 0 {
		run, err := h.journal.Run(ctx, id, s.projection.Run)
		if err != nil && !errors.Is(err, journal.ErrNotFound) {
			return nil, err
		}
		if run != nil {
			s.run = *run
		}
	}
	s.feed.epoch, s.feed.seq = s.projection.Epoch, s.projection.Seq
	return s, nil
}

// rebuild folds a session's entries, on top of the stored fold if stored is set.
func (h *Hub) rebuild(ctx context.Context, id string, stored bool) (*projection, error) {
	p := &projection{ID: id, Form: projectionForm}
	if stored {
		raw, seq, err := h.journal.Fold(ctx, id)
		if err != nil {
			return nil, err
		}
		if seq > 0 {
			switch err := json.Unmarshal(raw, p); {
			case err != nil || p.Seq != seq || p.ID != id:
				h.log.Warn("a stored fold cannot be read; folding anew", "session", id, "err", err)
				p = &projection{ID: id, Form: projectionForm}
			case p.Form != projectionForm: // it was stored by another version
				p = &projection{ID: id, Form: projectionForm}
			}
		}
	}
	for {
		entries, err := h.journal.Entries(ctx, id, p.Seq, 0, 0)
		if err != nil {
			return nil, err
		}
		if len(entries) == 0 {
			return p, nil
		}
		for i := range entries {
			var c changes
			if err := p.apply(&entries[i], lineOf(&entries[i]), &c); err != nil {
				h.log.Error("folding an entry", "session", id, "seq", entries[i].Seq, "err", err)
			}
		}
	}
}

// Retain removes ended sessions that the limits do not allow to keep, except
// those that are in use. It returns how many it removed.
func (h *Hub) Retain(ctx context.Context, r journal.Retention) (int, error) {
	r.Guard = func(id string) (func(), bool) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if _, loading := h.loading[id]; loading || h.sessions[id] != nil {
			return nil, false
		}
		// A caller that wants the session waits, and then finds that it is gone.
		wait := make(chan struct{})
		h.loading[id] = wait
		return func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			delete(h.loading, id)
			close(wait)
		}, true
	}
	n, err := h.journal.Retain(ctx, r)
	if err != nil {
		return n, fmt.Errorf("removing old sessions: %w", err)
	}
	return n, nil
}

// checkSoon has the maintenance goroutine check a session's run soon.
func (h *Hub) checkSoon(id string) {
	h.mu.Lock()
	h.offline[id] = true
	h.mu.Unlock()
	h.lookSoon(id)
}

// lookSoon has the maintenance goroutine check a session before its next round.
func (h *Hub) lookSoon(id string) {
	select {
	case h.look <- id:
	default: // the next round finds it
	}
}

// maintain checks runs without a link, and evicts sessions that no caller uses.
// It is the hub's maintenance goroutine.
func (h *Hub) maintain() {
	tick := time.NewTicker(h.watch)
	defer tick.Stop()
	idle := time.NewTicker(forgetAfter)
	defer idle.Stop()
	for {
		select {
		case <-h.ctx.Done():
			return
		case id := <-h.look:
			h.reap(id)
		case <-idle.C:
			h.forgetIdle()
		case <-tick.C:
			h.mu.Lock()
			ids := make([]string, 0, len(h.offline))
			for id := range h.offline {
				ids = append(ids, id)
			}
			h.mu.Unlock()
			for _, id := range ids {
				h.reap(id)
			}
			h.globalFeed.skipStuck()
			h.pokeDue()
			h.tickLimits(h.now())
			h.evictIdle()
		}
	}
}

// pokeDue runs a step in the sessions in which something may be due.
func (h *Hub) pokeDue() {
	h.mu.Lock()
	var due []*session
	for _, s := range h.sessions {
		if s.awake.Load() {
			due = append(due, s)
		}
	}
	h.mu.Unlock()
	for _, s := range due {
		s.post(func(*step) {})
	}
}

// forgetAfter is after how long what a session keeps for followers in memory is
// given up, if nothing happens: they read the journal.
const forgetAfter = 10 * time.Second

// forgetIdle has the feeds in which nothing happens take less memory.
func (h *Hub) forgetIdle() {
	h.mu.Lock()
	feeds := make([]*feed, 0, len(h.sessions))
	for _, s := range h.sessions {
		feeds = append(feeds, s.feed)
	}
	h.mu.Unlock()
	for _, f := range feeds {
		f.forgetIdle()
	}
	h.globalFeed.forgetIdle()
}

// evictIdle is the eviction of sessions that no caller has used for a while: they are
// folded again from the journal when one asks for them.
func (h *Hub) evictIdle() {
	now := h.now()
	h.mu.Lock()
	var idle []*session
	for _, s := range h.sessions {
		if s.users == 0 && now.Sub(s.released) >= h.rest {
			idle = append(idle, s)
		}
	}
	h.mu.Unlock()
	for _, s := range idle {
		rests := false
		err := s.do(h.ctx, patient, func(st *step) error {
			rests = s.link == nil && s.process.starts == 0 && len(s.waits) == 0
			if rests && s.unsaved > 0 {
				st.saves = true
				st.touch()
			}
			return nil
		})
		if err != nil || !rests {
			continue
		}
		h.mu.Lock()
		// A caller may have used it meanwhile, and have left it something to do.
		if s.users == 0 && now.Sub(s.released) >= h.rest && h.sessions[s.id] == s {
			delete(h.sessions, s.id)
			close(s.stop)
		}
		h.mu.Unlock()
	}
}

// problem turns an error into one for a caller.
func (h *Hub) problem(err error, id string) error {
	if owned, ok := errors.AsType[*OwnedError](err); ok {
		return &api.Error{Status: http.StatusConflict, Code: api.CodeOwned, Title: owned.Error(), Session: owned.Session, Hint: "stop that session first, or fork the conversation"}
	}
	if unreachable, ok := errors.AsType[*UnreachableError](err); ok {
		return &api.Error{
			Status: http.StatusServiceUnavailable, Code: api.CodeOffline, Title: fmt.Sprintf("the machine %q is not connected", unreachable.Node),
			Hint: "start switchboard node run there, and try again",
		}
	}
	if errors.Is(err, ErrClosed) || errors.Is(err, errEvicted) {
		return record.Closing()
	}
	return record.Problem(h.log, err, id)
}
