package api

import "time"

// A Sandbox is what the operating system holds the processes of a run back by.
type Sandbox struct {
	// Mode is off, deny-only or strict.
	Mode string `json:"mode" enum:"off,deny-only,strict"`
	// Enforcer is bubblewrap, landlock, seatbelt or none.
	Enforcer string `json:"enforcer" enum:"bubblewrap,landlock,seatbelt,none"`
	// Network is all, listed or none.
	Network   string `json:"network,omitempty" enum:"all,listed,none" doc:"What the agent's processes can reach: everything, what rules and people allow, or the model alone"`
	AutoAllow bool   `json:"auto_allow,omitempty" doc:"Whether commands are allowed without a question"`
	// Hidden and ReadOnly count paths.
	Hidden   int `json:"hidden,omitempty" doc:"Number of paths that are hidden"`
	ReadOnly int `json:"read_only,omitempty" doc:"Number of paths that cannot be written"`
	// Limits are sentences about what the enforcer cannot hold, Reason says why
	// there is none.
	Limits []string `json:"limits,omitempty"`
	Reason string   `json:"reason,omitempty" doc:"Why nothing is enforced, if the enforcer is none"`
}

// A SandboxRefusal is something that a sandbox has refused.
type SandboxRefusal struct {
	// Kind is network or file.
	Kind string `json:"kind" enum:"network,file"`
	Host string `json:"host,omitempty"`
	Port int    `json:"port,omitempty"`
	Path string `json:"path,omitempty"`
	// Command is the program that tried, with its arguments, where it is known.
	Command string `json:"command,omitempty" doc:"The program that tried, with its arguments, redacted"`
	// ToolUseID is the call during which it happened, if there was exactly one.
	ToolUseID string `json:"tool_use_id,omitempty"`
	// Rule is the rule that denied it, Reason says why if there is none.
	Rule   *RuleRef  `json:"rule,omitempty"`
	Reason string    `json:"reason,omitempty"`
	Count  int       `json:"count,omitempty" doc:"How often, if it was refused several times in a row"`
	Time   time.Time `json:"time,omitzero"`
}
