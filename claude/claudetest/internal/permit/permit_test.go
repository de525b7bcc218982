package permit

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/wire"
)

var versions = []wire.Version{{Major: 2, Minor: 1, Patch: 37}, {Major: 2, Minor: 1, Patch: 120}, {Major: 2, Minor: 1, Patch: 325}}

// newGate returns a gate in /r/work.
func newGate(t testing.TB, o Options) *Gate {
	t.Helper()
	if o.Dir == "" {
		o.Dir = "/r/work"
	}
	g, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestRequest(t *testing.T) {
	tests := []struct {
		name, mode                 string
		patch                      int
		launched                   bool
		effective, code, complaint string
	}{
		{"37 takes anything", "nonsense", 37, false, "nonsense", "", ""},
		{"37 bypasses", "bypassPermissions", 37, false, "bypassPermissions", "", ""},
		{"37 keeps manual", "manual", 37, false, "manual", "", ""},
		{"120 takes anything", "nonsense", 120, false, "nonsense", "", ""},
		{"120 takes auto", "auto", 120, false, "auto", "", ""},
		{"120 does not bypass", "bypassPermissions", 120, false, "plan", "", "was not launched with"},
		{"120 bypasses if launched so", "bypassPermissions", 120, true, "bypassPermissions", "", ""},
		{"325 validates", "nonsense", 325, false, "plan", "invalid_mode", "must be one of"},
		{"325 has no delegate", "delegate", 325, false, "plan", "invalid_mode", "must be one of"},
		{"325 wants a mode", "", 325, false, "plan", "invalid_mode", "must be one of"},
		{"325 manual is default", "manual", 325, false, "default", "", ""},
		{"325 does not bypass", "bypassPermissions", 325, false, "plan", "bypass_not_launched", "was not launched with"},
		{"325 bypasses if launched so", "bypassPermissions", 325, true, "bypassPermissions", "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			g := newGate(t, Options{Version: wire.Version{Major: 2, Minor: 1, Patch: test.patch}, Mode: "plan", BypassLaunched: test.launched})
			effective, code, message, ok := g.Request(test.mode)
			if effective != test.effective || code != test.code || ok != (test.complaint == "") || !strings.Contains(message, test.complaint) {
				t.Errorf("got %q, %q, %q, %v", effective, code, message, ok)
			}
			if g.Mode() != test.effective {
				t.Errorf("the mode is %q, expected %q", g.Mode(), test.effective)
			}
		})
	}
}

func TestLaunchMode(t *testing.T) {
	mode := func(name, mode string) Source {
		return Source{name, json.RawMessage(`{"permissions":{"defaultMode":"` + mode + `"}}`)}
	}
	tests := []struct {
		name    string
		options Options
		want    string
	}{
		{"none", Options{}, "default"},
		{"given", Options{Mode: "plan", Settings: []Source{mode(UserSettings, "acceptEdits")}}, "plan"},
		{"settings", Options{Settings: []Source{mode(UserSettings, "acceptEdits")}}, "acceptEdits"},
		{"nearest settings", Options{Settings: []Source{mode(UserSettings, "acceptEdits"), mode(LocalSettings, "plan"), mode(ProjectSettings, "dontAsk")}}, "plan"},
		{"alias", Options{Mode: "manual", Version: versions[2]}, "default"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := newGate(t, test.options).Mode(); got != test.want {
				t.Errorf("got %q, expected %q", got, test.want)
			}
		})
	}
}

func TestBadSettings(t *testing.T) {
	for _, settings := range []string{"{", `{"permissions":{"allow":"Bash"}}`, "[]"} {
		if _, err := New(Options{Dir: "/r", Settings: []Source{{UserSettings, json.RawMessage(settings)}}}); err == nil || !strings.Contains(err.Error(), UserSettings) {
			t.Errorf("settings %s: got error %v, expected one that names the layer", settings, err)
		}
	}
	if _, err := New(Options{Dir: "/r", Settings: []Source{{Name: UserSettings}}}); err != nil {
		t.Errorf("empty settings: %v", err)
	}
}

func TestApplyMode(t *testing.T) {
	for _, v := range versions {
		set := func(g *Gate, mode string) bool {
			return g.Apply(&wire.SetMode{Mode: wire.PermissionMode(mode), Destination: wire.UpdateDestinationSession})
		}
		g := newGate(t, Options{Version: v, Mode: "acceptEdits"})
		old := v.Patch == 37
		if set(g, "bypassPermissions") != old || (g.Mode() == "bypassPermissions") != old {
			t.Errorf("%s: bypass without launch: mode %s", v, g.Mode())
		}
		if set(g, "nonsense") || g.Mode() == "nonsense" {
			t.Errorf("%s: took an unknown mode", v)
		}
		if !set(g, "plan") || g.Mode() != "plan" {
			t.Errorf("%s: mode %s, expected plan", v, g.Mode())
		}
		launched := newGate(t, Options{Version: v, BypassLaunched: true})
		if !set(launched, "bypassPermissions") || launched.Mode() != "bypassPermissions" {
			t.Errorf("%s: no bypass after a launch with it", v)
		}
	}
}

func TestApplyRules(t *testing.T) {
	g := newGate(t, Options{Version: versions[2]})
	rules := func(contents ...string) (list []wire.PermissionRule) {
		for _, content := range contents {
			list = append(list, wire.PermissionRule{ToolName: "Bash", RuleContent: content})
		}
		return list
	}
	behaves := func(command, want string) {
		t.Helper()
		input, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Judge("Bash", input).Behavior; got != want {
			t.Errorf("%s: got %s, expected %s", command, got, want)
		}
	}
	apply := func(u wire.PermissionUpdate, want bool) {
		t.Helper()
		if got := g.Apply(u); got != want {
			t.Errorf("%s: applied %v, expected %v", u.UpdateType(), got, want)
		}
	}
	const session = wire.UpdateDestinationSession
	apply(&wire.AddRules{Rules: rules("make", "npm test"), Behavior: wire.RuleBehaviorAllow, Destination: session}, true)
	behaves("make", Allow)
	behaves("npm test", Allow)
	apply(&wire.RemoveRules{Rules: rules("make"), Behavior: wire.RuleBehaviorAllow, Destination: wire.UpdateDestinationLocalSettings}, true)
	behaves("make", Allow) // it was another layer's
	apply(&wire.RemoveRules{Rules: rules("make"), Behavior: wire.RuleBehaviorAllow, Destination: session}, true)
	behaves("make", Ask)
	apply(&wire.ReplaceRules{Rules: rules("cargo build"), Behavior: wire.RuleBehaviorAllow, Destination: session}, true)
	behaves("npm test", Ask)
	behaves("cargo build", Allow)
	apply(&wire.AddRules{Rules: rules("*"), Behavior: wire.RuleBehaviorDeny, Destination: session}, true)
	behaves("ls", Deny)
	if !g.Removes("Bash") || g.Removes("Read") {
		t.Error("the rule denies Bash, and nothing else")
	}
	apply(&wire.UnknownUpdate{}, false)
}

func TestApplyDirectories(t *testing.T) {
	g := newGate(t, Options{AddDirs: []string{"../given"}})
	const session = wire.UpdateDestinationSession
	g.Apply(&wire.AddDirectories{Directories: []string{"/r/one", "/r/two/"}, Destination: session})
	g.Apply(&wire.AddDirectories{Directories: []string{"/r/one"}, Destination: session})
	if diff := cmp.Diff([]string{"/r/work", "/r/given", "/r/one", "/r/two"}, g.Dirs()); diff != "" {
		t.Errorf("after adding (-want +got):\n%s", diff)
	}
	read := func(path string) string {
		return g.Judge("Read", json.RawMessage(`{"file_path":"`+path+`"}`)).Behavior
	}
	if got := read("/r/one/x"); got != Allow {
		t.Errorf("a file in an added folder: got %s", got)
	}
	if got := read("/r/onetwo/x"); got != Ask {
		t.Errorf("a file beside an added folder: got %s", got)
	}
	g.Apply(&wire.RemoveDirectories{Directories: []string{"/r/one", "/r/given"}, Destination: session})
	if diff := cmp.Diff([]string{"/r/work", "/r/given", "/r/two"}, g.Dirs()); diff != "" {
		t.Errorf("after removing (-want +got):\n%s", diff)
	}
}

func TestPlanFile(t *testing.T) {
	for _, v := range versions {
		path := ""
		g := newGate(t, Options{Version: v, Mode: "plan", PlanFile: func() string { return path }})
		write := func() string {
			return g.Judge("Write", json.RawMessage(`{"file_path":"/r/home/.claude/plans/x.md","content":"x"}`)).Behavior
		}
		if got := write(); got == Allow {
			t.Errorf("%s: a file in the folder of plans before there is a plan: got %s", v, got)
		}
		path = "/r/home/.claude/plans/x.md"
		if got := write(); got != Allow {
			t.Errorf("%s: the plan file: got %s", v, got)
		}
		if got := g.Judge("Read", json.RawMessage(`{"file_path":"/r/home/.claude/plans/x.md"}`)).Behavior; got != Allow {
			t.Errorf("%s: reading the plan file: got %s", v, got)
		}
	}
}

// A project's own rules may narrow what runs on every version, and widen it on
// old ones only.
func TestProjectRules(t *testing.T) {
	for _, v := range versions {
		g := newGate(t, Options{Version: v, Settings: []Source{{ProjectSettings, json.RawMessage(`{"permissions":{"allow":["Bash(make)"],"deny":["WebSearch"],"ask":["Bash(date)"]}}`)}}})
		want := Allow
		if v.Patch == 325 {
			want = Ask
		}
		if got := g.Judge("Bash", json.RawMessage(`{"command":"make"}`)).Behavior; got != want {
			t.Errorf("%s: got %s, expected %s", v, got, want)
		}
		if got := g.Judge("WebSearch", json.RawMessage(`{"query":"x"}`)).Behavior; got != Deny {
			t.Errorf("%s: denied tool: got %s", v, got)
		}
		if got := g.Judge("Bash", json.RawMessage(`{"command":"date"}`)).Behavior; got != Ask {
			t.Errorf("%s: asked command: got %s", v, got)
		}
	}
}

func TestNeverAsked(t *testing.T) {
	for _, v := range versions {
		g := newGate(t, Options{Version: v})
		for _, tool := range neverAsked {
			if got := g.Judge(tool, json.RawMessage(`{}`)).Behavior; got != Allow {
				t.Errorf("%s: %s: got %s", v, tool, got)
			}
		}
		if got := g.Judge("Nonsense", nil); got.Behavior != Ask {
			t.Errorf("%s: a tool that is not known: got %s", v, got.Behavior)
		}
	}
}

// What list_permission_rules of 2.1.325 answered for such a launch.
func TestList(t *testing.T) {
	g := newGate(t, Options{
		Version: versions[2], AllowedTools: []string{"Read,Bash(x)"}, DisallowedTools: []string{"Bash(y)"}, AddDirs: []string{"/r/outside"},
		Settings: []Source{
			{ProjectSettings, json.RawMessage(`{"permissions":{"allow":["Bash(make)"],"deny":["Bash(rm:*)"]}}`)},
			{UserSettings, json.RawMessage(`{"permissions":{"allow":["Bash(npm test)"],"deny":["WebSearch"],"ask":["Bash(git push:*)"]}}`)},
		},
	})
	whole := func(tool string) RuleDescription { return RuleDescription{"Any use of the ", tool, " tool"} }
	exact := func(command string) RuleDescription { return RuleDescription{"The Bash command ", command, ""} }
	prefix := func(command string) RuleDescription {
		return RuleDescription{"Any Bash command starting with ", command, ""}
	}
	want := State{
		OriginalCwd:          "/r/work",
		WorkspaceDirectories: []ListedDirectory{{"/r/outside", CLIArg}},
		Rules: []ListedRule{
			{"Bash(npm test)", Allow, UserSettings, "persistent", exact("npm test")},
			{"Read", Allow, CLIArg, "session", whole("Read")},
			{"Bash(x)", Allow, CLIArg, "session", exact("x")},
			{"Bash(git push:*)", Ask, UserSettings, "persistent", prefix("git push")},
			{"WebSearch", Deny, UserSettings, "persistent", whole("WebSearch")},
			{"Bash(rm:*)", Deny, ProjectSettings, "persistent", prefix("rm")},
			{"Bash(y)", Deny, CLIArg, "session", exact("y")},
		},
	}
	if diff := cmp.Diff(want, g.List()); diff != "" {
		t.Errorf("the list differs (-want +got):\n%s", diff)
	}
}

func TestSplitRules(t *testing.T) {
	tests := map[string][]string{
		"":                            nil,
		"Read":                        {"Read"},
		"Read,Write Edit":             {"Read", "Write", "Edit"},
		"Bash(git log:*), Bash(a, b)": {"Bash(git log:*)", "Bash(a, b)"},
		"Bash(a(b c)) x":              {"Bash(a(b c))", "x"},
		"Bash(a b":                    {"Bash(a b"},
		"a) b":                        {"a)", "b"},
	}
	for list, want := range tests {
		if got := splitRules(list); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, expected %q", list, got, want)
		}
	}
}

func TestParseShell(t *testing.T) {
	tests := []struct {
		command string
		parts   []part
		odd     []construct
	}{
		{"", nil, nil},
		{"ls -la", []part{{"ls -la", []string{"ls", "-la"}, nil}}, nil},
		{"a && b || c; d | e\nf", []part{{text: "a", words: []string{"a"}}, {text: "b", words: []string{"b"}}, {text: "c", words: []string{"c"}}, {text: "d", words: []string{"d"}}, {text: "e", words: []string{"e"}}, {text: "f", words: []string{"f"}}}, nil},
		{`echo 'a && b' "c; d" e\;f`, []part{{`echo 'a && b' "c; d" e\;f`, []string{"echo", "a && b", "c; d", "e;f"}, nil}}, nil},
		{"x > out.txt 2>&1", []part{{"x", []string{"x"}, []string{"out.txt"}}}, nil},
		{"x 2>> 'log file' &> all", []part{{"x", []string{"x"}, []string{"log file", "all"}}}, nil},
		{"x2>y", []part{{"x2", []string{"x2"}, []string{"y"}}}, nil},
		{"echo $(ls) `ls` ${x} $y", nil, []construct{nested, backticks, braces, variable}},
		{"sleep 1 &", []part{{"sleep 1", []string{"sleep", "1"}, nil}}, []construct{background}},
		{"ls # rest; of line\nps", []part{{"ls", []string{"ls"}, nil}, {"ps", []string{"ps"}, nil}}, []construct{comment}},
		{"cat <<EOF > x; ls\nbody; more\nEOF\nps", []part{{"cat", []string{"cat"}, []string{"x"}}, {"ls", []string{"ls"}, nil}, {"ps", []string{"ps"}, nil}}, []construct{heredoc}},
		{"cat <<'EOF'\n$(body)\nEOF", []part{{"cat", []string{"cat"}, nil}}, nil},
		{"wc < x", []part{{"wc", []string{"wc"}, nil}}, []construct{inputFile}},
		{"cat <<< hi", []part{{"cat", []string{"cat"}, nil}}, nil},
		{"diff <(a) b", nil, []construct{process}},
		{"(ls)", []part{{"ls", []string{"ls"}, nil}}, []construct{subshell}},
		{"echo 'open", []part{{"echo 'open", []string{"echo", "open"}, nil}}, nil},
	}
	for _, test := range tests {
		l := parse(test.command)
		if test.parts != nil {
			if diff := cmp.Diff(test.parts, l.parts, cmp.AllowUnexported(part{})); diff != "" {
				t.Errorf("%q: the parts differ (-want +got):\n%s", test.command, diff)
			}
		}
		for _, c := range test.odd {
			if !l.is(c) {
				t.Errorf("%q: construct %d was not seen", test.command, c)
			}
		}
		if test.odd == nil && len(l.odd) > 0 {
			t.Errorf("%q: got constructs %v, expected none", test.command, l.odd)
		}
	}
}

func TestMatchPath(t *testing.T) {
	tests := []struct {
		rule, source, path string
		old, newer         bool
	}{
		{"//etc/hosts", Session, "/etc/hosts", true, true},
		{"//etc/**", Session, "/etc/a/b", true, true},
		{"//etc/**", Session, "/etcetera", false, false},
		{"///etc/**", Session, "/etc/a", false, true},
		{"~/notes/*.md", Session, "/r/home/notes/a.md", true, true},
		{"~/notes/*.md", Session, "/r/home/notes/b/a.md", false, false},
		{"/src/**", LocalSettings, "/r/work/src/a", true, true},
		{"/src/**", LocalSettings, "/r/work/x/src/a", false, false},
		{"/src/**", UserSettings, "/r/home/.claude/src/a", true, true},
		{"/src/**", FlagSettings, "/r/work/src/a", false, false},
		{"./a.txt", Session, "/r/work/a.txt", true, true},
		{"./a.txt", Session, "/r/work/x/a.txt", false, false},
		{"a.txt", Session, "/r/work/x/a.txt", true, true},
		{"docs/**", Session, "/r/work/x/docs/a", true, false},
		{"docs/**", Session, "/r/work/docs/a", true, true},
		{"**/x/?.go", Session, "/r/work/a/b/x/c.go", true, true},
		{"*.txt", Session, "/r/outside/a.txt", false, false},
		{"**", Session, "/r/work/a/b", true, true},
	}
	for _, test := range tests {
		for _, v := range versions {
			want := test.old
			if v.Patch == 325 {
				want = test.newer
			}
			g := newGate(t, Options{Version: v, Home: "/r/home"})
			if got := g.matchPath(Rule{Behavior: Allow, Source: test.source, Tool: "Read", Content: test.rule}, test.path); got != want {
				t.Errorf("%s: rule %s of %s and %s: got %v, expected %v", v, test.rule, test.source, test.path, got, want)
			}
		}
	}
}

// Whatever the rules and the call are, a verdict is one of three, and bypass
// mode never widens what a rule denies.
func FuzzJudge(f *testing.F) {
	f.Add("Bash(npm run:*)", "Bash(rm*)", "npm run x && rm -rf y", "Bash", "default")
	f.Add("Edit(/src/**),Read(//etc/**)", "Read(~/x)", "/etc/passwd", "Read", "plan")
	f.Add("mcp__a__*", "WebFetch(domain:x)", "http://x/", "WebFetch", "auto")
	f.Add("(", "Bash(**a*b*)", "cat <<'E' > x\nE\n`$(${", "Bash", "bypassPermissions")
	f.Add("Write(*)", "Edit(**/*?)", "../x", "Write", "dontAsk")
	f.Fuzz(func(t *testing.T, allow, deny, argument, tool, mode string) {
		input, err := json.Marshal(map[string]string{"command": argument, "file_path": argument, "url": argument, "path": argument})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range versions {
			o := Options{Version: v, Mode: mode, Dir: "/r/work", AllowedTools: []string{allow}, DisallowedTools: []string{deny}}
			g, err := New(o)
			if err != nil {
				t.Fatal(err)
			}
			verdict := g.Judge(tool, input)
			if !slices.Contains([]string{Allow, Deny, Ask}, verdict.Behavior) {
				t.Errorf("%s: behaviour %q", v, verdict.Behavior)
			}
			if verdict.Behavior == Deny && verdict.Message == "" {
				t.Errorf("%s: denied without a message", v)
			}
			for _, update := range verdict.Suggestions {
				if _, err := json.Marshal(update); err != nil {
					t.Errorf("%s: suggestion %v: %v", v, update, err)
				}
			}
			if verdict.Rule != nil && verdict.Rule.Behavior == Deny {
				g.SetMode(modeBypass)
				if got := g.Judge(tool, input).Behavior; got != Deny {
					t.Errorf("%s: mode bypassPermissions makes %s of a denied call", v, got)
				}
			}
			for _, r := range g.Rules() {
				if again, content := parseRule(r.String()); again != r.Tool || content != r.Content {
					t.Errorf("rule %+v reads back as %q, %q", r, again, content)
				}
			}
		}
	})
}

// TestSetFlags holds what rules do that come after the launch: they stand beside the launch's, and in the place of those before.
func TestSetFlags(t *testing.T) {
	g, err := New(Options{Dir: "/r/work", Settings: []Source{{Name: FlagSettings, Settings: json.RawMessage(`{"permissions":{"deny":["Bash(whoami:*)"]}}`)}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		flags            string
		checked, refused bool
		echo, whoami     string
	}{
		{flags: `{}`, echo: Allow, whoami: Deny},
		{flags: `{"deny":["Bash(echo:*)","Bash(whoami:*)"]}`, echo: Deny, whoami: Deny},
		{flags: `{"deny":"x"}`, checked: true, refused: true, echo: Deny, whoami: Deny},
		{flags: `{"ask":["Bash(echo:*)"]}`, echo: Ask, whoami: Deny},
		{flags: `{"deny":"x"}`, echo: Allow, whoami: Deny},
		{flags: `{"deny":["Bash(echo:*)"]}`, echo: Deny, whoami: Deny},
		{flags: `null`, echo: Allow, whoami: Deny},
	} {
		if err := g.SetFlags(json.RawMessage(step.flags), step.checked); (err != nil) != step.refused {
			t.Errorf("%s: %v", step.flags, err)
		}
		for command, want := range map[string]string{"echo x": step.echo, "whoami": step.whoami} {
			if got := g.Judge("Bash", json.RawMessage(`{"command":"`+command+`"}`)).Behavior; got != want {
				t.Errorf("after %s, %s: got %s, want %s", step.flags, command, got, want)
			}
		}
	}
}
