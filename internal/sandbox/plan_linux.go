package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// maxPaths bounds the paths of a profile: each is a mount, and the kernel allows
// 100,000 of them.
const maxPaths = 20_000

// An access is what processes in the sandbox may do with a path and all below it,
// as far as no longer path says otherwise.
type access int

const (
	accessWrite access = iota
	accessRead
	accessNone
)

// A place is a path whose access differs from that of the folder it is in, or that
// is pinned.
type place struct {
	path   string
	access access
	// folder tells a folder from everything else.
	folder bool
	// shows says that something below a hidden folder is shown.
	shows bool
	// pin says that it is here only so that it cannot be renamed.
	pin bool
}

// A layout is a profile as a list of places, folders before what is in them, so
// that a place can be applied on top of those before it.
type layout struct {
	root   access
	places []place
}

// A ruling is what is known of a path while a layout is made.
type ruling struct {
	access access
	denied bool // a rule is the reason, so nothing but Show and Writable may allow more
	fixed  bool // a rule denies that it is written, shown or not
}

// The order in which lists count for one and the same path: the last one wins.
const (
	fromWritable = iota
	fromShow
	fromReadOnly
	fromHide
)

// newLayout works out which list of a profile decides about which path: what is
// denied stays denied below, but for what is shown; what is denied in something
// shown is denied.
func newLayout(p *Profile, self string) (*layout, error) {
	l := &layout{}
	if p.RootReadOnly() {
		l.root = accessRead
	}
	type item struct {
		path  string
		from  int
		write bool
		depth int
	}
	var items []item
	add := func(path string, from int, write bool) error {
		if !filepath.IsAbs(path) || filepath.Clean(path) != path || strings.ContainsRune(path, 0) {
			return fmt.Errorf("the path %.200q of the sandbox is not clean and absolute", path)
		}
		items = append(items, item{path, from, write, depth(path)})
		return nil
	}
	var errs []error
	for _, path := range p.Writable {
		errs = append(errs, add(path, fromWritable, true))
	}
	for _, v := range p.Show {
		errs = append(errs, add(v.Path, fromShow, v.Write))
	}
	for _, path := range p.ReadOnly {
		if path != "/" { // see RootReadOnly
			errs = append(errs, add(path, fromReadOnly, false))
		}
	}
	for _, path := range p.Hide {
		errs = append(errs, add(path, fromHide, false))
	}
	if self != "" {
		errs = append(errs, add(self, fromShow, false))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if len(items) > maxPaths {
		return nil, fmt.Errorf("the sandbox has %d paths, more than %d", len(items), maxPaths)
	}
	slices.SortStableFunc(items, func(a, b item) int {
		return cmp.Or(cmp.Compare(a.depth, b.depth), strings.Compare(a.path, b.path), cmp.Compare(a.from, b.from))
	})
	known := map[string]ruling{"/": {access: l.root}}
	placed := make(map[string]int)
	set := func(path string, r ruling) error {
		known[path] = r
		if path == "/" {
			if l.root = r.access; l.root == accessNone {
				return errors.New("everything is denied to the agent: nothing could be started")
			}
			return nil
		}
		folder, exists, err := look(path)
		switch {
		case err != nil:
			return err
		case exists:
		case r.access == accessWrite || r.access == accessRead && !r.denied:
			return nil // it is not shown
		case !volatile(path):
			return fmt.Errorf("%s is denied to the agent, and was removed while its sandbox was being made; start it again", path)
		default:
			return nil // a socket, most likely, whose server has ended
		}
		n, found := placed[path]
		if !found {
			n = len(l.places)
			placed[path] = n
			l.places = append(l.places, place{path: path, folder: folder})
		}
		l.places[n].access = r.access
		return nil
	}
	for _, it := range items {
		if masked(it.path) {
			continue
		}
		above := nearest(known, it.path)
		var err error
		switch it.from {
		case fromWritable:
			// Below what a rule denies it is an exception that Resolve made.
			if above.access == accessRead {
				err = set(it.path, ruling{access: accessWrite})
			}
		case fromShow:
			switch {
			case above.access == accessNone && it.write && !above.fixed:
				err = set(it.path, ruling{access: accessWrite})
			case above.access == accessNone:
				err = set(it.path, ruling{access: accessRead, fixed: above.fixed})
			case it.write && above.access == accessRead && !above.denied:
				err = set(it.path, ruling{access: accessWrite})
			}
		case fromReadOnly:
			if above.access == accessWrite {
				err = set(it.path, ruling{accessRead, true, true})
			} else {
				known[it.path] = ruling{above.access, true, true}
			}
		case fromHide:
			if above.access != accessNone {
				err = set(it.path, ruling{accessNone, true, above.fixed})
			}
		}
		if err != nil {
			return nil, err
		}
	}
	l.pin(p, known)
	l.mark()
	slices.SortFunc(l.places, func(a, b place) int {
		return cmp.Or(cmp.Compare(depth(a.path), depth(b.path)), strings.Compare(a.path, b.path))
	})
	return l, nil
}

// pin makes mounts of the folders above what is denied, so that they cannot be
// renamed: a program outside that looks for the path would find another one there.
// Those above a hidden path in the working folder are left as they are, since
// files could no longer be renamed from one of them to the other; what is hidden
// stays hidden wherever its folder goes.
func (l *layout) pin(p *Profile, known map[string]ruling) {
	pinned := make(map[string]bool)
	for _, pl := range slices.Clone(l.places) {
		if pl.access == accessWrite || pl.access == accessNone && p.Dir != "" && below(pl.path, p.Dir) {
			continue
		}
		for dir := filepath.Dir(pl.path); dir != "/" && !pinned[dir]; dir = filepath.Dir(dir) {
			pinned[dir] = true
			if masked(dir) {
				continue // a bind of the machine's own would bring its devices back, and none of them would work
			}
			if _, found := known[dir]; found || nearest(known, dir).access != accessWrite {
				continue
			}
			if unix.Access(filepath.Dir(dir), unix.W_OK) == nil {
				l.places = append(l.places, place{path: dir, access: accessWrite, folder: true, pin: true})
			}
		}
	}
}

// mark notes in which hidden folders something is shown.
func (l *layout) mark() {
	hidden := make(map[string]*place)
	for i := range l.places {
		if l.places[i].access == accessNone {
			hidden[l.places[i].path] = &l.places[i]
		}
	}
	for i := range l.places {
		if l.places[i].access == accessNone {
			continue
		}
		for dir := filepath.Dir(l.places[i].path); dir != "/"; dir = filepath.Dir(dir) {
			if above := hidden[dir]; above != nil {
				above.shows = true
			}
		}
	}
}

// look reports whether a path exists and is a folder.
func look(path string) (folder, exists bool, err error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, false, nil
	case err != nil:
		return false, false, fmt.Errorf("looking at a path of the sandbox: %w", err)
	case info.Mode()&fs.ModeSymlink != 0:
		return false, false, fmt.Errorf("%s became a link while the sandbox was being made; start it again", path)
	}
	return info.IsDir(), true, nil
}

// nearest returns what is known of a path, or of the folder next above it.
func nearest(known map[string]ruling, path string) ruling {
	for {
		if r, found := known[path]; found {
			return r
		}
		path = filepath.Dir(path)
	}
}

// depth returns how many names a clean absolute path has.
func depth(path string) int {
	if path == "/" {
		return 0
	}
	return strings.Count(path, "/")
}

// below reports whether a clean path is a folder or in it.
func below(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// masked reports whether a path is in a folder that every sandbox replaces.
func masked(path string) bool {
	return below(path, "/proc") || below(path, "/dev") && !below(path, sharedMemory)
}

// sharedMemory is where programs share memory, and some keep temporary files.
const sharedMemory = "/dev/shm"

// volatile reports whether files come and go where a path is. One of them that is
// gone is no reason not to start; elsewhere it is, since it may just be being
// replaced.
func volatile(path string) bool {
	for _, dir := range []string{"/run", "/var/run", "/tmp", "/var/tmp", sharedMemory, filepath.Clean(os.TempDir())} {
		if below(path, dir) {
			return true
		}
	}
	return false
}
