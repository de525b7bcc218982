package policy

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A field is one word that the shell makes of a word in the text.
type field struct {
	text string
	// glob says that the shell puts the names of files in its place.
	glob bool
	// number says that a number whose value is not known is part of text, as 0.
	number bool
	// unknown says that text is only how the word begins.
	unknown bool
}

// someNumber stands for arithmetic and counters.
var someNumber = field{text: "0", number: true}

// A value is what the certain view knows of a word.
type value struct {
	known bool
	// alts are the fields that the word may become, one list per alternative: the
	// values of a loop's variable.
	alts [][]field
	// For a word that is not known: prefix is how it surely begins, and open says
	// that it may be several words, or an option.
	prefix string
	open   bool
}

// A varScope is what is known of a text's variables.
type varScope struct {
	// values are those of the variables that are set at this place of the walk.
	values map[string][]field
	// open are the variables that are set in a way that the walk does not follow.
	open map[string]bool
	// numeric are those that only ever hold numbers.
	numeric map[string]bool
	// all says that any variable may change.
	all bool
	// special is a variable that changes what other words mean; mostly empty.
	special string
	// straight are the assignments that surely run, each once and in order.
	straight map[*syntax.Assign]bool
}

// specialVars are variables that decide what the shell makes of other words, or
// which programs are found and loaded.
var specialVars = map[string]bool{
	"IFS": true, "PATH": true, "HOME": true, "PWD": true, "OLDPWD": true, "CDPATH": true, "BASH_ENV": true, "ENV": true, "PS4": true,
	"PROMPT_COMMAND": true, "SHELLOPTS": true, "BASHOPTS": true, "GLOBIGNORE": true, "SHELL": true, "POSIXLY_CORRECT": true, "INPUTRC": true,
	"EXECIGNORE": true, "FIGNORE": true, "ZDOTDIR": true, "LC_ALL": true, "LC_CTYPE": true, "LANG": true, "LESSOPEN": true, "LESSCLOSE": true,
}

// isSpecial reports whether a variable is one of specialVars or their kin.
func isSpecial(name string) bool {
	if specialVars[name] {
		return true
	}
	for _, prefix := range []string{"LD_", "DYLD_", "BASH_", "GIT_CONFIG", "GIT_EXEC"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// isNumberVar reports whether the shell itself keeps a number in a variable.
func isNumberVar(name string) bool {
	switch name {
	case "?", "#", "RANDOM", "SECONDS", "LINENO", "UID", "EUID", "EPOCHSECONDS", "SRANDOM":
		return true
	}
	return false
}

// isName reports whether a text can be the name of a variable.
func isName(text string) bool { return isAssignment(text + "=") }

// scanVars looks at all of a text for what sets its variables.
func scanVars(file *syntax.File) *varScope {
	s := &varScope{values: map[string][]field{}, open: map[string]bool{}, numeric: map[string]bool{}, straight: map[*syntax.Assign]bool{}}
	for _, st := range file.Stmts {
		for !st.Background && !st.Coprocess {
			b, ok := st.Cmd.(*syntax.BinaryCmd)
			if !ok || b.Op != syntax.AndStmt {
				break
			}
			st = b.X
		}
		if call, ok := st.Cmd.(*syntax.CallExpr); ok && len(call.Args) == 0 && !st.Background {
			for _, a := range call.Assigns {
				s.straight[a] = a.Name != nil && !a.Append && a.Index == nil && a.Array == nil
			}
		}
	}
	for _, st := range file.Stmts {
		s.scan(st, s.numeric)
	}
	for name := range s.numeric {
		if !s.numeric[name] || s.open[name] && !s.counted(file, name) {
			delete(s.numeric, name)
		}
	}
	return s
}

// scan notes what a node sets. numbers gets each variable that is set, and
// whether only to numbers.
func (s *varScope) scan(node syntax.Node, numbers map[string]bool) {
	number := func(name string, yes bool) {
		if have, ok := numbers[name]; ok {
			yes = yes && have
		}
		numbers[name] = yes
	}
	var prefixes map[*syntax.Assign]bool
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			if len(n.Args) > 0 {
				for _, a := range n.Assigns {
					if prefixes == nil {
						prefixes = map[*syntax.Assign]bool{}
					}
					prefixes[a] = true
				}
			}
			s.setters(n, numbers)
		case *syntax.Assign:
			if n.Name == nil || prefixes[n] {
				break
			}
			name := n.Name.Value
			if isSpecial(name) && s.special == "" {
				s.special = name
			}
			if !s.straight[n] {
				s.open[name] = true
			}
			number(name, n.Array == nil && n.Index == nil && isNumeric(n.Value))
		case *syntax.ParamExp:
			if n.Param != nil && n.Exp != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
				s.open[n.Param.Value] = true
				number(n.Param.Value, false)
			}
		case *syntax.WordIter:
			for _, item := range n.Items {
				number(n.Name.Value, isNumeric(item))
			}
			if len(n.Items) == 0 {
				number(n.Name.Value, false)
			}
		case *syntax.UnaryArithm:
			if n.Op == syntax.Inc || n.Op == syntax.Dec {
				s.arithmeticSets(n.X, number)
			}
		case *syntax.BinaryArithm:
			switch n.Op {
			case syntax.Assgn, syntax.AddAssgn, syntax.SubAssgn, syntax.MulAssgn, syntax.QuoAssgn, syntax.RemAssgn, syntax.AndAssgn, syntax.OrAssgn,
				syntax.XorAssgn, syntax.ShlAssgn, syntax.ShrAssgn:
				s.arithmeticSets(n.X, number)
			default:
			}
		case *syntax.Redirect:
			if n.N != nil && strings.HasPrefix(n.N.Value, "{") {
				s.open[strings.Trim(n.N.Value, "{}")] = true
			}
		}
		return true
	})
}

func (s *varScope) arithmeticSets(x syntax.ArithmExpr, number func(string, bool)) {
	if w, ok := x.(*syntax.Word); ok && isName(w.Lit()) {
		s.open[w.Lit()] = true
		number(w.Lit(), true)
		return
	}
	s.all = true
}

// counted reports whether a variable that is set in loops and branches is set by
// nothing but assignments and arithmetic that the walk sees.
func (s *varScope) counted(file *syntax.File, name string) bool {
	if s.all {
		return false
	}
	seen := true
	syntax.Walk(file, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok {
			for _, w := range call.Args {
				if w.Lit() == name || strings.Contains(w.Lit(), name+"[") {
					seen = false
				}
			}
		}
		return seen
	})
	return seen
}

// isNumeric reports whether a word is a number or arithmetic.
func isNumeric(w *syntax.Word) bool {
	if w == nil {
		return false
	}
	if isNumber(w.Lit()) {
		return true
	}
	if len(w.Parts) == 1 {
		switch p := w.Parts[0].(type) {
		case *syntax.ArithmExp:
			return true
		case *syntax.DblQuoted:
			if len(p.Parts) == 1 {
				_, ok := p.Parts[0].(*syntax.ArithmExp)
				return ok
			}
		}
	}
	return false
}

// setters notes the variables that a builtin sets.
func (s *varScope) setters(call *syntax.CallExpr, numbers map[string]bool) {
	sets := false
	for _, w := range call.Args {
		switch plainText(w) {
		case "read", "mapfile", "readarray", "getopts", "unset", "wait", "local", "declare", "typeset", "export", "readonly", "-v":
			sets = true
		case "eval", "source", ".", "let", "shopt", "enable", "alias":
			s.all = true
		}
	}
	if !sets {
		return
	}
	for _, w := range call.Args {
		text := plainText(w)
		if text == "" {
			s.all = s.all || len(w.Parts) > 0 && !isQuotedText(w)
			continue
		}
		name, _, _ := strings.Cut(text, "=")
		s.open[name] = true
		numbers[name] = false
	}
}

// isQuotedText reports whether a word is nothing but text in single quotes, such
// as a prompt or a format.
func isQuotedText(w *syntax.Word) bool {
	q, ok := w.Parts[0].(*syntax.SglQuoted)
	return ok && len(w.Parts) == 1 && !q.Dollar && !isName(q.Value)
}

// set takes a statement of nothing but assignments.
func (s *varScope) set(list []*syntax.Assign, c *certainty) {
	for _, a := range list {
		if a.Name == nil || !s.straight[a] || s.open[a.Name.Value] || s.all {
			if a.Name != nil {
				delete(s.values, a.Name.Value)
			}
			continue
		}
		v := value{known: true, alts: [][]field{{{}}}}
		if a.Value != nil {
			v = c.evaluate(a.Value, true)
		}
		if v.known && len(v.alts) == 1 && len(v.alts[0]) == 1 && !v.alts[0][0].glob {
			s.values[a.Name.Value] = v.alts[0]
		} else {
			delete(s.values, a.Name.Value)
		}
	}
}

// word evaluates a word and walks the commands in it.
func (c *certainty) word(w *syntax.Word) value {
	if w == nil {
		return value{known: true, alts: [][]field{{}}}
	}
	if text := plainText(w); text != "" {
		return value{known: true, alts: [][]field{{{text: text}}}}
	}
	c.inside(w)
	return c.evaluate(w, false)
}

// evaluate works out what a word becomes. assigned says that it is the value of
// a variable: there are no braces, patterns and fields then.
func (c *certainty) evaluate(w *syntax.Word, assigned bool) value {
	if !assigned && mayHaveBraces(w) {
		words := listBraces(w)
		if words == nil {
			return value{open: true}
		}
		var all []field
		for _, one := range words {
			v := c.evaluateOne(one, false)
			if !v.known || len(v.alts) != 1 {
				return value{open: true}
			}
			all = append(all, v.alts[0]...)
		}
		return value{known: true, alts: [][]field{all}}
	}
	return c.evaluateOne(w, assigned)
}

// A segment is a part of a word: the texts that it may be.
type segment struct {
	texts []field
	// split says that blanks and patterns in the texts count.
	split bool
}

// evaluateOne is evaluate for a word without braces.
func (c *certainty) evaluateOne(w *syntax.Word, assigned bool) value {
	var segments []segment
	quoted := false
	for i, part := range w.Parts {
		next, ok, why := c.segments(part, i == 0, assigned)
		if !ok {
			prefix, plain := leading(segments)
			return value{prefix: prefix, open: why || !plain || prefix == "" || strings.HasPrefix(prefix, "-")}
		}
		switch part.(type) {
		case *syntax.SglQuoted, *syntax.DblQuoted:
			quoted = true
		}
		segments = append(segments, next...)
	}
	if len(segments) == 1 && segments[0].split && !quoted && !assigned {
		return fieldsOf(segments[0].texts)
	}
	texts := []field{{}}
	for _, s := range segments {
		var next []field
		for _, t := range texts {
			for _, v := range s.texts {
				if s.split && !assigned && (v.text == "" || strings.ContainsAny(v.text, " \t\n*?[\\")) {
					return value{open: true} // fields that begin or end inside of the word
				}
				if len(next) == maxValues || len(t.text)+len(v.text) > maxGuessText {
					return value{open: true}
				}
				next = append(next, field{text: t.text + v.text, glob: t.glob || v.glob, number: t.number || v.number})
			}
		}
		texts = next
	}
	v := value{known: true}
	for _, t := range texts {
		if t.text == "" && !quoted && !assigned {
			v.alts = append(v.alts, []field{}) // nothing: {a,}
			continue
		}
		v.alts = append(v.alts, []field{t})
	}
	return v
}

// leading returns how a word surely begins; plain says that it is one word up to
// there.
func leading(segments []segment) (prefix string, plain bool) {
	for _, s := range segments {
		if len(s.texts) != 1 || s.texts[0].glob || s.split {
			return prefix, false
		}
		prefix += s.texts[0].text
	}
	return prefix, true
}

// fieldsOf splits the values of a variable that stands alone and unquoted.
func fieldsOf(values []field) value {
	v := value{known: true}
	for _, t := range values {
		if strings.Contains(t.text, `\`) {
			return value{open: true}
		}
		alt := []field{}
		for part := range strings.FieldsFuncSeq(t.text, func(r rune) bool { return r == ' ' || r == '\t' || r == '\n' }) {
			if !t.glob && strings.ContainsAny(part, "*?[") {
				return value{open: true} // a pattern that no word of the text shows
			}
			alt = append(alt, field{text: part, glob: t.glob, number: t.number})
		}
		v.alts = append(v.alts, alt)
	}
	return v
}

// segments evaluates a part of a word. Without ok it is not known; open says that
// blanks in its value end a word then.
func (c *certainty) segments(part syntax.WordPart, first, assigned bool) (list []segment, ok, open bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		var b, bare strings.Builder
		glob, why := unquoteBare(&b, &bare, p.Value)
		if why != "" && strings.TrimFunc(p.Value, isLabelRune) != "" {
			return nil, false, true
		}
		if why != "" {
			b.Reset()
			b.WriteString(p.Value)
		}
		open := bare.String()
		if first && strings.HasPrefix(open, "~") && open != "~" && !strings.HasPrefix(open, "~/") ||
			strings.Contains(open, "=~") || strings.Contains(open, ":~") {
			return nil, false, true
		}
		return []segment{{texts: []field{{text: b.String(), glob: glob && !assigned && p.Value != "["}}}}, true, false
	case *syntax.SglQuoted:
		text := p.Value
		if p.Dollar {
			if !simpleANSI(text) {
				return nil, false, false
			}
			text = ansi(text)
		}
		return []segment{{texts: []field{{text: text}}}}, true, false
	case *syntax.DblQuoted:
		if p.Dollar {
			return nil, false, false
		}
		for _, inner := range p.Parts {
			next, ok, _ := c.quoted(inner)
			if !ok {
				return nil, false, isList(inner)
			}
			list = append(list, next)
		}
		if len(list) == 0 {
			list = []segment{{texts: []field{{}}}}
		}
		return list, true, false
	case *syntax.ParamExp:
		values, ok := c.variable(p)
		return []segment{{texts: values, split: true}}, ok, true
	case *syntax.ArithmExp:
		return []segment{{texts: []field{someNumber}}}, true, false
	case *syntax.ProcSubst:
		return []segment{{texts: []field{{text: "/dev/fd/63"}}}}, true, false
	default:
		return nil, false, true
	}
}

// isLabelRune reports characters that unquoteBare refuses only because other
// shells than Bash may expand them.
func isLabelRune(r rune) bool { return r == '#' || r == '^' }

// isList reports whether a part becomes several words even in quotes.
func isList(part syntax.WordPart) bool {
	p, ok := part.(*syntax.ParamExp)
	if !ok {
		return false
	}
	if p.Param != nil && p.Param.Value == "@" {
		return true
	}
	w, ok := p.Index.(*syntax.Word)
	return ok && w.Lit() == "@"
}

// quoted evaluates a part inside of double quotes.
func (c *certainty) quoted(part syntax.WordPart) (s segment, ok, open bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		var b strings.Builder
		for i := 0; i < len(p.Value); i++ {
			if p.Value[i] == '\\' && i+1 < len(p.Value) && strings.IndexByte("$`\"\\", p.Value[i+1]) >= 0 {
				i++
			} else if p.Value[i] == '\\' && i+1 < len(p.Value) && p.Value[i+1] == '\n' {
				i++
				continue
			}
			b.WriteByte(p.Value[i])
		}
		return segment{texts: []field{{text: b.String()}}}, true, false
	case *syntax.ParamExp:
		values, ok := c.variable(p)
		return segment{texts: values}, ok, false
	case *syntax.ArithmExp:
		return segment{texts: []field{someNumber}}, true, false
	default:
		return segment{}, false, false
	}
}

// variable returns the values that a variable may have.
func (c *certainty) variable(p *syntax.ParamExp) (values []field, ok bool) {
	if p.Param == nil || p.Excl || p.Width || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Names != 0 || p.Exp != nil ||
		p.Flags != nil || p.NestedParam != nil || len(p.Modifiers) > 0 {
		return nil, false
	}
	name := p.Param.Value
	switch {
	case p.Length:
		return []field{someNumber}, true
	case isNumberVar(name) && !c.scope.open[name]:
		return []field{someNumber}, true
	case name == "HOME":
		return []field{{text: "~"}}, true
	case name == "PWD":
		return []field{{text: "."}}, true
	case c.scope.numeric[name]:
		return []field{someNumber}, true
	case c.scope.all || c.scope.open[name] && c.scope.values[name] == nil:
		return nil, false
	}
	values, ok = c.scope.values[name]
	return values, ok
}

// simpleANSI reports whether a $'…' text has only escapes that every Bash reads
// alike.
func simpleANSI(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		if i++; i == len(text) || strings.IndexByte(`nt\'"`, text[i]) < 0 {
			return false
		}
	}
	return true
}

// mayHaveBraces reports whether the shell may expand braces in a word.
func mayHaveBraces(w *syntax.Word) bool {
	open := false
	for _, part := range w.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			continue
		}
		for i := 0; i < len(lit.Value); i++ {
			switch lit.Value[i] {
			case '\\':
				i++
			case '{':
				open = true
			case ',':
				if open {
					return true
				}
			case '.':
				if open && i+1 < len(lit.Value) && lit.Value[i+1] == '.' {
					return true
				}
			}
		}
	}
	return open && len(w.Parts) > 1
}

// listBraces expands braces that hold nothing but lists, one in another or not.
// It returns nil where that is not certain.
func listBraces(w *syntax.Word) []*syntax.Word {
	split := &syntax.Word{Parts: append([]syntax.WordPart(nil), w.Parts...)}
	if !syntax.SplitBraces(split) {
		return nil
	}
	n := 1
	if !onlyLists(split, &n) {
		return nil
	}
	return expand(split)
}

// onlyLists reports whether the braces of a word are lists, and not too many: n
// is multiplied by how many words they make.
func onlyLists(w *syntax.Word, n *int) bool {
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, "{}") {
				return false
			}
		case *syntax.BraceExp:
			if *n *= len(p.Elems); p.Sequence || *n > 4*maxValues {
				return false
			}
			for _, e := range p.Elems {
				if !onlyLists(e, n) {
					return false
				}
			}
		}
	}
	return true
}
