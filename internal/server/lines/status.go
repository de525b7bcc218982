package lines

import (
	"encoding/json"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

// The texts that front ends know. Some of them look for the word "disconnected"
// in every status, so no other text may have it.
const (
	textConnected    = "claude code connected"
	textIsConnected  = "claude code is connected"
	textDisconnected = "claude code disconnected"
)

// A status is a line of the relay's own.
type status struct {
	Type      string `json:"type"`
	Subtype   string `json:"subtype,omitempty"`
	Text      string `json:"text"`
	Code      string `json:"code,omitempty"`
	RequestID string `json:"request_id,omitempty"`
	Session   string `json:"session,omitempty"`
	// Resume and LastEventID are how a stream relates to what the front end has.
	Resume      string `json:"resume,omitempty"`
	LastEventID string `json:"last_event_id,omitempty"`
}

// The subtypes of statuses that only this relay sends.
const (
	subtypeRefused = "refused"
	subtypeResume  = "resume"
	subtypeClosing = "closing"
)

// line returns the status as a line.
func (s status) line() []byte {
	s.Type = "status"
	if s.Subtype != "" {
		s.Text = strings.ReplaceAll(s.Text, "disconnected", "not connected")
	}
	b, err := json.Marshal(s)
	if err != nil { // it is made of strings
		panic(err)
	}
	return b
}

// connection returns a status with one of the texts that front ends know.
func connection(text string) []byte { return status{Text: text}.line() }

// refusal says why a line was refused.
func refusal(e *api.Error, requestID, session string) []byte {
	if session == "" {
		session = e.Session
	}
	return status{Subtype: subtypeRefused, Text: e.Error(), Code: e.Code, RequestID: requestID, Session: session}.line()
}

// refusalOf returns the refusal of a line: an answer if it is a request, so that
// a program that waits for one gets it, else a status.
func refusalOf(l *said, e *api.Error) []byte {
	if l.kind == kindRequest && l.requestID != "" {
		if b, err := wire.NewError(l.requestID, e.Error(), e.Code); err == nil {
			return b
		}
	}
	return refusal(e, l.requestID, l.session)
}
