//go:build unix

package paint_test

import (
	"testing"

	"github.com/creack/pty"

	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

// TestDetectTerminal looks at a real terminal.
func TestDetectTerminal(t *testing.T) {
	master, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer terminal.Close()
	if err := pty.Setsize(terminal, &pty.Winsize{Rows: 24, Cols: 97}); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		env  map[string]string
		want paint.Profile
	}{
		{"usual", map[string]string{"TERM": "xterm-256color", "LANG": "C.UTF-8"}, paint.Profile{Color: true, Dark: true, Width: 97, Links: true}},
		{"no colour", map[string]string{"TERM": "xterm", "NO_COLOR": "1"}, paint.Profile{Dark: true, Width: 97}},
		{"dumb", map[string]string{"TERM": "dumb"}, paint.Profile{Dark: true, Width: 97, ASCII: true}},
		{"no Unicode", map[string]string{"TERM": "xterm", "LC_ALL": "C", "LANG": "C.UTF-8"}, paint.Profile{Color: true, Dark: true, Width: 97, Links: true, ASCII: true}},
		{"no links", map[string]string{"TERM": "xterm", "TERM_PROGRAM": "Apple_Terminal"}, paint.Profile{Color: true, Dark: true, Width: 97}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := paint.Detect(terminal, func(name string) string { return test.env[name] }, "auto"); got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}
