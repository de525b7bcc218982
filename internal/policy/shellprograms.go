package policy

import (
	"slices"
	"strings"
)

// interpreterFlags are the options of interpreters that bring no code.
var interpreterFlags = setOf(`-u -B -O -OO -I -s -V -v -w -T --version --help -h --test --watch`)

// codeModules are modules of Python that run code from their arguments.
var codeModules = setOf(`timeit pdb code asyncio cProfile profile trace runpy idlelib`)

// runsFile reports whether an interpreter is given a file or module, and nothing
// in front of it that may be code.
func runsFile(words []field) bool {
	for i, w := range words[1:] {
		switch {
		case w.text == "" || w.unknown || w.glob:
			return false
		case w.text == "-m":
			return i+2 < len(words) && !codeModules[words[i+2].text]
		case interpreterFlags[w.text]:
			if strings.HasPrefix(w.text, "--v") || strings.HasPrefix(w.text, "--h") || w.text == "-V" || w.text == "-h" {
				return true
			}
		case w.text[0] == '-':
			return false
		default:
			return true
		}
	}
	return false
}

// setOf makes a set of the words of a text.
func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// readsStatements reports whether a command is one of clients without a
// statement.
func readsStatements(cmd *command) bool {
	options, client := clients[cmd.name()]
	if !client {
		return false
	}
	operands := 0
	for _, w := range cmd.args() {
		for option := range strings.FieldsSeq(options) {
			if isOption(w, option) {
				return false
			}
		}
		if !strings.HasPrefix(w, "-") {
			operands++
		}
	}
	return options != "" || operands < 2
}

// run takes one command: what it runs in turn, and what of it is not certain.
func (c *certainty) run(cmd command) {
	if c.count++; c.count > maxCertainCalls || c.depth > maxCertainDepth {
		c.doubt("The command has too many parts to look at all of them.")
		return
	}
	if cmd.words[0].glob || cmd.words[0].number || cmd.words[0].unknown {
		c.doubt("The command runs " + quoteShort(cmd.words[0].text) + ", and which program that is cannot be known.")
		return
	}
	c.calls = append(c.calls, found{words: texts(cmd.words), name: cmd.name()})
	c.fromLists(&cmd)
	name := cmd.name()
	kind, inert := inertPrograms[name]
	_, wrapper := wrappers[name]
	switch {
	case name == "git" && !c.git(&cmd), name == "gh" && !c.gh(&cmd):
		c.doubt("What this command of `" + name + "` runs is not known: it may be an alias.")
	case runsInput[name], interpreters[name] && !runsFile(cmd.words), readsStatements(&cmd):
		c.doubt("`" + name + "` runs code from its arguments or its input.")
	case inert:
		c.inert(&cmd, kind)
	case shells[name]:
		c.shell(&cmd)
	case name == "eval":
		c.eval(&cmd, 1)
	case name == "trap":
		c.trap(&cmd)
	case name == "cd", name == "pushd", name == "popd", name == "chdir":
		c.move(&cmd)
	case name == "set":
		c.set(&cmd)
	case name == "find", name == "gfind", name == "bfs":
		c.find(&cmd)
	case name == "xargs", name == "gxargs":
		c.xargs(&cmd)
	case name == "deno" && len(cmd.words) > 1 && cmd.words[1].text == "eval":
		c.doubt("`deno eval` runs code from its arguments.")
	case onlyExact[name] != "":
		c.doubt("The command has `" + name + "`: " + onlyExact[name] + ".")
	case wrapper:
		c.wrapper(&cmd)
	case name == "ssh" && startsShell(&cmd) != "":
		c.doubt(startsShell(&cmd))
	default:
		c.stranger(&cmd)
	}
}

// fromLists notes options that bring names of files from elsewhere, and folders
// in which links are followed.
func (c *certainty) fromLists(cmd *command) {
	name := cmd.name()
	if name == "cpio" || name == "pax" {
		c.listed("`" + name + "` takes the names of files from its input.")
	}
	for _, w := range cmd.args() {
		if atFiles[name] && strings.HasPrefix(w, "@") {
			c.listed("`" + name + "` takes options from the file " + quoteShort(w[1:]) + ".")
			c.doubtProgram("`" + name + "` takes options from the file " + quoteShort(w[1:]) + ".")
		}
		for _, list := range []string{listOptions[""], listOptions[name]} {
			for option := range strings.FieldsSeq(list) {
				// --file is an option of its own, and no short form of --files0-from.
				long, _, _ := strings.Cut(w, "=")
				if !strings.HasPrefix("--file", long) && isOption(w, option) && !hasField(wholeOptions[name], w) {
					c.listed("With " + quoteShort(w) + " `" + name + "` takes names of files from elsewhere.")
				}
			}
		}
	}
	if isTar(name) && len(cmd.words) > 1 && !strings.HasPrefix(cmd.words[1].text, "-") && strings.Contains(cmd.words[1].text, "T") {
		c.listed("With " + quoteShort(cmd.words[1].text) + " `" + name + "` takes names of files from elsewhere.")
	}
	options, follows := linkFollowers[name]
	if !follows {
		return
	}
	with := options == ""
	for _, w := range cmd.args() {
		for option := range strings.FieldsSeq(options) {
			with = with || isOption(w, option)
		}
		if name == "diff" && w == "--no-dereference" {
			return
		}
	}
	if !with {
		return
	}
	for _, w := range cmd.words[1:] {
		if w.unknown || w.glob || c.isDir != nil && c.isDir(w.text) {
			c.listed("`" + name + "` follows the links in the folder " + quoteShort(w.text) + ".")
			return
		}
	}
}

// inert takes a command whose arguments are data.
func (c *certainty) inert(cmd *command, kind inertKind) {
	name := cmd.name()
	for _, w := range cmd.words[1:] {
		switch {
		case kind == opensNone && !(w.unknown && opensByOption(cmd)):
		case w.unknown:
			c.doubtPath("`" + name + "` opens " + quoteShort(cmd.what) + ", and which file that is cannot be known.")
		case w.number && w.text != someNumber.text:
			c.doubtPath("`" + name + "` opens " + quoteShort(w.text) + " with another number, and which file that is cannot be known.")
		}
		mayBeOption := w.unknown && cmd.open || w.glob && (w.text == "" || strings.IndexByte("*?[-+", w.text[0]) >= 0)
		if mayBeOption && runsByOption(name) {
			c.doubtProgram("An option of `" + name + "` can run another program, and " + quoteShort(firstOf(w.text, cmd.what)) + " may be one.")
		}
		if uncertainURL(w.text) {
			c.doubtPath("Which file " + quoteShort(w.text) + " is cannot be known.")
		}
	}
	switch name {
	case "awk", "gawk", "mawk", "nawk":
		c.awk(cmd)
	case "jq", "yq":
		for _, w := range cmd.args() {
			for _, word := range []string{"import", "include", "input_filename", "get_search_list", "$__", "load", "system", "-f", "--from-file", "-L"} {
				if strings.Contains(w, word) {
					c.doubt("A filter of `" + name + "` may open other files.")
				}
			}
		}
	}
	if evaluated(cmd.shellWords()[1:]) != "" && (kind == opensNone || name == "test" || name == "[") {
		c.doubtProgram("`" + name + "` may evaluate " + quoteShort(strings.Join(cmd.args(), " ")) + ".")
	}
	if plainBuiltin(cmd) {
		return
	}
	if why, writes := beyondBy(simple{words: cmd.shellWords()}, 1); why != "" && !writes {
		c.doubt("The command has more to it than `" + name + "`: " + why + ".")
	}
}

// plainBuiltin reports whether a command is one of onlyExact in a form that does
// no more than read a line into variables, or set a limit.
func plainBuiltin(cmd *command) bool {
	if !cmd.exact() {
		return false
	}
	for _, w := range cmd.args() {
		switch cmd.name() {
		case "read":
			if w != "-r" && (!isName(w) || isSpecial(w)) {
				return false
			}
		case "umask", "wait":
			if !isNumber(w) {
				return false
			}
		default:
			return false
		}
	}
	switch cmd.name() {
	case "read", "umask", "wait", "jobs":
		return true
	}
	return false
}

// opensByOption reports whether an option of a program makes it open a file, and
// is or may be among its words.
func opensByOption(cmd *command) bool {
	options, ok := openers[cmd.name()]
	if !ok {
		return false
	}
	return cmd.open || slices.ContainsFunc(cmd.args(), func(w string) bool {
		for option := range strings.FieldsSeq(options) {
			if isOption(w, option) {
				return true
			}
		}
		return false
	})
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// runsByOption reports whether an option of a program can make it run another.
func runsByOption(name string) bool {
	if same, ok := sameDangers[name]; ok {
		name = same
	}
	return slices.ContainsFunc(dangers[name], func(d danger) bool { return d.does != writesFile }) || name == "awk"
}

// uncertainURL reports whether a word is the address of a local file in a form
// that is decoded before the file is opened.
func uncertainURL(word string) bool {
	at := strings.Index(strings.ToLower(word), "file:")
	return at >= 0 && strings.ContainsAny(word[at:], "%{}[]\\")
}

// shellWords returns the words as the strict view has them.
func (cmd *command) shellWords() []shellWord {
	words := make([]shellWord, len(cmd.words))
	for i, w := range cmd.words {
		words[i] = shellWord{text: w.text, glob: w.glob}
	}
	return words
}

// awk judges a program of awk: those that only compute and print are known.
func (c *certainty) awk(cmd *command) {
	for _, w := range cmd.args() {
		if len(w) > 1 && w[0] == '-' && w != "--" && !strings.HasPrefix(w, "-F") && !strings.HasPrefix(w, "-v") {
			c.doubt("`" + cmd.name() + "` has the option " + quoteShort(w) + ", which may bring another program.")
		}
		for _, word := range []string{"system", "|", "getline", ">", "@", "ARGV", "ENVIRON"} {
			if strings.Contains(w, word) {
				c.doubt("A program of `" + cmd.name() + "` with `" + word + "` may run commands or open files.")
			}
		}
	}
}

// git reports whether the command is one of git's own that take data.
func (c *certainty) git(cmd *command) bool {
	for _, w := range cmd.words[1:] {
		if w.unknown || w.glob {
			return false
		}
		if gitGlobals[w.text] {
			continue
		}
		return gitInert[w.text]
	}
	return true
}

// gh reports whether the command is one of gh's own that take data.
func (c *certainty) gh(cmd *command) bool {
	return len(cmd.words) < 2 || !cmd.words[1].unknown && slices.Contains(ghInert, cmd.words[1].text)
}

// stranger takes a command that may run its arguments: a program that is not
// known here.
func (c *certainty) stranger(cmd *command) {
	name := cmd.name()
	if cmd.unknown {
		c.doubt("What `" + short(name) + "` does with its arguments is not known, nor what " + quoteShort(cmd.what) + " is.")
		return
	}
	for _, w := range cmd.words[1:] {
		if w.glob {
			c.doubtProgram("What `" + short(name) + "` does with its arguments is not known, nor which files " + quoteShort(w.text) + " are.")
		}
		if w.number && w.text != someNumber.text {
			c.doubtPath("Which file " + quoteShort(w.text) + " is, with another number, cannot be known.")
		}
	}
	c.strangers++
	c.hand(cmd.args())
	if why, writes := beyondBy(simple{words: cmd.shellWords()}, 1); why != "" && !writes && strings.Contains(why, runsOther) {
		c.doubt("The command has more to it than `" + short(name) + "`: " + why + ".")
	}
}

// hand notes texts that something may run. A text that a second shell would
// expand may become anything.
func (c *certainty) hand(list []string) {
	for _, text := range list {
		if strings.ContainsAny(text, "$`*?[]{}\\'\"~;|&()<>!^\n") && text != "{}" && !strings.HasPrefix(text, "~/") {
			c.doubt("The command hands the text " + quoteShort(text) + " on, and what is made of it cannot be known.")
		}
	}
	c.handed = append(c.handed, list...)
}

// shell takes a call of a shell.
func (c *certainty) shell(cmd *command) {
	if !cmd.exact() {
		c.doubt("The command has a shell run " + quoteShort(cmd.what) + ", and what that is cannot be known.")
		return
	}
	args := cmd.args()
	for i, a := range args {
		switch {
		case a == "-c" || a == "-ec" || a == "-lc" || a == "-xc" || a == "-euc" || a == "-exc":
			if i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") && !strings.HasPrefix(args[i+1], "+") {
				c.text(args[i+1])
				return
			}
			c.doubt("The command has a shell run a text that cannot be told from its options.")
			return
		case a == "-e" || a == "-u" || a == "-x" || a == "-l" || a == "-eu" || a == "-ex" || a == "--login" || a == "--norc" || a == "--noprofile" || a == "-n":
		case a == "--version" || a == "--help":
			return
		case strings.HasPrefix(a, "-") || strings.HasPrefix(a, "+"):
			c.doubt("The command gives a shell the option " + quoteShort(a) + ".")
			return
		default:
			if strings.HasPrefix(a, "/dev/") || strings.HasPrefix(a, "/proc/") || cmd.words[i+1].glob {
				c.doubt("The command has a shell read its commands from " + quoteShort(a) + ".")
				return
			}
			c.strangers++
			c.hand(args[i:])
			return
		}
	}
	c.doubt("The command has a shell read its commands from its input.")
}

// eval takes words from a place on as a text that runs.
func (c *certainty) eval(cmd *command, at int) {
	if !cmd.exact() {
		c.doubt("The command evaluates " + quoteShort(cmd.what) + ", and what that is cannot be known.")
		return
	}
	args := texts(cmd.words[min(at, len(cmd.words)):])
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if slices.ContainsFunc(cmd.words, func(f field) bool { return f.glob || f.number }) {
		c.doubt("The command evaluates a text that cannot be known.")
		return
	}
	c.text(strings.Join(args, " "))
}

// trap takes a command that the shell runs later.
func (c *certainty) trap(cmd *command) {
	args := cmd.args()
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	switch {
	case !cmd.exact() || slices.ContainsFunc(cmd.words, func(f field) bool { return f.glob || f.number }):
		c.doubt("The command sets a trap that cannot be known.")
	case len(args) == 0 || args[0] == "-" || args[0] == "-l" || args[0] == "-p" || args[0] == "":
	default:
		c.forked++
		c.text(args[0])
		c.forked--
	}
}

// move takes a change of folder.
func (c *certainty) move(cmd *command) {
	const why = "The command goes to a folder that cannot be known, and names files from there on."
	c.moves++
	operands := 0
	for _, w := range cmd.words[1:] {
		switch {
		case w.unknown, w.glob, w.number:
			c.doubtPath(why)
		case w.text == "-L", w.text == "-P", w.text == "--":
		case strings.HasPrefix(w.text, "-"), strings.HasPrefix(w.text, "+"):
			c.doubtPath(why)
		default:
			operands++
		}
	}
	name := cmd.name()
	c.strayed = c.strayed || c.forked > 0
	if cmd.spread || operands > 1 || name == "popd" || name == "pushd" && operands == 0 || c.moves > 1 && (c.strayed || c.moves > maxMoves) {
		c.doubtPath(why)
	}
}

// set takes the shell's own options: those that only make it stop or talk.
func (c *certainty) set(cmd *command) {
	if !cmd.exact() {
		c.doubt("The command changes the shell's options.")
		return
	}
	for _, a := range cmd.args() {
		switch a {
		case "pipefail", "errexit", "nounset", "xtrace", "noclobber":
			continue
		}
		if len(a) < 2 || a[0] != '-' && a[0] != '+' || strings.Trim(a[1:], "euxoC") != "" {
			c.doubt("The command changes the shell's options by " + quoteShort(a) + ".")
		}
	}
}

// find takes a search, and the commands in it.
func (c *certainty) find(cmd *command) {
	if cmd.open || cmd.spread {
		c.doubt("`find` can run programs, and " + quoteShort(cmd.what) + " may tell it to.")
	}
	words := cmd.words
	for i := 1; i < len(words); i++ {
		switch w := words[i]; {
		case w.glob && strings.IndexByte("*?[-", w.text[0]) >= 0:
			c.doubt("`find` can run programs, and " + quoteShort(w.text) + " may tell it to.")
		case w.text == "-exec" || w.text == "-execdir" || w.text == "-ok" || w.text == "-okdir":
			end := i + 1
			for end < len(words) && words[end].text != ";" && words[end].text != "+" {
				end++
			}
			inner := cmd.from(i + 1)
			inner.words = words[min(i+1, end):end]
			c.withNames(&inner, "`find` runs a command with the files that it finds.")
			i = end
		}
	}
}

// xargs takes a command that gets its last arguments from the input.
func (c *certainty) xargs(cmd *command) {
	const why = "`xargs` runs a command with the words that it reads."
	if !cmd.exact() || slices.ContainsFunc(cmd.args(), func(a string) bool { return strings.HasPrefix(a, "-a") || strings.HasPrefix(a, "--arg-file") }) {
		c.doubt(why)
		return
	}
	c.listed(why)
	for _, at := range innerCommands(texts(cmd.words), 0) {
		from := cmd.from(at)
		c.withNames(&from, why)
	}
}

// withNames takes a command that also gets words which are not in the text.
func (c *certainty) withNames(cmd *command, why string) {
	if len(cmd.words) == 0 {
		return
	}
	c.listed(why)
	kind, inert := inertPrograms[cmd.name()]
	if strings.Contains(cmd.words[0].text, "{}") || !inert || runsByOption(cmd.name()) || cmd.name() == "git" || cmd.name() == "gh" {
		if shells[cmd.name()] && cmd.exact() && !slices.ContainsFunc(cmd.args(), func(a string) bool { return strings.Contains(a, "{}") && a != "{}" }) {
			// sh -c 'text' _ {}: the names are arguments of the text.
			c.shell(cmd)
			return
		}
		c.doubtProgram(why)
	}
	c.calls = append(c.calls, found{words: texts(cmd.words), name: cmd.name()})
	if inert {
		c.inert(cmd, kind)
	}
}

// mentions reports whether a text that something may run names what a rule is
// about.
func (c *certainty) mentions(r *shellRule) string {
	if r.kind == textRule || r.kind == readOnlyRule {
		return ""
	}
	want := []string{r.marker()}
	if len(r.words) > 0 {
		want = want[:0]
		for i, w := range r.words {
			if i == 0 {
				w = r.program
			}
			if !strings.HasPrefix(w, "-") {
				want = append(want, strings.ToLower(w))
			}
		}
	}
	for i := range c.calls {
		for _, w := range c.calls[i].words[1:] {
			// The program itself, to be copied or linked to another name.
			if strings.HasSuffix(strings.ToLower(w), "bin/"+strings.ToLower(r.program)) && r.program != "" {
				return w
			}
		}
	}
	all := strings.ToLower(strings.Join(c.handed, "\n"))
	for _, w := range want {
		if w == "" || !hasPlainWord(all, w) {
			return ""
		}
	}
	for _, text := range c.handed {
		if hasPlainWord(strings.ToLower(text), want[0]) {
			return text
		}
	}
	return ""
}
