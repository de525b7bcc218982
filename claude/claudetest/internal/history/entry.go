package history

import (
	"encoding/json"
	"errors"
	"fmt"
)

// A Type is the kind of a line in a transcript.
type Type string

// The types of lines that [Store.Append] takes. Other lines are written by the methods that have a reason to.
const (
	User       Type = "user"       // what the user said, or what the CLI says in the user's name: results of tools, notes
	Assistant  Type = "assistant"  // one block of what the model said
	System     Type = "system"     // a note of the CLI; with Entry.Compact, the point up to which the conversation was summed up
	Attachment Type = "attachment" // something that the CLI put beside the user's words; the oldest versions do not keep it
)

// An Entry is a line of a transcript. The store adds what every line has: its place in the chain, time, folder and version.
type Entry struct {
	Session string // id of the session
	Agent   string // id of the sub-agent, whose lines have a transcript of their own; empty for the session's own lines
	Type    Type

	// UUID is the line's own id, the one that the wire shows too. If empty, a new one.
	UUID string

	// Message is the message of a User or Assistant entry: {"role":…,"content":…} and what else the API said about it.
	Message json.RawMessage

	// PermissionMode marks a User entry as a prompt and is the mode it was read in: "default" and so on.
	PermissionMode string

	// PromptID is the turn that a User entry belongs to, where the version keeps it. If empty, a new one for a prompt, and that of the last
	// prompt for anything else.
	PromptID string

	// ToolUseResult is the structured result of a tool in a User entry, and SourceUUID the Assistant entry with the call: the line hangs
	// there and not at the end of the chain, since several calls may be open.
	ToolUseResult json.RawMessage
	SourceUUID    string

	// DenialKind says why the tool of a User entry did not run, where the version keeps it: "user-rejected", "interrupted".
	DenialKind string

	// Meta marks a User entry that the user is not shown, CompactSummary one that sums up what was said before.
	Meta           bool
	CompactSummary bool

	// RequestID is the API's id of the request that an Assistant entry came from.
	RequestID string

	// BlockIndex is the position of an Assistant entry's block in its message.
	BlockIndex int

	// Synthetic marks an Assistant entry that the CLI made up. Error is set if it tells of an error of the API ("rate_limit" and so on) and
	// makes it synthetic; Status is the HTTP status and ErrorType the API's type of it, if there was one.
	Synthetic bool
	Error     string
	Status    int
	ErrorType string

	// Aborted marks an Assistant entry that was cut short by an interrupt.
	Aborted bool

	// Subtype, Text and Level are those of a System entry; an empty Level is "info". If Compact is set, all three are the ones that fit.
	Subtype string
	Text    string
	Level   string
	Compact *Compact

	// Body is the attachment of an Attachment entry: an object with a type. See [QueuedCommand].
	Body json.RawMessage
}

// Compact is what a transcript tells about a summary that took the place of the conversation up to here.
type Compact struct {
	Trigger    string // "manual" or "auto"
	PreTokens  int
	PostTokens int // not on the oldest versions
	DurationMS int // not on the oldest versions
}

// QueuedCommand returns the body of the Attachment that stands for a prompt which was folded into the running turn.
func QueuedCommand(prompt, uuid string) json.RawMessage {
	var o object
	o.add("type", "queued_command")
	o.add("prompt", prompt)
	o.add("source_uuid", uuid)
	o.add("commandMode", "prompt")
	return o.bytes()
}

// check reports what the entry lacks.
func (e *Entry) check() error {
	switch e.Type {
	case User, Assistant:
		var m struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		}
		if err := json.Unmarshal(e.Message, &m); err != nil {
			return fmt.Errorf("reading the message: %w", err)
		}
		if m.Role != string(e.Type) {
			return fmt.Errorf("expected a message of the role %s, found %q", e.Type, m.Role)
		}
		return nil
	case System:
		if e.Subtype == "" && e.Compact == nil {
			return errors.New("expected a subtype, found none")
		}
		return nil
	case Attachment:
		var body struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(e.Body, &body); err != nil {
			return fmt.Errorf("reading the attachment: %w", err)
		}
		return nil
	default:
		return fmt.Errorf("expected a user, assistant, system or attachment entry, found %q", e.Type)
	}
}

// kept reports whether the version keeps such a line at all.
func (s *Store) kept(e *Entry) bool { return e.Type != Attachment || s.at120 }

// encode returns the line of an entry. The mutex must be held.
func (s *Store) encode(st *session, e *Entry, parent string) ([]byte, error) {
	var o object
	o.addParent("parentUuid", parent, e.Compact != nil)
	if e.Compact != nil {
		o.addParent("logicalParentUuid", parent, false)
	}
	o.add("isSidechain", e.Agent != "")
	if !s.at120 {
		s.addPlace(&o, e.Session)
	}
	if e.Type == User && s.at120 {
		o.add("promptId", e.PromptID)
	}
	if e.Agent != "" {
		o.add("agentId", e.Agent)
	}
	if st.slug != "" && !s.at120 {
		o.add("slug", st.slug)
	}
	switch e.Type {
	case User:
		s.addUser(&o, st, e)
	case Assistant:
		s.addAssistant(&o, e)
	case System:
		s.addSystem(&o, e)
	case Attachment:
		o.add("attachment", e.Body)
		o.add("type", e.Type)
		s.addID(&o, e)
	}
	if s.at120 {
		s.addPlace(&o, e.Session)
		if st.slug != "" {
			o.add("slug", st.slug)
		}
	}
	return o.bytes(), o.err
}

// addID adds what tells a line from all others.
func (s *Store) addID(o *object, e *Entry) {
	o.add("uuid", e.UUID)
	o.add("timestamp", stamp(s.now()))
}

// addPlace adds where a line comes from; the oldest versions say so before everything else, newer ones at the end.
func (s *Store) addPlace(o *object, session string) {
	o.add("userType", "external")
	if s.at120 {
		o.add("entrypoint", "sdk-cli")
	}
	o.add("cwd", s.dir)
	o.add("sessionId", session)
	o.add("version", s.version)
	o.add("gitBranch", "HEAD")
}

func (s *Store) addUser(o *object, st *session, e *Entry) {
	o.add("type", e.Type)
	o.add("message", e.Message)
	if e.CompactSummary {
		o.add("isVisibleInTranscriptOnly", true)
		o.add("isCompactSummary", true)
	}
	if e.Meta {
		o.add("isMeta", true)
	}
	s.addID(o, e)
	if e.PermissionMode != "" && e.Agent == "" {
		o.add("permissionMode", e.PermissionMode)
		if s.at325 {
			o.add("promptSource", "sdk")
			o.add("turnOrigin", "sdk")
			o.add("turnPosition", map[string]int{"promptIndex": 0, "turnIndex": st.turns})
			o.add("turnAttributionKey", e.UUID)
		}
	}
	if len(e.ToolUseResult) > 0 {
		o.add("toolUseResult", e.ToolUseResult)
	}
	if e.DenialKind != "" && s.at325 {
		o.add("toolDenialKind", e.DenialKind)
	}
	if e.SourceUUID != "" {
		o.add("sourceToolAssistantUUID", e.SourceUUID)
	}
}

func (s *Store) addAssistant(o *object, e *Entry) {
	if e.Synthetic || e.Error != "" {
		o.add("type", e.Type)
		s.addID(o, e)
		o.add("message", e.Message)
		if e.RequestID != "" && s.at325 {
			o.add("requestId", e.RequestID)
		}
		if e.Error != "" {
			o.add("error", e.Error)
		}
		o.add("isApiErrorMessage", e.Error != "")
		if e.Status != 0 && s.at120 {
			o.add("apiErrorStatus", e.Status)
		}
		if e.ErrorType != "" && s.at325 {
			o.add("apiErrorType", e.ErrorType)
		}
		return
	}
	o.add("message", e.Message)
	if s.at325 {
		o.add("apiBlockIndex", e.BlockIndex)
	}
	if e.RequestID != "" {
		o.add("requestId", e.RequestID)
	}
	o.add("type", e.Type)
	s.addID(o, e)
	if e.Aborted && s.at325 {
		o.add("isAbortedMidStream", true)
	}
	if s.at325 {
		o.add("madeBy", "model")
	}
}

func (s *Store) addSystem(o *object, e *Entry) {
	subtype, text, level := e.Subtype, e.Text, e.Level
	if e.Compact != nil {
		subtype, text, level = "compact_boundary", "Conversation compacted", "info"
	}
	if level == "" {
		level = "info"
	}
	o.add("type", e.Type)
	o.add("subtype", subtype)
	o.add("content", text)
	o.add("isMeta", false)
	o.add("timestamp", stamp(s.now()))
	o.add("uuid", e.UUID)
	o.add("level", level)
	if c := e.Compact; c != nil {
		var meta object
		meta.add("trigger", c.Trigger)
		meta.add("preTokens", c.PreTokens)
		if s.at120 {
			meta.add("postTokens", c.PostTokens)
			meta.add("durationMs", c.DurationMS)
		}
		o.add("compactMetadata", json.RawMessage(meta.bytes()))
	}
}
