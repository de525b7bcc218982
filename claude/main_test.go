package claude

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/wire"
)

// The test binary is also the CLI that the tests start: with fakeEnv set it
// behaves as one of fakes.
const (
	fakeEnv    = "FAKE_CLI"
	fakeArgEnv = "FAKE_CLI_ARG"
)

func TestMain(m *testing.M) {
	if code, ran := claudetest.RunInstalled(os.Args); ran {
		os.Exit(code)
	}
	if name := os.Getenv(fakeEnv); name != "" {
		fake, ok := fakes()[name]
		if !ok {
			fmt.Fprintf(os.Stderr, "no fake %q\n", name)
			os.Exit(99)
		}
		os.Exit(fake(os.Getenv(fakeArgEnv)))
	}
	goleak.VerifyTestMain(m)
}

// fakes are programs by name. Each gets the value of fakeArgEnv.
func fakes() map[string]func(arg string) int {
	all := map[string]func(string) int{
		// A simulated CLI of a version, whose tools do something.
		"rough": roughFake,
		// Sends every line back and ends with its input.
		"echo": func(string) int { return echo() },
		// Answers each message like a CLI whose model has one thing to say.
		"answer": func(string) int {
			for in := bufio.NewScanner(os.Stdin); in.Scan(); {
				fmt.Println(`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Hello."}]}}`)
				fmt.Println(`{"type":"result","subtype":"success","is_error":false,"result":"Hello."}`)
			}
			return 0
		},
		// Tells its arguments, environment and directory.
		"tell": func(string) int {
			dir, _ := os.Getwd()
			_ = json.NewEncoder(os.Stdout).Encode(told{os.Args[1:], os.Environ(), dir})
			return echo()
		},
		// Tells what a file contains, named by a flag that is given as the arg.
		"tell-file": func(flag string) int {
			for _, arg := range os.Args[1:] {
				if path, ok := strings.CutPrefix(arg, flag+"="); ok {
					data, err := os.ReadFile(path)
					if err != nil {
						return 1
					}
					info, _ := os.Stat(path)
					fmt.Printf("%s %v %s\n", path, info.Mode().Perm(), data)
				}
			}
			return echo()
		},
		// Tells what it reads from descriptor 3.
		"tell-token": func(string) int {
			data, err := io.ReadAll(os.NewFile(3, "token"))
			fmt.Printf("%s %v %s\n", os.Getenv("CLAUDE_CODE_WEBSOCKET_AUTH_FILE_DESCRIPTOR"), err, data)
			return block()
		},
		// Ends at once, with the words of its arg on standard error.
		"fail": func(arg string) int {
			fmt.Fprint(os.Stderr, arg)
			return 3
		},
		// Writes a line, then ends as "fail" when it is told to.
		"fail-later": func(arg string) int {
			fmt.Println(`{"type":"system"}`)
			_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
			fmt.Fprint(os.Stderr, arg)
			return 3
		},
		// Ends in the middle of its first line, with the code of its arg.
		"fail-midway": func(arg string) int {
			_, _ = os.Stdin.Read(make([]byte, 10))
			fmt.Fprint(os.Stderr, "no more")
			return len(arg)
		},
		// Closes its output and lives on until its input ends.
		"mute": func(string) int {
			_ = os.Stdout.Close()
			fmt.Fprint(os.Stderr, "mute")
			_, _ = io.Copy(io.Discard, os.Stdin)
			return 0
		},
		// Ends with code 1 at the end of its input.
		"fail-at-end": func(string) int {
			_ = echo()
			return 1
		},
		// Writes far more to standard error than a pipe holds.
		"noisy": func(arg string) int {
			for range 100_000 {
				fmt.Fprintln(os.Stderr, "noise noise noise")
			}
			fmt.Fprintln(os.Stderr, arg)
			fmt.Println(`{"type":"done"}`)
			_ = echo()
			return 3
		},
		// Writes lines without being asked, until its input ends.
		"flood": func(string) int {
			ended := make(chan struct{})
			go func() {
				_, _ = io.Copy(io.Discard, os.Stdin)
				close(ended)
			}()
			for i := 0; ; i++ {
				select {
				case <-ended:
					fmt.Println(`{"last":true}`)
					return 0
				default:
					fmt.Printf("{\"n\":%d}\n", i)
				}
			}
		},
		// Writes as many lines as are read at once, and as many again as a pipe
		// holds, and says so on standard error.
		"burst": func(string) int {
			for range 2 {
				_, _ = os.Stdout.WriteString(strings.Repeat("{}\n", 20_000))
			}
			fmt.Fprint(os.Stderr, "written")
			return echo()
		},
		// Writes one line of the length of its arg, then a short one.
		"huge": func(arg string) int {
			var n int
			_, _ = fmt.Sscan(arg, &n)
			_, _ = os.Stdout.WriteString(strings.Repeat("x", n) + "\n" + `{"after":true}` + "\n")
			return echo()
		},
		// Reads nothing until it is told to by SIGUSR1, or is killed.
		"deaf": func(string) int {
			wake := make(chan os.Signal, 1)
			signal.Notify(wake, wakeSignal)
			fmt.Println(`{"deaf":true}`)
			<-wake
			return echo()
		},
		// Does not end with its input.
		"stubborn": func(string) int {
			fmt.Println(`{"type":"system"}`)
			return block()
		},
		// Does not end with its input, nor by SIGTERM.
		"immortal": func(string) int {
			signal.Ignore(syscall.SIGTERM)
			fmt.Println(`{"type":"system"}`)
			return block()
		},
		// Says goodbye at the end of its input.
		"polite": func(string) int {
			_, _ = io.Copy(io.Discard, os.Stdin)
			fmt.Println(`{"type":"goodbye"}`)
			return 0
		},
	}
	maps.Copy(all, systemFakes())
	return all
}

type told struct {
	Args, Env []string
	Dir       string
}

func echo() int {
	_, _ = io.Copy(os.Stdout, os.Stdin)
	return 0
}

// block waits for a signal that ends the process.
func block() int {
	never := make(chan os.Signal, 1)
	signal.Notify(never, os.Interrupt)
	<-never
	return 0
}

// self returns the path of the test binary.
func self(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// fakeCLI returns a CLI of a version and the environment that makes it behave
// like a fake.
func fakeCLI(t testing.TB, fake, arg string, v wire.Version) (*CLI, []string) {
	t.Helper()
	return &CLI{Path: self(t), Args: []string{self(t)}, Version: v}, fakeEnviron(fake, arg)
}

// fakeEnviron has the race detector end a fake without its usual second of
// rest.
func fakeEnviron(fake, arg string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT"),
		"GOCOVERDIR=" + os.TempDir(), "GORACE=atexit_sleep_ms=0",
		fakeEnv + "=" + fake, fakeArgEnv + "=" + arg,
	}
}

// startFake starts a fake CLI that is closed at the end of the test.
func startFake(t testing.TB, fake, arg string, o *Options) *Process {
	t.Helper()
	cli, env := fakeCLI(t, fake, arg, version(325))
	if o == nil {
		o = &Options{}
	}
	o.Env = append(o.Env, env...)
	p, err := cli.Start(t.Context(), o)
	if err != nil {
		t.Fatalf("starting the fake %s: %v", fake, err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Errorf("closing the fake %s: %v", fake, err)
		}
	})
	return p
}

// soon is a context for what must happen, however busy the machine is.
func soon(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// readLine reads a line that must come.
func readLine(t testing.TB, p Transport) string {
	t.Helper()
	line, err := p.Read(soon(t))
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	return string(line)
}

// eventually waits until a condition holds.
func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	ctx := soon(t)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("waited in vain: %s", what)
		}
	}
}
