package journal

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/switchboard-dev/switchboard/wire"
)

// How much text of one line is searched, and how much of that may come from a
// tool.
const (
	maxText     = 256 << 10
	maxToolText = 16 << 10
	maxTextLine = 8 << 20 // longer lines are pictures, mostly
)

// messageText returns the text of a line that people would look for, and the
// line's type; nothing for lines that are no messages.
func messageText(line []byte) (typ, text string, replay bool) {
	h, err := wire.Peek(line)
	if err != nil {
		return "", "", false
	}
	switch string(h.Type) {
	case "user", "assistant", "result":
	default:
		return "", "", false
	}
	m, err := wire.Decode(line)
	if err != nil {
		return "", "", false
	}
	var b textBuilder
	switch m := m.(type) {
	case *wire.User:
		b.blocks(m.Message.Content.All())
		replay = m.IsReplay
	case *wire.Assistant:
		b.blocks(m.Message.Content)
	case *wire.Result:
		b.add(m.Result, maxText)
		for _, e := range m.Errors {
			b.add(e, maxText)
		}
	default: // a line that does not keep to its type
		return "", "", false
	}
	return string(h.Type), b.text.String(), replay
}

// speaker returns the speaker of a line of which messageText has the text. The CLI writes
// everything that the model is told in the name of the user: results of tools, plans,
// reports of sub-agents.
func speaker(line []byte) string {
	m, err := wire.Decode(line)
	if err != nil {
		return ""
	}
	switch m := m.(type) {
	case *wire.User:
		return userSpeaker(m)
	case *wire.Assistant:
		if m.ParentToolUseID != "" {
			return SpeakerSubagent
		}
		return SpeakerAssistant
	default:
		return SpeakerResult
	}
}

func userSpeaker(m *wire.User) string {
	if m.ParentToolUseID != "" {
		return SpeakerSubagent
	}
	if slices.ContainsFunc(m.Message.Content.Blocks, func(b wire.Block) bool { _, ok := b.(*wire.ToolResultBlock); return ok }) {
		if plan, _ := wire.Lookup(m.ToolUseResult, "plan"); len(plan) > 0 {
			return SpeakerPlan
		}
		if agent, _ := wire.Lookup(m.ToolUseResult, "agentId"); len(agent) > 0 {
			return SpeakerSubagent
		}
		return SpeakerTool
	}
	if m.IsSynthetic {
		return SpeakerSystem
	}
	return SpeakerUser
}

// A textBuilder collects pieces of text up to a limit.
type textBuilder struct{ text strings.Builder }

func (b *textBuilder) blocks(list []wire.Block) {
	for _, block := range list {
		switch block := block.(type) {
		case *wire.TextBlock:
			b.add(block.Text, maxText)
		case *wire.ToolResultBlock:
			b.add(block.Content.String(), maxToolText)
		default: // thinking, tool calls, pictures
		}
	}
}

func (b *textBuilder) add(piece string, limit int) {
	limit = min(limit, maxText-b.text.Len())
	if piece == "" || limit <= 0 {
		return
	}
	if b.text.Len() > 0 {
		b.text.WriteByte('\n')
	}
	if len(piece) > limit {
		piece = strings.ToValidUTF8(piece[:limit], "")
	}
	b.text.WriteString(piece)
}

// wordRune says whether a rune belongs to a word, as the index sees it.
func wordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Co, r)
}

// A term is a word, or several that must follow one another.
type term struct {
	words  []string // in lower case
	prefix bool     // the last word may go on
}

// parseSearch cuts a search text into terms: words, phrases in quotes, and
// words that end in * for those that begin so. Everything else separates words,
// so nothing that is typed is an error.
func parseSearch(text string) []term {
	var terms []term
	for i, part := range strings.Split(text, `"`) {
		pieces := []string{part} // inside quotes
		if i%2 == 0 {
			pieces = strings.Fields(part)
		}
		for _, piece := range pieces {
			words := strings.FieldsFunc(strings.ToLower(piece), func(r rune) bool { return !wordRune(r) && !unicode.Is(unicode.Mn, r) })
			if len(words) > 0 {
				terms = append(terms, term{words, i%2 == 0 && strings.HasSuffix(piece, "*")})
			}
		}
	}
	return terms
}

// match writes terms in the language of the index.
func match(terms []term) string {
	var parts []string
	for _, t := range terms {
		part := `"` + strings.Join(t.words, " ") + `"`
		if t.prefix {
			part += " *"
		}
		parts = append(parts, part)
	}
	return "text : (" + strings.Join(parts, " AND ") + ")"
}

// matches says whether a word of a text is one of those that were looked for.
func matches(terms []term, word string) bool {
	word = strings.ToLower(word)
	for _, t := range terms {
		for i, w := range t.words {
			if w == word || t.prefix && i == len(t.words)-1 && strings.HasPrefix(word, w) {
				return true
			}
		}
	}
	return false
}

// How much of a text a snippet shows: before the first word that was found, and
// in all.
const (
	snippetBefore = 60
	snippetLength = 240
)

// snippet returns the part of a text around the first word that was found, in
// one line, with the words marked by \x02 and \x03.
func snippet(text string, terms []term) string {
	first := -1
	eachWord(text, func(start, end int) bool {
		if matches(terms, text[start:end]) {
			first = start
			return false
		}
		return true
	})
	// Not within a letter; what is no UTF-8 has no letters to look for.
	start := max(first-snippetBefore, 0)
	for range utf8.UTFMax {
		if start > 0 && !utf8.RuneStart(text[start]) {
			start--
		}
	}
	end := min(start+snippetLength, len(text))
	for range utf8.UTFMax {
		if end < len(text) && !utf8.RuneStart(text[end]) {
			end++
		}
	}
	part := text[start:end]
	var b strings.Builder
	if start > 0 {
		b.WriteString("…")
	}
	at := 0
	eachWord(part, func(from, to int) bool {
		if matches(terms, part[from:to]) {
			plain(&b, part[at:from])
			b.WriteByte('\x02')
			plain(&b, part[from:to])
			b.WriteByte('\x03')
			at = to
		}
		return true
	})
	plain(&b, part[at:])
	if end < len(text) {
		b.WriteString("…")
	}
	return b.String()
}

// plain writes text without line ends and control characters.
func plain(b *strings.Builder, text string) {
	for _, r := range text {
		if unicode.IsControl(r) {
			r = ' '
		}
		b.WriteRune(r)
	}
}

// eachWord calls the function with the place of every word until it returns
// false.
func eachWord(text string, do func(start, end int) bool) {
	start := -1
	for i, r := range text {
		switch inside := wordRune(r) || start >= 0 && unicode.Is(unicode.Mn, r); {
		case inside && start < 0:
			start = i
		case !inside && start >= 0:
			if !do(start, i) {
				return
			}
			start = -1
		}
	}
	if start >= 0 {
		do(start, len(text))
	}
}
