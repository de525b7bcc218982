package rulefile

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
)

// text reads the rules file through the File.
func (l *lab) text() *api.RulesFile {
	l.Helper()
	file, err := l.rules.Text()
	if err != nil {
		l.Fatal(err)
	}
	return file
}

// refused expects an error with a status and some words.
func (l *lab) refused(err error, status int, part string) {
	l.Helper()
	problem, ok := errors.AsType[*api.Error](err)
	if !ok || problem.Status != status || !strings.Contains(problem.Error(), part) {
		l.Errorf("%v, expected status %d with %q", err, status, part)
	}
}

func TestReplace(t *testing.T) {
	l := newLab(t, "deny = [\"Bash(rm:*)\"]\n")
	file := l.text()
	if file.Path != l.file || file.Text != "deny = [\"Bash(rm:*)\"]\n" || file.Hash != Sum([]byte(file.Text)) {
		t.Fatalf("the file is %+v", file)
	}
	changed := l.rules.Changed()
	// What narrows holds at once.
	narrower := "deny = [\"Bash(rm:*)\", \"Bash(dd:*)\"]\n"
	if err := l.rules.Replace(narrower, file.Hash); err != nil {
		t.Fatal(err)
	}
	l.want("rm x", "deny", "dd x", "deny")
	select {
	case <-changed:
	default:
		t.Error("nobody is told")
	}
	if info, err := os.Stat(l.file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info, err)
	}
	l.refused(l.rules.Replace("", file.Hash), http.StatusConflict, "another one by now")
	// What widens waits.
	wider := "deny = [\"Bash(rm:*)\"]\nallow = [\"Bash(make:*)\"]\n"
	if err := l.rules.Replace(wider, l.text().Hash); err != nil {
		t.Fatal(err)
	}
	l.want("dd x", "deny", "make", "")
	l.waits("make")
	l.confirm()
	l.want("dd x", "", "make", "allow")
	if got := l.text().Text; got != wider {
		t.Errorf("the file is %q", got)
	}
	// The next look finds nothing new.
	before := l.rules.Changed()
	l.settle()
	select {
	case <-before:
		t.Error("the file was taken for a change once more")
	default:
	}
	if left, err := filepath.Glob(filepath.Join(l.dir, "rules.toml.*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

func TestReplaceWrong(t *testing.T) {
	const text = "deny = [\"Bash(rm:*)\"]\n"
	l := newLab(t, text)
	hash := l.text().Hash
	l.refused(l.rules.Replace("allow = [\"WebSearch\"]\nask = 7\n", hash), http.StatusUnprocessableEntity, l.file+":2:")
	l.refused(l.rules.Replace("allow = [\"Bash(\"]\n", hash), http.StatusUnprocessableEntity, l.file+":1:")
	l.refused(l.rules.Replace("# "+strings.Repeat("x", maxText), hash), http.StatusRequestEntityTooLarge, "1 MiB")
	if got := l.text().Text; got != text {
		t.Errorf("the file is %q", got)
	}
	l.problem("")
	// What another program has written meanwhile is not lost, even if the File has not
	// seen it yet.
	l.write("# theirs\n" + text)
	l.refused(l.rules.Replace("# mine\n"+text, hash), http.StatusConflict, "another one by now")
	if got := l.text().Text; got != "# theirs\n"+text {
		t.Errorf("the file is %q", got)
	}
}

func TestReplaceMissing(t *testing.T) {
	l := newLab(t, "-")
	l.file = filepath.Join(l.dir, "deep", "er", "rules.toml")
	l.open()
	file := l.text()
	if file.Text != "" || file.Hash != Sum(nil) {
		t.Fatalf("a file that is not there is %+v", file)
	}
	if err := l.rules.Replace("deny = [\"Bash(rm:*)\"]\n", file.Hash); err != nil {
		t.Fatal(err)
	}
	l.want("rm x", "deny")
	if info, err := os.Stat(filepath.Dir(l.file)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its folder is %v, %v", info, err)
	}
}

func TestReplaceLink(t *testing.T) {
	l := newLab(t, "-")
	real := filepath.Join(l.dir, "dotfiles.toml")
	if err := os.WriteFile(real, []byte("# here\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, l.file); err != nil {
		t.Fatal(err)
	}
	if err := l.rules.Replace("deny = [\"Bash(rm:*)\"]\n", l.text().Hash); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(l.file); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info, err)
	}
	if text, err := os.ReadFile(real); err != nil || !strings.Contains(string(text), "rm") {
		t.Errorf("what it leads to is %q, %v", text, err)
	}
	if err := os.Remove(real); err != nil {
		t.Fatal(err)
	}
	l.refused(l.rules.Replace("", l.text().Hash), http.StatusServiceUnavailable, "leads nowhere")
}

func TestReplaceNothing(t *testing.T) {
	l := newLab(t, "-")
	l.file = ""
	l.open()
	_, err := l.rules.Text()
	l.refused(err, http.StatusConflict, "no rules file")
	l.refused(l.rules.Replace("", Sum(nil)), http.StatusConflict, "no rules file")
	if _, err := l.rules.Try("deny = [\"Bash(rm:*)\"]\n"); err != nil {
		t.Errorf("rules that are only tried: %v", err)
	}
}
