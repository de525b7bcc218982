package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
)

// files are the paths that a call of a tool for files names.
type files struct {
	// list are the paths, all of which have to be allowed.
	list []resolvedPath
	// also are further ones, for deny and ask rules.
	also  []resolvedPath
	write bool
}

// paths returns the files of a call of one of the tools for files.
func (j *judge) paths() *files {
	if j.filesKnown {
		return &j.files
	}
	j.filesKnown = true
	f := &j.files
	f.write = slices.Contains(editTools, j.call.Tool)
	member, folders := "file_path", false
	switch j.call.Tool {
	case "NotebookRead", "NotebookEdit":
		member = "notebook_path"
	case "Grep", "Glob", "LS":
		member, folders = "path", true
	}
	name, ok := wire.LookupString(j.call.Input, member)
	raw, present := wire.Lookup(j.call.Input, member)
	var at resolvedPath
	switch {
	case ok && !(folders && name == ""):
		at = j.resolvePath(name, false)
	case folders && (!present || ok || string(raw) == "null"):
		// Without a path the whole folder is searched.
		at = j.resolvePath(j.call.Dir, false)
		at.given = "the session's folder"
	default:
		at = resolvedPath{doubt: "is not given as text"}
	}
	at.recursive = folders
	f.list = append(f.list, at)
	if j.call.Tool == "Glob" {
		j.globbed(f)
	}
	return f
}

// globbed adds what the pattern of a Glob call leads to.
func (j *judge) globbed(f *files) {
	pattern, ok := wire.LookupString(j.call.Input, "pattern")
	if !ok {
		f.list[0].doubt = "is searched for a pattern that is not given as text"
		return
	}
	full := pattern
	if !strings.HasPrefix(pattern, "/") && !strings.HasPrefix(pattern, "~") {
		full = f.list[0].literal + "/" + pattern
	}
	f.also = append(f.also, j.resolvePath(full, false))
	// What is certain of the pattern is where the search begins.
	fixed := full
	if i := strings.IndexAny(full, "*?[{"); i >= 0 {
		fixed = path.Dir(full[:i] + "x")
	}
	at := j.resolvePath(fixed, false)
	at.recursive = true
	if strings.Contains(pattern, "..") || strings.HasPrefix(pattern, "~") || strings.Contains(pattern, "{/") || strings.Contains(pattern, ",/") {
		at.doubt = "is searched for a pattern that may lead elsewhere"
	}
	at.given = pattern
	f.list = append(f.list, at)
}

// touchedPath returns a path of the call that a deny or ask rule covers, nil if
// there is none.
func (j *judge) touchedPath(c *compiled) *resolvedPath {
	if runsCommands(j.call.Tool) {
		for i := range j.shellFiles() {
			at := &j.shellTargets[i]
			if (at.write || c.spec.tool == "Read") && j.touches(c, &at.resolvedPath) {
				return &at.resolvedPath
			}
		}
		return nil
	}
	f := j.paths()
	for _, list := range [...][]resolvedPath{f.list, f.also} {
		for i := range list {
			if j.touches(c, &list[i]) {
				return &list[i]
			}
		}
	}
	return nil
}

// A shellTarget is a path in a shell command.
type shellTarget struct {
	resolvedPath
	// write says that the command writes there, maybe that it may.
	write, maybe bool
}

// script returns the command of a call, nil if it has none.
func (j *judge) script() *script {
	if !j.commandKnown {
		j.commandKnown = true
		if text, ok := wire.LookupString(j.call.Input, "command"); ok {
			j.command = parseShell(text)
			j.command.isDir = j.isDir
		}
	}
	return j.command
}

// isDir reports whether a path in a command is a folder.
func (j *judge) isDir(name string) bool {
	at := j.resolvePath(name, true)
	if at.real == "" {
		return j.e.elsewhere // it is not known
	}
	return j.e.isDir(at.real)
}

// shellFiles returns the paths in a shell command.
func (j *judge) shellFiles() []shellTarget {
	if !j.shellKnown {
		j.shellKnown = true
		if s := j.script(); s != nil {
			list := s.paths()
			j.shellTargets = make([]shellTarget, 0, len(list))
			for _, p := range list { // each is there once
				j.shellTargets = append(j.shellTargets, shellTarget{j.resolvePath(p.path, true), p.write, p.maybe})
			}
		}
	}
	return j.shellTargets
}

// url returns the address of a call, nil if it has none.
func (j *judge) url() *address {
	if !j.addressKnown {
		j.addressKnown = true
		if j.call.Tool == ToolNetwork {
			if text, ok := wire.LookupString(j.call.Input, "host"); ok {
				a := hostAddress(text)
				j.address = &a
			}
		} else if text, ok := wire.LookupString(j.call.Input, "url"); ok {
			a := parseAddress(text)
			j.address = &a
		}
	}
	return j.address
}

// name returns the name of the agent or the skill that a call is for. given says
// that the call has one.
func (j *judge) name() (name string, given bool) {
	if j.call.Tool == "Skill" {
		if name, given = wire.LookupString(j.call.Input, "skill"); !given {
			name, given = wire.LookupString(j.call.Input, "command")
		}
		return strings.TrimPrefix(strings.TrimFunc(name, blank), "/"), given
	}
	if name, given = wire.LookupString(j.call.Input, "subagent_type"); !given || name == "" {
		return "general-purpose", false // the CLI's own choice
	}
	return name, true
}
