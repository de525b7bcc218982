package policy

import "encoding/json"

// boxed is why a command is allowed that no rule allows.
const boxed = "The strict sandbox limits what the command can change and reach, and sandbox_auto_allow is on."

// Boxed is [Engine.Decide] for a session that allows commands in a sandbox: one
// that hides what rules deny to read, and in which only the session's folders can
// be written. Where no rule decides about a command, it is allowed, unless
//
//   - it is to run outside of the CLI's own sandbox,
//   - rules deny or ask about some commands, and whether it is one of them cannot be
//     known: the operating system knows no commands,
//   - rules ask about some files, and whether it opens them cannot be known.
//
// The verdict then has no rule.
func (e *Engine) Boxed(c Call) Verdict {
	if e.elsewhere && c.Links == nil {
		c.Links = NewLinks(nil)
	}
	v := e.Decide(c)
	if v.Decision != "" || !runsCommands(c.Tool) {
		return v
	}
	j := judge{e: e, call: &c}
	s := j.script()
	if e.sealed != "" || s == nil || !json.Valid(c.Input) || j.unboxed() {
		return v
	}
	if why := j.uncertainCommand(s); why != "" {
		return Verdict{Reason: why}
	}
	if j.hasRulesWith(Ask, kindPath) {
		if why := firstOf(j.shellReaches(), j.uncertainFiles(s)); why != "" {
			return Verdict{Reason: why}
		}
	}
	return j.told(Verdict{Decision: Allow, Reason: boxed, Enforced: EnforcedHub})
}
