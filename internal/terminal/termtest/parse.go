package termtest

import (
	"unicode/utf8"
)

// The states of the parser.
const (
	stateGround = iota
	stateEscape
	stateEscapeIntermediate
	stateCSI
	stateString       // OSC, DCS, SOS, PM, APC: up to ST (or BEL)
	stateStringEscape // an ESC within a string: with a backslash its end
)

const (
	// maxParams is how many parameters of a sequence are kept; the others are dropped, as terminals do.
	maxParams = 32
	// maxParam is the largest number that a parameter can be.
	maxParam = 65535
	// maxString is how much of a string sequence is kept.
	maxString = 64 << 10
)

// A parser cuts what a program writes into text, controls and sequences. A terminal must find the same ones however the bytes come in, and
// must find its way back after any nonsense. Unlike most parsers it takes the bytes 0x80 to 0x9f for what they are in UTF-8, namely parts of
// characters: a title may hold a ✓ (e2 9c 93), of which a terminal of the 8-bit times would take the second byte for the end of the title.
type parser struct {
	to *Emulator

	state int
	// rune collects a character of several bytes.
	rune [utf8.UTFMax]byte
	have int

	prefix        byte
	intermediates []byte
	params        []param
	digits        bool // the last parameter has one

	kind byte // the letter that began a string: ] P X ^ _
	data []byte
	cut  bool // the string is longer than what is kept
}

// A param is one number of a sequence; more says that a colon and not a semicolon comes after it.
type param struct {
	value int // -1: left out
	more  bool
}

// write takes the next bytes.
func (p *parser) write(b []byte) {
	for len(b) > 0 {
		// Nearly all that comes is plain text.
		if p.state == stateGround && p.have == 0 {
			n := 0
			for n < len(b) && b[n] >= 0x20 && b[n] < 0x7f {
				p.to.ascii(b[n])
				n++
			}
			b = b[n:]
			if len(b) == 0 {
				return
			}
		}
		p.next(b[0])
		b = b[1:]
	}
}

// next takes one byte.
func (p *parser) next(c byte) {
	if p.state == stateString || p.state == stateStringEscape {
		p.str(c)
		return
	}
	if p.have > 0 {
		if c&0xc0 == 0x80 {
			p.rune[p.have] = c
			p.have++
			if utf8.FullRune(p.rune[:p.have]) {
				r, _ := utf8.DecodeRune(p.rune[:p.have])
				p.have = 0
				p.to.print(r)
			}
			return
		}
		// The character broke off: the byte counts for itself, above all when it is an escape.
		p.have = 0
		p.to.print(utf8.RuneError)
	}
	switch {
	case c == 0x1b:
		p.state = stateEscape
		p.prefix, p.intermediates, p.params, p.digits = 0, p.intermediates[:0], p.params[:0], false
		return
	case c == 0x18 || c == 0x1a: // CAN, SUB: the sequence is taken back
		p.state = stateGround
		return
	case c < 0x20:
		p.to.control(c)
		return
	}
	switch p.state {
	case stateGround:
		switch {
		case c < 0x7f:
			p.to.ascii(c)
		case c == 0x7f: // terminals ignore it
		case c >= 0xc2 && c <= 0xf4:
			p.rune[0], p.have = c, 1
		default:
			p.to.print(utf8.RuneError)
		}
	case stateEscape, stateEscapeIntermediate:
		p.escape(c)
	case stateCSI:
		p.csi(c)
	}
}

// escape takes a byte after an ESC.
func (p *parser) escape(c byte) {
	if p.state == stateEscape {
		switch c {
		case '[':
			p.state = stateCSI
			return
		case ']', 'P', 'X', '^', '_':
			p.state, p.kind, p.data, p.cut = stateString, c, p.data[:0], false
			return
		}
	}
	switch {
	case c < 0x30:
		p.intermediates = append(p.intermediates[:min(len(p.intermediates), 3)], c)
		p.state = stateEscapeIntermediate
	case c < 0x7f:
		p.state = stateGround
		p.to.escape(string(p.intermediates), c)
	default:
		p.state = stateGround
	}
}

// csi takes a byte of a control sequence.
func (p *parser) csi(c byte) {
	switch {
	case c >= '0' && c <= '9':
		p.grow()
		last := &p.params[len(p.params)-1]
		last.value = min(max(last.value, 0)*10+int(c-'0'), maxParam)
	case c == ';' || c == ':':
		p.grow()
		p.params[len(p.params)-1].more = c == ':'
		if len(p.params) < maxParams {
			p.params = append(p.params, param{value: -1})
		}
	case c >= 0x3c && c <= 0x3f:
		p.prefix = c
	case c < 0x30:
		p.intermediates = append(p.intermediates[:min(len(p.intermediates), 3)], c)
	case c >= 0x40 && c < 0x7f:
		p.state = stateGround
		p.to.sequence(p.prefix, string(p.intermediates), c, p.params)
	default:
		p.state = stateGround // not ASCII: no sequence has that
	}
}

// grow makes sure that there is a parameter to write into.
func (p *parser) grow() {
	if len(p.params) == 0 {
		p.params = append(p.params, param{value: -1})
	}
}

// str takes a byte of a string sequence.
func (p *parser) str(c byte) {
	if p.state == stateStringEscape {
		p.state = stateGround
		p.to.str(p.kind, p.data, p.cut)
		if c != '\\' {
			// An ESC ends a string in any case, and begins whatever comes.
			p.state = stateEscape
			p.prefix, p.intermediates, p.params = 0, p.intermediates[:0], p.params[:0]
			p.next(c)
		}
		return
	}
	switch {
	case c == 0x1b:
		p.state = stateStringEscape
	case c == 0x07 && p.kind == ']':
		p.state = stateGround
		p.to.str(p.kind, p.data, p.cut)
	case c == 0x18 || c == 0x1a:
		p.state = stateGround
	case len(p.data) < maxString:
		p.data = append(p.data, c)
	default:
		p.cut = true
	}
}
