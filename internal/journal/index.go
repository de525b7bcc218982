package journal

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/switchboard-dev/switchboard/internal/trust"
)

// The search index is a file of its own, search.db, so that keeping it never
// holds up the log, and so that it can be thrown away: it is made anew from the
// log whenever it is missing, damaged, of another version or ahead of the log.
const indexVersion = 1

const indexSchema = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
-- The rowid is the entry's position. The text itself is in the log. The column
-- session holds one made-up word per session, which makes a search within one
-- an intersection of two lists.
CREATE VIRTUAL TABLE messages USING fts5 (text, session, content = '', contentless_delete = 1);
`

// How much is indexed in one transaction, how long to wait for more before one
// begins, and how long after one has failed.
const (
	indexEntries = 1000
	indexBytes   = 8 << 20
	indexDelay   = 200 * time.Millisecond
	indexRetry   = 10 * time.Second
	// While the log grows faster than it is indexed, the index rests for so many
	// times as long as it has worked, but not for longer than that: a goroutine that writes
	// comes first, and an index lags anyway. It rests less when so many entries
	// wait for it that a burst has become the rule; once no goroutine writes it has them
	// in a second or two.
	indexRests       = 19
	indexRestsBehind = 4
	indexBehind      = 100_000
	indexMaxRest     = 2 * time.Second
)

// An index is the search index.
type index struct {
	// Static.
	path   string
	logger *slog.Logger
	kick   chan struct{}

	// Owned by the goroutine that keeps the index.
	w        *conn
	position int64  // up to which the log is indexed
	ahead    int64  // what position was in a file that knew more than the log
	recent   recent // texts that would otherwise be found twice

	// mu is held for reading during a search.
	mu      sync.RWMutex
	readers *pool // nil while there is no file
}

func newIndex(path string, logger *slog.Logger) *index {
	return &index{path: path, logger: logger, kick: make(chan struct{}, 1), recent: recent{seen: map[[16]byte]bool{}}}
}

// wake says that there is something to be indexed or to be removed.
func (x *index) wake() {
	select {
	case x.kick <- struct{}{}:
	default:
	}
}

// close closes the files. The goroutine that keeps the index has ended.
func (x *index) close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	var errs []error
	if x.readers != nil {
		errs = append(errs, x.readers.close())
		x.readers = nil
	}
	if x.w != nil {
		errs = append(errs, x.w.close())
		x.w = nil
	}
	return errors.Join(errs...)
}

// discard closes the files and removes them.
func (x *index) discard() error {
	errs := []error{x.close()}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(x.path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// open opens the file if it fits the journal, which has an id and has come to a
// position. It makes a new one if it does not, or is damaged; a file that cannot be
// read just now stays.
func (x *index) open(ctx context.Context, id string, last int64) error {
	fits := false
	err := x.connect(ctx)
	if err == nil {
		fits, err = x.fits(ctx, id, last)
	}
	if err != nil && !damaged(err) && code(err) != sqlite3.SQLITE_ERROR { // that is a table which is missing
		return errors.Join(err, x.close())
	}
	if !fits {
		if err := x.discard(); err != nil {
			return err
		}
		if err := x.connect(ctx); err != nil {
			return err
		}
		err := x.w.transaction(func() error {
			if err := x.w.script(ctx, indexSchema); err != nil {
				return err
			}
			if err := x.w.exec("INSERT INTO meta (key, value) VALUES ('id', ?), ('position', 0)", id); err != nil {
				return err
			}
			return x.w.script(ctx, fmt.Sprintf("PRAGMA user_version = %d", indexVersion))
		})
		if err != nil {
			return errors.Join(err, x.close())
		}
		x.position = 0
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.readers = newPool(2, func() (*conn, error) {
		return connect(context.Background(), x.path, "", setting{"query_only", "1"})
	})
	return nil
}

// connect opens the connection that writes.
func (x *index) connect(ctx context.Context) (err error) {
	if err := asFileError(trust.File(x.path)); err != nil {
		return err
	}
	file, err := os.OpenFile(x.path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	x.w, err = connect(ctx, x.path, "", setting{"journal_mode", "WAL"}, setting{"synchronous", "NORMAL"},
		setting{"journal_size_limit", "16777216"}, setting{"cache_size", "-8000"}, setting{"wal_autocheckpoint", "8000"})
	return err
}

// fits says whether the file can be used, and where it ends.
func (x *index) fits(ctx context.Context, id string, last int64) (bool, error) {
	version, _, err := x.w.first("PRAGMA user_version")
	if err != nil || version != indexVersion {
		return false, err
	}
	var of string
	err = x.w.query(ctx, func(r row) error {
		of = r.text(0)
		return nil
	}, "SELECT value FROM meta WHERE key = 'id'")
	if err != nil || of != id {
		return false, err
	}
	x.position, _, err = x.w.first("SELECT value FROM meta WHERE key = 'position'")
	if x.position > last {
		x.ahead = x.position
		return false, err
	}
	return true, err
}

// keepIndex is the goroutine that keeps the index: it follows the log, and
// removes what was removed there. It ends with ctx.
func (s *SQLite) keepIndex(ctx context.Context) {
	x := s.index
	for failing := false; ctx.Err() == nil; {
		begin := time.Now()
		more, err := s.indexSome(ctx)
		delay := indexDelay
		switch {
		case err != nil && ctx.Err() == nil:
			if !failing { // said once
				x.logger.Warn("the search index cannot be kept; trying again and again", "error", err)
			}
			failing = true
			delay = indexRetry
		case more:
			failing = false
			select {
			case <-x.kick:
				delay = min(rests(s.last.Load()-x.position)*time.Since(begin), indexMaxRest)
			default:
				continue // no goroutine writes
			}
		default:
			failing = false
			select {
			case <-ctx.Done():
			case <-x.kick:
			}
		}
		// A little later there is more, and one large transaction costs less.
		timer := time.NewTimer(delay)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// rests is how many times as long as it has worked the index rests while so many
// entries wait for it.
func rests(behind int64) time.Duration {
	if behind > indexBehind {
		return indexRestsBehind
	}
	return indexRests
}

// indexSome does the next piece of work and says whether there may be more.
func (s *SQLite) indexSome(ctx context.Context) (more bool, err error) {
	x := s.index
	if x.w == nil {
		if err := x.open(ctx, s.id, s.last.Load()); err != nil {
			return false, err
		}
	}
	if err = s.removeTraces(ctx); err == nil {
		more, err = s.indexEntries(ctx)
	}
	if damaged(err) {
		x.logger.Warn("the search index is damaged; making it anew", "error", err)
		return true, x.discard()
	}
	if storageError(err) {
		err = errors.Join(err, x.close()) // opened again by the next try
	}
	return more, err
}

// A document is a text to be indexed.
type document struct {
	position int64
	session  int64
	text     string
}

// indexEntries indexes the next entries of the log.
func (s *SQLite) indexEntries(ctx context.Context) (more bool, err error) {
	x := s.index
	var documents []document
	upTo := min(s.last.Load(), x.position+indexEntries)
	position, size := upTo, int64(0)
	err = s.readers.with(ctx, func(c *conn) error {
		return c.query(ctx, func(r row) error {
			length := blobSize(r, 3)
			if size += length; size > indexBytes && len(documents) > 0 {
				position = r.int(0) - 1 // the next time begins with this one
				return errStop
			}
			if length > maxTextLine || length == 0 {
				return nil
			}
			line, err := s.blob(r, 3)
			if err != nil {
				s.options.Logger.Warn("an entry cannot be searched", "position", r.int(0), "error", err)
				return nil // the others can
			}
			session := r.int(1)
			typ, text, replay := messageText(line)
			if text == "" || x.recent.seenBefore(session, typ, text, r.text(2), replay) {
				return nil
			}
			documents = append(documents, document{r.int(0), session, text})
			return nil
		}, "SELECT pos, session, uuid, line FROM entries WHERE pos > ? AND pos <= ? AND kind IN ('line', 'sent') ORDER BY pos", x.position, upTo)
	})
	if err != nil {
		return false, hideLogError(err)
	}
	if position <= x.position {
		return false, nil
	}
	err = x.w.transaction(func() error {
		for _, d := range documents {
			if err := x.w.exec("INSERT INTO messages (rowid, text, session) VALUES (?, ?, ?)", d.position, d.text, sessionWord(d.session)); err != nil {
				return err
			}
		}
		return x.w.exec("UPDATE meta SET value = ? WHERE key = 'position'", position)
	})
	if err != nil {
		return false, err
	}
	x.position = position
	return x.position < s.last.Load(), nil
}

// hideLogError hides the type of an error of the log, so that it is not taken for one
// of the index, which would be thrown away for it.
func hideLogError(err error) error { return fmt.Errorf("following the journal: %v", err) }

// sessionWord is the word that all texts of a session have.
func sessionWord(n int64) string { return fmt.Sprintf("s%d", n) }

// recent remembers what was indexed lately. A prompt comes twice, as it is sent
// and as the CLI's echo, and the last answer of a turn again in its result;
// each is to be found once. Forgetting costs a second hit and nothing else.
type recent struct {
	seen  map[[16]byte]bool
	order [][16]byte
}

const maxRecent = 4096

// seenBefore reports whether a text was seen before under its uuid or, for a result,
// as an answer, and remembers it.
func (r *recent) seenBefore(session int64, typ, text, uuid string, replay bool) bool {
	key := func(kind, name string) [16]byte {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %s", session, kind, name))
		return [16]byte(sum[:16])
	}
	switch typ {
	case "result":
		return r.seen[key("answer", text)]
	case "assistant":
		r.remember(key("answer", text))
	case "user":
		if uuid == "" {
			return false
		}
		k := key("prompt", uuid)
		if replay && r.seen[k] {
			return true
		}
		r.remember(k)
	}
	return false
}

func (r *recent) remember(key [16]byte) {
	if r.seen[key] {
		return
	}
	if len(r.order) == maxRecent {
		delete(r.seen, r.order[0])
		r.order = r.order[1:]
	}
	r.seen[key] = true
	r.order = append(r.order, key)
}

// Search finds messages by their text, the newest first.
func (s *SQLite) Search(ctx context.Context, q SearchQuery) (SearchPage, error) {
	limit := q.Limit
	if limit <= 0 {
		limit = 20
	}
	limit = min(limit, 1000)
	select {
	case <-s.readers.closed:
		return SearchPage{}, ErrClosed
	default:
	}
	below := int64(1) << 62
	if q.Cursor != "" {
		place, err := parseCursor(q.Cursor, 1)
		if err != nil {
			return SearchPage{}, fmt.Errorf("searching: %w", err)
		}
		below = place[0]
	}
	terms := parseSearch(q.Text)
	if len(terms) == 0 {
		return SearchPage{}, ctx.Err()
	}
	expression := match(terms)
	if q.Session != "" {
		var n int64
		err := s.read(ctx, "session "+q.Session, func(c *conn) (err error) {
			n, _, err = c.first("SELECT n FROM sessions WHERE id = ?", q.Session)
			return err
		})
		if err != nil {
			return SearchPage{}, err
		}
		expression += ` AND session : "` + sessionWord(n) + `"`
	}
	var page SearchPage
	for {
		places, err := s.index.find(ctx, expression, below, limit+1)
		if err != nil {
			return SearchPage{}, fmt.Errorf("searching: %w", err)
		}
		for _, place := range places {
			if len(page.Hits) == limit {
				page.Next = cursor(below)
				return page, nil
			}
			hit, err := s.hit(ctx, place, terms)
			if errors.Is(err, ErrNotFound) {
				// Removed, which the index does not know yet.
				below = place
				continue
			}
			if err != nil {
				return SearchPage{}, err
			}
			below = place
			page.Hits = append(page.Hits, *hit)
		}
		if len(places) <= limit {
			return page, nil
		}
	}
}

// find returns the positions of the newest messages that match, below a
// position.
func (x *index) find(ctx context.Context, expression string, below int64, limit int) ([]int64, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.readers == nil {
		return nil, &UnavailableError{Reason: "the search index is not there yet; try again in a moment"}
	}
	var places []int64
	err := x.readers.with(ctx, func(c *conn) error {
		return c.query(ctx, func(r row) error {
			places = append(places, r.int(0))
			return nil
		}, "SELECT rowid FROM messages WHERE messages MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?", expression, below, limit)
	})
	return places, err
}

// hit makes a hit of the entry at a position.
func (s *SQLite) hit(ctx context.Context, position int64, terms []term) (*Hit, error) {
	return one(ctx, s, fmt.Sprintf("the entry at position %d", position), func(r row) (Hit, error) {
		e, err := s.scanEntry(r)
		if err != nil {
			return Hit{}, err
		}
		_, text, _ := messageText(e.Line)
		return Hit{Session: e.Session, Seq: e.Seq, Time: e.Time, Kind: speaker(e.Line), Snippet: snippet(text, terms)}, nil
	}, "SELECT "+entryColumns+" FROM entries e JOIN sessions s ON s.n = e.session WHERE e.pos = ?", position)
}
