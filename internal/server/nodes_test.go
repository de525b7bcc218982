//go:build linux || darwin

package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/launch"
	"github.com/switchboard-dev/switchboard/internal/node"
	"github.com/switchboard-dev/switchboard/internal/nodeagent"
)

// A safeLog is a log that several goroutines write to.
type safeLog struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

func (l *safeLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *safeLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// A farm is a hub with TLS and nodes in the same process, whose agents are simulated CLIs
// in processes of their own.
type farm struct {
	t       *testing.T
	dir     string
	addr    string
	log     safeLog
	hub     *Server
	client  *client.Client
	nodes   map[string]*nodeagent.Agent
	secrets []string // which must be in no log
}

func newFarm(t *testing.T) *farm {
	t.Helper()
	f := &farm{t: t, dir: shortDir(t), addr: "127.0.0.1:0", nodes: map[string]*nodeagent.Agent{}}
	f.openHub()
	t.Cleanup(f.end)
	return f
}

func (f *farm) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(&f.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func (f *farm) openHub() {
	f.t.Helper()
	o := options(f.t, f.dir)
	o.Addr, o.TLSSelfSigned, o.Logger = f.addr, true, f.logger()
	var err error
	await(f.t, "the port to be free", func() bool {
		f.hub, err = Start(f.t.Context(), o)
		return err == nil || !errors.Is(err, syscall.EADDRINUSE)
	})
	if err != nil {
		f.t.Fatal(err)
	}
	f.addr = f.hub.tcp[0].Addr().String()
	if f.client, err = client.New(&client.Options{Socket: f.hub.Socket()}); err != nil {
		f.t.Fatal(err)
	}
}

func (f *farm) closeHub() {
	f.t.Helper()
	f.client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if _, err := f.hub.Close(ctx, false); err != nil {
		f.t.Error(err)
	}
}

// end ends all sessions, nodes and the hub, and looks through the logs for secrets.
func (f *farm) end() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	list, err := f.client.List(ctx, api.SessionFilter{})
	if err != nil {
		f.t.Error(err)
	} else {
		for _, s := range list.Sessions {
			if _, err := f.client.Stop(ctx, s.ID, api.Stop{Force: true}); err != nil {
				f.t.Logf("stopping %s: %v", s.ID, err)
			}
		}
	}
	for _, a := range f.nodes {
		f.settle(a)
		a.Close()
	}
	f.closeHub()
	log := f.log.String()
	for _, secret := range f.secrets {
		if secret != "" && strings.Contains(log, secret) {
			f.t.Errorf("the secret %.8s… is in a log", secret)
		}
	}
	if f.t.Failed() {
		for line := range strings.Lines(log) {
			if !strings.Contains(line, "msg=request method=GET") {
				f.t.Log(strings.TrimSpace(line))
			}
		}
	}
}

// settle kills what is left of a node's agents.
func (f *farm) settle(a *nodeagent.Agent) {
	dir := f.nodeDir(a.Identity().Name)
	runs, err := launch.Runs(dir)
	if err != nil {
		f.t.Error(err)
	}
	for _, r := range runs {
		if r.Alive {
			_ = syscall.Kill(r.PID, syscall.SIGKILL)
		}
	}
}

func (f *farm) nodeDir(name string) string { return filepath.Join(f.dir, name) }

// await waits until a condition holds.
func await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("waited too long for %s", what)
		}
	}
}

// join makes a node of the hub.
func (f *farm) join(invite api.InviteNode) *nodeagent.Identity {
	f.t.Helper()
	invited, err := f.client.InviteNode(f.t.Context(), invite)
	if err != nil {
		f.t.Fatal(err)
	}
	f.secrets = append(f.secrets, invited.Code)
	if invited.Pin != f.hub.Pin() || !strings.HasSuffix(invited.Command, " --pin "+invited.Pin) || !strings.Contains(invited.Command, invited.URL+" --code "+invited.Code) {
		f.t.Errorf("the invitation is %+v", invited)
	}
	identity, already, err := nodeagent.Join(f.t.Context(), nodeagent.JoinOptions{
		DataDir: f.nodeDir(invite.Name), URL: invited.URL, Pin: invited.Pin, Code: invited.Code, Version: "1.2.3",
	})
	if err != nil || already {
		f.t.Fatal(already, err)
	}
	return identity
}

// start starts a node, and waits until the hub says that it is connected.
func (f *farm) start(name string, change func(*nodeagent.Options)) *nodeagent.Agent {
	f.t.Helper()
	self, err := os.Executable()
	if err != nil {
		f.t.Fatal(err)
	}
	home := f.t.TempDir()
	o := nodeagent.Options{
		DataDir: f.nodeDir(name), Program: self, Agent: launch.Simulator, Version: "1.2.3", Logger: f.logger().With("of", name),
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GORACE=atexit_sleep_ms=0", "GOCOVERDIR=" + os.TempDir(), "ANTHROPIC_API_KEY=made-up"},
	}
	if change != nil {
		change(&o)
	}
	a, err := nodeagent.Start(f.t.Context(), o)
	if err != nil {
		f.t.Fatal(err)
	}
	f.nodes[name] = a
	f.awaitNode(name, api.NodeOnline)
	return a
}

func (f *farm) node(name string) *api.Node {
	f.t.Helper()
	n, err := f.client.Node(f.t.Context(), name)
	if err != nil {
		f.t.Fatal(err)
	}
	return n
}

func (f *farm) awaitNode(name string, state api.NodeState) {
	f.t.Helper()
	await(f.t, name+" to be "+string(state), func() bool { return f.node(name).State == state })
}

func (f *farm) session(id string) *api.Session {
	f.t.Helper()
	s, err := f.client.Session(f.t.Context(), id)
	if err != nil {
		f.t.Fatal(err)
	}
	return s
}

func (f *farm) awaitState(id string, state api.State) *api.Session {
	f.t.Helper()
	var s *api.Session
	await(f.t, "the session to be "+string(state), func() bool {
		s = f.session(id)
		return s.State == state
	})
	return s
}

// events returns the log of a session as text.
func (f *farm) events(id string) string {
	f.t.Helper()
	page, err := f.client.Events(f.t.Context(), id, "", 1000)
	if err != nil {
		f.t.Fatal(err)
	}
	var text strings.Builder
	for _, e := range page.Events {
		fmt.Fprintf(&text, "%s %s\n", e.Kind, e.Line)
	}
	return text.String()
}

// say has the agent of a session say something, and waits until that is in the log.
func (f *farm) say(id, text string) {
	f.t.Helper()
	if _, err := f.client.Send(f.t.Context(), id, api.SendMessage{Text: "@say " + text, ClientID: text}); err != nil {
		f.t.Fatal(err)
	}
	await(f.t, "the agent to say "+text, func() bool { return strings.Contains(f.events(id), `"text":"`+text+`"`) })
	f.awaitState(id, api.StateIdle)
}

// TestSessionOnNode: a session on another machine, from its start over a question, a
// restart of the hub, one of the node and a cut of both, to its end. Nothing is lost.
func TestSessionOnNode(t *testing.T) {
	f := newFarm(t)
	f.join(api.InviteNode{Name: "gpu-1", Labels: map[string]string{"gpu": "h100"}})
	f.start("gpu-1", nil)
	info, err := f.client.Info(t.Context())
	if err != nil || info.Nodes != 1 || info.Pin != f.hub.Pin() || info.Pin == "" {
		t.Errorf("%+v, %v", info, err)
	}
	await(t, "the node to find its CLI", func() bool { return len(f.node("gpu-1").CLIs) > 0 })
	if n := f.node("gpu-1"); !n.CLIs[0].Simulated || n.Version != "1.2.3" || n.CPUs == 0 || n.Address != "127.0.0.1" || n.Labels["gpu"] != "h100" || n.Fingerprint != fingerprint(f.nodes["gpu-1"]) {
		t.Errorf("%+v", n)
	}

	work := t.TempDir()
	created, err := f.client.Create(t.Context(), api.CreateSession{Dir: work, Node: "gpu-1", ClientID: "c1"})
	if err != nil {
		t.Fatal(err)
	}
	id := created.ID
	if s := f.awaitState(id, api.StateIdle); s.Node != "gpu-1" {
		t.Errorf("the session is on %q", s.Node)
	}
	f.say(id, "first")
	if n := f.node("gpu-1"); n.Sessions != 1 {
		t.Errorf("the node has %d sessions", n.Sessions)
	}

	// A question stays open over a restart of the hub, and is answered after it.
	if _, err := f.client.Send(t.Context(), id, api.SendMessage{Text: "@tool Bash {\"command\":\"touch x\"}\n@say done", ClientID: "q"}); err != nil {
		t.Fatal(err)
	}
	f.awaitState(id, api.StateRequiresAction)
	f.closeHub()
	f.openHub()
	f.awaitNode("gpu-1", api.NodeOnline)
	f.awaitState(id, api.StateRequiresAction)
	open, err := f.client.Questions(t.Context(), api.QuestionFilter{Session: id})
	if err != nil || len(open.Questions) != 1 {
		t.Fatalf("%+v, %v", open, err)
	}
	if _, err := f.client.Answer(t.Context(), open.Questions[0].ID, api.Answer{Decision: "allow", ClientID: "a"}); err != nil {
		t.Fatal(err)
	}
	await(t, "the answer to be taken", func() bool { return strings.Contains(f.events(id), `"text":"done"`) })
	f.awaitState(id, api.StateIdle)

	// The node restarts: its agent goes on.
	before := f.session(id)
	if running := f.nodes["gpu-1"].Close(); running != 1 {
		t.Errorf("%d agents go on", running)
	}
	f.awaitNode("gpu-1", api.NodeOffline)
	if s := f.awaitState(id, api.StateOffline); s.Ended != nil {
		t.Errorf("the session has ended: %+v", s)
	}
	if _, err := f.client.Create(t.Context(), api.CreateSession{Dir: work, Node: "gpu-1"}); status(err) != http.StatusServiceUnavailable {
		t.Errorf("a session on a machine that is away: %v", err)
	}
	f.start("gpu-1", nil)
	f.awaitState(id, api.StateIdle)
	f.say(id, "second")
	if after := f.session(id); after.Run != before.Run {
		t.Errorf("run %d became %d", before.Run, after.Run)
	}

	// Both restart at once.
	f.nodes["gpu-1"].Close()
	f.closeHub()
	f.openHub()
	f.start("gpu-1", nil)
	f.awaitState(id, api.StateIdle)
	f.say(id, "third")
	log := f.events(id)
	for _, text := range []string{"first", "done", "second", "third"} {
		if n := strings.Count(log, `"text":"`+text+`"`); n < 1 {
			t.Errorf("%q is in the log %d times", text, n)
		}
	}
	if _, err := f.client.Stop(t.Context(), id, api.Stop{}); err != nil {
		t.Fatal(err)
	}
	f.awaitState(id, api.StateEnded)
	await(t, "the node to have no session", func() bool { return f.node("gpu-1").Sessions == 0 })
	// The conversation is on the node's disk, where it is gone on with.
	if _, err := f.client.Resume(t.Context(), id, api.Resume{}); err != nil {
		t.Fatal(err)
	}
	if s := f.awaitState(id, api.StateIdle); s.Node != "gpu-1" || s.Run != before.Run+1 {
		t.Errorf("%+v", s)
	}
	f.say(id, "fourth")
}

// status returns the status of an error of the interface.
func status(err error) int {
	if e, ok := errors.AsType[*api.Error](err); ok {
		return e.Status
	}
	return 0
}

// TestNodeLibrary: folders and conversations are those of the node's machine.
func TestNodeLibrary(t *testing.T) {
	f := newFarm(t)
	f.join(api.InviteNode{Name: "gpu-1"})
	f.start("gpu-1", nil)
	work := t.TempDir()
	if err := os.MkdirAll(filepath.Join(work, "alpha"), 0o700); err != nil {
		t.Fatal(err)
	}
	created, err := f.client.Create(t.Context(), api.CreateSession{Dir: work, Node: "gpu-1"})
	if err != nil {
		t.Fatal(err)
	}
	f.awaitState(created.ID, api.StateIdle)
	long := strings.Repeat("x", 700<<10) // more than fits into one message of the control connection
	f.say(created.ID, "needle")
	if _, err := f.client.Send(t.Context(), created.ID, api.SendMessage{Text: "@say " + long, ClientID: "long"}); err != nil {
		t.Fatal(err)
	}
	await(t, "a long answer", func() bool { return strings.Contains(f.events(created.ID), long) })
	f.awaitState(created.ID, api.StateIdle)

	library, id, name, err := f.hub.nodes.Library(t.Context(), "gpu-1")
	if err != nil || name != "gpu-1" || !node.IsID(id) {
		t.Fatal(id, name, err)
	}
	folders, err := library.Folders(t.Context(), work+"/", 10)
	if err != nil || len(folders) != 1 || folders[0].Path != filepath.Join(work, "alpha") {
		t.Errorf("%+v, %v", folders, err)
	}
	if folders, err = library.Look(t.Context(), []string{work, filepath.Join(work, "beta")}); err != nil || len(folders) != 1 {
		t.Errorf("%+v, %v", folders, err)
	}
	session := f.session(created.ID)
	lines, err := library.ReadTranscript(t.Context(), "", session.Conversation)
	if err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	for line, err := range lines {
		if err != nil {
			t.Fatal(err)
		}
		all.Write(line)
	}
	if !strings.Contains(all.String(), "needle") || !strings.Contains(all.String(), long) {
		t.Errorf("the transcript has %d bytes", all.Len())
	}
	for range 3 * node.MaxStreams { // those that are left in the middle are given back
		lines, err := library.ReadTranscript(t.Context(), "", session.Conversation)
		if err != nil {
			t.Fatal(err)
		}
		for range lines {
			break
		}
	}
	if _, err := library.ReadTranscript(t.Context(), "", "00000000-0000-4000-8000-000000000000"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a conversation that there is not: %v", err)
	}
	found, err := f.client.Transcripts(t.Context(), api.TranscriptFilter{Node: "gpu-1", Text: "needle"})
	if err != nil || len(found.Transcripts) != 1 {
		t.Errorf("%+v, %v", found, err)
	}
	resolved, err := f.hub.nodes.Launcher(id).Resolve(t.Context(), []string{work, "relative", "/"})
	if err != nil || len(resolved) != 3 || resolved[1].Err == "" || resolved[2].Path != "/" {
		t.Errorf("%+v, %v", resolved, err)
	}
}

// TestRevokedInMidTurn: a node that is revoked loses its control connection and its links
// at once; others are untouched. A node that is forgotten takes its runs with it.
func TestRevokedInMidTurn(t *testing.T) {
	f := newFarm(t)
	for _, name := range []string{"gpu-1", "gpu-2"} {
		f.join(api.InviteNode{Name: name})
		f.start(name, nil)
	}
	ids := map[string]string{}
	for name := range f.nodes {
		created, err := f.client.Create(t.Context(), api.CreateSession{Dir: t.TempDir(), Node: name})
		if err != nil {
			t.Fatal(err)
		}
		ids[name] = created.ID
		f.awaitState(created.ID, api.StateIdle)
	}
	if _, err := f.client.Send(t.Context(), ids["gpu-1"], api.SendMessage{Text: "@tool Bash {\"command\":\"touch x\"}\n@say done"}); err != nil {
		t.Fatal(err)
	}
	f.awaitState(ids["gpu-1"], api.StateRequiresAction)
	if f.hub.link.Open() != 2 {
		t.Fatalf("%d links", f.hub.link.Open())
	}
	if n, err := f.client.RevokeNode(t.Context(), "gpu-1"); err != nil || n.State != api.NodeRevoked {
		t.Fatal(n, err)
	}
	await(t, "its link to be cut", func() bool { return f.hub.link.Open() == 1 })
	f.awaitState(ids["gpu-1"], api.StateOffline)
	select {
	case <-f.nodes["gpu-1"].Done(): // it is told that it was revoked when it comes again
	case <-time.After(60 * time.Second):
		t.Fatal("the node goes on")
	}
	if err := f.nodes["gpu-1"].Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "revoked") {
		t.Errorf("%v", err)
	}
	f.say(ids["gpu-2"], "untouched")
	if _, err := f.client.Create(t.Context(), api.CreateSession{Dir: t.TempDir(), Node: "gpu-1"}); status(err) != http.StatusConflict {
		t.Errorf("a session on a machine that was revoked: %v", err)
	}
	if err := f.client.ForgetNode(t.Context(), "gpu-1"); err != nil {
		t.Fatal(err)
	}
	if s := f.awaitState(ids["gpu-1"], api.StateEnded); s.Node != "gpu-1" {
		t.Errorf("%+v", s)
	}
	if _, err := f.client.Node(t.Context(), "gpu-1"); status(err) != http.StatusNotFound {
		t.Errorf("%v", err)
	}
	// The name is free again.
	f.settle(f.nodes["gpu-1"])
	f.nodes["gpu-1"].Close()
	delete(f.nodes, "gpu-1")
	if err := os.RemoveAll(f.nodeDir("gpu-1")); err != nil {
		t.Fatal(err)
	}
	f.join(api.InviteNode{Name: "gpu-1"})
}

// TestShimKilledOnNode: the hub learns at once that an agent on a node has died.
func TestShimKilledOnNode(t *testing.T) {
	f := newFarm(t)
	f.join(api.InviteNode{Name: "gpu-1", MaxSessions: 1})
	f.start("gpu-1", nil)
	created, err := f.client.Create(t.Context(), api.CreateSession{Dir: t.TempDir(), Node: "gpu-1"})
	if err != nil {
		t.Fatal(err)
	}
	f.awaitState(created.ID, api.StateIdle)
	// There is no room for another, not by name and not by choice.
	for _, in := range []api.CreateSession{{Node: "gpu-1"}, {Node: "any"}} {
		in.Dir = t.TempDir()
		if _, err := f.client.Create(t.Context(), in); status(err) != http.StatusConflict {
			t.Errorf("%+v: %v", in, err)
		}
	}
	runs, err := launch.Runs(f.nodeDir("gpu-1"))
	if err != nil || len(runs) != 1 {
		t.Fatal(runs, err)
	}
	if err := syscall.Kill(runs[0].PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	f.awaitState(created.ID, api.StateEnded)
	await(t, "there to be room again", func() bool {
		made, err := f.client.Create(t.Context(), api.CreateSession{Dir: t.TempDir(), Node: "any"})
		return err == nil && f.awaitState(made.ID, api.StateIdle) != nil
	})
}

// TestNodeOnce: a node for one session ends when that is over.
func TestNodeOnce(t *testing.T) {
	f := newFarm(t)
	f.join(api.InviteNode{Name: "pod-1"})
	a := f.start("pod-1", func(o *nodeagent.Options) { o.Once = api.AnyNode })
	created, err := f.client.Create(t.Context(), api.CreateSession{Dir: t.TempDir(), Node: "pod-1"})
	if err != nil {
		t.Fatal(err)
	}
	f.awaitState(created.ID, api.StateIdle)
	if _, err := f.client.Create(t.Context(), api.CreateSession{Dir: t.TempDir(), Node: "pod-1"}); status(err) != http.StatusConflict {
		t.Errorf("a second session: %v", err)
	}
	f.say(created.ID, "hello")
	if _, err := f.client.Stop(t.Context(), created.ID, api.Stop{}); err != nil {
		t.Fatal(err)
	}
	if err := a.Wait(t.Context()); err != nil {
		t.Error(err)
	}
	if s := f.session(created.ID); s.State != api.StateEnded {
		t.Errorf("the session is %s", s.State)
	}
}

// TestPins: a node that was told another certificate's fingerprint sends nothing.
func TestPins(t *testing.T) {
	f := newFarm(t)
	invited, err := f.client.InviteNode(t.Context(), api.InviteNode{Name: "gpu-1"})
	if err != nil {
		t.Fatal(err)
	}
	wrong := "sha256:" + strings.Repeat("A", 43)
	var pin *client.PinError
	_, _, err = nodeagent.Join(t.Context(), nodeagent.JoinOptions{DataDir: f.nodeDir("gpu-1"), URL: invited.URL, Pin: wrong, Code: invited.Code})
	if !errors.As(err, &pin) || pin.Want != wrong || pin.Got != f.hub.Pin() {
		t.Errorf("%v", err)
	}
	if _, _, err = nodeagent.Join(t.Context(), nodeagent.JoinOptions{DataDir: f.nodeDir("gpu-1"), URL: invited.URL, Code: invited.Code}); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("without a pin: %v", err)
	}
	// The invitation was not used up.
	if _, _, err = nodeagent.Join(t.Context(), nodeagent.JoinOptions{DataDir: f.nodeDir("gpu-1"), URL: invited.URL, Pin: invited.Pin, Code: invited.Code}); err != nil {
		t.Fatal(err)
	}
	// Joining once more changes nothing.
	if _, already, err := nodeagent.Join(t.Context(), nodeagent.JoinOptions{DataDir: f.nodeDir("gpu-1"), URL: invited.URL, Pin: invited.Pin, Code: "used"}); err != nil || !already {
		t.Error(already, err)
	}
	// The certificate is the same after a restart.
	before := f.hub.Pin()
	f.closeHub()
	f.openHub()
	if f.hub.Pin() != before {
		t.Error("the hub has made another key")
	}
}

// fingerprint returns that of a node's key.
func fingerprint(a *nodeagent.Agent) string {
	identity := a.Identity()
	return identity.Fingerprint()
}
