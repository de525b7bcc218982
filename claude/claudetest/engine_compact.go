package claudetest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/claude/claudetest/internal/history"
	"github.com/switchboard-dev/switchboard/wire"
)

// compact puts a summary in the place of the conversation.
func (c *command) compact(t *turn) {
	e := c.engine
	messages := e.main.snapshot()
	if len(messages) == 0 {
		c.outcome = members{"local_command_outcome", members{"kind", "failed"}}
		c.answer(t, "stderr", "Error: No messages to compact", "")
		return
	}
	if !e.quirks.HookPostCompact {
		e.hookCompact(t, "manual", c.args)
	}
	e.tellCompacting(members{"status", "compacting"})
	begin := time.Now()
	e.mu.Lock()
	before, only := e.context, e.compacted == len(messages)
	e.mu.Unlock()
	if only && e.quirks.CommandsUnknownToModel {
		const why = "Not enough messages to compact."
		e.tellCompacting(members{"status", nil, "compact_result", "failed", "compact_error", why})
		c.say(t, why)
		return
	}
	if e.quirks.HookPostCompact {
		e.hookCompact(t, "manual", c.args)
	}
	text, err := c.summarize(t)
	if err != nil {
		c.failed(t, err)
		return
	}
	e.hookCompacted(t, "manual", text)
	end := members{"status", nil}
	e.tellCompacting(end.when(e.quirks.CommandsSpeak, "compact_result", "success"))
	e.emit(e.initLine(t))
	c.tellSummary(before, time.Since(begin), text)
	if e.quirks.CommandsCountAll {
		const own = 4 // the boundary, the summary and the words around them
		e.mu.Lock()
		e.said += own
		e.mu.Unlock()
	}
	c.finish(t, "")
}

// tellCompacting tells that the conversation is being summed up, or how that ended.
func (e *engine) tellCompacting(about members) {
	line := members{"type", "system", "subtype", "status"}
	e.emit(line.with(about...).with("session_id", e.conversation(), "uuid", wire.NewUUID()))
}

// summarize asks the model for the summary.
func (c *command) summarize(t *turn) (string, error) {
	e := c.engine
	th := &thread{messages: e.main.snapshot()}
	th.add("user", "Your task is to "+summary+". "+c.args)
	w := &messageWriter{engine: e, turn: t, thread: &thread{parent: "compact"}} // its lines are not shown, its costs are booked
	whole, err := e.brain.whole(t.ctx, e.modelRequest(th))
	if err == nil {
		err = w.whole(whole)
	}
	if err != nil {
		return "", err
	}
	e.spend(t, w.thread, w.message.Model, w.message.Usage)
	var text strings.Builder
	for _, raw := range w.reply.content {
		text.WriteString(lastText(plainJSON([]any{raw})))
	}
	return text.String(), nil
}

// failed ends a compaction that the model did not help with, or that was interrupted.
func (c *command) failed(t *turn, err error) {
	e := c.engine
	why := "Error during compaction: " + err.Error()
	if errors.Is(err, errInterrupted) {
		why = "Compaction canceled."
	}
	end := members{"status", nil}
	e.tellCompacting(end.when(e.quirks.CommandsSpeak, "compact_result", "failed", "compact_error", why))
	c.outcome = members{"local_command_outcome", members{"kind", "failed"}}
	c.answer(t, "stderr", why, "")
}

// tellSummary writes the lines about the summary and lets the conversation go on from it.
func (c *command) tellSummary(before int, took time.Duration, text string) {
	e := c.engine
	const perToken = 4
	after := len(text) / perToken
	e.mu.Lock()
	e.dropped += max(before-after, 0)
	dropped := e.dropped
	e.mu.Unlock()
	about := members{"trigger", "manual", "pre_tokens", before}
	about = about.when(e.quirks.CommandsSpeak, "post_tokens", after).
		when(e.quirks.CommandsUnknownToModel, "cumulative_dropped_tokens", dropped).
		when(e.quirks.CommandsSpeak, "duration_ms", took.Milliseconds())
	boundary := members{"type", "system", "subtype", "compact_boundary", "session_id", e.conversation(), "uuid", wire.NewUUID(), "compact_metadata", about}
	e.emit(boundary.when(e.quirks.CommandsUnknownToModel, "logical_parent_uuid", wire.NewUUID()))
	content := "This session is being continued from a previous conversation that ran out of context. The summary below covers the earlier portion of the conversation.\n\n" + text
	uuid := wire.NewUUID()
	line := members{"type", "user", "message", members{"role", "user", "content", content}, "session_id", e.conversation(), "parent_tool_use_id", nil, "uuid", uuid}
	e.emit(line.when(e.quirks.UserTimes, "timestamp", stamp()).with("isReplay", false).when(e.quirks.CommandsSpeak, "isSynthetic", true))
	e.emit(e.printed("stdout", "Compacted "))
	e.main.replace(plainJSON(members{"role", "user", "content", content}))
	e.mu.Lock()
	e.compacted = 1
	e.context = after
	e.mu.Unlock()
	entries := []history.Entry{
		{Type: history.System, Compact: &history.Compact{Trigger: "manual", PreTokens: before, PostTokens: after, DurationMS: int(took.Milliseconds())}},
		{Type: history.User, UUID: uuid, Message: plainJSON(members{"role", "user", "content", content}), CompactSummary: true},
	}
	for _, entry := range entries {
		entry.Session = e.conversation()
		if err := e.store.Append(entry); err != nil {
			_, _ = fmt.Fprintf(e.stderr, "writing the transcript: %v\n", err)
		}
	}
}
