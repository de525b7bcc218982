package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/config"
	"github.com/switchboard-dev/switchboard/internal/launch"
	"github.com/switchboard-dev/switchboard/internal/server"
	"github.com/switchboard-dev/switchboard/internal/terminal"
	"github.com/switchboard-dev/switchboard/internal/terminal/compose"
	"github.com/switchboard-dev/switchboard/internal/terminal/decide"
	"github.com/switchboard-dev/switchboard/internal/terminal/live"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/web"
)

// What is said in the demonstration.
const (
	demoFirst  = "Our post slugs have double dashes in them. Please fix that."
	demoSecond = "Do the tests still pass?"
)

// demoOrphan is how long the agent goes on without a hub.
const demoOrphan = time.Minute

// A demoCmd is the flags of demo.
type demoCmd struct {
	addr string
	auto bool
	fast bool
}

// newDemo is what make run starts: a hub of its own with a simulated agent at work.
func newDemo(e *env) *cobra.Command {
	v := &demoCmd{}
	cmd := &cobra.Command{
		Use:    "demo",
		Short:  "Try the hub with a simulated agent",
		Hidden: true, // make run is how people come here
		Long: `Starts a hub in a temporary folder, with a session in which a simulated agent fixes a small bug: no
account, no Claude Code, and nothing leaves this machine. It shows the session here, where you can answer
questions, and prints how to watch it from elsewhere. Leaving with Ctrl-C twice or /quit ends everything
and removes the folder.

Without a terminal, or with --auto, it answers the questions itself, prints the conversation, and ends.`,
		Args:              noArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return v.run(cmd.Context(), e) },
	}
	cmd.Flags().StringVar(&v.addr, "addr", "", "`ADDRESS` of the port (default the first free one from 127.0.0.1:8765 to 8774)")
	cmd.Flags().BoolVar(&v.auto, "auto", false, "answer the questions and end")
	cmd.Flags().BoolVar(&v.fast, "fast", false, "leave out the pauses")
	return cmd
}

// run sets the stage, plays, and clears it away.
func (v *demoCmd) run(ctx context.Context, e *env) (err error) {
	// The terminal's end too: no user could come back to what is in the temporary folder.
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	auto := v.auto || !isTerminal(e.stdin)
	folder, err := demoFolder()
	if err != nil {
		return fmt.Errorf("making a temporary folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	project := filepath.Join(folder, "blog")
	if err := writeDemo(folder, project); err != nil {
		return err
	}

	settings := config.Default()
	if err := settings.Environment(e.getenv); err != nil {
		return usageError{err}
	}
	hub, err := server.Start(ctx, server.Options{
		Sandbox: sandboxDefaults(settings), Enforcer: enforcers(e, settings),
		DataDir: filepath.Join(folder, "data"), Socket: demoSocket(folder), Addr: v.addr,
		Console: web.Files(),
		Agent:   launch.Simulator, Env: v.env(e, folder, auto), Version: buildVersion(),
		// If this one is killed, there is no other for the agent to wait for.
		OrphanAfter: demoOrphan, IdleOrphanAfter: demoOrphan,
		Logger: slog.New(slog.NewTextHandler(e.stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}
	defer func() {
		_, closing := hub.Close(context.WithoutCancel(ctx), true)
		err = errors.Join(err, closing)
	}()
	c, err := client.New(&client.Options{Socket: hub.Socket()})
	if err != nil {
		return err
	}
	defer c.Close()
	created, err := c.Create(ctx, api.CreateSession{Dir: project, Title: "Fix the slugs", Prompt: demoFirst})
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, `A SIMULATED agent: no account, no real tools, nothing leaves this machine.
listening on %s
socket %s
session %s
`, hub.URL(), hub.Socket(), created.ID)
	switch enforcer, err := hub.Enforcer(ctx); {
	case err != nil:
		fmt.Fprintf(e.stdout, "sandbox none: %s\n", paint.CleanLine(err.Error(), 0))
	case enforcer != "":
		fmt.Fprintf(e.stdout, "sandbox %s\n", enforcer)
	}
	if isTerminal(e.stdout) { // a one-time code has no place in a log
		fmt.Fprintf(e.stdout, "console %s\n", hub.ConsoleURL())
	}
	if auto {
		return play(ctx, e.stdout, c, created.ID)
	}
	return v.present(ctx, e, c, hub, created.ID)
}

// demoSocket returns the path of the socket.
func demoSocket(folder string) string { return filepath.Join(folder, "data", "run", "hub.sock") }

// demoFolder makes a temporary folder; not below TMPDIR where that is long, since the path of the socket must be short.
func demoFolder() (string, error) {
	for _, parent := range []string{"", "/tmp"} {
		made, err := os.MkdirTemp(parent, "switchboard-")
		if err != nil {
			return "", err
		}
		folder, err := filepath.EvalSymlinks(made)
		if err == nil && len(demoSocket(folder)) <= config.MaxSocket {
			return folder, nil
		}
		if err := errors.Join(err, os.Remove(made)); err != nil {
			return "", err
		}
	}
	return "", errors.New("the path is too long for a socket; set TMPDIR to a shorter folder")
}

// env is the environment of the agent: nothing of the user's that could lead it to a model, or into their home.
func (v *demoCmd) env(e *env, folder string, auto bool) []string {
	env := []string{"HOME=" + filepath.Join(folder, "home")}
	if v.fast || auto {
		env = append(env, envScript+"=demo-fast")
	} // else it plays the demonstration in sessions whose prompt has no directives: the console's examples have some
	for _, name := range []string{"PATH", "TMPDIR", "GORACE", "GOCOVERDIR"} {
		if value := e.getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// writeDemo makes the folders and puts the small project into its own.
func writeDemo(folder, project string) error {
	if err := os.Mkdir(filepath.Join(folder, "home"), 0o700); err != nil {
		return fmt.Errorf("making a home for the agent: %w", err)
	}
	for name, content := range claudetest.DemoFiles() {
		path := filepath.Join(project, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("making the project: %w", err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			return fmt.Errorf("making the project: %w", err)
		}
	}
	return nil
}

// present lets a person play.
func (v *demoCmd) present(ctx context.Context, e *env, c *client.Client, hub *server.Server, session string) error {
	program, err := os.Executable()
	if err != nil {
		program = "switchboard"
	}
	data := filepath.Dir(filepath.Dir(hub.Socket()))
	fmt.Fprintf(e.stdout, `
Watch it from another terminal too, and answer there if you like:
  %[1]s attach --data-dir %[2]s
  %[1]s questions --data-dir %[2]s
  curl --unix-socket %[3]s http://switchboard/v1/sessions/%[4]s
Ctrl-C twice ends everything.

`, program, data, hub.Socket(), session)
	var view *live.View
	opened, err := c.Open(ctx, session, &client.RemoteOptions{History: true, Lost: func(err error, again time.Duration) { view.Lost(err, again) }})
	if err != nil {
		return ignoreEnd(ctx, err)
	}
	defer func() { _ = opened.Close() }() // what it returns was said before
	view = live.New(live.Options{
		In: e.stdin, Out: e.stdout, Env: e.env, Profile: paint.Detect(e.stdout, e.getenv, e.color), Editor: compose.Editor(e.getenv, ""), Guard: runGuard,
	})
	_, err = view.Run(ctx, opened)
	return ignoreEnd(ctx, err)
}

// play lets the program play: it prints the conversation and answers what is asked.
func play(ctx context.Context, out io.Writer, c *client.Client, session string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	prompts, input := io.Pipe()
	var answering sync.WaitGroup
	answering.Go(func() {
		err := answerAll(ctx, c, session, input)
		_ = input.Close() // never fails
		if err != nil {
			cancel(err)
		}
	})
	err := terminal.Attach(ctx, follower{c, io.Discard}, session, &terminal.Options{In: prompts, Out: out, Wait: true})
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	cancel(nil)
	_ = prompts.Close() // never fails
	answering.Wait()
	if err == nil {
		fmt.Fprintln(out, "The demo is complete.")
	}
	return err
}

// answerAll answers every question: tools and plans are allowed, of choices the first is taken, forms are accepted as they come. After the first
// turn it says the second prompt, and that is all.
func answerAll(ctx context.Context, c *client.Client, session string, prompts io.Writer) error {
	turns := 0
	for frame, err := range c.Follow(ctx, session, &client.FollowOptions{NoLive: true}) {
		if err != nil {
			return ignoreEnd(ctx, err)
		}
		if frame.Type != api.FrameEvent {
			continue
		}
		switch e := frame.Event; e.Kind {
		case api.KindQuestionOpened:
			if err := answerOne(ctx, c, e.Data); err != nil {
				return ignoreEnd(ctx, err)
			}
		case api.KindLine:
			var line struct {
				Type string `json:"type"`
			}
			if err := json.Unmarshal(e.Line, &line); err != nil || line.Type != "result" {
				continue
			}
			if turns++; turns == 2 {
				return nil
			}
			if _, err := fmt.Fprintln(prompts, demoSecond); err != nil {
				return ignoreEnd(ctx, err)
			}
		}
	}
	return nil
}

// ignoreEnd drops the error of something that was broken off because all is over.
func ignoreEnd(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil
}

// answerOne answers one question, given as the data of its event.
func answerOne(ctx context.Context, c *client.Client, data json.RawMessage) error {
	var q api.Question
	if err := json.Unmarshal(data, &q); err != nil {
		return fmt.Errorf("reading a question: %w", err)
	}
	answer, err := (&decide.Allow{}).Answer(&q)
	if q.Kind == api.QuestionChoice {
		answer, err = (&decide.Reply{Words: slices.Repeat([]string{"1"}, len(q.Choices))}).Answer(&q)
	}
	if err != nil {
		return err
	}
	_, err = c.Answer(ctx, q.ID, *answer)
	return err
}
