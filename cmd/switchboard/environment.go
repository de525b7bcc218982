package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/naming"
)

// variableName is what the names of variables look like that are quoted in errors: anything else may be a value in the wrong place.
var variableName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`) })

// An envCmd is the flags of env.
type envCmd struct {
	hubFlags
	files []string
	json  bool
}

func newEnv(e *env) *cobra.Command {
	v := &envCmd{}
	cmd := &cobra.Command{
		Use:   "env SESSION [NAME=VALUE | NAME]…",
		Short: "Set environment variables of a running agent",
		Long: `Sets variables in the environment of a session's agent: the commands that it runs from now on see them.
They hold until its process ends.

NAME alone takes the value from the environment of this command, and --file reads lines NAME=VALUE from
a file, or from standard input with -. Use one of them for a secret: every user of the machine can see
arguments. Values go to the agent and nowhere else: the hub doesn't store, show or log them.

Claude Code up to 2.1.173 takes any variable. Newer versions take only their own tokens, such as
CLAUDE_CODE_OAUTH_TOKEN, and the hub refuses the rest. To give those a variable, start the session with it.`,
		Example: `  switchboard env blog LANG=C TZ=UTC

  # a secret, from a file and from this environment
  switchboard env blog --file secrets.env
  switchboard env blog DEPLOY_TOKEN

  # from another program
  pass show deploy | sed 's/^/DEPLOY_TOKEN=/' | switchboard env blog --file -`,
		Args: someSessions,
		RunE: func(cmd *cobra.Command, args []string) error { return v.run(cmd, e, args[0], args[1:]) },
	}
	cmd.ValidArgsFunction = completeSessions(e, &v.hubFlags)
	v.flags(cmd)
	cmd.Flags().StringArrayVar(&v.files, "file", nil, "`FILE` with lines NAME=VALUE, or - for standard input; repeatable")
	cmd.Flags().BoolVar(&v.json, "json", false, "print one JSON object: the session, and the names")
	return cmd
}

func (v *envCmd) run(cmd *cobra.Command, e *env, session string, args []string) error {
	variables, err := v.variables(e, args)
	if err != nil {
		return usageError{err}
	}
	return v.onSession(cmd, e, naming.Session, session, func(ctx context.Context, c *client.Client, session *api.Session) error {
		if err := c.Environment(ctx, session.ID, api.Environment{Variables: variables}); err != nil {
			return err
		}
		names := slices.Sorted(maps.Keys(variables))
		document := struct {
			Session string   `json:"session"`
			Set     []string `json:"set"`
		}{session.ID, names}
		return e.result(v.json, document, fmt.Sprintf("set %s in %s", strings.Join(names, ", "), nameAndTitle(session.ID, session.Title)))
	})
}

// variables returns what files and arguments set, the arguments last. No error quotes a value.
func (v *envCmd) variables(e *env, args []string) (map[string]string, error) {
	variables := map[string]string{}
	for i, name := range v.files {
		if name == "-" && slices.Contains(v.files[:i], "-") {
			return nil, errors.New("use --file - for standard input once only")
		}
		if err := readVariables(e, name, variables); err != nil {
			return nil, err
		}
	}
	for i, arg := range args {
		name, value, given := strings.Cut(arg, "=")
		switch {
		case name == "" || !given && !variableName().MatchString(name):
			return nil, fmt.Errorf("argument %d isn't NAME=VALUE or the NAME of a variable", i+2)
		case !given:
			if value = e.getenv(name); value == "" {
				return nil, fmt.Errorf("%s isn't set in the environment of this command", name)
			}
		}
		variables[name] = value
	}
	if len(variables) == 0 {
		return nil, errors.New("no variables; give NAME=VALUE, NAME or --file FILE")
	}
	return variables, nil
}

// readVariables reads lines NAME=VALUE; empty ones and those that begin with # are left out.
func readVariables(e *env, name string, to map[string]string) error {
	from, r := "standard input", e.stdin
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return fmt.Errorf("--file: %w", err)
		}
		defer func() { _ = file.Close() }() // it was only read
		from, r = name, file
	}
	if r == nil {
		return errors.New("--file: there is no standard input")
	}
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return fmt.Errorf("--file: %w", err)
	}
	if len(text) > maxFile {
		return fmt.Errorf("--file: %s is larger than %d bytes", from, maxFile)
	}
	lines := bufio.NewScanner(strings.NewReader(string(text)))
	lines.Buffer(nil, maxFile+1)
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSuffix(lines.Text(), "\r")
		if strings.TrimSpace(line) == "" || strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		name, value, given := strings.Cut(line, "=")
		if name = strings.TrimSpace(name); name == "" || !given {
			return fmt.Errorf("--file: line %d of %s isn't NAME=VALUE", number, from)
		}
		to[name] = value
	}
	return lines.Err()
}
