package config

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
)

// everyOption sets every option of a session, in the order of [api.OptionNames].
const everyOption = `
[preset.all]
description = "Everything"
model = "opus"
fallback_model = "haiku"
effort = "high"
permission_mode = "plan"
allow_bypass = true
name = "N"
system_prompt = "S"
append_system_prompt = "A"
tools = ["Bash"]
allowed_tools = ["Bash(git status:*)"]
disallowed_tools = ["Write"]
add_dirs = ["~/src"]
max_turns = 3
max_budget_usd = 2
max_thinking_tokens = 9
agent = "reviewer"
question_deadline = "90m"
ask_plan_mode = true
resume_at_reset = true
plan_mode_instructions = "P"
skills = ["s"]
prompt_suggestions = true
agent_progress_summaries = true
forward_subagent_text = true
exclude_dynamic_sections = true
supported_dialog_kinds = ["k"]
thinking = "adaptive"
setting_sources = []
betas = ["b"]
strict_mcp = true
plugin_dirs = ["/plugins"]
include_hook_events = true
no_persistence = true
task_budget = 1000
extra_args = { debug = true, level = "2" }
fresh = true
sandbox = "strict"
sandbox_auto_allow = true
tool_aliases = { Shell = "Bash" }
agents.reviewer = { description = "Reviews" }
mcp_servers.notes = { command = "notes-mcp" }
json_schema = { type = "object" }

[preset.all.settings]
cleanupPeriodDays = 3

[preset.all.env]
TOKEN = "hush"
`

// TestPresets reads every option that a session can be started with.
func TestPresets(t *testing.T) {
	c := Default()
	if err := c.Parse("config.toml", []byte("[preset.b]\nmodel = \"haiku\"\n"+everyOption), "/home/ann"); err != nil {
		t.Fatal(err)
	}
	if len(c.Presets) != 2 || c.Presets[0].Name != "all" || c.Presets[0].Description != "Everything" || c.Presets[1].Name != "b" || c.Presets[1].Options.Model != "haiku" {
		t.Fatalf("%+v", c.Presets)
	}
	raw, err := json.Marshal(c.Presets[0].Options)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	for _, name := range api.OptionNames() {
		if _, ok := got[name]; !ok {
			t.Errorf("the option %s is not read", name)
		}
	}
	for name, want := range map[string]any{
		"question_deadline": 5400.0, "max_budget_usd": 2.0, "add_dirs": []any{"/home/ann/src"}, "setting_sources": []any{}, "env": map[string]any{"TOKEN": "hush"},
		"extra_args": map[string]any{"debug": nil, "level": "2"}, "mcp_servers": map[string]any{"notes": map[string]any{"command": "notes-mcp"}},
		"settings": map[string]any{"cleanupPeriodDays": 3.0}, "tool_aliases": map[string]any{"Shell": "Bash"},
	} {
		if diff := cmp.Diff(want, got[name]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestBadPresets says what is wrong, and where, and shows no value.
func TestBadPresets(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"unknown option", "[preset.x]\nmodell = \"hush\"\n", "config.toml:2:1: preset.x.modell: unknown option; there are description, model, "},
		{"bad name", "[preset.\"a b\"]\n", `config.toml:1:1: preset.a b: "a b" is no name of a preset`},
		{"number for a text", "[claude]\nmodel = \"opus\"\n[preset.x]\nmodel = 3\n", "config.toml:4:1: preset.x.model: it has to be a text in quotes"},
		{"text for a number", "[preset.x]\n\nmax_turns = \"hush\"\n", "config.toml:3:1: preset.x.max_turns: it has to be a whole number"},
		{"negative", "[preset.x]\nmax_turns = -1\n", "preset.x.max_turns: it has to be a whole number from 0"},
		{"no truth", "[preset.x]\nfresh = \"hush\"\n", "preset.x.fresh: it has to be true or false"},
		{"no list", "[preset.x]\ntools = \"hush\"\n", "preset.x.tools: it has to be a list of texts"},
		{"mixed list", "[preset.x]\ntools = [\"Bash\", 3]\n", "preset.x.tools: it has to be a list of texts"},
		{"no money", "[preset.x]\nmax_budget_usd = nan\n", "preset.x.max_budget_usd: it has to be a number from 0 on"},
		{"no table", "[preset.x]\nsettings = \"hush\"\n", "preset.x.settings: it has to be a table"},
		{"number in env", "[preset.x.env]\nTOKEN = 3\n", "config.toml:1:1: preset.x.env: it has to be a table of texts"},
		{"variable without a name", "[preset.x]\nenv = { \"a=b\" = \"hush\" }\n", "preset.x.env: "},
		{"raw flag that is off", "[preset.x]\nextra_args = { debug = false }\n", "preset.x.extra_args: it has to be a table of texts, with true"},
		{"number for a time", "[preset.x]\nquestion_deadline = 600\n", "preset.x.question_deadline: it has to be a length of time"},
		{"no time", "[preset.x]\nquestion_deadline = \"soon\"\n", "preset.x.question_deadline: "},
		{"part of a second", "[preset.x]\nquestion_deadline = \"1ms\"\n", "preset.x.question_deadline: it has to be whole seconds"},
		{"no mode", "[preset.x]\npermission_mode = \"yolo\"\n", `config.toml:2:1: preset.x.permission_mode: "yolo" is none of`},
		{"no effort", "[preset.x]\neffort = \"some\"\n", "preset.x.effort: "},
		{"no thinking", "[preset.x]\nthinking = \"hard\"\n", "preset.x.thinking: "},
		{"relative folder", "[preset.x]\nadd_dirs = [\"src\"]\n", "preset.x.add_dirs: "},
		{"schema without an end", "[preset.x]\njson_schema = { type = \"object\" }\n", "preset.x.json_schema: it needs max_turns"},
		{"long description", "[preset.x]\ndescription = \"" + strings.Repeat("x", 300) + "\"\n", "preset.x.description: "},
		{"an option of all", "[preset]\nmodel = \"hush\"\n", "preset.model"},
	} {
		c := Default()
		err := c.Parse("config.toml", []byte(test.text), "/home/ann")
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
		if _, ok := errors.AsType[*Error](err); err != nil && !ok {
			t.Errorf("%s: %T", test.name, err)
		}
		if c.Presets != nil {
			t.Errorf("%s: half of it was read", test.name)
		}
	}
}

// TestPresetDocument holds the example of docs/running.md to what is read.
func TestPresetDocument(t *testing.T) {
	document, err := os.ReadFile(filepath.FromSlash("../../docs/running.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, part, found := strings.Cut(string(document), "## Presets\n")
	_, part, begins := strings.Cut(part, "```toml\n")
	example, _, ends := strings.Cut(part, "```\n")
	c := Default()
	if err := c.Parse("docs/running.md", []byte(example), "/home/ann"); !found || !begins || !ends || err != nil || len(c.Presets) == 0 {
		t.Errorf("the example of docs/running.md: %v, %+v", err, c.Presets)
	}
}
