package claude

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// sent returns the initialize request that options lead to, without its subtype.
func sent(t *testing.T, o *Options, v wire.Version, hooks map[string][]wire.HookMatcher) string {
	t.Helper()
	r, err := o.initializeRequest(v, hooks)
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Replace(string(body), `"subtype":"initialize",`, "", 1)
}

func TestInitializeRequest(t *testing.T) {
	v37, v120, v325, unknown := version(37), version(120), version(325), wire.Version{}
	all := []wire.Version{v37, v120, v325, unknown}
	tests := []struct {
		name    string
		options Options
		want    string
		in      []wire.Version
	}{
		{"nothing", Options{}, `{"subtype":"initialize"}`, all},
		{"a system prompt as a text", Options{SystemPrompt: "a"}, `{"systemPrompt":"a"}`, []wire.Version{v37, unknown, wire.FeatureOf(wire.FeatureInitialize, "systemPrompt[]").Without}},
		{"a system prompt as a list", Options{SystemPrompt: "a"}, `{"systemPrompt":["a"]}`, []wire.Version{v120, v325}},
		{"parts as a text", Options{SystemPromptParts: []string{"a", "b"}}, `{"systemPrompt":"a\n\nb"}`, []wire.Version{v37, unknown}},
		{"parts", Options{SystemPromptParts: []string{"a", "b"}}, `{"systemPrompt":["a","b"]}`, []wire.Version{v120, v325}},
		{"no system prompt as a text", Options{SystemPromptParts: []string{""}}, `{"systemPrompt":""}`, []wire.Version{v37}},
		{"no system prompt", Options{SystemPromptParts: []string{""}}, `{"systemPrompt":[""]}`, []wire.Version{v325}},
		{"appended", Options{AppendSystemPrompt: "a"}, `{"appendSystemPrompt":"a"}`, all},
		{"schema", Options{JSONSchema: json.RawMessage(`{"type":"object"}`)}, `{"jsonSchema":{"type":"object"}}`, all},
		{
			"agents",
			Options{Agents: map[string]wire.AgentDefinition{"x": {Description: "d", Prompt: "p"}}},
			`{"agents":{"x":{"description":"d","prompt":"p"}}}`, all,
		},
		{"servers", Options{MCPServers: map[string]MCPServer{"b": stubServer{}, "a": stubServer{}}}, `{"sdkMcpServers":["a","b"]}`, all},
		{
			"since 2.1.120",
			Options{
				ExcludeDynamicSections: true, PlanModeInstructions: "a", Skills: []string{"s"}, Title: "t",
				PromptSuggestions: true, AgentProgressSummaries: true, ForwardSubagentText: true,
			},
			`{"planModeInstructions":"a","excludeDynamicSections":true,"title":"t","skills":["s"],` +
				`"promptSuggestions":true,"agentProgressSummaries":true,"forwardSubagentText":true}`,
			[]wire.Version{v120, v325},
		},
		{"no skills", Options{Skills: []string{}}, `{"skills":[]}`, []wire.Version{v120, v325}},
		{
			"since 2.1.325",
			Options{
				SystemPromptSnapshot: true, ToolAliases: map[string]string{"a": "b"}, PerTaskStopAffordance: true, Pull: true,
				DialogKinds: []string{"k"}, PluginsByInitialize: true, PluginDirs: []string{"/p"}, PluginDirsNoMCP: []string{"/q"},
			},
			`{"systemPromptSnapshot":true,"toolAliases":{"a":"b"},"supportedDialogKinds":["k"],"perTaskStopAffordance":true,` +
				`"plugins":[{"type":"local","path":"/p"},{"type":"local","path":"/q","skipMcpDiscovery":true}]}`,
			[]wire.Version{v325, {Major: 2, Minor: 2}},
		},
		{
			"a manifest",
			Options{
				MCPServers:         map[string]MCPServer{"a": stubServer{}},
				MCPServerManifests: map[string]wire.SDKMCPServerManifest{"a": {InitializeResult: json.RawMessage(`{}`)}},
			},
			`{"sdkMcpServers":["a"],"sdkMcpServerManifests":{"a":{"initializeResult":{}}},"sdkMcpServerManifestsOrigin":"host_per_send"}`,
			[]wire.Version{v325},
		},
		{
			"the servers' own wishes",
			Options{MCPServers: map[string]MCPServer{"a": wishfulServer{}, "b": wishfulServer{}, "c": stubServer{}}, MCPServerConfigs: map[string]wire.SDKMCPServerConfig{"b": {Timeout: 7}}},
			`{"sdkMcpServers":["a","b","c"],"sdkMcpServerConfigs":{"a":{"timeout":5},"b":{"timeout":7}}}`,
			[]wire.Version{v325},
		},
		{"wishes that are not known", Options{MCPServers: map[string]MCPServer{"a": wishfulServer{}}}, `{"sdkMcpServers":["a"]}`, []wire.Version{v37, v120, unknown}},
	}
	for _, test := range tests {
		for _, v := range test.in {
			t.Run(test.name+" "+v.String(), func(t *testing.T) {
				if got := sent(t, &test.options, v, nil); got != test.want {
					t.Errorf("got      %s\nexpected %s", got, test.want)
				}
			})
		}
	}
}

// An empty object of hooks would remove those of somebody else.
func TestInitializeRequestHooks(t *testing.T) {
	if got := sent(t, &Options{}, version(325), map[string][]wire.HookMatcher{}); strings.Contains(got, "hooks") {
		t.Errorf("got %s", got)
	}
	hooks := map[string][]wire.HookMatcher{"Stop": {{HookCallbackIDs: []string{"h"}}}}
	if got := sent(t, &Options{}, version(37), hooks); !strings.Contains(got, `"hooks":{"Stop":[{`) || !strings.Contains(got, `"hookCallbackIds":["h"]`) {
		t.Errorf("got %s", got)
	}
}

type stubServer struct{}

func (stubServer) Connect(context.Context, func(context.Context, json.RawMessage) error) (MCPConnection, error) {
	return nil, errors.ErrUnsupported
}

type wishfulServer struct{ stubServer }

func (wishfulServer) MCPConfig() wire.SDKMCPServerConfig { return wire.SDKMCPServerConfig{Timeout: 5} }

func TestUnsupportedSessionOptions(t *testing.T) {
	servers := map[string]MCPServer{"a": stubServer{}}
	tests := []struct {
		option  string
		options Options
		member  string // of the initialize request
	}{
		{"ExcludeDynamicSections", Options{ExcludeDynamicSections: true}, "excludeDynamicSections"},
		{"PlanModeInstructions", Options{PlanModeInstructions: "x"}, "planModeInstructions"},
		{"Skills", Options{Skills: []string{}}, "skills"},
		{"Title", Options{Title: "x"}, "title"},
		{"PromptSuggestions", Options{PromptSuggestions: true}, "promptSuggestions"},
		{"AgentProgressSummaries", Options{AgentProgressSummaries: true}, "agentProgressSummaries"},
		{"ForwardSubagentText", Options{ForwardSubagentText: true}, "forwardSubagentText"},
		{"SystemPromptSnapshot", Options{SystemPromptSnapshot: true}, "systemPromptSnapshot"},
		{"ToolAliases", Options{ToolAliases: map[string]string{"a": "b"}}, "toolAliases"},
		{"PerTaskStopAffordance", Options{PerTaskStopAffordance: true}, "perTaskStopAffordance"},
		{"PluginsByInitialize", Options{PluginsByInitialize: true}, "plugins"},
		{"DialogKinds", Options{DialogKinds: []string{"x"}, Pull: true}, "supportedDialogKinds"},
		{"MCPServerConfigs", Options{MCPServers: servers, MCPServerConfigs: map[string]wire.SDKMCPServerConfig{"a": {}}}, "sdkMcpServerConfigs"},
		{"MCPServerManifests", Options{MCPServers: servers, MCPServerManifests: map[string]wire.SDKMCPServerManifest{"a": {}}}, "sdkMcpServerManifests"},
		{"VerbatimPrompts", Options{VerbatimPrompts: true}, ""},
	}
	for _, test := range tests {
		feature := wire.FeatureOf(wire.FeatureInitialize, test.member)
		if test.member == "" {
			feature = wire.FeatureOf(wire.FeatureMember, "user.client_composed")
		}
		for _, v := range []wire.Version{version(37), feature.Without, {}} {
			test.options.CLI = &CLI{Args: []string{"/no/such/program"}, Version: v}
			_, err := test.options.startProcess(t.Context())
			if e, ok := errors.AsType[*UnsupportedError](err); !ok || e.Feature != "option "+test.option || e.Since != feature.Since || e.Version != v {
				t.Errorf("%s with %s: %v", test.option, v, err)
			}
		}
		test.options.CLI = &CLI{Args: []string{"/no/such/program"}, Version: version(325)}
		if _, err := test.options.startProcess(t.Context()); err == nil || !strings.Contains(err.Error(), "does not exist") {
			t.Errorf("%s with 2.1.325: %v", test.option, err)
		}
	}
}

func TestRefusedSessionOptions(t *testing.T) {
	tests := []struct {
		option  string
		options Options
		text    string
	}{
		{"SystemPromptParts", Options{SystemPrompt: "a", SystemPromptParts: []string{"b"}}, "excludes"},
		{"ExcludeDynamicSections", Options{SystemPrompt: "a", ExcludeDynamicSections: true}, "own system prompt"},
		{"DialogKinds", Options{DialogKinds: []string{"k"}}, "needs OnQuestion or Pull"},
		{"DialogKinds", Options{DialogKinds: []string{" "}, Pull: true}, "empty entry"},
		{"AllSkills", Options{AllSkills: true, Skills: []string{}}, "excludes Skills"},
		{"Backlog", Options{Backlog: -1}, "negative"},
		{"MCPServers", Options{MCPServers: map[string]MCPServer{"": stubServer{}}}, "no name"},
		{"MCPServers", Options{MCPServers: map[string]MCPServer{"a": nil}}, "is nil"},
		{"MCPServerConfigs", Options{MCPServerConfigs: map[string]wire.SDKMCPServerConfig{"a": {}}}, `no server "a"`},
		{"MCPServerManifests", Options{MCPServerManifests: map[string]wire.SDKMCPServerManifest{"a": {}}}, `no server "a"`},
		{"Agents", Options{Agents: map[string]wire.AgentDefinition{"": {}}}, "no name"},
		{"PluginDirs", Options{PluginDirs: []string{""}}, "empty entry"},
		{"JSONSchema", Options{JSONSchema: json.RawMessage(`[]`)}, "not a JSON object"},
		{"JSONSchema", Options{JSONSchema: json.RawMessage(`{`)}, "not a JSON object"},
		{"SDKURL", Options{SDKURL: "ws://x/y"}, "use NewSession"},
		{"Skills", Options{Skills: []string{""}}, "is empty"},
		{"Skills", Options{Skills: []string{" a"}}, "begins or ends with space"},
		{"Skills", Options{Skills: []string{"a\n"}}, "begins or ends with space"},
		{"Skills", Options{Skills: []string{"/a"}}, "begins with a slash"},
		{"Skills", Options{Skills: []string{"a)"}}, "contains a bracket"},
		{"Skills", Options{Skills: []string{"a,b"}}, "a comma"},
		{"Skills", Options{Skills: []string{"*"}}, "a star"},
		{"Skills", Options{Skills: []string{"a\x01b"}}, "control character"},
	}
	for _, test := range tests {
		t.Run(test.option+" "+test.text, func(t *testing.T) {
			test.options.CLI = &CLI{Args: []string{"/no/such/program"}, Version: version(325)}
			_, err := test.options.startProcess(t.Context())
			if e, ok := errors.AsType[*OptionError](err); !ok || e.Option != test.option || !strings.Contains(e.Reason, test.text) {
				t.Errorf("the error is %v, expected %s: %s", err, test.option, test.text)
			}
		})
	}
	o := Options{CLI: &CLI{Path: "/a/claude", Args: []string{"/a/claude"}, Version: wire.Version{Major: 1, Patch: 128}}}
	_, err := o.startProcess(t.Context())
	if e, ok := errors.AsType[*UnsupportedError](err); !ok || !strings.Contains(e.Error(), "update /a/claude") {
		t.Errorf("a CLI of version 1: %v", err)
	}
}

// set gives a field a value other than its zero.
func set(t *testing.T, f reflect.Value) {
	t.Helper()
	switch f.Kind() {
	case reflect.String:
		f.SetString("x")
	case reflect.Bool:
		f.SetBool(true)
	case reflect.Int, reflect.Int64:
		f.SetInt(1)
	case reflect.Float64:
		f.SetFloat(1)
	case reflect.Slice:
		f.Set(reflect.MakeSlice(f.Type(), 1, 1))
	case reflect.Map:
		f.Set(reflect.MakeMap(f.Type()))
	case reflect.Pointer:
		f.Set(reflect.New(f.Type().Elem()))
	case reflect.Func:
		f.Set(reflect.MakeFunc(f.Type(), func([]reflect.Value) []reflect.Value { return nil }))
	case reflect.Struct:
		set(t, f.Field(0))
	case reflect.Interface:
		f.Set(reflect.ValueOf(nilStore{}))
	default:
		t.Fatalf("a field of kind %s", f.Kind())
	}
}

type nilStore struct{ SessionStore }

// Every field is for a process, for a session or for both, and each is refused
// where it would be left out in silence.
func TestFieldsArePlaced(t *testing.T) {
	fields := reflect.TypeFor[Options]()
	for _, name := range transportFields {
		if _, ok := fields.FieldByName(name); !ok {
			t.Errorf("there is no field %s", name)
		}
	}
	inSession := false
	for i := range fields.NumField() {
		f := fields.Field(i)
		if !f.IsExported() {
			continue
		}
		o := &Options{}
		set(t, reflect.ValueOf(o).Elem().Field(i))
		session, transport := slices.Contains(sessionFields, f.Name), slices.Contains(transportFields, f.Name)
		inSession = inSession || f.Name == "CLI"
		if session != inSession {
			t.Errorf("%s: what is behind MaxLine belongs to a session, and nothing before", f.Name)
		}
		check := func(err error, refused bool, text string) {
			t.Helper()
			e, ok := errors.AsType[*OptionError](err)
			if refused != ok || ok && (e.Option != f.Name || !strings.Contains(e.Reason, text)) || !ok && err != nil {
				t.Errorf("%s: %v, expected that it is refused: %t", f.Name, err, refused)
			}
		}
		check(o.forCommand(), session, "use claude.Start")
		o.PluginsByInitialize = o.PluginsByInitialize || strings.HasPrefix(f.Name, "PluginDirs")
		check(o.forTransport(), !transport, "NewSession")
	}
	if _, err := (&CLI{Args: []string{"x"}}).Command(&Options{Title: "x"}); err == nil {
		t.Error("Command took an option of a session")
	}
	if err := (&Options{PluginDirs: []string{"x"}}).forTransport(); err == nil {
		t.Error("a transport took PluginDirs as a flag")
	}
}

// told starts a fake that tells what it was started with.
func tellSession(t *testing.T, o *Options, v wire.Version) told {
	t.Helper()
	cli, env := fakeCLI(t, "tell", "", v)
	o.CLI, o.Env = cli, append(o.Env, env...)
	p, err := o.startProcess(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = p.Close() }()
	var what told
	if err := json.Unmarshal([]byte(readLine(t, p)), &what); err != nil {
		t.Fatal(err)
	}
	return what
}

func TestSessionCommand(t *testing.T) {
	t.Parallel()
	o := &Options{
		JSONSchema: json.RawMessage(`{"x":"` + strings.Repeat("y", maxArg) + `"}`), ForwardSubagentText: true, Skills: []string{"s"}, AllowedTools: []string{"Read"},
		PluginsByInitialize: true, PluginDirs: []string{"/p"}, PluginDirsNoMCP: []string{"/q"}, SystemPrompt: "secret prompt",
		ExtraEnv: []string{"A=2", "B=3=4"}, Env: []string{"A=1", "C=5"},
	}
	what := tellSession(t, o, version(325))
	want := base("--allowedTools=Read", "--allowedTools=Skill(s)", "--replay-user-messages", "--await-initialize")
	if !slices.Equal(what.Args, want) {
		t.Errorf("got      %q\nexpected %q", what.Args, want)
	}
	for _, kv := range []string{"A=2", "B=3=4", "C=5", "CLAUDE_CODE_STARTUP_FAILURE_RESULTS=1", "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS=1"} {
		if !slices.Contains(what.Env, kv) {
			t.Errorf("%s is missing", kv)
		}
	}
	if slices.Contains(what.Env, "A=1") {
		t.Error("a variable is there twice")
	}
	if o.ReplayUserMessages {
		t.Error("the caller's options were changed")
	}
	if what := tellSession(t, &Options{AllSkills: true}, version(37)); !slices.Contains(what.Args, "--allowedTools=Skill") {
		t.Errorf("all skills: %q", what.Args)
	}
}

func TestExtraEnvIsChecked(t *testing.T) {
	for _, kv := range []string{"X", "=y", "X=a\x00"} {
		_, err := (&Options{ExtraEnv: []string{kv}}).environ(version(325), "", "marker-x")
		if e, ok := errors.AsType[*OptionError](err); !ok || e.Option != "ExtraEnv" {
			t.Errorf("%q: %v", kv, err)
		}
	}
	env, err := (&Options{Env: []string{}, ExtraEnv: []string{"X="}}).environ(version(325), "", "marker-x")
	if err != nil || !slices.Contains(env, "X=") {
		t.Errorf("%q, %v", env, err)
	}
	for _, kv := range env {
		if strings.HasPrefix(kv, "CLAUDE_CODE_STARTUP_FAILURE_RESULTS=") {
			t.Error("a process alone writes results that nobody reads")
		}
	}
}

func TestSandbox(t *testing.T) {
	tests := []struct{ settings, sandbox, want string }{
		{``, `{"enabled":false}`, `{"sandbox":{"enabled":false}}`},
		{``, `{"enabled": true }`, `{"sandbox":{"enabled":true,"failIfUnavailable":true}}`},
		{``, `{"enabled":true,"failIfUnavailable":false}`, `{"sandbox":{"enabled":true,"failIfUnavailable":false}}`},
		{`{"sandbox":{"x":1},"model":"m","n":12345678901234567890}`, `{}`, `{"model":"m","n":12345678901234567890,"sandbox":{}}`},
	}
	for _, test := range tests {
		files := &privateFiles{parent: t.TempDir()}
		o := Options{Settings: json.RawMessage(test.settings), Sandbox: json.RawMessage(test.sandbox)}
		args, err := o.args(version(37), files)
		if err != nil {
			t.Errorf("%s: %v", test.sandbox, err)
			continue
		}
		path := files.dir + "/settings.json"
		data, err := os.ReadFile(path)
		if err != nil || string(data) != test.want || !slices.Contains(args, "--settings="+path) {
			t.Errorf("%s, %v, %q, expected %s", data, err, args, test.want)
		}
	}
	for _, test := range []struct {
		option  string
		options Options
	}{
		{"Sandbox", Options{Sandbox: json.RawMessage(`{}`), SettingsFile: "/x"}},
		{"Sandbox", Options{Sandbox: json.RawMessage(`[]`)}},
		{"Sandbox", Options{Sandbox: json.RawMessage(`null`)}},
		{"Sandbox", Options{Sandbox: json.RawMessage(`{`)}},
		{"Settings", Options{Sandbox: json.RawMessage(`{}`), Settings: json.RawMessage(`[]`)}},
	} {
		_, err := test.options.args(version(325), &privateFiles{parent: t.TempDir()})
		if e, ok := errors.AsType[*OptionError](err); !ok || e.Option != test.option {
			t.Errorf("%s %s: %v", test.options.Sandbox, test.options.Settings, err)
		}
	}
}

func TestWarnings(t *testing.T) {
	ask := func(context.Context, Question) (Reply, error) { return nil, ErrLater }
	tests := []struct {
		options Options
		want    []string
	}{
		{Options{PermissionMode: wire.PermissionModeBypassPermissions, AllowedTools: []string{"Bash"}}, nil},
		{Options{OnQuestion: ask, AllowedTools: []string{"Bash(git log:*)", "Edit(src/**)"}}, nil},
		{Options{OnQuestion: ask, PermissionMode: wire.PermissionModeBypassPermissions}, []string{"bypassPermissions"}},
		{Options{Pull: true, PermissionMode: wire.PermissionModeDontAsk}, []string{"dontAsk"}},
		{Options{Pull: true, PermissionMode: wire.PermissionModeAuto}, []string{"auto"}},
		{Options{Pull: true, PermissionPromptTool: "none"}, []string{"not asked here"}},
		{Options{Pull: true, PermissionPrompts: "none"}, []string{"not asked here"}},
		{Options{Pull: true, PermissionPromptTool: "stdio"}, nil},
		{Options{OnQuestion: ask, AllowedTools: []string{"Bash", "Edit(*)", "Read(a)"}}, []string{`"Bash" in AllowedTools allows every use of Bash`, `"Edit(*)"`}},
	}
	for _, test := range tests {
		got := test.options.Warnings()
		if len(got) != len(test.want) {
			t.Errorf("got %q, expected %q", got, test.want)
			continue
		}
		for i := range got {
			if !strings.Contains(got[i], test.want[i]) {
				t.Errorf("got %q, expected %q", got[i], test.want[i])
			}
		}
	}
	var log bytes.Buffer
	o := Options{OnQuestion: ask, AllowedTools: []string{"Bash"}, Logger: slog.New(slog.NewTextHandler(&log, nil))}
	o.warn(t.Context())
	if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), "every use of Bash") {
		t.Errorf("logged: %s", log.String())
	}
}

func TestConnOptions(t *testing.T) {
	o := &Options{RequestTimeout: time.Second, Insist: time.Minute, Backlog: 5}
	got := o.connOptions(version(120), nil)
	if got.RequestTimeout != time.Second || got.Insist != time.Minute || got.Backlog != 5 || got.Version != version(120) {
		t.Errorf("got %+v", got)
	}
	if d := o.startTimeout(); d != defaultStartTimeout {
		t.Errorf("it waits %s", d)
	}
	if d := (&Options{StartTimeout: time.Second}).startTimeout(); d != time.Second {
		t.Errorf("it waits %s", d)
	}
}

// A hook that the version does not have is refused before a process is started, as
// the error says.
func TestHooksAreCheckedBeforeTheStart(t *testing.T) {
	o := &Options{
		CLI: &CLI{Path: filepath.Join(t.TempDir(), "none"), Version: wire.Version{Major: 2, Minor: 1, Patch: 37}},
		Env: []string{"PATH=/nowhere"}, Logger: quietly(),
		Hooks: Hooks{PostCompact: On("", func(context.Context, *wire.PostCompactInput) (*HookAnswer[NoOutput], error) { return nil, nil })},
	}
	s, err := Start(t.Context(), o)
	if err == nil {
		_ = s.Close() // it is wrong that there is one
	}
	if _, ok := errors.AsType[*UnsupportedError](err); !ok {
		t.Fatalf("got %v, want an UnsupportedError", err)
	}
}

func TestStderrTee(t *testing.T) {
	long := strings.Repeat("x", stderrLine+100)
	tests := []struct {
		name   string
		writes []string
		want   []string
	}{
		{"lines", []string{"a\nb\n"}, []string{"a", "b"}},
		{"a line in parts", []string{"a", "b", "\nc"}, []string{"ab", "c"}},
		{"line ends of Windows, empty lines", []string{"a\r\n\r\n\nb\r\n"}, []string{"a", "", "", "b"}},
		{"no end", []string{"a"}, []string{"a"}},
		{"not text", []string{"a\xffb\n"}, []string{"a\uFFFDb"}},
		{"a secret in two parts", []string{"the key is sk-ant-", "abcdefgh.\nvalue hidden-value\n"}, []string{"the key is [redacted].", "value [redacted]"}},
		{"a long line", []string{long, "y\nafter\n"}, []string{long[:stderrLine-stderrSlack], "after"}},
		{"a line of just the length", []string{long[:stderrLine] + "\n"}, []string{long[:stderrLine]}},
		{"nothing", nil, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			end := &tail{}
			tee := &stderrTee{tail: end, redactor: newRedactor([]string{"MY_TOKEN=hidden-value"}), tell: func(line string) { got = append(got, line) }}
			for _, s := range test.writes {
				if n, err := tee.Write([]byte(s)); n != len(s) || err != nil {
					t.Fatalf("Write returned %d, %v", n, err)
				}
			}
			tee.close()
			if !slices.Equal(got, test.want) {
				t.Errorf("got %.200q, expected %.200q", got, test.want)
			}
			if all := strings.Join(test.writes, ""); !strings.HasSuffix(all, string(end.bytes())) || len(all) > 0 && len(end.bytes()) == 0 {
				t.Errorf("the tail is %.100q", end.bytes())
			}
		})
	}
}

// The CLI's words on standard error come line by line, and in the error too.
func TestStderrOfAProcess(t *testing.T) {
	t.Parallel()
	lines := make(chan string, 10)
	p := startFake(t, "fail", "one\ntwo sk-ant-secretsecret\nthree", &Options{Stderr: func(line string) { lines <- line }})
	if err := p.Wait(soon(t)); err == nil || !strings.Contains(err.Error(), "three") {
		t.Errorf("Wait: %v", err)
	}
	for _, want := range []string{"one", "two [redacted]", "three"} {
		select {
		case got := <-lines:
			if got != want {
				t.Errorf("got %q, expected %q", got, want)
			}
		case <-soon(t).Done():
			t.Fatalf("no line, expected %q", want)
		}
	}
}
