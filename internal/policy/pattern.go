package policy

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// An anchor says what the beginning of a path rule stands for.
type anchor int

const (
	anchorDir  anchor = iota // the session's folder: src/**, ./src/**, /src/**
	anchorHome               // the home folder: ~/src/**
	anchorRoot               // the root: //etc/**
)

// A pattern is the content of a path rule: Read(…), Edit(…). It is what a line of
// .gitignore would be, except that nothing in it takes anything back.
type pattern struct {
	anchor anchor
	// glob is the pattern below its anchor, in doublestar's syntax. If it is
	// empty, the anchor itself and everything below are meant.
	glob string
	// deep matches what is below glob.
	deep string
	// plain says that there is no wildcard in glob; it is then the text itself.
	plain bool
	// floating says that it matches at any depth below the anchor. It has one part
	// then.
	floating bool
	// suffix is what follows the * of a floating pattern such as *.md.
	suffix string
	// covers says that an allow rule covers what is below a match, too. It does
	// so where the last part is no wildcard: src covers all of src, src/* only
	// what is directly in it.
	covers bool
	// names are the parts without wildcards, for protected.
	names []string
	// source is the pattern as .gitignore would have it, for the CLI.
	source string
}

// compilePath reads the content of a path rule.
func compilePath(content string) (*pattern, error) {
	p, rest := &pattern{}, content
	switch {
	case strings.TrimSpace(content) != content:
		return nil, errors.New("the path begins or ends with white space; remove it")
	case strings.HasPrefix(content, "!"):
		return nil, errors.New("a rule takes nothing back: ! has no meaning here; write what is allowed or denied instead")
	case strings.Contains(content, ":*"):
		return nil, errors.New("the :* is for Bash rules; paths have * for a part of a name and ** for any number of folders")
	case strings.HasPrefix(content, "//"):
		p.anchor, rest = anchorRoot, content[2:]
	case content == "~":
		p.anchor, rest = anchorHome, ""
	case strings.HasPrefix(content, "~/"):
		p.anchor, rest = anchorHome, content[2:]
	case strings.HasPrefix(content, "~"):
		return nil, errors.New("only ~/ stands for a home folder, which is your own; write another one's with // in front")
	case strings.HasPrefix(content, "/"):
		rest = content[1:]
	case strings.HasPrefix(content, "./"):
		rest = content[2:]
	case content == ".":
		rest = ""
	default:
		// As in .gitignore: a name alone matches at any depth.
		p.floating = !strings.Contains(strings.TrimSuffix(content, "/"), "/")
	}
	rest = strings.TrimSuffix(rest, "/")
	for rest == "**" || strings.HasSuffix(rest, "/**") {
		rest = strings.TrimSuffix(strings.TrimSuffix(rest, "**"), "/")
		p.covers = true
	}
	if rest == "" {
		p.floating, p.covers = false, true
		return p, nil
	}
	parts := strings.Split(rest, "/")
	for i, part := range parts {
		switch {
		case part == "":
			return nil, errors.New("there are two slashes in a row in the path; // stands for the root at the beginning only")
		case part == "." || part == "..":
			return nil, fmt.Errorf("the path has %q in it; write the path that is meant", part)
		case !doublestar.ValidatePattern(literalBraces(part)):
			return nil, fmt.Errorf("the pattern %s is not complete: a [ needs its ] before the next slash, and a \\ something behind it", part)
		case part != "**" && !wild(part):
			p.names = append(p.names, unescapeGlob(part))
			p.covers = p.covers || i == len(parts)-1
		}
	}
	p.source = rest
	p.plain = !wild(rest)
	if p.plain {
		p.glob = unescapeGlob(rest)
		return p, nil
	}
	p.glob = literalBraces(rest)
	p.deep = p.glob + "/**"
	if rest, ok := strings.CutPrefix(rest, "*"); ok && p.floating && !wild(rest) {
		p.suffix = unescapeGlob(rest)
	}
	return p, nil
}

// literalBraces takes the meaning from braces: alternatives are an addition of the
// library's, which .gitignore does not have.
func literalBraces(pattern string) string {
	if !strings.ContainsAny(pattern, "{}") {
		return pattern
	}
	return strings.NewReplacer(`\{`, `\{`, `\}`, `\}`, `\\`, `\\`, `{`, `\{`, `}`, `\}`).Replace(pattern)
}

// elsewhere returns the pattern for where the folder that p begins with really
// lies, if that is another place; else nil. It is for deny and ask rules. Those
// below the session's folder need none: that folder is followed for each call.
func (p *pattern) elsewhere(base folder, resolve Resolver) *pattern {
	if p.anchor == anchorDir || p.floating || p.glob == "" || base.literal == "" {
		return nil
	}
	parts := strings.Split(p.source, "/")
	n := slices.IndexFunc(parts, wild)
	if n < 0 {
		n = len(parts)
	}
	if resolve == nil {
		resolve = Real
	}
	literal := path.Join(base.literal, unescapeGlob(strings.Join(parts[:n], "/")))
	real, err := resolve(literal)
	if err != nil || real == literal {
		return nil
	}
	q := *p
	q.anchor = anchorRoot
	if n == len(parts) {
		q.glob = real[1:]
		return &q
	}
	q.glob = literalBraces(path.Join(escapeGlob(real[1:]), strings.Join(parts[n:], "/")))
	q.deep = q.glob + "/**"
	return &q
}

// escapeGlob returns the pattern that matches just the text.
func escapeGlob(text string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`).Replace(text)
}

// wild reports whether a pattern has wildcards.
func wild(pattern string) bool {
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			if i++; i == len(pattern) {
				return true // not complete; the check of wildcards says so
			}
		case '*', '?', '[':
			return true
		}
	}
	return false
}

// unescapeGlob returns the text that a pattern without wildcards stands for.
func unescapeGlob(text string) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// fold returns the pattern for paths in small letters.
func (p *pattern) fold() *pattern {
	q := *p
	q.glob, q.deep, q.suffix = strings.ToLower(p.glob), strings.ToLower(p.deep), strings.ToLower(p.suffix)
	return &q
}

// match reports whether the pattern covers a path that is given relative to the
// anchor. generous is for deny and ask rules, which always cover what is below.
func (p *pattern) match(rel string, generous bool) bool {
	switch {
	case p.glob == "":
		return true
	case rel == "":
		return false
	case p.floating:
		return p.matchParts(rel, generous)
	case p.plain:
		return strings.HasPrefix(rel, p.glob) && (len(rel) == len(p.glob) || rel[len(p.glob)] == '/')
	case doublestar.MatchUnvalidated(p.glob, rel):
		return true
	default:
		return (generous || p.covers) && doublestar.MatchUnvalidated(p.deep, rel)
	}
}

// matchParts is match for floating patterns, which are compared with each part of
// the path.
func (p *pattern) matchParts(rel string, generous bool) bool {
	for rel != "" {
		var part string
		part, rel, _ = strings.Cut(rel, "/")
		ok := false
		switch {
		case p.plain:
			ok = part == p.glob
		case p.suffix != "":
			ok = strings.HasSuffix(part, p.suffix)
		default:
			ok = doublestar.MatchUnvalidated(p.glob, part)
		}
		if ok && (rel == "" || generous || p.covers) {
			return true
		}
	}
	return false
}
