//go:build linux

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/internal/conformance"
)

// A ruleTalk is a talk in a lab that has rules.
type ruleTalk struct {
	*talk
	version string
	file    string // the rules
}

// writeRules replaces the rules. A file is replaced whole, as editors do it.
func (k *ruleTalk) writeRules(text string) {
	k.t.Helper()
	if err := os.MkdirAll(filepath.Dir(k.file), 0o700); err != nil {
		k.t.Fatal(err)
	}
	if err := os.WriteFile(k.file+".new", []byte(text), 0o600); err != nil {
		k.t.Fatal(err)
	}
	if err := os.Rename(k.file+".new", k.file); err != nil {
		k.t.Fatal(err)
	}
}

// policy waits until the hub says what is wanted of its rules.
func (k *ruleTalk) policy(what string, want func(*api.Policy) bool) *api.Policy {
	k.t.Helper()
	var found *api.Policy
	if err := eventually(patience, func() error {
		p, err := k.c.Policy(k.lab.ctx())
		if err != nil {
			return err
		}
		if found = p; !want(p) {
			return fmt.Errorf("the rules are %+v", p)
		}
		return nil
	}); err != nil {
		k.fail("waiting for %s: %v", what, err)
	}
	return found
}

// loaded waits until a rule is in force.
func (k *ruleTalk) loaded(rule string) {
	k.t.Helper()
	k.policy(rule, func(p *api.Policy) bool {
		return slices.ContainsFunc(p.Rules, func(r api.PolicyRule) bool { return r.Rule == rule })
	})
}

// confirm confirms a change of the rules by the program itself, as a person would.
func (k *ruleTalk) confirm() {
	k.t.Helper()
	p := k.policy("a change that waits", func(p *api.Policy) bool { return p.Pending != nil })
	cmd := exec.CommandContext(k.lab.ctx(), program(k.t), "policy", "confirm", "--data-dir", k.lab.data, "--yes", p.Pending.Sum)
	cmd.Env = k.lab.environment()
	if output, err := cmd.CombinedOutput(); err != nil {
		k.fail("%v: %s", err, output)
	}
	k.policy("no change that waits", func(p *api.Policy) bool { return p.Pending == nil })
}

// call has the agent make one call and returns what came of it, if nobody is to
// be asked.
func (k *ruleTalk) call(directive string) toolResult {
	k.t.Helper()
	k.prompt(directive, "@say Over.")
	k.asked(0)
	return k.result(1)
}

// denied holds that a call is refused although nobody is asked.
func (k *ruleTalk) denied(directive string) {
	k.t.Helper()
	if r := k.call(directive); !r.failed {
		k.fail("%s was run: %+v", directive, r)
	}
}

// runs holds that a call is run although nobody is asked.
func (k *ruleTalk) runs(directive string) {
	k.t.Helper()
	if r := k.call(directive); r.failed {
		k.fail("%s was not run: %+v", directive, r)
	}
}

// byRule has the agent make a call that it asks about, and holds that a rule
// answers.
func (k *ruleTalk) byRule(directive, decision, rule, scope string) {
	k.t.Helper()
	k.prompt(directive, "@say Over.")
	k.asked(1)
	q := k.look(k.question(1))
	if q.State != api.QuestionAnswered || q.From != "hub" || q.By != "" || q.Answer == nil || q.Answer.Decision != decision ||
		q.Rule == nil || q.Rule.Rule != rule || q.Rule.Scope != scope || q.Reason == "" {
		k.fail("the question is %s, from %q by %q with %+v, rule %+v; want %s by the rule %s", q.State, q.From, q.By, q.Answer, q.Rule, decision, rule)
	}
}

// TestRealRules holds that rules decide about the calls of the real CLIs, also
// about those that they would not ask about, and whatever their project allows.
func TestRealRules(t *testing.T) {
	t.Parallel()
	for _, version := range conformance.Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			l, _ := newRealLabWith(t, version, "", claudetest.Directives(nil))
			k := &ruleTalk{talk: &talk{t: t, name: "start"}, version: version, file: filepath.Join(l.home, ".config", "switchboard", "rules.toml")}
			k.writeRules(rulesText("cli", ""))
			l.start()
			k.talk = l.talk(t, l.permissive)
			k.enforced()
			k.confirmed()
			k.changed()
			k.trusted()
			k.ownFolder(false)
			// Every call is brought to the hub, of processes that are started now.
			k.writeRules(rulesText("hook", `"Bash(whoami:*)"`))
			k.policy("hooks", func(p *api.Policy) bool { return p.Enforce == "hook" })
			k.talk = l.talk(t, l.permissive)
			k.hooked()
			k.ownFolder(true)
		})
	}
}

// rulesText is the rules of the test: a rule that ends cannot be told a CLI, so
// that only the hub knows it.
func rulesText(enforce, more string) string {
	return fmt.Sprintf(`enforce = %q
allow = ["Bash(touch allowed.txt)"]
ask = ["Bash(pwd:*)"]
deny = ["Bash(echo:*)", "Read(/secret/**)", %s]

[[rule]]
rule = "Bash(date:*)"
decision = "deny"
message = "Nobody has time."
expires = %s
`, enforce, more, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
}

// permissive gives the session's folder settings that allow everything that the
// rules do not.
func (l *lab) permissive(c *api.CreateSession) {
	l.t.Helper()
	for name, text := range map[string]string{
		".claude/settings.json": `{"permissions":{"allow":["Bash(echo:*)","Bash(pwd:*)","Bash(whoami:*)","Bash(date:*)","Read"]}}`,
		"secret/file.txt":       "text\n",
		"open/file.txt":         "text\n",
	} {
		path := filepath.Join(c.Dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			l.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			l.t.Fatal(err)
		}
	}
}

// reading is the directive of a file that is read.
func reading(path string) string { return `@tool Read {"file_path":` + quoted(path) + `}` }

// enforced holds what the CLI enforces: what is denied and asked is told it at
// its start.
func (k *ruleTalk) enforced() {
	k.t.Helper()
	k.step("deny")
	k.denied(bash("echo hello"))
	k.denied(bash("true && echo hello"))
	k.denied(reading(filepath.Join(k.dir, "secret", "file.txt")))
	k.runs(reading(filepath.Join(k.dir, "open", "file.txt")))
	k.step("deny, which the CLI does not see")
	k.byRule(bash("bash -c 'echo hello'"), "deny", "Bash(echo:*)", "global")
	k.step("a rule that the CLI cannot be told")
	k.runs(bash("date"))
	k.step("ask")
	k.prompt(bash("pwd"), "@say Over.")
	q := k.look(k.question(1))
	if q.State != api.QuestionOpen || q.Rule == nil || q.Rule.Rule != "Bash(pwd:*)" || q.Rule.Decision != api.RuleAsk {
		k.fail("the question is %s because of %+v; want the rule that asks", q.State, q.Rule)
	}
	k.settle(q, api.Answer{Decision: "allow"})
	k.asked(1)
	k.told(1, false, k.dir)
}

// confirmed holds that a rule that allows counts when somebody has confirmed it.
func (k *ruleTalk) confirmed() {
	k.t.Helper()
	k.step("allow, not confirmed")
	k.prompt(bash("touch allowed.txt"), "@say Over.")
	q := k.question(1)
	if now := k.look(q); now.State != api.QuestionOpen {
		k.fail("a rule that nobody has confirmed makes the question %s", now.State)
	}
	k.step("allow, confirmed with the question open")
	k.confirm()
	k.asked(1)
	if now := k.look(q); now.From != "hub" || now.Rule == nil || now.Rule.Rule != "Bash(touch allowed.txt)" {
		k.fail("the question was answered from %q by %+v; want the rule", now.From, now.Rule)
	}
	k.there("allowed.txt", true)
	k.step("allow")
	k.byRule(bash("touch allowed.txt"), "allow", "Bash(touch allowed.txt)", "global")
}

// changed changes the rules of a CLI that runs.
func (k *ruleTalk) changed() {
	k.t.Helper()
	k.step("a change of the rules")
	k.runs(bash("whoami"))
	mark := k.mark()
	k.writeRules(rulesText("cli", `"Bash(whoami:*)"`))
	k.loaded("Bash(whoami:*)")
	if k.version == conformance.Oldest {
		_, err := k.awaitFrom(k.lab.ctx(), mark, "that the rule counts from the next start on", func(events []api.Event) bool { return hasNotice(events, "rules_from_next_start") })
		k.check(err)
		k.runs(bash("whoami"))
		return
	}
	_, err := k.awaitFrom(k.lab.ctx(), mark, "that the CLI has taken the rule", func(events []api.Event) bool {
		return hasSent(events, "apply_flag_settings", "Bash(whoami:*)") && countKind(events, api.KindUpdated) > 0
	})
	k.check(err)
	k.denied(bash("whoami"))
}

// trusted allows everything for a while.
func (k *ruleTalk) trusted() {
	k.t.Helper()
	k.step("timed trust")
	rule, err := k.c.AddRule(k.lab.ctx(), k.id, api.AddRule{ClientID: k.next(), Rule: "*", Decision: api.RuleAllow, For: 1800})
	k.check(err)
	if s := k.shot(); len(s.Rules) != 1 || s.Rules[0].ID != rule.ID || s.Rules[0].Expires.IsZero() {
		k.fail("the session has the rules %+v", s.Rules)
	}
	k.byRule(bash("touch trusted.txt"), "allow", "*", "session")
	k.there("trusted.txt", true)
	k.byRule(bash("bash -c 'echo hello'"), "deny", "Bash(echo:*)", "global") // which is stronger
	_, err = k.c.RemoveRule(k.lab.ctx(), k.id, rule.ID)
	k.check(err)
	k.step("timed trust, revoked")
	k.prompt(bash("touch distrusted.txt"), "@say Over.")
	q := k.question(1)
	if now := k.look(q); now.State != api.QuestionOpen {
		k.fail("the question is %s although trust was revoked", now.State)
	}
	k.settle(q, api.Answer{Decision: "deny"})
	k.asked(1)
	k.there("distrusted.txt", false)
}

// ownFolder holds that an agent does not get at the hub's own secrets.
func (k *ruleTalk) ownFolder(hooked bool) {
	k.t.Helper()
	k.step("our own folder")
	path := filepath.Join(k.lab.data, "admin.token")
	secret, err := k.lab.token()
	k.check(err)
	calls := []string{reading(path), bash("cat " + path), bash("bash -c 'cat " + path + "'")}
	if k.version != conformance.LastDialing || hooked {
		// 2.1.120 runs this one without asking anybody but a hook.
		calls = append(calls, bash("cat < "+path))
	}
	for _, directive := range calls {
		k.prompt(directive, "@say Over.")
		k.over()
		for _, e := range k.events() {
			var q api.Question
			if e.Kind == api.KindQuestionOpened && (json.Unmarshal(e.Data, &q) != nil || k.look(&q).From != "hub") {
				k.fail("%s was asked about", directive)
			}
		}
		if r := k.result(1); !r.failed || strings.Contains(r.text, secret) {
			k.fail("%s ended with %+v", directive, r)
		}
	}
}

// hooked holds that each call is brought to the hub, also those that the CLI
// would run without asking and cannot be told to deny.
func (k *ruleTalk) hooked() {
	k.t.Helper()
	k.step("deny by hook")
	k.denied(bash("date"))
	k.told(1, true, "Nobody has time.")
	found := slices.ContainsFunc(k.events(), func(e api.Event) bool {
		var d api.Decision
		return e.Kind == api.KindDecision && json.Unmarshal(e.Data, &d) == nil && d.Tool == "Bash" && d.Rule.Rule == "Bash(date:*)"
	})
	if !found {
		k.fail("no entry names the rule that decided")
	}
	k.denied(bash("cat < secret/file.txt"))
	k.runs(reading(filepath.Join(k.dir, "open", "file.txt")))
	k.step("ask by hook")
	k.prompt(bash("pwd"), "@say Over.")
	k.settle(k.question(1), api.Answer{Decision: "allow"})
	k.asked(1)
	k.told(1, false, k.dir)
	k.prompt(bash("pwd"), "@say Over.")
	k.settle(k.question(1), api.Answer{Decision: "deny", Message: "Not here."})
	k.asked(1)
	k.told(1, true, "Not here.")
}
