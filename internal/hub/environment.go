package hub

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire"
)

const (
	// typeEnvironment is the type of the line that changes variables.
	typeEnvironment = "update_environment_variables"
	// ownVariables is the prefix of variables that are the hub's own: by one of them
	// the processes of a run are found.
	ownVariables = "SWITCHBOARD_"
	// maxVariables is how many variables are changed at once, maxVariable how long
	// one is with its value.
	maxVariables = 256
	maxVariable  = 128 << 10
)

// Environment changes variables in the environment of a session's agent, where its
// version can. The values are written to the agent and to nothing else: journal, events
// and errors have the names alone.
func (h *Hub) Environment(ctx context.Context, by Actor, id string, variables map[string]string) error {
	if !by.Admin {
		return api.Errorf(http.StatusForbidden, api.CodeForbidden, "the environment of an agent needs the scope admin")
	}
	if len(variables) == 0 {
		return record.Unfit("variables: expected at least one")
	}
	s, release, err := h.acquire(ctx, id)
	if err != nil {
		return err
	}
	defer release()
	line, err := wire.NewEnvironment(variables)
	if err != nil {
		return lineProblem(err)
	}
	return s.setEnvironment(ctx, by, line)
}

// setEnvironment sends the line that changes variables.
func (s *session) setEnvironment(ctx context.Context, by Actor, line []byte) error {
	if err := checkVariables(line); err != nil {
		return err
	}
	return s.hub.problem(s.do(ctx, writing, func(st *step) error {
		if err := s.reachable(); err != nil {
			return err
		}
		if err := s.foreign(false); err != nil {
			return err
		}
		if _, err := st.send("", commandRequest, by, line); err != nil {
			return lineProblem(err)
		}
		return nil
	}), s.id)
}

// checkVariables says why the variables of a line, which is valid, cannot be changed.
// It quotes no value.
func checkVariables(line []byte) error {
	raw, _ := wire.Lookup(line, "variables")
	var variables map[string]string
	if json.Unmarshal(raw, &variables) != nil {
		return record.Unfit("variables: expected an object of strings")
	}
	if len(variables) > maxVariables {
		return record.Unfit("variables: expected at most %d, got %d", maxVariables, len(variables))
	}
	for name, value := range variables {
		switch {
		case len(name)+len(value) > maxVariable:
			return record.Unfit("variables: %.64q has %d bytes with its value; the maximum is %d", name, len(name)+len(value), maxVariable)
		case strings.HasPrefix(strings.ToUpper(name), ownVariables):
			return record.Unfit("variables: %.64q can't be changed; names that begin with %s are Switchboard's own", name, ownVariables)
		}
	}
	return nil
}
