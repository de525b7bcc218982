package fold

import (
	"math"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
)

// filled folds how much is in the context after a message of the model's.
func (s *State) filled(m *wire.AssistantPeek, l *Line) {
	if len(m.Model) == 0 || m.Model[0] == '<' || m.Tokens <= 0 {
		return // the CLI's own words, or a message that tells nothing
	}
	var model string
	if s.Window != nil && s.Window.Model == string(m.Model) {
		model = s.Window.Model // no string has to be made
	} else {
		model = name(string(m.Model))
	}
	w := &ContextWindow{Model: model, Tokens: m.Tokens, Seq: l.Seq}
	switch {
	case s.Window != nil && s.Window.Model == model && s.Window.Most > 0:
		w.Most = s.Window.Most
	case s.Context != nil && s.Context.Model == model:
		w.Most = max(s.Context.Most, 0)
	}
	s.Window = w
	s.reckon()
}

// measured folds the sizes of context windows that a result tells.
func (s *State) measured(models map[string]wire.ModelUsage) {
	if s.Window == nil {
		return
	}
	most := models[s.Window.Model].ContextWindow
	if most <= 0 {
		// A window of another size than the usual one is named behind the model.
		for key, usage := range models {
			if strings.HasPrefix(key, s.Window.Model+"[") {
				most = max(most, usage.ContextWindow)
			}
		}
	}
	if most <= 0 {
		return
	}
	w := *s.Window
	w.Most = most
	s.Window = &w
	if s.Context == nil || s.Context.Seq <= w.Seq {
		s.reckon()
	}
}

// reckon says how full the context is from what is known of its window.
func (s *State) reckon() {
	if w := s.Window; w.Most > 0 && w.Tokens > 0 {
		percent := math.Round(100 * float64(w.Tokens) / float64(w.Most))
		s.Context = &ContextUse{Model: w.Model, Tokens: w.Tokens, Most: w.Most, Percent: percent, Seq: w.Seq}
	}
}

// emptied folds that the conversation begins anew, or with a summary.
func (s *State) emptied() {
	s.Context = nil
	if s.Window != nil {
		s.Window = &ContextWindow{Model: s.Window.Model, Most: s.Window.Most}
	}
}
