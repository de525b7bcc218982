package shim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/switchboard-dev/switchboard/internal/killpoint"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/wire"
)

// DefaultTeeBuffer is how much a [Tee] keeps for the hub unless told otherwise.
const DefaultTeeBuffer = 16 << 20

// inputGrace is how long what the program has said is still passed on and copied
// once the CLI has ended, and closeGrace how long a read is waited for that brings
// nothing: not every file can be closed while it is read.
const (
	inputGrace = time.Second
	closeGrace = 10 * time.Millisecond
)

// stalled is how long a hub may take nothing before it is waited for no longer.
const stalled = time.Second

// ErrRefused means that a hub will not have the run, however often it is asked.
var ErrRefused = errors.New("the hub refuses the run")

// A Registration names a run that a hub has made.
type Registration struct {
	// Session, Run, Token and Socket are as in [Spec].
	Session string
	Run     int
	Token   string
	Socket  string
	// SpoolDir is as in [Spec].
	SpoolDir string
}

// A TeeSpec says for which run a [Tee] works.
type TeeSpec struct {
	Registration
	// Register has a hub make the run. It is called until it succeeds or returns
	// [ErrRefused], not by several goroutines at once, with a context that ends
	// after some seconds. If nil, the run is there.
	Register func(ctx context.Context) (Registration, error)
	// Instance is as in [Spec].
	Instance string
	// CLIPID and Version are the CLI's process and version, for the hub. They
	// may be zero.
	CLIPID  int
	Version string
	// Steer lets the hub send prompts and interrupts, too. Otherwise it may only
	// answer what the CLI asks people.
	Steer bool
	// BufferBytes is how much is kept for the hub; what comes when it is full is
	// left out. If zero, 16 MiB.
	BufferBytes int64
	// MaxLine is the longest line that is copied. If zero, 256 MiB. All pass.
	MaxLine int
}

// Streams are the pipes between a program and its CLI.
type Streams struct {
	// FromProgram is what the program writes for the CLI, ToCLI where it goes.
	FromProgram io.ReadCloser
	ToCLI       io.WriteCloser
	// FromCLI is what the CLI writes for the program, ToProgram where it goes.
	FromCLI   io.Reader
	ToProgram io.Writer
}

// A Tee stands between a program and a CLI that belongs to the program. What
// they say to each other passes unchanged and without waiting; the hub gets a copy,
// which may lag behind and has gaps, with an event in their place, if the hub
// is away or slow for long. Without a hub it is a pipe.
//
// The hub may answer the CLI's questions. If it is first, the program is told
// to withdraw the question (control_cancel_request), and its own answer, if it
// still comes, does not reach the CLI; if the program was first, the hub's
// answer fails. Lines of the hub's never come to lie inside a line of the
// program's.
type Tee struct {
	// Static after construction.
	spec    *TeeSpec
	streams Streams
	log     *slog.Logger
	carrier *carrier
	in, out *gate // to the CLI, to the program
	inLines wire.Splitter
	cliSays wire.Splitter
	end     context.CancelFunc
	carried sync.WaitGroup // the goroutine of the carrier
	obeyed  chan struct{}  // closed when the goroutine that carries out orders has ended

	// Owned by the carrier's goroutine until that has ended.
	registered Registration

	mu sync.Mutex
	// Guarded by mu.
	open     map[string]string   // questions by request id: their subtype
	answered map[string]struct{} // questions that the hub has answered before the program
	asked    map[string]struct{} // requests of the hub's that are not answered
	lines    int64               // left out since the last that was copied
	bytes    int64
}

// NewTee returns a tee that looks for the hub from now on. [Tee.Finish] must be
// called in any case. Nil as env is valid.
func NewTee(spec *TeeSpec, streams Streams, env *Env) *Tee {
	t := &Tee{
		spec: spec, streams: streams,
		registered: spec.Registration, open: map[string]string{}, answered: map[string]struct{}{}, asked: map[string]struct{}{},
		in: newGate(streams.ToCLI), out: newGate(streams.ToProgram), obeyed: make(chan struct{}),
	}
	var e Env
	if env != nil {
		e = *env
	}
	if e.Logger == nil {
		e.Logger = slog.New(slog.DiscardHandler)
	}
	if e.dial == nil && spec.Register == nil {
		e.dial = dialSocket(spec.Socket, spec.Token)
	}
	instance := spec.Instance
	if instance == "" {
		instance = newInstance()
	}
	buffer := spec.BufferBytes
	if buffer <= 0 {
		buffer = DefaultTeeBuffer
	}
	t.log = e.Logger
	if spec.Register == nil {
		t.log = t.log.With("session", spec.Session, "run", spec.Run)
	}
	t.inLines.Max, t.cliSays.Max = spec.MaxLine, spec.MaxLine
	t.in.filter, t.in.passed = t.lateAnswers, func(chunk []byte) { split(&t.inLines, chunk, t.programSaid) }
	t.out.filter, t.out.passed = t.hubAnswers, func(chunk []byte) { split(&t.cliSays, chunk, t.cliSaid) }
	pid := os.Getpid()
	start := startTime(pid)
	hello := link.Hello{Session: spec.Session, Run: spec.Run, Instance: instance, Tee: true, Steer: spec.Steer, PID: pid, PIDStart: start}
	t.carrier = newCarrier(hello, link.NewOutgoing(buffer, 0), e.dial, t.log)
	if spec.Register != nil {
		t.carrier.register = func(ctx context.Context) (string, int, dialFunc, error) {
			r, err := spec.Register(ctx)
			if err != nil {
				return "", 0, nil, err
			}
			t.registered = r
			return r.Session, r.Run, dialSocket(r.Socket, r.Token), nil
		}
	}
	t.carrier.onStop = func(*link.Stop) { t.log.Warn("the hub wants to end a CLI that belongs to another program") }
	t.carrier.event(&link.Event{Event: link.EventStarted, PID: pid, PIDStart: start, CLIPID: spec.CLIPID, Version: spec.Version})
	ctx, cancel := context.WithCancel(context.Background())
	t.end = cancel
	t.carried.Go(func() { t.carrier.run(ctx) })
	go func() { // ends soon after ctx; see Finish
		defer close(t.obeyed)
		t.obey(ctx)
	}()
	return t
}

// split hands the lines that a chunk completes to use.
func split(s *wire.Splitter, chunk []byte, use func([]byte, error)) {
	s.Push(chunk)
	for {
		line, err := s.Next()
		if err == nil && line == nil {
			return
		}
		use(line, err)
	}
}

// Run passes bytes both ways until the CLI has closed its output. It returns
// why that could not be passed on to its end; nil if it could. Then the
// program's stream is closed; a read of it that does not notice is left behind.
func (t *Tee) Run() error {
	input := make(chan struct{})
	program := &patientReader{r: t.streams.FromProgram}
	go func() { // ends with the program's stream
		defer close(input)
		err := pump(program, t.in)
		if err != nil {
			t.log.Info("the program's input was not passed on to its end", "error", err)
			// The program gets to know it as it would without us, and not by waiting
			// for ever for a program that takes what it says.
			_ = t.streams.FromProgram.Close()
		}
		_ = t.in.close()            // the CLI may be gone
		_ = t.streams.ToCLI.Close() // the CLI is told, or gone
	}()
	err := pump(t.streams.FromCLI, t.out)
	if closeErr := t.out.close(); err == nil {
		err = closeErr
	}
	_ = t.streams.FromProgram.Close() // it is of no more use
	grace := inputGrace
	if program.waits.Load() {
		grace = closeGrace // there is nothing to be passed on
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-input:
	case <-timer.C:
		// What the CLI has started may hold its input open and read nothing: a
		// write that waits for that does so no more.
		_ = t.streams.ToCLI.Close()
	}
	if err != nil {
		return fmt.Errorf("passing on what the CLI says: %w", err)
	}
	return nil
}

// A patientReader tells whether a goroutine waits for it.
type patientReader struct {
	r     io.Reader
	waits atomic.Bool
}

func (p *patientReader) Read(b []byte) (int, error) {
	p.waits.Store(true)
	defer p.waits.Store(false)
	return p.r.Read(b)
}

// pump reads to the end.
func pump(from io.Reader, to *gate) error {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			if err := to.pass(buf[:n]); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, os.ErrClosed):
			return nil
		case err != nil:
			return err
		}
	}
}

// Finish tells the hub how the CLI has ended and ends the tee. A hub that is
// there has until ctx ends, and at most 5 s, to take what is left, but no longer
// than a second in which it takes nothing. What it has not taken then, or if it
// was away, is put where the next one finds it, if a hub knows the run at all.
func (t *Tee) Finish(ctx context.Context, exited *link.Event) {
	e := *exited
	e.Event = link.EventExited
	t.gap()
	t.carrier.event(&e)
	t.carrier.hurry()
	t.await(ctx)
	t.end()
	t.carried.Wait()
	// An order of the hub's may wait for a program that takes nothing. The program's
	// CLI has ended, and the program must not wait for that because of a hub.
	timer := time.NewTimer(inputGrace)
	defer timer.Stop()
	select {
	case <-t.obeyed:
	case <-timer.C:
		t.log.Warn("an order of the hub's is left undone, since the program takes nothing")
	}
	select {
	case <-t.carrier.gone:
		return
	default:
	}
	t.carrier.mu.Lock()
	defer t.carrier.mu.Unlock()
	if r := t.registered; r.Session != "" && r.SpoolDir != "" && !t.carrier.out.Drained() {
		spec := &Spec{Session: r.Session, Run: r.Run, Instance: t.carrier.hello.Instance, SpoolDir: r.SpoolDir}
		path, err := writeSpool(spec, t.carrier.out, &t.carrier.commands)
		t.log.Info("what no hub has taken is kept for the next", "file", path, "error", err)
	}
}

// await waits until the hub has everything, or there is none, or it takes too
// long.
func (t *Tee) await(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, farewell)
	defer cancel()
	look := time.NewTicker(stalled / 10)
	defer look.Stop()
	oldest, since := t.carrier.oldest(), time.Now()
	for !t.carrier.settled() {
		select {
		case <-t.carrier.changed:
		case <-look.C:
			if now := t.carrier.oldest(); now != oldest {
				oldest, since = now, time.Now()
			} else if time.Since(since) > stalled {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// gap says how much was left out, if something was.
func (t *Tee) gap() {
	t.mu.Lock()
	lines, bytes := t.lines, t.bytes
	t.lines, t.bytes = 0, 0
	t.mu.Unlock()
	if lines > 0 {
		t.carrier.event(&link.Event{Event: link.EventGap, Lines: lines, Bytes: bytes, Reason: "the hub was away or slow, and the buffer was full"})
	}
}

// copyLine keeps a copy for the hub, or counts what is left out.
func (t *Tee) copyLine(size int, add func(*link.Outgoing)) {
	select {
	case <-t.carrier.gone:
		return // there is no hub to keep it for
	default:
	}
	t.carrier.mu.Lock()
	full := t.carrier.out.Full()
	t.carrier.mu.Unlock()
	if full {
		t.mu.Lock()
		t.lines++
		t.bytes += int64(size)
		t.mu.Unlock()
		return
	}
	t.gap()
	t.carrier.update(func() { add(t.carrier.out) })
}

// cliSaid copies a line of the CLI's. It is called with out.mu held.
func (t *Tee) cliSaid(line []byte, err error) {
	if t.tooLong(err) {
		return
	}
	header, err := wire.Peek(line)
	class := wire.Durable
	if err == nil {
		class = wire.ClassOf(header)
		t.mu.Lock()
		switch string(header.Type) {
		case "control_request":
			if len(t.open) < maxOpen { // what is forgotten the program must answer
				t.open[string(header.RequestID)] = string(header.RequestSubtype)
			}
		case "control_cancel_request":
			delete(t.open, string(header.RequestID))
		case "result":
			// A program that was told to withdraw a question and has not answered
			// by now will not.
			clear(t.answered)
		}
		t.mu.Unlock()
	}
	if class == wire.Consumed {
		return
	}
	a := arrivalOf(append([]byte(nil), line...), &header, class)
	t.copyLine(len(line), func(out *link.Outgoing) { route(out, &a) })
}

// programSaid copies a line of the program's that has passed. It is called with
// in.mu held.
func (t *Tee) programSaid(line []byte, err error) {
	if t.tooLong(err) {
		return
	}
	if header, err := wire.Peek(line); err == nil {
		if wire.ClassOf(header) == wire.Consumed {
			return
		}
		if string(header.Type) == "control_response" {
			t.mu.Lock()
			delete(t.open, string(header.RequestID))
			t.mu.Unlock()
		}
	}
	line = append([]byte(nil), line...)
	t.copyLine(len(line), func(out *link.Outgoing) { out.Add(link.Program, line) })
}

func (t *Tee) tooLong(err error) bool {
	if tooLong, ok := errors.AsType[*wire.LineTooLongError](err); ok {
		data := link.NewOversize(tooLong).Encode()
		t.copyLine(len(data), func(out *link.Outgoing) { out.Add(link.TooLong, data) })
	}
	return err != nil
}

// lateAnswers keeps the program from answering what the hub has answered.
func (t *Tee) lateAnswers() func([]byte) bool { return t.swallow(t.answered) }

// hubAnswers keeps what answers the hub's own requests from the program. The
// hub gets it.
func (t *Tee) hubAnswers() func([]byte) bool {
	swallow := t.swallow(t.asked)
	if swallow == nil {
		return nil
	}
	return func(line []byte) bool {
		if !swallow(line) {
			return false
		}
		t.cliSaid(line, nil)
		return true
	}
}

// swallow returns nil if the set is empty, else a function that looks for
// answers to what is in the set, and takes them out of it.
func (t *Tee) swallow(ids map[string]struct{}) func([]byte) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(ids) == 0 {
		return nil
	}
	return func(line []byte) bool {
		header, err := wire.Peek(line)
		if err != nil || string(header.Type) != "control_response" {
			return false
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		id := string(header.RequestID)
		_, found := ids[id]
		delete(ids, id)
		return found
	}
}

// obey carries out the hub's orders.
func (t *Tee) obey(ctx context.Context) {
	for {
		order, ok := t.carrier.begin(ctx)
		if !ok {
			return
		}
		if order.Number == 0 { // the input is the program's to close
			t.carrier.done("")
			continue
		}
		if err := t.command(ctx, order.Line); err != nil {
			if ctx.Err() != nil {
				return
			}
			t.log.Warn("a command was not written", "number", order.Number, "error", err)
			t.carrier.done(err.Error())
			continue
		}
		killpoint.Reach("shim.after-write")
		t.carrier.done("")
	}
}

// command writes a line of the hub's, if it may. An answer is claimed first, between
// two lines of the program's, and the program is told to withdraw its question before
// the CLI has the answer: what the CLI writes then must not reach the program earlier.
func (t *Tee) command(ctx context.Context, line []byte) error {
	header, err := wire.Peek(line)
	if err != nil {
		return fmt.Errorf("it is no message: %w", err)
	}
	id := string(header.RequestID)
	if string(header.Type) == "control_response" {
		if err := t.in.inject(ctx, func() ([]byte, error) { return nil, t.claim(id) }); err != nil {
			return err
		}
		cancel, err := wire.NewCancel(id)
		if err == nil {
			err = t.out.inject(ctx, func() ([]byte, error) { return cancel, nil })
		}
		if err != nil {
			// The CLI gets its answer; that the program still asks is its own matter.
			t.log.Warn("the program was not told that its question is settled", "error", err)
		}
		return t.in.inject(ctx, func() ([]byte, error) { return line, nil })
	}
	return t.in.inject(ctx, func() ([]byte, error) {
		switch {
		case t.spec.Steer && string(header.Type) == "user":
		case t.spec.Steer && string(header.Type) == "control_request" && string(header.RequestSubtype) == "interrupt":
			t.mu.Lock()
			defer t.mu.Unlock()
			t.asked[id] = struct{}{}
		default:
			return nil, errors.New("the CLI belongs to another program, which alone may send this")
		}
		return line, nil
	})
}

// claim makes a question the hub's to answer: an answer of the program's that comes
// later does not reach the CLI.
func (t *Tee) claim(id string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	subtype, open := t.open[id]
	if !open {
		return errors.New("the program has answered this already, or it was withdrawn")
	}
	if !forPeople(subtype) {
		return fmt.Errorf("%s is for the program to answer", subtype)
	}
	delete(t.open, id)
	t.answered[id] = struct{}{}
	return nil
}

// forPeople reports whether a request of the CLI's is a question to people.
func forPeople(subtype string) bool {
	switch subtype {
	case "can_use_tool", "elicitation", "request_user_dialog":
		return true
	}
	return false
}
