package fold

import "github.com/switchboard-dev/switchboard/wire"

// MayWait reports whether a line of the CLI can be folded later, when somebody looks
// or a line comes that may not wait. Such are ordinary lines of the model's in the
// midst of a turn: they change nothing of what a session is doing, and what they
// tell beyond that the next one mostly tells anew. See [State.Settles].
func (s *State) MayWait(h *wire.Header) bool {
	if string(h.Type) != "assistant" || len(h.ParentToolUseID) > 0 || len(h.Error) > 0 || len(h.UUID) == 0 ||
		!s.Alive || !s.Turn || s.Retry != nil || !s.Named || string(h.SessionID) != s.Conversation() {
		return false
	}
	// How large a context window is may be told there and nowhere else.
	return !h.ContextUsage
}

// Settles reports whether nothing is left of lines that wait (see
// [State.MayWait]) once l is folded, which came behind them and may wait as well,
// except for their text if l has none: then they need not be folded at all, but for
// the last one that has text. The state that they would be folded into is s. Only
// Drift and Retracted miss what such lines would have added.
//
// For that, l has to tell everything that one of them can have told: an id, and how
// much is in the context. And how large the context window is must not depend on which
// models have spoken in between.
func (s *State) Settles(l *Line) (text, ok bool) {
	p, ok := l.plainly()
	if !ok || p.tokens <= 0 || len(p.model) == 0 || p.model[0] == '<' {
		return false, false
	}
	if id := string(l.Header.UUID); id == "" || name(id) != id {
		return false, false // which line the text is of could not be told from it
	}
	text = p.text != ""
	w, c := s.Window, s.Context
	if c == nil {
		return text, w == nil || w.Most <= 0 // none is known, and none gets known
	}
	return text, w != nil && w.Most > 0 && w.Most == c.Most && w.Model == c.Model && w.Model == string(p.model)
}

// HasText reports whether a line that may wait has text that is kept, and takes none of
// another line back. It reports false for sure if that is not known without decoding
// it.
func (l *Line) HasText() (has, sure bool) {
	if l.Header.NoText() {
		return false, true
	}
	p, ok := l.plainly()
	if !ok || p.text == "" {
		return false, ok
	}
	id := string(l.Header.UUID)
	return true, name(id) == id // or which line it is could not be told from its id
}
