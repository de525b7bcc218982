package paint

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// An ink is a set of styles that a text within Markdown is drawn with.
type ink uint8

const (
	inkBold ink = 1 << iota
	inkItalic
	inkStrike
	inkCode
	inkHeading
	inkLink
	inkDim
)

// A brush draws spans. It belongs to one goroutine.
type brush struct {
	styles *Styles
	made   map[ink]func(string) string
}

func newBrush(s *Styles) *brush { return &brush{styles: s, made: map[ink]func(string) string{}} }

// Stroke returns what draws a text of one line in a style. It is many times faster than the style's Render, and does nothing else than to
// put what the style begins and ends with around the text. An empty text stays empty.
func Stroke(style lipgloss.Style) func(string) string {
	before, after, ok := strings.Cut(style.Render("x"), "x")
	if !ok || before == "" && after == "" {
		return func(text string) string { return text }
	}
	return func(text string) string {
		if text == "" {
			return ""
		}
		return before + text + after
	}
}

// style returns what draws in an ink.
func (b *brush) style(i ink) func(string) string {
	if draw, ok := b.made[i]; ok {
		return draw
	}
	style := lipgloss.NewStyle()
	for _, part := range []struct {
		ink   ink
		style lipgloss.Style
	}{
		{inkCode, b.styles.Code},
		{inkLink, b.styles.Link},
		{inkHeading, b.styles.Heading},
		{inkDim, b.styles.Dim},
		{inkBold, b.styles.Bold},
		{inkItalic, b.styles.Italic},
		{inkStrike, b.styles.Strike},
	} {
		if i&part.ink != 0 {
			style = style.Inherit(part.style)
		}
	}
	b.made[i] = Stroke(style)
	return b.made[i]
}

// row returns the text of a row of pieces.
func (b *brush) row(spans []span, pieces []piece) string {
	var out strings.Builder
	for i := 0; i < len(pieces); {
		first := &spans[pieces[i].span]
		text := first.text[pieces[i].from:pieces[i].to]
		var more strings.Builder
		// Neighbours that look the same are drawn at once.
		for i++; i < len(pieces); i++ {
			next := &spans[pieces[i].span]
			if next.ink != first.ink || next.link != first.link {
				break
			}
			more.WriteString(next.text[pieces[i].from:pieces[i].to])
		}
		out.WriteString(b.draw(text+more.String(), first.ink, first.link))
	}
	return out.String()
}

// draw returns a text in an ink.
func (b *brush) draw(text string, i ink, link string) string {
	if b.styles.Profile.Color && i != 0 {
		text = b.style(i)(text)
	}
	if link != "" && b.styles.Profile.Links {
		text = ansi.SetHyperlink(link) + text + ansi.ResetHyperlink()
	}
	return text
}

// maxAddress is how long an address may be to be made a link.
const maxAddress = 2000

// address returns an address as it may be given to a terminal, or nothing: only that of a page or a mailbox, without anything that could
// end the escape code that it stands in.
func address(text string) string {
	if len(text) > maxAddress {
		return ""
	}
	scheme, _, found := strings.Cut(text, ":")
	if !found {
		return ""
	}
	switch strings.ToLower(scheme) {
	case "http", "https", "mailto":
	default:
		return ""
	}
	for i := range len(text) {
		if text[i] <= 0x20 || text[i] >= 0x7f {
			return ""
		}
	}
	return text
}

// Cut returns a line, styled or not, cut at width columns. A width of 0 does not cut.
func (s *Styles) Cut(line string, width int) string { return cut(line, width, s.ellipsis()) }

// CleanLine is the function CleanLine with the ellipsis of the styles.
func (s *Styles) CleanLine(text string, width int) string {
	return cleanLine(text, width, s.ellipsis())
}

func (s *Styles) ellipsis() string {
	if s.Glyphs.Ellipsis == "" {
		return "…"
	}
	return s.Glyphs.Ellipsis
}
