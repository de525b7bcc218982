package transcript

import (
	"fmt"
	"net"

	"github.com/switchboard-dev/switchboard/api"
)

// sandboxOff is the mode in which nothing is held back.
const sandboxOff = "off"

// Unenforced reports whether a sandbox was wanted, and nothing enforces it.
func Unenforced(s *api.Sandbox) bool {
	return s != nil && s.Enforcer == "none" && s.Mode != "" && s.Mode != sandboxOff
}

// SandboxName says in two words what holds a run back; nothing if it is off, or if that is not known.
func SandboxName(s *api.Sandbox) string {
	switch {
	case s == nil || s.Mode == "" || s.Mode == sandboxOff:
		return ""
	case Unenforced(s):
		return "NO SANDBOX"
	default:
		return "sandbox " + oneLine(s.Mode)
	}
}

// sandbox reads what a run was started in. That nothing enforces what was wanted is told as loudly as an item can.
func (r *reader) sandbox(s *api.Sandbox) {
	if s == nil {
		return // the hub was restarted, and found the run
	}
	r.facts.learn(factSandbox).Sandbox = s
	if Unenforced(s) {
		r.state(LevelBad, "sandbox", "NOT ENFORCED: "+later("no sandbox works on the agent's machine", Short(s.Reason))+
			". Rules still decide what is asked, but nothing holds a running program back.")
	}
}

// refusal reads what the sandbox has refused.
func (r *reader) refusal(d *api.SandboxRefusal) {
	r.item(entry{shows: true, Item: Item{Kind: KindRefusal, Level: LevelWarn, Refusal: d, Text: RefusalText(d)}})
}

// RefusalText says in a line what was refused, to which program, and why.
func RefusalText(d *api.SandboxRefusal) string { return "sandbox refused " + RefusalAbout(d) }

// RefusalAbout is RefusalText without saying by what it was refused.
func RefusalAbout(d *api.SandboxRefusal) string {
	switch text := RefusalSubject(d); {
	case d.Rule != nil && d.Rule.Rule != "":
		return text + ": denied by the rule " + RuleName(d.Rule)
	case d.Reason != "":
		return text + ": " + oneLine(d.Reason)
	default:
		return text
	}
}

// RefusalSubject says what was refused, to which program and how often.
func RefusalSubject(d *api.SandboxRefusal) string {
	text := refused(d)
	if command := oneLine(d.Command); command != "" {
		text += " (" + command + ")"
	}
	if d.Count > 1 {
		text += fmt.Sprintf(", %d times", d.Count)
	}
	return text
}

// refused says what was refused: a connection to an address, or access to a path.
func refused(d *api.SandboxRefusal) string {
	switch {
	case d.Host != "":
		return "a connection to " + address(d.Host, d.Port)
	case d.Path != "":
		return "access to " + oneLine(d.Path)
	default:
		return later("something", oneLine(d.Kind))
	}
}

// address returns a host with its port, if that is known.
func address(host string, port int) string {
	host = oneLine(host)
	if port <= 0 {
		return host
	}
	return net.JoinHostPort(host, itoa(port))
}
