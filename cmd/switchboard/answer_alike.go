package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/naming"
	"github.com/switchboard-dev/switchboard/internal/terminal"
	"github.com/switchboard-dev/switchboard/internal/terminal/decide"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/terminal/words"
)

// alikeFlag is for commands whose answer can be given to several questions.
func (v *answerVerb) alikeFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&v.alike, "alike", false, "also answer all open questions about the same call of the same tool")
}

// openAlike returns the other open questions that ask for the same: the same tool with the same input, whatever the agent says that it is for.
func openAlike(ctx context.Context, c *client.Client, q *api.Question) ([]api.Question, error) {
	if q.Kind != api.QuestionPermission {
		return nil, usageError{fmt.Errorf("--alike is for permissions; %s is a %s", q.ID, q.Kind)}
	}
	tool, input := words.Call(q)
	wanted := canonical(tool, input)
	if wanted == nil {
		return nil, errors.New("what the question asks for isn't known, so nothing is like it")
	}
	var alike []api.Question
	filter := api.QuestionFilter{State: api.QuestionOpen, Kind: api.QuestionPermission}
	for {
		page, err := c.Questions(ctx, filter)
		if err != nil {
			return nil, err
		}
		for i := range page.Questions {
			other := &page.Questions[i]
			name, input := words.Call(other)
			if other.ID != q.ID && name == tool && bytes.Equal(canonical(name, input), wanted) {
				alike = append(alike, *other)
			}
		}
		if filter.Cursor = page.Next; filter.Cursor == "" {
			return alike, nil
		}
	}
}

// canonical returns the input of a tool with its members in order; nil if it is no object. The description of a Bash command is left out: it is
// what the agent says about the command, while other tools use theirs.
func canonical(tool string, input json.RawMessage) []byte {
	decoder := json.NewDecoder(bytes.NewReader(input))
	decoder.UseNumber() // large numbers that differ must stay different
	var members map[string]any
	if err := decoder.Decode(&members); err != nil || members == nil {
		return nil
	}
	if tool == "Bash" {
		delete(members, "description")
	}
	text, err := json.Marshal(members)
	if err != nil {
		return nil
	}
	return text
}

// answerAll gives each question the same answer. One that was answered meanwhile is told, and does not keep the others from being answered.
func (v *answerVerb) answerAll(ctx context.Context, s *surroundings, c *client.Client, questions []api.Question, decided func(*api.Question) (*api.Answer, error)) error {
	var first error
	done := []*api.Question{}
	for i := range questions {
		q := &questions[i]
		answer, err := decided(q)
		if err != nil {
			s.complain(&first, naming.Short(q.ID), usageError{err})
			continue
		}
		settled, err := c.Answer(ctx, q.ID, *answer)
		if err != nil {
			s.complain(&first, naming.Short(q.ID), err)
			continue
		}
		done = append(done, settled)
		if v.json {
			continue
		}
		if _, err := fmt.Fprintf(s.stdout, "%s %s  %s\n", settled.ID, decide.Outcome(settled), paint.CleanLine(settled.Tool+" "+terminal.Gist(settled), 60)); err != nil {
			return err
		}
	}
	if v.json {
		if err := s.writeJSON(map[string][]*api.Question{"questions": done}); err != nil {
			return err
		}
	}
	return first
}
