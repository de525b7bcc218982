package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/audit"
	"github.com/switchboard-dev/switchboard/internal/naming"
	"github.com/switchboard-dev/switchboard/internal/terminal"
	"github.com/switchboard-dev/switchboard/wire"
)

// A policyTestCmd is the flags of policy test.
type policyTestCmd struct {
	hubFlags
	dir, at string
	json    bool
}

func newPolicyTest(e *env) *cobra.Command {
	v := &policyTestCmd{}
	cmd := &cobra.Command{
		Use:   "test RULES SESSION|FILE",
		Short: "Test rules against the calls in a log",
		Long: `Goes through a log and says, line by line, what the rules of a file would decide about each tool call,
beside what really happened. At the end it sums up: how many of the calls that people had to allow a rule
would have allowed, and how many that they denied.

The log is a session of the running hub, or a file with JSON lines: a recording of what Claude Code wrote
and read, one of its transcripts (~/.claude/projects/…/….jsonl), or events and pages from the hub's HTTP
API. "-" is standard input. Lines without calls are skipped, lines that aren't understood are counted. A
transcript doesn't say whether a person was asked.

Rules are judged as of now; --at names another time for rules that expire.`,
		Example: `  # would these rules have spared you questions?
  switchboard policy test rules.toml s5k2m7q3zr4t6w8xabcdy

  # a conversation from before there was a hub
  switchboard policy test rules.toml ~/.claude/projects/-home-ann-blog/0b5e….jsonl

  # which calls would have been denied
  switchboard policy test rules.toml session.jsonl --json | jq 'select(.decision == "deny")'`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error { return v.run(cmd, e, args[0], args[1]) },
	}
	v.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&v.dir, "dir", "", "`FOLDER` of the session if the file doesn't say (default the current one)")
	f.StringVar(&v.at, "at", "", "`TIME` to decide for, e.g. 2026-12-01T08:00:00Z (default now)")
	f.BoolVar(&v.json, "json", false, "print JSON objects, one per line; the last has the totals")
	completeFolder(cmd, "dir")
	return cmd
}

// run judges a log.
func (v *policyTestCmd) run(cmd *cobra.Command, e *env, rules, log string) error {
	now, err := atTime(v.at)
	if err != nil {
		return usageError{err}
	}
	engine, err := readRules(e, rules)
	if err != nil {
		return err
	}
	dir, err := folder(v.dir)
	if err != nil {
		return err
	}
	options := audit.Options{Engine: engine, Dir: dir, Now: now}
	var a *audit.Audit
	file, err := openLog(e, log)
	switch {
	case err == nil:
		a = audit.New(options)
		err = errors.Join(readLog(a, file), file.Close())
	case errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(log, "/."):
		err = v.onSession(cmd, e, naming.Session, log, func(ctx context.Context, c *client.Client, session *api.Session) (err error) {
			a, err = readSession(ctx, c, session, options)
			return err
		})
	}
	if err != nil {
		return err
	}
	if v.json {
		return a.WriteJSON(harmlessWriter{e.stdout})
	}
	return terminal.WriteAudit(e.stdout, a)
}

// openLog opens a file, or standard input.
func openLog(e *env, name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(e.stdin), nil
	}
	return os.Open(name)
}

// readLog reads a file of lines.
func readLog(a *audit.Audit, r io.Reader) error {
	lines := wire.NewLineReader(r, 0)
	for {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if _, long := errors.AsType[*wire.LineTooLongError](err); long {
			line = nil // it is no JSON, and so it is counted
		} else if err != nil {
			return fmt.Errorf("reading the log: %w", err)
		}
		a.Line(int64(lines.Line()), line)
	}
}

// readSession reads the log of a session.
func readSession(ctx context.Context, c *client.Client, session *api.Session, o audit.Options) (*audit.Audit, error) {
	o.Dir = session.Dir
	if session.Options != nil {
		o.AddDirs = session.Options.AddDirs
	}
	a := audit.New(o)
	for after := ""; ; {
		page, err := c.Events(ctx, session.ID, after, 0)
		if err != nil {
			return nil, err
		}
		for i := range page.Events {
			a.Event(&page.Events[i])
		}
		if !page.More || page.Next == after {
			return a, nil
		}
		after = page.Next
	}
}
