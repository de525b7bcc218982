package policy

import (
	"encoding/json"
	"time"
)

// A Decision is what a rule does with a call.
type Decision string

// The decisions. The empty one is that no rule says anything: what the CLI asks
// is then for a person to decide.
const (
	Allow Decision = "allow"
	Ask   Decision = "ask"
	Deny  Decision = "deny"
)

// A Scope says where a rule stands.
type Scope string

// The scopes.
const (
	// ScopeBuiltin is that of our own rules and of the built-in sets.
	ScopeBuiltin Scope = "builtin"
	// ScopeGlobal is that of rules for all sessions.
	ScopeGlobal Scope = "global"
	// ScopeFolder is that of rules for the sessions in a folder.
	ScopeFolder Scope = "folder"
	// ScopeSession is that of one session's rules.
	ScopeSession Scope = "session"
	// ScopeDialed is that of [Options.AutoApprove].
	ScopeDialed Scope = "dialed"
	// ScopeUnauthenticated is that of the section [unauthenticated].
	ScopeUnauthenticated Scope = "unauthenticated"
)

// An Origin says how the CLI of a session came to the hub. It decides which rules
// count, see [Engine.For].
type Origin string

// The origins.
const (
	// OriginHub is that of a CLI that the hub, or a program of its user, started.
	OriginHub Origin = ""
	// OriginDialed is that of a CLI that dialed in with a token.
	OriginDialed Origin = "dialed"
	// OriginUnauthenticated is that of a CLI that dialed in without one.
	OriginUnauthenticated Origin = "unauthenticated"
)

// What enforces a rule, as in [Verdict.Enforced].
const (
	// EnforcedHub is for rules that only we know: they decide what the CLI asks,
	// and with enforce = "hook" every call.
	EnforcedHub = "hub"
	// EnforcedBoth is for rules that the CLI is given too, and obeys unasked.
	EnforcedBoth = "both"
)

// The ways to enforce rules, as in [File.Enforce].
const (
	// EnforceCLI gives the CLI what it understands, and judges what it asks.
	EnforceCLI = "cli"
	// EnforceHook also has every call brought to us.
	EnforceHook = "hook"
)

// A Rule decides about some calls.
type Rule struct {
	// Text is the rule, such as Bash(git status:*). A session's rule may be "*",
	// which stands for everything.
	Text     string
	Decision Decision
	Scope    Scope
	// Source says where the rule is written: file and line, or a set's name.
	Source string
	// ID is that of a session's rule.
	ID string
	// Message is what the model is told, with Deny.
	Message string
	// Expires is when the rule stops to count. If zero, never.
	Expires time.Time
	// Folder is where a session has to run for the rule to count: there or below.
	// It is absolute. If empty, everywhere.
	Folder string
}

// A File is what a rules file says.
type File struct {
	// Name is the file's, for messages.
	Name string
	// Enforce is EnforceCLI or EnforceHook. If empty, EnforceCLI.
	Enforce string
	// Sets are the built-in sets that hold too, see [Sets].
	Sets []string
	// UnauthenticatedSets are the sets of the section [unauthenticated], whose
	// rules are among Rules, with [ScopeUnauthenticated].
	UnauthenticatedSets []string
	Rules               []Rule
}

// Options are what an engine needs to know of the machine.
type Options struct {
	// Home is what "~/" stands for. If empty, rules with it match nothing.
	Home string
	// Own are our folders and files, absolute. They are denied to every agent,
	// and no rule can change that.
	Own []string
	// AutoApprove is what CLIs that dial in may do without a question: rules, names
	// of built-in sets, or "*" for everything; see [CheckAutoApprove]. Deny and ask
	// rules come first, as for all allow rules. If empty, nothing.
	AutoApprove []string
	// Resolve follows links. If nil, [Real].
	Resolve Resolver
	// IsDir reports whether a path without links is a folder. If nil, the operating
	// system is asked.
	IsDir func(path string) bool
	// FoldCase has deny and ask rules match paths in any case. It is always so on
	// macOS and Windows, whose file systems do the same.
	FoldCase bool
}

// A Call is what an agent wants to do.
type Call struct {
	// Tool is the tool's name, Input its input as the CLI will read it.
	Tool  string
	Input json.RawMessage
	// Dir is the session's folder, absolute. AddDirs are others in which it may
	// work.
	Dir     string
	AddDirs []string
	// Links are those of another machine, for an engine that [Engine.On] made: they say
	// where the paths of this call lead, and collect what is not known of them. If nil,
	// nothing is known.
	Links *Links
	// Now is the time for which to decide. If zero, rules that expire count unless
	// they allow.
	Now time.Time
}

// A Verdict is the decision about a call.
type Verdict struct {
	Decision Decision
	// Rule is the one that decided, or the first of several that did so together;
	// nil if none did. It must not be changed.
	Rule *Rule
	// Reason says why, in one sentence.
	Reason string
	// Message is what the model is told, with Deny.
	Message string
	// Enforced says what enforces it: EnforcedHub or EnforcedBoth. It is empty if no
	// rule decided.
	Enforced string
}

// Settings are the rules that a CLI can be given, in its own language.
type Settings struct {
	// Deny and Ask are for the members of the same name in the CLI's permissions.
	Deny, Ask []string
	// HubOnly are the deny and ask rules that the CLI cannot be given: those that
	// its language has no words for, and those that expire.
	HubOnly []Rule
}
