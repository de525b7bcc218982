package compose

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// TestLate holds that nothing that is being read is lost or sent twice, however fast somebody is.
func TestLate(t *testing.T) {
	dir := folder(t)
	enter := tea.KeyPressMsg{Code: tea.KeyEnter}
	m, image := New(Options{Dir: dir}).Update(tea.PasteMsg{Content: filepath.Join(dir, "shot.png")})
	m, _ = play(t, m, "look")
	m, cmd := m.Update(enter)
	if cmd != nil || m.Value() != "look" || !strings.Contains(m.View(), "still being read") {
		t.Fatalf("it was sent without the image:\n%s", m.View())
	}
	m, _ = m.Update(image())
	_, out := tell(m, enter)
	if len(out) != 1 || len(out[0].(SubmitMsg).Attachments) != 1 {
		t.Errorf("got %+v", out)
	}

	// What cannot be read to its end can be dropped.
	m, image = New(Options{Dir: dir}).Update(tea.PasteMsg{Content: filepath.Join(dir, "shot.png")})
	m, _ = play(t, m, "look<ctrl+x>")
	m, _ = m.Update(image())
	if _, out := tell(m, enter); len(out) != 1 || len(out[0].(SubmitMsg).Attachments) != 0 {
		t.Errorf("got %+v", out)
	}

	// A file that was completed is read, and read again when the text is sent before.
	m, _ = play(t, New(Options{Dir: dir}), "@note")
	m, completed := m.Update(tea.KeyPressMsg{Code: tea.KeyTab})
	m, sent := m.Update(enter)
	m, _ = m.Update(completed())
	_, out = tell(m, sent())
	if len(out) != 1 || len(out[0].(SubmitMsg).Attachments) != 1 {
		t.Errorf("got %+v", out)
	}
}

// TestDetachOne holds that the @path which is removed is that of the attachment, not a longer one that begins with it.
func TestDetachOne(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "ab"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("text of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m, _ := play(t, New(Options{Dir: dir}), "@ab<tab>and @a")
	m, _ = play(t, m, "<tab>") // offers both
	for len(m.Attachments()) < 2 {
		before := len(m.Attachments())
		if m, _ = play(t, m, "<tab>"); len(m.Attachments()) == before {
			t.Fatalf("there is nothing to complete:\n%s", m.View())
		}
	}
	m, _ = play(t, m, "<ctrl+x>")
	if got := strings.TrimSpace(m.Value()); got != "@ab and a" {
		t.Errorf("the text is %q", got)
	}
}
