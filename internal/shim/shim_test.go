package shim

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/internal/link"
)

func TestLinesAndCommands(t *testing.T) {
	hub := newHub(t)
	spec := newSpec(t, hub.socket, "echo", "")
	spec.PrivateDir = filepath.Join(t.TempDir(), "private")
	if err := os.Mkdir(spec.PrivateDir, 0o700); err != nil {
		t.Fatal(err)
	}
	r := start(t, spec, nil)
	started := hub.event(link.EventStarted)
	if started.CLIPID <= 0 || started.PID != os.Getpid() || started.PIDStart == "" || started.Version != "2.1.325" {
		t.Errorf("started: %+v", started)
	}
	want := []string{`{"type":"user","n":1}`, `not JSON`, `{"type":"user","n":3}`}
	for i, line := range want {
		hub.command(int64(i)+1, line)
	}
	hub.written(3)
	hub.command(2, `{"type":"user","again":true}`) // must not reach the CLI
	hub.wait("the duplicate is refused", func() bool {
		return slices.ContainsFunc(hub.texts, func(m link.Message) bool {
			refused, ok := m.(*link.Refused)
			return ok && refused.Number == 2
		})
	})
	hub.wait("all lines are back", func() bool { return len(hub.linesLocked()) == len(want) })
	hub.tell(&link.CloseInput{})
	exited := hub.event(link.EventExited)
	if exited.Code == nil || *exited.Code != 0 || exited.Requested || exited.Silent {
		t.Errorf("exited: %+v", exited)
	}
	if code := r.wait(); code != exitDone {
		t.Errorf("the shim ended with %d", code)
	}
	hub.check()
	if got := hub.lines(); !slices.Equal(got, want) {
		t.Errorf("lines %q, expected %q", got, want)
	}
	if hub.tokens[0] != "Bearer sb_test_secret" {
		t.Errorf("the token was shown as %q", hub.tokens[0])
	}
	if _, err := os.Stat(spec.PrivateDir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the private folder is still there: %v", err)
	}
}

func TestReconnects(t *testing.T) {
	hub := newHub(t)
	const lines = 5000
	start(t, newSpec(t, hub.socket, "count", fmt.Sprint(lines)), nil)
	for i := range 5 {
		hub.wait("some lines come", func() bool { return len(hub.records) >= (i+1)*lines/10 && len(hub.hellos) > i })
		hub.restart(0)
	}
	hub.wait("all lines are there", func() bool { return len(hub.linesLocked()) == lines })
	hub.check()
	for i, line := range hub.lines() {
		if !strings.HasPrefix(line, fmt.Sprintf(`{"type":"user","n":%d,`, i+1)) {
			t.Fatalf("line %d is %.60s", i+1, line)
		}
	}
	if len(hub.hellos) < 6 {
		t.Errorf("there were only %d connections", len(hub.hellos))
	}
}

func TestFullBufferStopsTheCLI(t *testing.T) {
	hub := newHub(t)
	const lines = 20_000
	hub.noAck = true
	spec := newSpec(t, hub.socket, "count", fmt.Sprint(lines))
	spec.BufferBytes = 256 << 10
	start(t, spec, nil)
	// What fits is sent and not acknowledged. More must not come.
	per := int64(len(`{"type":"user","n":1,"fill":""}`) + 200)
	hub.wait("the buffer is full", func() bool { return int64(len(hub.records))*per > 128<<10 })
	hub.cut()
	hub.wait("the shim is back", func() bool { return len(hub.hellos) >= 2 && hub.conn != nil })
	hub.mu.Lock()
	held := hub.hellos[1].Next - hub.hellos[1].Oldest
	hub.mu.Unlock()
	if most := spec.BufferBytes/per + 2; held > most {
		t.Errorf("the shim held %d lines, the buffer is for %d", held, most)
	}
	hub.update(func() { hub.noAck = false })
	hub.mu.Lock()
	have := hub.have
	hub.mu.Unlock()
	hub.tell(&link.Ack{Have: have})
	hub.wait("all lines are there", func() bool { return len(hub.linesLocked()) == lines })
	hub.check()
}

func TestExitIsReported(t *testing.T) {
	hub := newHub(t)
	spec := newSpec(t, hub.socket, "fail", "no such flag, sk-ant-abcdefgh")
	if code := start(t, spec, nil).wait(); code != exitDone {
		t.Errorf("the shim ended with %d", code)
	}
	e := hub.event(link.EventExited)
	if e.Code == nil || *e.Code != 3 || !e.Silent || e.Requested || !strings.Contains(e.Reason, "exited with code 3") ||
		!strings.Contains(e.Stderr, "no such flag") || strings.Contains(e.Stderr, "abcdefgh") {
		t.Errorf("exited: %+v", e)
	}
}

func TestStartFails(t *testing.T) {
	hub := newHub(t)
	spec := newSpec(t, hub.socket, "echo", "")
	spec.Command.Dir = filepath.Join(t.TempDir(), "missing")
	if code := start(t, spec, nil).wait(); code != exitDone {
		t.Errorf("the shim ended with %d", code)
	}
	e := hub.event(link.EventExited)
	if e.Code != nil || !e.Silent || !strings.Contains(e.Reason, "does not exist") {
		t.Errorf("exited: %+v", e)
	}
}

func TestStop(t *testing.T) {
	for _, role := range []string{"echo", "stubborn"} {
		t.Run(role, func(t *testing.T) {
			hub := newHub(t)
			spec := newSpec(t, hub.socket, role, "")
			spec.Command.InputGrace, spec.Command.TermGrace = 1, 1
			r := start(t, spec, nil)
			hub.event(link.EventStarted)
			hub.tell(&link.Stop{GraceMS: 10, Reason: "asked by a test"})
			hub.event(link.EventStopping)
			e := hub.event(link.EventExited)
			if !e.Requested || !strings.Contains(e.Reason, "asked by a test") {
				t.Errorf("exited: %+v", e)
			}
			if code := r.wait(); code != exitDone {
				t.Errorf("the shim ended with %d", code)
			}
		})
	}
}

// TestStopWhileWriting stops a CLI that never reads its input, so that a command
// is stuck half-way: it ends all the same, and the command's fate is told.
func TestStopWhileWriting(t *testing.T) {
	hub := newHub(t)
	spec := newSpec(t, hub.socket, "stubborn", "")
	spec.Command.InputGrace, spec.Command.TermGrace = 1, 1
	r := start(t, spec, nil)
	hub.event(link.EventStarted)
	hub.command(1, `{"type":"user","text":"`+strings.Repeat("x", 1<<20)+`"}`)
	hub.command(2, `{"type":"control_request","request_id":"i1","request":{"subtype":"interrupt"}}`)
	hub.tell(&link.CloseInput{})
	hub.tell(&link.Stop{GraceMS: 10, Reason: "asked by a test"})
	if e := hub.event(link.EventExited); !e.Requested {
		t.Errorf("exited: %+v", e)
	}
	if code := r.wait(); code != exitDone {
		t.Errorf("the shim ended with %d", code)
	}
	hub.mu.Lock()
	defer hub.mu.Unlock()
	var failed []int64
	for _, m := range hub.texts {
		switch m := m.(type) {
		case *link.Failed:
			failed = append(failed, m.Number)
		case *link.Written:
			t.Errorf("%d is said to be written", m.UpTo)
		default:
		}
	}
	if want := []int64{1, 2}; !slices.Equal(failed, want) {
		t.Errorf("%v have failed, expected %v", failed, want)
	}
}

func TestGone(t *testing.T) {
	hub := newHub(t)
	hub.reply = func(*link.Hello) link.Message { return &link.Gone{Reason: "ended"} }
	spec := newSpec(t, hub.socket, "stubborn", "")
	spec.Command.InputGrace = 1
	if code := start(t, spec, nil).wait(); code != exitDone {
		t.Errorf("the shim ended with %d", code)
	}
	if entries, err := os.ReadDir(spec.SpoolDir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a spool: %v %v", entries, err)
	}
}

func TestOwnedBy(t *testing.T) {
	hub := newHub(t)
	refusals := 0
	hub.reply = func(*link.Hello) link.Message {
		if refusals++; refusals <= 3 {
			return &link.OwnedBy{Instance: "another"}
		}
		return nil
	}
	start(t, newSpec(t, hub.socket, "echo", ""), nil)
	hub.event(link.EventStarted)
	hub.check()
	if len(hub.hellos) != 4 {
		t.Errorf("there were %d attempts", len(hub.hellos))
	}
}

func TestOversizeLine(t *testing.T) {
	hub := newHub(t)
	spec := newSpec(t, hub.socket, "huge", "5000")
	spec.Command.MaxLine = 4000
	start(t, spec, nil)
	hub.wait("the line after it", func() bool { return len(hub.linesLocked()) == 1 })
	hub.mu.Lock()
	defer hub.mu.Unlock()
	var o link.Oversize
	err := json.Unmarshal(hub.records[1].Bytes, &o)
	if err != nil || hub.records[1].Kind != link.TooLong || o.Length != 5000 || len(o.SHA256) != 64 || string(o.Head) != strings.Repeat("x", 1024) {
		t.Errorf("oversize %+v, %v", o, err)
	}
}

func TestLongLine(t *testing.T) {
	hub := newHub(t)
	const length = 5<<20 + 7
	start(t, newSpec(t, hub.socket, "huge", fmt.Sprint(length)), nil)
	hub.wait("both lines", func() bool { return len(hub.linesLocked()) == 2 })
	hub.check()
	if got := hub.lines()[0]; got != strings.Repeat("x", length) {
		t.Errorf("the line has %d bytes", len(got))
	}
	long := `{"type":"user","text":"` + strings.Repeat("y", 3<<20) + `"}`
	hub.command(1, long)
	hub.wait("the echo", func() bool { return len(hub.linesLocked()) == 3 })
	if hub.lines()[2] != long {
		t.Error("the echo differs")
	}
}
