package wire

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestProjectDir(t *testing.T) {
	tests := []struct {
		dir, name string
		exact     bool
	}{
		{"/home/user/my.project_2", "-home-user-my-project-2", true},
		{"/tmp/é", "-tmp--", true},
		{"/tmp/😀", "-tmp---", true}, // two UTF-16 units
		{"/" + strings.Repeat("a", 199), "-" + strings.Repeat("a", 199), true},
		{"/" + strings.Repeat("a", 300), "-" + strings.Repeat("a", 199) + "-", false},
	}
	for _, tt := range tests {
		path, exact := ProjectDir("/c", tt.dir)
		if want := filepath.Join("/c", "projects", tt.name); path != want || exact != tt.exact {
			t.Errorf("%s: got %s %v, want %s %v", tt.dir, path, exact, want, tt.exact)
		}
	}
}

func TestTranscriptPath(t *testing.T) {
	got, err := TranscriptPath("/c/p", "0c4f-11aa")
	if want := filepath.Join("/c/p", "0c4f-11aa.jsonl"); err != nil || got != want {
		t.Errorf("got %s, %v", got, err)
	}
	got, err = SubagentTranscriptPath("/c/p", "0c4f", "a1")
	if want := filepath.Join("/c/p", "0c4f", "subagents", "agent-a1.jsonl"); err != nil || got != want {
		t.Errorf("got %s, %v", got, err)
	}
	for _, id := range []string{"", "..", "../x", "a/b", `a\b`, "-x", "a.b", "a\x00b", strings.Repeat("a", 200)} {
		if got, err := TranscriptPath("/c/p", id); err == nil {
			t.Errorf("id %q was taken: %s", id, got)
		}
		if got, err := SubagentTranscriptPath("/c/p", "ok", id); err == nil {
			t.Errorf("agent id %q was taken: %s", id, got)
		}
	}
}

func TestConfigDir(t *testing.T) {
	env := map[string]string{}
	get := func(name string) string { return env[name] }
	if got := ConfigDir(get, "/home/u"); got != filepath.Join("/home/u", ".claude") {
		t.Error(got)
	}
	env["CLAUDE_CONFIG_DIR"] = "/else"
	if got := PlanDir(ConfigDir(get, "/home/u")); got != filepath.Join("/else", "plans") {
		t.Error(got)
	}
}
