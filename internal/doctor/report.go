package doctor

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A State is what a finding comes to.
type State string

// The states.
const (
	// OK means that all is well.
	OK State = "ok"
	// Warn means that something works, but not as one would want it.
	Warn State = "warn"
	// Fail means that something does not work.
	Fail State = "fail"
	// Skip means that there is nothing to look at, or no way to do so.
	Skip State = "skip"
)

// A Finding is the outcome of one check for one thing.
type Finding struct {
	// ID is the check's: a short word, for programs. Several findings may have the same.
	ID string `json:"id"`
	// State is how it is.
	State State `json:"state"`
	// What was looked at, for people.
	What string `json:"what"`
	// Found is what was found.
	Found string `json:"found"`
	// Why says why it matters; only if State is Warn or Fail.
	Why string `json:"why,omitempty"`
	// Fix is the command for a shell that fixes it; empty if there is nothing to fix, or no such command.
	Fix string `json:"fix,omitempty"`
	// Data is what programs may want to know besides.
	Data any `json:"data,omitempty"`
}

// A Report is all findings, in the order of the checks.
type Report struct {
	// Version is that of this program.
	Version string `json:"version"`
	// OK says that nothing fails.
	OK bool `json:"ok"`
	// Findings are what was found.
	Findings []Finding `json:"findings"`
}

// Count returns how many findings are in a state.
func (r *Report) Count(s State) int {
	n := 0
	for i := range r.Findings {
		if r.Findings[i].State == s {
			n++
		}
	}
	return n
}

// A Check looks at one thing.
type Check struct {
	// ID names it.
	ID string
	// What it looks at, for people.
	What string
	// Why it matters, said where something is not well.
	Why string
	// look returns the findings. ID, What and Why of the check are filled in where they are empty.
	look func(*Machine, context.Context) []Finding
}

// Checks returns all of them, in the order in which they are made.
func Checks() []Check {
	return []Check{
		{"claude", "Claude Code", "Needed to run agents. Without it, only the simulated agent works.", (*Machine).checkCLIs},
		{"transports", "ways to talk to it", "How the hub talks to agents; standard input and output is enough.", (*Machine).checkTransports},
		{"login", "login", "An agent that isn't logged in fails in its first turn.", (*Machine).checkLogin},
		{"config", "settings", "Nothing starts with invalid settings.", (*Machine).checkConfig},
		{"rules", "rules", "Until a change is confirmed, the old rules apply.", (*Machine).checkRules},
		{"sandbox", "sandbox", "Rules alone decide what an agent does: a program that it starts can read what rules deny.", (*Machine).checkSandbox},
		{"runtime", "socket folder", "Commands and agents reach the hub by its socket.", (*Machine).checkRuntime},
		{"hub", "hub", "Sessions need a hub.", (*Machine).checkHub},
		{"port", "port", "Browsers and programs reach the hub by its port.", (*Machine).checkPorts},
		{"modes", "file permissions", "Anyone who can read these files can watch or steer agents.", (*Machine).checkModes},
		{"disk", "disk", "When the disk is full, agents wait for free space.", (*Machine).checkDisk},
		{"journal", "journal", "It holds every session.", (*Machine).checkJournal},
		{"agents", "agents without a hub", "They keep working and stop automatically after a while.", (*Machine).checkRuns},
		{"service", "systemd service", "Agents should survive a restart of the hub.", (*Machine).checkService},
		{"linger", "linger", "Without it the system stops the service and agents when you log out.", (*Machine).checkLinger},
		{"terminal", "terminal", "run and attach draw on it.", (*Machine).checkTerminal},
	}
}

// Run makes all checks, one after the other.
func Run(ctx context.Context, m *Machine) *Report {
	r := &Report{Version: m.Version, OK: true, Findings: []Finding{}}
	for _, check := range Checks() {
		if ctx.Err() != nil {
			break
		}
		for _, f := range check.look(m, ctx) {
			f.ID = check.ID
			if f.What == "" {
				f.What = check.What
			}
			if f.State == OK || f.State == Skip {
				f.Why = ""
			} else if f.Why == "" {
				f.Why = check.Why
			}
			r.OK = r.OK && f.State != Fail
			r.Findings = append(r.Findings, f)
		}
	}
	return r
}

// quote writes a word so that a shell takes it for one. What could not be seen, such as an escape in the name of a file, is spelled out.
func quote(word string) string {
	if !utf8.ValidString(word) || strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsPrint(r) }) {
		var b strings.Builder
		for _, c := range []byte(word) {
			fmt.Fprintf(&b, `\%03o`, c)
		}
		return `"$(printf '` + b.String() + `')"`
	}
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%=,", r))
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
