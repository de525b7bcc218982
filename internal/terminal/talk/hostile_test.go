package talk_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/terminal/talk"
	"github.com/switchboard-dev/switchboard/internal/transcript"
	"github.com/switchboard-dev/switchboard/internal/transcript/logtest"
)

// nasty are texts that would like to break a terminal.
var nasty = []string{
	"\x1b[31mred\x1b[2J\x1b[H",
	"\x1b]0;title\a\x1b]52;c;aGVsbG8=\a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\",
	"\u009b31m\u009d0;title\u009c",
	"\x00\x07\x08\x0b\x0c\x0e\x7f\r\r\n\u0085\u2028\u2029",
	"\u202eesrever\u202c \u2066isolate\u2069 \ufeff\u200b",
	"שלום עולם مرحبا بالعالم",
	"日本語のとても長いテキストがここにあります、折り返してください",
	"👩‍👩‍👧‍👦 🇩🇪 👍🏽 ❤️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿",
	"e" + strings.Repeat("\u0301", 500),
	strings.Repeat("\u1100", 500) + strings.Repeat("\u1160", 500),
	"\xff\xfe broken \xc3",
	"# [x](javascript:alert(1)) ![y](file:///etc/passwd) <a href=\"x\">\n| a |\n|---|\n| \x1b[2J |\n&#27;[2J",
	strings.Repeat("> ", 500) + "deep\n" + strings.Repeat("- ", 500) + "deep",
	strings.Repeat("[", 400) + strings.Repeat("*_`", 400),
	"",
}

// bad reports what must never reach a terminal from an item: escape codes other than our own styles, control characters, and those that
// turn letters around.
func bad(line string) string {
	for rest := line; ; {
		i := strings.IndexByte(rest, 0x1b)
		if i < 0 {
			break
		}
		rest = rest[i+1:]
		if strings.HasPrefix(rest, "[") {
			end := strings.IndexFunc(rest[1:], func(r rune) bool { return r != ';' && r != ':' && (r < '0' || r > '9') })
			if end >= 0 && rest[1+end] == 'm' {
				continue
			}
		}
		if strings.HasPrefix(rest, "]8;;") {
			continue
		}
		return fmt.Sprintf("the escape code %.20q", rest)
	}
	for _, r := range line {
		switch {
		case r == 0x1b, r == 0x07: // of links
		case r < 0x20, r >= 0x7f && r < 0xa0, r == 0x2028, r == 0x2029, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0xfeff:
			return fmt.Sprintf("the character %U", r)
		}
	}
	return ""
}

// check draws all items of a conversation, and looks at what would reach the terminal.
func check(t *testing.T, c *transcript.Conversation, widths ...int) {
	t.Helper()
	for _, width := range widths {
		for _, unfolded := range []bool{false, true} {
			look := talk.Look{
				Styles: paint.Profile{Color: true, Links: true}.Styles(), Width: width, Thinking: unfolded, Full: unfolded && width == 80,
				Unfolded: func(*transcript.Item) bool { return unfolded }, Now: logtest.Noon,
			}
			for i := range c.Len() {
				for _, line := range look.Lines(c.Item(i)) {
					if what := bad(line); what != "" {
						t.Fatalf("%s reaches the terminal: %.200q", what, line)
					}
					if n := paint.Width(line); n > max(width, 2) {
						t.Fatalf("a line of %d columns for %d: %.200q", n, width, line)
					}
				}
			}
		}
	}
}

// TestHostile puts nasty texts wherever a text can come from.
func TestHostile(t *testing.T) {
	for n, text := range nasty {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			q := logtest.Quoted(text)
			in := fmt.Sprintf(`{"command":%s,"file_path":%s,"old_string":%s,"new_string":"x","description":%s,%s:%s}`, q, q, q, q, q, q)
			var s logtest.Script
			s.Hub(api.KindCreated, map[string]any{"dir": text, "title": text})
			s.Hub(api.KindMessage, api.Message{ID: text, UUID: text, Text: text, By: text, State: api.MessageNotDelivered, Reason: text})
			s.Say(text, "")
			s.Line(`{"type":"assistant","uuid":"x","message":{"content":[{"type":"thinking","thinking":%s},{"type":%s,"x":%s}]}}`, q, q, q)
			for i, name := range []string{"Bash", "Edit", "Write", "Task", "TodoWrite", "Other"} {
				id := fmt.Sprintf("t%d", i)
				s.Call(id, name, in, "")
				s.Gave(id, text, i%2 == 0, `,"tool_use_result":{"structuredPatch":[{"oldStart":1,"newStart":1,"lines":[`+logtest.Quoted("-"+text)+`,`+logtest.Quoted("+"+text)+`]}]}`)
			}
			s.Line(`{"type":"assistant","uuid":"y","parent_tool_use_id":%s,"message":{"content":[{"type":"tool_use","id":%s,"name":%s,"input":%s}]}}`, q, q, q, in)
			s.Hub(api.KindQuestionOpened, api.Question{
				ID: text, Kind: api.QuestionPermission, State: api.QuestionOpen, Tool: text, Title: text, Description: text, Why: text, Request: json.RawMessage(`{"input":` + in + `}`),
			})
			s.Hub(api.KindQuestionOpened, api.Question{
				ID: "q2", Kind: api.QuestionChoice, State: api.QuestionAnswered, By: text, Reason: text, Request: json.RawMessage(`{}`),
				Choices: []api.Choice{{Question: text, Options: []api.Option{{Label: text}}}}, Answer: &api.Answer{Choices: map[string]api.ChoiceAnswer{text: {Labels: []string{text}}}},
			})
			s.Hub(api.KindQuestionOpened, api.Question{ID: "q3", Kind: api.QuestionPlan, State: api.QuestionOpen, Plan: &api.Plan{Text: text}, Request: json.RawMessage(`{}`)})
			for _, line := range []string{
				`{"type":"result","subtype":%s,"is_error":true,"errors":[%[1]s],"result":%[1]s,"structured_output":{"x":%[1]s}}`,
				`{"type":"system","subtype":"hook_response","hook_id":%s,"hook_name":%[1]s,"output":%[1]s,"outcome":%[1]s}`,
				`{"type":"system","subtype":"task_started","task_id":%s,"description":%[1]s,"task_type":%[1]s}`,
				`{"type":"system","subtype":"task_notification","task_id":"x","status":%s,"summary":%[1]s,"reason":%[1]s}`,
				`{"type":"system","subtype":"api_retry","error":%s,"attempt":1}`,
				`{"type":"rate_limit_event","rate_limit_info":{"status":%s,"rateLimitType":%[1]s,"resetsAt":1e300}}`,
				`{"type":"system","subtype":"local_command_output","content":%s}`,
				`{"type":"system","subtype":%s,"x":%[1]s}`,
				`{"type":"auth_status","output":[%s],"error":%[1]s}`,
				`{"type":"system","subtype":"init","model":%s,"cwd":%[1]s,"mcp_servers":[{"name":%[1]s,"status":"failed"}],"plugin_errors":[{"plugin":%[1]s,"message":%[1]s}]}`,
				`{"type":"error","error":{"type":%s,"message":%[1]s}}`,
			} {
				s.Line(strings.ReplaceAll(line, "%[1]s", q), q)
			}
			s.Add(api.Event{Kind: api.KindLine, Text: text})
			s.Hub(api.KindNotice, api.Notice{Text: text})
			s.Hub(api.KindRunEnded, api.Ended{Reason: text, Stderr: text})
			s.Hub(text+"x", text)
			c := logtest.Read(s.Events)
			check(t, c, 1, 7, 80)
			state := c.State()
			for _, todo := range state.Todos {
				for _, line := range talk.TodoLines(paint.Profile{}.Styles(), []transcript.Todo{todo}, 40) {
					if what := bad(line); what != "" {
						t.Errorf("%s in a list of what is to do", what)
					}
				}
			}
		})
	}
}

// TestLarge holds that an item keeps at most a mebibyte of a text, says so, and that a tool's result of a single long line is drawn in a
// bounded number of lines.
func TestLarge(t *testing.T) {
	long := strings.Repeat("0123456789", 1<<20)
	for name, text := range map[string]string{"one line": long, "many lines": strings.ReplaceAll(long[:2<<20], "9", "\n")} {
		t.Run(name, func(t *testing.T) {
			var s logtest.Script
			rather := text[:1<<20+1<<16] // enough to be cut
			s.Call("t1", "Write", `{"file_path":"/x","content":`+logtest.Quoted(rather)+`}`, "")
			s.Gave("t1", text, false, "")
			s.Say(rather, "")
			s.Line(`{"type":"of_tomorrow","text":%s}`, logtest.Quoted(rather))
			s.Hub(api.KindMessage, api.Message{ID: "m", UUID: "p", Text: rather, State: api.MessageSent})
			s.Line(`{"type":"system","subtype":"local_command_output","content":%s}`, logtest.Quoted(rather))
			c := logtest.Read(s.Events)
			const most = 1<<20 + 200 // and what says that something was left out
			for i := range c.Len() {
				it := c.Item(i)
				if it.Tool != nil {
					if len(it.Tool.Output) > most || len(it.Tool.Input) > most || it.Tool.Left == 0 {
						t.Errorf("a tool keeps %d and %d bytes, %d left out", len(it.Tool.Output), len(it.Tool.Input), it.Tool.Left)
					}
					if !strings.Contains(it.Tool.Output, "switchboard show s1 --event 2]") {
						t.Error("it is not said where the rest is")
					}
				} else if len(it.Text) > most || len(it.Raw) > most || it.Left == 0 {
					t.Errorf("kind %d keeps %d and %d bytes, %d left out", it.Kind, len(it.Text), len(it.Raw), it.Left)
				}
				look := talk.Look{Width: 80, Unfolded: func(*transcript.Item) bool { return true }, Session: "s1"}
				lines := look.Lines(it)
				if it.Kind != transcript.KindText && len(lines) > 700 {
					t.Errorf("kind %d: %d lines", it.Kind, len(lines))
				}
				if it.Tool == nil && !strings.Contains(lines[len(lines)-1], "left out") {
					t.Errorf("kind %d: the last line is %q", it.Kind, lines[len(lines)-1])
				}
			}
		})
	}
}

func FuzzConversation(f *testing.F) {
	for _, e := range logtest.Whole() {
		f.Add(e.Kind, string(e.Line), string(e.Data), uint8(3))
	}
	for _, line := range logtest.Samples {
		f.Add(api.KindLive, line, "", uint8(7))
	}
	f.Add(api.KindLive, `{"type":"stream_event","event":{"type":"message_start","message":{"id":"m"}}}`, `{}`, uint8(1))
	f.Add(api.KindLive, `{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"x"}}}`, `{}`, uint8(1))
	base := logtest.Whole()
	f.Fuzz(func(t *testing.T, kind, line, data string, at uint8) {
		// The event in question stands in a real log, and twice: once before what it may tell of, once after.
		events := append([]api.Event(nil), base...)
		for _, i := range []int{int(at) % len(events), len(events) - 1} {
			events[i].Kind, events[i].Line, events[i].Data = kind, json.RawMessage(line), json.RawMessage(data)
		}
		c := logtest.Read(events)
		if c.Len() > 100*len(events)+4000 {
			t.Fatalf("%d items of %d events", c.Len(), len(events))
		}
		check(t, c, 30)
		c.State()
		if kind == api.KindLive {
			return
		}
		half := len(events) / 2
		pages := logtest.Read(events[half:])
		pages.Prepend(events[:half])
		want, got := logtest.Dump(t, c), logtest.Dump(t, pages)
		if strings.Join(want, "\n") != strings.Join(got, "\n") {
			t.Fatalf("from the beginning:\n%s\nin pages:\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
		}
	})
}

// TestNoEvents holds that nothing is asked of events that are not complete.
func TestNoEvents(t *testing.T) {
	var c transcript.Conversation
	c.Frame(api.Frame{})
	for _, kind := range []api.FrameType{api.FrameEvent, api.FrameLive, api.FramePartial, api.FrameResume, api.FrameClosing, api.FrameHeartbeat} {
		c.Frame(api.Frame{Type: kind})
	}
	c.Event(&api.Event{})
	c.Prepend(nil)
	c.Prepend([]api.Event{{}})
	c.Seed(&api.Session{})
	check(t, &c, 1, 80)
	c.Item(0)
	for _, kind := range []transcript.Kind{transcript.KindTool, transcript.KindQuestion, transcript.KindResult, transcript.KindPrompt, transcript.KindUnknown, 99} {
		(&talk.Look{Now: time.Now(), Unfolded: func(*transcript.Item) bool { return true }}).Lines(&transcript.Item{Kind: kind})
	}
}
