package api

import (
	"encoding/json"
	"time"
)

// An Event is one entry of a session's log, or something live that is not kept.
type Event struct {
	// ID is "epoch:seq"; empty for live events.
	ID      string    `json:"id,omitempty"`
	Session string    `json:"session"`
	Run     int       `json:"run,omitempty"`
	Seq     int64     `json:"seq,omitempty"`
	Time    time.Time `json:"time,omitzero"`
	Source  string    `json:"source,omitempty" enum:"agent,person,program,hub"`
	By      string    `json:"by,omitempty"`
	// Kind is line (from the CLI), sent (to the CLI), live, or a hub event: see
	// the Kind constants.
	Kind string `json:"kind"`
	// Line is the CLI's object as it came. A line that is not a JSON object is in
	// Text, or in Base64 if it is not UTF-8.
	Line   json.RawMessage `json:"line,omitempty"`
	Text   string          `json:"text,omitempty"`
	Base64 []byte          `json:"base64,omitempty"`
	// Data says more about a hub event.
	Data json.RawMessage `json:"data,omitempty"`
	// After is the seq that a live event comes after.
	After int64 `json:"after,omitempty"`
}

// The kinds of events. More may come.
const (
	KindLine            = "line"             // a line that the CLI wrote; data: BrokenLine if it dialed in, or a relay shows it, and the line is not JSON
	KindSent            = "sent"             // a line that was sent to the CLI
	KindLive            = "live"             // a line that is not kept: token deltas, progress
	KindHistory         = "history"          // a line of a conversation begun elsewhere, from its transcript
	KindCreated         = "created"          // the session was created
	KindRunStarted      = "run_started"      // a process is being started, or has dialled in
	KindRunLaunched     = "run_launched"     // what was started: version and the like
	KindRunEnded        = "run_ended"        // it has ended
	KindLinkUp          = "link_up"          // the agent is connected
	KindLinkLost        = "link_lost"        // the connection was lost
	KindState           = "state"            // the state changed
	KindQuestionOpened  = "question_opened"  // data: Question
	KindQuestionSettled = "question_settled" // data: Question
	KindMessage         = "message"          // data: Message; a message was queued, edited or changed its state
	KindCommand         = "command"          // data: CommandFate; what became of a line to the CLI that is no message
	KindGap             = "gap"              // data: Gap; lines are missing here
	KindOversize        = "oversize"         // data: Oversize; a line that was too long
	KindUpdated         = "updated"          // title or archive mark changed
	KindNotice          = "notice"           // data: Notice
	KindQuestionChanged = "question_changed" // data: Question; an open one is stale now, or has its plan
	KindRuleAdded       = "rule_added"       // data: SessionRule
	KindRuleRemoved     = "rule_removed"     // data: RuleRemoved
	KindDecision        = "decision"         // data: Decision; a rule decided about a call
	KindMode            = "mode"             // data: ModeChange
	KindHold            = "hold"             // data: Hold; the queue is held back
	KindHoldOver        = "hold_over"        // data: HoldOver
	KindBudget          = "budget"           // data: BudgetUse; a budget is nearly used up, or used up
	KindSandboxRefused  = "sandbox_refused"  // data: SandboxRefusal; the sandbox refused something
	KindTurn            = "turn"             // data: TurnChange; the end of a turn was lost, or it is under way after all
)

// The states of a [TurnChange].
const (
	// TurnUnknown means that the turn counts as over: its result never came.
	TurnUnknown = "unknown"
	// TurnRunning means that such a turn is under way after all.
	TurnRunning = "running"
)

// A TurnChange says what the server takes a turn to be whose end it did not see:
// the lines of a CLI that dialled in can be lost while it is not connected.
type TurnChange struct {
	// State is TurnUnknown or TurnRunning.
	State string `json:"state"`
	// Reason says what this follows from.
	Reason string `json:"reason"`
}

// A CommandFate says what became of a line to the CLI.
type CommandFate struct {
	ID        string       `json:"id"`
	Kind      string       `json:"kind"`
	State     MessageState `json:"state"`
	RequestID string       `json:"request_id,omitempty"`
	Reason    string       `json:"reason,omitempty"`
}

// A Gap says that something is missing in the log at this place.
type Gap struct {
	// From and To are the numbers of the missing lines, where they are known.
	From int64 `json:"from,omitempty"`
	To   int64 `json:"to,omitempty"`
	// Wrote and Received are uuids of lines, where only they are known: what the
	// CLI says it wrote last, and what was received last.
	Wrote    string `json:"wrote,omitempty"`
	Received string `json:"received,omitempty"`
	Reason   string `json:"reason"`
	// Epoch is the new epoch of the log, if numbers of its entries were used
	// before for what is missing now: the journal is an older one.
	Epoch string `json:"epoch,omitempty"`
	// Certain is false if it cannot be told whether something is missing.
	Certain bool `json:"certain"`
}

// An Oversize is a line that was too long to be kept.
type Oversize struct {
	Length int64  `json:"length"`
	SHA256 string `json:"sha256"`
	Head   []byte `json:"head,omitempty"`
}

// A BrokenLine is the data of kind line for a line that is not JSON, of a CLI that
// dialed in or of a relay. The line itself is in the event, as it came.
type BrokenLine struct {
	// Broken is always true.
	Broken bool `json:"broken"`
	// Length is the line's, in bytes.
	Length int `json:"length"`
	// Conversation is the CLI's session_id, and Init says that the line looks like
	// the first of a session, as far as can be told: see wire.Salvage.
	Conversation string `json:"conversation,omitempty"`
	Init         bool   `json:"init,omitempty"`
}

// A Notice tells something that people should know.
type Notice struct {
	Text string `json:"text"`
	Code string `json:"code,omitempty"`
}

// A FrameType is the type of a frame of a stream of events.
type FrameType string

// The types of frames.
const (
	// FrameResume is the first: whether the stream goes on where the client
	// left off.
	FrameResume FrameType = "resume"
	// FrameEvent is an event of the log.
	FrameEvent FrameType = "event"
	// FrameLive is a live event.
	FrameLive FrameType = "live"
	// FramePartial replaces what the client has of a message that is being
	// written.
	FramePartial FrameType = "partial"
	// FrameHeartbeat says that the stream lives. It comes to clients that ask for it.
	FrameHeartbeat FrameType = "heartbeat"
	// FrameClosing says that the hub is shutting down; come back.
	FrameClosing FrameType = "closing"
)

// A Frame is one unit of a stream of events.
type Frame struct {
	Type    FrameType `json:"type"`
	Event   *Event    `json:"event,omitempty"`
	Resume  *Verdict  `json:"resume,omitempty"`
	Partial *Partials `json:"partial,omitempty"`
	Reason  string    `json:"reason,omitempty"`
	// Position is the place of an event in the stream of all sessions, to go on
	// after. It is empty in the stream of one session, whose events have their own
	// ids.
	Position string `json:"position,omitempty"`
}

// A Verdict says how a stream relates to what the client had.
type Verdict struct {
	// Resume is ok, gap (something between was removed), or reset (begin anew,
	// the log is another one).
	Resume string `json:"resume" enum:"ok,gap,reset"`
	// LastEventID is the newest event at this moment.
	LastEventID string `json:"last_event_id,omitempty"`
}

// Partials holds all that is being written in a session, which replaces what
// was told before. It comes whenever a stream reaches the live edge.
type Partials struct {
	Session  string    `json:"session"`
	Messages []Partial `json:"messages"`
	After    int64     `json:"after"`
}

// An EventPage is a part of a session's log.
type EventPage struct {
	Resume string  `json:"resume" enum:"ok,gap,reset"`
	Events []Event `json:"events"`
	// Next is the id to ask with for the next page; More says that there is one
	// already.
	Next string `json:"next,omitempty"`
	More bool   `json:"more,omitempty"`
}
