package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
)

// noFlag are the options without a flag of a command, with the reason.
var noFlag = map[string]map[string]string{
	"run":    {},
	"resume": {"fresh": "--fresh begins a new conversation in the session there, as it did before there were flags for options"},
	"fork":   {},
	"adopt":  {},
}

// noCreateFlag are members of api.CreateSession without a flag of run.
var noCreateFlag = map[string]string{
	"client_id":   "run makes one up: it sends a request once",
	"prompt":      "it is the argument",
	"transport":   "switchboard token create --session and switchboard wrap make places for agents that others start",
	"options":     "see TestOptionFlags",
	"node_labels": "--node-label has one of them, and can be repeated",
	"except":      "a flag that is set to nothing, such as --fresh=false, is an exception of the preset",
}

// commandOf returns a command by its words.
func commandOf(t *testing.T, words ...string) *cobra.Command {
	t.Helper()
	cmd, rest, err := newRoot(&env{}).Find(words)
	if err != nil || len(rest) > 0 {
		t.Fatalf("%v: %v, %v", words, rest, err)
	}
	return cmd
}

// TestOptionFlags holds that whatever a session can be started with by POST /v1/sessions is a flag of run, resume, fork and disk adopt.
func TestOptionFlags(t *testing.T) {
	var all optionFlags
	flags := map[string][]string{}
	for _, each := range all.all(&cobra.Command{}) {
		flags[each.option] = append(flags[each.option], each.flag)
	}
	for name, words := range map[string][]string{"run": {"run"}, "resume": {"resume"}, "fork": {"fork"}, "adopt": {"disk", "adopt"}} {
		cmd := commandOf(t, words...)
		for _, option := range api.OptionNames() {
			missing := len(flags[option]) == 0
			for _, flag := range flags[option] {
				missing = missing || cmd.Flags().Lookup(flag) == nil
			}
			switch why, without := noFlag[name][option]; {
			case missing && !without:
				t.Errorf("%s has no flag for the option %s", name, option)
			case without && why == "":
				t.Errorf("it is not said why %s has no flag for %s", name, option)
			}
		}
		for option := range noFlag[name] {
			if !slices.Contains(api.OptionNames(), option) {
				t.Errorf("%s has no flag for %s, which is no option", name, option)
			}
		}
	}
	run := commandOf(t, "run")
	for field := range reflect.TypeFor[api.CreateSession]().Fields() {
		member, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		_, without := noCreateFlag[member]
		if has := run.Flags().Lookup(member) != nil; has == without {
			t.Errorf("run has a flag for %s: %v, is an exception: %v", member, has, without)
		}
	}
}

// sampleFlags returns a value for each flag of an option, and what the option is then.
func sampleFlags(t *testing.T) map[string]struct {
	args []string
	want string
} {
	t.Helper()
	file := filepath.Join(t.TempDir(), "vars")
	if err := os.WriteFile(file, []byte("# a comment\nFROM_FILE=a=b\nSECRET\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	type sample = struct {
		args []string
		want string
	}
	return map[string]sample{
		"model":                    {[]string{"--model", "opus"}, `"opus"`},
		"fallback_model":           {[]string{"--fallback-model", "haiku"}, `"haiku"`},
		"effort":                   {[]string{"--effort", "high"}, `"high"`},
		"thinking":                 {[]string{"--thinking", "adaptive"}, `"adaptive"`},
		"max_thinking_tokens":      {[]string{"--max-thinking-tokens", "9"}, `9`},
		"betas":                    {[]string{"--beta", "a", "--beta", "b"}, `["a","b"]`},
		"permission_mode":          {[]string{"--mode", "plan"}, `"plan"`},
		"allow_bypass":             {[]string{"--allow-bypass"}, `true`},
		"allowed_tools":            {[]string{"--allow", "Bash(a,b)"}, `["Bash(a,b)"]`},
		"disallowed_tools":         {[]string{"--deny", "Write"}, `["Write"]`},
		"sandbox":                  {[]string{"--sandbox", "strict"}, `"strict"`},
		"sandbox_auto_allow":       {[]string{"--sandbox-auto-allow"}, `true`},
		"tools":                    {[]string{"--tools", "Bash,Read"}, `["Bash","Read"]`},
		"tool_aliases":             {[]string{"--tool-alias", "Shell=Bash"}, `{"Shell":"Bash"}`},
		"add_dirs":                 {[]string{"--add-dir", dir}, `["` + dir + `"]`},
		"max_turns":                {[]string{"--max-turns", "3"}, `3`},
		"max_budget_usd":           {[]string{"--max-budget", "1.5"}, `1.5`},
		"task_budget":              {[]string{"--task-budget", "1000"}, `1000`},
		"question_deadline":        {[]string{"--question-deadline", "10m"}, `600`},
		"ask_plan_mode":            {[]string{"--ask-plan-mode"}, `true`},
		"resume_at_reset":          {[]string{"--resume-at-reset"}, `true`},
		"fresh":                    {[]string{"--fresh"}, `true`},
		"no_persistence":           {[]string{"--no-persistence"}, `true`},
		"name":                     {[]string{"--name", "N"}, `"N"`},
		"system_prompt":            {[]string{"--system-prompt", "S"}, `"S"`},
		"append_system_prompt":     {[]string{"--append-system-prompt", "A"}, `"A"`},
		"exclude_dynamic_sections": {[]string{"--exclude-dynamic-sections"}, `true`},
		"plan_mode_instructions":   {[]string{"--plan-mode-instructions", "P"}, `"P"`},
		"json_schema":              {[]string{"--schema", `{"type":"object"}`}, `{"type":"object"}`},
		"agent":                    {[]string{"--agent", "reviewer"}, `"reviewer"`},
		"agents":                   {[]string{"--agents", `{"r":{}}`}, `{"r":{}}`},
		"agent_progress_summaries": {[]string{"--agent-progress-summaries"}, `true`},
		"forward_subagent_text":    {[]string{"--forward-subagent-text"}, `true`},
		"mcp_servers":              {[]string{"--mcp-config", `{"mcpServers":{"n":{}}}`}, `{"n":{}}`},
		"strict_mcp":               {[]string{"--strict-mcp-config"}, `true`},
		"skills":                   {[]string{"--skill", "s"}, `["s"]`},
		"plugin_dirs":              {[]string{"--plugin-dir", dir}, `["` + dir + `"]`},
		"settings":                 {[]string{"--settings", `{"a":1}`}, `{"a":1}`},
		"setting_sources":          {[]string{"--setting-sources", ""}, `[]`},
		"prompt_suggestions":       {[]string{"--prompt-suggestions"}, `true`},
		"include_hook_events":      {[]string{"--include-hook-events"}, `true`},
		"supported_dialog_kinds":   {[]string{"--dialog-kind", "k"}, `["k"]`},
		"env":                      {[]string{"--env-file", file, "--env", "A=1", "--env", "SECRET"}, `{"A":"1","FROM_FILE":"a=b","SECRET":"hush"}`},
		"extra_args":               {[]string{"--extra-arg", "--debug", "--extra-arg", "level=2"}, `{"debug":null,"level":"2"}`},
	}
}

// requestOf returns what run would ask for with some arguments.
func requestOf(t *testing.T, args ...string) (*api.CreateSession, error) {
	t.Helper()
	v := &runCmd{}
	cmd := &cobra.Command{Use: "run"}
	e := &env{env: []string{"SECRET=hush"}}
	v.sessionFlags.flags(cmd, e, &v.hubFlags)
	if err := cmd.ParseFlags(append([]string{"--dir", t.TempDir()}, args...)); err != nil {
		t.Fatal(err)
	}
	return v.request(cmd, e, "")
}

// TestOptionFlagsSet sets each flag, which changes its option and no other.
func TestOptionFlagsSet(t *testing.T) {
	samples := sampleFlags(t)
	for _, name := range api.OptionNames() {
		sample, ok := samples[name]
		if !ok {
			t.Errorf("there is no sample for the flag of %s", name)
			continue
		}
		create, err := requestOf(t, sample.args...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		raw, err := json.Marshal(create.Options)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]json.RawMessage{name: json.RawMessage(sample.want)}
		if name == "json_schema" {
			want["max_turns"] = json.RawMessage("20") // Claude Code insists on a bound
		}
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(asMap(t, text), asMap(t, raw)); diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, sample.args, diff)
		}
	}
}

func asMap(t *testing.T, raw []byte) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestPresetFlags says which options of a preset do not apply.
func TestPresetFlags(t *testing.T) {
	create, err := requestOf(t, "--preset", "review", "--fresh=false", "--model", "", "--max-turns", "3", "--tools", "")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(create.Except)
	if create.Preset != "review" || !slices.Equal(create.Except, []string{"fresh", "model"}) || create.Options.MaxTurns != 3 || create.Options.Tools == nil {
		t.Errorf("%+v", create)
	}
	if create, err = requestOf(t, "--fresh=false"); err != nil || create.Except != nil {
		t.Errorf("%+v, %v; without a preset there are no exceptions", create, err)
	}
}

// TestBadOptionFlags says what is wrong with a flag, and shows no value that may be a secret.
func TestBadOptionFlags(t *testing.T) {
	file := filepath.Join(t.TempDir(), "vars")
	if err := os.WriteFile(file, []byte("A=1\n=hush\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--env", "=hush"}, "--env: a variable has no proper name"},
		{[]string{"--env", "NOT_SET"}, "NOT_SET isn't set here"},
		{[]string{"--env-file", file}, "vars:2: a variable has no proper name"},
		{[]string{"--env-file", "/nowhere/vars"}, "--env-file: open /nowhere/vars"},
		{[]string{"--tool-alias", "Shell"}, "NAME=TOOL"},
		{[]string{"--sandbox", "very strict"}, "off, deny-only or strict"},
		{[]string{"--question-deadline", "1ms"}, "whole seconds"},
		{[]string{"--mcp-config", `{"key":"hush"`}, "--mcp-config: not a JSON object"},
	} {
		_, err := requestOf(t, test.args...)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%v: %v, want %q", test.args, err, test.want)
		}
	}
}

// TestContinuedSessionsKeepOptions holds that run does not leave out, without a word, what a running agent cannot be given.
func TestContinuedSessionsKeepOptions(t *testing.T) {
	for _, flag := range []string{"--fresh", "--preset=review", "--env=A=1", "--max-turns=3"} {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), []string{"switchboard", "run", "--continue", flag, "hello"}, &env{stdin: strings.NewReader(""), stdout: &stdout, stderr: &stderr, env: []string{"HOME=" + t.TempDir()}})
		if code != codeUsage || !strings.Contains(stderr.String(), "is for new sessions") {
			t.Errorf("%s: code %d, %s", flag, code, &stderr)
		}
	}
}
