package termtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestSequences tries what a terminal of 10 columns and 4 rows makes of a text. In want a row ends with a newline, and rows that are missing are empty.
func TestSequences(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		x, y           int
	}{
		{"text", "hello", "hello", 5, 0},
		{"new line", "ab\r\ncd", "ab\ncd", 2, 1},
		{"line feed alone", "ab\ncd", "ab\n  cd", 4, 1},
		{"backspace", "abc\b\bX", "aXc", 2, 0},
		{"tab", "a\tb\tc", "a       bc", 9, 0},
		{"wrap is put off", "0123456789", "0123456789", 9, 0},
		{"wrap", "0123456789a", "0123456789\na", 1, 1},
		{"no wrap", "\x1b[?7l0123456789abc", "012345678c", 9, 0},
		{"wrap after a move", "0123456789\x1b[DX", "01234567X9", 9, 0},
		{"scroll", "a\r\nb\r\nc\r\nd\r\ne", "b\nc\nd\ne", 1, 3},
		{"go to", "\x1b[2;3Hx", "\n  x", 3, 1},
		{"go to, half", "\x1b[;3Hx", "  x", 3, 0},
		{"go too far", "\x1b[99;99Hx", "\n\n\n         x", 9, 3},
		{"moves", "\x1b[3;5H\x1b[A\x1b[2D\x1b[B\x1b[Cx", "\n\n   x", 4, 2},
		{"next and previous line", "\x1b[2;5H\x1b[Ea\x1b[2Fb", "b\n\na", 1, 0},
		{"column and row", "\x1b[4G\x1b[2dx\x1b[6`y", "\n   x y", 6, 1},
		{"relative", "\x1b[2a\x1b[1ex", "\n  x", 3, 1},
		{"tabs there and back", "\x1b[I\x1b[Za\x1b[Ib", "a       b", 9, 0},
		{"own tab stop", "\x1b[5G\x1bH\r\tx", "    x", 5, 0},
		{"no tab stops", "\x1b[3g\ta", "         a", 9, 0},
		{"tab stops anew", "\x1b[3g\x1b[?5W\ta", "        a", 9, 0},
		{"erase to the end of the line", "abcdef\x1b[3D\x1b[K", "abc", 3, 0},
		{"erase to the beginning of the line", "abcdef\x1b[3D\x1b[1K", "    ef", 3, 0},
		{"erase the line", "abcdef\x1b[2Kx", "      x", 7, 0},
		{"erase below", "ab\r\ncd\r\nef\x1b[2;2H\x1b[J", "ab\nc", 1, 1},
		{"erase above", "ab\r\ncd\r\nef\x1b[2;1H\x1b[1J", "\n d\nef", 0, 1},
		{"erase all", "ab\r\ncd\x1b[2Jx", "\n  x", 3, 1},
		{"erase characters", "abcdef\r\x1b[3X", "   def", 0, 0},
		{"insert characters", "abcdef\r\x1b[2@", "  abcdef", 0, 0},
		{"insert characters, pushed out", "0123456789\r\x1b[2@", "  01234567", 0, 0},
		{"delete characters", "abcdef\r\x1b[2P", "cdef", 0, 0},
		{"delete more than there are", "abcdef\x1b[3G\x1b[99P", "ab", 2, 0},
		{"insert mode", "abc\r\x1b[4hX\x1b[4lY", "XYbc", 2, 0},
		{"insert lines", "a\r\nb\r\nc\x1b[2H\x1b[Lx", "a\nx\nb\nc", 1, 1},
		{"delete lines", "a\r\nb\r\nc\x1b[1H\x1b[2M", "c", 0, 0},
		{"scroll up", "a\r\nb\r\nc\x1b[S", "b\nc", 1, 2},
		{"scroll down", "a\r\nb\r\nc\x1b[2T", "\n\na\nb", 1, 2},
		{"scroll region", "a\r\nb\r\nc\r\nd\x1b[2;3r\x1b[3Hx\r\ny", "a\nx\ny\nd", 1, 2},
		{"below the region", "\x1b[1;2r\x1b[4;1Ha\r\nb", "\n\n\nb", 1, 3},
		{"origin mode", "\x1b[2;3r\x1b[?6h\x1b[9;1Hx\x1b[Hy", "\ny\nx", 1, 1},
		{"reverse index", "a\r\nb\x1b[H\x1bMx", "x\na\nb", 1, 0},
		{"index and next line", "a\x1bDb\x1bEc", "a\n b\nc", 1, 2},
		{"save and restore", "ab\x1b7cd\x1b8X", "abXd", 3, 0},
		{"the other save and restore", "ab\x1b[scd\x1b[uX", "abXd", 3, 0},
		{"repeat", "ab\x1b[3b", "abbbb", 5, 0},
		{"line drawing", "\x1b(0lqk\x1b(Blqk", "┌─┐lqk", 6, 0},
		{"line drawing by shift", "\x1b)0\x0eq\x0fq", "─q", 2, 0},
		{"alignment", "\x1b#8\x1b[2;1H\x1b[J", "EEEEEEEEEE", 0, 1},
		{"alternate screen", "main\x1b[?1049h\x1b[Halt\x1b[?1049l!", "main!", 5, 0},
		{"shown alternate screen", "main\x1b[?1049h\x1b[Halt", "alt", 3, 0},
		{"wide", "日本x", "日本x", 5, 0},
		{"wide does not fit", "012345678日", "012345678\n日", 2, 1},
		{"half of a wide one overwritten", "日本\x1b[2Gx", " x本", 2, 0},
		{"half of a wide one erased", "日本\x1b[3G\x1b[X", "日", 2, 0},
		{"combining", "e\u0301x", "e\u0301x", 2, 0},
		{"combining at the edge", "012345678e\u0301x", "012345678e\u0301\nx", 1, 1},
		{"emoji without graphemes", "👩\u200d💻x", "👩\u200d💻x", 5, 0},
		{"emoji with graphemes", "\x1b[?2027h👩\u200d💻x", "👩\u200d💻x", 3, 0},
		{"becomes wide", "\x1b[?2027h❤\ufe0fx", "❤\ufe0fx", 3, 0},
		{"right to left", "שלום", "שלום", 4, 0},
		{"not UTF-8", "a\xffb\xc3(", "a\ufffdb\ufffd(", 5, 0},
		{"cut off by an escape", "a\xe2\x9c\x1b[2Gb", "ab", 2, 0},
		{"reset", "ab\x1b[31m\x1b[?7l\x1bcx", "x", 1, 0},
		{"soft reset", "ab\x1b[4h\x1b[!pX", "abX", 3, 0},
		{"taken back", "a\x1b[12\x18b", "ab", 2, 0},
		{"control within a sequence", "ab\x1b[1\bDx", "xb", 1, 0},
		{"many parameters", "\x1b[" + strings.Repeat("1;", 100) + "Hx", "x", 1, 0},
		{"huge parameter", "\x1b[99999999999999999999Cx", "         x", 9, 0},
		{"unfinished title", "a\x1b]0;never ending", "a", 1, 0},
		{"title with a check mark", "a\x1b]0;✓ done\x07b", "ab", 2, 0},
		{"link", "\x1b]8;;https://example.com\x1b\\go\x1b]8;;\x1b\\", "go", 2, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			whole := NewEmulator(10, 4, nil)
			_, _ = whole.Write([]byte(c.in))
			s := whole.Screen()
			if got := s.Text(); got != c.want {
				t.Errorf("the screen is %q, want %q", got, c.want)
			}
			if s.CursorX != c.x || s.CursorY != c.y {
				t.Errorf("the cursor is at %d,%d, want %d,%d", s.CursorX, s.CursorY, c.x, c.y)
			}
			if len(s.Unknown) > 0 {
				t.Errorf("not known: %q", s.Unknown)
			}
			byByte := NewEmulator(10, 4, nil)
			for i := range len(c.in) {
				_, _ = byByte.Write([]byte{c.in[i]})
			}
			if got := byByte.Screen(); got.Text() != s.Text() || got.CursorX != s.CursorX || got.CursorY != s.CursorY {
				t.Errorf("byte by byte it is\n%s", got)
			}
		})
	}
}

func TestStyles(t *testing.T) {
	for in, want := range map[string]Style{
		"\x1b[1;3;4mx":                   {Attr: Bold | Italic | Underline},
		"\x1b[1;2;22mx":                  {},
		"\x1b[3;4;5;7;8;9mx":             {Attr: Italic | Underline | Blink | Reverse | Hidden | Strike},
		"\x1b[7m\x1b[27mx":               {},
		"\x1b[4:3mx":                     {Attr: Underline},
		"\x1b[4m\x1b[4:0mx":              {},
		"\x1b[31mx":                      {Foreground: Indexed(1)},
		"\x1b[97;104mx":                  {Foreground: Indexed(15), Background: Indexed(12)},
		"\x1b[38;5;208;1mx":              {Foreground: Indexed(208), Attr: Bold},
		"\x1b[48;2;1;2;3;1mx":            {Background: RGB(1, 2, 3), Attr: Bold},
		"\x1b[38:2::10:20:30;3mx":        {Foreground: RGB(10, 20, 30), Attr: Italic},
		"\x1b[38:5:7mx":                  {Foreground: Indexed(7)},
		"\x1b[58;5;3mx":                  {UnderlineColor: Indexed(3)},
		"\x1b[31;42m\x1b[39;49mx":        {},
		"\x1b[31m\x1b[mx":                {},
		"\x1b]8;id=1;https://a.b\x07x":   {Link: "https://a.b"},
		"\x1b]8;;https://a.b\x07\x1b[mx": {Link: "https://a.b"},
	} {
		s := Render(10, 2, in)
		if got := s.Cell(0, 0); got.Style != want || got.Rune != "x" {
			t.Errorf("%q: %+v, want %+v", in, got, want)
		}
		if len(s.Unknown) > 0 {
			t.Errorf("%q: not known: %v", in, s.Unknown)
		}
	}
	if got := fmt.Sprint(Indexed(7), RGB(1, 2, 255), Color(0)); got != "7 #0102ff default" {
		t.Errorf("colours are written as %s", got)
	}
	// What is erased has the background of that moment.
	if got := Render(10, 2, "\x1b[44m\x1b[K").Cell(5, 0).Style; got != (Style{Background: Indexed(4)}) {
		t.Errorf("an erased cell is %+v", got)
	}
}

// TestQuestionsToTheTerminal asks what programs ask.
func TestQuestionsToTheTerminal(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b[c":                  "\x1b[?62;22;52c",
		"\x1b[>c":                 "\x1b[>1;10;0c",
		"\x1b[5n":                 "\x1b[0n",
		"ab\x1b[6n":               "\x1b[1;3R",
		"\x1b[?6n":                "\x1b[?1;1R",
		"\x1b[?996n":              "\x1b[?997;1n",
		"\x1b[?2026$p":            "\x1b[?2026;2$y",
		"\x1b[?2027$p":            "\x1b[?2027;2$y",
		"\x1b[?2027h\x1b[?2027$p": "\x1b[?2027;1$y",
		"\x1b[?4711$p":            "\x1b[?4711;0$y",
		"\x1b]11;?\x07":           "\x1b]11;rgb:0d0d/1111/1717\x1b\\",
		"\x1b]10;?\x1b\\":         "\x1b]10;rgb:e6e6/eded/f3f3\x1b\\",
		"\x1b[18t":                "\x1b[8;4;10t",
		"\x1b[>q":                 "\x1bP>|termtest(1)\x1b\\",
		"\x1bP+q524742\x1b\\":     "\x1bP0+r\x1b\\",
		"\x1b[?u":                 "",
		"\x1b[?25$p\x1b[?25l":     "\x1b[?25;1$y",
		"\x1b[?1049h\x1b[?1049$p": "\x1b[?1049;1$y",
		"\x1b[14t\x1b[16t":        "\x1b[4;80;100t\x1b[6;20;10t",
	} {
		var got strings.Builder
		e := NewEmulator(10, 4, func(s string) { got.WriteString(s) })
		_, _ = e.Write([]byte(in))
		if got.String() != want {
			t.Errorf("%q is answered with %q, want %q", in, got.String(), want)
		}
		if u := e.Screen().Unknown; len(u) > 0 {
			t.Errorf("%q: not known: %v", in, u)
		}
	}
}

// TestWhatATextMayNeverCause shows that each such thing leaves a trace.
func TestWhatATextMayNeverCause(t *testing.T) {
	s := Render(20, 3, "\a\x1b]0;owned\x07\x1b]52;c;aGk=\x07\x1b]9;note\x07\x1b]1337;File=:x\x07\x1b[5$z\x1b[7;7t\x1b\x7e\x1bPq#0\x1b\\\x1b_G\x1b\\\x1b[?4242h\u009b31m\x05\x1b[38;9m")
	if s.Bell != 1 || s.Title != "owned" || s.Titles != 1 || !slices.Equal(s.Clipboard, []string{"c;aGk="}) {
		t.Errorf("bell %d, title %q, clipboard %q", s.Bell, s.Title, s.Clipboard)
	}
	want := []string{
		`OSC "9;note"`, `OSC "1337;File=:x"`, "CSI 5$z", "CSI 7;7t", "ESC ~", `ESC P "q#0"`, `ESC _ "G"`, "CSI ?4242h", "U+009B", `'\x05'`, "CSI 38;9m",
	}
	if !slices.Equal(s.Unknown, want) {
		t.Errorf("not known:\n%q, want\n%q", s.Unknown, want)
	}
}

func TestScrollback(t *testing.T) {
	s := Render(10, 2, "a\nb\nc\nd")
	if got := s.Scrollback(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("scrollback %q", got)
	}
	if got := s.All(); got != "a\nb\nc\nd" {
		t.Errorf("all is %q", got)
	}
	for name, in := range map[string]string{
		"erased":           "a\nb\nc\nd\ne\x1b[3J",
		"alternate screen": "\x1b[?1049ha\nb\nc\nd\ne",
		"within a region":  "\x1b[2;3r\x1b[2Ha\nb\nc\nd",
		"deleted":          "a\nb\nc\x1b[H\x1b[2M",
	} {
		if got := Render(10, 3, in).Scrollback(); len(got) > 0 {
			t.Errorf("%s: scrollback %q", name, got)
		}
	}
}

func TestSynchronizedOutput(t *testing.T) {
	e := NewEmulator(10, 2, nil)
	write := func(text string) { _, _ = e.Write([]byte(text)) }
	write("old\x1b[?2026h\x1b[2K\rne")
	if got := e.Screen().Text(); got != "old" {
		t.Errorf("half a frame is shown: %q", got)
	}
	write("w\x1b[?2026l")
	if got := e.Screen().Text(); got != "new" {
		t.Errorf("the frame is %q", got)
	}
}

func TestResize(t *testing.T) {
	e := NewEmulator(10, 4, nil)
	_, _ = e.Write([]byte("one 456789\r\ntwo\r\nthree\r\nfour"))
	e.Resize(5, 2)
	s := e.Screen()
	if s.Text() != "three\nfour" || !slices.Equal(s.Scrollback(), []string{"one 456789", "two"}) || s.CursorY != 1 {
		t.Errorf("smaller:\n%s\n%q", s, s.Scrollback())
	}
	e.Resize(8, 4)
	_, _ = e.Write([]byte("\x1b[4;8Hx"))
	if got := e.Screen().Text(); got != "three\nfour\n\n       x" {
		t.Errorf("larger: %q", got)
	}
	e = NewEmulator(10, 3, nil)
	_, _ = e.Write([]byte("a\r\nb\r\nc\x1b[?1049h"))
	e.Resize(10, 2)
	_, _ = e.Write([]byte("\x1b[?1049l"))
	if got := e.Screen().Text(); got != "b\nc" {
		t.Errorf("behind the alternate screen: %q", got)
	}
}

func TestFindAndLeftOver(t *testing.T) {
	s := Render(20, 3, "日本 go\n\nx")
	if x, y, ok := s.Find("go"); x != 5 || y != 0 || !ok {
		t.Errorf("found at %d,%d %v", x, y, ok)
	}
	if _, _, ok := s.Find("nothing"); ok || s.Contains("nothing") || !s.Contains("日本") {
		t.Error("finds what is not there, or not what is")
	}
	if left := s.LeftOver(); len(left) > 0 {
		t.Errorf("left over: %q", left)
	}
	s = Render(20, 3, "\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[?7l\x1b[31m\x1b[>1u\x1b[1;2r\x1b]11;#fff\x07")
	want := []string{
		"the alternate screen is shown", "the cursor is hidden", "lines are not wrapped (mode 7 is off)", "mode 2004 is on", "text is styled",
		"the keyboard protocol is on", "a scroll region is set", "the terminal's colour 11 is changed",
	}
	if got := s.LeftOver(); !slices.Equal(got, want) {
		t.Errorf("left over:\n%q, want\n%q", got, want)
	}
	s = Render(20, 3, "\x1b[?1049h\x1b[?25l\x1b[?2004h\x1b[>4;2m\x1b[31m\x1b]11;#fff\x07\x1b]111\x07\x1b[m\x1b[>4m\x1b[?2004l\x1b[?25h\x1b[?1049l")
	if left := s.LeftOver(); len(left) > 0 {
		t.Errorf("left over after all was put back: %q", left)
	}
}

// FuzzEmulator writes anything, in two parts, with a resize between; whatever comes, the screen holds together.
func FuzzEmulator(f *testing.F) {
	f.Add([]byte("hello \x1b[31mworld\x1b[m\r\n"), uint8(3), uint8(10), uint8(4))
	f.Add([]byte("\x1b[?2027h👩\u200d💻e\u0301\x1b[2;3r\x1bM\x1b[5@\x1b[3P\x1b[9X"), uint8(7), uint8(2), uint8(1))
	f.Add([]byte("\x1b[?1049h日本\x1b[4h\x1b[10b\x1b[?1049l\x1b]0;✓\x07"), uint8(9), uint8(5), uint8(9))
	f.Add([]byte("\x1b[?2026h\x1b[3L\x1b[3M\x1b[?6h\x1b[99;99H\x1b[?7lx日"), uint8(1), uint8(3), uint8(2))
	f.Fuzz(func(t *testing.T, in []byte, at, cols, rows uint8) {
		e := NewEmulator(int(cols%40), int(rows%20), nil)
		cut := min(int(at), len(in))
		_, _ = e.Write(in[:cut])
		before := e.Screen()
		text := before.Text()
		e.Resize(int(rows%30), int(cols%15))
		_, _ = e.Write(in[cut:])
		if before.Text() != text {
			t.Fatal("a screen changed after it was taken")
		}
		e.frozen = nil
		hold(t, e)
	})
}

// hold checks what is always so.
func hold(t *testing.T, e *Emulator) {
	t.Helper()
	s := e.Screen()
	if len(s.rows) != s.Rows || s.CursorX < 0 || s.CursorX >= s.Cols || s.CursorY < 0 || s.CursorY >= s.Rows {
		t.Fatalf("%d rows of %d, cursor %d,%d", len(s.rows), s.Rows, s.CursorX, s.CursorY)
	}
	if e.top < 0 || e.top > e.bottom || e.bottom >= e.rows {
		t.Fatalf("the region is %d to %d", e.top, e.bottom)
	}
	for y := range s.rows {
		if len(s.rows[y]) != s.Cols {
			t.Fatalf("row %d has %d columns", y, len(s.rows[y]))
		}
		for x := range s.rows[y] {
			c := s.rows[y][x]
			if (c.width == 0) != (x > 0 && s.rows[y][x-1].width == 2) {
				t.Fatalf("cell %d,%d: half a wide character: %+v", x, y, s.rows[y])
			}
			if c.width == 2 && x == s.Cols-1 {
				t.Fatalf("cell %d,%d: a wide character without a place", x, y)
			}
			if len(c.text) > maxCluster || !utf8.ValidString(c.text) || strings.ContainsFunc(c.text, func(r rune) bool { return r < ' ' }) {
				t.Fatalf("cell %d,%d holds %q", x, y, c.text)
			}
		}
	}
}
