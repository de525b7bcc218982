package paint_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

func TestClean(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"ordinary", "Grüße, 日本語 👩‍👩‍👧‍👦", "Grüße, 日本語 👩‍👩‍👧‍👦"},
		{"lines", "a\nb\r\nc", "a\nb\nc"},
		{"lone return", "a\rb", "a␍b"},
		{"tab", "a\tb", "a    b"},
		{"escape", "\x1b[31m", "␛[31m"},
		{"delete", "\x7f", "␡"},
		{"c1", "\u009b31m", "\ufffd31m"},
		{"order", "\u202eabc\u2066", "\ufffdabc\ufffd"},
		{"separators", "a\u2028b\u2029c\ufeff", "a\ufffdb\ufffdc\ufffd"},
		{"broken", "a\xffb", "a\ufffdb"},
		{"thirty marks", "e" + strings.Repeat("\u0301", 30), "e" + strings.Repeat("\u0301", 30)},
		{"more marks", "e" + strings.Repeat("\u0301", 40) + "f\u0301", "e" + strings.Repeat("\u0301", 30) + "f\u0301"},
		{"marks around", strings.Repeat("\u0301", 29) + "\x01" + strings.Repeat("\u0301", 31), strings.Repeat("\u0301", 29) + "␁" + strings.Repeat("\u0301", 30)},
		{"right to left", "שלום", "שלום"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := paint.Clean(test.text); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestCleanLine(t *testing.T) {
	tests := []struct {
		text  string
		width int
		want  string
	}{
		{"one\n two\t three ", 0, "one two three"},
		{"one two three", 13, "one two three"},
		{"one two three", 12, "one two thr…"},
		{"one two three", 9, "one two…"},
		{"日本語", 6, "日本語"},
		{"日本語", 5, "日本…"},
		{"日本語", 4, "日…"},
		{"日本語", 1, "…"},
		{"\x1b[2J", 80, "␛[2J"},
		{strings.Repeat("x", 1<<20), 5, "xxxx…"},
		{strings.Repeat(" ", 1<<20) + "x", 5, "x"},
		{"x" + strings.Repeat(" ", 1<<20) + "y", 5, "x …"},
	}
	for _, test := range tests {
		if got := paint.CleanLine(test.text, test.width); got != test.want {
			t.Errorf("%.40q in %d: got %q, want %q", test.text, test.width, got, test.want)
		}
	}
}

func TestFirstLine(t *testing.T) {
	tests := []struct {
		text string
		want string
		more int
	}{
		{"", "", 0},
		{"one", "one", 0},
		{"\n \none\ntwo\nthree\n\n", "one", 2},
		{"a long line", "a long…", 0},
	}
	for _, test := range tests {
		if got, more := paint.FirstLine(test.text, 8); got != test.want || more != test.more {
			t.Errorf("%q: got %q and %d more", test.text, got, more)
		}
	}
}

func TestWrap(t *testing.T) {
	tests := []struct {
		name, text string
		width      int
		want       []string
	}{
		{"empty", "", 10, []string{""}},
		{"words", "the quick brown fox", 10, []string{"the quick", "brown fox"}},
		{"exactly", "the quick brown", 9, []string{"the quick", "brown"}},
		{"line feeds", "a\n\nb\n", 10, []string{"a", "", "b", ""}},
		{"long word", "a verylongwordindeed b", 6, []string{"a", "verylo", "ngword", "indeed", "b"}},
		{"indentation", "    code here and more", 12, []string{"    code", "here and", "more"}},
		{"indentation too wide", "            x", 4, []string{"x"}},
		{"inner spaces", "a   b", 10, []string{"a   b"}},
		{"spaces at the break", "aaaa     bbbb", 6, []string{"aaaa", "bbbb"}},
		{"wide", "日本語のテキスト", 7, []string{"日本語", "のテキ", "スト"}},
		{"wide in one column", "日本", 1, []string{"日", "本"}},
		{"wide among words", "see 日本語 here", 8, []string{"see 日本", "語 here"}},
		{"family", "👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 8, []string{"👩‍👩‍👧‍👦", "👩‍👩‍👧‍👦"}},
		{"marks", "e\u0301e\u0301e\u0301", 2, []string{"e\u0301e\u0301", "e\u0301"}},
		{"right to left", "שלום עולם", 5, []string{"שלום", "עולם"}},
		{"not at all", "a  b  \nc", 0, []string{"a  b", "c"}},
		{"cleaned", "\x1b[2Jabc", 4, []string{"␛[2J", "abc"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, paint.Wrap(test.text, test.width)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestWrapLinear holds that wrapping does not cost more per byte for a long line: what is allocated is the lines, and no more than that.
func TestWrapLinear(t *testing.T) {
	for name, piece := range map[string]string{
		"one word": "0123456789", "words": "word and ", "wide": "日本語", "family": "👩‍👩‍👧‍👦", "marks": "e" + strings.Repeat("\u0301", 20), "jamo": strings.Repeat("\u1100", 10),
		"nothing": "\u00ad", "spaces": "          ", "escapes": "\x1b[31m",
	} {
		t.Run(name, func(t *testing.T) {
			cost := func(n int) float64 {
				text := strings.Repeat(piece, n/len(piece))
				return testing.AllocsPerRun(1, func() { paint.Wrap(text, 80) })
			}
			small, large := cost(1<<13), cost(1<<17)
			if large > 16*small+64 {
				t.Errorf("16 times as long a text allocates %.0f instead of %.0f times", large, small)
			}
			lines := paint.Wrap(strings.Repeat(piece, (1<<17)/len(piece)), 80)
			checkLines(t, lines[:min(len(lines), 500)], 80, false)
			for _, line := range lines {
				if len(line) > 80*130 {
					t.Fatalf("a line of 80 columns has %d bytes", len(line))
				}
			}
		})
	}
}

// TestLongLine wraps a line of ten megabytes.
func TestLongLine(t *testing.T) {
	text := strings.Repeat("0123456789", 1<<20)
	lines := paint.Wrap(text, 100)
	if len(lines) != len(text)/100+1 || strings.Join(lines, "") != text {
		t.Errorf("%d lines", len(lines))
	}
	if got := paint.CleanLine(text, 80); paint.Width(got) != 80 {
		t.Errorf("a line of %d columns", paint.Width(got))
	}
}

func FuzzCleanWrap(f *testing.F) {
	for _, text := range nasty {
		f.Add(text, 10)
		f.Add(text, 1)
	}
	f.Fuzz(func(t *testing.T, text string, width int) {
		width %= 200
		clean := paint.Clean(text)
		if !utf8.ValidString(clean) || paint.Clean(clean) != clean || len(clean) > 4*len(text) {
			t.Fatalf("cleaned to %q", clean)
		}
		checkLines(t, strings.Split(clean, "\n"), 0, false)
		lines := paint.Wrap(text, width)
		checkLines(t, lines, width, false)
		// Only spaces are lost.
		letters := func(s string) string { return strings.NewReplacer(" ", "", "\n", "").Replace(s) }
		if got, want := letters(strings.Join(lines, "")), letters(clean); got != want {
			t.Fatalf("got the letters %q, want %q", got, want)
		}
		line := paint.CleanLine(text, width)
		checkLines(t, []string{line}, width, false)
		first, _ := paint.FirstLine(text, width)
		checkLines(t, []string{first, paint.Cut(line, width)}, width, false)
	})
}
