package shim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/internal/link"
)

// A shimProcess is a shim as it is in earnest: a process of its own.
type shimProcess struct {
	t   *testing.T
	cmd *exec.Cmd
	err chan error
}

// startProcess starts a shim process with orders, and sees to it that nothing
// is left of it. It inherits further files that nobody told it about.
func startProcess(t *testing.T, spec *Spec, inherits ...*os.File) *shimProcess {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self(t))
	cmd.Env = append(environ("shim", ""), claude.MarkerEnv+"="+spec.Marker)
	cmd.ExtraFiles = append([]*os.File{r}, inherits...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	stderr := &lockedBuffer{}
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &shimProcess{t, cmd, make(chan error, 1)}
	go func() { p.err <- cmd.Wait() }() // ends with the process
	t.Cleanup(func() {
		if _, err := claude.Sweep(soon(t), spec.Marker); err != nil {
			t.Errorf("sweeping: %v", err)
		}
		_ = cmd.Process.Kill() // it has ended, or carries no marker
		if said := stderr.String(); said != "" {
			t.Logf("the shim says: %s", said)
		}
	})
	_ = r.Close()
	data, err := json.Marshal(spec)
	if err == nil {
		_, err = w.Write(data)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return p
}

// A lockedBuffer can be read while a process still writes to it.
type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer // guarded by mu
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

// wait returns the exit code of a shim that must end.
func (p *shimProcess) wait() int {
	p.t.Helper()
	select {
	case <-p.err:
		return p.cmd.ProcessState.ExitCode()
	case <-soon(p.t).Done():
		p.t.Fatal("the shim did not end")
		return -1
	}
}

// child waits for the number of the process that the CLI has started.
func child(hub *testHub) int {
	hub.t.Helper()
	var pid int
	hub.wait("the CLI tells of its child", func() bool {
		for _, line := range hub.linesLocked() {
			var m struct{ Child int }
			if json.Unmarshal([]byte(line), &m) == nil && m.Child > 0 {
				pid = m.Child
			}
		}
		return pid > 0
	})
	return pid
}

// ended waits until a process is gone, or at least dead.
func ended(t *testing.T, pid int, zombie bool) {
	t.Helper()
	ctx := soon(t)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
		if err != nil {
			return
		}
		if fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:]); zombie && string(fields[0]) == "Z" {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("process %d is still there: %s", pid, data)
		}
	}
}

// TestKilledShim kills the shim: its CLI ends at once, and what the CLI has
// started by a sweep.
func TestKilledShim(t *testing.T) {
	hub := newHub(t)
	spec := newSpec(t, hub.socket, "parent", "sleeper")
	p := startProcess(t, spec)
	started := hub.event(link.EventStarted)
	grandchild := child(hub)
	if started.PID != p.cmd.Process.Pid || started.PIDStart != startTime(started.PID) {
		t.Errorf("started: %+v", started)
	}
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.wait()
	ended(t, started.CLIPID, true)
	if _, err := claude.Sweep(soon(t), spec.Marker); err != nil {
		t.Errorf("sweeping: %v", err)
	}
	ended(t, grandchild, true)
}

// TestTerminatedShim tells the shim to end: the hub is told first, and
// everything is gone.
func TestTerminatedShim(t *testing.T) {
	hub := newHub(t)
	spec := newSpec(t, hub.socket, "parent", "sleeper")
	spec.Log = filepath.Join(t.TempDir(), "log")
	p := startProcess(t, spec)
	started, grandchild := hub.event(link.EventStarted), child(hub)
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGTERM} {
		if err := p.cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
	}
	if code := p.wait(); code != exitDone {
		t.Errorf("the shim ended with %d", code)
	}
	stopping, exited := hub.event(link.EventStopping), hub.event(link.EventExited)
	if !strings.Contains(stopping.Reason, "terminated") || !exited.Requested {
		t.Errorf("stopping: %+v, exited: %+v", stopping, exited)
	}
	ended(t, started.CLIPID, false)
	ended(t, grandchild, true)
	hub.check()
	log, err := os.ReadFile(spec.Log)
	if err != nil || !strings.Contains(string(log), "the CLI has ended") || strings.Contains(string(log), spec.Token) {
		t.Errorf("the log is %q, %v", log, err)
	}
}

// TestSweptAreCounted has a CLI that ends by itself and leaves a process.
func TestSweptAreCounted(t *testing.T) {
	hub := newHub(t)
	spec := newSpec(t, hub.socket, "parent", "sleeper")
	p := startProcess(t, spec)
	grandchild := child(hub)
	hub.tell(&link.CloseInput{})
	if exited := hub.event(link.EventExited); exited.Swept != 1 || exited.Code == nil || *exited.Code != 0 {
		t.Errorf("exited: %+v", exited)
	}
	if code := p.wait(); code != exitDone {
		t.Errorf("the shim ended with %d", code)
	}
	ended(t, grandchild, true)
}

// TestOutputHeldOpen has a CLI that ends and leaves a process which goes on
// writing to its output: the end is seen all the same.
func TestOutputHeldOpen(t *testing.T) {
	hub := newHub(t)
	p := startProcess(t, newSpec(t, hub.socket, "deserter", ""))
	if e := hub.event(link.EventExited); e.Code == nil || *e.Code != 0 || e.Swept != 1 {
		t.Errorf("exited: %+v", e)
	}
	if code := p.wait(); code != exitDone {
		t.Errorf("the shim ended with %d", code)
	}
}

// TestSignalsOfTheCLI looks at which signals a CLI is born ignoring: none of
// those that the shim does not want to hear of.
func TestSignalsOfTheCLI(t *testing.T) {
	hub := newHub(t)
	p := startProcess(t, newSpec(t, hub.socket, "status", ""))
	hub.wait("the CLI tells", func() bool { return len(hub.linesLocked()) > 0 })
	var ignored uint64
	if _, err := fmt.Sscanf(hub.lines()[0], "SigIgn: %x", &ignored); err != nil {
		t.Fatal(err)
	}
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGPIPE, syscall.SIGCHLD} {
		if ignored&(1<<(sig-1)) != 0 {
			t.Errorf("the CLI ignores %v", sig)
		}
	}
	hub.tell(&link.CloseInput{})
	p.wait()
}

// TestInheritedFilesAreClosed has a hub that was itself started with a pipe that
// it does not know of: whoever waits for its end must not have to wait for all
// agents.
func TestInheritedFilesAreClosed(t *testing.T) {
	hub := newHub(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	p := startProcess(t, newSpec(t, hub.socket, "echo", ""), w)
	_ = w.Close()
	hub.event(link.EventStarted)
	if err := r.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if n, err := r.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("reading gives %d, %v", n, err)
	}
	hub.tell(&link.CloseInput{})
	p.wait()
}

// TestOrphansAreAdopted has a grandchild without a parent end: it must not stay
// a zombie.
func TestOrphansAreAdopted(t *testing.T) {
	hub := newHub(t)
	p := startProcess(t, newSpec(t, hub.socket, "orphaner", ""))
	orphan := child(hub)
	parent := func() string {
		data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(orphan), "stat"))
		if err != nil {
			t.Fatal(err)
		}
		return string(bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])[1])
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for ctx := soon(t); parent() != strconv.Itoa(p.cmd.Process.Pid); {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("the orphan's parent is %s, expected the shim, %d", parent(), p.cmd.Process.Pid)
		}
	}
	if err := syscall.Kill(orphan, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ended(t, orphan, false)
	// The end of the CLI itself is seen as before.
	hub.tell(&link.CloseInput{})
	if e := hub.event(link.EventExited); e.Code == nil || *e.Code != 0 {
		t.Errorf("exited: %+v", e)
	}
	p.wait()
}

// TestDeadHubGivesNoOrders has whoever starts a shim die before it has said
// what to do.
func TestDeadHubGivesNoOrders(t *testing.T) {
	for name, orders := range map[string]string{"nothing": "", "half": `{"session":"s1","run":1,"tok`, "nonsense": "[]"} {
		t.Run(name, func(t *testing.T) {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(self(t))
			cmd.Env, cmd.ExtraFiles = environ("shim", ""), []*os.File{r}
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_ = r.Close()
			_, _ = fmt.Fprint(w, orders)
			_ = w.Close()
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != exitLost || !strings.Contains(stderr.String(), "reading the shim's orders") || strings.Contains(stderr.String(), "tok") {
				t.Errorf("it ended with %d and says %q", code, &stderr)
			}
		})
	}
}
