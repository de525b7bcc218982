package conformance

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
)

// The pinned versions: each stands for a way the CLI behaves.
const (
	// Oldest is the version that the protocol was first described from. It runs on node.
	Oldest = "2.1.37"
	// LastDialing is the last version that dials any --sdk-url.
	LastDialing = "2.1.120"
	// Newest is the newest version that this project was tested with.
	Newest = "2.1.325"
)

// RequireEnv is the environment variable that turns a missing CLI from a reported skip into a failure of the tests.
const RequireEnv = "SWITCHBOARD_REQUIRE_CLIS"

// npmPackage is the CLI's name in the npm registry; the packages with native programs are named after it.
const npmPackage = "@anthropic-ai/claude-code"

// Versions returns the pinned versions, oldest first.
func Versions() []string { return []string{Oldest, LastDialing, Newest} }

// A NotInstalledError says that a version of the CLI, or the SDK, is not in the cache folder, or not whole.
type NotInstalledError struct {
	Product string // what was asked for; empty means Claude Code
	Version string // the version asked for
	Dir     string // where it should be
	Reason  string // what is missing
}

// Error says what is missing and how to install it.
func (e *NotInstalledError) Error() string {
	word := "clis"
	if e.Product == bunProduct {
		word = "bench"
	}
	return fmt.Sprintf("%s %s is not installed in %s: %s (make %s installs it)", cmp.Or(e.Product, "Claude Code"), e.Version, e.Dir, e.Reason, word)
}

// cliFolder is the folder of the CLIs below the root.
const cliFolder = "cli"

// root returns the folder that everything is installed below.
func root() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the user's cache folder: %w", err)
	}
	return filepath.Join(cache, "switchboard"), nil
}

// Dir returns the folder of a version in the user's cache folder, whether or not it exists.
func Dir(version string) (string, error) {
	dir, err := root()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, cliFolder, version), nil
}

// Program returns the path of an installed version's program: a native one, or a script for node. It looks at files only and runs nothing. The
// error is a [*NotInstalledError] when the version has to be installed first.
func Program(version string) (string, error) {
	dir, err := Dir(version)
	if err != nil {
		return "", err
	}
	return programIn(dir, version, platform(runtime.GOOS, runtime.GOARCH, isMusl()))
}

// programIn returns the program of a version that is installed in dir.
func programIn(dir, version, platform string) (string, error) {
	missing := func(reason string) (string, error) {
		return "", &NotInstalledError{Version: version, Dir: dir, Reason: reason}
	}
	modules := filepath.Join(dir, "node_modules")
	installed, reason, err := packageVersion(modules, npmPackage)
	switch {
	case err != nil:
		return "", fmt.Errorf("looking at Claude Code %s: %w", version, err)
	case reason != "":
		return missing(reason)
	case installed != version:
		return missing("its package.json names version " + installed)
	}
	program, err := programPath(version, platform)
	if err != nil {
		return "", err
	}
	program = filepath.Join(modules, program)
	info, err := os.Stat(program)
	switch {
	case err != nil:
		return missing("there is no program at " + program)
	case !info.Mode().IsRegular() || info.Size() == 0:
		return missing(program + " is not a program")
	}
	return program, nil
}

// packageVersion returns the version of an installed npm package, or why that cannot be said of what is there.
func packageVersion(modules, name string) (version, reason string, err error) {
	manifest, err := os.ReadFile(filepath.Join(modules, filepath.FromSlash(name), "package.json"))
	if errors.Is(err, os.ErrNotExist) {
		return "", "there is no package " + name, nil
	}
	if err != nil {
		return "", "", fmt.Errorf("reading the package %s: %w", name, err)
	}
	var parsed struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal(manifest, &parsed); err != nil {
		return "", fmt.Sprintf("its package.json cannot be read (%v)", err), nil
	}
	return parsed.Version, "", nil
}

// programPath returns where a version's program is below node_modules. Up to 2.1.112 the package holds a script; later ones have a package per
// platform with a native program in it, because npm may be told not to run the script that would copy it.
func programPath(version, platform string) (string, error) {
	v, err := wire.ParseVersion(version)
	if err != nil {
		return "", fmt.Errorf("locating Claude Code: %w", err)
	}
	if !v.AtLeast(2, 1, 113) {
		return filepath.Join(filepath.FromSlash(npmPackage), "cli.js"), nil
	}
	name := "claude"
	if strings.HasPrefix(platform, "win32-") {
		name = "claude.exe"
	}
	return filepath.Join(filepath.FromSlash(npmPackage+"-"+platform), name), nil
}

// platform returns how npm packages name a platform, such as "linux-x64-musl".
func platform(goos, goarch string, musl bool) string {
	if goos == "windows" {
		goos = "win32"
	}
	if goarch == "amd64" {
		goarch = "x64"
	}
	name := goos + "-" + goarch
	if goos == "linux" && musl {
		name += "-musl"
	}
	return name
}

// isMusl reports whether this system's C library is musl, as on Alpine Linux: its loader has a name of its own.
func isMusl() bool {
	if runtime.GOOS != "linux" {
		return false
	}
	loaders, err := filepath.Glob("/lib/ld-musl-*.so.1")
	if err != nil || len(loaders) == 0 {
		return false
	}
	// A glibc system can have musl installed beside it.
	glibc, err := filepath.Glob("/lib*/ld-linux-*.so.*")
	return err == nil && len(glibc) == 0
}
