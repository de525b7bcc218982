//go:build unix

package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

// commandOf returns the command for options without starting anything.
func commandOf(t *testing.T, c Config, version string, spec *Spec) (*claude.Command, error) {
	t.Helper()
	v, err := wire.ParseVersion(version)
	if err != nil {
		t.Fatal(err)
	}
	l := &Launcher{config: c, log: slog.New(slog.DiscardHandler)}
	spec.Dir, spec.Marker = t.TempDir(), "marker-of-a-test"
	return l.command(&agent{cli: &claude.CLI{Path: "/claude", Args: []string{"/claude"}, Version: v}, simulated: c.Agent == Simulator}, spec, &enclosure{}, t.TempDir())
}

// variables returns an environment as a session gives it.
func variables(env []string) map[string]string {
	all := map[string]string{}
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		all[name] = value
	}
	return all
}

// notFlags are the options of a session that the CLI gets no flag or variable for, and what becomes of them.
var notFlags = map[string]string{
	"SystemPrompt": "initialize", "AppendSystemPrompt": "initialize", "Agents": "initialize", "PlanModeInstructions": "initialize",
	"ToolAliases": "initialize", "Skills": "initialize", "PromptSuggestions": "initialize", "AgentProgressSummaries": "initialize",
	"ForwardSubagentText": "initialize", "ExcludeDynamicSections": "initialize", "SupportedDialogKinds": "initialize",
	"QuestionDeadline": "the hub", "AskPlanMode": "the hub", "ResumeAtReset": "the hub", "Fresh": "the hub",
	"Sandbox": "the hub, which makes Spec.Sandbox of it", "SandboxAutoAllow": "the hub",
}

// TestEveryOptionIsMapped sets one option of a session after the other and finds it in the options of the CLI.
func TestEveryOptionIsMapped(t *testing.T) {
	value := "v"
	values := map[reflect.Type]any{
		reflect.TypeFor[string](): "plan", reflect.TypeFor[bool](): true, reflect.TypeFor[int](): 7, reflect.TypeFor[float64](): 0.5,
		reflect.TypeFor[[]string](): []string{"x"}, reflect.TypeFor[json.RawMessage](): json.RawMessage(`{"x":{}}`),
		reflect.TypeFor[map[string]string](): map[string]string{"COLOUR": "blue"}, reflect.TypeFor[map[string]*string](): map[string]*string{"x": &value},
	}
	l := &Launcher{
		config: Config{Claude: Defaults{DangerouslySkipPermissions: true}, RawFlags: true, Env: []string{"IS_SANDBOX=1"}},
		log:    slog.New(slog.DiscardHandler),
	}
	newest := &agent{cli: &claude.CLI{Path: "/claude", Args: []string{"/claude"}, Version: wire.Version{Major: 2, Minor: 1, Patch: 325}}}
	with := func(o api.SessionOptions) *claude.Options {
		t.Helper()
		got, err := l.options(newest, &Spec{Dir: "/work", Options: o}, "/folder")
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	plain := with(api.SessionOptions{})
	known := map[string]bool{}
	for field := range reflect.TypeFor[api.SessionOptions]().Fields() {
		known[field.Name] = true
		to, ok := values[field.Type]
		if !ok {
			t.Fatalf("the test has no %s for %s", field.Type, field.Name)
		}
		var o api.SessionOptions
		reflect.ValueOf(&o).Elem().FieldByIndex(field.Index).Set(reflect.ValueOf(to))
		mapped := !reflect.DeepEqual(plain, with(o))
		switch where, not := notFlags[field.Name]; {
		case !mapped && !not:
			t.Errorf("nothing is done with the option %s", field.Name)
		case mapped && not:
			t.Errorf("the option %s becomes a flag or a variable, and is said to be for %s", field.Name, where)
		}
	}
	for name := range notFlags {
		if !known[name] {
			t.Errorf("there is no option %s", name)
		}
	}
}

func TestOptions(t *testing.T) {
	always := []string{"--permission-prompt-tool=stdio", "--include-partial-messages", "--replay-user-messages"}
	const uuid, fork = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
	tests := []struct {
		name     string
		defaults Defaults
		spec     Spec
		want     []string
		not      []string // prefixes
	}{
		{"nothing", Defaults{}, Spec{}, []string{"--permission-mode=default"}, []string{"--model", "--allowedTools", "--resume", "--session-id", "--allow-dangerously"}},
		{
			"defaults",
			Defaults{Model: "opus", AllowedTools: []string{"Read", "Edit"}, PermissionMode: "plan"},
			Spec{},
			[]string{"--permission-mode=plan", "--model=opus", "--allowedTools=Read", "--allowedTools=Edit"},
			nil,
		},
		{
			"both",
			Defaults{Model: "opus", AllowedTools: []string{"Read"}, PermissionMode: "plan"},
			Spec{Options: api.SessionOptions{Model: "haiku", AllowedTools: []string{"Read", "Bash(ls:*)"}, PermissionMode: "acceptEdits"}},
			[]string{"--permission-mode=acceptEdits", "--model=haiku", "--allowedTools=Read", "--allowedTools=Bash(ls:*)"},
			[]string{"--model=opus"},
		},
		{
			"bypass",
			Defaults{DangerouslySkipPermissions: true},
			Spec{Options: api.SessionOptions{PermissionMode: "bypassPermissions", Env: map[string]string{"IS_SANDBOX": "1"}}},
			[]string{"--permission-mode=bypassPermissions"},
			nil,
		},
		{
			"bypass by settings and sub-agents",
			Defaults{DangerouslySkipPermissions: true},
			Spec{Options: api.SessionOptions{
				Settings: json.RawMessage(`{"permissions":{"defaultMode":"bypassPermissions"}}`), Env: map[string]string{"IS_SANDBOX": "1"},
			}, BypassingAgents: true},
			[]string{"--permission-mode=default"},
			nil,
		},
		{
			"settings that need no consent",
			Defaults{},
			Spec{Options: api.SessionOptions{Settings: json.RawMessage(
				`{"permissions":{"defaultMode":"acceptEdits","allow":["Bash"],"additionalDirectories":["/x"],"disableBypassPermissionsMode":"disable"},"hooks":{},"apiKeyHelper":"/k","env":{"A":"b"}}`)}},
			[]string{"--permission-mode=default"},
			nil,
		},
		{
			"bypass later",
			Defaults{DangerouslySkipPermissions: true},
			Spec{Options: api.SessionOptions{AllowBypass: true, Env: map[string]string{"IS_SANDBOX": "1"}}},
			[]string{"--permission-mode=default", "--allow-dangerously-skip-permissions"},
			nil,
		},
		{"allowed and not asked for", Defaults{DangerouslySkipPermissions: true}, Spec{}, []string{"--permission-mode=default"}, []string{"--allow-dangerously"}},
		{"new conversation", Defaults{}, Spec{SessionID: uuid}, []string{"--session-id=" + uuid}, []string{"--resume"}},
		{"resume", Defaults{}, Spec{Resume: uuid}, []string{"--resume=" + uuid}, []string{"--fork-session", "--session-id"}},
		{
			"fork",
			Defaults{},
			Spec{Resume: uuid, ResumeAt: fork, Fork: true, SessionID: fork},
			[]string{"--resume=" + uuid, "--fork-session", "--resume-session-at=" + fork, "--session-id=" + fork},
			nil,
		},
		{"the rest", Defaults{}, Spec{Options: api.SessionOptions{
			FallbackModel: "sonnet", Tools: []string{"Bash"}, DisallowedTools: []string{"WebFetch"}, AddDirs: []string{"/x"},
			MaxTurns: 3, MaxBudgetUSD: 0.5, MaxThinkingTokens: 7, Agent: "lead", JSONSchema: []byte(`{"type":"object"}`),
		}}, []string{
			"--fallback-model=sonnet", "--tools=Bash", "--disallowedTools=WebFetch", "--add-dir=/x", "--max-turns=3", "--max-budget-usd=0.5",
			"--max-thinking-tokens=7", "--agent=lead", `--json-schema={"type":"object"}`,
		}, nil},
	}
	for _, test := range tests {
		for _, version := range []string{"2.1.37", "2.1.120", "2.1.325"} {
			t.Run(test.name+" "+version, func(t *testing.T) {
				command, err := commandOf(t, Config{Claude: test.defaults}, version, &test.spec)
				if err != nil {
					t.Fatal(err)
				}
				if !has(command.Args, append(test.want, always...)...) {
					t.Errorf("the arguments are %q", command.Args)
				}
				for _, prefix := range test.not {
					if slices.ContainsFunc(command.Args, func(arg string) bool { return strings.HasPrefix(arg, prefix) }) {
						t.Errorf("the arguments %q have %s", command.Args, prefix)
					}
				}
				// Left to itself the CLI would take the mode from some settings.
				modes := slices.DeleteFunc(slices.Clone(command.Args), func(arg string) bool { return !strings.HasPrefix(arg, "--permission-mode=") })
				if len(modes) != 1 || modes[0] == "--permission-mode=" {
					t.Errorf("the mode is told as %q", modes)
				}
				if n := len(slices.Compact(slices.Sorted(slices.Values(command.Args)))); n != len(command.Args) {
					t.Errorf("the arguments %q say something twice", command.Args)
				}
			})
		}
	}
}

func TestOptionsByVersion(t *testing.T) {
	for version, want := range map[string]bool{"2.1.37": false, "2.1.120": true, "2.1.325": true} {
		command, err := commandOf(t, Config{}, version, &Spec{Options: api.SessionOptions{Name: "A title"}})
		if err != nil {
			t.Fatal(err)
		}
		if got := has(command.Args, "--name=A title"); got != want {
			t.Errorf("%s is given its title: %v", version, got)
		}
	}
	// What a version does not have is refused by name.
	_, err := commandOf(t, Config{}, "2.1.37", &Spec{Options: api.SessionOptions{Effort: "high"}})
	if e, ok := errors.AsType[*StartError](err); !ok || e.Code != BadOption || !strings.Contains(err.Error(), "2.1.37") {
		t.Errorf("the error is %v", err)
	}
	_, err = commandOf(t, Config{}, "2.1.37", &Spec{Options: api.SessionOptions{JSONSchema: []byte(`{}`)}})
	if e, ok := errors.AsType[*StartError](err); !ok || e.Code != BadOption || !strings.Contains(err.Error(), "MaxBudgetUSD") {
		t.Errorf("a schema without a limit: %v", err)
	}
}

func TestBypassAsRoot(t *testing.T) {
	spec := &Spec{Options: api.SessionOptions{PermissionMode: string(wire.PermissionModeBypassPermissions)}}
	_, err := commandOf(t, Config{Claude: Defaults{DangerouslySkipPermissions: true}}, "2.1.325", spec)
	if refused := err != nil; refused != (os.Geteuid() == 0) {
		t.Errorf("as user %d: %v", os.Geteuid(), err)
	}
	if _, err := commandOf(t, Config{Env: []string{"IS_SANDBOX=1"}, Claude: Defaults{DangerouslySkipPermissions: true}}, "2.1.325", spec); err != nil {
		t.Errorf("in a sandbox: %v", err)
	}
}

func TestPrivateFiles(t *testing.T) {
	servers, settings := `{"db":{"command":"x","env":{"PASSWORD":"p"}}}`, `{"permissions":{"deny":["WebFetch"]}}`
	command, err := commandOf(t, Config{}, "2.1.325", &Spec{Options: api.SessionOptions{MCPServers: json.RawMessage(servers), Settings: json.RawMessage(settings)}})
	if err != nil {
		t.Fatal(err)
	}
	for flag, want := range map[string]string{"--mcp-config=": `{"mcpServers":` + servers + `}`, "--settings=": settings} {
		if got := fileOf(t, command, flag); got != want {
			t.Errorf("%s has %s", flag, got)
		}
	}
}

// fileOf returns the content of the private file that a flag names, "" if there
// is no such flag.
func fileOf(t *testing.T, command *claude.Command, flag string) string {
	t.Helper()
	i := slices.IndexFunc(command.Args, func(arg string) bool { return strings.HasPrefix(arg, flag) })
	if i < 0 {
		return ""
	}
	path := strings.TrimPrefix(command.Args[i], flag)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%s: %v, %v", flag, info, err)
	}
	return string(data)
}

// valuesOf returns the values of a flag that may stand more than once.
func valuesOf(command *claude.Command, flag string) []string {
	var values []string
	for _, arg := range command.Args {
		if value, ok := strings.CutPrefix(arg, flag); ok {
			values = append(values, value)
		}
	}
	return values
}

func TestRulesForTheCLI(t *testing.T) {
	for _, test := range []struct {
		name  string
		spec  Spec
		want  string   // the settings
		flags []string // what is denied without them
	}{
		{"none", Spec{}, "", nil},
		{"none of ours", Spec{Options: api.SessionOptions{Settings: json.RawMessage(`{"model":"x"}`)}}, `{"model":"x"}`, nil},
		{
			"only ours",
			Spec{Deny: []string{"Read(//d/**)"}, Ask: []string{"WebFetch"}},
			`{"permissions":{"deny":["Read(//d/**)"],"ask":["WebFetch"]}}`,
			[]string{"Read(//d/**)"},
		},
		{
			"both",
			Spec{Deny: []string{"A", "C"}, Options: api.SessionOptions{Settings: json.RawMessage(`{"permissions":{"deny":["B"]},"model":"x"}`), DisallowedTools: []string{"C", "D"}}},
			`{"permissions":{"deny":["B","A","C"]},"model":"x"}`,
			[]string{"C", "D", "A"},
		},
		{
			"what a flag would take apart",
			Spec{Deny: []string{"Bash(a, b:*)", "Read(//x (y), Bash/**)", `Bash(echo \(\))`}},
			`{"permissions":{"deny":["Bash(a, b:*)","Read(//x (y), Bash/**)","Bash(echo \\(\\))"]}}`,
			[]string{"Bash(a, b:*)"},
		},
	} {
		for _, version := range []string{"2.1.37", "2.1.120", "2.1.325"} {
			command, err := commandOf(t, Config{}, version, &test.spec)
			if err != nil {
				t.Fatal(err)
			}
			if got := fileOf(t, command, "--settings="); got != test.want {
				t.Errorf("%s, %s: the settings are %s", test.name, version, got)
			}
			if got := valuesOf(command, "--disallowedTools="); !slices.Equal(got, test.flags) {
				t.Errorf("%s, %s: disallowed are %q", test.name, version, got)
			}
		}
	}

	// An old CLI would leave all of them aside because of one.
	spec := &Spec{Deny: []string{"Read(//a*b/c)", "A", "Bash(("}, Ask: []string{"bash", "B"}}
	for version, want := range map[string]string{
		"2.1.37":  `{"permissions":{"deny":["A"],"ask":["B"]}}`,
		"2.1.119": `{"permissions":{"deny":["A"],"ask":["B"]}}`,
		"2.1.120": `{"permissions":{"deny":["Read(//a*b/c)","A","Bash(("],"ask":["bash","B"]}}`,
	} {
		command, err := commandOf(t, Config{}, version, spec)
		if err != nil {
			t.Fatal(err)
		}
		if got := fileOf(t, command, "--settings="); got != want {
			t.Errorf("%s: the settings are %s", version, got)
		}
		if got := valuesOf(command, "--disallowedTools="); !slices.Equal(got, []string{"Read(//a*b/c)", "A"}) {
			t.Errorf("%s: disallowed are %q", version, got)
		}
	}
	if want := []string{"Read(//a*b/c)", "A", "Bash(("}; !slices.Equal(spec.Deny, want) {
		t.Errorf("the caller's rules were changed: %q", spec.Deny)
	}

	_, err := commandOf(t, Config{}, "2.1.325", &Spec{Ask: []string{"A"}, Options: api.SessionOptions{Settings: json.RawMessage(`{"permissions":[]}`)}})
	if e, ok := errors.AsType[*StartError](err); !ok || e.Code != BadOption || !strings.Contains(err.Error(), "permissions") {
		t.Errorf("settings that take no rules: %v", err)
	}
}

// TestManyRules has more rules than the system takes as arguments.
func TestManyRules(t *testing.T) {
	spec := &Spec{Deny: []string{"Read(//a*b/c)"}}
	for i := range 20_000 {
		spec.Deny = append(spec.Deny, fmt.Sprintf("Read(//home/ann/some/folder/with/a/name/%d/**)", i))
	}
	for version, flags := range map[string][]string{"2.1.37": {"Read(//a*b/c)"}, "2.1.325": nil} {
		command, err := commandOf(t, Config{}, version, spec)
		if err != nil {
			t.Fatal(err)
		}
		if got := valuesOf(command, "--disallowedTools="); !slices.Equal(got, flags) {
			t.Errorf("%s: %d rules are given by flags", version, len(got))
		}
		if got := fileOf(t, command, "--settings="); strings.Count(got, "Read(//home/") != 20_000 {
			t.Errorf("%s: the settings have %d rules", version, strings.Count(got, "Read(//home/"))
		}
	}
	// Its own settings could spoil the rules, and there is no second way.
	spec.Options.Settings = json.RawMessage(`{"cleanupPeriodDays":"x"}`)
	_, err := commandOf(t, Config{}, "2.1.325", spec)
	if e, ok := errors.AsType[*StartError](err); !ok || e.Code != BadOption || !strings.Contains(err.Error(), "too many rules") {
		t.Errorf("with settings of its own: %v", err)
	}
}

func TestEnvironment(t *testing.T) {
	inherited := []string{
		"PATH=/bin", "HOME=/h", "PWD=/old", "ANTHROPIC_API_KEY=key", "CLAUDE_CODE_REMOTE=1", "LISTEN_FDS=1", "INVOCATION_ID=x",
		"SWITCHBOARD_SIM_SCRIPT=demo", "SWITCHBOARD_TOKEN=x", "A=1",
	}
	tests := []struct {
		name      string
		config    Config
		extra     []string
		want, not []string
	}{
		{
			"plain",
			Config{},
			nil,
			[]string{"PATH=/bin", "HOME=/h", "A=1"},
			[]string{"PWD=/old", "ANTHROPIC_API_KEY=key", "CLAUDE_CODE_REMOTE=1", "LISTEN_FDS=1", "INVOCATION_ID=x", "SWITCHBOARD_SIM_SCRIPT=demo", "SWITCHBOARD_TOKEN=x"},
		},
		{"billing", Config{Claude: Defaults{UseAPIBilling: true}}, nil, []string{"ANTHROPIC_API_KEY=key"}, nil},
		{"own key", Config{}, []string{"ANTHROPIC_API_KEY=own"}, []string{"ANTHROPIC_API_KEY=own"}, []string{"ANTHROPIC_API_KEY=key"}},
		{"own value", Config{}, []string{"A=2"}, []string{"A=2"}, []string{"A=1"}},
		{"simulated", Config{Agent: Simulator}, nil, []string{"SWITCHBOARD_SIM_SCRIPT=demo"}, []string{"SWITCHBOARD_TOKEN=x"}},
		{"simulated, own script", Config{Agent: Simulator}, []string{"SWITCHBOARD_SIM_SCRIPT=x"}, []string{"SWITCHBOARD_SIM_SCRIPT=x"}, []string{"SWITCHBOARD_SIM_SCRIPT=demo"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.config.Env = slices.Clone(inherited)
			spec := &Spec{Options: api.SessionOptions{Env: variables(test.extra)}}
			command, err := commandOf(t, test.config, "2.1.325", spec)
			if err != nil {
				t.Fatal(err)
			}
			if !has(command.Env, append(test.want, "PWD="+spec.Dir)...) {
				t.Errorf("the environment is %q", command.Env)
			}
			for _, entry := range test.not {
				if slices.Contains(command.Env, entry) {
					t.Errorf("the environment has %s", entry)
				}
			}
			if !slices.Equal(test.config.Env, inherited) {
				t.Errorf("the configuration was changed: %q", test.config.Env)
			}
		})
	}
}

// TestEnvironmentDocument compares what is taken out with what the
// documentation says.
func TestEnvironmentDocument(t *testing.T) {
	text, err := os.ReadFile("../../docs/environment.md")
	if err != nil {
		t.Fatal(err)
	}
	var written []string
	_, section, found := strings.Cut(string(text), "\n## Removed\n")
	section, _, _ = strings.Cut(section, "\n## ")
	if !found {
		t.Fatal("docs/environment.md has no section «Removed»")
	}
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			for i, part := range strings.Split(cells[1], "`") {
				if i%2 == 1 {
					written = append(written, part)
				}
			}
		}
	}
	want := strippedEnv()
	for _, name := range want {
		if !slices.Contains(written, name) {
			t.Errorf("docs/environment.md does not say that %s is removed", name)
		}
	}
	for _, name := range written {
		if !slices.Contains(want, name) {
			t.Errorf("docs/environment.md says that %s is removed, which it is not", name)
		}
	}
	for _, name := range []string{
		"CLAUDE_CODE_SESSION_ACCESS_TOKEN", "CLAUDE_CODE_WEBSOCKET_AUTH_FILE_DESCRIPTOR", "CLAUDE_CODE_POST_FOR_SESSION_INGRESS_V2",
		"CLAUDE_CODE_ENVIRONMENT_RUNNER_VERSION", "CLAUDE_CODE_REMOTE", "CLAUDE_CODE_REMOTE_SESSION_ID", "CLAUDE_CODE_CONTAINER_ID",
	} {
		if !matches(want, name) || !strings.Contains(string(text), name) {
			t.Errorf("%s is not removed, or docs/environment.md says nothing about it", name)
		}
	}
}

// strippedEnv lists the variables that an agent does not inherit from the hub.
func strippedEnv() []string { return slices.Concat(claude.StrippedEnv(), serviceEnv[:]) }

func TestConfigDir(t *testing.T) {
	for _, test := range []struct {
		agent      string
		env, extra []string
		want       string
	}{
		{"", []string{"HOME=/h"}, nil, "/h/.claude"},
		{"", []string{"HOME=/h", "CLAUDE_CONFIG_DIR=/c"}, nil, "/c"},
		{"", []string{"HOME=/h", "CLAUDE_CONFIG_DIR=/c"}, []string{"CLAUDE_CONFIG_DIR=/own"}, "/own"},
		// The simulated CLI must not write among the conversations of the real one.
		{Simulator, []string{"HOME=/h"}, nil, "/data/sim"},
		{Simulator, []string{"HOME=/h", "CLAUDE_CONFIG_DIR=/c"}, nil, "/data/sim"},
		{Simulator, []string{"HOME=/h"}, []string{"CLAUDE_CONFIG_DIR=/own"}, "/own"},
	} {
		l := &Launcher{config: Config{Env: test.env, DataDir: "/data", Agent: test.agent}}
		spec := &Spec{Dir: "/work", Options: api.SessionOptions{Env: variables(test.extra)}}
		if got := l.ConfigDir(spec); got != test.want {
			t.Errorf("%v, %v: %s", test.env, test.extra, got)
		}
		env, err := l.environ(&agent{simulated: test.agent == Simulator}, spec)
		if err != nil {
			t.Fatal(err)
		}
		if got := wire.ConfigDir(func(name string) string { return get(env, name) }, get(env, "HOME")); got != test.want {
			t.Errorf("%v, %v: the CLI is given %s", test.env, test.extra, got)
		}
	}
}

func TestAgents(t *testing.T) {
	linked := install(t)
	b := newLab(t, func(c *Config) { c.Agent = linked })
	find := func(name string) *Agent {
		t.Helper()
		a, err := b.Agent(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	newest := wire.Version{Major: 2, Minor: 1, Patch: 325}
	if a := find(""); a.Path != linked || a.Version != newest || !a.Simulated {
		t.Errorf("the configured agent is %+v", a)
	}
	if a := find(Simulator); a.Path != b.config.Program || a.Version != newest || !a.Simulated {
		t.Errorf("the simulated agent is %+v", a)
	}
	b.config.Env = append(b.config.Env, simVersion+"=2.1.37")
	if a := find(Simulator); a.Version.Patch != 37 {
		t.Errorf("the simulated agent is %+v", a)
	}
	b.config.Env = append(b.config.Env, simVersion+"=nine")
	if _, err := b.Agent(t.Context(), Simulator); err == nil {
		t.Error("a version that is none is taken")
	}
	other := filepath.Join(t.TempDir(), "claude")
	if err := os.WriteFile(other, []byte("#!/bin/sh\necho '2.1.120 (Claude Code)'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if a := find(other); a.Version.Patch != 120 || a.Simulated {
		t.Errorf("another agent is %+v", a)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Agent(ctx, other); !errors.Is(err, context.Canceled) {
		t.Errorf("a search that is given up: %v", err)
	}
}
