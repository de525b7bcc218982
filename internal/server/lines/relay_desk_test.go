package lines

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/wire"
)

// took waits until the hub has been given n lines, and returns the last.
func (h *stage) took(t *testing.T, n int) submission {
	t.Helper()
	h.await(t, fmt.Sprint(n, " lines"), func() bool { return len(h.lines) >= n })
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lines[n-1]
}

const hi = `{"type":"user","message":{"role":"user","content":"hi"},"uuid":"11111111-2222-4333-8444-555555555555"}`

func TestRelayRouting(t *testing.T) {
	answer := func(id, more string) string {
		return `{"type":"control_response","response":{"subtype":"success","request_id":"` + id + `","response":{}}` + more + `}`
	}
	asks := func(id string) string { return strings.Replace(ask, `"r1"`, `"`+id+`"`, 1) }
	one, two := asksFor("s1", asks("r1"), asks("rr")), asksFor("s2", asks("r2"), asks("rr"))
	both := newStage(t, one, two)
	stages := map[string]*stage{"both": both, "one": newStage(t, idle("s1"), ended("s2")), "none": newStage(t, ended("s2"))}
	tests := []struct {
		name    string
		stage   string
		query   string
		line    string
		session string
		refused string // the code
	}{
		{"?session=", "both", "?session=s2", hi, "s2", ""},
		{"?session= counts more than session_id", "both", "?session=s2", strings.Replace(hi, `"uuid"`, `"session_id":"c-s1","uuid"`, 1), "s2", ""},
		{"conversation", "both", "", strings.Replace(hi, `"uuid"`, `"session_id":"c-s1","uuid"`, 1), "s1", ""},
		{"id", "both", "", strings.Replace(hi, `"uuid"`, `"session_id":"`+both.id("s2")+`","uuid"`, 1), "s2", ""},
		{"unknown conversation", "one", "", strings.Replace(hi, `"uuid"`, `"session_id":"what","uuid"`, 1), "", api.CodeNotFound},
		{"default", "one", "", strings.Replace(hi, `"uuid"`, `"session_id":"default","uuid"`, 1), "s1", ""},
		{"the only one", "one", "", hi, "s1", ""},
		{"several", "both", "", hi, "", api.CodeConflict},
		{"none", "none", "", hi, "", api.CodeEnded},
		{"answer by its request", "both", "", answer("r2", ""), "s2", ""},
		{"answer to nothing, one session", "one", "", answer("r9", ""), "s1", ""},
		{"answer to nothing, several", "both", "", answer("r9", ""), "", api.CodeNotFound},
		{"answer to what another session asks", "both", "?session=s1", answer("r2", ""), "s1", ""},
		{"answer to two", "both", "", answer("rr", ""), "", api.CodeConflict},
		{"answer to two, one named", "both", "", answer("rr", `,"session_id":"c-s2"`), "s2", ""},
		{"answer in another form", "both", "", `{"type":"control_response","request_id":"r2","permission":{"allow":true}}`, "s2", ""},
		{"anything else", "one", "", `{"type":"update_environment_variables","variables":{}}`, "s1", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := stages[tt.stage]
			h.lines = nil
			c := newRig(t, h, nil).dial(t, tt.query)
			switch {
			case tt.stage == "one":
				c.greeted(nil, "s1")
			case tt.query == "?session=s1":
				c.greeted([]string{labeled("s1", asks("r1")), labeled("s1", asks("rr"))}, "s1")
			case tt.query == "?session=s2":
				c.greeted([]string{labeled("s2", asks("r2")), labeled("s2", asks("rr"))}, "s2")
			case tt.stage == "both":
				c.greeted([]string{labeled("s1", asks("r1")), labeled("s2", asks("r2")), labeled("s1", asks("rr")), labeled("s2", asks("rr"))}, "s1", "s2")
			}
			c.say(tt.line)
			if tt.refused != "" {
				if s := c.refused(); s.Code != tt.refused {
					t.Errorf("refused with %+v", s)
				}
				if len(h.lines) > 0 {
					t.Errorf("the hub was given %v", h.lines)
				}
				return
			}
			got := h.took(t, 1)
			want := submission{hub.Actor{Source: "person", Name: got.by.Name, Admin: true}, tt.session, tt.line}
			if got != want || !strings.HasPrefix(got.by.Name, "ada (relay ") {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

func TestRelayFraming(t *testing.T) {
	h := newStage(t, idle("s1"))
	c := newRig(t, h, nil).dial(t, "?session=s1")
	c.expect(connected("s1")...)
	prompt := func(i int) string {
		return fmt.Sprintf(`{"type":"user","uuid":"u%d","message":{"role":"user","content":"a\"}{b"}}`, i)
	}
	c.say(prompt(1))                                                               // without a line end
	c.say(prompt(2) + "\n")                                                        // with one
	c.say(prompt(3) + "\r\n\n  \n" + prompt(4))                                    // several
	c.say(prompt(5)[:20])                                                          // in pieces
	c.say(prompt(5)[20:])                                                          //
	c.say(`{"type":"keep_alive"}`)                                                 // nothing
	c.say(`{"type":"auth","token":"x"}`)                                           // known already
	c.say("")                                                                      //
	long := strings.Replace(prompt(6), "a", strings.Repeat("a", chunk+chunk/2), 1) // more than is read at once
	c.say(long)
	c.say(prompt(7))
	h.took(t, 7)
	for i := range 7 {
		want := prompt(i + 1)
		if i == 5 {
			want = long
		}
		if h.lines[i].line != want {
			t.Errorf("line %d is %.200s", i, h.lines[i].line)
		}
	}
}

func TestRelayPromptsKeepTheirOrder(t *testing.T) {
	h := newStage(t, idle("s1"))
	c := newRig(t, h, nil).dial(t, "?session=s1")
	c.expect(connected("s1")...)
	const n = 100
	for i := range n {
		c.say(fmt.Sprintf(`{"type":"user","uuid":"%d"}`, i))
	}
	h.took(t, n)
	for i, v := range h.lines {
		if !strings.Contains(v.line, fmt.Sprintf(`"uuid":"%d"`, i)) {
			t.Errorf("line %d is %s", i, v.line)
		}
	}
}

// TestRelayPromptIsShownToOthers has a prompt shown to everybody but who sent it, with
// the conversation that it is for.
func TestRelayPromptIsShownToOthers(t *testing.T) {
	h := newStage(t, idle("s1"))
	h.submit = func(_ context.Context, v submission) ([]byte, error) {
		sent := &api.Event{Session: "s1", Run: 1, Kind: api.KindSent, By: v.by.Name, Line: []byte(v.line)}
		mark, _ := marker("s1")
		h.publish(sent, mark) // before its sender hears of it
		return nil, nil
	}
	r := newRig(t, h, nil)
	a, b := r.dial(t, ""), r.dial(t, "?session=s1")
	a.expect(connected("s1")...)
	b.expect(connected("s1")...)
	_, text := marker("s1")
	a.say(hi)
	a.expect(text)
	b.expect(labeled("s1", hi), text)
	const named = `{"type":"user","session_id":"x","message":{"role":"user","content":"ho"}}`
	b.say(named)
	b.expect(text)
	a.expect(labeled("s1", named), text) // of equal names the last one counts
	// Another client uses the same uuid.
	h.publish(prompted("s1", hi))
	a.expect(labeled("s1", hi))
}

// prompted is a prompt of another client that is written to an agent.
func prompted(session, text string) *api.Event {
	return &api.Event{Session: session, Run: 1, Kind: api.KindSent, Line: []byte(text)}
}

func TestRelayRefusedPromptIsForgotten(t *testing.T) {
	h := newStage(t, idle("s1"))
	h.submit = func(context.Context, submission) ([]byte, error) {
		return nil, &api.Error{Code: api.CodeForbidden, Title: "no, you are disconnected", Hint: "ask"}
	}
	c := newRig(t, h, nil).dial(t, "")
	c.expect(connected("s1")...)
	c.say(hi)
	// Front ends take the word for the end of all agents.
	if s := c.refused(); s.Code != api.CodeForbidden || s.Text != "no, you are not connected (ask)" || h.named(s.Session) != "s1" {
		t.Errorf("got %+v", s)
	}
	h.publish(prompted("s1", hi))
	c.expect(labeled("s1", hi))
}

const allow = `{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{"behavior":"allow","updatedInput":{}}}}`

func TestRelayAnswers(t *testing.T) {
	_, text := marker("s1")
	settle := func(h *stage, by string) {
		mark, _ := marker("s1")
		h.publish(settledBy("s1", "r1", by), mark)
	}
	lost := &api.Error{Code: api.CodeAlreadySettled, Title: "the question was answered already by bob"}
	tests := []struct {
		name   string
		submit func(h *stage, by string) error
		want   []string // what the one that answers sees
	}{
		{"accepted, and seen before that", func(h *stage, by string) error { settle(h, by); return nil }, []string{text}},
		{"too late", func(*stage, string) error { return lost }, []string{refused(lost)}},
		{"refused for another reason", func(*stage, string) error { return errors.New("disk full") }, []string{refused(New(nil, nil, nil).problem(errors.New("x")))}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newStage(t, asking())
			h.submit = func(_ context.Context, v submission) ([]byte, error) { return nil, tt.submit(h, v.by.Name) }
			r := newRig(t, h, nil)
			a, b := r.dial(t, ""), r.dial(t, "")
			a.expect(append(connected("s1"), labeled("s1", ask))...)
			b.expect(append(connected("s1"), labeled("s1", ask))...)
			a.say(allow)
			a.expect(h.fill(tt.want)...)
			mark, _ := marker("s1")
			if tt.want[0] == text {
				b.expect(labeled("s1", cancelled), text)
				h.publish(settled("s1", "r1"), mark) // it is only its own once
				a.expect(text)
				return
			}
			// Somebody else has settled it.
			h.publish(settled("s1", "r1"), mark)
			a.expect(labeled("s1", cancelled), text)
			b.expect(labeled("s1", cancelled), text)
		})
	}
	t.Run("lost while under way", func(t *testing.T) {
		h := newStage(t, asking())
		seen := make(chan struct{})
		h.submit = func(context.Context, submission) ([]byte, error) {
			settle(h, "bob")
			<-seen
			return nil, lost
		}
		a := newRig(t, h, nil).dial(t, "")
		a.expect(append(connected("s1"), labeled("s1", ask))...)
		a.say(allow)
		a.expect(labeled("s1", cancelled), text)
		close(seen)
		a.expect(h.fill([]string{refused(lost)})...)
	})
	t.Run("accepted before it is seen", func(t *testing.T) {
		h := newStage(t, asking())
		var by string // read when the answer has come
		h.submit = func(_ context.Context, v submission) ([]byte, error) {
			by = v.by.Name
			return []byte(`{"type":"done"}`), nil
		}
		a := newRig(t, h, nil).dial(t, "")
		a.expect(append(connected("s1"), labeled("s1", ask))...)
		a.say(allow)
		a.expect(`{"type":"done"}`)
		settle(h, by)
		a.expect(text)
	})
}

func refused(e *api.Error) string { return string(refusal(e, "r1", "s1")) }

// fill puts the ids of sessions into refusals.
func (h *stage) fill(lines []string) []string {
	var filled []string
	for _, l := range lines {
		filled = append(filled, strings.ReplaceAll(l, `"s1"`, `"`+h.id("s1")+`"`))
	}
	return filled
}

func TestRelayRefusals(t *testing.T) {
	tests := []struct{ line, code string }{
		{`what`, api.CodeInvalid},
		{`5`, api.CodeInvalid},
		{`null`, api.CodeInvalid},
		{`[1]`, api.CodeInvalid},
		{`}{`, api.CodeInvalid},
		{`{"a":1}{"b":2}`, api.CodeInvalid},
		{"\x00", api.CodeInvalid},
	}
	h := newStage(t, idle("s1"))
	c := newRig(t, h, nil).dial(t, "")
	c.expect(connected("s1")...)
	for _, tt := range tests {
		c.say(tt.line + "\n")
		if s := c.refused(); s.Code != tt.code {
			t.Errorf("%q was refused with %+v", tt.line, s)
		}
	}
	if len(h.lines) > 0 {
		t.Errorf("the hub was given %v", h.lines)
	}
}

func TestRelayRequestsAreAnswered(t *testing.T) {
	h := newStage(t, idle("s1"), idle("s2"))
	const request = `{"type":"control_request","request_id":"mine","request":{"subtype":"interrupt"}}`
	const done = `{"type":"control_response","response":{"subtype":"success","request_id":"mine"}}`
	h.submit = func(_ context.Context, v submission) ([]byte, error) {
		if v.session == "s2" {
			return nil, errors.New("disk full")
		}
		return []byte(done), nil
	}
	r := newRig(t, h, nil)
	for _, tt := range []struct{ query, want string }{
		{"?session=s1", done},
		{"?session=s2", `"error_code":"internal"`},
		{"", `"error_code":"conflict"`},
	} {
		c := r.dial(t, tt.query)
		if name, one := strings.CutPrefix(tt.query, "?session="); one {
			c.greeted(nil, name)
		} else {
			c.greeted(nil, "s1", "s2")
		}
		c.say(request)
		got := c.next()
		head, err := wire.Peek([]byte(got))
		if err != nil || !head.Is("control_response", "") || string(head.RequestID) != "mine" || !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %s", tt.query, got)
		}
	}
}

// TestRelayTooManyRequests has more asked than is worked on. What is no request is
// taken nevertheless, as soon as it can be.
func TestRelayTooManyRequests(t *testing.T) {
	h := newStage(t, idle("s1"))
	hold := make(chan struct{})
	h.submit = func(_ context.Context, v submission) ([]byte, error) {
		if strings.Contains(v.line, "control_request") {
			<-hold
		}
		return nil, nil
	}
	c := newRig(t, h, nil).dial(t, "?session=s1")
	c.expect(connected("s1")...)
	for i := range maxRequests {
		c.say(fmt.Sprintf(`{"type":"control_request","request_id":"%d","request":{"subtype":"interrupt"}}`, i))
	}
	h.took(t, maxRequests)
	c.say(`{"type":"control_request","request_id":"more","request":{"subtype":"interrupt"}}`)
	if got := c.next(); !strings.Contains(got, `"request_id":"more"`) || !strings.Contains(got, `"subtype":"error"`) {
		t.Errorf("got %s", got)
	}
	const n = 5 * maxLines
	for i := range n {
		c.say(fmt.Sprintf(`{"type":"user","uuid":"%d"}`, i))
	}
	if last := h.took(t, maxRequests+n); !strings.Contains(last.line, fmt.Sprintf(`"uuid":"%d"`, n-1)) {
		t.Errorf("the last is %s", last.line)
	}
	close(hold)
}

// TestRelayLongLinesWait does not read on while long lines are under way.
func TestRelayLongLinesWait(t *testing.T) {
	h := newStage(t, idle("s1"))
	hold := make(chan struct{})
	h.submit = func(context.Context, submission) ([]byte, error) {
		<-hold
		return nil, nil
	}
	r := newRig(t, h, nil)
	r.relay.maxBytes = 64 << 10
	c := r.dial(t, "?session=s1")
	c.expect(connected("s1")...)
	long := `{"type":"control_request","request_id":"1","request":{"subtype":"x","x":"` + strings.Repeat("x", r.relay.maxBytes*2/3) + `"}}`
	c.say(long)
	h.took(t, 1)
	said := make(chan struct{})
	go func() {
		defer close(said)
		c.say(long)
		c.say(`what`)
	}()
	mark, text := marker("s1")
	h.publish(mark)
	c.expect(text)
	h.mu.Lock()
	if len(h.lines) != 1 {
		t.Errorf("%d lines are under way", len(h.lines))
	}
	h.mu.Unlock()
	close(hold)
	h.took(t, 2)
	<-said
	c.refused()
}

// TestRelaySaidAndGone does what was said by somebody who has left.
func TestRelaySaidAndGone(t *testing.T) {
	h := newStage(t, idle("s1"))
	hold, done := make(chan struct{}), make(chan error, 1)
	h.submit = func(ctx context.Context, _ submission) ([]byte, error) {
		<-hold
		done <- ctx.Err()
		return nil, nil
	}
	r := newRig(t, h, nil)
	c := r.dial(t, "?session=s1")
	c.say(hi)
	h.took(t, 1)
	_ = c.ws.CloseNow()
	h.await(t, "the front end to be gone", func() bool { return h.open == 0 })
	close(hold)
	if err := <-done; err != nil {
		t.Errorf("it was given up: %v", err)
	}
}

// TestRelayTooLong refuses what is too long and goes on.
func TestRelayTooLong(t *testing.T) {
	h := newStage(t, idle("s1"))
	r := newRig(t, h, nil)
	r.relay.maxLine = 64 << 10
	c := r.dial(t, "?session=s1")
	c.expect(connected("s1")...)
	part := strings.Repeat("x", 16<<10)
	c.say(`{"type":"user","x":"`)
	for range 5 {
		c.say(part)
	}
	c.say(`"}`)
	if s := c.refused(); s.Code != api.CodeTooLarge {
		t.Errorf("got %+v", s)
	}
	c.say(hi)
	if got := h.took(t, 1); got.line != hi {
		t.Errorf("got %.100s", got.line)
	}
	c.say(strings.Repeat("x", r.relay.maxLine+2*spare))
	if _, closed := c.end(); closed.Code != websocket.StatusMessageTooBig {
		t.Errorf("a message that is too long: %v", closed)
	}
}
