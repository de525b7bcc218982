package main

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/switchboard-dev/switchboard/internal/terminal"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

// view returns how lists are drawn on standard output.
func (e *env) view(quiet bool) *terminal.View {
	return &terminal.View{
		Styles: paint.Detect(e.stdout, e.getenv, e.color).Styles(), Terminal: isTerminal(e.stdout), Headings: !quiet,
		Now: time.Now(), Home: e.getenv("HOME"),
	}
}

// writeLines writes lines.
func writeLines(w io.Writer, lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
	return err
}

// writeJSON writes one JSON document as the interface has it: indented for a person, in a line for a program.
func (e *env) writeJSON(value any) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if isTerminal(e.stdout) {
		encoder.SetIndent("", "  ")
	}
	if err := encoder.Encode(value); err != nil {
		return err
	}
	_, err := e.stdout.Write(paint.CleanJSON(text.Bytes()))
	return err
}

// A harmlessWriter writes JSON, whole documents at a time, as [paint.CleanJSON] has it.
type harmlessWriter struct{ w io.Writer }

// Write writes them.
func (h harmlessWriter) Write(p []byte) (int, error) {
	if _, err := h.w.Write(paint.CleanJSON(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// A cleanWriter makes what an agent wrote harmless for a terminal, line by line. Close writes what is left of the last one.
type cleanWriter struct {
	w    io.Writer
	rest []byte
}

// cleanMost is how much of a line is kept back for its end, so that a long one needs no memory.
const cleanMost = 1 << 16

// Write writes the lines that are complete.
func (c *cleanWriter) Write(p []byte) (int, error) {
	c.rest = append(c.rest, p...)
	end := bytes.LastIndexByte(c.rest, '\n') + 1
	if end == 0 && len(c.rest) > cleanMost {
		for end = len(c.rest) - 1; end > 0 && !utf8.RuneStart(c.rest[end]); end-- { // the last character may not be complete
		}
	}
	if end > 0 {
		if _, err := io.WriteString(c.w, paint.Clean(string(c.rest[:end]))); err != nil {
			return 0, err
		}
		c.rest = append(c.rest[:0], c.rest[end:]...)
	}
	return len(p), nil
}

// Close writes the rest.
func (c *cleanWriter) Close() error {
	_, err := io.WriteString(c.w, paint.Clean(string(c.rest)))
	c.rest = nil
	return err
}
