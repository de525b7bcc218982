package shim

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/internal/killpoint"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/internal/sandbox"
	"github.com/switchboard-dev/switchboard/internal/sandbox/netproxy"
	"github.com/switchboard-dev/switchboard/wire"
)

const (
	// farewell is how long a shim that was told to end waits for the hub to
	// take its last lines.
	farewell = 5 * time.Second
	// orphanCheck is how often it is looked whether a shim without a hub has
	// waited long enough.
	orphanCheck = time.Minute
	// sweepTime bounds the search for what the CLI has left behind.
	sweepTime = 10 * time.Second
	// linger is how long the output of a CLI that has ended may stay open before
	// what holds it open is ended.
	linger = 2 * time.Second
	// spoolAgain is when it is tried again to save what no hub has taken: the disk
	// may be full, which is no reason to lose it.
	spoolAgain = 5 * time.Second
)

// Env is what [Run] needs besides its orders. The zero value, and nil, are
// ready to use.
type Env struct {
	// Logger is told what happens to the link and to the CLI; never what they
	// say. If nil, none is.
	Logger *slog.Logger

	// started is told the CLI's process, busy that lines are carried, or that the
	// hub has said something. Nil if no code wants to know.
	started func(pid int)
	busy    func(lines bool)

	// For tests; nil means the real ones.
	start    func(context.Context, *claude.Command) (agent, error)
	dial     dialFunc
	sweep    func(context.Context, string) (int, error)
	enforcer func(*sandbox.Profile) (sandbox.Enforcer, error)
	receive  func(*os.File) (*sandbox.Listeners, error)
	network  func(*netproxy.Config) // changes what the proxy does; nil for nothing
}

// An agent is a running CLI, as a [claude.Process] is one.
type agent interface {
	ReadBatch(ctx context.Context) ([][]byte, error)
	Write(ctx context.Context, line []byte) error
	CloseInput() error
	Close() error
	PID() int
	Done() <-chan struct{}
	Stderr() string
}

// Exit codes of [Run] and [Main].
const (
	exitDone = 0 // all is journaled, or spooled, or not wanted
	exitLost = 1 // there was nothing to do, or lines are lost
)

// Run starts a CLI and carries its lines until it has ended and the hub knows.
// It returns the exit code for the process.
//
// When ctx ends the CLI is ended, in good order, and the cause of ctx is given
// to the hub as the reason; lines that the hub does not take within 5 s are
// spooled.
func Run(ctx context.Context, spec *Spec, env *Env) int {
	s := newShim(spec, env)
	return s.run(ctx)
}

// A shim is one run of [Run].
type shim struct {
	// Static after construction.
	spec    *Spec
	env     Env
	log     *slog.Logger
	carrier *carrier

	stops chan stopOrder // from the link to run; has some room

	agent agent        // nil until it is started; static after that
	box   *confinement // nil without a sandbox; static after the start

	arrived []arrival // owned by read: memory for the next batch

	mu sync.Mutex
	// Guarded by mu.
	tracker  tracker
	stopping bool  // the reader waits for nothing any more
	dropped  int64 // lines that were left out since then, and their bytes
	droppedB int64
	swept    int // processes that the CLI left behind and that were ended
}

// A stopOrder has the CLI ended.
type stopOrder struct {
	reason string
	grace  time.Duration
}

func newShim(spec *Spec, env *Env) *shim {
	s := &shim{spec: spec, stops: make(chan stopOrder, 8)}
	if env != nil {
		s.env = *env
	}
	if s.env.Logger == nil {
		s.env.Logger = slog.New(slog.DiscardHandler)
	}
	if s.env.busy == nil {
		s.env.busy = func(bool) {}
	}
	if s.env.start == nil {
		s.env.start = func(ctx context.Context, c *claude.Command) (agent, error) { return c.Start(ctx) }
	}
	if s.env.dial == nil {
		s.env.dial = dialSocket(spec.Socket, spec.Token)
	}
	if s.env.sweep == nil {
		s.env.sweep = claude.Sweep
	}
	if s.env.enforcer == nil {
		s.env.enforcer = enforcerByName
	}
	if s.env.receive == nil {
		s.env.receive = sandbox.Receive
	}
	s.log = s.env.Logger.With("session", spec.Session, "run", spec.Run)
	pid := os.Getpid()
	hello := link.Hello{Session: spec.Session, Run: spec.Run, Instance: spec.Instance, PID: pid, PIDStart: startTime(pid)}
	s.carrier = newCarrier(hello, link.NewOutgoing(spec.BufferBytes, 0), s.env.dial, s.log)
	s.carrier.busy = s.env.busy
	s.carrier.onStop = func(m *link.Stop) {
		s.order(stopOrder{m.Reason, time.Duration(min(m.GraceMS, maxGraceMS)) * time.Millisecond})
	}
	s.tracker.line(time.Now())
	return s
}

// maxGraceMS keeps a number from the hub from running over.
const maxGraceMS = int64(24 * time.Hour / time.Millisecond)

// order passes on that the CLI shall end. Of many orders that come at once some
// are enough.
func (s *shim) order(o stopOrder) {
	select {
	case s.stops <- o:
	default:
	}
}

func (s *shim) run(ctx context.Context) int {
	// What the goroutines use outlives ctx: the CLI is ended first, and the hub
	// is told.
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	var workers sync.WaitGroup
	defer workers.Wait()
	defer end()
	workers.Go(func() { s.carrier.run(life) })

	cli, err := s.start(ctx)
	if err != nil {
		s.log.Error("the CLI was not started", "error", err)
		s.cleanUp()
		s.carrier.event(&link.Event{Event: link.EventExited, Version: s.spec.Command.Version, Reason: err.Error(), Silent: true})
		return s.finish(ctx, verdict{})
	}
	s.agent = cli
	if s.env.started != nil {
		s.env.started(cli.PID())
	}
	s.log.Info("the CLI runs", "pid", cli.PID())
	s.carrier.event(&link.Event{
		Event: link.EventStarted, PID: s.carrier.hello.PID, PIDStart: s.carrier.hello.PIDStart,
		CLIPID: cli.PID(), Version: s.spec.Command.Version,
	})
	if s.box != nil {
		s.box.serve(cli)
	}
	ended := make(chan error, 1)
	workers.Go(func() { ended <- s.read(life) })
	workers.Go(func() { s.write(life) })
	v := s.watch(ctx, ended)
	s.conclude(v)
	return s.finish(ctx, v)
}

// start starts the CLI, in its sandbox if it has one.
func (s *shim) start(ctx context.Context) (agent, error) {
	if s.spec.Sandbox == nil {
		return s.env.start(ctx, s.spec.command())
	}
	for attempt := 1; ; attempt++ {
		cmd := s.spec.command()
		box, err := s.confine(cmd)
		if err != nil {
			return nil, err
		}
		cli, err := s.env.start(ctx, cmd)
		if err != nil {
			box.close()
			return nil, err
		}
		err = box.receive(ctx)
		if err == nil || attempt == sandboxAttempts || !endsSoon(cli) {
			s.box = box
			return cli, nil
		}
		s.log.Warn("the sandbox could not be made and is tried again", "error", err, "said", cli.Stderr())
		_ = cli.Close() // it has ended
		box.close()
	}
}

// A verdict says how the CLI came to its end.
type verdict struct {
	readErr   error  // how reading ended
	requested bool   // the shim was told to end it
	forced    bool   // the shim made it end
	reason    string // of the request
	gone      bool   // the hub does not want to know
	orphaned  bool   // there was no hub for too long
	signalled bool   // the shim shall end, too
}

// watch waits for the end of the CLI, and brings it about if the hub or a signal asks for
// it. It returns when the last line is read.
func (s *shim) watch(ctx context.Context, ended <-chan error) (v verdict) {
	var closer sync.WaitGroup
	defer closer.Wait()
	var grace, lingers <-chan time.Time
	var deadline time.Time
	force := func() {
		if !v.forced {
			v.forced = true
			// Lines still come while it closes.
			closer.Go(func() { s.box.terminate(s.agent) })
			closer.Go(func() {
				if err := s.agent.Close(); err != nil {
					s.log.Error("the CLI was not ended in good order", "error", err)
				}
			})
		}
	}
	stop := func(o stopOrder) {
		if !v.requested {
			v.requested, v.reason = true, o.reason
			s.log.Info("the CLI is being ended", "reason", o.reason, "grace", o.grace)
			s.mu.Lock()
			s.stopping = true
			s.mu.Unlock()
			raise(s.carrier.room)
			s.carrier.event(&link.Event{Event: link.EventStopping, Reason: o.reason})
			_ = s.agent.CloseInput() // never fails
		}
		if o.grace <= 0 {
			force()
		}
		// A second order can only make it faster.
		if at := time.Now().Add(o.grace); deadline.IsZero() || at.Before(deadline) {
			deadline, grace = at, time.After(o.grace)
		}
	}
	cancelled, gone, exited := ctx.Done(), s.carrier.gone, s.agent.Done()
	orphan := time.NewTimer(s.orphanIn())
	defer orphan.Stop()
	for {
		select {
		case v.readErr = <-ended:
			return v
		case <-exited:
			exited, lingers = nil, time.After(linger)
		case <-lingers:
			// Something that it has started writes on, or there is no room for its
			// last lines. Those stay in the pipe until they are read.
			closer.Go(s.sweep)
		case o := <-s.stops:
			stop(o)
		case <-grace:
			force()
		case <-cancelled:
			cancelled, v.signalled = nil, true
			stop(stopOrder{reason: context.Cause(ctx).Error()})
		case <-gone:
			gone, v.gone = nil, true
			stop(stopOrder{reason: "the hub says that the run is gone: " + s.carrier.goneReason})
		case <-s.carrier.changed:
			orphan.Reset(s.orphanIn())
		case <-orphan.C:
			d := s.orphanIn()
			if d > 0 || v.orphaned {
				orphan.Reset(max(d, orphanCheck))
				continue
			}
			v.orphaned = true
			stop(stopOrder{reason: "there was no hub for too long"})
		}
	}
}

// orphanIn returns when to look again whether the shim is an orphan; zero if it
// is one.
func (s *shim) orphanIn() time.Duration {
	connected, lost, _ := s.carrier.state()
	if connected {
		return orphanCheck
	}
	s.mu.Lock()
	idle, since := s.tracker.idle()
	s.mu.Unlock()
	left := time.Until(lost.Add(s.spec.OrphanAfter))
	if idle {
		if since.Before(lost) {
			since = lost
		}
		left = min(left, time.Until(since.Add(s.spec.IdleOrphanAfter)))
	}
	return max(0, min(left, orphanCheck))
}

// sweep ends what the CLI has left behind, and counts it.
func (s *shim) sweep() {
	ctx, cancel := context.WithTimeout(context.Background(), sweepTime)
	defer cancel()
	n, err := s.env.sweep(ctx, s.spec.Marker)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		s.log.Error("what the CLI left behind was not ended", "error", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.swept += n
}

// conclude cleans up after the CLI and appends how it ended.
func (s *shim) conclude(v verdict) {
	if !v.forced {
		s.sweep() // Close would do this as well; here they are counted
	}
	if err := s.agent.Close(); err != nil {
		s.log.Error("the CLI was not ended in good order", "error", err)
	}
	s.box.close() // withdraws its questions
	s.cleanUp()
	// The fate of every command comes before the end.
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	s.carrier.awaitQuiet(ctx)
	cancel()
	s.mu.Lock()
	dropped, bytes, swept := s.dropped, s.droppedB, s.swept
	s.tracker.ended(time.Now())
	s.mu.Unlock()
	if dropped > 0 || errors.Is(v.readErr, claude.ErrClosed) {
		s.carrier.event(&link.Event{Event: link.EventGap, Lines: dropped, Bytes: bytes, Reason: "the CLI was ended before its last lines could be taken"})
	}
	e := exitEvent(v, s.agent.Stderr())
	e.Version, e.Swept = s.spec.Command.Version, swept
	s.log.Info("the CLI has ended", "reason", e.Reason, "swept", swept)
	s.carrier.event(e)
}

// exitEvent says how the CLI ended.
func exitEvent(v verdict, stderr string) *link.Event {
	e := &link.Event{Event: link.EventExited, Requested: v.requested, Stderr: stderr}
	var exit *claude.ExitError
	switch {
	case errors.As(v.readErr, &exit):
		e.Reason, e.Signal, e.Silent = exit.Error(), exit.Signal, exit.Silent
		if exit.Signal == "" {
			e.Code = &exit.Code
		}
	case errors.Is(v.readErr, io.EOF), errors.Is(v.readErr, claude.ErrClosed):
		if !v.forced {
			e.Code = new(int)
		}
		e.Reason = "claude exited with code 0"
	default:
		e.Reason = v.readErr.Error()
	}
	if v.requested {
		e.Reason = "claude was told to end"
		if v.reason != "" {
			e.Reason += ": " + v.reason
		}
	}
	return e
}

// cleanUp removes what the CLI needed.
func (s *shim) cleanUp() {
	if s.spec.PrivateDir == "" {
		return
	}
	if err := os.RemoveAll(s.spec.PrivateDir); err != nil {
		s.log.Error("the CLI's settings were not removed", "error", err)
	}
}

// finish waits until the hub has taken everything. If there is none for too
// long it is spooled.
func (s *shim) finish(ctx context.Context, v verdict) int {
	orphan := time.NewTimer(s.orphanIn())
	defer orphan.Stop()
	var enough <-chan time.Time
	cancelled := ctx.Done()
	if v.signalled {
		cancelled, enough = nil, time.After(farewell)
	}
	var failing time.Time // since when nothing can be saved
	for {
		connected, _, drained := s.carrier.state()
		if drained {
			s.log.Info("the hub has everything")
			return exitDone
		}
		if v.gone {
			s.log.Info("the hub does not want what is left", "lines", s.linesLeft())
			return exitDone
		}
		if v.orphaned && !connected {
			if code, done := s.spool(&failing); done {
				return code
			}
			enough = time.After(spoolAgain)
		}
		v.orphaned = false // a hub has come after all, or it is tried again later
		select {
		case <-s.carrier.gone:
			v.gone = true
		case <-s.carrier.changed:
			orphan.Reset(s.orphanIn())
		case <-s.stops: // there is nothing left to be ended
		case <-cancelled:
			cancelled, enough = nil, time.After(farewell)
		case <-enough:
			if code, done := s.spool(&failing); done {
				return code
			}
			enough = time.After(spoolAgain)
		case <-orphan.C:
			d := s.orphanIn()
			v.orphaned = d == 0 && failing.IsZero()
			orphan.Reset(max(d, time.Second))
		}
	}
}

// linesLeft returns how many lines the hub has not acknowledged.
func (s *shim) linesLeft() int64 {
	s.carrier.mu.Lock()
	defer s.carrier.mu.Unlock()
	return s.carrier.out.Next() - s.carrier.out.Oldest()
}

// read takes the CLI's lines until there are no more, and returns why.
func (s *shim) read(ctx context.Context) error {
	for {
		keep, err := s.awaitRoom(ctx)
		if err != nil {
			return err
		}
		lines, err := s.agent.ReadBatch(ctx)
		s.env.busy(true)
		var tooLong *wire.LineTooLongError
		switch {
		case errors.As(err, &tooLong):
			s.log.Warn("a line was too long to be carried", "length", tooLong.Length)
			s.mu.Lock()
			s.tracker.line(time.Now())
			s.mu.Unlock()
			s.carrier.update(func() { s.carrier.out.Add(link.TooLong, link.NewOversize(tooLong).Encode()) })
		case err != nil:
			return err
		case keep:
			s.keepLines(lines)
		default:
			s.mu.Lock()
			s.dropped += int64(len(lines))
			for _, line := range lines {
				s.droppedB += int64(len(line))
			}
			s.mu.Unlock()
		}
	}
}

// awaitRoom waits until the buffer has room for a batch, which may be more than what
// is free by what one read of the CLI's output brings. A CLI that is being ended is
// not made to wait, or it would not end: its lines may fill the buffer twice, and are
// then left out.
func (s *shim) awaitRoom(ctx context.Context) (keep bool, err error) {
	for {
		s.mu.Lock()
		stopping := s.stopping
		s.mu.Unlock()
		s.carrier.mu.Lock()
		full, bytes := s.carrier.out.Full(), s.carrier.out.Bytes()
		s.carrier.mu.Unlock()
		switch {
		case !full:
			return true, nil
		case stopping:
			return bytes < 2*s.spec.BufferBytes, nil
		}
		select {
		case <-s.carrier.room:
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// keepLines numbers and keeps lines of the CLI for the hub, all at once: the goroutine that
// sends them is woken once.
func (s *shim) keepLines(lines [][]byte) {
	results := false
	s.mu.Lock()
	for _, line := range lines {
		header, err := wire.Peek(line)
		class := wire.Durable // also for what is no JSON
		if err == nil {
			class = wire.ClassOf(header)
		}
		if class == wire.Consumed {
			continue
		}
		if err == nil {
			s.tracker.wrote(line, header)
			results = results || string(header.Type) == "user"
		}
		s.arrived = append(s.arrived, arrivalOf(line, &header, class))
	}
	if len(s.arrived) > 0 {
		s.tracker.line(time.Now())
	}
	s.mu.Unlock()
	if results {
		s.box.callEnded()
	}
	s.carrier.update(func() {
		for i := range s.arrived {
			route(s.carrier.out, &s.arrived[i])
		}
	})
	clear(s.arrived) // the lines are the carrier's now, nothing else holds them
	s.arrived = s.arrived[:0]
}

// write carries out the hub's orders, in their order, until ctx ends.
func (s *shim) write(ctx context.Context) {
	for {
		order, ok := s.carrier.begin(ctx)
		if !ok {
			return
		}
		s.env.busy(true)
		if order.Number == 0 {
			_ = s.agent.CloseInput() // never fails
			s.carrier.done("")
			continue
		}
		if s.box.takes(order.Line) {
			s.carrier.done("")
			continue
		}
		if err := s.agent.Write(ctx, order.Line); err != nil {
			if ctx.Err() != nil {
				return // what became of it cannot be known
			}
			s.log.Warn("a command was not written", "number", order.Number, "error", err)
			s.carrier.done(err.Error())
			continue
		}
		killpoint.Reach("shim.after-write")
		if header, err := wire.Peek(order.Line); err == nil {
			s.mu.Lock()
			s.tracker.answered(header)
			s.mu.Unlock()
		}
		s.carrier.done("")
	}
}
