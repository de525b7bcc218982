//go:build linux || darwin

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

// LoadToken returns the token with all rights in the file admin.token of a data
// folder, the zero value if there is no such file. Servers used to write it at their
// first start; now it is only there if it was then, or if its user has put it there.
// It must belong to the user and be closed to all others.
func LoadToken(dir string) (Token, error) {
	t, err := loadToken(filepath.Join(dir, TokenFile), os.Geteuid())
	if errors.Is(err, fs.ErrNotExist) {
		return Token{}, nil
	}
	return t, err
}

// loadToken reads a token from a file that must belong to a user.
func loadToken(path string, uid int) (Token, error) {
	const remedy = "remove it, and create a token: switchboard token create"
	text, err := readPrivate(path, uid, 1024, remedy, "remove it, because others may know this token, and create another: switchboard token create")
	if err != nil {
		return Token{}, fmt.Errorf("opening the admin token: %w", err)
	}
	t, err := ParseToken(strings.TrimSpace(string(text)), "admin", AllScopes())
	if err != nil {
		return Token{}, fmt.Errorf("%s: %w; remove the file, and create a token: switchboard token create", path, err)
	}
	return t, nil
}

// readPrivate reads a file that must belong to a user and be closed to all others.
// The error is [fs.ErrNotExist] if there is none; else it says what to do: remedy,
// or exposed if others can read it. No more than limit bytes are read.
func readPrivate(path string, uid int, limit int64, remedy, exposed string) ([]byte, error) {
	// A link could lead to a file that another user controls; a pipe would hang.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("%s is a link; %s", path, remedy)
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s isn't a regular file; %s", path, remedy)
	case !ok || int(owner.Uid) != uid:
		return nil, fmt.Errorf("%s belongs to another user; %s", path, remedy)
	case info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("%s can be read by others (mode %04o); %s", path, info.Mode().Perm(), exposed)
	}
	return io.ReadAll(io.LimitReader(f, limit))
}

// ReadPrivate reads a file that must belong to the user and be closed to all others. The
// error is [fs.ErrNotExist] if there is none; else it says what is wrong and ends with
// remedy. No more than limit bytes are read.
func ReadPrivate(path string, limit int64, remedy string) ([]byte, error) {
	return readPrivate(path, os.Geteuid(), limit, remedy, remedy)
}

// ReplacePrivate writes a file that only the user can read, in the place of what was
// there, whole or not at all.
func ReplacePrivate(path string, text []byte) error { return replace(path, text) }

// replace writes a file that may exist, whole or not at all.
func replace(path string, text []byte) error {
	if err := writeBeside(path, text, os.Rename); err != nil {
		return err
	}
	// The new name lasts only when the folder is written too.
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// writeBeside writes a file beside the place where it belongs and then puts it
// there.
func writeBeside(path string, text []byte, put func(from, to string) error) error {
	temp := fmt.Sprintf("%s.%s", path, rand.Text())
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temp) }() // gone already if it was renamed
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return put(temp, path)
}
