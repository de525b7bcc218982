package policy

import (
	"errors"
	"path"
	"slices"
	"strings"
	"unicode"
)

// below returns a path relative to a folder, if it is that folder or below it.
// Both are absolute and clean.
func below(folder, name string) (rel string, ok bool) {
	switch {
	case folder == "" || name == "":
		return "", false
	case name == folder:
		return "", true
	case folder == "/":
		return name[1:], true
	case len(name) > len(folder) && name[len(folder)] == '/' && strings.HasPrefix(name, folder):
		return name[len(folder)+1:], true
	}
	return "", false
}

// A folder is an absolute path as it is written and with its links followed.
type folder struct {
	literal string
	real    string // "" if not known
}

// locate returns a folder by its path. An empty or relative path gives one that
// nothing is below.
func locate(name string, resolve Resolver) folder {
	if !strings.HasPrefix(name, "/") {
		return folder{}
	}
	if resolve == nil {
		resolve = Real
	}
	f := folder{literal: path.Clean(name)}
	if real, err := resolve(f.literal); err == nil {
		f.real = real
	}
	return f
}

// A resolvedPath is a path that a call names, and where it leads.
type resolvedPath struct {
	// given is the path as it is in the call.
	given string
	// literal is where it leads if there are no links, real where it does lead;
	// real is empty if it is not known. Both are absolute and clean.
	literal, real string
	// also is another way to read it, for deny rules; often empty.
	also string
	// doubt says why no allow rule covers the path, as the end of a sentence. It is
	// empty if nothing speaks against it.
	doubt string
	// agents says that it leads to another place for the agent than for us.
	agents bool
	// recursive says that the call reaches everything below.
	recursive bool
	// rels are the path relative to each anchor; see relative.
	rels [3]relatives
}

// relatives are a path relative to an anchor. Each rule with that anchor looks at
// them, so they are made once.
type relatives struct {
	known bool
	// literal is the path as it is written, real with its links followed, for
	// allow rules. Either may be missing.
	inLiteral, inReal bool
	literal, real     string
	// any and more are all the ways to write it, for deny and ask rules. Mostly
	// there is one, or none.
	found bool
	any   string
	more  []string
}

// relative returns a path relative to an anchor.
func (j *judge) relative(p *resolvedPath, a anchor) *relatives {
	r := &p.rels[a]
	if r.known {
		return r
	}
	r.known = true
	base := j.base(a)
	if r.literal, r.inLiteral = below(base.literal, p.literal); !r.inLiteral {
		// The agent may call the folder by its real name.
		r.literal, r.inLiteral = below(base.real, p.literal)
	}
	r.real, r.inReal = below(base.real, p.real)
	for _, name := range [...]string{p.literal, p.real, p.also} {
		for _, from := range [...]string{base.literal, base.real} {
			r.add(below(from, name))
			if j.e.foldCase {
				r.add(below(strings.ToLower(from), strings.ToLower(name)))
			}
		}
	}
	return r
}

func (r *relatives) add(rel string, ok bool) {
	switch {
	case !ok, r.found && r.any == rel:
	case !r.found:
		r.found, r.any = true, rel
	case !slices.Contains(r.more, rel):
		r.more = append(r.more, rel)
	}
}

// touches reports whether a pattern covers the path in any way to write it.
func (r *relatives) touches(p *pattern) bool {
	return r.found && p.match(r.any, true) || slices.ContainsFunc(r.more, func(rel string) bool { return p.match(rel, true) })
}

// resolvePath finds out where a path leads. shell says that a shell gets it, which
// follows links before it goes up by "..", while the CLI's own tools do not.
func (j *judge) resolvePath(given string, shell bool) resolvedPath {
	p := resolvedPath{given: given}
	name := given
	if i := strings.IndexByte(name, 0); i >= 0 {
		name, p.doubt = name[:i], "has a NUL in it"
	}
	// The CLI removes white space around a path before it uses it.
	if trimmed := strings.TrimFunc(name, blank); trimmed != name && !shell {
		p.also = clean(j.absolute(name))
		name, p.doubt = trimmed, "begins or ends with white space"
	}
	if name == "" && p.doubt == "" {
		p.doubt = "is empty"
	}
	if strings.IndexFunc(name, recomposed) >= 0 && p.doubt == "" {
		p.doubt = "has characters in it that can be written in several ways"
	}
	full := j.absolute(name)
	if full == "" {
		if p.doubt == "" {
			p.doubt = "is not absolute, and the session's folder is not known"
		}
		return p
	}
	if shell && strings.HasPrefix(name, "~") && name != "~" && !strings.HasPrefix(name, "~/") && p.doubt == "" {
		p.doubt = "is in another user's home folder"
	}
	p.literal = clean(full)
	if !shell {
		full = p.literal
	}
	real, err := j.follow(full)
	if err != nil {
		p.agents = errors.Is(err, errAgents)
		if p.doubt == "" {
			p.doubt = "leads nobody knows where: " + err.Error()
		}
	}
	p.real = real
	return p
}

// follow resolves an absolute path. What is below the session's folder is looked
// at from there on: the folder itself has been followed before.
func (j *judge) follow(full string) (string, error) {
	if resolve := j.resolver(); resolve != nil {
		return resolve(full)
	}
	if strings.IndexByte(full, 0) >= 0 {
		return "", errNUL
	}
	if dir := j.dir(); dir.real != "" && dir.literal != "/" {
		if rel, ok := below(dir.literal, full); ok {
			if dir.real == dir.literal {
				return realBelow(dir.literal, full)
			}
			return realFrom(dir.real, rel)
		}
	}
	return Real(full)
}

// absolute returns a path of a call as an absolute one, not cleaned; "" if that
// cannot be done.
func (j *judge) absolute(name string) string {
	switch {
	case strings.HasPrefix(name, "/"):
		return name
	case name == "~" || strings.HasPrefix(name, "~/"):
		if j.e.home.literal == "" {
			return ""
		}
		return j.e.home.literal + name[1:]
	case j.call.Dir == "" || j.call.Dir[0] != '/':
		return ""
	case name == "":
		return j.call.Dir
	default:
		return j.call.Dir + "/" + name
	}
}

// clean is path.Clean that leaves the empty path alone.
func clean(name string) string {
	if name == "" {
		return ""
	}
	return path.Clean(name)
}

// blank reports what JavaScript's trim removes.
func blank(r rune) bool { return unicode.IsSpace(r) && r != 0x85 || r == 0xfeff }

// recomposed reports characters that Unicode's normal form C may replace, or join
// with the one before. Newer CLIs bring paths into that form before they use
// them, so that a path with them may be another one than it seems. The list is
// coarse on purpose: the price is a question.
func recomposed(r rune) bool {
	switch {
	case r < 0x300:
		return false
	case unicode.In(r, unicode.Mn, unicode.Mc):
		return true
	case r == 0x374 || r == 0x37e || r == 0x387, 0x958 <= r && r <= 0x95f, 0x9dc <= r && r <= 0x9df, 0xa33 <= r && r <= 0xa5e, 0xb5c <= r && r <= 0xb5d:
		return true
	case 0x1100 <= r && r <= 0x11ff, 0x1f00 <= r && r <= 0x1fff, 0x2000 <= r && r <= 0x2001:
		return true
	case r == 0x2126 || r == 0x212a || r == 0x212b || r == 0x2329 || r == 0x232a || r == 0x2adc:
		return true
	case 0xf900 <= r && r <= 0xfaff, 0xfb1d <= r && r <= 0xfb4f, 0x2f800 <= r && r <= 0x2fa1f:
		return true
	}
	return false
}

// base returns the folder that a pattern's anchor stands for.
func (j *judge) base(a anchor) folder {
	switch a {
	case anchorRoot:
		return folder{"/", "/"}
	case anchorHome:
		return j.e.home
	default:
		return j.dir()
	}
}

// inside reports whether an allow rule's pattern covers a path, both as it is
// written and with its links followed. why says what is against it where only
// little is.
func (j *judge) inside(p *pattern, at *resolvedPath) (ok bool, why string) {
	rel := j.relative(at, p.anchor)
	if !rel.inLiteral || !p.match(rel.literal, false) {
		return false, ""
	}
	if at.doubt != "" {
		return false, at.doubt
	}
	if !rel.inReal || !p.match(rel.real, false) {
		return false, "leads through a link to " + at.real
	}
	if at.recursive && !p.covers {
		return false, "is searched as a whole, and the rule covers only some of it"
	}
	return true, ""
}

// touches reports whether a deny or ask rule's pattern covers a path in any way
// that it can be read.
func (j *judge) touches(c *compiled, at *resolvedPath) bool {
	rel := j.relative(at, c.path.anchor)
	return rel.touches(c.path) ||
		c.folded != nil && rel.touches(c.folded) ||
		c.elsewhere != nil && j.relative(at, anchorRoot).touches(c.elsewhere)
}

// protected are files and folders that decide what an agent may do, or that run
// programs later. The CLI asks for each change of them whatever its rules say,
// so an allow rule covers them only where it names them.
var protected = []string{
	".git", ".claude", ".vscode", ".idea", ".husky",
	".gitconfig", ".gitmodules", ".bashrc", ".bash_profile", ".zshrc", ".zprofile", ".zshenv", ".profile",
	".bash_login", ".bash_logout", ".bash_aliases", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login", ".envrc",
	".ripgreprc", ".mcp.json", ".claude.json",
}

// guarded returns a protected part of a path below base which is none of names.
func guarded(base folder, at *resolvedPath, names []string) string {
	for i, name := range [...]string{at.literal, at.real} {
		rel, ok := below([...]string{base.literal, base.real}[i], name)
		if !ok {
			rel = strings.TrimPrefix(name, "/")
		}
		for rel != "" {
			var part string
			part, rel, _ = strings.Cut(rel, "/")
			if len(part) == 0 || part[0] != '.' {
				continue
			}
			if strings.EqualFold(part, ".claude") && strings.HasPrefix(rel, "worktrees/") {
				continue
			}
			same := func(s string) bool { return strings.EqualFold(s, part) }
			if slices.ContainsFunc(protected, same) && !slices.Contains(names, part) {
				return part
			}
		}
	}
	return ""
}
