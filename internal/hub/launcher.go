package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/sandbox"
)

// A Launcher starts the processes of sessions on one machine and finds what became
// of them. Its methods are safe for concurrent use. On a machine that is not
// connected Life returns [LifeUnknown] and the others an *[UnreachableError].
type Launcher interface {
	// Start starts a run and returns as soon as its shim runs; the shim connects
	// by itself. The error says in one sentence why it could not be started. On
	// another machine the same session and run are started once, however often they
	// are asked for; an *[UnreachableError] says that it is not known whether the run
	// was started.
	Start(ctx context.Context, spec LaunchSpec) (*Launched, error)
	// Life says what is known of a process.
	Life(ctx context.Context, p Process) Life
	// Sweep ends everything that carries a run's marker and returns how many
	// processes that were.
	Sweep(ctx context.Context, marker string) (int, error)
	// History returns the lines of a conversation from the CLI's transcript. The
	// error is fs.ErrNotExist if there is none.
	History(ctx context.Context, configDir, dir, conversation string) (iter.Seq2[[]byte, error], error)
	// Plan returns the file that an agent has written its plan to. The error is
	// fs.ErrNotExist if there is none.
	Plan(ctx context.Context, q PlanQuery) (*PlanFile, error)
	// Resolve follows the links in absolute paths, as that machine does: see
	// [policy.Real]. There is one result for each path, in their order.
	Resolve(ctx context.Context, paths []string) ([]Resolved, error)
}

// A Life is what is known of a process. A machine that cannot be reached tells
// nothing: its processes are not dead.
type Life int

// What can be known of a process.
const (
	LifeUnknown Life = iota
	LifeAlive
	LifeDead
)

// String returns the word for it.
func (l Life) String() string {
	switch l {
	case LifeAlive:
		return "alive"
	case LifeDead:
		return "dead"
	case LifeUnknown:
	}
	return "unknown"
}

// A Process is the process of a run.
type Process struct {
	Session string
	Run     int
	// PID and PIDStart name the shim's process. PID is 0 if its start was never
	// confirmed.
	PID      int
	PIDStart string
}

// A Resolved is where a path leads. Err says why that is not known, "" if it is.
type Resolved struct {
	Path string
	Err  string
}

// An UnreachableError says that a machine could not be asked.
type UnreachableError struct {
	// Node is the machine's name.
	Node string
	// Err is what went wrong; nil if the machine is simply not connected.
	Err error
}

// Error says what to do.
func (e *UnreachableError) Error() string {
	text := fmt.Sprintf("the machine %q is not connected; start switchboard node run there", e.Node)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns what went wrong.
func (e *UnreachableError) Unwrap() error { return e.Err }

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
	// Sandbox is what the rules ask of the sandbox.
	Sandbox sandbox.Policy
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
	// Sandbox is what the CLI was started in.
	Sandbox api.Sandbox
}
