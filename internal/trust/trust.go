package trust

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxLinks is how many symbolic links may be on the way to a folder, as in the
// kernel.
const maxLinks = 40

// An Error says that another user could change a file or folder.
type Error struct {
	// Path is the file or folder at fault.
	Path string
	// Reason says what is wrong with it, Fix what to do about it.
	Reason, Fix string
	// Command is the shell command that does it, if there is one.
	Command string
}

// Error returns path, reason and fix.
func (e *Error) Error() string { return fmt.Sprintf("%s: %s; %s", e.Path, e.Reason, e.Fix) }

// Folder returns an *[Error] if another user could change what is in a folder, or
// replace the folder: it looks at the folder and at every folder above it, as
// OpenSSH does with StrictModes. Each must belong to the current user or root, and
// no other user may write to it, unless its sticky bit is set. A symbolic link on the
// way is followed, and the folders that it leads through are held to the same rule.
// What does not exist yet, and what would be below it, passes.
//
// Other errors are those of looking at the folders.
func Folder(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("checking the folder %s: %w", dir, err)
	}
	at := filepath.VolumeName(dir) + string(filepath.Separator)
	rest := split(strings.TrimPrefix(dir, at))
	links := 0
	if err := checkFolder(at, dir); err != nil {
		return err
	}
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..": // only in the target of a link: the folder was looked at on the way down
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, name)
		info, err := os.Lstat(next)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("checking the folder %s: %w", dir, err)
		}
		if info.Mode().Type() != fs.ModeSymlink {
			if err := checkFolder(next, dir); err != nil {
				return err
			}
			at = next
			continue
		}
		if links++; links > maxLinks {
			return &Error{Path: dir, Reason: "too many symbolic links are on the way to it", Fix: "name the folder that they lead to"}
		}
		if reason := ownerOf(info, self()); reason != "" {
			return &Error{Path: next, Reason: "this symbolic link " + reason, Fix: "name the folder that it leads to, if that one is yours, or choose another"}
		}
		target, err := os.Readlink(next)
		if err != nil {
			return fmt.Errorf("checking the folder %s: %w", dir, err)
		}
		if filepath.IsAbs(target) {
			at = filepath.VolumeName(target) + string(filepath.Separator)
			target = strings.TrimPrefix(target, at)
		}
		rest = append(split(target), rest...)
	}
	return nil
}

// split returns the names in a path.
func split(path string) []string { return strings.Split(path, string(filepath.Separator)) }

// checkFolder looks at one folder on the way to dir.
func checkFolder(path, dir string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("checking the folder %s: %w", dir, err)
	}
	if !info.IsDir() {
		return &Error{Path: path, Reason: "it is not a folder", Fix: "choose another path"}
	}
	what := "change what is in it"
	if path != dir {
		what = "put another folder in the place of " + dir
	}
	if reason := ownerOf(info, self()); reason != "" {
		return &Error{Path: path, Reason: "this folder " + reason + ", who could " + what, Fix: "choose a folder below one of your own"}
	}
	if reason, command := writersOf(info, self()); reason != "" && info.Mode()&fs.ModeSticky == 0 {
		return writableError(path, "this folder can be written to by "+reason+", who could "+what, command)
	}
	return nil
}

// writableError says that others can write to a file or folder.
func writableError(path, reason, mode string) *Error {
	command := "chmod " + mode + " " + quote(path)
	return &Error{Path: path, Reason: reason, Fix: "take that away with: " + command, Command: command}
}

// quote writes a path as a word of the shell.
func quote(path string) string {
	if strings.Trim(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@") == "" {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// Content returns an *[Error] if another user could have written what is in an
// open file: it must belong to the current user or root, and no other user may write
// to it.
func Content(path string, info fs.FileInfo) error {
	if reason := ownerOf(info, self()); reason != "" {
		return &Error{Path: path, Reason: "it " + reason, Fix: "it must be yours or root's"}
	}
	if reason, command := writersOf(info, self()); reason != "" {
		return writableError(path, "it can be written to by "+reason, command)
	}
	return nil
}

// File returns an *[Error] if a path is something other than a regular file of the
// current user or root: a symbolic link could have been made to lead anywhere, and
// opening a pipe would block. A file that does not exist passes.
func File(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	switch {
	case info.Mode().Type() == fs.ModeSymlink:
		return Link(path)
	case !info.Mode().IsRegular():
		return &Error{Path: path, Reason: "it is not a regular file", Fix: "move it away"}
	}
	if reason := ownerOf(info, self()); reason != "" {
		return &Error{Path: path, Reason: "it " + reason, Fix: "it must be yours"}
	}
	return nil
}

// Link returns the error for a file that is a symbolic link.
func Link(path string) error {
	copied := path + ".copy"
	command := fmt.Sprintf("cp -pL %s %s && mv %s %s", quote(path), quote(copied), quote(copied), quote(path))
	return &Error{
		Path: path, Reason: "it is a symbolic link, which could lead to a file of another user",
		Fix: "put the file itself in its place: " + command, Command: command,
	}
}
