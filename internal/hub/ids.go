package hub

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"strings"
)

// letters are those of our ids: no capitals, nothing that looks like another.
var letters = base32.NewEncoding("abcdefghijkmnpqrstuvwxyz23456789").WithPadding(base32.NoPadding)

// newID returns a prefix and 20 random characters.
func newID(prefix string) string { return prefix + random(13)[:20] }

// random returns n random bytes as text.
func random(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails, see crypto/rand
	return letters.EncodeToString(b)
}

// newToken returns the credential of a run and the hash that is stored of it.
func newToken(session string, run int) (token string, hash []byte) {
	token = fmt.Sprintf("sbr_%s_%d_%s", session, run, random(32))
	return token, hashToken(token)
}

func hashToken(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// sessionOf returns the session that a run's token names. It says nothing about
// whether the token is good.
func sessionOf(token string) (session string, ok bool) {
	parts := strings.Split(token, "_")
	if len(parts) != 4 || parts[0] != "sbr" {
		return "", false
	}
	return parts[1], true
}

// sumOf returns a hash of a request, by which a client id that is used for
// another one is noticed.
func sumOf(parts ...[]byte) []byte {
	h := sha256.New()
	for _, p := range parts {
		_, _ = fmt.Fprintf(h, "%d:", len(p))
		_, _ = h.Write(p)
	}
	return h.Sum(nil)
}

// newEpoch returns the name of a sequence of entries.
func newEpoch() string {
	b := make([]byte, 6)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}
