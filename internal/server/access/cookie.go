package access

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// cookieBase is what the names of our cookies begin with. The port follows: a
	// browser sends a cookie to all ports of a host, and two hubs on one machine must
	// not overwrite each other's.
	cookieBase = "switchboard-"
	// hostPrefix has browsers accept a cookie only over TLS, for this very host.
	hostPrefix = "__Host-"
	// halfPrefix tells the half of a token that is in a cookie from other secrets.
	halfPrefix = "sbb_"
	// maxCookies is how many cookies with our name a request may have: another port of
	// the same host can set more, and they must not keep ours from being found.
	maxCookies = 4
)

// cookies is how the browser that makes a request keeps its half of a token. The
// zero value is for requests that can have no cookie.
type cookies struct {
	name   string // of the cookie that may be set; empty if none may
	secure bool
	values []string // halves that came with the request
}

// cookiesOf returns the cookies of the request that a context belongs to.
func cookiesOf(ctx context.Context) cookies {
	if rec := recordOf(ctx); rec != nil {
		return rec.cookies
	}
	return cookies{}
}

// cookies reads the cookies of a request. None is set or read on a connection that
// others in the network can listen to.
func (g *Guard) cookies(r *http.Request) cookies {
	p := peerOf(r.Context())
	if p == nil || p.socket || p.local == nil {
		return cookies{}
	}
	plain := cookieBase + strconv.Itoa(p.local.Port)
	names := []string{hostPrefix + plain}
	c := cookies{name: hostPrefix + plain, secure: true}
	if !g.overTLS(r) {
		if !p.loopback() {
			return cookies{}
		}
		// A proxy on this machine may have had TLS, and not say so with every request.
		names = append(names, plain)
		switch {
		case g.throughProxy(r):
		case loopbackHost(r.Host):
			c.name, c.secure = plain, false
		default:
			c.name = ""
		}
	}
	for _, name := range names {
		for _, found := range r.CookiesNamed(name) {
			if strings.HasPrefix(found.Value, halfPrefix) && len(c.values) < maxCookies {
				c.values = append(c.values, found.Value)
			}
		}
	}
	return c
}

// overTLS reports whether a request came over TLS that ends here.
func (g *Guard) overTLS(r *http.Request) bool { return g.tls || r.TLS != nil }

// throughProxy reports whether the browser sees a public address with TLS.
func (g *Guard) throughProxy(r *http.Request) bool {
	if !strings.HasPrefix(g.public.origin, "https://") {
		return false
	}
	return g.public.has(r.Host) || strings.EqualFold(r.Header.Get("Origin"), g.public.origin)
}

// loopbackHost reports whether the Host of a request names this machine.
func loopbackHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.EqualFold(host, "localhost") || net.ParseIP(strings.Trim(host, "[]")).IsLoopback()
}

// set returns the cookie that keeps a half until it expires.
func (c cookies) set(half string, expires time.Time) *http.Cookie {
	return &http.Cookie{
		Name: c.name, Value: half, Path: "/", HttpOnly: true, Secure: c.secure, SameSite: http.SameSiteStrictMode,
		MaxAge: max(int(time.Until(expires)/time.Second), 1),
	}
}

// clear returns the cookie that removes the one that was set, nil if there is none.
func (c cookies) clear() *http.Cookie {
	if c.name == "" || len(c.values) == 0 {
		return nil
	}
	return &http.Cookie{Name: c.name, Path: "/", HttpOnly: true, Secure: c.secure, SameSite: http.SameSiteStrictMode, MaxAge: -1}
}

// newHalf makes up the half of a token that is kept in a cookie.
func newHalf() (half string, sum [sha256.Size]byte) {
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails
	half = halfPrefix + tokenEncoding.EncodeToString(random[:])
	return half, sha256.Sum256([]byte(half))
}

// bind makes a token that works only together with a cookie. Its hash is that of both
// halves: a program that knows nothing of cookies does not accept one of them alone.
func (t *Token) bind(text, half string, sum [sha256.Size]byte) {
	_, key, _ := splitToken(text)
	t.sum, t.half, t.bound = sha256.Sum256([]byte(joined(key, half))), sum, true
}

// joined is what a token that is bound to a cookie is hashed of.
func joined(key, half string) string { return key + "." + half }

// holds reports whether a secret, with one of these halves if the token is bound, is
// that of the token.
func (t *Token) holds(secret string, halves []string) bool {
	if !t.bound {
		sum := sha256.Sum256([]byte(secret))
		return subtle.ConstantTimeCompare(sum[:], t.sum[:]) == 1
	}
	same := 0
	for _, half := range halves {
		sum := sha256.Sum256([]byte(joined(secret, half)))
		same |= subtle.ConstantTimeCompare(sum[:], t.sum[:])
	}
	return same == 1
}

// ofHalf returns the token that one of these halves belongs to, nil if there is none.
// mu is held.
func (b *TokenStore) ofHalf(halves []string) *entry {
	for _, half := range halves {
		sum := sha256.Sum256([]byte(half))
		for _, e := range b.entries {
			if e.bound && !e.revoked && subtle.ConstantTimeCompare(sum[:], e.half[:]) == 1 {
				return e
			}
		}
	}
	return nil
}

// freeName returns the name for a new device: what was done with a token is signed
// with its name, so that two devices do not share one. A number tells them apart.
// saving is held, so that no other login takes the name meanwhile.
func (b *TokenStore) freeName(now time.Time, w tokenSpec) string {
	b.mu.RLock()
	defer b.mu.RUnlock()
	old := b.ofHalf(w.halves) // is replaced
	taken := func(name string) bool {
		for _, e := range b.entries {
			if e != old && !e.revoked && !e.unusable(now) && strings.EqualFold(e.Name, name) {
				return true
			}
		}
		return false
	}
	name := w.name
	for n := 2; taken(name); n++ {
		name = fmt.Sprintf("%s (%d)", w.name, n)
	}
	return name
}

// ownRequest reports whether a request may use a token that is bound to a cookie:
// browsers say which page makes a request, and only ours may. A page of another port of
// this machine counts as the same site to them, but not to us.
func (g *Guard) ownRequest(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" && !isUpgrade(r) {
		return false
	}
	p := peerOf(r.Context())
	if p == nil || p.local == nil {
		return false
	}
	for _, origin := range r.Header.Values("Origin") {
		if !g.ourPage(origin, hosts(p.local, g.overTLS(r)), g.overTLS(r)) {
			return false
		}
	}
	return true
}
