package hub_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/budget"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/internal/report"
)

// TestSessionOnNode lives a session on another machine: it is started, resumed and forked
// there, and nothing of it on the hub's own.
func TestSessionOnNode(t *testing.T) {
	l, n, _ := nodesLab(t, "")
	here := l.create(api.CreateSession{Prompt: "@say here"})
	s := l.create(api.CreateSession{Node: "gpu-1", Prompt: "@say there"})
	if s.Node != "gpu-1" || here.Node != "" {
		t.Errorf("the machines are %q and %q", s.Node, here.Node)
	}
	l.awaitDone(s.ID, 1)
	l.judge(s.ID)
	for _, name := range []string{"gpu-1", "n-gpu-1"} {
		list, err := l.hub.List(l.ctx(), api.SessionFilter{Node: name})
		if err != nil || len(list.Sessions) != 1 || list.Sessions[0].ID != s.ID || list.Sessions[0].Node != "gpu-1" {
			t.Errorf("the sessions on %s are %s, %v", name, encode(list), err)
		}
	}
	if list, err := l.hub.List(l.ctx(), api.SessionFilter{Node: "gpu-2"}); err != nil || len(list.Sessions) != 0 {
		t.Errorf("the sessions on another machine are %s, %v", encode(list), err)
	}
	if list, err := l.hub.List(l.ctx(), api.SessionFilter{}); err != nil || len(list.Sessions) != 2 {
		t.Errorf("all sessions are %s, %v", encode(list), err)
	}
	var created record.Created
	var started record.RunStarted
	for _, e := range l.events(s.ID) {
		switch e.Kind {
		case api.KindCreated:
			mustDecode(t, e.Data, &created)
		case api.KindRunStarted:
			mustDecode(t, e.Data, &started)
		}
	}
	if created.Node != "n-gpu-1" || created.NodeName != "gpu-1" || started.Node != "n-gpu-1" || started.NodeName != "gpu-1" {
		t.Errorf("the log says %+v, %+v", created, started)
	}
	if run, err := l.journal.Run(l.ctx(), s.ID, 1); err != nil || run.Node != "n-gpu-1" {
		t.Errorf("the run is %+v, %v", run, err)
	}
	if got := l.hub.NodeRuns(); len(got) != 1 || got["n-gpu-1"] != 1 {
		t.Errorf("the runs by node are %v", got)
	}
	forked, err := l.hub.Fork(l.ctx(), person, s.ID, api.Fork{Prompt: "@say a copy"})
	if err != nil {
		t.Fatal(err)
	}
	l.awaitDone(forked.ID, 1)
	if _, err := l.hub.Stop(l.ctx(), person, s.ID, api.Stop{}); err != nil {
		t.Fatal(err)
	}
	if got := l.hub.NodeRuns(); got["n-gpu-1"] != 1 {
		t.Errorf("after one has ended the runs by node are %v", got)
	}
	l.restart()
	if got := l.hub.NodeRuns(); got["n-gpu-1"] != 1 {
		t.Errorf("after a restart the runs by node are %v", got)
	}
	if _, err := l.hub.Resume(l.ctx(), person, s.ID, api.Resume{Prompt: "@say again"}); err != nil {
		t.Fatal(err)
	}
	l.awaitDone(s.ID, 2)
	if forked.Node != "gpu-1" || n.starts() != 3 || len(l.launcher.specs) != 1 {
		t.Errorf("the fork is on %q; %d were started there, %d here", forked.Node, n.starts(), len(l.launcher.specs))
	}
	l.sameProjections(s.ID)
}

func mustDecode(t *testing.T, raw []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(raw, v); err != nil {
		t.Fatal(err)
	}
}

// TestChooseNode passes the choice of a machine on, with what is wrong with it.
func TestChooseNode(t *testing.T) {
	l, n, _ := nodesLab(t, "")
	if s := l.create(api.CreateSession{NodeLabels: map[string]string{"gpu": "h100"}}); s.Node != "gpu-1" {
		t.Errorf("the machine is %q", s.Node)
	}
	if want := []string{"any map[gpu:h100]"}; !slices.Equal(n.nodes.chosen, want) {
		t.Errorf("it was chosen by %q", n.nodes.chosen)
	}
	n.leave()
	for _, test := range []struct {
		in   api.CreateSession
		want string
	}{
		{api.CreateSession{Dir: "/x", Node: "gpu-9"}, api.CodeNotFound},
		{api.CreateSession{Dir: "/x", Node: "gpu-1"}, api.CodeOffline},
		{api.CreateSession{Dir: "/x", Node: "gpu-2", Transport: "websocket"}, api.CodeInvalid},
		{api.CreateSession{Dir: "x", Node: "gpu-2"}, api.CodeInvalid},
	} {
		if _, err := l.hub.Create(l.ctx(), person, test.in); code(err) != test.want {
			t.Errorf("%s: %v", encode(test.in), err)
		}
	}
	bare := newLab(t)
	if _, err := bare.hub.Create(bare.ctx(), person, api.CreateSession{Dir: "/x", Node: "gpu-1"}); code(err) != api.CodeNotFound {
		t.Errorf("without other machines: %v", err)
	}
}

// TestUnreachableIsNotDead leaves a run alone as long as its machine is away, and ends it
// when that says that its process is dead.
func TestUnreachableIsNotDead(t *testing.T) {
	l, n, _ := nodesLab(t, "")
	s := l.create(api.CreateSession{Node: "gpu-1", Prompt: "@say one"})
	l.awaitDone(s.ID, 1)
	n.vanish()
	l.awaitState(s.ID, api.StateOffline)
	n.looked(t)
	if got := l.snapshot(s.ID); got.State != api.StateOffline || got.Run != 1 {
		t.Fatalf("while its machine is away the session is %s", encode(got))
	}
	// It cannot be ended from here, so it is not said to have ended.
	if _, err := l.hub.Stop(l.ctx(), person, s.ID, api.Stop{Force: true}); code(err) != api.CodeOffline {
		t.Errorf("stopping it with force: %v", err)
	}
	if _, err := l.hub.Resume(l.ctx(), person, s.ID, api.Resume{Force: true}); code(err) != api.CodeOffline {
		t.Errorf("resuming it with force: %v", err)
	}
	l.send(s.ID, "@say two")
	l.restart() // connects the shims, too
	l.shimOf(s.ID).cut()
	n.looked(t)
	if got := l.snapshot(s.ID); got.State != api.StateOffline || got.Run != 1 || len(got.Messages) != 1 {
		t.Fatalf("after a restart the session is %s", encode(got))
	}
	n.set(func(n *node) { n.away, n.vague = false, true })
	n.looked(t)
	if got := l.snapshot(s.ID); got.State != api.StateOffline {
		t.Errorf("as long as the machine does not say whether its process lives the session is %s", encode(got))
	}
	n.set(func(n *node) { n.vague = false })
	n.looked(t)
	if got := l.snapshot(s.ID); got.State != api.StateOffline {
		t.Errorf("as long as its process lives and is not linked the session is %s", encode(got))
	}
	n.connectAll()
	l.awaitDone(s.ID, 2)
	l.judge(s.ID)
	n.vanish()
	l.shimOf(s.ID).kill()
	n.looked(t)
	if got := l.snapshot(s.ID); got.State != api.StateOffline {
		t.Errorf("before the machine has told the session is %s", encode(got))
	}
	n.back()
	if got := l.awaitState(s.ID, api.StateEnded); got.Ended.Reason != "its shim process died" || n.starts() != 1 {
		t.Errorf("it ended with %s after %d starts", encode(got.Ended), n.starts())
	}
	n.leave()
	if _, err := l.hub.Resume(l.ctx(), person, s.ID, api.Resume{}); code(err) != api.CodeOffline {
		t.Errorf("resuming it while its machine is away: %v", err)
	}
	if got := l.snapshot(s.ID); got.State != api.StateEnded || got.Run != 1 {
		t.Errorf("then it is %s", encode(got))
	}
	// A message waits for the machine, and its process is started there, once.
	n.listen(true)
	l.send(s.ID, "@say three")
	l.awaitState(s.ID, api.StateOffline)
	n.back()
	l.awaitDone(s.ID, 3)
	if spec := n.spec(s.ID); n.starts() != 2 || spec.Resume == "" || spec.Resume != l.snapshot(s.ID).Conversations[0].ID {
		t.Errorf("after %d starts it continues %q", n.starts(), spec.Resume)
	}
}

// TestStartWithoutAnswer loses what a machine says about a start: there is one process
// in the end, whether it was started or not.
func TestStartWithoutAnswer(t *testing.T) {
	t.Run("started, and the answer lost", func(t *testing.T) {
		l, n, _ := nodesLab(t, "")
		n.listen(false)
		n.set(func(n *node) { n.lose = true })
		s := l.create(api.CreateSession{Node: "gpu-1", Prompt: "@say once"})
		if s.State != api.StateOffline {
			t.Errorf("the session is %s", encode(s))
		}
		n.looked(t)
		if got := l.snapshot(s.ID); got.State != api.StateOffline || got.Run != 1 {
			t.Errorf("while its process lives the session is %s", encode(got))
		}
		n.connectAll()
		l.awaitDone(s.ID, 1)
		l.judge(s.ID)
		if n.starts() != 1 {
			t.Errorf("%d processes were started", n.starts())
		}
	})
	t.Run("lost on its way", func(t *testing.T) {
		l, n, _ := nodesLab(t, "")
		n.set(func(n *node) { n.drop = true })
		s := l.create(api.CreateSession{Node: "gpu-1", Prompt: "@say once"})
		l.awaitDone(s.ID, 1) // the machine says that there is none, and it is started again
		if got := l.snapshot(s.ID); got.Run != 2 || n.starts() != 1 || got.Cost.Turns != 1 {
			t.Errorf("after %d starts the session is %s", n.starts(), encode(got))
		}
	})
	t.Run("the hub killed before the answer", func(t *testing.T) {
		l, n, _ := nodesLab(t, "")
		n.listen(false)
		held := &heldStart{began: make(chan struct{})}
		n.set(func(n *node) { n.started = held.wait })
		created := make(chan string, 1)
		go func() {
			_, err := l.hub.Create(context.Background(), person, api.CreateSession{Dir: "/x", Node: "gpu-1", Prompt: "@say once"})
			created <- code(err)
		}()
		<-held.began // its process runs
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			l.close()
		}()
		if got := <-created; got != api.CodeClosing {
			t.Errorf("the caller was told %s", got)
		}
		<-closed
		n.leave()
		l.open()
		list, err := l.hub.List(l.ctx(), api.SessionFilter{})
		if err != nil || len(list.Sessions) != 1 {
			t.Fatalf("after the restart: %s, %v", encode(list), err)
		}
		id := list.Sessions[0].ID
		l.shimOf(id).cut()
		n.looked(t)
		if got := l.snapshot(id); got.State != api.StateOffline || got.Run != 1 {
			t.Errorf("while the machine is away the session is %s", encode(got))
		}
		n.back()
		n.connectAll()
		l.awaitDone(id, 1)
		if run, err := l.journal.Run(l.ctx(), id, 1); err != nil || run.PID == 0 || n.starts() != 1 {
			t.Errorf("the run is %+v, %v, after %d starts", run, err, n.starts())
		}
	})
}

// A heldStart holds the answer of a start whose process runs, until the hub closes.
type heldStart struct{ began chan struct{} }

func (h *heldStart) wait(ctx context.Context) error {
	close(h.began)
	<-ctx.Done()
	return ctx.Err()
}

// TestLinkOfAnotherNode refuses the link of a run that another machine's connection
// carries, with the words for a wrong token.
func TestLinkOfAnotherNode(t *testing.T) {
	l, _, _ := nodesLab(t, "")
	there := l.create(api.CreateSession{Node: "gpu-1"})
	here := l.create(api.CreateSession{})
	l.await(there.ID, "it is linked", func(s *api.Session) bool { return s.Linked })
	l.await(here.ID, "it is linked", func(s *api.Session) bool { return s.Linked })
	attach := func(what string, hello hub.Hello, node string) {
		t.Helper()
		hello.Node = node
		if _, _, err := l.hub.Attach(l.ctx(), hello, newDialler()); !errors.Is(err, hub.ErrCredential) {
			t.Errorf("%s: %v", what, err)
		}
		if _, _, err := l.hub.AttachSpool(l.ctx(), hello, newDialler()); !errors.Is(err, hub.ErrCredential) {
			t.Errorf("%s, with what it left: %v", what, err)
		}
	}
	attach("a node's run from the hub's machine", l.shimOf(there.ID).hello(), "")
	attach("a node's run from another node", l.shimOf(there.ID).hello(), "n-gpu-2")
	attach("the hub's run from a node", l.shimOf(here.ID).hello(), "n-gpu-1")
	if got := l.snapshot(there.ID); !got.Linked {
		t.Errorf("the session has lost its link: %s", encode(got))
	}
	// What has ended is told to its own machine alone.
	hello := l.shimOf(there.ID).hello()
	if _, err := l.hub.Stop(l.ctx(), person, there.ID, api.Stop{}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.hub.Resume(l.ctx(), person, there.ID, api.Resume{Fresh: true}); err != nil {
		t.Fatal(err)
	}
	gone := (*hub.GoneError)(nil)
	if _, _, err := l.hub.Attach(l.ctx(), hello, newDialler()); !errors.As(err, &gone) {
		t.Errorf("a run that has ended: %v", err)
	}
	hello.Node = "n-gpu-2"
	if _, _, err := l.hub.Attach(l.ctx(), hello, newDialler()); !errors.Is(err, hub.ErrCredential) {
		t.Errorf("a run that has ended, from another node: %v", err)
	}
}

// TestForgetNode ends the runs of a machine that will not come back.
func TestForgetNode(t *testing.T) {
	l, _, _ := nodesLab(t, "")
	away := l.create(api.CreateSession{Node: "gpu-1", Prompt: `@tool Bash {"command":"make"}`})
	other := l.create(api.CreateSession{Node: "gpu-2", Prompt: "@say there"})
	here := l.create(api.CreateSession{Prompt: "@say here"})
	l.question(away.ID)
	l.awaitDone(other.ID, 1)
	l.awaitDone(here.ID, 1)
	linked := l.create(api.CreateSession{Node: "gpu-1", Prompt: "@say there"})
	l.awaitDone(linked.ID, 1)
	l.shimOf(away.ID).cut()
	l.awaitState(away.ID, api.StateOffline)
	shim := l.shimOf(linked.ID)
	shim.mu.Lock()
	conn := shim.conn
	shim.mu.Unlock()
	runs, err := l.hub.ForgetNode(l.ctx(), "n-gpu-1")
	if err != nil || runs != 2 {
		t.Errorf("forgetting ended %d runs, %v", runs, err)
	}
	select {
	case <-conn.done:
	case <-l.ctx().Done():
		t.Error("the link of a run that was given up is still there")
	}
	for _, id := range []string{away.ID, linked.ID} {
		got := l.snapshot(id)
		if got.State != api.StateEnded || got.Ended.Reason != `the machine "gpu-1" was forgotten` || len(got.Questions) != 0 || got.Linked || got.Node != "gpu-1" {
			t.Errorf("a session of the machine is %s", encode(got))
		}
	}
	for _, id := range []string{other.ID, here.ID} {
		if got := l.snapshot(id); got.State != api.StateIdle {
			t.Errorf("another session is %s", encode(got))
		}
	}
	if got := l.hub.NodeRuns(); len(got) != 1 || got["n-gpu-2"] != 1 {
		t.Errorf("the runs by node are %v", got)
	}
	if runs, err := l.hub.ForgetNode(l.ctx(), "n-gpu-1"); err != nil || runs != 0 {
		t.Errorf("forgetting again ended %d runs, %v", runs, err)
	}
	if _, err := l.hub.ForgetNode(l.ctx(), ""); err == nil {
		t.Error("the hub's own machine was forgotten")
	}
}

// TestProcessEnded looks after a session at once when its own machine says so, and not when
// another one does.
func TestProcessEnded(t *testing.T) {
	l, n, _ := nodesLab(t, "", func(o *hub.Options) { o.Watch = time.Hour })
	s, other := l.create(api.CreateSession{Node: "gpu-1"}), l.create(api.CreateSession{Node: "gpu-1"})
	for _, id := range []string{s.ID, other.ID} {
		l.await(id, "it is linked", func(s *api.Session) bool { return s.Linked })
	}
	quietly := func(change func()) { // without a word to the hub
		n.nodes.mu.Lock()
		defer n.nodes.mu.Unlock()
		change()
	}
	quietly(func() { n.away, n.lives = true, map[string]int{} })
	for _, id := range []string{s.ID, other.ID} {
		l.shimOf(id).kill()
		n.until(t, "the lost link has it looked after", func() bool { return n.lives[id] > 0 })
		l.awaitState(id, api.StateOffline)
	}
	quietly(func() { n.away = false })
	l.hub.ProcessEnded("n-gpu-2", s.ID)
	l.hub.ProcessEnded("", s.ID)
	l.hub.ProcessEnded("n-gpu-1", other.ID)
	l.awaitState(other.ID, api.StateEnded)
	if got := l.snapshot(s.ID); got.State != api.StateOffline {
		t.Errorf("after another machine has said so the session is %s", encode(got))
	}
	l.hub.ProcessEnded("n-gpu-1", s.ID)
	l.awaitState(s.ID, api.StateEnded)
}

// TestLeaseOnNode has the same conversation on two machines at once, but not twice on
// one: a transcript that was copied is another conversation.
func TestLeaseOnNode(t *testing.T) {
	l, n, _ := nodesLab(t, "")
	first := l.create(api.CreateSession{Dir: "/x", Prompt: "@say hello"})
	conversation := l.awaitDone(first.ID, 1).Conversation
	if _, err := l.hub.Stop(l.ctx(), person, first.ID, api.Stop{}); err != nil {
		t.Fatal(err)
	}
	line := `{"type":"user","uuid":"u1","session_id":"` + conversation + `","message":{"role":"user","content":"hello"}}`
	l.launcher.keep(conversation, line)
	n.keep(conversation, line, line)
	resume := func(node string) (*api.Created, error) {
		return l.hub.Create(l.ctx(), person, api.CreateSession{Dir: "/x", Node: node, Resume: conversation, Prompt: "@say on"})
	}
	for _, node := range []string{"", "gpu-1", "gpu-2"} {
		created, err := resume(node)
		if err != nil {
			t.Fatalf("on %q: %v", node, err)
		}
		l.awaitDone(created.ID, 1)
		if _, err := resume(node); code(err) != api.CodeOwned {
			t.Errorf("a second time on %q: %v", node, err)
		}
	}
	l.restart()
	for _, node := range []string{"", "gpu-1", "gpu-2"} {
		if _, err := resume(node); code(err) != api.CodeOwned {
			t.Errorf("after a restart, on %q: %v", node, err)
		}
	}
	var history int
	list, err := l.hub.List(l.ctx(), api.SessionFilter{Node: "gpu-1"})
	if err != nil || len(list.Sessions) != 1 {
		t.Fatalf("%s, %v", encode(list), err)
	}
	for _, e := range l.events(list.Sessions[0].ID) {
		if e.Kind == api.KindHistory {
			history++
		}
	}
	if history != 2 {
		t.Errorf("%d lines were read of the transcript on the machine", history)
	}
}

// TestBudgetOnNode counts what is used in a folder by machine, and a budget's own folder on
// all of them.
func TestBudgetOnNode(t *testing.T) {
	ns := newNodes("gpu-1", "gpu-2")
	dir := t.TempDir()
	l := newLimited(t, []budget.Budget{
		{Name: "folder", Per: "folder", Turns: 2, Action: "ask", WarnAt: 1},
		{Name: "all", Per: "day", Folder: dir, Turns: 100, Action: "warn"},
	}, func(o *hub.Options) { o.Nodes = ns })
	here := l.create(api.CreateSession{Dir: dir, Prompt: "@say one"})
	there := l.create(api.CreateSession{Dir: dir, Node: "gpu-1", Prompt: "@say one"})
	l.awaitDone(here.ID, 1)
	l.awaitDone(there.ID, 1)
	l.send(there.ID, "@say two")
	l.awaitHeld(there.ID, 1)
	check := func(when string) {
		t.Helper()
		for id, used := range map[string]float64{here.ID: 1, there.ID: 2} {
			got := l.snapshot(id)
			if got.Budgets[0].Used != used || got.Budgets[1].Used != 3 || len(got.Holds) != int(used)-1 {
				t.Errorf("%s: %s and %s", when, encode(got.Budgets), encode(got.Holds))
			}
		}
		all, err := l.hub.Budgets(l.ctx())
		if err != nil || all.Budgets[0].Scope != "gpu-1:"+dir {
			t.Errorf("%s the budgets are %s, %v", when, encode(all), err)
		}
	}
	check("before a restart")
	l.restart()
	check("after a restart")
}

// TestPlanOnNode captures a plan from the file on the agent's machine.
func TestPlanOnNode(t *testing.T) {
	l, n, _ := nodesLab(t, "")
	l.launcher.plan, n.plan = "the hub's", "the machine's"
	s := l.create(api.CreateSession{Node: "gpu-1", Prompt: "@tool EnterPlanMode\n@tool ExitPlanMode\n@say over"})
	if q := l.question(s.ID); q.Plan == nil || q.Plan.Text != "the machine's" {
		t.Errorf("the plan is %s", encode(q.Plan))
	}
}

// TestLibraryOnNode lists, reads and adopts conversations of another machine, and its
// folders.
func TestLibraryOnNode(t *testing.T) {
	l, n, _ := nodesLab(t, "")
	here := &shelf{
		lines: map[string][]string{"c1": {`{"at":"here"}`}}, folders: map[string]bool{"/here": true, "/both": true},
		files: []report.TranscriptFile{{Conversation: "c1", Dir: "/here", Title: "Here", Modified: noon}},
	}
	there := &shelf{
		lines: map[string][]string{"c1": {`{"at":"there"}`}, "c2": {`{"at":"there"}`}}, folders: map[string]bool{"/there": false, "/both": false},
		files: []report.TranscriptFile{{Conversation: "c1", Dir: "/there", Title: "There", Modified: noon}, {Conversation: "c2", Dir: "/there", Title: "There", Modified: noon}},
	}
	n.library = there
	l.report(here, "")
	l.create(api.CreateSession{Dir: "/both", Node: "gpu-1"})
	list, err := l.reports.Transcripts(l.ctx(), api.TranscriptFilter{Node: "gpu-1"})
	if err != nil || len(list.Transcripts) != 2 || list.Transcripts[0].Dir != "/there" || list.Transcripts[0].Node != "gpu-1" {
		t.Errorf("the transcripts there are %s, %v", encode(list), err)
	}
	if list, err := l.reports.Transcripts(l.ctx(), api.TranscriptFilter{}); err != nil || len(list.Transcripts) != 1 || list.Transcripts[0].Node != "" {
		t.Errorf("the transcripts here are %s, %v", encode(list), err)
	}
	if found, err := l.reports.Transcripts(l.ctx(), api.TranscriptFilter{Node: "gpu-1", Text: "There"}); err != nil || len(found.Transcripts) == 0 || found.Transcripts[0].Node != "gpu-1" {
		t.Errorf("a search there finds %s, %v", encode(found), err)
	}
	for node, want := range map[string]string{"": `{"at":"here"}`, "gpu-1": `{"at":"there"}`, "n-gpu-1": `{"at":"there"}`} {
		page, err := l.reports.Transcript(l.ctx(), node, "c1", "", 0, 0)
		if err != nil || len(page.Lines) != 1 || string(page.Lines[0]) != want {
			t.Errorf("the transcript on %q is %s, %v", node, encode(page), err)
		}
	}
	folders := func(node string) string {
		t.Helper()
		found, err := l.reports.Folders(l.ctx(), node, "/", 0)
		if err != nil {
			t.Fatal(err)
		}
		var paths []string
		for _, f := range found.Folders {
			path := f.Path
			if !f.Used.IsZero() {
				path += " used"
			}
			paths = append(paths, path)
		}
		slices.Sort(paths)
		return strings.Join(paths, ", ")
	}
	if got := folders("gpu-1"); got != "/both used, /there used" {
		t.Errorf("the folders there are %s", got)
	}
	if got := folders(""); got != "/both, /here used" {
		t.Errorf("the folders here are %s", got)
	}
	adopt, err := l.reports.Adopt(l.ctx(), "c2", api.Adopt{Node: "gpu-1"})
	if err != nil || adopt.Node != "n-gpu-1" || adopt.Dir != "/there" || adopt.Resume != "c2" {
		t.Errorf("adopted is %s, %v", encode(adopt), err)
	}
	if _, err := l.reports.Adopt(l.ctx(), "c2", api.Adopt{}); code(err) != api.CodeNotFound {
		t.Errorf("adopting here what is there: %v", err)
	}
	n.leave()
	if _, err := l.reports.Folders(l.ctx(), "gpu-1", "", 0); code(err) != api.CodeOffline {
		t.Errorf("of a machine that is away: %v", err)
	}
	if _, err := l.reports.Folders(l.ctx(), "gpu-9", "", 0); code(err) != api.CodeNotFound {
		t.Errorf("of a machine that is not known: %v", err)
	}
	if _, err := report.New(report.Options{Journal: l.journal, Library: here}).Folders(l.ctx(), "gpu-1", "", 0); code(err) != api.CodeNotFound {
		t.Errorf("of a hub without other machines: %v", err)
	}
}

// TestTeeHasNoNode has hello's node checked for a program's CLI as well.
func TestTeeHasNoNode(t *testing.T) {
	l, _, _ := nodesLab(t, "")
	created, err := l.hub.Create(l.ctx(), person, api.CreateSession{Transport: "tee"})
	if err != nil {
		t.Fatal(err)
	}
	hello := hub.Hello{Hello: link.Hello{Session: created.ID, Run: 1, Instance: "i", Next: 1, Oldest: 1, Tee: true}, Token: created.Token, Node: "n-gpu-1"}
	if _, _, err := l.hub.Attach(l.ctx(), hello, newDialler()); !errors.Is(err, hub.ErrCredential) {
		t.Errorf("from a node: %v", err)
	}
	if text := (&hub.UnreachableError{Node: "gpu-1"}).Error(); !strings.Contains(text, `"gpu-1"`) || !strings.Contains(text, "switchboard node run") {
		t.Errorf("the error is %s", text)
	}
}

// TestTeeElsewhere has a tee on a machine that is no node ask: no rule allows the call,
// since the hub knows nothing of that disk, and a rule that denies settles it. Rules allow
// the same call of a tee on the hub's own machine.
func TestTeeElsewhere(t *testing.T) {
	l, _, _ := nodesLab(t, `allow = ["Bash(make:*)"]
deny = ["Bash(rm:*)"]`, func(o *hub.Options) { o.Watch = time.Hour })
	attach := func(elsewhere bool) (*api.Created, hub.Hello, *hub.RunLink, *dialler) {
		t.Helper()
		created, err := l.hub.Create(l.ctx(), person, api.CreateSession{Transport: "tee"})
		if err != nil {
			t.Fatal(err)
		}
		w := newDialler()
		hello := hub.Hello{Hello: link.Hello{Session: created.ID, Run: 1, Instance: "i", Next: 1, Oldest: 1, Tee: true}, Token: created.Token, Elsewhere: elsewhere}
		a, _, err := l.hub.Attach(l.ctx(), hello, w)
		if err != nil {
			t.Fatal(err)
		}
		return created, hello, a, w
	}
	_, _, here, w := attach(false)
	defer here.Lost(nil)
	if err := here.Receive(l.ctx(), []hub.Item{numbered(1, bashQuestion("r1"))}); err != nil {
		t.Fatal(err)
	}
	w.await(t, 1) // a rule has answered

	created, _, away, w := attach(true)
	if err := away.Receive(l.ctx(), []hub.Item{numbered(1, bashQuestion("r1"))}); err != nil {
		t.Fatal(err)
	}
	if q := l.question(created.ID); q.Rule != nil {
		t.Errorf("a rule speaks of the question: %+v", q.Rule)
	}
	denied := strings.Replace(bashQuestion("r2"), `"make"`, `"rm x"`, 1)
	if err := away.Receive(l.ctx(), []hub.Item{numbered(2, denied)}); err != nil {
		t.Fatal(err)
	}
	if sent := w.await(t, 1); !strings.Contains(string(sent.Line), "deny") {
		t.Errorf("the CLI was told %s", sent.Line)
	}
	away.Lost(nil)
	l.restart() // it is remembered, although no link has said it again
	if q := l.question(created.ID); q.State != api.QuestionOpen {
		t.Errorf("after a restart the question is %s", q.State)
	}
}
