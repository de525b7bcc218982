//go:build unix

package dial

import (
	"fmt"
	"maps"
	"os"
	"testing"
)

// descriptor returns the number of one that can be read for text. It stays open until the test ends.
func descriptor(t *testing.T, text string) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	if _, err := w.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(r.Fd())
}

func TestTokenFrom(t *testing.T) {
	const variable, number = "CLAUDE_CODE_SESSION_ACCESS_TOKEN", "CLAUDE_CODE_WEBSOCKET_AUTH_FILE_DESCRIPTOR"
	for _, tt := range []struct {
		name string
		vars map[string]string
		want string
	}{
		{"nothing", nil, ""},
		{"variable", map[string]string{variable: "v"}, "v"},
		{"descriptor", map[string]string{number: descriptor(t, " d\n\n")}, "d"},
		{"both", map[string]string{variable: "v", number: descriptor(t, "d")}, "v"},
		{"empty variable", map[string]string{variable: "", number: descriptor(t, "d")}, "d"},
		{"no such descriptor", map[string]string{number: "100000"}, ""},
		{"no number", map[string]string{number: "xx"}, ""},
		{"negative", map[string]string{number: "-1"}, ""},
		{"a path", map[string]string{number: "../../etc/hostname"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			token := TokenFrom(env(tt.vars))
			for range 2 { // a pipe can be read only once
				if got := token(); got != tt.want {
					t.Errorf("the token is %q, want %q", got, tt.want)
				}
			}
		})
	}
	t.Run("changed later", func(t *testing.T) {
		vars := map[string]string{variable: "old"}
		token := TokenFrom(env(vars))
		first := token()
		maps.Copy(vars, map[string]string{variable: "new"})
		if got := token(); first != "old" || got != "new" {
			t.Errorf("the token is %q, then %q; want old, then new", first, got)
		}
	})
}
