package conformance

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestInstallBun(t *testing.T) {
	top, runs, told := t.TempDir(), 0, BunVersion
	system := platform(runtime.GOOS, runtime.GOARCH, isMusl())
	in := &Installer{
		root:  func() (string, error) { return top, nil },
		probe: func(context.Context, string) (string, error) { return told, nil },
		npm: func(_ context.Context, dir string, packages []string) error {
			runs++
			name := bunPackage(system)
			if len(packages) != 1 || packages[0] != name+"@"+BunVersion {
				t.Errorf("npm is to install %q", packages)
			}
			modules := filepath.Join(dir, "node_modules", filepath.FromSlash(name))
			return errors.Join(writeFile(filepath.Join(modules, "package.json"), `{"version":"`+BunVersion+`"}`), writeFile(filepath.Join(modules, "bin", "bun"), "a program"))
		},
	}
	dir := filepath.Join(top, bunFolder, BunVersion)
	_, err := bunIn(dir, system)
	if missing, ok := errors.AsType[*NotInstalledError](err); !ok || !strings.Contains(missing.Error(), "make bench") || !strings.Contains(missing.Error(), "Bun") {
		t.Errorf("of an empty folder it says %v; want a *NotInstalledError that says what to do", err)
	}
	for range 2 {
		program, err := in.InstallBun(t.Context())
		if err != nil || !strings.HasPrefix(program, dir) {
			t.Fatalf("InstallBun() = %q, %v; want it in %s", program, err, dir)
		}
	}
	if runs != 1 {
		t.Errorf("npm ran %d times; want once", runs)
	}
	told = "1.0.0"
	if _, err := in.InstallBun(t.Context()); err == nil || !strings.Contains(err.Error(), "1.0.0") {
		t.Errorf("a program that says it is another is taken: %v", err)
	}
}

func TestBunPackage(t *testing.T) {
	for system, want := range map[string]string{
		"linux-x64": "@oven/bun-linux-x64", "linux-arm64": "@oven/bun-linux-aarch64", "linux-x64-musl": "@oven/bun-linux-x64-musl",
		"darwin-arm64": "@oven/bun-darwin-aarch64", "win32-x64": "@oven/bun-windows-x64",
	} {
		if got := bunPackage(system); got != want {
			t.Errorf("the package for %s is %s; want %s", system, got, want)
		}
	}
}
