package hub_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/budget"
	"github.com/switchboard-dev/switchboard/internal/hub"
)

// noon is the time at which the stories begin, in a zone in which the day is
// another one than in UTC for some of the time.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.FixedZone("east", 9*3600))

// A post takes notifications.
type post struct {
	mu  sync.Mutex
	all []hub.Notification
}

func (p *post) take(n hub.Notification) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, n)
}

// kinds returns what a session's notifications were, in order.
func (p *post) kinds(session string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var kinds []string
	for _, n := range p.all {
		if n.Session == session {
			kinds = append(kinds, n.Kind)
		}
	}
	return strings.Join(kinds, " ")
}

// A limited lab has budgets, a clock and somebody who is notified.
type limited struct {
	*lab
	clock *clock
	post  *post
}

func newLimited(t *testing.T, budgets []budget.Budget, change ...func(*hub.Options)) *limited {
	t.Helper()
	l := &limited{clock: &clock{now: noon}, post: &post{}}
	l.lab = newLab(t, append(change, func(o *hub.Options) {
		o.Budgets, o.Now, o.Notify = budgets, l.clock.Now, l.post.take
	})...)
	return l
}

// pass lets time pass and has the hub look at the clock.
func (l *limited) pass(d time.Duration) {
	l.clock.add(d)
	l.hub.Tick()
}

// awaitHeld waits until a session is held back and does nothing.
func (l *limited) awaitHeld(id string, holds int) *api.Session {
	l.t.Helper()
	return l.await(id, "it is held back", func(s *api.Session) bool {
		return len(s.Holds) == holds && (s.State == api.StateIdle || s.State == api.StateEnded)
	})
}

// told returns the budgets that a session's log tells of.
func (l *lab) told(id string) []api.BudgetUse {
	l.t.Helper()
	var list []api.BudgetUse
	for _, e := range l.events(id) {
		if e.Kind == api.KindBudget {
			var u api.BudgetUse
			if err := json.Unmarshal(e.Data, &u); err != nil {
				l.t.Fatal(err)
			}
			list = append(list, u)
		}
	}
	return list
}

func (l *lab) count(id, kind string) int {
	n := 0
	for _, e := range l.events(id) {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

func (l *lab) release(id string, in api.Release) *api.Session {
	l.t.Helper()
	s, err := l.hub.Release(l.ctx(), person, id, in)
	if err != nil {
		l.t.Fatal(err)
	}
	return s
}

// sameProjections fails the test unless the log folds to the same on top of the stored
// fold and from the beginning.
func (l *lab) sameProjections(id string) {
	l.t.Helper()
	stored, anew, _, _, _, err := l.hub.Projections(l.ctx(), id)
	if err != nil {
		l.t.Fatal(err)
	}
	if diff := cmp.Diff(stored, anew); diff != "" {
		l.t.Errorf("folding on top of the stored fold differs from folding anew:\n%s", diff)
	}
}

// TestBudgetAsk uses up a budget of turns: what is queued waits until somebody
// grants more, over restarts of the hub.
func TestBudgetAsk(t *testing.T) {
	l := newLimited(t, []budget.Budget{{Name: "few", Per: "session", Turns: 2, Action: "ask", WarnAt: 1}})
	// The first turn ends when the others wait, the third when its release was looked at.
	const asks = "@tool Bash {\"command\":\"touch x\"}\n@say "
	s := l.create(api.CreateSession{Prompt: asks + "one"})
	l.send(s.ID, "@say two")
	l.send(s.ID, asks+"three")
	l.answer(l.question(s.ID).ID, api.Answer{Decision: "deny"})
	held := l.awaitHeld(s.ID, 1)
	h := held.Holds[0]
	if held.Cost.Turns != 2 || len(held.Messages) != 1 || held.Messages[0].State != api.MessageQueued {
		t.Errorf("after %d turns these wait: %s", held.Cost.Turns, encode(held.Messages))
	}
	if h.Kind != "budget" || h.Budget != "few" || h.Resumes || !h.Until.IsZero() || h.Reason != `the budget "few" is used up: 2 of 2 turns in this session` {
		t.Errorf("the hold is %s", encode(h))
	}
	want := []api.BudgetUse{{Name: "few", Per: "session", Unit: "turns", Limit: 2, Used: 2, Action: "ask", Over: true}}
	if diff := cmp.Diff(want, held.Budgets); diff != "" {
		t.Errorf("the budgets (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, l.told(s.ID)); diff != "" {
		t.Errorf("what was told (-want +got):\n%s", diff)
	}

	// Killed between hold and release.
	l.sameProjections(s.ID)
	l.restart()
	back := l.await(s.ID, "it is back", func(s *api.Session) bool { return s.Linked && s.State == api.StateIdle })
	if diff := cmp.Diff(held.Holds, back.Holds); diff != "" {
		t.Errorf("the holds after a restart (-want +got):\n%s", diff)
	}
	if len(back.Messages) != 1 {
		t.Errorf("after a restart these wait: %s", encode(back.Messages))
	}

	// One more turn only.
	if got := l.release(s.ID, api.Release{Hold: h.ID, Turns: 1}); len(got.Holds) != 0 || got.Budgets[0].Limit != 3 || got.Budgets[0].Over {
		t.Errorf("after the release it is held by %s and has %s", encode(got.Holds), encode(got.Budgets))
	}
	l.answer(l.question(s.ID).ID, api.Answer{Decision: "deny"})
	again := l.awaitHeld(s.ID, 1)
	if again.Cost.Turns != 3 || len(again.Messages) != 0 || again.Holds[0].ID == h.ID {
		t.Errorf("after %d turns it is held by %s", again.Cost.Turns, encode(again.Holds))
	}
	// As much again as the budget has, which counts after a restart.
	if got := l.release(s.ID, api.Release{}); got.Budgets[0].Limit != 5 {
		t.Errorf("as much again: %s", encode(got.Budgets))
	}
	l.sameProjections(s.ID)
	l.restart()
	l.await(s.ID, "it is back", func(s *api.Session) bool { return s.Linked })
	l.send(s.ID, "@say four")
	if got := l.awaitDone(s.ID, 4); len(got.Holds) != 0 || got.Budgets[0].Limit != 5 {
		t.Errorf("after the second restart it has %s, %s", encode(got.Holds), encode(got.Budgets))
	}
	if got := l.post.kinds(s.ID); got != "needs_input limit done needs_input limit done done" {
		t.Errorf("the notifications are %s", got)
	}
	if n := l.count(s.ID, api.KindHoldOver); n != 2 {
		t.Errorf("%d holds are over, not 2", n)
	}
}

// TestBudgetWarn has people told once of each share, and nothing else happen.
func TestBudgetWarn(t *testing.T) {
	l := newLimited(t, []budget.Budget{{Name: "watch", Per: "session", Turns: 4, Action: "warn", WarnAt: 0.5}})
	s := l.create(api.CreateSession{Prompt: "@say one"})
	for i := range 6 {
		l.send(s.ID, "@say more")
		l.awaitDone(s.ID, int64(i)+2)
	}
	want := []api.BudgetUse{
		{Name: "watch", Per: "session", Unit: "turns", Limit: 4, Used: 2, Action: "warn"},
		{Name: "watch", Per: "session", Unit: "turns", Limit: 4, Used: 4, Action: "warn", Over: true},
	}
	if diff := cmp.Diff(want, l.told(s.ID)); diff != "" {
		t.Errorf("what was told (-want +got):\n%s", diff)
	}
	if n := l.count(s.ID, api.KindHold); n != 0 {
		t.Errorf("%d holds", n)
	}
	if n := strings.Count(l.post.kinds(s.ID), "limit"); n != 2 {
		t.Errorf("the notifications are %s", l.post.kinds(s.ID))
	}
	l.sameProjections(s.ID)
}

// TestBudgetInterrupt has the time at work of a budget end in the middle of a
// turn, which waits for an answer.
func TestBudgetInterrupt(t *testing.T) {
	l := newLimited(t, []budget.Budget{{Name: "hour", Per: "session", Wall: time.Hour, Action: "interrupt"}})
	s := l.create(api.CreateSession{Prompt: `@tool Bash {"command":"make"}`})
	l.await(s.ID, "it asks", func(s *api.Session) bool { return len(s.Questions) == 1 })
	l.send(s.ID, "@say later")
	l.pass(47 * time.Minute)
	if got := l.snapshot(s.ID); len(l.told(s.ID)) != 0 || got.Budgets[0].Used != (47*time.Minute).Seconds() {
		t.Errorf("after 47 minutes %s was told; it has %s", encode(l.told(s.ID)), encode(got.Budgets))
	}
	l.pass(2 * time.Minute)
	if got := l.snapshot(s.ID); len(l.told(s.ID)) != 1 || len(got.Questions) != 1 || len(got.Holds) != 0 {
		t.Errorf("after 49 minutes %s was told; it is %s", encode(l.told(s.ID)), encode(got))
	}
	l.pass(11 * time.Minute)
	held := l.awaitHeld(s.ID, 1)
	if held.Result == nil || !held.Result.Interrupted || len(held.Questions) != 0 || len(held.Messages) != 1 {
		t.Errorf("the turn ended with %s; these wait: %s", encode(held.Result), encode(held.Messages))
	}
	if n := strings.Count(strings.Join(l.launcher.of(s.ID).commands(), "\n"), `"interrupt"`); n != 1 {
		t.Errorf("%d interrupts were sent", n)
	}
	if got := l.post.kinds(s.ID); got != "needs_input limit limit" {
		t.Errorf("the notifications are %s", got)
	}
	l.sameProjections(s.ID)
	// Ten minutes more, and time without work does not count.
	l.pass(time.Hour)
	if got := l.release(s.ID, api.Release{Seconds: 600}); got.Budgets[0].Limit != 4200 || got.Budgets[0].Used != 3600 {
		t.Errorf("after the release it has %s", encode(got.Budgets))
	}
	l.awaitDone(s.ID, 2)
}

// TestBudgetFolder has two sessions at work in one folder, and one elsewhere. The
// turn of one of them uses up the budget of both.
func TestBudgetFolder(t *testing.T) {
	l := newLimited(t, []budget.Budget{{Name: "shared", Per: "folder", Turns: 2, Action: "interrupt", WarnAt: 1}})
	dir := t.TempDir()
	ask := `@tool Bash {"command":"make"}`
	a := l.create(api.CreateSession{Dir: dir, Prompt: ask})
	b := l.create(api.CreateSession{Dir: dir, Prompt: ask})
	other := l.create(api.CreateSession{Prompt: ask})
	for _, s := range []*api.Session{a, b, other} {
		l.await(s.ID, "it asks", func(s *api.Session) bool { return len(s.Questions) == 1 })
	}
	deny := func(id string) {
		t.Helper()
		if _, err := l.hub.Answer(l.ctx(), person, l.snapshot(id).Questions[0].ID, api.Answer{Decision: "deny", Message: "no"}); err != nil {
			t.Fatal(err)
		}
	}
	deny(a.ID)
	l.awaitDone(a.ID, 1)
	// Nobody looks at the other session meanwhile: that alone would have it checked.
	watch, err := l.hub.Follow(l.ctx(), b.ID, hub.FollowOptions{After: "now", NoLive: true})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Close()
	l.send(a.ID, "@say second")
	for held := false; !held; {
		frames, err := watch.Next(l.ctx())
		if err != nil {
			t.Fatalf("waiting until the other session is held back: %v", err)
		}
		held = slices.ContainsFunc(frames, func(f api.Frame) bool { return f.Event != nil && f.Event.Kind == api.KindHold })
	}
	first := l.awaitHeld(a.ID, 1)
	second := l.awaitHeld(b.ID, 1)
	if second.Result == nil || !second.Result.Interrupted {
		t.Errorf("the other session's turn ended with %s", encode(second.Result))
	}
	if first.Budgets[0].Used < 2 || first.Holds[0].Reason != `the budget "shared" is used up: 2 of 2 turns in this folder` {
		t.Errorf("it is held by %s and has %s", encode(first.Holds), encode(first.Budgets))
	}
	if n := len(l.told(a.ID)) + len(l.told(b.ID)); n != 1 {
		t.Errorf("the budget was told %d times", n)
	}
	if got := l.snapshot(other.ID); len(got.Holds) != 0 || len(got.Questions) != 1 || got.Budgets[0].Used != 0 {
		t.Errorf("a session elsewhere is %s", encode(got))
	}
	// What is granted to one does not let the other go on.
	l.send(a.ID, "@say third")
	l.send(b.ID, "@say held")
	if got := l.snapshot(b.ID); got.Budgets[0].Used != 3 {
		t.Errorf("three turns were used: %s", encode(got.Budgets))
	}
	l.release(a.ID, api.Release{Turns: 5})
	l.awaitDone(a.ID, 3)
	if got := l.snapshot(b.ID); len(got.Messages) != 1 || len(got.Holds) != 1 {
		t.Errorf("the other session is %s", encode(got))
	}
	// What was used is read back; a new session of the folder is held at once.
	l.restart()
	c := l.create(api.CreateSession{Dir: dir, Prompt: "@say never"})
	if got := l.awaitHeld(c.ID, 1); got.Cost.Turns != 0 || got.Budgets[0].Used != 4 || len(got.Messages) != 1 {
		t.Errorf("a new session is %s", encode(got))
	}
	for _, s := range []*api.Session{a, b, c} {
		l.sameProjections(s.ID)
	}
}

// TestBudgetDay spends a day's money. The next day begins anew, also after a
// restart.
func TestBudgetDay(t *testing.T) {
	dir := t.TempDir()
	l := newLimited(t, []budget.Budget{{Name: "daily", Per: "day", Folder: dir, USD: 0.000001, Action: "ask"}})
	if day := noon.UTC().Day(); day != noon.Day() {
		t.Fatal("the story should begin on the same day")
	}
	s := l.create(api.CreateSession{Dir: dir, Prompt: "@say one"})
	held := l.awaitHeld(s.ID, 1)
	midnight := time.Date(2026, 3, 2, 0, 0, 0, 0, noon.Location())
	if h := held.Holds[0]; !h.Until.Equal(midnight) || !h.Resumes || !strings.Contains(h.Reason, "today") {
		t.Errorf("the hold is %s", encode(h))
	}
	outside := l.create(api.CreateSession{Prompt: "@say one"})
	if got := l.awaitDone(outside.ID, 1); len(got.Budgets) != 0 {
		t.Errorf("a session elsewhere has %s", encode(got.Budgets))
	}
	l.send(s.ID, "@say two")
	l.restart()
	l.await(s.ID, "it is back", func(s *api.Session) bool { return s.Linked && s.State == api.StateIdle })
	folder := filepath.Join(dir, "below")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	below := l.create(api.CreateSession{Dir: folder, Prompt: "@say waits"})
	l.awaitHeld(below.ID, 1)
	l.pass(12*time.Hour - time.Second)
	if got := l.snapshot(s.ID); len(got.Holds) != 1 || len(got.Messages) != 1 {
		t.Errorf("before midnight it is %s", encode(got))
	}
	l.pass(time.Second)
	l.awaitDone(below.ID, 1)
	got := l.await(s.ID, "it goes on", func(s *api.Session) bool { return s.Cost.Turns == 2 && s.State == api.StateIdle })
	want := got.Cost.USD - held.Cost.USD + l.snapshot(below.ID).Cost.USD
	if used := got.Budgets[0].Used; math.Abs(used-want) > 1e-9 || want == 0 {
		t.Errorf("of today's %v %v was counted", want, used)
	}
	var reasons []string
	for _, e := range l.events(s.ID) {
		if e.Kind == api.KindHoldOver {
			var d api.HoldOver
			if err := json.Unmarshal(e.Data, &d); err != nil {
				t.Fatal(err)
			}
			reasons = append(reasons, d.Reason)
		}
	}
	if !slices.Equal(reasons, []string{"reset"}) {
		t.Errorf("the holds ended by %v", reasons)
	}
	l.sameProjections(s.ID)
}

// TestBudgetDayTogether has two sessions at work at once: their time is added up.
func TestBudgetDayTogether(t *testing.T) {
	l := newLimited(t, []budget.Budget{{Name: "hour", Per: "day", Wall: time.Hour, Action: "interrupt", WarnAt: 1}})
	ask := `@tool Bash {"command":"make"}`
	a, b := l.create(api.CreateSession{Prompt: ask}), l.create(api.CreateSession{Prompt: ask})
	for _, s := range []*api.Session{a, b} {
		l.await(s.ID, "it asks", func(s *api.Session) bool { return len(s.Questions) == 1 })
	}
	l.pass(29 * time.Minute)
	for _, s := range []*api.Session{a, b} {
		if got := l.snapshot(s.ID); len(got.Holds) != 0 || got.Budgets[0].Used != 58*60 {
			t.Errorf("after twice 29 minutes it is held by %s and has %s", encode(got.Holds), encode(got.Budgets))
		}
	}
	l.pass(time.Minute)
	for _, s := range []*api.Session{a, b} {
		if got := l.awaitHeld(s.ID, 1); !got.Result.Interrupted {
			t.Errorf("the turn ended with %s", encode(got.Result))
		}
	}
	// The turns of the simulated CLI say that they took no time at all. That does
	// not end a hold.
	l.send(a.ID, "@say later")
	l.restart()
	l.await(a.ID, "it is back", func(s *api.Session) bool { return s.Linked && s.State == api.StateIdle })
	if got := l.snapshot(a.ID); len(got.Holds) != 1 || len(got.Messages) != 1 || got.Budgets[0].Over {
		t.Errorf("after a restart it is held by %s and has %s", encode(got.Holds), encode(got.Budgets))
	}
	l.release(a.ID, api.Release{})
	l.awaitDone(a.ID, 2)
}

// TestBudgetGone removes a budget while a session is held by it.
func TestBudgetGone(t *testing.T) {
	l := newLimited(t, []budget.Budget{{Name: "one", Per: "session", Turns: 1, Action: "ask"}})
	s := l.create(api.CreateSession{Prompt: "@say one"})
	l.awaitHeld(s.ID, 1)
	l.send(s.ID, "@say two")
	l.options.Budgets = nil
	l.restart()
	if got := l.awaitDone(s.ID, 2); len(got.Holds) != 0 {
		t.Errorf("it is held by %s", encode(got.Holds))
	}
	l.sameProjections(s.ID)
}

// TestReleaseRefused tries releases that make no sense, and one twice.
func TestReleaseRefused(t *testing.T) {
	l := newLimited(t, []budget.Budget{{Name: "one", Per: "session", Turns: 1, Action: "ask"}})
	s := l.create(api.CreateSession{})
	l.awaitState(s.ID, api.StateIdle)
	refused := func(by hub.Actor, in api.Release, want string) {
		t.Helper()
		if _, err := l.hub.Release(l.ctx(), by, s.ID, in); code(err) != want {
			t.Errorf("%s: %v, not %s", encode(in), err, want)
		}
	}
	refused(person, api.Release{}, api.CodeConflict)
	l.send(s.ID, "@say one")
	l.awaitHeld(s.ID, 1)
	refused(hub.Actor{Name: "eve"}, api.Release{}, api.CodeForbidden)
	refused(person, api.Release{Turns: -1}, api.CodeInvalid)
	refused(person, api.Release{Hold: "h-nothing"}, api.CodeNotFound)
	refused(person, api.Release{USD: 3}, api.CodeInvalid)
	refused(person, api.Release{AtReset: true}, api.CodeInvalid)
	if got := l.snapshot(s.ID); len(got.Holds) != 1 {
		t.Errorf("after that it is held by %s", encode(got.Holds))
	}
	for range 2 {
		if got := l.release(s.ID, api.Release{ClientID: "x", Turns: 2}); len(got.Holds) != 0 || got.Budgets[0].Limit != 3 {
			t.Errorf("the release gives %s, %s", encode(got.Holds), encode(got.Budgets))
		}
	}
	refused(person, api.Release{ClientID: "x", Turns: 3}, api.CodeClientIDReused)
	if n := l.count(s.ID, api.KindHoldOver); n != 1 {
		t.Errorf("%d holds are over", n)
	}
}

// TestReleaseOne is held back by a budget and by a rate limit.
func TestReleaseOne(t *testing.T) {
	l := newLimited(t, []budget.Budget{{Name: "one", Per: "session", Turns: 1, Action: "ask"}})
	s := l.create(api.CreateSession{Prompt: "@line " + limitLine("rejected", noon.Add(time.Hour), "")})
	held := l.awaitHeld(s.ID, 2)
	l.send(s.ID, "@say two")
	if held.Holds[0].Kind != "rate_limit" || held.Holds[1].Kind != "budget" {
		t.Fatalf("it is held by %s", encode(held.Holds))
	}
	if got := l.release(s.ID, api.Release{Turns: 1}); len(got.Holds) != 1 || got.Holds[0].Kind != "rate_limit" || len(got.Messages) != 1 {
		t.Errorf("with more turns it is held by %s", encode(got.Holds))
	}
	l.release(s.ID, api.Release{Hold: held.Holds[0].ID})
	l.awaitDone(s.ID, 2)
}

// TestSteerHeld steers sessions that are held back: only into a turn that may go
// on.
func TestSteerHeld(t *testing.T) {
	for _, action := range []string{"ask", "interrupt"} {
		t.Run(action, func(t *testing.T) {
			l := newLimited(t, []budget.Budget{{Name: "hour", Per: "session", Wall: time.Hour, Action: action}})
			s := l.create(api.CreateSession{Prompt: `@tool Bash {"command":"make"}`})
			asked := l.await(s.ID, "it asks", func(s *api.Session) bool { return len(s.Questions) == 1 })
			l.pass(2 * time.Hour)
			l.await(s.ID, "it is held", func(s *api.Session) bool { return len(s.Holds) == 1 })
			steer := func() error {
				_, err := l.hub.Send(l.ctx(), person, s.ID, api.SendMessage{Text: "@say now", Mode: "steer"})
				return err
			}
			if action == "ask" {
				if err := steer(); err != nil {
					t.Errorf("steering a turn that may go on: %v", err)
				}
				if _, err := l.hub.Answer(l.ctx(), person, asked.Questions[0].ID, api.Answer{Decision: "deny", Message: "no"}); err != nil {
					t.Fatal(err)
				}
			}
			l.await(s.ID, "it is idle", func(s *api.Session) bool { return s.State == api.StateIdle && len(s.Messages) == 0 })
			if err := steer(); code(err) != api.CodeConflict {
				t.Errorf("steering a session without a turn: %v", err)
			}
		})
	}
}
