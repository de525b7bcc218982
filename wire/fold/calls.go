package fold

import (
	"bytes"
	"slices"

	"github.com/switchboard-dev/switchboard/wire"
)

// Calls are the tool calls that have no result yet. The zero value has none. It is
// not part of [State]: to find the calls in a message costs more than all that State
// keeps of it, and few callers want to know.
type Calls struct {
	// Open holds the calls, in the order of the lines.
	Open []OpenCall `json:"open,omitempty"`
	// Lost says that calls were forgotten because far too many were open.
	Lost bool `json:"lost,omitempty"`
}

// An OpenCall is a tool call without a result.
type OpenCall struct {
	// ID is the call's, Parent that of the call whose sub-agent makes it.
	ID     string `json:"id"`
	Parent string `json:"parent,omitempty"`
}

// maxOpenCalls is how many calls are kept.
const maxOpenCalls = 64

// Apply folds a line.
func (c *Calls) Apply(l *Line) {
	if l.Sent || !l.durable() {
		return
	}
	switch string(l.Header.Type) {
	case "assistant":
		if !bytes.Contains(l.Raw, []byte("tool_use")) {
			return
		}
		m, ok := l.decoded().(*wire.Assistant)
		if !ok {
			return
		}
		for _, b := range m.Message.Content {
			if use, ok := b.(*wire.ToolUseBlock); ok {
				c.begin(OpenCall{ID: name(use.ID), Parent: name(m.ParentToolUseID)})
			}
		}
	case "user":
		m, ok := l.decoded().(*wire.User)
		if !ok {
			return
		}
		for _, b := range m.Message.Content.Blocks {
			if r, ok := b.(*wire.ToolResultBlock); ok {
				id := name(r.ToolUseID)
				c.Open = slices.DeleteFunc(c.Open, func(o OpenCall) bool { return o.ID == id || o.Parent == id })
			}
		}
	case "result":
		// What an interrupted turn has called gets no result. Sub-agents may go on.
		c.Open, c.Lost = slices.DeleteFunc(c.Open, func(o OpenCall) bool { return o.Parent == "" }), false
	}
}

// begin adds a call. A message may come in several lines, which repeat none.
func (c *Calls) begin(call OpenCall) {
	if call.ID == "" || slices.ContainsFunc(c.Open, func(o OpenCall) bool { return o.ID == call.ID }) {
		return
	}
	var lost int64
	c.Open, lost = last(append(c.Open, call), maxOpenCalls)
	c.Lost = c.Lost || lost > 0
}

// Happened folds an event.
func (c *Calls) Happened(e Event) {
	if e.Kind == EventStarted || e.Kind == EventEnded {
		*c = Calls{}
	}
}

// Only returns the one call that is going on, "" if there is none or several. A call
// of a sub-agent counts, and that which started the sub-agent does not.
func (c *Calls) Only() string {
	only := ""
	for _, call := range c.Open {
		if slices.ContainsFunc(c.Open, func(o OpenCall) bool { return o.Parent == call.ID }) {
			continue
		}
		if only != "" || c.Lost {
			return ""
		}
		only = call.ID
	}
	return only
}
