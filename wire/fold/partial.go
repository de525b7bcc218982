package fold

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/switchboard-dev/switchboard/wire"
)

// DefaultMaxPartial is how many bytes of text a [Partial] keeps if it is not
// told otherwise.
const DefaultMaxPartial = 1 << 20

// A Message is an answer that is still being written, as far as it has come.
type Message struct {
	// ParentToolUseID is the tool call of the sub-agent that writes; empty for
	// the main conversation.
	ParentToolUseID string `json:"parent_tool_use_id,omitempty"`
	// ID is the message's.
	ID string `json:"id,omitempty"`
	// Model is the one that writes.
	Model string `json:"model,omitempty"`
	// Blocks holds the blocks that are not finished. A finished one has come as
	// an assistant line.
	Blocks []Block `json:"blocks,omitempty"`
	// Left counts blocks that were left out because there were too many.
	Left int64 `json:"left,omitempty"`
	// Stopped says that the message is complete at the API, and its last lines
	// are on the way, or that its stream broke off.
	Stopped bool `json:"stopped,omitempty"`
}

// A Block is an unfinished content block.
type Block struct {
	// Index is the block's number within its message.
	Index int64 `json:"index"`
	// Type is the block's type: text, thinking, tool_use and others.
	Type string `json:"type"`
	// Text is what there is so far: the text, the thought, or the beginning of
	// the tool's input as JSON.
	Text string `json:"text"`
	// Cut is how many bytes at the beginning of the text were left out because it
	// is too long. What comes next still continues it.
	Cut int64 `json:"cut,omitempty"`
	// Tool and ToolUseID name the call of a tool.
	Tool      string `json:"tool,omitempty"`
	ToolUseID string `json:"tool_use_id,omitempty"`
}

// A Partial is what is being written at this moment, put together from stream
// events: at most one message for the main conversation and one per sub-agent.
//
// It is thrown away as the truth arrives: block by block with the assistant
// lines, which share the message's id and come before the blocks' own end;
// altogether when another message begins in its place, when an assistant line
// shows that the answer was got in another way, and at the end of the turn.
type Partial struct {
	// Max is how many bytes of text are kept, over all messages. If zero,
	// DefaultMaxPartial.
	Max int

	open []*openMessage
	size int // of all texts
}

// openMessage is a Message while it grows.
type openMessage struct {
	Message
	blocks []*openBlock
}

// openBlock is a Block while it grows.
type openBlock struct {
	Block
	text strings.Builder // Messages returns its text without copying it
}

// How much Partial keeps besides texts.
const (
	maxMessages = 64
	maxBlocks   = 256
)

// Messages returns what is being written, the oldest first. What it returns does
// not change any more. Texts are not copied for it: it costs the same however
// long they are.
func (p *Partial) Messages() []Message {
	list := make([]Message, 0, len(p.open))
	for _, m := range p.open {
		list = append(list, m.snapshot())
	}
	return list
}

func (m *openMessage) snapshot() Message {
	s := m.Message
	s.Blocks = make([]Block, 0, len(m.blocks))
	for _, b := range m.blocks {
		c := b.Block
		c.Text = b.text.String()
		s.Blocks = append(s.Blocks, c)
	}
	return s
}

// Apply folds a line.
func (p *Partial) Apply(l *Line) {
	if l.Sent || len(p.open) == 0 && string(l.Header.Type) != "stream_event" {
		return // nothing else begins a message
	}
	switch string(l.Header.Type) {
	case "stream_event":
		if p.piece(l) {
			return
		}
		if m, ok := l.decoded().(*wire.StreamEvent); ok {
			p.stream(name(m.ParentToolUseID), m.Event)
		}
	case "assistant":
		if m, ok := l.decoded().(*wire.Assistant); ok {
			p.finished(name(m.ParentToolUseID), &m.Message)
		}
	case "user":
		if m, ok := l.decoded().(*wire.User); ok {
			p.user(m)
		}
	case "result":
		if l.decoded() != nil {
			p.drop("")
		}
	}
}

// piece folds a piece of a block, which most lines are, without decoding it. It
// reports false if that cannot be done.
func (p *Partial) piece(l *Line) bool {
	d, ok := l.Header.Delta()
	if !ok || !utf8.Valid(l.Header.ParentToolUseID) {
		return false
	}
	if i := p.find(name(string(l.Header.ParentToolUseID))); i >= 0 {
		p.grow(p.open[i], d.Index, d.Text)
	}
	return true
}

// Happened folds an event.
func (p *Partial) Happened(e Event) {
	if e.Kind == EventStarted || e.Kind == EventEnded {
		p.open, p.size = nil, 0
	}
}

// interruptMark is how the CLI begins the line that ends an interrupted answer.
const interruptMark = "[Request interrupted by user"

// user folds a line in the user's name: the mark of an interrupt, or results of
// tools, which end the sub-agents behind them.
func (p *Partial) user(m *wire.User) {
	if strings.HasPrefix(m.Message.Content.String(), interruptMark) {
		p.drop(name(m.ParentToolUseID))
	}
	for _, b := range m.Message.Content.Blocks {
		if r, ok := b.(*wire.ToolResultBlock); ok && r.ToolUseID != "" {
			p.drop(name(r.ToolUseID))
		}
	}
}

// find returns the place of a message, or -1.
func (p *Partial) find(parent string) int {
	return slices.IndexFunc(p.open, func(m *openMessage) bool { return m.ParentToolUseID == parent })
}

// drop throws a message away.
func (p *Partial) drop(parent string) {
	if i := p.find(parent); i >= 0 {
		p.remove(p.open[i], len(p.open[i].blocks))
		p.open = slices.Delete(p.open, i, i+1)
	}
}

// remove throws the first n blocks of a message away.
func (p *Partial) remove(m *openMessage, n int) {
	for _, b := range m.blocks[:n] {
		p.size -= b.text.Len()
	}
	m.blocks = slices.Delete(m.blocks, 0, n)
}

// stream folds a stream event.
func (p *Partial) stream(parent string, event wire.Event) {
	if e, ok := event.(*wire.MessageStartEvent); ok {
		p.drop(parent)
		if len(p.open) >= maxMessages {
			p.drop(p.open[0].ParentToolUseID)
		}
		p.open = append(p.open, &openMessage{Message: Message{
			ParentToolUseID: parent, ID: name(e.Message.ID), Model: name(e.Message.Model),
		}})
		return
	}
	i := p.find(parent)
	if i < 0 {
		return // its beginning was not seen
	}
	m := p.open[i]
	switch e := event.(type) {
	case *wire.ContentBlockStartEvent:
		p.start(m, e)
	case *wire.ContentBlockDeltaEvent:
		p.grow(m, e.Index, []byte(wire.DeltaText(e.Delta)))
	case *wire.MessageStopEvent:
		m.Stopped = true
		if len(m.blocks) == 0 {
			p.drop(parent)
		}
	default:
	}
}

// start opens a block.
func (p *Partial) start(m *openMessage, e *wire.ContentBlockStartEvent) {
	if e.ContentBlock == nil {
		return
	}
	if i := slices.IndexFunc(m.blocks, func(b *openBlock) bool { return b.Index == e.Index }); i >= 0 {
		p.size -= m.blocks[i].text.Len()
		m.blocks = slices.Delete(m.blocks, i, i+1)
	}
	if len(m.blocks) >= maxBlocks {
		p.remove(m, 1)
		m.Left++
	}
	b := &openBlock{Block: Block{Index: e.Index, Type: name(e.ContentBlock.BlockType())}}
	var text string
	switch c := e.ContentBlock.(type) {
	case *wire.TextBlock:
		text = c.Text
	case *wire.ThinkingBlock:
		text = c.Thinking
	case *wire.ToolUseBlock:
		b.Tool, b.ToolUseID = name(c.Name), name(c.ID)
	case *wire.ServerToolUseBlock:
		b.Tool, b.ToolUseID = name(c.Name), name(c.ID)
	case *wire.MCPToolUseBlock:
		b.Tool, b.ToolUseID = name(c.Name), name(c.ID)
	default:
	}
	m.blocks = append(m.blocks, b)
	p.grow(m, e.Index, []byte(text))
}

// grow adds text to a block and keeps the whole within its limit.
func (p *Partial) grow(m *openMessage, index int64, text []byte) {
	i := slices.IndexFunc(m.blocks, func(b *openBlock) bool { return b.Index == index })
	if i < 0 || len(text) == 0 {
		return
	}
	limit := p.Max
	if limit <= 0 {
		limit = DefaultMaxPartial
	}
	// Half more than needed is cut: else further pieces would move the whole text again
	// and again. It is cut before it grows beyond the limit.
	if over := p.size + len(text) - limit; over > 0 {
		p.cut(over + limit/2)
	}
	m.blocks[i].text.Write(text)
	p.size += len(text)
	for p.size > limit { // several texts are long, or the piece is
		p.cut(p.size - limit + limit/2)
	}
}

// cut takes about n bytes from the beginning of the longest text.
func (p *Partial) cut(n int) {
	var long *openBlock
	for _, m := range p.open {
		for _, b := range m.blocks {
			if long == nil || b.text.Len() > long.text.Len() {
				long = b
			}
		}
	}
	text := long.text.String()
	n = min(n, len(text))
	for n < len(text) && !utf8.RuneStart(text[n]) {
		n++
	}
	long.text.Reset()                 // a snapshot may have the old text
	long.text.Grow(2 * len(text[n:])) // until the next time
	long.text.WriteString(text[n:])
	long.Cut += int64(n)
	p.size -= n
}

// finished folds the assistant line of one block or more.
func (p *Partial) finished(parent string, line *wire.APIMessage) {
	i := p.find(parent)
	if i < 0 {
		return
	}
	m := p.open[i]
	if m.ID != name(line.ID) {
		p.drop(parent)
		return
	}
	for _, b := range line.Content {
		// Blocks finish in order, but one without content may get no line. So
		// what stands before the block that fits is over as well.
		if i := slices.IndexFunc(m.blocks, func(o *openBlock) bool { return o.is(b) }); i >= 0 {
			p.remove(m, i+1)
		}
	}
	if m.Stopped && len(m.blocks) == 0 {
		p.drop(parent)
	}
}

// is reports whether a finished block can be this one.
func (b *openBlock) is(done wire.Block) bool {
	if done == nil || b.Type != name(done.BlockType()) {
		return false
	}
	switch d := done.(type) {
	case *wire.ToolUseBlock:
		return b.ToolUseID == name(d.ID)
	case *wire.ServerToolUseBlock:
		return b.ToolUseID == name(d.ID)
	case *wire.MCPToolUseBlock:
		return b.ToolUseID == name(d.ID)
	default:
		return true
	}
}

// partialJSON is the form of a Partial in JSON.
type partialJSON struct {
	Max      int       `json:"max,omitempty"`
	Messages []Message `json:"messages,omitempty"`
}

// MarshalJSON returns the whole value as JSON.
func (p Partial) MarshalJSON() ([]byte, error) {
	return json.Marshal(partialJSON{p.Max, p.Messages()})
}

// UnmarshalJSON restores what MarshalJSON returned.
func (p *Partial) UnmarshalJSON(data []byte) error {
	var v partialJSON
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	p.Max = v.Max
	p.Restore(v.Messages)
	return nil
}

// Restore replaces what is being written by what [Partial.Messages] has returned,
// here or elsewhere. Lines that come next continue it.
func (p *Partial) Restore(messages []Message) {
	p.open, p.size = nil, 0
	for _, s := range messages[:min(len(messages), maxMessages)] {
		m := &openMessage{Message: s}
		m.Blocks = nil
		p.open = append(p.open, m)
		for _, b := range s.Blocks[:min(len(s.Blocks), maxBlocks)] {
			o := &openBlock{Block: b}
			o.Text = ""
			m.blocks = append(m.blocks, o)
			p.grow(m, o.Index, []byte(b.Text))
		}
	}
}
