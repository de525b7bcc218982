package report

import (
	"encoding/json"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/internal/transcript"
)

// A story is what a person reads of a session's entries, item by item. It
// remembers what goes on, and nothing else.
type story struct {
	epoch string
	talk  transcript.Conversation
}

// next reads an entry. It returns its event, and the items that it has begun or
// changed, which are valid until the next one is read.
func (s *story) next(e *journal.Entry) (*api.Event, []*transcript.Item) {
	s.talk.Forget()
	event := record.Event(e, s.epoch)
	changed := s.talk.Event(event)
	var items []*transcript.Item
	for _, i := range changed.Items {
		items = append(items, s.talk.Item(i))
	}
	for i := s.talk.Len() - changed.Appended; i < s.talk.Len(); i++ {
		items = append(items, s.talk.Item(i))
	}
	return event, items
}

// begun reports whether an event tells of an item for the first time. Of a prompt it
// does when the agent gets it, or got it before the session; that it was written
// may be told on a later page than what it says.
func begun(e *api.Event, it *transcript.Item) bool {
	if it.Kind == transcript.KindPrompt && (e.Kind == api.KindLine || it.Failed || it.Text == "") {
		return false
	}
	return it.Event == e.ID
}

// called reports whether an event tells of a tool call, and not of its result only.
func called(e *api.Event, it *transcript.Item) bool {
	return begun(e, it) && it.Tool.Input != nil
}

// finished reports whether the result of a tool call is known.
func finished(it *transcript.Item) bool { return !it.Tool.Ended.IsZero() }

// dataAs returns the data of an entry, or of its event.
func dataAs[T any](data json.RawMessage) (v T, ok bool) {
	ok = json.Unmarshal(data, &v) == nil
	return v, ok
}
