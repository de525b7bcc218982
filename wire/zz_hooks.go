// Code generated from schema/*.wire by wire/internal/gen. DO NOT EDIT.

package wire

import "encoding/json"

// PreToolUseInput is told before a tool runs.
type PreToolUseInput struct {
	Source
	HookCommon

	// The tool.
	ToolName string `json:"tool_name"`

	// Its input.
	ToolInput json.RawMessage `json:"tool_input"`

	// The call.
	ToolUseID string `json:"tool_use_id"`

	// Its MCP server. Newer versions only.
	MCPServer *MCPServerRef `json:"mcp_server,omitempty"`
}

func (v *PreToolUseInput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hook_event_name":
		return true
	case "tool_name":
		return setString[string](d, &v.ToolName, raw)
	case "tool_input":
		return setRaw(d, &v.ToolInput, raw)
	case "tool_use_id":
		return setString[string](d, &v.ToolUseID, raw)
	case "mcp_server":
		return setPointer(d, &v.MCPServer, raw, setStruct[MCPServerRef])
	}
	return v.HookCommon.setMember(d, name, raw)
}

func (v *PreToolUseInput) appendMembers(e *encoder) {
	e.raw("hook_event_name", []byte(`"PreToolUse"`))
	v.HookCommon.appendMembers(e)
	put(e, "tool_name", v.ToolName, v.ToolName == "", always, encString[string])
	put(e, "tool_input", v.ToolInput, v.ToolInput == nil, always, encRaw)
	put(e, "tool_use_id", v.ToolUseID, v.ToolUseID == "", always, encString[string])
	put(e, "mcp_server", v.MCPServer, v.MCPServer == nil, optional, encPointer(encStruct[MCPServerRef]))
}

func (*PreToolUseInput) fresh() object { return new(PreToolUseInput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *PreToolUseInput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v PreToolUseInput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*PreToolUseInput) hookInput() {}

// HookEventName returns "PreToolUse".
func (*PreToolUseInput) HookEventName() string { return "PreToolUse" }

// Common returns the members that every hook input has.
func (v *PreToolUseInput) Common() *HookCommon { return &v.HookCommon }

// PreToolUseOutput decides about a tool call.
type PreToolUseOutput struct {
	Source
	// The decision. If empty, the CLI decides.
	PermissionDecision HookPermissionDecision `json:"permissionDecision,omitempty"`

	// Why.
	PermissionDecisionReason string `json:"permissionDecisionReason,omitempty"`

	// The input to run with.
	UpdatedInput json.RawMessage `json:"updatedInput,omitempty"`

	// A text for the model.
	AdditionalContext string `json:"additionalContext,omitempty"`
}

func (v *PreToolUseOutput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hookEventName":
		return true
	case "permissionDecision":
		return setString[HookPermissionDecision](d, &v.PermissionDecision, raw)
	case "permissionDecisionReason":
		return setString[string](d, &v.PermissionDecisionReason, raw)
	case "updatedInput":
		return setRaw(d, &v.UpdatedInput, raw)
	case "additionalContext":
		return setString[string](d, &v.AdditionalContext, raw)
	}
	return false
}

func (v *PreToolUseOutput) appendMembers(e *encoder) {
	e.raw("hookEventName", []byte(`"PreToolUse"`))
	put(e, "permissionDecision", v.PermissionDecision, v.PermissionDecision == "", optional, encString[HookPermissionDecision])
	put(e, "permissionDecisionReason", v.PermissionDecisionReason, v.PermissionDecisionReason == "", optional, encString[string])
	put(e, "updatedInput", v.UpdatedInput, v.UpdatedInput == nil, optional, encRaw)
	put(e, "additionalContext", v.AdditionalContext, v.AdditionalContext == "", optional, encString[string])
}

func (*PreToolUseOutput) fresh() object { return new(PreToolUseOutput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *PreToolUseOutput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v PreToolUseOutput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*PreToolUseOutput) hookSpecific() {}

// HookEventName returns "PreToolUse".
func (*PreToolUseOutput) HookEventName() string { return "PreToolUse" }

// PostToolUseInput is told after a tool has run.
type PostToolUseInput struct {
	Source
	HookCommon

	// The tool.
	ToolName string `json:"tool_name"`

	// Its input.
	ToolInput json.RawMessage `json:"tool_input"`

	// Its output.
	ToolResponse json.RawMessage `json:"tool_response"`

	// The call.
	ToolUseID string `json:"tool_use_id"`

	// How long it ran, in milliseconds. Newer versions only.
	DurationMs float64 `json:"duration_ms,omitempty"`

	// Its MCP server. Newer versions only.
	MCPServer *MCPServerRef `json:"mcp_server,omitempty"`
}

func (v *PostToolUseInput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hook_event_name":
		return true
	case "tool_name":
		return setString[string](d, &v.ToolName, raw)
	case "tool_input":
		return setRaw(d, &v.ToolInput, raw)
	case "tool_response":
		return setRaw(d, &v.ToolResponse, raw)
	case "tool_use_id":
		return setString[string](d, &v.ToolUseID, raw)
	case "duration_ms":
		return setNum(d, &v.DurationMs, raw)
	case "mcp_server":
		return setPointer(d, &v.MCPServer, raw, setStruct[MCPServerRef])
	}
	return v.HookCommon.setMember(d, name, raw)
}

func (v *PostToolUseInput) appendMembers(e *encoder) {
	e.raw("hook_event_name", []byte(`"PostToolUse"`))
	v.HookCommon.appendMembers(e)
	put(e, "tool_name", v.ToolName, v.ToolName == "", always, encString[string])
	put(e, "tool_input", v.ToolInput, v.ToolInput == nil, always, encRaw)
	put(e, "tool_response", v.ToolResponse, v.ToolResponse == nil, always, encRaw)
	put(e, "tool_use_id", v.ToolUseID, v.ToolUseID == "", always, encString[string])
	put(e, "duration_ms", v.DurationMs, v.DurationMs == 0, optional, encNum)
	put(e, "mcp_server", v.MCPServer, v.MCPServer == nil, optional, encPointer(encStruct[MCPServerRef]))
}

func (*PostToolUseInput) fresh() object { return new(PostToolUseInput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *PostToolUseInput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v PostToolUseInput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*PostToolUseInput) hookInput() {}

// HookEventName returns "PostToolUse".
func (*PostToolUseInput) HookEventName() string { return "PostToolUse" }

// Common returns the members that every hook input has.
func (v *PostToolUseInput) Common() *HookCommon { return &v.HookCommon }

// PostToolUseOutput adds to the result of a tool.
type PostToolUseOutput struct {
	Source
	// A text for the model.
	AdditionalContext string `json:"additionalContext,omitempty"`

	// A text for the classifier of mode auto, at most 2000 characters. Newer
	// versions only.
	ClassifierContext string `json:"classifierContext,omitempty"`

	// The output to use instead. Newer versions only.
	UpdatedToolOutput json.RawMessage `json:"updatedToolOutput,omitempty"`

	// The output to use instead, for MCP tools. Deprecated in newer versions.
	UpdatedMCPToolOutput json.RawMessage `json:"updatedMCPToolOutput,omitempty"`
}

func (v *PostToolUseOutput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hookEventName":
		return true
	case "additionalContext":
		return setString[string](d, &v.AdditionalContext, raw)
	case "classifierContext":
		return setString[string](d, &v.ClassifierContext, raw)
	case "updatedToolOutput":
		return setRaw(d, &v.UpdatedToolOutput, raw)
	case "updatedMCPToolOutput":
		return setRaw(d, &v.UpdatedMCPToolOutput, raw)
	}
	return false
}

func (v *PostToolUseOutput) appendMembers(e *encoder) {
	e.raw("hookEventName", []byte(`"PostToolUse"`))
	put(e, "additionalContext", v.AdditionalContext, v.AdditionalContext == "", optional, encString[string])
	put(e, "classifierContext", v.ClassifierContext, v.ClassifierContext == "", optional, encString[string])
	put(e, "updatedToolOutput", v.UpdatedToolOutput, v.UpdatedToolOutput == nil, optional, encRaw)
	put(e, "updatedMCPToolOutput", v.UpdatedMCPToolOutput, v.UpdatedMCPToolOutput == nil, optional, encRaw)
}

func (*PostToolUseOutput) fresh() object { return new(PostToolUseOutput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *PostToolUseOutput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v PostToolUseOutput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*PostToolUseOutput) hookSpecific() {}

// HookEventName returns "PostToolUse".
func (*PostToolUseOutput) HookEventName() string { return "PostToolUse" }

// PostToolUseFailureInput is told after a tool has failed.
type PostToolUseFailureInput struct {
	Source
	HookCommon

	// The tool.
	ToolName string `json:"tool_name"`

	// Its input.
	ToolInput json.RawMessage `json:"tool_input"`

	// The call.
	ToolUseID string `json:"tool_use_id"`

	// Why it failed.
	Error string `json:"error"`

	// It was interrupted.
	IsInterrupt bool `json:"is_interrupt,omitempty"`

	// How long it ran, in milliseconds. Newer versions only.
	DurationMs float64 `json:"duration_ms,omitempty"`

	// Its MCP server. Newer versions only.
	MCPServer *MCPServerRef `json:"mcp_server,omitempty"`
}

func (v *PostToolUseFailureInput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hook_event_name":
		return true
	case "tool_name":
		return setString[string](d, &v.ToolName, raw)
	case "tool_input":
		return setRaw(d, &v.ToolInput, raw)
	case "tool_use_id":
		return setString[string](d, &v.ToolUseID, raw)
	case "error":
		return setString[string](d, &v.Error, raw)
	case "is_interrupt":
		return setBool(d, &v.IsInterrupt, raw)
	case "duration_ms":
		return setNum(d, &v.DurationMs, raw)
	case "mcp_server":
		return setPointer(d, &v.MCPServer, raw, setStruct[MCPServerRef])
	}
	return v.HookCommon.setMember(d, name, raw)
}

func (v *PostToolUseFailureInput) appendMembers(e *encoder) {
	e.raw("hook_event_name", []byte(`"PostToolUseFailure"`))
	v.HookCommon.appendMembers(e)
	put(e, "tool_name", v.ToolName, v.ToolName == "", always, encString[string])
	put(e, "tool_input", v.ToolInput, v.ToolInput == nil, always, encRaw)
	put(e, "tool_use_id", v.ToolUseID, v.ToolUseID == "", always, encString[string])
	put(e, "error", v.Error, v.Error == "", always, encString[string])
	put(e, "is_interrupt", v.IsInterrupt, !v.IsInterrupt, optional, encBool)
	put(e, "duration_ms", v.DurationMs, v.DurationMs == 0, optional, encNum)
	put(e, "mcp_server", v.MCPServer, v.MCPServer == nil, optional, encPointer(encStruct[MCPServerRef]))
}

func (*PostToolUseFailureInput) fresh() object { return new(PostToolUseFailureInput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *PostToolUseFailureInput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v PostToolUseFailureInput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*PostToolUseFailureInput) hookInput() {}

// HookEventName returns "PostToolUseFailure".
func (*PostToolUseFailureInput) HookEventName() string { return "PostToolUseFailure" }

// Common returns the members that every hook input has.
func (v *PostToolUseFailureInput) Common() *HookCommon { return &v.HookCommon }

// PostToolUseFailureOutput adds to the failure of a tool.
type PostToolUseFailureOutput struct {
	Source
	// A text for the model.
	AdditionalContext string `json:"additionalContext,omitempty"`
}

func (v *PostToolUseFailureOutput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hookEventName":
		return true
	case "additionalContext":
		return setString[string](d, &v.AdditionalContext, raw)
	}
	return false
}

func (v *PostToolUseFailureOutput) appendMembers(e *encoder) {
	e.raw("hookEventName", []byte(`"PostToolUseFailure"`))
	put(e, "additionalContext", v.AdditionalContext, v.AdditionalContext == "", optional, encString[string])
}

func (*PostToolUseFailureOutput) fresh() object { return new(PostToolUseFailureOutput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *PostToolUseFailureOutput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v PostToolUseFailureOutput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*PostToolUseFailureOutput) hookSpecific() {}

// HookEventName returns "PostToolUseFailure".
func (*PostToolUseFailureOutput) HookEventName() string { return "PostToolUseFailure" }

// PostToolBatchInput is told after all tools of a message have run.
type PostToolBatchInput struct {
	Source
	HookCommon

	// The calls.
	ToolCalls []BatchToolCall `json:"tool_calls"`
}

func (v *PostToolBatchInput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hook_event_name":
		return true
	case "tool_calls":
		return setList(d, &v.ToolCalls, raw, setStruct[BatchToolCall])
	}
	return v.HookCommon.setMember(d, name, raw)
}

func (v *PostToolBatchInput) appendMembers(e *encoder) {
	e.raw("hook_event_name", []byte(`"PostToolBatch"`))
	v.HookCommon.appendMembers(e)
	put(e, "tool_calls", v.ToolCalls, v.ToolCalls == nil, always, encList(encStruct[BatchToolCall]))
}

func (*PostToolBatchInput) fresh() object { return new(PostToolBatchInput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *PostToolBatchInput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v PostToolBatchInput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*PostToolBatchInput) hookInput() {}

// HookEventName returns "PostToolBatch".
func (*PostToolBatchInput) HookEventName() string { return "PostToolBatch" }

// Common returns the members that every hook input has.
func (v *PostToolBatchInput) Common() *HookCommon { return &v.HookCommon }

// PostToolBatchOutput adds to the results of several tools.
type PostToolBatchOutput struct {
	Source
	// A text for the model.
	AdditionalContext string `json:"additionalContext,omitempty"`
}

func (v *PostToolBatchOutput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hookEventName":
		return true
	case "additionalContext":
		return setString[string](d, &v.AdditionalContext, raw)
	}
	return false
}

func (v *PostToolBatchOutput) appendMembers(e *encoder) {
	e.raw("hookEventName", []byte(`"PostToolBatch"`))
	put(e, "additionalContext", v.AdditionalContext, v.AdditionalContext == "", optional, encString[string])
}

func (*PostToolBatchOutput) fresh() object { return new(PostToolBatchOutput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *PostToolBatchOutput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v PostToolBatchOutput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*PostToolBatchOutput) hookSpecific() {}

// HookEventName returns "PostToolBatch".
func (*PostToolBatchOutput) HookEventName() string { return "PostToolBatch" }

// PermissionRequestInput is told before a permission is asked for.
type PermissionRequestInput struct {
	Source
	HookCommon

	// The tool.
	ToolName string `json:"tool_name"`

	// Its input.
	ToolInput json.RawMessage `json:"tool_input"`

	// Updates that would save the question in future.
	PermissionSuggestions []PermissionUpdate `json:"permission_suggestions,omitempty"`

	// Its MCP server. Newer versions only.
	MCPServer *MCPServerRef `json:"mcp_server,omitempty"`
}

func (v *PermissionRequestInput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hook_event_name":
		return true
	case "tool_name":
		return setString[string](d, &v.ToolName, raw)
	case "tool_input":
		return setRaw(d, &v.ToolInput, raw)
	case "permission_suggestions":
		return setList(d, &v.PermissionSuggestions, raw, func(d *decoder, dst *PermissionUpdate, raw value) bool {
			return setUnion(d, dst, raw, decodePermissionUpdate)
		})
	case "mcp_server":
		return setPointer(d, &v.MCPServer, raw, setStruct[MCPServerRef])
	}
	return v.HookCommon.setMember(d, name, raw)
}

func (v *PermissionRequestInput) appendMembers(e *encoder) {
	e.raw("hook_event_name", []byte(`"PermissionRequest"`))
	v.HookCommon.appendMembers(e)
	put(e, "tool_name", v.ToolName, v.ToolName == "", always, encString[string])
	put(e, "tool_input", v.ToolInput, v.ToolInput == nil, always, encRaw)
	put(e, "permission_suggestions", v.PermissionSuggestions, v.PermissionSuggestions == nil, optional, encList(encUnion[PermissionUpdate]))
	put(e, "mcp_server", v.MCPServer, v.MCPServer == nil, optional, encPointer(encStruct[MCPServerRef]))
}

func (*PermissionRequestInput) fresh() object { return new(PermissionRequestInput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *PermissionRequestInput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v PermissionRequestInput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*PermissionRequestInput) hookInput() {}

// HookEventName returns "PermissionRequest".
func (*PermissionRequestInput) HookEventName() string { return "PermissionRequest" }

// Common returns the members that every hook input has.
func (v *PermissionRequestInput) Common() *HookCommon { return &v.HookCommon }

// PermissionRequestOutput answers in place of the user.
type PermissionRequestOutput struct {
	Source
	// The answer; toolUseID and decisionClassification have no place in it.
	Decision PermissionResult `json:"decision"`
}

func (v *PermissionRequestOutput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hookEventName":
		return true
	case "decision":
		return setUnion(d, &v.Decision, raw, decodePermissionResult)
	}
	return false
}

func (v *PermissionRequestOutput) appendMembers(e *encoder) {
	e.raw("hookEventName", []byte(`"PermissionRequest"`))
	put(e, "decision", v.Decision, v.Decision == nil, always, encUnion[PermissionResult])
}

func (*PermissionRequestOutput) fresh() object { return new(PermissionRequestOutput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *PermissionRequestOutput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v PermissionRequestOutput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*PermissionRequestOutput) hookSpecific() {}

// HookEventName returns "PermissionRequest".
func (*PermissionRequestOutput) HookEventName() string { return "PermissionRequest" }

// PermissionDeniedInput is told after a tool call was refused.
type PermissionDeniedInput struct {
	Source
	HookCommon

	// The tool.
	ToolName string `json:"tool_name"`

	// Its input.
	ToolInput json.RawMessage `json:"tool_input"`

	// The call.
	ToolUseID string `json:"tool_use_id"`

	// Why.
	Reason string `json:"reason"`

	// Its MCP server.
	MCPServer *MCPServerRef `json:"mcp_server,omitempty"`
}

func (v *PermissionDeniedInput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hook_event_name":
		return true
	case "tool_name":
		return setString[string](d, &v.ToolName, raw)
	case "tool_input":
		return setRaw(d, &v.ToolInput, raw)
	case "tool_use_id":
		return setString[string](d, &v.ToolUseID, raw)
	case "reason":
		return setString[string](d, &v.Reason, raw)
	case "mcp_server":
		return setPointer(d, &v.MCPServer, raw, setStruct[MCPServerRef])
	}
	return v.HookCommon.setMember(d, name, raw)
}

func (v *PermissionDeniedInput) appendMembers(e *encoder) {
	e.raw("hook_event_name", []byte(`"PermissionDenied"`))
	v.HookCommon.appendMembers(e)
	put(e, "tool_name", v.ToolName, v.ToolName == "", always, encString[string])
	put(e, "tool_input", v.ToolInput, v.ToolInput == nil, always, encRaw)
	put(e, "tool_use_id", v.ToolUseID, v.ToolUseID == "", always, encString[string])
	put(e, "reason", v.Reason, v.Reason == "", always, encString[string])
	put(e, "mcp_server", v.MCPServer, v.MCPServer == nil, optional, encPointer(encStruct[MCPServerRef]))
}

func (*PermissionDeniedInput) fresh() object { return new(PermissionDeniedInput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *PermissionDeniedInput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v PermissionDeniedInput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*PermissionDeniedInput) hookInput() {}

// HookEventName returns "PermissionDenied".
func (*PermissionDeniedInput) HookEventName() string { return "PermissionDenied" }

// Common returns the members that every hook input has.
func (v *PermissionDeniedInput) Common() *HookCommon { return &v.HookCommon }

// PermissionDeniedOutput reacts to a refusal.
type PermissionDeniedOutput struct {
	Source
	// Let the model try again.
	Retry bool `json:"retry,omitempty"`
}

func (v *PermissionDeniedOutput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hookEventName":
		return true
	case "retry":
		return setBool(d, &v.Retry, raw)
	}
	return false
}

func (v *PermissionDeniedOutput) appendMembers(e *encoder) {
	e.raw("hookEventName", []byte(`"PermissionDenied"`))
	put(e, "retry", v.Retry, !v.Retry, optional, encBool)
}

func (*PermissionDeniedOutput) fresh() object { return new(PermissionDeniedOutput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *PermissionDeniedOutput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v PermissionDeniedOutput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*PermissionDeniedOutput) hookSpecific() {}

// HookEventName returns "PermissionDenied".
func (*PermissionDeniedOutput) HookEventName() string { return "PermissionDenied" }

// UserPromptSubmitInput is told when a prompt came in.
type UserPromptSubmitInput struct {
	Source
	HookCommon

	// The prompt.
	Prompt string `json:"prompt"`

	// Where it came from. Newer versions only.
	Origin PromptSource `json:"source,omitempty"`

	// The session's title. Newer versions only.
	SessionTitle string `json:"session_title,omitempty"`
}

func (v *UserPromptSubmitInput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hook_event_name":
		return true
	case "prompt":
		return setString[string](d, &v.Prompt, raw)
	case "source":
		return setString[PromptSource](d, &v.Origin, raw)
	case "session_title":
		return setString[string](d, &v.SessionTitle, raw)
	}
	return v.HookCommon.setMember(d, name, raw)
}

func (v *UserPromptSubmitInput) appendMembers(e *encoder) {
	e.raw("hook_event_name", []byte(`"UserPromptSubmit"`))
	v.HookCommon.appendMembers(e)
	put(e, "prompt", v.Prompt, v.Prompt == "", always, encString[string])
	put(e, "source", v.Origin, v.Origin == "", optional, encString[PromptSource])
	put(e, "session_title", v.SessionTitle, v.SessionTitle == "", optional, encString[string])
}

func (*UserPromptSubmitInput) fresh() object { return new(UserPromptSubmitInput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *UserPromptSubmitInput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v UserPromptSubmitInput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*UserPromptSubmitInput) hookInput() {}

// HookEventName returns "UserPromptSubmit".
func (*UserPromptSubmitInput) HookEventName() string { return "UserPromptSubmit" }

// Common returns the members that every hook input has.
func (v *UserPromptSubmitInput) Common() *HookCommon { return &v.HookCommon }

// UserPromptSubmitOutput adds to a prompt.
type UserPromptSubmitOutput struct {
	Source
	// A text for the model.
	AdditionalContext string `json:"additionalContext,omitempty"`

	// A title for the session. Newer versions only.
	SessionTitle string `json:"sessionTitle,omitempty"`

	// Do not show a prompt that was blocked. Newer versions only.
	SuppressOriginalPrompt bool `json:"suppressOriginalPrompt,omitempty"`
}

func (v *UserPromptSubmitOutput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hookEventName":
		return true
	case "additionalContext":
		return setString[string](d, &v.AdditionalContext, raw)
	case "sessionTitle":
		return setString[string](d, &v.SessionTitle, raw)
	case "suppressOriginalPrompt":
		return setBool(d, &v.SuppressOriginalPrompt, raw)
	}
	return false
}

func (v *UserPromptSubmitOutput) appendMembers(e *encoder) {
	e.raw("hookEventName", []byte(`"UserPromptSubmit"`))
	put(e, "additionalContext", v.AdditionalContext, v.AdditionalContext == "", optional, encString[string])
	put(e, "sessionTitle", v.SessionTitle, v.SessionTitle == "", optional, encString[string])
	put(e, "suppressOriginalPrompt", v.SuppressOriginalPrompt, !v.SuppressOriginalPrompt, optional, encBool)
}

func (*UserPromptSubmitOutput) fresh() object { return new(UserPromptSubmitOutput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *UserPromptSubmitOutput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v UserPromptSubmitOutput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*UserPromptSubmitOutput) hookSpecific() {}

// HookEventName returns "UserPromptSubmit".
func (*UserPromptSubmitOutput) HookEventName() string { return "UserPromptSubmit" }

// UserPromptExpansionInput is told when something was expanded into a prompt.
type UserPromptExpansionInput struct {
	Source
	HookCommon

	// What was expanded.
	ExpansionType ExpansionType `json:"expansion_type"`

	// Its name.
	CommandName string `json:"command_name"`

	// Its arguments.
	CommandArgs string `json:"command_args"`

	// Where it is defined.
	CommandSource string `json:"command_source,omitempty"`

	// The prompt.
	Prompt string `json:"prompt"`
}

func (v *UserPromptExpansionInput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hook_event_name":
		return true
	case "expansion_type":
		return setString[ExpansionType](d, &v.ExpansionType, raw)
	case "command_name":
		return setString[string](d, &v.CommandName, raw)
	case "command_args":
		return setString[string](d, &v.CommandArgs, raw)
	case "command_source":
		return setString[string](d, &v.CommandSource, raw)
	case "prompt":
		return setString[string](d, &v.Prompt, raw)
	}
	return v.HookCommon.setMember(d, name, raw)
}

func (v *UserPromptExpansionInput) appendMembers(e *encoder) {
	e.raw("hook_event_name", []byte(`"UserPromptExpansion"`))
	v.HookCommon.appendMembers(e)
	put(e, "expansion_type", v.ExpansionType, v.ExpansionType == "", always, encString[ExpansionType])
	put(e, "command_name", v.CommandName, v.CommandName == "", always, encString[string])
	put(e, "command_args", v.CommandArgs, v.CommandArgs == "", always, encString[string])
	put(e, "command_source", v.CommandSource, v.CommandSource == "", optional, encString[string])
	put(e, "prompt", v.Prompt, v.Prompt == "", always, encString[string])
}

func (*UserPromptExpansionInput) fresh() object { return new(UserPromptExpansionInput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *UserPromptExpansionInput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v UserPromptExpansionInput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*UserPromptExpansionInput) hookInput() {}

// HookEventName returns "UserPromptExpansion".
func (*UserPromptExpansionInput) HookEventName() string { return "UserPromptExpansion" }

// Common returns the members that every hook input has.
func (v *UserPromptExpansionInput) Common() *HookCommon { return &v.HookCommon }

// UserPromptExpansionOutput adds to an expanded prompt.
type UserPromptExpansionOutput struct {
	Source
	// A text for the model.
	AdditionalContext string `json:"additionalContext,omitempty"`

	// Do not show a prompt that was blocked.
	SuppressOriginalPrompt bool `json:"suppressOriginalPrompt,omitempty"`
}

func (v *UserPromptExpansionOutput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hookEventName":
		return true
	case "additionalContext":
		return setString[string](d, &v.AdditionalContext, raw)
	case "suppressOriginalPrompt":
		return setBool(d, &v.SuppressOriginalPrompt, raw)
	}
	return false
}

func (v *UserPromptExpansionOutput) appendMembers(e *encoder) {
	e.raw("hookEventName", []byte(`"UserPromptExpansion"`))
	put(e, "additionalContext", v.AdditionalContext, v.AdditionalContext == "", optional, encString[string])
	put(e, "suppressOriginalPrompt", v.SuppressOriginalPrompt, !v.SuppressOriginalPrompt, optional, encBool)
}

func (*UserPromptExpansionOutput) fresh() object { return new(UserPromptExpansionOutput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *UserPromptExpansionOutput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v UserPromptExpansionOutput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*UserPromptExpansionOutput) hookSpecific() {}

// HookEventName returns "UserPromptExpansion".
func (*UserPromptExpansionOutput) HookEventName() string { return "UserPromptExpansion" }

// StopInput is told before the model ends its turn.
type StopInput struct {
	Source
	HookCommon

	// The model already goes on because of a Stop hook.
	StopHookActive bool `json:"stop_hook_active"`

	// The model's last text. Newer versions only.
	LastAssistantMessage string `json:"last_assistant_message,omitempty"`

	// Tasks that are still running. Newer versions only.
	BackgroundTasks []BackgroundTaskSummary `json:"background_tasks,omitempty"`

	// What is scheduled. Newer versions only.
	SessionCrons []SessionCron `json:"session_crons,omitempty"`
}

func (v *StopInput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hook_event_name":
		return true
	case "stop_hook_active":
		return setBool(d, &v.StopHookActive, raw)
	case "last_assistant_message":
		return setString[string](d, &v.LastAssistantMessage, raw)
	case "background_tasks":
		return setList(d, &v.BackgroundTasks, raw, setStruct[BackgroundTaskSummary])
	case "session_crons":
		return setList(d, &v.SessionCrons, raw, setStruct[SessionCron])
	}
	return v.HookCommon.setMember(d, name, raw)
}

func (v *StopInput) appendMembers(e *encoder) {
	e.raw("hook_event_name", []byte(`"Stop"`))
	v.HookCommon.appendMembers(e)
	put(e, "stop_hook_active", v.StopHookActive, !v.StopHookActive, always, encBool)
	put(e, "last_assistant_message", v.LastAssistantMessage, v.LastAssistantMessage == "", optional, encString[string])
	put(e, "background_tasks", v.BackgroundTasks, v.BackgroundTasks == nil, optional, encList(encStruct[BackgroundTaskSummary]))
	put(e, "session_crons", v.SessionCrons, v.SessionCrons == nil, optional, encList(encStruct[SessionCron]))
}

func (*StopInput) fresh() object { return new(StopInput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *StopInput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v StopInput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*StopInput) hookInput() {}

// HookEventName returns "Stop".
func (*StopInput) HookEventName() string { return "Stop" }

// Common returns the members that every hook input has.
func (v *StopInput) Common() *HookCommon { return &v.HookCommon }

// StopOutput adds to the end of a turn.
type StopOutput struct {
	Source
	// A text for the model. Newer versions only.
	AdditionalContext string `json:"additionalContext,omitempty"`
}

func (v *StopOutput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hookEventName":
		return true
	case "additionalContext":
		return setString[string](d, &v.AdditionalContext, raw)
	}
	return false
}

func (v *StopOutput) appendMembers(e *encoder) {
	e.raw("hookEventName", []byte(`"Stop"`))
	put(e, "additionalContext", v.AdditionalContext, v.AdditionalContext == "", optional, encString[string])
}

func (*StopOutput) fresh() object { return new(StopOutput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *StopOutput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v StopOutput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*StopOutput) hookSpecific() {}

// HookEventName returns "Stop".
func (*StopOutput) HookEventName() string { return "Stop" }

// StopFailureInput is told when a turn ended on an API error.
type StopFailureInput struct {
	Source
	HookCommon

	// The class of the failure.
	Error AssistantError `json:"error"`

	// More about it.
	ErrorDetails string `json:"error_details,omitempty"`

	// The model's last text.
	LastAssistantMessage string `json:"last_assistant_message,omitempty"`
}

func (v *StopFailureInput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hook_event_name":
		return true
	case "error":
		return setString[AssistantError](d, &v.Error, raw)
	case "error_details":
		return setString[string](d, &v.ErrorDetails, raw)
	case "last_assistant_message":
		return setString[string](d, &v.LastAssistantMessage, raw)
	}
	return v.HookCommon.setMember(d, name, raw)
}

func (v *StopFailureInput) appendMembers(e *encoder) {
	e.raw("hook_event_name", []byte(`"StopFailure"`))
	v.HookCommon.appendMembers(e)
	put(e, "error", v.Error, v.Error == "", always, encString[AssistantError])
	put(e, "error_details", v.ErrorDetails, v.ErrorDetails == "", optional, encString[string])
	put(e, "last_assistant_message", v.LastAssistantMessage, v.LastAssistantMessage == "", optional, encString[string])
}

func (*StopFailureInput) fresh() object { return new(StopFailureInput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *StopFailureInput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v StopFailureInput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*StopFailureInput) hookInput() {}

// HookEventName returns "StopFailure".
func (*StopFailureInput) HookEventName() string { return "StopFailure" }

// Common returns the members that every hook input has.
func (v *StopFailureInput) Common() *HookCommon { return &v.HookCommon }

// NotificationInput is told when the CLI notifies the user.
type NotificationInput struct {
	Source
	HookCommon

	// The text.
	Message string `json:"message"`

	// The heading.
	Title string `json:"title,omitempty"`

	// The kind.
	NotificationType string `json:"notification_type"`
}

func (v *NotificationInput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hook_event_name":
		return true
	case "message":
		return setString[string](d, &v.Message, raw)
	case "title":
		return setString[string](d, &v.Title, raw)
	case "notification_type":
		return setString[string](d, &v.NotificationType, raw)
	}
	return v.HookCommon.setMember(d, name, raw)
}

func (v *NotificationInput) appendMembers(e *encoder) {
	e.raw("hook_event_name", []byte(`"Notification"`))
	v.HookCommon.appendMembers(e)
	put(e, "message", v.Message, v.Message == "", always, encString[string])
	put(e, "title", v.Title, v.Title == "", optional, encString[string])
	put(e, "notification_type", v.NotificationType, v.NotificationType == "", always, encString[string])
}

func (*NotificationInput) fresh() object { return new(NotificationInput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *NotificationInput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v NotificationInput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*NotificationInput) hookInput() {}

// HookEventName returns "Notification".
func (*NotificationInput) HookEventName() string { return "Notification" }

// Common returns the members that every hook input has.
func (v *NotificationInput) Common() *HookCommon { return &v.HookCommon }

// NotificationOutput adds to a notification.
type NotificationOutput struct {
	Source
	// A text for the model.
	AdditionalContext string `json:"additionalContext,omitempty"`
}

func (v *NotificationOutput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hookEventName":
		return true
	case "additionalContext":
		return setString[string](d, &v.AdditionalContext, raw)
	}
	return false
}

func (v *NotificationOutput) appendMembers(e *encoder) {
	e.raw("hookEventName", []byte(`"Notification"`))
	put(e, "additionalContext", v.AdditionalContext, v.AdditionalContext == "", optional, encString[string])
}

func (*NotificationOutput) fresh() object { return new(NotificationOutput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *NotificationOutput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v NotificationOutput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*NotificationOutput) hookSpecific() {}

// HookEventName returns "Notification".
func (*NotificationOutput) HookEventName() string { return "Notification" }

// MessageDisplayInput is told before a piece of an answer is shown.
type MessageDisplayInput struct {
	Source
	HookCommon

	// The turn.
	TurnID string `json:"turn_id"`

	// The message.
	MessageID string `json:"message_id"`

	// The number of the piece.
	Index int64 `json:"index"`

	// It is the last one.
	Final bool `json:"final"`

	// The piece.
	Delta string `json:"delta"`
}

func (v *MessageDisplayInput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hook_event_name":
		return true
	case "turn_id":
		return setString[string](d, &v.TurnID, raw)
	case "message_id":
		return setString[string](d, &v.MessageID, raw)
	case "index":
		return setInt(d, &v.Index, raw)
	case "final":
		return setBool(d, &v.Final, raw)
	case "delta":
		return setString[string](d, &v.Delta, raw)
	}
	return v.HookCommon.setMember(d, name, raw)
}

func (v *MessageDisplayInput) appendMembers(e *encoder) {
	e.raw("hook_event_name", []byte(`"MessageDisplay"`))
	v.HookCommon.appendMembers(e)
	put(e, "turn_id", v.TurnID, v.TurnID == "", always, encString[string])
	put(e, "message_id", v.MessageID, v.MessageID == "", always, encString[string])
	put(e, "index", v.Index, v.Index == 0, always, encInt)
	put(e, "final", v.Final, !v.Final, always, encBool)
	put(e, "delta", v.Delta, v.Delta == "", always, encString[string])
}

func (*MessageDisplayInput) fresh() object { return new(MessageDisplayInput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *MessageDisplayInput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v MessageDisplayInput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*MessageDisplayInput) hookInput() {}

// HookEventName returns "MessageDisplay".
func (*MessageDisplayInput) HookEventName() string { return "MessageDisplay" }

// Common returns the members that every hook input has.
func (v *MessageDisplayInput) Common() *HookCommon { return &v.HookCommon }

// MessageDisplayOutput changes what is shown.
type MessageDisplayOutput struct {
	Source
	// The text to show instead.
	DisplayContent string `json:"displayContent,omitempty"`
}

func (v *MessageDisplayOutput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hookEventName":
		return true
	case "displayContent":
		return setString[string](d, &v.DisplayContent, raw)
	}
	return false
}

func (v *MessageDisplayOutput) appendMembers(e *encoder) {
	e.raw("hookEventName", []byte(`"MessageDisplay"`))
	put(e, "displayContent", v.DisplayContent, v.DisplayContent == "", optional, encString[string])
}

func (*MessageDisplayOutput) fresh() object { return new(MessageDisplayOutput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *MessageDisplayOutput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v MessageDisplayOutput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*MessageDisplayOutput) hookSpecific() {}

// HookEventName returns "MessageDisplay".
func (*MessageDisplayOutput) HookEventName() string { return "MessageDisplay" }

// SessionStartInput is told when the session starts. The kind of agent is in
// agent_type.
type SessionStartInput struct {
	Source
	HookCommon

	// How it starts.
	Origin SessionStartSource `json:"source"`

	// The model.
	Model string `json:"model,omitempty"`

	// The session's title. Newer versions only.
	SessionTitle string `json:"session_title,omitempty"`

	// How long ago the last answer was. Newer versions only.
	SecondsSinceLastResponse float64 `json:"seconds_since_last_response,omitempty"`

	// The size of the conversation. Newer versions only.
	ContextTokens int64 `json:"context_tokens,omitempty"`

	// The prompt cache is probably lost. Newer versions only.
	PromptCacheLikelyExpired bool `json:"prompt_cache_likely_expired,omitempty"`

	// What filling it again would cost. Newer versions only.
	EstimatedCacheWriteUSD float64 `json:"estimated_cache_write_usd,omitempty"`
}

func (v *SessionStartInput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hook_event_name":
		return true
	case "source":
		return setString[SessionStartSource](d, &v.Origin, raw)
	case "model":
		return setString[string](d, &v.Model, raw)
	case "session_title":
		return setString[string](d, &v.SessionTitle, raw)
	case "seconds_since_last_response":
		return setNum(d, &v.SecondsSinceLastResponse, raw)
	case "context_tokens":
		return setInt(d, &v.ContextTokens, raw)
	case "prompt_cache_likely_expired":
		return setBool(d, &v.PromptCacheLikelyExpired, raw)
	case "estimated_cache_write_usd":
		return setNum(d, &v.EstimatedCacheWriteUSD, raw)
	}
	return v.HookCommon.setMember(d, name, raw)
}

func (v *SessionStartInput) appendMembers(e *encoder) {
	e.raw("hook_event_name", []byte(`"SessionStart"`))
	v.HookCommon.appendMembers(e)
	put(e, "source", v.Origin, v.Origin == "", always, encString[SessionStartSource])
	put(e, "model", v.Model, v.Model == "", optional, encString[string])
	put(e, "session_title", v.SessionTitle, v.SessionTitle == "", optional, encString[string])
	put(e, "seconds_since_last_response", v.SecondsSinceLastResponse, v.SecondsSinceLastResponse == 0, optional, encNum)
	put(e, "context_tokens", v.ContextTokens, v.ContextTokens == 0, optional, encInt)
	put(e, "prompt_cache_likely_expired", v.PromptCacheLikelyExpired, !v.PromptCacheLikelyExpired, optional, encBool)
	put(e, "estimated_cache_write_usd", v.EstimatedCacheWriteUSD, v.EstimatedCacheWriteUSD == 0, optional, encNum)
}

func (*SessionStartInput) fresh() object { return new(SessionStartInput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *SessionStartInput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v SessionStartInput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*SessionStartInput) hookInput() {}

// HookEventName returns "SessionStart".
func (*SessionStartInput) HookEventName() string { return "SessionStart" }

// Common returns the members that every hook input has.
func (v *SessionStartInput) Common() *HookCommon { return &v.HookCommon }

// SessionStartOutput adds to the start of a session.
type SessionStartOutput struct {
	Source
	// A text for the model.
	AdditionalContext string `json:"additionalContext,omitempty"`

	// A first prompt. Newer versions only.
	InitialUserMessage string `json:"initialUserMessage,omitempty"`

	// A title for the session. Newer versions only.
	SessionTitle string `json:"sessionTitle,omitempty"`

	// Files to watch. Newer versions only.
	WatchPaths []string `json:"watchPaths,omitempty"`

	// Read the skills anew. Newer versions only.
	ReloadSkills bool `json:"reloadSkills,omitempty"`
}

func (v *SessionStartOutput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hookEventName":
		return true
	case "additionalContext":
		return setString[string](d, &v.AdditionalContext, raw)
	case "initialUserMessage":
		return setString[string](d, &v.InitialUserMessage, raw)
	case "sessionTitle":
		return setString[string](d, &v.SessionTitle, raw)
	case "watchPaths":
		return setList(d, &v.WatchPaths, raw, setString[string])
	case "reloadSkills":
		return setBool(d, &v.ReloadSkills, raw)
	}
	return false
}

func (v *SessionStartOutput) appendMembers(e *encoder) {
	e.raw("hookEventName", []byte(`"SessionStart"`))
	put(e, "additionalContext", v.AdditionalContext, v.AdditionalContext == "", optional, encString[string])
	put(e, "initialUserMessage", v.InitialUserMessage, v.InitialUserMessage == "", optional, encString[string])
	put(e, "sessionTitle", v.SessionTitle, v.SessionTitle == "", optional, encString[string])
	put(e, "watchPaths", v.WatchPaths, v.WatchPaths == nil, optional, encList(encString[string]))
	put(e, "reloadSkills", v.ReloadSkills, !v.ReloadSkills, optional, encBool)
}

func (*SessionStartOutput) fresh() object { return new(SessionStartOutput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *SessionStartOutput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v SessionStartOutput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*SessionStartOutput) hookSpecific() {}

// HookEventName returns "SessionStart".
func (*SessionStartOutput) HookEventName() string { return "SessionStart" }

// SessionEndInput is told when the session ends.
type SessionEndInput struct {
	Source
	HookCommon

	// Why.
	Reason SessionEndReason `json:"reason"`
}

func (v *SessionEndInput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hook_event_name":
		return true
	case "reason":
		return setString[SessionEndReason](d, &v.Reason, raw)
	}
	return v.HookCommon.setMember(d, name, raw)
}

func (v *SessionEndInput) appendMembers(e *encoder) {
	e.raw("hook_event_name", []byte(`"SessionEnd"`))
	v.HookCommon.appendMembers(e)
	put(e, "reason", v.Reason, v.Reason == "", always, encString[SessionEndReason])
}

func (*SessionEndInput) fresh() object { return new(SessionEndInput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *SessionEndInput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v SessionEndInput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*SessionEndInput) hookInput() {}

// HookEventName returns "SessionEnd".
func (*SessionEndInput) HookEventName() string { return "SessionEnd" }

// Common returns the members that every hook input has.
func (v *SessionEndInput) Common() *HookCommon { return &v.HookCommon }

// SetupInput is told when the session is set up.
type SetupInput struct {
	Source
	HookCommon

	// Why.
	Trigger SetupTrigger `json:"trigger"`
}

func (v *SetupInput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hook_event_name":
		return true
	case "trigger":
		return setString[SetupTrigger](d, &v.Trigger, raw)
	}
	return v.HookCommon.setMember(d, name, raw)
}

func (v *SetupInput) appendMembers(e *encoder) {
	e.raw("hook_event_name", []byte(`"Setup"`))
	v.HookCommon.appendMembers(e)
	put(e, "trigger", v.Trigger, v.Trigger == "", always, encString[SetupTrigger])
}

func (*SetupInput) fresh() object { return new(SetupInput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *SetupInput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v SetupInput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*SetupInput) hookInput() {}

// HookEventName returns "Setup".
func (*SetupInput) HookEventName() string { return "Setup" }

// Common returns the members that every hook input has.
func (v *SetupInput) Common() *HookCommon { return &v.HookCommon }

// SetupOutput adds to the setup of a session.
type SetupOutput struct {
	Source
	// A text for the model.
	AdditionalContext string `json:"additionalContext,omitempty"`
}

func (v *SetupOutput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hookEventName":
		return true
	case "additionalContext":
		return setString[string](d, &v.AdditionalContext, raw)
	}
	return false
}

func (v *SetupOutput) appendMembers(e *encoder) {
	e.raw("hookEventName", []byte(`"Setup"`))
	put(e, "additionalContext", v.AdditionalContext, v.AdditionalContext == "", optional, encString[string])
}

func (*SetupOutput) fresh() object { return new(SetupOutput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *SetupOutput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v SetupOutput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*SetupOutput) hookSpecific() {}

// HookEventName returns "Setup".
func (*SetupOutput) HookEventName() string { return "Setup" }

// PreCompactInput is told before the conversation is compacted.
type PreCompactInput struct {
	Source
	HookCommon

	// What started it.
	Trigger CompactTrigger `json:"trigger"`

	// What the summary should keep.
	CustomInstructions string `json:"custom_instructions"`
}

func (v *PreCompactInput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hook_event_name":
		return true
	case "trigger":
		return setString[CompactTrigger](d, &v.Trigger, raw)
	case "custom_instructions":
		return setString[string](d, &v.CustomInstructions, raw)
	}
	return v.HookCommon.setMember(d, name, raw)
}

func (v *PreCompactInput) appendMembers(e *encoder) {
	e.raw("hook_event_name", []byte(`"PreCompact"`))
	v.HookCommon.appendMembers(e)
	put(e, "trigger", v.Trigger, v.Trigger == "", always, encString[CompactTrigger])
	put(e, "custom_instructions", v.CustomInstructions, v.CustomInstructions == "", nullable, encString[string])
}

func (*PreCompactInput) fresh() object { return new(PreCompactInput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *PreCompactInput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v PreCompactInput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*PreCompactInput) hookInput() {}

// HookEventName returns "PreCompact".
func (*PreCompactInput) HookEventName() string { return "PreCompact" }

// Common returns the members that every hook input has.
func (v *PreCompactInput) Common() *HookCommon { return &v.HookCommon }

// PostCompactInput is told after the conversation was compacted.
type PostCompactInput struct {
	Source
	HookCommon

	// What started it.
	Trigger CompactTrigger `json:"trigger"`

	// The summary.
	CompactSummary string `json:"compact_summary"`
}

func (v *PostCompactInput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hook_event_name":
		return true
	case "trigger":
		return setString[CompactTrigger](d, &v.Trigger, raw)
	case "compact_summary":
		return setString[string](d, &v.CompactSummary, raw)
	}
	return v.HookCommon.setMember(d, name, raw)
}

func (v *PostCompactInput) appendMembers(e *encoder) {
	e.raw("hook_event_name", []byte(`"PostCompact"`))
	v.HookCommon.appendMembers(e)
	put(e, "trigger", v.Trigger, v.Trigger == "", always, encString[CompactTrigger])
	put(e, "compact_summary", v.CompactSummary, v.CompactSummary == "", always, encString[string])
}

func (*PostCompactInput) fresh() object { return new(PostCompactInput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *PostCompactInput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v PostCompactInput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*PostCompactInput) hookInput() {}

// HookEventName returns "PostCompact".
func (*PostCompactInput) HookEventName() string { return "PostCompact" }

// Common returns the members that every hook input has.
func (v *PostCompactInput) Common() *HookCommon { return &v.HookCommon }

// PreModelSwitchInput is told before the model changes.
type PreModelSwitchInput struct {
	Source
	HookCommon

	// The model so far.
	FromModel string `json:"from_model"`

	// The new one.
	ToModel string `json:"to_model"`

	// What was asked for.
	RequestedModel string `json:"requested_model"`

	// What changes it.
	Origin ModelSwitchSource `json:"source"`

	// The size of the conversation.
	ContextTokens int64 `json:"context_tokens"`

	// There is a prompt cache to lose.
	PromptCacheWarm bool `json:"prompt_cache_warm"`

	// How long it lasts.
	CacheTTL CacheTTL `json:"cache_ttl"`

	// What filling a new one would cost.
	EstimatedCacheWriteUSD float64 `json:"estimated_cache_write_usd"`

	// The prices used.
	Pricing PricingBasis `json:"pricing"`
}

func (v *PreModelSwitchInput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hook_event_name":
		return true
	case "from_model":
		return setString[string](d, &v.FromModel, raw)
	case "to_model":
		return setString[string](d, &v.ToModel, raw)
	case "requested_model":
		return setString[string](d, &v.RequestedModel, raw)
	case "source":
		return setString[ModelSwitchSource](d, &v.Origin, raw)
	case "context_tokens":
		return setInt(d, &v.ContextTokens, raw)
	case "prompt_cache_warm":
		return setBool(d, &v.PromptCacheWarm, raw)
	case "cache_ttl":
		return setString[CacheTTL](d, &v.CacheTTL, raw)
	case "estimated_cache_write_usd":
		return setNum(d, &v.EstimatedCacheWriteUSD, raw)
	case "pricing":
		return setString[PricingBasis](d, &v.Pricing, raw)
	}
	return v.HookCommon.setMember(d, name, raw)
}

func (v *PreModelSwitchInput) appendMembers(e *encoder) {
	e.raw("hook_event_name", []byte(`"PreModelSwitch"`))
	v.HookCommon.appendMembers(e)
	put(e, "from_model", v.FromModel, v.FromModel == "", always, encString[string])
	put(e, "to_model", v.ToModel, v.ToModel == "", always, encString[string])
	put(e, "requested_model", v.RequestedModel, v.RequestedModel == "", nullable, encString[string])
	put(e, "source", v.Origin, v.Origin == "", always, encString[ModelSwitchSource])
	put(e, "context_tokens", v.ContextTokens, v.ContextTokens == 0, always, encInt)
	put(e, "prompt_cache_warm", v.PromptCacheWarm, !v.PromptCacheWarm, always, encBool)
	put(e, "cache_ttl", v.CacheTTL, v.CacheTTL == "", always, encString[CacheTTL])
	put(e, "estimated_cache_write_usd", v.EstimatedCacheWriteUSD, v.EstimatedCacheWriteUSD == 0, always, encNum)
	put(e, "pricing", v.Pricing, v.Pricing == "", always, encString[PricingBasis])
}

func (*PreModelSwitchInput) fresh() object { return new(PreModelSwitchInput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *PreModelSwitchInput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v PreModelSwitchInput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*PreModelSwitchInput) hookInput() {}

// HookEventName returns "PreModelSwitch".
func (*PreModelSwitchInput) HookEventName() string { return "PreModelSwitch" }

// Common returns the members that every hook input has.
func (v *PreModelSwitchInput) Common() *HookCommon { return &v.HookCommon }

// PreModelSwitchOutput decides about a change of the model.
type PreModelSwitchOutput struct {
	Source
	// allow, deny or ask.
	PermissionDecision HookPermissionDecision `json:"permissionDecision,omitempty"`

	// Why.
	PermissionDecisionReason string `json:"permissionDecisionReason,omitempty"`
}

func (v *PreModelSwitchOutput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hookEventName":
		return true
	case "permissionDecision":
		return setString[HookPermissionDecision](d, &v.PermissionDecision, raw)
	case "permissionDecisionReason":
		return setString[string](d, &v.PermissionDecisionReason, raw)
	}
	return false
}

func (v *PreModelSwitchOutput) appendMembers(e *encoder) {
	e.raw("hookEventName", []byte(`"PreModelSwitch"`))
	put(e, "permissionDecision", v.PermissionDecision, v.PermissionDecision == "", optional, encString[HookPermissionDecision])
	put(e, "permissionDecisionReason", v.PermissionDecisionReason, v.PermissionDecisionReason == "", optional, encString[string])
}

func (*PreModelSwitchOutput) fresh() object { return new(PreModelSwitchOutput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *PreModelSwitchOutput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v PreModelSwitchOutput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*PreModelSwitchOutput) hookSpecific() {}

// HookEventName returns "PreModelSwitch".
func (*PreModelSwitchOutput) HookEventName() string { return "PreModelSwitch" }

// PostModelSwitchInput is told after the model has changed.
type PostModelSwitchInput struct {
	Source
	HookCommon

	// The model so far.
	FromModel string `json:"from_model"`

	// The new one.
	ToModel string `json:"to_model"`

	// What was asked for.
	RequestedModel string `json:"requested_model"`

	// What changed it.
	Origin ModelSwitchSource `json:"source"`

	// The size of the conversation.
	ContextTokens int64 `json:"context_tokens"`

	// There was a prompt cache to lose.
	PromptCacheWarm bool `json:"prompt_cache_warm"`

	// How long it lasted.
	CacheTTL CacheTTL `json:"cache_ttl"`

	// What filling a new one costs.
	EstimatedCacheWriteUSD float64 `json:"estimated_cache_write_usd"`

	// The prices used.
	Pricing PricingBasis `json:"pricing"`
}

func (v *PostModelSwitchInput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hook_event_name":
		return true
	case "from_model":
		return setString[string](d, &v.FromModel, raw)
	case "to_model":
		return setString[string](d, &v.ToModel, raw)
	case "requested_model":
		return setString[string](d, &v.RequestedModel, raw)
	case "source":
		return setString[ModelSwitchSource](d, &v.Origin, raw)
	case "context_tokens":
		return setInt(d, &v.ContextTokens, raw)
	case "prompt_cache_warm":
		return setBool(d, &v.PromptCacheWarm, raw)
	case "cache_ttl":
		return setString[CacheTTL](d, &v.CacheTTL, raw)
	case "estimated_cache_write_usd":
		return setNum(d, &v.EstimatedCacheWriteUSD, raw)
	case "pricing":
		return setString[PricingBasis](d, &v.Pricing, raw)
	}
	return v.HookCommon.setMember(d, name, raw)
}

func (v *PostModelSwitchInput) appendMembers(e *encoder) {
	e.raw("hook_event_name", []byte(`"PostModelSwitch"`))
	v.HookCommon.appendMembers(e)
	put(e, "from_model", v.FromModel, v.FromModel == "", always, encString[string])
	put(e, "to_model", v.ToModel, v.ToModel == "", always, encString[string])
	put(e, "requested_model", v.RequestedModel, v.RequestedModel == "", nullable, encString[string])
	put(e, "source", v.Origin, v.Origin == "", always, encString[ModelSwitchSource])
	put(e, "context_tokens", v.ContextTokens, v.ContextTokens == 0, always, encInt)
	put(e, "prompt_cache_warm", v.PromptCacheWarm, !v.PromptCacheWarm, always, encBool)
	put(e, "cache_ttl", v.CacheTTL, v.CacheTTL == "", always, encString[CacheTTL])
	put(e, "estimated_cache_write_usd", v.EstimatedCacheWriteUSD, v.EstimatedCacheWriteUSD == 0, always, encNum)
	put(e, "pricing", v.Pricing, v.Pricing == "", always, encString[PricingBasis])
}

func (*PostModelSwitchInput) fresh() object { return new(PostModelSwitchInput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *PostModelSwitchInput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v PostModelSwitchInput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*PostModelSwitchInput) hookInput() {}

// HookEventName returns "PostModelSwitch".
func (*PostModelSwitchInput) HookEventName() string { return "PostModelSwitch" }

// Common returns the members that every hook input has.
func (v *PostModelSwitchInput) Common() *HookCommon { return &v.HookCommon }

// PostModelSwitchOutput adds to a change of the model.
type PostModelSwitchOutput struct {
	Source
	// A text for the model.
	AdditionalContext string `json:"additionalContext,omitempty"`
}

func (v *PostModelSwitchOutput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hookEventName":
		return true
	case "additionalContext":
		return setString[string](d, &v.AdditionalContext, raw)
	}
	return false
}

func (v *PostModelSwitchOutput) appendMembers(e *encoder) {
	e.raw("hookEventName", []byte(`"PostModelSwitch"`))
	put(e, "additionalContext", v.AdditionalContext, v.AdditionalContext == "", optional, encString[string])
}

func (*PostModelSwitchOutput) fresh() object { return new(PostModelSwitchOutput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *PostModelSwitchOutput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v PostModelSwitchOutput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*PostModelSwitchOutput) hookSpecific() {}

// HookEventName returns "PostModelSwitch".
func (*PostModelSwitchOutput) HookEventName() string { return "PostModelSwitch" }

// SubagentStartInput is told when a sub-agent starts. Which one is in agent_id
// and agent_type.
type SubagentStartInput struct {
	Source
	HookCommon
}

func (v *SubagentStartInput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hook_event_name":
		return true
	}
	return v.HookCommon.setMember(d, name, raw)
}

func (v *SubagentStartInput) appendMembers(e *encoder) {
	e.raw("hook_event_name", []byte(`"SubagentStart"`))
	v.HookCommon.appendMembers(e)
}

func (*SubagentStartInput) fresh() object { return new(SubagentStartInput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *SubagentStartInput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v SubagentStartInput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*SubagentStartInput) hookInput() {}

// HookEventName returns "SubagentStart".
func (*SubagentStartInput) HookEventName() string { return "SubagentStart" }

// Common returns the members that every hook input has.
func (v *SubagentStartInput) Common() *HookCommon { return &v.HookCommon }

// SubagentStartOutput adds to the start of a sub-agent.
type SubagentStartOutput struct {
	Source
	// A text for the sub-agent.
	AdditionalContext string `json:"additionalContext,omitempty"`
}

func (v *SubagentStartOutput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hookEventName":
		return true
	case "additionalContext":
		return setString[string](d, &v.AdditionalContext, raw)
	}
	return false
}

func (v *SubagentStartOutput) appendMembers(e *encoder) {
	e.raw("hookEventName", []byte(`"SubagentStart"`))
	put(e, "additionalContext", v.AdditionalContext, v.AdditionalContext == "", optional, encString[string])
}

func (*SubagentStartOutput) fresh() object { return new(SubagentStartOutput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *SubagentStartOutput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v SubagentStartOutput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*SubagentStartOutput) hookSpecific() {}

// HookEventName returns "SubagentStart".
func (*SubagentStartOutput) HookEventName() string { return "SubagentStart" }

// SubagentStopInput is told before a sub-agent ends. Which one is in agent_id
// and agent_type.
type SubagentStopInput struct {
	Source
	HookCommon

	// It already goes on because of a hook.
	StopHookActive bool `json:"stop_hook_active"`

	// Its transcript's file.
	AgentTranscriptPath string `json:"agent_transcript_path"`

	// Its last text. Newer versions only.
	LastAssistantMessage string `json:"last_assistant_message,omitempty"`

	// Tasks that are still running. Newer versions only.
	BackgroundTasks []BackgroundTaskSummary `json:"background_tasks,omitempty"`

	// What is scheduled. Newer versions only.
	SessionCrons []SessionCron `json:"session_crons,omitempty"`
}

func (v *SubagentStopInput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hook_event_name":
		return true
	case "stop_hook_active":
		return setBool(d, &v.StopHookActive, raw)
	case "agent_transcript_path":
		return setString[string](d, &v.AgentTranscriptPath, raw)
	case "last_assistant_message":
		return setString[string](d, &v.LastAssistantMessage, raw)
	case "background_tasks":
		return setList(d, &v.BackgroundTasks, raw, setStruct[BackgroundTaskSummary])
	case "session_crons":
		return setList(d, &v.SessionCrons, raw, setStruct[SessionCron])
	}
	return v.HookCommon.setMember(d, name, raw)
}

func (v *SubagentStopInput) appendMembers(e *encoder) {
	e.raw("hook_event_name", []byte(`"SubagentStop"`))
	v.HookCommon.appendMembers(e)
	put(e, "stop_hook_active", v.StopHookActive, !v.StopHookActive, always, encBool)
	put(e, "agent_transcript_path", v.AgentTranscriptPath, v.AgentTranscriptPath == "", always, encString[string])
	put(e, "last_assistant_message", v.LastAssistantMessage, v.LastAssistantMessage == "", optional, encString[string])
	put(e, "background_tasks", v.BackgroundTasks, v.BackgroundTasks == nil, optional, encList(encStruct[BackgroundTaskSummary]))
	put(e, "session_crons", v.SessionCrons, v.SessionCrons == nil, optional, encList(encStruct[SessionCron]))
}

func (*SubagentStopInput) fresh() object { return new(SubagentStopInput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *SubagentStopInput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v SubagentStopInput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*SubagentStopInput) hookInput() {}

// HookEventName returns "SubagentStop".
func (*SubagentStopInput) HookEventName() string { return "SubagentStop" }

// Common returns the members that every hook input has.
func (v *SubagentStopInput) Common() *HookCommon { return &v.HookCommon }

// SubagentStopOutput adds to the end of a sub-agent.
type SubagentStopOutput struct {
	Source
	// A text for the sub-agent. Newer versions only.
	AdditionalContext string `json:"additionalContext,omitempty"`
}

func (v *SubagentStopOutput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hookEventName":
		return true
	case "additionalContext":
		return setString[string](d, &v.AdditionalContext, raw)
	}
	return false
}

func (v *SubagentStopOutput) appendMembers(e *encoder) {
	e.raw("hookEventName", []byte(`"SubagentStop"`))
	put(e, "additionalContext", v.AdditionalContext, v.AdditionalContext == "", optional, encString[string])
}

func (*SubagentStopOutput) fresh() object { return new(SubagentStopOutput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *SubagentStopOutput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v SubagentStopOutput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*SubagentStopOutput) hookSpecific() {}

// HookEventName returns "SubagentStop".
func (*SubagentStopOutput) HookEventName() string { return "SubagentStop" }

// TeammateIdleInput is told when another agent of the team has nothing to do.
type TeammateIdleInput struct {
	Source
	HookCommon

	// The agent.
	TeammateName string `json:"teammate_name"`

	// The team.
	TeamName string `json:"team_name"`
}

func (v *TeammateIdleInput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hook_event_name":
		return true
	case "teammate_name":
		return setString[string](d, &v.TeammateName, raw)
	case "team_name":
		return setString[string](d, &v.TeamName, raw)
	}
	return v.HookCommon.setMember(d, name, raw)
}

func (v *TeammateIdleInput) appendMembers(e *encoder) {
	e.raw("hook_event_name", []byte(`"TeammateIdle"`))
	v.HookCommon.appendMembers(e)
	put(e, "teammate_name", v.TeammateName, v.TeammateName == "", always, encString[string])
	put(e, "team_name", v.TeamName, v.TeamName == "", always, encString[string])
}

func (*TeammateIdleInput) fresh() object { return new(TeammateIdleInput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *TeammateIdleInput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v TeammateIdleInput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*TeammateIdleInput) hookInput() {}

// HookEventName returns "TeammateIdle".
func (*TeammateIdleInput) HookEventName() string { return "TeammateIdle" }

// Common returns the members that every hook input has.
func (v *TeammateIdleInput) Common() *HookCommon { return &v.HookCommon }

// TaskCreatedInput is told when a task was created.
type TaskCreatedInput struct {
	Source
	HookCommon

	// The task.
	TaskID string `json:"task_id"`

	// What it is about.
	TaskSubject string `json:"task_subject"`

	// More about it.
	TaskDescription string `json:"task_description,omitempty"`

	// The agent that created it.
	TeammateName string `json:"teammate_name,omitempty"`

	// The team.
	TeamName string `json:"team_name,omitempty"`
}

func (v *TaskCreatedInput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hook_event_name":
		return true
	case "task_id":
		return setString[string](d, &v.TaskID, raw)
	case "task_subject":
		return setString[string](d, &v.TaskSubject, raw)
	case "task_description":
		return setString[string](d, &v.TaskDescription, raw)
	case "teammate_name":
		return setString[string](d, &v.TeammateName, raw)
	case "team_name":
		return setString[string](d, &v.TeamName, raw)
	}
	return v.HookCommon.setMember(d, name, raw)
}

func (v *TaskCreatedInput) appendMembers(e *encoder) {
	e.raw("hook_event_name", []byte(`"TaskCreated"`))
	v.HookCommon.appendMembers(e)
	put(e, "task_id", v.TaskID, v.TaskID == "", always, encString[string])
	put(e, "task_subject", v.TaskSubject, v.TaskSubject == "", always, encString[string])
	put(e, "task_description", v.TaskDescription, v.TaskDescription == "", optional, encString[string])
	put(e, "teammate_name", v.TeammateName, v.TeammateName == "", optional, encString[string])
	put(e, "team_name", v.TeamName, v.TeamName == "", optional, encString[string])
}

func (*TaskCreatedInput) fresh() object { return new(TaskCreatedInput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *TaskCreatedInput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v TaskCreatedInput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*TaskCreatedInput) hookInput() {}

// HookEventName returns "TaskCreated".
func (*TaskCreatedInput) HookEventName() string { return "TaskCreated" }

// Common returns the members that every hook input has.
func (v *TaskCreatedInput) Common() *HookCommon { return &v.HookCommon }

// TaskCompletedInput is told before a task is completed.
type TaskCompletedInput struct {
	Source
	HookCommon

	// The task.
	TaskID string `json:"task_id"`

	// What it is about.
	TaskSubject string `json:"task_subject"`

	// More about it.
	TaskDescription string `json:"task_description,omitempty"`

	// The agent that completes it.
	TeammateName string `json:"teammate_name,omitempty"`

	// The team.
	TeamName string `json:"team_name,omitempty"`
}

func (v *TaskCompletedInput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hook_event_name":
		return true
	case "task_id":
		return setString[string](d, &v.TaskID, raw)
	case "task_subject":
		return setString[string](d, &v.TaskSubject, raw)
	case "task_description":
		return setString[string](d, &v.TaskDescription, raw)
	case "teammate_name":
		return setString[string](d, &v.TeammateName, raw)
	case "team_name":
		return setString[string](d, &v.TeamName, raw)
	}
	return v.HookCommon.setMember(d, name, raw)
}

func (v *TaskCompletedInput) appendMembers(e *encoder) {
	e.raw("hook_event_name", []byte(`"TaskCompleted"`))
	v.HookCommon.appendMembers(e)
	put(e, "task_id", v.TaskID, v.TaskID == "", always, encString[string])
	put(e, "task_subject", v.TaskSubject, v.TaskSubject == "", always, encString[string])
	put(e, "task_description", v.TaskDescription, v.TaskDescription == "", optional, encString[string])
	put(e, "teammate_name", v.TeammateName, v.TeammateName == "", optional, encString[string])
	put(e, "team_name", v.TeamName, v.TeamName == "", optional, encString[string])
}

func (*TaskCompletedInput) fresh() object { return new(TaskCompletedInput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *TaskCompletedInput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v TaskCompletedInput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*TaskCompletedInput) hookInput() {}

// HookEventName returns "TaskCompleted".
func (*TaskCompletedInput) HookEventName() string { return "TaskCompleted" }

// Common returns the members that every hook input has.
func (v *TaskCompletedInput) Common() *HookCommon { return &v.HookCommon }

// ElicitationInput is told when an MCP server asks the user something.
type ElicitationInput struct {
	Source
	HookCommon

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
}

func (v *ElicitationInput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hook_event_name":
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
	}
	return v.HookCommon.setMember(d, name, raw)
}

func (v *ElicitationInput) appendMembers(e *encoder) {
	e.raw("hook_event_name", []byte(`"Elicitation"`))
	v.HookCommon.appendMembers(e)
	put(e, "mcp_server_name", v.MCPServerName, v.MCPServerName == "", always, encString[string])
	put(e, "message", v.Message, v.Message == "", always, encString[string])
	put(e, "mode", v.Mode, v.Mode == "", optional, encString[ElicitationMode])
	put(e, "url", v.URL, v.URL == "", optional, encString[string])
	put(e, "elicitation_id", v.ElicitationID, v.ElicitationID == "", optional, encString[string])
	put(e, "requested_schema", v.RequestedSchema, v.RequestedSchema == nil, optional, encRaw)
}

func (*ElicitationInput) fresh() object { return new(ElicitationInput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ElicitationInput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ElicitationInput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ElicitationInput) hookInput() {}

// HookEventName returns "Elicitation".
func (*ElicitationInput) HookEventName() string { return "Elicitation" }

// Common returns the members that every hook input has.
func (v *ElicitationInput) Common() *HookCommon { return &v.HookCommon }

// ElicitationOutput answers in place of the user.
type ElicitationOutput struct {
	Source
	// The reaction.
	Action ElicitationAction `json:"action,omitempty"`

	// The form's values.
	Content json.RawMessage `json:"content,omitempty"`
}

func (v *ElicitationOutput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hookEventName":
		return true
	case "action":
		return setString[ElicitationAction](d, &v.Action, raw)
	case "content":
		return setRaw(d, &v.Content, raw)
	}
	return false
}

func (v *ElicitationOutput) appendMembers(e *encoder) {
	e.raw("hookEventName", []byte(`"Elicitation"`))
	put(e, "action", v.Action, v.Action == "", optional, encString[ElicitationAction])
	put(e, "content", v.Content, v.Content == nil, optional, encRaw)
}

func (*ElicitationOutput) fresh() object { return new(ElicitationOutput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ElicitationOutput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ElicitationOutput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ElicitationOutput) hookSpecific() {}

// HookEventName returns "Elicitation".
func (*ElicitationOutput) HookEventName() string { return "Elicitation" }

// ElicitationResultInput is told how the user reacted to an MCP server's
// question.
type ElicitationResultInput struct {
	Source
	HookCommon

	// The server.
	MCPServerName string `json:"mcp_server_name"`

	// The elicitation.
	ElicitationID string `json:"elicitation_id,omitempty"`

	// A form or a page to open.
	Mode ElicitationMode `json:"mode,omitempty"`

	// The reaction.
	Action ElicitationAction `json:"action"`

	// The form's values.
	Content json.RawMessage `json:"content,omitempty"`
}

func (v *ElicitationResultInput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hook_event_name":
		return true
	case "mcp_server_name":
		return setString[string](d, &v.MCPServerName, raw)
	case "elicitation_id":
		return setString[string](d, &v.ElicitationID, raw)
	case "mode":
		return setString[ElicitationMode](d, &v.Mode, raw)
	case "action":
		return setString[ElicitationAction](d, &v.Action, raw)
	case "content":
		return setRaw(d, &v.Content, raw)
	}
	return v.HookCommon.setMember(d, name, raw)
}

func (v *ElicitationResultInput) appendMembers(e *encoder) {
	e.raw("hook_event_name", []byte(`"ElicitationResult"`))
	v.HookCommon.appendMembers(e)
	put(e, "mcp_server_name", v.MCPServerName, v.MCPServerName == "", always, encString[string])
	put(e, "elicitation_id", v.ElicitationID, v.ElicitationID == "", optional, encString[string])
	put(e, "mode", v.Mode, v.Mode == "", optional, encString[ElicitationMode])
	put(e, "action", v.Action, v.Action == "", always, encString[ElicitationAction])
	put(e, "content", v.Content, v.Content == nil, optional, encRaw)
}

func (*ElicitationResultInput) fresh() object { return new(ElicitationResultInput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ElicitationResultInput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ElicitationResultInput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ElicitationResultInput) hookInput() {}

// HookEventName returns "ElicitationResult".
func (*ElicitationResultInput) HookEventName() string { return "ElicitationResult" }

// Common returns the members that every hook input has.
func (v *ElicitationResultInput) Common() *HookCommon { return &v.HookCommon }

// ElicitationResultOutput replaces the user's reaction.
type ElicitationResultOutput struct {
	Source
	// The reaction.
	Action ElicitationAction `json:"action,omitempty"`

	// The form's values.
	Content json.RawMessage `json:"content,omitempty"`
}

func (v *ElicitationResultOutput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hookEventName":
		return true
	case "action":
		return setString[ElicitationAction](d, &v.Action, raw)
	case "content":
		return setRaw(d, &v.Content, raw)
	}
	return false
}

func (v *ElicitationResultOutput) appendMembers(e *encoder) {
	e.raw("hookEventName", []byte(`"ElicitationResult"`))
	put(e, "action", v.Action, v.Action == "", optional, encString[ElicitationAction])
	put(e, "content", v.Content, v.Content == nil, optional, encRaw)
}

func (*ElicitationResultOutput) fresh() object { return new(ElicitationResultOutput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ElicitationResultOutput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ElicitationResultOutput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ElicitationResultOutput) hookSpecific() {}

// HookEventName returns "ElicitationResult".
func (*ElicitationResultOutput) HookEventName() string { return "ElicitationResult" }

// ConfigChangeInput is told when settings changed.
type ConfigChangeInput struct {
	Source
	HookCommon

	// Which ones.
	Origin ConfigSource `json:"source"`

	// The file.
	FilePath string `json:"file_path,omitempty"`
}

func (v *ConfigChangeInput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hook_event_name":
		return true
	case "source":
		return setString[ConfigSource](d, &v.Origin, raw)
	case "file_path":
		return setString[string](d, &v.FilePath, raw)
	}
	return v.HookCommon.setMember(d, name, raw)
}

func (v *ConfigChangeInput) appendMembers(e *encoder) {
	e.raw("hook_event_name", []byte(`"ConfigChange"`))
	v.HookCommon.appendMembers(e)
	put(e, "source", v.Origin, v.Origin == "", always, encString[ConfigSource])
	put(e, "file_path", v.FilePath, v.FilePath == "", optional, encString[string])
}

func (*ConfigChangeInput) fresh() object { return new(ConfigChangeInput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ConfigChangeInput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ConfigChangeInput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ConfigChangeInput) hookInput() {}

// HookEventName returns "ConfigChange".
func (*ConfigChangeInput) HookEventName() string { return "ConfigChange" }

// Common returns the members that every hook input has.
func (v *ConfigChangeInput) Common() *HookCommon { return &v.HookCommon }

// WorktreeCreateInput is told before a worktree is made.
type WorktreeCreateInput struct {
	Source
	HookCommon

	// Its name.
	Name string `json:"name"`
}

func (v *WorktreeCreateInput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hook_event_name":
		return true
	case "name":
		return setString[string](d, &v.Name, raw)
	}
	return v.HookCommon.setMember(d, name, raw)
}

func (v *WorktreeCreateInput) appendMembers(e *encoder) {
	e.raw("hook_event_name", []byte(`"WorktreeCreate"`))
	v.HookCommon.appendMembers(e)
	put(e, "name", v.Name, v.Name == "", always, encString[string])
}

func (*WorktreeCreateInput) fresh() object { return new(WorktreeCreateInput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *WorktreeCreateInput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v WorktreeCreateInput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*WorktreeCreateInput) hookInput() {}

// HookEventName returns "WorktreeCreate".
func (*WorktreeCreateInput) HookEventName() string { return "WorktreeCreate" }

// Common returns the members that every hook input has.
func (v *WorktreeCreateInput) Common() *HookCommon { return &v.HookCommon }

// WorktreeCreateOutput tells where the hook made the worktree.
type WorktreeCreateOutput struct {
	Source
	// The folder.
	WorktreePath string `json:"worktreePath"`
}

func (v *WorktreeCreateOutput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hookEventName":
		return true
	case "worktreePath":
		return setString[string](d, &v.WorktreePath, raw)
	}
	return false
}

func (v *WorktreeCreateOutput) appendMembers(e *encoder) {
	e.raw("hookEventName", []byte(`"WorktreeCreate"`))
	put(e, "worktreePath", v.WorktreePath, v.WorktreePath == "", always, encString[string])
}

func (*WorktreeCreateOutput) fresh() object { return new(WorktreeCreateOutput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *WorktreeCreateOutput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v WorktreeCreateOutput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*WorktreeCreateOutput) hookSpecific() {}

// HookEventName returns "WorktreeCreate".
func (*WorktreeCreateOutput) HookEventName() string { return "WorktreeCreate" }

// WorktreeRemoveInput is told before a worktree is removed.
type WorktreeRemoveInput struct {
	Source
	HookCommon

	// The folder.
	WorktreePath string `json:"worktree_path"`
}

func (v *WorktreeRemoveInput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hook_event_name":
		return true
	case "worktree_path":
		return setString[string](d, &v.WorktreePath, raw)
	}
	return v.HookCommon.setMember(d, name, raw)
}

func (v *WorktreeRemoveInput) appendMembers(e *encoder) {
	e.raw("hook_event_name", []byte(`"WorktreeRemove"`))
	v.HookCommon.appendMembers(e)
	put(e, "worktree_path", v.WorktreePath, v.WorktreePath == "", always, encString[string])
}

func (*WorktreeRemoveInput) fresh() object { return new(WorktreeRemoveInput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *WorktreeRemoveInput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v WorktreeRemoveInput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*WorktreeRemoveInput) hookInput() {}

// HookEventName returns "WorktreeRemove".
func (*WorktreeRemoveInput) HookEventName() string { return "WorktreeRemove" }

// Common returns the members that every hook input has.
func (v *WorktreeRemoveInput) Common() *HookCommon { return &v.HookCommon }

// InstructionsLoadedInput is told when an instruction file was read.
type InstructionsLoadedInput struct {
	Source
	HookCommon

	// The file.
	FilePath string `json:"file_path"`

	// Whose instructions they are.
	MemoryType MemoryType `json:"memory_type"`

	// Why it was read.
	LoadReason LoadReason `json:"load_reason"`

	// The patterns of paths it is for.
	Globs []string `json:"globs,omitempty"`

	// The file that made the CLI read it.
	TriggerFilePath string `json:"trigger_file_path,omitempty"`

	// The file that includes it.
	ParentFilePath string `json:"parent_file_path,omitempty"`
}

func (v *InstructionsLoadedInput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hook_event_name":
		return true
	case "file_path":
		return setString[string](d, &v.FilePath, raw)
	case "memory_type":
		return setString[MemoryType](d, &v.MemoryType, raw)
	case "load_reason":
		return setString[LoadReason](d, &v.LoadReason, raw)
	case "globs":
		return setList(d, &v.Globs, raw, setString[string])
	case "trigger_file_path":
		return setString[string](d, &v.TriggerFilePath, raw)
	case "parent_file_path":
		return setString[string](d, &v.ParentFilePath, raw)
	}
	return v.HookCommon.setMember(d, name, raw)
}

func (v *InstructionsLoadedInput) appendMembers(e *encoder) {
	e.raw("hook_event_name", []byte(`"InstructionsLoaded"`))
	v.HookCommon.appendMembers(e)
	put(e, "file_path", v.FilePath, v.FilePath == "", always, encString[string])
	put(e, "memory_type", v.MemoryType, v.MemoryType == "", always, encString[MemoryType])
	put(e, "load_reason", v.LoadReason, v.LoadReason == "", always, encString[LoadReason])
	put(e, "globs", v.Globs, v.Globs == nil, optional, encList(encString[string]))
	put(e, "trigger_file_path", v.TriggerFilePath, v.TriggerFilePath == "", optional, encString[string])
	put(e, "parent_file_path", v.ParentFilePath, v.ParentFilePath == "", optional, encString[string])
}

func (*InstructionsLoadedInput) fresh() object { return new(InstructionsLoadedInput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *InstructionsLoadedInput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v InstructionsLoadedInput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*InstructionsLoadedInput) hookInput() {}

// HookEventName returns "InstructionsLoaded".
func (*InstructionsLoadedInput) HookEventName() string { return "InstructionsLoaded" }

// Common returns the members that every hook input has.
func (v *InstructionsLoadedInput) Common() *HookCommon { return &v.HookCommon }

// CwdChangedInput is told when the working directory changed.
type CwdChangedInput struct {
	Source
	HookCommon

	// The old one.
	OldCwd string `json:"old_cwd"`

	// The new one.
	NewCwd string `json:"new_cwd"`
}

func (v *CwdChangedInput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hook_event_name":
		return true
	case "old_cwd":
		return setString[string](d, &v.OldCwd, raw)
	case "new_cwd":
		return setString[string](d, &v.NewCwd, raw)
	}
	return v.HookCommon.setMember(d, name, raw)
}

func (v *CwdChangedInput) appendMembers(e *encoder) {
	e.raw("hook_event_name", []byte(`"CwdChanged"`))
	v.HookCommon.appendMembers(e)
	put(e, "old_cwd", v.OldCwd, v.OldCwd == "", always, encString[string])
	put(e, "new_cwd", v.NewCwd, v.NewCwd == "", always, encString[string])
}

func (*CwdChangedInput) fresh() object { return new(CwdChangedInput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *CwdChangedInput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v CwdChangedInput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*CwdChangedInput) hookInput() {}

// HookEventName returns "CwdChanged".
func (*CwdChangedInput) HookEventName() string { return "CwdChanged" }

// Common returns the members that every hook input has.
func (v *CwdChangedInput) Common() *HookCommon { return &v.HookCommon }

// CwdChangedOutput reacts to a new working directory.
type CwdChangedOutput struct {
	Source
	// Files to watch.
	WatchPaths []string `json:"watchPaths,omitempty"`
}

func (v *CwdChangedOutput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hookEventName":
		return true
	case "watchPaths":
		return setList(d, &v.WatchPaths, raw, setString[string])
	}
	return false
}

func (v *CwdChangedOutput) appendMembers(e *encoder) {
	e.raw("hookEventName", []byte(`"CwdChanged"`))
	put(e, "watchPaths", v.WatchPaths, v.WatchPaths == nil, optional, encList(encString[string]))
}

func (*CwdChangedOutput) fresh() object { return new(CwdChangedOutput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *CwdChangedOutput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v CwdChangedOutput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*CwdChangedOutput) hookSpecific() {}

// HookEventName returns "CwdChanged".
func (*CwdChangedOutput) HookEventName() string { return "CwdChanged" }

// FileChangedInput is told when a watched file changed.
type FileChangedInput struct {
	Source
	HookCommon

	// The file.
	FilePath string `json:"file_path"`

	// What happened to it.
	Event FileChange `json:"event"`
}

func (v *FileChangedInput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hook_event_name":
		return true
	case "file_path":
		return setString[string](d, &v.FilePath, raw)
	case "event":
		return setString[FileChange](d, &v.Event, raw)
	}
	return v.HookCommon.setMember(d, name, raw)
}

func (v *FileChangedInput) appendMembers(e *encoder) {
	e.raw("hook_event_name", []byte(`"FileChanged"`))
	v.HookCommon.appendMembers(e)
	put(e, "file_path", v.FilePath, v.FilePath == "", always, encString[string])
	put(e, "event", v.Event, v.Event == "", always, encString[FileChange])
}

func (*FileChangedInput) fresh() object { return new(FileChangedInput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *FileChangedInput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v FileChangedInput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*FileChangedInput) hookInput() {}

// HookEventName returns "FileChanged".
func (*FileChangedInput) HookEventName() string { return "FileChanged" }

// Common returns the members that every hook input has.
func (v *FileChangedInput) Common() *HookCommon { return &v.HookCommon }

// FileChangedOutput reacts to a changed file.
type FileChangedOutput struct {
	Source
	// Files to watch.
	WatchPaths []string `json:"watchPaths,omitempty"`
}

func (v *FileChangedOutput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hookEventName":
		return true
	case "watchPaths":
		return setList(d, &v.WatchPaths, raw, setString[string])
	}
	return false
}

func (v *FileChangedOutput) appendMembers(e *encoder) {
	e.raw("hookEventName", []byte(`"FileChanged"`))
	put(e, "watchPaths", v.WatchPaths, v.WatchPaths == nil, optional, encList(encString[string]))
}

func (*FileChangedOutput) fresh() object { return new(FileChangedOutput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *FileChangedOutput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v FileChangedOutput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*FileChangedOutput) hookSpecific() {}

// HookEventName returns "FileChanged".
func (*FileChangedOutput) HookEventName() string { return "FileChanged" }

// DirectoryAddedInput is told when a working directory was added.
type DirectoryAddedInput struct {
	Source
	HookCommon

	// The directory.
	Directory string `json:"directory"`

	// What added it.
	Origin DirectorySource `json:"source"`
}

func (v *DirectoryAddedInput) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "hook_event_name":
		return true
	case "directory":
		return setString[string](d, &v.Directory, raw)
	case "source":
		return setString[DirectorySource](d, &v.Origin, raw)
	}
	return v.HookCommon.setMember(d, name, raw)
}

func (v *DirectoryAddedInput) appendMembers(e *encoder) {
	e.raw("hook_event_name", []byte(`"DirectoryAdded"`))
	v.HookCommon.appendMembers(e)
	put(e, "directory", v.Directory, v.Directory == "", always, encString[string])
	put(e, "source", v.Origin, v.Origin == "", always, encString[DirectorySource])
}

func (*DirectoryAddedInput) fresh() object { return new(DirectoryAddedInput) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *DirectoryAddedInput) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v DirectoryAddedInput) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*DirectoryAddedInput) hookInput() {}

// HookEventName returns "DirectoryAdded".
func (*DirectoryAddedInput) HookEventName() string { return "DirectoryAdded" }

// Common returns the members that every hook input has.
func (v *DirectoryAddedInput) Common() *HookCommon { return &v.HookCommon }
