//go:build unix

package access

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// LoadOrCreateToken returns the admin token of the server whose data folder this
// is: the one in the file admin.token, or a new one that it writes there. The
// file must belong to the user and be closed to all others.
func LoadOrCreateToken(dir string) (Token, error) {
	path := filepath.Join(dir, TokenFile)
	t, err := loadToken(path, os.Geteuid())
	if !errors.Is(err, fs.ErrNotExist) {
		return t, err
	}
	text, t := newToken("admin", AllScopes())
	switch err := writeNew(path, text+"\n"); {
	case errors.Is(err, fs.ErrExist): // somebody else was faster
		return loadToken(path, os.Geteuid())
	case err != nil:
		return Token{}, fmt.Errorf("writing the admin token: %w", err)
	}
	return t, nil
}

// loadToken reads a token from a file that must belong to a user.
func loadToken(path string, uid int) (Token, error) {
	// A link could lead to a file that somebody else controls; a pipe would hang.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return Token{}, fmt.Errorf("opening the admin token: %s is a link; remove it, and a new token is made", path)
	}
	if err != nil {
		return Token{}, fmt.Errorf("opening the admin token: %w", err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return Token{}, fmt.Errorf("looking at the admin token: %w", err)
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return Token{}, fmt.Errorf("%s is no regular file; remove it, and a new token is made", path)
	case !ok || int(owner.Uid) != uid:
		return Token{}, fmt.Errorf("%s belongs to another user; remove it, and a new token is made", path)
	case info.Mode().Perm()&0o077 != 0:
		return Token{}, fmt.Errorf("%s can be read by others (mode %04o); remove it, and a new token is made, because somebody may know this one", path, info.Mode().Perm())
	}
	text, err := io.ReadAll(io.LimitReader(f, 1024))
	if err != nil {
		return Token{}, fmt.Errorf("reading the admin token: %w", err)
	}
	t, err := ParseToken(strings.TrimSpace(string(text)), "admin", AllScopes())
	if err != nil {
		return Token{}, fmt.Errorf("%s: %w; remove the file, and a new token is made", path, err)
	}
	return t, nil
}

// writeNew writes a file that must not exist yet, whole or not at all: a crash
// must not leave an empty token behind.
func writeNew(path, text string) error {
	temp := fmt.Sprintf("%s.%s", path, rand.Text())
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temp) }()
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	// Unlike a rename, a link never replaces what is there.
	return os.Link(temp, path)
}
