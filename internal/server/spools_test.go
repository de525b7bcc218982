//go:build unix

package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/link"
)

// quietWire is the other end of a link that nobody listens to.
type quietWire struct{}

func (quietWire) Send([]link.Order)          {}
func (quietWire) Stop(time.Duration, string) {}
func (quietWire) CloseInput()                {}
func (quietWire) Ack(int64)                  {}
func (quietWire) Close(string)               {}

// said is a line that tells its number.
func said(n int64) string { return fmt.Sprintf(`{"type":"system","subtype":"n%d"}`, n) }

// leave writes what a process keeps for the next server: the lines from oldest on, and that it has ended with code 3.
func leave(t *testing.T, s *Server, name, session string, run int, oldest, next int64) {
	t.Helper()
	dir := filepath.Join(s.options.DataDir, "spool")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	var records []link.Record
	for n := oldest; n < next-1; n++ {
		records = append(records, link.Record{Kind: link.Line, Number: n, Bytes: []byte(said(n))})
	}
	code := 3
	records = append(records, link.Record{Kind: link.Happened, Number: next - 1, Bytes: (&link.Event{Event: link.EventExited, Code: &code}).Encode()})
	err = link.WriteSpool(file, &link.SpoolHeader{Version: link.Version, Session: session, Run: run, Instance: "i", Oldest: oldest, Next: next}, slices.Values(records))
	if err := errors.Join(err, file.Close(), os.Rename(file.Name(), filepath.Join(dir, name))); err != nil {
		t.Fatal(err)
	}
}

// wrapped has a program's CLI come and say its first line. pid is 0 or one that is not alive.
func wrapped(t *testing.T, s *Server, pid int) (id string, a *hub.RunLink) {
	t.Helper()
	created, err := s.hub.Create(t.Context(), hub.Actor{Source: journal.SourcePerson, Admin: true}, api.CreateSession{Transport: transportTee, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	a, _, err = s.hub.Attach(t.Context(), hub.Hello{Hello: link.Hello{Session: created.ID, Run: 1, Instance: "i", Next: 2, Oldest: 1, Tee: true, PID: pid, PIDStart: "another"}, Token: created.Token}, quietWire{})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Receive(t.Context(), []hub.Item{{Record: link.Record{Kind: link.Line, Number: 1, Bytes: []byte(said(1))}}}); err != nil {
		t.Fatal(err)
	}
	return created.ID, a
}

// awaitGone waits until a file is gone.
func awaitGone(t *testing.T, file string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for {
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			t.Fatalf("%s is still there", file)
		}
	}
}

// numbersOf returns the numbers of the lines that a session has, in their order.
func numbersOf(t *testing.T, s *Server, id string) string {
	t.Helper()
	page, err := s.hub.Events(t.Context(), id, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range page.Events {
		var n int64
		if _, err := fmt.Sscanf(string(e.Line), `{"type":"system","subtype":"n%d"}`, &n); err == nil {
			list = append(list, fmt.Sprint(n))
		}
	}
	return strings.Join(list, " ")
}

// TestSpools has processes leave what they kept for a server while one runs. It is taken in then, once, and a run ends as its process has
// told it.
func TestSpools(t *testing.T) {
	const dead = 1 << 30
	tests := []struct {
		name string
		pid  int
		file string // "" is the right one
	}{
		{"a process that nobody can look for", 0, ""},
		{"a process that is found dead", dead, ""},
		{"a file whose writer was killed", 0, ".spool-123"},
	}
	s := start(t, func(o *Options) { o.DataDir = filepath.Join(filepath.Dir(o.DataDir), "d[1]*") }) // a folder is no pattern
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			id, a := wrapped(t, s, test.pid)
			name := test.file
			if name == "" {
				name = link.SpoolName(id, 1)
			}
			file := filepath.Join(s.options.DataDir, "spool", name)
			leave(t, s, name, id, 1, 1, 5) // with a line that has arrived
			if old := time.Now().Add(-2 * spoolCut); test.file != "" {
				if err := os.Chtimes(file, old, old); err != nil {
					t.Fatal(err)
				}
			}
			a.Lost(nil)
			awaitGone(t, file)
			session, err := s.hub.Snapshot(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if session.Ended == nil || session.Ended.Code == nil || *session.Ended.Code != 3 {
				t.Errorf("it ended as %+v; want code 3", session.Ended)
			}
			if got := numbersOf(t, s, id); got != "1 2 3" {
				t.Errorf("the server has the lines %s", got)
			}
			leave(t, s, link.SpoolName(id, 1), id, 1, 2, 5) // as if the server had been killed before it removed the file
			awaitGone(t, filepath.Join(s.options.DataDir, "spool", link.SpoolName(id, 1)))
			if got := numbersOf(t, s, id); got != "1 2 3" {
				t.Errorf("after a second time the server has the lines %s", got)
			}
		})
	}
}

// TestSpoolOfLivingRun has a file lie there for a run that is connected. It is left alone until the link is gone.
func TestSpoolOfLivingRun(t *testing.T) {
	s := start(t, nil)
	id, a := wrapped(t, s, 0)
	leave(t, s, link.SpoolName(id, 1), id, 1, 2, 5)
	var owned *hub.OwnedError
	if err := s.spools.of(t.Context(), s.hub, id, 1); !errors.As(err, &owned) {
		t.Errorf("it was taken in while the run has a link: %v", err)
	}
	s.spools.all(t.Context(), s.hub)
	if got := numbersOf(t, s, id); got != "1" {
		t.Errorf("the server has the lines %s", got)
	}
	a.Lost(nil)
	awaitGone(t, filepath.Join(s.options.DataDir, "spool", link.SpoolName(id, 1)))
	if got := numbersOf(t, s, id); got != "1 2 3" {
		t.Errorf("the server has the lines %s", got)
	}
}

// A lockedLog keeps what is logged.
type lockedLog struct {
	mu   sync.Mutex
	text strings.Builder // guarded by mu
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestSpoolsThatFail has files that are of no use. They are kept, and complained about once, and others are taken in.
func TestSpoolsThatFail(t *testing.T) {
	log := &lockedLog{}
	s := start(t, func(o *Options) { o.Logger = slog.New(slog.NewTextHandler(log, nil)) })
	id, a := wrapped(t, s, 0)
	leave(t, s, "a.spool", "sunknown", 1, 1, 3)
	leave(t, s, "b.spool", id, 7, 1, 3)
	dir := filepath.Join(s.options.DataDir, "spool")
	if err := os.WriteFile(filepath.Join(dir, "c.spool"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "d.spool"), 0o700); err != nil {
		t.Fatal(err)
	}
	a.Lost(nil)
	for range 3 {
		s.spools.turn <- struct{}{}
		for _, failed := range s.spools.failed {
			failed.next = time.Time{} // as if time had passed
		}
		<-s.spools.turn
		s.spools.all(t.Context(), s.hub)
	}
	for _, name := range []string{"a.spool", "b.spool", "c.spool"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
		if n := strings.Count(log.String(), "file="+filepath.Join(dir, name)); n != 1 {
			t.Errorf("%s was complained about %d times", name, n)
		}
	}
	leave(t, s, link.SpoolName(id, 1), id, 1, 2, 5)
	awaitGone(t, filepath.Join(dir, link.SpoolName(id, 1)))
}

// TestSpoolsUnlisted cannot list the files, which is not the same as that there are none.
func TestSpoolsUnlisted(t *testing.T) {
	var log strings.Builder
	s := newSpools(filepath.Join(t.TempDir(), "spool"), slog.New(slog.NewTextHandler(&log, nil)))
	s.all(t.Context(), nil)
	if log.Len() > 0 {
		t.Errorf("without a folder it says %s", &log)
	}
	if err := os.WriteFile(s.dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.all(t.Context(), nil)
	if !strings.Contains(log.String(), "cannot be listed") {
		t.Errorf("it says %q", &log)
	}
}
