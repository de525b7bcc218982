package shim

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/internal/sandbox"
	"github.com/switchboard-dev/switchboard/wire"
)

// bwrapPath returns the path of bubblewrap. If there is none, the test fails under
// make and is reported as skipped under plain go test.
func bwrapPath(t testing.TB) string {
	t.Helper()
	candidates := []string{os.Getenv("SWITCHBOARD_BWRAP")}
	if path, err := exec.LookPath("bwrap"); err == nil {
		candidates = append(candidates, path)
	}
	if cache, err := os.UserCacheDir(); err == nil {
		candidates = append(candidates, filepath.Join(cache, "switchboard", "bubblewrap", "bwrap"))
	}
	for _, path := range candidates {
		if _, err := os.Stat(path); path != "" && err == nil {
			return path
		}
	}
	const missing = "there is no bubblewrap (make setup gets one)"
	if os.Getenv("SWITCHBOARD_REQUIRE_CLIS") == "1" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}

func bubblewrapSpec(t *testing.T, hub *testHub, role, arg string) *Spec {
	t.Helper()
	spec := newSpec(t, hub.socket, role, arg)
	spec.Sandbox = &sandbox.Profile{
		Mode: sandbox.DenyOnly, Enforcer: sandbox.Bubblewrap, Program: bwrapPath(t), Dir: spec.Command.Dir,
		Network: sandbox.NetworkListed, AskHosts: true, DenyHosts: []string{"evil.test"},
	}
	return spec
}

// TestBubblewrap has a CLI in a real sandbox. It finds the proxy by its
// environment, the hub is asked with the command that wants to have the
// connection, and a rule that names an address of this machine leads there.
func TestBubblewrap(t *testing.T) {
	hub := newHub(t)
	service, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()
	open := service.Addr().String()
	spec := bubblewrapSpec(t, hub, "reacher", "")
	spec.Sandbox.AllowHosts = []string{open}
	spec.Command.Args = append(spec.Command.Args, "--token", "not-for-people", "hello")
	p := startProcess(t, spec)
	l := &sandboxLab{t: t, hub: hub}
	reach := func(host string) { l.say(fmt.Sprintf(`{"type":"user","host":%q}`, host)) }
	reach(open)
	if got := l.outcome(open); got.Code != 200 {
		t.Errorf("an address that a rule names: %+v", got)
	}
	for _, host := range []string{"evil.test:443", "localhost:1", "127.0.0.1:1"} {
		reach(host)
		if got := l.outcome(host); got.Code != 403 {
			t.Errorf("%s: %+v", host, got)
		}
	}
	reach("unknown.test:443")
	q := l.question(1)
	var input networkInput
	if err := json.Unmarshal(q.Request.(*wire.CanUseToolRequest).Input, &input); err != nil {
		t.Fatal(err)
	}
	if want := filepath.Base(self(t)) + " --token [redacted] hello"; input.Host != "unknown.test" || !strings.HasSuffix(input.Command, want) {
		t.Errorf("asked %+v, want the command %q", input, want)
	}
	l.answer(q, &wire.Deny{Message: "No."})
	if got := l.outcome("unknown.test:443"); got.Code != 403 {
		t.Errorf("refused: %+v", got)
	}
	if got := l.refusals(); len(got) < 2 || !strings.Contains(got[0].Command, "hello") {
		t.Errorf("refusals: %+v", got)
	}
	hub.tell(&link.Stop{Reason: "enough"})
	if e := hub.event(link.EventExited); !e.Requested {
		t.Errorf("exited: %+v", e)
	}
	p.wait()
	hub.check()
}

// TestBubblewrapForward has a model on this machine, at the address where the
// agent looks for it.
func TestBubblewrapForward(t *testing.T) {
	hub := newHub(t)
	service, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		conn, err := service.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		buf := make([]byte, 1024)
		_, _ = conn.Read(buf)
		_, _ = conn.Write([]byte("HTTP/1.1 200 It is the model\r\n\r\n"))
	}()
	spec := bubblewrapSpec(t, hub, "reacher", "")
	spec.Sandbox.Forward = []string{service.Addr().String()}
	startProcess(t, spec)
	l := &sandboxLab{t: t, hub: hub}
	l.say(fmt.Sprintf(`{"type":"user","proxy":%q,"host":"the.model:1"}`, service.Addr())) // the CLI dials the address itself
	if got := l.outcome("the.model:1"); got.Code != 200 {
		t.Errorf("%+v", got)
	}
	<-answered
}

// TestKilledBubblewrap kills the shim: nothing that was in the sandbox survives,
// without a sweep.
func TestKilledBubblewrap(t *testing.T) {
	hub := newHub(t)
	spec := bubblewrapSpec(t, hub, "parent", "sleeper")
	p := startProcess(t, spec)
	started := hub.event(link.EventStarted)
	child(hub)
	inside := descendants(started.CLIPID)
	if len(inside) < 3 {
		t.Fatalf("there are only the processes %v", inside)
	}
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.wait()
	for _, pid := range inside {
		ended(t, pid, true)
	}
}

// TestStoppedBubblewrap ends a CLI that does not end by itself, and what it has
// started.
func TestStoppedBubblewrap(t *testing.T) {
	hub := newHub(t)
	spec := bubblewrapSpec(t, hub, "parent", "sleeper")
	p := startProcess(t, spec)
	started := hub.event(link.EventStarted)
	child(hub)
	inside := descendants(started.CLIPID)
	hub.tell(&link.Stop{Reason: "enough"})
	if code := p.wait(); code != exitDone {
		t.Errorf("the shim ended with %d", code)
	}
	for _, pid := range inside {
		ended(t, pid, true)
	}
	if n, err := claude.Sweep(soon(t), spec.Marker); n != 0 || err != nil {
		t.Errorf("%d processes were left: %v", n, err)
	}
}

// TestPeer finds the process of a connection, which here is a child of the test.
func TestPeer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	cmd := exec.Command(self(t), "some", "arguments")
	cmd.Env = environ("reacher", "")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(in, "{\"proxy\":%q,\"host\":\"x\"}\n", listener.Addr())
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	pid, args := peerProcess(os.Getpid(), conn.RemoteAddr(), conn.LocalAddr())
	if pid != cmd.Process.Pid || strings.Join(args[1:], " ") != "some arguments" {
		t.Errorf("found %d %q, want %d", pid, args, cmd.Process.Pid)
	}
	// Not among the descendants of another process.
	if pid, _ := peerProcess(1<<22+1, conn.RemoteAddr(), conn.LocalAddr()); pid != 0 {
		t.Errorf("found %d", pid)
	}
	_ = conn.Close()
	_ = in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

// TestCommandOf holds that what a process starts belongs to the same command, and
// that another one does not.
func TestCommandOf(t *testing.T) {
	me := os.Getpid()
	var first, second string
	for _, name := range []*string{&first, &second} {
		cmd := exec.Command("sh", "-c", "sleep 60 & echo $!; wait")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			_ = cmd.Wait() // it was killed
		})
		var child int
		if _, err := fmt.Fscan(out, &child); err != nil {
			t.Fatal(err)
		}
		if *name = commandOf(cmd.Process.Pid, me); *name == "" || commandOf(child, me) != *name {
			t.Errorf("the shell is of %q, what it has started of %q", *name, commandOf(child, me))
		}
		if got := commandOf(child, cmd.Process.Pid); got == *name || got == "" {
			t.Errorf("for the shell itself, it is of %q", got)
		}
	}
	if first == second {
		t.Errorf("two commands are both %q", first)
	}
	if got := commandOf(me, me); got == "" {
		t.Error("the CLI has no name")
	}
	for _, got := range []string{commandOf(os.Getppid(), me), commandOf(me, 0), commandOf(1<<22+1, me)} {
		if got != "" {
			t.Errorf("a process that is none of the CLI's is of %q", got)
		}
	}
}
