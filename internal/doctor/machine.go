package doctor

import (
	"context"
	"errors"
	"io/fs"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/launch"
	"github.com/switchboard-dev/switchboard/wire"
)

// A Machine is what is looked at. Functions that are nil cannot be asked, and what they would tell is skipped.
type Machine struct {
	// Version is that of this program, Program what a shell calls it by.
	Version, Program string
	// OS is the system, as Go names it; UID the user.
	OS  string
	UID int
	// Getenv returns a variable of the environment.
	Getenv func(string) string
	// Terminal is where the report is shown.
	Terminal Terminal

	// ConfigFile and RulesFile are the files, which need not exist; SecretFiles those that the configuration names and that others must not read.
	ConfigFile, RulesFile string
	SecretFiles           []string
	// ConfigErr is what is wrong with the settings; DataDir and Socket may be empty then. SocketErr is what is wrong with the socket's path.
	ConfigErr, SocketErr error
	// DataDir is the data folder, Socket the hub's.
	DataDir, Socket string
	// DataDirNamed and ConfigNamed say that flags name data folder and configuration file: commands that fix something have to name them, too.
	DataDirNamed, ConfigNamed bool
	// Address is the address that the settings name for the hub; empty means the usual ports.
	Address string
	// Agent is the agent that the settings name; UseAPIBilling says that agents get the API key.
	Agent         string
	UseAPIBilling bool

	// SandboxMode is the mode of sandboxes that the settings name, Sandbox finds out which work.
	SandboxMode string
	Sandbox     func(context.Context) *launch.SandboxCheck

	// Trust returns an error of package trust if another user could change what is in a folder.
	Trust func(dir string) error
	// Stat looks at a file without following a link, List lists a folder.
	Stat func(path string) (File, error)
	List func(path string) ([]string, error)
	// Volume looks at the file system that a path is on.
	Volume func(path string) (Volume, error)
	// CLIs returns every Claude Code.
	CLIs func(context.Context) []CLI
	// Hub asks the hub; the error is [ErrNoHub] if none listens. Holder is the process that holds the data folder, 0 if none is known.
	Hub    func(context.Context) (*api.Info, error)
	Holder func() int
	// Policy asks the hub for the rules.
	Policy func(context.Context) (*api.Policy, error)
	// Port finds out what listens on a port of 127.0.0.1.
	Port func(ctx context.Context, port int) Port
	// Journal looks at the journal; the error is [fs.ErrNotExist] if there is none.
	Journal func(context.Context) (*Journal, error)
	// Runs returns what is on disk of agents.
	Runs func() ([]launch.RunFolder, error)
	// Command runs a program of the system and returns what it writes.
	Command func(ctx context.Context, name string, args ...string) (string, error)
}

// ErrNoHub means that no hub is running.
var ErrNoHub = errors.New("no hub is running")

// A File is what is known of one.
type File struct {
	// Mode is its type and its rights.
	Mode fs.FileMode
	// UID is its owner; -1 if the system does not tell.
	UID int
}

// A Volume is a file system.
type Volume struct {
	// Type names it, such as "ext4"; empty if it is not known.
	Type string
	// Network says that it is on another machine.
	Network bool
	// Free is how much room there is for this user, in bytes.
	Free uint64
}

// A CLI is a Claude Code that was found.
type CLI struct {
	// Path is the file.
	Path string
	// Version is zero if it is not known.
	Version wire.Version
	// Script says that it needs Node.js.
	Script bool
	// Err says why it cannot be used.
	Err error
}

// A Port is what listens there.
type Port int

// What may listen on a port.
const (
	PortFree Port = iota
	PortHub
	PortOther
)

// A Journal is what is known of one.
type Journal struct {
	// Size is how much it takes in all, in bytes.
	Size int64
	// Sessions and Entries are how many it has.
	Sessions, Entries int64
	// Checked says that all of it was read, Wrong what was wrong with it; Unchecked says why not.
	Checked   bool
	Wrong     []string
	Unchecked string
	// Lost says what it has lost lately.
	Lost []string
}

// A Terminal is where the report is shown.
type Terminal struct {
	// Is says that it is one.
	Is bool
	// Cols and Rows are its size.
	Cols, Rows int
	// Color says that colours are used, ASCII that no other characters can be shown.
	Color, ASCII bool
}
