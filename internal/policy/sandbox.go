package policy

import (
	"slices"
	"strings"
	"time"
)

// A Sandbox is what the operating system is to hold of the rules for a session:
// those about files and hosts. Rules about tools and commands are not among them.
type Sandbox struct {
	// DenyRead and DenyWrite are patterns of paths in doublestar's syntax, without
	// alternatives in braces: absolute, or with ~/ in front for the home folder of
	// the user on the agent's machine. A pattern covers what it matches and
	// everything below that. What is denied to be read is not listed again for
	// writing. A bare deny Edit is the pattern / in DenyWrite.
	DenyRead, DenyWrite []string
	// DenyHosts, AskHosts and AllowHosts are names of hosts in small letters: one
	// name, or *.name for all below it. No host of AllowHosts is in another list,
	// and none that a rule asks about or denies can be reached by its pattern.
	DenyHosts, AskHosts, AllowHosts []string
	// DenyNetwork says that a rule denies every host, AskNetwork that one asks
	// about every host.
	DenyNetwork, AskNetwork bool
	// Notes are the deny rules about files and hosts that a sandbox does not hold
	// exactly as they are written.
	Notes []SandboxNote
}

// A SandboxNote says what a sandbox does otherwise than a rule says.
type SandboxNote struct {
	Rule Rule
	// Reason is a sentence for people.
	Reason string
}

// Sandbox returns what a sandbox is to hold of the rules that count for a session
// in a folder. Links are not followed: the session may run on another machine.
func (e *Engine) Sandbox(dir string, now time.Time) Sandbox {
	var s Sandbox
	j := judge{e: e, call: &Call{Dir: dir, Now: now}}
	for i := range e.own {
		for _, name := range e.own[i].both() {
			s.DenyRead = append(s.DenyRead, verbatim(name))
		}
	}
	var allow, ask []*domain
	for _, t := range []*table{e.base, e.session} {
		if t == nil {
			continue
		}
		for i := range t.rules {
			r := &t.rules[i]
			if r.Text == everything || r.Expired(now) {
				continue
			}
			c, err := compileText(r.Text)
			if err != nil {
				continue // New has refused it
			}
			c.rule, c.folder = r, e.locateFolder(r.Folder)
			if !j.inFolder(c) {
				continue
			}
			switch r.Decision {
			case Deny:
				s.deny(&j, c)
			case Ask:
				s.AskNetwork = s.AskNetwork || c.everyHost()
				if c.kind == kindDomain && !c.domain.any {
					ask = append(ask, c.domain)
				}
			case Allow:
				// Until it expires such a rule answers questions; a list
				// would allow the host for the whole run.
				if c.kind == kindDomain && !c.domain.any && r.Expires.IsZero() && e.sealed == "" {
					allow = append(allow, c.domain)
				}
			}
		}
	}
	s.addHosts(allow, ask)
	s.DenyRead = unique(s.DenyRead)
	s.DenyWrite = slices.DeleteFunc(unique(s.DenyWrite), func(p string) bool { return slices.Contains(s.DenyRead, p) })
	s.DenyHosts, s.AskHosts, s.AllowHosts = unique(s.DenyHosts), unique(s.AskHosts), unique(s.AllowHosts)
	return s
}

// deny adds a deny rule.
func (s *Sandbox) deny(j *judge, c *compiled) {
	note := func(reason string) { s.Notes = append(s.Notes, SandboxNote{*c.rule, reason}) }
	expires := func() {
		if !c.rule.Expires.IsZero() {
			note("The rule expires, and the sandbox holds it until the run ends.")
		}
	}
	switch {
	case c.kind == kindTool && c.spec.tool == "Edit":
		s.DenyWrite = append(s.DenyWrite, "/")
		expires()
	case c.kind == kindTool && c.spec.tool == "Read":
		note("The sandbox cannot hide all files: programs have to be read. Claude Code's own tools are denied.")
	case c.everyHost():
		s.DenyNetwork = true
		expires()
	case c.kind == kindDomain:
		s.DenyHosts = append(s.DenyHosts, c.domain.String())
		expires()
	case c.kind == kindPath:
		p, ok := j.sandboxPattern(c.path)
		if !ok {
			note("The folder that the rule is about is not known to the sandbox.")
			return
		}
		if c.spec.tool == "Read" {
			s.DenyRead = append(s.DenyRead, p)
		} else {
			s.DenyWrite = append(s.DenyWrite, p)
		}
		expires()
	}
}

// everyHost reports whether a rule is about all hosts. A bare WebFetch is not: it
// is about that tool.
func (c *compiled) everyHost() bool {
	return c.kind == kindTool && c.spec.tool == "Network" || c.kind == kindDomain && c.domain.any
}

// addHosts adds the hosts that rules ask about, and those that they allow and
// nothing else is said about. An allowed *.name that covers a host which is asked
// about is left out: a question is then asked, and the rules answer it.
func (s *Sandbox) addHosts(allow, ask []*domain) {
	for _, d := range ask {
		s.AskHosts = append(s.AskHosts, d.String())
	}
	if s.DenyNetwork || s.AskNetwork {
		return
	}
	for _, d := range allow {
		name := d.String()
		if slices.Contains(s.DenyHosts, name) || slices.ContainsFunc(ask, d.overlaps) {
			continue
		}
		s.AllowHosts = append(s.AllowHosts, name)
	}
}

// String returns the domain as it stands in a rule.
func (d *domain) String() string {
	switch {
	case d.any:
		return "*"
	case d.below:
		return "*." + d.host
	default:
		return d.host
	}
}

// overlaps reports whether there is a host that both cover.
func (d *domain) overlaps(other *domain) bool {
	switch {
	case d.any || other.any || d.host == other.host && d.below == other.below:
		return true
	case d.below && other.below:
		return d.match(other.host) || other.match(d.host)
	default:
		return d.below && d.match(other.host) || other.below && other.match(d.host)
	}
}

// sandboxPattern returns an absolute pattern for the path of a deny rule, or one
// with ~/ in front.
func (j *judge) sandboxPattern(p *pattern) (string, bool) {
	var base string
	switch p.anchor {
	case anchorHome:
		base = "~"
	case anchorRoot:
	default:
		dir := j.dir().literal
		if dir == "" {
			return "", false
		}
		base = strings.TrimSuffix(verbatim(dir), "/")
	}
	if p.glob == "" {
		if base == "" {
			return "/", true
		}
		return base, true
	}
	if p.floating {
		base += "/**"
	}
	if p.plain {
		return base + "/" + verbatim(p.glob), true
	}
	return base + "/" + p.glob, true
}

// verbatim returns the pattern of a sandbox that matches just the text.
func verbatim(text string) string { return literalBraces(escapeGlob(text)) }
