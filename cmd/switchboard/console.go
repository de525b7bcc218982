package main

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/naming"
)

const (
	// arrival is how long a browser may take to come with its code, arrivalPoll how often we look whether it has.
	arrival     = 30 * time.Second
	arrivalPoll = 250 * time.Millisecond
)

// A consoleCmd is the flags of console.
type consoleCmd struct {
	hubFlags
	name         string
	scopes       []string
	open, noOpen bool
	phone        string // on, off, or empty
	listen       string
}

func newConsole(e *env) *cobra.Command {
	v := &consoleCmd{}
	cmd := &cobra.Command{
		Use:   "console [SESSION]",
		Short: "Open the console in a browser",
		Long: `Opens the console in a browser: the page where you watch, approve and steer sessions. Prints the link
too. It holds a code that works once, for five minutes. The browser then stays signed in for 30 days;
switchboard token list shows it, switchboard token revoke signs it out.

With --phone the hub listens for devices in its network, with TLS and a certificate that it makes
once, and prints a link and a QR code. --listen names the address if this machine has several. It stops
with --phone=off or when the hub stops. A phone can view, prompt and approve unless --scopes says
otherwise.

A browser is opened if standard output is a terminal on a desktop. The code is not passed as an
argument, where other users could see it: the browser gets a private file that is removed afterwards.`,
		Example: `  # Open the console
  switchboard console

  # Open one session
  switchboard console "Fix the tests"

  # Open it on your phone, in the same network
  switchboard console --phone

  # The same, on one of several addresses
  switchboard console --phone --listen 192.168.1.20

  # Print a link for someone who only watches
  switchboard console --no-open --name guest --scopes observe`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeSessions(e, &v.hubFlags),
		RunE: func(cmd *cobra.Command, args []string) error {
			return v.run(cmd, e, args)
		},
	}
	v.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&v.name, "name", "", "device name in logs (default: the browser's own)")
	f.StringSliceVar(&v.scopes, "scopes", nil, "`SCOPES` of the device: observe, prompt, approve, admin (default all)")
	f.BoolVar(&v.open, "open", false, "open a browser even if standard output is not a terminal")
	f.BoolVar(&v.noOpen, "no-open", false, "only print the link")
	f.StringVar(&v.phone, "phone", "", "let a phone in the same network in; `off` stops it")
	f.Lookup("phone").NoOptDefVal = phoneOn
	f.StringVar(&v.listen, "listen", "", "with --phone: `ADDRESS` to listen on, such as 192.168.1.20 or 192.168.1.20:8775")
	cmd.MarkFlagsMutuallyExclusive("open", "no-open")
	cmd.MarkFlagsMutuallyExclusive("open", "phone")
	complete(cmd, "scopes", scopeNames()...)
	complete(cmd, "phone", phoneOn, phoneOff)
	return cmd
}

// run makes a code, and leads a browser to the page with it.
func (v *consoleCmd) run(cmd *cobra.Command, e *env, args []string) error {
	if err := errors.Join(checkScopes(v.scopes), v.checkPhone()); err != nil {
		return usageError{err}
	}
	at, err := v.remote(e)
	if err != nil {
		return err
	}
	folder, done, err := v.private(e, at)
	if err != nil {
		return err
	}
	defer done()
	return v.act(cmd, e, func(ctx context.Context, c *client.Client) error {
		route := ""
		if len(args) > 0 {
			session, err := naming.Session(ctx, c, args[0])
			if err != nil {
				return err
			}
			route = "&to=" + url.QueryEscape("/s/"+session.ID)
		}
		if v.phone != "" {
			return v.runPhone(ctx, e, c, route)
		}
		made, err := c.CreateCode(ctx, api.CreateCode{Name: v.name, Scopes: v.scopes})
		if err != nil {
			return err
		}
		address := at.consoleURL(made) + route
		if _, err := fmt.Fprintln(e.stdout, address); err != nil {
			return err
		}
		if !v.open && (v.noOpen || !isTerminal(e.stdout) || !hasDesktop(e.getenv)) {
			e.hint("Works once, until %s.", made.Expires.Local().Format(time.TimeOnly))
			return nil
		}
		return lead(ctx, e, c, folder, address)
	})
}

// private returns a folder that only the user can look into, and what removes it again: that of this machine's hub, or one of its own.
func (v *consoleCmd) private(e *env, at *remote) (folder string, done func(), err error) {
	if at == nil {
		_, paths, err := v.load(e, nil)
		if err != nil {
			return "", nil, usageError{err}
		}
		return filepath.Dir(paths.Socket), func() {}, nil
	}
	folder, err = os.MkdirTemp("", "switchboard-") // mode 0700
	if err != nil {
		return "", nil, fmt.Errorf("making a folder for the browser: %w", err)
	}
	return folder, func() { _ = os.RemoveAll(folder) }, nil
}

// hasDesktop reports whether a browser that is opened from here would be seen by any user.
func hasDesktop(getenv func(string) string) bool {
	return runtime.GOOS == "darwin" || getenv("DISPLAY") != "" || getenv("WAYLAND_DISPLAY") != ""
}

// leading is the file that leads a browser to an address.
const leading = `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url={{.}}"><title>Switchboard</title><a href="{{.}}">Open the console</a>
`

// lead opens a browser at an address and waits until it has come. The address is a secret, and the arguments of a program can be seen by
// all users: so the browser gets a file that only ours can read.
func lead(ctx context.Context, e *env, c *client.Client, folder, address string) (err error) {
	page, err := template.New("leading").Parse(leading)
	if err != nil {
		return fmt.Errorf("making the page that leads to the console: %w", err)
	}
	file, err := os.CreateTemp(folder, "console-*.html") // mode 0600
	if err != nil {
		return fmt.Errorf("creating a file for the browser: %w; open the link above yourself", err)
	}
	defer func() { err = errors.Join(err, os.Remove(file.Name())) }()
	if err := errors.Join(page.Execute(file, address), file.Close()); err != nil {
		return fmt.Errorf("writing a file for the browser: %w; open the link above yourself", err)
	}
	before, err := devices(ctx, c)
	if err != nil {
		return err
	}
	opener := "xdg-open"
	if runtime.GOOS == "darwin" {
		opener = "open"
	}
	// On some desktops it is the browser itself and stays, or the browser inherits its output: nothing here waits for its end, or ends it.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), opener, file.Name())
	cmd.Env = e.env
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("opening a browser: %w; open the link above yourself", err)
	}
	done := e.progress("waiting for the browser…")
	defer done()
	opened := make(chan error, 1)
	go func() { opened <- cmd.Wait() }() // may outlive this function, until the program ends
	ctx, cancel := context.WithTimeout(ctx, arrival)
	defer cancel()
	tick := time.NewTicker(arrivalPoll)
	defer tick.Stop()
	for {
		now, err := devices(ctx, c)
		switch {
		case err == nil && !subset(now, before): // a new one, perhaps in the place of its old one
			return nil
		case err != nil && ctx.Err() == nil:
			return err
		}
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return errors.New("the browser did not open the page; open the link above yourself")
			}
			return ctx.Err()
		case err := <-opened:
			if err != nil {
				return fmt.Errorf("opening a browser: %w; open the link above yourself", err)
			}
			opened = nil
		case <-tick.C:
		}
	}
}

// devices returns the ids of the tokens that codes were exchanged for.
func devices(ctx context.Context, c *client.Client) (map[string]bool, error) {
	list, err := c.Tokens(ctx)
	if err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	for i := range list.Tokens {
		if list.Tokens[i].Kind == "device" {
			ids[list.Tokens[i].ID] = true
		}
	}
	return ids, nil
}

// subset reports whether all of some ids are among others.
func subset(ids, others map[string]bool) bool {
	for id := range ids {
		if !others[id] {
			return false
		}
	}
	return true
}

// The values of --phone.
const (
	phoneOn  = "on"
	phoneOff = "off"
)

// phoneScopes is what a phone may do if nothing else is said: it is lost more easily than a desk.
func phoneScopes() []string { return []string{"observe", "prompt", "approve"} }

// checkPhone says what is wrong with the flags for phones.
func (v *consoleCmd) checkPhone() error {
	switch {
	case v.phone != "" && v.phone != phoneOn && v.phone != phoneOff:
		return fmt.Errorf("--phone is %q; it can be on or off", v.phone)
	case v.listen != "" && v.phone != phoneOn:
		return errors.New("--listen is for phones; add --phone")
	}
	return nil
}

// runPhone has the hub listen for a phone, and shows how to open the console there.
func (v *consoleCmd) runPhone(ctx context.Context, e *env, c *client.Client, route string) error {
	if v.phone == phoneOff {
		if err := c.ClosePhone(ctx); err != nil {
			return err
		}
		e.hint("Stopped listening for phones. Signed-in phones: switchboard token list")
		return nil
	}
	phone, err := c.OpenPhone(ctx, api.OpenPhone{Listen: v.listen})
	if err != nil {
		return err
	}
	scopes := v.scopes
	if len(scopes) == 0 {
		scopes = phoneScopes()
	}
	code, err := c.CreateCode(ctx, api.CreateCode{Name: v.name, Scopes: scopes})
	if err != nil {
		return err
	}
	if code.DeviceURL == "" {
		return errors.New("the hub has stopped listening for phones meanwhile; try again")
	}
	if isTerminal(e.stdout) && route == "" { // with a session in it, it is another address
		if err := writeLines(e.stdout, append(e.view(true).QR(code.QR), "")); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintln(e.stdout, code.DeviceURL+route); err != nil {
		return err
	}
	e.hint("\nScan the code or open the link on your phone. It works once, until %s.", code.Expires.Local().Format(time.TimeOnly))
	if phone.Fingerprint != "" {
		e.hint("The phone warns about the certificate, which the hub has made itself. Compare the fingerprint:")
		fmt.Fprintf(e.stderr, "SHA-256 %s\n", phone.Fingerprint)
		e.hint("Stop listening: switchboard console --phone=off")
	}
	if phone.Public {
		fmt.Fprintln(e.stderr, "warning: this is not a private address; the internet may reach it")
	}
	return nil
}
