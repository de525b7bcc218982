package policy

import (
	"path"
	"slices"
	"strings"
)

// A shellPath is a word of a command that may be a path. A "~" in front is the
// home folder.
type shellPath struct {
	path string
	// write says that the command surely or probably writes there, maybe that it
	// is a program of which that is not known.
	write, maybe bool
	// tree says that it is the session's folder without what is in .git.
	tree bool
}

// writers are commands that write to, or remove, what their arguments name; the
// value says which: all of them or only the last one.
var writers = map[string]string{
	"rm": "all", "rmdir": "all", "unlink": "all", "shred": "all", "mv": "all", "tee": "all", "touch": "all", "mkdir": "all",
	"truncate": "all", "chmod": "all", "chown": "all", "chgrp": "all", "chattr": "all", "setfacl": "all", "patch": "all",
	"sponge": "all", "ed": "all", "ex": "all", "vi": "all", "vim": "all", "nano": "all", "emacs": "all", "trash": "all",
	"mkfifo": "all", "ln": "all", "link": "all", "mknod": "all", "split": "all", "csplit": "all", "rename": "all", "unzip": "all",
	"cp": "last", "install": "last", "rsync": "last", "scp": "last", "gcp": "last", "ditto": "last", "uniq": "last", "xxd": "last",
}

// gitWriters are git's own commands that write to the files they name.
var gitWriters = map[string]bool{
	"checkout": true, "restore": true, "rm": true, "mv": true, "apply": true, "clean": true, "reset": true, "stash": true,
	"clone": true, "init": true, "worktree": true, "switch": true, "archive": true, "bundle": true,
}

// maxPathWords bounds how many words are looked at: commands inside of commands
// share their words, so that there can be more than the text has.
const maxPathWords = 200_000

// maxUnread bounds how many pieces of an unreadable text are taken for paths.
const maxUnread = 10_000

// A pathList collects paths, each once.
type pathList struct {
	all []shellPath
	// seen is made when there are many.
	seen map[shellPath]bool
}

func (l *pathList) put(p shellPath) {
	if p.path == "" {
		return
	}
	p.maybe = p.maybe && !p.write
	if len(l.all) < 16 {
		if slices.Contains(l.all, p) {
			return
		}
	} else {
		if l.seen == nil {
			l.seen = map[shellPath]bool{}
			for _, have := range l.all {
				l.seen[have] = true
			}
		}
		if l.seen[p] {
			return
		}
		l.seen[p] = true
	}
	l.all = append(l.all, p)
}

// paths returns every word that may be a path, at any depth: arguments, values
// of options, redirections, and names of programs that have a folder. Relative
// ones are repeated below each folder that the text changes to.
func (s *script) paths() []shellPath {
	f := s.generous()
	var list pathList
	for _, files := range [...][]shellPath{f.files, s.certain().files} {
		for _, p := range files {
			list.put(p)
		}
	}
	var dirs []string
	visited := 0
	for c := range s.everyCommand() {
		if visited += len(c.words); visited > maxPathWords {
			f.cut = true
			f.blind("The command has too many words to look at all of them.")
			break
		}
		if strings.Contains(c.words[0], "/") {
			list.put(shellPath{path: c.words[0]})
		}
		dirs = append(dirs, list.command(c.words)...)
	}
	if s.file == nil || f.cut {
		list.unread(s.text)
	}
	s.strayed = !list.below(dirs)
	return list.all
}

// below repeats the relative paths below each folder that a text changes to. It
// reports whether these are few enough to look at all of them.
func (l *pathList) below(dirs []string) bool {
	dirs = slices.Compact(dirs)
	few := len(dirs) <= maxGuesses
	if !few {
		dirs = dirs[:maxGuesses]
	}
	// "cd a && cd b" goes to a/b, "(cd a); cd b" to b: each run of moves counts.
	var all []string
	for i := range dirs {
		at := dirs[i]
		all = append(all, at)
		for _, next := range dirs[i+1:] {
			if isAbsolute(next) || len(at) > maxGuessText {
				break
			}
			at += "/" + next
			all = append(all, at)
		}
	}
	for _, p := range slices.Clip(l.all) {
		if isAbsolute(p.path) {
			continue
		}
		for _, dir := range all {
			p := p
			p.path = dir + "/" + p.path
			l.put(p)
		}
	}
	return few
}

// unread adds whatever may be a path in a text that cannot be read, or not all
// of it: everything between blanks, quotes and operators.
func (l *pathList) unread(text string) {
	n := 0
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n'\"`;&|<>()=,", r) }) {
		if n++; n > maxUnread {
			return
		}
		l.put(shellPath{path: w, write: true})
		l.put(shellPath{path: w})
	}
}

// folderOptions are options whose value is the folder in which a program works.
var folderOptions = []string{
	"--directory", "--cwd", "--prefix", "--chdir", "--working-directory", "--work-tree", "--workdir", "--wd", "--root", "--dir", "--base-directory", "-chdir",
}

// folderLetters are programs whose option -C or -D, also among other letters, has
// such a value. For others it counts where it comes first, unless defines has it.
var folderLetters = map[string]bool{
	"env": true, "sudo": true, "doas": true, "make": true, "gmake": true, "git": true, "tar": true, "gtar": true, "bsdtar": true, "cpio": true, "ninja": true,
}

// defines are programs for which -D sets a name.
var defines = map[string]bool{
	"gcc": true, "g++": true, "cc": true, "c++": true, "cpp": true, "clang": true, "clang++": true, "java": true, "mvn": true, "gradle": true, "cmake": true,
}

// workFolder returns the folder that the j-th word, an option, has a program work
// in; "" if it has none.
func workFolder(name string, words []string, j int) string {
	w := words[j]
	next := ""
	if j+1 < len(words) {
		next = words[j+1]
	}
	option, value, attached := strings.Cut(w, "=")
	if strings.HasPrefix(w, "--") || option == "-chdir" {
		for _, known := range folderOptions {
			if !isOption(option, known) {
				continue
			}
			if attached {
				return value
			}
			return next
		}
		return ""
	}
	at := strings.IndexAny(w, "CD")
	if at < 1 || at > 1 && !folderLetters[name] || w[at] == 'D' && defines[name] {
		return ""
	}
	if value := w[at+1:]; value != "" {
		return value
	}
	return next
}

// logsIn reports whether a command starts in the home folder of a user.
func logsIn(name string, words []string) bool {
	switch name {
	case "sudo":
		return slices.ContainsFunc(words[1:], func(w string) bool { return isOption(w, "-i") || isOption(w, "--login") })
	case "su", "runuser":
		return slices.ContainsFunc(words[1:], func(w string) bool { return w == "-" || isOption(w, "-l") || isOption(w, "--login") })
	}
	return false
}

// command adds the paths among a command's words and returns the folders that
// it changes to.
func (l *pathList) command(words []string) (dirs []string) {
	name := path.Base(words[0])
	writes := writesTo(name, words)
	_, inert := inertPrograms[name]
	moves := name == "cd" || name == "pushd" || name == "chdir"
	moved := false
	for j := 1; j < len(words); j++ {
		w := words[j]
		p := shellPath{write: writes(j), maybe: !inert || inertPrograms[name] == opensWrite && writers[name] == "" && name != "git"}
		switch {
		case w == "-" || w == "--":
			continue
		case isNumber(w) && strings.HasPrefix(words[j-1], "-"):
			continue // -n 20
		case strings.HasPrefix(w, "-"):
			l.option(w, p)
			if dir := workFolder(name, words, j); dir != "" {
				dirs = append(dirs, dir)
			}
			continue
		}
		if inertPrograms[name] == opensNone {
			p.path = w
			l.put(p)
		} else {
			l.word(w, p)
		}
		if moves {
			dirs, moved = append(dirs, w), true
		}
		if isTar(name) && j == 1 && strings.Contains(w, "C") {
			// Letters without a dash: the values follow in their order.
			dirs = append(dirs, words[2:min(len(words), 6)]...)
		}
	}
	if moves && !moved || logsIn(name, words) {
		dirs = append(dirs, "~")
	}
	if last := words[len(words)-1]; name == "ln" && !isAbsolute(last) {
		// A link's text counts from the folder that the link is in.
		for _, w := range words[1:] {
			if !isAbsolute(w) && !strings.HasPrefix(w, "-") {
				l.put(shellPath{path: path.Dir(last) + "/" + w})
				l.put(shellPath{path: last + "/" + w})
			}
		}
	}
	for _, dir := range unpacksTo(name, words) {
		l.put(shellPath{path: dir, write: true})
	}
	return dirs
}

// maxPieces bounds how many paths are looked for in one word.
const maxPieces = 48

// between are the characters between which a word may hold a path.
const between = "=,:;@<>|&\"'`(){}[]!#?%^"

// word adds a word, and each part of it that may be a path: k=path, user@host:path,
// f=@path;type=x, file://host/path.
func (l *pathList) word(w string, p shellPath) {
	p.path = w
	l.put(p)
	if !strings.ContainsAny(w, between) {
		return
	}
	if strings.ContainsAny(w, " \t\n") {
		// A sentence rather than a path: a name in it is not opened.
		for _, ends := range []string{"=", "@:"} {
			if at := strings.IndexAny(w, ends); at >= 0 {
				p.path = w[at+1:]
				l.put(p)
			}
		}
		return
	}
	n := 0
	for i := range len(w) {
		if strings.IndexByte(between, w[i]) < 0 {
			continue
		}
		if n++; n > maxPieces {
			break
		}
		l.piece(w[i+1:], p)
	}
	if at := strings.Index(w, "://"); at >= 0 {
		// The path of an address begins behind its host.
		for i, n := at+3, 0; i < len(w) && n < 2; i++ {
			if w[i] == '/' {
				p.path = w[i:]
				l.put(p)
				n++
			}
		}
	}
	if at := strings.IndexAny(w, between); at > 0 {
		p.path = w[:at]
		l.put(p)
	}
}

// piece adds a part of a word: to its end, and to the next character that may end
// a path.
func (l *pathList) piece(rest string, p shellPath) {
	p.path = rest
	l.put(p)
	if end := strings.IndexAny(rest, between); end > 0 {
		p.path = rest[:end]
		l.put(p)
	}
}

// option adds the values that an option may hold: --name=value, -Xvalue, and
// -abXvalue, where the letter that takes the value is not known.
func (l *pathList) option(w string, p shellPath) {
	if strings.ContainsAny(w, between) {
		l.word(w, p)
	}
	switch at := strings.IndexAny(w, "/.~"); {
	case strings.HasPrefix(w, "--") || at < 0 && len(w) <= 6:
		return // not -rf
	case at < 0:
		l.piece(w[2:], p)
	default:
		for i := 2; i <= min(at, 10); i++ {
			l.piece(w[i:], p)
		}
	}
}

func isTar(name string) bool { return name == "tar" || name == "gtar" || name == "bsdtar" }

// walkers are programs that go through the folders that they are given, always or
// with one of the options, and open what is in them.
var walkers = map[string]string{
	"rg": "", "ag": "", "ack": "", "zip": "-r", "tar": "", "gtar": "", "bsdtar": "", "rsync": "", "scp": "-r", "du": "-a",
	"grep": recursive, "egrep": recursive, "fgrep": recursive, "git": "--no-index", "gzip": "-r --recursive", "gunzip": "-r --recursive", "zcat": "-r --recursive",
	"zstd": "-r", "cp": "-r -R -a --recursive --archive", "diff": "", "chmod": "-R --recursive", "chown": "-R --recursive", "chgrp": "-R --recursive",
	"rm": "-r -R --recursive", "mv": "", "ln": "", "prettier": "", "eslint": "", "yamllint": "", "gofmt": "",
}

// recursive are the options with which grep goes through folders.
const recursive = "-r -R -d --recursive --dereference-recursive --directories"

// spreaders are programs that change files whose names are not in the command,
// below a folder that they are given; see also unpacksTo.
var spreaders = map[string]string{
	"7z": "", "rm": "-r -R --recursive", "mv": "", "find": "-delete", "chmod": "-R --recursive", "chown": "-R --recursive",
}

// gitSpreaders are git's own commands that change the files of the working tree,
// but never what is in .git.
var gitSpreaders = setOf(`checkout switch restore reset clean stash apply am merge pull rebase revert cherry-pick`)

// walked returns the folders that the text's commands go through, with write for
// those below which they write. A folder may be a file: what is below it is then
// nothing.
func (s *script) walked() []shellPath {
	var list pathList
	var dirs []string
	for c := range s.everyCommand() {
		dirs = append(dirs, (&pathList{}).command(c.words)...)
		list.walk(c.words)
	}
	list.below(dirs)
	return list.all
}

// walk adds the folders that a command goes through.
func (l *pathList) walk(words []string) {
	name := path.Base(words[0])
	with := func(table map[string]string) bool {
		options, ok := table[name]
		if !ok || options == "" {
			return ok
		}
		for option := range strings.FieldsSeq(options) {
			if slices.ContainsFunc(words[1:], func(w string) bool { return isOption(w, option) }) {
				return true
			}
		}
		return false
	}
	_, inert := inertPrograms[name]
	_, wrapper := wrappers[name]
	reads, writes := with(walkers), with(spreaders)
	operands := 0
	for _, w := range words[1:] {
		if !strings.HasPrefix(w, "-") {
			operands++
		}
		switch {
		case reads || writes:
			if reads {
				l.word(w, shellPath{})
			}
			if writes {
				l.word(w, shellPath{write: true})
			}
		case !inert && !wrapper && name != "cd" && name != "find" && (strings.ContainsAny(w, "/~") || w == "." || w == ".."):
			// A program that is not known.
			l.word(w, shellPath{})
			l.word(w, shellPath{write: true})
		case name == "git" && gitSpreaders[w]:
			l.put(shellPath{path: ".", write: true, tree: true})
		}
	}
	// Where a program works without a folder.
	if reads && (operands < 2 || name == "rg") {
		l.put(shellPath{path: "."})
	}
	for _, dir := range unpacksTo(name, words) {
		l.put(shellPath{path: dir, write: true, tree: name == "git"})
	}
}

func isAbsolute(p string) bool { return strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~") }

// isTarget reports whether a word is an option that names where cp and its kin
// write to.
func isTarget(w string) bool {
	return strings.HasPrefix(w, "--t") || strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.Contains(w, "t")
}

// writesTo returns a function that reports whether a command surely or probably
// writes to its j-th word.
func writesTo(name string, words []string) func(j int) bool {
	all := func(yes bool) func(int) bool { return func(int) bool { return yes } }
	output := outputs(name)
	switch writers[name] {
	case "all":
		return all(true)
	case "last":
		return func(j int) bool {
			return j == len(words)-1 || isTarget(words[j]) || isTarget(words[j-1]) || output(words[j]) || output(words[j-1])
		}
	}
	switch name {
	case "dd":
		return func(j int) bool { return strings.HasPrefix(words[j], "of=") }
	case "sed", "gsed", "perl", "ruby", "yq":
		return all(slices.ContainsFunc(words[1:], func(w string) bool {
			return isOption(w, "-i") || isOption(w, "--in-place")
		}))
	case "git":
		patches := slices.Contains(words, "format-patch")
		sub := slices.IndexFunc(words, func(w string) bool { return gitWriters[w] })
		file := func(w string) bool {
			return strings.HasPrefix(w, "--file") || strings.HasPrefix(w, "-f") || isOption(w, "--output-directory") || isOption(w, "-o") && patches
		}
		return func(j int) bool {
			return sub > 0 && j > sub || file(words[j]) || file(words[j-1]) && !strings.Contains(words[j-1], "=")
		}
	case "tar", "gtar", "bsdtar":
		// All but to list what is in an archive.
		lists := len(words) > 1 && (strings.HasPrefix(strings.TrimPrefix(words[1], "-"), "t") || words[1] == "--list")
		return all(!lists)
	case "cpio", "pax":
		return all(true)
	case "find", "gfind", "bfs":
		return all(slices.ContainsFunc(words, func(w string) bool {
			return w == "-delete" || strings.HasPrefix(w, "-fprint") || w == "-fls"
		}))
	}
	return func(j int) bool { return output(words[j]) || j > 1 && output(words[j-1]) }
}

// outputs returns a function that reports whether a word is an option of a
// program that names a file to write, before the word or with it. What a program
// that only reads has of them is in dangers.
func outputs(name string) func(w string) bool {
	if same, ok := sameDangers[name]; ok {
		name = same
	}
	options := outputOptions[name]
	if kind := inertPrograms[name]; kind != opensRead && kind != opensNone {
		return func(w string) bool {
			return strings.HasPrefix(w, "-o") || strings.HasPrefix(w, "-O") || strings.HasPrefix(w, "--out") || isAny(w, options)
		}
	}
	return func(w string) bool { return isAny(w, options) }
}

// outputOptions are the options in dangers that name a file to write.
var outputOptions = func() map[string]string {
	table := map[string]string{}
	for name, list := range dangers {
		for _, d := range list {
			if d.does == writesFile {
				table[name] += " " + d.options
			}
		}
	}
	return table
}()
