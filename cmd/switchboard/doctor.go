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
login, the settings, the hub with its socket and port, file permissions, the disk, the journal, agents
without a hub, the systemd service and the terminal. For each problem it says why it matters and the
command that fixes it.

It changes nothing. It contacts only the hub's own socket and the ports 8765 to 8774 of this machine, and
reads no secrets: of a login it checks only that it exists.

Exit code 0 if nothing fails, 1 if something does; warnings don't count.`,
		Example: `  # everything
  switchboard doctor

  # only problems
  switchboard doctor --quiet

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
	profile := paint.Detect(e.stdout, e.getenv, e.color)
	report := doctor.Run(ctx, v.machine(e, profile))
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
		// What of the environment makes sense counts: it says where things are.
		if dir := e.getenv("SWITCHBOARD_DATA_DIR"); dir != "" {
			_ = c.Set("server.data_dir", dir, e.getenv("HOME")) // what is wrong with it is said above
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
