//go:build linux || darwin

package e2e

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/claude/claudetest"
)

const (
	// patience bounds every wait. It is generous: the machine may be busy, and
	// a test that fails for that reason tells nothing.
	patience = 3 * time.Minute
	// tick is how often something is looked at that cannot tell by itself that
	// it has changed: a file, a process, a hub that is being started.
	tick = 5 * time.Millisecond
)

// labOptions are the choices of newLab. The zero value is a hub whose sessions
// run the newest simulated CLI.
type labOptions struct {
	// agent is the CLI instead, real says that it is no simulation, and env is
	// what its environment has in addition.
	agent string
	real  bool
	env   []string
	// plain takes the program without the race detector, raced the one with it where
	// plain is the default: see newNodeLab.
	plain, raced bool
	// sandbox is the hub's default for sessions: off if it is empty. With a mode,
	// or with auto, which is the program's own default, the hub finds bubblewrap
	// on its PATH; see sandboxed.
	sandbox string
	// away has the lab in no temporary folder: all of these can be written in a
	// strict sandbox.
	away bool
	// tmp has the lab below /tmp, wherever TMPDIR is: other users reach it, and it can be
	// written in a strict sandbox.
	tmp bool
	// ordinary has the hub, and so all that it starts, run as a user that is not
	// root.
	ordinary bool
	// args are further ones of serve, config is its configuration file.
	args   []string
	config string
	// tls has the hub's port speak TLS, with a certificate that it makes itself.
	tls bool
}

// A lab is a folder with a hub of its own. The hub is started by start, killed
// by kill, and may be started again: the data stays, as does the address.
type lab struct {
	// Static after construction.
	t       testing.TB
	options labOptions
	id      string
	root    string // short, for the sake of the socket
	data    string
	home    string
	temp    string // for temporary files of what the hub starts
	address string // host and port of the hub
	http    *http.Client
	numbers atomic.Int64

	mu       sync.Mutex
	server   *server    // the last one that was started
	machines []*machine // the hub's nodes; see enroll
}

// newLab makes a lab. At the end of the test its hub is killed, whatever it
// started is ended, and the test fails if that was not all.
func newLab(t testing.TB, o *labOptions) *lab {
	t.Helper()
	if o == nil {
		o = &labOptions{}
	}
	parent := suite.dir
	if o.away {
		parent = awayDir(t)
	}
	if o.tmp {
		parent = tmpDir(t)
	}
	root, err := os.MkdirTemp(parent, "") //nolint:usetesting // its own folders have long names, and sockets short ones
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, options: *o, root: root, id: suite.id + "." + filepath.Base(root), data: filepath.Join(root, "d"), home: filepath.Join(root, "h")}
	l.temp = filepath.Join(root, "t") // not the root: a strict sandbox makes no folder writable that the home folder is in
	if o.away {
		l.temp = filepath.Join(suite.dir, filepath.Base(root))
		if err := os.Mkdir(l.temp, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	folders := []string{l.data, l.home, filepath.Join(root, "w")}
	if !o.away {
		folders = append(folders, l.temp)
	}
	for _, dir := range folders {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	secret := "sb_e2etests_" + strings.ToLower(rand.Text()+rand.Text())
	if err := os.WriteFile(filepath.Join(l.data, "admin.token"), []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	suite.homes.add(l.home)
	l.address = freeAddress(t)
	// A connection that the hub's death has closed must not be what the next
	// request finds that out by.
	transport := &http.Transport{DisableKeepAlives: true}
	if o.tls {
		transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true} // the port is the lab's own
	}
	l.http = &http.Client{Transport: transport}
	if l.options.agent == "" {
		l.options.agent = l.installAgent()
	}
	l.options.agent = l.lend(l.options.agent)
	l.sandboxed(o.sandbox)
	if err := l.hand(l.root); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.close)
	return l
}

// manyConnections are settings for tests that have hundreds of followers with one
// token, which may have a quarter of the connections.
const manyConnections = "[server]\nmax_connections = 8192\nmax_connections_per_address = 8192\n"

// Ports from which a hub gets its own. They lie below those that Linux, macOS
// and Windows give to outgoing connections and to listeners without a choice of
// their own: such a port may be taken before the hub has it, or while a killed
// hub is away.
const (
	firstPort = 20_000
	portCount = 12_000
)

// freeAddress returns an address on loopback that is free and that no other lab
// of this suite gets.
func freeAddress(t testing.TB) string {
	t.Helper()
	for range portCount {
		address := fmt.Sprintf("127.0.0.1:%d", firstPort+suite.port.Add(1)%portCount)
		listener, err := net.Listen("tcp", address)
		if err != nil {
			continue
		}
		_ = listener.Close() // it was never used
		return address
	}
	t.Fatalf("none of %d ports from %d is free", portCount, firstPort)
	return ""
}

// socket is where the hub listens for shims. The tests themselves use its
// address and its token, as a program on another machine would.
func (l *lab) socket() string { return filepath.Join(l.data, "run", "hub.sock") }

// token is one with all rights, from the file that the hub honors.
func (l *lab) token() (string, error) {
	content, err := os.ReadFile(filepath.Join(l.data, "admin.token"))
	return strings.TrimSpace(string(content)), err
}

// url is the hub's address.
func (l *lab) url() string {
	if l.options.tls {
		return "https://" + l.address
	}
	return "http://" + l.address
}

// request returns a request to the hub.
func (l *lab) request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	token, err := l.token()
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, method, l.url()+path, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	return request, nil
}

// tried returns the path of the program that the lab tries.
func (l *lab) tried() string {
	l.t.Helper()
	if !l.options.plain {
		return program(l.t)
	}
	path, err := suite.plain()
	if err != nil {
		l.t.Fatal(err)
	}
	return path
}

// installAgent installs a program that is another simulated CLI in each working
// folder, because each is to keep a record of its own. A folder without one gets
// one that keeps none.
func (l *lab) installAgent() string {
	l.t.Helper()
	fallback := filepath.Join(l.root, "a")
	if err := os.Mkdir(fallback, 0o700); err != nil {
		l.t.Fatal(err)
	}
	path, err := claudetest.InstallProgram(fallback, l.tried(), &claudetest.InstallOptions{})
	if err != nil {
		l.t.Fatal(err)
	}
	// exec keeps the process, and so what its parent wants done when that dies.
	script := "#!/bin/sh\nif [ -x .agent/claude ]; then exec \"$PWD/.agent/claude\" \"$@\"; fi\nexec '" + path + "' \"$@\"\n"
	starter := filepath.Join(l.root, "agent")
	if err := os.WriteFile(starter, []byte(script), 0o700); err != nil {
		l.t.Fatal(err)
	}
	return starter
}

// newDir makes a working folder with a simulated CLI of its own, of a version;
// "" is the newest. record is where that keeps its record.
func (l *lab) newDir(version string) (dir, record string) {
	l.t.Helper()
	return l.newDirIn(filepath.Join(l.root, "w"), version)
}

// newDirIn is newDir below another folder.
func (l *lab) newDirIn(parent, version string) (dir, record string) {
	l.t.Helper()
	dir = filepath.Join(parent, fmt.Sprint(l.numbers.Add(1)))
	agent := filepath.Join(dir, ".agent")
	if err := os.MkdirAll(agent, 0o700); err != nil {
		l.t.Fatal(err)
	}
	record = filepath.Join(agent, "record.jsonl")
	options := &claudetest.InstallOptions{Record: record}
	if version != "" {
		quirks, err := claudetest.QuirksFor(version)
		if err != nil {
			l.t.Fatal(err)
		}
		options.Quirks = &quirks
	}
	if _, err := claudetest.InstallProgram(agent, l.tried(), options); err != nil {
		l.t.Fatal(err)
	}
	return dir, record
}

// environment is that of the hub, and so of everything that it starts.
func (l *lab) environment(more ...string) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + l.home, "TMPDIR=" + l.temp,
		"GORACE=atexit_sleep_ms=0 halt_on_error=1",
		suiteEnv + "=" + suite.id, labEnv + "=" + l.id,
	}
	return slices.Concat(env, l.options.env, l.sandboxEnv(), more)
}

// ctx returns a context that ends with the test or when patience does.
func (l *lab) ctx() context.Context {
	ctx, cancel := context.WithTimeout(l.t.Context(), patience)
	context.AfterFunc(ctx, cancel)
	l.t.Cleanup(cancel)
	return ctx
}

// close ends everything and looks whether it is gone.
func (l *lab) close() {
	l.kill()
	l.http.CloseIdleConnections()
	// The agents outlive their hub, as they should. Here it ends them.
	for _, pid := range l.processes() {
		terminate(pid)
	}
	if err := eventually(patience, func() error { return l.gone() }); err != nil {
		l.t.Error(err)
	}
	if l.t.Failed() {
		l.t.Logf("what the hub said:\n%s", tail(filepath.Join(l.root, "serve.log"), 200))
		logs, err := filepath.Glob(filepath.Join(l.data, "shims", "*.log"))
		if err != nil {
			l.t.Error(err)
		}
		for _, m := range l.nodes() {
			l.t.Logf("what the node %s said:\n%s", m.name, tail(filepath.Join(m.root, "node.log"), 100))
			more, err := filepath.Glob(filepath.Join(m.data, "shims", "*.log"))
			if err != nil {
				l.t.Error(err)
			}
			logs = append(logs, more...)
		}
		for _, log := range logs[:min(len(logs), 4)] {
			l.t.Logf("what the shim %s said:\n%s", filepath.Base(log), tail(log, 60))
		}
		l.t.Logf("the lab is kept in %s", l.root)
		return
	}
	if err := os.RemoveAll(l.root); err != nil {
		l.t.Error(err)
	}
}

// tail returns the last lines of a file.
func tail(path string, lines int) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	all := strings.SplitAfter(string(content), "\n")
	return strings.Join(all[max(0, len(all)-lines-1):], "")
}

// eventually calls check until it returns nil, and returns its last error when
// limit is over. It is for what cannot tell by itself that it has changed.
func eventually(limit time.Duration, check func() error) error {
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-deadline.C:
			return fmt.Errorf("not within %s: %w", limit, err)
		case <-ticker.C:
		}
	}
}

// exists is a check for eventually.
func exists(path string) func() error {
	return func() error {
		_, err := os.Stat(path)
		return err
	}
}

// processes returns all that a lab has started and that is still alive.
func (l *lab) processes() []int {
	marks := []string{"HOME=" + l.home, labEnv + "=" + l.id}
	for _, m := range l.nodes() {
		marks = append(marks, "HOME="+m.home)
	}
	return carriers(marks...)
}

// shims returns the shims of a lab.
func (l *lab) shims() []int {
	return slices.DeleteFunc(l.processes(), func(pid int) bool { return !slices.Contains(commandLine(pid), "shim") })
}

// gone is a check for eventually: nothing of a lab is alive, but for the pids.
func (l *lab) gone(but ...int) error {
	left := slices.DeleteFunc(l.processes(), func(pid int) bool { return slices.Contains(but, pid) })
	if len(left) > 0 {
		return errors.New("alive:\n" + describe(left))
	}
	return nil
}

// startSleeper starts a process that does nothing until the test ends, with a
// variable in its environment.
func startSleeper(t testing.TB, variable string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), variable}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	return cmd
}
