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

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/naming"
	"github.com/switchboard-dev/switchboard/internal/terminal"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/units"
)

// What commands read as texts of a person at most: a message, a plan, the input of a tool.
const maxRead = 16 << 20

// act is the frame of a command that asks something of the hub: it calls f with a client of the hub, see withHub, and a context that an interrupt
// ends. What was begun at the hub goes on.
func (p *hubFlags) act(cmd *cobra.Command, e *env, f func(ctx context.Context, c *client.Client) error) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return interrupted(ctx, p.withHub(e, func(c *client.Client) error { return f(ctx, c) }))
}

// interrupted turns the error of what an interrupt broke off into its exit code.
func interrupted(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return exitError(codeInterrupted)
	}
	return err
}

// A finder finds the session that a name stands for: [naming.Session], or [naming.SessionToEnd] for what an agent at work would lose something by.
type finder func(ctx context.Context, hub naming.Lister, name string) (*api.Session, error)

// onSession is the frame of a command about one session.
func (p *hubFlags) onSession(
	cmd *cobra.Command, e *env, find finder, name string, f func(ctx context.Context, c *client.Client, session *api.Session) error,
) error {
	return p.act(cmd, e, func(ctx context.Context, c *client.Client) error {
		session, err := find(ctx, c, name)
		if err != nil {
			return err
		}
		return f(ctx, c, session)
	})
}

// each calls f for each of the names that a command was given. If one of several fails, that is said on standard error, the others are done, and the
// command ends with the exit code of the first that failed.
func (e *env) each(names []string, f func(name string) error) error {
	if len(names) == 1 {
		return f(names[0])
	}
	var first error
	for _, name := range names {
		if err := f(name); err != nil {
			e.complain(&first, name, err)
		}
	}
	return first
}

// result prints what a command has done: a document with --json, else a line.
func (e *env) result(asJSON bool, document any, line string) error {
	if asJSON {
		return e.writeJSON(document)
	}
	_, err := fmt.Fprintln(e.stdout, line)
	return err
}

// listFlags are the flags of commands that print a list.
type listFlags struct{ json, quiet bool }

// add adds them. document says what --json prints.
func (l *listFlags) add(cmd *cobra.Command, document string) {
	cmd.Flags().BoolVarP(&l.quiet, "quiet", "q", false, "print ids only")
	cmd.Flags().BoolVar(&l.json, "json", false, "print "+document)
}

// printList prints a list: as a document with --json, the ids with --quiet, else in lines. A person is told if there is nothing, in the words of none if it has any.
func printList[T any](e *env, l listFlags, list []T, document any, id func(*T) string, none string, lines func() ([]string, error)) error {
	switch {
	case l.json:
		return e.writeJSON(document)
	case l.quiet:
		var ids []string
		seen := map[string]bool{}
		for i := range list {
			if each := id(&list[i]); !seen[each] {
				seen[each] = true
				ids = append(ids, each)
			}
		}
		return writeLines(e.stdout, ids)
	case len(list) == 0 && none != "":
		if isTerminal(e.stdout) {
			fmt.Fprintln(e.stderr, none)
		}
		return nil
	}
	text, err := lines()
	if err != nil {
		return err
	}
	return writeLines(e.stdout, text)
}

// maxPage is how many items of a list are asked for at a time.
const maxPage = 200

// pages reads pages until there are no more, or as many items as are wanted; all if limit is 0. It returns the cursor of the page after them.
func pages[T any](limit int, read func(cursor string, most int) (page []T, next string, err error)) (all []T, next string, err error) {
	all = []T{} // not null in JSON
	for {
		most := maxPage
		if limit > 0 {
			most = min(most, limit-len(all))
		}
		var page []T
		if page, next, err = read(next, most); err != nil {
			return nil, "", err
		}
		all = append(all, page...)
		if limit > 0 && len(all) >= limit {
			return all[:limit], next, nil
		}
		if next == "" {
			return all, "", nil
		}
	}
}

// hint says something to a person that a script has no use for.
func (e *env) hint(format string, args ...any) {
	if isTerminal(e.stderr) {
		fmt.Fprintf(e.stderr, "%s\n", paint.Clean(fmt.Sprintf(format, args...)))
	}
}

// complain says what went wrong with one of several things. The first error is what the program ends with.
func (e *env) complain(first *error, name string, err error) {
	if *first == nil {
		*first = exitError(exitCode(err))
	}
	fmt.Fprintf(e.stderr, "switchboard: %s: %s\n", paint.CleanLine(name, 0), paint.Clean(err.Error()))
}

// nameAndTitle returns the short id of a session, with its title.
func nameAndTitle(id, title string) string {
	if title = paint.CleanLine(terminal.Title(title), 60); title != "" {
		return naming.Short(id) + " (" + title + ")"
	}
	return naming.Short(id)
}

// textOf returns the value of a flag that is a text, the content of a file (@FILE) or of standard input (-).
func textOf(e *env, flag, value string) (string, error) {
	read := func(r io.Reader) (string, error) {
		text, err := io.ReadAll(io.LimitReader(r, maxRead+1))
		if err == nil && len(text) > maxRead {
			err = fmt.Errorf("larger than %s", units.Size(maxRead))
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", flag, err)
		}
		return string(text), nil
	}
	switch name, isFile := strings.CutPrefix(value, "@"); {
	case value == "-":
		return read(e.stdin)
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

// consent asks a question on standard error whose answer is no unless the user says yes. The end of ctx, such as an interrupt, ends the waiting; the
// goroutine that reads the terminal then ends with the program, since nothing else can be done about it.
func consent(ctx context.Context, e *env, question string) (bool, error) {
	if _, err := io.WriteString(e.stderr, question); err != nil {
		return false, err
	}
	type read struct {
		line string
		err  error
	}
	answer := make(chan read, 1)
	go func() {
		line, err := bufio.NewReader(io.LimitReader(e.stdin, 1<<10)).ReadString('\n')
		answer <- read{line, err}
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(e.stderr) // what the shell says next begins a line
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
func (e *env) answerText(text string) string {
	if isTerminal(e.stdout) {
		return paint.Clean(text)
	}
	return text
}
