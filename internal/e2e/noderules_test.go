//go:build linux

package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
)

// writing is the directive of a call that writes a file.
func writing(path string) string {
	return `@tool Write {"file_path":` + quoted(path) + `,"content":"x"}` + "\n@result done"
}

// TestNodeRules holds that rules follow the links of the machine that the agent runs
// on: a link that is on the node alone never widens an allow rule and never evades a
// deny rule, and one that is on the hub's disk alone means nothing. Hub and node see
// another folder under the same path, by a mount that only the node has.
func TestNodeRules(t *testing.T) {
	t.Parallel()
	bwrap := bubblewrap(t)
	l := newNodeLab(t, nil)
	m := l.newMachine("links")
	secret, denied := filepath.Join(l.root, "secret"), filepath.Join(l.root, "denied")
	ground := filepath.Join(m.work, "ground")             // as the hub sees it
	seen, record := l.newDirIn(filepath.Join(m.root), "") // as the node does
	for _, dir := range []string{
		secret, denied, ground, filepath.Join(ground, "trap"), filepath.Join(ground, "evade"), filepath.Join(ground, "plain"),
		filepath.Join(seen, "plain"), filepath.Join(seen, "hub"),
	} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		filepath.Join(seen, "trap"): secret, filepath.Join(seen, "evade"): denied, filepath.Join(seen, "mine"): m.data, filepath.Join(ground, "hub"): secret,
	} {
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
	}
	m.wrap = []string{bwrap, "--dev-bind", "/", "/", "--bind", seen, ground, "--die-with-parent", "--"}
	k := &ruleTalk{talk: &talk{t: t, name: "start"}, file: filepath.Join(l.home, ".config", "switchboard", "rules.toml")}
	k.writeRules(`allow = ["Edit(trap/**)", "Edit(plain/**)", "Edit(hub/**)", "Edit(evade/**)", "Edit(mine/**)"]` + "\n" + `deny = ["Edit(/` + denied + `/**)"]` + "\n")
	l.start()
	m.enroll(l)
	m.start()
	talkTo := func() *talk {
		s, err := l.createIn(l.ctx(), ground, record, func(in *api.CreateSession) {
			in.Node, in.ClientID = m.name, "" // both sessions are in this folder
		})
		if err != nil {
			t.Fatal(err)
		}
		k := &talk{session: s, t: t, c: l.client(), name: "start"}
		if _, err := s.awaitState(l.ctx(), api.StateIdle); err != nil {
			t.Fatal(err)
		}
		return k
	}
	k.talk = talkTo()
	k.confirm()

	k.step("a folder that is one on both machines")
	k.byRule(writing(filepath.Join(ground, "plain", "a")), "allow", "Edit(plain/**)", "global")
	k.step("a link on the hub's disk alone")
	k.byRule(writing(filepath.Join(ground, "hub", "a")), "allow", "Edit(hub/**)", "global")
	k.step("a link on the node alone, to what is denied")
	k.byRule(writing(filepath.Join(ground, "evade", "a")), "deny", "Edit(/"+denied+"/**)", "global")

	k.step("a link on the node alone")
	k.prompt(writing(filepath.Join(ground, "trap", "a")), "@say Over.")
	q := k.question(1)
	// The node is asked about the paths of each question in turn: when another's is
	// settled, those of this one are known.
	witness := &ruleTalk{talk: talkTo(), file: k.file}
	witness.step("a later question")
	witness.byRule(writing(filepath.Join(ground, "plain", "b")), "allow", "Edit(plain/**)", "global")
	if now := k.look(q); now.State != api.QuestionOpen {
		k.fail("the question is %s, by %q with the rule %+v; an allow rule must not cover it", now.State, now.From, now.Rule)
	}
	k.settle(q, api.Answer{Decision: "deny", Message: "No."})
	k.over()

	k.step("the node's own folder")
	k.denied(writing(filepath.Join(m.data, "node.json"))) // the CLI was told
	k.step("a link on the node alone, to its own folder")
	k.prompt(writing(filepath.Join(ground, "mine", "node.json")), "@say Over.")
	k.asked(1)
	if own := k.look(k.question(1)); own.State != api.QuestionAnswered || own.From != "hub" || own.Answer == nil || own.Answer.Decision != "deny" {
		k.fail("the node's key: %s by %q, %+v; want a denial by rule", own.State, own.From, own.Answer)
	}
}
