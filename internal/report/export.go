package report

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/record"
)

// The forms of an export.
const (
	// exportLines is every line of the CLI and every line that it was sent, and
	// those of a conversation that was begun elsewhere, as recorded, but for what
	// may be a secret, see shownLine.
	exportLines = "jsonl"
	// exportEvents is the log as the interface shows it.
	exportEvents = "events"
	// exportMarkdown is for people.
	exportMarkdown = "markdown"
)

// Export writes a session, up to its newest entry: as lines (jsonl), as events, or
// for people (markdown). Whatever can be known to be wrong before is told before
// anything is written. It needs memory for a part of the entries only. An error of
// w is returned as it is.
func (p *Reports) Export(ctx context.Context, id, format string, w io.Writer) error {
	r, err := p.read(ctx, id)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 64<<10)
	var write func(*journal.Entry) error
	switch format {
	case exportLines:
		write = func(e *journal.Entry) error { return exportLine(out, e) }
	case exportEvents:
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		write = func(e *journal.Entry) error { return encoder.Encode(record.Event(e, r.session.Epoch)) }
	case exportMarkdown:
		turns, err := p.turnsOf(ctx, id, 0)
		if err != nil {
			return err
		}
		m := newMarkdown(out, r.session, turns)
		m.head()
		write = m.entry
	default:
		return record.Unfit("format: expected jsonl, events or markdown, got %.40q", format)
	}
	for {
		e, err := r.next(ctx)
		if err != nil {
			return err
		}
		if e == nil {
			return out.Flush()
		}
		if err := write(e); err != nil {
			return fmt.Errorf("exporting session %s: %w", id, err)
		}
	}
}

// exportLine writes the line of an entry that has one.
func exportLine(w *bufio.Writer, e *journal.Entry) error {
	switch e.Kind {
	case api.KindLine, api.KindSent, api.KindHistory:
	default:
		return nil
	}
	if len(e.Line) == 0 {
		return nil
	}
	line := e.Line
	if e.Kind == api.KindSent {
		line = record.ShownLine(line)
	}
	if _, err := w.Write(line); err != nil {
		return err
	}
	return w.WriteByte('\n')
}
