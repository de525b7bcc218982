package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// An Installer installs versions of the CLI, and the SDK. Its zero value is ready to use: it installs into the user's cache folder with the npm
// on PATH and says nothing.
type Installer struct {
	// Progress gets a line for each step. If nil, nothing is printed.
	Progress io.Writer

	// Timeout bounds the installation of one version. If zero, 10 minutes: a version is up to 360 MB.
	Timeout time.Duration

	// root, npm, probe and probeSDK are replaced by tests.
	root     func() (string, error)
	npm      func(ctx context.Context, dir string, packages []string) error
	probe    func(ctx context.Context, program string) (string, error)
	probeSDK func(ctx context.Context, modules string) error
}

// A product is something that npm installs into a folder of its own.
type product struct {
	name     string   // for people
	dir      string   // its folder, below the root
	packages []string // with their versions
	size     string   // for people
	// check says where in dir the product is, if it is there and works.
	check func(ctx context.Context, dir string) (string, error)
}

// Install makes sure that a version, such as "2.1.37", is installed and works, and returns the path of its program. A version that is already
// there is only checked, by running it with --version. It is safe to run several installers at once, also in different processes: the first
// one installs, the others wait.
//
// npm installs into a folder beside the final one, which is renamed when the program has told its version: whatever is interrupted, the final
// folder is whole or not there.
func (in *Installer) Install(ctx context.Context, version string) (program string, err error) {
	v, err := wire.ParseVersion(version)
	if err != nil || v.String() != version {
		// The version becomes a folder's name and an argument of npm.
		return "", fmt.Errorf("installing Claude Code: %q is not a version such as %s", version, Newest)
	}
	return in.get(ctx, product{
		name:     "Claude Code " + version,
		dir:      filepath.Join(cliFolder, version),
		packages: []string{npmPackage + "@" + version},
		size:     "up to 360 MB",
		check: func(ctx context.Context, dir string) (string, error) {
			return in.check(ctx, dir, version)
		},
	})
}

// InstallSDK makes sure that the pinned version of the official TypeScript SDK is installed and can be loaded by the node on PATH, and returns
// the path of the node_modules folder that it is in. What it says of [Installer.Install] otherwise holds here too.
func (in *Installer) InstallSDK(ctx context.Context) (modules string, err error) {
	return in.get(ctx, product{
		name:     "Agent SDK " + SDKVersion,
		dir:      filepath.Join(sdkFolder, SDKVersion),
		packages: sdkPackages(),
		size:     "65 MB",
		check: func(ctx context.Context, dir string) (string, error) {
			modules, err := sdkIn(dir)
			if err != nil {
				return "", err
			}
			probe := in.probeSDK
			if probe == nil {
				probe = loadSDK
			}
			return modules, probe(ctx, modules)
		},
	})
}

// get is Install for any product.
func (in *Installer) get(ctx context.Context, p product) (string, error) {
	timeout := in.Timeout
	if timeout == 0 {
		timeout = 10 * time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	path, err := in.install(ctx, p)
	if err != nil {
		return "", fmt.Errorf("installing %s: %w", p.name, err)
	}
	return path, nil
}

func (in *Installer) install(ctx context.Context, p product) (path string, err error) {
	rootOf := in.root
	if rootOf == nil {
		rootOf = root
	}
	dir, err := rootOf()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(dir, p.dir)
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil { //nolint:gosec // a cache of public programs
		return "", err
	}
	unlock, err := lockFile(ctx, dir+".lock", func() { in.say("%s: another process is installing it; waiting", p.name) })
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, unlock()) }()

	path, err = p.check(ctx, dir)
	if err == nil {
		in.say("%s: installed, %s", p.name, path)
		return path, nil
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if _, statErr := os.Lstat(dir); statErr == nil {
		// What is there is of no use: a whole version would have told its number.
		in.say("%s: what is in %s does not work (%v); installing it anew", p.name, dir, err)
		if err := os.RemoveAll(dir); err != nil {
			return "", fmt.Errorf("removing what does not work: %w", err)
		}
	}

	staging, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+"-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(staging)) }()
	in.say("%s: installing %s from the npm registry (%s)", p.name, strings.Join(p.packages, " "), p.size)
	begin := time.Now()
	npm := in.npm
	if npm == nil {
		npm = runNPM
	}
	if err := npm(ctx, staging, p.packages); err != nil {
		return "", err
	}
	staged, err := p.check(ctx, staging)
	if err != nil {
		return "", fmt.Errorf("checking what npm installed: %w", err)
	}
	if err := os.Chmod(staging, 0o755); err != nil { //nolint:gosec // as above
		return "", err
	}
	if err := os.Rename(staging, dir); err != nil {
		return "", err
	}
	below, err := filepath.Rel(staging, staged)
	if err != nil {
		return "", err
	}
	path = filepath.Join(dir, below)
	in.say("%s: installed in %s, %s", p.name, time.Since(begin).Round(time.Second), path)
	return path, nil
}

// check returns the program that is installed in dir if it is there and tells the right version.
func (in *Installer) check(ctx context.Context, dir, version string) (string, error) {
	program, err := programIn(dir, version, platform(runtime.GOOS, runtime.GOARCH, isMusl()))
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
	if v, err := wire.ParseVersion(told); err != nil || v.String() != version {
		return "", fmt.Errorf("%s --version says %q", program, told)
	}
	return program, nil
}

func (in *Installer) say(format string, args ...any) {
	if in.Progress != nil {
		_, _ = fmt.Fprintf(in.Progress, format+"\n", args...) // a lost progress line changes nothing
	}
}

// runNPM installs packages into dir. No script of a package is run: they need none, and a foreign script should not run because
// of a test.
func runNPM(ctx context.Context, dir string, packages []string) error {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return fmt.Errorf("npm is needed to install it; install Node.js 20 or later: %w", err)
	}
	args := []string{
		"install", "--prefix=" + dir, "--ignore-scripts", "--save-exact", "--no-audit", "--no-fund",
		"--no-update-notifier", "--loglevel=error",
	}
	if strings.HasPrefix(packages[0], sdkPackage+"@") || strings.HasPrefix(packages[0], acpPackage+"@") {
		// Its optional parts are a CLI of its own, of 350 MB. It is only used with ours.
		args = append(args, "--omit=optional")
	}
	cmd := exec.CommandContext(ctx, npm, append(args, packages...)...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return fmt.Errorf("npm install: %w\n%s", err, strings.TrimSpace(output.String()))
	}
	return nil
}

// probeVersion runs a program with --version in an environment and home folder of its own.
func probeVersion(ctx context.Context, program string) (told string, err error) {
	home, err := os.MkdirTemp("", "switchboard-probe-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	args := []string{program, "--version"}
	if strings.HasSuffix(program, ".js") {
		args = append([]string{"node"}, args...)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
	cmd.Dir = home
	cmd.WaitDelay = 5 * time.Second
	output, err := cmd.Output()
	if err != nil {
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			return "", fmt.Errorf("running %s --version: %w: %s", program, err, strings.TrimSpace(string(failed.Stderr)))
		}
		return "", fmt.Errorf("running %s --version: %w", program, err)
	}
	return strings.TrimSpace(string(output)), nil
}
