package nodeagent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/internal/node"
	"github.com/switchboard-dev/switchboard/internal/server/access"
)

const (
	// startsFolder is the folder in the data folder with a file for each run that was
	// started.
	startsFolder = "starts"
	// keepStart is how long the file of a run that has ended is kept: far longer than a
	// hub may repeat a start.
	keepStart = 7 * 24 * time.Hour
	// keepFailure is how long it is known that a run was not started, and why.
	keepFailure = time.Hour
	// maxStart bounds a file.
	maxStart = 64 << 10
)

// safeName is what sessions are called, as package launch has it.
var safeName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// A runKey names a run.
type runKey struct {
	session string
	run     int
}

func (k runKey) file() string { return fmt.Sprintf("%s-%d.json", k.session, k.run) }

// A run is one that the hub has asked to be started.
type run struct {
	// Static after construction.
	key    runKey
	marker string
	begun  time.Time
	done   chan struct{} // closed when it is known what became of the start

	// Guarded by runs.mu until done is closed, static then.
	launched *node.Launched
	failure  *node.Failure

	// Guarded by runs.mu.
	ended   bool // its shim has ended
	clean   bool // the shim has handed everything to the hub
	settled bool // the hub was told that it is dead
}

// A startRecord is the file of a run. It is written before the shim has its orders, so
// that every shim that acts has one.
type startRecord struct {
	Session  string        `json:"session"`
	Run      int           `json:"run"`
	Marker   string        `json:"marker"`
	Started  time.Time     `json:"started"`
	Launched node.Launched `json:"launched"`
}

// runs are all runs that the hub has asked for. Its methods are safe for concurrent use.
type runs struct {
	// Static after construction.
	dir   string
	alive func(pid int, start string) bool
	log   *slog.Logger

	mu    sync.Mutex
	limit int             // how many may live; 0 for no limit; guarded by mu
	all   map[runKey]*run // guarded by mu
}

// openRuns reads what earlier processes of the node have started.
func openRuns(dataDir string, alive func(int, string) bool, log *slog.Logger) (*runs, error) {
	r := &runs{dir: filepath.Join(dataDir, startsFolder), alive: alive, log: log, all: map[runKey]*run{}}
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of starts: %w", err)
	}
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return nil, fmt.Errorf("reading what was started: %w", err)
	}
	for _, entry := range entries {
		path := filepath.Join(r.dir, entry.Name())
		if !strings.HasSuffix(path, ".json") {
			continue
		}
		text, err := access.ReadPrivate(path, maxStart, "remove it, if no agent of this node runs")
		if err != nil {
			return nil, fmt.Errorf("reading what was started: %w", err)
		}
		var s startRecord
		if json.Unmarshal(text, &s) != nil || !safeName.MatchString(s.Session) || s.Run < 1 || s.Launched.PID < 1 {
			return nil, fmt.Errorf("reading what was started: %s is damaged; remove it, if no agent of this node runs", path)
		}
		known := &run{key: runKey{s.Session, s.Run}, marker: s.Marker, begun: s.Started, done: make(chan struct{}), launched: &s.Launched}
		close(known.done)
		known.ended = !alive(s.Launched.PID, s.Launched.PIDStart)
		if known.ended && time.Since(s.Started) > keepStart {
			if err := os.Remove(path); err != nil {
				log.Debug("the record of an old start remains", "err", err)
			}
			continue
		}
		r.all[known.key] = known
	}
	return r, nil
}

// begin registers a start. first is true if it has to be done, by the caller, which calls
// finish then; otherwise it was begun before. It does not wait for anything.
func (r *runs) begin(s *node.Start) (known *run, first bool) {
	key := runKey{s.Session, s.Run}
	fail := func(code, reason, hint string) *run {
		failed := &run{key: key, done: make(chan struct{}), failure: &node.Failure{Code: code, Reason: reason, Hint: hint}}
		close(failed.done)
		return failed
	}
	if !safeName.MatchString(s.Session) || s.Run < 1 || s.Marker == "" || s.Token == "" {
		return fail(node.Invalid, "the start names no run", ""), false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if known = r.all[key]; known != nil {
		switch {
		case known.marker == s.Marker || known.marker == "":
			return known, false
		case known.failure == nil && !known.ended:
			// The numbers of a hub whose journal was restored begin again.
			return fail("running", "another run with this number has a process on this machine", "stop it there, or start the session anew"), false
		}
	}
	if r.limit > 0 && r.live() >= r.limit {
		return fail(node.Full, fmt.Sprintf("the machine has as many sessions as it may: %d", r.limit), "stop one of them, or choose another machine"), false
	}
	known = &run{key: key, marker: s.Marker, begun: time.Now(), done: make(chan struct{})}
	r.all[key] = known
	r.prune()
	return known, true
}

// live counts the runs that live or are being started. mu is held.
func (r *runs) live() int {
	n := 0
	for _, each := range r.all {
		if each.failure == nil && !each.ended {
			n++
		}
	}
	return n
}

// count counts them, too.
func (r *runs) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.live()
}

// setLimit sets how many runs may live.
func (r *runs) setLimit(limit int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.limit = limit
}

// prune forgets what no hub will ask for any more. mu is held.
func (r *runs) prune() {
	for key, each := range r.all {
		age := time.Since(each.begun)
		switch {
		case each.failure != nil && age > keepFailure:
			delete(r.all, key)
		case each.ended && age > keepStart:
			if err := os.Remove(filepath.Join(r.dir, key.file())); err != nil && !errors.Is(err, fs.ErrNotExist) {
				r.log.Debug("the record of an old start remains", "err", err)
			}
			delete(r.all, key)
		}
	}
}

// record writes down that a shim is about to act.
func (r *runs) record(known *run, launched node.Launched) error {
	text, err := json.Marshal(startRecord{Session: known.key.session, Run: known.key.run, Marker: known.marker, Started: known.begun, Launched: launched})
	if err != nil {
		return fmt.Errorf("noting what was started: %w", err)
	}
	if err := access.ReplacePrivate(filepath.Join(r.dir, known.key.file()), text); err != nil {
		return fmt.Errorf("noting what was started: %w", err)
	}
	return nil
}

// finish notes what became of a start: launched or failure.
func (r *runs) finish(known *run, launched *node.Launched, failure *node.Failure) {
	if failure != nil {
		if err := os.Remove(filepath.Join(r.dir, known.key.file())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			r.log.Warn("the record of a start that failed remains", "err", err)
		}
	}
	r.mu.Lock()
	known.launched, known.failure = launched, failure
	r.mu.Unlock()
	close(known.done)
}

// exited notes that the shim of a run has ended. It returns false if that was known.
func (r *runs) exited(key runKey, clean bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.all[key]
	if known == nil || known.ended {
		return false
	}
	known.ended, known.clean = true, clean
	return true
}

// look finds runs whose shims have ended without this process being told, and returns
// them: those that an earlier process of the node has started.
func (r *runs) look() (ended []runKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, each := range r.all {
		if each.launched != nil && !each.ended && !r.alive(each.launched.PID, each.launched.PIDStart) {
			each.ended = true
			ended = append(ended, key)
		}
	}
	return ended
}

// life reports whether a run lives. One that was never started never will be: the hub is
// about to give it up.
func (r *runs) life(p *node.Process) bool {
	key := runKey{p.Session, p.Run}
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.all[key]
	switch {
	case p.PID > 0:
		alive := r.alive(p.PID, p.PIDStart)
		if known != nil && !alive {
			known.settled = true
		}
		return alive
	case known == nil:
		known = &run{
			key: key, begun: time.Now(), done: make(chan struct{}), settled: true,
			failure: &node.Failure{Code: node.Failed, Reason: "the hub has given this run up before the machine was asked to start it"},
		}
		close(known.done)
		if safeName.MatchString(p.Session) {
			r.all[key] = known
		}
		r.prune()
		return false
	case known.failure != nil:
		return false
	case known.launched == nil:
		return true // it is being started
	}
	alive := r.alive(known.launched.PID, known.launched.PIDStart)
	known.settled = known.settled || !alive
	return alive
}

// of returns what is known of the runs of a session: whether there was one, whether all
// of them have ended, and whether the hub knows that.
func (r *runs) of(session string) (any, ended, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ended, known = true, true
	for key, each := range r.all {
		if key.session != session || each.failure != nil {
			continue
		}
		any = true
		ended = ended && each.ended
		known = known && (each.clean || each.settled)
	}
	return any, any && ended, any && ended && known
}
