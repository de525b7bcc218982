package launch

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/internal/sandbox"
	"github.com/switchboard-dev/switchboard/internal/shim"
	"github.com/switchboard-dev/switchboard/wire"
)

// orderGrace bounds how long a new shim may take to read its orders. A busy
// machine can take seconds to start a program.
const orderGrace = 20 * time.Second

// Config says how agents are started. DataDir and Socket are required.
type Config struct {
	// Program is the path of switchboard itself. If empty, the running program.
	Program string
	// DataDir is the hub's folder, Socket the path of the Unix socket that
	// shims connect to. Both must be absolute.
	DataDir string
	Socket  string
	// Agent is the CLI: a path, or [Simulator]. If empty, the claude that is
	// found; the simulated one never stands in for a missing one.
	Agent string
	// Claude is the section [claude] of the configuration.
	Claude Defaults
	// RawFlags lets sessions give the CLI flags as they like, see
	// [api.SessionOptions].ExtraArgs.
	RawFlags bool
	// Sandbox says what sandboxes are made of.
	Sandbox Sandbox
	// Env is the environment that CLIs are found by and get. If nil, that of
	// the program.
	Env []string
	// Prober asks CLIs for their version. If nil, a new one.
	Prober *claude.Prober
	// Logger gets what changes nothing. If nil, nothing
	// is logged.
	Logger *slog.Logger
	// ClientApp is how the hub names itself to the CLI, such as
	// "switchboard/1.0".
	ClientApp string
	// Scopes puts every shim into a transient scope of the user's service
	// manager where one answers, so that it is no part of the hub's unit.
	Scopes bool
	// OnExit, if set, is called when a shim that this launcher started has
	// ended. It must not block, and must not call Close.
	OnExit func(Exit)
	// OrphanAfter, IdleOrphanAfter and BufferBytes are as in [shim.Spec].
	OrphanAfter, IdleOrphanAfter time.Duration
	BufferBytes                  int64
}

// An Exit says how a shim ended.
type Exit struct {
	Session string
	Run     int
	PID     int
	// Code is the exit code, -1 if a signal ended it.
	Code int
	// Signal names that signal; it is empty if there was none.
	Signal string
}

// A Spec says what to start.
type Spec struct {
	// Session and Run name the run: letters, digits, dashes and underscores,
	// and a number from 1.
	Session string
	Run     int
	// Token is the credential that the shim shows to the hub.
	Token string
	// Marker is what everything that the run starts carries in its environment.
	// See [claude.MarkerEnv].
	Marker string
	// Dir is the working folder, an absolute path.
	Dir string
	// Resume is the conversation to continue, ResumeAt the uuid of its last
	// message to keep, Fork whether to go on under a new id. If Resume is
	// empty, a new conversation is begun.
	Resume, ResumeAt string
	Fork             bool
	// SessionID is the id of the new conversation, a UUID. If empty, the CLI
	// chooses one.
	SessionID string
	// Agent is as in [Config]. If empty, that one.
	Agent string
	// Options are the session's. What the CLI is told by the initialize request
	// instead of a flag, such as system prompts and sub-agents, is the hub's to send.
	Options api.SessionOptions
	// BypassingAgents says that the initialize request defines sub-agents that work
	// in [wire.PermissionModeBypassPermissions], which the defaults have to allow.
	BypassingAgents bool
	// Deny and Ask are permission rules that the CLI is to enforce itself,
	// beside those in the options' settings. They are stronger than what a
	// project allows.
	Deny, Ask []string
	// Sandbox is what the rules ask of the sandbox. An empty mode is [sandbox.Off].
	Sandbox sandbox.Policy
	// Before, if set, is called when the shim's process is there and waits for its
	// orders: what a caller notes then is noted of every shim that acts. If it returns an
	// error, the shim is ended without having acted.
	Before func(Launched) error
}

// Launched says what was started.
type Launched struct {
	// PID and PIDStart name the shim's process; see [Launcher.Alive].
	PID      int
	PIDStart string
	// Instance is what the shim tells the hub about itself.
	Instance string
	// Version is the CLI's.
	Version wire.Version
	// Simulated says that the agent is a simulation.
	Simulated bool
	// ConfigDir is the folder in which the CLI keeps its conversations.
	ConfigDir string
	// Sandbox is what the CLI was started in.
	Sandbox api.Sandbox
}

// A Launcher starts shims. All methods are safe for concurrent use.
//
// It owns one goroutine, which waits for the ends of its shims so that no dead
// ones remain, and which Close joins. The shims live on.
type Launcher struct {
	config Config // static after construction
	log    *slog.Logger
	reaper *reaper
	starts sync.WaitGroup

	enforcers enforcers
	noSandbox sync.Once // logs that there is none

	mu       sync.Mutex
	closed   bool            // guarded by mu
	starting map[string]bool // runs by the names of their folders; guarded by mu
}

// New returns a launcher, or says what is wrong with the configuration.
func New(config Config) (*Launcher, error) {
	var err error
	if config.Program == "" {
		if config.Program, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("finding this very program: %w", err)
		}
	}
	if !filepath.IsAbs(config.Program) || !filepath.IsAbs(config.DataDir) || !filepath.IsAbs(config.Socket) {
		return nil, fmt.Errorf("expected absolute paths of program, data folder and socket, found %q, %q and %q", config.Program, config.DataDir, config.Socket)
	}
	if config.Claude.PermissionMode == wire.PermissionModeBypassPermissions {
		return nil, errors.New("permission_mode in section [claude] of the configuration cannot be bypassPermissions; allow it with dangerously_skip_permissions = true and ask for it when a session is created")
	}
	if config.Env == nil {
		config.Env = os.Environ()
	}
	if config.Prober == nil {
		config.Prober = &claude.Prober{}
	}
	l := &Launcher{config: config, log: config.Logger, starting: make(map[string]bool)}
	if l.log == nil {
		l.log = slog.New(slog.DiscardHandler)
	}
	l.enforcers.find = l.findEnforcer
	l.reaper = newReaper(config.OnExit)
	return l, nil
}

// Close stops waiting for the ends of shims and waits for starts that are under
// way. Shims go on. It may be called again.
func (l *Launcher) Close() error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.starts.Wait()
	l.reaper.close()
	return nil
}

var safeName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`) })

// check refuses what cannot be the name of a run.
func (s *Spec) check() error {
	switch {
	case !safeName().MatchString(s.Session) || s.Run < 1:
		return &StartError{Code: Failed, Reason: fmt.Sprintf("%.80q and %d do not name a run", s.Session, s.Run)}
	case s.Marker == "" || s.Token == "":
		return &StartError{Code: Failed, Reason: "the run has no marker or no token"}
	}
	return nil
}

// Start starts a run and returns as soon as its shim has its orders; the shim
// connects on its own. Whatever can be known to be wrong before that is a
// [*StartError], and then nothing has been started; what a CLI says against its
// options once it runs comes over the shim's link. The context bounds the start
// alone.
func (l *Launcher) Start(ctx context.Context, spec *Spec) (*Launched, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	done, err := l.begin(spec.folder())
	if err != nil {
		return nil, err
	}
	defer done()
	if err := checkDir(spec.Dir); err != nil {
		return nil, err
	}
	if err := l.checkOwn(spec); err != nil {
		return nil, err
	}
	agent, err := l.find(ctx, spec.Agent)
	if err != nil {
		return nil, err
	}
	folder, err := l.makeFolder(ctx, spec)
	if err != nil {
		return nil, err
	}
	launched, err := l.start(ctx, spec, agent, folder)
	if err != nil {
		if cleanErr := os.RemoveAll(folder); cleanErr != nil {
			l.log.Warn("the folder of a run that was not started remains", "session", spec.Session, "run", spec.Run, "error", cleanErr)
		}
		return nil, err
	}
	return launched, nil
}

// begin records that a run is being started, so that no other run gets its folder.
func (l *Launcher) begin(folder string) (done func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, ErrClosed
	}
	if l.starting[folder] {
		return nil, &StartError{Code: Running, Reason: "this run is being started already"}
	}
	l.starting[folder] = true
	l.starts.Add(1)
	return func() {
		l.mu.Lock()
		delete(l.starting, folder)
		l.mu.Unlock()
		l.starts.Done()
	}, nil
}

// start starts the shim of a run whose folder is there.
func (l *Launcher) start(ctx context.Context, spec *Spec, agent *agent, folder string) (*Launched, error) {
	in, err := l.enclose(ctx, spec)
	if err != nil {
		return nil, err
	}
	command, err := l.command(agent, spec, in, folder)
	if err != nil {
		return nil, err
	}
	box, err := l.box(ctx, spec, in, agent, command.Env, folder)
	if err != nil {
		return nil, err
	}
	log, err := l.openLog(spec)
	if err != nil {
		return nil, failure("opening the shim's log", err)
	}
	defer func() { _ = log.Close() }() // the shim has its own copy
	instance := "i" + rand.Text()
	orders, err := json.Marshal(&shim.Spec{
		Session: spec.Session, Run: spec.Run, Instance: instance, Token: spec.Token, Marker: spec.Marker,
		Socket: l.config.Socket, Command: shim.NewCommand(command),
		PrivateDir: folder, Log: log.Name(), SpoolDir: filepath.Join(l.config.DataDir, "spool"),
		OrphanAfter: l.config.OrphanAfter, IdleOrphanAfter: l.config.IdleOrphanAfter, BufferBytes: l.config.BufferBytes,
		Sandbox: box.Profile,
	})
	if err != nil {
		return nil, failure("writing the shim's orders", err)
	}
	launched := &Launched{Instance: instance, Version: command.Version, Simulated: agent.simulated, ConfigDir: l.ConfigDir(spec), Sandbox: box.Told}
	if err := l.startShim(ctx, spec, folder, log, orders, launched); err != nil {
		return nil, err
	}
	return launched, nil
}

// startShim starts the process and, once it is on record, gives it its orders.
func (l *Launcher) startShim(ctx context.Context, spec *Spec, folder string, log *os.File, orders []byte, launched *Launched) error {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return failure("making a pipe for the shim", err)
	}
	defer func() { _ = ours.Close() }() // a second time after success
	who := Exit{Session: spec.Session, Run: spec.Run}
	pid, err := l.reaper.start(who, func() (int, error) {
		return startDetached(l.config.Program, []string{"shim"}, l.shimEnviron(spec.Marker), theirs, log)
	})
	_ = theirs.Close() // the shim has its own copy
	if err != nil {
		return failure("starting "+l.config.Program, err)
	}
	launched.PID = pid
	if err := l.brief(ctx, spec, folder, ours, orders, launched); err != nil {
		l.reaper.abandon(pid)
		reason := fmt.Sprintf("the shim did not take its orders: %v", err)
		if said := lastWords(log.Name()); said != "" {
			reason += ": " + said
		}
		return &StartError{Code: Failed, Reason: reason, Err: err}
	}
	l.reaper.announce(pid)
	return nil
}

// brief puts the shim on record, moves it out of the hub's unit and then gives
// it its orders, in this order: a hub that dies in between leaves a shim that
// does nothing and ends.
func (l *Launcher) brief(ctx context.Context, spec *Spec, folder string, pipe *os.File, orders []byte, launched *Launched) error {
	pid := launched.PID
	start, ended, ok := processStat(pid)
	if !ok || ended {
		return errors.New("it has ended")
	}
	launched.PIDStart = start
	if err := writeRecord(folder, record{Session: spec.Session, Run: spec.Run, Marker: spec.Marker, PID: pid, Start: start}); err != nil {
		return err
	}
	if spec.Before != nil {
		if err := spec.Before(*launched); err != nil {
			return err
		}
	}
	if l.config.Scopes {
		if err := l.scope(ctx, spec, pid); err != nil {
			l.log.Debug("the shim stays in the hub's unit", "session", spec.Session, "run", spec.Run, "error", err)
		}
	}
	if err := pipe.SetWriteDeadline(time.Now().Add(orderGrace)); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = pipe.SetWriteDeadline(time.Unix(1, 0)) })
	_, err := pipe.Write(orders)
	stop()
	switch {
	case err == nil: // from here on the shim acts, whatever becomes of ctx
		return pipe.Close()
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("it has not read them within %s", orderGrace)
	}
	return err
}

// Alive reports whether the process with this number and start time lives. The
// number alone may have been given to another since. If start is empty, or cannot
// be seen now, the number has to do: what is taken for dead is ended.
func (l *Launcher) Alive(pid int, start string) bool { return alive(pid, start) }

func alive(pid int, start string) bool {
	if pid <= 0 {
		return false
	}
	now, ended, ok := processStat(pid)
	return ok && !ended && (start == "" || now == "" || now == start)
}

// History returns the lines of a conversation from the CLI's transcript, as
// [claude.ReadTranscript] does. dir may be empty. If configDir is empty, it is the
// folder of the CLI that a run would get.
func (l *Launcher) History(ctx context.Context, configDir, dir, conversation string) (iter.Seq2[[]byte, error], error) {
	if configDir == "" {
		configDir = l.ConfigDir(&Spec{})
	}
	return claude.ReadTranscript(ctx, configDir, dir, conversation)
}

// openLog opens the log of a run's shim. It is the shim's output too, which
// says something only if the shim breaks down.
func (l *Launcher) openLog(spec *Spec) (*os.File, error) {
	dir := filepath.Join(l.config.DataDir, "shims")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(filepath.Join(dir, spec.folder()+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}

// lastWords returns the end of a log in one line.
func lastWords(path string) string {
	const limit = 400
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	words := strings.Fields(string(data[max(0, len(data)-4*limit):]))
	slices.Reverse(words)
	length := 0
	for i, word := range words {
		if length += len(word) + 1; length > limit {
			words = words[:i]
			break
		}
	}
	slices.Reverse(words)
	return strings.ToValidUTF8(strings.Join(words, " "), "\uFFFD")
}
