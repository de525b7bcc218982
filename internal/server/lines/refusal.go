package lines

import (
	"encoding/json"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

// refusedPrompt returns the line that tells a client that its prompt was refused.
// Programs wait for the result of what they have said, so that is what they get:
// one that failed, with the reason among its errors.
func refusedPrompt(conversation string, why *api.Error) []byte {
	return encode(struct {
		Type              string         `json:"type"`
		Subtype           string         `json:"subtype"`
		IsError           bool           `json:"is_error"`
		DurationMillis    int            `json:"duration_ms"`
		DurationAPIMillis int            `json:"duration_api_ms"`
		NumTurns          int            `json:"num_turns"`
		StopReason        *string        `json:"stop_reason"`
		TotalCostUSD      float64        `json:"total_cost_usd"`
		Usage             map[string]int `json:"usage"`
		ModelUsage        struct{}       `json:"modelUsage"`
		PermissionDenials []struct{}     `json:"permission_denials"`
		Errors            []string       `json:"errors"`
		UUID              string         `json:"uuid"`
		SessionID         string         `json:"session_id"`
	}{
		Type: "result", Subtype: "error_during_execution", IsError: true,
		Usage:             map[string]int{"input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
		PermissionDenials: []struct{}{},
		Errors:            []string{"Switchboard did not take the prompt: " + why.Error()}, UUID: wire.NewUUID(), SessionID: conversation,
	})
}

// refusedLine returns the line that tells a client that another line of its was
// refused: a notice, because no request waits for an answer.
func refusedLine(conversation, what string, why *api.Error) []byte {
	return encode(struct {
		Type      string `json:"type"`
		Subtype   string `json:"subtype"`
		Content   string `json:"content"`
		Level     string `json:"level"`
		UUID      string `json:"uuid"`
		SessionID string `json:"session_id"`
	}{"system", "informational", "Switchboard did not take " + what + ": " + why.Error(), "warning", wire.NewUUID(), conversation})
}

// failed returns the answer to a request that the hub was not even asked.
func failed(requestID string, why *api.Error) []byte {
	type body struct {
		Subtype   string `json:"subtype"`
		RequestID string `json:"request_id"`
		Error     string `json:"error"`
	}
	return encode(struct {
		Type     string `json:"type"`
		Response body   `json:"response"`
	}{"control_response", body{"error", requestID, why.Error()}})
}

func encode(v any) []byte {
	line, err := json.Marshal(v)
	if err != nil {
		panic("lines: " + err.Error()) // texts and numbers can be written
	}
	return line
}
