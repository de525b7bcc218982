package paint_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

func TestMarkdown(t *testing.T) {
	text, err := os.ReadFile("testdata/sample.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, width := range []int{40, 80, 120} {
		for _, color := range []bool{false, true} {
			name := fmt.Sprintf("markdown/%d.txt", width)
			if color {
				name = fmt.Sprintf("markdown/%d-color.txt", width)
			}
			t.Run(name, func(t *testing.T) {
				lines := styles(color).Markdown(string(text), width)
				checkLines(t, lines, width, color)
				golden(t, name, visible(lines))
			})
		}
	}
}

func TestMarkdownBlocks(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"nothing", " \n\n", nil},
		{"paragraphs", "a\nb\n\n\nc", []string{"a", "b", "", "c"}},
		{"heading and text", "# One\ntext\n## Two", []string{"# One", "", "text", "", "## Two"}},
		{"setext", "One\n===\ntext", []string{"# One", "", "text"}},
		{"tight list", "- a\n- b\n  c\n- d", []string{"• a", "• b", "  c", "• d"}},
		{"loose list", "- a\n\n- b", []string{"• a", "", "• b"}},
		{"nested", "- a\n  - b\n    1. c", []string{"• a", "  • b", "    1. c"}},
		{"numbers", "3. c\n4. d", []string{"3. c", "4. d"}},
		{"list after text", "text:\n- a\n- b", []string{"text:", "", "• a", "• b"}},
		{"number within text", "in\n1986. It was", []string{"in", "1986. It was"}},
		{"tasks", "- [ ] a\n- [x] b", []string{"☐ a", "✓ b"}},
		{"quote", "> a\n> > b", []string{"│ a", "│", "│ │ b"}},
		{"fence", "```go\nx\n\n  y\n```\nz", []string{"go", "  x", "", "    y", "", "z"}},
		{"open fence", "```\nx", []string{"code", "  x"}},
		{"fence of tildes", "~~~\n```\n~~~", []string{"code", "  ```"}},
		{"fence in a list", "- a\n  ```\n  x\n\n  y\n  ```\n- b", []string{"• a", "", "  code", "    x", "", "    y", "• b"}},
		{"indented code", "text\n\n    a\n\n    b", []string{"text", "", "  a", "", "  b"}},
		{"rule", "a\n\n---\n\nb", []string{"a", "", strings.Repeat("─", 20), "", "b"}},
		{"html", "<b>x</b> & &lt; &amp;", []string{"<b>x</b> & < &"}},
		{"html block", "<script>\n*x*\n</script>", []string{"<script>", "x", "</script>"}},
		{"entities are cleaned", "&#27;[2J &#x202e;", []string{"␛[2J \ufffd"}},
		{"escapes", `\*a\*`, []string{"*a*"}},
		{"link", "[a](https://b.c)", []string{"a (https://b.c)"}},
		{"link that says it", "<https://b.c> [https://b.c](https://b.c)", []string{"https://b.c", "https://b.c"}},
		{"image", "![a](b.png)", []string{"image: a (b.png)"}},
		{"reference", "[a]: https://b.c", []string{"[a]: https://b.c"}},
		{"code span", "a `b  c` d", []string{"a b  c d"}},
		{"hard break", "a  \nb", []string{"a", "b"}},
		{"table", "| a | b |\n|---|--:|\n| 1 | 22 |", []string{"a │  b", "──────", "1 │ 22"}},
		{"wide table", "| a | b |\n|---|---|\n| one two three | four five six seven |", []string{
			"a        │ b", "────────────────────", "one two  │ four five", "three    │ six seven",
		}},
		{"table of many columns", "|a|b|c|d|\n|-|-|-|-|\n|1|2|3|4|\n|5|6|7|8|", []string{"a: 1", "b: 2", "c: 3", "d: 4", "", "a: 5", "b: 6", "c: 7", "d: 8"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := styles(false).Markdown(test.text, 20)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestLinks holds which addresses a terminal is given.
func TestLinks(t *testing.T) {
	s := styles(true)
	tests := []struct {
		text string
		link string
	}{
		{"[a](https://b.c/d?e=f)", "https://b.c/d?e=f"},
		{"[a](HTTP://b.c)", "HTTP://b.c"},
		{"[a](mailto:a@b.c)", "mailto:a@b.c"},
		{"https://b.c/d", "https://b.c/d"},
		{"[a](javascript:x)", ""},
		{"[a](file:///etc/passwd)", ""},
		{"[a](b.md)", ""},
		{"[a](<https://b.c/\u202e>)", ""},
		{"[a](https://b.c/&#27;]0;x)", "https://b.c/&#27;]0;x"}, // it stays as it is written
		{"[a](https://b.c/" + strings.Repeat("x", 3000) + ")", ""},
	}
	for _, test := range tests {
		line := strings.Join(s.Markdown(test.text, 0), "\n")
		unstyled(t, line)
		if got := strings.Contains(line, "\x1b]8;;"+test.link+"\a"); test.link != "" && !got || test.link == "" && strings.Contains(line, "\x1b]8") {
			t.Errorf("%.60s: %q", test.text, line)
		}
	}
}

// stream renders a text in pieces, and looks at all that is promised on the way.
func stream(t *testing.T, s *paint.Styles, width int, pieces []string) {
	t.Helper()
	m := paint.NewMarkdownStream(s, width)
	var settled []string
	text := ""
	for i, piece := range pieces {
		m.Push(piece)
		text += piece
		if i%3 == 0 {
			settled = append(settled, m.Settled()...)
			if len(pieces) < 40 || i%17 == 0 {
				whole := append(append([]string(nil), settled...), m.Tail()...)
				if diff := cmp.Diff(s.Markdown(text, width), whole); diff != "" {
					t.Fatalf("after %d pieces (-whole +settled and tail):\n%s\nof %q", i+1, diff, text)
				}
			}
		}
	}
	settled = append(settled, m.Close()...)
	if diff := cmp.Diff(s.Markdown(text, width), settled); diff != "" {
		t.Fatalf("at the end (-whole +settled):\n%s\nof %q", diff, text)
	}
	m.Push("x")
	if diff := cmp.Diff([]string{"x"}, m.Close()); diff != "" {
		t.Fatalf("after the end:\n%s", diff)
	}
}

func TestMarkdownStream(t *testing.T) {
	sample, err := os.ReadFile("testdata/sample.md")
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("word ", 4000)
	random := rand.New(rand.NewPCG(3, 4))
	for n, text := range append([]string{string(sample), long + "\n- a\n\n- b", "```\n" + long + "\nx\n```\ny", strings.Repeat("x", 40000), strings.Repeat("- item\n", 3000)}, nasty...) {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			for range 2 {
				var pieces []string
				for rest := text; rest != ""; {
					size := 1 + random.IntN(min(len(rest), 1+random.IntN(1+len(text)/10)))
					pieces = append(pieces, rest[:size])
					rest = rest[size:]
				}
				stream(t, styles(n%2 == 0), 10+random.IntN(80), pieces)
			}
		})
	}
}

// TestSettled holds that text does not wait longer than it must.
func TestSettled(t *testing.T) {
	tests := []struct {
		text    string
		settled []string
	}{
		{"one\n\ntwo\n", []string{"one"}},
		{"one\n\ntwo\n\nthree", []string{"one"}},
		{"one\n\ntwo\n\nthree\n", []string{"one", "", "two"}},
		{"# one\n", []string{"# one"}},
		{"```\na\nb\nc", []string{"code", "  a", "  b"}},
		{"- a\n- b\n\n- c\n", nil},
		{"- a\n- b\n\ntext\n", []string{"• a", "• b"}},
	}
	for _, test := range tests {
		m := paint.NewMarkdownStream(styles(false), 40)
		m.Push(test.text)
		if diff := cmp.Diff(test.settled, m.Settled()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.text, diff)
		}
	}
}

// TestTailBounded holds that looking at a text while it is written does not cost more the longer it is: what is open is bounded.
func TestTailBounded(t *testing.T) {
	for name, piece := range map[string]string{"list": "- item of a list\n", "line": "and a word ", "code": "x := 1\n", "table": "| a | b |\n", "quote": "> quoted\n", "word": "x"} {
		t.Run(name, func(t *testing.T) {
			m := paint.NewMarkdownStream(styles(false), 80)
			switch name {
			case "code":
				m.Push("```\n")
			case "table":
				m.Push("| a | b |\n|---|---|\n")
			}
			most := 0
			for range 40 {
				m.Push(strings.Repeat(piece, 2000/len(piece)))
				m.Settled()
				size := 0
				for _, line := range m.Tail() {
					size += len(line)
				}
				most = max(most, size)
			}
			if most > 64<<10 {
				t.Errorf("up to %d bytes are open", most)
			}
		})
	}
}

// TestMarkdownParts holds that whatever the text is, it is rendered in parts of bounded size that are no longer than it in all: so the cost
// is linear. What would cost much within a part is shown as it is.
func TestMarkdownParts(t *testing.T) {
	for name, piece := range map[string]string{
		"images": "![a](", "links": "[a](<", "brackets": "[", "emphasis": "*_", "quotes": "> ", "lists": "- ", "deep lists": "1. - > ", "code": "`a``", "tables": "|a|b|\n|-|-|\n",
		"headings": "# a\n", "fences": "```\n", "entities": "&#27;", "backslashes": "\\", "lines": "a\n", "words": "a ", "blank": "\n", "returns": "\r\n", "carriage": "\r",
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Repeat(piece, (40<<10)/len(piece))
			parts := 0
			lines := styles(false).MarkdownParts(text, 80, func(part []byte) {
				if parts += len(part); len(part) > 17<<10 {
					t.Errorf("a part of %d bytes", len(part))
				}
				if strings.Count(string(part), "](") > 3000 {
					t.Error("a part that costs much")
				}
			})
			if parts > len(text)+len(text)/100 {
				t.Errorf("%d bytes were rendered of %d", parts, len(text))
			}
			checkLines(t, lines, 80, false)
			size := 0
			for _, line := range lines {
				size += len(line)
			}
			if size > 8*len(text) {
				t.Errorf("%d bytes came of %d", size, len(text))
			}
		})
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, text := range nasty {
		f.Add(text, 20, true)
		f.Add(text, 0, false)
	}
	f.Fuzz(func(t *testing.T, text string, width int, color bool) {
		width %= 150
		lines := styles(color).Markdown(text, width)
		checkLines(t, lines, width, color)
		if most := 40*(len(text)+10) + 200; len(lines) > most {
			t.Fatalf("%d lines of %d bytes", len(lines), len(text))
		}
	})
}

func FuzzMarkdownStream(f *testing.F) {
	for i, text := range nasty {
		f.Add(text, uint64(i), 30)
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64, width int) {
		if len(text) > 4096 {
			return
		}
		random := rand.New(rand.NewPCG(seed, 0))
		var pieces []string
		for rest := text; rest != ""; {
			size := 1 + random.IntN(min(len(rest), 1+random.IntN(40)))
			pieces = append(pieces, rest[:size])
			rest = rest[size:]
		}
		stream(t, styles(seed%2 == 0), width%100, pieces)
	})
}

// TestNothingIsHidden holds that all that is written can be read: who approves a plan approves all of it.
func TestNothingIsHidden(t *testing.T) {
	for name, text := range map[string]string{
		"a link's title":         `[a](https://b.example "SECRET")`,
		"an image's title":       `![a](https://b.example "SECRET")`,
		"an image's description": `![SECRET](https://b.example)`,
		"behind a language":      "```sh SECRET\nls\n```",
		"in a list":              "- a\n  ```sh SECRET\n  ls\n  ```",
		"a cell too many":        "| a | b |\n|---|---|\n| 1 | 2 | SECRET | 4 |\n",
		"a row without bars":     "a | b\n---|---\n1 | 2 | SECRET\n",
		"a table in a quote":     "> | a |\n> |---|\n> | 1 | SECRET |\n> | 2 |\n",
		"a definition":           "[a]: https://b.example \"SECRET\"\n",
		"a comment":              "a <!-- SECRET --> b",
		"a comment alone":        "<!--\nSECRET\n-->",
		"deep":                   strings.Repeat("*a **b ", 80) + "SECRET" + strings.Repeat("** c*", 80),
		"deep images":            strings.Repeat("![", 80) + "SECRET" + strings.Repeat("](x)", 80),
		"a deep quote":           strings.Repeat("> ", 40) + "SECRET",
		"a deep list":            strings.Repeat("- ", 40) + "SECRET",
		"an empty link":          "[](SECRET)",
		"a checkbox":             "- [x] SECRET",
	} {
		for _, width := range []int{0, 12, 80} {
			if lines := styles(false).Markdown(text, width); !strings.Contains(strings.Join(lines, ""), "SECRET") {
				t.Errorf("%s, %d columns: %q", name, width, lines)
			}
		}
	}
	if lines := styles(false).Markdown("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 |\n", 80); strings.Contains(strings.Join(lines[2:], ""), " | ") {
		t.Errorf("a table that fits has something more: %q", lines)
	}
}
