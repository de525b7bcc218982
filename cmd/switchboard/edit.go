package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/compose"
	"github.com/switchboard-dev/switchboard/internal/terminal/decide"
)

// editInput lets somebody change what a tool gets. A text that is no object any more is an error, and nothing is answered.
func editInput(s *surroundings, q *api.Question) (json.RawMessage, error) {
	input, err := decide.Input(q)
	if err != nil {
		return nil, usageError{err}
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, input, "", "  "); err != nil {
		return nil, fmt.Errorf("reading question %s: %w", q.ID, err)
	}
	pretty.WriteByte('\n')
	out := s.stdout
	if !isTerminal(out) { // what goes there is not for an editor
		out = s.stderr
	}
	text, err := compose.Edit(s.getenv, "", pretty.String(), ".json", s.stdin, out, s.stderr)
	if err != nil {
		return nil, fmt.Errorf("nothing was answered: %w", err)
	}
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("the input was deleted in the editor; nothing was answered")
	}
	return json.RawMessage(text), nil
}
