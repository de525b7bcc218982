package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/switchboard-dev/switchboard/internal/conformance"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRun(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := map[string]struct {
		ctx            context.Context
		args           []string
		code           int
		stdout, stderr string
	}{
		"help":         {t.Context(), []string{"-h"}, 0, "", conformance.Newest},
		"unknown flag": {t.Context(), []string{"--nope"}, 2, "", "nope"},
		"not there":    {t.Context(), []string{"--list", conformance.Oldest}, 1, conformance.Oldest + ": Claude Code " + conformance.Oldest + " is not installed", ""},
		"all of them":  {t.Context(), []string{"--list"}, 1, conformance.Newest + ": ", ""},
		"the SDK":      {t.Context(), []string{"--list"}, 1, "Agent SDK " + conformance.SDKVersion + " is not installed", ""},
		"Node":         {t.Context(), []string{"--list"}, 1, "Node " + conformance.NodeVersion + " is not installed", ""},
		"ACP":          {t.Context(), []string{"--list"}, 1, "ACP adapter " + conformance.ACPVersion + " is not installed", ""},
		"only Bun":     {cancelled, []string{"--bun"}, 1, "", "clis: installing Bun " + conformance.BunVersion + ": context canceled"},
		"no version":   {t.Context(), []string{"latest"}, 1, "", `"latest" is not a version`},
		"interrupted":  {cancelled, []string{conformance.Newest}, 1, "", "context canceled"},
		"all stopped":  {cancelled, nil, 1, "", "installing Agent SDK " + conformance.SDKVersion + ": context canceled"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			// An empty cache folder on every system that has its own idea of where that is.
			home := t.TempDir()
			for _, variable := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} {
				t.Setenv(variable, home)
			}
			var stdout, stderr bytes.Buffer
			code := run(test.ctx, test.args, &stdout, &stderr)
			if code != test.code || !strings.Contains(stdout.String(), test.stdout) || !strings.Contains(stderr.String(), test.stderr) {
				t.Errorf("exit code %d, stdout %q, stderr %q; want %d, %q, %q", code, &stdout, &stderr, test.code, test.stdout, test.stderr)
			}
		})
	}
}
