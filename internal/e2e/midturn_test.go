//go:build linux

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/internal/conformance"
)

// A midTurn is a real CLI that dialled in by WebSocket, in a turn whose message
// the model holds back in the middle until it is released.
type midTurn struct {
	*lab
	s       *session
	held    *api.Message
	release func()
	before  int // messages of the model in the transcript, before the turn
}

// heldPrompt is a prompt whose answer the model of a midTurn holds back.
const heldPrompt = "@say Held back, and then said to the end."

// newMidTurn makes the lab of one.
func newMidTurn(t *testing.T, version, config string) *midTurn {
	t.Helper()
	held := make(chan struct{})
	m := &midTurn{release: sync.OnceFunc(func() { close(held) })}
	t.Cleanup(m.release) // before the model is closed, which waits for its requests
	directives := claudetest.Directives(nil)
	m.lab, _ = newRealLabWith(t, version, config, func(r claudetest.Request) claudetest.Reply {
		reply := directives(r)
		if strings.Contains(r.Prompt(), heldPrompt) {
			reply.Fault = claudetest.HoldAfter(4, held) // in the middle of the text
		}
		return reply
	})
	return m
}

// begin has the CLI dial in and do a turn.
func (m *midTurn) begin() {
	m.t.Helper()
	m.s = m.createDialled("websocket", m.patientProxy())
	if err := m.s.turn(m.ctx(), "first", "@say One."); err != nil {
		m.t.Fatal(err)
	}
	m.before = m.said()
}

// said returns how many messages of the model are in the CLI's transcript.
func (m *midTurn) said() int {
	n := 0
	for _, line := range m.transcripts(m.home) {
		if line.Type == "assistant" {
			n++
		}
	}
	return n
}

// hold begins the turn and returns when it streams.
func (m *midTurn) hold() {
	m.t.Helper()
	before := m.s.lives()
	var err error
	if m.held, err = m.s.send(m.ctx(), "held", heldPrompt); err != nil {
		m.t.Fatal(err)
	}
	if err := eventually(patience, func() error {
		if n := m.s.lives() - before; n < 3 {
			return fmt.Errorf("%d live lines", n)
		}
		return nil
	}); err != nil {
		m.t.Fatalf("the turn does not stream: %v", err)
	}
}

// finish has the turn end while no hub is there.
func (m *midTurn) finish() {
	m.t.Helper()
	m.release()
	if err := eventually(patience, func() error {
		if m.said() == m.before {
			return errors.New("the model has not finished")
		}
		return nil
	}); err != nil {
		m.t.Fatal(err)
	}
}

// back starts the hub and waits until the CLI has reconnected and has told what it
// waits for.
func (m *midTurn) back(env ...string) {
	m.t.Helper()
	mark := m.s.mark()
	m.start(env...)
	_, err := m.s.awaitFrom(m.ctx(), mark, "the answer of the CLI that reconnected", func(events []api.Event) bool {
		for _, e := range events {
			if e.Kind == api.KindLine && bytes.Contains(e.Line, []byte("Already initialized")) {
				return true
			}
		}
		return false
	})
	if err != nil {
		m.t.Fatal(err)
	}
}

// turns returns what the journal says about turns whose end was not seen.
func (m *midTurn) turns() []api.TurnChange {
	m.t.Helper()
	var list []api.TurnChange
	m.s.follower.mu.Lock()
	defer m.s.follower.mu.Unlock()
	for _, e := range m.s.follower.events {
		if e.Kind != api.KindTurn {
			continue
		}
		var d api.TurnChange
		if err := json.Unmarshal(e.Data, &d); err != nil {
			m.t.Error(err)
		}
		list = append(list, d)
	}
	return list
}

// lost holds that the end of the turn was lost, which the journal says with its
// reason, or, where the CLI repeats what it wrote, that it is there.
func (m *midTurn) lost(version, reason string) {
	m.t.Helper()
	// The follower may be told later than who has asked.
	if _, err := m.s.await(m.ctx(), "how the turn ended", func(events []api.Event) bool {
		return countKind(events, api.KindTurn) > 0 || version == conformance.LastDialing
	}); err != nil {
		m.t.Fatal(err)
	}
	turns := m.turns()
	ended := turnEndedAs(m.s, "Held back")
	if version == conformance.LastDialing {
		if len(turns) != 0 || !ended {
			m.t.Errorf("the CLI repeats its lines, and the journal has the result: %v, and of turns: %+v", ended, turns)
		}
		return
	}
	if len(turns) != 1 || turns[0].State != api.TurnUnknown || !strings.Contains(turns[0].Reason, reason) || ended {
		m.t.Errorf("the journal has the result: %v, and of turns: %+v; want one that is unknown because %q", ended, turns, reason)
	}
}

// turnEndedAs reports whether there is a result with a text.
func turnEndedAs(s *session, text string) bool {
	s.follower.mu.Lock()
	defer s.follower.mu.Unlock()
	for _, e := range s.follower.events {
		if isResult(e) && bytes.Contains(e.Line, []byte(text)) {
			return true
		}
	}
	return false
}

// TestKillMidTurn kills the hub while a real CLI that dialled in by WebSocket is in
// a turn. 2.1.37 loses what it writes until the next hub is there, 2.1.120 repeats
// it: with both, prompts and interrupts have to work afterwards.
func TestKillMidTurn(t *testing.T) {
	t.Parallel()
	places := []struct {
		name   string
		config string
		test   func(m *midTurn, version string)
	}{
		{"streaming, prompt at once", "", func(m *midTurn, version string) {
			m.start()
			m.begin()
			m.hold()
			m.kill()
			m.finish()
			m.back()
			if err := m.s.turn(m.ctx(), "next", "@say Next."); err != nil {
				m.t.Fatal(err)
			}
			m.lost(version, "the transcript shows that it is over")
		}},
		{"streaming, prompt later", "", func(m *midTurn, version string) {
			m.start()
			m.begin()
			m.hold()
			m.kill()
			m.finish()
			m.back()
			if _, err := m.s.awaitState(m.ctx(), api.StateIdle); err != nil {
				m.t.Fatal(err)
			}
			m.lost(version, "the transcript shows that it is over")
			if err := m.s.turn(m.ctx(), "next", "@say Next."); err != nil {
				m.t.Fatal(err)
			}
		}},
		{"streaming, interrupt", "", func(m *midTurn, version string) {
			// Without a transcript only the interrupt can tell.
			m.start(m.elsewhere())
			m.begin()
			m.hold()
			m.kill()
			m.finish()
			m.back(m.elsewhere())
			if err := m.interrupt(); err != nil {
				m.t.Fatal(err)
			}
			m.lost(version, "answered an interrupt")
			if err := m.s.turn(m.ctx(), "next", "@say Next."); err != nil {
				m.t.Fatal(err)
			}
		}},
		{"prompt just sent", "", func(m *midTurn, version string) {
			m.start()
			m.begin()
			m.stop()
			// The first line after a start is the inquiry, the second the prompt.
			env, file := m.armed("link.after-send:2")
			m.launch(env...)
			sent := make(chan error, 1)
			go func() {
				var err error
				m.held, err = m.s.send(m.ctx(), "held", heldPrompt)
				sent <- err
			}()
			if err := eventually(patience, exists(file)); err != nil {
				m.t.Fatal(err)
			}
			m.kill()
			m.finish()
			m.back()
			if err := <-sent; err != nil {
				m.t.Fatal(err)
			}
			if err := m.s.turn(m.ctx(), "next", "@say Next."); err != nil {
				m.t.Fatal(err)
			}
			m.lost(version, "the transcript shows that it is over")
		}},
		{"streaming, and still under way", "", func(m *midTurn, _ string) {
			m.start()
			m.begin()
			m.hold()
			m.kill()
			m.back()
			next, err := m.s.send(m.ctx(), "next", "@say Next.")
			if err != nil {
				m.t.Fatal(err)
			}
			m.release()
			if err := m.s.awaitTurn(m.ctx(), 0, next); err != nil {
				m.t.Fatal(err)
			}
			if turns := m.turns(); len(turns) != 0 || !turnEndedAs(m.s, "Held back") {
				m.t.Errorf("the journal has of turns: %+v", turns)
			}
		}},
		{"streaming, taken for over", "[dial]\nsilence = \"1s\"\n", func(m *midTurn, _ string) {
			// Without a transcript silence is all there is, and it can be wrong.
			m.start(m.elsewhere())
			m.begin()
			m.hold()
			m.kill()
			m.back(m.elsewhere())
			if _, err := m.s.awaitState(m.ctx(), api.StateIdle); err != nil {
				m.t.Fatal(err)
			}
			next, err := m.s.send(m.ctx(), "next", "@say Next.")
			if err != nil {
				m.t.Fatal(err)
			}
			m.release()
			if _, err := m.s.await(m.ctx(), "both results", func([]api.Event) bool {
				return turnEndedAs(m.s, "Held back")
			}); err != nil {
				m.t.Fatal(err)
			}
			if err := m.s.awaitTurn(m.ctx(), 0, next); err != nil {
				m.t.Fatal(err)
			}
			if turns := m.turns(); len(turns) == 0 || turns[0].State != api.TurnUnknown || !strings.Contains(turns[0].Reason, "was silent for 1s") {
				m.t.Errorf("the journal has of turns: %+v", turns)
			}
		}},
	}
	for _, version := range []string{conformance.Oldest, conformance.LastDialing} {
		for _, place := range places {
			t.Run(version+"/"+place.name, func(t *testing.T) {
				t.Parallel()
				m := newMidTurn(t, version, place.config)
				place.test(m, version)
				m.realVerdict(m.s)
			})
		}
	}
}

// elsewhere is the environment of a hub that cannot find the CLI's transcripts.
func (m *midTurn) elsewhere() string { return "CLAUDE_CONFIG_DIR=" + m.root + "/elsewhere" }

// interrupt interrupts the turn and waits for the answer.
func (m *midTurn) interrupt() error {
	ctx, cancel := context.WithTimeout(m.ctx(), patience)
	defer cancel()
	return m.call(ctx, http.MethodPost, m.s.path("/interrupt"), api.Interrupt{}, nil)
}
