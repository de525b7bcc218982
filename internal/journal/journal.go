package journal

import (
	"context"
	"encoding/json"
	"time"

	"github.com/switchboard-dev/switchboard/wire/fold"
)

// Journal is the durable log of all sessions and the tables that are derived
// from it. All methods are safe for concurrent use.
//
// An implementation keeps these promises, and package journaltest holds it to
// them:
//
//   - Commit is atomic: all of a batch is there after a crash, or nothing.
//   - What Commit has returned nil for survives the death of the process, and
//     with [DurabilityFull] that of the machine.
//   - The entries of a session are numbered 1, 2, 3 … without a hole.
//   - Reads see every batch whose Commit has returned.
//
// Nothing in it assumes that there is one process: a batch says which entry it
// follows, and is refused with [ErrConflict] if another writer has written since.
type Journal interface {
	// Commit writes a batch. It returns the positions of the first and last
	// entry (0, 0 if it has none). Batches of several sessions that wait at the
	// same time are written in one transaction; an error of one does not concern
	// the others. An error means that nothing of the batch is there. ctx is looked
	// at until the batch is being written.
	//
	// It fails with [ErrConflict] if Batch.After is not the session's last
	// sequence number or a lease or client id is taken (a *TakenError), and with an
	// *[UnavailableError] if the storage is full or cannot be written, which may
	// pass: nothing of the batch is written then, and the same batch may be tried
	// again.
	Commit(ctx context.Context, b *Batch) (first, last int64, err error)

	// Entries returns the entries of a session with After < Seq, in order: at
	// most limit of them, and no more than about maxBytes of lines and data, but
	// at least one. limit <= 0 means 1000, maxBytes <= 0 means 4 MiB.
	Entries(ctx context.Context, session string, after int64, limit int, maxBytes int64) ([]Entry, error)
	// EntriesByPosition is the same over all sessions, in the order in which they
	// were committed.
	EntriesByPosition(ctx context.Context, after int64, limit int, maxBytes int64) ([]Entry, error)
	// LastPosition is the position of the newest entry, 0 if there is none.
	LastPosition(ctx context.Context) (int64, error)
	// ID names the journal: positions of two journals have nothing to do with each
	// other.
	ID() string

	// Session returns a session's row, [ErrNotFound] if there is none.
	Session(ctx context.Context, id string) (*Session, error)
	// Sessions lists rows, the most recently updated first.
	Sessions(ctx context.Context, q SessionQuery) (SessionPage, error)
	// SessionByConversation returns the session that has had this conversation,
	// the most recently updated one; [ErrNotFound] if there is none. Sessions whose
	// data has the member unauthenticated, set to true, come after all others.
	SessionByConversation(ctx context.Context, conversation string) (*Session, error)
	// Fold returns the newest fold of a session that was stored with a batch;
	// nil, 0 if there is none. The entries after seq are to be folded on top.
	Fold(ctx context.Context, session string) (fold []byte, seq int64, err error)

	// Run returns one run, LiveRuns all of all sessions that have not ended.
	Run(ctx context.Context, session string, run int) (*Run, error)
	LiveRuns(ctx context.Context) ([]Run, error)

	// Question returns one question by our id; [ErrNotFound] if there is none.
	Question(ctx context.Context, id string) (*Question, error)
	// Questions lists questions, the oldest first.
	Questions(ctx context.Context, q QuestionQuery) ([]Question, error)

	// Count counts sessions and open questions.
	Count(ctx context.Context) (Counts, error)

	// Turns lists what the turns of a session cost, the oldest first.
	Turns(ctx context.Context, session string) ([]Turn, error)
	// Spent sums up the turns of all sessions that ended at a time or later, by
	// the sessions' machines and folders; since the beginning if it is zero.
	Spent(ctx context.Context, since time.Time) ([]Spent, error)
	// Sums sums up the same turns by something else, see the constants. They come
	// in no particular order.
	Sums(ctx context.Context, by SumBy, since time.Time) ([]Sum, error)
	// Decisions lists the entries that say what was decided about something that
	// an agent wanted to do, the newest first: those of the kinds "decision",
	// "question_settled" and "sandbox_refused".
	Decisions(ctx context.Context, q DecisionQuery) (DecisionPage, error)

	// ClientID returns what was answered to a client id before; [ErrNotFound] if
	// it is new.
	ClientID(ctx context.Context, scope, id string) (*ClientID, error)

	// Preferences lists what a person prefers, by folder: that for all folders first.
	Preferences(ctx context.Context, person string) ([]Preference, error)
	// SavePreference writes a preference, in the place of the one with the same person
	// and folder. It fails with [ErrTooMany] if the person has most others already.
	SavePreference(ctx context.Context, p *Preference, most int) error
	// ForgetPreference removes a preference; it is no error if there is none.
	ForgetPreference(ctx context.Context, person, dir string) error

	// Search finds messages by their text, the newest first. The index lags a
	// little behind the log.
	Search(ctx context.Context, q SearchQuery) (SearchPage, error)

	// Delete removes a session with all that belongs to it; [ErrNotFound] if there
	// is none. Positions are not given out again.
	Delete(ctx context.Context, session string) error
	// Retain removes whole sessions that have ended, the oldest first, until what
	// is left keeps to the limits. It returns how many it removed.
	Retain(ctx context.Context, r Retention) (int, error)
	// Backup writes a consistent copy to a file that does not exist yet; an error
	// that is [errors.ErrUnsupported] says that this journal cannot.
	Backup(ctx context.Context, file string) error
	// Health says whether the last write worked: nil, or the *UnavailableError
	// that stops the intake just now. It is nil again after a Commit that worked.
	Health() error

	// Close waits for what is being written and closes the storage.
	Close() error
}

// A Batch is what is written at once for one session.
type Batch struct {
	// SessionID is the session that everything in the batch belongs to.
	SessionID string
	// After is the sequence number of the session's last entry, 0 for a new one.
	// It fences off writers that have not seen what others wrote.
	After int64
	// Entries get the sequence numbers After+1 …; Session, Seq and Position are
	// filled in by Commit.
	Entries []Entry

	// Rows that are new or changed. Each replaces the row with its key. They are
	// the session's own: their member Session is SessionID, or empty. The first
	// batch of a session must bring Session; [ErrNotFound] otherwise.
	Session   *Session
	Runs      []Run
	Commands  []Command
	Questions []Question
	Turns     []Turn
	// Conversations are to be found by SessionByConversation.
	Conversations []string
	// ClientIDs and Leases must not be there yet, or have the very same owner: the
	// session and, of a client id, the same Sum (its answer is replaced), of a
	// lease the same run.
	ClientIDs []ClientID
	Leases    []Lease
	// Release removes leases that this session holds, whatever their run, before
	// Leases are taken: so a lease is handed on to the next run in one batch.
	Release []Lease

	// Fold, if not nil, is the fold of all entries including this batch's.
	Fold []byte
}

// A Source says where an entry comes from.
type Source string

// The sources.
const (
	SourceAgent   Source = "agent"   // the CLI
	SourcePerson  Source = "person"  // a person at a front end
	SourceProgram Source = "program" // a program that uses the interface
	SourceHub     Source = "hub"     // the hub by itself
)

// An Entry is one row of the log.
type Entry struct {
	// Session and Seq name the entry. Position is its place among all sessions'.
	Session  string
	Seq      int64
	Position int64
	// Run is the run that it belongs to, 0 for none.
	Run int
	// Time is when it was received or happened.
	Time time.Time
	// Source and By name its cause: By is the name of a person, a token or a
	// program, or empty.
	Source Source
	By     string
	// Kind is what it is: "line" for a line of the CLI, "sent" for one to it, else
	// the name of a hub event.
	Kind string
	// UUID is that of the line, if it has one.
	UUID string
	// Line is the line as it came, byte for byte; nil for hub events.
	Line []byte
	// Data is a JSON object that says more, for hub events.
	Data json.RawMessage
}

// A Session is the row of a session: what a list shows, and what finds the rest.
type Session struct {
	ID    string
	Epoch string // made with the first entry
	// Node is the machine that its agent runs on, "" for the hub's own.
	Node string
	Seq  int64 // of the last entry; filled in by Commit
	// Title, Dir, State, Model, Conversation and Run are the current ones.
	Title, Dir, State, Model, Conversation string
	Run                                    int
	// Updated is never earlier than it was, whatever the clock says.
	Created, Updated time.Time
	// Open counts the open questions.
	Open int
	// CostUSD is what the session has cost.
	CostUSD float64
	// Ended and Archived are zero if it is not.
	Ended, Archived time.Time
	// Data is the owner's own JSON: options, summary.
	Data json.RawMessage
}

// A Run is one process of a session.
type Run struct {
	Session string
	Run     int
	// Transport is "shim", "tee", "websocket", "hybrid" or "relay".
	Transport string
	// Node is the machine that it runs on, "" for the hub's own.
	Node string
	// TokenHash is the hash of the run's own credential.
	TokenHash []byte
	// Instance names the shim process that owns the run.
	Instance string
	// Marker is in the environment of everything that the run has started.
	Marker string
	// PID and PIDStart name the shim's process (its start time as the system
	// tells it, so that a pid that is used again is not mistaken).
	PID      int
	PIDStart string
	// Have is the number of the last durable line that is in the log.
	Have int64
	// NextCommand is the number of the run's next command, from 1.
	NextCommand int64
	// LastUUIDs are the uuids of the last lines received, live ones included, of
	// a CLI that dials in.
	LastUUIDs []string
	// Spec is how it was started.
	Spec json.RawMessage
	// Started and Ended: Ended is zero while it is not known to have ended.
	Started, Ended time.Time
	// Reason is why it ended.
	Reason string
}

// A Command is a line for the CLI and what has become of it.
type Command struct {
	// Session and ID name the command; ID is ours.
	Session, ID string
	// Run and Number are its place in the run's outbox; 0 until it is sent.
	Run    int
	Number int64
	// ClientID is the client's own id of it.
	ClientID string
	// Kind is "prompt", "answer", "request", "steer", "initialize" …
	Kind string
	// State is queued, sent, written, picked_up, taken_back, not_delivered or
	// unknown. Settled says that nothing more will happen to it.
	State   string
	Settled bool
	// UUID is that of a prompt, RequestID that of a request or of the question
	// that it answers.
	UUID, RequestID string
	// Line is what is sent. Data is the owner's own JSON.
	Line []byte
	Data json.RawMessage
	By   string
	// Order is the place in the queue of prompts.
	Order            int64
	Created, Updated time.Time
}

// A Question is something that the CLI asks.
type Question struct {
	ID, Session string
	Run         int
	RequestID   string
	Kind        string
	// State is open, answered, answered_too_late or cancelled.
	State string
	// Opened and Settled are sequence numbers; Settled is 0 while it is open.
	Opened, Settled int64
	// Ask is the CLI's request, Answer the line that answers it.
	Ask, Answer []byte
	// By, Reason and Data say how it was settled.
	By, Reason          string
	Data                json.RawMessage
	OpenedAt, SettledAt time.Time
}

// A Turn is what one turn cost.
type Turn struct {
	Session string
	Run     int
	Seq     int64
	Time    time.Time
	CostUSD float64
	// Data holds tokens, models and sub-agents. Its member ms is how long the turn
	// took, in milliseconds.
	Data json.RawMessage
}

// A ClientID remembers what was answered to a client's own id.
type ClientID struct {
	// Scope separates the ids of different calls.
	Scope, ID string
	// Sum is a hash of the request: the same id with another request is refused.
	Sum []byte
	// Answer is what was answered.
	Answer json.RawMessage
	Time   time.Time
}

// A Lease says that one run drives a conversation.
type Lease struct {
	ConfigDir, Conversation string
	Session                 string
	Run                     int
}

// A SessionQuery selects sessions. The zero value selects all that are not
// archived.
type SessionQuery struct {
	// States selects by state, Failed sessions whose data has failed: true, Dir by
	// folder, Text by a part of title or folder. With States and Failed one of them
	// suffices.
	States   []string
	Failed   bool
	Dir      string
	Text     string
	Archived bool // also those that are archived
	// Node selects by machine: its id, or what the member node of the session's data
	// calls it. If empty, all.
	Node string
	// Cursor is that of a page before; Limit is at most 1000, 100 if zero.
	Cursor string
	Limit  int
}

// A SessionPage is a part of a list.
type SessionPage struct {
	Sessions []Session
	// Next is the cursor of the next page, empty on the last.
	Next string
}

// A QuestionQuery selects questions. The zero value selects all.
type QuestionQuery struct {
	Session string
	State   string
	Kind    string
	// Prefix is what their ids begin with.
	Prefix string
	// After is the id of the question after which the list begins.
	After string
	Limit int
}

// Counts says how many there are of what.
type Counts struct {
	// Sessions counts by state, OpenQuestions by kind.
	Sessions, OpenQuestions map[string]int
}

// A SearchQuery looks for words. Session may be empty.
type SearchQuery struct {
	// Text holds words that all must be there, "phrases in quotes", and
	// beginnings of words with a * at their end; case does not matter.
	Text    string
	Session string
	Cursor  string
	Limit   int // 20 if zero
}

// The speakers of what is found.
const (
	SpeakerUser      = "user"      // a person or a program
	SpeakerAssistant = "assistant" // the agent
	SpeakerResult    = "result"    // the end of a turn
	SpeakerTool      = "tool"      // the result of a tool
	SpeakerPlan      = "plan"      // the result of a plan, which repeats it
	SpeakerSubagent  = "subagent"  // a sub-agent, or its report
	SpeakerSystem    = "system"    // the CLI, in the user's name
)

// A Hit is a message that was found.
type Hit struct {
	Session string
	Seq     int64
	Time    time.Time
	// Kind is the speaker: one of the Speaker constants.
	Kind string
	// Snippet is the text around the words, which are marked by \x02 and \x03.
	Snippet string
}

// A SearchPage is a part of what was found.
type SearchPage struct {
	Hits []Hit
	Next string
}

// Retention limits what is kept of ended sessions. Zero means no limit.
type Retention struct {
	MaxAge   time.Duration
	MaxBytes int64
	// Now is the time that age is counted from.
	Now time.Time
	// Guard is asked before a session is removed: it keeps the session from
	// being used until release is called, or says that it is in use. If nil, all
	// may be removed.
	Guard func(session string) (release func(), ok bool)
}

// Spent is what the sessions of a folder have used.
type Spent struct {
	// Node is the machine of the folder, "" for the hub's own.
	Node, Dir string
	// CostUSD, Turns and Millis sum up their turns: money, number and time.
	CostUSD float64
	Turns   int64
	Millis  int64
}

// A SumBy says what turns are summed up by.
type SumBy string

// What turns can be summed up by.
const (
	// SumBySession gives one Sum for each session: its Key is the session's id.
	SumBySession SumBy = "session"
	// SumByQuarter gives one for each quarter of an hour: its Time is when that
	// began. The days of every time zone are made of them.
	SumByQuarter SumBy = "quarter"
	// SumByModel gives one for each model: its Key is the model's name, empty for
	// turns that do not tell one. The money is what the model cost, and a turn of
	// several models counts for each.
	SumByModel SumBy = "model"
)

// A Sum is what a part of the turns has used.
type Sum struct {
	Key  string
	Time time.Time
	// Title and Dir are those of the session.
	Title, Dir string
	CostUSD    float64
	Turns      int64
	Millis     int64
	// Tokens are those of the turns that tell them by model.
	Tokens fold.Tokens
}

// A DecisionQuery selects decisions. The zero value selects all.
type DecisionQuery struct {
	Session string
	// Since leaves out what was decided before.
	Since time.Time
	// Cursor is that of a page before; Limit is at most 1000, 100 if zero.
	Cursor string
	Limit  int
}

// A DecisionPage is a part of the decisions.
type DecisionPage struct {
	Entries []Entry
	// Epochs are the epochs of the entries' sessions.
	Epochs map[string]string
	// Next is the cursor of the next page, empty on the last.
	Next string
}
