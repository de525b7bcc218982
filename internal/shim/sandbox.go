package shim

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/internal/sandbox"
	"github.com/switchboard-dev/switchboard/internal/sandbox/netproxy"
)

// A confinement is the sandbox of a CLI as far as the shim has a part in it: the
// proxy that its network leads to, the questions of that, and what it refuses.
// The shim starts it with the CLI and ends it when the CLI and all that it has
// started are gone.
type confinement struct {
	// Static after construction.
	shim     *shim
	profile  *sandbox.Profile
	asker    *asker
	refusals *refusals
	cancel   context.CancelFunc
	ctx      context.Context // ends with close

	files  []*os.File // for the CLI; closed once that has them
	socket *os.File   // gets the listeners of the sandbox; nil if they are opened outside, or it could not be made

	listeners *sandbox.Listeners // of the sandbox; nil if failed says why. Both are written before serve.
	failed    error

	grace time.Duration // how long the CLI has to end after its input has

	workers sync.WaitGroup

	mu  sync.Mutex
	cli *os.Process // in the sandbox; nil if it is not known. Guarded by mu.
}

// The graces of a CLI in a sandbox, if its spec has none: as outside.
const (
	defaultInputGrace = 2 * time.Second
	defaultTermGrace  = 5 * time.Second
)

// confine returns the command that starts the CLI in the sandbox of the spec. The
// confinement must be closed in any case.
func (s *shim) confine(cmd *claude.Command) (*confinement, error) {
	p := s.spec.Sandbox
	enforcer, err := s.env.enforcer(p)
	if err != nil {
		return nil, fmt.Errorf("starting the sandbox: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	b := &confinement{shim: s, profile: p, ctx: ctx, cancel: cancel, asker: newAsker(s.carrier), refusals: newRefusals(s.carrier)}
	in := sandbox.Command{Args: cmd.Args, Env: append(slices.Clone(cmd.Env), claude.MarkerEnv+"="+cmd.Marker), Dir: cmd.Dir}
	var theirs *os.File
	if p.Enforcer == sandbox.Seatbelt {
		in, b.listeners, err = sandbox.Outside(p, in)
	} else if b.socket, theirs, err = sandbox.Pair(); err == nil {
		b.files, in.Files = []*os.File{theirs}, []int{int(theirs.Fd())}
	}
	if err != nil {
		b.close()
		return nil, fmt.Errorf("starting the sandbox: %w", err)
	}
	out, err := enforcer.Wrap(p, in)
	if err != nil {
		b.close()
		return nil, fmt.Errorf("starting the sandbox: %w", err)
	}
	cmd.Args, cmd.Env, cmd.Dir = out.Args, append([]string{}, out.Env...), out.Dir
	if b.grace = cmd.InputGrace; b.grace <= 0 {
		b.grace = defaultInputGrace
	}
	term := cmd.TermGrace
	if term <= 0 {
		term = defaultTermGrace
	}
	cmd.InputGrace = b.grace + term // see terminate
	for _, fd := range out.Files {
		if slices.Contains(in.Files, fd) {
			cmd.Files = append(cmd.Files, theirs)
			continue
		}
		f := os.NewFile(uintptr(fd), "sandbox")
		b.files = append(b.files, f)
		cmd.Files = append(cmd.Files, f)
	}
	return b, nil
}

// sandboxAttempts is how often a sandbox is tried: a path that the profile hides in
// a folder for temporary files may vanish while the enforcer is at work.
const sandboxAttempts = 3

// receive waits until the last stage before the CLI has reported, or has ended.
func (b *confinement) receive(ctx context.Context) error {
	b.closeFiles() // only then does the socket end with the CLI
	if b.socket == nil {
		return nil // its network is the machine's own
	}
	stop := context.AfterFunc(ctx, func() { shutdown(b.socket) })
	defer stop()
	b.listeners, b.failed = b.shim.env.receive(b.socket)
	return b.failed
}

// endsSoon reports whether a process whose sandbox has not reported has ended, and
// not only fallen silent.
func endsSoon(cli agent) bool {
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case <-cli.Done():
		return true
	case <-timer.C:
		return false
	}
}

// serve runs what the sandbox leads to while the CLI runs. The goroutines that it
// starts end with close.
func (b *confinement) serve(agent agent) {
	if b.failed != nil {
		b.shim.log.Error("the sandbox has no network", "error", b.failed)
		return
	}
	b.mu.Lock()
	b.cli = b.listeners.Process
	b.mu.Unlock()
	b.workers.Go(func() { b.lead(b.listeners, agent) })
}

// terminate sends the CLI a signal if it does not end soon after its input has.
// What was started, and gets the signals of the agent's Close, is the enforcer's
// process: it ends at once, and all in the sandbox with it.
func (b *confinement) terminate(agent agent) {
	if b == nil {
		return
	}
	timer := time.NewTimer(b.grace)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-agent.Done():
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cli != nil {
		_ = b.cli.Signal(syscall.SIGTERM) // it may have ended
	}
}

// lead runs the proxy, and what leads to the addresses that are open, until
// close.
func (b *confinement) lead(l *sandbox.Listeners, agent agent) {
	p := b.profile
	config := netproxy.Config{
		AllowHosts: p.AllowHosts, DenyHosts: p.DenyHosts, Credential: l.Credential,
		Refused: b.refusals.add,
		Peer: func(conn net.Conn) (int, string) {
			pid, args := peerProcess(agent.PID(), conn.RemoteAddr(), conn.LocalAddr())
			return pid, commandLine(args, agent)
		},
		Origin: b.origin,
	}
	switch {
	case p.Network != sandbox.NetworkListed:
	case p.AskHosts:
		config.Decide = b.asker.ask
	case p.Mode == sandbox.DenyOnly:
		config.Otherwise = netproxy.Allow
	}
	if b.shim.env.network != nil {
		b.shim.env.network(&config)
	}
	var all sync.WaitGroup
	if l.Proxy != nil {
		all.Go(func() { netproxy.New(config).Serve(b.ctx, l.Proxy) })
	}
	for address, listener := range l.Forward {
		all.Go(func() { netproxy.Forward(b.ctx, listener, address, nil) })
	}
	all.Wait()
}

// origin names the command that a process in the sandbox belongs to: the process
// that the CLI has started for it, or the CLI. What has left its command behind has
// no name.
func (b *confinement) origin(pid int) string {
	b.mu.Lock()
	cli := 0
	if b.cli != nil {
		cli = b.cli.Pid
	}
	b.mu.Unlock()
	return commandOf(pid, cli)
}

// callEnded is called before a line of the CLI is kept that may hold the result of
// a tool call.
func (b *confinement) callEnded() {
	if b != nil {
		b.refusals.callEnded()
	}
}

// takes takes a command of the hub's that answers a question of the proxy's, and
// reports whether it was one.
func (b *confinement) takes(line []byte) bool { return b != nil && b.asker.takes(line) }

// close ends the network of the sandbox, and with it all questions that are open.
// It may be called again.
func (b *confinement) close() {
	if b == nil {
		return
	}
	b.cancel()
	b.closeFiles()
	if b.socket != nil {
		shutdown(b.socket) // Receive may have a copy of it
		_ = b.socket.Close()
	}
	b.workers.Wait()
	if b.listeners != nil {
		b.listeners.Close() // a second time where it served
	}
	b.refusals.close()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cli != nil {
		_ = b.cli.Release() // there is nothing to do about a failure
		b.cli = nil
	}
}

func (b *confinement) closeFiles() {
	for _, f := range b.files {
		_ = f.Close() // the process has its own copy
	}
	b.files = nil
}

// enforcerByName returns the enforcer of a profile, as this program has it.
func enforcerByName(p *sandbox.Profile) (sandbox.Enforcer, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	return sandbox.New(p.Enforcer, p.Program, self)
}

// maxCommandLine is how much of a program's command line is shown to people.
const maxCommandLine = 300

// commandLine returns a program's arguments as people read them, without secrets.
func commandLine(args []string, agent agent) string {
	var b strings.Builder
	hide := false
	for _, arg := range args {
		if b.Len() > 4*maxCommandLine { // what comes is not shown in any case
			break
		}
		if len(arg) > 4*maxCommandLine {
			arg = arg[:4*maxCommandLine]
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		name, _, hasValue := strings.Cut(arg, "=")
		switch {
		case hide:
			arg = hidden
		case secretFlag(name) && hasValue:
			arg = name + "=" + hidden
		}
		hide = !hide && secretFlag(name) && !hasValue
		if arg == "" || strings.ContainsAny(arg, " \t\n\"'") {
			arg = "'" + arg + "'"
		}
		b.WriteString(arg)
	}
	text := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(b.String(), "?"))
	if r, ok := agent.(interface{ Redact(text string) string }); ok {
		text = r.Redact(text)
	}
	if len(text) > maxCommandLine {
		text = strings.ToValidUTF8(text[:maxCommandLine], "") + "…"
	}
	return text
}

const hidden = "[redacted]"

// secretFlag reports whether a flag sounds as if a secret follows.
func secretFlag(flag string) bool {
	if flag == "-u" || flag == "--user" || flag == "-U" || flag == "--proxy-user" {
		return true
	}
	if !strings.HasPrefix(flag, "-") {
		return false
	}
	flag = strings.ToLower(flag)
	return slices.ContainsFunc([]string{"pass", "token", "secret", "apikey", "api-key", "credential", "auth", "cookie"}, func(word string) bool {
		return strings.Contains(flag, word)
	})
}

// refusalEvent returns the event of a refusal.
func refusalEvent(refusal any) *link.Event {
	data, err := json.Marshal(refusal)
	if err != nil {
		panic(fmt.Sprintf("encoding a refusal: %v", err)) // texts and numbers cannot fail
	}
	return &link.Event{Event: link.EventRefused, Refusal: data}
}
