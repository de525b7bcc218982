//go:build linux

package e2e

import (
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/conformance"
	"github.com/switchboard-dev/switchboard/wire"
)

// TestPlanKills kills the hub in the middle of the fresh start that an approved
// plan is carried out by: the next one finishes it, with one new process that is
// told the plan once.
func TestPlanKills(t *testing.T) {
	t.Parallel()
	const denied, ended, started = "hub.plan-denied", "hub.plan-ended", "hub.plan-started"
	for _, test := range []struct{ place, transport, version string }{
		{denied, "shim", ""},
		{ended, "shim", ""},
		{started, "shim", ""},
		{"hub.after-settle", "shim", ""},
		{denied, "websocket", ""},
		{ended, "websocket", ""},
		{denied, "shim", conformance.Newest},
	} {
		name := test.place + "/" + test.transport
		if test.version != "" {
			name += "/" + test.version
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var l *lab
			if test.version != "" {
				l, _ = newRealLabWith(t, test.version, "", planScript())
			} else {
				l = newLab(t, nil)
			}
			killInPlan(t, l, test.place, test.transport)
		})
	}
}

// freshPlan is a plan that its new process carries out by itself.
const freshPlan = "# The plan\n@say Carried out.\n"

// killInPlan approves a plan for a fresh start with a hub that is killed at a
// place.
func killInPlan(t *testing.T, l *lab, place, transport string) {
	env, file := l.armed(place)
	var s *session
	if transport != "shim" {
		// The credential of a CLI that dials in is shown once.
		l.start()
		s = l.session(transport)
		if err := s.turn(l.ctx(), "zeroth", saying("nothing")); err != nil {
			t.Fatal(err)
		}
		l.stop()
	}
	l.launch(env...)
	done := make(chan error, 1)
	go func() { done <- l.killWhen(file) }()
	if s == nil {
		s = l.mustCreate(nil)
	}
	if _, err := s.awaitState(l.ctx(), api.StateIdle); err != nil {
		t.Fatal(err)
	}
	mode := wire.PermissionModePlan
	if err := l.insist(l.ctx(), "PATCH", s.path(""), api.UpdateSession{PermissionMode: &mode}, nil); err != nil {
		t.Fatal(err)
	}
	text := "@tool ExitPlanMode {\"plan\":" + quoted(freshPlan) + "}\n@say Over."
	if l.options.real {
		text = planning(freshPlan, "@say Over.") // it takes a plan from its file alone
	}
	if _, err := s.send(l.ctx(), "plan", text); err != nil {
		t.Fatal(err)
	}
	q, err := s.awaitQuestion(l.ctx(), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if q.Plan == nil || q.Plan.Text != freshPlan {
		t.Fatalf("the plan is %+v; want %q", q.Plan, freshPlan)
	}
	if err := s.answer(l.ctx(), q.ID, api.Answer{ClientID: "fresh", Outcome: api.PlanFresh}); err != nil {
		t.Fatal(err)
	}
	const prompt = "Implement the following plan:"
	if _, err := s.await(l.ctx(), "the end of the new process's turn", func(events []api.Event) bool {
		for _, e := range events {
			if e.Run > 1 && isResult(e) {
				return true
			}
		}
		return false
	}); err != nil {
		t.Fatal(err)
	}
	killed(t, place, file, done)
	snapshot, err := s.awaitState(l.ctx(), api.StateIdle)
	if err != nil {
		t.Fatal(err)
	}
	run := 2
	if place == "hub.plan-started" {
		run = 3 // what the second was to be was never started: it was killed in between
	}
	if snapshot.Run != run || snapshot.PermissionMode != string(wire.PermissionModeAcceptEdits) || len(snapshot.Messages) > 0 {
		t.Errorf("run %d is in mode %s with %d messages; want run %d, which accepts edits", snapshot.Run, snapshot.PermissionMode, len(snapshot.Messages), run)
	}
	s.mu.Lock()
	prompts := 0
	for _, e := range s.events {
		if e.Kind == api.KindSent && strings.Contains(string(e.Line), prompt) {
			prompts++
		}
	}
	s.mu.Unlock()
	if prompts != 1 {
		t.Errorf("the plan was sent %d times", prompts)
	}
	if l.options.real {
		l.realVerdict(s)
		return
	}
	records, err := readRecord(s.record)
	if err != nil {
		t.Fatal(err)
	}
	times := 0
	for _, record := range records {
		for _, line := range read(record) {
			if strings.Contains(string(line), prompt) {
				times++
			}
		}
	}
	if len(records) != 2 || times != 1 {
		t.Errorf("%d processes have read the plan %d times; want the second of two, once", len(records), times)
	}
	l.verdict(s)
}
