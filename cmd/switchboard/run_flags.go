package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
)

const (
	// maxPrompt bounds what is read from standard input, maxFile a file that a flag names.
	maxPrompt = 16 << 20
	maxFile   = 1 << 20
	// schemaTurns is how many rounds an agent has to bring its answer into the form of a schema: the CLI insists on a bound.
	schemaTurns = 20
)

// sessionFlags are the flags that say what kind of session is wanted.
type sessionFlags struct {
	optionFlags

	dir, title, resume string
	resumeLast, fork   bool
	node               string
	labels             map[string]string
	// autoAllowRefused says that --sandbox-auto-allow=false was given, which preferences must not change.
	autoAllowRefused bool
}

// flags adds them to a command.
func (o *sessionFlags) flags(cmd *cobra.Command, e *env, p *hubFlags) {
	f := cmd.Flags()
	f.StringVarP(&o.dir, "dir", "C", "", "`FOLDER` to work in (default this one)")
	f.StringVar(&o.title, "title", "", "`TITLE` of the session")
	f.StringVarP(&o.resume, "resume", "r", "", "continue a `SESSION`, or a conversation of Claude Code on disk by its id")
	f.BoolVarP(&o.resumeLast, "continue", "c", false, "continue the latest session in this folder")
	f.BoolVar(&o.fork, "fork", false, "with --resume or --continue: continue a copy")
	f.StringVar(&o.node, "node", "", "`NAME` of the machine to run on, or any; see switchboard node")
	f.StringToStringVar(&o.labels, "node-label", nil, "run on a machine with the label `KEY=VALUE`; repeatable")
	register(cmd, "node", completeNodes(e, p, api.AnyNode))
	o.add(cmd, e, p)
}

// check looks for flags that make no sense together.
func (o *sessionFlags) check(cmd *cobra.Command) error {
	if o.resume != "" && o.resumeLast {
		return errors.New("use --resume or --continue, not both")
	}
	if o.fork && o.resume == "" && !o.resumeLast {
		return errors.New("--fork needs --resume or --continue")
	}
	if o.resume == "" && !o.resumeLast {
		return nil
	}
	if o.node != "" || len(o.labels) > 0 {
		return errors.New("--node and --node-label are for new sessions; a conversation continues on the machine that it is on")
	}
	// A process that runs already can be given another model or mode, but not these.
	const message = "--%s is for new sessions; a continued session keeps its own. To change it, stop the session and use switchboard resume"
	if o.preset != "" {
		return fmt.Errorf(message, "preset")
	}
	for _, each := range o.changed(cmd) {
		if each.option != "model" && each.option != "permission_mode" {
			return fmt.Errorf(message, each.flag)
		}
	}
	return nil
}

// request returns what the flags ask for.
func (o *sessionFlags) request(cmd *cobra.Command, e *env, prompt string) (*api.CreateSession, error) {
	dir, err := o.place(e)
	if err != nil {
		return nil, err
	}
	options, given, err := o.read(cmd, e)
	if err != nil {
		return nil, err
	}
	o.autoAllowRefused = slices.Contains(given, "sandbox_auto_allow") && !options.SandboxAutoAllow
	create := &api.CreateSession{ClientID: rand.Text(), Dir: dir, Title: o.title, Prompt: prompt, Options: options, Preset: o.preset, Node: o.node, NodeLabels: o.labels}
	if o.preset != "" {
		create.Except = exceptions(&options, given)
	}
	return create, nil
}

// place returns the folder to work in. On another machine there is no folder that we are in, and only that machine can tell whether there is one.
func (o *sessionFlags) place(e *env) (string, error) {
	at, err := o.hubs.remote(e)
	if err != nil {
		return "", err
	}
	list := "switchboard folders" + at.flag()
	switch {
	case o.node != "" && o.node != api.AnyNode:
		o.away = "the machine " + o.node
		list += " --node " + quote(o.node)
	case o.node != "" || len(o.labels) > 0:
		o.away = "another machine"
	case at != nil:
		o.away = "the machine of " + at.title()
	}
	switch {
	case o.away == "":
		return localFolder(o.dir)
	case o.dir != "":
		return elsewhere("--dir", o.dir, o.away)
	case o.resume != "":
		return "", nil // the conversation has its own
	}
	return "", fmt.Errorf("--dir is missing: a folder on %s, such as /home/me/project; %s lists some", o.away, list)
}

// localFolder returns the path of a folder on this machine, of the one that we are in if it is not named.
func localFolder(name string) (string, error) {
	dir, err := filepath.Abs(name)
	if err != nil {
		return "", fmt.Errorf("--dir: %w", err)
	}
	if info, err := os.Stat(dir); err != nil {
		return "", fmt.Errorf("--dir: %w", err)
	} else if !info.IsDir() {
		return "", fmt.Errorf("--dir: %s isn't a folder", dir)
	}
	return dir, nil
}

// input returns the prompt with what comes in on standard input: what is piped to run is what the prompt is about.
func (v *runCmd) input(e *env, prompt string) (string, error) {
	if e.stdin == nil || isTerminal(e.stdin) {
		return prompt, nil
	}
	text, err := io.ReadAll(io.LimitReader(e.stdin, maxPrompt+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("reading standard input: %w", err)
	case len(text) > maxPrompt:
		return "", usageError{fmt.Errorf("standard input is longer than %d bytes; put it into a file and name that in the prompt", maxPrompt)}
	}
	piped := strings.TrimRight(string(text), "\n")
	switch {
	case strings.TrimSpace(piped) == "":
		return prompt, nil
	case prompt == "":
		return piped, nil
	default:
		return prompt + "\n\n" + piped, nil
	}
}
