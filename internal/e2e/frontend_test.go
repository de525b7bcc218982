//go:build linux

package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/conformance"
	"github.com/switchboard-dev/switchboard/wire"
)

// A webPage is a front end of the raw relay that sends no token, follows all agents,
// and tells them apart by the session_id of lines alone.
type webPage struct {
	t    *testing.T
	ctx  context.Context
	ws   *websocket.Conn
	tabs map[string][]pageLine // by session_id; "" is for lines that name none
	over []string              // the conversations that have ended
	last string                // the session_id of the last line that had one
}

// A pageLine is what the page reads of a line.
type pageLine struct {
	Type      string `json:"type"`
	Subtype   string `json:"subtype"`
	SessionID string `json:"session_id"`
	RequestID string `json:"request_id"`
	Text      string `json:"text"`
	Content   string `json:"content"`
	Message   struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`
}

// openPage connects as a page of some origin does.
func (l *lab) openPage(t *testing.T, origin string) *webPage {
	t.Helper()
	ws, _, err := websocket.Dial(l.ctx(), "ws://"+l.address+"/ws", &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {origin}}}) //nolint:bodyclose // the library does that
	if err != nil {
		t.Fatal(err)
	}
	ws.SetReadLimit(1 << 26)
	t.Cleanup(func() { _ = ws.CloseNow() })
	return &webPage{t: t, ctx: l.ctx(), ws: ws, tabs: map[string][]pageLine{}}
}

// until reads lines into their tabs up to one of a type, which it returns.
func (p *webPage) until(kind string) pageLine {
	p.t.Helper()
	for {
		_, b, err := p.ws.Read(p.ctx)
		if err != nil {
			p.t.Fatalf("waiting for a line of type %s: %v", kind, err)
		}
		var l pageLine
		if err := json.Unmarshal(b, &l); err != nil {
			p.t.Fatalf("%.200q: %v", b, err)
		}
		switch {
		case l.SessionID != "":
			p.last = l.SessionID
		case l.Type == "init": // the one it has turned to is over
			p.over = append(p.over, p.last)
		}
		if l.Type == "status" && l.Content == "" && strings.Contains(l.Text, "disconnected") {
			p.t.Errorf("all agents are said to have ended: %s", b)
		}
		p.tabs[l.SessionID] = append(p.tabs[l.SessionID], l)
		if l.Type == kind {
			return l
		}
	}
}

// prompts returns the prompts in a tab.
func (p *webPage) prompts(conversation string) (texts []string) {
	for _, l := range p.tabs[conversation] {
		text, plain := wire.StringOf(l.Message.Content)
		for block := range wire.Elements(l.Message.Content) {
			if text, plain = wire.LookupString(block, "text"); plain {
				break
			}
		}
		if l.Type == "user" && plain {
			texts = append(texts, text)
		}
	}
	return texts
}

// conversation returns the CLI's name for a session.
func (s *session) conversation() string {
	s.lab.t.Helper()
	snapshot, err := s.snapshot(s.lab.ctx())
	if err != nil {
		s.lab.t.Fatal(err)
	}
	return snapshot.Conversation
}

// TestRealFrontEnd has a page follow three real CLIs, two of which have dialed in: it
// sees what is said, answers a question, learns which of them has ended, and sees a tab for
// each turn of one with a process per turn.
func TestRealFrontEnd(t *testing.T) {
	t.Parallel()
	l := newRealLab(t, conformance.Newest)
	const origin = "http://localhost:3000"
	l.options.args = append(l.options.args, "--open-relay="+origin, "--open-relay-approve")
	l.start()
	p := l.openPage(t, origin)
	send := func(s *session, text string) {
		t.Helper()
		if _, err := s.send(l.ctx(), text, text); err != nil {
			t.Fatal(err)
		}
	}
	prompts := map[string][]string{} // that the tabs should have
	dialed := func(version string) *session {
		t.Helper()
		program, err := conformance.Program(version)
		if err != nil {
			t.Fatal(err)
		}
		l.options.agent = program // the hub has been told of another
		return l.createDialled("websocket", nil)
	}
	first := dialed(conformance.Oldest)
	send(first, "@say One.")
	p.until("result")
	prompts[first.conversation()] = []string{"@say One."}

	second := dialed(conformance.LastDialing)
	send(second, asking("two"))
	asked := p.until("control_request")
	if asked.SessionID != second.conversation() {
		t.Errorf("the question is of %q; want %s", asked.SessionID, second.conversation())
	}
	answer := `{"type":"control_response","request_id":"` + asked.RequestID + `","permission":{"allow":true}}`
	if err := p.ws.Write(l.ctx(), websocket.MessageText, []byte(answer)); err != nil {
		t.Fatal(err)
	}
	p.until("result")
	if _, err := os.Stat(filepath.Join(second.dir, "two")); err != nil {
		t.Errorf("the tool that was allowed did not run: %v", err)
	}
	prompts[second.conversation()] = []string{asking("two")}

	third := l.mustCreate(func(r *api.CreateSession) { r.Options.Fresh = true })
	for _, text := range []string{"@say Three.", "@say Four."} {
		send(third, text)
		p.until("result")
		prompts[third.conversation()] = []string{text}
		for len(p.over) < len(prompts)-2 {
			p.until("init")
		}
	}
	if err := first.stopAgent(l.ctx()); err != nil {
		t.Fatal(err)
	}
	for len(p.over) < 3 {
		p.until("init")
	}
	if !slices.Contains(p.over, first.conversation()) || slices.Contains(p.over, second.conversation()) {
		t.Errorf("the page takes %q to have ended; the first is %s, the second %s", p.over, first.conversation(), second.conversation())
	}
	send(second, "@say Five.")
	if got := p.until("result").SessionID; got != second.conversation() {
		t.Errorf("the one that is left answers in %q", got)
	}
	prompts[second.conversation()] = append(prompts[second.conversation()], "@say Five.")
	if len(prompts) != 4 {
		t.Errorf("there are %d conversations; want 4", len(prompts))
	}
	for conversation, want := range prompts {
		if got := p.prompts(conversation); !slices.Equal(got, want) {
			t.Errorf("the tab of %s shows the prompts %q; want %q", conversation, got, want)
		}
	}
	for conversation, lines := range p.tabs {
		if conversation == "" {
			lines = slices.DeleteFunc(lines, func(l pageLine) bool { return l.Type == "init" })
			// The first agent is there before it says which conversation it is in.
			if len(lines) != 1 || lines[0].Text != "claude code connected" {
				t.Errorf("lines do not say which session they are of: %+v", lines)
			}
		} else if prompts[conversation] == nil {
			t.Errorf("there is a tab for %q", conversation)
		}
	}
}
