package claudetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Kind says what a request is for.
type Kind string

const (
	// KindTurn is a step of the conversation or of a sub-agent: the script answers it.
	KindTurn Kind = "turn"
	// KindSide is something the CLI wants to know for itself: a title, a topic, the prefix of a shell command, whether the key works.
	// See [ModelOptions.Classify] for what cannot be told apart.
	KindSide Kind = "side"
	// KindCount asks how many tokens a prompt has.
	KindCount Kind = "count"
	// KindOther is any other path or method.
	KindOther Kind = "other"
)

// A Request is what a CLI asked the model.
type Request struct {
	Seq    int         // number in order of arrival, from 1
	Time   time.Time   // when it arrived
	Kind   Kind        // what it is for
	Method string      // HTTP method
	Path   string      // path, with the query if there is one
	Header http.Header // headers as received
	Body   []byte      // body as received

	// The rest is read from the body of a messages request and empty for others.

	Model     string        // model asked for
	MaxTokens int           // limit of the answer
	Stream    bool          // whether the answer is to be streamed
	System    string        // system prompt, its parts joined by newlines
	Tools     []string      // names of the tools offered
	Messages  []TurnMessage // the conversation so far

	// Metadata is the request's "metadata" as received; in its "user_id" the CLI names its session, which tells conversations apart.
	Metadata json.RawMessage

	// Attempt counts how often this very step of the conversation has been asked for: 1 the first time, 2 when the CLI tries again after an
	// error. A script that fails only at first looks at it. 0 if the request did not come through a [Model].
	Attempt int
}

// A TurnMessage is one message of the conversation that a request carries.
type TurnMessage struct {
	Role    string        // "user" or "assistant"; newer CLIs add instructions of their own as "system"
	Content []ContentPart // a plain string is one part of type "text"
}

// A ContentPart is a content block of a message, with the members that scripts look at.
type ContentPart struct {
	Type      string          // "text", "tool_use", "tool_result", ...
	Text      string          // text of a text block, or of a tool result
	ID        string          // id of a tool_use
	Name      string          // tool of a tool_use
	Input     json.RawMessage // input of a tool_use
	ToolUseID string          // tool_use that a tool_result answers
	IsError   bool            // whether a tool_result reports a failure
	Raw       json.RawMessage // the block as received
}

// Prompt returns what the user said last: the last text of the newest user message that carries no tool result, without the reminders that
// the CLI puts before the user's words.
func (r Request) Prompt() string {
	prompt, _ := r.prompt()
	return prompt
}

// Replies counts the messages of the model since the prompt: 0 when the model is asked for the first time in this turn.
func (r Request) Replies() int {
	_, at := r.prompt()
	return countAssistant(r.Messages[at:])
}

// ToolResults returns the results that came with the newest message, in order.
func (r Request) ToolResults() []ContentPart {
	if len(r.Messages) == 0 {
		return nil
	}
	var results []ContentPart
	for _, part := range r.Messages[len(r.Messages)-1].Content {
		if part.Type == "tool_result" {
			results = append(results, part)
		}
	}
	return results
}

// prompt returns the user's last text and the index of the message it stands in (0 when there is none).
func (r Request) prompt() (string, int) {
	for i, message := range slices.Backward(r.Messages) {
		if message.Role != "user" {
			continue
		}
		text, results := "", false
		for _, part := range message.Content {
			switch own := withoutReminders(part.Text); {
			case part.Type == "tool_result":
				text, results = "", true
			case part.Type != "text" || own == "":
			case results && strings.HasPrefix(own, interruptedText):
				results = false // what follows is the prompt after an interrupt
			case !results:
				text = own
			}
		}
		if text != "" {
			return text, i
		}
	}
	return "", 0
}

// interruptedText begins the text that the CLI puts behind the results of an interrupted turn. The next prompt may be in the same message.
const interruptedText = "[Request interrupted by user"

// withoutReminders returns what is left of a text block when the reminders that the CLI put before the user's words are taken away.
func withoutReminders(text string) string {
	const open, end = "<system-reminder>", "</system-reminder>"
	for strings.HasPrefix(strings.TrimSpace(text), open) {
		_, rest, found := strings.Cut(text, end)
		if !found {
			return ""
		}
		text = rest
	}
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return text
}

func countAssistant(messages []TurnMessage) int {
	n := 0
	for _, message := range messages {
		if message.Role == "assistant" {
			n++
		}
	}
	return n
}

// parseRequest reads what is known about a request. The Request is usable also when err is not nil.
func parseRequest(r *http.Request, body []byte) (Request, error) {
	request := Request{
		Time:   time.Now(),
		Kind:   KindOther,
		Method: r.Method,
		Path:   r.URL.RequestURI(),
		Header: r.Header.Clone(),
		Body:   body,
	}
	if r.Method != http.MethodPost {
		return request, nil
	}
	switch r.URL.Path {
	case "/v1/messages/count_tokens":
		request.Kind = KindCount
	case "/v1/messages":
		request.Kind = KindTurn
	default:
		return request, nil
	}
	var parsed struct {
		Model     string          `json:"model"`
		MaxTokens int             `json:"max_tokens"`
		Stream    bool            `json:"stream"`
		Metadata  json.RawMessage `json:"metadata"`
		System    json.RawMessage `json:"system"`
		Tools     []struct {
			Name string `json:"name"`
		} `json:"tools"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &parsed); err != nil {
		return request, fmt.Errorf("reading the request: %w", err)
	}
	request.Model, request.MaxTokens, request.Stream, request.Metadata = parsed.Model, parsed.MaxTokens, parsed.Stream, parsed.Metadata
	system, err := parseContent(parsed.System)
	if err != nil {
		return request, fmt.Errorf("reading the system prompt: %w", err)
	}
	var texts []string
	for _, part := range system {
		texts = append(texts, part.Text)
	}
	request.System = strings.Join(texts, "\n")
	for _, tool := range parsed.Tools {
		request.Tools = append(request.Tools, tool.Name)
	}
	for i, message := range parsed.Messages {
		content, err := parseContent(message.Content)
		if err != nil {
			return request, fmt.Errorf("reading message %d: %w", i, err)
		}
		request.Messages = append(request.Messages, TurnMessage{Role: message.Role, Content: content})
	}
	return request, nil
}

// parseContent reads content that is a string or a list of blocks; absent content is no content.
func parseContent(raw json.RawMessage) ([]ContentPart, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	if raw[0] == '"' {
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, err
		}
		return []ContentPart{{Type: "text", Text: text, Raw: raw}}, nil
	}
	var blocks []json.RawMessage
	if err := json.Unmarshal(raw, &blocks); err != nil {
		return nil, fmt.Errorf("want a string or a list of blocks: %w", err)
	}
	parts := make([]ContentPart, 0, len(blocks))
	for i, block := range blocks {
		var parsed struct {
			Type      string          `json:"type"`
			Text      string          `json:"text"`
			ID        string          `json:"id"`
			Name      string          `json:"name"`
			Input     json.RawMessage `json:"input"`
			ToolUseID string          `json:"tool_use_id"`
			IsError   bool            `json:"is_error"`
			Content   json.RawMessage `json:"content"`
		}
		if err := json.Unmarshal(block, &parsed); err != nil {
			return nil, fmt.Errorf("block %d: %w", i, err)
		}
		part := ContentPart{
			Type: parsed.Type, Text: parsed.Text, ID: parsed.ID, Name: parsed.Name, Input: parsed.Input,
			ToolUseID: parsed.ToolUseID, IsError: parsed.IsError, Raw: block,
		}
		if parsed.Type == "tool_result" {
			inner, err := parseContent(parsed.Content)
			if err != nil {
				return nil, fmt.Errorf("content of block %d: %w", i, err)
			}
			var texts []string
			for _, p := range inner {
				texts = append(texts, p.Text)
			}
			part.Text = strings.Join(texts, "\n")
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// summary is how every CLI begins the task of a compaction, somewhere in its last message.
const summary = "create a detailed summary of the conversation so far"

// kind tells a request that the CLI makes for itself from a step of the conversation. There is no mark for it on the wire; what tells them
// apart on all CLIs that were looked at (2.1.37, 2.1.120, 2.1.325):
//
//   - the check of key and quota allows one token;
//   - titles, topics, shell prefixes and touched paths are asked of the small model without tools;
//   - a compaction asks for a summary in words that no other request uses.
func (r Request) kind() Kind {
	switch {
	case r.MaxTokens == 1,
		len(r.Tools) == 0 && strings.Contains(r.Model, "haiku"),
		strings.Contains(r.Prompt(), summary):
		return KindSide
	}
	return KindTurn
}

// harmless answers a side request. "none" is what the CLI itself asks for where a shell command has no prefix; for titles and paths it is
// unusable, which the CLI takes for no title and no paths.
func harmless(Request) Reply { return Say(Text("none")) }
