package notify

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// The kinds of notifications.
const (
	// NeedsInput means that a session has asked something.
	NeedsInput = "needs_input"
	// Done means that a session has nothing more to do.
	Done = "done"
	// Failed means that a turn or a process of a session has failed.
	Failed = "failed"
	// Limit means that a budget or a rate limit is reached, or a budget nearly.
	Limit = "limit"
)

// Kinds returns all kinds.
func Kinds() []string { return []string{NeedsInput, Done, Failed, Limit} }

// A Notification is something that people may want to know while they are
// elsewhere.
type Notification struct {
	// Kind is one of [Kinds], Session the session's id.
	Kind, Session string
	// Title, Dir and Text are the session's title and folder, and what it is
	// about. Only targets with Detail are told.
	Title, Dir, Text string
	// Question is the id of what is asked, which the link leads to, and
	// QuestionKind its kind. They may be empty.
	Question, QuestionKind string
	// Time is when it happened. If zero, now.
	Time time.Time
}

// Options say where notifications go. The zero value sends none.
type Options struct {
	Targets []Target
	// Link is the address of the console, which links begin with, such as
	// "https://hub.example". If empty, there are no links.
	Link string
	// Logger is told when a target can no longer be reached, and when it can
	// again. If nil, nothing is logged.
	Logger *slog.Logger
	// UserAgent is how requests name their sender. If empty, "switchboard".
	UserAgent string

	// dial connects to a target's address. If nil, as the system does. Tests
	// set it.
	dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// A Sender delivers notifications. All methods are safe for concurrent use.
//
// It owns one goroutine per target, which Close joins.
type Sender struct {
	// Static after construction.
	outboxes []*outbox
	cancel   context.CancelFunc
	workers  sync.WaitGroup
}

// New returns a sender, or says which target cannot be used and why.
func New(o Options) (*Sender, error) {
	link, err := parseLink(o.Link)
	if err != nil {
		return nil, err
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.UserAgent == "" {
		o.UserAgent = "switchboard"
	}
	s := &Sender{}
	client := newClient(&o)
	for i := range o.Targets {
		c, err := newCourier(&o.Targets[i], client, link, o.UserAgent)
		if err != nil {
			return nil, fmt.Errorf("notification target %d: %w", i+1, err)
		}
		log := o.Logger.With("target", i+1, "kind", c.kind, "host", c.host)
		s.outboxes = append(s.outboxes, newOutbox(c, log))
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	for _, box := range s.outboxes {
		s.workers.Go(func() { box.run(ctx) })
	}
	return s, nil
}

// newClient returns the client for all targets. It follows no redirect, which
// would take a notification to an address that is not configured, and keeps no
// connection, since notifications are rare.
func newClient(o *Options) *http.Client {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10}
	if o.dial != nil {
		transport.DialContext, transport.Proxy = o.dial, nil
	}
	return &http.Client{
		Transport:     transport,
		Timeout:       attemptTimeout, // of everything, from the dialling to the answer's last byte
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Notify has a notification delivered to every target that wants its kind. It
// never blocks. After Close it does nothing.
func (s *Sender) Notify(n Notification) {
	if n.Time.IsZero() {
		n.Time = time.Now()
	}
	id := rand.Text()
	for _, box := range s.outboxes {
		if box.courier.wants(n.Kind) {
			box.put(&letter{id: id, notification: n, created: time.Now()})
		}
	}
}

// Close takes no more notifications, gives those that are due one more attempt
// and returns when that is done, or when ctx ends, with no request left. The
// error says how many were not delivered. It may be called again.
func (s *Sender) Close(ctx context.Context) error {
	for _, box := range s.outboxes {
		box.close()
	}
	stop := context.AfterFunc(ctx, s.cancel)
	s.workers.Wait()
	stop()
	s.cancel()
	lost := 0
	for _, box := range s.outboxes {
		lost += box.stats().Queued
	}
	switch lost {
	case 0:
		return nil
	case 1:
		return errors.New("1 notification was not delivered")
	}
	return fmt.Errorf("%d notifications were not delivered", lost)
}

// Stats are the counters of one target.
type Stats struct {
	// Kind and Host name the target.
	Kind, Host string
	// Queued is how many notifications wait, for their first attempt or another
	// one.
	Queued int
	// Sent is how many were delivered, Retried how many attempts were repeated
	// ones.
	Sent, Retried int64
	// Refused were given up because the target did not want them, Expired
	// because too many attempts failed or too much time passed, Dropped because
	// the queue was full.
	Refused, Expired, Dropped int64
}

// Stats returns the counters of all targets, in the order of the options.
func (s *Sender) Stats() []Stats {
	all := make([]Stats, 0, len(s.outboxes))
	for _, box := range s.outboxes {
		all = append(all, box.stats())
	}
	return slices.Clip(all)
}
