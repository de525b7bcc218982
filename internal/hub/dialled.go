package hub

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"slices"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire"
)

// A DialRequest is an upgrade or a POST of a CLI that dials in.
type DialRequest struct {
	// Token is the credential that it brought.
	Token string
	// Trusted says that the credential is an administrator's: it may open
	// sessions.
	Trusted bool
	// Name is what follows /ws/cli/ in the path, "" for "/": our session id, a
	// conversation, or any other name.
	Name string
	// LastWritten is the uuid of the line that the CLI says it wrote last.
	LastWritten string
	// Post says that it is a POST.
	Post bool
	// Fresh says that it is surely another process than the one before.
	Fresh bool
	// Unauthenticated says that it brought no credential, and is let in all the same:
	// to sessions of its own kind alone.
	Unauthenticated bool
}

// A DialGrant says which run a request belongs to.
type DialGrant struct {
	// Session and Run name it. Without a session it is a new one; a run above
	// the session's last is the next.
	Session string
	Run     int
	// Own says that the credential is this run's own.
	Own bool
	// Received are the uuids of the last lines that the journal has.
	Received []string
}

// DialHello is how a CLI that dialled in is introduced.
type DialHello struct {
	// Session and Run are those of its grant, Name that of its request.
	Session string
	Run     int
	Name    string
	// Transport is "websocket" or "hybrid".
	Transport string
	// Reconnected says that it was connected to a hub before.
	Reconnected bool
	// Runner is the version of the environment that it runs in, as it says; "" if it
	// does not.
	Runner string
	// Unauthenticated is that of its request.
	Unauthenticated bool
	// Relay is the relay that shows the agent, nil for a CLI that dialled in. It
	// takes the place of Transport and Name.
	Relay *Relay
}

// DialGrant judges a CLI that dials in. The error is [ErrCredential], an
// *[OwnedError] or a *[GoneError].
func (h *Hub) DialGrant(ctx context.Context, r DialRequest) (DialGrant, error) {
	if id, ok := sessionOf(r.Token); ok {
		return h.grantOwn(ctx, id, r)
	}
	if !r.Trusted && !r.Unauthenticated {
		return DialGrant{}, ErrCredential
	}
	session, err := h.dialled(ctx, r)
	if err != nil || session == "" {
		return DialGrant{}, err
	}
	return h.grantFor(ctx, session, r)
}

// grantOwn judges a CLI that brings the credential of a run. It stays good for
// the next one if the CLI that had it died: a program that starts it again uses the
// same command.
func (h *Hub) grantOwn(ctx context.Context, id string, r DialRequest) (DialGrant, error) {
	row, err := h.journal.Session(ctx, id)
	if err != nil {
		return DialGrant{}, ErrCredential
	}
	run, err := h.journal.Run(ctx, id, row.Run)
	if err != nil || subtle.ConstantTimeCompare(hashToken(r.Token), run.TokenHash) != 1 {
		return DialGrant{}, ErrCredential
	}
	if r.Name != "" && r.Name != id {
		if _, err := h.journal.Session(ctx, r.Name); err == nil {
			return DialGrant{}, ErrCredential // it names another session: two commands were mixed up
		}
	}
	switch {
	case !dials(run.Transport):
		return DialGrant{}, &OwnedError{Session: id, Run: run.Run}
	case !row.Archived.IsZero():
		return DialGrant{}, &GoneError{Reason: "the session was archived"}
	case !run.Ended.IsZero() && specOf(run.Spec).Stopped:
		return DialGrant{}, &GoneError{Reason: "the run has ended: " + run.Reason}
	case !run.Ended.IsZero() || r.Fresh:
		return DialGrant{Session: id, Run: row.Run + 1, Own: true}, nil
	}
	return DialGrant{Session: id, Run: run.Run, Own: true, Received: run.LastUUIDs}, nil
}

// dialled finds the session that a CLI means which brings no credential of a run; ""
// if it is a new one.
func (h *Hub) dialled(ctx context.Context, r DialRequest) (string, error) {
	if r.Name == "" {
		return h.dialledRoot(ctx, r)
	}
	if _, err := h.journal.Session(ctx, r.Name); err == nil {
		return r.Name, nil
	}
	h.mu.Lock()
	key := nameKey(r.Name, r.Unauthenticated)
	id := h.names[key]
	h.mu.Unlock()
	if id != "" {
		if _, err := h.journal.Session(ctx, id); !errors.Is(err, journal.ErrNotFound) {
			return id, err
		}
		h.mu.Lock()
		delete(h.names, key) // it was removed; the name is free
		h.mu.Unlock()
	}
	row, err := h.journal.SessionByConversation(ctx, r.Name)
	switch {
	case err == nil:
		return row.ID, nil
	case errors.Is(err, journal.ErrNotFound):
		return "", nil
	}
	return "", err
}

// dialledRoot finds the session of a CLI that dialled "/": by the last line that
// it wrote, or, for a POST, as the only one that posts there.
func (h *Hub) dialledRoot(ctx context.Context, r DialRequest) (string, error) {
	if r.LastWritten == "" && !r.Post {
		return "", nil
	}
	runs, err := h.journal.LiveRuns(ctx)
	if err != nil {
		return "", err
	}
	var posting []string
	for _, run := range runs {
		if !dials(run.Transport) || specOf(run.Spec).Unauthenticated != r.Unauthenticated {
			continue
		}
		if r.LastWritten != "" && slices.Contains(run.LastUUIDs, r.LastWritten) {
			return run.Session, nil
		}
		if specOf(run.Spec).Name == "" && run.Transport == transportHybrid {
			posting = append(posting, run.Session)
		}
	}
	if r.Post {
		if len(posting) != 1 {
			return "", ErrCredential
		}
		return posting[0], nil
	}
	return "", nil
}

// grantFor says which run of a session a CLI may have that brings no credential of a
// run. One that brings none at all may have runs of its own kind alone, and is not told
// what the session of another is.
func (h *Hub) grantFor(ctx context.Context, id string, r DialRequest) (DialGrant, error) {
	row, err := h.journal.Session(ctx, id)
	if err != nil {
		return DialGrant{}, err
	}
	run, err := h.journal.Run(ctx, id, row.Run)
	if errors.Is(err, journal.ErrNotFound) { // it has had none
		run, err = &journal.Run{Ended: row.Created}, nil
	}
	if err != nil {
		return DialGrant{}, err
	}
	unauthenticated := specOf(run.Spec).Unauthenticated
	switch {
	case r.Unauthenticated && !unauthenticated:
		return DialGrant{}, ErrCredential
	case !row.Archived.IsZero():
		return DialGrant{}, &GoneError{Reason: "the session was archived"}
	case run.Ended.IsZero() && unauthenticated != r.Unauthenticated:
		return DialGrant{}, &OwnedError{Session: id, Run: run.Run}
	case r.Unauthenticated && !run.Ended.IsZero() && h.ownedByOthers(row.Conversation, id) != nil:
		return DialGrant{}, ErrCredential // an authenticated session has gone on with it
	case !run.Ended.IsZero():
		return DialGrant{Session: id, Run: row.Run + 1}, nil
	case !dials(run.Transport):
		return DialGrant{}, &OwnedError{Session: id, Run: run.Run}
	case r.Fresh:
		return DialGrant{Session: id, Run: row.Run + 1}, nil
	}
	return DialGrant{Session: id, Run: run.Run, Received: run.LastUUIDs}, nil
}

// dials reports whether the CLI of a run dials in by itself.
func dials(transport string) bool {
	return transport == transportWebSocket || transport == transportHybrid
}

// A rowSpec is what the row of a run says of a CLI that dials in, or that a tee shows.
type rowSpec struct {
	// Name is the path under which it dialled.
	Name string `json:"name,omitempty"`
	// Stopped says that a client stopped it: it must not come back.
	Stopped bool `json:"stopped,omitempty"`
	// Unauthenticated says that it brought no credential.
	Unauthenticated bool `json:"unauthenticated,omitempty"`
	// Elsewhere is that of [Hello].
	Elsewhere bool `json:"elsewhere,omitempty"`
}

func specOf(raw json.RawMessage) (v rowSpec) {
	_ = json.Unmarshal(raw, &v) // most runs have none
	return v
}

// stoppedSpec returns the spec of a run that a client has stopped.
func stoppedSpec(raw json.RawMessage) json.RawMessage {
	v := specOf(raw)
	v.Stopped = true
	return encoded(v)
}

// nameKey returns the key of a path among the hub's names. CLIs without a credential
// have names of their own: what one of them dials must not be taken for the session of
// another CLI, nor keep that from its own.
func nameKey(name string, unauthenticated bool) string {
	if unauthenticated {
		return "unauthenticated/" + name // no path has a slash
	}
	return name
}

// AttachDialled connects a CLI that dialled in to its run, or makes the run, or
// the session, that it begins. Its lines may come before Connected is called.
func (h *Hub) AttachDialled(ctx context.Context, hello DialHello, sender LinkSender) (*RunLink, link.Welcome, error) {
	switch {
	case hello.Relay != nil:
		hello.Transport, hello.Name = transportRelay, hello.Relay.URL
	case hello.Transport == "":
		hello.Transport = transportWebSocket
	}
	s, release, err := h.dialledSession(ctx, hello)
	if err != nil {
		return nil, link.Welcome{}, err
	}
	foreign := hello.Relay != nil
	l := &RunLink{
		hub: h, session: s, release: release, sender: sender, dialled: true, runner: runnerName(hello.Runner), unauthenticated: hello.Unauthenticated,
		relay: foreign, tee: foreign, steer: foreign,
	}
	var welcome link.Welcome
	err = s.do(ctx, patient, func(st *step) (err error) {
		welcome, err = st.attachDialled(l, hello)
		return err
	})
	if err != nil {
		l.Lost(err) // it may still be attached, if ctx has ended
		return nil, link.Welcome{}, err
	}
	return l, welcome, nil
}

// dialledSession returns the session of a CLI that dialled in, a new one if need
// be.
func (h *Hub) dialledSession(ctx context.Context, hello DialHello) (*session, func(), error) {
	if hello.Session != "" {
		return h.acquire(ctx, hello.Session)
	}
	s := h.newSession(newID("s"))
	h.mu.Lock()
	err := h.startLocked(s)
	h.mu.Unlock()
	if err != nil {
		return nil, nil, h.problem(err, s.id)
	}
	release := h.releaser(s)
	err = s.do(ctx, patient, func(st *step) error {
		st.event(api.KindCreated, Actor{}, record.Created{Epoch: newEpoch()})
		st.startRun(runSpec{
			fresh: true, transport: hello.Transport, name: hello.Name, unauthenticated: hello.Unauthenticated, relay: hello.Relay,
		})
		return nil
	})
	if err != nil {
		release()
		return nil, nil, h.problem(err, s.id)
	}
	return s, release, nil
}

// attachDialled is AttachDialled in the session's loop.
func (st *step) attachDialled(l *RunLink, hello DialHello) (link.Welcome, error) {
	s, p := st.s, st.s.projection
	if hello.Session != "" {
		switch {
		case hello.Unauthenticated && !p.Unauthenticated:
			return link.Welcome{}, ErrCredential
		case hello.Run >= p.Run && p.Ended == nil && !p.expects(&hello): // it was resumed meanwhile
			return link.Welcome{}, &OwnedError{Session: s.id, Run: p.Run}
		case hello.Run == p.Run && p.Ended == nil:
		case hello.Run == p.Run+1:
			if p.Ended == nil {
				st.endRun(api.Ended{Reason: "its process was replaced by another"}, false)
			}
			if err := s.hub.owner(p.Node, p.State.Conversation(), s.id); err != nil {
				return link.Welcome{}, err
			}
			st.startRun(runSpec{
				transport: hello.Transport, name: hello.Name, hash: s.run.TokenHash, unauthenticated: hello.Unauthenticated, relay: hello.Relay,
			})
		default:
			return link.Welcome{}, &GoneError{Reason: "the run has ended"}
		}
	}
	if s.link != nil {
		s.link.replace("the CLI has connected anew")
	}
	l.run = p.Run
	s.link = l
	if hello.Name != "" && hello.Relay == nil {
		s.hub.mu.Lock()
		s.hub.names[nameKey(hello.Name, hello.Unauthenticated)] = s.id
		s.hub.mu.Unlock()
	}
	return link.Welcome{Epoch: p.Epoch, Have: s.run.Have, Next: s.run.NextCommand}, nil
}

// Posting says that the CLI sends its lines by POST.
func (l *RunLink) Posting(ctx context.Context) error {
	return l.session.do(ctx, patient, func(st *step) error {
		if st.s.link == l && st.s.run.Transport != transportHybrid {
			st.s.run.Transport = transportHybrid
			st.touch()
		}
		return nil
	})
}

// Connected says that a CLI that dialled in can be spoken to: for the first time,
// or again after it was lost, or after the hub was restarted.
func (l *RunLink) Connected(ctx context.Context, again bool) error {
	return l.session.do(ctx, patient, func(st *step) error {
		s, p := st.s, st.s.projection
		if l.over || s.link != l || p.Ended != nil {
			return nil
		}
		l.connected = true
		s.links.joined++
		s.doubt = doubtState{since: st.now}
		st.event(api.KindLinkUp, Actor{}, record.RunFound{Back: again || p.First != nil, Runner: l.runner})
		if l.relay {
			st.relayUp(l)
			return nil
		}
		if p.First == nil {
			s.policy.due = true
			if _, err := st.initialize(nil); err != nil {
				s.log.Error("building initialize", "session", s.id, "err", err)
			}
			return nil
		}
		st.recover(l)
		st.sendAgain(l)
		st.rulesChanged() // they may have, while it was away
		return nil
	})
}

// Disconnected says that the CLI cannot be spoken to at present.
func (l *RunLink) Disconnected(ctx context.Context, cause error) error {
	return l.session.do(ctx, patient, func(st *step) error {
		if l.over || st.s.link != l {
			return nil
		}
		l.connected, l.recovers = false, ""
		if st.s.projection.Ended != nil {
			return nil
		}
		reason := "the connection was closed"
		if cause != nil {
			reason = cause.Error()
		}
		for _, v := range slices.Clone(st.s.projection.Commands) {
			if v.Run == st.s.projection.Run && v.State == string(api.MessageSent) && !staysValid(v.Kind) {
				st.fate(v, api.MessageUnknown, reason)
			}
		}
		st.down(reason)
		return nil
	})
}

// Recover asks a CLI once more what it waits for, because an answer may have been
// lost. What it lists and was answered is answered again.
func (l *RunLink) Recover(ctx context.Context) error {
	return l.session.do(ctx, patient, func(st *step) error {
		if !l.over && st.s.link == l && l.connected && st.s.projection.Ended == nil && st.s.projection.First != nil {
			st.recover(l)
		}
		return nil
	})
}

// recover sends initialize again, with the body of the first: an empty one could
// remove hooks. Its answer lists what the CLI waits for.
func (st *step) recover(l *RunLink) {
	if l.recovers != "" {
		return
	}
	m, err := wire.Decode(st.s.projection.First)
	if err != nil {
		return
	}
	first, ok := m.(*wire.ControlRequest)
	if !ok {
		return
	}
	id := "hub-again-" + random(6)
	line, err := wire.NewRequest(id, first.Request)
	if err == nil {
		_, err = st.send("", commandRequest, Actor{}, line)
	}
	if err != nil {
		st.s.log.Error("asking what the CLI waits for", "session", st.s.id, "err", err)
		return
	}
	l.recovers, l.recovery = id, st.s.run.NextCommand-1
}

// sendAgain sends prompts again that the CLI has not taken up, and answers that
// were surely not sent. The CLI swallows a prompt that it has.
func (st *step) sendAgain(l *RunLink) {
	var again []link.Order
	for _, v := range st.s.projection.Commands {
		if v.Run != st.s.projection.Run || v.Number == 0 {
			continue
		}
		unwritten := v.State == string(api.MessageSent) && staysValid(v.Kind)
		if unwritten || v.Kind == commandPrompt && v.State == string(api.MessageWritten) {
			again = append(again, link.Order{Number: v.Number, Line: v.Line})
		}
	}
	slices.SortFunc(again, func(x, y link.Order) int { return int(x.Number - y.Number) })
	st.s.outbox.held = nil
	if len(again) > 0 {
		st.then(func() { l.sender.Send(again) })
	}
}

// Doubtful says that the connection was lost while a command was written: it may
// have arrived.
func (l *RunLink) Doubtful(ctx context.Context, number int64, reason string) error {
	return l.session.do(ctx, patient, func(st *step) error {
		if l.over || l.run != st.s.projection.Run {
			return nil
		}
		for _, v := range slices.Clone(st.s.projection.Commands) {
			if v.Run != st.s.projection.Run || v.Number != number || v.State != string(api.MessageSent) {
				continue
			}
			switch {
			case l.relay: // nothing is sent twice to an agent that another may have replaced
				st.fate(v, api.MessageUnknown, reason)
			case v.Kind == commandPrompt:
				// It is sent again: the CLI swallows a second one.
			case v.Kind == commandAnswer, v.Kind == commandRefusal, v.Kind == commandInitialize:
				// If it did not arrive the CLI lists its question.
				st.fate(v, api.MessageWritten, "")
			default:
				st.fate(v, api.MessageUnknown, reason)
			}
		}
		return nil
	})
}

// maxUUIDs is how many uuids of received lines are stored with a run.
const maxUUIDs = 64

// remember notes the uuid of a line that was received from a CLI that dials in.
func (st *step) remember(uuid []byte) {
	if len(uuid) == 0 {
		return
	}
	// Rows that were handed on share the list: it only grows behind their ends.
	uuids := append(st.s.run.LastUUIDs, string(uuid))
	if over := len(uuids) - maxUUIDs; over > 0 {
		uuids = uuids[over:]
	}
	st.s.run.LastUUIDs = uuids // stored with the next durable line
}

// linesOf counts the lines of a run in its log, by their identity.
func (h *Hub) linesOf(session string, run int) map[[32]byte]int {
	seen := map[[32]byte]int{}
	for after := int64(0); ; {
		entries, err := h.journal.Entries(h.ctx, session, after, 0, 0)
		if err != nil {
			h.log.Error("looking for repeated lines", "session", session, "err", err)
			return seen
		}
		if len(entries) == 0 {
			return seen
		}
		for i := range entries {
			after = entries[i].Seq
			if entries[i].Run == run && entries[i].Kind == api.KindLine {
				seen[identity(entries[i].Line)]++
			}
		}
	}
}

// known reports whether the log of the run has a line that the CLI repeats.
func (l *RunLink) known(v *Item) bool {
	if h, err := wire.Peek(v.Bytes); err == nil {
		switch string(h.Type) {
		case "control_response":
			return false // two answers under one id may both count
		case "control_request":
			if l.relay {
				return false // what is repeated is still asked; there is no other way to learn that
			}
		}
	}
	key := identity(v.Bytes)
	if l.seen[key] == 0 {
		return false
	}
	l.seen[key]-- // several may share type and uuid; they come again in their order
	return true
}

// identity returns what tells a line from others of its run: its bytes, or the
// request's id where there is no uuid. Of a result it is the uuid: 2.1.120 encodes
// a line anew when it sends it again, and a result then has the model usage of
// that moment. Of others it is not: a prompt that was sent twice is echoed twice
// under one uuid.
func identity(line []byte) [32]byte {
	h, err := wire.Peek(line)
	switch {
	case err == nil && len(h.UUID) > 0 && string(h.Type) == "result":
		return sha256.Sum256(slices.Concat([]byte("result "), h.UUID))
	case err == nil && len(h.UUID) == 0 && len(h.RequestID) > 0 && string(h.Type) == "control_request":
		return sha256.Sum256(slices.Concat([]byte("request "), h.RequestID))
	}
	return sha256.Sum256(line)
}
