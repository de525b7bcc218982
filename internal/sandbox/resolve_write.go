package sandbox

import (
	"io"
	"os"
	"path"
	"slices"
	"strings"
)

// Files that cannot be written in a strict sandbox although the folder around them
// can: what stands there makes programs run later, outside of any sandbox, or
// loosens the rules of other sessions.
var (
	// projectProtected is relative to the working folder and the additional ones.
	projectProtected = []string{
		".git/hooks", ".git/config", ".git/modules/**/hooks", ".git/modules/**/config",
		".claude/settings.json", ".claude/settings.local.json", ".mcp.json",
	}
	// configProtected is relative to the CLI's configuration folder.
	configProtected = []string{
		"settings.json", "settings.local.json", "CLAUDE.md", "agents", "commands", "hooks", "output-styles", "rules", "skills",
	}
)

// cacheFolders are what the tools of languages write, by the variable that names
// the folder and the usual place in the home folder. They are writable in a strict
// sandbox, since hardly anything can be built without them.
var cacheFolders = []struct{ variable, below, usual string }{
	{"XDG_CACHE_HOME", "", ".cache"},
	{"", "", "Library/Caches"},
	{"npm_config_cache", "", ".npm"},
	{"GOCACHE", "", ".cache/go-build"},
	{"GOMODCACHE", "", "go/pkg/mod"},
	{"GOPATH", "pkg/mod", "go/pkg/mod"},
	{"CARGO_HOME", "registry", ".cargo/registry"},
	{"CARGO_HOME", "git", ".cargo/git"},
	{"GRADLE_USER_HOME", "caches", ".gradle/caches"},
	{"", "", ".m2/repository"},
	{"", "", ".bun/install/cache"},
}

// temporaryFolders returns the folders for temporary files.
func (r *resolver) temporaryFolders() []string {
	names := []string{"/tmp", "/var/tmp"}
	for _, variable := range []string{"TMPDIR", "TMP", "TEMP", "CLAUDE_CODE_TMPDIR"} {
		if name := envValue(r.machine.Env, variable); r.narrow(realPath(name)) {
			names = append(names, name)
		}
	}
	return realPaths(names)
}

// caches returns the folders of caches.
func (r *resolver) caches() []string {
	var names []string
	for _, cache := range cacheFolders {
		name := path.Join(r.machine.Home, cache.usual)
		if value := envValue(r.machine.Env, cache.variable); cache.variable != "" && path.IsAbs(value) {
			name = path.Join(value, cache.below)
		}
		if r.narrow(realPath(name)) {
			names = append(names, name)
		}
	}
	return realPaths(names)
}

// narrow reports whether a folder that a variable names may be made writable: it
// exists, and the home folder is not in it.
func (r *resolver) narrow(real string) bool {
	return real != "" && real != "/" && (r.home == "" || !isBelow(real, r.home))
}

// realPaths returns those of several absolute paths that exist, with links
// followed.
func realPaths(names []string) []string {
	var list []string
	for _, name := range names {
		if real := realPath(name); real != "" && path.IsAbs(name) {
			list = append(list, real)
		}
	}
	return list
}

// cliFiles returns the files and folders that the CLI writes. Beside its
// configuration folder, unless that is named by CLAUDE_CONFIG_DIR, it has a file in
// the home folder, which it replaces by another. In a strict sandbox that fails,
// since the home folder cannot be written: 2.1.37 and 2.1.120 write it in place
// then, and end if they cannot do that either; 2.1.325 goes on without saving it.
func (r *resolver) cliFiles() []string {
	names := []string{r.machine.ConfigDir}
	if envValue(r.machine.Env, "CLAUDE_CONFIG_DIR") == "" {
		names = append(names, path.Join(r.machine.Home, ".claude.json"), path.Join(r.machine.Home, ".claude.json.backup"))
	}
	return realPaths(names)
}

// protectedPatterns returns what is protected in a strict sandbox, as patterns.
func (r *resolver) protectedPatterns() []string {
	var list []string
	for _, root := range r.projects() {
		for _, name := range projectProtected {
			list = append(list, path.Join(escapePattern(root), name))
		}
		git := path.Join(root, ".git")
		if info, err := os.Lstat(git); err == nil && info.Mode().IsRegular() {
			list = append(list, escapePattern(git))
			if common := worktreeRepository(root); common != "" {
				for _, name := range projectProtected {
					if rest, ok := strings.CutPrefix(name, ".git/"); ok {
						list = append(list, path.Join(escapePattern(common), rest))
					}
				}
			}
		}
	}
	if r.config != "" {
		for _, name := range configProtected {
			list = append(list, path.Join(escapePattern(r.config), name))
		}
	}
	return list
}

// projects returns the folders that the agent works in.
func (r *resolver) projects() []string { return append([]string{r.dir}, r.dirs...) }

// writable adds what can be written.
func (r *resolver) writable(all map[string]effect) {
	for _, name := range r.cliFiles() {
		all[name] = effectWrite
	}
	everything := r.readOnly["/"]
	if r.policy.Mode != Strict && everything == nil {
		return
	}
	denied := func(name string) *pathPattern {
		for real, p := range r.readOnly {
			if real != "/" && isBelow(real, name) {
				return p
			}
		}
		return nil
	}
	for _, name := range append(slices.Clone(r.temporary), r.caches()...) {
		if denied(name) == nil {
			all[name] = effectWrite
		}
	}
	if everything != nil {
		for _, name := range r.projects() {
			r.readOnly[name] = everything
		}
		return
	}
	for _, root := range r.projects() {
		if p := denied(root); p != nil {
			r.note("The folder %s can only be read: a rule denies writing %s.", root, p.text)
			continue
		}
		all[root] = effectWrite
		git := path.Join(root, ".git")
		if common := worktreeRepository(root); common != "" && denied(common) == nil {
			all[common] = effectWrite
			git = common
		}
		if realPath(path.Join(git, "HEAD")) != "" && realPath(path.Join(git, "hooks")) == "" {
			r.note("%s has no folder hooks: the agent can make one, whose programs git runs outside of the sandbox.", git)
		}
	}
	r.noteUnwritable()
}

// noteUnwritable tells of files that the CLI would make, and cannot.
func (r *resolver) noteUnwritable() {
	need := []string{r.machine.ConfigDir}
	if envValue(r.machine.Env, "CLAUDE_CONFIG_DIR") == "" {
		need = append(need, path.Join(r.machine.Home, ".claude.json"))
	}
	for _, name := range need {
		if realPath(name) == "" {
			r.note("%s does not exist and cannot be made in a strict sandbox, where some versions of Claude Code then end at once: start it outside of one first.", name)
		}
	}
}

// worktreeRepository returns the repository that a folder is a worktree of, whose
// folder git writes to. It returns "" if there is none, or if that repository does
// not know of the worktree: the file .git alone could name any folder.
func worktreeRepository(root string) string {
	link := path.Join(root, ".git")
	info, err := os.Lstat(link)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	at, ok := strings.CutPrefix(readLine(link), "gitdir:")
	if !ok {
		return ""
	}
	follow := func(from, name string) string {
		if name = strings.TrimSpace(name); name == "" {
			return ""
		}
		if !path.IsAbs(name) {
			name = path.Join(from, name)
		}
		return realPath(name)
	}
	git := follow(root, at)
	if git == "" || path.Base(path.Dir(git)) != "worktrees" {
		return ""
	}
	common := path.Dir(path.Dir(git))
	if follow(git, readLine(path.Join(git, "gitdir"))) != link || follow(git, readLine(path.Join(git, "commondir"))) != common {
		return ""
	}
	return common
}

// readLine returns the first line of a small file, "" if there is none.
func readLine(name string) string {
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, 8192))
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return line
}
