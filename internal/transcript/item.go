package transcript

import (
	"encoding/json"
	"time"

	"github.com/switchboard-dev/switchboard/api"
)

// A Kind is what an item is.
type Kind int

// The kinds.
const (
	// KindUnknown is a line or an event that is not known: Raw holds it.
	KindUnknown Kind = iota
	// KindPrompt is what a person says to the agent.
	KindPrompt
	// KindText is what the agent says: Markdown.
	KindText
	// KindThinking is what it thinks.
	KindThinking
	// KindTool is a tool call with its result.
	KindTool
	// KindQuestion is what it asks, with the answer.
	KindQuestion
	// KindResult is the end of a turn: time, cost, error.
	KindResult
	// KindState is told by the hub: runs that start and end, lost links, gaps, modes, rules, decisions, budgets.
	KindState
	// KindNotice is told by the CLI: compaction, hooks, rate limits, retries, tasks, logins and the like.
	KindNotice
	// KindRefusal is something that the sandbox has refused: Refusal has it. It stands behind the tool call during which it happened.
	KindRefusal
)

// A ToolState is how far a tool call has come.
type ToolState int

// The states.
const (
	ToolRunning ToolState = iota
	ToolDone
	ToolFailed
	ToolDenied
	// ToolStopped means that the turn was over before there was a result.
	ToolStopped
)

// A Level is how much a notice matters.
type Level int

// The levels.
const (
	LevelInfo Level = iota
	LevelWarn
	LevelBad
)

// An Item is one thing in a conversation. It is read only, and valid until the conversation changes.
type Item struct {
	// ID is stable over changes of the item, and over pages that are put in front.
	ID   string
	Kind Kind
	// Event is the id of the event that began it; empty for what is live.
	Event string
	Time  time.Time
	// Depth is how many agents stand above it: 0 for the conversation itself, 1 for what a sub-agent does.
	Depth int
	// Parent is the id of the tool call whose agent it belongs to.
	Parent string
	// Author names the person who said it, if known.
	Author string
	// Label says what a state or a notice is about in a word or two.
	Label string
	// Text is what it says. For a tool it is empty: see Tool.
	Text  string
	Level Level

	Tool     *Tool
	Question *api.Question
	Result   *Result
	// Message is what is known of a prompt that the hub has taken.
	Message *api.Message
	Refusal *api.SandboxRefusal
	// Raw is what is not known, as it came.
	Raw json.RawMessage

	// Streaming says that it is being written now. The item is replaced when it is complete.
	Streaming bool
	// Failed says that something went wrong.
	Failed bool
	// Left is how many bytes of it were left out because it is too long.
	Left int64
}

// A Tool is a call of a tool.
type Tool struct {
	ID   string
	Name string
	// Input is the call's input as it came, or as far as it has come.
	Input json.RawMessage
	// Title says in a line what it does, without the name.
	Title string
	State ToolState
	// Output is what the tool gave, at most 1 MiB; Left is how many bytes more there were.
	Output string
	Left   int64
	// Patch is the structured patch of an edit, if the result has one.
	Patch json.RawMessage
	// Started and Ended are when it was called, and when its result came.
	Started, Ended time.Time
	// Waited is how long it waited for an answer; Asking says that it does now.
	Waited time.Duration
	Asking bool
	// Progress is the last that was told of a running call.
	Progress string
	// Children is how many items belong to the agent that it started.
	Children int
	// Todos is the list of what is to do that it has written.
	Todos []Todo
	// Task is the background task or agent that it started.
	Task *api.Task
	// Summary says in words what it was for, where the CLI tells.
	Summary string
	// Denied says why it was not permitted, Rule which rule decided about it.
	Denied string
	Rule   string
}

// A Todo is an entry of the agent's list of what is to do.
type Todo struct {
	Text string
	// Active is the text while it is worked on.
	Active string
	// Status is pending, in_progress or completed.
	Status string
}

// A Result is how a turn ended.
type Result struct {
	Subtype     string
	Interrupted bool
	// Duration is how long it took, Turns how many rounds of the model it had.
	Duration time.Duration
	Turns    int64
	// USD is what the turn cost; Total is what the process has cost so far. Known says that USD could be told.
	USD   float64
	Total float64
	Known bool
	// Input and Output are tokens of the turn, those from the cache included.
	Input, Output int64
	// Structured is the structured output, if one was asked for.
	Structured json.RawMessage
}

// A Changed says what an event has changed.
type Changed struct {
	// Items are the indexes of items that changed, in ascending order.
	Items []int
	// Appended is how many items are new at the end.
	Appended int
	// State says that State returns something else now.
	State bool
	// Reset says that indexes moved: everything is to be looked at again.
	Reset bool
}

// State is what a session is doing.
type State struct {
	// Session is its state.
	Session api.State
	Title   string
	Dir     string
	Model   string
	Mode    string
	// USD is the cost so far; Turns is how many turns there were.
	USD   float64
	Turns int64
	// TurnStarted is when the current turn began; zero if there is none.
	TurnStarted time.Time
	Todos       []Todo
	// Questions are the ids of open questions, the oldest first.
	Questions []string
	// Queued are the messages that the agent has not got yet, the oldest first.
	Queued  []api.Message
	Context *api.ContextUse
	// RateLimit says in a line that a limit is near or reached; empty if none is.
	RateLimit string
	Retry     *api.Retry
	Holds     []api.Hold
	Tasks     []api.Task
	// Sandbox is what the processes of the run are held back by; nil if that is not known.
	Sandbox *api.Sandbox
	Result  *api.TurnResult
	Ended   *api.Ended
	// Suggestion is what the CLI suggests to say next.
	Suggestion string
	// Doing is what the CLI says that it does: compacting, requesting; or empty.
	Doing string
	// Tokens are those written in the current turn, as far as it is known.
	Tokens int64
	// Offline says that the link to the agent is lost.
	Offline bool
	// LastEventID is that of the newest event that was seen.
	LastEventID string
}
