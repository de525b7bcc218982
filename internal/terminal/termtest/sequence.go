package termtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// control is a C0 control.
func (e *Emulator) control(c byte) {
	switch c {
	case 0x00:
	case 0x07:
		e.bell++
	case 0x08:
		e.x, e.wrap = max(e.x-1, 0), false
	case 0x09:
		e.tab(1)
	case 0x0a, 0x0b, 0x0c:
		e.wrap = false
		if e.newline {
			e.x = 0
		}
		e.down()
	case 0x0d:
		e.x, e.wrap = 0, false
	case 0x0e, 0x0f:
		e.shift = int(0x0f - c)
	default:
		e.dontKnow("%q", rune(c))
	}
}

// tab goes n tab stops on, or back.
func (e *Emulator) tab(n int) {
	step := 1
	if n < 0 {
		step = -1
	}
	for ; n != 0; n -= step {
		for e.x += step; e.x > 0 && e.x < e.cols-1 && !e.tabs[e.x]; e.x += step {
		}
		if e.x <= 0 || e.x >= e.cols-1 {
			break
		}
	}
	e.x, e.wrap = min(max(e.x, 0), e.cols-1), false
}

// escape is an ESC sequence.
func (e *Emulator) escape(intermediates string, final byte) {
	switch intermediates + string(rune(final)) {
	case "7":
		e.save()
	case "8":
		e.restore()
	case "D":
		e.wrap = false
		e.down()
	case "E":
		e.x, e.wrap = 0, false
		e.down()
	case "M":
		e.wrap = false
		if e.y == e.top {
			e.scrollDown(e.top, 1)
		} else if e.y > 0 {
			e.y--
		}
	case "H":
		e.tabs[e.x] = true
	case "c":
		e.reset()
	case "=", ">", "\\", " F", " G", "%G": // keypad; the end of a string; 7-bit controls; UTF-8
	case "(B", "(A", "(0":
		e.lines[0] = final == '0'
	case ")B", ")A", ")0":
		e.lines[1] = final == '0'
	case "#8":
		for y := range e.grid {
			for x := range e.grid[y] {
				e.grid[y][x] = cell{text: "E", width: 1}
			}
		}
		e.x, e.y, e.wrap = 0, 0, false
	default:
		e.dontKnow("ESC %s%c", intermediates, final)
	}
}

// sequence is a CSI sequence.
func (e *Emulator) sequence(prefix byte, intermediates string, final byte, params []param) {
	name := intermediates + string(rune(final))
	if prefix != 0 {
		name = string(rune(prefix)) + name
	}
	// arg returns a parameter; as almost everywhere, 0 is the same as nothing.
	arg := func(i, def int) int {
		if i >= len(params) || params[i].value <= 0 {
			return def
		}
		return params[i].value
	}
	if e.move(name, arg) || e.edit(name, arg) || e.ask(name, arg) {
		return
	}
	known := true
	switch name {
	case "h", "l":
		for _, p := range params {
			switch p.value {
			case 4:
				e.insert = final == 'h'
			case 20:
				e.newline = final == 'h'
			default:
				known = false
			}
		}
	case "?h", "?l":
		for _, p := range params {
			known = e.mode(p.value, final == 'h') && known
		}
	case "m":
		known = !e.style.sgr(params)
	case "r":
		top, bottom := arg(0, 1)-1, min(arg(1, e.rows), e.rows)-1
		if top < bottom {
			e.top, e.bottom = top, bottom
			e.goTo(0, 0)
		}
	case "s":
		e.save()
	case "u":
		e.restore()
	case "g":
		if arg(0, 0) == 3 {
			clear(e.tabs)
		} else {
			e.tabs[e.x] = false
		}
	case "?W":
		e.tabStops()
	case "!p":
		grid, other, alt, x, y := e.grid, e.other, e.alt, e.x, e.y
		e.reset()
		e.grid, e.other, e.alt, e.x, e.y = grid, other, alt, x, y
	case ">u":
		e.kitty++
	case "<u":
		e.kitty = max(e.kitty-arg(0, 1), 0)
	case ">m":
		if arg(0, 0) == 4 {
			e.otherKeys = arg(1, 0) != 0
		}
	case " q", "=u", ">n": // the cursor's shape; keyboard protocols
	default:
		known = false
	}
	if !known {
		e.dontKnow("CSI %s", spell(prefix, intermediates, final, params))
	}
}

// spell writes a sequence as it came.
func spell(prefix byte, intermediates string, final byte, params []param) string {
	var b strings.Builder
	if prefix != 0 {
		b.WriteByte(prefix)
	}
	for i, p := range params {
		if p.value >= 0 {
			b.WriteString(strconv.Itoa(p.value))
		}
		switch {
		case p.more:
			b.WriteByte(':')
		case i < len(params)-1:
			b.WriteByte(';')
		}
	}
	return b.String() + intermediates + string(rune(final))
}

// goTo places the cursor; in origin mode within the scroll region.
func (e *Emulator) goTo(x, y int) {
	low, high := 0, e.rows-1
	if e.modes[modeOrigin] {
		low, high = e.top, e.bottom
	}
	e.x, e.y, e.wrap = min(max(x, 0), e.cols-1), min(max(low+y, low), high), false
}

// move is the sequences that move the cursor.
func (e *Emulator) move(name string, arg func(int, int) int) bool {
	// Up and down stop at the region's edge if they begin within it.
	up := func(n int) {
		low := 0
		if e.y >= e.top {
			low = e.top
		}
		e.y, e.wrap = max(e.y-n, low), false
	}
	downBy := func(n int) {
		high := e.rows - 1
		if e.y <= e.bottom {
			high = e.bottom
		}
		e.y, e.wrap = min(e.y+n, high), false
	}
	across := func(x int) { e.x, e.wrap = min(max(x, 0), e.cols-1), false }
	switch name {
	case "A":
		up(arg(0, 1))
	case "B", "e":
		downBy(arg(0, 1))
	case "C", "a":
		across(e.x + arg(0, 1))
	case "D":
		across(e.x - arg(0, 1))
	case "E":
		downBy(arg(0, 1))
		across(0)
	case "F":
		up(arg(0, 1))
		across(0)
	case "G", "`":
		across(arg(0, 1) - 1)
	case "d":
		e.goTo(e.x, arg(0, 1)-1)
	case "H", "f":
		e.goTo(arg(1, 1)-1, arg(0, 1)-1)
	case "I":
		e.tab(min(arg(0, 1), e.cols))
	case "Z":
		e.tab(-min(arg(0, 1), e.cols))
	default:
		return false
	}
	return true
}

// edit is the sequences that erase, insert, delete and repeat.
func (e *Emulator) edit(name string, arg func(int, int) int) bool {
	switch name {
	case "J", "?J":
		e.eraseDisplay(arg(0, 0))
	case "K", "?K":
		e.wrap = false
		switch arg(0, 0) {
		case 0:
			e.erase(e.y, e.x, e.cols)
		case 1:
			e.erase(e.y, 0, e.x+1)
		case 2:
			e.erase(e.y, 0, e.cols)
		}
	case "X":
		e.erase(e.y, e.x, e.x+min(arg(0, 1), e.cols))
	case "L":
		if e.y >= e.top && e.y <= e.bottom {
			e.scrollDown(e.y, arg(0, 1))
			e.x, e.wrap = 0, false
		}
	case "M":
		if e.y >= e.top && e.y <= e.bottom {
			// Deleted rows are gone: they do not go to the scrollback, wherever they were.
			n := len(e.scrollback)
			e.scrollUp(e.y, arg(0, 1))
			e.scrollback = e.scrollback[:min(n, len(e.scrollback)):min(n, len(e.scrollback))]
			e.x, e.wrap = 0, false
		}
	case "S":
		e.scrollUp(e.top, arg(0, 1))
	case "T":
		e.scrollDown(e.top, arg(0, 1))
	case "@", "P":
		n := min(arg(0, 1), e.cols-e.x)
		e.split(e.x)
		r := e.grid[e.y]
		if name == "@" {
			copy(r[e.x+n:], r[e.x:e.cols-n])
			if r[e.cols-1].width == 2 {
				r[e.cols-1] = cell{width: 1}
			}
			e.erase(e.y, e.x, e.x+n)
		} else {
			e.split(e.x + n)
			copy(r[e.x:], r[e.x+n:])
			e.erase(e.y, e.cols-n, e.cols)
		}
		e.wrap = false
	case "b":
		// More than a screen of it can't be told from a screen of it.
		for range min(arg(0, 1), e.cols*e.rows) {
			if e.last == 0 {
				break
			}
			if e.last < 0x7f {
				e.ascii(byte(e.last))
			} else {
				e.print(e.last)
			}
		}
	default:
		return false
	}
	return true
}

// eraseDisplay is CSI J.
func (e *Emulator) eraseDisplay(what int) {
	from, to := 0, 0
	switch what {
	case 0:
		e.erase(e.y, e.x, e.cols)
		from, to = e.y+1, e.rows
	case 1:
		e.erase(e.y, 0, e.x+1)
		to = e.y
	case 2:
		to = e.rows
	case 3:
		e.scrollback = nil
	}
	for y := from; y < to; y++ {
		e.grid[y] = blank(e.cols, e.style)
	}
	e.wrap = false
}

// plainMode reports whether a mode is one of the private modes that change nothing here but are known: keys, blinking, mouse, focus, paste, graphemes and so on.
func plainMode(n int) bool {
	switch n {
	case 1, 5, 9, 12, 45, 66, 1000, 1002, 1003, 1004, 1005, 1006, 1007, 1015, 1016, 1034, 1036, modePaste, modeGrapheme, 2031, 2048:
		return true
	}
	return false
}

// mode sets or resets a private mode, and reports whether it is one that is known.
func (e *Emulator) mode(n int, on bool) bool {
	switch n {
	case modeOrigin:
		e.modes[n] = on
		e.goTo(0, 0)
		return true
	case modeAutoWrap, modeCursor:
	case 47, 1047:
		if !on && n == 1047 && e.alt {
			e.eraseDisplay(2)
		}
		e.show(on)
	case 1048:
		if on {
			e.save()
		} else {
			e.restore()
		}
		return true
	case 1049:
		// The cursor is that of the main screen, saved before and put back after.
		if on && !e.alt {
			e.save()
			e.show(true)
			e.eraseDisplay(2)
		} else if !on && e.alt {
			e.show(false)
			e.restore()
		}
	case modeSync:
		e.frozen = nil
		e.modes[n] = on
		if on {
			e.frozen = e.Screen()
			delete(e.frozen.modes, modeSync)
		}
		return true
	default:
		if !plainMode(n) {
			return false
		}
	}
	e.modes[n] = on
	return true
}

// ask is the sequences by which a program asks its terminal.
func (e *Emulator) ask(name string, arg func(int, int) int) bool {
	switch name {
	case "c":
		e.reply("\x1b[?62;22;52c")
	case ">c":
		e.reply("\x1b[>1;10;0c")
	case "=c":
		e.reply("\x1bP!|00000000\x1b\\")
	case ">q":
		e.reply("\x1bP>|termtest(1)\x1b\\")
	case "n":
		switch arg(0, 0) {
		case 5:
			e.reply("\x1b[0n")
		case 6:
			e.reply(fmt.Sprintf("\x1b[%d;%dR", e.y+1, e.x+1))
		default:
			return false
		}
	case "?n":
		switch arg(0, 0) {
		case 6:
			e.reply(fmt.Sprintf("\x1b[?%d;%dR", e.y+1, e.x+1))
		case 996:
			e.reply("\x1b[?997;1n") // dark
		default:
			return false
		}
	case "?$p":
		state := 0 // not known
		n := arg(0, 0)
		switch {
		case e.modes[n]:
			state = 1
		case plainMode(n) || slices.Contains([]int{modeOrigin, modeAutoWrap, modeCursor, 47, 1047, 1048, 1049, modeSync}, n):
			state = 2
		}
		e.reply(fmt.Sprintf("\x1b[?%d;%d$y", n, state))
	case "$p":
		e.reply(fmt.Sprintf("\x1b[%d;0$y", arg(0, 0)))
	case "?u", "?m": // the keyboard protocols are not spoken, and not to answer is how a terminal says so
	case "t":
		switch arg(0, 0) {
		case 14:
			e.reply(fmt.Sprintf("\x1b[4;%d;%dt", e.rows*20, e.cols*10))
		case 16:
			e.reply("\x1b[6;20;10t")
		case 18:
			e.reply(fmt.Sprintf("\x1b[8;%d;%dt", e.rows, e.cols))
		case 22, 23: // the stack of titles
		default:
			return false
		}
	default:
		return false
	}
	return true
}

// str is a string sequence: a system command, a device's, or one of the others.
func (e *Emulator) str(kind byte, data []byte, cut bool) {
	text := string(data)
	if kind != ']' {
		switch {
		case kind == 'P' && strings.HasPrefix(text, "+q"):
			e.reply("\x1bP0+r\x1b\\")
		case kind == 'P' && strings.HasPrefix(text, "$q"):
			e.reply("\x1bP0$r\x1b\\")
		default:
			e.dontKnow("ESC %c %.60q", kind, text)
		}
		return
	}
	number, rest, _ := strings.Cut(text, ";")
	switch number {
	case "0", "2":
		e.title, e.titles = rest, e.titles+1
	case "1": // the icon's name
	case "8":
		_, e.style.Link, _ = strings.Cut(rest, ";")
	case "52":
		if !cut {
			e.clipboard = append(e.clipboard, rest)
		}
	case "10", "11", "12":
		n, _ := strconv.Atoi(number)
		if rest != "?" {
			e.colors[n] = true
			break
		}
		color := "rgb:0d0d/1111/1717"
		if n != 11 {
			color = "rgb:e6e6/eded/f3f3"
		}
		e.reply(fmt.Sprintf("\x1b]%d;%s\x1b\\", n, color))
	case "110", "111", "112":
		n, _ := strconv.Atoi(number)
		delete(e.colors, n-100)
	default:
		e.dontKnow("OSC %.60q", text)
	}
}
