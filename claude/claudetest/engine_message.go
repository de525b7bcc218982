package claudetest

import (
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// A messageWriter turns the events of the model's stream into lines: one assistant line per block, and the events themselves if they were asked
// for. The line of a block comes before the event of its end.
type messageWriter struct {
	engine *engine
	turn   *turn
	thread *thread

	message struct {
		ID    string `json:"id"`
		Model string `json:"model"`
		Usage usage  `json:"usage"`
	}
	block struct {
		Type  string `json:"type"`
		ID    string `json:"id"`
		Name  string `json:"name"`
		Data  string `json:"data"`
		Input json.RawMessage
	}
	lineIDs []string        // ids of the lines so far
	end     string          // stop reason of a message that came in one piece, which its lines tell
	text    strings.Builder // also thoughts and the JSON of an input
	sign    string
	reply   modelMessage
}

// event takes one event.
func (w *messageWriter) event(event modelEvent) error {
	var parsed struct {
		Message      json.RawMessage `json:"message"`
		ContentBlock json.RawMessage `json:"content_block"`
		Delta        struct {
			Type        string  `json:"type"`
			Text        string  `json:"text"`
			Thinking    string  `json:"thinking"`
			Signature   string  `json:"signature"`
			PartialJSON string  `json:"partial_json"`
			StopReason  *string `json:"stop_reason"`
		} `json:"delta"`
		Usage *usage `json:"usage"`
	}
	if err := json.Unmarshal(event.data, &parsed); err != nil {
		return &apiFailure{midway: true, message: "the stream is malformed", cause: err}
	}
	switch event.kind {
	case "message_start":
		if err := json.Unmarshal(parsed.Message, &w.message); err != nil {
			return &apiFailure{midway: true, message: "the stream is malformed", cause: err}
		}
		w.turn.mu.Lock()
		if w.turn.first == 0 {
			w.turn.first = time.Since(w.turn.begin)
		}
		w.turn.mu.Unlock()
	case "content_block_start":
		w.block.Input = nil
		if err := json.Unmarshal(parsed.ContentBlock, &w.block); err != nil {
			return &apiFailure{midway: true, message: "the stream is malformed", cause: err}
		}
		w.text.Reset()
		w.sign = ""
	case "content_block_delta":
		w.text.WriteString(parsed.Delta.Text + parsed.Delta.Thinking + parsed.Delta.PartialJSON)
		w.sign += parsed.Delta.Signature
		w.notePartial()
		w.tellThinking(parsed.Delta.Thinking)
	case "content_block_stop":
		w.endBlock()
	case "message_delta":
		if parsed.Delta.StopReason != nil {
			w.reply.stop = *parsed.Delta.StopReason
		}
		if parsed.Usage != nil {
			w.message.Usage.OutputTokens = parsed.Usage.OutputTokens
		}
	}
	if w.engine.flags.IncludePartialMessages && w.thread.parent == "" {
		w.engine.emit(w.engine.streamLine(w.thread, event, w.message.ID))
	}
	return nil
}

// notePartial remembers what an interrupt would cut off.
func (w *messageWriter) notePartial() {
	if w.thread.parent != "" || w.block.Type != "text" {
		return
	}
	w.turn.mu.Lock()
	w.turn.partial = w.text.String()
	w.turn.mu.Unlock()
}

// tellThinking tells how long a thought has become.
func (w *messageWriter) tellThinking(more string) {
	if !w.engine.quirks.ThinkingLines || more == "" || w.thread.parent != "" {
		return
	}
	const perToken = 4
	tokens := func(length int) int { return (length + perToken - 1) / perToken }
	now := tokens(w.text.Len())
	w.engine.emit(w.engine.systemLine("thinking_tokens", "estimated_tokens", now, "estimated_tokens_delta", now-tokens(w.text.Len()-len(more))))
}

// endBlock writes the line of a finished block.
func (w *messageWriter) endBlock() {
	var block members
	switch w.block.Type {
	case "text":
		block = members{"type", "text", "text", w.text.String()}
		if w.thread.parent == "" {
			w.turn.mu.Lock()
			w.turn.text = w.text.String()
			w.turn.mu.Unlock()
		}
	case "thinking":
		block = members{"type", "thinking", "thinking", w.text.String(), "signature", w.sign}
	case "redacted_thinking":
		block = members{"type", "redacted_thinking", "data", w.block.Data}
	case "tool_use":
		input := json.RawMessage(w.text.String())
		if !json.Valid(input) || len(input) == 0 {
			input = json.RawMessage("{}")
		}
		w.useTool(input)
		return
	}
	w.say(block)
	if w.block.Type == "text" {
		w.engine.hookDisplay(w.turn, w.thread, w.text.String())
	}
}

// useTool adds a tool call, with what the CLI adds to its input.
func (w *messageWriter) useTool(input json.RawMessage) {
	call := ToolCall{ID: w.block.ID, Name: w.block.Name, Input: w.engine.completeInput(w.thread, w.block.Name, input)}
	w.reply.tools = append(w.reply.tools, call)
	w.say(members{"type", "tool_use", "id", call.ID, "name", call.Name, "input", call.Input})
}

func (w *messageWriter) say(block members) {
	raw := json.RawMessage(plainJSON(block))
	w.reply.content = append(w.reply.content, raw)
	w.turn.mu.Lock()
	w.turn.partial = ""
	w.turn.mu.Unlock()
	tell := func() { w.engine.emit(w.engine.assistantLine(w, []json.RawMessage{raw})) }
	switch {
	case w.thread.agent != nil:
		w.engine.tellAgentBlock(w.thread.agent, block, w.message.Usage, tell)
	case w.thread.parent == "":
		tell()
	}
}

// whole takes a message that came in one piece.
func (w *messageWriter) whole(raw json.RawMessage) error {
	if err := json.Unmarshal(raw, &w.message); err != nil {
		return &apiFailure{midway: true, message: "the answer is malformed", cause: err}
	}
	var rest struct {
		Content    []json.RawMessage `json:"content"`
		StopReason string            `json:"stop_reason"`
	}
	if err := json.Unmarshal(raw, &rest); err != nil {
		return &apiFailure{midway: true, message: "the answer is malformed", cause: err}
	}
	w.reply.stop, w.end = rest.StopReason, rest.StopReason
	for _, content := range rest.Content {
		var block struct {
			Type, ID, Name, Text, Thinking, Signature, Data string
			Input                                           json.RawMessage
		}
		if err := json.Unmarshal(content, &block); err != nil {
			return &apiFailure{midway: true, message: "the answer is malformed", cause: err}
		}
		w.block.Type, w.block.ID, w.block.Name, w.block.Data, w.sign = block.Type, block.ID, block.Name, block.Data, block.Signature
		w.text.Reset()
		w.text.WriteString(block.Text + block.Thinking)
		if block.Type == "tool_use" {
			w.text.Write(block.Input)
		}
		w.endBlock()
	}
	return nil
}

// finish closes a complete message.
func (w *messageWriter) finish() (*modelMessage, error) {
	w.reply.id = w.message.ID
	w.engine.spend(w.turn, w.thread, w.message.Model, w.message.Usage)
	if w.thread.parent == "" {
		w.turn.mu.Lock()
		w.turn.stopped, w.turn.partial = w.reply.stop, ""
		w.turn.mu.Unlock()
		w.engine.mu.Lock()
		w.engine.context = w.message.Usage.total()
		w.engine.mu.Unlock()
		w.engine.keepAssistant(w.thread, w)
	}
	return &w.reply, nil
}

// closeCut ends the partial message of a stream that broke, where the version does that.
func (w *messageWriter) closeCut(err error) {
	var failure *apiFailure
	if errors.As(err, &failure) && failure.midway && w.message.ID != "" && w.engine.quirks.CutCloses && w.engine.flags.IncludePartialMessages && w.thread.parent == "" {
		w.engine.emit(w.engine.streamLine(w.thread, modelEvent{kind: "message_stop", data: json.RawMessage(`{"type":"message_stop"}`)}, w.message.ID))
	}
}

// abandon deals with a message that was broken off: an interrupt may leave its text.
func (w *messageWriter) abandon(err error) {
	w.closeCut(err)
	stopped := errors.Is(err, errInterrupted) || errors.Is(err, errReplaced)
	if !stopped || !w.engine.quirks.InterruptTellsPartial || w.thread.parent != "" || w.text.Len() == 0 || w.block.Type != "text" {
		return
	}
	var more members
	more = more.when(w.engine.quirks.PromptIDs, "aborted", true)
	w.engine.emit(w.engine.assistantLine(w, []json.RawMessage{plainJSON(members{"type", "text", "text", w.text.String()})}, more...))
}
