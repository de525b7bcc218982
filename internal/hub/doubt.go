package hub

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// A CLI that dialled in by WebSocket loses what it writes while it is not
// connected, up to some version even the result of its turn, and no request tells
// whether a turn is under way: the answer to initialize lists open questions only.
// After a gap the session therefore is in doubt until a line of a turn comes. If
// none does, the turn counts as over, with the outcome unknown, after a silence:
//
//   - overSilence, if the transcript shows that the turn is over;
//   - overSilence after the answer to an interrupt, since an interrupted turn says so;
//   - [Options.Silence], if there is no transcript that tells;
//   - underWay times as long, if the transcript shows a turn under way.
//
// Should it be under way after all, its next line says so, and the state follows.
const (
	defaultSilence = 30 * time.Second
	overSilence    = 3 * time.Second
	underWay       = 10
)

// A doubtState is what is known of a CLI whose turn is in doubt. It belongs to a
// connection and is not folded: only what is concluded from it is.
type doubtState struct {
	// since is when the CLI was heard last: it connected, or a line came that is
	// not merely an answer.
	since time.Time
	// interrupt is the request id of the last interrupt that was sent, answered
	// when it was answered.
	interrupt string
	answered  time.Time
	// told is what the transcript says, as of told.since. reading says that it is
	// being read, next when it may be read again and pause how long after that.
	told    told
	reading bool
	next    time.Time
	pause   time.Duration
}

// told is what a transcript says about a turn.
type told struct {
	turn  transcriptTurn
	since time.Time
}

// A transcriptTurn is what a transcript says about a turn.
type transcriptTurn int

const (
	// turnUntold means that the transcript does not tell, or was not read.
	turnUntold transcriptTurn = iota
	// turnUnderWay means that the turn is not over as far as the transcript goes.
	turnUnderWay
	// turnIsOver means that the turn has ended.
	turnIsOver
)

// heard notes that the CLI has shown a sign of life.
func (s *session) heard(now time.Time) {
	s.doubt.since, s.doubt.next, s.doubt.pause = now, time.Time{}, 0
}

// doubtful reports whether a turn may be over of which the session does not know.
func (s *session) doubtful() bool {
	p := s.projection
	return p.Doubt && p.Ended == nil && s.link != nil && s.link.connected && s.link.recovers == "" && s.process.stopping == "" && p.phase() == fold.PhaseRunning
}

// presume ends a turn that is in doubt if the CLI was silent for long enough.
func (st *step) presume() {
	s, p := st.s, st.s.projection
	if !s.doubtful() || slices.ContainsFunc(p.Commands, func(v journal.Command) bool { return p.awaits(v, api.MessageSent) }) {
		return
	}
	reason := s.presumption(st.now)
	if reason == "" {
		st.readTurn()
		return
	}
	for _, v := range slices.Clone(p.Commands) {
		if p.awaits(v, api.MessageWritten) {
			st.fate(v, api.MessageUnknown, reason)
		}
	}
	st.event(api.KindTurn, Actor{}, api.TurnChange{State: api.TurnUnknown, Reason: reason})
}

// awaits reports whether a command is a prompt to this run's CLI in a state, which
// the CLI has not taken up as far as is known.
func (p *projection) awaits(v journal.Command, state api.MessageState) bool {
	return takenUp(v.Kind) && v.Run == p.Run && v.State == string(state)
}

// presumption returns why the turn that is in doubt counts as over, "" if it does
// not yet.
func (s *session) presumption(now time.Time) string {
	const lost = "the end of the turn was lost with the connection: "
	d := &s.doubt
	silent, limit, but := now.Sub(d.since), s.hub.silence, ""
	if d.told.since.Equal(d.since) {
		switch d.told.turn {
		case turnIsOver:
			if silent >= overSilence {
				return lost + "the transcript shows that it is over"
			}
		case turnUnderWay:
			limit, but = underWay*limit, ", although its transcript shows a turn under way"
		case turnUntold:
		}
	}
	switch {
	case !d.answered.IsZero() && !d.since.After(d.answered) && now.Sub(d.answered) >= overSilence:
		return lost + "the agent has answered an interrupt and was silent since"
	case silent >= limit:
		return lost + "the agent was silent for " + limit.String() + but
	}
	return ""
}

// readTurn has the transcript read, not by the session's loop, if it may tell
// something new.
func (st *step) readTurn() {
	s, p, d := st.s, st.s.projection, &st.s.doubt
	prompt, conversation := p.lastPrompt(), p.State.Conversation()
	if s.hub.launcher == nil || p.Relay != nil || prompt == "" || conversation == "" || d.reading || st.now.Sub(d.since) < overSilence || st.now.Before(d.next) {
		return
	}
	d.reading = true
	joined, since, configDir, dir := s.links.joined, d.since, p.ConfigDir, p.dir()
	st.then(func() {
		s.hub.tasks.Go(func() {
			turn := s.hub.turnOnDisk(configDir, dir, conversation, prompt)
			s.post(func(st *step) {
				if d := &st.s.doubt; st.s.links.joined == joined { // else it is another connection's
					d.reading, d.told = false, told{turn, since}
					d.pause = max(2*d.pause, overSilence)
					d.next = st.now.Add(d.pause)
				}
			})
		})
	})
}

// lastPrompt returns the uuid of the newest prompt that was written to the CLI, ""
// if none was.
func (p *projection) lastPrompt() string {
	q := &p.State.Queue
	if n := len(q.Waiting); n > 0 {
		return q.Waiting[n-1].UUID
	}
	if n := len(q.Taken); n > 0 {
		return q.Taken[n-1]
	}
	return ""
}

// transcriptTime bounds how long the transcript of one session is read.
const transcriptTime = 10 * time.Second

// turnOnDisk returns what the transcript of a conversation says about the turn of
// a prompt.
func (h *Hub) turnOnDisk(configDir, dir, conversation, prompt string) transcriptTurn {
	ctx, cancel := context.WithTimeout(h.ctx, transcriptTime)
	defer cancel()
	lines, err := h.launcher.History(ctx, configDir, dir, conversation)
	if err == nil {
		var turn transcriptTurn
		if turn, err = turnIn(lines, prompt); err == nil {
			return turn
		}
	}
	if !errors.Is(err, fs.ErrNotExist) && h.ctx.Err() == nil {
		h.log.Warn("reading the transcript of a turn whose end was lost", "conversation", conversation, "err", err)
	}
	return turnUntold
}

// turnIn returns what the lines of a transcript say about the turn of a prompt.
func turnIn(lines iter.Seq2[[]byte, error], prompt string) (transcriptTurn, error) {
	turn := turnUntold
	for line, err := range lines {
		if err != nil {
			return turnUntold, err
		}
		h, err := wire.Peek(line)
		if err != nil || turn == turnUntold && string(h.UUID) != prompt {
			continue
		}
		switch string(h.Type) {
		case "assistant", "user":
		default:
			continue
		}
		turn = turnUnderWay
		if endsTurn(line) {
			turn = turnIsOver
		}
	}
	return turn, nil
}

// endsTurn reports whether a message of a transcript is the last one of its turn. A
// CLI writes each block of a message by its own, in older versions before the stop
// reason is known.
func endsTurn(line []byte) bool {
	m, err := wire.Decode(line)
	if err != nil {
		return false
	}
	switch m := m.(type) { //nolint:gochecksumtype // the others are no messages
	case *wire.Assistant:
		stop := m.Message.StopReason
		if stop == wire.StopReasonToolUse || stop == wire.StopReasonPauseTurn || len(m.Message.Content) == 0 {
			return false
		}
		_, text := m.Message.Content[len(m.Message.Content)-1].(*wire.TextBlock)
		return text
	case *wire.User:
		return strings.HasPrefix(m.Message.Content.String(), "[Request interrupted by user")
	}
	return false
}

// ofTurn reports whether a line of the CLI belongs to a turn, so that the turn's
// result is still to come, or is that result.
func ofTurn(l *fold.Line) bool {
	h := &l.Header
	switch string(h.Type) {
	case "result":
		return true
	case "assistant", "stream_event":
		return len(h.ParentToolUseID) == 0
	case "user":
		m, err := l.Message()
		user, ok := m.(*wire.User)
		return err == nil && ok && !user.IsReplay && user.ParentToolUseID == ""
	case "system":
		return string(h.Subtype) == "init" || string(h.Subtype) == "session_state_changed"
	}
	return false
}

// found notes that a turn which counts as over is under way: its message is being
// streamed. Such lines are not kept, so that an entry has to say it.
func (st *step) found(l *fold.Line) {
	if st.s.projection.State.Unsure && ofTurn(l) {
		st.event(api.KindTurn, Actor{}, api.TurnChange{State: api.TurnRunning, Reason: "the agent is still working on the turn"})
	}
}

// gap folds that lines are missing.
func (p *projection) gap(d api.Gap) {
	if d.Epoch != "" {
		p.Epoch = d.Epoch
	}
	under := p.State.Turn || len(p.State.Queue.Waiting) > 0 || p.State.Told != "" && p.State.Told != wire.SessionStateIdle
	p.Doubt = p.Doubt || under && (dials(p.Transport) || p.Relay != nil) && p.Ended == nil
}

// turn folds what a turn is taken to be whose end was not seen.
func (p *projection) turn(e *journal.Entry, c *changes) error {
	var d api.TurnChange
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return err
	}
	event := fold.Event{Kind: fold.EventTurnLost, Reason: d.Reason, Seq: e.Seq, Time: e.Time}
	if d.State == api.TurnRunning {
		event.Kind = fold.EventTurnFound
	}
	p.Doubt = false
	p.happened(event, c)
	return nil
}
