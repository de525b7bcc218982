package conformance

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

// A controlRow is a control request and what each version answers: "never answered", "error" with its code if there is one, or "success" with
// those of the row's members that the answer has.
type controlRow struct {
	variant string // what the scenario's id ends with, if there are several of a subtype
	subtype string
	rest    string   // further members of the request
	members []string // looked for in the answer
	tells   string   // what the summaries begin with of lines that the request causes
	on      [3]string
}

const (
	unanswered = "never answered"
	refused    = "error"
	unsupportd = "error unsupported_request"
	success    = "success"
)

// controlRows returns every control request that a version answers and that does not leave the machine. The requests that change how the CLI
// behaves have scenarios of their own.
func controlRows() []controlRow {
	// What came with 2.1.62 or 2.1.120, and what came later.
	middle := func(old string) [3]string { return [3]string{unanswered, old, old} }
	late := func(answer string) [3]string { return [3]string{unanswered, refused, answer} }
	return []controlRow{
		{subtype: "mcp_status", members: []string{"mcpServers"}, on: [3]string{"success mcpServers", "success mcpServers", "success mcpServers"}},
		{subtype: "interrupt", members: []string{"still_queued", "cancelled"}, on: [3]string{success, success, "success still_queued"}},
		{subtype: "mcp_reconnect", rest: `"serverName":"nobody"`, on: [3]string{refused, refused, refused}},
		{subtype: "mcp_toggle", rest: `"serverName":"nobody","enabled":true`, on: [3]string{refused, refused, refused}},
		{subtype: "mcp_set_servers", rest: `"servers":{}`, members: []string{"added", "removed", "errors"}, on: [3]string{"success added removed errors", "success added removed errors", "success added removed errors"}},
		{subtype: "mcp_message", rest: `"server_name":"nobody","message":{"jsonrpc":"2.0","method":"notifications/x"}`, on: [3]string{success, success, success}},
		{subtype: "rewind_files", rest: `"user_message_id":"123e4567-e89b-42d3-a456-426614174000"`, on: [3]string{refused, refused, refused}},
		{subtype: "rewind_files", variant: ".dry", rest: `"user_message_id":"123e4567-e89b-42d3-a456-426614174000","dry_run":true`, members: []string{"canRewind", "error"}, on: [3]string{"success canRewind error", "success canRewind error", "success canRewind error"}},

		{subtype: "apply_flag_settings", rest: `"settings":{}`, on: middle(success)},
		{subtype: "stop_task", rest: `"task_id":"nobody"`, on: [3]string{unanswered, refused, success}},
		{subtype: "get_context_usage", members: []string{"categories", "totalTokens", "maxTokens", "percentage", "model"}, on: middle("success categories totalTokens maxTokens percentage model")},
		{subtype: "get_settings", members: []string{"effective", "sources", "applied"}, on: middle("success effective sources applied")},
		{subtype: "get_session_cost", members: []string{"text"}, on: middle("success text")},
		{subtype: "get_binary_version", members: []string{"version", "buildTime"}, on: middle("success version buildTime")},
		{subtype: "reload_plugins", members: []string{"commands", "agents", "plugins", "mcpServers", "error_count"}, on: middle("success commands agents plugins mcpServers error_count")},
		{subtype: "cancel_async_message", rest: `"message_uuid":"123e4567-e89b-42d3-a456-426614174000"`, members: []string{"cancelled"}, on: middle("success cancelled")},
		{subtype: "seed_read_state", rest: `"path":"nothing","mtime":1`, on: middle(success)},
		{subtype: "side_question", rest: `"question":"What time is it?"`, members: []string{"response", "synthetic"}, tells: "system/control_request_progress", on: middle("success response synthetic")},
		{subtype: "generate_session_title", rest: `"description":"A conversation about nothing","persist":false`, members: []string{"title"}, on: middle("success title")},
		{subtype: "mcp_call", rest: `"tool":"mcp__nobody__nothing","arguments":{}`, on: middle(refused)},

		{subtype: "list_models", members: []string{"models"}, on: late("success models")},
		{subtype: "list_permission_rules", members: []string{"state"}, on: late("success state")},
		{subtype: "get_hooks_listing", on: late(success)},
		{subtype: "file_suggestions", rest: `"query":"x"`, members: []string{"suggestions", "cwd"}, on: late("success suggestions cwd")},
		{subtype: "rename_session", rest: `"title":"Another title"`, tells: "system/session_title_changed", on: late(success)},
		{subtype: "reload_skills", members: []string{"skills"}, on: late("success skills")},
		{subtype: "reload_output_styles", on: late(success)},
		{subtype: "background_tasks", on: late(success)},
		{subtype: "get_plan", members: []string{"exists"}, on: late("success exists")},
		{subtype: "get_status", members: []string{"sections"}, on: late("success sections")},
		{subtype: "get_workspace_diff", on: late(success)},
		{subtype: "export_conversation", members: []string{"text", "default_filename"}, on: late("success text default_filename")},
		{subtype: "set_has_subscribers", rest: `"has_subscribers":true`, on: late(success)},
		{subtype: "get_memory_dialog", on: late(success)},
		{subtype: "get_skills_dialog", on: late(success)},
		{subtype: "set_cwd", rest: `"cwd":"."`, on: late(refused)},
		{subtype: "rewind_conversation", rest: `"target_message_uuid":"123e4567-e89b-42d3-a456-426614174000"`, on: late(success)},

		{subtype: "set_effort", rest: `"effort":"low"`, on: [3]string{unanswered, refused, unsupportd}},
		{subtype: "set_color", rest: `"color":"red"`, on: late(unsupportd)},
		{subtype: "update_settings", rest: `"target":"userSettings","settings":{"apiKeyHelper":"x"}`, on: late(refused)},
		{subtype: "invented", on: [3]string{unanswered, refused, unsupportd}},
	}
}

// controlScenarios are about control requests.
func controlScenarios() []Scenario {
	var all []Scenario
	for _, row := range controlRows() {
		sc := Scenario{
			ID: "control." + row.subtype + row.variant, Facts: "§15 " + row.subtype + "; rule 7", Where: stdioOnly, Run: row.run,
			Want: Per{Oldest: {row.on[0]}, LastDialing: {row.on[1]}, Newest: {row.on[2]}},
		}
		if row.tells != "" {
			sc.Want[Newest] = append(sc.Want[Newest], row.tells)
		}
		if row.subtype == "invented" {
			sc.Quirks = []string{"Unknown"}
		}
		if row.subtype == "stop_task" {
			sc.Quirks = []string{"TaskStopForgiving"}
		}
		if row.subtype == "side_question" {
			sc.Quirks = []string{"LongRequestsTold"}
		}
		all = append(all, sc)
	}
	return append(all, controlEffects()...)
}

// run makes the request and notes its answer.
func (r controlRow) run(s *Stage) {
	want, err := s.scenario.Want.on(s.Subject)
	if err != nil {
		s.Fail("%w", err)
	}
	body := `{"subtype":"` + r.subtype + `"`
	if r.rest != "" {
		body += "," + r.rest
	}
	id := fmt.Sprintf("control-%d", s.column.tags.Add(1))
	s.Raw(`{"type":"control_request","request_id":"` + id + `","request":` + body + `}}`)
	ctx := s.ctx
	if want[0] == unanswered {
		s.Request(&wire.MCPStatusRequest{}) // it has read on
		ctx = s.Ctx(100 * time.Millisecond) // and has had time for it
	}
	var lines []Seen
	for {
		line, err := s.next(ctx)
		if err != nil && s.ctx.Err() == nil && ctx.Err() != nil {
			s.Note(unanswered)
			return
		}
		if err != nil {
			s.Fail("waiting for the answer to %s: %w%s", r.subtype, err, s.said())
		}
		if answer, ok := line.Message.(*wire.ControlResponse); ok && answer.Response.RequestID == id {
			s.Note("%s", r.describe(&answer.Response))
			break
		}
		lines = append(lines, line)
	}
	if r.tells != "" {
		s.NoteOnly(append(lines, s.Settle()...), r.tells)
	}
}

// describe sums an answer up.
func (r controlRow) describe(answer *wire.ControlAnswer) string {
	parts := []string{answer.Subtype}
	if answer.ErrorCode != "" {
		parts = append(parts, answer.ErrorCode)
	}
	for _, name := range r.members {
		if slices.Contains(names(answer.Response), name) {
			parts = append(parts, name)
		}
	}
	return strings.Join(parts, " ")
}

// noteAnswers makes a request from its body and notes every answer to it and the other lines that come.
func noteAnswers(s *Stage, body string, members ...string) {
	id := fmt.Sprintf("answers-%d", s.column.tags.Add(1))
	s.Raw(`{"type":"control_request","request_id":"` + id + `","request":` + body + `}`)
	mine := func(l Seen) bool {
		r, ok := l.Message.(*wire.ControlResponse)
		return ok && r.Response.RequestID == id
	}
	row := controlRow{members: members}
	for _, line := range append(s.Await(mine), s.Settle()...) {
		if mine(line) {
			s.Note("%s", row.describe(&line.Message.(*wire.ControlResponse).Response))
		} else if !line.Is(noise()...) {
			s.Note("%s", line.Text)
		}
	}
}

// controlEffects are scenarios about requests that change how the CLI behaves.
func controlEffects() []Scenario {
	const uuid = "123e4567-e89b-42d3-a456-426614174001"
	mode := func(mode string) string { return `{"subtype":"set_permission_mode","mode":"` + mode + `"}` }
	return []Scenario{
		{
			ID: "control.set_permission_mode", Facts: "§15 set_permission_mode; rule 7; rule 13; seed 000: mode list with delegate", Where: stdioOnly,
			Run: func(s *Stage) {
				for _, name := range []string{"acceptEdits", "plan", "dontAsk", "bypassPermissions", "delegate", "auto", "manual", "invented", "default"} {
					s.Note("to %s", name)
					noteAnswers(s, mode(name), "mode")
				}
				for _, line := range s.Turn("@say Here.").Find("system/init") {
					s.Note("mode %s", line.Get("permissionMode"))
				}
			},
			Quirks: []string{"ModeAnswersTwice"},
			Want: Per{
				"2.1.37":  {"to acceptEdits", "success mode", "success", "to plan", "success mode", "success", "to dontAsk", "success mode", "success", "to bypassPermissions", "success mode", "success", "to delegate", "success mode", "success", "to auto", "success mode", "success", "to manual", "success mode", "success", "to invented", "success mode", "success", "to default", "success mode", "success", "mode default"},
				"2.1.120": {"to acceptEdits", "success mode", "system/status permissionMode=acceptEdits", "to plan", "success mode", "system/status permissionMode=plan", "to dontAsk", "success mode", "system/status permissionMode=dontAsk", "to bypassPermissions", "error", "to delegate", "success mode", "to auto", "success mode", "system/status permissionMode=auto", "to manual", "success mode", "to invented", "success mode", "to default", "success mode", "system/status permissionMode=default", "mode default"},
				"2.1.325": {"to acceptEdits", "success mode", "system/status permissionMode=acceptEdits", "to plan", "success mode", "system/status permissionMode=plan", "to dontAsk", "success mode", "system/status permissionMode=dontAsk", "to bypassPermissions", "error bypass_not_launched", "to delegate", "error invalid_mode", "to auto", "success mode", "system/status permissionMode=auto", "to manual", "success mode", "system/status permissionMode=default", "to invented", "error invalid_mode", "to default", "success mode", "mode default"},
			},
		},
		{
			ID: "control.in-turn", Facts: "§15 answered in the middle of a turn",
			Run: func(s *Stage) {
				tag := s.Prompt("@slow 200ms\n@say Slowly, in a sentence of several words.")
				s.AwaitModel(tag, 1)
				s.NoteOnly(s.Settle(), "result")
				s.Note("answered")
				s.NoteOnly(s.AwaitResult().Lines, "result")
			},
			Want: Same("answered", "result success: Slowly, in a sentence of several words."),
		},
		{
			ID: "control.read_file.inside", Facts: "§15 read_file", Where: both(stdioOnly, since("2.1.120", "2.1.37 does not know read_file")),
			Run: func(s *Stage) {
				path := filepath.Join(s.Dir, "read-me")
				if err := os.WriteFile(path, []byte("What it says."), 0o600); err != nil {
					s.Fail("%w", err)
				}
				answer := s.Request(&wire.ReadFileRequest{Path: "read-me"})
				s.Note("%s: %s", member(answer.Response, "absPath"), member(answer.Response, "contents"))
			},
			Want: Same("<dir>/read-me: What it says."),
		},
		{
			ID: "control.read_file.outside", Facts: "§15 read_file", Where: both(stdioOnly, since("2.1.120", "2.1.37 does not know read_file")),
			Run: func(s *Stage) {
				_, err := s.TryRequest(&wire.ReadFileRequest{Path: "/etc/hostname"})
				_, isError := errors.AsType[*claude.ControlError](err)
				s.Note("refused: %t", isError)
			},
			Want: Same("refused: true"),
		},
		{
			ID: "control.rewind_files.effect", Facts: "§15 rewind_files; seed 000: filesChanged is a number", Where: stdioOnly,
			Options: func(o *claude.Options) { o.FileCheckpointing, o.PermissionMode = true, wire.PermissionModeAcceptEdits },
			Run: func(s *Stage) {
				path := filepath.Join(s.Dir, "made")
				s.PromptWith(fmt.Sprintf(`@tool Write {"file_path":%q,"content":"one\ntwo\n"}
					@say Written.`, path), &wire.UserOptions{UUID: uuid})
				s.NoteOnly(s.AwaitResult().Lines, "result")
				answer := s.Request(&wire.RewindFilesRequest{UserMessageID: uuid, DryRun: true})
				s.Note("dry run: canRewind=%s filesChanged=%s", member(answer.Response, "canRewind"), member(answer.Response, "filesChanged"))
				answer = s.Request(&wire.RewindFilesRequest{UserMessageID: uuid})
				s.Note("run: canRewind=%s", member(answer.Response, "canRewind"))
				_, err := os.Stat(path)
				s.Note("the file is gone: %t", errors.Is(err, os.ErrNotExist))
				_, err = s.TryRequest(&wire.RewindFilesRequest{UserMessageID: "123e4567-e89b-42d3-a456-426614174009"})
				_, isError := errors.AsType[*claude.ControlError](err)
				s.Note("an unknown message is refused: %t", isError)
			},
			Want: Same("result success: Written.", `dry run: canRewind=true filesChanged=["<dir>/made"]`, "run: canRewind=true", "the file is gone: true", "an unknown message is refused: true"),
		},
		{
			ID: "control.apply_flag_settings.model", Facts: "§15 apply_flag_settings changes the model", Where: both(stdioOnly, since("2.1.120", "2.1.37 does not know apply_flag_settings")), Alone: true,
			Run: func(s *Stage) {
				s.Turn("@say First.") // before it 2.1.325 says nothing of the change
				noteAnswers(s, `{"subtype":"apply_flag_settings","settings":{"model":"claude-haiku-4-5-20251001"}}`)
				turn := s.Turn("@say Here.")
				s.NoteOnly(turn.Lines, "user")
				s.Note("the model is %s", s.AwaitModel(turn.Tag, 1)[0].Model)
			},
			Want: Per{
				"2.1.120": {"user replay text: <local-command-stdout>Set model to claude-haiku-4-5-20251001</local-command-stdout>", "success", "the model is claude-haiku-4-5-20251001"},
				"2.1.325": {"user replay text: <local-command-stdout>Set model to `claude-haiku-4-5-20251001`</local-command-stdout>", "success", "the model is claude-haiku-4-5-20251001"},
			},
		},
	}
}
