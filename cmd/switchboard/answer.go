package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/naming"
	"github.com/switchboard-dev/switchboard/internal/terminal"
	"github.com/switchboard-dev/switchboard/internal/terminal/compose"
	"github.com/switchboard-dev/switchboard/internal/terminal/decide"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/terminal/words"
)

// An answerCmd is what allow, deny and answer have in common.
type answerCmd struct {
	hubFlags
	json     bool
	note     string
	clientID string
	asks     bool // a person at a terminal is asked whether the question is the one that is meant
	allows   bool // the answer is that it is allowed
	yes      bool // unless they say that it is
	alike    bool // open questions that ask for the same are answered, too
}

func (v *answerCmd) answerFlags(cmd *cobra.Command) {
	v.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&v.note, "note", "", "`NOTE` for the log, not shown to the agent")
	f.StringVar(&v.clientID, "client-id", "", "your own `ID` of the answer; sent twice, it counts once")
	f.BoolVar(&v.json, "json", false, "print the settled question as one JSON object")
}

// yesFlag is for those commands that let something happen.
func (v *answerCmd) yesFlag(cmd *cobra.Command) {
	v.asks = true
	cmd.Flags().BoolVarP(&v.yes, "yes", "y", false, "don't ask for confirmation")
}

// confirm has a person at a terminal see what they let happen: a question that is named by its session, or as the oldest, may be another one by now
// than they have looked at, and there may be more alike than they know of. A script says what it means.
func (v *answerCmd) confirm(ctx context.Context, e *env, c *client.Client, q *api.Question, alike []api.Question, name string) error {
	if !v.asks || v.yes || naming.ByID(q.ID, name) && len(alike) == 0 || !isTerminal(e.stdin) || !isTerminal(e.stderr) {
		return nil
	}
	titles, err := sessionTitles(ctx, c, append([]api.Question{*q}, alike...))
	if err != nil {
		return err
	}
	view := &terminal.View{Styles: paint.Detect(e.stderr, e.getenv, e.color).Styles(), Terminal: true, Headings: true, Now: time.Now(), Home: e.getenv("HOME")}
	lines := view.Asked(q, titles[q.Session])
	ask := map[bool]string{true: "Allow this? [y/N] ", false: "Send this answer? [y/N] "}[v.allows]
	if len(alike) > 0 {
		lines = append(append(lines, ""), view.Questions(alike, titles)...)
		ask = fmt.Sprintf("Allow all %d? [y/N] ", 1+len(alike))
	}
	if err := writeLines(e.stderr, lines); err != nil {
		return err
	}
	agreed, err := consent(ctx, e, ask)
	if err != nil {
		return err
	}
	if !agreed {
		fmt.Fprintln(e.stderr, "Nothing was answered.")
		return exitError(codeFailed)
	}
	return nil
}

// settle finds a question, answers it with what decide makes of what was asked for, and says what became of it. prepare, if not nil, comes before.
func (v *answerCmd) settle(cmd *cobra.Command, e *env, name string, prepare func(context.Context, *api.Question) error, decided func(*api.Question) (*api.Answer, error)) error {
	return v.act(cmd, e, func(ctx context.Context, c *client.Client) error {
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
			if err := v.confirm(ctx, e, c, q, alike, name); err != nil {
				return err
			}
		}
		answer.ClientID = v.clientID
		if v.alike {
			return v.answerAll(ctx, e, c, append([]api.Question{*q}, alike...), decided)
		}
		settled, err := c.Answer(ctx, q.ID, *answer)
		if refused, ok := errors.AsType[*api.Error](err); ok && refused.Code == api.CodeAlreadySettled && refused.Question != nil {
			return &decide.SettledError{Question: refused.Question, Err: err}
		}
		if err != nil {
			return err
		}
		if v.json {
			return e.writeJSON(settled)
		}
		what := paint.CleanLine(settled.Tool+" "+settled.Title, 60)
		_, err = fmt.Fprintf(e.stdout, "%s %s  %s\n", settled.ID, decide.Outcome(settled), what)
		return err
	})
}

// An allowCmd is the flags of allow.
type allowCmd struct {
	answerCmd
	always     string
	rule, keep string
	input      string
	edit       bool
}

func newAllow(e *env) *cobra.Command {
	v := &allowCmd{}
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
		ValidArgsFunction: completeQuestions(e, &v.hubFlags),
		RunE:              func(cmd *cobra.Command, args []string) error { return v.run(cmd, e, args[0]) },
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
func (v *allowCmd) run(cmd *cobra.Command, e *env, name string) error {
	a := &decide.Allow{Rule: v.rule, Destination: v.keep, Note: v.note}
	if v.always != "" {
		number, err := strconv.Atoi(v.always)
		if err != nil || number < 1 {
			return usageError{fmt.Errorf("--always is %q; use the number of a suggestion: --always=2", v.always)}
		}
		a.Always = number
	}
	if v.input != "" {
		text, err := textOf(e, "--input", v.input)
		if err != nil {
			return usageError{err}
		}
		a.Input = json.RawMessage(text)
	}
	var edit func(context.Context, *api.Question) error
	if v.edit {
		edit = func(_ context.Context, q *api.Question) (err error) {
			a.Input, err = editInput(e, q)
			return err
		}
	}
	return v.settle(cmd, e, name, edit, a.Answer)
}

// A denyCmd is the flags of deny.
type denyCmd struct {
	answerCmd
	reason string
	stop   bool
}

func newDeny(e *env) *cobra.Command {
	v := &denyCmd{}
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
		ValidArgsFunction: completeQuestions(e, &v.hubFlags),
		RunE: func(cmd *cobra.Command, args []string) error {
			d := &decide.Deny{Reason: v.reason, Stop: v.stop, Note: v.note}
			return v.settle(cmd, e, args[0], nil, d.Answer)
		},
	}
	v.answerFlags(cmd)
	v.alikeFlag(cmd)
	cmd.Flags().StringVar(&v.reason, "reason", "", "`REASON`, shown to the agent")
	cmd.Flags().BoolVar(&v.stop, "stop", false, "stop the turn too")
	return cmd
}

// An answerChoiceCmd is the flags of answer.
type answerChoiceCmd struct {
	answerCmd
	reply decide.Reply
	plan  string
}

func newAnswer(e *env) *cobra.Command {
	v := &answerChoiceCmd{}
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
		ValidArgsFunction: v.complete(e),
		RunE: func(cmd *cobra.Command, args []string) error {
			r := v.reply
			r.Words, r.Note = args[1:], v.note
			if cmd.Flags().Changed("plan") {
				text, err := textOf(e, "--plan", v.plan)
				if err != nil {
					return usageError{err}
				}
				r.Plan = &text
			}
			feedback, err := textOf(e, "--feedback", r.Feedback)
			if err != nil {
				return usageError{err}
			}
			r.Feedback = feedback
			return v.settle(cmd, e, args[0], nil, r.Answer)
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
func (v *answerChoiceCmd) complete(e *env) cobra.CompletionFunc {
	questions := completeQuestions(e, &v.hubFlags)
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return questions(cmd, args, typed)
		}
		return v.fromHub(e, func(ctx context.Context, c *client.Client, _ string) []cobra.Completion {
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

// alikeFlag is for commands whose answer can be given to several questions.
func (v *answerCmd) alikeFlag(cmd *cobra.Command) {
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
	open, err := questionsOf(ctx, c, api.QuestionFilter{State: api.QuestionOpen, Kind: api.QuestionPermission}, 0)
	return slices.DeleteFunc(open, func(other api.Question) bool {
		name, input := words.Call(&other)
		return other.ID == q.ID || name != tool || !bytes.Equal(canonical(name, input), wanted)
	}), err
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
func (v *answerCmd) answerAll(ctx context.Context, e *env, c *client.Client, questions []api.Question, decided func(*api.Question) (*api.Answer, error)) error {
	var first error
	done := []*api.Question{}
	for i := range questions {
		q := &questions[i]
		answer, err := decided(q)
		if err != nil {
			e.complain(&first, naming.Short(q.ID), usageError{err})
			continue
		}
		settled, err := c.Answer(ctx, q.ID, *answer)
		if err != nil {
			e.complain(&first, naming.Short(q.ID), err)
			continue
		}
		done = append(done, settled)
		if v.json {
			continue
		}
		if _, err := fmt.Fprintf(e.stdout, "%s %s  %s\n", settled.ID, decide.Outcome(settled), paint.CleanLine(settled.Tool+" "+terminal.Gist(settled), 60)); err != nil {
			return err
		}
	}
	if v.json {
		if err := e.writeJSON(map[string][]*api.Question{"questions": done}); err != nil {
			return err
		}
	}
	return first
}

// editInput lets the user change what a tool gets. A text that is no object any more is an error, and nothing is answered.
func editInput(e *env, q *api.Question) (json.RawMessage, error) {
	input, err := decide.Input(q)
	if err != nil {
		return nil, usageError{err}
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, input, "", "  "); err != nil {
		return nil, fmt.Errorf("reading question %s: %w", q.ID, err)
	}
	pretty.WriteByte('\n')
	out := e.stdout
	if !isTerminal(out) { // what goes there is not for an editor
		out = e.stderr
	}
	text, err := compose.Edit(e.getenv, "", pretty.String(), ".json", e.stdin, out, e.stderr)
	if err != nil {
		return nil, fmt.Errorf("nothing was answered: %w", err)
	}
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("the input was deleted in the editor; nothing was answered")
	}
	return json.RawMessage(text), nil
}
