package hub

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/answer"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/policy"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire"
)

// What a program in a sandbox does must not fill the journal, however often it tries.
const (
	// maxRefusals is how many entries a run may have about what was refused, and
	// maxRefused how many refusals are told apart while the hub runs.
	maxRefusals = 500
	maxRefused  = 1024
	// maxAsking is how many questions about hosts may be open in a session.
	maxAsking = 32
	// The longest texts of a refusal, in characters.
	maxRefusedHost, maxRefusedText = 300, 1000
)

// The kinds of what a sandbox refuses.
const (
	refusedNetwork = "network"
	refusedFile    = "file"
)

// A sandboxState is what a session knows of refusals beside the projection.
type sandboxState struct {
	refused map[refusalKey]int
	// full says that followers were told that no more is listed.
	full bool
	// late are hosts of which followers were told that they are denied later.
	late []string
}

// A refusalKey is what refusals have in common that are told as one.
type refusalKey struct {
	kind, host, path, call string
	port                   int
}

// refused takes in that the sandbox of the run has refused something. What is refused
// again and again is told the first time, the tenth, the hundredth and so on, with how
// often it was.
func (st *step) refused(raw json.RawMessage) {
	s, p := st.s, st.s.projection
	var r api.SandboxRefusal
	if p.Transport != transportShim || json.Unmarshal(raw, &r) != nil {
		return // only a shim that the hub started has a sandbox
	}
	if r.Kind != refusedFile {
		r.Kind = refusedNetwork
	}
	r.Host, r.Path = record.CutLine(r.Host, maxRefusedHost), record.CutLine(r.Path, maxRefusedText)
	r.Command, r.Reason = record.CutLine(r.Command, maxRefusedText), record.CutLine(r.Reason, maxRefusedText)
	r.ToolUseID, r.Rule, r.Time = p.Calls.Only(), nil, time.Time{} // the entry has its time
	n := max(r.Count, 1)
	s.hub.metrics.SandboxRefused(r.Kind, n)

	key := refusalKey{r.Kind, r.Host, r.Path, r.ToolUseID, r.Port}
	if _, known := s.sandbox.refused[key]; s.sandbox.refused == nil || !known && len(s.sandbox.refused) >= maxRefused {
		s.sandbox.refused = map[refusalKey]int{}
	}
	before := s.sandbox.refused[key]
	after := before + n
	s.sandbox.refused[key] = after
	if before > 0 && len(strconv.Itoa(before)) == len(strconv.Itoa(after)) {
		return
	}
	if p.Refusals >= maxRefusals {
		if !s.sandbox.full {
			s.sandbox.full = true
			st.event(api.KindNotice, Actor{}, api.Notice{
				Code: "sandbox_refusals",
				Text: fmt.Sprintf("the sandbox has refused more than %d different things in this run; further ones are only counted in the metrics", maxRefusals),
			})
		}
		return
	}
	if r.Count = after; after == 1 {
		r.Count = 0
	}
	if r.Kind == refusedNetwork {
		if v := st.s.engine().Decide(st.call("", policy.ToolNetwork, encoded(networkInput{r.Host, r.Port, r.Command}))); v.Decision == policy.Deny {
			r.Rule = refOf(v)
		}
	}
	st.event(api.KindSandboxRefused, Actor{}, r)
}

// A networkInput is the input of [policy.ToolNetwork].
type networkInput struct {
	Host    string `json:"host"`
	Port    int    `json:"port,omitempty"`
	Command string `json:"command,omitempty"`
}

// crowded refuses a question about a host if far too many are open: a program could
// ask about any number of them. It reports whether it did.
func (st *step) crowded(row *journal.Question, ask *wire.ControlRequest) bool {
	if !wire.IsSandboxRequest(row.RequestID) {
		return false
	}
	open := 0
	for i := range st.s.projection.Questions {
		if wire.IsSandboxRequest(st.s.projection.Questions[i].RequestID) {
			open++
		}
	}
	if open <= maxAsking {
		return false
	}
	const message = "Too many hosts are being asked about."
	line, err := wire.NewPermission(ask, &wire.Deny{Message: message})
	if err == nil {
		_, err = st.settle(hubItself, *row, ask, settlement{answer: api.Answer{Decision: "deny", Message: message}, line: line, reason: "too many hosts are being asked about"})
	}
	if err != nil {
		st.s.log.Error("refusing a question about a host", "session", st.s.id, "err", err)
	}
	return err == nil
}

// hostRule returns the rule of the session that an answer to a question about a host
// brings along, which came as a line. The CLI gets nothing of such an answer, so that
// rules can only be kept here.
func hostRule(ask *wire.ControlRequest, allow *wire.Allow) (string, error) {
	if !wire.IsSandboxRequest(ask.RequestID) || len(allow.UpdatedPermissions) == 0 {
		return "", nil
	}
	if len(allow.UpdatedPermissions) == 1 {
		if rule := answer.HostRule(allow.UpdatedPermissions[0]); rule != "" {
			return rule, nil
		}
	}
	return "", record.Unfit("updatedPermissions: a question about a host takes one rule, Network(host:…), to be allowed in the session")
}
