package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/naming"
)

// questionStates and questionKinds return what the flags can be.
func questionStates() []string {
	return []string{string(api.QuestionOpen), string(api.QuestionAnswered), string(api.QuestionAnsweredTooLate), string(api.QuestionCancelled), "all"}
}

func questionKinds() []string {
	return []string{
		string(api.QuestionPermission), string(api.QuestionChoice), string(api.QuestionPlan), string(api.QuestionForm), string(api.QuestionDialog),
	}
}

// A questionsVerb is the flags of questions.
type questionsVerb struct {
	place
	session, state, kind string
	quiet, json          bool
	limit                int
}

func newQuestions(s *surroundings) *cobra.Command {
	v := &questionsVerb{}
	cmd := &cobra.Command{
		Use:   "questions [QUESTION]",
		Short: "List open questions, or show one in full",
		Long: `Lists open questions, the oldest first. With QUESTION it shows that one in full: everything that would
be done, what can be allowed always, the options of a choice, the plan.

Answer with switchboard allow, deny or answer. How to name a QUESTION: switchboard help sessions.`,
		Example: `  # open questions
  switchboard questions

  # the one that has waited longest, in full
  switchboard questions -

  # answered questions of a session
  switchboard questions --session "Fix the slugs" --state answered

  # as the API returns them
  switchboard questions --json`,
		Args:              atMostOne("question"),
		ValidArgsFunction: completeQuestions(s, &v.place),
		RunE: func(cmd *cobra.Command, args []string) error {
			filter, err := v.filter()
			if err != nil {
				return usageError{err}
			}
			return v.withHub(s, func(c *client.Client) error {
				if len(args) == 1 {
					return v.one(cmd.Context(), s, c, args[0])
				}
				return v.run(cmd.Context(), s, c, filter)
			})
		},
	}
	v.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&v.session, "session", "", "only questions of this `SESSION`")
	f.StringVar(&v.state, "state", string(api.QuestionOpen), "only in this `STATE`: "+strings.Join(questionStates(), ", "))
	f.StringVar(&v.kind, "kind", "", "only questions of this `KIND`: "+strings.Join(questionKinds(), ", "))
	f.IntVarP(&v.limit, "limit", "n", 0, "maximum `NUMBER` of questions (default all)")
	f.BoolVarP(&v.quiet, "quiet", "q", false, "print ids only")
	f.BoolVar(&v.json, "json", false, "print one JSON object")
	complete(cmd, "state", questionStates()...)
	complete(cmd, "kind", questionKinds()...)
	register(cmd, "session", completeSessionFlag(s, &v.place))
	return cmd
}

// one shows a question.
func (v *questionsVerb) one(ctx context.Context, s *surroundings, c *client.Client, name string) error {
	q, err := naming.Question(ctx, c, name)
	if err != nil {
		return err
	}
	if v.json {
		return s.writeJSON(q)
	}
	session, err := c.Session(ctx, q.Session)
	if err != nil {
		return err
	}
	return writeLines(s.stdout, s.view(false).Question(q, session.Title))
}

// run lists.
func (v *questionsVerb) run(ctx context.Context, s *surroundings, c *client.Client, filter api.QuestionFilter) error {
	if v.session != "" {
		session, err := naming.Session(ctx, c, v.session)
		if err != nil {
			return err
		}
		filter.Session = session.ID
	}
	list := []api.Question{} // not null in JSON
	for {
		page, err := c.Questions(ctx, filter)
		if err != nil {
			return err
		}
		list = append(list, page.Questions...)
		filter.Cursor = page.Next
		if filter.Cursor == "" || v.limit > 0 && len(list) >= v.limit {
			break
		}
	}
	if v.limit > 0 && len(list) > v.limit {
		list = list[:v.limit]
	}
	switch {
	case v.json:
		return s.writeJSON(&api.QuestionList{Questions: list})
	case v.quiet:
		ids := make([]string, len(list))
		for i := range list {
			ids[i] = list[i].ID
		}
		return writeLines(s.stdout, ids)
	case len(list) == 0:
		if isTerminal(s.stdout) {
			fmt.Fprintln(s.stderr, "No open questions.")
		}
		return nil
	}
	titles, err := sessionTitles(ctx, c, list)
	if err != nil {
		return err
	}
	return writeLines(s.stdout, s.view(false).Questions(list, titles))
}

// sessionTitles returns the titles of the sessions that ask questions, by id.
func sessionTitles(ctx context.Context, c *client.Client, list []api.Question) (map[string]string, error) {
	titles := map[string]string{}
	if len(list) == 0 {
		return titles, nil
	}
	sessions, err := naming.All(ctx, c, api.SessionFilter{Archived: true})
	for i := range sessions {
		titles[sessions[i].ID] = sessions[i].Title
	}
	return titles, err
}

// filter returns what the flags ask for, but for the session.
func (v *questionsVerb) filter() (api.QuestionFilter, error) {
	filter := api.QuestionFilter{Kind: api.QuestionKind(v.kind)}
	if v.state != "all" {
		filter.State = api.QuestionState(v.state)
	}
	err := errors.Join(oneOf("--state", v.state, questionStates()), notNegative("--limit", v.limit))
	if v.kind != "" {
		err = errors.Join(err, oneOf("--kind", v.kind, questionKinds()))
	}
	return filter, err
}
