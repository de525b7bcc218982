package node

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
)

// NonceSize is how many bytes the nonce of a challenge has.
const NonceSize = 32

// domain begins what is signed, so that the signature is worth nothing elsewhere.
const domain = "switchboard node hello 1"

// A Proof is what a node signs.
type Proof struct {
	// Nonce and Hub are those of the challenge.
	Nonce []byte
	Hub   string
	// Host is the host of the address that the node has dialed, see [Host].
	Host string
	// Node is the node's id.
	Node string
}

// text returns what is signed: each part after its length, so that no two proofs have the
// same text.
func (p *Proof) text() []byte {
	var text []byte
	for _, part := range [][]byte{[]byte(domain), p.Nonce, []byte(p.Hub), []byte(p.Host), []byte(p.Node)} {
		text = binary.BigEndian.AppendUint32(text, uint32(len(part)))
		text = append(text, part...)
	}
	return text
}

// Sign returns the signature of a hello.
func Sign(key ed25519.PrivateKey, p Proof) []byte { return ed25519.Sign(key, p.text()) }

// Verify reports whether a signature is the key's for a proof.
func Verify(key ed25519.PublicKey, p Proof, signature []byte) bool {
	return len(key) == ed25519.PublicKeySize && !weak(key) && len(p.Nonce) == NonceSize && p.Hub != "" && p.Host != "" && p.Node != "" && ed25519.Verify(key, p.text(), signature)
}

// weakPoints are the keys of small order, without the bit of their sign and in every
// encoding: some signatures of theirs can be made by everyone.
var weakPoints = [...]string{
	"0000000000000000000000000000000000000000000000000000000000000000",
	"0100000000000000000000000000000000000000000000000000000000000000",
	"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
	"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
	"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
}

// weak reports whether a key is of small order.
func weak(key ed25519.PublicKey) bool {
	point := slices.Clone(key)
	point[len(point)-1] &= 0x7f
	return slices.Contains(weakPoints[:], hex.EncodeToString(point))
}

// Host returns a host as both ends name it: in lower case, without the usual ports.
func Host(host string) string {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if name, port, err := net.SplitHostPort(host); err == nil && (port == "443" || port == "80") {
		host = name
		if strings.Contains(name, ":") {
			host = "[" + name + "]"
		}
	}
	return host
}

// ParseKey reads the public key of a node.
func ParseKey(text string) (ed25519.PublicKey, error) {
	key, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(key) != ed25519.PublicKeySize || weak(key) {
		return nil, errors.New("expected an Ed25519 public key in base64")
	}
	return key, nil
}

// KeyText returns a public key as text.
func KeyText(key ed25519.PublicKey) string { return base64.StdEncoding.EncodeToString(key) }

// Fingerprint returns that of a public key, for people to compare.
func Fingerprint(key ed25519.PublicKey) string {
	sum := sha256.Sum256(key)
	return "sha256:" + base64.RawURLEncoding.EncodeToString(sum[:])
}

// letters are those of ids: no capitals, nothing that looks like another.
var letters = base32.NewEncoding("abcdefghijkmnpqrstuvwxyz23456789").WithPadding(base32.NoPadding)

// random returns n random bytes as text.
func random(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails, see crypto/rand
	return letters.EncodeToString(b)
}

// NewID returns the id of a new node.
func NewID() string { return "n" + random(13)[:20] }

// codePrefix tells invitations from other codes.
const codePrefix = "sbn_"

// NewCode returns the text of an invitation.
func NewCode() string { return codePrefix + random(20) }

// NewTicket returns the ticket of a connection: 32 random bytes.
func NewTicket() string { return random(32) }

// NewNonce returns the nonce of a challenge.
func NewNonce() []byte {
	b := make([]byte, NonceSize)
	_, _ = rand.Read(b) // never fails
	return b
}

// The bounds of what nodes are called.
const (
	MaxLabels     = 16
	maxLabelKey   = 63
	maxLabelValue = 63
)

var (
	idPattern    = regexp.MustCompile(`^n[a-z2-9]{20}$`)
	namePattern  = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,61}[a-z0-9]$`)
	labelPattern = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._/-]{0,61}[A-Za-z0-9])?$`)
	valuePattern = regexp.MustCompile(`^[A-Za-z0-9._:/@+-]{0,63}$`)
)

// IsID reports whether a text is the id of a node.
func IsID(text string) bool { return idPattern.MatchString(text) }

// CheckName says why a text cannot be the name of a node.
func CheckName(name string) error {
	switch {
	case !namePattern.MatchString(name):
		return fmt.Errorf("a machine's name has 2 to 63 of a-z, 0-9, dots and dashes, and begins and ends with a letter or digit; got %.80q", name)
	case name == api.AnyNode || name == "local" || name == "hub" || IsID(name):
		return fmt.Errorf("%q cannot be the name of a machine, because it has a meaning of its own; choose another", name)
	}
	return nil
}

// CheckLabels says what is wrong with labels.
func CheckLabels(labels map[string]string) error {
	if len(labels) > MaxLabels {
		return fmt.Errorf("a machine has at most %d labels", MaxLabels)
	}
	for key, value := range labels {
		if !labelPattern.MatchString(key) || len(key) > maxLabelKey {
			return fmt.Errorf("a label's name has 1 to %d letters, digits, dots, dashes, underscores and slashes; got %.80q", maxLabelKey, key)
		}
		if !valuePattern.MatchString(value) {
			return fmt.Errorf("the label %q has a value with other characters than letters, digits and ._:/@+- or more than %d of them", key, maxLabelValue)
		}
	}
	return nil
}
