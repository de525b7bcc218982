//go:build linux || darwin

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
)

// A machine is a node of a lab's hub: a process, with a home, a data folder and
// working folders of its own. As a hub, it may be killed and started again.
type machine struct {
	// Static after enroll.
	lab        *lab
	name       string
	id         string
	root       string
	data, home string
	work       string
	// wrap is what the node is started by, with its arguments; nil for nothing.
	wrap []string
	// env is what its environment has in addition, args are further arguments of node
	// run.
	env, args []string

	mu      sync.Mutex
	process *server // the last one that was started
}

// A nodeLab is a lab whose hub speaks TLS and has nodes, which dial it through a
// proxy.
type nodeLab struct {
	*lab
	front *proxy // nil: it is dialed directly
}

// newNodeLab makes a lab for a hub with nodes, and starts neither. o may be nil. Only
// in a soak does it have the race detector, unless raced asks for it: three programs
// in place of one take their time with it, and the story needs it once.
func newNodeLab(t testing.TB, o *labOptions) *nodeLab {
	t.Helper()
	if o == nil {
		o = &labOptions{}
	}
	options := *o
	options.tls, options.plain = true, o.plain || !o.raced && !soak()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	// What is signed and sent is bound to the name that is dialed, so the hub has to
	// know the proxy's: nothing on the way can put another one there.
	options.args = append(slices.Clone(options.args), "--url", "https://"+listener.Addr().String())
	l := &nodeLab{lab: newLab(t, &options)}
	l.front = startProxy(listener, func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", l.address)
	}, nil)
	t.Cleanup(l.front.close)
	return l
}

// dialed is the address by which nodes know the hub.
func (l *nodeLab) dialed() string {
	if l.front == nil {
		return "https://" + l.address
	}
	return "https://" + l.front.listener.Addr().String()
}

// nodes returns the machines of a lab.
func (l *lab) nodes() []*machine {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.machines)
}

// pin returns the fingerprint of the certificate of a hub with TLS, "" of one
// without.
func (l *lab) pin() string {
	l.t.Helper()
	if !l.options.tls {
		return ""
	}
	var info api.Info
	if err := l.insist(l.ctx(), http.MethodGet, "/v1/info", nil, &info); err != nil {
		l.t.Fatal(err)
	}
	if info.Pin == "" {
		l.t.Fatal("the hub does not tell the fingerprint of its certificate")
	}
	return info.Pin
}

// run runs the program to its end, with the environment of a machine that knows
// nothing of the hub, and returns what it wrote.
func (l *lab) run(env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(l.ctx(), l.tried(), args...)
	cmd.Env = env
	output, err := cmd.CombinedOutput()
	return string(output), err
}

// newMachine makes the folders of a machine that has not joined yet.
func (l *nodeLab) newMachine(name string) *machine {
	l.t.Helper()
	root := filepath.Join(l.root, name)
	m := &machine{lab: l.lab, name: name, root: root, data: filepath.Join(root, "d"), home: filepath.Join(root, "h"), work: filepath.Join(root, "w")}
	for _, dir := range []string{root, m.home, m.work, filepath.Join(root, "t")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			l.t.Fatal(err)
		}
	}
	suite.homes.add(m.home)
	l.mu.Lock()
	l.machines = append(l.machines, m)
	l.mu.Unlock()
	return m
}

// invite makes an invitation.
func (l *nodeLab) invite(in api.InviteNode) *api.NodeInvitation {
	l.t.Helper()
	var invitation api.NodeInvitation
	if err := l.insist(l.ctx(), http.MethodPost, "/v1/nodes/invitations", in, &invitation); err != nil {
		l.t.Fatal(err)
	}
	return &invitation
}

// join has a machine join by the command of the invitation.
func (m *machine) join(url, code, pin string) (string, error) {
	return m.lab.run(m.environment(), "node", "join", url, "--code", code, "--pin", pin, "--data-dir", m.data)
}

// enroll makes a machine, lets it join and starts it.
func (l *nodeLab) enroll(name string) *machine {
	l.t.Helper()
	m := l.newMachine(name)
	m.enroll(l)
	m.start()
	return m
}

// enroll has the machine join.
func (m *machine) enroll(l *nodeLab) {
	l.t.Helper()
	invitation := l.invite(api.InviteNode{Name: m.name, Labels: map[string]string{"name": m.name}})
	if output, err := m.join(invitation.URL, invitation.Code, invitation.Pin); err != nil {
		l.t.Fatalf("%s does not join: %v: %s", m.name, err, output)
	}
	var node api.Node
	if err := l.insist(l.ctx(), http.MethodGet, "/v1/nodes/"+m.name, nil, &node); err != nil {
		l.t.Fatal(err)
	}
	m.id = node.ID
}

// configure writes the configuration file of the machine.
func (m *machine) configure(text string) {
	m.lab.t.Helper()
	dir := filepath.Join(m.home, ".config", "switchboard")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		m.lab.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(text), 0o600); err != nil {
		m.lab.t.Fatal(err)
	}
}

// socket is where the node listens for shims.
func (m *machine) socket() string { return filepath.Join(m.data, "run", "hub.sock") }

// environment is that of the node, and so of everything that it starts.
func (m *machine) environment(more ...string) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + m.home, "TMPDIR=" + filepath.Join(m.root, "t"),
		"GORACE=atexit_sleep_ms=0 halt_on_error=1",
		suiteEnv + "=" + suite.id, labEnv + "=" + m.lab.id, "SWITCHBOARD_SANDBOX_MODE=off",
	}
	return slices.Concat(env, m.env, more)
}

// launch starts the node with further variables in its environment and does not
// wait for it.
func (m *machine) launch(env ...string) {
	m.lab.t.Helper()
	if err := m.tryLaunch(env...); err != nil {
		m.lab.t.Fatal(err)
	}
}

// tryLaunch is launch for goroutines that may not end the test.
func (m *machine) tryLaunch(env ...string) error {
	build := suite.build
	if m.lab.options.plain {
		build = suite.plain
	}
	path, err := build()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(m.root, "node.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the process has its own
	words := slices.Concat(m.wrap, []string{path, "node", "run", "--data-dir", m.data, "--agent", m.lab.options.agent}, m.args)
	s := &server{cmd: exec.Command(words[0], words[1:]...), done: make(chan struct{})}
	s.cmd.Env, s.cmd.Dir, s.cmd.Stdout, s.cmd.Stderr = m.environment(env...), m.root, log, log
	if err := s.cmd.Start(); err != nil {
		return err
	}
	m.mu.Lock()
	m.process = s
	m.mu.Unlock()
	go func() { // ends with the process, which the lab's close sees to
		s.err = s.cmd.Wait()
		close(s.done)
	}()
	return nil
}

// start starts the node and waits until the hub has it.
func (m *machine) start(env ...string) {
	m.lab.t.Helper()
	m.launch(env...)
	if err := m.awaitOnline(); err != nil {
		m.lab.t.Fatal(err)
	}
}

// current returns the node that was started last.
func (m *machine) current() *server {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.process
}

// node returns what the hub says of the machine.
func (m *machine) node() (*api.Node, error) {
	var node api.Node
	return &node, m.lab.insist(m.lab.t.Context(), http.MethodGet, "/v1/nodes/"+m.name, nil, &node)
}

// awaitState waits until the hub says that the node is in a state.
func (m *machine) awaitState(want api.NodeState) error {
	return eventually(patience, func() error {
		node, err := m.node()
		if err != nil {
			return err
		}
		if node.State != want {
			return fmt.Errorf("the node %s is %s, not %s", m.name, node.State, want)
		}
		return nil
	})
}

// awaitOnline waits until the node is connected, or has ended.
func (m *machine) awaitOnline() error {
	s := m.current()
	ended := errors.New("")
	err := eventually(patience, func() error {
		select {
		case <-s.done:
			return nil
		default:
		}
		node, err := m.node()
		if err == nil && node.State != api.NodeOnline && node.State != api.NodeDraining {
			return fmt.Errorf("the node %s is %s", m.name, node.State)
		}
		return err
	})
	select {
	case <-s.done:
		return fmt.Errorf("the node %s ended instead of connecting: %w", m.name, errors.Join(s.err, errors.New(exitText(s)), ended))
	default:
		return err
	}
}

// kill ends the node as a crash would. Its agents live on.
func (m *machine) kill() {
	s := m.current()
	if s == nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGKILL) // it may have ended by itself
	<-s.done
}

// stop ends the node as systemctl restart does: SIGTERM to it alone.
func (m *machine) stop() {
	m.lab.t.Helper()
	s := m.current()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		m.lab.t.Fatal(err)
	}
	select {
	case <-s.done:
	case <-time.After(patience):
		m.lab.t.Fatalf("the node %s does not end on SIGTERM", m.name)
	}
	if s.err != nil {
		m.lab.t.Errorf("the node %s ended with %v", m.name, s.err)
	}
}

// processes returns all that runs on the machine, the node included.
func (m *machine) processes() []int { return carriers("HOME=" + m.home) }

// shims returns the shims of the machine.
func (m *machine) shims() []int {
	return slices.DeleteFunc(m.processes(), func(pid int) bool { return !slices.Contains(commandLine(pid), "shim") })
}

// create creates a session on the machine, however often hub and node die
// meanwhile: a node that is not connected is waited for.
func (m *machine) create(ctx context.Context, change func(*api.CreateSession)) (*session, error) {
	dir, record := m.lab.newDirIn(m.work, "")
	ticker := time.NewTicker(10 * tick)
	defer ticker.Stop()
	for {
		s, err := m.lab.createIn(ctx, dir, record, func(in *api.CreateSession) {
			in.Node = m.name
			if change != nil {
				change(in)
			}
		})
		if problem := problemOf(err); problem == nil || problem.Status != http.StatusServiceUnavailable {
			return s, err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("%w, %w", ctx.Err(), err)
		}
	}
}

// mustCreate creates a session on the machine or ends the test.
func (m *machine) mustCreate(change func(*api.CreateSession)) *session {
	m.lab.t.Helper()
	s, err := m.create(m.lab.ctx(), change)
	if err != nil {
		m.lab.t.Fatal(err)
	}
	return s
}

// killWhen waits for a file, kills the node and starts it again.
func (m *machine) killWhen(file string) error {
	if err := eventually(2*patience, exists(file)); err != nil {
		return err
	}
	m.kill()
	return m.tryLaunch()
}

// TestNodeEnrollment holds what the commands of people say: an invitation's command
// joins, a node says where it is, and a session is on it.
func TestNodeEnrollment(t *testing.T) {
	t.Parallel()
	l := newNodeLab(t, nil)
	l.start()
	output, err := l.run(l.environment(), "node", "invite", "--name", "box", "--label", "kind=big", "--data-dir", l.data)
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	at := strings.Index(output, "switchboard node join ")
	if at < 0 {
		t.Fatalf("invite prints no command: %s", output)
	}
	words := strings.Fields(output[at:])
	if len(words) < 8 || words[3] != l.dialed() || words[4] != "--code" || words[6] != "--pin" || words[7] != l.pin() {
		t.Fatalf("the command is %q", words)
	}
	m := l.newMachine("box")
	wrong := "sha256:" + strings.Repeat("A", 43)
	if output, err := m.join(words[3], words[5], wrong); err == nil || !strings.Contains(output, wrong) || !strings.Contains(output, l.pin()) {
		t.Errorf("a wrong pin: %v: %s; want both fingerprints", err, output)
	}
	if output, err := m.join(words[3], words[5], words[7]); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	node, err := m.node()
	if err != nil || node.State != api.NodeOffline || node.Labels["kind"] != "big" || node.Fingerprint == "" {
		t.Fatalf("%+v, %v", node, err)
	}
	m.id = node.ID
	m.start()
	s := m.mustCreate(nil)
	if err := s.turn(l.ctx(), "first", saying("one")); err != nil {
		t.Fatal(err)
	}
	if snapshot, err := s.snapshot(l.ctx()); err != nil || snapshot.Node != "box" {
		t.Errorf("the session is on %q, %v", snapshot.Node, err)
	}
	for _, args := range [][]string{{"node", "ls"}, {"node", "show", "box"}, {"ls", "--node", "box"}} {
		output, err := l.run(l.environment(), append(args, "--data-dir", l.data)...)
		if err != nil || !strings.Contains(output, "box") {
			t.Errorf("%v: %v: %s", args, err, output)
		}
	}
	node, err = m.node()
	if err != nil || node.State != api.NodeOnline || node.Sessions != 1 || len(node.CLIs) == 0 || node.Address == "" {
		t.Errorf("%+v, %v", node, err)
	}
	l.verdict(s)
}
