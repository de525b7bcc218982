package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/config"
)

// Which hub commands use, and the token that they show there; both go before what is kept.
const (
	envHub   = "SWITCHBOARD_HUB"
	envToken = "SWITCHBOARD_TOKEN"
)

// A remote is a hub that commands reach by its address instead of the socket: one on another machine.
type remote struct {
	// name is what it is called here: its name, or its address if it has none.
	name string
	// named says that the user named it by --hub: commands that we suggest need that, too.
	named bool
	hub   config.Hub
}

// An unknownHubError says that no hub has a name.
type unknownHubError struct{ name, from string }

// Error says which names there are.
func (e *unknownHubError) Error() string {
	return fmt.Sprintf("%s: no hub is named %q; switchboard hub ls lists them, switchboard login URL adds one", e.from, e.name)
}

// remote returns the hub that a command is for if it is another one than this machine's; nil if it is that. --hub goes before SWITCHBOARD_HUB,
// and that before the current hub. --data-dir names a hub of this machine.
func (p *hubFlags) remote(e *env) (*remote, error) {
	name, from := p.hub, "--hub"
	switch {
	case p.dataDir != "" && name != "" && name != config.LocalHub:
		return nil, usageError{errors.New("use --hub or --data-dir, not both: a data folder is that of a hub on this machine")}
	case p.dataDir != "":
		return nil, nil
	case name == "":
		name, from = e.getenv(envHub), envHub
	}
	if name == config.LocalHub {
		return nil, nil
	}
	hubs, err := config.LoadHubs(config.HubsFile(e.getenv))
	if err != nil {
		return nil, usageError{fmt.Errorf("%w (this machine's hub: --hub %s)", err, config.LocalHub)}
	}
	if name == "" {
		name, from = hubs.Current, "the current hub"
	}
	if name == "" || name == config.LocalHub {
		return nil, nil
	}
	found := &remote{name: name, named: p.hub != ""}
	hub, has := hubs.Hubs[name]
	switch {
	case has:
		found.hub = hub
	case strings.Contains(name, "://"):
		if found.hub, err = hubByURL(hubs, name); err != nil {
			return nil, usageError{fmt.Errorf("%s: %w", from, err)}
		}
		found.name = found.hub.URL
	default:
		return nil, &unknownHubError{name, from}
	}
	if token := strings.TrimSpace(e.getenv(envToken)); token != "" {
		found.hub.Token = token
	}
	if found.hub.Token == "" {
		return nil, usageError{fmt.Errorf("there is no token for %s; log in: switchboard login %s, or put one into %s", found.hub.URL, quote(found.hub.URL), envToken)}
	}
	return found, nil
}

// hubByURL returns the hub at an address: the one that is kept, with its pin and token, or one of which nothing else is known.
func hubByURL(hubs *config.Hubs, address string) (config.Hub, error) {
	base, code, err := hubAddress(address)
	if err != nil {
		return config.Hub{}, err
	}
	if code != "" {
		return config.Hub{}, errors.New("the address has a one-time code; use it with switchboard login")
	}
	for _, name := range hubs.Names() {
		if hub := hubs.Hubs[name]; hub.URL == base {
			return hub, nil
		}
	}
	return config.Hub{URL: base}, nil
}

// client returns a client of the hub.
func (r *remote) client(options client.Options) (*client.Client, error) {
	options.BaseURL, options.Token, options.Pin = r.hub.URL, r.hub.Token, r.hub.Pin
	return client.New(&options)
}

// call calls f with a client of the hub, and says what to do about errors.
func (r *remote) call(f func(*client.Client) error) error {
	c, err := r.client(client.Options{})
	if err != nil {
		return usageError{err}
	}
	defer c.Close()
	return r.explain(f(c))
}

// callOr does so unless finding the hub has failed with an error, which is returned then.
func (r *remote) callOr(err error, f func(*client.Client) error) error {
	if err != nil {
		return err
	}
	return r.call(f)
}

// A remoteError says what is wrong with a hub on another machine, or with our way to it, and what to do.
type remoteError struct {
	text string
	err  error
	away bool // it cannot be reached
}

// Error returns what is wrong and what to do.
func (e *remoteError) Error() string { return e.text }

// Unwrap returns the error itself.
func (e *remoteError) Unwrap() error { return e.err }

// title is how the hub is called in errors.
func (r *remote) title() string {
	if r.name == r.hub.URL {
		return "the hub " + r.name
	}
	return fmt.Sprintf("the hub %s (%s)", r.name, r.hub.URL)
}

// login is the command that logs in to the hub again.
func (r *remote) login() string {
	line := "switchboard login " + quote(r.hub.URL)
	if r.name != r.hub.URL {
		line += " --name " + quote(r.name)
	}
	return line
}

// explain returns an error with what to do about it, if it is about the hub's certificate, our token, or the way to the hub.
func (r *remote) explain(err error) error {
	if err == nil || r == nil {
		return err
	}
	if _, done := errors.AsType[*remoteError](err); done {
		return err
	}
	if wrong, ok := errors.AsType[*client.PinError](err); ok {
		return &remoteError{err: err, text: fmt.Sprintf(`%s shows another certificate than at your login, and was sent nothing.
  fingerprint now:      %s
  fingerprint at login: %s
Compare with what switchboard status shows on the hub's machine. Only if that is the new one, log in again: %s`, r.title(), wrong.Got, wrong.Want, r.login())}
	}
	if untrusted, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return &remoteError{err: err, text: fmt.Sprintf("%s shows a certificate that this machine doesn't trust, and was sent nothing: %s. "+
			"If the hub has made it itself, log in with its fingerprint: %s", r.title(), untrusted.Err, r.login())}
	}
	if refused, ok := errors.AsType[*api.Error](err); ok {
		if refused.Status == http.StatusUnauthorized {
			return &remoteError{err: err, text: fmt.Sprintf("%s does not accept the token: it was revoked, has expired or is of another hub. Log in again: %s", r.title(), r.login())}
		}
		return err
	}
	if unreachable(err) {
		return &remoteError{err: err, away: true, text: fmt.Sprintf("%s can't be reached: %s; check that it is running and that its address is still the same", r.title(), err)}
	}
	return err
}

// unreachable reports whether an error says that no server answers at an address.
func unreachable(err error) bool {
	if errors.Is(err, context.Canceled) {
		return false
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	_, record := errors.AsType[tls.RecordHeaderError](err) // it speaks something else
	return record || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// dirOf returns the path of a folder that a flag names. On this machine it may begin in the folder that we are in; on another one that would be
// a folder that the user does not know.
func (p *hubFlags) dirOf(e *env, flag, value string) (string, error) {
	at, err := p.remote(e)
	if err != nil {
		return "", err
	}
	if at == nil {
		dir, err := filepath.Abs(value)
		if err != nil {
			return "", fmt.Errorf("%s: %w", flag, err)
		}
		return dir, nil
	}
	return elsewhere(flag, value, "the machine of "+at.title())
}

// dirOn is like dirOf, for a folder on a machine of the hub; "" is the hub's own.
func (p *hubFlags) dirOn(e *env, node, flag, value string) (string, error) {
	if node != "" {
		return elsewhere(flag, value, "the machine "+node)
	}
	return p.dirOf(e, flag, value)
}

// elsewhere checks the path of a folder on another machine.
func elsewhere(flag, value, machine string) (string, error) {
	if !path.IsAbs(value) {
		return "", fmt.Errorf("%s: %q is a folder on %s; write its whole path, such as /home/me/project", flag, value, machine)
	}
	return path.Clean(value), nil
}

// consoleURL returns the address of the console with a one-time code: the one that this machine reaches a hub elsewhere by, which need not be what the
// hub itself takes for its address.
func (r *remote) consoleURL(code *api.Code) string {
	if r == nil {
		return code.URL
	}
	return r.hub.URL + "/#code=" + code.Code
}

// flag returns what a command that we suggest needs to reach the hub; "" if it finds it by itself.
func (r *remote) flag() string {
	if r == nil || !r.named {
		return ""
	}
	return " --hub " + quote(r.name)
}

// infoPatience is how long a hub elsewhere has to say what it is.
const infoPatience = 20 * time.Second

// info asks the hub what it is.
func (r *remote) info(ctx context.Context) (*api.Info, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, infoPatience, &remoteError{away: true, text: r.title() + " does not answer"})
	defer cancel()
	var info *api.Info
	err := r.call(func(c *client.Client) (err error) {
		info, err = c.Info(ctx)
		return err
	})
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil, context.Cause(ctx)
	}
	return info, err
}

// onlyHere is the value of --hub of a command that is about this machine: it takes no hub, and says so.
type onlyHere struct{ verb, instead string }

// String returns nothing: it has no value.
func (o *onlyHere) String() string { return "" }

// Type names it in the help, where it is not.
func (o *onlyHere) Type() string { return "NAME" }

// Set refuses every hub but this machine's.
func (o *onlyHere) Set(name string) error {
	if name == config.LocalHub {
		return nil
	}
	return fmt.Errorf("switchboard %s works on this machine only; %s", o.verb, cmp.Or(o.instead, "run it on the hub's own machine, over ssh for instance"))
}
