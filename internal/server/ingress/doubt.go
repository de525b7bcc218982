package ingress

import (
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// A doubt is about answers that may have been lost: those to questions for
// permission which nothing shows to have been taken. A 2.1.37 in hybrid mode
// throws an answer away that overtakes the answer to its POST, and then waits
// for ever; see docs/hybrid-post.md. When such a CLI has been silent for a while
// after an answer, it is asked whether it still waits, and its list shows which
// answers it has taken.
type doubt struct {
	// Static after construction.
	wait    time.Duration
	inquire func()

	mu      sync.Mutex
	asked   map[string]string // tool call by request id, of questions not answered yet
	answers map[string]string // tool call by request id, of answers in doubt
	timer   *time.Timer       // runs while there are answers in doubt
	inquiry string            // request id of the last initialize that was sent
	stopped bool
}

// mostAsked bounds how many questions are remembered. A CLI has a few open at a
// time.
const mostAsked = 1024

func newDoubt(wait time.Duration, inquire func()) *doubt {
	return &doubt{wait: wait, inquire: inquire}
}

// sent looks at a line that was sent: is it an answer, or an inquiry?
func (d *doubt) sent(line []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.asked) == 0 {
		return
	}
	h, err := wire.Peek(line)
	if err != nil {
		return
	}
	id := string(h.RequestID)
	if h.Is("control_request", "") && string(h.RequestSubtype) == "initialize" {
		d.inquiry = id
		return
	}
	tool, ok := d.asked[id]
	if !ok || !h.Is("control_response", "") {
		return
	}
	if d.answers == nil {
		d.answers = map[string]string{}
	}
	d.answers[id] = tool
	d.rearm()
}

// look looks at a line of the CLI for a question, and for a sign that an answer
// was taken: the result of its tool, the withdrawal of its question, the result
// of the turn, or a list without it.
func (d *doubt) look(line []byte) {
	h, err := wire.Peek(line)
	if err != nil {
		h = wire.Header{} // it is something, which may be all that counts
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch string(h.Type) {
	case "control_request":
		d.question(line, h)
	case "control_cancel_request":
		d.taken(string(h.RequestID))
	case "result":
		d.asked, d.answers = nil, nil
	case "user":
		if len(d.answers) > 0 {
			d.results(line)
		}
	case "control_response":
		if len(d.answers) > 0 {
			d.list(line)
		}
	}
	if d.timer != nil || len(d.answers) > 0 {
		d.rearm() // it is not silent
	}
}

// question remembers which tool call a question is about. mu is held.
func (d *doubt) question(line []byte, h wire.Header) {
	if string(h.RequestSubtype) != "can_use_tool" || len(d.asked) >= mostAsked {
		return
	}
	m, err := wire.Decode(line)
	if err != nil {
		return
	}
	request, ok := m.(*wire.ControlRequest)
	if !ok {
		return
	}
	if ask, ok := request.Request.(*wire.CanUseToolRequest); ok {
		if d.asked == nil {
			d.asked = map[string]string{}
		}
		d.asked[request.RequestID] = ask.ToolUseID
	}
}

// results looks for the results of tools. mu is held.
func (d *doubt) results(line []byte) {
	m, err := wire.Decode(line)
	if err != nil {
		return
	}
	user, ok := m.(*wire.User)
	if !ok {
		return
	}
	for _, block := range user.Message.Content.Blocks {
		result, ok := block.(*wire.ToolResultBlock)
		if !ok {
			continue
		}
		for id, tool := range d.answers {
			if tool == result.ToolUseID {
				d.taken(id)
			}
		}
	}
}

// list looks at an answer that lists which questions are open. mu is held.
func (d *doubt) list(line []byte) {
	m, err := wire.Decode(line)
	if err != nil {
		return
	}
	answer, ok := m.(*wire.ControlResponse)
	if !ok || answer.Response.RequestID != d.inquiry {
		return
	}
	open := map[string]bool{}
	for i := range answer.Response.PendingPermissionRequests {
		open[answer.Response.PendingPermissionRequests[i].RequestID] = true
	}
	for id := range d.answers {
		if !open[id] {
			d.taken(id)
		}
	}
}

// taken forgets a question. mu is held.
func (d *doubt) taken(id string) {
	delete(d.asked, id)
	delete(d.answers, id)
}

// rearm has the CLI asked when it has been silent for long enough. mu is held.
func (d *doubt) rearm() {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
	if len(d.answers) > 0 && !d.stopped {
		d.timer = time.AfterFunc(d.wait, d.fire)
	}
}

func (d *doubt) fire() {
	d.mu.Lock()
	ask := len(d.answers) > 0 && !d.stopped
	if ask {
		d.rearm() // the inquiry may be lost, too
	}
	d.mu.Unlock()
	if ask {
		d.inquire()
	}
}

// stop ends it.
func (d *doubt) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	d.rearm()
}
