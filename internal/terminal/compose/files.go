package compose

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// maxEntries is how many entries of a folder are looked at, maxCompletions how many are offered.
	maxEntries     = 10_000
	maxCompletions = 50
	// entriesAtOnce is how many are read before it is seen whether there are enough.
	entriesAtOnce = 256
)

// Files returns a function that completes paths in a folder: those that begin with a prefix, folders with a slash at the end, at most 50.
// It reads the one folder that the prefix names, at most 10 000 entries of it, and opens no file. Hidden files are offered only if
// the prefix has the dot.
func Files(dir string) func(prefix string) []string {
	return func(prefix string) []string {
		folder, start := "", prefix
		if i := strings.LastIndexByte(prefix, '/'); i >= 0 {
			folder, start = prefix[:i+1], prefix[i+1:]
		}
		place := inside(folder, dir)
		if prefix == "~" {
			return []string{"~/"}
		}
		if info, err := os.Stat(place); err != nil || !info.IsDir() {
			return nil
		}
		file, err := os.Open(place)
		if err != nil {
			return nil
		}
		defer file.Close()
		var list []string
		for seen := 0; seen < maxEntries; {
			entries, err := file.ReadDir(entriesAtOnce)
			seen += len(entries)
			for _, e := range entries {
				if path, ok := offered(place, folder, start, e); ok {
					list = append(list, path)
				}
			}
			if err != nil {
				if !errors.Is(err, io.EOF) {
					return nil
				}
				break
			}
		}
		slices.Sort(list)
		return list[:min(len(list), maxCompletions)]
	}
}

// offered returns the path of an entry that begins as the user has written.
func offered(place, folder, start string, e os.DirEntry) (string, bool) {
	name := e.Name()
	if len(name) < len(start) || !strings.EqualFold(name[:len(start)], start) || name[0] == '.' && start == "" {
		return "", false
	}
	if strings.ContainsAny(name, "\n\r\x1b\"") {
		return "", false // a path that could not be written in the text
	}
	isDir := e.IsDir()
	if e.Type()&os.ModeSymlink != 0 {
		info, err := os.Stat(filepath.Join(place, name))
		isDir = err == nil && info.IsDir()
	}
	if isDir {
		name += "/"
	}
	return folder + name, true
}
