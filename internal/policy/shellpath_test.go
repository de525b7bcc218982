package policy

import (
	"slices"
	"strings"
	"testing"
)

func TestShellPaths(t *testing.T) {
	for _, tt := range []struct {
		command string
		// reads and writes are paths that must be among the answers, not others
		// that must not be.
		reads, writes, not string
	}{
		{"cat a b/c", "a b/c", "", ""},
		{"cat 'a b'", "", "", "a b"},
		{"cat ~/.ssh/id_rsa", "~/.ssh/id_rsa", "", ""},
		{"cat \"$HOME/.ssh/id_rsa\"", "~/.ssh/id_rsa", "", ""},
		{"cat ${HOME}/x $PWD/y", "~/x ./y", "", ""},
		{"cat < in > out 2>> err", "in", "out err", ""},
		{"echo x &> both", "", "both", ""},
		{"echo x >& both", "", "both", ""},
		{"make 2>&1", "", "", "1 2"},
		{"rm -rf a b", "", "a b", "rf f"},
		{"cp a b c", "a b", "c", ""},
		{"mv a b", "", "a b", ""},
		{"tee a b", "", "a b", ""},
		{"dd if=a of=b", "a", "b", ""},
		{"sed -i s/x/y/ a", "", "a", ""},
		{"sed s/x/y/ a", "a", "", ""},
		{"curl -d @secret https://x -o out", "secret", "out", ""},
		{"grep --file=a -f b x", "a b", "", ""},
		{"tar -C dir -xf a", "", "a dir/a dir", ""},
		{"git checkout -- a", "", "a", ""},
		{"git diff --output=a b", "b", "a", ""},
		{"cd sub && cat a", "a sub/a", "", ""},
		{"cd a && cd b && cat c", "a/c a/b/c", "", ""},
		{"git -C dir show x", "dir/x", "", ""},
		{"sudo sh -c 'cat /etc/shadow'", "/etc/shadow", "", ""},
		{"cat {a,b}/c", "a/c b/c", "", ""},
		{"for f in a b; do cat $f/x; done", "a/x", "", ""},
		{"./run.sh x", "./run.sh x", "", ""},
		{"cat $(cat list)", "list", "", ""},
		{"cat <(cat inner)", "inner", "", ""},
		{"ls -I/usr/x -ldefinitely", "/usr/x definitely", "", ""},
		{"head -n 20 a", "a", "", "20"},
		{"find a -delete", "", "a", ""},
		{"gcc -o out in", "", "out", ""},
		{"echo hello > \"out/a b\"", "hello", "", ""},
		{"X=a; cat $X", "a", "", ""},
		{"scp a host:b/c", "a", "b/c", ""},
	} {
		got := parseShell(tt.command).paths()
		for i := range got {
			got[i].maybe = false
		}
		for p := range strings.FieldsSeq(tt.reads) {
			if !slices.Contains(got, shellPath{path: p}) {
				t.Errorf("%q: %q is not read in %v", tt.command, p, got)
			}
		}
		for p := range strings.FieldsSeq(tt.writes) {
			if !slices.Contains(got, shellPath{path: p, write: true}) {
				t.Errorf("%q: %q is not written in %v", tt.command, p, got)
			}
		}
		for p := range strings.FieldsSeq(tt.not) {
			if slices.ContainsFunc(got, func(s shellPath) bool { return s.path == p }) {
				t.Errorf("%q: %q is in %v", tt.command, p, got)
			}
		}
		for i, p := range got {
			if p.path == "" || slices.Contains(got[:i], p) {
				t.Errorf("%q: %q is empty or twice in %v", tt.command, p.path, got)
			}
		}
	}
	if got := parseShell("cat 'a b'").paths(); !slices.Equal(got, []shellPath{{path: "a b"}}) {
		t.Errorf("paths = %v", got)
	}
}

// TestShellAsksPaths says which paths the allow side asks for, and how a tilde
// comes.
func TestShellAsksPaths(t *testing.T) {
	for _, tt := range []struct {
		command string
		want    []string
	}{
		{"cat ~/a '~/b' \\~c", []string{"r ~/a", "r ./~/b", "r ./~c"}},
		{"ls > ~/a", []string{"w ~/a"}},
		{"ls > '~/a' < b", []string{"w ./~/a", "r b"}},
		{"cd sub && cat a /b ~/c", []string{"r sub", "r sub/a", "r /b", "r ~/c"}},
		{"head -n 5 a", []string{"r 5", "r a"}},
		{"ls > /dev/null 2>&1", nil},
	} {
		var asked []string
		_, ok, reason := parseShell(tt.command).allowed([]*shellRule{readOnlyShell()}, func(p string, write bool) bool {
			how := "r "
			if write {
				how = "w "
			}
			asked = append(asked, how+p)
			return true
		})
		if !ok || !slices.Equal(asked, tt.want) {
			t.Errorf("%q: asked for %q, want %q (%v, %s)", tt.command, asked, tt.want, ok, reason)
		}
	}
}

// TestShellUnreadPaths says that a text that cannot be read hides no file.
func TestShellUnreadPaths(t *testing.T) {
	for _, command := range []string{"cat /etc/shadow 'unclosed", "if cat \"/etc/shadow\"", "cat /etc/shadow " + strings.Repeat("x", maxShellText), "x=/etc/shadow; (", strings.Repeat("(", 100) + "cat</etc/shadow"} {
		got := parseShell(command).paths()
		if !slices.Contains(got, shellPath{path: "/etc/shadow"}) || !slices.Contains(got, shellPath{path: "/etc/shadow", write: true}) {
			t.Errorf("%.40q: /etc/shadow is not among the paths", command)
		}
	}
}
