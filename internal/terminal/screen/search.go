package screen

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

// maxHits is how many are asked for.
const maxHits = 50

// A search is what is being looked for in the open session.
type search struct {
	text string
	// hits are those of the server, the newest first.
	hits []api.SearchHit
}

// searchInput is the line in which it is written. It looks within what was read while it is being written; the server is asked when it is complete.
type searchInput struct {
	text       string
	everywhere bool // in all sessions
	from       int  // the item that was selected when it began
	bottom     bool // and whether the end was shown
}

// newSearch begins a search in the open session.
func (m *Model) newSearch() *searchInput {
	s := &searchInput{from: -1}
	if w := m.window(); w != nil {
		s.from, s.bottom = w.talk.Len()-1, w.bottom
		if rows := w.rows(); !w.bottom && len(rows) > 0 {
			s.from = rows[len(rows)-1].item
		}
	}
	return s
}

func (s *searchInput) paste(m *Model, text string) tea.Cmd {
	s.text += paint.CleanLine(text, 200)
	return s.typed(m)
}

func (s *searchInput) key(m *Model, k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "esc":
		m.overlay = nil
		m.search = search{}
		if s.bottom {
			m.toEnd()
		}
		return nil
	case "enter":
		m.overlay = nil
		text := strings.TrimSpace(s.text)
		if text == "" {
			return nil
		}
		if s.everywhere {
			return m.ask4hits("", text)
		}
		m.search = search{text: text}
		return m.ask4hits(m.session, text)
	case "backspace":
		runes := []rune(s.text)
		s.text = string(runes[:max(0, len(runes)-1)])
	case "ctrl+u":
		s.text = ""
	default:
		if k.Text == "" {
			return nil
		}
		s.text += paint.CleanLine(k.Text, 0)
		if k.Text == " " {
			s.text += " "
		}
	}
	return s.typed(m)
}

// typed shows the nearest place further back.
func (s *searchInput) typed(m *Model) tea.Cmd {
	w := m.window()
	if s.everywhere || w == nil {
		return nil
	}
	m.search = search{text: s.text}
	if s.text == "" {
		return nil
	}
	if i := w.find(s.text, s.from, -1); i >= 0 {
		m.found(w, i)
	}
	return nil
}

func (s *searchInput) draw(m *Model, width, _ int) ([]string, bool) {
	where := "search"
	if s.everywhere {
		where = "search in all sessions"
	}
	line := m.styles.Key.Render(where+": ") + paint.CleanLine(s.text, 0) + m.styles.Dim.Render("_")
	return []string{
		paint.Cut(line, width), m.styles.Dim.Render(paint.Cut("enter searches the hub too, n and N move on, esc ends it", width)),
	}, false
}

// found shows an item that was found; where the text lies in a folded part, that is unfolded.
func (m *Model) found(w *window, i int) {
	it := w.talk.Item(i)
	if !w.isUnfolded(it) && it.Tool != nil && !hasText(w.look.Lines(it), m.search.text) {
		w.unfolded[it.ID] = true
		w.forget()
	}
	w.show(i)
}

// hasText reports whether a text is in drawn lines.
func hasText(lines []string, text string) bool {
	text = strings.ToLower(text)
	for _, line := range lines {
		if _, _, found := cutText(line, text); found {
			return true
		}
	}
	return false
}

// hits are what the server found.
type hits struct {
	session string // empty: all
	text    string
	hits    []api.SearchHit
	err     error
}

// ask4hits asks the server.
func (m *Model) ask4hits(session, text string) tea.Cmd {
	return m.jobs.Do(func(ctx context.Context) tea.Msg {
		out := hits{session: session, text: text}
		result, err := m.hub.Search(ctx, api.SearchFilter{Text: text, Session: session, Limit: maxHits})
		if out.err = err; err == nil {
			out.hits = result.Hits
		}
		return out
	})
}

// hits takes what the server found.
func (m *Model) hits(in *hits) tea.Cmd {
	if in.err != nil {
		return m.say("Searching: %v", in.err)
	}
	if in.session == "" {
		return m.pickHit(in)
	}
	if in.session != m.session || in.text != m.search.text {
		return nil
	}
	m.search.hits = in.hits
	w := m.window()
	if w == nil {
		return nil
	}
	if w.selected >= 0 && w.selected < w.talk.Len() && matches(w.talk.Item(w.selected), strings.ToLower(in.text)) {
		places := count(len(in.hits), "place", "places")
		if len(in.hits) == maxHits {
			places = "at least " + places
		}
		return m.say("%s on the hub; n goes further back", places)
	}
	if len(in.hits) == 0 {
		return m.say("%q not found in this session.", in.text)
	}
	return m.jump(in.hits[0].Seq)
}

// count says how many there are.
func count(n int, one, many string) string {
	switch n {
	case 0:
		return "no " + many
	case 1:
		return "1 " + one
	}
	return itoa(n) + " " + many
}

// pickHit lets the user choose among places in all sessions.
func (m *Model) pickHit(in *hits) tea.Cmd {
	if len(in.hits) == 0 {
		return m.say("%q not found in any session.", in.text)
	}
	p := &picker{title: "Where " + paint.CleanLine(in.text, 40) + " is:"}
	for i := range in.hits {
		h := &in.hits[i]
		title := h.Title
		if title == "" {
			title = shortID(h.Session)
		}
		p.picks = append(p.picks, pick{value: itoa(i), label: paint.CleanLine(title, 24), hint: h.Snippet})
	}
	p.chosen = func(m *Model, value string) tea.Cmd {
		h := in.hits[atoi(value)]
		m.focusOn(areaTalk)
		m.search = search{text: in.text}
		if h.Session == m.session {
			return m.jump(h.Seq)
		}
		cmd := m.open(h.Session)
		m.search = search{text: in.text}
		m.seek = h.Seq
		return cmd
	}
	m.overlay = p
	return nil
}

// nextMatch goes to the next place further back (by -1) or further on (by 1): within what was read, and then to those that the server knows.
func (m *Model) nextMatch(by int) tea.Cmd {
	w := m.window()
	if w == nil || m.search.text == "" {
		return m.say("Search with / first.")
	}
	if i := w.find(m.search.text, w.selected+by, by); i >= 0 {
		m.found(w, i)
		return nil
	}
	if by < 0 {
		for _, h := range m.search.hits { // the newest first
			if h.Seq < w.first {
				return m.jump(h.Seq)
			}
		}
	} else {
		for _, h := range slices.Backward(m.search.hits) {
			if h.Seq > w.last && !w.tail {
				return m.jump(h.Seq)
			}
		}
		if !w.tail {
			m.toEnd()
			return nil
		}
	}
	return m.say("No more matches.")
}
