package terminal

import (
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/terminal/talk"
	"github.com/switchboard-dev/switchboard/internal/transcript"
	"github.com/switchboard-dev/switchboard/wire"
)

// A view writes a session's log as plain text: what `logs` prints, and what is needed to answer from here. Its methods may be called by
// several goroutines.
type view struct {
	// Static after construction.
	out   io.Writer
	hints bool // say what can be typed
	look  talk.Look

	mu      sync.Mutex
	err     error                    // the first of writing; guarded by mu
	edge    int64                    // the number of the last event of the past; guarded by mu
	printer talk.Printer             // guarded by mu
	session api.State                // the last state that was shown; guarded by mu
	open    map[string]shownQuestion // by id; guarded by mu
}

func newView(out io.Writer, hints bool) *view {
	v := &view{out: out, hints: hints, open: map[string]shownQuestion{}}
	v.look.Styles = paint.Profile{}.Styles()
	v.printer = talk.Printer{Print: v.item, Changed: v.item}
	return v
}

// failed returns the first error of writing.
func (v *view) failed() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.err
}

// say writes a remark of our own.
func (v *view) say(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.print("", fmt.Sprintf(format, args...))
}

// print writes something of our own: what it is about, and a text whose further lines stand below its first. mu is held.
func (v *view) print(label, text string) {
	if label != "" {
		label = Clean(label) + ": "
	}
	v.write(label + below(text, 2))
}

// write writes lines. mu is held.
func (v *view) write(text string) {
	if _, err := fmt.Fprintln(v.out, text); err != nil && v.err == nil {
		v.err = fmt.Errorf("writing what the session says: %w", err)
	}
}

// reset says that the log begins anew, and where its past ends.
func (v *view) reset(edge int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.printer.Reset()
	v.edge, v.session = edge, ""
	clear(v.open)
}

// event writes what an event tells.
func (v *view) event(e *api.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if e.Seq < v.edge {
		v.printer.Talk().Event(e) // what comes after it may tell more of the same
		return
	}
	v.printer.Live = true
	if e.Kind == api.KindLinkLost {
		reason, _ := wire.LookupString(e.Data, "reason")
		v.print("link lost", oneLine(reason))
	}
	if err := v.printer.Event(e); err != nil && v.err == nil {
		v.err = err
	}
	if state := v.printer.Talk().State().Session; state != v.session {
		v.session = state
		v.print("state", string(state))
	}
}

// item writes an item. What an agent wrote never stands at the beginning of a line: none of it can pass for a note of ours. mu is held.
func (v *view) item(it *transcript.Item) error {
	if q := it.Question; q != nil {
		if q.State == api.QuestionOpen {
			v.question(q)
			return nil
		}
		delete(v.open, q.ID)
	}
	lines := v.look.Plain(it)
	if it.Kind == transcript.KindText {
		for i, line := range lines {
			if i == 0 {
				text := strings.TrimLeft(line, " ")
				lines[i] = line[:len(line)-len(text)] + "agent: " + text
			} else {
				lines[i] = strings.TrimRight("  "+line, " ")
			}
		}
	}
	if len(lines) > 0 {
		v.write(strings.Join(lines, "\n"))
	}
	if hold, ok := strings.CutPrefix(it.ID, "hold:"); ok && v.hints && it.Kind == transcript.KindState {
		v.print("to continue", "/release "+oneLine(hold))
	}
	return v.err
}
