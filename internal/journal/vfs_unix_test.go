//go:build linux || darwin

package journal_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
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
	// kill has the process kill itself at the call after those that are let through;
	// opening and removing files count, too.
	kill atomic.Bool

	// Static: the functions must not move or go while SQLite knows them.
	base   sqlite3.Tsqlite3_vfs
	open   openFunc
	remove removeFunc

	mu    sync.Mutex
	files map[uintptr]*fileMethods // by the methods that they stand before
}

type (
	openFunc   = func(tls *libc.TLS, vfs, path, file uintptr, flags int32, outFlags uintptr) int32
	removeFunc = func(tls *libc.TLS, vfs, path uintptr, sync int32) int32
	writeFunc  = func(tls *libc.TLS, file, buffer uintptr, amount int32, offset int64) int32
	syncFunc   = func(tls *libc.TLS, file uintptr, flags int32) int32
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
	l, unregister, err := registerLayer("failing-" + strings.ReplaceAll(t.Name(), "/", "-"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(unregister)
	return l
}

// registerLayer registers a failing file layer.
func registerLayer(called string) (_ *failingLayer, unregister func(), err error) {
	tls := libc.NewTLS()
	l := &failingLayer{name: called, files: map[uintptr]*fileMethods{}}
	l.base = *at[sqlite3.Tsqlite3_vfs](sqlite3.Xsqlite3_vfs_find(tls, 0))
	l.open, l.remove = l.xOpen, l.xDelete
	name, err := libc.CString(l.name)
	if err != nil {
		return nil, nil, err
	}
	layer := libc.Xcalloc(tls, 1, libc.Tsize_t(unsafe.Sizeof(l.base)))
	vfs := at[sqlite3.Tsqlite3_vfs](layer)
	*vfs = l.base
	vfs.FzName, vfs.FpNext, vfs.FxOpen, vfs.FxDelete = name, 0, address(l.open), address(l.remove)
	if rc := sqlite3.Xsqlite3_vfs_register(tls, layer, 0); rc != sqlite3.SQLITE_OK {
		return nil, nil, fmt.Errorf("registering the file layer: %d", rc)
	}
	return l, func() {
		sqlite3.Xsqlite3_vfs_unregister(tls, layer)
		for _, m := range l.files {
			libc.Xfree(tls, m.table)
		}
		libc.Xfree(tls, layer)
		libc.Xfree(tls, name)
		tls.Close()
		runtime.KeepAlive(l)
	}, nil
}

// count kills the process if this is the call at which it is to die.
func (l *failingLayer) count() {
	if l.kill.Load() && l.after.Add(-1) < 0 {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL) // cannot fail
		select {}
	}
}

// verdict is what a call returns, 0 if it is let through.
func (l *failingLayer) verdict(code *atomic.Int32) int32 {
	if rc := code.Load(); rc != 0 && l.after.Add(-1) < 0 {
		return rc
	}
	return 0
}

func (l *failingLayer) xDelete(tls *libc.TLS, vfs, path uintptr, sync int32) int32 {
	l.count()
	return function[removeFunc](l.base.FxDelete)(tls, vfs, path, sync)
}

func (l *failingLayer) xOpen(tls *libc.TLS, vfs, path, file uintptr, flags int32, outFlags uintptr) int32 {
	l.count()
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
			l.count()
			if rc := l.verdict(&l.write); rc != 0 {
				return rc
			}
			return function[writeFunc](own.FxWrite)(tls, file, buffer, amount, offset)
		}
		m.sync = func(tls *libc.TLS, file uintptr, flags int32) int32 {
			l.count()
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
		{"full", sqlite3.SQLITE_FULL, 0, "no space left", 3},
		{"read-only", sqlite3.SQLITE_READONLY, 0, "may not be written to", 3},
		{"write error", sqlite3.SQLITE_IOERR | 3<<8, 0, "check the disk", 30},
		{"sync error", 0, sqlite3.SQLITE_IOERR | 4<<8, "check the disk", 3},
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

// creator is the part of a process that makes a journal and is killed at a call of
// SQLite's to the system: "n folder".
func creator(what string) error {
	text, dir, _ := strings.Cut(what, " ")
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return err
	}
	layer, _, err := registerLayer("killing")
	if err != nil {
		return err
	}
	layer.after.Store(int32(n))
	layer.kill.Store(true)
	j, err := journal.Open(context.Background(), dir, journal.WithVFS(journal.Options{}, layer.name))
	if err != nil {
		return err
	}
	return j.Close()
}

// TestKillCreation kills a process at the calls by which it makes its first journal,
// at each of them in the long tests. The next process finds either none or a whole
// one.
func TestKillCreation(t *testing.T) {
	call, step := rand.IntN(4), 4
	if os.Getenv("SWITCHBOARD_SOAK") != "" {
		call, step = 0, 1
	}
	kills, none := 0, 0
	for done := false; !done; call += step {
		dir := t.TempDir()
		c := child(t, fmt.Sprintf("creator %d", call), dir)
		out, err := c.CombinedOutput()
		status, _ := c.ProcessState.Sys().(syscall.WaitStatus)
		switch {
		case err == nil:
			done = true
		case !status.Signaled() || status.Signal() != syscall.SIGKILL:
			t.Fatalf("at call %d: %v: %s", call, err, out)
		default:
			kills++
		}
		if _, err := os.Stat(filepath.Join(dir, "journal.db")); os.IsNotExist(err) {
			none++
		}
		j := open(t, dir, nil)
		if losses := j.Losses(); len(losses) > 0 {
			t.Errorf("at call %d: %v", call, losses)
		}
		commit(t, j, journaltest.NewSession("s", 1))
		sound(t, j)
		closed(t, j)
		if left, err := filepath.Glob(filepath.Join(dir, "journal.db.new*")); err != nil || len(left) > 0 {
			t.Errorf("at call %d, left in the folder: %q (%v)", call, left, err)
		}
	}
	if none < 5 || kills-none < 2 {
		t.Errorf("of %d kills, %d came before there was a journal", kills, none)
	}
	t.Logf("%d kills, %d of them before there was a journal", kills, none)
}
