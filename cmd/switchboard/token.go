package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/config"
	"github.com/switchboard-dev/switchboard/internal/terminal"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

// scopeNames returns the rights that a token may have, the least first.
func scopeNames() []string { return []string{"observe", "prompt", "approve", "admin"} }

func newToken(s *surroundings) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Make, list and revoke the tokens by which programs and browsers get in",
		Long: `Over TCP whoever wants something of the hub shows a token. It has some of these rights, none of
which includes another:

  observe   look at sessions, their logs and questions
  prompt    send messages, interrupt turns
  approve   answer questions
  admin     create sessions, change rules, make tokens, and all else

The hub keeps hashes only: a token's text is shown once, when it is made. A token that is revoked or
has expired is good no more at once, also for connections that are open.

These verbs use the Unix socket, for which your user is enough. A command that an agent runs cannot
make tokens.`,
		Example: `  # for a program that looks and prompts, for a month
  switchboard token create --name dashboard --scopes observe,prompt --ttl 30d

  # which ones there are, and when they were used
  switchboard token list

  # let a browser in
  switchboard token code

  # for a Claude Code that you start yourself
  switchboard token create --session --dir ~/src/blog`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newTokenCreate(s), newTokenList(s), newTokenRevoke(s), newTokenCode(s))
	return cmd
}

// A tokenCreateVerb is the flags of token create.
type tokenCreateVerb struct {
	place
	name   string
	scopes []string
	ttl    string
	json   bool

	session               bool
	dir, title, transport string
}

func newTokenCreate(s *surroundings) *cobra.Command {
	v := &tokenCreateVerb{}
	cmd := &cobra.Command{
		Use:   "create --name NAME --scopes RIGHT,… | create --session",
		Short: "Make a token, or the credential of a Claude Code that you start yourself",
		Long: `Makes a token and writes its text, and nothing else, to standard output. Only the text gets anybody
in, and it cannot be shown again. What else there is to know is written to standard error.

With --session it makes a session that waits for a Claude Code of yours to dial in, and writes the
whole command that starts one. The credential is in its environment, not among its arguments, which
everybody on the machine can see; it is good for that session alone. Only versions up to 2.1.120
dial in: newer ones refuse every server but their vendor's. For those let the hub start the agent.`,
		Example: `  # for a program that looks and prompts, for a month
  TOKEN=$(switchboard token create --name dashboard --scopes observe,prompt --ttl 30d)

  # with all that is known of it
  switchboard token create --name ci --scopes observe --json

  # start a Claude Code by hand, and steer it from the hub
  switchboard token create --session --dir ~/src/blog --title "by hand"
  eval "$(switchboard token create --session)"`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return v.run(cmd, s) },
	}
	v.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&v.name, "name", "", "what its bearer is called in logs")
	f.StringSliceVar(&v.scopes, "scopes", nil, "its `RIGHTS`: observe, prompt, approve, admin")
	f.StringVar(&v.ttl, "ttl", "", "how `LONG` it is good: 90m, 24h, 30d (default for ever)")
	f.BoolVar(&v.session, "session", false, "make a session for a Claude Code that you start yourself")
	f.StringVar(&v.dir, "dir", "", "with --session: the `FOLDER` to work in (default this one)")
	f.StringVar(&v.title, "title", "", "with --session: its title")
	f.StringVar(&v.transport, "transport", "websocket", "with --session: websocket, or hybrid, which sends lines by HTTP POST")
	f.BoolVar(&v.json, "json", false, "write one JSON object")
	complete(cmd, "scopes", scopeNames()...)
	complete(cmd, "transport", "websocket", "hybrid")
	return cmd
}

// complete has a flag completed with some values.
func complete(cmd *cobra.Command, flag string, values ...string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // there is no such flag
	}
}

// run makes what the flags say.
func (v *tokenCreateVerb) run(cmd *cobra.Command, s *surroundings) error {
	others := []string{"dir", "title", "transport"}
	if v.session {
		others = []string{"name", "scopes", "ttl"}
	}
	for _, name := range others {
		if cmd.Flags().Changed(name) {
			if v.session {
				return usageError{fmt.Errorf("--%s is for tokens; the credential of a session has no such thing", name)}
			}
			return usageError{fmt.Errorf("--%s is for sessions; add --session", name)}
		}
	}
	if v.session {
		return v.makeSession(cmd.Context(), s)
	}
	return v.makeToken(cmd.Context(), s)
}

func (v *tokenCreateVerb) makeToken(ctx context.Context, s *surroundings) error {
	in := api.CreateToken{Name: v.name, Scopes: v.scopes}
	switch {
	case v.name == "":
		return usageError{errors.New("--name is missing: what its bearer is called in logs")}
	case len(v.scopes) == 0:
		return usageError{errors.New("--scopes is missing: some of " + strings.Join(scopeNames(), ","))}
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
			return usageError{fmt.Errorf("--ttl is %s; it has to be a second at least", v.ttl)}
		}
	}
	return v.withHub(s, func(c *client.Client) error {
		made, err := c.CreateToken(ctx, in)
		if err != nil {
			return err
		}
		if v.json {
			return s.writeJSON(made)
		}
		until := "for ever"
		if !made.Expires.IsZero() {
			until = "until " + made.Expires.Format(time.RFC3339)
		}
		fmt.Fprintf(s.stderr, "token %s for %s: %s, good %s; it is shown this once\nto end it: switchboard token revoke %s\n",
			made.ID, terminal.Clean(made.Name), strings.Join(made.Scopes, ","), until, made.ID)
		_, err = fmt.Fprintln(s.stdout, made.Text)
		return err
	})
}

// checkScopes says which of some rights there is not.
func checkScopes(names []string) error {
	for _, name := range names {
		if !slices.Contains(scopeNames(), name) {
			return fmt.Errorf("--scopes: %q is none of %s", name, strings.Join(scopeNames(), ", "))
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

func (v *tokenCreateVerb) makeSession(ctx context.Context, s *surroundings) error {
	if v.transport != "websocket" && v.transport != "hybrid" {
		return usageError{fmt.Errorf("--transport is %q; it is websocket or hybrid", v.transport)}
	}
	dir, err := filepath.Abs(v.dir)
	if err != nil {
		return usageError{fmt.Errorf("--dir: %w", err)}
	}
	return v.withHub(s, func(c *client.Client) error {
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
			return s.writeJSON(d)
		}
		fmt.Fprintf(s.stderr, "session %s waits for a Claude Code up to 2.1.120; newer ones dial only their vendor's servers\n", made.ID)
		return d.write(s.stdout)
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

// A tokenListVerb is the flags of token list.
type tokenListVerb struct {
	place
	json bool
}

func newTokenList(s *surroundings) *cobra.Command {
	v := &tokenListVerb{}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the tokens, and when they were used",
		Long: `Lists the tokens that there are. The one of the kind admin, if there is one, is in the file admin.token
of the data folder, which earlier versions wrote. Those of the kind device were got with a one-time
code. The last use is exact to the minute. A token that has expired is listed for a week.`,
		Example: `  switchboard token list
  switchboard token list --json`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return v.withHub(s, func(c *client.Client) error {
				list, err := c.Tokens(cmd.Context())
				if err != nil {
					return err
				}
				if v.json {
					return s.writeJSON(list)
				}
				return showTokens(s.stdout, list.Tokens, time.Now())
			})
		},
	}
	v.flags(cmd)
	cmd.Flags().BoolVar(&v.json, "json", false, "write one JSON object")
	return cmd
}

// showTokens writes tokens for people.
func showTokens(w io.Writer, tokens []api.Token, now time.Time) error {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tNAME\tRIGHTS\tKIND\tCREATED\tEXPIRES\tLAST USED")
	for i := range tokens {
		t := &tokens[i]
		kind, expires := t.Kind, date(t.Expires, "never")
		name := paint.CleanLine(t.Name, 0) // a bearer may call itself what it likes: it is one line
		if name == "" {
			name = "-"
		}
		if kind == "" {
			kind = "-"
		}
		if !t.Expires.IsZero() && !now.Before(t.Expires) {
			expires = "expired " + expires
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", t.ID, name, strings.Join(t.Scopes, ","), kind, date(t.Created, "-"), expires, date(t.Used, "never"))
	}
	_ = table.Flush() // a builder takes everything
	_, err := io.WriteString(w, terminal.Clean(b.String()))
	return err
}

// date writes a time to the minute, or a word if there is none.
func date(t time.Time, none string) string {
	if t.IsZero() {
		return none
	}
	return t.Local().Format("2006-01-02 15:04")
}

func newTokenRevoke(s *surroundings) *cobra.Command {
	v := &struct {
		place
		json bool
	}{}
	cmd := &cobra.Command{
		Use:   "revoke ID…",
		Short: "Revoke tokens",
		Long: `Ends tokens, and with them every connection of those who came with them. The id is what token list
shows, the part of the token between its underscores.

To revoke the token in the file admin.token, which earlier versions wrote, also removes the file.`,
		Example: `  switchboard token revoke k3v7q2xa

  # several
  switchboard token revoke k3v7q2xa w5x2m7q3`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeTokens(s, &v.place),
		RunE: func(cmd *cobra.Command, args []string) error {
			return v.withHub(s, func(c *client.Client) (err error) {
				revoked := []string{}
				for _, id := range args {
					id = tokenID(id)
					if err = c.RevokeToken(cmd.Context(), id); err != nil {
						err = fmt.Errorf("revoking %s: %w", id, err)
						break
					}
					revoked = append(revoked, id)
					if v.json {
						continue
					}
					if _, err = fmt.Fprintf(s.stdout, "revoked %s\n", terminal.Clean(id)); err != nil {
						break
					}
				}
				if v.json { // what was done is told also if the next could not be
					err = errors.Join(err, s.writeJSON(map[string][]string{"revoked": revoked}))
				}
				return err
			})
		},
	}
	v.flags(cmd)
	cmd.Flags().BoolVar(&v.json, "json", false, "write one JSON object with the ids of those that were revoked")
	return cmd
}

// completeTokens completes arguments with the ids of tokens.
func completeTokens(s *surroundings, p *place) cobra.CompletionFunc {
	return p.asking(s, func(ctx context.Context, c *client.Client, _ string) []cobra.Completion {
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

// tokenID returns the id in what somebody gave as one: perhaps the whole token, whose secret must go nowhere.
func tokenID(text string) string {
	if rest, found := strings.CutPrefix(text, "sb_"); found {
		id, _, _ := strings.Cut(rest, "_")
		return id
	}
	return text
}

// A tokenCodeVerb is the flags of token code.
type tokenCodeVerb struct {
	place
	name   string
	scopes []string
	json   bool
}

func newTokenCode(s *surroundings) *cobra.Command {
	v := &tokenCodeVerb{}
	cmd := &cobra.Command{
		Use:   "code",
		Short: "Make a one-time code that lets a browser in",
		Long: `Makes a code that is good once, for five minutes, and writes the address of the hub with it to
standard output. Whoever opens it first gets a token of the kind device, good for 30 days, which
token list shows and token revoke ends. The code is behind the # of the address, which browsers do not
send to any server.

A program exchanges the code by POST /v1/login.`,
		Example: `  # open the console with all rights
  switchboard token code

  # a phone that looks and answers
  switchboard token code --name phone --scopes observe,approve`,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return v.run(cmd.Context(), s) },
	}
	v.flags(cmd)
	cmd.Flags().StringVar(&v.name, "name", "", "what its bearer is called in logs (default what it calls itself)")
	cmd.Flags().StringSliceVar(&v.scopes, "scopes", nil, "its `RIGHTS`: observe, prompt, approve, admin (default all)")
	cmd.Flags().BoolVar(&v.json, "json", false, "write one JSON object")
	complete(cmd, "scopes", scopeNames()...)
	return cmd
}

// run makes a code.
func (v *tokenCodeVerb) run(ctx context.Context, s *surroundings) error {
	if err := checkScopes(v.scopes); err != nil {
		return usageError{err}
	}
	return v.withHub(s, func(c *client.Client) error {
		made, err := c.CreateCode(ctx, api.CreateCode{Name: v.name, Scopes: v.scopes})
		if err != nil {
			return err
		}
		if v.json {
			return s.writeJSON(made)
		}
		fmt.Fprintf(s.stderr, "good once, until %s\n", made.Expires.Local().Format(time.TimeOnly))
		_, err = fmt.Fprintln(s.stdout, made.URL)
		return err
	})
}
