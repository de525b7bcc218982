package report

import (
	"bufio"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/internal/journal"
)

// TestQuoted holds that Markdown stays Markdown, and does nothing.
func TestQuoted(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"# Done\n\n- **bold**, `code`\n- [page](https://example.com)\n", "> # Done\n>\n> - **bold**, `code`\n> - [page](https://example.com)\n"},
		{"~~~go\nx := `<y>`\n~~~\nafter", "> ```go\n> x := `<y>`\n> ```\n> after\n"},
		{"```\nno end", "> ```\n> no end\n> ```\n"},
		{"<b>&lt; ![x](y) [z](data:x)", "> &lt;b>&amp;lt; !\\[x](y) [z\\](data:x)\n"},
		{"a ` b", "> a \\` b\n"},
	} {
		var b strings.Builder
		w := bufio.NewWriter(&b)
		newMarkdown(w, &journal.Session{}, nil).quoted(test.text)
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		if b.String() != test.want {
			t.Errorf("%q gives\n%q, want\n%q", test.text, b.String(), test.want)
		}
	}
}

// TestInText holds that a title reads as it was written.
func TestInText(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"Fix the slugs, a whole task (part 1): snake_case!", "Fix the slugs, a whole task (part 1): snake_case!"},
		{"#1 *x* _y_ <b> [z](w) C#", "\\#1 \\*x\\* \\_y\\_ \\<b\\> \\[z\\](w) C\\#"},
	} {
		if got := inText(test.text); got != test.want {
			t.Errorf("%q gives %q, want %q", test.text, got, test.want)
		}
	}
}
