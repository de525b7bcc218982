package transcript_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/transcript"
	"github.com/switchboard-dev/switchboard/internal/transcript/logtest"
)

// TestPrepend holds the promise of the package: a log that is read in pages from its end gives what it gives from its beginning.
func TestPrepend(t *testing.T) {
	logs := logtest.Recordings(t)
	logs["whole"] = logtest.Whole()
	random := rand.New(rand.NewPCG(1, 2))
	for name, events := range logs {
		t.Run(name, func(t *testing.T) {
			events := logtest.Durable(events)
			want := logtest.Dump(t, logtest.Read(events))
			state := logtest.Read(events).State()
			for range 12 {
				var cuts []int
				for at := len(events); at > 0; {
					at -= 1 + random.IntN(min(at, 1+random.IntN(20)))
					cuts = append(cuts, at)
				}
				checkPages(t, events, cuts, want, state)
			}
			// Each event is a page.
			var cuts []int
			for at := range slices.Backward(events) {
				cuts = append(cuts, at)
			}
			checkPages(t, events, cuts, want, state)
		})
	}
}

// checkPages reads events from the last cut on, and then puts the pages before it in front.
func checkPages(t *testing.T, events []api.Event, cuts []int, want []string, state transcript.State) {
	t.Helper()
	c := logtest.Read(events[cuts[0]:])
	for i := 1; i < len(cuts); i++ {
		before := ids(c)
		n := c.Prepend(events[cuts[i]:cuts[i-1]])
		after := ids(c)
		// What stands behind those that came was there before, if not merged with one of them.
		for id, at := range after {
			if _, was := before[id]; !was && at >= n {
				t.Fatalf("cuts %v: %s is new, and not among the %d that came", cuts[:i+1], id, n)
			}
		}
	}
	if diff := cmp.Diff(want, logtest.Dump(t, c)); diff != "" {
		t.Fatalf("cuts %v (-from the beginning, +in pages):\n%s", cuts, diff)
	}
	got := c.State()
	// What is counted in the current turn is only known to who has seen it.
	got.Tokens, state.Tokens = 0, 0
	got.TurnStarted, state.TurnStarted = logtest.Noon, logtest.Noon
	if diff := cmp.Diff(state, got); diff != "" {
		t.Fatalf("cuts %v: state (-from the beginning, +in pages):\n%s", cuts, diff)
	}
}

func ids(c *transcript.Conversation) map[string]int {
	out := map[string]int{}
	for i := range c.Len() {
		out[c.Item(i).ID] = i
	}
	return out
}

// TestPrependAgain holds that a page that overlaps with what is known adds nothing twice.
func TestPrependAgain(t *testing.T) {
	events := logtest.Whole()
	c := logtest.Read(events[20:])
	c.Prepend(events[10:25])
	c.Prepend(events[:20])
	if n := c.Prepend(events[:5]); n != 0 {
		t.Errorf("a page that was there added %d items", n)
	}
	for i := range events {
		if changed := c.Event(&events[i]); changed.Appended != 0 {
			t.Errorf("event %s was there, and added an item", events[i].ID)
		}
	}
	if diff := cmp.Diff(logtest.Dump(t, logtest.Read(events)), logtest.Dump(t, c)); diff != "" {
		t.Error(diff)
	}
	if c.FirstEventID() != "e1:1" {
		t.Errorf("the first event is %s", c.FirstEventID())
	}
}

// TestChanged holds that whoever follows what Changed says has what a fresh look shows.
func TestChanged(t *testing.T) {
	logs := logtest.Recordings(t)
	logs["whole"] = logtest.Whole()
	for name, events := range logs {
		t.Run(name, func(t *testing.T) {
			c := new(transcript.Conversation)
			shadow := []string{}
			state := stateText(t, c)
			for i := range events {
				changed := c.Event(&events[i])
				shadow = follow(t, c, shadow, changed)
				if diff := cmp.Diff(logtest.Dump(t, c), shadow); diff != "" {
					t.Fatalf("after event %d (%s), %+v (-is, +followed):\n%s", i, events[i].Line, changed, diff)
				}
				now := stateText(t, c)
				if now != state && !changed.State {
					t.Fatalf("after event %d the state is another, and Changed does not say so:\n%s\n%s", i, state, now)
				}
				state = now
			}
		})
	}
}

func stateText(t *testing.T, c *transcript.Conversation) string {
	t.Helper()
	s := c.State()
	s.LastEventID = "" // of course
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// follow does to a list what changed says.
func follow(t *testing.T, c *transcript.Conversation, shadow []string, changed transcript.Changed) []string {
	t.Helper()
	now := logtest.Dump(t, c)
	if changed.Reset {
		return now
	}
	for _, i := range changed.Items {
		if i >= len(shadow) {
			t.Fatalf("item %d is said to be changed, and there were %d", i, len(shadow))
		}
		shadow[i] = now[i]
	}
	for range changed.Appended {
		shadow = append(shadow, now[len(shadow)])
	}
	return shadow
}

// TestLongLog holds that a long log read in pages costs no more per page at the end than at the beginning: each event is read once.
func TestLongLog(t *testing.T) {
	var s logtest.Script
	for i := range 2000 {
		s.Call(fmt.Sprintf("tool%d", i), "Bash", `{"command":"true"}`, "")
		s.Gave(fmt.Sprintf("tool%d", i), "ok", false, "")
	}
	c := new(transcript.Conversation)
	for at := len(s.Events); at > 0; at -= 101 {
		c.Prepend(s.Events[max(at-101, 0):at])
	}
	if c.Len() != 2000 {
		t.Errorf("%d items", c.Len())
	}
	if diff := cmp.Diff(logtest.Dump(t, logtest.Read(s.Events)), logtest.Dump(t, c)); diff != "" {
		t.Error(diff)
	}
}
