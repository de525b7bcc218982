package claude

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
)

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
