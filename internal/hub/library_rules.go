package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/audit"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/policy"
)

// RulesInFile are [Rules] that stand in a file. Its errors that callers can do
// something about are of type *[api.Error].
type RulesInFile interface {
	Rules
	// Text returns the file as it is.
	Text() (*api.RulesFile, error)
	// Replace writes another text, if the file is still the one that hash names. A
	// text that is wrong is refused and changes nothing.
	Replace(text, hash string) error
	// Try returns the rules of a text as they would hold, and changes nothing.
	Try(text string) (*policy.Engine, error)
}

// rulesInFile returns the rules if they stand in a file.
func (h *Hub) rulesInFile() (RulesInFile, error) {
	rules, ok := h.rules.(RulesInFile)
	if !ok {
		return nil, api.Errorf(http.StatusConflict, api.CodeConflict, "this hub has no rules file")
	}
	return rules, nil
}

// RulesFile returns the rules file as it is.
func (h *Hub) RulesFile(context.Context) (*api.RulesFile, error) {
	rules, err := h.rulesInFile()
	if err != nil {
		return nil, err
	}
	file, err := rules.Text()
	if err != nil {
		return nil, h.problem(err, "")
	}
	return file, nil
}

// ReplaceRules puts another text into the rules file. What it allows beyond what
// was allowed before waits for confirmation.
func (h *Hub) ReplaceRules(_ context.Context, by Actor, in api.ReplaceRules) (*api.Policy, error) {
	if !by.Admin {
		return nil, api.Errorf(http.StatusForbidden, api.CodeForbidden, "changing the rules file needs the scope admin")
	}
	rules, err := h.rulesInFile()
	if err != nil {
		return nil, err
	}
	if err := rules.Replace(in.Text, in.Hash); err != nil {
		return nil, h.problem(err, "")
	}
	h.log.Info("the rules file was replaced", "by", nameOf(by))
	p := rules.Status()
	return &p, nil
}

// Explain says what the rules decide about a call: those for all sessions, and
// with a session its own as well, in its folder. Where no rule says anything the
// decision is ask, and the rule is empty: then the CLI decides whether it asks.
func (h *Hub) Explain(ctx context.Context, in api.ExplainCall) (*api.Decision, error) {
	input, err := callInput(in.Input)
	if err != nil {
		return nil, err
	}
	if in.Tool == "" {
		return nil, unfit("tool: name the tool, such as Bash")
	}
	if err := checkFolder(in.Dir); err != nil {
		return nil, err
	}
	call := policy.Call{Tool: in.Tool, Input: input, Dir: in.Dir, Now: h.now()}
	engine := h.rules.Engine()
	if in.Session != "" {
		s, release, err := h.acquire(ctx, in.Session)
		if err != nil {
			return nil, err
		}
		defer release()
		err = s.look(ctx, func(*step) error {
			engine, call.AddDirs = s.engine(), s.book.Options.AddDirs
			if call.Dir == "" {
				call.Dir = s.book.dir()
			}
			return nil
		})
		if err != nil {
			return nil, h.problem(err, in.Session)
		}
	}
	verdict := engine.Decide(call)
	h.meter.Evaluated(len(engine.Rules("")))
	return &api.Decision{Tool: in.Tool, Rule: *explained(verdict), Enforced: verdict.Enforced, Message: verdict.Message}, nil
}

// explained returns what rules have decided about a call.
func explained(verdict policy.Verdict) *api.RuleRef {
	ref := refOf(verdict)
	if ref.Decision == "" {
		ref.Decision = api.RuleAsk
	}
	return ref
}

// callInput returns a tool's input, which is an object.
func callInput(raw json.RawMessage) (json.RawMessage, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return json.RawMessage("{}"), nil
	}
	if raw[0] != '{' || !json.Valid(raw) {
		return nil, unfit(`input: expected an object such as {"command":"git status"}`)
	}
	return raw, nil
}

// How much is looked at to test rules. A client that may observe may ask for it.
const (
	testedSessions = 10
	mostSessions   = 100
	mostTested     = 200_000 // entries
	mostTestedSize = 128 << 20
	mostChanged    = 500
	// maxTestedText and maxTestedRules bound rules that are not those in force: a text
	// costs some 200 times its size in memory.
	maxTestedText  = 256 << 10
	maxTestedRules = 5000
	// maxEvaluations is how many rules are held against calls.
	maxEvaluations = 10_000_000
	// testTime bounds the work as a whole, whatever the machine has to do.
	testTime = 10 * time.Second
)

// TestRules says what rules would have decided about the calls of sessions, and
// which of those would have ended otherwise. Session's own rules do not count. It
// stops after a great many entries or judgements, tells what it has found by then,
// and that this is not all. It ends with ctx.
func (h *Hub) TestRules(ctx context.Context, in api.TestRules) (*api.RulesTested, error) {
	ids := in.Sessions
	if len(ids) > mostSessions {
		return nil, unfit("sessions: expected at most %d", mostSessions)
	}
	engine, err := h.testedRules(in.Text)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		page, err := h.journal.Sessions(ctx, journal.SessionQuery{Limit: limited(in.Limit, testedSessions, mostSessions)})
		if err != nil {
			return nil, h.problem(err, "")
		}
		for i := range page.Sessions {
			ids = append(ids, page.Sessions[i].ID)
		}
	}
	work, cancel := context.WithTimeout(ctx, testTime)
	defer cancel()
	t := &ruleTest{
		hub: h, ctx: work, engine: engine, cost: max(len(engine.Rules("")), 1), out: &api.RulesTested{},
		entries: mostTested, bytes: mostTestedSize, evaluations: maxEvaluations,
	}
	defer func() { h.meter.Evaluated(maxEvaluations - t.evaluations) }()
	for _, id := range ids {
		err := t.session(id)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case work.Err() != nil:
			t.out.Incomplete = true
		case err != nil:
			return nil, err
		}
		if t.out.Incomplete {
			break
		}
	}
	return t.out, nil
}

// testedRules returns the rules of a text, or those in force.
func (h *Hub) testedRules(text string) (*policy.Engine, error) {
	if text == "" {
		return h.rules.Engine(), nil
	}
	if len(text) > maxTestedText {
		return nil, &api.Error{
			Status: http.StatusRequestEntityTooLarge, Code: api.CodeTooLarge, Title: fmt.Sprintf("The rules to test are longer than %d KiB", maxTestedText>>10),
			Hint: "test them with switchboard policy test",
		}
	}
	rules, err := h.rulesInFile()
	if err != nil {
		return nil, err
	}
	engine, err := rules.Try(text)
	if err != nil {
		return nil, h.problem(err, "")
	}
	if n := len(engine.Rules("")); n > maxTestedRules {
		e := api.Errorf(http.StatusUnprocessableEntity, api.CodeInvalid, "text: expected at most %d rules, got %d", maxTestedRules, n)
		e.Hint = "test them with switchboard policy test"
		return nil, e
	}
	return engine, nil
}

// A ruleTest tests rules. It belongs to one goroutine.
type ruleTest struct {
	hub    *Hub
	ctx    context.Context //nolint:containedctx // of this test alone
	engine *policy.Engine
	cost   int // of one judgement, in rules
	out    *api.RulesTested

	// How much may still be looked at.
	entries, bytes, evaluations int
}

// more reports whether another call may be judged, and counts it.
func (t *ruleTest) more() bool {
	if t.evaluations < t.cost || t.ctx.Err() != nil {
		return false
	}
	t.evaluations -= t.cost
	return true
}

// session tests the rules on one session.
func (t *ruleTest) session(id string) error {
	r, err := t.hub.read(t.ctx, id)
	if err != nil {
		return err
	}
	o := audit.Options{Engine: t.engine, Dir: r.session.Dir, Now: t.hub.now(), More: t.more}
	a := audit.New(o)
	for !a.Over() {
		e, err := r.next(t.ctx)
		if err != nil {
			return err
		}
		if e == nil {
			break
		}
		if t.entries <= 0 || t.bytes <= 0 {
			t.out.Incomplete = true
			break
		}
		t.entries--
		t.bytes -= len(e.Line) + len(e.Data)
		if e.Kind == api.KindCreated { // always the first
			if d, ok := dataAs[createdData](e); ok {
				o.AddDirs = d.Options.AddDirs
				a = audit.New(o)
			}
		}
		a.Event(toEvent(e, r.session.Epoch))
	}
	out, s := t.out, a.Summary()
	out.Incomplete = out.Incomplete || a.Over()
	out.Calls, out.Allowed, out.Denied, out.Asked = out.Calls+s.Calls, out.Allowed+s.Allowed, out.Denied+s.Denied, out.Asked+s.Asked+s.NoRule
	for _, f := range a.Findings() {
		if len(out.Changed) >= mostChanged {
			break
		}
		if !otherwise(&f) {
			continue
		}
		out.Changed = append(out.Changed, api.ChangedRow{
			Session: id, EventID: eventID(r.session.Epoch, f.Line), Tool: f.Tool, Title: f.Title,
			Was: strings.ReplaceAll(f.Happened, "_", " "), Now: string(f.Decision), Rule: f.Rule,
		})
	}
	return nil
}

// otherwise reports whether rules would have ended a call otherwise than it did.
func otherwise(f *audit.Finding) bool {
	decided := f.Rule != nil && f.Decision != api.RuleAsk
	switch f.Happened {
	case audit.HappenedAllowed:
		if f.ByRule() {
			return f.Decision != api.RuleAllow
		}
		return decided // nobody would be asked
	case audit.HappenedDenied:
		if f.ByRule() {
			return f.Decision != api.RuleDeny
		}
		return decided
	case audit.HappenedAsked, audit.HappenedCancelled:
		return decided
	case audit.HappenedRanUnasked, audit.HappenedFailedUnasked, audit.HappenedRan, audit.HappenedFailed:
		return f.Rule != nil && f.Decision != api.RuleAllow
	}
	return false
}
