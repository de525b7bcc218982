package compose

import (
	"strings"
	"testing"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// named are the keys that write nothing.
var named = map[string]tea.KeyPressMsg{
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown},
	"left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight}, "home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd},
	"backspace": {Code: tea.KeyBackspace}, "delete": {Code: tea.KeyDelete}, "alt+enter": {Code: tea.KeyEnter, Mod: tea.ModAlt},
	"shift+enter": {Code: tea.KeyEnter, Mod: tea.ModShift}, "ctrl+j": {Code: 'j', Mod: tea.ModCtrl}, "alt+left": {Code: tea.KeyLeft, Mod: tea.ModAlt},
	"alt+right": {Code: tea.KeyRight, Mod: tea.ModAlt}, "alt+backspace": {Code: tea.KeyBackspace, Mod: tea.ModAlt}, "alt+d": {Code: 'd', Mod: tea.ModAlt},
	"ctrl+c": {Code: 'c', Mod: tea.ModCtrl}, "ctrl+g": {Code: 'g', Mod: tea.ModCtrl}, "ctrl+k": {Code: 'k', Mod: tea.ModCtrl},
	"ctrl+n": {Code: 'n', Mod: tea.ModCtrl}, "ctrl+p": {Code: 'p', Mod: tea.ModCtrl}, "ctrl+s": {Code: 's', Mod: tea.ModCtrl},
	"ctrl+u": {Code: 'u', Mod: tea.ModCtrl}, "ctrl+w": {Code: 'w', Mod: tea.ModCtrl}, "ctrl+x": {Code: 'x', Mod: tea.ModCtrl},
	"ctrl+_": {Code: '_', Mod: tea.ModCtrl}, "pgup": {Code: tea.KeyPgUp}, "ctrl+home": {Code: tea.KeyHome, Mod: tea.ModCtrl},
}

// keys turns a script into keys: names in angle brackets, everything else letter by letter.
func keys(t testing.TB, script string) []tea.KeyPressMsg {
	t.Helper()
	var list []tea.KeyPressMsg
	for script != "" {
		if script[0] == '<' {
			name, rest, ok := strings.Cut(script[1:], ">")
			key, known := named[name]
			if !ok || !known {
				t.Fatalf("%q is no key", name)
			}
			list, script = append(list, key), rest
			continue
		}
		r, n := utf8.DecodeRuneInString(script)
		list, script = append(list, tea.KeyPressMsg{Code: r, Text: string(r)}), script[n:]
	}
	return list
}

func TestField(t *testing.T) {
	const family, flag = "👩‍👩‍👧‍👦", "🇩🇪"
	for _, test := range []struct{ name, text, keys, want string }{
		{"write", "", "abc", "abc|"},
		{"in the middle", "ac", "<left>b", "ab|c"},
		{"beginning and end", "b", "<home>a<end>c", "abc|"},
		{"remove", "abc", "<backspace><home><delete>", "|b"},
		{"a character of many code points", "a" + family + "b", "<left><backspace>", "a|b"},
		{"over it", "a" + family + flag, "<left><left>x", "ax|" + family + flag},
		{"an accent", "e\u0301", "<backspace>", "|"},
		{"at the edges", "", "<left><right><backspace><delete><up><down>", "|"},
		{"by words", "one two_2 three", "<alt+left><alt+left>x", "one x|two_2 three"},
		{"by words to the right", "one two", "<home><alt+right>x", "onex| two"},
		{"remove words", "one two three", "<alt+backspace><alt+left><alt+d>", "one | "},
		{"remove up to a space", "make a/b/c", "<ctrl+w>", "make |"},
		{"remove the line", "one\ntwo", "<ctrl+u><ctrl+u>", "one|"},
		{"remove the rest", "one\ntwo", "<up><home><ctrl+k><ctrl+k>", "|two"},
		{"lines", "", "a<alt+enter>b<shift+enter>c<ctrl+j>d", "a\nb\nc\nd|"},
		{"up and down keep the column", "abcdef\nx\nabcdef", "<up><up>|<down><down>!", "abcdef|\nx\nabcdef!|"},
		{"undo", "", "ab<backspace>c<ctrl+_><ctrl+_>", "ab|"},
		{"undo everything, and more", "", "a<ctrl+_><ctrl+_>", "|"},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := Field{Multiline: true}.Set(test.text)
			for _, key := range keys(t, test.keys) {
				f, _ = f.Key(key, 40)
			}
			if got := f.text[:f.pos] + "|" + f.text[f.pos:]; got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestFieldTakesNothingHarmful(t *testing.T) {
	f, err := Field{Multiline: true}.Insert("a\x1b[31mb\x1b]52;c;Zm9v\x07c\x00\r\nd\re\tf\u009b2J\xff")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := f.Value(), "abc\nd\ne\tf2J"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	f, _ = Field{}.Insert("one\ntwo\tthree")
	if got, want := f.Value(), "one two three"; got != want {
		t.Errorf("a field of one line: got %q, want %q", got, want)
	}
	lines, _, _ := Field{}.Set("safe \u202eevil\u2066").Lines(40, 0)
	if strings.ContainsAny(lines[0], "\u202e\u2066") {
		t.Errorf("the order of letters can be turned around: %q", lines[0])
	}
}

func TestFieldIsBounded(t *testing.T) {
	f, err := Field{Multiline: true}.Insert(strings.Repeat("x", 10<<20))
	if err == nil || !strings.Contains(err.Error(), "attach it with @PATH") || f.Value() != "" {
		t.Errorf("got %v, and %d bytes", err, len(f.Value()))
	}
	f = Field{Multiline: true}.Set(strings.Repeat("é", 10<<20))
	if n := len(f.Value()); n != MaxText || !utf8.ValidString(f.Value()) {
		t.Errorf("10 MB became %d bytes", n)
	}
	if f, err = f.Insert("y"); err == nil {
		t.Error("a full field takes more")
	}
	if lines, _, _ := f.Lines(80, 8); len(lines) != 8 {
		t.Errorf("%d lines are shown of 8", len(lines))
	}
}

func TestFieldWraps(t *testing.T) {
	for _, test := range []struct {
		text  string
		width int
		want  string
		x, y  int
	}{
		{"", 10, "", 0, 0},
		{"one two three", 9, "one two |three", 5, 1},
		{"123456789", 5, "1234|5678|9", 1, 2},
		{"1234", 5, "1234", 4, 0},
		{"a\n\nb", 10, "a||b", 1, 2},
		{"漢字かな", 6, "漢字|かな", 4, 1},
		{"漢字", 2, "?|?", 1, 1},
		{"a\tb", 20, "a    b", 6, 0},
	} {
		lines, x, y := Field{Multiline: true}.Set(test.text).Lines(test.width, 0)
		if got := strings.Join(lines, "|"); got != test.want || x != test.x || y != test.y {
			t.Errorf("%q in %d columns: got %q, cursor %d, %d; want %q, cursor %d, %d", test.text, test.width, got, x, y, test.want, test.x, test.y)
		}
	}
}

func FuzzField(f *testing.F) {
	f.Add("one two\nthree", "\x01\x02ab\x03", uint8(7))
	f.Add("e\u0301👩‍👩‍👧‍👦\u202e", "\x04\x05\x06\x07漢", uint8(1))
	order := []string{"left", "right", "up", "down", "home", "end", "backspace", "delete", "alt+left", "alt+right", "alt+backspace", "alt+d", "ctrl+k", "ctrl+u", "ctrl+w", "ctrl+_", "alt+enter"}
	f.Fuzz(func(t *testing.T, text, script string, columns uint8) {
		if len(text) > 2000 || len(script) > 300 {
			t.Skip("more of the same")
		}
		width := max(2, int(columns))
		field := Field{Multiline: columns%2 == 0}.Set(text)
		for _, r := range script {
			if r < 0x20 {
				field, _ = field.Key(named[order[int(r)%len(order)]], width)
			} else {
				field, _ = field.Key(tea.KeyPressMsg{Code: r, Text: string(r)}, width)
			}
			if field.pos < 0 || field.pos > len(field.text) || !utf8.ValidString(field.text[:field.pos]) || !utf8.ValidString(field.text) {
				t.Fatalf("the cursor is at %d in %q", field.pos, field.text)
			}
			lines, x, y := field.Lines(width, 5)
			if y < 0 || y >= len(lines) || x < 0 || x >= width || len(lines) > 5 {
				t.Fatalf("the cursor is at %d, %d in %q of %d columns", x, y, lines, width)
			}
			for _, line := range lines {
				if ansi.StringWidth(line) > width || strings.ContainsAny(line, "\x1b\n\r\t") {
					t.Fatalf("the line %q in %d columns", line, width)
				}
			}
		}
	})
}
