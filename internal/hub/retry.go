package hub

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

// Retry sends the prompt of a session's failed turn again, as a new message. A prompt
// that never reached a process is not sent twice: a process is started for it.
func (h *Hub) Retry(ctx context.Context, by Actor, id string) (*api.Message, error) {
	s, release, err := h.acquire(ctx, id)
	if err != nil {
		return nil, err
	}
	defer release()
	var sent *api.Message
	err = s.do(ctx, writing, func(st *step) (err error) {
		sent, err = st.retry(ctx, by)
		return err
	})
	if err != nil {
		return nil, h.problem(err, id)
	}
	return sent, nil
}

// retry is Retry in the session's loop.
func (st *step) retry(ctx context.Context, by Actor) (*api.Message, error) {
	s, b := st.s, st.s.book
	if !b.failed() {
		return nil, &api.Error{Status: http.StatusConflict, Code: api.CodeConflict, Title: "the last turn did not fail", Hint: "send a message instead"}
	}
	if v, waiting := b.nextPrompt(); waiting {
		if b.Ended == nil {
			return nil, &api.Error{Status: http.StatusConflict, Code: api.CodeConflict, Title: "a message is queued already", Hint: "it is sent next"}
		}
		if err := s.foreign(true); err != nil {
			return nil, err
		}
		if err := s.resumable(); err != nil {
			return nil, err
		}
		st.startRun(runSpec{fresh: b.Options.Fresh})
		m := messageOf(v)
		return &m, nil
	}
	again, err := st.promptAt(ctx, b.Prompted)
	if err != nil {
		return nil, err
	}
	return st.message(by, incoming{SendMessage: again})
}

// promptAt returns the prompt that an entry sent.
func (st *step) promptAt(ctx context.Context, seq int64) (api.SendMessage, error) {
	none := &api.Error{Status: http.StatusConflict, Code: api.CodeConflict, Title: "there is no prompt to send again", Hint: "send a message instead"}
	if seq == 0 {
		return api.SendMessage{}, none
	}
	entries, err := st.s.hub.journal.Entries(ctx, st.s.id, seq-1, 1, 0)
	if err != nil {
		return api.SendMessage{}, err
	}
	if len(entries) == 0 || entries[0].Seq != seq {
		return api.SendMessage{}, none
	}
	message, _ := wire.Lookup(entries[0].Line, "message")
	content, _ := wire.Lookup(message, "content")
	var text string
	if json.Unmarshal(content, &text) == nil {
		return api.SendMessage{Text: text}, nil
	}
	return api.SendMessage{Content: content}, nil
}
