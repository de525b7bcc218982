//go:build linux || darwin

package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchboard-dev/switchboard/internal/conformance"
)

// suiteEnv is in the environment of everything that the tests start: what is not
// taken out of the environment of a CLI reaches its tools too, so that whatever
// is left behind, by whomever it was started, is found. A shim has only a few
// variables; it is found by its HOME, which is the lab's own.
const suiteEnv = "E2E_SUITE"

// labEnv is the same for one lab.
const labEnv = "E2E_LAB"

// soakEnv makes everything big.
const soakEnv = "SWITCHBOARD_SOAK"

// suite is what all tests of a run share.
var suite = struct {
	id    string
	dir   string
	homes heap
	// port counts the ports that labs were given, from a random start: other
	// suites may run on the same machine.
	port atomic.Uint32
	// build and plain build the program under test, the second one never with
	// the race detector.
	build, plain func() (string, error)
}{id: fmt.Sprintf("%d.%d", os.Getpid(), time.Now().UnixNano())}

func TestMain(m *testing.M) {
	if role := os.Getenv(roleEnv); role != "" {
		os.Exit(play(role))
	}
	flag.Parse()
	// Children of a process that ignores a signal ignore it, too, and some tests send it to them. nohup has SIGHUP ignored,
	// go tool test2json the other two.
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	// Much of a test is waiting: for processes to start, and in some for half a
	// minute until the hub gives up on a connection. So more of them run at once
	// than there are cores.
	if err := flag.Set("test.parallel", "8"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	suite.port.Store(rand.Uint32N(portCount))
	var err error
	// The path of a Unix socket has to be short, and TMPDIR may be long.
	temp := os.TempDir()
	if len(temp) > 20 {
		temp = "/tmp"
	}
	suite.dir, err = os.MkdirTemp(temp, "sb-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	suite.build = sync.OnceValues(func() (string, error) { return buildProgram("switchboard", raceEnabled) })
	suite.plain = suite.build
	if raceEnabled {
		suite.plain = sync.OnceValues(func() (string, error) { return buildProgram("plain", false) })
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if left := carriers(append(homes(), suiteEnv+"="+suite.id)...); len(left) > 0 {
			fmt.Printf("FAIL: processes were left behind:\n%s", describe(left))
			for _, pid := range left {
				terminate(pid)
			}
			code = max(code, 1)
		}
		if code == 0 {
			_ = os.RemoveAll(suite.dir) // what is left is a temporary folder
		}
		os.Exit(code)
	}))
}

// program returns the path of the program under test, which is built once: with
// the places to stop at, and with the race detector if the tests have it.
func program(t testing.TB) string {
	t.Helper()
	path, err := suite.build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func buildProgram(name string, race bool) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	path := filepath.Join(suite.dir, name)
	args := []string{"build", "-tags", "killpoints", "-o", path}
	if race {
		// As in the Makefile: what its tests are built with is there already.
		args = append(args, "-race", "-gcflags=modernc.org/sqlite/lib=-race=false", "-gcflags=modernc.org/libc=-race=false")
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "../../cmd/switchboard")...)
	output, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building the program under test: %w\n%s", err, output)
	}
	return path, nil
}

// homes returns the variables HOME of all labs that there have been.
func homes() []string {
	var list []string
	for _, home := range suite.homes.all() {
		list = append(list, "HOME="+home)
	}
	return list
}

// A heap is a list that only grows, safe for concurrent use.
type heap struct {
	mu    sync.Mutex
	items []string
}

func (h *heap) add(item string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.items = append(h.items, item)
}

func (h *heap) all() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.items)
}

// hugeLine is a prompt that has the agent write a line of 2 MB, of 10 MB in a soak: drawing that takes a minute, and shows nothing else.
func hugeLine() string {
	if soak() {
		return "@huge 10000000"
	}
	return "@huge 2000000"
}

// soak says that the tests may take hours.
func soak() bool { return os.Getenv(soakEnv) == "1" }

// differing are the versions of the CLI that answer differently: the oldest and the
// newest. The conformance suite tries what lies between, and so does a soak.
func differing() []string {
	if soak() {
		return conformance.Versions()
	}
	return []string{conformance.Oldest, conformance.Newest}
}

// roleEnv makes the test binary another program: see play.
const roleEnv = "E2E_ROLE"

// roleLoad is the process that many sessions are linked to.
const roleLoad = "load"

// play is the test binary in another role.
func play(role string) int {
	roles := map[string]func() error{roleLoad: runLoad, roleForms: runForms, roleReads: runReads, roleThief: runThief, roleFanout: runFanout, roleBlast: runBlast, roleWriter: runWriter, roleBare: runBare, roleRelay: runRelay}
	run, found := roles[role]
	if !found {
		fmt.Fprintf(os.Stderr, "%s is %q, which is no role\n", roleEnv, role)
		return 2
	}
	if err := run(); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
