package fold_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

func TestEnding(t *testing.T) {
	tests := []struct {
		name       string
		lines      []string
		unfinished bool
	}{
		{"between turns", []string{started, begin, success, `! ended exit code 0`}, false},
		{"in a turn", []string{started, begin, `! ended exit code 0`}, true},
		{"with a prompt waiting", []string{started, initialize, ready, prompt("a"), `! ended exit code 0`}, true},
		{"with background work only", []string{started, begin, toolResult("u", `{"backgroundTaskId":"b"}`), success, `! ended exit code 0`}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := play(t, test.lines...).State.Ended
			if got == nil || got.Unfinished != test.unfinished || got.Reason != "exit code 0" {
				t.Errorf("ended %+v, want unfinished %v", got, test.unfinished)
			}
		})
	}
	t.Run("prompts that were never picked up", func(t *testing.T) {
		a := play(t, started, initialize, ready, prompt("a"), `! ended exit code 1`)
		if want := []fold.Prompt{{UUID: "a", Seq: 4}}; !cmp.Equal(a.State.Queue.Waiting, want) {
			t.Errorf("waiting %+v, want %+v", a.State.Queue.Waiting, want)
		}
	})
}

func TestFacts(t *testing.T) {
	const richInit = `< {"type":"system","subtype":"init","uuid":"u9","session_id":"c1","claude_code_version":"2.1.325","model":"m1","permissionMode":"plan","cwd":"/home/user","tools":["Bash","Read"],"capabilities":["x_v1"]}`
	tests := []struct {
		name  string
		lines []string
		check func(*fold.State) (got, want any)
	}{
		{"the init line", []string{started, richInit}, func(s *fold.State) (any, any) {
			return []any{s.Version, s.Model, s.Mode, s.Dir, s.Tools, s.Capabilities, string(s.Init), s.LastUUID, s.LastSeq},
				[]any{"2.1.325", "m1", wire.PermissionMode("plan"), "/home/user", []string{"Bash", "Read"}, []string{"x_v1"}, richInit[2:], "u9", int64(2)}
		}},
		{"the answer to initialize", []string{
			started, initialize,
			`< {"type":"control_response","response":{"subtype":"success","request_id":"i","response":{"claude_code_version":"2.1.325","current_permission_mode":"plan","capabilities":["y"],"session_state":"running"}}}`,
		}, func(s *fold.State) (any, any) {
			return []any{s.Version, s.Mode, s.Capabilities, s.Phase(), len(s.Initialize) > 0},
				[]any{"2.1.325", wire.PermissionMode("plan"), []string{"y"}, fold.PhaseIdle, true}
		}},
		{"an answer to somebody else's initialize", []string{
			started,
			`< {"type":"control_response","response":{"subtype":"success","request_id":"other","response":{"claude_code_version":"9.9.9"}}}`,
		}, func(s *fold.State) (any, any) { return s.Version, "" }},
		{"an initialize that is refused", []string{
			started, initialize,
			`< {"type":"control_response","response":{"subtype":"error","request_id":"i","error":"Already initialized"}}`,
		}, func(s *fold.State) (any, any) { return []any{len(s.Initialize), s.Phase()}, []any{0, fold.PhaseIdle} }},
		{"the mode is what the CLI says, not what it was asked", []string{
			started, richInit,
			`> {"type":"control_request","request_id":"r","request":{"subtype":"set_permission_mode","mode":"bypassPermissions"}}`,
			`< {"type":"control_response","response":{"subtype":"success","request_id":"r","response":{"mode":"bypassPermissions"}}}`,
		}, func(s *fold.State) (any, any) { return s.Mode, wire.PermissionMode("plan") }},
		{"the mode of a status line", []string{
			started, richInit, `< {"type":"system","subtype":"status","status":null,"permissionMode":"acceptEdits"}`,
		}, func(s *fold.State) (any, any) { return s.Mode, wire.PermissionMode("acceptEdits") }},
		{"prompt and text", []string{
			started, prompt("a"), begin,
			`< {"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]},"parent_tool_use_id":null,"uuid":"t1"}`,
			`< {"type":"assistant","message":{"id":"s","content":[{"type":"text","text":"sub"}]},"parent_tool_use_id":"u1","uuid":"t2"}`,
		}, func(s *fold.State) (any, any) {
			return []string{s.Prompt, s.Text, s.TextUUID, s.LastUUID}, []string{"do it", "two", "t1", "t2"}
		}},
		{"a long text is cut at a character", []string{
			started, `< {"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"` + strings.Repeat("é", 400) + `"}]},"uuid":"t1"}`,
		}, func(s *fold.State) (any, any) { return s.Text, strings.Repeat("é", 138) + "…" }},
		{"a text that is superseded", []string{
			started,
			`< {"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"wrong"}]},"uuid":"t1"}`,
			`< {"type":"assistant","message":{"id":"n","content":[{"type":"tool_use","id":"x","name":"Bash","input":{}}]},"uuid":"t2","supersedes":["t0","t1"]}`,
		}, func(s *fold.State) (any, any) { return []any{s.Text, s.Retracted}, []any{"", []string{"t0", "t1"}} }},
		{"texts that are retracted after a refusal", []string{
			started,
			`< {"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"wrong"}]},"uuid":"t1"}`,
			`< {"type":"system","subtype":"model_refusal_fallback","retracted_message_uuids":["t1","t1"]}`,
		}, func(s *fold.State) (any, any) { return []any{s.Text, s.Retracted}, []any{"", []string{"t1"}} }},
		{"a new conversation starts with nothing said", []string{
			started, begin,
			`< {"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"old"}]},"uuid":"t1","session_id":"c1","supersedes":["t0"]}`,
			`< {"type":"conversation_reset","new_conversation_id":"not it","session_id":"c1","trigger":"clear"}`,
		}, func(s *fold.State) (any, any) { return []any{s.Text, s.TextUUID, len(s.Retracted)}, []any{"", "", 0} }},
		{"a retry", []string{
			started, begin, `< {"type":"system","subtype":"api_retry","attempt":2,"max_retries":10,"retry_delay_ms":512.5,"error_status":529,"error":"overloaded"}`,
		}, func(s *fold.State) (any, any) {
			return s.Retry, &fold.Retry{Attempt: 2, Most: 10, Millis: 512.5, Time: noon.Add(3e9), Status: 529, Error: "overloaded"}
		}},
		{"a retry that worked", []string{
			started, begin, `< {"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":5,"error_status":null,"error":"unknown"}`,
			`< {"type":"assistant","message":{"id":"m","content":[]},"uuid":"t1"}`,
		}, func(s *fold.State) (any, any) { return s.Retry, (*fold.Retry)(nil) }},
		{"a compaction", []string{
			started, `< {"type":"system","subtype":"status","status":"compacting"}`,
			`< {"type":"system","subtype":"compact_boundary","compact_metadata":{"trigger":"auto","pre_tokens":900,"post_tokens":90}}`,
		}, func(s *fold.State) (any, any) {
			return []any{s.Compacting, s.Compactions, *s.Compaction}, []any{false, int64(1), fold.Compaction{Trigger: "auto", Before: 900, After: 90, Seq: 3}}
		}},
		{
			"compacting",
			[]string{started, `< {"type":"system","subtype":"status","status":"compacting"}`},
			func(s *fold.State) (any, any) { return s.Compacting, true },
		},
		{"interrupting", []string{started, begin, interrupt}, func(s *fold.State) (any, any) { return s.Interrupting, true }},
		{"an interrupt of nothing", []string{started, begin, success, interrupt, stopped}, func(s *fold.State) (any, any) { return s.Interrupting, false }},
		{"the end of an interrupted turn", []string{
			started, begin, interrupt, stopped, `< {"type":"result","subtype":"error_during_execution","is_error":false,"uuid":"r"}`,
		}, func(s *fold.State) (any, any) {
			return []any{s.Interrupting, *s.Result}, []any{false, fold.TurnEnd{UUID: "r", Seq: 5, Subtype: "error_during_execution", Failed: true, Interrupted: true}}
		}},
		{"an interrupt before the first line of the turn", []string{
			started, interrupt, begin, stopped, `< {"type":"result","subtype":"error_during_execution","is_error":false,"uuid":"r"}`,
		}, func(s *fold.State) (any, any) { return s.Result.Interrupted, true }},
		{"an interrupt that was answered after the turn", []string{
			started, begin, interrupt, `< {"type":"result","subtype":"error_during_execution","is_error":false,"uuid":"r"}`, begin, stopped,
		}, func(s *fold.State) (any, any) { return s.Interrupting, false }},
		{"an API error is a success with a flag", []string{
			started, begin, `< {"type":"result","subtype":"success","is_error":true,"terminal_reason":"api_error","origin":{"kind":"task-notification"}}`,
		}, func(s *fold.State) (any, any) {
			return *s.Result, fold.TurnEnd{Seq: 3, Subtype: "success", Terminal: "api_error", Failed: true, Origin: "task-notification"}
		}},
		{"results that are lost", []string{
			started, `< {"type":"result","subtype":"success","result_index":0}`, `< {"type":"result","subtype":"success","result_index":3}`, `< {"type":"result","subtype":"success","result_index":4}`,
		}, func(s *fold.State) (any, any) { return []int64{s.Results, s.LostResults}, []int64{3, 2} }},
		{"results are numbered per run", []string{
			started, `< {"type":"result","subtype":"success","result_index":7}`, `! ended x`, `! started 2`, `< {"type":"result","subtype":"success","result_index":0}`,
		}, func(s *fold.State) (any, any) { return []int64{s.Results, s.LostResults}, []int64{1, 0} }},
		{"context by request", []string{
			started, `> {"type":"control_request","request_id":"r","request":{"subtype":"get_context_usage"}}`,
			`< {"type":"control_response","response":{"subtype":"success","request_id":"r","response":{"totalTokens":50,"maxTokens":200,"percentage":25,"model":"m"}}}`,
		}, func(s *fold.State) (any, any) {
			return *s.Context, fold.ContextUse{Model: "m", Tokens: 50, Most: 200, Percent: 25, Seq: 3}
		}},
		{"context by command", []string{
			started, `< {"type":"assistant","message":{"id":"m","content":[]},"context_usage":{"model":"m","total_tokens":5,"raw_max_tokens":20,"percentage":25}}`,
		}, func(s *fold.State) (any, any) {
			return *s.Context, fold.ContextUse{Model: "m", Tokens: 5, Most: 20, Percent: 25, Seq: 2}
		}},
		{"context by message and result", []string{
			started, `< {"type":"assistant","message":{"id":"m","model":"big","content":[],"usage":{"input_tokens":10,"cache_creation_input_tokens":20,"cache_read_input_tokens":30,"output_tokens":5}}}`,
			`< {"type":"assistant","parent_tool_use_id":"t","message":{"id":"n","model":"big","content":[],"usage":{"input_tokens":199}}}`,
			`< {"type":"assistant","message":{"id":"o","model":"<synthetic>","content":[],"usage":{"input_tokens":199}}}`,
			`< {"type":"result","subtype":"success","modelUsage":{"small":{"contextWindow":100},"big":{"contextWindow":200}}}`,
		}, func(s *fold.State) (any, any) {
			return *s.Context, fold.ContextUse{Model: "big", Tokens: 65, Most: 200, Percent: 33, Seq: 2}
		}},
		{"context of a window that is named", []string{
			started, `< {"type":"assistant","message":{"id":"m","model":"big","content":[],"usage":{"input_tokens":10}}}`,
			`< {"type":"result","subtype":"success","modelUsage":{"big[1m]":{"contextWindow":1000}}}`,
		}, func(s *fold.State) (any, any) {
			return *s.Context, fold.ContextUse{Model: "big", Tokens: 10, Most: 1000, Percent: 1, Seq: 2}
		}},
		{"context of a size that nobody told", []string{
			started, `< {"type":"assistant","message":{"id":"m","model":"big","content":[],"usage":{"input_tokens":10}}}`,
			`< {"type":"result","subtype":"success","modelUsage":{"small":{"contextWindow":100}}}`,
		}, func(s *fold.State) (any, any) { return s.Context == nil, true }},
		{"what was asked for holds until the model speaks", []string{
			started, `< {"type":"assistant","message":{"id":"m","model":"big","content":[],"usage":{"input_tokens":10}}}`,
			`> {"type":"control_request","request_id":"r","request":{"subtype":"get_context_usage"}}`,
			`< {"type":"control_response","response":{"subtype":"success","request_id":"r","response":{"totalTokens":50,"maxTokens":200,"percentage":25,"model":"big"}}}`,
			`< {"type":"result","subtype":"success","modelUsage":{"big":{"contextWindow":200}}}`,
		}, func(s *fold.State) (any, any) {
			return *s.Context, fold.ContextUse{Model: "big", Tokens: 50, Most: 200, Percent: 25, Seq: 4}
		}},
		{"the model speaks after it was asked for", []string{
			started, `> {"type":"control_request","request_id":"r","request":{"subtype":"get_context_usage"}}`,
			`< {"type":"control_response","response":{"subtype":"success","request_id":"r","response":{"totalTokens":50,"maxTokens":200,"percentage":25,"model":"big"}}}`,
			`< {"type":"assistant","message":{"id":"m","model":"big","content":[],"usage":{"input_tokens":100}}}`,
		}, func(s *fold.State) (any, any) {
			return *s.Context, fold.ContextUse{Model: "big", Tokens: 100, Most: 200, Percent: 50, Seq: 4}
		}},
		{"context after a compaction and in the next run", []string{
			started, `< {"type":"assistant","message":{"id":"m","model":"big","content":[],"usage":{"input_tokens":10}}}`,
			`< {"type":"result","subtype":"success","modelUsage":{"big":{"contextWindow":100}}}`,
			`< {"type":"system","subtype":"compact_boundary","compact_metadata":{"trigger":"manual","pre_tokens":10}}`,
			`< {"type":"result","subtype":"success","modelUsage":{"big":{"contextWindow":100}}}`,
			`! ended x`, `! started 2`, `< {"type":"assistant","message":{"id":"n","model":"big","content":[],"usage":{"input_tokens":20}}}`,
		}, func(s *fold.State) (any, any) {
			return *s.Context, fold.ContextUse{Model: "big", Tokens: 20, Most: 100, Percent: 20, Seq: 8}
		}},
		{"context is unknown after a compaction", []string{
			started, `< {"type":"assistant","message":{"id":"m","model":"big","content":[],"usage":{"input_tokens":10}}}`,
			`< {"type":"result","subtype":"success","modelUsage":{"big":{"contextWindow":100}}}`,
			`< {"type":"system","subtype":"compact_boundary","compact_metadata":{"trigger":"manual","pre_tokens":10}}`,
			`< {"type":"result","subtype":"success","modelUsage":{"big":{"contextWindow":100}}}`,
		}, func(s *fold.State) (any, any) { return s.Context == nil, true }},
		{"context of a run that begins anew", []string{
			started, `< {"type":"assistant","message":{"id":"m","model":"big","content":[],"usage":{"input_tokens":10}}}`,
			`< {"type":"result","subtype":"success","modelUsage":{"big":{"contextWindow":100}}}`, `! ended x`, `! started 2`,
		}, func(s *fold.State) (any, any) { return s.Context == nil, true }},
		{"context of a run that goes on", []string{
			started, `< {"type":"assistant","message":{"id":"m","model":"big","content":[],"usage":{"input_tokens":10}}}`,
			`< {"type":"result","subtype":"success","modelUsage":{"big":{"contextWindow":100}}}`, `! ended x`, `! started 2 resumed`,
		}, func(s *fold.State) (any, any) {
			return *s.Context, fold.ContextUse{Model: "big", Tokens: 10, Most: 100, Percent: 10, Seq: 2}
		}},
		{"a title that was given", []string{
			started, `> {"type":"control_request","request_id":"r","request":{"subtype":"rename_session","title":"mine"}}`,
			`< {"type":"control_response","response":{"subtype":"success","request_id":"r"}}`,
		}, func(s *fold.State) (any, any) { return s.Title, "mine" }},
		{"a title that was refused", []string{
			started, `> {"type":"control_request","request_id":"r","request":{"subtype":"rename_session","title":"mine"}}`,
			`< {"type":"control_response","response":{"subtype":"error","request_id":"r","error":"no"}}`,
		}, func(s *fold.State) (any, any) { return s.Title, "" }},
		{"a title at the start", []string{
			started, `> {"type":"control_request","request_id":"i","request":{"subtype":"initialize","title":"first"}}`, ready,
		}, func(s *fold.State) (any, any) { return s.Title, "first" }},
		{"a title that the CLI tells", []string{
			started, `< {"type":"system","subtype":"session_title_changed","title":"told"}`,
		}, func(s *fold.State) (any, any) { return s.Title, "told" }},
		{"a prompt that was taken back", []string{
			started, begin, prompt("a"), `> {"type":"control_request","request_id":"r","request":{"subtype":"cancel_async_message","message_uuid":"a"}}`,
			`< {"type":"control_response","response":{"subtype":"success","request_id":"r","response":{"cancelled":true}}}`,
		}, func(s *fold.State) (any, any) { return len(s.Queue.Waiting), 0 }},
		{"a prompt that could not be taken back", []string{
			started, begin, prompt("a"), `> {"type":"control_request","request_id":"r","request":{"subtype":"cancel_async_message","message_uuid":"a"}}`,
			`< {"type":"control_response","response":{"subtype":"success","request_id":"r","response":{"cancelled":false}}}`,
		}, func(s *fold.State) (any, any) { return len(s.Queue.Waiting), 1 }},
		{"prompts that an interrupt dropped", []string{
			started, begin, prompt("a"), prompt("b"), interrupt,
			`< {"type":"control_response","response":{"subtype":"success","request_id":"stop","response":{"still_queued":["b"],"cancelled":["a"]}}}`,
		}, func(s *fold.State) (any, any) { return s.Queue.Waiting, []fold.Prompt{{UUID: "b", Seq: 4}} }},
		{"a task that the turn waited for", []string{
			started, begin, `< {"type":"system","subtype":"task_started","task_id":"t1"}`, success,
		}, func(s *fold.State) (any, any) { return len(s.Tasks), 0 }},
		{"a list of background tasks says nothing of others", []string{
			started, begin, `< {"type":"system","subtype":"task_started","task_id":"t1"}`, `< {"type":"system","subtype":"background_tasks_changed","tasks":[]}`,
		}, func(s *fold.State) (any, any) { return len(s.Tasks), 1 }},
		{
			"a coming end",
			[]string{started, `< {"type":"system","subtype":"worker_shutting_down","reason":"upgrade"}`},
			func(s *fold.State) (any, any) { return s.ShuttingDown, "upgrade" },
		},
		{"a task", []string{
			started, begin,
			`< {"type":"system","subtype":"task_started","task_id":"t1","tool_use_id":"u1","description":"dig","task_type":"local_agent","subagent_type":"Explore","is_backgrounded":true}`,
			`< {"type":"system","subtype":"task_updated","task_id":"t1","patch":{"status":"running"}}`,
		}, func(s *fold.State) (any, any) {
			return s.Tasks, []fold.Task{{
				ID: "t1", ToolUseID: "u1", Kind: "local_agent", Agent: "Explore", Description: "dig", Background: true,
				Status: "running", Seq: 3, Time: noon.Add(3e9),
			}}
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, want := test.check(&play(t, test.lines...).State)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestConversations(t *testing.T) {
	at := func(id string) string { return `< {"type":"system","subtype":"init","session_id":"` + id + `"}` }
	tests := []struct {
		name  string
		lines []string
		want  []fold.Conversation
	}{
		{"one", []string{started, at("a"), at("a")}, []fold.Conversation{{"a", 1, 2, "started"}}},
		{"resumed", []string{started, at("a"), `! ended x`, `! started 2 resumed`, at("a")}, []fold.Conversation{{"a", 1, 2, "started"}}},
		{
			"forked",
			[]string{started, at("a"), `! ended x`, `! started 2 resumed`, at("b")},
			[]fold.Conversation{{"a", 1, 2, "started"}, {"b", 2, 5, "forked"}},
		},
		{
			"fresh",
			[]string{started, at("a"), `! ended x`, `! started 2`, at("b")},
			[]fold.Conversation{{"a", 1, 2, "started"}, {"b", 2, 5, "started"}},
		},
		{
			"cleared with a word",
			[]string{started, at("a"), `< {"type":"conversation_reset","new_conversation_id":"n","session_id":"a","trigger":"clear"}`, at("b")},
			[]fold.Conversation{{"a", 1, 2, "started"}, {"b", 1, 4, "clear"}},
		},
		{
			"reset for no reason",
			[]string{started, at("a"), `< {"type":"conversation_reset","new_conversation_id":"n","session_id":"a"}`, at("b")},
			[]fold.Conversation{{"a", 1, 2, "started"}, {"b", 1, 4, "reset"}},
		},
		{
			"a reset that names no new one",
			[]string{started, at("a"), `< {"type":"conversation_reset","new_conversation_id":"n","session_id":"a"}`, at("a"), at("b")},
			[]fold.Conversation{{"a", 1, 2, "started"}, {"b", 1, 5, "changed"}},
		},
		{
			"cleared without a word",
			[]string{started, at("a"), at("b")},
			[]fold.Conversation{{"a", 1, 2, "started"}, {"b", 1, 3, "changed"}},
		},
		{
			"cleared in a resumed run",
			[]string{started, at("a"), `! ended x`, `! started 2 resumed`, at("a"), at("b")},
			[]fold.Conversation{{"a", 1, 2, "started"}, {"b", 2, 6, "changed"}},
		},
		{
			"back to an old one",
			[]string{started, at("a"), `! ended x`, `! started 2`, at("b"), `! ended x`, `! started 3 resumed`, at("a")},
			[]fold.Conversation{{"a", 1, 2, "started"}, {"b", 2, 5, "started"}, {"a", 3, 8, "forked"}},
		},
		{"a resume that fails names one that never was", []string{started, `< {"type":"result","subtype":"error_during_execution","session_id":"ghost"}`}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a := play(t, test.lines...)
			if diff := cmp.Diff(test.want, a.State.Conversations); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if n := len(test.want); n > 0 && a.State.Conversation() != test.want[n-1].ID {
				t.Errorf("the current one is %q, want %q", a.State.Conversation(), test.want[n-1].ID)
			}
		})
	}
}

func TestRateLimits(t *testing.T) {
	a := play(
		t, started,
		`< {"type":"rate_limit_event","rate_limit_info":{"status":"allowed","rateLimitType":"five_hour","utilization":0.5}}`,
		`< {"type":"rate_limit_event","rate_limit_info":{"status":"rejected","rateLimitType":"seven_day","resetsAt":1767225600}}`,
		`< {"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning","rateLimitType":"five_hour","utilization":0.9}}`,
	)
	limits := a.State.RateLimits
	if len(limits) != 2 || limits["five_hour"].Status != "allowed_warning" || limits["seven_day"].Status != "rejected" {
		t.Errorf("limits %v, want the newest of two kinds", limits)
	}
	a = play(
		t, started,
		`< {"type":"rate_limit_event","rate_limit_info":{"status":"rejected","rateLimitType":"five_hour","resetsAt":1767225600,"isUsingOverage":false}}`,
		`< {"type":"rate_limit_event","rate_limit_info":{"status":"allowed","isUsingOverage":false}}`,
	)
	if limit, there := a.State.RateLimits["five_hour"]; there {
		t.Errorf("requests are allowed, and the limit is still %s", limit.Status)
	}
}

func TestDrift(t *testing.T) {
	a := play(
		t, started,
		`< {"type":"made_up"}`,
		`< {"type":"system","subtype":"made_up"}`,
		`< {"type":"system","subtype":"made_up"}`,
		`< {"type":"assistant","message":{"id":"m","content":[{"type":"hologram"},{"type":"text","text":"x","tone":"dry"}],"mood":1},"shiny":true}`,
		`< {"type":"user","message":{"role":"user","content":[{"type":"hologram"}]}}`,
		`< {"type":"control_request","request_id":"r","request":{"subtype":"dance"}}`,
		canUse("q", "u", `,"hue":1`),
		`< {"type":"control_response","response":{"subtype":"success","request_id":"x","extra":1}}`,
		`< {"type":"result","subtype":"success","novelty":1}`,
		`< {"type":"result","subtype":"error_during_execution","novelty":1}`,
		`< not JSON`,
		`< {"type":"system"`,
		`< {"type":"stream_event","event":{"type":"made_up"}}`,
		`> {"type":"user","message":{"role":"user","content":"x"},"ours":1}`,
	)
	want := fold.Drift{
		Types:     map[string]int64{"made_up": 1, "system/made_up": 2},
		Parts:     map[string]int64{"block hologram": 2, "request dance": 1},
		Fields:    map[string]int64{"assistant.shiny": 1, "assistant.message.mood": 1, "block text.tone": 1, "request can_use_tool.hue": 1, "control_response.response.extra": 1, "result.novelty": 2},
		Malformed: 2,
	}
	if diff := cmp.Diff(want, a.State.Drift); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	t.Run("of a long session", func(t *testing.T) {
		var d fold.Drift
		for seq := range int64(1800) {
			for _, raw := range []string{`{"type":"assistant","shiny":true}`, `{"type":"assistant","message":{"content":nothing}}`, `{"type":"made_up"}`} {
				l := fold.NewLine([]byte(raw), false)
				l.Seq = seq + 1
				d.Count(l)
			}
		}
		want := fold.Drift{Types: map[string]int64{"made_up": 1800}, Fields: map[string]int64{"assistant.shiny": 500 + 1300/13}, Malformed: 1800}
		if diff := cmp.Diff(want, d); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("of live lines", func(t *testing.T) {
		var d fold.Drift
		if !d.IsZero() {
			t.Error("nothing was counted and it is not zero")
		}
		for _, raw := range []string{
			`{"type":"stream_event","event":{"type":"made_up"}}`,
			`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"odd_delta"}}}`,
		} {
			d.Count(fold.NewLine([]byte(raw), false))
		}
		if diff := cmp.Diff(fold.Drift{Parts: map[string]int64{"event made_up": 1, "delta odd_delta": 1}}, d); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if d.IsZero() {
			t.Error("something was counted and it is zero")
		}
	})
}
