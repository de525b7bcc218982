package relays

import (
	"crypto/sha256"
	"errors"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/server/ingress"
	"github.com/switchboard-dev/switchboard/wire"
)

const (
	// maxAgents is how many sessions of a relay are followed at a time.
	maxAgents = 64
	// maxHeard, maxAsked and maxLines bound what is remembered of sessions, requests and
	// lines. A CLI repeats up to 1000 lines.
	maxHeard = 1024
	maxAsked = 256
	maxLines = 2048
	// ignoreFor is how long the lines of a session are dropped that the hub does not want.
	ignoreFor = time.Minute
)

// conversations are the ids of sessions that are taken from a relay.
var conversations = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$`) })

// conversationOf returns the session that a line names, "" if it names none.
func conversationOf(h *wire.Header) string {
	if id := h.SessionID; conversations().Match(id) && string(id) != "default" {
		return string(id)
	}
	return ""
}

// agents are the sessions of one connection. The goroutine that reads it owns them.
type agents struct {
	conn *conn
	all  []*agent // the one that spoke last is the last
	// current is the session of lines that name none, nil if there is none.
	current *agent
	// announced says that the line before told of an agent that was there already: a relay
	// of several agents tells it of each. several says that it has more than one.
	announced bool
	several   bool
	heard     map[string]bool      // the sessions that have spoken on this connection
	ignored   map[string]time.Time // those that the hub does not want, and until when
	waits     []*agent             // those that were given something since the last flush
}

func newAgents(c *conn) agents {
	return agents{conn: c, heard: map[string]bool{}, ignored: map[string]time.Time{}}
}

// An agent is a session of a relay.
type agent struct {
	conn    *conn
	foreign *ingress.Foreign
	// conversation is the CLI's session_id, "" until it is known.
	conversation string
	refused      atomic.Bool // the hub does not want it any more
	warned       bool        // that others may answer its questions
	asked        []string    // request ids of the CLI that are not known to be answered
	lines        map[[sha256.Size]byte]bool
	order        [][sha256.Size]byte // the keys of lines, the oldest first
}

// begin resumes the session that the relay showed last, unless the relay has said
// that it is gone. A relay that a person has attached has a session from the beginning: an
// agent that was not prompted yet says nothing, and could not be prompted otherwise.
func (g *agents) begin() error {
	r := g.conn.relay
	runs, err := r.owner.hub.RelayRuns(g.conn.ctx, r.entry.URL)
	if err != nil {
		return err
	}
	if r.resume && len(runs) > 0 {
		i := max(slices.IndexFunc(runs, func(v hub.RelayRun) bool { return v.Session == r.last }), 0)
		a, err := g.attach(hub.DialGrant{Session: runs[i].Session, Run: runs[i].Run}, runs[i].Conversation, true)
		if a != nil || err != nil {
			return err
		}
	}
	if r.discovered {
		return nil
	}
	_, err = g.placeholder()
	return err
}

// missed is why lines may be missing.
const missed = "the hub was not connected to the relay; what was said meanwhile is not known"

// attach gives an agent to the hub and makes it the current one. back says that the hub
// knew it and was not connected meanwhile. It returns nil if the hub does not want it.
func (g *agents) attach(grant hub.DialGrant, conversation string, back bool) (*agent, error) {
	c := g.conn
	a := &agent{conn: c, conversation: conversation, lines: map[[sha256.Size]byte]bool{}}
	var err error
	a.foreign, err = ingress.AttachForeign(c.life, c.relay.owner.hub, ingress.ForeignOptions{
		Relay:   hub.Relay{URL: c.relay.entry.URL, Rules: c.relay.entry.Rules},
		Session: grant.Session, Run: grant.Run, Back: back, Write: c.write, Dropped: &c.relay.omitted, Logger: c.relay.owner.log,
		Refused: func(error) { a.refused.Store(true) },
	})
	if err != nil {
		if c.ctx.Err() != nil {
			return nil, c.why(err)
		}
		c.relay.trouble("a session is not shown: " + err.Error())
		if conversation != "" {
			g.ignore(conversation)
		}
		return nil, nil //nolint:nilnil // none is no error
	}
	if back {
		a.foreign.Gap(missed)
		g.touched(a)
	}
	g.all = append(g.all, a)
	g.current = a
	g.report()
	return a, nil
}

// placeholder makes a session of which only is known that the relay has an agent, or finds
// the one that was made before.
func (g *agents) placeholder() (*agent, error) {
	r := g.conn.relay
	runs, err := r.owner.hub.RelayRuns(g.conn.ctx, r.entry.URL)
	if err != nil {
		return nil, err
	}
	for _, v := range runs {
		if v.Conversation == "" {
			return g.attach(hub.DialGrant{Session: v.Session, Run: v.Run}, "", false)
		}
	}
	if !r.mayBegin(time.Now()) {
		return nil, nil //nolint:nilnil // none is no error
	}
	return g.attach(hub.DialGrant{}, "", false)
}

// of returns the agent that a line belongs to, nil if the line is to be dropped.
// prompt says that the line is a prompt of a front end.
func (g *agents) of(h *wire.Header, prompt bool) (*agent, error) {
	id := conversationOf(h)
	a := g.find(id)
	switch {
	case a != nil && a.refused.Load():
		g.leave(a, nil)
		g.ignore(a.conversation)
		return g.drop()
	case a != nil:
		if !prompt {
			g.spoke(a)
		}
		return a, nil
	case id == "" || prompt:
		// A front end may name a session that is not there, or none.
		if a = g.current; a != nil && !a.refused.Load() {
			return a, nil
		}
		if a, err := g.placeholder(); a != nil || err != nil {
			return a, err
		}
		return g.drop()
	case time.Now().Before(g.ignored[id]):
		return g.drop()
	}
	return g.meet(id)
}

// drop counts a line that belongs to no session.
func (g *agents) drop() (*agent, error) {
	g.conn.relay.dropped.Add(1)
	return nil, nil //nolint:nilnil // none is no error
}

// find returns the agent with a conversation, nil if there is none.
func (g *agents) find(id string) *agent {
	if id == "" {
		return nil
	}
	if a := g.current; a != nil && a.conversation == id {
		return a
	}
	i := slices.IndexFunc(g.all, func(a *agent) bool { return a.conversation == id })
	if i < 0 {
		return nil
	}
	return g.all[i]
}

// spoke makes an agent the current one.
func (g *agents) spoke(a *agent) {
	if g.current == a {
		return
	}
	g.all = append(slices.DeleteFunc(g.all, func(other *agent) bool { return other == a }), a)
	g.current = a
}

// errReplaced is why a session is offline that another has taken the place of.
var errReplaced = errors.New("the relay shows another session now")

// meet begins or continues a session that has just spoken for the first time on this
// connection, or again after another had taken its place.
func (g *agents) meet(id string) (*agent, error) {
	c, before, again := g.conn, g.current, g.heard[id]
	if again || g.announced && before != nil && before.conversation != "" {
		g.several = true // it was there all the time
	}
	if len(g.heard) < maxHeard {
		g.heard[id] = true
	}
	grant, err := c.relay.owner.hub.RelayGrant(c.ctx, c.relay.entry.URL, id)
	if owned := new(hub.OwnedError); errors.As(err, &owned) {
		c.relay.trouble("the session " + id + " is not shown: " + err.Error())
		g.ignore(id)
		return g.drop()
	}
	if err != nil {
		return nil, err
	}
	if grant.Session == "" && before != nil && before.conversation == "" && !before.refused.Load() {
		before.conversation = id // what is known of it so far began with this
		return before, nil
	}
	if grant.Session == "" && !c.relay.mayBegin(time.Now()) {
		c.relay.trouble("sessions are not shown: the relay begins too many")
		g.ignore(id)
		return g.drop()
	}
	if len(g.all) >= maxAgents {
		g.leave(g.all[0], errors.New("the relay shows too many sessions"))
	}
	a, err := g.attach(grant, id, grant.Session != "" && !again)
	if a == nil || err != nil {
		if err == nil {
			return g.drop()
		}
		return nil, err
	}
	if before != nil && (!g.several || before.conversation == "") {
		g.leave(before, errReplaced)
	}
	return a, nil
}

// ignore has the lines of a session dropped for a while.
func (g *agents) ignore(id string) {
	if len(g.ignored) >= maxHeard {
		clear(g.ignored)
	}
	g.ignored[id] = time.Now().Add(ignoreFor)
}

// gone ends sessions whose agent is gone, as the relay says: that with the id given, or
// all of them if it is empty. One that nothing is known of waits for the next agent.
func (g *agents) gone(id string) {
	for _, a := range slices.Clone(g.all) {
		if id != "" && a.conversation != id {
			continue
		}
		if a.conversation != "" {
			a.foreign.End("the relay says that its agent is gone")
		}
		g.leave(a, errors.New("the relay has no agent now"))
	}
	if id == "" {
		g.several = false
		clear(g.heard)
	}
}

// leave takes an agent out.
func (g *agents) leave(a *agent, cause error) {
	g.all = slices.DeleteFunc(g.all, func(other *agent) bool { return other == a })
	g.waits = slices.DeleteFunc(g.waits, func(other *agent) bool { return other == a })
	if g.current == a {
		g.current = nil
	}
	a.foreign.Close(cause)
	g.report()
}

// leaveAll takes all agents out, and returns the session that was the current one.
func (g *agents) leaveAll(cause error) (last string) {
	if g.current != nil {
		last = g.current.foreign.Session()
	}
	for _, a := range slices.Clone(g.all) {
		g.leave(a, cause)
	}
	return last
}

// report notes which sessions are shown.
func (g *agents) report() {
	list := make([]string, 0, len(g.all))
	for _, a := range g.all {
		list = append(list, a.foreign.Session())
	}
	g.conn.relay.show(list)
}

// touched notes that an agent was given something, see flush.
func (g *agents) touched(a *agent) {
	if !slices.Contains(g.waits, a) {
		g.waits = append(g.waits, a)
	}
}

// flush gives the hub what has come, and waits until there is room for more.
func (g *agents) flush() error {
	for _, a := range g.waits {
		full := a.foreign.Flush()
		if full == nil {
			continue
		}
		select {
		case <-full:
		case <-g.conn.ctx.Done():
			return g.conn.why(g.conn.ctx.Err())
		}
	}
	g.waits = g.waits[:0]
	return nil
}

// answers is what is said of the first question of a session.
const answers = "The relay and its other front ends may answer this agent's questions, too: an answer from here counts if it is the first."

// take takes in a line of the agent, or a request or an answer of another front end.
func (a *agent) take(line []byte, h *wire.Header) {
	if a.repeated(line, h) {
		return
	}
	a.conn.touched(a)
	id := string(h.RequestID)
	known := slices.Index(a.asked, id)
	switch string(h.Type) {
	case "control_request":
		if requestOfFrontEnd(h, line) {
			a.foreign.Program(line)
			return
		}
		if known < 0 {
			a.asked = append(a.asked, id)
			a.asked = a.asked[max(len(a.asked)-maxAsked, 0):]
		}
		if !a.warned && string(h.RequestSubtype) == "can_use_tool" {
			a.warned = true
			defer a.foreign.Notice(api.Notice{Code: "relay_answers", Text: answers})
		}
	case "control_response":
		if known >= 0 { // the CLI does not answer itself
			a.asked = slices.Delete(a.asked, known, known+1)
			a.foreign.Program(line)
			return
		}
	case "control_cancel_request":
		if known < 0 { // a front end takes a request of its own back
			a.foreign.Program(line)
			return
		}
		a.asked = slices.Delete(a.asked, known, known+1)
	}
	a.foreign.Line(line, h)
}

// repeated reports whether the agent has said a line before on this connection: a CLI that
// comes back to its relay says again what it has said, and the relay passes it on. Lines
// before this connection are the hub's to recognize.
func (a *agent) repeated(line []byte, h *wire.Header) bool {
	if len(h.UUID) == 0 || wire.ClassOf(*h) != wire.Durable {
		return false
	}
	key := sha256.Sum256(line)
	if string(h.Type) == "result" { // it is encoded anew, with other figures
		key = sha256.Sum256(slices.Concat([]byte("result "), h.UUID))
	}
	if a.lines[key] {
		return true
	}
	a.lines[key] = true
	if a.order = append(a.order, key); len(a.order) > maxLines {
		delete(a.lines, a.order[0])
		a.order = slices.Delete(a.order, 0, 1)
	}
	return false
}

// promptOfFrontEnd reports whether a line is a prompt that a front end wrote. Those of the CLI have
// a uuid, or are the result of a tool, or a repetition.
func promptOfFrontEnd(h *wire.Header, line []byte) bool {
	if string(h.Type) != "user" || len(h.UUID) > 0 || len(h.ParentToolUseID) > 0 {
		return false
	}
	m, err := wire.Decode(line)
	user, ok := m.(*wire.User)
	if err != nil || !ok || user.IsReplay || user.IsSynthetic || user.ToolUseResult != nil {
		return false
	}
	return !slices.ContainsFunc(user.Message.Content.Blocks, func(b wire.Block) bool {
		_, result := b.(*wire.ToolResultBlock)
		return result
	})
}

// requestOfFrontEnd reports whether a control request is one that only clients make. An
// unknown one is taken for the CLI's: those are kept and shown.
func requestOfFrontEnd(h *wire.Header, line []byte) bool {
	if string(h.RequestSubtype) == "mcp_message" { // both sides send it
		return false
	}
	m, err := wire.Decode(line)
	request, ok := m.(*wire.ControlRequest)
	if err != nil || !ok {
		return false
	}
	if _, unknown := request.Request.(*wire.UnknownRequest); unknown {
		return false
	}
	return wire.Validate(line) == nil
}
