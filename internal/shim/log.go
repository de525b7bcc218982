package shim

import (
	"fmt"
	"os"
	"sync"
)

// logLimit is how long a log file may be, together with the older half.
const logLimit = 1 << 20

// A logFile is a file that is put aside when it is long, and begun anew. It is
// safe for concurrent use.
type logFile struct {
	// Static after construction.
	path  string
	limit int64

	mu   sync.Mutex
	file *os.File // nil if it could not be begun anew
	size int64
}

// openLog opens a log file for more. Half of the limit is for the file itself,
// half for the one before.
func openLog(path string, limit int64) (*logFile, error) {
	l := &logFile{path: path, limit: limit / 2}
	if err := l.open(); err != nil {
		return nil, fmt.Errorf("opening the log: %w", err)
	}
	return l, nil
}

func (l *logFile) open() error {
	file, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close() // nothing was written
		return err
	}
	l.file, l.size = file, info.Size()
	return nil
}

// Write never fails: a shim goes on without its log.
func (l *logFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size > 0 && l.size+int64(len(p)) > l.limit && l.file != nil {
		_ = l.file.Close()                 // it was written line by line
		_ = os.Rename(l.path, l.path+".1") // else the old lines are lost
		_ = os.Truncate(l.path, 0)         // if it is still there
		if l.file = nil; l.open() != nil { // the folder may be gone
			return len(p), nil
		}
	}
	if l.file != nil {
		n, _ := l.file.Write(p) // a full disk is no reason to end an agent
		l.size += int64(n)
	}
	return len(p), nil
}

func (l *logFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}
