package claudetest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
)

// stream writes a message as server-sent events. A CLI that goes away ends it.
func stream(ctx context.Context, w http.ResponseWriter, m message) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Request-Id", m.id)
	w.WriteHeader(http.StatusOK)
	controller := http.NewResponseController(w)
	send := func(event string, members map[string]any) bool {
		members["type"] = event
		data, err := json.Marshal(members)
		if err != nil {
			// Only a script's raw tool input could do this, and Tool has encoded it before.
			panic(fmt.Sprintf("claudetest: encoding event %s: %v", event, err))
		}
		if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, data); err != nil {
			return false
		}
		return controller.Flush() == nil && ctx.Err() == nil
	}

	if !send("message_start", map[string]any{"message": m.opened()}) {
		return
	}
	for i, block := range m.blocks {
		if !send("content_block_start", map[string]any{"index": i, "content_block": block.opened()}) {
			return
		}
		for _, delta := range block.deltas() {
			if !send("content_block_delta", map[string]any{"index": i, "delta": delta}) {
				return
			}
		}
		if !send("content_block_stop", map[string]any{"index": i}) {
			return
		}
	}
	if !send("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": m.stopReason, "stop_sequence": nil},
		"usage": m.usage,
	}) {
		return
	}
	send("message_stop", map[string]any{})
}

// writeJSON writes an answer that is not streamed.
func writeJSON(w http.ResponseWriter, status int, value any) {
	data, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("claudetest: encoding an answer: %v", err)) // only our own types come here
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(data) // a CLI that has gone away does not want it
}

// writeError writes an error as the real API words it.
func writeError(w http.ResponseWriter, status int, kind, text string) {
	writeJSON(w, status, map[string]any{
		"type":  "error",
		"error": map[string]string{"type": kind, "message": text},
	})
}
