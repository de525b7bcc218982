package conformance

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// TestInstallACP installs the adapter once, and anew what is not whole.
func TestInstallACP(t *testing.T) {
	top := t.TempDir()
	var runs atomic.Int32
	in := &Installer{
		root: func() (string, error) { return top, nil },
		npm: func(_ context.Context, dir string, packages []string) error {
			runs.Add(1)
			script := filepath.Join(dir, "node_modules", filepath.FromSlash(acpPackage), "dist", "index.js")
			return errors.Join(fakeSDK(dir, packages), writeFile(script, "//"))
		},
	}
	dir := filepath.Join(top, acpFolder, ACPVersion)
	for range 2 {
		script, err := in.InstallACP(t.Context())
		if err != nil || !strings.HasPrefix(script, dir) {
			t.Fatalf("InstallACP() = %q, %v; want it in %s", script, err, dir)
		}
	}
	if runs.Load() != 1 {
		t.Errorf("npm ran %d times, want once", runs.Load())
	}
	script, err := acpIn(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(script); err != nil {
		t.Fatal(err)
	}
	if _, err := acpIn(dir); err == nil || !strings.Contains(err.Error(), "make clis") {
		t.Errorf("without its script: %v; want what to do", err)
	}
	if _, err := in.InstallACP(t.Context()); err != nil || runs.Load() != 2 {
		t.Errorf("after %d runs of npm: %v; want a second one that mends it", runs.Load(), err)
	}
}
