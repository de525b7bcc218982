package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal"
	"github.com/switchboard-dev/switchboard/internal/terminal/talk"
	"github.com/switchboard-dev/switchboard/internal/transcript"
)

// stampWidth is how wide a time is, with the space behind it.
const stampWidth = len(time.TimeOnly) + 2

// talkItem is an item of a conversation.
type talkItem = transcript.Item

// A talkPrinter prints a log for people: each thing when nothing about it can change any more, or when there is nothing to wait for. What
// was printed while it went on is printed again when it is over.
type talkPrinter struct {
	out, errs io.Writer
	view      *terminal.View
	look      talk.Look
	times     bool
	keep      int // how many of the last things are printed of the past; all if below 0

	talk transcript.Conversation
	// printed is how many items are printed, unfinished are the ids of those among them that were going on.
	printed    int
	unfinished map[string]bool
	early      map[string]bool // ids of those further on that are printed
	live       bool            // the past is over
}

// back reads the end of a log, as much as the last things are made of.
func (p *talkPrinter) back(ctx context.Context, log *sessionLog, things int) error {
	first, upTo := log.from, log.newest
	log.from = log.newest
	for step := int64(max(100, 2*things)); upTo > first && p.talk.Len() <= things; step *= 2 {
		after := max(first, upTo-step)
		events, err := log.between(ctx, after, upTo)
		if err != nil {
			return err
		}
		p.talk.Prepend(events)
		upTo = after
	}
	p.printed = max(0, p.talk.Len()-things)
	return nil
}

// page takes events of the past.
func (p *talkPrinter) page(events []api.Event) error {
	for i := range events {
		p.talk.Event(&events[i])
	}
	return p.print()
}

// edge prints what is left of the past.
func (p *talkPrinter) edge() error {
	p.live = true
	return p.print()
}

// frame takes what comes.
func (p *talkPrinter) frame(f api.Frame) error {
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
func going(it *talkItem) bool {
	return it.Streaming || it.Tool != nil && it.Tool.State == transcript.ToolRunning ||
		it.Question != nil && it.Question.State == api.QuestionOpen
}

// print prints the next items.
func (p *talkPrinter) print() error {
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
func (p *talkPrinter) asked(it *talkItem) error {
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
func (p *talkPrinter) item(it *talkItem) error {
	lines := p.look.Lines(it)
	if len(lines) == 0 {
		return nil
	}
	if p.times {
		for i := range lines {
			stamp := strings.Repeat(" ", stampWidth)
			if i == 0 && !it.Time.IsZero() {
				stamp = p.view.Styles.Dim.Render(it.Time.Local().Format(time.TimeOnly)) + "  "
			}
			lines[i] = strings.TrimRight(stamp+lines[i], " ")
		}
	}
	return writeLines(p.out, lines)
}
