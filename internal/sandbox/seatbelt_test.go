package sandbox

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

func TestSeatbeltText(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]*Profile{
		"deny-only": {
			Mode: DenyOnly, Network: NetworkAll, Dir: "/Users/u/work",
			Hide: []string{"/Users/u/.ssh", "/Users/u/Library/Application Support/switchboard", "/private/var/run/docker.sock"}, ReadOnly: []string{"/Users/u/.zshrc"},
			Show: []Visible{{Path: "/Users/u/Library/Application Support/switchboard/run/cli/s1-1"}, {Path: "/Users/u/Library/Application Support/switchboard/sim", Write: true}},
		},
		"strict": {
			Mode: Strict, Network: NetworkListed, Dir: "/Users/u/work", Hide: []string{"/Users/u/work/.env"}, ReadOnly: []string{"/Users/u/work/.git/hooks"},
			Writable: []string{"/Users/u/.claude", "/Users/u/work", "/private/tmp"}, Forward: []string{"127.0.0.1:8080", "[::1]:9", "127.0.0.1:x\") (allow default", "127.0.0.1:0"},
		},
		"deny-edit": {Mode: DenyOnly, Network: NetworkAll, Dir: "/Users/u/work", ReadOnly: []string{"/", "/Users/u/work"}, Writable: []string{"/Users/u/.claude", "/private/tmp"}},
		"quoting":   {Mode: DenyOnly, Network: NetworkAll, Dir: "/", Hide: []string{`/a")) (allow default) ("`, `/b\`, `/c\")`, "/d;e", "/f #|g|#", "/ü (1)/[x]*"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := seatbeltText(p, "3128")
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", "seatbelt", name+".sb")
			if *update {
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), text); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestSeatbeltRefuses: a path that cannot be written is refused, and not left out.
func TestSeatbeltRefuses(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"/a\nb", "/a\x00", "/a\x7f", "/a\tb", "/\xff", "relative", "/a/../b", "/a/", ""} {
		for _, p := range []*Profile{{Hide: []string{name}}, {ReadOnly: []string{name}}, {Writable: []string{name}}, {Show: []Visible{{Path: name}}}} {
			p.Mode, p.Network = DenyOnly, NetworkAll
			if text, err := seatbeltText(p, ""); err == nil {
				t.Errorf("%q was written:\n%s", name, text)
			}
		}
	}
	long := &Profile{Mode: DenyOnly, Network: NetworkAll}
	for i := range maxSeatbeltText / 100 {
		long.Hide = append(long.Hide, fmt.Sprintf("/%0100d", i))
	}
	if text, err := seatbeltText(long, ""); err == nil {
		t.Errorf("a profile of %d bytes was written", len(text))
	}
}

func TestSeatbeltWrap(t *testing.T) {
	t.Parallel()
	e := newSeatbelt("/opt/switchboard")
	if e.Name() != "seatbelt" {
		t.Errorf("it is called %q", e.Name())
	}
	p := &Profile{Mode: Strict, Network: NetworkListed, Dir: "/w", Writable: []string{"/w"}, UnsetEnv: []string{"TMUX"}}
	c := Command{Args: []string{"claude", "-p"}, Env: []string{"HTTPS_PROXY=http://switchboard:x@127.0.0.1:4321", "TMUX=/x", "A=b"}, Dir: "/w", Files: []int{8}}
	got, err := e.Wrap(p, c)
	if err != nil {
		t.Fatal(err)
	}
	text, err := seatbeltText(p, "4321")
	if err != nil {
		t.Fatal(err)
	}
	want := Command{
		Args: []string{"/usr/bin/sandbox-exec", "-p", text, "claude", "-p"}, Env: []string{"HTTPS_PROXY=http://switchboard:x@127.0.0.1:4321", "A=b"}, Dir: "/w", Files: []int{8},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !strings.Contains(text, `(remote ip "localhost:4321")`) || strings.Contains(text, "switchboard:x") {
		t.Errorf("the profile is\n%s", text)
	}
	for _, env := range [][]string{nil, {"HTTPS_PROXY=http://proxy.example:3128"}, {"HTTPS_PROXY=http://switchboard:x@127.0.0.1"}, {"HTTPS_PROXY=http://127.0.0.1:3128"}, {"HTTPS_PROXY=http://switchboard:x@proxy.example:1"}} {
		if _, err := e.Wrap(p, Command{Args: []string{"claude"}, Env: env}); err == nil {
			t.Errorf("it starts without a proxy of ours: %q", env)
		}
	}
	if _, err := e.Wrap(p, Command{}); err == nil {
		t.Error("it starts nothing")
	}
}

// TestSeatbeltCheck runs the real thing on macOS; elsewhere there is none.
func TestSeatbeltCheck(t *testing.T) {
	t.Parallel()
	if err := newSeatbelt("").Check(t.Context()); (err == nil) != (runtime.GOOS == "darwin") {
		t.Errorf("on %s: %v", runtime.GOOS, err)
	}
}
