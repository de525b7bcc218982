package policy

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// A shellWord is one word of a simple command as the program will get it.
type shellWord struct {
	// text is the word after unquoting.
	text string
	// glob says that text has pattern characters which the shell expands, so
	// that the program may get other words, and several.
	glob bool
	// tilde says that the shell puts the home folder for a "~" in front.
	tilde bool
}

// path returns the word as a path in the notation of script.allowed.
func (w shellWord) path() string {
	if !w.tilde && strings.HasPrefix(w.text, "~") {
		return "./" + w.text
	}
	return w.text
}

// plainWord unquotes a word exactly as Bash does, as long as nothing in it
// depends on anything but the text. Otherwise it says what stands in the way.
func plainWord(word *syntax.Word) (w shellWord, why string) {
	if len(word.Parts) == 1 {
		// Most words are one plain literal: nothing to build.
		if lit, ok := word.Parts[0].(*syntax.Lit); ok && (lit.Value == "[" || lit.Value == "=" || harmless(lit.Value)) {
			return shellWord{text: lit.Value}, ""
		}
	}
	var b strings.Builder
	var bare strings.Builder // what is not quoted, for the search for braces
	for i, part := range word.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if i == 0 && strings.HasPrefix(p.Value, "~") {
				if p.Value != "~" && !strings.HasPrefix(p.Value, "~/") || p.Value == "~" && len(word.Parts) > 1 {
					return w, "a `~` that stands for something else than your home folder"
				}
				w.tilde = true
			}
			glob, why := unquoteBare(&b, &bare, p.Value)
			if why != "" {
				return w, why
			}
			w.glob = w.glob || glob
		case *syntax.SglQuoted:
			if p.Dollar {
				return w, "a `$'…'` text"
			}
			bare.WriteByte('\'')
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			if p.Dollar {
				return w, "a `$\"…\"` text"
			}
			bare.WriteByte('\'')
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					return w, partName(inner)
				}
				if why := unquoteDouble(&b, lit.Value); why != "" {
					return w, why
				}
			}
		default:
			return w, partName(part)
		}
	}
	w.text = b.String()
	open := bare.String()
	if i := strings.IndexByte(open, '{'); i >= 0 && (strings.Contains(open[i:], ",") || strings.Contains(open[i:], "..")) {
		return w, "braces that the shell would expand"
	}
	if strings.HasPrefix(open, "=") {
		// zsh puts a program's path there.
		return w, "a word that begins with `=`"
	}
	if strings.Contains(open, "=~") || strings.Contains(open, ":~") {
		// Bash expands a tilde there in what looks like an assignment.
		return w, "a `~` behind `=` or `:`"
	}
	if w.glob {
		switch open[0] {
		case '*', '?', '[':
			return w, "a word that begins with a pattern (write `./*` instead)"
		case '-', '+', '\'':
			return w, "a pattern that may become an option"
		}
	}
	return w, ""
}

// harmless reports whether a literal stands for itself, whatever the shell.
func harmless(lit string) bool {
	for i := range len(lit) {
		c := lit[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '-', c == '_', c == '.', c == '/', c == ',', c == ':', c == '@', c == '%', c == '+':
		case c == '=' && i > 0:
		default:
			return false
		}
	}
	return lit != ""
}

// unquoteBare unquotes a literal that is not quoted as a whole. bare gets what
// has no quote of its own.
func unquoteBare(b, bare *strings.Builder, lit string) (glob bool, why string) {
	for i := 0; i < len(lit); {
		c := lit[i]
		switch {
		case c == '\\':
			if i+1 >= len(lit) {
				return glob, "a backslash at the end of a word"
			}
			// The backslash keeps exactly the next character.
			_, n := utf8.DecodeRuneInString(lit[i+1:])
			b.WriteString(lit[i+1 : i+1+n])
			bare.WriteByte('\'')
			i += 1 + n
			continue
		case c == '$' || c == '`':
			return glob, "a `$` or backquote"
		case c == '*' || c == '?' || c == '[':
			glob = true
		case c == '(' || c == ')' || c == '<' || c == '>' || c == '|' || c == '&' || c == ';' || c == '\'' || c == '"':
			// The parser would have made another node of it.
			return glob, "a character out of place"
		case c == '^' || c == '#':
			// Patterns of zsh, where its user has turned them on.
			if b.Len() == 0 {
				return glob, fmt.Sprintf("a word that begins with `%c`", c)
			}
		case c < ' ' || c == 0x7f:
			return glob, fmt.Sprintf("the character U+%04X outside of quotes", c)
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(lit[i:])
			if why := suspectRune(r, lit[i:i+n]); why != "" {
				return glob, why
			}
			b.WriteString(lit[i : i+n])
			bare.WriteString(lit[i : i+n])
			i += n
			continue
		}
		b.WriteByte(c)
		bare.WriteByte(c)
		i++
	}
	return glob, ""
}

// unquoteDouble unquotes a literal inside of double quotes.
func unquoteDouble(b *strings.Builder, lit string) (why string) {
	for i := 0; i < len(lit); i++ {
		switch c := lit[i]; c {
		case '\\':
			if i+1 < len(lit) && strings.IndexByte("$`\"\\", lit[i+1]) >= 0 {
				i++
			}
			b.WriteByte(lit[i])
		case '$', '`':
			return "a `$` or backquote"
		default:
			b.WriteByte(c)
		}
	}
	return ""
}

// suspectRune says what is wrong with a character that is not ASCII and stands
// outside of quotes.
func suspectRune(r rune, encoded string) string {
	// Letters and digits of all scripts are names like others. Everything else
	// may look like a space or like nothing at all; and bytes that are a blank
	// in some old locale end a word for some shells.
	if unicode.In(r, unicode.L, unicode.Nd, unicode.M) && strings.IndexByte(encoded, 0x85) < 0 && strings.IndexByte(encoded, 0xa0) < 0 {
		return ""
	}
	return fmt.Sprintf("the character U+%04X outside of quotes", r)
}

// suspectText looks for what shells and people may read differently, wherever
// it stands. It returns a whole sentence.
func suspectText(text string) string {
	if isPlainASCII(text) {
		return ""
	}
	if !utf8.ValidString(text) {
		return "The command is not valid UTF-8, which no allow rule covers."
	}
	for i, r := range text {
		switch {
		case r == '\n':
			if i > 0 && text[i-1] == '\\' {
				return "The command continues a line with a backslash, which no allow rule covers."
			}
		case r == '\t':
		case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Bidi_Control, r), r == '\u2028', r == '\u2029', r == utf8.RuneError:
			return fmt.Sprintf("The command has the control character U+%04X, which no allow rule covers.", r)
		}
	}
	return ""
}

// printable reports whether a character can stand in a message as it is.
func printable(r rune) bool {
	return r == ' ' || unicode.IsPrint(r) && !unicode.Is(unicode.Bidi_Control, r)
}

// partName names a part of a word for people.
func partName(part syntax.WordPart) string {
	switch p := part.(type) {
	case *syntax.ParamExp:
		return "a variable"
	case *syntax.CmdSubst:
		if p.Backquotes {
			return "a command substitution in backquotes"
		}
		return "a command substitution (`$(…)`)"
	case *syntax.ProcSubst:
		return "a process substitution"
	case *syntax.ArithmExp:
		return "arithmetic (`$((…))`)"
	case *syntax.ExtGlob:
		return "an extended pattern"
	case *syntax.BraceExp:
		return "braces that the shell would expand"
	default:
		return "a word that cannot be read"
	}
}
