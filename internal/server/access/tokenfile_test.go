//go:build unix

package access

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func TestLoadOrCreateToken(t *testing.T) {
	dir := t.TempDir()
	made, err := LoadOrCreateToken(dir)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, TokenFile)
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Fatalf("the file: %v, %v", info.Mode(), err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := newBook(nil, made).match(strings.TrimSpace(string(text))); !ok {
		t.Error("the file holds another token")
	}
	again, err := LoadOrCreateToken(dir)
	if err != nil || again != made {
		t.Errorf("the second time: %v, %v", again, err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("the folder holds %v, %v", files, err)
	}
	if _, err := loadToken(path, os.Geteuid()+1); err == nil || !strings.Contains(err.Error(), "another user") {
		t.Errorf("another user's file: %v", err)
	}
	if _, err := LoadOrCreateToken(filepath.Join(dir, "missing")); err == nil {
		t.Error("a token in a folder that is not there")
	}
}

func TestLoadOrCreateTokenAtOnce(t *testing.T) {
	dir := t.TempDir()
	tokens := make([]Token, 8)
	var wg sync.WaitGroup
	for i := range tokens {
		wg.Go(func() {
			var err error
			if tokens[i], err = LoadOrCreateToken(dir); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, other := range tokens {
		if other != tokens[0] {
			t.Fatal("two tokens were made")
		}
	}
}

func TestLoadTokenRefuses(t *testing.T) {
	good, _ := newToken("admin", AllScopes())
	write := func(text string, mode os.FileMode) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, test := range map[string]struct {
		make func(*testing.T, string)
		want string
	}{
		"read by others": {write(good, 0o640), "can be read by others (mode 0640)"},
		"written by all": {write(good, 0o602), "can be read by others"},
		"empty":          {write("", 0o600), "is no token"},
		"something else": {write("password", 0o600), "is no token"},
		"too short":      {write("sb_a_b", 0o600), "too short"},
		"a folder":       {func(t *testing.T, path string) { t.Helper(); noError(t, os.Mkdir(path, 0o700)) }, "no regular file"},
		"a pipe":         {func(t *testing.T, path string) { t.Helper(); noError(t, syscall.Mkfifo(path, 0o600)) }, "no regular file"},
		"a link": {func(t *testing.T, path string) {
			t.Helper()
			write(good, 0o600)(t, path+"2")
			noError(t, os.Symlink(path+"2", path))
		}, "is a link; remove it"},
		"a link to nought": {func(t *testing.T, path string) { t.Helper(); noError(t, os.Symlink(path+"2", path)) }, "is a link; remove it"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			test.make(t, filepath.Join(dir, TokenFile))
			_, err := LoadOrCreateToken(dir)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("LoadOrCreateToken: %v, want %q", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), good) {
				t.Error("the error holds the token")
			}
		})
	}
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
