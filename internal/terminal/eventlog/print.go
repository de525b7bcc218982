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

	talk transcript.Conversation
	// printed is how many items are printed, unfinished are the ids of those among them that were going on.
	printed    int
	unfinished map[string]bool
	early      map[string]bool // ids of those further on that are printed
	live       bool            // the past is over
}

// NewItems returns a printer of items: with their times, in full. What is said about the log itself goes to errs.
func NewItems(out, errs io.Writer, styles *paint.Styles, times, full bool) *Items {
	p := &Items{out: out, errs: errs, times: times}
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
	for step := int64(max(100, 2*items)); upTo > after && p.talk.Len() <= items; step *= 2 {
		from := max(after, upTo-step)
		events, err := log.Between(ctx, from+1, upTo)
		if err != nil {
			return err
		}
		p.talk.Prepend(events)
		upTo = from
	}
	p.printed = max(0, p.talk.Len()-items)
	return nil
}

// Page takes events of the past.
func (p *Items) Page(events []api.Event) error {
	for i := range events {
		p.talk.Event(&events[i])
	}
	return p.print()
}

// Edge prints what is left of the past.
func (p *Items) Edge() error {
	p.live = true
	return p.print()
}

// Frame takes what comes.
func (p *Items) Frame(f api.Frame) error {
	switch f.Type {
	case api.FrameResume:
		if f.Resume != nil && f.Resume.Resume == "reset" {
			fmt.Fprintln(p.errs, "switchboard: the log has changed; it starts over")
			p.talk, p.printed, p.unfinished = transcript.Conversation{}, 0, nil
		}
		return nil
	case api.FrameEvent:
	default:
		return nil
	}
	changed := p.talk.Frame(f)
	for _, i := range changed.Items {
		if i >= p.printed || i >= p.talk.Len() {
			continue
		}
		if it := p.talk.Item(i); p.unfinished[it.ID] && !going(it) {
			delete(p.unfinished, it.ID)
			if err := p.item(it); err != nil {
				return err
			}
		}
	}
	return p.print()
}

// going reports whether an item will change.
func going(it *transcript.Item) bool {
	return it.Streaming || it.Tool != nil && it.Tool.State == transcript.ToolRunning ||
		it.Question != nil && it.Question.State == api.QuestionOpen
}

// print prints the next items.
func (p *Items) print() error {
	p.printed = min(p.printed, p.talk.Len())
	for p.printed < p.talk.Len() {
		it := p.talk.Item(p.printed)
		if going(it) {
			if !p.live {
				return nil // the next page has the rest
			}
			if it.Streaming {
				return nil
			}
			if p.unfinished == nil {
				p.unfinished = map[string]bool{}
			}
			p.unfinished[it.ID] = true
		}
		for _, q := range p.talk.QuestionsOf(p.printed) { // the answer comes before what it led to
			if err := p.asked(p.talk.Item(q)); err != nil {
				return err
			}
		}
		it = p.talk.Item(p.printed)
		p.printed++
		if p.early[it.ID] {
			delete(p.early, it.ID)
			continue
		}
		if err := p.item(it); err != nil {
			return err
		}
	}
	return nil
}

// asked prints a question before the tool that it is about, unless it is still open.
func (p *Items) asked(it *transcript.Item) error {
	if going(it) || p.early[it.ID] {
		return nil
	}
	if p.early == nil {
		p.early = map[string]bool{}
	}
	p.early[it.ID] = true
	return p.item(it)
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
