package paint_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

var update = flag.Bool("update", false, "write what is drawn into the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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
func visible(lines []string) string {
	return strings.ReplaceAll(strings.Join(lines, "\n"), "\x1b", "␛") + "\n"
}

// styles are what tests draw with: without colours, and with all.
func styles(color bool) *paint.Styles {
	if color {
		return paint.Profile{Color: true, Dark: true, Links: true}.Styles()
	}
	return paint.Profile{}.Styles()
}

// checkLines fails if a line is too long, or holds what must not reach a terminal. Escape codes of styles and links are taken away first,
// where lines may have them.
func checkLines(t *testing.T, lines []string, width int, styled bool) {
	t.Helper()
	for _, line := range lines {
		if n := paint.Width(line); width > 0 && n > max(width, 2) {
			t.Fatalf("a line has %d columns, not %d: %.200q", n, width, line)
		}
		text := line
		if styled {
			text = unstyled(t, line)
		}
		for _, r := range text {
			if r == '\n' || unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == '\ufeff' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' {
				t.Fatalf("%U reaches the terminal: %.200q", r, line)
			}
		}
	}
}

// unstyled takes away the escape codes that are ours: attributes, and links to pages and mailboxes. It fails if there are others, or if a
// line leaves something switched on.
func unstyled(t *testing.T, line string) string {
	t.Helper()
	var b strings.Builder
	on, linked := false, false
	for rest := line; ; {
		before, after, found := strings.Cut(rest, "\x1b")
		b.WriteString(before)
		if !found {
			break
		}
		switch {
		case strings.HasPrefix(after, "["):
			end := strings.IndexFunc(after[1:], func(r rune) bool { return r != ';' && r != ':' && (r < '0' || r > '9') })
			if end < 0 || after[1+end] != 'm' {
				t.Fatalf("a strange escape code: %.200q", line)
			}
			on = after[1:1+end] != "" && after[1:1+end] != "0"
			rest = after[2+end:]
		case strings.HasPrefix(after, "]8;;"):
			target, more, found := strings.Cut(after[4:], "\a")
			if !found {
				t.Fatalf("a link without an end: %.200q", line)
			}
			if linked = target != ""; linked && !strings.HasPrefix(strings.ToLower(target), "http") && !strings.HasPrefix(strings.ToLower(target), "mailto:") {
				t.Fatalf("a link to %q", target)
			}
			rest = more
		default:
			t.Fatalf("a strange escape code: %.200q", line)
		}
	}
	if on || linked {
		t.Fatalf("the line leaves something switched on: %.200q", line)
	}
	return b.String()
}

// nasty are texts that would like to break a terminal, or to cost much.
var nasty = []string{
	"",
	"\x1b[31mred\x1b[2J\x1b[H\x1b]0;title\a\x1b]52;c;aGVsbG8=\a\x1b]8;;http://x\x1b\\link",
	"\u009b31m\u009d0;title\u009c \x00\x07\x08\x0b\x0c\x0e\x7f\r\r\n\u0085\u2028\u2029\t.",
	"\u202eesrever\u202c \u2066isolate\u2069 \ufeff\u200b\u00ad",
	"שלום עולם, مرحبا بالعالم and back",
	"日本語のとても長いテキストがここにあります、折り返してください。",
	"👩‍👩‍👧‍👦 🇩🇪🇫🇷 👍🏽 ❤️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 \u200d\u200d\u200d",
	"e" + strings.Repeat("\u0301", 500) + " " + strings.Repeat("\u00ad", 500),
	strings.Repeat("\u1100", 500) + strings.Repeat("\u1160", 500) + strings.Repeat("\u11a8", 500),
	strings.Repeat("👩\u200d", 500),
	"\xff\xfe broken \xc3\x28 \xed\xa0\x80",
	"[x](javascript:alert(1)) ![y](file:///etc/passwd) <a href=\"x\">b</a> [z](http://x/\x1b]0;t) &#27;[2J &#x9b;31m &#8238;",
	"<https://example.org/\u202e> <mailto:x@example.org> www.example.org",
	strings.Repeat("> ", 300) + "deep\n" + strings.Repeat("- ", 300) + "deep\n" + strings.Repeat("1. ", 300) + "deep",
	strings.Repeat("[", 500) + strings.Repeat("*_`~", 500) + strings.Repeat("](", 500) + strings.Repeat("![", 200),
	"| a | b |\n|---|:-:|\n| \x1b[2J | " + strings.Repeat("wide ", 50) + " |\n|" + strings.Repeat("x|", 60) + "\n\n|" + strings.Repeat("a|", 60) + "\n|" + strings.Repeat("-|", 60) + "\n|" + strings.Repeat("1|", 60),
	"    indented\n\ncode\n\n\tand tab\n\n```\nopen fence",
	"- a\n\n  ```go\n  x\n\n  y\n  ```\n- b\n\n      indented\n\nafter",
	"~~~~\n```\n~~~\n~~~~\nText\n===\nmore\n---\n***\n* * *\n",
	"a  \nb\\\nc\n\n\n\nd\r\ne\r\n",
	"1) x\n2) y\n\n10. ten\n11. eleven\n\n- [x] done\n- [ ] open\n",
	"[foo]: http://example.org\n\n[foo] and [foo][] and [bar][foo]\n",
}
