package sandbox

import (
	"context"
	"slices"
)

// A Mode says how much a sandbox holds back.
type Mode string

// The modes of a session. The empty one stands for the hub's default.
const (
	// Off starts the CLI as it is.
	Off Mode = "off"
	// DenyOnly enforces what rules deny, and hides the hub's own files.
	DenyOnly Mode = "deny-only"
	// Strict also makes everything read-only but the working folder, temporary
	// folders and the CLI's own files, and asks before a host is reached.
	Strict Mode = "strict"
)

// A Network says what a process may reach.
type Network string

const (
	// NetworkAll leaves the network as it is.
	NetworkAll Network = "all"
	// NetworkListed leads all connections through a proxy, which allows the
	// hosts of a policy, refuses those that it denies, and asks about others
	// where the policy says so.
	NetworkListed Network = "listed"
	// NetworkNone allows the model's address alone.
	NetworkNone Network = "none"
)

// A Policy is what the rules of a session ask of its sandbox, before it is known
// on which machine the agent runs. The hub makes it.
type Policy struct {
	Mode Mode `json:"mode"`
	// DenyRead and DenyWrite are patterns of paths in the syntax of doublestar,
	// without alternatives in braces, absolute or with ~/ in front, which stands
	// for the home of the user on the machine of the agent. A pattern covers what
	// it matches and everything below. What is denied to be read cannot be written
	// either. A DenyWrite of / leaves temporary folders, caches and the CLI's own
	// files writable.
	DenyRead  []string `json:"deny_read,omitempty"`
	DenyWrite []string `json:"deny_write,omitempty"`
	// Dirs are folders that the agent works in beside its own: absolute, or with
	// ~/ in front.
	Dirs    []string `json:"dirs,omitempty"`
	Network Network  `json:"network"`
	// AllowHosts and DenyHosts are names of hosts: one name, or *.name for all
	// below it. A name is compared without regard to case. Denial wins.
	AllowHosts []string `json:"allow_hosts,omitempty"`
	DenyHosts  []string `json:"deny_hosts,omitempty"`
	// AskHosts has the proxy ask about hosts in neither list. Otherwise a host
	// in no list is allowed if DenyHosts is the reason for the proxy, that is
	// with [DenyOnly], and refused with [Strict].
	AskHosts bool `json:"ask_hosts,omitempty"`
}

// A Visible path is shown although a folder above it is hidden.
type Visible struct {
	Path  string `json:"path"`
	Write bool   `json:"write,omitempty"`
}

// A Profile is a policy resolved on a machine: clean absolute paths that exist,
// with links followed. The launcher makes it, the shim gives it to an enforcer.
//
// The lists Hide, ReadOnly, Writable and Show may have paths that lie within each
// other, and no path is in two of them: for each file the longest path that it is
// at or below decides. What no path decides can be written, unless RootReadOnly
// says otherwise.
type Profile struct {
	Mode Mode `json:"mode"`
	// Enforcer is the name of the enforcer, see [Find].
	Enforcer string `json:"enforcer"`
	// Program is the absolute path of the enforcer's program, if it is one.
	Program string `json:"program,omitempty"`
	// Dir is the working folder.
	Dir string `json:"dir"`
	// Hide are files, folders and sockets that are not there, or empty, for the
	// agent. ReadOnly are those that it cannot change.
	Hide     []string `json:"hide,omitempty"`
	ReadOnly []string `json:"read_only,omitempty"`
	// Writable is all that can be written with [Strict], and otherwise the
	// exceptions in ReadOnly.
	Writable []string `json:"writable,omitempty"`
	// Show are the exceptions in hidden folders: the run's own settings, the
	// files of the simulated CLI.
	Show    []Visible `json:"show,omitempty"`
	Network Network   `json:"network"`
	// Hosts of the proxy, as in [Policy].
	AllowHosts []string `json:"allow_hosts,omitempty"`
	DenyHosts  []string `json:"deny_hosts,omitempty"`
	AskHosts   bool     `json:"ask_hosts,omitempty"`
	// Forward are loopback addresses, as host:port, that lead out of the
	// sandbox's network to the same address outside: a model on this machine.
	Forward []string `json:"forward,omitempty"`
	// UnsetEnv are variables that the CLI does not get, such as those that name
	// a socket which is hidden.
	UnsetEnv []string `json:"unset_env,omitempty"`
	// Nested leaves user namespaces to the processes inside. The CLI's own sandbox
	// needs them; a program that is made for it can undo with them what hides a
	// path in a folder that it can write.
	Nested bool `json:"nested,omitempty"`
}

// RootReadOnly reports whether what no path of the profile decides about can only
// be read.
func (p *Profile) RootReadOnly() bool { return p.Mode == Strict || slices.Contains(p.ReadOnly, "/") }

// A Command is a process to be started.
type Command struct {
	Args []string
	Env  []string
	Dir  string
	// Files are passed on as descriptors 3, 4 and so on.
	Files []int
}

// An Enforcer starts processes in a sandbox. It is stateless; its methods may be
// called concurrently.
type Enforcer interface {
	// Name is bubblewrap, landlock or seatbelt.
	Name() string
	// Check tries whether it works on this machine, by starting something in it.
	// It blocks for as long as that takes, at most until ctx ends or for 10 s.
	Check(ctx context.Context) error
	// Limits says, in sentences for people, what of a profile it cannot hold.
	Limits(p *Profile) []string
	// Wrap returns the command that starts c in the sandbox.
	//
	// The first of c.Files is the end of a [Pair] for [Receive], and is not given
	// to the process; the others are, as descriptors 3, 4 and so on. Without any
	// file a profile whose network is not [NetworkAll] is refused.
	//
	// The files of the result are those of c and further ones, which belong to
	// the caller from then on: it closes them when the process is started, or
	// could not be.
	Wrap(p *Profile, c Command) (Command, error)
}
