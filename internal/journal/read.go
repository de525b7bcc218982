package journal

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// What the queries select, in the order in which the scan functions below
// expect it.
const (
	entryColumns   = "s.id, e.seq, e.pos, e.run, e.time, e.source, e.who, e.kind, e.uuid, e.line, e.data"
	sessionColumns = `s.id, s.epoch, s.seq, s.title, s.dir, s.state, s.model, s.conversation, s.run, s.created, s.updated, s.open, s.cost,
	s.ended, s.archived, s.data, s.node`
	runColumns = `s.id, r.run, r.transport, r.token_hash, r.instance, r.marker, r.pid, r.pid_start, r.have, r.next_command, r.last_uuids,
	r.spec, r.started, r.ended, r.reason, r.node`
	commandColumns = `s.id, c.id, c.run, c.number, c.client_id, c.kind, c.state, c.settled, c.uuid, c.request_id, c.line, c.data, c.who,
	c.place, c.created, c.updated`
	questionColumns = `q.id, s.id, q.run, q.request_id, q.kind, q.state, q.opened, q.settled, q.ask, q.answer, q.who, q.reason, q.data,
	q.opened_at, q.settled_at`
	turnColumns = "s.id, t.run, t.seq, t.time, t.cost, t.data"
)

const (
	defaultEntries = 1000
	defaultBytes   = 4 << 20
)

// read lends a connection for reading.
func (s *SQLite) read(ctx context.Context, what string, use func(*conn) error) error {
	err := s.readers.with(ctx, use)
	if err == nil || errors.Is(err, ErrNotFound) || errors.Is(err, ErrClosed) {
		return err
	}
	if damaged(err) {
		err = &FileError{Path: s.path, Reason: "it is damaged", Hint: s.damageHint(), Err: err}
	}
	return fmt.Errorf("reading %s: %w", what, s.explain(err))
}

// Entries returns the entries of a session after a sequence number. See
// [Journal].
func (s *SQLite) Entries(ctx context.Context, session string, after int64, limit int, maxBytes int64) ([]Entry, error) {
	return s.entries(ctx, limit, maxBytes, "SELECT "+entryColumns+` FROM sessions s JOIN entries e ON e.session = s.n
WHERE s.id = ? AND e.seq > ? ORDER BY e.seq LIMIT ?`, session, after)
}

// EntriesByPosition returns the entries of all sessions after a position. See
// [Journal].
func (s *SQLite) EntriesByPosition(ctx context.Context, after int64, limit int, maxBytes int64) ([]Entry, error) {
	return s.entries(ctx, limit, maxBytes, "SELECT "+entryColumns+` FROM entries e CROSS JOIN sessions s ON s.n = e.session
WHERE e.pos > ? ORDER BY e.pos LIMIT ?`, after)
}

// entries runs a query for entries, whose last parameter is the limit.
func (s *SQLite) entries(ctx context.Context, limit int, maxBytes int64, text string, args ...any) ([]Entry, error) {
	if limit <= 0 {
		limit = defaultEntries
	}
	if maxBytes <= 0 {
		maxBytes = defaultBytes
	}
	var list []Entry
	var size int64
	err := s.read(ctx, "entries", func(c *conn) error {
		return c.query(ctx, func(r row) error {
			size += blobSize(r, 9) + blobSize(r, 10)
			if size > maxBytes && len(list) > 0 {
				return errStop
			}
			e, err := s.scanEntry(r)
			if err != nil {
				return err
			}
			list = append(list, e)
			return nil
		}, text, append(args, limit)...)
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

func (s *SQLite) scanEntry(r row) (Entry, error) {
	line, err := s.blob(r, 9)
	if err != nil {
		return Entry{}, err
	}
	data, err := s.blob(r, 10)
	return Entry{
		Session: r.text(0), Seq: r.int(1), Position: r.int(2), Run: int(r.int(3)), Time: r.time(4),
		Source: Source(r.text(5)), By: r.text(6), Kind: r.text(7), UUID: r.text(8), Line: line, Data: data,
	}, err
}

// one runs a query for one row.
func one[T any](ctx context.Context, s *SQLite, what string, scan func(row) (T, error), text string, args ...any) (*T, error) {
	var found *T
	err := s.read(ctx, what, func(c *conn) error {
		err := c.query(ctx, func(r row) error {
			v, err := scan(r)
			if err != nil {
				return err
			}
			found = &v
			return errStop
		}, text, args...)
		if err == nil && found == nil {
			return fmt.Errorf("%s: %w", what, ErrNotFound)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// all runs a query for many rows.
func all[T any](ctx context.Context, s *SQLite, what string, scan func(row) (T, error), text string, args ...any) ([]T, error) {
	var list []T
	err := s.read(ctx, what, func(c *conn) error {
		return c.query(ctx, func(r row) error {
			v, err := scan(r)
			list = append(list, v)
			return err
		}, text, args...)
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// Session returns a session's row.
func (s *SQLite) Session(ctx context.Context, id string) (*Session, error) {
	return one(ctx, s, "session "+id, scanSession, "SELECT "+sessionColumns+" FROM sessions s WHERE s.id = ?", id)
}

// SessionByConversation returns the session that has had a conversation.
func (s *SQLite) SessionByConversation(ctx context.Context, conversation string) (*Session, error) {
	return one(ctx, s, "the session of conversation "+conversation, scanSession, "SELECT "+sessionColumns+` FROM conversations c
JOIN sessions s ON s.n = c.session WHERE c.conversation = ? ORDER BY `+dataUnauthenticated+`, s.updated DESC, s.n DESC LIMIT 1`, conversation)
}

func scanSession(r row) (Session, error) {
	return Session{
		ID: r.text(0), Epoch: r.text(1), Seq: r.int(2), Title: r.text(3), Dir: r.text(4), State: r.text(5), Model: r.text(6),
		Conversation: r.text(7), Run: int(r.int(8)), Created: r.time(9), Updated: r.time(10), Open: int(r.int(11)), CostUSD: r.float(12),
		Ended: r.time(13), Archived: r.time(14), Data: r.bytes(15), Node: r.text(16),
	}, nil
}

// dataUnauthenticated says whether the data of a session's row has unauthenticated: true,
// as SQL.
const dataUnauthenticated = `CASE WHEN json_valid(CAST(s.data AS TEXT)) THEN ifnull(json_extract(CAST(s.data AS TEXT), '$.unauthenticated'), 0) ELSE 0 END`

// dataFailed says whether the data of a session's row has failed: true, as SQL.
const dataFailed = `CASE WHEN json_valid(CAST(data AS TEXT)) THEN ifnull(json_extract(CAST(data AS TEXT), '$.failed'), 0) ELSE 0 END`

// dataNode is the member node of the data of a session's row, as SQL.
const dataNode = `CASE WHEN json_valid(CAST(data AS TEXT)) THEN ifnull(json_extract(CAST(data AS TEXT), '$.node'), '') ELSE '' END`

// Sessions lists sessions, the most recently updated first. The cursor of a page
// is the place of its last row, so a session that changes meanwhile moves to the
// front of the list and shifts nothing.
func (s *SQLite) Sessions(ctx context.Context, q SessionQuery) (SessionPage, error) {
	limit := q.Limit
	if limit <= 0 {
		limit = 100
	}
	limit = min(limit, 1000)
	index := "sessions_listed"
	var where []string
	var args []any
	if !q.Archived {
		where = append(where, "archived = 0")
	}
	if len(q.States) > 0 || q.Failed {
		states, err := json.Marshal(q.States)
		if err != nil {
			return SessionPage{}, fmt.Errorf("listing sessions: %w", err)
		}
		fits := "state IN (SELECT value FROM json_each(?))"
		if q.Failed {
			fits = "(" + fits + " OR " + dataFailed + ")"
		}
		where = append(where, fits)
		args = append(args, string(states))
		if !q.Failed && !slices.Contains(q.States, "ended") {
			index = "sessions_current"
			where = append(where, "state <> 'ended'")
		}
	}
	if q.Node != "" {
		index = "sessions_elsewhere"
		where = append(where, "node <> ''", "(node = ? OR "+dataNode+" = ?)")
		args = append(args, q.Node, q.Node)
	}
	if q.Dir != "" {
		where = append(where, "dir = ?")
		args = append(args, q.Dir)
	}
	if q.Text != "" {
		part := "%" + strings.NewReplacer("\\", "\\\\", "%", "\\%", "_", "\\_").Replace(q.Text) + "%"
		where = append(where, "(title LIKE ? ESCAPE '\\' OR dir LIKE ? ESCAPE '\\')")
		args = append(args, part, part)
	}
	if q.Cursor != "" {
		place, err := parseCursor(q.Cursor, 2)
		if err != nil {
			return SessionPage{}, fmt.Errorf("listing sessions: %w", err)
		}
		where = append(where, "(updated, n) < (?, ?)")
		args = append(args, place[0], place[1])
	}
	text := "SELECT n AS k FROM sessions INDEXED BY " + index
	if len(where) > 0 {
		text += " WHERE " + strings.Join(where, " AND ")
	}
	text = "SELECT " + sessionColumns + ", s.n FROM (" + text + " ORDER BY updated DESC, n DESC LIMIT ?) CROSS JOIN sessions s ON s.n = k ORDER BY s.updated DESC, s.n DESC"
	type listed struct {
		Session
		n int64
	}
	list, err := all(ctx, s, "the list of sessions", func(r row) (listed, error) {
		session, err := scanSession(r)
		return listed{session, r.int(17)}, err
	}, text, append(args, limit+1)...) // one more than asked for tells whether there is a next page
	if err != nil {
		return SessionPage{}, err
	}
	var page SessionPage
	if len(list) > limit {
		list = list[:limit]
		last := list[limit-1]
		page.Next = cursor(nanoseconds(last.Updated), last.n)
	}
	for i := range list {
		page.Sessions = append(page.Sessions, list[i].Session)
	}
	return page, nil
}

// cursor makes an opaque text of numbers.
func cursor(places ...int64) string {
	var text []string
	for _, p := range places {
		text = append(text, strconv.FormatInt(p, 36))
	}
	return base64.RawURLEncoding.EncodeToString([]byte(strings.Join(text, ".")))
}

// parseCursor is the opposite of cursor.
func parseCursor(c string, n int) ([]int64, error) {
	text, err := base64.RawURLEncoding.DecodeString(c)
	if err != nil {
		return nil, fmt.Errorf("cursor %q is not one of ours: %w", c, ErrCursor)
	}
	var places []int64
	for part := range strings.SplitSeq(string(text), ".") {
		p, err := strconv.ParseInt(part, 36, 64)
		if err != nil {
			return nil, fmt.Errorf("cursor %q is not one of ours: %w", c, ErrCursor)
		}
		places = append(places, p)
	}
	if len(places) != n {
		return nil, fmt.Errorf("cursor %q is not one of ours: %w", c, ErrCursor)
	}
	return places, nil
}

// Fold returns the newest fold of a session.
func (s *SQLite) Fold(ctx context.Context, session string) (fold []byte, seq int64, err error) {
	err = s.read(ctx, "the fold of session "+session, func(c *conn) error {
		return c.query(ctx, func(r row) error {
			fold, seq = r.bytes(0), r.int(1)
			return nil
		}, "SELECT f.fold, f.seq FROM sessions s JOIN folds f ON f.session = s.n WHERE s.id = ?", session)
	})
	return fold, seq, err
}

// Run returns one run.
func (s *SQLite) Run(ctx context.Context, session string, run int) (*Run, error) {
	return one(ctx, s, fmt.Sprintf("run %d of session %s", run, session), scanRun, "SELECT "+runColumns+
		" FROM sessions s JOIN runs r ON r.session = s.n WHERE s.id = ? AND r.run = ?", session, run)
}

// LiveRuns returns the runs of all sessions that have not ended.
func (s *SQLite) LiveRuns(ctx context.Context) ([]Run, error) {
	return all(ctx, s, "the live runs", scanRun, "SELECT "+runColumns+
		" FROM runs r CROSS JOIN sessions s ON s.n = r.session WHERE r.ended = 0 ORDER BY r.session, r.run")
}

func scanRun(r row) (Run, error) {
	run := Run{
		Session: r.text(0), Run: int(r.int(1)), Transport: r.text(2), TokenHash: r.bytes(3), Instance: r.text(4), Marker: r.text(5),
		PID: int(r.int(6)), PIDStart: r.text(7), Have: r.int(8), NextCommand: r.int(9), Spec: r.bytes(11), Started: r.time(12),
		Ended: r.time(13), Reason: r.text(14), Node: r.text(15),
	}
	if uuids := r.text(10); uuids != "[]" {
		if err := json.Unmarshal([]byte(uuids), &run.LastUUIDs); err != nil {
			return run, err
		}
	}
	return run, nil
}

// Commands lists a session's outbox, the oldest first.
func (s *SQLite) Commands(ctx context.Context, session string, open bool) ([]Command, error) {
	text := "SELECT " + commandColumns + " FROM sessions s JOIN commands c ON c.session = s.n WHERE s.id = ?"
	if open {
		text += " AND c.settled = 0"
	}
	return all(ctx, s, "the commands of session "+session, s.scanCommand, text+" ORDER BY c.n", session)
}

func (s *SQLite) scanCommand(r row) (Command, error) {
	line, err := s.blob(r, 10)
	if err != nil {
		return Command{}, err
	}
	data, err := s.blob(r, 11)
	return Command{
		Session: r.text(0), ID: r.text(1), Run: int(r.int(2)), Number: r.int(3), ClientID: r.text(4), Kind: r.text(5), State: r.text(6),
		Settled: r.int(7) != 0, UUID: r.text(8), RequestID: r.text(9), Line: line, Data: data, By: r.text(12), Order: r.int(13),
		Created: r.time(14), Updated: r.time(15),
	}, err
}

// Question returns one question.
func (s *SQLite) Question(ctx context.Context, id string) (*Question, error) {
	return one(ctx, s, "question "+id, s.scanQuestion, "SELECT "+questionColumns+
		" FROM questions q JOIN sessions s ON s.n = q.session WHERE q.id = ?", id)
}

// Questions lists questions, the oldest first.
func (s *SQLite) Questions(ctx context.Context, q QuestionQuery) ([]Question, error) {
	text := "SELECT " + questionColumns + " FROM questions q CROSS JOIN sessions s ON s.n = q.session WHERE 1"
	var args []any
	if q.Session != "" {
		text += " AND q.session = (SELECT n FROM sessions WHERE id = ?)"
		args = append(args, q.Session)
	}
	switch q.State {
	case "":
	case "open": // as a literal, so that its index is used
		text += " AND q.state = 'open'"
	default:
		text += " AND q.state = ?"
		args = append(args, q.State)
	}
	if q.Kind != "" {
		text += " AND q.kind = ?"
		args = append(args, q.Kind)
	}
	if q.Prefix != "" {
		text += " AND q.id >= ? AND q.id < ?"
		args = append(args, q.Prefix, q.Prefix+"\U0010ffff")
	}
	if q.After != "" {
		text += " AND q.n > (SELECT n FROM questions WHERE id = ?)"
		args = append(args, q.After)
	}
	text += " ORDER BY q.n"
	if q.Limit > 0 {
		text += " LIMIT ?"
		args = append(args, q.Limit)
	}
	return all(ctx, s, "questions", s.scanQuestion, text, args...)
}

// Count counts sessions and open questions.
func (s *SQLite) Count(ctx context.Context) (Counts, error) {
	counts := Counts{Sessions: map[string]int{}, OpenQuestions: map[string]int{}}
	err := s.read(ctx, "counts", func(c *conn) error {
		for _, q := range []struct {
			into map[string]int
			text string
		}{
			{counts.Sessions, "SELECT state, count(*) FROM sessions GROUP BY state"},
			{counts.OpenQuestions, "SELECT kind, count(*) FROM questions WHERE state = 'open' GROUP BY kind"},
		} {
			err := c.query(ctx, func(r row) error {
				q.into[r.text(0)] = int(r.int(1))
				return nil
			}, q.text)
			if err != nil {
				return err
			}
		}
		return nil
	})
	return counts, err
}

func (s *SQLite) scanQuestion(r row) (Question, error) {
	ask, err := s.blob(r, 8)
	if err != nil {
		return Question{}, err
	}
	answer, err := s.blob(r, 9)
	if err != nil {
		return Question{}, err
	}
	data, err := s.blob(r, 12)
	return Question{
		ID: r.text(0), Session: r.text(1), Run: int(r.int(2)), RequestID: r.text(3), Kind: r.text(4), State: r.text(5),
		Opened: r.int(6), Settled: r.int(7), Ask: ask, Answer: answer, By: r.text(10), Reason: r.text(11), Data: data,
		OpenedAt: r.time(13), SettledAt: r.time(14),
	}, err
}

// Turns lists what the turns of a session cost, the oldest first.
func (s *SQLite) Turns(ctx context.Context, session string) ([]Turn, error) {
	return all(ctx, s, "the turns of session "+session, func(r row) (Turn, error) {
		return Turn{Session: r.text(0), Run: int(r.int(1)), Seq: r.int(2), Time: r.time(3), CostUSD: r.float(4), Data: r.bytes(5)}, nil
	}, "SELECT "+turnColumns+" FROM sessions s JOIN turns t ON t.session = s.n WHERE s.id = ? ORDER BY t.seq, t.run", session)
}

// Spent sums up turns by machine and folder. The sum of the costs is rounded to a billionth:
// it does not depend on the order of the rows.
func (s *SQLite) Spent(ctx context.Context, since time.Time) ([]Spent, error) {
	return all(ctx, s, "what was spent", func(r row) (Spent, error) {
		return Spent{Dir: r.text(0), CostUSD: r.float(1), Turns: r.int(2), Millis: r.int(3), Node: r.text(4)}, nil
	}, `SELECT s.dir, round(sum(t.cost), 9), count(*), sum(`+turnMillis+`), s.node
FROM turns t JOIN sessions s ON s.n = t.session WHERE t.time >= ? GROUP BY s.node, s.dir ORDER BY s.node, s.dir`, since)
}

// ClientID returns what was answered to a client id.
func (s *SQLite) ClientID(ctx context.Context, scope, id string) (*ClientID, error) {
	var found *ClientID
	err := s.read(ctx, "client id "+id, func(c *conn) (err error) {
		if found, _, err = clientID(c, scope, id); err == nil && found == nil {
			err = fmt.Errorf("client id %q: %w", id, ErrNotFound)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// clientID looks a client id up; nil if there is none. owner is the key of its
// session.
func clientID(c *conn, scope, id string) (found *ClientID, owner int64, err error) {
	err = c.query(context.Background(), func(r row) error {
		found = &ClientID{Scope: scope, ID: id, Sum: r.bytes(0), Answer: r.bytes(1), Time: r.time(2)}
		owner = r.int(3)
		return nil
	}, "SELECT sum, answer, time, session FROM client_ids WHERE scope = ? AND id = ?", scope, id)
	return found, owner, err
}

// Lease returns the holder of a conversation.
func (s *SQLite) Lease(ctx context.Context, configDir, conversation string) (*Lease, error) {
	var found *Lease
	err := s.read(ctx, "the lease of conversation "+conversation, func(c *conn) (err error) {
		if found, err = leaseOf(c, configDir, conversation); err == nil && found == nil {
			err = fmt.Errorf("the lease of conversation %s: %w", conversation, ErrNotFound)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// leaseOf looks a lease up; nil if there is none.
func leaseOf(c *conn, configDir, conversation string) (found *Lease, err error) {
	err = c.query(context.Background(), func(r row) error {
		found = &Lease{ConfigDir: configDir, Conversation: conversation, Session: r.text(0), Run: int(r.int(1))}
		return nil
	}, "SELECT s.id, l.run FROM leases l JOIN sessions s ON s.n = l.session WHERE l.config_dir = ? AND l.conversation = ?", configDir, conversation)
	return found, err
}
