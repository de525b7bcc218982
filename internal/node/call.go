package node

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/sandbox"
)

// The methods of calls, with the types of their bodies and answers.
const (
	MethodStart       = "start"       // Start, Launched
	MethodLife        = "life"        // Process, LifeAnswer
	MethodSweep       = "sweep"       // Sweep, Swept
	MethodHistory     = "history"     // History, Opened
	MethodPlan        = "plan"        // PlanQuery, PlanFile
	MethodResolve     = "resolve"     // Paths, Resolutions
	MethodTranscripts = "transcripts" // TranscriptQuery, Transcripts
	MethodSearch      = "search"      // Search, TranscriptSearch
	MethodTranscript  = "transcript"  // History without ConfigDir, Opened
	MethodFolders     = "folders"     // Folders, FolderList
	MethodLook        = "look"        // Paths, FolderList
	MethodSpool       = "spool"       // Spool, Opened
	MethodTaken       = "taken"       // Taken, nothing
	MethodNext        = "next"        // Handle, Piece
	MethodClose       = "close"       // Handle, nothing
)

// A Start says what to start. It holds secrets.
type Start struct {
	Session         string             `json:"session"`
	Run             int                `json:"run"`
	Token           string             `json:"token"`
	Marker          string             `json:"marker"`
	Dir             string             `json:"dir"`
	Resume          string             `json:"resume,omitempty"`
	At              string             `json:"at,omitempty"`
	Fork            bool               `json:"fork,omitempty"`
	Options         api.SessionOptions `json:"options"`
	BypassingAgents bool               `json:"bypassing_agents,omitempty"`
	Deny            []string           `json:"deny,omitempty"`
	Ask             []string           `json:"ask,omitempty"`
	Sandbox         sandbox.Policy     `json:"sandbox"`
}

// Launched says what was started.
type Launched struct {
	PID       int         `json:"pid"`
	PIDStart  string      `json:"pid_start"`
	Version   string      `json:"version,omitempty"`
	Simulated bool        `json:"simulated,omitempty"`
	ConfigDir string      `json:"config_dir,omitempty"`
	Sandbox   api.Sandbox `json:"sandbox"`
}

// A Process is the process of a run. PID is 0 if its start was never confirmed.
type Process struct {
	Session  string `json:"session"`
	Run      int    `json:"run"`
	PID      int    `json:"pid,omitempty"`
	PIDStart string `json:"pid_start,omitempty"`
}

// LifeAnswer says whether a process lives.
type LifeAnswer struct {
	Alive bool `json:"alive"`
}

// A Sweep asks to end everything that carries a marker.
type Sweep struct {
	Marker string `json:"marker"`
}

// Swept says how many processes that were.
type Swept struct {
	Processes int `json:"processes"`
}

// A History asks for the lines of a conversation.
type History struct {
	ConfigDir    string `json:"config_dir,omitempty"`
	Dir          string `json:"dir,omitempty"`
	Conversation string `json:"conversation"`
}

// A PlanQuery says whose plan is looked for. Since is a time of the node's clock.
type PlanQuery struct {
	ConfigDir    string          `json:"config_dir"`
	Dir          string          `json:"dir"`
	Conversation string          `json:"conversation,omitempty"`
	Path         string          `json:"path,omitempty"`
	Agent        string          `json:"agent,omitempty"`
	Since        time.Time       `json:"since,omitzero"`
	Settings     json.RawMessage `json:"settings,omitempty"`
}

// A PlanFile is a plan as it was found.
type PlanFile struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// MaxPaths is how many paths one call asks about.
const MaxPaths = 256

// Paths asks about paths.
type Paths struct {
	Paths []string `json:"paths"`
}

// Resolutions are where paths lead, in their order.
type Resolutions struct {
	Resolved []Resolved `json:"resolved"`
}

// A Resolved is where a path leads. Err says why that is not known.
type Resolved struct {
	Path string `json:"path,omitempty"`
	Err  string `json:"err,omitempty"`
}

// A TranscriptQuery selects transcripts.
type TranscriptQuery struct {
	Dir          string    `json:"dir,omitempty"`
	Conversation string    `json:"conversation,omitempty"`
	Prefix       string    `json:"prefix,omitempty"`
	Before       time.Time `json:"before,omitzero"`
	BeforeAfter  string    `json:"before_after,omitempty"`
	Limit        int       `json:"limit,omitempty"`
}

// A TranscriptFile is a conversation on disk.
type TranscriptFile struct {
	Conversation string     `json:"conversation"`
	Dir          string     `json:"dir,omitempty"`
	Title        string     `json:"title,omitempty"`
	Modified     time.Time  `json:"modified"`
	Bytes        int64      `json:"bytes"`
	Snippet      string     `json:"snippet,omitempty"`
	Marks        []api.Mark `json:"marks,omitempty"`
}

// Transcripts is a list of conversations.
type Transcripts struct {
	Files []TranscriptFile `json:"files"`
}

// A Search looks for a text in conversations.
type Search struct {
	Query TranscriptQuery `json:"query"`
	Text  string          `json:"text"`
}

// A TranscriptSearch is what was found, and where to go on.
type TranscriptSearch struct {
	Files       []TranscriptFile `json:"files"`
	Before      time.Time        `json:"before,omitzero"`
	BeforeAfter string           `json:"before_after,omitempty"`
}

// Folders asks to complete the beginning of a path.
type Folders struct {
	Prefix string `json:"prefix"`
	Limit  int    `json:"limit"`
}

// FolderList is a list of folders.
type FolderList struct {
	Folders []api.Folder `json:"folders"`
}

// A Spool asks for a file that a shim has left. Its name is one that the facts told.
type Spool struct {
	Name string `json:"name"`
}

// Taken tells that what a shim has left is in the journal. Damaged says that the file was
// not whole: it is set aside.
type Taken struct {
	Name    string `json:"name"`
	Damaged bool   `json:"damaged,omitempty"`
}

// Opened has the handle of a stream.
type Opened struct {
	Handle uint64 `json:"handle"`
}

// A Handle names a stream.
type Handle struct {
	Handle uint64 `json:"handle"`
}

// A Piece is the next part of a stream.
type Piece struct {
	Bytes []byte `json:"bytes"`
	// End says that there is no more; the handle is closed then.
	End bool `json:"end,omitempty"`
}

// The codes of [Failure]. Those of a start are the codes of package launch.
const (
	// NotExist means that there is no such thing.
	NotExist = "not_exist"
	// Invalid means that the call makes no sense.
	Invalid = "invalid"
	// Busy means that there are too many calls or streams.
	Busy = "busy"
	// Full means that the node has as many sessions as it may.
	Full = "full"
	// Failed means that the system refused.
	Failed = "failed"
)

// A Failure says why a call was not answered otherwise.
type Failure struct {
	Code string `json:"code"`
	// Reason is one sentence without a capital letter or a full stop, Hint what to do.
	Reason string `json:"reason"`
	Hint   string `json:"hint,omitempty"`
}

// Error gives the reason and the hint.
func (f *Failure) Error() string {
	if f.Hint == "" {
		return f.Reason
	}
	return f.Reason + "; " + f.Hint
}

// StartProblem returns the failure of a start in the form in which clients are told.
func (f *Failure) StartProblem() *api.Error {
	e := &api.Error{Status: http.StatusBadGateway, Code: api.CodeStartFailed, Title: "The agent could not be started", Detail: f.Reason, Hint: f.Hint}
	switch f.Code {
	case "bad_dir", "bad_option":
		e.Status, e.Code = http.StatusUnprocessableEntity, api.CodeInvalid
	case "forbidden":
		e.Status, e.Code = http.StatusForbidden, api.CodeForbidden
	case "running", Full:
		e.Status, e.Code = http.StatusConflict, api.CodeConflict
	}
	return e
}
