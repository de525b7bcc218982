// Code generated from schema/*.wire by wire/internal/gen. DO NOT EDIT.

package wire

import "encoding/json"

// Assistant is one finished content block, or a few, of the model's answer.
// Lines that share message.id are parts of one message; on all but the last
// the usage is not final.
type Assistant struct {
	Source
	// The message as the API knows it.
	Message APIMessage `json:"message"`

	// The tool call of the sub-agent that wrote it; empty for the main
	// conversation.
	ParentToolUseID string `json:"parent_tool_use_id"`

	// Set when the text is not the model's but tells of an API failure.
	Error AssistantError `json:"error,omitempty"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`

	// The API's own id of the request.
	RequestID string `json:"request_id,omitempty"`

	// The user message that is answered.
	UserMessageUUID string `json:"user_message_uuid,omitempty"`

	// All user messages that are answered, where several were merged.
	UserMessageUUIDs []string `json:"user_message_uuids,omitempty"`

	// Why the turn was resumed.
	ResumeReason string `json:"resume_reason,omitempty"`

	// The turn went on after thinking was cut off.
	ResumedFromIncompleteThinking bool `json:"resumed_from_incomplete_thinking,omitempty"`

	// Earlier lines, by uuid, that are to be deleted.
	Supersedes []string `json:"supersedes,omitempty"`

	// The answer was cut off by an interrupt.
	Aborted bool `json:"aborted,omitempty"`

	// The sub-agent that wrote it.
	AgentID string `json:"agent_id,omitempty"`

	// The kind of that sub-agent.
	SubagentType string `json:"subagent_type,omitempty"`

	// What that sub-agent was asked to do.
	TaskDescription string `json:"task_description,omitempty"`

	// When it was written.
	Timestamp string `json:"timestamp,omitempty"`

	// How full the context is; written by the command that asks for it.
	ContextUsage *ContextUsage `json:"context_usage,omitempty"`

	// What was used so far; written by the command that asks for it.
	UsageReport *UsageReport `json:"usage_report,omitempty"`
}

func (v *Assistant) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "message":
		return setStruct[APIMessage](d, &v.Message, raw)
	case "parent_tool_use_id":
		return setString[string](d, &v.ParentToolUseID, raw)
	case "error":
		return setString[AssistantError](d, &v.Error, raw)
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	case "request_id":
		return setString[string](d, &v.RequestID, raw)
	case "user_message_uuid":
		return setString[string](d, &v.UserMessageUUID, raw)
	case "user_message_uuids":
		return setList(d, &v.UserMessageUUIDs, raw, setString[string])
	case "resume_reason":
		return setString[string](d, &v.ResumeReason, raw)
	case "resumed_from_incomplete_thinking":
		return setBool(d, &v.ResumedFromIncompleteThinking, raw)
	case "supersedes":
		return setList(d, &v.Supersedes, raw, setString[string])
	case "aborted":
		return setBool(d, &v.Aborted, raw)
	case "agent_id":
		return setString[string](d, &v.AgentID, raw)
	case "subagent_type":
		return setString[string](d, &v.SubagentType, raw)
	case "task_description":
		return setString[string](d, &v.TaskDescription, raw)
	case "timestamp":
		return setString[string](d, &v.Timestamp, raw)
	case "context_usage":
		return setPointer(d, &v.ContextUsage, raw, setStruct[ContextUsage])
	case "usage_report":
		return setPointer(d, &v.UsageReport, raw, setStruct[UsageReport])
	}
	return false
}

func (v *Assistant) appendMembers(e *encoder) {
	e.raw("type", []byte(`"assistant"`))
	put(e, "message", v.Message, false, always, encStruct[APIMessage])
	put(e, "parent_tool_use_id", v.ParentToolUseID, v.ParentToolUseID == "", nullable, encString[string])
	put(e, "error", v.Error, v.Error == "", optional, encString[AssistantError])
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
	put(e, "request_id", v.RequestID, v.RequestID == "", optional, encString[string])
	put(e, "user_message_uuid", v.UserMessageUUID, v.UserMessageUUID == "", optional, encString[string])
	put(e, "user_message_uuids", v.UserMessageUUIDs, v.UserMessageUUIDs == nil, optional, encList(encString[string]))
	put(e, "resume_reason", v.ResumeReason, v.ResumeReason == "", optional, encString[string])
	put(e, "resumed_from_incomplete_thinking", v.ResumedFromIncompleteThinking, !v.ResumedFromIncompleteThinking, optional, encBool)
	put(e, "supersedes", v.Supersedes, v.Supersedes == nil, optional, encList(encString[string]))
	put(e, "aborted", v.Aborted, !v.Aborted, optional, encBool)
	put(e, "agent_id", v.AgentID, v.AgentID == "", optional, encString[string])
	put(e, "subagent_type", v.SubagentType, v.SubagentType == "", optional, encString[string])
	put(e, "task_description", v.TaskDescription, v.TaskDescription == "", optional, encString[string])
	put(e, "timestamp", v.Timestamp, v.Timestamp == "", optional, encString[string])
	put(e, "context_usage", v.ContextUsage, v.ContextUsage == nil, optional, encPointer(encStruct[ContextUsage]))
	put(e, "usage_report", v.UsageReport, v.UsageReport == nil, optional, encPointer(encStruct[UsageReport]))
}

func (*Assistant) fresh() object { return new(Assistant) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *Assistant) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v Assistant) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*Assistant) message() {}

// MessageType returns the line's type and subtype.
func (*Assistant) MessageType() (typ, subtype string) { return "assistant", "" }

// User is a prompt on the way in, and on the way out whatever the CLI adds in
// the user's name, above all the results of tools.
type User struct {
	Source
	// Role and content.
	Message UserBody `json:"message"`

	// The tool call of the sub-agent it belongs to; empty for the main
	// conversation.
	ParentToolUseID string `json:"parent_tool_use_id"`

	// Written by the CLI, not by a person.
	IsSynthetic bool `json:"isSynthetic,omitempty"`

	// An echo of a message that was accepted, or the output of a local command.
	IsReplay bool `json:"isReplay,omitempty"`

	// What the tool returned, in the tool's own structure.
	ToolUseResult json.RawMessage `json:"tool_use_result,omitempty"`

	// When it is to be worked on.
	Priority MessagePriority `json:"priority,omitempty"`

	// Where it came from.
	Origin *MessageOrigin `json:"origin,omitempty"`

	// False appends it without starting a turn.
	ShouldQuery *bool `json:"shouldQuery,omitempty"`

	// When it was written.
	Timestamp string `json:"timestamp,omitempty"`

	// Take the text literally: no file mentions, no slash commands. Known since
	// 2.1.248.
	ClientComposed bool `json:"client_composed,omitempty"`

	// Identifies the message; a second one with the same uuid is swallowed.
	UUID string `json:"uuid,omitempty"`

	// The conversation. A client may leave it empty.
	SessionID string `json:"session_id,omitempty"`

	// What the user pasted.
	PastedContent []Content `json:"pasted_content,omitempty"`

	// Pasted texts that stand within the prompt.
	InlinePastes []string `json:"inline_pastes,omitempty"`

	// Files that came with an echoed message.
	FileAttachments []json.RawMessage `json:"file_attachments,omitempty"`

	// The sub-agent it belongs to.
	AgentID string `json:"agent_id,omitempty"`

	// The kind of that sub-agent.
	SubagentType string `json:"subagent_type,omitempty"`

	// What that sub-agent was asked to do.
	TaskDescription string `json:"task_description,omitempty"`
}

func (v *User) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "message":
		return setStruct[UserBody](d, &v.Message, raw)
	case "parent_tool_use_id":
		return setString[string](d, &v.ParentToolUseID, raw)
	case "isSynthetic":
		return setBool(d, &v.IsSynthetic, raw)
	case "isReplay":
		return setBool(d, &v.IsReplay, raw)
	case "tool_use_result":
		return setRaw(d, &v.ToolUseResult, raw)
	case "priority":
		return setString[MessagePriority](d, &v.Priority, raw)
	case "origin":
		return setPointer(d, &v.Origin, raw, setStruct[MessageOrigin])
	case "shouldQuery":
		return setPointer(d, &v.ShouldQuery, raw, setBool)
	case "timestamp":
		return setString[string](d, &v.Timestamp, raw)
	case "client_composed":
		return setBool(d, &v.ClientComposed, raw)
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	case "pasted_content":
		return setList(d, &v.PastedContent, raw, setContent)
	case "inline_pastes":
		return setList(d, &v.InlinePastes, raw, setString[string])
	case "file_attachments":
		return setList(d, &v.FileAttachments, raw, setRaw)
	case "agent_id":
		return setString[string](d, &v.AgentID, raw)
	case "subagent_type":
		return setString[string](d, &v.SubagentType, raw)
	case "task_description":
		return setString[string](d, &v.TaskDescription, raw)
	}
	return false
}

func (v *User) appendMembers(e *encoder) {
	e.raw("type", []byte(`"user"`))
	put(e, "message", v.Message, false, always, encStruct[UserBody])
	put(e, "parent_tool_use_id", v.ParentToolUseID, v.ParentToolUseID == "", nullable, encString[string])
	put(e, "isSynthetic", v.IsSynthetic, !v.IsSynthetic, optional, encBool)
	put(e, "isReplay", v.IsReplay, !v.IsReplay, optional, encBool)
	put(e, "tool_use_result", v.ToolUseResult, v.ToolUseResult == nil, optional, encRaw)
	put(e, "priority", v.Priority, v.Priority == "", optional, encString[MessagePriority])
	put(e, "origin", v.Origin, v.Origin == nil, optional, encPointer(encStruct[MessageOrigin]))
	put(e, "shouldQuery", v.ShouldQuery, v.ShouldQuery == nil, optional, encPointer(encBool))
	put(e, "timestamp", v.Timestamp, v.Timestamp == "", optional, encString[string])
	put(e, "client_composed", v.ClientComposed, !v.ClientComposed, optional, encBool)
	put(e, "uuid", v.UUID, v.UUID == "", optional, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", optional, encString[string])
	put(e, "pasted_content", v.PastedContent, v.PastedContent == nil, optional, encList(encContent))
	put(e, "inline_pastes", v.InlinePastes, v.InlinePastes == nil, optional, encList(encString[string]))
	put(e, "file_attachments", v.FileAttachments, v.FileAttachments == nil, optional, encList(encRaw))
	put(e, "agent_id", v.AgentID, v.AgentID == "", optional, encString[string])
	put(e, "subagent_type", v.SubagentType, v.SubagentType == "", optional, encString[string])
	put(e, "task_description", v.TaskDescription, v.TaskDescription == "", optional, encString[string])
}

func (*User) fresh() object { return new(User) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *User) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v User) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*User) message() {}

// MessageType returns the line's type and subtype.
func (*User) MessageType() (typ, subtype string) { return "user", "" }

// StreamEvent is a piece of a message that is still being written. It only
// comes with --include-partial-messages.
type StreamEvent struct {
	Source
	// The API's own event.
	Event Event `json:"event"`

	// The tool call of the sub-agent that writes; empty for the main
	// conversation.
	ParentToolUseID string `json:"parent_tool_use_id"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`

	// Milliseconds until the first token.
	TTFTMs int64 `json:"ttft_ms,omitempty"`

	// The user message that is answered.
	UserMessageUUID string `json:"user_message_uuid,omitempty"`

	// All user messages that are answered.
	UserMessageUUIDs []string `json:"user_message_uuids,omitempty"`

	// Why the turn was resumed.
	ResumeReason string `json:"resume_reason,omitempty"`
}

func (v *StreamEvent) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "event":
		return setUnion(d, &v.Event, raw, decodeEvent)
	case "parent_tool_use_id":
		return setString[string](d, &v.ParentToolUseID, raw)
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	case "ttft_ms":
		return setInt(d, &v.TTFTMs, raw)
	case "user_message_uuid":
		return setString[string](d, &v.UserMessageUUID, raw)
	case "user_message_uuids":
		return setList(d, &v.UserMessageUUIDs, raw, setString[string])
	case "resume_reason":
		return setString[string](d, &v.ResumeReason, raw)
	}
	return false
}

func (v *StreamEvent) appendMembers(e *encoder) {
	e.raw("type", []byte(`"stream_event"`))
	put(e, "event", v.Event, v.Event == nil, always, encUnion[Event])
	put(e, "parent_tool_use_id", v.ParentToolUseID, v.ParentToolUseID == "", nullable, encString[string])
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
	put(e, "ttft_ms", v.TTFTMs, v.TTFTMs == 0, optional, encInt)
	put(e, "user_message_uuid", v.UserMessageUUID, v.UserMessageUUID == "", optional, encString[string])
	put(e, "user_message_uuids", v.UserMessageUUIDs, v.UserMessageUUIDs == nil, optional, encList(encString[string]))
	put(e, "resume_reason", v.ResumeReason, v.ResumeReason == "", optional, encString[string])
}

func (*StreamEvent) fresh() object { return new(StreamEvent) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *StreamEvent) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v StreamEvent) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*StreamEvent) message() {}

// MessageType returns the line's type and subtype.
func (*StreamEvent) MessageType() (typ, subtype string) { return "stream_event", "" }

// ToolUseSummary sums up a group of tool calls in a sentence.
type ToolUseSummary struct {
	Source
	// The sentence.
	Summary string `json:"summary"`

	// The calls.
	PrecedingToolUseIDs []string `json:"preceding_tool_use_ids"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *ToolUseSummary) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "summary":
		return setString[string](d, &v.Summary, raw)
	case "preceding_tool_use_ids":
		return setList(d, &v.PrecedingToolUseIDs, raw, setString[string])
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *ToolUseSummary) appendMembers(e *encoder) {
	e.raw("type", []byte(`"tool_use_summary"`))
	put(e, "summary", v.Summary, v.Summary == "", always, encString[string])
	put(e, "preceding_tool_use_ids", v.PrecedingToolUseIDs, v.PrecedingToolUseIDs == nil, always, encList(encString[string]))
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*ToolUseSummary) fresh() object { return new(ToolUseSummary) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ToolUseSummary) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ToolUseSummary) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ToolUseSummary) message() {}

// MessageType returns the line's type and subtype.
func (*ToolUseSummary) MessageType() (typ, subtype string) { return "tool_use_summary", "" }

// StreamlinedText is the text of an answer in the streamlined output of
// 2.1.37. Later versions do not write it.
type StreamlinedText struct {
	Source
	// The text.
	Text string `json:"text"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *StreamlinedText) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "text":
		return setString[string](d, &v.Text, raw)
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *StreamlinedText) appendMembers(e *encoder) {
	e.raw("type", []byte(`"streamlined_text"`))
	put(e, "text", v.Text, v.Text == "", always, encString[string])
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*StreamlinedText) fresh() object { return new(StreamlinedText) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *StreamlinedText) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v StreamlinedText) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*StreamlinedText) message() {}

// MessageType returns the line's type and subtype.
func (*StreamlinedText) MessageType() (typ, subtype string) { return "streamlined_text", "" }

// StreamlinedToolUseSummary sums up tool calls in the streamlined output of
// 2.1.37. Later versions do not write it.
type StreamlinedToolUseSummary struct {
	Source
	// The summary.
	ToolSummary string `json:"tool_summary"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *StreamlinedToolUseSummary) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "tool_summary":
		return setString[string](d, &v.ToolSummary, raw)
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *StreamlinedToolUseSummary) appendMembers(e *encoder) {
	e.raw("type", []byte(`"streamlined_tool_use_summary"`))
	put(e, "tool_summary", v.ToolSummary, v.ToolSummary == "", always, encString[string])
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*StreamlinedToolUseSummary) fresh() object { return new(StreamlinedToolUseSummary) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *StreamlinedToolUseSummary) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v StreamlinedToolUseSummary) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*StreamlinedToolUseSummary) message() {}

// MessageType returns the line's type and subtype.
func (*StreamlinedToolUseSummary) MessageType() (typ, subtype string) {
	return "streamlined_tool_use_summary", ""
}

// PromptSuggestion is a guess of what the user may ask next.
type PromptSuggestion struct {
	Source
	// The prompt.
	Suggestion string `json:"suggestion"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *PromptSuggestion) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "suggestion":
		return setString[string](d, &v.Suggestion, raw)
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *PromptSuggestion) appendMembers(e *encoder) {
	e.raw("type", []byte(`"prompt_suggestion"`))
	put(e, "suggestion", v.Suggestion, v.Suggestion == "", always, encString[string])
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*PromptSuggestion) fresh() object { return new(PromptSuggestion) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *PromptSuggestion) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v PromptSuggestion) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*PromptSuggestion) message() {}

// MessageType returns the line's type and subtype.
func (*PromptSuggestion) MessageType() (typ, subtype string) { return "prompt_suggestion", "" }

// ConversationReset says that the conversation starts afresh: what was shown
// so far is over.
type ConversationReset struct {
	Source
	// Names the reset. On 2.1.325 it is this line's own uuid; the new
	// conversation's session_id comes with the next init.
	NewConversationID string `json:"new_conversation_id"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`

	// What caused it.
	Trigger ResetTrigger `json:"trigger,omitempty"`

	// The user message that caused it.
	UserMessageUUID string `json:"user_message_uuid,omitempty"`

	// When.
	Timestamp string `json:"timestamp,omitempty"`
}

func (v *ConversationReset) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "new_conversation_id":
		return setString[string](d, &v.NewConversationID, raw)
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	case "trigger":
		return setString[ResetTrigger](d, &v.Trigger, raw)
	case "user_message_uuid":
		return setString[string](d, &v.UserMessageUUID, raw)
	case "timestamp":
		return setString[string](d, &v.Timestamp, raw)
	}
	return false
}

func (v *ConversationReset) appendMembers(e *encoder) {
	e.raw("type", []byte(`"conversation_reset"`))
	put(e, "new_conversation_id", v.NewConversationID, v.NewConversationID == "", always, encString[string])
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
	put(e, "trigger", v.Trigger, v.Trigger == "", optional, encString[ResetTrigger])
	put(e, "user_message_uuid", v.UserMessageUUID, v.UserMessageUUID == "", optional, encString[string])
	put(e, "timestamp", v.Timestamp, v.Timestamp == "", optional, encString[string])
}

func (*ConversationReset) fresh() object { return new(ConversationReset) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ConversationReset) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ConversationReset) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ConversationReset) message() {}

// MessageType returns the line's type and subtype.
func (*ConversationReset) MessageType() (typ, subtype string) { return "conversation_reset", "" }

// ActiveGoal tells the state of the goal that the user set.
type ActiveGoal struct {
	Source
	// The goal; null when it is met or was cleared.
	Value *Goal `json:"value"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *ActiveGoal) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "value":
		return setPointer(d, &v.Value, raw, setStruct[Goal])
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *ActiveGoal) appendMembers(e *encoder) {
	e.raw("type", []byte(`"active_goal"`))
	put(e, "value", v.Value, v.Value == nil, nullable, encPointer(encStruct[Goal]))
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*ActiveGoal) fresh() object { return new(ActiveGoal) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ActiveGoal) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ActiveGoal) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ActiveGoal) message() {}

// MessageType returns the line's type and subtype.
func (*ActiveGoal) MessageType() (typ, subtype string) { return "active_goal", "" }

// CommandLifecycle tells what becomes of a user message that carried a uuid.
type CommandLifecycle struct {
	Source
	// The user message.
	CommandUUID string `json:"command_uuid"`

	// Its fate.
	State CommandState `json:"state"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *CommandLifecycle) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "command_uuid":
		return setString[string](d, &v.CommandUUID, raw)
	case "state":
		return setString[CommandState](d, &v.State, raw)
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *CommandLifecycle) appendMembers(e *encoder) {
	e.raw("type", []byte(`"command_lifecycle"`))
	put(e, "command_uuid", v.CommandUUID, v.CommandUUID == "", always, encString[string])
	put(e, "state", v.State, v.State == "", always, encString[CommandState])
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*CommandLifecycle) fresh() object { return new(CommandLifecycle) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *CommandLifecycle) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v CommandLifecycle) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*CommandLifecycle) message() {}

// MessageType returns the line's type and subtype.
func (*CommandLifecycle) MessageType() (typ, subtype string) { return "command_lifecycle", "" }

// Init opens every turn and tells what the session consists of. The newest one
// counts.
type Init struct {
	Source
	// Names of the agents.
	Agents []string `json:"agents,omitempty"`

	// Where the credentials come from, for example ANTHROPIC_API_KEY,
	// apiKeyHelper or none.
	APIKeySource string `json:"apiKeySource"`

	// Beta features in use.
	Betas []string `json:"betas,omitempty"`

	// The CLI's version.
	ClaudeCodeVersion string `json:"claude_code_version"`

	// The working directory.
	Cwd string `json:"cwd"`

	// Names of the tools.
	Tools []string `json:"tools"`

	// The MCP servers and their states.
	MCPServers []InitMCPServer `json:"mcp_servers"`

	// The model.
	Model string `json:"model"`

	// The permission mode in force.
	PermissionMode PermissionMode `json:"permissionMode"`

	// Names of the slash commands.
	SlashCommands []string `json:"slash_commands"`

	// Slash commands that only work in a terminal.
	TerminalSlashCommands []string `json:"terminal_slash_commands,omitempty"`

	// The output style.
	OutputStyle string `json:"output_style"`

	// Names of the skills.
	Skills []string `json:"skills,omitempty"`

	// The plugins.
	Plugins []InitPlugin `json:"plugins,omitempty"`

	// Plugins that could not be loaded.
	PluginErrors []PluginError `json:"plugin_errors,omitempty"`

	// The state of fast mode.
	FastModeState FastModeState `json:"fast_mode_state,omitempty"`

	// Why fast mode cannot be used.
	FastModeDisabledReason FastModeDisabledReason `json:"fast_mode_disabled_reason,omitempty"`

	// The effort level.
	Effort Effort `json:"effort,omitempty"`

	// How the terminal shows the session.
	ViewMode ViewMode `json:"view_mode,omitempty"`

	// Features of this CLI, an open set; the way to tell what it can do.
	Capabilities []string `json:"capabilities,omitempty"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *Init) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "subtype":
		return true
	case "agents":
		return setList(d, &v.Agents, raw, setString[string])
	case "apiKeySource":
		return setString[string](d, &v.APIKeySource, raw)
	case "betas":
		return setList(d, &v.Betas, raw, setString[string])
	case "claude_code_version":
		return setString[string](d, &v.ClaudeCodeVersion, raw)
	case "cwd":
		return setString[string](d, &v.Cwd, raw)
	case "tools":
		return setList(d, &v.Tools, raw, setString[string])
	case "mcp_servers":
		return setList(d, &v.MCPServers, raw, setStruct[InitMCPServer])
	case "model":
		return setString[string](d, &v.Model, raw)
	case "permissionMode":
		return setString[PermissionMode](d, &v.PermissionMode, raw)
	case "slash_commands":
		return setList(d, &v.SlashCommands, raw, setString[string])
	case "terminal_slash_commands":
		return setList(d, &v.TerminalSlashCommands, raw, setString[string])
	case "output_style":
		return setString[string](d, &v.OutputStyle, raw)
	case "skills":
		return setList(d, &v.Skills, raw, setString[string])
	case "plugins":
		return setList(d, &v.Plugins, raw, setStruct[InitPlugin])
	case "plugin_errors":
		return setList(d, &v.PluginErrors, raw, setStruct[PluginError])
	case "fast_mode_state":
		return setString[FastModeState](d, &v.FastModeState, raw)
	case "fast_mode_disabled_reason":
		return setString[FastModeDisabledReason](d, &v.FastModeDisabledReason, raw)
	case "effort":
		return setString[Effort](d, &v.Effort, raw)
	case "view_mode":
		return setString[ViewMode](d, &v.ViewMode, raw)
	case "capabilities":
		return setList(d, &v.Capabilities, raw, setString[string])
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *Init) appendMembers(e *encoder) {
	e.raw("type", []byte(`"system"`))
	e.raw("subtype", []byte(`"init"`))
	put(e, "agents", v.Agents, v.Agents == nil, optional, encList(encString[string]))
	put(e, "apiKeySource", v.APIKeySource, v.APIKeySource == "", always, encString[string])
	put(e, "betas", v.Betas, v.Betas == nil, optional, encList(encString[string]))
	put(e, "claude_code_version", v.ClaudeCodeVersion, v.ClaudeCodeVersion == "", always, encString[string])
	put(e, "cwd", v.Cwd, v.Cwd == "", always, encString[string])
	put(e, "tools", v.Tools, v.Tools == nil, always, encList(encString[string]))
	put(e, "mcp_servers", v.MCPServers, v.MCPServers == nil, always, encList(encStruct[InitMCPServer]))
	put(e, "model", v.Model, v.Model == "", always, encString[string])
	put(e, "permissionMode", v.PermissionMode, v.PermissionMode == "", always, encString[PermissionMode])
	put(e, "slash_commands", v.SlashCommands, v.SlashCommands == nil, always, encList(encString[string]))
	put(e, "terminal_slash_commands", v.TerminalSlashCommands, v.TerminalSlashCommands == nil, optional, encList(encString[string]))
	put(e, "output_style", v.OutputStyle, v.OutputStyle == "", always, encString[string])
	put(e, "skills", v.Skills, v.Skills == nil, optional, encList(encString[string]))
	put(e, "plugins", v.Plugins, v.Plugins == nil, optional, encList(encStruct[InitPlugin]))
	put(e, "plugin_errors", v.PluginErrors, v.PluginErrors == nil, optional, encList(encStruct[PluginError]))
	put(e, "fast_mode_state", v.FastModeState, v.FastModeState == "", optional, encString[FastModeState])
	put(e, "fast_mode_disabled_reason", v.FastModeDisabledReason, v.FastModeDisabledReason == "", optional, encString[FastModeDisabledReason])
	put(e, "effort", v.Effort, v.Effort == "", optional, encString[Effort])
	put(e, "view_mode", v.ViewMode, v.ViewMode == "", optional, encString[ViewMode])
	put(e, "capabilities", v.Capabilities, v.Capabilities == nil, optional, encList(encString[string]))
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*Init) fresh() object { return new(Init) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *Init) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v Init) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*Init) message() {}

// MessageType returns the line's type and subtype.
func (*Init) MessageType() (typ, subtype string) { return "system", "init" }

// Status tells a change of the session's phase or permission mode.
type Status struct {
	Source
	// The phase; null when the last one is over.
	Status StatusPhase `json:"status"`

	// The mode now in force, where it changed.
	PermissionMode PermissionMode `json:"permissionMode,omitempty"`

	// How a compaction ended.
	CompactResult CompactResult `json:"compact_result,omitempty"`

	// Why a compaction failed.
	CompactError string `json:"compact_error,omitempty"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *Status) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "subtype":
		return true
	case "status":
		return setString[StatusPhase](d, &v.Status, raw)
	case "permissionMode":
		return setString[PermissionMode](d, &v.PermissionMode, raw)
	case "compact_result":
		return setString[CompactResult](d, &v.CompactResult, raw)
	case "compact_error":
		return setString[string](d, &v.CompactError, raw)
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *Status) appendMembers(e *encoder) {
	e.raw("type", []byte(`"system"`))
	e.raw("subtype", []byte(`"status"`))
	put(e, "status", v.Status, v.Status == "", nullable, encString[StatusPhase])
	put(e, "permissionMode", v.PermissionMode, v.PermissionMode == "", optional, encString[PermissionMode])
	put(e, "compact_result", v.CompactResult, v.CompactResult == "", optional, encString[CompactResult])
	put(e, "compact_error", v.CompactError, v.CompactError == "", optional, encString[string])
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*Status) fresh() object { return new(Status) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *Status) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v Status) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*Status) message() {}

// MessageType returns the line's type and subtype.
func (*Status) MessageType() (typ, subtype string) { return "system", "status" }

// CompactBoundary marks the place where the conversation was compacted.
type CompactBoundary struct {
	Source
	// About the compaction.
	CompactMetadata CompactMetadata `json:"compact_metadata"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *CompactBoundary) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "subtype":
		return true
	case "compact_metadata":
		return setStruct[CompactMetadata](d, &v.CompactMetadata, raw)
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *CompactBoundary) appendMembers(e *encoder) {
	e.raw("type", []byte(`"system"`))
	e.raw("subtype", []byte(`"compact_boundary"`))
	put(e, "compact_metadata", v.CompactMetadata, false, always, encStruct[CompactMetadata])
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*CompactBoundary) fresh() object { return new(CompactBoundary) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *CompactBoundary) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v CompactBoundary) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*CompactBoundary) message() {}

// MessageType returns the line's type and subtype.
func (*CompactBoundary) MessageType() (typ, subtype string) { return "system", "compact_boundary" }

// SessionStateChanged tells what the session is doing now. It only comes if
// the environment asks for it, and is the best sign that a turn is over.
type SessionStateChanged struct {
	Source
	// The new state.
	State SessionState `json:"state"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *SessionStateChanged) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "subtype":
		return true
	case "state":
		return setString[SessionState](d, &v.State, raw)
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *SessionStateChanged) appendMembers(e *encoder) {
	e.raw("type", []byte(`"system"`))
	e.raw("subtype", []byte(`"session_state_changed"`))
	put(e, "state", v.State, v.State == "", always, encString[SessionState])
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*SessionStateChanged) fresh() object { return new(SessionStateChanged) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *SessionStateChanged) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v SessionStateChanged) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*SessionStateChanged) message() {}

// MessageType returns the line's type and subtype.
func (*SessionStateChanged) MessageType() (typ, subtype string) {
	return "system", "session_state_changed"
}

// CommandsChanged brings the whole list of slash commands after a change.
type CommandsChanged struct {
	Source
	// The commands.
	Commands []SlashCommand `json:"commands"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *CommandsChanged) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "subtype":
		return true
	case "commands":
		return setList(d, &v.Commands, raw, setStruct[SlashCommand])
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *CommandsChanged) appendMembers(e *encoder) {
	e.raw("type", []byte(`"system"`))
	e.raw("subtype", []byte(`"commands_changed"`))
	put(e, "commands", v.Commands, v.Commands == nil, always, encList(encStruct[SlashCommand]))
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*CommandsChanged) fresh() object { return new(CommandsChanged) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *CommandsChanged) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v CommandsChanged) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*CommandsChanged) message() {}

// MessageType returns the line's type and subtype.
func (*CommandsChanged) MessageType() (typ, subtype string) { return "system", "commands_changed" }

// WorkerShuttingDown says that the process is about to end on purpose.
type WorkerShuttingDown struct {
	Source
	// Why.
	Reason string `json:"reason"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *WorkerShuttingDown) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "subtype":
		return true
	case "reason":
		return setString[string](d, &v.Reason, raw)
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *WorkerShuttingDown) appendMembers(e *encoder) {
	e.raw("type", []byte(`"system"`))
	e.raw("subtype", []byte(`"worker_shutting_down"`))
	put(e, "reason", v.Reason, v.Reason == "", always, encString[string])
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*WorkerShuttingDown) fresh() object { return new(WorkerShuttingDown) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *WorkerShuttingDown) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v WorkerShuttingDown) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*WorkerShuttingDown) message() {}

// MessageType returns the line's type and subtype.
func (*WorkerShuttingDown) MessageType() (typ, subtype string) {
	return "system", "worker_shutting_down"
}

// AuthStatus tells how a login is going.
type AuthStatus struct {
	Source
	// It is under way.
	IsAuthenticating bool `json:"isAuthenticating"`

	// What to show.
	Output []string `json:"output"`

	// Why it failed.
	Error string `json:"error,omitempty"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *AuthStatus) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "isAuthenticating":
		return setBool(d, &v.IsAuthenticating, raw)
	case "output":
		return setList(d, &v.Output, raw, setString[string])
	case "error":
		return setString[string](d, &v.Error, raw)
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *AuthStatus) appendMembers(e *encoder) {
	e.raw("type", []byte(`"auth_status"`))
	put(e, "isAuthenticating", v.IsAuthenticating, !v.IsAuthenticating, always, encBool)
	put(e, "output", v.Output, v.Output == nil, always, encList(encString[string]))
	put(e, "error", v.Error, v.Error == "", optional, encString[string])
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*AuthStatus) fresh() object { return new(AuthStatus) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *AuthStatus) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v AuthStatus) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*AuthStatus) message() {}

// MessageType returns the line's type and subtype.
func (*AuthStatus) MessageType() (typ, subtype string) { return "auth_status", "" }

// PluginInstall tells how the installation of plugins is going.
type PluginInstall struct {
	Source
	// The step.
	Status PluginInstallStatus `json:"status"`

	// The marketplace.
	Name string `json:"name,omitempty"`

	// Why it failed.
	Error string `json:"error,omitempty"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *PluginInstall) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "subtype":
		return true
	case "status":
		return setString[PluginInstallStatus](d, &v.Status, raw)
	case "name":
		return setString[string](d, &v.Name, raw)
	case "error":
		return setString[string](d, &v.Error, raw)
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *PluginInstall) appendMembers(e *encoder) {
	e.raw("type", []byte(`"system"`))
	e.raw("subtype", []byte(`"plugin_install"`))
	put(e, "status", v.Status, v.Status == "", always, encString[PluginInstallStatus])
	put(e, "name", v.Name, v.Name == "", optional, encString[string])
	put(e, "error", v.Error, v.Error == "", optional, encString[string])
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*PluginInstall) fresh() object { return new(PluginInstall) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *PluginInstall) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v PluginInstall) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*PluginInstall) message() {}

// MessageType returns the line's type and subtype.
func (*PluginInstall) MessageType() (typ, subtype string) { return "system", "plugin_install" }

// SessionWritesLost says that parts of the transcript or the configuration
// could not be saved.
type SessionWritesLost struct {
	Source
	// The error.
	ErrorCode WriteError `json:"error_code"`

	// What was lost.
	Lost []LostWrite `json:"lost"`

	// The conversations whose transcripts have holes.
	TranscriptSessionIDs []string `json:"transcript_session_ids,omitempty"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *SessionWritesLost) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "subtype":
		return true
	case "error_code":
		return setString[WriteError](d, &v.ErrorCode, raw)
	case "lost":
		return setList(d, &v.Lost, raw, setString[LostWrite])
	case "transcript_session_ids":
		return setList(d, &v.TranscriptSessionIDs, raw, setString[string])
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *SessionWritesLost) appendMembers(e *encoder) {
	e.raw("type", []byte(`"system"`))
	e.raw("subtype", []byte(`"session_writes_lost"`))
	put(e, "error_code", v.ErrorCode, v.ErrorCode == "", always, encString[WriteError])
	put(e, "lost", v.Lost, v.Lost == nil, always, encList(encString[LostWrite]))
	put(e, "transcript_session_ids", v.TranscriptSessionIDs, v.TranscriptSessionIDs == nil, optional, encList(encString[string]))
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*SessionWritesLost) fresh() object { return new(SessionWritesLost) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *SessionWritesLost) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v SessionWritesLost) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*SessionWritesLost) message() {}

// MessageType returns the line's type and subtype.
func (*SessionWritesLost) MessageType() (typ, subtype string) { return "system", "session_writes_lost" }

// MirrorError says that a copy of the transcript could not be stored.
type MirrorError struct {
	Source
	// The error.
	Error string `json:"error"`

	// The transcript.
	Key SessionKey `json:"key"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *MirrorError) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "subtype":
		return true
	case "error":
		return setString[string](d, &v.Error, raw)
	case "key":
		return setStruct[SessionKey](d, &v.Key, raw)
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *MirrorError) appendMembers(e *encoder) {
	e.raw("type", []byte(`"system"`))
	e.raw("subtype", []byte(`"mirror_error"`))
	put(e, "error", v.Error, v.Error == "", always, encString[string])
	put(e, "key", v.Key, false, always, encStruct[SessionKey])
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*MirrorError) fresh() object { return new(MirrorError) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *MirrorError) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v MirrorError) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*MirrorError) message() {}

// MessageType returns the line's type and subtype.
func (*MirrorError) MessageType() (typ, subtype string) { return "system", "mirror_error" }

// FilesPersisted tells which files were uploaded.
type FilesPersisted struct {
	Source
	// The files.
	Files []PersistedFile `json:"files"`

	// The files that could not be uploaded.
	Failed []FailedFile `json:"failed"`

	// When.
	ProcessedAt string `json:"processed_at"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *FilesPersisted) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "subtype":
		return true
	case "files":
		return setList(d, &v.Files, raw, setStruct[PersistedFile])
	case "failed":
		return setList(d, &v.Failed, raw, setStruct[FailedFile])
	case "processed_at":
		return setString[string](d, &v.ProcessedAt, raw)
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *FilesPersisted) appendMembers(e *encoder) {
	e.raw("type", []byte(`"system"`))
	e.raw("subtype", []byte(`"files_persisted"`))
	put(e, "files", v.Files, v.Files == nil, always, encList(encStruct[PersistedFile]))
	put(e, "failed", v.Failed, v.Failed == nil, always, encList(encStruct[FailedFile]))
	put(e, "processed_at", v.ProcessedAt, v.ProcessedAt == "", always, encString[string])
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*FilesPersisted) fresh() object { return new(FilesPersisted) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *FilesPersisted) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v FilesPersisted) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*FilesPersisted) message() {}

// MessageType returns the line's type and subtype.
func (*FilesPersisted) MessageType() (typ, subtype string) { return "system", "files_persisted" }

// Informational is a line of text for the user, for example what a hook has to
// say.
type Informational struct {
	Source
	// The text.
	Content string `json:"content"`

	// Its weight.
	Level InformationalLevel `json:"level"`

	// The tool call it is about.
	ToolUseID string `json:"tool_use_id,omitempty"`

	// The turn does not go on.
	PreventContinuation bool `json:"prevent_continuation,omitempty"`

	// The kind of notice.
	Tag string `json:"tag,omitempty"`

	// What became of a prompt that a hook judged. Seen on 2.1.325, undocumented.
	PromptSubmitOutcome json.RawMessage `json:"prompt_submit_outcome,omitempty"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *Informational) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "subtype":
		return true
	case "content":
		return setString[string](d, &v.Content, raw)
	case "level":
		return setString[InformationalLevel](d, &v.Level, raw)
	case "tool_use_id":
		return setString[string](d, &v.ToolUseID, raw)
	case "prevent_continuation":
		return setBool(d, &v.PreventContinuation, raw)
	case "tag":
		return setString[string](d, &v.Tag, raw)
	case "prompt_submit_outcome":
		return setRaw(d, &v.PromptSubmitOutcome, raw)
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *Informational) appendMembers(e *encoder) {
	e.raw("type", []byte(`"system"`))
	e.raw("subtype", []byte(`"informational"`))
	put(e, "content", v.Content, v.Content == "", always, encString[string])
	put(e, "level", v.Level, v.Level == "", always, encString[InformationalLevel])
	put(e, "tool_use_id", v.ToolUseID, v.ToolUseID == "", optional, encString[string])
	put(e, "prevent_continuation", v.PreventContinuation, !v.PreventContinuation, optional, encBool)
	put(e, "tag", v.Tag, v.Tag == "", optional, encString[string])
	put(e, "prompt_submit_outcome", v.PromptSubmitOutcome, v.PromptSubmitOutcome == nil, optional, encRaw)
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*Informational) fresh() object { return new(Informational) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *Informational) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v Informational) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*Informational) message() {}

// MessageType returns the line's type and subtype.
func (*Informational) MessageType() (typ, subtype string) { return "system", "informational" }

// Notification is a short notice for the user.
type Notification struct {
	Source
	// Notices with the same key replace each other.
	Key string `json:"key"`

	// The text.
	Text string `json:"text"`

	// How urgent it is.
	Priority NotificationPriority `json:"priority"`

	// The colour to show it in.
	Color string `json:"color,omitempty"`

	// How long to show it, in milliseconds.
	TimeoutMs int64 `json:"timeout_ms,omitempty"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *Notification) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "subtype":
		return true
	case "key":
		return setString[string](d, &v.Key, raw)
	case "text":
		return setString[string](d, &v.Text, raw)
	case "priority":
		return setString[NotificationPriority](d, &v.Priority, raw)
	case "color":
		return setString[string](d, &v.Color, raw)
	case "timeout_ms":
		return setInt(d, &v.TimeoutMs, raw)
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *Notification) appendMembers(e *encoder) {
	e.raw("type", []byte(`"system"`))
	e.raw("subtype", []byte(`"notification"`))
	put(e, "key", v.Key, v.Key == "", always, encString[string])
	put(e, "text", v.Text, v.Text == "", always, encString[string])
	put(e, "priority", v.Priority, v.Priority == "", always, encString[NotificationPriority])
	put(e, "color", v.Color, v.Color == "", optional, encString[string])
	put(e, "timeout_ms", v.TimeoutMs, v.TimeoutMs == 0, optional, encInt)
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*Notification) fresh() object { return new(Notification) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *Notification) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v Notification) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*Notification) message() {}

// MessageType returns the line's type and subtype.
func (*Notification) MessageType() (typ, subtype string) { return "system", "notification" }

// LocalCommandOutput is the output of a slash command that the CLI runs
// itself.
type LocalCommandOutput struct {
	Source
	// The output.
	Content string `json:"content"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *LocalCommandOutput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "subtype":
		return true
	case "content":
		return setString[string](d, &v.Content, raw)
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *LocalCommandOutput) appendMembers(e *encoder) {
	e.raw("type", []byte(`"system"`))
	e.raw("subtype", []byte(`"local_command_output"`))
	put(e, "content", v.Content, v.Content == "", always, encString[string])
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*LocalCommandOutput) fresh() object { return new(LocalCommandOutput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *LocalCommandOutput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v LocalCommandOutput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*LocalCommandOutput) message() {}

// MessageType returns the line's type and subtype.
func (*LocalCommandOutput) MessageType() (typ, subtype string) {
	return "system", "local_command_output"
}

// MemoryRecall tells which memories were brought into the turn.
type MemoryRecall struct {
	Source
	// How they were prepared.
	Mode MemoryMode `json:"mode"`

	// The memories.
	Memories []Memory `json:"memories"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *MemoryRecall) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "subtype":
		return true
	case "mode":
		return setString[MemoryMode](d, &v.Mode, raw)
	case "memories":
		return setList(d, &v.Memories, raw, setStruct[Memory])
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *MemoryRecall) appendMembers(e *encoder) {
	e.raw("type", []byte(`"system"`))
	e.raw("subtype", []byte(`"memory_recall"`))
	put(e, "mode", v.Mode, v.Mode == "", always, encString[MemoryMode])
	put(e, "memories", v.Memories, v.Memories == nil, always, encList(encStruct[Memory]))
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*MemoryRecall) fresh() object { return new(MemoryRecall) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *MemoryRecall) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v MemoryRecall) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*MemoryRecall) message() {}

// MessageType returns the line's type and subtype.
func (*MemoryRecall) MessageType() (typ, subtype string) { return "system", "memory_recall" }

// RateLimitEvent tells a change of the account's limits.
type RateLimitEvent struct {
	Source
	// The limits.
	RateLimitInfo RateLimitInfo `json:"rate_limit_info"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *RateLimitEvent) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "rate_limit_info":
		return setStruct[RateLimitInfo](d, &v.RateLimitInfo, raw)
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *RateLimitEvent) appendMembers(e *encoder) {
	e.raw("type", []byte(`"rate_limit_event"`))
	put(e, "rate_limit_info", v.RateLimitInfo, false, always, encStruct[RateLimitInfo])
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*RateLimitEvent) fresh() object { return new(RateLimitEvent) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *RateLimitEvent) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v RateLimitEvent) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*RateLimitEvent) message() {}

// MessageType returns the line's type and subtype.
func (*RateLimitEvent) MessageType() (typ, subtype string) { return "rate_limit_event", "" }

// APIRetry says that a request to the API failed and will be tried again.
// Versions before 2.1.77 stay silent.
type APIRetry struct {
	Source
	// The number of the coming attempt.
	Attempt int64 `json:"attempt"`

	// How many there will be.
	MaxRetries int64 `json:"max_retries"`

	// The pause before it, in milliseconds. Some versions write a fraction.
	RetryDelayMs float64 `json:"retry_delay_ms"`

	// The HTTP status; null if there was no response.
	ErrorStatus *int64 `json:"error_status"`

	// The class of the failure.
	Error AssistantError `json:"error"`

	// How long the CLI waited without a response.
	NoResponse *NoResponse `json:"no_response,omitempty"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *APIRetry) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "subtype":
		return true
	case "attempt":
		return setInt(d, &v.Attempt, raw)
	case "max_retries":
		return setInt(d, &v.MaxRetries, raw)
	case "retry_delay_ms":
		return setNum(d, &v.RetryDelayMs, raw)
	case "error_status":
		return setPointer(d, &v.ErrorStatus, raw, setInt)
	case "error":
		return setString[AssistantError](d, &v.Error, raw)
	case "no_response":
		return setPointer(d, &v.NoResponse, raw, setStruct[NoResponse])
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *APIRetry) appendMembers(e *encoder) {
	e.raw("type", []byte(`"system"`))
	e.raw("subtype", []byte(`"api_retry"`))
	put(e, "attempt", v.Attempt, v.Attempt == 0, always, encInt)
	put(e, "max_retries", v.MaxRetries, v.MaxRetries == 0, always, encInt)
	put(e, "retry_delay_ms", v.RetryDelayMs, v.RetryDelayMs == 0, always, encNum)
	put(e, "error_status", v.ErrorStatus, v.ErrorStatus == nil, nullable, encPointer(encInt))
	put(e, "error", v.Error, v.Error == "", always, encString[AssistantError])
	put(e, "no_response", v.NoResponse, v.NoResponse == nil, optional, encPointer(encStruct[NoResponse]))
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*APIRetry) fresh() object { return new(APIRetry) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *APIRetry) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v APIRetry) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*APIRetry) message() {}

// MessageType returns the line's type and subtype.
func (*APIRetry) MessageType() (typ, subtype string) { return "system", "api_retry" }

// ModelRefusalFallback says that the model refused and another one takes over.
type ModelRefusalFallback struct {
	Source
	// What caused it: refusal.
	Trigger string `json:"trigger"`

	// What was done.
	Direction RefusalDirection `json:"direction"`

	// How far it reaches.
	Scope RefusalScope `json:"scope,omitempty"`

	// The model that refused.
	OriginalModel string `json:"original_model"`

	// The other model.
	FallbackModel string `json:"fallback_model"`

	// The API's id of the refused request.
	RequestID string `json:"request_id"`

	// The category of the refusal.
	APIRefusalCategory string `json:"api_refusal_category,omitempty"`

	// Its explanation.
	APIRefusalExplanation string `json:"api_refusal_explanation,omitempty"`

	// Earlier lines that are to be deleted.
	RetractedMessageUUIDs []string `json:"retracted_message_uuids,omitempty"`

	// The user message that was refused.
	RefusedUserMessageUUID string `json:"refused_user_message_uuid,omitempty"`

	// The text for the user.
	Content string `json:"content"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *ModelRefusalFallback) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "subtype":
		return true
	case "trigger":
		return setString[string](d, &v.Trigger, raw)
	case "direction":
		return setString[RefusalDirection](d, &v.Direction, raw)
	case "scope":
		return setString[RefusalScope](d, &v.Scope, raw)
	case "original_model":
		return setString[string](d, &v.OriginalModel, raw)
	case "fallback_model":
		return setString[string](d, &v.FallbackModel, raw)
	case "request_id":
		return setString[string](d, &v.RequestID, raw)
	case "api_refusal_category":
		return setString[string](d, &v.APIRefusalCategory, raw)
	case "api_refusal_explanation":
		return setString[string](d, &v.APIRefusalExplanation, raw)
	case "retracted_message_uuids":
		return setList(d, &v.RetractedMessageUUIDs, raw, setString[string])
	case "refused_user_message_uuid":
		return setString[string](d, &v.RefusedUserMessageUUID, raw)
	case "content":
		return setString[string](d, &v.Content, raw)
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *ModelRefusalFallback) appendMembers(e *encoder) {
	e.raw("type", []byte(`"system"`))
	e.raw("subtype", []byte(`"model_refusal_fallback"`))
	put(e, "trigger", v.Trigger, v.Trigger == "", always, encString[string])
	put(e, "direction", v.Direction, v.Direction == "", always, encString[RefusalDirection])
	put(e, "scope", v.Scope, v.Scope == "", optional, encString[RefusalScope])
	put(e, "original_model", v.OriginalModel, v.OriginalModel == "", always, encString[string])
	put(e, "fallback_model", v.FallbackModel, v.FallbackModel == "", always, encString[string])
	put(e, "request_id", v.RequestID, v.RequestID == "", nullable, encString[string])
	put(e, "api_refusal_category", v.APIRefusalCategory, v.APIRefusalCategory == "", optional, encString[string])
	put(e, "api_refusal_explanation", v.APIRefusalExplanation, v.APIRefusalExplanation == "", optional, encString[string])
	put(e, "retracted_message_uuids", v.RetractedMessageUUIDs, v.RetractedMessageUUIDs == nil, optional, encList(encString[string]))
	put(e, "refused_user_message_uuid", v.RefusedUserMessageUUID, v.RefusedUserMessageUUID == "", optional, encString[string])
	put(e, "content", v.Content, v.Content == "", always, encString[string])
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*ModelRefusalFallback) fresh() object { return new(ModelRefusalFallback) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ModelRefusalFallback) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ModelRefusalFallback) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ModelRefusalFallback) message() {}

// MessageType returns the line's type and subtype.
func (*ModelRefusalFallback) MessageType() (typ, subtype string) {
	return "system", "model_refusal_fallback"
}

// ModelRefusalNoFallback says that the model refused and no other one takes
// over.
type ModelRefusalNoFallback struct {
	Source
	// The model.
	OriginalModel string `json:"original_model"`

	// The API's id of the request.
	RequestID string `json:"request_id"`

	// The category of the refusal.
	APIRefusalCategory string `json:"api_refusal_category,omitempty"`

	// Its explanation.
	APIRefusalExplanation string `json:"api_refusal_explanation,omitempty"`

	// The user message that was refused.
	RefusedUserMessageUUID string `json:"refused_user_message_uuid,omitempty"`

	// The text for the user.
	Content string `json:"content"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *ModelRefusalNoFallback) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "subtype":
		return true
	case "original_model":
		return setString[string](d, &v.OriginalModel, raw)
	case "request_id":
		return setString[string](d, &v.RequestID, raw)
	case "api_refusal_category":
		return setString[string](d, &v.APIRefusalCategory, raw)
	case "api_refusal_explanation":
		return setString[string](d, &v.APIRefusalExplanation, raw)
	case "refused_user_message_uuid":
		return setString[string](d, &v.RefusedUserMessageUUID, raw)
	case "content":
		return setString[string](d, &v.Content, raw)
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *ModelRefusalNoFallback) appendMembers(e *encoder) {
	e.raw("type", []byte(`"system"`))
	e.raw("subtype", []byte(`"model_refusal_no_fallback"`))
	put(e, "original_model", v.OriginalModel, v.OriginalModel == "", always, encString[string])
	put(e, "request_id", v.RequestID, v.RequestID == "", nullable, encString[string])
	put(e, "api_refusal_category", v.APIRefusalCategory, v.APIRefusalCategory == "", optional, encString[string])
	put(e, "api_refusal_explanation", v.APIRefusalExplanation, v.APIRefusalExplanation == "", optional, encString[string])
	put(e, "refused_user_message_uuid", v.RefusedUserMessageUUID, v.RefusedUserMessageUUID == "", optional, encString[string])
	put(e, "content", v.Content, v.Content == "", always, encString[string])
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*ModelRefusalNoFallback) fresh() object { return new(ModelRefusalNoFallback) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ModelRefusalNoFallback) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ModelRefusalNoFallback) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ModelRefusalNoFallback) message() {}

// MessageType returns the line's type and subtype.
func (*ModelRefusalNoFallback) MessageType() (typ, subtype string) {
	return "system", "model_refusal_no_fallback"
}

// PermissionDenied says that a tool call was refused without asking anyone. It
// is a hint; the record is the result's permission_denials.
type PermissionDenied struct {
	Source
	// The tool.
	ToolName string `json:"tool_name"`

	// The call.
	ToolUseID string `json:"tool_use_id"`

	// The sub-agent that wanted it.
	AgentID string `json:"agent_id,omitempty"`

	// What decided.
	DecisionReasonType DecisionReasonType `json:"decision_reason_type,omitempty"`

	// Why.
	DecisionReason string `json:"decision_reason,omitempty"`

	// What the model was told.
	Message string `json:"message"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *PermissionDenied) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "subtype":
		return true
	case "tool_name":
		return setString[string](d, &v.ToolName, raw)
	case "tool_use_id":
		return setString[string](d, &v.ToolUseID, raw)
	case "agent_id":
		return setString[string](d, &v.AgentID, raw)
	case "decision_reason_type":
		return setString[DecisionReasonType](d, &v.DecisionReasonType, raw)
	case "decision_reason":
		return setString[string](d, &v.DecisionReason, raw)
	case "message":
		return setString[string](d, &v.Message, raw)
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *PermissionDenied) appendMembers(e *encoder) {
	e.raw("type", []byte(`"system"`))
	e.raw("subtype", []byte(`"permission_denied"`))
	put(e, "tool_name", v.ToolName, v.ToolName == "", always, encString[string])
	put(e, "tool_use_id", v.ToolUseID, v.ToolUseID == "", always, encString[string])
	put(e, "agent_id", v.AgentID, v.AgentID == "", optional, encString[string])
	put(e, "decision_reason_type", v.DecisionReasonType, v.DecisionReasonType == "", optional, encString[DecisionReasonType])
	put(e, "decision_reason", v.DecisionReason, v.DecisionReason == "", optional, encString[string])
	put(e, "message", v.Message, v.Message == "", always, encString[string])
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*PermissionDenied) fresh() object { return new(PermissionDenied) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *PermissionDenied) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v PermissionDenied) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*PermissionDenied) message() {}

// MessageType returns the line's type and subtype.
func (*PermissionDenied) MessageType() (typ, subtype string) { return "system", "permission_denied" }

// ElicitationComplete says that the user is done with the page an MCP server
// wanted opened.
type ElicitationComplete struct {
	Source
	// The server.
	MCPServerName string `json:"mcp_server_name"`

	// The elicitation.
	ElicitationID string `json:"elicitation_id"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *ElicitationComplete) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "subtype":
		return true
	case "mcp_server_name":
		return setString[string](d, &v.MCPServerName, raw)
	case "elicitation_id":
		return setString[string](d, &v.ElicitationID, raw)
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *ElicitationComplete) appendMembers(e *encoder) {
	e.raw("type", []byte(`"system"`))
	e.raw("subtype", []byte(`"elicitation_complete"`))
	put(e, "mcp_server_name", v.MCPServerName, v.MCPServerName == "", always, encString[string])
	put(e, "elicitation_id", v.ElicitationID, v.ElicitationID == "", always, encString[string])
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*ElicitationComplete) fresh() object { return new(ElicitationComplete) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ElicitationComplete) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ElicitationComplete) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ElicitationComplete) message() {}

// MessageType returns the line's type and subtype.
func (*ElicitationComplete) MessageType() (typ, subtype string) {
	return "system", "elicitation_complete"
}

// ControlRequestProgress tells how a long control request is going.
type ControlRequestProgress struct {
	Source
	// The request.
	RequestID string `json:"request_id"`

	// The step.
	Status ProgressStatus `json:"status"`

	// The number of the coming attempt.
	Attempt int64 `json:"attempt,omitempty"`

	// How many there will be.
	MaxRetries int64 `json:"max_retries,omitempty"`

	// The pause before it, in milliseconds.
	RetryDelayMs float64 `json:"retry_delay_ms,omitempty"`

	// The HTTP status of the last attempt.
	ErrorStatus *int64 `json:"error_status,omitempty"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *ControlRequestProgress) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "subtype":
		return true
	case "request_id":
		return setString[string](d, &v.RequestID, raw)
	case "status":
		return setString[ProgressStatus](d, &v.Status, raw)
	case "attempt":
		return setInt(d, &v.Attempt, raw)
	case "max_retries":
		return setInt(d, &v.MaxRetries, raw)
	case "retry_delay_ms":
		return setNum(d, &v.RetryDelayMs, raw)
	case "error_status":
		return setPointer(d, &v.ErrorStatus, raw, setInt)
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *ControlRequestProgress) appendMembers(e *encoder) {
	e.raw("type", []byte(`"system"`))
	e.raw("subtype", []byte(`"control_request_progress"`))
	put(e, "request_id", v.RequestID, v.RequestID == "", always, encString[string])
	put(e, "status", v.Status, v.Status == "", always, encString[ProgressStatus])
	put(e, "attempt", v.Attempt, v.Attempt == 0, optional, encInt)
	put(e, "max_retries", v.MaxRetries, v.MaxRetries == 0, optional, encInt)
	put(e, "retry_delay_ms", v.RetryDelayMs, v.RetryDelayMs == 0, optional, encNum)
	put(e, "error_status", v.ErrorStatus, v.ErrorStatus == nil, optional, encPointer(encInt))
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*ControlRequestProgress) fresh() object { return new(ControlRequestProgress) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ControlRequestProgress) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ControlRequestProgress) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ControlRequestProgress) message() {}

// MessageType returns the line's type and subtype.
func (*ControlRequestProgress) MessageType() (typ, subtype string) {
	return "system", "control_request_progress"
}

// ToolProgress says that a tool is still running. For heartbeats the tool call
// is in parent_tool_use_id.
type ToolProgress struct {
	Source
	// The call, or a made-up id for a heartbeat.
	ToolUseID string `json:"tool_use_id"`

	// The tool.
	ToolName string `json:"tool_name"`

	// The call of the sub-agent that runs it, or of the tool itself for a
	// heartbeat.
	ParentToolUseID string `json:"parent_tool_use_id"`

	// How long it has run.
	ElapsedTimeSeconds float64 `json:"elapsed_time_seconds"`

	// The task it became.
	TaskID string `json:"task_id,omitempty"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`

	// Sent at intervals, without news.
	Heartbeat bool `json:"heartbeat,omitempty"`

	// The kind of sub-agent.
	SubagentType string `json:"subagent_type,omitempty"`

	// The sub-agent waits for the API.
	SubagentRetry *SubagentRetry `json:"subagent_retry,omitempty"`
}

func (v *ToolProgress) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "tool_use_id":
		return setString[string](d, &v.ToolUseID, raw)
	case "tool_name":
		return setString[string](d, &v.ToolName, raw)
	case "parent_tool_use_id":
		return setString[string](d, &v.ParentToolUseID, raw)
	case "elapsed_time_seconds":
		return setNum(d, &v.ElapsedTimeSeconds, raw)
	case "task_id":
		return setString[string](d, &v.TaskID, raw)
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	case "heartbeat":
		return setBool(d, &v.Heartbeat, raw)
	case "subagent_type":
		return setString[string](d, &v.SubagentType, raw)
	case "subagent_retry":
		return setPointer(d, &v.SubagentRetry, raw, setStruct[SubagentRetry])
	}
	return false
}

func (v *ToolProgress) appendMembers(e *encoder) {
	e.raw("type", []byte(`"tool_progress"`))
	put(e, "tool_use_id", v.ToolUseID, v.ToolUseID == "", always, encString[string])
	put(e, "tool_name", v.ToolName, v.ToolName == "", always, encString[string])
	put(e, "parent_tool_use_id", v.ParentToolUseID, v.ParentToolUseID == "", nullable, encString[string])
	put(e, "elapsed_time_seconds", v.ElapsedTimeSeconds, v.ElapsedTimeSeconds == 0, always, encNum)
	put(e, "task_id", v.TaskID, v.TaskID == "", optional, encString[string])
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
	put(e, "heartbeat", v.Heartbeat, !v.Heartbeat, optional, encBool)
	put(e, "subagent_type", v.SubagentType, v.SubagentType == "", optional, encString[string])
	put(e, "subagent_retry", v.SubagentRetry, v.SubagentRetry == nil, optional, encPointer(encStruct[SubagentRetry]))
}

func (*ToolProgress) fresh() object { return new(ToolProgress) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ToolProgress) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ToolProgress) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ToolProgress) message() {}

// MessageType returns the line's type and subtype.
func (*ToolProgress) MessageType() (typ, subtype string) { return "tool_progress", "" }

// HookStarted says that a hook of the settings started.
type HookStarted struct {
	Source
	// This run of the hook.
	HookID string `json:"hook_id"`

	// The hook.
	HookName string `json:"hook_name"`

	// The event.
	HookEvent HookEvent `json:"hook_event"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *HookStarted) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "subtype":
		return true
	case "hook_id":
		return setString[string](d, &v.HookID, raw)
	case "hook_name":
		return setString[string](d, &v.HookName, raw)
	case "hook_event":
		return setString[HookEvent](d, &v.HookEvent, raw)
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *HookStarted) appendMembers(e *encoder) {
	e.raw("type", []byte(`"system"`))
	e.raw("subtype", []byte(`"hook_started"`))
	put(e, "hook_id", v.HookID, v.HookID == "", always, encString[string])
	put(e, "hook_name", v.HookName, v.HookName == "", always, encString[string])
	put(e, "hook_event", v.HookEvent, v.HookEvent == "", always, encString[HookEvent])
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*HookStarted) fresh() object { return new(HookStarted) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *HookStarted) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v HookStarted) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*HookStarted) message() {}

// MessageType returns the line's type and subtype.
func (*HookStarted) MessageType() (typ, subtype string) { return "system", "hook_started" }

// HookProgress brings what a hook of the settings has written so far.
type HookProgress struct {
	Source
	// This run of the hook.
	HookID string `json:"hook_id"`

	// The hook.
	HookName string `json:"hook_name"`

	// The event.
	HookEvent HookEvent `json:"hook_event"`

	// Its standard output.
	Stdout string `json:"stdout"`

	// Its standard error.
	Stderr string `json:"stderr"`

	// Both.
	Output string `json:"output"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *HookProgress) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "subtype":
		return true
	case "hook_id":
		return setString[string](d, &v.HookID, raw)
	case "hook_name":
		return setString[string](d, &v.HookName, raw)
	case "hook_event":
		return setString[HookEvent](d, &v.HookEvent, raw)
	case "stdout":
		return setString[string](d, &v.Stdout, raw)
	case "stderr":
		return setString[string](d, &v.Stderr, raw)
	case "output":
		return setString[string](d, &v.Output, raw)
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *HookProgress) appendMembers(e *encoder) {
	e.raw("type", []byte(`"system"`))
	e.raw("subtype", []byte(`"hook_progress"`))
	put(e, "hook_id", v.HookID, v.HookID == "", always, encString[string])
	put(e, "hook_name", v.HookName, v.HookName == "", always, encString[string])
	put(e, "hook_event", v.HookEvent, v.HookEvent == "", always, encString[HookEvent])
	put(e, "stdout", v.Stdout, v.Stdout == "", always, encString[string])
	put(e, "stderr", v.Stderr, v.Stderr == "", always, encString[string])
	put(e, "output", v.Output, v.Output == "", always, encString[string])
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*HookProgress) fresh() object { return new(HookProgress) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *HookProgress) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v HookProgress) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*HookProgress) message() {}

// MessageType returns the line's type and subtype.
func (*HookProgress) MessageType() (typ, subtype string) { return "system", "hook_progress" }

// HookResponse says that a hook of the settings ended.
type HookResponse struct {
	Source
	// This run of the hook.
	HookID string `json:"hook_id"`

	// The hook.
	HookName string `json:"hook_name"`

	// The event.
	HookEvent HookEvent `json:"hook_event"`

	// Both outputs.
	Output string `json:"output"`

	// Its standard output.
	Stdout string `json:"stdout"`

	// Its standard error.
	Stderr string `json:"stderr"`

	// Its exit code.
	ExitCode *int64 `json:"exit_code,omitempty"`

	// How it ended.
	Outcome HookOutcome `json:"outcome"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *HookResponse) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "subtype":
		return true
	case "hook_id":
		return setString[string](d, &v.HookID, raw)
	case "hook_name":
		return setString[string](d, &v.HookName, raw)
	case "hook_event":
		return setString[HookEvent](d, &v.HookEvent, raw)
	case "output":
		return setString[string](d, &v.Output, raw)
	case "stdout":
		return setString[string](d, &v.Stdout, raw)
	case "stderr":
		return setString[string](d, &v.Stderr, raw)
	case "exit_code":
		return setPointer(d, &v.ExitCode, raw, setInt)
	case "outcome":
		return setString[HookOutcome](d, &v.Outcome, raw)
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *HookResponse) appendMembers(e *encoder) {
	e.raw("type", []byte(`"system"`))
	e.raw("subtype", []byte(`"hook_response"`))
	put(e, "hook_id", v.HookID, v.HookID == "", always, encString[string])
	put(e, "hook_name", v.HookName, v.HookName == "", always, encString[string])
	put(e, "hook_event", v.HookEvent, v.HookEvent == "", always, encString[HookEvent])
	put(e, "output", v.Output, v.Output == "", always, encString[string])
	put(e, "stdout", v.Stdout, v.Stdout == "", always, encString[string])
	put(e, "stderr", v.Stderr, v.Stderr == "", always, encString[string])
	put(e, "exit_code", v.ExitCode, v.ExitCode == nil, optional, encPointer(encInt))
	put(e, "outcome", v.Outcome, v.Outcome == "", always, encString[HookOutcome])
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*HookResponse) fresh() object { return new(HookResponse) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *HookResponse) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v HookResponse) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*HookResponse) message() {}

// MessageType returns the line's type and subtype.
func (*HookResponse) MessageType() (typ, subtype string) { return "system", "hook_response" }

// TaskStarted says that a task started: a sub-agent or a long command.
type TaskStarted struct {
	Source
	// The task.
	TaskID string `json:"task_id"`

	// This run of it.
	RunID string `json:"run_id,omitempty"`

	// The tool call that started it.
	ToolUseID string `json:"tool_use_id,omitempty"`

	// What it does.
	Description string `json:"description"`

	// The kind of sub-agent.
	SubagentType string `json:"subagent_type,omitempty"`

	// It runs in the background.
	IsBackgrounded bool `json:"is_backgrounded,omitempty"`

	// How deep it is nested.
	SpawnDepth int64 `json:"spawn_depth,omitempty"`

	// The task that started it.
	ParentTaskID string `json:"parent_task_id,omitempty"`

	// The kind of task, for example local_agent or local_bash.
	TaskType string `json:"task_type,omitempty"`

	// The workflow it belongs to.
	WorkflowName string `json:"workflow_name,omitempty"`

	// What the sub-agent was asked.
	Prompt string `json:"prompt,omitempty"`

	// Not to be shown in the transcript.
	SkipTranscript bool `json:"skip_transcript,omitempty"`

	// Part of the surroundings, nothing to wait for.
	Ambient bool `json:"ambient,omitempty"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *TaskStarted) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "subtype":
		return true
	case "task_id":
		return setString[string](d, &v.TaskID, raw)
	case "run_id":
		return setString[string](d, &v.RunID, raw)
	case "tool_use_id":
		return setString[string](d, &v.ToolUseID, raw)
	case "description":
		return setString[string](d, &v.Description, raw)
	case "subagent_type":
		return setString[string](d, &v.SubagentType, raw)
	case "is_backgrounded":
		return setBool(d, &v.IsBackgrounded, raw)
	case "spawn_depth":
		return setInt(d, &v.SpawnDepth, raw)
	case "parent_task_id":
		return setString[string](d, &v.ParentTaskID, raw)
	case "task_type":
		return setString[string](d, &v.TaskType, raw)
	case "workflow_name":
		return setString[string](d, &v.WorkflowName, raw)
	case "prompt":
		return setString[string](d, &v.Prompt, raw)
	case "skip_transcript":
		return setBool(d, &v.SkipTranscript, raw)
	case "ambient":
		return setBool(d, &v.Ambient, raw)
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *TaskStarted) appendMembers(e *encoder) {
	e.raw("type", []byte(`"system"`))
	e.raw("subtype", []byte(`"task_started"`))
	put(e, "task_id", v.TaskID, v.TaskID == "", always, encString[string])
	put(e, "run_id", v.RunID, v.RunID == "", optional, encString[string])
	put(e, "tool_use_id", v.ToolUseID, v.ToolUseID == "", optional, encString[string])
	put(e, "description", v.Description, v.Description == "", always, encString[string])
	put(e, "subagent_type", v.SubagentType, v.SubagentType == "", optional, encString[string])
	put(e, "is_backgrounded", v.IsBackgrounded, !v.IsBackgrounded, optional, encBool)
	put(e, "spawn_depth", v.SpawnDepth, v.SpawnDepth == 0, optional, encInt)
	put(e, "parent_task_id", v.ParentTaskID, v.ParentTaskID == "", optional, encString[string])
	put(e, "task_type", v.TaskType, v.TaskType == "", optional, encString[string])
	put(e, "workflow_name", v.WorkflowName, v.WorkflowName == "", optional, encString[string])
	put(e, "prompt", v.Prompt, v.Prompt == "", optional, encString[string])
	put(e, "skip_transcript", v.SkipTranscript, !v.SkipTranscript, optional, encBool)
	put(e, "ambient", v.Ambient, !v.Ambient, optional, encBool)
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*TaskStarted) fresh() object { return new(TaskStarted) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *TaskStarted) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v TaskStarted) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*TaskStarted) message() {}

// MessageType returns the line's type and subtype.
func (*TaskStarted) MessageType() (typ, subtype string) { return "system", "task_started" }

// TaskProgress tells how a task is going.
type TaskProgress struct {
	Source
	// The task.
	TaskID string `json:"task_id"`

	// This run of it.
	RunID string `json:"run_id,omitempty"`

	// The tool call that started it.
	ToolUseID string `json:"tool_use_id,omitempty"`

	// What it does just now.
	Description string `json:"description"`

	// The kind of sub-agent.
	SubagentType string `json:"subagent_type,omitempty"`

	// What it has used.
	Usage TaskUsage `json:"usage"`

	// The tool it used last.
	LastToolName string `json:"last_tool_name,omitempty"`

	// What it did so far.
	Summary string `json:"summary,omitempty"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *TaskProgress) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "subtype":
		return true
	case "task_id":
		return setString[string](d, &v.TaskID, raw)
	case "run_id":
		return setString[string](d, &v.RunID, raw)
	case "tool_use_id":
		return setString[string](d, &v.ToolUseID, raw)
	case "description":
		return setString[string](d, &v.Description, raw)
	case "subagent_type":
		return setString[string](d, &v.SubagentType, raw)
	case "usage":
		return setStruct[TaskUsage](d, &v.Usage, raw)
	case "last_tool_name":
		return setString[string](d, &v.LastToolName, raw)
	case "summary":
		return setString[string](d, &v.Summary, raw)
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *TaskProgress) appendMembers(e *encoder) {
	e.raw("type", []byte(`"system"`))
	e.raw("subtype", []byte(`"task_progress"`))
	put(e, "task_id", v.TaskID, v.TaskID == "", always, encString[string])
	put(e, "run_id", v.RunID, v.RunID == "", optional, encString[string])
	put(e, "tool_use_id", v.ToolUseID, v.ToolUseID == "", optional, encString[string])
	put(e, "description", v.Description, v.Description == "", always, encString[string])
	put(e, "subagent_type", v.SubagentType, v.SubagentType == "", optional, encString[string])
	put(e, "usage", v.Usage, false, always, encStruct[TaskUsage])
	put(e, "last_tool_name", v.LastToolName, v.LastToolName == "", optional, encString[string])
	put(e, "summary", v.Summary, v.Summary == "", optional, encString[string])
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*TaskProgress) fresh() object { return new(TaskProgress) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *TaskProgress) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v TaskProgress) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*TaskProgress) message() {}

// MessageType returns the line's type and subtype.
func (*TaskProgress) MessageType() (typ, subtype string) { return "system", "task_progress" }

// TaskUpdated tells a change of a task. The end of a task may come in this
// form only.
type TaskUpdated struct {
	Source
	// The task.
	TaskID string `json:"task_id"`

	// This run of it.
	RunID string `json:"run_id,omitempty"`

	// What changed.
	Patch TaskPatch `json:"patch"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *TaskUpdated) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "subtype":
		return true
	case "task_id":
		return setString[string](d, &v.TaskID, raw)
	case "run_id":
		return setString[string](d, &v.RunID, raw)
	case "patch":
		return setStruct[TaskPatch](d, &v.Patch, raw)
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *TaskUpdated) appendMembers(e *encoder) {
	e.raw("type", []byte(`"system"`))
	e.raw("subtype", []byte(`"task_updated"`))
	put(e, "task_id", v.TaskID, v.TaskID == "", always, encString[string])
	put(e, "run_id", v.RunID, v.RunID == "", optional, encString[string])
	put(e, "patch", v.Patch, false, always, encStruct[TaskPatch])
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*TaskUpdated) fresh() object { return new(TaskUpdated) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *TaskUpdated) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v TaskUpdated) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*TaskUpdated) message() {}

// MessageType returns the line's type and subtype.
func (*TaskUpdated) MessageType() (typ, subtype string) { return "system", "task_updated" }

// TaskNotification says that a task ended.
type TaskNotification struct {
	Source
	// The task.
	TaskID string `json:"task_id"`

	// This run of it.
	RunID string `json:"run_id,omitempty"`

	// The tool call that started it.
	ToolUseID string `json:"tool_use_id,omitempty"`

	// How it ended: completed, failed or stopped.
	Status TaskStatus `json:"status"`

	// Why it was stopped: worker_restart.
	Reason string `json:"reason,omitempty"`

	// The file with its output.
	OutputFile string `json:"output_file"`

	// What it did.
	Summary string `json:"summary"`

	// What it used.
	Usage *TaskUsage `json:"usage,omitempty"`

	// Resources that it produced.
	ResourceLinks []MCPResourceLink `json:"resource_links,omitempty"`

	// Not to be shown in the transcript.
	SkipTranscript bool `json:"skip_transcript,omitempty"`

	// Part of the surroundings, nothing to wait for.
	Ambient bool `json:"ambient,omitempty"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *TaskNotification) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "subtype":
		return true
	case "task_id":
		return setString[string](d, &v.TaskID, raw)
	case "run_id":
		return setString[string](d, &v.RunID, raw)
	case "tool_use_id":
		return setString[string](d, &v.ToolUseID, raw)
	case "status":
		return setString[TaskStatus](d, &v.Status, raw)
	case "reason":
		return setString[string](d, &v.Reason, raw)
	case "output_file":
		return setString[string](d, &v.OutputFile, raw)
	case "summary":
		return setString[string](d, &v.Summary, raw)
	case "usage":
		return setPointer(d, &v.Usage, raw, setStruct[TaskUsage])
	case "resource_links":
		return setList(d, &v.ResourceLinks, raw, setStruct[MCPResourceLink])
	case "skip_transcript":
		return setBool(d, &v.SkipTranscript, raw)
	case "ambient":
		return setBool(d, &v.Ambient, raw)
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *TaskNotification) appendMembers(e *encoder) {
	e.raw("type", []byte(`"system"`))
	e.raw("subtype", []byte(`"task_notification"`))
	put(e, "task_id", v.TaskID, v.TaskID == "", always, encString[string])
	put(e, "run_id", v.RunID, v.RunID == "", optional, encString[string])
	put(e, "tool_use_id", v.ToolUseID, v.ToolUseID == "", optional, encString[string])
	put(e, "status", v.Status, v.Status == "", always, encString[TaskStatus])
	put(e, "reason", v.Reason, v.Reason == "", optional, encString[string])
	put(e, "output_file", v.OutputFile, v.OutputFile == "", always, encString[string])
	put(e, "summary", v.Summary, v.Summary == "", always, encString[string])
	put(e, "usage", v.Usage, v.Usage == nil, optional, encPointer(encStruct[TaskUsage]))
	put(e, "resource_links", v.ResourceLinks, v.ResourceLinks == nil, optional, encList(encStruct[MCPResourceLink]))
	put(e, "skip_transcript", v.SkipTranscript, !v.SkipTranscript, optional, encBool)
	put(e, "ambient", v.Ambient, !v.Ambient, optional, encBool)
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*TaskNotification) fresh() object { return new(TaskNotification) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *TaskNotification) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v TaskNotification) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*TaskNotification) message() {}

// MessageType returns the line's type and subtype.
func (*TaskNotification) MessageType() (typ, subtype string) { return "system", "task_notification" }

// BackgroundTasksChanged brings the whole set of live background tasks. It
// replaces the last one.
type BackgroundTasksChanged struct {
	Source
	// The tasks.
	Tasks []BackgroundTask `json:"tasks"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *BackgroundTasksChanged) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "subtype":
		return true
	case "tasks":
		return setList(d, &v.Tasks, raw, setStruct[BackgroundTask])
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *BackgroundTasksChanged) appendMembers(e *encoder) {
	e.raw("type", []byte(`"system"`))
	e.raw("subtype", []byte(`"background_tasks_changed"`))
	put(e, "tasks", v.Tasks, v.Tasks == nil, always, encList(encStruct[BackgroundTask]))
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*BackgroundTasksChanged) fresh() object { return new(BackgroundTasksChanged) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *BackgroundTasksChanged) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v BackgroundTasksChanged) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*BackgroundTasksChanged) message() {}

// MessageType returns the line's type and subtype.
func (*BackgroundTasksChanged) MessageType() (typ, subtype string) {
	return "system", "background_tasks_changed"
}

// ThinkingTokens estimates how much the model has thought while its thinking
// is hidden.
type ThinkingTokens struct {
	Source
	// Tokens of the current block so far.
	EstimatedTokens int64 `json:"estimated_tokens"`

	// Tokens since the last line.
	EstimatedTokensDelta int64 `json:"estimated_tokens_delta"`

	// The user message that is answered.
	UserMessageUUID string `json:"user_message_uuid,omitempty"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *ThinkingTokens) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "subtype":
		return true
	case "estimated_tokens":
		return setInt(d, &v.EstimatedTokens, raw)
	case "estimated_tokens_delta":
		return setInt(d, &v.EstimatedTokensDelta, raw)
	case "user_message_uuid":
		return setString[string](d, &v.UserMessageUUID, raw)
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *ThinkingTokens) appendMembers(e *encoder) {
	e.raw("type", []byte(`"system"`))
	e.raw("subtype", []byte(`"thinking_tokens"`))
	put(e, "estimated_tokens", v.EstimatedTokens, v.EstimatedTokens == 0, always, encInt)
	put(e, "estimated_tokens_delta", v.EstimatedTokensDelta, v.EstimatedTokensDelta == 0, always, encInt)
	put(e, "user_message_uuid", v.UserMessageUUID, v.UserMessageUUID == "", optional, encString[string])
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*ThinkingTokens) fresh() object { return new(ThinkingTokens) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ThinkingTokens) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ThinkingTokens) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ThinkingTokens) message() {}

// MessageType returns the line's type and subtype.
func (*ThinkingTokens) MessageType() (typ, subtype string) { return "system", "thinking_tokens" }

// ControlRequest asks the other side for something. It is answered by one
// [ControlResponse] with the same id.
type ControlRequest struct {
	Source
	// Chosen by the sender, unique among its open requests.
	RequestID string `json:"request_id"`

	// What is asked.
	Request Request `json:"request"`
}

func (v *ControlRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "request_id":
		return setString[string](d, &v.RequestID, raw)
	case "request":
		return setUnion(d, &v.Request, raw, decodeRequest)
	}
	return false
}

func (v *ControlRequest) appendMembers(e *encoder) {
	e.raw("type", []byte(`"control_request"`))
	put(e, "request_id", v.RequestID, v.RequestID == "", always, encString[string])
	put(e, "request", v.Request, v.Request == nil, always, encUnion[Request])
}

func (*ControlRequest) fresh() object { return new(ControlRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ControlRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ControlRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ControlRequest) message() {}

// MessageType returns the line's type and subtype.
func (*ControlRequest) MessageType() (typ, subtype string) { return "control_request", "" }

// ControlResponse answers a [ControlRequest].
type ControlResponse struct {
	Source
	// The answer.
	Response ControlAnswer `json:"response"`
}

func (v *ControlResponse) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "response":
		return setStruct[ControlAnswer](d, &v.Response, raw)
	}
	return false
}

func (v *ControlResponse) appendMembers(e *encoder) {
	e.raw("type", []byte(`"control_response"`))
	put(e, "response", v.Response, false, always, encStruct[ControlAnswer])
}

func (*ControlResponse) fresh() object { return new(ControlResponse) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ControlResponse) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ControlResponse) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ControlResponse) message() {}

// MessageType returns the line's type and subtype.
func (*ControlResponse) MessageType() (typ, subtype string) { return "control_response", "" }

// ControlCancel takes back one of the sender's own requests. It has no answer.
// Sent to a CLI up to 2.1.44 it ends the process.
type ControlCancel struct {
	Source
	// The request.
	RequestID string `json:"request_id"`
}

func (v *ControlCancel) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "request_id":
		return setString[string](d, &v.RequestID, raw)
	}
	return false
}

func (v *ControlCancel) appendMembers(e *encoder) {
	e.raw("type", []byte(`"control_cancel_request"`))
	put(e, "request_id", v.RequestID, v.RequestID == "", always, encString[string])
}

func (*ControlCancel) fresh() object { return new(ControlCancel) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ControlCancel) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ControlCancel) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ControlCancel) message() {}

// MessageType returns the line's type and subtype.
func (*ControlCancel) MessageType() (typ, subtype string) { return "control_cancel_request", "" }

// KeepAlive keeps a connection open and means nothing.
type KeepAlive struct {
	Source
}

func (v *KeepAlive) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	}
	return false
}

func (v *KeepAlive) appendMembers(e *encoder) {
	e.raw("type", []byte(`"keep_alive"`))
}

func (*KeepAlive) fresh() object { return new(KeepAlive) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *KeepAlive) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v KeepAlive) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*KeepAlive) message() {}

// MessageType returns the line's type and subtype.
func (*KeepAlive) MessageType() (typ, subtype string) { return "keep_alive", "" }

// EnvironmentUpdate sets environment variables of a running CLI. Those after
// 2.1.173 take only their own tokens over stdio.
type EnvironmentUpdate struct {
	Source
	// The variables. Old versions end without this member.
	Variables map[string]string `json:"variables"`

	// Asks newer versions for an answer.
	RequestID string `json:"request_id,omitempty"`
}

func (v *EnvironmentUpdate) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "variables":
		return setMap(d, &v.Variables, raw, setString[string])
	case "request_id":
		return setString[string](d, &v.RequestID, raw)
	}
	return false
}

func (v *EnvironmentUpdate) appendMembers(e *encoder) {
	e.raw("type", []byte(`"update_environment_variables"`))
	put(e, "variables", v.Variables, v.Variables == nil, always, encMap(encString[string]))
	put(e, "request_id", v.RequestID, v.RequestID == "", optional, encString[string])
}

func (*EnvironmentUpdate) fresh() object { return new(EnvironmentUpdate) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *EnvironmentUpdate) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v EnvironmentUpdate) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*EnvironmentUpdate) message() {}

// MessageType returns the line's type and subtype.
func (*EnvironmentUpdate) MessageType() (typ, subtype string) {
	return "update_environment_variables", ""
}

// ErrorLine is an API error as a line of its own. Described by third parties,
// never seen; it is understood in case it comes.
type ErrorLine struct {
	Source
	// The error.
	Error APIErrorBody `json:"error"`
}

func (v *ErrorLine) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "error":
		return setStruct[APIErrorBody](d, &v.Error, raw)
	}
	return false
}

func (v *ErrorLine) appendMembers(e *encoder) {
	e.raw("type", []byte(`"error"`))
	put(e, "error", v.Error, false, always, encStruct[APIErrorBody])
}

func (*ErrorLine) fresh() object { return new(ErrorLine) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ErrorLine) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ErrorLine) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ErrorLine) message() {}

// MessageType returns the line's type and subtype.
func (*ErrorLine) MessageType() (typ, subtype string) { return "error", "" }

// Result ends a turn. There may be several for one prompt, and one for several
// prompts: it is not the end of the run.
type Result struct {
	Source
	// How the turn ended. A turn failed if this is not success or is_error is
	// set.
	Subtype ResultSubtype `json:"subtype"`

	// How long the turn took, in milliseconds.
	DurationMs int64 `json:"duration_ms"`

	// Milliseconds spent waiting for the API, counted from the start of the
	// process, unlike duration_ms.
	DurationAPIMs int64 `json:"duration_api_ms"`

	// Milliseconds until the first token.
	TTFTMs int64 `json:"ttft_ms,omitempty"`

	// Milliseconds until the first token of the stream.
	TTFTStreamMs int64 `json:"ttft_stream_ms,omitempty"`

	// Milliseconds until the first request to the API.
	TimeToRequestMs int64 `json:"time_to_request_ms,omitempty"`

	// The user message that is answered.
	UserMessageUUID string `json:"user_message_uuid,omitempty"`

	// All user messages that are answered, where several were merged.
	UserMessageUUIDs []string `json:"user_message_uuids,omitempty"`

	// Why the turn was resumed.
	ResumeReason string `json:"resume_reason,omitempty"`

	// The slash command that the CLI ran itself.
	LocalCommand string `json:"local_command,omitempty"`

	// When the first request was sent, in milliseconds since 1970.
	RequestSentWallMs float64 `json:"request_sent_wall_ms,omitempty"`

	// Milliseconds until the first content.
	FirstContentFrameMs int64 `json:"first_content_frame_ms,omitempty"`

	// Milliseconds until the first stream event was posted. This and the next
	// ones come from cloud sessions only.
	FirstStreamPostMs int64 `json:"first_stream_post_ms,omitempty"`

	// Milliseconds until that post was acknowledged.
	FirstStreamPostAckMs int64 `json:"first_stream_post_ack_ms,omitempty"`

	// Milliseconds that it waited in a queue.
	FirstStreamPostQueueWaitMs int64 `json:"first_stream_post_queue_wait_ms,omitempty"`

	// What it waited for.
	FirstStreamPostQueuedBehind QueuedBehind `json:"first_stream_post_queued_behind,omitempty"`

	// When it was sent, in milliseconds since 1970.
	FirstStreamPostWallMs float64 `json:"first_stream_post_wall_ms,omitempty"`

	// Milliseconds until the first text was posted.
	FirstTextPostMs int64 `json:"first_text_post_ms,omitempty"`

	// Milliseconds that it waited in a queue.
	FirstTextPostQueueWaitMs int64 `json:"first_text_post_queue_wait_ms,omitempty"`

	// What it waited for.
	FirstTextPostQueuedBehind QueuedBehind `json:"first_text_post_queued_behind,omitempty"`

	// When it was sent, in milliseconds since 1970.
	FirstTextPostWallMs float64 `json:"first_text_post_wall_ms,omitempty"`

	// Milliseconds from the start of the process to the first request.
	TimeToRequestFromSpawnMs int64 `json:"time_to_request_from_spawn_ms,omitempty"`

	// The process was started ahead of its use.
	WarmSpareClaimed bool `json:"warm_spare_claimed,omitempty"`

	// The zero of the measured times, in milliseconds since 1970.
	TimeOriginMs float64 `json:"time_origin_ms,omitempty"`

	// The turn ended on an error. An interrupted turn sets it on newer versions
	// only.
	IsError bool `json:"is_error"`

	// The HTTP status of the API error that ended the turn.
	APIErrorStatus *int64 `json:"api_error_status,omitempty"`

	// The API's own name of that error. Seen on 2.1.325, undocumented.
	APIErrorType string `json:"api_error_type,omitempty"`

	// How many rounds with the model it took.
	NumTurns int64 `json:"num_turns"`

	// The final text. Only successes have one.
	Result string `json:"result,omitempty"`

	// What went wrong. Texts that start with "[ede_diagnostic]" are not for
	// people.
	Errors []string `json:"errors,omitempty"`

	// Why the model stopped.
	StopReason StopReason `json:"stop_reason"`

	// What the process has cost so far: cumulative, not per turn.
	TotalCostUSD float64 `json:"total_cost_usd"`

	// The tokens of this turn's main conversation.
	Usage Usage `json:"usage"`

	// The tokens of the process so far, by model: cumulative, sub-agents
	// included.
	ModelUsage map[string]ModelUsage `json:"modelUsage"`

	// The tool calls that were refused.
	PermissionDenials []PermissionDenial `json:"permission_denials"`

	// How many more turns are waiting.
	QueuedTurnCount int64 `json:"queued_turn_count,omitempty"`

	// The output that the given schema asked for.
	StructuredOutput json.RawMessage `json:"structured_output,omitempty"`

	// The tool call that a hook deferred.
	DeferredToolUse *DeferredToolUse `json:"deferred_tool_use,omitempty"`

	// Why the turn ended, in more detail.
	TerminalReason TerminalReason `json:"terminal_reason,omitempty"`

	// Why the session could not start.
	StartupFailureReason StartupFailureReason `json:"startup_failure_reason,omitempty"`

	// The configuration file that is damaged.
	InvalidConfigFile *InvalidConfigFile `json:"invalid_config_file,omitempty"`

	// The number of this result; a gap means that one was lost.
	ResultIndex *int64 `json:"result_index,omitempty"`

	// When the credentials expire.
	CredentialExpiresAt string `json:"credential_expires_at,omitempty"`

	// The state of fast mode.
	FastModeState FastModeState `json:"fast_mode_state,omitempty"`

	// Why fast mode cannot be used.
	FastModeDisabledReason FastModeDisabledReason `json:"fast_mode_disabled_reason,omitempty"`

	// What started a turn that no user message started.
	Origin *MessageOrigin `json:"origin,omitempty"`

	// Identifies this line.
	UUID string `json:"uuid"`

	// The conversation it belongs to.
	SessionID string `json:"session_id"`
}

func (v *Result) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "subtype":
		return setString[ResultSubtype](d, &v.Subtype, raw)
	case "duration_ms":
		return setInt(d, &v.DurationMs, raw)
	case "duration_api_ms":
		return setInt(d, &v.DurationAPIMs, raw)
	case "ttft_ms":
		return setInt(d, &v.TTFTMs, raw)
	case "ttft_stream_ms":
		return setInt(d, &v.TTFTStreamMs, raw)
	case "time_to_request_ms":
		return setInt(d, &v.TimeToRequestMs, raw)
	case "user_message_uuid":
		return setString[string](d, &v.UserMessageUUID, raw)
	case "user_message_uuids":
		return setList(d, &v.UserMessageUUIDs, raw, setString[string])
	case "resume_reason":
		return setString[string](d, &v.ResumeReason, raw)
	case "local_command":
		return setString[string](d, &v.LocalCommand, raw)
	case "request_sent_wall_ms":
		return setNum(d, &v.RequestSentWallMs, raw)
	case "first_content_frame_ms":
		return setInt(d, &v.FirstContentFrameMs, raw)
	case "first_stream_post_ms":
		return setInt(d, &v.FirstStreamPostMs, raw)
	case "first_stream_post_ack_ms":
		return setInt(d, &v.FirstStreamPostAckMs, raw)
	case "first_stream_post_queue_wait_ms":
		return setInt(d, &v.FirstStreamPostQueueWaitMs, raw)
	case "first_stream_post_queued_behind":
		return setString[QueuedBehind](d, &v.FirstStreamPostQueuedBehind, raw)
	case "first_stream_post_wall_ms":
		return setNum(d, &v.FirstStreamPostWallMs, raw)
	case "first_text_post_ms":
		return setInt(d, &v.FirstTextPostMs, raw)
	case "first_text_post_queue_wait_ms":
		return setInt(d, &v.FirstTextPostQueueWaitMs, raw)
	case "first_text_post_queued_behind":
		return setString[QueuedBehind](d, &v.FirstTextPostQueuedBehind, raw)
	case "first_text_post_wall_ms":
		return setNum(d, &v.FirstTextPostWallMs, raw)
	case "time_to_request_from_spawn_ms":
		return setInt(d, &v.TimeToRequestFromSpawnMs, raw)
	case "warm_spare_claimed":
		return setBool(d, &v.WarmSpareClaimed, raw)
	case "time_origin_ms":
		return setNum(d, &v.TimeOriginMs, raw)
	case "is_error":
		return setBool(d, &v.IsError, raw)
	case "api_error_status":
		return setPointer(d, &v.APIErrorStatus, raw, setInt)
	case "api_error_type":
		return setString[string](d, &v.APIErrorType, raw)
	case "num_turns":
		return setInt(d, &v.NumTurns, raw)
	case "result":
		return setString[string](d, &v.Result, raw)
	case "errors":
		return setList(d, &v.Errors, raw, setString[string])
	case "stop_reason":
		return setString[StopReason](d, &v.StopReason, raw)
	case "total_cost_usd":
		return setNum(d, &v.TotalCostUSD, raw)
	case "usage":
		return setStruct[Usage](d, &v.Usage, raw)
	case "modelUsage":
		return setMap(d, &v.ModelUsage, raw, setStruct[ModelUsage])
	case "permission_denials":
		return setList(d, &v.PermissionDenials, raw, setStruct[PermissionDenial])
	case "queued_turn_count":
		return setInt(d, &v.QueuedTurnCount, raw)
	case "structured_output":
		return setRaw(d, &v.StructuredOutput, raw)
	case "deferred_tool_use":
		return setPointer(d, &v.DeferredToolUse, raw, setStruct[DeferredToolUse])
	case "terminal_reason":
		return setString[TerminalReason](d, &v.TerminalReason, raw)
	case "startup_failure_reason":
		return setString[StartupFailureReason](d, &v.StartupFailureReason, raw)
	case "invalid_config_file":
		return setPointer(d, &v.InvalidConfigFile, raw, setStruct[InvalidConfigFile])
	case "result_index":
		return setPointer(d, &v.ResultIndex, raw, setInt)
	case "credential_expires_at":
		return setString[string](d, &v.CredentialExpiresAt, raw)
	case "fast_mode_state":
		return setString[FastModeState](d, &v.FastModeState, raw)
	case "fast_mode_disabled_reason":
		return setString[FastModeDisabledReason](d, &v.FastModeDisabledReason, raw)
	case "origin":
		return setPointer(d, &v.Origin, raw, setStruct[MessageOrigin])
	case "uuid":
		return setString[string](d, &v.UUID, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *Result) appendMembers(e *encoder) {
	e.raw("type", []byte(`"result"`))
	put(e, "subtype", v.Subtype, v.Subtype == "", always, encString[ResultSubtype])
	put(e, "duration_ms", v.DurationMs, v.DurationMs == 0, always, encInt)
	put(e, "duration_api_ms", v.DurationAPIMs, v.DurationAPIMs == 0, always, encInt)
	put(e, "ttft_ms", v.TTFTMs, v.TTFTMs == 0, optional, encInt)
	put(e, "ttft_stream_ms", v.TTFTStreamMs, v.TTFTStreamMs == 0, optional, encInt)
	put(e, "time_to_request_ms", v.TimeToRequestMs, v.TimeToRequestMs == 0, optional, encInt)
	put(e, "user_message_uuid", v.UserMessageUUID, v.UserMessageUUID == "", optional, encString[string])
	put(e, "user_message_uuids", v.UserMessageUUIDs, v.UserMessageUUIDs == nil, optional, encList(encString[string]))
	put(e, "resume_reason", v.ResumeReason, v.ResumeReason == "", optional, encString[string])
	put(e, "local_command", v.LocalCommand, v.LocalCommand == "", optional, encString[string])
	put(e, "request_sent_wall_ms", v.RequestSentWallMs, v.RequestSentWallMs == 0, optional, encNum)
	put(e, "first_content_frame_ms", v.FirstContentFrameMs, v.FirstContentFrameMs == 0, optional, encInt)
	put(e, "first_stream_post_ms", v.FirstStreamPostMs, v.FirstStreamPostMs == 0, optional, encInt)
	put(e, "first_stream_post_ack_ms", v.FirstStreamPostAckMs, v.FirstStreamPostAckMs == 0, optional, encInt)
	put(e, "first_stream_post_queue_wait_ms", v.FirstStreamPostQueueWaitMs, v.FirstStreamPostQueueWaitMs == 0, optional, encInt)
	put(e, "first_stream_post_queued_behind", v.FirstStreamPostQueuedBehind, v.FirstStreamPostQueuedBehind == "", optional, encString[QueuedBehind])
	put(e, "first_stream_post_wall_ms", v.FirstStreamPostWallMs, v.FirstStreamPostWallMs == 0, optional, encNum)
	put(e, "first_text_post_ms", v.FirstTextPostMs, v.FirstTextPostMs == 0, optional, encInt)
	put(e, "first_text_post_queue_wait_ms", v.FirstTextPostQueueWaitMs, v.FirstTextPostQueueWaitMs == 0, optional, encInt)
	put(e, "first_text_post_queued_behind", v.FirstTextPostQueuedBehind, v.FirstTextPostQueuedBehind == "", optional, encString[QueuedBehind])
	put(e, "first_text_post_wall_ms", v.FirstTextPostWallMs, v.FirstTextPostWallMs == 0, optional, encNum)
	put(e, "time_to_request_from_spawn_ms", v.TimeToRequestFromSpawnMs, v.TimeToRequestFromSpawnMs == 0, optional, encInt)
	put(e, "warm_spare_claimed", v.WarmSpareClaimed, !v.WarmSpareClaimed, optional, encBool)
	put(e, "time_origin_ms", v.TimeOriginMs, v.TimeOriginMs == 0, optional, encNum)
	put(e, "is_error", v.IsError, !v.IsError, always, encBool)
	put(e, "api_error_status", v.APIErrorStatus, v.APIErrorStatus == nil, optional, encPointer(encInt))
	put(e, "api_error_type", v.APIErrorType, v.APIErrorType == "", optional, encString[string])
	put(e, "num_turns", v.NumTurns, v.NumTurns == 0, always, encInt)
	put(e, "result", v.Result, v.Result == "", optional, encString[string])
	put(e, "errors", v.Errors, v.Errors == nil, optional, encList(encString[string]))
	put(e, "stop_reason", v.StopReason, v.StopReason == "", nullable, encString[StopReason])
	put(e, "total_cost_usd", v.TotalCostUSD, v.TotalCostUSD == 0, always, encNum)
	put(e, "usage", v.Usage, false, always, encStruct[Usage])
	put(e, "modelUsage", v.ModelUsage, v.ModelUsage == nil, always, encMap(encStruct[ModelUsage]))
	put(e, "permission_denials", v.PermissionDenials, v.PermissionDenials == nil, always, encList(encStruct[PermissionDenial]))
	put(e, "queued_turn_count", v.QueuedTurnCount, v.QueuedTurnCount == 0, optional, encInt)
	put(e, "structured_output", v.StructuredOutput, v.StructuredOutput == nil, optional, encRaw)
	put(e, "deferred_tool_use", v.DeferredToolUse, v.DeferredToolUse == nil, optional, encPointer(encStruct[DeferredToolUse]))
	put(e, "terminal_reason", v.TerminalReason, v.TerminalReason == "", optional, encString[TerminalReason])
	put(e, "startup_failure_reason", v.StartupFailureReason, v.StartupFailureReason == "", optional, encString[StartupFailureReason])
	put(e, "invalid_config_file", v.InvalidConfigFile, v.InvalidConfigFile == nil, optional, encPointer(encStruct[InvalidConfigFile]))
	put(e, "result_index", v.ResultIndex, v.ResultIndex == nil, optional, encPointer(encInt))
	put(e, "credential_expires_at", v.CredentialExpiresAt, v.CredentialExpiresAt == "", optional, encString[string])
	put(e, "fast_mode_state", v.FastModeState, v.FastModeState == "", optional, encString[FastModeState])
	put(e, "fast_mode_disabled_reason", v.FastModeDisabledReason, v.FastModeDisabledReason == "", optional, encString[FastModeDisabledReason])
	put(e, "origin", v.Origin, v.Origin == nil, optional, encPointer(encStruct[MessageOrigin]))
	put(e, "uuid", v.UUID, v.UUID == "", always, encString[string])
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
}

func (*Result) fresh() object { return new(Result) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *Result) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v Result) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*Result) message() {}

// MessageType returns the line's type and subtype.
func (v *Result) MessageType() (typ, subtype string) { return "result", string(v.Subtype) }
