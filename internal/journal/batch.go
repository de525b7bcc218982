package journal

import (
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
)

// The statements that write. The parameter for the session's key, which only the queue's leader
// knows, is the first; that of updateSession is the last.
const (
	insertEntry = `INSERT INTO entries (session, pos, seq, run, time, source, who, kind, uuid, line, data)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

	// A new session has only its id at first: its entries come before the rest.
	insertSession = `INSERT INTO sessions (id, epoch, seq, title, dir, state, model, conversation, run, created, updated, open, cost, ended, archived)
VALUES (?, '', 0, '', '', '', '', '', 0, 0, 0, 0, 0, 0, 0)`
	// The clock may go back; the list's order must not.
	updateSession = `UPDATE sessions SET seq = ?, bytes = bytes + ?, epoch = ?, title = ?, dir = ?, state = ?, model = ?, conversation = ?,
	run = ?, created = ?, updated = max(updated, ?), open = ?, cost = ?, ended = ?, archived = ?, data = ?, node = ? WHERE n = ?`

	upsertRun = `INSERT INTO runs (session, run, transport, token_hash, instance, marker, pid, pid_start, have, next_command, last_uuids, spec, started, ended, reason, node)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
ON CONFLICT (session, run) DO UPDATE SET transport = ?3, token_hash = ?4, instance = ?5, marker = ?6, pid = ?7, pid_start = ?8, have = ?9,
	next_command = ?10, last_uuids = ?11, spec = ?12, started = ?13, ended = ?14, reason = ?15, node = ?16`

	upsertCommand = `INSERT INTO commands (session, id, run, number, client_id, kind, state, settled, uuid, request_id, line, data, who, place, created, updated)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
ON CONFLICT (session, id) DO UPDATE SET run = ?3, number = ?4, client_id = ?5, kind = ?6, state = ?7, settled = ?8, uuid = ?9, request_id = ?10,
	line = ?11, data = ?12, who = ?13, place = ?14, created = ?15, updated = ?16`

	upsertQuestion = `INSERT INTO questions (session, id, run, request_id, kind, state, opened, settled, ask, answer, who, reason, data, opened_at, settled_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
ON CONFLICT (id) DO UPDATE SET run = ?3, request_id = ?4, kind = ?5, state = ?6, opened = ?7, settled = ?8, ask = ?9, answer = ?10, who = ?11,
	reason = ?12, data = ?13, opened_at = ?14, settled_at = ?15`

	upsertTurn     = "INSERT OR REPLACE INTO turns (session, run, seq, time, cost, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
	upsertFold     = "INSERT OR REPLACE INTO folds (session, seq, fold) VALUES (?1, ?2, ?3)"
	upsertClientID = "INSERT OR REPLACE INTO client_ids (session, scope, id, sum, answer, time) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
	upsertLease    = "INSERT OR REPLACE INTO leases (session, config_dir, conversation, run) VALUES (?1, ?2, ?3, ?4)"
	deleteLease    = "DELETE FROM leases WHERE session = ?1 AND config_dir = ?2 AND conversation = ?3"

	insertConversation = "INSERT OR IGNORE INTO conversations (session, conversation) VALUES (?1, ?2)"
	insertFile         = "INSERT OR IGNORE INTO files (session, sum) VALUES (?1, ?2)"
)

// sharedInserts write several entries that have most values in common, the most
// first. If one cannot be written, all that the transaction wrote is taken back:
// said here, that saves SQLite from keeping what it would need to take back the
// one statement.
var sharedInserts = [...]struct {
	rows int
	text string
}{{16, sharedInsert(16)}, {4, sharedInsert(4)}}

// sharedValues is how many parameters of a shared insert are for all its rows. Two
// follow for each. entryValues is how many insertEntry has; the first are the same.
const (
	sharedValues = 8
	entryValues  = 11
)

func sharedInsert(rows int) string {
	text := []byte("INSERT OR ROLLBACK INTO entries (session, pos, seq, run, time, source, who, kind, uuid, line, data) VALUES ")
	for i := range rows {
		if i > 0 {
			text = append(text, ", "...)
		}
		text = fmt.Appendf(text, "(?1, ?2 + %d, ?3 + %d, ?4, ?5, ?6, ?7, ?8, ?, ?, NULL)", i, i)
	}
	return string(text)
}

// entryOverhead is about what a row costs beside its line and data.
const entryOverhead = 128

// A preparedBatch is a batch made ready to be written: the goroutine that calls
// Commit does all that can be done without the connection.
type preparedBatch struct {
	batch   *Batch
	inserts []entryInsert       // the entries
	session []driver.NamedValue // nil if the batch has no row
	rows    []preparedRow
	blobs   blobWriter
	size    int // of what goes into the database
	bytes   int // of what the session grows by

	// Set by the queue's leader, and read when its request is done.
	first   int64 // position
	refused error
}

// A preparedRow is a statement with its arguments. The leader fills in the first.
type preparedRow struct {
	text string
	args []driver.NamedValue
}

// prepareBatch makes a batch ready. Its result is never nil.
func (s *SQLite) prepareBatch(b *Batch) (*preparedBatch, error) {
	p := &preparedBatch{batch: b, blobs: blobWriter{store: s.blobs}}
	if err := b.check(); err != nil {
		return p, err
	}
	p.addEntries()
	if r := b.Session; r != nil {
		p.session = p.args(nil, nil, r.Epoch, r.Title, r.Dir, r.State, r.Model, r.Conversation, r.Run, r.Created,
			r.Updated, r.Open, r.CostUSD, r.Ended, r.Archived, []byte(r.Data), r.Node, nil)
	}
	if err := p.addRows(); err != nil {
		return p, err
	}
	for _, sum := range p.blobs.sums {
		p.add(insertFile, sum)
	}
	return p, p.blobs.err
}

// An entryInsert is a statement that writes n entries. The leader fills in the
// first two arguments: the session's key and the position of the first entry.
type entryInsert struct {
	text string
	args []driver.NamedValue
	n    int
}

// addEntries adds the statements for the batch's entries. They are many and much alike: those
// that follow each other and differ in uuid and line alone share statements and
// all other values, which saves a third of what they cost.
func (p *preparedBatch) addEntries() {
	entries := p.batch.Entries
	for i := range entries {
		length := entryOverhead + len(entries[i].Line) + len(entries[i].Data)
		p.bytes += length
		p.size += min(length, 2*maxInline)
	}
	for at := 0; at < len(entries); {
		n := alike(entries[at:])
		for _, shared := range sharedInserts {
			for ; n >= shared.rows; n -= shared.rows {
				p.addShared(shared.text, entries[at:at+shared.rows], at)
				at += shared.rows
			}
		}
		for ; n > 0; n-- {
			args := p.entryArgs(insertEntry, entries[at:at+1], at, entryValues)
			e := &entries[at]
			args[8].Value = e.UUID
			if e.Line != nil {
				args[9].Value = p.blobs.value(e.Line)
			}
			if e.Data != nil {
				args[10].Value = p.blobs.value(e.Data)
			}
			at++
		}
	}
}

// alike returns how many of the first entries can share statements, at least 1.
func alike(entries []Entry) int {
	first := &entries[0]
	for i := range entries {
		e := &entries[i]
		if e.Line == nil || len(e.Line) > maxInline || e.Data != nil || e.Run != first.Run || e.Time != first.Time ||
			e.Source != first.Source || e.By != first.By || e.Kind != first.Kind {
			return max(i, 1)
		}
	}
	return len(entries)
}

// addShared adds one statement that writes several entries; at is the index of the
// first of them in the batch.
func (p *preparedBatch) addShared(text string, entries []Entry, at int) {
	args := p.entryArgs(text, entries, at, sharedValues+2*len(entries))
	for i := range entries {
		own := args[sharedValues+2*i:]
		own[0].Value, own[1].Value = entries[i].UUID, entries[i].Line
	}
}

// entryArgs adds a statement that writes entries and returns its arguments, with the
// values that the entries have in common.
func (p *preparedBatch) entryArgs(text string, entries []Entry, at, values int) []driver.NamedValue {
	args := make([]driver.NamedValue, values)
	for i := range args {
		args[i].Ordinal = i + 1
	}
	e := &entries[0]
	args[2].Value, args[3].Value, args[4].Value = p.batch.After+int64(at)+1, int64(e.Run), nanoseconds(e.Time)
	args[5].Value, args[6].Value, args[7].Value = string(e.Source), e.By, e.Kind
	p.inserts = append(p.inserts, entryInsert{text, args, len(entries)})
	return args
}

// addRows adds the statements for the batch's rows.
func (p *preparedBatch) addRows() error {
	b := p.batch
	for i := range b.Runs {
		r := &b.Runs[i]
		uuids := []byte("[]")
		if len(r.LastUUIDs) > 0 {
			var err error
			if uuids, err = json.Marshal(r.LastUUIDs); err != nil {
				return fmt.Errorf("run %d of session %s: %w", r.Run, b.SessionID, err)
			}
		}
		p.add(upsertRun, r.Run, r.Transport, r.TokenHash, r.Instance, r.Marker, r.PID, r.PIDStart, r.Have, r.NextCommand,
			string(uuids), []byte(r.Spec), r.Started, r.Ended, r.Reason, r.Node)
	}
	for i := range b.Commands {
		c := &b.Commands[i]
		p.add(upsertCommand, c.ID, c.Run, c.Number, c.ClientID, c.Kind, c.State, c.Settled, c.UUID, c.RequestID,
			p.blobs.value(c.Line), p.blobs.value(c.Data), c.By, c.Order, c.Created, c.Updated)
	}
	for i := range b.Questions {
		q := &b.Questions[i]
		p.add(upsertQuestion, q.ID, q.Run, q.RequestID, q.Kind, q.State, q.Opened, q.Settled,
			p.blobs.value(q.Ask), p.blobs.value(q.Answer), q.By, q.Reason, p.blobs.value(q.Data), q.OpenedAt, q.SettledAt)
	}
	for i := range b.Turns {
		t := &b.Turns[i]
		p.add(upsertTurn, t.Run, t.Seq, t.Time, t.CostUSD, []byte(t.Data))
	}
	for _, conversation := range b.Conversations {
		p.add(insertConversation, conversation)
	}
	for i := range b.ClientIDs {
		id := &b.ClientIDs[i]
		p.add(upsertClientID, id.Scope, id.ID, id.Sum, []byte(id.Answer), id.Time)
	}
	for i := range b.Release {
		p.add(deleteLease, b.Release[i].ConfigDir, b.Release[i].Conversation)
	}
	for i := range b.Leases {
		p.add(upsertLease, b.Leases[i].ConfigDir, b.Leases[i].Conversation, b.Leases[i].Run)
	}
	if b.Fold != nil {
		p.add(upsertFold, b.After+int64(len(b.Entries)), b.Fold)
	}
	return nil
}

// args makes the arguments of a statement.
func (p *preparedBatch) args(values ...any) []driver.NamedValue {
	list := named(values)
	for i := range list {
		switch v := list[i].Value.(type) {
		case []byte:
			p.size += len(v)
		case string:
			p.size += len(v)
		}
	}
	return list
}

// add adds a statement for a row; its first argument is the session's key.
func (p *preparedBatch) add(text string, values ...any) {
	p.rows = append(p.rows, preparedRow{text, p.args(append([]any{nil}, values...)...)})
}

// check says what is wrong with a batch whatever the journal holds. Rows that
// name another session are a mistake of the caller.
func (b *Batch) check() error {
	if b.SessionID == "" {
		return errors.New("a batch must name its session")
	}
	if b.After < 0 {
		return fmt.Errorf("a batch cannot follow entry %d", b.After)
	}
	var other string
	of := func(id string) {
		if id != "" && id != b.SessionID {
			other = id
		}
	}
	if b.Session != nil {
		of(b.Session.ID)
	}
	for i := range b.Runs {
		of(b.Runs[i].Session)
	}
	for i := range b.Commands {
		of(b.Commands[i].Session)
	}
	for i := range b.Questions {
		of(b.Questions[i].Session)
	}
	for i := range b.Turns {
		of(b.Turns[i].Session)
	}
	for i := range b.Leases {
		of(b.Leases[i].Session)
	}
	for i := range b.Release {
		of(b.Release[i].Session)
	}
	if other != "" {
		return fmt.Errorf("a batch of session %s holds a row of session %s", b.SessionID, other)
	}
	return nil
}
