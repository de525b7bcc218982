package main

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
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

// A consoleVerb is the flags of console.
type consoleVerb struct {
	place
	name         string
	scopes       []string
	open, noOpen bool
}

func newConsole(s *surroundings) *cobra.Command {
	v := &consoleVerb{}
	cmd := &cobra.Command{
		Use:   "console [SESSION]",
		Short: "Open the console in a browser",
		Long: `Opens the console, the page on which sessions are watched, approved and steered, in a browser. It
writes the address to standard output too, for another browser or a phone. The address holds a code
that is good once, for five minutes; the browser gets a token for it, which switchboard token list
shows and switchboard token revoke ends.

A browser is opened if standard output is a terminal of a desktop. The code is not among the arguments
of the browser, where others could see it: the browser is given a small file of yours that leads there
and is removed then.`,
		Example: `  # the page, with all rights
  switchboard console

  # one session
  switchboard console "Mend the tests"

  # an address for a phone that looks and answers
  switchboard console --no-open --name phone --scopes observe,approve`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeSessions(s, &v.place),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return interrupted(ctx, v.run(ctx, s, args))
		},
	}
	v.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&v.name, "name", "", "what its bearer is called in logs (default what it calls itself)")
	f.StringSliceVar(&v.scopes, "scopes", nil, "its `RIGHTS`: observe, prompt, approve, admin (default all)")
	f.BoolVar(&v.open, "open", false, "open a browser also if standard output is no terminal")
	f.BoolVar(&v.noOpen, "no-open", false, "only write the address")
	cmd.MarkFlagsMutuallyExclusive("open", "no-open")
	complete(cmd, "scopes", scopeNames()...)
	return cmd
}

// run makes a code, and leads a browser to the page with it.
func (v *consoleVerb) run(ctx context.Context, s *surroundings, args []string) error {
	if err := checkScopes(v.scopes); err != nil {
		return usageError{err}
	}
	_, paths, err := v.load(s, nil)
	if err != nil {
		return usageError{err}
	}
	return v.withHub(s, func(c *client.Client) error {
		route := ""
		if len(args) > 0 {
			session, err := naming.Session(ctx, c, args[0])
			if err != nil {
				return err
			}
			route = "&to=" + url.QueryEscape("/s/"+session.ID)
		}
		made, err := c.CreateCode(ctx, api.CreateCode{Name: v.name, Scopes: v.scopes})
		if err != nil {
			return err
		}
		address := made.URL + route
		if _, err := fmt.Fprintln(s.stdout, address); err != nil {
			return err
		}
		if !v.open && (v.noOpen || !isTerminal(s.stdout) || !hasDesktop(s.getenv)) {
			s.hint("good once, until %s", made.Expires.Local().Format(time.TimeOnly))
			return nil
		}
		return lead(ctx, s, c, filepath.Dir(paths.Socket), address)
	})
}

// hasDesktop reports whether a browser that is opened from here would be seen by anybody.
func hasDesktop(getenv func(string) string) bool {
	return runtime.GOOS == "darwin" || getenv("DISPLAY") != "" || getenv("WAYLAND_DISPLAY") != ""
}

// leading is the file that leads a browser to an address.
const leading = `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url={{.}}"><title>Switchboard</title><a href="{{.}}">Open the console</a>
`

// lead opens a browser at an address and waits until it has come. The address is a secret, and the arguments of a program can be seen by
// all users: so the browser gets a file that only ours can read.
func lead(ctx context.Context, s *surroundings, c *client.Client, folder, address string) (err error) {
	page, err := template.New("leading").Parse(leading)
	if err != nil {
		return fmt.Errorf("making the page that leads to the console: %w", err)
	}
	file, err := os.CreateTemp(folder, "console-*.html") // mode 0600
	if err != nil {
		return fmt.Errorf("making a file for the browser: %w; the address above works without it", err)
	}
	defer func() { err = errors.Join(err, os.Remove(file.Name())) }()
	if err := errors.Join(page.Execute(file, address), file.Close()); err != nil {
		return fmt.Errorf("writing a file for the browser: %w; the address above works without it", err)
	}
	before, err := browsers(ctx, c)
	if err != nil {
		return err
	}
	opener := "xdg-open"
	if runtime.GOOS == "darwin" {
		opener = "open"
	}
	// On some desktops it is the browser itself and stays, or the browser inherits its output: nothing here waits for its end, or ends it.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), opener, file.Name())
	cmd.Env = s.env
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("opening a browser: %w; open the address above yourself", err)
	}
	done := s.progress("waiting for the browser…")
	defer done()
	opened := make(chan error, 1)
	go func() { opened <- cmd.Wait() }() // may outlive this function, until the program ends
	ctx, cancel := context.WithTimeout(ctx, arrival)
	defer cancel()
	tick := time.NewTicker(arrivalPoll)
	defer tick.Stop()
	for {
		now, err := browsers(ctx, c)
		switch {
		case err == nil && now > before:
			return nil
		case err != nil && ctx.Err() == nil:
			return err
		}
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return errors.New("the browser has not come; open the address above yourself")
			}
			return ctx.Err()
		case err := <-opened:
			if err != nil {
				return fmt.Errorf("opening a browser: %w; open the address above yourself", err)
			}
			opened = nil
		case <-tick.C:
		}
	}
}

// browsers counts the tokens that were given for codes.
func browsers(ctx context.Context, c *client.Client) (int, error) {
	list, err := c.Tokens(ctx)
	if err != nil {
		return 0, err
	}
	n := 0
	for i := range list.Tokens {
		if list.Tokens[i].Kind == "device" {
			n++
		}
	}
	return n, nil
}
