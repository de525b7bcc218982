package claudetest

import (
	"bytes"
	_ "embed" // for the lines
	"encoding/json"

	"github.com/switchboard-dev/switchboard/wire"
)

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
