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
	asks     bool // a person at a terminal is asked whether the question is the one that is meant
	allows   bool // the answer is that it is allowed
	yes      bool // unless they say that it is
	alike    bool // open questions that ask for the same are answered, too
}

func (v *answerVerb) answerFlags(cmd *cobra.Command) {
	v.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&v.note, "note", "", "`NOTE` for the log, not shown to the agent")
	f.StringVar(&v.clientID, "client-id", "", "your own `ID` of the answer; sent twice, it counts once")
	f.BoolVar(&v.json, "json", false, "print the settled question as one JSON object")
}

// yesFlag is for those verbs that let something happen.
func (v *answerVerb) yesFlag(cmd *cobra.Command) {
	v.asks = true
	cmd.Flags().BoolVarP(&v.yes, "yes", "y", false, "don't ask for confirmation")
}

// meant has a person at a terminal see what they let happen: a question that is named by its session, or as the oldest, may be another one by now
// than they have looked at, and there may be more alike than they know of. A script says what it means.
func (v *answerVerb) meant(ctx context.Context, s *surroundings, c *client.Client, q *api.Question, alike []api.Question, name string) error {
	if !v.asks || v.yes || naming.ByID(q.ID, name) && len(alike) == 0 || !isTerminal(s.stdin) || !isTerminal(s.stderr) {
		return nil
	}
	titles, err := sessionTitles(ctx, c, append([]api.Question{*q}, alike...))
	if err != nil {
		return err
	}
	view := &terminal.View{Styles: paint.Detect(s.stderr, s.getenv, s.color).Styles(), Terminal: true, Headings: true, Now: time.Now(), Home: s.getenv("HOME")}
	lines := view.Asked(q, titles[q.Session])
	ask := map[bool]string{true: "Allow this? [y/N] ", false: "Send this answer? [y/N] "}[v.allows]
	if len(alike) > 0 {
		lines = append(append(lines, ""), view.Questions(alike, titles)...)
		ask = fmt.Sprintf("Allow all %d? [y/N] ", 1+len(alike))
	}
	if err := writeLines(s.stderr, lines); err != nil {
		return err
	}
	agreed, err := consent(ctx, s, ask)
	if err != nil {
		return err
	}
	if !agreed {
		fmt.Fprintln(s.stderr, "Nothing was answered.")
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
		var alike []api.Question
		if v.alike {
			if alike, err = openAlike(ctx, c, q); err != nil {
				return err
			}
		}
		if prepare == nil && q.State == api.QuestionOpen { // else it was shown, or is settled
			if err := v.meant(ctx, s, c, q, alike, name); err != nil {
				return err
			}
		}
		answer.ClientID = v.clientID
		if v.alike {
			return v.answerAll(ctx, s, c, append([]api.Question{*q}, alike...), decided)
		}
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
		Long: `Allows the use of a tool, approves a plan as it is (each edit then needs approval; switchboard answer
has the other outcomes), or accepts a form with the values it came with.

At a terminal, a question that isn't named by its id is shown first and needs your confirmation: it may
no longer be the one you saw. --yes skips that. How to name a QUESTION: switchboard help sessions.

With --alike every open question that asks for the same call of the same tool is allowed too, in all
sessions. At a terminal they are listed first.

--always also allows what Claude Code's first suggestion says from now on, --always=2 the second.
--rule names your own rule instead, in Claude Code's rule language. --destination says where it is saved:
session (default; until the agent stops), local, project or user (Claude Code's settings files), or
switchboard (a rule of the hub for this session; only with --rule).

Ends with code 5 if the question was already answered by someone else.`,
		Example: `  # the question that has waited longest
  switchboard allow -

  # this one, and all that ask for the same
  switchboard allow q7x --alike

  # by the beginning of its id, and always from now on
  switchboard allow q7x --always

  # everything like it in this project
  switchboard allow q7x --rule 'Bash(npm test:*)' --destination project

  # with another input, or edited in $EDITOR
  switchboard allow q7x --input '{"command":"make test"}'
  switchboard allow q7x --edit`,
		Args:              oneQuestion,
		ValidArgsFunction: completeQuestions(s, &v.place),
		RunE:              func(cmd *cobra.Command, args []string) error { return v.run(cmd, s, args[0]) },
	}
	v.answerFlags(cmd)
	v.yesFlag(cmd)
	v.alikeFlag(cmd)
	v.allows = true
	f := cmd.Flags()
	f.StringVar(&v.always, "always", "", "also allow what suggestion `N` says from now on (default N: 1)")
	f.Lookup("always").NoOptDefVal = "1"
	f.StringVar(&v.rule, "rule", "", "also allow what a `RULE` says from now on, e.g. Bash(git status:*)")
	f.StringVar(&v.keep, "destination", "", "`PLACE` to save it in: session, local, project, user or switchboard (default session)")
	f.StringVar(&v.input, "input", "", "`JSON` object to give to the tool instead, @FILE, or - for standard input")
	f.BoolVar(&v.edit, "edit", false, "edit the tool's input in $VISUAL or $EDITOR first")
	complete(cmd, "destination", decide.Destinations()...)
	cmd.MarkFlagsMutuallyExclusive("input", "edit", "alike")
	cmd.MarkFlagsMutuallyExclusive("client-id", "alike")
	cmd.MarkFlagsMutuallyExclusive("always", "rule")
	return cmd
}

// run allows what the question asks for.
func (v *allowVerb) run(cmd *cobra.Command, s *surroundings, name string) error {
	a := &decide.Allow{Rule: v.rule, Destination: v.keep, Note: v.note}
	if v.always != "" {
		number, err := strconv.Atoi(v.always)
		if err != nil || number < 1 {
			return usageError{fmt.Errorf("--always is %q; use the number of a suggestion: --always=2", v.always)}
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
		Long: `Denies the use of a tool, rejects a plan, skips a choice, declines a form or cancels a dialog. The
agent continues and sees your --reason; with --stop its turn ends. With --alike every open question that
asks for the same call of the same tool is denied too.

How to name a QUESTION: switchboard help sessions. Ends with code 5 if the question was already answered
by someone else.`,
		Example: `  switchboard deny q7x --reason "Use the staging database"

  # and stop the turn
  switchboard deny - --stop`,
		Args:              oneQuestion,
		ValidArgsFunction: completeQuestions(s, &v.place),
		RunE: func(cmd *cobra.Command, args []string) error {
			d := &decide.Deny{Reason: v.reason, Stop: v.stop, Note: v.note}
			return v.settle(cmd, s, args[0], nil, d.Answer)
		},
	}
	v.answerFlags(cmd)
	v.alikeFlag(cmd)
	cmd.Flags().StringVar(&v.reason, "reason", "", "`REASON`, shown to the agent")
	cmd.Flags().BoolVar(&v.stop, "stop", false, "stop the turn too")
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
		Long: `Answers questions that take more than yes or no. What ANSWER is depends on the question:

  choice   one ANSWER for each of its questions: the number or label of an option, several with commas
           where allowed, your own words, or - to skip it; with --text every ANSWER is your own words,
           even a number
  plan     an outcome, by number or name:
             fresh         approve; a new agent with cleared context carries it out, edits accepted
             accept_edits  approve; edits are accepted
             ask           approve; each edit needs approval
             revise        keep planning, with --feedback
             reject        reject it; --feedback says why
             outline       have the agent write an outline first
  form     --field NAME=VALUE for each field, or a JSON object; fields that came filled in stay
  dialog   its result, as JSON or a word

At a terminal, a question that isn't named by its id is shown first and needs your confirmation; --yes
skips that. How to name a QUESTION: switchboard help sessions.

Ends with code 5 if the question was already answered by someone else.`,
		Example: `  # the second option
  switchboard answer q7x 2

  # two questions: two options of the first, your own words for the second
  switchboard answer q7x 1,3 "something else"

  # the number 3 itself, not the third option
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
	f.StringArrayVar(&v.reply.Fields, "field", nil, "form: `NAME=VALUE` of a field; repeatable")
	f.BoolVar(&v.reply.Text, "text", false, "choice, dialog: ANSWER is your own words, even if it is a number, a label, JSON or -")
	f.BoolVar(&v.reply.Skip, "skip", false, "choice, form, dialog: skip it")
	f.StringVar(&v.reply.Feedback, "feedback", "", "plan: `TEXT` with what to change, @FILE, or - for standard input; with revise and reject")
	f.StringVar(&v.plan, "plan", "", "plan: the `TEXT` as you edited it, @FILE, or - for standard input; with an approval")
	f.BoolVar(&v.reply.Compact, "compact", false, "plan: compact the conversation after the turn")
	f.BoolVar(&v.reply.NoPrompts, "no-prompts", false, "plan: don't allow what the plan asks to be allowed")
	f.BoolVar(&v.reply.Bypass, "bypass", false, "plan: DANGEROUS, bypass permissions from then on (fresh, accept_edits)")
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
