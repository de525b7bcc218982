package hub

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/answer"
	"github.com/switchboard-dev/switchboard/internal/record"
)

// How many rules a session may have, and how long everything may be allowed.
const (
	maxRules = 200
	maxTrust = 24 * time.Hour
)

// AddRule adds a rule to a session.
func (h *Hub) AddRule(ctx context.Context, by Actor, id string, in api.AddRule) (*api.SessionRule, error) {
	s, release, err := h.acquire(ctx, id)
	if err != nil {
		return nil, err
	}
	defer release()
	request, err := repeatableOf("rule", id, in.ClientID, in)
	if err != nil {
		return nil, h.problem(err, id)
	}
	added := new(api.SessionRule)
	old, err := s.once(ctx, request, func(st *step) (err error) {
		if added, err = st.addRule(by, in); err != nil {
			return err
		}
		st.keepAnswer(request, added)
		st.rulesChanged()
		return nil
	})
	if err == nil && old != nil {
		err = json.Unmarshal(old, added)
	}
	if err != nil {
		return nil, h.problem(err, id)
	}
	return added, nil
}

// addRule adds a rule to the session.
func (st *step) addRule(by Actor, in api.AddRule) (*api.SessionRule, error) {
	switch in.Decision {
	case api.RuleAllow:
		if !by.Admin {
			return nil, api.Errorf(http.StatusForbidden, api.CodeForbidden, "a rule that allows needs the scope admin")
		}
		if in.Message != "" {
			return nil, record.Unfit("message: only a deny rule can have a message")
		}
	case api.RuleAsk, api.RuleDeny:
	default:
		return nil, record.Unfit("decision: expected allow, ask or deny, got %q", in.Decision)
	}
	if in.Rule == answer.EveryTool {
		switch {
		case in.Decision != api.RuleAllow:
			return nil, record.Unfit("rule: %q works with allow only; stop the session instead", answer.EveryTool)
		case in.For <= 0 || in.For > int64(maxTrust/time.Second):
			return nil, record.Unfit("for: a rule that allows everything must expire within a day")
		}
	} else if err := answer.CheckRule(in.Rule, in.Decision); err != nil {
		return nil, err
	}
	if in.For < 0 || in.For > 10*365*24*3600 {
		return nil, record.Unfit("for: expected seconds, of at most ten years")
	}
	if err := st.roomForRule(); err != nil {
		return nil, err
	}
	return st.keepRule(by, in), nil
}

// keepRule adds a rule that was checked to the session.
func (st *step) keepRule(by Actor, in api.AddRule) *api.SessionRule {
	r := api.SessionRule{ID: newID("r"), Rule: in.Rule, Decision: in.Decision, Message: in.Message, Created: st.now, By: by.Name}
	if in.For > 0 {
		r.Expires = st.now.Add(time.Duration(in.For) * time.Second)
	}
	st.event(api.KindRuleAdded, by, r)
	return &r
}

// roomForRule says whether the session may have another rule.
func (st *step) roomForRule() error {
	if !st.s.projection.judged() {
		return notJudged()
	}
	if len(st.s.projection.Rules) >= maxRules {
		return api.Errorf(http.StatusConflict, api.CodeConflict, "the session already has %d rules; remove some, or use the rules file", maxRules)
	}
	return nil
}

// RemoveRule removes a rule from a session.
func (h *Hub) RemoveRule(ctx context.Context, by Actor, id, rule string) (*api.SessionRule, error) {
	s, release, err := h.acquire(ctx, id)
	if err != nil {
		return nil, err
	}
	defer release()
	var removed api.SessionRule
	err = s.do(ctx, writing, func(st *step) error {
		i := slices.IndexFunc(s.projection.Rules, func(r api.SessionRule) bool { return r.ID == rule })
		if i < 0 {
			return api.Errorf(http.StatusNotFound, api.CodeNotFound, "the session has no rule %q", rule)
		}
		removed = s.projection.Rules[i]
		if removed.Decision != api.RuleAllow && !by.Admin {
			return api.Errorf(http.StatusForbidden, api.CodeForbidden, "removing a rule that denies or asks needs the scope admin")
		}
		st.event(api.KindRuleRemoved, by, api.RuleRemoved{ID: rule})
		st.rulesChanged()
		return nil
	})
	if err != nil {
		return nil, h.problem(err, id)
	}
	return &removed, nil
}

// expireRules removes the session's rules whose time is over.
func (st *step) expireRules() {
	over := false
	for _, r := range slices.Clone(st.s.projection.Rules) {
		if !r.Expires.IsZero() && !st.now.Before(r.Expires) {
			st.event(api.KindRuleRemoved, Actor{}, api.RuleRemoved{ID: r.ID, Reason: "expired"})
			over = true
		}
	}
	if over {
		st.rulesChanged()
	}
}

// viewRules shows the session's own rules.
func (s *session) viewRules(v *api.Session) {
	p := s.projection
	if len(p.Rules) == 0 {
		return
	}
	// A rule that the CLI was not told of yet counts for what it asks.
	told := p.Ended != nil || p.foreignProcess() || s.settings(s.hub.now()).Equal(p.Enforced)
	for _, r := range p.Rules {
		r.Pending = !told && r.Decision != api.RuleAllow
		v.Rules = append(v.Rules, r)
	}
}
