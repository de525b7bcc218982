//go:build linux || darwin

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

// A session is one of the hub's, with its agent's record and a subscriber.
type session struct {
	lab    *lab
	id     string
	dir    string
	record string
	*follower
	dialled bool // its CLI dials in
	shot    bool // its shim or CLI was killed on purpose: some fates are not known
	// restored says that the journal was replaced by an older copy.
	restored bool
}

// create creates a session, however often the hub dies meanwhile.
func (l *lab) create(ctx context.Context, change func(*api.CreateSession)) (*session, error) {
	dir, record := l.newDir("")
	return l.createIn(ctx, dir, record, change)
}

// createIn is create in a folder that newDir has made.
func (l *lab) createIn(ctx context.Context, dir, record string, change func(*api.CreateSession)) (*session, error) {
	request := api.CreateSession{ClientID: "create-" + dir, Dir: dir}
	if change != nil {
		change(&request)
	}
	if err := l.hand(dir); err != nil {
		return nil, err
	}
	var created api.Created
	if err := l.insist(ctx, http.MethodPost, "/v1/sessions", request, &created); err != nil {
		return nil, fmt.Errorf("creating a session: %w", err)
	}
	return &session{lab: l, id: created.ID, dir: dir, record: record, follower: l.follow(created.ID)}, nil
}

// mustCreate creates a session or ends the test.
func (l *lab) mustCreate(change func(*api.CreateSession)) *session {
	l.t.Helper()
	s, err := l.create(l.ctx(), change)
	if err != nil {
		l.t.Fatal(err)
	}
	return s
}

func (s *session) path(rest string) string { return "/v1/sessions/" + s.id + rest }

// snapshot returns what the hub says of the session now.
func (s *session) snapshot(ctx context.Context) (*api.Session, error) {
	var snapshot api.Session
	return &snapshot, s.lab.insist(ctx, http.MethodGet, s.path(""), nil, &snapshot)
}

// send sends a message with a client id, however often the hub dies meanwhile.
func (s *session) send(ctx context.Context, clientID, text string) (*api.Message, error) {
	var message api.Message
	err := s.lab.insist(ctx, http.MethodPost, s.path("/messages"), api.SendMessage{ClientID: clientID, Text: text}, &message)
	if err != nil {
		return nil, fmt.Errorf("sending %s: %w", clientID, err)
	}
	return &message, nil
}

// turn sends a message and waits for the end of the turn that it begins.
func (s *session) turn(ctx context.Context, clientID, text string) error {
	mark := s.mark()
	message, err := s.send(ctx, clientID, text)
	if err != nil {
		return err
	}
	return s.awaitTurn(ctx, mark, message)
}

// awaitTurn waits until the turn of a message has ended that was sent after a
// mark: for the first result behind the entry that says that the line was sent.
func (s *session) awaitTurn(ctx context.Context, mark int, message *api.Message) error {
	_, err := s.awaitFrom(ctx, mark, "the end of the turn of "+message.ClientID, func(events []api.Event) bool {
		return turnEnded(events, message.UUID)
	})
	return err
}

// turnEnded says whether events hold a line to the CLI with this uuid, or its
// echo, and a result behind it.
func turnEnded(events []api.Event, uuid string) bool {
	sent := false
	for _, e := range events {
		if e.Line == nil {
			continue
		}
		header, err := wire.Peek(e.Line)
		switch {
		case err != nil:
		case string(header.UUID) == uuid:
			sent = true
		case sent && e.Kind == api.KindLine && string(header.Type) == "result":
			return true
		}
	}
	return false
}

// awaitQuestion waits for the n-th question behind a mark, from 1.
func (s *session) awaitQuestion(ctx context.Context, mark, n int) (*api.Question, error) {
	var question api.Question
	_, err := s.awaitFrom(ctx, mark, fmt.Sprintf("question %d", n), func(events []api.Event) bool {
		seen := 0
		for _, e := range events {
			if e.Kind != api.KindQuestionOpened {
				continue
			}
			if seen++; seen == n {
				return json.Unmarshal(e.Data, &question) == nil
			}
		}
		return false
	})
	return &question, err
}

// answer answers a question, however often the hub dies meanwhile.
func (s *session) answer(ctx context.Context, question string, answer api.Answer) error {
	var settled api.Question
	if err := s.lab.insist(ctx, http.MethodPost, "/v1/questions/"+question+"/answer", answer, &settled); err != nil {
		return fmt.Errorf("answering %s: %w", question, err)
	}
	if settled.State != api.QuestionAnswered {
		return fmt.Errorf("the question is %s after it was answered", settled.State)
	}
	return nil
}

// allow allows what the n-th question of the session asks.
func (s *session) allow(ctx context.Context, n int) error {
	question, err := s.awaitQuestion(ctx, 0, n)
	if err != nil {
		return err
	}
	return s.answer(ctx, question.ID, api.Answer{ClientID: fmt.Sprintf("answer-%d", n), Decision: "allow"})
}

// awaitState waits until the hub says that the session is in a state.
func (s *session) awaitState(ctx context.Context, states ...api.State) (*api.Session, error) {
	var snapshot *api.Session
	for {
		var err error
		if snapshot, err = s.snapshot(ctx); err != nil {
			return nil, err
		}
		if slices.Contains(states, snapshot.State) {
			return snapshot, nil
		}
		last := snapshot.LastEventID
		// Whatever changes a state is an event.
		if _, err := s.await(ctx, fmt.Sprintf("the state %v, not %s", states, snapshot.State), func(events []api.Event) bool {
			return len(events) > 0 && events[len(events)-1].Seq > seqOf(last)
		}); err != nil {
			return snapshot, err
		}
	}
}

// seqOf returns the number in an event's id, 0 if it has none.
func seqOf(id string) int64 {
	_, number, _ := strings.Cut(id, ":")
	var seq int64
	_, _ = fmt.Sscan(number, &seq) // what is no number is none
	return seq
}

// isResult says whether an event is the end of a turn.
func isResult(e api.Event) bool {
	if e.Kind != api.KindLine {
		return false
	}
	header, err := wire.Peek(e.Line)
	return err == nil && string(header.Type) == "result"
}
