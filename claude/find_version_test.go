package claude

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/switchboard-dev/switchboard/wire"
)

func TestToldVersion(t *testing.T) {
	const pkg = "lib/node_modules/@anthropic-ai/"
	is := func(v string) string { return `{"name":"@anthropic-ai/claude-code","version":"` + v + `"}` }
	tests := []struct {
		name    string
		files   []string
		path    string
		content map[string]string
		want    wire.Version // zero: not told
	}{
		{
			"the native installer",
			[]string{"home/.local/bin/claude -> ../share/claude/versions/2.1.325", "home/.local/share/claude/versions/2.1.325!"},
			"home/.local/bin/claude", nil, version(325),
		},
		{
			"Homebrew",
			[]string{"bin/claude -> ../Caskroom/claude-code/2.1.120/claude", "Caskroom/claude-code/2.1.120/claude!"},
			"bin/claude", nil, version(120),
		},
		{"a script of npm", []string{pkg + "claude-code/cli.js!"}, pkg + "claude-code/cli.js", map[string]string{pkg + "claude-code/package.json": is("2.1.37")}, version(37)},
		{
			"a program of npm",
			[]string{pkg + "claude-code-linux-x64/claude!"},
			pkg + "claude-code-linux-x64/claude",
			map[string]string{pkg + "claude-code-linux-x64/package.json": `{"name":"@anthropic-ai/claude-code-linux-x64","version":"2.1.325"}`},
			version(325),
		},
		{
			"a program that npm has put in place",
			[]string{"bin/claude -> ../" + pkg + "claude-code/bin/claude.exe", pkg + "claude-code/bin/claude.exe!"},
			"bin/claude",
			map[string]string{pkg + "claude-code/package.json": is("2.1.325")},
			version(325),
		},
		{"a wrapper", []string{pkg + "claude-code/cli.js*"}, pkg + "claude-code/cli.js", map[string]string{pkg + "claude-code/package.json": is("2.1.37")}, wire.Version{}},
		{"another package", []string{pkg + "claude-code/cli.js!"}, pkg + "claude-code/cli.js", map[string]string{pkg + "claude-code/package.json": `{"name":"x","version":"2.1.37"}`}, wire.Version{}},
		{"not a version", []string{pkg + "claude-code/cli.js!"}, pkg + "claude-code/cli.js", map[string]string{pkg + "claude-code/package.json": is("latest")}, wire.Version{}},
		{"more than a version", []string{"claude/versions/2.1.325-beta!"}, "claude/versions/2.1.325-beta", nil, wire.Version{}},
		{"not JSON", []string{pkg + "claude-code/cli.js!"}, pkg + "claude-code/cli.js", map[string]string{pkg + "claude-code/package.json": "{"}, wire.Version{}},
		{"no package", []string{pkg + "claude-code/cli.js!"}, pkg + "claude-code/cli.js", nil, wire.Version{}},
		{"elsewhere", []string{"bin/claude!"}, "bin/claude", map[string]string{"bin/package.json": is("2.1.37")}, wire.Version{}},
		{"nothing there", nil, "bin/claude", nil, wire.Version{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			root := tree(t, test.files...)
			for name, text := range test.content {
				path := filepath.Join(root, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			v, ok := toldVersion(filepath.Join(root, test.path))
			if ok != !test.want.IsZero() || ok && v != test.want {
				t.Errorf("got %s, %t", v, ok)
			}
		})
	}
}

// A program whose installation tells the version is not run for it.
func TestFindDoesNotRunWhatIsKnown(t *testing.T) {
	root := tree(t, "claude/versions/2.1.325!", "bin/claude -> ../claude/versions/2.1.325")
	cli, err := Find(t.Context(), &FindOptions{Path: filepath.Join(root, "bin", "claude"), Env: []string{"PATH="}})
	if err != nil || cli.Version != version(325) {
		t.Errorf("got %+v, %v", cli, err) // the file is all zeros: nothing could run it
	}
}
