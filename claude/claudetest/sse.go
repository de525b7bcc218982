package claudetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// eventWriter writes the events of one stream.
type eventWriter struct {
	ctx        context.Context // of the request: its end is the end of the stream
	w          http.ResponseWriter
	controller *http.ResponseController
	requestID  string
	fault      Fault // what is still to go wrong
	sent       int
}

// send writes one event, or what goes wrong in its place, and reports whether the stream goes on.
func (e *eventWriter) send(event string, members map[string]any) bool {
	if e.fault.kind != faultNone && e.sent >= e.fault.after && !e.fail() {
		return false
	}
	members["type"] = event
	e.sent++
	return e.write(frame(event, members))
}

// fail lets the fault happen and reports whether the stream goes on after it.
func (e *eventWriter) fail() bool {
	fault := e.fault
	e.fault = Fault{}
	switch fault.kind {
	case faultNone:
		return true
	case faultCut:
		// What was sent must arrive first; a write that fails has cut the stream by itself.
		_ = e.controller.Flush()
		panic(http.ErrAbortHandler)
	case faultMalformed:
		if fault.raw == "" {
			fault.raw = malformedEvent
		}
		return e.write([]byte(fault.raw))
	case faultError:
		e.write(frame("error", fault.err.body(e.requestID)))
		return false
	case faultHold:
		return fault.hold(e.ctx)
	default:
		panic(fmt.Sprintf("claudetest: fault of kind %d", fault.kind))
	}
}

func (e *eventWriter) write(data []byte) bool {
	if _, err := e.w.Write(data); err != nil {
		return false
	}
	if err := e.controller.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return false
	}
	return e.ctx.Err() == nil
}

// frame encodes one server-sent event.
func frame(event string, data any) []byte {
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", event, encode(data))
}

// stream writes a message as server-sent events. A CLI that goes away ends it.
func stream(ctx context.Context, w http.ResponseWriter, m message) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	events := &eventWriter{ctx: ctx, w: w, controller: http.NewResponseController(w), requestID: m.requestID, fault: m.fault}
	if streamMessage(events, m) {
		events.fail() // for a message that was shorter than its fault is late
	}
}

// streamMessage writes the events of a message and reports whether all of them were written.
func streamMessage(events *eventWriter, m message) bool {
	if !events.send("message_start", map[string]any{"message": m.opened()}) {
		return false
	}
	for i, block := range m.blocks {
		if !events.send("content_block_start", map[string]any{"index": i, "content_block": block.opened()}) {
			return false
		}
		for delta := range block.deltas() {
			if !pause(events.ctx, m.delay) || !events.send("content_block_delta", map[string]any{"index": i, "delta": delta}) {
				return false
			}
		}
		if !events.send("content_block_stop", map[string]any{"index": i}) {
			return false
		}
	}
	return events.send("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": m.stopReason, "stop_sequence": nil},
		"usage": m.usage,
	}) && events.send("message_stop", map[string]any{})
}

// answer writes a message in one piece. It takes as long as its stream would.
func answer(ctx context.Context, w http.ResponseWriter, m message) {
	for _, block := range m.blocks {
		for range block.deltas() {
			if !pause(ctx, m.delay) {
				return
			}
		}
	}
	fault := m.fault
	if fault.kind == faultError {
		writeError(w, m.requestID, fault.err)
		return
	}
	if fault.kind == faultHold && !fault.hold(ctx) {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	switch fault.kind {
	case faultCut:
		_, _ = w.Write(m.head()) // a CLI that has gone away is cut off as well
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case faultMalformed:
		if fault.raw == "" {
			fault.raw = malformedBody
		}
		_, _ = io.WriteString(w, fault.raw)
	default:
		_ = m.encode(w) // a CLI that has gone away does not want it
	}
}

// hold waits until the fault is over and reports whether ctx still lives.
func (f Fault) hold(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-f.until:
		return true
	}
}

// pause waits for d and reports whether ctx still lives.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// head returns the message's JSON up to the beginning of its content.
func (m message) head() []byte {
	opened := m.opened()
	return fmt.Appendf(nil, `{"id":%s,"type":%s,"role":%s,"model":%s,"content":[`,
		encode(opened.ID), encode(opened.Type), encode(opened.Role), encode(opened.Model))
}

// encode writes the finished message as JSON, block by block, so that a huge one is never in memory as a whole.
func (m message) encode(w io.Writer) error {
	if _, err := w.Write(m.head()); err != nil {
		return err
	}
	for i, block := range m.blocks {
		if i > 0 {
			if _, err := io.WriteString(w, ","); err != nil {
				return err
			}
		}
		if err := block.encode(w); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, `],"stop_reason":%s,"stop_sequence":null,"usage":%s}`, encode(m.stopReason), encode(m.usage))
	return err
}

// encode writes the finished block as JSON.
func (b Block) encode(w io.Writer) error {
	if b.huge == 0 {
		_, err := w.Write(encode(b.whole()))
		return err
	}
	if _, err := io.WriteString(w, `{"type":"text","text":"`); err != nil {
		return err
	}
	for piece := range filler(b.huge) {
		quoted := encode(piece)
		if _, err := w.Write(quoted[1 : len(quoted)-1]); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, `"}`)
	return err
}

// encode returns the JSON of a value of our own making.
func encode(value any) []byte {
	data, err := json.Marshal(value)
	if err != nil {
		// Only a script's raw tool input could do this, and Tool has encoded it before.
		panic(fmt.Sprintf("claudetest: encoding an answer: %v", err))
	}
	return data
}

// writeJSON writes an answer that is no message.
func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(encode(value)) // a CLI that has gone away does not want it
}

// writeError writes an error as the real API words it.
func writeError(w http.ResponseWriter, requestID string, e APIError) {
	writeJSON(w, e.Status, e.body(requestID))
}
