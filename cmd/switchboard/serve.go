package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/internal/budget"
	"github.com/switchboard-dev/switchboard/internal/config"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/launch"
	"github.com/switchboard-dev/switchboard/internal/notify"
	"github.com/switchboard-dev/switchboard/internal/server"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/web"
	"github.com/switchboard-dev/switchboard/wire"
)

// envAgent names the agent, as --agent does.
const envAgent = "SWITCHBOARD_AGENT"

// A serveCmd is the flags of serve.
type serveCmd struct {
	hubFlags
	addr, agent, console, durability, journal, logLevel string
	stopAgents, printCode                               bool
	setting                                             func(*config.Config) error // sets what flags say about the port and the sandbox
}

func newServe(e *env) *cobra.Command {
	v := &serveCmd{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Start the hub, which runs sessions and lets people and programs steer them",
		Long: `Starts the hub. It keeps every session's log, open questions and queued messages, and lets any number
of people and programs follow and steer the same session.

It listens on a Unix socket, for you alone, and on a local port, where programs need a token (see
switchboard token create). Both addresses are printed. In a terminal, or with --print-code, it also
prints a link with a one-time code that lets a browser in, valid for five minutes.

Other machines reach the hub only with TLS: have the hub make a certificate (--tls-self-signed), pass
one (--tls-cert, --tls-key) or put a TLS proxy in front (--behind-proxy, --url). The hub prints the
certificate's fingerprint, which other machines compare. For a phone in the same network, use
switchboard console --phone.

Agents are separate processes. They keep running when the hub stops, crashes or is upgraded, and the
next hub picks them up. Ctrl-C or SIGTERM stops the hub and lists the agents still running; a second
one stops it immediately. To stop agents: switchboard stop --all, or --stop-agents with the hub.

Settings come from the configuration file, overridden by the environment (SWITCHBOARD_…), overridden
by flags. docs/running.md lists them.`,
		Example: `  # Use the Claude Code on PATH
  switchboard serve

  # Use another Claude Code, and another data folder
  switchboard serve --agent /opt/claude/claude --data-dir ~/boards/work

  # Try it without Claude Code: a simulated agent, which runs no tools
  switchboard serve --agent sim

  # Serve other machines, too
  switchboard serve --addr 0.0.0.0:8765 --url https://hub.example.com:8765 --tls-cert cert.pem --tls-key key.pem

  # Serve other machines without a certificate of an authority
  switchboard serve --addr 192.168.1.20:8765 --tls-self-signed

  # Let a raw relay front end connect without a token
  switchboard serve --open-relay=http://localhost:5173

  # Let claude --sdk-url ws://localhost:8765 dial in without a token, and read files without asking
  switchboard serve --open-dial-in --dial-auto-approve read-only

  # Run as a user service
  systemctl --user enable --now switchboard.socket`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return v.run(cmd.Context(), e) },
	}
	v.localFlags(cmd, "serve", "")
	f := cmd.Flags()
	f.StringVar(&v.addr, "addr", "", "`ADDRESS` to listen on (default the first free port from 127.0.0.1:8765 to 8774)")
	f.StringVar(&v.agent, "agent", "", "`PATH` of Claude Code, or sim for a simulated agent (default: found automatically)")
	f.StringVar(&v.console, "console", "", "`FOLDER` with another build of the console, for development")
	f.StringVar(&v.durability, "durability", "", "what the journal survives: normal (any kill) or full (a power cut) (default normal)")
	f.StringVar(&v.journal, "journal", "", "`new` sets the journal aside, stops its agents and starts another")
	f.BoolVar(&v.stopAgents, "stop-agents", false, "stop the agents, too, when the hub stops")
	f.BoolVar(&v.printCode, "print-code", false, "print a link with a one-time code even if standard output is not a terminal")
	v.setting = settingFlags(cmd)
	f.StringVar(&v.logLevel, "log-level", "info", "log level: debug, info, warn or error")
	register(cmd, "agent", cobra.FixedCompletions([]cobra.Completion{"sim"}, cobra.ShellCompDirectiveDefault)) // or a path
	complete(cmd, "durability", "normal", "full")
	complete(cmd, "journal", "new")
	complete(cmd, "log-level", "debug", "info", "warn", "error")
	return cmd
}

// hubBallast is memory that is never used, and so never resident. It counts as live: the
// garbage collector runs when what is live has doubled, and that is so little in a hub with
// few sessions that it would run 30 times a second while lines come fast. It may cost as
// much memory as it has bytes, and no more, however large the hub is.
const hubBallast = 4 << 20

// run serves until a signal, the end of ctx or the end of a listener.
func (v *serveCmd) run(ctx context.Context, e *env) error {
	ballast := make([]byte, hubBallast)
	defer runtime.KeepAlive(ballast)
	options, err := v.options(e)
	if err != nil {
		return usageError{err}
	}
	// Two places, so that neither of two signals gets lost.
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)

	starting, cancel := untilSignal(ctx, signals)
	hub, err := server.Start(starting, *options)
	interrupted := starting.Err() != nil
	cancel()
	if err != nil {
		if interrupted {
			return exitError(codeInterrupted)
		}
		return err
	}
	v.announce(e.stdout, hub, options, v.printCode || isTerminal(e.stdout))

	var failed error
	if !interrupted {
		select {
		case <-signals:
		case <-ctx.Done():
		case failed = <-hub.Failed():
		}
	}
	return errors.Join(failed, v.shutDown(ctx, e, hub, signals))
}

// untilSignal returns a context that ends with the next signal.
func untilSignal(ctx context.Context, signals <-chan os.Signal) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-signals:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel()
		<-ended
	}
}

// options turns settings into what is to be started.
func (v *serveCmd) options(e *env) (*server.Options, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(v.logLevel)); err != nil {
		return nil, fmt.Errorf("--log-level is %q; want debug, info, warn or error", v.logLevel)
	}
	if v.journal != "" && v.journal != "new" {
		return nil, fmt.Errorf("--journal is %q; the only value is new, which starts another journal", v.journal)
	}
	c, paths, err := v.load(e, func(c *config.Config) error {
		if v.addr != "" {
			if err := c.Server.Addr.UnmarshalText([]byte(v.addr)); err != nil {
				return fmt.Errorf("--addr: %w", err)
			}
		}
		if v.durability != "" {
			if err := c.Server.Durability.UnmarshalText([]byte(v.durability)); err != nil {
				return fmt.Errorf("--durability: %w", err)
			}
		}
		return v.setting(c)
	})
	if err != nil {
		return nil, err
	}
	durability, err := journal.ParseDurability(string(c.Server.Durability))
	if err != nil {
		return nil, err
	}
	agent, err := chooseAgent(v.agent, e.getenv(envAgent), string(c.Claude.Path))
	if err != nil {
		return nil, err
	}
	listeners, err := server.Activated(e.getenv)
	if err != nil {
		return nil, err
	}
	page, fresh, err := chooseConsole(v.console)
	if err != nil {
		return nil, err
	}
	rules := v.rules(e, c)
	return &server.Options{
		DataDir: paths.DataDir, Socket: paths.Socket, Addr: string(c.Server.Addr),
		URL: string(c.Server.URL), TLSCert: string(c.Server.TLSCert), TLSKey: string(c.Server.TLSKey), TLSSelfSigned: c.Server.TLSSelfSigned,
		BehindProxy: c.Server.BehindProxy, InsecureLAN: c.Server.InsecureLAN,
		OpenRelay: c.Server.OpenRelay, OpenRelayApprove: c.Server.OpenRelayApprove, OpenDial: c.Dial.Open, OpenDialMax: c.Dial.MaxOpen,
		Limits: access.Limits{Connections: c.Server.MaxConnections, PerAddress: c.Server.MaxPerAddress, Unknown: c.Server.MaxUnknown},
		Direct: server.Direct{AllowBypass: c.Direct.AllowBypass, Folders: c.Direct.Folders}, RawFlags: c.Agents.RawFlags, Presets: presets(c),
		Sandbox: sandboxDefaults(c), Enforcer: enforcers(e, c),
		Listeners: listeners, NotifySocket: e.getenv("NOTIFY_SOCKET"),
		Durability: durability, NewJournal: v.journal == "new",
		Retention: journal.Retention{MaxAge: time.Duration(c.Retention.MaxAge), MaxBytes: int64(c.Retention.MaxBytes)},
		Agent:     agent,
		Claude: launch.Defaults{
			Model: c.Claude.Model, AllowedTools: c.Claude.AllowedTools, PermissionMode: wire.PermissionMode(c.Claude.PermissionMode),
			DangerouslySkipPermissions: c.Claude.DangerouslySkipPermissions, UseAPIBilling: c.Claude.UseAPIBilling,
		},
		Rules: rules, QuestionDeadline: time.Duration(c.Questions.Deadline), Budgets: budgets(c), ResumeAtReset: c.Limits.ResumeAtReset,
		Notify: targets(c), Link: string(c.Notify.Link),
		Env:         e.env,
		OrphanAfter: time.Duration(c.Shim.OrphanAfter), IdleOrphanAfter: time.Duration(c.Shim.IdleOrphanAfter),
		Silence: time.Duration(c.Dial.Silence),
		Scopes:  true,
		Console: page, FreshConsole: fresh,
		Version: buildVersion(),
		Logger:  slog.New(slog.NewTextHandler(e.stderr, &slog.HandlerOptions{Level: level})),
	}, nil
}

// rules says where the rules are, and what of ours is no agent's business.
func (v *serveCmd) rules(e *env, c *config.Config) server.Rules {
	r := server.Rules{File: string(c.Rules.File), Home: e.getenv("HOME"), AutoApprove: c.Dial.AutoApprove}
	if r.File == "" {
		r.File = config.RulesFile(e.getenv)
	}
	usual := config.File(e.getenv)
	if usual != "" {
		r.Own = append(r.Own, filepath.Dir(usual), usual) // which may be a link that leads elsewhere
	}
	if file, _ := v.file(e); file != usual && file != "" {
		if path, err := filepath.Abs(file); err == nil {
			r.Own = append(r.Own, path)
		}
	}
	secrets := []config.Folder{c.Server.TLSKey}
	for i := range c.Notify.Targets {
		secrets = append(secrets, c.Notify.Targets[i].SecretFile, c.Notify.Targets[i].TokenFile)
	}
	for _, secret := range secrets {
		if secret != "" {
			r.Own = append(r.Own, string(secret))
		}
	}
	return r
}

// budgets returns the budgets of the configuration as the hub wants them.
func budgets(c *config.Config) []budget.Budget {
	var list []budget.Budget
	for _, b := range c.Budgets {
		list = append(list, budget.Budget{
			Name: b.Name, Per: b.Per, Folder: string(b.Folder), USD: b.USD, Turns: b.Turns, Wall: time.Duration(b.Wall), Idle: time.Duration(b.Idle),
			Action: b.Action, WarnAt: b.WarnAt,
		})
	}
	return list
}

// targets returns the webhooks and ntfy topics of the configuration.
func targets(c *config.Config) []notify.Target {
	var list []notify.Target
	for _, t := range c.Notify.Targets {
		list = append(list, notify.Target{
			Kind: t.Kind, URL: string(t.URL), SecretFile: string(t.SecretFile), TokenFile: string(t.TokenFile), Events: t.Events, Detail: t.Detail,
		})
	}
	return list
}

// chooseAgent returns the agent that a flag, else the environment, else the configuration names. A name with a slash is a path and depends on nothing
// but the folder we are in; the simulated one has to be asked for by its name.
func chooseAgent(names ...string) (string, error) {
	for _, name := range names {
		switch {
		case name == "":
		case name == launch.Simulator:
			return name, nil
		case strings.ContainsRune(name, filepath.Separator):
			path, err := filepath.Abs(name)
			if err != nil {
				return "", fmt.Errorf("--agent: %w", err)
			}
			return path, nil
		default:
			return "", fmt.Errorf("the agent %q is neither a path nor sim; write ./%s for a file in the current folder", name, name)
		}
	}
	return "", nil
}

// chooseConsole returns the files of the console: those of a folder, else those that the program was compiled with.
func chooseConsole(folder string) (files fs.FS, fresh bool, err error) {
	if folder == "" {
		return web.Files(), false, nil
	}
	// A root, so that no link leads out of it.
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, false, fmt.Errorf("--console: %w", err)
	}
	return root.FS(), true, nil
}

// announce says where to look. What is printed here is read by programs too: one line each, a word and a value.
// code prints the address with a one-time code, too, which is a secret: what goes to a log stays there.
func (v *serveCmd) announce(out io.Writer, hub *server.Server, o *server.Options, code bool) {
	fmt.Fprintf(out, "listening on %s\nsocket %s\n", hub.URL(), hub.Socket())
	if hub.PublicURL() != hub.URL() {
		fmt.Fprintf(out, "known as %s\n", hub.PublicURL())
	}
	if pin := hub.Pin(); pin != "" {
		fmt.Fprintf(out, "fingerprint %s\n", pin)
	}
	if code {
		fmt.Fprintf(out, "console %s\n", hub.ConsoleURL())
	}
	for _, warning := range hub.Warnings() {
		fmt.Fprintf(out, "warning %s\n", warning)
	}
	if o.Agent == launch.Simulator {
		fmt.Fprintln(out, "agent simulated: no Claude Code is started and no tool is run")
	}
	if rules := hub.Policy(); rules.Pending != nil {
		n := len(rules.Pending.Widens)
		changes := fmt.Sprintf("%d changes wait", n)
		if n == 1 {
			changes = "1 change waits"
		}
		fmt.Fprintf(out, "rules %s: %s for confirmation: switchboard policy confirm\n", rules.File, changes)
	}
}

// shutDown ends the server; a second signal ends the process.
func (v *serveCmd) shutDown(ctx context.Context, e *env, hub *server.Server, signals <-chan os.Signal) error {
	done := make(chan struct{})
	var left server.Left
	var err error
	go func() {
		defer close(done)
		left, err = hub.Close(context.WithoutCancel(ctx), v.stopAgents)
	}()
	select {
	case <-done:
	case <-signals:
		fmt.Fprintln(e.stderr, "switchboard: stopped immediately; nothing acknowledged is lost")
		os.Exit(codeInterrupted)
	}
	if err != nil {
		return err
	}
	fmt.Fprint(e.stdout, farewell(left))
	return nil
}

// farewell says which agents keep running, and how to stop them.
func farewell(left server.Left) string {
	others := ""
	switch {
	case left.Others == 1:
		others = "1 agent of another program keeps running\n"
	case left.Others > 1:
		others = fmt.Sprintf("%d agents of other programs keep running\n", left.Others)
	}
	if left.Agents == 0 {
		return "stopped; no agent is running\n" + others
	}
	who, them := fmt.Sprintf("%d agents keep running and wait", left.Agents), "them"
	if left.Agents == 1 {
		who, them = "1 agent keeps running and waits", "it"
	}
	text := "stopped; " + who + " for the next switchboard serve\n"
	if len(left.PIDs) > 0 {
		pids := make([]string, len(left.PIDs))
		for i, pid := range left.PIDs {
			pids[i] = strconv.Itoa(pid)
		}
		text += "to stop " + them + " now: kill " + strings.Join(pids, " ") + "\n"
	}
	return text + others + "to stop agents while a hub runs: switchboard stop --all; together with it: switchboard serve --stop-agents\n"
}
