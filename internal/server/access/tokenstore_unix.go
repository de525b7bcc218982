//go:build linux || darwin

package access

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// tokensVersion is the form of the file that we write.
const tokensVersion = 1

// maxTokensFile bounds the file. A larger one is none of ours.
const maxTokensFile = 4 << 20

// A tokensText is the file.
type tokensText struct {
	Version int         `json:"version"`
	Tokens  []tokenText `json:"tokens"`
}

// A tokenText is a token in the file.
type tokenText struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Scopes  []string  `json:"scopes"`
	Kind    string    `json:"kind,omitempty"`
	Person  string    `json:"person,omitempty"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"`
	Used    time.Time `json:"used,omitzero"`
	SHA256  string    `json:"sha256"`
	// Half is the hash of what is in the cookie of a token that is bound to one.
	Half string `json:"cookie_sha256,omitempty"`
}

// loadTokens reads the tokens of a file; none if there is none. It leaves out those
// that have expired long ago.
func loadTokens(path string, now time.Time) ([]*entry, error) {
	const remedy = "restore it from a backup, or remove it: then all tokens except that in " + TokenFile + " stop working, and you create new ones"
	text, err := readPrivate(path, os.Geteuid(), maxTokensFile+1, remedy, remedy)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("opening the tokens: %w", err)
	}
	entries, err := parseTokens(text, now)
	if err != nil {
		return nil, fmt.Errorf("reading the tokens: %s is damaged: %w; %s", path, err, remedy)
	}
	return entries, nil
}

func parseTokens(text []byte, now time.Time) ([]*entry, error) {
	if len(text) > maxTokensFile {
		return nil, errors.New("it is too large")
	}
	var tokens tokensText
	decoder := json.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&tokens); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows its end")
	}
	if tokens.Version != tokensVersion {
		return nil, fmt.Errorf("it has version %d, and this program knows %d", tokens.Version, tokensVersion)
	}
	var entries []*entry
	seen := map[string]bool{}
	for i, t := range tokens.Tokens {
		e, err := t.entry()
		if err != nil {
			return nil, fmt.Errorf("token %d: %w", i+1, err)
		}
		if seen[e.ID] {
			return nil, fmt.Errorf("token %d: there are two with the id %q", i+1, e.ID)
		}
		seen[e.ID] = true
		if e.expires.IsZero() || now.Sub(e.expires) <= keepExpired {
			entries = append(entries, e)
		}
	}
	return entries, nil
}

func (t *tokenText) entry() (*entry, error) {
	scopes, err := ParseScopes(t.Scopes)
	if err != nil {
		return nil, err
	}
	token := Token{ID: t.ID, Name: t.Name, Scopes: scopes}
	sum, err := hex.DecodeString(t.SHA256)
	switch {
	case err != nil || len(sum) != sha256.Size:
		return nil, errors.New("its hash is none")
	case t.ID == "" || t.Name == "" || scopes == 0:
		return nil, errors.New("it has no id, no name or no rights")
	case t.Kind != "" && t.Kind != kindDevice:
		return nil, fmt.Errorf("there is no kind %q", t.Kind)
	}
	copy(token.sum[:], sum)
	if t.Half != "" {
		half, err := hex.DecodeString(t.Half)
		if err != nil || len(half) != sha256.Size {
			return nil, errors.New("the hash of its cookie is none")
		}
		token.bound = true
		copy(token.half[:], half)
	}
	e := newEntry(token, t.Kind, t.Created, t.Expires)
	e.person = t.Person
	if !t.Used.IsZero() {
		e.used.Store(t.Used.Unix())
	}
	return e, nil
}

// writeTokens writes tokens to a file in the place of what was there.
func writeTokens(path string, entries []*entry) error {
	tokens := tokensText{Version: tokensVersion, Tokens: []tokenText{}}
	for _, e := range entries {
		t := e.public()
		text := tokenText{
			ID: t.ID, Name: t.Name, Scopes: t.Scopes, Kind: t.Kind, Person: e.person, Created: t.Created, Expires: t.Expires, Used: t.Used,
			SHA256: hex.EncodeToString(e.sum[:]),
		}
		if e.bound {
			text.Half = hex.EncodeToString(e.half[:])
		}
		tokens.Tokens = append(tokens.Tokens, text)
	}
	text, err := json.MarshalIndent(tokens, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the tokens: %w", err)
	}
	if err := replace(path, append(text, '\n')); err != nil {
		return fmt.Errorf("writing the tokens: %w", err)
	}
	return nil
}
