package servertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/internal/broadcast"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/wire"
)

// An Agent is a run: a simulated CLI and the link between it and the hub. It is the
// hub's [hub.LinkSender].
type Agent struct {
	// Static after construction.
	Session string
	// Spec is how the hub wanted the CLI started.
	Spec hub.LaunchSpec
	// Sim is the CLI; nil for one that dialed in.
	Sim     *claudetest.Sim
	lab     *core
	pid     int
	ctx     context.Context // ends with the link
	cancel  context.CancelFunc
	orders  chan link.Order
	stops   chan time.Duration
	ready   chan struct{} // closed when runLink is set
	runLink *hub.RunLink  // nil if the hub did not want it

	t    testing.TB  // the part of the test that uses it
	dead atomic.Bool // its process is gone

	saying sync.Mutex // held while the hub is given lines
	number int64      // of the last durable line; guarded by saying
	k      int64      // of the last live line after it; guarded by saying

	mu      sync.Mutex
	sent    []string            // what the hub sent; guarded by mu
	answers map[string]string   // see Answer; guarded by mu
	stopped []time.Duration     // see Stops; guarded by mu
	changed broadcast.Broadcast // guarded by mu
}

// newAgent makes an agent that is the newest of its session.
func (l *core) newAgent(spec hub.LaunchSpec) *Agent {
	a := &Agent{
		Session: spec.Session, Spec: spec, lab: l,
		orders: make(chan link.Order, 4096), stops: make(chan time.Duration, 64), ready: make(chan struct{}), answers: map[string]string{},
	}
	a.ctx, a.cancel = context.WithCancel(context.Background())
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, a)
	l.agents[spec.Session] = a
	a.pid = len(l.all)
	return a
}

// start starts the CLI.
func (a *Agent) start() error {
	quirks, err := claudetest.QuirksFor(a.lab.version)
	if err != nil {
		return err
	}
	args := []string{
		"--print", "--verbose", "--input-format=stream-json", "--output-format=stream-json", "--permission-prompt-tool=stdio",
		"--include-partial-messages", "--replay-user-messages",
	}
	if a.Spec.Resume != "" {
		args = append(args, "--resume="+a.Spec.Resume)
	}
	if a.Spec.Fork {
		args = append(args, "--fork-session")
	}
	if mode := a.Spec.Options.PermissionMode; mode != "" {
		args = append(args, "--permission-mode="+mode)
	}
	if a.Spec.Options.AllowBypass {
		args = append(args, "--allow-dangerously-skip-permissions")
	}
	dir := a.Spec.Dir
	if _, err := os.Stat(dir); err != nil {
		dir = a.lab.Dir // examples of documents name folders that are not there
	}
	a.Sim = claudetest.StartSim(&claudetest.SimOptions{
		Quirks: &quirks, Dir: dir, Args: args,
		Env: []string{"HOME=" + a.lab.Dir, "ANTHROPIC_API_KEY=made-up", "IS_SANDBOX=1"},
	})
	a.lab.running.Go(a.run)
	return nil
}

// kill ends the agent at once.
func (a *Agent) kill() {
	a.dead.Store(true)
	a.cancel()
	if a.Sim != nil {
		_ = a.Sim.Close() // it may have ended
	}
}

// Cut cuts the link. The process lives on.
func (a *Agent) Cut() {
	a.cancel()
	a.runLink.Lost(errors.New("the link was cut"))
}

// Kill ends the process, which says nothing any more.
func (a *Agent) Kill() {
	a.kill()
	a.runLink.Lost(errors.New("the process was killed"))
}

// Send implements [hub.LinkSender].
func (a *Agent) Send(orders []link.Order) {
	for _, o := range orders {
		a.orders <- o
	}
}

// Stop implements [hub.LinkSender].
func (a *Agent) Stop(grace time.Duration, _ string) { a.stops <- grace }

// CloseInput implements [hub.LinkSender].
func (a *Agent) CloseInput() { a.stops <- -1 }

// Ack implements [hub.LinkSender].
func (a *Agent) Ack(int64) {}

// Close implements [hub.LinkSender].
func (a *Agent) Close(string) { a.cancel() }

// run connects the CLI to the hub and carries its lines until it has ended.
func (a *Agent) run() {
	hello := hub.Hello{Token: a.Spec.Token, Hello: link.Hello{
		Session: a.Session, Run: a.Spec.Run, Instance: a.Instance(), Next: 1, Oldest: 1, PID: a.pid, PIDStart: "x",
	}}
	runLink, _, err := a.lab.Hub.Attach(a.ctx, hello, a)
	if err != nil {
		if a.ctx.Err() == nil {
			a.lab.whole.Errorf("attaching: %v", err)
		}
		close(a.ready)
		return
	}
	a.runLink = runLink
	close(a.ready)
	a.lab.running.Go(a.write)
	for {
		line, err := a.Sim.Read(a.ctx)
		if err != nil {
			break
		}
		h, _ := wire.Peek(line) // what is malformed is kept
		a.receive(line, wire.ClassOf(h))
	}
	if a.ctx.Err() != nil {
		return
	}
	code, _ := a.Sim.Wait(a.ctx)
	a.dead.Store(true)
	a.exited(code)
}

// exited tells the hub that the CLI has ended.
func (a *Agent) exited(code int) {
	event, err := json.Marshal(link.Event{Event: "exited", Code: &code, Reason: "it has ended", Requested: true})
	if err != nil {
		a.lab.whole.Error(err)
		return
	}
	a.saying.Lock()
	defer a.saying.Unlock()
	a.number++
	a.give(hub.Item{Record: link.Record{Number: a.number, Kind: link.Happened, Bytes: event}})
}

// write takes what the hub sends, and gives it to the CLI.
func (a *Agent) write() {
	for {
		select {
		case o := <-a.orders:
			a.take(o)
		case grace := <-a.stops:
			a.mu.Lock()
			a.stopped = append(a.stopped, grace)
			a.changed.Notify()
			a.mu.Unlock()
			if a.Sim != nil {
				_ = a.Sim.CloseInput() // it may have ended
			}
		case <-a.ctx.Done():
			return
		}
	}
}

// take takes a line of the hub.
func (a *Agent) take(o link.Order) {
	h, _ := wire.Peek(o.Line) // the hub sends nothing that is malformed
	a.mu.Lock()
	a.sent = append(a.sent, string(o.Line))
	answer, scripted := a.answers[string(h.RequestSubtype)]
	a.changed.Notify()
	a.mu.Unlock()
	scripted = scripted && string(h.Type) == "control_request"
	if a.Sim != nil && !scripted {
		if err := a.Sim.Write(a.ctx, o.Line); err != nil {
			_ = a.runLink.Failed(a.ctx, o.Number, err.Error()) // the hub may be gone
			return
		}
	}
	_ = a.runLink.Written(a.ctx, o.Number) // the hub may be gone
	if scripted {
		a.receive([]byte(Answered(string(h.RequestID), answer)), wire.Durable)
	}
}

// receive gives the hub a line of the CLI.
func (a *Agent) receive(line []byte, class wire.Class) {
	a.saying.Lock()
	defer a.saying.Unlock()
	record := link.Record{Kind: link.Line, Bytes: line}
	switch {
	case class == wire.Consumed:
		return
	case class == wire.Live:
		a.k++
		record.Kind = link.Live
	default:
		a.number++
		a.k = 0
	}
	if a.Sim != nil { // lines of a CLI that dials in have no numbers
		record.Number, record.K = a.number, a.k
	}
	a.give(hub.Item{Record: record})
}

// give gives the hub an item. saying is held.
func (a *Agent) give(item hub.Item) {
	if err := a.runLink.Receive(a.ctx, []hub.Item{item}); err != nil && a.ctx.Err() == nil {
		a.lab.whole.Errorf("giving the hub %s: %v", item.Bytes, err)
	}
}

// Say has the CLI say lines. They are in the journal when it returns.
func (a *Agent) Say(lines ...string) {
	for _, line := range lines {
		h, _ := wire.Peek([]byte(line)) // what is malformed is kept
		a.receive(bytes.Clone([]byte(line)), wire.ClassOf(h))
	}
}

// Given returns the number of the last durable line that the hub was given.
func (a *Agent) Given() int64 {
	a.saying.Lock()
	defer a.saying.Unlock()
	return a.number
}

// Instance returns the name of the agent's shim.
func (a *Agent) Instance() string { return fmt.Sprint("i", a.pid) }

// Answer has all control requests with a subtype answered so from now on, instead of by
// the CLI.
func (a *Agent) Answer(subtype, response string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers[subtype] = response
}

// Answered is the line that answers a control request.
func Answered(requestID, response string) string {
	return fmt.Sprintf(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":%s}}`, requestID, response)
}

// Sent returns the lines that the hub has sent.
func (a *Agent) Sent() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]string(nil), a.sent...)
}

// AwaitSent waits until the hub has sent a line with all of the texts in it, and returns
// the first such line.
func (a *Agent) AwaitSent(texts ...string) string {
	a.t.Helper()
	var found string
	a.await("the hub sends "+strings.Join(texts, " and "), func() bool {
		for _, line := range a.sent {
			missing := false
			for _, text := range texts {
				missing = missing || !strings.Contains(line, text)
			}
			if !missing {
				found = line
				return true
			}
		}
		return false
	})
	return found
}

// AwaitStop waits until the hub wants the process to end, and returns the time that it
// gives it; below zero if only the input was closed.
func (a *Agent) AwaitStop() (grace time.Duration) {
	a.t.Helper()
	a.await("the hub stops the process", func() bool {
		if len(a.stopped) == 0 {
			return false
		}
		grace = a.stopped[len(a.stopped)-1]
		return true
	})
	return grace
}

// await waits until ok, which is called with mu held.
func (a *Agent) await(what string, ok func() bool) {
	a.t.Helper()
	limit := time.NewTimer(Patience)
	defer limit.Stop()
	for {
		a.mu.Lock()
		done := ok()
		changed := a.changed.Changed()
		sent := strings.Join(a.sent, "\n")
		a.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-limit.C:
			a.t.Fatalf("waiting until %s; it has sent\n%s", what, sent)
		}
	}
}
