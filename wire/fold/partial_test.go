package fold_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/wire/fold"
)

// event is a stream event of the main conversation, or of a sub-agent.
func event(parent, body string) string {
	quoted := "null"
	if parent != "" {
		quoted = `"` + parent + `"`
	}
	return `< {"type":"stream_event","event":` + body + `,"parent_tool_use_id":` + quoted + `}`
}

func messageStart(id string) string {
	return event("", `{"type":"message_start","message":{"id":"`+id+`","model":"m"}}`)
}

func textStart(index int) string {
	return event("", fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"text","text":""}}`, index))
}

func textDelta(index int, text string) string {
	b, _ := json.Marshal(text)
	return event("", fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"text_delta","text":%s}}`, index, b))
}

func finished(id, content string) string {
	return `< {"type":"assistant","message":{"id":"` + id + `","content":[` + content + `]},"parent_tool_use_id":null}`
}

const messageStop = `< {"type":"stream_event","event":{"type":"message_stop"}}`

func TestPartial(t *testing.T) {
	thinkingStart := event("", `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`)
	thinkingDelta := event("", `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}`)
	toolStart := func(index int, id string) string {
		return event("", fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":%q,"name":"Bash","input":{}}}`, index, id))
	}
	toolDelta := func(index int, piece string) string {
		return event("", fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"input_json_delta","partial_json":%q}}`, index, piece))
	}
	text := func(s string) []fold.Block { return []fold.Block{{Type: "text", Text: s}} }
	tests := []struct {
		name  string
		lines []string
		want  []fold.Message
	}{
		{
			"text grows",
			[]string{messageStart("a"), textStart(0), textDelta(0, "Hel"), textDelta(0, "lo")},
			[]fold.Message{{ID: "a", Model: "m", Blocks: text("Hello")}},
		},
		{"a message that has only begun", []string{messageStart("a")}, []fold.Message{{ID: "a", Model: "m", Blocks: []fold.Block{}}}},
		{
			"thinking, then text",
			[]string{messageStart("a"), thinkingStart, thinkingDelta, textStart(1), textDelta(1, "So")},
			[]fold.Message{{ID: "a", Model: "m", Blocks: []fold.Block{{Index: 0, Type: "thinking", Text: "hm"}, {Index: 1, Type: "text", Text: "So"}}}},
		},
		{
			"a tool's input",
			[]string{messageStart("a"), toolStart(0, "u1"), toolDelta(0, `{"comm`), toolDelta(0, `and":`)},
			[]fold.Message{{ID: "a", Model: "m", Blocks: []fold.Block{{Type: "tool_use", Text: `{"command":`, Tool: "Bash", ToolUseID: "u1"}}}},
		},
		{"a block is finished before its end", []string{
			messageStart("a"), thinkingStart, thinkingDelta, finished("a", `{"type":"thinking","thinking":"hm"}`),
			event("", `{"type":"content_block_stop","index":0}`), textStart(1), textDelta(1, "So"),
		}, []fold.Message{{ID: "a", Model: "m", Blocks: []fold.Block{{Index: 1, Type: "text", Text: "So"}}}}},
		{"all blocks are finished", []string{
			messageStart("a"), textStart(0), textDelta(0, "x"), finished("a", `{"type":"text","text":"x"}`), messageStop,
		}, []fold.Message{}},
		{"the end comes before the last line", []string{
			messageStart("a"), textStart(0), textDelta(0, "x"), messageStop, finished("a", `{"type":"text","text":"x"}`),
		}, []fold.Message{}},
		{
			"the end came and the last line did not",
			[]string{messageStart("a"), textStart(0), textDelta(0, "x"), messageStop},
			[]fold.Message{{ID: "a", Model: "m", Blocks: text("x"), Stopped: true}},
		},
		{"a block without content gets no line", []string{
			messageStart("a"), textStart(0), toolStart(1, "u1"), toolStart(2, "u2"), finished("a", `{"type":"tool_use","id":"u1","name":"Bash","input":{}}`),
		}, []fold.Message{{ID: "a", Model: "m", Blocks: []fold.Block{{Index: 2, Type: "tool_use", Tool: "Bash", ToolUseID: "u2"}}}}},
		{"a later tool is finished first", []string{
			messageStart("a"), toolStart(0, "u1"), toolStart(1, "u2"), textStart(2), finished("a", `{"type":"tool_use","id":"u2","name":"Bash","input":{}}`),
		}, []fold.Message{{ID: "a", Model: "m", Blocks: []fold.Block{{Index: 2, Type: "text"}}}}},
		{"one line brings two blocks", []string{
			messageStart("a"), textStart(0), toolStart(1, "u1"), finished("a", `{"type":"text","text":"x"},{"type":"tool_use","id":"u1","name":"Bash","input":{}}`), messageStop,
		}, []fold.Message{}},
		{
			"another message begins",
			[]string{messageStart("a"), textStart(0), textDelta(0, "lost"), messageStart("b"), textStart(0), textDelta(0, "new")},
			[]fold.Message{{ID: "b", Model: "m", Blocks: text("new")}},
		},
		{
			"the answer was got in another way",
			[]string{messageStart("a"), textStart(0), textDelta(0, "lost"), finished("b", `{"type":"text","text":"whole"}`)},
			[]fold.Message{},
		},
		{"the turn ends", []string{messageStart("a"), textStart(0), textDelta(0, "lost"), success}, []fold.Message{}},
		{"interrupted", []string{
			messageStart("a"), textStart(0), textDelta(0, "lost"),
			`< {"type":"user","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]},"parent_tool_use_id":null}`,
		}, []fold.Message{}},
		{"interrupted in other words", []string{
			messageStart("a"), textStart(0), textDelta(0, "lost"),
			`< {"type":"user","message":{"role":"user","content":"[Request interrupted by user for tool use]"}}`,
		}, []fold.Message{}},
		{
			"an echo in between",
			[]string{messageStart("a"), textStart(0), textDelta(0, "x"), echo("e"), textDelta(0, "y")},
			[]fold.Message{{ID: "a", Model: "m", Blocks: text("xy")}},
		},
		{
			"what is written to the CLI does not count",
			[]string{messageStart("a"), textStart(0), textDelta(0, "x"), interrupt, strings.Replace(success, "<", ">", 1)},
			[]fold.Message{{ID: "a", Model: "m", Blocks: text("x")}},
		},
		{"the process ends", []string{messageStart("a"), textStart(0), `! ended x`}, []fold.Message{}},
		{"the link is lost", []string{messageStart("a"), textStart(0), textDelta(0, "x"), `! link_lost x`}, []fold.Message{{ID: "a", Model: "m", Blocks: text("x")}}},
		{
			"sent again after a reconnect",
			[]string{messageStart("a"), textStart(0), textDelta(0, "x"), messageStart("a"), textStart(0), textDelta(0, "x")},
			[]fold.Message{{ID: "a", Model: "m", Blocks: text("x")}},
		},
		{"the beginning was not seen", []string{textStart(0), textDelta(0, "x"), messageStop}, []fold.Message{}},
		{"a block whose beginning was not seen", []string{messageStart("a"), textDelta(3, "x")}, []fold.Message{{ID: "a", Model: "m", Blocks: []fold.Block{}}}},
		{"a block that begins with text", []string{
			messageStart("a"), event("", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Once"}}`), textDelta(0, " upon"),
		}, []fold.Message{{ID: "a", Model: "m", Blocks: text("Once upon")}}},
		{
			"a block that begins again",
			[]string{messageStart("a"), textStart(0), textDelta(0, "x"), textStart(0), textDelta(0, "y")},
			[]fold.Message{{ID: "a", Model: "m", Blocks: text("y")}},
		},
		{"unknown blocks and deltas", []string{
			messageStart("a"), event("", `{"type":"content_block_start","index":0,"content_block":{"type":"hologram"}}`),
			event("", `{"type":"content_block_delta","index":0,"delta":{"type":"light"}}`), event("", `{"type":"made_up"}`),
			event("", `{"type":"content_block_start","index":1}`), event("", `null`),
		}, []fold.Message{{ID: "a", Model: "m", Blocks: []fold.Block{{Type: "hologram"}}}}},
		{"a sub-agent writes beside the main conversation", []string{
			messageStart("a"), textStart(0), textDelta(0, "main"),
			event("u1", `{"type":"message_start","message":{"id":"s","model":"n"}}`),
			event("u1", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"sub"}}`),
			success,
		}, []fold.Message{{ParentToolUseID: "u1", ID: "s", Model: "n", Blocks: text("sub")}}},
		{"a sub-agent is done", []string{
			event("u1", `{"type":"message_start","message":{"id":"s","model":"n"}}`), toolResult("u1", "{}"),
		}, []fold.Message{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, play(t, test.lines...).Partial.Messages()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestPartialIsBounded(t *testing.T) {
	p := fold.Partial{Max: 100}
	var whole strings.Builder
	for _, s := range script(t, messageStart("a"), textStart(0), textStart(1), textDelta(1, "short")) {
		p.Apply(s.line)
	}
	for i := range 500 {
		piece := fmt.Sprintf("%d-é ", i)
		whole.WriteString(piece)
		p.Apply(script(t, textDelta(0, piece))[0].line)
		size := 0
		m := p.Messages()[0]
		for _, b := range m.Blocks {
			size += len(b.Text)
		}
		b := m.Blocks[0]
		switch {
		case size > p.Max:
			t.Fatalf("%d bytes are kept, the limit is %d", size, p.Max)
		case !utf8.ValidString(b.Text):
			t.Fatalf("a character is cut: %q", b.Text)
		case whole.String()[b.Cut:] != b.Text:
			t.Fatalf("%q after %d bytes is not the end of what was written", b.Text, b.Cut)
		case m.Blocks[1].Text != "short" || m.Blocks[1].Cut != 0:
			t.Fatalf("the short block was cut: %+v", m.Blocks[1])
		}
	}
}

func TestPartialForgetsWhatIsFinished(t *testing.T) {
	p := fold.Partial{Max: 100}
	text := strings.Repeat("x", 90)
	for i := range 5 {
		for _, s := range script(t, messageStart("a"), textStart(0), textDelta(0, text), finished("a", `{"type":"text"}`), textStart(1), textDelta(1, text)) {
			p.Apply(s.line)
		}
		if b := p.Messages()[0].Blocks[0]; b.Text != text || b.Cut != 0 {
			t.Fatalf("round %d: the block is cut: %+v", i, b)
		}
	}
}

func TestPartialHasManyBlocks(t *testing.T) {
	var p fold.Partial
	p.Apply(script(t, messageStart("a"))[0].line)
	const n = 300
	for i := range n {
		p.Apply(script(t, textStart(i))[0].line)
	}
	m := p.Messages()[0]
	if int64(len(m.Blocks))+m.Left != n || len(m.Blocks) >= n {
		t.Errorf("%d blocks and %d left out, want %d in all", len(m.Blocks), m.Left, n)
	}
}

func TestMessagesAreCopies(t *testing.T) {
	a := play(t, messageStart("a"), textStart(0), textDelta(0, "x"))
	before := a.Partial.Messages()
	a.apply(script(t, textDelta(0, "y"))[0])
	if got := before[0].Blocks[0].Text; got != "x" {
		t.Errorf("the copy has become %q", got)
	}
	before[0].Blocks[0].Text = "changed"
	if got := a.Partial.Messages()[0].Blocks[0].Text; got != "xy" {
		t.Errorf("the message has become %q", got)
	}
}
