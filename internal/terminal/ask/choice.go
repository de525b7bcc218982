package ask

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/wire"
)

// A choice is one or more questions with options.
type choice struct {
	set     []api.Choice
	answers []given // one for each question
	page    int     // the question that is shown; len(set): what was answered, before it is sent
	at      int     // the option that is chosen; len(options): own words
}

// given is what was answered to one question.
type given struct {
	labels      []string
	text, notes string
	skip        bool
}

func (g given) empty() bool { return len(g.labels) == 0 && g.text == "" && !g.skip }

// choicesOf returns the questions of a choice.
func choicesOf(q *api.Question) []api.Choice {
	if len(q.Choices) > 0 {
		return q.Choices
	}
	var set wire.QuestionSet
	if json.Unmarshal(callOf(q).input, &set) != nil {
		return nil
	}
	var list []api.Choice
	for _, each := range set.Questions {
		c := api.Choice{Question: each.Question, Header: each.Header, Multiple: each.MultiSelect}
		for _, o := range each.Options {
			c.Options = append(c.Options, api.Option{Label: o.Label, Description: o.Description})
		}
		list = append(list, c)
	}
	return list
}

func newChoice(q *api.Question) choice {
	set := choicesOf(q)
	return choice{set: set, answers: make([]given, len(set))}
}

// last reports whether the page with what was answered is shown.
func (c choice) last() bool { return c.page >= len(c.set) }

func (c choice) head(m Model) []string {
	if len(c.set) == 0 {
		return append(question(m, "Claude has a question that can't be shown"), about(m)...)
	}
	var lines []string
	if len(c.set) > 1 {
		lines = append(lines, c.tabs(m))
	}
	if c.last() {
		return append(lines, question(m, "Send this answer?")...)
	}
	each := c.set[c.page]
	text := brief(each.Question)
	if each.Multiple {
		text += " (choose one or more)"
	}
	lines = append(lines, question(m, text)...)
	return append(lines, about(m)...)
}

// tabs draws the questions in one line, with a sign at those that are answered.
func (c choice) tabs(m Model) string {
	s := m.styles
	var parts []string
	for i, each := range c.set {
		name := each.Header
		if name == "" {
			name = fmt.Sprintf("Question %d", i+1)
		}
		sign := s.Glyphs.Open
		if !c.answers[i].empty() {
			sign = s.Glyphs.Done
		}
		text := sign + " " + paint.CleanLine(brief(name), 20)
		if i == c.page {
			text = s.Selected.Render(text)
		} else {
			text = s.Dim.Render(text)
		}
		parts = append(parts, text)
	}
	text := "send"
	if c.last() {
		text = s.Selected.Render(text)
	} else {
		text = s.Dim.Render(text)
	}
	// The one that is shown can always be seen.
	for drop := 0; drop < c.page && paint.Width(strings.Join(parts, "  ")) > m.o.Width; drop++ {
		parts = parts[1:]
	}
	return paint.Cut(strings.Join(append(parts, text), "  "), m.o.Width)
}

// body shows what choosing an option would look like.
func (c choice) body(m Model) []string {
	if c.last() || c.at >= len(c.set[c.page].Options) {
		return nil
	}
	text := c.set[c.page].Options[c.at].Preview
	if text == "" {
		return nil
	}
	lines := textLines(text, m.o.Width, "")
	if more := len(lines) - maxPreview; more > 0 {
		lines = append(lines[:maxPreview:maxPreview], fmt.Sprintf("… (%d more lines)", more))
	}
	return whole(lines, m.o.Width)
}

// maxPreview is how many lines of an option's preview are shown.
const maxPreview = 40

func (c choice) tail(m Model) tail {
	if c.last() {
		return c.summary(m)
	}
	each, g := c.set[c.page], c.answers[c.page]
	var t tail
	add := func(i int, text string, chosen bool) {
		if i == c.at {
			t.focus = len(t.lines)
		}
		box := ""
		switch {
		case each.Multiple && chosen:
			box = "[x] "
		case each.Multiple:
			box = "[ ] "
		case chosen:
			box = m.styles.Glyphs.Done + " "
		}
		t.lines = append(t.lines, numbered(m, i+1, box+text, i == c.at)...)
	}
	for i, option := range each.Options {
		text := paint.CleanLine(brief(option.Label), 0)
		if option.Description != "" {
			text += " - " + paint.CleanLine(brief(option.Description), 0)
		}
		add(i, text, slices.Contains(g.labels, option.Label))
	}
	own := "your own words"
	if g.text != "" {
		own += ": " + paint.CleanLine(brief(g.text), 200)
	}
	add(len(each.Options), own, g.text != "")
	if g.skip {
		t.lines = append(t.lines, fittedLines(m.styles.Dim.Render, "  this question is skipped", m.o.Width, 1)...)
	}
	if g.notes != "" {
		t.lines = append(t.lines, note(m, "with it", g.notes)...)
	}
	return t
}

// summary shows what was answered.
func (c choice) summary(m Model) tail {
	var t tail
	for i, each := range c.set {
		name := each.Header
		if name == "" {
			name = each.Question
		}
		t.lines = append(t.lines, note(m, paint.CleanLine(brief(name), max(4, m.o.Width/3)), c.answers[i].String())...)
	}
	return t
}

// String says what was answered.
func (g given) String() string {
	if g.skip {
		return "(skipped)"
	}
	var parts []string
	for _, label := range g.labels {
		parts = append(parts, brief(label))
	}
	if g.text != "" {
		parts = append(parts, brief(g.text))
	}
	if len(parts) == 0 {
		return "(no answer yet)"
	}
	text := strings.Join(parts, ", ")
	if g.notes != "" {
		text += " (" + brief(g.notes) + ")"
	}
	return text
}

func (c choice) keys(Model) []Key {
	if len(c.set) == 0 {
		return []Key{{"n", "skip"}, {"s", "skip and stop"}}
	}
	if c.last() {
		return []Key{{"enter", "send"}, {"shift+tab", "back"}, {"n", "skip all"}}
	}
	keys := []Key{{"1-9/enter", "choose"}}
	if c.set[c.page].Multiple {
		keys = []Key{{"1-9/space", "choose"}, {"enter", "done"}}
	}
	keys = append(keys, Key{"o", "own words"}, Key{"c", "comment"}, Key{"-", "skip"})
	if len(c.set) > 1 {
		keys = append(keys, Key{"tab", "next"})
	}
	return append(keys, Key{"n", "skip all"}, Key{"s", "skip all and stop"})
}

func (c choice) changed(m Model) part {
	set := choicesOf(m.q)
	if len(set) != len(c.set) {
		return newChoice(m.q)
	}
	c.set = set
	return c.go_(c.page, c.at)
}

// go_ shows a question, with an option chosen.
func (c choice) go_(page, at int) choice {
	c.page = max(0, min(page, len(c.set)))
	c.at = 0
	if !c.last() {
		c.at = max(0, min(at, len(c.set[c.page].Options)))
	}
	return c
}

func (c choice) key(m Model, key tea.KeyPressMsg) (Model, tea.Cmd) {
	name := key.String()
	switch name {
	case "n":
		return c.none(m, false)
	case "s":
		return c.none(m, true)
	}
	if len(c.set) == 0 {
		return m.common(key)
	}
	switch name {
	case "tab", "right", "l":
		return c.show(m, c.page+1), nil
	case "shift+tab", "left", "h":
		return c.show(m, c.page-1), nil
	}
	if c.last() {
		if name == "enter" || name == "y" {
			return c.send(m)
		}
		return m.common(key)
	}
	each := c.set[c.page]
	n := len(each.Options) + 1 // with one's own words
	switch name {
	case "up", "k", "ctrl+p":
		m.part = c.go_(c.page, (c.at+n-1)%n)
		return m.relaid(), nil
	case "down", "j", "ctrl+n":
		m.part = c.go_(c.page, (c.at+1)%n)
		return m.relaid(), nil
	case "space":
		return c.pick(m, c.at)
	case "enter":
		if each.Multiple && !c.answers[c.page].empty() && c.at < len(each.Options) {
			return c.next(m)
		}
		return c.pick(m, c.at)
	case "o":
		return c.own(m)
	case "c":
		return c.comment(m)
	case "-":
		return c.with(given{skip: true}).next(m)
	}
	if i := digit(name) - 1; i >= 0 && i < n {
		return c.pick(m, i)
	}
	return m.common(key)
}

// show goes to another question.
func (c choice) show(m Model, page int) Model {
	n := len(c.set) + 1
	if len(c.set) == 1 {
		n = 1
	}
	m.part, m.scroll = c.go_((page+n)%n, 0), 0
	return m.relaid()
}

// with returns the choice with an answer to the question that is shown.
func (c choice) with(g given) choice {
	c.answers = slices.Clone(c.answers)
	c.answers[c.page] = g
	return c
}

// pick chooses an option, or takes it back where several may be chosen.
func (c choice) pick(m Model, i int) (Model, tea.Cmd) {
	each, g := c.set[c.page], c.answers[c.page]
	if i == len(each.Options) {
		return c.own(m)
	}
	label := each.Options[i].Label
	g.skip = false
	if !each.Multiple {
		g.labels, g.text = []string{label}, ""
		return c.with(g).next(m)
	}
	if at := slices.Index(g.labels, label); at >= 0 {
		g.labels = slices.Delete(slices.Clone(g.labels), at, at+1)
	} else {
		// In the order in which they were offered.
		var labels []string
		for _, o := range each.Options {
			if o.Label == label || slices.Contains(g.labels, o.Label) {
				labels = append(labels, o.Label)
			}
		}
		g.labels = slices.Compact(labels)
	}
	c = c.with(g)
	m.part = c.go_(c.page, i)
	return m.relaid(), nil
}

// own asks for an answer in one's own words.
func (c choice) own(m Model) (Model, tea.Cmd) {
	each, g := c.set[c.page], c.answers[c.page]
	label := "Your own words:"
	if each.Multiple {
		label = "Your own words, in addition:"
	}
	e := newEntry(label, "", true, func(m Model, in written) (Model, tea.Cmd) {
		g.text, g.skip = in.text, false
		if !each.Multiple {
			g.labels = nil
		}
		return c.with(g).next(m)
	})
	e.field = e.field.Set(g.text)
	m.entry = e
	return m, nil
}

// comment asks for what goes along with the answer.
func (c choice) comment(m Model) (Model, tea.Cmd) {
	g := c.answers[c.page]
	e := newEntry("Note to go with the answer:", "", true, func(m Model, in written) (Model, tea.Cmd) {
		g.notes = in.text
		m.part = c.with(g)
		return m.relaid(), nil
	}).optional()
	e.field = e.field.Set(g.notes)
	m.entry = e
	return m, nil
}

// next goes to the next question that has no answer, or to the end. The only question is answered at once.
func (c choice) next(m Model) (Model, tea.Cmd) {
	if len(c.set) == 1 {
		return c.send(m)
	}
	page := len(c.set)
	for by := 1; by < len(c.set); by++ {
		if i := (c.page + by) % len(c.set); c.answers[i].empty() {
			page = i
			break
		}
	}
	m.part, m.scroll = c.go_(page, 0), 0
	return m.relaid(), nil
}

// send answers, if there is an answer to every question. To skip all of them is to refuse: the hub takes no answer in which nothing is answered.
func (c choice) send(m Model) (Model, tea.Cmd) {
	answers, skipped := map[string]api.ChoiceAnswer{}, 0
	for i, each := range c.set {
		g := c.answers[i]
		if g.empty() {
			m = c.show(m, i)
			m.problem = "no answer yet; - skips the question"
			return m, nil
		}
		if g.skip {
			answers[each.Question] = api.ChoiceAnswer{Skip: true}
			skipped++
			continue
		}
		answers[each.Question] = api.ChoiceAnswer{Labels: g.labels, Text: g.text, Notes: g.notes}
	}
	m.part = c
	if skipped == len(c.set) {
		return m.answered(api.Answer{Decision: "deny"})
	}
	return m.answered(api.Answer{Decision: "allow", Choices: answers})
}

// none answers none of the questions.
func (c choice) none(m Model, stop bool) (Model, tea.Cmd) {
	label := "Skip all. Why? (shown to the agent)"
	if stop {
		label = "Skip all and stop the turn. Why? (shown to the agent)"
	}
	m.entry = newEntry(label, "enter alone: no reason", true, func(m Model, in written) (Model, tea.Cmd) {
		return m.answered(api.Answer{Decision: "deny", Message: in.text, Interrupt: stop})
	}).optional()
	return m, nil
}
