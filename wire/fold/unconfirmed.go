package fold

import (
	"bytes"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
)

// Unconfirmed holds the answers to permission questions of which no line shows
// yet that the CLI has taken them. A transport may lose an answer: 2.1.37 in
// hybrid mode discards one that arrives before the reply to the POST with its
// question, and then waits forever (docs/hybrid-post.md).
//
// What shows that an answer was taken is the result of its tool, the withdrawal
// of its question, or the result of the turn. If none comes, the controller asks
// with another initialize request, whose answer lists the open questions: an
// answer whose question is not in the list was taken, any other was lost.
type Unconfirmed struct {
	// Questions are those that may be open, by request id.
	Questions map[string]Permission `json:"questions,omitempty"`
	// Inquiry is the request id of the last initialize request.
	Inquiry string `json:"inquiry,omitempty"`
}

// A Permission is a question for permission, with its answer.
type Permission struct {
	// ToolUseID is the tool call that the question is about.
	ToolUseID string `json:"tool_use_id,omitempty"`
	// Answer is the line that answered it, nil if none did.
	Answer []byte `json:"answer,omitempty"`
	// Inquired says that the last inquiry was sent after the answer, so that the
	// list tells about it.
	Inquired bool `json:"inquired,omitempty"`
}

// maxPermissions bounds how many questions are kept. A CLI has a few open at a
// time.
const maxPermissions = 1024

// Waiting reports whether any answer is unconfirmed.
func (u *Unconfirmed) Waiting() bool {
	for _, p := range u.Questions {
		if p.Answer != nil {
			return true
		}
	}
	return false
}

// Apply takes in a line. It returns the answers that the line shows to have been
// lost, which may be sent again. They must not be sent again without that: 2.1.37
// would run the tool twice.
func (u *Unconfirmed) Apply(l *Line) (lost [][]byte) {
	h := l.Header
	id := string(h.RequestID)
	if l.Sent {
		switch {
		case h.Is("control_response", ""):
			u.answered(id, l.Raw)
		case h.Is("control_request", "") && string(h.RequestSubtype) == "initialize":
			u.inquired(id)
		}
		return nil
	}
	switch string(h.Type) {
	case "control_request":
		if string(h.RequestSubtype) == "can_use_tool" {
			if request, ok := l.decoded().(*wire.ControlRequest); ok {
				u.asked(request)
			}
		}
	case "control_cancel_request":
		delete(u.Questions, id)
	case "result":
		u.confirm(func(string, Permission) bool { return true })
	case "user":
		if u.Waiting() {
			u.results(l)
		}
	case "control_response":
		if id == u.Inquiry && id != "" {
			return u.list(l)
		}
	}
	return nil
}

// asked notes a question. One that is known keeps its answer.
func (u *Unconfirmed) asked(request *wire.ControlRequest) {
	ask, ok := request.Request.(*wire.CanUseToolRequest)
	if !ok || len(request.RequestID) > longest || len(ask.ToolUseID) > longest {
		return
	}
	if _, known := u.Questions[request.RequestID]; known {
		return
	}
	if len(u.Questions) >= maxPermissions {
		for id, p := range u.Questions {
			if p.Answer == nil {
				delete(u.Questions, id)
			}
		}
		if len(u.Questions) >= maxPermissions {
			return
		}
	}
	if u.Questions == nil {
		u.Questions = map[string]Permission{}
	}
	u.Questions[strings.Clone(request.RequestID)] = Permission{ToolUseID: strings.Clone(ask.ToolUseID)}
}

// answered notes an answer.
func (u *Unconfirmed) answered(id string, line []byte) {
	if p, ok := u.Questions[id]; ok {
		p.Answer, p.Inquired = bytes.Clone(line), false
		u.Questions[id] = p
	}
}

// inquired notes an initialize request.
func (u *Unconfirmed) inquired(id string) {
	u.Inquiry = id
	for id, p := range u.Questions {
		p.Inquired = p.Answer != nil
		u.Questions[id] = p
	}
}

// confirm forgets the answers that taken is true for.
func (u *Unconfirmed) confirm(taken func(id string, p Permission) bool) {
	for id, p := range u.Questions {
		if p.Answer != nil && taken(id, p) {
			delete(u.Questions, id)
		}
	}
}

// results looks for results of tools.
func (u *Unconfirmed) results(l *Line) {
	user, ok := l.decoded().(*wire.User)
	if !ok {
		return
	}
	for _, block := range user.Message.Content.Blocks {
		if result, ok := block.(*wire.ToolResultBlock); ok {
			u.confirm(func(_ string, p Permission) bool { return p.ToolUseID == result.ToolUseID })
		}
	}
}

// list takes in the answer to the last inquiry. Older versions answer with an
// error, which has the list as well.
func (u *Unconfirmed) list(l *Line) (lost [][]byte) {
	response, ok := l.decoded().(*wire.ControlResponse)
	if !ok {
		return nil
	}
	open := map[string]bool{}
	for i := range response.Response.PendingPermissionRequests {
		request := &response.Response.PendingPermissionRequests[i]
		open[request.RequestID] = true
		if p := u.Questions[request.RequestID]; p.Inquired {
			lost = append(lost, p.Answer)
		}
		u.asked(request) // it may have been asked while there was no connection
	}
	u.confirm(func(id string, p Permission) bool { return p.Inquired && !open[id] })
	return lost
}
