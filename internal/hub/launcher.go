package hub

import (
	"context"
	"iter"

	"github.com/switchboard-dev/switchboard/api"
)

// A Launcher starts the processes of sessions and finds what became of them.
// Its methods are safe for concurrent use.
type Launcher interface {
	// Start starts a run and returns as soon as its shim runs; the shim connects
	// by itself. The error says in one sentence why it could not be started.
	Start(ctx context.Context, spec LaunchSpec) (*Launched, error)
	// Alive reports whether the process with this pid and start time lives.
	Alive(pid int, start string) bool
	// Sweep ends everything that carries a run's marker and returns how many
	// processes that were.
	Sweep(ctx context.Context, marker string) (int, error)
	// History returns the lines of a conversation from the CLI's transcript. The
	// error is fs.ErrNotExist if there is none.
	History(ctx context.Context, configDir, dir, conversation string) (iter.Seq2[[]byte, error], error)
}

// A LaunchSpec says what to start.
type LaunchSpec struct {
	Session string
	Run     int
	// Token is the credential that the shim shows, Marker the value that
	// everything which the run starts carries in its environment.
	Token  string
	Marker string
	Dir    string
	// Resume is the conversation to go on with, At the uuid of the last message
	// to keep of it, Fork whether to go on under a new id.
	Resume string
	At     string
	Fork   bool
	// Options are the session's.
	Options api.SessionOptions
}

// Launched says what was started.
type Launched struct {
	// PID and PIDStart name the shim's process.
	PID      int
	PIDStart string
	// Version is the CLI's, "" if it is not known.
	Version string
	// Simulated says that the agent is a simulation.
	Simulated bool
	// ConfigDir is the folder in which the CLI keeps its conversations.
	ConfigDir string
}
