package api

import "time"

// A Hold says that a session's queue is held back, and why.
type Hold struct {
	// ID names it, for Release.
	ID string `json:"id"`
	// Kind is budget or rate_limit.
	Kind string `json:"kind" enum:"budget,rate_limit"`
	// Reason says what is used up, in one sentence.
	Reason string    `json:"reason"`
	Since  time.Time `json:"since"`
	// Until is when the limit is over, where that is known; Resumes says that
	// the queue then goes on by itself.
	Until   time.Time `json:"until,omitzero"`
	Resumes bool      `json:"resumes,omitempty"`
	// Budget is the budget that is used up, by its name.
	Budget string `json:"budget,omitempty"`
}

// Release lets a session go on that is held back.
type Release struct {
	ClientID string `json:"client_id,omitempty" maxLength:"128"`
	// Hold is the one that is meant; all if it is empty.
	Hold string `json:"hold,omitempty"`
	// AtReset does not release at once: the queue goes on when the rate limit is
	// over.
	AtReset bool `json:"at_reset,omitempty"`
	// USD, Turns and Seconds are how much more may be used before it is held
	// again. If all are zero, as much again as the budget has.
	USD     float64 `json:"usd,omitempty" minimum:"0"`
	Turns   int64   `json:"turns,omitempty" minimum:"0"`
	Seconds int64   `json:"seconds,omitempty" minimum:"0"`
}

// A BudgetUse says how much of a budget is used, as far as it concerns a
// session.
type BudgetUse struct {
	Name string `json:"name"`
	// Per is session, folder or day. Unit is usd, turns, wall or idle.
	Per    string  `json:"per" enum:"session,folder,day"`
	Unit   string  `json:"unit" enum:"usd,turns,wall,idle"`
	Limit  float64 `json:"limit"`
	Used   float64 `json:"used"`
	Action string  `json:"action" enum:"warn,ask,interrupt"`
	// Over says that it is used up.
	Over bool `json:"over,omitempty"`
	// Scope is the session or folder that has used so much, where all are asked
	// for.
	Scope string `json:"scope,omitempty"`
}

// A HoldOver says that a hold is over.
type HoldOver struct {
	ID     string `json:"id"`
	Reason string `json:"reason,omitempty" doc:"released, reset or gone"`
}

// A ModeChange says that the agent is in another permission mode.
type ModeChange struct {
	Mode string `json:"mode"`
	Was  string `json:"was,omitempty"`
	// Tool is EnterPlanMode or ExitPlanMode if the agent itself changed it.
	Tool string `json:"tool,omitempty"`
}
