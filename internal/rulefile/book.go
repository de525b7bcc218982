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

// A Book is the rules in force. It owns one goroutine, which Close joins. Its methods are safe for concurrent use.
type Book struct {
	// Static after construction.
	options Options
	log     *slog.Logger
	cancel  context.CancelFunc
	watch   sync.WaitGroup

	mu        sync.Mutex // guards what follows, and the store
	confirmed *version
	acted     sight          // what the rules in force were made of
	seen      sight          // what the file was at the last look
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

// A sight is what the rules file was when it was read: a text, or the reason why there is none. That the file does not exist is as good as
// an empty text.
type sight struct {
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
// [Book.Status]. ctx bounds nothing but the start.
func Open(ctx context.Context, o Options) (*Book, error) {
	if o.Every <= 0 {
		o.Every = defaultEvery
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	b := &Book{options: o, log: o.Logger, changed: make(chan struct{})}
	b.confirmed = b.recall()
	engine, err := policy.New(b.heldBefore(), o.Policy)
	if err != nil {
		return nil, fmt.Errorf("compiling the rules that were confirmed last: %w", err)
	}
	b.inForce, b.loaded = engine, time.Now().UTC()
	b.seen = b.look()
	b.act(b.seen)

	watching, cancel := context.WithCancel(context.WithoutCancel(ctx))
	b.cancel = cancel
	if o.File != "" {
		b.watch.Go(func() { b.keepLooking(watching) })
	}
	return b, nil
}

// Close stops looking at the file.
func (b *Book) Close() {
	b.cancel()
	b.watch.Wait()
}

// Engine returns the rules in force.
func (b *Book) Engine() *policy.Engine {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.inForce
}

// Changed returns a channel that is closed when the rules, or what is said about them, change.
func (b *Book) Changed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changed
}

// Confirm puts the pending version into force, if sum names it. The file is read once more before, so that what a user confirms is what they
// were shown. An *[api.Error] says that it is another by now, or that there is nothing to confirm.
func (b *Book) Confirm(sum string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now := b.look(); now != b.acted {
		b.seen = now
		if now.problem == "" && Sum([]byte(now.text)) != sum {
			return another(sum, Sum([]byte(now.text)))
		}
		b.act(now)
	}
	switch {
	case b.pending == nil && sum == Sum([]byte(b.confirmed.text)) && b.problem == "":
		return nil // confirmed already
	case b.pending == nil && b.problem != "":
		return &api.Error{
			Status: http.StatusConflict, Code: api.CodeConflict, Title: "The rules file cannot be used", Detail: b.problem,
			Hint: "fix it, then check with: switchboard policy show",
		}
	case b.pending == nil:
		return &api.Error{Status: http.StatusConflict, Code: api.CodeConflict, Title: "Nothing waits for confirmation", Hint: "see: switchboard policy show"}
	case sum != b.pending.change.Sum:
		return another(sum, b.pending.change.Sum)
	}
	engine, err := policy.New(b.pending.file, b.options.Policy)
	if err != nil {
		return fmt.Errorf("compiling the rules: %w", err)
	}
	if err := writeStore(b.options.Store, b.pending.text); err != nil {
		return &api.Error{Status: http.StatusServiceUnavailable, Code: api.CodeStorage, Title: "What was confirmed cannot be written down", Detail: err.Error()}
	}
	b.confirmed = &version{b.pending.file, b.pending.text}
	b.forgetWaiting()
	b.put(engine, nil, "")
	return nil
}

// another says that a client confirms a version that is not there any more.
func another(meant, is string) error {
	return &api.Error{
		Status: http.StatusConflict, Code: api.CodeConflict, Title: "The rules file is another one by now",
		Detail: fmt.Sprintf("%q was meant, and it is %s", meant, is), Hint: "look at it again with: switchboard policy show",
	}
}

// keepLooking looks at the file until ctx ends.
func (b *Book) keepLooking(ctx context.Context) {
	timer := time.NewTimer(b.options.Every)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		next := b.options.Every
		if !b.lookAgain() {
			next /= 4
		}
		timer.Reset(next)
	}
}

// lookAgain looks at the file, and acts on a change that it has seen twice. It reports whether the file is as it was.
func (b *Book) lookAgain() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.look()
	before := b.seen
	b.seen = now
	if now == b.acted {
		return true
	}
	if now != before {
		return false
	}
	b.act(now)
	return true
}

// look reads the file.
func (b *Book) look() sight {
	text, err := config.ReadFile(b.options.File)
	switch {
	case err == nil:
		return sight{text: string(text)}
	case errors.Is(err, fs.ErrNotExist):
		return sight{missing: true}
	default:
		return sight{problem: err.Error()}
	}
}

// act puts into force what may be of a file. The caller holds mu, or has b alone.
func (b *Book) act(s sight) {
	b.acted = s
	if s.problem != "" {
		b.refuse(s.problem)
		return
	}
	file, err := b.parse(s.text)
	if err != nil {
		b.refuse(err.Error())
		return
	}
	if widens := policy.Widens(b.confirmed.file, file); len(widens) > 0 {
		b.hold(version{file, s.text}, widens)
		return
	}
	engine, err := policy.New(file, b.options.Policy)
	if err != nil {
		b.refuse(err.Error())
		return
	}
	problem := ""
	if s.text != b.confirmed.text {
		if err := writeStore(b.options.Store, s.text); err != nil {
			problem = "the rules hold, but cannot be written down as confirmed: " + err.Error()
			b.log.Error("the rules that hold cannot be written down as confirmed", "err", err)
		}
		b.log.Info("the rules were read", "file", b.options.File, "rules", count(file))
	}
	b.confirmed = &version{file, s.text}
	b.forgetWaiting()
	b.put(engine, nil, problem)
}

// hold has a version wait for confirmation.
func (b *Book) hold(v version, widens []string) {
	engine, err := policy.New(policy.Narrowed(b.confirmed.file, v.file), b.options.Policy)
	if err != nil {
		b.refuse(err.Error())
		return
	}
	if err := writeStore(b.waiting(), v.text); err != nil {
		b.log.Error("the rules that wait for confirmation cannot be written down; what they deny is lost if the file is broken at the next start", "err", err)
	}
	waits := &pending{v, api.PolicyChange{Sum: Sum([]byte(v.text)), Widens: widens}}
	b.log.Warn("the rules allow more than before; confirm them with: switchboard policy confirm", "file", b.options.File, "changes", len(widens))
	b.put(engine, waits, "")
}

// refuse leaves the rules in force as they are.
func (b *Book) refuse(reason string) {
	b.log.Error("the rules file cannot be used; the rules before it hold", "err", reason)
	read := b.loaded
	b.put(b.inForce, nil, reason)
	b.loaded = read
}

// put is where everything changes.
func (b *Book) put(engine *policy.Engine, waits *pending, problem string) {
	b.inForce, b.pending, b.problem, b.loaded = engine, waits, problem, time.Now().UTC()
	close(b.changed)
	b.changed = make(chan struct{})
}

// parse reads a text of the rules file. One without anything in it is no rules.
func (b *Book) parse(text string) (*policy.File, error) {
	if text == "" {
		return nil, nil
	}
	return policy.ParseFile(b.options.File, []byte(text), b.options.Policy.Home)
}

// recall returns what was confirmed last. If that cannot be told, nothing was: then what the rules file denies holds, and what it allows waits.
func (b *Book) recall() *version {
	text, err := readStore(b.options.Store)
	if err == nil {
		var file *policy.File
		if file, err = b.parse(string(text)); err == nil {
			return &version{file, string(text)}
		}
	}
	if !errors.Is(err, fs.ErrNotExist) {
		b.log.Error("what was confirmed of the rules cannot be used; what they allow has to be confirmed again", "file", b.options.Store, "err", err)
	}
	return &version{}
}

// waiting is the file that holds the version that waits for confirmation. What it denies holds, and has to after a restart at which the rules file
// is broken.
func (b *Book) waiting() string { return b.options.Store + "-pending" }

// forgetWaiting removes what is written down of a version that waits no more.
func (b *Book) forgetWaiting() {
	if err := os.Remove(b.waiting()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.log.Error("rules that wait for confirmation no more cannot be forgotten; what they deny may hold again if the file is broken at the next start", "err", err)
	}
}

// heldBefore returns the rules that were in force when it was last read: what was confirmed, narrowed by the version that waited.
func (b *Book) heldBefore() *policy.File {
	text, err := readStore(b.waiting())
	if err == nil {
		var file *policy.File
		if file, err = b.parse(string(text)); err == nil {
			return policy.Narrowed(b.confirmed.file, file)
		}
	}
	if !errors.Is(err, fs.ErrNotExist) {
		b.log.Error("the rules that waited for confirmation cannot be used", "file", b.waiting(), "err", err)
	}
	return b.confirmed.file
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
func (b *Book) Status() api.Policy {
	b.mu.Lock()
	engine, waits := b.inForce, b.pending
	status := api.Policy{File: b.options.File, Missing: b.seen.missing, Loaded: b.loaded, Problem: b.problem}
	b.mu.Unlock()

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
