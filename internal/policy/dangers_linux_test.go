package policy

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A realDanger is a command that does what a rule seems not to allow.
type realDanger struct {
	// rules are what it is judged by, as in testdata/decisions.tsv.
	rules, command string
	// prints is what its output has, leaves the file below the home folder that it
	// makes, with holds in it.
	prints, leaves, holds string
	// needs is the program that may be missing.
	needs string
}

const (
	secretText = "BEGIN OF A SECRET KEY"
	tokenText  = "sb_a_made_up_token"
)

var realDangers = []realDanger{
	{rules: "allow Bash(go test:*)", command: "go test -debug-actiongraph=../graph.json .", leaves: "graph.json", holds: `"Mode"`},
	{rules: "allow Bash(go build:*)", command: "go build -debug-trace=../trace.json .", leaves: "trace.json", holds: "build command"},
	{rules: "allow Bash(go list:*)", command: "go list -debug-runtime-trace=../runtime.trace .", leaves: "runtime.trace", holds: "go 1."},
	{rules: "set read-only", command: "diff d1 d2", prints: secretText},
	{rules: "set read-only", command: "diff d1 same", prints: secretText},
	{rules: "allow Bash ; deny Read(~/.ssh/**)", command: "diff d1 d2", prints: secretText},
	{rules: "set read-only", command: "strings @opts", prints: secretText, needs: "strings"},
	{rules: "set read-only", command: "strings -n @more a", prints: secretText, needs: "strings"},
	{rules: "allow Bash(strings:*)", command: "strings @opts", prints: secretText, needs: "strings"},
	{rules: "allow Bash ; deny Read(~/.ssh/**)", command: "strings @opts", prints: secretText, needs: "strings"},
	{rules: "allow Bash ; deny Read(~/.ssh/**)", command: "cd; cat .ssh/id_rsa", prints: secretText},
	{rules: "allow Bash ; deny Read(~/.ssh/**)", command: "env -iC .. cat .ssh/id_rsa", prints: secretText},
	{rules: "allow Bash ; deny Read(~/.ssh/**)", command: "env --chd=.. cat .ssh/id_rsa", prints: secretText},
	{rules: "allow Bash ; deny Read(~/.ssh/**)", command: "ln -s .. up && cat up/.ssh/id_rsa", prints: secretText},
	{rules: "allow Bash ; deny Read(~/.ssh/**)", command: "mv above moved && cat moved/.ssh/id_rsa", prints: secretText},
	{rules: "allow Bash ; deny Read(~/.ssh/**)", command: "grep -d recurse SECRET ~", prints: secretText},
	{rules: "allow Bash ; deny Read(~/.ssh/**)", command: "git diff --no-index .. d2", prints: secretText},
	{rules: "allow Bash", command: "cd && cat .local/share/switchboard/admin.token", prints: tokenText},
	{rules: "allow Bash", command: "cd ~ && cat .local/share/switchboard/admin.token", prints: tokenText},
	{rules: "allow Bash", command: "env -iC .. cat .local/share/switchboard/admin.token", prints: tokenText},
	{rules: "allow Bash", command: "cd n01; cd n02; cd n03; cd n04; cd n05; cd n06; cd n07; cd n08; cd n09; cd n10; cd n11; cd n12; cd n13; cd n14; cd n15; cd n16; cd ..; cat .local/share/switchboard/admin.token", prints: tokenText},
	{rules: "allow Bash(split:*)", command: "split --filter='cat > ../$FILE.ran' a", leaves: "xaa.ran", holds: "one"},
	{rules: "allow Bash(split:*)", command: "split --filt='cat > ../$FILE.ran' a", leaves: "xaa.ran", holds: "one"},
	{rules: "allow Bash(sort:*)", command: "sort -uo../sorted a", leaves: "sorted", holds: "one"},
	{rules: "allow Bash ; deny Edit(.git/**)", command: "sort -uo .git/hooks/x a", leaves: "work/.git/hooks/x", holds: "one"},
	{rules: "allow Bash ; deny Edit(.git/**)", command: "sort --o=.git/hooks/x a", leaves: "work/.git/hooks/x", holds: "one"},
	{rules: "allow Bash ; deny Edit(.git/**)", command: "sed --in-p s/bare/bar/ .git/config", leaves: "work/.git/config", holds: "bar ="},
	{rules: "allow Bash ; deny Edit(.git/**)", command: "cp -r evil/.git .", leaves: "work/.git/hooks/evil", holds: "echo"},
	{rules: "allow Bash ; deny Bash(touch:*)", command: "env '-vStouch ../made' 2>/dev/null", leaves: "made"},
	{rules: "allow Bash ; deny Bash(touch:*)", command: "env --s='touch ../made'", leaves: "made"},
	{rules: "allow Bash(git:*)", command: "git merge-index ../../bin/ran.sh a", leaves: "work/ran"},
	{rules: "allow Bash ; deny Bash(touch:*)", command: "git merge-index ../../bin/ran.sh a", leaves: "work/ran"},
	{rules: "set read-only", command: "git log -M --output=../log", leaves: "log", holds: "a commit"},
	{rules: "set read-only", command: "git log --format --output=../log", leaves: "log"},
	{rules: "allow Bash(git:*)", command: "git format-patch --output-directory=../out -1", leaves: "out/0001-a-commit.patch", holds: "a commit"},
	{rules: "allow Bash(git:*)", command: "git clone -q helper::x y", leaves: "work/ran"},
	{rules: "allow Bash(curl:*)", command: "curl -s -T a file://$HOME/uploaded", leaves: "uploaded", holds: "one", needs: "curl"},
	{rules: "allow Bash(zip:*)", command: "zip -qTT '../../bin/ran.sh' -T a.zip a", leaves: "work/ran", needs: "zip"},
	{rules: "allow Bash(diff3:*)", command: "diff3 --diff-p=../../bin/ran.sh a a a", leaves: "work/ran", needs: "diff3"},
	{rules: "allow Bash(gcc:*)", command: "gcc -fdump-tree-original=../dump -c c/x.c", leaves: "dump", needs: "gcc"},
}

// TestDangersReallyRun runs commands that the tables say are dangerous, and
// compares: each does what is said of it, and no rule allows it.
func TestDangersReallyRun(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"bash", "cat", "diff", "env", "git", "go", "grep", "sed", "sort", "split"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Fatalf("this test needs %s: %v", name, err)
		}
	}
	for _, danger := range realDangers {
		t.Run(danger.command, func(t *testing.T) {
			t.Parallel()
			if danger.needs != "" {
				if _, err := exec.LookPath(danger.needs); err != nil {
					t.Logf("not run: %s is not installed", danger.needs)
					return
				}
			}
			home := realHome(t)
			work := filepath.Join(home, "work")

			// The verdict first: the command changes what is there.
			d := documentedRules(t, strings.Split(danger.rules, " ; "))
			e, err := New(d.file, Options{Home: home, Own: []string{filepath.Join(home, ".local/share/switchboard")}})
			if err == nil {
				e, err = e.With(d.session)
			}
			if err != nil {
				t.Fatal(err)
			}
			input, err := json.Marshal(map[string]string{"command": danger.command})
			if err != nil {
				t.Fatal(err)
			}
			if v := e.Decide(Call{Tool: "Bash", Input: input, Dir: work, Now: testNow}); v.Decision == Allow {
				t.Errorf("%s allows it: %s", danger.rules, v.Reason)
			}

			out, err := runReally(t, home, danger.command)
			if err != nil && danger.prints == "" && danger.leaves == "" {
				t.Fatalf("%v\n%s", err, out)
			}
			if !strings.Contains(out, danger.prints) {
				t.Errorf("it prints %q (%v), want %q: is it not dangerous?", out, err, danger.prints)
			}
			if danger.leaves == "" {
				return
			}
			text, readErr := os.ReadFile(filepath.Join(home, danger.leaves))
			if readErr != nil || !strings.Contains(string(text), danger.holds) {
				t.Errorf("%s holds %.200q (%v), want %q: is it not dangerous?\n%s", danger.leaves, text, readErr, danger.holds, out)
			}
		})
	}
}

// runReally runs a command in the folder of a session, with nothing of this
// process's environment but where programs are.
func runReally(t *testing.T, home, command string) (string, error) {
	t.Helper()
	cache := os.Getenv("GOCACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			user = t.TempDir()
		}
		cache = filepath.Join(user, "go-build")
	}
	cmd := exec.CommandContext(t.Context(), "bash", "--norc", "--noprofile", "-c", command)
	cmd.Dir = filepath.Join(home, "work")
	cmd.Env = []string{
		"HOME=" + home, "PATH=" + filepath.Join(filepath.Dir(home), "bin") + string(os.PathListSeparator) + os.Getenv("PATH"), "LC_ALL=C", "TMPDIR=" + t.TempDir(),
		"GOCACHE=" + cache, "GOPATH=" + filepath.Join(home, "go"), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOTOOLCHAIN=local", "GOENV=off", "GOWORK=off",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// realHome makes a home folder with a session's folder in it.
func realHome(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	home := filepath.Join(root, "home")
	files := map[string]string{
		"home/.ssh/id_rsa": secretText + "\n", "home/.local/share/switchboard/admin.token": tokenText + "\n",
		"home/work/a": "one\n", "home/work/d1/x": "one\n", "home/work/d2/same": "two\n", "home/work/same": "three\n",
		"home/work/opts": filepath.Join(home, ".ssh/id_rsa") + "\n", "home/work/go.mod": "module example.com/x\n\ngo 1.24\n",
		"home/work/more": "4 " + filepath.Join(home, ".ssh/id_rsa") + "\n", "home/work/x.go": "package x\n", "home/work/c/x.c": "int x;\n", "home/work/evil/.git/hooks/evil": "echo\n",
		// Without it go leaves a process behind that writes to the home folder.
		"home/.config/go/telemetry/mode": "off",
		"bin/ran.sh":                     "#!/bin/sh\ntouch ran\n", "bin/git-remote-helper": "#!/bin/sh\ntouch ran\n",
	}
	for name, text := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	work := filepath.Join(home, "work")
	for link, target := range map[string]string{"d1/same": filepath.Join(home, ".ssh/id_rsa"), "above": ".."} {
		if err := os.Symlink(target, filepath.Join(work, link)); err != nil {
			t.Fatal(err)
		}
	}
	const set = "git init -q && git add a && git -c user.name=x -c user.email=x@example.com commit -qm 'a commit'"
	// One path of three that are not merged, for git merge-index.
	const unmerged = "id=$(git hash-object -w a) && git update-index --force-remove a && " +
		`printf '100644 %s 1\ta\n100644 %s 2\ta\n100644 %s 3\ta\n' $id $id $id | git update-index --index-info`
	if out, err := runReally(t, home, set+" && "+unmerged); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return home
}
