package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/config"
)

// patience bounds what should take moments on a machine with nothing else to do.
const patience = 2 * time.Minute

// shortDir returns a folder whose path is short enough for a socket. It belongs to the test.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sb-") //nolint:usetesting // a test's own folder has its name in its path, which is too long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// noSandbox is in the environment of every hub whose test is not about the
// sandbox: the default depends on what the machine has.
const noSandbox = "SWITCHBOARD_SANDBOX_MODE=off"

// environment is that of a test's server and agents: nothing of the user's.
func environment(t *testing.T, more ...string) []string {
	t.Helper()
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TMPDIR=" + os.TempDir(), "GORACE=atexit_sleep_ms=0", noSandbox}, more...)
}

// A serving is serve, running inside the test.
type serving struct {
	t      *testing.T
	url    string
	socket string
	cancel context.CancelFunc
	done   chan int // the exit code
	stderr *bytes.Buffer

	mu    sync.Mutex
	lines []string // of standard output; guarded by mu
	read  chan struct{}
}

// serve starts the verb on a folder and returns when it can be reached.
func serve(t *testing.T, dir string, vars []string, flags ...string) *serving {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	s := &serving{t: t, cancel: cancel, done: make(chan int, 1), stderr: &bytes.Buffer{}, read: make(chan struct{})}
	out, in := io.Pipe()
	ready := make(chan struct{})
	go func() {
		defer close(s.read)
		said := bufio.NewScanner(out)
		for said.Scan() {
			line := said.Text()
			s.mu.Lock()
			s.lines = append(s.lines, line)
			s.mu.Unlock()
			if url, found := strings.CutPrefix(line, "listening on "); found {
				s.url = url
			}
			if socket, found := strings.CutPrefix(line, "socket "); found {
				s.socket = socket
				close(ready)
			}
		}
	}()
	args := append([]string{"switchboard", "serve", "--data-dir", dir, "--addr", "127.0.0.1:0"}, flags...)
	t.Cleanup(func() { clearAgents(t, dir) })
	go func() {
		code := run(ctx, args, &env{stdin: strings.NewReader(""), stdout: in, stderr: s.stderr, env: vars})
		_ = in.Close() // never fails
		s.done <- code
	}()
	select {
	case <-ready:
	case code := <-s.done:
		t.Fatalf("serve ended with code %d:\n%s", code, s.stderr)
	case <-time.After(patience):
		t.Fatal("serve cannot be reached")
	}
	return s
}

// clearAgents ends the agents that a test that failed has left.
func clearAgents(t *testing.T, dir string) {
	t.Helper()
	records, err := filepath.Glob(filepath.Join(dir, "run", "cli", "*", "shim.json"))
	if err != nil || len(records) == 0 {
		return
	}
	for _, record := range records {
		var shim struct {
			PID int `json:"pid"`
		}
		content, err := os.ReadFile(record)
		if err != nil || json.Unmarshal(content, &shim) != nil || shim.PID <= 0 {
			continue // it has ended
		}
		if process, err := os.FindProcess(shim.PID); err == nil && process.Kill() == nil {
			t.Logf("an agent was left, process %d", shim.PID)
		}
	}
}

// end ends the server and returns what it said on standard output.
func (s *serving) end() string {
	s.t.Helper()
	s.cancel()
	select {
	case code := <-s.done:
		if code != codeDone {
			s.t.Errorf("serve ended with code %d:\n%s", code, s.stderr)
		}
	case <-time.After(patience):
		s.t.Fatal("serve does not end")
	}
	<-s.read
	return strings.Join(s.lines, "\n")
}

// client returns a client of the server that is closed with the test.
func (s *serving) client() *client.Client {
	s.t.Helper()
	c, err := client.New(&client.Options{Socket: s.socket})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(c.Close)
	return c
}

// await follows a session until an event of it satisfies a condition.
func await(t *testing.T, c *client.Client, session, what string, condition func(*api.Event) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for frame, err := range c.Follow(ctx, session, nil) {
		if err != nil {
			t.Fatalf("waiting until %s: %v", what, err)
		}
		if frame.Type == api.FrameEvent && condition(frame.Event) {
			return
		}
	}
	t.Fatalf("the stream ended before %s", what)
}

// within waits for a channel to be closed.
func within(t *testing.T, done <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("waited too long until %s", what)
	}
}

// says is a condition: the agent says a text.
func says(text string) func(*api.Event) bool {
	return func(e *api.Event) bool {
		return e.Kind == api.KindLine && bytes.Contains(e.Line, []byte(`"type":"result"`)) && bytes.Contains(e.Line, []byte(text))
	}
}

func TestServe(t *testing.T) {
	dir := filepath.Join(shortDir(t), "d")
	s := serve(t, dir, environment(t), "--agent", "sim", "--log-level", "debug")
	c := s.client()

	info, err := c.Info(t.Context())
	if err != nil || !info.Simulated || info.Agent != "sim" || info.API != "v1" || info.Storage != "" {
		t.Errorf("%+v, %v", info, err)
	}
	created, err := c.Create(t.Context(), api.CreateSession{Dir: t.TempDir(), Prompt: "@say hello"})
	if err != nil {
		t.Fatal(err)
	}
	await(t, c, created.ID, "it says hello", says("hello"))
	snapshot, err := c.Session(t.Context(), created.ID)
	if err != nil || !snapshot.Simulated || !snapshot.Linked {
		t.Errorf("%+v, %v", snapshot, err)
	}

	// The same by piping into attach.
	var out, stderr bytes.Buffer
	vars := environment(t, "SWITCHBOARD_DATA_DIR="+dir)
	code := run(t.Context(), []string{"switchboard", "attach", "--plain", created.ID}, &env{stdin: strings.NewReader("@say good bye\n"), stdout: &out, stderr: &stderr, env: vars})
	if code != codeDone || !strings.Contains(out.String(), "agent: hello\n") || !strings.Contains(out.String(), "agent: good bye\n") || strings.Contains(out.String(), "/help") {
		t.Errorf("attach ended with code %d: %s\n%s", code, &stderr, &out)
	}
	out.Reset()
	code = run(t.Context(), []string{"switchboard", "attach", "--plain", "snothere", "--data-dir", dir}, &env{stdin: strings.NewReader(""), stdout: &out, stderr: &stderr, env: environment(t)})
	if code != codeNotFound || !strings.Contains(stderr.String(), "snothere") {
		t.Errorf("attach to nothing ended with code %d: %s", code, &stderr)
	}

	// Over TCP only with the token.
	made, err := c.CreateToken(t.Context(), api.CreateToken{Name: "test", Scopes: []string{"observe"}})
	if err != nil {
		t.Fatal(err)
	}
	for secret, status := range map[string]int{"": http.StatusUnauthorized, made.Text: http.StatusOK} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/v1/sessions", nil)
		if err != nil {
			t.Fatal(err)
		}
		if secret != "" {
			request.Header.Set("Authorization", "Bearer "+secret)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != status {
			t.Errorf("status %d with the token %.6q, want %d", response.StatusCode, secret, status)
		}
	}
	http.DefaultClient.CloseIdleConnections()

	// A second one is refused, and says by whom.
	stderr.Reset()
	code = run(t.Context(), []string{"switchboard", "serve", "--data-dir", dir, "--addr", "127.0.0.1:0"}, &env{stdin: strings.NewReader(""), stdout: &out, stderr: &stderr, env: environment(t)})
	if code != codeFailed || !strings.Contains(stderr.String(), fmt.Sprint(os.Getpid())) {
		t.Errorf("a second server ended with code %d: %s", code, &stderr)
	}

	record, err := os.ReadFile(filepath.Join(dir, "run", "cli", created.ID+"-1", "shim.json"))
	if err != nil {
		t.Fatal(err)
	}
	var shim struct {
		PID int `json:"pid"`
	}
	if err := json.Unmarshal(record, &shim); err != nil || shim.PID <= 0 {
		t.Fatalf("%s, %v", record, err)
	}
	if _, err := c.Stop(t.Context(), created.ID, api.Stop{}); err != nil {
		t.Error(err)
	}
	await(t, c, created.ID, "the run ends", func(e *api.Event) bool { return e.Kind == api.KindRunEnded })
	processGone(t, fmt.Sprint(shim.PID))
	said := s.end()
	if !strings.Contains(said, "agent simulated") || !strings.Contains(said, "stopped; no agent is running") {
		t.Errorf("it said:\n%s", said)
	}
	if logged := s.stderr.String(); strings.Contains(said+logged, made.Text) {
		t.Error("the token was printed or logged")
	}
	if _, err := os.Stat(s.socket); err == nil {
		t.Error("the socket is still there")
	}
	// What has ended is forgotten when the settings say so.
	s = serve(t, dir, environment(t, "SWITCHBOARD_RETENTION_MAX_AGE=1ns"), "--agent", "sim")
	listing, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for c := s.client(); ; {
		list, err := c.List(listing, api.SessionFilter{})
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Sessions) == 0 {
			break
		}
	}
	s.end()

	stderr.Reset()
	code = run(t.Context(), []string{"switchboard", "attach", "--plain", created.ID, "--data-dir", dir}, &env{stdin: strings.NewReader(""), stdout: &out, stderr: &stderr, env: environment(t)})
	if code != codeNoServer || !strings.Contains(stderr.String(), "switchboard serve") {
		t.Errorf("attach without a server ended with code %d: %s", code, &stderr)
	}
}

// TestServeLeavesAgents ends the server under an agent, starts it again, and ends both.
func TestServeLeavesAgents(t *testing.T) {
	dir, env := filepath.Join(shortDir(t), "d"), environment(t)
	s := serve(t, dir, env, "--agent", "sim")
	c := s.client()
	created, err := c.Create(t.Context(), api.CreateSession{Dir: t.TempDir(), Prompt: "@say one"})
	if err != nil {
		t.Fatal(err)
	}
	// Who follows is told that the server goes, and goes on when it is back.
	follow, leave := context.WithCancel(t.Context())
	defer leave()
	begun, closing, back := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var following sync.WaitGroup
	following.Go(func() {
		seen := int64(0)
		for frame, err := range c.Follow(follow, created.ID, nil) {
			switch {
			case err != nil:
				return
			case frame.Type == api.FrameClosing:
				close(closing)
			case frame.Type != api.FrameEvent:
			case frame.Event.Seq != seen+1:
				t.Errorf("event %d follows event %d", frame.Event.Seq, seen)
				return
			default:
				seen++
				if says("one")(frame.Event) {
					close(begun)
				}
				if says("two")(frame.Event) {
					close(back)
				}
			}
		}
	})
	within(t, begun, "it says one")
	said := s.end()
	within(t, closing, "the stream is told that the server goes")
	pid := regexp.MustCompile(`to stop it now: kill (\d+)`).FindStringSubmatch(said)
	if pid == nil || !strings.Contains(said, "1 agent keeps running") || !strings.Contains(said, "--stop-agents") {
		t.Fatalf("it said:\n%s", said)
	}

	s = serve(t, dir, env, "--agent", "sim", "--stop-agents")
	c = s.client()
	if _, err := c.Send(t.Context(), created.ID, api.SendMessage{Text: "@say two"}); err != nil {
		t.Fatal(err)
	}
	await(t, c, created.ID, "it says two", says("two"))
	within(t, back, "the stream goes on")
	leave()
	following.Wait()
	snapshot, err := c.Session(t.Context(), created.ID)
	if err != nil || snapshot.Run != 1 {
		t.Errorf("it is run %d, %v; the first process should have gone on", snapshot.Run, err)
	}
	if said := s.end(); !strings.Contains(said, "no agent is running") {
		t.Errorf("it said:\n%s", said)
	}
	processGone(t, pid[1])
}

// processGone waits until a process has ended. One that nobody has waited for counts: its parent, the first server, is this very process.
func processGone(t *testing.T, pid string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		state, err := exec.CommandContext(ctx, "ps", "-o", "stat=", "-p", pid).Output()
		if ctx.Err() != nil {
			t.Fatalf("process %s is still there, in state %q", pid, state)
		}
		if err != nil || strings.HasPrefix(string(state), "Z") {
			return
		}
	}
}

// child starts the program as a process of its own, with the verb serve, and returns when it can be reached.
func child(t *testing.T, dir string, files []*os.File, command ...string) (cmd *exec.Cmd, lines *bufio.Scanner, socket string) {
	t.Helper()
	cmd = exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Env = environment(t, "SWITCHBOARD_DATA_DIR="+dir, "SWITCHBOARD_AGENT=sim")
	cmd.ExtraFiles = files
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it has ended, if all went well
		_ = cmd.Wait()
	})
	lines = bufio.NewScanner(out)
	for lines.Scan() {
		var found bool
		if socket, found = strings.CutPrefix(lines.Text(), "socket "); found {
			return cmd, lines, socket
		}
	}
	t.Fatalf("serve ended: %v", cmd.Wait())
	return nil, nil, ""
}

// TestSignals ends a server by one signal, and by two.
func TestSignals(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, signals := range [][]os.Signal{{os.Interrupt}, {syscall.SIGTERM}, {os.Interrupt, syscall.SIGTERM}} {
		t.Run(fmt.Sprint(signals), func(t *testing.T) {
			cmd, lines, socket := child(t, filepath.Join(shortDir(t), "d"), nil, self, "serve", "--addr", "127.0.0.1:0", "--log-level", "error")
			if len(signals) > 1 {
				// A request that never ends keeps the server for a while.
				c, err := net.Dial("unix", socket)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = c.Close() }()
				if _, err := fmt.Fprint(c, "POST /v1/sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n"); err != nil {
					t.Fatal(err)
				}
				// It has begun to read the body when it asks for it.
				if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(line, "100") {
					t.Fatalf("%q, %v", line, err)
				}
			}
			if err := cmd.Process.Signal(signals[0]); err != nil {
				t.Fatal(err)
			}
			if len(signals) > 1 {
				// The first one has arrived when nobody listens any more.
				for {
					c, err := net.Dial("unix", socket)
					if err != nil {
						break
					}
					_ = c.Close()
				}
				if err := cmd.Process.Signal(signals[1]); err != nil {
					t.Fatal(err)
				}
			}
			var rest []string
			for lines.Scan() {
				rest = append(rest, lines.Text())
			}
			_ = cmd.Wait() // the code says more
			code, said := cmd.ProcessState.ExitCode(), strings.Join(rest, "\n")
			switch {
			case len(signals) == 1 && (code != codeDone || !strings.Contains(said, "stopped; no agent is running")):
				t.Errorf("ended with code %d, saying %q", code, said)
			case len(signals) == 2 && (code != codeInterrupted || strings.Contains(said, "stopped")):
				t.Errorf("ended with code %d, saying %q; want to be ended at once", code, said)
			}
		})
	}
}

// TestActivation hands the server its sockets, as a service manager does.
func TestActivation(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := shortDir(t)
	path := filepath.Join(dir, "hub.sock")
	unix, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close() }()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tcp.Close() }()
	unixFile, err := unix.(*net.UnixListener).File()
	if err != nil {
		t.Fatal(err)
	}
	tcpFile, err := tcp.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "notify"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = manager.Close() }()
	// Only the process itself knows its number.
	cmd, _, socket := child(t, filepath.Join(dir, "d"), []*os.File{unixFile, tcpFile}, "sh", "-c",
		`LISTEN_PID=$$ LISTEN_FDS=2 NOTIFY_SOCKET="$2" exec "$1" serve --log-level error`, "sh", self, filepath.Join(dir, "notify"))
	_ = unixFile.Close() // the child has its own
	_ = tcpFile.Close()
	if socket != path {
		t.Errorf("it listens on %s, want %s", socket, path)
	}
	told := make([]byte, 1000)
	if n, err := manager.Read(told); err != nil || !strings.HasPrefix(string(told[:n]), "READY=1\n") {
		t.Errorf("told %q, %v", told[:n], err)
	}
	response, err := http.Get("http://" + tcp.Addr().String() + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	if response.StatusCode != http.StatusOK {
		t.Errorf("status %d", response.StatusCode)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if n, err := manager.Read(told); err != nil || string(told[:n]) != "STOPPING=1" {
		t.Errorf("told %q, %v", told[:n], err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the service manager's socket was removed: %v", err)
	}
}

// TestNoAgent creates a session where there is no Claude Code: the simulated one never stands in for it.
func TestNoAgent(t *testing.T) {
	s := serve(t, filepath.Join(shortDir(t), "d"), []string{"PATH=" + t.TempDir(), "HOME=" + t.TempDir()}, "--log-level", "error")
	_, err := s.client().Create(t.Context(), api.CreateSession{Dir: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "run --simulated") {
		t.Errorf("%v; want a hint what to do", err)
	}
	if said := s.end(); strings.Contains(said, "simulated") {
		t.Errorf("it said:\n%s", said)
	}
}

// TestAttachToNobody finds the socket of a server that was killed.
func TestAttachToNobody(t *testing.T) {
	dir := shortDir(t)
	socket := filepath.Join(dir, "run", "hub.sock")
	if err := os.Mkdir(filepath.Dir(socket), 0o700); err != nil {
		t.Fatal(err)
	}
	var listening net.ListenConfig
	l, err := listening.Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	var out, stderr bytes.Buffer
	code := run(t.Context(), []string{"switchboard", "attach", "--plain", "--data-dir", dir, "s1"}, &env{stdin: strings.NewReader(""), stdout: &out, stderr: &stderr})
	if want := "nothing listens on " + socket + "); start one: switchboard serve"; code != codeNoServer || !strings.Contains(stderr.String(), want) {
		t.Errorf("ended with code %d: %s", code, &stderr)
	}
}

func TestDemoFolder(t *testing.T) {
	long := filepath.Join(shortDir(t), strings.Repeat("x", 100))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", long)
	folder, err := demoFolder()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(folder); err != nil || len(demoSocket(folder)) > config.MaxSocket {
		t.Errorf("it is %s (%v)", folder, err)
	}
	if left, err := os.ReadDir(long); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestDemo(t *testing.T) {
	// No node, no npm, no claude; and a model that must not be asked.
	vars := []string{"PATH=" + t.TempDir(), "HOME=" + t.TempDir(), "GORACE=atexit_sleep_ms=0", envModel + "=http://127.0.0.1:1"}
	temp := shortDir(t)
	t.Setenv("TMPDIR", temp)
	var out, stderr bytes.Buffer
	code := run(t.Context(), []string{"switchboard", "demo", "--addr", "127.0.0.1:0"}, &env{stdin: strings.NewReader(""), stdout: &out, stderr: &stderr, env: vars})
	if code != codeDone {
		t.Fatalf("ended with code %d: %s\n%s", code, &stderr, &out)
	}
	rest := out.String()
	for _, want := range []string{
		"A SIMULATED agent", "listening on http://127.0.0.1:", "socket ", demoFirst, "✓ Grep", "Run this command?", "allowed", "1 untitled",
		"Approve this plan?", "✓ Edit", "notes asks:", "filled in", "is fixed", demoSecond, "All tests still pass", "state: idle",
		"The demo is complete.",
	} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("it does not go on with %q:\n%s", want, &out)
		}
		rest = after
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
