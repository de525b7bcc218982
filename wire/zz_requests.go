// Code generated from schema/*.wire by wire/internal/gen. DO NOT EDIT.

package wire

import "encoding/json"

// InitializeRequest sets up the session. It must be the first line: versions
// up to 2.1.120 refuse it after a user message. Sent again it tells which
// questions are open.
type InitializeRequest struct {
	Source
	// The hooks, keyed by event. An empty object sent again removes all of them,
	// so leave it out instead.
	Hooks map[string][]HookMatcher `json:"hooks,omitempty"`

	// Names of MCP servers that the host serves through mcp_message.
	SDKMCPServers []string `json:"sdkMcpServers,omitempty"`

	// More about them, keyed by name. Newer versions only.
	SDKMCPServerConfigs map[string]SDKMCPServerConfig `json:"sdkMcpServerConfigs,omitempty"`

	// Their handshakes, done in advance, keyed by name. Newer versions only.
	SDKMCPServerManifests map[string]SDKMCPServerManifest `json:"sdkMcpServerManifests,omitempty"`

	// How fresh the manifests are: host_per_send. Newer versions only.
	SDKMCPServerManifestsOrigin string `json:"sdkMcpServerManifestsOrigin,omitempty"`

	// The JSON schema that the final output has to follow.
	JSONSchema json.RawMessage `json:"jsonSchema,omitempty"`

	// The system prompt: a string in 2.1.37, a list of strings in 2.1.325.
	SystemPrompt json.RawMessage `json:"systemPrompt,omitempty"`

	// Text to add to the system prompt.
	AppendSystemPrompt string `json:"appendSystemPrompt,omitempty"`

	// Keep the system prompt as it is now. Newer versions only.
	SystemPromptSnapshot bool `json:"systemPromptSnapshot,omitempty"`

	// Instructions for plan mode. Newer versions only.
	PlanModeInstructions string `json:"planModeInstructions,omitempty"`

	// Other names for tools. Newer versions only.
	ToolAliases map[string]string `json:"toolAliases,omitempty"`

	// Leave out the parts of the system prompt that change. Newer versions only.
	ExcludeDynamicSections bool `json:"excludeDynamicSections,omitempty"`

	// Custom agents, keyed by name.
	Agents map[string]AgentDefinition `json:"agents,omitempty"`

	// The session's title. Newer versions only.
	Title string `json:"title,omitempty"`

	// The skills to offer. Newer versions only.
	Skills []string `json:"skills,omitempty"`

	// Send guesses of the next prompt. Newer versions only.
	PromptSuggestions bool `json:"promptSuggestions,omitempty"`

	// Sum up what sub-agents do. Newer versions only.
	AgentProgressSummaries bool `json:"agentProgressSummaries,omitempty"`

	// Send the texts of sub-agents too. Newer versions only.
	ForwardSubagentText bool `json:"forwardSubagentText,omitempty"`

	// The kinds of dialogs that the host can show. No others are sent. Newer
	// versions only.
	SupportedDialogKinds []string `json:"supportedDialogKinds,omitempty"`

	// The host lets the user stop single tasks. Newer versions only.
	PerTaskStopAffordance bool `json:"perTaskStopAffordance,omitempty"`

	// Plugins to load. Newer versions only.
	Plugins []PluginConfig `json:"plugins,omitempty"`
}

func (v *InitializeRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	case "hooks":
		return setMap(d, &v.Hooks, raw, func(d *decoder, dst *[]HookMatcher, raw value) bool {
			return setList(d, dst, raw, setStruct[HookMatcher])
		})
	case "sdkMcpServers":
		return setList(d, &v.SDKMCPServers, raw, setString[string])
	case "sdkMcpServerConfigs":
		return setMap(d, &v.SDKMCPServerConfigs, raw, setStruct[SDKMCPServerConfig])
	case "sdkMcpServerManifests":
		return setMap(d, &v.SDKMCPServerManifests, raw, setStruct[SDKMCPServerManifest])
	case "sdkMcpServerManifestsOrigin":
		return setString[string](d, &v.SDKMCPServerManifestsOrigin, raw)
	case "jsonSchema":
		return setRaw(d, &v.JSONSchema, raw)
	case "systemPrompt":
		return setRaw(d, &v.SystemPrompt, raw)
	case "appendSystemPrompt":
		return setString[string](d, &v.AppendSystemPrompt, raw)
	case "systemPromptSnapshot":
		return setBool(d, &v.SystemPromptSnapshot, raw)
	case "planModeInstructions":
		return setString[string](d, &v.PlanModeInstructions, raw)
	case "toolAliases":
		return setMap(d, &v.ToolAliases, raw, setString[string])
	case "excludeDynamicSections":
		return setBool(d, &v.ExcludeDynamicSections, raw)
	case "agents":
		return setMap(d, &v.Agents, raw, setStruct[AgentDefinition])
	case "title":
		return setString[string](d, &v.Title, raw)
	case "skills":
		return setList(d, &v.Skills, raw, setString[string])
	case "promptSuggestions":
		return setBool(d, &v.PromptSuggestions, raw)
	case "agentProgressSummaries":
		return setBool(d, &v.AgentProgressSummaries, raw)
	case "forwardSubagentText":
		return setBool(d, &v.ForwardSubagentText, raw)
	case "supportedDialogKinds":
		return setList(d, &v.SupportedDialogKinds, raw, setString[string])
	case "perTaskStopAffordance":
		return setBool(d, &v.PerTaskStopAffordance, raw)
	case "plugins":
		return setList(d, &v.Plugins, raw, setStruct[PluginConfig])
	}
	return false
}

func (v *InitializeRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"initialize"`))
	put(e, "hooks", v.Hooks, v.Hooks == nil, optional, encMap(encList(encStruct[HookMatcher])))
	put(e, "sdkMcpServers", v.SDKMCPServers, v.SDKMCPServers == nil, optional, encList(encString[string]))
	put(e, "sdkMcpServerConfigs", v.SDKMCPServerConfigs, v.SDKMCPServerConfigs == nil, optional, encMap(encStruct[SDKMCPServerConfig]))
	put(e, "sdkMcpServerManifests", v.SDKMCPServerManifests, v.SDKMCPServerManifests == nil, optional, encMap(encStruct[SDKMCPServerManifest]))
	put(e, "sdkMcpServerManifestsOrigin", v.SDKMCPServerManifestsOrigin, v.SDKMCPServerManifestsOrigin == "", optional, encString[string])
	put(e, "jsonSchema", v.JSONSchema, v.JSONSchema == nil, optional, encRaw)
	put(e, "systemPrompt", v.SystemPrompt, v.SystemPrompt == nil, optional, encRaw)
	put(e, "appendSystemPrompt", v.AppendSystemPrompt, v.AppendSystemPrompt == "", optional, encString[string])
	put(e, "systemPromptSnapshot", v.SystemPromptSnapshot, !v.SystemPromptSnapshot, optional, encBool)
	put(e, "planModeInstructions", v.PlanModeInstructions, v.PlanModeInstructions == "", optional, encString[string])
	put(e, "toolAliases", v.ToolAliases, v.ToolAliases == nil, optional, encMap(encString[string]))
	put(e, "excludeDynamicSections", v.ExcludeDynamicSections, !v.ExcludeDynamicSections, optional, encBool)
	put(e, "agents", v.Agents, v.Agents == nil, optional, encMap(encStruct[AgentDefinition]))
	put(e, "title", v.Title, v.Title == "", optional, encString[string])
	put(e, "skills", v.Skills, v.Skills == nil, optional, encList(encString[string]))
	put(e, "promptSuggestions", v.PromptSuggestions, !v.PromptSuggestions, optional, encBool)
	put(e, "agentProgressSummaries", v.AgentProgressSummaries, !v.AgentProgressSummaries, optional, encBool)
	put(e, "forwardSubagentText", v.ForwardSubagentText, !v.ForwardSubagentText, optional, encBool)
	put(e, "supportedDialogKinds", v.SupportedDialogKinds, v.SupportedDialogKinds == nil, optional, encList(encString[string]))
	put(e, "perTaskStopAffordance", v.PerTaskStopAffordance, !v.PerTaskStopAffordance, optional, encBool)
	put(e, "plugins", v.Plugins, v.Plugins == nil, optional, encList(encStruct[PluginConfig]))
}

func (*InitializeRequest) fresh() object { return new(InitializeRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *InitializeRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v InitializeRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*InitializeRequest) request() {}

// RequestSubtype returns "initialize".
func (*InitializeRequest) RequestSubtype() string { return "initialize" }

// InterruptRequest stops the running turn. When nothing runs it does no harm.
type InterruptRequest struct {
	Source
	// Also drops the messages that are waiting. Newer versions only; older ones
	// run them next.
	CancelQueued bool `json:"cancel_queued,omitempty"`
}

func (v *InterruptRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	case "cancel_queued":
		return setBool(d, &v.CancelQueued, raw)
	}
	return false
}

func (v *InterruptRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"interrupt"`))
	put(e, "cancel_queued", v.CancelQueued, !v.CancelQueued, optional, encBool)
}

func (*InterruptRequest) fresh() object { return new(InterruptRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *InterruptRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v InterruptRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*InterruptRequest) request() {}

// RequestSubtype returns "interrupt".
func (*InterruptRequest) RequestSubtype() string { return "interrupt" }

// EndSessionRequest ends the process with code 0.
type EndSessionRequest struct {
	Source
	// Why.
	Reason string `json:"reason,omitempty"`
}

func (v *EndSessionRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	case "reason":
		return setString[string](d, &v.Reason, raw)
	}
	return false
}

func (v *EndSessionRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"end_session"`))
	put(e, "reason", v.Reason, v.Reason == "", optional, encString[string])
}

func (*EndSessionRequest) fresh() object { return new(EndSessionRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *EndSessionRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v EndSessionRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*EndSessionRequest) request() {}

// RequestSubtype returns "end_session".
func (*EndSessionRequest) RequestSubtype() string { return "end_session" }

// SetPermissionModeRequest changes the permission mode. 2.1.37 answers twice.
type SetPermissionModeRequest struct {
	Source
	// The new mode. Versions up to 2.1.62 accept any string; 2.1.325 checks it.
	Mode PermissionMode `json:"mode"`
}

func (v *SetPermissionModeRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	case "mode":
		return setString[PermissionMode](d, &v.Mode, raw)
	}
	return false
}

func (v *SetPermissionModeRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"set_permission_mode"`))
	put(e, "mode", v.Mode, v.Mode == "", always, encString[PermissionMode])
}

func (*SetPermissionModeRequest) fresh() object { return new(SetPermissionModeRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *SetPermissionModeRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v SetPermissionModeRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*SetPermissionModeRequest) request() {}

// RequestSubtype returns "set_permission_mode".
func (*SetPermissionModeRequest) RequestSubtype() string { return "set_permission_mode" }

// SetModelRequest changes the model, from the next request to the API on.
type SetModelRequest struct {
	Source
	// The model. Empty means the default. Any name is accepted; a wrong one fails
	// at the next request to the API.
	Model string `json:"model,omitempty"`
}

func (v *SetModelRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	case "model":
		return setString[string](d, &v.Model, raw)
	}
	return false
}

func (v *SetModelRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"set_model"`))
	put(e, "model", v.Model, v.Model == "", optional, encString[string])
}

func (*SetModelRequest) fresh() object { return new(SetModelRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *SetModelRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v SetModelRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*SetModelRequest) request() {}

// RequestSubtype returns "set_model".
func (*SetModelRequest) RequestSubtype() string { return "set_model" }

// SetMaxThinkingTokensRequest limits how much the model thinks.
type SetMaxThinkingTokensRequest struct {
	Source
	// The limit; nil or 0 turns thinking off on 2.1.37.
	MaxThinkingTokens *int64 `json:"max_thinking_tokens"`

	// How much of it is shown. Newer versions only.
	ThinkingDisplay ThinkingDisplay `json:"thinking_display,omitempty"`
}

func (v *SetMaxThinkingTokensRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	case "max_thinking_tokens":
		return setPointer(d, &v.MaxThinkingTokens, raw, setInt)
	case "thinking_display":
		return setString[ThinkingDisplay](d, &v.ThinkingDisplay, raw)
	}
	return false
}

func (v *SetMaxThinkingTokensRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"set_max_thinking_tokens"`))
	put(e, "max_thinking_tokens", v.MaxThinkingTokens, v.MaxThinkingTokens == nil, always, encPointer(encInt))
	put(e, "thinking_display", v.ThinkingDisplay, v.ThinkingDisplay == "", optional, encString[ThinkingDisplay])
}

func (*SetMaxThinkingTokensRequest) fresh() object { return new(SetMaxThinkingTokensRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *SetMaxThinkingTokensRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v SetMaxThinkingTokensRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*SetMaxThinkingTokensRequest) request() {}

// RequestSubtype returns "set_max_thinking_tokens".
func (*SetMaxThinkingTokensRequest) RequestSubtype() string { return "set_max_thinking_tokens" }

// ApplyFlagSettingsRequest merges settings into the layer of the command line.
type ApplyFlagSettingsRequest struct {
	Source
	// The settings.
	Settings json.RawMessage `json:"settings"`
}

func (v *ApplyFlagSettingsRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	case "settings":
		return setRaw(d, &v.Settings, raw)
	}
	return false
}

func (v *ApplyFlagSettingsRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"apply_flag_settings"`))
	put(e, "settings", v.Settings, v.Settings == nil, always, encRaw)
}

func (*ApplyFlagSettingsRequest) fresh() object { return new(ApplyFlagSettingsRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ApplyFlagSettingsRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ApplyFlagSettingsRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ApplyFlagSettingsRequest) request() {}

// RequestSubtype returns "apply_flag_settings".
func (*ApplyFlagSettingsRequest) RequestSubtype() string { return "apply_flag_settings" }

// GetSettingsRequest asks for the settings in force and where they come from.
type GetSettingsRequest struct {
	Source
}

func (v *GetSettingsRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	}
	return false
}

func (v *GetSettingsRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"get_settings"`))
}

func (*GetSettingsRequest) fresh() object { return new(GetSettingsRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *GetSettingsRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v GetSettingsRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*GetSettingsRequest) request() {}

// RequestSubtype returns "get_settings".
func (*GetSettingsRequest) RequestSubtype() string { return "get_settings" }

// UpdateSettingsRequest writes settings into a file. Most keys are refused.
type UpdateSettingsRequest struct {
	Source
	// The file: localSettings or userSettings.
	Target SettingsSource `json:"source"`

	// The settings.
	Settings json.RawMessage `json:"settings"`
}

func (v *UpdateSettingsRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	case "source":
		return setString[SettingsSource](d, &v.Target, raw)
	case "settings":
		return setRaw(d, &v.Settings, raw)
	}
	return false
}

func (v *UpdateSettingsRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"update_settings"`))
	put(e, "source", v.Target, v.Target == "", always, encString[SettingsSource])
	put(e, "settings", v.Settings, v.Settings == nil, always, encRaw)
}

func (*UpdateSettingsRequest) fresh() object { return new(UpdateSettingsRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *UpdateSettingsRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v UpdateSettingsRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*UpdateSettingsRequest) request() {}

// RequestSubtype returns "update_settings".
func (*UpdateSettingsRequest) RequestSubtype() string { return "update_settings" }

// RenameSessionRequest gives the session a title.
type RenameSessionRequest struct {
	Source
	// The title.
	Title string `json:"title"`

	// What renames it.
	Origin RenameSource `json:"source,omitempty"`

	// The conversation.
	SessionID string `json:"session_id,omitempty"`
}

func (v *RenameSessionRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	case "title":
		return setString[string](d, &v.Title, raw)
	case "source":
		return setString[RenameSource](d, &v.Origin, raw)
	case "session_id":
		return setString[string](d, &v.SessionID, raw)
	}
	return false
}

func (v *RenameSessionRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"rename_session"`))
	put(e, "title", v.Title, v.Title == "", always, encString[string])
	put(e, "source", v.Origin, v.Origin == "", optional, encString[RenameSource])
	put(e, "session_id", v.SessionID, v.SessionID == "", optional, encString[string])
}

func (*RenameSessionRequest) fresh() object { return new(RenameSessionRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *RenameSessionRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v RenameSessionRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*RenameSessionRequest) request() {}

// RequestSubtype returns "rename_session".
func (*RenameSessionRequest) RequestSubtype() string { return "rename_session" }

// GenerateSessionTitleRequest has a title made up for the session.
type GenerateSessionTitleRequest struct {
	Source
	// What the session is about.
	Description string `json:"description"`

	// Also keep it.
	Persist bool `json:"persist,omitempty"`
}

func (v *GenerateSessionTitleRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	case "description":
		return setString[string](d, &v.Description, raw)
	case "persist":
		return setBool(d, &v.Persist, raw)
	}
	return false
}

func (v *GenerateSessionTitleRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"generate_session_title"`))
	put(e, "description", v.Description, v.Description == "", always, encString[string])
	put(e, "persist", v.Persist, !v.Persist, optional, encBool)
}

func (*GenerateSessionTitleRequest) fresh() object { return new(GenerateSessionTitleRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *GenerateSessionTitleRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v GenerateSessionTitleRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*GenerateSessionTitleRequest) request() {}

// RequestSubtype returns "generate_session_title".
func (*GenerateSessionTitleRequest) RequestSubtype() string { return "generate_session_title" }

// SetColorRequest sets the session's color. No version that was tried takes it
// without a screen.
type SetColorRequest struct {
	Source
	// The colour.
	Color string `json:"color"`
}

func (v *SetColorRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	case "color":
		return setString[string](d, &v.Color, raw)
	}
	return false
}

func (v *SetColorRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"set_color"`))
	put(e, "color", v.Color, v.Color == "", always, encString[string])
}

func (*SetColorRequest) fresh() object { return new(SetColorRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *SetColorRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v SetColorRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*SetColorRequest) request() {}

// RequestSubtype returns "set_color".
func (*SetColorRequest) RequestSubtype() string { return "set_color" }

// SetHasSubscribersRequest tells the CLI whether anyone is watching.
type SetHasSubscribersRequest struct {
	Source
	// Whether; nil means not known.
	HasSubscribers *bool `json:"has_subscribers"`
}

func (v *SetHasSubscribersRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	case "has_subscribers":
		return setPointer(d, &v.HasSubscribers, raw, setBool)
	}
	return false
}

func (v *SetHasSubscribersRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"set_has_subscribers"`))
	put(e, "has_subscribers", v.HasSubscribers, v.HasSubscribers == nil, always, encPointer(encBool))
}

func (*SetHasSubscribersRequest) fresh() object { return new(SetHasSubscribersRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *SetHasSubscribersRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v SetHasSubscribersRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*SetHasSubscribersRequest) request() {}

// RequestSubtype returns "set_has_subscribers".
func (*SetHasSubscribersRequest) RequestSubtype() string { return "set_has_subscribers" }

// CancelAsyncMessageRequest takes back a user message that is still waiting.
type CancelAsyncMessageRequest struct {
	Source
	// The message.
	MessageUUID string `json:"message_uuid"`
}

func (v *CancelAsyncMessageRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	case "message_uuid":
		return setString[string](d, &v.MessageUUID, raw)
	}
	return false
}

func (v *CancelAsyncMessageRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"cancel_async_message"`))
	put(e, "message_uuid", v.MessageUUID, v.MessageUUID == "", always, encString[string])
}

func (*CancelAsyncMessageRequest) fresh() object { return new(CancelAsyncMessageRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *CancelAsyncMessageRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v CancelAsyncMessageRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*CancelAsyncMessageRequest) request() {}

// RequestSubtype returns "cancel_async_message".
func (*CancelAsyncMessageRequest) RequestSubtype() string { return "cancel_async_message" }

// RewindFilesRequest undoes changes of files since a user message. It needs
// CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING=1 in the environment.
type RewindFilesRequest struct {
	Source
	// The uuid of the user message.
	UserMessageID string `json:"user_message_id"`

	// Only tell what would be undone.
	DryRun bool `json:"dry_run,omitempty"`
}

func (v *RewindFilesRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	case "user_message_id":
		return setString[string](d, &v.UserMessageID, raw)
	case "dry_run":
		return setBool(d, &v.DryRun, raw)
	}
	return false
}

func (v *RewindFilesRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"rewind_files"`))
	put(e, "user_message_id", v.UserMessageID, v.UserMessageID == "", always, encString[string])
	put(e, "dry_run", v.DryRun, !v.DryRun, optional, encBool)
}

func (*RewindFilesRequest) fresh() object { return new(RewindFilesRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *RewindFilesRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v RewindFilesRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*RewindFilesRequest) request() {}

// RequestSubtype returns "rewind_files".
func (*RewindFilesRequest) RequestSubtype() string { return "rewind_files" }

// SideQuestionRequest asks the model something beside the conversation, which
// does not see it.
type SideQuestionRequest struct {
	Source
	// The question.
	Question string `json:"question"`

	// Earlier side questions and answers. Newer versions only.
	History json.RawMessage `json:"history,omitempty"`
}

func (v *SideQuestionRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	case "question":
		return setString[string](d, &v.Question, raw)
	case "history":
		return setRaw(d, &v.History, raw)
	}
	return false
}

func (v *SideQuestionRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"side_question"`))
	put(e, "question", v.Question, v.Question == "", always, encString[string])
	put(e, "history", v.History, v.History == nil, optional, encRaw)
}

func (*SideQuestionRequest) fresh() object { return new(SideQuestionRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *SideQuestionRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v SideQuestionRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*SideQuestionRequest) request() {}

// RequestSubtype returns "side_question".
func (*SideQuestionRequest) RequestSubtype() string { return "side_question" }

// StopTaskRequest stops a running task.
type StopTaskRequest struct {
	Source
	// The task.
	TaskID string `json:"task_id"`
}

func (v *StopTaskRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	case "task_id":
		return setString[string](d, &v.TaskID, raw)
	}
	return false
}

func (v *StopTaskRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"stop_task"`))
	put(e, "task_id", v.TaskID, v.TaskID == "", always, encString[string])
}

func (*StopTaskRequest) fresh() object { return new(StopTaskRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *StopTaskRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v StopTaskRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*StopTaskRequest) request() {}

// RequestSubtype returns "stop_task".
func (*StopTaskRequest) RequestSubtype() string { return "stop_task" }

// BackgroundTasksRequest moves running commands and sub-agents to the
// background.
type BackgroundTasksRequest struct {
	Source
	// The tool call. If empty, all.
	ToolUseID string `json:"tool_use_id,omitempty"`
}

func (v *BackgroundTasksRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	case "tool_use_id":
		return setString[string](d, &v.ToolUseID, raw)
	}
	return false
}

func (v *BackgroundTasksRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"background_tasks"`))
	put(e, "tool_use_id", v.ToolUseID, v.ToolUseID == "", optional, encString[string])
}

func (*BackgroundTasksRequest) fresh() object { return new(BackgroundTasksRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *BackgroundTasksRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v BackgroundTasksRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*BackgroundTasksRequest) request() {}

// RequestSubtype returns "background_tasks".
func (*BackgroundTasksRequest) RequestSubtype() string { return "background_tasks" }

// GetTaskOutputRequest asks for the end of a background command's output.
type GetTaskOutputRequest struct {
	Source
	// The task.
	TaskID string `json:"task_id"`
}

func (v *GetTaskOutputRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	case "task_id":
		return setString[string](d, &v.TaskID, raw)
	}
	return false
}

func (v *GetTaskOutputRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"get_task_output"`))
	put(e, "task_id", v.TaskID, v.TaskID == "", always, encString[string])
}

func (*GetTaskOutputRequest) fresh() object { return new(GetTaskOutputRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *GetTaskOutputRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v GetTaskOutputRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*GetTaskOutputRequest) request() {}

// RequestSubtype returns "get_task_output".
func (*GetTaskOutputRequest) RequestSubtype() string { return "get_task_output" }

// GetContextUsageRequest asks what takes up the context window.
type GetContextUsageRequest struct {
	Source
	// How much detail is wanted. Newer versions only.
	Detail ContextDetail `json:"detail,omitempty"`
}

func (v *GetContextUsageRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	case "detail":
		return setString[ContextDetail](d, &v.Detail, raw)
	}
	return false
}

func (v *GetContextUsageRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"get_context_usage"`))
	put(e, "detail", v.Detail, v.Detail == "", optional, encString[ContextDetail])
}

func (*GetContextUsageRequest) fresh() object { return new(GetContextUsageRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *GetContextUsageRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v GetContextUsageRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*GetContextUsageRequest) request() {}

// RequestSubtype returns "get_context_usage".
func (*GetContextUsageRequest) RequestSubtype() string { return "get_context_usage" }

// GetSessionCostRequest asks for a text about the cost so far.
type GetSessionCostRequest struct {
	Source
}

func (v *GetSessionCostRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	}
	return false
}

func (v *GetSessionCostRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"get_session_cost"`))
}

func (*GetSessionCostRequest) fresh() object { return new(GetSessionCostRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *GetSessionCostRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v GetSessionCostRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*GetSessionCostRequest) request() {}

// RequestSubtype returns "get_session_cost".
func (*GetSessionCostRequest) RequestSubtype() string { return "get_session_cost" }

// GetUsageRequest asks for usage and, with a subscription, its limits.
type GetUsageRequest struct {
	Source
	// Leave out the habits.
	SkipBehaviors bool `json:"skip_behaviors,omitempty"`
}

func (v *GetUsageRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	case "skip_behaviors":
		return setBool(d, &v.SkipBehaviors, raw)
	}
	return false
}

func (v *GetUsageRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"get_usage"`))
	put(e, "skip_behaviors", v.SkipBehaviors, !v.SkipBehaviors, optional, encBool)
}

func (*GetUsageRequest) fresh() object { return new(GetUsageRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *GetUsageRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v GetUsageRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*GetUsageRequest) request() {}

// RequestSubtype returns "get_usage".
func (*GetUsageRequest) RequestSubtype() string { return "get_usage" }

// ListModelsRequest asks for the models that can be chosen.
type ListModelsRequest struct {
	Source
}

func (v *ListModelsRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	}
	return false
}

func (v *ListModelsRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"list_models"`))
}

func (*ListModelsRequest) fresh() object { return new(ListModelsRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ListModelsRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ListModelsRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ListModelsRequest) request() {}

// RequestSubtype returns "list_models".
func (*ListModelsRequest) RequestSubtype() string { return "list_models" }

// GetBinaryVersionRequest asks for the CLI's version.
type GetBinaryVersionRequest struct {
	Source
}

func (v *GetBinaryVersionRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	}
	return false
}

func (v *GetBinaryVersionRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"get_binary_version"`))
}

func (*GetBinaryVersionRequest) fresh() object { return new(GetBinaryVersionRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *GetBinaryVersionRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v GetBinaryVersionRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*GetBinaryVersionRequest) request() {}

// RequestSubtype returns "get_binary_version".
func (*GetBinaryVersionRequest) RequestSubtype() string { return "get_binary_version" }

// GetHooksListingRequest asks for the hooks in force.
type GetHooksListingRequest struct {
	Source
}

func (v *GetHooksListingRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	}
	return false
}

func (v *GetHooksListingRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"get_hooks_listing"`))
}

func (*GetHooksListingRequest) fresh() object { return new(GetHooksListingRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *GetHooksListingRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v GetHooksListingRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*GetHooksListingRequest) request() {}

// RequestSubtype returns "get_hooks_listing".
func (*GetHooksListingRequest) RequestSubtype() string { return "get_hooks_listing" }

// ListPermissionRulesRequest asks for the permission rules in force.
type ListPermissionRulesRequest struct {
	Source
}

func (v *ListPermissionRulesRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	}
	return false
}

func (v *ListPermissionRulesRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"list_permission_rules"`))
}

func (*ListPermissionRulesRequest) fresh() object { return new(ListPermissionRulesRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ListPermissionRulesRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ListPermissionRulesRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ListPermissionRulesRequest) request() {}

// RequestSubtype returns "list_permission_rules".
func (*ListPermissionRulesRequest) RequestSubtype() string { return "list_permission_rules" }

// FileSuggestionsRequest asks for files that complete a mention.
type FileSuggestionsRequest struct {
	Source
	// The beginning of a path.
	Query string `json:"query"`
}

func (v *FileSuggestionsRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	case "query":
		return setString[string](d, &v.Query, raw)
	}
	return false
}

func (v *FileSuggestionsRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"file_suggestions"`))
	put(e, "query", v.Query, v.Query == "", always, encString[string])
}

func (*FileSuggestionsRequest) fresh() object { return new(FileSuggestionsRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *FileSuggestionsRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v FileSuggestionsRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*FileSuggestionsRequest) request() {}

// RequestSubtype returns "file_suggestions".
func (*FileSuggestionsRequest) RequestSubtype() string { return "file_suggestions" }

// ReadFileRequest asks for the contents of a file within the working
// directories.
type ReadFileRequest struct {
	Source
	// The file.
	Path string `json:"path"`

	// The most to read.
	MaxBytes int64 `json:"max_bytes,omitempty"`

	// How to encode the contents.
	Encoding FileEncoding `json:"encoding,omitempty"`
}

func (v *ReadFileRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	case "path":
		return setString[string](d, &v.Path, raw)
	case "max_bytes":
		return setInt(d, &v.MaxBytes, raw)
	case "encoding":
		return setString[FileEncoding](d, &v.Encoding, raw)
	}
	return false
}

func (v *ReadFileRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"read_file"`))
	put(e, "path", v.Path, v.Path == "", always, encString[string])
	put(e, "max_bytes", v.MaxBytes, v.MaxBytes == 0, optional, encInt)
	put(e, "encoding", v.Encoding, v.Encoding == "", optional, encString[FileEncoding])
}

func (*ReadFileRequest) fresh() object { return new(ReadFileRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ReadFileRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ReadFileRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ReadFileRequest) request() {}

// RequestSubtype returns "read_file".
func (*ReadFileRequest) RequestSubtype() string { return "read_file" }

// SeedReadStateRequest tells the CLI that the model has already read a file.
type SeedReadStateRequest struct {
	Source
	// The file.
	Path string `json:"path"`

	// When the file was last changed, in milliseconds since 1970.
	Mtime float64 `json:"mtime"`
}

func (v *SeedReadStateRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	case "path":
		return setString[string](d, &v.Path, raw)
	case "mtime":
		return setNum(d, &v.Mtime, raw)
	}
	return false
}

func (v *SeedReadStateRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"seed_read_state"`))
	put(e, "path", v.Path, v.Path == "", always, encString[string])
	put(e, "mtime", v.Mtime, v.Mtime == 0, always, encNum)
}

func (*SeedReadStateRequest) fresh() object { return new(SeedReadStateRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *SeedReadStateRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v SeedReadStateRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*SeedReadStateRequest) request() {}

// RequestSubtype returns "seed_read_state".
func (*SeedReadStateRequest) RequestSubtype() string { return "seed_read_state" }

// RegisterRepoRootRequest adds a working directory.
type RegisterRepoRootRequest struct {
	Source
	// The directory.
	Directory string `json:"directory"`

	// Read its instructions.
	ReloadClaudeMD bool `json:"reload_claude_md,omitempty"`

	// Read its plugins.
	ReloadPlugins bool `json:"reload_plugins,omitempty"`

	// Read its skills.
	ReloadSkills bool `json:"reload_skills,omitempty"`
}

func (v *RegisterRepoRootRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	case "directory":
		return setString[string](d, &v.Directory, raw)
	case "reload_claude_md":
		return setBool(d, &v.ReloadClaudeMD, raw)
	case "reload_plugins":
		return setBool(d, &v.ReloadPlugins, raw)
	case "reload_skills":
		return setBool(d, &v.ReloadSkills, raw)
	}
	return false
}

func (v *RegisterRepoRootRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"register_repo_root"`))
	put(e, "directory", v.Directory, v.Directory == "", always, encString[string])
	put(e, "reload_claude_md", v.ReloadClaudeMD, !v.ReloadClaudeMD, optional, encBool)
	put(e, "reload_plugins", v.ReloadPlugins, !v.ReloadPlugins, optional, encBool)
	put(e, "reload_skills", v.ReloadSkills, !v.ReloadSkills, optional, encBool)
}

func (*RegisterRepoRootRequest) fresh() object { return new(RegisterRepoRootRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *RegisterRepoRootRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v RegisterRepoRootRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*RegisterRepoRootRequest) request() {}

// RequestSubtype returns "register_repo_root".
func (*RegisterRepoRootRequest) RequestSubtype() string { return "register_repo_root" }

// ReloadPluginsRequest reads the plugins anew.
type ReloadPluginsRequest struct {
	Source
	// Only tell, if the prompt cache would be lost. Newer versions only.
	HoldOnCacheImpact bool `json:"hold_on_cache_impact,omitempty"`

	// Plugins to add. Newer versions only.
	AddPlugins []PluginConfig `json:"add_plugins,omitempty"`

	// Refuse while a turn runs. Newer versions only.
	RefuseIfBusy bool `json:"refuse_if_busy,omitempty"`
}

func (v *ReloadPluginsRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	case "hold_on_cache_impact":
		return setBool(d, &v.HoldOnCacheImpact, raw)
	case "add_plugins":
		return setList(d, &v.AddPlugins, raw, setStruct[PluginConfig])
	case "refuse_if_busy":
		return setBool(d, &v.RefuseIfBusy, raw)
	}
	return false
}

func (v *ReloadPluginsRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"reload_plugins"`))
	put(e, "hold_on_cache_impact", v.HoldOnCacheImpact, !v.HoldOnCacheImpact, optional, encBool)
	put(e, "add_plugins", v.AddPlugins, v.AddPlugins == nil, optional, encList(encStruct[PluginConfig]))
	put(e, "refuse_if_busy", v.RefuseIfBusy, !v.RefuseIfBusy, optional, encBool)
}

func (*ReloadPluginsRequest) fresh() object { return new(ReloadPluginsRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ReloadPluginsRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ReloadPluginsRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ReloadPluginsRequest) request() {}

// RequestSubtype returns "reload_plugins".
func (*ReloadPluginsRequest) RequestSubtype() string { return "reload_plugins" }

// ReloadSkillsRequest reads the skills anew.
type ReloadSkillsRequest struct {
	Source
}

func (v *ReloadSkillsRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	}
	return false
}

func (v *ReloadSkillsRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"reload_skills"`))
}

func (*ReloadSkillsRequest) fresh() object { return new(ReloadSkillsRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ReloadSkillsRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ReloadSkillsRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ReloadSkillsRequest) request() {}

// RequestSubtype returns "reload_skills".
func (*ReloadSkillsRequest) RequestSubtype() string { return "reload_skills" }

// ReloadOutputStylesRequest reads the output styles anew.
type ReloadOutputStylesRequest struct {
	Source
}

func (v *ReloadOutputStylesRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	}
	return false
}

func (v *ReloadOutputStylesRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"reload_output_styles"`))
}

func (*ReloadOutputStylesRequest) fresh() object { return new(ReloadOutputStylesRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ReloadOutputStylesRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ReloadOutputStylesRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ReloadOutputStylesRequest) request() {}

// RequestSubtype returns "reload_output_styles".
func (*ReloadOutputStylesRequest) RequestSubtype() string { return "reload_output_styles" }

// MCPStatusRequest asks for the MCP servers and their states.
type MCPStatusRequest struct {
	Source
	// Do not answer from memory. Newer versions only.
	LiveReply bool `json:"liveReply,omitempty"`
}

func (v *MCPStatusRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	case "liveReply":
		return setBool(d, &v.LiveReply, raw)
	}
	return false
}

func (v *MCPStatusRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"mcp_status"`))
	put(e, "liveReply", v.LiveReply, !v.LiveReply, optional, encBool)
}

func (*MCPStatusRequest) fresh() object { return new(MCPStatusRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *MCPStatusRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v MCPStatusRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*MCPStatusRequest) request() {}

// RequestSubtype returns "mcp_status".
func (*MCPStatusRequest) RequestSubtype() string { return "mcp_status" }

// MCPSetServersRequest replaces the MCP servers that were added this way.
type MCPSetServersRequest struct {
	Source
	// The servers, keyed by name.
	Servers map[string]MCPServerConfig `json:"servers"`
}

func (v *MCPSetServersRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	case "servers":
		return setMap(d, &v.Servers, raw, setStruct[MCPServerConfig])
	}
	return false
}

func (v *MCPSetServersRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"mcp_set_servers"`))
	put(e, "servers", v.Servers, v.Servers == nil, always, encMap(encStruct[MCPServerConfig]))
}

func (*MCPSetServersRequest) fresh() object { return new(MCPSetServersRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *MCPSetServersRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v MCPSetServersRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*MCPSetServersRequest) request() {}

// RequestSubtype returns "mcp_set_servers".
func (*MCPSetServersRequest) RequestSubtype() string { return "mcp_set_servers" }

// MCPReconnectRequest connects an MCP server again. Servers of the host cannot
// be reconnected.
type MCPReconnectRequest struct {
	Source
	// The server.
	ServerName string `json:"serverName"`
}

func (v *MCPReconnectRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	case "serverName":
		return setString[string](d, &v.ServerName, raw)
	}
	return false
}

func (v *MCPReconnectRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"mcp_reconnect"`))
	put(e, "serverName", v.ServerName, v.ServerName == "", always, encString[string])
}

func (*MCPReconnectRequest) fresh() object { return new(MCPReconnectRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *MCPReconnectRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v MCPReconnectRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*MCPReconnectRequest) request() {}

// RequestSubtype returns "mcp_reconnect".
func (*MCPReconnectRequest) RequestSubtype() string { return "mcp_reconnect" }

// MCPToggleRequest switches an MCP server on or off.
type MCPToggleRequest struct {
	Source
	// The server.
	ServerName string `json:"serverName"`

	// On or off.
	Enabled bool `json:"enabled"`
}

func (v *MCPToggleRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	case "serverName":
		return setString[string](d, &v.ServerName, raw)
	case "enabled":
		return setBool(d, &v.Enabled, raw)
	}
	return false
}

func (v *MCPToggleRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"mcp_toggle"`))
	put(e, "serverName", v.ServerName, v.ServerName == "", always, encString[string])
	put(e, "enabled", v.Enabled, !v.Enabled, always, encBool)
}

func (*MCPToggleRequest) fresh() object { return new(MCPToggleRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *MCPToggleRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v MCPToggleRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*MCPToggleRequest) request() {}

// RequestSubtype returns "mcp_toggle".
func (*MCPToggleRequest) RequestSubtype() string { return "mcp_toggle" }

// MCPCallRequest calls an MCP tool without the model.
type MCPCallRequest struct {
	Source
	// The tool, by its full name.
	Tool string `json:"tool"`

	// Its input.
	Arguments json.RawMessage `json:"arguments,omitempty"`

	// When the call is no longer wanted.
	ExpiresAt string `json:"expires_at,omitempty"`

	// Milliseconds to wait.
	TimeoutMs float64 `json:"timeout_ms,omitempty"`

	// The result will not be shown to the model.
	ResultNotForModel bool `json:"result_not_for_model,omitempty"`

	// Apply the permission rules.
	CheckPermissions bool `json:"check_permissions,omitempty"`

	// Files for the tool.
	InputFiles []StagedFile `json:"input_files,omitempty"`

	// Files from the tool.
	OutputFiles []StagedFile `json:"output_files,omitempty"`
}

func (v *MCPCallRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	case "tool":
		return setString[string](d, &v.Tool, raw)
	case "arguments":
		return setRaw(d, &v.Arguments, raw)
	case "expires_at":
		return setString[string](d, &v.ExpiresAt, raw)
	case "timeout_ms":
		return setNum(d, &v.TimeoutMs, raw)
	case "result_not_for_model":
		return setBool(d, &v.ResultNotForModel, raw)
	case "check_permissions":
		return setBool(d, &v.CheckPermissions, raw)
	case "input_files":
		return setList(d, &v.InputFiles, raw, setStruct[StagedFile])
	case "output_files":
		return setList(d, &v.OutputFiles, raw, setStruct[StagedFile])
	}
	return false
}

func (v *MCPCallRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"mcp_call"`))
	put(e, "tool", v.Tool, v.Tool == "", always, encString[string])
	put(e, "arguments", v.Arguments, v.Arguments == nil, optional, encRaw)
	put(e, "expires_at", v.ExpiresAt, v.ExpiresAt == "", optional, encString[string])
	put(e, "timeout_ms", v.TimeoutMs, v.TimeoutMs == 0, optional, encNum)
	put(e, "result_not_for_model", v.ResultNotForModel, !v.ResultNotForModel, optional, encBool)
	put(e, "check_permissions", v.CheckPermissions, !v.CheckPermissions, optional, encBool)
	put(e, "input_files", v.InputFiles, v.InputFiles == nil, optional, encList(encStruct[StagedFile]))
	put(e, "output_files", v.OutputFiles, v.OutputFiles == nil, optional, encList(encStruct[StagedFile]))
}

func (*MCPCallRequest) fresh() object { return new(MCPCallRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *MCPCallRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v MCPCallRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*MCPCallRequest) request() {}

// RequestSubtype returns "mcp_call".
func (*MCPCallRequest) RequestSubtype() string { return "mcp_call" }

// MCPReadResourceRequest reads a user interface resource of an MCP server.
type MCPReadResourceRequest struct {
	Source
	// The server.
	ServerName string `json:"serverName"`

	// The resource.
	URI string `json:"uri"`
}

func (v *MCPReadResourceRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	case "serverName":
		return setString[string](d, &v.ServerName, raw)
	case "uri":
		return setString[string](d, &v.URI, raw)
	}
	return false
}

func (v *MCPReadResourceRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"mcp_read_resource"`))
	put(e, "serverName", v.ServerName, v.ServerName == "", always, encString[string])
	put(e, "uri", v.URI, v.URI == "", always, encString[string])
}

func (*MCPReadResourceRequest) fresh() object { return new(MCPReadResourceRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *MCPReadResourceRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v MCPReadResourceRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*MCPReadResourceRequest) request() {}

// RequestSubtype returns "mcp_read_resource".
func (*MCPReadResourceRequest) RequestSubtype() string { return "mcp_read_resource" }

// MCPMessageRequest carries a JSON-RPC message between the CLI and an MCP
// server of the host.
type MCPMessageRequest struct {
	Source
	// The server.
	ServerName string `json:"server_name"`

	// The message.
	Message JSONRPC `json:"message"`
}

func (v *MCPMessageRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	case "server_name":
		return setString[string](d, &v.ServerName, raw)
	case "message":
		return setStruct[JSONRPC](d, &v.Message, raw)
	}
	return false
}

func (v *MCPMessageRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"mcp_message"`))
	put(e, "server_name", v.ServerName, v.ServerName == "", always, encString[string])
	put(e, "message", v.Message, false, always, encStruct[JSONRPC])
}

func (*MCPMessageRequest) fresh() object { return new(MCPMessageRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *MCPMessageRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v MCPMessageRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*MCPMessageRequest) request() {}

// RequestSubtype returns "mcp_message".
func (*MCPMessageRequest) RequestSubtype() string { return "mcp_message" }

// CanUseToolRequest asks whether a tool may run. There is no deadline: until
// it is answered the tool waits.
type CanUseToolRequest struct {
	Source
	// The tool. AskUserQuestion and ExitPlanMode are questions to the user.
	ToolName string `json:"tool_name"`

	// The MCP server of the tool. Newer versions only.
	MCPServer *MCPServerRef `json:"mcp_server,omitempty"`

	// The tool's input.
	Input json.RawMessage `json:"input"`

	// Updates that would save the question in future; to allow always, send them
	// back.
	PermissionSuggestions []PermissionUpdate `json:"permission_suggestions,omitempty"`

	// The path that is not allowed.
	BlockedPath string `json:"blocked_path,omitempty"`

	// Why it is asked.
	DecisionReason string `json:"decision_reason,omitempty"`

	// What made the CLI ask. Known since 2.1.120.
	DecisionReasonType DecisionReasonType `json:"decision_reason_type,omitempty"`

	// The event of the hook that made the CLI ask. Seen on 2.1.325, undocumented.
	DecisionReasonHookEvent string `json:"decision_reason_hook_event,omitempty"`

	// A policy lets this be asked only. Seen on 2.1.325, undocumented.
	ServerPolicyAskOnly bool `json:"server_policy_ask_only,omitempty"`

	// A classifier may answer it.
	ClassifierApprovable bool `json:"classifier_approvable,omitempty"`

	// Do not offer to allow it always.
	SuppressAlwaysAllowRule bool `json:"suppress_always_allow_rule,omitempty"`

	// The answer no should be the obvious one.
	DefaultToNo bool `json:"default_to_no,omitempty"`

	// The rule that made the CLI ask.
	MatchedAskRule *MatchedRule `json:"matched_ask_rule,omitempty"`

	// A heading for the question.
	Title string `json:"title,omitempty"`

	// The tool's name for people. Known since 2.1.120.
	DisplayName string `json:"display_name,omitempty"`

	// The tool call.
	ToolUseID string `json:"tool_use_id"`

	// The sub-agent that wants it.
	AgentID string `json:"agent_id,omitempty"`

	// What the call does.
	Description string `json:"description,omitempty"`

	// Only a person can answer it.
	RequiresUserInteraction bool `json:"requires_user_interaction,omitempty"`
}

func (v *CanUseToolRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	case "tool_name":
		return setString[string](d, &v.ToolName, raw)
	case "mcp_server":
		return setPointer(d, &v.MCPServer, raw, setStruct[MCPServerRef])
	case "input":
		return setRaw(d, &v.Input, raw)
	case "permission_suggestions":
		return setList(d, &v.PermissionSuggestions, raw, func(d *decoder, dst *PermissionUpdate, raw value) bool {
			return setUnion(d, dst, raw, decodePermissionUpdate)
		})
	case "blocked_path":
		return setString[string](d, &v.BlockedPath, raw)
	case "decision_reason":
		return setString[string](d, &v.DecisionReason, raw)
	case "decision_reason_type":
		return setString[DecisionReasonType](d, &v.DecisionReasonType, raw)
	case "decision_reason_hook_event":
		return setString[string](d, &v.DecisionReasonHookEvent, raw)
	case "server_policy_ask_only":
		return setBool(d, &v.ServerPolicyAskOnly, raw)
	case "classifier_approvable":
		return setBool(d, &v.ClassifierApprovable, raw)
	case "suppress_always_allow_rule":
		return setBool(d, &v.SuppressAlwaysAllowRule, raw)
	case "default_to_no":
		return setBool(d, &v.DefaultToNo, raw)
	case "matched_ask_rule":
		return setPointer(d, &v.MatchedAskRule, raw, setStruct[MatchedRule])
	case "title":
		return setString[string](d, &v.Title, raw)
	case "display_name":
		return setString[string](d, &v.DisplayName, raw)
	case "tool_use_id":
		return setString[string](d, &v.ToolUseID, raw)
	case "agent_id":
		return setString[string](d, &v.AgentID, raw)
	case "description":
		return setString[string](d, &v.Description, raw)
	case "requires_user_interaction":
		return setBool(d, &v.RequiresUserInteraction, raw)
	}
	return false
}

func (v *CanUseToolRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"can_use_tool"`))
	put(e, "tool_name", v.ToolName, v.ToolName == "", always, encString[string])
	put(e, "mcp_server", v.MCPServer, v.MCPServer == nil, optional, encPointer(encStruct[MCPServerRef]))
	put(e, "input", v.Input, v.Input == nil, always, encRaw)
	put(e, "permission_suggestions", v.PermissionSuggestions, v.PermissionSuggestions == nil, optional, encList(encUnion[PermissionUpdate]))
	put(e, "blocked_path", v.BlockedPath, v.BlockedPath == "", optional, encString[string])
	put(e, "decision_reason", v.DecisionReason, v.DecisionReason == "", optional, encString[string])
	put(e, "decision_reason_type", v.DecisionReasonType, v.DecisionReasonType == "", optional, encString[DecisionReasonType])
	put(e, "decision_reason_hook_event", v.DecisionReasonHookEvent, v.DecisionReasonHookEvent == "", optional, encString[string])
	put(e, "server_policy_ask_only", v.ServerPolicyAskOnly, !v.ServerPolicyAskOnly, optional, encBool)
	put(e, "classifier_approvable", v.ClassifierApprovable, !v.ClassifierApprovable, optional, encBool)
	put(e, "suppress_always_allow_rule", v.SuppressAlwaysAllowRule, !v.SuppressAlwaysAllowRule, optional, encBool)
	put(e, "default_to_no", v.DefaultToNo, !v.DefaultToNo, optional, encBool)
	put(e, "matched_ask_rule", v.MatchedAskRule, v.MatchedAskRule == nil, optional, encPointer(encStruct[MatchedRule]))
	put(e, "title", v.Title, v.Title == "", optional, encString[string])
	put(e, "display_name", v.DisplayName, v.DisplayName == "", optional, encString[string])
	put(e, "tool_use_id", v.ToolUseID, v.ToolUseID == "", always, encString[string])
	put(e, "agent_id", v.AgentID, v.AgentID == "", optional, encString[string])
	put(e, "description", v.Description, v.Description == "", optional, encString[string])
	put(e, "requires_user_interaction", v.RequiresUserInteraction, !v.RequiresUserInteraction, optional, encBool)
}

func (*CanUseToolRequest) fresh() object { return new(CanUseToolRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *CanUseToolRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v CanUseToolRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*CanUseToolRequest) request() {}

// RequestSubtype returns "can_use_tool".
func (*CanUseToolRequest) RequestSubtype() string { return "can_use_tool" }

// HookCallbackRequest calls a hook that initialize registered.
type HookCallbackRequest struct {
	Source
	// The callback.
	CallbackID string `json:"callback_id"`

	// What happened.
	Input HookInput `json:"input"`

	// The tool call, or a made-up id for events without one.
	ToolUseID string `json:"tool_use_id,omitempty"`
}

func (v *HookCallbackRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	case "callback_id":
		return setString[string](d, &v.CallbackID, raw)
	case "input":
		return setUnion(d, &v.Input, raw, decodeHookInput)
	case "tool_use_id":
		return setString[string](d, &v.ToolUseID, raw)
	}
	return false
}

func (v *HookCallbackRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"hook_callback"`))
	put(e, "callback_id", v.CallbackID, v.CallbackID == "", always, encString[string])
	put(e, "input", v.Input, v.Input == nil, always, encUnion[HookInput])
	put(e, "tool_use_id", v.ToolUseID, v.ToolUseID == "", optional, encString[string])
}

func (*HookCallbackRequest) fresh() object { return new(HookCallbackRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *HookCallbackRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v HookCallbackRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*HookCallbackRequest) request() {}

// RequestSubtype returns "hook_callback".
func (*HookCallbackRequest) RequestSubtype() string { return "hook_callback" }

// ElicitationRequest asks the user something for an MCP server.
type ElicitationRequest struct {
	Source
	// The server.
	MCPServerName string `json:"mcp_server_name"`

	// The question.
	Message string `json:"message"`

	// A form or a page to open.
	Mode ElicitationMode `json:"mode,omitempty"`

	// The page.
	URL string `json:"url,omitempty"`

	// The elicitation.
	ElicitationID string `json:"elicitation_id,omitempty"`

	// The JSON schema of the form.
	RequestedSchema json.RawMessage `json:"requested_schema,omitempty"`

	// The order of the form's fields.
	PropertyOrder []string `json:"property_order,omitempty"`

	// A heading.
	Title string `json:"title,omitempty"`

	// The server's name for people.
	DisplayName string `json:"display_name,omitempty"`

	// What it is about.
	Description string `json:"description,omitempty"`
}

func (v *ElicitationRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	case "mcp_server_name":
		return setString[string](d, &v.MCPServerName, raw)
	case "message":
		return setString[string](d, &v.Message, raw)
	case "mode":
		return setString[ElicitationMode](d, &v.Mode, raw)
	case "url":
		return setString[string](d, &v.URL, raw)
	case "elicitation_id":
		return setString[string](d, &v.ElicitationID, raw)
	case "requested_schema":
		return setRaw(d, &v.RequestedSchema, raw)
	case "property_order":
		return setList(d, &v.PropertyOrder, raw, setString[string])
	case "title":
		return setString[string](d, &v.Title, raw)
	case "display_name":
		return setString[string](d, &v.DisplayName, raw)
	case "description":
		return setString[string](d, &v.Description, raw)
	}
	return false
}

func (v *ElicitationRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"elicitation"`))
	put(e, "mcp_server_name", v.MCPServerName, v.MCPServerName == "", always, encString[string])
	put(e, "message", v.Message, v.Message == "", always, encString[string])
	put(e, "mode", v.Mode, v.Mode == "", optional, encString[ElicitationMode])
	put(e, "url", v.URL, v.URL == "", optional, encString[string])
	put(e, "elicitation_id", v.ElicitationID, v.ElicitationID == "", optional, encString[string])
	put(e, "requested_schema", v.RequestedSchema, v.RequestedSchema == nil, optional, encRaw)
	put(e, "property_order", v.PropertyOrder, v.PropertyOrder == nil, optional, encList(encString[string]))
	put(e, "title", v.Title, v.Title == "", optional, encString[string])
	put(e, "display_name", v.DisplayName, v.DisplayName == "", optional, encString[string])
	put(e, "description", v.Description, v.Description == "", optional, encString[string])
}

func (*ElicitationRequest) fresh() object { return new(ElicitationRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ElicitationRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ElicitationRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ElicitationRequest) request() {}

// RequestSubtype returns "elicitation".
func (*ElicitationRequest) RequestSubtype() string { return "elicitation" }

// UserDialogRequest asks the host to show a dialog. A host that cannot show it
// must not answer.
type UserDialogRequest struct {
	Source
	// The kind of dialog.
	DialogKind string `json:"dialog_kind"`

	// What to show.
	Payload json.RawMessage `json:"payload"`

	// The tool call it belongs to.
	ToolUseID string `json:"tool_use_id,omitempty"`
}

func (v *UserDialogRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	case "dialog_kind":
		return setString[string](d, &v.DialogKind, raw)
	case "payload":
		return setRaw(d, &v.Payload, raw)
	case "tool_use_id":
		return setString[string](d, &v.ToolUseID, raw)
	}
	return false
}

func (v *UserDialogRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"request_user_dialog"`))
	put(e, "dialog_kind", v.DialogKind, v.DialogKind == "", always, encString[string])
	put(e, "payload", v.Payload, v.Payload == nil, always, encRaw)
	put(e, "tool_use_id", v.ToolUseID, v.ToolUseID == "", optional, encString[string])
}

func (*UserDialogRequest) fresh() object { return new(UserDialogRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *UserDialogRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v UserDialogRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*UserDialogRequest) request() {}

// RequestSubtype returns "request_user_dialog".
func (*UserDialogRequest) RequestSubtype() string { return "request_user_dialog" }

// SDKControlInterruptRequest acknowledges an interrupt. Described by third
// parties, never seen; it is understood in case it comes.
type SDKControlInterruptRequest struct {
	Source
}

func (v *SDKControlInterruptRequest) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "subtype":
		return true
	}
	return false
}

func (v *SDKControlInterruptRequest) appendMembers(e *encoder) {
	e.raw("subtype", []byte(`"sdk_control_interrupt"`))
}

func (*SDKControlInterruptRequest) fresh() object { return new(SDKControlInterruptRequest) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *SDKControlInterruptRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v SDKControlInterruptRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*SDKControlInterruptRequest) request() {}

// RequestSubtype returns "sdk_control_interrupt".
func (*SDKControlInterruptRequest) RequestSubtype() string { return "sdk_control_interrupt" }

// InitializeAnswer tells what the session offers.
type InitializeAnswer struct {
	Source
	// The slash commands.
	Commands []SlashCommand `json:"commands"`

	// The agents. Known since 2.1.63.
	Agents []AgentInfo `json:"agents,omitempty"`

	// The output style.
	OutputStyle string `json:"output_style"`

	// The output styles that can be chosen.
	AvailableOutputStyles []string `json:"available_output_styles"`

	// The models that can be chosen.
	Models []ModelInfo `json:"models"`

	// The account that is logged in.
	Account AccountInfo `json:"account"`

	// The CLI's process. Known since 2.1.40.
	PID int64 `json:"pid,omitempty"`

	// The hooks that were sent are in force.
	HooksApplied bool `json:"hooks_applied,omitempty"`

	// The member onFailure of hooks is understood.
	HookOnFailureSupported bool `json:"hook_on_failure_supported,omitempty"`

	// The plugins that were sent are loaded.
	PluginsApplied bool `json:"plugins_applied,omitempty"`

	// What became of the manifests, keyed by server.
	SDKMCPManifestsParked map[string]ManifestFate `json:"sdk_mcp_manifests_parked,omitempty"`

	// The CLI's version. Versions up to 2.1.120 do not tell it here.
	ClaudeCodeVersion string `json:"claude_code_version,omitempty"`

	// The permission mode in force. Seen on 2.1.325, undocumented.
	CurrentPermissionMode PermissionMode `json:"current_permission_mode,omitempty"`

	// What the session is doing. Seen on 2.1.325, undocumented.
	SessionState SessionState `json:"session_state,omitempty"`

	// Features of this CLI. Seen on 2.1.325, undocumented.
	Capabilities []string `json:"capabilities,omitempty"`

	// The state of fast mode.
	FastModeState FastModeState `json:"fast_mode_state,omitempty"`

	// Why fast mode cannot be used.
	FastModeDisabledReason FastModeDisabledReason `json:"fast_mode_disabled_reason,omitempty"`
}

func (v *InitializeAnswer) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "commands":
		return setList(d, &v.Commands, raw, setStruct[SlashCommand])
	case "agents":
		return setList(d, &v.Agents, raw, setStruct[AgentInfo])
	case "output_style":
		return setString[string](d, &v.OutputStyle, raw)
	case "available_output_styles":
		return setList(d, &v.AvailableOutputStyles, raw, setString[string])
	case "models":
		return setList(d, &v.Models, raw, setStruct[ModelInfo])
	case "account":
		return setStruct[AccountInfo](d, &v.Account, raw)
	case "pid":
		return setInt(d, &v.PID, raw)
	case "hooks_applied":
		return setBool(d, &v.HooksApplied, raw)
	case "hook_on_failure_supported":
		return setBool(d, &v.HookOnFailureSupported, raw)
	case "plugins_applied":
		return setBool(d, &v.PluginsApplied, raw)
	case "sdk_mcp_manifests_parked":
		return setMap(d, &v.SDKMCPManifestsParked, raw, setString[ManifestFate])
	case "claude_code_version":
		return setString[string](d, &v.ClaudeCodeVersion, raw)
	case "current_permission_mode":
		return setString[PermissionMode](d, &v.CurrentPermissionMode, raw)
	case "session_state":
		return setString[SessionState](d, &v.SessionState, raw)
	case "capabilities":
		return setList(d, &v.Capabilities, raw, setString[string])
	case "fast_mode_state":
		return setString[FastModeState](d, &v.FastModeState, raw)
	case "fast_mode_disabled_reason":
		return setString[FastModeDisabledReason](d, &v.FastModeDisabledReason, raw)
	}
	return false
}

func (v *InitializeAnswer) appendMembers(e *encoder) {
	put(e, "commands", v.Commands, v.Commands == nil, always, encList(encStruct[SlashCommand]))
	put(e, "agents", v.Agents, v.Agents == nil, optional, encList(encStruct[AgentInfo]))
	put(e, "output_style", v.OutputStyle, v.OutputStyle == "", always, encString[string])
	put(e, "available_output_styles", v.AvailableOutputStyles, v.AvailableOutputStyles == nil, always, encList(encString[string]))
	put(e, "models", v.Models, v.Models == nil, always, encList(encStruct[ModelInfo]))
	put(e, "account", v.Account, false, always, encStruct[AccountInfo])
	put(e, "pid", v.PID, v.PID == 0, optional, encInt)
	put(e, "hooks_applied", v.HooksApplied, !v.HooksApplied, optional, encBool)
	put(e, "hook_on_failure_supported", v.HookOnFailureSupported, !v.HookOnFailureSupported, optional, encBool)
	put(e, "plugins_applied", v.PluginsApplied, !v.PluginsApplied, optional, encBool)
	put(e, "sdk_mcp_manifests_parked", v.SDKMCPManifestsParked, v.SDKMCPManifestsParked == nil, optional, encMap(encString[ManifestFate]))
	put(e, "claude_code_version", v.ClaudeCodeVersion, v.ClaudeCodeVersion == "", optional, encString[string])
	put(e, "current_permission_mode", v.CurrentPermissionMode, v.CurrentPermissionMode == "", optional, encString[PermissionMode])
	put(e, "session_state", v.SessionState, v.SessionState == "", optional, encString[SessionState])
	put(e, "capabilities", v.Capabilities, v.Capabilities == nil, optional, encList(encString[string]))
	put(e, "fast_mode_state", v.FastModeState, v.FastModeState == "", optional, encString[FastModeState])
	put(e, "fast_mode_disabled_reason", v.FastModeDisabledReason, v.FastModeDisabledReason == "", optional, encString[FastModeDisabledReason])
}

func (*InitializeAnswer) fresh() object { return new(InitializeAnswer) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *InitializeAnswer) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v InitializeAnswer) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*InitializeAnswer) answer() {}

// InterruptAnswer tells what is left after an interrupt. Only newer versions
// send it.
type InterruptAnswer struct {
	Source
	// The messages that wait and will run next, by uuid.
	StillQueued []string `json:"still_queued"`

	// The messages that were dropped.
	Cancelled []string `json:"cancelled,omitempty"`
}

func (v *InterruptAnswer) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "still_queued":
		return setList(d, &v.StillQueued, raw, setString[string])
	case "cancelled":
		return setList(d, &v.Cancelled, raw, setString[string])
	}
	return false
}

func (v *InterruptAnswer) appendMembers(e *encoder) {
	put(e, "still_queued", v.StillQueued, v.StillQueued == nil, always, encList(encString[string]))
	put(e, "cancelled", v.Cancelled, v.Cancelled == nil, optional, encList(encString[string]))
}

func (*InterruptAnswer) fresh() object { return new(InterruptAnswer) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *InterruptAnswer) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v InterruptAnswer) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*InterruptAnswer) answer() {}

// SetPermissionModeAnswer tells the mode that is now in force.
type SetPermissionModeAnswer struct {
	Source
	// The mode.
	Mode PermissionMode `json:"mode,omitempty"`
}

func (v *SetPermissionModeAnswer) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "mode":
		return setString[PermissionMode](d, &v.Mode, raw)
	}
	return false
}

func (v *SetPermissionModeAnswer) appendMembers(e *encoder) {
	put(e, "mode", v.Mode, v.Mode == "", optional, encString[PermissionMode])
}

func (*SetPermissionModeAnswer) fresh() object { return new(SetPermissionModeAnswer) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *SetPermissionModeAnswer) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v SetPermissionModeAnswer) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*SetPermissionModeAnswer) answer() {}

// SetModelAnswer tells the model that is now in use. Only newer versions send
// it.
type SetModelAnswer struct {
	Source
	// The model's full name.
	Model string `json:"model,omitempty"`
}

func (v *SetModelAnswer) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "model":
		return setString[string](d, &v.Model, raw)
	}
	return false
}

func (v *SetModelAnswer) appendMembers(e *encoder) {
	put(e, "model", v.Model, v.Model == "", optional, encString[string])
}

func (*SetModelAnswer) fresh() object { return new(SetModelAnswer) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *SetModelAnswer) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v SetModelAnswer) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*SetModelAnswer) answer() {}

// GetSettingsAnswer tells the settings in force and where they come from.
type GetSettingsAnswer struct {
	Source
	// All layers merged.
	Effective json.RawMessage `json:"effective"`

	// The layers.
	Sources []SettingsLayer `json:"sources"`

	// What follows from them.
	Applied *AppliedSettings `json:"applied,omitempty"`

	// What could not be read.
	Errors []SettingsError `json:"errors,omitempty"`

	// Parts were left out.
	Withheld bool `json:"withheld,omitempty"`
}

func (v *GetSettingsAnswer) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "effective":
		return setRaw(d, &v.Effective, raw)
	case "sources":
		return setList(d, &v.Sources, raw, setStruct[SettingsLayer])
	case "applied":
		return setPointer(d, &v.Applied, raw, setStruct[AppliedSettings])
	case "errors":
		return setList(d, &v.Errors, raw, setStruct[SettingsError])
	case "withheld":
		return setBool(d, &v.Withheld, raw)
	}
	return false
}

func (v *GetSettingsAnswer) appendMembers(e *encoder) {
	put(e, "effective", v.Effective, v.Effective == nil, always, encRaw)
	put(e, "sources", v.Sources, v.Sources == nil, always, encList(encStruct[SettingsLayer]))
	put(e, "applied", v.Applied, v.Applied == nil, optional, encPointer(encStruct[AppliedSettings]))
	put(e, "errors", v.Errors, v.Errors == nil, optional, encList(encStruct[SettingsError]))
	put(e, "withheld", v.Withheld, !v.Withheld, optional, encBool)
}

func (*GetSettingsAnswer) fresh() object { return new(GetSettingsAnswer) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *GetSettingsAnswer) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v GetSettingsAnswer) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*GetSettingsAnswer) answer() {}

// GenerateSessionTitleAnswer brings a title.
type GenerateSessionTitleAnswer struct {
	Source
	// The title.
	Title string `json:"title"`
}

func (v *GenerateSessionTitleAnswer) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "title":
		return setString[string](d, &v.Title, raw)
	}
	return false
}

func (v *GenerateSessionTitleAnswer) appendMembers(e *encoder) {
	put(e, "title", v.Title, v.Title == "", nullable, encString[string])
}

func (*GenerateSessionTitleAnswer) fresh() object { return new(GenerateSessionTitleAnswer) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *GenerateSessionTitleAnswer) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v GenerateSessionTitleAnswer) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*GenerateSessionTitleAnswer) answer() {}

// CancelAsyncMessageAnswer tells whether a message could be taken back.
type CancelAsyncMessageAnswer struct {
	Source
	// It could.
	Cancelled bool `json:"cancelled"`
}

func (v *CancelAsyncMessageAnswer) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "cancelled":
		return setBool(d, &v.Cancelled, raw)
	}
	return false
}

func (v *CancelAsyncMessageAnswer) appendMembers(e *encoder) {
	put(e, "cancelled", v.Cancelled, !v.Cancelled, always, encBool)
}

func (*CancelAsyncMessageAnswer) fresh() object { return new(CancelAsyncMessageAnswer) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *CancelAsyncMessageAnswer) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v CancelAsyncMessageAnswer) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*CancelAsyncMessageAnswer) answer() {}

// RewindFilesAnswer tells what was or would be undone.
type RewindFilesAnswer struct {
	Source
	// It is possible.
	CanRewind bool `json:"canRewind"`

	// Why not.
	Error string `json:"error,omitempty"`

	// The files, by path. Told by a dry run.
	FilesChanged []string `json:"filesChanged,omitempty"`

	// Lines that come back.
	Insertions int64 `json:"insertions,omitempty"`

	// Lines that go.
	Deletions int64 `json:"deletions,omitempty"`

	// Links that were left alone.
	SkippedLinks int64 `json:"skippedLinks,omitempty"`
}

func (v *RewindFilesAnswer) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "canRewind":
		return setBool(d, &v.CanRewind, raw)
	case "error":
		return setString[string](d, &v.Error, raw)
	case "filesChanged":
		return setList(d, &v.FilesChanged, raw, setString[string])
	case "insertions":
		return setInt(d, &v.Insertions, raw)
	case "deletions":
		return setInt(d, &v.Deletions, raw)
	case "skippedLinks":
		return setInt(d, &v.SkippedLinks, raw)
	}
	return false
}

func (v *RewindFilesAnswer) appendMembers(e *encoder) {
	put(e, "canRewind", v.CanRewind, !v.CanRewind, always, encBool)
	put(e, "error", v.Error, v.Error == "", optional, encString[string])
	put(e, "filesChanged", v.FilesChanged, v.FilesChanged == nil, optional, encList(encString[string]))
	put(e, "insertions", v.Insertions, v.Insertions == 0, optional, encInt)
	put(e, "deletions", v.Deletions, v.Deletions == 0, optional, encInt)
	put(e, "skippedLinks", v.SkippedLinks, v.SkippedLinks == 0, optional, encInt)
}

func (*RewindFilesAnswer) fresh() object { return new(RewindFilesAnswer) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *RewindFilesAnswer) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v RewindFilesAnswer) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*RewindFilesAnswer) answer() {}

// SideQuestionAnswer is the model's reply to a side question.
type SideQuestionAnswer struct {
	Source
	// The reply.
	Response string `json:"response"`

	// The CLI wrote it, not the model.
	Synthetic bool `json:"synthetic,omitempty"`

	// The other model that replied after a refusal.
	RefusalFallback json.RawMessage `json:"refusal_fallback,omitempty"`
}

func (v *SideQuestionAnswer) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "response":
		return setString[string](d, &v.Response, raw)
	case "synthetic":
		return setBool(d, &v.Synthetic, raw)
	case "refusal_fallback":
		return setRaw(d, &v.RefusalFallback, raw)
	}
	return false
}

func (v *SideQuestionAnswer) appendMembers(e *encoder) {
	put(e, "response", v.Response, v.Response == "", nullable, encString[string])
	put(e, "synthetic", v.Synthetic, !v.Synthetic, optional, encBool)
	put(e, "refusal_fallback", v.RefusalFallback, v.RefusalFallback == nil, optional, encRaw)
}

func (*SideQuestionAnswer) fresh() object { return new(SideQuestionAnswer) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *SideQuestionAnswer) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v SideQuestionAnswer) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*SideQuestionAnswer) answer() {}

// BackgroundTasksAnswer tells whether something was moved to the background.
type BackgroundTasksAnswer struct {
	Source
	// It was.
	Backgrounded *bool `json:"backgrounded,omitempty"`
}

func (v *BackgroundTasksAnswer) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "backgrounded":
		return setPointer(d, &v.Backgrounded, raw, setBool)
	}
	return false
}

func (v *BackgroundTasksAnswer) appendMembers(e *encoder) {
	put(e, "backgrounded", v.Backgrounded, v.Backgrounded == nil, optional, encPointer(encBool))
}

func (*BackgroundTasksAnswer) fresh() object { return new(BackgroundTasksAnswer) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *BackgroundTasksAnswer) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v BackgroundTasksAnswer) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*BackgroundTasksAnswer) answer() {}

// GetTaskOutputAnswer is the end of a task's output.
type GetTaskOutputAnswer struct {
	Source
	// At most the last 8 KiB.
	Output string `json:"output"`

	// The size of all of it.
	TotalBytes int64 `json:"total_bytes"`

	// There is more.
	Truncated bool `json:"truncated"`
}

func (v *GetTaskOutputAnswer) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "output":
		return setString[string](d, &v.Output, raw)
	case "total_bytes":
		return setInt(d, &v.TotalBytes, raw)
	case "truncated":
		return setBool(d, &v.Truncated, raw)
	}
	return false
}

func (v *GetTaskOutputAnswer) appendMembers(e *encoder) {
	put(e, "output", v.Output, v.Output == "", always, encString[string])
	put(e, "total_bytes", v.TotalBytes, v.TotalBytes == 0, always, encInt)
	put(e, "truncated", v.Truncated, !v.Truncated, always, encBool)
}

func (*GetTaskOutputAnswer) fresh() object { return new(GetTaskOutputAnswer) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *GetTaskOutputAnswer) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v GetTaskOutputAnswer) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*GetTaskOutputAnswer) answer() {}

// GetContextUsageAnswer tells what takes up the context window.
type GetContextUsageAnswer struct {
	Source
	// The parts.
	Categories []ContextCategory `json:"categories"`

	// Tokens in use.
	TotalTokens int64 `json:"totalTokens"`

	// Tokens that can be used.
	MaxTokens int64 `json:"maxTokens"`

	// The model's context window.
	RawMaxTokens int64 `json:"rawMaxTokens"`

	// The share in use, in percent.
	Percentage float64 `json:"percentage"`

	// The same as a picture.
	GridRows [][]ContextCell `json:"gridRows,omitempty"`

	// The model.
	Model string `json:"model"`

	// The memory files.
	MemoryFiles []ContextMemoryFile `json:"memoryFiles"`

	// The tools of MCP servers.
	MCPTools []ContextTool `json:"mcpTools"`

	// The instructions of MCP servers.
	MCPInstructions []ContextTool `json:"mcpInstructions,omitempty"`

	// Built-in tools that are loaded on demand.
	DeferredBuiltinTools []ContextTool `json:"deferredBuiltinTools,omitempty"`

	// Built-in tools.
	SystemTools []ContextTool `json:"systemTools,omitempty"`

	// Sections of the system prompt.
	SystemPromptSections []ContextTool `json:"systemPromptSections,omitempty"`

	// The agents.
	Agents []ContextItem `json:"agents"`

	// The slash commands.
	SlashCommands *ContextCommands `json:"slashCommands,omitempty"`

	// The skills.
	Skills *ContextSkills `json:"skills,omitempty"`

	// The size at which compaction starts.
	AutoCompactThreshold int64 `json:"autoCompactThreshold,omitempty"`

	// Compaction starts automatically.
	IsAutoCompactEnabled bool `json:"isAutoCompactEnabled"`

	// What the conversation consists of.
	MessageBreakdown *ContextMessages `json:"messageBreakdown,omitempty"`

	// The tokens of the last request.
	APIUsage *ContextAPIUsage `json:"apiUsage"`
}

func (v *GetContextUsageAnswer) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "categories":
		return setList(d, &v.Categories, raw, setStruct[ContextCategory])
	case "totalTokens":
		return setInt(d, &v.TotalTokens, raw)
	case "maxTokens":
		return setInt(d, &v.MaxTokens, raw)
	case "rawMaxTokens":
		return setInt(d, &v.RawMaxTokens, raw)
	case "percentage":
		return setNum(d, &v.Percentage, raw)
	case "gridRows":
		return setList(d, &v.GridRows, raw, func(d *decoder, dst *[]ContextCell, raw value) bool {
			return setList(d, dst, raw, setStruct[ContextCell])
		})
	case "model":
		return setString[string](d, &v.Model, raw)
	case "memoryFiles":
		return setList(d, &v.MemoryFiles, raw, setStruct[ContextMemoryFile])
	case "mcpTools":
		return setList(d, &v.MCPTools, raw, setStruct[ContextTool])
	case "mcpInstructions":
		return setList(d, &v.MCPInstructions, raw, setStruct[ContextTool])
	case "deferredBuiltinTools":
		return setList(d, &v.DeferredBuiltinTools, raw, setStruct[ContextTool])
	case "systemTools":
		return setList(d, &v.SystemTools, raw, setStruct[ContextTool])
	case "systemPromptSections":
		return setList(d, &v.SystemPromptSections, raw, setStruct[ContextTool])
	case "agents":
		return setList(d, &v.Agents, raw, setStruct[ContextItem])
	case "slashCommands":
		return setPointer(d, &v.SlashCommands, raw, setStruct[ContextCommands])
	case "skills":
		return setPointer(d, &v.Skills, raw, setStruct[ContextSkills])
	case "autoCompactThreshold":
		return setInt(d, &v.AutoCompactThreshold, raw)
	case "isAutoCompactEnabled":
		return setBool(d, &v.IsAutoCompactEnabled, raw)
	case "messageBreakdown":
		return setPointer(d, &v.MessageBreakdown, raw, setStruct[ContextMessages])
	case "apiUsage":
		return setPointer(d, &v.APIUsage, raw, setStruct[ContextAPIUsage])
	}
	return false
}

func (v *GetContextUsageAnswer) appendMembers(e *encoder) {
	put(e, "categories", v.Categories, v.Categories == nil, always, encList(encStruct[ContextCategory]))
	put(e, "totalTokens", v.TotalTokens, v.TotalTokens == 0, always, encInt)
	put(e, "maxTokens", v.MaxTokens, v.MaxTokens == 0, always, encInt)
	put(e, "rawMaxTokens", v.RawMaxTokens, v.RawMaxTokens == 0, always, encInt)
	put(e, "percentage", v.Percentage, v.Percentage == 0, always, encNum)
	put(e, "gridRows", v.GridRows, v.GridRows == nil, optional, encList(encList(encStruct[ContextCell])))
	put(e, "model", v.Model, v.Model == "", always, encString[string])
	put(e, "memoryFiles", v.MemoryFiles, v.MemoryFiles == nil, always, encList(encStruct[ContextMemoryFile]))
	put(e, "mcpTools", v.MCPTools, v.MCPTools == nil, always, encList(encStruct[ContextTool]))
	put(e, "mcpInstructions", v.MCPInstructions, v.MCPInstructions == nil, optional, encList(encStruct[ContextTool]))
	put(e, "deferredBuiltinTools", v.DeferredBuiltinTools, v.DeferredBuiltinTools == nil, optional, encList(encStruct[ContextTool]))
	put(e, "systemTools", v.SystemTools, v.SystemTools == nil, optional, encList(encStruct[ContextTool]))
	put(e, "systemPromptSections", v.SystemPromptSections, v.SystemPromptSections == nil, optional, encList(encStruct[ContextTool]))
	put(e, "agents", v.Agents, v.Agents == nil, always, encList(encStruct[ContextItem]))
	put(e, "slashCommands", v.SlashCommands, v.SlashCommands == nil, optional, encPointer(encStruct[ContextCommands]))
	put(e, "skills", v.Skills, v.Skills == nil, optional, encPointer(encStruct[ContextSkills]))
	put(e, "autoCompactThreshold", v.AutoCompactThreshold, v.AutoCompactThreshold == 0, optional, encInt)
	put(e, "isAutoCompactEnabled", v.IsAutoCompactEnabled, !v.IsAutoCompactEnabled, always, encBool)
	put(e, "messageBreakdown", v.MessageBreakdown, v.MessageBreakdown == nil, optional, encPointer(encStruct[ContextMessages]))
	put(e, "apiUsage", v.APIUsage, v.APIUsage == nil, nullable, encPointer(encStruct[ContextAPIUsage]))
}

func (*GetContextUsageAnswer) fresh() object { return new(GetContextUsageAnswer) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *GetContextUsageAnswer) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v GetContextUsageAnswer) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*GetContextUsageAnswer) answer() {}

// GetSessionCostAnswer is a text about the cost so far.
type GetSessionCostAnswer struct {
	Source
	// The text.
	Text string `json:"text"`
}

func (v *GetSessionCostAnswer) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "text":
		return setString[string](d, &v.Text, raw)
	}
	return false
}

func (v *GetSessionCostAnswer) appendMembers(e *encoder) {
	put(e, "text", v.Text, v.Text == "", always, encString[string])
}

func (*GetSessionCostAnswer) fresh() object { return new(GetSessionCostAnswer) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *GetSessionCostAnswer) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v GetSessionCostAnswer) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*GetSessionCostAnswer) answer() {}

// GetUsageAnswer tells usage and limits.
type GetUsageAnswer struct {
	Source
	// This session.
	Session SessionUsage `json:"session"`

	// The plan.
	SubscriptionType string `json:"subscription_type"`

	// Limits are known.
	RateLimitsAvailable bool `json:"rate_limits_available"`

	// The limits.
	RateLimits *PlanLimits `json:"rate_limits"`

	// The habits that drive up usage.
	Behaviors *UsageBehaviors `json:"behaviors"`
}

func (v *GetUsageAnswer) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "session":
		return setStruct[SessionUsage](d, &v.Session, raw)
	case "subscription_type":
		return setString[string](d, &v.SubscriptionType, raw)
	case "rate_limits_available":
		return setBool(d, &v.RateLimitsAvailable, raw)
	case "rate_limits":
		return setPointer(d, &v.RateLimits, raw, setStruct[PlanLimits])
	case "behaviors":
		return setPointer(d, &v.Behaviors, raw, setStruct[UsageBehaviors])
	}
	return false
}

func (v *GetUsageAnswer) appendMembers(e *encoder) {
	put(e, "session", v.Session, false, always, encStruct[SessionUsage])
	put(e, "subscription_type", v.SubscriptionType, v.SubscriptionType == "", nullable, encString[string])
	put(e, "rate_limits_available", v.RateLimitsAvailable, !v.RateLimitsAvailable, always, encBool)
	put(e, "rate_limits", v.RateLimits, v.RateLimits == nil, nullable, encPointer(encStruct[PlanLimits]))
	put(e, "behaviors", v.Behaviors, v.Behaviors == nil, nullable, encPointer(encStruct[UsageBehaviors]))
}

func (*GetUsageAnswer) fresh() object { return new(GetUsageAnswer) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *GetUsageAnswer) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v GetUsageAnswer) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*GetUsageAnswer) answer() {}

// ListModelsAnswer lists the models that can be chosen.
type ListModelsAnswer struct {
	Source
	// The models.
	Models []ModelInfo `json:"models"`
}

func (v *ListModelsAnswer) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "models":
		return setList(d, &v.Models, raw, setStruct[ModelInfo])
	}
	return false
}

func (v *ListModelsAnswer) appendMembers(e *encoder) {
	put(e, "models", v.Models, v.Models == nil, always, encList(encStruct[ModelInfo]))
}

func (*ListModelsAnswer) fresh() object { return new(ListModelsAnswer) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ListModelsAnswer) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ListModelsAnswer) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ListModelsAnswer) answer() {}

// GetBinaryVersionAnswer tells the CLI's version.
type GetBinaryVersionAnswer struct {
	Source
	// The version.
	Version string `json:"version"`

	// When it was built.
	BuildTime string `json:"buildTime,omitempty"`
}

func (v *GetBinaryVersionAnswer) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "version":
		return setString[string](d, &v.Version, raw)
	case "buildTime":
		return setString[string](d, &v.BuildTime, raw)
	}
	return false
}

func (v *GetBinaryVersionAnswer) appendMembers(e *encoder) {
	put(e, "version", v.Version, v.Version == "", always, encString[string])
	put(e, "buildTime", v.BuildTime, v.BuildTime == "", optional, encString[string])
}

func (*GetBinaryVersionAnswer) fresh() object { return new(GetBinaryVersionAnswer) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *GetBinaryVersionAnswer) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v GetBinaryVersionAnswer) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*GetBinaryVersionAnswer) answer() {}

// GetHooksListingAnswer lists the hooks in force.
type GetHooksListingAnswer struct {
	Source
	// The events that have hooks.
	Events []HookEventInfo `json:"events"`

	// The hooks.
	Hooks []HookInfo `json:"hooks"`

	// All events.
	EventCatalog []HookEventInfo `json:"eventCatalog"`

	// What an organisation's policy does to hooks.
	Policy HookPolicy `json:"policy"`

	// The CLI runs in safe mode.
	SafeMode *HookSafeMode `json:"safeMode,omitempty"`

	// The CLI runs in bare mode.
	BareMode *HookBareMode `json:"bareMode,omitempty"`

	// What could not be read.
	Errors []SettingsError `json:"errors,omitempty"`
}

func (v *GetHooksListingAnswer) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "events":
		return setList(d, &v.Events, raw, setStruct[HookEventInfo])
	case "hooks":
		return setList(d, &v.Hooks, raw, setStruct[HookInfo])
	case "eventCatalog":
		return setList(d, &v.EventCatalog, raw, setStruct[HookEventInfo])
	case "policy":
		return setStruct[HookPolicy](d, &v.Policy, raw)
	case "safeMode":
		return setPointer(d, &v.SafeMode, raw, setStruct[HookSafeMode])
	case "bareMode":
		return setPointer(d, &v.BareMode, raw, setStruct[HookBareMode])
	case "errors":
		return setList(d, &v.Errors, raw, setStruct[SettingsError])
	}
	return false
}

func (v *GetHooksListingAnswer) appendMembers(e *encoder) {
	put(e, "events", v.Events, v.Events == nil, always, encList(encStruct[HookEventInfo]))
	put(e, "hooks", v.Hooks, v.Hooks == nil, always, encList(encStruct[HookInfo]))
	put(e, "eventCatalog", v.EventCatalog, v.EventCatalog == nil, always, encList(encStruct[HookEventInfo]))
	put(e, "policy", v.Policy, false, always, encStruct[HookPolicy])
	put(e, "safeMode", v.SafeMode, v.SafeMode == nil, optional, encPointer(encStruct[HookSafeMode]))
	put(e, "bareMode", v.BareMode, v.BareMode == nil, optional, encPointer(encStruct[HookBareMode]))
	put(e, "errors", v.Errors, v.Errors == nil, optional, encList(encStruct[SettingsError]))
}

func (*GetHooksListingAnswer) fresh() object { return new(GetHooksListingAnswer) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *GetHooksListingAnswer) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v GetHooksListingAnswer) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*GetHooksListingAnswer) answer() {}

// ListPermissionRulesAnswer lists the permission rules in force.
type ListPermissionRulesAnswer struct {
	Source
	// The rules.
	State PermissionRules `json:"state"`
}

func (v *ListPermissionRulesAnswer) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "state":
		return setStruct[PermissionRules](d, &v.State, raw)
	}
	return false
}

func (v *ListPermissionRulesAnswer) appendMembers(e *encoder) {
	put(e, "state", v.State, false, always, encStruct[PermissionRules])
}

func (*ListPermissionRulesAnswer) fresh() object { return new(ListPermissionRulesAnswer) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ListPermissionRulesAnswer) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ListPermissionRulesAnswer) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ListPermissionRulesAnswer) answer() {}

// FileSuggestionsAnswer lists files that complete a mention.
type FileSuggestionsAnswer struct {
	Source
	// The files, best first.
	Suggestions []FileSuggestion `json:"suggestions"`

	// What the paths are relative to.
	Cwd string `json:"cwd,omitempty"`
}

func (v *FileSuggestionsAnswer) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "suggestions":
		return setList(d, &v.Suggestions, raw, setStruct[FileSuggestion])
	case "cwd":
		return setString[string](d, &v.Cwd, raw)
	}
	return false
}

func (v *FileSuggestionsAnswer) appendMembers(e *encoder) {
	put(e, "suggestions", v.Suggestions, v.Suggestions == nil, always, encList(encStruct[FileSuggestion]))
	put(e, "cwd", v.Cwd, v.Cwd == "", optional, encString[string])
}

func (*FileSuggestionsAnswer) fresh() object { return new(FileSuggestionsAnswer) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *FileSuggestionsAnswer) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v FileSuggestionsAnswer) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*FileSuggestionsAnswer) answer() {}

// ReadFileAnswer is the contents of a file.
type ReadFileAnswer struct {
	Source
	// The contents.
	Contents string `json:"contents"`

	// The file's full path.
	AbsPath string `json:"absPath"`

	// There is more.
	Truncated bool `json:"truncated,omitempty"`

	// Set if the contents are encoded.
	Encoding FileEncoding `json:"encoding,omitempty"`

	// Bytes that are not text were replaced.
	Lossy bool `json:"lossy,omitempty"`
}

func (v *ReadFileAnswer) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "contents":
		return setString[string](d, &v.Contents, raw)
	case "absPath":
		return setString[string](d, &v.AbsPath, raw)
	case "truncated":
		return setBool(d, &v.Truncated, raw)
	case "encoding":
		return setString[FileEncoding](d, &v.Encoding, raw)
	case "lossy":
		return setBool(d, &v.Lossy, raw)
	}
	return false
}

func (v *ReadFileAnswer) appendMembers(e *encoder) {
	put(e, "contents", v.Contents, v.Contents == "", always, encString[string])
	put(e, "absPath", v.AbsPath, v.AbsPath == "", always, encString[string])
	put(e, "truncated", v.Truncated, !v.Truncated, optional, encBool)
	put(e, "encoding", v.Encoding, v.Encoding == "", optional, encString[FileEncoding])
	put(e, "lossy", v.Lossy, !v.Lossy, optional, encBool)
}

func (*ReadFileAnswer) fresh() object { return new(ReadFileAnswer) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ReadFileAnswer) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ReadFileAnswer) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ReadFileAnswer) answer() {}

// RegisterRepoRootAnswer tells the directory that was added.
type RegisterRepoRootAnswer struct {
	Source
	// The directory.
	Directory string `json:"directory"`
}

func (v *RegisterRepoRootAnswer) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "directory":
		return setString[string](d, &v.Directory, raw)
	}
	return false
}

func (v *RegisterRepoRootAnswer) appendMembers(e *encoder) {
	put(e, "directory", v.Directory, v.Directory == "", always, encString[string])
}

func (*RegisterRepoRootAnswer) fresh() object { return new(RegisterRepoRootAnswer) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *RegisterRepoRootAnswer) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v RegisterRepoRootAnswer) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*RegisterRepoRootAnswer) answer() {}

// ReloadPluginsAnswer tells what there is after the plugins were read anew.
type ReloadPluginsAnswer struct {
	Source
	// The slash commands.
	Commands []SlashCommand `json:"commands"`

	// The agents.
	Agents []AgentInfo `json:"agents"`

	// The plugins.
	Plugins []InitPlugin `json:"plugins"`

	// The MCP servers.
	MCPServers []MCPServerStatus `json:"mcpServers"`

	// How many plugins failed.
	ErrorCount int64 `json:"error_count"`

	// Nothing was done, because the prompt cache would be lost.
	Held bool `json:"held,omitempty"`

	// What would be lost.
	CacheImpact *CacheImpact `json:"cache_impact,omitempty"`
}

func (v *ReloadPluginsAnswer) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "commands":
		return setList(d, &v.Commands, raw, setStruct[SlashCommand])
	case "agents":
		return setList(d, &v.Agents, raw, setStruct[AgentInfo])
	case "plugins":
		return setList(d, &v.Plugins, raw, setStruct[InitPlugin])
	case "mcpServers":
		return setList(d, &v.MCPServers, raw, setStruct[MCPServerStatus])
	case "error_count":
		return setInt(d, &v.ErrorCount, raw)
	case "held":
		return setBool(d, &v.Held, raw)
	case "cache_impact":
		return setPointer(d, &v.CacheImpact, raw, setStruct[CacheImpact])
	}
	return false
}

func (v *ReloadPluginsAnswer) appendMembers(e *encoder) {
	put(e, "commands", v.Commands, v.Commands == nil, always, encList(encStruct[SlashCommand]))
	put(e, "agents", v.Agents, v.Agents == nil, always, encList(encStruct[AgentInfo]))
	put(e, "plugins", v.Plugins, v.Plugins == nil, always, encList(encStruct[InitPlugin]))
	put(e, "mcpServers", v.MCPServers, v.MCPServers == nil, always, encList(encStruct[MCPServerStatus]))
	put(e, "error_count", v.ErrorCount, v.ErrorCount == 0, always, encInt)
	put(e, "held", v.Held, !v.Held, optional, encBool)
	put(e, "cache_impact", v.CacheImpact, v.CacheImpact == nil, optional, encPointer(encStruct[CacheImpact]))
}

func (*ReloadPluginsAnswer) fresh() object { return new(ReloadPluginsAnswer) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ReloadPluginsAnswer) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ReloadPluginsAnswer) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ReloadPluginsAnswer) answer() {}

// ReloadSkillsAnswer lists the skills.
type ReloadSkillsAnswer struct {
	Source
	// The skills.
	Skills []SlashCommand `json:"skills"`
}

func (v *ReloadSkillsAnswer) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "skills":
		return setList(d, &v.Skills, raw, setStruct[SlashCommand])
	}
	return false
}

func (v *ReloadSkillsAnswer) appendMembers(e *encoder) {
	put(e, "skills", v.Skills, v.Skills == nil, always, encList(encStruct[SlashCommand]))
}

func (*ReloadSkillsAnswer) fresh() object { return new(ReloadSkillsAnswer) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ReloadSkillsAnswer) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ReloadSkillsAnswer) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ReloadSkillsAnswer) answer() {}

// ReloadOutputStylesAnswer lists the output styles.
type ReloadOutputStylesAnswer struct {
	Source
	// The output styles.
	AvailableOutputStyles []string `json:"available_output_styles"`
}

func (v *ReloadOutputStylesAnswer) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "available_output_styles":
		return setList(d, &v.AvailableOutputStyles, raw, setString[string])
	}
	return false
}

func (v *ReloadOutputStylesAnswer) appendMembers(e *encoder) {
	put(e, "available_output_styles", v.AvailableOutputStyles, v.AvailableOutputStyles == nil, always, encList(encString[string]))
}

func (*ReloadOutputStylesAnswer) fresh() object { return new(ReloadOutputStylesAnswer) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ReloadOutputStylesAnswer) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ReloadOutputStylesAnswer) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ReloadOutputStylesAnswer) answer() {}

// MCPStatusAnswer lists the MCP servers.
type MCPStatusAnswer struct {
	Source
	// The servers.
	MCPServers []MCPServerStatus `json:"mcpServers"`
}

func (v *MCPStatusAnswer) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "mcpServers":
		return setList(d, &v.MCPServers, raw, setStruct[MCPServerStatus])
	}
	return false
}

func (v *MCPStatusAnswer) appendMembers(e *encoder) {
	put(e, "mcpServers", v.MCPServers, v.MCPServers == nil, always, encList(encStruct[MCPServerStatus]))
}

func (*MCPStatusAnswer) fresh() object { return new(MCPStatusAnswer) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *MCPStatusAnswer) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v MCPStatusAnswer) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*MCPStatusAnswer) answer() {}

// MCPSetServersAnswer tells what became of the MCP servers that were set.
type MCPSetServersAnswer struct {
	Source
	// Servers that were added.
	Added []string `json:"added"`

	// Servers that were removed.
	Removed []string `json:"removed"`

	// Servers that failed, and why.
	Errors map[string]string `json:"errors"`
}

func (v *MCPSetServersAnswer) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "added":
		return setList(d, &v.Added, raw, setString[string])
	case "removed":
		return setList(d, &v.Removed, raw, setString[string])
	case "errors":
		return setMap(d, &v.Errors, raw, setString[string])
	}
	return false
}

func (v *MCPSetServersAnswer) appendMembers(e *encoder) {
	put(e, "added", v.Added, v.Added == nil, always, encList(encString[string]))
	put(e, "removed", v.Removed, v.Removed == nil, always, encList(encString[string]))
	put(e, "errors", v.Errors, v.Errors == nil, always, encMap(encString[string]))
}

func (*MCPSetServersAnswer) fresh() object { return new(MCPSetServersAnswer) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *MCPSetServersAnswer) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v MCPSetServersAnswer) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*MCPSetServersAnswer) answer() {}

// MCPCallAnswer is the result of an MCP tool.
type MCPCallAnswer struct {
	Source
	// The result.
	Content json.RawMessage `json:"content"`

	// The result in the tool's own structure.
	StructuredContent json.RawMessage `json:"structuredContent,omitempty"`

	// Notes of the server.
	Meta json.RawMessage `json:"_meta,omitempty"`

	// What became of the files.
	Staging *Staging `json:"staging,omitempty"`
}

func (v *MCPCallAnswer) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "content":
		return setRaw(d, &v.Content, raw)
	case "structuredContent":
		return setRaw(d, &v.StructuredContent, raw)
	case "_meta":
		return setRaw(d, &v.Meta, raw)
	case "staging":
		return setPointer(d, &v.Staging, raw, setStruct[Staging])
	}
	return false
}

func (v *MCPCallAnswer) appendMembers(e *encoder) {
	put(e, "content", v.Content, v.Content == nil, always, encRaw)
	put(e, "structuredContent", v.StructuredContent, v.StructuredContent == nil, optional, encRaw)
	put(e, "_meta", v.Meta, v.Meta == nil, optional, encRaw)
	put(e, "staging", v.Staging, v.Staging == nil, optional, encPointer(encStruct[Staging]))
}

func (*MCPCallAnswer) fresh() object { return new(MCPCallAnswer) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *MCPCallAnswer) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v MCPCallAnswer) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*MCPCallAnswer) answer() {}

// MCPReadResourceAnswer is a resource of an MCP server.
type MCPReadResourceAnswer struct {
	Source
	// The parts of the resource.
	Contents []MCPResource `json:"contents"`
}

func (v *MCPReadResourceAnswer) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "contents":
		return setList(d, &v.Contents, raw, setStruct[MCPResource])
	}
	return false
}

func (v *MCPReadResourceAnswer) appendMembers(e *encoder) {
	put(e, "contents", v.Contents, v.Contents == nil, always, encList(encStruct[MCPResource]))
}

func (*MCPReadResourceAnswer) fresh() object { return new(MCPReadResourceAnswer) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *MCPReadResourceAnswer) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v MCPReadResourceAnswer) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*MCPReadResourceAnswer) answer() {}

// MCPMessageAnswer brings the reply to a JSON-RPC message.
type MCPMessageAnswer struct {
	Source
	// The reply. For a notification an empty result with id 0, or nothing at all.
	MCPResponse *JSONRPC `json:"mcp_response,omitempty"`
}

func (v *MCPMessageAnswer) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "mcp_response":
		return setPointer(d, &v.MCPResponse, raw, setStruct[JSONRPC])
	}
	return false
}

func (v *MCPMessageAnswer) appendMembers(e *encoder) {
	put(e, "mcp_response", v.MCPResponse, v.MCPResponse == nil, optional, encPointer(encStruct[JSONRPC]))
}

func (*MCPMessageAnswer) fresh() object { return new(MCPMessageAnswer) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *MCPMessageAnswer) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v MCPMessageAnswer) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*MCPMessageAnswer) answer() {}

// HookCallbackAnswer is what a hook decides. An empty one lets everything go
// its way.
type HookCallbackAnswer struct {
	Source
	// The hook goes on in the background. The CLI treats it like an empty answer.
	Async bool `json:"async,omitempty"`

	// Milliseconds until the background is given up.
	AsyncTimeout float64 `json:"asyncTimeout,omitempty"`

	// False ends the turn.
	Continue *bool `json:"continue,omitempty"`

	// Do not show the hook's output.
	SuppressOutput bool `json:"suppressOutput,omitempty"`

	// Why the turn ends.
	StopReason string `json:"stopReason,omitempty"`

	// approve or block.
	Decision HookDecision `json:"decision,omitempty"`

	// A text for the user.
	SystemMessage string `json:"systemMessage,omitempty"`

	// An escape sequence for the terminal. Newer versions only.
	TerminalSequence string `json:"terminalSequence,omitempty"`

	// Why it was approved or blocked.
	Reason string `json:"reason,omitempty"`

	// What is particular to the event.
	HookSpecificOutput HookSpecific `json:"hookSpecificOutput,omitempty"`
}

func (v *HookCallbackAnswer) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "async":
		return setBool(d, &v.Async, raw)
	case "asyncTimeout":
		return setNum(d, &v.AsyncTimeout, raw)
	case "continue":
		return setPointer(d, &v.Continue, raw, setBool)
	case "suppressOutput":
		return setBool(d, &v.SuppressOutput, raw)
	case "stopReason":
		return setString[string](d, &v.StopReason, raw)
	case "decision":
		return setString[HookDecision](d, &v.Decision, raw)
	case "systemMessage":
		return setString[string](d, &v.SystemMessage, raw)
	case "terminalSequence":
		return setString[string](d, &v.TerminalSequence, raw)
	case "reason":
		return setString[string](d, &v.Reason, raw)
	case "hookSpecificOutput":
		return setUnion(d, &v.HookSpecificOutput, raw, decodeHookSpecific)
	}
	return false
}

func (v *HookCallbackAnswer) appendMembers(e *encoder) {
	put(e, "async", v.Async, !v.Async, optional, encBool)
	put(e, "asyncTimeout", v.AsyncTimeout, v.AsyncTimeout == 0, optional, encNum)
	put(e, "continue", v.Continue, v.Continue == nil, optional, encPointer(encBool))
	put(e, "suppressOutput", v.SuppressOutput, !v.SuppressOutput, optional, encBool)
	put(e, "stopReason", v.StopReason, v.StopReason == "", optional, encString[string])
	put(e, "decision", v.Decision, v.Decision == "", optional, encString[HookDecision])
	put(e, "systemMessage", v.SystemMessage, v.SystemMessage == "", optional, encString[string])
	put(e, "terminalSequence", v.TerminalSequence, v.TerminalSequence == "", optional, encString[string])
	put(e, "reason", v.Reason, v.Reason == "", optional, encString[string])
	put(e, "hookSpecificOutput", v.HookSpecificOutput, v.HookSpecificOutput == nil, optional, encUnion[HookSpecific])
}

func (*HookCallbackAnswer) fresh() object { return new(HookCallbackAnswer) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *HookCallbackAnswer) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v HookCallbackAnswer) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*HookCallbackAnswer) answer() {}

// ElicitationAnswer is the user's reaction to an elicitation.
type ElicitationAnswer struct {
	Source
	// What the user did.
	Action ElicitationAction `json:"action"`

	// The form's values.
	Content json.RawMessage `json:"content,omitempty"`
}

func (v *ElicitationAnswer) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "action":
		return setString[ElicitationAction](d, &v.Action, raw)
	case "content":
		return setRaw(d, &v.Content, raw)
	}
	return false
}

func (v *ElicitationAnswer) appendMembers(e *encoder) {
	put(e, "action", v.Action, v.Action == "", always, encString[ElicitationAction])
	put(e, "content", v.Content, v.Content == nil, optional, encRaw)
}

func (*ElicitationAnswer) fresh() object { return new(ElicitationAnswer) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ElicitationAnswer) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ElicitationAnswer) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ElicitationAnswer) answer() {}

// UserDialogAnswer is the user's choice in a dialog.
type UserDialogAnswer struct {
	Source
	// What the user did.
	Behavior DialogBehavior `json:"behavior"`

	// The choice.
	Result json.RawMessage `json:"result,omitempty"`
}

func (v *UserDialogAnswer) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "behavior":
		return setString[DialogBehavior](d, &v.Behavior, raw)
	case "result":
		return setRaw(d, &v.Result, raw)
	}
	return false
}

func (v *UserDialogAnswer) appendMembers(e *encoder) {
	put(e, "behavior", v.Behavior, v.Behavior == "", always, encString[DialogBehavior])
	put(e, "result", v.Result, v.Result == nil, optional, encRaw)
}

func (*UserDialogAnswer) fresh() object { return new(UserDialogAnswer) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *UserDialogAnswer) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v UserDialogAnswer) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*UserDialogAnswer) answer() {}
