package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/naming"
	"github.com/switchboard-dev/switchboard/internal/terminal"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/units"
)

// What verbs read as texts of a person at most: a message, a plan, the input of a tool.
const mostRead = 16 << 20

// act calls f with a client of the running hub and a context that an interrupt ends. What was begun at the hub goes on.
func (p *place) act(cmd *cobra.Command, s *surroundings, f func(ctx context.Context, c *client.Client) error) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := p.withHub(s, func(c *client.Client) error { return f(ctx, c) })
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return exitError(codeInterrupted)
	}
	return err
}

// hint says something to a person that a script has no use for.
func (s *surroundings) hint(format string, args ...any) {
	if isTerminal(s.stderr) {
		fmt.Fprintf(s.stderr, "%s\n", paint.Clean(fmt.Sprintf(format, args...)))
	}
}

// complain says what went wrong with one of several things. The first error is what the program ends with.
func (s *surroundings) complain(first *error, name string, err error) {
	if *first == nil {
		*first = exitError(exitCode(err))
	}
	fmt.Fprintf(s.stderr, "switchboard: %s: %s\n", paint.CleanLine(name, 0), paint.Clean(err.Error()))
}

// called returns the short id of a session, with its title.
func called(id, title string) string {
	if title = paint.CleanLine(terminal.Title(title), 60); title != "" {
		return naming.Short(id) + " (" + title + ")"
	}
	return naming.Short(id)
}

// sameMoment is how close together two sessions were updated if nobody can say which of them was the last.
const sameMoment = 2 * time.Second

// toEnd returns the session that a name stands for, for verbs that take something from an agent which is at work. While several are, which of them was
// updated last changes from one moment to the next, so that "-" would hit one by chance: then it stands for none.
func toEnd(ctx context.Context, c naming.Lister, name string) (*api.Session, error) {
	session, err := naming.Session(ctx, c, name)
	if err != nil || name != naming.Last || session.State == api.StateEnded {
		return session, err
	}
	list, err := c.List(ctx, api.SessionFilter{State: liveStates(), Limit: 9})
	if err != nil {
		return nil, err
	}
	several := &naming.Error{Name: name, Kind: naming.KindSession, Candidates: []string{candidate(session.ID, session.Title)}}
	for _, other := range list.Sessions {
		if other.ID != session.ID && session.Updated.Sub(other.Updated).Abs() < sameMoment {
			several.Candidates = append(several.Candidates, candidate(other.ID, other.Title))
		}
	}
	if len(several.Candidates) > 1 {
		return nil, several
	}
	return session, nil
}

// candidate returns an id with a title, as naming has them in its errors.
func candidate(id, title string) string {
	return strings.TrimSpace(id + "  " + paint.CleanLine(title, 60))
}

// textOf returns the value of a flag that is a text, the content of a file (@FILE) or of standard input (-).
func textOf(s *surroundings, flag, value string) (string, error) {
	read := func(r io.Reader) (string, error) {
		text, err := io.ReadAll(io.LimitReader(r, mostRead+1))
		if err == nil && len(text) > mostRead {
			err = fmt.Errorf("larger than %s", units.Size(mostRead))
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", flag, err)
		}
		return string(text), nil
	}
	switch name, isFile := strings.CutPrefix(value, "@"); {
	case value == "-":
		return read(s.stdin)
	case !isFile:
		return value, nil
	default:
		file, err := os.Open(name)
		if err != nil {
			return "", fmt.Errorf("%s: %w", flag, err)
		}
		defer func() { _ = file.Close() }() // it was only read
		return read(file)
	}
}

// consent asks a question on standard error whose answer is no unless somebody says yes. The end of ctx, such as an interrupt, ends the waiting; the
// goroutine that reads the terminal then ends with the program, since nothing else can be done about it.
func consent(ctx context.Context, s *surroundings, question string) (bool, error) {
	if _, err := io.WriteString(s.stderr, question); err != nil {
		return false, err
	}
	type read struct {
		line string
		err  error
	}
	answer := make(chan read, 1)
	go func() {
		line, err := bufio.NewReader(io.LimitReader(s.stdin, 1<<10)).ReadString('\n')
		answer <- read{line, err}
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(s.stderr) // what the shell says next begins a line
		return false, ctx.Err()
	case got := <-answer:
		if got.err != nil && !errors.Is(got.err, io.EOF) {
			return false, fmt.Errorf("reading the answer: %w", got.err)
		}
		word := strings.ToLower(strings.TrimSpace(got.line))
		return (word == "y" || word == "yes") && ctx.Err() == nil, ctx.Err()
	}
}

// answerText returns what an agent wrote as it is, or made harmless if it goes to a terminal.
func (s *surroundings) answerText(text string) string {
	if isTerminal(s.stdout) {
		return paint.Clean(text)
	}
	return text
}

// liveStates are those of sessions with a process.
func liveStates() []api.State {
	return []api.State{api.StateStarting, api.StateIdle, api.StateRunning, api.StateRequiresAction, api.StateBackground, api.StateOffline}
}
