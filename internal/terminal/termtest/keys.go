package termtest

// What keys send. Letters, digits and so on are themselves; see also [Ctrl] and [Alt].
const (
	Enter     = "\r"
	Tab       = "\t"
	Esc       = "\x1b"
	Space     = " "
	Backspace = "\x7f"
	Delete    = "\x1b[3~"

	Up       = "\x1b[A"
	Down     = "\x1b[B"
	Right    = "\x1b[C"
	Left     = "\x1b[D"
	Home     = "\x1b[H"
	End      = "\x1b[F"
	PageUp   = "\x1b[5~"
	PageDown = "\x1b[6~"
	F1       = "\x1bOP"

	ShiftTab = "\x1b[Z"
	AltEnter = "\x1b\r"
	// ShiftEnter is what terminals with the newer keyboard protocols send; the others send [Enter].
	ShiftEnter = "\x1b[13;2u"

	CtrlA = "\x01"
	CtrlC = "\x03"
	CtrlD = "\x04"
	CtrlE = "\x05"
	CtrlG = "\x07"
	CtrlJ = "\n"
	CtrlK = "\x0b"
	CtrlL = "\x0c"
	CtrlO = "\x0f"
	CtrlR = "\x12"
	CtrlS = "\x13"
	CtrlT = "\x14"
	CtrlU = "\x15"
	CtrlW = "\x17"
	CtrlX = "\x18"
	CtrlZ = "\x1a"
)

// Ctrl returns what a letter sends with the control key.
func Ctrl(letter byte) string { return string(rune(letter & 0x1f)) }

// Alt returns what a key sends with the alt key.
func Alt(key string) string { return "\x1b" + key }
