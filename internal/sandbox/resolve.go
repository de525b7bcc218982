package sandbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
)

// A Machine is what [Resolve] has to know of the machine where the agent runs.
type Machine struct {
	// Home is the user's home folder, Dir the working folder, ConfigDir the
	// folder in which the CLI keeps its files. All are absolute.
	Home, Dir, ConfigDir string
	// Env is the environment that the CLI gets.
	Env []string
	// Own are Switchboard's files, folders and sockets, which no agent sees, and
	// Show the exceptions in them.
	Own  []string
	Show []Visible
	// Program are the files that the CLI is made of, which must stay readable.
	Program []string
}

// Resolve returns the profile of a policy on this machine, and sentences for
// people about what it could not resolve. It reads folders and links, and changes
// nothing. The search for what patterns match is bounded; it ends with ctx, which
// is a sentence and no error. Enforcer and Program of the profile are for the
// caller to set.
//
// A rule that hides the working folder is an error. What the CLI itself needs is
// not hidden by any rule: its program, its configuration folder and ~/.claude.json.
func Resolve(ctx context.Context, p *Policy, m *Machine) (*Profile, []string, error) {
	r := &resolver{policy: p, machine: m, listening: listeningSockets, fold: runtime.GOOS == "darwin", entries: maxEntries}
	return r.resolve(ctx)
}

// A resolver makes one profile.
type resolver struct {
	policy  *Policy
	machine *Machine
	// listening returns the paths of the machine's sockets.
	listening func() ([]string, error)
	// fold says that the file system does not tell the case of letters apart,
	// entries is how many the search may look at.
	fold    bool
	entries int

	// Real paths.
	dir, home, config string
	dirs, program     []string
	temporary         []string
	own, sockets      []string
	show              []Visible

	hide, readOnly map[string]*pathPattern
	notes          []string
}

func (r *resolver) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

func (r *resolver) resolve(ctx context.Context) (*Profile, []string, error) {
	p := r.policy
	if p.Mode != DenyOnly && p.Mode != Strict {
		return nil, nil, fmt.Errorf("there is no profile for the sandbox mode %q", p.Mode)
	}
	if err := r.locate(); err != nil {
		return nil, nil, err
	}
	if err := r.hideSockets(); err != nil {
		return nil, nil, err
	}
	if err := r.match(ctx); err != nil {
		return nil, nil, err
	}
	if err := r.keepNeeded(); err != nil {
		return nil, nil, err
	}
	r.noteHardLinks()
	profile := &Profile{Mode: p.Mode, Dir: r.dir, Network: p.Network, UnsetEnv: r.unsetEnv()}
	r.assemble(profile)
	if err := r.network(profile); err != nil {
		return nil, nil, err
	}
	return profile, r.notes, nil
}

// locate follows the links of what is known of the machine.
func (r *resolver) locate() error {
	m := r.machine
	if r.dir = realPath(m.Dir); r.dir == "" || !path.IsAbs(m.Dir) {
		return fmt.Errorf("the working folder %s does not exist", m.Dir)
	}
	r.home, r.config = realPath(m.Home), realPath(m.ConfigDir)
	for _, name := range r.policy.Dirs {
		if rest, ok := strings.CutPrefix(name, "~/"); ok {
			name = path.Join(m.Home, rest)
		} else if name == "~" {
			name = m.Home
		}
		real := ""
		if path.IsAbs(name) {
			real = realPath(name)
		}
		if real == "" {
			r.note("The additional directory %s does not exist.", name)
			continue
		}
		r.dirs = append(r.dirs, real)
	}
	for _, name := range m.Program {
		if real := realPath(name); real != "" {
			r.program = append(r.program, real)
		}
	}
	for _, name := range m.Own {
		if real := realPath(name); real != "" {
			r.own = append(r.own, real)
		}
	}
	for _, v := range m.Show {
		real := realPath(v.Path)
		if real == "" {
			return fmt.Errorf("%s does not exist, and the agent needs it", v.Path)
		}
		r.show = append(r.show, Visible{Path: real, Write: v.Write})
	}
	r.temporary = r.temporaryFolders()
	return nil
}

// match finds what the patterns of the policy cover.
func (r *resolver) match(ctx context.Context) error {
	p := r.policy
	if n := len(p.DenyRead) + len(p.DenyWrite); n > maxPatterns {
		return fmt.Errorf("the rules deny %d paths, and the sandbox takes %d", n, maxPatterns)
	}
	var patterns []*pathPattern
	add := func(texts []string, write bool) error {
		for _, text := range texts {
			compiled, err := compilePattern(text, r.machine.Home, write)
			if err != nil {
				return err
			}
			patterns = append(patterns, compiled)
		}
		return nil
	}
	if err := errors.Join(add(p.DenyRead, false), add(p.DenyWrite, true)); err != nil {
		return err
	}
	if p.Mode == Strict {
		if err := add(r.protectedPatterns(), true); err != nil {
			return err
		}
	}
	search, stop := context.WithTimeout(ctx, maxSearch)
	defer stop()
	w := &walker{fold: r.fold, left: r.entries, hidden: r.own}
	for _, v := range r.show {
		w.shown = append(w.shown, v.Path)
	}
	w.walk(search, patterns, append([]string{r.dir}, r.dirs...))
	r.hide, r.readOnly = w.hide, w.readOnly
	if err := ctx.Err(); err != nil {
		return err
	}
	if w.over != "" {
		r.note("The search for files that rules deny was not finished: %s. Files that match a pattern with * may not be hidden.", w.over)
	}
	if len(w.unread) > 0 {
		r.note("Some folders could not be searched for files that rules deny: %s.", enumerate(w.unread))
	}
	if slices.ContainsFunc(patterns, func(p *pathPattern) bool { name, _ := p.prefix(); return isVirtual(name) }) {
		r.note("Files in /proc, /sys and /dev are not hidden: the sandbox has its own /proc and /dev.")
	}
	if len(w.links) > 0 {
		r.note("These paths that rules deny to write are links, which can be replaced: only what they lead to is read-only: %s.", enumerate(w.links))
	}
	r.noteMissing(patterns)
	return nil
}

// noteMissing tells of denied paths that do not exist. Nothing can be put in their
// place without being made on the user's disk.
func (r *resolver) noteMissing(patterns []*pathPattern) {
	var missing []string
	for _, p := range patterns {
		if name, whole := p.prefix(); whole && !belowAny(r.own, name) && !r.builtin(p) {
			if _, err := os.Stat(name); err != nil && absent(err) {
				missing = append(missing, p.text)
			}
		}
	}
	if len(missing) > 0 {
		r.note("These denied paths do not exist, and are neither hidden nor read-only if they appear during the run: %s.", enumerate(missing))
	}
}

// builtin reports whether a pattern is one of [resolver.protectedPatterns].
func (r *resolver) builtin(p *pathPattern) bool {
	return !slices.Contains(r.policy.DenyRead, p.text) && !slices.Contains(r.policy.DenyWrite, p.text)
}

// keepNeeded takes from what rules deny what the CLI cannot do without.
func (r *resolver) keepNeeded() error {
	for _, real := range sortedKeys(r.hide) {
		if isBelow(real, r.dir) {
			return fmt.Errorf("a rule denies reading %s, where the agent is to work (%s): narrow the rule, work in another folder, or turn the sandbox off", r.hide[real].text, r.dir)
		}
	}
	shown := func(name string) bool {
		return slices.ContainsFunc(r.show, func(v Visible) bool { return isBelow(v.Path, name) })
	}
	if belowAny(r.own, r.dir) && !shown(r.dir) {
		return fmt.Errorf("the working folder %s is in a folder of Switchboard's own, which no agent sees", r.dir)
	}
	for _, files := range []struct {
		what  string
		paths []string
		write bool
	}{{"program", r.program, false}, {"files", r.cliFiles(), true}} {
		var exempt []string
		for _, need := range files.paths {
			for _, real := range sortedKeys(r.hide) {
				switch {
				case files.write && isBelow(need, real): // the file itself, or something in it
					exempt = append(exempt, r.hide[real].text)
					delete(r.hide, real)
				case isBelow(real, need):
					exempt = append(exempt, r.hide[real].text)
					r.show = append(r.show, Visible{Path: need, Write: files.write})
				}
			}
			if files.write {
				exempt = append(exempt, r.keepWritable(need)...)
			}
		}
		if len(exempt) > 0 {
			slices.Sort(exempt)
			r.note("Claude Code's own %s must be there for it to work, so the sandbox does not hold these rules about them: %s. Claude Code and the hub do.", files.what, enumerate(slices.Compact(exempt)))
		}
	}
	for _, dir := range r.dirs {
		for real, p := range r.hide {
			if isBelow(real, dir) {
				r.note("The additional directory %s is hidden: a rule denies reading %s.", dir, p.text)
				break
			}
		}
	}
	return nil
}

// keepWritable takes a file or folder of the CLI from what rules deny to write,
// and returns these rules. What the CLI only reads there stays read-only.
func (r *resolver) keepWritable(need string) (exempt []string) {
	for real, p := range r.readOnly {
		if !isBelow(real, need) {
			continue
		}
		if real != "/" { // a bare deny Edit, which is not about them
			exempt = append(exempt, p.text)
		}
		if real == need {
			delete(r.readOnly, real)
		}
		for _, name := range configProtected {
			if inside := realPath(path.Join(need, name)); inside != "" && r.readOnly[inside] == nil {
				r.readOnly[inside] = p
			}
		}
	}
	return exempt
}

// noteHardLinks tells of hidden files that have other names.
func (r *resolver) noteHardLinks() {
	var names []string
	for real := range r.hide {
		if info, err := os.Lstat(real); err == nil && hasOtherNames(info) {
			names = append(names, real)
		}
	}
	if len(names) > 0 {
		slices.Sort(names)
		r.note("These hidden files have hard links, whose other names are not hidden: %s.", enumerate(names))
	}
}

// enumerate lists a few of several names.
func enumerate(names []string) string {
	const few = 5
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}

// An effect is what a profile says about a path.
type effect int

const (
	effectWrite effect = iota
	effectRead
	effectNone
	effectShowRead
	effectShowWrite
)

// assemble fills the lists of a profile: sorted, each path in one of them, and
// none that a parent says the same about.
func (r *resolver) assemble(p *Profile) {
	all := map[string]effect{}
	// Later ones are stronger.
	r.writable(all)
	for real := range r.readOnly {
		all[real] = effectRead
	}
	for _, list := range [][]string{r.sockets, slices.Collect(maps.Keys(r.hide)), r.own} {
		for _, real := range list {
			all[real] = effectNone
		}
	}
	for _, v := range r.show {
		switch {
		case v.Write:
			all[v.Path] = effectShowWrite
		case all[v.Path] != effectShowWrite:
			all[v.Path] = effectShowRead
		}
	}
	base := effectWrite
	if p.Mode == Strict {
		base = effectRead
		if all["/"] == effectRead {
			delete(all, "/")
		}
	}
	kept := map[string]effect{}
	for _, name := range sortedKeys(all) {
		above := base
		for at := name; at != "/"; {
			at = path.Dir(at)
			if a, ok := kept[at]; ok {
				above = a
				break
			}
		}
		is := all[name]
		if redundant(is, above) {
			continue
		}
		switch is {
		case effectWrite:
			p.Writable = append(p.Writable, name)
		case effectRead:
			p.ReadOnly = append(p.ReadOnly, name)
		case effectNone:
			p.Hide = append(p.Hide, name)
		case effectShowRead, effectShowWrite:
			if above != effectNone {
				// It is no exception, but may have to be writable.
				if is == effectShowRead || above == effectWrite || above == effectShowWrite {
					continue
				}
				p.Writable = append(p.Writable, name)
				is = effectWrite
				break
			}
			p.Show = append(p.Show, Visible{Path: name, Write: is == effectShowWrite})
		}
		kept[name] = is
	}
}

// redundant reports whether a path needs no entry, given what is said about the
// nearest one above it.
func redundant(is, above effect) bool {
	switch is {
	case effectWrite:
		return above == effectWrite || above == effectShowWrite || above == effectNone
	case effectRead:
		return above == effectRead || above == effectShowRead || above == effectNone
	case effectNone:
		return above == effectNone
	default:
		return false
	}
}
