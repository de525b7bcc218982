package terminal

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/terminal/talk"
	"github.com/switchboard-dev/switchboard/internal/terminal/words"
	"github.com/switchboard-dev/switchboard/internal/transcript"
	"github.com/switchboard-dev/switchboard/internal/units"
)

// labelWidth is how wide the labels of a snapshot are.
const labelWidth = 13

// A sheet is lines of a label and a text each.
type sheet struct {
	styles *paint.Styles
	lines  []string
}

// add adds a text of an agent's, or of ours, under a label. Further lines stand below it, none of them where a label could.
func (s *sheet) add(label, text string, style lipgloss.Style) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	width := 0
	if s.styles.Profile.Width > 0 {
		width = max(s.styles.Profile.Width-labelWidth, 20)
	}
	for i, line := range paint.Wrap(text, width) {
		head := strings.Repeat(" ", labelWidth)
		if i == 0 {
			head = s.styles.Dim.Render(label) + strings.Repeat(" ", max(1, labelWidth-paint.Width(label)))
		}
		s.lines = append(s.lines, strings.TrimRight(head+style.Render(line), " "))
	}
}

// addCell adds a cell.
func (s *sheet) addCell(label string, c Cell) { s.add(label, paint.CleanLine(c.Text, 0), c.Style) }

// Session returns a snapshot for people to read. more, labels and texts in turns, come last.
func (v *View) Session(session *api.Session, more ...string) []string {
	s := &sheet{styles: v.Styles}
	text := v.Styles.Text
	s.add("session", session.ID, v.Styles.Accent)
	s.add("title", Title(session.Title), v.Styles.Bold)
	state := v.state(session.State)
	s.add("state", stateText(session), state.Style)
	s.add("machine", paint.CleanLine(session.Node, 0), text)
	s.add("folder", paint.CleanLine(v.folderOn(session.Node, session.Dir), 0), text)
	s.add("model", paint.CleanLine(session.Model, 0), text)
	if mode := paint.CleanLine(session.PermissionMode, 0); mode != "" {
		s.add("mode", words.Mode(mode)+" ("+mode+")", text)
	}
	v.sandbox(s, session.Sandbox)
	if c := session.Context; c != nil && c.Max > 0 {
		s.add("context", fmt.Sprintf("%s of %s tokens, %.0f %%", units.Tokens(c.Tokens), units.Tokens(c.Max), c.Percent), text)
	}
	if c := session.Cost; c != nil {
		s.add("cost", fmt.Sprintf("%s in %s", units.Money(c.USD), units.Plural(int(c.Turns), "turn")), text)
	}
	agent := strings.TrimSpace(strings.Join([]string{"Claude Code", paint.CleanLine(session.Version, 0)}, " "))
	if session.Simulated {
		agent += ", simulated"
	}
	if session.Transport != "" {
		agent += ", by " + paint.CleanLine(session.Transport, 0)
	}
	if session.Unauthenticated {
		agent += ", unauthenticated"
	}
	s.add("agent", fmt.Sprintf("%s, run %d", agent, session.Run), text)
	s.add("runner", paint.CleanLine(session.Runner, 0), text)
	s.add("relay", paint.CleanLine(session.Relay, 0), text)
	s.add("conversation", paint.CleanLine(session.Conversation, 0), text)
	s.addCell("created", v.when(session.Created))
	s.addCell("updated", v.when(session.Updated))
	s.add("last event", session.LastEventID, v.Styles.Dim)
	v.doing(s, session)
	s.add("prompt", session.Prompt, v.Styles.User)
	s.add("answer", session.Text, text)
	for i := 0; i+1 < len(more); i += 2 {
		s.add(more[i], more[i+1], text)
	}
	return s.lines
}

// sandbox adds what holds a session's processes back, and what that cannot hold.
func (v *View) sandbox(s *sheet, b *api.Sandbox) {
	if b == nil {
		return
	}
	style := v.Styles.Text
	if transcript.Unenforced(b) {
		style = v.Styles.Bad
	}
	s.add("sandbox", words.SandboxAbout(b), style)
	for _, limit := range b.Limits {
		s.add("", oneLine(limit), v.Styles.Dim)
	}
}

// doing adds what a session waits for, and what holds it back.
func (v *View) doing(s *sheet, session *api.Session) {
	for i := range session.Questions {
		q := &session.Questions[i]
		s.add("asks", fmt.Sprintf("%s  %s  %s", v.id(q.ID).Text, q.Kind, paint.CleanLine(strings.TrimSpace(q.Tool+" "+Gist(q)), 0)), v.Styles.Warn)
	}
	for i := range session.Messages {
		m := &session.Messages[i]
		text := m.Text
		if text == "" {
			text = transcript.ContentText(m.Content)
		}
		s.add("waits", fmt.Sprintf("%s  %s", m.State, short(text)), v.Styles.Text)
	}
	for i := range session.Tasks {
		t := &session.Tasks[i]
		s.add("task", strings.TrimSpace(oneLine(t.Kind)+"  "+short(t.Description)), v.Styles.Text)
	}
	if r := session.Retry; r != nil {
		s.add("retry", "waiting to retry a request", v.Styles.Warn)
	}
	for i := range session.Holds {
		h := &session.Holds[i]
		s.add("held back", oneLine(h.Reason), v.Styles.Warn)
	}
	for i := range session.Budgets {
		b := &session.Budgets[i]
		s.add("budget", fmt.Sprintf("%s: %s of %s", oneLine(b.Name), transcript.Amount(b.Used, b.Unit), transcript.Amount(b.Limit, b.Unit)), v.Styles.Text)
	}
	for i := range session.Rules {
		r := &session.Rules[i]
		text := fmt.Sprintf("%s %s  %s", r.Decision, oneLine(r.Rule), r.ID)
		if !r.Expires.IsZero() {
			text += "  until " + units.Clock(r.Expires)
		}
		s.add("rule", text, v.Styles.Text)
	}
}

// stateText says what a session is doing, and how it came to that.
func stateText(session *api.Session) string {
	text := string(session.State)
	if session.Archived {
		text += ", archived"
	}
	if e := session.Ended; session.State == api.StateEnded && e != nil {
		text += ": " + oneLine(e.Reason)
		if e.Unfinished {
			text += ", unfinished"
		}
	}
	if r := session.Result; r != nil && (r.Failed || r.Interrupted) {
		how := "failed" + words.Failure(r.Subtype)
		if r.Interrupted {
			how = "was interrupted"
		}
		text += "; the last turn " + how
	}
	return text
}

// Question returns a question whole, for people to read, and how to answer it.
func (v *View) Question(q *api.Question, title string) []string {
	s := &sheet{styles: v.Styles, lines: v.Asked(q, title)}
	if q.State != api.QuestionOpen {
		return s.lines
	}
	id := v.id(q.ID).Text
	switch q.Kind {
	case api.QuestionPermission:
		s.add("to answer", fmt.Sprintf("switchboard allow %s\nswitchboard deny %s", id, id), v.Styles.Text)
	case api.QuestionPlan, api.QuestionChoice, api.QuestionForm, api.QuestionDialog:
		s.add("to answer", "switchboard answer "+id, v.Styles.Text)
	}
	return s.lines
}

// Asked returns a question whole, for the user who answers it already. The title is that of its session.
func (v *View) Asked(q *api.Question, title string) []string {
	s := &sheet{styles: v.Styles}
	text := v.Styles.Text
	s.add("question", q.ID, v.Styles.Accent)
	session := q.Session
	if title = Title(title); title != "" {
		session += " (" + title + ")"
	}
	s.add("session", session, v.Styles.Accent)
	s.add("kind", string(q.Kind), text)
	style := v.Styles.Warn
	if q.State != api.QuestionOpen {
		style = v.Styles.Dim
	}
	s.add("state", string(q.State), style)
	s.addCell("asked", v.when(q.Opened))
	what := asked(q)
	s.add("what", what, v.Styles.Bold)
	if !strings.Contains(what, oneLine(q.Description)) { // it is often part of the input, too
		s.add("about", q.Description, text)
	}
	for _, n := range notes(q) {
		s.add(n.label, n.text, text)
	}
	if q.State != api.QuestionOpen {
		s.add("answer", oneLine(talk.Settled(q)), text)
		s.addCell("settled", v.when(q.Settled))
	}
	return s.lines
}

// Event returns an event whole: where it is from, and all that it holds.
func (v *View) Event(e *api.Event) []string {
	s := &sheet{styles: v.Styles}
	text := v.Styles.Text
	s.add("event", e.ID, v.Styles.Accent)
	s.add("session", e.Session, v.Styles.Accent)
	s.add("kind", e.Kind, text)
	s.add("time", e.Time.UTC().Format(time.RFC3339Nano), text)
	s.add("run", fmt.Sprint(e.Run), text)
	s.add("source", oneLine(strings.TrimSpace(e.Source+" "+e.By)), text)
	lines := append(s.lines, "")
	for _, raw := range []json.RawMessage{e.Line, e.Data} {
		if len(raw) > 0 {
			lines = append(lines, strings.Split(Clean(indented(raw)), "\n")...)
		}
	}
	if e.Text != "" {
		lines = append(lines, strings.Split(Clean(e.Text), "\n")...)
	}
	if len(e.Base64) > 0 {
		lines = append(lines, strings.Split(Clean(string(e.Base64)), "\n")...)
	}
	return lines
}

// indented returns JSON for people to read.
func indented(raw json.RawMessage) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(raw); err != nil {
		return string(raw)
	}
	return strings.TrimRight(b.String(), "\n")
}
