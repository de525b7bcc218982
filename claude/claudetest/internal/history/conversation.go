package history

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

const (
	interruptedCall = "[Tool call interrupted: the session ended before its result was recorded, so it is not known whether it took effect.]"
	noResponse      = "No response requested."
)

// A Conversation is a session as it was left.
type Conversation struct {
	ID       string
	Path     string // the transcript
	Dir      string // the working folder of its last line, which may be another than the store's
	Messages []Message
	Title    string // the title it was given; empty if none
	Slug     string // name of its plan file without the ending; empty if it has none

	// Leaf is the uuid of the line that the next one follows.
	Leaf string

	// Costs is what the session has cost up to the last end in good order, if its version carries that over; else zero.
	Costs Costs

	// Damaged counts the lines that could not be read.
	Damaged int

	at325     bool
	lines     []record // what was said, in order
	snapshots [][]byte // lines that record the state of files
	prompts   []string // the prompts that have such a record
	last      time.Time
	turns     int
	repairs   []Entry // lines that the end of an interrupted turn lacks
}

// A Message is a message of a conversation as the API wants it: what one answer said is one message, and so is what the user said in a row.
type Message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"` // a string or an array of blocks
	UUIDs   []string        `json:"-"`       // the lines that it is made of
}

// alive reports whether anything was said.
func (c *Conversation) alive() bool { return len(c.lines) > 0 }

// Cut ends the conversation behind the line with the given uuid, for --resume-session-at. If it has no such line, the error is a
// [*NoMessageError] and the conversation stays as it is.
func (c *Conversation) Cut(uuid string) error {
	i := slices.IndexFunc(c.lines, func(r record) bool { return r.UUID == uuid })
	if i < 0 {
		return &NoMessageError{UUID: uuid}
	}
	c.lines = slices.Clip(c.lines[:i+1])
	c.build()
	return nil
}

// Has reports whether the conversation has a line with the given uuid, which makes a prompt that brings it a duplicate.
func (c *Conversation) Has(uuid string) bool {
	return slices.ContainsFunc(c.lines, func(r record) bool { return r.UUID == uuid })
}

// Prompts counts what the user has asked so far, results of tools and notes not included.
func (c *Conversation) Prompts() int { return c.turns }

// build makes the messages out of the lines. The API refuses calls without results and results without calls, so an interrupted turn is
// mended: newer versions add what is missing, older ones leave the call out.
func (c *Conversation) build() {
	calls, results := make(map[string]bool), make(map[string]bool)
	lastPrompt := -1
	c.turns = 0
	for i, r := range c.lines {
		if r.Type == string(User) && r.PermissionMode != "" {
			lastPrompt = i
			c.turns++
		}
		for _, b := range r.content {
			switch b.Type {
			case "tool_use":
				calls[b.ID] = true
			case "tool_result":
				results[b.ToolUseID] = true
			}
		}
	}
	c.Leaf, c.repairs = "", nil
	var m messages
	for i, r := range c.lines {
		blocks := make([]block, 0, len(r.content))
		for _, b := range r.content {
			switch {
			case b.Type == "tool_result" && !calls[b.ToolUseID]:
				continue
			case b.Type == "tool_use" && !results[b.ID]:
				if !c.at325 || i < lastPrompt { // too late to add a result: it must follow at once
					continue
				}
				c.repairs = append(c.repairs, interrupted(b.ID, r.UUID))
			}
			blocks = append(blocks, b)
		}
		if len(blocks) == 0 && len(r.content) > 0 {
			continue
		}
		c.Leaf = r.UUID
		m.add(r.role(), blocks, r.text, r.UUID)
	}
	for _, e := range c.repairs {
		m.add(string(e.Type), messageBlocks(e.Message), false, e.UUID)
	}
	if m.role() == string(User) {
		e := unanswered()
		c.repairs = append(c.repairs, e)
		m.add(string(e.Type), messageBlocks(e.Message), false, e.UUID)
	}
	c.Messages = m.join()
}

// interrupted returns the result of a call that has none.
func interrupted(call, source string) Entry {
	text := quote(interruptedCall)
	return Entry{
		Type: User, UUID: wire.NewUUID(), SourceUUID: source, ToolUseResult: json.RawMessage(text), DenialKind: "interrupted",
		Message: json.RawMessage(`{"role":"user","content":[{"type":"tool_result","content":` + text + `,"is_error":true,"tool_use_id":` + quote(call) + `}]}`),
	}
}

// unanswered returns the answer to a prompt that has none.
func unanswered() Entry {
	return Entry{
		Type: Assistant, UUID: wire.NewUUID(), Synthetic: true,
		Message: json.RawMessage(`{"id":` + quote(wire.NewUUID()) + `,"container":null,"model":"<synthetic>","role":"assistant","stop_reason":"stop_sequence",` +
			`"stop_sequence":"","type":"message","usage":{"input_tokens":0,"output_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0},` +
			`"content":[{"type":"text","text":` + quote(noResponse) + `}],"context_management":null}`),
	}
}

// messages are messages under construction.
type messages []draft

type draft struct {
	role   string
	blocks []block
	text   bool // the content is a string
	uuids  []string
}

// add adds content. Whatever follows a message of the same role becomes part of it.
func (m *messages) add(role string, blocks []block, text bool, uuid string) {
	if len(blocks) == 0 {
		return
	}
	if m.role() != role {
		*m = append(*m, draft{role: role, text: text})
	} else {
		(*m)[len(*m)-1].text = false
	}
	last := &(*m)[len(*m)-1]
	last.blocks = append(last.blocks, blocks...)
	last.uuids = append(last.uuids, uuid)
}

// role returns the role of the last message, or "".
func (m *messages) role() string {
	if len(*m) == 0 {
		return ""
	}
	return (*m)[len(*m)-1].role
}

// join returns the messages as they are sent.
func (m *messages) join() []Message {
	var list []Message
	for _, part := range *m {
		content := joinBlocks(part.blocks)
		if part.text {
			content = json.RawMessage(quote(part.blocks[0].Text))
		}
		list = append(list, Message{Role: part.role, Content: content, UUIDs: part.uuids})
	}
	return list
}

// messageBlocks returns the blocks of a message.
func messageBlocks(message json.RawMessage) []block {
	var m struct {
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(message, &m) != nil {
		return nil
	}
	return blocksOf(m.Content)
}

// A block is a part of a message's content, with what the history looks at.
type block struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	ToolUseID string `json:"tool_use_id"`
	Text      string `json:"text"`
	raw       json.RawMessage
}

// blocksOf returns the blocks of a content, which may be a string. What is no block is left out.
func blocksOf(content json.RawMessage) []block {
	if isString(content) {
		var text string
		if json.Unmarshal(content, &text) != nil || text == "" {
			return nil
		}
		return []block{{Type: "text", Text: text, raw: json.RawMessage(`{"type":"text","text":` + quote(text) + `}`)}}
	}
	var raw []json.RawMessage
	if json.Unmarshal(content, &raw) != nil {
		return nil
	}
	blocks := make([]block, 0, len(raw))
	for _, r := range raw {
		b := block{raw: r}
		if json.Unmarshal(r, &b) == nil && b.Type != "" {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

// isString reports whether a JSON value is a string, without reading it.
func isString(value json.RawMessage) bool {
	value = bytes.TrimLeft(value, " \t\r\n")
	return len(value) > 0 && value[0] == '"'
}

// joinBlocks is the opposite of blocksOf.
func joinBlocks(blocks []block) json.RawMessage {
	out := []byte{'['}
	for i, b := range blocks {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, b.raw...)
	}
	return append(out, ']')
}

// quote returns a JSON string.
func quote(s string) string {
	var o object
	o.err = encodeTo(&o.buf, s) // strings always encode
	return o.buf.String()
}

// Costs are the totals of a session.
type Costs struct {
	TotalUSD           float64
	APIDuration        time.Duration // with what was spent on attempts that failed
	APIDurationSuccess time.Duration // without
	ToolDuration       time.Duration
	Duration           time.Duration // from start to end of all processes together
	Start              time.Time     // of the first one
	LinesAdded         int
	LinesRemoved       int
	Models             map[string]ModelCosts
}

// ModelCosts are the totals of one model.
type ModelCosts struct {
	InputTokens              int     `json:"inputTokens"`
	OutputTokens             int     `json:"outputTokens"`
	ThinkingTokens           int     `json:"thinkingTokens"`
	CacheReadInputTokens     int     `json:"cacheReadInputTokens"`
	CacheCreationInputTokens int     `json:"cacheCreationInputTokens"`
	CacheCreation5m          int     `json:"cacheCreationEphemeral5mInputTokens"`
	CacheCreation1h          int     `json:"cacheCreationEphemeral1hInputTokens"`
	WebSearchRequests        int     `json:"webSearchRequests"`
	CostUSD                  float64 `json:"costUSD"`
}

// costState is the line that keeps the costs.
type costState struct {
	Type                string                `json:"type"`
	SessionID           string                `json:"sessionId"`
	TotalCostUSD        float64               `json:"totalCostUSD"`
	APIDuration         float64               `json:"totalAPIDuration"` // milliseconds, as all of them
	APIDurationSuccess  float64               `json:"totalAPIDurationWithoutRetries"`
	ToolDuration        float64               `json:"totalToolDuration"`
	LinesAdded          int                   `json:"totalLinesAdded"`
	LinesRemoved        int                   `json:"totalLinesRemoved"`
	Duration            float64               `json:"totalDuration"`
	StartTime           int64                 `json:"startTime"`
	ModelUsage          map[string]ModelCosts `json:"modelUsage"`
	HasUnknownModelCost bool                  `json:"hasUnknownModelCost"`
}

// line returns the line that keeps the costs of a session.
func (c Costs) line(session string) ([]byte, error) {
	state := costState{
		Type: "cost-state", SessionID: session, TotalCostUSD: c.TotalUSD,
		APIDuration: float64(c.APIDuration.Milliseconds()), APIDurationSuccess: float64(c.APIDurationSuccess.Milliseconds()),
		ToolDuration: float64(c.ToolDuration.Milliseconds()), Duration: float64(c.Duration.Milliseconds()),
		LinesAdded: c.LinesAdded, LinesRemoved: c.LinesRemoved, ModelUsage: c.Models,
	}
	if !c.Start.IsZero() {
		state.StartTime = c.Start.UnixMilli()
	}
	if state.ModelUsage == nil {
		state.ModelUsage = map[string]ModelCosts{}
	}
	return json.Marshal(state)
}

// costs is the opposite of line.
func (s costState) costs() Costs {
	ms := func(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }
	c := Costs{
		TotalUSD: s.TotalCostUSD, APIDuration: ms(s.APIDuration), APIDurationSuccess: ms(s.APIDurationSuccess), ToolDuration: ms(s.ToolDuration),
		Duration: ms(s.Duration), LinesAdded: s.LinesAdded, LinesRemoved: s.LinesRemoved, Models: s.ModelUsage,
	}
	if s.StartTime != 0 {
		c.Start = time.UnixMilli(s.StartTime)
	}
	return c
}
