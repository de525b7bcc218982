package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/naming"
	"github.com/switchboard-dev/switchboard/internal/terminal/compose"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/wire"
)

// A sendCmd is the flags of send.
type sendCmd struct {
	hubFlags
	wait, steer, noResume, json bool
	timeout                     time.Duration
	attach                      []string
	clientID                    string
}

func newSend(e *env) *cobra.Command {
	v := &sendCmd{}
	cmd := &cobra.Command{
		Use:   "send SESSION [TEXT]…",
		Short: "Send a message to a session",
		Long: `Sends a message. It is queued until the agent is idle; with --steer it goes into the running turn. A
session whose agent has stopped is resumed, unless --no-resume is given.

The arguments are the message; the argument - stands for standard input. Without arguments, standard
input is the message, unless it is a terminal.

--attach adds a file: an image (PNG, JPEG, GIF, WebP), a PDF or a text.

With --wait it waits for the end of the turn, prints the agent's answer, and ends with code 6 if the turn
failed. Questions are shown on standard error; answer them elsewhere. Ctrl-C leaves with code 130; the
turn keeps running.`,
		Example: `  switchboard send blog "Now fix the typos."

  # to the latest session, and wait for the answer
  switchboard send - --wait "Do the tests pass?"

  # with the output of a command, and a picture
  git diff | switchboard send blog "Please review this." -
  switchboard send blog --attach screen.png "What is wrong here?"

  # into the running turn
  switchboard send blog --steer "Leave the database alone."`,
		Args: someSessions,
		RunE: func(cmd *cobra.Command, args []string) error { return v.run(cmd, e, args[0], args[1:]) },
	}
	cmd.ValidArgsFunction = completeSessions(e, &v.hubFlags)
	v.flags(cmd)
	f := cmd.Flags()
	f.BoolVarP(&v.wait, "wait", "w", false, "wait for the end of the turn and print the answer")
	f.DurationVar(&v.timeout, "timeout", 0, "with --wait: maximum `TIME` to wait, e.g. 10m (default no limit)")
	f.BoolVar(&v.steer, "steer", false, "send it into the running turn at once")
	f.StringArrayVarP(&v.attach, "attach", "a", nil, "`FILE` to attach; repeatable")
	f.BoolVar(&v.noResume, "no-resume", false, "refuse if the agent has stopped")
	f.StringVar(&v.clientID, "client-id", "", "your own `ID` of the message; sent twice, it counts once")
	f.BoolVar(&v.json, "json", false, "print one JSON object: the message, and with --wait the result")
	return cmd
}

// run sends what there is to send.
func (v *sendCmd) run(cmd *cobra.Command, e *env, name string, words []string) error {
	if v.timeout != 0 && !v.wait {
		return usageError{errors.New("--timeout is for --wait")}
	}
	if v.timeout < 0 {
		return usageError{errors.New("--timeout must not be below 0")}
	}
	m, err := v.message(e, words)
	if err != nil {
		return usageError{err}
	}
	return v.onSession(cmd, e, naming.Session, name, func(ctx context.Context, c *client.Client, session *api.Session) error {
		sent, err := c.Send(ctx, session.ID, *m)
		if err != nil {
			return err
		}
		if v.wait {
			return v.await(ctx, e, c, session, sent)
		}
		return e.result(v.json, sent, fmt.Sprintf("%s for %s", strings.ReplaceAll(string(sent.State), "_", " "), called(session.ID, session.Title)))
	})
}

// message returns the message that arguments and files make.
func (v *sendCmd) message(e *env, words []string) (*api.SendMessage, error) {
	if len(words) == 0 && !isTerminal(e.stdin) && len(v.attach) == 0 {
		words = []string{"-"}
	}
	parts := make([]string, len(words))
	for i, word := range words {
		if parts[i] = word; word != "-" {
			continue
		}
		if slices.Contains(words[:i], "-") {
			return nil, errors.New("use - for standard input once only")
		}
		text, err := textOf(e, "standard input", "-")
		if err != nil {
			return nil, err
		}
		parts[i] = strings.TrimSuffix(text, "\n")
		// What a command says stands on its own.
		if i > 0 {
			parts[i] = "\n" + parts[i]
		}
		if i < len(words)-1 {
			parts[i] += "\n"
		}
	}
	m := &api.SendMessage{ClientID: v.clientID, NoResume: v.noResume, Text: strings.TrimSpace(strings.ReplaceAll(strings.Join(parts, " "), " \n", "\n"))}
	if v.steer {
		m.Mode = "steer"
	}
	var attached []compose.Attachment
	for _, path := range v.attach {
		a, err := compose.Attach(path)
		if err != nil {
			return nil, err
		}
		if err := compose.Room(attached, a); err != nil {
			return nil, err
		}
		attached = append(attached, a)
	}
	if content := compose.Content(m.Text, attached); content != nil {
		m.Text, m.Content = "", content
	} else if m.Text == "" {
		return nil, errors.New("the message is empty; write it after the session, or pipe it in")
	}
	return m, nil
}

// errTimeout says that a turn took too long.
var errTimeout = errors.New("the time is up")

// await waits for the end of the turn that a message began.
func (v *sendCmd) await(ctx context.Context, e *env, c *client.Client, session *api.Session, sent *api.Message) error {
	if v.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, v.timeout, errTimeout)
		defer cancel()
	}
	w := &turnWaiter{e: e, c: c, session: session, message: sent, steer: v.steer}
	line, err := w.wait(ctx)
	if errors.Is(context.Cause(ctx), errTimeout) && err != nil {
		return fmt.Errorf("the turn hasn't ended after %s and keeps running: switchboard attach %s", v.timeout, naming.Short(session.ID))
	}
	if err != nil {
		return err
	}
	failed := line.IsError || line.Subtype != "success"
	if v.json {
		if err := e.writeJSON(struct {
			Message *api.Message    `json:"message"`
			Result  json.RawMessage `json:"result"`
		}{w.message, line.raw}); err != nil {
			return err
		}
	} else if line.Result != "" && !failed {
		if _, err := fmt.Fprintln(e.stdout, strings.TrimSuffix(e.answerText(line.Result), "\n")); err != nil {
			return err
		}
	}
	if !failed {
		return nil
	}
	why := line.Subtype
	if text := paint.CleanLine(line.Result+" "+strings.Join(line.Errors, " "), 0); text != "" {
		why += ": " + text
	}
	fmt.Fprintf(e.stderr, "switchboard: the turn failed: %s\n", paint.CleanLine(why, 0))
	return exitError(codeTurnFailed)
}

// A resultLine is what the end of a turn tells.
type resultLine struct {
	Subtype string   `json:"subtype"`
	IsError bool     `json:"is_error"`
	Result  string   `json:"result"`
	Errors  []string `json:"errors"`
	// Messages are the uuids of those that the turn was about; older CLIs do not tell.
	Messages []string `json:"user_message_uuids"`

	raw json.RawMessage
}

// A turnWaiter waits for the end of the turn that a message belongs to.
type turnWaiter struct {
	e       *env
	c       *client.Client
	session *api.Session // before the message was sent
	message *api.Message
	steer   bool
}

// wait follows the session from where it was before the message was sent.
func (w *turnWaiter) wait(ctx context.Context) (*resultLine, error) {
	for i := range w.session.Questions {
		w.asked(&w.session.Questions[i])
	}
	for frame, err := range (follower{w.c, w.e.stderr}).with(ctx, w.session.ID, client.FollowOptions{
		After: w.session.LastEventID, Types: []string{"user", "result"},
		Kinds: []string{api.KindSent, api.KindLine, api.KindMessage, api.KindQuestionOpened, api.KindRunEnded, api.KindHold},
	}) {
		if err != nil {
			return nil, err
		}
		if frame.Type != api.FrameEvent {
			continue
		}
		line, err := w.event(ctx, frame.Event)
		if line != nil || err != nil {
			return line, err
		}
	}
	return nil, context.Cause(ctx)
}

// event takes in what happened; it returns the end of the turn.
func (w *turnWaiter) event(ctx context.Context, e *api.Event) (*resultLine, error) {
	switch e.Kind {
	case api.KindMessage:
		var m api.Message
		if json.Unmarshal(e.Data, &m) != nil || m.ID != w.message.ID {
			return nil, nil //nolint:nilerr // it is about another one
		}
		w.message.State, w.message.Reason = m.State, m.Reason
		switch m.State { //nolint:exhaustive // all others are on the way
		case api.MessageTakenBack:
			return nil, errors.New("the message was removed before the agent got it")
		case api.MessageNotDelivered, api.MessageUnknown:
			return nil, fmt.Errorf("the message didn't reach the agent, as far as known: %s", m.Reason)
		}
	case api.KindQuestionOpened:
		var q api.Question
		if json.Unmarshal(e.Data, &q) == nil {
			w.asked(&q)
		}
	case api.KindHold:
		var hold api.Hold
		if json.Unmarshal(e.Data, &hold) == nil {
			fmt.Fprintf(w.e.stderr, "switchboard: the session is held back: %s\n", paint.CleanLine(hold.Reason, 0))
		}
	case api.KindRunEnded:
		now, err := w.c.Session(ctx, w.session.ID)
		if err != nil {
			return nil, err
		}
		if now.State != api.StateEnded { // another process goes on with it
			return nil, nil
		}
		fmt.Fprintf(w.e.stderr, "switchboard: the agent stopped before the turn was over: %s\n", paint.CleanLine(reasonOf(now.Ended), 0))
		return nil, exitError(codeTurnFailed)
	case api.KindSent, api.KindLine:
		header, err := wire.Peek(e.Line)
		if err != nil {
			return nil, nil //nolint:nilerr // it is neither
		}
		// That it was written is not always told by an event of its own.
		if string(header.Type) == "user" && w.message.UUID != "" && string(header.UUID) == w.message.UUID {
			w.message.State = api.MessageWritten
		}
		if e.Kind == api.KindLine && string(header.Type) == "result" {
			return w.ended(ctx, e)
		}
	}
	return nil, nil
}

func reasonOf(e *api.Ended) string {
	if e == nil {
		return "nobody knows why"
	}
	return e.Reason
}

// ended looks whether a turn that has ended is the message's.
func (w *turnWaiter) ended(ctx context.Context, e *api.Event) (*resultLine, error) {
	line := &resultLine{raw: e.Line}
	if err := json.Unmarshal(e.Line, line); err != nil {
		return nil, nil //nolint:nilerr // it is none
	}
	if w.message.UUID != "" && slices.Contains(line.Messages, w.message.UUID) {
		return line, nil
	}
	switch w.message.State { //nolint:exhaustive // all others are not there yet
	case api.MessagePickedUp, api.MessageWritten:
		if !w.steer && len(line.Messages) == 0 {
			return line, nil
		}
		// The turn was about something else, as far as is told. What is written into a turn may have come too late for it, and begins another.
		now, err := w.c.Session(ctx, w.session.ID)
		if err != nil {
			return nil, err
		}
		if len(now.Messages) == 0 && now.State != api.StateRunning && now.State != api.StateRequiresAction {
			return line, nil
		}
	}
	return nil, nil
}

// asked says that the agent waits for an answer.
func (w *turnWaiter) asked(q *api.Question) {
	how := "allow"
	if q.Kind == api.QuestionChoice || q.Kind == api.QuestionDialog {
		how = "answer"
	}
	fmt.Fprintf(w.e.stderr, "switchboard: %s asks: %s; answer with: switchboard %s %s\n",
		naming.Short(q.Session), paint.CleanLine(string(q.Kind)+" "+q.Tool+" "+q.Title, 100), how, q.ID)
}
