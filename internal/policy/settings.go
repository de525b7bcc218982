package policy

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// Settings returns the deny and ask rules that count for a session in a folder,
// in words that every version of the CLI reads alike: paths are absolute, and
// where a rule means several tools each of them is named. Rules that expire are
// not among them, for the CLI does not forget a rule.
func (e *Engine) Settings(dir string, now time.Time) Settings {
	var s Settings
	j := judge{e: e, call: &Call{Dir: dir, Now: now}}
	for i := range e.own {
		for _, name := range e.own[i].both() {
			for _, tool := range [...]string{"Read", "Edit"} {
				s.Deny = append(s.Deny, spec{tool, "/" + vague(name) + "/**"}.String())
			}
		}
	}
	for _, t := range []*table{e.base, e.session} {
		if t == nil {
			continue
		}
		for i := range t.rules {
			r := &t.rules[i]
			if r.Decision == Allow || r.Expired(now) {
				continue
			}
			c := &compiled{rule: r}
			if r.Text != everything {
				parsed, err := compileText(r.Text)
				if err != nil {
					continue // New has refused it
				}
				c = parsed
				c.rule, c.folder = r, e.locateFolder(r.Folder)
			}
			if !j.inFolder(c) {
				continue
			}
			texts := j.cliRules(c)
			switch {
			case len(texts) == 0 || !r.Expires.IsZero() || slices.ContainsFunc(texts, func(text string) bool { return !acceptable(text) }):
				s.HubOnly = append(s.HubOnly, *r)
			case r.Decision == Deny:
				s.Deny = append(s.Deny, texts...)
			default:
				s.Ask = append(s.Ask, texts...)
			}
		}
	}
	s.Deny, s.Ask = unique(s.Deny), unique(s.Ask)
	return s
}

// unique removes what is there twice, and keeps the order.
func unique(list []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, text := range list {
		if !seen[text] {
			seen[text] = true
			out = append(out, text)
		}
	}
	return out
}

// both returns the folder as it is written and, if that differs, where it is.
func (f folder) both() []string {
	if f.real == "" || f.real == f.literal {
		return []string{f.literal}
	}
	return []string{f.literal, f.real}
}

// hasCLIForm reports whether the CLI can be given the rule.
func (c *compiled) hasCLIForm() bool {
	switch c.kind {
	case kindTool:
		return c.rule.Text != everything && !hubsOwn(c.spec.tool)
	case kindPath:
		return c.path.glob == "" || placeable(c.path.source)
	case kindShell:
		return acceptable(c.spec.String())
	case kindDomain:
		return !c.domain.any && !c.domain.below && !hubsOwn(c.spec.tool)
	case kindName:
		return !c.name.prefix
	default:
		return false
	}
}

// placed is where the CLI wants wildcards to stand in a path.
var placed = regexp.MustCompile(`\*\*|/\*|\*\.|\*$|^\*`)

func placeable(source string) bool {
	return !strings.Contains(source, "*") || placed.MatchString(source)
}

// acceptable reports whether every version of the CLI takes a rule's text.
// 2.1.37 drops all of its settings, without a word, if there is one text among
// them that it does not like: this is what it wants.
func acceptable(text string) bool {
	if text == "" || strings.TrimSpace(text) != text || strings.Contains(text, "()") || len(unescaped(text, '(')) != len(unescaped(text, ')')) {
		return false
	}
	s, err := parseRule(text)
	if err != nil {
		return false
	}
	switch s.tool {
	case "Bash":
		return !strings.Contains(s.content, ":*") || strings.HasSuffix(s.content, ":*")
	case "Read", "Edit":
		return !strings.Contains(s.content, ":*") && placeable(s.content)
	default:
		return true
	}
}

// cliRules returns a deny or ask rule in the CLI's language; nothing if it has no
// words for it.
func (j *judge) cliRules(c *compiled) []string {
	if !c.hasCLIForm() {
		return nil
	}
	s := c.spec
	switch c.kind {
	case kindTool:
		switch {
		case strings.HasPrefix(s.tool, "mcp__"):
			return []string{strings.TrimSuffix(s.tool, "__*")}
		case s.tool == "Edit":
			return editTools
		case s.tool == "Read":
			return readTools
		case s.tool == "Agent" || s.tool == "Task":
			return []string{"Agent", "Task"}
		}
		return []string{s.tool}
	case kindPath:
		var list []string
		for _, base := range j.base(c.path.anchor).both() {
			list = append(list, sayPath(s.tool, base, c.path)...)
		}
		return list
	case kindName:
		if s.tool == "Skill" {
			return []string{spec{s.tool, c.name.name}.String()}
		}
		return []string{spec{"Agent", s.content}.String(), spec{"Task", s.content}.String()}
	case kindDomain:
		return []string{spec{s.tool, "domain:" + c.domain.host}.String()}
	case kindShell:
		return []string{s.String()}
	}
	return nil
}

// sayPath writes a path rule with an absolute path.
func sayPath(tool, base string, p *pattern) []string {
	if base == "" {
		return nil
	}
	begin := "/" + vague(base)
	if base == "/" {
		begin = "/"
	}
	if p.glob == "" {
		return []string{spec{tool, begin + "/**"}.String()}
	}
	begin += "/"
	if p.floating {
		begin += "**/"
	}
	// Some versions take the first for the folder alone, others the second for
	// what is in it alone.
	return []string{spec{tool, begin + p.source}.String(), spec{tool, begin + p.source + "/**"}.String()}
}

// vague writes a path as a pattern. What has a meaning in patterns or in rules
// becomes a ? instead of being escaped, since versions differ in how they read
// escapes: the rule may deny a little more.
func vague(name string) string {
	return strings.Map(func(r rune) rune {
		if slices.Contains([]rune(`\*?[](){}!#`), r) || unfit(r) {
			return '?'
		}
		return r
	}, name)
}
