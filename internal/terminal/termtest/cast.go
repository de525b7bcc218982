package termtest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"
	"unicode/utf8"
)

// A CastHeader is the first line of a recording in the asciicast format, version 2.
type CastHeader struct {
	// Version is 2.
	Version int `json:"version"`
	// Width and Height are the size of the terminal in the beginning.
	Width  int `json:"width"`
	Height int `json:"height"`
	// Title says what is shown.
	Title string `json:"title,omitempty"`
}

// The kinds of [CastEvent] that there are here.
const (
	CastOutput = "o"
	CastInput  = "i"
	CastResize = "r"
	CastMark   = "m"
)

// A CastEvent is a line of a recording: what was written (or typed, or the new size, or a mark's name), and when after the beginning.
type CastEvent struct {
	// Time is when.
	Time time.Duration
	// Kind is one of [CastOutput], [CastInput], [CastResize] ("80x24") and [CastMark]; others are possible.
	Kind string
	// Data is what.
	Data string
}

// MarshalJSON writes it as the format has it: [seconds, kind, data].
func (e CastEvent) MarshalJSON() ([]byte, error) {
	// Whole microseconds, so that the same time is always written in the same way.
	return json.Marshal([]any{json.Number(fmt.Sprintf("%.6f", e.Time.Seconds())), e.Kind, e.Data})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (e *CastEvent) UnmarshalJSON(b []byte) error {
	var seconds float64
	parts := []any{&seconds, &e.Kind, &e.Data}
	if err := json.Unmarshal(b, &parts); err != nil {
		return fmt.Errorf("reading an event of a recording: %w", err)
	}
	if len(parts) != 3 {
		return fmt.Errorf("an event of a recording has %d parts and not 3", len(parts))
	}
	if !(seconds >= 0 && seconds < 1e6) { // and not NaN
		return fmt.Errorf("the time of an event, %v s, makes no sense", seconds)
	}
	e.Time = time.Duration(seconds * float64(time.Second)).Round(time.Microsecond)
	return nil
}

// A Cast is a whole recording.
type Cast struct {
	CastHeader
	// Events are what happened, in order.
	Events []CastEvent
}

// ReadCast reads a recording.
func ReadCast(r io.Reader) (*Cast, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	cast := &Cast{}
	if !lines.Scan() {
		return nil, fmt.Errorf("reading a recording: it has no first line: %w", lines.Err())
	}
	if err := json.Unmarshal(lines.Bytes(), &cast.CastHeader); err != nil {
		return nil, fmt.Errorf("reading the first line of a recording: %w", err)
	}
	if cast.Version != 2 {
		return nil, fmt.Errorf("reading a recording: version %d is not 2", cast.Version)
	}
	for lines.Scan() {
		if len(lines.Bytes()) == 0 {
			continue
		}
		var event CastEvent
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			return nil, err
		}
		cast.Events = append(cast.Events, event)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading a recording: %w", err)
	}
	return cast, nil
}

// Write writes a recording.
func (c *Cast) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(c.CastHeader); err != nil {
		return fmt.Errorf("writing a recording: %w", err)
	}
	for i := range c.Events {
		if err := encoder.Encode(c.Events[i]); err != nil {
			return fmt.Errorf("writing a recording: %w", err)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing a recording: %w", err)
	}
	return nil
}

// A recorder writes a recording while things happen. The first error stays.
type recorder struct {
	to    *json.Encoder
	begun time.Time
	rest  []byte // the beginning of a character whose end has not come
	err   error
}

// newRecorder writes the first line.
func newRecorder(w io.Writer, cols, rows int) *recorder {
	r := &recorder{to: json.NewEncoder(w), begun: time.Now()}
	r.to.SetEscapeHTML(false)
	r.err = r.to.Encode(CastHeader{Version: 2, Width: cols, Height: rows})
	return r
}

// event writes a line.
func (r *recorder) event(kind, data string) {
	if r != nil && r.err == nil {
		r.err = r.to.Encode(CastEvent{Time: time.Since(r.begun), Kind: kind, Data: data})
	}
}

// output writes what a program wrote. JSON has only whole characters: what is not UTF-8 becomes U+FFFD.
func (r *recorder) output(b []byte) {
	if r == nil {
		return
	}
	b = append(r.rest, b...)
	whole := len(b)
	for back := 1; back <= utf8.UTFMax && back <= len(b); back++ {
		if at := len(b) - back; utf8.RuneStart(b[at]) {
			if !utf8.FullRune(b[at:]) {
				whole = at
			}
			break
		}
	}
	r.rest = append([]byte(nil), b[whole:]...)
	if whole > 0 {
		r.event(CastOutput, string(b[:whole]))
	}
}

// resized is how a recording writes a size.
func resized(cols, rows int) string { return fmt.Sprintf("%dx%d", cols, rows) }
