package wire

import (
	"fmt"
	"strings"
	"testing"
)

func TestActions(t *testing.T) {
	tests := []struct {
		tool, input string
		kind        ActionKind
		title       string
	}{
		{"Bash", `{"command":"go test ./..."}`, ActionCommand, "go test ./..."},
		{"Bash", `{"command":"cat <<E\n\tx\nE"}`, ActionCommand, "cat <<E x E"},
		{"Bash", `{}`, ActionCommand, "Bash"},
		{"KillShell", `{"shell_id":"7"}`, ActionCommand, "KillShell 7"},
		{"Edit", `{"file_path":"/a/b.go"}`, ActionFileChange, "/a/b.go"},
		{"Write", `{"path":"/a"}`, ActionFileChange, "/a"},
		{"MultiEdit", `{"file_path":"/a"}`, ActionFileChange, "/a"},
		{"NotebookEdit", `{"notebook_path":"/n.ipynb"}`, ActionFileChange, "/n.ipynb"},
		{"Read", `{"file_path":"/a"}`, ActionTool, "Read /a"},
		{"Glob", `{"pattern":"**/*.go"}`, ActionTool, "Glob **/*.go"},
		{"Grep", `{"pattern":"x"}`, ActionTool, "Grep x"},
		{"WebSearch", `{"query":"go 1.26"}`, ActionWebSearch, "go 1.26"},
		{"WebFetch", `{"url":"https://example.org"}`, ActionWebSearch, "https://example.org"},
		{"TodoWrite", `{}`, ActionNote, "update todos"},
		{"TodoRead", `{}`, ActionNote, "update todos"},
		{"TaskCreate", `{"subject":"write tests"}`, ActionNote, "TaskCreate write tests"},
		{"AskUserQuestion", `{}`, ActionNote, "ask user"},
		{"ExitPlanMode", `{}`, ActionNote, "present the plan"},
		{"Task", `{"description":"look around"}`, ActionTool, "Task look around"},
		{"Agent", `{}`, ActionTool, "Agent"},
		{"Skill", `{"skill":"pdf"}`, ActionTool, "Skill pdf"},
		{"mcp__calc__add", `{"a":1}`, ActionTool, "calc: add"},
		{"mcp__odd", `{}`, ActionTool, "mcp__odd"},
		{"Invented", `{"x":"y"}`, ActionTool, "Invented"},
	}
	for _, tt := range tests {
		t.Run(tt.tool+tt.title, func(t *testing.T) {
			var a Actions
			started := a.Of(decode(t, `{"type":"assistant","parent_tool_use_id":"p","message":{"content":[{"type":"text","text":"x"},{"type":"tool_use","id":"t1","name":"`+tt.tool+`","input":`+tt.input+`}]}}`))
			want := Action{ID: "t1", Tool: tt.tool, Kind: tt.kind, Title: tt.title, Phase: ActionStarted, ParentToolUseID: "p"}
			if len(started) != 1 || started[0] != want {
				t.Fatalf("got %+v, want %+v", started, want)
			}
			done := a.Of(decode(t, `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}`))
			want.Phase = ActionCompleted
			if len(done) != 1 || done[0] != want {
				t.Fatalf("got %+v, want %+v", done, want)
			}
		})
	}
}

func decode(t *testing.T, line string) Message {
	t.Helper()
	m, err := Decode([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestActionResults(t *testing.T) {
	var a Actions
	got := a.Of(decode(t, `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","is_error":true}]}}`))
	if len(got) != 1 || got[0].Phase != ActionFailed || got[0].Kind != ActionTool || got[0].Title == "" {
		t.Errorf("a result without its call: %+v", got)
	}
	a.Of(decode(t, `{"type":"assistant","message":{"content":[{"type":"server_tool_use","id":"w","name":"web_search","input":{"query":"q"}}]}}`))
	got = a.Of(decode(t, `{"type":"assistant","message":{"content":[{"type":"web_search_tool_result","tool_use_id":"w","content":{"type":"web_search_tool_result_error","error_code":"unavailable"}}]}}`))
	if len(got) != 1 || got[0].Phase != ActionFailed || got[0].Kind != ActionWebSearch || got[0].Title != "q" {
		t.Errorf("the result of a server's tool: %+v", got)
	}
	if got := a.Of(decode(t, `{"type":"result","subtype":"success"}`)); got != nil {
		t.Errorf("a result line: %+v", got)
	}
}

func TestActionsStayBounded(t *testing.T) {
	var a Actions
	for i := range 3 * maxOpenActions {
		a.start(fmt.Sprint(i), "Bash", nil, "")
	}
	if len(a.open) > maxOpenActions || len(a.order) > maxOpenActions {
		t.Errorf("%d open, %d in order", len(a.open), len(a.order))
	}
	for i := range 3 * maxOpenActions {
		a.finish(fmt.Sprint(i), false, "")
	}
	if len(a.open) != 0 || len(a.order) > 64 {
		t.Errorf("after all: %d open, %d in order", len(a.open), len(a.order))
	}
}

func TestTitlesAreShort(t *testing.T) {
	_, title := describe("Bash", []byte(`{"command":"`+strings.Repeat("é ", 400)+`\u001b[31m"}`))
	if n := len([]rune(title)); n > 200 || strings.ContainsAny(title, "\n\x1b") {
		t.Errorf("%d characters: %q", n, title)
	}
}
