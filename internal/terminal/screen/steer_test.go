package screen

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
)

// turns is a hub with a session of two turns.
func turns() (*fakeHub, *fakeSession) {
	hub := newFakeHub()
	last, event := short(
		prompted(1, "Fix the tests"), wrote(1, "Fix the tests"), said("The first answer."),
		called("t1", "Task", map[string]any{"prompt": "look"}), gave("t1", "looked"),
		prompted(2, "Now the docs"), wrote(2, "Now the docs"), said("The second answer."), state(api.StateIdle),
	)
	s := hub.add("s1aaaaaaaaaaaaaaaaaaa", "Fix the tests", last, event)
	last, event = short(prompted(1, "Something else"), said("This is the other one."), state(api.StateIdle))
	hub.add("s2bbbbbbbbbbbbbbbbbbb", "Another", last, event)
	return hub, s
}

// TestFork holds that a copy can be made of the whole conversation, of what was said up to a message, and of what was said before a prompt, which can then
// be written anew; and that the copy is what is open then.
func TestFork(t *testing.T) {
	const firstSaid, secondSaid = "u-The first answer.", "u-The second answer."
	for name, test := range map[string]struct {
		keys []string
		want api.Fork
		text string // in the composer
	}{
		"whole":         {[]string{"esc", "F", "up", "enter"}, api.Fork{}, ""},
		"by the menu":   {[]string{"esc", "a", "1", "1"}, api.Fork{}, ""},
		"up to here":    {[]string{"esc", "F", "enter"}, api.Fork{At: secondSaid}, ""},
		"before":        {[]string{"esc", "up", "F", "enter"}, api.Fork{At: firstSaid}, "Now the docs"},
		"by command":    {[]string{"/fork Try it @otherwise.", "enter"}, api.Fork{Prompt: "Try it @otherwise."}, ""},
		"command alone": {[]string{"/fork", "enter", "enter"}, api.Fork{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			hub, s := turns()
			drive(t, hub, Options{Session: s.snapshot.ID}, 80, 24, func(d *driver) {
				d.keys(test.keys...)
				d.pass(time.Second)
				if len(hub.forks) != 1 || hub.forks[0].ClientID == "" {
					t.Fatalf("forks %+v:\n%s", hub.forks, d.screen())
				}
				got := hub.forks[0]
				got.ClientID = ""
				if got != test.want {
					t.Errorf("forked %+v, want %+v", got, test.want)
				}
				d.wants("Fix the tests (fork)", "This is the fork")
				if d.m.session == s.snapshot.ID || d.m.pane.Composer.Value() != test.text || d.m.focus != areaBottom {
					t.Errorf("open is %s with %q in the composer", d.m.session, d.m.pane.Composer.Value())
				}
			})
		})
	}
}

// TestForkBeforeWhatWasNotRead holds that the message before a prompt is found also where it was not read yet, and that there is none before the first.
func TestForkBeforeWhatWasNotRead(t *testing.T) {
	hub := newFakeHub()
	s := hub.add("s1aaaaaaaaaaaaaaaaaaa", "Long", 400, func(seq int64) api.Event {
		switch seq {
		case 1:
			return prompted(1, "Begin")
		case 2:
			return said("Far back.")
		case 400:
			return prompted(2, "Much later")
		default:
			return called(fmt.Sprint("t", seq), "Bash", map[string]any{"command": "true"})
		}
	})
	drive(t, hub, Options{Session: s.snapshot.ID}, 80, 24, func(d *driver) {
		d.keys("esc", "F", "2")
		d.pass(time.Second)
		if len(hub.forks) != 1 || hub.forks[0].At != "u-Far back." {
			t.Fatalf("forks %+v:\n%s", hub.forks, d.screen())
		}
		d.keys("esc", "g")
		d.pass(time.Second)
		d.keys("F")
		d.wants("Begin")
		d.keys("2")
		d.pass(time.Second)
		d.wants("Couldn't fork", "nothing was said before that")
		if len(hub.forks) != 1 {
			t.Errorf("forks %+v", hub.forks)
		}
	})
}

// TestForkLate holds that a fork does not take the screen from somebody who has gone on, and that a refusal is told.
func TestForkLate(t *testing.T) {
	hub, s := turns()
	drive(t, hub, Options{Session: s.snapshot.ID}, 80, 24, func(d *driver) {
		hub.slow = 5 * time.Second
		d.keys("/fork go", "enter")
		d.pass(time.Second)
		d.keys("I write to ")
		d.pass(6 * time.Second)
		d.wants("Forked as Fix the tests (fork)")
		if d.m.session != s.snapshot.ID || d.m.pane.Composer.Value() != "I write to " {
			t.Errorf("open is %s with %q", d.m.session, d.m.pane.Composer.Value())
		}
		hub.slow = 0
		hub.refuse = &api.Error{Status: 409, Code: api.CodeConflict, Title: "the session has no conversation yet"}
		d.keys("ctrl+c", "/fork go", "enter")
		d.pass(time.Second)
		d.wants("Couldn't fork", "no conversation yet")
	})
}

// TestRewind holds that files are restored only after somebody has seen which.
func TestRewind(t *testing.T) {
	hub, s := turns()
	hub.would = api.RewindResult{CanRewind: true, FilesChanged: []string{"/home/me/blog/a.go", "/home/me/blog/\x1b[2Jevil.go"}, Insertions: 3, Deletions: 1}
	drive(t, hub, Options{Session: s.snapshot.ID, Guard: time.Second}, 80, 24, func(d *driver) {
		hub.slow = 2 * time.Second
		d.keys("/rewind", "enter")
		d.wants("Restore files as they were before", "Now the docs", "Fix the tests")
		d.keys("2")
		d.pass(time.Second)
		d.wants("Fix the tests", "asking the agent which files would change")
		d.keys("y") // nothing is shown yet
		hub.slow = 0
		d.pass(1100 * time.Millisecond)
		d.wants("2 files would change (+3 -1 lines):", "  /home/me/blog/a.go", "evil.go", "y restores them")
		if n := len(hub.rewind); n != 1 || !hub.rewind[0].DryRun || hub.rewind[0].UserMessageID != "p1" {
			t.Fatalf("rewinds %+v", hub.rewind)
		}
		d.keys("y") // nobody reads that fast
		if len(hub.rewind) != 1 {
			t.Fatal("they were restored before somebody could read which")
		}
		d.golden("rewind-80x24")
		d.pass(time.Second)
		d.keys("x", "y")
		d.pass(time.Second)
		if n := len(hub.rewind); n != 2 || hub.rewind[1].DryRun || hub.rewind[1].UserMessageID != "p1" {
			t.Fatalf("rewinds %+v", hub.rewind)
		}
		d.wants("Restored 2 files")

		// The prompt that is chosen in the conversation, and no.
		d.keys("esc", "up", "R")
		d.pass(time.Second)
		d.wants("Now the docs", "2 files would change")
		d.keys("esc")
		d.pass(time.Second)
		if n := len(hub.rewind); n != 3 || !hub.rewind[2].DryRun || hub.rewind[2].UserMessageID != "p2" {
			t.Fatalf("rewinds %+v", hub.rewind)
		}
	})
}

// TestRewindNot holds that where nothing can be restored, or nothing would change, y does nothing.
func TestRewindNot(t *testing.T) {
	for name, test := range map[string]struct {
		would  api.RewindResult
		refuse error
		says   string
	}{
		"cannot":  {api.RewindResult{Error: "No checkpoint"}, nil, "Can't restore the files: No checkpoint"},
		"nothing": {api.RewindResult{CanRewind: true}, nil, "No file has changed since"},
		"refused": {api.RewindResult{}, &api.Error{Status: 409, Code: api.CodeConflict, Title: "the session has no process"}, "has no process"},
	} {
		t.Run(name, func(t *testing.T) {
			hub, s := turns()
			hub.would, hub.refuse = test.would, test.refuse
			drive(t, hub, Options{Session: s.snapshot.ID}, 80, 24, func(d *driver) {
				d.keys("esc", "a", "2", "enter")
				d.pass(time.Second)
				d.wants(test.says)
				d.keys("y")
				d.pass(time.Second)
				d.keys("esc")
				d.wants("The second answer.")
				if len(hub.rewind) > 1 {
					t.Errorf("rewinds %+v", hub.rewind)
				}
			})
		})
	}
}

// TestRewindManyFiles holds that all of a long list can be seen.
func TestRewindManyFiles(t *testing.T) {
	hub, s := turns()
	hub.would.CanRewind = true
	for i := range 50 {
		hub.would.FilesChanged = append(hub.would.FilesChanged, "/"+strings.Repeat("far/", 40)+fmt.Sprint("file-", i, ".go"))
	}
	drive(t, hub, Options{Session: s.snapshot.ID}, 80, 24, func(d *driver) {
		d.keys("/rewind", "enter", "1")
		d.pass(time.Second)
		d.wants("50 files would change", "file-3.go", "y restores them")
		d.wantsNot("file-49.go", "at least")
		d.keys("pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown")
		d.wants("file-49.go", "y restores them")
	})
}

// TestArchive holds that a session can be put away and taken out again, from the conversation, the menu, the list and by command.
func TestArchive(t *testing.T) {
	hub, s := turns()
	other := hub.sessions[1]
	drive(t, hub, Options{Session: s.snapshot.ID}, 120, 40, func(d *driver) {
		d.keys("esc", "A")
		d.pass(3 * time.Second)
		d.wants("Archived; undo: switchboard archive --undo s1aaaaa", "archived")
		if !s.snapshot.Archived || d.m.session != s.snapshot.ID || d.m.list.find(s.snapshot.ID) != nil {
			t.Fatalf("archived %v, open is %s:\n%s", s.snapshot.Archived, d.m.session, d.screen())
		}
		d.keys("a", "3")
		d.pass(3 * time.Second)
		if s.snapshot.Archived || d.m.list.find(s.snapshot.ID) == nil {
			t.Fatal("it is still in the archive")
		}
		d.wantsNot("s1aaaaa archived")
		d.keys("i", "/archive", "enter")
		d.pass(time.Second)
		if !s.snapshot.Archived {
			t.Fatal("/archive does not put it away")
		}
		d.keys("/unarchive", "enter")
		d.pass(3 * time.Second)
		if s.snapshot.Archived {
			t.Fatal("/unarchive does not take it out")
		}
		d.keys("ctrl+l", "down", "A")
		d.pass(3 * time.Second)
		if !other.snapshot.Archived || s.snapshot.Archived {
			t.Fatal("A in the list does not put away what the list is on")
		}
		hub.refuse = &api.Error{Status: 403, Code: api.CodeForbidden, Title: "You may not"}
		d.keys("A")
		d.pass(time.Second)
		d.wants("That failed", "You may not")
	})
}

// TestOverTheList holds that help and search are seen also where the list takes the whole screen.
func TestOverTheList(t *testing.T) {
	hub, s := turns()
	drive(t, hub, Options{Session: s.snapshot.ID}, 80, 24, func(d *driver) {
		d.keys("ctrl+l", "?")
		d.wants("the next permission mode")
		d.keys("esc")
		d.wants("Sessions", "Another")
		d.keys("/", "slugs")
		d.wants("search in all sessions: slugs")
		d.keys("esc")
		d.wants("Sessions", "Another")
	})
}

// TestFailedInTheList holds that one sees which sessions have failed.
func TestFailedInTheList(t *testing.T) {
	hub, s := turns()
	hub.sessions[1].snapshot.Result = &api.TurnResult{Failed: true}
	drive(t, hub, Options{Session: s.snapshot.ID}, 80, 24, func(d *driver) {
		d.keys("ctrl+l")
		d.wants("Sessions", "Another", "failed · ")
		d.wantsNot("idle, failed")
	})
}

// TestInterruptInTheList holds that ctrl+x stops the turn of the session that the list is on, and says which that is.
func TestInterruptInTheList(t *testing.T) {
	hub, s := turns()
	drive(t, hub, Options{Session: s.snapshot.ID}, 80, 24, func(d *driver) {
		d.keys("ctrl+l", "down", "ctrl+x")
		d.wants("Turn stopped in Another")
		d.keys("up", "ctrl+x")
		d.pass(time.Second)
		if want := []string{hub.sessions[1].snapshot.ID, s.snapshot.ID}; !slices.Equal(hub.stopped, want) {
			t.Errorf("stopped turns of %v, want %v", hub.stopped, want)
		}
		d.wantsNot("in Another")
	})
}

// TestNotDone holds that what was refused is not told as if it were done.
func TestNotDone(t *testing.T) {
	hub, s := turns()
	drive(t, hub, Options{Session: s.snapshot.ID}, 80, 24, func(d *driver) {
		hub.refuse = &api.Error{Status: 403, Code: api.CodeForbidden, Title: "You may not"}
		for _, keys := range [][]string{{"/title Other", "enter"}, {"/stop", "enter"}, {"/release", "enter"}, {"ctrl+x"}, {"shift+tab"}} {
			d.keys(keys...)
			d.wants("That failed: You may not")
			d.wantsNot("was changed", "was ended", "goes on", "was stopped")
			d.pass(flashTime + time.Second)
		}
	})
}
