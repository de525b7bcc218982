package lines

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
)

// folder returns the folder that a session works in, with all links followed, or
// says why it may not work there. What is checked is what is used: the path that
// it returns has no links any more.
func (s *Server) folder(cwd string) (string, error) {
	if cwd == "" {
		if cwd = s.options.Direct.Home; len(s.options.Direct.Folders) > 0 {
			cwd = s.options.Direct.Folders[0]
		}
		if cwd == "" {
			return "", invalid("cwd: name the folder to work in")
		}
	}
	switch {
	case len(cwd) > maxPath || strings.ContainsRune(cwd, 0):
		return "", invalid("cwd: this is no path")
	case !filepath.IsAbs(cwd):
		return "", invalid("cwd: expected an absolute path")
	case slices.Contains(strings.Split(filepath.ToSlash(cwd), "/"), ".."):
		return "", invalid("cwd: the path must not contain \"..\"")
	}
	real, err := filepath.EvalSymlinks(cwd)
	if err != nil {
		// No more than that: the client may know what there is, the answer may be
		// shown to a person who may not.
		if errors.Is(err, fs.ErrNotExist) {
			return "", invalid("cwd: there is no such folder")
		}
		return "", invalid("cwd: the folder cannot be used")
	}
	info, err := os.Stat(real)
	if err != nil || !info.IsDir() {
		return "", invalid("cwd: this is no folder")
	}
	if inside(real, s.options.Direct.Own) {
		e := api.Errorf(http.StatusForbidden, api.CodeForbidden, "cwd: agents may not work in the server's own folders")
		return "", e
	}
	if len(s.options.Direct.Folders) > 0 && !inside(real, s.options.Direct.Folders) {
		e := api.Errorf(http.StatusForbidden, api.CodeForbidden, "cwd: this folder is not among those that Direct Connect may use")
		e.Hint = "Take one below those of the server's configuration: folders in [direct]."
		return "", e
	}
	return real, nil
}

// inside reports whether a path, which has no links in it, is one of some folders
// or below one. It asks the system whether two are the same, because a disk may
// take names in other letters for the same.
func inside(path string, folders []string) bool {
	var places []os.FileInfo
	for _, folder := range folders {
		if info, err := os.Stat(folder); err == nil { // nothing is below one that is not there
			places = append(places, info)
		}
	}
	for {
		info, err := os.Stat(path)
		if err == nil && slices.ContainsFunc(places, func(place os.FileInfo) bool { return os.SameFile(place, info) }) {
			return true
		}
		above := filepath.Dir(path)
		if above == path {
			return false
		}
		path = above
	}
}
