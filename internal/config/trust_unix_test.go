//go:build unix

package config

import (
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
	if _, err := Load(file, true, env()); err == nil || !strings.Contains(err.Error(), "chmod o-w") {
		t.Errorf("a file that everybody may write: %v", err)
	}
	if err := os.Chmod(file, 0o664); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(file, true, env()); err != nil {
		t.Errorf("a file of the user's group: %v", err)
	}
}
