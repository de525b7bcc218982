package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
)

const (
	// maxClockSkew is by how much the clocks of two machines may differ before something is said about it.
	maxClockSkew = 30 * time.Second
	// expiresSoon is how long before its end a certificate or token is said to end.
	expiresSoon = 14 * 24 * time.Hour
)

// A Remote is a hub on another machine that is looked at from here.
type Remote struct {
	// Version is that of this program, Name the hub's name here, URL its address.
	Version, Name, URL string
	// Pin is the fingerprint that its certificate must have; "" if authorities count.
	Pin string
	// Login is the command that logs in again.
	Login string
	// Now is the time of this machine.
	Now func() time.Time
	// Certificate looks at what the hub shows; it is nil without TLS. Info, Clock, Tokens, Nodes and Policy ask it.
	Certificate func(context.Context) (*client.Certificate, error)
	Info        func(context.Context) (*api.Info, error)
	Clock       func(context.Context) (time.Time, error)
	Tokens      func(context.Context) (*api.TokenList, error)
	Nodes       func(context.Context) (*api.NodeList, error)
	Policy      func(context.Context) (*api.Policy, error)
}

// RunRemote looks at a hub on another machine: whether it can be reached, its certificate, its clock, its version, what our token may do there, its
// rules and its nodes. If it cannot be reached, or is another one than it should be, nothing else is asked of it.
func RunRemote(ctx context.Context, r *Remote) *Report {
	report := &Report{Version: r.Version, OK: true, Findings: []Finding{}}
	add := func(id, what, why string, findings ...Finding) bool {
		well := true
		for _, f := range findings {
			f.ID = id
			if f.What == "" {
				f.What = what
			}
			if f.State == OK || f.State == Skip {
				f.Why = ""
			} else if f.Why == "" {
				f.Why = why
			}
			well = well && f.State != Fail
			report.OK = report.OK && f.State != Fail
			report.Findings = append(report.Findings, f)
		}
		return well
	}
	if !add("certificate", "certificate", "It shows that this is the hub, and keeps tokens and conversations from others on the way.", r.checkCertificate(ctx)) {
		return report
	}
	info, finding := r.checkHub(ctx)
	if !add("hub", "hub", "Nothing works without it.", finding) {
		return report
	}
	add("clock", "clock", "Times are shown wrong, and tokens seem to expire early or late.", r.checkClock(ctx))
	add("scopes", "token", "Without a scope the hub refuses some commands.", r.checkToken(ctx))
	for _, warning := range info.Warnings {
		add("warnings", "warning of the hub", "The hub says so itself.", Finding{State: Warn, Found: firstLine(warning)})
	}
	if info.Storage != "" {
		add("storage", "journal", "Agents wait until the hub can write again.", Finding{State: Fail, Found: firstLine(info.Storage)})
	}
	if found := r.checkPolicy(ctx); found != nil {
		add("rules", "rules", "Until a change is confirmed, the old rules apply.", *found)
	}
	add("nodes", "machines", "Sessions there can't be reached until the machine is connected again.", r.checkNodes(ctx)...)
	return report
}

// checkCertificate looks at the certificate.
func (r *Remote) checkCertificate(ctx context.Context) Finding {
	cert, err := r.Certificate(ctx)
	switch {
	case err != nil:
		return Finding{What: "connection", State: Fail, Found: firstLine(err.Error()), Why: "The hub can't be reached: it is not running, its address has changed, or something on the way is in between."}
	case cert == nil:
		return Finding{State: OK, Found: "none: " + r.URL + " is on this machine"}
	case r.Pin != "" && r.Pin != cert.Fingerprint:
		return Finding{
			State: Fail, Found: fmt.Sprintf("its fingerprint is %s, and %s is pinned", cert.Fingerprint, r.Pin),
			Why: "Either the hub has a new certificate, or this is another server. Compare with what switchboard status shows on the hub's machine before you log in again.",
			Fix: r.Login,
		}
	case r.Pin == "" && cert.Untrusted != nil:
		return Finding{State: Fail, Found: firstLine(cert.Untrusted.Error()), Fix: r.Login}
	}
	found := "trusted by this machine's authorities"
	if r.Pin != "" {
		found = "the one that is pinned, " + r.Pin
	}
	f := Finding{State: OK, Found: found, Data: map[string]any{"fingerprint": cert.Fingerprint, "expires": cert.NotAfter}}
	if left := cert.NotAfter.Sub(r.now()); r.Pin == "" && left < expiresSoon {
		f.State, f.Found = Warn, "expires "+cert.NotAfter.Format(time.DateOnly)
	}
	return f
}

// now returns the time of this machine.
func (r *Remote) now() time.Time {
	if r.Now != nil {
		return r.Now()
	}
	return time.Now()
}

// checkHub asks the hub what it is.
func (r *Remote) checkHub(ctx context.Context) (*api.Info, Finding) {
	info, err := r.Info(ctx)
	if refused, ok := errors.AsType[*api.Error](err); ok {
		switch refused.Status {
		case http.StatusUnauthorized:
			return nil, Finding{What: "login", State: Fail, Found: "the hub does not accept the token: it was revoked or has expired", Fix: r.Login}
		case http.StatusForbidden:
			return &api.Info{}, Finding{State: Warn, Found: "the token may not ask the hub what it is", Why: "The scope observe is missing."}
		}
	}
	if err != nil {
		return nil, Finding{State: Fail, Found: firstLine(err.Error())}
	}
	f := Finding{
		State: OK, Found: fmt.Sprintf("version %s at %s", info.Version, r.URL),
		Data: map[string]any{"version": info.Version, "url": r.URL, "agent": info.Agent, "agent_version": info.AgentVersion},
	}
	if info.Version != r.Version {
		f.State, f.Found = Warn, f.Found+"; this program is "+r.Version
		f.Why = "Commands may ask for what the other version doesn't know. Use the same version on both machines."
	}
	return info, f
}

// checkClock compares the clocks.
func (r *Remote) checkClock(ctx context.Context) Finding {
	before := r.now()
	theirs, err := r.Clock(ctx)
	if err != nil {
		return Finding{State: Skip, Found: firstLine(err.Error())}
	}
	// The answer was made between both; and what it tells is cut to the second.
	after := r.now()
	var skew time.Duration
	switch {
	case theirs.Before(before.Truncate(time.Second)):
		skew = theirs.Sub(before)
	case theirs.After(after):
		skew = theirs.Sub(after)
	}
	if skew.Abs() <= maxClockSkew {
		return Finding{State: OK, Found: "the same as here"}
	}
	direction := "ahead of"
	if skew < 0 {
		direction = "behind"
	}
	return Finding{State: Warn, Found: fmt.Sprintf("%s %s the one of this machine", skew.Abs().Round(time.Second), direction)}
}

// checkToken says what our token may do.
func (r *Remote) checkToken(ctx context.Context) Finding {
	list, err := r.Tokens(ctx)
	if refused, ok := errors.AsType[*api.Error](err); ok && refused.Status == http.StatusForbidden {
		return Finding{
			State: Warn, Found: "without the scope admin",
			Why: "It can't start sessions, change rules or manage tokens and machines. Log in with one that can, if you want to.",
		}
	}
	if err != nil {
		return Finding{State: Skip, Found: firstLine(err.Error())}
	}
	i := slices.IndexFunc(list.Tokens, func(t api.Token) bool { return t.Current })
	if i < 0 {
		return Finding{State: OK, Found: "all scopes"}
	}
	own := &list.Tokens[i]
	f := Finding{State: OK, Found: strings.Join(own.Scopes, ", "), Data: map[string]any{"id": own.ID, "scopes": own.Scopes}}
	if left := own.Expires.Sub(r.now()); !own.Expires.IsZero() {
		f.Found += "; expires " + own.Expires.Format(time.DateOnly)
		if left < expiresSoon/2 {
			f.State, f.Why, f.Fix = Warn, "Commands stop working then.", r.Login
		}
	}
	return f
}

// checkPolicy says whether something waits for a person.
func (r *Remote) checkPolicy(ctx context.Context) *Finding {
	p, err := r.Policy(ctx)
	if err != nil {
		return nil // the token may not look
	}
	f := (&Machine{RulesFile: p.File, Program: "switchboard"}).judgeRules(p)
	f.Fix = "" // the file is there, and which hub is meant is for the user to say
	return &f
}

// checkNodes looks at the hub's other machines.
func (r *Remote) checkNodes(ctx context.Context) []Finding {
	list, err := r.Nodes(ctx)
	if err != nil {
		return []Finding{{State: Skip, Found: firstLine(err.Error())}}
	}
	var found []Finding
	online := 0
	for i := range list.Nodes {
		n := &list.Nodes[i]
		what := "machine " + n.Name
		switch {
		case n.State == api.NodeOffline && n.LastSeen.IsZero():
			found = append(found, Finding{What: what, State: Warn, Found: "has joined and was never connected; start switchboard node run there"})
		case n.State == api.NodeOffline:
			found = append(found, Finding{What: what, State: Warn, Found: "not connected since " + n.LastSeen.Format(time.RFC3339) + "; start switchboard node run there"})
		case n.State == api.NodeRevoked:
			found = append(found, Finding{What: what, State: Skip, Found: "revoked"})
		default:
			online++
			if len(n.CLIs) == 0 {
				found = append(found, Finding{What: what, State: Warn, Found: "no Claude Code there", Why: "Sessions can't start on it."})
			}
			if skew := time.Duration(n.SkewMillis) * time.Millisecond; skew.Abs() > maxClockSkew {
				found = append(found, Finding{What: what, State: Warn, Found: fmt.Sprintf("its clock differs by %s", skew.Abs().Round(time.Second)), Why: "Times in its sessions are shown wrong."})
			}
		}
	}
	switch {
	case len(list.Nodes) == 0:
		return []Finding{{State: OK, Found: "agents run on the hub's own"}}
	case online > 0:
		found = append([]Finding{{State: OK, Found: fmt.Sprintf("%d of %d connected", online, len(list.Nodes))}}, found...)
	}
	return found
}
