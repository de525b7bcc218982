package lines

import (
	"slices"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

// maxHeld is how many prompts of a session wait for the name of its conversation. There
// are more only if its CLI says none.
const maxHeld = 32

// A tab is what a front end of the relay was told of a session that has a process. Front
// ends tell sessions apart by the session_id of lines, which is the CLI's: the
// conversation.
type tab struct {
	session string
	order   int  // tabs with a lower one are older
	run     int  // the newest process that was heard of
	up      bool // its agent is there
	told    bool // the front end knows that

	// conversation is what the lines of one run, named, have as session_id. A run that
	// resumes no conversation says it with its first lines, which come after its first prompt.
	conversation string
	named        int

	// prompts wait until their run has said it.
	prompts [][]byte
}

// in returns the conversation of a run, "" if it is not known.
func (t *tab) in(run int) string {
	if t == nil || t.named != run {
		return ""
	}
	return t.conversation
}

// Tabs are all tabs of a front end. They belong to the writing goroutine.
type tabs struct {
	one    bool   // the front end follows one session
	turned func() // is called when the front end was turned to a tab
	open   map[string]*tab
	order  int  // of the newest
	known  *tab // one that the front end knows by its conversation; nil if there is none
}

// of returns the tab of a session, a new one if there is none.
func (l *tabs) of(session string) *tab {
	t := l.open[session]
	if t == nil {
		if l.open == nil {
			l.open = map[string]*tab{}
		}
		l.order++
		t = &tab{session: session, order: l.order}
		l.open[session] = t
	}
	return t
}

// started notes a new process. If it resumes a conversation, that has its name already.
func (l *tabs) started(e *api.Event) {
	t := l.of(e.Session)
	if e.Run <= t.run {
		return // of a log that is shown again
	}
	t.run, t.up, t.told = e.Run, false, false
	fork, _ := wire.Lookup(e.Data, "fork")
	if resume, _ := wire.LookupString(e.Data, "resume"); resume != "" && string(fork) != "true" {
		t.conversation, t.named = resume, e.Run
	}
}

// arrived notes that an agent is there, and tells the front end unless it knows.
func (l *tabs) arrived(session string, to sink) {
	if t := l.of(session); !t.up {
		l.announce(t, textConnected, to)
	}
}

// announce tells the front end that an agent is there, if there is a way to say which.
func (l *tabs) announce(t *tab, text string, to sink) {
	t.up = true
	conversation := t.in(t.run)
	switch {
	case conversation != "":
		l.turn(t, to)
	case l.one:
	case l.knowsOther(t):
		// The front end would take the line for one of another agent. It is told when this
		// one has said its name.
		return
	}
	l.tell(t, text, conversation, to)
}

// knowsOther reports whether the front end knows of another agent.
func (l *tabs) knowsOther(than *tab) bool {
	for _, t := range l.open {
		if t != than && t.told {
			return true
		}
	}
	return false
}

func (l *tabs) tell(t *tab, text, conversation string, to sink) {
	t.told = true
	if l.known == nil && conversation != "" {
		l.known = t
	}
	to.Line(connection(text, conversation))
}

// name notes what a line of the CLI has as session_id, before the line is shown. It
// reports whether prompts have waited for it.
func (l *tabs) name(e *api.Event, conversation string, to sink) (waited bool) {
	t := l.open[e.Session]
	if t != nil && t.named == e.Run && t.conversation == conversation {
		return false
	}
	if t == nil {
		t = l.of(e.Session)
	}
	t.run, t.named, t.conversation = max(t.run, e.Run), e.Run, conversation
	l.turn(t, to)
	switch {
	case t.up && !t.told:
		l.tell(t, textConnected, conversation, to)
	case t.told && l.known == nil:
		l.known = t
	}
	return len(t.prompts) > 0
}

// turn has the front end turn to an agent that it knows before it is shown the first line
// of one that it does not. There are pages that make the tab of a conversation from the
// tab that they have turned to last, and fail if that one is new too and not drawn
// yet: of four that are there when such a page comes, it would show two.
func (l *tabs) turn(from *tab, to sink) {
	if l.one {
		return
	}
	known := l.known
	if known == from {
		known = l.eldest(from)
	}
	if known != nil {
		to.Line(turnTo(known.conversation))
		l.turned()
	}
}

// eldest returns the oldest tab that the front end knows by its conversation, except one.
func (l *tabs) eldest(except *tab) (eldest *tab) {
	for _, t := range l.open {
		if t != except && t.told && t.conversation != "" && (eldest == nil || t.order < eldest.order) {
			eldest = t
		}
	}
	return eldest
}

// prompt shows a prompt with the conversation that it is for. If that is not known yet,
// the prompt waits.
func (l *tabs) prompt(e *api.Event, line []byte, to sink) {
	t := l.of(e.Session)
	t.prompts = append(t.prompts, line)
	if conversation := t.in(e.Run); conversation != "" || len(t.prompts) > maxHeld {
		t.release(conversation, to)
	}
}

// release shows the prompts that have waited.
func (t *tab) release(conversation string, to sink) {
	for _, line := range t.prompts {
		to.Line(withConversation(line, conversation))
	}
	t.prompts = nil
}

// gone notes that a process is gone, and tells the front end if it knew of it.
func (l *tabs) gone(e *api.Event, to sink) {
	t := l.open[e.Session]
	if t == nil {
		return
	}
	conversation := t.in(e.Run)
	t.release(conversation, to)
	if e.Run < t.run {
		return // of a log that is shown again
	}
	delete(l.open, e.Session)
	if l.known == t {
		l.known = l.eldest(nil)
	}
	if !t.told {
		return
	}
	for _, line := range departure(conversation, l.one) {
		to.Line(line)
	}
}

// withConversation returns a line with the conversation that it is of as session_id. A
// line that has it is returned as it is, as is every line if the conversation is not known.
func withConversation(line []byte, conversation string) []byte {
	if conversation == "" {
		return line
	}
	if h, err := wire.Peek(line); err != nil || string(h.SessionID) == conversation {
		return line
	}
	return wire.AppendMember(line, "session_id", conversation)
}

// currentConversation returns what the lines of a session's process have as session_id,
// "" if the process has not said it.
func currentConversation(s *api.Session) string {
	last := len(s.Conversations) - 1
	if last < 0 {
		return ""
	}
	if s.Conversations[last].Run == s.Run {
		return s.Conversation
	}
	// A process that the hub started since has resumed it, unless each is to begin anew.
	if !slices.Contains([]string{"websocket", "hybrid"}, s.Transport) && (s.Options == nil || !s.Options.Fresh) {
		return s.Conversation
	}
	return ""
}
