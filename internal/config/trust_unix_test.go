//go:build unix

package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDistrust(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(file, true, env()); err == nil || !strings.Contains(err.Error(), "chmod go-w") {
		t.Errorf("a file that everybody may write: %v", err)
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(file, true, env()); err != nil {
		t.Errorf("a file of ours: %v", err)
	}
	// A folder that others can write to, where the file is, and where a link to it is.
	shared := filepath.Join(t.TempDir(), "shared")
	link, moved := filepath.Join(filepath.Dir(shared), "link.toml"), filepath.Join(shared, "config.toml")
	if err := errors.Join(os.Mkdir(shared, 0o700), os.Chmod(shared, 0o777), os.WriteFile(moved, nil, 0o600), os.Symlink(moved, link)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{moved, link} {
		if _, err := Load(name, true, env()); err == nil || !strings.Contains(err.Error(), "chmod go-w "+shared) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := errors.Join(os.Chmod(shared, 0o755), os.Symlink(file, filepath.Join(shared, "good.toml"))); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(filepath.Join(shared, "good.toml"), true, env()); err != nil {
		t.Errorf("a link of ours: %v", err)
	}
}
