// Code generated from schema/*.wire by wire/internal/gen. DO NOT EDIT.

package wire

import "encoding/json"

// UserBody is the message within a user line.
type UserBody struct {
	Source
	// Always user. Any other role ends the CLI.
	Role string `json:"role"`

	// A text, or content blocks.
	Content Content `json:"content"`
}

func (v *UserBody) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "role":
		return setString[string](d, &v.Role, raw)
	case "content":
		return setContent(d, &v.Content, raw)
	}
	return false
}

func (v *UserBody) appendMembers(e *encoder) {
	put(e, "role", v.Role, v.Role == "", always, encString[string])
	put(e, "content", v.Content, v.Content.IsZero(), always, encContent)
}

func (*UserBody) fresh() object { return new(UserBody) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *UserBody) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v UserBody) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// MessageOrigin tells where a message or a turn came from. Which members are
// set depends on the kind.
type MessageOrigin struct {
	Source
	// The kind.
	Kind OriginKind `json:"kind"`

	// The MCP server of a channel.
	Server string `json:"server,omitempty"`

	// The sender.
	From string `json:"from,omitempty"`

	// The sender's permission mode: bypass or prompting.
	FromMode string `json:"fromMode,omitempty"`

	// The sender's name.
	Name string `json:"name,omitempty"`

	// The sender's session.
	FromSession string `json:"fromSession,omitempty"`

	// The sender's task.
	SenderTaskID string `json:"senderTaskId,omitempty"`

	// What was sent.
	Body string `json:"body,omitempty"`

	// The sender's process, if that was verified.
	VerifiedPeerPID int64 `json:"verifiedPeerPid,omitempty"`

	// What kind of notification.
	Subkind OriginSubkind `json:"subkind,omitempty"`

	// Why a trigger fired.
	FireReason string `json:"fireReason,omitempty"`

	// The run of the task.
	RunID string `json:"runId,omitempty"`
}

func (v *MessageOrigin) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "kind":
		return setString[OriginKind](d, &v.Kind, raw)
	case "server":
		return setString[string](d, &v.Server, raw)
	case "from":
		return setString[string](d, &v.From, raw)
	case "fromMode":
		return setString[string](d, &v.FromMode, raw)
	case "name":
		return setString[string](d, &v.Name, raw)
	case "fromSession":
		return setString[string](d, &v.FromSession, raw)
	case "senderTaskId":
		return setString[string](d, &v.SenderTaskID, raw)
	case "body":
		return setString[string](d, &v.Body, raw)
	case "verifiedPeerPid":
		return setInt(d, &v.VerifiedPeerPID, raw)
	case "subkind":
		return setString[OriginSubkind](d, &v.Subkind, raw)
	case "fireReason":
		return setString[string](d, &v.FireReason, raw)
	case "runId":
		return setString[string](d, &v.RunID, raw)
	}
	return false
}

func (v *MessageOrigin) appendMembers(e *encoder) {
	put(e, "kind", v.Kind, v.Kind == "", always, encString[OriginKind])
	put(e, "server", v.Server, v.Server == "", optional, encString[string])
	put(e, "from", v.From, v.From == "", optional, encString[string])
	put(e, "fromMode", v.FromMode, v.FromMode == "", optional, encString[string])
	put(e, "name", v.Name, v.Name == "", optional, encString[string])
	put(e, "fromSession", v.FromSession, v.FromSession == "", optional, encString[string])
	put(e, "senderTaskId", v.SenderTaskID, v.SenderTaskID == "", optional, encString[string])
	put(e, "body", v.Body, v.Body == "", optional, encString[string])
	put(e, "verifiedPeerPid", v.VerifiedPeerPID, v.VerifiedPeerPID == 0, optional, encInt)
	put(e, "subkind", v.Subkind, v.Subkind == "", optional, encString[OriginSubkind])
	put(e, "fireReason", v.FireReason, v.FireReason == "", optional, encString[string])
	put(e, "runId", v.RunID, v.RunID == "", optional, encString[string])
}

func (*MessageOrigin) fresh() object { return new(MessageOrigin) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *MessageOrigin) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v MessageOrigin) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// Goal is a condition that the session works towards.
type Goal struct {
	Source
	// The condition.
	Condition string `json:"condition"`

	// How often it was checked.
	Iterations int64 `json:"iterations"`

	// When it was set, in milliseconds since 1970.
	SetAt int64 `json:"set_at"`

	// The tokens used when it was set.
	TokensAtStart int64 `json:"tokens_at_start"`

	// Why it was not yet met at the last check.
	LastReason string `json:"last_reason,omitempty"`
}

func (v *Goal) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "condition":
		return setString[string](d, &v.Condition, raw)
	case "iterations":
		return setInt(d, &v.Iterations, raw)
	case "set_at":
		return setInt(d, &v.SetAt, raw)
	case "tokens_at_start":
		return setInt(d, &v.TokensAtStart, raw)
	case "last_reason":
		return setString[string](d, &v.LastReason, raw)
	}
	return false
}

func (v *Goal) appendMembers(e *encoder) {
	put(e, "condition", v.Condition, v.Condition == "", always, encString[string])
	put(e, "iterations", v.Iterations, v.Iterations == 0, always, encInt)
	put(e, "set_at", v.SetAt, v.SetAt == 0, always, encInt)
	put(e, "tokens_at_start", v.TokensAtStart, v.TokensAtStart == 0, always, encInt)
	put(e, "last_reason", v.LastReason, v.LastReason == "", optional, encString[string])
}

func (*Goal) fresh() object { return new(Goal) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *Goal) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v Goal) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// InitMCPServer is an MCP server as the init line lists it.
type InitMCPServer struct {
	Source
	// Its name.
	Name string `json:"name"`

	// The state of the connection.
	Status MCPServerState `json:"status"`

	// Where it was configured.
	Origin string `json:"source,omitempty"`
}

func (v *InitMCPServer) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "name":
		return setString[string](d, &v.Name, raw)
	case "status":
		return setString[MCPServerState](d, &v.Status, raw)
	case "source":
		return setString[string](d, &v.Origin, raw)
	}
	return false
}

func (v *InitMCPServer) appendMembers(e *encoder) {
	put(e, "name", v.Name, v.Name == "", always, encString[string])
	put(e, "status", v.Status, v.Status == "", always, encString[MCPServerState])
	put(e, "source", v.Origin, v.Origin == "", optional, encString[string])
}

func (*InitMCPServer) fresh() object { return new(InitMCPServer) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *InitMCPServer) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v InitMCPServer) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// InitPlugin is a plugin as the init line lists it.
type InitPlugin struct {
	Source
	// Its name.
	Name string `json:"name"`

	// Its folder.
	Path string `json:"path"`

	// Where it came from.
	Origin string `json:"source,omitempty"`

	// Its version.
	Version string `json:"version,omitempty"`
}

func (v *InitPlugin) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "name":
		return setString[string](d, &v.Name, raw)
	case "path":
		return setString[string](d, &v.Path, raw)
	case "source":
		return setString[string](d, &v.Origin, raw)
	case "version":
		return setString[string](d, &v.Version, raw)
	}
	return false
}

func (v *InitPlugin) appendMembers(e *encoder) {
	put(e, "name", v.Name, v.Name == "", always, encString[string])
	put(e, "path", v.Path, v.Path == "", always, encString[string])
	put(e, "source", v.Origin, v.Origin == "", optional, encString[string])
	put(e, "version", v.Version, v.Version == "", optional, encString[string])
}

func (*InitPlugin) fresh() object { return new(InitPlugin) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *InitPlugin) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v InitPlugin) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// PluginError tells why a plugin could not be loaded.
type PluginError struct {
	Source
	// The plugin.
	Plugin string `json:"plugin"`

	// The kind of error.
	Type string `json:"type"`

	// The error.
	Message string `json:"message"`

	// The file.
	Path string `json:"path,omitempty"`

	// The managed setting that decides about the plugin.
	ManagedLock *PluginLock `json:"managed_lock,omitempty"`
}

func (v *PluginError) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "plugin":
		return setString[string](d, &v.Plugin, raw)
	case "type":
		return setString[string](d, &v.Type, raw)
	case "message":
		return setString[string](d, &v.Message, raw)
	case "path":
		return setString[string](d, &v.Path, raw)
	case "managed_lock":
		return setPointer(d, &v.ManagedLock, raw, setStruct[PluginLock])
	}
	return false
}

func (v *PluginError) appendMembers(e *encoder) {
	put(e, "plugin", v.Plugin, v.Plugin == "", always, encString[string])
	put(e, "type", v.Type, v.Type == "", always, encString[string])
	put(e, "message", v.Message, v.Message == "", always, encString[string])
	put(e, "path", v.Path, v.Path == "", optional, encString[string])
	put(e, "managed_lock", v.ManagedLock, v.ManagedLock == nil, optional, encPointer(encStruct[PluginLock]))
}

func (*PluginError) fresh() object { return new(PluginError) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *PluginError) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v PluginError) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// PluginLock is a managed setting that switches a plugin on or off.
type PluginLock struct {
	Source
	// On or off.
	PluginEnabled bool `json:"plugin_enabled"`

	// The plugin.
	Name string `json:"name"`

	// Its marketplace.
	Marketplace string `json:"marketplace,omitempty"`
}

func (v *PluginLock) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "plugin_enabled":
		return setBool(d, &v.PluginEnabled, raw)
	case "name":
		return setString[string](d, &v.Name, raw)
	case "marketplace":
		return setString[string](d, &v.Marketplace, raw)
	}
	return false
}

func (v *PluginLock) appendMembers(e *encoder) {
	put(e, "plugin_enabled", v.PluginEnabled, !v.PluginEnabled, always, encBool)
	put(e, "name", v.Name, v.Name == "", always, encString[string])
	put(e, "marketplace", v.Marketplace, v.Marketplace == "", optional, encString[string])
}

func (*PluginLock) fresh() object { return new(PluginLock) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *PluginLock) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v PluginLock) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// CompactMetadata describes a compaction.
type CompactMetadata struct {
	Source
	// What started it.
	Trigger CompactTrigger `json:"trigger"`

	// Tokens before.
	PreTokens int64 `json:"pre_tokens"`

	// Tokens after.
	PostTokens int64 `json:"post_tokens,omitempty"`

	// How long it took, in milliseconds.
	DurationMs int64 `json:"duration_ms,omitempty"`

	// The stretch of the conversation that was kept.
	PreservedSegment *PreservedSegment `json:"preserved_segment,omitempty"`

	// The messages that were kept.
	PreservedMessages *PreservedMessages `json:"preserved_messages,omitempty"`
}

func (v *CompactMetadata) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "trigger":
		return setString[CompactTrigger](d, &v.Trigger, raw)
	case "pre_tokens":
		return setInt(d, &v.PreTokens, raw)
	case "post_tokens":
		return setInt(d, &v.PostTokens, raw)
	case "duration_ms":
		return setInt(d, &v.DurationMs, raw)
	case "preserved_segment":
		return setPointer(d, &v.PreservedSegment, raw, setStruct[PreservedSegment])
	case "preserved_messages":
		return setPointer(d, &v.PreservedMessages, raw, setStruct[PreservedMessages])
	}
	return false
}

func (v *CompactMetadata) appendMembers(e *encoder) {
	put(e, "trigger", v.Trigger, v.Trigger == "", always, encString[CompactTrigger])
	put(e, "pre_tokens", v.PreTokens, v.PreTokens == 0, always, encInt)
	put(e, "post_tokens", v.PostTokens, v.PostTokens == 0, optional, encInt)
	put(e, "duration_ms", v.DurationMs, v.DurationMs == 0, optional, encInt)
	put(e, "preserved_segment", v.PreservedSegment, v.PreservedSegment == nil, optional, encPointer(encStruct[PreservedSegment]))
	put(e, "preserved_messages", v.PreservedMessages, v.PreservedMessages == nil, optional, encPointer(encStruct[PreservedMessages]))
}

func (*CompactMetadata) fresh() object { return new(CompactMetadata) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *CompactMetadata) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v CompactMetadata) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// PreservedSegment is a stretch of the conversation that a compaction kept, by
// uuid.
type PreservedSegment struct {
	Source
	// Its first message.
	HeadUUID string `json:"head_uuid"`

	// The message it hangs on.
	AnchorUUID string `json:"anchor_uuid"`

	// Its last message.
	TailUUID string `json:"tail_uuid"`
}

func (v *PreservedSegment) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "head_uuid":
		return setString[string](d, &v.HeadUUID, raw)
	case "anchor_uuid":
		return setString[string](d, &v.AnchorUUID, raw)
	case "tail_uuid":
		return setString[string](d, &v.TailUUID, raw)
	}
	return false
}

func (v *PreservedSegment) appendMembers(e *encoder) {
	put(e, "head_uuid", v.HeadUUID, v.HeadUUID == "", always, encString[string])
	put(e, "anchor_uuid", v.AnchorUUID, v.AnchorUUID == "", always, encString[string])
	put(e, "tail_uuid", v.TailUUID, v.TailUUID == "", always, encString[string])
}

func (*PreservedSegment) fresh() object { return new(PreservedSegment) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *PreservedSegment) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v PreservedSegment) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// PreservedMessages lists messages that a compaction kept.
type PreservedMessages struct {
	Source
	// The message they hang on.
	AnchorUUID string `json:"anchor_uuid"`

	// The messages.
	UUIDs []string `json:"uuids"`
}

func (v *PreservedMessages) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "anchor_uuid":
		return setString[string](d, &v.AnchorUUID, raw)
	case "uuids":
		return setList(d, &v.UUIDs, raw, setString[string])
	}
	return false
}

func (v *PreservedMessages) appendMembers(e *encoder) {
	put(e, "anchor_uuid", v.AnchorUUID, v.AnchorUUID == "", always, encString[string])
	put(e, "uuids", v.UUIDs, v.UUIDs == nil, always, encList(encString[string]))
}

func (*PreservedMessages) fresh() object { return new(PreservedMessages) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *PreservedMessages) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v PreservedMessages) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// SlashCommand is a slash command or a skill.
type SlashCommand struct {
	Source
	// Its name, without the slash.
	Name string `json:"name"`

	// What it does.
	Description string `json:"description"`

	// What arguments it takes.
	ArgumentHint string `json:"argumentHint"`

	// Other names.
	Aliases []string `json:"aliases,omitempty"`

	// Part of the CLI.
	Builtin bool `json:"builtin,omitempty"`
}

func (v *SlashCommand) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "name":
		return setString[string](d, &v.Name, raw)
	case "description":
		return setString[string](d, &v.Description, raw)
	case "argumentHint":
		return setString[string](d, &v.ArgumentHint, raw)
	case "aliases":
		return setList(d, &v.Aliases, raw, setString[string])
	case "builtin":
		return setBool(d, &v.Builtin, raw)
	}
	return false
}

func (v *SlashCommand) appendMembers(e *encoder) {
	put(e, "name", v.Name, v.Name == "", always, encString[string])
	put(e, "description", v.Description, v.Description == "", always, encString[string])
	put(e, "argumentHint", v.ArgumentHint, v.ArgumentHint == "", always, encString[string])
	put(e, "aliases", v.Aliases, v.Aliases == nil, optional, encList(encString[string]))
	put(e, "builtin", v.Builtin, !v.Builtin, optional, encBool)
}

func (*SlashCommand) fresh() object { return new(SlashCommand) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *SlashCommand) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v SlashCommand) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// SessionKey names a transcript in a session store.
type SessionKey struct {
	Source
	// The project.
	ProjectKey string `json:"projectKey"`

	// The conversation.
	SessionID string `json:"sessionId"`

	// The part of it, for a sub-agent.
	Subpath string `json:"subpath,omitempty"`
}

func (v *SessionKey) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "projectKey":
		return setString[string](d, &v.ProjectKey, raw)
	case "sessionId":
		return setString[string](d, &v.SessionID, raw)
	case "subpath":
		return setString[string](d, &v.Subpath, raw)
	}
	return false
}

func (v *SessionKey) appendMembers(e *encoder) {
	put(e, "projectKey", v.ProjectKey, v.ProjectKey == "", always, encString[string])
	put(e, "sessionId", v.SessionID, v.SessionID == "", always, encString[string])
	put(e, "subpath", v.Subpath, v.Subpath == "", optional, encString[string])
}

func (*SessionKey) fresh() object { return new(SessionKey) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *SessionKey) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v SessionKey) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// PersistedFile is a file that was uploaded.
type PersistedFile struct {
	Source
	// Its name.
	Filename string `json:"filename"`

	// Its id.
	FileID string `json:"file_id"`
}

func (v *PersistedFile) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "filename":
		return setString[string](d, &v.Filename, raw)
	case "file_id":
		return setString[string](d, &v.FileID, raw)
	}
	return false
}

func (v *PersistedFile) appendMembers(e *encoder) {
	put(e, "filename", v.Filename, v.Filename == "", always, encString[string])
	put(e, "file_id", v.FileID, v.FileID == "", always, encString[string])
}

func (*PersistedFile) fresh() object { return new(PersistedFile) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *PersistedFile) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v PersistedFile) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// FailedFile is a file that could not be uploaded.
type FailedFile struct {
	Source
	// Its name.
	Filename string `json:"filename"`

	// Why.
	Error string `json:"error"`
}

func (v *FailedFile) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "filename":
		return setString[string](d, &v.Filename, raw)
	case "error":
		return setString[string](d, &v.Error, raw)
	}
	return false
}

func (v *FailedFile) appendMembers(e *encoder) {
	put(e, "filename", v.Filename, v.Filename == "", always, encString[string])
	put(e, "error", v.Error, v.Error == "", always, encString[string])
}

func (*FailedFile) fresh() object { return new(FailedFile) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *FailedFile) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v FailedFile) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// Memory is a memory that was brought into a turn.
type Memory struct {
	Source
	// Its file.
	Path string `json:"path"`

	// Whom it belongs to.
	Scope MemoryScope `json:"scope"`

	// Its text.
	Content string `json:"content,omitempty"`
}

func (v *Memory) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "path":
		return setString[string](d, &v.Path, raw)
	case "scope":
		return setString[MemoryScope](d, &v.Scope, raw)
	case "content":
		return setString[string](d, &v.Content, raw)
	}
	return false
}

func (v *Memory) appendMembers(e *encoder) {
	put(e, "path", v.Path, v.Path == "", always, encString[string])
	put(e, "scope", v.Scope, v.Scope == "", always, encString[MemoryScope])
	put(e, "content", v.Content, v.Content == "", optional, encString[string])
}

func (*Memory) fresh() object { return new(Memory) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *Memory) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v Memory) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// RateLimitInfo describes how close an account is to a limit.
type RateLimitInfo struct {
	Source
	// How close.
	Status RateLimitStatus `json:"status"`

	// When the window ends, in seconds since 1970.
	ResetsAt float64 `json:"resetsAt,omitempty"`

	// The window.
	RateLimitType RateLimitType `json:"rateLimitType,omitempty"`

	// The share that is used, from 0 to 1.
	Utilization *float64 `json:"utilization,omitempty"`

	// The same for usage beyond the plan.
	OverageStatus RateLimitStatus `json:"overageStatus,omitempty"`

	// When its window ends.
	OverageResetsAt float64 `json:"overageResetsAt,omitempty"`

	// Why it is not possible.
	OverageDisabledReason OverageDisabledReason `json:"overageDisabledReason,omitempty"`

	// Usage beyond the plan is being charged.
	IsUsingOverage bool `json:"isUsingOverage,omitempty"`

	// Usage beyond the plan is in use.
	OverageInUse bool `json:"overageInUse,omitempty"`

	// Usage beyond the plan is possible.
	OverageEnabled bool `json:"overageEnabled,omitempty"`

	// The threshold that was passed.
	SurpassedThreshold float64 `json:"surpassedThreshold,omitempty"`

	// What the limit is shared by.
	LimitScope LimitScope `json:"limitScope,omitempty"`

	// The API's code, for example credits_required.
	ErrorCode string `json:"errorCode,omitempty"`

	// The user can buy more.
	CanUserPurchaseCredits bool `json:"canUserPurchaseCredits,omitempty"`

	// There is a means of payment.
	HasChargeableSavedPaymentMethod bool `json:"hasChargeableSavedPaymentMethod,omitempty"`

	// All windows by their names, with share and end. Newer versions only.
	UnifiedWindows json.RawMessage `json:"unifiedWindows,omitempty"`
}

func (v *RateLimitInfo) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "status":
		return setString[RateLimitStatus](d, &v.Status, raw)
	case "resetsAt":
		return setNum(d, &v.ResetsAt, raw)
	case "rateLimitType":
		return setString[RateLimitType](d, &v.RateLimitType, raw)
	case "utilization":
		return setPointer(d, &v.Utilization, raw, setNum)
	case "overageStatus":
		return setString[RateLimitStatus](d, &v.OverageStatus, raw)
	case "overageResetsAt":
		return setNum(d, &v.OverageResetsAt, raw)
	case "overageDisabledReason":
		return setString[OverageDisabledReason](d, &v.OverageDisabledReason, raw)
	case "isUsingOverage":
		return setBool(d, &v.IsUsingOverage, raw)
	case "overageInUse":
		return setBool(d, &v.OverageInUse, raw)
	case "overageEnabled":
		return setBool(d, &v.OverageEnabled, raw)
	case "surpassedThreshold":
		return setNum(d, &v.SurpassedThreshold, raw)
	case "limitScope":
		return setString[LimitScope](d, &v.LimitScope, raw)
	case "errorCode":
		return setString[string](d, &v.ErrorCode, raw)
	case "canUserPurchaseCredits":
		return setBool(d, &v.CanUserPurchaseCredits, raw)
	case "hasChargeableSavedPaymentMethod":
		return setBool(d, &v.HasChargeableSavedPaymentMethod, raw)
	case "unifiedWindows":
		return setRaw(d, &v.UnifiedWindows, raw)
	}
	return false
}

func (v *RateLimitInfo) appendMembers(e *encoder) {
	put(e, "status", v.Status, v.Status == "", always, encString[RateLimitStatus])
	put(e, "resetsAt", v.ResetsAt, v.ResetsAt == 0, optional, encNum)
	put(e, "rateLimitType", v.RateLimitType, v.RateLimitType == "", optional, encString[RateLimitType])
	put(e, "utilization", v.Utilization, v.Utilization == nil, optional, encPointer(encNum))
	put(e, "overageStatus", v.OverageStatus, v.OverageStatus == "", optional, encString[RateLimitStatus])
	put(e, "overageResetsAt", v.OverageResetsAt, v.OverageResetsAt == 0, optional, encNum)
	put(e, "overageDisabledReason", v.OverageDisabledReason, v.OverageDisabledReason == "", optional, encString[OverageDisabledReason])
	put(e, "isUsingOverage", v.IsUsingOverage, !v.IsUsingOverage, optional, encBool)
	put(e, "overageInUse", v.OverageInUse, !v.OverageInUse, optional, encBool)
	put(e, "overageEnabled", v.OverageEnabled, !v.OverageEnabled, optional, encBool)
	put(e, "surpassedThreshold", v.SurpassedThreshold, v.SurpassedThreshold == 0, optional, encNum)
	put(e, "limitScope", v.LimitScope, v.LimitScope == "", optional, encString[LimitScope])
	put(e, "errorCode", v.ErrorCode, v.ErrorCode == "", optional, encString[string])
	put(e, "canUserPurchaseCredits", v.CanUserPurchaseCredits, !v.CanUserPurchaseCredits, optional, encBool)
	put(e, "hasChargeableSavedPaymentMethod", v.HasChargeableSavedPaymentMethod, !v.HasChargeableSavedPaymentMethod, optional, encBool)
	put(e, "unifiedWindows", v.UnifiedWindows, v.UnifiedWindows == nil, optional, encRaw)
}

func (*RateLimitInfo) fresh() object { return new(RateLimitInfo) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *RateLimitInfo) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v RateLimitInfo) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// NoResponse tells how long the CLI waited for an API that did not respond.
type NoResponse struct {
	Source
	// The wait so far, in milliseconds.
	WaitedMs int64 `json:"waited_ms"`

	// The wait at the next attempt, in milliseconds.
	RetryWaitMs int64 `json:"retry_wait_ms"`
}

func (v *NoResponse) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "waited_ms":
		return setInt(d, &v.WaitedMs, raw)
	case "retry_wait_ms":
		return setInt(d, &v.RetryWaitMs, raw)
	}
	return false
}

func (v *NoResponse) appendMembers(e *encoder) {
	put(e, "waited_ms", v.WaitedMs, v.WaitedMs == 0, always, encInt)
	put(e, "retry_wait_ms", v.RetryWaitMs, v.RetryWaitMs == 0, always, encInt)
}

func (*NoResponse) fresh() object { return new(NoResponse) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *NoResponse) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v NoResponse) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// SubagentRetry says that a sub-agent's request to the API failed and will be
// tried again.
type SubagentRetry struct {
	Source
	// The sub-agent.
	AgentID string `json:"agent_id"`

	// The number of the coming attempt.
	Attempt int64 `json:"attempt"`

	// How many there will be.
	MaxRetries int64 `json:"max_retries"`

	// The pause before it, in milliseconds.
	RetryDelayMs float64 `json:"retry_delay_ms"`

	// The HTTP status; null if there was no response.
	ErrorStatus *int64 `json:"error_status"`

	// The class of the failure.
	ErrorCategory string `json:"error_category"`
}

func (v *SubagentRetry) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "agent_id":
		return setString[string](d, &v.AgentID, raw)
	case "attempt":
		return setInt(d, &v.Attempt, raw)
	case "max_retries":
		return setInt(d, &v.MaxRetries, raw)
	case "retry_delay_ms":
		return setNum(d, &v.RetryDelayMs, raw)
	case "error_status":
		return setPointer(d, &v.ErrorStatus, raw, setInt)
	case "error_category":
		return setString[string](d, &v.ErrorCategory, raw)
	}
	return false
}

func (v *SubagentRetry) appendMembers(e *encoder) {
	put(e, "agent_id", v.AgentID, v.AgentID == "", always, encString[string])
	put(e, "attempt", v.Attempt, v.Attempt == 0, always, encInt)
	put(e, "max_retries", v.MaxRetries, v.MaxRetries == 0, always, encInt)
	put(e, "retry_delay_ms", v.RetryDelayMs, v.RetryDelayMs == 0, always, encNum)
	put(e, "error_status", v.ErrorStatus, v.ErrorStatus == nil, nullable, encPointer(encInt))
	put(e, "error_category", v.ErrorCategory, v.ErrorCategory == "", always, encString[string])
}

func (*SubagentRetry) fresh() object { return new(SubagentRetry) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *SubagentRetry) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v SubagentRetry) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// TaskUsage is what a task has used so far.
type TaskUsage struct {
	Source
	// Tokens.
	TotalTokens int64 `json:"total_tokens"`

	// Tool calls.
	ToolUses int64 `json:"tool_uses"`

	// Time in milliseconds.
	DurationMs int64 `json:"duration_ms"`
}

func (v *TaskUsage) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "total_tokens":
		return setInt(d, &v.TotalTokens, raw)
	case "tool_uses":
		return setInt(d, &v.ToolUses, raw)
	case "duration_ms":
		return setInt(d, &v.DurationMs, raw)
	}
	return false
}

func (v *TaskUsage) appendMembers(e *encoder) {
	put(e, "total_tokens", v.TotalTokens, v.TotalTokens == 0, always, encInt)
	put(e, "tool_uses", v.ToolUses, v.ToolUses == 0, always, encInt)
	put(e, "duration_ms", v.DurationMs, v.DurationMs == 0, always, encInt)
}

func (*TaskUsage) fresh() object { return new(TaskUsage) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *TaskUsage) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v TaskUsage) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// TaskPatch holds what changed about a task; what is absent stays as it was.
type TaskPatch struct {
	Source
	// Its state.
	Status TaskStatus `json:"status,omitempty"`

	// What it does.
	Description string `json:"description,omitempty"`

	// When it ended, in milliseconds since 1970.
	EndTime int64 `json:"end_time,omitempty"`

	// How long it was paused, in milliseconds.
	TotalPausedMs int64 `json:"total_paused_ms,omitempty"`

	// Why it failed.
	Error string `json:"error,omitempty"`

	// Whether it runs in the background.
	IsBackgrounded *bool `json:"is_backgrounded,omitempty"`
}

func (v *TaskPatch) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "status":
		return setString[TaskStatus](d, &v.Status, raw)
	case "description":
		return setString[string](d, &v.Description, raw)
	case "end_time":
		return setInt(d, &v.EndTime, raw)
	case "total_paused_ms":
		return setInt(d, &v.TotalPausedMs, raw)
	case "error":
		return setString[string](d, &v.Error, raw)
	case "is_backgrounded":
		return setPointer(d, &v.IsBackgrounded, raw, setBool)
	}
	return false
}

func (v *TaskPatch) appendMembers(e *encoder) {
	put(e, "status", v.Status, v.Status == "", optional, encString[TaskStatus])
	put(e, "description", v.Description, v.Description == "", optional, encString[string])
	put(e, "end_time", v.EndTime, v.EndTime == 0, optional, encInt)
	put(e, "total_paused_ms", v.TotalPausedMs, v.TotalPausedMs == 0, optional, encInt)
	put(e, "error", v.Error, v.Error == "", optional, encString[string])
	put(e, "is_backgrounded", v.IsBackgrounded, v.IsBackgrounded == nil, optional, encPointer(encBool))
}

func (*TaskPatch) fresh() object { return new(TaskPatch) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *TaskPatch) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v TaskPatch) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// BackgroundTask is a task in the background.
type BackgroundTask struct {
	Source
	// The task.
	TaskID string `json:"task_id"`

	// This run of it.
	RunID string `json:"run_id,omitempty"`

	// Its kind.
	TaskType string `json:"task_type"`

	// The kind of sub-agent.
	SubagentType string `json:"subagent_type,omitempty"`

	// What it does.
	Description string `json:"description"`

	// The task that started it.
	ParentTaskID string `json:"parent_task_id,omitempty"`

	// Part of the surroundings, nothing to wait for.
	Ambient bool `json:"ambient,omitempty"`
}

func (v *BackgroundTask) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "task_id":
		return setString[string](d, &v.TaskID, raw)
	case "run_id":
		return setString[string](d, &v.RunID, raw)
	case "task_type":
		return setString[string](d, &v.TaskType, raw)
	case "subagent_type":
		return setString[string](d, &v.SubagentType, raw)
	case "description":
		return setString[string](d, &v.Description, raw)
	case "parent_task_id":
		return setString[string](d, &v.ParentTaskID, raw)
	case "ambient":
		return setBool(d, &v.Ambient, raw)
	}
	return false
}

func (v *BackgroundTask) appendMembers(e *encoder) {
	put(e, "task_id", v.TaskID, v.TaskID == "", always, encString[string])
	put(e, "run_id", v.RunID, v.RunID == "", optional, encString[string])
	put(e, "task_type", v.TaskType, v.TaskType == "", always, encString[string])
	put(e, "subagent_type", v.SubagentType, v.SubagentType == "", optional, encString[string])
	put(e, "description", v.Description, v.Description == "", always, encString[string])
	put(e, "parent_task_id", v.ParentTaskID, v.ParentTaskID == "", optional, encString[string])
	put(e, "ambient", v.Ambient, !v.Ambient, optional, encBool)
}

func (*BackgroundTask) fresh() object { return new(BackgroundTask) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *BackgroundTask) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v BackgroundTask) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// ControlAnswer is an answer within its envelope.
type ControlAnswer struct {
	Source
	// success or error. Nothing else is an answer to the CLI.
	Subtype string `json:"subtype"`

	// The request that is answered.
	RequestID string `json:"request_id"`

	// The body of a success; its form depends on the request.
	Response json.RawMessage `json:"response,omitempty"`

	// What went wrong.
	Error string `json:"error,omitempty"`

	// A code for what went wrong, for example unsupported_request. Newer versions
	// only.
	ErrorCode string `json:"error_code,omitempty"`

	// Questions still open. With answers to initialize only.
	PendingPermissionRequests []ControlRequest `json:"pending_permission_requests,omitempty"`

	// Dialogs still open. With answers to initialize only.
	PendingUserDialogRequests []ControlRequest `json:"pending_user_dialog_requests,omitempty"`

	// Elicitations still open. With answers to initialize only.
	PendingElicitationRequests []ControlRequest `json:"pending_elicitation_requests,omitempty"`
}

func (v *ControlAnswer) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return setString[string](d, &v.Subtype, raw)
	case "request_id":
		return setString[string](d, &v.RequestID, raw)
	case "response":
		return setRaw(d, &v.Response, raw)
	case "error":
		return setString[string](d, &v.Error, raw)
	case "error_code":
		return setString[string](d, &v.ErrorCode, raw)
	case "pending_permission_requests":
		return setList(d, &v.PendingPermissionRequests, raw, setStruct[ControlRequest])
	case "pending_user_dialog_requests":
		return setList(d, &v.PendingUserDialogRequests, raw, setStruct[ControlRequest])
	case "pending_elicitation_requests":
		return setList(d, &v.PendingElicitationRequests, raw, setStruct[ControlRequest])
	}
	return false
}

func (v *ControlAnswer) appendMembers(e *encoder) {
	put(e, "subtype", v.Subtype, v.Subtype == "", always, encString[string])
	put(e, "request_id", v.RequestID, v.RequestID == "", always, encString[string])
	put(e, "response", v.Response, v.Response == nil, optional, encRaw)
	put(e, "error", v.Error, v.Error == "", optional, encString[string])
	put(e, "error_code", v.ErrorCode, v.ErrorCode == "", optional, encString[string])
	put(e, "pending_permission_requests", v.PendingPermissionRequests, v.PendingPermissionRequests == nil, optional, encList(encStruct[ControlRequest]))
	put(e, "pending_user_dialog_requests", v.PendingUserDialogRequests, v.PendingUserDialogRequests == nil, optional, encList(encStruct[ControlRequest]))
	put(e, "pending_elicitation_requests", v.PendingElicitationRequests, v.PendingElicitationRequests == nil, optional, encList(encStruct[ControlRequest]))
}

func (*ControlAnswer) fresh() object { return new(ControlAnswer) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ControlAnswer) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ControlAnswer) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// PermissionDenial is a tool call that was refused.
type PermissionDenial struct {
	Source
	// The tool.
	ToolName string `json:"tool_name"`

	// The call.
	ToolUseID string `json:"tool_use_id"`

	// Its input.
	ToolInput json.RawMessage `json:"tool_input"`
}

func (v *PermissionDenial) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "tool_name":
		return setString[string](d, &v.ToolName, raw)
	case "tool_use_id":
		return setString[string](d, &v.ToolUseID, raw)
	case "tool_input":
		return setRaw(d, &v.ToolInput, raw)
	}
	return false
}

func (v *PermissionDenial) appendMembers(e *encoder) {
	put(e, "tool_name", v.ToolName, v.ToolName == "", always, encString[string])
	put(e, "tool_use_id", v.ToolUseID, v.ToolUseID == "", always, encString[string])
	put(e, "tool_input", v.ToolInput, v.ToolInput == nil, always, encRaw)
}

func (*PermissionDenial) fresh() object { return new(PermissionDenial) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *PermissionDenial) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v PermissionDenial) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// DeferredToolUse is a tool call that is left to the host.
type DeferredToolUse struct {
	Source
	// The call.
	ID string `json:"id"`

	// The tool.
	Name string `json:"name"`

	// Its input.
	Input json.RawMessage `json:"input"`
}

func (v *DeferredToolUse) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "id":
		return setString[string](d, &v.ID, raw)
	case "name":
		return setString[string](d, &v.Name, raw)
	case "input":
		return setRaw(d, &v.Input, raw)
	}
	return false
}

func (v *DeferredToolUse) appendMembers(e *encoder) {
	put(e, "id", v.ID, v.ID == "", always, encString[string])
	put(e, "name", v.Name, v.Name == "", always, encString[string])
	put(e, "input", v.Input, v.Input == nil, always, encRaw)
}

func (*DeferredToolUse) fresh() object { return new(DeferredToolUse) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *DeferredToolUse) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v DeferredToolUse) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// InvalidConfigFile is a configuration file that could not be read.
type InvalidConfigFile struct {
	Source
	// The file.
	Path string `json:"path"`

	// It is the global one.
	IsGlobal bool `json:"is_global"`

	// A backup was looked for.
	BackupSearched bool `json:"backup_searched"`

	// The backup that was found.
	BackupPath string `json:"backup_path,omitempty"`
}

func (v *InvalidConfigFile) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "path":
		return setString[string](d, &v.Path, raw)
	case "is_global":
		return setBool(d, &v.IsGlobal, raw)
	case "backup_searched":
		return setBool(d, &v.BackupSearched, raw)
	case "backup_path":
		return setString[string](d, &v.BackupPath, raw)
	}
	return false
}

func (v *InvalidConfigFile) appendMembers(e *encoder) {
	put(e, "path", v.Path, v.Path == "", always, encString[string])
	put(e, "is_global", v.IsGlobal, !v.IsGlobal, always, encBool)
	put(e, "backup_searched", v.BackupSearched, !v.BackupSearched, always, encBool)
	put(e, "backup_path", v.BackupPath, v.BackupPath == "", optional, encString[string])
}

func (*InvalidConfigFile) fresh() object { return new(InvalidConfigFile) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *InvalidConfigFile) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v InvalidConfigFile) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// Usage counts the tokens of a message or a turn.
type Usage struct {
	Source
	// Tokens read, those of the cache not included.
	InputTokens int64 `json:"input_tokens"`

	// Tokens written.
	OutputTokens int64 `json:"output_tokens"`

	// Tokens put into the cache.
	CacheCreationInputTokens int64 `json:"cache_creation_input_tokens"`

	// Tokens read from the cache.
	CacheReadInputTokens int64 `json:"cache_read_input_tokens"`

	// The cached tokens by life time.
	CacheCreation *CacheCreation `json:"cache_creation,omitempty"`

	// Requests of tools that run at the API.
	ServerToolUse *ServerToolUsage `json:"server_tool_use,omitempty"`

	// The service tier.
	ServiceTier string `json:"service_tier,omitempty"`

	// The region that the model ran in.
	InferenceGeo string `json:"inference_geo,omitempty"`

	// standard or fast.
	Speed string `json:"speed,omitempty"`

	// The usage of each round, where there were several.
	Iterations json.RawMessage `json:"iterations,omitempty"`

	// The written tokens by kind.
	OutputTokensDetails *OutputTokensDetails `json:"output_tokens_details,omitempty"`

	// What was credited after a fallback.
	FallbackCredit json.RawMessage `json:"fallback_credit,omitempty"`
}

func (v *Usage) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "input_tokens":
		return setInt(d, &v.InputTokens, raw)
	case "output_tokens":
		return setInt(d, &v.OutputTokens, raw)
	case "cache_creation_input_tokens":
		return setInt(d, &v.CacheCreationInputTokens, raw)
	case "cache_read_input_tokens":
		return setInt(d, &v.CacheReadInputTokens, raw)
	case "cache_creation":
		return setPointer(d, &v.CacheCreation, raw, setStruct[CacheCreation])
	case "server_tool_use":
		return setPointer(d, &v.ServerToolUse, raw, setStruct[ServerToolUsage])
	case "service_tier":
		return setString[string](d, &v.ServiceTier, raw)
	case "inference_geo":
		return setString[string](d, &v.InferenceGeo, raw)
	case "speed":
		return setString[string](d, &v.Speed, raw)
	case "iterations":
		return setRaw(d, &v.Iterations, raw)
	case "output_tokens_details":
		return setPointer(d, &v.OutputTokensDetails, raw, setStruct[OutputTokensDetails])
	case "fallback_credit":
		return setRaw(d, &v.FallbackCredit, raw)
	}
	return false
}

func (v *Usage) appendMembers(e *encoder) {
	put(e, "input_tokens", v.InputTokens, v.InputTokens == 0, always, encInt)
	put(e, "output_tokens", v.OutputTokens, v.OutputTokens == 0, always, encInt)
	put(e, "cache_creation_input_tokens", v.CacheCreationInputTokens, v.CacheCreationInputTokens == 0, always, encInt)
	put(e, "cache_read_input_tokens", v.CacheReadInputTokens, v.CacheReadInputTokens == 0, always, encInt)
	put(e, "cache_creation", v.CacheCreation, v.CacheCreation == nil, optional, encPointer(encStruct[CacheCreation]))
	put(e, "server_tool_use", v.ServerToolUse, v.ServerToolUse == nil, optional, encPointer(encStruct[ServerToolUsage]))
	put(e, "service_tier", v.ServiceTier, v.ServiceTier == "", optional, encString[string])
	put(e, "inference_geo", v.InferenceGeo, v.InferenceGeo == "", optional, encString[string])
	put(e, "speed", v.Speed, v.Speed == "", optional, encString[string])
	put(e, "iterations", v.Iterations, v.Iterations == nil, optional, encRaw)
	put(e, "output_tokens_details", v.OutputTokensDetails, v.OutputTokensDetails == nil, optional, encPointer(encStruct[OutputTokensDetails]))
	put(e, "fallback_credit", v.FallbackCredit, v.FallbackCredit == nil, optional, encRaw)
}

func (*Usage) fresh() object { return new(Usage) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *Usage) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v Usage) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// CacheCreation counts cached tokens by life time.
type CacheCreation struct {
	Source
	// Kept for an hour.
	Ephemeral1hInputTokens int64 `json:"ephemeral_1h_input_tokens"`

	// Kept for five minutes.
	Ephemeral5mInputTokens int64 `json:"ephemeral_5m_input_tokens"`
}

func (v *CacheCreation) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "ephemeral_1h_input_tokens":
		return setInt(d, &v.Ephemeral1hInputTokens, raw)
	case "ephemeral_5m_input_tokens":
		return setInt(d, &v.Ephemeral5mInputTokens, raw)
	}
	return false
}

func (v *CacheCreation) appendMembers(e *encoder) {
	put(e, "ephemeral_1h_input_tokens", v.Ephemeral1hInputTokens, v.Ephemeral1hInputTokens == 0, always, encInt)
	put(e, "ephemeral_5m_input_tokens", v.Ephemeral5mInputTokens, v.Ephemeral5mInputTokens == 0, always, encInt)
}

func (*CacheCreation) fresh() object { return new(CacheCreation) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *CacheCreation) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v CacheCreation) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// ServerToolUsage counts requests of tools that run at the API.
type ServerToolUsage struct {
	Source
	// Web searches.
	WebSearchRequests int64 `json:"web_search_requests"`

	// Pages fetched.
	WebFetchRequests int64 `json:"web_fetch_requests"`
}

func (v *ServerToolUsage) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "web_search_requests":
		return setInt(d, &v.WebSearchRequests, raw)
	case "web_fetch_requests":
		return setInt(d, &v.WebFetchRequests, raw)
	}
	return false
}

func (v *ServerToolUsage) appendMembers(e *encoder) {
	put(e, "web_search_requests", v.WebSearchRequests, v.WebSearchRequests == 0, always, encInt)
	put(e, "web_fetch_requests", v.WebFetchRequests, v.WebFetchRequests == 0, always, encInt)
}

func (*ServerToolUsage) fresh() object { return new(ServerToolUsage) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ServerToolUsage) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ServerToolUsage) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// OutputTokensDetails counts written tokens by kind.
type OutputTokensDetails struct {
	Source
	// Tokens of thinking.
	ThinkingTokens int64 `json:"thinking_tokens,omitempty"`
}

func (v *OutputTokensDetails) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "thinking_tokens":
		return setInt(d, &v.ThinkingTokens, raw)
	}
	return false
}

func (v *OutputTokensDetails) appendMembers(e *encoder) {
	put(e, "thinking_tokens", v.ThinkingTokens, v.ThinkingTokens == 0, optional, encInt)
}

func (*OutputTokensDetails) fresh() object { return new(OutputTokensDetails) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *OutputTokensDetails) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v OutputTokensDetails) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// ModelUsage is what one model has used and cost.
type ModelUsage struct {
	Source
	// Tokens read, those of the cache not included.
	InputTokens int64 `json:"inputTokens"`

	// Tokens written.
	OutputTokens int64 `json:"outputTokens"`

	// Tokens of thinking among them.
	ThinkingTokens int64 `json:"thinkingTokens,omitempty"`

	// Tokens read from the cache.
	CacheReadInputTokens int64 `json:"cacheReadInputTokens"`

	// Tokens put into the cache.
	CacheCreationInputTokens int64 `json:"cacheCreationInputTokens"`

	// Of these, kept for five minutes.
	CacheCreationEphemeral5mInputTokens int64 `json:"cacheCreationEphemeral5mInputTokens,omitempty"`

	// Of these, kept for an hour.
	CacheCreationEphemeral1hInputTokens int64 `json:"cacheCreationEphemeral1hInputTokens,omitempty"`

	// Web searches.
	WebSearchRequests int64 `json:"webSearchRequests"`

	// The cost in US dollars.
	CostUSD float64 `json:"costUSD"`

	// The model's context window.
	ContextWindow int64 `json:"contextWindow"`

	// The most it can write at once.
	MaxOutputTokens int64 `json:"maxOutputTokens"`

	// The model's canonical name.
	CanonicalModel string `json:"canonicalModel,omitempty"`

	// The service that answered.
	Provider string `json:"provider,omitempty"`

	// The prices used.
	CostBasis CostBasis `json:"costBasis,omitempty"`
}

func (v *ModelUsage) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "inputTokens":
		return setInt(d, &v.InputTokens, raw)
	case "outputTokens":
		return setInt(d, &v.OutputTokens, raw)
	case "thinkingTokens":
		return setInt(d, &v.ThinkingTokens, raw)
	case "cacheReadInputTokens":
		return setInt(d, &v.CacheReadInputTokens, raw)
	case "cacheCreationInputTokens":
		return setInt(d, &v.CacheCreationInputTokens, raw)
	case "cacheCreationEphemeral5mInputTokens":
		return setInt(d, &v.CacheCreationEphemeral5mInputTokens, raw)
	case "cacheCreationEphemeral1hInputTokens":
		return setInt(d, &v.CacheCreationEphemeral1hInputTokens, raw)
	case "webSearchRequests":
		return setInt(d, &v.WebSearchRequests, raw)
	case "costUSD":
		return setNum(d, &v.CostUSD, raw)
	case "contextWindow":
		return setInt(d, &v.ContextWindow, raw)
	case "maxOutputTokens":
		return setInt(d, &v.MaxOutputTokens, raw)
	case "canonicalModel":
		return setString[string](d, &v.CanonicalModel, raw)
	case "provider":
		return setString[string](d, &v.Provider, raw)
	case "costBasis":
		return setString[CostBasis](d, &v.CostBasis, raw)
	}
	return false
}

func (v *ModelUsage) appendMembers(e *encoder) {
	put(e, "inputTokens", v.InputTokens, v.InputTokens == 0, always, encInt)
	put(e, "outputTokens", v.OutputTokens, v.OutputTokens == 0, always, encInt)
	put(e, "thinkingTokens", v.ThinkingTokens, v.ThinkingTokens == 0, optional, encInt)
	put(e, "cacheReadInputTokens", v.CacheReadInputTokens, v.CacheReadInputTokens == 0, always, encInt)
	put(e, "cacheCreationInputTokens", v.CacheCreationInputTokens, v.CacheCreationInputTokens == 0, always, encInt)
	put(e, "cacheCreationEphemeral5mInputTokens", v.CacheCreationEphemeral5mInputTokens, v.CacheCreationEphemeral5mInputTokens == 0, optional, encInt)
	put(e, "cacheCreationEphemeral1hInputTokens", v.CacheCreationEphemeral1hInputTokens, v.CacheCreationEphemeral1hInputTokens == 0, optional, encInt)
	put(e, "webSearchRequests", v.WebSearchRequests, v.WebSearchRequests == 0, always, encInt)
	put(e, "costUSD", v.CostUSD, v.CostUSD == 0, always, encNum)
	put(e, "contextWindow", v.ContextWindow, v.ContextWindow == 0, always, encInt)
	put(e, "maxOutputTokens", v.MaxOutputTokens, v.MaxOutputTokens == 0, always, encInt)
	put(e, "canonicalModel", v.CanonicalModel, v.CanonicalModel == "", optional, encString[string])
	put(e, "provider", v.Provider, v.Provider == "", optional, encString[string])
	put(e, "costBasis", v.CostBasis, v.CostBasis == "", optional, encString[CostBasis])
}

func (*ModelUsage) fresh() object { return new(ModelUsage) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ModelUsage) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ModelUsage) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// ContextUsage tells how full the context window is, as an assistant line
// carries it.
type ContextUsage struct {
	Source
	// The model.
	Model string `json:"model"`

	// Tokens in use.
	TotalTokens int64 `json:"total_tokens"`

	// The model's context window.
	RawMaxTokens int64 `json:"raw_max_tokens"`

	// The share in use, in percent.
	Percentage float64 `json:"percentage"`

	// By how much a limit is exceeded.
	OverLimit *ContextOverLimit `json:"over_limit,omitempty"`

	// What takes up the space.
	Categories []ContextShare `json:"categories"`

	// The tools of MCP servers.
	MCPTools []ContextMCPTool `json:"mcp_tools"`

	// The memory files.
	MemoryFiles []ContextMemoryFile `json:"memory_files"`

	// The agents.
	Agents []ContextAgent `json:"agents"`

	// The skills.
	Skills []ContextSkill `json:"skills,omitempty"`
}

func (v *ContextUsage) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "model":
		return setString[string](d, &v.Model, raw)
	case "total_tokens":
		return setInt(d, &v.TotalTokens, raw)
	case "raw_max_tokens":
		return setInt(d, &v.RawMaxTokens, raw)
	case "percentage":
		return setNum(d, &v.Percentage, raw)
	case "over_limit":
		return setPointer(d, &v.OverLimit, raw, setStruct[ContextOverLimit])
	case "categories":
		return setList(d, &v.Categories, raw, setStruct[ContextShare])
	case "mcp_tools":
		return setList(d, &v.MCPTools, raw, setStruct[ContextMCPTool])
	case "memory_files":
		return setList(d, &v.MemoryFiles, raw, setStruct[ContextMemoryFile])
	case "agents":
		return setList(d, &v.Agents, raw, setStruct[ContextAgent])
	case "skills":
		return setList(d, &v.Skills, raw, setStruct[ContextSkill])
	}
	return false
}

func (v *ContextUsage) appendMembers(e *encoder) {
	put(e, "model", v.Model, v.Model == "", always, encString[string])
	put(e, "total_tokens", v.TotalTokens, v.TotalTokens == 0, always, encInt)
	put(e, "raw_max_tokens", v.RawMaxTokens, v.RawMaxTokens == 0, always, encInt)
	put(e, "percentage", v.Percentage, v.Percentage == 0, always, encNum)
	put(e, "over_limit", v.OverLimit, v.OverLimit == nil, optional, encPointer(encStruct[ContextOverLimit]))
	put(e, "categories", v.Categories, v.Categories == nil, always, encList(encStruct[ContextShare]))
	put(e, "mcp_tools", v.MCPTools, v.MCPTools == nil, always, encList(encStruct[ContextMCPTool]))
	put(e, "memory_files", v.MemoryFiles, v.MemoryFiles == nil, always, encList(encStruct[ContextMemoryFile]))
	put(e, "agents", v.Agents, v.Agents == nil, always, encList(encStruct[ContextAgent]))
	put(e, "skills", v.Skills, v.Skills == nil, optional, encList(encStruct[ContextSkill]))
}

func (*ContextUsage) fresh() object { return new(ContextUsage) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ContextUsage) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ContextUsage) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// ContextOverLimit tells by how much a limit of the context is exceeded.
type ContextOverLimit struct {
	Source
	// Tokens beyond it.
	TokensOver int64 `json:"tokens_over"`

	// The limit.
	Kind ContextLimitKind `json:"kind"`
}

func (v *ContextOverLimit) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "tokens_over":
		return setInt(d, &v.TokensOver, raw)
	case "kind":
		return setString[ContextLimitKind](d, &v.Kind, raw)
	}
	return false
}

func (v *ContextOverLimit) appendMembers(e *encoder) {
	put(e, "tokens_over", v.TokensOver, v.TokensOver == 0, always, encInt)
	put(e, "kind", v.Kind, v.Kind == "", always, encString[ContextLimitKind])
}

func (*ContextOverLimit) fresh() object { return new(ContextOverLimit) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ContextOverLimit) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ContextOverLimit) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// ContextShare is a part of the context window.
type ContextShare struct {
	Source
	// Its name.
	Name string `json:"name"`

	// Its size.
	Tokens int64 `json:"tokens"`

	// What it is used for.
	Kind ContextKind `json:"kind"`
}

func (v *ContextShare) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "name":
		return setString[string](d, &v.Name, raw)
	case "tokens":
		return setInt(d, &v.Tokens, raw)
	case "kind":
		return setString[ContextKind](d, &v.Kind, raw)
	}
	return false
}

func (v *ContextShare) appendMembers(e *encoder) {
	put(e, "name", v.Name, v.Name == "", always, encString[string])
	put(e, "tokens", v.Tokens, v.Tokens == 0, always, encInt)
	put(e, "kind", v.Kind, v.Kind == "", always, encString[ContextKind])
}

func (*ContextShare) fresh() object { return new(ContextShare) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ContextShare) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ContextShare) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// ContextMCPTool is an MCP tool that takes up context.
type ContextMCPTool struct {
	Source
	// The tool.
	Name string `json:"name"`

	// Its server.
	ServerName string `json:"server_name"`

	// Its size.
	Tokens int64 `json:"tokens"`
}

func (v *ContextMCPTool) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "name":
		return setString[string](d, &v.Name, raw)
	case "server_name":
		return setString[string](d, &v.ServerName, raw)
	case "tokens":
		return setInt(d, &v.Tokens, raw)
	}
	return false
}

func (v *ContextMCPTool) appendMembers(e *encoder) {
	put(e, "name", v.Name, v.Name == "", always, encString[string])
	put(e, "server_name", v.ServerName, v.ServerName == "", always, encString[string])
	put(e, "tokens", v.Tokens, v.Tokens == 0, always, encInt)
}

func (*ContextMCPTool) fresh() object { return new(ContextMCPTool) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ContextMCPTool) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ContextMCPTool) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// ContextMemoryFile is a memory file that takes up context.
type ContextMemoryFile struct {
	Source
	// The file.
	Path string `json:"path"`

	// Its kind.
	Type string `json:"type"`

	// Its size.
	Tokens int64 `json:"tokens"`
}

func (v *ContextMemoryFile) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "path":
		return setString[string](d, &v.Path, raw)
	case "type":
		return setString[string](d, &v.Type, raw)
	case "tokens":
		return setInt(d, &v.Tokens, raw)
	}
	return false
}

func (v *ContextMemoryFile) appendMembers(e *encoder) {
	put(e, "path", v.Path, v.Path == "", always, encString[string])
	put(e, "type", v.Type, v.Type == "", always, encString[string])
	put(e, "tokens", v.Tokens, v.Tokens == 0, always, encInt)
}

func (*ContextMemoryFile) fresh() object { return new(ContextMemoryFile) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ContextMemoryFile) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ContextMemoryFile) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// ContextAgent is an agent whose description takes up context.
type ContextAgent struct {
	Source
	// The agent.
	AgentType string `json:"agent_type"`

	// Where it is defined.
	Origin string `json:"source"`

	// Its size.
	Tokens int64 `json:"tokens"`
}

func (v *ContextAgent) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "agent_type":
		return setString[string](d, &v.AgentType, raw)
	case "source":
		return setString[string](d, &v.Origin, raw)
	case "tokens":
		return setInt(d, &v.Tokens, raw)
	}
	return false
}

func (v *ContextAgent) appendMembers(e *encoder) {
	put(e, "agent_type", v.AgentType, v.AgentType == "", always, encString[string])
	put(e, "source", v.Origin, v.Origin == "", always, encString[string])
	put(e, "tokens", v.Tokens, v.Tokens == 0, always, encInt)
}

func (*ContextAgent) fresh() object { return new(ContextAgent) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ContextAgent) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ContextAgent) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// ContextSkill is a skill whose description takes up context.
type ContextSkill struct {
	Source
	// The skill.
	Name string `json:"name"`

	// Where it is defined.
	Origin string `json:"source"`

	// Its plugin.
	PluginName string `json:"plugin_name,omitempty"`

	// Its size.
	Tokens int64 `json:"tokens"`
}

func (v *ContextSkill) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "name":
		return setString[string](d, &v.Name, raw)
	case "source":
		return setString[string](d, &v.Origin, raw)
	case "plugin_name":
		return setString[string](d, &v.PluginName, raw)
	case "tokens":
		return setInt(d, &v.Tokens, raw)
	}
	return false
}

func (v *ContextSkill) appendMembers(e *encoder) {
	put(e, "name", v.Name, v.Name == "", always, encString[string])
	put(e, "source", v.Origin, v.Origin == "", always, encString[string])
	put(e, "plugin_name", v.PluginName, v.PluginName == "", optional, encString[string])
	put(e, "tokens", v.Tokens, v.Tokens == 0, always, encInt)
}

func (*ContextSkill) fresh() object { return new(ContextSkill) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ContextSkill) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ContextSkill) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// UsageReport tells what was used so far, as an assistant line carries it.
type UsageReport struct {
	Source
	// This session.
	Session SessionUsage `json:"session"`

	// The account's limits.
	RateLimits *UsageReportLimits `json:"rate_limits"`
}

func (v *UsageReport) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "session":
		return setStruct[SessionUsage](d, &v.Session, raw)
	case "rate_limits":
		return setPointer(d, &v.RateLimits, raw, setStruct[UsageReportLimits])
	}
	return false
}

func (v *UsageReport) appendMembers(e *encoder) {
	put(e, "session", v.Session, false, always, encStruct[SessionUsage])
	put(e, "rate_limits", v.RateLimits, v.RateLimits == nil, nullable, encPointer(encStruct[UsageReportLimits]))
}

func (*UsageReport) fresh() object { return new(UsageReport) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *UsageReport) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v UsageReport) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// SessionUsage sums up a session.
type SessionUsage struct {
	Source
	// The cost in US dollars.
	TotalCostUSD float64 `json:"total_cost_usd"`

	// Time spent waiting for the API, in milliseconds.
	TotalAPIDurationMs int64 `json:"total_api_duration_ms"`

	// Time, in milliseconds.
	TotalDurationMs int64 `json:"total_duration_ms"`

	// Lines added to files.
	TotalLinesAdded int64 `json:"total_lines_added"`

	// Lines removed from files.
	TotalLinesRemoved int64 `json:"total_lines_removed"`

	// Tokens and cost by model.
	ModelUsage map[string]ModelUsage `json:"model_usage"`
}

func (v *SessionUsage) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "total_cost_usd":
		return setNum(d, &v.TotalCostUSD, raw)
	case "total_api_duration_ms":
		return setInt(d, &v.TotalAPIDurationMs, raw)
	case "total_duration_ms":
		return setInt(d, &v.TotalDurationMs, raw)
	case "total_lines_added":
		return setInt(d, &v.TotalLinesAdded, raw)
	case "total_lines_removed":
		return setInt(d, &v.TotalLinesRemoved, raw)
	case "model_usage":
		return setMap(d, &v.ModelUsage, raw, setStruct[ModelUsage])
	}
	return false
}

func (v *SessionUsage) appendMembers(e *encoder) {
	put(e, "total_cost_usd", v.TotalCostUSD, v.TotalCostUSD == 0, always, encNum)
	put(e, "total_api_duration_ms", v.TotalAPIDurationMs, v.TotalAPIDurationMs == 0, always, encInt)
	put(e, "total_duration_ms", v.TotalDurationMs, v.TotalDurationMs == 0, always, encInt)
	put(e, "total_lines_added", v.TotalLinesAdded, v.TotalLinesAdded == 0, always, encInt)
	put(e, "total_lines_removed", v.TotalLinesRemoved, v.TotalLinesRemoved == 0, always, encInt)
	put(e, "model_usage", v.ModelUsage, v.ModelUsage == nil, always, encMap(encStruct[ModelUsage]))
}

func (*SessionUsage) fresh() object { return new(SessionUsage) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *SessionUsage) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v SessionUsage) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// UsageReportLimits lists an account's limits.
type UsageReportLimits struct {
	Source
	// The limits.
	Limits []UsageLimit `json:"limits"`

	// Usage beyond the plan.
	ExtraUsage *ExtraUsage `json:"extra_usage,omitempty"`
}

func (v *UsageReportLimits) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "limits":
		return setList(d, &v.Limits, raw, setStruct[UsageLimit])
	case "extra_usage":
		return setPointer(d, &v.ExtraUsage, raw, setStruct[ExtraUsage])
	}
	return false
}

func (v *UsageReportLimits) appendMembers(e *encoder) {
	put(e, "limits", v.Limits, v.Limits == nil, nullable, encList(encStruct[UsageLimit]))
	put(e, "extra_usage", v.ExtraUsage, v.ExtraUsage == nil, optional, encPointer(encStruct[ExtraUsage]))
}

func (*UsageReportLimits) fresh() object { return new(UsageReportLimits) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *UsageReportLimits) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v UsageReportLimits) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// UsageLimit is one limit of an account.
type UsageLimit struct {
	Source
	// Its kind.
	Kind string `json:"kind"`

	// The group it belongs to.
	Group string `json:"group"`

	// The share that is used, in percent.
	Percent float64 `json:"percent"`

	// When it starts anew.
	ResetsAt string `json:"resets_at"`

	// What it applies to.
	Scope *UsageLimitScope `json:"scope,omitempty"`

	// How serious it is.
	Severity string `json:"severity"`

	// It applies now.
	IsActive bool `json:"is_active"`
}

func (v *UsageLimit) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "kind":
		return setString[string](d, &v.Kind, raw)
	case "group":
		return setString[string](d, &v.Group, raw)
	case "percent":
		return setNum(d, &v.Percent, raw)
	case "resets_at":
		return setString[string](d, &v.ResetsAt, raw)
	case "scope":
		return setPointer(d, &v.Scope, raw, setStruct[UsageLimitScope])
	case "severity":
		return setString[string](d, &v.Severity, raw)
	case "is_active":
		return setBool(d, &v.IsActive, raw)
	}
	return false
}

func (v *UsageLimit) appendMembers(e *encoder) {
	put(e, "kind", v.Kind, v.Kind == "", always, encString[string])
	put(e, "group", v.Group, v.Group == "", always, encString[string])
	put(e, "percent", v.Percent, v.Percent == 0, always, encNum)
	put(e, "resets_at", v.ResetsAt, v.ResetsAt == "", nullable, encString[string])
	put(e, "scope", v.Scope, v.Scope == nil, optional, encPointer(encStruct[UsageLimitScope]))
	put(e, "severity", v.Severity, v.Severity == "", always, encString[string])
	put(e, "is_active", v.IsActive, !v.IsActive, always, encBool)
}

func (*UsageLimit) fresh() object { return new(UsageLimit) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *UsageLimit) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v UsageLimit) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// UsageLimitScope is what a limit applies to.
type UsageLimitScope struct {
	Source
	// A model.
	Model *DisplayName `json:"model,omitempty"`

	// A product.
	Surface *DisplayName `json:"surface,omitempty"`
}

func (v *UsageLimitScope) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "model":
		return setPointer(d, &v.Model, raw, setStruct[DisplayName])
	case "surface":
		return setPointer(d, &v.Surface, raw, setStruct[DisplayName])
	}
	return false
}

func (v *UsageLimitScope) appendMembers(e *encoder) {
	put(e, "model", v.Model, v.Model == nil, optional, encPointer(encStruct[DisplayName]))
	put(e, "surface", v.Surface, v.Surface == nil, optional, encPointer(encStruct[DisplayName]))
}

func (*UsageLimitScope) fresh() object { return new(UsageLimitScope) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *UsageLimitScope) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v UsageLimitScope) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// DisplayName is a name to show.
type DisplayName struct {
	Source
	// The name.
	DisplayName string `json:"display_name"`
}

func (v *DisplayName) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "display_name":
		return setString[string](d, &v.DisplayName, raw)
	}
	return false
}

func (v *DisplayName) appendMembers(e *encoder) {
	put(e, "display_name", v.DisplayName, v.DisplayName == "", always, encString[string])
}

func (*DisplayName) fresh() object { return new(DisplayName) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *DisplayName) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v DisplayName) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// ExtraUsage is an account's usage beyond its plan.
type ExtraUsage struct {
	Source
	// It is possible.
	IsEnabled bool `json:"is_enabled"`

	// The limit per month.
	MonthlyLimit *float64 `json:"monthly_limit"`

	// What is used of it.
	UsedCredits *float64 `json:"used_credits"`

	// The share that is used.
	Utilization *float64 `json:"utilization"`

	// The currency.
	Currency string `json:"currency,omitempty"`
}

func (v *ExtraUsage) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "is_enabled":
		return setBool(d, &v.IsEnabled, raw)
	case "monthly_limit":
		return setPointer(d, &v.MonthlyLimit, raw, setNum)
	case "used_credits":
		return setPointer(d, &v.UsedCredits, raw, setNum)
	case "utilization":
		return setPointer(d, &v.Utilization, raw, setNum)
	case "currency":
		return setString[string](d, &v.Currency, raw)
	}
	return false
}

func (v *ExtraUsage) appendMembers(e *encoder) {
	put(e, "is_enabled", v.IsEnabled, !v.IsEnabled, always, encBool)
	put(e, "monthly_limit", v.MonthlyLimit, v.MonthlyLimit == nil, always, encPointer(encNum))
	put(e, "used_credits", v.UsedCredits, v.UsedCredits == nil, always, encPointer(encNum))
	put(e, "utilization", v.Utilization, v.Utilization == nil, always, encPointer(encNum))
	put(e, "currency", v.Currency, v.Currency == "", optional, encString[string])
}

func (*ExtraUsage) fresh() object { return new(ExtraUsage) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ExtraUsage) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ExtraUsage) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// APIMessage is a message as the API knows it.
type APIMessage struct {
	Source
	// The message; the lines of one message share it.
	ID string `json:"id"`

	// Always message.
	Type string `json:"type"`

	// Always assistant.
	Role string `json:"role"`

	// The model that wrote it, or <synthetic> for what the CLI wrote itself.
	Model string `json:"model"`

	// What it consists of.
	Content []Block `json:"content"`

	// Why the model stopped; null while it has not.
	StopReason StopReason `json:"stop_reason"`

	// The sequence that it stopped at.
	StopSequence string `json:"stop_sequence"`

	// More about a refusal.
	StopDetails json.RawMessage `json:"stop_details,omitempty"`

	// The tokens.
	Usage Usage `json:"usage"`

	// The container that server tools ran in.
	Container json.RawMessage `json:"container,omitempty"`

	// What was cut from the context.
	ContextManagement json.RawMessage `json:"context_management,omitempty"`

	// Notes on how the request was handled.
	Diagnostics json.RawMessage `json:"diagnostics,omitempty"`
}

func (v *APIMessage) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "id":
		return setString[string](d, &v.ID, raw)
	case "type":
		return setString[string](d, &v.Type, raw)
	case "role":
		return setString[string](d, &v.Role, raw)
	case "model":
		return setString[string](d, &v.Model, raw)
	case "content":
		return setList(d, &v.Content, raw, func(d *decoder, dst *Block, raw value) bool { return setUnion(d, dst, raw, decodeBlock) })
	case "stop_reason":
		return setString[StopReason](d, &v.StopReason, raw)
	case "stop_sequence":
		return setString[string](d, &v.StopSequence, raw)
	case "stop_details":
		return setRaw(d, &v.StopDetails, raw)
	case "usage":
		return setStruct[Usage](d, &v.Usage, raw)
	case "container":
		return setRaw(d, &v.Container, raw)
	case "context_management":
		return setRaw(d, &v.ContextManagement, raw)
	case "diagnostics":
		return setRaw(d, &v.Diagnostics, raw)
	}
	return false
}

func (v *APIMessage) appendMembers(e *encoder) {
	put(e, "id", v.ID, v.ID == "", always, encString[string])
	put(e, "type", v.Type, v.Type == "", always, encString[string])
	put(e, "role", v.Role, v.Role == "", always, encString[string])
	put(e, "model", v.Model, v.Model == "", always, encString[string])
	put(e, "content", v.Content, v.Content == nil, always, encList(encUnion[Block]))
	put(e, "stop_reason", v.StopReason, v.StopReason == "", nullable, encString[StopReason])
	put(e, "stop_sequence", v.StopSequence, v.StopSequence == "", nullable, encString[string])
	put(e, "stop_details", v.StopDetails, v.StopDetails == nil, optional, encRaw)
	put(e, "usage", v.Usage, false, always, encStruct[Usage])
	put(e, "container", v.Container, v.Container == nil, optional, encRaw)
	put(e, "context_management", v.ContextManagement, v.ContextManagement == nil, optional, encRaw)
	put(e, "diagnostics", v.Diagnostics, v.Diagnostics == nil, optional, encRaw)
}

func (*APIMessage) fresh() object { return new(APIMessage) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *APIMessage) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v APIMessage) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// FallbackModel is a model at one side of a fallback.
type FallbackModel struct {
	Source
	// The model.
	Model string `json:"model"`
}

func (v *FallbackModel) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "model":
		return setString[string](d, &v.Model, raw)
	}
	return false
}

func (v *FallbackModel) appendMembers(e *encoder) {
	put(e, "model", v.Model, v.Model == "", always, encString[string])
}

func (*FallbackModel) fresh() object { return new(FallbackModel) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *FallbackModel) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v FallbackModel) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// MediaSource holds an image or a document, or tells where to find it. Which
// members are set depends on the type.
type MediaSource struct {
	Source
	// base64, url, file, and for documents also text and content.
	Type string `json:"type"`

	// The media type, for base64 and text.
	MediaType string `json:"media_type,omitempty"`

	// The data, for base64 and text.
	Data string `json:"data,omitempty"`

	// The address, for url.
	URL string `json:"url,omitempty"`

	// The uploaded file, for file.
	FileID string `json:"file_id,omitempty"`

	// The blocks, for content.
	Content Content `json:"content,omitempty"`
}

func (v *MediaSource) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return setString[string](d, &v.Type, raw)
	case "media_type":
		return setString[string](d, &v.MediaType, raw)
	case "data":
		return setString[string](d, &v.Data, raw)
	case "url":
		return setString[string](d, &v.URL, raw)
	case "file_id":
		return setString[string](d, &v.FileID, raw)
	case "content":
		return setContent(d, &v.Content, raw)
	}
	return false
}

func (v *MediaSource) appendMembers(e *encoder) {
	put(e, "type", v.Type, v.Type == "", always, encString[string])
	put(e, "media_type", v.MediaType, v.MediaType == "", optional, encString[string])
	put(e, "data", v.Data, v.Data == "", optional, encString[string])
	put(e, "url", v.URL, v.URL == "", optional, encString[string])
	put(e, "file_id", v.FileID, v.FileID == "", optional, encString[string])
	put(e, "content", v.Content, v.Content.IsZero(), optional, encContent)
}

func (*MediaSource) fresh() object { return new(MediaSource) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *MediaSource) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v MediaSource) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// MessageChange is what the end of a message changes about it.
type MessageChange struct {
	Source
	// Why the model stopped; null while it has not.
	StopReason StopReason `json:"stop_reason"`

	// The sequence that it stopped at.
	StopSequence string `json:"stop_sequence"`

	// More about a refusal.
	StopDetails json.RawMessage `json:"stop_details,omitempty"`

	// The container that server tools ran in.
	Container json.RawMessage `json:"container,omitempty"`
}

func (v *MessageChange) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "stop_reason":
		return setString[StopReason](d, &v.StopReason, raw)
	case "stop_sequence":
		return setString[string](d, &v.StopSequence, raw)
	case "stop_details":
		return setRaw(d, &v.StopDetails, raw)
	case "container":
		return setRaw(d, &v.Container, raw)
	}
	return false
}

func (v *MessageChange) appendMembers(e *encoder) {
	put(e, "stop_reason", v.StopReason, v.StopReason == "", nullable, encString[StopReason])
	put(e, "stop_sequence", v.StopSequence, v.StopSequence == "", nullable, encString[string])
	put(e, "stop_details", v.StopDetails, v.StopDetails == nil, optional, encRaw)
	put(e, "container", v.Container, v.Container == nil, optional, encRaw)
}

func (*MessageChange) fresh() object { return new(MessageChange) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *MessageChange) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v MessageChange) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// APIErrorBody is an error of the API.
type APIErrorBody struct {
	Source
	// Its kind, for example overloaded_error.
	Type string `json:"type"`

	// Its text.
	Message string `json:"message"`
}

func (v *APIErrorBody) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return setString[string](d, &v.Type, raw)
	case "message":
		return setString[string](d, &v.Message, raw)
	}
	return false
}

func (v *APIErrorBody) appendMembers(e *encoder) {
	put(e, "type", v.Type, v.Type == "", always, encString[string])
	put(e, "message", v.Message, v.Message == "", always, encString[string])
}

func (*APIErrorBody) fresh() object { return new(APIErrorBody) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *APIErrorBody) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v APIErrorBody) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// HookMatcher registers callbacks for the calls of one event that match.
type HookMatcher struct {
	Source
	// A pattern of tool names such as "Bash|Edit". Empty means all.
	Matcher string `json:"matcher,omitempty"`

	// The callbacks; each is called with a hook_callback request of its own.
	HookCallbackIDs []string `json:"hookCallbackIds"`

	// Seconds to wait for an answer. If zero, 600.
	Timeout float64 `json:"timeout,omitempty"`

	// What a failure means. Newer versions only.
	OnFailure HookFailure `json:"onFailure,omitempty"`
}

func (v *HookMatcher) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "matcher":
		return setString[string](d, &v.Matcher, raw)
	case "hookCallbackIds":
		return setList(d, &v.HookCallbackIDs, raw, setString[string])
	case "timeout":
		return setNum(d, &v.Timeout, raw)
	case "onFailure":
		return setString[HookFailure](d, &v.OnFailure, raw)
	}
	return false
}

func (v *HookMatcher) appendMembers(e *encoder) {
	put(e, "matcher", v.Matcher, v.Matcher == "", optional, encString[string])
	put(e, "hookCallbackIds", v.HookCallbackIDs, v.HookCallbackIDs == nil, always, encList(encString[string]))
	put(e, "timeout", v.Timeout, v.Timeout == 0, optional, encNum)
	put(e, "onFailure", v.OnFailure, v.OnFailure == "", optional, encString[HookFailure])
}

func (*HookMatcher) fresh() object { return new(HookMatcher) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *HookMatcher) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v HookMatcher) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// SDKMCPServerConfig configures an MCP server that the host serves.
type SDKMCPServerConfig struct {
	Source
	// Milliseconds to wait for a tool.
	Timeout float64 `json:"timeout,omitempty"`

	// What its tools may do.
	Tools []MCPToolPolicy `json:"tools,omitempty"`
}

func (v *SDKMCPServerConfig) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "timeout":
		return setNum(d, &v.Timeout, raw)
	case "tools":
		return setList(d, &v.Tools, raw, setStruct[MCPToolPolicy])
	}
	return false
}

func (v *SDKMCPServerConfig) appendMembers(e *encoder) {
	put(e, "timeout", v.Timeout, v.Timeout == 0, optional, encNum)
	put(e, "tools", v.Tools, v.Tools == nil, optional, encList(encStruct[MCPToolPolicy]))
}

func (*SDKMCPServerConfig) fresh() object { return new(SDKMCPServerConfig) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *SDKMCPServerConfig) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v SDKMCPServerConfig) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// SDKMCPServerManifest is the handshake of an MCP server that the host serves,
// done in advance.
type SDKMCPServerManifest struct {
	Source
	// The result of the MCP request initialize.
	InitializeResult json.RawMessage `json:"initializeResult"`

	// The result of the MCP request tools/list.
	ToolsListResult json.RawMessage `json:"toolsListResult,omitempty"`
}

func (v *SDKMCPServerManifest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "initializeResult":
		return setRaw(d, &v.InitializeResult, raw)
	case "toolsListResult":
		return setRaw(d, &v.ToolsListResult, raw)
	}
	return false
}

func (v *SDKMCPServerManifest) appendMembers(e *encoder) {
	put(e, "initializeResult", v.InitializeResult, v.InitializeResult == nil, always, encRaw)
	put(e, "toolsListResult", v.ToolsListResult, v.ToolsListResult == nil, optional, encRaw)
}

func (*SDKMCPServerManifest) fresh() object { return new(SDKMCPServerManifest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *SDKMCPServerManifest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v SDKMCPServerManifest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// AgentDefinition defines a custom agent.
type AgentDefinition struct {
	Source
	// When to use it.
	Description string `json:"description"`

	// The tools it may use. If absent, all.
	Tools []string `json:"tools,omitempty"`

	// The tools it may not use.
	DisallowedTools []string `json:"disallowedTools,omitempty"`

	// Its system prompt.
	Prompt string `json:"prompt"`

	// Its model.
	Model string `json:"model,omitempty"`

	// Its MCP servers: names, or objects of configurations keyed by name.
	MCPServers []json.RawMessage `json:"mcpServers,omitempty"`

	// A reminder that is repeated to it. Experimental.
	CriticalSystemReminder string `json:"criticalSystemReminder_EXPERIMENTAL,omitempty"`

	// Its skills.
	Skills []string `json:"skills,omitempty"`

	// Its first prompt.
	InitialPrompt string `json:"initialPrompt,omitempty"`

	// The most rounds with the model.
	MaxTurns int64 `json:"maxTurns,omitempty"`

	// The size of the context at which it compacts.
	AutoCompactWindow int64 `json:"autoCompactWindow,omitempty"`

	// It runs in the background.
	Background bool `json:"background,omitempty"`

	// It does not see the project's instructions.
	OmitClaudeMD bool `json:"omitClaudeMd,omitempty"`

	// The memory it uses: user, project or local.
	Memory string `json:"memory,omitempty"`

	// Its effort: a level or a number.
	Effort json.RawMessage `json:"effort,omitempty"`

	// Its permission mode.
	PermissionMode PermissionMode `json:"permissionMode,omitempty"`

	// The agent that observes it.
	Observer string `json:"observer,omitempty"`

	// What the observing agent is told.
	ObserverMessage string `json:"observerMessage,omitempty"`
}

func (v *AgentDefinition) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "description":
		return setString[string](d, &v.Description, raw)
	case "tools":
		return setList(d, &v.Tools, raw, setString[string])
	case "disallowedTools":
		return setList(d, &v.DisallowedTools, raw, setString[string])
	case "prompt":
		return setString[string](d, &v.Prompt, raw)
	case "model":
		return setString[string](d, &v.Model, raw)
	case "mcpServers":
		return setList(d, &v.MCPServers, raw, setRaw)
	case "criticalSystemReminder_EXPERIMENTAL":
		return setString[string](d, &v.CriticalSystemReminder, raw)
	case "skills":
		return setList(d, &v.Skills, raw, setString[string])
	case "initialPrompt":
		return setString[string](d, &v.InitialPrompt, raw)
	case "maxTurns":
		return setInt(d, &v.MaxTurns, raw)
	case "autoCompactWindow":
		return setInt(d, &v.AutoCompactWindow, raw)
	case "background":
		return setBool(d, &v.Background, raw)
	case "omitClaudeMd":
		return setBool(d, &v.OmitClaudeMD, raw)
	case "memory":
		return setString[string](d, &v.Memory, raw)
	case "effort":
		return setRaw(d, &v.Effort, raw)
	case "permissionMode":
		return setString[PermissionMode](d, &v.PermissionMode, raw)
	case "observer":
		return setString[string](d, &v.Observer, raw)
	case "observerMessage":
		return setString[string](d, &v.ObserverMessage, raw)
	}
	return false
}

func (v *AgentDefinition) appendMembers(e *encoder) {
	put(e, "description", v.Description, v.Description == "", always, encString[string])
	put(e, "tools", v.Tools, v.Tools == nil, optional, encList(encString[string]))
	put(e, "disallowedTools", v.DisallowedTools, v.DisallowedTools == nil, optional, encList(encString[string]))
	put(e, "prompt", v.Prompt, v.Prompt == "", always, encString[string])
	put(e, "model", v.Model, v.Model == "", optional, encString[string])
	put(e, "mcpServers", v.MCPServers, v.MCPServers == nil, optional, encList(encRaw))
	put(e, "criticalSystemReminder_EXPERIMENTAL", v.CriticalSystemReminder, v.CriticalSystemReminder == "", optional, encString[string])
	put(e, "skills", v.Skills, v.Skills == nil, optional, encList(encString[string]))
	put(e, "initialPrompt", v.InitialPrompt, v.InitialPrompt == "", optional, encString[string])
	put(e, "maxTurns", v.MaxTurns, v.MaxTurns == 0, optional, encInt)
	put(e, "autoCompactWindow", v.AutoCompactWindow, v.AutoCompactWindow == 0, optional, encInt)
	put(e, "background", v.Background, !v.Background, optional, encBool)
	put(e, "omitClaudeMd", v.OmitClaudeMD, !v.OmitClaudeMD, optional, encBool)
	put(e, "memory", v.Memory, v.Memory == "", optional, encString[string])
	put(e, "effort", v.Effort, v.Effort == nil, optional, encRaw)
	put(e, "permissionMode", v.PermissionMode, v.PermissionMode == "", optional, encString[PermissionMode])
	put(e, "observer", v.Observer, v.Observer == "", optional, encString[string])
	put(e, "observerMessage", v.ObserverMessage, v.ObserverMessage == "", optional, encString[string])
}

func (*AgentDefinition) fresh() object { return new(AgentDefinition) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *AgentDefinition) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v AgentDefinition) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// PluginConfig names a plugin to load.
type PluginConfig struct {
	Source
	// Always local.
	Type string `json:"type"`

	// Its folder.
	Path string `json:"path"`

	// Do not look for its MCP servers.
	SkipMCPDiscovery bool `json:"skipMcpDiscovery,omitempty"`
}

func (v *PluginConfig) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return setString[string](d, &v.Type, raw)
	case "path":
		return setString[string](d, &v.Path, raw)
	case "skipMcpDiscovery":
		return setBool(d, &v.SkipMCPDiscovery, raw)
	}
	return false
}

func (v *PluginConfig) appendMembers(e *encoder) {
	put(e, "type", v.Type, v.Type == "", always, encString[string])
	put(e, "path", v.Path, v.Path == "", always, encString[string])
	put(e, "skipMcpDiscovery", v.SkipMCPDiscovery, !v.SkipMCPDiscovery, optional, encBool)
}

func (*PluginConfig) fresh() object { return new(PluginConfig) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *PluginConfig) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v PluginConfig) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// StagedFile is a file that goes to or comes from a tool.
type StagedFile struct {
	Source
	// Its name for the tool.
	Name string `json:"name"`

	// Where it is kept.
	LanePath string `json:"lane_path"`

	// The version that may be overwritten.
	IfMatch string `json:"if_match,omitempty"`
}

func (v *StagedFile) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "name":
		return setString[string](d, &v.Name, raw)
	case "lane_path":
		return setString[string](d, &v.LanePath, raw)
	case "if_match":
		return setString[string](d, &v.IfMatch, raw)
	}
	return false
}

func (v *StagedFile) appendMembers(e *encoder) {
	put(e, "name", v.Name, v.Name == "", always, encString[string])
	put(e, "lane_path", v.LanePath, v.LanePath == "", always, encString[string])
	put(e, "if_match", v.IfMatch, v.IfMatch == "", optional, encString[string])
}

func (*StagedFile) fresh() object { return new(StagedFile) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *StagedFile) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v StagedFile) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// MatchedRule is a permission rule that matched a tool call.
type MatchedRule struct {
	Source
	// The layer it comes from.
	Origin string `json:"source"`

	// Its tool.
	ToolName string `json:"tool_name"`

	// What it matches.
	RuleContent string `json:"rule_content,omitempty"`
}

func (v *MatchedRule) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "source":
		return setString[string](d, &v.Origin, raw)
	case "tool_name":
		return setString[string](d, &v.ToolName, raw)
	case "rule_content":
		return setString[string](d, &v.RuleContent, raw)
	}
	return false
}

func (v *MatchedRule) appendMembers(e *encoder) {
	put(e, "source", v.Origin, v.Origin == "", always, encString[string])
	put(e, "tool_name", v.ToolName, v.ToolName == "", always, encString[string])
	put(e, "rule_content", v.RuleContent, v.RuleContent == "", optional, encString[string])
}

func (*MatchedRule) fresh() object { return new(MatchedRule) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *MatchedRule) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v MatchedRule) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// AgentInfo is an agent that can be used.
type AgentInfo struct {
	Source
	// Its name.
	Name string `json:"name"`

	// When to use it.
	Description string `json:"description"`

	// Its model.
	Model string `json:"model,omitempty"`
}

func (v *AgentInfo) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "name":
		return setString[string](d, &v.Name, raw)
	case "description":
		return setString[string](d, &v.Description, raw)
	case "model":
		return setString[string](d, &v.Model, raw)
	}
	return false
}

func (v *AgentInfo) appendMembers(e *encoder) {
	put(e, "name", v.Name, v.Name == "", always, encString[string])
	put(e, "description", v.Description, v.Description == "", always, encString[string])
	put(e, "model", v.Model, v.Model == "", optional, encString[string])
}

func (*AgentInfo) fresh() object { return new(AgentInfo) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *AgentInfo) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v AgentInfo) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// ModelInfo is a model that can be chosen.
type ModelInfo struct {
	Source
	// What set_model wants.
	Value string `json:"value"`

	// The model's full name.
	ResolvedModel string `json:"resolvedModel,omitempty"`

	// Its name for people.
	DisplayName string `json:"displayName"`

	// What it is good for.
	Description string `json:"description"`

	// The effort can be chosen.
	SupportsEffort bool `json:"supportsEffort,omitempty"`

	// The levels of effort.
	SupportedEffortLevels []Effort `json:"supportedEffortLevels,omitempty"`

	// It decides on its own how much to think.
	SupportsAdaptiveThinking bool `json:"supportsAdaptiveThinking,omitempty"`

	// Fast mode can be used.
	SupportsFastMode bool `json:"supportsFastMode,omitempty"`

	// The permission mode auto can be used.
	SupportsAutoMode bool `json:"supportsAutoMode,omitempty"`
}

func (v *ModelInfo) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "value":
		return setString[string](d, &v.Value, raw)
	case "resolvedModel":
		return setString[string](d, &v.ResolvedModel, raw)
	case "displayName":
		return setString[string](d, &v.DisplayName, raw)
	case "description":
		return setString[string](d, &v.Description, raw)
	case "supportsEffort":
		return setBool(d, &v.SupportsEffort, raw)
	case "supportedEffortLevels":
		return setList(d, &v.SupportedEffortLevels, raw, setString[Effort])
	case "supportsAdaptiveThinking":
		return setBool(d, &v.SupportsAdaptiveThinking, raw)
	case "supportsFastMode":
		return setBool(d, &v.SupportsFastMode, raw)
	case "supportsAutoMode":
		return setBool(d, &v.SupportsAutoMode, raw)
	}
	return false
}

func (v *ModelInfo) appendMembers(e *encoder) {
	put(e, "value", v.Value, v.Value == "", always, encString[string])
	put(e, "resolvedModel", v.ResolvedModel, v.ResolvedModel == "", optional, encString[string])
	put(e, "displayName", v.DisplayName, v.DisplayName == "", always, encString[string])
	put(e, "description", v.Description, v.Description == "", always, encString[string])
	put(e, "supportsEffort", v.SupportsEffort, !v.SupportsEffort, optional, encBool)
	put(e, "supportedEffortLevels", v.SupportedEffortLevels, v.SupportedEffortLevels == nil, optional, encList(encString[Effort]))
	put(e, "supportsAdaptiveThinking", v.SupportsAdaptiveThinking, !v.SupportsAdaptiveThinking, optional, encBool)
	put(e, "supportsFastMode", v.SupportsFastMode, !v.SupportsFastMode, optional, encBool)
	put(e, "supportsAutoMode", v.SupportsAutoMode, !v.SupportsAutoMode, optional, encBool)
}

func (*ModelInfo) fresh() object { return new(ModelInfo) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ModelInfo) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ModelInfo) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// AccountInfo describes the account that is logged in.
type AccountInfo struct {
	Source
	// The user.
	Email string `json:"email,omitempty"`

	// The organisation.
	Organization string `json:"organization,omitempty"`

	// The plan.
	SubscriptionType string `json:"subscriptionType,omitempty"`

	// Where the token comes from.
	TokenSource string `json:"tokenSource,omitempty"`

	// Where the API key comes from.
	APIKeySource string `json:"apiKeySource,omitempty"`

	// The service that runs the model.
	APIProvider APIProvider `json:"apiProvider,omitempty"`
}

func (v *AccountInfo) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "email":
		return setString[string](d, &v.Email, raw)
	case "organization":
		return setString[string](d, &v.Organization, raw)
	case "subscriptionType":
		return setString[string](d, &v.SubscriptionType, raw)
	case "tokenSource":
		return setString[string](d, &v.TokenSource, raw)
	case "apiKeySource":
		return setString[string](d, &v.APIKeySource, raw)
	case "apiProvider":
		return setString[APIProvider](d, &v.APIProvider, raw)
	}
	return false
}

func (v *AccountInfo) appendMembers(e *encoder) {
	put(e, "email", v.Email, v.Email == "", optional, encString[string])
	put(e, "organization", v.Organization, v.Organization == "", optional, encString[string])
	put(e, "subscriptionType", v.SubscriptionType, v.SubscriptionType == "", optional, encString[string])
	put(e, "tokenSource", v.TokenSource, v.TokenSource == "", optional, encString[string])
	put(e, "apiKeySource", v.APIKeySource, v.APIKeySource == "", optional, encString[string])
	put(e, "apiProvider", v.APIProvider, v.APIProvider == "", optional, encString[APIProvider])
}

func (*AccountInfo) fresh() object { return new(AccountInfo) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *AccountInfo) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v AccountInfo) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// SettingsLayer is one layer of the settings.
type SettingsLayer struct {
	Source
	// The layer.
	Layer SettingsSource `json:"source"`

	// Its settings.
	Settings json.RawMessage `json:"settings"`
}

func (v *SettingsLayer) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "source":
		return setString[SettingsSource](d, &v.Layer, raw)
	case "settings":
		return setRaw(d, &v.Settings, raw)
	}
	return false
}

func (v *SettingsLayer) appendMembers(e *encoder) {
	put(e, "source", v.Layer, v.Layer == "", always, encString[SettingsSource])
	put(e, "settings", v.Settings, v.Settings == nil, always, encRaw)
}

func (*SettingsLayer) fresh() object { return new(SettingsLayer) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *SettingsLayer) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v SettingsLayer) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// AppliedSettings is what follows from the settings.
type AppliedSettings struct {
	Source
	// The model in use.
	Model string `json:"model"`

	// The effort.
	Effort Effort `json:"effort"`

	// The advising model.
	Advisor string `json:"advisor,omitempty"`

	// Ultracode is on.
	Ultracode bool `json:"ultracode,omitempty"`

	// Ultracode was asked for.
	UltracodeRequested bool `json:"ultracodeRequested,omitempty"`

	// Ultracode can be used.
	UltracodeAvailable bool `json:"ultracodeAvailable,omitempty"`

	// Ultrathink can be used.
	UltrathinkAvailable bool `json:"ultrathinkAvailable,omitempty"`
}

func (v *AppliedSettings) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "model":
		return setString[string](d, &v.Model, raw)
	case "effort":
		return setString[Effort](d, &v.Effort, raw)
	case "advisor":
		return setString[string](d, &v.Advisor, raw)
	case "ultracode":
		return setBool(d, &v.Ultracode, raw)
	case "ultracodeRequested":
		return setBool(d, &v.UltracodeRequested, raw)
	case "ultracodeAvailable":
		return setBool(d, &v.UltracodeAvailable, raw)
	case "ultrathinkAvailable":
		return setBool(d, &v.UltrathinkAvailable, raw)
	}
	return false
}

func (v *AppliedSettings) appendMembers(e *encoder) {
	put(e, "model", v.Model, v.Model == "", always, encString[string])
	put(e, "effort", v.Effort, v.Effort == "", nullable, encString[Effort])
	put(e, "advisor", v.Advisor, v.Advisor == "", optional, encString[string])
	put(e, "ultracode", v.Ultracode, !v.Ultracode, optional, encBool)
	put(e, "ultracodeRequested", v.UltracodeRequested, !v.UltracodeRequested, optional, encBool)
	put(e, "ultracodeAvailable", v.UltracodeAvailable, !v.UltracodeAvailable, optional, encBool)
	put(e, "ultrathinkAvailable", v.UltrathinkAvailable, !v.UltrathinkAvailable, optional, encBool)
}

func (*AppliedSettings) fresh() object { return new(AppliedSettings) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *AppliedSettings) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v AppliedSettings) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// SettingsError is an error in a settings file.
type SettingsError struct {
	Source
	// The file.
	File string `json:"file,omitempty"`

	// The place within it.
	Path string `json:"path"`

	// The error.
	Message string `json:"message"`
}

func (v *SettingsError) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "file":
		return setString[string](d, &v.File, raw)
	case "path":
		return setString[string](d, &v.Path, raw)
	case "message":
		return setString[string](d, &v.Message, raw)
	}
	return false
}

func (v *SettingsError) appendMembers(e *encoder) {
	put(e, "file", v.File, v.File == "", optional, encString[string])
	put(e, "path", v.Path, v.Path == "", always, encString[string])
	put(e, "message", v.Message, v.Message == "", always, encString[string])
}

func (*SettingsError) fresh() object { return new(SettingsError) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *SettingsError) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v SettingsError) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// ContextCategory is a part of the context window.
type ContextCategory struct {
	Source
	// What it is.
	ID ContextCategoryID `json:"id,omitempty"`

	// Its name.
	Name string `json:"name"`

	// Its size.
	Tokens int64 `json:"tokens"`

	// The colour to show it in.
	Color string `json:"color"`

	// It is loaded on demand.
	IsDeferred bool `json:"isDeferred,omitempty"`

	// What it is used for.
	Kind ContextKind `json:"kind,omitempty"`
}

func (v *ContextCategory) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "id":
		return setString[ContextCategoryID](d, &v.ID, raw)
	case "name":
		return setString[string](d, &v.Name, raw)
	case "tokens":
		return setInt(d, &v.Tokens, raw)
	case "color":
		return setString[string](d, &v.Color, raw)
	case "isDeferred":
		return setBool(d, &v.IsDeferred, raw)
	case "kind":
		return setString[ContextKind](d, &v.Kind, raw)
	}
	return false
}

func (v *ContextCategory) appendMembers(e *encoder) {
	put(e, "id", v.ID, v.ID == "", optional, encString[ContextCategoryID])
	put(e, "name", v.Name, v.Name == "", always, encString[string])
	put(e, "tokens", v.Tokens, v.Tokens == 0, always, encInt)
	put(e, "color", v.Color, v.Color == "", always, encString[string])
	put(e, "isDeferred", v.IsDeferred, !v.IsDeferred, optional, encBool)
	put(e, "kind", v.Kind, v.Kind == "", optional, encString[ContextKind])
}

func (*ContextCategory) fresh() object { return new(ContextCategory) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ContextCategory) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ContextCategory) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// ContextCell is a cell of the picture of the context window.
type ContextCell struct {
	Source
	// Its colour.
	Color string `json:"color"`

	// It is in use.
	IsFilled bool `json:"isFilled"`

	// The part it belongs to.
	CategoryName string `json:"categoryName"`

	// The size of that part.
	Tokens int64 `json:"tokens"`

	// The share of that part, in percent.
	Percentage float64 `json:"percentage"`

	// How full the cell is, from 0 to 1.
	SquareFullness float64 `json:"squareFullness"`
}

func (v *ContextCell) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "color":
		return setString[string](d, &v.Color, raw)
	case "isFilled":
		return setBool(d, &v.IsFilled, raw)
	case "categoryName":
		return setString[string](d, &v.CategoryName, raw)
	case "tokens":
		return setInt(d, &v.Tokens, raw)
	case "percentage":
		return setNum(d, &v.Percentage, raw)
	case "squareFullness":
		return setNum(d, &v.SquareFullness, raw)
	}
	return false
}

func (v *ContextCell) appendMembers(e *encoder) {
	put(e, "color", v.Color, v.Color == "", always, encString[string])
	put(e, "isFilled", v.IsFilled, !v.IsFilled, always, encBool)
	put(e, "categoryName", v.CategoryName, v.CategoryName == "", always, encString[string])
	put(e, "tokens", v.Tokens, v.Tokens == 0, always, encInt)
	put(e, "percentage", v.Percentage, v.Percentage == 0, always, encNum)
	put(e, "squareFullness", v.SquareFullness, v.SquareFullness == 0, always, encNum)
}

func (*ContextCell) fresh() object { return new(ContextCell) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ContextCell) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ContextCell) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// ContextTool is a tool or a text that takes up context.
type ContextTool struct {
	Source
	// Its name.
	Name string `json:"name,omitempty"`

	// Its MCP server.
	ServerName string `json:"serverName,omitempty"`

	// Its size.
	Tokens int64 `json:"tokens"`

	// It is loaded.
	IsLoaded *bool `json:"isLoaded,omitempty"`
}

func (v *ContextTool) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "name":
		return setString[string](d, &v.Name, raw)
	case "serverName":
		return setString[string](d, &v.ServerName, raw)
	case "tokens":
		return setInt(d, &v.Tokens, raw)
	case "isLoaded":
		return setPointer(d, &v.IsLoaded, raw, setBool)
	}
	return false
}

func (v *ContextTool) appendMembers(e *encoder) {
	put(e, "name", v.Name, v.Name == "", optional, encString[string])
	put(e, "serverName", v.ServerName, v.ServerName == "", optional, encString[string])
	put(e, "tokens", v.Tokens, v.Tokens == 0, always, encInt)
	put(e, "isLoaded", v.IsLoaded, v.IsLoaded == nil, optional, encPointer(encBool))
}

func (*ContextTool) fresh() object { return new(ContextTool) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ContextTool) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ContextTool) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// ContextItem is an agent or a skill whose description takes up context.
type ContextItem struct {
	Source
	// The agent.
	AgentType string `json:"agentType,omitempty"`

	// The skill.
	Name string `json:"name,omitempty"`

	// Where it is defined.
	Origin string `json:"source"`

	// The name of its plugin.
	PluginName string `json:"pluginName,omitempty"`

	// Its plugin.
	PluginID string `json:"pluginId,omitempty"`

	// Its file.
	Path string `json:"path,omitempty"`

	// Its size.
	Tokens int64 `json:"tokens"`
}

func (v *ContextItem) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "agentType":
		return setString[string](d, &v.AgentType, raw)
	case "name":
		return setString[string](d, &v.Name, raw)
	case "source":
		return setString[string](d, &v.Origin, raw)
	case "pluginName":
		return setString[string](d, &v.PluginName, raw)
	case "pluginId":
		return setString[string](d, &v.PluginID, raw)
	case "path":
		return setString[string](d, &v.Path, raw)
	case "tokens":
		return setInt(d, &v.Tokens, raw)
	}
	return false
}

func (v *ContextItem) appendMembers(e *encoder) {
	put(e, "agentType", v.AgentType, v.AgentType == "", optional, encString[string])
	put(e, "name", v.Name, v.Name == "", optional, encString[string])
	put(e, "source", v.Origin, v.Origin == "", always, encString[string])
	put(e, "pluginName", v.PluginName, v.PluginName == "", optional, encString[string])
	put(e, "pluginId", v.PluginID, v.PluginID == "", optional, encString[string])
	put(e, "path", v.Path, v.Path == "", optional, encString[string])
	put(e, "tokens", v.Tokens, v.Tokens == 0, always, encInt)
}

func (*ContextItem) fresh() object { return new(ContextItem) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ContextItem) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ContextItem) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// ContextCommands counts slash commands.
type ContextCommands struct {
	Source
	// All of them.
	TotalCommands int64 `json:"totalCommands"`

	// Those in the context.
	IncludedCommands int64 `json:"includedCommands"`

	// Their size.
	Tokens int64 `json:"tokens"`
}

func (v *ContextCommands) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "totalCommands":
		return setInt(d, &v.TotalCommands, raw)
	case "includedCommands":
		return setInt(d, &v.IncludedCommands, raw)
	case "tokens":
		return setInt(d, &v.Tokens, raw)
	}
	return false
}

func (v *ContextCommands) appendMembers(e *encoder) {
	put(e, "totalCommands", v.TotalCommands, v.TotalCommands == 0, always, encInt)
	put(e, "includedCommands", v.IncludedCommands, v.IncludedCommands == 0, always, encInt)
	put(e, "tokens", v.Tokens, v.Tokens == 0, always, encInt)
}

func (*ContextCommands) fresh() object { return new(ContextCommands) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ContextCommands) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ContextCommands) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// ContextSkills counts skills.
type ContextSkills struct {
	Source
	// All of them.
	TotalSkills int64 `json:"totalSkills"`

	// Those in the context.
	IncludedSkills int64 `json:"includedSkills"`

	// Their size.
	Tokens int64 `json:"tokens"`

	// The skills one by one.
	SkillFrontmatter []ContextItem `json:"skillFrontmatter"`
}

func (v *ContextSkills) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "totalSkills":
		return setInt(d, &v.TotalSkills, raw)
	case "includedSkills":
		return setInt(d, &v.IncludedSkills, raw)
	case "tokens":
		return setInt(d, &v.Tokens, raw)
	case "skillFrontmatter":
		return setList(d, &v.SkillFrontmatter, raw, setStruct[ContextItem])
	}
	return false
}

func (v *ContextSkills) appendMembers(e *encoder) {
	put(e, "totalSkills", v.TotalSkills, v.TotalSkills == 0, always, encInt)
	put(e, "includedSkills", v.IncludedSkills, v.IncludedSkills == 0, always, encInt)
	put(e, "tokens", v.Tokens, v.Tokens == 0, always, encInt)
	put(e, "skillFrontmatter", v.SkillFrontmatter, v.SkillFrontmatter == nil, always, encList(encStruct[ContextItem]))
}

func (*ContextSkills) fresh() object { return new(ContextSkills) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ContextSkills) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ContextSkills) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// ContextMessages tells what the conversation consists of.
type ContextMessages struct {
	Source
	// Tool calls.
	ToolCallTokens int64 `json:"toolCallTokens"`

	// Tool results.
	ToolResultTokens int64 `json:"toolResultTokens"`

	// Attachments.
	AttachmentTokens int64 `json:"attachmentTokens"`

	// The model's answers.
	AssistantMessageTokens int64 `json:"assistantMessageTokens"`

	// The user's messages.
	UserMessageTokens int64 `json:"userMessageTokens"`

	// Redirected context.
	RedirectedContextTokens int64 `json:"redirectedContextTokens,omitempty"`

	// The rest.
	UnattributedTokens int64 `json:"unattributedTokens,omitempty"`

	// Tool calls by tool.
	ToolCallsByType []ContextToolCalls `json:"toolCallsByType"`

	// Attachments by kind.
	AttachmentsByType []ContextTool `json:"attachmentsByType"`
}

func (v *ContextMessages) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "toolCallTokens":
		return setInt(d, &v.ToolCallTokens, raw)
	case "toolResultTokens":
		return setInt(d, &v.ToolResultTokens, raw)
	case "attachmentTokens":
		return setInt(d, &v.AttachmentTokens, raw)
	case "assistantMessageTokens":
		return setInt(d, &v.AssistantMessageTokens, raw)
	case "userMessageTokens":
		return setInt(d, &v.UserMessageTokens, raw)
	case "redirectedContextTokens":
		return setInt(d, &v.RedirectedContextTokens, raw)
	case "unattributedTokens":
		return setInt(d, &v.UnattributedTokens, raw)
	case "toolCallsByType":
		return setList(d, &v.ToolCallsByType, raw, setStruct[ContextToolCalls])
	case "attachmentsByType":
		return setList(d, &v.AttachmentsByType, raw, setStruct[ContextTool])
	}
	return false
}

func (v *ContextMessages) appendMembers(e *encoder) {
	put(e, "toolCallTokens", v.ToolCallTokens, v.ToolCallTokens == 0, always, encInt)
	put(e, "toolResultTokens", v.ToolResultTokens, v.ToolResultTokens == 0, always, encInt)
	put(e, "attachmentTokens", v.AttachmentTokens, v.AttachmentTokens == 0, always, encInt)
	put(e, "assistantMessageTokens", v.AssistantMessageTokens, v.AssistantMessageTokens == 0, always, encInt)
	put(e, "userMessageTokens", v.UserMessageTokens, v.UserMessageTokens == 0, always, encInt)
	put(e, "redirectedContextTokens", v.RedirectedContextTokens, v.RedirectedContextTokens == 0, optional, encInt)
	put(e, "unattributedTokens", v.UnattributedTokens, v.UnattributedTokens == 0, optional, encInt)
	put(e, "toolCallsByType", v.ToolCallsByType, v.ToolCallsByType == nil, always, encList(encStruct[ContextToolCalls]))
	put(e, "attachmentsByType", v.AttachmentsByType, v.AttachmentsByType == nil, always, encList(encStruct[ContextTool]))
}

func (*ContextMessages) fresh() object { return new(ContextMessages) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ContextMessages) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ContextMessages) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// ContextToolCalls is the size of the calls of one tool.
type ContextToolCalls struct {
	Source
	// The tool.
	Name string `json:"name"`

	// The calls.
	CallTokens int64 `json:"callTokens"`

	// Their results.
	ResultTokens int64 `json:"resultTokens"`
}

func (v *ContextToolCalls) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "name":
		return setString[string](d, &v.Name, raw)
	case "callTokens":
		return setInt(d, &v.CallTokens, raw)
	case "resultTokens":
		return setInt(d, &v.ResultTokens, raw)
	}
	return false
}

func (v *ContextToolCalls) appendMembers(e *encoder) {
	put(e, "name", v.Name, v.Name == "", always, encString[string])
	put(e, "callTokens", v.CallTokens, v.CallTokens == 0, always, encInt)
	put(e, "resultTokens", v.ResultTokens, v.ResultTokens == 0, always, encInt)
}

func (*ContextToolCalls) fresh() object { return new(ContextToolCalls) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ContextToolCalls) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ContextToolCalls) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// ContextAPIUsage counts the tokens of a request.
type ContextAPIUsage struct {
	Source
	// Tokens read, those of the cache not included.
	InputTokens int64 `json:"input_tokens"`

	// Tokens written.
	OutputTokens int64 `json:"output_tokens"`

	// Tokens put into the cache.
	CacheCreationInputTokens int64 `json:"cache_creation_input_tokens"`

	// Tokens read from the cache.
	CacheReadInputTokens int64 `json:"cache_read_input_tokens"`
}

func (v *ContextAPIUsage) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "input_tokens":
		return setInt(d, &v.InputTokens, raw)
	case "output_tokens":
		return setInt(d, &v.OutputTokens, raw)
	case "cache_creation_input_tokens":
		return setInt(d, &v.CacheCreationInputTokens, raw)
	case "cache_read_input_tokens":
		return setInt(d, &v.CacheReadInputTokens, raw)
	}
	return false
}

func (v *ContextAPIUsage) appendMembers(e *encoder) {
	put(e, "input_tokens", v.InputTokens, v.InputTokens == 0, always, encInt)
	put(e, "output_tokens", v.OutputTokens, v.OutputTokens == 0, always, encInt)
	put(e, "cache_creation_input_tokens", v.CacheCreationInputTokens, v.CacheCreationInputTokens == 0, always, encInt)
	put(e, "cache_read_input_tokens", v.CacheReadInputTokens, v.CacheReadInputTokens == 0, always, encInt)
}

func (*ContextAPIUsage) fresh() object { return new(ContextAPIUsage) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ContextAPIUsage) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ContextAPIUsage) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// PlanLimits lists the limits of a plan.
type PlanLimits struct {
	Source
	// Five hours.
	FiveHour *LimitUse `json:"five_hour,omitempty"`

	// Seven days, all models.
	SevenDay *LimitUse `json:"seven_day,omitempty"`

	// Seven days, other programs.
	SevenDayOAuthApps *LimitUse `json:"seven_day_oauth_apps,omitempty"`

	// Seven days, Opus.
	SevenDayOpus *LimitUse `json:"seven_day_opus,omitempty"`

	// Seven days, Sonnet.
	SevenDaySonnet *LimitUse `json:"seven_day_sonnet,omitempty"`

	// Limits of single models.
	ModelScoped []LimitUse `json:"model_scoped,omitempty"`

	// Usage beyond the plan.
	ExtraUsage *ExtraUsage `json:"extra_usage,omitempty"`
}

func (v *PlanLimits) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "five_hour":
		return setPointer(d, &v.FiveHour, raw, setStruct[LimitUse])
	case "seven_day":
		return setPointer(d, &v.SevenDay, raw, setStruct[LimitUse])
	case "seven_day_oauth_apps":
		return setPointer(d, &v.SevenDayOAuthApps, raw, setStruct[LimitUse])
	case "seven_day_opus":
		return setPointer(d, &v.SevenDayOpus, raw, setStruct[LimitUse])
	case "seven_day_sonnet":
		return setPointer(d, &v.SevenDaySonnet, raw, setStruct[LimitUse])
	case "model_scoped":
		return setList(d, &v.ModelScoped, raw, setStruct[LimitUse])
	case "extra_usage":
		return setPointer(d, &v.ExtraUsage, raw, setStruct[ExtraUsage])
	}
	return false
}

func (v *PlanLimits) appendMembers(e *encoder) {
	put(e, "five_hour", v.FiveHour, v.FiveHour == nil, optional, encPointer(encStruct[LimitUse]))
	put(e, "seven_day", v.SevenDay, v.SevenDay == nil, optional, encPointer(encStruct[LimitUse]))
	put(e, "seven_day_oauth_apps", v.SevenDayOAuthApps, v.SevenDayOAuthApps == nil, optional, encPointer(encStruct[LimitUse]))
	put(e, "seven_day_opus", v.SevenDayOpus, v.SevenDayOpus == nil, optional, encPointer(encStruct[LimitUse]))
	put(e, "seven_day_sonnet", v.SevenDaySonnet, v.SevenDaySonnet == nil, optional, encPointer(encStruct[LimitUse]))
	put(e, "model_scoped", v.ModelScoped, v.ModelScoped == nil, optional, encList(encStruct[LimitUse]))
	put(e, "extra_usage", v.ExtraUsage, v.ExtraUsage == nil, optional, encPointer(encStruct[ExtraUsage]))
}

func (*PlanLimits) fresh() object { return new(PlanLimits) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *PlanLimits) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v PlanLimits) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// LimitUse tells how much of a limit is used.
type LimitUse struct {
	Source
	// The model, for limits of single models.
	DisplayName string `json:"display_name,omitempty"`

	// The share that is used.
	Utilization *float64 `json:"utilization"`

	// When it starts anew.
	ResetsAt string `json:"resets_at"`
}

func (v *LimitUse) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "display_name":
		return setString[string](d, &v.DisplayName, raw)
	case "utilization":
		return setPointer(d, &v.Utilization, raw, setNum)
	case "resets_at":
		return setString[string](d, &v.ResetsAt, raw)
	}
	return false
}

func (v *LimitUse) appendMembers(e *encoder) {
	put(e, "display_name", v.DisplayName, v.DisplayName == "", optional, encString[string])
	put(e, "utilization", v.Utilization, v.Utilization == nil, always, encPointer(encNum))
	put(e, "resets_at", v.ResetsAt, v.ResetsAt == "", nullable, encString[string])
}

func (*LimitUse) fresh() object { return new(LimitUse) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *LimitUse) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v LimitUse) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// UsageBehaviors tells the habits that drive up usage.
type UsageBehaviors struct {
	Source
	// The last day.
	Day UsagePeriod `json:"day"`

	// The last week.
	Week UsagePeriod `json:"week"`
}

func (v *UsageBehaviors) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "day":
		return setStruct[UsagePeriod](d, &v.Day, raw)
	case "week":
		return setStruct[UsagePeriod](d, &v.Week, raw)
	}
	return false
}

func (v *UsageBehaviors) appendMembers(e *encoder) {
	put(e, "day", v.Day, false, always, encStruct[UsagePeriod])
	put(e, "week", v.Week, false, always, encStruct[UsagePeriod])
}

func (*UsageBehaviors) fresh() object { return new(UsageBehaviors) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *UsageBehaviors) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v UsageBehaviors) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// UsagePeriod sums up the usage of a period.
type UsagePeriod struct {
	Source
	// Requests.
	RequestCount int64 `json:"request_count"`

	// Sessions.
	SessionCount int64 `json:"session_count"`

	// The habits.
	Behaviors []UsageHabit `json:"behaviors"`

	// What could be done about them.
	Recommendations []UsageAdvice `json:"recommendations,omitempty"`

	// What the CLI offers to do about them.
	Fix *UsageFix `json:"fix,omitempty"`

	// The share of each agent.
	Agents []UsageShare `json:"agents"`

	// The share of each skill.
	Skills []UsageShare `json:"skills"`

	// The share of each plugin.
	Plugins []UsageShare `json:"plugins"`

	// The share of each MCP server.
	MCPServers []UsageShare `json:"mcp_servers"`
}

func (v *UsagePeriod) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "request_count":
		return setInt(d, &v.RequestCount, raw)
	case "session_count":
		return setInt(d, &v.SessionCount, raw)
	case "behaviors":
		return setList(d, &v.Behaviors, raw, setStruct[UsageHabit])
	case "recommendations":
		return setList(d, &v.Recommendations, raw, setStruct[UsageAdvice])
	case "fix":
		return setPointer(d, &v.Fix, raw, setStruct[UsageFix])
	case "agents":
		return setList(d, &v.Agents, raw, setStruct[UsageShare])
	case "skills":
		return setList(d, &v.Skills, raw, setStruct[UsageShare])
	case "plugins":
		return setList(d, &v.Plugins, raw, setStruct[UsageShare])
	case "mcp_servers":
		return setList(d, &v.MCPServers, raw, setStruct[UsageShare])
	}
	return false
}

func (v *UsagePeriod) appendMembers(e *encoder) {
	put(e, "request_count", v.RequestCount, v.RequestCount == 0, always, encInt)
	put(e, "session_count", v.SessionCount, v.SessionCount == 0, always, encInt)
	put(e, "behaviors", v.Behaviors, v.Behaviors == nil, always, encList(encStruct[UsageHabit]))
	put(e, "recommendations", v.Recommendations, v.Recommendations == nil, optional, encList(encStruct[UsageAdvice]))
	put(e, "fix", v.Fix, v.Fix == nil, optional, encPointer(encStruct[UsageFix]))
	put(e, "agents", v.Agents, v.Agents == nil, always, encList(encStruct[UsageShare]))
	put(e, "skills", v.Skills, v.Skills == nil, always, encList(encStruct[UsageShare]))
	put(e, "plugins", v.Plugins, v.Plugins == nil, always, encList(encStruct[UsageShare]))
	put(e, "mcp_servers", v.MCPServers, v.MCPServers == nil, always, encList(encStruct[UsageShare]))
}

func (*UsagePeriod) fresh() object { return new(UsagePeriod) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *UsagePeriod) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v UsagePeriod) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// UsageHabit is a habit that drives up usage.
type UsageHabit struct {
	Source
	// The habit.
	Key UsageBehavior `json:"key"`

	// Its share, in percent.
	Pct float64 `json:"pct"`

	// How often it was seen.
	Count int64 `json:"count"`
}

func (v *UsageHabit) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "key":
		return setString[UsageBehavior](d, &v.Key, raw)
	case "pct":
		return setNum(d, &v.Pct, raw)
	case "count":
		return setInt(d, &v.Count, raw)
	}
	return false
}

func (v *UsageHabit) appendMembers(e *encoder) {
	put(e, "key", v.Key, v.Key == "", always, encString[UsageBehavior])
	put(e, "pct", v.Pct, v.Pct == 0, always, encNum)
	put(e, "count", v.Count, v.Count == 0, always, encInt)
}

func (*UsageHabit) fresh() object { return new(UsageHabit) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *UsageHabit) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v UsageHabit) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// UsageAdvice is advice on a habit.
type UsageAdvice struct {
	Source
	// The habit.
	Key string `json:"key"`

	// Its share, in percent.
	Pct float64 `json:"pct"`

	// The advice.
	Title string `json:"title"`

	// More about it.
	Detail string `json:"detail,omitempty"`
}

func (v *UsageAdvice) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "key":
		return setString[string](d, &v.Key, raw)
	case "pct":
		return setNum(d, &v.Pct, raw)
	case "title":
		return setString[string](d, &v.Title, raw)
	case "detail":
		return setString[string](d, &v.Detail, raw)
	}
	return false
}

func (v *UsageAdvice) appendMembers(e *encoder) {
	put(e, "key", v.Key, v.Key == "", always, encString[string])
	put(e, "pct", v.Pct, v.Pct == 0, always, encNum)
	put(e, "title", v.Title, v.Title == "", always, encString[string])
	put(e, "detail", v.Detail, v.Detail == "", optional, encString[string])
}

func (*UsageAdvice) fresh() object { return new(UsageAdvice) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *UsageAdvice) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v UsageAdvice) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// UsageFix is what the CLI offers to do about habits.
type UsageFix struct {
	Source
	// The habits.
	Keys []string `json:"keys"`

	// The texts.
	Messages []string `json:"messages"`
}

func (v *UsageFix) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "keys":
		return setList(d, &v.Keys, raw, setString[string])
	case "messages":
		return setList(d, &v.Messages, raw, setString[string])
	}
	return false
}

func (v *UsageFix) appendMembers(e *encoder) {
	put(e, "keys", v.Keys, v.Keys == nil, always, encList(encString[string]))
	put(e, "messages", v.Messages, v.Messages == nil, always, encList(encString[string]))
}

func (*UsageFix) fresh() object { return new(UsageFix) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *UsageFix) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v UsageFix) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// UsageShare is the share that one thing has in the usage.
type UsageShare struct {
	Source
	// The thing.
	Name string `json:"name"`

	// Its share, in percent.
	Pct float64 `json:"pct"`
}

func (v *UsageShare) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "name":
		return setString[string](d, &v.Name, raw)
	case "pct":
		return setNum(d, &v.Pct, raw)
	}
	return false
}

func (v *UsageShare) appendMembers(e *encoder) {
	put(e, "name", v.Name, v.Name == "", always, encString[string])
	put(e, "pct", v.Pct, v.Pct == 0, always, encNum)
}

func (*UsageShare) fresh() object { return new(UsageShare) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *UsageShare) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v UsageShare) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// HookEventInfo describes an event that can have hooks.
type HookEventInfo struct {
	Source
	// The event.
	Name string `json:"name"`

	// When it happens.
	Summary string `json:"summary"`

	// Its hooks can be limited to some tools.
	SupportsMatcher bool `json:"supportsMatcher"`

	// How many hooks it has.
	HookCount int64 `json:"hookCount,omitempty"`
}

func (v *HookEventInfo) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "name":
		return setString[string](d, &v.Name, raw)
	case "summary":
		return setString[string](d, &v.Summary, raw)
	case "supportsMatcher":
		return setBool(d, &v.SupportsMatcher, raw)
	case "hookCount":
		return setInt(d, &v.HookCount, raw)
	}
	return false
}

func (v *HookEventInfo) appendMembers(e *encoder) {
	put(e, "name", v.Name, v.Name == "", always, encString[string])
	put(e, "summary", v.Summary, v.Summary == "", always, encString[string])
	put(e, "supportsMatcher", v.SupportsMatcher, !v.SupportsMatcher, always, encBool)
	put(e, "hookCount", v.HookCount, v.HookCount == 0, optional, encInt)
}

func (*HookEventInfo) fresh() object { return new(HookEventInfo) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *HookEventInfo) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v HookEventInfo) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// HookInfo describes a hook.
type HookInfo struct {
	Source
	// Its event.
	Event string `json:"event"`

	// What it is limited to.
	Matcher string `json:"matcher"`

	// Where it is defined.
	Origin string `json:"source"`

	// The same for people.
	SourceLabel string `json:"sourceLabel"`

	// Its plugin.
	PluginName string `json:"pluginName,omitempty"`

	// Its kind.
	Type string `json:"type"`

	// What to show.
	DisplayText string `json:"displayText"`

	// What it runs.
	CommandText string `json:"commandText"`

	// What that text is.
	ContentLabel string `json:"contentLabel"`

	// When it runs.
	Condition string `json:"condition,omitempty"`

	// Seconds until it is given up.
	Timeout float64 `json:"timeout,omitempty"`

	// What is shown while it runs.
	StatusMessage string `json:"statusMessage,omitempty"`

	// It runs once.
	RunsOnce bool `json:"runsOnce,omitempty"`

	// The turn does not wait for it.
	RunsInBackground bool `json:"runsInBackground,omitempty"`

	// It is switched off.
	Disabled bool `json:"disabled,omitempty"`

	// How to change it.
	Editable *HookEditable `json:"editable,omitempty"`
}

func (v *HookInfo) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "event":
		return setString[string](d, &v.Event, raw)
	case "matcher":
		return setString[string](d, &v.Matcher, raw)
	case "source":
		return setString[string](d, &v.Origin, raw)
	case "sourceLabel":
		return setString[string](d, &v.SourceLabel, raw)
	case "pluginName":
		return setString[string](d, &v.PluginName, raw)
	case "type":
		return setString[string](d, &v.Type, raw)
	case "displayText":
		return setString[string](d, &v.DisplayText, raw)
	case "commandText":
		return setString[string](d, &v.CommandText, raw)
	case "contentLabel":
		return setString[string](d, &v.ContentLabel, raw)
	case "condition":
		return setString[string](d, &v.Condition, raw)
	case "timeout":
		return setNum(d, &v.Timeout, raw)
	case "statusMessage":
		return setString[string](d, &v.StatusMessage, raw)
	case "runsOnce":
		return setBool(d, &v.RunsOnce, raw)
	case "runsInBackground":
		return setBool(d, &v.RunsInBackground, raw)
	case "disabled":
		return setBool(d, &v.Disabled, raw)
	case "editable":
		return setPointer(d, &v.Editable, raw, setStruct[HookEditable])
	}
	return false
}

func (v *HookInfo) appendMembers(e *encoder) {
	put(e, "event", v.Event, v.Event == "", always, encString[string])
	put(e, "matcher", v.Matcher, v.Matcher == "", always, encString[string])
	put(e, "source", v.Origin, v.Origin == "", always, encString[string])
	put(e, "sourceLabel", v.SourceLabel, v.SourceLabel == "", always, encString[string])
	put(e, "pluginName", v.PluginName, v.PluginName == "", optional, encString[string])
	put(e, "type", v.Type, v.Type == "", always, encString[string])
	put(e, "displayText", v.DisplayText, v.DisplayText == "", always, encString[string])
	put(e, "commandText", v.CommandText, v.CommandText == "", always, encString[string])
	put(e, "contentLabel", v.ContentLabel, v.ContentLabel == "", always, encString[string])
	put(e, "condition", v.Condition, v.Condition == "", optional, encString[string])
	put(e, "timeout", v.Timeout, v.Timeout == 0, optional, encNum)
	put(e, "statusMessage", v.StatusMessage, v.StatusMessage == "", optional, encString[string])
	put(e, "runsOnce", v.RunsOnce, !v.RunsOnce, optional, encBool)
	put(e, "runsInBackground", v.RunsInBackground, !v.RunsInBackground, optional, encBool)
	put(e, "disabled", v.Disabled, !v.Disabled, optional, encBool)
	put(e, "editable", v.Editable, v.Editable == nil, optional, encPointer(encStruct[HookEditable]))
}

func (*HookInfo) fresh() object { return new(HookInfo) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *HookInfo) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v HookInfo) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// HookEditable is a hook as it stands in a settings file.
type HookEditable struct {
	Source
	// What it is limited to.
	Matcher string `json:"matcher"`

	// Its settings.
	Config json.RawMessage `json:"config"`

	// Secrets were left out.
	HeadersRedacted bool `json:"headersRedacted,omitempty"`
}

func (v *HookEditable) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "matcher":
		return setString[string](d, &v.Matcher, raw)
	case "config":
		return setRaw(d, &v.Config, raw)
	case "headersRedacted":
		return setBool(d, &v.HeadersRedacted, raw)
	}
	return false
}

func (v *HookEditable) appendMembers(e *encoder) {
	put(e, "matcher", v.Matcher, v.Matcher == "", always, encString[string])
	put(e, "config", v.Config, v.Config == nil, always, encRaw)
	put(e, "headersRedacted", v.HeadersRedacted, !v.HeadersRedacted, optional, encBool)
}

func (*HookEditable) fresh() object { return new(HookEditable) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *HookEditable) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v HookEditable) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// HookPolicy tells what an organisation's policy does to hooks.
type HookPolicy struct {
	Source
	// All hooks are off.
	DisabledByPolicy bool `json:"disabledByPolicy"`

	// Only managed hooks run.
	ManagedOnly bool `json:"managedOnly"`

	// Only plugin hooks run.
	PluginOnly bool `json:"pluginOnly"`

	// All hooks are off, for whatever reason.
	AllDisabled bool `json:"allDisabled"`

	// How many managed hooks there are.
	PolicyHookCount int64 `json:"policyHookCount"`

	// The policy could not be read.
	PolicyUnreadable bool `json:"policyUnreadable,omitempty"`
}

func (v *HookPolicy) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "disabledByPolicy":
		return setBool(d, &v.DisabledByPolicy, raw)
	case "managedOnly":
		return setBool(d, &v.ManagedOnly, raw)
	case "pluginOnly":
		return setBool(d, &v.PluginOnly, raw)
	case "allDisabled":
		return setBool(d, &v.AllDisabled, raw)
	case "policyHookCount":
		return setInt(d, &v.PolicyHookCount, raw)
	case "policyUnreadable":
		return setBool(d, &v.PolicyUnreadable, raw)
	}
	return false
}

func (v *HookPolicy) appendMembers(e *encoder) {
	put(e, "disabledByPolicy", v.DisabledByPolicy, !v.DisabledByPolicy, always, encBool)
	put(e, "managedOnly", v.ManagedOnly, !v.ManagedOnly, always, encBool)
	put(e, "pluginOnly", v.PluginOnly, !v.PluginOnly, always, encBool)
	put(e, "allDisabled", v.AllDisabled, !v.AllDisabled, always, encBool)
	put(e, "policyHookCount", v.PolicyHookCount, v.PolicyHookCount == 0, always, encInt)
	put(e, "policyUnreadable", v.PolicyUnreadable, !v.PolicyUnreadable, optional, encBool)
}

func (*HookPolicy) fresh() object { return new(HookPolicy) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *HookPolicy) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v HookPolicy) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// HookSafeMode says that the CLI runs in safe mode.
type HookSafeMode struct {
	Source
	// Managed hooks run all the same.
	ManagedHooksStillApply bool `json:"managedHooksStillApply"`

	// How to leave it.
	ExitHint string `json:"exitHint"`
}

func (v *HookSafeMode) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "managedHooksStillApply":
		return setBool(d, &v.ManagedHooksStillApply, raw)
	case "exitHint":
		return setString[string](d, &v.ExitHint, raw)
	}
	return false
}

func (v *HookSafeMode) appendMembers(e *encoder) {
	put(e, "managedHooksStillApply", v.ManagedHooksStillApply, !v.ManagedHooksStillApply, always, encBool)
	put(e, "exitHint", v.ExitHint, v.ExitHint == "", always, encString[string])
}

func (*HookSafeMode) fresh() object { return new(HookSafeMode) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *HookSafeMode) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v HookSafeMode) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// HookBareMode says that the CLI runs in bare mode.
type HookBareMode struct {
	Source
	// How to leave it.
	ExitHint string `json:"exitHint"`
}

func (v *HookBareMode) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "exitHint":
		return setString[string](d, &v.ExitHint, raw)
	}
	return false
}

func (v *HookBareMode) appendMembers(e *encoder) {
	put(e, "exitHint", v.ExitHint, v.ExitHint == "", always, encString[string])
}

func (*HookBareMode) fresh() object { return new(HookBareMode) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *HookBareMode) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v HookBareMode) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// PermissionRules lists permission rules and working directories.
type PermissionRules struct {
	Source
	// The rules.
	Rules []PermissionRuleInfo `json:"rules"`

	// The working directories.
	WorkspaceDirectories []WorkspaceDirectory `json:"workspaceDirectories"`

	// The directory that the session began in.
	OriginalCwd string `json:"originalCwd"`

	// Only managed rules apply.
	ManagedOnly bool `json:"managedOnly"`

	// What could not be read.
	Errors []SettingsError `json:"errors,omitempty"`

	// Parts were left out.
	Withheld bool `json:"withheld,omitempty"`
}

func (v *PermissionRules) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "rules":
		return setList(d, &v.Rules, raw, setStruct[PermissionRuleInfo])
	case "workspaceDirectories":
		return setList(d, &v.WorkspaceDirectories, raw, setStruct[WorkspaceDirectory])
	case "originalCwd":
		return setString[string](d, &v.OriginalCwd, raw)
	case "managedOnly":
		return setBool(d, &v.ManagedOnly, raw)
	case "errors":
		return setList(d, &v.Errors, raw, setStruct[SettingsError])
	case "withheld":
		return setBool(d, &v.Withheld, raw)
	}
	return false
}

func (v *PermissionRules) appendMembers(e *encoder) {
	put(e, "rules", v.Rules, v.Rules == nil, always, encList(encStruct[PermissionRuleInfo]))
	put(e, "workspaceDirectories", v.WorkspaceDirectories, v.WorkspaceDirectories == nil, always, encList(encStruct[WorkspaceDirectory]))
	put(e, "originalCwd", v.OriginalCwd, v.OriginalCwd == "", always, encString[string])
	put(e, "managedOnly", v.ManagedOnly, !v.ManagedOnly, always, encBool)
	put(e, "errors", v.Errors, v.Errors == nil, optional, encList(encStruct[SettingsError]))
	put(e, "withheld", v.Withheld, !v.Withheld, optional, encBool)
}

func (*PermissionRules) fresh() object { return new(PermissionRules) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *PermissionRules) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v PermissionRules) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// PermissionRuleInfo is a permission rule in force.
type PermissionRuleInfo struct {
	Source
	// What it does.
	Behavior RuleBehavior `json:"behavior"`

	// Where it comes from.
	Layer RuleSource `json:"source"`

	// The rule, for example Bash(git status:*).
	Rule string `json:"rule"`

	// The rule in words.
	Description *RuleDescription `json:"description,omitempty"`

	// Whether it can be changed.
	Editability RuleEditability `json:"editability"`

	// It has no effect.
	NotInEffect bool `json:"notInEffect,omitempty"`
}

func (v *PermissionRuleInfo) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "behavior":
		return setString[RuleBehavior](d, &v.Behavior, raw)
	case "source":
		return setString[RuleSource](d, &v.Layer, raw)
	case "rule":
		return setString[string](d, &v.Rule, raw)
	case "description":
		return setPointer(d, &v.Description, raw, setStruct[RuleDescription])
	case "editability":
		return setString[RuleEditability](d, &v.Editability, raw)
	case "notInEffect":
		return setBool(d, &v.NotInEffect, raw)
	}
	return false
}

func (v *PermissionRuleInfo) appendMembers(e *encoder) {
	put(e, "behavior", v.Behavior, v.Behavior == "", always, encString[RuleBehavior])
	put(e, "source", v.Layer, v.Layer == "", always, encString[RuleSource])
	put(e, "rule", v.Rule, v.Rule == "", always, encString[string])
	put(e, "description", v.Description, v.Description == nil, optional, encPointer(encStruct[RuleDescription]))
	put(e, "editability", v.Editability, v.Editability == "", always, encString[RuleEditability])
	put(e, "notInEffect", v.NotInEffect, !v.NotInEffect, optional, encBool)
}

func (*PermissionRuleInfo) fresh() object { return new(PermissionRuleInfo) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *PermissionRuleInfo) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v PermissionRuleInfo) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// RuleDescription puts a permission rule into words.
type RuleDescription struct {
	Source
	// The beginning.
	Prefix string `json:"prefix"`

	// The part to stress.
	Emphasis string `json:"emphasis,omitempty"`

	// The end.
	Suffix string `json:"suffix,omitempty"`
}

func (v *RuleDescription) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "prefix":
		return setString[string](d, &v.Prefix, raw)
	case "emphasis":
		return setString[string](d, &v.Emphasis, raw)
	case "suffix":
		return setString[string](d, &v.Suffix, raw)
	}
	return false
}

func (v *RuleDescription) appendMembers(e *encoder) {
	put(e, "prefix", v.Prefix, v.Prefix == "", always, encString[string])
	put(e, "emphasis", v.Emphasis, v.Emphasis == "", optional, encString[string])
	put(e, "suffix", v.Suffix, v.Suffix == "", optional, encString[string])
}

func (*RuleDescription) fresh() object { return new(RuleDescription) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *RuleDescription) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v RuleDescription) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// WorkspaceDirectory is a working directory.
type WorkspaceDirectory struct {
	Source
	// The directory.
	Path string `json:"path"`

	// Where it comes from.
	Origin string `json:"source"`
}

func (v *WorkspaceDirectory) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "path":
		return setString[string](d, &v.Path, raw)
	case "source":
		return setString[string](d, &v.Origin, raw)
	}
	return false
}

func (v *WorkspaceDirectory) appendMembers(e *encoder) {
	put(e, "path", v.Path, v.Path == "", always, encString[string])
	put(e, "source", v.Origin, v.Origin == "", always, encString[string])
}

func (*WorkspaceDirectory) fresh() object { return new(WorkspaceDirectory) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *WorkspaceDirectory) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v WorkspaceDirectory) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// FileSuggestion is a file that completes a mention.
type FileSuggestion struct {
	Source
	// The file.
	Path string `json:"path"`

	// How well it fits.
	Score float64 `json:"score,omitempty"`
}

func (v *FileSuggestion) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "path":
		return setString[string](d, &v.Path, raw)
	case "score":
		return setNum(d, &v.Score, raw)
	}
	return false
}

func (v *FileSuggestion) appendMembers(e *encoder) {
	put(e, "path", v.Path, v.Path == "", always, encString[string])
	put(e, "score", v.Score, v.Score == 0, optional, encNum)
}

func (*FileSuggestion) fresh() object { return new(FileSuggestion) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *FileSuggestion) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v FileSuggestion) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// CacheImpact tells what a reload would change about the tools.
type CacheImpact struct {
	Source
	// MCP servers that come.
	MCPServersAdded []string `json:"mcp_servers_added"`

	// MCP servers that go.
	MCPServersRemoved []string `json:"mcp_servers_removed"`

	// What happens to the language server tool.
	LSPToolChange LSPToolChange `json:"lsp_tool_change"`
}

func (v *CacheImpact) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "mcp_servers_added":
		return setList(d, &v.MCPServersAdded, raw, setString[string])
	case "mcp_servers_removed":
		return setList(d, &v.MCPServersRemoved, raw, setString[string])
	case "lsp_tool_change":
		return setString[LSPToolChange](d, &v.LSPToolChange, raw)
	}
	return false
}

func (v *CacheImpact) appendMembers(e *encoder) {
	put(e, "mcp_servers_added", v.MCPServersAdded, v.MCPServersAdded == nil, always, encList(encString[string]))
	put(e, "mcp_servers_removed", v.MCPServersRemoved, v.MCPServersRemoved == nil, always, encList(encString[string]))
	put(e, "lsp_tool_change", v.LSPToolChange, v.LSPToolChange == "", nullable, encString[LSPToolChange])
}

func (*CacheImpact) fresh() object { return new(CacheImpact) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *CacheImpact) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v CacheImpact) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// Staging tells what became of the files of a tool call.
type Staging struct {
	Source
	// All went well.
	OK bool `json:"ok"`

	// The files that were written.
	Outputs []StagedOutput `json:"outputs,omitempty"`

	// The files that were read.
	InputsUsed []StagedOutput `json:"inputs_used,omitempty"`

	// What went wrong.
	ErrorCode StagingError `json:"error_code,omitempty"`

	// More about it.
	Detail string `json:"detail,omitempty"`

	// It may work the next time.
	Retryable bool `json:"retryable,omitempty"`

	// It was refused too often.
	RefusalLimit bool `json:"refusal_limit,omitempty"`
}

func (v *Staging) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "ok":
		return setBool(d, &v.OK, raw)
	case "outputs":
		return setList(d, &v.Outputs, raw, setStruct[StagedOutput])
	case "inputs_used":
		return setList(d, &v.InputsUsed, raw, setStruct[StagedOutput])
	case "error_code":
		return setString[StagingError](d, &v.ErrorCode, raw)
	case "detail":
		return setString[string](d, &v.Detail, raw)
	case "retryable":
		return setBool(d, &v.Retryable, raw)
	case "refusal_limit":
		return setBool(d, &v.RefusalLimit, raw)
	}
	return false
}

func (v *Staging) appendMembers(e *encoder) {
	put(e, "ok", v.OK, !v.OK, always, encBool)
	put(e, "outputs", v.Outputs, v.Outputs == nil, optional, encList(encStruct[StagedOutput]))
	put(e, "inputs_used", v.InputsUsed, v.InputsUsed == nil, optional, encList(encStruct[StagedOutput]))
	put(e, "error_code", v.ErrorCode, v.ErrorCode == "", optional, encString[StagingError])
	put(e, "detail", v.Detail, v.Detail == "", optional, encString[string])
	put(e, "retryable", v.Retryable, !v.Retryable, optional, encBool)
	put(e, "refusal_limit", v.RefusalLimit, !v.RefusalLimit, optional, encBool)
}

func (*Staging) fresh() object { return new(Staging) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *Staging) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v Staging) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// StagedOutput is a file that was staged.
type StagedOutput struct {
	Source
	// Where it is kept.
	LanePath string `json:"lane_path"`

	// Its version.
	ETag string `json:"etag"`

	// Its size.
	Bytes int64 `json:"bytes,omitempty"`
}

func (v *StagedOutput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "lane_path":
		return setString[string](d, &v.LanePath, raw)
	case "etag":
		return setString[string](d, &v.ETag, raw)
	case "bytes":
		return setInt(d, &v.Bytes, raw)
	}
	return false
}

func (v *StagedOutput) appendMembers(e *encoder) {
	put(e, "lane_path", v.LanePath, v.LanePath == "", always, encString[string])
	put(e, "etag", v.ETag, v.ETag == "", always, encString[string])
	put(e, "bytes", v.Bytes, v.Bytes == 0, optional, encInt)
}

func (*StagedOutput) fresh() object { return new(StagedOutput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *StagedOutput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v StagedOutput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// HookCommon holds what every hook is told.
type HookCommon struct {
	// The conversation.
	SessionID string `json:"session_id"`

	// The transcript's file.
	TranscriptPath string `json:"transcript_path"`

	// The working directory.
	Cwd string `json:"cwd"`

	// The prompt being worked on. Newer versions only.
	PromptID string `json:"prompt_id,omitempty"`

	// The permission mode.
	PermissionMode PermissionMode `json:"permission_mode,omitempty"`

	// The sub-agent in which it happens. Newer versions only.
	AgentID string `json:"agent_id,omitempty"`

	// The kind of that agent. Newer versions only.
	AgentType string `json:"agent_type,omitempty"`

	// The effort. Newer versions only.
	Effort *HookEffort `json:"effort,omitempty"`
}

func (v *HookCommon) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	case "transcript_path":
		return setString[string](d, &v.TranscriptPath, raw)
	case "cwd":
		return setString[string](d, &v.Cwd, raw)
	case "prompt_id":
		return setString[string](d, &v.PromptID, raw)
	case "permission_mode":
		return setString[PermissionMode](d, &v.PermissionMode, raw)
	case "agent_id":
		return setString[string](d, &v.AgentID, raw)
	case "agent_type":
		return setString[string](d, &v.AgentType, raw)
	case "effort":
		return setPointer(d, &v.Effort, raw, setStruct[HookEffort])
	}
	return false
}

func (v *HookCommon) appendMembers(e *encoder) {
	put(e, "session_id", v.SessionID, v.SessionID == "", always, encString[string])
	put(e, "transcript_path", v.TranscriptPath, v.TranscriptPath == "", always, encString[string])
	put(e, "cwd", v.Cwd, v.Cwd == "", always, encString[string])
	put(e, "prompt_id", v.PromptID, v.PromptID == "", optional, encString[string])
	put(e, "permission_mode", v.PermissionMode, v.PermissionMode == "", optional, encString[PermissionMode])
	put(e, "agent_id", v.AgentID, v.AgentID == "", optional, encString[string])
	put(e, "agent_type", v.AgentType, v.AgentType == "", optional, encString[string])
	put(e, "effort", v.Effort, v.Effort == nil, optional, encPointer(encStruct[HookEffort]))
}

// HookEffort is the effort that a hook is told.
type HookEffort struct {
	Source
	// The level.
	Level Effort `json:"level"`
}

func (v *HookEffort) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "level":
		return setString[Effort](d, &v.Level, raw)
	}
	return false
}

func (v *HookEffort) appendMembers(e *encoder) {
	put(e, "level", v.Level, v.Level == "", always, encString[Effort])
}

func (*HookEffort) fresh() object { return new(HookEffort) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *HookEffort) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v HookEffort) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// BatchToolCall is one of several tool calls.
type BatchToolCall struct {
	Source
	// The tool.
	ToolName string `json:"tool_name"`

	// Its input.
	ToolInput json.RawMessage `json:"tool_input"`

	// The call.
	ToolUseID string `json:"tool_use_id"`

	// Its output.
	ToolResponse json.RawMessage `json:"tool_response,omitempty"`
}

func (v *BatchToolCall) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "tool_name":
		return setString[string](d, &v.ToolName, raw)
	case "tool_input":
		return setRaw(d, &v.ToolInput, raw)
	case "tool_use_id":
		return setString[string](d, &v.ToolUseID, raw)
	case "tool_response":
		return setRaw(d, &v.ToolResponse, raw)
	}
	return false
}

func (v *BatchToolCall) appendMembers(e *encoder) {
	put(e, "tool_name", v.ToolName, v.ToolName == "", always, encString[string])
	put(e, "tool_input", v.ToolInput, v.ToolInput == nil, always, encRaw)
	put(e, "tool_use_id", v.ToolUseID, v.ToolUseID == "", always, encString[string])
	put(e, "tool_response", v.ToolResponse, v.ToolResponse == nil, optional, encRaw)
}

func (*BatchToolCall) fresh() object { return new(BatchToolCall) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *BatchToolCall) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v BatchToolCall) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// BackgroundTaskSummary is a running task, as hooks are told.
type BackgroundTaskSummary struct {
	Source
	// The task.
	ID string `json:"id"`

	// Its kind.
	Type string `json:"type"`

	// Its state.
	Status TaskStatus `json:"status"`

	// What it does.
	Description string `json:"description"`

	// The command.
	Command string `json:"command,omitempty"`

	// The kind of sub-agent.
	AgentType string `json:"agent_type,omitempty"`

	// The MCP server.
	Server string `json:"server,omitempty"`

	// The MCP tool.
	Tool string `json:"tool,omitempty"`

	// Its name.
	Name string `json:"name,omitempty"`
}

func (v *BackgroundTaskSummary) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "id":
		return setString[string](d, &v.ID, raw)
	case "type":
		return setString[string](d, &v.Type, raw)
	case "status":
		return setString[TaskStatus](d, &v.Status, raw)
	case "description":
		return setString[string](d, &v.Description, raw)
	case "command":
		return setString[string](d, &v.Command, raw)
	case "agent_type":
		return setString[string](d, &v.AgentType, raw)
	case "server":
		return setString[string](d, &v.Server, raw)
	case "tool":
		return setString[string](d, &v.Tool, raw)
	case "name":
		return setString[string](d, &v.Name, raw)
	}
	return false
}

func (v *BackgroundTaskSummary) appendMembers(e *encoder) {
	put(e, "id", v.ID, v.ID == "", always, encString[string])
	put(e, "type", v.Type, v.Type == "", always, encString[string])
	put(e, "status", v.Status, v.Status == "", always, encString[TaskStatus])
	put(e, "description", v.Description, v.Description == "", always, encString[string])
	put(e, "command", v.Command, v.Command == "", optional, encString[string])
	put(e, "agent_type", v.AgentType, v.AgentType == "", optional, encString[string])
	put(e, "server", v.Server, v.Server == "", optional, encString[string])
	put(e, "tool", v.Tool, v.Tool == "", optional, encString[string])
	put(e, "name", v.Name, v.Name == "", optional, encString[string])
}

func (*BackgroundTaskSummary) fresh() object { return new(BackgroundTaskSummary) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *BackgroundTaskSummary) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v BackgroundTaskSummary) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// SessionCron is something scheduled in a session.
type SessionCron struct {
	Source
	// Its id.
	ID string `json:"id"`

	// When.
	Schedule string `json:"schedule"`

	// Again and again.
	Recurring bool `json:"recurring"`

	// What is asked.
	Prompt string `json:"prompt"`
}

func (v *SessionCron) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "id":
		return setString[string](d, &v.ID, raw)
	case "schedule":
		return setString[string](d, &v.Schedule, raw)
	case "recurring":
		return setBool(d, &v.Recurring, raw)
	case "prompt":
		return setString[string](d, &v.Prompt, raw)
	}
	return false
}

func (v *SessionCron) appendMembers(e *encoder) {
	put(e, "id", v.ID, v.ID == "", always, encString[string])
	put(e, "schedule", v.Schedule, v.Schedule == "", always, encString[string])
	put(e, "recurring", v.Recurring, !v.Recurring, always, encBool)
	put(e, "prompt", v.Prompt, v.Prompt == "", always, encString[string])
}

func (*SessionCron) fresh() object { return new(SessionCron) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *SessionCron) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v SessionCron) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// PermissionRule is one rule: a tool and, optionally, which of its calls.
type PermissionRule struct {
	Source
	// The tool, for example Bash.
	ToolName string `json:"toolName"`

	// What the call must match, for example "git status:*". Empty means every
	// call.
	RuleContent string `json:"ruleContent,omitempty"`
}

func (v *PermissionRule) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "toolName":
		return setString[string](d, &v.ToolName, raw)
	case "ruleContent":
		return setString[string](d, &v.RuleContent, raw)
	}
	return false
}

func (v *PermissionRule) appendMembers(e *encoder) {
	put(e, "toolName", v.ToolName, v.ToolName == "", always, encString[string])
	put(e, "ruleContent", v.RuleContent, v.RuleContent == "", optional, encString[string])
}

func (*PermissionRule) fresh() object { return new(PermissionRule) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *PermissionRule) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v PermissionRule) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// QuestionSet is the input of AskUserQuestion, and with the answers filled in,
// the updated input that answers it.
type QuestionSet struct {
	Source
	// The questions. An answer must repeat them: 2.1.325 refuses one without.
	Questions []Question `json:"questions"`

	// The answers, keyed by the question's text: a label, free text, or several
	// labels joined by ", ".
	Answers map[string]string `json:"answers,omitempty"`

	// Remarks on the answers, keyed by the question's text. Newer versions only.
	Annotations map[string]QuestionNote `json:"annotations,omitempty"`

	// A free reply in place of answers. Newer versions only.
	Response string `json:"response,omitempty"`
}

func (v *QuestionSet) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "questions":
		return setList(d, &v.Questions, raw, setStruct[Question])
	case "answers":
		return setMap(d, &v.Answers, raw, setString[string])
	case "annotations":
		return setMap(d, &v.Annotations, raw, setStruct[QuestionNote])
	case "response":
		return setString[string](d, &v.Response, raw)
	}
	return false
}

func (v *QuestionSet) appendMembers(e *encoder) {
	put(e, "questions", v.Questions, v.Questions == nil, always, encList(encStruct[Question]))
	put(e, "answers", v.Answers, v.Answers == nil, optional, encMap(encString[string]))
	put(e, "annotations", v.Annotations, v.Annotations == nil, optional, encMap(encStruct[QuestionNote]))
	put(e, "response", v.Response, v.Response == "", optional, encString[string])
}

func (*QuestionSet) fresh() object { return new(QuestionSet) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *QuestionSet) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v QuestionSet) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// Question is one question to the user.
type Question struct {
	Source
	// The text, which is also the key of its answer.
	Question string `json:"question"`

	// A short label.
	Header string `json:"header,omitempty"`

	// The choices offered.
	Options []QuestionOption `json:"options,omitempty"`

	// Several choices may be taken.
	MultiSelect bool `json:"multiSelect,omitempty"`
}

func (v *Question) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "question":
		return setString[string](d, &v.Question, raw)
	case "header":
		return setString[string](d, &v.Header, raw)
	case "options":
		return setList(d, &v.Options, raw, setStruct[QuestionOption])
	case "multiSelect":
		return setBool(d, &v.MultiSelect, raw)
	}
	return false
}

func (v *Question) appendMembers(e *encoder) {
	put(e, "question", v.Question, v.Question == "", always, encString[string])
	put(e, "header", v.Header, v.Header == "", optional, encString[string])
	put(e, "options", v.Options, v.Options == nil, optional, encList(encStruct[QuestionOption]))
	put(e, "multiSelect", v.MultiSelect, !v.MultiSelect, optional, encBool)
}

func (*Question) fresh() object { return new(Question) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *Question) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v Question) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// QuestionOption is one choice of a question.
type QuestionOption struct {
	Source
	// What is shown and answered.
	Label string `json:"label"`

	// What choosing it means.
	Description string `json:"description,omitempty"`

	// What choosing it would look like, as text or HTML. Newer versions only.
	Preview string `json:"preview,omitempty"`
}

func (v *QuestionOption) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "label":
		return setString[string](d, &v.Label, raw)
	case "description":
		return setString[string](d, &v.Description, raw)
	case "preview":
		return setString[string](d, &v.Preview, raw)
	}
	return false
}

func (v *QuestionOption) appendMembers(e *encoder) {
	put(e, "label", v.Label, v.Label == "", always, encString[string])
	put(e, "description", v.Description, v.Description == "", optional, encString[string])
	put(e, "preview", v.Preview, v.Preview == "", optional, encString[string])
}

func (*QuestionOption) fresh() object { return new(QuestionOption) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *QuestionOption) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v QuestionOption) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// QuestionNote is a remark on an answer.
type QuestionNote struct {
	Source
	// The user's own words.
	Notes string `json:"notes,omitempty"`

	// The preview that was shown with the choice.
	Preview string `json:"preview,omitempty"`
}

func (v *QuestionNote) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "notes":
		return setString[string](d, &v.Notes, raw)
	case "preview":
		return setString[string](d, &v.Preview, raw)
	}
	return false
}

func (v *QuestionNote) appendMembers(e *encoder) {
	put(e, "notes", v.Notes, v.Notes == "", optional, encString[string])
	put(e, "preview", v.Preview, v.Preview == "", optional, encString[string])
}

func (*QuestionNote) fresh() object { return new(QuestionNote) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *QuestionNote) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v QuestionNote) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// PlanExit is the input of ExitPlanMode. It is empty where no plan file
// exists.
type PlanExit struct {
	Source
	// The plan, which the CLI fills in from its file.
	Plan string `json:"plan,omitempty"`

	// The plan's file. Known since 2.1.120.
	PlanFilePath string `json:"planFilePath,omitempty"`

	// Permissions the plan asks for.
	AllowedPrompts []AllowedPrompt `json:"allowedPrompts,omitempty"`
}

func (v *PlanExit) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "plan":
		return setString[string](d, &v.Plan, raw)
	case "planFilePath":
		return setString[string](d, &v.PlanFilePath, raw)
	case "allowedPrompts":
		return setList(d, &v.AllowedPrompts, raw, setStruct[AllowedPrompt])
	}
	return false
}

func (v *PlanExit) appendMembers(e *encoder) {
	put(e, "plan", v.Plan, v.Plan == "", optional, encString[string])
	put(e, "planFilePath", v.PlanFilePath, v.PlanFilePath == "", optional, encString[string])
	put(e, "allowedPrompts", v.AllowedPrompts, v.AllowedPrompts == nil, optional, encList(encStruct[AllowedPrompt]))
}

func (*PlanExit) fresh() object { return new(PlanExit) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *PlanExit) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v PlanExit) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// AllowedPrompt is one permission that a plan asks for.
type AllowedPrompt struct {
	Source
	// The tool.
	Tool string `json:"tool"`

	// What it would be used for.
	Prompt string `json:"prompt"`
}

func (v *AllowedPrompt) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "tool":
		return setString[string](d, &v.Tool, raw)
	case "prompt":
		return setString[string](d, &v.Prompt, raw)
	}
	return false
}

func (v *AllowedPrompt) appendMembers(e *encoder) {
	put(e, "tool", v.Tool, v.Tool == "", always, encString[string])
	put(e, "prompt", v.Prompt, v.Prompt == "", always, encString[string])
}

func (*AllowedPrompt) fresh() object { return new(AllowedPrompt) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *AllowedPrompt) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v AllowedPrompt) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// JSONRPC is a JSON-RPC 2.0 message: a request, a notification, a result or an
// error.
type JSONRPC struct {
	Source
	// Always 2.0.
	Version string `json:"jsonrpc"`

	// The request, a number or a string. Absent for notifications.
	ID json.RawMessage `json:"id,omitempty"`

	// What a request or a notification is about.
	Method string `json:"method,omitempty"`

	// Its parameters.
	Params json.RawMessage `json:"params,omitempty"`

	// The result of a request.
	Result json.RawMessage `json:"result,omitempty"`

	// The error of a request.
	Error *JSONRPCError `json:"error,omitempty"`
}

func (v *JSONRPC) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "jsonrpc":
		return setString[string](d, &v.Version, raw)
	case "id":
		return setRaw(d, &v.ID, raw)
	case "method":
		return setString[string](d, &v.Method, raw)
	case "params":
		return setRaw(d, &v.Params, raw)
	case "result":
		return setRaw(d, &v.Result, raw)
	case "error":
		return setPointer(d, &v.Error, raw, setStruct[JSONRPCError])
	}
	return false
}

func (v *JSONRPC) appendMembers(e *encoder) {
	put(e, "jsonrpc", v.Version, v.Version == "", always, encString[string])
	put(e, "id", v.ID, v.ID == nil, optional, encRaw)
	put(e, "method", v.Method, v.Method == "", optional, encString[string])
	put(e, "params", v.Params, v.Params == nil, optional, encRaw)
	put(e, "result", v.Result, v.Result == nil, optional, encRaw)
	put(e, "error", v.Error, v.Error == nil, optional, encPointer(encStruct[JSONRPCError]))
}

func (*JSONRPC) fresh() object { return new(JSONRPC) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *JSONRPC) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v JSONRPC) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// JSONRPCError is the error of a JSON-RPC request.
type JSONRPCError struct {
	Source
	// Its code.
	Code int64 `json:"code"`

	// Its text.
	Message string `json:"message"`

	// More about it.
	Data json.RawMessage `json:"data,omitempty"`
}

func (v *JSONRPCError) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "code":
		return setInt(d, &v.Code, raw)
	case "message":
		return setString[string](d, &v.Message, raw)
	case "data":
		return setRaw(d, &v.Data, raw)
	}
	return false
}

func (v *JSONRPCError) appendMembers(e *encoder) {
	put(e, "code", v.Code, v.Code == 0, always, encInt)
	put(e, "message", v.Message, v.Message == "", always, encString[string])
	put(e, "data", v.Data, v.Data == nil, optional, encRaw)
}

func (*JSONRPCError) fresh() object { return new(JSONRPCError) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *JSONRPCError) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v JSONRPCError) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// MCPServerConfig tells how to reach an MCP server. Which members are set
// depends on the type.
type MCPServerConfig struct {
	Source
	// The way. If empty, stdio.
	Type MCPTransport `json:"type,omitempty"`

	// The program, for stdio.
	Command string `json:"command,omitempty"`

	// Its arguments.
	Args []string `json:"args,omitempty"`

	// Its environment.
	Env map[string]string `json:"env,omitempty"`

	// The address, for sse and http.
	URL string `json:"url,omitempty"`

	// Headers to send to it.
	Headers map[string]string `json:"headers,omitempty"`

	// The server's name, for sdk.
	Name string `json:"name,omitempty"`

	// The connector, for claudeai-proxy.
	ID string `json:"id,omitempty"`

	// What its tools may do. Newer versions only.
	Tools []MCPToolPolicy `json:"tools,omitempty"`

	// Milliseconds to wait for a tool. Newer versions only.
	Timeout float64 `json:"timeout,omitempty"`

	// Load its tools at once instead of on demand. Newer versions only.
	AlwaysLoad bool `json:"alwaysLoad,omitempty"`
}

func (v *MCPServerConfig) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return setString[MCPTransport](d, &v.Type, raw)
	case "command":
		return setString[string](d, &v.Command, raw)
	case "args":
		return setList(d, &v.Args, raw, setString[string])
	case "env":
		return setMap(d, &v.Env, raw, setString[string])
	case "url":
		return setString[string](d, &v.URL, raw)
	case "headers":
		return setMap(d, &v.Headers, raw, setString[string])
	case "name":
		return setString[string](d, &v.Name, raw)
	case "id":
		return setString[string](d, &v.ID, raw)
	case "tools":
		return setList(d, &v.Tools, raw, setStruct[MCPToolPolicy])
	case "timeout":
		return setNum(d, &v.Timeout, raw)
	case "alwaysLoad":
		return setBool(d, &v.AlwaysLoad, raw)
	}
	return false
}

func (v *MCPServerConfig) appendMembers(e *encoder) {
	put(e, "type", v.Type, v.Type == "", optional, encString[MCPTransport])
	put(e, "command", v.Command, v.Command == "", optional, encString[string])
	put(e, "args", v.Args, v.Args == nil, optional, encList(encString[string]))
	put(e, "env", v.Env, v.Env == nil, optional, encMap(encString[string]))
	put(e, "url", v.URL, v.URL == "", optional, encString[string])
	put(e, "headers", v.Headers, v.Headers == nil, optional, encMap(encString[string]))
	put(e, "name", v.Name, v.Name == "", optional, encString[string])
	put(e, "id", v.ID, v.ID == "", optional, encString[string])
	put(e, "tools", v.Tools, v.Tools == nil, optional, encList(encStruct[MCPToolPolicy]))
	put(e, "timeout", v.Timeout, v.Timeout == 0, optional, encNum)
	put(e, "alwaysLoad", v.AlwaysLoad, !v.AlwaysLoad, optional, encBool)
}

func (*MCPServerConfig) fresh() object { return new(MCPServerConfig) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *MCPServerConfig) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v MCPServerConfig) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// MCPToolPolicy is the host's policy for a tool of an MCP server.
type MCPToolPolicy struct {
	Source
	// The tool.
	Name string `json:"name"`

	// The policy.
	PermissionPolicy ToolPolicy `json:"permission_policy,omitempty"`

	// The most that the organisation allows.
	OrgMaxPermission OrgPermission `json:"org_max_permission,omitempty"`
}

func (v *MCPToolPolicy) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "name":
		return setString[string](d, &v.Name, raw)
	case "permission_policy":
		return setString[ToolPolicy](d, &v.PermissionPolicy, raw)
	case "org_max_permission":
		return setString[OrgPermission](d, &v.OrgMaxPermission, raw)
	}
	return false
}

func (v *MCPToolPolicy) appendMembers(e *encoder) {
	put(e, "name", v.Name, v.Name == "", always, encString[string])
	put(e, "permission_policy", v.PermissionPolicy, v.PermissionPolicy == "", optional, encString[ToolPolicy])
	put(e, "org_max_permission", v.OrgMaxPermission, v.OrgMaxPermission == "", optional, encString[OrgPermission])
}

func (*MCPToolPolicy) fresh() object { return new(MCPToolPolicy) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *MCPToolPolicy) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v MCPToolPolicy) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// MCPServerRef names the MCP server that a tool belongs to.
type MCPServerRef struct {
	Source
	// The server.
	Name string `json:"name"`

	// Where it is configured, for example sdk.
	Origin string `json:"source"`
}

func (v *MCPServerRef) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "name":
		return setString[string](d, &v.Name, raw)
	case "source":
		return setString[string](d, &v.Origin, raw)
	}
	return false
}

func (v *MCPServerRef) appendMembers(e *encoder) {
	put(e, "name", v.Name, v.Name == "", always, encString[string])
	put(e, "source", v.Origin, v.Origin == "", always, encString[string])
}

func (*MCPServerRef) fresh() object { return new(MCPServerRef) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *MCPServerRef) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v MCPServerRef) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// MCPServerStatus is the state of an MCP server.
type MCPServerStatus struct {
	Source
	// The server.
	Name string `json:"name"`

	// The state of the connection.
	Status MCPServerState `json:"status"`

	// What the server says about itself.
	ServerInfo *MCPServerInfo `json:"serverInfo,omitempty"`

	// Why it failed.
	Error string `json:"error,omitempty"`

	// How it is reached.
	Config *MCPServerConfig `json:"config,omitempty"`

	// The way it is reached. Seen on 2.1.325, undocumented.
	Transport MCPTransport `json:"transport,omitempty"`

	// The layer it is configured in, for example dynamic.
	Scope string `json:"scope,omitempty"`

	// Where it is configured.
	Origin string `json:"source,omitempty"`

	// Its tools.
	Tools []MCPTool `json:"tools,omitempty"`
}

func (v *MCPServerStatus) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "name":
		return setString[string](d, &v.Name, raw)
	case "status":
		return setString[MCPServerState](d, &v.Status, raw)
	case "serverInfo":
		return setPointer(d, &v.ServerInfo, raw, setStruct[MCPServerInfo])
	case "error":
		return setString[string](d, &v.Error, raw)
	case "config":
		return setPointer(d, &v.Config, raw, setStruct[MCPServerConfig])
	case "transport":
		return setString[MCPTransport](d, &v.Transport, raw)
	case "scope":
		return setString[string](d, &v.Scope, raw)
	case "source":
		return setString[string](d, &v.Origin, raw)
	case "tools":
		return setList(d, &v.Tools, raw, setStruct[MCPTool])
	}
	return false
}

func (v *MCPServerStatus) appendMembers(e *encoder) {
	put(e, "name", v.Name, v.Name == "", always, encString[string])
	put(e, "status", v.Status, v.Status == "", always, encString[MCPServerState])
	put(e, "serverInfo", v.ServerInfo, v.ServerInfo == nil, optional, encPointer(encStruct[MCPServerInfo]))
	put(e, "error", v.Error, v.Error == "", optional, encString[string])
	put(e, "config", v.Config, v.Config == nil, optional, encPointer(encStruct[MCPServerConfig]))
	put(e, "transport", v.Transport, v.Transport == "", optional, encString[MCPTransport])
	put(e, "scope", v.Scope, v.Scope == "", optional, encString[string])
	put(e, "source", v.Origin, v.Origin == "", optional, encString[string])
	put(e, "tools", v.Tools, v.Tools == nil, optional, encList(encStruct[MCPTool]))
}

func (*MCPServerStatus) fresh() object { return new(MCPServerStatus) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *MCPServerStatus) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v MCPServerStatus) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// MCPServerInfo is what an MCP server says about itself.
type MCPServerInfo struct {
	Source
	// Its name.
	Name string `json:"name"`

	// Its version.
	Version string `json:"version"`

	// Its name for people.
	Title string `json:"title,omitempty"`
}

func (v *MCPServerInfo) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "name":
		return setString[string](d, &v.Name, raw)
	case "version":
		return setString[string](d, &v.Version, raw)
	case "title":
		return setString[string](d, &v.Title, raw)
	}
	return false
}

func (v *MCPServerInfo) appendMembers(e *encoder) {
	put(e, "name", v.Name, v.Name == "", always, encString[string])
	put(e, "version", v.Version, v.Version == "", always, encString[string])
	put(e, "title", v.Title, v.Title == "", optional, encString[string])
}

func (*MCPServerInfo) fresh() object { return new(MCPServerInfo) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *MCPServerInfo) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v MCPServerInfo) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// MCPTool is a tool of an MCP server.
type MCPTool struct {
	Source
	// Its name.
	Name string `json:"name"`

	// What it does.
	Description string `json:"description,omitempty"`

	// What it may do.
	Annotations *MCPToolAnnotations `json:"annotations,omitempty"`

	// Notes of the server.
	Meta json.RawMessage `json:"_meta,omitempty"`
}

func (v *MCPTool) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "name":
		return setString[string](d, &v.Name, raw)
	case "description":
		return setString[string](d, &v.Description, raw)
	case "annotations":
		return setPointer(d, &v.Annotations, raw, setStruct[MCPToolAnnotations])
	case "_meta":
		return setRaw(d, &v.Meta, raw)
	}
	return false
}

func (v *MCPTool) appendMembers(e *encoder) {
	put(e, "name", v.Name, v.Name == "", always, encString[string])
	put(e, "description", v.Description, v.Description == "", optional, encString[string])
	put(e, "annotations", v.Annotations, v.Annotations == nil, optional, encPointer(encStruct[MCPToolAnnotations]))
	put(e, "_meta", v.Meta, v.Meta == nil, optional, encRaw)
}

func (*MCPTool) fresh() object { return new(MCPTool) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *MCPTool) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v MCPTool) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// MCPToolAnnotations tells what a tool may do, in the server's own words.
type MCPToolAnnotations struct {
	Source
	// It changes nothing.
	ReadOnly *bool `json:"readOnly,omitempty"`

	// It may destroy something.
	Destructive *bool `json:"destructive,omitempty"`

	// It reaches beyond the machine.
	OpenWorld *bool `json:"openWorld,omitempty"`
}

func (v *MCPToolAnnotations) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "readOnly":
		return setPointer(d, &v.ReadOnly, raw, setBool)
	case "destructive":
		return setPointer(d, &v.Destructive, raw, setBool)
	case "openWorld":
		return setPointer(d, &v.OpenWorld, raw, setBool)
	}
	return false
}

func (v *MCPToolAnnotations) appendMembers(e *encoder) {
	put(e, "readOnly", v.ReadOnly, v.ReadOnly == nil, optional, encPointer(encBool))
	put(e, "destructive", v.Destructive, v.Destructive == nil, optional, encPointer(encBool))
	put(e, "openWorld", v.OpenWorld, v.OpenWorld == nil, optional, encPointer(encBool))
}

func (*MCPToolAnnotations) fresh() object { return new(MCPToolAnnotations) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *MCPToolAnnotations) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v MCPToolAnnotations) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// MCPResource is a part of a resource.
type MCPResource struct {
	Source
	// The resource.
	URI string `json:"uri"`

	// Its media type.
	MimeType string `json:"mimeType,omitempty"`

	// Its contents as text.
	Text string `json:"text,omitempty"`

	// Its contents in base64.
	Blob string `json:"blob,omitempty"`

	// Notes of the server.
	Meta json.RawMessage `json:"_meta,omitempty"`
}

func (v *MCPResource) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "uri":
		return setString[string](d, &v.URI, raw)
	case "mimeType":
		return setString[string](d, &v.MimeType, raw)
	case "text":
		return setString[string](d, &v.Text, raw)
	case "blob":
		return setString[string](d, &v.Blob, raw)
	case "_meta":
		return setRaw(d, &v.Meta, raw)
	}
	return false
}

func (v *MCPResource) appendMembers(e *encoder) {
	put(e, "uri", v.URI, v.URI == "", always, encString[string])
	put(e, "mimeType", v.MimeType, v.MimeType == "", optional, encString[string])
	put(e, "text", v.Text, v.Text == "", optional, encString[string])
	put(e, "blob", v.Blob, v.Blob == "", optional, encString[string])
	put(e, "_meta", v.Meta, v.Meta == nil, optional, encRaw)
}

func (*MCPResource) fresh() object { return new(MCPResource) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *MCPResource) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v MCPResource) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// MCPResourceLink points to a resource.
type MCPResourceLink struct {
	Source
	// The resource.
	URI string `json:"uri"`

	// Its name.
	Name string `json:"name"`

	// Its name for people.
	Title string `json:"title,omitempty"`

	// What it is.
	Description string `json:"description,omitempty"`

	// Its media type.
	MimeType string `json:"mimeType,omitempty"`

	// Its size in bytes.
	Size float64 `json:"size,omitempty"`

	// Notes of the server.
	Annotations json.RawMessage `json:"annotations,omitempty"`
}

func (v *MCPResourceLink) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "uri":
		return setString[string](d, &v.URI, raw)
	case "name":
		return setString[string](d, &v.Name, raw)
	case "title":
		return setString[string](d, &v.Title, raw)
	case "description":
		return setString[string](d, &v.Description, raw)
	case "mimeType":
		return setString[string](d, &v.MimeType, raw)
	case "size":
		return setNum(d, &v.Size, raw)
	case "annotations":
		return setRaw(d, &v.Annotations, raw)
	}
	return false
}

func (v *MCPResourceLink) appendMembers(e *encoder) {
	put(e, "uri", v.URI, v.URI == "", always, encString[string])
	put(e, "name", v.Name, v.Name == "", always, encString[string])
	put(e, "title", v.Title, v.Title == "", optional, encString[string])
	put(e, "description", v.Description, v.Description == "", optional, encString[string])
	put(e, "mimeType", v.MimeType, v.MimeType == "", optional, encString[string])
	put(e, "size", v.Size, v.Size == 0, optional, encNum)
	put(e, "annotations", v.Annotations, v.Annotations == nil, optional, encRaw)
}

func (*MCPResourceLink) fresh() object { return new(MCPResourceLink) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *MCPResourceLink) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v MCPResourceLink) MarshalJSON() ([]byte, error) { return encodeObject(&v) }
