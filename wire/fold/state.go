package fold

import (
	"encoding/json"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// A Phase is what a session is doing, in the protocol's own words as far as it
// has them.
type Phase string

// The phases.
const (
	// PhaseStarting means that the process has not said anything yet.
	PhaseStarting Phase = "starting"
	// PhaseIdle means that nothing is going on.
	PhaseIdle Phase = "idle"
	// PhaseRunning means that a turn is going on, or about to.
	PhaseRunning Phase = "running"
	// PhaseRequiresAction means that something is asked and waited for.
	PhaseRequiresAction Phase = "requires_action"
	// PhaseBackground means that no turn is going on, but tasks in the background
	// are: sub-agents or commands. They may start a turn when they are done.
	PhaseBackground Phase = "background"
	// PhaseOffline means that the connection is lost; the process may live on.
	PhaseOffline Phase = "offline"
	// PhaseEnded means that there is no process.
	PhaseEnded Phase = "ended"
)

// TakesPrompt reports whether a prompt that is written now begins a turn of its
// own. In any other phase it is queued by the CLI or worked into the turn.
func (p Phase) TakesPrompt() bool { return p == PhaseIdle || p == PhaseBackground }

// State is what is known of a session: what it is doing and what it consists of.
//
// Versions that send session_state_changed are believed when they say that
// they are idle, and otherwise helped: they say running while only background
// tasks are (120, and 325 for sub-agents), and requires_action after the answer
// (120) or without ever taking it back. Where such lines do not come, a session
// is idle when a result was seen, nothing is queued and no task is open.
type State struct {
	// Run is the number of the current run.
	Run int `json:"run,omitempty"`
	// Ended says how the last process ended; nil while there is one.
	Ended *Ending `json:"ended,omitempty"`
	// Offline says that the connection is lost.
	Offline bool `json:"offline,omitempty"`
	// Alive says that the process has said something.
	Alive bool `json:"alive,omitempty"`
	// Turn says that a turn is going on.
	Turn bool `json:"turn,omitempty"`
	// Unsure says that the last turn counts as over although its result never
	// came; see [EventTurnLost]. The next sign of a turn clears it.
	Unsure bool `json:"unsure,omitempty"`
	// Told is the last state that the CLI itself told in this run.
	Told wire.SessionState `json:"told,omitempty"`
	// Interrupting says that an interrupt was sent and the turn is not over yet.
	Interrupting bool `json:"interrupting,omitempty"`
	// Compacting says that the conversation is being compacted.
	Compacting bool `json:"compacting,omitempty"`
	// ShuttingDown is the reason that the CLI gave for its coming end.
	ShuttingDown string `json:"shutting_down,omitempty"`

	// Questions are what the session asks.
	Questions Questions `json:"questions"`
	// Queue holds the prompts that were written and not yet picked up.
	Queue Queue `json:"queue"`
	// Tasks holds the tasks that are going on, TasksOver the ids of the last that
	// ended. TasksListed says that this version also tells them all at once.
	Tasks       []Task   `json:"tasks,omitempty"`
	TasksOver   []string `json:"tasks_over,omitempty"`
	TasksListed bool     `json:"tasks_listed,omitempty"`
	// Retry is set while the CLI waits to repeat a request to the API.
	Retry *Retry `json:"retry,omitempty"`

	// Version is the CLI's, as it says it; empty until it does.
	Version string `json:"version,omitempty"`
	// Least is a version that the CLI is not older than, by what its answer to
	// initialize tells; empty if that tells nothing, or Version is known.
	Least string `json:"least,omitempty"`
	// Model, Mode, Dir, Tools and Capabilities are those of the newest init line;
	// Mode also follows status lines, and before the first turn the answer to
	// initialize. They are what is, not what was asked for.
	Model        string              `json:"model,omitempty"`
	Mode         wire.PermissionMode `json:"mode,omitempty"`
	Dir          string              `json:"dir,omitempty"`
	Tools        []string            `json:"tools,omitempty"`
	Capabilities []string            `json:"capabilities,omitempty"`
	// Init is the newest init line, Initialize the newest answer to initialize
	// with its envelope's body, both as they came.
	Init       json.RawMessage `json:"init,omitempty"`
	Initialize json.RawMessage `json:"initialize,omitempty"`

	// Conversations holds every conversation of the session, the current one last.
	Conversations []Conversation `json:"conversations,omitempty"`
	// Title is the title that the CLI gave the session or was given.
	Title string `json:"title,omitempty"`
	// Prompt and Text are the beginnings of the last prompt and of the last text
	// of the main conversation; TextUUID is the line of the latter.
	Prompt   string `json:"prompt,omitempty"`
	Text     string `json:"text,omitempty"`
	TextUUID string `json:"text_uuid,omitempty"`
	// LastUUID, LastSeq and LastTime are those of the CLI's last durable line.
	LastUUID string    `json:"last_uuid,omitempty"`
	LastSeq  int64     `json:"last_seq,omitempty"`
	LastTime time.Time `json:"last_time,omitzero"`
	// Result is how the last turn ended.
	Result *TurnEnd `json:"result,omitempty"`
	// Results counts the results of this run; LostResults those that the CLI
	// numbered and that never came.
	Results     int64 `json:"results,omitempty"`
	LostResults int64 `json:"lost_results,omitempty"`
	// NextResult is the number that the next result should have, where the
	// version numbers them.
	NextResult *int64 `json:"next_result,omitempty"`
	// Compactions counts the compactions; Compaction is the last one.
	Compactions int64       `json:"compactions,omitempty"`
	Compaction  *Compaction `json:"compaction,omitempty"`
	// Context is how full the context is: as the CLI told when it was asked, until
	// the model speaks again; else as its last message and the size of its window
	// say. It is nil as long as the size is not known.
	Context *ContextUse `json:"context,omitempty"`
	// Window is what messages and results tell about the context window.
	Window *ContextWindow `json:"window,omitempty"`
	// RateLimits holds the account's limits by their kind.
	RateLimits map[string]wire.RateLimitInfo `json:"rate_limits,omitempty"`
	// Retracted holds lines, by uuid, that the CLI wants to be deleted: the newest
	// ones.
	Retracted []string `json:"retracted,omitempty"`

	// Requests are requests to the CLI that it has not answered and whose answer
	// matters here.
	Requests []Request `json:"requests,omitempty"`
	// Reset is set between the line that announces a new conversation and the one
	// that names it: what caused it.
	Reset string `json:"reset,omitempty"`
	// Resumed says that the run continues an earlier conversation, Named that one
	// of its lines has named the conversation.
	Resumed bool `json:"resumed,omitempty"`
	Named   bool `json:"named,omitempty"`
	// Drift counts what is unknown in the durable lines. Apply leaves it to the caller,
	// see [Drift.Count].
	Drift Drift `json:"drift,omitzero"`
}

// An Ending says how a process ended.
type Ending struct {
	// Reason is why, in the words of the caller that saw it.
	Reason string `json:"reason,omitempty"`
	// Unfinished says that a turn was going on or prompts were waiting, so the
	// end is a failure whatever the exit code was.
	Unfinished bool `json:"unfinished,omitempty"`
	// Time is when.
	Time time.Time `json:"time,omitzero"`
}

// A Conversation is one value of the CLI's session_id.
type Conversation struct {
	// ID is the value.
	ID string `json:"id"`
	// Run is the run in which it was first seen, Seq the line.
	Run int   `json:"run,omitempty"`
	Seq int64 `json:"seq,omitempty"`
	// Reason is why it began: "started", "forked", what a conversation_reset
	// named as its trigger (such as "clear"), or "changed" where nothing was told.
	Reason string `json:"reason"`
}

// A Retry is a request to the API that failed and will be repeated.
type Retry struct {
	// Attempt is the number of the coming attempt, Most how many there will be.
	Attempt int64 `json:"attempt"`
	Most    int64 `json:"most"`
	// Millis is the pause before it, in milliseconds, from Time on.
	Millis float64   `json:"ms"`
	Time   time.Time `json:"time,omitzero"`
	// Status is the HTTP status; zero if there was no response.
	Status int64 `json:"status,omitempty"`
	// Error is the class of the failure.
	Error wire.AssistantError `json:"error,omitempty"`
}

// A TurnEnd is how a turn ended.
type TurnEnd struct {
	// UUID is the result line's, Seq its number.
	UUID string `json:"uuid,omitempty"`
	Seq  int64  `json:"seq,omitempty"`
	// Subtype and Terminal are the CLI's words for it.
	Subtype  wire.ResultSubtype  `json:"subtype"`
	Terminal wire.TerminalReason `json:"terminal,omitempty"`
	// Failed says that the turn failed or was interrupted.
	Failed bool `json:"failed,omitempty"`
	// Interrupted says that an interrupt was sent before it ended.
	Interrupted bool `json:"interrupted,omitempty"`
	// Origin says what started the turn if no person prompted it.
	Origin wire.OriginKind `json:"origin,omitempty"`
}

// ResultUnknown is the subtype of a turn whose result was lost. No CLI sends it.
const ResultUnknown wire.ResultSubtype = "unknown"

// A Compaction is one that took place.
type Compaction struct {
	// Trigger is what started it.
	Trigger wire.CompactTrigger `json:"trigger"`
	// Before and After are the tokens; After is zero where it is not told.
	Before int64 `json:"before"`
	After  int64 `json:"after,omitempty"`
	// Seq is the line.
	Seq int64 `json:"seq,omitempty"`
}

// A ContextUse is how full the context window is.
type ContextUse struct {
	// Model is the one whose window it is.
	Model string `json:"model,omitempty"`
	// Tokens are in use of Most.
	Tokens int64 `json:"tokens"`
	Most   int64 `json:"most"`
	// Percent is the share in use.
	Percent float64 `json:"percent"`
	// Seq is the line that told it.
	Seq int64 `json:"seq,omitempty"`
}

// A ContextWindow is what is known of a context window without asking: messages
// tell how much is in it, and results how large it is.
type ContextWindow struct {
	// Model is the one whose window it is.
	Model string `json:"model,omitempty"`
	// Tokens are in use after the last message of the model's; zero where it has
	// not spoken since the context was cleared.
	Tokens int64 `json:"tokens,omitempty"`
	// Most is its size, zero if no result has told it yet.
	Most int64 `json:"most,omitempty"`
	// Seq is the line of that message.
	Seq int64 `json:"seq,omitempty"`
}

// A Request is a control request to the CLI.
type Request struct {
	// ID is the request's.
	ID string `json:"id"`
	// Subtype is what is asked.
	Subtype string `json:"subtype"`
	// Subject is what it is about: a message's uuid or a title.
	Subject string `json:"subject,omitempty"`
	// Results is how many turns had ended when it was sent.
	Results int64 `json:"results,omitempty"`
}

// How much State keeps.
const (
	maxConversations = 256
	maxRetracted     = 256
	maxRateLimits    = 16
	maxRequests      = 64
	maxNames         = 2000 // tools, capabilities
	maxRaw           = 4 << 20
	shortText        = 280
)

// Phase returns what the session is doing.
func (s *State) Phase() Phase {
	switch {
	case s.Ended != nil:
		return PhaseEnded
	case s.Offline:
		return PhaseOffline
	case !s.Alive:
		return PhaseStarting
	case len(s.Questions.Open) > 0:
		return PhaseRequiresAction
	case s.Turn || len(s.Queue.Waiting) > 0:
		return PhaseRunning
	case s.inBackground():
		return PhaseBackground
	case s.Told != "" && s.Told != wire.SessionStateIdle:
		// Between a result and the turn that a finished task starts.
		return PhaseRunning
	}
	return PhaseIdle
}

// Conversation returns the current conversation, "" if none is known.
func (s *State) Conversation() string {
	if len(s.Conversations) == 0 {
		return ""
	}
	return s.Conversations[len(s.Conversations)-1].ID
}

// Happened folds an event and returns what it did to questions.
func (s *State) Happened(e Event) []Change {
	changes := s.Questions.Happened(e)
	switch e.Kind {
	case EventStarted:
		s.Run, s.Resumed, s.Ended = e.Run, e.Resumed, nil
		s.endProcess()
		s.Queue = Queue{}
		s.Results, s.NextResult = 0, nil
		if !e.Resumed {
			s.emptied()
		}
	case EventEnded:
		unfinished := s.Turn || len(s.Queue.Waiting) > 0
		s.endProcess()
		s.Ended = &Ending{Reason: clip(e.Reason, 4*shortText), Unfinished: unfinished, Time: instant(e.Time)}
	case EventLinkLost:
		s.Offline = true
	case EventLinkBack:
		s.Offline = false
	case EventTurnLost:
		s.Result = &TurnEnd{Seq: e.Seq, Subtype: ResultUnknown, Interrupted: s.Interrupting}
		s.Queue.Waiting, s.Told = nil, ""
		s.waitedFor()
		s.turnOver()
		s.Unsure = true
	case EventTurnFound:
		s.underWay()
	}
	return changes
}

// endProcess forgets what belongs to a process that has ended. The queue stays until the next one
// starts: it tells which prompts were never picked up.
func (s *State) endProcess() {
	s.Offline, s.Alive, s.Named = false, false, false
	s.Told, s.ShuttingDown, s.Reset = "", "", ""
	s.Tasks, s.TasksOver, s.TasksListed, s.Requests = nil, nil, false, nil
	s.turnOver()
}

// underWay folds a sign that a turn is going on.
func (s *State) underWay() { s.Turn, s.Unsure = true, false }

// turnOver forgets what belongs to a turn.
func (s *State) turnOver() {
	s.Turn, s.Unsure, s.Interrupting, s.Compacting, s.Retry = false, false, false, false, nil
}
