package policy

import (
	"path"
	"slices"
	"strings"
)

// unpacksTo returns the folders below which a command writes files whose names
// are in an archive, a patch, another folder or on a server.
func unpacksTo(name string, words []string) []string {
	has := func(options string) bool {
		return slices.ContainsFunc(words[1:], func(w string) bool { return isAny(w, options) })
	}
	var to []string
	switch name {
	case "tar", "gtar", "bsdtar":
		if !extracts(words) {
			return nil
		}
		for j, w := range words[1:] {
			if dir := workFolder(name, words, j+1); strings.HasPrefix(w, "-") && dir != "" {
				to = append(to, dir)
			}
		}
	case "unzip":
		if has("-l -t -p -v -z -Z -c") {
			return nil
		}
		to = valuesOf(words, "-d")
	case "cpio", "pax", "patch":
		to = valuesOf(words, "-d -D --directory")
	case "git":
		if !slices.Contains(words, "apply") && !slices.Contains(words, "am") || has("--stat --numstat --summary --check") {
			return nil
		}
	case "wget":
		if !has("-r -m -p -x --recursive --mirror --page-requisites --force-directories") {
			return nil
		}
		to = valuesOf(words, "-P --directory-prefix")
	case "cp", "rsync", "scp":
		if !has("-r -R -a --recursive --archive") {
			return nil
		}
		to = append(valuesOf(words, "-t --target-directory"), words[len(words)-1])
	default:
		return nil
	}
	if len(to) == 0 {
		return []string{"."}
	}
	return to
}

// isAny reports whether a word is one of several options.
func isAny(w, options string) bool {
	for option := range strings.FieldsSeq(options) {
		if isOption(w, option) {
			return true
		}
	}
	return false
}

// extracts reports whether a call of tar takes files out of an archive.
func extracts(words []string) bool {
	for j, w := range words {
		switch {
		case j == 0:
		case isOption(w, "--extract"), isOption(w, "--get"):
			return true
		case j == 1 && !strings.HasPrefix(w, "-"):
			if strings.Contains(w, "x") {
				return true
			}
		case strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--"):
			// What follows the letter f is the archive's name.
			if letters, _, _ := strings.Cut(w, "f"); strings.Contains(letters, "x") {
				return true
			}
		}
	}
	return false
}

// valuesOf returns the values of options, attached to them or behind them.
func valuesOf(words []string, options string) (values []string) {
	for j, w := range words {
		if j == 0 || !isAny(w, options) {
			continue
		}
		_, value, attached := strings.Cut(w, "=")
		switch {
		case attached:
			values = append(values, value)
		case !strings.HasPrefix(w, "--") && len(w) > 2 && isAny(w[:2], options):
			values = append(values, w[2:])
		case j+1 < len(words):
			values = append(values, words[j+1])
		}
	}
	return values
}

// renamed looks for names that a command makes and another one uses: what they
// lead to cannot be looked up before the first one has run.
func (c *certainty) renamed() {
	var uses map[string]callers
	for i := range c.calls {
		call := &c.calls[i]
		for _, made := range makes(call.name, call.words) {
			if uses == nil {
				uses = c.folders()
			}
			if uses[made].other(i) {
				c.doubtPath("The command makes " + quoteShort(made) + " and uses it, and which file that is cannot be known.")
				return
			}
		}
		if isArchiver(call.name) && c.path == "" && unpacksTo(call.name, call.words) != nil && c.reads() {
			c.doubtPath("The command unpacks files, which may be links, and opens others.")
			return
		}
	}
}

// callers are the first two commands that have something, counted from 1.
type callers [2]int

// other reports whether another command than the i-th is among them.
func (n callers) other(i int) bool { return n[0] != 0 && n[0] != i+1 || n[1] != 0 }

func isArchiver(name string) bool {
	return isTar(name) || name == "unzip" || name == "cpio" || name == "pax"
}

// makes returns the names, without a folder, by which files or folders can be
// found after a command that could not be before.
func makes(name string, words []string) (names []string) {
	switch name {
	case "ln", "link", "mv":
	case "cp", "rsync":
		if !slices.ContainsFunc(words[1:], func(w string) bool {
			return isAny(w, "-r -R -a -s -l -P -d --recursive --archive --symbolic-link --link --no-dereference --links")
		}) {
			return nil
		}
	default:
		return nil
	}
	for _, w := range words[1:] {
		if base := path.Base(w); !strings.HasPrefix(w, "-") && base != "." && base != ".." && base != "/" {
			names = append(names, base)
		}
	}
	return names
}

// folders returns the names of folders that commands go through, and which do. A
// file was looked up by the name that it has before.
func (c *certainty) folders() map[string]callers {
	all := map[string]callers{}
	add := func(w string, by int, last bool) {
		for part := range strings.FieldsFuncSeq(w, func(r rune) bool { return strings.ContainsRune(between, r) }) {
			names := strings.Split(part, "/")
			if !last {
				names = names[:len(names)-1]
			}
			for _, name := range names {
				switch n := all[name]; {
				case n[0] == 0:
					all[name] = callers{by}
				case n[0] != by:
					all[name] = callers{n[0], by}
				}
			}
		}
	}
	for i := range c.calls {
		call := &c.calls[i]
		if _, wrapper := wrappers[call.name]; wrapper {
			continue // its command is a call of its own
		}
		_, last := walkers[call.name]
		last = last || call.name == "cd" || call.name == "pushd" || call.name == "chdir"
		for _, w := range call.words[1:] {
			add(w, i+1, last)
		}
	}
	for _, p := range c.files {
		add(p.path, -1, false)
	}
	return all
}

// reads reports whether a command opens files that it is given to read them.
func (c *certainty) reads() bool {
	return slices.ContainsFunc(c.calls, func(call found) bool {
		return inertPrograms[call.name] == opensRead && slices.ContainsFunc(call.words[1:], func(w string) bool { return !strings.HasPrefix(w, "-") })
	})
}
