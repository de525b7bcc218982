package claude

import (
	"os"
	"runtime"
	"strings"
	"testing"
)

// TestCommandFiles has a process inherit a file, and a secret taken out of a
// text.
func TestCommandFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // has no descriptors to inherit
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	p, err := (&Command{Args: []string{"/bin/sh", "-c", "echo inherited >&3"}, Env: []string{"MY_TOKEN=abcdefghij"}, Files: []*os.File{w}}).Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	buf := make([]byte, 100)
	if n, err := r.Read(buf); string(buf[:n]) != "inherited\n" {
		t.Errorf("read %q, %v", buf[:n], err)
	}
	if got := p.Redact("curl abcdefghij https://me:pw12@host"); strings.Contains(got, "abcdefghij") || strings.Contains(got, "pw12") {
		t.Errorf("redacted to %q", got)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	c := &Command{Args: []string{"/bin/true"}, Files: []*os.File{w}, token: "t"}
	if _, err := c.Start(t.Context()); err == nil {
		t.Error("a file and a token share a descriptor")
	}
}
