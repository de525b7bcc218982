package permit

import "strings"

// construct is something in a command line that a permission check stumbles on.
type construct int

const (
	plain      construct = iota
	nested               // $(…)
	backticks            // `…`
	process              // <(…)
	braces               // ${…}
	variable             // $NAME
	subshell             // (…)
	background           // … &
	comment              // # …
	heredoc              // << NAME
	inputFile            // < file
)

// part is one simple command of a command line.
type part struct {
	text    string   // as written, without redirections
	words   []string // its words, without quotes
	targets []string // the files its output goes to
}

// line is a command line taken apart.
type line struct {
	parts  []part
	odd    map[construct]bool
	inputs []string // the files that input comes from
}

// is says whether the line has a construct.
func (l *line) is(c construct) bool { return l.odd[c] }

// lexer takes a command line apart. It knows quotes, && || ; | & and new lines,
// redirections, comments, here-documents and expansions; for anything else it
// need not be right.
type lexer struct {
	src  string
	pos  int
	line *line

	text     strings.Builder // of the part being read
	word     strings.Builder // the word being read, without quotes
	inWord   bool
	words    []string
	targets  []string
	redirect bool // the next word is the file of a redirection
	output   bool // … of output
	input    bool // … of input
}

// parse takes a command line apart.
func parse(command string) *line {
	l := &lexer{src: command, line: &line{odd: map[construct]bool{}}}
	for l.pos < len(l.src) {
		l.next()
	}
	l.endPart()
	return l.line
}

// hasPrefix reports whether what comes next begins with a text.
func (l *lexer) hasPrefix(text string) bool { return strings.HasPrefix(l.src[l.pos:], text) }

// consume adds bytes to the word and, unless they belong to a redirection, to the
// text.
func (l *lexer) consume(raw, value string) {
	l.inWord = true
	l.word.WriteString(value)
	if !l.redirect {
		l.text.WriteString(raw)
	}
	l.pos += len(raw)
}

func (l *lexer) endWord() {
	if !l.inWord {
		return
	}
	switch {
	case !l.redirect:
		l.words = append(l.words, l.word.String())
	case l.output:
		l.targets = append(l.targets, l.word.String())
	case l.input:
		l.line.inputs = append(l.line.inputs, l.word.String())
	}
	l.word.Reset()
	l.inWord, l.redirect, l.input = false, false, false
}

func (l *lexer) endPart() {
	l.endWord()
	if text := strings.TrimSpace(l.text.String()); text != "" || len(l.targets) > 0 {
		l.line.parts = append(l.line.parts, part{text, l.words, l.targets})
	}
	l.text.Reset()
	l.words, l.targets, l.redirect = nil, nil, false
}

// next reads one thing outside of quotes.
func (l *lexer) next() {
	c := l.src[l.pos]
	switch {
	case c == '\\':
		end := min(l.pos+2, len(l.src))
		l.consume(l.src[l.pos:end], l.src[l.pos+1:end])
	case c == '\'':
		end := strings.IndexByte(l.src[l.pos+1:], '\'')
		if end < 0 {
			l.consume(l.src[l.pos:], l.src[l.pos+1:])
			return
		}
		l.consume(l.src[l.pos:l.pos+end+2], l.src[l.pos+1:l.pos+1+end])
	case c == '"':
		l.quoted()
	case c == '$' || c == '`':
		l.expansion()
	case l.hasPrefix("<(") || l.hasPrefix(">("):
		l.line.odd[process] = true
		l.consume(l.src[l.pos:l.pos+2], l.src[l.pos:l.pos+2])
	case l.hasPrefix("<<"):
		l.document()
	case c == '<':
		l.line.odd[inputFile] = true
		l.endWord()
		l.pos++
		l.redirect, l.output, l.input = true, false, true
	case c == '>' || l.hasPrefix("&>"):
		l.redirection()
	case l.hasPrefix("&&") || l.hasPrefix("||") || l.hasPrefix("|&"):
		l.pos += 2
		l.endPart()
	case c == ';' || c == '|' || c == '\n':
		l.pos++
		l.endPart()
	case c == '&':
		l.line.odd[background] = true
		l.pos++
		l.endPart()
	case c == '(' && !l.inWord || c == ')':
		l.line.odd[subshell] = true
		l.pos++
		l.endPart()
	case c == '#' && !l.inWord:
		l.line.odd[comment] = true
		end := strings.IndexByte(l.src[l.pos:], '\n')
		if end < 0 {
			end = len(l.src) - l.pos
		}
		l.pos += end
	case c == ' ' || c == '\t' || c == '\r':
		l.endWord()
		if text := l.text.String(); text != "" && !strings.HasSuffix(text, " ") {
			l.text.WriteByte(' ')
		}
		l.pos++
	default:
		l.consume(l.src[l.pos:l.pos+1], l.src[l.pos:l.pos+1])
	}
}

// quoted reads what is between double quotes, where expansions still happen.
func (l *lexer) quoted() {
	l.consume(`"`, "")
	for l.pos < len(l.src) {
		switch c := l.src[l.pos]; {
		case c == '"':
			l.consume(`"`, "")
			return
		case c == '\\' && l.pos+1 < len(l.src):
			l.consume(l.src[l.pos:l.pos+2], l.src[l.pos+1:l.pos+2])
		case c == '$' || c == '`':
			l.expansion()
		default:
			l.consume(l.src[l.pos:l.pos+1], l.src[l.pos:l.pos+1])
		}
	}
}

// expansion reads the beginning of an expansion. A here-document with a quoted
// name that is printed into an argument is but a way to write text, and is taken
// as such.
func (l *lexer) expansion() {
	switch {
	case l.hasPrefix("$(cat <<'"):
		name, _, _ := strings.Cut(l.src[l.pos+len("$(cat <<'"):], "'")
		_, after, found := strings.Cut(l.src[l.pos:], "\n"+name+"\n)")
		if name != "" && found {
			text := l.src[l.pos : len(l.src)-len(after)]
			l.consume(text, text)
			return
		}
		l.line.odd[nested] = true
	case l.hasPrefix("$("):
		l.line.odd[nested] = true
	case l.hasPrefix("`"):
		l.line.odd[backticks] = true
	case l.hasPrefix("${"):
		l.line.odd[braces] = true
	case l.pos+1 < len(l.src) && isName(l.src[l.pos+1]):
		l.line.odd[variable] = true
	}
	// A bracket belongs to the expansion, so that it does not count as a subshell.
	raw := l.src[l.pos : l.pos+1]
	if l.hasPrefix("$(") || l.hasPrefix("${") {
		raw = l.src[l.pos : l.pos+2]
	}
	l.consume(raw, raw)
}

func isName(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// redirection reads the operator of an output redirection.
func (l *lexer) redirection() {
	// A number before it belongs to it, as in 2>.
	if number := l.word.String(); l.inWord && strings.Trim(number, "0123456789") == "" && !l.redirect {
		text := strings.TrimSuffix(l.text.String(), number)
		l.text.Reset()
		l.text.WriteString(text)
		l.word.Reset()
		l.inWord = false
	}
	l.endWord()
	for l.pos < len(l.src) && strings.IndexByte("&>|", l.src[l.pos]) >= 0 {
		l.pos++
	}
	// In >&1 the word that follows is no file.
	file := l.src[l.pos-1] != '&'
	l.redirect, l.output = true, file
}

// document skips a here-document.
func (l *lexer) document() {
	if l.hasPrefix("<<<") {
		l.endWord()
		l.pos += 3
		l.redirect, l.output = true, false
		return
	}
	l.endWord()
	l.pos += 2
	if l.hasPrefix("-") {
		l.pos++
	}
	head, body, _ := strings.Cut(l.src[l.pos:], "\n")
	name := strings.TrimLeft(head, " \t")
	l.pos += len(head) - len(name)
	if end := strings.IndexAny(name, " \t;&|><"); end >= 0 {
		name = name[:end]
	}
	bare := strings.Trim(name, `'"\`)
	if bare == name {
		l.line.odd[heredoc] = true
	}
	l.pos += len(name)
	if bare == "" {
		return
	}
	// The body is cut out, so that what follows the name on its line is read.
	if _, after, found := strings.Cut("\n"+body, "\n"+bare+"\n"); found {
		l.src = l.src[:len(l.src)-len(body)] + after
	} else {
		l.src = l.src[:len(l.src)-len(body)]
	}
}
