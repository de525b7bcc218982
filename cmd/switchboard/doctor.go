package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/config"
	"github.com/switchboard-dev/switchboard/internal/doctor"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/launch"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

// journalPatience is how long the journal is read.
const journalPatience = 5 * time.Second

// doctorCmd is the command doctor.
type doctorCmd struct {
	hubFlags
	json, quiet bool
}

func newDoctor(e *env) *cobra.Command {
	v := &doctorCmd{}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find problems and how to fix them",
		Long: `Checks everything that can keep Switchboard from working: every Claude Code on this machine and its
login, the settings, the sandbox, the hub with its socket and port, file permissions, the disk, the journal, agents
without a hub, the systemd service and the terminal. For each problem it says why it matters and the
command that fixes it.

It changes nothing. It contacts only the hub's own socket and the ports 8765 to 8774 of this machine, and
reads no secrets: of a login it checks only that it exists.

With --hub, or a hub elsewhere as the current one, it looks at that hub instead: its certificate, whether
it can be reached, the clocks, the versions, what your token may do, and the hub's other machines.

Exit code 0 if nothing fails, 1 if something does; warnings don't count.`,
		Example: `  # everything
  switchboard doctor

  # only problems
  switchboard doctor --quiet

  # a hub elsewhere, seen from here
  switchboard doctor --hub work

  # the commands that fix what fails
  switchboard doctor --json | jq -r '.findings[] | select(.state == "fail") | .fix'`,
		Args:              noArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return v.run(cmd.Context(), e) },
	}
	v.flags(cmd)
	cmd.Flags().BoolVar(&v.json, "json", false, "print one JSON object")
	cmd.Flags().BoolVarP(&v.quiet, "quiet", "q", false, "only problems")
	return cmd
}

// run makes the checks and writes what they find.
func (v *doctorCmd) run(ctx context.Context, e *env) error {
	at, err := v.remote(e)
	if err != nil {
		return err
	}
	profile := paint.Detect(e.stdout, e.getenv, e.color)
	var report *doctor.Report
	if at != nil {
		e.hint("Looking at %s. This machine: switchboard doctor --hub local", at.title())
		if report, err = lookAt(ctx, at); err != nil {
			return err
		}
	} else {
		report = doctor.Run(ctx, v.machine(e, profile))
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if v.json {
		var text bytes.Buffer
		encoder := json.NewEncoder(&text)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(report); err != nil {
			return err
		}
		if _, err := e.stdout.Write(paint.CleanJSON(text.Bytes())); err != nil {
			return err
		}
	} else {
		styles := profile.Styles()
		err := doctor.Draw(e.stdout, report, doctor.DrawOptions{
			Style: func(state doctor.State, text string) string {
				switch state {
				case doctor.OK:
					return styles.Good.Render(text)
				case doctor.Warn:
					return styles.Warn.Render(text)
				case doctor.Fail:
					return styles.Bad.Render(text)
				default:
					return styles.Dim.Render(text)
				}
			},
			Dim:   func(text string) string { return styles.Dim.Render(text) },
			Clean: paint.Clean,
			Quiet: v.quiet,
		})
		if err != nil {
			return err
		}
	}
	if !report.OK {
		return exitError(codeFailed)
	}
	return nil
}

// lookAt looks at a hub elsewhere.
func lookAt(ctx context.Context, at *remote) (*doctor.Report, error) {
	c, err := at.client(client.Options{})
	if err != nil {
		return nil, usageError{err}
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, 3*infoPatience)
	defer cancel()
	return doctor.RunRemote(ctx, &doctor.Remote{
		Version: buildVersion(), Name: at.name, URL: at.hub.URL, Pin: at.hub.Pin, Login: at.login(),
		Certificate: func(ctx context.Context) (*client.Certificate, error) {
			return client.LookAtCertificate(ctx, at.hub.URL, nil)
		},
		Info: c.Info, Clock: c.Clock, Tokens: c.Tokens, Nodes: c.Nodes, Policy: c.Policy,
	}), nil
}

// machine is the one that this program runs on, with the settings that it would have.
func (v *doctorCmd) machine(e *env, profile paint.Profile) *doctor.Machine {
	m := &doctor.Machine{
		Version: buildVersion(), Program: calledBy(e), Getenv: e.getenv, DataDirNamed: v.dataDir != "",
		Terminal: doctor.Terminal{Is: isTerminal(e.stdout), Color: profile.Color, ASCII: profile.ASCII},
	}
	if file, ok := e.stdout.(*os.File); ok && m.Terminal.Is {
		m.Terminal.Cols, m.Terminal.Rows, _ = term.GetSize(int(file.Fd())) // else it is not told
	}
	c := v.settings(m, e)
	m.Address, m.UseAPIBilling = string(c.Server.Addr), c.Claude.UseAPIBilling
	m.RulesFile = string(c.Rules.File)
	if m.RulesFile == "" {
		m.RulesFile = config.RulesFile(e.getenv)
	}
	if file := config.HubsFile(e.getenv); file != "" {
		m.SecretFiles = append(m.SecretFiles, file)
	}
	for _, target := range c.Notify.Targets {
		for _, file := range []config.Folder{target.SecretFile, target.TokenFile} {
			if file != "" {
				m.SecretFiles = append(m.SecretFiles, string(file))
			}
		}
	}
	agent, err := chooseAgent(e.getenv(envAgent), string(c.Claude.Path))
	if err != nil {
		m.ConfigErr = errors.Join(m.ConfigErr, err)
	}
	m.Agent = agent
	find := &claude.FindOptions{Env: e.env}
	if agent != launch.Simulator {
		find.Path = agent
	}
	var once sync.Once
	var clis []doctor.CLI
	m.CLIs = func(ctx context.Context) []doctor.CLI {
		once.Do(func() { clis = findCLIs(ctx, find) })
		return clis
	}
	m.SandboxMode = string(c.Sandbox.Mode)
	m.Sandbox = func(ctx context.Context) *launch.SandboxCheck { return checkSandbox(ctx, e, c) }
	m.Journal = func(ctx context.Context) (*doctor.Journal, error) { return inspect(ctx, m.DataDir) }
	return doctor.Here(m)
}

// settings reads the settings as far as they make sense, and notes what does not.
func (v *doctorCmd) settings(m *doctor.Machine, e *env) *config.Config {
	file, must := v.file(e)
	m.ConfigFile, m.ConfigNamed = file, v.config != ""
	c, err := config.Load(file, must, e.getenv)
	if err != nil {
		m.ConfigErr = err
		c = config.Default()
		// What of the environment makes sense counts: it says where things are, and whether a sandbox is wanted.
		for variable, key := range map[string]string{"SWITCHBOARD_DATA_DIR": "server.data_dir", "SWITCHBOARD_SANDBOX_MODE": "sandbox.mode"} {
			if value := e.getenv(variable); value != "" {
				_ = c.Set(key, value, e.getenv("HOME")) // what is wrong with it is said above
			}
		}
	}
	if v.dataDir != "" {
		if folder, err := filepath.Abs(v.dataDir); err == nil {
			c.Server.DataDir = config.Folder(folder)
		}
	}
	m.ConfigErr = errors.Join(m.ConfigErr, c.Check())
	paths, err := c.FindPaths(e.getenv)
	if err != nil {
		m.SocketErr = err
		paths.DataDir = string(c.Server.DataDir)
	}
	m.DataDir, m.Socket = paths.DataDir, paths.Socket
	return c
}

// checkSandbox finds out which sandboxes work on this machine.
func checkSandbox(ctx context.Context, e *env, c *config.Config) *launch.SandboxCheck {
	root := string(filepath.Separator)
	l, err := launch.New(launch.Config{DataDir: root, Socket: root, Env: e.env, Sandbox: enforcers(e, c)}) // nothing is started there
	if err != nil {
		return &launch.SandboxCheck{DenyOnly: "none", Strict: "none", Why: err.Error()}
	}
	defer func() { _ = l.Close() }() // it has started nothing
	return l.CheckSandbox(ctx)
}

// calledBy returns the word by which a shell calls this program.
func calledBy(e *env) string {
	self, err := os.Executable()
	if err != nil {
		return "switchboard"
	}
	mine, err := os.Stat(self)
	if err != nil {
		return "switchboard"
	}
	for _, dir := range filepath.SplitList(e.getenv("PATH")) {
		path := filepath.Join(dir, "switchboard")
		if info, err := os.Stat(path); err == nil && !info.IsDir() && info.Mode().Perm()&0o111 != 0 {
			if os.SameFile(info, mine) {
				return "switchboard"
			}
			return self // another one comes first
		}
	}
	return self
}

// findCLIs returns every Claude Code.
func findCLIs(ctx context.Context, o *claude.FindOptions) []doctor.CLI {
	var found []doctor.CLI
	for _, candidate := range claude.FindAll(ctx, o) {
		cli := doctor.CLI{Path: candidate.Path, Err: candidate.Err}
		if candidate.CLI != nil {
			cli.Path, cli.Version = candidate.CLI.Path, candidate.CLI.Version
		}
		cli.Script = strings.HasSuffix(cli.Path, ".js") || strings.HasSuffix(cli.Path, ".mjs") || strings.HasSuffix(cli.Path, ".cjs")
		found = append(found, cli)
	}
	return found
}

// inspect looks at the journal of a folder.
func inspect(ctx context.Context, dir string) (*doctor.Journal, error) {
	ctx, cancel := context.WithTimeout(ctx, journalPatience)
	defer cancel()
	in, err := journal.Inspect(ctx, dir)
	if err != nil {
		return nil, err
	}
	return &doctor.Journal{
		Size: in.Size + in.Search + in.Blobs, Sessions: in.Sessions, Entries: in.Entries, Checked: in.Checked, Wrong: in.Wrong, Unchecked: in.Unchecked, Lost: in.Lost,
	}, nil
}
