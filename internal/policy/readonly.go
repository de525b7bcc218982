package policy

import (
	"strings"
)

// A readSpec says how a command of the read-only set may be called. What it
// does not name is not covered: an option that is unknown here may write.
type readSpec struct {
	// flags are the letters of short options without a value.
	flags string
	// values are the letters of short options whose value is judged like a
	// path; a number or a plain word is one that stays inside. texts are those
	// whose value is never a path.
	values, texts string
	// attached are the letters of short options whose value, judged like a path,
	// is never the next word: those behind them are the value.
	attached string
	// long are the long options: "--name" without a value, "--name=" with one
	// that is judged like a path, "--name=*" with one that never is, and
	// "--name=?" with an optional one behind the equals sign.
	long string
	// apart says that a value is always the next word, so that letters behind
	// its option are options too.
	apart bool
	// free says that no argument does anything.
	free bool
	// digits allows -5 for -n 5.
	digits bool
	// operands says what the words are that are no options.
	operands operandKind
	// most is how many operands there may be; 0 means any number.
	most int
	// list are options of which one must be there if there are operands.
	list string
}

// An operandKind says what a command takes its operands for.
type operandKind int

const (
	// pathOperands are files to read: they must be inside.
	pathOperands operandKind = iota
	// textOperands are never opened.
	textOperands
	// patternOperands are one text, then paths; just paths if an option -e, -f,
	// --regexp, --file or --files is there.
	patternOperands
	// noOperands: there must be none.
	noOperands
)

// A reader judges the words of one command against the read-only set.
type reader struct {
	s     *script
	at    int
	paths func(string, bool) bool
	name  string
}

// readOnly reports whether the i-th command of a script is in the read-only
// set: it changes nothing, runs nothing else, and reads only where paths lets
// it. The reason, a whole sentence, is there if the command's name is in the
// set.
func readOnly(s *script, i int, paths func(string, bool) bool) (bool, string) {
	words := s.calls[i].words
	r := &reader{s: s, at: i, paths: paths, name: words[0].text}
	args := words[1:]
	for _, w := range args {
		if w.glob {
			if _, known := readers[r.name]; known || r.name == "git" || r.name == "find" {
				return false, "The read-only set covers no patterns like " + quoteShort(w.text) + ": which files they stand for is not known before."
			}
			return false, ""
		}
	}
	if atFiles[r.name] {
		for _, w := range args {
			// Before anything else is made of its words.
			if strings.HasPrefix(w.text, "@") {
				return false, "The read-only set does not cover " + quoteShort(w.text) + ": `" + r.name + "` takes options from that file."
			}
		}
	}
	if r.name == "test" || r.name == "[" || r.name == "printf" {
		if w := evaluated(args); w != "" {
			return false, r.unknown(shellWord{text: w})
		}
	}
	switch r.name {
	case "git":
		return r.git(args)
	case "find":
		return r.find(args)
	case "test", "[":
		return r.test(args)
	case "cd":
		if s.moved.to == "" {
			return false, "The read-only set covers `cd` only as the first command of a `&&` chain, with one folder."
		}
		if !paths(s.moved.to, false) {
			return false, r.outside(args[0])
		}
		return true, ""
	case "command":
		if len(args) == 2 && (args[0].text == "-v" || args[0].text == "-V") && !strings.HasPrefix(args[1].text, "-") {
			return true, ""
		}
		return false, ""
	case "ps":
		for _, w := range args {
			switch w.text {
			case "aux", "ax", "-ef", "-e", "-f", "-A", "-a", "-u", "-x":
			default:
				return false, r.unknown(w)
			}
		}
		return true, ""
	case "date":
		return r.date(args)
	case "jq":
		if why := r.jq(args); why != "" {
			return false, why
		}
	case "diff":
		if why := r.diff(args); why != "" {
			return false, why
		}
	case "sed":
		if why := beyondSed(words, 1); why != "" {
			return false, "The read-only set does not cover " + s.calls[i].String() + ": " + why + "."
		}
	}
	spec, ok := readers[r.name]
	if !ok {
		return false, ""
	}
	if spec.free {
		return true, ""
	}
	return r.judge(args, spec)
}

// unknown is the reason for an option or word that the set does not know.
func (r *reader) unknown(w shellWord) string {
	return "The read-only set does not cover " + quoteShort(w.text) + " of `" + r.name + "`."
}

// outside is the reason for a path that may not be read.
func (r *reader) outside(w shellWord) string {
	return "The read-only set does not cover reading " + quoteShort(w.text) + "."
}

// inside judges a word that may be a path. A word that is none, like a number,
// is inside.
func (r *reader) inside(w shellWord) bool {
	p, ok := r.from(w)
	return ok && r.paths(p, false)
}

// from returns a word as a path from the session's folder on.
func (r *reader) from(w shellWord) (p string, ok bool) {
	p = w.path()
	if r.s.moved.any && r.at > 0 && !strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "~") {
		if r.s.moved.to == "" || strings.Contains("/"+p+"/", "/../") {
			// Where ".." leads depends on links in the folder changed to.
			return "", false
		}
		p = r.s.moved.to + "/" + p
	}
	return p, true
}

// diff refuses folders: links in them are followed, wherever they lead.
func (r *reader) diff(args []shellWord) string {
	for _, w := range args {
		if w.text == "--no-dereference" {
			return ""
		}
	}
	for _, w := range args {
		if p, ok := r.from(w); ok && r.s.isDir != nil && r.s.isDir(p) {
			return "The read-only set does not cover `diff` with the folder " + quoteShort(w.text) + ", in which it follows links; add `--no-dereference`."
		}
	}
	return ""
}

// judge compares a command's arguments with its description.
func (r *reader) judge(args []shellWord, spec readSpec) (bool, string) {
	var operands []shellWord
	listed, patterned := false, false
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch {
		case w.tilde || len(w.text) < 2 || w.text[0] != '-':
			operands = append(operands, w)
		case w.text == "--":
			operands = append(operands, args[i+1:]...)
			i = len(args)
		case strings.HasPrefix(w.text, "--"):
			name, value, attached := strings.Cut(w.text, "=")
			kind, ok := longOption(spec.long, name)
			if !ok {
				return false, r.unknown(w)
			}
			listed = listed || hasField(spec.list, name)
			patterned = patterned || name == "--regexp" || name == "--file" || name == "--files" || name == "--expression"
			switch kind {
			case "":
				if attached {
					return false, r.unknown(w)
				}
				continue
			case "?":
				if attached && !r.inside(shellWord{text: value}) {
					return false, r.outside(w)
				}
				continue
			}
			v := shellWord{text: value}
			if !attached {
				if i++; i >= len(args) {
					return false, r.unknown(w)
				}
				v = args[i]
			}
			if !attached && name != "--regexp" && name != "--expression" && mayBeOption(v) {
				return false, r.unknown(v)
			}
			if kind == "=" && !r.inside(v) {
				return false, r.outside(v)
			}
		case spec.digits && isNumber(w.text[1:]):
		default:
			used, why := r.letters(args[i:], spec)
			if why != "" {
				return false, why
			}
			listed = listed || hasLetter(spec.list, w.text)
			patterned = patterned || strings.ContainsAny(w.text, "ef")
			i += used
		}
	}
	return r.operands(operands, spec, listed, patterned)
}

// operands judges the words that are no options.
func (r *reader) operands(words []shellWord, spec readSpec, listed, patterned bool) (bool, string) {
	if len(words) > 0 && spec.list != "" && !listed {
		return false, "The read-only set covers `" + r.name + "` with names only when it lists."
	}
	if spec.most > 0 && len(words) > spec.most || spec.operands == noOperands && len(words) > 0 {
		return false, r.unknown(words[len(words)-1])
	}
	switch spec.operands {
	case textOperands:
		return true, ""
	case patternOperands:
		if len(words) > 0 && !patterned {
			words = words[1:]
		}
	case pathOperands, noOperands:
	}
	for _, w := range words {
		if w.text == "-" || r.inside(w) {
			continue
		}
		return false, r.outside(w)
	}
	return true, ""
}

// mayBeOption reports whether a word that should be an option's value is an
// option of its own for a program that wants the value attached, as git does for
// -M. A number is none.
func mayBeOption(w shellWord) bool {
	return len(w.text) > 1 && w.text[0] == '-' && !isNumber(w.text[1:])
}

// letters judges a word of short options, args[0]. used is how many further
// words it takes.
func (r *reader) letters(args []shellWord, spec readSpec) (used int, why string) {
	text := args[0].text[1:]
	for i := range len(text) {
		c := text[i]
		if strings.IndexByte(spec.flags, c) >= 0 {
			continue
		}
		if strings.IndexByte(spec.attached, c) >= 0 {
			if v := (shellWord{text: text[i+1:]}); v.text != "" && !r.inside(v) {
				return 0, r.outside(v)
			}
			return 0, ""
		}
		free := strings.IndexByte(spec.texts, c) >= 0
		if !free && strings.IndexByte(spec.values, c) < 0 {
			return 0, r.unknown(args[0])
		}
		v := shellWord{text: text[i+1:]}
		if v.text != "" && spec.apart {
			return 0, r.unknown(args[0])
		}
		if v.text == "" {
			if len(args) < 2 {
				return 0, r.unknown(args[0])
			}
			v, used = args[1], 1
			if (c != 'e' || spec.operands != patternOperands) && mayBeOption(v) {
				return 0, r.unknown(v)
			}
		}
		if !free && !r.inside(v) {
			return 0, r.outside(v)
		}
		return used, ""
	}
	return 0, ""
}

// longOption looks a long option up and returns what follows its name in the
// list: "" for no value, "=", "*" or "?".
func longOption(list, name string) (kind string, ok bool) {
	for option := range strings.FieldsSeq(list) {
		known, rest, has := strings.Cut(option, "=")
		if known != name {
			continue
		}
		if has && rest == "" {
			rest = "="
		}
		return rest, true
	}
	return "", false
}

// hasField reports whether a name is in a list.
func hasField(list, name string) bool {
	for f := range strings.FieldsSeq(list) {
		if f == name {
			return true
		}
	}
	return false
}

// hasLetter reports whether a word of short options has one of a list's.
func hasLetter(list, word string) bool {
	for f := range strings.FieldsSeq(list) {
		if len(f) == 2 && strings.IndexByte(word, f[1]) > 0 {
			return true
		}
	}
	return false
}

func isNumber(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// date covers showing the time; anything else would set it.
func (r *reader) date(args []shellWord) (bool, string) {
	for i := 0; i < len(args); i++ {
		w := args[i].text
		switch {
		case strings.HasPrefix(w, "+"), w == "-u", w == "--utc", w == "-R", strings.HasPrefix(w, "-I"), strings.HasPrefix(w, "--iso-8601"):
		case w == "-d" && i+1 < len(args):
			i++
		case strings.HasPrefix(w, "--date="):
		default:
			return false, r.unknown(args[i])
		}
	}
	return true, ""
}

// jq looks at what a filter can reach besides its input.
func (r *reader) jq(args []shellWord) string {
	for _, w := range args {
		for _, word := range []string{"env", "ENV", "import", "include", "input_filename", "get_search_list", "modulemeta", "$__"} {
			if strings.Contains(w.text, word) {
				return "The read-only set does not cover `" + word + "` in a filter of `jq`."
			}
		}
	}
	return ""
}

// test covers the tests that only look.
func (r *reader) test(args []shellWord) (bool, string) {
	if r.name == "[" {
		if len(args) == 0 || args[len(args)-1].text != "]" {
			return false, ""
		}
		args = args[:len(args)-1]
	}
	for _, w := range args {
		switch w.text {
		case "-v", "-R", "-o", "-a", "-t", "-N":
			// The first two evaluate names; -o and -a join tests so that it is
			// not certain which word is an operator.
			return false, r.unknown(w)
		case "", "!", "=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef":
			continue
		}
		if len(w.text) == 2 && w.text[0] == '-' {
			continue
		}
		if !r.inside(w) {
			return false, r.outside(w)
		}
	}
	return true, ""
}

// find covers searching: each part of the expression must be known.
func (r *reader) find(args []shellWord) (bool, string) {
	i := 0
	for ; i < len(args) && !strings.HasPrefix(args[i].text, "-") && args[i].text != "!" && args[i].text != "("; i++ {
		if !r.inside(args[i]) {
			return false, r.outside(args[i])
		}
	}
	for ; i < len(args); i++ {
		w := args[i]
		switch w.text {
		case "-P", "!", "(", ")", ",", "-not", "-a", "-and", "-o", "-or", "-empty", "-print", "-print0", "-ls", "-prune", "-depth", "-xdev",
			"-mount", "-true", "-false", "-quit", "-readable", "-writable", "-executable", "-nouser", "-nogroup", "-daystart", "-noleaf":
		case "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-regextype", "-type", "-xtype", "-maxdepth",
			"-mindepth", "-size", "-mtime", "-mmin", "-ctime", "-cmin", "-atime", "-amin", "-perm", "-user", "-group", "-uid", "-gid", "-links",
			"-inum", "-printf", "-fstype", "-lname", "-ilname":
			if i++; i >= len(args) {
				return false, r.unknown(w)
			}
		case "-newer", "-anewer", "-cnewer", "-samefile":
			if i++; i >= len(args) {
				return false, r.unknown(w)
			}
			if !r.inside(args[i]) {
				return false, r.outside(args[i])
			}
		default:
			return false, r.unknown(w)
		}
	}
	return true, ""
}

// git covers git's own commands that only look.
func (r *reader) git(args []shellWord) (bool, string) {
	if r.s.moved.any {
		// Another folder's settings may name programs to run.
		return false, "The read-only set does not cover `git` after a change of folder."
	}
	for len(args) > 0 && (args[0].text == "--no-pager" || args[0].text == "-P" || args[0].text == "--no-optional-locks") {
		args = args[1:]
	}
	if len(args) == 0 {
		return false, "The read-only set does not cover `git` without a command."
	}
	sub := args[0].text
	rest := args[1:]
	switch sub {
	case "--version", "version":
		return len(rest) == 0, ""
	case "stash", "reflog":
		if len(rest) == 0 && sub == "stash" || len(rest) > 0 && rest[0].text != "list" && rest[0].text != "show" {
			return false, "The read-only set covers `git " + sub + "` only to list and to show."
		}
		if len(rest) > 0 {
			sub, rest = sub+" "+rest[0].text, rest[1:]
		}
	case "remote":
		if len(rest) > 0 && rest[0].text == "get-url" {
			sub, rest = "remote get-url", rest[1:]
		}
	case "worktree", "submodule":
		if len(rest) == 0 || rest[0].text != "list" && rest[0].text != "status" || sub == "worktree" && rest[0].text != "list" || sub == "submodule" && rest[0].text != "status" {
			return false, "The read-only set covers `git " + sub + "` only to list."
		}
		sub, rest = sub+" "+rest[0].text, rest[1:]
	}
	spec, ok := gitReaders[sub]
	if !ok {
		return false, "The read-only set does not cover `git " + short(sub) + "`."
	}
	r.name = "git " + sub
	for _, w := range rest {
		if strings.Contains(w.text, "%G") || strings.Contains(w.text, "%(signature") {
			return false, "The read-only set does not cover " + quoteShort(w.text) + ": to check signatures `git` runs another program."
		}
	}
	return r.judge(rest, spec)
}
