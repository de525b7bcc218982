package hub

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire"
)

// Control sends a control request to a session's agent and returns the body of its
// answer. What it changes of mode, model and thinking also holds for the session's
// next process.
func (h *Hub) Control(ctx context.Context, by Actor, id string, r wire.Request) (json.RawMessage, error) {
	s, release, err := h.acquire(ctx, id)
	if err != nil {
		return nil, err
	}
	defer release()
	answer, err := s.control(ctx, by, r)
	if err != nil {
		return nil, err
	}
	return clone(answer.Response), nil
}

// control is Control of a session in use.
func (s *session) control(ctx context.Context, by Actor, r wire.Request) (*wire.ControlAnswer, error) {
	remember := record.Updated{}
	switch r := r.(type) { //nolint:gochecksumtype // the others are sent as they are
	case *wire.InitializeRequest:
		// Another one could take away the hooks of the first.
		return nil, &api.Error{
			Status: http.StatusConflict, Code: api.CodeConflict, Title: "the hub has already initialized the agent",
			Hint: "its answer is in the session's snapshot; set options when you create or resume a session",
		}
	case *wire.SetPermissionModeRequest:
		if r.Mode == wire.PermissionModeBypassPermissions && !by.Admin {
			return nil, api.Errorf(http.StatusForbidden, api.CodeForbidden, "bypassPermissions needs the scope admin")
		}
		remember.PermissionMode = &r.Mode
	case *wire.SetModelRequest:
		remember.Model = &r.Model
	case *wire.SetMaxThinkingTokensRequest:
		if r.MaxThinkingTokens != nil {
			remember.MaxThinkingTokens = new(int(*r.MaxThinkingTokens))
		}
	case *wire.UpdateSettingsRequest:
		if err := checkSettings(by, r.Settings); err != nil {
			return nil, err
		}
	case *wire.ApplyFlagSettingsRequest:
		if err := checkSettings(by, r.Settings); err != nil {
			return nil, err
		}
		return s.applySettings(ctx, by, r)
	}
	answer, err := s.request(ctx, by, r, nil)
	if err != nil {
		return nil, err
	}
	if remember != (record.Updated{}) {
		err = s.do(ctx, writing, func(st *step) error {
			st.event(api.KindUpdated, by, remember)
			return nil
		})
		if err != nil {
			return nil, s.hub.problem(err, s.id)
		}
	}
	return answer, nil
}

// applySettings gives the CLI settings of a front end. Each such request replaces
// the one before, so that the rules that the CLI is to enforce go along.
func (s *session) applySettings(ctx context.Context, by Actor, r *wire.ApplyFlagSettingsRequest) (*wire.ControlAnswer, error) {
	var want record.Enforced
	err := s.do(ctx, reading, func(st *step) error {
		want = s.settings(st.now)
		return nil
	})
	if err != nil {
		return nil, s.hub.problem(err, s.id)
	}
	merged, err := withRules(r.Settings, want)
	if err != nil {
		return nil, err
	}
	answer, err := s.request(ctx, by, &wire.ApplyFlagSettingsRequest{Settings: merged}, nil)
	if err != nil {
		return nil, err
	}
	theirs := clone(r.Settings)
	err = s.do(ctx, patient, func(*step) error {
		s.policy.flags = theirs
		s.policy.due = true // the rules may have changed meanwhile
		return nil
	})
	if err != nil {
		return nil, s.hub.problem(err, s.id)
	}
	return answer, nil
}

// withRules adds rules that the CLI is to enforce to settings of a front end, nil
// for none.
func withRules(settings json.RawMessage, rules record.Enforced) (json.RawMessage, error) {
	all := map[string]json.RawMessage{}
	if len(settings) > 0 {
		if err := json.Unmarshal(settings, &all); err != nil {
			return nil, record.Unfit("settings: expected an object: %v", err)
		}
	}
	permissions := map[string]json.RawMessage{}
	if raw, ok := all["permissions"]; ok && string(raw) != "null" { // which takes back what was given
		if err := json.Unmarshal(raw, &permissions); err != nil {
			return nil, record.Unfit("settings.permissions: expected an object: %v", err)
		}
	}
	if all == nil || permissions == nil { // null
		return nil, record.Unfit("settings: expected an object, and so its permissions")
	}
	for _, list := range []struct {
		name string
		ours []string
	}{{"deny", rules.Deny}, {"ask", rules.Ask}} {
		theirs := []string{} // both lists replace what was told before
		if raw, ok := permissions[list.name]; ok {
			if err := json.Unmarshal(raw, &theirs); err != nil {
				return nil, record.Unfit("settings.permissions.%s: expected a list of rules: %v", list.name, err)
			}
		}
		for _, rule := range list.ours {
			if !slices.Contains(theirs, rule) {
				theirs = append(theirs, rule)
			}
		}
		permissions[list.name] = encoded(theirs)
	}
	all["permissions"] = encoded(permissions)
	return encoded(all), nil
}
