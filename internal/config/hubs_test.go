package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/internal/config"
	"github.com/switchboard-dev/switchboard/internal/trust"
)

// privateDir returns a folder that only the user can change, whatever the system's folder for temporary files is.
func privateDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestHubs(t *testing.T) {
	file := filepath.Join(privateDir(t), "switchboard", "hubs.json")
	empty, err := config.LoadHubs(file)
	if err != nil || len(empty.Hubs) != 0 || empty.Current != "" {
		t.Fatalf("a file that does not exist: %+v, %v", empty, err)
	}
	work := config.Hub{URL: "https://hub.example:8765", Token: "sb_id_secret", Pin: "sha256:x", Device: true, Added: time.Date(2026, 11, 18, 7, 0, 0, 0, time.UTC)}
	change := func(f func(*config.Hubs)) {
		t.Helper()
		if err := config.ChangeHubs(file, func(h *config.Hubs) error { f(h); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	change(func(h *config.Hubs) { h.Hubs["work"], h.Current = work, "work" })
	got, err := config.LoadHubs(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&config.Hubs{Version: 1, Current: "work", Hubs: map[string]config.Hub{"work": work}}, got); diff != "" {
		t.Error(diff)
	}
	for path, want := range map[string]os.FileMode{file: 0o600, filepath.Dir(file): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want && runtime.GOOS != "windows" {
			t.Errorf("%s: %v, %v, want mode %o", path, info.Mode(), err, want)
		}
	}
	// A current hub that is gone is none.
	change(func(h *config.Hubs) { delete(h.Hubs, "work") })
	if got, err := config.LoadHubs(file); err != nil || got.Current != "" {
		t.Errorf("the current hub is %q, %v", got.Current, err)
	}
	// What fails changes nothing, and leaves nothing behind.
	failure := errors.New("no")
	if err := config.ChangeHubs(file, func(h *config.Hubs) error { h.Hubs["x"] = work; return failure }); !errors.Is(err, failure) {
		t.Errorf("got %v", err)
	}
	if got, err := config.LoadHubs(file); err != nil || len(got.Hubs) != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(file), ".hubs-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestHubsAtTheSameTime(t *testing.T) {
	file := filepath.Join(privateDir(t), "hubs.json")
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			err := config.ChangeHubs(file, func(h *config.Hubs) error {
				h.Hubs[fmt.Sprintf("hub%d", i)] = config.Hub{URL: "https://hub.example"}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got, err := config.LoadHubs(file); err != nil || len(got.Hubs) != 16 {
		t.Errorf("%d hubs, want 16: %v", len(got.Hubs), err)
	}
}

func TestHubsRefused(t *testing.T) {
	good := `{"version":1,"hubs":{"work":{"url":"https://hub.example","token":"sb_id_secret"}}}`
	for name, test := range map[string]struct {
		text  string
		mode  os.FileMode
		want  string
		trust bool
	}{
		"readable by others": {good, 0o640, "chmod 600", true},
		"writable by others": {good, 0o602, "chmod 600", true},
		"no JSON":            {"{", 0o600, "is damaged", false},
		"a later version":    {`{"version":2}`, 0o600, "use a newer switchboard", false},
		"no version":         {`{}`, 0o600, "version 0", false},
		"a hub without URL":  {`{"version":1,"hubs":{"work":{}}}`, 0o600, `"work"`, false},
		"a hub named local":  {`{"version":1,"hubs":{"local":{"url":"https://hub.example"}}}`, 0o600, `"local"`, false},
		"too large":          {strings.Repeat(" ", 1<<20+1), 0o600, "larger than", false},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(privateDir(t), "hubs.json")
			if err := os.WriteFile(file, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(file, test.mode); err != nil {
				t.Fatal(err)
			}
			_, err := config.LoadHubs(file)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v, want %q", err, test.want)
			}
			if _, is := errors.AsType[*trust.Error](err); is != test.trust {
				t.Errorf("%v is a trust.Error: %v", err, is)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("the error %q has the token", err)
			}
			// Nor is such a file written over.
			if err := config.ChangeHubs(file, func(*config.Hubs) error { return nil }); err == nil {
				t.Error("it was changed")
			}
		})
	}
	t.Run("a link", func(t *testing.T) {
		dir := privateDir(t)
		file, link := filepath.Join(dir, "other.json"), filepath.Join(dir, "hubs.json")
		if err := errors.Join(os.WriteFile(file, []byte(good), 0o600), os.Symlink(file, link)); err != nil {
			t.Fatal(err)
		}
		if _, err := config.LoadHubs(link); err == nil || !strings.Contains(err.Error(), "symbolic link") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a folder of others", func(t *testing.T) {
		dir := filepath.Join(privateDir(t), "open")
		if err := errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o777)); err != nil {
			t.Fatal(err)
		}
		if err := config.ChangeHubs(filepath.Join(dir, "hubs.json"), func(*config.Hubs) error { return nil }); err == nil {
			t.Error("tokens were kept where others can change them")
		}
	})
	t.Run("no place", func(t *testing.T) {
		if err := config.ChangeHubs("", func(*config.Hubs) error { return nil }); err == nil {
			t.Error("hubs were kept nowhere")
		}
		if h, err := config.LoadHubs(""); err != nil || len(h.Hubs) != 0 {
			t.Errorf("got %+v, %v", h, err)
		}
	})
	t.Run("too many", func(t *testing.T) {
		file := filepath.Join(privateDir(t), "hubs.json")
		err := config.ChangeHubs(file, func(h *config.Hubs) error {
			for i := range 101 {
				h.Hubs[fmt.Sprint("h", i)] = config.Hub{URL: "https://hub.example"}
			}
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), "more than 100") {
			t.Errorf("got %v", err)
		}
	})
}

func TestCheckHubName(t *testing.T) {
	for name, good := range map[string]bool{
		"work": true, "hub.example.com": true, "192.0.2.1-8765": true, "a": true, strings.Repeat("a", 63): true,
		"local": false, "": false, "-x": false, ".": false, "a b": false, "https://x": false, "a/b": false, strings.Repeat("a", 64): false, "ä": false, "a\n": false,
	} {
		if err := config.CheckHubName(name); (err == nil) != good {
			t.Errorf("%q: %v", name, err)
		}
	}
}
