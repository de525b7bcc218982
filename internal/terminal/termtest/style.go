package termtest

import (
	"fmt"
	"strconv"
)

// A Color is a colour of the terminal: its own, one of the 256 of the palette, or any other by its parts. The zero value is the terminal's own.
type Color uint32

const (
	colorIndexed Color = 1 << 24
	colorRGB     Color = 2 << 24
)

// Indexed returns a colour of the palette: 0 to 7 the old ones, 8 to 15 the bright ones, 16 to 255 the cube and the greys.
func Indexed(n uint8) Color { return colorIndexed | Color(n) }

// RGB returns a colour by its parts.
func RGB(r, g, b uint8) Color { return colorRGB | Color(r)<<16 | Color(g)<<8 | Color(b) }

// Index returns the number of a colour of the palette, and whether it is one.
func (c Color) Index() (uint8, bool) { return uint8(c), c&^0xffffff == colorIndexed }

// String returns "default", the number of a colour of the palette, or #rrggbb.
func (c Color) String() string {
	switch c &^ 0xffffff {
	case colorIndexed:
		return strconv.Itoa(int(c & 0xff))
	case colorRGB:
		return fmt.Sprintf("#%06x", uint32(c&0xffffff))
	default:
		return "default"
	}
}

// Attr is a set of what letters can be besides coloured.
type Attr uint16

// The attributes.
const (
	Bold Attr = 1 << iota
	Faint
	Italic
	Underline
	Blink
	Reverse
	Hidden
	Strike
)

// A Style is how a cell looks.
type Style struct {
	// Foreground, Background and UnderlineColor are its colours.
	Foreground, Background, UnderlineColor Color
	// Attr are its attributes.
	Attr Attr
	// Link is the address that it leads to (OSC 8).
	Link string
}

// Has reports whether a style has all of some attributes.
func (s Style) Has(a Attr) bool { return s.Attr&a == a }

// sgr changes a style as a CSI … m does; it reports what it did not know.
func (s *Style) sgr(params []param) (unknown bool) {
	if len(params) == 0 {
		*s = Style{Link: s.Link}
	}
	for i := 0; i < len(params); i++ {
		// Parts that colons join belong together.
		last := i
		for params[last].more && last+1 < len(params) {
			last++
		}
		parts := params[i : last+1]
		n := max(parts[0].value, 0)
		switch {
		case n == 0:
			*s = Style{Link: s.Link}
		case n >= 1 && n <= 9:
			a := [...]Attr{0, Bold, Faint, Italic, Underline, Blink, Blink, Reverse, Hidden, Strike}[n]
			if n == 4 && len(parts) > 1 && parts[1].value == 0 {
				s.Attr &^= a
			} else {
				s.Attr |= a
			}
		case n == 21:
			s.Attr |= Underline
		case n == 22:
			s.Attr &^= Bold | Faint
		case n >= 23 && n <= 29 && n != 26:
			s.Attr &^= [...]Attr{Italic, Underline, Blink, 0, Reverse, Hidden, Strike}[n-23]
		case n >= 30 && n <= 37:
			s.Foreground = Indexed(uint8(n - 30))
		case n >= 90 && n <= 97:
			s.Foreground = Indexed(uint8(n - 90 + 8))
		case n >= 40 && n <= 47:
			s.Background = Indexed(uint8(n - 40))
		case n >= 100 && n <= 107:
			s.Background = Indexed(uint8(n - 100 + 8))
		case n == 39:
			s.Foreground = 0
		case n == 49:
			s.Background = 0
		case n == 59:
			s.UnderlineColor = 0
		case n == 38 || n == 48 || n == 58:
			rest := params[i+1:]
			if len(parts) > 1 {
				rest = parts[1:]
			}
			color, used := extended(rest, len(parts) > 1)
			if used == 0 {
				return true // what belongs to it can't be told from what does not
			}
			last = i + used
			switch n {
			case 38:
				s.Foreground = color
			case 48:
				s.Background = color
			default:
				s.UnderlineColor = color
			}
		default:
			unknown = true
		}
		i = last
	}
	return unknown
}

// extended reads a colour after 38, 48 or 58, and returns how many parameters it took; 0 if it is none.
func extended(rest []param, colons bool) (Color, int) {
	part := func(i int) uint8 { return uint8(min(max(rest[i].value, 0), 255)) }
	switch {
	case len(rest) >= 2 && rest[0].value == 5:
		return Indexed(part(1)), 2
	case len(rest) >= 5 && rest[0].value == 2 && colons: // 38:2:<colour space>:r:g:b
		return RGB(part(2), part(3), part(4)), len(rest)
	case len(rest) >= 4 && rest[0].value == 2:
		return RGB(part(1), part(2), part(3)), 4
	default:
		return 0, 0
	}
}
