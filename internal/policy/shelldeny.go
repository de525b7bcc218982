package policy

import (
	"iter"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The generous view stops here. What is beyond is compared as plain text.
const (
	maxFound     = 1000
	maxInnerText = 16
	maxPipes     = 64
	maxWrapped   = 256
)

// A found is a command that a text may run.
type found struct {
	words []string
	// name is the first word without its folder; glob says that it is a pattern.
	name string
	glob bool
	// plain is how many words stand without any quotes in the text's own list, so
	// that every reader of a rule sees them; 0 for a command that is hidden.
	plain int
}

// A finder collects what a text may run, however it is wrapped.
type finder struct {
	found []found
	// opaque says, as a whole sentence, what could not be seen through.
	opaque string
	// cut says that there was more than is looked at.
	cut bool
	// vars are the values that the text gives to variables.
	vars map[string][]string
	// doubts are texts that some shells run, and that are not read as shell.
	doubts []string
	// globs are the words for which the shell looks for files.
	globs []shellPattern
	// files are the targets of redirections.
	files []shellPath
	// depth counts commands inside of commands, inner how many there were, read
	// the bytes of their texts, pipes the pipes that were looked at.
	depth, inner, read, pipes int
}

// generous returns the generous view, which is made once.
func (s *script) generous() *finder {
	if s.looked {
		return s.finder
	}
	s.looked = true
	s.finder = &finder{opaque: s.broken}
	switch {
	case strings.ContainsAny(s.text, "\r\x00") && len(s.text) <= maxShellText && nesting(s.text) <= maxShellDepth:
		s.finder.doubtful(s.text)
	case s.file != nil:
		if strings.Contains(s.text, "=") || strings.Contains(s.text, "for") || strings.Contains(s.text, "select") {
			s.finder.collectVars(s.file)
		}
		s.finder.notePatterns(s.text, s.file)
		s.finder.list(s.file.Stmts, true)
	}
	return s.finder
}

// opaque says, as a whole sentence, why the text may run something that cannot
// be seen in it; "" if everything that it runs can be seen.
func (s *script) opaque() string {
	f := s.generous()
	if f.opaque == "" && f.cut {
		return "The command has too many parts to look at all of them."
	}
	return f.opaque
}

// matches reports whether a deny or ask rule speaks of anything that the text
// may run: at any depth, behind any wrapper, by any spelling that can be seen
// through. direct says that the rule fits a command that stands plainly in the
// text, so that the CLI sees it too. A text that cannot be read matches when
// the rule's first word is somewhere in it.
func (s *script) matches(r *shellRule) (ok, direct bool, reason string) {
	if r.kind == readOnlyRule {
		return false, false, ""
	}
	if r.kind == textRule {
		if strings.Contains(s.text, r.text) {
			return true, strings.TrimSpace(s.text) == r.text, "The command has the text `" + short(r.text) + "`."
		}
		return false, false, ""
	}
	f := s.generous()
	for c := range s.everyCommand() {
		if r.kind != patternRule && !c.isProgram(r.program) || !r.speaksOf(c) {
			continue
		}
		if !ok {
			ok = true
			reason = "The command runs " + (&simple{words: asWords(c.words)}).String() + "."
		}
		if c.plain > 0 && r.plainlyFits(c) {
			return true, true, reason
		}
	}
	if ok {
		return true, false, reason
	}
	if s.file == nil || f.cut {
		if s.bare == nil {
			s.bare = bareTexts(s.text) // once: it may be long, and the rules many
		}
		if word := r.marker(); word == "" || hasPlainWord(s.bare[0], word) || hasPlainWord(s.bare[1], word) {
			return true, false, "The command cannot be read, and `" + short(r.text) + "` may be in it."
		}
	}
	for _, text := range f.doubts {
		if word := r.marker(); word == "" || hasWord(text, word) {
			return true, false, "The command has the pattern " + quoteShort(text) + ", and `" + short(r.text) + "` may be in it."
		}
	}
	return false, false, ""
}

// everyCommand returns the commands of the generous view and those that the
// certain view has worked out exactly.
func (s *script) everyCommand() iter.Seq[*found] {
	return func(yield func(*found) bool) {
		for _, list := range [...][]found{s.generous().found, s.certain().calls} {
			for i := range list {
				if !yield(&list[i]) {
					return
				}
			}
		}
	}
}

// asWords makes words of texts.
func asWords(texts []string) []shellWord {
	words := make([]shellWord, len(texts))
	for i, t := range texts {
		words[i].text = t
	}
	return words
}

// marker returns the text that an unreadable command must have for the rule to
// match it.
func (r *shellRule) marker() string {
	if len(r.words) > 0 {
		return r.program
	}
	best := ""
	for _, p := range r.pattern {
		for w := range strings.SplitSeq(p, wordEnd) {
			if len(w) > len(best) {
				best = w
			}
		}
	}
	return best
}

// hasWord reports whether a word is in a text that cannot be read, with quotes,
// escapes and patterns taken out and without letters around it.
func hasWord(text, word string) bool {
	return slices.ContainsFunc(bareTexts(text), func(text string) bool { return hasPlainWord(text, word) })
}

// bareTexts returns a text without quotes and escapes, and also without patterns.
func bareTexts(text string) []string {
	quotes := strings.NewReplacer("'", "", `"`, "", "\\\n", "", `\`, "")
	patterns := strings.NewReplacer("[", "", "]", "", "{", "", "}", "", "$@", "", "$*", "", "$", "")
	bare := quotes.Replace(text)
	return []string{bare, patterns.Replace(bare)}
}

// hasPlainWord reports whether a word is in a text without letters around it.
func hasPlainWord(text, word string) bool {
	letter := func(c byte) bool {
		return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(word)
		if (i == 0 || !letter(text[i-1])) && (end == len(text) || !letter(text[end])) {
			return true
		}
		from = i + 1
	}
}

// plainlyFits compares the way the CLI may do it: word by word, and only words
// that it sees as they are.
func (r *shellRule) plainlyFits(c *found) bool {
	have := asWords(c.words)
	switch r.kind {
	case exactRule:
		return c.plain == len(have) && equalWords(r.words, have)
	case prefixRule:
		return c.plain >= len(r.words) && equalWords(r.words, have[:len(r.words)])
	case patternRule:
		return c.plain == len(have) && r.fits(have)
	default:
		return false
	}
}

// speaksOf compares the words behind the name generously: options of the command
// are skipped on the way to the rule's next word, and an option of the rule found at any place and among other letters.
func (r *shellRule) speaksOf(c *found) bool {
	words := c.words
	if r.kind == patternRule {
		have := asWords(words)
		if r.fits(have) {
			return true
		}
		have[0].text = c.name
		return r.fits(have)
	}
	if r.kind == exactRule {
		return equalWords(r.words[1:], asWords(words[1:]))
	}
	args := words[1:]
	at := 0
	for _, want := range r.words[1:] {
		if strings.HasPrefix(want, "-") {
			if !hasOption(words[1:], want) {
				return false
			}
			continue
		}
		found := false
		afterOption := false
		for ; at < len(args) && !found; at++ {
			switch {
			case args[at] == want:
				found = true
			case strings.HasPrefix(args[at], "-"):
				afterOption = true
			case afterOption:
				afterOption = false
			default:
				return false
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// isProgram compares the command's name with the one that a rule gives, both
// without a folder.
func (c *found) isProgram(name string) bool {
	if c.glob {
		// A shell writes [!a] for what Go calls [^a].
		ok, err := path.Match(strings.ReplaceAll(c.name, "[!", "[^"), name)
		return err != nil || ok
	}
	// Some file systems do not know the difference of capital letters.
	return len(c.name) == len(name) && strings.EqualFold(c.name, name)
}

// hasOption reports whether an option is among arguments, by itself, with a
// value, or as letters of other options.
func hasOption(args []string, want string) bool {
	var letters strings.Builder
	for _, a := range args {
		if a == want || strings.HasPrefix(a, want+"=") {
			return true
		}
		if strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") {
			letters.WriteString(a[1:])
		}
	}
	if strings.HasPrefix(want, "--") || len(want) < 2 {
		return false
	}
	for _, c := range want[1:] {
		if !strings.ContainsRune(letters.String(), c) {
			return false
		}
	}
	return true
}

// list walks statements in the order in which they stand; direct says that
// they are the text's own.
func (f *finder) list(stmts []*syntax.Stmt, direct bool) {
	for _, st := range stmts {
		f.stmt(st, direct)
	}
}

// stmt walks one statement: its command, its redirections and everything that
// is inside of its words.
func (f *finder) stmt(st *syntax.Stmt, direct bool) {
	if f.full() {
		return
	}
	for _, r := range st.Redirs {
		f.redirect(r, st)
	}
	direct = direct && !st.Negated && !st.Background
	switch cmd := st.Cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		f.call(cmd, direct)
	case *syntax.BinaryCmd:
		f.stmt(cmd.X, direct)
		f.stmt(cmd.Y, direct)
		if cmd.Op == syntax.Pipe || cmd.Op == syntax.PipeAll {
			f.pipe(cmd)
		}
	case *syntax.DeclClause:
		words := []string{cmd.Variant.Value}
		for _, a := range cmd.Args {
			word := ""
			if a.Name != nil {
				word = a.Name.Value
			}
			if a.Value != nil {
				if !a.Naked {
					word += "="
				}
				word += joined(first(f.guess(a.Value)))
			}
			words = append(words, word)
		}
		f.inside(cmd)
		plain := 0
		if direct {
			plain = 1
		}
		f.add(words, plain)
	default:
		f.inside(cmd)
	}
}
