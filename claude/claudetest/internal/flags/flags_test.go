package flags

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/wire"
)

func version(patch int) wire.Version { return wire.Version{Major: 2, Minor: 1, Patch: patch} }

var versions = []wire.Version{version(37), version(120), version(325)}

// stream are the flags that every launch with the protocol has.
var stream = []string{"--output-format=stream-json", "--input-format=stream-json", "--verbose"}

const id = "11111111-2222-4333-8444-555555555555"

// mustParse fails the test unless the arguments are accepted.
func mustParse(t *testing.T, v wire.Version, args ...string) *Flags {
	t.Helper()
	f, err := Parse(args, v)
	if err != nil {
		t.Fatalf("%s: %q: %v", v, args, err)
	}
	return f
}

func TestForms(t *testing.T) {
	for _, v := range versions {
		f := mustParse(t, v, "--output-format", "stream-json", "--input-format=stream-json", "--verbose", "-p", "--model", "-x", "--allowedTools", "Read", "Bash(git log:*)",
			"--allowed-tools=Write,Edit", "--add-dir=/a", "--add-dir", "/b", "/c", "--max-turns=3", "--mcp-config={}", "--", "--prompt", "words")
		if !f.Print || !f.Verbose || f.OutputFormat != "stream-json" || f.InputFormat != "stream-json" || f.Model != "-x" || f.MaxTurns != 3 {
			t.Errorf("%s: got %+v", v, f)
		}
		for name, lists := range map[string][2][]string{
			"allowed": {f.AllowedTools, {"Read", "Bash(git log:*)", "Write,Edit"}},
			"dirs":    {f.AddDirs, {"/a", "/b", "/c"}},
			"mcp":     {f.MCPConfig, {"{}"}},
			"words":   {f.Args, {"--prompt", "words"}},
		} {
			if !slices.Equal(lists[0], lists[1]) {
				t.Errorf("%s: %s: got %q, expected %q", v, name, lists[0], lists[1])
			}
		}
	}
}

func TestFields(t *testing.T) {
	args := slices.Concat(stream, []string{
		"--replay-user-messages", "--include-partial-messages", "--include-hook-events", "--forward-subagent-text", "--await-initialize",
		"--permission-mode=plan", "--allow-dangerously-skip-permissions", "--permission-prompt-tool=stdio", "--disallowedTools=Bash(rm:*)", "--tools=Read,Write Edit",
		"--model=m", "--fallback-model=n", "--effort=high", "--thinking=adaptive", "--thinking-display=omitted", "--max-thinking-tokens=0", "--task-budget=7",
		"--max-budget-usd=0.5", "--betas=a,b", "--agent=x", "--agents={}", "--system-prompt=s", "--append-system-prompt=a",
		"--resume=" + id, "--fork-session", "--session-id=" + id, "--resume-session-at=m1", "--resume-drops-turn=m2", "--no-session-persistence", "--session-mirror", "-n", "title",
		"--settings={}", "--setting-sources=user, local", "--managed-settings={}", "--strict-mcp-config", "--plugin-dir=/p", "--plugin-dir=/q", "--plugin-dir-no-mcp=/r",
		`--json-schema={"type":"object"}`, "--disable-slash-commands", "--bare", "--debug-file=/d",
	})
	got := mustParse(t, version(325), args...)
	got.Given, got.Values = nil, nil
	want := &Flags{
		Verbose: true, OutputFormat: "stream-json", InputFormat: "stream-json",
		ReplayUserMessages: true, IncludePartialMessages: true, IncludeHookEvents: true, ForwardSubagentText: true, AwaitInitialize: true,
		PermissionMode: "plan", BypassLaunched: true, PermissionPromptTool: "stdio", DisallowedTools: []string{"Bash(rm:*)"}, Tools: []string{"Read", "Write", "Edit"},
		Model: "m", FallbackModel: "n", Effort: "high", Thinking: "adaptive", ThinkingDisplay: "omitted", TaskBudget: 7,
		MaxBudgetUSD: 0.5, Betas: []string{"a", "b"}, Agent: "x", Agents: "{}", SystemPrompt: "s", AppendSystemPrompt: "a",
		Resume: id, ResumeGiven: true, ForkSession: true, SessionID: id, ResumeSessionAt: "m1", ResumeDropsTurn: "m2", NoSessionPersistence: true, SessionMirror: true, Name: "title",
		Settings: "{}", SettingSources: []string{"user", "local"}, ManagedSettings: "{}", StrictMCPConfig: true, PluginDirs: []string{"/p", "/q", "/r"},
		JSONSchema: `{"type":"object"}`, DisableSlash: true, Bare: true, DebugFile: "/d",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the flags differ (-want +got):\n%s", diff)
	}
}

func TestDefaults(t *testing.T) {
	f := mustParse(t, wire.Version{})
	if f.OutputFormat != "text" || f.InputFormat != "text" || f.MaxThinkingTokens != -1 || f.Tools != nil || f.SettingSources != nil || f.PermissionMode != "" || f.BypassLaunched {
		t.Errorf("got %+v", f)
	}
	f = mustParse(t, version(37), "--tools=", "--setting-sources=")
	if f.Tools == nil || len(f.Tools) > 0 || f.SettingSources == nil || len(f.SettingSources) > 0 {
		t.Errorf("empty lists: got tools %#v and sources %#v, expected none of both", f.Tools, f.SettingSources)
	}
	if f = mustParse(t, version(37), "--tools=default"); f.Tools != nil {
		t.Errorf("tools default: got %q, expected no limit", f.Tools)
	}
	if f = mustParse(t, version(120), "--sdk-url", "ws://127.0.0.1:1/x"); !f.Print || !f.Verbose || f.InputFormat != "stream-json" || f.OutputFormat != "stream-json" {
		t.Errorf("a CLI that dials: got %+v", f)
	}
	if f = mustParse(t, version(325), "-c", "--dangerously-skip-permissions"); !f.Continue || f.PermissionMode != "bypassPermissions" || !f.BypassLaunched {
		t.Errorf("skipped permissions: got %+v", f)
	}
	if f = mustParse(t, version(325), "-r", "--verbose"); !f.ResumeGiven || f.Resume != "" || !f.Verbose {
		t.Errorf("resume without a value: got %+v", f)
	}
	if f = mustParse(t, version(37), "-r"+id, "-dapi", "hello"); f.Resume != id || !slices.Equal(f.Values["debug"], []string{"api"}) || !slices.Equal(f.Args, []string{"hello"}) {
		t.Errorf("short flags with values: got %+v", f)
	}
	if f = mustParse(t, version(37), append(stream, "--max-turns=x", "--max-thinking-tokens=1e99")...); f.MaxTurns != 0 || f.MaxThinkingTokens != -1 {
		t.Errorf("limits that are no numbers: got %d and %d, expected none", f.MaxTurns, f.MaxThinkingTokens)
	}
}

// The command lines that the CLIs end at once for, with what they print.
func TestExits(t *testing.T) {
	type end struct {
		code           int
		stdout, stderr string
	}
	const (
		bypass  = "bypassPermissions, "
		refused = `Error: --sdk-url rejected: host "127.0.0.1" is not an approved Anthropic endpoint. This flag is reserved for Remote Control worker processes connecting to Anthropic's backend.` + "\n"
	)
	wrong := func(message string) end { return end{1, "", message + "\n"} }
	with := func(args ...string) []string { return slices.Concat(stream, args) }
	all := func(e end) [3]end { return [3]end{e, e, e} }
	ok := end{}
	unknown := func(flag string) end { return wrong("error: unknown option '" + flag + "'") }
	tests := []struct {
		name string
		args []string
		want [3]end // on 2.1.37, 2.1.120 and 2.1.325; the zero value: accepted
	}{
		{"version", []string{"--version"}, [3]end{{0, "2.1.37 (Claude Code)\n", ""}, {0, "2.1.120 (Claude Code)\n", ""}, {0, "2.1.325 (Claude Code)\n", ""}}},
		{"short flags in one word", []string{"-pv"}, [3]end{{0, "2.1.37 (Claude Code)\n", ""}, {0, "2.1.120 (Claude Code)\n", ""}, {0, "2.1.325 (Claude Code)\n", ""}}},
		{"help", []string{"-h", "--nope"}, all(end{0, help, ""})},
		{"unknown", []string{"--nope=1"}, all(unknown("--nope=1"))},
		{"unknown, with one alike", []string{"--nope"}, [3]end{unknown("--nope"), wrong("error: unknown option '--nope'\n(Did you mean --name?)"), wrong("error: unknown option '--nope'\n(Did you mean --name?)")}},
		{"cut short", []string{"--res"}, all(wrong("error: unknown option '--res'\n(Did you mean --resume?)"))},
		{"unknown short", []string{"-p", "-x"}, all(unknown("-x"))},
		{"switch with a value", []string{"--print=1"}, all(wrong("error: unknown option '--print=1'\n(Did you mean --print?)"))},
		{"no value", []string{"--model"}, all(wrong("error: option '--model <model>' argument missing"))},
		{"no value for a list", with("--tools"), all(wrong("error: option '--tools <tools...>' argument missing"))},
		{"no value for a flag with two names", []string{"--allowed-tools"}, all(wrong("error: option '--allowedTools, --allowed-tools <tools...>' argument missing"))},
		{"no such format", []string{"--output-format=xml"}, all(wrong("error: option '--output-format <format>' argument 'xml' is invalid. Allowed choices are text, json, stream-json."))},
		{"not verbose", []string{"-p", "--output-format=stream-json", "--input-format=stream-json"}, all(wrong("Error: When using --print, --output-format=stream-json requires --verbose"))},
		{"not verbose, not print", []string{"--output-format=stream-json"}, all(wrong("Error: When using --print, --output-format=stream-json requires --verbose"))},
		{"input alone", []string{"-p", "--input-format=stream-json"}, all(wrong("Error: --input-format=stream-json requires output-format=stream-json."))},
		{"replay alone", []string{"--replay-user-messages", "-p", "hi"}, all(wrong("Error: --replay-user-messages requires both --input-format=stream-json and --output-format=stream-json."))},
		{"partial alone", []string{"--include-partial-messages", "-p", "hi"}, all(wrong("Error: --include-partial-messages requires --print and --output-format=stream-json."))},
		{"no UUID", with("--session-id=nope"), all(wrong("Error: Invalid session ID. Must be a valid UUID."))},
		{"id and resume", with("--session-id="+id, "--resume="+id), all(wrong("Error: --session-id can only be used with --continue or --resume if --fork-session is also specified."))},
		{"id and continue", with("--session-id="+id, "--continue"), all(wrong("Error: --session-id can only be used with --continue or --resume if --fork-session is also specified."))},
		{"id and fork", with("--session-id="+id, "--resume="+id, "--fork-session"), all(ok)},
		{"at without resume", with("--resume-session-at=x"), all(wrong("Error: --resume-session-at requires --resume"))},
		{"bad mode", with("--permission-mode=nope"), [3]end{
			wrong("error: option '--permission-mode <mode>' argument 'nope' is invalid. Allowed choices are acceptEdits, " + bypass + "default, delegate, dontAsk, plan."),
			wrong("error: option '--permission-mode <mode>' argument 'nope' is invalid. Allowed choices are acceptEdits, auto, " + bypass + "default, dontAsk, plan."),
			wrong("error: option '--permission-mode <mode>' argument 'nope' is invalid. Allowed choices are acceptEdits, auto, " + bypass + "manual, dontAsk, plan."),
		}},
		{"mode default", with("--permission-mode=default"), all(ok)},
		{"bad effort", with("--effort=1"), [3]end{
			unknown("--effort=1"), wrong("error: option '--effort <level>' argument '1' is invalid. It must be one of: low, medium, high, xhigh, max"), ok,
		}},
		{"turns", with("--max-turns=x"), [3]end{ok, ok, wrong("error: option '--max-turns <turns>' argument 'x' is invalid. must be a number")}},
		{"thinking tokens", with("--max-thinking-tokens=x"), [3]end{ok, ok, wrong("error: option '--max-thinking-tokens <tokens>' argument 'x' is invalid. must be a number")}},
		{"budget", with("--max-budget-usd=-1"), all(wrong("error: option '--max-budget-usd <amount>' argument '-1' is invalid. --max-budget-usd must be a positive number greater than 0"))},
		{"tokens", with("--task-budget=1.5"), [3]end{
			unknown("--task-budget=1.5"), wrong("error: option '--task-budget <tokens>' argument '1.5' is invalid. --task-budget must be a positive integer"),
			wrong("error: option '--task-budget <tokens>' argument '1.5' is invalid. --task-budget must be a positive integer"),
		}},
		{"schema is no object", with("--json-schema=[]"), [3]end{ok, ok, wrong("Error: --json-schema must be a JSON object")}},
		{"sources", with("--setting-sources=user,1"), all(wrong("Error processing --setting-sources: Invalid setting source: 1. Valid options are: user, project, local"))},
		{"same models", with("--model=x", "--fallback-model=x"), [3]end{
			wrong("Error: Fallback model cannot be the same as the main model. Please specify a different model for --fallback-model."),
			wrong("Error: Fallback model cannot be the same as the main model. Please specify a different model for --fallback-model."), ok,
		}},
		{"dialling", with("--sdk-url=ws://127.0.0.1:9/x"), [3]end{ok, ok, {1, "", refused}}},
		{"dialling with text", []string{"--sdk-url=ws://127.0.0.1:9/x", "--output-format=stream-json", "--input-format=text"}, [3]end{
			wrong("Error: --sdk-url requires both --input-format=stream-json and --output-format=stream-json."),
			wrong("Error: --sdk-url requires both --input-format=stream-json and --output-format=stream-json."),
			{1, "", refused},
		}},
		{"new flag", with("--await-initialize"), [3]end{unknown("--await-initialize"), unknown("--await-initialize"), ok}},
		{"flag that is gone", with("--mcp-debug"), [3]end{ok, ok, unknown("--mcp-debug")}},
	}
	for _, test := range tests {
		for i, v := range versions {
			_, err := Parse(test.args, v)
			var got *ExitError
			switch want := test.want[i]; {
			case want == ok && err != nil:
				t.Errorf("%s: %s: %v", v, test.name, err)
			case want == ok:
			case !errors.As(err, &got):
				t.Errorf("%s: %s: got error %v, expected %q", v, test.name, err, want.stderr+want.stdout)
			default:
				if diff := cmp.Diff(want, end{got.Code, got.Stdout, got.Stderr}, cmp.AllowUnexported(end{})); diff != "" {
					t.Errorf("%s: %s (-want +got):\n%s", v, test.name, diff)
				}
			}
		}
	}
}

// A CLI that cannot dial an address ends without a word.
func TestUndialable(t *testing.T) {
	for _, address := range []string{"http://127.0.0.1:9/x", "nonsense", "ftp://x"} {
		for _, v := range versions[:2] {
			_, err := Parse(append(slices.Clone(stream), "--sdk-url="+address), v)
			var got *ExitError
			if !errors.As(err, &got) || *got != (ExitError{}) {
				t.Errorf("%s: %s: got %v, expected a silent end", v, address, err)
			}
		}
		if _, err := Parse(append(slices.Clone(stream), "--sdk-url="+address), version(325)); err == nil || !strings.Contains(err.Error(), "--sdk-url rejected") {
			t.Errorf("325: %s: got %v", address, err)
		}
	}
}

func TestModes(t *testing.T) {
	tests := map[string][3]bool{
		"acceptEdits": {true, true, true}, "bypassPermissions": {true, true, true}, "default": {true, true, true}, "dontAsk": {true, true, true}, "plan": {true, true, true},
		"auto": {false, true, true}, "manual": {false, false, true}, "delegate": {true, false, false}, "": {false, false, false},
	}
	for mode, want := range tests {
		for i, v := range versions {
			if _, err := Parse([]string{"--permission-mode=" + mode}, v); (err == nil) != want[i] {
				t.Errorf("%s: mode %q: got %v, expected accepted %v", v, mode, err, want[i])
			}
		}
	}
}

func TestCheckBypass(t *testing.T) {
	for _, args := range [][]string{{"--permission-mode=bypassPermissions"}, {"--dangerously-skip-permissions"}, {"--allow-dangerously-skip-permissions"}} {
		f := mustParse(t, version(120), args...)
		var got *ExitError
		if err := f.CheckBypass(true, false); !errors.As(err, &got) || got.Code != 1 || !strings.HasPrefix(got.Stderr, "--dangerously-skip-permissions cannot be used with root") {
			t.Errorf("%q as root: got %v", args, err)
		}
		if err := f.CheckBypass(true, true); err != nil {
			t.Errorf("%q as root in a sandbox: %v", args, err)
		}
		if err := f.CheckBypass(false, false); err != nil {
			t.Errorf("%q as somebody: %v", args, err)
		}
	}
	if err := mustParse(t, version(120)).CheckBypass(true, false); err != nil {
		t.Errorf("without bypass: %v", err)
	}
}

// Every short and second name belongs to one flag, or what it means would depend
// on chance.
func TestTable(t *testing.T) {
	owners := map[string]string{}
	for name, s := range table {
		for _, other := range []string{"-" + s.short, "--" + s.alias} {
			if len(strings.Trim(other, "-")) == 0 {
				continue
			}
			if owner, taken := owners[other]; taken {
				t.Errorf("%s is %s and %s", other, owner, name)
			}
			owners[other] = name
		}
		if _, taken := table[s.alias]; taken && s.alias != "" {
			t.Errorf("%s is a flag and another name of %s", s.alias, name)
		}
		if (s.kind == value || s.kind == variadic) != (s.meta != "") {
			t.Errorf("%s: a name for its value is needed where it must have one, and only there", name)
		}
	}
}

// FuzzParse checks that a command line is accepted, or refused with something to
// print, and that what is accepted does not depend on the form of its flags.
func FuzzParse(f *testing.F) {
	f.Add("--output-format=stream-json\x00--verbose\x00--input-format\x00stream-json", 325)
	f.Add("-pvh\x00--\x00--x", 37)
	f.Add("--allowedTools\x00a\x00b\x00-c\x00--max-turns=1e400\x00--max-budget-usd=NaN", 120)
	f.Add("--resume\x00--fork-session\x00--session-id="+id+"\x00--sdk-url=ws://[", 120)
	f.Fuzz(func(t *testing.T, joined string, patch int) {
		args := strings.Split(joined, "\x00")
		kept := slices.Clone(args)
		parsed, err := Parse(args, version(patch))
		if !slices.Equal(args, kept) {
			t.Fatalf("the arguments were changed: %q", args)
		}
		if err != nil {
			var end *ExitError
			if !errors.As(err, &end) {
				t.Fatalf("got error %T", err)
			}
			if (end.Code != 0) != (end.Stderr != "") || end.Code != 0 && !strings.HasSuffix(end.Stderr, "\n") {
				t.Fatalf("an end with code %d prints %q", end.Code, end.Stderr)
			}
			return
		}
		for name, list := range parsed.Values {
			if !parsed.Given[name] {
				t.Errorf("%s has values %q but was not given", name, list)
			}
		}
		// Written with equals signs, the same flags are the same flags.
		var again []string
		for name := range parsed.Given {
			if len(parsed.Values[name]) == 0 {
				again = append(again, "--"+name)
			}
			for _, value := range parsed.Values[name] {
				again = append(again, "--"+name+"="+value)
			}
		}
		again = append(append(again, "--"), parsed.Args...)
		second, err := Parse(again, version(patch))
		if err != nil {
			t.Fatalf("%q was accepted, %q is not: %v", args, again, err)
		}
		if diff := cmp.Diff(parsed.Values, second.Values); diff != "" {
			t.Errorf("%q and %q differ:\n%s", args, again, diff)
		}
	})
}
