package transcript_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/transcript"
	"github.com/switchboard-dev/switchboard/internal/transcript/logtest"
)

// live returns a live event.
func live(format string, args ...any) *api.Event {
	return &api.Event{Session: "s1", Run: 1, Kind: api.KindLive, Time: logtest.Noon, Line: json.RawMessage(fmt.Sprintf(format, args...))}
}

func streamed(event string, more ...string) *api.Event {
	return live(`{"type":"stream_event","event":%s%s}`, event, strings.Join(more, ""))
}

func start(id string) string {
	return `{"type":"message_start","message":{"id":"` + id + `","content":[]}}`
}

func open(index int, block string) string {
	return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, index, block)
}

func delta(index int, kind, member, text string) string {
	return fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"%s","%s":%s}}`, index, kind, member, logtest.Quoted(text))
}

// shown returns what items say, in short.
func shown(c *transcript.Conversation) []string {
	var out []string
	for i := range c.Len() {
		it := c.Item(i)
		text := it.Text
		if it.Tool != nil {
			text = it.Tool.Name + " " + it.Tool.Title
		}
		if it.Streaming {
			text += "▌"
		}
		out = append(out, strings.Repeat(">", it.Depth)+text)
	}
	return out
}

// TestStreaming follows an answer that is being written: it grows, and each block is replaced by the line that has it for good.
func TestStreaming(t *testing.T) {
	var c transcript.Conversation
	line := func(n int, content string) *api.Event {
		return &api.Event{ID: fmt.Sprintf("e:%d", n), Kind: api.KindLine, Line: json.RawMessage(`{"type":"assistant","uuid":"u` + fmt.Sprint(n) + `","message":{"id":"m1","content":[` + content + `]}}`)}
	}
	steps := []struct {
		event *api.Event
		want  []string
	}{
		{streamed(start("m1")), nil},
		{streamed(open(0, `{"type":"thinking","thinking":""}`)), nil},
		{streamed(delta(0, "thinking_delta", "thinking", "hm")), []string{"hm▌"}},
		{streamed(open(1, `{"type":"text","text":""}`)), []string{"hm▌"}},
		{streamed(delta(1, "text_delta", "text", "Hello")), []string{"hm▌", "Hello▌"}},
		{line(1, `{"type":"thinking","thinking":"hm."}`), []string{"hm.", "Hello▌"}},
		{streamed(delta(1, "text_delta", "text", " world")), []string{"hm.", "Hello world▌"}},
		{streamed(delta(7, "text_delta", "text", "nobody opened it")), []string{"hm.", "Hello world▌"}},
		{line(2, `{"type":"text","text":"Hello world."}`), []string{"hm.", "Hello world."}},
		{streamed(open(2, `{"type":"tool_use","id":"t1","name":"Bash","input":{}}`)), []string{"hm.", "Hello world.", "Bash ▌"}},
		{streamed(delta(2, "input_json_delta", "partial_json", `{"command":"make`)), []string{"hm.", "Hello world.", "Bash make▌"}},
		{streamed(delta(2, "input_json_delta", "partial_json", ` \"all\"","x":1}`)), []string{"hm.", "Hello world.", `Bash make "all"▌`}},
		{streamed(`{"type":"content_block_stop","index":2}`), []string{"hm.", "Hello world.", `Bash make "all"▌`}},
		{line(3, `{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"make all"}}`), []string{"hm.", "Hello world.", "Bash make all"}},
		{streamed(`{"type":"message_stop"}`), []string{"hm.", "Hello world.", "Bash make all"}},
		// A sub-agent's stands further in, beside the conversation's own.
		{streamed(start("m2"), `,"parent_tool_use_id":"t1"`), []string{"hm.", "Hello world.", "Bash make all"}},
		{streamed(open(0, `{"type":"text","text":"deep"}`), `,"parent_tool_use_id":"t1"`), []string{"hm.", "Hello world.", "Bash make all", ">deep▌"}},
		{streamed(start("m3")), []string{"hm.", "Hello world.", "Bash make all", ">deep▌"}},
		{streamed(open(0, `{"type":"text","text":"high"}`)), []string{"hm.", "Hello world.", "Bash make all", ">deep▌", "high▌"}},
		// The answer was got in another way.
		{&api.Event{ID: "e:4", Kind: api.KindLine, Line: json.RawMessage(`{"type":"assistant","message":{"id":"m4","content":[{"type":"text","text":"other"}]}}`)}, []string{"hm.", "Hello world.", "Bash make all", "other", ">deep▌"}},
		// The agent's result ends what it writes.
		{&api.Event{ID: "e:5", Kind: api.KindLine, Line: json.RawMessage(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}}`)}, []string{"hm.", "Hello world.", "Bash make all", "other"}},
		{streamed(start("m5")), []string{"hm.", "Hello world.", "Bash make all", "other"}},
		{streamed(open(0, `{"type":"text","text":"cut off"}`)), []string{"hm.", "Hello world.", "Bash make all", "other", "cut off▌"}},
		{&api.Event{ID: "e:6", Kind: api.KindRunEnded, Data: json.RawMessage(`{"reason":"it ended"}`)}, []string{"hm.", "Hello world.", "Bash make all", "other", "it ended"}},
	}
	shadow := []string{}
	for i, step := range steps {
		changed := c.Frame(api.Frame{Type: api.FrameEvent, Event: step.event})
		if diff := cmp.Diff(step.want, shown(&c)); diff != "" {
			t.Fatalf("step %d (-want +got):\n%s", i, diff)
		}
		shadow = follow(t, &c, shadow, changed)
		if diff := cmp.Diff(logtest.Dump(t, &c), shadow); diff != "" {
			t.Fatalf("step %d, %+v (-is +followed):\n%s", i, changed, diff)
		}
	}
}

// TestPartial holds that a partial frame replaces what is being written, and that deltas go on from there.
func TestPartial(t *testing.T) {
	var c transcript.Conversation
	c.Frame(api.Frame{Type: api.FrameLive, Event: streamed(start("old"))})
	c.Frame(api.Frame{Type: api.FrameLive, Event: streamed(open(0, `{"type":"text","text":"old"}`))})
	changed := c.Frame(api.Frame{Type: api.FramePartial, Partial: &api.Partials{Session: "s1", Messages: []api.Partial{{
		MessageID: "m1", Blocks: []api.PartialBlock{{Index: 1, Type: "text", Text: "so far", Cut: true}, {Index: 2, Type: "tool_use", Name: "Read", ID: "t", Text: `{"file_path":"/x`}},
	}}}})
	if diff := cmp.Diff([]string{"so far▌", "Read /x▌"}, shown(&c)); diff != "" {
		t.Fatal(diff)
	}
	if changed.Appended != 1 || len(changed.Items) != 1 || c.Item(0).Left == 0 {
		t.Errorf("%+v, %d left out", changed, c.Item(0).Left)
	}
	c.Frame(api.Frame{Type: api.FrameLive, Event: streamed(delta(1, "text_delta", "text", ", and on"))})
	if diff := cmp.Diff([]string{"so far, and on▌", "Read /x▌"}, shown(&c)); diff != "" {
		t.Fatal(diff)
	}
	if changed := c.Frame(api.Frame{Type: api.FramePartial, Partial: &api.Partials{Session: "s1"}}); !changed.Reset || c.Len() != 0 {
		t.Errorf("%+v, %d items", changed, c.Len())
	}
}

// TestReset holds that a log that begins anew is read anew.
func TestReset(t *testing.T) {
	c := logtest.Read(logtest.Whole())
	if changed := c.Frame(api.Frame{Type: api.FrameResume, Resume: &api.Verdict{Resume: "ok"}}); changed.Reset || c.Len() == 0 {
		t.Errorf("%+v, %d items", changed, c.Len())
	}
	if changed := c.Frame(api.Frame{Type: api.FrameResume, Resume: &api.Verdict{Resume: "reset"}}); !changed.Reset || c.Len() != 0 || c.State().LastEventID != "" {
		t.Errorf("%+v, %d items", changed, c.Len())
	}
	for _, e := range logtest.Whole()[:10] {
		c.Event(&e)
	}
	if diff := cmp.Diff(logtest.Dump(t, logtest.Read(logtest.Whole()[:10])), logtest.Dump(t, c)); diff != "" {
		t.Error(diff)
	}
}

// TestStreamingBounded holds that an answer without end keeps a bounded amount, its end, and says so; and that each piece costs the same.
func TestStreamingBounded(t *testing.T) {
	var c transcript.Conversation
	c.Event(streamed(start("m")))
	c.Event(streamed(open(0, `{"type":"text","text":""}`)))
	piece := strings.Repeat("0123456789", 1000)
	event := streamed(delta(0, "text_delta", "text", piece))
	for range 300 {
		c.Event(event)
	}
	it := c.Item(0)
	if len(it.Text) > 1<<20 || len(it.Text) < 1<<19 || it.Left+int64(len(it.Text)) != int64(300*len(piece)) || !strings.HasSuffix(it.Text, piece) {
		t.Errorf("%d bytes, %d left out", len(it.Text), it.Left)
	}
	// Blocks and messages are bounded as well.
	for i := range 1000 {
		c.Event(streamed(open(i, `{"type":"text","text":"x"}`)))
		c.Event(streamed(start("m"), `,"parent_tool_use_id":"a`+fmt.Sprint(i)+`"`))
		c.Event(streamed(open(0, `{"type":"text","text":"x"}`), `,"parent_tool_use_id":"a`+fmt.Sprint(i)+`"`))
	}
	if c.Len() > 64+256 {
		t.Errorf("%d items are being written", c.Len())
	}
	small := strings.Repeat("x", 8)
	grow := streamed(delta(0, "text_delta", "text", small))
	var d transcript.Conversation
	d.Event(streamed(start("m")))
	d.Event(streamed(open(0, `{"type":"text","text":""}`)))
	first := testing.AllocsPerRun(1000, func() { d.Event(grow) })
	for range 50000 {
		d.Event(grow)
	}
	if later := testing.AllocsPerRun(1000, func() { d.Event(grow) }); later > first+2 {
		t.Errorf("a piece costs %.1f allocations in the beginning, and %.1f later", first, later)
	}
}

// TestProgress holds that live lines change the tool that they tell of, and make no item.
func TestProgress(t *testing.T) {
	var s logtest.Script
	s.Call("t1", "Bash", `{"command":"make"}`, "")
	c := logtest.Read(s.Events)
	changed := c.Event(live(`{"type":"tool_progress","tool_use_id":"t1","tool_name":"Bash","elapsed_time_seconds":12}`))
	if len(changed.Items) != 1 || changed.Appended != 0 || c.Item(0).Tool.Progress != "12s" {
		t.Errorf("%+v, %+v", changed, c.Item(0).Tool)
	}
	c.Event(live(`{"type":"tool_progress","tool_use_id":"t1-heartbeat-0","tool_name":"Bash","parent_tool_use_id":"t1","elapsed_time_seconds":30,"heartbeat":true}`))
	if progress := c.Item(0).Tool.Progress; progress != "30s" {
		t.Errorf("after a heartbeat: %s", progress)
	}
	c.Event(live(`{"type":"tool_progress","tool_use_id":"hook-PreToolUse-t1-heartbeat-0","tool_name":"PreToolUse","parent_tool_use_id":"t1","elapsed_time_seconds":5,"heartbeat":true}`))
	if progress := c.Item(0).Tool.Progress; progress != "30s" {
		t.Errorf("after a heartbeat of a hook: %s", progress)
	}
	if changed := c.Event(live(`{"type":"tool_progress","tool_use_id":"t2","elapsed_time_seconds":12}`)); len(changed.Items)+changed.Appended != 0 {
		t.Errorf("%+v", changed)
	}
}

// BenchmarkDelta takes a piece of an answer that is long already.
func BenchmarkDelta(b *testing.B) {
	var c transcript.Conversation
	c.Event(streamed(start("m")))
	c.Event(streamed(open(0, `{"type":"text","text":""}`)))
	piece := streamed(delta(0, "text_delta", "text", "a few words "))
	for range 10000 {
		c.Event(piece)
	}
	for b.Loop() {
		c.Event(piece)
	}
}
