package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/naming"
	"github.com/switchboard-dev/switchboard/internal/terminal"
	"github.com/switchboard-dev/switchboard/internal/terminal/decide"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

// An answerVerb is what allow, deny and answer have in common.
type answerVerb struct {
	place
	json     bool
	note     string
	clientID string
	asks     bool // somebody at a terminal is asked whether the question is the one that is meant
	yes      bool // unless they say that it is
}

func (v *answerVerb) answerFlags(cmd *cobra.Command) {
	v.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&v.note, "note", "", "a `REMARK` for the log, which the agent is not told")
	f.StringVar(&v.clientID, "client-id", "", "your `ID` of the answer: given twice, it counts once")
	f.BoolVar(&v.json, "json", false, "write the question as it was settled, one JSON object")
}

// yesFlag is for those verbs that let something happen.
func (v *answerVerb) yesFlag(cmd *cobra.Command) {
	v.asks = true
	cmd.Flags().BoolVarP(&v.yes, "yes", "y", false, "do not ask, also if QUESTION is not an id and this is a terminal")
}

// meant has somebody at a terminal see what they let happen: a question that is named by its session, or as the oldest, may be another one by now than
// they have looked at. A script says what it means.
func (v *answerVerb) meant(ctx context.Context, s *surroundings, q *api.Question, name string) error {
	if !v.asks || v.yes || naming.ByID(q.ID, name) || !isTerminal(s.stdin) || !isTerminal(s.stderr) {
		return nil
	}
	view := &terminal.View{Styles: paint.Detect(s.stderr, s.getenv, s.color).Styles(), Terminal: true, Now: time.Now(), Home: s.getenv("HOME")}
	if err := writeLines(s.stderr, view.Asked(q)); err != nil {
		return err
	}
	agreed, err := consent(ctx, s, "Is this what you mean? [y/N] ")
	if err != nil {
		return err
	}
	if !agreed {
		fmt.Fprintln(s.stderr, "nothing was answered")
		return exitError(codeFailed)
	}
	return nil
}

// settle finds a question, answers it with what decide makes of what was asked for, and says what became of it. prepare, if not nil, comes before.
func (v *answerVerb) settle(cmd *cobra.Command, s *surroundings, name string, prepare func(context.Context, *api.Question) error, decided func(*api.Question) (*api.Answer, error)) error {
	return v.act(cmd, s, func(ctx context.Context, c *client.Client) error {
		q, err := naming.Question(ctx, c, name)
		if err != nil {
			return err
		}
		// The same answer given again gets the same reply: only the hub knows it.
		if q.State != api.QuestionOpen && v.clientID == "" {
			return &decide.SettledError{Question: q, Err: &api.Error{Code: api.CodeAlreadySettled}}
		}
		if prepare != nil {
			if err := prepare(ctx, q); err != nil {
				return err
			}
		}
		answer, err := decided(q)
		if err != nil {
			return usageError{err}
		}
		if prepare == nil && q.State == api.QuestionOpen { // else it was shown, or is settled
			if err := v.meant(ctx, s, q, name); err != nil {
				return err
			}
		}
		answer.ClientID = v.clientID
		settled, err := c.Answer(ctx, q.ID, *answer)
		if refused, ok := errors.AsType[*api.Error](err); ok && refused.Code == api.CodeAlreadySettled && refused.Question != nil {
			return &decide.SettledError{Question: refused.Question, Err: err}
		}
		if err != nil {
			return err
		}
		if v.json {
			return s.writeJSON(settled)
		}
		what := paint.CleanLine(settled.Tool+" "+settled.Title, 60)
		_, err = fmt.Fprintf(s.stdout, "%s %s  %s\n", settled.ID, decide.Outcome(settled), what)
		return err
	})
}

// An allowVerb is the flags of allow.
type allowVerb struct {
	answerVerb
	always     string
	rule, keep string
	input      string
	edit       bool
}

func newAllow(s *surroundings) *cobra.Command {
	v := &allowVerb{}
	cmd := &cobra.Command{
		Use:   "allow QUESTION",
		Short: "Allow what an agent asks for",
		Long: `Allows the use of a tool, approves a plan as it is (each edit is then asked about; see switchboard
answer for the other ways), or accepts a form with what it comes filled in with.

QUESTION is the id of a question or the beginning of it, a session that asks only one thing, or - for
the question that has waited longest. switchboard questions lists them.

At a terminal, a question that is not named by its id is shown first, and allowed if you say that it is
the one you mean: it may be another one by now than you have looked at. --yes does without.

With --always the first of the CLI's own suggestions of what to allow from now on is taken, too, with
--always=2 the second. --rule names a rule of your own instead, in Claude Code's language. --destination
says where it is kept: session (the default; until the process ends), local, project or user (Claude
Code's own settings files), or switchboard (a rule of the hub for this session; only with --rule).

If somebody was faster, it says who, and ends with code 5.`,
		Example: `  # what has waited longest
  switchboard allow -

  # by the beginning of its id, and what the first suggestion says from now on
  switchboard allow q7x --always

  # this and all that is like it, in this project
  switchboard allow q7x --rule 'Bash(npm test:*)' --destination project

  # with another input, or changed in $EDITOR
  switchboard allow q7x --input '{"command":"make test"}'
  switchboard allow q7x --edit`,
		Args:              oneQuestion,
		ValidArgsFunction: completeQuestions(s, &v.place),
		RunE:              func(cmd *cobra.Command, args []string) error { return v.run(cmd, s, args[0]) },
	}
	v.answerFlags(cmd)
	v.yesFlag(cmd)
	f := cmd.Flags()
	f.StringVar(&v.always, "always", "", "allow what suggestion `N` says from now on, too; the first one if N is left away")
	f.Lookup("always").NoOptDefVal = "1"
	f.StringVar(&v.rule, "rule", "", "allow what a `RULE` says from now on, too, such as Bash(git status:*)")
	f.StringVar(&v.keep, "destination", "", "`WHERE` that is kept: session, local, project, user or switchboard (default session)")
	f.StringVar(&v.input, "input", "", "`JSON` object that the tool gets instead, @FILE with it, or - for standard input")
	f.BoolVar(&v.edit, "edit", false, "change the tool's input in $VISUAL or $EDITOR first")
	complete(cmd, "destination", decide.Destinations()...)
	cmd.MarkFlagsMutuallyExclusive("input", "edit")
	cmd.MarkFlagsMutuallyExclusive("always", "rule")
	return cmd
}

// run allows what the question asks for.
func (v *allowVerb) run(cmd *cobra.Command, s *surroundings, name string) error {
	a := &decide.Allow{Rule: v.rule, Destination: v.keep, Note: v.note}
	if v.always != "" {
		number, err := strconv.Atoi(v.always)
		if err != nil || number < 1 {
			return usageError{fmt.Errorf("--always is %q; it is the number of a suggestion: --always=2", v.always)}
		}
		a.Always = number
	}
	if v.input != "" {
		text, err := textOf(s, "--input", v.input)
		if err != nil {
			return usageError{err}
		}
		a.Input = json.RawMessage(text)
	}
	var edit func(context.Context, *api.Question) error
	if v.edit {
		edit = func(_ context.Context, q *api.Question) (err error) {
			a.Input, err = editInput(s, q)
			return err
		}
	}
	return v.settle(cmd, s, name, edit, a.Answer)
}

// A denyVerb is the flags of deny.
type denyVerb struct {
	answerVerb
	reason string
	stop   bool
}

func newDeny(s *surroundings) *cobra.Command {
	v := &denyVerb{}
	cmd := &cobra.Command{
		Use:   "deny QUESTION",
		Short: "Deny what an agent asks for",
		Long: `Denies the use of a tool, rejects a plan, skips a choice, declines a form or cancels a dialog. The agent
goes on, and is told why if you say so; with --stop its turn ends.

QUESTION is the id of a question or the beginning of it, a session that asks only one thing, or - for
the question that has waited longest. switchboard questions lists them.

If somebody was faster, it says who, and ends with code 5.`,
		Example: `  switchboard deny q7x --reason "Use the staging database"

  # and have it stop
  switchboard deny - --stop`,
		Args:              oneQuestion,
		ValidArgsFunction: completeQuestions(s, &v.place),
		RunE: func(cmd *cobra.Command, args []string) error {
			d := &decide.Deny{Reason: v.reason, Stop: v.stop, Note: v.note}
			return v.settle(cmd, s, args[0], nil, d.Answer)
		},
	}
	v.answerFlags(cmd)
	cmd.Flags().StringVar(&v.reason, "reason", "", "`WHY`; the agent is told")
	cmd.Flags().BoolVar(&v.stop, "stop", false, "stop the turn, too")
	return cmd
}

// An answerChoiceVerb is the flags of answer.
type answerChoiceVerb struct {
	answerVerb
	reply decide.Reply
	plan  string
}

func newAnswer(s *surroundings) *cobra.Command {
	v := &answerChoiceVerb{}
	cmd := &cobra.Command{
		Use:   "answer QUESTION [ANSWER]…",
		Short: "Answer a choice, a plan, a form or a dialog",
		Long: `Answers what is more than a yes or no. What ANSWER is depends on the question:

  choice   for each of its questions one ANSWER: the number or label of an option, several with commas
           where that is possible, words of your own, or - to leave it without an answer; with --text
           each is words of your own, also if it is a number
  plan     an outcome, by number or name:
             fresh         approve; a new process that knows nothing but the plan carries it out, edits accepted
             accept_edits  approve; edits are accepted
             ask           approve; each edit is asked about
             revise        plan on, with --feedback
             reject        refuse it, --feedback says why
             outline       have the agent write down its steps before it asks again
  form     --field NAME=VALUE for each field, or the whole as a JSON object; fields that come filled in stay
  dialog   its result, in JSON or as a word

QUESTION is the id of a question or the beginning of it, a session that asks only one thing, or - for
the question that has waited longest. switchboard questions lists them.

At a terminal, a question that is not named by its id is shown first, and answered if you say that it is
the one you mean; --yes does without.

If somebody was faster, it says who, and ends with code 5.`,
		Example: `  # the second option
  switchboard answer q7x 2

  # two questions: two options of the first, words of your own for the second
  switchboard answer q7x 1,3 "something else"

  # not the third option but the number
  switchboard answer q7x --text 3

  # a plan
  switchboard answer q7x accept_edits
  switchboard answer q7x revise --feedback "Leave the database alone"
  switchboard answer q7x fresh --plan @better-plan.md

  # a form
  switchboard answer q7x --field name=Ann --field age=41`,
		Args:              someQuestion,
		ValidArgsFunction: v.complete(s),
		RunE: func(cmd *cobra.Command, args []string) error {
			r := v.reply
			r.Words, r.Note = args[1:], v.note
			if cmd.Flags().Changed("plan") {
				text, err := textOf(s, "--plan", v.plan)
				if err != nil {
					return usageError{err}
				}
				r.Plan = &text
			}
			feedback, err := textOf(s, "--feedback", r.Feedback)
			if err != nil {
				return usageError{err}
			}
			r.Feedback = feedback
			return v.settle(cmd, s, args[0], nil, r.Answer)
		},
	}
	v.answerFlags(cmd)
	v.yesFlag(cmd)
	f := cmd.Flags()
	f.StringArrayVar(&v.reply.Fields, "field", nil, "form: `NAME=VALUE` of a field; may be repeated")
	f.BoolVar(&v.reply.Text, "text", false, "choice, dialog: ANSWER is words of your own, also if it is a number, a label, JSON or -")
	f.BoolVar(&v.reply.Skip, "skip", false, "choice, form, dialog: leave it without an answer")
	f.StringVar(&v.reply.Feedback, "feedback", "", "plan: `WHAT` it lacks, @FILE with it, or - for standard input; with revise and reject")
	f.StringVar(&v.plan, "plan", "", "plan: the `TEXT` as you changed it, @FILE with it, or - for standard input; with an approval")
	f.BoolVar(&v.reply.Compact, "compact", false, "plan: compact the conversation when the turn is over")
	f.BoolVar(&v.reply.NoPrompts, "no-prompts", false, "plan: do not allow what the plan asks to be allowed")
	f.BoolVar(&v.reply.Bypass, "bypass", false, "plan: ask nothing any more (fresh, accept_edits; where the session was started so)")
	return cmd
}

// complete completes the question, and what it can be answered with.
func (v *answerChoiceVerb) complete(s *surroundings) cobra.CompletionFunc {
	questions := completeQuestions(s, &v.place)
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return questions(cmd, args, typed)
		}
		return v.asking(s, func(ctx context.Context, c *client.Client, _ string) []cobra.Completion {
			q, err := naming.Question(ctx, c, args[0])
			if err != nil {
				return nil
			}
			var found []cobra.Completion
			if at := len(args) - 1; at < len(q.Choices) {
				for i, o := range q.Choices[at].Options {
					found = append(found, offer(strconv.Itoa(i+1), o.Label))
				}
			}
			if q.Plan != nil && len(args) == 1 {
				for _, o := range q.Plan.Outcomes {
					found = append(found, string(o))
				}
			}
			return found
		})(cmd, args, typed)
	}
}
