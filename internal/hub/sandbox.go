package hub

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/policy"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/internal/sandbox"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// maxLimits is how many sentences there are about what a sandbox does not hold.
const maxLimits = 40

// enforcerNone is the enforcer of a sandbox that holds nothing back.
const enforcerNone = "none"

// A sandboxProjection is what the log says of the sandbox of a run.
type sandboxProjection struct {
	// Sandbox is what the run was started in; nil if that is not known, and for
	// processes that the hub did not start.
	Sandbox *api.Sandbox `json:"sandbox,omitempty"`
	// Hosts are those that it has lists of.
	Hosts record.Hosts `json:"hosts,omitzero"`
	// Calls are the tool calls that are going on, as long as the sandbox may refuse
	// something.
	Calls fold.Calls `json:"calls,omitzero"`
	// Refusals counts the entries about what it has refused.
	Refusals int `json:"refusals,omitempty"`
}

// confined reports whether connections of the run's processes can be refused.
func (p *sandboxProjection) confined() bool {
	return p.Sandbox != nil && p.Sandbox.Enforcer != enforcerNone && p.Sandbox.Network != "" && p.Sandbox.Network != string(sandbox.NetworkAll)
}

// autoAllows reports whether commands of the run are allowed without a question: only
// in a strict sandbox that is really there.
func (p *sandboxProjection) autoAllows() bool {
	s := p.Sandbox
	return s != nil && s.AutoAllow && s.Mode == string(sandbox.Strict) && s.Enforcer != enforcerNone && s.Enforcer != ""
}

// sandboxName says in a word what holds the run back, for lists.
func (p *sandboxProjection) sandboxName() string {
	switch {
	case p.Sandbox == nil:
		return ""
	case p.Sandbox.Enforcer == enforcerNone && p.Sandbox.Mode != string(sandbox.Off):
		return enforcerNone
	default:
		return p.Sandbox.Mode
	}
}

// mode returns the mode of sessions that choose none.
func (d *SandboxDefaults) mode() sandbox.Mode { return cmp.Or(d.Mode, sandbox.Auto) }

// modeOf returns the mode of a session's next run.
func (d *SandboxDefaults) modeOf(o *api.SessionOptions) sandbox.Mode {
	return cmp.Or(sandbox.Mode(o.Sandbox), d.mode())
}

// autoAllows reports whether a session's next run is to allow commands.
func (d *SandboxDefaults) autoAllows(o *api.SessionOptions) bool {
	return d.modeOf(o) == sandbox.Strict && (o.SandboxAutoAllow || d.AutoAllow)
}

// strength orders the modes by what they hold back.
func strength(m sandbox.Mode) int {
	switch m {
	case sandbox.Strict:
		return 3
	case sandbox.DenyOnly:
		return 2
	case sandbox.Auto:
		return 1
	default:
		return 0
	}
}

// checkSandbox says what is wrong with the sandbox in a session's options. before are
// the options of the run before, nil for a new session. To hold back less than the hub
// does by default, or than the session did before, needs the scope admin, and so does
// to allow commands without a question.
func (d *SandboxDefaults) checkSandbox(by Actor, o, before *api.SessionOptions) error {
	invalid := func(format string, args ...any) error {
		return api.Errorf(http.StatusUnprocessableEntity, api.CodeInvalid, format, args...)
	}
	switch sandbox.Mode(o.Sandbox) {
	case "", sandbox.Off, sandbox.DenyOnly, sandbox.Strict:
	default:
		return invalid("sandbox: expected off, deny-only or strict, got %.40q", o.Sandbox)
	}
	mode := d.modeOf(o)
	if o.SandboxAutoAllow && mode != sandbox.Strict {
		return invalid("sandbox_auto_allow needs the sandbox strict, not %s: only there does the operating system hold commands back", mode)
	}
	if by.Admin {
		return nil
	}
	least := d.mode()
	if before != nil && strength(d.modeOf(before)) > strength(least) {
		least = d.modeOf(before)
	}
	if strength(mode) < strength(least) {
		return api.Errorf(http.StatusForbidden, api.CodeForbidden, "the sandbox %s holds back less than %s, which needs the scope admin", mode, least)
	}
	if had := d.AutoAllow || before != nil && before.SandboxAutoAllow; o.SandboxAutoAllow && !had {
		return api.Errorf(http.StatusForbidden, api.CodeForbidden, "sandbox_auto_allow allows commands without asking, which needs the scope admin")
	}
	return nil
}

// sandboxPolicy returns what the rules and options ask of the sandbox of a run that
// begins now with these options.
func (st *step) sandboxPolicy(o api.SessionOptions) sandbox.Policy {
	return st.s.hub.options.Sandbox.Policy(st.s.engine(), st.s.projection.dir(), &o, st.now)
}

// allowed returns the hosts that are reached without a question, although no rule says
// so: not those that a rule asks about.
func (d *SandboxDefaults) allowed(rules *policy.Sandbox) (list []string) {
	if rules.AskNetwork {
		return nil
	}
	for _, host := range d.AllowHosts {
		if !slices.ContainsFunc(rules.AskHosts, func(asked string) bool { return overlap(host, asked) }) {
			list = append(list, host)
		}
	}
	return list
}

// overlap reports whether there may be a host that both patterns cover.
func overlap(a, b string) bool {
	a, b = strings.ToLower(strings.TrimPrefix(a, "*")), strings.ToLower(strings.TrimPrefix(b, "*"))
	return strings.HasSuffix(a, b) || strings.HasSuffix(b, a)
}

// warnHosts tells of hosts that rules deny since the run was started, and that its sandbox
// does not ask about: its lists are those of its start.
func (st *step) warnHosts() {
	s, p := st.s, st.s.projection
	if p.Ended != nil || p.Sandbox == nil || p.Sandbox.Enforcer == enforcerNone || p.Sandbox.Network == string(sandbox.NetworkNone) || p.Sandbox.Mode == string(sandbox.Off) {
		return
	}
	rules := s.engine().Sandbox(p.dir(), st.now)
	denied := rules.DenyHosts
	if rules.DenyNetwork {
		denied = []string{"*"}
	}
	var late []string
	for _, host := range denied {
		asked := p.Sandbox.Mode == string(sandbox.Strict) && !slices.ContainsFunc(p.Hosts.Allow, func(a string) bool { return overlap(a, host) })
		if !asked && !slices.Contains(p.Hosts.Deny, host) {
			late = append(late, host)
		}
	}
	if len(late) == 0 || slices.Equal(late, s.sandbox.late) {
		return
	}
	s.sandbox.late = late
	st.fromNextStart("the rules deny " + record.CutLine(strings.Join(late, ", "), maxRefusedHost) + "; the sandbox of the agent holds that from its next start on")
}

// launchedIn returns what a run was started in, as it is recorded.
func (st *step) launchedIn(v api.Sandbox) *api.Sandbox {
	if v.Mode == "" { // a launcher that knows of none
		return nil
	}
	v.AutoAllow = st.s.hub.options.Sandbox.autoAllows(&st.s.projection.Options) && v.Mode == string(sandbox.Strict) && v.Enforcer != enforcerNone
	if v.Enforcer != enforcerNone {
		for _, note := range st.s.engine().Sandbox(st.s.projection.dir(), st.now).Notes {
			if len(v.Limits) >= maxLimits {
				break
			}
			v.Limits = append(v.Limits, note.Rule.Text+": "+note.Reason)
		}
	}
	return &v
}

// judge has rules decide about a call that the CLI asks about: in a strict sandbox,
// commands may be allowed.
func (p *projection) judge(e *policy.Engine, c policy.Call) policy.Verdict {
	if p.boxes() {
		return e.Boxed(c)
	}
	return e.Decide(c)
}

// boxes reports whether commands are allowed at present that no rule is about. In plan
// mode nothing is to be changed that a person has not seen.
func (p *projection) boxes() bool {
	return p.autoAllows() && p.State.Mode != wire.PermissionModePlan
}

// asksItself reports whether a question about a host is one of the CLI's own sandbox
// that the strict one around it asks again: only the second has to be answered.
func (p *projection) asksItself(requestID, tool string) bool {
	return tool == wire.ToolSandboxNetwork && !wire.IsSandboxRequest(requestID) && p.confined() && p.Sandbox.Mode == string(sandbox.Strict)
}

// countSandbox notes what holds the running process back, for the metrics.
func (s *session) countSandbox() {
	name := s.projection.sandboxName()
	if s.projection.Ended != nil {
		name = ""
	}
	if old := s.boxed.Load(); old == nil || *old != name {
		s.boxed.Store(&name)
	}
}
