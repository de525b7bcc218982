package termtest

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Options say what to start.
type Options struct {
	// Args are the program and its arguments.
	Args []string
	// Env is the whole environment. Where they are missing, PATH is that of the test, HOME a folder of its own that is removed afterwards, TERM
	// xterm-256color and LANG C.UTF-8; and a program built with the race detector ends without its usual pause.
	Env []string
	// Dir is the working folder; empty means HOME.
	Dir string
	// Cols and Rows are the size; 0 means 80 and 24.
	Cols, Rows int
	// Record, if not nil, gets the recording, see [ReadCast]. It is written to until the program's end.
	Record io.Writer
	// Mute leaves all questions of the program to its terminal unanswered, as old terminals do.
	Mute bool
	// Patience is how long to wait for anything at most; 0 means 90 s. It is the last guard and not a measure of speed.
	Patience time.Duration
}

// env returns the environment with what is missing.
func (o *Options) env(path, home func() string) []string {
	env := slices.Clone(o.Env)
	add := func(name string, value func() string) {
		if _, found := lookup(env, name); !found {
			env = append(env, name+"="+value())
		}
	}
	is := func(value string) func() string { return func() string { return value } }
	add("PATH", path)
	add("HOME", home)
	add("TERM", is("xterm-256color"))
	add("LANG", is("C.UTF-8"))
	add("GORACE", is("atexit_sleep_ms=0"))
	return env
}

// lookup returns a variable of an environment.
func lookup(env []string, name string) (value string, found bool) {
	for _, variable := range env {
		if v, ok := strings.CutPrefix(variable, name+"="); ok {
			value, found = v, true
		}
	}
	return value, found
}

// WaitFor waits until a text stands on the screen or, on the main screen, above it in the scrollback, within one row. The test ends if it does not come.
func (t *Terminal) WaitFor(text string) {
	t.tb.Helper()
	t.wait(seen(func(line string) bool { return strings.Contains(line, text) }), fmt.Sprintf("the text %q", text))
}

// WaitForMatch waits as WaitFor does, for a row that matches a regular expression.
func (t *Terminal) WaitForMatch(expression string) {
	t.tb.Helper()
	re, err := regexp.Compile(expression)
	if err != nil {
		t.tb.Fatalf("termtest: %v", err)
	}
	t.wait(seen(re.MatchString), fmt.Sprintf("a row that matches %s", expression))
}

// WaitUntil waits until the screen is as it should be; why says what that is, for the message if it never is. is is called on the test's goroutine.
func (t *Terminal) WaitUntil(is func(*Screen) bool, why string) {
	t.tb.Helper()
	t.wait(is, why)
}

// WaitGone waits until a text stands nowhere on the screen.
func (t *Terminal) WaitGone(text string) {
	t.tb.Helper()
	t.wait(func(s *Screen) bool { return !s.Contains(text) }, fmt.Sprintf("the text %q to go", text))
}

// seen returns a condition that looks at each row of the scrollback once only.
func seen(is func(string) bool) func(*Screen) bool {
	looked := 0
	return func(s *Screen) bool {
		if looked > len(s.scrollback) {
			looked = 0 // it was erased
		}
		if slices.ContainsFunc(s.scrollback[looked:], is) {
			return true
		}
		looked = len(s.scrollback)
		return slices.ContainsFunc(s.rows, func(r row) bool { return is(r.text()) })
	}
}

// Paste types a text as a terminal does on a paste: marked as such if the program has asked for that.
func (t *Terminal) Paste(text string) {
	t.tb.Helper()
	if t.Screen().Mode(modePaste) {
		text = "\x1b[200~" + text + "\x1b[201~"
	}
	t.Type(text)
}

// Click presses and lets go the left mouse button in a column and a row, both from 0, if the program has asked to be told.
func (t *Terminal) Click(x, y int) {
	t.tb.Helper()
	if s := t.Screen(); s.Mode(1006) && (s.Mode(1000) || s.Mode(1002) || s.Mode(1003)) {
		t.Type(fmt.Sprintf("\x1b[<0;%d;%dM\x1b[<0;%d;%dm", x+1, y+1, x+1, y+1))
	}
}

// What keys send. Letters, digits and so on are themselves; see also [Ctrl] and [Alt].
const (
	Enter     = "\r"
	Tab       = "\t"
	Esc       = "\x1b"
	Space     = " "
	Backspace = "\x7f"
	Delete    = "\x1b[3~"

	Up       = "\x1b[A"
	Down     = "\x1b[B"
	Right    = "\x1b[C"
	Left     = "\x1b[D"
	Home     = "\x1b[H"
	End      = "\x1b[F"
	PageUp   = "\x1b[5~"
	PageDown = "\x1b[6~"
	F1       = "\x1bOP"

	ShiftTab = "\x1b[Z"
	AltEnter = "\x1b\r"
	// ShiftEnter is what terminals with the newer keyboard protocols send; the others send [Enter].
	ShiftEnter = "\x1b[13;2u"

	CtrlA = "\x01"
	CtrlC = "\x03"
	CtrlD = "\x04"
	CtrlE = "\x05"
	CtrlG = "\x07"
	CtrlJ = "\n"
	CtrlK = "\x0b"
	CtrlL = "\x0c"
	CtrlO = "\x0f"
	CtrlR = "\x12"
	CtrlS = "\x13"
	CtrlT = "\x14"
	CtrlU = "\x15"
	CtrlW = "\x17"
	CtrlX = "\x18"
	CtrlZ = "\x1a"
)

// Ctrl returns what a letter sends with the control key.
func Ctrl(letter byte) string { return string(rune(letter & 0x1f)) }

// Alt returns what a key sends with the alt key.
func Alt(key string) string { return "\x1b" + key }
