package claude

import (
	"bytes"
	"strings"
)

const (
	// stderrLine is the longest line of standard error that Options.Stderr is
	// given; what is longer is cut.
	stderrLine = 64 << 10
	// stderrSlack is cut off in addition, because a secret whose end is cut off
	// is not recognised as one.
	stderrSlack = 4 << 10
)

// A stderrTee keeps the end of standard error and tells it line by line. One
// goroutine writes to it.
type stderrTee struct {
	tail     *tail
	redactor *redactor
	tell     func(line string) // nil if nobody wants to know

	line []byte // the beginning of a line whose end has not come
	cut  bool   // the rest of it is dropped
}

// Write never fails.
func (t *stderrTee) Write(p []byte) (int, error) {
	n := len(p)
	_, _ = t.tail.Write(p) // never fails
	if t.tell == nil {
		return n, nil
	}
	for len(p) > 0 {
		part, rest, ended := bytes.Cut(p, []byte("\n"))
		if room := stderrLine - len(t.line); len(part) > room {
			part, t.cut = part[:room], true
		}
		t.line = append(t.line, part...)
		if ended {
			t.flush()
		}
		p = rest
	}
	return n, nil
}

// flush tells the line.
func (t *stderrTee) flush() {
	if t.tell == nil {
		return
	}
	s := t.redactor.clean(bytes.TrimSuffix(t.line, []byte("\r")))
	if t.cut && len(s) > stderrLine-stderrSlack {
		s = strings.ToValidUTF8(s[:stderrLine-stderrSlack], "")
	}
	t.line, t.cut = t.line[:0], false
	t.tell(s)
}

// close tells a last line without an end.
func (t *stderrTee) close() {
	if len(t.line) > 0 {
		t.flush()
	}
}
