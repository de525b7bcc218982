package lines

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/internal/server/servertest"
	"github.com/switchboard-dev/switchboard/wire"
)

// A page is a front end as those are that were written for a relay with one agent per port:
// each conversation gets a tab, a line without a session_id goes to the tab that the
// page has turned to last, and the word "disconnected" ends all tabs. What it knows of
// its tabs is what it has drawn last.
type page struct {
	*client

	all     []*pageTab
	current *pageTab
	of      map[string]*pageTab
}

type pageTab struct {
	conversation string
	over         bool // grey
	items        []pageLine

	drawn, drawnOver bool
}

// A pageLine is what a page reads of a line.
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
	raw string
}

func newPage(c *client) *page {
	first := &pageTab{drawn: true}
	return &page{client: c, all: []*pageTab{first}, current: first, of: map[string]*pageTab{}}
}

// draw draws all tabs. A page does so when it has nothing to read.
func (p *page) draw() {
	for _, t := range p.all {
		t.drawn, t.drawnOver = true, t.over
	}
}

// read reads a line into its tab.
func (p *page) read() pageLine {
	p.t.Helper()
	l := pageLine{raw: p.next()}
	if err := json.Unmarshal([]byte(l.raw), &l); err != nil {
		p.t.Fatal(err)
	}
	opens := l.Type == "init" || l.Type == "system" && l.Subtype == "init"
	switch {
	case l.SessionID != "":
		p.current = p.tabOf(l.SessionID)
		p.current.over = false
	case opens && p.current.drawn && (p.current.conversation != "" || len(p.current.items) > 0):
		p.current.over = true
		p.current = p.add("")
	}
	if opens {
		return l
	}
	p.current.items = append(p.current.items, l)
	said := l.Content
	if said == "" {
		said = l.Text
	}
	if l.Type == "status" && strings.Contains(said, "disconnected") {
		for _, t := range p.all {
			t.over = true
		}
		clear(p.of)
	}
	return l
}

func (p *page) add(conversation string) *pageTab {
	t := &pageTab{conversation: conversation}
	p.all = append(p.all, t)
	return t
}

// tabOf returns the tab of a conversation.
func (p *page) tabOf(conversation string) *pageTab {
	t, now := p.of[conversation], p.current
	switch {
	case t != nil && !t.drawnOver:
		return t
	case now.conversation == "" && !now.drawnOver, !now.drawn:
		// A tab that is not drawn is not there for the page, and so takes the line.
		t = now
	default:
		t = p.add(conversation)
	}
	t.conversation, p.of[conversation] = conversation, t
	return t
}

// until reads lines up to one of a type.
func (p *page) until(kind string) pageLine {
	p.t.Helper()
	for {
		if l := p.read(); l.Type == kind {
			p.draw()
			return l
		}
	}
}

// shows returns the conversations that have a tab, sorted, those that are over with a dash.
func (p *page) shows() string {
	var names []string
	for _, t := range p.all {
		switch {
		case t.conversation == "":
		case t.over:
			names = append(names, "-"+t.conversation)
		default:
			names = append(names, t.conversation)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// prompts returns the texts of what a conversation's tab shows as said by the user.
func (p *page) prompts(conversation string) (texts []string) {
	for _, t := range p.all {
		if t.conversation != conversation {
			continue
		}
		for _, l := range t.items {
			text, plain := wire.StringOf(l.Message.Content)
			if !plain {
				for block := range wire.Elements(l.Message.Content) {
					text, _ = wire.LookupString(block, "text")
				}
			}
			if l.Type == "user" && text != "" {
				texts = append(texts, text)
			}
		}
	}
	return texts
}

// TestPageComesLate has a page come to agents that are there, all of which it is told of
// before it can draw one.
func TestPageComesLate(t *testing.T) {
	h := newStage(t, idle("s1"), idle("s2"), asksFor("s3", ask), idle("s4"))
	p := newPage(newRig(t, h, nil).dial(t, ""))
	mark, text := marker("s1")
	h.await(t, "the page", func() bool { return h.open == 1 })
	h.publish(mark)
	for p.read().raw != text {
	}
	if got := p.shows(); got != "c-s1 c-s2 c-s3 c-s4" {
		t.Errorf("it shows %q", got)
	}
	for _, tab := range p.all {
		if asked := slices.ContainsFunc(tab.items, func(l pageLine) bool { return l.RequestID == "r1" }); asked != (tab.conversation == "c-s3") {
			t.Errorf("the tab of %s has %+v", tab.conversation, tab.items)
		}
	}
}

// TestPageIsNotHurried holds that a page of the open relay has the time to draw before it
// is shown a line of an agent that is new to it, and that others do not wait.
func TestPageIsNotHurried(t *testing.T) {
	const origin = "http://localhost:3000"
	h := newStage(t, idle("s1"), idle("s2"))
	r := newRig(t, h, nil, func(o *rigOptions) {
		o.guard = newGuard(t, access.OpenRelay{Origins: []string{origin}, Path: "/ws"})
	})
	pauses := make(chan struct{})
	r.relay.pause = func(ctx context.Context) {
		select {
		case pauses <- struct{}{}:
		case <-ctx.Done():
		}
	}
	other := r.dial(t, "")
	other.greeted(nil, "s1", "s2")
	page := r.dialAs(t, "", http.Header{"Origin": {origin}})
	first := "s1"
	if page.next() != labeled(first, saysIsConnected) {
		first = "s2"
	}
	page.expect(initOf(first), turned(first)) // these have been written
	<-pauses
	page.expect(connected(map[string]string{"s1": "s2", "s2": "s1"}[first])...)
	h.publish(happened("s3", api.KindLinkUp, `{}`), line("s3", initOf("s3")))
	page.expect(turned(first))
	<-pauses
	page.expect(labeled("s3", saysConnected), initOf("s3"))
	for other.next() != initOf("s3") {
	}
}

// TestPageOfMany holds that a page is not kept waiting for long, however many agents
// there are.
func TestPageOfMany(t *testing.T) {
	pauses := 0
	r := &relay{conn: &conn{id: access.Identity{OpenRelay: true}, server: &Server{pause: func(context.Context) { pauses++ }}}, flush: func() error { return nil }}
	for range 3 * maxPauses {
		r.breathe()
	}
	if pauses != maxPauses {
		t.Errorf("it was waited for %d times in its greeting", pauses)
	}
	r.greeted = true
	r.breathe()
	r.view.replaying = true
	r.breathe() // nor while it is shown the log
	if pauses != maxPauses+1 {
		t.Errorf("it was waited for %d times after its greeting", pauses-maxPauses)
	}
}

// TestPageManyComeAtOnce has agents come while a page is there and does not draw.
func TestPageManyComeAtOnce(t *testing.T) {
	h := newStage(t, idle("s1"))
	p := newPage(newRig(t, h, nil).dial(t, ""))
	p.read()
	p.read()
	p.draw()
	for _, name := range []string{"s2", "s3", "s4"} {
		h.publish(happened(name, api.KindLinkUp, `{}`))
	}
	for _, name := range []string{"s2", "s3", "s4"} {
		h.publish(line(name, initOf(name)))
	}
	for p.read().SessionID != "c-s4" {
	}
	if got := p.shows(); got != "c-s1 c-s2 c-s3 c-s4" {
		t.Errorf("it shows %q", got)
	}
	// None of them was told of in the tab of another.
	for _, tab := range p.all {
		for _, l := range tab.items {
			if l.SessionID != tab.conversation {
				t.Errorf("the tab of %s has %s", tab.conversation, l.raw)
			}
		}
	}
}

// TestPageAgentsEnd ends agents one after the other: the page shows which.
func TestPageAgentsEnd(t *testing.T) {
	h := newStage(t, idle("s1"), idle("s2"), idle("s3"))
	p := newPage(newRig(t, h, nil).dial(t, ""))
	h.await(t, "the page", func() bool { return h.open == 1 })
	next := func(events ...*api.Event) string {
		t.Helper()
		h.publish(events...)
		mark, text := marker("s1")
		h.publish(mark)
		for p.read().raw != text {
		}
		p.draw()
		return p.shows()
	}
	if got := next(); got != "c-s1 c-s2 c-s3" {
		t.Fatalf("it shows %q", got)
	}
	gone := func(s string) *api.Event { return happened(s, api.KindRunEnded, `{}`) }
	if got := next(gone("s2")); got != "-c-s2 c-s1 c-s3" {
		t.Errorf("the second has ended: it shows %q", got)
	}
	// The others go on in their tabs.
	next(line("s1", `{"type":"assistant","session_id":"c-s1"}`), line("s3", `{"type":"assistant","session_id":"c-s3"}`))
	for _, tab := range p.all {
		n := len(slices.DeleteFunc(slices.Clone(tab.items), func(l pageLine) bool { return l.Type != "assistant" }))
		if want := map[string]int{"c-s1": 1, "c-s3": 1}[tab.conversation]; n != want {
			t.Errorf("the tab of %q has %d messages; want %d", tab.conversation, n, want)
		}
	}
	// One comes, and one comes back.
	got := next(happened("s4", api.KindLinkUp, `{}`), line("s4", initOf("s4")))
	if got != "-c-s2 c-s1 c-s3 c-s4" {
		t.Errorf("a new one is there: it shows %q", got)
	}
	if got := next(gone("s1"), gone("s3"), gone("s4")); got != "-c-s1 -c-s2 -c-s3 -c-s4" {
		t.Errorf("all have ended: it shows %q", got)
	}
}

// TestPageConversation has a page watch two agents that are prompted elsewhere, answer
// one of them, and see one end.
func TestPageConversation(t *testing.T) {
	l := newLab(t, "2.1.325")
	p := newPage(l.dial(t, ""))
	first := l.create()
	send := func(session, text string) {
		t.Helper()
		if _, err := l.Hub.Send(t.Context(), servertest.Admin, session, api.SendMessage{Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	send(first, "@say one")
	p.until("result")
	second := l.create()
	send(second, "@tool Bash {\"command\":\"rm x\"}\n@say two")
	asked := p.until("control_request")
	a, b := l.conversation(first), l.conversation(second)
	if asked.SessionID != b {
		t.Errorf("the question is of %q, not of %s", asked.SessionID, b)
	}
	p.say(`{"type":"control_response","request_id":"` + asked.RequestID + `","permission":{"allow":true}}`)
	p.until("result")
	send(first, "@say three")
	p.until("result")
	for conversation, want := range map[string][]string{a: {"@say one", "@say three"}, b: {"@tool Bash {\"command\":\"rm x\"}\n@say two"}} {
		if got := p.prompts(conversation); !slices.Equal(got, want) {
			t.Errorf("the tab shows the prompts %q; want %q", got, want)
		}
	}
	if _, err := l.Hub.Stop(t.Context(), servertest.Admin, first, api.Stop{}); err != nil {
		t.Fatal(err)
	}
	p.until("init")
	want := []string{"-" + a, b}
	slices.Sort(want)
	if got := p.shows(); got != strings.Join(want, " ") {
		t.Errorf("it shows %s; want %q", got, want)
	}
}

// TestPageFresh has a process for each turn: each is a tab, with its prompt. A page that
// is shown the log afterwards sees the same.
func TestPageFresh(t *testing.T) {
	l := newLab(t, "2.1.325")
	p := newPage(l.dial(t, ""))
	id := l.Create(api.CreateSession{Options: api.SessionOptions{Fresh: true}}).Session
	texts := []string{"@say one", "@say two", `@tool Bash {"command":"rm x"}`}
	for i, text := range texts {
		if _, err := l.Hub.Send(t.Context(), servertest.Admin, id, api.SendMessage{Text: text}); err != nil {
			t.Fatal(err)
		}
		if i == len(texts)-1 {
			p.until("control_request")
			break
		}
		p.until("result")
		p.until("init") // its process is gone
	}
	s, err := l.Hub.Snapshot(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Conversations) != len(texts) {
		t.Fatalf("the conversations are %+v", s.Conversations)
	}
	late := newPage(l.dial(t, "?session="+id+"&after="))
	for len(late.prompts(s.Conversation)) == 0 {
		late.read()
		late.draw()
	}
	for name, page := range map[string]*page{"live": p, "late": late} {
		for i, c := range s.Conversations {
			if got := page.prompts(c.ID); !slices.Equal(got, texts[i:i+1]) {
				t.Errorf("%s: the tab of turn %d shows the prompts %q", name, i+1, got)
			}
		}
	}
	want := []string{"-" + s.Conversations[0].ID, "-" + s.Conversations[1].ID, s.Conversation}
	slices.Sort(want)
	if got := p.shows(); got != strings.Join(want, " ") {
		t.Errorf("it shows %q; want %q", got, want)
	}
}
