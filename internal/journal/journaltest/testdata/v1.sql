-- The format of version 1, as it was. WriteOld makes a journal of it; it does not change with the program.
PRAGMA application_id = 0x53574244;
PRAGMA user_version = 1;

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
