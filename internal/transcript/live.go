package transcript

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// live is what is being written just now, as items: the blocks of [fold.Partial].
type live struct {
	partial fold.Partial
	blocks  []*block
	items   []*block // those of them that are to be seen

	touched []*block
	changed bool // items came or went
}

// A block is a part of a message that is being written.
type block struct {
	Item
	text  string
	tool  Tool
	named int // how much of the input its title was made of
}

// line takes a line of the CLI: a piece of a message, or one that says something for good.
func (l *live) line(line *fold.Line, s stamp) {
	l.partial.Apply(line)
	if len(l.blocks) > 0 || string(line.Header.Type) == "stream_event" {
		l.arrange(s)
	}
}

// clear throws everything away: the process that wrote it is over.
func (l *live) clear() {
	l.partial.Restore(nil)
	l.arrange(stamp{})
}

// replace takes all that is being written, as the hub tells it.
func (l *live) replace(messages []api.Partial, s stamp) {
	list := make([]fold.Message, 0, len(messages))
	for i := range messages {
		m := fold.Message{ParentToolUseID: messages[i].ParentToolUseID, ID: messages[i].MessageID, Model: messages[i].Model}
		for _, b := range messages[i].Blocks {
			block := fold.Block{Index: b.Index, Type: b.Type, Text: b.Text, Tool: b.Name, ToolUseID: b.ID}
			if b.Cut {
				block.Cut = 1 // how many bytes it were is not told
			}
			m.Blocks = append(m.Blocks, block)
		}
		list = append(list, m)
	}
	l.partial.Restore(list)
	l.blocks = nil
	l.arrange(s)
	l.changed = true
}

// arrange makes the blocks say what the partial messages hold, and lists those that are to be seen. New ones get the stamp.
func (l *live) arrange(s stamp) {
	old := l.blocks
	l.blocks = make([]*block, 0, len(old)+1)
	for _, m := range l.partial.Messages() {
		for i := range m.Blocks {
			b := newBlock(&m, &m.Blocks[i], s)
			if at := slices.IndexFunc(old, b.same); at >= 0 {
				b = old[at]
			}
			if b.update(&m.Blocks[i]) {
				l.touched = append(l.touched, b)
			}
			l.blocks = append(l.blocks, b)
		}
	}
	items := slices.DeleteFunc(slices.Clone(l.blocks), func(b *block) bool { return b.Kind != KindTool && strings.TrimSpace(b.Text) == "" })
	if !slices.Equal(l.items, items) {
		l.items, l.changed = items, true
	}
}

func newBlock(m *fold.Message, from *fold.Block, s stamp) *block {
	b := &block{Item: Item{ID: "live:" + m.ParentToolUseID + ":" + m.ID + ":" + itoa(from.Index), Parent: m.ParentToolUseID, Time: s.at, Streaming: true}}
	switch {
	case from.Tool != "" || from.ToolUseID != "":
		b.Kind, b.ID = KindTool, toolKey(from.ToolUseID)
		b.tool = Tool{ID: from.ToolUseID, Name: oneLine(from.Tool), Started: s.at}
		b.Tool = &b.tool
	case from.Type == "thinking" || from.Type == "redacted_thinking":
		b.Kind = KindThinking
	case from.Type == "text":
		b.Kind = KindText
	default:
		b.Kind, b.Label = KindNotice, oneLine(from.Type)
	}
	return b
}

// same reports whether another block is this one, earlier.
func (b *block) same(o *block) bool {
	return b.ID == o.ID && b.Parent == o.Parent && b.Kind == o.Kind && b.Label == o.Label
}

// update makes the item say what the block holds. It reports whether that is something else.
func (b *block) update(from *fold.Block) bool {
	if b.text == from.Text && b.Left == from.Cut {
		return false
	}
	b.text, b.Left = from.Text, from.Cut
	if b.Kind != KindTool {
		b.Text = from.Text
		return true
	}
	b.tool.Input = json.RawMessage(from.Text)
	if n := len(from.Text); n <= maxShort && n >= b.named+b.named/8 {
		b.tool.Title, b.named = begunTitle(from.Text), n
	}
	return true
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
