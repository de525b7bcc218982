package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/hubstart"
	"github.com/switchboard-dev/switchboard/internal/terminal/turn"
)

// What run does about questions when no user sits at a terminal.
const (
	askDeny = "deny"
	askWait = "wait"
)

// A runCmd is the flags of run.
type runCmd struct {
	hubFlags
	sessionFlags

	print, detach, json, live, keep bool
	output, ask                     string
	simulated, noStart, noPrefs     bool

	// Set while it runs.
	hub   *hubstart.Hub
	at    *remote // nil if the hub is this machine's
	where string  // the flag that other commands need to find the hub; "" if they find it without
}

func newRun(e *env) *cobra.Command {
	v := &runCmd{}
	cmd := &cobra.Command{
		Use:   "run [flags] [PROMPT]",
		Short: "Start an agent in this folder and watch it",
		Long: `Starts a session in this folder and shows it live: what the agent says, the tools it uses, its to-do
list, its questions. Answer questions in place with the keys shown; ? lists all keys. Finished parts
stay in the terminal's scrollback.

Ctrl-C interrupts the turn; twice, or when the agent is idle, it leaves. The agent keeps running, and
run prints how to reattach and how to stop it.

What the flags leave open, mode, model and rules, is taken from your preferences for the folder:
switchboard prefs.

Uses the running hub, or starts one in the background, which logs to serve.log in the data folder;
--no-start refuses instead. With --hub, or a hub elsewhere as the current one, --dir is a folder on that
hub's machine; with --node, on that of the node.

With --print, or without a terminal, run is for scripts: it waits for the end of the turn, prints the
result and stops the agent. Standard input is the prompt, or is added to it. --output sets the format:

  text         the agent's last message; with --schema its answer, as JSON
  json         one object: session, result, structured, subtype, usd, ms, turns, denied
  stream-json  Claude Code's own lines, as in its print mode
  events       the events of the log, with questions, states and messages

Questions are denied then, and the agent is told so. With --ask wait they stay open until you answer
them elsewhere: switchboard questions, allow, deny, attach.

Session options are those of the API. --preset uses a set of them from the hub's configuration (switchboard
preset ls); flags win over it. Give secrets with --env NAME or --env-file, not as an argument.

Exit codes: 6 the turn failed, 4 no hub, 130 interrupted.`,
		Example: `  # an agent in this folder, shown live
  switchboard run "Why does the build fail?"

  # without an account: a simulated agent
  switchboard run --simulated "Our post slugs have double dashes. Please fix that."

  # continue the latest session in this folder
  switchboard run --continue

  # from a script
  git diff | switchboard run --print "Write a commit message for this"

  # structured output
  switchboard run --print --schema answer.json "Which licence has this project?"

  # a new process and conversation for each message, with a preset of the configuration
  switchboard run --preset review --fresh

  # on another machine of the hub, see switchboard node
  switchboard run --node gpu-1 --dir /srv/blog "Fix the tests"

  # start something and look at it later
  id=$(switchboard run --detach "Update the dependencies")
  switchboard attach "$id"`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, args []string) error { return v.run(cmd, e, strings.Join(args, " ")) },
	}
	v.hubFlags.flags(cmd)
	v.sessionFlags.flags(cmd, e, &v.hubFlags)
	f := cmd.Flags()
	f.BoolVarP(&v.print, "print", "p", false, "wait for the end of the turn and print the result")
	f.BoolVarP(&v.detach, "detach", "d", false, "print the session's id and leave the agent running")
	f.StringVar(&v.output, "output", turn.Text, "with --print: text, json, stream-json or events")
	f.BoolVar(&v.json, "json", false, "same as --output json; with --detach print the session as JSON")
	f.BoolVar(&v.live, "live", false, "with --output stream-json or events: include token deltas and progress")
	f.StringVar(&v.ask, "ask", askDeny, "with --print: deny questions, or wait for an answer elsewhere")
	f.BoolVar(&v.keep, "keep", false, "with --print: keep the agent running after the turn")
	f.BoolVar(&v.simulated, "simulated", false, "run a simulated agent: no account, no real tools")
	f.BoolVar(&v.noPrefs, "no-prefs", false, "don't use your preferences for new sessions; see switchboard prefs")
	f.BoolVar(&v.noStart, "no-start", false, "don't start a hub if none is running")
	complete(cmd, "output", turn.Text, turn.JSON, turn.Stream, turn.Events)
	complete(cmd, "ask", askDeny, askWait)
	return cmd
}

// run does what the flags say.
func (v *runCmd) run(cmd *cobra.Command, e *env, prompt string) error {
	if err := v.check(cmd); err != nil {
		return usageError{err}
	}
	people := isTerminal(e.stdin) && isTerminal(e.stdout)
	live := people && !v.print && !v.detach
	var err error
	if !live {
		if prompt, err = v.input(e, prompt); err != nil {
			return err
		}
		if prompt == "" && !v.detach {
			return usageError{errors.New("no prompt; give one as an argument or on standard input")}
		}
	}
	create, err := v.request(cmd, e, prompt)
	if err != nil {
		return usageError{err}
	}
	ctx := cmd.Context()
	options := client.Options{}
	if live {
		options.Retry = runRetry
	}
	c, err := v.connect(ctx, e, options)
	if err != nil {
		return err
	}
	defer c.Close()
	return v.at.explain(v.with(ctx, e, c, create, live))
}

// with begins the session and does what the flags say about it.
func (v *runCmd) with(ctx context.Context, e *env, c *client.Client, create *api.CreateSession, live bool) error {
	if err := v.prefer(ctx, e, c, create); err != nil {
		return err
	}
	switch {
	case v.detach:
		return v.runDetached(ctx, e, c, create)
	case live:
		return v.runLive(ctx, e, c, create)
	default:
		return v.runPrint(ctx, e, c, create)
	}
}

// connect returns a client of the hub that is to be used, which is started if it is this machine's.
func (v *runCmd) connect(ctx context.Context, e *env, options client.Options) (c *client.Client, err error) {
	if v.at, err = v.remote(e); err != nil {
		return nil, err
	}
	if v.at == nil {
		if options.Socket, err = v.server(ctx, e); err != nil {
			return nil, err
		}
		return client.New(&options)
	}
	info, err := v.at.info(ctx)
	if err != nil {
		return nil, err
	}
	v.hub, v.where = &hubstart.Hub{Info: info}, v.at.flag()
	if v.simulated && !info.Simulated {
		return nil, fmt.Errorf("%s runs real agents; leave out --simulated, or try a simulated one here with --hub local", v.at.title())
	}
	return v.at.client(options)
}

// check looks for flags that make no sense together.
func (v *runCmd) check(cmd *cobra.Command) error {
	changed := cmd.Flags().Changed
	if v.json {
		if changed("output") && v.output != turn.JSON {
			return errors.New("use --json or --output, not both")
		}
		v.output = turn.JSON
	}
	switch v.output {
	case turn.Text, turn.JSON, turn.Stream, turn.Events:
	default:
		return fmt.Errorf("--output is %q; it can be text, json, stream-json or events", v.output)
	}
	if v.ask != askDeny && v.ask != askWait {
		return fmt.Errorf("--ask is %q; it can be deny or wait", v.ask)
	}
	if v.detach && v.print {
		return errors.New("use --print or --detach, not both; leave one out")
	}
	if v.live && v.output != turn.Stream && v.output != turn.Events {
		return errors.New("--live is for --output stream-json or events")
	}
	if v.schema != "" && !v.detach {
		v.print = true // there is nothing to talk about
	}
	for _, name := range []string{"output", "json", "ask", "keep"} {
		if changed(name) && !v.detach {
			v.print = true
		}
	}
	return v.sessionFlags.check(cmd)
}

// server finds the hub, or starts one, and returns its socket.
func (v *runCmd) server(ctx context.Context, e *env) (socket string, err error) {
	paths, simulated, err := v.hubs(e)
	if err != nil {
		return "", usageError{err}
	}
	if v.dataDir != "" {
		v.where = " --data-dir " + quote(paths.DataDir)
	}
	if v.simulated {
		hub, err := hubstart.Find(ctx, paths.Socket)
		switch {
		case err == nil && hub.Info.Simulated:
			v.hub = hub
			return paths.Socket, nil
		case err == nil && v.dataDir != "":
			return "", fmt.Errorf("the hub of %s runs real agents; leave out --data-dir for simulated ones", paths.DataDir)
		case v.dataDir == "" && simulated == nil:
			return "", usageError{fmt.Errorf("the path of %s is too long for a socket; name a shorter folder with --data-dir", paths.DataDir)}
		case v.dataDir == "":
			paths = simulated
		}
	}
	if v.noStart {
		v.hub, err = hubstart.Find(ctx, paths.Socket)
	} else {
		v.hub, err = v.startHub(ctx, e, paths, v.simulated)
	}
	if err != nil {
		return "", err
	}
	return paths.Socket, v.really(paths.DataDir)
}

// really returns an error if a simulated agent is wanted and the server would start a real one, which may cost something and does what it says.
func (v *runCmd) really(dataDir string) error {
	if v.simulated && !v.hub.Info.Simulated {
		return fmt.Errorf("the hub of %s runs real agents; end it, or name another folder with --data-dir", dataDir)
	}
	return nil
}

// command returns a command line for another command that reaches the same server.
func (v *runCmd) command(verb, rest string) string {
	text := "switchboard " + verb + v.where
	if rest != "" {
		text += " " + rest
	}
	return text
}
