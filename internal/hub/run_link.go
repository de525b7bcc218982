package hub

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// Hello is how the link of a shim introduces itself: with its first message, and
// with the run's credential from the request that opened the connection.
type Hello struct {
	link.Hello
	Token string
	// Node is the node whose connection carried the link, "" for one on the hub's own
	// machine.
	Node string
	// Elsewhere says that the link is that of a tee on a machine that is no node: the hub
	// can ask nothing of its disk.
	Elsewhere bool
}

// A LinkSender sends to the other end of a link. Its methods only queue what they are
// given; they do not wait for the other side, and do not call the hub.
type LinkSender interface {
	// Send sends commands, in order. Their numbers are those of the run's outbox;
	// they grow, and some may be missing.
	Send(commands []link.Order)
	// Stop has the process ended: its input closed, and after grace with force.
	Stop(grace time.Duration, reason string)
	// CloseInput has the process's input closed.
	CloseInput()
	// Ack says that the lines up to a number are in the journal.
	Ack(have int64)
	// Close says that this connection counts no more.
	Close(reason string)
}

// An Item is what a link brings: a record or a gap. Where the link has no numbers,
// that of the record is zero. The hub keeps the slice of its bytes.
type Item struct {
	link.Record
	// Header is what [wire.Peek] returned for Bytes; nil if that was an error, or if
	// the link has not read the header.
	Header *wire.Header
	// Repeat says that the item may have been received before.
	Repeat bool
	// Gap says what is missing here; nil for a record.
	Gap *api.Gap
}

// Errors of Attach.
var (
	// ErrCredential means that the credential is missing or wrong.
	ErrCredential = errors.New("the credential is not that of this run")
	// ErrGone is the cause with which a link is lost for good.
	ErrGone = errors.New("it did not come back")
)

// A GoneError says that a run is over and its process should end.
type GoneError struct{ Reason string }

// Error returns the reason.
func (e *GoneError) Error() string { return e.Reason }

// An OwnedError says that another shim has the run, or another session its conversation.
type OwnedError struct {
	// Instance is the shim that has the run, Session and Run the holder of the
	// conversation.
	Instance string
	Session  string
	Run      int
}

// Error names the owner.
func (e *OwnedError) Error() string {
	if e.Session != "" {
		return fmt.Sprintf("run %d of session %s has this conversation", e.Run, e.Session)
	}
	return fmt.Sprintf("instance %s has this run", e.Instance)
}

// A RunLink is a link to the process of a run. Its methods may be called
// from several goroutines, but what Receive is given counts in the order of the
// calls.
type RunLink struct {
	hub     *Hub
	session *session
	release func()
	sender  LinkSender
	run     int
	tee     bool // the CLI is a program's
	steer   bool // which lets others prompt it
	dialled bool
	relay   bool // another program's relay shows the agent; dialled, tee and steer are set, too
	spool   bool // what a dead shim left; nothing can be sent
	// runner and unauthenticated are those of [DialHello].
	runner          string
	unauthenticated bool

	// Owned by the session's loop.
	over      bool // it has been lost or replaced
	connected bool // commands may be sent
	deaf      bool // a prompt could not be written; it would fail again and again
	acked     int64
	seen      map[[32]byte]int // how many such lines of this run are in the log, less those that the CLI has repeated; nil if it is not known
	paused    *delivery        // for which something is being read
	recovers  string           // request id of an initialize under way
	recovery  int64            // and its number
}

// A linkState is what a session knows of its links, the one that it has and those
// before.
type linkState struct {
	// joined counts connections: a command is not sent by one that came after it,
	// which is given all that is unwritten, in order.
	joined int
	// lastLive is the place of the run's newest live line.
	lastLive [2]int64
}

// Session returns the id of the session, Run the number of the run.
func (l *RunLink) Session() string { return l.session.id }

// Run returns the number of the run.
func (l *RunLink) Run() int { return l.run }

// Attach connects the link of a shim to its run.
func (h *Hub) Attach(ctx context.Context, hello Hello, sender LinkSender) (*RunLink, link.Welcome, error) {
	return h.attach(ctx, hello, sender, false)
}

// AttachSpool connects what a shim left in a file when it gave up waiting for a
// hub. Its lines are taken in even if the run was found to have ended meanwhile.
func (h *Hub) AttachSpool(ctx context.Context, hello Hello, sender LinkSender) (*RunLink, link.Welcome, error) {
	return h.attach(ctx, hello, sender, true)
}

func (h *Hub) attach(ctx context.Context, hello Hello, sender LinkSender, spool bool) (*RunLink, link.Welcome, error) {
	s, release, err := h.acquire(ctx, hello.Session)
	if err != nil {
		var problem *api.Error
		if errors.As(err, &problem) && problem.Code == api.CodeNotFound {
			return nil, link.Welcome{}, &GoneError{Reason: "this hub does not know the session"}
		}
		return nil, link.Welcome{}, err
	}
	l := &RunLink{hub: h, session: s, release: release, sender: sender, run: hello.Run, tee: hello.Tee, steer: hello.Steer, connected: !spool, spool: spool}
	var welcome link.Welcome
	err = lookUp(ctx, s, patient, s.shim, h.alive, func(st *step, alive *bool) (err error) {
		welcome, err = st.attach(l, hello, alive)
		return err
	})
	if errors.Is(err, errRunOver) {
		err = h.gone(ctx, hello)
	}
	if err != nil {
		l.Lost(err) // it may still be attached, if ctx has ended
		return nil, link.Welcome{}, err
	}
	return l, welcome, nil
}

// attach is Attach in the session's loop. alive says whether the shim that has the run
// lives, see lookUp.
func (st *step) attach(l *RunLink, hello Hello, alive *bool) (link.Welcome, error) {
	s, p := st.s, st.s.projection
	if l.spool {
		return st.attachSpool(l, hello, alive)
	}
	if hello.Run != p.Run || p.Ended != nil {
		return link.Welcome{}, errRunOver
	}
	if hello.Node != s.run.Node {
		return link.Welcome{}, ErrCredential
	}
	if subtle.ConstantTimeCompare(hashToken(hello.Token), s.run.TokenHash) != 1 {
		return link.Welcome{}, ErrCredential
	}
	if s.run.Instance != "" && s.run.Instance != hello.Instance {
		if err := s.free(alive); err != nil {
			return link.Welcome{}, err
		}
	}
	if s.run.Have >= hello.Next && hello.Next > 0 {
		return link.Welcome{}, &GoneError{Reason: "the hub has lines of this run that the shim does not know of"}
	}
	if s.link != nil {
		s.link.replace("the shim has connected anew")
	}
	back := p.phase() == fold.PhaseOffline
	s.link = l
	s.links.joined++
	s.run.Instance, s.run.PID, s.run.PIDStart = hello.Instance, hello.PID, hello.PIDStart
	if spec := specOf(s.run.Spec); spec.Elsewhere != hello.Elsewhere {
		spec.Elsewhere = hello.Elsewhere
		s.run.Spec = encoded(spec)
	}
	st.event(api.KindLinkUp, Actor{}, record.RunFound{Back: back})
	if p.Node != "" {
		s.hub.noteRun(s.id, p.Node) // which recover could not, if the session could not be read
	}
	// Where the journal is behind, numbers of its entries are about to be used a
	// second time, for something else.
	epoch := ""
	if hello.Oldest > s.run.Have+1 || hello.Written >= s.run.NextCommand {
		epoch = newEpoch()
	}
	if hello.Oldest > s.run.Have+1 {
		st.event(api.KindGap, Actor{}, api.Gap{
			From: s.run.Have + 1, To: hello.Oldest - 1, Certain: true, Epoch: epoch,
			Reason: "the journal is older than what the shim has sent",
		})
		s.run.Have = hello.Oldest - 1
	}
	if hello.Written >= s.run.NextCommand {
		st.event(api.KindGap, Actor{}, api.Gap{
			From: s.run.NextCommand, To: hello.Written, Certain: true, Epoch: epoch,
			Reason: "the journal is older than what was written to the agent",
		})
		s.run.NextCommand = hello.Written + 1
	}
	for _, f := range hello.Failed {
		st.failed(l, f.Number, f.Reason)
	}
	st.written(hello.Written)
	st.touch()
	l.acked = s.run.Have
	st.resend(l, hello.Writing)
	st.rulesChanged() // they may have, while it was away
	st.refuseForeign()
	switch stopping := s.process.stopping; {
	case s.turnTaken():
		st.closeInput(l)
	case stopping != "":
		// The order to stop may have been lost with the old connection.
		st.then(func() { l.sender.Stop(stopGrace, stopping) })
	}
	return link.Welcome{Epoch: p.Epoch, Have: s.run.Have, Next: s.run.NextCommand}, nil
}

// attachSpool attaches what a dead shim left.
func (st *step) attachSpool(l *RunLink, hello Hello, alive *bool) (link.Welcome, error) {
	s := st.s
	switch {
	case hello.Node != s.projection.Node:
		return link.Welcome{}, ErrCredential
	case hello.Run > s.projection.Run:
		return link.Welcome{}, &GoneError{Reason: "this hub does not know the run"}
	case hello.Run < s.projection.Run:
		// Among those of the next run its lines would tell something else.
		return link.Welcome{}, &GoneError{Reason: "the session continued with another run"}
	}
	if err := s.free(alive); err != nil {
		return link.Welcome{}, err
	}
	if s.run.Instance != "" && s.run.Instance != hello.Instance {
		return link.Welcome{}, &OwnedError{Instance: s.run.Instance}
	}
	s.link = l
	l.tee = s.projection.Transport == transportTee // what its CLI asks the program is not the hub's to refuse
	for _, f := range hello.Failed {
		st.failed(l, f.Number, f.Reason)
	}
	st.written(hello.Written)
	l.acked = s.run.Have
	return link.Welcome{Epoch: s.projection.Epoch, Have: s.run.Have, Next: s.run.NextCommand}, nil
}

// errRunOver says that the run of a shim is not the current one, or has ended.
var errRunOver = errors.New("the run is over")

// gone judges a shim whose run is over: one with the right credential is told so.
func (h *Hub) gone(ctx context.Context, hello Hello) error {
	row, err := h.journal.Run(ctx, hello.Session, hello.Run)
	if err != nil || subtle.ConstantTimeCompare(hashToken(hello.Token), row.TokenHash) != 1 || hello.Node != row.Node {
		if errors.Is(err, journal.ErrNotFound) {
			return &GoneError{Reason: "this hub does not know the run"}
		}
		return errors.Join(err, ErrCredential)
	}
	return &GoneError{Reason: "the run has ended: " + row.Reason}
}

// A shimProcess names the process of a shim, and the machine that it is on.
type shimProcess struct {
	Process
	node string
}

// shim returns the process that has the run. It runs in loop.
func (s *session) shim() shimProcess { return shimProcess{processOf(&s.run), s.run.Node} }

// processOf names the process of a run.
func processOf(r *journal.Run) Process {
	return Process{Session: r.Session, Run: r.Run, PID: r.PID, PIDStart: r.PIDStart}
}

// lifeTime bounds how long another machine may take to say whether a process lives.
const lifeTime = 5 * time.Second

// life says what is known of a process. It may wait for another machine, so that steps
// are told; they do not ask.
func (h *Hub) life(ctx context.Context, p shimProcess) Life {
	launcher := h.launcherOf(p.node)
	if launcher == nil {
		return LifeDead
	}
	if p.node == "" {
		if p.PID <= 0 {
			return LifeDead
		}
		return launcher.Life(ctx, p.Process)
	}
	ctx, cancel := context.WithTimeout(ctx, lifeTime)
	defer cancel()
	return launcher.Life(ctx, p.Process)
}

// alive reports whether a process may live: what is not known to be dead does.
func (h *Hub) alive(p shimProcess) bool { return h.life(h.ctx, p) != LifeDead }

// free says that another shim has the run, nil if none has.
func (s *session) free(alive *bool) error {
	switch {
	case s.link == nil && alive == nil:
		return errUnknown
	case s.link != nil || *alive:
		return &OwnedError{Instance: s.run.Instance}
	}
	return nil
}

// replace takes a link out of use. Its owner will find that it counts no more.
func (l *RunLink) replace(reason string) {
	l.over = true
	l.session.link = nil
	l.sender.Close(reason)
}

// committed acknowledges what is in the journal now.
func (l *RunLink) committed() {
	if have := l.session.run.Have; !l.dialled && have > l.acked && l.run == l.session.run.Run {
		l.acked = have
		l.sender.Ack(have)
	}
}

// Written says that the commands up to a number are written to the CLI.
func (l *RunLink) Written(ctx context.Context, upTo int64) error {
	return l.session.do(ctx, patient, func(st *step) error {
		if l.run == st.s.projection.Run && !l.over {
			st.written(upTo)
		}
		return nil
	})
}

// Failed says that a command was not and will not be written on this connection.
func (l *RunLink) Failed(ctx context.Context, number int64, reason string) error {
	return l.session.do(ctx, patient, func(st *step) error {
		if l.run == st.s.projection.Run && !l.over {
			l.deaf = st.failed(l, number, reason) || l.deaf
		}
		return nil
	})
}

// Lost says that the connection is gone. It may be called more than once.
func (l *RunLink) Lost(cause error) {
	defer l.release()
	l.session.post(func(st *step) { st.lost(l, cause) })
}

// lost is Lost in the session's loop.
func (st *step) lost(l *RunLink, cause error) {
	s := st.s
	if l.over || s.link != l {
		return
	}
	if d := l.paused; d != nil {
		// What it brought before it was lost counts: it may be a plan, which
		// outlives the process.
		d.lost, d.cause = true, cause
		return
	}
	l.over = true
	s.link = nil
	if s.projection.Ended != nil || s.projection.Run != l.run {
		return
	}
	reason := "the connection was closed"
	if cause != nil {
		reason = cause.Error()
	}
	if l.dialled && errors.Is(cause, ErrGone) {
		st.endRun(api.Ended{Reason: reason}, false)
		return
	}
	st.down(reason)
	// A shim that has died is found out sooner than by the next round.
	s.hub.checkSoon(s.id)
}

// down notes that the process cannot be reached.
func (st *step) down(reason string) {
	if st.s.projection.phase() != fold.PhaseOffline {
		st.event(api.KindLinkLost, Actor{}, record.LinkLost{Reason: reason})
	}
	st.abandon("the connection to the agent was lost")
}
