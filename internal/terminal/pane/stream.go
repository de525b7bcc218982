package pane

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/api"
)

const (
	// gap is the shortest time between two batches of a stream, so that there are at most 20 redraws in a second however fast an agent writes.
	gap = 50 * time.Millisecond
	// maxFrames and maxBytes are how much is taken before the last batch was looked at. The server waits for a client that is slower, or has it
	// read the journal.
	maxFrames = 2000
	maxBytes  = 8 << 20
)

// A Batch is what a stream brought since the last one.
type Batch struct {
	Stream int // its number: what comes of a stream that was left counts for nothing
	Frames []api.Frame
	// Lost is why there is no connection, nil while there is one.
	Lost error
	// Err is the last thing that comes.
	Err error
}

// A Stream follows something and hands on what comes in batches.
type Stream struct {
	// Static after construction.
	Number int
	Cancel context.CancelFunc

	mu      sync.Mutex
	batch   Batch
	bytes   int
	changed chan struct{} // holds one: there is something
	room    chan struct{} // holds one: something was taken
	last    time.Time     // when a batch was handed on
}

// Stream starts to follow, in a goroutine that Close waits for. follow is given the function to call when the connection is lost.
func (j *Jobs) Stream(number int, follow func(ctx context.Context, lost func(error, time.Duration)) iter.Seq2[api.Frame, error]) *Stream {
	ctx, cancel := context.WithCancel(j.ctx)
	s := &Stream{Number: number, Cancel: cancel, changed: make(chan struct{}, 1), room: make(chan struct{}, 1)}
	j.group.Go(func() {
		defer cancel()
		for frame, err := range follow(ctx, func(err error, _ time.Duration) { s.Lost(err) }) {
			if !s.take(ctx, frame, err) {
				return
			}
		}
		s.take(ctx, api.Frame{}, errors.New("the stream of events has ended"))
	})
	return s
}

// Lost says that the connection is lost; the next frame says that it is back. It may be called by any goroutine.
func (s *Stream) Lost(err error) {
	s.mu.Lock()
	s.batch.Lost = err
	s.mu.Unlock()
	signal(s.changed)
}

// signal says that something has happened, if that was not said already.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// take adds to the batch, and waits while it is too big.
func (s *Stream) take(ctx context.Context, frame api.Frame, err error) bool {
	s.mu.Lock()
	if err != nil {
		s.batch.Err = err
	} else {
		s.batch.Frames = append(s.batch.Frames, frame)
		s.batch.Lost = nil
		s.bytes += weight(&frame)
	}
	full := len(s.batch.Frames) >= maxFrames || s.bytes >= maxBytes
	s.mu.Unlock()
	signal(s.changed)
	for full && err == nil {
		select {
		case <-s.room:
		case <-ctx.Done():
			return false
		}
		s.mu.Lock()
		full = len(s.batch.Frames) >= maxFrames || s.bytes >= maxBytes
		s.mu.Unlock()
	}
	return err == nil && ctx.Err() == nil
}

// weight is about how much memory a frame takes.
func weight(f *api.Frame) int {
	if f.Event == nil {
		return 200
	}
	return 200 + len(f.Event.Line) + len(f.Event.Data) + len(f.Event.Text) + len(f.Event.Base64)
}

// Next is the command that waits for the next batch. One at a time may run.
func (s *Stream) Next(ctx context.Context) tea.Msg {
	select {
	case <-s.changed:
	case <-ctx.Done():
		return nil
	}
	if wait := gap - time.Since(s.last); wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	select { // what was said meanwhile is in this batch
	case <-s.changed:
	default:
	}
	b := s.batch
	b.Stream = s.Number
	s.batch, s.bytes, s.last = Batch{Lost: b.Lost}, 0, time.Now()
	signal(s.room)
	return b
}
