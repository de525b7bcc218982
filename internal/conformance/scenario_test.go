package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

// A Scenario is a row of the table: something a CLI does, and what is seen of it. The real CLIs prove the row, the simulated one must match it.
type Scenario struct {
	// ID is unique and stable, dotted by theme: "hooks.pretooluse.deny".
	ID string

	// Facts says which rows of the measured facts it proves, separated by "; ": "§1 PreToolUse deny", "rule 7", "seed 000: second initialize".
	// Rules and seeds are named as in coverage_test.go.
	Facts string

	// Where returns why the scenario cannot run on a subject, or "" if it can. If nil, it runs everywhere.
	Where func(Subject) string

	// Alone gives the scenario a process of its own. Each of the fields below it does so too; without them the scenario runs in a warm process
	// that it shares with the others of the same subject and Warm, one after the other.
	Alone bool
	// Options changes how the CLI is started. Dir and Env are filled in; Env may be appended to.
	Options func(*claude.Options)
	// Args changes the arguments of the CLI as far as package claude would refuse to. It implies Raw.
	Args func([]string) []string
	// Initialize is the body of the first request. If nil, an empty one.
	Initialize *wire.InitializeRequest
	// NoInitialize leaves out the first request.
	NoInitialize bool
	// Path is the path of the WebSocket that the CLI dials, if not the usual one, and TLS makes it wss.
	Path string
	TLS  bool
	// Bare has the CLI dial a server that is the scenario's own, see [Stage.Accept]: there is no Conn.
	Bare bool

	// Warm names the kind of warm process, a key of warmKinds. If empty, the usual one.
	Warm string
	// Raw talks over plain pipes, which take any bytes; see [Stage.RawBytes]. It is for stdio only.
	Raw bool

	// Before is called before the CLI is started, to say how requests are answered that come before Run. It may be nil.
	Before func(*Stage)
	// Run drives the CLI and notes what it saw.
	Run func(*Stage)

	// Want are the notes that it must make.
	Want Want

	// Quirks are the names of the fields of claudetest.Quirks that this row guards: with any of them changed, it must fail.
	Quirks []string

	// Sim are the known deviations of the simulated CLI: the reason by version, or for "*" on all. The row must differ there.
	Sim map[string]string

	// Also names cells that run every day beside those that the rule chooses, see [Scenario.shown]. Its keys are those of a Want, its values the
	// reasons.
	Also map[string]string
	// Slow marks a scenario that takes over 15 s. It runs with SWITCHBOARD_SOAK=1 only.
	Slow bool
	// Rare says on which subjects a scenario runs with SWITCHBOARD_SOAK=1 only, since it costs much and other scenarios of its kind show the same
	// there. Nil means on none.
	Rare func(Subject) bool
}

// alone reports whether the scenario needs its own process.
func (sc *Scenario) alone() bool {
	return sc.Alone || sc.Options != nil || sc.Args != nil || sc.Initialize != nil || sc.NoInitialize || sc.Path != "" || sc.TLS || sc.Bare
}

// differs returns why the simulated CLI differs from the row, or "".
func (sc *Scenario) differs(s Subject) string {
	if s.Kind != kindSimulated {
		return ""
	}
	if reason, ok := sc.Sim[s.Name]; ok {
		return reason
	}
	return sc.Sim["*"]
}

// why returns why the scenario does not run on a subject, or "".
func (sc *Scenario) why(s Subject) string {
	if s.Transport != stdio && s.AtLeast(2, 1, 121) {
		return "since 2.1.121 the CLI dials the vendor's hosts only"
	}
	if (sc.Raw || sc.Args != nil) && s.Transport != stdio {
		return "bytes are written past the transport, over plain pipes"
	}
	if sc.Where != nil {
		return sc.Where(s)
	}
	return ""
}

// The kinds of CLIs and the transports.
const (
	kindReal      = "real"
	kindSimulated = "simulated"

	stdio     = "stdio"
	websocket = "websocket"
	hybrid    = "hybrid"
)

// A Subject is what a scenario runs on: a column of the matrix.
type Subject struct {
	Kind      string       // kindReal or kindSimulated
	Name      string       // the version as text
	Version   wire.Version // the same
	Transport string       // stdio, websocket or hybrid
}

// AtLeast reports whether the CLI is of this version or a later one.
func (s Subject) AtLeast(major, minor, patch int) bool { return s.Version.AtLeast(major, minor, patch) }

// Real reports whether it is a real CLI.
func (s Subject) Real() bool { return s.Kind == kindReal }

// String names the subject as tests do.
func (s Subject) String() string { return s.Kind + "-" + s.Name + "-" + s.Transport }

// stdioOnly is for scenarios in which the transport plays no part.
func stdioOnly(s Subject) string {
	if s.Transport != stdio {
		return "the transport plays no part, stdio shows it"
	}
	return ""
}

// dialledOnly is for scenarios about WebSockets, hybrid ones included.
func dialledOnly(s Subject) string {
	if s.Transport == stdio {
		return "it is about CLIs that dial"
	}
	return ""
}

// websocketOnly is for scenarios about the plain WebSocket.
func websocketOnly(s Subject) string {
	if s.Transport != websocket {
		return "it is about the plain WebSocket"
	}
	return ""
}

// hybridOnly is for scenarios about the transport that POSTs.
func hybridOnly(s Subject) string {
	if s.Transport != hybrid {
		return "it is about hybrid POST"
	}
	return ""
}

// since is for scenarios about what came with a version.
func since(version, reason string) func(Subject) string {
	return func(s Subject) string {
		if v, err := wire.ParseVersion(version); err == nil && s.Version.Compare(v) < 0 {
			return reason
		}
		return ""
	}
}

// before is for scenarios about what went with a version.
func before(version, reason string) func(Subject) string {
	return func(s Subject) string {
		if v, err := wire.ParseVersion(version); err == nil && s.Version.Compare(v) >= 0 {
			return reason
		}
		return ""
	}
}

// realOnly is for scenarios that look at what the simulated CLI does not have, for the reason given.
func realOnly(reason string) func(Subject) string {
	return func(s Subject) string {
		if s.Kind != kindReal {
			return reason
		}
		return ""
	}
}

// both joins conditions: the first reason counts.
func both(wheres ...func(Subject) string) func(Subject) string {
	return func(s Subject) string {
		for _, where := range wheres {
			if reason := where(s); reason != "" {
				return reason
			}
		}
		return ""
	}
}

// A Want holds the expected notes. Its keys are, from the most to the least particular: "2.1.37/hybrid", "2.1.37", "*/hybrid" and "*". A
// version that no key names is expected to do what the nearest older one does.
type Want map[string][]string

// Per is a Want that is written out.
type Per = Want

// Same expects the same notes of all versions.
func Same(notes ...string) Want { return Want{"*": notes} }

// on returns the notes expected of a subject.
func (w Want) on(s Subject) ([]string, error) {
	for _, version := range append([]string{s.Name}, w.older(s)...) {
		for _, key := range []string{version + "/" + s.Transport, version} {
			if notes, ok := w[key]; ok {
				return notes, nil
			}
		}
	}
	for _, key := range []string{"*/" + s.Transport, "*"} {
		if notes, ok := w[key]; ok {
			return notes, nil
		}
	}
	return nil, fmt.Errorf("the scenario does not say what it wants of %s", s)
}

// older returns the versions among the keys that are older than the subject's, newest first, if the subject's own is not among them.
func (w Want) older(s Subject) []string {
	type named struct {
		name    string
		version wire.Version
	}
	var found []named
	for key := range w {
		name, _, _ := strings.Cut(key, "/")
		if name == s.Name {
			return nil
		}
		if v, err := wire.ParseVersion(name); err == nil && v.Compare(s.Version) < 0 {
			found = append(found, named{name, v})
		}
	}
	slices.SortFunc(found, func(a, b named) int { return b.version.Compare(a.version) })
	var names []string
	for _, f := range found {
		names = append(names, f.name)
	}
	return slices.Compact(names)
}
