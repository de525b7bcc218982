package hub_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/policy"
)

// stranger is a request without a credential.
func stranger(name string) hub.DialRequest { return hub.DialRequest{Name: name, Unauthenticated: true} }

// attachAs attaches a CLI that dialled in with a request, and has it connected.
func (l *lab) attachAs(r hub.DialRequest) (*hub.RunLink, *dialler) {
	l.t.Helper()
	grant, err := l.hub.DialGrant(l.ctx(), r)
	if err != nil {
		l.t.Fatal(err)
	}
	w := newDialler()
	a, _, err := l.hub.AttachDialled(l.ctx(), hub.DialHello{
		Session: grant.Session, Run: grant.Run, Name: r.Name, Unauthenticated: r.Unauthenticated, Runner: "env\nrunner 1.0",
	}, w)
	if err != nil {
		l.t.Fatal(err)
	}
	if err := a.Connected(l.ctx(), false); err != nil {
		l.t.Fatal(err)
	}
	return a, w
}

func initOf(conversation string) hub.Item {
	return line(fmt.Sprintf(`{"type":"system","subtype":"init","session_id":%q,"uuid":"i-%s","claude_code_version":"2.1.120","cwd":"/tmp"}`, conversation, conversation))
}

// summary returns a session as lists show it.
func (l *lab) summary(id string) api.SessionSummary {
	l.t.Helper()
	list, err := l.hub.List(l.ctx(), api.SessionFilter{})
	if err != nil {
		l.t.Fatal(err)
	}
	for _, s := range list.Sessions {
		if s.ID == id {
			return s
		}
	}
	l.t.Fatalf("session %s is not listed", id)
	return api.SessionSummary{}
}

// TestUnauthenticatedIsShown holds that each CLI without a credential has a session of its
// own, which says so, with what the CLI says of its environment, also after a restart.
func TestUnauthenticatedIsShown(t *testing.T) {
	l := newLab(t)
	a, _ := l.attachAs(stranger(""))
	b, _ := l.attachAs(stranger(""))
	if a.Session() == b.Session() {
		t.Fatal("two CLIs share a session")
	}
	known, _ := l.attachAs(hub.DialRequest{Trusted: true})
	if err := a.Receive(l.ctx(), []hub.Item{initOf("c1")}); err != nil {
		t.Fatal(err)
	}
	check := func() {
		t.Helper()
		if s := l.snapshot(a.Session()); !s.Unauthenticated || s.Runner != "env runner 1.0" || s.Conversation != "c1" {
			t.Errorf("the session is %s", encode(s))
		}
		if s := l.snapshot(known.Session()); s.Unauthenticated || s.Runner != "env runner 1.0" {
			t.Errorf("one with a token is %s", encode(s))
		}
		if !l.summary(a.Session()).Unauthenticated || l.summary(known.Session()).Unauthenticated {
			t.Error("the list does not tell them apart")
		}
	}
	check()
	for _, link := range []*hub.RunLink{a, b, known} {
		link.Lost(nil)
	}
	l.restart()
	check()
}

// TestUnauthenticatedRules holds which rules answer for a CLI without a credential, and
// that decisions name them.
func TestUnauthenticatedRules(t *testing.T) {
	file, err := policy.ParseFile("rules.toml", []byte(`
allow = ["Bash(make:*)"]
deny = ["Bash(rm:*)"]
[unauthenticated]
allow = ["Bash(ls:*)"]
`), "/home/me")
	if err != nil {
		t.Fatal(err)
	}
	engine, err := policy.New(file, policy.Options{Home: "/home/me", Resolve: policy.Real, AutoApprove: []string{"WebSearch"}})
	if err != nil {
		t.Fatal(err)
	}
	r := newRules(t, "")
	r.engine = engine
	l := newLab(t, func(o *hub.Options) { o.Rules = r })
	ask := func(id, tool, input string) hub.Item {
		return line(fmt.Sprintf(`{"type":"control_request","request_id":%q,"request":{"subtype":"can_use_tool","tool_name":%q,"input":%s,"tool_use_id":%q}}`, id, tool, input, "t"+id))
	}
	asked := []hub.Item{
		ask("make", "Bash", `{"command":"make"}`), ask("ls", "Bash", `{"command":"ls"}`), ask("rm", "Bash", `{"command":"rm x"}`),
		ask("search", "WebSearch", `{"query":"x"}`), ask("plan", "ExitPlanMode", `{"plan":"x"}`),
		ask("choice", "AskUserQuestion", `{"questions":[{"question":"Which?","header":"h","options":[{"label":"a"},{"label":"b"}]}]}`),
	}
	decided := func(a *hub.RunLink) map[string]string {
		t.Helper()
		if err := a.Receive(l.ctx(), append([]hub.Item{initOf("c-" + a.Session())}, asked...)); err != nil {
			t.Fatal(err)
		}
		found := map[string]string{}
		for _, e := range l.events(a.Session()) {
			var q api.Question
			if e.Kind != api.KindQuestionSettled || json.Unmarshal(e.Data, &q) != nil || q.Rule == nil {
				continue
			}
			found[q.RequestID] = fmt.Sprintf("%s %s %s %s", q.Rule.Decision, q.Rule.Rule, q.Rule.Scope, q.Rule.Source)
		}
		return found
	}
	unknown, _ := l.attachAs(stranger(""))
	want := map[string]string{
		"ls": "allow Bash(ls:*) unauthenticated rules.toml:5", "rm": "deny Bash(rm:*) global rules.toml:3", "search": "allow WebSearch dialed dial.auto_approve",
	}
	if got := decided(unknown); encode(got) != encode(want) {
		t.Errorf("without a token rules decided %s, want %s", encode(got), encode(want))
	}
	if open := l.snapshot(unknown.Session()).Questions; len(open) != 3 {
		t.Errorf("open are %s, want make, the plan and the choice", encode(open))
	}
	known, _ := l.attachAs(hub.DialRequest{Trusted: true})
	want = map[string]string{
		"make": "allow Bash(make:*) global rules.toml:2", "rm": "deny Bash(rm:*) global rules.toml:3", "search": "allow WebSearch dialed dial.auto_approve",
	}
	if got := decided(known); encode(got) != encode(want) {
		t.Errorf("with a token rules decided %s, want %s", encode(got), encode(want))
	}
	ours := l.create(api.CreateSession{Prompt: "@tool WebSearch {\"query\":\"x\"}\n@say over"})
	if q := l.question(ours.ID); q.Tool != "WebSearch" || q.Rule != nil {
		t.Errorf("of an agent of the hub it is asked %s", encode(q))
	}
	// A rule of one session is for that session, however its CLI came.
	if _, err := l.hub.AddRule(l.ctx(), person, unknown.Session(), api.AddRule{Rule: "Bash(make:*)", Decision: api.RuleAllow}); err != nil {
		t.Fatal(err)
	}
	if open := l.snapshot(unknown.Session()).Questions; len(open) != 2 {
		t.Errorf("after a rule for the session open are %s", encode(open))
	}
	for _, link := range []*hub.RunLink{unknown, known} {
		link.Lost(nil)
	}
}

// TestUnauthenticatedTakesNothing tries, without a credential, to get hold of sessions and
// conversations of others: live, ended, waiting for their CLI, and in the journal alone.
func TestUnauthenticatedTakesNothing(t *testing.T) {
	l := newLab(t)
	live, _ := l.attachAs(hub.DialRequest{Trusted: true, Name: "work"})
	if err := live.Receive(l.ctx(), []hub.Item{initOf("live-conversation"), line(`{"type":"assistant","uuid":"u-live","session_id":"live-conversation","message":{}}`)}); err != nil {
		t.Fatal(err)
	}
	ended, _ := l.attachAs(hub.DialRequest{Trusted: true, Name: "done"})
	if err := ended.Receive(l.ctx(), []hub.Item{initOf("ended-conversation")}); err != nil {
		t.Fatal(err)
	}
	ended.Lost(hub.ErrGone)
	l.awaitState(ended.Session(), api.StateEnded)
	waiting, err := l.hub.Create(l.ctx(), person, api.CreateSession{Transport: "websocket"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{live.Session(), ended.Session(), waiting.ID, "live-conversation", "ended-conversation"} {
		if grant, err := l.hub.DialGrant(l.ctx(), stranger(name)); !errors.Is(err, hub.ErrCredential) {
			t.Errorf("a stranger that dials %s gets %s, %v", name, encode(grant), err)
		}
	}
	// Names are apart, and so is what it says that it wrote last.
	for _, r := range []hub.DialRequest{stranger("work"), stranger("done"), {Unauthenticated: true, LastWritten: "u-live"}} {
		if grant, err := l.hub.DialGrant(l.ctx(), r); err != nil || grant.Session != "" {
			t.Errorf("the request %+v gets %s, %v", r, encode(grant), err)
		}
	}
	if grant, err := l.hub.DialGrant(l.ctx(), hub.DialRequest{Unauthenticated: true, Post: true}); !errors.Is(err, hub.ErrCredential) {
		t.Errorf("a POST of a stranger gets %s, %v", encode(grant), err)
	}
	// Nor does it get there by a grant that was for another.
	for _, hello := range []hub.DialHello{{Session: live.Session(), Run: 1}, {Session: live.Session(), Run: 2}, {Session: ended.Session(), Run: 2}, {Session: waiting.ID, Run: 1}} {
		hello.Unauthenticated = true
		if _, _, err := l.hub.AttachDialled(l.ctx(), hello, newDialler()); !errors.Is(err, hub.ErrCredential) {
			t.Errorf("attaching as %+v: %v", hello, err)
		}
	}
	// What it says of its conversation does not make it so.
	for _, conversation := range []string{"live-conversation", "ended-conversation"} {
		a, _ := l.attachAs(stranger(""))
		var owned *hub.OwnedError
		if err := a.Receive(l.ctx(), []hub.Item{initOf(conversation)}); !errors.As(err, &owned) {
			t.Errorf("naming %s: %v", conversation, err)
		}
		s := l.awaitState(a.Session(), api.StateEnded)
		if !strings.Contains(s.Ended.Reason, "token") || s.Conversation != "" {
			t.Errorf("after naming %s the session is %s", conversation, encode(s))
		}
		a.Lost(nil)
		id, err := l.hub.Resolve(l.ctx(), conversation)
		if err != nil || id != map[string]string{"live-conversation": live.Session(), "ended-conversation": ended.Session()}[conversation] {
			t.Errorf("%s is now session %s, %v", conversation, id, err)
		}
	}
	// Nor does it continue a conversation of its own that an authenticated session has by now.
	shared, _ := l.attachAs(stranger("shared"))
	if err := shared.Receive(l.ctx(), []hub.Item{initOf("shared-conversation")}); err != nil {
		t.Fatal(err)
	}
	shared.Lost(hub.ErrGone)
	l.awaitState(shared.Session(), api.StateEnded)
	if grant, err := l.hub.DialGrant(l.ctx(), stranger("shared")); err != nil || grant.Session != shared.Session() || grant.Run != 2 {
		t.Errorf("it comes back to %s, %v", encode(grant), err)
	}
	taker, _ := l.attachAs(hub.DialRequest{Trusted: true})
	if err := taker.Receive(l.ctx(), []hub.Item{initOf("shared-conversation")}); err != nil {
		t.Fatal(err)
	}
	taker.Lost(hub.ErrGone)
	l.awaitState(taker.Session(), api.StateEnded)
	if grant, err := l.hub.DialGrant(l.ctx(), stranger("shared")); !errors.Is(err, hub.ErrCredential) {
		t.Errorf("after another has gone on with its conversation it gets %s, %v", encode(grant), err)
	}
	// Later lines may name another conversation, too.
	a, _ := l.attachAs(stranger(""))
	var owned *hub.OwnedError
	if err := a.Receive(l.ctx(), []hub.Item{initOf("its-own"), line(`{"type":"assistant","uuid":"u9","session_id":"ended-conversation","message":{}}`)}); !errors.As(err, &owned) {
		t.Errorf("changing to the conversation of another: %v", err)
	}
	if s := l.snapshot(a.Session()); s.Conversation != "its-own" {
		t.Errorf("its conversation is %s", s.Conversation)
	}
	a.Lost(nil)
	live.Lost(nil)
}

// TestUnauthenticatedIsNoTrap holds that a CLI with a token does not get into the session of
// one without: by its name, or by its conversation; and that one without a token finds its
// own again.
func TestUnauthenticatedIsNoTrap(t *testing.T) {
	l := newLab(t)
	a, _ := l.attachAs(stranger("work"))
	if err := a.Receive(l.ctx(), []hub.Item{initOf("c1"), line(`{"type":"assistant","uuid":"u1","session_id":"c1","message":{}}`)}); err != nil {
		t.Fatal(err)
	}
	if grant, err := l.hub.DialGrant(l.ctx(), hub.DialRequest{Trusted: true, Name: "work"}); err != nil || grant.Session != "" {
		t.Errorf("with a token and the same name: %s, %v", encode(grant), err)
	}
	var owned *hub.OwnedError
	for _, name := range []string{a.Session(), "c1"} {
		if grant, err := l.hub.DialGrant(l.ctx(), hub.DialRequest{Trusted: true, Name: name}); !errors.As(err, &owned) {
			t.Errorf("with a token and the name %s: %s, %v", name, encode(grant), err)
		}
	}
	if grant, err := l.hub.DialGrant(l.ctx(), hub.DialRequest{Trusted: true, LastWritten: "u1"}); err != nil || grant.Session != "" {
		t.Errorf("with a token and the last line of a stranger: %s, %v", encode(grant), err)
	}
	back := func() {
		t.Helper()
		for _, r := range []hub.DialRequest{stranger("work"), {Unauthenticated: true, LastWritten: "u1"}, stranger("c1")} {
			if grant, err := l.hub.DialGrant(l.ctx(), r); err != nil || grant.Session != a.Session() || grant.Run != 1 {
				t.Errorf("coming back as %+v: %s, %v", r, encode(grant), err)
			}
		}
	}
	back()
	a.Lost(nil)
	l.restart()
	back()
}

// TestUnauthenticatedIsNotContinued holds that the hub starts no process of its own for what a
// CLI without a credential has said of its folder: not for a message, a retry or a resume.
func TestUnauthenticatedIsNotContinued(t *testing.T) {
	l := newLab(t)
	a, _ := l.attachAs(stranger(""))
	plan := line(`{"type":"control_request","request_id":"plan","request":{"subtype":"can_use_tool","tool_name":"ExitPlanMode","input":{"plan":"x"},"tool_use_id":"t1"}}`)
	if err := a.Receive(l.ctx(), []hub.Item{initOf("c1"), plan}); err != nil {
		t.Fatal(err)
	}
	q := l.snapshot(a.Session()).Questions[0]
	if q.Plan == nil || slices.Contains(q.Plan.Outcomes, api.PlanFresh) {
		t.Errorf("the plan is %s", encode(q))
	}
	if _, err := l.hub.Answer(l.ctx(), person, q.ID, api.Answer{Outcome: api.PlanFresh}); err == nil {
		t.Error("a plan is carried out by another process")
	}
	a.Lost(hub.ErrGone)
	s := l.awaitState(a.Session(), api.StateEnded)
	if len(s.Questions) != 0 {
		t.Errorf("the plan has outlived its process: %s", encode(s.Questions))
	}
	_, send := l.hub.Send(l.ctx(), person, a.Session(), api.SendMessage{Text: "go on"})
	_, resume := l.hub.Resume(l.ctx(), person, a.Session(), api.Resume{})
	for name, err := range map[string]error{"a message": send, "a resume": resume} {
		if problem, ok := errors.AsType[*api.Error](err); !ok || problem.Code != api.CodeConflict || !strings.Contains(problem.Title, "without a token") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if s := l.snapshot(a.Session()); s.Run != 1 || len(s.Messages) != 0 {
		t.Errorf("the session is %s", encode(s))
	}
}

// TestBrokenLines holds that what is not JSON is kept byte for byte, with what can be read
// of it, and is no error.
func TestBrokenLines(t *testing.T) {
	l := newLab(t)
	a, _ := l.attachAs(stranger(""))
	broken := []struct{ text, want string }{
		{`{"type":"system","subtype":"init","session_id":"sess_abc123","mo`, `{"broken":true,"length":64,"conversation":"sess_abc123","init":true}`},
		{`claude: something went wrong`, `{"broken":true,"length":28}`},
		{"\x00\xff\xfe session=abcdefgh", `{"broken":true,"length":20,"conversation":"abcdefgh"}`},
	}
	items := []hub.Item{initOf("c1")}
	for _, b := range broken {
		items = append(items, line(b.text))
	}
	items = append(items, line(`[1,2]`), line(`{"type":"of_tomorrow","session_id":"c1"}`))
	if err := a.Receive(l.ctx(), items); err != nil {
		t.Fatal(err)
	}
	var got []api.Event
	for _, e := range l.events(a.Session()) {
		if e.Kind == api.KindLine {
			got = append(got, e)
		}
	}
	if len(got) != len(items) {
		t.Fatalf("%d lines were kept, want %d", len(got), len(items))
	}
	for i, b := range broken {
		e := got[i+1]
		if kept := e.Text + string(e.Base64); kept != b.text || string(e.Data) != b.want {
			t.Errorf("%q was kept as %q with %s, want %s", b.text, kept, e.Data, b.want)
		}
	}
	for _, i := range []int{0, 4, 5} {
		if got[i].Data != nil {
			t.Errorf("%s has %s", got[i].Line, got[i].Data)
		}
	}
	if s := l.snapshot(a.Session()); s.Conversation != "c1" || len(s.Conversations) != 1 {
		t.Errorf("the conversations are %s: a broken line must not decide that", encode(s.Conversations))
	}
	a.Lost(nil)
}
