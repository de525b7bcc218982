package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"time"

	"github.com/switchboard-dev/switchboard/internal/trust"
)

// LocalHub is the name of the hub of this machine, which needs no login.
const LocalHub = "local"

const (
	// maxHubs is how many hubs are kept.
	maxHubs = 100
	// hubsVersion is the version of the file.
	hubsVersion = 1
)

// hubName is what the name of a hub looks like: no URL does, nor a flag.
var hubName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

// A Hub is a hub on another machine that the user has logged in to.
type Hub struct {
	// URL is its address, without a slash at its end.
	URL string `json:"url"`
	// Token is the user's token there, a secret.
	Token string `json:"token"`
	// Pin is the fingerprint of its certificate. If empty, the system's authorities count.
	Pin string `json:"pin,omitempty"`
	// Device says that the token was got by a one-time code: it can be ended by logging out.
	Device bool `json:"device,omitempty"`
	// Added is when the user logged in.
	Added time.Time `json:"added"`
}

// Hubs are the hubs on other machines, by the names that the user gave them.
type Hubs struct {
	// Version is that of the file.
	Version int `json:"version"`
	// Current is the name of the hub that commands use unless told otherwise. If empty, the one of this machine.
	Current string `json:"current,omitempty"`
	// Hubs has them by name.
	Hubs map[string]Hub `json:"hubs"`
}

// HubsFile returns where hubs are kept: hubs.json beside where [File] is. It is "" if that is.
func HubsFile(getenv func(string) string) string {
	return base(getenv, "XDG_CONFIG_HOME", ".config", "hubs.json")
}

// CheckHubName says what is wrong with a name for a hub.
func CheckHubName(name string) error {
	switch {
	case name == LocalHub:
		return fmt.Errorf("the name %s is that of this machine's hub; choose another", LocalHub)
	case !hubName.MatchString(name):
		return fmt.Errorf("%q can't be the name of a hub: use up to 63 letters, digits, dots, dashes and underscores", name)
	}
	return nil
}

// Names returns the names of all hubs, sorted.
func (h *Hubs) Names() []string { return slices.Sorted(maps.Keys(h.Hubs)) }

// LoadHubs reads a file of hubs. One that does not exist, or has no name, is empty. A file that other users can read or change, or could have
// put there, is a *[trust.Error]: it holds tokens.
func LoadHubs(file string) (*Hubs, error) {
	empty := &Hubs{Version: hubsVersion, Hubs: map[string]Hub{}}
	if file == "" {
		return empty, nil
	}
	text, err := readPrivate(file)
	if errors.Is(err, fs.ErrNotExist) {
		return empty, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the hubs: %w", err)
	}
	h := &Hubs{}
	if err := json.Unmarshal(text, h); err != nil {
		return nil, fmt.Errorf("reading the hubs: %s is damaged (%w); move it away and log in again", file, err)
	}
	if h.Version != hubsVersion {
		return nil, fmt.Errorf("reading the hubs: %s is of version %d, and this program knows %d; use a newer switchboard, or move the file away and log in again", file, h.Version, hubsVersion)
	}
	for name, hub := range h.Hubs {
		if err := CheckHubName(name); err != nil || hub.URL == "" {
			return nil, fmt.Errorf("reading the hubs: %s has a hub %q without a name or an address; move the file away and log in again", file, name)
		}
	}
	if h.Hubs == nil {
		h.Hubs = map[string]Hub{}
	}
	return h, nil
}

// readPrivate reads a file that only the user can read.
func readPrivate(name string) ([]byte, error) {
	if err := errors.Join(trust.Folder(filepath.Dir(name)), trust.File(name)); err != nil {
		return nil, err
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &trust.Error{Path: name, Reason: "it is not a regular file", Fix: "move it away"}
	case info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows":
		command := "chmod 600 " + shellWord(name)
		return nil, &trust.Error{
			Path: name, Reason: fmt.Sprintf("other users can read it or change it (mode %04o), and it holds tokens", info.Mode().Perm()),
			Fix: "revoke the tokens in it if others use this machine, and close it with: " + command, Command: command,
		}
	}
	if err := trust.Content(name, info); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("%s is larger than %d bytes", name, maxFile)
	}
	return text, err
}

// shellWord writes a path as a word of the shell.
func shellWord(path string) string {
	return "'" + string(bytes.ReplaceAll([]byte(path), []byte("'"), []byte(`'\''`))) + "'"
}

// ChangeHubs reads a file of hubs, has it changed and writes it, readable by the user alone. Processes that do so at the same time wait for each
// other. If change returns an error, nothing is written and the error is returned as it is.
func ChangeHubs(file string, change func(*Hubs) error) (err error) {
	if file == "" {
		return errors.New("there is no place to keep hubs: neither HOME nor XDG_CONFIG_HOME is set")
	}
	folder := filepath.Dir(file)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("making the folder for hubs: %w", err)
	}
	if err := trust.Folder(folder); err != nil {
		return fmt.Errorf("keeping the hubs: %w", err)
	}
	unlock, err := lockFile(file + ".lock")
	if err != nil {
		return fmt.Errorf("locking the file of hubs: %w", err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	h, err := LoadHubs(file)
	if err != nil {
		return err
	}
	if err := change(h); err != nil {
		return err
	}
	if len(h.Hubs) > maxHubs {
		return fmt.Errorf("more than %d hubs; remove some: switchboard hub rm NAME", maxHubs)
	}
	if _, has := h.Hubs[h.Current]; !has {
		h.Current = ""
	}
	text, err := json.MarshalIndent(h, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the hubs: %w", err)
	}
	if err := writePrivate(file, append(text, '\n')); err != nil {
		return fmt.Errorf("writing the hubs: %w", err)
	}
	return nil
}

// writePrivate puts a file in place at once, readable by the user alone.
func writePrivate(name string, text []byte) (err error) {
	file, err := os.CreateTemp(filepath.Dir(name), ".hubs-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name()) // the error says enough
		}
	}()
	_, err = file.Write(text)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), name)
}
