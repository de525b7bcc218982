package nodeagent

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/node"
	"github.com/switchboard-dev/switchboard/internal/server/access"
)

// IdentityFile is the name of the file in a node's data folder that holds its key.
const IdentityFile = "node.json"

const (
	identityVersion = 1
	maxIdentity     = 64 << 10
)

// ErrNotJoined is the error of a data folder that belongs to no node yet.
var ErrNotJoined = errors.New("this machine is not a node yet; get a command for it on the hub with switchboard node invite, and run that here")

// An Identity is which node of which hub a machine is. The key stays in it.
type Identity struct {
	ID, Name string
	// URL is the hub's address, Hub its id, Pin the fingerprint of its certificate, which
	// may be empty.
	URL, Hub, Pin string
	Labels        map[string]string

	key ed25519.PrivateKey
}

// Fingerprint returns that of the node's public key, as the hub shows it.
func (i *Identity) Fingerprint() string {
	public, _ := i.key.Public().(ed25519.PublicKey) // it is never another
	return node.Fingerprint(public)
}

// A storedIdentity is the file.
type storedIdentity struct {
	Version int               `json:"version"`
	ID      string            `json:"id"`
	Name    string            `json:"name"`
	URL     string            `json:"url"`
	Hub     string            `json:"hub"`
	Pin     string            `json:"pin,omitempty"`
	Labels  map[string]string `json:"labels,omitempty"`
	Key     string            `json:"key"` // the private one's seed, in base64
}

// LoadIdentity reads the identity in a node's data folder. It must belong to the user and
// be closed to all others. The error is [ErrNotJoined] if there is none.
func LoadIdentity(dir string) (*Identity, error) {
	const remedy = "restore it from a backup, or remove it and join again with a new invitation: switchboard node invite"
	path := filepath.Join(dir, IdentityFile)
	text, err := access.ReadPrivate(path, maxIdentity, remedy)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotJoined
	}
	if err != nil {
		return nil, fmt.Errorf("opening the node's identity: %w", err)
	}
	var file storedIdentity
	decoder := json.NewDecoder(bytes.NewReader(text))
	if decoder.Decode(&file) != nil { // the text of the error may quote the key
		return nil, fmt.Errorf("reading the node's identity: %s is damaged; %s", path, remedy)
	}
	seed, err := base64.StdEncoding.Strict().DecodeString(file.Key)
	switch {
	case file.Version != identityVersion:
		return nil, fmt.Errorf("reading the node's identity: %s has version %d, and this program knows %d; %s", path, file.Version, identityVersion, remedy)
	case err != nil || len(seed) != ed25519.SeedSize || !node.IsID(file.ID) || file.Hub == "" || file.URL == "":
		return nil, fmt.Errorf("reading the node's identity: %s is damaged; %s", path, remedy)
	}
	return &Identity{
		ID: file.ID, Name: file.Name, URL: file.URL, Hub: file.Hub, Pin: file.Pin, Labels: file.Labels, key: ed25519.NewKeyFromSeed(seed),
	}, nil
}

// save writes the identity.
func (i *Identity) save(dir string) error {
	text, err := json.MarshalIndent(storedIdentity{
		Version: identityVersion, ID: i.ID, Name: i.Name, URL: i.URL, Hub: i.Hub, Pin: i.Pin, Labels: i.Labels,
		Key: base64.StdEncoding.EncodeToString(i.key.Seed()),
	}, "", "  ")
	if err != nil {
		return errors.New("writing the node's identity: it cannot be written as JSON")
	}
	if err := access.ReplacePrivate(filepath.Join(dir, IdentityFile), append(text, '\n')); err != nil {
		return fmt.Errorf("writing the node's identity: %w", err)
	}
	return nil
}

// JoinOptions say which hub to join. DataDir, URL and Code are required.
type JoinOptions struct {
	// DataDir is the node's own folder.
	DataDir string
	// URL is the hub's address, Pin the fingerprint of its certificate. If Pin is empty,
	// the authorities that the machine trusts count.
	URL, Pin string
	// Code is the invitation. It is a secret.
	Code string
	// Name is what the node is called if the invitation does not say. If empty, the
	// machine's own name.
	Name string
	// Version is that of switchboard.
	Version string
}

// Join makes the machine a node of a hub. If the data folder belongs to a node of the hub
// at this address already, nothing is done, and already is true.
func Join(ctx context.Context, o JoinOptions) (identity *Identity, already bool, err error) {
	dir, err := access.DataFolder(o.DataDir)
	if err != nil {
		return nil, false, err
	}
	known, err := LoadIdentity(dir)
	switch {
	case err == nil && known.URL == trimURL(o.URL):
		return known, true, nil
	case err == nil:
		return nil, false, fmt.Errorf("the folder %s belongs to the node %q of the hub at %s; name another with --data-dir, or remove it if that node is gone", dir, known.Name, known.URL)
	case !errors.Is(err, ErrNotJoined):
		return nil, false, err
	}
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, false, fmt.Errorf("making a key: %w", err)
	}
	public, _ := key.Public().(ed25519.PublicKey) // it is never another
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	c, err := client.New(&client.Options{BaseURL: o.URL, Pin: o.Pin})
	if err != nil {
		return nil, false, err
	}
	defer c.Close()
	joined, err := c.JoinNode(ctx, api.JoinNode{
		Code: o.Code, Name: cmp.Or(o.Name, machineName(host)), Key: node.KeyText(public), Version: o.Version, OS: runtime.GOOS, Arch: runtime.GOARCH, Hostname: host,
	})
	if err != nil {
		return nil, false, err
	}
	identity = &Identity{ID: joined.ID, Name: joined.Name, URL: trimURL(o.URL), Hub: joined.Hub, Pin: o.Pin, Labels: joined.Labels, key: key}
	if err := identity.save(dir); err != nil {
		return nil, false, fmt.Errorf("%w; the invitation is used up: remove the machine on the hub with switchboard node forget %s, and invite it again", err, joined.Name)
	}
	return identity, false, nil
}

// trimURL returns an address without a slash at its end.
func trimURL(u string) string { return strings.TrimRight(u, "/") }

// machineName makes a node's name of a machine's; "" if that is not possible.
func machineName(host string) string {
	host, _, _ = strings.Cut(strings.ToLower(host), ".")
	name := strings.Trim(strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}, host), "-")
	name = strings.Trim(name[:min(len(name), 63)], "-")
	if node.CheckName(name) != nil {
		return ""
	}
	return name
}
