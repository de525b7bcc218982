package nodes

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/node"
)

const (
	// inviteTTL is how long an invitation is good if nothing else is said, maxInviteTTL
	// the longest that can be asked for.
	inviteTTL    = 15 * time.Minute
	maxInviteTTL = 24 * time.Hour
	// maxInvites is how many are good at once. One more, and the oldest is forgotten.
	maxInvites = 64
)

// An invitation is what is known of a one-time code.
type invitation struct {
	sum     [sha256.Size]byte
	name    string
	labels  map[string]string
	max     int
	expires time.Time
}

// invalid says what is wrong with a request.
func invalid(title, detail string) *api.Error {
	return &api.Error{Status: http.StatusUnprocessableEntity, Code: api.CodeInvalid, Title: title, Detail: detail}
}

// taken says that there is a node with a name.
func taken(name string) *api.Error {
	return &api.Error{
		Status: http.StatusConflict, Code: api.CodeConflict, Title: fmt.Sprintf("There is a machine %q already", name),
		Hint: "Choose another name, or remove that machine: switchboard node forget " + name,
	}
}

// Invite makes an invitation. Its code is in the answer alone.
func (n *Nodes) Invite(_ context.Context, in api.InviteNode) (*api.NodeInvitation, error) {
	if in.Name != "" {
		if err := node.CheckName(in.Name); err != nil {
			return nil, invalid("This can't be the name of a machine", err.Error())
		}
	}
	if err := node.CheckLabels(in.Labels); err != nil {
		return nil, invalid("The labels are invalid", err.Error())
	}
	ttl := cmp.Or(time.Duration(in.TTL)*time.Second, inviteTTL)
	if in.TTL < 0 || ttl > maxInviteTTL || in.MaxSessions < 0 {
		return nil, invalid("The invitation is invalid", fmt.Sprintf("ttl is a number of seconds up to %d, and max_sessions is not negative.", int(maxInviteTTL/time.Second)))
	}
	code, now := node.NewCode(), time.Now()
	made := &invitation{sum: sha256.Sum256([]byte(code)), name: in.Name, labels: maps.Clone(in.Labels), max: in.MaxSessions, expires: now.Add(ttl)}
	n.mu.Lock()
	if in.Name != "" && n.find(in.Name) != nil {
		n.mu.Unlock()
		return nil, taken(in.Name)
	}
	n.invites = slices.DeleteFunc(n.invites, func(i *invitation) bool { return !now.Before(i.expires) })
	n.invites = append(n.invites, made)
	if extra := len(n.invites) - maxInvites; extra > 0 {
		n.invites = slices.Delete(n.invites, 0, extra)
	}
	n.mu.Unlock()
	pin, needed := n.pin()
	out := &api.NodeInvitation{Code: code, URL: n.url(), Pin: pin, Expires: made.expires.UTC().Truncate(time.Second)}
	out.Command = "switchboard node join " + out.URL + " --code " + code
	if needed && pin != "" {
		out.Command += " --pin " + pin
	}
	return out, nil
}

// held returns the invitation with a code; nil if there is none. mu is held.
func (n *Nodes) held(code string, now time.Time) *invitation {
	sum := sha256.Sum256([]byte(code))
	var found *invitation
	for _, i := range n.invites { // all of them, so that the time tells nothing
		if subtle.ConstantTimeCompare(sum[:], i.sum[:]) == 1 && now.Before(i.expires) {
			found = i
		}
	}
	return found
}

// Join exchanges an invitation for the identity of a node. What else is wrong with the
// request does not use the invitation up, and is told only to those that have one. A
// wrong code is answered after a while.
func (n *Nodes) Join(ctx context.Context, in api.JoinNode) (*api.JoinedNode, error) {
	n.saving.Lock()
	joined, err := n.join(in)
	n.saving.Unlock()
	if joined == nil && err == nil {
		if !n.guard.Delay(ctx) {
			e := api.Errorf(http.StatusTooManyRequests, api.CodeUnauthorized, "Too many wrong codes at once")
			e.Hint = "Try again in a second; a valid code always works."
			return nil, e
		}
		return nil, &api.Error{
			Status: http.StatusUnauthorized, Code: api.CodeUnauthorized, Title: "This invitation isn't valid",
			Detail: "An invitation works once, and for a limited time.", Hint: "Get another on the hub: switchboard node invite",
		}
	}
	return joined, err
}

// join is Join; both results are nil if the code is wrong. saving is held.
func (n *Nodes) join(in api.JoinNode) (*api.JoinedNode, error) {
	n.mu.Lock()
	invited := n.held(in.Code, time.Now())
	if invited == nil {
		n.mu.Unlock()
		return nil, nil
	}
	made, problem := n.admit(invited, in)
	if problem != nil {
		n.mu.Unlock()
		return nil, problem
	}
	n.entries[made.id] = made
	n.invites = slices.DeleteFunc(n.invites, func(i *invitation) bool { return i == invited })
	n.mu.Unlock()
	if err := n.save(); err != nil {
		n.mu.Lock()
		delete(n.entries, made.id)
		n.invites = append(n.invites, invited)
		n.mu.Unlock()
		return nil, unwritten("The machine did not join", err)
	}
	n.log.Info("a node has joined", "node", made.name, "id", made.id, "fingerprint", node.Fingerprint(made.key))
	n.notify()
	return &api.JoinedNode{ID: made.id, Name: made.name, Hub: n.hubID, Labels: maps.Clone(made.labels)}, nil
}

// admit makes the entry of a machine that was invited. mu is held.
func (n *Nodes) admit(invited *invitation, in api.JoinNode) (*entry, *api.Error) {
	key, err := node.ParseKey(in.Key)
	if err != nil {
		return nil, invalid("The key is invalid", err.Error())
	}
	name := cmp.Or(invited.name, in.Name)
	switch {
	case name == "":
		return nil, invalid("The machine has no name", "The invitation names none. Give one: switchboard node join --name NAME")
	case node.CheckName(name) != nil:
		return nil, invalid("This can't be the name of a machine", node.CheckName(name).Error())
	case n.find(name) != nil:
		return nil, taken(name)
	case len(n.entries) >= maxNodes:
		return nil, &api.Error{
			Status: http.StatusConflict, Code: api.CodeConflict, Title: "Too many machines", Detail: fmt.Sprintf("The maximum is %d.", maxNodes),
			Hint: "Remove some: switchboard node ls, switchboard node forget NAME",
		}
	}
	for _, e := range n.entries {
		if e.key.Equal(key) {
			return nil, invalid("The key belongs to another machine", "Each machine makes a key of its own when it joins.")
		}
	}
	e := newEntry(node.NewID(), name, invited.labels, key, nowStored(), invited.max)
	facts := node.Facts{Version: in.Version, OS: in.OS, Arch: in.Arch, Hostname: in.Hostname}
	e.facts = facts // until it connects
	return e, nil
}
