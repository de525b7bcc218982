//go:build linux || darwin

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
)

// lostLimit is how long a verdict waits for lines that may have been lost.
const lostLimit = 20 * time.Second

// verdict waits until everything has come to rest, stops the hub, and judges. The
// hub can be started again afterwards.
func (l *lab) verdict(sessions ...*session) {
	l.t.Helper()
	for _, s := range sessions {
		if err := eventually(patience, s.rested); err != nil {
			l.t.Errorf("session %s does not come to rest: %v", s.id, err)
		}
		if s.dialled {
			// What it has lost does not come; then the judge decides.
			if err := eventually(lostLimit, s.complete); err != nil {
				l.t.Logf("session %s is not complete: %v", s.id, err)
			}
		}
		if snapshot, err := s.snapshot(l.ctx()); err != nil {
			l.t.Error(err)
		} else if snapshot.State == api.StateEnded && !s.shot {
			l.t.Errorf("the CLI of session %s is dead: %+v", s.id, snapshot.Ended)
		}
	}
	l.stop()
	j := l.openJournal()
	defer func() {
		if err := j.Close(); err != nil {
			l.t.Error(err)
		}
	}()
	for _, s := range sessions {
		e, err := gather(l.t.Context(), j, s)
		if err != nil {
			l.t.Error(err)
			continue
		}
		wrong := slices.Concat(judge(e), s.faults(), s.compare(e.entries))
		for _, complaint := range wrong {
			l.t.Errorf("session %s: %s", s.id, complaint)
		}
		if len(e.records) == 0 {
			l.t.Errorf("session %s: there is no record of a process", s.id)
		}
	}
	if wrong, err := j.Check(l.t.Context()); err != nil || len(wrong) > 0 {
		l.t.Errorf("the journal is not sound: %v %v", wrong, err)
	}
}

// rested says whether the hub has all that the CLI has written so far, and no
// command is on its way.
func (s *session) rested() error {
	snapshot, err := s.snapshot(s.lab.t.Context())
	if err != nil {
		return err
	}
	for _, message := range snapshot.Messages {
		if message.State == api.MessageSent || message.State == api.MessageQueued {
			return fmt.Errorf("message %s is %s", message.ClientID, message.State)
		}
	}
	var list api.QuestionList
	if err := s.lab.call(s.lab.t.Context(), "GET", "/v1/questions?session="+s.id, nil, &list); err != nil {
		return err
	}
	for _, question := range list.Questions {
		if question.Delivery == api.MessageSent || question.Delivery == api.MessageQueued {
			return fmt.Errorf("the answer to %s is %s", question.ID, question.Delivery)
		}
	}
	s.mu.Lock()
	n := len(s.events)
	last := n > 0 && s.events[n-1].ID == snapshot.LastEventID
	s.mu.Unlock()
	if !last {
		return fmt.Errorf("the subscriber is not at %s yet", snapshot.LastEventID)
	}
	if s.dialled || s.shot {
		return nil // what was lost does not come
	}
	return s.complete()
}

// complete says whether the hub has all that the CLI has written so far, and its
// turn is over or waits for an answer.
func (s *session) complete() error {
	record, err := s.newestRecord()
	if err != nil {
		return err
	}
	snapshot, err := s.snapshot(s.lab.t.Context())
	if err != nil {
		return err
	}
	// A turn goes on for a few lines after its result.
	switch snapshot.State {
	case api.StateStarting, api.StateRunning, api.StateOffline:
		return fmt.Errorf("it is %s", snapshot.State)
	case api.StateIdle, api.StateRequiresAction, api.StateBackground, api.StateEnded:
	}
	lines := durable(record)
	if len(lines) == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.ContainsFunc(s.events, func(e api.Event) bool { return bytes.Equal(e.Line, lines[len(lines)-1]) }) {
		return errors.New("the last line of the record has not come: " + brief(lines[len(lines)-1]))
	}
	return nil
}

// compare holds that the subscriber has seen exactly what the journal holds, to
// the byte.
func (s *session) compare(entries []journal.Entry) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var wrong []string
	for i, event := range s.events {
		if i >= len(entries) {
			wrong = append(wrong, fmt.Sprintf("the subscriber was shown event %d, which is not in the journal", event.Seq))
			break
		}
		entry := entries[i]
		if entry.Seq != event.Seq || entry.Kind != event.Kind || event.Line != nil && !bytes.Equal(entry.Line, event.Line) {
			wrong = append(wrong, fmt.Sprintf("the subscriber was shown %d %s %s, the journal has %d %s %s", event.Seq, event.Kind, brief(event.Line), entry.Seq, entry.Kind, brief(entry.Line)))
			break
		}
	}
	return wrong
}
