package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxEntries is how many entries of a folder are looked at.
const maxEntries = 20_000

// A Folder is one that a user may want to work in.
type Folder struct {
	Path string
	// Git says that it is the top of a working tree.
	Git bool
}

// Folders completes the beginning of an absolute path, or one that begins with
// "~/", to folders that there are: at most limit of them, in the order of their
// names, those in the very spelling first. A path that ends in a separator gives
// what is in that folder. Hidden folders are left out unless the last part of the
// path begins with a dot. What may not be read is left out.
func (l *Launcher) Folders(ctx context.Context, prefix string, limit int) ([]Folder, error) {
	if prefix == "~" || strings.HasPrefix(prefix, "~"+string(filepath.Separator)) {
		home := get(l.config.Env, "HOME")
		if home == "" {
			return nil, nil
		}
		prefix = home + string(filepath.Separator) + strings.TrimPrefix(prefix[1:], string(filepath.Separator))
	}
	if !filepath.IsAbs(prefix) {
		return nil, nil
	}
	parent, base := filepath.Split(prefix)
	names, err := subfolders(ctx, filepath.Clean(parent), base)
	if err != nil {
		return nil, err
	}
	spelt := func(name string) int {
		if strings.HasPrefix(name, base) {
			return 0
		}
		return 1
	}
	slices.SortFunc(names, func(a, b string) int {
		if d := spelt(a) - spelt(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	names = names[:min(len(names), max(0, limit))]
	for i, name := range names {
		names[i] = filepath.Join(parent, name)
	}
	return l.Look(ctx, names)
}

// subfolders returns the names of the folders in another that begin with some
// letters, in whatever case.
func subfolders(ctx context.Context, parent, base string) ([]string, error) {
	if info, err := os.Stat(parent); err != nil || !info.IsDir() { // to open a pipe would wait
		return nil, nil
	}
	f, err := os.Open(parent)
	if err != nil {
		return nil, nil
	}
	defer func() { _ = f.Close() }() // it was only read
	base = strings.ToLower(base)
	var names []string
	for looked := 0; looked < maxEntries; {
		if err := context.Cause(ctx); err != nil {
			return nil, fmt.Errorf("looking for folders: %w", err)
		}
		entries, err := f.ReadDir(1000)
		for _, e := range entries {
			name := e.Name()
			if strings.HasPrefix(name, ".") && !strings.HasPrefix(base, ".") || !strings.HasPrefix(strings.ToLower(name), base) {
				continue
			}
			if e.IsDir() || e.Type()&os.ModeSymlink != 0 && isDir(filepath.Join(parent, name)) {
				names = append(names, name)
			}
		}
		looked += len(entries)
		if errors.Is(err, io.EOF) || err != nil {
			break // its end, or what may be read of it
		}
	}
	return names, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Look returns those of the paths that are folders, in their order.
func (l *Launcher) Look(ctx context.Context, paths []string) ([]Folder, error) {
	var folders []Folder
	for _, path := range paths {
		if err := context.Cause(ctx); err != nil {
			return nil, fmt.Errorf("looking at folders: %w", err)
		}
		if !filepath.IsAbs(path) || !isDir(path) {
			continue
		}
		_, err := os.Lstat(filepath.Join(path, ".git"))
		folders = append(folders, Folder{Path: path, Git: err == nil})
	}
	return folders, nil
}
