package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/config"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

const (
	// tokenPrefix is how every token begins; a one-time code does not.
	tokenPrefix = "sb_"
	// maxSecret bounds what is read as a token or code.
	maxSecret = 4 << 10
)

// hubAddress returns the base address of a hub, and the one-time code that may be in its fragment, as in the link of the console.
func hubAddress(text string) (base, code string, err error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return "", "", fmt.Errorf("%q isn't the address of a hub, such as https://hub.example.com:8765", withoutFragment(text))
	}
	if fragment := u.Fragment; fragment != "" {
		values, err := url.ParseQuery(fragment)
		if code = values.Get("code"); err != nil || code == "" {
			return "", "", errors.New("the address has something after its # that isn't a one-time code")
		}
		u.Fragment, u.RawFragment = "", ""
	}
	if u.User != nil || u.RawQuery != "" {
		return "", "", errors.New("the address of a hub has neither a name nor a password nor a question mark in it; tokens have a place of their own")
	}
	u.Host = strings.ToLower(u.Host)
	base = strings.TrimRight(u.String(), "/")
	// The client knows which addresses are safe.
	c, err := client.New(&client.Options{BaseURL: base})
	if err != nil {
		return "", "", fmt.Errorf("%s is not on this machine: only https is safe there", base)
	}
	c.Close()
	return base, code, nil
}

// withoutFragment returns an address without what may be a secret.
func withoutFragment(text string) string {
	text, _, _ = strings.Cut(text, "#")
	if _, after, found := strings.Cut(text, "@"); found {
		return after
	}
	return text
}

// A loginCmd is the flags of login.
type loginCmd struct {
	name, code, pin string
	tokenStdin      bool
}

func newLogin(e *env) *cobra.Command {
	v := &loginCmd{}
	cmd := &cobra.Command{
		Use:   "login URL",
		Short: "Log in to a hub on another machine, and use it from here",
		Long: `Logs in to a hub on another machine and makes it the current one: commands use it from then on. Several
hubs can be known, each by a name; --hub and ` + envHub + ` choose one for a command, switchboard hub use
for all. switchboard hub use local goes back to the hub of this machine.

It asks for a one-time code or a token, without showing it. On the hub's machine, switchboard token code
makes a code, which is valid for five minutes, and switchboard token create a token. URL can also be the
link that token code prints.

The hub's certificate is checked before anything is sent. If no authority vouches for it, because the hub
has made it itself, its fingerprint is shown: compare it with what switchboard status shows on the hub's
machine. From then on only a certificate with that fingerprint is accepted. Without a terminal, give it
with --pin.

Hubs and tokens are in hubs.json in the folder of the configuration, readable by you alone.`,
		Example: `  # on the hub's machine
  switchboard token code

  # here: compare the fingerprint, type the code
  switchboard login https://hub.example.com:8765 --name work

  # in a script
  switchboard login https://hub.example.com:8765 --pin sha256:… --token-stdin <token.txt

  # back to the hub of this machine
  switchboard hub use local`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("which hub? Name its address, such as https://hub.example.com:8765")
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return interrupted(ctx, v.run(ctx, e, args[0]))
		},
	}
	f := cmd.Flags()
	f.StringVar(&v.name, "name", "", "`NAME` for the hub (default its host name)")
	f.StringVar(&v.code, "code", "", "one-time `CODE`, or - to read it from standard input")
	f.BoolVar(&v.tokenStdin, "token-stdin", false, "read a token from standard input")
	f.StringVar(&v.pin, "pin", "", "`FINGERPRINT` of the hub's certificate, as switchboard status shows it there")
	cmd.MarkFlagsMutuallyExclusive("code", "token-stdin")
	return cmd
}

// run logs in.
func (v *loginCmd) run(ctx context.Context, e *env, address string) error {
	base, code, err := hubAddress(address)
	if err != nil {
		return usageError{err}
	}
	if code != "" {
		if v.code != "" || v.tokenStdin {
			return usageError{errors.New("the address has a one-time code; leave out --code and --token-stdin")}
		}
		v.code = code
	}
	file := config.HubsFile(e.getenv)
	at := &remote{hub: config.Hub{URL: base, Added: time.Now().UTC().Truncate(time.Second)}}
	if at.name, err = v.nameFor(file, base); err != nil {
		return err
	}
	if v.pin != "" {
		if v.pin, err = client.ParsePin(v.pin); err != nil {
			return usageError{fmt.Errorf("--pin: %w", err)}
		}
	}
	if !v.tokenStdin && v.code == "" && !e.interactive() {
		return usageError{errors.New("this isn't a terminal: give a token with --token-stdin, or a one-time code with --code")}
	}
	if at.hub.Pin, err = v.verify(ctx, e, at); err != nil {
		return err
	}
	if err := v.authorize(ctx, e, at); err != nil {
		return err
	}
	info, err := at.info(ctx)
	if refused, ok := errors.AsType[*api.Error](err); ok && refused.Status == http.StatusForbidden {
		err = nil // it is known there, and may not look: the hub says so whenever it matters
	}
	if err != nil {
		return err
	}
	old, err := v.keep(file, at)
	if err != nil {
		return err
	}
	endDevice(ctx, e, old, at)
	version := ""
	if info != nil {
		version = ", version " + paint.CleanLine(info.Version, 40)
	}
	_, err = fmt.Fprintf(e.stdout, "Logged in to %s (%s%s). Commands use it now.\n", at.name, at.hub.URL, version)
	e.hint("Back to the hub of this machine: switchboard hub use local")
	return err
}

// interactive reports whether there is a person to ask.
func (e *env) interactive() bool { return isTerminal(e.stdin) && isTerminal(e.stderr) }

// nameFor returns the name that the hub gets: the given one, the one that it has, or its host name.
func (v *loginCmd) nameFor(file, base string) (string, error) {
	hubs, err := config.LoadHubs(file)
	if err != nil {
		return "", usageError{err}
	}
	if v.name != "" {
		if err := config.CheckHubName(v.name); err != nil {
			return "", usageError{fmt.Errorf("--name: %w", err)}
		}
		if hub, has := hubs.Hubs[v.name]; has && hub.URL != base {
			return "", usageError{fmt.Errorf("--name: %s is the hub %s; choose another name, or remove that one: switchboard hub rm %s", v.name, hub.URL, v.name)}
		}
		return v.name, nil
	}
	for _, name := range hubs.Names() {
		if hubs.Hubs[name].URL == base {
			return name, nil
		}
	}
	u, err := url.Parse(base)
	if err != nil {
		return "", err
	}
	for _, name := range []string{u.Hostname(), u.Host} {
		name = strings.Trim(strings.NewReplacer(":", "-", "[", "", "]", "", "%", "-").Replace(name), "-")
		if _, taken := hubs.Hubs[name]; !taken && config.CheckHubName(name) == nil {
			return name, nil
		}
	}
	return "", usageError{errors.New("the host name can't be the hub's name here; choose one with --name")}
}

// verify looks at the hub's certificate before anything is sent, and returns the pin that it is to be known by; "" if an authority vouches for it.
func (v *loginCmd) verify(ctx context.Context, e *env, at *remote) (string, error) {
	cert, err := client.LookAtCertificate(ctx, at.hub.URL, nil)
	if err != nil {
		return "", at.explain(err)
	}
	switch {
	case cert == nil && v.pin != "":
		return "", usageError{errors.New("--pin needs an address that begins with https")}
	case cert == nil: // on this machine
		return "", nil
	case v.pin != "" && v.pin != cert.Fingerprint:
		return "", &remoteError{text: fmt.Sprintf("%s shows another certificate, and was sent nothing: its fingerprint is %s, not %s. "+
			"Compare with what switchboard status shows on the hub's machine", at.hub.URL, cert.Fingerprint, v.pin)}
	case v.pin != "":
		return v.pin, nil
	case cert.Untrusted == nil:
		return "", nil
	case !e.interactive():
		return "", &remoteError{text: fmt.Sprintf("no authority vouches for the certificate of %s (%s). Its fingerprint is %s. "+
			"Compare it with what switchboard status shows on the hub's machine, and log in with: --pin FINGERPRINT", at.hub.URL, paint.CleanLine(cert.Untrusted.Error(), 200), cert.Fingerprint)}
	}
	fmt.Fprintf(e.stderr, "No authority vouches for the certificate of %s: %s\nIts fingerprint is\n\n  %s\n\n"+
		"On the hub's machine, switchboard status shows the fingerprint of the hub. If both are the same, this is your hub.\n",
		at.hub.URL, paint.CleanLine(cert.Untrusted.Error(), 200), cert.Fingerprint)
	agreed, err := consent(ctx, e, "Are they the same? [y/N] ")
	if err != nil {
		return "", err
	}
	if !agreed {
		fmt.Fprintln(e.stderr, "nothing was sent")
		return "", exitError(codeFailed)
	}
	return cert.Fingerprint, nil
}

// authorize gets the token: what the user gives is one, or a code to exchange for one.
func (v *loginCmd) authorize(ctx context.Context, e *env, at *remote) (err error) {
	secret := v.code
	switch {
	case v.tokenStdin || v.code == "-":
		secret, err = readSecret(e.stdin)
	case v.code == "":
		secret, err = askSecret(ctx, e, "One-time code or token: ")
	}
	if err != nil {
		return err
	}
	if secret == "" {
		return usageError{errors.New("there is no token or code; switchboard token code makes one on the hub's machine")}
	}
	if v.tokenStdin && !strings.HasPrefix(secret, tokenPrefix) {
		return usageError{errors.New("standard input isn't a token, which begins with " + tokenPrefix + "; a one-time code goes with --code -")}
	}
	if strings.HasPrefix(secret, tokenPrefix) {
		at.hub.Token = secret
		return nil
	}
	host, _ := os.Hostname() // it may have none
	var made *api.CreatedToken
	err = at.call(func(c *client.Client) (err error) {
		made, err = c.Login(ctx, api.Login{Code: secret, Name: strings.TrimSpace("switchboard " + host)})
		return err
	})
	if refused, ok := errors.AsType[*api.Error](err); ok && refused.Status == http.StatusUnauthorized {
		return &remoteError{err: err, text: fmt.Sprintf("%s does not accept the code: it works once, for five minutes. Make another one on the hub's machine: switchboard token code", at.hub.URL)}
	}
	if err != nil {
		return err
	}
	at.hub.Token, at.hub.Device = made.Text, true
	return nil
}

// readSecret reads a line.
func readSecret(r io.Reader) (string, error) {
	if r == nil {
		return "", errors.New("there is no standard input")
	}
	line, err := bufio.NewReader(io.LimitReader(r, maxSecret)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("reading standard input: %w", err)
	}
	return strings.TrimSpace(line), nil
}

// askSecret asks for something that is not shown while it is typed. The terminal is as it was before when it returns.
func askSecret(ctx context.Context, e *env, question string) (text string, err error) {
	in, ok := e.stdin.(*os.File)
	if !ok {
		return "", usageError{errors.New("this isn't a terminal")}
	}
	// Before the question: what is typed quickly must not be shown either.
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return "", fmt.Errorf("reading the terminal: %w", err)
	}
	defer func() {
		err = errors.Join(err, term.Restore(int(in.Fd()), before))
		fmt.Fprintln(e.stderr) // what is said next begins a line
	}()
	type read struct {
		text string
		err  error
	}
	answer := make(chan read, 1)
	go func() { // may outlive this function, until the program ends
		text, err := term.NewTerminal(struct {
			io.Reader
			io.Writer
		}{io.LimitReader(in, maxSecret), e.stderr}, "").ReadPassword(question)
		answer <- read{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case got := <-answer:
		if errors.Is(got.err, io.EOF) { // Ctrl-C and Ctrl-D are no signals meanwhile
			return "", exitError(codeInterrupted)
		}
		if got.err != nil {
			return "", fmt.Errorf("reading the terminal: %w", got.err)
		}
		return strings.TrimSpace(got.text), nil
	}
}

// keep keeps the hub and makes it the current one. It returns what was kept under its name before, if there was something.
func (v *loginCmd) keep(file string, at *remote) (old *config.Hub, err error) {
	err = config.ChangeHubs(file, func(hubs *config.Hubs) error {
		if hub, has := hubs.Hubs[at.name]; has {
			old = &hub
		}
		hubs.Hubs[at.name] = at.hub
		hubs.Current = at.name
		return nil
	})
	return old, err
}

// endDevice ends the token of an earlier login to the same hub, which nothing uses any more.
func endDevice(ctx context.Context, e *env, old *config.Hub, at *remote) {
	if old == nil || !old.Device || old.Token == at.hub.Token || old.URL != at.hub.URL || old.Pin != at.hub.Pin {
		return
	}
	before := &remote{name: at.name, hub: *old}
	err := before.call(func(c *client.Client) error { return c.Logout(ctx) })
	if refused, ok := errors.AsType[*api.Error](err); err != nil && !(ok && refused.Status == http.StatusUnauthorized) {
		fmt.Fprintf(e.stderr, "switchboard: the token of the earlier login is still valid (%s); end it: switchboard token revoke %s\n", paint.CleanLine(err.Error(), 200), tokenID(old.Token))
	}
}

func newLogout(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "logout [HUB]",
		Short: "Log out of a hub on another machine, and forget it",
		Long: `Ends your login to a hub, the current one unless you name another, and forgets its address, token and
fingerprint. If it was the current one, commands use the hub of this machine again.

A token that you got by a one-time code is revoked. One that you gave yourself may be used elsewhere:
it stays valid until switchboard token revoke ends it. If the hub can't be reached, it is forgotten here
all the same.`,
		Example: `  switchboard logout

  switchboard logout work`,
		Args:              atMostOne("hub"),
		ValidArgsFunction: firstOnly(completeHubs(e)),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return interrupted(ctx, logout(ctx, e, args))
		},
	}
	return cmd
}

// logout ends a login.
func logout(ctx context.Context, e *env, args []string) error {
	file := config.HubsFile(e.getenv)
	hubs, err := config.LoadHubs(file)
	if err != nil {
		return usageError{err}
	}
	name := hubs.Current
	if len(args) > 0 {
		name = args[0]
	}
	if name == "" || name == config.LocalHub {
		return usageError{errors.New("the hub of this machine needs no login; switchboard hub ls lists the others")}
	}
	hub, has := hubs.Hubs[name]
	if !has {
		return &unknownHubError{name, "logout"}
	}
	if hub.Device {
		ctx, cancel := context.WithTimeout(ctx, infoPatience)
		defer cancel()
		at := &remote{name: name, hub: hub}
		err := at.call(func(c *client.Client) error { return c.Logout(ctx) })
		if refused, ok := errors.AsType[*api.Error](err); err != nil && !(ok && refused.Status == http.StatusUnauthorized) {
			fmt.Fprintf(e.stderr, "switchboard: the token is still valid there (%s); end it on the hub's machine: switchboard token revoke %s\n", paint.CleanLine(err.Error(), 300), tokenID(hub.Token))
		}
	}
	if err := forgetHub(file, name); err != nil {
		return err
	}
	if !hub.Device {
		e.hint("Its token stays valid: switchboard token revoke %s ends it there.", tokenID(hub.Token))
	}
	_, err = fmt.Fprintf(e.stdout, "Logged out of %s (%s).\n", name, hub.URL)
	return err
}

// forgetHub removes a hub from the file.
func forgetHub(file, name string) error {
	return config.ChangeHubs(file, func(hubs *config.Hubs) error {
		if _, has := hubs.Hubs[name]; !has {
			return &unknownHubError{name, "hub"}
		}
		delete(hubs.Hubs, name)
		return nil
	})
}
