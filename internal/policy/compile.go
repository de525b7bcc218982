package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A kind says how a compiled rule looks at a call.
type kind int

const (
	kindTool   kind = iota // every call of the tool
	kindPath               // Read(…) and Edit(…)
	kindShell              // Bash(…)
	kindDomain             // WebFetch(…) and Network(…)
	kindName               // Agent(…), Skill(…)
)

// A compiled rule is one that is ready to be compared with calls. It does not
// change.
type compiled struct {
	rule *Rule
	spec spec
	kind kind
	// One of these, by the kind.
	path   *pattern
	shell  *shellRule
	domain *domain
	name   *named
	// elsewhere and folded are further patterns of a deny or ask rule, or nil: for
	// where its folder really lies, and for paths in small letters.
	elsewhere, folded *pattern
	// folder is where the rule counts, if it does not everywhere.
	folder folder
	// roots says that the rule, of the set read-only, is about the session's
	// folder and those added to it, whatever its pattern.
	roots bool
}

// compileText reads the text of a rule, and says what is wrong with it.
func compileText(text string) (*compiled, error) {
	s, err := parseRule(text)
	if err != nil {
		return nil, err
	}
	c := &compiled{spec: s}
	if s.content == "" {
		return c, nil
	}
	switch s.tool {
	case "Bash":
		c.kind = kindShell
		c.shell, err = compileShell(s.content)
	case "Read", "Edit":
		c.kind = kindPath
		c.path, err = compilePath(s.content)
	case "WebFetch":
		c.kind = kindDomain
		c.domain, err = compileDomain(s.content)
	case ruleNetwork:
		c.kind = kindDomain
		c.domain, err = compileHost(s.content)
	case "Agent", "Task", "Skill":
		c.kind = kindName
		c.name, err = compileName(s.tool, s.content)
	default:
		return nil, noContent(s)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// noContent says how to write a rule for a tool that takes nothing in
// parentheses.
func noContent(s spec) error {
	switch {
	case slices.Contains(editTools, s.tool):
		return fmt.Errorf("write Edit(%s): it also covers Write, MultiEdit and NotebookEdit", quote(s.content))
	case slices.Contains(readTools, s.tool):
		return fmt.Errorf("write Read(%s): it also covers Grep, Glob, LS and NotebookRead", quote(s.content))
	case strings.HasPrefix(s.tool, "mcp__"):
		return fmt.Errorf("rules for MCP tools take nothing in parentheses: write %s", s.tool)
	case s.tool == ToolNetwork:
		return fmt.Errorf("write Network(host:example.com), or %s for all its calls", s.tool)
	default:
		return fmt.Errorf("only Bash, Read, Edit, WebFetch, Network, Agent, Task and Skill take something in parentheses: write %s for all its calls", s.tool)
	}
}

// checkDecision says what is wrong with a rule for what it decides.
func (c *compiled) checkDecision(d Decision) error {
	switch d {
	case Ask, Deny:
	case Allow:
		if c.shell != nil {
			if why := c.shell.neverAllows(); why != "" {
				return errors.New("it " + why)
			}
		}
	default:
		return fmt.Errorf("%q is no decision; write allow, ask or deny", d)
	}
	return nil
}

// counts reports whether a rule counts at a time.
func (c *compiled) counts(now time.Time) bool {
	switch {
	case c.rule.Expires.IsZero():
		return true
	case now.IsZero():
		return c.rule.Decision != Allow
	default:
		return now.Before(c.rule.Expires)
	}
}

// tools returns the names of the tools whose calls the rule may be about: keys of
// a table.
func (c *compiled) tools() []string {
	generous := c.rule.Decision != Allow
	switch s := c.spec; {
	case c.roots && c.kind == kindPath:
		return readTools
	case c.aboutHosts():
		return c.hostTools()
	case s.tool == "Agent" || s.tool == "Task":
		// The same tool, by its name of today and of before.
		return []string{"Agent", "Task"}
	case c.kind == kindPath && s.tool == "Read" && generous:
		return append([]string{"Bash"}, readTools...)
	case c.kind == kindPath && s.tool == "Read", s.tool == "Read" && generous:
		return readTools
	case c.kind == kindPath && generous:
		return append([]string{"Bash"}, editTools...)
	case c.kind == kindPath:
		// As in the CLI: what may be changed may be read.
		return append(slices.Clone(editTools), readTools...)
	case s.tool == "Edit" && generous:
		return editTools
	case strings.HasPrefix(s.tool, "mcp__"):
		return []string{strings.TrimSuffix(s.tool, "__*")}
	default:
		return []string{s.tool}
	}
}

// A bucket holds the rules that may be about the same tool.
type bucket struct {
	deny, ask, allow []*compiled
}

func (b *bucket) add(c *compiled) {
	switch c.rule.Decision {
	case Deny:
		b.deny = append(b.deny, c)
	case Ask:
		b.ask = append(b.ask, c)
	case Allow:
		b.allow = append(b.allow, c)
	}
}

// withDecision returns the rules with a decision.
func (b *bucket) withDecision(d Decision) []*compiled {
	switch d {
	case Deny:
		return b.deny
	case Ask:
		return b.ask
	default:
		return b.allow
	}
}

// A table holds rules by the tools that they may be about, so that a call is
// compared with no others.
type table struct {
	rules []Rule
	tools map[string]*bucket
	// every holds the rules about everything.
	every bucket
}

// newTable compiles rules. Their order is kept.
func newTable(rules []Rule, e *Engine) (*table, error) {
	t := &table{rules: slices.Clone(rules), tools: map[string]*bucket{}}
	for i := range t.rules {
		r := &t.rules[i]
		if r.Text == everything && (r.Scope == ScopeSession || r.Scope == ScopeDialed) {
			t.every.add(&compiled{rule: r})
			continue
		}
		c, err := compileText(r.Text)
		if err == nil {
			err = c.checkDecision(r.Decision)
		}
		if err != nil {
			return nil, &RuleError{Rule: *r, Err: err}
		}
		c.rule = r
		t.add(c, e)
	}
	return t, nil
}

// add puts a rule where the calls that it may be about find it.
func (t *table) add(c *compiled, e *Engine) {
	if c.rule.Folder != "" {
		c.folder = locate(c.rule.Folder, e.resolve)
	}
	if c.kind == kindPath && c.rule.Decision != Allow {
		base := e.home
		if c.path.anchor == anchorRoot {
			base = folder{"/", "/"}
		}
		c.elsewhere = c.path.elsewhere(base, e.resolve)
		if e.foldCase {
			c.folded = c.path.fold()
			if c.elsewhere != nil {
				c.elsewhere = c.elsewhere.fold()
			}
		}
	}
	for _, tool := range c.tools() {
		b := t.tools[tool]
		if b == nil {
			b = &bucket{}
			t.tools[tool] = b
		}
		b.add(c)
	}
}

// A RuleError says what is wrong with a rule.
type RuleError struct {
	Rule Rule
	Err  error
}

// Error names the rule and what is wrong with it.
func (e *RuleError) Error() string {
	where := ""
	if e.Rule.Source != "" {
		where = e.Rule.Source + ": "
	}
	return where + "the rule " + e.Rule.Text + ": " + e.Err.Error()
}

// Unwrap returns what is wrong.
func (e *RuleError) Unwrap() error { return e.Err }

// A named rule is about the name of an agent or of a skill.
type named struct {
	name   string
	prefix bool // Skill(plugin:*)
}

// compileName reads the content of Agent(…), Task(…) and Skill(…).
func compileName(tool, content string) (*named, error) {
	n := &named{name: content}
	if tool == "Skill" {
		n.name = strings.TrimPrefix(n.name, "/")
		n.name, n.prefix = strings.CutSuffix(n.name, ":*")
	}
	if n.name == "" || strings.ContainsAny(n.name, "*? ") {
		hint := tool + "(name)"
		if tool == "Skill" {
			hint += ", or Skill(plugin:*) for all skills of a plugin"
		}
		return nil, fmt.Errorf("%q is no name; write %s", content, hint)
	}
	return n, nil
}

// match compares the name in a call.
func (n *named) match(name string, generous bool) bool {
	switch {
	case name == n.name:
		return true
	case !n.prefix:
		return false
	case generous:
		return strings.HasPrefix(name, n.name)
	default:
		return strings.HasPrefix(name, n.name+":")
	}
}
