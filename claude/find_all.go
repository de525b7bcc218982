package claude

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
)

// A Candidate is a program that [Find] takes, or would take if no other came
// before it.
type Candidate struct {
	// Path is the file.
	Path string
	// CLI is what [Find] would return for it; nil if it cannot be used.
	CLI *CLI
	// Err says why it cannot be used.
	Err error
}

// FindAll returns every CLI in the places where [Find] looks, each once, in the
// order in which Find would take them. Find takes the first, or returns its error:
// it never passes over a program that is there. With [FindOptions].Path there is
// only that one. It is for people who want to know what they have; nil options
// are valid.
func FindAll(ctx context.Context, o *FindOptions) []Candidate {
	if o == nil {
		o = &FindOptions{}
	}
	env := o.Env
	if env == nil {
		env = os.Environ()
	}
	var paths []string
	if o.Path != "" {
		paths = []string{o.Path}
	} else {
		paths = newFinder(runtime.GOOS, runtime.GOARCH, "", env).all()
	}
	prober := o.Prober
	if prober == nil {
		prober = &Prober{}
	}
	var found []Candidate
	for _, path := range paths {
		one := *o
		one.Path, one.Env, one.Prober = path, env, prober
		cli, err := Find(ctx, &one)
		found = append(found, Candidate{Path: path, CLI: cli, Err: err})
	}
	return found
}

// all returns the paths of all programs, those that are the same file once.
func (f *finder) all() []string {
	var paths []string
	seen := map[string]bool{}
	add := func(path string, ok bool) {
		if !ok {
			return
		}
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			real = path
		}
		if !seen[real] {
			seen[real] = true
			paths = append(paths, path)
		}
	}
	for _, dir := range append(f.pathDirs(), f.binDirs()...) {
		add(f.inDir(dir))
	}
	for _, dir := range f.moduleDirs() {
		add(f.inModules(dir))
	}
	return paths
}
