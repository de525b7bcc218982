package policy

import (
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
)

// ownMessage is what the model is told.
const ownMessage = "These are Switchboard's own files. No agent may read or change them; go on without them."

// An ownPath is a folder or file of ours. It is denied to every agent: what lies
// there decides what agents may do.
type ownPath struct {
	folder
	read, edit *Rule
	// names are the ways in which a command may write the path.
	names []string
}

func (e *Engine) ownPaths(names []string) []ownPath {
	var list []ownPath
	for _, name := range names {
		f := locate(name, e.resolve)
		if f.literal == "" || f.literal == "/" {
			continue // it would deny everything, which cannot be meant
		}
		rule := func(tool string) *Rule {
			return &Rule{
				Text:     spec{tool, "/" + escapeGlob(f.literal) + "/**"}.String(),
				Decision: Deny, Scope: ScopeBuiltin, Source: "switchboard's own files", Message: ownMessage,
			}
		}
		list = append(list, ownPath{f, rule("Read"), rule("Edit"), e.spellings(f)})
	}
	return list
}

func (o *ownPath) rules() []Rule { return []Rule{*o.read, *o.edit} }

// Members that hold a path in the inputs of many tools. What stands there is a
// path even if it does not look like one.
var pathMembers = []string{
	"file_path", "path", "notebook_path", "file", "filename", "filepath", "directory", "dir", "folder", "root", "cwd",
	"source", "destination", "target", "from", "to", "uri", "worktree_path",
}

// maxStrings bounds how many texts of an input are looked at.
const maxStrings = 256

// own denies what reaches for our own files.
func (j *judge) own() (Verdict, bool) {
	if len(j.e.own) == 0 {
		return Verdict{}, false
	}
	switch tool := j.call.Tool; {
	case tool == ToolNetwork:
		// The command is the program that connects, whose arguments may well name
		// files of ours: the CLI is started with some.
		return Verdict{}, false
	case runsCommands(tool):
		return j.ownCommand()
	case slices.Contains(readTools, tool), slices.Contains(editTools, tool):
		f := j.paths()
		for _, list := range [...][]resolvedPath{f.list, f.also} {
			for i := range list {
				if at := &list[i]; j.e.ownHit(at) {
					return j.ownVerdict(at, f.write, true), true
				}
			}
		}
		return Verdict{}, false
	default:
		return j.ownTexts()
	}
}

// ownTexts looks at the input of a tool that is not known here.
func (j *judge) ownTexts() (Verdict, bool) {
	texts, all := wire.Strings(j.call.Input, maxStrings)
	j.unseen = !all && len(texts) == maxStrings
	for _, text := range texts {
		if text.Name == "command" {
			if v, ok := j.ownCommand(); ok {
				return v, true
			}
		}
		name := strings.TrimPrefix(text.Value, "file://")
		if len(name) > maxPath || !strings.HasPrefix(name, "/") && !strings.HasPrefix(name, "~/") && !slices.Contains(pathMembers, strings.ToLower(text.Name)) {
			continue
		}
		if at := j.resolvePath(name, false); j.e.ownHit(&at) {
			return j.ownVerdict(&at, false, false), true
		}
	}
	return Verdict{}, false
}

// ownCommand looks at a shell command: at its words, and at its text, since what
// the shell puts together cannot be seen in the words.
func (j *judge) ownCommand() (Verdict, bool) {
	s := j.script()
	if s == nil {
		return Verdict{}, false
	}
	files := j.shellFiles()
	for i := range files {
		if at := &files[i].resolvedPath; j.e.ownHit(at) {
			return j.ownVerdict(at, files[i].write, false), true
		}
	}
	for i := range j.e.own {
		own := &j.e.own[i]
		for _, name := range own.names {
			if mentions(s.text, name) {
				at := resolvedPath{given: name, literal: own.literal}
				return j.ownVerdict(&at, false, false), true
			}
		}
	}
	return Verdict{}, false
}

// spellings returns the ways in which a command may write a path: whole, or with
// the home folder written in one of the usual ways.
func (e *Engine) spellings(f folder) []string {
	list := f.both()
	for _, name := range f.both() {
		for _, home := range e.home.both() {
			rel, ok := below(home, name)
			if !ok || rel == "" || home == "/" {
				continue
			}
			for _, short := range [...]string{"~/", "$HOME/", "${HOME}/", `"$HOME"/`, `"${HOME}"/`} {
				list = append(list, short+rel)
			}
		}
	}
	return list
}

// mentions reports whether a path stands in a text, and not as a part of a longer
// name.
func mentions(text, name string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		begin, end := at+i, at+i+len(name)
		if (begin == 0 || !inName(text[begin-1])) && (end == len(text) || !inName(text[end]) || text[end] == '/') {
			return true
		}
		at = begin + 1
	}
}

func inName(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-' || c == '.' || c == '/' || c >= 0x80
}

func (j *judge) ownVerdict(at *resolvedPath, write, direct bool) Verdict {
	own := &j.e.own[0]
	for i := range j.e.own {
		if j.e.ownHitBy(&j.e.own[i], at) {
			own = &j.e.own[i]
			break
		}
	}
	rule := own.read
	if write {
		rule = own.edit
	}
	v := Verdict{Decision: Deny, Rule: rule, Message: ownMessage, Enforced: EnforcedHub}
	v.Reason = "Switchboard's own files are denied to every agent: " + describe(at) + "."
	if direct {
		v.Enforced = EnforcedBoth
	}
	return v
}

// ownHit reports whether a path leads to our files in any way that it can be read.
func (e *Engine) ownHit(at *resolvedPath) bool {
	for i := range e.own {
		if e.ownHitBy(&e.own[i], at) {
			return true
		}
	}
	return false
}

func (e *Engine) ownHitBy(own *ownPath, at *resolvedPath) bool {
	for _, name := range [...]string{at.literal, at.real, at.also} {
		if name != "" && (e.within(own.literal, name) || e.within(own.real, name)) {
			return true
		}
	}
	return false
}

// within is isBelow, in any case where that is how the file system compares names.
func (e *Engine) within(folder, name string) bool {
	return isBelow(folder, name) || e.foldCase && isBelow(strings.ToLower(folder), strings.ToLower(name))
}

// aboveOwn reports whether our files are below a path.
func (e *Engine) aboveOwn(at *resolvedPath) bool {
	for i := range e.own {
		own := &e.own[i]
		for _, name := range [...]string{at.literal, at.real} {
			if name != "" && (e.within(name, own.literal) || e.within(name, own.real)) {
				return true
			}
		}
	}
	return false
}

// shellReaches says why no allow rule covers a command that changes something
// above our own files, or that may reach files which rules forbid by a name that
// cannot be seen through; "" if it does not.
func (j *judge) shellReaches() string {
	files := j.shellFiles()
	for i := range files {
		at := &files[i]
		if at.write && j.e.aboveOwn(&at.resolvedPath) {
			return "Switchboard's own files are below " + describe(&at.resolvedPath) + ": a person decides."
		}
		if at.agents && j.hasPathRules() {
			return "Where " + describe(&at.resolvedPath) + " leads depends on who opens it: a person decides."
		}
	}
	if s := j.script(); s != nil && s.strayed && j.hasPathRules() {
		return "The command changes its folder too often to be followed: a person decides."
	}
	return j.patternsReach()
}

// hasPathRules reports whether some files are denied, or asked about.
func (j *judge) hasPathRules() bool { return len(j.e.own) > 0 || j.hasRules(kindPath) }
