package termtest

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Frame is what a recording shows for a while.
type Frame struct {
	// Screen is what is shown.
	Screen *Screen
	// Mark is the name of the last mark before.
	Mark string
	// For is how long.
	For time.Duration
}

// FrameOptions say how a recording is cut into frames.
type FrameOptions struct {
	// Step is the least time that a frame is shown; what happens in less is in the next. If zero, 120 ms.
	Step time.Duration
	// Longest is the most time that a frame is shown: longer pauses are cut. If zero, 2 s.
	Longest time.Duration
	// Last is how long the last one is shown. If zero, 4 s.
	Last time.Duration
}

// defaults fills in what is not set.
func (o FrameOptions) defaults() FrameOptions {
	if o.Step <= 0 {
		o.Step = 120 * time.Millisecond
	}
	if o.Longest <= 0 {
		o.Longest = 2 * time.Second
	}
	if o.Last <= 0 {
		o.Last = 4 * time.Second
	}
	return o
}

// Frames plays a recording and returns what it shows, one after the other. Two that follow each other differ.
func (c *Cast) Frames(o FrameOptions) []Frame {
	o = o.defaults()
	e := NewEmulator(c.Width, c.Height, nil)
	frames := []Frame{}
	mark := ""
	shown := time.Duration(0) // since when the last frame is shown
	take := func(now time.Duration) {
		screen := e.Screen()
		if n := len(frames); n > 0 {
			frames[n-1].For += min(now-shown, o.Longest)
			shown = now
			if last := frames[n-1]; last.Mark == mark && last.Screen.same(screen) {
				return
			}
		}
		frames = append(frames, Frame{Screen: screen, Mark: mark})
	}
	for i, event := range c.Events {
		switch event.Kind {
		case CastOutput:
			_, _ = e.Write([]byte(event.Data))
		case CastMark:
			mark = event.Data
		case CastResize:
			cols, rows, _ := strings.Cut(event.Data, "x")
			w, errW := strconv.Atoi(cols)
			h, errH := strconv.Atoi(rows)
			if errW == nil && errH == nil {
				e.Resize(w, h)
			}
		}
		// What comes soon after belongs to the same frame.
		if i+1 == len(c.Events) || c.Events[i+1].Time-shown >= o.Step && c.Events[i+1].Time-event.Time > 0 {
			take(event.Time)
		}
	}
	if len(frames) == 0 {
		take(0)
	}
	frames[len(frames)-1].For = o.Last
	return frames
}

// same reports whether two screens look the same.
func (s *Screen) same(other *Screen) bool {
	return s.Cols == other.Cols && s.Rows == other.Rows && s.CursorX == other.CursorX && s.CursorY == other.CursorY && s.CursorHidden == other.CursorHidden &&
		slices.EqualFunc(s.rows, other.rows, func(a, b row) bool { return slices.EqualFunc(a, b, cell.looks) })
}

// looks reports whether two cells look the same: blank ones do if their backgrounds do.
func (c cell) looks(other cell) bool {
	if c.width != other.width {
		return false
	}
	if c.width > 0 && blankCell(c) && blankCell(other) {
		return sameBack(c.style, other.style)
	}
	return c.style == other.style && strings.TrimSpace(c.text) == strings.TrimSpace(other.text)
}

// inked returns up to which column anything is to be seen in a row.
func inked(r row) int {
	for i, c := range slices.Backward(r) {
		if !c.looks(cell{width: 1}) {
			return i + 1
		}
	}
	return 0
}
