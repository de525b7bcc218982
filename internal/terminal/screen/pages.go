package screen

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
)

// pageSize is how many events are read at a time. It is some screens of conversation, and on a slow line still soon there.
const pageSize = 100

// errAnotherLog says that the log is no longer the one that was being read: it has another epoch.
var errAnotherLog = errors.New("the session's log has changed")

// A log reads a session's events by their places. Ids are "epoch:seq" with dense numbers, so that a page before a place can be named without
// reading what lies between.
type log struct {
	hub     Hub
	session string
	epoch   string
}

// placeOf returns the parts of an event's id; seq is 0 if it is none.
func placeOf(id string) (epoch string, seq int64) {
	epoch, number, found := strings.Cut(id, ":")
	if !found {
		return "", 0
	}
	seq, err := strconv.ParseInt(number, 10, 64)
	if err != nil || seq < 0 {
		return "", 0
	}
	return epoch, seq
}

// id names the event with a number; that before the first has no name.
func (l *log) id(seq int64) string {
	if seq <= 0 {
		return ""
	}
	return l.epoch + ":" + strconv.FormatInt(seq, 10)
}

// before reads the page that ends just before an event, and says which number it begins with.
func (l *log) before(ctx context.Context, first int64) (events []api.Event, from int64, err error) {
	from = max(1, first-pageSize)
	events, err = l.between(ctx, from, first-1)
	return events, from, err
}

// after reads a page that begins just behind an event, and no further than last.
func (l *log) after(ctx context.Context, seq, last int64) ([]api.Event, error) {
	return l.between(ctx, seq+1, min(seq+pageSize, last))
}

// between reads the events with these numbers, both included. A server may give less than was asked for if events are long; then it is asked again.
func (l *log) between(ctx context.Context, from, to int64) ([]api.Event, error) {
	var events []api.Event
	for from <= to {
		page, err := l.hub.Events(ctx, l.session, l.id(from-1), int(to-from+1))
		if err != nil {
			return nil, fmt.Errorf("reading the session's log: %w", err)
		}
		if page.Resume == "reset" {
			return nil, errAnotherLog
		}
		if len(page.Events) == 0 {
			break // what was there has been removed
		}
		for _, e := range page.Events {
			if e.Seq >= from && e.Seq <= to {
				events = append(events, e)
			}
		}
		next := page.Events[len(page.Events)-1].Seq + 1
		if next <= from {
			return nil, fmt.Errorf("reading the session's log: the hub gave event %d, which is before %d", next-1, from)
		}
		from = next
	}
	return events, nil
}
