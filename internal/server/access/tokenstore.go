package access

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

// TokensFile is the name of the file that holds what the server knows of all tokens
// but the admin's.
const TokensFile = "tokens.json"

// The kinds of tokens.
const (
	kindAdmin  = "admin"
	kindDevice = "device"
)

const (
	// maxTokens is how many tokens there may be.
	maxTokens = 1024
	// maxName is how many characters a name may have.
	maxName = 128
	// maxTTL is the longest that a token may be made for, in seconds: a hundred
	// years.
	maxTTL = 100 * 365 * 24 * 60 * 60
	// deviceTTL is how long a token is good that a code was exchanged for: each tab
	// of a browser gets its own, and browsers never give them back.
	deviceTTL = 30 * 24 * time.Hour
	// keepExpired is how long a token is listed after it has expired.
	keepExpired = 7 * 24 * time.Hour
	// saveUse is how long the last use of a token waits to be written.
	saveUse = time.Minute
	// lookAgain is how often the clock is looked at while a request waits for a
	// token to expire: timers stand still while a machine sleeps.
	lookAgain = time.Minute
)

// ErrRevoked is why a context of [Watch] has ended.
var ErrRevoked = errors.New("the token was revoked or has expired")

// An entry is a token in the store.
type entry struct {
	// Static after construction.
	Token
	kind             string
	person           string          // that a device belongs to; empty if that is its name
	created, expires time.Time       // expires is zero for never
	ended            context.Context //nolint:containedctx // the token's own life
	end              context.CancelFunc

	used atomic.Int64 // when it was used last, in Unix seconds to the minute; 0 for never

	// Guarded by TokenStore.mu.
	revoked bool        // it is gone but for the file, which could not be written
	timer   *time.Timer // ends it when it expires; nil if it does not
}

func newEntry(t Token, kind string, created, expires time.Time) *entry {
	e := &entry{Token: t, kind: kind, created: created, expires: expires}
	e.ended, e.end = context.WithCancel(context.Background())
	return e
}

// unusable reports whether a token was revoked or has expired.
func (e *entry) unusable(now time.Time) bool {
	return e.ended.Err() != nil || !e.expires.IsZero() && !now.Before(e.expires)
}

// public returns what others may know of a token.
func (e *entry) public() api.Token {
	t := api.Token{ID: e.ID, Name: e.Name, Scopes: e.Scopes.names(), Created: e.created, Expires: e.expires, Kind: e.kind}
	if used := e.used.Load(); used != 0 {
		t.Used = time.Unix(used, 0).UTC()
		if t.Used.Before(t.Created) { // in the minute in which it was made
			t.Used = t.Created
		}
	}
	return t
}

// TokenStoreOptions say how tokens are kept. The zero value is valid.
type TokenStoreOptions struct {
	// URL returns the address of the console, such as "http://127.0.0.1:8765", for
	// links with a one-time code. It is called when a code is made. If nil, there
	// are no links.
	URL func() string
	// Device returns where other devices reach the console. It is called when a code is
	// made. If nil, they do not.
	Device func() Device
	// Log gets what an operator should know. If nil, nothing is logged.
	Log *slog.Logger
}

// A TokenStore knows all tokens and one-time codes. Only hashes are kept: of tokens in
// a file, of codes in memory. Its methods are safe for concurrent use. It starts
// no goroutine, but timers that Close stops.
type TokenStore struct {
	// Static after construction.
	path   string // of the file; empty if nothing is kept
	url    func() string
	device func() Device
	user   string
	log    *slog.Logger
	brake  *brake

	// saving is held while the file is written. It is taken before mu.
	saving sync.Mutex

	// Guarded by mu.
	mu      sync.RWMutex
	entries map[string]*entry // by id
	codes   []*code           // the oldest first
	timer   *time.Timer       // writes what was used; nil if nothing is to be written
	closed  bool
}

// OpenTokenStore opens the store in the data folder of a server, with the token of
// [LoadToken], which may be the zero value. A file that is damaged or that others can
// read is an error that says what to do.
func OpenTokenStore(dir string, admin Token, options *TokenStoreOptions) (*TokenStore, error) {
	if err := CheckFolder(dir); err != nil {
		return nil, err
	}
	b := newTokenStore(options)
	if admin.ID != "" {
		b.entries[admin.ID] = newEntry(admin, kindAdmin, time.Time{}, time.Time{})
	}
	b.path = filepath.Join(dir, TokensFile)
	entries, err := loadTokens(b.path, time.Now())
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range entries {
		if b.entries[e.ID] == nil {
			b.put(e)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, TokenFile)); err == nil && admin.ID != "" {
		b.entries[admin.ID].created = info.ModTime().UTC().Truncate(time.Microsecond)
	}
	return b, nil
}

// newTokenStore makes a store that is kept in memory alone.
func newTokenStore(options *TokenStoreOptions, tokens ...Token) *TokenStore {
	if options == nil {
		options = &TokenStoreOptions{}
	}
	b := &TokenStore{url: options.URL, device: options.Device, user: userName(), log: options.Log, brake: newBrake(), entries: map[string]*entry{}}
	if b.url == nil {
		b.url = func() string { return "" }
	}
	if b.device == nil {
		b.device = func() Device { return Device{} }
	}
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	for _, t := range tokens {
		b.entries[t.ID] = newEntry(t, kindAdmin, time.Time{}, time.Time{})
	}
	return b
}

// Close writes what is not written yet. Tokens go on being good.
func (b *TokenStore) Close() error {
	b.saving.Lock()
	defer b.saving.Unlock()
	b.mu.Lock()
	pending := b.timer != nil
	if pending {
		b.timer.Stop()
		b.timer = nil
	}
	b.closed = true
	for _, e := range b.entries {
		if e.timer != nil {
			e.timer.Stop()
		}
	}
	b.mu.Unlock()
	if !pending {
		return nil
	}
	return b.save()
}

// put adds a token. mu is held.
func (b *TokenStore) put(e *entry) {
	b.entries[e.ID] = e
	if e.expires.IsZero() || b.closed {
		return
	}
	wait := func() time.Duration { return min(max(time.Until(e.expires), 0), lookAgain) }
	e.timer = time.AfterFunc(wait(), func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch {
		case b.closed || e.ended.Err() != nil:
		case e.unusable(time.Now()):
			e.end()
		default:
			e.timer.Reset(wait())
		}
	})
}

// match returns the token with this text, which came with these halves of tokens in
// cookies. It takes the same time for a wrong secret as for an unknown id.
func (b *TokenStore) match(text string, halves []string) (*entry, bool) {
	id, secret, ok := splitToken(text)
	b.mu.RLock()
	e := b.entries[id]
	b.mu.RUnlock()
	var known Token // which nothing is the secret of
	if e != nil {
		known = e.Token
	}
	same := known.holds(secret, halves)
	now := time.Now()
	if !ok || e == nil || !same || e.unusable(now) {
		return nil, false
	}
	b.use(e, now)
	return e, true
}

// use notes that a token is used. Most of the time that is one look at a number.
func (b *TokenStore) use(e *entry, now time.Time) {
	minute := now.Truncate(time.Minute).Unix()
	if last := e.used.Load(); minute <= last || !e.used.CompareAndSwap(last, minute) || e.kind == kindAdmin {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.saveLater()
}

// saveLater has the file written in a while. mu is held.
func (b *TokenStore) saveLater() {
	if b.path == "" || b.timer != nil || b.closed {
		return
	}
	b.timer = time.AfterFunc(saveUse, func() {
		b.saving.Lock()
		defer b.saving.Unlock()
		b.mu.Lock()
		closed := b.closed
		b.timer = nil
		b.mu.Unlock()
		if closed {
			return // Close has written it
		}
		if err := b.save(); err != nil {
			b.log.Warn("what is known of tokens was not written; it is tried again", "err", err)
			b.mu.Lock()
			b.saveLater()
			b.mu.Unlock()
		}
	})
}

// save writes the file. saving is held.
func (b *TokenStore) save() error {
	if b.path == "" {
		return nil
	}
	b.mu.Lock()
	now := time.Now()
	var kept []*entry
	var gone []string
	for id, e := range b.entries {
		switch {
		case e.kind == kindAdmin && !e.revoked:
		case e.revoked, !e.expires.IsZero() && now.Sub(e.expires) > keepExpired:
			gone = append(gone, id)
		default:
			kept = append(kept, e)
		}
	}
	b.mu.Unlock()
	slices.SortFunc(kept, older)
	if err := writeTokens(b.path, kept); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range gone {
		delete(b.entries, id)
	}
	return nil
}

// older puts the admin token first, then the oldest.
func older(a, b *entry) int {
	switch {
	case a.kind == kindAdmin && b.kind != kindAdmin:
		return -1
	case a.kind != kindAdmin && b.kind == kindAdmin:
		return 1
	}
	return cmp.Or(a.created.Compare(b.created), cmp.Compare(a.ID, b.ID))
}

// List returns all tokens, that of the admin first, then the oldest. The one that it is
// asked with is marked.
func (b *TokenStore) List(ctx context.Context) ([]api.Token, error) {
	id, problem := Require(ctx, wire.ScopeAdmin)
	if problem != nil {
		return nil, problem
	}
	b.mu.RLock()
	var all []*entry
	for _, e := range b.entries {
		if !e.revoked {
			all = append(all, e)
		}
	}
	b.mu.RUnlock()
	slices.SortFunc(all, older)
	list := make([]api.Token, 0, len(all))
	for _, e := range all {
		t := e.public()
		t.Current = e == id.token
		list = append(list, t)
	}
	return list, nil
}

// Create makes a token with rights that its maker has. It is good no longer than
// the maker's own.
func (b *TokenStore) Create(ctx context.Context, in api.CreateToken) (*api.CreatedToken, error) {
	maker, e := Require(ctx, wire.ScopeAdmin)
	if e != nil {
		return nil, e
	}
	name, e := b.name(in.Name)
	if e != nil {
		return nil, e
	}
	scopes, e := grantable(in.Scopes, maker)
	if e != nil {
		return nil, e
	}
	if in.TTL < 0 || in.TTL > maxTTL {
		return nil, invalid("The lifetime is too long", "", "Give a number of seconds, or none for a token that doesn't expire.")
	}
	now := nowStored()
	var expires time.Time
	if in.TTL > 0 {
		expires = now.Add(time.Duration(in.TTL) * time.Second)
	}
	made, _, err := b.add(now, tokenSpec{name: name, scopes: scopes, expires: earlier(expires, maker.expires()), maker: maker.token})
	return made, err
}

// earlier returns the earlier of two times of which zero means never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// name returns the name of a new token, without spaces around it. It must not be
// one that another client acts under: names are what the journal says.
func (b *TokenStore) name(text string) (string, *api.Error) {
	name := strings.TrimSpace(text)
	switch {
	case name == "" || utf8.RuneCountInString(name) > maxName:
		return "", invalid("The token name has the wrong length", fmt.Sprintf("It must have 1 to %d characters.", maxName), "")
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "", invalid("The token name has unprintable characters", "", "Use letters, digits and spaces.")
	case slices.ContainsFunc([]string{kindAdmin, openRelayName, b.user}, func(taken string) bool { return strings.EqualFold(name, taken) }),
		strings.HasSuffix(name, fromAgent):
		return "", invalid("The token name is taken", fmt.Sprintf("%q already names someone else.", name), "Choose another.")
	}
	return name, nil
}

// grantable returns the scopes that a client wants to grant, if it has them itself.
func grantable(names []string, maker Identity) (Scopes, *api.Error) {
	if len(names) == 0 {
		return 0, invalid("A token needs a scope", "", "Name at least one of: "+AllScopes().String()+".")
	}
	scopes, err := ParseScopes(names)
	if err != nil {
		return 0, invalid("There is no such scope", err.Error()+".", "")
	}
	if lacking := scopes &^ maker.Scopes; lacking != 0 {
		return 0, refused("You can't grant a scope you don't have", "You lack: "+lacking.String()+".", "")
	}
	return scopes, nil
}

// nowStored returns the time, as exact as it is stored.
func nowStored() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// tokenSpec describes a token that is to be made.
type tokenSpec struct {
	name    string
	person  string // that a device belongs to
	scopes  Scopes
	kind    string
	expires time.Time
	maker   *entry   // the token of the client that asks; nil if it needed none
	bound   bool     // to a cookie
	halves  []string // of the token in whose place it comes, if there is one
}

// add makes a token and writes it down. A maker that has ended meanwhile makes none.
// half is what the cookie of a token that is bound to one holds.
func (b *TokenStore) add(now time.Time, w tokenSpec) (_ *api.CreatedToken, half string, _ error) {
	b.saving.Lock()
	defer b.saving.Unlock()
	if w.kind == kindDevice {
		w.name = b.freeName(now, w)
	}
	text, t := newToken(w.name, w.scopes)
	if w.bound {
		var sum [sha256.Size]byte
		half, sum = newHalf()
		t.bind(text, half, sum)
	}
	e := newEntry(t, w.kind, now, w.expires)
	e.person = w.person
	b.mu.Lock()
	old := b.ofHalf(w.halves)
	full, taken := len(b.entries) >= maxTokens && old == nil, b.entries[t.ID] != nil
	over := w.maker != nil && w.maker.unusable(now)
	if !full && !taken && !over {
		b.put(e)
		if old != nil {
			old.revoked = true // for the file; it works until that is written
		}
	}
	b.mu.Unlock()
	switch {
	case over:
		return nil, "", unauthorized()
	case full:
		return nil, "", &api.Error{
			Status: http.StatusConflict, Code: api.CodeConflict, Title: "Too many tokens",
			Detail: fmt.Sprintf("The maximum is %d.", maxTokens), Hint: "Revoke some: switchboard token list, switchboard token revoke ID.",
		}
	case taken:
		return nil, "", api.Errorf(http.StatusConflict, api.CodeConflict, "Two tokens got the same id by chance; try again")
	}
	if err := b.save(); err != nil {
		b.mu.Lock()
		delete(b.entries, t.ID)
		if old != nil {
			old.revoked = false
		}
		b.mu.Unlock()
		e.end()
		return nil, "", unwritten("The token was not made", err)
	}
	if old != nil {
		b.mu.Lock()
		old.end()
		b.forgetCodes(old)
		b.mu.Unlock()
	}
	return &api.CreatedToken{Token: e.public(), Text: text, Cookie: w.bound}, half, nil
}

// unwritten says that the file could not be written.
func unwritten(title string, err error) *api.Error {
	return &api.Error{Status: http.StatusServiceUnavailable, Code: api.CodeStorage, Title: title, Detail: err.Error(), Hint: "Free some disk space, and try again."}
}

func invalid(title, detail, hint string) *api.Error {
	return &api.Error{Status: http.StatusUnprocessableEntity, Code: api.CodeInvalid, Title: title, Detail: detail, Hint: hint}
}

// Watch returns a context that ends with the cause [ErrRevoked] when the token
// that a client came with is revoked or expires, and with ctx. What a client is
// shown for longer than a moment belongs under it. The function that it returns
// has to be called in the end.
func Watch(ctx context.Context, id Identity) (context.Context, context.CancelFunc) {
	watched, cancel := context.WithCancelCause(ctx)
	if id.token == nil {
		return watched, func() { cancel(nil) }
	}
	stop := context.AfterFunc(id.token.ended, func() { cancel(ErrRevoked) })
	return watched, func() {
		stop()
		cancel(nil)
	}
}
