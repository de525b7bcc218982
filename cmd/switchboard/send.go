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
	"github.com/switchboard-dev/switchboard/internal/terminal/turn"
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
		return e.result(v.json, sent, fmt.Sprintf("%s for %s", strings.ReplaceAll(string(sent.State), "_", " "), nameAndTitle(session.ID, session.Title)))
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
	w := &turn.Waiter{Client: c, Errs: e.stderr, Session: session, Message: sent, Steer: v.steer, Name: naming.Short(session.ID)}
	line, err := w.Wait(ctx)
	if errors.Is(context.Cause(ctx), errTimeout) && err != nil {
		return fmt.Errorf("the turn hasn't ended after %s and keeps running: switchboard attach %s", v.timeout, naming.Short(session.ID))
	}
	if errors.Is(err, turn.ErrFailed) {
		return exitError(codeTurnFailed)
	}
	if err != nil {
		return err
	}
	failed := line.Failed()
	if v.json {
		if err := e.writeJSON(struct {
			Message *api.Message    `json:"message"`
			Result  json.RawMessage `json:"result"`
		}{w.Message, line.Line}); err != nil {
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
