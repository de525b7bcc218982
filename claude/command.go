package claude

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// A Command is a CLI that is ready to be started: its arguments, environment
// and directory. [CLI.Command] makes one from [Options]. A program that has
// arguments of its own may fill in a Command itself; only Args is required.
type Command struct {
	// Args are the program and its arguments.
	Args []string
	// Env is the environment. If nil, that of the program as filtered by
	// [Environ]. The marker is always added.
	Env []string
	// Dir is the working directory. If empty, the one of the program.
	Dir string
	// Marker is the value of [MarkerEnv]. If empty, a random one is made.
	Marker string
	// Version is the version of the CLI, for messages; it may be zero.
	Version wire.Version
	// NoInput gives the process no input. Close then does not wait for it to
	// end by itself.
	NoInput bool
	// InputGrace, TermGrace, MaxLine and Stderr are as in [Options].
	InputGrace, TermGrace time.Duration
	MaxLine               int
	Stderr                func(line string)
	// Files are inherited by the process as descriptors 3, 4 and so on, not on
	// Windows. They stay the caller's to close, once Start has returned.
	Files []*os.File

	token string        // read by the CLI from a descriptor
	files *privateFiles // nil if there are none
}

// Command turns options into a command, or says what this CLI cannot do. Nil
// options are valid; those of a session are refused, since a command carries
// none of them. A command that is not started must be given back with
// [Command.Discard], which removes the files that it may have.
func (c *CLI) Command(o *Options) (*Command, error) {
	if o == nil {
		o = &Options{}
	}
	if err := o.forCommand(); err != nil {
		return nil, err
	}
	return c.command(o)
}

// command is Command for options that may be those of a session.
func (c *CLI) command(o *Options) (*Command, error) {
	cmd := &Command{
		Dir:        o.Dir,
		Marker:     o.Marker,
		Version:    c.Version,
		NoInput:    o.SDKURL != "",
		InputGrace: o.InputGrace,
		TermGrace:  o.TermGrace,
		MaxLine:    o.MaxLine,
		Stderr:     o.Stderr,
		files:      &privateFiles{parent: o.TempDir},
	}
	if len(c.Args) == 0 {
		return nil, errors.New("making a command: the CLI has no program")
	}
	if cmd.Dir != "" {
		dir, err := filepath.Abs(cmd.Dir)
		if err != nil {
			return nil, fmt.Errorf("finding the working directory: %w", err)
		}
		cmd.Dir = dir
	}
	if cmd.Marker == "" {
		cmd.Marker = newMarker()
	}
	err := checkMarker(cmd.Marker)
	if err == nil {
		cmd.Env, err = o.environ(c.Version, cmd.Dir, cmd.Marker)
	}
	if err == nil && o.SDKToken != "" {
		err = cmd.passToken(o.SDKToken)
	}
	var flags []string
	if err == nil {
		flags, err = o.args(c.Version, cmd.files)
	}
	if err != nil {
		return nil, errors.Join(err, cmd.Discard())
	}
	cmd.Args = slices.Concat(c.Args, flags)
	return cmd, nil
}

// tokenFD is the first descriptor after standard input, output and error.
const tokenFD = "3"

// passToken has the token for --sdk-url read from a descriptor, so that it is
// in no environment: the tools of the CLI inherit that. 2.1.37 and 2.1.120
// read it at start and show it at each connect.
func (c *Command) passToken(token string) error {
	const pipeMax = 4 << 10 // written before anyone reads
	if len(token) > pipeMax {
		return &OptionError{"SDKToken", fmt.Sprintf("it is longer than %d bytes", pipeMax)}
	}
	if runtime.GOOS == "windows" { // has no descriptors to inherit
		c.Env = setEnv(c.Env, "CLAUDE_CODE_SESSION_ACCESS_TOKEN", token)
		return nil
	}
	c.token = token
	c.Env = setEnv(c.Env, "CLAUDE_CODE_WEBSOCKET_AUTH_FILE_DESCRIPTOR", tokenFD)
	return nil
}

// Start starts the CLI with options, nil being valid. The context bounds the
// start alone: a process lives until [Process.Close] is called or it ends by
// itself. Close must be called in any case.
//
// A CLI writes nothing before its first input, so a start that succeeds only
// means that there is a process. One that ends at once, because of a flag or a
// conversation it does not know, is reported by Read as an [*ExitError] with
// the end of its standard error.
func (c *CLI) Start(ctx context.Context, o *Options) (*Process, error) {
	cmd, err := c.Command(o)
	if err != nil {
		return nil, err
	}
	return cmd.Start(ctx)
}

// Discard removes what belongs to a command that will not be started.
func (c *Command) Discard() error {
	if c.files == nil {
		return nil
	}
	return c.files.remove()
}

// explainStart says in plain words why a process could not be started.
func (c *Command) explainStart(err error) error {
	path := c.Args[0]
	e := &StartError{Path: path, Dir: c.Dir, Err: err}
	dir, dirErr := os.Stat(c.Dir)
	_, pathErr := os.Stat(path)
	switch {
	case c.Dir != "" && errors.Is(dirErr, fs.ErrNotExist):
		e.Reason = fmt.Sprintf("the working directory %s does not exist", c.Dir)
	case c.Dir != "" && dirErr == nil && !dir.IsDir():
		e.Reason = fmt.Sprintf("the working directory %s is not a directory", c.Dir)
	case errors.Is(pathErr, fs.ErrNotExist):
		e.Reason = fmt.Sprintf("the program %s does not exist", path)
	case errors.Is(err, fs.ErrNotExist):
		e.Reason = fmt.Sprintf("%s is there, but what runs it is not: it was made for another system or C library, or its interpreter is missing", path)
	case errors.Is(err, syscall.ENOEXEC):
		e.Reason = fmt.Sprintf("%s is not a program for this machine", path)
	case errors.Is(err, fs.ErrPermission):
		e.Reason = fmt.Sprintf("%s may not be run, or the working directory may not be entered: permission denied", path)
	case errors.Is(err, syscall.E2BIG):
		e.Reason = "the arguments and the environment are too long together"
	default:
		e.Reason = err.Error()
	}
	return e
}

// privateFiles is a directory that only the user can read, made when the first
// file is written.
type privateFiles struct {
	parent string
	dir    string
}

func (p *privateFiles) write(name, text string) (string, error) {
	if p.dir == "" {
		dir, err := os.MkdirTemp(p.parent, "switchboard-cli-")
		if err != nil {
			return "", err
		}
		// The CLI runs elsewhere.
		if p.dir, err = filepath.Abs(dir); err != nil {
			return "", errors.Join(err, os.RemoveAll(dir))
		}
	}
	path := filepath.Join(p.dir, name)
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// remove may be called again.
func (p *privateFiles) remove() error {
	if p.dir == "" {
		return nil
	}
	return os.RemoveAll(p.dir)
}
