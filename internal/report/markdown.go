package report

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/budget"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire"
)

// maxShown is how much of a tool's input or result Markdown shows, in bytes. The
// other forms of an export have it all.
const maxShown = 4 << 10

// A markdown writes a session for people. What an agent says is Markdown, and stays
// so in a quotation, without HTML and pictures; whatever else an agent or a person
// wrote is data: it stands in code, where no viewer loads pictures or runs HTML. What
// a terminal would obey is made visible.
type markdown struct {
	w       *bufio.Writer
	session *journal.Session
	turns   map[int64]float64 // what turns cost, by entry

	err         error
	actions     wire.Actions
	prompts     map[string]bool // those that were written, by uuid
	turn        int
	open        bool // in a turn
	history     bool // in what was said before
	interrupted bool
}

func newMarkdown(w *bufio.Writer, session *journal.Session, turns map[int64]float64) *markdown {
	return &markdown{w: w, session: session, turns: turns, prompts: map[string]bool{}}
}

func (m *markdown) write(parts ...string) {
	for _, part := range parts {
		if m.err == nil {
			_, m.err = m.w.WriteString(part)
		}
	}
}

// head writes what the session is.
func (m *markdown) head() {
	s := m.session
	title := s.Title
	if title == "" {
		title = "Session " + s.ID
	}
	m.write("# ", inText(title), "\n\n")
	for _, row := range [][2]string{
		{"Session", s.ID},
		{"Folder", s.Dir},
		{"Model", s.Model},
		{"Conversation", s.Conversation},
		{"Created", s.Created.UTC().Format(time.RFC3339)},
		{"State", s.State},
	} {
		if row[1] != "" {
			m.write("- ", row[0], ": ", inCode(row[1]), "\n")
		}
	}
	m.write("- Cost: ", money(s.CostUSD), " in ", budget.Quantity(budget.Turns, float64(len(m.turns)), true), "\n")
}

// entry writes what an entry tells.
func (m *markdown) entry(e *journal.Entry) error {
	switch e.Kind {
	case api.KindLine, api.KindHistory:
		m.line(e)
	case api.KindSent:
		m.sent(e)
	case api.KindQuestionOpened:
		if q, ok := dataAs[api.Question](e); ok {
			m.begin(e)
			m.question(&q)
		}
	case api.KindQuestionSettled:
		if q, ok := dataAs[api.Question](e); ok {
			m.settled(&q)
		}
	case api.KindDecision:
		if d, ok := dataAs[api.Decision](e); ok {
			m.note(outcomeWords(string(d.Rule.Decision)), "by rule "+inCode(d.Rule.Rule), d.Tool+" "+wire.ActionTitle(d.Tool, d.Input))
		}
	case api.KindRunStarted:
		if d, ok := dataAs[record.RunStarted](e); ok {
			m.over()
			m.note(runTitle(&d), "at "+clock(e.Time), "")
		}
	case api.KindRunEnded:
		if d, ok := dataAs[api.Ended](e); ok {
			m.note("Process ended", "at "+clock(e.Time), d.Reason)
			m.over()
		}
	case api.KindGap:
		if d, ok := dataAs[api.Gap](e); ok {
			m.note("Lines are missing here", "", d.Reason)
		}
	case api.KindTurn:
		if d, ok := dataAs[api.TurnChange](e); ok {
			m.note("Turn "+d.State, "", d.Reason)
		}
	case api.KindOversize:
		m.note("A line is missing here that was too long to be kept", "", "")
	case api.KindNotice:
		if d, ok := dataAs[api.Notice](e); ok {
			m.note("Notice", "", d.Text)
		}
	}
	return m.err
}

// begin writes the heading of a turn, if there is none yet.
func (m *markdown) begin(e *journal.Entry) {
	if e.Kind == api.KindHistory {
		if !m.history {
			m.history = true
			m.write("\n## Before this session\n")
		}
		return
	}
	if m.open {
		return
	}
	m.open = true
	m.turn++
	m.write("\n## Turn ", strconv.Itoa(m.turn), "\n\n", clock(e.Time), "\n")
}

// over ends a turn that has no result.
func (m *markdown) over() { m.open, m.interrupted = false, false }

// note writes one line about something that happened.
func (m *markdown) note(what, more, text string) {
	m.write("\n*", what)
	if more != "" {
		m.write(" ", more)
	}
	if text = inOneLine(text); text != "" {
		m.write(":* ", inCode(text), "\n")
		return
	}
	m.write("*\n")
}

// sent writes a prompt that the CLI was sent.
func (m *markdown) sent(e *journal.Entry) {
	h, err := wire.Peek(e.Line)
	if err != nil {
		return
	}
	if string(h.RequestSubtype) == "interrupt" {
		m.interrupted = true
		m.note("Interrupted", by(e.By), "")
		return
	}
	user, ok := messageOfLine(e.Line).(*wire.User)
	if !ok || !isPrompt(user) || e.UUID != "" && m.prompts[e.UUID] {
		return // also what is sent once more after a reconnect
	}
	m.prompts[e.UUID] = true
	if beginsTurn(e) {
		m.interrupted = false // there was nothing to interrupt
	}
	m.prompt(e, user)
}

func (m *markdown) prompt(e *journal.Entry, user *wire.User) {
	m.begin(e)
	who := "Prompt"
	if e.By != "" {
		who += " of " + inText(e.By)
	}
	m.write("\n### ", who, "\n\n")
	m.block(promptText(user), 0)
}

// line writes a line of the CLI.
func (m *markdown) line(e *journal.Entry) {
	switch v := messageOfLine(e.Line).(type) { //nolint:gochecksumtype // the others tell nothing
	case *wire.Assistant:
		m.assistant(e, v)
	case *wire.User:
		if e.Kind == api.KindHistory && isPrompt(v) {
			m.prompt(e, v)
			return
		}
		m.results(e, v)
	case *wire.Result:
		m.begin(e)
		words := fmt.Sprintf("after %s", time.Duration(v.DurationMs)*time.Millisecond)
		if usd, known := m.turns[e.Seq]; known {
			words += ", " + money(usd)
		}
		title, why, _ := strings.Cut(resultTitle(v, m.interrupted), ": ")
		m.note(title, words, why)
		m.over()
	case *wire.CompactBoundary:
		m.note("The conversation was compacted", "", "")
	}
}

// assistant writes what the agent says and the tools that it calls.
func (m *markdown) assistant(e *journal.Entry, v *wire.Assistant) {
	actions := m.actions.Of(v)
	for _, b := range v.Message.Content {
		switch b := b.(type) {
		case *wire.TextBlock:
			if strings.TrimSpace(b.Text) == "" {
				continue
			}
			m.begin(e)
			m.write("\n### ", whose(v.ParentToolUseID), "\n\n")
			m.quoted(b.Text)
		case *wire.ToolUseBlock:
			m.begin(e)
			for _, a := range actions {
				if a.ID == b.ID {
					m.write("\n**Tool** ", inCode(a.Tool+": "+a.Title), ofSubAgent(v.ParentToolUseID), "\n\n")
				}
			}
			if b.Name != "TodoWrite" || !m.todos(b.Input) {
				m.block(string(b.Input), maxShown)
			}
		default: // thinking, and what is not known
		}
	}
}

// whose names the speaker of a text.
func whose(parent string) string {
	if parent != "" {
		return "Sub-agent"
	}
	return "Agent"
}

func ofSubAgent(parent string) string {
	if parent != "" {
		return " (sub-agent)"
	}
	return ""
}

// results writes the results of tools.
func (m *markdown) results(e *journal.Entry, v *wire.User) {
	actions := m.actions.Of(v)
	for _, b := range v.Message.Content.Blocks {
		r, ok := b.(*wire.ToolResultBlock)
		if !ok {
			continue
		}
		m.begin(e)
		title := "Result"
		if r.IsError {
			title = "Error"
		}
		for _, a := range actions {
			if a.ID == r.ToolUseID && a.Tool != "" {
				title += " of " + inCode(a.Tool)
			}
		}
		m.write("\n", title, "\n\n")
		m.block(r.Content.String(), maxShown)
	}
}

// question writes what is asked.
func (m *markdown) question(q *api.Question) {
	m.write("\n**Question** (", string(q.Kind), ") ", inCode(inOneLine(questionTitle(q))), "\n")
	for _, c := range q.Choices {
		m.write("\n- ", inCode(inOneLine(c.Question)), "\n")
		for _, o := range c.Options {
			m.write("  - ", inCode(inOneLine(o.Label)), "\n")
		}
	}
	if q.Plan != nil && q.Plan.Text != "" {
		m.write("\n")
		m.quoted(q.Plan.Text)
	}
}

// settled writes how a question was settled, and by whom.
func (m *markdown) settled(q *api.Question) {
	words, _, _ := strings.Cut(settledTitle(q), ": ")
	m.write("\n**", inText(words), "**")
	switch {
	case ruled(q):
		m.write(" by rule ", inCode(q.Rule.Rule))
	case q.By != "":
		m.write(" by ", inText(q.By))
	}
	m.write("\n")
	if a := q.Answer; a != nil {
		for _, c := range q.Choices {
			answer, ok := a.Choices[c.Question]
			if !ok {
				continue
			}
			text := strings.Join(append(append([]string{}, answer.Labels...), answer.Text), ", ")
			m.write("\n- ", inCode(inOneLine(c.Question)), ": ", inCode(inOneLine(strings.Trim(text, ", "))), "\n")
		}
		if a.Message != "" {
			m.write("\n")
			m.block(a.Message, maxShown)
		}
	}
}

// block writes a text as a block of code, cut to so many bytes unless that is 0.
func (m *markdown) block(text string, most int) {
	cut := 0
	if most > 0 && len(text) > most {
		end := most
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		cut, text = len(text)-end, text[:end]
	}
	text = visible(text, true)
	fence := strings.Repeat("`", max(3, longestRun(text)+1))
	m.write(fence, "text\n", text)
	if !strings.HasSuffix(text, "\n") {
		m.write("\n")
	}
	m.write(fence, "\n")
	if cut > 0 {
		m.write("\n*", strconv.Itoa(cut), " bytes more*\n")
	}
}

// inCode returns a text as code within a line.
func inCode(text string) string {
	text = strings.TrimSpace(visible(text, false))
	if text == "" {
		return ""
	}
	ticks := strings.Repeat("`", longestRun(text)+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return ticks + text + ticks
}

// longestRun returns the length of the longest run of back quotes.
func longestRun(text string) int {
	longest, run := 0, 0
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// inText returns a text as it stands in a sentence or a heading: with a backslash
// before what means something to Markdown there.
func inText(text string) string {
	var b strings.Builder
	runes := []rune(visible(inOneLine(text), false))
	word := func(i int) bool {
		return i >= 0 && i < len(runes) && (unicode.IsLetter(runes[i]) || unicode.IsDigit(runes[i]))
	}
	for i, r := range runes {
		switch r {
		case '\\', '`', '*', '[', ']', '<', '>', '|', '~', '&':
			b.WriteByte('\\')
		case '_':
			if !word(i-1) || !word(i+1) { // within a word it means nothing
				b.WriteByte('\\')
			}
		case '#':
			if i == 0 || i == len(runes)-1 {
				b.WriteByte('\\')
			}
		}
		b.WriteRune(r)
	}
	return b.String()
}

// visible returns a text in which nothing works but what can be seen: control
// characters are shown by their pictures, and those that turn the order of
// letters around, or cannot be seen, by their numbers. Only line ends, if they
// may stay, and tabs are left.
func visible(text string, lines bool) string {
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range strings.ReplaceAll(text, "\r\n", "\n") {
		switch {
		case r == '\n' && lines, r == '\t' && lines:
			b.WriteRune(r)
		case r == '\n', r == '\t':
			b.WriteByte(' ')
		case r < 0x20:
			b.WriteRune('\u2400' + r)
		case r == 0x7f:
			b.WriteRune('\u2421')
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d' && r != '\u00ad', r == '\u2028', r == '\u2029':
			fmt.Fprintf(&b, "U+%04X", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// money writes an amount.
func money(usd float64) string { return "$" + strconv.FormatFloat(usd, 'f', 4, 64) }

// clock writes a time.
func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

func by(name string) string {
	if name == "" {
		return ""
	}
	return "by " + inText(name)
}
