package shim

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/wire"
)

func streamEvent(parent, event string) string {
	return fmt.Sprintf(`{"type":"stream_event","event":{"type":%q},"parent_tool_use_id":%s}`, event, parent)
}

// livePlaces returns the places of the live lines that the hub got.
func (h *testHub) livePlaces() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for _, r := range h.live {
		out = append(out, fmt.Sprintf("%d.%d", r.Number, r.K))
	}
	return out
}

// TestLiveLinesComeAgain has a hub restarted while messages are being written.
func TestLiveLinesComeAgain(t *testing.T) {
	hub := newHub(t)
	start(t, newSpec(t, hub.socket, "echo", ""), nil)
	hub.event(link.EventStarted) // durable 1
	number := int64(0)
	speak := func(line string) {
		t.Helper()
		number++
		hub.command(number, line)
	}
	expect := func(places ...string) {
		t.Helper()
		hub.wait(fmt.Sprint("live lines ", places), func() bool { return len(hub.live) >= len(places) })
		if got := hub.livePlaces(); !slices.Equal(got, places) {
			t.Fatalf("live lines %v, expected %v", got, places)
		}
	}
	restart := func() {
		hub.restart(0)
		hub.update(func() { hub.live = nil })
	}
	speak(streamEvent("null", "message_start"))         // 1.1
	speak(streamEvent("null", "content_block_delta"))   // 1.2
	speak(`{"type":"tool_progress","tool_use_id":"t"}`) // 1.3, not of a message
	speak(`{"type":"user"}`)                            // 2
	speak(`{"type":"keep_alive"}`)                      // for nobody
	speak(streamEvent(`"sub"`, "message_start"))        // 2.1
	speak(streamEvent("null", "content_block_delta"))   // 2.2
	expect("1.1", "1.2", "1.3", "2.1", "2.2")
	restart()
	expect("1.1", "1.2", "2.1", "2.2")
	speak(streamEvent("null", "message_stop")) // 2.3
	expect("1.1", "1.2", "2.1", "2.2", "2.3")
	restart()
	expect("2.1")
	speak(`{"type":"result"}`) // 3
	hub.wait("the result", func() bool { return len(hub.records) == 3 })
	restart()
	speak(`{"type":"user"}`) // 4
	hub.wait("the next line", func() bool { return len(hub.records) == 4 })
	expect()
	hub.check()
	if got := hub.lines(); len(got) != 3 {
		t.Errorf("lines %q", got)
	}
}

// TestNamesOfStreamEvents has members whose names differ from those of a stream
// event in case alone, and mean nothing: the message that is being written goes on.
func TestNamesOfStreamEvents(t *testing.T) {
	for _, line := range []string{
		`{"type":"stream_event","Event":{"type":"message_stop"}}`,
		`{"type":"stream_event","event":{"TYPE":"message_stop"}}`,
		`{"type":"stream_event","event":{"type":"content_block_delta","Type":"message_start"}}`,
		`{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"message_stop"}}}`,
	} {
		out := link.NewOutgoing(0, 0)
		for _, line := range []string{streamEvent("null", "message_start"), line} {
			header, err := wire.Peek([]byte(line))
			if err != nil {
				t.Fatal(err)
			}
			a := arrivalOf([]byte(line), &header, wire.ClassOf(header))
			route(out, &a)
		}
		if err := out.Connect(0); err != nil {
			t.Fatal(err)
		}
		var lines link.Decoder
		lines.Push(out.AppendFrame(nil))
		n := 0
		for {
			_, ok, err := lines.Next()
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				break
			}
			n++
		}
		if n != 2 {
			t.Errorf("after %s a hub that comes later is sent %d lines of the message, want 2", line, n)
		}
	}
}

// TestPreviousVersion has a hub of the version before.
func TestPreviousVersion(t *testing.T) {
	hub := newHub(t)
	hub.version = 0
	r := start(t, newSpec(t, hub.socket, "echo", ""), nil)
	hub.event(link.EventStarted)
	hub.command(1, `{"type":"user"}`)
	hub.written(1)
	hub.command(1, `{"type":"user"}`)
	hub.wait("it is refused", func() bool { return len(hub.texts) == 2 })
	hub.cut()
	hub.wait("the shim is back", func() bool { return len(hub.hellos) == 2 && hub.conn != nil })
	hub.command(2, `{"type":"user"}`)
	hub.written(2)
	hub.tell(&link.CloseInput{})
	hub.event(link.EventExited)
	if code := r.wait(); code != exitDone {
		t.Errorf("the shim ended with %d", code)
	}
	hub.check()
	for _, text := range hub.raw {
		if strings.Contains(text, "up_to") || strings.Contains(text, "refused") {
			t.Errorf("a hub of version 0 was told %s", text)
		}
	}
}

// TestNewerHub has a hub that says what nobody knows yet.
func TestNewerHub(t *testing.T) {
	hub := newHub(t)
	hub.prelude = []link.Message{&link.Unknown{Tag: "of_tomorrow"}}
	hub.reply = func(*link.Hello) link.Message {
		return &link.Welcome{Version: link.Version + 7, Have: hub.have, Next: 1}
	}
	start(t, newSpec(t, hub.socket, "echo", ""), nil)
	hub.event(link.EventStarted)
	hub.tell(&link.Unknown{Tag: "of_tomorrow"})
	hub.command(1, `{"type":"user"}`)
	hub.written(1)
	hub.wait("the echo", func() bool { return len(hub.records) == 2 })
	if len(hub.hellos) != 1 || hub.hellos[0].Version != link.Version {
		t.Errorf("hellos %+v", hub.hellos)
	}
}

// TestHubThatIsAhead has a hub that says it has lines which were never sent.
func TestHubThatIsAhead(t *testing.T) {
	hub := newHub(t)
	hub.reply = func(*link.Hello) link.Message {
		if len(hub.hellos) == 1 {
			return &link.Welcome{Version: link.Version, Have: 100, Next: 1}
		}
		return nil
	}
	start(t, newSpec(t, hub.socket, "echo", ""), nil)
	hub.event(link.EventStarted)
	hub.check()
}

// TestRestoredBackup has a hub that comes back with less than it had.
func TestRestoredBackup(t *testing.T) {
	hub := newHub(t)
	start(t, newSpec(t, hub.socket, "echo", ""), nil)
	for n := int64(1); n <= 9; n++ {
		hub.command(n, fmt.Sprintf(`{"type":"user","n":%d}`, n))
	}
	hub.wait("all lines", func() bool { return len(hub.records) == 10 })
	hub.written(9)
	// What the welcome says is acknowledged for certain once a command that
	// came after it is written.
	hub.cut()
	hub.wait("the shim is back", func() bool { return len(hub.hellos) == 2 && hub.conn != nil })
	hub.command(10, `{"type":"user","n":10}`)
	hub.wait("its echo", func() bool { return len(hub.records) == 11 })
	hub.written(10)
	hub.stop()
	hub.update(func() {
		hub.records, hub.have, hub.next = hub.records[:4], 4, 3
		hub.incoming = link.NewIncoming(4)
	})
	hub.listen()
	hub.wait("the shim is back", func() bool { return hub.conn != nil })
	hub.mu.Lock()
	gaps, next := hub.gaps, hub.next
	hub.mu.Unlock()
	// What had been acknowledged is lost; the last line may not have been.
	if len(gaps) != 1 || gaps[0].From != 5 || gaps[0].To < 10 || gaps[0].To > 11 || next != 11 {
		t.Fatalf("gaps %v; the next command is %d", gaps, next)
	}
	hub.command(next, `{"type":"user","n":11}`)
	hub.wait("the next line", func() bool { return hub.records[len(hub.records)-1].Number == 12 })
	for i, r := range hub.records[4:] {
		if r.Number != gaps[0].To+1+int64(i) {
			t.Errorf("record %d comes after the gap %v", r.Number, gaps[0])
		}
	}
}

// TestFailedCommands has commands that cannot be written any more.
func TestFailedCommands(t *testing.T) {
	hub := newHub(t)
	start(t, newSpec(t, hub.socket, "stubborn", ""), nil)
	hub.event(link.EventStarted)
	hub.tell(&link.CloseInput{})
	hub.command(1, `{"type":"user"}`)
	failed := func() (list []int64) {
		for _, m := range hub.texts {
			if f, ok := m.(*link.Failed); ok && f.Reason != "" {
				list = append(list, f.Number)
			}
		}
		return list
	}
	hub.wait("it failed", func() bool { return slices.Equal(failed(), []int64{1}) })
	hub.cut()
	hub.wait("the shim is back", func() bool { return len(hub.hellos) == 2 && hub.conn != nil })
	hub.mu.Lock()
	last := hub.hellos[1]
	hub.mu.Unlock()
	if len(last.Failed) != 1 || last.Failed[0].Number != 1 || last.Written != 0 {
		t.Errorf("hello: %+v", last)
	}
	hub.command(1, `{"type":"user"}`)
	hub.wait("it is said again", func() bool { return slices.Equal(failed(), []int64{1, 1}) })
}

// TestSimulatedCLI has a whole conversation with a question in it, the hub
// restarted at every step, and compares with the CLI's own record.
func TestSimulatedCLI(t *testing.T) {
	hub := newHub(t)
	spec, recordFile := simSpec(t, hub.socket)
	r := start(t, spec, nil)
	hub.event(link.EventStarted)
	prompt, err := wire.NewUser(wire.TextContent("@tool Bash {\"command\":\"rm -r build\"}\n@result gone\n@say All is well."), nil)
	if err != nil {
		t.Fatal(err)
	}
	hub.restart(0)
	hub.command(1, string(prompt))
	var question string
	hub.wait("the question", func() bool {
		for _, line := range hub.linesLocked() {
			if h, err := wire.Peek([]byte(line)); err == nil && h.Is("control_request", "") {
				question = line
			}
		}
		return question != ""
	})
	hub.restart(0)
	message, err := wire.Decode([]byte(question))
	if err != nil {
		t.Fatal(err)
	}
	request, ok := message.(*wire.ControlRequest)
	if !ok {
		t.Fatalf("the question is %T", message)
	}
	answer, err := wire.NewPermission(request, &wire.Allow{})
	if err != nil {
		t.Fatal(err)
	}
	hub.command(2, string(answer))
	hub.wait("the result", func() bool {
		return slices.ContainsFunc(hub.linesLocked(), func(line string) bool {
			h, err := wire.Peek([]byte(line))
			return err == nil && h.Is("result", "")
		})
	})
	hub.restart(0)
	hub.tell(&link.CloseInput{})
	if e := hub.event(link.EventExited); e.Code == nil || *e.Code != 0 {
		t.Errorf("exited: %+v", e)
	}
	r.wait()
	hub.check()
	data, err := os.ReadFile(recordFile)
	if err != nil {
		t.Fatal(err)
	}
	var wrote, read []string
	for line := range strings.Lines(string(data)) {
		var e claudetest.Entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		h, err := wire.Peek([]byte(e.Line))
		switch {
		case e.Read:
			read = append(read, e.Line)
		case err != nil || wire.ClassOf(h) == wire.Durable:
			wrote = append(wrote, e.Line)
		}
	}
	if got := hub.lines(); !slices.Equal(got, wrote) {
		t.Errorf("the hub has %d durable lines, the CLI wrote %d", len(got), len(wrote))
	}
	if want := []string{string(prompt), string(answer)}; !slices.Equal(read, want) {
		t.Errorf("the CLI read %q, expected %q", read, want)
	}
}
