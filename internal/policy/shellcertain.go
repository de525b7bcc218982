package policy

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of the certain view. Beyond them nothing is certain.
const (
	maxCertainCalls = 2000
	maxCertainDepth = 8
	maxValues       = 16
	maxMoves        = 4
)

// A certainty is the third view of a text. It serves rules that allow every
// command where others are denied: such a rule allows only what can be known
// for certain. The walk knows a list of constructs, expansions and programs;
// whatever it does not know is a doubt, and a person decides.
//
// The words that it evaluates exactly are compared with deny rules too.
type certainty struct {
	// program says why it is not known which programs run, path why it is not
	// known which files are opened; whole sentences, empty without a doubt.
	program, path string
	// lists says that the names of files come from somewhere else than the text:
	// then not even a rule that names the program allows the call where files are
	// denied.
	lists string

	// calls are the commands with their words as the shell expands them.
	calls []found
	// files are values that may be paths, besides the words of calls.
	files []shellPath
	// handed are words that go to programs which may run them as commands.
	handed []string
	// strangers counts the programs that may run what they are given.
	strangers int

	scope *varScope
	// isDir reports whether a path is a folder; it may be nil.
	isDir func(string) bool
	// moves counts changes of folder; strayed says that one of them may not have
	// happened, or happened in a shell of its own.
	moves   int
	strayed bool
	// forked is how many subshells, branches and loops the walk is in, depth how
	// many texts inside of texts.
	forked, depth int
	count         int
}

// certain makes the certain view, once.
func (s *script) certain() *certainty {
	if s.sure != nil {
		return s.sure
	}
	c := &certainty{isDir: s.isDir}
	s.sure = c
	defer func() {
		// The text is hostile and the syntax tree of a large parser: a node that it
		// cannot walk is a doubt like others.
		if r := recover(); r != nil {
			c.doubt("The command has a part that is not understood.")
		}
	}()
	switch {
	case s.file == nil:
		c.doubt(s.broken)
	case strings.ContainsAny(s.text, "\r\x00"):
		c.doubt("The command has a carriage return or a NUL in it.")
	case continuesComment(s.text):
		c.doubt(continuedComment)
	default:
		c.file(s.file)
		c.renamed()
	}
	return c
}

// doubt notes that neither programs nor files are known.
func (c *certainty) doubt(why string) {
	c.doubtProgram(why)
	c.doubtPath(why)
}

func (c *certainty) doubtProgram(why string) {
	if c.program == "" {
		c.program = why
	}
}

func (c *certainty) doubtPath(why string) {
	if c.path == "" {
		c.path = why
	}
}

// listed notes that names of files come from elsewhere.
func (c *certainty) listed(why string) {
	if c.lists == "" {
		c.lists = why
	}
	c.doubtPath(why)
}

const continuedComment = "The command has a line with a `#` that ends in a backslash."

// continuesComment reports whether a line that may hold a comment ends in a
// backslash: Bash ends the comment there, and the parser joins the next line to
// the command before it.
func continuesComment(text string) bool {
	for line := range strings.Lines(text) {
		if strings.HasSuffix(line, "\\\n") && strings.Contains(line, "#") {
			return true
		}
	}
	return false
}

// text walks a text that a shell runs: an argument of sh -c or eval.
func (c *certainty) text(text string) {
	if c.depth >= maxCertainDepth || len(text) > maxShellText || nesting(text) > maxShellDepth || strings.ContainsAny(text, "\r\x00") {
		c.doubt("The command runs a text that is nested too deeply to be read.")
		return
	}
	file, err := parseText(text)
	if err != nil {
		c.doubt("The command runs a text that cannot be read as shell.")
		return
	}
	if continuesComment(text) {
		c.doubt(continuedComment)
		return
	}
	c.depth++
	c.file(file)
	c.depth--
}

// file walks a parsed text with variables of its own.
func (c *certainty) file(file *syntax.File) {
	outer := c.scope
	c.scope = scanVars(file)
	if c.scope.special != "" {
		c.doubt("The command changes the variable " + c.scope.special + ", which decides what other words mean.")
	}
	c.list(file.Stmts)
	c.scope = outer
}

func (c *certainty) list(stmts []*syntax.Stmt) {
	for _, st := range stmts {
		c.stmt(st)
	}
}

// branch walks statements that may run, or run more than once, or in a shell of
// their own.
func (c *certainty) branch(stmts ...*syntax.Stmt) {
	c.forked++
	c.list(stmts)
	c.forked--
}

// stmt walks one statement. What it does not name is a doubt.
func (c *certainty) stmt(st *syntax.Stmt) {
	if c.count++; c.count > maxCertainCalls {
		c.doubt("The command has too many parts to look at all of them.")
		return
	}
	for _, r := range st.Redirs {
		c.redirect(r)
	}
	defer c.feed(c.strangers, st.Redirs)
	if st.Background || st.Coprocess || st.Disown {
		c.forked++
		defer func() { c.forked-- }()
	}
	switch cmd := st.Cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		c.call(cmd)
	case *syntax.BinaryCmd:
		if cmd.Op == syntax.AndStmt {
			c.stmt(cmd.X)
			c.stmt(cmd.Y)
			return
		}
		if clause, ok := cmd.Y.Cmd.(*syntax.TimeClause); ok && cmd.Op != syntax.OrStmt && !timesCall(clause) {
			c.doubt("After a `|`, `time` is a program, and what it is given is not followed.")
		}
		c.branch(cmd.X)
		before := c.strangers
		c.branch(cmd.Y)
		if before != c.strangers && cmd.Op != syntax.OrStmt {
			c.pipeInto(cmd.X)
		}
	case *syntax.Block:
		c.list(cmd.Stmts)
	case *syntax.Subshell:
		c.branch(cmd.Stmts...)
	case *syntax.IfClause:
		for part := cmd; part != nil; part = part.Else {
			c.branch(part.Cond...)
			c.branch(part.Then...)
		}
	case *syntax.WhileClause:
		c.branch(cmd.Cond...)
		c.branch(cmd.Do...)
	case *syntax.ForClause:
		c.loop(cmd)
	case *syntax.CaseClause:
		c.inside(cmd.Word)
		for _, item := range cmd.Items {
			for _, p := range item.Patterns {
				c.inside(p)
			}
			c.branch(item.Stmts...)
		}
	case *syntax.TimeClause:
		if cmd.Stmt != nil {
			c.stmt(cmd.Stmt)
		}
	case *syntax.TestClause:
		c.test(cmd.X)
	case *syntax.ArithmCmd:
		c.arithmetic(cmd.X)
	case *syntax.DeclClause:
		c.declare(cmd)
	default:
		c.doubt("The command has " + nodeName(cmd) + ", and what that runs is not followed.")
	}
}

// timesCall reports whether a `time` clause means the same to Bash, which takes
// `time` for a program after a pipe: one command without options of `time`,
// assignments or a shell's own syntax.
func timesCall(clause *syntax.TimeClause) bool {
	if clause.Stmt == nil {
		return false
	}
	call, ok := clause.Stmt.Cmd.(*syntax.CallExpr)
	return ok && len(call.Assigns) == 0 && len(call.Args) > 0 && !strings.HasPrefix(call.Args[0].Lit(), "-")
}

// feed hands the texts of here-documents to a program that may run what it reads,
// if there is one since a count.
func (c *certainty) feed(before int, redirs []*syntax.Redirect) {
	if before == c.strangers {
		return
	}
	for _, r := range redirs {
		for _, w := range []*syntax.Word{r.Hdoc, r.Word} {
			if w != nil && (r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc || r.Op == syntax.WordHdoc) {
				c.handed = append(c.handed, source(w))
			}
		}
	}
}

// pipeInto hands the texts in a command to a program that reads its output and may
// run it.
func (c *certainty) pipeInto(st *syntax.Stmt) {
	syntax.Walk(st, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			for i, w := range n.Args {
				if i > 0 {
					c.handed = append(c.handed, bareTexts(source(w))[0])
				}
			}
		case *syntax.Redirect:
			if n.Hdoc != nil {
				c.handed = append(c.handed, source(n.Hdoc))
			}
		}
		return true
	})
}

// loop walks a for loop. Its variable has a known set of values inside.
func (c *certainty) loop(cmd *syntax.ForClause) {
	switch loop := cmd.Loop.(type) {
	case *syntax.WordIter:
		if cmd.Select {
			c.doubt("The command has a `select`, and what is chosen is not known.")
			return
		}
		values, known := []field{}, loop.InPos.IsValid()
		for _, item := range loop.Items {
			v := c.word(item)
			known = known && v.known
			for _, alt := range v.alts {
				values = append(values, alt...)
			}
		}
		before, had := c.scope.values[loop.Name.Value]
		if known && len(values) <= maxValues {
			c.scope.values[loop.Name.Value] = values
		} else {
			delete(c.scope.values, loop.Name.Value)
		}
		c.branch(cmd.Do...)
		delete(c.scope.values, loop.Name.Value)
		if had && !c.scope.open[loop.Name.Value] {
			c.scope.values[loop.Name.Value] = before
		}
	case *syntax.CStyleLoop:
		for _, x := range []syntax.ArithmExpr{loop.Init, loop.Cond, loop.Post} {
			c.arithmetic(x)
		}
		c.branch(cmd.Do...)
	default:
		c.doubt("The command has a loop that is not understood.")
	}
}

// inside walks the commands in a word's substitutions.
func (c *certainty) inside(node syntax.Node) {
	if node == nil {
		return
	}
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			c.branch(n)
			return false
		case *syntax.ArithmExp:
			c.arithmetic(n.X)
			return false
		case *syntax.ParamExp:
			c.param(n)
		case *syntax.ExtGlob:
			c.doubt("The command has an extended pattern, which shells read differently.")
		}
		return true
	})
}

// param looks for expansions that evaluate a value once more.
func (c *certainty) param(p *syntax.ParamExp) {
	switch {
	case p.Excl, p.Names != 0, p.Flags != nil, p.NestedParam != nil, p.Param == nil:
		c.doubt("The command has a variable whose name is in another variable.")
	case p.Exp != nil && p.Exp.Op == syntax.OtherParamOps:
		c.doubt("The command has a variable whose value is evaluated once more (`${…@…}`).")
	case p.Index != nil:
		if w, ok := p.Index.(*syntax.Word); ok && (w.Lit() == "@" || w.Lit() == "*") {
			return
		}
		c.arithmetic(p.Index)
	case p.Slice != nil:
		c.arithmetic(p.Slice.Offset)
		c.arithmetic(p.Slice.Length)
	}
}

// redirect walks a redirection.
func (c *certainty) redirect(r *syntax.Redirect) {
	c.inside(r.Word)
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		if r.Hdoc != nil {
			c.inside(r.Hdoc)
		}
		return
	case syntax.WordHdoc:
		return
	default:
	}
	v := c.word(r.Word)
	if !v.known {
		c.doubtPath("The command has a redirection to " + quoteShort(source(r.Word)) + ", and which file that is cannot be known.")
	}
	for _, alt := range v.alts {
		for _, f := range alt {
			if r.Op == syntax.DplIn || r.Op == syntax.DplOut {
				if isNumber(strings.TrimSuffix(f.text, "-")) || f.text == "-" {
					continue
				}
			}
			c.files = append(c.files, shellPath{path: f.text, write: r.Op != syntax.RdrIn && r.Op != syntax.DplIn})
		}
	}
}

// arithmetic walks an arithmetic expression. Bash evaluates the value of a
// variable there as an expression, which may have a command in it.
func (c *certainty) arithmetic(x syntax.ArithmExpr) {
	if x == nil {
		return
	}
	syntax.Walk(x, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			c.branch(n)
			c.doubt("The command has a substitution in arithmetic, and what that evaluates is not known.")
			return false
		case *syntax.Lit:
			if name := n.Value; !isNumber(name) && !c.scope.numeric[name] {
				c.doubtProgram("The command has the variable " + quoteShort(name) + " in arithmetic, which evaluates its value.")
			}
		case *syntax.ParamExp:
			if n.Param != nil && n.Index == nil && n.Exp == nil && n.Repl == nil && n.Slice == nil && !n.Excl &&
				(n.Length || c.scope.numeric[n.Param.Value] || isNumberVar(n.Param.Value)) {
				return false
			}
			c.doubtProgram("The command has a variable in arithmetic, which evaluates its value.")
			return false
		case *syntax.SglQuoted, *syntax.ExtGlob, *syntax.ProcSubst:
			c.doubt("The command has arithmetic that is not understood.")
			return false
		}
		return true
	})
}

// test walks what is between [[ and ]].
func (c *certainty) test(x syntax.TestExpr) {
	numeric := func(x syntax.TestExpr) {
		w, ok := x.(*syntax.Word)
		if !ok {
			return
		}
		v := c.word(w)
		ok = v.known
		for _, alt := range v.alts {
			for _, f := range alt {
				ok = ok && isNumber(strings.TrimPrefix(f.text, "-"))
			}
		}
		if !ok {
			c.doubtProgram("The command compares " + quoteShort(source(w)) + " as a number, which evaluates it.")
		}
	}
	switch x := x.(type) {
	case *syntax.Word:
		c.inside(x)
	case *syntax.ParenTest:
		c.test(x.X)
	case *syntax.UnaryTest:
		if x.Op == syntax.TsVarSet || x.Op == syntax.TsRefVar {
			if w, ok := x.X.(*syntax.Word); !ok || !isName(w.Lit()) {
				c.doubtProgram("The command tests for a variable by a name that is evaluated.")
			}
		}
		c.test(x.X)
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			numeric(x.X)
			numeric(x.Y)
		default:
		}
		c.test(x.X)
		c.test(x.Y)
	default:
		c.doubt("The command has a test that is not understood.")
	}
}

// declare walks export, declare and the like.
func (c *certainty) declare(cmd *syntax.DeclClause) {
	words := []string{cmd.Variant.Value}
	for _, a := range cmd.Args {
		if a.Name == nil {
			v := c.word(a.Value)
			if !v.known || len(v.alts) != 1 {
				c.doubt("The command declares a variable whose name cannot be known.")
				continue
			}
			for _, f := range v.alts[0] {
				words = append(words, f.text)
				if !strings.HasPrefix(f.text, "-") || strings.ContainsAny(f.text, "niI") {
					c.doubt("The command declares a variable in a way that evaluates its value.")
				}
			}
			continue
		}
		words = append(words, a.Name.Value)
		c.assign(a, true)
	}
	c.calls = append(c.calls, found{words: words, name: cmd.Variant.Value})
}

// assign walks an assignment; exported says that programs see its value.
func (c *certainty) assign(a *syntax.Assign, exported bool) {
	if a.Index != nil {
		c.arithmetic(a.Index)
	}
	if a.Array != nil {
		for _, e := range a.Array.Elems {
			if e.Index != nil {
				c.arithmetic(e.Index)
			}
			c.inside(e.Value)
		}
		return
	}
	if a.Value == nil {
		return
	}
	v := c.word(a.Value)
	if a.Name == nil {
		return
	}
	if exported {
		if isSpecial(a.Name.Value) {
			c.doubt("The command sets the variable " + quoteShort(a.Name.Value) + ", which decides what programs do.")
		}
		if !v.known {
			c.doubtProgram("The command gives a program the variable " + quoteShort(a.Name.Value) + ", whose value cannot be known.")
		}
		for _, alt := range v.alts {
			c.hand(texts(alt))
		}
	}
	for _, alt := range v.alts {
		for _, f := range alt {
			c.files = append(c.files, shellPath{path: f.text})
		}
	}
}

// call walks a simple command.
func (c *certainty) call(call *syntax.CallExpr) {
	for _, a := range call.Assigns {
		c.assign(a, len(call.Args) > 0)
	}
	if len(call.Args) == 0 {
		c.scope.set(call.Assigns, c)
		return
	}
	cmd := command{source: call}
	var names [][]field
	for _, arg := range call.Args {
		v := c.word(arg)
		switch {
		case names == nil:
			if !v.known {
				c.doubt("The command runs " + quoteShort(source(arg)) + ", and which program that is cannot be known.")
				return
			}
			if len(v.alts) == 1 && len(v.alts[0]) == 0 {
				continue // a variable that is empty
			}
			names = v.alts
		case !v.known:
			cmd.unknown = true
			cmd.open = cmd.open || v.open
			cmd.what = source(arg)
			cmd.words = append(cmd.words, field{text: v.prefix, unknown: true})
		default:
			cmd.spread = cmd.spread || len(v.alts) > 1
			for _, alt := range v.alts {
				cmd.words = append(cmd.words, alt...)
			}
		}
	}
	args := cmd.words
	for _, name := range names {
		if len(name) == 0 {
			c.doubt("The command runs a word that may be empty.")
			continue
		}
		cmd.words = append(append([]field(nil), name...), args...)
		c.run(cmd)
	}
}

// A command is a simple command with the words that are known of it.
type command struct {
	words []field
	// unknown says that a word is not known, open that such a word may be an
	// option or several words, spread that words are alternatives of each other;
	// what is one unknown word as it is written.
	unknown, open, spread bool
	what                  string
	source                *syntax.CallExpr
}

// exact reports whether the words are the very ones that the program gets.
func (cmd *command) exact() bool { return !cmd.unknown && !cmd.spread }

// name returns the program's name without its folder.
func (cmd *command) name() string { return path.Base(cmd.words[0].text) }

// args returns the arguments' texts.
func (cmd *command) args() []string { return texts(cmd.words[1:]) }

// from returns the command that begins at one of the words.
func (cmd *command) from(at int) command {
	inner := *cmd
	inner.words = cmd.words[at:]
	return inner
}

func texts(fields []field) []string {
	list := make([]string, len(fields))
	for i, f := range fields {
		list[i] = f.text
	}
	return list
}
