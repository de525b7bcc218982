package policy

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// A shellPattern is a word with pattern characters: the shell puts the names of
// files in its place, and which they are is not known before.
type shellPattern struct {
	// folder is what stands in front of the first part with such a character,
	// "." if there is nothing; rest is that part and what follows.
	folder, rest string
}

// patterns returns the words for which a text has the shell look for files, at
// any depth. Relative ones are repeated below each folder that it changes to.
func (s *script) patterns() []shellPattern {
	f := s.generous()
	if len(f.globs) == 0 {
		return nil
	}
	var dirs []string
	for i := range f.found {
		dirs = append(dirs, (&pathList{}).command(f.found[i].words)...)
	}
	var all []shellPattern
	for _, g := range f.globs {
		list := pathList{all: []shellPath{{path: g.folder}}}
		list.below(slices.Clone(dirs))
		for _, p := range list.all {
			if at := (shellPattern{p.path, g.rest}); !slices.Contains(all, at) {
				all = append(all, at)
			}
		}
	}
	return all
}

// notePatterns notes the patterns in a text.
func (f *finder) notePatterns(text string, file *syntax.File) {
	if !strings.ContainsAny(text, "*?[(") {
		return
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		w, ok := n.(*syntax.Word)
		if !ok || !isPattern(w) {
			return true
		}
		for _, words := range first(f.guess(w)) {
			for _, word := range words {
				if len(f.globs) >= maxPatterns {
					f.cut = true
					return false
				}
				f.globs = append(f.globs, splitPattern(word))
			}
		}
		return true
	})
}

// maxPatterns bounds how many patterns are looked at.
const maxPatterns = 256

// splitPattern cuts a word before the part with its first pattern character.
func splitPattern(word string) shellPattern {
	end := len(word)
	if at := strings.IndexAny(word, "*?["); at >= 0 {
		end = at
	}
	switch at := strings.LastIndexByte(word[:end], '/'); {
	case at == 0:
		return shellPattern{"/", word[1:]}
	case at > 0:
		return shellPattern{word[:at], word[at+1:]}
	default:
		return shellPattern{".", word}
	}
}

// patternsReach says why no allow rule covers a command with patterns: what they
// stand for may be ours, or what a deny or ask rule is about. "" if it cannot.
func (j *judge) patternsReach() string {
	s := j.script()
	if s == nil {
		return ""
	}
	for _, p := range s.patterns() {
		at := j.resolvePath(p.folder, true)
		if at.literal == "" {
			return "Where " + quoteShort(p.folder+"/"+p.rest) + " looks for files is not known: a person decides."
		}
		if j.e.aboveOwn(&at) && j.mayFindOwn(&at, p.rest) {
			return "Switchboard's own files may be among " + quoteShort(p.folder+"/"+p.rest) + ": a person decides."
		}
		var about *compiled
		for _, d := range []Decision{Deny, Ask} {
			j.each(d, func(c *compiled) bool {
				if c.kind == kindPath && j.mayFind(c.path, &at, p.rest) {
					about = c
				}
				return about == nil
			})
		}
		if about != nil {
			return "What " + about.rule.Text + " is about may be among " + quoteShort(p.folder+"/"+p.rest) + ": a person decides."
		}
	}
	return ""
}

// mayFindOwn is mayFind for our own files.
func (j *judge) mayFindOwn(from *resolvedPath, rest string) bool {
	for i := range j.e.own {
		for _, own := range [...]string{j.e.own[i].literal, j.e.own[i].real} {
			for _, name := range [...]string{from.literal, from.real} {
				if own == "" || name == "" {
					continue
				}
				if rel, inside := below(j.fold(name), j.fold(own)); inside && nameFits(rest, firstPart(rel)) {
					return true
				}
			}
		}
	}
	return false
}

// fold returns a path as it is compared where capital letters make no difference.
func (j *judge) fold(name string) string {
	if j.e.foldCase {
		return strings.ToLower(name)
	}
	return name
}

func firstPart(rel string) string {
	name, _, _ := strings.Cut(rel, "/")
	return name
}

// mayFind reports whether the shell, looking from a folder on for a pattern, may
// find something that a rule about paths covers.
func (j *judge) mayFind(rule *pattern, from *resolvedPath, rest string) bool {
	base := j.base(rule.anchor)
	// What the rule fixes: its anchor and the parts in front of its first
	// wildcard. A name at any depth fixes only itself.
	fixed := ""
	if !rule.floating {
		fixed = rule.glob
		if at := strings.IndexAny(fixed, "*?[{\\"); at >= 0 {
			fixed = fixed[:max(strings.LastIndexByte(fixed[:at], '/'), 0)]
		}
	}
	for _, b := range [...]string{base.literal, base.real} {
		if b == "" {
			continue
		}
		target := j.fold(path.Join(b, fixed))
		for _, name := range [...]string{from.literal, from.real} {
			if name = j.fold(name); name == "" {
				continue
			}
			if _, inside := below(target, name); inside {
				// The rule is about something in this folder or further down.
				return !rule.floating || !rule.plain || nameFits(rest, rule.glob)
			}
			if rel, inside := below(name, target); inside && nameFits(rest, firstPart(rel)) {
				return true
			}
		}
	}
	return false
}

// nameFits reports whether one of a pattern's parts may stand for a name. The
// whole pattern counts, since a part further down may be the one.
func nameFits(pattern, name string) bool {
	if name == "" || name == "." {
		return true
	}
	for part := range strings.SplitSeq(pattern, "/") {
		if ok, err := path.Match(strings.ToLower(part), strings.ToLower(name)); ok || err != nil {
			return true
		}
		if strings.ContainsAny(part, "()|!@+{") {
			return true
		}
	}
	return false
}

// isPattern reports whether the shell looks for files that a word stands for.
func isPattern(w *syntax.Word) bool {
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.ExtGlob:
			return true
		case *syntax.Lit:
			for i := 0; i < len(p.Value); i++ {
				switch p.Value[i] {
				case '\\':
					i++
				case '*', '?':
					return true
				case '[':
					if p.Value != "[" && p.Value != "[[" {
						return true
					}
				}
			}
		}
	}
	return false
}
