package sandbox

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Bounds of the search for what patterns match, for all patterns of a policy
// together.
const (
	maxEntries = 200_000
	maxSearch  = 2 * time.Second
	maxDepth   = 64
)

// A walker finds what patterns match. All patterns are compared in one walk, as
// the states of an automaton: each state is a place in a pattern, and each name on
// the way advances or drops it.
type walker struct {
	// fold says that the file system does not tell the case of letters apart.
	fold bool
	// hidden are folders that are hidden already and not searched, shown those
	// in them that are not hidden.
	hidden, shown []string
	// left is how many entries may still be looked at.
	left int

	// What was found, as real paths, each with the pattern that covers it.
	hide, readOnly map[string]*pathPattern
	// links are the read-only paths that are links, as they are written.
	links []string
	// unread are folders that could not be searched, over is why the search was
	// not finished.
	unread []string
	over   string

	seen map[string][]state
}

// A state is the part of a pattern that the next name is compared with.
type state struct {
	pattern *pathPattern
	at      int
}

// A searchAt is a real folder and the states in which it is searched.
type searchAt struct {
	dir    string
	states []state
}

// walk looks for what patterns match. first are real folders that are searched
// before others by patterns that have a ** in them.
func (w *walker) walk(ctx context.Context, patterns []*pathPattern, first []string) {
	w.hide, w.readOnly = map[string]*pathPattern{}, map[string]*pathPattern{}
	w.seen = map[string][]state{}
	groups := map[string][]state{}
	var deep []state
	for _, p := range patterns {
		if len(p.parts) == 0 {
			w.found("/", p)
			continue
		}
		prefix, whole := p.prefix()
		if whole {
			prefix = "" // costs next to nothing, and goes first
		}
		groups[prefix] = append(groups[prefix], state{p, 0})
		if p.deep() {
			deep = append(deep, state{p, 0})
		}
	}
	root := func(states []state) []searchAt { return []searchAt{{"/", states}} }
	w.search(ctx, root(groups[""]))
	delete(groups, "")
	for _, dir := range first {
		w.search(ctx, []searchAt{{dir, w.descend(deep, dir)}})
	}
	prefixes := make([]string, 0, len(groups))
	for prefix := range groups {
		prefixes = append(prefixes, prefix)
	}
	// Searches of large parts of the disk come last.
	slices.SortFunc(prefixes, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	for _, prefix := range prefixes {
		w.search(ctx, root(groups[prefix]))
	}
}

// descend returns the states in a folder.
func (w *walker) descend(states []state, dir string) []state {
	for name := range strings.SplitSeq(dir, "/") {
		if name != "" {
			states, _, _ = w.step(closure(states), name, true)
		}
	}
	return states
}

// closure adds the states that a ** which matches no folder leads to.
func closure(states []state) []state {
	all := slices.Clip(states)
	for i := 0; i < len(all); i++ {
		if s := all[i]; s.pattern.parts[s.at].any {
			all = addState(all, state{s.pattern, s.at + 1})
		}
	}
	return all
}

func addState(states []state, s state) []state {
	if slices.Contains(states, s) {
		return states
	}
	return append(states, s)
}

// step advances states by a name. folder says that it is that of a folder, and not
// of a link to one: a ** does not follow links.
func (w *walker) step(states []state, name string, folder bool) (next []state, hide, readOnly *pathPattern) {
	for _, s := range states {
		part := &s.pattern.parts[s.at]
		switch {
		case part.any:
			if folder {
				next = addState(next, s)
			}
		case !part.match(name, w.fold):
		case s.at+1 < len(s.pattern.parts):
			next = addState(next, state{s.pattern, s.at + 1})
		case s.pattern.write:
			readOnly = s.pattern
		default:
			hide = s.pattern
		}
	}
	return next, hide, readOnly
}

// search goes through folders, breadth first.
func (w *walker) search(ctx context.Context, queue []searchAt) {
	for i := 0; i < len(queue) && w.over == ""; i++ {
		at := queue[i]
		queue[i] = searchAt{}
		at.states = w.unseen(at)
		if len(at.states) == 0 || w.covered(at.dir) && !w.leadsToShown(at.dir) {
			continue
		}
		if strings.Count(at.dir, "/") > maxDepth {
			w.unread = append(w.unread, at.dir)
			continue
		}
		states := closure(at.states)
		visit := func(name string, kind fs.FileMode) {
			if next, ok := w.visit(at.dir, name, kind, states); ok {
				queue = append(queue, next)
			}
		}
		if !w.fold && !slices.ContainsFunc(states, func(s state) bool { return !s.pattern.parts[s.at].literal }) {
			w.lookUp(at.dir, states, visit)
		} else {
			w.list(ctx, at.dir, visit)
		}
	}
}

// unseen returns the states in which a folder has not been searched yet.
func (w *walker) unseen(at searchAt) []state {
	before := w.seen[at.dir]
	var fresh []state
	for _, s := range at.states {
		if !slices.Contains(before, s) {
			fresh = append(fresh, s)
		}
	}
	if len(fresh) > 0 {
		w.seen[at.dir] = append(before, fresh...)
	}
	return fresh
}

// lookUp visits the names that patterns have literally.
func (w *walker) lookUp(dir string, states []state, visit func(string, fs.FileMode)) {
	var names []string
	for _, s := range states {
		if name := s.pattern.parts[s.at].name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		full := path.Join(dir, name)
		info, err := os.Lstat(full)
		switch {
		case err == nil:
			visit(name, info.Mode().Type())
		default:
			w.failed(dir, err)
		}
	}
}

// absent reports whether an error says that a path does not exist.
func absent(err error) bool {
	// The parent may be a file, and a name in a pattern longer than any file's.
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}

// failed records that a folder could not be searched. What belongs to another user
// and cannot be read here cannot be read by the agent either; a folder of the same
// user can be made readable again.
func (w *walker) failed(dir string, err error) {
	if absent(err) || errors.Is(err, fs.ErrPermission) && !ownedByUser(dir) {
		return
	}
	w.unread = append(w.unread, dir)
}

// list visits all names of a folder.
func (w *walker) list(ctx context.Context, dir string, visit func(string, fs.FileMode)) {
	f, err := os.Open(dir)
	if err != nil {
		w.failed(dir, err)
		return
	}
	defer func() { _ = f.Close() }() // it was only read
	for {
		switch {
		case ctx.Err() != nil:
			w.over = "it took too long"
			return
		case w.left <= 0:
			w.over = "there are too many files"
			return
		}
		entries, err := f.ReadDir(256)
		w.left -= len(entries)
		for _, entry := range entries {
			visit(entry.Name(), entry.Type())
		}
		if err != nil || len(entries) == 0 {
			return // what can be read of it has been
		}
	}
}

// visit compares one entry of a folder. If the search goes on below, it returns
// where.
func (w *walker) visit(dir, name string, kind fs.FileMode, states []state) (searchAt, bool) {
	next, hide, readOnly := w.step(states, name, kind.IsDir())
	if len(next) == 0 && hide == nil && readOnly == nil {
		return searchAt{}, false
	}
	full := path.Join(dir, name)
	real, folder := full, kind.IsDir()
	if kind&fs.ModeSymlink != 0 {
		target, err := filepath.EvalSymlinks(full)
		if err != nil {
			return searchAt{}, false // it leads nowhere, or to itself
		}
		info, err := os.Lstat(target)
		if err != nil {
			return searchAt{}, false
		}
		real, folder = target, info.IsDir()
		if readOnly != nil {
			w.links = append(w.links, full)
		}
	}
	if isVirtual(real) {
		return searchAt{}, false
	}
	if w.covered(real) {
		return searchAt{real, next}, folder && len(next) > 0 && w.leadsToShown(real)
	}
	if hide != nil {
		w.found(real, hide)
		return searchAt{}, false
	}
	if readOnly != nil {
		w.found(real, readOnly)
		next = slices.DeleteFunc(next, func(s state) bool { return s.pattern.write })
	}
	return searchAt{real, next}, folder && len(next) > 0
}

// found records that a pattern covers a real path.
func (w *walker) found(real string, p *pathPattern) {
	list := w.hide
	if p.write {
		list = w.readOnly
	}
	if list[real] == nil {
		list[real] = p
	}
}

// covered reports whether a real path is hidden already.
func (w *walker) covered(real string) bool {
	if belowAny(w.hidden, real) && !belowAny(w.shown, real) {
		return true
	}
	for at := real; ; at = path.Dir(at) {
		if w.hide[at] != nil {
			return true
		}
		if at == "/" || at == "." {
			return false
		}
	}
}

// leadsToShown reports whether something below a real path is shown although it is
// hidden itself.
func (w *walker) leadsToShown(real string) bool {
	return slices.ContainsFunc(w.shown, func(shown string) bool { return isBelow(real, shown) })
}

// isVirtual reports whether a path is in a file system that the kernel makes up, or
// that the sandbox replaces. /dev itself leads to files in shared memory.
func isVirtual(real string) bool {
	return isBelow("/proc", real) || isBelow("/sys", real) || isBelow("/dev", real) && real != "/dev" && !isBelow("/dev/shm", real)
}
