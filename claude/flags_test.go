package claude

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/wire"
)

const aUUID = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"

// base is what every CLI is given.
func base(more ...string) []string {
	return append([]string{
		"--output-format=stream-json", "--input-format=stream-json", "--verbose",
		"--permission-mode=default", "--permission-prompt-tool=stdio",
	}, more...)
}

func TestArgs(t *testing.T) {
	tests := []struct {
		name    string
		options Options
		want    []string
	}{
		{"nothing", Options{}, base()},
		{"mode", Options{PermissionMode: wire.PermissionModePlan}, []string{
			"--output-format=stream-json", "--input-format=stream-json", "--verbose",
			"--permission-mode=plan", "--permission-prompt-tool=stdio",
		}},
		{"prompt tool", Options{PermissionPromptTool: "mcp__a__b"}, []string{
			"--output-format=stream-json", "--input-format=stream-json", "--verbose",
			"--permission-mode=default", "--permission-prompt-tool=mcp__a__b",
		}},
		{"nobody is asked", Options{PermissionPromptTool: "none"}, []string{
			"--output-format=stream-json", "--input-format=stream-json", "--verbose", "--permission-mode=default",
		}},
		{"prompts", Options{PermissionPrompts: "none"}, base("--permission-prompts=none")},
		{"tools of the CLI", Options{Tools: []string{"default"}}, base("--tools=default")},
		{"every skill", Options{AllSkills: true, AllowedTools: []string{"Read"}}, base("--allowedTools=Read", "--allowedTools=Skill")},
		{"debug", Options{Debug: true}, base("--debug-to-stderr")},
		{"bypass", Options{AllowBypass: true}, base("--allow-dangerously-skip-permissions")},
		{"no tools", Options{Tools: []string{}}, base("--tools=")},
		{"tools", Options{Tools: []string{"Bash", "Read"}}, base("--tools=Bash", "--tools=Read")},
		{
			"rules",
			Options{AllowedTools: []string{"Bash(git log, a:*)", "Read"}, DisallowedTools: []string{"-x"}},
			base("--allowedTools=Bash(git log, a:*)", "--allowedTools=Read", "--disallowedTools=-x"),
		},
		{"directories", Options{AddDirs: []string{"/a b", "/c"}}, base("--add-dir=/a b", "--add-dir=/c")},
		{"models", Options{Model: "opus", FallbackModel: "sonnet"}, base("--model=opus", "--fallback-model=sonnet")},
		{"a value like a flag", Options{Model: "--dangerously-skip-permissions"}, base("--model=--dangerously-skip-permissions")},
		{
			"thinking",
			Options{Effort: "high", Thinking: "adaptive", ThinkingDisplay: "summarized"},
			base("--effort=high", "--thinking=adaptive", "--thinking-display=summarized"),
		},
		{
			"limits",
			Options{MaxThinkingTokens: 1024, MaxTurns: 3, MaxBudgetUSD: 0.25, TaskBudget: 1000},
			base("--max-thinking-tokens=1024", "--max-turns=3", "--task-budget=1000", "--max-budget-usd=0.25"),
		},
		{"betas and agent", Options{Betas: []string{"a", "b"}, Agent: "x"}, base("--betas=a", "--betas=b", "--agent=x")},
		{
			"resume",
			Options{Resume: "a title", ForkSession: true, SessionID: aUUID, ResumeSessionAt: "m", ResumeDropsTurn: "n"},
			base("--resume=a title", "--fork-session", "--session-id="+aUUID, "--resume-session-at=m", "--resume-drops-turn=n"),
		},
		{"continue", Options{Continue: true, NoSessionPersistence: true, Name: "x"}, base("--continue", "--no-session-persistence", "--name=x")},
		{"new conversation", Options{SessionID: aUUID}, base("--session-id=" + aUUID)},
		{
			"output",
			Options{
				IncludePartialMessages: true, ReplayUserMessages: true, IncludeHookEvents: true,
				ForwardSubagentText: true, SessionMirror: true, DebugFile: "/x",
			},
			base("--include-partial-messages", "--replay-user-messages", "--include-hook-events", "--forward-subagent-text", "--session-mirror", "--debug-file=/x"),
		},
		{
			"files",
			Options{SettingsFile: "/s", SettingSources: []string{"user", "local"}, MCPConfigFiles: []string{"/m", "/n"}, StrictMCPConfig: true},
			base("--settings=/s", "--setting-sources=user,local", "--mcp-config=/m", "--mcp-config=/n", "--strict-mcp-config"),
		},
		{"no settings files", Options{SettingSources: []string{}}, base("--setting-sources=")},
		{
			"plugins",
			Options{PluginDirs: []string{"/p"}, PluginDirsNoMCP: []string{"/q"}, ProjectConfigRoot: "/r"},
			base("--plugin-dir=/p", "--plugin-dir-no-mcp=/q", "--project-config-root=/r"),
		},
		{"managed", Options{ManagedSettings: json.RawMessage(`{ "a" : 1 }`)}, base(`--managed-settings={"a":1}`)},
		{
			"schema",
			Options{JSONSchema: json.RawMessage("{\n}"), DisableSlashCommands: true, Bare: true, AwaitInitialize: true},
			base("--json-schema={}", "--disable-slash-commands", "--bare", "--await-initialize"),
		},
		{"extra", Options{ExtraArgs: []string{"--brief", "--worktree=a\nb", "--x="}}, base("--brief", "--worktree=a\nb", "--x=")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := test.options.args(version(325), &privateFiles{parent: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got      %q\nexpected %q", got, test.want)
			}
		})
	}
}

func TestArgsForDialling(t *testing.T) {
	o := Options{SDKURL: "ws://127.0.0.1:8765/ws/cli/x", SDKToken: "t", SDKPost: true}
	got, err := o.args(version(120), &privateFiles{})
	want := []string{
		"--output-format=stream-json", "--input-format=stream-json", "--verbose",
		"--permission-mode=default", "--sdk-url=ws://127.0.0.1:8765/ws/cli/x",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
	env, err := o.environ(version(120), "", "marker-x")
	if err != nil || !slices.Contains(env, "CLAUDE_CODE_POST_FOR_SESSION_INGRESS_V2=1") {
		t.Errorf("the environment is %q, %v", env, err)
	}
}

func TestArgsInFiles(t *testing.T) {
	files := &privateFiles{parent: t.TempDir()}
	long := `{"mcpServers":{"x":"` + strings.Repeat("y", 1<<20) + `"}}`
	o := Options{MCPConfig: json.RawMessage(long), MCPConfigFiles: []string{"/m"}, Settings: json.RawMessage(`{}`)}
	got, err := o.args(wire.Version{}, files)
	if err != nil {
		t.Fatal(err)
	}
	settings, mcp := files.dir+"/settings.json", files.dir+"/mcp-config.json"
	if want := base("--settings="+settings, "--mcp-config="+mcp, "--mcp-config=/m"); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if data, err := os.ReadFile(mcp); err != nil || string(data) != long {
		t.Errorf("the file has %d bytes, %v", len(data), err)
	}
	if err := files.remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(files.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory is still there: %v", err)
	}
}

func TestRefusedOptions(t *testing.T) {
	tests := []struct {
		option  string
		options Options
		text    string
	}{
		{"FallbackModel", Options{Model: "a", FallbackModel: "a"}, "must differ"},
		{"MaxThinkingTokens", Options{Thinking: "adaptive", MaxThinkingTokens: 1}, "excludes Thinking"},
		{"MaxThinkingTokens", Options{MaxThinkingTokens: -1}, "negative"},
		{"MaxTurns", Options{MaxTurns: -1}, "negative"},
		{"TaskBudget", Options{TaskBudget: -1}, "negative"},
		{"MaxBudgetUSD", Options{MaxBudgetUSD: -1}, "amount of money"},
		{"Continue", Options{Resume: "x", Continue: true}, "excludes Resume"},
		{"ForkSession", Options{ForkSession: true}, "needs Resume"},
		{"SessionID", Options{SessionID: "x"}, "not a UUID"},
		{"SessionID", Options{Resume: "x", SessionID: aUUID}, "needs ForkSession"},
		{"SessionID", Options{Continue: true, SessionID: aUUID}, "needs ForkSession"},
		{"ResumeSessionAt", Options{ResumeSessionAt: "x"}, "needs Resume"},
		{"ResumeDropsTurn", Options{Resume: "x", ResumeDropsTurn: "x"}, "needs ResumeSessionAt"},
		{"AllowedTools", Options{AllowedTools: []string{"Read", " "}}, "empty entry"},
		{"Model", Options{Model: "a\x00b"}, "NUL"},
		{"SettingsFile", Options{Settings: json.RawMessage(`{}`), SettingsFile: "/x"}, "excludes Settings"},
		{"Settings", Options{Settings: json.RawMessage(`{`)}, "not JSON"},
		{"MCPConfig", Options{MCPConfig: json.RawMessage(`[]`)}, "not a JSON object"},
		{"JSONSchema", Options{JSONSchema: json.RawMessage(`"x"`)}, "not a JSON object"},
		{"JSONSchema", Options{JSONSchema: json.RawMessage(`{"x":"` + strings.Repeat("y", maxArg) + `"}`)}, "expected at most"},
		{"SDKToken", Options{SDKToken: "x"}, "needs SDKURL"},
		{"SDKPost", Options{SDKPost: true}, "needs SDKURL"},
		{"ExtraArgs", Options{ExtraArgs: []string{"-p"}}, "not of the form"},
		{"ExtraArgs", Options{ExtraArgs: []string{"a prompt"}}, "not of the form"},
		{"ExtraArgs", Options{ExtraArgs: []string{"--x y"}}, "not of the form"},
		{"ExtraArgs", Options{ExtraArgs: []string{"--"}}, "not of the form"},
		{"ExtraArgs", Options{ExtraArgs: []string{"--model=x"}}, "set by the option Model"},
		{"ExtraArgs", Options{ExtraArgs: []string{"--system-prompt=x"}}, "initialize request"},
		{"ExtraArgs", Options{ExtraArgs: []string{"--print"}}, "part of the protocol"},
		{"ExtraArgs", Options{ExtraArgs: []string{"--bg"}}, "leave this process"},
		{"ExtraArgs", Options{ExtraArgs: []string{"--x=a\x00"}}, "NUL"},
		{"Env", Options{Env: []string{"X"}}, "not of the form"},
		{"Env", Options{Env: []string{"X=a\x00b"}}, "not of the form"},
		{"Marker", Options{Marker: "x"}, "not 8 to 128"},
		{"SDKToken", Options{SDKURL: "ws://x/y", SDKToken: strings.Repeat("x", 5000)}, "longer than"},
	}
	cli := &CLI{Args: []string{"claude"}, Version: version(325)}
	for _, test := range tests {
		t.Run(test.option+" "+test.text, func(t *testing.T) {
			test.options.TempDir = t.TempDir()
			_, err := cli.Command(&test.options)
			var option *OptionError
			if !errors.As(err, &option) || option.Option != test.option || !strings.Contains(option.Reason, test.text) {
				t.Fatalf("the error is %v, expected %s: %s", err, test.option, test.text)
			}
			if left, err := os.ReadDir(test.options.TempDir); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v %v", left, err)
			}
		})
	}
	for _, url := range []string{"http://x/y", "ws:///x", "x", "ws://a:b@x/y", "ws://%zz"} {
		_, err := (&CLI{Args: []string{"claude"}, Version: version(120)}).Command(&Options{SDKURL: url})
		var option *OptionError
		if !errors.As(err, &option) || option.Option != "SDKURL" {
			t.Errorf("SDKURL %q: %v", url, err)
		}
	}
}

func TestUnsupportedByVersion(t *testing.T) {
	v37, v120, v325, unknown := version(37), version(120), version(325), wire.Version{}
	hooks, await := wire.FeatureOf(wire.FeatureFlag, "include-hook-events"), wire.FeatureOf(wire.FeatureFlag, "await-initialize")
	tests := []struct {
		feature     string
		options     Options
		refused, ok []wire.Version
	}{
		{"IncludeHookEvents", Options{IncludeHookEvents: true}, []wire.Version{v37, unknown, hooks.Without}, []wire.Version{hooks.Since, v120, v325}},
		{"Effort", Options{Effort: "high"}, []wire.Version{v37, unknown}, []wire.Version{v120, v325}},
		{"Thinking", Options{Thinking: "disabled"}, []wire.Version{v37, unknown}, []wire.Version{v120, v325}},
		{"ThinkingDisplay", Options{ThinkingDisplay: "x"}, []wire.Version{v37, unknown}, []wire.Version{v120, v325}},
		{"TaskBudget", Options{TaskBudget: 1}, []wire.Version{v37, unknown}, []wire.Version{v120, v325}},
		{"Name", Options{Name: "x"}, []wire.Version{v37, unknown}, []wire.Version{v120, v325}},
		{"Bare", Options{Bare: true}, []wire.Version{v37, unknown}, []wire.Version{v120, v325}},
		{"SessionMirror", Options{SessionMirror: true}, []wire.Version{v37, version(112), unknown}, []wire.Version{v120, v325}},
		{"ManagedSettings", Options{ManagedSettings: json.RawMessage(`{}`)}, []wire.Version{v37, v120, unknown}, []wire.Version{v325}},
		{"AwaitInitialize", Options{AwaitInitialize: true}, []wire.Version{v37, v120, await.Without}, []wire.Version{await.Since, v325}},
		{"ResumeDropsTurn", Options{Resume: "x", ResumeSessionAt: "y", ResumeDropsTurn: "z"}, []wire.Version{v37, v120}, []wire.Version{v325}},
		{"ForwardSubagentText", Options{ForwardSubagentText: true}, []wire.Version{v37, v120}, []wire.Version{v325, {Major: 2, Minor: 2}, {Major: 3}}},
		{"PluginDirsNoMCP", Options{PluginDirsNoMCP: []string{"x"}}, []wire.Version{v37, v120}, []wire.Version{v325}},
		{"ProjectConfigRoot", Options{ProjectConfigRoot: "x"}, []wire.Version{v37, v120}, []wire.Version{v325}},
		{"PermissionPrompts", Options{PermissionPrompts: "host"}, []wire.Version{v37, v120}, []wire.Version{v325}},
		{"QuestionPreviewFormat", Options{QuestionPreviewFormat: "html"}, []wire.Version{v37}, []wire.Version{v120, v325}},
		{"SDKURL", Options{SDKURL: "ws://x/y"}, []wire.Version{version(121), v325}, []wire.Version{v37, v120, unknown}},
		{"JSONSchema without", Options{JSONSchema: json.RawMessage(`{}`)}, []wire.Version{v37, v120, unknown}, []wire.Version{v325}},
		{"JSONSchema without MaxBudgetUSD", Options{JSONSchema: json.RawMessage(`{}`), MaxTurns: 3}, []wire.Version{v37, unknown}, []wire.Version{v120, v325}},
		{"permission mode auto", Options{PermissionMode: wire.PermissionModeAuto}, []wire.Version{v37, unknown}, []wire.Version{v120, v325}},
		{"permission mode manual", Options{PermissionMode: "manual"}, []wire.Version{v37, v120}, []wire.Version{v325}},
		{"permission mode delegate", Options{PermissionMode: "delegate"}, []wire.Version{v120, v325}, []wire.Version{v37}},
		{"", Options{JSONSchema: json.RawMessage(`{}`), MaxBudgetUSD: 5, MaxThinkingTokens: 1, PermissionMode: "of the future"}, nil, []wire.Version{v37, v120, v325, unknown}},
	}
	for _, test := range tests {
		for _, v := range test.ok {
			cmd, err := (&CLI{Args: []string{"claude"}, Version: v}).Command(&test.options)
			if err != nil {
				t.Errorf("%s with %s: %v", test.feature, v, err)
				continue
			}
			if err := cmd.Discard(); err != nil {
				t.Error(err)
			}
		}
		for _, v := range test.refused {
			_, err := (&CLI{Args: []string{"claude"}, Version: v}).Command(&test.options)
			var unsupported *UnsupportedError
			if !errors.As(err, &unsupported) || !strings.Contains(unsupported.Feature, test.feature) || unsupported.Version != v {
				t.Errorf("%s with %s: %v", test.feature, v, err)
			}
		}
	}
}

func TestUnsupportedErrorText(t *testing.T) {
	tests := []struct {
		err  UnsupportedError
		want string
	}{
		{
			UnsupportedError{Feature: "x", Version: version(37), Since: version(89)},
			"x is not supported by CLI 2.1.37, only since 2.1.89",
		},
		{
			UnsupportedError{Feature: "x", Version: version(325), Until: version(120), Hint: "do y"},
			"x is not supported by CLI 2.1.325, only up to 2.1.120: do y",
		},
		{UnsupportedError{Feature: "x", Since: version(89)}, "x is not supported by a CLI of unknown version, only since 2.1.89"},
		{UnsupportedError{Feature: "x", Hint: "do y"}, "x is not supported: do y"},
	}
	for _, test := range tests {
		if got := test.err.Error(); got != test.want {
			t.Errorf("got %q\nexpected %q", got, test.want)
		}
	}
}

// Every rule belongs to a field of Options that exists.
func TestFlagRulesNameOptions(t *testing.T) {
	options := reflect.TypeFor[Options]()
	for name, rule := range flagRules {
		if _, ok := options.FieldByName(rule.option); !ok {
			t.Errorf("--%s is set by the option %q, which does not exist", name, rule.option)
		}
		if _, ok := reservedFlags[name]; ok {
			t.Errorf("--%s is reserved", name)
		}
	}
	l := &flagList{}
	l.value("no-such-flag", "x")
	if l.err == nil || !strings.Contains(fmt.Sprint(l.err), "has no rule") {
		t.Errorf("a flag without a rule: %v", l.err)
	}
}
