//go:build linux

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/switchboard-dev/switchboard/api"
)

// journalFiles are what a backup by copying has to copy, with the hub stopped.
func (l *lab) journalFiles() []string {
	l.t.Helper()
	files, err := filepath.Glob(filepath.Join(l.data, "journal.db*"))
	if err != nil || len(files) == 0 {
		l.t.Fatalf("the journal has the files %v, %v", files, err)
	}
	return files
}

// TestYesterdaysJournal puts an old copy of the journal under a shim that runs:
// what was journaled since is missing, which is said, and everything goes on.
func TestYesterdaysJournal(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	l.start()
	s := l.mustCreate(nil)
	if err := s.turn(l.ctx(), "first", saying("one")); err != nil {
		t.Fatal(err)
	}
	l.verdict(s)
	backup := map[string][]byte{}
	for _, file := range l.journalFiles() {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		backup[file] = content
	}
	l.start()
	if err := s.turn(l.ctx(), "second", saying("two")); err != nil {
		t.Fatal(err)
	}
	if err := s.asked(l.ctx(), "third", api.Answer{Decision: "allow"}); err != nil {
		t.Fatal(err)
	}
	l.verdict(s)

	for _, file := range l.journalFiles() {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	for file, content := range backup {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// A subscriber that has seen what is lost is another test.
	s.follower.close()
	old := s.follower
	s.restored = true
	l.start()
	s.follower = l.follow(s.id)
	if _, err := s.await(l.ctx(), "a gap", func(events []api.Event) bool {
		return slices.ContainsFunc(events, func(e api.Event) bool { return e.Kind == api.KindGap })
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.turn(l.ctx(), "fourth", saying("four")); err != nil {
		t.Fatal(err)
	}
	if err := s.asked(l.ctx(), "fifth", api.Answer{Decision: "allow"}); err != nil {
		t.Fatal(err)
	}
	// Whoever has seen the lost day must not be told that all is well: the same
	// numbers mean something else now.
	last := old.events[len(old.events)-1].ID
	var page api.EventPage
	if err := l.call(l.ctx(), "GET", s.path("/events?limit=1&after="+last), nil, &page); err != nil {
		t.Fatal(err)
	}
	if page.Resume == "ok" {
		t.Errorf("a subscriber that has seen %s, which is lost, is told %q", last, page.Resume)
	}
	l.verdict(s)
}

// TestDiskFull lets the hub's files grow no more in the middle of a turn, as a
// full disk does, and later again.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	hub := l.start()
	s := l.mustCreate(nil)
	if err := s.turn(l.ctx(), "first", saying("one")); err != nil {
		t.Fatal(err)
	}
	var old unix.Rlimit
	// There is room for the message, and not for what the agent says to it.
	full := unix.Rlimit{Cur: uint64(l.largest()) + 600<<10, Max: unix.RLIM_INFINITY}
	if err := unix.Prlimit(hub.pid(), unix.RLIMIT_FSIZE, &full, &old); err != nil {
		t.Fatal(err)
	}
	message, err := s.send(l.ctx(), "second", "@huge 900000\n"+asking("two"))
	if err != nil {
		t.Fatal(err)
	}
	var info api.Info
	if err := eventually(patience, func() error {
		if err := l.call(l.ctx(), "GET", "/v1/info", nil, &info); err != nil {
			return err
		}
		if info.Storage == "" {
			return errors.New("the hub says that it can write")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	t.Logf("it says: %s", info.Storage)
	err = l.call(l.ctx(), "POST", s.path("/messages"), api.SendMessage{ClientID: "third", Text: saying("three")}, nil)
	if refusal, refused := errors.AsType[*api.Error](err); !refused || refusal.Code != api.CodeStorage {
		t.Errorf("a message while nothing can be written: %v", err)
	}
	if err := unix.Prlimit(hub.pid(), unix.RLIMIT_FSIZE, &old, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.allow(l.ctx(), 1); err != nil {
		t.Fatal(err)
	}
	if err := s.awaitTurn(l.ctx(), 0, message); err != nil {
		t.Fatal(err)
	}
	var after api.Info
	if err := l.call(l.ctx(), "GET", "/v1/info", nil, &after); err != nil || after.Storage != "" {
		t.Errorf("afterwards it says %q, %v", after.Storage, err)
	}
	select {
	case <-hub.done:
		t.Errorf("the hub ended: %v", hub.err)
	default:
	}
	l.verdict(s)
}

// largest returns the size of the largest file of the hub.
func (l *lab) largest() int64 {
	l.t.Helper()
	var most int64
	if err := filepath.WalkDir(l.root, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if name := entry.Name(); strings.HasPrefix(name, "journal.db") || strings.HasSuffix(name, ".log") {
			most = max(most, info.Size())
		}
		return nil
	}); err != nil {
		l.t.Fatal(err)
	}
	return most
}

// TestUnusableJournal holds that a journal that cannot be used stops the hub
// with what to do, that --journal=new does it, and that the agents survive both.
func TestUnusableJournal(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		damage func(t *testing.T, content []byte)
		says   []string
	}{
		{"a damaged page", func(_ *testing.T, content []byte) {
			const page = 4096
			for at := page; at+page <= len(content); at += 2 * page {
				copy(content[at:at+page], bytes.Repeat([]byte("damage! "), page/8))
			}
		}, []string{"journal.db", "damaged", "--journal"}},
		{"no database at all", func(_ *testing.T, content []byte) {
			copy(content, "this is something else altogether, and no database")
		}, []string{"journal.db", "--journal"}},
		{"an empty file", nil, []string{"journal.db", "empty", "--journal"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil)
			l.start()
			s := l.mustCreate(nil)
			if err := s.turn(l.ctx(), "first", saying("one")); err != nil {
				t.Fatal(err)
			}
			l.stop() // which merges the log into the file
			path := filepath.Join(l.data, "journal.db")
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if test.damage != nil {
				test.damage(t, content)
			} else {
				content = nil
			}
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			log := filepath.Join(l.root, "serve.log")
			if err := os.Remove(log); err != nil {
				t.Fatal(err)
			}
			if err := l.launch().awaitReady(); err == nil {
				t.Fatal("the hub takes a journal that it cannot use")
			}
			said := tail(log, 100)
			for _, part := range test.says {
				if !strings.Contains(said, part) {
					t.Errorf("it does not say %q:\n%s", part, said)
				}
			}
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, content) {
				t.Errorf("the file was changed, %v", err)
			}
			if len(l.shims()) != 1 {
				t.Errorf("%d shims are left, want 1", len(l.shims()))
			}
			l.options.args = append(l.options.args, "--journal", "new")
			l.start()
			aside, err := filepath.Glob(path + ".aside*")
			if err != nil || len(aside) == 0 {
				t.Errorf("nothing was set aside: %v", err)
			}
			// Nobody knows the old agent any more: it is told so, and ends.
			if err := eventually(patience, func() error {
				if n := len(l.shims()); n > 0 {
					return fmt.Errorf("%d shims are left", n)
				}
				return nil
			}); err != nil {
				t.Error(err)
			}
			if err := l.mustCreate(nil).turn(l.ctx(), "first", saying("one")); err != nil {
				t.Error(err)
			}
		})
	}
}
