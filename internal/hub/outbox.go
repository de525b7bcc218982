package hub

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/killpoint"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// The ways to send a message.
const (
	modeQueue = "queue"
	modeSteer = "steer"
)

// An outboxProjection is what the log says of messages and of commands to the CLI.
type outboxProjection struct {
	// Commands holds those that are not settled, the oldest first. Order is the
	// place of the newest in the queue.
	Commands []journal.Command `json:"commands,omitempty"`
	Order    int64             `json:"order,omitempty"`
}

// An outboxState is what a session knows of a run's outbox beside its commands.
type outboxState struct {
	// held are the numbers of the commands that no link was given yet.
	held map[int64]bool
}

// send sends a line to the CLI: it is journaled with its number, and goes out
// after the commit if the process can be reached; otherwise when it can. id is
// the command's, new if empty. The line is fitted to the version here. Of a line that
// sets variables the journal gets the names alone: it is sent now or never.
func (st *step) send(id, kind string, by Actor, line []byte) (string, error) {
	s := st.s
	line, err := s.projection.fit(s.projection.addressed(line))
	if err != nil {
		return "", err
	}
	if id == "" {
		id = newID("c")
	}
	if s.run.NextCommand == 0 {
		s.run.NextCommand = 1
	}
	number := s.run.NextCommand
	s.run.NextCommand++
	st.touch()
	h, err := wire.Peek(line)
	if err != nil {
		return "", fmt.Errorf("reading a line that was built: %w", err)
	}
	data, err := json.Marshal(record.Sent{Command: id, Kind: kind, Number: number})
	if err != nil {
		return "", fmt.Errorf("encoding a command: %w", err)
	}
	kept := line
	if string(h.Type) == typeEnvironment {
		kept = record.ShownLine(line)
	}
	st.add(journal.Entry{Kind: api.KindSent, Source: by.Source, By: by.Name, UUID: string(h.UUID), Line: kept, Data: data}, nil)
	switch {
	case takenUp(kind):
		s.heard(st.now) // the CLI needs a moment for it
	case string(h.RequestSubtype) == "interrupt":
		s.doubt.interrupt = string(h.RequestID)
	}
	attached, joined := s.link, s.links.joined
	if attached != nil && !attached.connected {
		attached = nil
	}
	if attached == nil {
		if s.outbox.held == nil {
			s.outbox.held = map[int64]bool{}
		}
		s.outbox.held[number] = true
	}
	st.then(func() {
		if kind == commandAnswer {
			killpoint.Reach("hub.after-settle")
		}
		// A link that connected in the same step is sent it with what came before.
		if attached != nil && attached == s.link && attached.connected && joined == s.links.joined {
			attached.sender.Send([]link.Order{{Number: number, Line: line}})
		}
	})
	return id, nil
}

// written notes that the commands up to a number have been written.
func (st *step) written(upTo int64) {
	for _, v := range slices.Clone(st.s.projection.Commands) {
		if v.Run == st.s.projection.Run && v.Number > 0 && v.Number <= upTo && v.State == string(api.MessageSent) {
			st.fate(v, api.MessageWritten, "")
		}
	}
}

// failed notes that a command was surely not written. It reports whether that was
// a prompt, which is in the queue again.
func (st *step) failed(l *RunLink, number int64, reason string) bool {
	for _, v := range slices.Clone(st.s.projection.Commands) {
		if v.Run != st.s.projection.Run || v.Number != number || v.State != string(api.MessageSent) {
			continue
		}
		if l.dialled && !l.relay && staysValid(v.Kind) {
			return false // sent again when the CLI is back
		}
		if v.Kind == commandPrompt {
			st.requeue(v)
			return true
		}
		st.fate(v, api.MessageNotDelivered, reason)
	}
	return false
}

// fate writes down what became of a command.
func (st *step) fate(v journal.Command, state api.MessageState, reason string) {
	if takenUp(v.Kind) {
		m := messageOf(v)
		m.State, m.Reason = state, reason
		st.event(api.KindMessage, Actor{}, withoutContent(m))
		return
	}
	st.event(api.KindCommand, Actor{}, api.CommandFate{ID: v.ID, Kind: v.Kind, State: state, RequestID: v.RequestID, Reason: reason})
	if state != api.MessageWritten {
		st.failRequest(v.RequestID, reason)
	}
}

// requeue puts a prompt that did not reach a process back into the queue, at its
// old place.
func (st *step) requeue(v journal.Command) {
	m := messageOf(v)
	m.State = api.MessageQueued
	st.event(api.KindMessage, Actor{}, withoutContent(m))
}

// withoutContent returns a message without what it says, for entries that tell
// what became of it.
func withoutContent(m api.Message) api.Message {
	m.Text, m.Content, m.Line = "", nil, nil
	return m
}

// staysValid reports whether a command is still meant when it can only be
// delivered later. A late interrupt would stop the wrong turn.
func staysValid(kind string) bool {
	switch kind {
	case commandPrompt, commandAnswer, commandInitialize, commandRefusal:
		return true
	}
	return false
}

// resend sends, after a reconnect of a shim, what it has not written and is still
// valid, and gives up the rest. writing is being written just now.
func (st *step) resend(l *RunLink, writing int64) {
	var again []link.Order
	for _, v := range slices.Clone(st.s.projection.Commands) {
		if v.Run != st.s.projection.Run || v.State != string(api.MessageSent) || writing != 0 && v.Number == writing {
			continue
		}
		if !staysValid(v.Kind) {
			st.fate(v, api.MessageNotDelivered, "the connection to the agent was lost before it was written")
			continue
		}
		again = append(again, link.Order{Number: v.Number, Line: v.Line})
	}
	slices.SortFunc(again, func(x, y link.Order) int { return int(x.Number - y.Number) })
	st.s.outbox.held = nil
	if len(again) > 0 {
		st.then(func() { l.sender.Send(again) })
	}
}

// dispatch sends the oldest queued prompt if the session waits for one.
func (st *step) dispatch() {
	s, p := st.s, st.s.projection
	if p.Ended != nil || p.Intent != nil || st.heldBack() {
		return
	}
	if s.link == nil || !s.link.connected || s.link.deaf || s.process.stopping != "" || s.turnTaken() || s.foreign(true) != nil {
		return
	}
	switch phase := p.phase(); {
	case phase.TakesPrompt():
	case phase == fold.PhaseStarting && (p.First != nil || p.Relay != nil) && !p.prompted():
		// The CLI holds a prompt until it has answered initialize.
	default:
		return
	}
	for {
		next, ok := p.nextPrompt()
		if !ok {
			return
		}
		line, err := messageLine(messageOf(next))
		if err == nil {
			_, err = st.send(next.ID, commandPrompt, actorOf(next), line)
		}
		if err == nil {
			st.dropStale("the session continued with another message", "")
			return
		}
		st.fate(next, api.MessageNotDelivered, err.Error())
	}
}

// turnTaken reports whether the run has had its turn, where each turn gets a process
// of its own.
func (s *session) turnTaken() bool {
	return s.projection.Options.Fresh && s.projection.Transport == transportShim && s.projection.State.Results > 0
}

// nextPrompt returns the first of the queued prompts.
func (p *projection) nextPrompt() (next journal.Command, ok bool) {
	for _, v := range p.Commands {
		if v.Kind == commandPrompt && v.State == string(api.MessageQueued) && (!ok || v.Order < next.Order) {
			next, ok = v, true
		}
	}
	return next, ok
}

// prompted reports whether a prompt was sent in this run that the CLI has not
// taken up.
func (p *projection) prompted() bool {
	return slices.ContainsFunc(p.Commands, func(v journal.Command) bool {
		return takenUp(v.Kind) && v.Run == p.Run && v.State != string(api.MessageQueued)
	})
}

// refuse answers a request of the CLI that the hub cannot answer, so that it
// does not wait.
func (st *step) refuse(line []byte) {
	m, err := wire.Decode(line)
	if err != nil || st.s.projection.Ended != nil {
		return
	}
	request, ok := m.(*wire.ControlRequest)
	if !ok || fold.KindOf(request.Request) != "" || leftAlone(request.Request.RequestSubtype()) || st.answerHook(request) || st.s.drivers.registrant != nil {
		return
	}
	f := foreignRequest{RequestID: request.RequestID, Subtype: request.Request.RequestSubtype()}
	if call, ok := request.Request.(*wire.HookCallbackRequest); ok {
		f.Callback = call.CallbackID
	}
	st.orphaned(f)
}

// leftAlone reports whether a request must not be answered by a client that does not know
// it: another client, or the CLI's own deadline, settles it.
func leftAlone(subtype string) bool {
	switch subtype {
	case "request_user_dialog", "remote_tool_call", "remote_plumbing_call", "remote_tools_probe", "remote_tools_reannounce":
		return true
	}
	return false
}

// confirm notes, when a CLI has told what it waits for, that the answers before
// that have reached it: what it still waits for was answered once more.
func (st *step) confirm(recovery int64) {
	p := st.s.projection
	for _, v := range slices.Clone(p.Commands) {
		if v.Kind == commandAnswer && v.Run == p.Run && v.State == string(api.MessageSent) && v.Number < recovery {
			st.fate(v, api.MessageWritten, "")
		}
	}
}

// echoed settles answers to a question whose answer the CLI has just repeated: it
// has one. Another that was never sent is not needed any more.
func (st *step) echoed(requestID string) {
	p := st.s.projection
	for _, v := range slices.Clone(p.Commands) {
		if v.Kind != commandAnswer || v.RequestID != requestID || v.Run != p.Run || v.State != string(api.MessageSent) {
			continue
		}
		if st.s.outbox.held[v.Number] {
			st.fate(v, api.MessageNotDelivered, "the agent has an earlier answer")
			continue
		}
		st.fate(v, api.MessageWritten, "")
	}
}

// abandon fails the requests to the CLI that a caller waits for.
func (st *step) abandon(reason string) {
	s := st.s
	for id := range s.requests {
		s.requests.take(id) <- outcome{err: api.Errorf(409, api.CodeOffline, "%s", reason)}
	}
}
