package claude

import (
	"errors"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// A doubt is about answers that may have been lost: those to questions for
// permission which nothing shows to have been taken.
type doubt struct {
	answers   map[string]sentAnswer // by request id
	timer     *time.Timer           // runs while there are answers and nobody inquires
	inquiring bool
}

// A sentAnswer is kept so that the same decision can be sent again.
type sentAnswer struct {
	toolUseID string
	line      []byte
}

// doubts notes that a question was answered.
func (c *Conn) doubts(q *wire.ControlRequest, line []byte) {
	r, ok := q.Request.(*wire.CanUseToolRequest)
	if !ok || c.insist <= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.doubt.answers == nil {
		c.doubt.answers = map[string]sentAnswer{}
	}
	c.doubt.answers[q.RequestID] = sentAnswer{r.ToolUseID, line}
	c.rearm()
}

// rearm has the CLI asked when it has been silent for long enough. mu is held.
func (c *Conn) rearm() {
	if c.doubt.timer != nil {
		c.doubt.timer.Stop()
		c.doubt.timer = nil
	}
	if len(c.doubt.answers) > 0 && !c.doubt.inquiring && c.ended == nil {
		c.doubt.timer = time.AfterFunc(c.insist, c.inquire)
	}
}

// reassure looks at a line for a sign that an answer was taken: the result of
// its tool, the withdrawal of its question, or the result of the turn.
func (c *Conn) reassure(line []byte, h wire.Header) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.doubt.answers) == 0 {
		return
	}
	switch string(h.Type) {
	case "result":
		clear(c.doubt.answers)
	case "control_cancel_request":
		delete(c.doubt.answers, string(h.RequestID))
	case "user":
		m, err := wire.Decode(line)
		if err != nil {
			break
		}
		if user, ok := m.(*wire.User); ok {
			for _, block := range user.Message.Content.Blocks {
				if result, ok := block.(*wire.ToolResultBlock); ok {
					c.taken(result.ToolUseID)
				}
			}
		}
	}
	c.rearm()
}

// taken forgets the answers for a tool call. mu is held.
func (c *Conn) taken(toolUseID string) {
	for id, answer := range c.doubt.answers {
		if answer.toolUseID == toolUseID {
			delete(c.doubt.answers, id)
		}
	}
}

// inquire asks the CLI which questions are open and sends their answers again.
// The timer calls it in a goroutine of its own.
func (c *Conn) inquire() {
	c.mu.Lock()
	if c.doubt.inquiring || len(c.doubt.answers) == 0 || c.ended != nil {
		c.mu.Unlock()
		return
	}
	c.doubt.inquiring = true
	c.handlers.Add(1) // joined by Close, which ends the connection first
	c.mu.Unlock()
	defer c.handlers.Done()

	answer, err := c.Request(c.ctx, &wire.InitializeRequest{})
	if refused, ok := errors.AsType[*ControlError](err); ok {
		// Older versions answer a second initialize with an error that holds the
		// list.
		answer, err = refused.Answer, nil
	}
	c.mu.Lock()
	c.doubt.inquiring = false
	var again []sentAnswer
	if err == nil {
		open := map[string]sentAnswer{}
		for i := range answer.PendingPermissionRequests {
			id := answer.PendingPermissionRequests[i].RequestID
			if sent, ok := c.doubt.answers[id]; ok {
				open[id] = sent
				again = append(again, sent)
			}
		}
		c.doubt.answers = open // all others were taken
	}
	c.rearm()
	c.mu.Unlock()
	for _, sent := range again {
		_ = c.write(sent.line) // if it is lost again, the next inquiry shows it
	}
}
