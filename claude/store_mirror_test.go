package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// A lineFeed is a transport whose lines are given by the test.
type lineFeed struct {
	lines  chan string
	state  StateVar
	closed chan struct{}
	once   sync.Once
}

func newLineFeed(lines ...string) *lineFeed {
	f := &lineFeed{lines: make(chan string, 10_000), closed: make(chan struct{})}
	for _, line := range lines {
		f.lines <- line
	}
	return f
}

func (f *lineFeed) Read(ctx context.Context) ([]byte, error) {
	select {
	case line := <-f.lines: // what came before the end is still there
		return []byte(line), nil
	default:
	}
	select {
	case line := <-f.lines:
		return []byte(line), nil
	case <-f.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (f *lineFeed) Write(context.Context, []byte) error { return nil }
func (f *lineFeed) CloseInput() error                   { return nil }
func (f *lineFeed) Close() error                        { f.once.Do(func() { close(f.closed) }); return nil }
func (f *lineFeed) State() (string, <-chan struct{})    { return f.state.Get() }
func mirrorLine(subpath string, entries ...string) string {
	return mirrorLineOf(testID(1), subpath, entries...)
}

func mirrorLineOf(id, subpath string, entries ...string) string {
	path := "/home/me/projects/x/.claude/projects/-x/" + id
	if subpath != "" {
		path += "/" + subpath
	}
	return fmt.Sprintf(`{"type":"transcript_mirror","filePath":%q,"entries":[%s]}`, path+".jsonl", strings.Join(entries, ","))
}

func numbered(n int) string { return fmt.Sprintf(`{"type":"user","uuid":"u%d"}`, n) }

// A slowStore fails or waits before it stores.
type slowStore struct {
	MemoryStore
	before func(ctx context.Context, call int) error
	mu     sync.Mutex
	calls  []int // how many entries each had
}

func (s *slowStore) Append(ctx context.Context, key StoreKey, entries []json.RawMessage) error {
	s.mu.Lock()
	s.calls = append(s.calls, len(entries))
	call := len(s.calls)
	s.mu.Unlock()
	if s.before != nil {
		if err := s.before(ctx, call); err != nil {
			return err
		}
	}
	return s.MemoryStore.Append(ctx, key, entries)
}

// stored returns the uuids of what is in a store.
func stored(t *testing.T, s SessionStore, key StoreKey) string {
	t.Helper()
	var all []string
	for entry, err := range s.Load(t.Context(), key) {
		if err != nil {
			return err.Error()
		}
		all = append(all, textIn(entry, "uuid"))
	}
	return strings.Join(all, " ")
}

// readKinds reads until a line of a type, or the end, and returns the types.
func readKinds(t *testing.T, m Transport, until string) (kinds []string, last []byte) {
	t.Helper()
	for {
		line, err := m.Read(t.Context())
		if errors.Is(err, io.EOF) {
			return append(kinds, "EOF"), nil
		}
		if err != nil {
			t.Fatal(err)
		}
		h, err := wire.Peek(line)
		if err != nil {
			t.Fatal(err)
		}
		kind := strings.TrimSuffix(string(h.Type)+"/"+string(h.Subtype), "/")
		kinds = append(kinds, kind)
		if kind == until {
			return kinds, line
		}
	}
}

var mainKey = StoreKey{Project: "-x", Conversation: testID(1)}

func TestMirror(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(slowStore)
		f := newLineFeed(`{"type":"system","subtype":"init","session_id":"s"}`, mirrorLine("", numbered(1), numbered(2)), `{"type":"assistant"}`,
			mirrorLine("subagents/agent-a1", numbered(3)), mirrorLine("", numbered(4)), `{"type":"result","subtype":"success"}`, `{"type":"keep_alive"}`, mirrorLine("", numbered(5)))
		m := newMirror(f, store, nil, func() error { return nil })
		kinds, _ := readKinds(t, m, "result/success")
		if want := []string{"system/init", "assistant", "result/success"}; !slices.Equal(kinds, want) {
			t.Errorf("read %q, expected %q", kinds, want)
		}
		if got := stored(t, store, mainKey) + "; " + stored(t, store, StoreKey{"-x", testID(1), "subagents/agent-a1"}); got != "u1 u2 u4; u3" {
			t.Errorf("with the result: %q", got)
		}
		if len(store.calls) != 2 {
			t.Errorf("%v entries at a time", store.calls)
		}
		if m.Unwrap() != Transport(f) {
			t.Error("it hides the transport")
		}
		if err := m.Close(); err != nil { // with lines that nobody has read
			t.Error(err)
		}
		if got := stored(t, store, mainKey); got != "u1 u2 u4 u5" {
			t.Errorf("at the end: %q", got)
		}
		if kinds, _ := readKinds(t, m, ""); !slices.Equal(kinds, []string{"keep_alive", "EOF"}) {
			t.Errorf("left: %q", kinds)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestMirrorTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowStore{before: func(_ context.Context, call int) error {
			switch call {
			case 1, 4:
				return errors.New("not now")
			case 2, 5:
				panic("not at all")
			case 6:
				return errors.New("never")
			}
			return nil
		}}
		f := newLineFeed(`{"type":"system","subtype":"init","session_id":"s"}`, mirrorLine("", numbered(1)), `{"type":"result"}`, mirrorLine("", numbered(2)), `{"type":"result"}`, mirrorLine("", numbered(3)), `{"type":"result"}`)
		m := newMirror(f, store, nil, func() error { return nil })
		begin := time.Now()
		if kinds, _ := readKinds(t, m, "result"); len(kinds) != 2 || time.Since(begin) != time.Second {
			t.Errorf("%q after %v", kinds, time.Since(begin))
		}
		// The second is given up, which is told before its result.
		_, line := readKinds(t, m, "system/mirror_error")
		message, err := wire.Decode(line)
		told, ok := message.(*wire.MirrorError)
		if err != nil || !ok || !strings.Contains(told.Error, "never") || told.SessionID != "s" || told.Key.ProjectKey != "-x" || told.Key.SessionID != testID(1) {
			t.Errorf("%s: %v", line, err)
		}
		if kinds, _ := readKinds(t, m, "result"); len(kinds) != 1 {
			t.Errorf("then %q", kinds)
		}
		if kinds, _ := readKinds(t, m, "result"); len(kinds) != 1 {
			t.Errorf("then %q", kinds)
		}
		if got := stored(t, store, mainKey); got != "u1 u3" {
			t.Errorf("stored %q", got)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestMirrorOfAStoreThatHangs shows that a store holds up neither results nor the
// end for longer than it may.
func TestMirrorOfAStoreThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		store := &slowStore{before: func(context.Context, int) error { <-release; return nil }}
		f := newLineFeed(mirrorLine("", numbered(1)), `{"type":"result"}`)
		removed := false
		m := newMirror(f, store, &StoreOptions{Timeout: time.Minute, ResultWait: 5 * time.Second}, func() error { removed = true; return nil })
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		if line, err := m.Read(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s, %v", line, err)
		}
		cancel()
		if kinds, _ := readKinds(t, m, "result"); len(kinds) != 1 || time.Since(begin) != 6*time.Second {
			t.Errorf("%q after %v", kinds, time.Since(begin))
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if got := time.Since(begin); got > 2*time.Minute || !removed {
			t.Errorf("closed after %v, cleaned up: %t", got, removed)
		}
		store.mu.Lock()
		defer store.mu.Unlock()
		if len(store.calls) != 1 {
			t.Errorf("%d calls: one that took too long was made again", len(store.calls))
		}
		close(release)
	})
}

func TestMirrorIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		store := &slowStore{before: func(context.Context, int) error { <-release; return nil }}
		f := newLineFeed()
		m := newMirror(f, store, &StoreOptions{MaxPending: 10_000, Eager: true, ResultWait: -1}, func() error { return nil })
		entry := func(n int) string {
			return fmt.Sprintf(`{"type":"user","uuid":"u%d","x":%q}`, n, strings.Repeat("x", 1000))
		}
		for i := range 100 {
			f.lines <- mirrorLine("", entry(i))
		}
		f.lines <- `{"type":"result"}`
		if kinds, _ := readKinds(t, m, "result"); len(kinds) != 1 {
			t.Errorf("read %q", kinds)
		}
		m.mu.Lock()
		if m.bytes > 10_000 {
			t.Errorf("%d bytes wait", m.bytes)
		}
		m.mu.Unlock()
		close(release)
		synctest.Wait()
		f.lines <- mirrorLine("", entry(100))
		f.lines <- `{"type":"result"}`
		kinds, _ := readKinds(t, m, "result")
		// If the first batch was taken only when something had been left out already, there
		// was room again, and there are two holes.
		told := len(kinds) - 1
		if want := append(slices.Repeat([]string{"system/mirror_error"}, told), "result"); told < 1 || told > 2 || !slices.Equal(kinds, want) {
			t.Errorf("then %q", kinds)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		got := strings.Fields(stored(t, store, mainKey))
		if len(got) < 5 || len(got) > 12 || got[0] != "u0" || got[len(got)-1] != "u100" {
			t.Errorf("stored %q", got)
		}
	})
}

func TestMirrorBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines []string
		for i := range 60 {
			var entries []string
			for j := range 20 {
				entries = append(entries, numbered(i*20+j))
			}
			lines = append(lines, mirrorLine("", entries...))
		}
		store := new(slowStore)
		m := newMirror(newLineFeed(append(lines, `{"type":"result"}`)...), store, &StoreOptions{Project: "tenant"}, func() error { return nil })
		readKinds(t, m, "result")
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if n := len(strings.Fields(stored(t, store, StoreKey{Project: "tenant", Conversation: testID(1)}))); n != 1200 {
			t.Errorf("%d stored", n)
		}
		if most := slices.Max(store.calls); most > batchEntries || len(store.calls) > 10 {
			t.Errorf("%v entries at a time", store.calls)
		}
	})
}

func TestMirrorOfOddLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(MemoryStore)
		m := newMirror(newLineFeed(
			strings.Replace(mirrorLine("", numbered(1)), testID(1), "../../etc", 1),
			strings.Replace(mirrorLine("", numbered(1)), ".jsonl", ".txt", 1),
			mirrorLine("../x", numbered(1)),
			`{"type":"transcript_mirror","filePath":7}`,
			`not JSON`, mirrorLine(""), `{"type":"result"}`), store, nil, func() error { return nil })
		var kinds []string
		for {
			line, err := m.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			h, _ := wire.Peek(line)
			if kinds = append(kinds, string(h.Type)); string(h.Type) == "result" {
				break
			}
		}
		if want := []string{"system", "system", "system", "system", "", "result"}; !slices.Equal(kinds, want) {
			t.Errorf("read %q", kinds)
		}
		if err := m.Close(); err != nil || len(store.kept) != 0 {
			t.Errorf("%v, stored %v", err, store.kept)
		}
	})
}
