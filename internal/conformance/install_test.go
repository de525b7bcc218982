package conformance

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
)

// fakeCLI writes what npm would have installed.
func fakeCLI(dir, version string) error {
	program, err := programPath(version, platform(runtime.GOOS, runtime.GOARCH, isMusl()))
	if err != nil {
		return err
	}
	return errors.Join(
		writeFile(filepath.Join(dir, "node_modules", program), "program of "+version),
		writeFile(filepath.Join(dir, "node_modules", filepath.FromSlash(npmPackage), "package.json"), `{"version":"`+version+`"}`),
	)
}

func writeFile(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(content), 0o600)
}

// fakeProbe reads the version out of what fakeCLI wrote.
func fakeProbe(_ context.Context, program string) (string, error) {
	content, err := os.ReadFile(program)
	if err != nil {
		return "", err
	}
	version, found := strings.CutPrefix(string(content), "program of ")
	if !found {
		return "", errors.New("damaged")
	}
	return version + " (Claude Code)", nil
}

// newInstaller returns an installer into a folder of the test's own, and counts the runs of npm.
func newInstaller(t *testing.T) (in *Installer, root string, runs *atomic.Int32, progress *bytes.Buffer) {
	t.Helper()
	top := filepath.Join(t.TempDir(), "deep")
	runs, progress = new(atomic.Int32), new(bytes.Buffer)
	in = &Installer{
		Progress: progress,
		root:     func() (string, error) { return top, nil },
		probe:    fakeProbe,
		npm: func(_ context.Context, dir string, packages []string) error {
			runs.Add(1)
			return fakeCLI(dir, versionOf(t, packages))
		},
	}
	return in, filepath.Join(top, cliFolder), runs, progress
}

// versionOf returns the version of the CLI that npm is told to install, which is to be the only package.
func versionOf(t *testing.T, packages []string) string {
	t.Helper()
	version, found := strings.CutPrefix(packages[0], npmPackage+"@")
	if !found || len(packages) != 1 {
		t.Errorf("npm is told to install %q", packages)
	}
	return version
}

// leftovers returns what is in the cache folder besides versions and lock files.
func leftovers(t *testing.T, root string) []string {
	t.Helper()
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") {
			names = append(names, entry.Name())
		}
	}
	return names
}

func TestInstallOnce(t *testing.T) {
	for _, version := range Versions() {
		t.Run(version, func(t *testing.T) {
			in, root, runs, progress := newInstaller(t)
			first, err := in.Install(t.Context(), version)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(first, filepath.Join(root, version)+string(filepath.Separator)) {
				t.Errorf("the program is at %s, want it below %s", first, root)
			}
			second, err := in.Install(t.Context(), version)
			if err != nil || second != first {
				t.Errorf("second time: %q, %v; want %q", second, err, first)
			}
			if got := runs.Load(); got != 1 {
				t.Errorf("npm ran %d times, want once", got)
			}
			if left := leftovers(t, root); left != nil {
				t.Errorf("left behind: %q", left)
			}
			if !strings.Contains(progress.String(), version+": installing") {
				t.Errorf("progress says %q", progress)
			}
		})
	}
}

func TestInstallReplacesWhatDoesNotWork(t *testing.T) {
	broken := map[string]func(dir string) error{
		"empty folder":  func(dir string) error { return os.MkdirAll(dir, 0o700) },
		"other version": func(dir string) error { return fakeCLI(dir, "2.1.300") },
		"no program": func(dir string) error {
			return errors.Join(fakeCLI(dir, Newest), os.RemoveAll(filepath.Join(dir, "node_modules", npmPackage+"-"+platform(runtime.GOOS, runtime.GOARCH, isMusl()))))
		},
		"damaged program": func(dir string) error {
			program, err := programPath(Newest, platform(runtime.GOOS, runtime.GOARCH, isMusl()))
			return errors.Join(err, fakeCLI(dir, Newest), writeFile(filepath.Join(dir, "node_modules", program), "half a prog"))
		},
		"damaged package": func(dir string) error {
			return errors.Join(fakeCLI(dir, Newest), writeFile(filepath.Join(dir, "node_modules", filepath.FromSlash(npmPackage), "package.json"), "{"))
		},
	}
	for name, breakIt := range broken {
		t.Run(name, func(t *testing.T) {
			in, root, runs, _ := newInstaller(t)
			if err := breakIt(filepath.Join(root, Newest)); err != nil {
				t.Fatal(err)
			}
			program, err := in.Install(t.Context(), Newest)
			if err != nil {
				t.Fatal(err)
			}
			if told, err := fakeProbe(t.Context(), program); err != nil || !strings.HasPrefix(told, Newest) {
				t.Errorf("installed program tells %q, %v", told, err)
			}
			if runs.Load() != 1 || leftovers(t, root) != nil {
				t.Errorf("npm ran %d times, left behind %q", runs.Load(), leftovers(t, root))
			}
		})
	}
}

func TestInstallFailureLeavesNothing(t *testing.T) {
	failures := map[string]func(dir, version string) error{
		"npm fails":            func(dir, version string) error { return errors.Join(fakeCLI(dir, version), errors.New("no network")) },
		"npm installs nothing": func(string, string) error { return nil },
		"npm installs another": func(dir, _ string) error { return fakeCLI(dir, "2.1.300") },
		"program tells no number": func(dir, version string) error {
			program, err := programPath(version, platform(runtime.GOOS, runtime.GOARCH, isMusl()))
			return errors.Join(err, fakeCLI(dir, version), writeFile(filepath.Join(dir, "node_modules", program), "x"))
		},
	}
	for name, fail := range failures {
		t.Run(name, func(t *testing.T) {
			in, root, _, _ := newInstaller(t)
			in.npm = func(_ context.Context, dir string, packages []string) error { return fail(dir, versionOf(t, packages)) }
			if program, err := in.Install(t.Context(), Newest); err == nil {
				t.Errorf("installed %s", program)
			}
			if _, err := os.Stat(filepath.Join(root, Newest)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("there is a folder of the version after a failure: %v", err)
			}
			if left := leftovers(t, root); left != nil {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

func TestInstallRefusesWhatIsNoVersion(t *testing.T) {
	for _, version := range []string{"", "latest", "2.1", "../2.1.37", "2.1.37 ", "v2.1.37", "2.1.37-beta", "2.1.37 --foo"} {
		in, _, runs, _ := newInstaller(t)
		if program, err := in.Install(t.Context(), version); err == nil || runs.Load() != 0 {
			t.Errorf("Install(%q) = %q, %v after %d runs of npm; want it refused before", version, program, err, runs.Load())
		}
	}
}

func TestPlatform(t *testing.T) {
	tests := []struct {
		goos, goarch string
		musl         bool
		want         string
	}{
		{"linux", "amd64", false, "@anthropic-ai/claude-code-linux-x64/claude"},
		{"linux", "arm64", false, "@anthropic-ai/claude-code-linux-arm64/claude"},
		{"linux", "amd64", true, "@anthropic-ai/claude-code-linux-x64-musl/claude"},
		{"linux", "arm64", true, "@anthropic-ai/claude-code-linux-arm64-musl/claude"},
		{"darwin", "amd64", false, "@anthropic-ai/claude-code-darwin-x64/claude"},
		{"darwin", "arm64", false, "@anthropic-ai/claude-code-darwin-arm64/claude"},
		{"windows", "amd64", false, "@anthropic-ai/claude-code-win32-x64/claude.exe"},
		{"windows", "arm64", false, "@anthropic-ai/claude-code-win32-arm64/claude.exe"},
	}
	for _, test := range tests {
		name := platform(test.goos, test.goarch, test.musl)
		if got, err := programPath(Newest, name); err != nil || got != filepath.FromSlash(test.want) {
			t.Errorf("%s/%s musl=%t: %q, %v; want %q", test.goos, test.goarch, test.musl, got, err, test.want)
		}
		if got, err := programPath(Oldest, name); err != nil || got != filepath.FromSlash("@anthropic-ai/claude-code/cli.js") {
			t.Errorf("the oldest on %s/%s: %q, %v", test.goos, test.goarch, got, err)
		}
	}
	for version, script := range map[string]bool{"2.1.112": true, "2.1.113": false} {
		if got, err := programPath(version, "linux-x64"); err != nil || strings.HasSuffix(got, "cli.js") != script {
			t.Errorf("%s: %q, %v", version, got, err)
		}
	}
}

func TestMissingCLISaysWhatToDo(t *testing.T) {
	dir := t.TempDir()
	_, err := programIn(dir, Newest, "linux-x64")
	missing, ok := errors.AsType[*NotInstalledError](err)
	if !ok || missing.Version != Newest || missing.Dir != dir {
		t.Fatalf("got %v, want a *NotInstalledError of %s", err, Newest)
	}
	if !strings.Contains(err.Error(), "make clis") {
		t.Errorf("%q does not say how to install it", err)
	}
}
