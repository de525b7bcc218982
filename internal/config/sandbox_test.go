package config

import (
	"slices"
	"strings"
	"testing"
)

func TestSandbox(t *testing.T) {
	c := Default()
	if c.Sandbox.Mode != SandboxAuto || c.Sandbox.Enforcer != SandboxAuto || c.Sandbox.Network != SandboxAsk {
		t.Errorf("the defaults are %+v", c.Sandbox)
	}
	text := "[sandbox]\nmode = \"strict\"\nwritable = [\"~/go/pkg\", \"/var/cache//x\"]\nsockets = [\"~/s.sock\"]\nallow_hosts = [\"*.npmjs.org\", \"::1\", \"127.0.0.1\"]\nbubblewrap = \"~/bin/bwrap\"\n"
	if err := c.Parse("config.toml", []byte(text), "/home/ann"); err != nil {
		t.Fatal(err)
	}
	if err := c.Check(); err != nil {
		t.Error(err)
	}
	s := c.Sandbox
	if s.Mode != SandboxStrict || s.Bubblewrap != "/home/ann/bin/bwrap" || !slices.Equal(s.Writable, []string{"/home/ann/go/pkg", "/var/cache/x"}) ||
		!slices.Equal(s.Sockets, []string{"/home/ann/s.sock"}) || !slices.Equal(s.AllowHosts, []string{"*.npmjs.org", "::1", "127.0.0.1"}) {
		t.Errorf("read %+v", s)
	}
}

// TestBadSandbox says what is wrong with the section, and in which line.
func TestBadSandbox(t *testing.T) {
	for text, want := range map[string]string{
		"[sandbox]\nmode = \"on\"":              `config.toml:2:8: sandbox.mode: "on" is no mode of a sandbox; there are auto, off, deny-only, strict`,
		"[sandbox]\nenforcer = \"docker\"":      `sandbox.enforcer: "docker" is no enforcer`,
		"[sandbox]\nnetwork = \"all\"":          `there are ask, none`,
		"[sandbox]\n\nwritable = [\"cache\"]":   `config.toml:3:1: sandbox.writable: "cache" is not an absolute path`,
		"[sandbox]\nsockets = [\"\"]":           `sandbox.sockets: one of the folders has no name`,
		"[sandbox]\nbubblewrap = \"bwrap\"":     `config.toml:2:14: sandbox.bubblewrap: "bwrap" is not an absolute path`,
		"[sandbox]\nauto_allow = \"yes\"":       `sandbox.auto_allow: this is of the kind string; it has to be true or false`,
		"[sandbox]\nallow_hosts = \"a\"":        `it has to be a list of texts: ["proxy.golang.org", "*.npmjs.org"]`,
		"[sandbox]\nmodes = \"strict\"":         `unknown key sandbox.modes; section [sandbox] has mode, enforcer`,
		"[preset.p]\nsandbox = \"auto\"":        `preset.p.sandbox: "auto" is none of deny-only, off, strict`,
		"[preset.p]\nsandbox_auto_allow = \"\"": `preset.p.sandbox_auto_allow: it has to be true or false`,
	} {
		err := Default().Parse("config.toml", []byte(text), "/home/ann")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	for _, host := range []string{"", "*", "*.", "https://example.com", "example.com:80", "a b", "*.*.com", "user@host", strings.Repeat("a", 300), "[::1]"} {
		c := Default()
		c.Sandbox.AllowHosts = []string{"example.com", host}
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), "sandbox.allow_hosts") {
			t.Errorf("%q: %v", host, err)
		}
	}
	c := Default()
	c.Sandbox.Writable = slices.Repeat([]string{"/a"}, maxSandboxList+1)
	if err := c.Check(); err == nil || !strings.Contains(err.Error(), "sandbox.writable has 1001 entries") {
		t.Error(err)
	}
}
