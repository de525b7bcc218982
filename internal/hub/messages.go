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
	return s.send(ctx, by, incoming{SendMessage: in})
}

// An incoming is a message that a client sends.
type incoming struct {
	api.SendMessage

	// line is the message as a line for the CLI, with its uuid, if it came so.
	line json.RawMessage
	uuid string
}

// send is Send to a session in use.
func (s *session) send(ctx context.Context, by Actor, in incoming) (*api.Message, error) {
	h, id := s.hub, s.id
	var what any = in.SendMessage
	if in.line != nil {
		what = in.line
	}
	request, err := repeatableOf("send", id, in.ClientID, what)
	if err != nil {
		return nil, h.problem(err, id)
	}
	var sent *api.Message
	old, err := s.once(ctx, request, func(st *step) (err error) {
		if sent, err = st.message(by, in); err == nil {
			st.keepAnswer(request, sent)
		}
		return err
	})
	if err == nil && old != nil {
		sent, err = s.sentBefore(ctx, old)
	}
	if err != nil {
		return nil, h.problem(err, id)
	}
	return sent, nil
}

// sentBefore returns a message as it is now; old is what its sender was answered.
func (s *session) sentBefore(ctx context.Context, old json.RawMessage) (*api.Message, error) {
	sent := new(api.Message)
	if err := json.Unmarshal(old, sent); err != nil {
		return nil, fmt.Errorf("reading what was answered before: %w", err)
	}
	err := s.do(ctx, reading, func(*step) error {
		if v := s.projection.command(sent.ID); v != nil {
			*sent = messageOf(*v)
		}
		return nil
	})
	return sent, err
}

// message takes in a new message.
func (st *step) message(by Actor, in incoming) (*api.Message, error) {
	s := st.s
	if in.uuid != "" && s.projection.knows(in.uuid) {
		return nil, &api.Error{
			Status: http.StatusConflict, Code: api.CodeClientIDReused, Title: "another message has this uuid, so the agent would ignore this one",
			Hint: "use a new uuid, or none",
		}
	}
	if err := s.projection.room(); err != nil {
		return nil, err
	}
	if err := s.foreign(true); err != nil {
		return nil, err
	}
	switch in.Mode {
	case "", modeQueue:
		if s.projection.Ended == nil {
			return st.enqueue(by, in, false)
		}
		if in.NoResume {
			return nil, &api.Error{Status: http.StatusConflict, Code: api.CodeEnded, Title: "the session has ended", Detail: s.projection.Ended.Reason, Hint: "resume it, or leave out no_resume"}
		}
		if err := s.resumable(); err != nil {
			return nil, err
		}
		sent, err := st.enqueue(by, in, false)
		if err == nil {
			st.startRun(runSpec{fresh: s.projection.Options.Fresh})
		}
		return sent, err
	case modeSteer:
		if err := s.reachable(); err != nil {
			return nil, err
		}
		if err := st.limits(Actor{}).Steer(); err != nil {
			return nil, err
		}
		sent, err := st.enqueue(by, in, false)
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

// How many messages may wait in a session's queue, and how much of them: they are
// all in memory.
const (
	maxQueued      = 1000
	maxQueuedBytes = 256 << 20
)

// room says that no more messages are taken, nil if some are.
func (p *projection) room() error {
	n, size := 0, 0
	for i := range p.Commands {
		if v := &p.Commands[i]; takenUp(v.Kind) {
			n, size = n+1, size+len(v.Data)
		}
	}
	if n < maxQueued && size < maxQueuedBytes {
		return nil
	}
	return &api.Error{
		Status: http.StatusTooManyRequests, Code: api.CodeTooMany, Title: "too many messages are queued",
		Hint: "wait until the agent takes some, or delete some",
	}
}

// knows reports whether a message with this uuid is waiting, or was taken up not
// long ago.
func (p *projection) knows(uuid string) bool {
	return slices.Contains(p.State.Queue.Taken, uuid) || slices.ContainsFunc(p.Commands, func(v journal.Command) bool { return v.UUID == uuid })
}

// queue puts a message into the queue.
func (st *step) queue(by Actor, in api.SendMessage) (*api.Message, error) {
	return st.enqueue(by, incoming{SendMessage: in}, false)
}

// queueFirst puts a message before the others in the queue.
func (st *step) queueFirst(by Actor, in api.SendMessage) (*api.Message, error) {
	return st.enqueue(by, incoming{SendMessage: in}, true)
}

func (st *step) enqueue(by Actor, in incoming, first bool) (*api.Message, error) {
	if in.Mode == "" {
		in.Mode = modeQueue
	}
	m := api.Message{
		ID: newID("m"), ClientID: in.ClientID, State: api.MessageQueued, Mode: in.Mode, Text: in.Text, Content: in.Content,
		UUID: in.uuid, By: by.Name, Created: st.now, First: first, Line: in.line,
	}
	if m.UUID == "" {
		m.UUID = wire.NewUUID()
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
		_, err = st.s.projection.fit(line)
	}
	if err != nil {
		return lineProblem(err)
	}
	return nil
}

// messageLine returns the line of a message.
func messageLine(m api.Message) ([]byte, error) {
	if len(m.Line) > 0 {
		return m.Line, nil
	}
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

// actorOf returns the actor that gave a command.
func actorOf(v journal.Command) Actor {
	if v.By == "" {
		return Actor{}
	}
	return Actor{Source: journal.SourcePerson, Name: v.By}
}

func (p *projection) command(id string) *journal.Command {
	if i := p.commandIndex(id); i >= 0 {
		return &p.Commands[i]
	}
	return nil
}

// queued finds a queued message by the client's id or ours.
func (s *session) queued(id string) (journal.Command, error) {
	i := slices.IndexFunc(s.projection.Commands, func(v journal.Command) bool {
		return takenUp(v.Kind) && (v.ID == id || v.ClientID == id && id != "")
	})
	if i < 0 {
		return journal.Command{}, &api.Error{
			Status: http.StatusConflict, Code: api.CodeNotQueued, Title: "no queued message has this id",
			Hint: "the agent may have it already",
		}
	}
	v := s.projection.Commands[i]
	if v.State != string(api.MessageQueued) {
		return v, &api.Error{Status: http.StatusConflict, Code: api.CodeNotQueued, Title: "the message was already sent", Hint: "interrupt the turn instead"}
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
		m.Text, m.Content, m.Line = in.Text, in.Content, nil
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
	err = s.do(ctx, writing, func(st *step) error {
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
