package paint

import (
	"image/color"

	"charm.land/lipgloss/v2"
)

// A Palette is the colours that styles are made of.
type Palette struct {
	Accent, Good, Warn, Bad, User, Tool, Added, Removed, Code, Heading, Link, Dim color.Color
}

// Styles are what texts are drawn with on one terminal. All members render a text unchanged where there are no colours.
type Styles struct {
	// Profile is what they are made for.
	Profile Profile
	// Glyphs are the signs that stand before and between texts.
	Glyphs Glyphs

	Text, Dim, Bold, Italic, Strike lipgloss.Style
	// Accent is for what is to be looked at; Good, Warn and Bad say how something went.
	Accent, Good, Warn, Bad lipgloss.Style
	// User is for what people say, Tool for names of tools.
	User, Tool lipgloss.Style
	// Added and Removed are for lines of a difference.
	Added, Removed lipgloss.Style
	// Code is for code within a text, Heading for headings, Link for addresses.
	Code, Heading, Link lipgloss.Style
	// Key is for a key that may be pressed, Selected for the line that is chosen.
	Key, Selected lipgloss.Style
}

// Glyphs are signs of one column each.
type Glyphs struct {
	Bullet, Done, Open, Running, Failed, Denied, Bar, Rule, Ellipsis, Fold, Unfold, Prompt, Arrow, Dot string
}

// Palette returns the colours of a profile. They are those of the terminal's own sixteen where that is possible, so they suit its theme.
func (p Profile) Palette() Palette {
	palette := Palette{
		Accent: lipgloss.Cyan, Good: lipgloss.Green, Warn: lipgloss.Yellow, Bad: lipgloss.Red, User: lipgloss.Blue, Tool: lipgloss.Magenta,
		Added: lipgloss.Green, Removed: lipgloss.Red, Code: lipgloss.Cyan, Heading: lipgloss.Magenta, Link: lipgloss.Blue,
		Dim: lipgloss.BrightBlack,
	}
	if p.Dark {
		palette.User, palette.Link = lipgloss.BrightBlue, lipgloss.BrightBlue
	}
	return palette
}

// Styles returns the styles of a profile.
func (p Profile) Styles() *Styles {
	s := &Styles{Profile: p, Glyphs: Glyphs{
		Bullet: "•", Done: "✓", Open: "☐", Running: "●", Failed: "✗", Denied: "⊘", Bar: "│", Rule: "─", Ellipsis: "…", Fold: "▸", Unfold: "▾",
		Prompt: "❯", Arrow: "→", Dot: "·",
	}}
	if p.ASCII {
		s.Glyphs = Glyphs{
			Bullet: "*", Done: "+", Open: "o", Running: "*", Failed: "x", Denied: "-", Bar: "|", Rule: "-", Ellipsis: "~", Fold: ">", Unfold: "v",
			Prompt: ">", Arrow: ">", Dot: "-",
		}
	}
	if !p.Color {
		return s
	}
	c := p.Palette()
	style := lipgloss.NewStyle
	s.Dim = style().Foreground(c.Dim)
	s.Bold = style().Bold(true)
	s.Italic = style().Italic(true)
	s.Strike = style().Strikethrough(true).StrikethroughSpaces(true)
	s.Accent = style().Foreground(c.Accent)
	s.Good = style().Foreground(c.Good)
	s.Warn = style().Foreground(c.Warn)
	s.Bad = style().Foreground(c.Bad)
	s.User = style().Foreground(c.User).Bold(true)
	s.Tool = style().Foreground(c.Tool).Bold(true)
	s.Added = style().Foreground(c.Added)
	s.Removed = style().Foreground(c.Removed)
	s.Code = style().Foreground(c.Code)
	s.Heading = style().Foreground(c.Heading).Bold(true)
	s.Link = style().Foreground(c.Link).Underline(true).UnderlineSpaces(true)
	s.Key = style().Foreground(c.Accent).Bold(true)
	s.Selected = style().Reverse(true)
	return s
}
