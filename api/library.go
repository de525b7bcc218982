package api

import (
	"encoding/json"
	"time"
)

// SearchFilter looks for messages by their text.
type SearchFilter struct {
	Text    string `json:"q"`
	Session string `json:"session,omitempty"`
	Cursor  string `json:"cursor,omitempty"`
	Limit   int    `json:"limit,omitempty"`
}

// A SearchHit is a message that was found.
type SearchHit struct {
	Session string    `json:"session"`
	Title   string    `json:"title,omitempty" doc:"The session's title"`
	Dir     string    `json:"dir,omitempty"`
	EventID string    `json:"event_id"`
	Seq     int64     `json:"seq"`
	Time    time.Time `json:"time"`
	Kind    string    `json:"kind" enum:"user,assistant,result,tool,plan,subagent,system" doc:"Who said it: user (a person or program), assistant, result (the end of a turn), tool (a result of a tool), plan, subagent, system (the CLI itself)"`
	// Snippet is the text around the words; Marks are the words within it.
	Snippet string `json:"snippet"`
	Marks   []Mark `json:"marks,omitempty"`
}

// A Mark is a part of a text, counted in characters (Unicode code points).
type Mark struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// SearchResult is a page of messages, the newest first.
type SearchResult struct {
	Hits []SearchHit `json:"hits"`
	Next string      `json:"next,omitempty" doc:"The cursor of the next page"`
}

// A TimelineItem is one thing that happened in a session, in a line.
type TimelineItem struct {
	EventID string    `json:"event_id"`
	Seq     int64     `json:"seq"`
	Run     int       `json:"run,omitempty"`
	Time    time.Time `json:"time"`
	// Kind is turn, prompt, tool, question, decision, state, run, gap, budget,
	// mode, notice or refusal. More may come.
	Kind  string `json:"kind"`
	Title string `json:"title" doc:"What happened, in one line"`
	By    string `json:"by,omitempty"`
	// Millis and USD are told of what took time or money.
	Millis int64   `json:"ms,omitempty"`
	USD    float64 `json:"usd,omitempty"`
	Failed bool    `json:"failed,omitempty"`
}

// Timeline is a page of what happened in a session, the oldest first.
type Timeline struct {
	Items []TimelineItem `json:"items"`
	Next  string         `json:"next,omitempty" doc:"The id to continue after"`
	More  bool           `json:"more,omitempty"`
}

// AuditFilter selects decisions.
type AuditFilter struct {
	Session string `json:"session,omitempty"`
	// Automatic is nil for all, else only those made by a rule (true) or by
	// a person (false).
	Automatic *bool `json:"automatic,omitempty"`
	// Refused leaves only what a sandbox refused.
	Refused bool      `json:"refused,omitempty"`
	Since   time.Time `json:"since,omitzero"`
	Cursor  string    `json:"cursor,omitempty"`
	Limit   int       `json:"limit,omitempty"`
}

// An AuditItem is one decision about what an agent wanted to do.
type AuditItem struct {
	Session  string    `json:"session"`
	EventID  string    `json:"event_id"`
	Time     time.Time `json:"time"`
	Decision string    `json:"decision" doc:"allow, deny, ask, refused by the sandbox, or what the answer said"`
	Tool     string    `json:"tool,omitempty"`
	Title    string    `json:"title,omitempty" doc:"What the agent wanted to do, in one line"`
	By       string    `json:"by,omitempty"`
	Source   string    `json:"source,omitempty" enum:"agent,person,program,hub"`
	Rule     *RuleRef  `json:"rule,omitempty" doc:"The rule that decided"`
	Question string    `json:"question,omitempty" doc:"The id of the question"`
	Reason   string    `json:"reason,omitempty"`
	// Refusal is what a sandbox refused, with decision refused.
	Refusal *SandboxRefusal `json:"refusal,omitempty" doc:"What the sandbox refused, with decision refused"`
}

// Audit is a page of decisions, the newest first.
type Audit struct {
	Items []AuditItem `json:"items"`
	Next  string      `json:"next,omitempty"`
}

// CostFilter selects what is summed up.
type CostFilter struct {
	Since time.Time `json:"since,omitzero"`
	// By is session, dir, day or model.
	By string `json:"by,omitempty"`
}

// Costs sums up what agents have cost.
type Costs struct {
	USD    float64    `json:"usd"`
	Turns  int64      `json:"turns"`
	Millis int64      `json:"ms"`
	Tokens *Tokens    `json:"tokens,omitempty" doc:"From turns that report them by model"`
	Items  []CostItem `json:"items"`
}

// A CostItem is a part of the costs.
type CostItem struct {
	Key    string  `json:"key" doc:"The session's id, the folder, the day or the model"`
	Title  string  `json:"title,omitempty"`
	USD    float64 `json:"usd"`
	Turns  int64   `json:"turns,omitempty"`
	Millis int64   `json:"ms,omitempty"`
	Tokens *Tokens `json:"tokens,omitempty"`
}

// Tokens count tokens by what was done with them.
type Tokens struct {
	Input      int64 `json:"input" doc:"Input without the cache"`
	Output     int64 `json:"output" doc:"Written"`
	CacheRead  int64 `json:"cache_read" doc:"Cache reads"`
	CacheWrite int64 `json:"cache_write" doc:"Cache writes"`
}

// Drift counts what this server does not know in the lines of CLIs.
type Drift struct {
	Items []DriftItem `json:"items"`
}

// A DriftItem is one thing that is not known.
type DriftItem struct {
	Version string `json:"version,omitempty" doc:"The version of the CLI"`
	// Kind is type, subtype, request, member or invalid.
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	Count int64  `json:"count"`
}

// Budgets are the limits that the server was given, with their use.
type Budgets struct {
	Budgets []BudgetUse `json:"budgets"`
}

// TranscriptFilter selects conversations that the CLI has written to disk.
type TranscriptFilter struct {
	Dir string `json:"dir,omitempty" doc:"Only those of this folder"`
	// Conversation is what their ids begin with, Text words that were said in
	// them.
	Conversation string `json:"conversation,omitempty"`
	Text         string `json:"q,omitempty"`
	// Node is the machine whose conversations they are; the hub's own if empty.
	Node   string `json:"node,omitempty"`
	Limit  int    `json:"limit,omitempty"`
	Cursor string `json:"cursor,omitempty"`
}

// A Transcript is a conversation that the CLI has written to disk.
type Transcript struct {
	Conversation string    `json:"conversation" doc:"The CLI's session_id"`
	Dir          string    `json:"dir,omitempty" doc:"Its working folder"`
	Title        string    `json:"title,omitempty" doc:"Its title, or the beginning of its last or first prompt"`
	Modified     time.Time `json:"modified"`
	Bytes        int64     `json:"bytes"`
	Node         string    `json:"node,omitempty" doc:"The name of the machine that it is on; absent for the hub's own"`
	// Session is the session of this server that has the conversation.
	Session string `json:"session,omitempty"`
	// Snippet is the text around the words that were looked for; Marks are the words
	// within it.
	Snippet string `json:"snippet,omitempty"`
	Marks   []Mark `json:"marks,omitempty"`
}

// TranscriptList is a page of transcripts, the newest first.
type TranscriptList struct {
	Transcripts []Transcript `json:"transcripts"`
	Next        string       `json:"next,omitempty" doc:"The cursor of the next page; a page that isn't full may have one too"`
}

// TranscriptPage is a part of a transcript.
type TranscriptPage struct {
	Lines []json.RawMessage `json:"lines" doc:"Its lines unchanged, without those discarded by a rewind"`
	Next  int               `json:"next,omitempty" doc:"The number of the line to continue with"`
	More  bool              `json:"more,omitempty"`
}

// Adopt makes a session that continues a conversation on disk.
type Adopt struct {
	ClientID string         `json:"client_id,omitempty" maxLength:"128"`
	Node     string         `json:"node,omitempty" maxLength:"64" doc:"The machine that the conversation is on: a name or id of list-nodes; default: the hub's own"`
	Dir      string         `json:"dir,omitempty" doc:"Working folder; default: that of the conversation"`
	Title    string         `json:"title,omitempty" maxLength:"512"`
	Prompt   string         `json:"prompt,omitempty"`
	Fork     bool           `json:"fork,omitempty" doc:"Continue with a copy"`
	Options  SessionOptions `json:"options,omitzero"`
	// Preset and Except are as in [CreateSession].
	Preset string   `json:"preset,omitempty" maxLength:"64" doc:"A preset of the hub, as in create-session"`
	Except []string `json:"except,omitempty" doc:"Options of the preset that do not apply, as in create-session"`
}

// Folders suggests folders to work in.
type Folders struct {
	Folders []Folder `json:"folders"`
}

// A Folder is one that a user may want to work in.
type Folder struct {
	Path string `json:"path"`
	// Used is when a session or conversation was last there.
	Used time.Time `json:"used,omitzero"`
	// Git says that it is the top of a working tree.
	Git bool `json:"git,omitempty"`
}

// RulesFile is the text of the rules file.
type RulesFile struct {
	Path string `json:"path,omitempty"`
	Text string `json:"text"`
	// Hash names this text, for Replace.
	Hash string `json:"hash"`
}

// ReplaceRules puts another text into the rules file.
type ReplaceRules struct {
	Text string `json:"text" maxLength:"1048576"`
	// Hash is that of the text that is replaced: what another client has written
	// meanwhile is not lost.
	Hash string `json:"hash"`
}

// ExplainCall asks what the rules say about a call.
type ExplainCall struct {
	Tool    string          `json:"tool" example:"Bash"`
	Input   json.RawMessage `json:"input,omitempty" doc:"The tool's input"`
	Dir     string          `json:"dir,omitempty" doc:"The agent's working folder"`
	Session string          `json:"session,omitempty" doc:"A session whose folder and own rules apply"`
}

// TestRules asks what a rules file would decide about the calls of sessions.
type TestRules struct {
	Text     string   `json:"text,omitempty" maxLength:"262144" doc:"The rules, at most 5000; default: those in force"`
	Sessions []string `json:"sessions,omitempty" doc:"The sessions to replay; default: the newest"`
	Limit    int      `json:"limit,omitempty" minimum:"1" maximum:"100" doc:"Maximum number of sessions"`
}

// RulesTested says what rules would have decided.
type RulesTested struct {
	Calls   int          `json:"calls"`
	Allowed int          `json:"allowed"`
	Asked   int          `json:"asked"`
	Denied  int          `json:"denied"`
	Changed []ChangedRow `json:"changed,omitempty" doc:"Calls that would be decided differently"`
	// Incomplete says that there were more calls than are looked at for one request.
	Incomplete bool `json:"incomplete,omitempty" doc:"There were too many calls; use fewer sessions or rules"`
}

// A ChangedRow is a call that rules would decide otherwise.
type ChangedRow struct {
	Session string   `json:"session"`
	EventID string   `json:"event_id,omitempty"`
	Tool    string   `json:"tool"`
	Title   string   `json:"title,omitempty"`
	Was     string   `json:"was"`
	Now     string   `json:"now"`
	Rule    *RuleRef `json:"rule,omitempty"`
}
