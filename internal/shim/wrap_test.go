package shim

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/claude"
)

func TestSpeaks(t *testing.T) {
	tests := []struct {
		args string // separated by blanks
		want bool
	}{
		{"", false},
		{"--input-format stream-json --output-format stream-json", true},
		{"--input-format=stream-json --output-format=stream-json", true},
		{"--output-format stream-json --verbose --input-format=stream-json --model x", true},
		{"-p --input-format stream-json --output-format stream-json --permission-prompt-tool stdio", true},
		// The last one counts, as it does for the CLI.
		{"--input-format text --input-format stream-json --output-format json --output-format=stream-json", true},
		{"--input-format stream-json --output-format stream-json --output-format text", false},
		// One way only: the CLI ends after its answer.
		{"-p hello --output-format stream-json", false},
		{"--input-format stream-json", false},
		{"--input-format stream-json --output-format json", false},
		{"--input-format --output-format stream-json", false},
		// What follows is a prompt.
		{"--input-format stream-json -- --output-format stream-json", false},
		// For a person, or something else.
		{"--version", false},
		{"-v --input-format stream-json --output-format stream-json", false},
		{"--help --input-format stream-json --output-format stream-json", false},
		{"mcp list", false},
		{"mcp --input-format stream-json --output-format stream-json", false},
		{"doctor", false},
		{"hello --input-format stream-json --output-format stream-json", true},
		{"--sdk-url ws://127.0.0.1/ --input-format stream-json --output-format stream-json", false},
		{"--sdk-url=ws://127.0.0.1/ --input-format stream-json --output-format stream-json", false},
	}
	for _, test := range tests {
		if got := Speaks(strings.Fields(test.args)); got != test.want {
			t.Errorf("claude %s: %t, want %t", test.args, got, test.want)
		}
	}
}

func TestFlag(t *testing.T) {
	args := []string{"--model", "a", "--model=b", "--empty=", "--last"}
	for name, want := range map[string]string{"--model": "b", "--empty": "", "--last": "", "--none": ""} {
		if got := Flag(args, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// TestFindWrapped looks for the CLI among links to this program.
func TestFindWrapped(t *testing.T) {
	dir := t.TempDir()
	file := func(names ...string) string {
		path := filepath.Join(append([]string{dir}, names...)...)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := func(target string, names ...string) string {
		path := filepath.Join(append([]string{dir}, names...)...)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	self := file("self", "switchboard")
	sim := link(self, "sim", "claude")
	wrap := link(self, "sim", WrapName)
	real := file("real", "claude")
	other := file("real", "my-claude")
	home := file("home", ".local", "bin", "claude")
	link(self, "lost", ".local", "bin", "claude")
	tests := map[string]struct {
		name string
		path []string // folders
		home string
		want string // or
		loop string
		miss string
	}{
		"the first in PATH":       {name: "claude", path: []string{"real", "sim"}, want: real},
		"never ourselves":         {name: "claude", path: []string{"sim", "real"}, want: real},
		"where it is installed":   {name: "claude", path: []string{"sim"}, home: "home", want: home},
		"nothing but ourselves":   {name: "claude", path: []string{"sim"}, home: "none", miss: sim},
		"also there":              {name: "claude", path: []string{"sim"}, home: "lost", loop: filepath.Join(dir, "lost", ".local", "bin", "claude")},
		"another name":            {name: "my-claude", path: []string{"sim", "real"}, home: "home", want: other},
		"another that is missing": {name: "your-claude", path: []string{"real"}, home: "home", miss: "your-claude"},
		"by its path":             {name: other, path: []string{"sim"}, want: other},
		"the simulated CLI":       {name: sim, want: sim},
		"ourselves by path":       {name: self, loop: self},
		"a link by path":          {name: wrap, loop: wrap},
		"a path to nothing":       {name: filepath.Join(dir, "nothing"), miss: "nothing"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var path []string
			for _, folder := range test.path {
				path = append(path, filepath.Join(dir, folder))
			}
			env := []string{"HOME=" + filepath.Join(dir, test.home), "PATH=" + strings.Join(path, string(filepath.ListSeparator))}
			cli, err := FindWrapped(t.Context(), test.name, self, env)
			var loop *LoopError
			var missing *claude.NotFoundError
			switch {
			case test.want != "":
				if err != nil || cli.Path != test.want {
					t.Errorf("found %+v, %v; want %s", cli, err, test.want)
				}
			case test.loop != "":
				if !errors.As(err, &loop) || loop.Path != test.loop {
					t.Errorf("found %+v, %v; want a loop at %s", cli, err, test.loop)
				}
			default:
				// A machine may have a claude where every installer puts it.
				if err == nil && !strings.HasPrefix(cli.Path, dir) {
					return
				}
				if !errors.As(err, &missing) || !strings.Contains(err.Error(), test.miss) {
					t.Errorf("found %+v, %v; want nothing, and %q said", cli, err, test.miss)
				}
			}
		})
	}
}

func TestWrappedEnv(t *testing.T) {
	env := []string{"A=1", wrappingEnv + "=old", "B=2"}
	tests := []struct {
		mark string // of the environment
		want string // of the CLI's; a loop if empty
	}{
		{"", "100.0"},
		{"7.0", "100.1"},
		{"7.0.tee", "100.1"},
		{"7.6", "100.7"},
		{"7.7", ""},       // deeper than anybody means it
		{"7.7.tee", ""},   // likewise
		{"100.0", ""},     // the same process: what was found became us again
		{"99.0.tee", ""},  // the parent: it started us as its CLI
		{"99.0", "100.1"}, // the parent is a CLI that was wrapped: we are an agent of its own
		{"7", ""},
		{"7.-1", ""},
	}
	for _, test := range tests {
		given := slices.Clone(env)
		if test.mark == "" {
			given = slices.Delete(given, 1, 2)
		} else {
			given[1] = wrappingEnv + "=" + test.mark
		}
		for _, tee := range []bool{false, true} {
			got, err := WrappedEnv(given, 100, 99, tee)
			if test.want == "" {
				if _, loop := errors.AsType[*LoopError](err); !loop {
					t.Errorf("%q: %v, %v; want a loop", test.mark, got, err)
				}
				continue
			}
			want := []string{"A=1", "B=2", wrappingEnv + "=" + test.want}
			if tee {
				want[2] += ".tee"
			}
			if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%q: %v, %v; want %v", test.mark, got, err, want)
			}
		}
	}
}
