package policy

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
)

// A Resolver follows the links in an absolute path, as the operating system
// would when it opens it: ".." leads to the parent of where the links before it
// have led. What does not exist (yet) is kept as it is, so that a file can be
// judged before it is made. An error means that it is not known where the path
// leads; no allow rule covers it then.
type Resolver func(path string) (string, error)

// Bounds of what the operating system itself follows.
const (
	maxLinks = 40
	maxPath  = 4096
)

// Errors of [Real].
var (
	errTooManyLinks = errors.New("it leads through too many links")
	errTooLong      = fmt.Errorf("it is longer than %d bytes", maxPath)
	errNotAbsolute  = errors.New("it is not absolute")
	errNUL          = errors.New("it has a NUL in it")
	errAgents       = errors.New("it leads to another place for each process")
)

// Real is the operating system's [Resolver].
func Real(name string) (string, error) {
	switch {
	case !strings.HasPrefix(name, "/"):
		return "", errNotAbsolute
	case len(name) > maxPath:
		return "", errTooLong
	case strings.IndexByte(name, 0) >= 0:
		return "", errNUL
	case name == "/":
		return name, nil
	}
	return realBelow("", name)
}

// isRealDir asks the operating system whether a path is a folder.
func isRealDir(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.IsDir()
}

// realBelow is Real for a path that begins with a folder which is resolved
// already. Most paths have no links in them, and cost no memory here.
func realBelow(folder, name string) (string, error) {
	if len(name) > maxPath {
		return "", errTooLong
	}
	if path.Clean(name) != name {
		return realFrom(folder, name[len(folder):])
	}
	for at := len(folder); at < len(name); {
		end := strings.IndexByte(name[at+1:], '/') + at + 1
		if end == at {
			end = len(name)
		}
		switch _, kind, err := readlink(name[:end]); {
		case err != nil:
			return "", err
		case kind == linkMissing:
			return name, nil
		case kind == linkFound:
			return realFrom(name[:at], name[at:])
		}
		at = end
	}
	return name, nil
}

// realFrom is Real for a path below a folder that has been resolved already;
// "" or "/" is the root.
func realFrom(folder, rest string) (string, error) {
	if len(folder)+len(rest) > maxPath {
		return "", errTooLong
	}
	// done is resolved already, rest is not.
	done := make([]byte, 0, len(folder)+len(rest)+1)
	if folder != "/" {
		done = append(done, folder...)
	}
	links, missing := 0, false
	for rest != "" {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		switch name {
		case "", ".":
			continue
		case "..":
			for len(done) > 0 {
				last := done[len(done)-1]
				done = done[:len(done)-1]
				if last == '/' {
					break
				}
			}
			// The parent may exist where its child does not.
			missing = false
			continue
		}
		before := len(done)
		done = append(append(done, '/'), name...)
		if missing {
			continue
		}
		target, kind, err := readlink(string(done))
		switch {
		case err != nil:
			return "", err
		case kind == linkMissing:
			missing = true
		case kind == linkNone:
		default:
			if eachItsOwn(string(done)) {
				return "", errAgents
			}
			if links++; links > maxLinks {
				return "", errTooManyLinks
			}
			if strings.HasPrefix(target, "/") {
				done = done[:0]
			} else {
				done = done[:before]
			}
			if rest = target + "/" + rest; len(rest) > 2*maxPath {
				return "", errTooLong
			}
		}
	}
	if len(done) == 0 {
		return "/", nil
	}
	return string(done), nil
}

// eachItsOwn reports whether a link is one of the kernel's to the folder that a
// process runs in: for the agent's processes it leads elsewhere than for us.
func eachItsOwn(name string) bool {
	return strings.HasPrefix(name, "/proc/") && path.Base(name) == "cwd"
}

// What readlink finds.
type linkKind int

const (
	linkNone    linkKind = iota // something that is no link
	linkMissing                 // nothing
	linkFound                   // a link
)
