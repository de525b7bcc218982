package shim

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/internal/sandbox"
	"github.com/switchboard-dev/switchboard/wire"
)

// maxSpec bounds what is read of a spec: arguments and environment cannot be
// longer than the system lets a program have.
const maxSpec = 8 << 20

// The defaults of a [Spec].
const (
	DefaultOrphanAfter     = 24 * time.Hour
	DefaultIdleOrphanAfter = time.Hour
	DefaultBufferBytes     = 64 << 20
)

// A Spec says what a shim has to do. The process that starts the shim writes it as JSON
// to a pipe, since it holds a secret.
type Spec struct {
	// Session and Run name the run that the CLI belongs to.
	Session string `json:"session"`
	Run     int    `json:"run"`
	// Instance tells this shim from any other that says it is the same run. If
	// empty, a random one is made.
	Instance string `json:"instance,omitempty"`
	// Token is the run's credential. It is shown to the hub alone.
	Token string `json:"token"`
	// Marker is the value of [claude.MarkerEnv] for the CLI and all it starts.
	Marker string `json:"marker"`
	// Socket is the path of the hub's Unix socket.
	Socket string `json:"socket"`
	// Command is the CLI.
	Command Command `json:"command"`
	// PrivateDir is a folder with files of the CLI's own, such as its settings.
	// It is removed once the CLI and what it started are gone. May be empty.
	PrivateDir string `json:"private_dir,omitempty"`
	// Log is the path of the log file, which never grows beyond 1 MiB; the
	// older half is kept beside it with ".1" added. If empty, nothing is logged.
	Log string `json:"log,omitempty"`
	// SpoolDir is the folder for what no hub has taken. If empty, it is lost.
	SpoolDir string `json:"spool_dir,omitempty"`
	// OrphanAfter is how long the shim goes on without a hub, in nanoseconds.
	// If zero, 24 h. IdleOrphanAfter is the same for a CLI that is in no turn,
	// has written nothing for that time and waits for no answer; if zero, 1 h.
	OrphanAfter     time.Duration `json:"orphan_after,omitempty"`
	IdleOrphanAfter time.Duration `json:"idle_orphan_after,omitempty"`
	// BufferBytes is how much of the CLI's output is kept for the hub before
	// the CLI is stopped. If zero, 64 MiB.
	BufferBytes int64 `json:"buffer_bytes,omitempty"`
	// Sandbox is what the CLI is started in. If nil, in nothing.
	Sandbox *sandbox.Profile `json:"sandbox,omitempty"`
}

// A Command is the part of a [claude.Command] that a spec carries.
type Command struct {
	// Args are the program and its arguments.
	Args []string `json:"args"`
	// Env is the environment; nothing is added but the marker.
	Env []string `json:"env"`
	// Dir is the working directory.
	Dir string `json:"dir,omitempty"`
	// Version is the version of the CLI. It may be empty.
	Version string `json:"version,omitempty"`
	// InputGrace and TermGrace are as in [claude.Options], in nanoseconds.
	InputGrace time.Duration `json:"input_grace,omitempty"`
	TermGrace  time.Duration `json:"term_grace,omitempty"`
	// MaxLine is the longest line that is carried. If zero, 256 MiB.
	MaxLine int `json:"max_line,omitempty"`
}

// NewCommand returns what a spec has to carry of a command.
func NewCommand(c *claude.Command) Command {
	out := Command{Args: c.Args, Env: c.Env, Dir: c.Dir, InputGrace: c.InputGrace, TermGrace: c.TermGrace, MaxLine: c.MaxLine}
	if c.Version != (wire.Version{}) {
		out.Version = c.Version.String()
	}
	return out
}

// ReadSpec reads a spec to the end of r and fills in the defaults. An end
// before the spec is whole is [io.ErrUnexpectedEOF]: its writer has died, and
// nothing must be started.
func ReadSpec(r io.Reader) (*Spec, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxSpec+1))
	if err != nil {
		return nil, fmt.Errorf("reading the shim's orders: %w", err)
	}
	if len(data) > maxSpec {
		return nil, fmt.Errorf("reading the shim's orders: they are longer than %d bytes", maxSpec)
	}
	spec := &Spec{}
	if err := json.Unmarshal(data, spec); err != nil {
		// The text of the error may quote what was read, which is secret.
		var syntax *json.SyntaxError
		if len(data) == 0 || errors.As(err, &syntax) && syntax.Offset >= int64(len(data)) {
			return nil, fmt.Errorf("reading the shim's orders: %w", io.ErrUnexpectedEOF)
		}
		return nil, errors.New("reading the shim's orders: they are not the JSON that was expected")
	}
	if err := spec.complete(); err != nil {
		return nil, fmt.Errorf("reading the shim's orders: %w", err)
	}
	return spec, nil
}

// complete fills in the defaults and refuses a spec that cannot be obeyed.
func (s *Spec) complete() error {
	switch {
	case s.Session == "" || strings.ContainsAny(s.Session, "/\\\x00") || strings.HasPrefix(s.Session, "."):
		return errors.New("they name no session")
	case s.Run < 1:
		return errors.New("they name no run")
	case s.Socket == "":
		return errors.New("they name no socket of a hub")
	case len(s.Command.Args) == 0:
		return errors.New("they name no program")
	case s.Marker == "":
		return errors.New("they have no marker")
	}
	if s.Instance == "" {
		s.Instance = newInstance()
	}
	if s.Command.Env == nil {
		s.Command.Env = []string{} // nil would mean that of the shim
	}
	if s.OrphanAfter <= 0 {
		s.OrphanAfter = DefaultOrphanAfter
	}
	if s.IdleOrphanAfter <= 0 {
		s.IdleOrphanAfter = DefaultIdleOrphanAfter
	}
	if s.BufferBytes <= 0 {
		s.BufferBytes = DefaultBufferBytes
	}
	s.BufferBytes = min(s.BufferBytes, math.MaxInt64/4)
	return nil
}

// command returns the CLI as it is started.
func (s *Spec) command() *claude.Command {
	version, err := wire.ParseVersion(s.Command.Version)
	if err != nil {
		version = wire.Version{} // it is for messages only
	}
	return &claude.Command{
		Args: s.Command.Args, Env: s.Command.Env, Dir: s.Command.Dir, Marker: s.Marker, Version: version,
		InputGrace: s.Command.InputGrace, TermGrace: s.Command.TermGrace, MaxLine: s.Command.MaxLine,
	}
}

// newInstance returns a name that no other shim has.
func newInstance() string { return "i" + rand.Text() }
