package claudetest

import (
	"bytes"
	_ "embed" // for the lines
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// simOnly are the directives that only the simulated CLI obeys; the model skips them.
func simOnly(name string) bool {
	switch name {
	case "result", "fails", "takes", "form", "line", "every", "flood", "play":
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
		case name == "play":
			own = true
			e.playFile(t, argument)
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
	tail := `"}},"session_id":"` + session + `","parent_tool_use_id":null,"uuid":"00000000-0000-4000-8000-`
	const digits, end = 12, `"}` + "\n"
	fill := strings.Repeat("x", max(0, size-len(head)-len(tail)-digits-len(end)))
	line := head + fill + tail + strings.Repeat("0", digits) + end
	// Many lines are written at once, and only their numbers are made anew, so that the controller is what takes the time.
	many := min(max(1, floodBlock/len(line)), max(1, count))
	block := []byte(strings.Repeat(line, many))
	e.pour(t, int64(count), false, func(from int64) (lines []byte, n int64) {
		n = min(int64(many), int64(count)-from)
		for i := range n {
			number := block[int(i+1)*len(line)-len(end)-digits:][:digits]
			for k, left := digits-1, from+i; k >= 0; k, left = k-1, left/10 {
				number[k] = '0' + byte(left%10)
			}
		}
		return block[:int(n)*len(line)], n
	})
}

// playFile writes the lines of a file, over and over, as fast as the controller takes them: many at once, or with the word "singly" each by itself, as
// real CLIs do. They are counted in the record and not kept.
func (e *engine) playFile(t *turn, argument string) {
	argument, singly := strings.CutPrefix(argument, "singly ")
	first, path, _ := strings.Cut(argument, " ")
	times, _ := strconv.Atoi(first) // what is no number is none
	text, err := os.ReadFile(strings.TrimSpace(path))
	if err != nil {
		_, _ = fmt.Fprintf(e.stderr, "@play: %v\n", err)
		return
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		text = append(text, '\n')
	}
	lines := int64(bytes.Count(text, []byte("\n")))
	// A short file is written several times at once.
	many := int64(1)
	if len(text) > 0 {
		many = int64(max(1, floodBlock/len(text)))
	}
	block := bytes.Repeat(text, int(many))
	total := lines * int64(max(0, min(times, maxFloodLines)))
	e.pour(t, total, singly, func(from int64) ([]byte, int64) {
		n := min(many, (total-from)/lines)
		return block[:n*int64(len(text))], n * lines
	})
}

// floodBlock is about how many bytes are written at once in a flood.
const floodBlock = 256 << 10

// pour writes so many lines, in pieces that it gets from next: each ends with a line end. next is told how many there were.
func (e *engine) pour(t *turn, count int64, singly bool, next func(from int64) (lines []byte, n int64)) {
	e.writing.Lock()
	defer e.writing.Unlock()
	written := int64(0)
	for written < count && t.ctx.Err() == nil {
		lines, n := next(written)
		if err := e.pourOut(lines, singly); err != nil {
			e.cancel(&exit{code: 1, says: fmt.Sprintf("writing to the controller: %v", err)})
			return
		}
		written += n
	}
	e.record.skip(count)
}

func (e *engine) pourOut(lines []byte, singly bool) error {
	if stream, direct := e.out.(*streamCarrier); direct && !singly {
		if _, err := stream.w.Write(lines); err != nil {
			return err
		}
		return stream.w.Flush()
	}
	for line := range bytes.Lines(lines) {
		if _, err := e.out.writeLine(bytes.TrimSuffix(line, []byte("\n")), ""); err != nil {
			return err
		}
	}
	return nil
}

// everyLine has a line of every kind that a CLI may write, also of those that none was ever seen to write. SESSION and UUID stand for ids.
//
//go:embed every.ndjson
var everyLine string

// every writes one line of every kind. Requests among them are taken back, as no goroutine waits for their answers.
func (e *engine) every() {
	session := []byte(e.conversation())
	for line := range bytes.Lines([]byte(everyLine)) {
		line = bytes.ReplaceAll(bytes.TrimSuffix(line, []byte("\n")), []byte("SESSION"), session)
		uuid := ""
		if bytes.Contains(line, []byte(`"uuid":"UUID"`)) {
			uuid = wire.NewUUID()
			line = bytes.ReplaceAll(line, []byte(`"uuid":"UUID"`), []byte(`"uuid":"`+uuid+`"`))
		}
		var request struct {
			Type      string          `json:"type"`
			RequestID json.RawMessage `json:"request_id"`
		}
		_ = json.Unmarshal(line, &request) // of our own making
		e.writeLine(line, uuid)
		if request.Type == "control_request" {
			e.emit(members{"type", "control_cancel_request", "request_id", request.RequestID})
		}
	}
}
