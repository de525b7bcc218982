// Code generated from schema/*.wire by wire/internal/gen. DO NOT EDIT.

package wire

import "encoding/json"

// Message is one line, in either direction. The set of types behind it is
// closed; what the table does not know is a [*Unknown]. A switch over it that
// must be complete is checked by the gochecksumtype linter:
//
//	switch v := v.(type) {
//	case *wire.Assistant:
//	case *wire.User:
//	case *wire.StreamEvent:
//	…
//	case *wire.Unknown:
//	}
//
//sumtype:decl
type Message interface {
	object
	// Raw returns the bytes that the value was decoded from, nil if it was built.
	Raw() json.RawMessage
	// Extra returns a member that no field holds, or nil.
	Extra(name string) json.RawMessage
	// ExtraNames returns the names that Extra knows.
	ExtraNames() []string
	// MessageType returns the line's type and subtype.
	MessageType() (typ, subtype string)
	message()
}

// Unknown is a Message that the protocol table does not know. Its members are
// all in Extra; encoded, it is what it was decoded from.
type Unknown struct {
	Source
}

func (*Unknown) setMember(*decoder, []byte, value) bool { return false }

func (*Unknown) appendMembers(*encoder) {}

func (*Unknown) fresh() object { return new(Unknown) }

func (*Unknown) message() {}

// UnmarshalJSON keeps the value as it is.
func (v *Unknown) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON returns the value as it was decoded.
func (v Unknown) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// MessageType returns the line's type and subtype, whatever they are.
func (v *Unknown) MessageType() (typ, subtype string) {
	return lookupString(v.raw, "type"), lookupString(v.raw, "subtype")
}

func decodeMessage(d *decoder, raw value) Message {
	list, mark, ok := d.members(raw)
	defer d.drop(mark)
	if !ok {
		u := new(Unknown)
		u.raw = d.raw(raw) // not even an object, or nested too deep
		return u
	}
	var v Message
	switch typ, subtype := d.tag(list, "type"), d.tag(list, "subtype"); string(typ) {
	case "assistant":
		v = new(Assistant)
	case "user":
		v = new(User)
	case "stream_event":
		v = new(StreamEvent)
	case "tool_use_summary":
		v = new(ToolUseSummary)
	case "streamlined_text":
		v = new(StreamlinedText)
	case "streamlined_tool_use_summary":
		v = new(StreamlinedToolUseSummary)
	case "prompt_suggestion":
		v = new(PromptSuggestion)
	case "conversation_reset":
		v = new(ConversationReset)
	case "active_goal":
		v = new(ActiveGoal)
	case "command_lifecycle":
		v = new(CommandLifecycle)
	case "system":
		switch string(subtype) {
		case "init":
			v = new(Init)
		case "status":
			v = new(Status)
		case "compact_boundary":
			v = new(CompactBoundary)
		case "session_state_changed":
			v = new(SessionStateChanged)
		case "commands_changed":
			v = new(CommandsChanged)
		case "worker_shutting_down":
			v = new(WorkerShuttingDown)
		case "plugin_install":
			v = new(PluginInstall)
		case "session_writes_lost":
			v = new(SessionWritesLost)
		case "mirror_error":
			v = new(MirrorError)
		case "files_persisted":
			v = new(FilesPersisted)
		case "informational":
			v = new(Informational)
		case "notification":
			v = new(Notification)
		case "local_command_output":
			v = new(LocalCommandOutput)
		case "memory_recall":
			v = new(MemoryRecall)
		case "api_retry":
			v = new(APIRetry)
		case "model_refusal_fallback":
			v = new(ModelRefusalFallback)
		case "model_refusal_no_fallback":
			v = new(ModelRefusalNoFallback)
		case "permission_denied":
			v = new(PermissionDenied)
		case "elicitation_complete":
			v = new(ElicitationComplete)
		case "control_request_progress":
			v = new(ControlRequestProgress)
		case "hook_started":
			v = new(HookStarted)
		case "hook_progress":
			v = new(HookProgress)
		case "hook_response":
			v = new(HookResponse)
		case "task_started":
			v = new(TaskStarted)
		case "task_progress":
			v = new(TaskProgress)
		case "task_updated":
			v = new(TaskUpdated)
		case "task_notification":
			v = new(TaskNotification)
		case "background_tasks_changed":
			v = new(BackgroundTasksChanged)
		case "thinking_tokens":
			v = new(ThinkingTokens)
		}
	case "auth_status":
		v = new(AuthStatus)
	case "rate_limit_event":
		v = new(RateLimitEvent)
	case "tool_progress":
		v = new(ToolProgress)
	case "control_request":
		v = new(ControlRequest)
	case "control_response":
		v = new(ControlResponse)
	case "control_cancel_request":
		v = new(ControlCancel)
	case "keep_alive":
		v = new(KeepAlive)
	case "update_environment_variables":
		v = new(EnvironmentUpdate)
	case "error":
		v = new(ErrorLine)
	case "result":
		v = new(Result)
	}
	if v == nil {
		v = new(Unknown)
	}
	d.fill(v, raw, list)
	return v
}

// Block is one piece of a message's content. The set of types behind it is
// closed; what the table does not know is a [*UnknownBlock]. A switch over it
// that must be complete is checked by the gochecksumtype linter:
//
//	switch v := v.(type) {
//	case *wire.TextBlock:
//	case *wire.ThinkingBlock:
//	case *wire.RedactedThinkingBlock:
//	…
//	case *wire.UnknownBlock:
//	}
//
//sumtype:decl
type Block interface {
	object
	// Raw returns the bytes that the value was decoded from, nil if it was built.
	Raw() json.RawMessage
	// Extra returns a member that no field holds, or nil.
	Extra(name string) json.RawMessage
	// ExtraNames returns the names that Extra knows.
	ExtraNames() []string
	// BlockType returns what tells the variants apart (member "type").
	BlockType() string
	block()
}

// UnknownBlock is a Block that the protocol table does not know. Its members
// are all in Extra; encoded, it is what it was decoded from.
type UnknownBlock struct {
	Source
}

func (*UnknownBlock) setMember(*decoder, []byte, value) bool { return false }

func (*UnknownBlock) appendMembers(*encoder) {}

func (*UnknownBlock) fresh() object { return new(UnknownBlock) }

func (*UnknownBlock) block() {}

// UnmarshalJSON keeps the value as it is.
func (v *UnknownBlock) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON returns the value as it was decoded.
func (v UnknownBlock) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// BlockType returns the member "type", whatever it is.
func (v *UnknownBlock) BlockType() string { return lookupString(v.raw, "type") }

func decodeBlock(d *decoder, raw value) Block {
	list, mark, ok := d.members(raw)
	defer d.drop(mark)
	if !ok {
		u := new(UnknownBlock)
		u.raw = d.raw(raw) // not even an object, or nested too deep
		return u
	}
	var v Block
	switch string(d.tag(list, "type")) {
	case "text":
		v = new(TextBlock)
	case "thinking":
		v = new(ThinkingBlock)
	case "redacted_thinking":
		v = new(RedactedThinkingBlock)
	case "tool_use":
		v = new(ToolUseBlock)
	case "server_tool_use":
		v = new(ServerToolUseBlock)
	case "web_search_tool_result":
		v = new(WebSearchToolResultBlock)
	case "web_fetch_tool_result":
		v = new(WebFetchToolResultBlock)
	case "advisor_tool_result":
		v = new(AdvisorToolResultBlock)
	case "code_execution_tool_result":
		v = new(CodeExecutionToolResultBlock)
	case "bash_code_execution_tool_result":
		v = new(BashCodeExecutionToolResultBlock)
	case "text_editor_code_execution_tool_result":
		v = new(TextEditorCodeExecutionToolResultBlock)
	case "tool_search_tool_result":
		v = new(ToolSearchToolResultBlock)
	case "mcp_tool_use":
		v = new(MCPToolUseBlock)
	case "mcp_tool_result":
		v = new(MCPToolResultBlock)
	case "container_upload":
		v = new(ContainerUploadBlock)
	case "compaction":
		v = new(CompactionBlock)
	case "fallback":
		v = new(FallbackBlock)
	case "tool_result":
		v = new(ToolResultBlock)
	case "image":
		v = new(ImageBlock)
	case "document":
		v = new(DocumentBlock)
	case "search_result":
		v = new(SearchResultBlock)
	case "tool_reference":
		v = new(ToolReferenceBlock)
	}
	if v == nil {
		v = new(UnknownBlock)
	}
	d.fill(v, raw, list)
	return v
}

// Event is one step of the model's streamed answer, as a stream_event line
// carries it. The set of types behind it is closed; what the table does not
// know is a [*UnknownEvent]. A switch over it that must be complete is checked
// by the gochecksumtype linter:
//
//	switch v := v.(type) {
//	case *wire.MessageStartEvent:
//	case *wire.ContentBlockStartEvent:
//	case *wire.ContentBlockDeltaEvent:
//	…
//	case *wire.UnknownEvent:
//	}
//
//sumtype:decl
type Event interface {
	object
	// Raw returns the bytes that the value was decoded from, nil if it was built.
	Raw() json.RawMessage
	// Extra returns a member that no field holds, or nil.
	Extra(name string) json.RawMessage
	// ExtraNames returns the names that Extra knows.
	ExtraNames() []string
	// EventType returns what tells the variants apart (member "type").
	EventType() string
	event()
}

// UnknownEvent is a Event that the protocol table does not know. Its members
// are all in Extra; encoded, it is what it was decoded from.
type UnknownEvent struct {
	Source
}

func (*UnknownEvent) setMember(*decoder, []byte, value) bool { return false }

func (*UnknownEvent) appendMembers(*encoder) {}

func (*UnknownEvent) fresh() object { return new(UnknownEvent) }

func (*UnknownEvent) event() {}

// UnmarshalJSON keeps the value as it is.
func (v *UnknownEvent) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON returns the value as it was decoded.
func (v UnknownEvent) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// EventType returns the member "type", whatever it is.
func (v *UnknownEvent) EventType() string { return lookupString(v.raw, "type") }

func decodeEvent(d *decoder, raw value) Event {
	list, mark, ok := d.members(raw)
	defer d.drop(mark)
	if !ok {
		u := new(UnknownEvent)
		u.raw = d.raw(raw) // not even an object, or nested too deep
		return u
	}
	var v Event
	switch string(d.tag(list, "type")) {
	case "message_start":
		v = new(MessageStartEvent)
	case "content_block_start":
		v = new(ContentBlockStartEvent)
	case "content_block_delta":
		v = new(ContentBlockDeltaEvent)
	case "content_block_stop":
		v = new(ContentBlockStopEvent)
	case "message_delta":
		v = new(MessageDeltaEvent)
	case "message_stop":
		v = new(MessageStopEvent)
	case "ping":
		v = new(PingEvent)
	case "error":
		v = new(ErrorEvent)
	}
	if v == nil {
		v = new(UnknownEvent)
	}
	d.fill(v, raw, list)
	return v
}

// Delta is what a content_block_delta event adds to a block. The set of types
// behind it is closed; what the table does not know is a [*UnknownDelta]. A
// switch over it that must be complete is checked by the gochecksumtype
// linter:
//
//	switch v := v.(type) {
//	case *wire.TextDelta:
//	case *wire.InputJSONDelta:
//	case *wire.ThinkingDelta:
//	…
//	case *wire.UnknownDelta:
//	}
//
//sumtype:decl
type Delta interface {
	object
	// Raw returns the bytes that the value was decoded from, nil if it was built.
	Raw() json.RawMessage
	// Extra returns a member that no field holds, or nil.
	Extra(name string) json.RawMessage
	// ExtraNames returns the names that Extra knows.
	ExtraNames() []string
	// DeltaType returns what tells the variants apart (member "type").
	DeltaType() string
	delta()
}

// UnknownDelta is a Delta that the protocol table does not know. Its members
// are all in Extra; encoded, it is what it was decoded from.
type UnknownDelta struct {
	Source
}

func (*UnknownDelta) setMember(*decoder, []byte, value) bool { return false }

func (*UnknownDelta) appendMembers(*encoder) {}

func (*UnknownDelta) fresh() object { return new(UnknownDelta) }

func (*UnknownDelta) delta() {}

// UnmarshalJSON keeps the value as it is.
func (v *UnknownDelta) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON returns the value as it was decoded.
func (v UnknownDelta) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// DeltaType returns the member "type", whatever it is.
func (v *UnknownDelta) DeltaType() string { return lookupString(v.raw, "type") }

func decodeDelta(d *decoder, raw value) Delta {
	list, mark, ok := d.members(raw)
	defer d.drop(mark)
	if !ok {
		u := new(UnknownDelta)
		u.raw = d.raw(raw) // not even an object, or nested too deep
		return u
	}
	var v Delta
	switch string(d.tag(list, "type")) {
	case "text_delta":
		v = new(TextDelta)
	case "input_json_delta":
		v = new(InputJSONDelta)
	case "thinking_delta":
		v = new(ThinkingDelta)
	case "signature_delta":
		v = new(SignatureDelta)
	case "citations_delta":
		v = new(CitationsDelta)
	case "compaction_delta":
		v = new(CompactionDelta)
	}
	if v == nil {
		v = new(UnknownDelta)
	}
	d.fill(v, raw, list)
	return v
}

// PermissionUpdate is a change of the CLI's rules, mode or folders that goes
// with a permission answer. The set of types behind it is closed; what the
// table does not know is a [*UnknownUpdate]. A switch over it that must be
// complete is checked by the gochecksumtype linter:
//
//	switch v := v.(type) {
//	case *wire.AddRules:
//	case *wire.ReplaceRules:
//	case *wire.RemoveRules:
//	…
//	case *wire.UnknownUpdate:
//	}
//
//sumtype:decl
type PermissionUpdate interface {
	object
	// Raw returns the bytes that the value was decoded from, nil if it was built.
	Raw() json.RawMessage
	// Extra returns a member that no field holds, or nil.
	Extra(name string) json.RawMessage
	// ExtraNames returns the names that Extra knows.
	ExtraNames() []string
	// UpdateType returns what tells the variants apart (member "type").
	UpdateType() string
	update()
}

// UnknownUpdate is a PermissionUpdate that the protocol table does not know.
// Its members are all in Extra; encoded, it is what it was decoded from.
type UnknownUpdate struct {
	Source
}

func (*UnknownUpdate) setMember(*decoder, []byte, value) bool { return false }

func (*UnknownUpdate) appendMembers(*encoder) {}

func (*UnknownUpdate) fresh() object { return new(UnknownUpdate) }

func (*UnknownUpdate) update() {}

// UnmarshalJSON keeps the value as it is.
func (v *UnknownUpdate) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON returns the value as it was decoded.
func (v UnknownUpdate) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// UpdateType returns the member "type", whatever it is.
func (v *UnknownUpdate) UpdateType() string { return lookupString(v.raw, "type") }

func decodePermissionUpdate(d *decoder, raw value) PermissionUpdate {
	list, mark, ok := d.members(raw)
	defer d.drop(mark)
	if !ok {
		u := new(UnknownUpdate)
		u.raw = d.raw(raw) // not even an object, or nested too deep
		return u
	}
	var v PermissionUpdate
	switch string(d.tag(list, "type")) {
	case "addRules":
		v = new(AddRules)
	case "replaceRules":
		v = new(ReplaceRules)
	case "removeRules":
		v = new(RemoveRules)
	case "setMode":
		v = new(SetMode)
	case "addDirectories":
		v = new(AddDirectories)
	case "removeDirectories":
		v = new(RemoveDirectories)
	}
	if v == nil {
		v = new(UnknownUpdate)
	}
	d.fill(v, raw, list)
	return v
}

// PermissionResult is the answer to a can_use_tool request. The set of types
// behind it is closed; what the table does not know is a [*UnknownResult]. A
// switch over it that must be complete is checked by the gochecksumtype
// linter:
//
//	switch v := v.(type) {
//	case *wire.Allow:
//	case *wire.Deny:
//	case *wire.UnknownResult:
//	}
//
//sumtype:decl
type PermissionResult interface {
	object
	// Raw returns the bytes that the value was decoded from, nil if it was built.
	Raw() json.RawMessage
	// Extra returns a member that no field holds, or nil.
	Extra(name string) json.RawMessage
	// ExtraNames returns the names that Extra knows.
	ExtraNames() []string
	// Behavior returns what tells the variants apart (member "behavior").
	Behavior() string
	result()
}

// UnknownResult is a PermissionResult that the protocol table does not know.
// Its members are all in Extra; encoded, it is what it was decoded from.
type UnknownResult struct {
	Source
}

func (*UnknownResult) setMember(*decoder, []byte, value) bool { return false }

func (*UnknownResult) appendMembers(*encoder) {}

func (*UnknownResult) fresh() object { return new(UnknownResult) }

func (*UnknownResult) result() {}

// UnmarshalJSON keeps the value as it is.
func (v *UnknownResult) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON returns the value as it was decoded.
func (v UnknownResult) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// Behavior returns the member "behavior", whatever it is.
func (v *UnknownResult) Behavior() string { return lookupString(v.raw, "behavior") }

func decodePermissionResult(d *decoder, raw value) PermissionResult {
	list, mark, ok := d.members(raw)
	defer d.drop(mark)
	if !ok {
		u := new(UnknownResult)
		u.raw = d.raw(raw) // not even an object, or nested too deep
		return u
	}
	var v PermissionResult
	switch string(d.tag(list, "behavior")) {
	case "allow":
		v = new(Allow)
	case "deny":
		v = new(Deny)
	}
	if v == nil {
		v = new(UnknownResult)
	}
	d.fill(v, raw, list)
	return v
}

// Request is the inside of a control request. The set of types behind it is
// closed; what the table does not know is a [*UnknownRequest]. A switch over
// it that must be complete is checked by the gochecksumtype linter:
//
//	switch v := v.(type) {
//	case *wire.InitializeRequest:
//	case *wire.InterruptRequest:
//	case *wire.EndSessionRequest:
//	…
//	case *wire.UnknownRequest:
//	}
//
//sumtype:decl
type Request interface {
	object
	// Raw returns the bytes that the value was decoded from, nil if it was built.
	Raw() json.RawMessage
	// Extra returns a member that no field holds, or nil.
	Extra(name string) json.RawMessage
	// ExtraNames returns the names that Extra knows.
	ExtraNames() []string
	// RequestSubtype returns what tells the variants apart (member "subtype").
	RequestSubtype() string
	request()
}

// UnknownRequest is a Request that the protocol table does not know. Its
// members are all in Extra; encoded, it is what it was decoded from.
type UnknownRequest struct {
	Source
}

func (*UnknownRequest) setMember(*decoder, []byte, value) bool { return false }

func (*UnknownRequest) appendMembers(*encoder) {}

func (*UnknownRequest) fresh() object { return new(UnknownRequest) }

func (*UnknownRequest) request() {}

// UnmarshalJSON keeps the value as it is.
func (v *UnknownRequest) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON returns the value as it was decoded.
func (v UnknownRequest) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// RequestSubtype returns the member "subtype", whatever it is.
func (v *UnknownRequest) RequestSubtype() string { return lookupString(v.raw, "subtype") }

func decodeRequest(d *decoder, raw value) Request {
	list, mark, ok := d.members(raw)
	defer d.drop(mark)
	if !ok {
		u := new(UnknownRequest)
		u.raw = d.raw(raw) // not even an object, or nested too deep
		return u
	}
	var v Request
	switch string(d.tag(list, "subtype")) {
	case "initialize":
		v = new(InitializeRequest)
	case "interrupt":
		v = new(InterruptRequest)
	case "end_session":
		v = new(EndSessionRequest)
	case "set_permission_mode":
		v = new(SetPermissionModeRequest)
	case "set_model":
		v = new(SetModelRequest)
	case "set_max_thinking_tokens":
		v = new(SetMaxThinkingTokensRequest)
	case "apply_flag_settings":
		v = new(ApplyFlagSettingsRequest)
	case "get_settings":
		v = new(GetSettingsRequest)
	case "update_settings":
		v = new(UpdateSettingsRequest)
	case "rename_session":
		v = new(RenameSessionRequest)
	case "generate_session_title":
		v = new(GenerateSessionTitleRequest)
	case "set_color":
		v = new(SetColorRequest)
	case "set_has_subscribers":
		v = new(SetHasSubscribersRequest)
	case "cancel_async_message":
		v = new(CancelAsyncMessageRequest)
	case "rewind_files":
		v = new(RewindFilesRequest)
	case "side_question":
		v = new(SideQuestionRequest)
	case "stop_task":
		v = new(StopTaskRequest)
	case "background_tasks":
		v = new(BackgroundTasksRequest)
	case "get_task_output":
		v = new(GetTaskOutputRequest)
	case "get_context_usage":
		v = new(GetContextUsageRequest)
	case "get_session_cost":
		v = new(GetSessionCostRequest)
	case "get_usage":
		v = new(GetUsageRequest)
	case "list_models":
		v = new(ListModelsRequest)
	case "get_binary_version":
		v = new(GetBinaryVersionRequest)
	case "get_hooks_listing":
		v = new(GetHooksListingRequest)
	case "list_permission_rules":
		v = new(ListPermissionRulesRequest)
	case "file_suggestions":
		v = new(FileSuggestionsRequest)
	case "read_file":
		v = new(ReadFileRequest)
	case "seed_read_state":
		v = new(SeedReadStateRequest)
	case "register_repo_root":
		v = new(RegisterRepoRootRequest)
	case "reload_plugins":
		v = new(ReloadPluginsRequest)
	case "reload_skills":
		v = new(ReloadSkillsRequest)
	case "reload_output_styles":
		v = new(ReloadOutputStylesRequest)
	case "mcp_status":
		v = new(MCPStatusRequest)
	case "mcp_set_servers":
		v = new(MCPSetServersRequest)
	case "mcp_reconnect":
		v = new(MCPReconnectRequest)
	case "mcp_toggle":
		v = new(MCPToggleRequest)
	case "mcp_call":
		v = new(MCPCallRequest)
	case "mcp_read_resource":
		v = new(MCPReadResourceRequest)
	case "mcp_message":
		v = new(MCPMessageRequest)
	case "can_use_tool":
		v = new(CanUseToolRequest)
	case "hook_callback":
		v = new(HookCallbackRequest)
	case "elicitation":
		v = new(ElicitationRequest)
	case "request_user_dialog":
		v = new(UserDialogRequest)
	case "sdk_control_interrupt":
		v = new(SDKControlInterruptRequest)
	}
	if v == nil {
		v = new(UnknownRequest)
	}
	d.fill(v, raw, list)
	return v
}

// HookInput is what a hook is told. The set of types behind it is closed; what
// the table does not know is a [*UnknownHookInput]. A switch over it that must
// be complete is checked by the gochecksumtype linter:
//
//	switch v := v.(type) {
//	case *wire.PreToolUseInput:
//	case *wire.PostToolUseInput:
//	case *wire.PostToolUseFailureInput:
//	…
//	case *wire.UnknownHookInput:
//	}
//
//sumtype:decl
type HookInput interface {
	object
	// Raw returns the bytes that the value was decoded from, nil if it was built.
	Raw() json.RawMessage
	// Extra returns a member that no field holds, or nil.
	Extra(name string) json.RawMessage
	// ExtraNames returns the names that Extra knows.
	ExtraNames() []string
	// HookEventName returns what tells the variants apart (member "hook_event_name").
	HookEventName() string
	// Common returns the members that every hook input has.
	Common() *HookCommon
	hookInput()
}

// UnknownHookInput is a HookInput that the protocol table does not know. Its
// members are all in Extra; encoded, it is what it was decoded from.
type UnknownHookInput struct {
	Source
}

func (*UnknownHookInput) setMember(*decoder, []byte, value) bool { return false }

func (*UnknownHookInput) appendMembers(*encoder) {}

func (*UnknownHookInput) fresh() object { return new(UnknownHookInput) }

func (*UnknownHookInput) hookInput() {}

// UnmarshalJSON keeps the value as it is.
func (v *UnknownHookInput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON returns the value as it was decoded.
func (v UnknownHookInput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// HookEventName returns the member "hook_event_name", whatever it is.
func (v *UnknownHookInput) HookEventName() string { return lookupString(v.raw, "hook_event_name") }

// Common returns the members that every hook input has.
func (v *UnknownHookInput) Common() *HookCommon {
	c := new(HookCommon)
	for _, m := range v.extra {
		setField(c, m.name, m.raw)
	}
	return c
}

func decodeHookInput(d *decoder, raw value) HookInput {
	list, mark, ok := d.members(raw)
	defer d.drop(mark)
	if !ok {
		u := new(UnknownHookInput)
		u.raw = d.raw(raw) // not even an object, or nested too deep
		return u
	}
	var v HookInput
	switch string(d.tag(list, "hook_event_name")) {
	case "PreToolUse":
		v = new(PreToolUseInput)
	case "PostToolUse":
		v = new(PostToolUseInput)
	case "PostToolUseFailure":
		v = new(PostToolUseFailureInput)
	case "PostToolBatch":
		v = new(PostToolBatchInput)
	case "PermissionRequest":
		v = new(PermissionRequestInput)
	case "PermissionDenied":
		v = new(PermissionDeniedInput)
	case "UserPromptSubmit":
		v = new(UserPromptSubmitInput)
	case "UserPromptExpansion":
		v = new(UserPromptExpansionInput)
	case "Stop":
		v = new(StopInput)
	case "StopFailure":
		v = new(StopFailureInput)
	case "Notification":
		v = new(NotificationInput)
	case "MessageDisplay":
		v = new(MessageDisplayInput)
	case "SessionStart":
		v = new(SessionStartInput)
	case "SessionEnd":
		v = new(SessionEndInput)
	case "Setup":
		v = new(SetupInput)
	case "PreCompact":
		v = new(PreCompactInput)
	case "PostCompact":
		v = new(PostCompactInput)
	case "PreModelSwitch":
		v = new(PreModelSwitchInput)
	case "PostModelSwitch":
		v = new(PostModelSwitchInput)
	case "SubagentStart":
		v = new(SubagentStartInput)
	case "SubagentStop":
		v = new(SubagentStopInput)
	case "TeammateIdle":
		v = new(TeammateIdleInput)
	case "TaskCreated":
		v = new(TaskCreatedInput)
	case "TaskCompleted":
		v = new(TaskCompletedInput)
	case "Elicitation":
		v = new(ElicitationInput)
	case "ElicitationResult":
		v = new(ElicitationResultInput)
	case "ConfigChange":
		v = new(ConfigChangeInput)
	case "WorktreeCreate":
		v = new(WorktreeCreateInput)
	case "WorktreeRemove":
		v = new(WorktreeRemoveInput)
	case "InstructionsLoaded":
		v = new(InstructionsLoadedInput)
	case "CwdChanged":
		v = new(CwdChangedInput)
	case "FileChanged":
		v = new(FileChangedInput)
	case "DirectoryAdded":
		v = new(DirectoryAddedInput)
	}
	if v == nil {
		v = new(UnknownHookInput)
	}
	d.fill(v, raw, list)
	return v
}

// HookSpecific is the part of a hook's answer that is particular to its event.
// The set of types behind it is closed; what the table does not know is a
// [*UnknownHookSpecific]. A switch over it that must be complete is checked by
// the gochecksumtype linter:
//
//	switch v := v.(type) {
//	case *wire.PreToolUseOutput:
//	case *wire.PostToolUseOutput:
//	case *wire.PostToolUseFailureOutput:
//	…
//	case *wire.UnknownHookSpecific:
//	}
//
//sumtype:decl
type HookSpecific interface {
	object
	// Raw returns the bytes that the value was decoded from, nil if it was built.
	Raw() json.RawMessage
	// Extra returns a member that no field holds, or nil.
	Extra(name string) json.RawMessage
	// ExtraNames returns the names that Extra knows.
	ExtraNames() []string
	// HookEventName returns what tells the variants apart (member "hookEventName").
	HookEventName() string
	hookSpecific()
}

// UnknownHookSpecific is a HookSpecific that the protocol table does not know.
// Its members are all in Extra; encoded, it is what it was decoded from.
type UnknownHookSpecific struct {
	Source
}

func (*UnknownHookSpecific) setMember(*decoder, []byte, value) bool { return false }

func (*UnknownHookSpecific) appendMembers(*encoder) {}

func (*UnknownHookSpecific) fresh() object { return new(UnknownHookSpecific) }

func (*UnknownHookSpecific) hookSpecific() {}

// UnmarshalJSON keeps the value as it is.
func (v *UnknownHookSpecific) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON returns the value as it was decoded.
func (v UnknownHookSpecific) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

// HookEventName returns the member "hookEventName", whatever it is.
func (v *UnknownHookSpecific) HookEventName() string { return lookupString(v.raw, "hookEventName") }

func decodeHookSpecific(d *decoder, raw value) HookSpecific {
	list, mark, ok := d.members(raw)
	defer d.drop(mark)
	if !ok {
		u := new(UnknownHookSpecific)
		u.raw = d.raw(raw) // not even an object, or nested too deep
		return u
	}
	var v HookSpecific
	switch string(d.tag(list, "hookEventName")) {
	case "PreToolUse":
		v = new(PreToolUseOutput)
	case "PostToolUse":
		v = new(PostToolUseOutput)
	case "PostToolUseFailure":
		v = new(PostToolUseFailureOutput)
	case "PostToolBatch":
		v = new(PostToolBatchOutput)
	case "PermissionRequest":
		v = new(PermissionRequestOutput)
	case "PermissionDenied":
		v = new(PermissionDeniedOutput)
	case "UserPromptSubmit":
		v = new(UserPromptSubmitOutput)
	case "UserPromptExpansion":
		v = new(UserPromptExpansionOutput)
	case "Stop":
		v = new(StopOutput)
	case "Notification":
		v = new(NotificationOutput)
	case "MessageDisplay":
		v = new(MessageDisplayOutput)
	case "SessionStart":
		v = new(SessionStartOutput)
	case "Setup":
		v = new(SetupOutput)
	case "PreModelSwitch":
		v = new(PreModelSwitchOutput)
	case "PostModelSwitch":
		v = new(PostModelSwitchOutput)
	case "SubagentStart":
		v = new(SubagentStartOutput)
	case "SubagentStop":
		v = new(SubagentStopOutput)
	case "Elicitation":
		v = new(ElicitationOutput)
	case "ElicitationResult":
		v = new(ElicitationResultOutput)
	case "WorktreeCreate":
		v = new(WorktreeCreateOutput)
	case "CwdChanged":
		v = new(CwdChangedOutput)
	case "FileChanged":
		v = new(FileChangedOutput)
	}
	if v == nil {
		v = new(UnknownHookSpecific)
	}
	d.fill(v, raw, list)
	return v
}

func newAnswer(subtype string) Answer {
	switch subtype {
	case "initialize":
		return new(InitializeAnswer)
	case "interrupt":
		return new(InterruptAnswer)
	case "set_permission_mode":
		return new(SetPermissionModeAnswer)
	case "set_model":
		return new(SetModelAnswer)
	case "get_settings":
		return new(GetSettingsAnswer)
	case "generate_session_title":
		return new(GenerateSessionTitleAnswer)
	case "cancel_async_message":
		return new(CancelAsyncMessageAnswer)
	case "rewind_files":
		return new(RewindFilesAnswer)
	case "side_question":
		return new(SideQuestionAnswer)
	case "background_tasks":
		return new(BackgroundTasksAnswer)
	case "get_task_output":
		return new(GetTaskOutputAnswer)
	case "get_context_usage":
		return new(GetContextUsageAnswer)
	case "get_session_cost":
		return new(GetSessionCostAnswer)
	case "get_usage":
		return new(GetUsageAnswer)
	case "list_models":
		return new(ListModelsAnswer)
	case "get_binary_version":
		return new(GetBinaryVersionAnswer)
	case "get_hooks_listing":
		return new(GetHooksListingAnswer)
	case "list_permission_rules":
		return new(ListPermissionRulesAnswer)
	case "file_suggestions":
		return new(FileSuggestionsAnswer)
	case "read_file":
		return new(ReadFileAnswer)
	case "register_repo_root":
		return new(RegisterRepoRootAnswer)
	case "reload_plugins":
		return new(ReloadPluginsAnswer)
	case "reload_skills":
		return new(ReloadSkillsAnswer)
	case "reload_output_styles":
		return new(ReloadOutputStylesAnswer)
	case "mcp_status":
		return new(MCPStatusAnswer)
	case "mcp_set_servers":
		return new(MCPSetServersAnswer)
	case "mcp_call":
		return new(MCPCallAnswer)
	case "mcp_read_resource":
		return new(MCPReadResourceAnswer)
	case "mcp_message":
		return new(MCPMessageAnswer)
	case "hook_callback":
		return new(HookCallbackAnswer)
	case "elicitation":
		return new(ElicitationAnswer)
	case "request_user_dialog":
		return new(UserDialogAnswer)
	}
	return nil
}

// requestSpecOf returns what the table says of a control request.
func requestSpecOf(subtype string) (requestSpec, bool) {
	switch subtype {
	case "initialize":
		return requestSpec{ToCLI, ScopeAdmin, nil}, true
	case "interrupt":
		return requestSpec{ToCLI, ScopePrompt, nil}, true
	case "end_session":
		return requestSpec{ToCLI, ScopeAdmin, nil}, true
	case "set_permission_mode":
		return requestSpec{ToCLI, ScopeApprove, []string{"mode"}}, true
	case "set_model":
		return requestSpec{ToCLI, ScopePrompt, nil}, true
	case "set_max_thinking_tokens":
		return requestSpec{ToCLI, ScopePrompt, []string{"max_thinking_tokens"}}, true
	case "apply_flag_settings":
		return requestSpec{ToCLI, ScopeAdmin, []string{"settings"}}, true
	case "get_settings":
		return requestSpec{ToCLI, ScopeAdmin, nil}, true
	case "update_settings":
		return requestSpec{ToCLI, ScopeAdmin, []string{"source", "settings"}}, true
	case "rename_session":
		return requestSpec{ToCLI, ScopePrompt, []string{"title"}}, true
	case "generate_session_title":
		return requestSpec{ToCLI, ScopeAdmin, []string{"description"}}, true
	case "set_color":
		return requestSpec{ToCLI, ScopeAdmin, []string{"color"}}, true
	case "set_has_subscribers":
		return requestSpec{ToCLI, ScopeAdmin, []string{"has_subscribers"}}, true
	case "cancel_async_message":
		return requestSpec{ToCLI, ScopePrompt, []string{"message_uuid"}}, true
	case "rewind_files":
		return requestSpec{ToCLI, ScopeApprove, []string{"user_message_id"}}, true
	case "side_question":
		return requestSpec{ToCLI, ScopeAdmin, []string{"question"}}, true
	case "stop_task":
		return requestSpec{ToCLI, ScopePrompt, []string{"task_id"}}, true
	case "background_tasks":
		return requestSpec{ToCLI, ScopePrompt, nil}, true
	case "get_task_output":
		return requestSpec{ToCLI, ScopePrompt, []string{"task_id"}}, true
	case "get_context_usage":
		return requestSpec{ToCLI, ScopeObserve, nil}, true
	case "get_session_cost":
		return requestSpec{ToCLI, ScopeObserve, nil}, true
	case "get_usage":
		return requestSpec{ToCLI, ScopeObserve, nil}, true
	case "list_models":
		return requestSpec{ToCLI, ScopeObserve, nil}, true
	case "get_binary_version":
		return requestSpec{ToCLI, ScopeObserve, nil}, true
	case "get_hooks_listing":
		return requestSpec{ToCLI, ScopeAdmin, nil}, true
	case "list_permission_rules":
		return requestSpec{ToCLI, ScopeAdmin, nil}, true
	case "file_suggestions":
		return requestSpec{ToCLI, ScopePrompt, []string{"query"}}, true
	case "read_file":
		return requestSpec{ToCLI, ScopeAdmin, []string{"path"}}, true
	case "seed_read_state":
		return requestSpec{ToCLI, ScopeAdmin, []string{"path", "mtime"}}, true
	case "register_repo_root":
		return requestSpec{ToCLI, ScopeAdmin, []string{"directory"}}, true
	case "reload_plugins":
		return requestSpec{ToCLI, ScopeAdmin, nil}, true
	case "reload_skills":
		return requestSpec{ToCLI, ScopeAdmin, nil}, true
	case "reload_output_styles":
		return requestSpec{ToCLI, ScopeAdmin, nil}, true
	case "mcp_status":
		return requestSpec{ToCLI, ScopeObserve, nil}, true
	case "mcp_set_servers":
		return requestSpec{ToCLI, ScopeAdmin, []string{"servers"}}, true
	case "mcp_reconnect":
		return requestSpec{ToCLI, ScopeAdmin, []string{"serverName"}}, true
	case "mcp_toggle":
		return requestSpec{ToCLI, ScopeAdmin, []string{"serverName", "enabled"}}, true
	case "mcp_call":
		return requestSpec{ToCLI, ScopeAdmin, []string{"tool"}}, true
	case "mcp_read_resource":
		return requestSpec{ToCLI, ScopeAdmin, []string{"serverName", "uri"}}, true
	case "mcp_message":
		return requestSpec{BothWays, ScopeAdmin, []string{"server_name", "message"}}, true
	case "can_use_tool":
		return requestSpec{FromCLI, ScopeAdmin, []string{"tool_name", "input", "tool_use_id"}}, true
	case "hook_callback":
		return requestSpec{FromCLI, ScopeAdmin, []string{"callback_id", "input"}}, true
	case "elicitation":
		return requestSpec{FromCLI, ScopeAdmin, []string{"mcp_server_name", "message"}}, true
	case "request_user_dialog":
		return requestSpec{FromCLI, ScopeAdmin, []string{"dialog_kind", "payload"}}, true
	case "sdk_control_interrupt":
		return requestSpec{FromCLI, ScopeAdmin, nil}, true
	}
	return requestSpec{}, false
}

// classOf returns what the table says of a line's life.
func classOf(typ, subtype string) Class {
	switch typ {
	case "stream_event":
		return Live
	case "tool_progress":
		return Live
	case "system":
		switch subtype {
		case "hook_progress":
			return Live
		case "task_progress":
			return Live
		case "thinking_tokens":
			return Live
		}
	case "keep_alive":
		return Consumed
	}
	return Durable
}
