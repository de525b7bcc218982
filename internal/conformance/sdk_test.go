package conformance

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// fakeSDK writes what npm would have installed.
func fakeSDK(dir string, packages []string) error {
	var errs []error
	for _, pinned := range packages {
		at := strings.LastIndexByte(pinned, '@')
		errs = append(errs, writeFile(filepath.Join(dir, "node_modules", filepath.FromSlash(pinned[:at]), "package.json"), `{"version":"`+pinned[at+1:]+`"}`))
	}
	return errors.Join(errs...)
}

func newSDKInstaller(t *testing.T) (in *Installer, dir string, runs *atomic.Int32) {
	t.Helper()
	top := t.TempDir()
	runs = new(atomic.Int32)
	in = &Installer{
		root:     func() (string, error) { return top, nil },
		probeSDK: func(context.Context, string) error { return nil },
		npm: func(_ context.Context, dir string, packages []string) error {
			runs.Add(1)
			return fakeSDK(dir, packages)
		},
	}
	return in, filepath.Join(top, sdkFolder, SDKVersion), runs
}

func TestInstallSDKOnce(t *testing.T) {
	in, dir, runs := newSDKInstaller(t)
	for range 2 {
		modules, err := in.InstallSDK(t.Context())
		if err != nil || modules != filepath.Join(dir, "node_modules") {
			t.Fatalf("InstallSDK() = %q, %v; want it in %s", modules, err, dir)
		}
	}
	if runs.Load() != 1 {
		t.Errorf("npm ran %d times, want once", runs.Load())
	}
	if left := leftovers(t, filepath.Dir(dir)); left != nil {
		t.Errorf("left behind: %q", left)
	}
}

func TestInstallSDKReplacesWhatDoesNotWork(t *testing.T) {
	other := slices.Clone(sdkPackages())
	other[len(other)-1] = "zod@1.0.0"
	broken := map[string]func(dir string) error{
		"empty folder":         func(dir string) error { return os.MkdirAll(dir, 0o700) },
		"a package is missing": func(dir string) error { return fakeSDK(dir, sdkPackages()[1:]) },
		"a package is another": func(dir string) error { return fakeSDK(dir, other) },
		"a manifest cannot be read": func(dir string) error {
			return errors.Join(fakeSDK(dir, sdkPackages()), writeFile(filepath.Join(dir, "node_modules", "zod", "package.json"), "{"))
		},
	}
	for name, breakIt := range broken {
		t.Run(name, func(t *testing.T) {
			in, dir, runs := newSDKInstaller(t)
			if err := breakIt(dir); err != nil {
				t.Fatal(err)
			}
			if _, err := sdkIn(dir); err == nil {
				t.Fatal("what is broken is taken for whole")
			} else if missing, ok := errors.AsType[*NotInstalledError](err); !ok || !strings.Contains(missing.Error(), "make clis") || !strings.Contains(missing.Error(), "Agent SDK") {
				t.Errorf("got %v, want a *NotInstalledError that says what to do", err)
			}
			if _, err := in.InstallSDK(t.Context()); err != nil || runs.Load() != 1 {
				t.Errorf("InstallSDK after %d runs of npm: %v; want one run that mends it", runs.Load(), err)
			}
		})
	}
}

func TestInstallSDKThatDoesNotLoad(t *testing.T) {
	in, dir, _ := newSDKInstaller(t)
	in.probeSDK = func(context.Context, string) error { return errors.New("this node is too old") }
	if modules, err := in.InstallSDK(t.Context()); err == nil || !strings.Contains(err.Error(), "too old") {
		t.Errorf("InstallSDK() = %q, %v; want the reason", modules, err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a folder of the SDK after a failure: %v", err)
	}
}

// TestSDKLoads has the node on PATH load the installed SDK; and what is no SDK does not load.
func TestSDKLoads(t *testing.T) {
	modules, err := SDK()
	if err != nil {
		if os.Getenv(RequireEnv) == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	if err := loadSDK(t.Context(), modules); err != nil {
		t.Error(err)
	}
	if err := loadSDK(t.Context(), t.TempDir()); err == nil {
		t.Error("an empty folder loads as an SDK")
	}
}
