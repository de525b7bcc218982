//go:build linux || darwin

package journal_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/journal/journaltest"
)

// A failing file layer below SQLite: the system's own, whose writes and syncs of
// a journal's files can be told to fail. It speaks the translated C interface of
// the library, as the driver itself does.
type failingLayer struct {
	name string
	// write and sync are what the calls return instead of doing anything; 0
	// lets them through. after counts the calls that are still let through.
	write, sync atomic.Int32
	after       atomic.Int32

	// Static: the functions must not move or go while SQLite knows them.
	base sqlite3.Tsqlite3_vfs
	open openFunc

	mu    sync.Mutex
	files map[uintptr]*fileMethods // by the methods that they stand before
}

type (
	openFunc  = func(tls *libc.TLS, vfs, path, file uintptr, flags int32, outFlags uintptr) int32
	writeFunc = func(tls *libc.TLS, file, buffer uintptr, amount int32, offset int64) int32
	syncFunc  = func(tls *libc.TLS, file uintptr, flags int32) int32
)

// fileMethods stand before the methods of a kind of file.
type fileMethods struct {
	table uintptr
	write writeFunc
	sync  syncFunc
}

// at is the value at an address of the library's memory.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// address of a function as the library calls it, and back.
func address[F any](f F) uintptr  { return *(*uintptr)(unsafe.Pointer(&f)) }
func function[F any](p uintptr) F { return *(*F)(unsafe.Pointer(&p)) }

// newFailingLayer registers a failing file layer under a name of its own.
func newFailingLayer(t *testing.T) *failingLayer {
	t.Helper()
	tls := libc.NewTLS()
	l := &failingLayer{name: "failing-" + strings.ReplaceAll(t.Name(), "/", "-"), files: map[uintptr]*fileMethods{}}
	l.base = *at[sqlite3.Tsqlite3_vfs](sqlite3.Xsqlite3_vfs_find(tls, 0))
	l.open = l.xOpen
	name, err := libc.CString(l.name)
	if err != nil {
		t.Fatal(err)
	}
	layer := libc.Xcalloc(tls, 1, libc.Tsize_t(unsafe.Sizeof(l.base)))
	vfs := at[sqlite3.Tsqlite3_vfs](layer)
	*vfs = l.base
	vfs.FzName, vfs.FpNext, vfs.FxOpen = name, 0, address(l.open)
	if rc := sqlite3.Xsqlite3_vfs_register(tls, layer, 0); rc != sqlite3.SQLITE_OK {
		t.Fatalf("registering the file layer: %d", rc)
	}
	t.Cleanup(func() {
		sqlite3.Xsqlite3_vfs_unregister(tls, layer)
		for _, m := range l.files {
			libc.Xfree(tls, m.table)
		}
		libc.Xfree(tls, layer)
		libc.Xfree(tls, name)
		tls.Close()
		runtime.KeepAlive(l)
	})
	return l
}

// verdict is what a call returns, 0 if it is let through.
func (l *failingLayer) verdict(code *atomic.Int32) int32 {
	if rc := code.Load(); rc != 0 && l.after.Add(-1) < 0 {
		return rc
	}
	return 0
}

func (l *failingLayer) xOpen(tls *libc.TLS, vfs, path, file uintptr, flags int32, outFlags uintptr) int32 {
	rc := function[openFunc](l.base.FxOpen)(tls, vfs, path, file, flags, outFlags)
	methods := *at[uintptr](file)
	if rc != sqlite3.SQLITE_OK || methods == 0 {
		return rc
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	m, ok := l.files[methods]
	if !ok {
		own := *at[sqlite3.Tsqlite3_io_methods](methods)
		m = &fileMethods{table: libc.Xcalloc(tls, 1, libc.Tsize_t(unsafe.Sizeof(own)))}
		m.write = func(tls *libc.TLS, file, buffer uintptr, amount int32, offset int64) int32 {
			if rc := l.verdict(&l.write); rc != 0 {
				return rc
			}
			return function[writeFunc](own.FxWrite)(tls, file, buffer, amount, offset)
		}
		m.sync = func(tls *libc.TLS, file uintptr, flags int32) int32 {
			if rc := l.verdict(&l.sync); rc != 0 {
				return rc
			}
			return function[syncFunc](own.FxSync)(tls, file, flags)
		}
		table := at[sqlite3.Tsqlite3_io_methods](m.table)
		*table = own
		table.FxWrite, table.FxSync = address(m.write), address(m.sync)
		l.files[methods] = m
	}
	*at[uintptr](file) = m.table
	return rc
}

// TestFailingDisk has the disk fail in several ways, at the first calls of a
// transaction in turn, and in one of the ways at all of them.
func TestFailingDisk(t *testing.T) {
	tests := []struct {
		name        string
		write, sync int32
		reason      string
		calls       int32
	}{
		{"full", sqlite3.SQLITE_FULL, 0, "no room left", 3},
		{"read-only", sqlite3.SQLITE_READONLY, 0, "may not be written to", 3},
		{"write error", sqlite3.SQLITE_IOERR | 3<<8, 0, "look after the disk", 30},
		{"sync error", 0, sqlite3.SQLITE_IOERR | 4<<8, "look after the disk", 3},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			layer := newFailingLayer(t)
			dir := t.TempDir()
			j := open(t, dir, journal.WithVFS(journal.Options{Durability: journal.DurabilityFull}, layer.name))
			commit(t, j, journaltest.NewSession("s", 1))
			failed := 0
			for after := range test.calls {
				b := journaltest.NewSession("s", 2)
				b.After = int64(count(t, j, "s"))
				b.Fold = fmt.Append(nil, b.After)
				layer.after.Store(after)
				layer.sync.Store(test.sync)
				layer.write.Store(test.write)
				_, _, err := j.Commit(t.Context(), b)
				if err != nil {
					failed++
					layer.after.Store(0)
					fails(t, j, b, test.reason)
				}
				layer.write.Store(0)
				layer.sync.Store(0)
				if err == nil {
					break // every call of a transaction has had its turn
				}
				works(t, j, b)
				if err := j.Health(); err != nil {
					t.Errorf("Health: %v", err)
				}
				if fold, seq, err := j.Fold(t.Context(), "s"); err != nil || seq != b.After+2 || string(fold) != string(b.Fold) {
					t.Errorf("the fold is %s at %d (%v)", fold, seq, err)
				}
			}
			if failed < 1 {
				t.Error("nothing failed")
			}
			t.Logf("failed at %d calls", failed)
			sound(t, j)
			want := count(t, j, "s")
			closed(t, j)
			j = open(t, dir, nil)
			if n := count(t, j, "s"); n != want {
				t.Errorf("after opening it again there are %d entries, not %d", n, want)
			}
			sound(t, j)
		})
	}
}
