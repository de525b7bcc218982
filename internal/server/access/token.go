package access

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// TokenFile is the name of the file that may hold a token with all rights; see
// [LoadToken].
const TokenFile = "admin.token"

// A Token is what the server knows of a token "sb_<id>_<secret>": enough to
// recognise it, not enough to use it.
type Token struct {
	// ID is the part that names the token.
	ID string
	// Name is what its bearer is called in the log, Scopes what they may do.
	Name   string
	Scopes Scopes

	sum [sha256.Size]byte
	// bound says that the token works only together with a cookie, half is the hash of
	// what is in it.
	bound bool
	half  [sha256.Size]byte
}

const tokenPrefix = "sb_"

// Letters and digits without the underscore, which separates the parts of a
// token.
var tokenEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// newToken makes a token up and returns its text as well, for the client that will
// use it.
func newToken(name string, scopes Scopes) (text string, t Token) {
	var random [5 + 32]byte
	_, _ = rand.Read(random[:]) // never fails
	id, secret := tokenEncoding.EncodeToString(random[:5]), tokenEncoding.EncodeToString(random[5:])
	return tokenPrefix + id + "_" + secret, Token{ID: id, Name: name, Scopes: scopes, sum: sha256.Sum256([]byte(secret))}
}

// ParseToken returns what the server keeps of a token's text. The error never
// holds any of it.
func ParseToken(text, name string, scopes Scopes) (Token, error) {
	id, secret, ok := splitToken(text)
	if !ok {
		return Token{}, fmt.Errorf("this is no token: one looks like %s<id>_<secret>", tokenPrefix)
	}
	// A secret that was shortened could be guessed.
	if len(secret) < 32 {
		return Token{}, fmt.Errorf("the secret of the token is too short: it has %d characters and needs 32", len(secret))
	}
	return Token{ID: id, Name: name, Scopes: scopes, sum: sha256.Sum256([]byte(secret))}, nil
}

func splitToken(text string) (id, secret string, ok bool) {
	rest, ok := strings.CutPrefix(text, tokenPrefix)
	if !ok {
		return "", "", false
	}
	id, secret, ok = strings.Cut(rest, "_")
	return id, secret, ok && id != "" && secret != ""
}

// secretShape is what our tokens, those of runs, one-time codes, invitations of nodes and
// the halves of tokens that are kept in cookies look like.
var secretShape = regexp.MustCompile(`(?i)sb(_|r_|c_|b_|n_)[a-z0-9_]*[a-z0-9]{24}`)

// secretInURL reports whether an address holds what looks like a secret of ours:
// addresses end up in histories and in the logs of proxies.
func secretInURL(u *url.URL) bool {
	for _, part := range []string{u.Path, u.RawPath, u.RawQuery} {
		if secretShape.MatchString(part) {
			return true
		}
		if plain, err := url.QueryUnescape(part); err == nil && secretShape.MatchString(plain) {
			return true
		}
	}
	return false
}
