package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
	"go.uber.org/goleak"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/internal/launch"
)

// update writes golden files anew.
var update = flag.Bool("update", false, "write the golden files in testdata")

// TestMain lets the test binary be the program itself: serve starts it with the verbs shim and sim, some tests with serve, and scripts under the
// name switchboard.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-test.") {
		main()
	}
	testscript.Main(guarded{m}, map[string]func(){"switchboard": main})
}

// A guarded is the tests, with a look at what they leave behind.
type guarded struct{ m *testing.M }

// Run runs them.
func (g guarded) Run() (code int) {
	// A script mostly waits for processes, so more of them run at once than there are
	// cores.
	if err := flag.Set("test.parallel", "5"); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return 2
	}
	goleak.VerifyTestMain(g.m, goleak.Cleanup(func(c int) { code = c }))
	for _, process := range leftBehind() {
		_, _ = fmt.Fprintln(os.Stderr, "left behind:", process)
		code = max(code, 1)
	}
	return code
}

// leftBehind lists the processes that run this test binary, where the system tells: all of them were started by the tests.
func leftBehind() []string {
	self, err := os.Executable()
	if err != nil {
		return []string{err.Error()}
	}
	own, err := os.Stat(self)
	if err != nil {
		return []string{err.Error()}
	}
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		return []string{err.Error()}
	}
	var list []string
	for _, link := range links {
		// Scripts have it under another name.
		if info, err := os.Stat(link); err != nil || !os.SameFile(info, own) || filepath.Dir(link) == fmt.Sprintf("/proc/%d", os.Getpid()) {
			continue
		}
		arguments, err := os.ReadFile(filepath.Join(filepath.Dir(link), "cmdline"))
		if err != nil {
			continue // it has ended
		}
		list = append(list, link+" "+strings.ReplaceAll(string(arguments), "\x00", " "))
	}
	return list
}

// newest is the version that is imitated unless somebody says otherwise.
const newest = "2.1.325"

// prompt is a line of input with a prompt.
func prompt(text string) string {
	line, err := json.Marshal(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": text}})
	if err != nil {
		panic(err)
	}
	return string(line) + "\n"
}

// stream are the flags of a program that drives a CLI.
var stream = strings.Fields("--print --verbose --input-format=stream-json --output-format=stream-json")

func TestRun(t *testing.T) {
	switchboard := func(args ...string) []string { return append([]string{"/usr/bin/switchboard"}, args...) }
	sim := func(args ...string) []string { return append([]string{"switchboard", "sim"}, args...) }
	tests := []struct {
		name           string
		args           []string
		env            []string
		stdin          string
		code           int
		stdout, stderr []string // parts; none means that nothing is written
	}{
		{"nothing", switchboard(), nil, "", 0, []string{"Common commands:", "Sessions:", "Looking:", "sim", "version", "completion", "Examples"}, nil},
		{"help", switchboard("--help"), nil, "", 0, []string{"Hub:"}, nil},
		{"help for a verb", switchboard("help", "version"), nil, "", 0, []string{"--json"}, nil},
		{"version flag", switchboard("--version"), nil, "", 0, []string{"switchboard devel"}, nil},
		{"version", switchboard("version"), nil, "", 0, []string{"switchboard ", "simulates Claude Code 2.1.37, 2.1.120, " + newest}, nil},
		{"version with an argument", switchboard("version", "now"), nil, "", codeUsage, nil, []string{`"now"`, "--help"}},
		{"unknown flag", switchboard("version", "--nope"), nil, "", codeUsage, nil, []string{"--nope"}},
		{"unknown verb", switchboard("serf"), nil, "", codeUsage, nil, []string{`unknown command "serf"; did you mean send or serve?`, "--help"}},
		{"bash", switchboard("completion", "bash"), nil, "", 0, []string{"__start_switchboard"}, nil},
		{"zsh", switchboard("completion", "zsh"), nil, "", 0, []string{"#compdef switchboard"}, nil},
		{"fish", switchboard("completion", "fish"), nil, "", 0, []string{"complete -c switchboard"}, nil},
		{"completed verbs", switchboard("__complete", ""), nil, "", 0, []string{"sim\t", "version\t"}, []string{"ShellCompDirective"}},

		{"serve on a bad address", switchboard("serve", "--addr", "0.0.0.0:1", "--data-dir", "/d"), nil, "", codeUsage, nil, []string{"--addr", "this machine alone"}},
		{"serve with half a certificate", switchboard("serve", "--tls-cert", "c.pem", "--data-dir", "/d"), nil, "", codeUsage, nil, []string{"--tls-key"}},
		{"serve behind nothing", switchboard("serve", "--behind-proxy", "--data-dir", "/d"), nil, "", codeUsage, nil, []string{"--url"}},
		{"serve for every page", switchboard("serve", "--open-relay=*", "--data-dir", "/d"), nil, "", codeUsage, nil, []string{"--open-relay", "* is not supported"}},
		{"serve for a page and a path", switchboard("serve", "--open-relay=http://localhost:1,http://localhost:2/x", "--data-dir", "/d"), nil, "", codeUsage, nil, []string{"write http://localhost:2"}},
		{"serve approving for nobody", switchboard("serve", "--open-relay-approve", "--data-dir", "/d"), nil, "", codeUsage, nil, []string{"names no page"}},
		{"serve nobody", switchboard("serve", "--max-connections", "-1", "--data-dir", "/d"), nil, "", codeUsage, nil, []string{"max_connections"}},
		{"serve under no address", switchboard("serve", "--url", "hub"), nil, "", codeUsage, nil, []string{"--url: "}},
		{"serve with a bad level", switchboard("serve", "--log-level", "loud"), nil, "", codeUsage, nil, []string{`"loud"`}},
		{"serve with a bad durability", switchboard("serve", "--durability", "some"), nil, "", codeUsage, nil, []string{"--durability", `"some"`}},
		{"serve with a bad journal", switchboard("serve", "--journal", "old"), nil, "", codeUsage, nil, []string{`"old"`, "new"}},
		{"serve with a bad agent", switchboard("serve", "--agent", "gpt"), nil, "", codeUsage, nil, []string{`"gpt"`, "neither a path nor sim"}},
		{"serve with an argument", switchboard("serve", "now"), nil, "", codeUsage, nil, []string{`"now"`}},
		{"serve with a setting that makes no sense", switchboard("serve"), []string{"SWITCHBOARD_SHIM_ORPHAN_AFTER=soon"}, "", codeUsage, nil, []string{"SWITCHBOARD_SHIM_ORPHAN_AFTER: "}},
		{"serve without its configuration", switchboard("serve", "--config", "/nowhere/config.toml"), nil, "", codeUsage, nil, []string{"/nowhere/config.toml"}},
		{"serve with a hostile name", switchboard("serve", "--config", "/nowhere/\x1b[2J.toml"), nil, "", codeUsage, nil, []string{"/nowhere/␛[2J.toml"}},
		{"serve with another configuration", switchboard("serve"), []string{envConfig + "=/nowhere/config.toml"}, "", codeUsage, nil, []string{"/nowhere/config.toml"}},
		{"serve in too deep a folder", switchboard("serve", "--data-dir", "/tmp/"+strings.Repeat("x", 100)), nil, "", codeUsage, nil, []string{"shorter path"}},
		{"attach without a session", switchboard("attach", "--plain"), nil, "", codeUsage, nil, []string{"name a session"}},
		{"attach without a terminal or a session", switchboard("attach"), nil, "", codeUsage, nil, []string{"name a session"}},
		{"attach without a server", switchboard("attach", "s1"), nil, "", codeNoServer, nil, []string{"switchboard serve"}},
		{"policy", switchboard("policy"), nil, "", 0, []string{"explain", "test", "show", "confirm"}, nil},
		{"policy of no kind", switchboard("policy", "change"), nil, "", codeUsage, nil, []string{`"change"`}},
		{"policy without a server", switchboard("policy", "show"), nil, "", codeNoServer, nil, []string{"switchboard serve"}},
		{"shim without orders", switchboard("shim", "now"), nil, "", codeUsage, nil, []string{`"now"`}},
		{"completed flags of serve", switchboard("__complete", "serve", "--durability", ""), nil, "", 0, []string{"normal", "full"}, []string{"ShellCompDirective"}},

		{"sim help", sim("--help"), nil, "", 0, []string{envVersion, envScript, envRecord, "demo-fast", "Examples"}, nil},
		{"sim short help", sim("-h"), nil, "", 0, []string{envVersion}, nil},
		{"help for sim", switchboard("help", "sim"), nil, "", 0, []string{envVersion}, nil},
		{"sim version", sim("--version"), nil, "", 0, []string{newest + " (Claude Code)\n"}, nil},
		{"sim of another version", sim("--version"), []string{envVersion + "=2.1.37"}, "", 0, []string{"2.1.37 (Claude Code)\n"}, nil},
		{"the last of two settings", sim("--version"), []string{envVersion + "=1.0.0", envVersion + "=2.1.120"}, "", 0, []string{"2.1.120 (Claude Code)\n"}, nil},
		{"sim of no version", sim("--version"), []string{envVersion + "=9.9.9"}, "", codeUsage, nil, []string{envVersion, "9.9.9"}},
		{"sim of no script", sim("--version"), []string{envScript + "=opera"}, "", codeUsage, nil, []string{envScript, `"opera"`, "directives, demo, demo-fast"}},
		{"record that cannot be", sim("--version"), []string{envRecord + "=/nowhere/at/all"}, "", codeUsage, nil, []string{envRecord, "/nowhere/at/all"}},
		{"flag of no CLI", sim("--no-such-flag"), nil, "", 1, nil, []string{"--no-such-flag"}},
		{"our flags are the CLI's", sim(append(stream, "--help")...), nil, "", 0, []string{"Usage: claude"}, nil},
		{"a prompt", sim(stream...), nil, prompt("@say hello"), 0, []string{`"subtype":"init"`, `"result":"hello"`}, nil},
		{"the demo without a directive", sim(stream...), []string{envScript + "=demo-fast"}, prompt("hello"), 0, []string{`slug/slug.go`}, nil},
		{"directives only", sim(stream...), []string{envScript + "=directives"}, prompt("hello"), 0, []string{"no directive"}, nil},

		{"a link named claude", []string{"/opt/claude", "--version"}, nil, "", 0, []string{newest + " (Claude Code)\n"}, nil},
		{"on Windows", []string{"Claude.EXE", "--version"}, []string{envVersion + "=2.1.37"}, "", 0, []string{"2.1.37 (Claude Code)\n"}, nil},
		{"a link's help", []string{"claude", "--help"}, nil, "", 0, []string{"Usage: claude"}, nil},
		{"a link's verb is a prompt", append([]string{"claude", "version"}, stream...), nil, prompt("@say hello"), 0, []string{`"result":"hello"`}, nil},
		{"another link", []string{"claudette", "version"}, nil, "", 0, []string{"simulates"}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := run(t.Context(), test.args, &env{stdin: strings.NewReader(test.stdin), stdout: &stdout, stderr: &stderr, env: append(test.env, "HOME="+t.TempDir())})
			if code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
			for name, output := range map[string]struct {
				got  string
				want []string
			}{"stdout": {stdout.String(), test.stdout}, "stderr": {stderr.String(), test.stderr}} {
				if len(output.want) == 0 && output.got != "" {
					t.Errorf("%s is %q, want nothing", name, output.got)
				}
				for _, part := range output.want {
					if !strings.Contains(output.got, part) {
						t.Errorf("%s has no %q:\n%s", name, part, output.got)
					}
				}
			}
		})
	}
}

// helpArgs returns the arguments of every verb that says something about itself, by the names of the files.
func helpArgs() map[string][]string {
	all := map[string][]string{"root": nil}
	var add func(cmd *cobra.Command, args []string)
	add = func(cmd *cobra.Command, args []string) {
		for _, sub := range cmd.Commands() {
			if path := append(slices.Clone(args), sub.Name()); !sub.Hidden || sub.Name() == "demo" {
				all[strings.Join(path, "-")] = path
				add(sub, path)
			}
		}
	}
	add(newRoot(&env{}), nil)
	return all
}

// TestHelp compares what the verbs say about themselves with the files in testdata.
func TestHelp(t *testing.T) {
	for name, args := range helpArgs() {
		if name == "sim" {
			continue // it has many versions of a CLI to tell about, see TestRun
		}
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if code := run(t.Context(), append(append([]string{"switchboard"}, args...), "--help"), &env{stdout: &stdout, stderr: &stderr}); code != 0 {
				t.Fatalf("exit code %d: %s", code, &stderr)
			}
			golden := filepath.Join("testdata", name+".help.txt")
			if *update {
				if err := os.MkdirAll("testdata", 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(golden, stdout.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), stdout.String()); diff != "" {
				t.Errorf("the help differs (-want +got); go test -update writes it anew:\n%s", diff)
			}
			for line := range strings.Lines(stdout.String()) {
				if len([]rune(line)) > 121 {
					t.Errorf("too wide for a terminal: %s", line)
				}
			}
		})
	}
}

// TestHelpIsShort holds that the program's own help can be seen at once.
func TestHelpIsShort(t *testing.T) {
	var stdout bytes.Buffer
	if code := run(t.Context(), []string{"switchboard", "help"}, &env{stdout: &stdout, stderr: &stdout}); code != 0 {
		t.Fatalf("exit code %d: %s", code, &stdout)
	}
	if n := strings.Count(stdout.String(), "\n"); n > 36 {
		t.Errorf("%d lines, want at most 36:\n%s", n, &stdout)
	}
	for _, cmd := range newRoot(&env{}).Commands() {
		if !cmd.Hidden && !strings.Contains(stdout.String(), cmd.Name()) {
			t.Errorf("%s is not in it", cmd.Name())
		}
	}
}

// TestNoClaude holds that it is said in three lines what to do without a Claude Code.
func TestNoClaude(t *testing.T) {
	failed := fmt.Errorf("creating the session: %w", &api.Error{Code: api.CodeStartFailed, Title: "The agent could not be started", Detail: launch.NoClaude, Hint: "…"})
	lines := strings.Split(complaint(failed), "\n")
	if len(lines) != 3 || !strings.Contains(lines[0], "switchboard run --simulated") || !strings.Contains(lines[1], "npm install") || !strings.Contains(lines[2], "--agent PATH") {
		t.Errorf("%q", lines)
	}
}

// TestVersionOf names builds.
func TestVersionOf(t *testing.T) {
	settings := []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef0123"}, {Key: "vcs.modified", Value: "true"}}
	for _, test := range []struct {
		info debug.BuildInfo
		want string
	}{
		{debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: settings}, "v1.2.3"},
		{debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "devel"},
		{debug.BuildInfo{Settings: settings}, "devel-0123456789ab (modified)"},
	} {
		if got := versionOf(&test.info); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}

func TestVersionJSON(t *testing.T) {
	var stdout bytes.Buffer
	if code := run(t.Context(), []string{"switchboard", "version", "--json"}, &env{stdout: &stdout, stderr: &stdout}); code != 0 {
		t.Fatalf("exit code %d: %s", code, &stdout)
	}
	var b build
	if err := json.Unmarshal(stdout.Bytes(), &b); err != nil || b.Version == "" || b.Go == "" || b.Platform == "" || len(b.Simulates) != 3 {
		t.Errorf("%s, %v", &stdout, err)
	}
}

// TestRecord keeps a record over two runs: each numbers its own lines.
func TestRecord(t *testing.T) {
	name := filepath.Join(t.TempDir(), "record.jsonl")
	for range 2 {
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), append([]string{"claude"}, stream...), &env{
			stdin: strings.NewReader(prompt("@say hello")), stdout: &stdout, stderr: &stderr, env: []string{envRecord + "=" + name, "HOME=" + t.TempDir()},
		})
		if code != 0 {
			t.Fatalf("exit code %d: %s", code, &stderr)
		}
	}
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	reads, first := 0, 0
	for line := range strings.Lines(string(content)) {
		var entry claudetest.Entry
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if entry.Read {
			reads++
			if entry.Line+"\n" != prompt("@say hello") {
				t.Errorf("read %q", entry.Line)
			}
		}
		if entry.Number == 1 {
			first++
		}
	}
	if reads != 2 || first != 2 {
		t.Errorf("%d prompts were read in %d runs, want 2 in 2:\n%s", reads, first, content)
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the record has mode %v, %v; others could read the conversation", info.Mode(), err)
	}
}
