package claudetest

import (
	"encoding/json"
	"slices"
	"sync"
)

// A thread is a conversation with the model: the main one, or a sub-agent's.
type thread struct {
	parent  string              // id of the tool call that started it; empty for the main one
	agent   *task               // nil for the main one
	outcome map[int]ToolOutcome // of an agent: by number of the tool call, what its prompt's directives say

	mu       sync.Mutex // control requests read along
	messages []json.RawMessage
	used     int // tool calls of an agent's so far
}

// add adds a message. One that follows another of the user's becomes part of it, as the API wants the roles in turn.
func (th *thread) add(role string, content any) {
	th.mu.Lock()
	defer th.mu.Unlock()
	if n := len(th.messages); role == "user" && n > 0 {
		var last struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		}
		if json.Unmarshal(th.messages[n-1], &last) == nil && last.Role == role {
			blocks := append(contentBlocks(last.Content), contentBlocks(plainJSON(content))...)
			th.messages[n-1] = plainJSON(members{"role", role, "content", blocks})
			return
		}
	}
	th.messages = append(th.messages, plainJSON(members{"role", role, "content", content}))
}

// contentBlocks are the blocks of a content, which may be a text.
func contentBlocks(content json.RawMessage) []json.RawMessage {
	var blocks []json.RawMessage
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []json.RawMessage{plainJSON(members{"type", "text", "text", text})}
	}
	_ = json.Unmarshal(content, &blocks) // no list is no content
	return blocks
}

// attach adds a block beside the results of tools.
func (th *thread) attach(block members) { th.add("user", []members{block}) }

// snapshot returns the messages so far.
func (th *thread) snapshot() []json.RawMessage {
	th.mu.Lock()
	defer th.mu.Unlock()
	return slices.Clone(th.messages)
}

// length returns how many messages there are.
func (th *thread) length() int {
	th.mu.Lock()
	defer th.mu.Unlock()
	return len(th.messages)
}

// cut keeps the first n messages.
func (th *thread) cut(n int) {
	th.mu.Lock()
	defer th.mu.Unlock()
	th.messages = slices.Clip(th.messages[:n])
}

// replace puts other messages in the place of all.
func (th *thread) replace(messages ...json.RawMessage) {
	th.mu.Lock()
	defer th.mu.Unlock()
	th.messages = messages
}

// nextCall numbers the tool calls of an agent.
func (th *thread) nextCall() int {
	th.mu.Lock()
	defer th.mu.Unlock()
	th.used++
	return th.used - 1
}
