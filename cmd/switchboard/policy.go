package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/config"
	"github.com/switchboard-dev/switchboard/internal/policy"
	"github.com/switchboard-dev/switchboard/internal/terminal"
)

func newPolicy(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Show, test and confirm the rules for agents",
		Long: `Rules say what agents may do without asking, what they must ask for, and what they may never do. They are
in the file rules.toml, in Claude Code's rule language; docs/rules.md describes it.

A running hub reads the file again when it changes. What a change denies applies at once; what it newly
allows waits until you confirm it.`,
		Example: `  # which rules are in force, and what waits for confirmation
  switchboard policy show

  # what would happen with a call
  switchboard policy explain --dir ~/src/blog --tool Bash --input '{"command":"git push"}'

  # what other rules would have decided in a session
  switchboard policy test ./stricter.toml s5k2m7q3zr4t6w8xabcdy`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPolicyShow(e), newPolicyConfirm(e), newPolicyExplain(e), newPolicyTest(e), newPolicyFile(e), newPolicyReplace(e))
	return cmd
}

// maxRules bounds a rules file, as it is for the hub.
const maxRules = 1 << 20

// readRules reads a rules file and compiles it as the hub of this user would. It reads nothing else: our own folders are those that follow from
// the environment.
func readRules(e *env, name string) (*policy.Engine, error) {
	home := e.getenv("HOME")
	var file *policy.File
	if name != "" {
		text, err := readAtMost(name, maxRules)
		if err != nil {
			return nil, fmt.Errorf("reading the rules: %w", err)
		}
		if file, err = policy.ParseFile(name, text, home); err != nil {
			return nil, err
		}
	}
	c := config.Default()
	if err := c.Environment(e.getenv); err != nil {
		return nil, err
	}
	var own []string
	if paths, err := c.FindPaths(e.getenv); err == nil { // else no hub could run here
		own = append(own, paths.DataDir, filepath.Dir(paths.Socket))
	}
	if usual := config.File(e.getenv); usual != "" {
		own = append(own, filepath.Dir(usual), usual) // which may be a link that leads elsewhere
	}
	if path, err := filepath.Abs(name); err == nil && name != "" {
		own = append(own, path)
	}
	return policy.New(file, policy.Options{Home: home, Own: own, AutoApprove: c.Dial.AutoApprove})
}

// readAtMost reads a file that has no more than so many bytes.
func readAtMost(name string, most int64) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s is larger than %d bytes, too large for a rules file", name, most)
	}
	return text, err
}

// atTime reads the time of a flag; the present if it is not set.
func atTime(at string) (time.Time, error) {
	if at == "" {
		return time.Now(), nil
	}
	t, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return time.Time{}, fmt.Errorf("--at is %q; write it as 2026-12-01T08:00:00Z", at)
	}
	return t, nil
}

// A policyShowCmd is the flags of policy show.
type policyShowCmd struct {
	hubFlags
	json bool
}

func newPolicyShow(e *env) *cobra.Command {
	v := &policyShowCmd{}
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Show the rules, and changes that wait for confirmation",
		Long: `Shows the rules that apply to all sessions, problems of the rules file, and what a change would newly
allow and waits for confirmation.

The rules of a single session are shown by switchboard show.`,
		Example: `  switchboard policy show
  switchboard policy show --json`,
		Args:              noArguments,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return v.act(cmd, e, func(ctx context.Context, c *client.Client) error {
				p, err := c.Policy(ctx)
				if err != nil {
					return err
				}
				if v.json {
					return e.writeJSON(p)
				}
				return showPolicy(e.stdout, p)
			})
		},
	}
	v.flags(cmd)
	cmd.Flags().BoolVar(&v.json, "json", false, "print one JSON object")
	return cmd
}

// showPolicy writes the rules for people.
func showPolicy(w io.Writer, p *api.Policy) error {
	var b strings.Builder
	switch {
	case p.File == "":
		b.WriteString("no rules file\n")
	default:
		fmt.Fprintf(&b, "rules file: %s\n", p.File)
	}
	if p.Problem != "" {
		fmt.Fprintf(&b, "problem: %s\nthe rules below apply meanwhile\n", p.Problem)
	}
	if p.Enforce == policy.EnforceHook {
		b.WriteString("the hub checks every call (enforce = \"hook\")\n")
	}
	b.WriteByte('\n')
	table := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	ours, yours := 0, 0
	for i := range p.Rules {
		r := &p.Rules[i]
		if r.Decision == api.RuleDeny && r.Scope == string(policy.ScopeBuiltin) {
			ours++
			continue
		}
		rule := r.Rule
		if !r.Expires.IsZero() {
			rule += " until " + r.Expires.Format(time.RFC3339)
		}
		by := map[string]string{"both": "Claude Code, hub", "cli": "Claude Code"}[r.Enforced]
		if by == "" {
			by = r.Enforced
		}
		if yours++; yours == 1 {
			fmt.Fprintln(table, "DECISION\tRULE\tSCOPE\tSOURCE\tENFORCED BY")
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", r.Decision, rule, r.Scope, r.Source, by)
	}
	_ = table.Flush() // a builder takes everything
	if yours == 0 {
		b.WriteString("No rules: agents ask as their permission mode says.\n")
	}
	if ours > 0 {
		fmt.Fprintf(&b, "\n%d built-in rules keep agents away from Switchboard's own files; --json lists them\n", ours)
	}
	if p.Pending != nil {
		b.WriteByte('\n')
		showPending(&b, p.Pending)
		fmt.Fprintf(&b, "to confirm: switchboard policy confirm %s\n", p.Pending.Sum)
	}
	_, err := io.WriteString(w, terminal.Clean(b.String()))
	return err
}

// showPending says what a change of the rules would allow.
func showPending(b *strings.Builder, change *api.PolicyChange) {
	b.WriteString("waits for confirmation because it allows more than before:\n")
	for _, each := range change.Widens {
		fmt.Fprintf(b, "  - %s\n", strings.Join(strings.Fields(each), " "))
	}
}

// A policyConfirmCmd is the flags of policy confirm.
type policyConfirmCmd struct {
	hubFlags
	yes, json bool
}

func newPolicyConfirm(e *env) *cobra.Command {
	v := &policyConfirmCmd{}
	cmd := &cobra.Command{
		Use:   "confirm [SUM]",
		Short: "Confirm a change that allows more than before",
		Long: `Shows what the changed rules file would newly allow, asks, and applies it.

Without a terminal give the sum that policy show prints, and --yes. The sum names this version of the
file; if it has changed since, nothing is confirmed.

Commands run by an agent can't confirm anything.`,
		Example: `  switchboard policy confirm

  # in a script
  switchboard policy confirm --yes "$(switchboard policy show --json | jq -r .pending.sum)"`,
		Args:              atMostOne("sum"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			sum := ""
			if len(args) > 0 {
				sum = args[0]
			}
			return v.run(cmd, e, sum)
		},
	}
	v.flags(cmd)
	cmd.Flags().BoolVar(&v.yes, "yes", false, "don't ask; needs SUM")
	cmd.Flags().BoolVar(&v.json, "json", false, "print the rules as one JSON object")
	return cmd
}

// run confirms what waits.
func (v *policyConfirmCmd) run(cmd *cobra.Command, e *env, sum string) error {
	switch {
	case v.yes && sum == "":
		return usageError{errors.New("--yes needs the sum; switchboard policy show prints it")}
	case !v.yes && !isTerminal(e.stdin):
		return usageError{errors.New("not a terminal: use switchboard policy confirm --yes SUM")}
	}
	return v.act(cmd, e, func(ctx context.Context, c *client.Client) error {
		p, err := c.Policy(ctx)
		if err != nil {
			return err
		}
		if p.Pending == nil && sum == "" {
			if p.Problem != "" {
				return fmt.Errorf("the rules file can't be used: %s", p.Problem)
			}
			if v.json {
				return e.writeJSON(p)
			}
			_, err := fmt.Fprintln(e.stdout, "nothing waits for confirmation")
			return err
		}
		if sum == "" {
			sum = p.Pending.Sum
		}
		if p.Pending != nil && p.Pending.Sum == sum {
			var b strings.Builder
			fmt.Fprintf(&b, "the rules file %s\n", p.File)
			showPending(&b, p.Pending)
			out := e.stdout
			if v.json {
				out = e.stderr
			}
			if _, err := io.WriteString(out, terminal.Clean(b.String())); err != nil {
				return err
			}
		} else if !v.yes { // what cannot be shown, no user can mean
			return fmt.Errorf("no change with the sum %s waits for confirmation; see: switchboard policy show", sum)
		}
		if !v.yes {
			agreed, err := consent(ctx, e, "Allow this? [y/N] ")
			if err != nil {
				return err
			}
			if !agreed {
				fmt.Fprintln(e.stderr, "Nothing was confirmed.")
				return exitError(codeFailed)
			}
		}
		confirmed, err := c.ConfirmPolicy(ctx, api.ConfirmPolicy{Sum: sum})
		if err != nil {
			return err
		}
		if v.json {
			return e.writeJSON(confirmed)
		}
		_, err = fmt.Fprintln(e.stdout, "confirmed; the rules apply now")
		return err
	})
}
