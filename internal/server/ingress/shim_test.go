//go:build unix

package ingress_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/server/ingress"
	"github.com/switchboard-dev/switchboard/internal/shim"
	"github.com/switchboard-dev/switchboard/wire"
)

// A shimLauncher runs shims inside the test, each with a simulated CLI as its
// process.
type shimLauncher struct {
	t      *testing.T
	socket string
	spool  string

	mu      sync.Mutex
	running int
	records map[string]string // files by session
	ends    []context.CancelCauseFunc
	done    sync.WaitGroup
}

func (l *shimLauncher) Start(_ context.Context, spec hub.LaunchSpec) (*hub.Launched, error) {
	dir := l.t.TempDir()
	record := filepath.Join(dir, "record")
	program, err := claudetest.Install(dir, &claudetest.InstallOptions{Record: record})
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(&shim.Spec{
		Session: spec.Session, Run: spec.Run, Token: spec.Token, Marker: spec.Marker, Socket: l.socket, SpoolDir: l.spool,
		Command: shim.Command{
			Args: []string{
				program, "-p", "--verbose", "--input-format=stream-json", "--output-format=stream-json", "--include-partial-messages",
				"--replay-user-messages", "--permission-prompt-tool=stdio", "--permission-mode=default",
			},
			Env: append(claudetest.Env(l.t.TempDir(), ""), "GORACE=atexit_sleep_ms=0", "GOCOVERDIR="+os.TempDir()), Dir: spec.Dir, Version: "2.1.325",
		},
	})
	if err != nil {
		return nil, err
	}
	orders, err := shim.ReadSpec(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running++
	l.records[spec.Session] = record
	l.ends = append(l.ends, cancel)
	l.done.Go(func() {
		shim.Run(ctx, orders, nil)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.running--
	})
	return &hub.Launched{PID: os.Getpid(), PIDStart: "x", Version: "2.1.325", Simulated: true}, nil
}

func (l *shimLauncher) Life(context.Context, hub.Process) hub.Life {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running > 0 {
		return hub.LifeAlive
	}
	return hub.LifeDead
}

func (*shimLauncher) Resolve(context.Context, []string) ([]hub.Resolved, error) {
	return nil, errors.ErrUnsupported
}

func (l *shimLauncher) Sweep(context.Context, string) (int, error) { return 0, nil }

func (*shimLauncher) Plan(context.Context, hub.PlanQuery) (*hub.PlanFile, error) {
	return nil, fs.ErrNotExist
}

func (l *shimLauncher) History(context.Context, string, string, string) (iter.Seq2[[]byte, error], error) {
	return nil, fs.ErrNotExist
}

// end ends all shims, and waits.
func (l *shimLauncher) end() {
	l.mu.Lock()
	for _, cancel := range l.ends {
		cancel(errors.New("the test is over"))
	}
	l.mu.Unlock()
	l.done.Wait()
}

// record returns what the CLI of a session wrote and read.
func (l *shimLauncher) record(session string) (entries []claudetest.Entry) {
	l.t.Helper()
	l.mu.Lock()
	file := l.records[session]
	l.mu.Unlock()
	data, err := os.ReadFile(file)
	if err != nil {
		l.t.Fatal(err)
	}
	for raw := range bytes.Lines(data) {
		var e claudetest.Entry
		if err := json.Unmarshal(raw, &e); err != nil {
			l.t.Fatalf("the record has %s: %v", raw, err)
		}
		entries = append(entries, e)
	}
	return entries
}

func newShimLab(t *testing.T) (*lab, *shimLauncher) {
	t.Helper()
	dir, err := os.MkdirTemp("", "sb") //nolint:usetesting // it has to be short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	launcher := &shimLauncher{t: t, socket: filepath.Join(dir, "hub.sock"), spool: filepath.Join(dir, "spool"), records: map[string]string{}}
	l := newLab(t, launcher)
	l.listenUnix(launcher.socket)
	t.Cleanup(launcher.end)
	return l, launcher
}

// listenUnix also listens on a socket, until the lab is closed.
func (l *lab) listenUnix(path string) {
	l.t.Helper()
	listener, err := net.Listen("unix", path)
	if err != nil {
		l.t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.t.Fatal(err)
	}
	l.serving.Go(func() { _ = l.http.Serve(listener) })
}

// judgeShim compares a CLI's own record with the log: every durable line once and
// in order, every command once and in order.
func judgeShim(t *testing.T, l *lab, launcher *shimLauncher, session string) {
	t.Helper()
	var wrote, read, lines, sent []string
	for _, e := range launcher.record(session) {
		h, err := wire.Peek([]byte(e.Line))
		switch {
		case e.Read:
			read = append(read, e.Line)
		case err != nil || wire.ClassOf(h) == wire.Durable:
			wrote = append(wrote, e.Line)
		}
	}
	for _, e := range l.entries(session) {
		switch e.Kind {
		case api.KindLine:
			lines = append(lines, string(e.Line))
		case api.KindSent:
			sent = append(sent, string(e.Line))
		case api.KindGap:
			t.Errorf("the log has a gap: %s", e.Data)
		}
	}
	if !slices.Equal(wrote, lines) {
		t.Errorf("the CLI wrote %d lines, and the log has %d, or others (-wrote +log):\n%s", len(wrote), len(lines), cmp.Diff(wrote, lines))
	}
	if !slices.Equal(sent, read) {
		t.Errorf("the CLI read %d lines, and the log has sent %d, or others", len(read), len(sent))
	}
}

// TestShim cuts the links of shims, and restarts the hub, at random moments while
// their CLIs write and ask.
func TestShim(t *testing.T) {
	l, launcher := newShimLab(t)
	seed := rand.Uint64()
	t.Logf("the seed is %d", seed)
	random := rand.New(rand.NewPCG(seed, seed))
	var prompt strings.Builder
	for n := range 400 {
		fmt.Fprintf(&prompt, "@line {\"type\":\"note\",\"n\":%d,\"fill\":%q}\n", n, strings.Repeat("x", 100))
	}
	var ids []string
	for range 3 {
		created, err := l.hub.Create(l.ctx(), person, api.CreateSession{Dir: t.TempDir(), Prompt: prompt.String()})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, created.ID)
	}
	// Whenever some more lines of the first have come, all links are cut.
	ctx := l.ctx()
	follower, err := l.hub.Follow(ctx, ids[0], hub.FollowOptions{NoLive: true})
	if err != nil {
		t.Fatal(err)
	}
	defer follower.Close()
	lost := 0
	read := func() int {
		frames, err := follower.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range frames {
			if f.Event != nil && f.Event.Kind == api.KindLinkLost {
				lost++
			}
		}
		return len(frames)
	}
	for seen, next := 0, 20; seen < 400; {
		if seen += read(); seen >= next {
			next = seen + 20 + random.IntN(60)
			l.cut()
		}
	}
	for _, id := range ids {
		l.awaitTurns(id, 1)
	}
	// All lines may have come at once, before the first cut was noticed.
	for l.cut(); lost == 0; {
		read()
	}
	for _, id := range ids {
		if _, err := l.hub.Send(l.ctx(), person, id, api.SendMessage{Text: asks}); err != nil {
			t.Fatal(err)
		}
	}
	l.awaitQuestion(ids[0])
	l.close()
	_ = os.Remove(launcher.socket)
	l.open()
	l.listenUnix(launcher.socket)
	for _, id := range ids {
		l.answer(l.awaitQuestion(id))
		l.awaitTurns(id, 2)
		if _, err := l.hub.Stop(l.ctx(), person, id, api.Stop{}); err != nil {
			t.Fatal(err)
		}
		// Only then is it sure that no line is on its way: some come after a turn.
		l.await(id, "it has ended", func(s *api.Session) bool { return s.State == api.StateEnded })
		judgeShim(t, l, launcher, id)
	}
	launcher.done.Wait() // told that all is journaled, they end
}

// TestShimSpool lets a shim give up while there is no hub, and the next hub take
// in what it left.
func TestShimSpool(t *testing.T) {
	l, launcher := newShimLab(t)
	// A question holds the turn: one that only runs may be over before it is seen to.
	created, err := l.hub.Create(l.ctx(), person, api.CreateSession{Dir: t.TempDir(), Prompt: "@say first\n@tool Bash {\"command\":\"touch one\"}\n@say second"})
	if err != nil {
		t.Fatal(err)
	}
	l.awaitQuestion(created.ID)
	l.close()
	_ = os.Remove(launcher.socket)
	launcher.end()
	l.open()
	files, err := filepath.Glob(filepath.Join(launcher.spool, "*.spool"))
	if err != nil || len(files) != 1 {
		t.Fatalf("there are the files %q, %v", files, err)
	}
	if err := ingress.ImportSpool(l.ctx(), l.hub, files[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(files[0]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
	end := l.await(created.ID, "it has ended", func(s *api.Session) bool { return s.State == api.StateEnded })
	if end.Ended == nil || end.Ended.Reason == "" {
		t.Errorf("it ended with %+v", end.Ended)
	}
	judgeShim(t, l, launcher, created.ID)
}
