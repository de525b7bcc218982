//go:build unix

package termtest

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
)

// program returns how to start a program of these tests.
func program(t *testing.T, name string) Options {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Options{Args: []string{self}, Env: []string{envChild + "=" + name}}
}

func TestTerminalTypesAndReads(t *testing.T) {
	o := program(t, "greet")
	var cast bytes.Buffer
	o.Record = &cast
	term := Start(t, o)
	term.WaitFor("your name?")
	term.Type("Ada", Enter)
	term.WaitForMatch(`^hello A[d]a$`)
	if code := term.Exit(); code != 3 {
		t.Fatalf("exit code %d, want 3", code)
	}
	screen := term.Screen()
	if got, want := screen.Text(), "your name? Ada\nhello Ada"; got != want {
		t.Errorf("the screen is %q, want %q", got, want)
	}
	if !screen.Cell(6, 1).Style.Has(Bold) || screen.Cell(5, 1).Style.Has(Bold) {
		t.Error("the name and only the name should be bold")
	}
	recorded, err := ReadCast(&cast)
	if err != nil {
		t.Fatal(err)
	}
	if got := replay(recorded).Text(); got != screen.Text() {
		t.Errorf("the recording shows %q", got)
	}
	var typed strings.Builder
	for _, e := range recorded.Events {
		if e.Kind == CastInput {
			typed.WriteString(e.Data)
		}
	}
	if typed.String() != "Ada\r" {
		t.Errorf("recorded keys: %q", typed.String())
	}
}

func TestTerminalSeesAllOfAFlood(t *testing.T) {
	term := Start(t, program(t, "flood"))
	if code := term.Exit(); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	s := term.Screen()
	if got := len(s.Scrollback()); got != 20000-23 {
		t.Errorf("%d rows above the screen", got)
	}
	if s.Row(23) != "the end" || s.Row(22) != "line 19999" {
		t.Errorf("the end is not there:\n%s", s)
	}
	term.WaitFor("line 17") // long gone from the screen, and from the program
}

func TestTerminalIsEndedWithTheTest(t *testing.T) {
	var term *Terminal
	t.Run("left alone", func(t *testing.T) {
		term = Start(t, program(t, "never"))
		term.WaitFor("waiting")
		term.Resize(100, 30)
		if s := term.Screen(); s.Cols != 100 || s.Rows != 30 {
			t.Errorf("the size is %d×%d", s.Cols, s.Rows)
		}
	})
	select {
	case <-term.exited:
	default:
		t.Error("the program still runs after its test")
	}
}

// TestBubbleTea holds the emulator to the library that our own programs draw with, on a terminal that answers and on one that does not.
func TestBubbleTea(t *testing.T) {
	for _, name := range []string{"tea", "full"} {
		for _, mute := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, mute %v", name, mute), func(t *testing.T) {
				o := program(t, name)
				o.Mute, o.Cols, o.Rows = mute, 40, 12
				term := Start(t, o)
				term.WaitFor("width 40")
				if got := term.Screen().AltScreen; got != (name == "full") {
					t.Errorf("alternate screen: %v", got)
				}
				for i := range 15 {
					term.Type(Space)
					term.WaitUntil(func(s *Screen) bool { return s.Contains(fmt.Sprintf("count %d ", i+1)) }, "the count")
				}
				if name == "tea" {
					term.WaitFor("above 日本 1")
					term.WaitFor("above 日本 15")
				}
				term.Resize(50, 10)
				term.WaitFor("width 50")
				term.WaitUntil(func(s *Screen) bool { return s.Mode(modePaste) }, "bracketed paste")
				term.Paste("several\nlines")
				term.WaitFor(`pasted "several\nlines"`)
				s := term.Screen()
				if x, y, ok := s.Find("count 15"); !ok || !s.Cell(x, y).Style.Has(Bold) {
					t.Errorf("the count is not bold:\n%s", s)
				}
				if s.Title != "counting" {
					t.Errorf("the title is %q", s.Title)
				}
				term.Type("q")
				if code := term.Exit(); code != 0 {
					t.Errorf("exit code %d", code)
				}
				s = term.Screen()
				if left := s.LeftOver(); len(left) > 0 {
					t.Errorf("left over: %q", left)
				}
				if len(s.Unknown) > 0 || s.Bell > 0 || len(s.Clipboard) > 0 {
					t.Errorf("not known %q, bell %d, clipboard %q", s.Unknown, s.Bell, s.Clipboard)
				}
			})
		}
	}
}

// replay plays a recording on a new terminal.
func replay(c *Cast) *Screen {
	e := NewEmulator(c.Width, c.Height, nil)
	for _, event := range c.Events {
		if event.Kind == CastOutput {
			_, _ = e.Write([]byte(event.Data))
		}
	}
	return e.Screen()
}
