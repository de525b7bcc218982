package claudetest

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// The reasons for which a message ends, for [Reply.StopReason].
const (
	StopEndTurn   = "end_turn"   // the model has said all it wanted to say
	StopToolUse   = "tool_use"   // the model waits for the results of its tool calls
	StopMaxTokens = "max_tokens" // the answer was longer than the request allows
	StopRefusal   = "refusal"    // the model does not want to answer
)

// A Reply is what the model says to one request. The zero Reply is a message without content.
type Reply struct {
	// Blocks are the content, in order.
	Blocks []Block

	// StopReason ends the message. If empty, [StopToolUse] when a block is a tool call, else [StopEndTurn].
	StopReason string

	// Usage are the token counts. If zero, the input is estimated from the length of the request and the output from that of the blocks.
	Usage Usage

	// Error makes the reply an error instead of a message; only Header counts beside it. See [Fail].
	Error *APIError

	// Header are headers of the answer in addition to the usual ones, or instead of them: "retry-after", "request-id",
	// "anthropic-ratelimit-requests-remaining" and the like. Content-Length and Transfer-Encoding stay the server's own.
	Header http.Header

	// Delay is a pause before each delta of the stream; an answer that is not streamed comes after all these pauses together. A text has some
	// dozens of deltas at most. The CLI's going away ends the wait.
	Delay time.Duration

	// Fault is something that goes wrong in the middle of the reply.
	Fault Fault
}

// WithHeader returns the reply with one more header; see [Reply.Header].
func (r Reply) WithHeader(name, value string) Reply {
	r.Header = r.Header.Clone()
	if r.Header == nil {
		r.Header = http.Header{}
	}
	r.Header.Set(name, value)
	return r
}

// Usage are the token counts of one message.
type Usage struct {
	InputTokens              int `json:"input_tokens"`
	OutputTokens             int `json:"output_tokens"`
	CacheCreationInputTokens int `json:"cache_creation_input_tokens"`
	CacheReadInputTokens     int `json:"cache_read_input_tokens"`
}

// A Block is a piece of content that the model says; [Text], [Huge], [Thinking], [RedactedThinking] and [Tool] make one.
type Block struct {
	kind  string // "text", "thinking", "redacted_thinking" or "tool_use"
	text  string // also the thought, and the data of a redacted one
	huge  int    // length of a text that is made while it is sent; 0 for all others
	id    string
	name  string
	input json.RawMessage
}

// Say returns a reply of these blocks, with everything else left to its default.
func Say(blocks ...Block) Reply { return Reply{Blocks: blocks} }

// Text returns a text block.
func Text(text string) Block { return Block{kind: "text", text: text} }

// MaxHuge is the length of the longest text that [Huge] makes.
const MaxHuge = 1 << 30

// Huge returns a text block of so many bytes of plain ASCII in lines. They are made while they are sent, so the model needs no memory for
// them. Huge panics if the length is negative or above [MaxHuge], which is a mistake in the script.
func Huge(length int) Block {
	if length < 0 || length > MaxHuge {
		panic(fmt.Sprintf("claudetest: a text of %d bytes: want 0 to %d", length, MaxHuge))
	}
	return Block{kind: "text", huge: length}
}

// Thinking returns a block of the model's thoughts, with a made-up signature.
func Thinking(text string) Block { return Block{kind: "thinking", text: text} }

// RedactedThinking returns a block of thoughts that only the API could read; the data is made up by the script.
func RedactedThinking(data string) Block { return Block{kind: "redacted_thinking", text: data} }

// signature stands below the thoughts of the simulated model. Clients hand it back and do not look into it.
const signature = "c2ltdWxhdGVkLW1vZGVs"

// Tool returns a call of the named tool. The input is anything that encodes to a JSON object; a [json.RawMessage] is taken as it is. The call
// gets an id of its own each time it is said. Tool panics if the input cannot be encoded, which is a mistake in the script.
func Tool(name string, input any) Block {
	encoded, err := json.Marshal(input)
	if err != nil {
		panic(fmt.Sprintf("claudetest: input of tool %s: %v", name, err))
	}
	return Block{kind: "tool_use", name: name, input: encoded}
}

// WithID returns the tool call with a fixed id instead of a random one, for scripts that refer to it. The id must be new in its conversation.
func (b Block) WithID(id string) Block {
	b.id = id
	return b
}

// Steps returns a script for one conversation: the n-th reply answers the request that has n-1 messages of the model before it, so a request
// that is repeated (the CLI retries) gets the same reply again. Past the last reply the model says that its script is over.
func Steps(replies ...Reply) func(Request) Reply {
	return func(r Request) Reply { return step(replies, countAssistant(r.Messages)) }
}

// A Rule is one line of a script: what to say to a prompt.
type Rule struct {
	// Prompt is a text that the user's prompt contains; the empty one fits every prompt.
	Prompt string
	// Replies answer the prompt, then the results of its tools, and so on.
	Replies []Reply
}

// Rules returns a script for any number of conversations: the first rule whose Prompt occurs in the user's last prompt answers, with its n-th
// reply to the n-th request of that turn. When no rule fits, or the rule's replies are used up, the model says so.
func Rules(rules ...Rule) func(Request) Reply {
	return func(r Request) Reply {
		prompt := r.Prompt()
		for _, rule := range rules {
			if strings.Contains(prompt, rule.Prompt) {
				return step(rule.Replies, r.Replies())
			}
		}
		return Say(Text("The script of the simulated model has no rule for this prompt."))
	}
}

func step(replies []Reply, n int) Reply {
	if n < len(replies) {
		return replies[n]
	}
	return scriptEnd()
}

func scriptEnd() Reply { return Say(Text("The script of the simulated model is over.")) }

// message is a reply with all defaults filled in.
type message struct {
	id         string
	model      string
	stopReason string
	usage      Usage
	blocks     []Block
	requestID  string
	header     http.Header // canonical, without what the server decides by itself
	delay      time.Duration
	fault      Fault
}

// complete fills in what the script left open.
func (r Reply) complete(request Request) message {
	m := message{
		id:         "msg_" + newID(),
		model:      request.Model,
		stopReason: r.StopReason,
		usage:      r.Usage,
		blocks:     make([]Block, len(r.Blocks)),
		header:     make(http.Header, len(r.Header)+1),
		delay:      r.Delay,
		fault:      r.Fault,
	}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		m.header[http.CanonicalHeaderKey(name)] = slices.Clone(r.Header[name])
	}
	m.header.Del("Content-Length")
	m.header.Del("Transfer-Encoding")
	if m.header.Get("Request-Id") == "" {
		m.header.Set("Request-Id", "req_"+newID())
	}
	m.requestID = m.header.Get("Request-Id")
	said := 0
	for i, block := range r.Blocks {
		if block.kind == "tool_use" {
			if block.id == "" {
				block.id = "toolu_" + newID()
			}
			if m.stopReason == "" {
				m.stopReason = StopToolUse
			}
		}
		said += len(block.text) + block.huge + len(block.input)
		m.blocks[i] = block
	}
	if m.stopReason == "" {
		m.stopReason = StopEndTurn
	}
	if m.usage == (Usage{}) {
		m.usage = Usage{InputTokens: estimate(len(request.Body)), OutputTokens: estimate(said)}
	}
	return m
}

// estimate is the usual rule of thumb of four bytes per token; no message has none.
func estimate(size int) int { return size/4 + 1 }

// newID returns 24 random characters, as long as the ids of the real API.
func newID() string { return rand.Text()[:24] }

// apiBlock is a content block on the wire.
type apiBlock struct {
	Type      string          `json:"type"`
	Text      *string         `json:"text,omitempty"`
	Thinking  *string         `json:"thinking,omitempty"`
	Signature *string         `json:"signature,omitempty"`
	Data      string          `json:"data,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
}

// apiMessage is a message on the wire.
type apiMessage struct {
	ID           string     `json:"id"`
	Type         string     `json:"type"`
	Role         string     `json:"role"`
	Model        string     `json:"model"`
	Content      []apiBlock `json:"content"`
	StopReason   *string    `json:"stop_reason"`
	StopSequence *string    `json:"stop_sequence"`
	Usage        Usage      `json:"usage"`
}

// opened returns the message as its stream begins: without content, end and final usage.
func (m message) opened() apiMessage {
	usage := m.usage
	usage.OutputTokens = 1
	return apiMessage{ID: m.id, Type: "message", Role: "assistant", Model: m.model, Content: []apiBlock{}, Usage: usage}
}

// whole returns the finished block; a huge one is never whole.
func (b Block) whole() apiBlock {
	switch b.kind {
	case "tool_use":
		return apiBlock{Type: b.kind, ID: b.id, Name: b.name, Input: b.input}
	case "thinking":
		return apiBlock{Type: b.kind, Thinking: &b.text, Signature: new(signature)}
	case "redacted_thinking":
		return apiBlock{Type: b.kind, Data: b.text}
	default:
		return apiBlock{Type: b.kind, Text: &b.text}
	}
}

// opened returns the block as content_block_start announces it.
func (b Block) opened() apiBlock {
	switch b.kind {
	case "tool_use":
		return apiBlock{Type: b.kind, ID: b.id, Name: b.name, Input: json.RawMessage("{}")}
	case "thinking":
		return apiBlock{Type: b.kind, Thinking: new(""), Signature: new("")}
	case "redacted_thinking":
		return b.whole() // it comes at once
	default:
		return apiBlock{Type: b.kind, Text: new("")}
	}
}

// deltas cuts the block's content into the pieces that content_block_delta carries: words of a text, a few parts of a tool's input.
func (b Block) deltas() iter.Seq[map[string]string] {
	return func(yield func(map[string]string) bool) {
		switch b.kind {
		case "tool_use":
			for part := range bytes.SplitAfterSeq(b.input, []byte(",")) {
				if !yield(map[string]string{"type": "input_json_delta", "partial_json": string(part)}) {
					return
				}
			}
		case "thinking":
			for _, part := range cut(b.text) {
				if !yield(map[string]string{"type": "thinking_delta", "thinking": part}) {
					return
				}
			}
			yield(map[string]string{"type": "signature_delta", "signature": signature})
		case "redacted_thinking":
		default:
			pieces := slices.Values(cut(b.text))
			if b.huge > 0 {
				pieces = filler(b.huge)
			}
			for part := range pieces {
				if !yield(map[string]string{"type": "text_delta", "text": part}) {
					return
				}
			}
		}
	}
}

// filler gives a text of so many bytes in pieces of some kilobytes, which all share their memory.
func filler(length int) iter.Seq[string] {
	return func(yield func(string) bool) {
		piece := strings.Repeat("The simulated model goes on and on, one line after another ...\n", 64)
		for ; length > 0; length -= len(piece) {
			if !yield(piece[:min(length, len(piece))]) {
				return
			}
		}
	}
}

// cut splits a text after spaces into at most some dozens of pieces, so that a long text does not become a flood of events.
func cut(text string) []string {
	const pieces = 32
	atLeast := len(text)/pieces + 1
	var out []string
	for text != "" {
		end := len(text)
		if atLeast < len(text) {
			if space := strings.IndexByte(text[atLeast:], ' '); space >= 0 {
				end = atLeast + space + 1
			}
		}
		out = append(out, text[:end])
		text = text[end:]
	}
	return out
}
