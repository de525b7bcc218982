package hub

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/policy"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// maxRunner is how much is kept of what a CLI says of its environment, in characters.
const maxRunner = 128

// runnerName returns what a CLI says of its environment as it is kept.
func runnerName(text string) string { return record.CutLine(text, maxRunner) }

// origin returns how the CLI of the run came to the hub, for the rules.
func (p *projection) origin() policy.Origin {
	switch {
	case !dials(p.Transport):
		return policy.OriginHub
	case p.Unauthenticated:
		return policy.OriginUnauthenticated
	default:
		return policy.OriginDialed
	}
}

// claimed returns the conversation that a CLI without a credential names with a line
// and has not had so far, "" if there is none. It is looked up before the line is
// taken in: what such a CLI says must not make it the owner of a conversation that is
// another session's.
func (st *step) claimed(l *RunLink, line *fold.Line) string {
	id := line.Header.SessionID
	if !l.unauthenticated || len(id) == 0 || line.Header.Is("result", "") || string(id) == st.s.projection.State.Conversation() {
		return ""
	}
	return string(id)
}

// ownedByOthers returns an *[OwnedError] if a conversation is, or was, that of another
// session whose CLI is authenticated, or is in use at present; nil if it is not. Other
// errors are those of the journal.
func (h *Hub) ownedByOthers(conversation, session string) error {
	if conversation == "" {
		return nil
	}
	if err := h.owner("", conversation, session); err != nil {
		return err
	}
	row, err := h.journal.SessionByConversation(h.ctx, conversation)
	if errors.Is(err, journal.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	var data rowData
	_ = json.Unmarshal(row.Data, &data) // absent for most
	if row.ID == session || data.Unauthenticated {
		return nil
	}
	return &OwnedError{Session: row.ID, Run: row.Run}
}

// keepOff ends a run whose CLI names a conversation that it may not have. The line that
// names it is not taken in. It returns owned, upon which the link ends the CLI.
func (st *step) keepOff(owned error) error {
	if _, ok := errors.AsType[*OwnedError](owned); !ok {
		return owned // the journal could not be read; the link tries again
	}
	reason := "it names a conversation that it may not have without a token: " + owned.Error()
	st.event(api.KindNotice, Actor{}, api.Notice{Code: "owned", Text: "the agent dialed in without a token, and " + reason})
	st.endRun(api.Ended{Reason: reason}, false)
	return owned
}

// replaceable says why the hub cannot start a process of its own in the place of the run's;
// nil if it can.
func (p *projection) replaceable() error {
	if p.foreignProcess() {
		return record.Unfit("outcome: the process belongs to another program, and cannot be replaced")
	}
	return p.notStartable()
}

// notStartable says why the hub cannot start the agent of a session; nil if it can. What an
// unauthenticated CLI says of its folder and its conversation must not lead to a process of
// the hub's user there: settings in a folder run programs. A client with the scope admin can
// fork the session, which names both.
func (p *projection) notStartable() error {
	switch {
	case p.Relay != nil:
		return &api.Error{
			Status: http.StatusConflict, Code: api.CodeConflict, Title: "the agent belongs to another program, and this hub can't start it",
			Detail: "it was shown by the relay " + p.Relay.URL, Hint: "start it there, or start a session of your own with switchboard run",
		}
	case p.Unauthenticated:
		return &api.Error{
			Status: http.StatusConflict, Code: api.CodeConflict, Title: "the agent dialed in without a token, so the hub does not start another in its place",
			Hint: "start it again with the same --sdk-url, or fork the session",
		}
	}
	return nil
}

// salvaged returns the data of the entry of a line that is not JSON: that it is not, and
// what can be read of it. It returns nil for all other lines.
func salvaged(line *fold.Line) json.RawMessage {
	if _, err := line.Message(); err == nil || wire.Valid(line.Raw) {
		return nil
	}
	v := api.BrokenLine{Broken: true, Length: len(line.Raw)}
	v.Conversation, v.Init = wire.Salvage(line.Raw)
	return encoded(v)
}
