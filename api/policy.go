package api

import (
	"encoding/json"
	"time"
)

// A RuleDecision is what a rule does.
type RuleDecision string

// The decisions.
const (
	RuleAllow RuleDecision = "allow"
	RuleAsk   RuleDecision = "ask"
	RuleDeny  RuleDecision = "deny"
)

// A RuleRef names the rule that decided something.
type RuleRef struct {
	// Rule is its text, such as Bash(git status:*).
	Rule     string       `json:"rule"`
	Decision RuleDecision `json:"decision" enum:"allow,ask,deny"`
	// Scope is where it stands: builtin, global, folder, session, or sandbox for what
	// is allowed because a strict sandbox holds it back. Source is the
	// file, the folder or the set; ID is that of a session's rule.
	Scope  string `json:"scope"`
	Source string `json:"source,omitempty"`
	ID     string `json:"id,omitempty"`
	// Reason says why it fits, or what else decided.
	Reason string `json:"reason,omitempty"`
}

// ScopeSandbox is the scope of a [RuleRef] that is no rule: a command was allowed
// because the session allows commands in its strict sandbox.
const ScopeSandbox = "sandbox"

// A SessionRule is a rule for one session. The rule "*" stands for everything
// that is asked: it always has an end.
type SessionRule struct {
	ID       string       `json:"id"`
	Rule     string       `json:"rule"`
	Decision RuleDecision `json:"decision" enum:"allow,ask,deny"`
	Message  string       `json:"message,omitempty" doc:"With deny: the reason, shown to the agent"`
	Created  time.Time    `json:"created"`
	Expires  time.Time    `json:"expires,omitzero"`
	By       string       `json:"by,omitempty"`
	// Pending says that the CLI enforces the rule from its next start on only:
	// until then it counts for what the CLI asks.
	Pending bool `json:"pending,omitempty"`
}

// AddRule adds a rule to a session.
type AddRule struct {
	ClientID string       `json:"client_id,omitempty" maxLength:"128"`
	Rule     string       `json:"rule" maxLength:"4096" doc:"A rule such as Bash(git status:*), or * for everything"`
	Decision RuleDecision `json:"decision" enum:"allow,ask,deny"`
	Message  string       `json:"message,omitempty" maxLength:"4096"`
	// For is how long it holds, in seconds; 0 means for good. A rule that allows
	// everything needs an end, of at most a day.
	For int64 `json:"for,omitempty" minimum:"0" doc:"Lifetime in seconds"`
}

// RuleRemoved says that a rule of a session does not hold any more.
type RuleRemoved struct {
	ID string `json:"id"`
	// Reason is expired, or empty if a client removed it.
	Reason string `json:"reason,omitempty"`
}

// A Decision is one that a rule made by itself, about a call that no person was
// asked about. Decisions about questions are in the questions.
type Decision struct {
	Tool      string          `json:"tool"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	Rule      RuleRef         `json:"rule"`
	// Enforced says what enforces the rule: cli, hub or both. Message is what the
	// model is told. Both are only known when a client asks for an explanation.
	Enforced string `json:"enforced,omitempty"`
	Message  string `json:"message,omitempty"`
}

// Policy says which rules are in force.
type Policy struct {
	// File is the rules file, Loaded when it was read. Problem says why it cannot
	// be used as it is: the rules before it hold.
	File    string    `json:"file,omitempty"`
	Missing bool      `json:"missing,omitempty" doc:"Whether the rules file does not exist, which is no problem"`
	Loaded  time.Time `json:"loaded,omitzero"`
	Problem string    `json:"problem,omitempty"`
	// Enforce is cli or hook.
	Enforce string       `json:"enforce,omitempty" enum:"cli,hook"`
	Rules   []PolicyRule `json:"rules"`
	// Pending is a change that waits for a confirmation, since it allows
	// more than before.
	Pending *PolicyChange `json:"pending,omitempty"`
}

// A PolicyRule is a rule of the rules file, of a built-in set, or of ours.
type PolicyRule struct {
	Rule     string       `json:"rule"`
	Decision RuleDecision `json:"decision" enum:"allow,ask,deny"`
	Scope    string       `json:"scope" enum:"builtin,global,folder,dialed,unauthenticated"`
	Source   string       `json:"source,omitempty"`
	Message  string       `json:"message,omitempty"`
	Expires  time.Time    `json:"expires,omitzero"`
	// Enforced says what stops a call: cli, hub or both.
	Enforced string `json:"enforced,omitempty"`
}

// A PolicyChange is a new version of the rules file that allows more.
type PolicyChange struct {
	// Sum names the version; it has to be given to confirm it.
	Sum string `json:"sum"`
	// Widens says, line by line, what it would allow that is not allowed now.
	Widens []string `json:"widens"`
}

// ConfirmPolicy confirms a change of the rules.
type ConfirmPolicy struct {
	Sum string `json:"sum" doc:"The change to confirm: Policy.Pending.Sum"`
}
