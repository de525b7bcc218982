package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// Commands beyond these sizes are not read: no honest agent writes them,
// and reading them could take long.
const (
	maxShellText  = 64 << 10
	maxShellDepth = 64
)

// A script is one shell command text as the rules see it. It is seen in three
// ways. The strict one serves allow rules: a list of simple commands whose
// words are known for certain, or the reason why there is no such list. The
// generous one serves deny and ask rules: every command that might run,
// wherever it is hidden. The certain one serves rules that allow every command:
// it says what of the text cannot be known; see certainty.
//
// A script belongs to one decision and is not safe for concurrent use.
type script struct {
	text string

	// file is the parsed text, nil when it cannot be parsed.
	file *syntax.File
	// broken says why the text cannot be parsed; a whole sentence.
	broken string

	// The strict view.

	// refused says why no allow rule may ever cover the text; a whole sentence.
	// If it is empty, calls and redirs are all that the text does.
	refused string
	calls   []simple
	redirs  []redirection
	// moved says how the text changes its folder on the way.
	moved movement

	// The generous view, made when the first deny or ask rule wants it.

	looked bool
	// sure is the certain view, made when a rule that allows every command wants
	// it.
	sure *certainty
	// isDir reports whether a path is a folder; it may be nil.
	isDir func(string) bool
	// strayed says that the text changes its folder more often than paths follows.
	strayed bool
	// bare is the text as hasWord looks at it, made when it is needed.
	bare   []string
	finder *finder
}

// A simple is one simple command: its name and arguments after unquoting.
type simple struct {
	words []shellWord
	// piped says that its input comes from another command.
	piped bool
}

// String returns the command for people, shortened.
func (c simple) String() string {
	var b strings.Builder
	for i, w := range c.words {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.text)
		if b.Len() > 80 {
			break
		}
	}
	return quoteShort(b.String())
}

// A redirection sends a file into a command or a command's output into a file.
type redirection struct {
	path  string
	write bool
}

// A movement is what is known about the folder that commands run in.
type movement struct {
	// any says that some command changes the folder.
	any bool
	// to is the folder that everything but the first command runs in, when the
	// text has the form "cd to && …" and no other change of folder.
	to string
}

// parseShell reads a command as Bash would. It never fails: what cannot be
// understood is part of the answer.
func parseShell(command string) *script {
	s := &script{text: command}
	if len(command) > maxShellText {
		s.broken = fmt.Sprintf("The command is longer than %d KiB and is not read.", maxShellText>>10)
		s.refused = s.broken
		return s
	}
	if nesting(command) > maxShellDepth {
		s.broken = "The command is nested too deeply and is not read."
		s.refused = s.broken
		return s
	}
	file, err := parseText(command)
	if err != nil {
		s.broken = "The command cannot be read as shell: " + plainParseError(err) + "."
		s.refused = s.broken
		return s
	}
	s.file = file
	if why := suspectText(command); why != "" {
		s.refused = why
		return s
	}
	s.list(file.Stmts, false)
	if s.refused == "" && strings.Contains(command, "#") && hasComments(file) {
		s.refuse("a comment")
	}
	if s.refused == "" && len(s.calls) == 0 {
		s.refused = "The command runs nothing."
	}
	if s.refused == "" {
		s.moved = s.movement()
	}
	return s
}

// parseText parses Bash. The parser is a large one and reads hostile text: if
// it ever panics, the text counts as unreadable.
func parseText(text string) (file *syntax.File, err error) {
	defer func() {
		if r := recover(); r != nil {
			file, err = nil, fmt.Errorf("the parser gave up: %v", r)
		}
	}()
	p := parsers.Get().(*syntax.Parser)
	file, err = p.Parse(strings.NewReader(text), "")
	parsers.Put(p) // not after a panic
	return file, err
}

// parsers are kept because a new one costs more than a short text. They hold
// nothing from one text to the next.
var parsers = sync.Pool{New: func() any {
	return syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true))
}}

// plainParseError shortens a parser's error to one line that can stand in a
// sentence.
func plainParseError(err error) string {
	text := err.Error()
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		text = text[:i]
	}
	return short(strings.TrimSuffix(text, "."))
}

// nesting returns an upper bound of how deeply a text can be nested: brackets
// that are open at once, quoted or not. Backquotes are not counted: each level
// doubles the backslashes in front, which the text's length bounds.
func nesting(text string) int {
	depth, most := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(', '{':
			depth++
			most = max(most, depth)
		case ')', '}':
			depth = max(depth-1, 0)
		}
	}
	return most
}

// refuse notes that the text has something that no allow rule covers.
func (s *script) refuse(what string) {
	if s.refused == "" {
		s.refused = "The command has " + what + ", which no allow rule covers."
	}
}

// list walks a list of statements for the strict view.
func (s *script) list(stmts []*syntax.Stmt, piped bool) {
	for _, st := range stmts {
		s.stmt(st, piped)
		if s.refused != "" {
			return
		}
	}
}

// stmt walks one statement for the strict view. Whatever it does not name is
// refused.
func (s *script) stmt(st *syntax.Stmt, piped bool) {
	switch {
	case st.Negated:
		s.refuse("a `!` in front")
	case st.Background, st.Coprocess, st.Disown:
		s.refuse("a part that goes on in the background (`&`)")
	case st.Cmd == nil:
		s.refuse("a redirection without a command")
	}
	if s.refused != "" {
		return
	}
	switch cmd := st.Cmd.(type) {
	case *syntax.CallExpr:
		s.call(cmd, piped)
	case *syntax.BinaryCmd:
		switch cmd.Op {
		case syntax.AndStmt, syntax.OrStmt:
			s.stmt(cmd.X, piped)
			if s.refused == "" {
				s.stmt(cmd.Y, piped)
			}
		case syntax.Pipe:
			s.stmt(cmd.X, piped)
			if s.refused == "" {
				s.stmt(cmd.Y, true)
			}
		default:
			s.refuse("the operator `" + cmd.Op.String() + "`")
		}
		if len(st.Redirs) > 0 {
			// The parser puts redirections on the innermost statement; one on a
			// whole list would be news.
			s.refuse("a redirection of several commands at once")
		}
	default:
		s.refuse(nodeName(cmd))
	}
	for _, r := range st.Redirs {
		if s.refused != "" {
			return
		}
		s.redirect(r)
	}
}

// call takes one simple command into the strict view.
func (s *script) call(call *syntax.CallExpr, piped bool) {
	if len(call.Assigns) > 0 {
		s.refuse("an assignment (`" + short(assignName(call.Assigns[0])) + "=…`)")
		return
	}
	c := simple{piped: piped, words: make([]shellWord, 0, len(call.Args))}
	for _, arg := range call.Args {
		w, why := plainWord(arg)
		if why != "" {
			s.refuse(why)
			return
		}
		if len(c.words) == 0 && (w.glob || w.tilde) {
			s.refuse("a command name that the shell would expand")
			return
		}
		c.words = append(c.words, w)
	}
	if len(c.words) == 0 || c.words[0].text == "" {
		s.refuse("an empty command name")
		return
	}
	s.calls = append(s.calls, c)
}

// assignName returns the name that an assignment sets.
func assignName(a *syntax.Assign) string {
	if a.Name == nil {
		return "?"
	}
	return a.Name.Value
}

// redirect takes one redirection into the strict view.
func (s *script) redirect(r *syntax.Redirect) {
	if r.N != nil && (len(r.N.Value) != 1 || r.N.Value[0] < '0' || r.N.Value[0] > '9') {
		// Bash would set a variable for {name}>, and zsh reads only one digit.
		s.refuse("a redirection of `" + short(r.N.Value) + "`")
		return
	}
	write := true
	switch r.Op {
	case syntax.DplIn, syntax.DplOut:
		w, why := plainWord(r.Word)
		if why == "" && len(w.text) == 1 && (w.text == "-" || w.text[0] >= '0' && w.text[0] <= '9') {
			return
		}
		s.refuse("a redirection `" + r.Op.String() + "` to something else than a number")
		return
	case syntax.RdrIn:
		write = false
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrInOut, syntax.RdrAll, syntax.AppAll:
	case syntax.Hdoc, syntax.DashHdoc:
		s.refuse("a here-document")
		return
	case syntax.WordHdoc:
		s.refuse("a here-string (`<<<`)")
		return
	default:
		s.refuse("the redirection `" + r.Op.String() + "`")
		return
	}
	w, why := plainWord(r.Word)
	switch {
	case why != "":
		s.refuse(why)
	case w.glob:
		s.refuse("a redirection to a pattern")
	case w.text == "/dev/null":
	case w.text == "":
		s.refuse("a redirection to nothing")
	case strings.HasPrefix(w.text, "/dev/tcp/"), strings.HasPrefix(w.text, "/dev/udp/"):
		// Not files: Bash opens a connection.
		s.refuse("a redirection to the network")
	default:
		s.redirs = append(s.redirs, redirection{path: w.path(), write: write})
	}
}

// nodeName names a part of the grammar for people.
func nodeName(cmd syntax.Command) string {
	switch cmd.(type) {
	case *syntax.IfClause:
		return "an `if`"
	case *syntax.WhileClause:
		return "a `while` or `until` loop"
	case *syntax.ForClause:
		return "a `for` or `select` loop"
	case *syntax.CaseClause:
		return "a `case`"
	case *syntax.Block:
		return "a block in braces"
	case *syntax.Subshell:
		return "a subshell in parentheses"
	case *syntax.FuncDecl:
		return "a function"
	case *syntax.ArithmCmd:
		return "arithmetic (`((…))`)"
	case *syntax.TestClause:
		return "a test in `[[ … ]]`"
	case *syntax.DeclClause:
		return "a declaration of variables"
	case *syntax.LetClause:
		return "a `let`"
	case *syntax.TimeClause:
		return "a `time` in front"
	case *syntax.CoprocClause:
		return "a `coproc`"
	default:
		return "something that is not a simple command"
	}
}

// hasComments reports whether there is a comment anywhere. Comments are
// refused because not every reader of the text agrees where one begins.
func hasComments(file *syntax.File) bool {
	found := false
	syntax.Walk(file, func(n syntax.Node) bool {
		if _, ok := n.(*syntax.Comment); ok {
			found = true
		}
		return !found
	})
	return found
}

// movement finds out in which folder the commands of the strict view run.
func (s *script) movement() movement {
	var m movement
	for i, c := range s.calls {
		switch c.words[0].text {
		case "cd", "pushd", "popd", "chdir":
			if m.any {
				return movement{any: true}
			}
			m.any = true
			if i == 0 && c.words[0].text == "cd" && len(c.words) == 2 && firstOfAnd(s.file) {
				m.to = c.words[1].path()
			}
		}
	}
	if strings.HasPrefix(m.to, "-") {
		m.to = ""
	}
	return m
}

// firstOfAnd reports whether a text is one chain "first && …", so that what
// follows runs only after the first command went well, and in its folder.
func firstOfAnd(file *syntax.File) bool {
	if len(file.Stmts) != 1 {
		return false
	}
	st := file.Stmts[0]
	for {
		b, ok := st.Cmd.(*syntax.BinaryCmd)
		if !ok {
			return true
		}
		if b.Op != syntax.AndStmt {
			// "cd a | b" and "cd a || b" leave b where it was; "cd a && b | c"
			// has the pipe on its right-hand side.
			return false
		}
		st = b.X
	}
}

// allowed reports whether the rules cover everything that the text does: each
// simple command by one of them, and each redirection by paths. It returns
// which rules were needed, in the order of the commands and each once, or the
// reason for a no as a whole sentence.
//
// A path that paths is given begins with "~" only where the shell puts the home
// folder there; a file whose name begins with a tilde comes as "./~…".
func (s *script) allowed(rules []*shellRule, paths func(path string, write bool) bool) (which []int, ok bool, reason string) {
	if s.refused != "" {
		return nil, false, s.refused
	}
	left := ""
	for i := range s.calls {
		at, why := s.cover(i, rules, paths)
		if at < 0 {
			return nil, false, why
		}
		if left == "" {
			left = s.leaves(i, rules[at], paths)
		}
		if why := s.elsewhere(i); why != "" {
			return nil, false, why
		}
		if !slices.Contains(which, at) {
			which = append(which, at)
		}
	}
	for _, r := range s.redirs {
		if s.moved.any && !strings.HasPrefix(r.path, "/") && !strings.HasPrefix(r.path, "~") {
			return nil, false, "After a change of folder the redirection to " + quoteShort(r.path) + " goes to a place that no rule covers."
		}
		if !paths(r.path, r.write) {
			if r.write {
				return nil, false, "The command writes to " + quoteShort(r.path) + ", which no allow rule covers."
			}
			return nil, false, "The command reads from " + quoteShort(r.path) + ", which no allow rule covers."
		}
	}
	if left != "" {
		return nil, false, "The command goes to " + quoteShort(left) + ", where what follows may be anything: no allow rule covers that."
	}
	if s.generous().cut {
		// Deny rules have not seen all of it.
		return nil, false, "The command has too many parts to look at all of them, which no allow rule covers."
	}
	return which, true, "Every command is covered by an allow rule."
}

// elsewhere says why the i-th command means something else after a change of
// folder than what a rule says of it.
func (s *script) elsewhere(i int) string {
	name := s.calls[i].words[0].text
	switch {
	case !s.moved.any || i == 0:
		return ""
	case strings.Contains(name, "/") && !strings.HasPrefix(name, "/"):
		return "After a change of folder " + s.calls[i].String() + " is another program than the rule names."
	case path.Base(name) == "git":
		return "After a change of folder `git` takes its settings from there, and they may name programs to run."
	}
	return ""
}

// leaves returns the folder that the i-th command goes to, if others follow and
// nothing in that folder may be read: there "make" and "npm test" are a
// stranger's. An exact rule names its folder, and the read-only set has asked.
func (s *script) leaves(i int, r *shellRule, paths func(string, bool) bool) string {
	words := s.calls[i].words
	switch name := words[0].text; {
	case len(s.calls) == 1 || r.kind == exactRule || r.kind == readOnlyRule, name != "cd" && name != "pushd" && name != "chdir":
		return ""
	case len(words) == 1:
		words = append(words, shellWord{text: "~", tilde: true})
	}
	to := words[len(words)-1]
	if strings.HasPrefix(to.text, "-") || strings.HasPrefix(to.text, "+") || !paths(to.path(), false) {
		return to.text
	}
	return ""
}

// cover finds the first rule that covers the i-th command. Without one it
// returns -1 and the reason of the rule that came nearest.
func (s *script) cover(i int, rules []*shellRule, paths func(string, bool) bool) (int, string) {
	near := ""
	for at, r := range rules {
		ok, why := r.covers(s, i, paths)
		if ok {
			return at, ""
		}
		if near == "" {
			near = why
		}
	}
	if near == "" {
		near = "No allow rule covers " + s.calls[i].String() + "."
	}
	return -1, near
}

// short cuts a text that comes from a command so that a reason stays one
// readable line.
func short(text string) string {
	const most = 80
	if len(text) <= most && isPlainASCII(text) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if b.Len() >= most {
			b.WriteString("…")
			break
		}
		if !printable(r) {
			fmt.Fprintf(&b, "\\u%04x", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// isPlainASCII reports whether a text has only printable ASCII characters.
func isPlainASCII(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// quoteShort is short between backquotes.
func quoteShort(text string) string { return "`" + short(text) + "`" }
