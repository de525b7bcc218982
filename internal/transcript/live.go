package transcript

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

// Bounds of what is being written.
const (
	mostWriting = 64      // messages
	mostPieces  = 256     // blocks of one
	mostLive    = 1 << 20 // bytes in all
)

// live is what is being written just now: at most one message of the conversation and one of each sub-agent.
type live struct {
	open  []*writing
	items []*block
	size  int

	touched []*block
	changed bool // items came or went
}

// A writing is a message that is being written.
type writing struct {
	parent, id string
	stopped    bool
	blocks     []*block
}

// A block is a part of it.
type block struct {
	Item
	index int64
	typ   string
	tool  Tool
	text  strings.Builder // Item.Text is what it holds: growing does not copy it
	shown bool
	named int // how much of the input its title was made of
}

func (l *live) find(parent string) int {
	return slices.IndexFunc(l.open, func(w *writing) bool { return w.parent == parent })
}

// drop throws a message away.
func (l *live) drop(parent string) {
	if i := l.find(parent); i >= 0 {
		l.remove(l.open[i], len(l.open[i].blocks))
		l.open = slices.Delete(l.open, i, i+1)
	}
}

func (l *live) clear() {
	for len(l.open) > 0 {
		l.drop(l.open[0].parent)
	}
}

// remove throws the first n blocks of a message away.
func (l *live) remove(w *writing, n int) {
	for _, b := range w.blocks[:n] {
		l.size -= b.text.Len()
		l.changed = l.changed || b.shown
	}
	w.blocks = slices.Delete(w.blocks, 0, n)
}

func (l *live) begin(parent, id string) *writing {
	l.drop(parent)
	if len(l.open) >= mostWriting {
		l.drop(l.open[0].parent)
	}
	w := &writing{parent: strings.Clone(parent), id: strings.Clone(id)}
	l.open = append(l.open, w)
	return w
}

// stream takes an event of a message that is being written.
func (l *live) stream(m *wire.StreamEvent, s stamp, f *facts) {
	if e, ok := m.Event.(*wire.MessageStartEvent); ok {
		l.begin(m.ParentToolUseID, e.Message.ID)
		if m.ParentToolUseID == "" {
			f.counted(e.Message.ID, e.Message.Usage.OutputTokens)
		}
		return
	}
	i := l.find(m.ParentToolUseID)
	if i < 0 {
		return // its beginning was not seen
	}
	w := l.open[i]
	switch e := m.Event.(type) { //nolint:gochecksumtype // the others change nothing that is shown
	case *wire.ContentBlockStartEvent:
		l.start(w, e, s)
	case *wire.ContentBlockDeltaEvent:
		text := wire.DeltaText(e.Delta)
		l.grow(w, e.Index, text)
		if m.ParentToolUseID == "" && text != "" {
			f.writing += int64(len(text)+3) / 4 // an estimate, until the message tells
			f.changed = true
		}
	case *wire.MessageDeltaEvent:
		if m.ParentToolUseID == "" && e.Usage.OutputTokens > 0 {
			f.writing = e.Usage.OutputTokens
			f.changed = true
		}
	case *wire.MessageStopEvent:
		if w.stopped = true; len(w.blocks) == 0 {
			l.drop(m.ParentToolUseID)
		}
	}
}

// start opens a block.
func (l *live) start(w *writing, e *wire.ContentBlockStartEvent, s stamp) {
	if e.ContentBlock == nil {
		return
	}
	text, name, id := "", "", ""
	switch c := e.ContentBlock.(type) { //nolint:gochecksumtype // the others begin empty
	case *wire.TextBlock:
		text = c.Text
	case *wire.ThinkingBlock:
		text = c.Thinking
	case *wire.ToolUseBlock:
		name, id = c.Name, c.ID
	case *wire.ServerToolUseBlock:
		name, id = c.Name, c.ID
	case *wire.MCPToolUseBlock:
		name, id = strings.TrimSpace(c.ServerName+" "+c.Name), c.ID
	}
	l.put(w, e.Index, e.ContentBlock.BlockType(), name, id, text, s)
}

// put adds a block to a message.
func (l *live) put(w *writing, index int64, typ, name, id, text string, s stamp) *block {
	if i := slices.IndexFunc(w.blocks, func(b *block) bool { return b.index == index }); i >= 0 {
		l.size -= w.blocks[i].text.Len()
		l.changed = l.changed || w.blocks[i].shown
		w.blocks = slices.Delete(w.blocks, i, i+1)
	}
	if len(w.blocks) >= mostPieces {
		l.remove(w, 1)
	}
	b := &block{index: index, typ: oneLine(typ)}
	b.Item = Item{ID: "live:" + w.parent + ":" + w.id + ":" + itoa(index), Parent: w.parent, Time: s.at, Streaming: true}
	switch {
	case name != "" || id != "":
		b.Kind, b.ID = KindTool, toolKey(id)
		b.tool = Tool{ID: strings.Clone(id), Name: oneLine(name), Started: s.at}
		b.Tool = &b.tool
	case typ == "thinking" || typ == "redacted_thinking":
		b.Kind = KindThinking
	case typ == "text":
		b.Kind = KindText
	default:
		b.Kind, b.Label = KindNotice, b.typ
	}
	w.blocks = append(w.blocks, b)
	l.changed = l.changed || b.Kind == KindTool
	l.grow(w, index, text)
	return b
}

// grow adds to the text of a block, and keeps the whole within its bounds.
func (l *live) grow(w *writing, index int64, text string) {
	i := slices.IndexFunc(w.blocks, func(b *block) bool { return b.index == index })
	if i < 0 || text == "" {
		return
	}
	b := w.blocks[i]
	b.text.WriteString(text)
	l.size += len(text)
	for l.size > mostLive {
		l.cut(l.size - mostLive + mostLive/8) // more than needed: else every further piece would move the whole text
	}
	b.update()
	l.touched = append(l.touched, b)
	l.changed = l.changed || !b.shown
}

// update makes the item say what the block holds.
func (b *block) update() {
	if b.Kind != KindTool {
		b.Text = b.text.String()
		return
	}
	b.tool.Input = json.RawMessage(b.text.String())
	if n := b.text.Len(); n <= mostShort && n >= b.named+b.named/8 {
		b.tool.Title, b.named = begunTitle(b.text.String()), n
	}
}

// begunTitle says what a call is about whose input is still being written.
func begunTitle(input string) string {
	for _, name := range []string{"command", "file_path", "notebook_path", "pattern", "url", "query", "description"} {
		_, rest, found := strings.Cut(input, `"`+name+`":`)
		rest = strings.TrimLeft(rest, " ")
		if !found || rest == "" || rest[0] != '"' {
			continue
		}
		end := 1
		for end < len(rest) && rest[end] != '"' {
			if rest[end] == '\\' {
				end++
			}
			end++
		}
		var text string
		if end < len(rest) && json.Unmarshal([]byte(rest[:end+1]), &text) == nil {
			return oneLine(text)
		}
		return oneLine(rest[1:])
	}
	return ""
}

// cut takes about n bytes from the beginning of the longest text.
func (l *live) cut(n int) {
	var long *block
	for _, w := range l.open {
		for _, b := range w.blocks {
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
	long.text = strings.Builder{}
	long.text.WriteString(text[n:])
	long.Left += int64(n)
	l.size -= n
	long.update()
	l.touched = append(l.touched, long)
}

// finished throws away what an assistant line says for good.
func (l *live) finished(m *wire.Assistant) {
	i := l.find(m.ParentToolUseID)
	if i < 0 {
		return
	}
	w := l.open[i]
	if w.id != m.Message.ID {
		l.drop(m.ParentToolUseID)
		return
	}
	for _, c := range m.Message.Content {
		// Blocks finish in order, but one without content may get no line. So what stands before the one that fits is over as well.
		if i := slices.IndexFunc(w.blocks, func(b *block) bool { return b.is(c) }); i >= 0 {
			l.remove(w, i+1)
		}
	}
	if w.stopped && len(w.blocks) == 0 {
		l.drop(m.ParentToolUseID)
	}
}

// is reports whether a block became the one of a line.
func (b *block) is(c wire.Block) bool {
	switch c := c.(type) {
	case *wire.ToolUseBlock:
		return b.tool.ID == c.ID
	case *wire.ServerToolUseBlock:
		return b.tool.ID == c.ID
	case *wire.MCPToolUseBlock:
		return b.tool.ID == c.ID
	default:
		return b.typ == c.BlockType()
	}
}

// line takes a durable line: what it tells is not being written any more.
func (l *live) line(message wire.Message) {
	if len(l.open) == 0 {
		return
	}
	switch m := message.(type) { //nolint:gochecksumtype // the others end nothing
	case *wire.Assistant:
		l.finished(m)
	case *wire.User:
		if strings.HasPrefix(m.Message.Content.String(), "[Request interrupted by user") {
			l.drop(m.ParentToolUseID)
		}
		for _, b := range m.Message.Content.Blocks {
			if r, ok := b.(*wire.ToolResultBlock); ok && r.ToolUseID != "" {
				l.drop(r.ToolUseID)
			}
		}
	case *wire.Result:
		l.drop("")
	}
}

// replace takes all that is being written, as the hub tells it.
func (l *live) replace(messages []api.Partial, s stamp) {
	l.clear()
	for i := range messages {
		m := &messages[i]
		w := l.begin(m.ParentToolUseID, m.MessageID)
		for _, p := range m.Blocks {
			b := l.put(w, p.Index, p.Type, p.Name, p.ID, p.Text, s)
			if p.Cut {
				b.Left = max(b.Left, 1)
			}
		}
	}
	l.changed = true
}

// arrange lists the blocks that are to be seen.
func (l *live) arrange() {
	l.items = l.items[:0]
	for _, w := range l.open {
		for _, b := range w.blocks {
			if b.shown = b.Kind == KindTool || strings.TrimSpace(b.Text) != ""; b.shown {
				l.items = append(l.items, b)
			}
		}
	}
}
