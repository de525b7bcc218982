package talk_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/terminal/talk"
	"github.com/switchboard-dev/switchboard/internal/transcript"
	"github.com/switchboard-dev/switchboard/internal/transcript/logtest"
)

// golden compares a text with a file, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (write it with -update)", err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// visible makes escape codes readable.
func visible(text string) string { return strings.ReplaceAll(text, "\x1b", "␛") }

func TestLook(t *testing.T) {
	c := logtest.Read(logtest.Whole())
	for _, width := range []int{40, 80, 120} {
		for _, color := range []bool{false, true} {
			for _, unfolded := range []bool{false, true} {
				name := fmt.Sprintf("look/%d", width)
				profile := paint.Profile{Width: width}
				if color {
					name += "-color"
					profile.Color, profile.Dark, profile.Links = true, true, true
				}
				look := talk.Look{Styles: profile.Styles(), Width: width, Thinking: unfolded, Session: "s1", Now: logtest.Noon.Add(time.Hour)}
				if unfolded {
					name += "-unfolded"
					look.Unfolded = func(*transcript.Item) bool { return true }
				}
				t.Run(name, func(t *testing.T) {
					var b strings.Builder
					for i := range c.Len() {
						for _, line := range look.Lines(c.Item(i)) {
							if n := paint.Width(line); n > width {
								t.Errorf("a line has %d columns: %q", n, line)
							}
							b.WriteString(line + "\n")
						}
					}
					golden(t, name+".txt", visible(b.String()))
				})
			}
		}
	}
}

// TestFoldedTool holds that a folded tool is one line, whatever it is, unless it failed.
func TestFoldedTool(t *testing.T) {
	for name, events := range logtest.Recordings(t) {
		c := logtest.Read(events)
		for _, width := range []int{0, 5, 40, 80} {
			look := talk.Look{Width: width}
			for i := range c.Len() {
				if it := c.Item(i); it.Kind == transcript.KindTool && it.Tool.State != transcript.ToolFailed {
					if lines := look.Lines(it); len(lines) != 1 {
						t.Errorf("%s: %d lines of a tool:\n%s", name, len(lines), strings.Join(lines, "\n"))
					}
				}
			}
		}
	}
}

// TestRecordings holds what people see of what real CLIs wrote.
func TestRecordings(t *testing.T) {
	for name, events := range logtest.Recordings(t) {
		t.Run(name, func(t *testing.T) {
			c := logtest.Read(events)
			look := talk.Look{Width: 100, Now: logtest.Noon}
			var b strings.Builder
			for i := range c.Len() {
				it := c.Item(i)
				if it.Kind == transcript.KindUnknown && !strings.HasPrefix(it.Label, "of_tomorrow") {
					t.Errorf("not known: %s %s", it.Label, it.Text)
				}
				b.WriteString(look.Text(it) + "\n")
			}
			golden(t, "recordings/"+strings.ReplaceAll(strings.TrimSuffix(name, ".log"), "/", "-")+".txt", b.String())
		})
	}
}

func TestPlain(t *testing.T) {
	c := logtest.Read(logtest.Whole())
	look := talk.Look{Styles: paint.Profile{Color: true, Links: true, ASCII: true}.Styles(), Width: 80}
	for i := range c.Len() {
		for _, line := range look.Plain(c.Item(i)) {
			if strings.Contains(line, "\x1b") {
				t.Errorf("a plain line has an escape code: %q", line)
			}
			for _, r := range line {
				if r > 0x7f {
					t.Errorf("a line for ASCII has %q: %s", r, line)
				}
			}
		}
	}
}
