package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/answer"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// A Driver is a program that has a session before it as if it had started the CLI
// itself. It may be the session's registrant: the one whose hooks and MCP servers
// the CLI was told of, and which is asked about them. Its methods are safe for
// concurrent use.
type Driver struct {
	session    *session
	release    func()
	leave      sync.Once
	registered atomic.Bool
	left       atomic.Bool
}

// A driverProjection is what the log says of the program that drives a session.
type driverProjection struct {
	// Direct says that the session belongs to a program that drives it,
	// Registration is that program's own initialize request.
	Direct       bool            `json:"direct,omitempty"`
	Registration json.RawMessage `json:"registration,omitempty"`
	// Foreign are the requests of this run's CLI that are no questions and wait
	// for an answer.
	Foreign []foreignRequest `json:"foreign,omitempty"`
}

// A driverState is what a session knows of its drivers.
type driverState struct {
	// registrant answers what the CLI asks the program that drives it, nil if there is
	// none; successor takes its place when it leaves.
	registrant, successor *Driver
}

// register makes a driver the registrant.
func (s *driverState) register(d *Driver) {
	s.registrant = d
	d.registered.Store(true)
}

// leave takes a driver out. It reports whether that was the registrant.
func (s *driverState) leave(d *Driver) bool {
	if s.successor == d {
		s.successor = nil
	}
	if s.registrant != d {
		return false
	}
	s.registrant = nil
	d.registered.Store(false)
	return true
}

// CreateDirect makes a session whose process is started by the first initialize of
// a [Driver], with what that says.
func (h *Hub) CreateDirect(ctx context.Context, by Actor, in api.CreateSession) (*api.Created, error) {
	if !filepath.IsAbs(in.Dir) {
		return nil, record.Unfit("dir: expected an absolute path, got %q", in.Dir)
	}
	if err := h.checkOptions(by, in.Options, nil); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(in)
	if err != nil {
		return nil, h.problem(err, "")
	}
	return h.createOnce(ctx, by, in, sumOf([]byte("direct"), raw), runSpec{direct: true}, "")
}

// Join returns a driver of a session. It must leave.
func (h *Hub) Join(ctx context.Context, id string) (*Driver, error) {
	s, release, err := h.acquire(ctx, id)
	if err != nil {
		return nil, err
	}
	return &Driver{session: s, release: release}, nil
}

// Submit takes one line, as [Hub.Submit] does. The first initialize in a session
// of [Hub.CreateDirect] starts the CLI and makes the driver the registrant.
func (d *Driver) Submit(ctx context.Context, by Actor, line []byte, may May) ([]byte, error) {
	return d.session.submit(ctx, by, line, may, d)
}

// Registered reports whether the CLI's requests that are no questions, calls of
// hooks and messages for MCP servers, are this driver's to answer.
func (d *Driver) Registered() bool { return d.registered.Load() }

// Leave says that the driver is gone. What the CLI asks it is answered at once: a
// hook that guards a call blocks it, the rest gets an error.
func (d *Driver) Leave() {
	d.leave.Do(func() {
		defer d.release()
		d.left.Store(true) // what it has sent may come after what follows
		d.session.post(func(st *step) {
			s := &st.s.drivers
			if !s.leave(d) {
				return
			}
			st.refuseForeign() // no other client was shown these
			if next := s.successor; next != nil {
				s.successor = nil
				s.register(next)
			}
		})
	})
}

// OwnHook reports whether a hook is the hub's own, by its callback id: its calls are
// no other client's to answer.
func OwnHook(callback string) bool { return callback == hookEveryCall || callback == hookEnterPlan }

// A foreignRequest is a request of the CLI that is no question: for the client that registered
// a hook or an MCP server, or for none.
type foreignRequest struct {
	RequestID string `json:"request_id"`
	Subtype   string `json:"subtype"`
	Callback  string `json:"callback,omitempty"` // of a hook
}

// maxForeign is how many of them a projection remembers.
const maxForeign = 256

// foreignLine folds a request of the CLI, or its withdrawal.
func (p *projection) foreignLine(l *fold.Line, line []byte) {
	id := string(l.Header.RequestID)
	switch string(l.Header.Type) {
	case "control_cancel_request":
		p.forgetForeign(id)
	case "control_request":
		switch subtype := string(l.Header.RequestSubtype); subtype {
		case "can_use_tool", "elicitation":
		default:
			if id == "" || leftAlone(subtype) || p.foreign(id) != nil {
				return
			}
			f := foreignRequest{RequestID: id, Subtype: subtype}
			if request, ok := wire.Lookup(line, "request"); ok && subtype == "hook_callback" {
				f.Callback, _ = wire.LookupString(request, "callback_id")
			}
			if OwnHook(f.Callback) {
				return
			}
			p.Foreign = append(p.Foreign, f)
			if len(p.Foreign) > maxForeign {
				p.Foreign = slices.Delete(p.Foreign, 0, 1)
			}
		}
	}
}

func (p *projection) forgetForeign(requestID string) {
	p.Foreign = slices.DeleteFunc(p.Foreign, func(f foreignRequest) bool { return f.RequestID == requestID })
}

// foreign returns the request with this id, nil if there is none.
func (p *projection) foreign(requestID string) *foreignRequest {
	i := slices.IndexFunc(p.Foreign, func(f foreignRequest) bool { return f.RequestID == requestID })
	if i < 0 {
		return nil
	}
	return &p.Foreign[i]
}

// refuseForeign answers what the CLI asks a registrant that is gone.
func (st *step) refuseForeign() {
	p := st.s.projection
	if st.s.drivers.registrant != nil || p.Ended != nil || p.foreignProcess() {
		return
	}
	for _, f := range slices.Clone(p.Foreign) {
		st.orphaned(f)
	}
}

// orphaned answers a request for which no client is there.
func (st *step) orphaned(f foreignRequest) {
	var line []byte
	var err error
	if f.Subtype == "hook_callback" && st.s.projection.guards(f.Callback) {
		const gone = "The program that checks this call is gone, so the call is blocked."
		line, err = answer.HookLine(f.RequestID, &wire.PreToolUseOutput{PermissionDecision: wire.HookPermissionDecisionDeny, PermissionDecisionReason: gone})
	} else {
		line, err = wire.NewError(f.RequestID, "this client does not support control request "+f.Subtype, wire.ErrorCodeUnsupported)
	}
	if err == nil {
		_, err = st.send("", commandRefusal, Actor{}, line)
	}
	if err != nil {
		st.s.log.Error("refusing a request of the CLI", "session", st.s.id, "err", err)
	}
}

// guards reports whether a hook is asked before a call, so that without an answer
// the call must not run. One that is not known is taken for such a hook.
func (p *projection) guards(callback string) bool {
	for event, matchers := range p.registration().Hooks {
		for _, m := range matchers {
			if slices.Contains(m.HookCallbackIDs, callback) {
				return event == string(wire.HookEventPreToolUse)
			}
		}
	}
	return true
}

// registration returns what the session's registrant told the CLI, the zero value
// if there never was one.
func (p *projection) registration() *wire.InitializeRequest {
	m, err := wire.Decode(p.Registration)
	if err == nil {
		if request, ok := m.(*wire.ControlRequest); ok {
			if body, ok := request.Request.(*wire.InitializeRequest); ok {
				return body
			}
		}
	}
	return &wire.InitializeRequest{}
}

// answerForeign passes the registrant's answer on.
func (st *step) answerForeign(by Actor, f *foreignRequest, line []byte, may May) error {
	if err := wire.Validate(line); err != nil {
		return lineProblem(err)
	}
	if !may(wire.ScopeAdmin) {
		return lacks(wire.ScopeAdmin)
	}
	if _, err := st.send("", commandRefusal, by, line); err != nil {
		return lineProblem(err)
	}
	return nil
}

// submitInitialize answers initialize: with what the CLI answers, if this is what
// it is started with, else with what it has answered before.
func (s *session) submitInitialize(ctx context.Context, by Actor, request *wire.ControlRequest, may May, d *Driver) ([]byte, error) {
	if d == nil {
		return s.initialized(ctx, request.RequestID)
	}
	raw := bytes.Clone(request.Raw())
	answer, launched := make(chan outcome, 1), make(chan error, 1)
	first := false
	err := s.do(ctx, writing, func(st *step) error {
		p := s.projection
		if d.left.Load() {
			return &api.Error{Status: http.StatusConflict, Code: api.CodeConflict, Title: "the program that sent this is gone"}
		}
		switch {
		case p.Direct && p.Run == 0:
			if !may(wire.ScopeAdmin) {
				return lacks(wire.ScopeAdmin)
			}
			if body, ok := request.Request.(*wire.InitializeRequest); ok && agentsBypass(body.Agents) && !p.bypass() {
				return notBypassing()
			}
			first = true
			s.drivers.register(d)
			st.startRun(runSpec{fresh: true, registration: raw, answer: answer, launched: launched, resume: p.Resume, fork: p.Fork, at: p.At})
		case !p.Direct || s.drivers.registrant == d || !may(wire.ScopeAdmin) || !sameRegistration(p.registration(), request):
		case s.drivers.registrant == nil:
			s.drivers.register(d)
		default:
			s.drivers.successor = d // the old connection may be dead, and the hub not have noticed yet
		}
		return nil
	})
	if err != nil {
		return errorLine(request.RequestID, s.hub.problem(err, s.id), "")
	}
	if !first {
		return s.initialized(ctx, request.RequestID)
	}
	wait, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	for started := launched; ; {
		select {
		case err := <-started:
			if err != nil {
				return errorLine(request.RequestID, s.hub.startProblem(err, s.id), "")
			}
			started = nil // it says nothing more
		case o := <-answer:
			switch {
			case o.err == nil:
				return encodeAnswer(request.RequestID, &wire.ControlAnswer{Subtype: "success", Response: o.answer.Response})
			case o.answer != nil:
				return errorLine(request.RequestID, o.err, o.answer.ErrorCode)
			}
			if started != nil {
				// Why it was not started says more than that it cannot be reached.
				select {
				case err := <-started:
					if err != nil {
						o.err = s.hub.startProblem(err, s.id)
					}
				case <-s.done:
				case <-wait.Done():
				}
			}
			return errorLine(request.RequestID, o.err, "")
		case <-s.done:
			return errorLine(request.RequestID, s.hub.problem(ErrClosed, s.id), "")
		case <-wait.Done():
			return errorLine(request.RequestID, api.Errorf(http.StatusGatewayTimeout, api.CodeTimeout, "the agent did not answer initialize in time"), "")
		}
	}
}

// sameRegistration reports whether a driver registers the very hooks and servers
// that the CLI was told of.
func sameRegistration(old *wire.InitializeRequest, request *wire.ControlRequest) bool {
	body, ok := request.Request.(*wire.InitializeRequest)
	if !ok || !slices.Equal(slices.Sorted(slices.Values(old.SDKMCPServers)), slices.Sorted(slices.Values(body.SDKMCPServers))) {
		return false
	}
	return slices.Equal(callbacks(old), callbacks(body))
}

// callbacks lists the hooks of an initialize request with their events.
func callbacks(r *wire.InitializeRequest) []string {
	var list []string
	for event, matchers := range r.Hooks {
		for _, m := range matchers {
			for _, id := range m.HookCallbackIDs {
				list = append(list, event+" "+m.Matcher+" "+id)
			}
		}
	}
	slices.Sort(list)
	return list
}

// notStarted says that a session waits for its own client, nil if it does not.
func (s *session) notStarted() error {
	if s.projection.Direct && s.projection.Run == 0 {
		return &api.Error{
			Status: http.StatusConflict, Code: api.CodeConflict, Title: "the session's own client has not connected yet",
			Hint: "its process is started when that client sends initialize",
		}
	}
	return nil
}

// notOurs says that the session's process belongs to a program and lives: it is
// not the hub's to end or to replace. alive says whether the process that has the run
// lives, see lookUp.
func (st *step) notOurs(alive *bool) error {
	s, p := st.s, st.s.projection
	switch {
	case p.Ended != nil || !p.foreignProcess():
		return nil
	case p.Relay != nil:
		return notEndable()
	case s.link == nil && alive == nil:
		return errUnknown
	case s.link == nil && !*alive:
		return nil
	}
	return &api.Error{
		Status: http.StatusConflict, Code: api.CodeConflict, Title: "the agent belongs to another program, which must end it",
		Hint: "end that program, then resume the session here",
	}
}

// foreign says that the session's process belongs to a program which does not let
// others do what is asked for, nil if it does. steering are prompts and interrupts.
// As long as there is no link it is not known what the program allows, and nothing is
// kept for then: a prompt might come to lie in a queue that is never emptied.
func (s *session) foreign(steering bool) error {
	p := s.projection
	if p.Ended != nil || !p.foreignProcess() {
		return nil
	}
	if p.Relay != nil {
		return s.behindRelay(steering)
	}
	if s.link == nil {
		return &api.Error{
			Status: http.StatusConflict, Code: api.CodeOffline, Title: "the agent belongs to another program and can't be reached now",
			Hint: "try again when it is connected",
		}
	}
	if s.link.steer && steering {
		return nil
	}
	if !steering {
		return &api.Error{
			Status: http.StatusConflict, Code: api.CodeConflict, Title: "only another program, which owns the agent, can send this",
			Hint: "you can answer questions here",
		}
	}
	return &api.Error{
		Status: http.StatusConflict, Code: api.CodeConflict, Title: "another program owns the agent and doesn't let others prompt or interrupt it",
		Hint: "you can answer questions here; start the agent with switchboard wrap --steer to do more",
	}
}

// teeWait is how long a program's CLI is waited for that was announced and has never
// come: a program that announces one connects it at once, and announces another if that is refused.
const teeWait = time.Minute

// neverCame ends the run of a program's CLI that was announced and has not come. It
// reports whether it did.
func (st *step) neverCame() bool {
	s := st.s
	if s.projection.Transport != transportTee || s.run.Instance != "" || s.link != nil || st.now.Sub(s.run.Started) <= teeWait {
		return false
	}
	st.endRun(api.Ended{Reason: "the program that it belongs to has ended before it could be shown"}, false)
	return true
}

// leftTime bounds how long what a dead process has left may keep its run from being
// ended. The rest is taken in when that has happened.
const leftTime = 15 * time.Second

// importSpool has what the dead process of a run has left taken in: it may tell how the
// process has ended, which only it knows.
func (h *Hub) importSpool(ctx context.Context, run *journal.Run) {
	if h.options.Left == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, leftTime)
	defer cancel()
	if err := h.options.Left(ctx, h, run.Node, run.Session, run.Run); err != nil {
		h.log.Warn("what a process has left is not taken in yet", "session", run.Session, "run", run.Run, "err", err)
	}
}
