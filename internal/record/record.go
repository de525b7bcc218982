package record

import (
	"encoding/json"
	"slices"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// The transports of runs.
const (
	TransportShim      = "shim"
	TransportTee       = "tee"
	TransportWebSocket = "websocket"
	TransportHybrid    = "hybrid"
	TransportRelay     = "relay"
)

// CommandPrompt is the kind of a command that begins a turn.
const CommandPrompt = "prompt"

// Created is the data of kind created.
type Created struct {
	Title   string             `json:"title,omitempty"`
	Dir     string             `json:"dir,omitempty"`
	Epoch   string             `json:"epoch"`
	Options api.SessionOptions `json:"options,omitzero"`
	Fork    string             `json:"fork_of,omitempty"`
	Resume  string             `json:"resume,omitempty"`
	Copy    bool               `json:"copy,omitempty"` // of the conversation
	At      string             `json:"at,omitempty"`
	Direct  bool               `json:"direct,omitempty"`
	// Node and NodeName are the id and the name of the machine that its agents run on,
	// "" for the hub's own.
	Node     string `json:"node,omitempty"`
	NodeName string `json:"node_name,omitempty"`
}

// RunStarted is the data of kind run_started.
type RunStarted struct {
	Run       int                 `json:"run"`
	Transport string              `json:"transport"`
	Resume    string              `json:"resume,omitempty"`
	Fork      bool                `json:"fork,omitempty"`
	At        string              `json:"at,omitempty"`
	Options   *api.SessionOptions `json:"options,omitempty"`
	// Enforced are the rules that the CLI is given, Plan is the question whose
	// plan the run carries out.
	Enforced Enforced `json:"enforced,omitzero"`
	Plan     string   `json:"plan,omitempty"`
	// Registration is the initialize request of the program that drives the
	// session, if the run is the first.
	Registration json.RawMessage `json:"registration,omitempty"`
	// Unauthenticated says that the CLI dialled in without a credential.
	Unauthenticated bool `json:"unauthenticated,omitempty"`
	// Relay is the one that the run is reached through, nil for all others.
	Relay *Relay `json:"relay,omitempty"`
	// Hosts are those that the sandbox of the run has lists of.
	Hosts Hosts `json:"hosts,omitzero"`
	// Node and NodeName are those of [Created].
	Node     string `json:"node,omitempty"`
	NodeName string `json:"node_name,omitempty"`
}

// Hosts are those that a sandbox allows and denies without asking.
type Hosts struct {
	Allow []string `json:"allow,omitempty"`
	Deny  []string `json:"deny,omitempty"`
}

// A Relay is a relay of another program that shows its agents to front ends.
type Relay struct {
	// URL is its address.
	URL string `json:"url"`
	// Rules says that rules judge what its agents ask. Otherwise people answer.
	Rules bool `json:"rules,omitempty"`
}

// Enforced are the rules that a CLI was given to enforce itself.
type Enforced struct {
	Deny []string `json:"deny,omitempty"`
	Ask  []string `json:"ask,omitempty"`
	// Fixed are those that it was started with: a CLI cannot be made to forget
	// them while it runs.
	Fixed []string `json:"fixed,omitempty"`
}

// Equal reports whether a CLI that was given one needs not be given the other.
func (e Enforced) Equal(o Enforced) bool {
	return slices.Equal(e.Deny, o.Deny) && slices.Equal(e.Ask, o.Ask)
}

// RunFound is the data of kinds link_up and run_launched.
type RunFound struct {
	Version   string `json:"version,omitempty"`
	Simulated bool   `json:"simulated,omitempty"`
	ConfigDir string `json:"config_dir,omitempty"`
	Back      bool   `json:"back,omitempty"`
	PID       int    `json:"pid,omitempty"`
	// Runner is the version of the environment that the CLI runs in, as it said
	// when it dialled in.
	Runner string `json:"runner,omitempty"`
	// Sandbox is what it was started in; nil if that is not told here.
	Sandbox *api.Sandbox `json:"sandbox,omitempty"`
}

// LinkLost is the data of kind link_lost.
type LinkLost struct {
	Reason string `json:"reason"`
}

// State is the data of kind state.
type State struct {
	State api.State `json:"state"`
}

// Updated is the data of kind updated: what is not nil has changed.
type Updated struct {
	Title    *string `json:"title,omitempty"`
	Archived *bool   `json:"archived,omitempty"`
	// What the next run is started with.
	Model             *string              `json:"model,omitempty"`
	PermissionMode    *wire.PermissionMode `json:"permission_mode,omitempty"`
	MaxThinkingTokens *int                 `json:"max_thinking_tokens,omitempty"`
	// Enforced are the rules that the CLI was given meanwhile.
	Enforced *Enforced `json:"enforced,omitempty"`
	// NoPlan gives up a plan that was to be carried out by a new process.
	NoPlan bool `json:"no_plan,omitempty"`
}

// Sent is the data of kind sent; the line is in the entry.
type Sent struct {
	Command string `json:"command"`
	Kind    string `json:"kind"`
	Number  int64  `json:"number"`
}

// Hold is the data of kind hold, with what is not shown of it. An entry with
// the id of an open hold changes that one.
type Hold struct {
	api.Hold
	// Unit and Day are those of the budget's meter, and At is the limit that was
	// reached. Limit is the kind of a rate limit.
	Unit  string  `json:"unit,omitempty"`
	Day   string  `json:"day,omitempty"`
	At    float64 `json:"at,omitempty"`
	Limit string  `json:"limit,omitempty"`
	// Changed says that it was open before.
	Changed bool `json:"changed,omitempty"`
}

// HoldOver is the data of kind hold_over.
type HoldOver struct {
	api.HoldOver
	// Granted is what may be used beyond the budget from now on.
	Granted *Grant `json:"granted,omitempty"`
}

// A Grant is a limit that takes the place of a budget's own, for one session.
// From is what was used when it was granted: warnings count from there.
type Grant struct {
	Budget string  `json:"budget"`
	Unit   string  `json:"unit"`
	Day    string  `json:"day,omitempty"`
	From   float64 `json:"from"`
	Limit  float64 `json:"limit"`
}

// Budget is the data of kind budget: a budget is used up, or nearly so.
type Budget struct {
	api.BudgetUse
	Day string `json:"day,omitempty"`
}

// Unknown is what a session has counted in the lines of its CLI that is not
// known, as far as it is read of a stored projection of a session.
type Unknown struct {
	Version string `json:"version"`
	State   struct {
		Version string     `json:"version"`
		Drift   fold.Drift `json:"drift"`
	} `json:"state"`
}
