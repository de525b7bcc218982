package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/naming"
	"github.com/switchboard-dev/switchboard/internal/sandbox"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

func newPrefs(e *env) *cobra.Command {
	v := &struct {
		hubFlags
		json bool
	}{}
	cmd := &cobra.Command{
		Use:   "prefs",
		Short: "Show and change what your new sessions start with",
		Long: `Lists what your new sessions start with: permission mode, model, rules and sandbox, for a folder or for all
folders. switchboard run and the console use them for what you don't choose yourself. A flag goes first,
then your preferences for the folder, then those for all folders, then the configuration. Rules that deny
always apply.

Preferences are yours: other people who use the hub have their own. A folder's preferences don't hold in
its subfolders. The mode bypassPermissions isn't remembered: choose it for each session.`,
		Example: `  switchboard prefs

  # what sessions in this folder start with
  switchboard prefs set --mode acceptEdits --allow "Bash(go test:*)"

  # in all folders
  switchboard prefs set --everywhere --model opus

  # start as a session is now
  switchboard prefs set --session blog

  # forget what was set for this folder
  switchboard prefs forget`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return v.act(cmd, e, func(ctx context.Context, c *client.Client) error {
				list, err := c.Preferences(ctx, "")
				if err != nil {
					return err
				}
				if v.json {
					return e.writeJSON(list)
				}
				if len(list.Saved) == 0 {
					e.hint("No preferences yet. See switchboard prefs set --help.")
				}
				var lines []string
				for i := range list.Saved {
					lines = append(lines, shownPreferences(&list.Saved[i])...)
				}
				return writeLines(e.stdout, lines)
			})
		},
	}
	v.flags(cmd)
	cmd.Flags().BoolVar(&v.json, "json", false, "print one JSON object")
	cmd.AddCommand(newPrefsSet(e), newPrefsForget(e))
	return cmd
}

// shownPreferences returns the lines that show preferences.
func shownPreferences(p *api.SavedPreferences) []string {
	folder := "all folders"
	if p.Dir != "" {
		folder = p.Dir
	}
	lines := []string{paint.CleanLine(folder, 0)}
	add := func(name, value string) {
		if value != "" {
			lines = append(lines, fmt.Sprintf("  %-7s %s", name, paint.CleanLine(value, 0)))
		}
	}
	add("mode", p.PermissionMode)
	add("model", p.Model)
	for _, rule := range p.Allow {
		add("allow", rule)
	}
	for _, rule := range p.Deny {
		add("deny", rule)
	}
	add("sandbox", sandboxWords(p.Sandbox, p.SandboxAutoAllow))
	return lines
}

// placeFlags say which preferences are meant.
type placeFlags struct {
	dir        string
	everywhere bool
}

func (p *placeFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&p.dir, "dir", "C", "", "`FOLDER` they are for (default this one)")
	f.BoolVar(&p.everywhere, "everywhere", false, "for all folders")
	cmd.MarkFlagsMutuallyExclusive("dir", "everywhere")
}

// folder returns the folder, "" for all.
func (p *placeFlags) folder(e *env, hub *hubFlags) (string, error) {
	if p.everywhere {
		return "", nil
	}
	at, err := hub.remote(e)
	if err != nil {
		return "", err
	}
	if at != nil && p.dir == "" {
		return "", fmt.Errorf("--dir is missing: a folder on the machine of %s; or use --everywhere", at.title())
	}
	return hub.dirOf(e, "--dir", p.dir)
}

// A prefsSetCmd is the flags of prefs set.
type prefsSetCmd struct {
	hubFlags
	placeFlags
	mode, model, session, sandbox string
	allow, deny                   []string
	autoAllow, json               bool
}

func newPrefsSet(e *env) *cobra.Command {
	v := &prefsSetCmd{}
	cmd := &cobra.Command{
		Use:   "set",
		Short: "Remember what your new sessions start with",
		Long: `Remembers a permission mode, a model, rules and a sandbox for new sessions in this folder, in another one
(--dir) or in all folders (--everywhere). What you don't name stays as it was; an empty value removes it.
--allow and --deny replace the rules that were remembered.

With --session it takes mode, model, rules and sandbox from a session as it is now. Rules that expire, and rules
that ask, aren't taken.`,
		Example: `  switchboard prefs set --mode plan

  # rules of this folder
  switchboard prefs set --allow "Bash(go test:*)" --allow "Edit(src/**)" --deny "Bash(git push:*)"

  # in a strict sandbox, without questions about commands
  switchboard prefs set --sandbox strict --sandbox-auto-allow

  # without a model of its own again
  switchboard prefs set --model ""

  # as this session is
  switchboard prefs set --dir ~/src/blog --session blog`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return v.run(cmd, e) },
	}
	v.flags(cmd)
	v.placeFlags.add(cmd)
	f := cmd.Flags()
	f.StringVar(&v.mode, "mode", "", "`MODE`: plan, dontAsk, default, acceptEdits, auto")
	f.StringVarP(&v.model, "model", "m", "", "`MODEL` to use")
	f.StringArrayVar(&v.allow, "allow", nil, "`RULE` to allow without asking; repeatable")
	f.StringArrayVar(&v.deny, "deny", nil, "`RULE` to deny; repeatable")
	f.StringVar(&v.sandbox, "sandbox", "", "what the system enforces: `MODE` off, deny-only or strict")
	f.BoolVar(&v.autoAllow, "sandbox-auto-allow", false, "allow commands without asking in a strict sandbox")
	f.StringVar(&v.session, "session", "", "take them from a `SESSION`")
	f.BoolVar(&v.json, "json", false, "print one JSON object")
	for _, name := range []string{"mode", "model", "allow", "deny", "sandbox", "sandbox-auto-allow"} {
		cmd.MarkFlagsMutuallyExclusive("session", name)
	}
	complete(cmd, "mode", rememberedModes()...)
	complete(cmd, "sandbox", sandboxModes()...)
	return cmd
}

func (v *prefsSetCmd) run(cmd *cobra.Command, e *env) error {
	dir, err := v.folder(e, &v.hubFlags)
	if err != nil {
		return usageError{err}
	}
	changed := cmd.Flags().Changed
	if !slices.ContainsFunc([]string{"mode", "model", "allow", "deny", "sandbox", "sandbox-auto-allow", "session"}, changed) {
		return usageError{errors.New("nothing to remember; use --mode, --model, --allow, --deny, --sandbox or --session")}
	}
	if err := checkSandboxMode(v.sandbox); err != nil {
		return usageError{err}
	}
	return v.act(cmd, e, func(ctx context.Context, c *client.Client) error {
		in := api.SavePreferences{Dir: dir}
		if v.session != "" {
			session, err := naming.Session(ctx, c, v.session)
			if err != nil {
				return err
			}
			in.Preferences = preferencesOf(session)
		} else {
			list, err := c.Preferences(ctx, "")
			if err != nil {
				return err
			}
			for i := range list.Saved {
				if list.Saved[i].Dir == dir {
					in.Preferences = list.Saved[i].Preferences
				}
			}
		}
		if changed("mode") {
			in.PermissionMode = v.mode
		}
		if changed("model") {
			in.Model = v.model
		}
		if changed("allow") {
			in.Allow = withWords(v.allow)
		}
		if changed("deny") {
			in.Deny = withWords(v.deny)
		}
		if changed("sandbox") {
			in.Sandbox, in.SandboxAutoAllow = v.sandbox, false
		}
		if changed("sandbox-auto-allow") {
			in.SandboxAutoAllow = v.autoAllow
		}
		saved, err := c.SavePreferences(ctx, in)
		if err != nil {
			return err
		}
		if v.json {
			return e.writeJSON(saved)
		}
		if saved.Preferences.IsZero() {
			_, err := fmt.Fprintln(e.stdout, "nothing is remembered there now")
			return err
		}
		return writeLines(e.stdout, shownPreferences(saved))
	})
}

// withWords returns the texts that aren't empty.
func withWords(texts []string) []string {
	var out []string
	for _, text := range texts {
		if strings.TrimSpace(text) != "" {
			out = append(out, text)
		}
	}
	return out
}

// rememberedModes returns the modes that can be remembered.
func rememberedModes() []string { return []string{"plan", "dontAsk", "default", "acceptEdits", "auto"} }

// preferencesOf returns how a session like this one starts. The mode in which no person is asked is left out.
func preferencesOf(s *api.Session) api.Preferences {
	p := api.Preferences{}
	if slices.Contains(rememberedModes(), s.PermissionMode) {
		p.PermissionMode = s.PermissionMode
	}
	if s.Options != nil {
		p.Model, p.Allow, p.Deny = s.Options.Model, slices.Clone(s.Options.AllowedTools), slices.Clone(s.Options.DisallowedTools)
		p.Sandbox = s.Options.Sandbox
		p.SandboxAutoAllow = s.Options.SandboxAutoAllow && p.Sandbox == string(sandbox.Strict)
	}
	for _, rule := range s.Rules {
		if !rule.Expires.IsZero() || rule.Rule == "*" {
			continue
		}
		switch rule.Decision {
		case api.RuleAllow:
			p.Allow = append(p.Allow, rule.Rule)
		case api.RuleDeny:
			p.Deny = append(p.Deny, rule.Rule)
		case api.RuleAsk:
		}
	}
	return p
}

// A prefsForgetCmd is the flags of prefs forget.
type prefsForgetCmd struct {
	hubFlags
	placeFlags
	all, json bool
}

func newPrefsForget(e *env) *cobra.Command {
	v := &prefsForgetCmd{}
	cmd := &cobra.Command{
		Use:   "forget",
		Short: "Forget what your new sessions start with",
		Long: `Forgets what is remembered for this folder, for another one (--dir), for all folders (--everywhere; single
folders keep theirs), or everything (--all).`,
		Example: `  switchboard prefs forget

  switchboard prefs forget --all`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir, err := v.folder(e, &v.hubFlags)
			if err != nil {
				return usageError{err}
			}
			return v.act(cmd, e, func(ctx context.Context, c *client.Client) error {
				forget := func() (*api.ForgottenPreferences, error) { return c.ForgetPreferences(ctx, dir) }
				if v.all {
					forget = func() (*api.ForgottenPreferences, error) { return c.ForgetAllPreferences(ctx) }
				}
				gone, err := forget()
				if err != nil {
					return err
				}
				return e.result(v.json, gone, fmt.Sprintf("forgotten: %d", len(gone.Removed)))
			})
		},
	}
	v.flags(cmd)
	v.placeFlags.add(cmd)
	cmd.Flags().BoolVar(&v.all, "all", false, "everything that is remembered for you")
	cmd.Flags().BoolVar(&v.json, "json", false, "print one JSON object")
	cmd.MarkFlagsMutuallyExclusive("all", "dir")
	cmd.MarkFlagsMutuallyExclusive("all", "everywhere")
	return cmd
}

// preferPatience is how long the hub may take to say what a person prefers.
const preferPatience = 5 * time.Second

// prefer gives a new session what its flags leave open and the user prefers in its folder.
func (v *runCmd) prefer(ctx context.Context, e *env, c *client.Client, create *api.CreateSession) error {
	if v.noPrefs || v.resume != "" || v.resumeLast {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, preferPatience)
	defer cancel()
	list, err := c.Preferences(ctx, create.Dir)
	if problem, ok := errors.AsType[*api.Error](err); ok && problem.Status == http.StatusNotFound {
		return nil // a hub of an older version has none
	}
	if err != nil {
		return err
	}
	if err := belowPreset(ctx, c, &list.Effective, create); err != nil {
		return err
	}
	before := create.Options
	list.Effective.Apply(&create.Options)
	var used []string
	if create.Options.PermissionMode != before.PermissionMode {
		used = append(used, "mode "+create.Options.PermissionMode)
	}
	if create.Options.Model != before.Model {
		used = append(used, "model "+create.Options.Model)
	}
	if n := len(create.Options.AllowedTools) + len(create.Options.DisallowedTools) - len(before.AllowedTools) - len(before.DisallowedTools); n > 0 {
		used = append(used, fmt.Sprintf("rules: %d", n))
	}
	if v.autoAllowRefused {
		create.Options.SandboxAutoAllow = false
	}
	if create.Options.Sandbox != before.Sandbox {
		used = append(used, "sandbox "+sandboxWords(create.Options.Sandbox, create.Options.SandboxAutoAllow))
	}
	if len(used) > 0 {
		e.hint("Your preferences for this folder: %s. To start without them: --no-prefs", strings.Join(used, ", "))
	}
	return nil
}

// belowPreset takes out of preferences what the preset of a request sets: a preset wins over them, and the options of a request, which
// they become, win over the preset. Rules that deny are joined with those of the preset.
func belowPreset(ctx context.Context, c *client.Client, p *api.Preferences, create *api.CreateSession) error {
	if create.Preset == "" {
		return nil
	}
	list, err := c.Presets(ctx)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(list.Presets, func(preset api.Preset) bool { return preset.Name == create.Preset })
	if at < 0 {
		return nil // the hub refuses the request, and says which presets it has
	}
	set := list.Presets[at].Options
	applies := func(option string) bool { return !slices.Contains(create.Except, option) }
	if set.PermissionMode != "" && applies("permission_mode") {
		p.PermissionMode = ""
	}
	if set.Model != "" && applies("model") {
		p.Model = ""
	}
	if set.Sandbox != "" && applies("sandbox") {
		p.Sandbox, p.SandboxAutoAllow = "", false
	}
	if len(set.AllowedTools) > 0 && applies("allowed_tools") {
		p.Allow = nil
	}
	if len(p.Deny) > 0 && len(create.Options.DisallowedTools) == 0 && applies("disallowed_tools") {
		create.Options.DisallowedTools = set.DisallowedTools
	}
	return nil
}
