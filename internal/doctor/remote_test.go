package doctor

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
)

// healthyRemote is a hub elsewhere with which all is well.
func healthyRemote(now time.Time) *Remote {
	return &Remote{
		Version: "v1", Name: "work", URL: "https://hub.example", Pin: "sha256:one", Login: "switchboard login https://hub.example --name work",
		Now: func() time.Time { return now },
		Certificate: func(context.Context) (*client.Certificate, error) {
			return &client.Certificate{Fingerprint: "sha256:one", NotAfter: now.Add(24 * time.Hour), Untrusted: errors.New("unknown authority")}, nil
		},
		Info:  func(context.Context) (*api.Info, error) { return &api.Info{Version: "v1"}, nil },
		Clock: func(context.Context) (time.Time, error) { return now.Truncate(time.Second), nil },
		Tokens: func(context.Context) (*api.TokenList, error) {
			return &api.TokenList{Tokens: []api.Token{{ID: "a"}, {ID: "b", Current: true, Scopes: []string{"observe", "admin"}}}}, nil
		},
		Nodes:  func(context.Context) (*api.NodeList, error) { return &api.NodeList{}, nil },
		Policy: func(context.Context) (*api.Policy, error) { return &api.Policy{}, nil },
	}
}

// remoteLines are the findings of a report, one line each.
func remoteLines(r *Report) string {
	var b strings.Builder
	for _, f := range r.Findings {
		b.WriteString(string(f.State) + " " + f.ID + " " + f.What + ": " + f.Found + "\n")
		if (f.State == Warn || f.State == Fail) && f.Why == "" {
			b.WriteString("NO REASON\n")
		}
	}
	return b.String()
}

func TestRemote(t *testing.T) {
	now := time.Date(2026, 11, 18, 7, 0, 0, 500, time.UTC)
	forbidden := &api.Error{Status: http.StatusForbidden, Title: "forbidden"}
	for name, test := range map[string]struct {
		change func(*Remote)
		ok     bool
		want   []string // lines
		not    []string // parts
	}{
		"well": {func(*Remote) {}, true, []string{
			"ok certificate certificate: the one that is pinned, sha256:one", "ok hub hub: version v1 at https://hub.example", "ok clock clock: the same as here",
			"ok scopes token: observe, admin", "ok rules rules: 0 active, nothing waits for confirmation", "ok nodes machines: agents run on the hub's own",
		}, []string{"warn", "fail"}},
		"away": {func(r *Remote) {
			r.Certificate = func(context.Context) (*client.Certificate, error) { return nil, errors.New("connection refused") }
		}, false, []string{"fail certificate connection: connection refused"}, []string{" hub "}},
		"another certificate": {
			func(r *Remote) { r.Pin = "sha256:two" }, false,
			[]string{"fail certificate certificate: its fingerprint is sha256:one, and sha256:two is pinned"},
			[]string{" hub "},
		},
		"not trusted": {func(r *Remote) { r.Pin = "" }, false, []string{"fail certificate certificate: unknown authority"}, []string{" hub "}},
		"on the way out": {func(r *Remote) {
			r.Pin = ""
			r.Certificate = func(context.Context) (*client.Certificate, error) {
				return &client.Certificate{Fingerprint: "sha256:one", NotAfter: now.Add(24 * time.Hour)}, nil
			}
		}, true, []string{"warn certificate certificate: expires 2026-11-19"}, nil},
		"without TLS": {func(r *Remote) {
			r.Pin, r.URL = "", "http://127.0.0.1:1"
			r.Certificate = func(context.Context) (*client.Certificate, error) { return nil, nil }
		}, true, []string{"ok certificate certificate: none: http://127.0.0.1:1 is on this machine"}, nil},
		"revoked": {func(r *Remote) {
			r.Info = func(context.Context) (*api.Info, error) { return nil, &api.Error{Status: http.StatusUnauthorized} }
		}, false, []string{"fail hub login: the hub does not accept the token: it was revoked or has expired"}, []string{" clock "}},
		"another version": {func(r *Remote) { r.Version = "v2" }, true, []string{"warn hub hub: version v1 at https://hub.example; this program is v2"}, nil},
		"warned": {func(r *Remote) {
			r.Info = func(context.Context) (*api.Info, error) {
				return &api.Info{Version: "v1", Warnings: []string{"a door is open"}, Storage: "no room"}, nil
			}
		}, false, []string{"warn warnings warning of the hub: a door is open", "fail storage journal: no room"}, nil},
		"ahead": {func(r *Remote) {
			r.Clock = func(context.Context) (time.Time, error) { return now.Add(time.Minute), nil }
		}, true, []string{"warn clock clock: 1m0s ahead of the one of this machine"}, nil},
		"behind": {func(r *Remote) {
			r.Clock = func(context.Context) (time.Time, error) { return now.Add(-time.Hour), nil }
		}, true, []string{"warn clock clock: 1h0m0s behind the one of this machine"}, nil},
		"no clock": {func(r *Remote) {
			r.Clock = func(context.Context) (time.Time, error) { return time.Time{}, errors.New("no date") }
		}, true, []string{"skip clock clock: no date"}, nil},
		"no admin": {func(r *Remote) {
			r.Tokens = func(context.Context) (*api.TokenList, error) { return nil, forbidden }
			r.Policy = func(context.Context) (*api.Policy, error) { return nil, forbidden }
		}, true, []string{"warn scopes token: without the scope admin"}, []string{" rules "}},
		"a token that ends": {func(r *Remote) {
			r.Tokens = func(context.Context) (*api.TokenList, error) {
				return &api.TokenList{Tokens: []api.Token{{Current: true, Scopes: []string{"admin"}, Expires: now.Add(24 * time.Hour)}}}, nil
			}
		}, true, []string{"warn scopes token: admin; expires 2026-11-19"}, nil},
		"machines": {func(r *Remote) {
			r.Nodes = func(context.Context) (*api.NodeList, error) {
				cli := []api.NodeCLI{{Path: "/bin/claude"}}
				return &api.NodeList{Nodes: []api.Node{
					{Name: "a", State: api.NodeOnline, CLIs: cli},
					{Name: "b", State: api.NodeOffline, LastSeen: now, CLIs: cli},
					{Name: "c", State: api.NodeOffline},
					{Name: "d", State: api.NodeDraining, SkewMillis: -60_000},
					{Name: "e", State: api.NodeRevoked},
				}}, nil
			}
		}, true, []string{
			"ok nodes machines: 2 of 5 connected", "warn nodes machine b: not connected since 2026-11-18T07:00:00Z; start switchboard node run there",
			"warn nodes machine c: has joined and was never connected; start switchboard node run there", "warn nodes machine d: no Claude Code there",
			"warn nodes machine d: its clock differs by 1m0s", "skip nodes machine e: revoked",
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := healthyRemote(now)
			test.change(r)
			report := RunRemote(t.Context(), r)
			text := remoteLines(report)
			if report.OK != test.ok {
				t.Errorf("OK is %v:\n%s", report.OK, text)
			}
			for _, line := range test.want {
				if !strings.Contains(text, line+"\n") {
					t.Errorf("there is no %q in:\n%s", line, text)
				}
			}
			for _, part := range append(test.not, "NO REASON") {
				if strings.Contains(text, part) {
					t.Errorf("there is %q in:\n%s", part, text)
				}
			}
		})
	}
}
