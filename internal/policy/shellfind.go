package policy

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// parseDocument parses a text like the body of a here-document.
func parseDocument(text string) (word *syntax.Word, err error) {
	defer func() {
		if r := recover(); r != nil {
			word, err = nil, syntax.ParseError{Text: "the parser gave up"}
		}
	}()
	return syntax.NewParser(syntax.Variant(syntax.LangBash)).Document(strings.NewReader(text))
}

// inside walks everything below a node: statements wherever they are, and texts
// that Bash evaluates although they are quoted.
func (f *finder) inside(node syntax.Node) {
	quotedRuns := false
	switch node.(type) {
	case *syntax.TestClause, *syntax.ArithmCmd, *syntax.LetClause, *syntax.DeclClause, *syntax.Assign:
		quotedRuns = true
	}
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			f.stmt(n, false)
			return false
		case *syntax.SglQuoted:
			if quotedRuns {
				f.document(n.Value)
			}
		case *syntax.ExtGlob:
			// For zsh the parentheses behind a pattern may hold a command.
			f.doubts = append(f.doubts, n.Pattern.Value)
			if strings.ContainsAny(n.Pattern.Value, "'\"$`:") {
				f.blind("The command has a pattern in which zsh may run something.")
			}
		}
		return true
	})
}

// call takes a simple command into the finder.
func (f *finder) call(call *syntax.CallExpr, direct bool) {
	if words := plainWords(call); words != nil {
		plain := 0
		if direct {
			plain = len(words)
		}
		f.add(words, plain)
		return
	}
	for _, a := range call.Assigns {
		f.inside(a)
	}
	for _, w := range call.Args {
		f.inside(w)
	}
	if len(call.Args) == 0 {
		return
	}
	plain := 0
	if direct && len(call.Assigns) == 0 {
		for plain < len(call.Args) && plainText(call.Args[plain]) != "" {
			plain++
		}
	}
	var rest []string
	var names [][]string
	for i, arg := range call.Args {
		guesses, sure := f.guess(arg)
		if len(names) == 0 || i > 0 && allEmpty(names) {
			// The command's name, or what follows a word that may be nothing.
			if !sure && f.opaque == "" {
				f.blind("The command runs " + quoteShort(source(arg)) + ", and what that is cannot be seen.")
			}
			names = guesses
			continue
		}
		rest = append(rest, guesses[0]...)
	}
	runsText := false
	for _, name := range names {
		words := slices.Concat(name, rest)
		f.add(words, plain)
		if len(words) > 0 {
			base := path.Base(words[0])
			runsText = runsText || shells[base] || base == "source" || base == "." || base == "eval"
		}
	}
	if !runsText {
		return
	}
	for _, arg := range call.Args[1:] {
		// eval "$x", sh -c "$(…)", source <(…): seen through only where the text
		// is at hand.
		if _, sure := f.guess(arg); !sure && f.opaque == "" {
			f.blind("The command runs the text " + quoteShort(source(arg)) + ", and what that is cannot be seen.")
		}
		syntax.Walk(arg, func(n syntax.Node) bool {
			if p, ok := n.(*syntax.ProcSubst); ok {
				f.texts(p.Stmts)
			}
			return true
		})
	}
}

// plainWords returns the words of a call that has nothing but plain literals,
// and nil for any other.
func plainWords(call *syntax.CallExpr) []string {
	if len(call.Assigns) > 0 || len(call.Args) == 0 {
		return nil
	}
	for _, w := range call.Args {
		if plainText(w) == "" {
			return nil
		}
	}
	words := make([]string, len(call.Args))
	for i, w := range call.Args {
		words[i] = plainText(w)
	}
	return words
}

// plainText returns a word that is one plain literal, and "" for any other.
func plainText(w *syntax.Word) string {
	if w != nil && len(w.Parts) == 1 {
		if lit, ok := w.Parts[0].(*syntax.Lit); ok && harmless(lit.Value) {
			return lit.Value
		}
	}
	return ""
}

// allEmpty reports whether none of the guesses has a word.
func allEmpty(guesses [][]string) bool {
	return !slices.ContainsFunc(guesses, func(g []string) bool { return len(g) > 0 })
}

// source returns a word roughly as it was written.
func source(w *syntax.Word) string {
	var b strings.Builder
	if err := syntax.NewPrinter(syntax.SingleLine(true)).Print(&b, w); err != nil {
		return "a word"
	}
	return b.String()
}

// pipe looks at commands whose output is another command's text.
func (f *finder) pipe(cmd *syntax.BinaryCmd) {
	if f.pipes++; f.pipes > maxPipes {
		f.cut = true
		return
	}
	runs := false
	syntax.Walk(cmd.Y, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok {
			runs = runs || f.takesText(call)
		}
		return true
	})
	if runs {
		f.texts([]*syntax.Stmt{cmd.X})
	}
}

// takesText reports whether a call may run what it reads: a shell is somewhere
// in its words.
func (f *finder) takesText(call *syntax.CallExpr) bool {
	takes := func(w string) bool {
		switch base := path.Base(w); base {
		case "source", ".", "xargs", "parallel", "stdin":
			return true
		default:
			return shells[base]
		}
	}
	for _, arg := range call.Args {
		if text := plainText(arg); text != "" {
			if takes(text) {
				return true
			}
			continue
		}
		for _, words := range first(f.guess(arg)) {
			if slices.ContainsFunc(words, takes) {
				return true
			}
		}
	}
	return false
}

func first[A, B any](a A, _ B) A { return a }

// texts reads what echo, printf and here-documents bring as shell text.
func (f *finder) texts(stmts []*syntax.Stmt) {
	for _, st := range stmts {
		syntax.Walk(st, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.CallExpr:
				if value, ok := f.output(n); ok {
					f.textIn(value)
				}
			case *syntax.Redirect:
				if n.Hdoc != nil {
					f.textIn(joined(first(f.guess(n.Hdoc))))
				} else if n.Op == syntax.WordHdoc {
					f.textIn(joined(first(f.guess(n.Word))))
				}
			}
			return true
		})
	}
}

// output returns what a call of echo or printf writes, roughly.
func (f *finder) output(call *syntax.CallExpr) (string, bool) {
	if len(call.Args) < 2 {
		return "", false
	}
	switch path.Base(joined(first(f.guess(call.Args[0])))) {
	case "echo", "printf", "print":
	default:
		return "", false
	}
	var words []string
	for _, arg := range call.Args[1:] {
		w := joined(first(f.guess(arg)))
		if len(words) == 0 && (strings.HasPrefix(w, "-") || strings.HasPrefix(w, "%") && !strings.Contains(w, " ")) {
			continue // options, and formats like %s
		}
		words = append(words, w)
	}
	return ansi(strings.Join(words, " ")), true
}

func joined(guesses [][]string) string {
	if len(guesses) == 0 {
		return ""
	}
	return strings.Join(guesses[0], " ")
}

// redirect looks at a redirection: what its words run, its file, and the text
// that it may give to a shell.
func (f *finder) redirect(r *syntax.Redirect, st *syntax.Stmt) {
	if plainText(r.Word) == "" && r.Word != nil {
		f.inside(r.Word)
	}
	if r.Hdoc != nil {
		f.inside(r.Hdoc)
	}
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		runs := false
		if call, ok := st.Cmd.(*syntax.CallExpr); ok {
			runs = f.takesText(call)
		} else if st.Cmd != nil {
			runs = true
		}
		if runs && r.Hdoc != nil {
			f.textIn(joined(first(f.guess(r.Hdoc))))
		} else if runs && r.Word != nil {
			f.textIn(joined(first(f.guess(r.Word))))
		}
		return
	case syntax.DplIn, syntax.DplOut:
		if target := plainText(r.Word); len(target) == 1 && target[0] >= '0' && target[0] <= '9' {
			return
		}
		if target := joined(first(f.guess(r.Word))); target == "-" || len(target) == 1 && target[0] >= '0' && target[0] <= '9' {
			return
		}
	default:
	}
	for _, words := range first(f.guess(r.Word)) {
		for _, w := range words {
			f.files = append(f.files, shellPath{path: w, write: r.Op != syntax.RdrIn && r.Op != syntax.DplIn})
		}
	}
}

// collectVars notes the values that a text gives to its variables, wherever.
func (f *finder) collectVars(node syntax.Node) {
	syntax.Walk(node, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name == nil {
				break
			}
			var words []*syntax.Word
			if n.Value != nil {
				words = append(words, n.Value)
			}
			if n.Array != nil {
				for _, e := range n.Array.Elems {
					if e.Value != nil {
						words = append(words, e.Value)
					}
				}
			}
			var all []string
			for _, w := range words {
				all = append(all, joined(first(f.guess(w))))
			}
			f.set(n.Name.Value, strings.Join(all, " "))
		case *syntax.WordIter:
			for _, w := range n.Items {
				for _, g := range first(f.guess(w)) {
					for _, word := range g {
						f.set(n.Name.Value, word)
					}
				}
			}
		}
		return true
	})
}

// set notes one value of a variable.
func (f *finder) set(name, value string) {
	if f.vars == nil {
		f.vars = map[string][]string{}
	}
	if have := f.vars[name]; len(have) < maxGuesses && !slices.Contains(have, value) {
		f.vars[name] = append(have, value)
	}
}
