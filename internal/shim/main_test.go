package shim

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/internal/sandbox"
)

// The test binary is also the shim and the CLIs that the tests start.
const (
	roleEnv = "SHIM_TEST_ROLE"
	argEnv  = "SHIM_TEST_ARG"
)

func TestMain(m *testing.M) {
	if code, ok := claudetest.RunInstalled(os.Args); ok {
		os.Exit(code)
	}
	if len(os.Args) > 1 && os.Args[1] == sandbox.Verb {
		os.Exit(sandbox.Inner(os.Args[2:], os.Stderr))
	}
	if role := os.Getenv(roleEnv); role != "" {
		run, ok := roles()[role]
		if !ok {
			fmt.Fprintf(os.Stderr, "no role %q\n", role)
			os.Exit(99)
		}
		os.Exit(run(os.Getenv(argEnv)))
	}
	goleak.VerifyTestMain(m)
}

func roles() map[string]func(arg string) int {
	return map[string]func(string) int{
		// A shim whose orders are on descriptor 3.
		"shim": func(string) int { return Main(context.Background(), os.NewFile(3, "orders")) },
		// Sends every line back and ends with its input.
		"echo": func(string) int {
			_, _ = io.Copy(os.Stdout, os.Stdin)
			return 0
		},
		// Writes as many numbered lines as its arg says, then echoes.
		"count": func(arg string) int {
			n, _ := strconv.Atoi(arg)
			out := bufio.NewWriter(os.Stdout)
			for i := range n {
				fmt.Fprintf(out, "{\"type\":\"user\",\"n\":%d,\"fill\":%q}\n", i+1, strings.Repeat("x", 200))
			}
			_ = out.Flush()
			_, _ = io.Copy(os.Stdout, os.Stdin)
			return 0
		},
		// Writes as many lines of about 240 bytes as its arg says, durable or
		// live ones, and ends.
		"flood": func(arg string) int {
			var n int
			var kind string
			_, _ = fmt.Sscan(arg, &n, &kind)
			typ := map[string]string{"durable": "user", "live": "stream_event"}[kind]
			line := []byte(fmt.Sprintf("{\"type\":%q,\"event\":{\"type\":\"content_block_delta\",\"delta\":%q}}\n", typ, strings.Repeat("x", 160)))
			out := bufio.NewWriterSize(os.Stdout, 64<<10)
			for range n {
				_, _ = out.Write(line)
			}
			_ = out.Flush()
			return 0
		},
		// Writes its arg to standard error and ends with code 3.
		"fail": func(arg string) int {
			fmt.Fprint(os.Stderr, arg)
			return 3
		},
		// Writes a line of a length, then a short one, then echoes.
		"huge": func(arg string) int {
			n, _ := strconv.Atoi(arg)
			_, _ = os.Stdout.WriteString(strings.Repeat("x", n) + "\n" + `{"type":"after"}` + "\n")
			_, _ = io.Copy(os.Stdout, os.Stdin)
			return 0
		},
		// Writes the lines of a file, then echoes.
		"play": func(arg string) int {
			data, err := os.ReadFile(arg)
			if err != nil {
				return 1
			}
			_, _ = os.Stdout.Write(data)
			_, _ = io.Copy(os.Stdout, os.Stdin)
			return 0
		},
		// Says who it is and ends only by a signal.
		"stubborn": func(string) int {
			fmt.Println(`{"type":"system"}`)
			return block()
		},
		// Starts a child in a session of its own, as the Bash tool of the CLI
		// does, tells its number and echoes.
		"parent": func(arg string) int {
			path, err := os.Executable()
			if err != nil {
				return 1
			}
			cmd := exec.Command(path)
			cmd.Env = append(os.Environ(), roleEnv+"="+arg)
			ownSession(cmd)
			if err := cmd.Start(); err != nil {
				return 1
			}
			fmt.Printf("{\"type\":\"user\",\"child\":%d}\n", cmd.Process.Pid)
			_, _ = io.Copy(os.Stdout, os.Stdin)
			return 0
		},
		// Reaches for hosts, see below.
		"reacher": func(string) int { return reach() },
		"sleeper": func(string) int { return block() },
		// Starts a child that goes on writing to the same output, and ends.
		"deserter": func(string) int {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), roleEnv+"=chatterer")
			cmd.Stdout = os.Stdout
			if err := cmd.Start(); err != nil {
				return 1
			}
			return 0
		},
		"chatterer": func(string) int {
			for range time.Tick(50 * time.Millisecond) {
				if _, err := fmt.Println(`{"type":"system"}`); err != nil {
					break
				}
			}
			return 0
		},
		// Tells what the system knows about itself, and echoes.
		"status": func(string) int {
			data, err := os.ReadFile("/proc/self/status")
			if err != nil {
				return 1
			}
			for line := range strings.Lines(string(data)) {
				if strings.HasPrefix(line, "SigIgn:") {
					_, _ = os.Stdout.WriteString(line)
				}
			}
			_, _ = io.Copy(os.Stdout, os.Stdin)
			return 0
		},
		// Starts a program that starts a sleeper, tells its number and ends at
		// once, so that the sleeper is an orphan; then echoes.
		"orphaner": func(string) int {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), roleEnv+"=middle")
			cmd.Stdout = os.Stdout
			if err := cmd.Run(); err != nil {
				return 1
			}
			_, _ = io.Copy(os.Stdout, os.Stdin)
			return 0
		},
		"middle": func(string) int {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), roleEnv+"=sleeper")
			if err := cmd.Start(); err != nil {
				return 1
			}
			fmt.Printf("{\"type\":\"user\",\"child\":%d}\n", cmd.Process.Pid)
			return 0
		},
	}
}

// block waits for a signal that ends the process.
func block() int {
	never := make(chan os.Signal, 1)
	signal.Notify(never, os.Interrupt)
	<-never
	return 0
}

// environ makes the test binary play a role. The race detector shall not have
// it rest for a second when it ends.
func environ(role, arg string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + os.TempDir(), "GOCOVERDIR=" + os.TempDir(),
		"GORACE=atexit_sleep_ms=0", roleEnv + "=" + role, argEnv + "=" + arg,
	}
}

func self(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// shortDir returns a folder of the user's own with a path short enough for a
// socket.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sb") //nolint:usetesting // the path of t.TempDir may be too long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// newSpec returns orders to run the test binary in a role.
func newSpec(t testing.TB, socket, role, arg string) *Spec {
	t.Helper()
	spec := &Spec{
		Session: "stest", Run: 1, Token: "sb_test_secret", Marker: "test-" + newInstance(), Socket: socket,
		Command:  Command{Args: []string{self(t)}, Env: environ(role, arg), Dir: t.TempDir(), Version: "2.1.325"},
		SpoolDir: filepath.Join(t.TempDir(), "spool"),
	}
	if err := spec.complete(); err != nil {
		t.Fatal(err)
	}
	return spec
}

// simSpec returns orders to run a simulated CLI.
func simSpec(t testing.TB, socket string) (spec *Spec, record string) {
	t.Helper()
	dir := t.TempDir()
	record = filepath.Join(dir, "record")
	path, err := claudetest.Install(dir, &claudetest.InstallOptions{Record: record})
	if err != nil {
		t.Fatal(err)
	}
	spec = newSpec(t, socket, "", "")
	spec.Command.Args = []string{
		path, "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
		"--include-partial-messages", "--permission-prompt-tool", "stdio", "--permission-mode", "default",
	}
	spec.Command.Env = append(claudetest.Env(t.TempDir(), ""), "GORACE=atexit_sleep_ms=0", "GOCOVERDIR="+os.TempDir())
	return spec, record
}

// soon is a context for what must happen, however busy the machine is.
func soon(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// A running shim of a test.
type running struct {
	t      testing.TB
	cancel context.CancelCauseFunc
	code   chan int
}

// start runs a shim inside the test, which ends it if it has not ended.
func start(t testing.TB, spec *Spec, env *Env) *running {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	r := &running{t, cancel, make(chan int, 1)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.code <- Run(ctx, spec, env)
	}()
	t.Cleanup(func() {
		cancel(context.Canceled)
		<-done
	})
	return r
}

// wait returns the exit code of a shim that must end.
func (r *running) wait() int {
	r.t.Helper()
	select {
	case code := <-r.code:
		return code
	case <-soon(r.t).Done():
		r.t.Fatal("the shim did not end")
		return -1
	}
}
