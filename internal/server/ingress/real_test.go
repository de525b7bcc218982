package ingress_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/claude/claudews"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/internal/server/ingress"
	"github.com/switchboard-dev/switchboard/wire"
)

// patience is how long a test waits for what must happen.
const patience = 30 * time.Second

// admin is the token that may open sessions.
const admin = "sb_admin_secret"

var person = hub.Actor{Source: journal.SourcePerson, Name: "ada", Admin: true}

// A lab is a real hub on a real journal, behind a real port.
type lab struct {
	t        *testing.T
	dir      string
	addr     string
	launcher hub.Launcher

	journal *journal.SQLite
	hub     *hub.Hub
	link    *ingress.Link
	dial    *ingress.Dial
	http    *http.Server
	serving sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]bool
}

func newLab(t *testing.T, launcher hub.Launcher) *lab {
	t.Helper()
	l := &lab{t: t, dir: t.TempDir(), addr: "127.0.0.1:0", launcher: launcher, conns: map[net.Conn]bool{}}
	l.open()
	t.Cleanup(l.close)
	return l
}

func (l *lab) open() {
	l.t.Helper()
	var err error
	if l.journal, err = journal.Open(context.Background(), l.dir, nil); err != nil {
		l.t.Fatal(err)
	}
	if l.hub, err = hub.New(context.Background(), hub.Options{Journal: l.journal, Launcher: l.launcher, Watch: 50 * time.Millisecond}); err != nil {
		l.t.Fatal(err)
	}
	l.link = ingress.NewLink(l.hub, nil)
	l.dial = ingress.NewDial(l.hub, &ingress.DialOptions{
		Trusted: func(r *http.Request) bool { return claudews.BearerToken(r) == admin }, Insist: 500 * time.Millisecond,
	})
	listener, err := net.Listen("tcp", l.addr)
	if err != nil {
		l.t.Fatal(err)
	}
	l.addr = listener.Addr().String()
	mux := http.NewServeMux()
	mux.Handle(link.Path, l.link)
	mux.Handle("/", l.dial)
	l.http = &http.Server{Handler: mux, ConnState: l.note}
	l.serving.Go(func() { _ = l.http.Serve(listener) })
}

// note keeps track of connections, so that they can be cut.
func (l *lab) note(c net.Conn, state http.ConnState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch state {
	case http.StateNew:
		l.conns[c] = true
	case http.StateClosed:
		delete(l.conns, c)
	case http.StateActive, http.StateIdle, http.StateHijacked:
	}
}

// cut closes all connections without a word.
func (l *lab) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		_ = c.Close()
	}
	clear(l.conns)
}

func (l *lab) close() {
	_ = l.link.Close()
	_ = l.dial.Close()
	_ = l.http.Close()
	l.serving.Wait()
	if err := l.hub.Close(); err != nil {
		l.t.Error(err)
	}
	if err := l.journal.Close(); err != nil {
		l.t.Error(err)
	}
}

// restart ends the hub and opens another on the same journal and port.
func (l *lab) restart() {
	l.t.Helper()
	l.close()
	l.open()
}

func (l *lab) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	l.t.Cleanup(cancel)
	return ctx
}

// placeholder makes a session for a CLI that will dial in.
func (l *lab) placeholder(transport, prompt string) *api.Created {
	l.t.Helper()
	created, err := l.hub.Create(l.ctx(), person, api.CreateSession{Dir: l.t.TempDir(), Transport: transport, Prompt: prompt})
	if err != nil {
		l.t.Fatal(err)
	}
	return created
}

// sim starts a simulated CLI that dials a path.
func (l *lab) sim(version, path, token string, hybrid bool, args ...string) *claudetest.Sim {
	l.t.Helper()
	quirks, err := claudetest.QuirksFor(version)
	if err != nil {
		l.t.Fatal(err)
	}
	env := []string{"HOME=" + l.t.TempDir(), "CLAUDE_CODE_SESSION_ACCESS_TOKEN=" + token}
	if hybrid {
		env = append(env, "CLAUDE_CODE_POST_FOR_SESSION_INGRESS_V2=1")
	}
	sim := claudetest.StartSim(&claudetest.SimOptions{
		Quirks: &quirks, Env: env, Dir: l.t.TempDir(),
		Args: append([]string{
			"--sdk-url", "ws://" + l.addr + path, "--print", "--verbose", "--input-format=stream-json", "--output-format=stream-json",
			"--include-partial-messages", "--replay-user-messages",
		}, args...),
	})
	l.t.Cleanup(func() { _ = sim.Close() })
	return sim
}

func (l *lab) snapshot(id string) *api.Session {
	l.t.Helper()
	s, err := l.hub.Snapshot(l.ctx(), id)
	if err != nil {
		l.t.Fatal(err)
	}
	return s
}

// await follows a session until it is as ready says.
func (l *lab) await(id, what string, ready func(*api.Session) bool) *api.Session {
	l.t.Helper()
	ctx := l.ctx()
	c, err := l.hub.Follow(ctx, id, hub.FollowOptions{After: "now", NoLive: true})
	if err != nil {
		l.t.Fatal(err)
	}
	defer c.Close()
	for {
		s := l.snapshot(id)
		if ready(s) {
			return s
		}
		if _, err := c.Next(ctx); err != nil {
			raw, _ := json.Marshal(s)
			l.t.Fatalf("waiting until %s: %v; the session: %s\nits log: %s", what, err, raw, l.kinds(id))
		}
	}
}

func (l *lab) awaitTurns(id string, n int64) *api.Session {
	l.t.Helper()
	return l.await(id, fmt.Sprintf("%d turns are over", n), func(s *api.Session) bool {
		return s.State == api.StateIdle && s.Cost != nil && s.Cost.Turns >= n && len(s.Messages) == 0
	})
}

func (l *lab) awaitQuestion(id string) api.Question {
	l.t.Helper()
	return l.await(id, "it asks", func(s *api.Session) bool { return len(s.Questions) > 0 }).Questions[0]
}

func (l *lab) answer(q api.Question) {
	l.t.Helper()
	if _, err := l.hub.Answer(l.ctx(), person, q.ID, api.Answer{Decision: "allow"}); err != nil {
		l.t.Fatal(err)
	}
}

// entries returns the log of a session.
func (l *lab) entries(id string) (all []journal.Entry) {
	l.t.Helper()
	for {
		after := int64(0)
		if len(all) > 0 {
			after = all[len(all)-1].Seq
		}
		entries, err := l.journal.Entries(l.ctx(), id, after, 0, 0)
		if err != nil {
			l.t.Fatal(err)
		}
		if len(entries) == 0 {
			return all
		}
		all = append(all, entries...)
	}
}

// kinds returns the kinds of a log's entries.
func (l *lab) kinds(id string) string {
	var list []string
	for _, e := range l.entries(id) {
		kind := e.Kind
		if h, err := wire.Peek(e.Line); err == nil {
			kind += ":" + string(h.Type) + string(h.RequestSubtype)
		}
		list = append(list, kind)
	}
	return strings.Join(list, " ")
}

// lines returns the lines of a log.
func (l *lab) lines(id string) (lines []string) {
	for _, e := range l.entries(id) {
		if e.Kind == api.KindLine {
			lines = append(lines, string(e.Line))
		}
	}
	return lines
}

// has reports whether a log has an entry of a kind.
func (l *lab) has(id, kind string) bool {
	return slices.ContainsFunc(l.entries(id), func(e journal.Entry) bool { return e.Kind == kind })
}

// wrote returns the durable lines that a simulated CLI wrote.
func wrote(sim *claudetest.Sim) (lines []string) {
	for _, e := range sim.Record() {
		h, err := wire.Peek([]byte(e.Line))
		if !e.Read && (err != nil || wire.ClassOf(h) == wire.Durable) {
			lines = append(lines, e.Line)
		}
	}
	return lines
}

// judge compares what a CLI wrote with what is in the log: nothing twice, nothing
// that was not written, and nothing missing unless the log says so.
func (l *lab) judge(id string, sim *claudetest.Sim, inOrder bool) {
	l.t.Helper()
	got := l.lines(id) // first: an echo may still be on its way
	want := wrote(sim)
	count := map[string]int{}
	for _, line := range want {
		count[line]++
	}
	for _, line := range got {
		if count[line]--; count[line] < 0 {
			l.t.Errorf("in the log too often, or never written: %s", line)
		}
	}
	all := strings.Join(got, "\n")
	for line, n := range count {
		h, err := wire.Peek([]byte(line))
		// No CLI keeps lines of the control protocol for later. A request that was
		// lost is known from the list of those that are open; an answer, or the echo
		// of ours, is not missed.
		known := err == nil && (h.Is("control_request", "") && strings.Contains(all, string(h.RequestID)) || h.Is("control_response", ""))
		if n > 0 && !known && !l.has(id, api.KindGap) {
			l.t.Errorf("missing, and the log says nothing about that: %s", line)
		}
	}
	if inOrder && !l.has(id, api.KindGap) && !slices.Equal(want, got) {
		l.t.Errorf("the order is not the CLI's")
	}
}

// each runs a test with every kind of CLI that dials in.
func each(t *testing.T, test func(t *testing.T, version, transport string)) {
	for _, version := range []string{"2.1.37", "2.1.120"} {
		for _, transport := range []string{"websocket", "hybrid"} {
			t.Run(version+"/"+transport, func(t *testing.T) {
				t.Parallel() // mostly they wait for a CLI that comes back
				test(t, version, transport)
			})
		}
	}
}

const asks = "@tool Bash {\"command\":\"touch x\"}\n@say Done."

// TestDialled lets CLIs dial in to a placeholder that has a prompt already.
func TestDialled(t *testing.T) {
	each(t, func(t *testing.T, version, transport string) {
		l := newLab(t, nil)
		s := l.placeholder(transport, "@say Hello.")
		sim := l.sim(version, "/ws/cli/"+s.ID, s.Token, transport == "hybrid")
		l.awaitTurns(s.ID, 1)
		if _, err := l.hub.Send(l.ctx(), person, s.ID, api.SendMessage{Text: asks}); err != nil {
			t.Fatal(err)
		}
		l.answer(l.awaitQuestion(s.ID))
		end := l.awaitTurns(s.ID, 2)
		if end.Transport != transport || end.Version != version || end.Text != "Done." {
			t.Errorf("the session is %s, version %s, and says %q", end.Transport, end.Version, end.Text)
		}
		l.judge(s.ID, sim, transport != "hybrid")
		if _, err := l.hub.Stop(l.ctx(), person, s.ID, api.Stop{}); err != nil {
			t.Fatal(err)
		}
		if _, err := sim.Wait(l.ctx()); err != nil {
			t.Errorf("the CLI does not end: %v", err)
		}
	})
}

// TestDialledHubRestarts restarts the hub while a CLI asks.
func TestDialledHubRestarts(t *testing.T) {
	each(t, func(t *testing.T, version, transport string) {
		l := newLab(t, nil)
		s := l.placeholder(transport, asks)
		sim := l.sim(version, "/ws/cli/"+s.ID, s.Token, transport == "hybrid")
		q := l.awaitQuestion(s.ID)
		l.restart()
		if again := l.awaitQuestion(s.ID); again.ID != q.ID {
			t.Errorf("the question is %s now, it was %s", again.ID, q.ID)
		}
		l.answer(q)
		l.awaitTurns(s.ID, 1)
		l.judge(s.ID, sim, false)
		if _, err := l.hub.Send(l.ctx(), person, s.ID, api.SendMessage{Text: "@say More."}); err != nil {
			t.Fatal(err)
		}
		l.awaitTurns(s.ID, 2)
		l.judge(s.ID, sim, false)
	})
}

// TestDialledCut cuts the connections of a CLI that streams and asks.
func TestDialledCut(t *testing.T) {
	each(t, func(t *testing.T, version, transport string) {
		l := newLab(t, nil)
		s := l.placeholder(transport, "@slow 20ms\n@say "+strings.Repeat("word ", 40)+"\n"+asks)
		sim := l.sim(version, "/ws/cli/"+s.ID, s.Token, transport == "hybrid")
		ctx := l.ctx()
		c, err := l.hub.Follow(ctx, s.ID, hub.FollowOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		for live := 0; live < 5; {
			frames, err := c.Next(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range frames {
				if f.Type == api.FrameLive {
					live++
				}
			}
		}
		l.cut()
		l.answer(l.awaitQuestion(s.ID))
		if version != "2.1.37" || transport == "hybrid" { // this one would lose the result, too, and the turn would never end
			l.cut() // perhaps together with the answer
		}
		l.awaitTurns(s.ID, 1)
		l.judge(s.ID, sim, false)
		if lossy := version == "2.1.37" && transport == "websocket"; lossy != l.has(s.ID, api.KindGap) {
			t.Errorf("the log is %s", l.kinds(s.ID))
		}
	})
}

// TestDialledNew lets CLIs dial in that nobody has asked for.
func TestDialledNew(t *testing.T) {
	for _, path := range []string{"/", "/ws/cli/mine"} {
		t.Run(path, func(t *testing.T) {
			l := newLab(t, nil)
			sim := l.sim("2.1.120", path, admin, false)
			id := l.only()
			if _, err := l.hub.Send(l.ctx(), person, id, api.SendMessage{Text: "@say Hello."}); err != nil {
				t.Fatal(err)
			}
			end := l.awaitTurns(id, 1)
			// It comes back to a hub that was restarted: by the last line, or by its name.
			l.restart()
			l.await(id, "it is back", func(s *api.Session) bool { return s.State == api.StateIdle && s.Linked })
			if _, err := l.hub.Send(l.ctx(), person, id, api.SendMessage{Text: "@say Again."}); err != nil {
				t.Fatal(err)
			}
			l.awaitTurns(id, 2)
			l.judge(id, sim, true)
			if got := l.only(); got != id {
				t.Errorf("the session is %s now", got)
			}
			// Another CLI with a conversation that is live is refused, and changes nothing.
			other := l.sim("2.1.120", "/ws/cli/"+end.Conversation, admin, false)
			if _, err := other.Wait(l.ctx()); err != nil {
				t.Errorf("another CLI with the same conversation does not end: %v", err)
			}
			if _, err := l.hub.Send(l.ctx(), person, id, api.SendMessage{Text: "@say Still here."}); err != nil {
				t.Fatal(err)
			}
			l.awaitTurns(id, 3)
			l.judge(id, sim, true)
		})
	}
}

// TestDialledContinues holds that a CLI which dials in under the conversation of a
// session that has ended goes on with that session, as a new run.
func TestDialledContinues(t *testing.T) {
	l := newLab(t, nil)
	s := l.placeholder("websocket", "@say Hello.")
	sim := l.sim("2.1.120", "/ws/cli/"+s.ID, s.Token, false)
	first := l.awaitTurns(s.ID, 1)
	if _, err := l.hub.Stop(l.ctx(), person, s.ID, api.Stop{}); err != nil {
		t.Fatal(err)
	}
	if _, err := sim.Wait(l.ctx()); err != nil {
		t.Fatal(err)
	}
	l.sim("2.1.120", "/ws/cli/"+first.Conversation, admin, false)
	l.await(s.ID, "the second run is there", func(s *api.Session) bool { return s.Run == 2 && s.Linked })
	if _, err := l.hub.Send(l.ctx(), person, s.ID, api.SendMessage{Text: "@say More."}); err != nil {
		t.Fatal(err)
	}
	l.awaitTurns(s.ID, 2)
	if got := l.only(); got != s.ID {
		t.Errorf("the session is %s now", got)
	}
}

// TestDialledAgain holds that a CLI which is started again with the token of a
// placeholder goes on with its session, as a new run.
func TestDialledAgain(t *testing.T) {
	l := newLab(t, nil)
	s := l.placeholder("websocket", "@say Hello.")
	sim := l.sim("2.1.120", "/ws/cli/"+s.ID, s.Token, false)
	l.awaitTurns(s.ID, 1)
	if err := sim.Close(); err != nil {
		t.Fatal(err)
	}
	l.sim("2.1.120", "/ws/cli/"+s.ID, s.Token, false)
	l.await(s.ID, "the second run is there", func(s *api.Session) bool { return s.Run == 2 && s.Linked })
	if _, err := l.hub.Send(l.ctx(), person, s.ID, api.SendMessage{Text: "@say More."}); err != nil {
		t.Fatal(err)
	}
	l.awaitTurns(s.ID, 2)
}

// only returns the id of the only session, waiting for it.
func (l *lab) only() string {
	l.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	ctx := l.ctx()
	for {
		list, err := l.hub.List(ctx, api.SessionFilter{})
		if err != nil {
			l.t.Fatal(err)
		}
		if n := len(list.Sessions); n == 1 {
			return list.Sessions[0].ID
		} else if n > 1 {
			l.t.Fatalf("there are %d sessions", n)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			l.t.Fatal(errors.New("no session comes"))
		}
	}
}
