package claudetest

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// simOnly are the directives that only the simulated CLI obeys; the model skips them.
func simOnly(name string) bool {
	switch name {
	case "result", "fails", "takes", "form", "line", "every", "flood":
		return true
	}
	return false
}

// toolOutcomes reads what a prompt's directives say about its tool calls, by the number of the call.
func toolOutcomes(prompt string) map[int]ToolOutcome {
	outcomes := map[int]ToolOutcome{}
	call := -1
	for line := range strings.Lines(prompt) {
		name, argument, found := directive(line)
		if !found {
			continue
		}
		if name == "tool" {
			call++
		}
		if call < 0 || name != "result" && name != "fails" && name != "takes" && name != "form" {
			continue
		}
		outcome := outcomes[call]
		switch name {
		case "takes":
			if d, err := time.ParseDuration(argument); err == nil && d > 0 {
				outcome.Takes = min(d, time.Hour)
			}
		case "form":
			if json.Valid([]byte(argument)) {
				outcome.Form = json.RawMessage(argument)
			}
		default:
			text, err := directiveText(argument)
			if err != nil {
				text = argument
			}
			outcome.Text, outcome.Failed = text, name == "fails"
		}
		outcomes[call] = outcome
	}
	return outcomes
}

// simOnly obeys the directives that have nothing to do with the model. It reports whether the model is asked as well.
func (e *engine) simOnly(t *turn, text string) bool {
	others, own := false, false
	for line := range strings.Lines(text) {
		name, argument, found := directive(line)
		switch {
		case !found:
		case name == "line":
			own = true
			e.writeLine([]byte(argument), "")
		case name == "every":
			own = true
			e.every()
		case name == "flood":
			own = true
			count, size := floodSize(argument)
			e.flood(t, count, size)
		case !simOnly(name):
			others = true
		}
	}
	if own && !others {
		e.emitResult(t, ending{subtype: "success", terminal: "completed"})
		return false
	}
	return true
}

// The bounds of a flood.
const (
	maxFloodLines = 100_000_000
	maxFloodSize  = 16 << 20
)

func floodSize(argument string) (count, size int) {
	first, second, _ := strings.Cut(argument, " ")
	count, _ = strconv.Atoi(first) // what is no number is none
	size, _ = strconv.Atoi(strings.TrimSpace(second))
	return max(0, min(count, maxFloodLines)), max(0, min(size, maxFloodSize))
}

// flood writes many lines as fast as the controller takes them. They are counted in the record and not kept.
func (e *engine) flood(t *turn, count, size int) {
	session := e.conversation()
	head := `{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"`
	tail := `"}},"session_id":"` + session + `","parent_tool_use_id":null,"uuid":"`
	const uuidLength = 36
	fill := strings.Repeat("x", max(0, size-len(head)-len(tail)-uuidLength-len(`"}`)-1))
	e.writing.Lock()
	defer e.writing.Unlock()
	stream, direct := e.out.(*streamCarrier)
	line := make([]byte, 0, len(head)+len(fill)+len(tail)+uuidLength+3)
	for n := range count {
		if t.ctx.Err() != nil {
			break
		}
		line = append(append(append(line[:0], head...), fill...), tail...)
		line = fmt.Appendf(line, `00000000-0000-4000-8000-%012d"}`, n)
		var err error
		if direct {
			_, err = stream.w.Write(append(line, '\n'))
		} else {
			_, err = e.out.writeLine(line, "")
		}
		if err != nil {
			e.cancel(&exit{code: 1, says: fmt.Sprintf("writing to the controller: %v", err)})
			return
		}
	}
	if direct {
		_ = stream.w.Flush() // the next line meets the same error
	}
	e.record.skip(int64(count))
}
