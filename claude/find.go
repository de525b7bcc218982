package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
)

// A CLI is a Claude Code program on this machine.
type CLI struct {
	// Path is the file that was found: a native program or a script.
	Path string
	// Args is the command that runs it: the program alone, or a runtime, its
	// arguments and the script.
	Args []string
	// Version is what the program says it is. The zero value, unknown, is
	// treated as the oldest version.
	Version wire.Version
}

// FindOptions say where to look for the CLI.
type FindOptions struct {
	// Path is the program to use: a native program, or a script that ends in
	// .js, .mjs or .cjs. A name without a separator is looked up in PATH. If
	// empty, the usual places are searched.
	Path string
	// Runtime runs scripts: a path, or a name that is looked up in PATH. If
	// empty, "node".
	Runtime string
	// RuntimeArgs are arguments for the runtime, before the script.
	RuntimeArgs []string
	// Env is the environment whose PATH and home directory are used. If nil,
	// that of the program.
	Env []string
	// Prober asks for the version. If nil, a new one is used, which remembers
	// nothing.
	Prober *Prober
	// NoProbe leaves the version unknown.
	NoProbe bool
}

// Find locates the CLI and learns its version: from its installation, where npm,
// Homebrew or its own installer tell it, otherwise by running it with --version,
// which can take seconds. Without [FindOptions].Path it
// takes the first that exists: claude in PATH, then the places where the
// installers of Claude Code, npm, Homebrew, Bun, Volta and nvm put it, then the
// program inside an npm package whose install script did not run.
//
// It returns a [*NotFoundError] if there is none and a [*ProbeError] if there
// is one that does not tell its version. Nil options are valid.
func Find(ctx context.Context, o *FindOptions) (*CLI, error) {
	if o == nil {
		o = &FindOptions{}
	}
	env := o.Env
	if env == nil {
		env = os.Environ()
	}
	f := newFinder(runtime.GOOS, runtime.GOARCH, "", env)
	path, err := f.find(o.Path)
	if err != nil {
		return nil, err
	}
	args, err := f.command(path, o.Runtime, o.RuntimeArgs)
	if err != nil {
		return nil, err
	}
	cli := &CLI{Path: path, Args: args}
	if o.NoProbe {
		return cli, nil
	}
	if v, ok := toldVersion(path); ok {
		cli.Version = v
		return cli, nil
	}
	p := o.Prober
	if p == nil {
		p = &Prober{}
	}
	cli.Version, err = p.Probe(ctx, cli, env)
	if err != nil {
		return nil, err
	}
	return cli, nil
}

// A finder searches one file system for the CLI. Platform, root and
// environment are data, so that tests can try all of them anywhere.
type finder struct {
	goos, goarch string
	root         string // prefix of the absolute places that are the same on every machine; "" outside tests
	env          map[string]string
	looked       []string
	linked       string // directory of the link that led to a script; its runtime is mostly there
}

func newFinder(goos, goarch, root string, env []string) *finder {
	m := make(map[string]string, len(env))
	for _, kv := range env {
		if k, v, ok := strings.Cut(kv, "="); ok {
			if goos == "windows" {
				k = strings.ToUpper(k)
			}
			m[k] = v
		}
	}
	return &finder{goos: goos, goarch: goarch, root: root, env: m}
}

// find returns the absolute path of the program.
func (f *finder) find(asked string) (string, error) {
	if asked != "" {
		return f.explicit(asked)
	}
	for _, dir := range f.pathDirs() {
		if path, ok := f.inDir(dir); ok {
			return path, nil
		}
	}
	f.looked = append(f.looked, "PATH")
	for _, dir := range f.binDirs() {
		f.looked = append(f.looked, dir)
		if path, ok := f.inDir(dir); ok {
			return path, nil
		}
	}
	for _, dir := range f.moduleDirs() {
		f.looked = append(f.looked, dir)
		if path, ok := f.inModules(dir); ok {
			return path, nil
		}
	}
	return "", &NotFoundError{Looked: f.looked}
}

// explicit checks the program that was asked for. It says exactly what is
// wrong, because the caller chose it.
func (f *finder) explicit(asked string) (string, error) {
	if filepath.Base(asked) == asked {
		for _, dir := range f.pathDirs() {
			path := filepath.Join(dir, asked)
			if f.runnable(path) == nil {
				return f.resolve(path)
			}
			if f.goos == "windows" && f.runnable(path+".exe") == nil {
				return f.resolve(path + ".exe")
			}
		}
		return "", &NotFoundError{Looked: []string{"PATH"}, Reason: fmt.Sprintf("there is no program %q in PATH", asked)}
	}
	abs, err := filepath.Abs(asked)
	if err != nil {
		return "", fmt.Errorf("looking for %s: %w", asked, err)
	}
	if err := f.runnable(abs); err != nil {
		return "", &NotFoundError{Looked: []string{abs}, Reason: err.Error()}
	}
	return f.resolve(abs)
}

// resolve returns the program that is meant by a path, and refuses what must
// not be run.
func (f *finder) resolve(path string) (string, error) {
	if f.isBatch(path) {
		return "", &UnsupportedError{
			Feature: "running the batch file " + path,
			Hint:    "its arguments would be read by cmd.exe and its process tree could not be ended; name claude.exe or cli.js instead",
		}
	}
	return f.resolvePackage(path), nil
}

// resolvePackage returns the program that a path of npm's leads to. Both a placeholder
// and a link to a script could also be run as they are, but the first only
// prints an error, and the second needs a PATH with node in it.
func (f *finder) resolvePackage(path string) string {
	if native, ok := f.resolvePlaceholder(path); ok {
		return native
	}
	if real, err := filepath.EvalSymlinks(path); err == nil && isScript(real) {
		f.linked = filepath.Dir(path)
		return real
	}
	return path
}

func (f *finder) isBatch(path string) bool {
	if f.goos != "windows" {
		return false
	}
	ext := strings.ToLower(filepath.Ext(path))
	return ext == ".cmd" || ext == ".bat" || ext == ".ps1"
}

// resolvePlaceholder handles npm packages whose install script did not run:
// their bin/claude.exe is a small script that only prints an error, and the
// program lies in the package for the platform next to it.
func (f *finder) resolvePlaceholder(path string) (string, bool) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", false
	}
	dir := filepath.Dir(real)
	pkg := filepath.Dir(dir)
	if filepath.Base(dir) != "bin" || filepath.Base(pkg) != "claude-code" || filepath.Base(filepath.Dir(pkg)) != "@anthropic-ai" {
		return "", false
	}
	if info, err := os.Stat(real); err != nil || info.Size() > wrapperMax {
		return "", false
	}
	return f.native(filepath.Dir(filepath.Dir(pkg)))
}

// inDir looks for claude in a directory of programs.
func (f *finder) inDir(dir string) (string, bool) {
	for _, name := range f.names() {
		path := filepath.Join(dir, name)
		if f.runnable(path) == nil {
			return f.resolvePackage(path), true
		}
	}
	if f.goos == "windows" {
		// npm puts batch files here and the package beside them.
		if f.runnable(filepath.Join(dir, "claude.cmd")) == nil {
			return f.inModules(filepath.Join(dir, "node_modules"))
		}
	}
	return "", false
}

func (f *finder) names() []string {
	if f.goos == "windows" {
		return []string{"claude.exe"}
	}
	return []string{"claude"}
}

// inModules looks for the CLI in a node_modules directory: the program of the
// platform's package, or up to 2.1.112 the script.
func (f *finder) inModules(dir string) (string, bool) {
	if path, ok := f.native(dir); ok {
		return path, true
	}
	script := filepath.Join(dir, "@anthropic-ai", "claude-code", "cli.js")
	return script, f.runnable(script) == nil
}

// native looks for the program of the platform's npm package.
func (f *finder) native(dir string) (string, bool) {
	oses := map[string]string{"linux": "linux", "darwin": "darwin", "windows": "win32", "android": "linux"}
	archs := map[string]string{"amd64": "x64", "arm64": "arm64"}
	suffixes := []string{""}
	switch f.goos {
	case "linux":
		// Which C library the machine has shows in the name of its loader.
		if found, _ := filepath.Glob(filepath.Join(f.root, "/lib/ld-musl-*")); len(found) > 0 {
			suffixes = []string{"-musl", ""}
		} else {
			suffixes = []string{"", "-musl"}
		}
	case "android":
		suffixes = []string{"-android"}
	}
	for _, suffix := range suffixes {
		name := "claude-code-" + oses[f.goos] + "-" + archs[f.goarch] + suffix
		for _, modules := range []string{dir, filepath.Join(dir, "@anthropic-ai", "claude-code", "node_modules")} {
			path := filepath.Join(modules, "@anthropic-ai", name, f.names()[0])
			if f.runnable(path) == nil {
				return path, true
			}
		}
	}
	return "", false
}

// runnable reports why a path cannot be run, nil if it can.
func (f *finder) runnable(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist", path)
	case err != nil:
		return fmt.Errorf("%s cannot be read: %w", path, err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a file", path)
	case isScript(path) || f.goos == "windows":
		return nil
	case info.Mode().Perm()&0o111 == 0:
		return fmt.Errorf("%s is not executable", path)
	}
	return nil
}

// command returns what runs the program at path.
func (f *finder) command(path, runtimeName string, runtimeArgs []string) ([]string, error) {
	if !isScript(path) {
		return []string{path}, nil
	}
	if runtimeName == "" {
		runtimeName = "node"
	}
	node := runtimeName
	if filepath.Base(node) == node {
		node = ""
		dirs := f.pathDirs()
		if f.linked != "" {
			dirs = append(dirs, f.linked)
		}
		for _, dir := range dirs {
			for _, name := range []string{runtimeName, runtimeName + ".exe"} {
				if path := filepath.Join(dir, name); node == "" && f.runnable(path) == nil {
					node = path
				}
			}
		}
	} else if err := f.runnable(node); err != nil {
		return nil, &NotFoundError{Looked: []string{node}, Reason: "the runtime of " + path + ": " + err.Error()}
	}
	if node == "" {
		return nil, &NotFoundError{Looked: []string{"PATH"}, Reason: fmt.Sprintf("%s needs %q, which is not in PATH; name it in FindOptions.Runtime", path, runtimeName)}
	}
	return slices.Concat([]string{node}, runtimeArgs, []string{path}), nil
}

// isScript reports whether a program is one that a JavaScript runtime runs.
func isScript(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".js", ".mjs", ".cjs":
		return true
	}
	return false
}

// pathDirs returns the absolute directories of PATH. Relative ones are passed
// over: what they mean depends on the working directory.
func (f *finder) pathDirs() []string {
	var dirs []string
	for _, dir := range filepath.SplitList(f.env["PATH"]) {
		if filepath.IsAbs(dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// home returns the home directory of the environment that was given.
func (f *finder) home() string {
	if f.goos == "windows" {
		return f.env["USERPROFILE"]
	}
	return f.env["HOME"]
}

// binDirs returns the directories of programs besides PATH. A program that was
// started from a desktop or by a service manager has a short PATH.
func (f *finder) binDirs() []string {
	var dirs []string
	add := func(base string, elem ...string) {
		if base != "" {
			dirs = append(dirs, filepath.Join(append([]string{base}, elem...)...))
		}
	}
	home := f.home()
	add(home, ".local", "bin")
	add(home, ".claude", "local")
	add(home, ".claude", "local", "node_modules", ".bin")
	if f.goos == "windows" {
		add(f.env["APPDATA"], "npm")
		add(f.env["LOCALAPPDATA"], "Programs", "claude")
		add(home, ".bun", "bin")
		return dirs
	}
	add(home, ".npm-global", "bin")
	add(home, ".bun", "bin")
	add(home, ".volta", "bin")
	add(home, ".yarn", "bin")
	add(home, "node_modules", ".bin")
	for _, dir := range f.nvmDirs() {
		add(dir, "bin")
	}
	for _, dir := range []string{"/usr/local/bin", "/opt/homebrew/bin", "/home/linuxbrew/.linuxbrew/bin", "/usr/bin"} {
		dirs = append(dirs, filepath.Join(f.root, dir))
	}
	return dirs
}

// moduleDirs returns the directories of npm packages.
func (f *finder) moduleDirs() []string {
	var dirs []string
	if home := f.home(); home != "" {
		dirs = append(dirs,
			filepath.Join(home, ".claude", "local", "node_modules"),
			filepath.Join(home, ".npm-global", "lib", "node_modules"),
			filepath.Join(home, "node_modules"))
	}
	if f.goos == "windows" {
		if dir := f.env["APPDATA"]; dir != "" {
			dirs = append(dirs, filepath.Join(dir, "npm", "node_modules"))
		}
		return dirs
	}
	for _, dir := range f.nvmDirs() {
		dirs = append(dirs, filepath.Join(dir, "lib", "node_modules"))
	}
	for _, dir := range []string{"/usr/local/lib/node_modules", "/opt/homebrew/lib/node_modules", "/usr/lib/node_modules"} {
		dirs = append(dirs, filepath.Join(f.root, dir))
	}
	return dirs
}

// nvmDirs returns the versions of Node.js that nvm has installed, newest
// first as far as their names tell.
func (f *finder) nvmDirs() []string {
	base := f.env["NVM_DIR"]
	if base == "" && f.home() != "" {
		base = filepath.Join(f.home(), ".nvm")
	}
	if base == "" {
		return nil
	}
	found, _ := filepath.Glob(filepath.Join(base, "versions", "node", "*")) // a bad pattern finds nothing
	slices.SortFunc(found, func(a, b string) int {
		va, _ := wire.ParseVersion(filepath.Base(a)) // a name that is no version sorts last
		vb, _ := wire.ParseVersion(filepath.Base(b))
		return vb.Compare(va)
	})
	return found
}

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

// toldVersion returns the version of a program as its installation tells it,
// without running it, which takes up to seconds: npm's package.json beside the
// program, or the name that the native installer and Homebrew give it. It
// reports false for everything else, and for wrappers, whose surroundings say
// nothing about the program that they run.
func toldVersion(path string) (wire.Version, bool) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return wire.Version{}, false
	}
	if info, err := os.Stat(real); err != nil || info.Size() <= wrapperMax {
		return wire.Version{}, false
	}
	dir := filepath.Dir(real)
	base, parent, grandparent := filepath.Base(real), filepath.Base(dir), filepath.Base(filepath.Dir(dir))
	switch {
	// ~/.local/share/claude/versions/2.1.325
	case parent == "versions" && grandparent == "claude":
		return parseName(base)
	// /opt/homebrew/Caskroom/claude-code/2.1.325/claude
	case grandparent == "claude-code" && filepath.Base(filepath.Dir(filepath.Dir(dir))) == "Caskroom":
		return parseName(parent)
	// @anthropic-ai/claude-code/bin/claude.exe
	case parent == "bin" && grandparent == "claude-code":
		return packageVersion(filepath.Dir(dir))
	}
	// @anthropic-ai/claude-code/cli.js, @anthropic-ai/claude-code-linux-x64/claude
	return packageVersion(dir)
}

// parseName reads a version that is the whole of a name.
func parseName(name string) (wire.Version, bool) {
	v, err := wire.ParseVersion(name)
	return v, err == nil && v.String() == name
}

// packageVersion reads the version of an npm package of the CLI.
func packageVersion(dir string) (wire.Version, bool) {
	if filepath.Base(filepath.Dir(dir)) != "@anthropic-ai" || !strings.HasPrefix(filepath.Base(dir), "claude-code") {
		return wire.Version{}, false
	}
	data, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return wire.Version{}, false
	}
	var pkg struct{ Name, Version string }
	if json.Unmarshal(data, &pkg) != nil || pkg.Name != "@anthropic-ai/"+filepath.Base(dir) {
		return wire.Version{}, false
	}
	return parseName(pkg.Version)
}
