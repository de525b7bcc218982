package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/policy"
	"github.com/switchboard-dev/switchboard/internal/record"
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
		return nil, record.Unfit("tool: name the tool, such as Bash")
	}
	if err := record.CheckFolder(in.Dir); err != nil {
		return nil, err
	}
	call := policy.Call{Tool: in.Tool, Input: input, Dir: in.Dir, Now: h.now()}
	engine := h.rules.Engine()
	judge := (*policy.Engine).Decide
	var elsewhere *linkQuery
	if in.Session != "" {
		s, release, err := h.acquire(ctx, in.Session)
		if err != nil {
			return nil, err
		}
		defer release()
		err = s.do(ctx, reading, func(*step) error {
			engine, call.AddDirs = s.engine(), s.projection.Options.AddDirs
			if s.projection.boxes() {
				judge = (*policy.Engine).Boxed
			}
			if call.Dir == "" {
				call.Dir = s.projection.dir()
			}
			if node := s.projection.Node; node != "" {
				elsewhere = &linkQuery{node: node, origin: s.projection.origin(), rules: slices.Clone(s.projection.Rules), call: call, boxes: s.projection.boxes()}
			}
			return nil
		})
		if err != nil {
			return nil, h.problem(err, in.Session)
		}
	}
	var verdict policy.Verdict
	if elsewhere == nil {
		verdict = judge(engine, call)
	} else if verdict, err = h.explainOn(ctx, elsewhere, engine); err != nil {
		return nil, h.problem(err, in.Session)
	}
	h.metrics.Evaluated(len(engine.Rules("")))
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
		return nil, record.Unfit(`input: expected an object such as {"command":"git status"}`)
	}
	return raw, nil
}
