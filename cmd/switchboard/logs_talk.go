package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/talk"
	"github.com/switchboard-dev/switchboard/internal/transcript"
)

// stampWidth is how wide a time is, with the space behind it.
const stampWidth = len(time.TimeOnly) + 2

// A talkPrinter prints a log for people.
type talkPrinter struct {
	talk.Printer
	out, errs io.Writer
	look      talk.Look
	times     bool
}

// back reads the end of a log, as much as the last things are made of.
func (p *talkPrinter) back(ctx context.Context, log *sessionLog, things int) error {
	first, upTo := log.from, log.newest
	log.from = log.newest
	for step := int64(max(100, 2*things)); upTo > first && p.Talk().Len() <= things; step *= 2 {
		after := max(first, upTo-step)
		events, err := log.between(ctx, after, upTo)
		if err != nil {
			return err
		}
		p.Last(events, things)
		upTo = after
	}
	return nil
}

// page takes events of the past.
func (p *talkPrinter) page(events []api.Event) error { return p.Page(events) }

// edge prints what is left of the past.
func (p *talkPrinter) edge() error {
	p.Live = true
	return p.Next()
}

// frame takes what comes.
func (p *talkPrinter) frame(f api.Frame) error {
	switch {
	case f.Type == api.FrameResume && f.Resume != nil && f.Resume.Resume == "reset":
		fmt.Fprintln(p.errs, "switchboard: the log has changed; it starts over")
		p.Reset()
	case f.Type == api.FrameEvent && f.Event != nil:
		return p.Event(f.Event)
	}
	return nil
}

// item prints one.
func (p *talkPrinter) item(it *transcript.Item) error {
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
	return writeLines(p.out, lines)
}
