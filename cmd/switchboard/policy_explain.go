package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/audit"
	"github.com/switchboard-dev/switchboard/internal/config"
	"github.com/switchboard-dev/switchboard/internal/naming"
	"github.com/switchboard-dev/switchboard/internal/policy"
	"github.com/switchboard-dev/switchboard/internal/terminal"
	"github.com/switchboard-dev/switchboard/wire"
)

// The exit codes of policy explain, beside 0 for what is allowed: a script asks what would happen, and no error may look like an answer.
const (
	codeDeny         = 1
	codeAsk          = 2
	codeExplainError = 3
)

// A policyExplainCmd is the flags of policy explain.
type policyExplainCmd struct {
	hubFlags
	rules, dir, tool, input, at, session string
	origin                               string
	addDirs                              []string
	json                                 bool
}

func newPolicyExplain(e *env) *cobra.Command {
	v := &policyExplainCmd{}
	cmd := &cobra.Command{
		Use:   "explain --tool NAME --input JSON",
		Short: "Explain what the rules decide about a call",
		Long: `Says what the rules of a file decide about one tool call: the decision, the rule, the reason, and who
enforces it. It reads only the rules file and needs no hub. With --session it asks the running hub instead:
the rules in force, those of the session and its folder count.

With --origin it decides for an agent that dialed in. What dial.auto_approve allows such an agent counts
only if the environment sets it (SWITCHBOARD_DIAL_AUTO_APPROVE).

Exit codes: 0 allow, 1 deny, 2 ask (or no rule applies: then Claude Code decides whether it asks), 3
error.

Without --tool, calls come as JSON on standard input, one per line: {"tool":NAME,"input":OBJECT} and,
if it differs from --dir, "dir":FOLDER. Each gets a JSON object on a line of its own, and the exit code is
0; for an invalid line the object has the member "error", and the exit code is 3.`,
		Example: `  # is this allowed?
  switchboard policy explain --rules rules.toml --dir ~/src/blog --tool Bash --input '{"command":"git push"}'

  # would this session have to ask?
  switchboard policy explain --session blog --tool Bash --input '{"command":"git push"}'

  # many, for programs
  printf '%s\n' '{"tool":"Read","input":{"file_path":"/etc/passwd"}}' '{"tool":"WebSearch","input":{}}' |
    switchboard policy explain --rules rules.toml --dir ~/src/blog`,
		Args:              noArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		Annotations:       map[string]string{annotationErrorCode: fmt.Sprint(codeExplainError)},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if v.session != "" {
				return v.ofSession(cmd, e)
			}
			return v.run(e)
		},
	}
	v.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&v.session, "session", "", "a `SESSION` whose rules and folder count")
	f.StringVar(&v.rules, "rules", "", "`FILE` with the rules (default $XDG_CONFIG_HOME/switchboard/rules.toml)")
	f.StringVar(&v.dir, "dir", "", "`FOLDER` of the session (default the current one)")
	f.StringArrayVar(&v.addDirs, "add-dir", nil, "another `FOLDER` it may work in; repeatable")
	f.StringVar(&v.tool, "tool", "", "`NAME` of the tool, e.g. Bash")
	f.StringVar(&v.input, "input", "", "input of the tool, a `JSON` object")
	f.StringVar(&v.origin, "origin", "hub", "how the agent came: hub, dialed (with a token) or unauthenticated (without)")
	f.StringVar(&v.at, "at", "", "`TIME` to decide for, e.g. 2026-12-01T08:00:00Z (default now)")
	f.BoolVar(&v.json, "json", false, "print one JSON object")
	completeFolder(cmd, "dir")
	complete(cmd, "origin", origins...)
	register(cmd, "session", completeSessionFlag(e, &v.hubFlags))
	for _, other := range []string{"rules", "dir", "add-dir", "at", "origin"} {
		cmd.MarkFlagsMutuallyExclusive("session", other)
	}
	return cmd
}

// ofSession asks the hub about a call of a session.
func (v *policyExplainCmd) ofSession(cmd *cobra.Command, e *env) error {
	if v.tool == "" {
		return errors.New("--session needs --tool and --input")
	}
	if err := checkInput([]byte(v.input)); err != nil {
		return fmt.Errorf("--input: %w", err)
	}
	var verdict audit.Verdict
	err := v.onSession(cmd, e, naming.Session, v.session, func(ctx context.Context, c *client.Client, session *api.Session) error {
		decided, err := c.Explain(ctx, api.ExplainCall{Tool: v.tool, Input: json.RawMessage(v.input), Session: session.ID})
		if err != nil {
			return err
		}
		verdict = audit.Verdict{Decision: decided.Rule.Decision, Reason: decided.Rule.Reason, Message: decided.Message, Enforced: decided.Enforced}
		if decided.Rule.Rule != "" {
			verdict.Rule = &decided.Rule
		}
		if verdict.Decision == "" {
			verdict.Decision = api.RuleAsk
		}
		return nil
	})
	if err != nil {
		return err
	}
	return v.print(e, &verdict)
}

// origins are the values of --origin.
var origins = []string{"hub", string(policy.OriginDialed), string(policy.OriginUnauthenticated)}

// run explains one call, or those on standard input.
func (v *policyExplainCmd) run(e *env) error {
	if at, err := v.remote(e); err != nil {
		return err
	} else if at != nil && v.rules == "" {
		return fmt.Errorf("without --session the rules file of this machine is asked, not that of %s; name a session there, or a file with --rules, or use --hub local", at.title())
	}
	now, err := atTime(v.at)
	if err != nil {
		return err
	}
	if v.rules == "" {
		c := config.Default()
		if err := c.Environment(e.getenv); err != nil {
			return err
		}
		if v.rules = string(c.Rules.File); v.rules == "" {
			v.rules = config.RulesFile(e.getenv)
		}
		if v.rules == "" {
			return errors.New("HOME isn't set; name a rules file with --rules")
		}
		if _, err := os.Stat(v.rules); errors.Is(err, fs.ErrNotExist) {
			v.rules = "" // no rules but our own
		}
	}
	if !slices.Contains(origins, v.origin) {
		return fmt.Errorf("--origin is %q; want hub, dialed or unauthenticated", v.origin)
	}
	engine, err := readRules(e, v.rules)
	if err != nil {
		return err
	}
	if v.origin != "hub" {
		engine = engine.For(policy.Origin(v.origin))
	}
	dir, err := folder(v.dir)
	if err != nil {
		return err
	}
	add := make([]string, 0, len(v.addDirs))
	for _, each := range v.addDirs {
		each, err := folder(each)
		if err != nil {
			return err
		}
		add = append(add, each)
	}
	decide := func(dir, tool string, input json.RawMessage) audit.Verdict {
		return audit.Judge(engine, policy.Call{Tool: tool, Input: input, Dir: dir, AddDirs: add, Now: now})
	}
	if v.tool == "" {
		if v.input != "" {
			return errors.New("--input needs --tool; without both, calls come on standard input")
		}
		return explainLines(e.stdin, harmlessWriter{e.stdout}, dir, decide)
	}
	if err := checkInput([]byte(v.input)); err != nil {
		return fmt.Errorf("--input: %w", err)
	}
	verdict := decide(dir, v.tool, json.RawMessage(v.input))
	return v.print(e, &verdict)
}

// print prints a verdict, and returns it as an exit code.
func (v *policyExplainCmd) print(e *env, verdict *audit.Verdict) (err error) {
	if v.json {
		err = json.NewEncoder(harmlessWriter{e.stdout}).Encode(verdict)
	} else {
		err = terminal.WriteVerdict(e.stdout, verdict)
	}
	if err != nil {
		return err
	}
	switch verdict.Decision {
	case api.RuleAllow:
		return nil
	case api.RuleDeny:
		return exitError(codeDeny)
	case api.RuleAsk:
	}
	return exitError(codeAsk)
}

// folder returns the absolute path of a folder, of the one we are in if there is none.
func folder(name string) (string, error) {
	if name == "" {
		return os.Getwd()
	}
	return filepath.Abs(name)
}

// checkInput says what is wrong with the input of a tool.
func checkInput(input []byte) error {
	if !json.Valid(input) {
		return errors.New("this isn't valid JSON; an input looks like {\"command\":\"git status\"}")
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(input, &object) != nil || object == nil {
		return errors.New("not a JSON object; an input looks like {\"command\":\"git status\"}")
	}
	return nil
}

// An explained is a line that policy explain writes about a line that it has read.
type explained struct {
	Line int    `json:"line"`
	Tool string `json:"tool,omitempty"`
	*audit.Verdict
	Error string `json:"error,omitempty"`
}

// explainLines explains the calls of a stream.
func explainLines(r io.Reader, w io.Writer, dir string, decide func(dir, tool string, input json.RawMessage) audit.Verdict) error {
	lines, out := wire.NewLineReader(r, 0), json.NewEncoder(w)
	out.SetEscapeHTML(false)
	wrong := false
	for {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		answer := explained{Line: lines.Line()}
		if _, long := errors.AsType[*wire.LineTooLongError](err); err != nil && !long {
			return fmt.Errorf("reading calls: %w", err)
		}
		if err == nil {
			answer.Tool, answer.Verdict, err = explainLine(line, dir, decide)
		}
		if err != nil {
			wrong, answer.Error = true, err.Error()
		}
		if err := out.Encode(answer); err != nil {
			return err
		}
	}
	if wrong {
		return exitError(codeExplainError)
	}
	return nil
}

// explainLine explains the call in a line.
func explainLine(line []byte, dir string, decide func(dir, tool string, input json.RawMessage) audit.Verdict) (tool string, _ *audit.Verdict, _ error) {
	if err := checkInput(line); err != nil {
		return "", nil, errors.New("not a JSON object; a call looks like {\"tool\":\"Bash\",\"input\":{\"command\":\"git status\"}}")
	}
	tool, ok := wire.LookupString(line, "tool")
	if !ok || tool == "" {
		return "", nil, errors.New("the call names no tool")
	}
	input, ok := wire.Lookup(line, "input")
	if !ok {
		input = []byte("{}")
	}
	if err := checkInput(input); err != nil {
		return tool, nil, fmt.Errorf("input: %w", err)
	}
	if _, ok := wire.Lookup(line, "dir"); ok {
		if dir, ok = wire.LookupString(line, "dir"); !ok || !filepath.IsAbs(dir) {
			return tool, nil, errors.New("dir must be an absolute path")
		}
	}
	verdict := decide(dir, tool, input)
	return tool, &verdict, nil
}
