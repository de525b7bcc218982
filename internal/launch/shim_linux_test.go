package launch

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/switchboard-dev/switchboard/claude"
)

// carriers counts the processes that carry a marker.
func carriers(t *testing.T, marker string) int {
	t.Helper()
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, path := range environs {
		env, err := os.ReadFile(path)
		if err == nil && bytes.Contains(append(env, 0), []byte(claude.MarkerEnv+"="+marker+"\x00")) {
			n++
		}
	}
	return n
}

// startReal starts a run with a real shim and a simulated CLI and waits until
// both run.
func (b *lab) startReal(t *testing.T) (*Spec, *Launched) {
	t.Helper()
	spec, _ := b.spec("")
	spec.Options.Env, spec.Options.Settings = nil, []byte(`{"model":"sonnet"}`)
	launched, err := b.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if n, err := b.Sweep(context.Background(), spec.Marker); n > 0 || err != nil {
			t.Errorf("%d processes were left, %v", n, err)
		}
	})
	eventually(t, "the CLI", func() bool { return carriers(t, spec.Marker) == 2 })
	if found, err := filepath.Glob(filepath.Join(b.folders(), spec.folder(), "switchboard-cli-*", "settings.json")); err != nil || len(found) != 1 {
		t.Errorf("the settings are at %q, %v", found, err)
	}
	return spec, launched
}

func TestRealShim(t *testing.T) {
	b := newLab(t, nil)
	spec, launched := b.startReal(t)
	if err := syscall.Kill(launched.PID, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if got := b.exit(); got.Run != spec.Run || got.Code != 0 {
		log, _ := os.ReadFile(filepath.Join(b.config.DataDir, "shims", spec.folder()+".log"))
		t.Errorf("told %+v; the log: %s", got, log)
	}
	if n := carriers(t, spec.Marker); n > 0 {
		t.Errorf("%d processes are left", n)
	}
	if _, err := os.Stat(filepath.Join(b.folders(), spec.folder())); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of the run is left: %v", err)
	}
}

func TestRealShimIsKilled(t *testing.T) {
	b := newLab(t, nil)
	spec, launched := b.startReal(t)
	if err := syscall.Kill(launched.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if got := b.exit(); got.Signal != "killed" {
		t.Errorf("told %+v", got)
	}
	swept, err := b.SweepAll(t.Context())
	if err != nil || len(swept) != 1 || swept[0].Alive || swept[0].Marker != spec.Marker {
		t.Errorf("swept %+v, %v", swept, err)
	}
	if n := carriers(t, spec.Marker); n > 0 {
		t.Errorf("%d processes are left", n)
	}
	if entries, err := os.ReadDir(b.folders()); err != nil || len(entries) > 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
}
