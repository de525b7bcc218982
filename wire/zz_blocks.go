// Code generated from schema/*.wire by wire/internal/gen. DO NOT EDIT.

package wire

import "encoding/json"

// TextBlock is text.
type TextBlock struct {
	Source
	// The text.
	Text string `json:"text"`

	// Where it was taken from.
	Citations json.RawMessage `json:"citations,omitempty"`

	// Where the cache may end.
	CacheControl json.RawMessage `json:"cache_control,omitempty"`
}

func (v *TextBlock) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "text":
		return setString[string](d, &v.Text, raw)
	case "citations":
		return setRaw(d, &v.Citations, raw)
	case "cache_control":
		return setRaw(d, &v.CacheControl, raw)
	}
	return false
}

func (v *TextBlock) appendMembers(e *encoder) {
	e.raw("type", []byte(`"text"`))
	put(e, "text", v.Text, v.Text == "", always, encString[string])
	put(e, "citations", v.Citations, v.Citations == nil, optional, encRaw)
	put(e, "cache_control", v.CacheControl, v.CacheControl == nil, optional, encRaw)
}

func (*TextBlock) fresh() object { return new(TextBlock) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *TextBlock) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v TextBlock) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*TextBlock) block() {}

// BlockType returns "text".
func (*TextBlock) BlockType() string { return "text" }

// ThinkingBlock is what the model thought.
type ThinkingBlock struct {
	Source
	// The thought; empty if it is hidden.
	Thinking string `json:"thinking"`

	// Proves to the API that the thought is genuine.
	Signature string `json:"signature"`
}

func (v *ThinkingBlock) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "thinking":
		return setString[string](d, &v.Thinking, raw)
	case "signature":
		return setString[string](d, &v.Signature, raw)
	}
	return false
}

func (v *ThinkingBlock) appendMembers(e *encoder) {
	e.raw("type", []byte(`"thinking"`))
	put(e, "thinking", v.Thinking, v.Thinking == "", always, encString[string])
	put(e, "signature", v.Signature, v.Signature == "", always, encString[string])
}

func (*ThinkingBlock) fresh() object { return new(ThinkingBlock) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ThinkingBlock) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ThinkingBlock) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ThinkingBlock) block() {}

// BlockType returns "thinking".
func (*ThinkingBlock) BlockType() string { return "thinking" }

// RedactedThinkingBlock is a thought that only the API can read.
type RedactedThinkingBlock struct {
	Source
	// The encrypted thought.
	Data string `json:"data"`
}

func (v *RedactedThinkingBlock) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "data":
		return setString[string](d, &v.Data, raw)
	}
	return false
}

func (v *RedactedThinkingBlock) appendMembers(e *encoder) {
	e.raw("type", []byte(`"redacted_thinking"`))
	put(e, "data", v.Data, v.Data == "", always, encString[string])
}

func (*RedactedThinkingBlock) fresh() object { return new(RedactedThinkingBlock) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *RedactedThinkingBlock) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v RedactedThinkingBlock) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*RedactedThinkingBlock) block() {}

// BlockType returns "redacted_thinking".
func (*RedactedThinkingBlock) BlockType() string { return "redacted_thinking" }

// ToolUseBlock calls a tool.
type ToolUseBlock struct {
	Source
	// The call; its result refers to it.
	ID string `json:"id"`

	// The tool.
	Name string `json:"name"`

	// The tool's input.
	Input json.RawMessage `json:"input"`

	// The caller: the model or a tool of the API.
	Caller json.RawMessage `json:"caller,omitempty"`

	// The set that the tool belongs to.
	ToolsetName string `json:"toolset_name,omitempty"`

	// Where the cache may end.
	CacheControl json.RawMessage `json:"cache_control,omitempty"`
}

func (v *ToolUseBlock) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "id":
		return setString[string](d, &v.ID, raw)
	case "name":
		return setString[string](d, &v.Name, raw)
	case "input":
		return setRaw(d, &v.Input, raw)
	case "caller":
		return setRaw(d, &v.Caller, raw)
	case "toolset_name":
		return setString[string](d, &v.ToolsetName, raw)
	case "cache_control":
		return setRaw(d, &v.CacheControl, raw)
	}
	return false
}

func (v *ToolUseBlock) appendMembers(e *encoder) {
	e.raw("type", []byte(`"tool_use"`))
	put(e, "id", v.ID, v.ID == "", always, encString[string])
	put(e, "name", v.Name, v.Name == "", always, encString[string])
	put(e, "input", v.Input, v.Input == nil, always, encRaw)
	put(e, "caller", v.Caller, v.Caller == nil, optional, encRaw)
	put(e, "toolset_name", v.ToolsetName, v.ToolsetName == "", optional, encString[string])
	put(e, "cache_control", v.CacheControl, v.CacheControl == nil, optional, encRaw)
}

func (*ToolUseBlock) fresh() object { return new(ToolUseBlock) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ToolUseBlock) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ToolUseBlock) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ToolUseBlock) block() {}

// BlockType returns "tool_use".
func (*ToolUseBlock) BlockType() string { return "tool_use" }

// ServerToolUseBlock calls a tool that runs at the API.
type ServerToolUseBlock struct {
	Source
	// The call.
	ID string `json:"id"`

	// The tool.
	Name string `json:"name"`

	// The tool's input.
	Input json.RawMessage `json:"input"`

	// The caller.
	Caller json.RawMessage `json:"caller,omitempty"`
}

func (v *ServerToolUseBlock) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "id":
		return setString[string](d, &v.ID, raw)
	case "name":
		return setString[string](d, &v.Name, raw)
	case "input":
		return setRaw(d, &v.Input, raw)
	case "caller":
		return setRaw(d, &v.Caller, raw)
	}
	return false
}

func (v *ServerToolUseBlock) appendMembers(e *encoder) {
	e.raw("type", []byte(`"server_tool_use"`))
	put(e, "id", v.ID, v.ID == "", always, encString[string])
	put(e, "name", v.Name, v.Name == "", always, encString[string])
	put(e, "input", v.Input, v.Input == nil, always, encRaw)
	put(e, "caller", v.Caller, v.Caller == nil, optional, encRaw)
}

func (*ServerToolUseBlock) fresh() object { return new(ServerToolUseBlock) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ServerToolUseBlock) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ServerToolUseBlock) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ServerToolUseBlock) block() {}

// BlockType returns "server_tool_use".
func (*ServerToolUseBlock) BlockType() string { return "server_tool_use" }

// WebSearchToolResultBlock is the result of a web search at the API.
type WebSearchToolResultBlock struct {
	Source
	// The call.
	ToolUseID string `json:"tool_use_id"`

	// A list of hits, or an error.
	Content json.RawMessage `json:"content"`

	// The caller.
	Caller json.RawMessage `json:"caller,omitempty"`
}

func (v *WebSearchToolResultBlock) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "tool_use_id":
		return setString[string](d, &v.ToolUseID, raw)
	case "content":
		return setRaw(d, &v.Content, raw)
	case "caller":
		return setRaw(d, &v.Caller, raw)
	}
	return false
}

func (v *WebSearchToolResultBlock) appendMembers(e *encoder) {
	e.raw("type", []byte(`"web_search_tool_result"`))
	put(e, "tool_use_id", v.ToolUseID, v.ToolUseID == "", always, encString[string])
	put(e, "content", v.Content, v.Content == nil, always, encRaw)
	put(e, "caller", v.Caller, v.Caller == nil, optional, encRaw)
}

func (*WebSearchToolResultBlock) fresh() object { return new(WebSearchToolResultBlock) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *WebSearchToolResultBlock) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v WebSearchToolResultBlock) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*WebSearchToolResultBlock) block() {}

// BlockType returns "web_search_tool_result".
func (*WebSearchToolResultBlock) BlockType() string { return "web_search_tool_result" }

// WebFetchToolResultBlock is a page that the API fetched.
type WebFetchToolResultBlock struct {
	Source
	// The call.
	ToolUseID string `json:"tool_use_id"`

	// The page, or an error.
	Content json.RawMessage `json:"content"`

	// The caller.
	Caller json.RawMessage `json:"caller,omitempty"`
}

func (v *WebFetchToolResultBlock) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "tool_use_id":
		return setString[string](d, &v.ToolUseID, raw)
	case "content":
		return setRaw(d, &v.Content, raw)
	case "caller":
		return setRaw(d, &v.Caller, raw)
	}
	return false
}

func (v *WebFetchToolResultBlock) appendMembers(e *encoder) {
	e.raw("type", []byte(`"web_fetch_tool_result"`))
	put(e, "tool_use_id", v.ToolUseID, v.ToolUseID == "", always, encString[string])
	put(e, "content", v.Content, v.Content == nil, always, encRaw)
	put(e, "caller", v.Caller, v.Caller == nil, optional, encRaw)
}

func (*WebFetchToolResultBlock) fresh() object { return new(WebFetchToolResultBlock) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *WebFetchToolResultBlock) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v WebFetchToolResultBlock) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*WebFetchToolResultBlock) block() {}

// BlockType returns "web_fetch_tool_result".
func (*WebFetchToolResultBlock) BlockType() string { return "web_fetch_tool_result" }

// AdvisorToolResultBlock is the answer of an advising model.
type AdvisorToolResultBlock struct {
	Source
	// The call.
	ToolUseID string `json:"tool_use_id"`

	// The answer, or an error.
	Content json.RawMessage `json:"content"`
}

func (v *AdvisorToolResultBlock) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "tool_use_id":
		return setString[string](d, &v.ToolUseID, raw)
	case "content":
		return setRaw(d, &v.Content, raw)
	}
	return false
}

func (v *AdvisorToolResultBlock) appendMembers(e *encoder) {
	e.raw("type", []byte(`"advisor_tool_result"`))
	put(e, "tool_use_id", v.ToolUseID, v.ToolUseID == "", always, encString[string])
	put(e, "content", v.Content, v.Content == nil, always, encRaw)
}

func (*AdvisorToolResultBlock) fresh() object { return new(AdvisorToolResultBlock) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *AdvisorToolResultBlock) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v AdvisorToolResultBlock) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*AdvisorToolResultBlock) block() {}

// BlockType returns "advisor_tool_result".
func (*AdvisorToolResultBlock) BlockType() string { return "advisor_tool_result" }

// CodeExecutionToolResultBlock is the result of code that ran at the API.
type CodeExecutionToolResultBlock struct {
	Source
	// The call.
	ToolUseID string `json:"tool_use_id"`

	// Output and exit code, or an error.
	Content json.RawMessage `json:"content"`
}

func (v *CodeExecutionToolResultBlock) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "tool_use_id":
		return setString[string](d, &v.ToolUseID, raw)
	case "content":
		return setRaw(d, &v.Content, raw)
	}
	return false
}

func (v *CodeExecutionToolResultBlock) appendMembers(e *encoder) {
	e.raw("type", []byte(`"code_execution_tool_result"`))
	put(e, "tool_use_id", v.ToolUseID, v.ToolUseID == "", always, encString[string])
	put(e, "content", v.Content, v.Content == nil, always, encRaw)
}

func (*CodeExecutionToolResultBlock) fresh() object { return new(CodeExecutionToolResultBlock) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *CodeExecutionToolResultBlock) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v CodeExecutionToolResultBlock) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*CodeExecutionToolResultBlock) block() {}

// BlockType returns "code_execution_tool_result".
func (*CodeExecutionToolResultBlock) BlockType() string { return "code_execution_tool_result" }

// BashCodeExecutionToolResultBlock is the result of a shell command that ran
// at the API.
type BashCodeExecutionToolResultBlock struct {
	Source
	// The call.
	ToolUseID string `json:"tool_use_id"`

	// Output and exit code, or an error.
	Content json.RawMessage `json:"content"`
}

func (v *BashCodeExecutionToolResultBlock) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "tool_use_id":
		return setString[string](d, &v.ToolUseID, raw)
	case "content":
		return setRaw(d, &v.Content, raw)
	}
	return false
}

func (v *BashCodeExecutionToolResultBlock) appendMembers(e *encoder) {
	e.raw("type", []byte(`"bash_code_execution_tool_result"`))
	put(e, "tool_use_id", v.ToolUseID, v.ToolUseID == "", always, encString[string])
	put(e, "content", v.Content, v.Content == nil, always, encRaw)
}

func (*BashCodeExecutionToolResultBlock) fresh() object { return new(BashCodeExecutionToolResultBlock) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *BashCodeExecutionToolResultBlock) UnmarshalJSON(data []byte) error {
	return unmarshal(v, data)
}

// MarshalJSON encodes the value, with what was kept at decoding.
func (v BashCodeExecutionToolResultBlock) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*BashCodeExecutionToolResultBlock) block() {}

// BlockType returns "bash_code_execution_tool_result".
func (*BashCodeExecutionToolResultBlock) BlockType() string { return "bash_code_execution_tool_result" }

// TextEditorCodeExecutionToolResultBlock is the result of a text editor
// command that ran at the API.
type TextEditorCodeExecutionToolResultBlock struct {
	Source
	// The call.
	ToolUseID string `json:"tool_use_id"`

	// What it did, or an error.
	Content json.RawMessage `json:"content"`
}

func (v *TextEditorCodeExecutionToolResultBlock) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "tool_use_id":
		return setString[string](d, &v.ToolUseID, raw)
	case "content":
		return setRaw(d, &v.Content, raw)
	}
	return false
}

func (v *TextEditorCodeExecutionToolResultBlock) appendMembers(e *encoder) {
	e.raw("type", []byte(`"text_editor_code_execution_tool_result"`))
	put(e, "tool_use_id", v.ToolUseID, v.ToolUseID == "", always, encString[string])
	put(e, "content", v.Content, v.Content == nil, always, encRaw)
}

func (*TextEditorCodeExecutionToolResultBlock) fresh() object {
	return new(TextEditorCodeExecutionToolResultBlock)
}

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *TextEditorCodeExecutionToolResultBlock) UnmarshalJSON(data []byte) error {
	return unmarshal(v, data)
}

// MarshalJSON encodes the value, with what was kept at decoding.
func (v TextEditorCodeExecutionToolResultBlock) MarshalJSON() ([]byte, error) {
	return encodeObject(&v)
}

func (*TextEditorCodeExecutionToolResultBlock) block() {}

// BlockType returns "text_editor_code_execution_tool_result".
func (*TextEditorCodeExecutionToolResultBlock) BlockType() string {
	return "text_editor_code_execution_tool_result"
}

// ToolSearchToolResultBlock is the result of a search for tools.
type ToolSearchToolResultBlock struct {
	Source
	// The call.
	ToolUseID string `json:"tool_use_id"`

	// References to tools, or an error.
	Content json.RawMessage `json:"content"`
}

func (v *ToolSearchToolResultBlock) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "tool_use_id":
		return setString[string](d, &v.ToolUseID, raw)
	case "content":
		return setRaw(d, &v.Content, raw)
	}
	return false
}

func (v *ToolSearchToolResultBlock) appendMembers(e *encoder) {
	e.raw("type", []byte(`"tool_search_tool_result"`))
	put(e, "tool_use_id", v.ToolUseID, v.ToolUseID == "", always, encString[string])
	put(e, "content", v.Content, v.Content == nil, always, encRaw)
}

func (*ToolSearchToolResultBlock) fresh() object { return new(ToolSearchToolResultBlock) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ToolSearchToolResultBlock) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ToolSearchToolResultBlock) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ToolSearchToolResultBlock) block() {}

// BlockType returns "tool_search_tool_result".
func (*ToolSearchToolResultBlock) BlockType() string { return "tool_search_tool_result" }

// MCPToolUseBlock calls an MCP tool from the API.
type MCPToolUseBlock struct {
	Source
	// The call.
	ID string `json:"id"`

	// The tool.
	Name string `json:"name"`

	// Its server.
	ServerName string `json:"server_name"`

	// The tool's input.
	Input json.RawMessage `json:"input"`
}

func (v *MCPToolUseBlock) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "id":
		return setString[string](d, &v.ID, raw)
	case "name":
		return setString[string](d, &v.Name, raw)
	case "server_name":
		return setString[string](d, &v.ServerName, raw)
	case "input":
		return setRaw(d, &v.Input, raw)
	}
	return false
}

func (v *MCPToolUseBlock) appendMembers(e *encoder) {
	e.raw("type", []byte(`"mcp_tool_use"`))
	put(e, "id", v.ID, v.ID == "", always, encString[string])
	put(e, "name", v.Name, v.Name == "", always, encString[string])
	put(e, "server_name", v.ServerName, v.ServerName == "", always, encString[string])
	put(e, "input", v.Input, v.Input == nil, always, encRaw)
}

func (*MCPToolUseBlock) fresh() object { return new(MCPToolUseBlock) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *MCPToolUseBlock) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v MCPToolUseBlock) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*MCPToolUseBlock) block() {}

// BlockType returns "mcp_tool_use".
func (*MCPToolUseBlock) BlockType() string { return "mcp_tool_use" }

// MCPToolResultBlock is the result of an MCP tool called from the API.
type MCPToolResultBlock struct {
	Source
	// The call.
	ToolUseID string `json:"tool_use_id"`

	// The result.
	Content Content `json:"content"`

	// The tool failed.
	IsError bool `json:"is_error"`
}

func (v *MCPToolResultBlock) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "tool_use_id":
		return setString[string](d, &v.ToolUseID, raw)
	case "content":
		return setContent(d, &v.Content, raw)
	case "is_error":
		return setBool(d, &v.IsError, raw)
	}
	return false
}

func (v *MCPToolResultBlock) appendMembers(e *encoder) {
	e.raw("type", []byte(`"mcp_tool_result"`))
	put(e, "tool_use_id", v.ToolUseID, v.ToolUseID == "", always, encString[string])
	put(e, "content", v.Content, v.Content.IsZero(), always, encContent)
	put(e, "is_error", v.IsError, !v.IsError, always, encBool)
}

func (*MCPToolResultBlock) fresh() object { return new(MCPToolResultBlock) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *MCPToolResultBlock) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v MCPToolResultBlock) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*MCPToolResultBlock) block() {}

// BlockType returns "mcp_tool_result".
func (*MCPToolResultBlock) BlockType() string { return "mcp_tool_result" }

// ContainerUploadBlock is a file put into the container of server tools.
type ContainerUploadBlock struct {
	Source
	// The file.
	FileID string `json:"file_id"`
}

func (v *ContainerUploadBlock) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "file_id":
		return setString[string](d, &v.FileID, raw)
	}
	return false
}

func (v *ContainerUploadBlock) appendMembers(e *encoder) {
	e.raw("type", []byte(`"container_upload"`))
	put(e, "file_id", v.FileID, v.FileID == "", always, encString[string])
}

func (*ContainerUploadBlock) fresh() object { return new(ContainerUploadBlock) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ContainerUploadBlock) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ContainerUploadBlock) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ContainerUploadBlock) block() {}

// BlockType returns "container_upload".
func (*ContainerUploadBlock) BlockType() string { return "container_upload" }

// CompactionBlock is a summary that stands for the conversation before it.
type CompactionBlock struct {
	Source
	// The summary.
	Content string `json:"content"`

	// The same for the API only.
	EncryptedContent string `json:"encrypted_content,omitempty"`

	// Proves to the API that it is genuine.
	Signature string `json:"signature,omitempty"`

	// Changes of the tools that happened before.
	ToolChanges json.RawMessage `json:"tool_changes,omitempty"`
}

func (v *CompactionBlock) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "content":
		return setString[string](d, &v.Content, raw)
	case "encrypted_content":
		return setString[string](d, &v.EncryptedContent, raw)
	case "signature":
		return setString[string](d, &v.Signature, raw)
	case "tool_changes":
		return setRaw(d, &v.ToolChanges, raw)
	}
	return false
}

func (v *CompactionBlock) appendMembers(e *encoder) {
	e.raw("type", []byte(`"compaction"`))
	put(e, "content", v.Content, v.Content == "", nullable, encString[string])
	put(e, "encrypted_content", v.EncryptedContent, v.EncryptedContent == "", optional, encString[string])
	put(e, "signature", v.Signature, v.Signature == "", optional, encString[string])
	put(e, "tool_changes", v.ToolChanges, v.ToolChanges == nil, optional, encRaw)
}

func (*CompactionBlock) fresh() object { return new(CompactionBlock) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *CompactionBlock) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v CompactionBlock) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*CompactionBlock) block() {}

// BlockType returns "compaction".
func (*CompactionBlock) BlockType() string { return "compaction" }

// FallbackBlock marks the place where another model took over.
type FallbackBlock struct {
	Source
	// The model that stopped.
	From FallbackModel `json:"from"`

	// The model that went on.
	To FallbackModel `json:"to"`

	// Why.
	Trigger json.RawMessage `json:"trigger"`
}

func (v *FallbackBlock) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "from":
		return setStruct[FallbackModel](d, &v.From, raw)
	case "to":
		return setStruct[FallbackModel](d, &v.To, raw)
	case "trigger":
		return setRaw(d, &v.Trigger, raw)
	}
	return false
}

func (v *FallbackBlock) appendMembers(e *encoder) {
	e.raw("type", []byte(`"fallback"`))
	put(e, "from", v.From, false, always, encStruct[FallbackModel])
	put(e, "to", v.To, false, always, encStruct[FallbackModel])
	put(e, "trigger", v.Trigger, v.Trigger == nil, always, encRaw)
}

func (*FallbackBlock) fresh() object { return new(FallbackBlock) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *FallbackBlock) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v FallbackBlock) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*FallbackBlock) block() {}

// BlockType returns "fallback".
func (*FallbackBlock) BlockType() string { return "fallback" }

// ToolResultBlock is the result of a tool call.
type ToolResultBlock struct {
	Source
	// The call.
	ToolUseID string `json:"tool_use_id"`

	// The result: text, or blocks of text, images, documents, search results and
	// tool references.
	Content Content `json:"content,omitempty"`

	// The tool failed or was refused.
	IsError bool `json:"is_error,omitempty"`

	// The set that the tool belongs to.
	ToolsetName string `json:"toolset_name,omitempty"`

	// Where the cache may end.
	CacheControl json.RawMessage `json:"cache_control,omitempty"`
}

func (v *ToolResultBlock) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "tool_use_id":
		return setString[string](d, &v.ToolUseID, raw)
	case "content":
		return setContent(d, &v.Content, raw)
	case "is_error":
		return setBool(d, &v.IsError, raw)
	case "toolset_name":
		return setString[string](d, &v.ToolsetName, raw)
	case "cache_control":
		return setRaw(d, &v.CacheControl, raw)
	}
	return false
}

func (v *ToolResultBlock) appendMembers(e *encoder) {
	e.raw("type", []byte(`"tool_result"`))
	put(e, "tool_use_id", v.ToolUseID, v.ToolUseID == "", always, encString[string])
	put(e, "content", v.Content, v.Content.IsZero(), optional, encContent)
	put(e, "is_error", v.IsError, !v.IsError, optional, encBool)
	put(e, "toolset_name", v.ToolsetName, v.ToolsetName == "", optional, encString[string])
	put(e, "cache_control", v.CacheControl, v.CacheControl == nil, optional, encRaw)
}

func (*ToolResultBlock) fresh() object { return new(ToolResultBlock) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ToolResultBlock) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ToolResultBlock) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ToolResultBlock) block() {}

// BlockType returns "tool_result".
func (*ToolResultBlock) BlockType() string { return "tool_result" }

// ImageBlock is an image.
type ImageBlock struct {
	Source
	// The image itself or where to find it.
	Media MediaSource `json:"source"`

	// How the API may change it.
	Transformations json.RawMessage `json:"transformations,omitempty"`

	// Where the cache may end.
	CacheControl json.RawMessage `json:"cache_control,omitempty"`
}

func (v *ImageBlock) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "source":
		return setStruct[MediaSource](d, &v.Media, raw)
	case "transformations":
		return setRaw(d, &v.Transformations, raw)
	case "cache_control":
		return setRaw(d, &v.CacheControl, raw)
	}
	return false
}

func (v *ImageBlock) appendMembers(e *encoder) {
	e.raw("type", []byte(`"image"`))
	put(e, "source", v.Media, false, always, encStruct[MediaSource])
	put(e, "transformations", v.Transformations, v.Transformations == nil, optional, encRaw)
	put(e, "cache_control", v.CacheControl, v.CacheControl == nil, optional, encRaw)
}

func (*ImageBlock) fresh() object { return new(ImageBlock) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ImageBlock) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ImageBlock) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ImageBlock) block() {}

// BlockType returns "image".
func (*ImageBlock) BlockType() string { return "image" }

// DocumentBlock is a document.
type DocumentBlock struct {
	Source
	// The document itself or where to find it.
	Media MediaSource `json:"source"`

	// Its title.
	Title string `json:"title,omitempty"`

	// What the model should know about it.
	Context string `json:"context,omitempty"`

	// Whether it may be cited.
	Citations json.RawMessage `json:"citations,omitempty"`

	// Where the cache may end.
	CacheControl json.RawMessage `json:"cache_control,omitempty"`
}

func (v *DocumentBlock) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "source":
		return setStruct[MediaSource](d, &v.Media, raw)
	case "title":
		return setString[string](d, &v.Title, raw)
	case "context":
		return setString[string](d, &v.Context, raw)
	case "citations":
		return setRaw(d, &v.Citations, raw)
	case "cache_control":
		return setRaw(d, &v.CacheControl, raw)
	}
	return false
}

func (v *DocumentBlock) appendMembers(e *encoder) {
	e.raw("type", []byte(`"document"`))
	put(e, "source", v.Media, false, always, encStruct[MediaSource])
	put(e, "title", v.Title, v.Title == "", optional, encString[string])
	put(e, "context", v.Context, v.Context == "", optional, encString[string])
	put(e, "citations", v.Citations, v.Citations == nil, optional, encRaw)
	put(e, "cache_control", v.CacheControl, v.CacheControl == nil, optional, encRaw)
}

func (*DocumentBlock) fresh() object { return new(DocumentBlock) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *DocumentBlock) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v DocumentBlock) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*DocumentBlock) block() {}

// BlockType returns "document".
func (*DocumentBlock) BlockType() string { return "document" }

// SearchResultBlock is a search result that can be cited.
type SearchResultBlock struct {
	Source
	// Where it was found.
	Origin string `json:"source"`

	// Its title.
	Title string `json:"title"`

	// Its text.
	Content []Block `json:"content"`

	// Whether it may be cited.
	Citations json.RawMessage `json:"citations,omitempty"`

	// Where the cache may end.
	CacheControl json.RawMessage `json:"cache_control,omitempty"`
}

func (v *SearchResultBlock) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "source":
		return setString[string](d, &v.Origin, raw)
	case "title":
		return setString[string](d, &v.Title, raw)
	case "content":
		return setList(d, &v.Content, raw, func(d *decoder, dst *Block, raw value) bool { return setUnion(d, dst, raw, decodeBlock) })
	case "citations":
		return setRaw(d, &v.Citations, raw)
	case "cache_control":
		return setRaw(d, &v.CacheControl, raw)
	}
	return false
}

func (v *SearchResultBlock) appendMembers(e *encoder) {
	e.raw("type", []byte(`"search_result"`))
	put(e, "source", v.Origin, v.Origin == "", always, encString[string])
	put(e, "title", v.Title, v.Title == "", always, encString[string])
	put(e, "content", v.Content, v.Content == nil, always, encList(encUnion[Block]))
	put(e, "citations", v.Citations, v.Citations == nil, optional, encRaw)
	put(e, "cache_control", v.CacheControl, v.CacheControl == nil, optional, encRaw)
}

func (*SearchResultBlock) fresh() object { return new(SearchResultBlock) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *SearchResultBlock) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v SearchResultBlock) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*SearchResultBlock) block() {}

// BlockType returns "search_result".
func (*SearchResultBlock) BlockType() string { return "search_result" }

// ToolReferenceBlock names a tool that a search found.
type ToolReferenceBlock struct {
	Source
	// The tool.
	ToolName string `json:"tool_name"`

	// Where the cache may end.
	CacheControl json.RawMessage `json:"cache_control,omitempty"`
}

func (v *ToolReferenceBlock) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "tool_name":
		return setString[string](d, &v.ToolName, raw)
	case "cache_control":
		return setRaw(d, &v.CacheControl, raw)
	}
	return false
}

func (v *ToolReferenceBlock) appendMembers(e *encoder) {
	e.raw("type", []byte(`"tool_reference"`))
	put(e, "tool_name", v.ToolName, v.ToolName == "", always, encString[string])
	put(e, "cache_control", v.CacheControl, v.CacheControl == nil, optional, encRaw)
}

func (*ToolReferenceBlock) fresh() object { return new(ToolReferenceBlock) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ToolReferenceBlock) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ToolReferenceBlock) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ToolReferenceBlock) block() {}

// BlockType returns "tool_reference".
func (*ToolReferenceBlock) BlockType() string { return "tool_reference" }

// MessageStartEvent opens a message. What was streamed of an unfinished one
// before it is void.
type MessageStartEvent struct {
	Source
	// The message, still without content.
	Message APIMessage `json:"message"`
}

func (v *MessageStartEvent) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "message":
		return setStruct[APIMessage](d, &v.Message, raw)
	}
	return false
}

func (v *MessageStartEvent) appendMembers(e *encoder) {
	e.raw("type", []byte(`"message_start"`))
	put(e, "message", v.Message, false, always, encStruct[APIMessage])
}

func (*MessageStartEvent) fresh() object { return new(MessageStartEvent) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *MessageStartEvent) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v MessageStartEvent) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*MessageStartEvent) event() {}

// EventType returns "message_start".
func (*MessageStartEvent) EventType() string { return "message_start" }

// ContentBlockStartEvent opens a content block.
type ContentBlockStartEvent struct {
	Source
	// The number of the block, from 0.
	Index int64 `json:"index"`

	// The block, still empty.
	ContentBlock Block `json:"content_block"`
}

func (v *ContentBlockStartEvent) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "index":
		return setInt(d, &v.Index, raw)
	case "content_block":
		return setUnion(d, &v.ContentBlock, raw, decodeBlock)
	}
	return false
}

func (v *ContentBlockStartEvent) appendMembers(e *encoder) {
	e.raw("type", []byte(`"content_block_start"`))
	put(e, "index", v.Index, v.Index == 0, always, encInt)
	put(e, "content_block", v.ContentBlock, v.ContentBlock == nil, always, encUnion[Block])
}

func (*ContentBlockStartEvent) fresh() object { return new(ContentBlockStartEvent) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ContentBlockStartEvent) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ContentBlockStartEvent) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ContentBlockStartEvent) event() {}

// EventType returns "content_block_start".
func (*ContentBlockStartEvent) EventType() string { return "content_block_start" }

// ContentBlockDeltaEvent adds to a content block.
type ContentBlockDeltaEvent struct {
	Source
	// The number of the block.
	Index int64 `json:"index"`

	// What is added.
	Delta Delta `json:"delta"`
}

func (v *ContentBlockDeltaEvent) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "index":
		return setInt(d, &v.Index, raw)
	case "delta":
		return setUnion(d, &v.Delta, raw, decodeDelta)
	}
	return false
}

func (v *ContentBlockDeltaEvent) appendMembers(e *encoder) {
	e.raw("type", []byte(`"content_block_delta"`))
	put(e, "index", v.Index, v.Index == 0, always, encInt)
	put(e, "delta", v.Delta, v.Delta == nil, always, encUnion[Delta])
}

func (*ContentBlockDeltaEvent) fresh() object { return new(ContentBlockDeltaEvent) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ContentBlockDeltaEvent) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ContentBlockDeltaEvent) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ContentBlockDeltaEvent) event() {}

// EventType returns "content_block_delta".
func (*ContentBlockDeltaEvent) EventType() string { return "content_block_delta" }

// ContentBlockStopEvent closes a content block. Its assistant line comes
// before this.
type ContentBlockStopEvent struct {
	Source
	// The number of the block.
	Index int64 `json:"index"`
}

func (v *ContentBlockStopEvent) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "index":
		return setInt(d, &v.Index, raw)
	}
	return false
}

func (v *ContentBlockStopEvent) appendMembers(e *encoder) {
	e.raw("type", []byte(`"content_block_stop"`))
	put(e, "index", v.Index, v.Index == 0, always, encInt)
}

func (*ContentBlockStopEvent) fresh() object { return new(ContentBlockStopEvent) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ContentBlockStopEvent) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ContentBlockStopEvent) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ContentBlockStopEvent) event() {}

// EventType returns "content_block_stop".
func (*ContentBlockStopEvent) EventType() string { return "content_block_stop" }

// MessageDeltaEvent brings what is only known at the end of a message.
type MessageDeltaEvent struct {
	Source
	// What changed.
	Delta MessageChange `json:"delta"`

	// The tokens, cumulative.
	Usage Usage `json:"usage"`

	// What was cut from the context.
	ContextManagement json.RawMessage `json:"context_management,omitempty"`
}

func (v *MessageDeltaEvent) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "delta":
		return setStruct[MessageChange](d, &v.Delta, raw)
	case "usage":
		return setStruct[Usage](d, &v.Usage, raw)
	case "context_management":
		return setRaw(d, &v.ContextManagement, raw)
	}
	return false
}

func (v *MessageDeltaEvent) appendMembers(e *encoder) {
	e.raw("type", []byte(`"message_delta"`))
	put(e, "delta", v.Delta, false, always, encStruct[MessageChange])
	put(e, "usage", v.Usage, false, always, encStruct[Usage])
	put(e, "context_management", v.ContextManagement, v.ContextManagement == nil, optional, encRaw)
}

func (*MessageDeltaEvent) fresh() object { return new(MessageDeltaEvent) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *MessageDeltaEvent) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v MessageDeltaEvent) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*MessageDeltaEvent) event() {}

// EventType returns "message_delta".
func (*MessageDeltaEvent) EventType() string { return "message_delta" }

// MessageStopEvent closes a message.
type MessageStopEvent struct {
	Source
}

func (v *MessageStopEvent) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	}
	return false
}

func (v *MessageStopEvent) appendMembers(e *encoder) {
	e.raw("type", []byte(`"message_stop"`))
}

func (*MessageStopEvent) fresh() object { return new(MessageStopEvent) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *MessageStopEvent) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v MessageStopEvent) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*MessageStopEvent) event() {}

// EventType returns "message_stop".
func (*MessageStopEvent) EventType() string { return "message_stop" }

// PingEvent keeps the stream open and means nothing.
type PingEvent struct {
	Source
}

func (v *PingEvent) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	}
	return false
}

func (v *PingEvent) appendMembers(e *encoder) {
	e.raw("type", []byte(`"ping"`))
}

func (*PingEvent) fresh() object { return new(PingEvent) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *PingEvent) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v PingEvent) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*PingEvent) event() {}

// EventType returns "ping".
func (*PingEvent) EventType() string { return "ping" }

// ErrorEvent ends the stream with an error.
type ErrorEvent struct {
	Source
	// The error.
	Error APIErrorBody `json:"error"`
}

func (v *ErrorEvent) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "error":
		return setStruct[APIErrorBody](d, &v.Error, raw)
	}
	return false
}

func (v *ErrorEvent) appendMembers(e *encoder) {
	e.raw("type", []byte(`"error"`))
	put(e, "error", v.Error, false, always, encStruct[APIErrorBody])
}

func (*ErrorEvent) fresh() object { return new(ErrorEvent) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ErrorEvent) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ErrorEvent) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ErrorEvent) event() {}

// EventType returns "error".
func (*ErrorEvent) EventType() string { return "error" }

// TextDelta is more text.
type TextDelta struct {
	Source
	// The text.
	Text string `json:"text"`
}

func (v *TextDelta) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "text":
		return setString[string](d, &v.Text, raw)
	}
	return false
}

func (v *TextDelta) appendMembers(e *encoder) {
	e.raw("type", []byte(`"text_delta"`))
	put(e, "text", v.Text, v.Text == "", always, encString[string])
}

func (*TextDelta) fresh() object { return new(TextDelta) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *TextDelta) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v TextDelta) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*TextDelta) delta() {}

// DeltaType returns "text_delta".
func (*TextDelta) DeltaType() string { return "text_delta" }

// InputJSONDelta is more of a tool's input.
type InputJSONDelta struct {
	Source
	// A piece of JSON; only all pieces together are valid.
	PartialJSON string `json:"partial_json"`
}

func (v *InputJSONDelta) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "partial_json":
		return setString[string](d, &v.PartialJSON, raw)
	}
	return false
}

func (v *InputJSONDelta) appendMembers(e *encoder) {
	e.raw("type", []byte(`"input_json_delta"`))
	put(e, "partial_json", v.PartialJSON, v.PartialJSON == "", always, encString[string])
}

func (*InputJSONDelta) fresh() object { return new(InputJSONDelta) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *InputJSONDelta) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v InputJSONDelta) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*InputJSONDelta) delta() {}

// DeltaType returns "input_json_delta".
func (*InputJSONDelta) DeltaType() string { return "input_json_delta" }

// ThinkingDelta is more of a thought.
type ThinkingDelta struct {
	Source
	// The thought.
	Thinking string `json:"thinking"`

	// How much was thought, where the thought is hidden.
	EstimatedTokens *int64 `json:"estimated_tokens,omitempty"`
}

func (v *ThinkingDelta) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "thinking":
		return setString[string](d, &v.Thinking, raw)
	case "estimated_tokens":
		return setPointer(d, &v.EstimatedTokens, raw, setInt)
	}
	return false
}

func (v *ThinkingDelta) appendMembers(e *encoder) {
	e.raw("type", []byte(`"thinking_delta"`))
	put(e, "thinking", v.Thinking, v.Thinking == "", always, encString[string])
	put(e, "estimated_tokens", v.EstimatedTokens, v.EstimatedTokens == nil, optional, encPointer(encInt))
}

func (*ThinkingDelta) fresh() object { return new(ThinkingDelta) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ThinkingDelta) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ThinkingDelta) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ThinkingDelta) delta() {}

// DeltaType returns "thinking_delta".
func (*ThinkingDelta) DeltaType() string { return "thinking_delta" }

// SignatureDelta is the signature of a thought.
type SignatureDelta struct {
	Source
	// The signature.
	Signature string `json:"signature"`
}

func (v *SignatureDelta) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "signature":
		return setString[string](d, &v.Signature, raw)
	}
	return false
}

func (v *SignatureDelta) appendMembers(e *encoder) {
	e.raw("type", []byte(`"signature_delta"`))
	put(e, "signature", v.Signature, v.Signature == "", always, encString[string])
}

func (*SignatureDelta) fresh() object { return new(SignatureDelta) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *SignatureDelta) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v SignatureDelta) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*SignatureDelta) delta() {}

// DeltaType returns "signature_delta".
func (*SignatureDelta) DeltaType() string { return "signature_delta" }

// CitationsDelta is a citation of a text.
type CitationsDelta struct {
	Source
	// The citation.
	Citation json.RawMessage `json:"citation"`
}

func (v *CitationsDelta) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "citation":
		return setRaw(d, &v.Citation, raw)
	}
	return false
}

func (v *CitationsDelta) appendMembers(e *encoder) {
	e.raw("type", []byte(`"citations_delta"`))
	put(e, "citation", v.Citation, v.Citation == nil, always, encRaw)
}

func (*CitationsDelta) fresh() object { return new(CitationsDelta) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *CitationsDelta) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v CitationsDelta) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*CitationsDelta) delta() {}

// DeltaType returns "citations_delta".
func (*CitationsDelta) DeltaType() string { return "citations_delta" }

// CompactionDelta is more of a compaction's summary.
type CompactionDelta struct {
	Source
	// The summary.
	Content string `json:"content"`

	// The same for the API only.
	EncryptedContent string `json:"encrypted_content,omitempty"`
}

func (v *CompactionDelta) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "content":
		return setString[string](d, &v.Content, raw)
	case "encrypted_content":
		return setString[string](d, &v.EncryptedContent, raw)
	}
	return false
}

func (v *CompactionDelta) appendMembers(e *encoder) {
	e.raw("type", []byte(`"compaction_delta"`))
	put(e, "content", v.Content, v.Content == "", nullable, encString[string])
	put(e, "encrypted_content", v.EncryptedContent, v.EncryptedContent == "", optional, encString[string])
}

func (*CompactionDelta) fresh() object { return new(CompactionDelta) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *CompactionDelta) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v CompactionDelta) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*CompactionDelta) delta() {}

// DeltaType returns "compaction_delta".
func (*CompactionDelta) DeltaType() string { return "compaction_delta" }
