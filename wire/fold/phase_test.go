package fold_test

import (
	"testing"

	"github.com/switchboard-dev/switchboard/wire/fold"
)

func TestPhase(t *testing.T) {
	const (
		launched   = `{"status":"async_launched","agentId":"t1"}`
		shell      = `{"backgroundTaskId":"t1"}`
		taskBegins = `< {"type":"system","subtype":"task_started","task_id":"t1","tool_use_id":"u1","task_type":"local_agent"}`
		taskEnds   = `< {"type":"system","subtype":"task_notification","task_id":"t1","status":"completed"}`
		listed     = `< {"type":"system","subtype":"background_tasks_changed","tasks":[{"task_id":"t1","task_type":"local_agent"}]}`
		unlisted   = `< {"type":"system","subtype":"background_tasks_changed","tasks":[]}`
	)
	// Each step is a line and, after it, the phase.
	type steps [][2]string
	tests := []struct {
		name  string
		steps steps
	}{
		{"a plain turn without state lines", steps{
			{started, "starting"},
			{initialize, "starting"},
			{ready, "idle"},
			{prompt("a"), "running"},
			{begin, "running"},
			{success, "idle"},
			{`! ended exit code 0`, "ended"},
		}},
		{"a prompt before the process has said anything", steps{
			{started, "starting"},
			{prompt("a"), "starting"},
			{begin, "running"},
			{success, "idle"},
		}},
		{"state lines decide when a turn is over", steps{
			{started, "starting"},
			{initialize, "starting"},
			{ready, "idle"},
			{prompt("a"), "running"},
			{toldBusy, "running"},
			{begin, "running"},
			{success, "running"},
			{toldIdle, "idle"},
		}},
		{"a turn that nobody prompted", steps{
			{started, "starting"},
			{begin, "running"},
			{`< {"type":"result","subtype":"success","origin":{"kind":"task-notification"}}`, "idle"},
		}},
		{"requires_action is what is asked, not what is told", steps{
			{started, "starting"},
			{begin, "running"},
			{toldAction, "running"},
			{canUse("q1", "u1", ""), "requires_action"},
			{answer("q1"), "running"},
			{toldAction, "running"},
			{success, "running"},
			{toldIdle, "idle"},
		}},
		{"without echoes a result takes all prompts", steps{
			{started, "starting"},
			{prompt("a"), "starting"},
			{begin, "running"},
			{prompt("b"), "running"},
			{success, "idle"},
			{begin, "running"},
			{success, "idle"},
		}},
		{"with echoes what was not picked up still waits", steps{
			{started, "starting"},
			{prompt("a"), "starting"},
			{begin, "running"},
			{echo("a"), "running"},
			{prompt("b"), "running"},
			{prompt("c"), "running"},
			{success, "running"},
			{begin, "running"},
			{echo("b"), "running"},
			{success, "running"},
			{begin, "running"},
			{echo("c"), "running"},
			{success, "idle"},
		}},
		{"a slash command is not echoed but begins a turn", steps{
			{started, "starting"},
			{prompt("a"), "starting"},
			{begin, "running"},
			{echo("a"), "running"},
			{success, "idle"},
			{prompt("b"), "running"},
			{begin, "running"},
			{success, "idle"},
		}},
		{"a prompt that a hook blocks gets a bare result", steps{
			{started, "starting"},
			{prompt("a"), "starting"},
			{begin, "running"},
			{echo("a"), "running"},
			{success, "idle"},
			{prompt("b"), "running"},
			{success, "idle"},
		}},
		{"a prompt worked into the turn", steps{
			{started, "starting"},
			{prompt("a"), "starting"},
			{begin, "running"},
			{echo("a"), "running"},
			{prompt("b"), "running"},
			{echo("b"), "running"},
			{success, "idle"},
		}},
		{"a prompt written again is swallowed", steps{
			{started, "starting"},
			{prompt("a"), "starting"},
			{begin, "running"},
			{echo("a"), "running"},
			{success, "idle"},
			{prompt("a"), "idle"},
			{echo("a"), "idle"},
		}},
		{"prompts without uuid", steps{
			{started, "starting"},
			{prompt(""), "starting"},
			{begin, "running"},
			{echo(""), "running"},
			{success, "idle"},
		}},
		{"a message that is only appended", steps{
			{started, "starting"},
			{begin, "running"},
			{success, "idle"},
			{`> {"type":"user","message":{"role":"user","content":"note"},"shouldQuery":false}`, "idle"},
		}},
		{"fates of prompts", steps{
			{started, "starting"},
			{prompt("a"), "starting"},
			{lifecycle("a", "queued"), "running"},
			{lifecycle("a", "started"), "running"},
			{begin, "running"},
			{prompt("b"), "running"},
			{lifecycle("b", "queued"), "running"},
			{success, "running"},
			{lifecycle("b", "discarded"), "idle"},
		}},
		{"a task's turn does not take a prompt whose fate will be told", steps{
			{started, "starting"},
			{prompt("a"), "starting"},
			{lifecycle("a", "queued"), "running"},
			{begin, "running"},
			{success, "running"},
			{lifecycle("a", "started"), "running"},
			{begin, "running"},
			{success, "idle"},
		}},
		{"a prompt that a result names", steps{
			{started, "starting"},
			{prompt("a"), "starting"},
			{lifecycle("x", "queued"), "running"},
			{begin, "running"},
			{`< {"type":"result","subtype":"success","user_message_uuids":["a"]}`, "idle"},
		}},
		{"idle is believed about what waited before the result", steps{
			{started, "starting"},
			{prompt("a"), "starting"},
			{begin, "running"},
			{echo("a"), "running"},
			{prompt("b"), "running"},
			{toldBusy, "running"},
			{success, "running"},
			{toldIdle, "idle"},
		}},
		{"a prompt that crosses the word idle", steps{
			{started, "starting"},
			{prompt("a"), "starting"},
			{toldBusy, "running"},
			{begin, "running"},
			{success, "running"},
			{prompt("b"), "running"},
			{toldIdle, "running"},
			{toldBusy, "running"},
			{begin, "running"},
			{success, "running"},
			{toldIdle, "idle"},
		}},
		{"the output of a local command is no echo of ours", steps{
			{started, "starting"},
			{initialize, "starting"},
			{ready, "idle"},
			{`< {"type":"user","message":{"role":"user","content":"<local-command-stdout>x</local-command-stdout>"},"uuid":"other","isReplay":true}`, "idle"},
		}},
		{"a background agent of 2.1.37 is only known from the tool's result", steps{
			{started, "starting"},
			{begin, "running"},
			{toolResult("u1", launched), "running"},
			{success, "background"},
			{prompt("b"), "running"},
			{taskEnds, "running"},
			{begin, "running"},
			{success, "idle"},
		}},
		{"a background command of 2.1.37", steps{
			{started, "starting"},
			{begin, "running"},
			{toolResult("u1", shell), "running"},
			{success, "background"},
			{taskEnds, "idle"},
		}},
		{"2.1.120 says running while a background task is", steps{
			{started, "starting"},
			{toldBusy, "running"},
			{begin, "running"},
			{taskBegins, "running"},
			{toolResult("u1", launched), "running"},
			{success, "background"},
			{toldBusy, "background"},
			{taskEnds, "running"},
			{begin, "running"},
			{success, "running"},
			{toldIdle, "idle"},
		}},
		{"2.1.325 says idle while a background task is", steps{
			{started, "starting"},
			{toldBusy, "running"},
			{begin, "running"},
			{listed, "running"},
			{success, "background"},
			{toldIdle, "background"},
			{unlisted, "idle"},
			{toldBusy, "running"},
			{begin, "running"},
			{success, "running"},
			{toldIdle, "idle"},
		}},
		{"a sub-agent asks after the result", steps{
			{started, "starting"},
			{begin, "running"},
			{listed, "running"},
			{success, "background"},
			{canUse("q1", "u2", `,"agent_id":"t1"`), "requires_action"},
			{answer("q1"), "background"},
			{canUse("q2", "u3", `,"agent_id":"t1"`), "requires_action"},
			{success, "requires_action"},
			{withdraw("q2"), "background"},
		}},
		{"a task that the turn waits for ends with it", steps{
			{started, "starting"},
			{begin, "running"},
			{taskBegins, "running"},
			{success, "idle"},
		}},
		{"a task that is moved to the background", steps{
			{started, "starting"},
			{begin, "running"},
			{taskBegins, "running"},
			{`< {"type":"system","subtype":"task_updated","task_id":"t1","patch":{"is_backgrounded":true,"description":"slow"}}`, "running"},
			{success, "background"},
			{`< {"type":"system","subtype":"task_updated","task_id":"t1","patch":{"status":"paused"}}`, "background"},
			{`< {"type":"system","subtype":"task_updated","task_id":"t1","patch":{"status":"killed"}}`, "idle"},
		}},
		{"a task that was over before its launch was told", steps{
			{started, "starting"},
			{begin, "running"},
			{taskBegins, "running"},
			{taskEnds, "running"},
			{toolResult("u1", launched), "running"},
			{success, "idle"},
		}},
		{"a task that nobody waits for", steps{
			{started, "starting"},
			{begin, "running"},
			{`< {"type":"system","subtype":"background_tasks_changed","tasks":[{"task_id":"t1","task_type":"monitor","ambient":true}]}`, "running"},
			{success, "idle"},
		}},
		{"a lost end of a task is made up for by the word idle", steps{
			{started, "starting"},
			{begin, "running"},
			{toolResult("u1", launched), "running"},
			{success, "background"},
			{toldIdle, "idle"},
		}},
		{"the link is lost and comes back", steps{
			{started, "starting"},
			{begin, "running"},
			{canUse("q1", "u1", ""), "requires_action"},
			{`! link_lost now`, "offline"},
			{`! link_back now`, "requires_action"},
			{`! link_lost now`, "offline"},
			{`! ended lost`, "ended"},
		}},
		{"a session goes on with another run", steps{
			{started, "starting"},
			{begin, "running"},
			{toolResult("u1", launched), "running"},
			{prompt("b"), "running"},
			{`! ended signal TERM`, "ended"},
			{`! started 2 resumed`, "starting"},
			{initialize, "starting"},
			{ready, "idle"},
		}},
		{"interrupt", steps{
			{started, "starting"},
			{begin, "running"},
			{canUse("q1", "u1", ""), "requires_action"},
			{interrupt, "requires_action"},
			{withdraw("q1"), "running"},
			{stopped, "running"},
			{`< {"type":"result","subtype":"error_during_execution"}`, "idle"},
		}},
		{"waiting for the API is running", steps{
			{started, "starting"},
			{begin, "running"},
			{`< {"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":500.5,"error_status":null,"error":"overloaded"}`, "running"},
			{success, "idle"},
		}},
		{"compaction begins before the turn's first line", steps{
			{started, "starting"},
			{initialize, "starting"},
			{ready, "idle"},
			{`< {"type":"system","subtype":"status","status":"compacting"}`, "running"},
			{`< {"type":"system","subtype":"status","status":null}`, "running"},
			{begin, "running"},
			{success, "idle"},
		}},
		{"a change of the permission mode is no turn", steps{
			{started, "starting"},
			{initialize, "starting"},
			{ready, "idle"},
			{`< {"type":"system","subtype":"status","status":null,"permissionMode":"plan"}`, "idle"},
		}},
		{"live lines change nothing", steps{
			{started, "starting"},
			{`< {"type":"stream_event","event":{"type":"message_start","message":{"id":"m"}}}`, "starting"},
			{`< {"type":"system","subtype":"task_progress","task_id":"t1"}`, "starting"},
			{`< {"type":"keep_alive"}`, "starting"},
		}},
		{"what is unknown shows that the process lives", steps{
			{started, "starting"},
			{`< {"type":"system","subtype":"made_up"}`, "idle"},
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var lines []string
			var want []fold.Phase
			for _, s := range test.steps {
				lines = append(lines, s[0])
				want = append(want, fold.Phase(s[1]))
			}
			for i, got := range phases(t, lines...) {
				if got != want[i] {
					t.Errorf("after %s: %s, want %s", lines[i], got, want[i])
				}
			}
		})
	}
}

func TestTakesPrompt(t *testing.T) {
	for phase, want := range map[fold.Phase]bool{
		fold.PhaseStarting: false, fold.PhaseIdle: true, fold.PhaseRunning: false, fold.PhaseRequiresAction: false,
		fold.PhaseBackground: true, fold.PhaseOffline: false, fold.PhaseEnded: false,
	} {
		if got := phase.TakesPrompt(); got != want {
			t.Errorf("%s: %v, want %v", phase, got, want)
		}
	}
}

func TestZeroState(t *testing.T) {
	var s fold.State
	if got := s.Phase(); got != fold.PhaseStarting {
		t.Errorf("phase %s, want starting", got)
	}
	if got := s.Conversation(); got != "" {
		t.Errorf("conversation %q, want none", got)
	}
}

// TestLostTurn ends a turn whose result never came, and finds it again.
func TestLostTurn(t *testing.T) {
	running := func() *fold.State {
		s := &fold.State{}
		s.Happened(fold.Event{Kind: fold.EventStarted, Run: 1})
		for _, text := range []string{
			`{"type":"system","subtype":"init","session_id":"c","uuid":"1","claude_code_version":"2.1.120"}`,
			`{"type":"system","subtype":"session_state_changed","state":"running","session_id":"c","uuid":"2"}`,
		} {
			s.Apply(fold.NewLine([]byte(text), false))
		}
		prompt := fold.NewLine([]byte(`{"type":"user","message":{"role":"user","content":"x"},"uuid":"p"}`), true)
		s.Apply(prompt)
		s.Apply(fold.NewLine([]byte(`{"type":"control_request","request_id":"r","request":{"subtype":"interrupt"}}`), true))
		if s.Phase() != fold.PhaseRunning || !s.Interrupting {
			t.Fatalf("the turn is %s", s.Phase())
		}
		s.Happened(fold.Event{Kind: fold.EventTurnLost, Seq: 7})
		return s
	}
	s := running()
	if s.Phase() != fold.PhaseIdle || !s.Unsure || s.Interrupting || s.Result == nil || s.Result.Subtype != fold.ResultUnknown || s.Result.Failed || s.Result.Seq != 7 {
		t.Errorf("after its loss it is %s: %+v", s.Phase(), s.Result)
	}
	for name, text := range map[string]string{
		"an answer":          `{"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"x"}]},"session_id":"c","uuid":"3"}`,
		"a tool's result":    `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]},"session_id":"c","uuid":"3"}`,
		"the next init line": `{"type":"system","subtype":"init","session_id":"c","uuid":"3","claude_code_version":"2.1.120"}`,
	} {
		s := running()
		s.Apply(fold.NewLine([]byte(text), false))
		if s.Phase() != fold.PhaseRunning || s.Unsure {
			t.Errorf("after %s it is %s, unsure %t", name, s.Phase(), s.Unsure)
		}
	}
	s = running()
	s.Apply(fold.NewLine([]byte(`{"type":"control_response","response":{"subtype":"success","request_id":"r"}}`), false))
	if s.Phase() != fold.PhaseIdle || !s.Unsure {
		t.Errorf("after an answer to a request it is %s, unsure %t", s.Phase(), s.Unsure)
	}
	s.Happened(fold.Event{Kind: fold.EventTurnFound})
	if s.Phase() != fold.PhaseRunning || s.Unsure {
		t.Errorf("after it was found it is %s, unsure %t", s.Phase(), s.Unsure)
	}
}
