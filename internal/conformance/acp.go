package conformance

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// ACPVersion is the pinned version of the adapter by which editors that speak the Agent Client Protocol use Claude Code. It has an older official
// SDK in it than [SDKVersion], and needs Node 22: [Node].
const ACPVersion = "0.99.1"

const (
	// acpPackage is the adapter's name in the npm registry. It pins what it needs itself.
	acpPackage = "@agentclientprotocol/claude-agent-acp"
	// acpFolder is its folder below the root.
	acpFolder = "acp"
)

// ACP returns the adapter's script. It looks at files only and runs nothing. The error is a
// [*NotInstalledError] when it has to be installed first.
func ACP() (script string, err error) {
	dir, err := root()
	if err != nil {
		return "", err
	}
	return acpIn(filepath.Join(dir, acpFolder, ACPVersion))
}

// acpIn returns the script of the adapter that is installed in dir.
func acpIn(dir string) (string, error) {
	modules := filepath.Join(dir, "node_modules")
	reason, err := lacks(modules, []string{acpPackage + "@" + ACPVersion})
	if err != nil {
		return "", fmt.Errorf("looking at the ACP adapter %s: %w", ACPVersion, err)
	}
	script := filepath.Join(modules, filepath.FromSlash(acpPackage), "dist", "index.js")
	if info, err := os.Stat(script); reason == "" && (err != nil || !info.Mode().IsRegular()) {
		reason = "there is no script at " + script
	}
	if reason != "" {
		return "", &NotInstalledError{Product: "ACP adapter", Version: ACPVersion, Dir: dir, Reason: reason}
	}
	return script, nil
}

// InstallACP makes sure that the pinned version of the adapter is installed, and returns the path of its script. What it says of
// [Installer.Install] otherwise holds here too.
func (in *Installer) InstallACP(ctx context.Context) (script string, err error) {
	return in.get(ctx, product{
		name:     "ACP adapter " + ACPVersion,
		dir:      filepath.Join(acpFolder, ACPVersion),
		packages: []string{acpPackage + "@" + ACPVersion},
		size:     "80 MB",
		check:    func(_ context.Context, dir string) (string, error) { return acpIn(dir) },
	})
}
