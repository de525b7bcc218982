package hub

import (
	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
)

// leaseKey names a conversation: one with the same id on another machine is another.
func leaseKey(node, conversation string) string {
	if node == "" || conversation == "" {
		return conversation
	}
	return node + ":" + conversation
}

// leaseOf returns the lease of a conversation for the session's run.
func (p *projection) leaseOf(conversation string) journal.Lease {
	return journal.Lease{ConfigDir: leaseDir(p.Node, p.ConfigDir), Conversation: conversation, Session: p.ID, Run: p.Run}
}

// leaseDir names the folder of a lease: on another machine it is another one.
func leaseDir(node, configDir string) string {
	if node == "" {
		return configDir
	}
	return node + ":" + configDir
}

// owner returns the session that has a conversation on a machine, nil if no other than
// session does.
func (h *Hub) owner(node, conversation, session string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l, held := h.leases[leaseKey(node, conversation)]; held && conversation != "" && l.Session != session {
		return &OwnedError{Session: l.Session, Run: l.Run}
	}
	return nil
}

// holdLease notes that a run has a conversation on a machine.
func (h *Hub) holdLease(node, conversation string, l journal.Lease) {
	if conversation == "" {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.leases[leaseKey(node, conversation)] = l
}

// claim notes that a run is about to go on with a conversation, unless another
// session has it.
func (h *Hub) claim(node string, l journal.Lease) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := leaseKey(node, l.Conversation)
	if held, ok := h.leases[key]; ok && held.Session != l.Session {
		return &OwnedError{Session: held.Session, Run: held.Run}
	}
	h.leases[key] = l
	return nil
}

// lease takes the conversation that a run has just named. If another session has
// it, a CLI that dialled in is refused; one that we started goes on, since it was
// checked before, and followers are told.
func (st *step) lease(l *RunLink) error {
	s, p := st.s, st.s.projection
	conversation := p.State.Conversation()
	if err := s.hub.owner(p.Node, conversation, s.id); err != nil {
		st.event(api.KindNotice, Actor{}, api.Notice{Code: "owned", Text: "the conversation is in use elsewhere: " + err.Error()})
		if l.dialled {
			return err
		}
		return nil
	}
	lease := p.leaseOf(conversation)
	s.hub.holdLease(p.Node, conversation, lease)
	st.batch.Leases = append(st.batch.Leases, lease)
	return nil
}

// releaseLease gives up what the run has.
func (st *step) releaseLease() {
	s, p := st.s, st.s.projection
	for _, c := range p.State.Conversations {
		l := journal.Lease{ConfigDir: leaseDir(p.Node, p.ConfigDir), Conversation: c.ID, Session: s.id}
		st.batch.Release = append(st.batch.Release, l)
		if p.ConfigDir != "" {
			l.ConfigDir = leaseDir(p.Node, "") // it was named before the folder was known
			st.batch.Release = append(st.batch.Release, l)
		}
	}
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	for conversation, l := range s.hub.leases {
		if l.Session == s.id {
			delete(s.hub.leases, conversation)
		}
	}
}
