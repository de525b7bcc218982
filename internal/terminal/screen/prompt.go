package screen

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

const (
	// mostPrompts is how many prompts can be chosen among to go back to, mostBack how many pages are read to find them, or what was said before one.
	mostPrompts = 30
	mostBack    = 20
)

// A Prompt is what somebody said to an agent.
type Prompt struct {
	// UUID is what the CLI knows it by.
	UUID string
	Time time.Time
	Text string
}

// PromptIn returns the prompt that an event has the line of. What sub-agents and tools are told is none.
func PromptIn(e *api.Event) (Prompt, bool) {
	user, ok := talkLine(e, "user").(*wire.User)
	if !ok || user.UUID == "" || user.IsSynthetic || user.ParentToolUseID != "" {
		return Prompt{}, false
	}
	var texts []string
	for _, b := range user.Message.Content.All() {
		switch b := b.(type) { //nolint:gochecksumtype // the others are no words
		case *wire.TextBlock:
			texts = append(texts, b.Text)
		case *wire.ToolResultBlock:
			return Prompt{}, false
		}
	}
	return Prompt{UUID: user.UUID, Time: e.Time, Text: strings.Join(texts, " ")}, true
}

// replyIn returns the uuid of what the agent itself says in an event, empty if it says nothing.
func replyIn(e *api.Event) string {
	reply, ok := talkLine(e, "assistant").(*wire.Assistant)
	if !ok || reply.ParentToolUseID != "" || reply.Error != "" {
		return ""
	}
	for _, b := range reply.Message.Content {
		if text, ok := b.(*wire.TextBlock); ok && strings.TrimSpace(text.Text) != "" {
			return reply.UUID
		}
	}
	return ""
}

// talkLine decodes the line of an event if it is one of the conversation itself and of a type.
func talkLine(e *api.Event, kind string) wire.Message {
	if e.Kind != api.KindSent && e.Kind != api.KindLine && e.Kind != api.KindHistory {
		return nil
	}
	if header, err := wire.Peek(e.Line); err != nil || string(header.Type) != kind || len(header.ParentToolUseID) > 0 {
		return nil
	}
	message, err := wire.Decode(e.Line)
	if err != nil {
		return nil // a line that cannot be read is none that one could go back to
	}
	return message
}

// prompts reads the last prompts before an event, the newest first.
func (l *log) prompts(ctx context.Context, before int64) ([]Prompt, error) {
	var list []Prompt
	seen := map[string]bool{}
	err := l.back(ctx, before, func(e *api.Event) bool {
		if p, ok := PromptIn(e); ok && !seen[p.UUID] {
			seen[p.UUID] = true // it was sent, and the agent has repeated it
			list = append(list, p)
		}
		return len(list) < mostPrompts
	})
	return list, err
}

// reply reads the uuid of what the agent said last before an event, empty if there is nothing.
func (l *log) reply(ctx context.Context, before int64) (uuid string, err error) {
	err = l.back(ctx, before, func(e *api.Event) bool {
		uuid = replyIn(e)
		return uuid == ""
	})
	return uuid, err
}

// back visits the events before one, the nearest first, until visit returns false or enough was read.
func (l *log) back(ctx context.Context, before int64, visit func(*api.Event) bool) error {
	for range mostBack {
		if before <= 1 {
			return nil
		}
		events, from, err := l.before(ctx, before)
		if err != nil {
			return err
		}
		for i := len(events) - 1; i >= 0; i-- {
			if !visit(&events[i]) {
				return nil
			}
		}
		before = from
	}
	return nil
}

// errNoMessage says that there is nothing to cut a copy at.
var errNoMessage = errors.New("nothing was said before that; start a new session instead: switchboard run")
