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
	// write says that the command surely or probably writes there.
	write bool
}

// writers are commands that write to, or remove, what their arguments name; the
// value says which: all of them or only the last one.
var writers = map[string]string{
	"rm": "all", "rmdir": "all", "unlink": "all", "shred": "all", "mv": "all", "tee": "all", "touch": "all", "mkdir": "all",
	"truncate": "all", "chmod": "all", "chown": "all", "chgrp": "all", "chattr": "all", "setfacl": "all", "patch": "all",
	"sponge": "all", "ed": "all", "ex": "all", "vi": "all", "vim": "all", "nano": "all", "emacs": "all", "trash": "all",
	"mkfifo": "all", "mknod": "all", "split": "all", "csplit": "all", "rename": "all", "unzip": "all",
	"cp": "last", "install": "last", "ln": "last", "rsync": "last", "scp": "last", "gcp": "last", "ditto": "last", "uniq": "last", "xxd": "last",
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

func (l *pathList) add(p string, write bool) {
	sp := shellPath{path: p, write: write}
	if p == "" {
		return
	}
	if len(l.all) < 16 {
		if slices.Contains(l.all, sp) {
			return
		}
	} else {
		if l.seen == nil {
			l.seen = map[shellPath]bool{}
			for _, have := range l.all {
				l.seen[have] = true
			}
		}
		if l.seen[sp] {
			return
		}
		l.seen[sp] = true
	}
	l.all = append(l.all, sp)
}

// paths returns every word that may be a path, at any depth: arguments, values
// of options, redirections, and names of programs that have a folder. Relative
// ones are repeated below each folder that the text changes to.
func (s *script) paths() []shellPath {
	f := s.look()
	var list pathList
	for _, p := range f.files {
		list.add(p.path, p.write)
	}
	var dirs []string
	visited := 0
	for i := range f.found {
		words := f.found[i].words
		if visited += len(words); visited > maxPathWords {
			f.cut = true
			f.blind("The command has too many words to look at all of them.")
			break
		}
		if strings.Contains(words[0], "/") {
			list.add(words[0], false)
		}
		dirs = append(dirs, list.command(words)...)
	}
	if s.file == nil || f.cut {
		list.unread(s.text)
	}
	list.below(dirs)
	return list.all
}

// below repeats the relative paths below each folder that a text changes to.
func (l *pathList) below(dirs []string) {
	if len(dirs) > maxGuesses {
		dirs = dirs[:maxGuesses]
	}
	// "cd a && cd b" goes to a/b.
	for i := 1; i < len(dirs); i++ {
		if !isAbsolute(dirs[i]) && len(dirs[i-1]) < maxGuessText {
			dirs[i] = dirs[i-1] + "/" + dirs[i]
		}
	}
	for _, p := range slices.Clip(l.all) {
		if isAbsolute(p.path) {
			continue
		}
		for _, dir := range dirs {
			l.add(dir+"/"+p.path, p.write)
		}
	}
}

// unread adds whatever may be a path in a text that cannot be read, or not all
// of it: everything between blanks, quotes and operators.
func (l *pathList) unread(text string) {
	n := 0
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n'\"`;&|<>()=,", r) }) {
		if n++; n > maxUnread {
			return
		}
		l.add(w, true)
		l.add(w, false)
	}
}

// command adds the paths among a command's words and returns the folders that
// it changes to.
func (l *pathList) command(words []string) (dirs []string) {
	name := path.Base(words[0])
	writes := writesTo(name, words)
	for j := 1; j < len(words); j++ {
		w := words[j]
		write := writes(j)
		switch {
		case w == "-" || w == "--":
			continue
		case isNumber(w) && strings.HasPrefix(words[j-1], "-"):
			continue // -n 20
		case strings.HasPrefix(w, "-"):
			// --name=value, -Xvalue.
			if _, value, ok := strings.Cut(w, "="); ok {
				l.add(value, write)
			} else if w[1] != '-' && (len(w) > 6 || strings.ContainsAny(w, "/.~")) {
				l.add(w[2:], write) // not -rf
			}
			if (w == "-C" || w == "--directory" || w == "--cwd" || w == "--prefix") && j+1 < len(words) {
				dirs = append(dirs, words[j+1])
			}
			continue
		}
		l.add(w, write)
		if _, value, ok := strings.Cut(w, "="); ok {
			l.add(value, write)
		}
		if at := strings.IndexAny(w, "@:"); at >= 0 {
			// curl's @file, file:///path, host:path.
			l.add(strings.TrimPrefix(w[at+1:], "//"), write)
		}
		if name == "cd" || name == "pushd" || name == "chdir" {
			dirs = append(dirs, w)
		}
	}
	return dirs
}

func isAbsolute(p string) bool { return strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~") }

// writesTo returns a function that reports whether a command surely or probably
// writes to its j-th word.
func writesTo(name string, words []string) func(j int) bool {
	all := func(yes bool) func(int) bool { return func(int) bool { return yes } }
	switch writers[name] {
	case "all":
		return all(true)
	case "last":
		return func(j int) bool {
			return j == len(words)-1 || words[j-1] == "-t" || strings.HasPrefix(words[j], "--target-directory=")
		}
	}
	switch name {
	case "dd":
		return func(j int) bool { return strings.HasPrefix(words[j], "of=") }
	case "sed", "gsed", "perl", "ruby", "yq":
		return all(slices.ContainsFunc(words[1:], func(w string) bool {
			return strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.Contains(w, "i") || strings.HasPrefix(w, "--in-place")
		}))
	case "git":
		sub := slices.IndexFunc(words, func(w string) bool { return gitWriters[w] })
		return func(j int) bool { return sub > 0 && j > sub || strings.HasPrefix(words[j], "--output=") }
	case "tar", "gtar", "bsdtar":
		creates := len(words) > 1 && (strings.HasPrefix(words[1], "-c") || strings.HasPrefix(words[1], "c"))
		return func(j int) bool { return creates || words[j-1] == "-C" || words[j-1] == "--directory" }
	case "find", "gfind", "bfs":
		return all(slices.ContainsFunc(words, func(w string) bool {
			return w == "-delete" || strings.HasPrefix(w, "-fprint") || w == "-fls"
		}))
	}
	// An option that names an output, before the word or with it.
	output := func(w string) bool {
		return strings.HasPrefix(w, "-o") || strings.HasPrefix(w, "-O") || strings.HasPrefix(w, "--out")
	}
	return func(j int) bool { return output(words[j]) || j > 1 && output(words[j-1]) }
}
