package claude

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/wire"
)

// tree makes files below a new directory. A name with " -> " is a link, one
// that ends in "*" a program, one that ends in "!" a program of a real size.
func tree(t *testing.T, names ...string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		name, target, isLink := strings.Cut(name, " -> ")
		mode, size := os.FileMode(0o600), 10
		if trimmed := strings.TrimRight(name, "*!"); trimmed != name {
			if strings.HasSuffix(name, "!") {
				size = wrapperMax + 1
			}
			name, mode = trimmed, 0o700
		}
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if isLink {
			err = os.Symlink(target, path)
		} else {
			err = os.WriteFile(path, make([]byte, size), mode)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestFindPlaces(t *testing.T) {
	const pkg = "/node_modules/@anthropic-ai/"
	unixEnv := []string{"PATH=$/bin1:relative:$/bin2", "HOME=$/home"}
	tests := []struct {
		name         string
		goos, goarch string
		files        []string
		env          []string
		asked        string
		want         string // below the root
	}{
		{name: "PATH", files: []string{"bin2/claude*", "home/.local/bin/claude*"}, want: "bin2/claude"},
		{name: "first in PATH", files: []string{"bin1/claude*", "bin2/claude*"}, want: "bin1/claude"},
		{name: "not executable", files: []string{"bin1/claude", "bin2/claude*"}, want: "bin2/claude"},
		{name: "a directory", files: []string{"bin1/claude/x", "bin2/claude*"}, want: "bin2/claude"},
		{name: "relative PATH", files: []string{"home/.claude/local/claude*"}, want: "home/.claude/local/claude"},
		{name: "native installer", files: []string{"home/.local/bin/claude*"}, want: "home/.local/bin/claude"},
		{name: "npm prefix", files: []string{"home/.npm-global/bin/claude*"}, want: "home/.npm-global/bin/claude"},
		{name: "bun", files: []string{"home/.bun/bin/claude*"}, want: "home/.bun/bin/claude"},
		{name: "volta", files: []string{"home/.volta/bin/claude*"}, want: "home/.volta/bin/claude"},
		{name: "system", files: []string{"usr/local/bin/claude*"}, want: "usr/local/bin/claude"},
		{name: "homebrew", goos: "darwin", goarch: "arm64", files: []string{"opt/homebrew/bin/claude*"}, want: "opt/homebrew/bin/claude"},
		{
			name: "newest of nvm", files: []string{"home/.nvm/versions/node/v9.1.0/bin/claude*", "home/.nvm/versions/node/v22.1.0/bin/claude*"},
			want: "home/.nvm/versions/node/v22.1.0/bin/claude",
		},
		{
			name: "another nvm", env: []string{"HOME=$/home", "NVM_DIR=$/nvm"}, files: []string{"nvm/versions/node/v9.1.0/bin/claude*"},
			want: "nvm/versions/node/v9.1.0/bin/claude",
		},
		{
			name: "placeholder", files: []string{
				"bin1/claude -> ../lib" + pkg + "claude-code/bin/claude.exe",
				"lib" + pkg + "claude-code/bin/claude.exe*", "lib" + pkg + "claude-code-linux-x64/claude!",
			},
			want: "lib" + pkg + "claude-code-linux-x64/claude",
		},
		{
			name: "placeholder with the program inside", files: []string{
				"bin1/claude -> ../lib" + pkg + "claude-code/bin/claude.exe",
				"lib" + pkg + "claude-code/bin/claude.exe*", "lib" + pkg + "claude-code" + pkg + "claude-code-linux-x64/claude!",
			},
			want: "lib" + pkg + "claude-code" + pkg + "claude-code-linux-x64/claude",
		},
		{
			name: "installed program in the placeholder's place", files: []string{
				"bin1/claude -> ../lib" + pkg + "claude-code/bin/claude.exe",
				"lib" + pkg + "claude-code/bin/claude.exe!", "lib" + pkg + "claude-code-linux-x64/claude!",
			},
			want: "bin1/claude",
		},
		{
			name: "link to a script", files: []string{"bin1/claude -> ../lib" + pkg + "claude-code/cli.js", "lib" + pkg + "claude-code/cli.js*"},
			want: "lib" + pkg + "claude-code/cli.js",
		},
		{name: "package of a script", files: []string{"usr/local/lib" + pkg + "claude-code/cli.js"}, want: "usr/local/lib" + pkg + "claude-code/cli.js"},
		{
			name: "package of a program", goarch: "arm64", files: []string{"home/.claude/local" + pkg + "claude-code-linux-arm64/claude!"},
			want: "home/.claude/local" + pkg + "claude-code-linux-arm64/claude",
		},
		{
			name: "musl", files: []string{
				"lib/ld-musl-x86_64.so.1", "usr/lib" + pkg + "claude-code-linux-x64/claude!", "usr/lib" + pkg + "claude-code-linux-x64-musl/claude!",
			},
			want: "usr/lib" + pkg + "claude-code-linux-x64-musl/claude",
		},
		{
			name: "no musl", files: []string{"usr/lib" + pkg + "claude-code-linux-x64/claude!", "usr/lib" + pkg + "claude-code-linux-x64-musl/claude!"},
			want: "usr/lib" + pkg + "claude-code-linux-x64/claude",
		},
		{
			name: "windows package", goos: "windows", env: []string{"UserProfile=$/home", "AppData=$/roaming"},
			files: []string{"roaming/npm/claude.cmd", "roaming/npm" + pkg + "claude-code-win32-x64/claude.exe"},
			want:  "roaming/npm" + pkg + "claude-code-win32-x64/claude.exe",
		},
		{
			name: "windows program", goos: "windows", env: []string{"UserProfile=$/home"}, files: []string{"home/.local/bin/claude.exe"},
			want: "home/.local/bin/claude.exe",
		},
		{name: "asked", files: []string{"bin1/claude*", "other/claude-2*"}, asked: "$/other/claude-2", want: "other/claude-2"},
		{name: "asked by name", files: []string{"bin1/claude*", "bin2/claude-2*"}, asked: "claude-2", want: "bin2/claude-2"},
		{name: "asked for a script", files: []string{"x/cli.mjs"}, asked: "$/x/cli.mjs", want: "x/cli.mjs"},
		{
			name: "asked for a placeholder", files: []string{"x" + pkg + "claude-code/bin/claude.exe*", "x" + pkg + "claude-code-linux-x64/claude!"},
			asked: "$/x" + pkg + "claude-code/bin/claude.exe", want: "x" + pkg + "claude-code-linux-x64/claude",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			root := tree(t, test.files...)
			if test.env == nil {
				test.env = unixEnv
			}
			var env []string
			for _, kv := range test.env {
				env = append(env, strings.ReplaceAll(kv, "$", root))
			}
			goos, goarch := "linux", "amd64"
			if test.goos != "" {
				goos = test.goos
			}
			if test.goarch != "" {
				goarch = test.goarch
			}
			got, err := newFinder(goos, goarch, root, env).find(strings.ReplaceAll(test.asked, "$", root))
			if err != nil {
				t.Fatal(err)
			}
			if want := filepath.Join(root, filepath.FromSlash(test.want)); got != want {
				t.Errorf("found %s, expected %s", got, want)
			}
		})
	}
}

func TestFindErrors(t *testing.T) {
	root := tree(t, "x/claude", "x/claude.cmd", "x/claude.BAT*", "x/cli.js", "x/dir/y", "bin/claude.cmd")
	env := []string{"PATH=" + root + "/bin", "HOME=" + root + "/home", "USERPROFILE=" + root + "/home"}
	tests := []struct {
		name, goos, asked string
		texts             []string
	}{
		{"nowhere", "linux", "", []string{"PATH", root + "/home/.claude/local", root + "/usr/local/bin", "npm install -g @anthropic-ai/claude-code", "FindOptions.Path"}},
		{"missing", "linux", root + "/x/y", []string{root + "/x/y does not exist"}},
		{"not executable", "linux", root + "/x/claude", []string{root + "/x/claude is not executable"}},
		{"directory", "linux", root + "/x/dir", []string{root + "/x/dir is not a file"}},
		{"missing name", "linux", "claude-2", []string{`no program "claude-2" in PATH`}},
		{"windows, only a batch file", "windows", "", []string{"not found"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := newFinder(test.goos, "amd64", root, env).find(test.asked)
			var notFound *NotFoundError
			if !errors.As(err, &notFound) || len(notFound.Looked) == 0 {
				t.Fatalf("the error is %v", err)
			}
			for _, text := range test.texts {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%q does not say %q", err, text)
				}
			}
		})
	}
	for _, asked := range []string{root + "/x/claude.cmd", root + "/x/claude.BAT"} {
		_, err := newFinder("windows", "amd64", root, env).find(asked)
		var unsupported *UnsupportedError
		if !errors.As(err, &unsupported) || !strings.Contains(err.Error(), "claude.exe or cli.js") {
			t.Errorf("a batch file: %v", err)
		}
	}
}

func TestRuntime(t *testing.T) {
	root := tree(t, "bin/node*", "bin/bun*", "other/deno*", "x/cli.js", "nvm/bin/node*", "nvm/bin/claude -> ../lib/cli.js", "nvm/lib/cli.js*")
	env := []string{"PATH=" + root + "/bin"}
	script := root + "/x/cli.js"
	tests := []struct {
		name, path, runtime string
		args                []string
		want                []string
	}{
		{"program", root + "/bin/bun", "", []string{"--x"}, []string{root + "/bin/bun"}},
		{"node", script, "", nil, []string{root + "/bin/node", script}},
		{"by name", script, "bun", []string{"run"}, []string{root + "/bin/bun", "run", script}},
		{"by path", script, root + "/other/deno", []string{"run", "-A"}, []string{root + "/other/deno", "run", "-A", script}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := newFinder("linux", "amd64", root, env).command(test.path, test.runtime, test.args)
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	for _, runtimeName := range []string{"deno", root + "/bin/none"} {
		_, err := newFinder("linux", "amd64", root, env).command(script, runtimeName, nil)
		var notFound *NotFoundError
		if !errors.As(err, &notFound) || !strings.Contains(err.Error(), script) {
			t.Errorf("runtime %s: %v", runtimeName, err)
		}
	}
	// A link in a directory that is not in PATH: its node is the one beside it.
	f := newFinder("linux", "amd64", root, []string{"PATH=" + root + "/none"})
	path, err := f.find(root + "/nvm/bin/claude")
	if err != nil {
		t.Fatal(err)
	}
	got, err := f.command(path, "", nil)
	if want := []string{root + "/nvm/bin/node", root + "/nvm/lib/cli.js"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestFind(t *testing.T) {
	ctx := soon(t)
	cli, err := Find(ctx, &FindOptions{Path: self(t), NoProbe: true})
	if err != nil || cli.Path != self(t) || !slices.Equal(cli.Args, []string{self(t)}) || !cli.Version.IsZero() {
		t.Errorf("Find without a question = %+v, %v", cli, err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	root := tree(t)
	script := filepath.Join(root, "claude")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho 'a notice'\necho '2.1.99 (Claude Code)'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	cli, err = Find(ctx, &FindOptions{Env: []string{"PATH=" + root + ":/bin:/usr/bin"}})
	if err != nil || cli.Path != script || cli.Version != (wire.Version{Major: 2, Minor: 1, Patch: 99}) {
		t.Errorf("Find = %+v, %v", cli, err)
	}
	_, err = Find(ctx, &FindOptions{Path: filepath.Join(root, "none")})
	if _, ok := errors.AsType[*NotFoundError](err); !ok {
		t.Errorf("Find of nothing = %v", err)
	}
}

func TestFindAll(t *testing.T) {
	root := tree(t, "bin1/claude*", "bin2/claude -> ../bin1/claude", "home/.local/bin/claude*", "home/.bun/bin/claude")
	env := []string{"PATH=" + filepath.Join(root, "bin2") + ":" + filepath.Join(root, "bin1"), "HOME=" + filepath.Join(root, "home")}
	got := newFinder("linux", "amd64", root, env).all()
	want := []string{filepath.Join(root, "bin2", "claude"), filepath.Join(root, "home", ".local", "bin", "claude")}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q: each once, in order, and nothing that cannot be run", got, want)
	}

	missing := filepath.Join(root, "nowhere")
	found := FindAll(t.Context(), &FindOptions{Path: missing, Env: env})
	if len(found) != 1 || found[0].Path != missing || found[0].CLI != nil || found[0].Err == nil {
		t.Errorf("a program that is named and not there: %+v", found)
	}
	found = FindAll(t.Context(), &FindOptions{Path: got[0], Env: env, NoProbe: true})
	if len(found) != 1 || found[0].Err != nil || found[0].CLI.Path != got[0] {
		t.Errorf("a program that is there: %+v", found)
	}
}

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
