package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
)

// A transcript prints a conversation for a person.
type transcript struct {
	out io.Writer
	raw bool
	err error // the first error of writing
}

func (v *transcript) printf(format string, args ...any) {
	if _, err := fmt.Fprintf(v.out, format, args...); err != nil && v.err == nil {
		v.err = fmt.Errorf("printing the transcript: %w", err)
	}
}

// title says what is real here and what is not.
func (v *transcript) title(version wire.Version, pid int) {
	v.printf("Claude Code %s (real, process %d) with a simulated model — no account, nothing leaves this machine.\n", version, pid)
	v.printf("Policy of this program: %s.\n\n", policy)
}

// line prints a line that was sent or received.
func (v *transcript) line(sent bool, line []byte) {
	if v.raw {
		mark := "<"
		if sent {
			mark = ">"
		}
		v.printf("%s %s\n", mark, line)
		return
	}
	message, err := wire.Decode(line)
	if err != nil {
		v.printf("  (not a message: %.80s)\n", line)
		return
	}
	switch m := message.(type) { //nolint:gochecksumtype // the rest is not for a short transcript
	case *wire.User:
		v.user(sent, m)
	case *wire.Assistant:
		v.assistant(m)
	case *wire.Result:
		v.printf("  turn    %s after %d steps, $%.4f so far (of simulated money)\n\n", m.Subtype, m.NumTurns, m.TotalCostUSD)
	}
}

func (v *transcript) user(sent bool, m *wire.User) {
	if sent {
		v.printf("You       %s\n", m.Message.Content.Text)
		return
	}
	for _, block := range m.Message.Content.Blocks {
		if result, ok := block.(*wire.ToolResultBlock); ok {
			mark := "result"
			if result.IsError {
				mark = "refused"
			}
			v.printf("  %-7s %s\n", mark, short(plain(result.Content)))
		}
	}
}

func (v *transcript) assistant(m *wire.Assistant) {
	for _, block := range m.Message.Content {
		switch b := block.(type) { //nolint:gochecksumtype // the script says no others
		case *wire.TextBlock:
			v.printf("Claude    %s\n", b.Text)
		case *wire.ToolUseBlock:
			v.printf("  tool    %s %s\n", b.Name, short(compact(b.Input)))
		}
	}
}

// decision prints how a question was answered.
func (v *transcript) decision(q *wire.CanUseToolRequest, decision wire.PermissionResult, why string) {
	if v.raw {
		return
	}
	word := "refused"
	if _, ok := decision.(*wire.Allow); ok {
		word = "allowed"
	}
	v.printf("  asked   may it use %s? %s by this program: %s\n", q.ToolName, word, why)
}

// end says that all went well.
func (v *transcript) end(requests int) {
	v.printf("The conversation went as the script has it. The simulated model was asked %d times.\n", requests)
}

// plain returns the text of content.
func plain(content wire.Content) string {
	texts := []string{content.Text}
	for _, block := range content.Blocks {
		if text, ok := block.(*wire.TextBlock); ok {
			texts = append(texts, text.Text)
		}
	}
	return strings.TrimSpace(strings.Join(texts, " "))
}

func compact(raw json.RawMessage) string {
	var buf bytes.Buffer
	if err := json.Compact(&buf, raw); err != nil {
		return string(raw)
	}
	return buf.String()
}

// short returns the beginning of a text on one line.
func short(text string) string {
	const most = 140
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + " …"
	}
	return text
}
