package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/config"
	"github.com/switchboard-dev/switchboard/internal/launch"
	"github.com/switchboard-dev/switchboard/internal/nodeagent"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/wire"
)

// envNodeCode is the invitation for node join, for machines where an argument would be kept, as in a manifest.
const envNodeCode = "SWITCHBOARD_NODE_CODE"

// nodeFlags are the flags by which node join and node run find this machine's settings as a node.
type nodeFlags struct{ config, dataDir string }

// add adds them.
func (n *nodeFlags) add(cmd *cobra.Command, verb string) {
	f := cmd.Flags()
	f.StringVar(&n.config, "config", "", "`FILE` with settings (default $XDG_CONFIG_HOME/switchboard/config.toml)")
	f.StringVar(&n.dataDir, "data-dir", "", "`FOLDER` of the node (default $XDG_DATA_HOME/switchboard/node)")
	f.Var(&onlyHere{verb, "run it on the machine that is to be the node"}, "hub", "")
	_ = f.MarkHidden("hub") // it is there
	completeFolder(cmd, "data-dir")
}

// load reads the settings and finds the folder of the node.
func (n *nodeFlags) load(e *env) (c *config.Config, dir string, err error) {
	file, must := (&hubFlags{config: n.config}).file(e)
	if c, err = config.Load(file, must, e.getenv); err != nil {
		return nil, "", err
	}
	if err := c.Check(); err != nil {
		return nil, "", err
	}
	if dir = cmp.Or(n.dataDir, string(c.Node.DataDir), config.NodeDir(e.getenv)); dir == "" {
		return nil, "", errors.New("there is no place for data: neither HOME nor XDG_DATA_HOME is set; name a folder with --data-dir")
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, "", fmt.Errorf("--data-dir: %w", err)
	}
	return c, dir, nil
}

// A nodeJoinCmd is the flags of node join.
type nodeJoinCmd struct {
	nodeFlags
	name, code, pin string
	json            bool
}

func newNodeJoin(e *env) *cobra.Command {
	v := &nodeJoinCmd{}
	cmd := &cobra.Command{
		Use:   "join URL",
		Short: "Make this machine a node of a hub",
		Long: `Makes this machine a node of the hub at an address, with the code of an invitation: switchboard node invite
prints the whole command at the hub. A key is made here and never leaves the machine; the hub knows the
machine by it from then on. switchboard node run then connects.

The hub's certificate is checked before the code is sent: with --pin by its fingerprint, else by the
authorities that this machine trusts. The code can also come from standard input (--code -) or from
` + envNodeCode + `.

If this machine has joined the hub already, nothing is done.`,
		Example: `  switchboard node join https://hub.example.com:8765 --code sbn_… --pin sha256:…

  # the code by standard input
  switchboard node join https://hub.example.com:8765 --code - <code.txt`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("which hub? Name its address; switchboard node invite prints the whole command at the hub")
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return interrupted(ctx, v.run(ctx, e, args[0]))
		},
	}
	v.add(cmd, "node join")
	f := cmd.Flags()
	f.StringVar(&v.code, "code", "", "`CODE` of the invitation, or - to read it from standard input")
	f.StringVar(&v.pin, "pin", "", "`FINGERPRINT` of the hub's certificate")
	f.StringVar(&v.name, "name", "", "`NAME` of this machine, if the invitation has none (default its host name)")
	f.BoolVar(&v.json, "json", false, "print one JSON object")
	return cmd
}

// run joins a hub.
func (v *nodeJoinCmd) run(ctx context.Context, e *env, address string) error {
	base, _, err := hubAddress(address)
	if err != nil {
		return usageError{err}
	}
	_, dir, err := v.load(e)
	if err != nil {
		return usageError{err}
	}
	if v.pin != "" {
		if v.pin, err = client.ParsePin(v.pin); err != nil {
			return usageError{fmt.Errorf("--pin: %w", err)}
		}
	}
	code := cmp.Or(v.code, e.getenv(envNodeCode))
	if code == "-" {
		if code, err = readSecret(e.stdin); err != nil {
			return err
		}
	}
	if code == "" {
		return usageError{errors.New("--code is missing: the code of the invitation; switchboard node invite makes one at the hub")}
	}
	identity, already, err := nodeagent.Join(ctx, nodeagent.JoinOptions{DataDir: dir, URL: base, Pin: v.pin, Code: code, Name: v.name, Version: buildVersion()})
	if err != nil {
		return joinError(base, err)
	}
	if v.json {
		return e.writeJSON(api.JoinedNode{ID: identity.ID, Name: identity.Name, Hub: identity.Hub, Labels: identity.Labels})
	}
	what := "This machine is the node %s of the hub %s.\n"
	if already {
		what = "This machine is the node %s of the hub %s already; nothing was changed.\n"
	}
	if _, err = fmt.Fprintf(e.stdout, what, paint.CleanLine(identity.Name, 0), base); err != nil {
		return err
	}
	e.hint("Connect it: switchboard node run")
	return nil
}

// joinError says what to do about an error of joining. A machine that is no node yet knows the hub by what the invitation says.
func joinError(base string, err error) error {
	if wrong, ok := errors.AsType[*client.PinError](err); ok {
		return &remoteError{err: err, text: fmt.Sprintf("%s shows another certificate, and was sent nothing: its fingerprint is %s, not %s. "+
			"Compare with what switchboard status shows on the hub's machine, and make another invitation there: switchboard node invite", base, wrong.Got, wrong.Want)}
	}
	if refused, ok := errors.AsType[*api.Error](err); ok && refused.Status == http.StatusUnauthorized {
		return &remoteError{err: err, text: base + " does not accept the code: it works once, and for a while. Make another invitation at the hub: switchboard node invite"}
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return &remoteError{err: err, text: fmt.Sprintf("%s shows a certificate that this machine doesn't trust, and was sent nothing: %s. "+
			"If the hub has made it itself, add its fingerprint, which switchboard status shows on the hub's machine: --pin sha256:…", base, err)}
	}
	return (&remote{name: base, hub: config.Hub{URL: base}}).explain(err)
}

// A nodeRunCmd is the flags of node run.
type nodeRunCmd struct {
	nodeFlags
	agent, once, log, logLevel string
	maxSessions                int
}

func newNodeRun(e *env) *cobra.Command {
	v := &nodeRunCmd{}
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run agents on this machine for the hub that it has joined",
		Long: `Connects to the hub that this machine has joined, and runs agents when the hub asks for it. It connects
again whenever the connection is lost, and needs no open port.

Ctrl-C and SIGTERM end the node and leave its agents running: they go on when it is started again.
Run it as a service with contrib/systemd/switchboard-node.service.

With --once it ends when one session is over and all that its agent wrote is in the hub's journal: in a
container for one task, for instance. SESSION is its id, or any for the first one that is started here.

The sections [node], [claude] (path), [sandbox] and [shim] of the configuration count; flags win over
them. An agent that has nothing to do goes on for a day without the hub.`,
		Example: `  switchboard node run

  # another Claude Code, and at most four sessions
  switchboard node run --agent /opt/claude/claude --max-sessions 4

  # one session, then end
  switchboard node run --once any`,
		Args:              noArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return v.run(cmd.Context(), e) },
	}
	v.add(cmd, "node run")
	f := cmd.Flags()
	f.StringVar(&v.agent, "agent", "", "`PATH` of Claude Code, or sim for a simulated agent (default: found automatically)")
	f.IntVar(&v.maxSessions, "max-sessions", 0, "maximum `NUMBER` of sessions with a process (default as the hub says)")
	f.StringVar(&v.once, "once", "", "end with this `SESSION`, or with the first one: any")
	f.StringVar(&v.log, "log", "", "`FILE` to log to (default standard error)")
	f.StringVar(&v.logLevel, "log-level", "info", "log level: debug, info, warn or error")
	register(cmd, "agent", cobra.FixedCompletions([]cobra.Completion{"sim"}, cobra.ShellCompDirectiveDefault)) // or a path
	complete(cmd, "once", api.AnyNode)
	complete(cmd, "log-level", "debug", "info", "warn", "error")
	return cmd
}

// run is a node until a signal.
func (v *nodeRunCmd) run(ctx context.Context, e *env) (err error) {
	out := e.stderr
	if v.log != "" {
		file, err := os.OpenFile(v.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return usageError{fmt.Errorf("--log: %w", err)}
		}
		defer func() { _ = file.Close() }() // every line was written
		out = file
	}
	options, err := v.options(e, out)
	if err != nil {
		return usageError{err}
	}
	ctx, stop := signal.NotifyContext(ctx, enders()...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends it at once
	running, err := nodeagent.Run(ctx, *options)
	if errors.Is(err, nodeagent.ErrNotJoined) {
		return usageError{err}
	}
	if err == nil && running > 0 {
		agents := "1 agent keeps"
		if running > 1 {
			agents = fmt.Sprintf("%d agents keep", running)
		}
		fmt.Fprintf(e.stderr, "switchboard: %s running; start the node again to reach them: switchboard node run\n", agents)
	}
	return err
}

// options turns settings into what is to be started.
func (v *nodeRunCmd) options(e *env, out io.Writer) (*nodeagent.Options, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(v.logLevel)); err != nil {
		return nil, fmt.Errorf("--log-level is %q; want debug, info, warn or error", v.logLevel)
	}
	c, dir, err := v.load(e)
	if err != nil {
		return nil, err
	}
	agent, err := chooseAgent(v.agent, e.getenv(envAgent), string(c.Claude.Path))
	if err != nil {
		return nil, err
	}
	if err := notNegative("--max-sessions", v.maxSessions); err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program's own path: %w", err)
	}
	// An idle agent of a hub of this machine ends after an hour; a node's hub may be away for a night.
	idle := c.Shim.IdleOrphanAfter
	if idle == config.Default().Shim.IdleOrphanAfter {
		idle = 0
	}
	return &nodeagent.Options{
		DataDir: dir, Program: program, Agent: agent, RawFlags: c.Agents.RawFlags, Sandbox: enforcers(e, c), Env: e.env, Scopes: true,
		Claude: launch.Defaults{
			Model: c.Claude.Model, AllowedTools: c.Claude.AllowedTools, PermissionMode: wire.PermissionMode(c.Claude.PermissionMode),
			DangerouslySkipPermissions: c.Claude.DangerouslySkipPermissions, UseAPIBilling: c.Claude.UseAPIBilling,
		},
		OrphanAfter: time.Duration(c.Shim.OrphanAfter), IdleOrphanAfter: time.Duration(idle), MaxSessions: cmp.Or(v.maxSessions, c.Node.MaxSessions), Once: v.once,
		Own:     (&serveCmd{hubFlags: hubFlags{config: v.config}}).rules(e, c).Own,
		Version: buildVersion(),
		Connected: func(i nodeagent.Identity) {
			// Read by programs too, as what serve writes: one line, a word and a value.
			_, _ = fmt.Fprintf(e.stdout, "connected to %s as %s\n", i.URL, i.Name)
		},
		Logger: slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: level})),
	}, nil
}
