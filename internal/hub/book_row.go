package hub

import (
	"encoding/json"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// isActivity reports whether an entry is something that happened in the session:
// something that a person, a program or the agent did. What the hub writes about
// itself and its links is not, or a restart would make all sessions the newest.
// linked says whether the agent was connected before the entry.
func (b *book) isActivity(e *journal.Entry, line *fold.Line, linked bool) bool {
	switch e.Kind {
	case api.KindLine:
		// Answers to requests follow a reconnect, too, and whoever looks at a session.
		return line == nil || string(line.Header.Type) != "control_response"
	case api.KindSent:
		h, err := wire.Peek(e.Line)
		return err == nil && string(h.Type) == "user"
	case api.KindRunEnded:
		// An idle process that died while the hub was away left nothing undone.
		return linked || b.Ended != nil && b.Ended.Unfinished
	case api.KindCreated, api.KindRunStarted, api.KindQuestionOpened, api.KindQuestionSettled, api.KindDecision, api.KindHold, api.KindHoldOver, api.KindBudget:
		return true
	}
	return e.Source != journal.SourceHub
}

// title returns the title that is shown.
func (b *book) title() string {
	if b.Title != "" {
		return b.Title
	}
	return b.State.Title
}

// row returns the session's row.
func (b *book) row() *journal.Session {
	row := &journal.Session{
		ID: b.ID, Epoch: b.Epoch, Seq: b.Seq, Title: b.title(), Dir: b.dir(), State: string(b.phase()), Model: b.State.Model,
		Conversation: b.State.Conversation(), Run: b.Run, Created: b.Created, Updated: b.Updated, Open: len(b.Questions),
		CostUSD: b.Costs.Total().CostUSD, Archived: b.Archived,
	}
	if b.Ended != nil {
		row.Ended = b.Ended.Time
	}
	if row.Model == "" {
		row.Model = b.Options.Model
	}
	// As texts: each step has a row, for which they need not be encoded.
	switch failed := b.failed(); {
	case b.Simulated && failed:
		row.Data = json.RawMessage(`{"simulated":true,"failed":true}`)
	case b.Simulated:
		row.Data = json.RawMessage(`{"simulated":true}`)
	case failed:
		row.Data = json.RawMessage(`{"failed":true}`)
	}
	return row
}

// A rowData is what a session's row has beside its columns, see row.
type rowData struct {
	Simulated bool `json:"simulated"`
	Failed    bool `json:"failed"`
}

// failed reports whether the last turn failed, or the process ended before its work
// was done. What somebody has stopped on purpose has not failed, nor has what still
// goes on.
func (b *book) failed() bool {
	if e := b.Ended; e != nil && b.Run > 0 {
		if _, waiting := b.nextPrompt(); waiting || e.Unfinished {
			return !strings.HasPrefix(e.Reason, stoppedBy) && !strings.HasPrefix(e.Reason, givenUpBy)
		}
	}
	r := b.State.Result
	switch {
	case r == nil || !r.Failed || r.Interrupted || r.Terminal == wire.TerminalReasonAbortedStreaming || r.Terminal == wire.TerminalReasonAbortedTools:
		return false
	case b.Ended != nil:
		return true
	}
	return !b.State.Turn && len(b.State.Queue.Waiting) == 0
}
