package access

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
)

// An address is one that the server is known by. The zero value is none.
type address struct {
	origin string   // "https://hub.example"
	hosts  []string // what a request's Host may be
}

// parseAddress reads "scheme://host[:port]". Whatever else is no address.
func parseAddress(text string) address {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || text != u.Scheme+"://"+u.Host {
		return address{}
	}
	host := strings.ToLower(u.Host)
	a := address{origin: u.Scheme + "://" + host, hosts: []string{host}}
	// A browser leaves the usual port out, others need not.
	usual := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	if short, found := strings.CutSuffix(host, usual); found {
		a.origin, a.hosts = u.Scheme+"://"+short, append(a.hosts, short)
	} else if u.Port() == "" {
		a.hosts = append(a.hosts, host+usual)
	}
	return a
}

// has reports whether the Host of a request is this address.
func (a address) has(host string) bool { return slices.Contains(a.hosts, strings.ToLower(host)) }

// check says why a request may not come this way, or nil.
func (g *Guard) check(r *http.Request) *api.Error {
	p := peerOf(r.Context())
	origins := r.Header.Values("Origin")
	switch {
	case p == nil:
		return refused("Unknown connection", "Bug in the hub: ConnContext is missing.", "")
	case secretInURL(r.URL):
		return &api.Error{
			Status: http.StatusBadRequest, Code: api.CodeInvalid, Title: "Secrets don't belong in a URL",
			Detail: "URLs end up in histories and logs, and this one has something that looks like a token.",
			Hint:   "Send it as the header \"Authorization: Bearer TOKEN\". If others may have seen it, revoke it: switchboard token revoke ID",
		}
	case p.socket && !p.ours():
		return refused("This socket belongs to another user", "", "Start your own hub: switchboard serve")
	case p.socket && len(origins) > 0:
		return refused("Web pages can't use the socket", "The request has an Origin.", "")
	case p.socket:
		return nil
	case p.local == nil || p.remote == nil, !g.beyond && !p.beyond() && !p.loopback():
		return refused("This hub accepts local connections only", "", "Use it on its own machine, or run: switchboard console --phone")
	}
	secure := g.overTLS(r)
	names := hosts(p.local, secure)
	if !slices.Contains(names, strings.ToLower(r.Host)) && !g.public.has(r.Host) {
		return refused("The request's Host isn't this hub", fmt.Sprintf("It is %q.", r.Host), "Use the address "+names[0]+", or set server.url to the name the hub is reached by.")
	}
	for _, o := range origins {
		if !g.ourPage(o, names, secure) && !(len(origins) == 1 && g.open.invites(r, o)) {
			return refused("The request comes from another site's web page", fmt.Sprintf("Its Origin is %q.", o), "")
		}
	}
	return nil
}

// ourPage reports whether a web page with this origin is one of ours.
func (g *Guard) ourPage(origin string, names []string, secure bool) bool {
	if g.public.origin != "" && strings.EqualFold(origin, g.public.origin) {
		return true
	}
	scheme := "http"
	if secure {
		scheme = "https"
	}
	host, found := strings.CutPrefix(origin, scheme+"://")
	return found && slices.Contains(names, strings.ToLower(host))
}

// hosts lists what the Host of a request to a local address may be.
func hosts(local *net.TCPAddr, tls bool) []string {
	usual := 80 // browsers leave it out
	if tls {
		usual = 443
	}
	var list []string
	for _, name := range []string{local.IP.String(), "127.0.0.1", "localhost", "::1"} {
		list = append(list, net.JoinHostPort(name, strconv.Itoa(local.Port)))
		if local.Port == usual {
			list = append(list, strings.TrimSuffix(net.JoinHostPort(name, ""), ":"))
		}
	}
	return list
}

func refused(title, detail, hint string) *api.Error {
	return &api.Error{Status: http.StatusForbidden, Code: api.CodeForbidden, Title: title, Detail: detail, Hint: hint}
}
