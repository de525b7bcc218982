package claudetest

import (
	"bufio"
	"io"
	"slices"
	"sync"
	"time"
)

// An Entry is a line that the simulated CLI wrote or read.
type Entry struct {
	// Number counts what was written and read together, from 1.
	Number int64 `json:"number"`
	// Time is when.
	Time time.Time `json:"time"`
	// Read says that the CLI read the line; otherwise it wrote it.
	Read bool `json:"read"`
	// Line is the line without its end.
	Line string `json:"line"`
}

// record keeps what was written and read, and hands it to a writer if there is one.
type record struct {
	limit int // bytes that are kept

	mu      sync.Mutex
	next    int64
	entries []Entry
	bytes   int
	sink    *bufio.Writer // JSON lines; nil for none
	failed  error
}

// recordLimit is how many bytes of lines a record keeps in memory; older ones are dropped.
const recordLimit = 256 << 20

func newRecord(sink io.Writer) *record {
	r := &record{limit: recordLimit, next: 1}
	if sink != nil {
		r.sink = bufio.NewWriter(sink)
	}
	return r
}

func (r *record) add(read bool, line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	entry := Entry{Number: r.next, Time: time.Now(), Read: read, Line: string(line)}
	r.next++
	if r.sink != nil && r.failed == nil {
		_, r.failed = r.sink.Write(append(encode(entry), '\n'))
		if r.failed == nil {
			r.failed = r.sink.Flush()
		}
	}
	r.entries = append(r.entries, entry)
	r.bytes += len(line)
	drop := 0
	for r.bytes > r.limit && drop < len(r.entries)-1 {
		r.bytes -= len(r.entries[drop].Line)
		drop++
	}
	r.entries = slices.Delete(r.entries, 0, drop)
}

// skip counts lines that are written and not kept: a flood.
func (r *record) skip(lines int64) {
	r.mu.Lock()
	r.next += lines
	r.mu.Unlock()
}

func (r *record) all() []Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.entries)
}
