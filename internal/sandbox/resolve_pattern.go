package sandbox

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// maxPattern bounds the length of a pattern, and maxPatterns their number.
const (
	maxPattern  = 8192
	maxPatterns = 10000
)

// A pathPattern is a pattern of a [Policy], taken apart. It covers what it matches
// and everything below that.
type pathPattern struct {
	// text is the pattern as the policy has it.
	text string
	// write says that what is covered cannot be written; otherwise it is hidden.
	write bool
	// parts are the pattern between its slashes, without ** at the end. If there
	// are none, the root is meant.
	parts []patternPart
}

// A patternPart matches one name of a path; an any part matches any number of them.
type patternPart struct {
	any bool
	// name is the name, if literal, or else a pattern for it.
	name    string
	literal bool
}

// compilePattern takes a pattern apart. home stands for ~.
func compilePattern(text, home string, write bool) (*pathPattern, error) {
	p := &pathPattern{text: text, write: write}
	rest, ok := strings.CutPrefix(text, "/")
	switch {
	case len(text) > maxPattern:
		return nil, fmt.Errorf("a pattern for paths is longer than %d bytes", maxPattern)
	case strings.IndexByte(text, 0) >= 0:
		return nil, fmt.Errorf("the pattern %q has a NUL byte in it", text)
	case text == "~" || strings.HasPrefix(text, "~/"):
		if !path.IsAbs(home) {
			return nil, fmt.Errorf("the pattern %s is about the home folder, which is not known", text)
		}
		for name := range strings.SplitSeq(path.Clean(home), "/") {
			if name != "" {
				p.parts = append(p.parts, patternPart{name: name, literal: true})
			}
		}
		rest = strings.TrimPrefix(strings.TrimPrefix(text, "~"), "/")
	case !ok:
		return nil, fmt.Errorf("the pattern %q is not absolute", text)
	}
	if rest != "" {
		for part := range strings.SplitSeq(strings.TrimSuffix(rest, "/"), "/") {
			compiled, err := compilePart(part)
			if err != nil {
				return nil, fmt.Errorf("the pattern %q: %w", text, err)
			}
			p.parts = append(p.parts, compiled)
		}
	}
	for len(p.parts) > 0 && p.parts[len(p.parts)-1].any {
		p.parts = p.parts[:len(p.parts)-1]
	}
	return p, nil
}

func compilePart(part string) (patternPart, error) {
	switch {
	case part == "" || part == "." || part == "..":
		return patternPart{}, errors.New("it is not clean")
	case part == "**":
		return patternPart{any: true}, nil
	}
	wild := false
	// glob has each run of stars as one: doublestar reads more of them in
	// other ways at the end of a text.
	var name, glob strings.Builder
	for i := 0; i < len(part); i++ {
		switch part[i] {
		case '\\':
			glob.WriteByte('\\')
			if i++; i == len(part) {
				return patternPart{}, errors.New("it ends with a backslash before a slash or its end")
			}
		case '*':
			wild = true
			for i+1 < len(part) && part[i+1] == '*' {
				i++
			}
		case '?', '[':
			wild = true
		case '{', '}':
			return patternPart{}, errors.New("it has alternatives in braces, which are not supported")
		}
		name.WriteByte(part[i])
		glob.WriteByte(part[i])
	}
	if !wild {
		return patternPart{name: name.String(), literal: true}, nil
	}
	if !doublestar.ValidatePattern(part) {
		return patternPart{}, errors.New("it is not complete")
	}
	return patternPart{name: glob.String()}, nil
}

// match compares one name. fold says that the case does not count.
func (p *patternPart) match(name string, fold bool) bool {
	switch {
	case p.any:
		return true
	case p.literal:
		return p.name == name || fold && strings.EqualFold(p.name, name)
	default:
		return doublestar.MatchUnvalidated(p.name, name) ||
			fold && doublestar.MatchUnvalidated(strings.ToLower(p.name), strings.ToLower(name))
	}
}

// prefix returns the path that everything which the pattern covers is below, as far
// as that is certain, and whether that is all of the pattern.
func (p *pathPattern) prefix() (name string, whole bool) {
	name = "/"
	for i := range p.parts {
		if !p.parts[i].literal {
			return name, false
		}
		name = path.Join(name, p.parts[i].name)
	}
	return name, true
}

// deep reports whether the pattern has a ** in it.
func (p *pathPattern) deep() bool {
	return slices.ContainsFunc(p.parts, func(part patternPart) bool { return part.any })
}

// escapePattern returns the pattern that matches just the text.
func escapePattern(text string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `{`, `\{`, `}`, `\}`).Replace(text)
}

// isBelow reports whether a path is a folder or below it. Both are absolute and
// clean.
func isBelow(folder, name string) bool {
	return folder == "/" || name == folder || len(name) > len(folder) && name[len(folder)] == '/' && strings.HasPrefix(name, folder)
}

// belowAny reports whether a path is one of several folders, or below one.
func belowAny(folders []string, name string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return isBelow(folder, name) })
}

// sortedKeys returns the keys of a map in order. A folder comes before what is in
// it.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
