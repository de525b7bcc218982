package policy

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// maxGuesses bounds how many values one word is given, and maxGuessText how long
// each may be: a variable that is set to itself twice doubles each time.
const (
	maxGuesses   = 16
	maxGuessText = 8 << 10
)

// guess returns what a word may become: one or more guesses, each a list of
// words. sure says that there is only one and that it is right.
func (f *finder) guess(word *syntax.Word) (guesses [][]string, sure bool) {
	if word == nil {
		return [][]string{{}}, true
	}
	if text := plainText(word); text != "" {
		return [][]string{{text}}, true
	}
	if words := braces(word); words != nil {
		// Several words in place of one.
		var all []string
		sure := true
		for _, w := range words {
			g, s := f.guess(w)
			all = append(all, g[0]...)
			sure = sure && s
		}
		return [][]string{all}, sure
	}
	sure = true
	texts := []piece{{}}
	for _, part := range word.Parts {
		values, known := f.part(part, false)
		sure = sure && known
		var next []piece
		for _, t := range texts {
			for _, v := range values {
				if len(next) < maxGuesses && f.fits(t.text, v.text) {
					next = append(next, piece{t.text + v.text, t.quoted || v.quoted, t.split || v.split})
				}
			}
		}
		texts = next
	}
	for _, t := range texts {
		switch {
		case t.split && strings.ContainsAny(t.text, " \t\n"):
			// Where the blanks come from is not kept: it may be one word too.
			guesses = append(guesses, strings.Fields(t.text), []string{t.text})
		case t.split && t.text == "" && !t.quoted:
			guesses = append(guesses, []string{})
		default:
			guesses = append(guesses, []string{t.text})
		}
	}
	if len(guesses) == 0 {
		return [][]string{{}}, false
	}
	return guesses, sure && len(guesses) == 1
}

// fits reports whether a guess may become that long; if not, not everything has
// been looked at.
func (f *finder) fits(a, b string) bool {
	if len(a)+len(b) > maxGuessText {
		f.cut = true
		f.blind("The command has words that are too long to be followed.")
		return false
	}
	return true
}

// A piece is the value of a part of a word.
type piece struct {
	text string
	// quoted says that the word is one even if it is empty.
	quoted bool
	// split says that blanks in it end a word.
	split bool
}

// part returns what a part of a word may become.
func (f *finder) part(part syntax.WordPart, quoted bool) (values []piece, sure bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		if quoted {
			var b strings.Builder
			for i := 0; i < len(p.Value); i++ {
				if p.Value[i] == '\\' && i+1 < len(p.Value) && strings.IndexByte("$`\"\\\n", p.Value[i+1]) >= 0 {
					i++
				}
				b.WriteByte(p.Value[i])
			}
			return []piece{{text: b.String(), quoted: true}}, true
		}
		return []piece{{text: unescape(p.Value), quoted: p.Value != ""}}, true
	case *syntax.SglQuoted:
		if p.Dollar {
			return []piece{{text: ansi(p.Value), quoted: true}}, true
		}
		return []piece{{text: p.Value, quoted: true}}, true
	case *syntax.DblQuoted:
		values, sure = []piece{{quoted: true}}, true
		for _, inner := range p.Parts {
			more, known := f.part(inner, true)
			sure = sure && known
			var next []piece
			for _, v := range values {
				for _, m := range more {
					if len(next) < maxGuesses && f.fits(v.text, m.text) {
						next = append(next, piece{text: v.text + m.text, quoted: true})
					}
				}
			}
			values = next
		}
		return values, sure
	case *syntax.ParamExp:
		values = f.param(p, quoted)
		known := p.Param != nil && (p.Param.Value == "HOME" || p.Param.Value == "PWD") && len(f.vars[p.Param.Value]) == 0
		return values, known && p.Exp == nil && p.Repl == nil && p.Slice == nil
	case *syntax.CmdSubst:
		return f.substituted(p, quoted), false
	case *syntax.ExtGlob:
		return []piece{{text: "*", quoted: true}}, true
	default:
		return []piece{{split: !quoted}}, false
	}
}

// param guesses the value of a variable.
func (f *finder) param(p *syntax.ParamExp, quoted bool) []piece {
	var values []piece
	if p.Param != nil {
		switch p.Param.Value {
		case "HOME":
			return []piece{{text: "~", quoted: true}}
		case "PWD":
			return []piece{{text: ".", quoted: true}}
		case "IFS":
			return []piece{{text: " ", split: true}}
		}
		for _, v := range f.vars[p.Param.Value] {
			values = append(values, piece{text: v, split: !quoted})
		}
	}
	if p.Exp != nil && p.Exp.Word != nil {
		values = append(values, piece{text: joined(first(f.guess(p.Exp.Word))), split: !quoted})
	}
	if len(values) == 0 {
		values = append(values, piece{split: !quoted})
	}
	return values
}

// substituted guesses what a command substitution brings.
func (f *finder) substituted(c *syntax.CmdSubst, quoted bool) []piece {
	if len(c.Stmts) == 1 {
		if call, ok := c.Stmts[0].Cmd.(*syntax.CallExpr); ok && len(call.Args) > 1 {
			if value, ok := f.output(call); ok {
				return []piece{{text: value, split: !quoted}}
			}
			switch path.Base(joined(first(f.guess(call.Args[0])))) {
			case "which", "command", "type", "whence", "basename", "readlink", "realpath":
				return []piece{{text: joined(first(f.guess(call.Args[len(call.Args)-1]))), split: !quoted}}
			}
		}
	}
	return []piece{{split: !quoted}}
}

// unescape takes the backslashes out of a literal.
func unescape(lit string) string {
	if !strings.Contains(lit, `\`) {
		return lit
	}
	var b strings.Builder
	for i := 0; i < len(lit); i++ {
		if lit[i] == '\\' && i+1 < len(lit) {
			i++
		}
		b.WriteByte(lit[i])
	}
	return b.String()
}

// ansi decodes the escapes of $'…'.
func ansi(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 >= len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		number := func(from, most, base int) {
			end := from
			for end < len(text) && end-from < most {
				if _, err := strconv.ParseUint(text[end:end+1], base, 8); err != nil {
					break
				}
				end++
			}
			n, err := strconv.ParseUint(text[from:end], base, 32)
			switch {
			case err != nil:
				b.WriteByte(text[i])
			case most > 3:
				b.WriteString(string(utf8.AppendRune(nil, rune(n)))) // \u, \U
			default:
				b.WriteByte(byte(n))
			}
			i = max(end-1, i)
		}
		switch c := text[i]; c {
		case 'x':
			number(i+1, 2, 16)
		case 'u':
			number(i+1, 4, 16)
		case 'U':
			number(i+1, 8, 16)
		case '0', '1', '2', '3', '4', '5', '6', '7':
			number(i, 3, 8)
		default:
			if at := strings.IndexByte("abeEfnrtv", c); at >= 0 {
				c = "\a\b\x1b\x1b\f\n\r\t\v"[at]
			}
			b.WriteByte(c)
		}
	}
	return b.String()
}

// braces expands the lists in braces of a word; sequences stay as they are.
func braces(word *syntax.Word) []*syntax.Word {
	if !slices.ContainsFunc(word.Parts, func(p syntax.WordPart) bool {
		lit, ok := p.(*syntax.Lit)
		return ok && strings.Contains(lit.Value, "{")
	}) {
		return nil
	}
	split := &syntax.Word{Parts: slices.Clone(word.Parts)}
	if !syntax.SplitBraces(split) {
		return nil
	}
	if len(split.Parts) > 8*maxGuesses {
		return nil
	}
	if !slices.ContainsFunc(split.Parts, func(p syntax.WordPart) bool { _, ok := p.(*syntax.BraceExp); return ok }) {
		return nil // {a}: nothing to expand
	}
	return expand(split)
}

// expand makes the words of a word with brace expressions.
func expand(word *syntax.Word) []*syntax.Word {
	words := []*syntax.Word{{}}
	for _, part := range word.Parts {
		choices := []*syntax.Word{{Parts: []syntax.WordPart{part}}}
		if b, ok := part.(*syntax.BraceExp); ok {
			choices = nil
			for _, e := range b.Elems {
				choices = append(choices, expand(e)...)
			}
			if b.Sequence && len(b.Elems) > 0 {
				choices = choices[:1]
			}
		}
		var next []*syntax.Word
		for _, w := range words {
			for _, c := range choices {
				if len(next) < 4*maxGuesses {
					next = append(next, &syntax.Word{Parts: slices.Concat(w.Parts, c.Parts)})
				}
			}
		}
		words = next
	}
	return words
}
