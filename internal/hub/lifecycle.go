package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// The transports.
const (
	transportShim      = record.TransportShim
	transportTee       = record.TransportTee
	transportWebSocket = record.TransportWebSocket
	transportHybrid    = record.TransportHybrid
	transportRelay     = record.TransportRelay
)

// Create makes a session and starts its process. If that fails nothing is left of
// it.
func (h *Hub) Create(ctx context.Context, by Actor, in api.CreateSession) (*api.Created, error) {
	request, err := json.Marshal(in) // as the client wrote it: a preset may change between two tries
	if err != nil {
		return nil, h.problem(err, "")
	}
	if in.Options, err = h.withPreset(&in); err != nil {
		return nil, err
	}
	if err := h.checkCreate(by, in, nil); err != nil {
		return nil, err
	}
	sum := sumOf([]byte("create"), request)
	return h.createOnce(ctx, by, in, sum, runSpec{resume: in.Resume, fork: in.Fork, transport: in.Transport}, "")
}

// createOnce makes a session, or returns the one that was made for the same
// client id before.
func (h *Hub) createOnce(ctx context.Context, by Actor, in api.CreateSession, sum []byte, spec runSpec, forkOf string) (*api.Created, error) {
	if in.ClientID == "" {
		return h.create(ctx, by, in, sum, spec, forkOf)
	}
	done, err := h.once(ctx, scopeCreate+" "+in.ClientID)
	if err != nil {
		return nil, err
	}
	defer done()
	old, err := h.remembered(ctx, scopeCreate, in.ClientID, sum)
	if err != nil {
		return nil, err
	}
	if old == nil {
		return h.create(ctx, by, in, sum, spec, forkOf)
	}
	session, err := h.Snapshot(ctx, string(bytes.Trim(old, `"`)))
	if err != nil {
		return nil, err
	}
	return &api.Created{Session: *session}, nil
}

// create makes a session whose request was checked.
func (h *Hub) create(ctx context.Context, by Actor, in api.CreateSession, sum []byte, spec runSpec, forkOf string) (*api.Created, error) {
	at, err := h.placeFor(ctx, in, spec)
	if err != nil {
		return nil, err
	}
	if spec.resume != "" && !spec.fork {
		if err := h.owner(at.id, spec.resume, ""); err != nil {
			return nil, h.problem(err, "")
		}
	}
	h.prepareRules(ctx, at, in.Dir)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// The client may go away in the middle. A step that was begun takes place
	// all the same and starts a process, which must not be left without a session.
	lasting := context.WithoutCancel(ctx)
	s := h.newSession(newID("s"))
	h.mu.Lock()
	err = h.startLocked(s)
	h.mu.Unlock()
	if err != nil {
		return nil, h.problem(err, s.id)
	}
	defer h.releaser(s)()
	launched := make(chan error, 1)
	spec.launched = launched
	var token string
	err = s.do(lasting, writing, func(st *step) error {
		if spec.resume != "" && !spec.fork {
			if err := h.claim(at.id, journal.Lease{ConfigDir: leaseDir(at.id, ""), Conversation: spec.resume, Session: s.id, Run: 1}); err != nil {
				return err
			}
		}
		st.event(api.KindCreated, by, record.Created{Title: in.Title, Dir: in.Dir, Epoch: newEpoch(), Options: in.Options, Fork: forkOf, Resume: spec.resume, Copy: spec.fork, At: spec.at, Direct: spec.direct, Node: at.id, NodeName: at.name})
		if in.ClientID != "" {
			answer, _ := json.Marshal(s.id) //nolint:errchkjson // a string
			st.batch.ClientIDs = append(st.batch.ClientIDs, journal.ClientID{Scope: scopeCreate, ID: in.ClientID, Sum: sum, Answer: answer, Time: st.now})
		}
		if in.Prompt != "" {
			if _, err := st.queue(by, api.SendMessage{Text: in.Prompt}); err != nil {
				return err
			}
		}
		if spec.resume == "" && !spec.direct {
			token = st.startRun(spec)
		}
		return nil
	})
	if err == nil && spec.resume != "" {
		// Its history may be long: it is not part of one step.
		if err = s.history(ctx, at.id, spec.resume, in.Dir, spec.at); err == nil {
			err = s.do(lasting, patient, func(st *step) error {
				token = st.startRun(spec)
				return nil
			})
		}
	}
	if err != nil {
		h.discard(s)
		return nil, h.problem(err, s.id)
	}
	created := &api.Created{}
	if spec.direct {
		session, err := s.snapshot(ctx)
		if err != nil {
			return nil, err
		}
		created.Session = *session
		return created, nil
	}
	if spec.transport != "" && spec.transport != transportShim {
		created.Token = token
		if spec.transport == transportTee {
			h.checkSoon(s.id) // it may never come
		}
	} else {
		select {
		case err = <-launched:
		case <-ctx.Done():
			err = ctx.Err()
		}
		if err != nil {
			if ctx.Err() == nil && !closing(err) {
				h.discard(s)
			}
			return nil, h.startProblem(err, s.id)
		}
	}
	session, err := s.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	created.Session = *session
	return created, nil
}

// discard forgets a session that never had a process.
func (h *Hub) discard(s *session) {
	// As long as it is in the journal, acquire would load it again, and find its row
	// without its entries if that happened while it is being removed.
	wait := make(chan struct{})
	defer func() {
		h.mu.Lock()
		delete(h.loading, s.id)
		close(wait)
		h.mu.Unlock()
	}()
	h.mu.Lock()
	h.loading[s.id] = wait
	delete(h.sessions, s.id)
	delete(h.offline, s.id)
	delete(h.places, s.id)
	for conversation, l := range h.leases {
		if l.Session == s.id {
			delete(h.leases, conversation)
		}
	}
	h.mu.Unlock()
	close(s.stop)
	<-s.done
	if err := h.journal.Delete(h.ctx, s.id); err != nil {
		h.log.Warn("forgetting a session that could not be started", "session", s.id, "err", err)
	}
}

// closing reports whether a start came to nothing because the hub closes: its
// process may be there.
func closing(err error) bool {
	return errors.Is(err, ErrClosed) || errors.Is(err, errEvicted) || errors.Is(err, journal.ErrClosed)
}

// startProblem explains why a process could not be started.
func (h *Hub) startProblem(err error, id string) error {
	if closing(err) {
		return h.problem(ErrClosed, id)
	}
	if problem, ok := errors.AsType[*api.Error](err); ok {
		return problem
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &api.Error{Status: http.StatusBadGateway, Code: api.CodeStartFailed, Title: "the agent could not be started", Detail: err.Error()}
}

// once makes requests with the same name wait for each other, until the function
// is called that it returns.
func (h *Hub) once(ctx context.Context, name string) (over func(), err error) {
	for {
		h.mu.Lock()
		wait, busy := h.requests[name]
		if !busy {
			done := make(chan struct{})
			h.requests[name] = done
			h.mu.Unlock()
			return func() {
				h.mu.Lock()
				delete(h.requests, name)
				h.mu.Unlock()
				close(done)
			}, nil
		}
		h.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// The scopes of client ids.
const scopeCreate = "create"

// remembered returns what was answered to a client id before, nil if it is new.
func (h *Hub) remembered(ctx context.Context, scope, id string, sum []byte) (json.RawMessage, error) {
	old, err := h.journal.ClientID(ctx, scope, id)
	switch {
	case errors.Is(err, journal.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, h.problem(err, "")
	}
	return answerTo(old, sum)
}

// A repeatable is a request with a client's own id: the same one is not carried
// out twice. Without an id it is.
type repeatable struct {
	scope, id string
	sum       []byte
}

// repeatableOf names a request to do something about a session or a question.
func repeatableOf(what, about, clientID string, in any) (repeatable, error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return repeatable{}, fmt.Errorf("reading a request: %w", err)
	}
	return repeatable{scope: what + ":" + about, id: clientID, sum: sumOf([]byte(what), raw)}, nil
}

// once carries out a request, unless it was carried out before: then it returns what
// was answered. The journal is asked before the operation, not in it: the same request
// waits here until this one is over, so that it finds it.
func (s *session) once(ctx context.Context, r repeatable, f func(*step) error) (old json.RawMessage, err error) {
	if r.id == "" {
		return nil, s.do(ctx, writing, f)
	}
	if err := s.hub.unwritable(); err != nil {
		return nil, err // also for what waits for the journal to be over
	}
	over, err := s.hub.once(ctx, r.scope+" "+r.id)
	if err != nil {
		return nil, err
	}
	if old, err = s.hub.remembered(ctx, r.scope, r.id, r.sum); err != nil || old != nil {
		over()
		return old, err
	}
	return nil, s.doThen(ctx, writing, f, over)
}

// keepAnswer remembers what is answered to a request.
func (st *step) keepAnswer(r repeatable, answer any) {
	if r.id != "" {
		st.batch.ClientIDs = append(st.batch.ClientIDs, journal.ClientID{Scope: r.scope, ID: r.id, Sum: r.sum, Answer: encoded(answer), Time: st.now})
	}
}

// answerTo returns what was answered before, if the request is the same.
func answerTo(old *journal.ClientID, sum []byte) (json.RawMessage, error) {
	if !bytes.Equal(old.Sum, sum) {
		return nil, &api.Error{
			Status: http.StatusConflict, Code: api.CodeClientIDReused, Title: fmt.Sprintf("client id %q was used for another request", old.ID),
			Hint: "use a new id for a new request", Session: sessionIn(old.Answer),
		}
	}
	return old.Answer, nil
}

// sessionIn returns the session that was made for a client id, "" if it was for
// something else.
func sessionIn(answer json.RawMessage) string {
	var id string
	if json.Unmarshal(answer, &id) != nil {
		return ""
	}
	return id
}

// Resume starts a new process that goes on with a session's conversation.
func (h *Hub) Resume(ctx context.Context, by Actor, id string, in api.Resume) (*api.Session, error) {
	s, release, err := h.acquire(ctx, id)
	if err != nil {
		return nil, err
	}
	defer release()
	node := ""
	err = s.do(ctx, reading, func(*step) error {
		if node = s.projection.Node; in.Options == nil {
			return nil
		}
		return h.checkOptions(by, *in.Options, &s.projection.Options)
	})
	if err != nil {
		return nil, h.problem(err, id)
	}
	raw, err := json.Marshal(in)
	if err != nil {
		return nil, h.problem(err, id)
	}
	sum, scope := sumOf([]byte("resume"), raw), "resume:"+id
	if in.ClientID != "" {
		old, err := h.remembered(ctx, scope, in.ClientID, sum)
		if err != nil {
			return nil, err
		}
		if old != nil {
			return s.snapshot(ctx)
		}
	}
	if node != "" { // else the run would wait for its machine, and the caller would not be told
		if _, err := h.askSome(ctx, node, []string{"/"}); err != nil {
			return nil, h.problem(err, id)
		}
	}
	if in.Force {
		if err := s.giveUp(ctx, by); err != nil {
			return nil, err
		}
	}
	launched := make(chan error, 1)
	var prompt *api.Message
	err = s.do(ctx, writing, func(st *step) (err error) {
		if err := s.resumable(); err != nil {
			return err
		}
		if in.Prompt != "" {
			if prompt, err = st.queue(by, api.SendMessage{Text: in.Prompt}); err != nil {
				return err
			}
		}
		options := in.Options
		if options != nil {
			options = new(withHidden(*options, &s.projection.Options))
		}
		st.startRun(runSpec{fresh: in.Fresh, options: options, launched: launched})
		return nil
	})
	if err != nil {
		return nil, h.problem(err, id)
	}
	select {
	case err = <-launched:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err != nil {
		s.post(func(st *step) { // or it would be there twice when the client tries again
			if prompt == nil {
				return
			}
			if v := s.projection.command(prompt.ID); v != nil && v.State == string(api.MessageQueued) {
				st.fate(*v, api.MessageNotDelivered, "the agent could not be started")
			}
		})
		return nil, h.startProblem(err, id)
	}
	if in.ClientID != "" {
		err = s.do(ctx, patient, func(st *step) error {
			st.batch.ClientIDs = append(st.batch.ClientIDs, journal.ClientID{Scope: scope, ID: in.ClientID, Sum: sum, Answer: json.RawMessage("{}"), Time: st.now})
			st.touch() // a step without an entry is written for its rows
			return nil
		})
		if err != nil {
			return nil, h.problem(err, id)
		}
	}
	return s.snapshot(ctx)
}

// resumable says why a session cannot be given a new process.
func (s *session) resumable() error {
	p := s.projection
	if err := s.notStarted(); err != nil {
		return err
	}
	if p.Ended == nil {
		if p.phase() == fold.PhaseOffline {
			return &api.Error{
				Status: http.StatusConflict, Code: api.CodeOffline, Title: "the session's process may still be running",
				Hint: "wait until its end is detected, or resume with force",
			}
		}
		return &api.Error{Status: http.StatusConflict, Code: api.CodeConflict, Title: "the session is already running"}
	}
	if err := p.notStartable(); err != nil {
		return err
	}
	if p.Dir == "" && p.State.Dir == "" {
		return &api.Error{Status: http.StatusConflict, Code: api.CodeConflict, Title: "the session has no folder to start a process in"}
	}
	return s.hub.owner(p.Node, p.State.Conversation(), s.id)
}

// giveUp ends the run of a session that cannot be reached.
func (s *session) giveUp(ctx context.Context, by Actor) error {
	var run journal.Run
	lost := false
	err := lookUp(ctx, s, reading, s.shim, s.hub.alive, func(st *step, alive *bool) error {
		run = s.run
		lost = s.projection.Ended == nil && s.link == nil
		return st.notOurs(alive)
	})
	if err != nil || !lost {
		return s.hub.problem(err, s.id)
	}
	if launcher := s.hub.launcherOf(run.Node); launcher != nil && run.Marker != "" {
		_, err := launcher.Sweep(ctx, run.Marker)
		if unreachable, away := errors.AsType[*UnreachableError](err); away {
			return notEnded(unreachable)
		}
		if err != nil && !errors.Is(err, errors.ErrUnsupported) {
			s.log.Warn("ending a run by force", "session", s.id, "run", run.Run, "err", err)
		}
	}
	s.hub.importSpool(ctx, &run)
	err = s.do(ctx, patient, func(st *step) error {
		if s.projection.Run == run.Run && s.link == nil {
			st.endRun(api.Ended{Reason: givenUpBy + nameOf(by)}, false)
		}
		return nil
	})
	return s.hub.problem(err, s.id)
}

// notEnded says that a process was not ended because its machine could not be reached.
func notEnded(err *UnreachableError) error {
	return &api.Error{
		Status: http.StatusServiceUnavailable, Code: api.CodeOffline, Title: err.Error(),
		Detail: "the agent may be at work there, and cannot be ended from here",
		Hint:   "try again when the machine is connected, or forget the machine with switchboard node forget, which ends its sessions",
	}
}

func nameOf(by Actor) string {
	if by.Name == "" {
		return "someone"
	}
	return by.Name
}

// stopGrace is how long a process may take to end by itself.
const stopGrace = 5 * time.Second

// Stop ends a session's process and waits for that.
func (h *Hub) Stop(ctx context.Context, by Actor, id string, in api.Stop) (*api.Session, error) {
	s, release, err := h.acquire(ctx, id)
	if err != nil {
		return nil, err
	}
	defer release()
	err = lookUp(ctx, s, writing, s.shim, h.alive, func(st *step, alive *bool) error {
		p := s.projection
		if err := st.notOurs(alive); err != nil {
			return err
		}
		if p.Ended != nil || s.link != nil || dials(p.Transport) || in.Force {
			st.dropIntent(by)
		}
		switch {
		case p.Ended != nil:
		case s.link != nil:
			grace := stopGrace
			if in.Force {
				grace = 0
			}
			st.stop(stoppedBy+nameOf(by), grace)
		case p.Transport == transportWebSocket || p.Transport == transportHybrid:
			s.run.Spec = stoppedSpec(s.run.Spec)
			st.endRun(api.Ended{Reason: stoppedBy + nameOf(by)}, false)
		case !in.Force:
			return &api.Error{
				Status: http.StatusConflict, Code: api.CodeOffline, Title: "the agent can't be reached now",
				Hint: "stop with force to end its process anyway",
			}
		}
		return nil
	})
	if err != nil {
		return nil, h.problem(err, id)
	}
	if in.Force {
		if err := s.giveUp(ctx, by); err != nil {
			return nil, err
		}
	}
	if err := s.await(ctx, func(s *session) bool { return s.projection.Ended != nil }); err != nil {
		return nil, h.problem(err, id)
	}
	return s.snapshot(ctx)
}

// stop has the process of a session that has a link ended.
func (st *step) stop(reason string, grace time.Duration) {
	s := st.s
	s.process.stopping = reason
	link := s.link
	st.then(func() { link.sender.Stop(grace, reason) })
	if link.dialled {
		s.run.Spec = stoppedSpec(s.run.Spec)
		st.endRun(api.Ended{Reason: reason}, false)
	}
}

// Fork makes a new session with a copy of a session's conversation.
func (h *Hub) Fork(ctx context.Context, by Actor, id string, in api.Fork) (*api.Created, error) {
	s, release, err := h.acquire(ctx, id)
	if err != nil {
		return nil, err
	}
	defer release()
	var create api.CreateSession
	var before *api.SessionOptions
	var at place
	var conversation string
	err = s.do(ctx, reading, func(*step) error {
		p := s.projection
		if p.Relay != nil { // its conversation is not on this machine
			return p.notStartable()
		}
		conversation = p.State.Conversation()
		at = place{p.Node, p.NodeName}
		create = api.CreateSession{ClientID: in.ClientID, Dir: p.Dir, Title: in.Title, Prompt: in.Prompt, Resume: conversation, Fork: true, Options: p.Options}
		before = new(p.Options)
		if create.Dir == "" {
			create.Dir = p.State.Dir
		}
		if create.Title == "" && p.title() != "" {
			create.Title = p.title() + " (fork)"
		}
		if in.Options != nil {
			create.Options = withHidden(*in.Options, &p.Options)
		}
		return nil
	})
	if err != nil {
		return nil, h.problem(err, id)
	}
	if conversation == "" {
		return nil, &api.Error{Status: http.StatusConflict, Code: api.CodeConflict, Title: "the session has no conversation yet", Hint: "send it a message first"}
	}
	if err := h.checkCreate(by, create, before); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(in)
	if err != nil {
		return nil, h.problem(err, id)
	}
	sum := sumOf([]byte("fork"), []byte(id), raw)
	return h.createOnce(ctx, by, create, sum, runSpec{resume: conversation, fork: true, at: in.At, place: &at}, id)
}
