package ingress

import (
	"context"
	"log/slog"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/link"
)

// theHub is what the ingress needs of the hub.
type theHub interface {
	// Attach connects the link of a shim.
	Attach(ctx context.Context, h hub.Hello, out hub.LinkSender) (runLink, link.Welcome, error)
	// DialGrant judges every request of a CLI that dials in, AttachDialled
	// connects one that was let in.
	DialGrant(ctx context.Context, r hub.DialRequest) (hub.DialGrant, error)
	AttachDialled(ctx context.Context, h hub.DialHello, out hub.LinkSender) (runLink, link.Welcome, error)
}

// runLink is what the ingress needs of a [hub.RunLink]. The calls for one
// connection are made one after the other, in the order in which things happened:
// none is made while Deliver is not done. Lost is the last.
type runLink interface {
	Session() string
	Run() int
	Receive(ctx context.Context, items []hub.Item) error
	Deliver(items []hub.Item, done func(error))
	Written(ctx context.Context, upTo int64) error
	Failed(ctx context.Context, number int64, reason string) error
	Lost(cause error)

	// Of CLIs that dialled in.
	Connected(ctx context.Context, again bool) error
	Disconnected(ctx context.Context, cause error) error
	Posting(ctx context.Context) error
	Doubtful(ctx context.Context, number int64, reason string) error
	Recover(ctx context.Context) error

	// Of agents that a relay shows.
	Ended(ctx context.Context, reason string) error
	Notice(ctx context.Context, n api.Notice) error
}

// realHub is the hub with the types of theHub.
type realHub struct{ *hub.Hub }

var (
	_ theHub  = realHub{}
	_ runLink = (*hub.RunLink)(nil)
)

// Attach implements theHub.
func (h realHub) Attach(ctx context.Context, hello hub.Hello, out hub.LinkSender) (runLink, link.Welcome, error) {
	a, welcome, err := h.Hub.Attach(ctx, hello, out)
	if err != nil {
		return nil, welcome, err // not a nil *RunLink that looks like one
	}
	return a, welcome, nil
}

// AttachDialled implements theHub.
func (h realHub) AttachDialled(ctx context.Context, hello hub.DialHello, out hub.LinkSender) (runLink, link.Welcome, error) {
	a, welcome, err := h.Hub.AttachDialled(ctx, hello, out)
	if err != nil {
		return nil, welcome, err
	}
	return a, welcome, nil
}

// NewLink returns the end of h where shims connect; o may be nil. Close must be
// called before the hub is closed.
func NewLink(h *hub.Hub, o *LinkOptions) *Link { return newLink(realHub{h}, o) }

// NewDial returns the end of h where CLIs dial in; o may be nil. It starts a
// goroutine; Close must be called before the hub is closed.
func NewDial(h *hub.Hub, o *DialOptions) *Dial { return newDial(realHub{h}, o) }

// discard returns a logger that is never nil.
func discard(l *slog.Logger) *slog.Logger {
	if l == nil {
		return slog.New(slog.DiscardHandler)
	}
	return l
}
