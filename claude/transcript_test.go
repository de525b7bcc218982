package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/wire"
)

const conversation = "11111111-1111-4111-8111-111111111111"

// writeTranscript puts a transcript where the CLI of a folder would, and returns
// the configuration folder.
func writeTranscript(t testing.TB, dir, text string) (configDir string) {
	t.Helper()
	configDir = t.TempDir()
	writeTranscriptIn(t, configDir, dir, text)
	return configDir
}

func writeTranscriptIn(t testing.TB, configDir, dir, text string) (path string) {
	t.Helper()
	project, _ := wire.ProjectDir(configDir, dir)
	path, err := wire.TranscriptPath(project, conversation)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(project, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// short writes a transcript in few words: each line is
//
//	uuid < parent kind rest
//
// with the kinds of the function below, "-" for no parent, and raw lines after
// an exclamation mark.
func short(t testing.TB, lines ...string) string {
	t.Helper()
	var b strings.Builder
	for _, line := range lines {
		if raw, ok := strings.CutPrefix(line, "!"); ok {
			b.WriteString(raw + "\n")
			continue
		}
		f := strings.SplitN(line, " ", 5)
		if len(f) < 4 || f[1] != "<" {
			t.Fatalf("not a line: %q", line)
		}
		rest := ""
		if len(f) > 4 {
			rest = f[4]
		}
		members := map[string]any{"uuid": f[0], "parentUuid": f[2], "isSidechain": false, "sessionId": "another", "timestamp": "2026-01-02T03:04:05.000Z"}
		if f[2] == "-" {
			members["parentUuid"] = nil
		}
		message := func(role string, content any) {
			members["type"], members["message"] = role, map[string]any{"role": role, "content": content, "id": "msg of " + f[0]}
		}
		block := func(members ...string) []any {
			m := map[string]any{}
			for i := 0; i < len(members); i += 2 {
				m[members[i]] = members[i+1]
			}
			return []any{m}
		}
		switch f[3] {
		case "says":
			message("user", rest)
			members["permissionMode"] = "default"
		case "answers":
			message("assistant", block("type", "text", "text", rest))
		case "calls": // with the tool call and the API's message
			call, answer, _ := strings.Cut(rest, " ")
			message("assistant", block("type", "tool_use", "id", call, "name", "Bash"))
			members["message"].(map[string]any)["id"] = answer
		case "result":
			message("user", block("type", "tool_result", "tool_use_id", rest, "content", "ok"))
			members["toolUseResult"] = map[string]any{"stdout": "ok"}
		case "meta":
			message("user", rest)
			members["isMeta"] = true
		case "side":
			message("user", rest)
			members["isSidechain"] = true
		case "summary":
			message("user", rest)
			members["isCompactSummary"] = true
		case "progress", "system":
			members["type"], members["subtype"], members["content"] = f[3], "informational", rest
		case "attachment":
			members["type"], members["attachment"] = "attachment", map[string]any{"type": "date"}
		case "queued":
			members["type"], members["attachment"] = "attachment", map[string]any{"type": "queued_command", "prompt": rest, "source_uuid": "q" + f[0], "commandMode": "prompt"}
		case "compacted":
			members["type"], members["subtype"], members["parentUuid"], members["logicalParentUuid"] = "system", "compact_boundary", nil, f[2]
			members["compactMetadata"] = map[string]any{"trigger": "auto", "preTokens": 7}
		default:
			t.Fatalf("not a kind: %q", line)
		}
		data, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(data, '\n'))
	}
	return b.String()
}

// uuids reads a transcript and returns the uuids of its lines.
func uuids(t testing.TB, tr *Transcript) []string {
	t.Helper()
	var list []string
	for line, err := range tr.Lines(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if line.TooLong != nil {
			list = append(list, "too-long")
			continue
		}
		list = append(list, line.UUID)
		checkSent(t, line)
	}
	return list
}

// checkSent says what is wrong with a line that a controller could not read.
func checkSent(t testing.TB, line TranscriptLine) {
	t.Helper()
	m, err := wire.Decode(line.Bytes)
	if err != nil {
		t.Fatalf("%v: %s", err, line.Bytes)
	}
	header, err := wire.Peek(line.Bytes)
	if err != nil || string(header.UUID) != line.UUID {
		t.Errorf("line %s has the uuid %q, %v", line.Bytes, header.UUID, err)
	}
	switch m.(type) {
	case *wire.User, *wire.Assistant, *wire.CompactBoundary:
	default:
		t.Errorf("a line of type %T: %s", m, line.Bytes)
	}
}

func TestTranscriptChain(t *testing.T) {
	tests := []struct {
		name    string
		lines   []string
		want    string
		damaged int
	}{
		{"nothing", nil, "", 0},
		{"only notes", []string{`!{"type":"queue-operation","operation":"dequeue"}`, `!{"type":"summary","summary":"x","leafUuid":"u"}`}, "", 0},
		{"straight", []string{"1 < - says a", "2 < 1 answers b", "3 < 2 says c"}, "1 2 3", 0},
		{"rewound", []string{"1 < - says a", "2 < 1 answers b", "3 < 2 says gone", "4 < 3 answers gone", "5 < 2 says c", "6 < 5 answers d"}, "1 2 5 6", 0},
		{"rewound to the beginning", []string{"1 < - says gone", "2 < 1 answers gone", "3 < - says a", "4 < 3 answers b"}, "3 4", 0},
		{"rewound and back", []string{"1 < - says a", "2 < 1 answers b", "3 < 1 answers gone", "4 < 2 says c"}, "1 2 4", 0},
		{"calls of one answer", []string{
			"1 < - says a", "2 < 1 calls t1 m", "3 < 2 calls t2 m", "4 < 2 result t1", "5 < 3 result t2", "6 < 5 answers b",
		}, "1 2 3 4 5 6", 0},
		{"calls of one answer, the first one last", []string{
			"1 < - says a", "2 < 1 calls t1 m", "3 < 2 calls t2 m", "4 < 3 result t2", "5 < 2 result t1", "6 < 5 answers b",
		}, "1 2 3 4 5 6", 0},
		{"calls that were given up", []string{"1 < - says a", "2 < 1 calls t1 m", "3 < 2 result t1", "4 < 1 answers b"}, "1 4", 0},
		{"hidden lines lead on", []string{
			"1 < - says a", "2 < 1 attachment", "3 < 2 answers b", "4 < 3 progress", "5 < 4 meta x", "6 < 5 system x", "7 < 6 says c",
		}, "1 3 7", 0},
		{"ends with hidden ones", []string{"1 < - says a", "2 < 1 answers b", "3 < 2 attachment", "4 < 1 progress"}, "1 2", 0},
		{"sub-agents", []string{"1 < - says a", "2 < 1 side x", "3 < 1 answers b", "4 < 2 side y"}, "1 3", 0},
		{"queued", []string{"1 < - says a", "2 < 1 calls t1 m", "3 < 2 result t1", "4 < 3 queued also", "5 < 4 answers b"}, "1 2 3 q4 5", 0},
		{"compacted", []string{"1 < - says a", "2 < 1 answers b", "3 < 2 compacted", "4 < 3 summary s", "5 < 4 says c"}, "1 2 3 4 5", 0},
		{"compacted and given up", []string{"1 < - says a", "2 < 1 answers b", "3 < 2 compacted", "4 < 3 summary s", "5 < 2 says c"}, "1 2 5", 0},
		{"compacted before the fork", []string{"3 < 2 compacted", "4 < 3 summary s", "5 < 4 says c"}, "3 4 5", 0},
		{"no parent", []string{"1 < - says a", "2 < 1 answers b", "4 < 3 says c"}, "1 2 4", 0},
		{"damaged", []string{"1 < - says a", "!{\"uuid\":\"2\",\"type\":\"assi", "3 < 2 says c"}, "1 3", 1},
		{"half a line at the end", []string{"1 < - says a", "2 < 1 answers b", `!{"type":"user","uuid":"3","parentUuid":"2","message":{"ro`}, "1 2", 1},
		{"not JSON at all", []string{"!\x00\x01", "1 < - says a"}, "1", 1},
		{"blank lines", []string{"!", "1 < - says a", "! ", "2 < 1 answers b"}, "1 2", 0},
		{"twice", []string{"1 < - says a", "2 < 1 answers b", "1 < - says a", "3 < 2 says c", "2 < 3 answers b"}, "1 2 3", 0},
		{"in a circle", []string{"1 < 2 says a", "2 < 1 answers b"}, "1 2", 0},
		{"its own parent", []string{"1 < - says a", "2 < 2 answers b"}, "2", 0},
		{"the parent comes later", []string{"2 < 1 answers b", "1 < - says a", "3 < 2 says c"}, "2 1 3", 0},
		{"empty messages", []string{"1 < - says ", "2 < 1 answers b", `!{"type":"user","uuid":"3","parentUuid":"2"}`, `!{"type":"assistant","uuid":"4","parentUuid":"3","message":[]}`}, "2", 0},
		{"names of another case", []string{"1 < - says a", `!{"type":"user","UUID":"2","parentUuid":"1","message":{"role":"user","content":"x"}}`}, "1", 0},
		{"no answer", []string{"1 < - says a", `!{"type":"assistant","uuid":"2","parentUuid":"1","message":{"model":"<synthetic>","content":[{"type":"text","text":"No response requested."}]}}`, "3 < 2 says b"}, "1 3", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			configDir := writeTranscript(t, "/x", short(t, test.lines...))
			tr, err := OpenTranscript(t.Context(), configDir, "", conversation)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(uuids(t, tr), " "); got != test.want {
				t.Errorf("got %q, expected %q", got, test.want)
			}
			if got := strings.Join(uuids(t, tr), " "); got != test.want {
				t.Errorf("the second time %q", got)
			}
			if tr.Damaged() != test.damaged {
				t.Errorf("%d damaged lines, expected %d", tr.Damaged(), test.damaged)
			}
		})
	}
}

func TestTranscriptLines(t *testing.T) {
	const head, tail = `"uuid":"u1","parentUuid":null,"isSidechain":false,"sessionId":"old","cwd":"/x","version":"2.1.325",`, `,"session_id":"` + conversation + `","uuid":"u1"`
	const at = `"timestamp":"2026-01-02T03:04:05.678Z"`
	tests := []struct{ name, kept, sent string }{
		{
			"prompt", `{` + head + `"type":"user","message":{"role":"user","content":"a <b> & \u00fc"},"permissionMode":"plan",` + at + `}`,
			`{"type":"user","message":{"role":"user","content":"a <b> & \u00fc"},"parent_tool_use_id":null,"isReplay":true` + tail + `,` + at + `}`,
		},
		{
			"prompt with a picture", `{` + head + `"type":"user","message":{"role":"user","content":[{"type":"image"},{"type":"text","text":"x"}]}}`,
			`{"type":"user","message":{"role":"user","content":[{"type":"image"},{"type":"text","text":"x"}]},"parent_tool_use_id":null,"isReplay":true` + tail + `}`,
		},
		{
			"tool result", `{` + head + `"type":"user","message":{"role":"user","content":[{"tool_use_id":"t","type":"tool_result","content":"one"}]},"toolUseResult":{"stdout":"one"},"sourceToolAssistantUUID":"u0"}`,
			`{"type":"user","message":{"role":"user","content":[{"tool_use_id":"t","type":"tool_result","content":"one"}]},"parent_tool_use_id":null,"tool_use_result":{"stdout":"one"}` + tail + `}`,
		},
		{
			"refused tool", `{` + head + `"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"no","is_error":true,"tool_use_id":"t"}]},"toolUseResult":"User rejected tool use"}`,
			`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"no","is_error":true,"tool_use_id":"t"}]},"parent_tool_use_id":null,"tool_use_result":"User rejected tool use"` + tail + `}`,
		},
		{
			"interrupt", `{` + head + `"type":"user","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]}}`,
			`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]},"parent_tool_use_id":null` + tail + `}`,
		},
		{
			"summary", `{` + head + `"type":"user","message":{"role":"user","content":"In short"},"isVisibleInTranscriptOnly":true,"isCompactSummary":true}`,
			`{"type":"user","message":{"role":"user","content":"In short"},"parent_tool_use_id":null,"isSynthetic":true` + tail + `}`,
		},
		{
			"answer", `{` + head + `"message":{"id":"m","role":"assistant","content":[{"type":"text","text":"hi"}],"usage":{"output_tokens":1}},"requestId":"req_1","type":"assistant","effort":"high",` + at + `}`,
			`{"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"hi"}],"usage":{"output_tokens":1}},"parent_tool_use_id":null,"request_id":"req_1"` + tail + `,` + at + `}`,
		},
		{
			"answer cut short", `{` + head + `"message":{"content":[{"type":"text","text":"hi"}]},"type":"assistant","isAbortedMidStream":true}`,
			`{"type":"assistant","message":{"content":[{"type":"text","text":"hi"}]},"parent_tool_use_id":null,"aborted":true` + tail + `}`,
		},
		{
			"failure of the API", `{` + head + `"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"API Error: 429"}]},"error":"rate_limit","isApiErrorMessage":true,"apiErrorStatus":429}`,
			`{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"API Error: 429"}]},"parent_tool_use_id":null,"error":"rate_limit"` + tail + `}`,
		},
		{
			"queued prompt", `{` + head + `"type":"attachment","attachment":{"type":"queued_command","prompt":"also this","source_uuid":"u2","commandMode":"prompt"}}`,
			`{"type":"user","message":{"role":"user","content":"also this"},"parent_tool_use_id":null,"isReplay":true` + strings.Replace(tail, "u1", "u2", 1) + `}`,
		},
		{
			"queued prompt of blocks", `{` + head + `"type":"attachment","attachment":{"type":"queued_command","prompt":[{"type":"text","text":"x"}]}}`,
			`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"x"}]},"parent_tool_use_id":null,"isReplay":true` + tail + `}`,
		},
		{"queued news", `{` + head + `"type":"attachment","attachment":{"type":"queued_command","prompt":"done","commandMode":"task-notification"}}`, ``},
		{
			"command", `{` + head + `"type":"user","message":{"role":"user","content":"<command-name>/cost</command-name>"}}`,
			`{"type":"user","message":{"role":"user","content":"<command-name>/cost</command-name>"},"parent_tool_use_id":null,"isReplay":true` + tail + `}`,
		},
		{
			"output of a command", `{` + head + `"type":"system","subtype":"local_command","content":"<local-command-stdout>x</local-command-stdout>","level":"info"}`,
			`{"type":"user","message":{"role":"user","content":"<local-command-stdout>x</local-command-stdout>"},"parent_tool_use_id":null,"isReplay":true` + tail + `}`,
		},
		{
			"compaction", `{` + head + `"type":"system","subtype":"compact_boundary","content":"Conversation compacted","compactMetadata":{"trigger":"manual","preTokens":100,"durationMs":5,"preservedSegment":{"headUuid":"h","tailUuid":"t"}},` + at + `}`,
			`{"type":"system","subtype":"compact_boundary","compact_metadata":{"duration_ms":5,"pre_tokens":100,"preserved_segment":{"head_uuid":"h","tail_uuid":"t"},"trigger":"manual"}` + tail + `}`,
		},
		{"compaction that says nothing", `{` + head + `"type":"system","subtype":"compact_boundary"}`, `{"type":"system","subtype":"compact_boundary","compact_metadata":{}` + tail + `}`},
		{"note", `{` + head + `"type":"system","subtype":"informational","content":"x"}`, ``},
		{"meta", `{` + head + `"type":"user","message":{"role":"user","content":"x"},"isMeta":true}`, ``},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			configDir := writeTranscript(t, "/x", test.kept+"\n")
			lines, err := ReadTranscript(t.Context(), configDir, "/x", conversation)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for line, err := range lines {
				if err != nil {
					t.Fatal(err)
				}
				got += string(line)
			}
			if got != test.sent {
				t.Errorf("got      %s\nexpected %s", got, test.sent)
			}
			if got == "" {
				return
			}
			line, _ := sentLine([]byte(test.kept), conversation, "")
			checkSent(t, line)
			if want := strings.Contains(test.kept, at); line.Time.IsZero() == want {
				t.Errorf("the time is %v", line.Time)
			}
		})
	}
}

// TestTranscriptOfSimulatedCLI compares the transcript with what was sent.
func TestTranscriptOfSimulatedCLI(t *testing.T) {
	for _, version := range claudetest.SimVersions() {
		t.Run(version, func(t *testing.T) {
			quirks, err := claudetest.QuirksFor(version)
			if err != nil {
				t.Fatal(err)
			}
			home, dir, count := t.TempDir(), t.TempDir(), 0
			uuid := func() string {
				count++
				return fmt.Sprintf("aaaaaaaa-0000-4000-8000-%012d", count)
			}
			talk := func(args []string, prompts ...string) (lines [][]byte, session string) {
				t.Helper()
				sim := claudetest.StartSim(&claudetest.SimOptions{
					Quirks: &quirks, Env: []string{"HOME=" + home}, Dir: dir,
					Args: append([]string{
						"--print", "--verbose", "--input-format=stream-json", "--output-format=stream-json", "--permission-prompt-tool=stdio",
						"--replay-user-messages", "--permission-mode=acceptEdits",
					}, args...),
				})
				defer func() {
					if err := sim.Close(); err != nil {
						t.Error(err)
					}
				}()
				for _, prompt := range prompts {
					line, err := wire.NewUser(wire.TextContent(prompt), &wire.UserOptions{UUID: uuid()})
					if err != nil {
						t.Fatal(err)
					}
					if err := sim.Write(t.Context(), line); err != nil {
						t.Fatal(err)
					}
					for {
						line, err := sim.Read(soon(t))
						if err != nil {
							t.Fatal(err)
						}
						header, err := wire.Peek(line)
						if err != nil {
							t.Fatal(err)
						}
						session = string(header.SessionID)
						if string(header.Type) == "result" {
							break
						}
						if header.Is("user", "") || header.Is("assistant", "") || header.Is("system", "compact_boundary") {
							lines = append(lines, line)
						}
					}
				}
				return lines, session
			}
			const tools = "@tool Edit {\"file_path\":\"a\",\"old_string\":\"x\",\"new_string\":\"y\"}\n@tool Edit {\"file_path\":\"b\",\"old_string\":\"x\",\"new_string\":\"y\"}\n@say both done"
			sent, session := talk(nil, "@say hello", tools, "/compact", "@say after")
			gone, _ := talk([]string{"--resume=" + session}, "@say given up")
			keep, err := wire.Peek(sent[len(sent)-1])
			if err != nil {
				t.Fatal(err)
			}
			more, _ := talk([]string{"--resume=" + session, "--resume-session-at=" + string(keep.UUID)}, "@say instead")
			if len(gone) != 2 || len(more) != 2 {
				t.Fatalf("the simulated CLI sent %d and %d lines", len(gone), len(more))
			}
			sent = append(sent, more...)

			tr, err := OpenTranscript(t.Context(), filepath.Join(home, ".claude"), dir, session)
			if err != nil {
				t.Fatal(err)
			}
			var got, want []string
			for line, err := range tr.Lines(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, essence(t, line.Bytes)...)
			}
			for _, line := range sent {
				want = append(want, essence(t, line)...)
			}
			if !slices.Equal(got, want) {
				t.Errorf("the transcript:\n%s\nwhat was sent:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// essence is what a transcript must give back of a line. What surrounds a local
// command is not the same for all versions, and is left out.
func essence(t *testing.T, line []byte) []string {
	t.Helper()
	m, err := wire.Decode(line)
	if err != nil {
		t.Fatal(err)
	}
	switch m := m.(type) {
	case *wire.User:
		text := m.Message.Content.String()
		if strings.HasPrefix(text, "<command-name>") || strings.HasPrefix(text, "<local-command-stdout>") {
			return nil
		}
		return []string{fmt.Sprintf("user %s %s %v %q %d %v", m.UUID, m.SessionID, m.IsReplay, text, len(m.Message.Content.All()), len(m.ToolUseResult) > 0)}
	case *wire.Assistant:
		return []string{fmt.Sprintf("assistant %s %s %s %s %d", m.UUID, m.SessionID, m.Message.ID, m.Message.Model, len(m.Message.Content))}
	case *wire.CompactBoundary:
		return []string{fmt.Sprintf("compacted %s %s %d", m.SessionID, m.CompactMetadata.Trigger, m.CompactMetadata.PreTokens)}
	default:
		t.Fatalf("a line of type %T", m)
		return nil
	}
}

func TestTranscriptIsFound(t *testing.T) {
	text := func(uuid string) string { return short(t, uuid+" < - says x") }
	dir, configDir := t.TempDir(), t.TempDir()
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	long := "/" + strings.Repeat("long/", 60)
	own := writeTranscriptIn(t, configDir, real, text("own"))
	writeTranscriptIn(t, configDir, "/old", text("old"))
	newest := writeTranscriptIn(t, configDir, "/new", text("new"))
	for path, age := range map[string]time.Duration{own: 3 * time.Hour, newest: time.Hour} {
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(strings.Replace(newest, "-new", "-old", 1), time.Time{}, time.Now().Add(-2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	// Neither a folder of that name nor a file among the folders is one.
	if err := os.MkdirAll(filepath.Join(configDir, "projects", "-dir", conversation+".jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(configDir, "projects", "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, dir, want string }{
		{"by its folder", real, "own"},
		{"through a link", link, "own"},
		{"of another folder", "/elsewhere", "new"},
		{"of a folder that is gone", "/old", "old"},
		{"of no folder", "", "new"},
		{"of a folder with a long name", long, "new"},
	} {
		tr, err := OpenTranscript(t.Context(), configDir, test.dir, conversation)
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		if got := uuids(t, tr); !slices.Equal(got, []string{test.want}) || tr.Conversation() != conversation || filepath.Base(tr.Path()) != conversation+".jsonl" {
			t.Errorf("%s: found %q at %s", test.name, got, tr.Path())
		}
	}
	for name, ask := range map[string][2]string{
		"another conversation":  {configDir, "22222222-2222-4222-8222-222222222222"},
		"another configuration": {t.TempDir(), conversation},
	} {
		if _, err := OpenTranscript(t.Context(), ask[0], real, ask[1]); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ReadTranscript(t.Context(), configDir, "", "../x"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an id that is a path: %v", err)
	}
}

func TestTranscriptWithLongLines(t *testing.T) {
	text := short(t, "1 < - says a", "2 < 1 answers "+strings.Repeat("x", 2000), "3 < 2 says gone "+strings.Repeat("y", 2000), "4 < 2 says b", "5 < 4 answers c")
	path := writeTranscriptIn(t, t.TempDir(), "/x", text)
	tr := &Transcript{conversation: conversation, path: path, maxLine: 1000}
	if err := tr.load(t.Context()); err != nil {
		t.Fatal(err)
	}
	// Which branch a line was part of that could not be read is not known.
	if got := strings.Join(uuids(t, tr), " "); got != "1 too-long too-long 4 5" || tr.Damaged() != 2 {
		t.Errorf("got %q, %d damaged", got, tr.Damaged())
	}
	for line, err := range tr.Lines(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if line.TooLong != nil && (line.TooLong.Length < 2000 || line.Bytes != nil) {
			t.Errorf("line %+v", line)
		}
	}
}

func TestTranscriptThatChanges(t *testing.T) {
	configDir := t.TempDir()
	path := writeTranscriptIn(t, configDir, "/x", short(t, "1 < - says a"))
	tr, err := OpenTranscript(t.Context(), configDir, "/x", conversation)
	if err != nil {
		t.Fatal(err)
	}
	writeTranscriptIn(t, configDir, "/x", short(t, "1 < - says a", "2 < 1 answers b"))
	if got := uuids(t, tr); !slices.Equal(got, []string{"1"}) {
		t.Errorf("after it has grown: %q", got)
	}
	fails := func(what string, ctx context.Context) {
		t.Helper()
		var errs []error
		for line, err := range tr.Lines(ctx) {
			errs = append(errs, err)
			if err == nil {
				t.Errorf("%s: line %s", what, line.Bytes)
			}
		}
		if len(errs) != 1 || !strings.Contains(errs[0].Error(), conversation) {
			t.Errorf("%s: errors %v", what, errs)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	fails("a reader that gave up", ctx)
	if err := os.Truncate(path, 3); err != nil {
		t.Fatal(err)
	}
	fails("cut off", t.Context())
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	fails("removed", t.Context())
	if _, err := OpenTranscript(ctx, writeTranscript(t, "/x", "{}\n"), "/x", conversation); !errors.Is(err, context.Canceled) {
		t.Errorf("opening after giving up: %v", err)
	}
}

func TestTranscriptReaderStops(t *testing.T) {
	configDir := writeTranscript(t, "/x", short(t, "1 < - says a", "2 < 1 answers b", "3 < 2 says c"))
	lines, err := ReadTranscript(t.Context(), configDir, "/x", conversation)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for range lines {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Errorf("%d lines", n)
	}
}
