package policy

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// A Machine is another machine than this one, on which agents run.
type Machine struct {
	// Home, Own and FoldCase are those of [Options], as they are there.
	Home     string
	Own      []string
	FoldCase bool
}

// A Link is where a path leads on another machine, as that machine has told. Err
// says why it is not known, "" if it is.
type Link struct {
	Path string
	Err  string
}

// Links follow the links in paths of another machine: by what that machine has told,
// and never by this machine's disk. What it has not told is not known, and collected, so
// that it can be asked. They belong to one goroutine.
type Links struct {
	known   map[string]Link
	missing []string
	wanted  map[string]bool
}

// NewLinks returns links of which some are known, by their paths. The map is only read.
func NewLinks(known map[string]Link) *Links { return &Links{known: known} }

// Missing returns the paths that were to be followed and are not known, each once, in the
// order in which they came up.
func (l *Links) Missing() []string { return l.missing }

// errUntold means that the machine has not been asked yet.
var errUntold = errors.New("its machine has not told yet")

// follow is the [Resolver] of the machine.
func (l *Links) follow(name string) (string, error) {
	leads, err := followKnown(l.known, name)
	if errors.Is(err, errUntold) && !l.wanted[name] {
		if l.wanted == nil {
			l.wanted = map[string]bool{}
		}
		l.wanted[name] = true
		l.missing = append(l.missing, name)
	}
	return leads, err
}

// followKnown follows a path by what a machine has told. What [Real] would refuse without
// a look at the disk is not asked.
func followKnown(known map[string]Link, name string) (string, error) {
	switch {
	case !strings.HasPrefix(name, "/"):
		return "", errNotAbsolute
	case len(name) > maxPath:
		return "", errTooLong
	case strings.IndexByte(name, 0) >= 0:
		return "", errNUL
	case name == "/":
		return name, nil
	}
	link, told := known[name]
	switch {
	case !told:
		return "", errUntold
	case link.Err == errAgents.Error():
		return "", errAgents
	case link.Err != "":
		return "", errors.New(link.Err)
	case !strings.HasPrefix(link.Path, "/") || len(link.Path) > maxPath || path.Clean(link.Path) != link.Path || strings.IndexByte(link.Path, 0) >= 0:
		return "", errors.New("its machine told something that is no path")
	}
	return link.Path, nil
}

// untoldRules is why no rule allows anything as long as the machine has not told where the
// paths in rules lead: a deny rule may be about a path that the call has another name of.
const untoldRules = "The agent's machine has not told yet where the paths of rules lead, so that none allows anything: a person decides."

// On returns the same rules for sessions on another machine. Its links are known as far
// as it has told them; the map is kept, and must not be changed any more. Where [Engine.Missing]
// returns something, the machine is to be asked, and On to be called again with the answers: until
// then no rule allows anything.
func (e *Engine) On(m Machine, known map[string]Link) (*Engine, error) {
	links := NewLinks(known)
	on, err := newEngine(e.file, Options{
		Home: m.Home, Own: m.Own, AutoApprove: e.autoApprove, FoldCase: m.FoldCase, Resolve: links.follow,
		// Where it matters the rule does not cover a folder.
		IsDir: func(string) bool { return true },
	})
	if err != nil {
		return nil, fmt.Errorf("making the rules for another machine: %w", err)
	}
	for _, each := range [...]*Engine{on, on.dialed, on.unauthenticated} {
		each.elsewhere, each.known = true, known
		each.resolve = func(name string) (string, error) { return followKnown(known, name) }
		each.sealFor(links)
	}
	return on, nil
}

// Sealed returns the same rules without those that allow: why is what a call is told that
// no other rule is about.
func (e *Engine) Sealed(why string) *Engine {
	seal := func(e *Engine) *Engine {
		if e == nil {
			return nil
		}
		sealed := *e
		sealed.sealed = why
		return &sealed
	}
	sealed := seal(e)
	sealed.dialed, sealed.unauthenticated = seal(e.dialed), seal(e.unauthenticated)
	return sealed
}

// Missing returns the paths of rules of which another machine has not told yet where they
// lead; see [Engine.On].
func (e *Engine) Missing() []string { return e.missing }

// sealFor notes what is not known of the links that rules were compiled with.
func (e *Engine) sealFor(links *Links) {
	if len(links.missing) == 0 {
		return
	}
	e.missing = append(slices.Clip(e.missing), links.missing...)
	if e.sealed == "" {
		e.sealed = untoldRules
	}
}

// resolver returns what follows the links of a call.
func (j *judge) resolver() Resolver {
	if j.call.Links != nil {
		return j.call.Links.follow
	}
	return j.e.resolve
}

// told takes back a verdict that allows a call on another machine, if that has not told
// where all of its paths lead: a deny rule may be about one of them.
func (j *judge) told(v Verdict) Verdict {
	if v.Decision != Allow || j.call.Links == nil || len(j.call.Links.missing) == 0 {
		return v
	}
	return Verdict{Reason: "The agent's machine has not told yet where " + brief(j.call.Links.missing[0]) + " leads: a person decides."}
}
