package policy

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
)

// permit looks for allow rules that together cover the whole call. No deny and no
// ask rule does.
func (j *judge) permit() Verdict {
	switch {
	case j.e.sealed != "":
		return Verdict{Reason: j.e.sealed}
	case j.unseen:
		return Verdict{Reason: "The input is too long to be looked at as a whole: a person decides."}
	}
	if !json.Valid(j.call.Input) && len(j.call.Input) > 0 {
		return Verdict{Reason: "The input isn't valid JSON: a person decides."}
	}
	outside := runsCommands(j.call.Tool) && j.unboxed()
	var wide *compiled // a rule about all calls of the tool, or about everything
	var narrow []*compiled
	j.each(Allow, func(c *compiled) bool {
		switch {
		case outside && c.rule.Text != everything:
		case c.kind != kindTool:
			if narrow == nil {
				narrow = make([]*compiled, 0, j.maxRules(Allow))
			}
			narrow = append(narrow, c)
		case wide == nil || c.rule.Text == everything:
			wide = c
		}
		return true
	})
	near := ""
	if wide != nil {
		if why := j.tooWide(wide); why == "" {
			return allowed(wide.rule, wide.rule.Text+" allows "+wide.scopeText(j.call.Tool)+".")
		} else if near == "" {
			near = why
		}
	}
	if len(narrow) > 0 {
		rule, reason, why := j.covered(narrow)
		if rule != nil {
			return allowed(rule, reason)
		}
		if near == "" {
			near = why
		}
	}
	switch {
	case near != "":
	case outside:
		near = "The command is to run outside of the CLI's sandbox, which no rule allows: a person decides."
	default:
		near = "No rule is about this call: a person decides what the CLI asks."
	}
	return Verdict{Reason: near}
}

// unboxed reports whether a command is to run without the sandbox that newer CLIs
// may put around commands.
func (j *judge) unboxed() bool {
	if _, ok := wire.Lookup(j.call.Input, "_simulatedSedEdit"); ok {
		return true // the CLI's own: it writes a file instead of running the command
	}
	raw, ok := wire.Lookup(j.call.Input, "dangerouslyDisableSandbox")
	return ok && string(raw) != "false" && string(raw) != "null"
}

func allowed(r *Rule, reason string) Verdict {
	return Verdict{Decision: Allow, Rule: r, Reason: reason, Enforced: EnforcedHub}
}

// scopeText names what a rule about all calls covers.
func (c *compiled) scopeText(tool string) string {
	if c.rule.Text == everything {
		return "everything in this session"
	}
	if c.spec.tool == ruleNetwork {
		return "every host"
	}
	return "every call of " + brief(tool)
}

// tooWide says why a rule about all calls of a tool does not allow this one; ""
// if it does.
func (j *judge) tooWide(c *compiled) string {
	switch tool := j.call.Tool; {
	case runsCommands(tool):
		if why := j.shellReaches(); why != "" {
			return why
		}
		s := j.script()
		if s == nil {
			return "The call has no command: a person decides."
		}
		if why := j.uncertain(s); why != "" {
			return why
		}
	case tool == "WebFetch", tool == ToolNetwork:
		if a := j.url(); (a == nil || a.doubt != "") && j.hasRules(kindDomain) {
			return "There are rules against some hosts, and nobody can tell whether this is one: a person decides."
		}
	case slices.Contains(readTools, tool), slices.Contains(editTools, tool):
		f := j.paths()
		for i := range f.list {
			at := &f.list[i]
			if at.recursive && j.e.aboveOwn(at) {
				return "Switchboard's own files are below " + describe(at) + ": a person decides."
			}
			if at.agents && j.hasPathRules() {
				return "Where " + describe(at) + " leads depends on who opens it: a person decides."
			}
			if c.rule.Text == everything || !f.write {
				continue
			}
			if part := guarded(j.dir(), at, nil); part != "" {
				return c.rule.Text + " does not cover " + part + ", which a rule has to name: a person decides."
			}
		}
	}
	return ""
}

// Why a command that cannot be read with certainty is not allowed.
const (
	commandsForbidden = "There are rules against some commands, and whether this is one cannot be known"
	filesForbidden    = "There are rules against some files, and whether the command opens them cannot be known"
)

// uncertain says why a rule that allows every command does not allow this one:
// rules forbid commands or files, and which ones this is about cannot be known.
func (j *judge) uncertain(s *script) string {
	if why := j.uncertainCommand(s); why != "" {
		return why
	}
	return j.uncertainFiles(s)
}

// uncertainCommand is uncertain as to rules that forbid commands.
func (j *judge) uncertainCommand(s *script) string {
	if known := s.certain(); j.hasRules(kindShell) {
		if why := firstOf(s.opaque(), known.program); why != "" {
			return because(commandsForbidden, why)
		}
		if about, text := j.handed(known); about != nil {
			return because(commandsForbidden, "what "+about.rule.Text+" is about is named in "+quoteShort(text)+", which a program gets that may run it")
		}
	}
	return ""
}

// uncertainFiles is uncertain as to rules that forbid files.
func (j *judge) uncertainFiles(s *script) string {
	if known := s.certain(); j.hasRules(kindPath) {
		if why := firstOf(s.opaque(), known.path); why != "" {
			return because(filesForbidden, why)
		}
		if about, at := j.mayWrite(); about != nil {
			return because(filesForbidden, about.rule.Text+" is about "+describe(at)+", which a program gets that may write there")
		}
		if about, at := j.walksInto(s); about != nil {
			return because(filesForbidden, "what "+about.rule.Text+" is about is below "+describe(at))
		}
	}
	return ""
}

// handed returns a rule about a command that is named in a text which a program
// gets and may run, and that text.
func (j *judge) handed(known *certainty) (about *compiled, text string) {
	for _, d := range []Decision{Deny, Ask} {
		j.each(d, func(c *compiled) bool {
			if c.kind == kindShell {
				if text = known.mentions(c.shell); text != "" {
					about = c
				}
			}
			return about == nil
		})
		if about != nil {
			break
		}
	}
	return about, text
}

// mayWrite returns a rule about changes to a file that a command names, and the
// file, where it is not known that the command only reads.
func (j *judge) mayWrite() (about *compiled, at *resolvedPath) {
	for _, d := range []Decision{Deny, Ask} {
		j.each(d, func(c *compiled) bool {
			if c.kind != kindPath || c.spec.tool != "Edit" {
				return true
			}
			for i := range j.shellFiles() {
				if p := &j.shellTargets[i]; p.maybe && j.touches(c, &p.resolvedPath) {
					about, at = c, &p.resolvedPath
					return false
				}
			}
			return true
		})
		if about != nil {
			break
		}
	}
	return about, at
}

// walksInto returns a rule about files below a folder that a command walks
// through, and the folder.
func (j *judge) walksInto(s *script) (about *compiled, at *resolvedPath) {
	for _, p := range s.walked() {
		tool := "Read"
		if p.write {
			tool = "Edit"
		}
		from := j.resolvePath(p.path, true)
		for _, d := range []Decision{Deny, Ask} {
			j.each(d, func(c *compiled) bool {
				if c.kind != kindPath || c.spec.tool != tool || c.path.floating || p.tree && insideGit(c.path) {
					return true
				}
				if j.mayFind(c.path, &from, "*") {
					about, at = c, &from
				}
				return about == nil
			})
			if about != nil {
				return about, at
			}
		}
	}
	return nil, nil
}

// insideGit reports whether a rule is about what git keeps for itself in the
// session's folder.
func insideGit(p *pattern) bool {
	return p.anchor == anchorDir && (p.glob == ".git" || strings.HasPrefix(p.glob, ".git/"))
}

// hasRules reports whether there are deny or ask rules of a kind about the tool.
func (j *judge) hasRules(k kind) bool { return j.hasRulesWith(Deny, k) || j.hasRulesWith(Ask, k) }

// hasRulesWith reports whether there are rules of a kind about the tool, with a
// decision.
func (j *judge) hasRulesWith(d Decision, k kind) (found bool) {
	j.each(d, func(c *compiled) bool {
		found = found || c.kind == k
		return !found
	})
	return found
}

// covered reports whether rules, each about some calls of the tool, together
// cover this one. It returns the first that is needed and the reason, or why not.
func (j *judge) covered(rules []*compiled) (rule *Rule, reason, why string) {
	switch rules[0].kind {
	case kindShell:
		return j.coveredCommand(rules)
	case kindPath:
		return j.coveredPaths(rules)
	case kindDomain:
		a := j.url()
		if a == nil {
			return nil, "", "The call has no address: a person decides."
		}
		for _, c := range rules {
			if a.doubt == "" && c.domain.match(a.hosts[0]) {
				return c.rule, c.rule.Text + " allows the host " + a.hosts[0] + ".", ""
			}
		}
		if a.doubt != "" {
			return nil, "", "The address " + a.doubt + ": a person decides."
		}
	case kindName:
		for _, c := range rules {
			if name, given := j.name(); given && c.name.match(name, false) {
				return c.rule, c.rule.Text + " allows " + brief(name) + ".", ""
			}
		}
	case kindTool:
	}
	return nil, "", ""
}

// coveredPaths is covered for tools that name files: a rule is needed for each.
func (j *judge) coveredPaths(rules []*compiled) (rule *Rule, reason, why string) {
	f := j.paths()
	if len(f.list) == 0 {
		return nil, "", "The call names no file: a person decides."
	}
	for i := range f.list {
		at := &f.list[i]
		r, not := j.coveredPath(rules, at, f.write)
		if r == nil {
			return nil, "", not
		}
		if rule == nil {
			rule, reason = r, r.Text+" allows "+describe(at)+"."
		}
	}
	return rule, reason, ""
}

// coveredPath looks for an allow rule that covers a path.
func (j *judge) coveredPath(rules []*compiled, at *resolvedPath, write bool) (rule *Rule, why string) {
	if at.recursive && j.e.aboveOwn(at) {
		return nil, "Switchboard's own files are below " + describe(at) + ": a person decides."
	}
	for _, c := range rules {
		if c.kind != kindPath {
			continue
		}
		if c.roots {
			if !write && j.inRoots(at) {
				return c.rule, ""
			}
			continue
		}
		ok, not := j.inside(c.path, at)
		if ok && write {
			if part := guarded(j.base(c.path.anchor), at, c.path.names); part != "" {
				ok, not = false, "is in "+part+", which the rule would have to name"
			}
		}
		if ok {
			return c.rule, ""
		}
		if not != "" && why == "" {
			why = c.rule.Text + " does not allow " + brief(at.given) + ", which " + not + ": a person decides."
		}
	}
	switch {
	case why != "":
	case at.literal == "":
		why = "The path " + at.doubt + ": a person decides."
	default:
		why = "No allow rule covers " + describe(at) + ": a person decides."
	}
	return nil, why
}

// inRoots reports whether a path is in the session's folder or one that was added
// to it, both as it is written and with its links followed.
func (j *judge) inRoots(at *resolvedPath) bool {
	if at.doubt != "" {
		return false
	}
	literal, real := false, false
	for _, root := range j.roots() {
		literal = literal || isBelow(root.literal, at.literal) || isBelow(root.real, at.literal)
		real = real || isBelow(root.real, at.real)
	}
	return literal && real
}

// coveredCommand is covered for shell commands.
func (j *judge) coveredCommand(rules []*compiled) (rule *Rule, reason, why string) {
	s := j.script()
	if s == nil {
		return nil, "", "The call has no command: a person decides."
	}
	list := make([]*shellRule, 0, len(rules))
	for _, c := range rules {
		list = append(list, c.shell)
	}
	which, ok, why := s.allowed(list, j.shellPath)
	if !ok {
		return nil, "", why
	}
	if not := j.shellReaches(); not != "" {
		return nil, "", not
	}
	if not := s.certain().lists; not != "" && j.hasRules(kindPath) {
		return nil, "", because(filesForbidden, not)
	}
	if len(which) == 0 {
		return nil, "", "The command runs nothing: a person decides."
	}
	rule = rules[which[0]].rule
	reason = rule.Text
	for i, n := range which[1:] {
		if i == len(which)-2 {
			reason += " and "
		} else {
			reason += ", "
		}
		reason += rules[n].rule.Text
	}
	if len(which) == 1 {
		return rule, reason + " allows every command of it.", ""
	}
	return rule, reason + " together allow every command of it.", ""
}

// shellPath reports whether a command may read or write a file, by the rules for
// files. It is what shell rules ask about redirections, and the set read-only
// about arguments.
func (j *judge) shellPath(name string, write bool) bool {
	at := j.resolvePath(name, true)
	// A command may go on to what is below.
	at.recursive = !write
	if at.doubt != "" || j.e.ownHit(&at) || j.e.aboveOwn(&at) {
		return false
	}
	if !write && j.inRoots(&at) {
		return true
	}
	tool := "Read"
	if write {
		tool = "Write"
	}
	as := judge{e: j.e, call: &Call{Tool: tool, Dir: j.call.Dir, AddDirs: j.call.AddDirs, Now: j.call.Now, Links: j.call.Links}, dirKnown: j.dirKnown, dirFound: j.dirFound}
	ok := false
	as.each(Allow, func(c *compiled) bool {
		switch {
		case c.rule.Text == everything:
			ok = true
		case c.kind == kindTool:
			ok = !write || guarded(as.dir(), &at, nil) == ""
		default:
			rule, _ := as.coveredPath([]*compiled{c}, &at, write)
			ok = rule != nil
		}
		return !ok
	})
	return ok
}
