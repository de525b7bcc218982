package api

import (
	"encoding/json"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// A State is what a session is doing, in the protocol's own words.
type State string

// The states.
const (
	// StateStarting means that the process has been started and has not said
	// anything yet.
	StateStarting State = "starting"
	// StateIdle means that the session waits for a prompt.
	StateIdle State = "idle"
	// StateRunning means that a turn is going on.
	StateRunning State = "running"
	// StateRequiresAction means that the session waits for an answer.
	StateRequiresAction State = "requires_action"
	// StateBackground means that only background work goes on. A prompt begins a
	// turn.
	StateBackground State = "background"
	// StateOffline means that the connection to the agent is lost; it may still
	// be at work.
	StateOffline State = "offline"
	// StateEnded means that there is no process. A message starts another.
	StateEnded State = "ended"
)

// StateFailed selects sessions by their member failed, in a [SessionFilter], and
// is what lists call their state. No session has it as its State, so that a client
// that waits for one to be idle need not know it.
const StateFailed = "failed"

// A Session is a snapshot of one session, taken at the event named by
// LastEventID.
type Session struct {
	ID     string `json:"id" doc:"The session's id, which never changes" example:"s5k2m7q3zr4t6w8xabcdy"`
	Title  string `json:"title,omitempty" doc:"The title that a person gave the session, else the CLI's, else the first line of the first prompt"`
	Dir    string `json:"dir,omitempty" doc:"The agent's working folder"`
	Node   string `json:"node,omitempty" doc:"The name of the machine that the agent runs on; absent for the hub's own"`
	State  State  `json:"state" enum:"starting,idle,running,requires_action,background,offline,ended" doc:"The session's state"`
	Failed bool   `json:"failed,omitempty" doc:"Whether the last turn failed, or the process ended before its work was done; retry-session sends its prompt again"`
	// Ended says how the last run ended.
	Ended *Ended `json:"ended,omitempty" doc:"How the last run ended, if state is ended"`
	// Run is the number of the current or last run.
	Run       int    `json:"run" doc:"The number of the current or last process"`
	Transport string `json:"transport,omitempty" doc:"How the agent is connected: shim, tee, websocket, hybrid or relay"`
	Relay     string `json:"relay,omitempty" doc:"The address of the relay that shows the agent, if another program owns it"`
	Linked    bool   `json:"linked" doc:"Whether the agent is connected now"`
	// Unauthenticated says that the CLI of the run dialed in without a token.
	Unauthenticated bool `json:"unauthenticated,omitempty" doc:"Whether the CLI of this run dialed in without a token (see dial.open); it has rules of its own"`
	// Runner is the header X-Environment-Runner-Version of a CLI that dialed in.
	Runner        string         `json:"runner,omitempty" doc:"The version of the environment that a CLI which dialed in runs in, as it said in the header X-Environment-Runner-Version"`
	Simulated     bool           `json:"simulated,omitempty" doc:"Whether the agent is a simulation"`
	Sandbox       *Sandbox       `json:"sandbox,omitempty" doc:"What holds the processes of this run back"`
	Conversation  string         `json:"conversation,omitempty" doc:"The CLI's own session_id"`
	Conversations []Conversation `json:"conversations,omitempty" doc:"All values so far, the current one last"`
	Model         string         `json:"model,omitempty"`
	// PermissionMode is the mode that the CLI says it is in.
	PermissionMode string    `json:"permission_mode,omitempty"`
	Version        string    `json:"version,omitempty" doc:"The version of the CLI"`
	Created        time.Time `json:"created"`
	Updated        time.Time `json:"updated" doc:"When a person, a program or the agent last did something in it"`
	Archived       bool      `json:"archived,omitempty"`
	// LastEventID is the id of the newest event that this snapshot holds: go on
	// from there.
	LastEventID string `json:"last_event_id,omitempty"`

	Questions []Question `json:"questions,omitempty" doc:"The session's open questions"`
	Messages  []Message  `json:"messages,omitempty" doc:"Queued messages and those being sent"`
	Partial   []Partial  `json:"partial,omitempty" doc:"The message being written"`

	Cost       *Cost           `json:"cost,omitempty"`
	Tasks      []Task          `json:"tasks,omitempty" doc:"Sub-agents and background work"`
	Retry      *Retry          `json:"retry,omitempty" doc:"Set while the CLI waits to retry a request"`
	RateLimits json.RawMessage `json:"rate_limits,omitempty" doc:"The account's limits by kind, as reported by the CLI"`
	Context    *ContextUse     `json:"context,omitempty"`
	Result     *TurnResult     `json:"result,omitempty" doc:"How the last turn ended"`
	Rules      []SessionRule   `json:"rules,omitempty" doc:"The session's own rules"`
	Holds      []Hold          `json:"holds,omitempty" doc:"Why the queue is held"`
	Budgets    []BudgetUse     `json:"budgets,omitempty"`
	Text       string          `json:"text,omitempty" doc:"The beginning of the last answer"`
	Prompt     string          `json:"prompt,omitempty" doc:"The beginning of the last prompt"`
	// Init and Initialize are what the CLI told last of its tools, commands,
	// agents and models, as it came.
	Init       json.RawMessage `json:"init,omitempty"`
	Initialize json.RawMessage `json:"initialize,omitempty"`
	Options    *SessionOptions `json:"options,omitempty" doc:"The options with which the session was created"`
	Drift      json.RawMessage `json:"drift,omitempty" doc:"Counters of unrecognized parts of the CLI's lines"`
}

// Ended says how a run ended.
type Ended struct {
	Reason string `json:"reason" doc:"Why, in one sentence"`
	Code   *int   `json:"code,omitempty" doc:"The exit code"`
	Signal string `json:"signal,omitempty"`
	// Unfinished says that a turn was going on or prompts were waiting.
	Unfinished bool      `json:"unfinished,omitempty"`
	Stderr     string    `json:"stderr,omitempty" doc:"The end of what the CLI wrote to standard error, redacted"`
	Time       time.Time `json:"time,omitzero"`
}

// A Conversation is one value of the CLI's session_id.
type Conversation struct {
	ID     string `json:"id"`
	Run    int    `json:"run,omitempty"`
	Reason string `json:"reason,omitempty" doc:"Why it began: started, forked, clear, …"`
}

// Cost is what a session has used and cost, over all of its runs.
type Cost struct {
	USD    float64         `json:"usd"`
	Turns  int64           `json:"turns"`
	Failed int64           `json:"failed,omitempty"`
	Millis int64           `json:"ms"`
	Models json.RawMessage `json:"models,omitempty" doc:"By model"`
	Agents json.RawMessage `json:"agents,omitempty" doc:"By sub-agent"`
}

// A Task is a sub-agent or a command that runs in the background.
type Task struct {
	ID          string `json:"id"`
	Kind        string `json:"kind,omitempty"`
	Description string `json:"description,omitempty"`
}

// Retry says that the CLI repeats a request to the API.
type Retry struct {
	Attempt int64     `json:"attempt"`
	Of      int64     `json:"of,omitempty"`
	Error   string    `json:"error,omitempty"`
	Time    time.Time `json:"time,omitzero"`
}

// ContextUse says how full the model's context is.
type ContextUse struct {
	Tokens  int64   `json:"tokens,omitempty"`
	Max     int64   `json:"max,omitempty"`
	Percent float64 `json:"percent,omitempty"`
}

// TurnResult says how a turn ended.
type TurnResult struct {
	Subtype     string `json:"subtype"`
	Failed      bool   `json:"failed,omitempty"`
	Interrupted bool   `json:"interrupted,omitempty"`
	Origin      string `json:"origin,omitempty" doc:"What started the turn, if not a prompt"`
}

// SessionOptions say how an agent is started. The zero value starts one as the
// server's configuration says.
type SessionOptions struct {
	Model          string `json:"model,omitempty"`
	FallbackModel  string `json:"fallback_model,omitempty"`
	Effort         string `json:"effort,omitempty" enum:"low,medium,high,xhigh,max"`
	PermissionMode string `json:"permission_mode,omitempty" doc:"plan, dontAsk, default, acceptEdits, auto; bypassPermissions needs the scope admin and the hub's consent"`
	AllowBypass    bool   `json:"allow_bypass,omitempty" doc:"Allow switching to bypassPermissions later; admin only"`
	Name           string `json:"name,omitempty" doc:"The title passed to the CLI"`

	SystemPrompt       string   `json:"system_prompt,omitempty" doc:"Replaces the CLI's own"`
	AppendSystemPrompt string   `json:"append_system_prompt,omitempty"`
	Tools              []string `json:"tools,omitzero" doc:"Built-in tools to offer"`
	AllowedTools       []string `json:"allowed_tools,omitempty" doc:"Permission rules, such as Bash(git status:*)"`
	DisallowedTools    []string `json:"disallowed_tools,omitempty"`
	AddDirs            []string `json:"add_dirs,omitempty" doc:"Additional folders that tools may use"`
	MaxTurns           int      `json:"max_turns,omitempty" minimum:"0"`
	MaxBudgetUSD       float64  `json:"max_budget_usd,omitempty" minimum:"0"`
	MaxThinkingTokens  int      `json:"max_thinking_tokens,omitempty" minimum:"0"`
	// Agents, MCPServers, JSONSchema and Settings are the CLI's own objects.
	Agents     json.RawMessage `json:"agents,omitempty" doc:"Sub-agents by name, as in the CLI's initialize request"`
	Agent      string          `json:"agent,omitempty" doc:"The agent that leads the conversation"`
	MCPServers json.RawMessage `json:"mcp_servers,omitempty" doc:"MCP servers by name, as in the CLI's configuration; admin only"`
	JSONSchema json.RawMessage `json:"json_schema,omitempty" doc:"The schema of the answer; needs max_turns"`
	Settings   json.RawMessage `json:"settings,omitempty" doc:"A settings object for the CLI; admin only"`
	// QuestionDeadline is how long a question may wait while a client could show
	// it, in seconds, before it is refused. 0 means for ever.
	QuestionDeadline int `json:"question_deadline,omitempty" minimum:"0" doc:"Seconds after which a question that someone could see is denied; 0 waits forever"`
	// AskPlanMode has the agent ask before it goes into plan mode.
	AskPlanMode bool `json:"ask_plan_mode,omitempty" doc:"Ask before the agent enters plan mode"`
	// ResumeAtReset has a queue that a rate limit holds back go on by itself.
	ResumeAtReset bool `json:"resume_at_reset,omitempty" doc:"Continue automatically when a rate limit resets"`
	// The following go into the CLI's initialize request, where its version knows
	// them.
	PlanModeInstructions   string            `json:"plan_mode_instructions,omitempty"`
	ToolAliases            map[string]string `json:"tool_aliases,omitempty" doc:"Other names for tools"`
	Skills                 []string          `json:"skills,omitempty" doc:"The skills to offer"`
	PromptSuggestions      bool              `json:"prompt_suggestions,omitempty"`
	AgentProgressSummaries bool              `json:"agent_progress_summaries,omitempty"`
	ForwardSubagentText    bool              `json:"forward_subagent_text,omitempty"`
	ExcludeDynamicSections bool              `json:"exclude_dynamic_sections,omitempty"`
	SupportedDialogKinds   []string          `json:"supported_dialog_kinds,omitempty"`
	// The following are flags of the CLI.
	Thinking          string   `json:"thinking,omitempty" enum:"adaptive,disabled"`
	SettingSources    []string `json:"setting_sources,omitzero" doc:"Where the CLI reads settings: user, project, local"`
	Betas             []string `json:"betas,omitempty"`
	StrictMCP         bool     `json:"strict_mcp,omitempty" doc:"Only the MCP servers listed here"`
	PluginDirs        []string `json:"plugin_dirs,omitempty" doc:"Plugin folders; admin only"`
	IncludeHookEvents bool     `json:"include_hook_events,omitempty"`
	NoPersistence     bool     `json:"no_persistence,omitempty" doc:"The CLI writes no transcript, so the conversation cannot be resumed"`
	TaskBudget        int      `json:"task_budget,omitempty" minimum:"0"`
	// Env are further variables for the agent, ExtraArgs further flags by name, with
	// null for one without a value.
	Env       map[string]string  `json:"env,omitempty" doc:"Additional environment variables; admin only"`
	ExtraArgs map[string]*string `json:"extra_args,omitempty" doc:"Raw CLI flags by name; admin only, and only if the hub's configuration allows it"`
	// Fresh starts a new process, and so a new conversation, for every turn.
	Fresh bool `json:"fresh,omitempty" doc:"Start a new process and conversation for each turn"`
	// Sandbox is what the operating system holds the agent's processes back by.
	Sandbox string `json:"sandbox,omitempty" enum:"off,deny-only,strict" doc:"What the operating system enforces: nothing, what rules deny, or that only the working folder can be written and hosts are asked about. Empty for the hub's default; off needs the scope admin"`
	// SandboxAutoAllow allows commands in a strict sandbox without a question.
	SandboxAutoAllow bool `json:"sandbox_auto_allow,omitempty" doc:"Allow commands without asking in a strict sandbox; deny and ask rules still apply"`
}

// CreateSession asks for a new session.
type CreateSession struct {
	ClientID string `json:"client_id,omitempty" maxLength:"128" doc:"Your id for this request: the same id returns the same session"`
	Dir      string `json:"dir" doc:"Working folder, an absolute path"`
	// Node and NodeLabels choose the machine; without both it is the hub's own.
	Node       string            `json:"node,omitempty" maxLength:"64" doc:"The machine to run the agent on: a name or id of list-nodes, or any for the least loaded one. Default: the hub's own, or with node_labels any"`
	NodeLabels map[string]string `json:"node_labels,omitempty" maxProperties:"16" doc:"Labels that the machine must have"`
	Title      string            `json:"title,omitempty" maxLength:"512"`
	Prompt     string            `json:"prompt,omitempty" doc:"The first message"`
	// Resume takes over a conversation that was begun elsewhere; its history is
	// read from the CLI's transcript.
	Resume string `json:"resume,omitempty" doc:"The CLI's session_id of a conversation to continue"`
	Fork   bool   `json:"fork,omitempty" doc:"Continue with a copy of it"`
	// Transport "websocket" or "hybrid" makes a placeholder for a CLI that will
	// dial in by itself, "tee" one for a program's own CLI; it can be prompted at
	// once.
	Transport string         `json:"transport,omitempty" enum:"shim,websocket,hybrid,tee"`
	Options   SessionOptions `json:"options,omitzero"`
	// Preset is a preset of the hub's configuration, whose options apply where
	// Options has none. Except names options of the preset that do not apply.
	Preset string   `json:"preset,omitempty" maxLength:"64" doc:"A preset of the hub, see list-presets. Options that the request has win over those of the preset; variables of env are joined"`
	Except []string `json:"except,omitempty" doc:"Options of the preset that do not apply, by name. A member of options that is false, zero or empty counts as one"`
}

// Created is the answer to CreateSession.
type Created struct {
	Session
	// Token and URL are what a CLI that dials in needs; they are shown once.
	Token string `json:"token,omitempty" doc:"The credential of a CLI that dials in; shown once"`
	URL   string `json:"url,omitempty" doc:"The address for --sdk-url"`
}

// UpdateSession changes a session. What is nil stays as it is.
type UpdateSession struct {
	Title             *string              `json:"title,omitempty" maxLength:"512"`
	Model             *string              `json:"model,omitempty" doc:"Empty for the default"`
	PermissionMode    *wire.PermissionMode `json:"permission_mode,omitempty"`
	MaxThinkingTokens *int                 `json:"max_thinking_tokens,omitempty"`
	Archived          *bool                `json:"archived,omitempty"`
}

// SessionFilter selects sessions.
type SessionFilter struct {
	// State selects by state, or with StateFailed by failure; sessions that fit
	// one of them are listed.
	State    []State `json:"state,omitempty"`
	Dir      string  `json:"dir,omitempty"`
	Text     string  `json:"q,omitempty"`
	Archived bool    `json:"archived,omitempty"`
	// Node selects by the machine that agents run on: its name or id.
	Node   string `json:"node,omitempty"`
	Cursor string `json:"cursor,omitempty"`
	Limit  int    `json:"limit,omitempty"`
}

// SessionList is a page of sessions, the most recently updated first.
type SessionList struct {
	Sessions []SessionSummary `json:"sessions"`
	Next     string           `json:"next,omitempty" doc:"The cursor of the next page"`
}

// A SessionSummary is what a list shows of a session.
type SessionSummary struct {
	ID           string    `json:"id"`
	Title        string    `json:"title,omitempty"`
	Dir          string    `json:"dir,omitempty"`
	Node         string    `json:"node,omitempty" doc:"The name of the machine that the agent runs on; absent for the hub's own"`
	State        State     `json:"state"`
	Model        string    `json:"model,omitempty"`
	Conversation string    `json:"conversation,omitempty"`
	Run          int       `json:"run"`
	Questions    int       `json:"questions" doc:"Number of open questions"`
	USD          float64   `json:"usd"`
	Created      time.Time `json:"created"`
	Updated      time.Time `json:"updated"`
	Archived     bool      `json:"archived,omitempty"`
	Text         string    `json:"text,omitempty" doc:"The beginning of what the agent said last, in one line"`
	Simulated    bool      `json:"simulated,omitempty"`
	Relay        string    `json:"relay,omitempty" doc:"The address of the relay that shows the agent, if another program owns it"`
	// Unauthenticated says that the CLI of the run dialed in without a token.
	Unauthenticated bool   `json:"unauthenticated,omitempty" doc:"Whether the CLI dialed in without a token"`
	Failed          bool   `json:"failed,omitempty" doc:"Whether the last turn failed, or the process ended before it was done; false if someone interrupted or stopped it"`
	LastEventID     string `json:"last_event_id,omitempty"`
	// Sandbox is the mode of [Session].Sandbox, or none if nothing enforces it.
	Sandbox string `json:"sandbox,omitempty" enum:"off,deny-only,strict,none" doc:"What holds the processes of the last run back: its mode, or none if the mode could not be enforced"`
}

// Interrupt asks to stop the current turn.
type Interrupt struct {
	// CancelQueued also takes back what waits in the hub's queue.
	CancelQueued bool `json:"cancel_queued,omitempty"`
}

// Interrupted is the answer to Interrupt, once the turn has really ended.
type Interrupted struct {
	// Was says whether a turn was going on.
	Was     bool      `json:"was" doc:"Whether a turn was running"`
	Session *Session  `json:"session"`
	Taken   []Message `json:"taken,omitempty" doc:"Cancelled messages"`
}

// Stop asks to end a session's process.
type Stop struct {
	// Force does not wait for the turn: the process is ended at once.
	Force bool `json:"force,omitempty"`
}

// Resume asks for a new process that goes on with the conversation.
type Resume struct {
	ClientID string `json:"client_id,omitempty" maxLength:"128"`
	// Force resumes even if the old process may still be alive.
	Force bool `json:"force,omitempty"`
	// Fresh begins a new conversation instead.
	Fresh   bool            `json:"fresh,omitempty"`
	Prompt  string          `json:"prompt,omitempty"`
	Options *SessionOptions `json:"options,omitempty" doc:"If absent, those of the session. What a snapshot does not show of them (mcp_servers, settings, env, extra_args) stays as it was where it is absent"`
}

// Fork asks for a new session with a copy of the conversation.
type Fork struct {
	ClientID string `json:"client_id,omitempty" maxLength:"128"`
	Title    string `json:"title,omitempty" maxLength:"512"`
	Prompt   string `json:"prompt,omitempty"`
	// At is the uuid of the last message to keep.
	At      string          `json:"at,omitempty"`
	Options *SessionOptions `json:"options,omitempty" doc:"If absent, those of the session. What a snapshot does not show of them (mcp_servers, settings, env, extra_args) stays as it was where it is absent"`
}
