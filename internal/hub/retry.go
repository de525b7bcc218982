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
	prompted := func() int64 { return s.projection.Prompted }
	read := func(seq int64) prompt { return h.promptAt(ctx, id, seq) }
	err = lookUp(ctx, s, writing, prompted, read, func(st *step, last *prompt) (err error) {
		sent, err = st.retry(by, last)
		return err
	})
	if err != nil {
		return nil, h.problem(err, id)
	}
	return sent, nil
}

// A prompt is one that was sent before, or why there is none.
type prompt struct {
	message api.SendMessage
	err     error
}

// retry is Retry in the session's loop; last is the newest prompt, see lookUp.
func (st *step) retry(by Actor, last *prompt) (*api.Message, error) {
	s, p := st.s, st.s.projection
	if !p.failed() {
		return nil, &api.Error{Status: http.StatusConflict, Code: api.CodeConflict, Title: "the last turn did not fail", Hint: "send a message instead"}
	}
	if v, waiting := p.nextPrompt(); waiting {
		if p.Ended == nil {
			return nil, &api.Error{Status: http.StatusConflict, Code: api.CodeConflict, Title: "a message is queued already", Hint: "it is sent next"}
		}
		if err := s.foreign(true); err != nil {
			return nil, err
		}
		if err := s.resumable(); err != nil {
			return nil, err
		}
		st.startRun(runSpec{fresh: p.Options.Fresh})
		m := messageOf(v)
		return &m, nil
	}
	switch {
	case last == nil:
		return nil, errUnknown
	case last.err != nil:
		return nil, last.err
	}
	return st.message(by, incoming{SendMessage: last.message})
}

// promptAt returns the prompt that an entry sent.
func (h *Hub) promptAt(ctx context.Context, session string, seq int64) prompt {
	none := &api.Error{Status: http.StatusConflict, Code: api.CodeConflict, Title: "there is no prompt to send again", Hint: "send a message instead"}
	if seq == 0 {
		return prompt{err: none}
	}
	entries, err := h.journal.Entries(ctx, session, seq-1, 1, 0)
	if err != nil {
		return prompt{err: err}
	}
	if len(entries) == 0 || entries[0].Seq != seq {
		return prompt{err: none}
	}
	message, _ := wire.Lookup(entries[0].Line, "message")
	content, _ := wire.Lookup(message, "content")
	var text string
	if json.Unmarshal(content, &text) == nil {
		return prompt{message: api.SendMessage{Text: text}}
	}
	return prompt{message: api.SendMessage{Content: content}}
}
