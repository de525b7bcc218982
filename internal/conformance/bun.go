package conformance

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// BunVersion is the pinned version of Bun, which runs the pipe that the benchmark of the relay compares ours with. No test needs it.
const BunVersion = "1.4.4"

const (
	// bunProduct is what people call it, bunFolder its folder below the root.
	bunProduct = "Bun"
	bunFolder  = "bun"
)

// bunPackage returns the npm package with the program for a platform. The package that is called bun would have a script of its own choose one.
func bunPackage(platform string) string {
	return "@oven/bun-" + strings.NewReplacer("arm64", "aarch64", "win32-", "windows-").Replace(platform)
}

// Bun returns the path of the pinned Bun's program. It looks at files only and runs nothing. The error is a [*NotInstalledError] when it has to
// be installed first.
func Bun() (program string, err error) {
	dir, err := root()
	if err != nil {
		return "", err
	}
	return bunIn(filepath.Join(dir, bunFolder, BunVersion), platform(runtime.GOOS, runtime.GOARCH, isMusl()))
}

// bunIn returns the program of the Bun that is installed in dir.
func bunIn(dir, platform string) (string, error) {
	missing := func(reason string) (string, error) {
		return "", &NotInstalledError{Product: bunProduct, Version: BunVersion, Dir: dir, Reason: reason}
	}
	modules, name := filepath.Join(dir, "node_modules"), bunPackage(platform)
	installed, reason, err := packageVersion(modules, name)
	switch {
	case err != nil:
		return "", fmt.Errorf("looking at Bun %s: %w", BunVersion, err)
	case reason != "":
		return missing(reason)
	case installed != BunVersion:
		return missing("its package.json names version " + installed)
	}
	program := filepath.Join(modules, filepath.FromSlash(name), "bin", "bun")
	if strings.HasPrefix(platform, "win32-") {
		program += ".exe"
	}
	if info, err := os.Stat(program); err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return missing("there is no program at " + program)
	}
	return program, nil
}

// InstallBun makes sure that the pinned version of Bun is installed and works, and returns the path of its program. What it says of
// [Installer.Install] otherwise holds here too.
func (in *Installer) InstallBun(ctx context.Context) (program string, err error) {
	system := platform(runtime.GOOS, runtime.GOARCH, isMusl())
	return in.get(ctx, product{
		name:     bunProduct + " " + BunVersion,
		dir:      filepath.Join(bunFolder, BunVersion),
		packages: []string{bunPackage(system) + "@" + BunVersion},
		size:     "40 MB",
		check: func(ctx context.Context, dir string) (string, error) {
			program, err := bunIn(dir, system)
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
			if told != BunVersion {
				return "", fmt.Errorf("%s --version says %q", program, told)
			}
			return program, nil
		},
	})
}
