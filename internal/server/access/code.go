package access

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"slices"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

const (
	// codePrefix tells codes from tokens, and lets them be found in addresses.
	codePrefix = "sbc_"
	// codeTTL is how long a code is good.
	codeTTL = 5 * time.Minute
	// maxCodes is how many codes are good at once. One more, and the oldest is
	// forgotten.
	maxCodes = 16
	// deviceName is what the bearer of a token is called that has no other name.
	deviceName = "browser"
)

// A code is what is known of a one-time code.
type code struct {
	sum     [sha256.Size]byte
	name    string
	scopes  Scopes
	expires time.Time
	maker   *entry // the token of the client that made it; nil if it had none
	person  string // that made it
}

// Code makes a one-time code with which a client gets a token with rights that
// the code's maker has.
func (b *TokenStore) Code(ctx context.Context, in api.CreateCode) (*api.Code, error) {
	maker, e := Require(ctx, wire.ScopeAdmin)
	if e != nil {
		return nil, e
	}
	c := &code{scopes: maker.Scopes, maker: maker.token, person: maker.Person()}
	if len(in.Scopes) > 0 {
		if c.scopes, e = grantable(in.Scopes, maker); e != nil {
			return nil, e
		}
	}
	if in.Name != "" {
		if c.name, e = b.name(in.Name); e != nil {
			return nil, e
		}
	}
	return b.issueCode(c), nil
}

// ConsoleCode makes a code with all rights, for the user that starts the server.
func (b *TokenStore) ConsoleCode() *api.Code {
	return b.issueCode(&code{scopes: AllScopes(), person: b.user})
}

// issueCode makes the text of a code and remembers its hash.
func (b *TokenStore) issueCode(c *code) *api.Code {
	var random [20]byte
	_, _ = rand.Read(random[:]) // never fails
	text := codePrefix + tokenEncoding.EncodeToString(random[:])
	now := time.Now()
	c.sum, c.expires = sha256.Sum256([]byte(text)), now.Add(codeTTL)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.codes = slices.DeleteFunc(b.codes, func(other *code) bool { return other.unusable(now) })
	b.codes = append(b.codes, c)
	if extra := len(b.codes) - maxCodes; extra > 0 {
		b.codes = slices.Delete(b.codes, 0, extra)
	}
	out := &api.Code{Code: text, Expires: c.expires.UTC().Truncate(time.Second)}
	if url := b.url(); url != "" {
		out.URL = url + "/#code=" + text
	}
	forDevice(out, b.device())
	return out
}

func (c *code) unusable(now time.Time) bool {
	return !now.Before(c.expires) || c.maker != nil && c.maker.unusable(now)
}

// redeem returns the code with this text, nil if there is none, and removes it.
func (b *TokenStore) redeem(text string) *code {
	sum, now := sha256.Sum256([]byte(text)), time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	var found *code
	b.codes = slices.DeleteFunc(b.codes, func(c *code) bool {
		if subtle.ConstantTimeCompare(sum[:], c.sum[:]) == 1 && !c.unusable(now) {
			found = c
			return true
		}
		return c.unusable(now)
	})
	return found
}

// holds reports whether there is a code with this text, and leaves it there.
func (b *TokenStore) holds(text string) bool {
	sum, now := sha256.Sum256([]byte(text)), time.Now()
	b.mu.RLock()
	defer b.mu.RUnlock()
	return slices.ContainsFunc(b.codes, func(c *code) bool {
		return subtle.ConstantTimeCompare(sum[:], c.sum[:]) == 1 && !c.unusable(now)
	})
}

// forgetCodes drops the codes that the bearer of a token has made. mu is held.
func (b *TokenStore) forgetCodes(maker *entry) {
	b.codes = slices.DeleteFunc(b.codes, func(c *code) bool { return c.maker == maker })
}

// Login exchanges a one-time code for the token of a device. A browser that asks for it
// gets half of the token in a cookie, unless others could listen to the connection; the
// token that its old cookie belongs to is replaced. A wrong code is answered after a
// while.
func (b *TokenStore) Login(ctx context.Context, in api.Login) (*api.CreatedToken, *http.Cookie, error) {
	// Checked before the code is used up. A caller without a valid code does not learn which names are taken.
	device, wrong := "", (*api.Error)(nil)
	if in.Name != "" {
		device, wrong = b.name(in.Name)
	}
	if wrong != nil && b.holds(in.Code) {
		return nil, nil, wrong
	}
	var c *code
	if wrong == nil {
		c = b.redeem(in.Code)
	}
	if c == nil {
		if !b.brake.wait(ctx) {
			return nil, nil, tooMany()
		}
		return nil, nil, &api.Error{
			Status: http.StatusUnauthorized, Code: api.CodeUnauthorized, Title: "This code isn't valid",
			Detail: "A code works once, for five minutes.", Hint: "Get another: switchboard token code",
		}
	}
	name := c.name
	if name == "" {
		name = device
	}
	if name == "" {
		name = deviceName
	}
	now := nowStored()
	expires := now.Add(deviceTTL)
	if c.maker != nil {
		expires = earlier(expires, c.maker.expires)
	}
	jar := cookiesOf(ctx)
	w := tokenSpec{name: name, person: c.person, scopes: c.scopes, kind: kindDevice, expires: expires, maker: c.maker, bound: in.Cookie && jar.name != ""}
	if in.Cookie {
		w.halves = jar.values
	}
	made, half, err := b.add(now, w)
	if err != nil || !w.bound {
		return made, nil, err
	}
	return made, jar.set(half, expires), nil
}
