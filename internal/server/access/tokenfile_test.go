//go:build linux || darwin

package access

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestTokenFile: a file of an earlier version, or of the user's own, is honored, none
// is made, and to revoke its token removes it.
func TestTokenFile(t *testing.T) {
	dir := privateDir(t)
	none, err := LoadToken(dir)
	if err != nil || none != (Token{}) {
		t.Errorf("without a file: %+v, %v", none, err)
	}
	b := openTokens(t, dir)
	if list, err := b.List(boss(t)); err != nil || len(list) != 0 {
		t.Errorf("a new server has the tokens %+v, %v", list, err)
	}
	if _, ok := b.match("sb__", nil); ok {
		t.Error("no token is one")
	}
	noError(t, b.Close())
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("the folder holds %v, %v", files, err)
	}

	path := filepath.Join(dir, TokenFile)
	text, made := newToken("admin", AllScopes())
	noError(t, os.WriteFile(path, []byte(text+"\n"), 0o600))
	if _, err := loadToken(path, os.Geteuid()+1); err == nil || !strings.Contains(err.Error(), "another user") {
		t.Errorf("another user's file: %v", err)
	}
	b = openTokens(t, dir)
	list, err := b.List(boss(t))
	if err != nil || len(list) != 1 || list[0].ID != made.ID || list[0].Kind != "admin" || list[0].Created.IsZero() {
		t.Fatalf("the tokens are %+v, %v", list, err)
	}
	if id := bearing(t, b, text); id.Scopes != AllScopes() {
		t.Errorf("its bearer is %+v", id)
	}
	watched, stop := Watch(t.Context(), bearing(t, b, text))
	defer stop()
	noError(t, b.Revoke(boss(t), made.ID))
	<-watched.Done()
	if _, ok := b.match(text, nil); ok {
		t.Error("it is good although it was revoked")
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("the file is still there")
	}
	if list, err := b.List(boss(t)); err != nil || len(list) != 0 {
		t.Errorf("afterwards the tokens are %+v, %v", list, err)
	}
	if got := refusal(t, b.Revoke(boss(t), made.ID)); got != "404 not_found" {
		t.Errorf("revoked twice: %s", got)
	}
	if _, ok := openTokens(t, dir).match(text, nil); ok {
		t.Error("it is good again after a restart")
	}
}

// TestTokenFileStays: a token is good as long as its file cannot be removed.
func TestTokenFileStays(t *testing.T) {
	dir := privateDir(t)
	text, made := newToken("admin", AllScopes())
	path := filepath.Join(dir, TokenFile)
	noError(t, os.WriteFile(path, []byte(text), 0o600))
	b := openTokens(t, dir)
	noError(t, os.Remove(path))
	noError(t, os.MkdirAll(filepath.Join(path, "x"), 0o700)) // which cannot be removed
	if got := refusal(t, b.Revoke(boss(t), made.ID)); got != "503 storage" {
		t.Errorf("revoked: %s", got)
	}
	if _, ok := b.match(text, nil); !ok {
		t.Error("it is good no more, and would be again after a restart")
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
		"a folder":       {func(t *testing.T, path string) { t.Helper(); noError(t, os.Mkdir(path, 0o700)) }, "isn't a regular file"},
		"a pipe":         {func(t *testing.T, path string) { t.Helper(); noError(t, syscall.Mkfifo(path, 0o600)) }, "isn't a regular file"},
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
			_, err := LoadToken(dir)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("LoadToken: %v, want %q", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), good) {
				t.Error("the error holds the token")
			}
		})
	}
}
