package talk

import (
	"strings"
	"time"
	"unicode/utf8"

	"charm.land/lipgloss/v2"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/terminal/words"
	"github.com/switchboard-dev/switchboard/internal/transcript"
	"github.com/switchboard-dev/switchboard/internal/units"
)

// A Look says how items are drawn. It keeps nothing.
type Look struct {
	// Styles are those of the terminal; nil for none.
	Styles *paint.Styles
	// Width is how many columns a line may have; 0 does not wrap.
	Width int
	// Unfolded says which items are shown whole: tools with their input and output, long prompts and notices. If nil, none.
	Unfolded func(*transcript.Item) bool
	// Full shows all lines of an unfolded item, not only the last 200.
	Full bool
	// Thinking shows thoughts in full, not in a line.
	Thinking bool
	// Now is for how long something runs. If zero, that is not told.
	Now time.Time
	// Session is named where it is said how to read what was left out.
	Session string
}

// How many lines of an item are shown.
const (
	maxLines  = 200 // unfolded
	maxPrompt = 30  // of a folded prompt
	maxNotice = 4   // of a folded notice
)

// Lines returns an item as styled lines of at most Width columns. A folded tool is one line.
func (l *Look) Lines(it *transcript.Item) []string {
	d := &drawing{Look: *l, item: it}
	if d.Styles == nil {
		d.Styles = paint.Profile{}.Styles()
	}
	d.indent = strings.Repeat("  ", min(it.Depth, transcript.MaxDepth))
	if d.Width > 0 {
		if d.Width-len(d.indent) < 20 {
			d.indent = ""
		}
		d.room = max(d.Width-len(d.indent), 2)
	}
	d.unfolded = l.Unfolded != nil && l.Unfolded(it)
	d.draw()
	if it.Left > 0 {
		d.add(d.Styles.Dim.Render(transcript.LeftOut(it.Left, l.Session, it.Event)))
	}
	return d.lines
}

// Plain returns an item without styles: for logs and files.
func (l *Look) Plain(it *transcript.Item) []string {
	plain := *l
	profile := paint.Profile{}
	if l.Styles != nil {
		profile.ASCII = l.Styles.Profile.ASCII
	}
	plain.Styles = profile.Styles()
	return plain.Lines(it)
}

// Text returns an item as plain text, the lines joined.
func (l *Look) Text(it *transcript.Item) string { return strings.Join(l.Plain(it), "\n") }

// A drawing is an item on its way to lines.
type drawing struct {
	Look
	item     *transcript.Item
	indent   string
	room     int // columns beside the indentation; 0 without end
	unfolded bool
	lines    []string
}

// add adds a line, cut if it is too long.
func (d *drawing) add(line string) {
	d.lines = append(d.lines, strings.TrimRight(d.indent+d.Styles.Cut(line, d.room), " "))
}

// block adds lines, the first behind a sign, the others below it.
func (d *drawing) block(sign string, lines []string) {
	below := strings.Repeat(" ", paint.Width(sign))
	for i, line := range lines {
		if i == 0 {
			d.add(sign + line)
		} else {
			d.add(below + line)
		}
	}
}

// inner returns the room beside a sign.
func (d *drawing) inner(columns int) int {
	if d.room == 0 {
		return 0
	}
	return max(d.room-columns, 2)
}

// maxDrawn is how much of a text is looked at if only some lines of it are shown.
const maxDrawn = 64 << 10

// all returns a text in lines that fit beside a sign, in a style.
func (d *drawing) all(text string, columns int, style lipgloss.Style) []string {
	return d.styled(paint.Wrap(text, d.inner(columns)), style)
}

func (d *drawing) styled(lines []string, style lipgloss.Style) []string {
	if d.Styles.Profile.Color {
		draw := paint.Stroke(style)
		for i, line := range lines {
			lines[i] = draw(line)
		}
	}
	return lines
}

// first returns the first lines of a text, and how many there are more. If the item is unfolded, there are more of them.
func (d *drawing) first(text string, columns int, style lipgloss.Style, most int) []string {
	if d.unfolded {
		if d.Full {
			return d.all(text, columns, style)
		}
		most = maxLines
	}
	text, left := transcript.Clip(text, maxDrawn)
	lines := paint.Wrap(text, d.inner(columns))
	more := "(" + units.Plural(len(lines)-most, "more line") + ")"
	if left > 0 {
		more = "(" + units.Size(left) + " and more)"
	}
	if len(lines) <= most+1 && left == 0 {
		return d.styled(lines, style)
	}
	return append(d.styled(lines[:min(most, len(lines))], style), d.Styles.Dim.Render(more))
}

// last returns the last lines of a text, and how many there are before.
func (d *drawing) last(text string, columns int, style lipgloss.Style) []string {
	if d.Full {
		return d.all(text, columns, style)
	}
	text, before := lastLines(text, maxLines)
	long := len(text) - maxDrawn
	if long > 0 {
		for long < len(text) && !utf8.RuneStart(text[long]) {
			long++
		}
		text = text[long:]
	}
	lines := paint.Wrap(text, d.inner(columns))
	note := ""
	switch {
	case long > 0:
		note = "(" + units.Size(int64(long)) + " and more before)"
	case before > 0:
		note = "(" + units.Plural(before, "line") + " before)"
	case len(lines) > maxLines+1:
		note = "(" + units.Plural(len(lines)-maxLines, "line") + " before)"
	default:
		return d.styled(lines, style)
	}
	return append([]string{d.Styles.Dim.Render(note)}, d.styled(lines[max(len(lines)-maxLines, 0):], style)...)
}

// some leaves the first lines of those that are drawn already.
func (d *drawing) some(lines []string, most int) []string {
	if d.unfolded {
		if d.Full {
			return lines
		}
		most = maxLines
	}
	if len(lines) <= most+1 {
		return lines
	}
	return append(lines[:most:most], d.Styles.Dim.Render("("+units.Plural(len(lines)-most, "more line")+")"))
}

func (d *drawing) draw() {
	switch it := d.item; it.Kind {
	case transcript.KindPrompt:
		d.prompt()
	case transcript.KindText:
		lines := d.Styles.Markdown(it.Text, d.room)
		for _, line := range lines {
			d.add(line)
		}
		if it.Failed {
			d.add(d.Styles.Bad.Render("(API error)"))
		}
	case transcript.KindThinking:
		d.thinking()
	case transcript.KindTool:
		d.tool()
	case transcript.KindQuestion:
		d.question()
	case transcript.KindResult:
		d.result()
	case transcript.KindState, transcript.KindNotice:
		d.notice()
	case transcript.KindRefusal:
		d.refusal()
	case transcript.KindUnknown:
		d.unknown()
	}
}

func (d *drawing) prompt() {
	s, it := d.Styles, d.item
	sign := s.User.Render(s.Glyphs.Prompt) + " "
	if it.Author != "" {
		sign = s.User.Render(s.CleanLine(it.Author, 24)+" "+s.Glyphs.Prompt) + " "
	}
	columns := paint.Width(sign)
	if d.room > 0 && columns > d.room/2 {
		sign, columns = s.User.Render(s.Glyphs.Prompt)+" ", 2
	}
	d.block(sign, d.first(strings.TrimRight(it.Text, " \n"), columns, s.Text, maxPrompt))
	if m := it.Message; m != nil && it.Failed {
		what := map[api.MessageState]string{
			api.MessageTakenBack: "taken back", api.MessageNotDelivered: "not delivered", api.MessageUnknown: "delivery unknown",
		}[m.State]
		if it.Label != "" {
			what += ": " + it.Label
		}
		d.block(s.Bad.Render(s.Glyphs.Failed)+" ", d.all(what, 2, s.Bad))
	}
}

func (d *drawing) thinking() {
	s, it := d.Styles, d.item
	style := s.Dim.Inherit(s.Italic)
	sign := style.Render(s.Glyphs.Dot) + " "
	if d.Thinking || d.unfolded {
		d.block(sign, d.last(strings.TrimSpace(it.Text), 2, style))
		return
	}
	text := it.Text
	if it.Streaming { // the end is what is new
		text = lastLine(text)
	}
	line, more := paint.FirstLine(text, d.inner(2+20))
	if more > 0 {
		line += " (" + units.Plural(more, "more line") + ")"
	}
	d.add(sign + style.Render("thinking: "+line))
}

// lastLine returns the last line of a text that is not blank.
func lastLine(text string) string {
	text = strings.TrimRight(text, " \r\n\t")
	return text[strings.LastIndexByte(text, '\n')+1:]
}

func (d *drawing) notice() {
	s, it := d.Styles, d.item
	style := s.Dim
	switch it.Level {
	case transcript.LevelWarn:
		style = s.Warn
	case transcript.LevelBad:
		style = s.Bad
	case transcript.LevelInfo:
	}
	text := it.Text
	if it.Label != "" {
		text = it.Label + ": " + text
	}
	if it.Author != "" && it.Kind == transcript.KindState {
		text += " (" + it.Author + ")"
	}
	most := maxNotice
	if it.Label == "output" { // that of a command which the user typed
		most = maxLines
	}
	d.block(style.Render(s.Glyphs.Dot)+" ", d.first(text, 2, style, most))
}

// refusal draws what the sandbox has refused, below the call during which it happened.
func (d *drawing) refusal() {
	s, it := d.Styles, d.item
	below := ""
	if it.Refusal != nil && it.Refusal.ToolUseID != "" {
		below = "  "
	}
	d.block(below+s.Warn.Render(s.Glyphs.Denied)+" ", d.first(it.Text, len(below)+2, s.Warn, maxNotice))
}

func (d *drawing) unknown() {
	s, it := d.Styles, d.item
	label := it.Label
	if label != "" {
		label += ": "
	}
	if d.unfolded {
		d.block(s.Dim.Render("? "), d.first(strings.TrimSpace(label+"\n"+indented(it.Text)), 2, s.Dim, maxLines))
		return
	}
	d.add(s.Dim.Render("? " + s.CleanLine(label+it.Text, max(d.inner(2), 2*min(1, d.room)))))
}

func (d *drawing) result() {
	s, r := d.Styles, d.item.Result
	if r == nil {
		r = &transcript.Result{}
	}
	sign, style, word := s.Good.Render(s.Glyphs.Done), s.Dim, "done"
	switch {
	case r.Interrupted:
		sign, style, word = s.Warn.Render(s.Glyphs.Denied), s.Warn, "interrupted"
		if d.item.Author != "" {
			word += " by " + s.CleanLine(d.item.Author, 40)
		}
	case d.item.Failed:
		sign, style, word = s.Bad.Render(s.Glyphs.Failed), s.Bad, "failed"+words.Failure(r.Subtype)
	}
	parts := []string{word + " in " + units.Duration(r.Duration)}
	if r.Turns > 0 {
		parts = append(parts, units.Plural(int(r.Turns), "step"))
	}
	if r.Total > 0 {
		if r.Known {
			parts = append(parts, units.Money(r.USD))
		} else {
			parts = append(parts, units.Money(r.Total)+" so far")
		}
	}
	if r.Input+r.Output > 0 {
		parts = append(parts, units.Tokens(r.Input)+" tokens in, "+units.Tokens(r.Output)+" out")
	}
	d.block(sign+" ", d.all(strings.Join(parts, " "+s.Glyphs.Dot+" "), 2, style))
	if d.item.Failed && !r.Interrupted && d.item.Text != "" && d.item.Text != r.Subtype {
		d.block("  ", d.first(d.item.Text, 2, s.Bad, maxNotice*2))
	}
	if len(r.Structured) > 0 {
		text := string(r.Structured)
		if d.unfolded {
			text = indented(text)
		}
		d.block("  ", d.first(text, 2, s.Code, maxNotice*2))
	}
}
