package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/shim"
	"github.com/switchboard-dev/switchboard/internal/terminal"
)

// wrapName is the name of a link that is wrap with the CLI's own arguments: a program that wants the path of a Claude Code can name only a file.
const wrapName = shim.WrapName

// What the flags of wrap say, for such a link.
const (
	envWrapClaude = "SWITCHBOARD_WRAP_CLAUDE"
	envWrapSteer  = "SWITCHBOARD_WRAP_STEER"
	envWrapTitle  = "SWITCHBOARD_WRAP_TITLE"
	envWrapLog    = "SWITCHBOARD_WRAP_LOG"
)

// A wrapCmd is the command wrap, or a link that is.
type wrapCmd struct {
	hubFlags
	steer      bool
	title, log string
}

func newWrap(e *env) *cobra.Command {
	v := &wrapCmd{}
	cmd := &cobra.Command{
		Use:   "wrap [flags] -- claude [arguments of the CLI]",
		Short: "Show an agent that another program drives",
		Long: `Starts claude for a program that talks to it in lines of JSON (--input-format stream-json and
--output-format stream-json), as the official SDKs and editors do, and shows the conversation in the
hub. The program notices nothing: every byte passes unchanged, as do signals and the exit
code, and standard error is the program's own. Questions can be answered on either side; the first
answer counts. The hub can neither end the agent nor, without --steer, prompt or interrupt it.

Without a hub it only passes data on; a hub that starts later is shown what happened, as far as
16 MiB go. With any other arguments than these it becomes claude itself at once.

A program that wants one path for its Claude Code is given a link to this program that is named
` + wrapName + `. All its arguments are the CLI's, and its settings come by environment:

  ` + envWrapClaude + `  the real claude, if it is not the first one in PATH
  ` + envWrapSteer + `   1 is --steer
  ` + envWrapTitle + `   --title
  ` + envWrapLog + `     --log

The hub is found by the same environment as by other commands (SWITCHBOARD_HUB, SWITCHBOARD_DATA_DIR,
SWITCHBOARD_CONFIG, XDG_RUNTIME_DIR, HOME). Of a hub on this machine only the socket is used, and only if it
belongs to the same user; one elsewhere needs a token with the scope admin. What such a hub has not taken
when claude ends is lost. Linux and macOS only.`,
		Example: `  # be seen while a script drives claude
  switchboard wrap -- claude --print --verbose --input-format stream-json --output-format stream-json

  # for a program with a setting for the path of claude (pathToClaudeCodeExecutable, CLAUDE_CODE_EXECUTABLE)
  ln -s "$(command -v switchboard)" ~/.local/bin/` + wrapName + `

  # show it in a hub elsewhere
  switchboard wrap --hub work -- claude --print --verbose --input-format stream-json --output-format stream-json

  # not for programs: this is claude
  switchboard wrap -- claude --version`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			exit, err := v.run(cmd.Context(), e, args[0], args[1:])
			if err != nil {
				return err
			}
			exit.Leave()
			return nil
		},
	}
	v.flags(cmd)
	cmd.Flags().SetInterspersed(false) // what follows claude is for claude
	cmd.Flags().BoolVar(&v.steer, "steer", false, "let the hub prompt and interrupt the agent too")
	cmd.Flags().StringVar(&v.title, "title", "", "`TITLE` of the session")
	cmd.Flags().StringVar(&v.log, "log", "", "`FILE` for what wrap itself has to say, at most 1 MiB (default: nothing is kept)")
	return cmd
}

// wrapAs is the link. It returns the exit code.
func wrapAs(ctx context.Context, args []string, e *env) int {
	v := &wrapCmd{title: e.getenv(envWrapTitle), log: e.getenv(envWrapLog)}
	v.steer, _ = strconv.ParseBool(e.getenv(envWrapSteer)) // nonsense is no permission
	exit, err := v.run(ctx, e, cmp.Or(e.getenv(envWrapClaude), "claude"), args)
	if err != nil {
		_, _ = fmt.Fprintf(e.stderr, "%s: %s\n", wrapName, terminal.Clean(err.Error()))
		return codeFailed
	}
	exit.Leave()
	return exit.Code
}

// run wraps a CLI and returns how it has ended, or becomes it.
func (v *wrapCmd) run(ctx context.Context, e *env, name string, args []string) (shim.Exit, error) {
	self, err := os.Executable()
	if err != nil {
		return shim.Exit{}, fmt.Errorf("finding this program: %w", err)
	}
	speaks := shim.Speaks(args)
	env, err := shim.WrappedEnv(e.env, os.Getpid(), os.Getppid(), speaks)
	if err != nil {
		return shim.Exit{}, err
	}
	cli, err := shim.FindWrapped(ctx, name, self, e.env)
	if missing, ok := errors.AsType[*claude.NotFoundError](err); ok {
		return shim.Exit{}, fmt.Errorf("there is no %s: %s; name one by its path, after -- or in %s", name, cmp.Or(missing.Reason, "neither in PATH nor where its installers put it"), envWrapClaude)
	}
	if err != nil {
		return shim.Exit{}, err
	}
	command := append(slices.Clip(cli.Args), args...)
	if !speaks {
		return shim.Exit{}, shim.Become(command, env)
	}
	stdin, in := e.stdin.(*os.File)
	stdout, out := e.stdout.(*os.File)
	stderr, errs := e.stderr.(*os.File)
	if !in || !out || !errs {
		return shim.Exit{}, errors.New("wrap needs the streams of a process")
	}
	register, done, err := v.hubLink(ctx, e, args)
	if err != nil {
		return shim.Exit{}, err
	}
	defer done()
	return shim.Wrap(&shim.WrapSpec{
		Args: command, Env: env, Stdin: stdin, Stdout: stdout, Stderr: stderr, Log: v.log,
		Tee: shim.TeeSpec{Steer: v.steer, Register: register},
	})
}

// hubLink returns what makes the session in the hub, which may be elsewhere, and what ends our side of that.
func (v *wrapCmd) hubLink(ctx context.Context, e *env, args []string) (register func(context.Context) (shim.Registration, error), done func(), err error) {
	at, err := v.remote(e)
	if err != nil {
		return nil, nil, err
	}
	if at == nil {
		return v.register(func() (*client.Client, shim.Registration, error) {
			_, paths, err := v.load(e, nil)
			if err != nil {
				return nil, shim.Registration{}, err
			}
			c, err := connect(paths.Socket)
			return c, shim.Registration{Socket: paths.Socket, SpoolDir: filepath.Join(paths.DataDir, "spool")}, err
		}, args), func() {}, nil
	}
	l, err := openWrapLink(ctx, at)
	if err != nil {
		return nil, nil, err
	}
	return v.register(func() (*client.Client, shim.Registration, error) {
		c, err := at.client(client.Options{})
		return c, shim.Registration{Socket: l.socket()}, err
	}, args), func() { _ = l.close() }, nil // the CLI has ended, and what is left of the folder is nothing to it
}

// register returns what makes the session in the server that find finds. It is called when there may be one, again and again until it works.
func (v *wrapCmd) register(find func() (*client.Client, shim.Registration, error), args []string) func(context.Context) (shim.Registration, error) {
	id := rand.Text()
	return func(ctx context.Context) (shim.Registration, error) {
		c, found, err := find()
		if err != nil {
			return shim.Registration{}, err
		}
		defer c.Close()
		request, err := v.session(args)
		if err != nil {
			return shim.Registration{}, err
		}
		request.ClientID = id
		created, err := c.Create(ctx, *request)
		if err != nil {
			return shim.Registration{}, markPermanent(err)
		}
		if created.Token == "" {
			// It was made before, and its token is lost with the answer.
			id = rand.Text()
			_, err := c.Stop(ctx, created.ID, api.Stop{Force: true})
			return shim.Registration{}, errors.Join(errors.New("the hub's answer was lost"), err)
		}
		found.Session, found.Run, found.Token = created.ID, created.Run, created.Token
		return found, nil
	}
}

// markPermanent marks errors that stay, other than those of a server that comes and goes, with shim.ErrRefused.
func markPermanent(err error) error {
	if _, ok := errors.AsType[*client.PinError](err); ok {
		return fmt.Errorf("%w: %w", shim.ErrRefused, err)
	}
	if problem, ok := errors.AsType[*api.Error](err); ok {
		switch problem.Status {
		case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusUnprocessableEntity:
			return fmt.Errorf("%w: %w", shim.ErrRefused, err)
		}
	}
	return err
}

// session is what the server is told of the session. Model and mode are for a process of the server's own that goes on with the conversation
// when the program has ended.
func (v *wrapCmd) session(args []string) (*api.CreateSession, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("finding the working folder: %w", err)
	}
	request := &api.CreateSession{Dir: dir, Title: v.title, Transport: "tee", Options: api.SessionOptions{Model: shim.Flag(args, "--model")}}
	switch mode := shim.Flag(args, "--permission-mode"); mode {
	case "default", "plan", "acceptEdits", "dontAsk":
		request.Options.PermissionMode = mode
	}
	return request, nil
}

// specDescriptor is where the shim finds its orders: never in arguments or the environment, which others can see.
const specDescriptor = 3

// newShim is the command by which serve starts the process that owns an agent. It is not for people.
func newShim() *cobra.Command {
	return &cobra.Command{
		Use:    "shim",
		Short:  "Own one agent on behalf of serve, which starts this",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if code := shim.Main(cmd.Context(), os.NewFile(specDescriptor, "spec")); code != 0 {
				return exitError(code)
			}
			return nil
		},
	}
}
