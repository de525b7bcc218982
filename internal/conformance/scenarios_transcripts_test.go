package conformance

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/wire"
)

// kept is where the conversations of a stage are.
func kept(s *Stage) claude.ConversationOptions {
	return claude.ConversationOptions{ConfigDir: filepath.Join(s.Home, ".claude"), Dir: s.Dir}
}

// do ends the scenario if something fails that must not.
func do(s *Stage, err error) {
	if err != nil {
		s.Fail("%w", err)
	}
}

// infoOf returns what is told of a conversation.
func infoOf(s *Stage, id string) *claude.ConversationInfo {
	where := kept(s)
	info, err := claude.ConversationInfoOf(s.Context(), id, &where)
	do(s, err)
	return info
}

// transcriptEditScenarios are about what package claude does to transcripts: a CLI must take it.
func transcriptEditScenarios() []Scenario {
	return []Scenario{
		{
			ID: "transcripts.edit", Facts: "§8 titles and tags in a transcript", Where: stdioOnly, NoInitialize: true,
			Run: func(s *Stage) {
				first := s.Turn("Hello there.\n@say One.")
				finish(s)
				id, where := first.Result.SessionID, kept(s)
				before := infoOf(s, id)
				s.Note("%s %t %t", strings.Fields(before.FirstPrompt)[0], before.Dir == s.Dir, before.Created.IsZero())
				do(s, claude.RenameConversation(s.Context(), id, "a-title-of-ours", &where))
				do(s, claude.TagConversation(s.Context(), id, "ours", &where))

				s.Restart(func(o *claude.Options) { o.Resume = id })
				second := s.Turn("@say Two.")
				finish(s)
				after := infoOf(s, id)
				s.Note("the same conversation: %t, the model knows it: %t, %s, %s", second.Result.SessionID == id, knows(s, second, first), after.Title, after.Tag)
				if s.AtLeast(2, 1, 120) {
					s.Restart(func(o *claude.Options) { o.Resume = "a-title-of-ours" })
					s.Note("found by its title: %t", s.Turn("@say Three.").Result.SessionID == id)
				}
			},
			Want: Per{
				"2.1.37":  {"Hello true false", "the same conversation: true, the model knows it: true, a-title-of-ours, ours"},
				"2.1.120": {"Hello true false", "the same conversation: true, the model knows it: true, a-title-of-ours, ours", "found by its title: true"},
			},
		},
		{
			ID: "transcripts.cut-off", Facts: "§8 a transcript that ends in half a line", Where: stdioOnly, NoInitialize: true,
			Run: func(s *Stage) {
				first := s.Turn("@say One.")
				finish(s)
				id, where := first.Result.SessionID, kept(s)
				f, err := os.OpenFile(infoOf(s, id).Path, os.O_WRONLY|os.O_APPEND, 0)
				do(s, err)
				_, err = f.WriteString(`{"type":"assistant","message":{"role":"assi`)
				do(s, errors.Join(err, f.Close()))
				do(s, claude.RenameConversation(s.Context(), id, "after-the-cut", &where))
				s.Restart(func(o *claude.Options) { o.Resume = id })
				second := s.Turn("@say Two.")
				s.Note("the same conversation: %t, the model knows it: %t, %s", second.Result.SessionID == id, knows(s, second, first), infoOf(s, id).Title)
			},
			Want: Same("the same conversation: true, the model knows it: true, after-the-cut"),
		},
		{
			ID: "transcripts.fork", Facts: "§8 a copy of a transcript with new uuids",
			Also: map[string]string{Oldest: "its transcripts keep one of two calls at once: the row that found it"}, Where: stdioOnly, NoInitialize: true,
			Run: func(s *Stage) {
				first := s.Turn("@say Before.\n@tool Bash {\"command\":\"echo one\",\"description\":\"One\"}\n@tool Bash {\"command\":\"echo two\",\"description\":\"Two\"}\n@say One.")
				said := first.Find("assistant")
				second := s.Turn("@say Two.")
				finish(s)
				id, where := first.Result.SessionID, kept(s)
				calls := func(turn Turn) string {
					body := string(s.AwaitModel(turn.Tag, 1)[0].Body)
					return fmt.Sprintf("%d calls, %d results", strings.Count(body, `"type":"tool_use"`), strings.Count(body, `"type":"tool_result"`))
				}
				var forks []string
				for _, upTo := range []string{"", said[len(said)-1].Get("uuid")} {
					fork, err := claude.ForkConversation(s.Context(), id, &claude.ForkOptions{ConversationOptions: where, UpTo: upTo, Title: "forked"})
					do(s, err)
					s.Restart(func(o *claude.Options) { o.Resume = fork })
					third := s.Turn("@say Three.")
					finish(s)
					s.Note("under the new id: %t, the model knows the first turn: %t, the second: %t, %s", third.Result.SessionID == fork, knows(s, third, first), knows(s, third, second), infoOf(s, fork).Title)
					forks = append(forks, calls(third))
				}
				// 2.1.37 itself gives its model only one of two calls that were made at once.
				s.Restart(func(o *claude.Options) { o.Resume = id })
				original := calls(s.Turn("@say Four."))
				finish(s)
				s.Note("calls and results as in the original: %t", slices.Equal(forks, []string{original, original}) && original != "0 calls, 0 results")
				n := 0
				for _, err := range claude.ListConversations(s.Context(), &claude.ListOptions{ConversationOptions: where}) {
					do(s, err)
					n++
				}
				s.Note("%d conversations", n)
			},
			Want: Same(
				"under the new id: true, the model knows the first turn: true, the second: true, forked",
				"under the new id: true, the model knows the first turn: true, the second: false, forked",
				"calls and results as in the original: true", "3 conversations"),
		},
		{
			ID: "transcripts.read", Facts: "§8 a transcript holds what was sent", Where: stdioOnly, Options: func(o *claude.Options) { o.ReplayUserMessages = true },
			Run: func(s *Stage) {
				var sent []string
				for i, text := range []string{"@say Before.\n@tool Bash {\"command\":\"echo one\",\"description\":\"One\"}\n@tool Bash {\"command\":\"echo two\",\"description\":\"Two\"}\n@say One.", "@say Two."} {
					s.PromptWith(text, &wire.UserOptions{UUID: fmt.Sprintf("123e4567-e89b-42d3-a456-42661417b10%d", i)})
					for _, line := range s.AwaitResult().Lines {
						if line.Is("user", "assistant") {
							sent = append(sent, line.Get("uuid"))
						}
					}
				}
				finish(s)
				where := kept(s)
				var read []string
				for _, path := range transcripts(s, where.ConfigDir) {
					id := strings.TrimSuffix(filepath.Base(path), ".jsonl")
					for m, err := range claude.ReadConversation(s.Context(), id, &claude.ReadOptions{ConversationOptions: where}) {
						do(s, err)
						read = append(read, m.UUID)
					}
				}
				s.Note("%d messages, the same: %t", len(read), slices.Equal(read, sent))
			},
			Want: Same("9 messages, the same: true"),
		},
		{
			ID: "transcripts.agents", Facts: "§8 the transcripts of sub-agents", Where: both(stdioOnly, realOnly("the simulated CLI does not keep what sub-agents answer")), NoInitialize: true,
			Run: func(s *Stage) {
				id := s.Turn(`@tool Task {"description":"look","prompt":"@say From the agent.","subagent_type":"general-purpose"}
					@say Done.`).Result.SessionID
				where := kept(s)
				awaitThat(s, "the answer of the agent is kept", func() bool { // it is written with a delay
					files, err := filepath.Glob(filepath.Join(where.ConfigDir, "projects", "*", id, "subagents", "*.jsonl"))
					if err != nil || len(files) != 1 {
						return false
					}
					data, err := os.ReadFile(files[0])
					return err == nil && strings.Contains(string(data), `"role":"assistant"`)
				})
				finish(s)
				agents, err := claude.Subagents(s.Context(), id, &where)
				do(s, err)
				for _, agent := range agents {
					s.Note("described: %t, its call: %t", agent.Type == "general-purpose" && agent.Description == "look", agent.ToolUseID != "")
					for m, err := range claude.ReadSubagent(s.Context(), id, agent.ID, &claude.ReadOptions{ConversationOptions: where}) {
						do(s, err)
						switch m := m.Message.(type) { //nolint:gochecksumtype // the others are of no interest
						case *wire.User:
							s.Note("user, its call: %t", m.ParentToolUseID == agent.ToolUseID)
						case *wire.Assistant:
							s.Note("assistant, its call: %t", m.ParentToolUseID == agent.ToolUseID)
						}
					}
				}
			},
			Want: Per{
				"2.1.37":  {"described: false, its call: false", "user, its call: true", "assistant, its call: true"},
				"2.1.120": {"described: true, its call: false", "user, its call: true", "assistant, its call: true"},
				"2.1.325": {"described: true, its call: true", "user, its call: true", "assistant, its call: true"},
			},
		},
		{
			ID: "transcripts.archive", Facts: "§8 archived.json", Where: both(stdioOnly, realOnly("the simulated CLI leaves the mark alone")), NoInitialize: true,
			Run: func(s *Stage) {
				id := s.Turn("@say One.").Result.SessionID
				finish(s)
				where := kept(s)
				do(s, claude.ArchiveConversation(s.Context(), id, &where))
				s.Note("archived: %t", infoOf(s, id).Archived)
				s.Restart(func(o *claude.Options) { o.Resume = id })
				s.Turn("@say Two.")
				finish(s)
				s.Note("after a prompt: %t", infoOf(s, id).Archived)
			},
			Want: Per{
				"2.1.37":  {"archived: true", "after a prompt: true"},
				"2.1.325": {"archived: true", "after a prompt: false"},
			},
		},
		{
			ID: "transcripts.delete", Facts: "§8 a transcript that is deleted", Where: stdioOnly, NoInitialize: true,
			Run: func(s *Stage) {
				id := s.Turn("@say One.").Result.SessionID
				finish(s)
				where := kept(s)
				do(s, claude.DeleteConversation(s.Context(), id, &where))
				s.Note("%d left", len(transcripts(s, where.ConfigDir)))
				_, err := claude.ConversationInfoOf(s.Context(), id, &where)
				s.Note("not there: %t", errors.Is(err, fs.ErrNotExist))
				s.Restart(func(o *claude.Options) { o.Resume = id })
				s.NoteOnly(s.AwaitEnd(), "result")
			},
			Want: Same("0 left", "not there: true", "result error_during_execution is_error error=No conversation found with session ID: <uuid>"),
		},
		{
			ID: "transcripts.store", Facts: "§8 --session-mirror", NoInitialize: true,
			Where: both(stdioOnly, since("2.1.120", "2.1.37 has no --session-mirror"), realOnly("the simulated CLI mirrors nothing")),
			Run: func(s *Stage) {
				finish(s) // the sessions are the scenario's own
				store := new(claude.MemoryStore)
				ask := func(text string, change func(*claude.Options)) (id string, turn Turn) {
					o := &claude.Options{CLI: s.column.cli, Dir: s.Dir, Env: claudetest.Env(s.Home, s.Model.URL()), Store: store, TempDir: s.Home}
					change(o)
					session, err := claude.Start(s.Context(), o)
					do(s, err)
					defer func() { do(s, session.Close()) }()
					turn.Tag = s.Tag()
					done, err := session.Ask(s.Context(), claude.Prompt{Text: text + "\n" + turn.Tag})
					do(s, err)
					s.Note("%s", done.Answer)
					return done.Result.SessionID, turn
				}
				id, first := ask("@say One.", func(*claude.Options) {})
				stored := func() int {
					n := 0
					for m, err := range claude.ReadConversation(s.Context(), id, &claude.ReadOptions{ConversationOptions: claude.ConversationOptions{Store: store, Dir: s.Dir}}) {
						do(s, err)
						if m.Message != nil {
							n++
						}
					}
					return n
				}
				s.Note("%d messages stored", stored())
				do(s, os.RemoveAll(filepath.Join(s.Home, ".claude", "projects")))
				again, second := ask("@say Two.", func(o *claude.Options) { o.Resume = id })
				s.Note("the same conversation: %t, the model knows it: %t, %d messages stored", again == id, knows(s, second, first), stored())
				again, third := ask("@say Three.", func(o *claude.Options) { o.Continue = true })
				s.Note("the same conversation: %t, the model knows it: %t, %d messages stored, %d transcripts on disk", again == id, knows(s, third, second), stored(), len(transcripts(s, filepath.Join(s.Home, ".claude"))))
				left, err := filepath.Glob(filepath.Join(s.Home, "switchboard-*"))
				do(s, err)
				s.Note("%d folders left", len(left))
			},
			Want: Same("One.", "2 messages stored", "Two.", "the same conversation: true, the model knows it: true, 4 messages stored",
				"Three.", "the same conversation: true, the model knows it: true, 6 messages stored, 0 transcripts on disk", "0 folders left"),
		},
	}
}
