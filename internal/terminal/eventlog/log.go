package eventlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

// PageSize is how many events are read at a time unless a log says otherwise. It is some screens of conversation, and on a slow line still soon there.
const PageSize = 100

// maxPage is how many events are asked for at once: a hub refuses to give more than a thousand.
const maxPage = 500

// ErrReset says that the log is no longer the one that was being read: it has another epoch.
var ErrReset = errors.New("the session's log has changed")

// A Reader reads a page of a session's log: at most limit events behind the one named. A client of a hub is one.
type Reader interface {
	Events(ctx context.Context, id, after string, limit int) (*api.EventPage, error)
}

// Follow follows a session without live lines. When the hub is away it says so on errs, once, and waits for the next one.
func Follow(ctx context.Context, c *client.Client, id string, errs io.Writer, o client.FollowOptions) iter.Seq2[api.Frame, error] {
	return func(yield func(api.Frame, error) bool) {
		lost := false // this and what follows run in one goroutine
		o.NoLive = true
		o.Lost = func(err error, _ time.Duration) {
			if !lost && ctx.Err() == nil {
				fmt.Fprintf(errs, "switchboard: the hub is away (%s); waiting for it\n", paint.Clean(err.Error()))
			}
			lost = true
		}
		for frame, err := range c.Follow(ctx, id, &o) {
			lost = false
			if !yield(frame, err) {
				return
			}
		}
	}
}

// A Log reads a session's events by their positions. Ids are "epoch:seq" with dense numbers, so that a page before a position can be named without
// reading what lies between.
type Log struct {
	Hub            Reader
	Session, Epoch string
	// Page is how many events are read at a time. If zero, PageSize.
	Page int64
}

// Of returns the log of a session, and the number of its last event.
func Of(hub Reader, s *api.Session) (Log, int64) {
	epoch, last := Position(s.LastEventID)
	return Log{Hub: hub, Session: s.ID, Epoch: epoch}, last
}

// Position returns the parts of an event's id; seq is 0 if it is none.
func Position(id string) (epoch string, seq int64) {
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

// ID names the event with a number; that before the first has no name.
func (l *Log) ID(seq int64) string {
	if seq <= 0 {
		return ""
	}
	return l.Epoch + ":" + strconv.FormatInt(seq, 10)
}

// page is how many events are read at a time.
func (l *Log) page() int64 {
	if l.Page > 0 {
		return l.Page
	}
	return PageSize
}

// Before reads the page that ends just before an event, and says which number it begins with.
func (l *Log) Before(ctx context.Context, first int64) (events []api.Event, from int64, err error) {
	from = max(1, first-l.page())
	events, err = l.Between(ctx, from, first-1)
	return events, from, err
}

// After reads a page that begins just behind an event, and no further than last.
func (l *Log) After(ctx context.Context, seq, last int64) ([]api.Event, error) {
	return l.Between(ctx, seq+1, min(seq+l.page(), last))
}

// Between reads the events with these numbers, both included. A hub may give less than was asked for if events are long; then it is asked again.
func (l *Log) Between(ctx context.Context, from, to int64) ([]api.Event, error) {
	var events []api.Event
	for from <= to {
		page, err := l.Hub.Events(ctx, l.Session, l.ID(from-1), int(min(to-from+1, maxPage)))
		if err != nil {
			return nil, fmt.Errorf("reading the session's log: %w", err)
		}
		if page.Resume == "reset" {
			return nil, ErrReset
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

// Back visits the events before one, the nearest first, until visit returns false or so many pages were read; all of them if pages is 0.
func (l *Log) Back(ctx context.Context, before int64, pages int, visit func(*api.Event) bool) error {
	for n := 0; before > 1 && (pages == 0 || n < pages); n++ {
		events, from, err := l.Before(ctx, before)
		if err != nil {
			return err
		}
		for i := len(events) - 1; i >= 0; i-- {
			if !visit(&events[i]) {
				return nil
			}
		}
		before = from
	}
	return nil
}

// Since returns the number of the first event at or after a time, of those up to last; last+1 if there is none. Their times ascend, so that a few looks
// are enough.
func (l *Log) Since(ctx context.Context, since time.Time, last int64) (seq int64, err error) {
	n := sort.Search(int(last), func(i int) bool {
		events, failed := l.Between(ctx, int64(i)+1, int64(i)+1)
		if failed != nil {
			err = failed
		}
		return failed != nil || len(events) == 0 || !events[0].Time.Before(since)
	})
	return int64(n) + 1, err
}
