package permit

import (
	"path/filepath"
	"regexp"
	"strings"
)

// parseRule reads a rule in the form of settings files: a tool, or a tool with
// what its calls must match in brackets.
func parseRule(text string) (tool, content string) {
	text = strings.TrimSpace(text)
	open := strings.IndexByte(text, '(')
	if open <= 0 || !strings.HasSuffix(text, ")") {
		return text, ""
	}
	content = text[open+1 : len(text)-1]
	if content == "*" {
		content = ""
	}
	return strings.TrimSpace(text[:open]), content
}

// String returns the rule in the form of settings files.
func (r Rule) String() string {
	if r.Content == "" {
		return r.Tool
	}
	return r.Tool + "(" + r.Content + ")"
}

// splitRules parts a list of rules at commas and spaces outside of brackets.
func splitRules(list string) []string {
	var rules []string
	depth, start := 0, 0
	cut := func(end int) {
		if rule := strings.TrimSpace(list[start:end]); rule != "" {
			rules = append(rules, rule)
		}
		start = end + 1
	}
	for i := range len(list) {
		switch c := list[i]; {
		case c == '(':
			depth++
		case c == ')' && depth > 0:
			depth--
		case (c == ',' || c == ' ') && depth == 0:
			cut(i)
		}
	}
	cut(len(list))
	return rules
}

// whole returns the first rule of a behaviour that takes in every call of a
// tool. A rule for an MCP server takes in all its tools.
func (g *Gate) whole(behavior, tool string) *Rule {
	return g.first(behavior, func(r Rule) bool {
		if r.Content != "" {
			return false
		}
		server := strings.TrimSuffix(r.Tool, "__*")
		return r.Tool == tool ||
			strings.HasPrefix(r.Tool, "mcp__") && strings.Count(server, "__") == 1 && strings.HasPrefix(tool, server+"__")
	})
}

// first returns a copy of the first rule of a behaviour that matches.
func (g *Gate) first(behavior string, match func(Rule) bool) *Rule {
	for _, r := range g.rules {
		if r.Behavior == behavior && match(r) {
			return &r
		}
	}
	return nil
}

// bashRule returns the first rule of a behaviour that one of the forms of a
// command matches.
func (g *Gate) bashRule(behavior string, forms ...string) *Rule {
	return g.first(behavior, func(r Rule) bool {
		if r.Tool != "Bash" || r.Content == "" {
			return false
		}
		for _, form := range forms {
			if g.matchCommand(r.Content, form) {
				return true
			}
		}
		return false
	})
}

// matchCommand matches a command with a rule: "npm test" is that very command,
// "npm run:*" one that begins with those words, and a star stands for anything.
func (g *Gate) matchCommand(rule, command string) bool {
	if prefix, ok := strings.CutSuffix(rule, ":*"); ok {
		return command == prefix || strings.HasPrefix(command, prefix+" ")
	}
	if !strings.Contains(rule, "*") {
		return command == rule
	}
	// Only 2.1.37 wants something in the place of the last star.
	if bare, ok := strings.CutSuffix(rule, " *"); ok && g.is120() && command == bare {
		return true
	}
	parts := strings.Split(rule, "*")
	rest, ok := strings.CutPrefix(command, parts[0])
	if !ok {
		return false
	}
	last := len(parts) - 1
	for _, part := range parts[1:last] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	return strings.HasSuffix(rest, parts[last])
}

// pathRule returns the first rule of a behaviour for one of the tools whose
// pattern a path matches. Rules without a pattern are not looked at.
func (g *Gate) pathRule(behavior, path string, tools ...string) *Rule {
	return g.first(behavior, func(r Rule) bool {
		for _, tool := range tools {
			if r.Tool == tool && r.Content != "" && g.matchPath(r, path) {
				return true
			}
		}
		return false
	})
}

// matchPath matches an absolute path with the pattern of a rule, in the manner
// of ignore files: "//x" is absolute, "/x" is below where the rule's settings
// are, "~/x" in the home folder, the rest below the working folder; a name
// without a slash is looked for at any depth.
func (g *Gate) matchPath(r Rule, path string) bool {
	pattern := r.Content
	root := g.dir
	deep := false
	switch {
	case strings.HasPrefix(pattern, "//"):
		root, pattern = "/", pattern[2:]
		if g.is325() {
			pattern = strings.TrimLeft(pattern, "/")
		}
	case strings.HasPrefix(pattern, "~/"):
		root, pattern = g.home, pattern[2:]
	case strings.HasPrefix(pattern, "/"):
		pattern = pattern[1:]
		switch r.Source {
		case FlagSettings: // it was not found out what these are below; not the working folder
			return false
		case UserSettings:
			root = filepath.Join(g.home, ".claude")
		}
	case strings.HasPrefix(pattern, "./"):
		pattern = pattern[2:]
	default:
		deep = !g.is325() || !strings.Contains(strings.TrimSuffix(pattern, "/"), "/")
	}
	relative, err := filepath.Rel(root, path)
	if root == "" || err != nil || relative == ".." || strings.HasPrefix(relative, "../") {
		return false
	}
	compiled, err := regexp.Compile(globPattern(pattern, deep))
	return err == nil && compiled.MatchString(relative)
}

// globPattern turns a pattern of an ignore file into a regular expression. What
// is below a match matches too, so that "x/**" and "x" are the same.
func globPattern(glob string, deep bool) string {
	var b strings.Builder
	b.WriteString(`^`)
	if deep {
		b.WriteString(`(?:.*/)?`)
	}
	glob = strings.TrimSuffix(strings.TrimSuffix(glob, "/"), "/**")
	for glob != "" {
		switch {
		case strings.HasPrefix(glob, "**/"):
			b.WriteString(`(?:.*/)?`)
			glob = glob[3:]
		case strings.HasPrefix(glob, "**"):
			b.WriteString(`.*`)
			glob = glob[2:]
		case glob[0] == '*':
			b.WriteString(`[^/]*`)
			glob = glob[1:]
		case glob[0] == '?':
			b.WriteString(`[^/]`)
			glob = glob[1:]
		default:
			end := strings.IndexAny(glob, "*?")
			if end < 0 {
				end = len(glob)
			}
			b.WriteString(regexp.QuoteMeta(glob[:end]))
			glob = glob[end:]
		}
	}
	b.WriteString(`(?:/.*)?$`)
	return b.String()
}

// resolve returns the absolute form of a path as a tool or a shell gives it.
func (g *Gate) resolve(path string) string {
	switch {
	case path == "~" && g.home != "":
		return filepath.Clean(g.home)
	case strings.HasPrefix(path, "~/") && g.home != "":
		return filepath.Join(g.home, path[2:])
	case filepath.IsAbs(path):
		return filepath.Clean(path)
	}
	return filepath.Join(g.dir, path)
}

// inside says whether an absolute path is in one of the working folders.
func (g *Gate) inside(path string) bool {
	for _, dir := range g.dirs() {
		if path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/") {
			return true
		}
	}
	return false
}
