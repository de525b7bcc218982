package claudetest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// A prompt is a user message that waits for its turn.
type prompt struct {
	uuid     string
	content  json.RawMessage
	text     string // the last text of the content
	priority string
	query    bool // it starts a turn
	literal  bool // no slash command
}

// command reports whether the prompt is a slash command.
func (p prompt) command() bool { return strings.HasPrefix(p.text, "/") && !p.literal }

// read reads the input to its end and acts upon it.
func (e *engine) read() {
	if e.flags.InputFormat != "stream-json" {
		if end := e.readText(); end != nil {
			e.cancel(end)
			return
		}
	} else if end := e.readLines(); end != nil {
		e.cancel(end)
		return
	}
	e.endInput()
}

// readLines reads the input to its end and acts upon each line. What is returned ends the process.
func (e *engine) readLines() *exit {
	lines := bufio.NewReaderSize(e.input, 64<<10)
	for e.ctx.Err() == nil {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			if end := e.handleLine(bytes.TrimSuffix(line, []byte("\n"))); end != nil {
				return end
			}
		}
		if err != nil {
			return nil //nolint:nilerr // the end of input, in good order or not: nothing more comes
		}
	}
	return nil
}

// handleLine acts upon a line of the controller. What is returned ends the process.
func (e *engine) handleLine(line []byte) *exit {
	e.record.add(true, line)
	line = bytes.TrimSuffix(line, []byte("\r"))
	header, end := e.parse(line)
	if end != nil || header == nil {
		return end
	}
	if e.flags.AwaitInitialize && !e.initialized(header.Type, line) {
		return &exit{code: 1, says: "Error: --await-initialize requires the initialize control request as the first stdin line"}
	}
	switch header.Type {
	case "user":
		return e.takePrompt(line)
	case "control_request":
		return e.takeRequest(line)
	case "control_response":
		return e.takeAnswer(line)
	case "update_environment_variables":
		return e.takeEnvironment(line)
	case "control_cancel_request":
		if e.quirks.StrictLines {
			return unknownType(line)
		}
		e.takeCancel(line)
	case "keep_alive":
	default:
		if e.quirks.StrictLines {
			return unknownType(line)
		}
	}
	return nil
}

// initialized reports whether initialize has come, or is this very line.
func (e *engine) initialized(kind string, line []byte) bool {
	e.mu.Lock()
	done := e.body != nil
	e.mu.Unlock()
	var first struct{ Request struct{ Subtype string } }
	return done || kind == "control_request" && json.Unmarshal(line, &first) == nil && first.Request.Subtype == "initialize"
}

// lineHeader is what decides about a line.
type lineHeader struct {
	Type string `json:"type"`
}

// parse reads a line's header. Nil without an exit is a line to be ignored.
func (e *engine) parse(line []byte) (*lineHeader, *exit) {
	const mark = "\uFEFF"
	switch {
	case len(line) == 0:
		if e.quirks.StrictLines {
			return nil, badLine(line, "Unexpected end of JSON input")
		}
		return nil, nil
	case len(bytes.TrimSpace(line)) == 0:
		if e.quirks.StrictBlank {
			return nil, badLine(line, "Unexpected end of JSON input")
		}
		return nil, nil
	case bytes.HasPrefix(line, []byte(mark)):
		if e.quirks.StrictBlank {
			return nil, badLine(line, "Unexpected token")
		}
		line = line[len(mark):]
	}
	if !utf8.Valid(line) {
		line = bytes.ToValidUTF8(line, []byte("\uFFFD"))
	}
	if !json.Valid(line) {
		return nil, badLine(line, "is not valid JSON")
	}
	trimmed := bytes.TrimSpace(line)
	if string(trimmed) == "null" {
		return nil, badLine(line, "Cannot read properties of null")
	}
	var header struct {
		Type json.RawMessage `json:"type"`
	}
	if trimmed[0] != '{' || json.Unmarshal(trimmed, &header) != nil {
		if e.quirks.StrictLines {
			return nil, unknownType(line)
		}
		return nil, nil
	}
	var kind string
	_ = json.Unmarshal(header.Type, &kind) // a type that is no string is an unknown one
	return &lineHeader{Type: kind}, nil
}

func badLine(line []byte, why string) *exit {
	return &exit{code: 1, says: fmt.Sprintf("Error parsing streaming input line: %.200s: SyntaxError: %s", line, why)}
}

func unknownType(line []byte) *exit {
	return &exit{code: 1, says: fmt.Sprintf("Error parsing streaming input line: %.200s: Error: unexpected message type", line)}
}

// takePrompt queues a user message.
func (e *engine) takePrompt(line []byte) *exit {
	var user struct {
		UUID        string          `json:"uuid"`
		Message     json.RawMessage `json:"message"`
		Priority    string          `json:"priority"`
		ShouldQuery *bool           `json:"shouldQuery"`
		Literal     bool            `json:"client_composed"`
	}
	if err := json.Unmarshal(bytes.ToValidUTF8(line, []byte("\uFFFD")), &user); err != nil {
		// Fields of the wrong type do not matter as long as there is a message.
		var only struct {
			Message json.RawMessage `json:"message"`
		}
		if json.Unmarshal(line, &only) != nil {
			return badLine(line, "Expected a message")
		}
		user.Message = only.Message
	}
	var message struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	if !has(user.Message) || json.Unmarshal(user.Message, &message) != nil || message.Role != "user" {
		return &exit{code: 1, says: fmt.Sprintf("Error: Expected message role 'user', got '%.40s'", message.Role)}
	}
	p := prompt{uuid: user.UUID, content: message.Content, priority: user.Priority, query: user.ShouldQuery == nil || *user.ShouldQuery, literal: user.Literal}
	e.mu.Lock()
	e.prompted = true
	duplicate := p.uuid != "" && e.seen[p.uuid]
	if p.uuid != "" {
		e.seen[p.uuid] = true
	}
	e.mu.Unlock()
	shape := contentShape(message.Content)
	switch {
	case shape == contentBad && e.quirks.StrictContent:
		return e.badContent()
	case shape == contentBad:
		return nil
	case shape == contentMissing && e.quirks.StrictContent:
		return e.badContent()
	case e.quirks.PrioritySwallows && !slices.Contains([]string{"", "now", "next", "later"}, p.priority):
		return nil
	case duplicate:
		// Swallowed, but echoed once more where echoes were asked for.
		if e.flags.ReplayUserMessages {
			e.emit(e.echo(p, false))
		}
		return nil
	}
	p.text = lastText(p.content)
	e.enqueue(p)
	return nil
}

// enqueue lets a prompt wait for its turn. That it waits is told before anything can come of it.
func (e *engine) enqueue(p prompt) {
	if e.quirks.LifecycleLines && p.uuid != "" {
		e.tellState("running")
		e.lifecycle(p.uuid, "queued")
	}
	e.mu.Lock()
	urgent := e.quirks.PriorityNow && p.priority == "now" && e.turn != nil
	running := e.turn
	at := len(e.queue)
	if urgent {
		at = 0
	}
	e.queue = slices.Insert(e.queue, at, p)
	e.overtake()
	e.signal()
	e.mu.Unlock()
	if urgent {
		running.replace()
	}
}

// The shapes of a prompt's content.
const (
	contentGood = iota
	contentMissing
	contentBad
)

func contentShape(content json.RawMessage) int {
	if !has(content) {
		return contentMissing
	}
	switch content[0] {
	case '"':
		return contentGood
	case '[':
		var blocks []struct {
			Type   string          `json:"type"`
			Text   *string         `json:"text"`
			Source json.RawMessage `json:"source"`
		}
		var raw []json.RawMessage
		if json.Unmarshal(content, &blocks) != nil || json.Unmarshal(content, &raw) != nil {
			return contentBad
		}
		for i, block := range blocks {
			if string(raw[i]) == "null" || block.Type == "text" && block.Text == nil {
				return contentBad
			}
			if block.Type == "image" && !has(block.Source) {
				return contentMissing
			}
		}
		return contentGood
	}
	return contentBad
}

// badContent ends the process as a prompt of the wrong shape does: with a result, then at once.
func (e *engine) badContent() *exit {
	t := e.newTurn(nil)
	e.emitResult(t, ending{subtype: "error_during_execution", failed: true, errors: []string{"the prompt's content is of the wrong shape"}})
	return &exit{code: 1, says: "TypeError: the prompt's content is of the wrong shape"}
}

// lastText returns the last text of a prompt's content.
func lastText(content json.RawMessage) string {
	parts, err := parseContent(content)
	if err != nil {
		return ""
	}
	for _, part := range slices.Backward(parts) {
		if part.Type == "text" {
			return part.Text
		}
	}
	return ""
}

// takeAnswer hands an answer to the request that waits for it.
func (e *engine) takeAnswer(line []byte) *exit {
	var parsed struct {
		Response *struct {
			Subtype   string          `json:"subtype"`
			RequestID string          `json:"request_id"`
			Response  json.RawMessage `json:"response"`
			Error     string          `json:"error"`
		} `json:"response"`
	}
	if json.Unmarshal(line, &parsed) != nil || parsed.Response == nil {
		if e.quirks.StrictAnswers {
			return &exit{code: 1, says: "TypeError: Cannot read properties of undefined (reading 'request_id')"}
		}
		return nil
	}
	r := parsed.Response
	if e.flags.ReplayUserMessages {
		e.writeLine(bytes.Clone(line), "") // every version echoes answers too
	}
	e.answered(r.RequestID, answerBody{subtype: r.Subtype, body: r.Response, message: r.Error})
	return nil
}

// takeEnvironment sets variables.
func (e *engine) takeEnvironment(line []byte) *exit {
	var update struct {
		Variables map[string]string `json:"variables"`
	}
	if json.Unmarshal(line, &update) != nil || update.Variables == nil {
		if e.quirks.StrictAnswers {
			return &exit{code: 1, says: "TypeError: Cannot convert undefined or null to object"}
		}
		return nil
	}
	if e.quirks.EnvironmentUpdates {
		e.mu.Lock()
		defer e.mu.Unlock()
		maps.Copy(e.env, update.Variables)
	}
	return nil
}
