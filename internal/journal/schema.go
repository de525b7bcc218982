package journal

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"

	"github.com/switchboard-dev/switchboard/internal/killpoint"
)

// applicationID marks an SQLite file as one of ours ("SWBD").
const applicationID = 0x53574244

// A migration takes a file from the version before to its own. It runs in a
// transaction of its own, and is never changed once it was released.
type migration struct {
	version int64
	script  string
}

// migrations lead from an empty file to the present one, in order.
//
// Columns of type BLOB hold bytes; text in one of them is a reference to a file
// beside the database (see blobs.go). Times are nanoseconds since 1970, 0 for
// none. The column session is always sessions.n.
func migrations() []migration {
	return []migration{
		{1, `
CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;

CREATE TABLE sessions (
	n INTEGER PRIMARY KEY AUTOINCREMENT,
	id TEXT NOT NULL UNIQUE,
	epoch TEXT NOT NULL,
	seq INTEGER NOT NULL,
	title TEXT NOT NULL,
	dir TEXT NOT NULL,
	state TEXT NOT NULL,
	model TEXT NOT NULL,
	conversation TEXT NOT NULL,
	run INTEGER NOT NULL,
	created INTEGER NOT NULL,
	updated INTEGER NOT NULL,
	open INTEGER NOT NULL,
	cost REAL NOT NULL,
	ended INTEGER NOT NULL,
	archived INTEGER NOT NULL,
	data BLOB
);
-- Holds all that a list is filtered by, so that a page costs a walk over this
-- index and no more rows than it shows.
CREATE INDEX sessions_listed ON sessions (updated, n, archived, state, dir, title);
-- The few among many that have not ended.
CREATE INDEX sessions_current ON sessions (updated, n, archived, state, dir, title) WHERE state <> 'ended';

CREATE TABLE entries (
	pos INTEGER PRIMARY KEY,
	session INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	run INTEGER NOT NULL,
	time INTEGER NOT NULL,
	source TEXT NOT NULL,
	who TEXT NOT NULL,
	kind TEXT NOT NULL,
	uuid TEXT NOT NULL,
	line BLOB,
	data BLOB,
	UNIQUE (session, seq)
);

CREATE TABLE folds (session INTEGER PRIMARY KEY, seq INTEGER NOT NULL, fold BLOB);

CREATE TABLE runs (
	session INTEGER NOT NULL,
	run INTEGER NOT NULL,
	transport TEXT NOT NULL,
	token_hash BLOB,
	instance TEXT NOT NULL,
	marker TEXT NOT NULL,
	pid INTEGER NOT NULL,
	pid_start TEXT NOT NULL,
	have INTEGER NOT NULL,
	next_command INTEGER NOT NULL,
	last_uuids TEXT NOT NULL,
	spec BLOB,
	started INTEGER NOT NULL,
	ended INTEGER NOT NULL,
	reason TEXT NOT NULL,
	PRIMARY KEY (session, run)
);
CREATE INDEX runs_live ON runs (session, run) WHERE ended = 0;

CREATE TABLE commands (
	n INTEGER PRIMARY KEY,
	session INTEGER NOT NULL,
	id TEXT NOT NULL,
	run INTEGER NOT NULL,
	number INTEGER NOT NULL,
	client_id TEXT NOT NULL,
	kind TEXT NOT NULL,
	state TEXT NOT NULL,
	settled INTEGER NOT NULL,
	uuid TEXT NOT NULL,
	request_id TEXT NOT NULL,
	line BLOB,
	data BLOB,
	who TEXT NOT NULL,
	place INTEGER NOT NULL,
	created INTEGER NOT NULL,
	updated INTEGER NOT NULL,
	UNIQUE (session, id)
);
CREATE INDEX commands_open ON commands (session, n) WHERE settled = 0;

CREATE TABLE questions (
	n INTEGER PRIMARY KEY,
	session INTEGER NOT NULL,
	id TEXT NOT NULL UNIQUE,
	run INTEGER NOT NULL,
	request_id TEXT NOT NULL,
	kind TEXT NOT NULL,
	state TEXT NOT NULL,
	opened INTEGER NOT NULL,
	settled INTEGER NOT NULL,
	ask BLOB,
	answer BLOB,
	who TEXT NOT NULL,
	reason TEXT NOT NULL,
	data BLOB,
	opened_at INTEGER NOT NULL,
	settled_at INTEGER NOT NULL
);
CREATE INDEX questions_of_session ON questions (session, n);
CREATE INDEX questions_open ON questions (n) WHERE state = 'open';

CREATE TABLE turns (
	session INTEGER NOT NULL,
	run INTEGER NOT NULL,
	seq INTEGER NOT NULL,
	time INTEGER NOT NULL,
	cost REAL NOT NULL,
	data BLOB,
	PRIMARY KEY (session, run, seq)
);

CREATE TABLE conversations (
	conversation TEXT NOT NULL,
	session INTEGER NOT NULL,
	PRIMARY KEY (conversation, session)
) WITHOUT ROWID;
CREATE INDEX conversations_of_session ON conversations (session);

CREATE TABLE client_ids (
	scope TEXT NOT NULL,
	id TEXT NOT NULL,
	session INTEGER NOT NULL,
	sum BLOB,
	answer BLOB,
	time INTEGER NOT NULL,
	PRIMARY KEY (scope, id)
);
CREATE INDEX client_ids_of_session ON client_ids (session);

CREATE TABLE leases (
	config_dir TEXT NOT NULL,
	conversation TEXT NOT NULL,
	session INTEGER NOT NULL,
	run INTEGER NOT NULL,
	PRIMARY KEY (config_dir, conversation)
) WITHOUT ROWID;
CREATE INDEX leases_of_session ON leases (session);

-- Which session needs which file.
CREATE TABLE files (
	session INTEGER NOT NULL,
	sum TEXT NOT NULL,
	PRIMARY KEY (session, sum)
) WITHOUT ROWID;
CREATE INDEX files_by_sum ON files (sum);
-- The files themselves, in a backup.
CREATE TABLE carried (sum TEXT PRIMARY KEY, body BLOB NOT NULL);
-- Sessions that were removed, while there are still traces of them.
CREATE TABLE removed (session INTEGER PRIMARY KEY);
`},
		// How much each session holds, for retention by size.
		{2, `
ALTER TABLE sessions ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
UPDATE sessions SET bytes = coalesce((
	SELECT sum(128 + ifnull(length(line), 0) + ifnull(length(data), 0)) FROM entries WHERE session = sessions.n), 0);
`},
		// The few among many entries that say what was decided, of all sessions and
		// of one, with what they are filtered by. The rowid, pos, is a part of both.
		{3, `
CREATE INDEX entries_decided ON entries (pos, time) WHERE kind IN ('decision', 'question_settled');
CREATE INDEX entries_decided_in ON entries (session, pos, time) WHERE kind IN ('decision', 'question_settled');
`},
		// What people prefer in new sessions, by folder; '' for all folders.
		{4, `
CREATE TABLE preferences (
	person TEXT NOT NULL,
	dir TEXT NOT NULL,
	data BLOB,
	updated INTEGER NOT NULL,
	PRIMARY KEY (person, dir)
) WITHOUT ROWID;
`},
		// What sandboxes have refused is listed among what was decided.
		{5, `
DROP INDEX entries_decided;
DROP INDEX entries_decided_in;
CREATE INDEX entries_decided ON entries (pos, time) WHERE kind IN ('decision', 'question_settled', 'sandbox_refused');
CREATE INDEX entries_decided_in ON entries (session, pos, time) WHERE kind IN ('decision', 'question_settled', 'sandbox_refused');
`},
		// The machine that agents run on, '' for the hub's own, and the sessions of
		// other machines.
		{6, `
ALTER TABLE sessions ADD COLUMN node TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN node TEXT NOT NULL DEFAULT '';
CREATE INDEX sessions_elsewhere ON sessions (updated, n, archived, state, dir, title, node) WHERE node <> '';
`},
	}
}

// migrate brings the file to the newest version. A file that holds something
// is copied first.
func (s *SQLite) migrate(ctx context.Context, w *conn) error {
	list := s.options.migrations
	newest := list[len(list)-1].version
	version, _, err := w.first("PRAGMA user_version")
	if err != nil {
		return err
	}
	if version > newest {
		return &FileError{
			Path:   s.path,
			Reason: fmt.Sprintf("it was written by a newer Switchboard (its version is %d, this one knows %d)", version, newest),
			Hint:   "run the newer program, or start with --journal=new, which sets the file aside and begins a new one",
		}
	}
	if version > 0 && version < newest {
		if err := s.copyBefore(ctx, w, newest); err != nil {
			return fmt.Errorf("copying %s before its format changes: %w", s.path, err)
		}
		s.options.Logger.Info("changing the journal's format", "from", version, "to", newest, "copy", s.copyName(newest))
	}
	for _, m := range list {
		if m.version <= version {
			continue
		}
		err := w.transaction(func() error {
			if err := w.script(ctx, m.script); err != nil {
				return err
			}
			if m.version == 1 {
				if err := w.exec("INSERT INTO meta (key, value) VALUES ('id', ?)", rand.Text()); err != nil {
					return err
				}
			}
			killpoint.Reach("journal.in-migration")
			return w.script(ctx, fmt.Sprintf("PRAGMA user_version = %d; PRAGMA application_id = %d", m.version, applicationID))
		})
		if err != nil {
			return fmt.Errorf("changing the format of %s to version %d: %w", s.path, m.version, err)
		}
	}
	return nil
}

// copyName is where the copy from before version n lies.
func (s *SQLite) copyName(n int64) string { return fmt.Sprintf("%s.before-v%d", s.path, n) }

// copyBefore keeps a copy of the file as it is. A copy that was cut short
// never has the final name.
func (s *SQLite) copyBefore(ctx context.Context, w *conn, version int64) error {
	name := s.copyName(version)
	part := name + ".part"
	if err := os.Remove(part); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := vacuumInto(ctx, w, part); err != nil {
		return err
	}
	if err := os.Rename(part, name); err != nil {
		return err
	}
	return syncDir(s.dir)
}

// vacuumInto writes a copy of the database to a new file that only its owner
// can read.
func vacuumInto(ctx context.Context, c *conn, name string) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	err = c.query(ctx, func(row) error { return nil }, "VACUUM INTO ?", name)
	if err == nil {
		err = file.Sync()
	}
	if err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}
