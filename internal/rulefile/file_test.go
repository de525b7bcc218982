package rulefile

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A lab is a rules file and a store, and the File that is open on them.
type lab struct {
	*testing.T
	dir, file, store string
	log              bytes.Buffer // written by the File, read while it does nothing
	rules            *File
}

// newLab makes the files with a first text of the rules; "-" for none.
func newLab(t *testing.T, text string) *lab {
	l := &lab{T: t, dir: t.TempDir()}
	l.file, l.store = filepath.Join(l.dir, "rules.toml"), filepath.Join(l.dir, "rules.confirmed")
	if text != "-" {
		l.write(text)
	}
	l.open()
	return l
}

// open opens a File, or the next one on the same files. It does not look at the file by itself: the lab says when.
func (l *lab) open() {
	l.Helper()
	if l.rules != nil {
		l.rules.Close()
	}
	rules, err := Open(l.Context(), l.options())
	if err != nil {
		l.Fatal(err)
	}
	l.Cleanup(rules.Close)
	l.rules = rules
}

func (l *lab) options() Options {
	return Options{
		File: l.file, Store: l.store, Policy: policy.Options{Home: "/home/x", Own: []string{"/own"}, Resolve: func(path string) (string, error) { return path, nil }},
		Logger: slog.New(slog.NewTextHandler(&l.log, nil)), Every: 1000 * time.Hour,
	}
}

// write writes the rules file in place.
func (l *lab) write(text string) {
	l.Helper()
	if err := os.WriteFile(l.file, []byte(text), 0o600); err != nil {
		l.Fatal(err)
	}
}

// edit writes the rules file and has the File see it.
func (l *lab) edit(text string) {
	l.Helper()
	l.write(text)
	l.settle()
}

// settle has the File look twice.
func (l *lab) settle() {
	l.rules.checkFile()
	l.rules.checkFile()
}

// decide returns the decision about a command, "" if there is none.
func (l *lab) decide(command string) policy.Decision {
	l.Helper()
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		l.Fatal(err)
	}
	return l.rules.Engine().Decide(policy.Call{Tool: "Bash", Input: input, Dir: "/home/x/p", Now: time.Now()}).Decision
}

// want checks decisions: pairs of a command and a decision.
func (l *lab) want(pairs ...string) {
	l.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if got := l.decide(pairs[i]); string(got) != pairs[i+1] {
			l.Errorf("%s: %q, want %q", pairs[i], got, pairs[i+1])
		}
	}
}

// waits checks what waits for confirmation: parts of the sentences; none for nothing. It returns the sum.
func (l *lab) waits(parts ...string) string {
	l.Helper()
	status := l.rules.Status()
	if status.Pending == nil {
		if len(parts) > 0 {
			l.Errorf("nothing waits for confirmation; problem %q", status.Problem)
		}
		return ""
	}
	all := strings.Join(status.Pending.Widens, "\n")
	if len(parts) == 0 {
		l.Errorf("something waits for confirmation:\n%s", all)
	}
	for _, part := range parts {
		if !strings.Contains(all, part) {
			l.Errorf("nothing that waits speaks of %q:\n%s", part, all)
		}
	}
	return status.Pending.Sum
}

// confirm confirms what waits.
func (l *lab) confirm() {
	l.Helper()
	waits := l.rules.Status().Pending
	if waits == nil {
		l.Fatal("nothing waits for confirmation")
	}
	if err := l.rules.Confirm(waits.Sum); err != nil {
		l.Fatal(err)
	}
}

// problem checks what is said to be wrong; "" for nothing.
func (l *lab) problem(part string) {
	l.Helper()
	if got := l.rules.Status().Problem; part == "" && got != "" || !strings.Contains(got, part) {
		l.Errorf("the problem is %q, want %q", got, part)
	}
}

const (
	allowsMake = "allow = [\"Bash(make:*)\"]\n"
	deniesRm   = "deny = [\"Bash(rm:*)\"]\n"
)

func TestMissing(t *testing.T) {
	l := newLab(t, "-")
	l.problem("")
	l.waits()
	l.want("make x", "", "rm x", "", "cat /own/file", "deny")
	if _, err := os.Stat(l.store); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was written down as confirmed: %v", err)
	}
	if !l.rules.Status().Missing {
		t.Error("the status does not say that the file is missing")
	}
	l.edit(deniesRm)
	l.want("rm x", "deny", "cat /own/file", "deny")
	l.waits()
	if l.rules.Status().Missing {
		t.Error("the status still says that the file is missing")
	}
}

// TestFirst says that even the first rules file needs a confirmation if it allows something: whoever wrote it may not have been the user.
func TestFirst(t *testing.T) {
	l := newLab(t, allowsMake+deniesRm)
	l.want("make x", "", "rm x", "deny")
	sum := l.waits("make")
	if len(sum) != 32 || sum != Sum([]byte(allowsMake+deniesRm)) {
		t.Errorf("the sum is %q", sum)
	}
	if !strings.Contains(l.log.String(), "switchboard policy confirm") {
		t.Errorf("the log does not say what to do:\n%s", &l.log)
	}
	changed := l.rules.Changed()
	l.confirm()
	select {
	case <-changed:
	default:
		t.Error("nobody was told of the change")
	}
	l.want("make x", "allow", "rm x", "deny")
	l.waits()
	// A second confirmation of the same is as good as the first.
	if err := l.rules.Confirm(sum); err != nil {
		t.Error(err)
	}
}

func TestNarrowing(t *testing.T) {
	l := newLab(t, allowsMake)
	l.confirm()
	l.edit(allowsMake + deniesRm)
	l.waits()
	l.want("make x", "allow", "rm x", "deny")
	l.edit(deniesRm)
	l.waits()
	l.want("make x", "", "rm x", "deny")
	// What was given up does not come back by itself.
	l.edit(allowsMake + deniesRm)
	l.waits("make")
	l.want("make x", "", "rm x", "deny")
}

func TestWidening(t *testing.T) {
	l := newLab(t, deniesRm)
	l.waits()
	l.edit("deny = [\"Bash(curl:*)\"]\nallow = [\"Bash(make:*)\"]\n")
	l.waits("rm", "make")
	// What the new one denies holds at once, what it no longer denies is denied still.
	l.want("make x", "", "rm x", "deny", "curl x", "deny")
	// Taking it back needs nobody.
	l.edit(deniesRm)
	l.waits()
	l.want("make x", "", "rm x", "deny", "curl x", "")
}

// TestRemoved says that a file that vanishes takes no rule away that denies.
func TestRemoved(t *testing.T) {
	l := newLab(t, allowsMake+deniesRm)
	l.confirm()
	if err := os.Remove(l.file); err != nil {
		t.Fatal(err)
	}
	l.settle()
	l.waits("rm")
	l.want("rm x", "deny")
	l.open()
	l.waits("rm")
	l.want("rm x", "deny")
	l.confirm()
	l.waits()
	l.want("rm x", "", "make x", "")
	l.open()
	l.waits()
}

func TestBroken(t *testing.T) {
	l := newLab(t, allowsMake+deniesRm)
	l.confirm()
	read := l.rules.Status().Loaded
	for _, broken := range [][2]string{
		{"allow = [\"Bash(make:*)\"\ndeny", "rules.toml:"},
		{"allows = []\n", "allows"},
		{"allow = [\"Bash(\"]\n", "rules.toml:1"},
		{"# " + strings.Repeat("x", 1<<20), "1 MiB"},
	} {
		text, want := broken[0], broken[1]
		changed := l.rules.Changed()
		l.edit(text)
		l.problem(want)
		l.waits()
		l.want("make x", "allow", "rm x", "deny")
		select {
		case <-changed:
		default:
			t.Error("nobody was told of the problem")
		}
		if !l.rules.Status().Loaded.Equal(read) {
			t.Error("a broken file counts as read")
		}
		err := l.rules.Confirm(Sum([]byte(text)))
		if refused, ok := errors.AsType[*api.Error](err); !ok || refused.Status != http.StatusConflict || !strings.Contains(refused.Detail, want) {
			t.Errorf("confirming a broken file: %v", err)
		}
	}
	if !strings.Contains(l.log.String(), "the rules before it hold") {
		t.Errorf("the log says nothing:\n%s", &l.log)
	}
	// The same after a restart.
	l.open()
	l.problem("1 MiB")
	l.want("make x", "allow", "rm x", "deny")
	l.edit(allowsMake + deniesRm)
	l.problem("")
	l.waits()
}

// TestHalfWritten looks while somebody writes: what is seen once only is not taken for a change.
func TestHalfWritten(t *testing.T) {
	l := newLab(t, allowsMake)
	l.confirm()
	l.write("")
	if l.rules.checkFile() {
		t.Error("the file is as it was, it says")
	}
	l.write(allowsMake)
	if !l.rules.checkFile() {
		t.Error("the file is another, it says")
	}
	l.waits()
	l.want("make x", "allow")
	// Nor if somebody confirms something just then.
	l.write("")
	if err := l.rules.Confirm(Sum([]byte(deniesRm))); err == nil {
		t.Error("a text was confirmed that is not there")
	}
	l.want("make x", "allow")
	l.edit(allowsMake)
	l.waits()
	// The same with a text in between that is never seen twice.
	l.write("")
	l.rules.checkFile()
	l.write("# nothing\n")
	l.rules.checkFile()
	l.want("make x", "allow")
	l.rules.checkFile()
	l.want("make x", "")
}

func TestRename(t *testing.T) {
	l := newLab(t, allowsMake)
	l.confirm()
	other := filepath.Join(l.dir, "new")
	if err := os.WriteFile(other, []byte(deniesRm), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(other, l.file); err != nil {
		t.Fatal(err)
	}
	l.settle()
	l.want("make x", "", "rm x", "deny")
}

func TestConfirmWrong(t *testing.T) {
	l := newLab(t, allowsMake)
	for _, sum := range []string{"", "x", Sum(nil), Sum([]byte(deniesRm)), strings.ToUpper(l.waits("make")), l.waits("make")[:31]} {
		err := l.rules.Confirm(sum)
		if refused, ok := errors.AsType[*api.Error](err); !ok || refused.Status != http.StatusConflict || refused.Hint == "" {
			t.Errorf("confirming %q: %v", sum, err)
		}
	}
	l.want("make x", "")
	// The file changes between the look and the confirmation.
	shown := l.waits("make")
	l.write("allow = [\"Bash(rm:*)\"]\n")
	if err := l.rules.Confirm(shown); err == nil {
		t.Error("another text was confirmed")
	}
	l.want("make x", "", "rm x", "")
	// What is in the file can be confirmed even if nobody has looked since.
	if err := l.rules.Confirm(Sum([]byte("allow = [\"Bash(rm:*)\"]\n"))); err != nil {
		t.Error(err)
	}
	l.want("rm x", "allow")
	if err := l.rules.Confirm(shown); err == nil {
		t.Error("a text was confirmed that is not there")
	}
	l.want("make x", "", "rm x", "allow")
}

func TestRestart(t *testing.T) {
	l := newLab(t, allowsMake)
	l.open()
	l.waits("make")
	l.confirm()
	l.open()
	l.waits()
	l.want("make x", "allow")
	// What changes while nobody looks is judged by what was confirmed.
	l.write(allowsMake + "ask = [\"Bash(git:*)\"]\n")
	l.open()
	l.waits()
	l.want("git x", "ask")
	l.write(allowsMake)
	l.open()
	l.waits("git")
	l.want("make x", "allow", "git x", "ask")
	if info, err := os.Stat(l.store); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the store: %v, %v", info, err)
	}
	if left, err := filepath.Glob(l.store + ".*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// TestRestartBroken has what a version that nobody has confirmed denies hold over a restart, even if the file is broken by then.
func TestRestartBroken(t *testing.T) {
	l := newLab(t, allowsMake+deniesRm)
	l.want("make x", "", "rm x", "deny")
	l.write("deny = [")
	l.open()
	l.problem("rules.toml")
	l.waits()
	l.want("make x", "", "rm x", "deny")
	l.open() // nor does it matter how often
	l.want("make x", "", "rm x", "deny")

	// What was confirmed goes on to hold with it.
	l.edit(allowsMake + deniesRm)
	l.confirm()
	l.edit(allowsMake + deniesRm + "[[rule]]\nrule = \"Bash(ls:*)\"\ndecision = \"ask\"\n[[rule]]\nrule = \"Bash(cc:*)\"\ndecision = \"allow\"\n")
	l.write("deny = [")
	l.open()
	l.want("make x", "allow", "rm x", "deny", "ls x", "ask", "cc x", "")

	// A version that waits no more is forgotten.
	l.edit(allowsMake)
	l.confirm()
	l.write("deny = [")
	l.open()
	l.want("make x", "allow", "rm x", "", "ls x", "")
}

// TestStoreSpoilt has everything confirmed again if what was confirmed is broken, gone, or not ours alone.
func TestStoreSpoilt(t *testing.T) {
	spoil := map[string]func(l *lab) error{
		"gone":               func(l *lab) error { return os.Remove(l.store) },
		"broken":             func(l *lab) error { return os.WriteFile(l.store, []byte("allow = 3"), 0o600) },
		"written by others":  func(l *lab) error { return os.Chmod(l.store, 0o602) },
		"written by a group": func(l *lab) error { return os.Chmod(l.store, 0o620) },
		"a link": func(l *lab) error {
			return errors.Join(os.Rename(l.store, l.store+"2"), os.Symlink(l.store+"2", l.store))
		},
		"a folder": func(l *lab) error { return errors.Join(os.Remove(l.store), os.Mkdir(l.store, 0o700)) },
	}
	for name, spoil := range spoil {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, allowsMake+deniesRm)
			l.confirm()
			if err := spoil(l); err != nil {
				t.Fatal(err)
			}
			l.log.Reset()
			l.open()
			l.waits("make")
			l.want("make x", "", "rm x", "deny")
			if said := strings.Contains(l.log.String(), "has to be confirmed again"); said != (name != "gone") {
				t.Errorf("the log:\n%s", &l.log)
			}
		})
	}
}

// TestStoreUnwritable refuses a confirmation that would not outlive a restart; what narrows holds all the same.
func TestStoreUnwritable(t *testing.T) {
	l := newLab(t, allowsMake)
	l.rules.options.Store = filepath.Join(l.dir, "nowhere", "store")
	err := l.rules.Confirm(l.waits("make"))
	if refused, ok := errors.AsType[*api.Error](err); !ok || refused.Code != api.CodeStorage {
		t.Errorf("confirming without a store: %v", err)
	}
	l.want("make x", "")
	l.waits("make")
	l.edit(deniesRm)
	l.want("rm x", "deny")
	l.problem("cannot be written down")
}

func TestStatus(t *testing.T) {
	l := newLab(t, `enforce = "hook"
deny = ["Bash(rm:*)"]
[[rule]]
rule = "Bash(curl:*)"
decision = "deny"
message = "Use WebFetch."
expires = 2999-12-01T00:00:00Z
[[folder]]
path = "~/p"
ask = ["WebFetch"]
allow = ["Bash(make:*)"]
`)
	l.confirm()
	status := l.rules.Status()
	if status.File != l.file || status.Enforce != "hook" || status.Loaded.IsZero() || status.Problem != "" || status.Pending != nil {
		t.Errorf("%+v", status)
	}
	found := map[string]api.PolicyRule{}
	for _, r := range status.Rules {
		if r.Scope != string(policy.ScopeBuiltin) {
			r.Source = ""
			found[r.Rule] = r
		}
	}
	want := map[string]api.PolicyRule{
		"Bash(rm:*)":   {Rule: "Bash(rm:*)", Decision: "deny", Scope: "global", Enforced: "both"},
		"Bash(curl:*)": {Rule: "Bash(curl:*)", Decision: "deny", Scope: "global", Message: "Use WebFetch.", Expires: time.Date(2999, 12, 1, 0, 0, 0, 0, time.UTC), Enforced: "hub"},
		"WebFetch":     {Rule: "WebFetch", Decision: "ask", Scope: "folder", Enforced: "both"},
		"Bash(make:*)": {Rule: "Bash(make:*)", Decision: "allow", Scope: "folder", Enforced: "hub"},
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestWatch has the File look by itself.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lab{T: t, dir: t.TempDir()}
		l.file, l.store = filepath.Join(l.dir, "rules.toml"), filepath.Join(l.dir, "rules.confirmed")
		o := l.options()
		o.Every, o.Logger = 0, nil
		rules, err := Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		defer rules.Close()
		l.rules = rules
		for range 3 {
			begun := time.Now()
			changed := rules.Changed()
			l.write(deniesRm)
			<-changed
			l.want("rm x", "deny")
			if took := time.Since(begun); took > defaultEvery*5/4 {
				t.Errorf("a change was seen after %s", took)
			}
			changed = rules.Changed()
			l.write(deniesRm + allowsMake)
			<-changed
			l.waits("make")
			changed = rules.Changed()
			l.write("deny = [")
			<-changed
			l.problem("rules.toml:1")
		}
	})
}

// TestWithoutFile has no file to look at, and no goroutine that looks.
func TestWithoutFile(t *testing.T) {
	l := &lab{T: t, dir: t.TempDir()}
	l.store = filepath.Join(l.dir, "rules.confirmed")
	l.open()
	l.want("rm x", "", "cat /own/file", "deny")
	if status := l.rules.Status(); status.File != "" || status.Problem != "" || status.Pending != nil {
		t.Errorf("%+v", status)
	}
}
