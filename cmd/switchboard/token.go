package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/config"
	"github.com/switchboard-dev/switchboard/internal/terminal"
)

// scopeNames returns the scopes that a token may have, the least first.
func scopeNames() []string { return []string{"observe", "prompt", "approve", "admin"} }

func newToken(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Create, list and revoke access tokens of programs and browsers",
		Long: `Programs and browsers that reach the hub over TCP need a token. A token has one or more scopes; no
scope includes another:

  observe   view sessions, logs and questions
  prompt    send messages, interrupt turns
  approve   answer questions
  admin     create sessions, change rules, manage tokens, and everything else

The hub stores hashes only: a token is shown once, when it is created. Revoked or expired tokens stop
working immediately, and their open connections are closed.

These commands use the Unix socket and need no token. Commands that an agent runs can't create tokens.`,
		Example: `  # Create a token for a program, valid for 30 days
  switchboard token create --name dashboard --scopes observe,prompt --ttl 30d

  # List tokens and devices
  switchboard token list

  # Sign out all browsers and phones
  switchboard token revoke --devices

  # Let a browser in
  switchboard token code

  # Start a Claude Code yourself
  switchboard token create --session --dir ~/src/blog`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newTokenCreate(e), newTokenList(e), newTokenRevoke(e), newTokenCode(e))
	return cmd
}

// A tokenCreateCmd is the flags of token create.
type tokenCreateCmd struct {
	hubFlags
	name   string
	scopes []string
	ttl    string
	json   bool

	session               bool
	dir, title, transport string
}

func newTokenCreate(e *env) *cobra.Command {
	v := &tokenCreateCmd{}
	cmd := &cobra.Command{
		Use:   "create --name NAME --scopes SCOPE,… | create --session",
		Short: "Create a token, or a session for a Claude Code you start yourself",
		Long: `Creates a token and prints it, and nothing else, to standard output. It can't be shown again. Details
go to standard error.

With --session, creates a session that waits for a Claude Code to connect, and prints the command that
starts one. Its credential is in the environment, not in the arguments, which every user of the machine
can see; it works for that session only. Only Claude Code up to 2.1.120 can connect this way: newer
versions refuse. For those let the hub start the agent.`,
		Example: `  # Create a token for a program, valid for 30 days
  TOKEN=$(switchboard token create --name dashboard --scopes observe,prompt --ttl 30d)

  # Print all details as JSON
  switchboard token create --name ci --scopes observe --json

  # Start a Claude Code by hand, and steer it from the hub
  switchboard token create --session --dir ~/src/blog --title "by hand"
  eval "$(switchboard token create --session)"`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return v.run(cmd, e) },
	}
	v.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&v.name, "name", "", "token name, shown in logs")
	f.StringSliceVar(&v.scopes, "scopes", nil, "`SCOPES` of the token: observe, prompt, approve, admin")
	f.StringVar(&v.ttl, "ttl", "", "`LIFETIME`, such as 90m, 24h or 30d (default unlimited)")
	f.BoolVar(&v.session, "session", false, "create a session for a Claude Code you start yourself")
	f.StringVar(&v.dir, "dir", "", "with --session: `FOLDER` to work in (default the current one)")
	f.StringVar(&v.title, "title", "", "with --session: session title")
	f.StringVar(&v.transport, "transport", "websocket", "with --session: websocket, or hybrid, which sends lines by HTTP POST")
	f.BoolVar(&v.json, "json", false, "print one JSON object")
	complete(cmd, "scopes", scopeNames()...)
	complete(cmd, "transport", "websocket", "hybrid")
	return cmd
}

// run makes what the flags say.
func (v *tokenCreateCmd) run(cmd *cobra.Command, e *env) error {
	others := []string{"dir", "title", "transport"}
	if v.session {
		others = []string{"name", "scopes", "ttl"}
	}
	for _, name := range others {
		if cmd.Flags().Changed(name) {
			if v.session {
				return usageError{fmt.Errorf("--%s is for tokens; leave it out with --session", name)}
			}
			return usageError{fmt.Errorf("--%s is for sessions; add --session", name)}
		}
	}
	if v.session {
		return v.makeSession(cmd, e)
	}
	return v.makeToken(cmd, e)
}

func (v *tokenCreateCmd) makeToken(cmd *cobra.Command, e *env) error {
	in := api.CreateToken{Name: v.name, Scopes: v.scopes}
	switch {
	case v.name == "":
		return usageError{errors.New("--name is missing: the token name shown in logs")}
	case len(v.scopes) == 0:
		return usageError{errors.New("--scopes is missing: one or more of " + strings.Join(scopeNames(), ","))}
	}
	if err := checkScopes(v.scopes); err != nil {
		return usageError{err}
	}
	if v.ttl != "" {
		var d config.Duration
		if err := d.UnmarshalText([]byte(v.ttl)); err != nil {
			return usageError{fmt.Errorf("--ttl: %w", err)}
		}
		if in.TTL = int64(time.Duration(d) / time.Second); in.TTL < 1 {
			return usageError{fmt.Errorf("--ttl is %s; it must be at least one second", v.ttl)}
		}
	}
	return v.act(cmd, e, func(ctx context.Context, c *client.Client) error {
		made, err := c.CreateToken(ctx, in)
		if err != nil {
			return err
		}
		if v.json {
			return e.writeJSON(made)
		}
		until := "does not expire"
		if !made.Expires.IsZero() {
			until = "expires " + made.Expires.Format(time.RFC3339)
		}
		fmt.Fprintf(e.stderr, "token %s for %s: %s, %s; shown only once\nRevoke it: switchboard token revoke %s\n",
			made.ID, terminal.Clean(made.Name), strings.Join(made.Scopes, ","), until, made.ID)
		_, err = fmt.Fprintln(e.stdout, made.Text)
		return err
	})
}

// checkScopes says which of some scopes there is not.
func checkScopes(names []string) error {
	for _, name := range names {
		if !slices.Contains(scopeNames(), name) {
			return fmt.Errorf("--scopes: %q is not one of %s", name, strings.Join(scopeNames(), ", "))
		}
	}
	return nil
}

// A dialling is what token create --session writes as JSON.
type dialling struct {
	Session string            `json:"session"`
	Dir     string            `json:"dir"`
	URL     string            `json:"url"`
	Env     map[string]string `json:"env"`
	Command []string          `json:"command"`
}

func (v *tokenCreateCmd) makeSession(cmd *cobra.Command, e *env) error {
	if v.transport != "websocket" && v.transport != "hybrid" {
		return usageError{fmt.Errorf("--transport is %q; it can be websocket or hybrid", v.transport)}
	}
	dir, err := v.dirOf(e, "--dir", v.dir)
	if err != nil {
		return usageError{err}
	}
	return v.act(cmd, e, func(ctx context.Context, c *client.Client) error {
		made, err := c.Create(ctx, api.CreateSession{Dir: dir, Title: v.title, Transport: v.transport})
		if err != nil {
			return err
		}
		d := dialling{
			Session: made.ID, Dir: dir, URL: made.URL,
			Env: map[string]string{"CLAUDE_CODE_SESSION_ACCESS_TOKEN": made.Token},
			Command: []string{
				"claude", "--sdk-url=" + made.URL, "--print", "--verbose", "--input-format=stream-json", "--output-format=stream-json",
				"--include-partial-messages", "--replay-user-messages",
			},
		}
		if v.transport == "hybrid" {
			d.Env["CLAUDE_CODE_POST_FOR_SESSION_INGRESS_V2"] = "1"
		}
		if v.json {
			return e.writeJSON(d)
		}
		fmt.Fprintf(e.stderr, "session %s waits for a Claude Code up to 2.1.120; newer versions refuse to connect\n", made.ID)
		return d.write(e.stdout)
	})
}

// write writes the command as a shell takes it.
func (d *dialling) write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "cd %s &&\n", quote(d.Dir))
	for _, name := range slices.Sorted(maps.Keys(d.Env)) {
		fmt.Fprintf(&b, "%s=%s \\\n", name, quote(d.Env[name]))
	}
	for i, word := range d.Command {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(quote(word))
	}
	b.WriteByte('\n')
	_, err := io.WriteString(w, b.String())
	return err
}

// quote writes a word so that a shell reads it as one. What does something to a terminal, such as an escape in the name of a folder, is spelled out.
func quote(word string) string {
	if !utf8.ValidString(word) || strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsPrint(r) }) {
		var b strings.Builder
		for _, c := range []byte(word) {
			fmt.Fprintf(&b, `\%03o`, c)
		}
		return `"$(printf '` + b.String() + `')"`
	}
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_=:/.,@%+", r)
	}
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// A tokenListCmd is the flags of token list.
type tokenListCmd struct {
	hubFlags
	json bool
}

func newTokenList(e *env) *cobra.Command {
	v := &tokenListCmd{}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List tokens and devices",
		Long: `Lists all tokens. Browsers and phones that signed in with a one-time code are of the kind device. The
kind admin is the token in the file admin.token of the data folder, which earlier versions wrote; its
last use isn't stored. Last use is exact to the minute. Expired tokens are listed for a week.`,
		Example: `  switchboard token list
  switchboard token list --json`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return v.act(cmd, e, func(ctx context.Context, c *client.Client) error {
				list, err := c.Tokens(ctx)
				if err != nil {
					return err
				}
				if v.json {
					return e.writeJSON(list)
				}
				return writeLines(e.stdout, e.view(false).Tokens(list.Tokens))
			})
		},
	}
	v.flags(cmd)
	cmd.Flags().BoolVar(&v.json, "json", false, "print one JSON object")
	return cmd
}

// date writes a time to the minute, or a word if there is none.
func date(t time.Time, none string) string {
	if t.IsZero() {
		return none
	}
	return t.Local().Format("2006-01-02 15:04")
}

func newTokenRevoke(e *env) *cobra.Command {
	v := &tokenRevokeCmd{}
	cmd := &cobra.Command{
		Use:   "revoke ID… | revoke --devices",
		Short: "Revoke tokens, or sign out all devices",
		Long: `Revokes tokens and closes their connections. The id is what token list shows: the part of the token
between its underscores. --devices signs out all browsers and phones instead.

Revoking the token in the file admin.token, which earlier versions wrote, also removes the file.`,
		Example: `  switchboard token revoke k3v7q2xa

  # Revoke several
  switchboard token revoke k3v7q2xa w5x2m7q3

  # Sign out all browsers and phones
  switchboard token revoke --devices`,
		ValidArgsFunction: completeTokens(e, &v.hubFlags),
		RunE: func(cmd *cobra.Command, args []string) error {
			if v.devices == (len(args) > 0) {
				return usageError{errors.New("name the tokens to revoke, or use --devices; switchboard token list shows them")}
			}
			return v.act(cmd, e, func(ctx context.Context, c *client.Client) error { return v.run(ctx, e, c, args) })
		},
	}
	v.flags(cmd)
	cmd.Flags().BoolVar(&v.devices, "devices", false, "sign out all browsers and phones")
	cmd.Flags().BoolVar(&v.json, "json", false, "print one JSON object with the revoked ids")
	return cmd
}

// A tokenRevokeCmd is the flags of token revoke.
type tokenRevokeCmd struct {
	hubFlags
	devices, json bool
}

// run revokes tokens, and tells which also if the next could not be.
func (v *tokenRevokeCmd) run(ctx context.Context, e *env, c *client.Client, args []string) error {
	revoked, err := v.revoke(ctx, c, args)
	if v.json {
		return errors.Join(err, e.writeJSON(&api.RevokedTokens{Revoked: revoked}))
	}
	lines := make([]string, len(revoked))
	for i, id := range revoked {
		lines[i] = "revoked " + terminal.Clean(id)
	}
	if v.devices && len(lines) == 0 && err == nil {
		e.hint("No devices are signed in.")
	}
	return errors.Join(err, writeLines(e.stdout, lines))
}

// revoke revokes the tokens that are named, or those of all devices.
func (v *tokenRevokeCmd) revoke(ctx context.Context, c *client.Client, args []string) ([]string, error) {
	if v.devices {
		list, err := c.RevokeDevices(ctx)
		if err != nil {
			return nil, err
		}
		return list.Revoked, nil
	}
	revoked := []string{}
	for _, id := range args {
		id = tokenID(id)
		if err := c.RevokeToken(ctx, id); err != nil {
			return revoked, fmt.Errorf("revoking %s: %w", id, err)
		}
		revoked = append(revoked, id)
	}
	return revoked, nil
}

// completeTokens completes arguments with the ids of tokens.
func completeTokens(e *env, p *hubFlags) cobra.CompletionFunc {
	return p.fromHub(e, func(ctx context.Context, c *client.Client, _ string) []cobra.Completion {
		list, err := c.Tokens(ctx)
		if err != nil {
			return nil
		}
		var found []cobra.Completion
		for i := range list.Tokens {
			found = append(found, offer(list.Tokens[i].ID, list.Tokens[i].Name))
		}
		return found
	})
}

// tokenID returns the id in what the user gave as one: perhaps the whole token, whose secret must go nowhere.
func tokenID(text string) string {
	if rest, found := strings.CutPrefix(text, "sb_"); found {
		id, _, _ := strings.Cut(rest, "_")
		return id
	}
	return text
}

// A tokenCodeCmd is the flags of token code.
type tokenCodeCmd struct {
	hubFlags
	name   string
	scopes []string
	json   bool
}

func newTokenCode(e *env) *cobra.Command {
	v := &tokenCodeCmd{}
	cmd := &cobra.Command{
		Use:   "code",
		Short: "Create a one-time link that lets a browser in",
		Long: `Creates a code that works once, for five minutes, and prints a link with it. The browser that opens it
first is signed in for 30 days; token list shows it, token revoke signs it out. The code comes after
the # of the link, which browsers never send to a server.

A program exchanges the code with POST /v1/login.`,
		Example: `  # Open the console with all scopes
  switchboard token code

  # Let someone watch and approve
  switchboard token code --name guest --scopes observe,approve`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return v.run(cmd, e) },
	}
	v.flags(cmd)
	cmd.Flags().StringVar(&v.name, "name", "", "device name in logs (default: the browser's own)")
	cmd.Flags().StringSliceVar(&v.scopes, "scopes", nil, "`SCOPES` of the device: observe, prompt, approve, admin (default all)")
	cmd.Flags().BoolVar(&v.json, "json", false, "print one JSON object")
	complete(cmd, "scopes", scopeNames()...)
	return cmd
}

// run makes a code.
func (v *tokenCodeCmd) run(cmd *cobra.Command, e *env) error {
	if err := checkScopes(v.scopes); err != nil {
		return usageError{err}
	}
	at, err := v.remote(e)
	if err != nil {
		return err
	}
	return v.act(cmd, e, func(ctx context.Context, c *client.Client) error {
		made, err := c.CreateCode(ctx, api.CreateCode{Name: v.name, Scopes: v.scopes})
		if err != nil {
			return err
		}
		made.URL = at.consoleURL(made)
		if v.json {
			return e.writeJSON(made)
		}
		fmt.Fprintf(e.stderr, "Works once, until %s.\n", made.Expires.Local().Format(time.TimeOnly))
		_, err = fmt.Fprintln(e.stdout, made.URL)
		return err
	})
}
