package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/switchboard-dev/switchboard/internal/trust"
	"github.com/switchboard-dev/switchboard/wire"
)

// A Config holds all settings. In the zero value nothing is set; [Default] has the defaults.
type Config struct {
	Server    Server
	Claude    Claude
	Rules     Rules
	Questions Questions
	Limits    Limits
	Budgets   []Budget
	Notify    Notify
	Retention Retention
	Shim      Shim
	Dial      Dial
	Direct    Direct
	Agents    Agents
	Sandbox   Sandbox
	Node      Node
	Presets   []Preset
}

// Node is the section [node]: this machine as a node of a hub elsewhere. The sections [claude] (path), [shim] and [sandbox] count there, too.
type Node struct {
	// DataDir is the node's own folder. If empty, [NodeDir] has the default.
	DataDir Folder
	// MaxSessions is how many sessions with a process the machine takes at most. Zero means as many as the hub says.
	MaxSessions int
}

// Server is the section [server].
type Server struct {
	// Addr is the TCP address to listen on. If empty, the first free port from 8765 to 8774 on 127.0.0.1. Beyond loopback it needs TLS, or
	// BehindProxy or InsecureLAN.
	Addr Address
	// DataDir is the folder for the journal and all other files. If empty, [Paths] has the default.
	DataDir Folder
	// Durability is normal or full.
	Durability Durability
	// URL is the address that others know the server by. If empty, the one that it listens on.
	URL Site
	// TLSCert and TLSKey are the files of a certificate. If empty, there is no TLS.
	TLSCert, TLSKey Folder
	// TLSSelfSigned has the server make a certificate of its own, which clients know by its fingerprint.
	TLSSelfSigned bool
	// BehindProxy says that a proxy with TLS is in front of the server.
	BehindProxy bool
	// InsecureLAN has the server listen beyond loopback without TLS.
	InsecureLAN bool
	// OpenRelay are the origins of web pages that may use the raw relay without a token.
	OpenRelay []string
	// OpenRelayApprove has them answer questions, too.
	OpenRelayApprove bool
	// MaxConnections, MaxPerAddress and MaxUnknown bound connections over TCP: in all, from one address, and of clients that have not shown a
	// valid token yet.
	MaxConnections, MaxPerAddress, MaxUnknown int
}

// Direct is the section [direct]: what clients of Direct Connect may do.
type Direct struct {
	// AllowBypass lets them have sessions that ask for nothing, if DangerouslySkipPermissions does.
	AllowBypass bool
	// Folders are those that their sessions may work in, and in what is below. If empty, all.
	Folders []string
}

// Agents is the section [agents].
type Agents struct {
	// RawFlags lets sessions name flags of the CLI that we know nothing of.
	RawFlags bool
}

// Claude is the section [claude]: how agents are started unless a session says otherwise.
type Claude struct {
	// Path is the program to start. If empty, it is looked for.
	Path Folder
	// Model is the model of sessions that name none. If empty, the CLI's own default.
	Model string
	// AllowedTools are permission rules that every session is given, such as "Bash(git status:*)".
	AllowedTools []string
	// PermissionMode is the mode of sessions that name none.
	PermissionMode Mode
	// DangerouslySkipPermissions consents to sessions without permission questions. A session still has to ask for it.
	DangerouslySkipPermissions bool
	// UseAPIBilling leaves ANTHROPIC_API_KEY in the environment of agents, which then bill it instead of using the login.
	UseAPIBilling bool
}

// Rules is the section [rules]: what agents may do without asking, and what never.
type Rules struct {
	// File is the file with the rules, see docs/rules.md. If empty, [RulesFile] has the default. It need not exist.
	File Folder
}

// Questions is the section [questions].
type Questions struct {
	// Deadline is how long a question may wait while a client could show it. Zero means for ever.
	Deadline Duration
}

// Limits is the section [limits]: what to do about the limits of an account.
type Limits struct {
	// ResumeAtReset has sessions that a limit holds back go on by themselves when it is over.
	ResumeAtReset bool
}

// Retention is the section [retention]: how much of ended sessions is kept. Zero means all.
type Retention struct {
	// MaxAge removes sessions that ended longer ago.
	MaxAge Duration
	// MaxBytes removes the oldest ended sessions until the rest takes no more.
	MaxBytes Size
}

// Shim is the section [shim]: what an agent does while there is no server.
type Shim struct {
	// OrphanAfter is how long it goes on.
	OrphanAfter Duration
	// IdleOrphanAfter is how long it waits if it has nothing to do and asks nothing.
	IdleOrphanAfter Duration
}

// Dial is the section [dial]: agents that dial in.
type Dial struct {
	// Silence is how long an agent that reconnected may be silent before a turn whose end may have been lost counts as over.
	Silence Duration
	// Open lets in agents of this machine that bring no token; MaxOpen is how many at a time.
	Open    bool
	MaxOpen int
	// AutoApprove is what agents that dial in may do without a question: rules, names of built-in sets, or "*".
	AutoApprove []string
}

// Default returns the settings that hold where nothing is set.
func Default() *Config {
	return &Config{
		Server:  Server{Durability: DurabilityNormal, MaxConnections: 4096, MaxPerAddress: 1024, MaxUnknown: 256},
		Claude:  Claude{PermissionMode: Mode(wire.PermissionModeDefault)},
		Shim:    Shim{OrphanAfter: Duration(24 * time.Hour), IdleOrphanAfter: Duration(time.Hour)},
		Dial:    Dial{Silence: Duration(30 * time.Second), MaxOpen: 64},
		Sandbox: Sandbox{Mode: SandboxAuto, Enforcer: SandboxAuto, Network: SandboxAsk},
	}
}

// An Error says what is wrong with a setting, and where.
type Error struct {
	// Source is the file or the environment variable.
	Source string
	// Line and Column are the place in a file, from 1; 0 if it is none.
	Line, Column int
	// Reason says what is wrong.
	Reason string
}

// Error returns place and reason, as compilers print them.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Source + ": " + e.Reason
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.Source, e.Line, e.Column, e.Reason)
}

// maxFile bounds a file of settings. A larger one is a mistake in its name.
const maxFile = 1 << 20

// Load returns the defaults with the file's settings over them, and those of the environment over both. getenv returns the value of a
// variable, "" if it is not set. A file that does not exist is an error only if it must be there. A caller that sets more calls [Config.Check]
// afterwards.
func Load(file string, must bool, getenv func(string) string) (*Config, error) {
	c := Default()
	text, err := ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !must:
	case err != nil:
		return nil, err
	default:
		if err := c.Parse(file, text, getenv("HOME")); err != nil {
			return nil, err
		}
	}
	if err := c.Environment(getenv); err != nil {
		return nil, err
	}
	return c, nil
}

// ReadFile reads a file that says what agents may do: it belongs to the user or root, no other user may be able to change or replace it, and it is no
// larger than 1 MiB. The error is fs.ErrNotExist if there is none, and an *[Error] if it cannot be trusted.
func ReadFile(name string) ([]byte, error) {
	if name == "" {
		return nil, fs.ErrNotExist
	}
	// To open a pipe would wait for a writer.
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, &Error{Source: name, Reason: "this is no file"}
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading settings: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading settings: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, &Error{Source: name, Reason: "this is no file"}
	}
	if err := trusted(name, info); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("reading settings: %w", err)
	}
	if len(text) > maxFile {
		return nil, &Error{Source: name, Reason: "it is larger than 1 MiB, which no file of settings is"}
	}
	return text, nil
}

// trusted refuses a file that another user could change or replace.
func trusted(name string, info fs.FileInfo) error {
	// It may be a link, as programs that manage settings make them: both ends count.
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return fmt.Errorf("reading settings: %w", err)
	}
	for _, err := range []error{trust.Content(name, info), trust.Folder(filepath.Dir(name)), trust.Folder(filepath.Dir(real))} {
		if refused, ok := errors.AsType[*trust.Error](err); ok {
			reason := refused.Reason + "; " + refused.Fix
			if refused.Path != name {
				reason = refused.Error()
			}
			return &Error{Source: name, Reason: reason}
		}
		if err != nil {
			return fmt.Errorf("reading settings: %w", err)
		}
	}
	return nil
}

// Check looks for settings that are right each by itself and make no sense together.
func (c *Config) Check() error {
	if c.Shim.OrphanAfter < c.Shim.IdleOrphanAfter {
		return fmt.Errorf("shim.orphan_after (%s) is shorter than shim.idle_orphan_after (%s); an agent at work must not be ended before an idle one",
			c.Shim.OrphanAfter, c.Shim.IdleOrphanAfter)
	}
	if c.Dial.Silence < leastSilence {
		return fmt.Errorf("dial.silence (%s) is shorter than %s; an agent at work would be taken for an idle one", c.Dial.Silence, leastSilence)
	}
	switch {
	case c.Dial.MaxOpen < 1:
		return fmt.Errorf("dial.max_open is %d, which admits no agent; write 1 or more", c.Dial.MaxOpen)
	case c.Dial.Open && (c.Server.BehindProxy || c.Server.InsecureLAN || c.Server.URL != "" || !c.Server.Addr.loopback()):
		return errors.New("dial.open (--open-dial-in) admits agents on this machine without a token; it cannot be combined with server.url, " +
			"server.behind_proxy, server.insecure_lan or an address that others can reach. Listen on 127.0.0.1, or have agents bring a token: switchboard token create --session")
	}
	if c.Node.MaxSessions < 0 || c.Node.MaxSessions > maxNodeSessions {
		return fmt.Errorf("node.max_sessions is %d; write 1 to %d, or 0 for as many as the hub says", c.Node.MaxSessions, maxNodeSessions)
	}
	if err := c.Sandbox.check(); err != nil {
		return err
	}
	return c.Server.check()
}

// maxNodeSessions is how many sessions with a process a node has at most.
const maxNodeSessions = 10_000

// leastSilence is the shortest time that [Dial.Silence] can be.
const leastSilence = Duration(time.Second)
