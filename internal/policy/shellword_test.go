package policy

import (
	"slices"
	"strings"
	"testing"
)

// TestPlainWords compares the strict view's words with what Bash 5.2 passes on.
func TestPlainWords(t *testing.T) {
	for _, tt := range []struct {
		command string
		want    []string
	}{
		{`p a b`, []string{"a", "b"}},
		{`p 'a b' "c d"`, []string{"a b", "c d"}},
		{`p a'b'"c"d`, []string{"abcd"}},
		{`p '' ""`, []string{"", ""}},
		{`p "\a\\\"\$"`, []string{`\a\"$`}},
		{"p \"\\`\"", []string{"`"}},
		{`p '\a\\'`, []string{`\a\\`}},
		{`p \a\\\'\"\ \;`, []string{`a\'" ;`}},
		{`p "it's" 'say "x"'`, []string{"it's", `say "x"`}},
		{"p 'a\nb' \"c\td\"", []string{"a\nb", "c\td"}},
		{`p \é é 'é'`, []string{"é", "é", "é"}},
		{`p a=b -x=y {} } stash@{0} a{b`, []string{"a=b", "-x=y", "{}", "}", "stash@{0}", "a{b"}},
		{`p a#b a~ a! ! %`, []string{"a#b", "a~", "a!", "!", "%"}},
		{`p [ ] = a]`, []string{"[", "]", "=", "a]"}},
		{`p ~ ~/x '~/x'`, []string{"~", "~/x", "~/x"}},
		{`p if then do`, []string{"if", "then", "do"}},
	} {
		s := parseShell(tt.command)
		if s.refused != "" || len(s.calls) != 1 {
			t.Errorf("%q: %s", tt.command, s.refused)
			continue
		}
		if got := textsOf(s.calls[0].words[1:]); !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, want %q", tt.command, got, tt.want)
		}
	}
}

func TestShort(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                  "plain",
		"a\nb\x1b[2K":            `a\u000ab\u001b[2K`,
		"\u202ex":                `\u202ex`,
		strings.Repeat("x", 100): strings.Repeat("x", 80) + "…",
		"größe":                  "größe",
	} {
		if got := short(in); got != want {
			t.Errorf("short(%q) = %q, want %q", in, got, want)
		}
	}
}
