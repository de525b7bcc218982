package claude

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// A Prompt is what is said to the CLI.
type Prompt struct {
	// Text is what is said. It comes before Content.
	Text string
	// Content holds images, documents and further texts; see [Image] and
	// [Document].
	Content []wire.Block
	// ID is the prompt's id, a UUID. If empty, one is made. The same id sent
	// twice is sent once, unless it was taken back, or could not be written, before.
	ID string
	// Steer has the prompt written at once: into the turn that is going on, which
	// takes it up when its next tool is done. Otherwise the session keeps it until
	// the CLI is idle, so that it gets a turn of its own.
	Steer bool
	// Priority says when a prompt that comes during a turn is worked on. If empty,
	// the CLI decides. Newer versions only; [wire.MessagePriorityNow] ends the
	// turn that is going on.
	Priority wire.MessagePriority
	// Append adds the prompt to the conversation without starting a turn. Newer
	// versions only.
	Append bool
	// Literal takes the text as it is: a slash at its beginning is no command.
	Literal bool
}

// TextPrompt returns a prompt that is nothing but text.
func TextPrompt(text string) Prompt { return Prompt{Text: text} }

// Image returns an image for [Prompt.Content]. The media type is image/png,
// image/jpeg, image/gif or image/webp.
func Image(mediaType string, data []byte) wire.Block {
	return &wire.ImageBlock{Media: wire.MediaSource{Type: "base64", MediaType: mediaType, Data: base64.StdEncoding.EncodeToString(data)}}
}

// Document returns a document for [Prompt.Content]: of media type application/pdf,
// or text/plain. The title may be empty.
func Document(mediaType, title string, data []byte) wire.Block {
	source := wire.MediaSource{Type: "base64", MediaType: mediaType, Data: base64.StdEncoding.EncodeToString(data)}
	if mediaType == "text/plain" {
		source.Type, source.Data = "text", string(data)
	}
	return &wire.DocumentBlock{Media: source, Title: title}
}

// Sent is what became of a prompt at first.
type Sent struct {
	// ID is the prompt's id.
	ID string
	// Queued says that the session keeps the prompt until the CLI is idle.
	// [Session.TakeBack] takes it back.
	Queued bool
}

var (
	// ErrTakenBack is what [Session.Ask] returns for a prompt that was taken back,
	// or that the CLI dropped.
	ErrTakenBack = errors.New("the prompt was taken back")
	// ErrQueueFull is returned by [Session.Send] when far too many prompts wait.
	ErrQueueFull = errors.New("too many prompts are waiting")
)

// How many prompts may wait, and how many ids are remembered.
const (
	maxPrompts = 1000
	maxKnown   = 4096
)

// A sentPrompt is a prompt on its way.
type sentPrompt struct {
	Prompt
	line    []byte
	written chan struct{} // closed when it was written or given up
	done    chan struct{} // closed when completion or err is there
	isDone  bool
	now     bool // it is written although further prompts are held back

	completion *Completion
	err        error
}

// An outbox holds prompts on their way to the CLI.
type outbox struct {
	queue   []*sentPrompt          // kept until the CLI is idle, or to be written at once
	writing *sentPrompt            // being written by the pump
	open    map[string]*sentPrompt // written, without a completion
	again   []string               // to be written once more, after a reconnect
	known   map[string]bool        // ids that were sent, the newest ones
	order   []string               // of known
	held    int                    // so many interrupt: nothing new is begun
	lost    bool                   // the connection was lost before, so it can come back
	quiet   bool                   // the turn may be over without our knowing
	doubt   *time.Timer            // runs while that is being found out without a reconnect
}

// busy reports whether there is something that is about to be written.
func (o *outbox) busy() bool { return len(o.queue) > 0 || o.writing != nil }

// remember notes an id and reports whether it is new.
func (o *outbox) remember(id string) bool {
	if o.known[id] {
		return false
	}
	if o.known == nil {
		o.known = map[string]bool{}
	}
	o.known[id] = true
	if o.order = append(o.order, id); len(o.order) > maxKnown {
		delete(o.known, o.order[0])
		o.order = o.order[1:]
	}
	return true
}

// forget takes back remember, for a prompt that was not written: a caller that sends it
// again means it.
func (o *outbox) forget(id string) {
	delete(o.known, id)
	if i := slices.Index(o.order, id); i >= 0 {
		o.order = slices.Delete(o.order, i, i+1)
	}
}

// Send sends a prompt. It returns as soon as the session has it; one that steers
// when it has been written. ctx bounds the latter.
//
// What becomes of the prompt is told by [Session.Ask], which also waits for the
// answer, by [Session.Activity] and by the events.
func (s *Session) Send(ctx context.Context, p Prompt) (Sent, error) {
	sent, _, err := s.send(ctx, p)
	return sent, err
}

func (s *Session) send(ctx context.Context, p Prompt) (Sent, *sentPrompt, error) {
	q, err := s.prepare(p)
	if err != nil {
		return Sent{}, nil, fmt.Errorf("sending a prompt: %w", err)
	}
	q, queued, err := s.enqueue(q)
	if err != nil {
		return Sent{}, nil, fmt.Errorf("sending a prompt: %w", err)
	}
	if q == nil {
		return Sent{ID: p.ID}, nil, nil // it has long been answered
	}
	sent := Sent{ID: q.ID, Queued: queued}
	if !q.Steer {
		return sent, q, nil
	}
	select {
	case <-q.written:
		return sent, q, q.failure()
	case <-ctx.Done():
		if s.unqueue(q.ID, ErrTakenBack) {
			return Sent{}, nil, fmt.Errorf("sending a prompt: %w", context.Cause(ctx))
		}
		return sent, q, nil // it is being written
	}
}

// failure returns why a prompt was given up, nil if it was not.
func (q *sentPrompt) failure() error {
	select {
	case <-q.done:
		if q.err != nil {
			return fmt.Errorf("sending a prompt: %w", q.err)
		}
	default:
	}
	return nil
}

// prepare makes the line of a prompt.
func (s *Session) prepare(p Prompt) (*sentPrompt, error) {
	if p.ID == "" {
		p.ID = wire.NewUUID()
	} else if !wire.IsUUID(p.ID) {
		return nil, &OptionError{"ID", fmt.Sprintf("%q is not a UUID, and the CLI takes nothing else", p.ID)}
	}
	content := wire.TextContent(p.Text)
	if len(p.Content) > 0 {
		blocks := slices.Clone(p.Content)
		if p.Text != "" {
			blocks = slices.Insert(blocks, 0, wire.Block(&wire.TextBlock{Text: p.Text}))
		}
		content = wire.BlockContent(blocks...)
	} else if strings.TrimSpace(p.Text) == "" {
		return nil, &OptionError{"Text", "the prompt is empty"}
	}
	line, err := wire.NewUser(content, &wire.UserOptions{
		UUID: p.ID, Priority: p.Priority, Append: p.Append, Literal: p.Literal || s.options.VerbatimPrompts,
	})
	if err != nil {
		return nil, err
	}
	// What the version cannot take is said now, not when its turn has come.
	if _, err := s.conn.fit(line); err != nil {
		return nil, err
	}
	return &sentPrompt{Prompt: p, line: line, written: make(chan struct{}), done: make(chan struct{})}, nil
}

// enqueue puts a prompt into the outbox. A prompt that is there already is
// returned in its place, and nil for one that was there once.
func (s *Session) enqueue(q *sentPrompt) (there *sentPrompt, queued bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := &s.outbox
	if s.ended != nil || s.closing {
		return nil, false, s.endCause()
	}
	if o.known[q.ID] {
		if i := o.index(q.ID); i >= 0 {
			return o.queue[i], true, nil
		}
		if o.writing != nil && o.writing.ID == q.ID {
			return o.writing, false, nil
		}
		return o.open[q.ID], false, nil
	}
	if len(o.queue) >= maxPrompts {
		return nil, false, ErrQueueFull
	}
	o.remember(q.ID)
	o.queue = append(o.queue, q)
	s.notifyChanges()
	return q, !q.Steer, nil
}

func (o *outbox) index(id string) int {
	return slices.IndexFunc(o.queue, func(q *sentPrompt) bool { return q.ID == id })
}

// unqueue removes a prompt that has not been written.
func (s *Session) unqueue(id string, cause error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.outbox.index(id)
	if i < 0 {
		return false
	}
	q := s.outbox.queue[i]
	s.outbox.queue = slices.Delete(s.outbox.queue, i, i+1)
	s.outbox.forget(id)
	s.drop(q, cause)
	s.notifyChanges()
	return true
}

// Queue returns the prompts that the session keeps until the CLI is idle, the
// next one first.
func (s *Session) Queue() []Prompt {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Prompt, 0, len(s.outbox.queue))
	for _, q := range s.outbox.queue {
		list = append(list, q.Prompt)
	}
	return list
}

// TakeBack takes a prompt back that the CLI has not begun to work on. It reports
// whether it could: one that was written already is taken back only from versions
// that can do so, and from others not ([*UnsupportedError]).
func (s *Session) TakeBack(ctx context.Context, id string) (bool, error) {
	if s.unqueue(id, ErrTakenBack) {
		return true, nil
	}
	s.mu.Lock()
	waits := slices.ContainsFunc(s.fold.Queue.Waiting, func(p fold.Prompt) bool { return p.UUID == id })
	s.mu.Unlock()
	if !waits {
		return false, nil
	}
	a, err := s.conn.Request(ctx, &wire.CancelAsyncMessageRequest{MessageUUID: id})
	if err != nil {
		return false, fmt.Errorf("taking a prompt back: %w", err)
	}
	body, err := wire.DecodeAnswer("cancel_async_message", a.Response)
	if err != nil {
		return false, fmt.Errorf("taking a prompt back: %w", err)
	}
	answer, ok := body.(*wire.CancelAsyncMessageAnswer)
	return ok && answer.Cancelled, nil
}

// takeBackSent takes back what was folded of a line that was not sent. mu is held.
func (s *Session) takeBackSent(f *fold.Line) {
	switch string(f.Header.Type) {
	case "user":
		s.unwait(string(f.Header.UUID))
	case "control_request":
		id := string(f.Header.RequestID)
		s.fold.Requests = slices.DeleteFunc(s.fold.Requests, func(r fold.Request) bool { return r.ID == id })
		if string(f.Header.RequestSubtype) == "interrupt" {
			s.fold.Interrupting = false
		}
	}
}

// unwait notes that the CLI does not have a prompt and will not get it. mu is
// held.
func (s *Session) unwait(id string) {
	s.fold.Queue.Waiting = slices.DeleteFunc(s.fold.Queue.Waiting, func(p fold.Prompt) bool { return p.UUID == id && id != "" })
}
