package hub

import (
	"context"
	"encoding/json"
	"iter"
	"time"

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
	// Plan returns the file that an agent has written its plan to. The error is
	// fs.ErrNotExist if there is none.
	Plan(ctx context.Context, q PlanQuery) (*PlanFile, error)
}

// A PlanQuery says whose plan is looked for.
type PlanQuery struct {
	// ConfigDir is the CLI's own folder, Dir the session's.
	ConfigDir, Dir string
	// Conversation is the CLI's session_id.
	Conversation string
	// Path is the plan's file where the CLI has told it.
	Path string
	// Agent is the sub-agent whose plan it is.
	Agent string
	// Since is when the run began: an older file is another conversation's.
	Since time.Time
	// Settings are those that the session was given.
	Settings json.RawMessage
}

// A PlanFile is a plan as it was found.
type PlanFile struct {
	Path, Text string
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
	// BypassingAgents says that the CLI will be told of sub-agents that work without
	// asking.
	BypassingAgents bool
	// Deny and Ask are the rules that the CLI is to enforce itself.
	Deny, Ask []string
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
