package api

import (
	"encoding/json"
	"time"
)

// A QuestionKind is the kind of a question.
type QuestionKind string

// The kinds.
const (
	QuestionPermission QuestionKind = "permission"
	QuestionChoice     QuestionKind = "choice"
	QuestionPlan       QuestionKind = "plan"
	QuestionForm       QuestionKind = "form"
	QuestionDialog     QuestionKind = "dialog"
)

// A QuestionState is what became of a question.
type QuestionState string

// The states of a question.
const (
	QuestionOpen            QuestionState = "open"
	QuestionAnswered        QuestionState = "answered"
	QuestionAnsweredTooLate QuestionState = "answered_too_late"
	QuestionCancelled       QuestionState = "cancelled"
)

// A Question is something that an agent asks and waits for.
type Question struct {
	ID        string        `json:"id"`
	Session   string        `json:"session"`
	Run       int           `json:"run"`
	RequestID string        `json:"request_id" doc:"The CLI's own id"`
	Kind      QuestionKind  `json:"kind" enum:"permission,choice,plan,form,dialog"`
	State     QuestionState `json:"state" enum:"open,answered,answered_too_late,cancelled"`
	Tool      string        `json:"tool,omitempty"`
	ToolUseID string        `json:"tool_use_id,omitempty"`
	AgentID   string        `json:"agent_id,omitempty" doc:"The sub-agent that asks"`
	// Title, Description, Why and BlockedPath are what the CLI says about a tool
	// call: what it is, what it would do, and why it is asked.
	Title       string `json:"title,omitempty" doc:"What the tool will do, in one line"`
	Description string `json:"description,omitempty" doc:"The purpose that the agent gives"`
	Why         string `json:"why,omitempty" doc:"Why the CLI asks"`
	BlockedPath string `json:"blocked_path,omitempty" doc:"The path that caused the question"`
	// Suggestions are what may be allowed for good, see Answer.Always.
	Suggestions []Suggestion `json:"suggestions,omitempty"`
	// Choices are the questions of a choice, Plan is the plan of a plan review.
	Choices []Choice `json:"choices,omitempty"`
	Plan    *Plan    `json:"plan,omitempty"`
	// Request is the CLI's request as it came.
	Request json.RawMessage `json:"request"`
	Opened  time.Time       `json:"opened"`
	// Deadline is how long the question may wait while a client could show it, in
	// seconds; 0 means for ever.
	Deadline int `json:"deadline,omitempty"`
	// Stale says that the process that asked has ended: only what starts another
	// can still be answered.
	Stale   bool      `json:"stale,omitempty"`
	Settled time.Time `json:"settled,omitzero"`
	By      string    `json:"by,omitempty" doc:"Who answered or cancelled"`
	From    string    `json:"from,omitempty" doc:"Where the answer came from: person, program or hub"`
	Reason  string    `json:"reason,omitempty" doc:"Why it was cancelled, or answered automatically"`
	// Rule is the rule that answered, or that has the person asked.
	Rule   *RuleRef `json:"rule,omitempty"`
	Answer *Answer  `json:"answer,omitempty" doc:"The answer"`
	// Delivery is how far the answer has come.
	Delivery MessageState `json:"delivery,omitempty"`
}

// A Suggestion is an update of the permissions that the CLI offers with a
// question. Its place in the list is its name.
type Suggestion struct {
	// Text says in one line what it allows.
	Text string `json:"text"`
	// Update is the CLI's own object, Destination where the CLI would keep it.
	Update      json.RawMessage `json:"update"`
	Destination string          `json:"destination,omitempty"`
}

// A Choice is one question of an AskUserQuestion call.
type Choice struct {
	Question string   `json:"question" doc:"The text, used as the key of its answer"`
	Header   string   `json:"header,omitempty"`
	Multiple bool     `json:"multiple,omitempty" doc:"Several options may be chosen"`
	Options  []Option `json:"options,omitempty"`
}

// An Option is one that can be chosen.
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
	Preview     string `json:"preview,omitempty" doc:"Preview of this option"`
}

// A PlanOutcome is an answer to a plan.
type PlanOutcome string

// The outcomes of a plan review.
const (
	// PlanFresh approves the plan, and has a new process carry it out that knows
	// nothing but the plan. Edits are accepted without asking.
	PlanFresh PlanOutcome = "fresh"
	// PlanAcceptEdits approves it; edits are accepted without asking.
	PlanAcceptEdits PlanOutcome = "accept_edits"
	// PlanAsk approves it; each edit is asked about.
	PlanAsk PlanOutcome = "ask"
	// PlanRevise has the agent plan on, with what Message and Images say.
	PlanRevise PlanOutcome = "revise"
	// PlanReject refuses it.
	PlanReject PlanOutcome = "reject"
	// PlanOutline has the agent write down its steps before it asks again. For a
	// while it is refused by itself if it asks too soon.
	PlanOutline PlanOutcome = "outline"
)

// A Plan is what an agent wants to do.
type Plan struct {
	// Text is the plan; empty if there is none. Path is the file that it is in.
	Text string `json:"text,omitempty"`
	Path string `json:"path,omitempty"`
	// Source says where the text is from: request, or file.
	Source string `json:"source,omitempty" enum:"request,file"`
	// Prompts are what the plan asks to be allowed.
	Prompts []PlanPrompt `json:"prompts,omitempty"`
	// Percent is how much of the context is used, if it is known.
	Percent *float64 `json:"context_percent,omitempty"`
	// Outcomes are those that can be chosen, Bypass whether fresh and
	// accept_edits may also go on without asking for anything at all.
	Outcomes []PlanOutcome `json:"outcomes,omitempty"`
	Bypass   bool          `json:"bypass,omitempty"`
}

// A PlanPrompt is something that a plan asks to be allowed, in words.
type PlanPrompt struct {
	Tool   string `json:"tool"`
	Prompt string `json:"prompt"`
}

// An Answer answers a question. Which members count depends on its kind.
type Answer struct {
	ClientID string `json:"client_id,omitempty" maxLength:"128"`
	// Decision is allow or deny for a permission, a choice or a plan (deny skips
	// a choice); accept, decline or cancel for a form; choose or cancel for a
	// dialog.
	Decision string `json:"decision,omitempty" enum:"allow,deny,accept,decline,choose,cancel" doc:"May be left out with an outcome"`
	// Message is why it was denied, or what a plan lacks; the agent is told.
	Message string `json:"message,omitempty" maxLength:"1048576"`
	// Note is a remark for the log, which the agent is not told.
	Note string `json:"note,omitempty" maxLength:"4096"`
	// Interrupt also stops the turn, with deny.
	Interrupt bool `json:"interrupt,omitempty"`
	// Input replaces the tool's input, with allow.
	Input json.RawMessage `json:"input,omitempty"`
	// Always also allows what is like it from now on.
	Always *Always `json:"always,omitempty"`
	// Updates are permission updates to apply, with allow: the CLI's own objects.
	Updates json.RawMessage `json:"updates,omitempty"`
	// Choices holds the answers to a choice by the question's text.
	Choices map[string]ChoiceAnswer `json:"choices,omitempty"`
	// Outcome answers a plan. Plan is the plan as it was edited, Mode may be
	// bypassPermissions where the question says so, Images are content blocks
	// that go with a revision, Compact has the conversation compacted when the
	// turn is over, and NoPrompts leaves out what the plan asks to be allowed.
	Outcome   PlanOutcome     `json:"outcome,omitempty" enum:"fresh,accept_edits,ask,revise,reject,outline"`
	Plan      *string         `json:"plan,omitempty"`
	Mode      string          `json:"mode,omitempty" enum:"default,acceptEdits,bypassPermissions"`
	Images    json.RawMessage `json:"images,omitempty" doc:"Image content blocks"`
	Compact   bool            `json:"compact,omitempty"`
	NoPrompts bool            `json:"no_prompts,omitempty"`
	// Content is what was filled into a form, Result what a dialog returns.
	Content json.RawMessage `json:"content,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
}

// Always says what to allow for good, with an answer that allows.
type Always struct {
	// Suggestion is the number of one of the question's suggestions, from 0; or
	// Rule is a rule, such as Bash(npm test:*).
	Suggestion *int   `json:"suggestion,omitempty" minimum:"0"`
	Rule       string `json:"rule,omitempty" maxLength:"4096"`
	// Destination is where it is kept: session (the CLI, until its process ends),
	// localSettings, projectSettings or userSettings (the CLI's own files), or
	// switchboard (a rule of ours for this session, which outlives the process;
	// only with Rule).
	// If empty, session. All but session need the scope admin.
	Destination string `json:"destination,omitempty" enum:"session,localSettings,projectSettings,userSettings,switchboard"`
}

// A ChoiceAnswer answers one question of a choice.
type ChoiceAnswer struct {
	Labels []string `json:"labels,omitempty"`
	Text   string   `json:"text,omitempty" doc:"Free text instead of, or together with, labels"`
	Notes  string   `json:"notes,omitempty"`
	Skip   bool     `json:"skip,omitempty" doc:"Skip this question"`
}

// QuestionFilter selects questions.
type QuestionFilter struct {
	State   QuestionState `json:"state,omitempty"`
	Session string        `json:"session,omitempty"`
	Kind    QuestionKind  `json:"kind,omitempty"`
	// Prefix is what their ids begin with.
	Prefix string `json:"prefix,omitempty"`
	Limit  int    `json:"limit,omitempty"`
	Cursor string `json:"cursor,omitempty"`
}

// QuestionList is a list of questions, the oldest first.
type QuestionList struct {
	Questions []Question `json:"questions"`
	Next      string     `json:"next,omitempty" doc:"The cursor of the next page"`
}
