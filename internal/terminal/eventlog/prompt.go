package eventlog

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

// A Prompt is what the user said to an agent.
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

// Prompts visits the prompts before an event, the newest first and each once, until visit returns false or so many pages were read; all of them if
// pages is 0.
func (l *Log) Prompts(ctx context.Context, before int64, pages int, visit func(*api.Event, Prompt) bool) error {
	seen := map[string]bool{}
	return l.Back(ctx, before, pages, func(e *api.Event) bool {
		p, ok := PromptIn(e)
		if !ok || seen[p.UUID] {
			return true
		}
		seen[p.UUID] = true // it was sent, and the agent has repeated it
		return visit(e, p)
	})
}

// Reply reads the uuid of what the agent said last before an event, empty if there is nothing in so many pages.
func (l *Log) Reply(ctx context.Context, before int64, pages int) (uuid string, err error) {
	err = l.Back(ctx, before, pages, func(e *api.Event) bool {
		uuid = replyIn(e)
		return uuid == ""
	})
	return uuid, err
}

// ReplyAt reads the uuid of what the agent said in an event.
func (l *Log) ReplyAt(ctx context.Context, id string) (string, error) {
	_, seq := Position(id)
	events, err := l.Between(ctx, seq, seq)
	if err != nil {
		return "", err
	}
	for i := range events {
		if uuid := replyIn(&events[i]); uuid != "" {
			return uuid, nil
		}
	}
	return "", errors.New("the agent no longer knows this message; fork the whole conversation")
}
