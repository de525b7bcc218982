package claude

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxWorktrees bounds how many worktrees of a repository are looked for.
const maxWorktrees = 1000

// gitWorktrees returns the folders of all worktrees of the repository that a
// folder is in, none if it is in none. It reads the repository's own files and
// runs nothing: git would run what a repository's settings say.
func gitWorktrees(dir string) []string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	top, gitDir := gitTop(dir)
	if top == "" {
		return nil
	}
	common := gitDir
	if text := gitFile(filepath.Join(gitDir, "commondir")); text != "" {
		common = gitPath(gitDir, text)
	}
	trees := []string{top}
	add := func(tree string) {
		if real, err := filepath.EvalSymlinks(tree); err == nil {
			tree = real
		}
		if !slices.Contains(trees, tree) {
			trees = append(trees, tree)
		}
	}
	if filepath.Base(common) == ".git" {
		add(filepath.Dir(common))
	}
	entries, err := os.ReadDir(filepath.Join(common, "worktrees"))
	if err != nil {
		return trees // there are no others
	}
	for _, entry := range entries[:min(len(entries), maxWorktrees)] {
		folder := filepath.Join(common, "worktrees", entry.Name())
		if text := gitFile(filepath.Join(folder, "gitdir")); text != "" {
			add(filepath.Dir(gitPath(folder, text)))
		}
	}
	return trees
}

// gitTop returns the worktree that a folder is in, and the folder of git's files
// for it.
func gitTop(dir string) (top, gitDir string) {
	for {
		path := filepath.Join(dir, ".git")
		if info, err := os.Stat(path); err == nil {
			if info.IsDir() {
				return dir, path
			}
			if text, ok := strings.CutPrefix(gitFile(path), "gitdir:"); ok {
				return dir, gitPath(dir, strings.TrimSpace(text))
			}
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", ""
		}
		dir = parent
	}
}

// gitFile returns the text of a small file, or "".
func gitFile(path string) string {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, 8<<10))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// gitPath returns a path that may be relative to a folder.
func gitPath(folder, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(folder, path)
}
