package claudetest

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
)

// A Reply is what the model says to one request.
type Reply struct {
	// Blocks are the content, in order.
	Blocks []Block

	// StopReason ends the message. If empty, "tool_use" when a block is a tool call, else "end_turn".
	StopReason string

	// Usage are the token counts. If zero, the input is estimated from the length of the request and the output from that of the blocks.
	Usage Usage
}

// Usage are the token counts of one message.
type Usage struct {
	InputTokens              int `json:"input_tokens"`
	OutputTokens             int `json:"output_tokens"`
	CacheCreationInputTokens int `json:"cache_creation_input_tokens"`
	CacheReadInputTokens     int `json:"cache_read_input_tokens"`
}

// A Block is a piece of content that the model says; [Text] and [Tool] make one.
type Block struct {
	kind  string // "text" or "tool_use"
	text  string
	id    string
	name  string
	input json.RawMessage
}

// Say returns a reply of these blocks, with everything else left to its default.
func Say(blocks ...Block) Reply { return Reply{Blocks: blocks} }

// Text returns a text block.
func Text(text string) Block { return Block{kind: "text", text: text} }

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
	return Say(Text("The script of the simulated model is over."))
}

// message is a reply with all defaults filled in.
type message struct {
	id         string
	model      string
	stopReason string
	usage      Usage
	blocks     []Block
}

// complete fills in what the script left open.
func (r Reply) complete(request Request) message {
	m := message{
		id:         "msg_" + newID(),
		model:      request.Model,
		stopReason: r.StopReason,
		usage:      r.Usage,
		blocks:     make([]Block, len(r.Blocks)),
	}
	said := 0
	for i, block := range r.Blocks {
		if block.kind == "tool_use" {
			if block.id == "" {
				block.id = "toolu_" + newID()
			}
			if m.stopReason == "" {
				m.stopReason = "tool_use"
			}
		}
		said += len(block.text) + len(block.input)
		m.blocks[i] = block
	}
	if m.stopReason == "" {
		m.stopReason = "end_turn"
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
	Type  string          `json:"type"`
	Text  *string         `json:"text,omitempty"`
	ID    string          `json:"id,omitempty"`
	Name  string          `json:"name,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
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

// whole returns the finished message.
func (m message) whole() apiMessage {
	out := m.opened()
	out.StopReason, out.Usage = &m.stopReason, m.usage
	for _, block := range m.blocks {
		out.Content = append(out.Content, block.whole())
	}
	return out
}

func (b Block) whole() apiBlock {
	if b.kind == "tool_use" {
		return apiBlock{Type: b.kind, ID: b.id, Name: b.name, Input: b.input}
	}
	return apiBlock{Type: b.kind, Text: &b.text}
}

// opened returns the block as content_block_start announces it.
func (b Block) opened() apiBlock {
	if b.kind == "tool_use" {
		return apiBlock{Type: b.kind, ID: b.id, Name: b.name, Input: json.RawMessage("{}")}
	}
	return apiBlock{Type: b.kind, Text: new(string)}
}

// deltas cuts the block's content into the pieces that content_block_delta carries: words of a text, a few parts of a tool's input.
func (b Block) deltas() []any {
	if b.kind == "tool_use" {
		var out []any
		for part := range bytes.SplitAfterSeq(b.input, []byte(",")) {
			out = append(out, map[string]string{"type": "input_json_delta", "partial_json": string(part)})
		}
		return out
	}
	var out []any
	for _, part := range cut(b.text) {
		out = append(out, map[string]string{"type": "text_delta", "text": part})
	}
	return out
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
