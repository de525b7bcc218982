//go:build linux

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
)

// The bounds of memory for a session.
const (
	linkedLimit   = 64 << 10
	unlinkedLimit = 2 << 10
	// cacheLimit is what SQLite keeps of a large file, for all its connections
	// together, however many sessions there are.
	cacheLimit = 32 << 20
	// noise is by how much the memory of the whole process may differ from one
	// start to the next for reasons that have nothing to do with its sessions: pages
	// of SQLite and of the program, and what the allocator has not given back. A
	// tenth of the load is too little for that not to matter.
	noise = 4 << 20
)

// A loadOrder is what the load process is told on its standard input.
type loadOrder struct {
	Socket string     `json:"socket"`
	Runs   []expected `json:"runs"`
}

// runLoad is the test binary as the load process: a link client for each run,
// until its input ends.
func runLoad() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	decoder := json.NewDecoder(os.Stdin)
	var order loadOrder
	if err := decoder.Decode(&order); err != nil {
		return err
	}
	go func() { // ends with the input or the program
		_, _ = io.Copy(io.Discard, io.MultiReader(decoder.Buffered(), os.Stdin))
		cancel()
	}()
	var clients sync.WaitGroup
	for _, run := range order.Runs {
		record, err := os.OpenFile(run.Record, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		clients.Go(func() {
			defer func() { _ = record.Close() }() // written line by line
			if err := newLinkClient(order.Socket, run, 1, record).run(ctx); ctx.Err() == nil {
				fmt.Fprintf(os.Stderr, "session %s: %v\n", run.Session, err)
			}
		})
	}
	clients.Wait()
	return nil
}

// startLoad starts the load process. It ends with the test.
func (l *lab) startLoad(runs []expected) {
	l.t.Helper()
	l.startLoadAt(l.socket(), runs)
}

// startLoadAt is startLoad at another socket than the hub's.
func (l *lab) startLoadAt(socket string, runs []expected) {
	l.t.Helper()
	self, err := os.Executable()
	if err != nil {
		l.t.Fatal(err)
	}
	order, err := json.Marshal(loadOrder{Socket: socket, Runs: runs})
	if err != nil {
		l.t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(l.environment(), roleEnv+"="+roleLoad)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	input, err := cmd.StdinPipe()
	if err != nil {
		l.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() {
		_ = input.Close() // that ends it
		if err := cmd.Wait(); err != nil || stderr.Len() > 0 {
			l.t.Errorf("the load process: %v: %.2000s", err, &stderr)
		}
	})
	if _, err := input.Write(append(order, '\n')); err != nil {
		l.t.Fatal(err)
	}
}

// A usage is how much memory the hub has, after it has given back what it does
// not use: as the system sees it, and what of it is Go's.
type usage struct{ resident, heap, stacks int64 }

// memory asks the hub for its usage.
func (l *lab) memory(file, when string) usage {
	l.t.Helper()
	if err := os.RemoveAll(file); err != nil {
		l.t.Fatal(err)
	}
	hub := l.current()
	if err := hub.cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		l.t.Fatal(err)
	}
	if err := eventually(patience, exists(file)); err != nil {
		l.t.Fatalf("the hub does not tell its memory: %v", err)
	}
	told, err := os.ReadFile(file)
	if err != nil {
		l.t.Fatal(err)
	}
	var u usage
	var goroutines int
	if _, err := fmt.Sscanf(string(told), "heap %d stacks %d goroutines %d", &u.heap, &u.stacks, &goroutines); err != nil {
		l.t.Fatal(err)
	}
	if u.resident, err = residentBytes(hub.pid()); err != nil {
		l.t.Fatal(err)
	}
	l.t.Logf("%s: resident %d KiB, of that Go's heap %d KiB, stacks %d KiB of %d goroutines", when, u.resident>>10, u.heap>>10, u.stacks>>10, goroutines)
	return u
}

// per returns what one of n took that came between two usages.
func (u usage) per(before usage, n int) usage {
	each := func(now, then int64) int64 { return (now - then) / int64(n) }
	return usage{each(u.resident, before.resident), each(u.heap, before.heap), each(u.stacks, before.stacks)}
}

// TestLoad has many sessions linked, each with a subscriber, and some of them
// streaming: nothing is lost, and memory keeps to its bounds. A part of it is
// tried unless there is time for all. It is the one test without the race
// detector, whose memory is not the program's.
func TestLoad(t *testing.T) {
	t.Parallel()
	linked, streaming, unlinked := 60, 12, 500
	if soak() {
		linked, streaming, unlinked = 1000, 200, 10_000
	}
	l := newLab(t, &labOptions{plain: true, config: manyConnections})
	file := filepath.Join(l.root, "memory")
	env := "SWITCHBOARD_MEMORY_FILE=" + file
	l.start(env)
	l.listAll(0)
	empty := l.memory(file, "empty")
	l.stop()

	l.prepare(unlinked, true)
	l.start(env)
	begin := time.Now()
	l.listAll(unlinked)
	t.Logf("%d sessions listed in %s", unlinked, time.Since(begin).Round(time.Millisecond))
	resting := l.memory(file, fmt.Sprintf("%d sessions that are not linked", unlinked))
	l.stop()
	each := resting.per(empty, unlinked)
	t.Logf("a session that is not linked takes %d bytes, of that %d of Go's heap; the rest is what SQLite keeps of its file", each.resident, each.heap)
	if each.heap+each.stacks > unlinkedLimit || resting.resident-empty.resident > cacheLimit+int64(unlinked)*unlinkedLimit {
		t.Errorf("a session that is not linked takes more than %d bytes", unlinkedLimit)
	}

	// What the first links need is more than what one more does. The hub loads all
	// runs that it expects when it starts, so the others are made afterwards.
	first := linked / 3
	link := func(count, want int) ([]expected, usage) {
		runs := l.prepare(count, false)
		if len(runs) != count {
			t.Fatalf("%d runs were prepared, want %d", len(runs), count)
		}
		l.start(env)
		l.startLoad(runs)
		if err := eventually(2*patience, func() error { return l.linked(want) }); err != nil {
			t.Fatal(err)
		}
		return runs, l.memory(file, fmt.Sprintf("%d linked", want))
	}
	_, some := link(first, first)
	l.stop()
	runs, all := link(linked, first+linked)
	// What a feed holds for its followers is forgotten when nothing happens for a while. To measure is work for the hub.
	measured := time.Now()
	if err := eventually(patience, func() error {
		if time.Since(measured) >= 2*time.Second {
			all, measured = l.memory(file, "later"), time.Now()
		}
		each = all.per(some, linked)
		if each.heap+each.stacks > linkedLimit || all.resident-some.resident > noise+int64(linked)*linkedLimit {
			return fmt.Errorf("a linked session takes more than %d bytes", linkedLimit)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	t.Logf("a linked session takes %d bytes, of that %d of Go's heap and %d of its stacks", each.resident, each.heap, each.stacks)
	var sessions []*session
	for _, run := range runs {
		sessions = append(sessions, &session{lab: l, id: run.Session, dir: filepath.Join(l.root, "w"), record: run.Record, follower: l.follow(run.Session)})
	}
	for _, s := range sessions {
		if _, err := s.await(l.ctx(), "its first event", func(events []api.Event) bool { return len(events) > 0 }); err != nil {
			t.Fatal(err)
		}
	}
	watched := l.memory(file, fmt.Sprintf("%d with a subscriber", linked))
	t.Logf("a subscriber takes %d bytes", watched.per(all, linked).resident)

	begin = time.Now()
	var drivers sync.WaitGroup
	for _, s := range sessions[:streaming] {
		drivers.Go(func() {
			for n := range 3 {
				if err := s.turn(t.Context(), fmt.Sprintf("turn-%d", n), "@slow 2ms\n@huge 4000\n"+saying("the load")); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	drivers.Wait()
	t.Logf("%d sessions have streamed: %s, in %s", streaming, tally(sessions), time.Since(begin).Round(time.Millisecond))
	after := l.memory(file, fmt.Sprintf("%d have streamed", streaming))
	t.Logf("one that has streamed takes %d bytes more: what is kept for subscribers that come back", after.per(watched, streaming).resident)
	begin = time.Now()
	l.verdict(sessions...)
	t.Logf("judged in %s", time.Since(begin).Round(time.Millisecond))
}

// listAll pages through the list of sessions and holds how many there are.
func (l *lab) listAll(want int) {
	l.t.Helper()
	if n, _ := l.count(); n != want {
		l.t.Errorf("the list has %d sessions, want %d", n, want)
	}
}

// count returns how many sessions there are, and how many are not offline and
// not ended.
func (l *lab) count() (all, live int) {
	l.t.Helper()
	cursor := ""
	for {
		var page api.SessionList
		if err := l.insist(l.ctx(), "GET", "/v1/sessions?limit=1000&cursor="+cursor, nil, &page); err != nil {
			l.t.Fatal(err)
		}
		all += len(page.Sessions)
		for _, s := range page.Sessions {
			if s.State != api.StateEnded && s.State != api.StateOffline && s.State != api.StateStarting {
				live++
			}
		}
		if cursor = page.Next; cursor == "" {
			return all, live
		}
	}
}

// linked is a check for eventually: so many sessions are connected.
func (l *lab) linked(want int) error {
	if _, live := l.count(); live != want {
		return fmt.Errorf("%d sessions are connected, want %d", live, want)
	}
	return nil
}
