package report

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/audit"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/policy"
	"github.com/switchboard-dev/switchboard/internal/record"
)

// How much is looked at to test rules. A client that may observe may ask for it.
const (
	testedSessions = 10
	maxSessions    = 100
	maxTested      = 200_000 // entries
	maxTestedSize  = 128 << 20
	maxChanged     = 500
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
func (p *Reports) TestRules(ctx context.Context, in api.TestRules) (*api.RulesTested, error) {
	ids := in.Sessions
	if len(ids) > maxSessions {
		return nil, record.Unfit("sessions: expected at most %d", maxSessions)
	}
	engine, err := p.testedRules(in.Text)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		page, err := p.journal.Sessions(ctx, journal.SessionQuery{Limit: limited(in.Limit, testedSessions, maxSessions)})
		if err != nil {
			return nil, p.problem(err, "")
		}
		for i := range page.Sessions {
			ids = append(ids, page.Sessions[i].ID)
		}
	}
	work, cancel := context.WithTimeout(ctx, testTime)
	defer cancel()
	t := &ruleTest{
		reports: p, ctx: work, engine: engine, cost: max(len(engine.Rules("")), 1), out: &api.RulesTested{},
		entries: maxTested, bytes: maxTestedSize, evaluations: maxEvaluations,
	}
	defer func() { p.evaluated(maxEvaluations - t.evaluations) }()
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
func (p *Reports) testedRules(text string) (*policy.Engine, error) {
	if text == "" {
		return p.engine()
	}
	if len(text) > maxTestedText {
		return nil, &api.Error{
			Status: http.StatusRequestEntityTooLarge, Code: api.CodeTooLarge, Title: fmt.Sprintf("The rules to test are longer than %d KiB", maxTestedText>>10),
			Hint: "test them with switchboard policy test",
		}
	}
	rules, ok := p.rules.(TryRules)
	if !ok {
		return nil, api.Errorf(http.StatusConflict, api.CodeConflict, "this hub has no rules file")
	}
	engine, err := rules.Try(text)
	if err != nil {
		return nil, p.problem(err, "")
	}
	if n := len(engine.Rules("")); n > maxTestedRules {
		e := api.Errorf(http.StatusUnprocessableEntity, api.CodeInvalid, "text: expected at most %d rules, got %d", maxTestedRules, n)
		e.Hint = "test them with switchboard policy test"
		return nil, e
	}
	return engine, nil
}

// engine returns the rules in force.
func (p *Reports) engine() (*policy.Engine, error) {
	if p.rules != nil {
		return p.rules.Engine(), nil
	}
	engine, err := policy.New(nil, policy.Options{})
	if err != nil {
		return nil, fmt.Errorf("making rules: %w", err)
	}
	return engine, nil
}

// A ruleTest tests rules. It belongs to one goroutine.
type ruleTest struct {
	reports *Reports
	ctx     context.Context //nolint:containedctx // of this test alone
	engine  *policy.Engine
	cost    int // of one judgement, in rules
	out     *api.RulesTested

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
	r, err := t.reports.read(t.ctx, id)
	if err != nil {
		return err
	}
	o := audit.Options{Engine: t.engine, Dir: r.session.Dir, Now: t.reports.now(), More: t.more}
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
			if d, ok := dataAs[record.Created](e.Data); ok {
				o.AddDirs = d.Options.AddDirs
				a = audit.New(o)
			}
		}
		a.Event(record.Event(e, r.session.Epoch))
	}
	out, s := t.out, a.Summary()
	out.Incomplete = out.Incomplete || a.Over()
	out.Calls, out.Allowed, out.Denied, out.Asked = out.Calls+s.Calls, out.Allowed+s.Allowed, out.Denied+s.Denied, out.Asked+s.Asked+s.NoRule
	for _, f := range a.Findings() {
		if len(out.Changed) >= maxChanged {
			break
		}
		if !otherwise(&f) {
			continue
		}
		out.Changed = append(out.Changed, api.ChangedRow{
			Session: id, EventID: record.EventID(r.session.Epoch, f.Line), Tool: f.Tool, Title: f.Title,
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
		if f.BySandbox() { // as would be a call that no rule is about
			return f.Rule != nil && f.Decision != api.RuleAllow
		}
		if f.ByRule() {
			return f.Decision != api.RuleAllow
		}
		return decided // no person would be asked
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
