package launch

import (
	"context"

	"github.com/switchboard-dev/switchboard/internal/sandbox"
)

// An EnforcerCheck says whether an enforcer works on this machine.
type EnforcerCheck struct {
	// Name is bubblewrap, landlock or seatbelt.
	Name string `json:"name"`
	// DenyOnly and Strict say for which modes it can be used.
	DenyOnly bool `json:"deny_only"`
	Strict   bool `json:"strict"`
	// Why says why it cannot, in words for people.
	Why string `json:"why,omitempty"`
}

// A SandboxCheck says what sandboxes are possible on this machine.
type SandboxCheck struct {
	Enforcers []EnforcerCheck `json:"enforcers"`
	// DenyOnly and Strict are the names of the enforcers that sessions of these
	// modes get with the configuration as it is; none if there is none.
	DenyOnly string `json:"deny_only"`
	Strict   string `json:"strict"`
	// Why says why there is none for [sandbox.DenyOnly].
	Why string `json:"why,omitempty"`
}

// CheckSandbox tries every enforcer, by starting something in it.
func (l *Launcher) CheckSandbox(ctx context.Context) *SandboxCheck {
	c := &SandboxCheck{DenyOnly: noEnforcer, Strict: noEnforcer}
	try := func(name string, mode sandbox.Mode) (sandbox.Enforcer, error) {
		bounded, cancel := context.WithTimeout(ctx, findGrace)
		defer cancel()
		return l.tryEnforcer(bounded, name, mode)
	}
	for _, name := range []string{sandbox.Bubblewrap, sandbox.Landlock, sandbox.Seatbelt} {
		e := EnforcerCheck{Name: name}
		_, err := try(name, sandbox.Strict)
		e.Strict = err == nil
		if err == nil {
			_, err = try(name, sandbox.DenyOnly)
			e.DenyOnly = err == nil
		}
		if err != nil {
			e.Why = oneLine(err.Error())
		}
		c.Enforcers = append(c.Enforcers, e)
	}
	if enforcer, err := try("", sandbox.DenyOnly); err == nil {
		c.DenyOnly = enforcer.Name()
	} else {
		c.Why = oneLine(err.Error())
	}
	if enforcer, err := try("", sandbox.Strict); err == nil {
		c.Strict = enforcer.Name()
	}
	return c
}
