// Command play holds a conversation with a simulated agent, or with a real Claude Code CLI and a simulated model, and prints it for a person
// to read: what each side says, what is asked, and how this program answers.
//
//	play [--help] [--fast] [--raw] [--real] [--version-of-cli VERSION]
//
// Nothing leaves the machine: the model is a script inside this program, the key is made up, home and project are temporary folders that are
// removed at the end. The simulated agent needs no Claude Code and runs no tool. With --real a Claude Code does, in a small Go project; one
// that is not installed yet is fetched from the npm registry first. Exit code 0 means that the conversation went as the script has it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/internal/conformance"
	"github.com/switchboard-dev/switchboard/wire"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// A choice is what the command line asks for.
type choice struct {
	version         string
	real, fast, raw bool
}

// run is main with its surroundings given; it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var c choice
	flags := flag.NewFlagSet("play", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&c.version, "version-of-cli", conformance.Newest, "the `version` of Claude Code to talk to, or to simulate")
	flags.BoolVar(&c.real, "real", false, "talk to a real Claude Code with a simulated model, instead of a simulated agent")
	flags.BoolVar(&c.fast, "fast", false, "leave out the pauses")
	flags.BoolVar(&c.raw, "raw", false, "print the lines as they are sent (>) and received (<) instead of a transcript")
	flags.Usage = func() {
		_, _ = fmt.Fprint(stderr, `Usage: play [flags]

Plays a conversation about a small bug: a plan, two questions, an edit, tests, a
review. Nobody has to answer anything; this program does, and says what.

`)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if flags.NArg() > 0 {
		_, _ = fmt.Fprintf(stderr, "play: unexpected argument %q\n", flags.Arg(0))
		return 2
	}
	if err := play(ctx, c, stdout); err != nil {
		_, _ = fmt.Fprintf(stderr, "play: %v\n", err)
		return 1
	}
	return 0
}

// play sets the stage and holds the conversation.
func play(ctx context.Context, c choice, out io.Writer) (err error) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Minute) // an installation can take ten
	defer cancel()
	folder, err := os.MkdirTemp("", "switchboard-play-")
	if err != nil {
		return fmt.Errorf("making a temporary folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	// The CLI names folders by their real path, which may differ where temporary ones lie behind a link.
	if folder, err = filepath.EvalSymlinks(folder); err != nil {
		return fmt.Errorf("making a temporary folder: %w", err)
	}
	stage := stage{home: filepath.Join(folder, "home"), project: filepath.Join(folder, "blog")}
	if err := stage.build(); err != nil {
		return err
	}

	view := &transcript{out: out, raw: c.raw, project: stage.project}
	start := stage.simulated
	if c.real {
		start = stage.realCLI
	}
	transport, version, err := start(ctx, c, view)
	if err != nil {
		return err
	}
	conn := claude.NewConn(&observed{transport, view}, &claude.ConnOptions{Handler: answer, Version: version})
	defer func() { err = errors.Join(err, conn.Close(), stage.close()) }()

	ctx, cancel = context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	if err := converse(ctx, conn, view); err != nil {
		return err
	}
	view.end()
	return view.failed()
}

// A stage is where a conversation takes place.
type stage struct {
	home, project string
	model         *claudetest.Model // nil for a simulated agent, whose model is inside it
}

// build makes the folders and puts the small project into its own.
func (s *stage) build() error {
	files := map[string]string{filepath.Join(s.home, ".keep"): ""}
	for name, content := range claudetest.DemoFiles() {
		files[filepath.Join(s.project, filepath.FromSlash(name))] = content
	}
	for path, content := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("making the project: %w", err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			return fmt.Errorf("making the project: %w", err)
		}
	}
	return nil
}

func (s *stage) close() error {
	if s.model == nil {
		return nil
	}
	return s.model.Close()
}

// simulated starts a simulated agent.
func (s *stage) simulated(_ context.Context, c choice, view *transcript) (claude.Transport, wire.Version, error) {
	quirks, err := claudetest.QuirksFor(c.version)
	if err != nil {
		return nil, wire.Version{}, err
	}
	demo := &claudetest.DemoOptions{Fast: c.fast}
	view.title(fmt.Sprintf("A simulated agent, which behaves as Claude Code %s does: no account, no tool is run, nothing leaves this machine.", c.version))
	return claudetest.StartSim(&claudetest.SimOptions{
		Quirks: &quirks,
		Env:    []string{"HOME=" + s.home},
		Dir:    s.project,
		Script: claudetest.Demo(demo),
		Tool:   claudetest.DemoTools(demo),
	}), quirks.Version, nil
}

// realCLI starts a real CLI with a simulated model; a CLI that is not there is installed.
func (s *stage) realCLI(ctx context.Context, c choice, view *transcript) (claude.Transport, wire.Version, error) {
	path, err := conformance.Program(c.version)
	if err != nil {
		_, _ = fmt.Fprintf(view.out, "Claude Code %s is not installed yet; it is put into the user's cache folder.\n", c.version)
		installer := conformance.Installer{Progress: view.out}
		if path, err = installer.Install(ctx, c.version); err != nil {
			return nil, wire.Version{}, err
		}
	}
	s.model = claudetest.NewModel(&claudetest.ModelOptions{Script: claudetest.Demo(&claudetest.DemoOptions{Fast: c.fast, Real: true})})
	env := claudetest.Env(s.home, s.model.URL())
	// The tests of the project are run for real. With an empty cache Go would compile its library first.
	cache := os.Getenv("GOCACHE")
	if folder, err := os.UserCacheDir(); err == nil && cache == "" {
		cache = filepath.Join(folder, "go-build")
	}
	env = append(env, "GOCACHE="+cache, "GOTOOLCHAIN=local", "GOWORK=off", "GOFLAGS=")
	cli, err := claude.Find(ctx, &claude.FindOptions{Path: path, Env: env})
	if err != nil {
		return nil, wire.Version{}, errors.Join(err, s.close())
	}
	process, err := cli.Start(ctx, &claude.Options{Dir: s.project, Env: env})
	if err != nil {
		return nil, wire.Version{}, errors.Join(err, s.close())
	}
	view.title(fmt.Sprintf("Claude Code %s (real, process %d) with a simulated model: no account, nothing leaves this machine.", cli.Version, process.PID()))
	return process, cli.Version, nil
}

// observed is a transport whose lines are shown as they are sent; those that come are shown by the caller, which reads them.
type observed struct {
	claude.Transport
	view *transcript
}

// Write shows a line and sends it.
func (o *observed) Write(ctx context.Context, line []byte) error {
	o.view.sent(line)
	return o.Transport.Write(ctx, line)
}

// converse says the prompts, one after the other, and shows what comes.
func converse(ctx context.Context, conn *claude.Conn, view *transcript) error {
	if _, err := conn.Request(ctx, &wire.InitializeRequest{}); err != nil {
		return err
	}
	read := int64(0)
	for _, prompt := range prompts() {
		line, err := wire.NewUser(wire.TextContent(prompt), nil)
		if err != nil {
			return err
		}
		view.prompt(prompt)
		if err := conn.Send(ctx, line); err != nil {
			return fmt.Errorf("sending a prompt: %w", err)
		}
		result, err := follow(ctx, conn, view, &read)
		if err != nil {
			return fmt.Errorf("waiting for the end of the turn: %w", err)
		}
		if result.IsError || result.Subtype != wire.ResultSubtypeSuccess {
			return fmt.Errorf("the turn %q failed: %s", prompt, result.Raw())
		}
		if !strings.Contains(result.Result, endOf(prompt)) {
			return fmt.Errorf("the turn %q ended with %q; the script has it otherwise", prompt, result.Result)
		}
	}
	return nil
}

// follow shows the lines behind number read, up to the result of the turn.
func follow(ctx context.Context, conn *claude.Conn, view *transcript, read *int64) (*wire.Result, error) {
	for line, err := range conn.Lines(ctx, *read) {
		if err != nil {
			return nil, err
		}
		*read = line.Number
		message, err := line.Message()
		if err != nil {
			return nil, err
		}
		view.received(line.Bytes, message)
		if result, ok := message.(*wire.Result); ok {
			return result, nil
		}
	}
	return nil, io.ErrUnexpectedEOF
}
