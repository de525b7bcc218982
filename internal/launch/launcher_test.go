//go:build unix

package launch

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/wire"
)

func newSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// install puts a simulated CLI into a folder.
func install(t *testing.T) string {
	t.Helper()
	path, err := claudetest.Install(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestStart(t *testing.T) {
	b := newLab(t, func(c *Config) { c.OrphanAfter, c.BufferBytes = 5, 6 })
	spec, launched, r := b.start("tell")

	if !b.Alive(launched.PID, launched.PIDStart) || b.Alive(launched.PID, "another time") || !b.Alive(launched.PID, "") || b.Alive(0, "") || b.Alive(-1, "") || b.Alive(1<<30, "") {
		t.Errorf("Alive is wrong about %+v", launched)
	}
	if launched.Version.IsZero() || launched.Instance == "" || launched.ConfigDir != filepath.Join(b.config.DataDir, "sim") {
		t.Errorf("launched %+v", launched)
	}
	if !launched.Simulated {
		t.Error("the simulation is not called one")
	}

	// What everybody on the machine can see.
	if want := []string{b.config.Program, "shim"}; !slices.Equal(r.Args, want) {
		t.Errorf("the shim's arguments are %q", r.Args)
	}
	if !has(r.Env, claude.MarkerEnv+"="+spec.Marker, "HOME="+b.home, "SWITCHBOARD_KILLPOINT=nowhere") {
		t.Errorf("the shim's environment %q lacks something", r.Env)
	}
	for _, entry := range r.Env {
		ours := nameOf(entry) == claude.MarkerEnv || strings.HasPrefix(entry, killPrefix)
		if strings.Contains(entry, "verysecret") || !ours && matches(strippedEnv(), nameOf(entry)) {
			t.Errorf("the shim's environment has %s", entry)
		}
	}
	if r.Dir != "/" || r.Input&os.ModeCharDevice == 0 {
		t.Errorf("the shim runs in %s with an input of mode %v", r.Dir, r.Input)
	}
	if group, err := syscall.Getpgid(launched.PID); err != nil || group != launched.PID {
		t.Errorf("the shim is in group %d, %v", group, err)
	}

	// What it is told.
	s := r.Spec
	if s.Session != spec.Session || s.Run != spec.Run || s.Token != spec.Token || s.Marker != spec.Marker || s.Instance != launched.Instance ||
		s.Socket != b.config.Socket || s.OrphanAfter != 5 || s.BufferBytes != 6 || s.Command.Dir != b.dir || s.Command.Version != launched.Version.String() {
		t.Errorf("the shim's orders are %+v", s)
	}
	if !has(s.Command.Args, b.config.Program, "sim", "--permission-mode=default", "--permission-prompt-tool=stdio", "--include-partial-messages", "--replay-user-messages") {
		t.Errorf("the CLI's arguments are %q", s.Command.Args)
	}
	if !has(s.Command.Env, "SECRET=for the CLI", "PWD="+b.dir, "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS=1",
		"CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING=1", claude.MarkerEnv+"="+spec.Marker) {
		t.Errorf("the CLI's environment is %q", s.Command.Env)
	}
	for _, name := range []string{"ANTHROPIC_API_KEY", "CLAUDECODE", "NOTIFY_SOCKET", "SWITCHBOARD_KILLPOINT"} {
		if get(s.Command.Env, name) != "" {
			t.Errorf("the CLI is given %s", name)
		}
	}

	// What is on disk.
	for path, mode := range map[string]os.FileMode{
		s.PrivateDir: 0o700 | os.ModeDir,
		filepath.Join(b.config.DataDir, "run", "cli", spec.folder(), recordName): 0o600,
		s.Log: 0o600,
	} {
		if info, err := os.Stat(path); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	if want := filepath.Join(b.config.DataDir, "shims", spec.folder()+".log"); s.Log != want || s.SpoolDir != filepath.Join(b.config.DataDir, "spool") {
		t.Errorf("the log is %s, the spool %s", s.Log, s.SpoolDir)
	}

	// Twice is once too often.
	_, err := b.Start(t.Context(), spec)
	if e, ok := errors.AsType[*StartError](err); !ok || e.Code != Running || !strings.Contains(err.Error(), strconv.Itoa(launched.PID)) {
		t.Errorf("starting it again: %v", err)
	}

	// The end is told, and nothing of the process remains.
	if err := syscall.Kill(launched.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if got, want := b.exit(), (Exit{spec.Session, spec.Run, launched.PID, -1, "killed"}); got != want {
		t.Errorf("told %+v, expected %+v", got, want)
	}
	if _, _, ok := processStat(launched.PID); ok {
		t.Error("the dead shim was not waited for")
	}
}

func TestShimThatBreaksDown(t *testing.T) {
	b := newLab(t, nil)
	spec, _ := b.spec("crash")
	launched, err := b.Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := b.exit(), (Exit{spec.Session, spec.Run, launched.PID, 7, ""}); got != want {
		t.Errorf("told %+v, expected %+v", got, want)
	}
	log, err := os.ReadFile(filepath.Join(b.config.DataDir, "shims", spec.folder()+".log"))
	if err != nil || !strings.Contains(string(log), "the shim breaks down") {
		t.Errorf("the log says %q, %v", log, err)
	}
}

// TestShimWithoutOrders has the hub die between the start of a shim and its
// orders.
func TestShimWithoutOrders(t *testing.T) {
	b := newLab(t, nil)
	theirs, ours, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	pid, err := b.reaper.start(Exit{Session: "s"}, func() (int, error) {
		return startDetached(b.config.Program, []string{"shim"}, b.shimEnviron("marker-of-nobody"), theirs, log)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(theirs.Close(), ours.Close()); err != nil {
		t.Fatal(err)
	}
	b.reaper.announce(pid)
	if got := b.exit(); got.PID != pid || got.Code != 1 {
		t.Errorf("told %+v", got)
	}
}

func TestShimThatIsNone(t *testing.T) {
	// More than a pipe holds, so that nobody can take it without reading.
	long := strings.Repeat("x", 100_000)
	for _, test := range []struct{ name, program, want string }{
		{"ends", "#!/bin/sh\necho no such verb >&2\nexit 2\n", "the shim did not take its orders"},
		{"no program", "no program", "exec format error"},
	} {
		t.Run(test.name, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "program")
			if err := os.WriteFile(program, []byte(test.program), 0o700); err != nil {
				t.Fatal(err)
			}
			b := newLab(t, func(c *Config) { c.Program, c.Agent = program, install(t) })
			spec, _ := b.spec("tell")
			spec.Options.Env["LONG"] = long
			_, err := b.Start(t.Context(), spec)
			if e, ok := errors.AsType[*StartError](err); !ok || e.Code != Failed || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v", err)
			}
			if entries, err := os.ReadDir(b.folders()); err != nil || len(entries) > 0 {
				t.Errorf("left behind: %v, %v", entries, err)
			}
			// It is waited for, and no news.
			eventually(t, "the end of the program", func() bool {
				b.reaper.mu.Lock()
				defer b.reaper.mu.Unlock()
				return len(b.reaper.children) == 0
			})
			if len(b.exits) > 0 {
				t.Errorf("told %+v", <-b.exits)
			}
		})
	}
}

func TestStartThatIsGivenUp(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nexec sleep 1000\n"), 0o700); err != nil { // never reads its orders
		t.Fatal(err)
	}
	b := newLab(t, func(c *Config) { c.Program, c.Agent = program, install(t) })
	spec, _ := b.spec("tell")
	spec.Options.Env["LONG"] = strings.Repeat("x", 100_000)
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	failed := make(chan error, 1)
	go func() {
		_, err := b.Start(ctx, spec)
		failed <- err
	}()
	eventually(t, "the shim's record", func() bool {
		_, ok, _ := readRecord(filepath.Join(b.folders(), spec.folder()))
		return ok
	})
	// A sweep at this moment leaves it alone.
	if swept, err := b.SweepAll(t.Context()); err != nil || len(swept) > 0 {
		t.Errorf("swept %+v, %v", swept, err)
	}
	cancel(enough)
	if err := <-failed; !errors.Is(err, enough) {
		t.Errorf("the error is %v", err)
	}
}

func TestRefusals(t *testing.T) {
	b := newLab(t, nil)
	file := filepath.Join(b.dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	settings := func(text string) func(*Spec) {
		return func(s *Spec) { s.Options.Settings = json.RawMessage(text) }
	}
	tests := []struct {
		name   string
		change func(*Spec)
		code   Code
		want   string
	}{
		{"folder is missing", func(s *Spec) { s.Dir = b.dir + "/none" }, BadDir, b.dir + "/none does not exist"},
		{"folder is a file", func(s *Spec) { s.Dir = file }, BadDir, "is not a folder"},
		{"folder in a file", func(s *Spec) { s.Dir = file + "/x%d" }, BadDir, "x%d"},
		{"folder is relative", func(s *Spec) { s.Dir = "here" }, BadDir, "not an absolute path"},
		{"no folder", func(s *Spec) { s.Dir = "" }, BadDir, "not an absolute path"},
		{"no such agent", func(s *Spec) { s.Agent = "/nowhere/claude" }, NoAgent, "run --simulated"},
		{"agent is no program", func(s *Spec) { s.Agent = file }, NoAgent, "not executable"},
		{"option of no version", func(s *Spec) { s.SessionID = "mine" }, BadOption, "not a UUID"},
		{"fork of nothing", func(s *Spec) { s.Fork = true }, BadOption, "ForkSession"},
		{"bad servers", func(s *Spec) { s.Options.MCPServers = []byte(`[]`) }, BadOption, "MCPServers"},
		{"bad settings", func(s *Spec) { s.Options.Settings = []byte(`[]`) }, BadOption, "Settings"},
		{"our variable", func(s *Spec) { s.Options.Env = map[string]string{"SWITCHBOARD_RUN": "x"} }, BadOption, "SWITCHBOARD_RUN"},
		{"vendor's variable", func(s *Spec) { s.Options.Env = map[string]string{"CLAUDE_CODE_REMOTE": "1"} }, BadOption, "CLAUDE_CODE_REMOTE"},
		{"no variable", func(s *Spec) { s.Options.Env = map[string]string{"what=": "x"} }, BadOption, "Env"},
		{"bypass", func(s *Spec) { s.Options.PermissionMode = string(wire.PermissionModeBypassPermissions) }, Forbidden, "dangerously_skip_permissions"},
		{"bypass later", func(s *Spec) { s.Options.AllowBypass = true }, Forbidden, "dangerously_skip_permissions"},
		{"bypassing sub-agents", func(s *Spec) { s.BypassingAgents = true }, Forbidden, "dangerously_skip_permissions"},
		{"bypass by settings", settings(`{"permissions":{"defaultMode":"bypassPermissions"}}`), Forbidden, "dangerously_skip_permissions"},
		{"bypass by settings, escaped", settings(` {"perm\u0069ssions":{"defaultMode":"plan","defaultMode":"bypass\u0050ermissions"}}`), Forbidden, "dangerously_skip_permissions"},
		{"its warning by settings", settings(`{"skipDangerousModePermissionPrompt":true}`), Forbidden, "dangerously_skip_permissions"},
		{"bypass by settings, with a fork", func(s *Spec) {
			settings(`{"permissions":{"defaultMode":"bypassPermissions"}}`)(s)
			s.Resume, s.Fork = "11111111-1111-4111-8111-111111111111", true
		}, Forbidden, "dangerously_skip_permissions"},
		{"settings as the path of a file", settings(`"/home/ann/settings.json"`), BadOption, "not a JSON object"},
		{"settings as a text", settings(`"{\"permissions\":{\"defaultMode\":\"bypassPermissions\"}}"`), BadOption, "not a JSON object"},
		{"settings without hooks", settings(`{"disableAllHooks":true}`), BadOption, "set the hub's own rules aside"},
		{"our variable by settings", settings(`{"env":{"SWITCHBOARD_RUN":"x"}}`), BadOption, "SWITCHBOARD_RUN"},
		{"vendor's variable by settings", settings(`{"env":{"A":"b","CLAUDE_CODE_REMOTE":"1"}}`), BadOption, "CLAUDE_CODE_REMOTE"},
		{"variables by settings that are none", settings(`{"env":["A"]}`), BadOption, "env"},
		{"no session", func(s *Spec) { s.Session = "../x" }, Failed, "do not name a run"},
		{"no run", func(s *Spec) { s.Run = 0 }, Failed, "do not name a run"},
		{"no token", func(s *Spec) { s.Token = "" }, Failed, "no marker or no token"},
		{"bad marker", func(s *Spec) { s.Marker = "a b" }, BadOption, "Marker"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			spec, _ := b.spec("tell")
			test.change(spec)
			launched, err := b.Start(t.Context(), spec)
			e, ok := errors.AsType[*StartError](err)
			if !ok || e.Code != test.code || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("launched %+v, error %v", launched, err)
			}
		})
	}
	if entries, err := os.ReadDir(b.folders()); err == nil && len(entries) > 0 {
		t.Errorf("left behind: %v", entries)
	}
}

func TestNobodyThere(t *testing.T) {
	err := explainFind(&claude.NotFoundError{Looked: []string{"PATH", "/somewhere"}})
	if e, ok := errors.AsType[*StartError](err); !ok || e.Code != NoAgent {
		t.Errorf("the error is %#v", err)
	}
	for _, want := range []string{NoClaude, "npm install", "--agent PATH", "run --simulated"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error %q does not say %q", err, want)
		}
	}
	if _, ok := errors.AsType[*claude.NotFoundError](err); !ok {
		t.Error("the cause is lost")
	}
}

func TestNewRefuses(t *testing.T) {
	good := Config{Program: "/p", DataDir: "/d", Socket: "/s"}
	for name, change := range map[string]func(*Config){
		"absolute": func(c *Config) { c.DataDir = "d" },
		"paths":    func(c *Config) { c.Socket = "" },
		"bypass":   func(c *Config) { c.Claude.PermissionMode = wire.PermissionModeBypassPermissions },
	} {
		c := good
		change(&c)
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCloseLeavesShims(t *testing.T) {
	b := newLab(t, nil)
	_, launched, _ := b.start("tell")
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if !b.Alive(launched.PID, launched.PIDStart) {
		t.Error("the shim has died with the launcher")
	}
	spec, _ := b.spec("tell")
	if _, err := b.Start(t.Context(), spec); !errors.Is(err, ErrClosed) {
		t.Errorf("starting after the end: %v", err)
	}
	if _, err := b.SweepAll(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("sweeping after the end: %v", err)
	}
}

// What a caller notes before the shim has its orders is noted of every shim that acts, and
// an error of it ends the shim.
func TestBefore(t *testing.T) {
	b := newLab(t, nil)
	spec, path := b.spec("tell")
	var noted Launched
	spec.Before = func(l Launched) error {
		noted = l
		if _, err := os.Stat(path); err == nil {
			t.Error("the shim acts before it is noted")
		}
		return nil
	}
	launched, _ := b.startSpec(spec, path)
	if !reflect.DeepEqual(noted, *launched) || !b.Alive(noted.PID, noted.PIDStart) {
		t.Errorf("noted %+v, started %+v", noted, launched)
	}
	spec, path = b.spec("tell")
	failed := errors.New("the disk is full")
	spec.Before = func(l Launched) error {
		noted = l
		return failed
	}
	if _, err := b.Start(t.Context(), spec); !errors.Is(err, failed) {
		t.Errorf("%v", err)
	}
	eventually(t, "the end of the shim", func() bool { return !b.Alive(noted.PID, noted.PIDStart) })
	if _, err := os.Stat(path); err == nil {
		t.Error("a shim that could not be noted has acted")
	}
}
