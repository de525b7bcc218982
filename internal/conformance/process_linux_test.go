package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/wire"
)

// readyPipe is the named pipe in the project folder that the tool writes its process id to, so that a test knows that the tool runs.
const readyPipe = "ready"

// longTool is a model that has a shell command run which does not end by itself.
func longTool() func(claudetest.Request) claudetest.Reply {
	return claudetest.Steps(claudetest.Say(claudetest.Tool("Bash", map[string]any{
		"command":     "echo $$ > " + readyPipe + " && sleep 600",
		"description": "Wait",
		"timeout":     600000,
	})))
}

// projectFolder returns a folder with the named pipe in it, and our end of the pipe.
func projectFolder(t *testing.T) (string, *os.File) {
	t.Helper()
	dir := t.TempDir()
	return dir, namedPipe(t, filepath.Join(dir, readyPipe))
}

// namedPipe makes a named pipe that is open until the test ends.
func namedPipe(t *testing.T, path string) *os.File {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	// Opened for both directions there is always someone on the other side, so that opening it waits for nobody, and a read waits instead of
	// seeing the end.
	pipe, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pipe.Close() })
	return pipe
}

// awaitTool waits until the tool runs and returns the id of its shell.
func awaitTool(t *testing.T, pipe *os.File) int {
	t.Helper()
	if err := pipe.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 32)
	n, err := pipe.Read(buf)
	if err != nil {
		t.Fatalf("waiting for the tool to start: %v", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(buf[:n])))
	if err != nil {
		t.Fatalf("the tool wrote %q, want its process id", buf[:n])
	}
	return pid
}

// marked returns the processes that have the marker in their environment. The test looks for itself, not through the package under test.
func marked(t *testing.T, marker string) []int {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, file := range files {
		env, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended meanwhile, or is not ours
		}
		if slices.Contains(strings.Split(string(env), "\x00"), claude.MarkerEnv+"="+marker) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, pid)
		}
	}
	return pids
}

// awaitMarked waits until the marked processes are as wanted and returns them; it fails the test when that takes too long.
func awaitMarked(t *testing.T, marker, want string, enough func([]int) bool) []int {
	t.Helper()
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	deadline := time.After(patience)
	for {
		pids := marked(t, marker)
		if enough(pids) {
			return pids
		}
		select {
		case <-poll.C:
		case <-deadline:
			t.Fatalf("%s: processes %v are left (%s)", want, pids, commandLines(pids))
		}
	}
}

// commandLines names processes for a failure.
func commandLines(pids []int) string {
	var lines []string
	for _, pid := range pids {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil {
			lines = append(lines, fmt.Sprintf("%d: %.120s", pid, bytes.ReplaceAll(line, []byte{0}, []byte(" "))))
		}
	}
	return strings.Join(lines, "; ")
}

// TestCloseEndsARunningTool closes a CLI while its tool runs: nothing may be left. The tool runs in a session of its own, so that ending the
// CLI's process group would miss it.
func TestCloseEndsARunningTool(t *testing.T) {
	t.Parallel()
	for _, version := range Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			model := newModel(t, longTool())
			dir, pipe := projectFolder(t)
			cli := installed(t, version)
			process := start(t, cli, &claude.Options{Dir: dir, Env: claudetest.Env(t.TempDir(), model.URL())})
			talked := make(chan error, 1)
			go func() { talked <- hangInTool(t.Context(), process, cli.Version) }()

			shell := awaitTool(t, pipe)
			pids := marked(t, process.Marker())
			if !slices.Contains(pids, process.PID()) || !slices.Contains(pids, shell) {
				t.Errorf("marked processes %v, want the CLI %d and the tool's shell %d among them", pids, process.PID(), shell)
			}
			if session(t, shell) == session(t, process.PID()) {
				t.Error("the tool runs in the CLI's session; the test shows less than it should")
			}
			begin := time.Now()
			if err := process.Close(); err != nil {
				t.Error(err)
			}
			if pids := marked(t, process.Marker()); len(pids) != 0 {
				t.Errorf("left after Close: %s", commandLines(pids))
			}
			t.Logf("closed in %s", time.Since(begin).Round(time.Millisecond))
			if err := <-talked; err == nil {
				t.Error("the turn came to its end although the tool runs for ten minutes")
			}
		})
	}
}

// hangInTool holds a conversation up to the tool that does not end. It returns when the transport ends.
func hangInTool(ctx context.Context, transport claude.Transport, version wire.Version) error {
	conn := claude.NewConn(transport, &claude.ConnOptions{Version: version, Handler: allowAll})
	defer func() { _ = conn.Close() }() // whoever owns the process closes it, too, and looks at the error
	if _, err := conn.Request(ctx, &wire.InitializeRequest{}); err != nil {
		return err
	}
	prompt, err := wire.NewUser(wire.TextContent("Wait, please."), nil)
	if err == nil {
		err = conn.Send(ctx, prompt)
	}
	if err != nil {
		return err
	}
	for line, err := range conn.Lines(ctx, 0) {
		if err != nil {
			return err
		}
		if message, err := line.Message(); err != nil {
			return err
		} else if _, ok := message.(*wire.Result); ok {
			return nil
		}
	}
	return ctx.Err()
}

// allowAll is a handler that allows every tool.
func allowAll(ctx context.Context, q *wire.ControlRequest) ([]byte, error) {
	if _, ok := q.Request.(*wire.CanUseToolRequest); ok {
		return wire.NewPermission(q, &wire.Allow{})
	}
	return claude.Decline(ctx, q)
}

// session returns the session that a process is in.
func session(t *testing.T, pid int) string {
	t.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	// The name in parentheses may hold anything; state, parent, group and session follow it.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	return fields[3]
}

// controllerEnv holds the orders of a test binary that was started to be a controlling program.
const controllerEnv = "SWITCHBOARD_TEST_CONTROLLER"

// orders are what a controlling program is to do.
type orders struct {
	Program string
	Dir     string
	Marker  string
	Env     []string
}

// control is a controlling program: it starts a CLI and has it run a tool that does not end, until somebody kills it. It returns the exit code.
func control(order string) int {
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var o orders
	if err := json.Unmarshal([]byte(order), &o); err != nil {
		return fail(err)
	}
	ctx := context.Background()
	cli, err := claude.Find(ctx, &claude.FindOptions{Path: o.Program, Env: o.Env, Prober: &claude.Prober{Timeout: patience}})
	if err != nil {
		return fail(err)
	}
	process, err := cli.Start(ctx, &claude.Options{Dir: o.Dir, Env: o.Env, Marker: o.Marker})
	if err != nil {
		return fail(err)
	}
	fmt.Println(process.PID())
	err = hangInTool(ctx, process, cli.Version)
	return fail(errors.Join(errors.New("the controlling program was to be killed and was not"), err, process.Close()))
}

// TestKilledControllerLeavesNoCLI kills the program that controls a CLI while a tool runs. The CLI must be gone on every version, and its tool
// where the version ends it; where it does not, claude.Sweep does.
func TestKilledControllerLeavesNoCLI(t *testing.T) {
	t.Parallel()
	// Only newer versions end their tools when they are told to end.
	leavesTool := map[string]bool{Oldest: true, LastDialing: true}
	for _, version := range Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			model := newModel(t, longTool())
			dir, pipe := projectFolder(t)
			marker := fmt.Sprintf("conformance-%d-%s", os.Getpid(), strings.ReplaceAll(version, ".", "-"))
			controller, pid := startController(t, orders{
				Program: program(t, version), Dir: dir, Marker: marker, Env: claudetest.Env(t.TempDir(), model.URL()),
			})
			// Whatever fails below, nothing may be left.
			t.Cleanup(func() {
				if _, err := claude.Sweep(context.WithoutCancel(t.Context()), marker); err != nil {
					t.Error(err)
				}
			})
			shell := awaitTool(t, pipe)
			if pids := marked(t, marker); !slices.Contains(pids, pid) || !slices.Contains(pids, shell) {
				t.Fatalf("marked processes %v, want the CLI %d and the tool's shell %d among them", pids, pid, shell)
			}

			if err := controller.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := controller.Wait(); err == nil {
				t.Error("the controlling program ended by itself")
			}
			begin := time.Now()
			awaitMarked(t, marker, "the CLI is gone", func(pids []int) bool { return !slices.Contains(pids, pid) })
			t.Logf("the CLI was gone after %s", time.Since(begin).Round(time.Millisecond))
			if !leavesTool[version] {
				awaitMarked(t, marker, "the tool is gone with the CLI", func(pids []int) bool { return len(pids) == 0 })
				return
			}
			if pids := marked(t, marker); !slices.Contains(pids, shell) {
				t.Errorf("marked processes %v: the tool %d is gone by itself; what is said about this version is out of date", pids, shell)
			}
			killed, err := claude.Sweep(t.Context(), marker)
			if err != nil || killed == 0 {
				t.Errorf("Sweep ended %d processes, %v; want the tool's", killed, err)
			}
			if pids := marked(t, marker); len(pids) != 0 {
				t.Errorf("left after Sweep: %s", commandLines(pids))
			}
		})
	}
}

// startController starts this test binary as a controlling program and returns it with the process id of its CLI.
func startController(t *testing.T, o orders) (*exec.Cmd, int) {
	t.Helper()
	order, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var stderr lockedBuffer
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), controllerEnv+"="+string(order))
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // after the test's own kill it does nothing
	var pid int
	if _, err := fmt.Fscan(stdout, &pid); err != nil {
		t.Fatalf("the controlling program did not start a CLI: %v: %s", err, stderr.String())
	}
	return cmd, pid
}
