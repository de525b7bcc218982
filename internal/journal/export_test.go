package journal

// Migration is for tests that bring their own.
type Migration struct {
	Version int64
	Script  string
}

// WithMigrations returns options with further migrations after the real ones.
func WithMigrations(o Options, more ...Migration) *Options {
	o.migrations = migrations()
	for _, m := range more {
		o.migrations = append(o.migrations, migration{m.Version, m.Script})
	}
	return &o
}

// WithVFS returns options with another file layer below SQLite.
func WithVFS(o Options, name string) *Options {
	o.vfs = name
	return &o
}

// WithoutCheck returns options that have Open trust the file.
func WithoutCheck(o Options) *Options {
	o.checkBelow = -1
	return &o
}

// Newest is the version of a new file.
func Newest() int64 {
	list := migrations()
	return list[len(list)-1].version
}

// WithCheckpoints returns options that have the write-ahead log merged when it
// holds so many pages.
func WithCheckpoints(o Options, pages int64) *Options {
	o.checkpointPages = pages
	return &o
}

// ScanLog reads a write-ahead log and returns how many of its frames are committed.
func ScanLog(path string) (int64, error) {
	scan, err := scanLog(path)
	if err != nil {
		return 0, err
	}
	return scan.committed, nil
}
