package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/config"
	"github.com/switchboard-dev/switchboard/internal/launch"
	"github.com/switchboard-dev/switchboard/internal/sandbox"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

// A sandboxExplainCmd is the flags of sandbox explain.
type sandboxExplainCmd struct {
	hubFlags
	dir, mode, rules string
	addDirs          []string
	json             bool
}

func newSandboxExplain(e *env) *cobra.Command {
	v := &sandboxExplainCmd{}
	cmd := &cobra.Command{
		Use:   "explain",
		Short: "Show the sandbox that a session would get",
		Long: `Shows what a new session in this folder, or in another one (--dir), would see, write and reach: the paths that
are hidden, read-only and writable, the hosts that are allowed and denied, and what the enforcer can't hold.

It reads the settings and the rules file, and looks for the files that the rules name. It starts nothing
and needs no hub. Rules of a single session, and changes of the rules file that still wait for confirmation,
don't count.`,
		Example: `  # here, with the mode of the settings
  switchboard sandbox explain

  # what would a strict sandbox allow?
  switchboard sandbox explain --dir ~/src/blog --mode strict

  # the hidden paths, for a script
  switchboard sandbox explain --json | jq -r '.profile.hide[]'`,
		Args:              noArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return v.run(cmd, e) },
	}
	v.localFlags(cmd, "sandbox explain", "")
	f := cmd.Flags()
	f.StringVarP(&v.dir, "dir", "C", "", "`FOLDER` of the session (default this one)")
	f.StringVar(&v.mode, "mode", "", "`MODE`: auto, off, deny-only or strict (default that of the settings)")
	f.StringVar(&v.rules, "rules", "", "`FILE` with the rules (default that of the settings)")
	f.StringArrayVar(&v.addDirs, "add-dir", nil, "another `FOLDER` it works in; repeatable")
	f.BoolVar(&v.json, "json", false, "print one JSON object")
	completeFolder(cmd, "dir")
	completeFolder(cmd, "add-dir")
	complete(cmd, "mode", append([]string{config.SandboxAuto}, sandboxModes()...)...)
	return cmd
}

// run explains the sandbox of a session.
func (v *sandboxExplainCmd) run(cmd *cobra.Command, e *env) (err error) {
	c, paths, err := v.load(e, func(c *config.Config) error {
		if v.mode == "" {
			return nil
		}
		if err := c.Sandbox.Mode.UnmarshalText([]byte(v.mode)); err != nil {
			return fmt.Errorf("--mode: %w", err)
		}
		return nil
	})
	if err != nil {
		return usageError{err}
	}
	spec, err := v.spec(e, c)
	if err != nil {
		return usageError{err}
	}
	agent, err := chooseAgent(e.getenv(envAgent), string(c.Claude.Path))
	if err != nil {
		return usageError{err}
	}
	with := enforcers(e, c)
	with.Own = append(with.Own, (&serveCmd{hubFlags: v.hubFlags}).rules(e, c).Own...)
	l, err := launch.New(launch.Config{DataDir: paths.DataDir, Socket: paths.Socket, Agent: agent, Env: e.env, Sandbox: with})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	box, err := l.Explain(cmd.Context(), spec)
	if err != nil {
		return err
	}
	if v.json {
		return e.writeJSON(box)
	}
	return writeLines(e.stdout, boxLines(e, box))
}

// spec returns the run that is asked about.
func (v *sandboxExplainCmd) spec(e *env, c *config.Config) (*launch.Spec, error) {
	dir, err := folder(v.dir)
	if err != nil {
		return nil, fmt.Errorf("--dir: %w", err)
	}
	options := api.SessionOptions{}
	for _, each := range v.addDirs {
		if each, err = folder(each); err != nil {
			return nil, fmt.Errorf("--add-dir: %w", err)
		}
		options.AddDirs = append(options.AddDirs, each)
	}
	rules := v.rules
	if rules == "" {
		if rules = string(c.Rules.File); rules == "" {
			rules = config.RulesFile(e.getenv)
		}
		if _, err := os.Stat(rules); errors.Is(err, fs.ErrNotExist) {
			rules = "" // no rules but our own
		}
	}
	engine, err := readRules(e, rules)
	if err != nil {
		return nil, err
	}
	defaults := sandboxDefaults(c)
	return &launch.Spec{Dir: dir, Options: options, Sandbox: defaults.Policy(engine, dir, &options, time.Now())}, nil
}

// boxLines shows a sandbox.
func boxLines(e *env, box *launch.Box) []string {
	told := &box.Told
	rows := [][2]string{{"mode", told.Mode}, {"enforcer", told.Enforcer}}
	if told.Reason != "" {
		rows = append(rows, [2]string{"why", told.Reason})
	}
	p := box.Profile
	if p == nil {
		lines := e.view(false).Pairs(rows...)
		if told.Reason != "" {
			lines = append(lines, "", "Nothing is enforced. switchboard sandbox check says what would help.")
		}
		return lines
	}
	rows = append(rows, [2]string{"network", networkWords(p)}, [2]string{"folder", paint.CleanLine(p.Dir, 0)})
	lines := e.view(false).Pairs(rows...)
	list := func(title string, items []string) {
		if len(items) == 0 {
			return
		}
		lines = append(lines, "", title+":")
		for _, item := range items {
			lines = append(lines, "  "+paint.CleanLine(item, 0))
		}
	}
	list("Hidden", p.Hide)
	list("Read-only", p.ReadOnly)
	list("Writable, all else is read-only", p.Writable)
	var shown []string
	for _, each := range p.Show {
		if each.Write {
			shown = append(shown, each.Path)
		} else {
			shown = append(shown, each.Path+" (read-only)")
		}
	}
	list("Visible although a folder above is hidden", shown)
	list("Hosts allowed", p.AllowHosts)
	list("Hosts denied", p.DenyHosts)
	list("Addresses of this machine that can be reached", p.Forward)
	list("Variables removed", p.UnsetEnv)
	list("Limits", told.Limits)
	return lines
}

// networkWords says what a sandbox can reach.
func networkWords(p *sandbox.Profile) string {
	switch {
	case p.Network == sandbox.NetworkNone:
		return "the model alone"
	case p.Network == sandbox.NetworkListed && p.AskHosts:
		return "hosts that are allowed; others are asked about"
	case p.Network == sandbox.NetworkListed && p.Mode == sandbox.DenyOnly:
		return "all hosts but those that are denied"
	case p.Network == sandbox.NetworkListed:
		return "hosts that are allowed"
	default:
		return "all hosts"
	}
}
