package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire"
)

// A Relay is a relay of another program, through which sessions are reached whose
// agents are that program's.
type Relay = record.Relay

// A relayProjection is what the log says of the relay that shows a session's agent.
type relayProjection struct {
	// Relay is that of the current or last run, nil if it had none.
	Relay *record.Relay `json:"relay,omitempty"`
}

// A RelayRun is a run that a relay showed and that has not ended.
type RelayRun struct {
	Session string
	Run     int
	// Conversation is the CLI's session_id, "" if it is not known yet.
	Conversation string
	// Updated is when something happened in the session last.
	Updated time.Time
}

// RelayGrant says which run a conversation belongs to that the relay at url shows:
// without a session it is a new one. The hub continues only sessions that it knows from
// the same relay: what a relay says must not change others. The error is an
// *[OwnedError] if an agent of another kind has the conversation at present.
func (h *Hub) RelayGrant(ctx context.Context, url, conversation string) (DialGrant, error) {
	if err := h.owner("", conversation, ""); err != nil {
		owned := new(OwnedError)
		if !errors.As(err, &owned) {
			return DialGrant{}, err
		}
		run, runErr := h.journal.Run(ctx, owned.Session, owned.Run)
		if runErr != nil || run.Transport != transportRelay || specOf(run.Spec).Name != url {
			return DialGrant{}, err
		}
		return DialGrant{Session: owned.Session, Run: owned.Run}, nil
	}
	row, err := h.journal.SessionByConversation(ctx, conversation)
	if errors.Is(err, journal.ErrNotFound) {
		return DialGrant{}, nil
	}
	if err != nil {
		return DialGrant{}, err
	}
	run, err := h.journal.Run(ctx, row.ID, row.Run)
	switch {
	case errors.Is(err, journal.ErrNotFound):
		return DialGrant{}, nil
	case err != nil:
		return DialGrant{}, err
	case run.Transport != transportRelay || specOf(run.Spec).Name != url:
		return DialGrant{}, nil
	case run.Ended.IsZero():
		return DialGrant{Session: row.ID, Run: run.Run}, nil
	}
	return DialGrant{Session: row.ID, Run: run.Run + 1}, nil
}

// RelayRuns returns the runs that the relay at url showed and that have not ended, the
// one that was active last first.
func (h *Hub) RelayRuns(ctx context.Context, url string) ([]RelayRun, error) {
	runs, err := h.journal.LiveRuns(ctx)
	if err != nil {
		return nil, fmt.Errorf("finding the sessions of a relay: %w", err)
	}
	var list []RelayRun
	for _, r := range runs {
		if r.Transport != transportRelay || specOf(r.Spec).Name != url {
			continue
		}
		row, err := h.journal.Session(ctx, r.Session)
		if err != nil {
			return nil, fmt.Errorf("finding the sessions of a relay: %w", err)
		}
		list = append(list, RelayRun{Session: r.Session, Run: r.Run, Conversation: row.Conversation, Updated: row.Updated})
	}
	slices.SortStableFunc(list, func(x, y RelayRun) int { return y.Updated.Compare(x.Updated) })
	return list, nil
}

// EndRelayRuns ends the runs of RelayRuns, because the hub does not follow the relay
// any more. No link of theirs may be in use.
func (h *Hub) EndRelayRuns(ctx context.Context, url, reason string) error {
	runs, err := h.RelayRuns(ctx, url)
	if err != nil {
		return err
	}
	var problems []error
	for _, r := range runs {
		s, release, err := h.acquire(ctx, r.Session)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		problems = append(problems, s.do(ctx, patient, func(st *step) error {
			if p := s.projection; p.Run == r.Run && p.Ended == nil && p.Relay != nil {
				st.leaveLink()
				st.endRun(api.Ended{Reason: reason}, false)
			}
			return nil
		}))
		release()
	}
	return errors.Join(problems...)
}

// Ended says that the relay has told the end of the agent.
func (l *RunLink) Ended(ctx context.Context, reason string) error {
	return l.session.do(ctx, patient, func(st *step) error {
		if !l.over && st.s.link == l && st.s.projection.Run == l.run {
			st.endRun(api.Ended{Reason: reason}, false)
		}
		return nil
	})
}

// Notice has an entry made at this place between the lines.
func (l *RunLink) Notice(ctx context.Context, n api.Notice) error {
	return l.session.do(ctx, patient, func(st *step) error {
		if !l.over && st.s.link == l {
			st.event(api.KindNotice, Actor{}, n)
		}
		return nil
	})
}

// relayUp resumes an agent that a relay shows. Answers that were not written go
// out: an agent that did not ask ignores them. All else is settled, since another agent may
// be behind the relay now.
func (st *step) relayUp(l *RunLink) {
	s, p := st.s, st.s.projection
	var late []link.Order
	for _, v := range slices.Clone(p.Commands) {
		if v.Run != p.Run || v.State != string(api.MessageSent) {
			continue
		}
		if v.Kind == commandAnswer {
			late = append(late, link.Order{Number: v.Number, Line: v.Line})
			continue
		}
		st.fate(v, api.MessageUnknown, "the connection to the relay was lost")
	}
	slices.SortFunc(late, func(x, y link.Order) int { return int(x.Number - y.Number) })
	s.outbox.held = nil
	if len(late) > 0 {
		st.then(func() { l.sender.Send(late) })
	}
	st.offerAll()
}

// foreignProcess reports whether the agent is another program's: the hub neither starts,
// configures nor ends it.
func (p *projection) foreignProcess() bool {
	return p.Transport == transportTee || p.Transport == transportRelay
}

// expects reports whether a CLI that says hello may have the run that is going on.
func (p *projection) expects(hello *DialHello) bool {
	if hello.Relay != nil {
		return p.Relay != nil && p.Relay.URL == hello.Relay.URL
	}
	return dials(p.Transport) && p.Unauthenticated == hello.Unauthenticated
}

// judged reports whether rules judge what the agent asks.
func (p *projection) judged() bool { return p.Relay == nil || p.Relay.Rules }

// notJudged says that a rule would have no effect.
func notJudged() error {
	return &api.Error{
		Status: http.StatusConflict, Code: api.CodeConflict, Title: "rules don't judge the agents of this relay",
		Hint: "attach the relay with --rules to change that",
	}
}

// notEndable says that an agent behind a relay is not the hub's to end.
func notEndable() error {
	return &api.Error{
		Status: http.StatusConflict, Code: api.CodeConflict, Title: "the agent belongs to another program, which must end it",
		Hint: "end it there, or detach the relay with switchboard relay detach",
	}
}

// behindRelay is foreign for a session that a relay shows.
func (s *session) behindRelay(steering bool) error {
	switch {
	case s.link == nil || !s.link.connected:
		return &api.Error{
			Status: http.StatusConflict, Code: api.CodeOffline, Title: "the agent belongs to another program and can't be reached now",
			Detail: "the relay " + s.projection.Relay.URL + " is not connected, or shows another session", Hint: "the hub reconnects automatically",
		}
	case !steering:
		return &api.Error{
			Status: http.StatusConflict, Code: api.CodeConflict, Title: "only the program that owns the agent can send this",
			Hint: "you can send messages, interrupt and answer questions here",
		}
	}
	return nil
}

// answeredElsewhere is the reason of a question that the agent's owner has answered.
func (p *projection) answeredElsewhere() string {
	if p.Relay != nil {
		return "answered by another front end of the relay"
	}
	return "answered by the program"
}

// addressed returns a prompt with the conversation that it is for, if a relay passes it
// on: several agents may be behind it. Other lines are returned as they are.
func (p *projection) addressed(line []byte) []byte {
	conversation := p.State.Conversation()
	if p.Relay == nil || conversation == "" {
		return line
	}
	h, err := wire.Peek(line)
	if err != nil || string(h.Type) != "user" || string(h.SessionID) == conversation {
		return line
	}
	id, err := json.Marshal(conversation)
	end := len(line) - 1
	for end > 0 && line[end] != '}' {
		end--
	}
	if err != nil || end == 0 {
		return line
	}
	return slices.Concat(line[:end], []byte(`,"session_id":`), id, []byte("}")) // the last of several counts
}
