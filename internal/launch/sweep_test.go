//go:build unix

package launch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestSweepAll(t *testing.T) {
	b := newLab(t, nil)
	if swept, err := b.SweepAll(t.Context()); err != nil || len(swept) > 0 {
		t.Fatalf("with nothing there: %+v, %v", swept, err)
	}
	alive, aliveLaunched, _ := b.start("parent")
	dead, deadLaunched, deadReport := b.start("parent")
	if err := syscall.Kill(deadLaunched.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	b.exit()
	if !b.Alive(deadReport.Child, "") {
		t.Fatal("the child has died with its shim; the test proves nothing")
	}
	unborn := filepath.Join(b.folders(), "sunborn-1")
	damaged := filepath.Join(b.folders(), "sdamaged-1")
	for _, folder := range []string{unborn, filepath.Join(damaged, "switchboard-cli-1")} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(damaged, recordName), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	oldLog := filepath.Join(b.config.DataDir, "shims", "sold-1.log")
	if err := os.WriteFile(oldLog, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(oldLog, time.Time{}, time.Now().Add(-logAge-time.Hour)); err != nil {
		t.Fatal(err)
	}

	// A launcher that knows nothing but the folder, as after a restart.
	again := newLab(t, func(c *Config) { c.DataDir, c.Socket = b.config.DataDir, b.config.Socket })
	swept, err := again.SweepAll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	killed := 1
	if runtime.GOOS != "linux" {
		killed = 0
	}
	want := []Swept{
		{alive.Session, alive.Run, alive.Marker, aliveLaunched.PID, true, 0},
		{dead.Session, dead.Run, dead.Marker, deadLaunched.PID, false, killed},
	}
	slices.SortFunc(swept, func(a, b Swept) int { return a.Run - b.Run })
	if !slices.Equal(swept, want) {
		t.Errorf("swept    %+v\nexpected %+v", swept, want)
	}
	if runtime.GOOS == "linux" && b.Alive(deadReport.Child, "") {
		t.Error("the child of the dead shim lives")
	}
	for _, path := range []string{unborn, damaged, filepath.Join(b.folders(), dead.folder()), oldLog} {
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s remains", path)
		}
	}
	for _, path := range []string{filepath.Join(b.folders(), alive.folder()), filepath.Join(b.config.DataDir, "shims", alive.folder()+".log")} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	if !again.Alive(aliveLaunched.PID, aliveLaunched.PIDStart) {
		t.Error("the shim that lived has been swept")
	}
}

func TestSweepBeforeStart(t *testing.T) {
	b := newLab(t, nil)
	spec, launched, first := b.start("parent")
	if err := syscall.Kill(launched.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	b.exit()
	_, path := b.spec("tell")
	spec.Options.Env[reportEnv] = path
	b.startSpec(spec, path)
	if runtime.GOOS == "linux" && b.Alive(first.Child, "") {
		t.Error("what the dead shim of the same run has left lives on")
	}
}

func TestSweep(t *testing.T) {
	b := newLab(t, nil)
	spec, launched, r := b.start("parent")
	killed, err := b.Sweep(t.Context(), spec.Marker)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "linux" {
		return // processes cannot be found by their environment
	}
	if killed != 2 || b.Alive(launched.PID, launched.PIDStart) || b.Alive(r.Child, "") {
		t.Errorf("ended %d processes", killed)
	}
	if _, err := os.Stat(filepath.Join(b.folders(), spec.folder())); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of the run is left: %v", err)
	}
	if _, err := b.Sweep(t.Context(), "x"); err == nil {
		t.Error("a marker that anybody could have is swept")
	}
}

func TestScope(t *testing.T) {
	for _, test := range []struct {
		name, busctl string
		socket       bool
		asked        bool
	}{
		{"moved", "exit 0", true, true},
		{"refused", "echo no >&2; exit 1", true, true},
		{"nobody there", "exit 0", false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			bin, runtimeDir := t.TempDir(), t.TempDir()
			said := filepath.Join(bin, "said")
			if err := os.WriteFile(filepath.Join(bin, "busctl"), []byte("#!/bin/sh\nprintf '%s\\n' \"$@\" >'"+said+"'\n"+test.busctl+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(filepath.Join(runtimeDir, "systemd"), 0o700); err != nil {
				t.Fatal(err)
			}
			if test.socket {
				if err := os.WriteFile(filepath.Join(runtimeDir, "systemd", "private"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			b := newLab(t, func(c *Config) {
				c.Scopes = true
				c.Env = append(c.Env, "PATH="+bin+":"+get(c.Env, "PATH"), "XDG_RUNTIME_DIR="+runtimeDir)
			})
			spec, launched, _ := b.start("tell")
			data, err := os.ReadFile(said)
			if asked := err == nil; asked != test.asked {
				t.Fatalf("asked: %v", asked)
			}
			args := strings.Fields(string(data))
			if test.asked && !has(args, "--user", "StartTransientUnit", "switchboard-"+spec.folder()+".scope", "PIDs", strconv.Itoa(launched.PID)) {
				t.Errorf("asked %q", args)
			}
		})
	}
}
