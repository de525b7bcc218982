package termtest

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"math"
	"strings"
	"time"
	"unicode"
)

// SVGOptions say how a recording is drawn.
type SVGOptions struct {
	FrameOptions
	// Title stands at the top, and is what people hear to whom the picture is read; Description says more to them.
	Title, Description string
	// Still draws the last frame only.
	Still bool
}

// The measures of a picture, in its own units.
const (
	fontSize   = 14.0
	cellWidth  = 8.43
	cellHeight = 19.0
	margin     = 14.0
	barHeight  = 34.0
)

// The colours of the picture. It has a background and an edge of its own, so that it can stand on a light page and on a dark one.
const (
	colorBack   = "#0d1117"
	colorText   = "#e6edf3"
	colorEdge   = "#6e7681"
	colorBar    = "#161b22"
	colorBarInk = "#9198a1"
)

// themeColor returns one of the sixteen colours.
func themeColor(n uint8) string {
	return [16]string{
		"#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4",
		"#8b949e", "#ffa198", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#f0f6fc",
	}[n&15]
}

// hex returns a colour as SVG writes it; other stands for the terminal's own.
func (c Color) hex(other string) string {
	n, indexed := c.Index()
	switch {
	case c == 0:
		return other
	case !indexed:
		return c.String()
	case n < 16:
		return themeColor(n)
	case n >= 232:
		v := 8 + 10*int(n-232)
		return fmt.Sprintf("#%02x%02x%02x", v, v, v)
	default:
		levels := [6]int{0, 95, 135, 175, 215, 255}
		n -= 16
		return fmt.Sprintf("#%02x%02x%02x", levels[n/36], levels[n/6%6], levels[n%6])
	}
}

// SVG draws a recording as a moving picture: one that a browser plays automatically, again and again, without a script. A reader who wants no motion sees
// the last frame. The same recording always gives the same picture.
func SVG(cast io.Reader, w io.Writer, o SVGOptions) error {
	c, err := ReadCast(cast)
	if err != nil {
		return err
	}
	return c.SVG(w, o)
}

// SVG draws a recording, see [SVG].
func (c *Cast) SVG(w io.Writer, o SVGOptions) error {
	frames := c.Frames(o.FrameOptions)
	if o.Still {
		frames = frames[len(frames)-1:]
	}
	cols, rows := 0, 0
	for _, f := range frames {
		cols, rows = max(cols, f.Screen.Cols), max(rows, f.Screen.Rows)
	}
	out := bufio.NewWriter(w)
	p := &picture{
		out: out, width: math.Ceil(float64(cols)*cellWidth + 2*margin), height: math.Ceil(float64(rows)*cellHeight + 2*margin + barHeight),
		lines: map[string]int{},
	}
	p.head(o, frames)
	p.define(frames)
	p.frames(frames)
	p.printf("</svg>\n")
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing a picture: %w", err)
	}
	return nil
}

// A picture is one that is being written.
type picture struct {
	out           *bufio.Writer
	width, height float64
	lines         map[string]int // numbers of rows by how they are drawn
}

// printf writes; the error comes with Flush.
func (p *picture) printf(format string, args ...any) { _, _ = fmt.Fprintf(p.out, format, args...) }

// head writes the beginning, with the style that moves it.
func (p *picture) head(o SVGOptions, frames []Frame) {
	p.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="%g" height="%g" role="img" xml:space="preserve">`+"\n", p.width, p.height, p.width, p.height)
	p.printf("<title>%s</title>\n", escape(o.Title))
	if o.Description != "" {
		p.printf("<desc>%s</desc>\n", escape(o.Description))
	}
	p.printf("<style>\ntext{font:%gpx ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace;fill:%s;white-space:pre}\n", fontSize, colorText)
	p.printf(".b{font-weight:700}.i{font-style:italic}.u{text-decoration:underline}.s{text-decoration:line-through}.f{opacity:.65}\n")
	if len(frames) > 1 {
		total := time.Duration(0)
		for _, f := range frames {
			total += f.For
		}
		p.printf("#m{animation:play %.2fs steps(1,end) infinite}\n@keyframes play{", total.Seconds())
		at := time.Duration(0)
		for i, f := range frames {
			p.printf("%.3f%%{transform:translateX(%gpx)}", 100*at.Seconds()/total.Seconds(), -float64(i)*p.width)
			at += f.For
		}
		p.printf("100%%{transform:translateX(%gpx)}}\n", -float64(len(frames)-1)*p.width)
		p.printf("@media (prefers-reduced-motion:reduce){#m{animation:none;transform:translateX(%gpx)}}\n", -float64(len(frames)-1)*p.width)
	}
	p.printf("</style>\n")
	p.printf(`<rect x=".5" y=".5" width="%g" height="%g" rx="8" fill="%s" stroke="%s"/>`+"\n", p.width-1, p.height-1, colorBack, colorEdge)
	p.printf(`<path d="M1 %gV8.500a7.500 7.500 0 0 1 7.500 -7.500H%ga7.500 7.500 0 0 1 7.500 7.500V%gz" fill="%s"/>`+"\n", barHeight, p.width-8.5, barHeight, colorBar)
	for i, color := range []string{"#ff5f57", "#febc2e", "#28c840"} {
		p.printf(`<circle cx="%g" cy="%g" r="5.5" fill="%s"/>`+"\n", 20+float64(i)*19, barHeight/2, color)
	}
	p.printf(`<svg y="0" width="%g" height="%g">`+"\n", p.width, p.height) // what is outside of it is not seen
}

// define writes each different row once.
func (p *picture) define(frames []Frame) {
	p.printf("<defs>\n")
	for _, f := range frames {
		for y := range f.Screen.rows {
			text := drawRow(f.Screen.rows[y])
			if _, known := p.lines[text]; text == "" || known {
				continue
			}
			p.lines[text] = len(p.lines)
			p.printf(`<g id="r%d">%s</g>`+"\n", p.lines[text], text)
		}
	}
	p.printf("</defs>\n")
}

// frames writes them side by side.
func (p *picture) frames(frames []Frame) {
	p.printf("<g id=\"m\">\n")
	for i, f := range frames {
		p.printf(`<g transform="translate(%g)">`, float64(i)*p.width)
		if f.Mark != "" {
			p.printf(`<text x="%g" y="%g" text-anchor="middle" style="fill:%s">%s</text>`, p.width/2, barHeight/2+5, colorBarInk, escape(f.Mark))
		}
		s := f.Screen
		if !s.CursorHidden {
			p.printf(`<rect x="%g" y="%g" width="%g" height="%g" fill="%s" opacity=".6"/>`,
				round(margin+float64(s.CursorX)*cellWidth), barHeight+margin+float64(s.CursorY)*cellHeight, cellWidth, cellHeight, colorText)
		}
		for y := range s.rows {
			if text := drawRow(s.rows[y]); text != "" {
				p.printf(`<use href="#r%d" x="%g" y="%g"/>`, p.lines[text], margin, barHeight+margin+float64(y)*cellHeight)
			}
		}
		p.printf("</g>\n")
	}
	p.printf("</g>\n</svg>\n")
}

// drawRow draws a row at the origin: backgrounds first, then runs of the same style. An empty row is nothing.
func drawRow(r row) string {
	var b strings.Builder
	for from := 0; from < len(r); {
		to := from + 1
		_, back := inks(r[from].style)
		for to < len(r) && sameBack(r[to].style, r[from].style) {
			to++
		}
		if back != "" {
			fmt.Fprintf(&b, `<rect x="%g" width="%g" height="%g" fill="%s"/>`, round(float64(from)*cellWidth), round(float64(to-from)*cellWidth), cellHeight, back)
		}
		from = to
	}
	for from := 0; from < len(r); {
		if blankCell(r[from]) {
			from++
			continue
		}
		// A run ends with its style, and at whatever may be drawn wider or narrower than a letter.
		to, end := from, from
		for to < len(r) && r[to].style == r[from].style && (to == from || !special(r[to].text) && !special(r[from].text)) {
			ink := !blankCell(r[to])
			to++
			if to < len(r) && r[to].width == 0 {
				to++
			}
			if ink {
				end = to
			}
			if special(r[from].text) {
				break
			}
		}
		drawRun(&b, r[from:end], from)
		from = max(end, from+1)
	}
	return b.String()
}

// drawRun draws cells of one style.
func drawRun(b *strings.Builder, cells row, x int) {
	var text strings.Builder
	columns := 0
	for _, c := range cells {
		columns++
		switch {
		case c.width == 0:
		case c.text == "":
			text.WriteByte(' ')
		default:
			text.WriteString(c.text)
		}
	}
	style := cells[0].style
	ink, _ := inks(style)
	var class []string
	for _, a := range []struct {
		attr Attr
		name string
	}{{Bold, "b"}, {Italic, "i"}, {Underline, "u"}, {Strike, "s"}, {Faint, "f"}} {
		if style.Has(a.attr) {
			class = append(class, a.name)
		}
	}
	if style.Has(Hidden) {
		return
	}
	fmt.Fprintf(b, `<text x="%g" y="14"`, round(float64(x)*cellWidth))
	if columns > 1 {
		fmt.Fprintf(b, ` textLength="%g"`, round(float64(columns)*cellWidth))
	}
	if len(class) > 0 {
		fmt.Fprintf(b, ` class="%s"`, strings.Join(class, " "))
	}
	if ink != colorText {
		fmt.Fprintf(b, ` style="fill:%s"`, ink)
	}
	fmt.Fprintf(b, `>%s</text>`, escape(text.String()))
}

// inks returns the colours of a style; back is empty if it is the picture's own.
func inks(s Style) (ink, back string) {
	ink, back = s.Foreground.hex(colorText), s.Background.hex("")
	if s.Has(Reverse) {
		ink, back = s.Background.hex(colorBack), s.Foreground.hex(colorText)
	}
	return ink, back
}

// sameBack reports whether two styles have the same background.
func sameBack(a, b Style) bool {
	_, x := inks(a)
	_, y := inks(b)
	return x == y
}

// blankCell reports whether there is no ink in a cell.
func blankCell(c cell) bool {
	return (c.text == "" || c.text == " ") && c.style.Attr&(Underline|Strike) == 0
}

// special reports whether a character is likely to come from another font, whose letters have another width.
func special(text string) bool {
	for _, r := range text {
		if r > unicode.MaxLatin1 {
			return true
		}
	}
	return false
}

// round keeps numbers short.
func round(v float64) float64 { return math.Round(v*100) / 100 }

// escape writes a text for XML, which has no control characters.
func escape(text string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0xfffe || r == 0xffff {
			return -1
		}
		return r
	}, text))
}
