package web

import (
	"embed"
	"io/fs"
)

// dist has at least the text that says what belongs there, so that the package compiles before anything is built.
//
//go:embed all:dist
var dist embed.FS

// Files returns the files of the console, with index.html at the root; nil if the program was compiled without them.
func Files() fs.FS {
	files, err := fs.Sub(dist, "dist/app")
	if err != nil {
		return nil // the path is wrong, which it is not
	}
	if _, err := fs.Stat(files, "index.html"); err != nil {
		return nil
	}
	return files
}
