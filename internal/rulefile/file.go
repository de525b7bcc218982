package rulefile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/config"
	"github.com/switchboard-dev/switchboard/internal/policy"
)

// defaultEvery is how often the file is looked at.
const defaultEvery = 2 * time.Second

// Options say which rules to keep. Store is required.
type Options struct {
	// File is the rules file. It need not exist. If empty, there is none, and nothing is looked for.
	File string
	// Store is the file that holds what was confirmed last. It is ours alone.
	Store string
	// Policy is what rules are read and judged with. Its Home also stands for "~/" in the file.
	Policy policy.Options
	// Logger takes what an operator should know. If nil, nothing is logged.
	Logger *slog.Logger
	// Every is how often the file is looked at. If zero, 2 s. A change counts when the file was the same twice, so that one which is just being
	// written is not taken for a change; the second look comes after a quarter of the time.
	Every time.Duration
}

// A File is the rules file and the rules in force. It owns one goroutine, which Close joins. Its methods are safe for concurrent use.
type File struct {
	// Static after construction.
	options Options
	log     *slog.Logger
	cancel  context.CancelFunc
	watch   sync.WaitGroup

	mu        sync.Mutex // guards what follows, and the store
	confirmed *version
	applied   reading        // what the rules in force are made of
	seen      reading        // what the file was at the last look
	inForce   *policy.Engine // of confirmed, and perhaps more
	pending   *pending
	problem   string
	loaded    time.Time
	changed   chan struct{}
}

// A version is one text of the rules file.
type version struct {
	file *policy.File // nil if there are no rules
	text string
}

// A pending version allows more than what was confirmed.
type pending struct {
	version
	change api.PolicyChange
}

// A reading is what the rules file was when it was read: a text, or the reason why there is none. That the file does not exist is as good as
// an empty text.
type reading struct {
	text    string
	problem string
	missing bool
}

// Sum names a text of the rules file. It is long enough that no two texts with the same one can be made.
func Sum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// Open reads what was confirmed and the rules file, and goes on looking at it until Close. A file that cannot be used is no error: see
// [File.Status]. ctx bounds nothing but the start.
func Open(ctx context.Context, o Options) (*File, error) {
	if o.Every <= 0 {
		o.Every = defaultEvery
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	f := &File{options: o, log: o.Logger, changed: make(chan struct{})}
	f.confirmed = f.readConfirmed()
	engine, err := policy.New(f.lastInForce(), o.Policy)
	if err != nil {
		return nil, fmt.Errorf("compiling the rules that were confirmed last: %w", err)
	}
	f.inForce, f.loaded = engine, time.Now().UTC()
	f.seen = f.readFile()
	f.apply(f.seen)

	watching, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f.cancel = cancel
	if o.File != "" {
		f.watch.Go(func() { f.watchFile(watching) })
	}
	return f, nil
}

// Close stops looking at the file.
func (f *File) Close() {
	f.cancel()
	f.watch.Wait()
}

// Engine returns the rules in force.
func (f *File) Engine() *policy.Engine {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.inForce
}

// Changed returns a channel that is closed when the rules, or what is said about them, change.
func (f *File) Changed() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changed
}

// Confirm puts the pending version into force, if sum names it. The file is read once more before, so that what a user confirms is what they
// were shown. An *[api.Error] says that it is another by now, or that there is nothing to confirm.
func (f *File) Confirm(sum string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := f.readFile(); now != f.applied {
		f.seen = now
		if now.problem == "" && Sum([]byte(now.text)) != sum {
			return changedMeanwhile(sum, Sum([]byte(now.text)))
		}
		f.apply(now)
	}
	switch {
	case f.pending == nil && sum == Sum([]byte(f.confirmed.text)) && f.problem == "":
		return nil // confirmed already
	case f.pending == nil && f.problem != "":
		return &api.Error{
			Status: http.StatusConflict, Code: api.CodeConflict, Title: "The rules file cannot be used", Detail: f.problem,
			Hint: "fix it, then check with: switchboard policy show",
		}
	case f.pending == nil:
		return &api.Error{Status: http.StatusConflict, Code: api.CodeConflict, Title: "Nothing waits for confirmation", Hint: "see: switchboard policy show"}
	case sum != f.pending.change.Sum:
		return changedMeanwhile(sum, f.pending.change.Sum)
	}
	engine, err := policy.New(f.pending.file, f.options.Policy)
	if err != nil {
		return fmt.Errorf("compiling the rules: %w", err)
	}
	if err := writeStore(f.options.Store, f.pending.text); err != nil {
		return &api.Error{Status: http.StatusServiceUnavailable, Code: api.CodeStorage, Title: "What was confirmed cannot be written down", Detail: err.Error()}
	}
	f.confirmed = &version{f.pending.file, f.pending.text}
	f.removePending()
	f.install(engine, nil, "")
	return nil
}

// changedMeanwhile says that a client confirms a version that is not there any more.
func changedMeanwhile(meant, is string) error {
	return &api.Error{
		Status: http.StatusConflict, Code: api.CodeConflict, Title: "The rules file is another one by now",
		Detail: fmt.Sprintf("%q was meant, and it is %s", meant, is), Hint: "look at it again with: switchboard policy show",
	}
}

// watchFile is the goroutine that looks at the file until ctx ends.
func (f *File) watchFile(ctx context.Context) {
	timer := time.NewTimer(f.options.Every)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		next := f.options.Every
		if !f.checkFile() {
			next /= 4
		}
		timer.Reset(next)
	}
}

// checkFile looks at the file, and acts on a change that it has seen twice. It reports whether the file is as it was.
func (f *File) checkFile() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.readFile()
	before := f.seen
	f.seen = now
	if now == f.applied {
		return true
	}
	if now != before {
		return false
	}
	f.apply(now)
	return true
}

// readFile reads the rules file.
func (f *File) readFile() reading {
	text, err := config.ReadFile(f.options.File)
	switch {
	case err == nil:
		return reading{text: string(text)}
	case errors.Is(err, fs.ErrNotExist):
		return reading{missing: true}
	default:
		return reading{problem: err.Error()}
	}
}

// apply puts into force as much of the file as needs no confirmation. The caller holds mu, or has f alone.
func (f *File) apply(s reading) {
	f.applied = s
	if s.problem != "" {
		f.refuse(s.problem)
		return
	}
	file, err := f.parse(s.text)
	if err != nil {
		f.refuse(err.Error())
		return
	}
	if widens := policy.Widens(f.confirmed.file, file); len(widens) > 0 {
		f.holdBack(version{file, s.text}, widens)
		return
	}
	engine, err := policy.New(file, f.options.Policy)
	if err != nil {
		f.refuse(err.Error())
		return
	}
	problem := ""
	if s.text != f.confirmed.text {
		if err := writeStore(f.options.Store, s.text); err != nil {
			problem = "the rules hold, but cannot be written down as confirmed: " + err.Error()
			f.log.Error("the rules that hold cannot be written down as confirmed", "err", err)
		}
		f.log.Info("the rules were read", "file", f.options.File, "rules", count(file))
	}
	f.confirmed = &version{file, s.text}
	f.removePending()
	f.install(engine, nil, problem)
}

// holdBack has a version wait for confirmation. What it denies is in force at once.
func (f *File) holdBack(v version, widens []string) {
	engine, err := policy.New(policy.Narrowed(f.confirmed.file, v.file), f.options.Policy)
	if err != nil {
		f.refuse(err.Error())
		return
	}
	if err := writeStore(f.pendingStore(), v.text); err != nil {
		f.log.Error("the rules that wait for confirmation cannot be written down; what they deny is lost if the file is broken at the next start", "err", err)
	}
	waits := &pending{v, api.PolicyChange{Sum: Sum([]byte(v.text)), Widens: widens}}
	f.log.Warn("the rules allow more than before; confirm them with: switchboard policy confirm", "file", f.options.File, "changes", len(widens))
	f.install(engine, waits, "")
}

// refuse leaves the rules in force as they are.
func (f *File) refuse(reason string) {
	f.log.Error("the rules file cannot be used; the rules before it hold", "err", reason)
	read := f.loaded
	f.install(f.inForce, nil, reason)
	f.loaded = read
}

// install replaces the rules in force and what is said about them, and wakes callers of Changed. mu is held.
func (f *File) install(engine *policy.Engine, waits *pending, problem string) {
	f.inForce, f.pending, f.problem, f.loaded = engine, waits, problem, time.Now().UTC()
	close(f.changed)
	f.changed = make(chan struct{})
}

// parse reads a text of the rules file. One without anything in it is no rules.
func (f *File) parse(text string) (*policy.File, error) {
	if text == "" {
		return nil, nil
	}
	return policy.ParseFile(f.options.File, []byte(text), f.options.Policy.Home)
}

// readConfirmed returns what was confirmed last. If that cannot be told, nothing was: then what the rules file denies holds, and what it allows waits.
func (f *File) readConfirmed() *version {
	text, err := readStore(f.options.Store)
	if err == nil {
		var file *policy.File
		if file, err = f.parse(string(text)); err == nil {
			return &version{file, string(text)}
		}
	}
	if !errors.Is(err, fs.ErrNotExist) {
		f.log.Error("what was confirmed of the rules cannot be used; what they allow has to be confirmed again", "file", f.options.Store, "err", err)
	}
	return &version{}
}

// pendingStore is the file that holds the version that waits for confirmation. What it denies holds, and has to after a restart at which the rules file
// is broken.
func (f *File) pendingStore() string { return f.options.Store + "-pending" }

// removePending removes what is written down of a version that waits no more.
func (f *File) removePending() {
	if err := os.Remove(f.pendingStore()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.log.Error("rules that wait for confirmation no more cannot be forgotten; what they deny may hold again if the file is broken at the next start", "err", err)
	}
}

// lastInForce returns the rules that were in force when it was last read: what was confirmed, narrowed by the version that waited.
func (f *File) lastInForce() *policy.File {
	text, err := readStore(f.pendingStore())
	if err == nil {
		var file *policy.File
		if file, err = f.parse(string(text)); err == nil {
			return policy.Narrowed(f.confirmed.file, file)
		}
	}
	if !errors.Is(err, fs.ErrNotExist) {
		f.log.Error("the rules that waited for confirmation cannot be used", "file", f.pendingStore(), "err", err)
	}
	return f.confirmed.file
}

// count returns how many rules a file has.
func count(file *policy.File) int {
	if file == nil {
		return 0
	}
	return len(file.Rules)
}

// readStore reads what was confirmed last. Only the user may be able to write it, not even the group: write access is the right to confirm.
func readStore(name string) ([]byte, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file of its own", name)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return nil, fmt.Errorf("%s may be written by others", name)
	}
	return config.ReadFile(name)
}

// writeStore writes what was confirmed: all of it or nothing.
func writeStore(name, text string) (err error) {
	file, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*") // for us alone
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name()) // it is of no use; the error that matters is the first
		}
	}()
	_, err = file.WriteString(text)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), name)
}

// Status says which rules are in force, and what is the matter with the file.
func (f *File) Status() api.Policy {
	f.mu.Lock()
	engine, waits := f.inForce, f.pending
	status := api.Policy{File: f.options.File, Missing: f.seen.missing, Loaded: f.loaded, Problem: f.problem}
	f.mu.Unlock()

	status.Enforce = engine.Enforce()
	status.Rules = list(engine)
	if waits != nil {
		change := waits.change
		change.Widens = slices.Clone(change.Widens)
		status.Pending = &change
	}
	return status
}

// list returns all rules of an engine.
func list(engine *policy.Engine) []api.PolicyRule {
	rules := engine.Rules("")
	out := make([]api.PolicyRule, 0, len(rules))
	for i := range rules {
		r := &rules[i]
		out = append(out, api.PolicyRule{
			Rule: r.Text, Decision: api.RuleDecision(r.Decision), Scope: string(r.Scope), Source: r.Source, Message: r.Message, Expires: r.Expires,
			Enforced: policy.Enforced(*r),
		})
	}
	return out
}
