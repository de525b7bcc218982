package screen

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/internal/terminal/pane"
	"github.com/switchboard-dev/switchboard/internal/terminal/termtest"
)

// A driver is Bubble Tea for tests: it carries out commands, and hands on messages when everything else waits. It works within a bubble.
type driver struct {
	t    *testing.T
	hub  *fakeHub
	m    *Model
	quit bool
	// batches is how many the open session's stream has brought.
	batches int

	mu   sync.Mutex
	msgs []tea.Msg
}

// drive starts a screen in a bubble and calls f.
func drive(t *testing.T, hub *fakeHub, o Options, width, height int, f func(d *driver)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		hub.changed = make(chan struct{}) // the bubble's
		if o.Guard == 0 {
			o.Guard = -1
		}
		d := &driver{t: t, hub: hub, m: New(t.Context(), hub, o)}
		defer func() {
			if err := d.m.Close(); err != nil {
				t.Error(err)
			}
		}()
		d.put(tea.WindowSizeMsg{Width: width, Height: height})
		d.start(d.m.Init())
		d.settle()
		f(d)
	})
}

func (d *driver) put(msg tea.Msg) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.msgs = append(d.msgs, msg)
}

// start carries out a command.
func (d *driver) start(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		switch msg := cmd().(type) {
		case nil:
		case tea.BatchMsg:
			for _, c := range msg {
				d.start(c)
			}
		default:
			d.put(msg)
		}
	}()
}

// settle hands on messages until there are no more.
func (d *driver) settle() {
	for {
		synctest.Wait()
		d.mu.Lock()
		msgs := d.msgs
		d.msgs = nil
		d.mu.Unlock()
		if len(msgs) == 0 {
			return
		}
		for _, msg := range msgs {
			if _, ok := msg.(tea.QuitMsg); ok {
				d.quit = true
				continue
			}
			if b, ok := msg.(pane.Batch); ok && b.Stream > 0 {
				d.batches++
			}
			_, cmd := d.m.Update(msg)
			d.start(cmd)
			d.m.View()
		}
	}
}

// pass lets time pass.
func (d *driver) pass(by time.Duration) {
	for end := time.Now().Add(by); time.Now().Before(end); {
		time.Sleep(min(100*time.Millisecond, time.Until(end))) // the bubble's time
		d.settle()
	}
}

// keys types keys by their names; what is no name is text.
func (d *driver) keys(names ...string) {
	d.t.Helper()
	for _, name := range names {
		if k, ok := named(name); ok {
			d.put(k)
			d.settle()
			continue
		}
		for _, r := range name {
			d.put(tea.KeyPressMsg{Code: r, Text: string(r)})
			d.settle()
		}
	}
}

// pasted pastes a text.
func (d *driver) pasted(text string) {
	d.put(tea.PasteMsg{Content: text})
	d.settle()
}

// named returns the key with a name.
func named(name string) (tea.KeyPressMsg, bool) {
	codes := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "pgup": tea.KeyPgUp,
		"pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd, "backspace": tea.KeyBackspace, "f1": tea.KeyF1,
	}
	if name == "space" {
		return tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}, true
	}
	if rest, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: rune(rest[0]), Mod: tea.ModCtrl}, true
	}
	var mod tea.KeyMod
	rest, shifted := strings.CutPrefix(name, "shift+")
	if shifted {
		mod = tea.ModShift
	}
	code, ok := codes[rest]
	return tea.KeyPressMsg{Code: code, Mod: mod}, ok
}

// screen returns what is shown, as a terminal shows it.
func (d *driver) screen() *termtest.Screen {
	return termtest.Render(d.m.width, d.m.height, d.m.View().Content)
}

// wants fails unless the screen has all of the texts.
func (d *driver) wants(texts ...string) {
	d.t.Helper()
	s := d.screen()
	for _, text := range texts {
		if !s.Contains(text) {
			d.t.Fatalf("%q is not on the screen:\n%s", text, s)
		}
	}
}

// wantsNot fails if the screen has one of the texts.
func (d *driver) wantsNot(texts ...string) {
	d.t.Helper()
	s := d.screen()
	for _, text := range texts {
		if s.Contains(text) {
			d.t.Fatalf("%q is on the screen:\n%s", text, s)
		}
	}
}

// calls returns how often a method of the hub was called, and how many events it gave.
func (d *driver) calls(name string) int {
	d.hub.mu.Lock()
	defer d.hub.mu.Unlock()
	return d.hub.calls[name]
}

func (d *driver) eventsRead() int64 {
	d.hub.mu.Lock()
	defer d.hub.mu.Unlock()
	return d.hub.events
}

// golden compares the screen with a file.
func (d *driver) golden(name string) {
	d.t.Helper()
	got := d.screen().Text() + "\n"
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			d.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		d.t.Fatal(err)
	}
	if got != string(want) {
		d.t.Errorf("the screen differs from %s:\n%s\nwant:\n%s", path, d.screen(), want)
	}
}
