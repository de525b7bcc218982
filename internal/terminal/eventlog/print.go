package eventlog

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/terminal/talk"
	"github.com/switchboard-dev/switchboard/internal/transcript"
)

// stampWidth is how wide a time is, with the space behind it.
const stampWidth = len(time.TimeOnly) + 2

// A Printer prints a log.
type Printer interface {
	// Page takes events of the past, in their order. Edge says that there are no more for now.
	Page(events []api.Event) error
	Edge() error
	// Frame takes what comes then.
	Frame(f api.Frame) error
}

// Items prints a log for people: each item when nothing about it can change any more, or when there is nothing to wait for. What was printed while
// it went on is printed again when it is over.
type Items struct {
	out, errs io.Writer
	look      talk.Look
	times     bool
	printer   talk.Printer
}

// NewItems returns a printer of items: with their times, in full. What is said about the log itself goes to errs.
func NewItems(out, errs io.Writer, styles *paint.Styles, times, full bool) *Items {
	p := &Items{out: out, errs: errs, times: times}
	p.printer.Print = p.item
	p.look.Styles, p.look.Width = styles, styles.Profile.Width
	if times && p.look.Width > 0 {
		p.look.Width = max(1, p.look.Width-stampWidth)
	}
	if full {
		p.look.Unfolded = func(*transcript.Item) bool { return true }
		p.look.Full, p.look.Thinking = true, true
	}
	return p
}

// Back reads the end of a log, the events after one and up to another, as much as the last items are made of. Only these are printed at the edge.
func (p *Items) Back(ctx context.Context, log *Log, after, upTo int64, items int) error {
	for step := int64(max(100, 2*items)); upTo > after && p.printer.Talk().Len() <= items; step *= 2 {
		from := max(after, upTo-step)
		events, err := log.Between(ctx, from+1, upTo)
		if err != nil {
			return err
		}
		p.printer.Last(events, items)
		upTo = from
	}
	return nil
}

// Page takes events of the past.
func (p *Items) Page(events []api.Event) error { return p.printer.Page(events) }

// Edge prints what is left of the past.
func (p *Items) Edge() error {
	p.printer.Live = true
	return p.printer.Next()
}

// Frame takes what comes.
func (p *Items) Frame(f api.Frame) error {
	switch {
	case f.Type == api.FrameResume && f.Resume != nil && f.Resume.Resume == "reset":
		fmt.Fprintln(p.errs, "switchboard: the log has changed; it starts over")
		p.printer.Reset()
	case f.Type == api.FrameEvent && f.Event != nil:
		return p.printer.Event(f.Event)
	}
	return nil
}

// item prints one.
func (p *Items) item(it *transcript.Item) error {
	lines := p.look.Lines(it)
	if len(lines) == 0 {
		return nil
	}
	if p.times {
		for i := range lines {
			stamp := strings.Repeat(" ", stampWidth)
			if i == 0 && !it.Time.IsZero() {
				stamp = p.look.Styles.Dim.Render(it.Time.Local().Format(time.TimeOnly)) + "  "
			}
			lines[i] = strings.TrimRight(stamp+lines[i], " ")
		}
	}
	_, err := io.WriteString(p.out, strings.Join(lines, "\n")+"\n")
	return err
}

// Events prints events as they are, one JSON object per line.
type Events struct {
	Out io.Writer
	// Raw prints the CLI's lines only, Terminal makes these harmless for one.
	Raw, Terminal bool
}

// Page prints events of the past.
func (p *Events) Page(events []api.Event) error {
	for i := range events {
		if err := p.event(&events[i]); err != nil {
			return err
		}
	}
	return nil
}

// Edge does nothing: each event is printed as it comes.
func (p *Events) Edge() error { return nil }

// Frame prints the event of a frame.
func (p *Events) Frame(f api.Frame) error {
	if f.Type != api.FrameEvent {
		return nil
	}
	return p.event(f.Event)
}

// event prints one.
func (p *Events) event(e *api.Event) error {
	var line []byte
	switch {
	case !p.Raw:
		encoded, err := json.Marshal(e)
		if err != nil {
			return err
		}
		_, err = p.Out.Write(append(paint.CleanJSON(encoded), '\n'))
		return err
	case e.Kind != api.KindLine && e.Kind != api.KindSent && e.Kind != api.KindHistory:
		return nil
	case len(e.Line) > 0:
		line = e.Line
	case len(e.Base64) > 0:
		line = e.Base64
	default:
		line = []byte(e.Text)
	}
	if p.Terminal {
		line = []byte(paint.Clean(string(line)))
	}
	_, err := p.Out.Write(append(line, '\n'))
	return err
}
