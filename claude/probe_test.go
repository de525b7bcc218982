//go:build unix

package claude

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// countingCLI returns a CLI whose version is told by a script that counts how
// often it was asked. The file that is looked at is another one.
func countingCLI(t *testing.T) (cli *CLI, asked func() int) {
	t.Helper()
	dir := t.TempDir()
	count := filepath.Join(dir, "count")
	big := filepath.Join(dir, "claude")
	if err := os.WriteFile(big, make([]byte, wrapperMax+1), 0o700); err != nil {
		t.Fatal(err)
	}
	script := `printf x >> "$1"; echo "2.1.$(wc -c < "$1" | tr -d ' ') (Claude Code)"`
	cli = &CLI{Path: big, Args: []string{"/bin/sh", "-c", script, "sh", count}}
	return cli, func() int {
		data, err := os.ReadFile(count)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return len(data)
	}
}

func TestProberRemembersByIdentity(t *testing.T) {
	cli, asked := countingCLI(t)
	var p Prober
	probe := func(want int) {
		t.Helper()
		v, err := p.Probe(soon(t), cli, nil)
		if err != nil || v != version(want) || asked() != want {
			t.Errorf("Probe = %s, %v after %d questions, expected the answer to question %d", v, err, asked(), want)
		}
	}
	probe(1)
	probe(1)
	if err := os.Chtimes(cli.Path, time.Time{}, time.Unix(1e9, 0)); err != nil {
		t.Fatal(err)
	}
	probe(2) // another time of change
	probe(2)
	if err := os.Truncate(cli.Path, 2*wrapperMax); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(cli.Path, time.Time{}, time.Unix(1e9, 0)); err != nil {
		t.Fatal(err)
	}
	probe(3) // another size
	other := cli.Path + ".new"
	if err := os.WriteFile(other, make([]byte, 2*wrapperMax), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(other, time.Time{}, time.Unix(1e9, 0)); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(other, cli.Path); err != nil {
		t.Fatal(err)
	}
	probe(4) // another file
	probe(4)
	if err := os.Truncate(cli.Path, wrapperMax); err != nil {
		t.Fatal(err)
	}
	probe(5) // a wrapper
	probe(6)
}

func TestProbeEnvironmentIsMinimal(t *testing.T) {
	t.Setenv("HOME", "/home/of-the-test")
	t.Setenv("MY_TOKEN", "a-secret-of-mine")
	t.Setenv("NODE_OPTIONS", "--bad")
	cli := &CLI{Path: self(t), Args: []string{"/bin/sh", "-c", "env; exit 1", "sh"}}
	_, err := (&Prober{}).Probe(soon(t), cli, nil)
	var probe *ProbeError
	if !errors.As(err, &probe) {
		t.Fatalf("Probe = %v", err)
	}
	if !strings.Contains(probe.Output, "HOME=/home/of-the-test") || strings.Contains(probe.Output, "TOKEN") || strings.Contains(probe.Output, "NODE_OPTIONS") {
		t.Errorf("the environment is %q", probe.Output)
	}
}

func TestProbeErrors(t *testing.T) {
	tests := []struct {
		name, script string
		text, output string
	}{
		{"fails", "echo 'cannot: sk-ant-abcdefgh' >&2; exit 7", "exit status 7: cannot: [redacted]", "cannot: [redacted]"},
		{"says something else", "echo hello", "expected a version such as 2.1.37 (Claude Code): hello", "hello"},
		{"says nothing", "true", "expected a version", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			cli := &CLI{Path: self(t), Args: []string{"/bin/sh", "-c", test.script, "sh"}}
			_, err := (&Prober{}).Probe(soon(t), cli, nil)
			var probe *ProbeError
			if !errors.As(err, &probe) || probe.Output != test.output || !strings.Contains(err.Error(), test.text) {
				t.Errorf("Probe = %v", err)
			}
		})
	}
	t.Run("takes too long", func(t *testing.T) {
		cli := &CLI{Path: self(t), Args: []string{"/bin/sh", "-c", "exec sleep 1000", "sh"}}
		_, err := (&Prober{Timeout: 50 * time.Millisecond}).Probe(soon(t), cli, nil)
		if err == nil || !strings.Contains(err.Error(), "no answer within 50ms") {
			t.Errorf("Probe = %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err = (&Prober{}).Probe(ctx, cli, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("Probe = %v", err)
		}
	})
	t.Run("is not there", func(t *testing.T) {
		cli := &CLI{Path: filepath.Join(t.TempDir(), "none"), Args: []string{"none"}}
		if _, err := (&Prober{}).Probe(soon(t), cli, nil); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("Probe = %v", err)
		}
		if _, err := (&Prober{}).Probe(soon(t), &CLI{}, nil); err == nil {
			t.Error("Probe of nothing succeeded")
		}
	})
}

func TestParseVersionOutput(t *testing.T) {
	tests := []struct {
		out  string
		want wire.Version
	}{
		{"2.1.37 (Claude Code)\n", version(37)},
		{"notice\r\n2.1.120 (Claude Code)\r\n", version(120)},
		{"  v2.1.325", version(325)},
		{"", wire.Version{}},
		{"claude 2.1.37\n", wire.Version{}},
	}
	for _, test := range tests {
		got, err := parseVersionOutput([]byte(test.out))
		if got != test.want || (err == nil) == test.want.IsZero() {
			t.Errorf("parseVersionOutput(%q) = %s, %v", test.out, got, err)
		}
	}
}
