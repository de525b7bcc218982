package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRun(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		args   []string
		code   int
		stderr string
	}{
		"help":         {[]string{"-h"}, 0, "continues where it was interrupted"},
		"unknown flag": {[]string{"--nope"}, 2, "nope"},
		"argument":     {[]string{"2.1.52"}, 2, `unexpected argument "2.1.52"`},
		"no version":   {[]string{"--try=latest"}, 1, "is not a version"},
		"interrupted":  {nil, 1, "context canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			// An empty cache folder on every system that has its own idea of where that is.
			home := t.TempDir()
			for _, variable := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData", "npm_config_cache"} {
				t.Setenv(variable, home)
			}
			var stdout, stderr bytes.Buffer
			code := run(cancelled, append([]string{"--out=" + filepath.Join(home, "table")}, test.args...), &stdout, &stderr)
			if code != test.code || !strings.Contains(stderr.String(), test.stderr) {
				t.Errorf("exit code %d, stderr %q; want %d, %q", code, &stderr, test.code, test.stderr)
			}
		})
	}
}
