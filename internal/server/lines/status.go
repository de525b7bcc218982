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

	contentGone = "claude code has ended"
)

// A status is a line of the relay's own.
type status struct {
	Type      string `json:"type"`
	Subtype   string `json:"subtype,omitempty"`
	Text      string `json:"text"`
	Content   string `json:"content,omitempty"`
	SessionID string `json:"session_id,omitempty"`
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

// connection returns a status with one of the texts that front ends know, and with the
// conversation of the agent, if that is known.
func connection(text, conversation string) []byte {
	return status{Text: text, SessionID: conversation}.line()
}

// departure returns what a front end is told when an agent is gone. If it follows one
// session, that is all that it knows of.
//
// If it follows all, others may still be there. Pages that were made for one agent take
// "disconnected" for the end of all, but look at content first where there is one. An
// opening without a conversation is what ends the one tab that they have turned to, which
// the status before it has made that of the agent: a new agent is expected in its place.
func departure(conversation string, one bool) [][]byte {
	s := status{Text: textDisconnected, SessionID: conversation}
	if one {
		return [][]byte{s.line()}
	}
	s.Content = contentGone
	if conversation == "" {
		return [][]byte{s.line()}
	}
	return [][]byte{s.line(), turnTo("")}
}

// turnTo returns the line with which a page turns to the tab of a conversation, or to a
// new tab if it is "". It is one of a dialect of init; CLIs have another.
func turnTo(conversation string) []byte {
	return encode(struct {
		Type      string `json:"type"`
		SessionID string `json:"session_id,omitempty"`
	}{"init", conversation})
}

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
