package hub_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
)

// write is a prompt that has an agent write a file.
func write(path string) string {
	return `@tool Write {"file_path":"` + path + `","content":"x"}`
}

// last returns the newest question of a session.
func (l *lab) last(id string) api.Question {
	l.t.Helper()
	list, err := l.hub.Questions(l.ctx(), api.QuestionFilter{Session: id})
	if err != nil || len(list.Questions) == 0 {
		l.t.Fatalf("%s, %v", encode(list), err)
	}
	return list.Questions[len(list.Questions)-1]
}

// TestRulesFollowNodeLinks judges paths by the links on the agent's machine alone.
func TestRulesFollowNodeLinks(t *testing.T) {
	// A link on the hub's disk, which the agent's machine does not have.
	disk, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc", filepath.Join(disk, "link")); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		rules string
		links map[string]string
		path  string
		want  string // allow, deny, or "" for a question to people
	}{
		{"no link", `allow = ["Edit(//nowhere/**)"]`, nil, "/nowhere/a", "allow"},
		{"a link of the node out of what is allowed", `allow = ["Edit(//nowhere/**)"]`, map[string]string{"/nowhere/out": "/elsewhere"}, "/nowhere/out/a", ""},
		{"a link of the node within what is allowed", `allow = ["Edit(//nowhere/**)"]`, map[string]string{"/nowhere/in": "/nowhere/b"}, "/nowhere/in/a", "allow"},
		{"a link of the node into what is allowed", `allow = ["Edit(//nowhere/**)"]`, map[string]string{"/elsewhere/in": "/nowhere"}, "/elsewhere/in/a", ""},
		{"a link of the hub's disk alone", `allow = ["Edit(/` + disk + `/**)"]`, nil, disk + "/link/a", "allow"},
		{"a link of the hub's disk to what is denied", `allow = ["Edit(/` + disk + `/**)"]
deny = ["Edit(//etc/**)"]`, nil, disk + "/link/a", "allow"},
		{"a link of the node to what is denied", `allow = ["Edit(//nowhere/**)"]
deny = ["Edit(//secret/**)"]`, map[string]string{"/nowhere/out": "/secret"}, "/nowhere/out/a", "deny"},
		{"what a deny rule is about is a link of the node", `allow = ["Edit(//nowhere/**)"]
deny = ["Edit(//vault/**)"]`, map[string]string{"/vault": "/nowhere/v"}, "/nowhere/v/a", "deny"},
		{"two links after each other", `allow = ["Edit(//nowhere/**)"]
deny = ["Edit(//secret/**)"]`, map[string]string{"/nowhere/out": "/nowhere/b", "/nowhere/b": "/secret"}, "/nowhere/out/a", "deny"},
		{"the home folder is the node's", `allow = ["Edit(~/src/**)"]`, nil, "/home/agent/src/a", "allow"},
		{"the hub's home folder is none", `allow = ["Edit(~/src/**)"]`, nil, "/home/me/src/a", ""},
		{"a home folder that is a link", `allow = ["Edit(~/src/**)"]`, map[string]string{"/home/agent": "/data/agent"}, "/home/agent/src/a", "allow"},
		{"the node's own files through a link", `allow = ["Edit(//nowhere/**)"]`, map[string]string{"/nowhere/own": "/home/agent/.switchboard-node"}, "/nowhere/own/node.json", "deny"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l, n, _ := nodesLab(t, test.rules)
			n.set(func(n *node) { n.links = test.links })
			s := l.create(api.CreateSession{Dir: "/nowhere", Node: "gpu-1", Prompt: write(test.path)})
			if test.want == "" {
				if q := l.question(s.ID); q.State != api.QuestionOpen {
					t.Errorf("the question is %s", encode(q))
				}
				return
			}
			l.awaitDone(s.ID, 1)
			if q := l.last(s.ID); q.Answer == nil || q.Answer.Decision != test.want || q.From != "hub" {
				t.Errorf("the question is %s", encode(q))
			}
		})
	}
}

// TestNodeIsToldItsOwn has the CLI on a node told to keep away from the node's own files.
func TestNodeIsToldItsOwn(t *testing.T) {
	l, n, _ := nodesLab(t, `deny = ["Edit(~/private/**)"]`)
	n.set(func(n *node) { n.links["/home/agent/.switchboard-node"] = "/var/node" })
	s := l.create(api.CreateSession{Dir: "/nowhere", Node: "gpu-1"})
	deny := n.spec(s.ID).Deny
	for _, want := range []string{"Edit(//home/agent/.switchboard-node/**)", "Edit(//var/node/**)", "Edit(//home/agent/private/**)"} {
		if !slices.Contains(deny, want) {
			t.Errorf("it is told %q, without %s", deny, want)
		}
	}
}

// TestFolderRuleOnNode has a rule for a folder hold where the session's folder leads there
// on its machine, for what the CLI is told as well.
func TestFolderRuleOnNode(t *testing.T) {
	l, n, _ := nodesLab(t, `
[[folder]]
path = "/real"
deny = ["Edit(//elsewhere/**)"]
`)
	n.set(func(n *node) { n.links["/nowhere"] = "/real" })
	s := l.create(api.CreateSession{Dir: "/nowhere", Node: "gpu-1"})
	other := l.create(api.CreateSession{Dir: "/other", Node: "gpu-1"})
	if deny := n.spec(s.ID).Deny; !slices.Contains(deny, "Edit(//elsewhere/**)") {
		t.Errorf("in the folder it is told %q", deny)
	}
	if deny := n.spec(other.ID).Deny; slices.Contains(deny, "Edit(//elsewhere/**)") {
		t.Errorf("in another folder it is told %q", deny)
	}
}

// TestSessionRuleOnNode has a session's own rules follow the node's links, too.
func TestSessionRuleOnNode(t *testing.T) {
	l, n, _ := nodesLab(t, `allow = ["Edit(//nowhere/**)"]`)
	n.set(func(n *node) { n.links["/vault"] = "/nowhere/v" })
	s := l.create(api.CreateSession{Dir: "/nowhere", Node: "gpu-1", Prompt: write("/nowhere/v/a")})
	l.awaitDone(s.ID, 1)
	if _, err := l.hub.AddRule(l.ctx(), person, s.ID, api.AddRule{Rule: "Edit(//vault/**)", Decision: api.RuleDeny}); err != nil {
		t.Fatal(err)
	}
	l.send(s.ID, write("/nowhere/v/a"))
	l.awaitDone(s.ID, 2)
	if q := l.last(s.ID); q.Answer == nil || q.Answer.Decision != "deny" {
		t.Errorf("the question is %s", encode(q))
	}
}

// TestQuestionWhileNodeIsAway leaves a question to people while the node cannot be asked,
// has rules deny it as it is written, and settles it when the node is there again.
func TestQuestionWhileNodeIsAway(t *testing.T) {
	l, n, _ := nodesLab(t, `allow = ["Edit(//nowhere/**)", "Bash(make:*)"]
[[rule]]
rule = "Edit(//nowhere/secret/**)"
decision = "deny"
expires = 2999-01-01T00:00:00Z # so that the CLI is not told of it
`)
	s := l.create(api.CreateSession{Dir: "/nowhere", Node: "gpu-1", Prompt: "@say ready"})
	l.awaitDone(s.ID, 1)
	n.leave() // the link stays
	l.send(s.ID, write("/nowhere/a"))
	q := l.question(s.ID)
	if q.Rule != nil {
		t.Errorf("a rule has something to say: %s", encode(q))
	}
	n.back()
	l.awaitDone(s.ID, 2)
	if q := l.last(s.ID); q.Answer == nil || q.Answer.Decision != "allow" || q.From != "hub" || q.Rule.Rule != "Edit(//nowhere/**)" {
		t.Errorf("when the node is back the question is %s", encode(q))
	}
	n.leave()
	l.send(s.ID, write("/nowhere/secret/a"))
	l.awaitDone(s.ID, 3)
	if q := l.last(s.ID); q.Answer == nil || q.Answer.Decision != "deny" {
		t.Errorf("what is denied as it is written is %s", encode(q))
	}
	// A restarted hub knows nothing of the node's links.
	l.send(s.ID, write("/nowhere/b"))
	l.question(s.ID)
	l.restart()
	l.await(s.ID, "it is linked", func(s *api.Session) bool { return s.Linked })
	if q := l.question(s.ID); q.State != api.QuestionOpen {
		t.Errorf("after a restart the question is %s", encode(q))
	}
	n.back()
	l.awaitDone(s.ID, 4)
	l.judge(s.ID)
}

// TestQuestionWhenNodeIsBack settles a question when the hub is told that the node is back,
// and also if it is not told.
func TestQuestionWhenNodeIsBack(t *testing.T) {
	for name, watch := range map[string]time.Duration{"told": time.Hour, "found out": 50 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			l, n, _ := nodesLab(t, `allow = ["Edit(//nowhere/**)"]`, func(o *hub.Options) { o.Watch = watch })
			s := l.create(api.CreateSession{Dir: "/nowhere", Node: "gpu-1", Prompt: "@say ready"})
			l.awaitDone(s.ID, 1)
			n.leave()
			l.send(s.ID, write("/nowhere/a"))
			l.question(s.ID)
			// About the rules' own links when it left, before the line was taken in, and after that.
			n.until(t, "it was asked again", func() bool { return n.refused >= 3 })
			if name == "told" {
				n.back()
			} else {
				n.nodes.mu.Lock()
				n.away = false
				n.nodes.mu.Unlock()
			}
			l.awaitDone(s.ID, 2)
		})
	}
}

// TestLinksOfOneQuestion asks the node for each question anew.
func TestLinksOfOneQuestion(t *testing.T) {
	l, n, _ := nodesLab(t, `allow = ["Edit(//nowhere/**)"]`)
	s := l.create(api.CreateSession{Dir: "/nowhere", Node: "gpu-1", Prompt: write("/nowhere/out/a")})
	l.awaitDone(s.ID, 1)
	n.nodes.mu.Lock()
	n.links["/nowhere/out"] = "/elsewhere" // nothing tells the hub
	n.nodes.mu.Unlock()
	l.send(s.ID, write("/nowhere/out/a"))
	l.question(s.ID)
}

// TestHookOnNode holds calls to the rules that the CLI would run unasked.
func TestHookOnNode(t *testing.T) {
	for _, version := range []string{"2.1.37", "2.1.120", "2.1.325"} {
		t.Run(version, func(t *testing.T) {
			l, n, _ := nodesLab(t, `
enforce = "hook"
deny = ["Read(//secret/**)"]
`)
			n.version = version
			n.set(func(n *node) { n.links["/nowhere/out"] = "/secret" })
			read := func(path string) string { return `@tool Read {"file_path":"` + path + `"}` }
			s := l.create(api.CreateSession{Dir: "/nowhere", Node: "gpu-1", Prompt: read("/nowhere/out/a") + "\n@say denied"})
			decisions := func() (list []api.Decision) {
				for _, e := range l.events(s.ID) {
					if e.Kind == api.KindDecision {
						var d api.Decision
						mustDecode(t, e.Data, &d)
						list = append(list, d)
					}
				}
				return list
			}
			l.await(s.ID, "it is over", func(s *api.Session) bool { return s.State == api.StateIdle && s.Text == "denied" })
			if got := decisions(); len(got) != 1 || got[0].Rule.Decision != api.RuleDeny || got[0].Rule.Rule != "Read(//secret/**)" {
				t.Errorf("what leads to a denied file was decided as %s", encode(got))
			}
			n.leave()
			l.send(s.ID, read("/nowhere/out/a")+"\n@say asked")
			q := l.question(s.ID)
			got := decisions()
			if len(got) != 2 || got[1].Rule.Decision != api.RuleAsk || !strings.Contains(got[1].Rule.Reason, "machine") {
				t.Errorf("while the node is away it was decided as %s", encode(got))
			}
			l.answer(q.ID, api.Answer{Decision: "deny"})
			l.await(s.ID, "it is over", func(s *api.Session) bool { return s.State == api.StateIdle && s.Text == "asked" })
			l.judge(s.ID)
		})
	}
}

// TestEditedCallOnNode judges a call that a person has edited by the node's links.
func TestEditedCallOnNode(t *testing.T) {
	l, n, _ := nodesLab(t, `deny = ["Edit(//secret/**)"]`)
	n.set(func(n *node) { n.links["/nowhere/out"] = "/secret" })
	s := l.create(api.CreateSession{Dir: "/nowhere", Node: "gpu-1", Prompt: write("/nowhere/a")})
	q := l.question(s.ID)
	edited := func(path string) error {
		input := json.RawMessage(`{"file_path":"` + path + `","content":"x"}`)
		_, err := l.hub.Answer(l.ctx(), person, q.ID, api.Answer{Decision: "allow", Input: input})
		return err
	}
	if err := edited("/nowhere/out/a"); code(err) != api.CodeInvalid || !strings.Contains(err.Error(), "Edit(//secret/**)") {
		t.Errorf("edited into what is denied: %v", err)
	}
	n.leave()
	if err := edited("/nowhere/b"); code(err) != api.CodeOffline {
		t.Errorf("edited while the node is away: %v", err)
	}
	if err := edited("/secret/a"); code(err) != api.CodeInvalid {
		t.Errorf("edited into what is denied as it is written: %v", err)
	}
	n.back()
	if err := edited("/nowhere/b"); err != nil {
		t.Errorf("edited into what no rule denies: %v", err)
	}
	l.awaitDone(s.ID, 1)
}

// TestExplainOnNode explains a call of a session as its machine would have it judged.
func TestExplainOnNode(t *testing.T) {
	l, n, _ := nodesLab(t, `allow = ["Edit(//nowhere/**)"]
deny = ["Edit(//secret/**)"]`)
	n.set(func(n *node) { n.links["/nowhere/out"] = "/secret" })
	s := l.create(api.CreateSession{Dir: "/nowhere", Node: "gpu-1"})
	explain := func(path string) api.RuleDecision {
		t.Helper()
		d, err := l.hub.Explain(l.ctx(), api.ExplainCall{Tool: "Write", Session: s.ID, Input: json.RawMessage(`{"file_path":"` + path + `","content":"x"}`)})
		if err != nil {
			t.Fatal(err)
		}
		return d.Rule.Decision
	}
	if got := explain("/nowhere/a"); got != api.RuleAllow {
		t.Errorf("what is allowed: %s", got)
	}
	if got := explain("/nowhere/out/a"); got != api.RuleDeny {
		t.Errorf("what leads to something denied: %s", got)
	}
	n.leave()
	if got := explain("/nowhere/a"); got != api.RuleAsk {
		t.Errorf("while the node is away: %s", got)
	}
}

// TestSlowNode has a call wait for a slow node, and nothing else: neither the session's
// clients nor other sessions. One that does not answer at all leaves the question to people.
func TestSlowNode(t *testing.T) {
	l, n, _ := nodesLab(t, `allow = ["Edit(//nowhere/**)"]`)
	s := l.create(api.CreateSession{Dir: "/nowhere", Node: "gpu-1", Prompt: "@say ready"})
	other := l.create(api.CreateSession{Dir: "/nowhere", Node: "gpu-1", Prompt: "@say ready"})
	l.awaitDone(s.ID, 1)
	l.awaitDone(other.ID, 1)
	asked, answer := make(chan struct{}, 16), make(chan struct{})
	n.set(func(n *node) {
		n.slow = func(ctx context.Context) error {
			asked <- struct{}{}
			select {
			case <-answer:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
	l.send(s.ID, write("/nowhere/a"))
	<-asked
	if got := l.snapshot(s.ID); len(got.Questions) != 0 {
		t.Errorf("before the node has told the session is %s", encode(got))
	}
	l.send(other.ID, "@say meanwhile")
	l.awaitDone(other.ID, 2)
	close(answer)
	l.awaitDone(s.ID, 2)
	if q := l.last(s.ID); q.Answer == nil || q.Answer.Decision != "allow" {
		t.Errorf("the question is %s", encode(q))
	}
	n.set(func(n *node) { n.slow = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() } })
	l.send(s.ID, write("/nowhere/b"))
	l.question(s.ID)
	n.set(func(n *node) { n.slow = nil })
	l.awaitDone(s.ID, 3)
}

// TestLocalAsksNoNode judges calls on the hub's own machine without any node.
func TestLocalAsksNoNode(t *testing.T) {
	l, n, _ := nodesLab(t, `allow = ["Edit(//nowhere/**)"]`)
	n.set(func(n *node) { n.links["/nowhere/out"] = "/secret" })
	s := l.create(api.CreateSession{Dir: "/nowhere", Prompt: write("/nowhere/out/a")})
	l.awaitDone(s.ID, 1)
	n.nodes.mu.Lock()
	defer n.nodes.mu.Unlock()
	if slices.ContainsFunc(n.nodes.all, func(n *node) bool { return len(n.asked) > 0 }) {
		t.Errorf("the node was asked about %q", n.asked)
	}
}
