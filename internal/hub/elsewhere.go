package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/answer"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/policy"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// This file has rules judge calls of agents on other machines. Where a path leads is
// known to the agent's machine alone, and asking it takes time, so that no step does. Before
// a line is taken in that asks about a call, a goroutine asks the machine where the
// call's paths lead (see delivery.read). What could not be found out then is asked again by
// followDue, and rules are offered the question once more. Meanwhile deny and ask rules
// judge paths as they are written, and no rule allows a call with a path that is not known.

// Bounds of what a machine is asked.
const (
	maxAskedPaths = 256             // at once, and for one call in all
	maxRulePaths  = 4096            // that rules are about
	maxKnownPaths = 16384           // that are remembered of a machine
	maxRounds     = 4               // for one call: where a path leads may bring up another
	askTime       = 5 * time.Second // for each
	// How long it is waited before a machine is asked again that could not tell.
	minAskPause = 2 * time.Second
	maxAskPause = time.Minute
)

// nodeRules are the rules for all sessions as they hold on other machines, by node.
type nodeRules struct {
	mu     sync.Mutex
	byNode map[string]*machineRules
}

// machineRules are the rules as they hold on one machine.
type machineRules struct {
	// base, machine and facts are what engine was made of; facts says that machine is
	// known.
	base    *policy.Engine
	machine Machine
	facts   bool
	// known says where the paths of rules lead, and sessions' folders. The map is
	// replaced, never changed.
	known      map[string]policy.Link
	engine     *policy.Engine // nil if it is to be made anew
	refreshing bool           // known is being asked for again
}

// same reports whether two machines are alike for rules.
func (m *Machine) same(o *Machine) bool {
	return m.Home == o.Home && m.FoldCase == o.FoldCase && slices.Equal(m.Own, o.Own)
}

// unknownMachine stands for the machines that are no nodes, see [Hello].Elsewhere. No node has it
// as its id.
const unknownMachine = "elsewhere"

// unheard is why no rule allows anything on a machine of which nothing is known.
const unheard = "This hub knows nothing of the agent's machine yet, so that no rule allows anything: a person decides."

// engineOn returns the rules for all sessions as they hold on a node. It does not wait
// for the node. It returns the same engine until something changes.
func (h *Hub) engineOn(node string) *policy.Engine {
	base := h.rules.Engine()
	var m Machine
	facts := false
	if h.options.Nodes != nil {
		m, facts = h.options.Nodes.Machine(node)
	}
	h.elsewhere.mu.Lock()
	defer h.elsewhere.mu.Unlock()
	r := h.elsewhere.of(node)
	if r.engine != nil && r.base == base && r.facts == facts && r.machine.same(&m) {
		return r.engine
	}
	r.base, r.machine, r.facts = base, m, facts
	engine, err := base.On(policy.Machine{Home: m.Home, Own: m.Own, FoldCase: m.FoldCase}, r.known)
	switch {
	case err != nil: // cannot be: these rules have been read before
		h.log.Error("making the rules for another machine", "node", node, "err", err)
		engine = base.Sealed(unheard)
	case !facts:
		engine = engine.Sealed(unheard)
	}
	r.engine = engine
	return engine
}

// of returns the rules of a node. mu is held.
func (r *nodeRules) of(node string) *machineRules {
	if r.byNode == nil {
		r.byNode = map[string]*machineRules{}
	}
	m := r.byNode[node]
	if m == nil {
		m = &machineRules{}
		r.byNode[node] = m
	}
	return m
}

// knows reports whether a node has told where a path leads.
func (r *nodeRules) knows(node, path string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, told := r.of(node).known[path]
	return told
}

// paths returns the paths of which a node has told where they lead.
func (r *nodeRules) paths(node string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.of(node).known))
}

// learn notes what a node has told about the paths of rules and sessions' folders.
func (r *nodeRules) learn(node string, links map[string]policy.Link) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.of(node)
	known := maps.Clone(m.known)
	if known == nil || len(known)+len(links) > maxKnownPaths {
		known = map[string]policy.Link{}
	}
	changed := false
	for path, link := range links {
		if old, told := known[path]; !told || old != link {
			known[path], changed = link, true
		}
	}
	if changed {
		m.known, m.engine = known, nil
	}
}

// begin reports whether what is known of a node may be asked for again. If so, end must
// be called when that is over.
func (r *nodeRules) begin(node string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.of(node)
	was := m.refreshing
	m.refreshing = true
	return !was
}

func (r *nodeRules) end(node string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of(node).refreshing = false
}

// forget drops what is known of a node.
func (r *nodeRules) forget(node string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byNode, node)
}

// askPaths asks a node where paths lead.
func (h *Hub) askPaths(ctx context.Context, node string, paths []string) (map[string]policy.Link, error) {
	links := make(map[string]policy.Link, len(paths))
	for part := range slices.Chunk(paths, maxAskedPaths) {
		resolved, err := h.askSome(ctx, node, part)
		if err != nil {
			return nil, err
		}
		for i, path := range part {
			links[path] = policy.Link{Path: resolved[i].Path, Err: resolved[i].Err}
		}
	}
	return links, nil
}

func (h *Hub) askSome(ctx context.Context, node string, paths []string) ([]Resolved, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	resolved, err := h.launcherOf(node).Resolve(ctx, paths)
	if err != nil {
		return nil, err
	}
	if len(resolved) != len(paths) {
		return nil, fmt.Errorf("asking node %s about %d paths: it told about %d", node, len(paths), len(resolved))
	}
	return resolved, nil
}

// A linkQuery is a call whose paths are to be followed on another machine.
type linkQuery struct {
	node    string
	request string // by which the call is asked about
	origin  policy.Origin
	rules   []api.SessionRule // the session's own
	call    policy.Call
	boxes   bool
}

// judged has the rules decide about the call.
func (q *linkQuery) judged(e *policy.Engine, links map[string]policy.Link) (policy.Verdict, *policy.Links) {
	call := q.call
	call.Links = policy.NewLinks(links)
	if q.boxes {
		return e.Boxed(call), call.Links
	}
	return e.Decide(call), call.Links
}

// engineFor returns the rules that hold for the call.
func (h *Hub) engineFor(q *linkQuery) *policy.Engine {
	engine, _ := withSessionRules(h.engineOn(q.node).For(q.origin), q.rules) // the session's goroutine logs the error
	return engine
}

// learnRules finds out where the paths of rules lead, and the folder of the session. It
// waits for the node.
func (h *Hub) learnRules(ctx context.Context, q *linkQuery) (*policy.Engine, error) {
	engine := h.engineFor(q)
	for range 2 { // the home folder may be a link, which brings up others
		missing := engine.Missing()
		if dir := q.call.Dir; dir != "" && !h.elsewhere.knows(q.node, dir) {
			missing = append([]string{dir}, missing...)
		}
		if len(missing) == 0 {
			break
		}
		links, err := h.askPaths(ctx, q.node, missing[:min(len(missing), maxRulePaths)])
		if err != nil {
			return nil, err
		}
		h.elsewhere.learn(q.node, links)
		engine = h.engineFor(q)
	}
	return engine, nil
}

// followLinks finds out where the paths of a call lead, as far as rules want to know. It
// waits for the node. What it returns is about this one call: a link may lead
// elsewhere in the next moment.
func (h *Hub) followLinks(ctx context.Context, q *linkQuery) (map[string]policy.Link, error) {
	engine, err := h.learnRules(ctx, q)
	if err != nil {
		return nil, err
	}
	known := map[string]policy.Link{}
	if q.call.Tool == "" {
		return known, nil
	}
	for range maxRounds {
		verdict, links := q.judged(engine, known)
		missing := links.Missing()
		missing = missing[:min(len(missing), maxAskedPaths-len(known))]
		if verdict.Decision == policy.Deny || len(missing) == 0 {
			break
		}
		told, err := h.askPaths(ctx, q.node, missing)
		if err != nil {
			return nil, err
		}
		maps.Copy(known, told)
	}
	return known, nil
}

// A followState is what a session on another machine knows of the links there.
type followState struct {
	// answers are what the machine has told about the calls that are being taken in, by
	// the ids of the requests.
	answers map[string]map[string]policy.Link
	// due says that the machine is to be asked, not before next; pause is how long it was
	// waited the last time. asking says that it is being asked, again that it has changed
	// since.
	due, asking, again bool
	next               time.Time
	pause              time.Duration
}

// dueNow has the machine asked when the step ends, or when it has answered what it is
// being asked.
func (f *followState) dueNow() { f.due, f.again, f.next, f.pause = true, f.asking, time.Time{}, 0 }

// linksOf returns what is known of the links of a call, nil for one on the hub's own
// machine.
func (st *step) linksOf(request string) *policy.Links {
	if st.s.projection.Node == "" {
		return nil
	}
	return policy.NewLinks(st.s.follow.answers[request])
}

// untold reports whether another machine has not told all that rules have to know of a
// call to allow it.
func (st *step) untold(c *policy.Call) bool {
	return c.Links != nil && (len(c.Links.Missing()) > 0 || len(st.s.engine().Missing()) > 0)
}

// queryOf returns a call of the session for followLinks.
func (st *step) queryOf(request, tool string, input json.RawMessage, boxes bool) linkQuery {
	p := st.s.projection
	return linkQuery{
		node: p.Node, request: request, origin: p.origin(), rules: slices.Clone(p.Rules), call: st.call(request, tool, input), boxes: boxes,
	}
}

// toFollow returns the call on another machine that a line asks about, if that machine
// has to tell something before rules can decide about it; nil otherwise.
func (st *step) toFollow(l *RunLink, line *fold.Line) *linkQuery {
	p := st.s.projection
	if p.Node == "" || l.tee || p.Ended != nil || !p.judged() || string(line.Header.Type) != "control_request" {
		return nil
	}
	m, err := line.Message()
	if err != nil {
		return nil
	}
	request, ok := m.(*wire.ControlRequest)
	if !ok {
		return nil
	}
	var q linkQuery
	switch r := request.Request.(type) {
	case *wire.CanUseToolRequest:
		q = st.queryOf(request.RequestID, r.ToolName, r.Input, p.boxes())
	case *wire.HookCallbackRequest:
		input, ok := r.Input.(*wire.PreToolUseInput)
		if !ok || r.CallbackID != hookEveryCall {
			return nil
		}
		q = st.queryOf(request.RequestID, input.ToolName, input.ToolInput, false)
	default:
		return nil
	}
	q.call.Input = slices.Clone(q.call.Input) // the line's memory is used again
	verdict, links := q.judged(st.s.engine(), nil)
	if verdict.Decision == policy.Deny || len(links.Missing()) == 0 && len(st.s.engine().Missing()) == 0 {
		return nil
	}
	return &q
}

// followedTime bounds how long a line waits for another machine.
const followedTime = 5 * time.Second

// followed asks a machine about the call of a line. What it could not be asked is found out
// later, see followDue.
func (h *Hub) followed(session string, q *linkQuery) map[string]map[string]policy.Link {
	ctx, cancel := context.WithTimeout(h.ctx, followedTime)
	defer cancel()
	links, err := h.followLinks(ctx, q)
	if err != nil {
		h.log.Debug("a call is judged without its machine", "session", session, "err", err)
		return nil
	}
	return map[string]map[string]policy.Link{q.request: links}
}

// followDue has the session's machine asked about what open questions are about, if
// rules could not decide without it, and has the rules offered these questions again.
func (st *step) followDue() {
	s, p := st.s, st.s.projection
	f := &s.follow
	if p.Node == "" || !f.due || f.asking || st.now.Before(f.next) {
		return
	}
	f.due = false
	queries := []linkQuery{st.queryOf("", "", nil, false)} // of the rules alone
	for i := range p.Questions {
		row := &p.Questions[i]
		if ask, err := answer.Ask(row); err == nil && row.Kind == string(api.QuestionPermission) && p.judged() {
			_, hook := ask.Request.(*wire.HookCallbackRequest)
			if tool, input := answer.Call(ask); tool != "" {
				queries = append(queries, st.queryOf(row.RequestID, tool, slices.Clone(input), !hook && p.boxes()))
			}
		}
	}
	f.asking = true
	st.then(func() { s.hub.tasks.Go(func() { s.followNow(queries) }) })
}

// followNow asks the machine, and offers what it was asked about to the rules.
func (s *session) followNow(queries []linkQuery) {
	answers := map[string]map[string]policy.Link{}
	var failed error
	for i := range queries {
		q := &queries[i]
		links, err := s.hub.followLinks(s.hub.ctx, q)
		if err != nil {
			failed = err
			break // the others are about the same machine
		}
		answers[q.request] = links
	}
	s.post(func(st *step) {
		f := &s.follow
		f.asking = false
		f.answers = answers
		for _, row := range slices.Clone(s.projection.Questions) {
			if _, told := answers[row.RequestID]; told {
				st.offer(row)
			}
		}
		f.answers = nil
		// What is not known after all rounds is asked about once, not for ever.
		f.due = failed != nil
		switch {
		case f.again:
			f.dueNow()
			return
		case f.due:
			f.pause = min(max(2*f.pause, minAskPause), maxAskPause)
			f.next = st.now.Add(f.pause)
			return
		}
		f.pause = 0
		s.policy.due = true // the rules that the CLI is told may depend on where the folder is
	})
}

// machineChanged judges open questions anew: the session's machine may be there again.
func (st *step) machineChanged() {
	st.s.follow.dueNow()
	st.offerAll()
}

// followEdited finds out where the paths of a call lead that a person has edited, before
// the answer is taken. It returns nil for a session on the hub's own machine.
func (s *session) followEdited(ctx context.Context, row *journal.Question, in *api.Answer) (map[string]map[string]policy.Link, error) {
	if in.Input == nil || row.Kind != string(api.QuestionPermission) {
		return nil, nil
	}
	ask, err := answer.Ask(row)
	if err != nil {
		return nil, err
	}
	tool, _ := answer.Call(ask)
	var q *linkQuery
	err = s.do(ctx, reading, func(st *step) error {
		if s.projection.Node != "" && tool != "" {
			q = new(st.queryOf(row.RequestID, tool, in.Input, false))
		}
		return nil
	})
	if err != nil || q == nil {
		return nil, err
	}
	links, err := s.hub.followLinks(ctx, q)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, nil // deny rules may cover it as it is written
	}
	return map[string]map[string]policy.Link{q.request: links}, nil
}

// editedUntold says that an edited call cannot be judged.
func editedUntold(name string) error {
	return &api.Error{
		Status: http.StatusServiceUnavailable, Code: api.CodeOffline, Title: fmt.Sprintf("the machine %q has not told where the paths of the edited call lead", name),
		Detail: "a rule may deny it", Hint: "answer without changes, deny, or try again when the machine is connected",
	}
}

// prepareRules finds out what rules have to know of a machine before a session is
// started there, so that its CLI is told the right ones. What cannot be found out now is found
// out later.
func (h *Hub) prepareRules(ctx context.Context, at place, dir string) {
	if at.id == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, followedTime)
	defer cancel()
	if _, err := h.learnRules(ctx, &linkQuery{node: at.id, call: policy.Call{Dir: dir}}); err != nil {
		h.log.Debug("a session is started before its machine has told of its links", "node", at.id, "err", err)
	}
}

// refreshRules asks a node again where the paths of rules lead.
func (h *Hub) refreshRules(node string) {
	paths := h.elsewhere.paths(node)
	if len(paths) == 0 {
		return
	}
	links, err := h.askPaths(h.ctx, node, paths)
	if err != nil {
		return // it is asked when it is there again
	}
	h.elsewhere.learn(node, links)
}

// watchNodes looks after sessions on other machines when one of these comes or goes: first
// when changed is closed.
func (h *Hub) watchNodes(changed <-chan struct{}) {
	for changed != nil {
		select {
		case <-changed:
		case <-h.ctx.Done():
			return
		}
		changed = h.options.Nodes.Changed() // before the look: what changes after it is a change of its own
		h.mu.Lock()
		nodes := map[string]bool{}
		var away []string
		var used []*session
		for id, node := range h.places {
			nodes[node] = true
			if h.offline[id] {
				away = append(away, id)
			}
			if s := h.sessions[id]; s != nil {
				used = append(used, s)
			}
		}
		h.mu.Unlock()
		for _, id := range away {
			h.lookSoon(id)
		}
		for _, s := range used {
			s.post((*step).machineChanged)
		}
		for node := range nodes {
			if h.elsewhere.begin(node) {
				h.tasks.Go(func() {
					defer h.elsewhere.end(node)
					h.refreshRules(node)
				})
			}
		}
	}
}

// explainOn has the rules decide about a call on another machine.
func (h *Hub) explainOn(ctx context.Context, q *linkQuery, engine *policy.Engine) (policy.Verdict, error) {
	links, err := h.followLinks(ctx, q)
	if unreachable := (*UnreachableError)(nil); err != nil && !errors.As(err, &unreachable) {
		return policy.Verdict{}, err
	}
	if err == nil {
		engine = h.engineFor(q)
	}
	v, _ := q.judged(engine, links)
	return v, nil
}
