package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/claude"
)

// Run tests what [claude.SessionStore] promises, and of [claude.StoreLister],
// [claude.StoreDeleter] and [claude.StoreSubkeys] those that the store is. open
// returns an empty store; it is called for each test, and what is to be done at
// its end is for t.Cleanup.
func Run(t *testing.T, open func(t *testing.T) claude.SessionStore) {
	t.Helper()
	for _, test := range []struct {
		name string
		run  func(t *testing.T, s claude.SessionStore)
	}{
		{"never written", neverWritten},
		{"order", order},
		{"empty append", emptyAppend},
		{"equal entries", equalEntries},
		{"duplicates", duplicates},
		{"no uuid", noUUID},
		{"separate keys", separateKeys},
		{"caller's memory", callersMemory},
		{"long entries", longEntries},
		{"leaving early", leavingEarly},
		{"concurrent", concurrent},
		{"list", list},
		{"delete", deleted},
		{"delete a part", deletedPart},
		{"subkeys", subkeys},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}

const project = "-home-someone-project"

func key(n int, subpath string) claude.StoreKey {
	return claude.StoreKey{Project: project, Conversation: fmt.Sprintf("00000000-0000-4000-8000-%012d", n), Subpath: subpath}
}

// entry is an entry with a uuid and things that are easily changed on the way.
func entry(n int) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"type":"user","uuid":"00000000-0000-4000-9000-%012d","n":%d,"text":"ü <b> & \u2028 \" \\ \n \u0000","big":12345678901234567890,"float":1.50,"null":null,"list":[1,[],{}]}`, n, n))
}

func add(t *testing.T, s claude.SessionStore, k claude.StoreKey, entries ...json.RawMessage) {
	t.Helper()
	if err := s.Append(t.Context(), k, entries); err != nil {
		t.Fatalf("Append to %s: %v", k, err)
	}
}

func load(t *testing.T, s claude.SessionStore, k claude.StoreKey) []json.RawMessage {
	t.Helper()
	var all []json.RawMessage
	for entry, err := range s.Load(t.Context(), k) {
		if err != nil {
			t.Fatalf("Load of %s: %v", k, err)
		}
		all = append(all, slices.Clone(entry))
	}
	return all
}

// same compares entries by what they mean: the form of the JSON is the store's.
func same(t *testing.T, got []json.RawMessage, want ...json.RawMessage) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d entries, expected %d: %s", len(got), len(want), brief(got))
	}
	for i := range got {
		if strings.ContainsRune(string(got[i]), '\n') {
			t.Errorf("entry %d has a line end in it", i)
		}
		if !reflect.DeepEqual(value(t, got[i]), value(t, want[i])) {
			t.Errorf("entry %d is %s, expected %s", i, brief(got[i:i+1]), brief(want[i:i+1]))
		}
	}
}

func brief(entries []json.RawMessage) string {
	text := fmt.Sprintf("%s", entries)
	if len(text) > 500 {
		text = text[:500] + "…"
	}
	return text
}

// value decodes an entry without rounding its numbers.
func value(t *testing.T, entry json.RawMessage) any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(string(entry)))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		t.Fatalf("%v: %.200s", err, entry)
	}
	return v
}

func missing(t *testing.T, s claude.SessionStore, k claude.StoreKey) {
	t.Helper()
	n := 0
	for _, err := range s.Load(t.Context(), k) {
		if n++; !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Load of %s yields the error %v, expected one that is fs.ErrNotExist", k, err)
		}
	}
	if n != 1 {
		t.Errorf("Load of %s yields %d times, expected one error", k, n)
	}
}

func neverWritten(t *testing.T, s claude.SessionStore) {
	missing(t, s, key(1, ""))
	add(t, s, key(1, ""), entry(1))
	missing(t, s, key(2, ""))
	missing(t, s, key(1, "subagents/agent-a1"))
}

func order(t *testing.T, s claude.SessionStore) {
	add(t, s, key(1, ""), entry(3), entry(1))
	add(t, s, key(1, ""), entry(2))
	var want []json.RawMessage
	for i := range 700 {
		want = append(want, entry(1000-i))
	}
	add(t, s, key(1, ""), want...)
	same(t, load(t, s, key(1, "")), append([]json.RawMessage{entry(3), entry(1), entry(2)}, want...)...)
}

func emptyAppend(t *testing.T, s claude.SessionStore) {
	add(t, s, key(1, ""), entry(1))
	add(t, s, key(1, ""))
	same(t, load(t, s, key(1, "")), entry(1))
}

func equalEntries(t *testing.T, s claude.SessionStore) {
	add(t, s, key(1, ""), entry(1))
	same(t, load(t, s, key(1, "")), entry(1))
	same(t, load(t, s, key(1, "")), entry(1))
}

func duplicates(t *testing.T, s claude.SessionStore) {
	add(t, s, key(1, ""), entry(1), entry(2))
	add(t, s, key(1, ""), entry(1), entry(2), entry(3), entry(3))
	same(t, load(t, s, key(1, "")), entry(1), entry(2), entry(3))
	// The same uuid elsewhere is another entry.
	add(t, s, key(2, ""), entry(1))
	add(t, s, key(1, "subagents/agent-a1"), entry(1))
	same(t, load(t, s, key(2, "")), entry(1))
	same(t, load(t, s, key(1, "subagents/agent-a1")), entry(1))
}

func noUUID(t *testing.T, s claude.SessionStore) {
	title := json.RawMessage(`{"type":"custom-title","customTitle":"x"}`)
	add(t, s, key(1, ""), title)
	add(t, s, key(1, ""), title, entry(1), title)
	same(t, load(t, s, key(1, "")), title, title, entry(1), title)
}

func separateKeys(t *testing.T, s claude.SessionStore) {
	other := key(1, "")
	other.Project = "another"
	keys := []claude.StoreKey{key(1, ""), key(2, ""), key(1, "subagents/agent-a1"), key(1, "subagents/agent-a2"), key(1, "subagents/w/agent-a1"), other}
	for i, k := range keys {
		add(t, s, k, entry(i))
	}
	for i, k := range keys {
		same(t, load(t, s, k), entry(i))
	}
}

func callersMemory(t *testing.T, s claude.SessionStore) {
	given := slices.Clone(entry(1))
	list := []json.RawMessage{given, slices.Clone(entry(2))}
	add(t, s, key(1, ""), list...)
	for i := range given {
		given[i] = ' '
	}
	list[1] = nil
	for entry, err := range s.Load(t.Context(), key(1, "")) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range entry {
			entry[i] = ' '
		}
	}
	same(t, load(t, s, key(1, "")), entry(1), entry(2))
}

func longEntries(t *testing.T, s claude.SessionStore) {
	long := json.RawMessage(`{"type":"user","uuid":"long","data":"` + strings.Repeat("0123456789abcdef", 3<<16) + `"}`) // 3 MiB
	add(t, s, key(1, ""), entry(1), long, entry(2))
	same(t, load(t, s, key(1, "")), entry(1), long, entry(2))
}

func leavingEarly(t *testing.T, s claude.SessionStore) {
	add(t, s, key(1, ""), entry(1), entry(2), entry(3))
	for range 50 { // whatever a reader holds must be given back
		for range s.Load(t.Context(), key(1, "")) {
			break
		}
	}
	same(t, load(t, s, key(1, "")), entry(1), entry(2), entry(3))
}

func concurrent(t *testing.T, s claude.SessionStore) {
	const writers, each = 4, 25
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				if err := s.Append(t.Context(), key(1, ""), []json.RawMessage{entry(w*each + i)}); err != nil {
					t.Error(err)
				}
				for _, err := range s.Load(t.Context(), key(1, "")) {
					if err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	next := make([]int, writers)
	got := load(t, s, key(1, ""))
	for _, entry := range got {
		var v struct{ N int }
		if err := json.Unmarshal(entry, &v); err != nil {
			t.Fatal(err)
		}
		w := v.N / each
		if w >= writers || v.N%each != next[w] {
			t.Fatalf("entry %d comes too early: those of one writer have their order", v.N)
		}
		next[w]++
	}
	if len(got) != writers*each {
		t.Errorf("%d entries, expected %d", len(got), writers*each)
	}
}

func list(t *testing.T, s claude.SessionStore) {
	lister, ok := s.(claude.StoreLister)
	if !ok {
		t.Skip("the store cannot list")
	}
	names := func(project string) (all []string, times map[string]time.Time) {
		t.Helper()
		found, err := lister.List(t.Context(), project)
		if err != nil {
			t.Fatal(err)
		}
		times = make(map[string]time.Time)
		for _, each := range found {
			all = append(all, each.Conversation)
			times[each.Conversation] = each.Modified
		}
		slices.Sort(all)
		return all, times
	}
	if all, _ := names(project); len(all) != 0 {
		t.Errorf("an empty store has %q", all)
	}
	add(t, s, key(1, ""), entry(1))
	add(t, s, key(2, ""), entry(1))
	add(t, s, key(2, "subagents/agent-a1"), entry(1))
	other := key(3, "")
	other.Project = project + "-other" // begins with the same
	add(t, s, other, entry(1))
	all, before := names(project)
	if want := []string{key(1, "").Conversation, key(2, "").Conversation}; !slices.Equal(all, want) {
		t.Errorf("listed %q, expected %q", all, want)
	}
	for id, at := range before {
		if at.IsZero() {
			t.Errorf("%s has no time", id)
		}
	}
	add(t, s, key(1, ""), entry(2))
	if _, after := names(project); after[key(1, "").Conversation].Before(before[key(1, "").Conversation]) {
		t.Errorf("the time went back from %v to %v", before, after)
	}
}

func deleted(t *testing.T, s claude.SessionStore) {
	deleter := deleterOf(t, s)
	for n := 1; n <= 2; n++ {
		add(t, s, key(n, ""), entry(1))
		add(t, s, key(n, "subagents/agent-a1"), entry(1))
	}
	for range 2 { // what is not there is no error
		if err := deleter.Delete(t.Context(), key(1, "")); err != nil {
			t.Fatal(err)
		}
	}
	missing(t, s, key(1, ""))
	missing(t, s, key(1, "subagents/agent-a1"))
	same(t, load(t, s, key(2, "")), entry(1))
	same(t, load(t, s, key(2, "subagents/agent-a1")), entry(1))
	if lister, ok := s.(claude.StoreLister); ok {
		if all, err := lister.List(t.Context(), project); err != nil || len(all) != 1 {
			t.Errorf("listed %v, %v", all, err)
		}
	}
	// It may come back.
	add(t, s, key(1, ""), entry(1))
	same(t, load(t, s, key(1, "")), entry(1))
}

func deletedPart(t *testing.T, s claude.SessionStore) {
	deleter := deleterOf(t, s)
	add(t, s, key(1, ""), entry(1))
	add(t, s, key(1, "subagents/agent-a1"), entry(1))
	add(t, s, key(1, "subagents/agent-a12"), entry(1))
	if err := deleter.Delete(t.Context(), key(1, "subagents/agent-a1")); err != nil {
		t.Fatal(err)
	}
	missing(t, s, key(1, "subagents/agent-a1"))
	same(t, load(t, s, key(1, "")), entry(1))
	same(t, load(t, s, key(1, "subagents/agent-a12")), entry(1))
}

func deleterOf(t *testing.T, s claude.SessionStore) claude.StoreDeleter {
	t.Helper()
	deleter, ok := s.(claude.StoreDeleter)
	if !ok {
		t.Skip("the store cannot delete")
	}
	return deleter
}

func subkeys(t *testing.T, s claude.SessionStore) {
	lister, ok := s.(claude.StoreSubkeys)
	if !ok {
		t.Skip("the store cannot tell subkeys")
	}
	check := func(ctx context.Context, n int, want ...string) {
		t.Helper()
		got, err := lister.Subkeys(ctx, project, key(n, "").Conversation)
		if err != nil {
			t.Fatal(err)
		}
		got = slices.Clone(got)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("subkeys %q, expected %q", got, want)
		}
	}
	check(t.Context(), 1)
	add(t, s, key(1, ""), entry(1))
	check(t.Context(), 1)
	add(t, s, key(1, "subagents/agent-a1"), entry(1))
	add(t, s, key(1, "subagents/agent-a1"), entry(2))
	add(t, s, key(1, "subagents/w/agent-a2"), entry(1))
	add(t, s, key(2, "subagents/agent-a3"), entry(1))
	check(t.Context(), 1, "subagents/agent-a1", "subagents/w/agent-a2")
	check(t.Context(), 2, "subagents/agent-a3")
}
