package hub

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// isActivity reports whether an entry is something that happened in the session:
// something that a person, a program or the agent did. What the hub writes about
// itself and its links is not, or a restart would make all sessions the newest.
// linked says whether the agent was connected before the entry.
func (p *projection) isActivity(e *journal.Entry, line *fold.Line, linked bool) bool {
	switch e.Kind {
	case api.KindLine:
		// The hub sends requests after a reconnect and when a client looks at a session; their answers are no activity.
		return line == nil || string(line.Header.Type) != "control_response"
	case api.KindSent:
		h, err := wire.Peek(e.Line)
		return err == nil && string(h.Type) == "user"
	case api.KindRunEnded:
		// An idle process that died while the hub was away left nothing undone.
		return linked || p.Ended != nil && p.Ended.Unfinished
	case api.KindCreated, api.KindRunStarted, api.KindQuestionOpened, api.KindQuestionSettled, api.KindDecision, api.KindHold, api.KindHoldOver, api.KindBudget, api.KindSandboxRefused:
		return true
	}
	return e.Source != journal.SourceHub
}

// projectionForm is the form of stored projections. One of another form is folded anew from the
// log. Raise it when a projection learns something from entries that it did not before.
const projectionForm = 1

// title returns the title that is shown: what a person named the session, else the
// agent, else the beginning of the first prompt, which does not change as messages
// come.
func (p *projection) title() string {
	return cmp.Or(p.Title, p.State.Title, p.Asked)
}

// maxAsked is how long a title is that comes from a prompt, in characters.
const maxAsked = 80

// askedBy returns the title that a message gives a session without one.
func askedBy(m api.Message) string {
	switch {
	case len(m.Line) > 0:
		return askedIn(m.Line)
	case len(m.Content) > 0:
		var content wire.Content
		if json.Unmarshal(m.Content, &content) != nil {
			return ""
		}
		return firstLine(content.String(), maxAsked)
	}
	return firstLine(m.Text, maxAsked)
}

// askedIn is askedBy for a line: "" if it is not what a person asked for.
func askedIn(line []byte) string {
	m, err := wire.Decode(line)
	if err != nil {
		return ""
	}
	user, ok := m.(*wire.User)
	if !ok || user.ParentToolUseID != "" || user.IsSynthetic || user.ToolUseResult != nil {
		return ""
	}
	for _, member := range []string{"isMeta", "isCompactSummary"} { // of transcripts
		if raw, _ := wire.Lookup(line, member); string(raw) == "true" {
			return ""
		}
	}
	text := strings.TrimSpace(user.Message.Content.String())
	// The CLI's own words about commands and interrupts.
	if strings.HasPrefix(text, "<") || strings.HasPrefix(text, "[Request interrupted") {
		return ""
	}
	return firstLine(text, maxAsked)
}

// firstLine returns the first line of a text that says something, cut to a number of
// characters.
func firstLine(text string, limit int) string {
	for line := range strings.Lines(text) {
		if said := record.CutLine(line, limit); said != "" {
			return said
		}
	}
	return ""
}

// row returns the session's row.
func (p *projection) row() *journal.Session {
	row := &journal.Session{
		ID: p.ID, Epoch: p.Epoch, Seq: p.Seq, Title: p.title(), Dir: p.dir(), State: string(p.phase()), Model: p.State.Model,
		Conversation: p.State.Conversation(), Run: p.Run, Created: p.Created, Updated: p.Updated, Open: len(p.Questions),
		CostUSD: p.Costs.Total().CostUSD, Archived: p.Archived, Node: p.Node,
	}
	if p.Ended != nil {
		row.Ended = p.Ended.Time
	}
	if row.Model == "" {
		row.Model = p.Options.Model
	}
	row.Data = p.rowData()
	return row
}

// A rowData is what a session's row has beside its columns.
type rowData struct {
	Simulated       bool   `json:"simulated,omitempty"`
	Failed          bool   `json:"failed,omitempty"`
	Unauthenticated bool   `json:"unauthenticated,omitempty"` // SessionByConversation of the journal reads it, too
	Text            string `json:"text,omitempty"`
	Relay           string `json:"relay,omitempty"`
	Sandbox         string `json:"sandbox,omitempty"`
	Node            string `json:"node,omitempty"` // the machine's name; Sessions of the journal reads it, too
}

// maxRowText is how much of the agent's last words a list shows, in characters.
const maxRowText = 160

// rowData returns the data of the session's row. Each step has a row, and seldom
// another data: it is kept with what it was made of.
func (p *projection) rowData() json.RawMessage {
	made := rowData{Simulated: p.Simulated, Failed: p.failed(), Unauthenticated: p.Unauthenticated, Text: p.State.Text, Sandbox: p.sandboxName(), Node: p.NodeName}
	if p.Relay != nil {
		made.Relay = p.Relay.URL
	}
	if made != p.rowOf {
		p.rowOf, p.rowJSON = made, nil
		made.Text = record.CutLine(made.Text, maxRowText)
		if made != (rowData{}) {
			p.rowJSON = encoded(made)
		}
	}
	return p.rowJSON
}

// failed reports whether the last turn failed, or the process ended before its work
// was done. A session that a person stopped has not failed, nor has what still
// goes on.
func (p *projection) failed() bool {
	if e := p.Ended; e != nil && p.Run > 0 {
		if _, waiting := p.nextPrompt(); waiting || e.Unfinished {
			return !strings.HasPrefix(e.Reason, stoppedBy) && !strings.HasPrefix(e.Reason, givenUpBy)
		}
	}
	r := p.State.Result
	switch {
	case r == nil || !r.Failed || r.Interrupted || r.Terminal == wire.TerminalReasonAbortedStreaming || r.Terminal == wire.TerminalReasonAbortedTools:
		return false
	case p.Ended != nil:
		return true
	}
	return !p.State.Turn && len(p.State.Queue.Waiting) == 0
}
