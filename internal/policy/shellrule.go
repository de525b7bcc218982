package policy

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A ruleKind is how a shell rule compares.
type ruleKind int

const (
	// exactRule: the very words, nothing more.
	exactRule ruleKind = iota
	// prefixRule: the words, then anything. "git status:*", "git status *".
	prefixRule
	// patternRule: words with a * that is not the last word. "git * main".
	patternRule
	// textRule: a text that is no simple command; only the same text fits.
	textRule
	// readOnlyRule: the built-in set of commands that change nothing.
	readOnlyRule
)

// wordEnd stands between words, and star for a wildcard, where words are
// compared as one text. Neither can be in a word that a shell passes on.
const (
	wordEnd = "\x00"
	star    = "\x01"
)

// A shellRule is the content of a Bash rule, ready to be compared.
type shellRule struct {
	text string
	kind ruleKind
	// words are the whole words that the rule spells out in front: all of them
	// for an exactRule or prefixRule, those before the first wildcard for a
	// patternRule.
	words []string
	// program is the first word without its folder.
	program string
	// pattern is a patternRule's text between the wildcards, with wordEnd
	// between words; bare is the same without a wildcard word at the end.
	pattern, bare []string
}

// readOnlyShell returns the rule that stands for the built-in set of shell
// commands which change nothing.
func readOnlyShell() *shellRule {
	return &shellRule{text: "the read-only commands", kind: readOnlyRule}
}

// compileShell reads the content of a Bash rule: "git status:*" (these words
// and whatever follows), "npm run *" (the same), "git * main" (* is any text),
// or an exact command. Words are separated and quoted as in a shell.
func compileShell(content string) (*shellRule, error) {
	text := strings.TrimSpace(content)
	r := &shellRule{text: text}
	if text == "" {
		return nil, errors.New("the rule names no command")
	}
	body, open := strings.CutSuffix(text, ":*")
	if open && strings.TrimSpace(body) == "" {
		return nil, errors.New("there is no command in front of `:*`; write `Bash` for all commands")
	}
	words, why := ruleWords(body)
	if why != "" {
		if open || strings.Contains(body, "*") {
			return nil, fmt.Errorf("a rule with a wildcard names one simple command, but this one has %s; write one rule per command", why)
		}
		r.kind = textRule
		return r, nil
	}
	wild := strings.Count(strings.Join(words, wordEnd), star)
	if !open && wild == 1 && words[len(words)-1] == star && len(words) > 1 {
		// A lone * at the end says the same as :*.
		words, wild, open = words[:len(words)-1], 0, true
	}
	switch {
	case wild == 0 && open:
		r.kind, r.words = prefixRule, words
	case wild == 0:
		r.kind, r.words = exactRule, words
	default:
		r.kind = patternRule
		for _, w := range words {
			if strings.Contains(w, star) {
				break
			}
			r.words = append(r.words, w)
		}
		joined := strings.Join(words, wordEnd)
		r.bare = nil
		if open {
			r.bare = strings.Split(joined, star)
			joined += wordEnd + star
		}
		r.pattern = strings.Split(joined, star)
	}
	if len(r.words) > 0 {
		r.program = path.Base(r.words[0])
	}
	return r, nil
}

// ruleWords splits a rule's text into words, with star for each wildcard. If
// the text is not one simple command it says why.
func ruleWords(text string) (words []string, why string) {
	if bad := suspectText(text); bad != "" {
		return nil, "a character that no command should have"
	}
	// A word in front, so that names that mean something to the grammar ("time",
	// "export") are words like others.
	file, err := parseText("x " + text)
	if err != nil {
		return nil, "something that cannot be read as shell (" + plainParseError(err) + ")"
	}
	switch {
	case len(file.Stmts) != 1:
		return nil, "more or less than one command"
	case hasComments(file):
		return nil, "a comment"
	}
	st := file.Stmts[0]
	call, ok := st.Cmd.(*syntax.CallExpr)
	switch {
	case st.Cmd != nil && !ok:
		if b, ok := st.Cmd.(*syntax.BinaryCmd); ok {
			return nil, "the operator `" + b.Op.String() + "`"
		}
		return nil, nodeName(st.Cmd)
	case st.Negated, st.Background, st.Coprocess, st.Disown, st.Cmd == nil, len(st.Redirs) > 0:
		return nil, "an operator or a redirection"
	}
	for _, arg := range call.Args[1:] {
		w, why := ruleWord(arg)
		if why != "" {
			return nil, why
		}
		words = append(words, w)
	}
	if len(words) == 0 || words[0] == "" {
		return nil, "no command"
	}
	if isAssignment(words[0]) {
		return nil, "an assignment"
	}
	return words, ""
}

// ruleWord unquotes a word of a rule. Other than in a command only the star is
// special: brackets, braces and the tilde stand for themselves.
func ruleWord(word *syntax.Word) (string, string) {
	var b strings.Builder
	for _, part := range word.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			for i := 0; i < len(p.Value); i++ {
				switch c := p.Value[i]; {
				case c == '\\' && i+1 < len(p.Value):
					i++
					b.WriteByte(p.Value[i])
				case c == '*':
					b.WriteString(star)
				case c == '$', c == '`':
					return "", "a `$` or backquote"
				default:
					b.WriteByte(c)
				}
			}
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", "a `$'…'` text"
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			if p.Dollar {
				return "", "a `$\"…\"` text"
			}
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					return "", partName(inner)
				}
				if why := unquoteDouble(&b, lit.Value); why != "" {
					return "", why
				}
			}
		default:
			return "", partName(part)
		}
	}
	return b.String(), ""
}

// neverAllows says why the rule cannot allow anything, as the rest of a
// sentence that begins with the rule; "" if it can.
func (r *shellRule) neverAllows() string {
	if r.kind == textRule {
		return "is not one simple command: as an allow rule it would never apply; write one rule per command"
	}
	return ""
}

// covers reports whether the rule allows the i-th command of a script. The
// reason, a whole sentence, is there only if the rule speaks of this command
// and yet does not cover it.
func (r *shellRule) covers(s *script, i int, paths func(string, bool) bool) (ok bool, why string) {
	c := &s.calls[i]
	switch r.kind {
	case textRule:
		return false, ""
	case readOnlyRule:
		return readOnly(s, i, paths)
	case exactRule:
		return equalWords(r.words, c.words), ""
	case prefixRule:
		if len(c.words) < len(r.words) || !equalWords(r.words, c.words[:len(r.words)]) {
			return false, ""
		}
	case patternRule:
		if !r.fits(c.words) {
			return false, ""
		}
		for _, w := range c.words {
			if w.glob {
				return false, "The rule `" + r.text + "` has a wildcard in the middle and does not cover the pattern " + quoteShort(w.text) + "."
			}
		}
	}
	if why := beyond(*c, len(r.words)); why != "" {
		return false, "The rule `" + r.text + "` does not cover " + c.String() + ": " + why + "."
	}
	return true, ""
}

// equalWords compares words that are known for certain.
func equalWords(want []string, have []shellWord) bool {
	if len(want) != len(have) {
		return false
	}
	for i, w := range want {
		if have[i].glob || have[i].text != w {
			return false
		}
	}
	return true
}

// fits compares a patternRule with words.
func (r *shellRule) fits(words []shellWord) bool {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteString(wordEnd)
		}
		b.WriteString(w.text)
	}
	return matchStars(r.pattern, b.String()) || r.bare != nil && matchStars(r.bare, b.String())
}

// matchStars reports whether text consists of the pieces in order with any text
// between them.
func matchStars(pieces []string, text string) bool {
	if len(pieces) == 1 {
		return text == pieces[0]
	}
	first, last := pieces[0], pieces[len(pieces)-1]
	if !strings.HasPrefix(text, first) {
		return false
	}
	text = text[len(first):]
	for _, p := range pieces[1 : len(pieces)-1] {
		at := strings.Index(text, p)
		if at < 0 {
			return false
		}
		text = text[at+len(p):]
	}
	return strings.HasSuffix(text, last)
}
