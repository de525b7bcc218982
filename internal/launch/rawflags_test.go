//go:build unix

package launch

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
)

func TestMoreOptions(t *testing.T) {
	all := api.SessionOptions{
		Thinking: "adaptive", SettingSources: []string{"user", "project"}, Betas: []string{"b1", "b2"}, StrictMCP: true, PluginDirs: []string{"/p"},
		IncludeHookEvents: true, NoPersistence: true, TaskBudget: 9, Env: map[string]string{"COLOUR": "blue"},
	}
	command, err := commandOf(t, Config{}, "2.1.325", &Spec{Options: all})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{
		"--thinking=adaptive", "--setting-sources=user,project", "--betas=b1", "--betas=b2", "--strict-mcp-config", "--plugin-dir=/p", "--include-hook-events",
		"--no-session-persistence", "--task-budget=9",
	}; !has(command.Args, want...) {
		t.Errorf("%q lack some of %q", command.Args, want)
	}
	if !has(command.Env, "COLOUR=blue") {
		t.Errorf("the environment %q lacks the session's", command.Env)
	}
	if command, err = commandOf(t, Config{}, "2.1.325", &Spec{Options: api.SessionOptions{SettingSources: []string{}}}); err != nil || !has(command.Args, "--setting-sources=") {
		t.Errorf("no sources at all: %v", err)
	}
	for name, o := range map[string]api.SessionOptions{
		"thinking on an old CLI": {Thinking: "adaptive"},
		"a variable of ours":     {Env: map[string]string{"SWITCHBOARD_RUN": "x"}},
		"no name":                {Env: map[string]string{"": "x"}},
		"a NUL byte":             {Env: map[string]string{"A": "\x00"}},
	} {
		if _, err := commandOf(t, Config{}, "2.1.37", &Spec{Options: o}); codeOf(err) != BadOption {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// codeOf returns the code of a start's error.
func codeOf(err error) Code {
	if failed, ok := errors.AsType[*StartError](err); ok {
		return failed.Code
	}
	return ""
}

func TestRawFlags(t *testing.T) {
	value := func(s string) *string { return &s }
	raw := func(c Config, flags map[string]*string) ([]string, error) {
		command, err := commandOf(t, c, "2.1.325", &Spec{Options: api.SessionOptions{ExtraArgs: flags}})
		if err != nil {
			return nil, err
		}
		return command.Args, nil
	}
	flags := map[string]*string{
		"channels": value("a"), "safe-mode": nil, "bare": nil, "thinking-display": value("summarized"), "project-config-root": value("-x"), "debug-file": value("/d"),
		"disable-slash-commands": nil, "plugin-dir-no-mcp": value("/n"),
	}
	args, err := raw(Config{RawFlags: true}, flags)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{
		"--channels=a", "--safe-mode", "--bare", "--thinking-display=summarized", "--project-config-root=-x", "--debug-file=/d", "--disable-slash-commands",
		"--plugin-dir-no-mcp=/n",
	}; !has(args, want...) {
		t.Errorf("%q lack some of %q", args, want)
	}
	if _, err := raw(Config{}, flags); codeOf(err) != Forbidden {
		t.Errorf("without the configuration's consent: %v", err)
	}
	// Whatever decides who is asked, or what the hub hears, stays ours.
	ours := append(slices.Collect(maps.Keys(ownedFlags)), "help", "version", "bg", "remote-control", "rc", "remote", "managed-settings", "inherit-permission-mode", "dangerously-do-it", "allow-dangerously-do-it")
	for _, name := range ours {
		for _, v := range []*string{nil, value("x")} {
			if args, err := raw(Config{RawFlags: true}, map[string]*string{name: v}); codeOf(err) != BadOption || !strings.Contains(err.Error(), "--"+name) {
				t.Errorf("--%s: %v, %q", name, err, args)
			}
		}
	}
	for name, flags := range map[string]map[string]*string{
		"a value that is missing": {"thinking-display": nil},
		"a value too many":        {"bare": value("x")},
		"no name":                 {"": nil},
		"a flag in disguise":      {"x=1 --sdk-url": nil},
		"a short flag":            {"-p": nil},
		"equals in the name":      {"permission-prompts=none": nil},
		"a NUL byte":              {"channels": value("a\x00b")},
	} {
		if args, err := raw(Config{RawFlags: true}, flags); codeOf(err) != BadOption {
			t.Errorf("%s: %v, %q", name, err, args)
		}
	}
}

// TestOwnFolder starts nothing in the hub's own data folder, however it is called.
func TestOwnFolder(t *testing.T) {
	b := newLab(t, nil)
	data := b.config.DataDir
	inside := filepath.Join(data, "inside")
	if err := os.Mkdir(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(data, link); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{data, inside, link, filepath.Join(link, "inside"), inside + "/../inside", data + "/"} {
		spec, _ := b.spec("report")
		spec.Dir = dir
		if _, err := b.Start(t.Context(), spec); codeOf(err) != Forbidden {
			t.Errorf("%s: %v", dir, err)
		}
		spec, _ = b.spec("report")
		spec.Options.AddDirs = []string{dir}
		if _, err := b.Start(t.Context(), spec); codeOf(err) != Forbidden {
			t.Errorf("%s beside another: %v", dir, err)
		}
	}
	// As the CLI reads paths that begin in the home folder.
	for home, dir := range map[string]string{filepath.Dir(data): "~/" + filepath.Base(data), data: "~", inside: "~/..", link: "~/inside"} {
		spec, _ := b.spec("report")
		spec.Options.AddDirs, spec.Options.Env = []string{dir}, map[string]string{"HOME": home}
		if _, err := b.Start(t.Context(), spec); codeOf(err) != Forbidden {
			t.Errorf("%s of %s: %v", dir, home, err)
		}
	}
	// One beside it, with a name that begins the same, and one above it are not it.
	beside := data + "-other"
	if err := os.Mkdir(beside, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{beside, filepath.Dir(data), t.TempDir()} {
		if err := b.checkOwn(&Spec{Dir: dir}); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
	}
}
