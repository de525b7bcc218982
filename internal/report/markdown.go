package report

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/budget"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/internal/transcript"
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
	story
	w       *bufio.Writer
	session *journal.Session
	turns   map[int64]float64 // what turns cost, by entry

	err     error
	turn    int
	open    bool // in a turn
	history bool // in what was said before
}

func newMarkdown(w *bufio.Writer, session *journal.Session, turns map[int64]float64) *markdown {
	return &markdown{story: story{epoch: session.Epoch}, w: w, session: session, turns: turns}
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
func (m *markdown) entry(entry *journal.Entry) error {
	e, items := m.next(entry)
	switch e.Kind {
	case api.KindRunStarted:
		if d, ok := dataAs[record.RunStarted](e.Data); ok {
			m.open = false
			m.note(runTitle(&d), "at "+clock(e.Time), "")
		}
	case api.KindDecision:
		if d, ok := dataAs[api.Decision](e.Data); ok {
			m.note(outcomeWords(string(d.Rule.Decision)), "by "+ruleText(&d.Rule), d.Tool+" "+wire.ActionTitle(d.Tool, d.Input))
		}
	}
	for _, it := range items {
		switch it.Kind {
		case transcript.KindTool:
			m.tool(e, it)
		case transcript.KindQuestion:
			m.asked(e, it.Question)
		case transcript.KindPrompt, transcript.KindText, transcript.KindResult, transcript.KindState, transcript.KindNotice, transcript.KindRefusal:
			if begun(e, it) {
				m.item(e, it)
			}
		case transcript.KindThinking, transcript.KindUnknown:
		}
	}
	return m.err
}

// item writes an item that is told once.
func (m *markdown) item(e *api.Event, it *transcript.Item) {
	switch it.Kind { //nolint:exhaustive // the others are told by entry
	case transcript.KindPrompt:
		m.begin(e)
		who := "Prompt"
		if e.By != "" {
			who += " of " + inText(e.By)
		}
		m.write("\n### ", who, "\n\n")
		m.block(it.Text, transcript.MaxText, it.Left)
	case transcript.KindText:
		m.begin(e)
		who := "Agent"
		if it.Parent != "" {
			who = "Sub-agent"
		}
		m.write("\n### ", who, "\n\n")
		m.quoted(it.Text)
		m.more(it.Left)
	case transcript.KindResult:
		m.begin(e)
		words := fmt.Sprintf("after %s", it.Result.Duration)
		if usd, known := m.turns[e.Seq]; known {
			words += ", " + money(usd)
		}
		if it.Author != "" {
			words = "by " + inText(it.Author) + " " + words
		}
		what, why := resultWords(it)
		m.note(what, words, why)
		m.open = false
	case transcript.KindState:
		m.state(e, it)
	case transcript.KindNotice:
		if it.Label == transcript.CompactedLabel {
			what, text := stateWords(e, it)
			m.note(what, "", text)
		}
	case transcript.KindRefusal:
		m.note("Refused by the sandbox", "", transcript.RefusalAbout(it.Refusal))
	}
}

// state writes what the hub tells.
func (m *markdown) state(e *api.Event, it *transcript.Item) {
	what, text := stateWords(e, it)
	if unenforced(e, it) {
		m.note(what, "", text)
	}
	switch e.Kind {
	case api.KindRunEnded:
		m.note(what, "at "+clock(e.Time), text)
		m.open = false
	case api.KindGap, api.KindTurn, api.KindOversize, api.KindNotice:
		m.note(what, "", text)
	}
}

// begin writes the heading of a turn, if there is none yet.
func (m *markdown) begin(e *api.Event) {
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

// tool writes a tool call, or its result.
func (m *markdown) tool(e *api.Event, it *transcript.Item) {
	tool := it.Tool
	if called(e, it) {
		m.begin(e)
		of := ""
		if it.Parent != "" {
			of = " (sub-agent)"
		}
		m.write("\n**Tool** ", inCode(inOneLine(titled(tool.Name, tool.Title))), of, "\n\n")
		if len(tool.Todos) > 0 {
			m.todos(tool.Todos)
		} else {
			m.block(string(tool.Input), maxShown, 0)
		}
	}
	if !finished(it) {
		return
	}
	m.begin(e)
	title := "Result"
	if it.Failed {
		title = "Error"
	}
	if tool.Name != "" {
		title += " of " + inCode(tool.Name)
	}
	m.write("\n", title, "\n\n")
	m.block(tool.Output, maxShown, tool.Left)
}

// asked writes a question, or how it was settled.
func (m *markdown) asked(e *api.Event, q *api.Question) {
	switch e.Kind {
	case api.KindQuestionOpened:
		m.begin(e)
		m.question(q)
	case api.KindQuestionSettled:
		m.settled(q)
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
		m.write(" by ", ruleText(q.Rule))
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
			m.block(a.Message, maxShown, 0)
		}
	}
}

// ruleText names the rule that has decided, as code, or the sandbox.
func ruleText(r *api.RuleRef) string {
	if r.Scope == api.ScopeSandbox {
		return "the sandbox"
	}
	return "rule " + inCode(r.Rule)
}

// block writes a text as a block of code, cut to so many bytes, and says how much
// more there is: left is how much was left out before.
func (m *markdown) block(text string, most int, left int64) {
	text, cut := transcript.Clip(text, most)
	text = visible(text, true)
	fence := strings.Repeat("`", max(3, longestRun(text)+1))
	m.write(fence, "text\n", text)
	if !strings.HasSuffix(text, "\n") {
		m.write("\n")
	}
	m.write(fence, "\n")
	m.more(cut + left)
}

// more says how much of a text was left out.
func (m *markdown) more(left int64) {
	if left > 0 {
		m.write("\n*", strconv.FormatInt(left, 10), " bytes more*\n")
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
