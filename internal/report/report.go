package report

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/policy"
	"github.com/switchboard-dev/switchboard/internal/record"
)

// Options are the options of [Reports].
type Options struct {
	// Journal is what is reported on. It is required.
	Journal journal.Journal
	// Logger takes what an operator should know. If nil, nothing is logged.
	Logger *slog.Logger
	// Now is the clock; days are those of its zone. If nil, time.Now.
	Now func() time.Time
	// Library finds what CLIs have left on the hub's own disk. It may be nil.
	Library Library
	// Libraries returns the library of another machine, by its name or id, with both.
	// Errors that callers can do something about are of type *api.Error. If nil, there are no other machines.
	Libraries func(ctx context.Context, node string) (l Library, id, name string, err error)
	// Rules are the rules for all sessions. If nil, there are none.
	Rules Rules
	// Evaluated counts judgements of calls that a client asked for: how many rules
	// were held against how many calls. It may be nil.
	Evaluated func(evaluations int)
	// Live returns what a session in memory has counted, nil if the session is not
	// in memory. If the function is nil, no session is.
	Live func(ctx context.Context, session string) (*record.Unknown, error)
	// Scratch is a folder for files that are read once and removed: as large as
	// the journal. If empty, the system's.
	Scratch string
}

// Rules are the rules that are in force for all sessions. If they stand in a
// file, they also have the method Try of [TryRules].
type Rules interface {
	Engine() *policy.Engine
}

// TryRules are [Rules] that can be held against another text.
type TryRules interface {
	Rules
	// Try returns the rules of a text as they would hold, and changes nothing. Its
	// errors that callers can do something about are of type *api.Error.
	Try(text string) (*policy.Engine, error)
}

// Reports reports on a journal. Its methods are safe for concurrent use.
type Reports struct {
	journal   journal.Journal
	log       *slog.Logger
	clock     func() time.Time
	zone      *time.Location
	disk      Library
	disks     func(ctx context.Context, node string) (l Library, id, name string, err error)
	rules     Rules
	evaluated func(int)
	live      func(ctx context.Context, session string) (*record.Unknown, error)
	scratch   string
	backups   chan struct{} // room for the one that is being made
}

// New returns reports on a journal, and removes what a backup has left in the
// scratch folder that was killed on the way.
func New(o Options) *Reports {
	r := &Reports{
		journal: o.Journal, log: o.Logger, clock: o.Now, disk: o.Library, disks: o.Libraries, rules: o.Rules, evaluated: o.Evaluated, live: o.Live, scratch: o.Scratch,
		backups: make(chan struct{}, 1),
	}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	if r.clock == nil {
		r.clock = time.Now
	}
	r.zone = r.clock().Location()
	if r.evaluated == nil {
		r.evaluated = func(int) {}
	}
	if r.live == nil {
		r.live = func(context.Context, string) (*record.Unknown, error) { return nil, nil }
	}
	if err := r.sweepScratch(); err != nil { // as large as the journal; the next backup tries again
		r.log.Warn("what a backup left is still there", "err", err)
	}
	return r
}

// now returns the time, in the form in which it is stored.
func (p *Reports) now() time.Time { return p.clock().UTC().Round(0) }

// problem turns an error into one for a caller.
func (p *Reports) problem(err error, id string) error { return record.Problem(p.log, err, id) }

// limited returns how many rows a page has: what was asked for within bounds, or
// the usual number.
func limited(asked, usual, most int) int {
	if asked <= 0 {
		return usual
	}
	return min(asked, most)
}

// An entryReader goes through the entries of a session, in order, up to the last that
// there was when it began. It holds no more than a part of them.
type entryReader struct {
	reports *Reports
	session *journal.Session
	after   int64
	page    []journal.Entry
}

// How much an entryReader reads at once.
const (
	readEntries = 500
	readBytes   = 4 << 20
)

// read begins to go through a session's entries.
func (p *Reports) read(ctx context.Context, id string) (*entryReader, error) {
	row, err := p.journal.Session(ctx, id)
	if err != nil {
		return nil, p.problem(err, id)
	}
	return &entryReader{reports: p, session: row}, nil
}

// next returns the next entry, nil after the last.
func (r *entryReader) next(ctx context.Context) (*journal.Entry, error) {
	if len(r.page) == 0 && r.after < r.session.Seq {
		page, err := r.reports.journal.Entries(ctx, r.session.ID, r.after, readEntries, readBytes)
		if err != nil {
			return nil, r.reports.problem(err, r.session.ID)
		}
		if len(page) == 0 { // never silently a hole
			return nil, r.reports.problem(fmt.Errorf("reading a session that was removed meanwhile: %w", journal.ErrNotFound), r.session.ID)
		}
		r.page = page
	}
	if len(r.page) == 0 || r.page[0].Seq > r.session.Seq {
		return nil, nil
	}
	e := &r.page[0]
	r.page, r.after = r.page[1:], e.Seq
	return e, nil
}

// maxTitle is how long a title may be, in runes.
const maxTitle = 200

// inOneLine makes a text fit for a title: one line, without control characters,
// not too long.
func inOneLine(text string) string { return record.CutLine(text, maxTitle) }

// A shelf is what can be seen of the disk of one machine: the hub's own, or the one with
// an id and a name.
type shelf struct {
	Library
	node, name string
}

// library returns what can be seen of a machine's disk: of the hub's own if node is "",
// else of the one with this name or id.
func (p *Reports) library(ctx context.Context, node string) (shelf, error) {
	switch {
	case node == "" && p.disk == nil:
		return shelf{}, api.Errorf(http.StatusConflict, api.CodeConflict, "this hub doesn't read conversations from disk")
	case node == "":
		return shelf{Library: p.disk}, nil
	case p.disks == nil:
		return shelf{}, &api.Error{
			Status: http.StatusNotFound, Code: api.CodeNotFound, Title: "this hub has no other machines", Hint: "leave out node, or invite a machine with switchboard node invite",
		}
	}
	library, id, name, err := p.disks(ctx, node)
	if err != nil {
		return shelf{}, p.problem(err, "")
	}
	return shelf{library, id, name}, nil
}
