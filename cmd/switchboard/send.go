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

// A sendVerb is the flags of send.
type sendVerb struct {
	place
	wait, steer, noResume, json bool
	timeout                     time.Duration
	attach                      []string
	clientID                    string
}

func newSend(s *surroundings) *cobra.Command {
	v := &sendVerb{}
	cmd := &cobra.Command{
		Use:   "send SESSION [TEXT]…",
		Short: "Send a message to a session",
		Long: `Sends a message. The hub keeps it until the agent is idle; with --steer it is written into the turn
that is going on. A session that has ended is resumed, unless --no-resume says otherwise.

The arguments are the message, with spaces between them; an argument - stands for what comes in on
standard input. Without any, standard input is the message, if it is no terminal.

--attach adds a file: an image (PNG, JPEG, GIF, WebP), a PDF or a text.

With --wait it waits for the end of the turn, writes the agent's answer to standard output and ends
with code 6 if the turn failed. Questions that come up meanwhile are told on standard error, and wait
for an answer from elsewhere. An interrupt (Ctrl-C) leaves with code 130; the turn goes on.`,
		Example: `  switchboard send blog "Now fix the typos."

  # to the session that was updated last, and wait for what it says
  switchboard send - --wait "Do the tests pass?"

  # with what a command says, and a picture
  git diff | switchboard send blog "Please review this." -
  switchboard send blog --attach screen.png "What is wrong here?"

  # into the turn that is going on
  switchboard send blog --steer "Leave the database alone."`,
		Args: someSessions,
		RunE: func(cmd *cobra.Command, args []string) error { return v.run(cmd, s, args[0], args[1:]) },
	}
	cmd.ValidArgsFunction = completeSessions(s, &v.place)
	v.flags(cmd)
	f := cmd.Flags()
	f.BoolVarP(&v.wait, "wait", "w", false, "wait for the end of the turn, and write the answer")
	f.DurationVar(&v.timeout, "timeout", 0, "with --wait: how `LONG` to wait at most, such as 10m (default for ever)")
	f.BoolVar(&v.steer, "steer", false, "write it into the turn that is going on, at once")
	f.StringArrayVarP(&v.attach, "attach", "a", nil, "`FILE` to send along; may be repeated")
	f.BoolVar(&v.noResume, "no-resume", false, "refuse it if the session has ended")
	f.StringVar(&v.clientID, "client-id", "", "your `ID` of the message: sent twice, it is one message")
	f.BoolVar(&v.json, "json", false, "write one JSON object: the message, and with --wait the result")
	return cmd
}

// run sends what there is to send.
func (v *sendVerb) run(cmd *cobra.Command, s *surroundings, name string, words []string) error {
	if v.timeout != 0 && !v.wait {
		return usageError{errors.New("--timeout is for --wait")}
	}
	if v.timeout < 0 {
		return usageError{errors.New("--timeout has to be a while")}
	}
	m, err := v.message(s, words)
	if err != nil {
		return usageError{err}
	}
	return v.act(cmd, s, func(ctx context.Context, c *client.Client) error {
		session, err := naming.Session(ctx, c, name)
		if err != nil {
			return err
		}
		sent, err := c.Send(ctx, session.ID, *m)
		if err != nil {
			return err
		}
		if v.wait {
			return v.await(ctx, s, c, session, sent)
		}
		if v.json {
			return s.writeJSON(sent)
		}
		_, err = fmt.Fprintf(s.stdout, "%s for %s\n", strings.ReplaceAll(string(sent.State), "_", " "), called(session.ID, session.Title))
		return err
	})
}

// message returns the message that arguments and files make.
func (v *sendVerb) message(s *surroundings, words []string) (*api.SendMessage, error) {
	if len(words) == 0 && !isTerminal(s.stdin) && len(v.attach) == 0 {
		words = []string{"-"}
	}
	parts := make([]string, len(words))
	for i, word := range words {
		if parts[i] = word; word != "-" {
			continue
		}
		if slices.Contains(words[:i], "-") {
			return nil, errors.New("standard input can be read once; write one - only")
		}
		text, err := textOf(s, "standard input", "-")
		if err != nil {
			return nil, err
		}
		parts[i] = strings.TrimSuffix(text, "\n")
		// What a command says stands by itself.
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
		return nil, errors.New("the message is empty; write it behind the session, or pipe it in")
	}
	return m, nil
}

// errTimeout says that a turn took too long.
var errTimeout = errors.New("the time is up")

// await waits for the end of the turn that a message began.
func (v *sendVerb) await(ctx context.Context, s *surroundings, c *client.Client, session *api.Session, sent *api.Message) error {
	if v.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, v.timeout, errTimeout)
		defer cancel()
	}
	w := &turnWaiter{s: s, c: c, session: session, message: sent, steer: v.steer}
	line, err := w.wait(ctx)
	if errors.Is(context.Cause(ctx), errTimeout) && err != nil {
		return fmt.Errorf("after %s the turn has not ended; it goes on: switchboard attach %s", v.timeout, naming.Short(session.ID))
	}
	if err != nil {
		return err
	}
	failed := line.IsError || line.Subtype != "success"
	if v.json {
		if err := s.writeJSON(struct {
			Message *api.Message    `json:"message"`
			Result  json.RawMessage `json:"result"`
		}{w.message, line.raw}); err != nil {
			return err
		}
	} else if line.Result != "" && !failed {
		if _, err := fmt.Fprintln(s.stdout, strings.TrimSuffix(s.answerText(line.Result), "\n")); err != nil {
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
	fmt.Fprintf(s.stderr, "switchboard: the turn failed: %s\n", paint.CleanLine(why, 0))
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
	s       *surroundings
	c       *client.Client
	session *api.Session // before the message was sent
	message *api.Message
	steer   bool
	lost    bool
}

// wait follows the session from where it was before the message was sent.
func (w *turnWaiter) wait(ctx context.Context) (*resultLine, error) {
	for i := range w.session.Questions {
		w.asked(&w.session.Questions[i])
	}
	options := &client.FollowOptions{
		After: w.session.LastEventID, NoLive: true, Types: []string{"user", "result"},
		Kinds: []string{api.KindSent, api.KindLine, api.KindMessage, api.KindQuestionOpened, api.KindRunEnded, api.KindHold},
		Lost: func(err error, _ time.Duration) {
			if !w.lost && ctx.Err() == nil {
				fmt.Fprintf(w.s.stderr, "switchboard: the server is away (%s); waiting for it\n", paint.CleanLine(err.Error(), 0))
			}
			w.lost = true
		},
	}
	for frame, err := range w.c.Follow(ctx, w.session.ID, options) {
		if err != nil {
			return nil, err
		}
		w.lost = false
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
			return nil, errors.New("the message was taken back before the agent got it")
		case api.MessageNotDelivered, api.MessageUnknown:
			return nil, fmt.Errorf("the message did not reach the agent, as far as is known: %s", m.Reason)
		}
	case api.KindQuestionOpened:
		var q api.Question
		if json.Unmarshal(e.Data, &q) == nil {
			w.asked(&q)
		}
	case api.KindHold:
		var hold api.Hold
		if json.Unmarshal(e.Data, &hold) == nil {
			fmt.Fprintf(w.s.stderr, "switchboard: the session is held back: %s\n", paint.CleanLine(hold.Reason, 0))
		}
	case api.KindRunEnded:
		now, err := w.c.Session(ctx, w.session.ID)
		if err != nil {
			return nil, err
		}
		if now.State != api.StateEnded { // another process goes on with it
			return nil, nil
		}
		fmt.Fprintf(w.s.stderr, "switchboard: the agent's process has ended before the turn was over: %s\n", paint.CleanLine(reasonOf(now.Ended), 0))
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
	fmt.Fprintf(w.s.stderr, "switchboard: %s asks: %s; answer with: switchboard %s %s\n",
		naming.Short(q.Session), paint.CleanLine(string(q.Kind)+" "+q.Tool+" "+q.Title, 100), how, q.ID)
}
