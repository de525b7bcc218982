package main

import (
	"context"
	"errors"
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

// A questionsCmd is the flags of questions.
type questionsCmd struct {
	hubFlags
	listFlags
	session, state, kind string
	limit                int
}

func newQuestions(e *env) *cobra.Command {
	v := &questionsCmd{}
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
		ValidArgsFunction: completeQuestions(e, &v.hubFlags),
		RunE: func(cmd *cobra.Command, args []string) error {
			filter, err := v.filter()
			if err != nil {
				return usageError{err}
			}
			return v.act(cmd, e, func(ctx context.Context, c *client.Client) error {
				if len(args) == 1 {
					return v.one(ctx, e, c, args[0])
				}
				return v.run(ctx, e, c, filter)
			})
		},
	}
	v.flags(cmd)
	v.listFlags.add(cmd, "one JSON object")
	f := cmd.Flags()
	f.StringVar(&v.session, "session", "", "only questions of this `SESSION`")
	f.StringVar(&v.state, "state", string(api.QuestionOpen), "only in this `STATE`: "+strings.Join(questionStates(), ", "))
	f.StringVar(&v.kind, "kind", "", "only questions of this `KIND`: "+strings.Join(questionKinds(), ", "))
	f.IntVarP(&v.limit, "limit", "n", 0, "maximum `NUMBER` of questions (default all)")
	complete(cmd, "state", questionStates()...)
	complete(cmd, "kind", questionKinds()...)
	register(cmd, "session", completeSessionFlag(e, &v.hubFlags))
	return cmd
}

// one shows a question.
func (v *questionsCmd) one(ctx context.Context, e *env, c *client.Client, name string) error {
	q, err := naming.Question(ctx, c, name)
	if err != nil {
		return err
	}
	if v.json {
		return e.writeJSON(q)
	}
	session, err := c.Session(ctx, q.Session)
	if err != nil {
		return err
	}
	return writeLines(e.stdout, e.view(false).Question(q, session.Title))
}

// run lists.
func (v *questionsCmd) run(ctx context.Context, e *env, c *client.Client, filter api.QuestionFilter) error {
	if v.session != "" {
		session, err := naming.Session(ctx, c, v.session)
		if err != nil {
			return err
		}
		filter.Session = session.ID
	}
	list, err := questionsOf(ctx, c, filter, v.limit)
	if err != nil {
		return err
	}
	return printList(e, v.listFlags, list, &api.QuestionList{Questions: list}, func(q *api.Question) string { return q.ID },
		"No open questions.", func() ([]string, error) {
			titles, err := sessionTitles(ctx, c, list)
			if err != nil {
				return nil, err
			}
			return e.view(false).Questions(list, titles), nil
		})
}

// questionsOf lists questions: all, or as many as are wanted.
func questionsOf(ctx context.Context, c *client.Client, filter api.QuestionFilter, limit int) ([]api.Question, error) {
	list, _, err := pages(limit, func(cursor string, most int) ([]api.Question, string, error) {
		filter.Cursor, filter.Limit = cursor, most
		page, err := c.Questions(ctx, filter)
		if err != nil {
			return nil, "", err
		}
		return page.Questions, page.Next, nil
	})
	return list, err
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
func (v *questionsCmd) filter() (api.QuestionFilter, error) {
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
