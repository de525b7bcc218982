package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/wire"
)

// Send sends a message to a session: it waits in the hub's queue until the
// session is idle, or goes into the running turn at once (steer). A session that
// has ended is resumed for it, unless the message says otherwise.
func (h *Hub) Send(ctx context.Context, by Actor, id string, in api.SendMessage) (*api.Message, error) {
	s, release, err := h.acquire(ctx, id)
	if err != nil {
		return nil, err
	}
	defer release()
	request, err := repeatableOf("send", id, in.ClientID, in)
	if err != nil {
		return nil, h.problem(err, id)
	}
	var sent *api.Message
	err = s.ask(ctx, func(st *step) error {
		old, err := st.answeredBefore(ctx, request)
		if err != nil {
			return err
		}
		if old != nil {
			sent = new(api.Message)
			if err := json.Unmarshal(old, sent); err != nil {
				return fmt.Errorf("reading what was answered before: %w", err)
			}
			if v := s.book.command(sent.ID); v != nil {
				*sent = messageOf(*v)
			}
			return nil
		}
		if sent, err = st.message(by, in); err != nil {
			return err
		}
		st.keepAnswer(request, sent)
		return nil
	})
	if err != nil {
		return nil, h.problem(err, id)
	}
	return sent, nil
}

// message takes in a new message.
func (st *step) message(by Actor, in api.SendMessage) (*api.Message, error) {
	s := st.s
	switch in.Mode {
	case "", modeQueue:
		if s.book.Ended == nil {
			return st.queue(by, in)
		}
		if in.NoResume {
			return nil, &api.Error{Status: http.StatusConflict, Code: api.CodeEnded, Title: "the session has ended", Detail: s.book.Ended.Reason, Hint: "resume it, or leave out no_resume"}
		}
		if err := s.resumable(); err != nil {
			return nil, err
		}
		sent, err := st.queue(by, in)
		if err == nil {
			st.startRun(runSpec{fresh: s.book.Options.Fresh})
		}
		return sent, err
	case modeSteer:
		if err := s.reachable(); err != nil {
			return nil, err
		}
		if err := s.steerHeld(); err != nil {
			return nil, err
		}
		sent, err := st.queue(by, in)
		if err != nil {
			return nil, err
		}
		line, err := messageLine(*sent)
		if err == nil {
			_, err = st.send(sent.ID, commandSteer, by, line)
		}
		if err != nil {
			return nil, lineProblem(err)
		}
		sent.State = api.MessageSent
		return sent, nil
	}
	return nil, api.Errorf(http.StatusUnprocessableEntity, api.CodeInvalid, "mode: expected queue or steer, got %q", in.Mode)
}

// queue puts a message into the queue.
func (st *step) queue(by Actor, in api.SendMessage) (*api.Message, error) {
	return st.enqueue(by, in, false)
}

// queueFirst puts a message before the others in the queue.
func (st *step) queueFirst(by Actor, in api.SendMessage) (*api.Message, error) {
	return st.enqueue(by, in, true)
}

func (st *step) enqueue(by Actor, in api.SendMessage, first bool) (*api.Message, error) {
	if in.Mode == "" {
		in.Mode = modeQueue
	}
	m := api.Message{
		ID: newID("m"), ClientID: in.ClientID, State: api.MessageQueued, Mode: in.Mode, Text: in.Text, Content: in.Content,
		UUID: newUUID(), By: by.Name, Created: st.now, First: first,
	}
	if err := st.fits(m); err != nil {
		return nil, err
	}
	st.event(api.KindMessage, by, m)
	return &m, nil
}

// fits says why a message cannot be sent to the agent, nil if it can.
func (st *step) fits(m api.Message) error {
	line, err := messageLine(m)
	if err == nil {
		_, _, err = wire.Fit(line, st.s.book.version())
	}
	if err != nil {
		return lineProblem(err)
	}
	return nil
}

// messageLine returns the line of a message.
func messageLine(m api.Message) ([]byte, error) {
	content := wire.TextContent(m.Text)
	if len(m.Content) > 0 {
		if m.Text != "" {
			return nil, api.Errorf(http.StatusUnprocessableEntity, api.CodeInvalid, "either text or content, not both")
		}
		if err := json.Unmarshal(m.Content, &content); err != nil {
			return nil, api.Errorf(http.StatusUnprocessableEntity, api.CodeInvalid, "content: expected a list of content blocks: %v", err)
		}
	} else if strings.TrimSpace(m.Text) == "" {
		return nil, api.Errorf(http.StatusUnprocessableEntity, api.CodeInvalid, "the message is empty")
	}
	return wire.NewUser(content, &wire.UserOptions{UUID: m.UUID})
}

// messageOf returns a command as a message.
func messageOf(v journal.Command) api.Message {
	var m api.Message
	_ = json.Unmarshal(v.Data, &m) // written by us; what is missing is filled in below
	m.ID, m.ClientID, m.UUID, m.By, m.State, m.Created = v.ID, v.ClientID, v.UUID, v.By, api.MessageState(v.State), v.Created
	if m.Mode == "" {
		m.Mode = modeQueue
	}
	return m
}

// actorOf returns who gave a command.
func actorOf(v journal.Command) Actor {
	if v.By == "" {
		return Actor{}
	}
	return Actor{Source: journal.SourcePerson, Name: v.By}
}

func (b *book) command(id string) *journal.Command {
	if i := b.commandIndex(id); i >= 0 {
		return &b.Commands[i]
	}
	return nil
}

// queued finds a queued message by the client's id or ours.
func (s *session) queued(id string) (journal.Command, error) {
	i := slices.IndexFunc(s.book.Commands, func(v journal.Command) bool {
		return takenUp(v.Kind) && (v.ID == id || v.ClientID == id && id != "")
	})
	if i < 0 {
		return journal.Command{}, &api.Error{
			Status: http.StatusConflict, Code: api.CodeNotQueued, Title: "no message with this id is waiting",
			Hint: "it has been taken up by the agent, or there never was one",
		}
	}
	v := s.book.Commands[i]
	if v.State != string(api.MessageQueued) {
		return v, &api.Error{Status: http.StatusConflict, Code: api.CodeNotQueued, Title: "the message is on its way already", Hint: "interrupt the turn instead"}
	}
	return v, nil
}

// TakeBack withdraws a message that is still queued.
func (h *Hub) TakeBack(ctx context.Context, by Actor, id, message string) (*api.Message, error) {
	return h.change(ctx, by, id, message, func(m *api.Message) error {
		m.State = api.MessageTakenBack
		return nil
	}, withoutContent)
}

// EditMessage changes a message that is still queued.
func (h *Hub) EditMessage(ctx context.Context, by Actor, id, message string, in api.EditMessage) (*api.Message, error) {
	return h.change(ctx, by, id, message, func(m *api.Message) error {
		m.Text, m.Content = in.Text, in.Content
		_, err := messageLine(*m)
		if err != nil {
			return lineProblem(err)
		}
		return nil
	}, func(m api.Message) api.Message { return m })
}

// change changes a queued message; written is what is written down of it.
func (h *Hub) change(ctx context.Context, by Actor, id, message string, edit func(*api.Message) error, written func(api.Message) api.Message) (*api.Message, error) {
	s, release, err := h.acquire(ctx, id)
	if err != nil {
		return nil, err
	}
	defer release()
	var m api.Message
	err = s.ask(ctx, func(st *step) error {
		v, err := s.queued(message)
		if err != nil {
			return err
		}
		m = messageOf(v)
		if err := edit(&m); err != nil {
			return err
		}
		st.event(api.KindMessage, by, written(m))
		return nil
	})
	if err != nil {
		return nil, h.problem(err, id)
	}
	return &m, nil
}
