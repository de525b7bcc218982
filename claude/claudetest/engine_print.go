package claudetest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"time"
)

// A printer stands in for the controller of a CLI that is used as a program for people: claude -p "a prompt". It keeps what would be
// lines, and prints at the end what was asked for: the text of the result, the result, or everything.
type printer struct {
	w       *bufio.Writer
	format  string // "text" or "json"
	verbose bool
	lines   []json.RawMessage
	result  []byte
}

func (p *printer) writeLine(line []byte, _ string) (<-chan struct{}, error) {
	var header struct{ Type string }
	if json.Unmarshal(line, &header) == nil && header.Type == "result" {
		p.result = bytes.Clone(line)
	}
	if p.verbose && p.format == "json" && header.Type != "stream_event" {
		p.lines = append(p.lines, bytes.Clone(line))
	}
	return nil, nil
}

// print writes what the run came to.
func (p *printer) print() {
	defer func() { _ = p.w.Flush() }() // the process ends anyway
	if p.result == nil {
		return
	}
	var out []byte
	switch {
	case p.format == "json" && p.verbose:
		out = plainJSON(p.lines)
	case p.format == "json":
		out = p.result
	default:
		out = []byte(p.text())
	}
	_, _ = p.w.Write(append(out, '\n')) // Flush tells
}

// text is the result in words.
func (p *printer) text() string {
	var result struct {
		Subtype string
		Result  string
		Errors  []string
	}
	_ = json.Unmarshal(p.result, &result) // of our own making
	switch result.Subtype {
	case "success":
		return result.Result
	case "error_max_turns":
		return "Error: " + strings.Replace(strings.Join(result.Errors, ""), "maximum number of turns", "max turns", 1)
	case "error_during_execution":
		return "Execution error"
	}
	return "Error: " + strings.Join(result.Errors, "; ")
}

// readText reads the prompt of a CLI that takes no lines: the argument, and what is on standard input.
func (e *engine) readText() *exit {
	given := strings.Join(e.flags.Args, " ")
	piped := make(chan []byte, 1)
	go func() { // ends with the input, as the reader of lines does
		text, _ := io.ReadAll(e.input) // what was read counts
		piped <- text
	}()
	// A caller that gives a prompt need not close the input: newer versions wait for it for three seconds.
	var patience <-chan time.Time
	if given != "" {
		timer := time.NewTimer(3 * time.Second)
		defer timer.Stop()
		patience = timer.C
	}
	var text []byte
	select {
	case text = <-piped:
	case <-patience:
	case <-e.ctx.Done():
		return nil
	}
	parts := []string{}
	for _, part := range []string{given, string(text)} {
		if strings.TrimSpace(part) != "" {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return &exit{code: 1, says: "Error: Input must be provided either through stdin or as a prompt argument when using --print"}
	}
	content := strings.Join(parts, "\n")
	e.mu.Lock()
	e.prompted = true
	e.mu.Unlock()
	e.enqueue(prompt{content: plainJSON(content), text: content, query: true})
	return nil
}
