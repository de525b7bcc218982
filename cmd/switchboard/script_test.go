package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/naming"
)

// TestScripts runs the scripts in testdata/script, each of which is about one verb, through the program itself. go test -update writes what their
// cmp commands compare with anew.
//
// Beside testscript's own commands there are these. $DATA is the folder of the hub, which is also in the environment, $NODE one for a node, $PROJECT a folder to work in.
//
//	hub [FLAG...]             starts a hub with a simulated agent, puts its address into URL, and returns when it can be reached; it ends, with its
//	                          agents, with the script
//	hub-stop                  ends the hub in good order, and its agents
//	new VAR [-title T] [-dir D] [-model M] [-mode M] [PROMPT]
//	                          makes a session and puts its id into a variable
//	say SESSION PROMPT        sends a message
//	await SESSION STATE       waits until the session is in the state: idle, running, requires_action, ended …; a turn that is queued counts as running
//	ask VAR SESSION           waits for a question of the session, and puts its id into a variable
//	exits CODE COMMAND...     runs a command and checks its exit code
//	soon LINES COMMAND...     runs a command until it succeeds and writes at least so many lines; for what follows a moment later
//	begin COMMAND...          starts a command, one at a time
//	says TEXT                 waits until it has written the text to standard output since the last time
//	interrupt CODE            interrupts it, and checks its exit code
//	ends CODE                 waits for its end, and checks its exit code
//	visit FILE                logs in as the browser would that opens the file, which leads to the console
//	mode MODE FILE            checks the permissions of a file, in octal
//	certificate VAR           writes cert.pem and key.pem of a hub that no authority vouches for, and puts the fingerprint into a variable
//	keep VAR COMMAND...       runs a command and puts what it writes to standard output into a variable
//	mask [FILE]               writes stdout, or a file, to the file masked, with ids by the names of their variables, and without times and lengths;
//	                          then: cmp masked want
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"), UpdateScripts: *update, RequireUniqueNames: true,
		Setup: setupScript,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"hub": scriptHub, "hub-stop": scriptHubStop, "new": scriptNew, "say": scriptSay, "await": scriptAwait, "ask": scriptAsk,
			"exits": scriptExits, "soon": scriptSoon, "begin": scriptBegin, "says": scriptSays, "interrupt": scriptInterrupt, "ends": scriptEnds, "mode": scriptMode, "mask": scriptMask,
			"visit": scriptVisit, "certificate": scriptCertificate, "keep": scriptKeep,
		},
	})
}

// A stage is what a script has beside its folder.
type stage struct {
	ids map[string]string // names of variables by the ids that are in them
	hub *exec.Cmd         // nil if there is none
	log string            // the file with what the hub wrote

	program *exec.Cmd // that begin has started; nil if there is none
	said    *bufio.Reader
}

// stageKey is the key of the stage among the values of a script.
type stageKey struct{}

// stageOf returns the stage of a script.
func stageOf(ts *testscript.TestScript) *stage { return ts.Value(stageKey{}).(*stage) }

// setupScript gives a script an environment of its own, with nothing of the user's.
func setupScript(env *testscript.Env) error {
	// Not below the script's folder: the path of a socket must be short.
	temp := os.TempDir()
	if len(temp) > 20 {
		temp = "/tmp"
	}
	data, err := os.MkdirTemp(temp, "sb")
	if err != nil {
		return err
	}
	env.Defer(func() {
		if err := os.RemoveAll(data); err != nil {
			env.T().Log(err)
		}
	})
	home, project := filepath.Join(env.WorkDir, "home"), filepath.Join(env.WorkDir, "project")
	for _, folder := range []string{home, project} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return err
		}
	}
	for name, value := range map[string]string{
		"HOME": home, "PROJECT": project, "DATA": filepath.Join(data, "d"), "SWITCHBOARD_DATA_DIR": filepath.Join(data, "d"), "NODE": filepath.Join(data, "n"), "GORACE": "atexit_sleep_ms=0",
		"SWITCHBOARD_ADDR": "127.0.0.1:0", "SWITCHBOARD_AGENT": "sim", "SWITCHBOARD_SANDBOX_MODE": "off", "TZ": "UTC", "TERM": "xterm-256color",
	} {
		env.Setenv(name, value)
	}
	st := &stage{ids: map[string]string{}}
	env.Values[stageKey{}] = st
	env.Defer(func() {
		if st.program != nil { // the script has failed
			_ = st.program.Process.Kill()
			_ = st.program.Wait()
		}
		if err := st.end(); err != nil {
			env.T().Log(err)
			env.T().FailNow()
		}
	})
	return nil
}

// scriptHub starts a hub as a process of its own.
func scriptHub(ts *testscript.TestScript, neg bool, args []string) {
	st := stageOf(ts)
	if neg || st.hub != nil {
		ts.Fatalf("usage: hub [FLAG...], once")
	}
	program, err := exec.LookPath("switchboard")
	ts.Check(err)
	cmd := exec.CommandContext(context.Background(), program, append([]string{"serve", "--stop-agents"}, args...)...)
	cmd.Env = scriptEnv(ts)
	cmd.Dir = ts.Getenv("WORK")
	st.log = ts.MkAbs("hub.log")
	log, err := os.Create(st.log)
	ts.Check(err)
	defer func() { _ = log.Close() }() // the process has its own
	cmd.Stderr = log
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	st.hub = cmd
	// It writes a few short lines: there is room for them in the pipe, and what comes after the one that counts is read at its end.
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if address, found := strings.CutPrefix(lines.Text(), "listening on "); found {
			ts.Setenv("URL", address)
		}
		if strings.HasPrefix(lines.Text(), "socket ") {
			return
		}
	}
	ts.Fatalf("the hub does not start:\n%s", st.end())
}

// scriptEnv is the environment of a script.
func scriptEnv(ts *testscript.TestScript) []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "GORACE", "GOCOVERDIR", "SWITCHBOARD_DATA_DIR", "SWITCHBOARD_NODE_DATA_DIR", "SWITCHBOARD_ADDR", "SWITCHBOARD_AGENT", "SWITCHBOARD_CONFIG", "SWITCHBOARD_SANDBOX_MODE", "SWITCHBOARD_SANDBOX_ENFORCER", "SWITCHBOARD_SANDBOX_BUBBLEWRAP", "TZ"} {
		if value := ts.Getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// scriptHubStop ends the hub.
func scriptHubStop(ts *testscript.TestScript, neg bool, args []string) {
	st := stageOf(ts)
	if neg || len(args) > 0 || st.hub == nil {
		ts.Fatalf("usage: hub-stop, after hub")
	}
	ts.Check(st.end())
}

// end ends the hub if there is one, and waits for it.
func (st *stage) end() error {
	if st.hub == nil {
		return nil
	}
	cmd := st.hub
	st.hub = nil
	_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	late := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	if err := cmd.Wait(); err != nil {
		log, _ := os.ReadFile(st.log) // the error says enough
		return fmt.Errorf("the hub: %w\n%s", err, log)
	}
	return nil
}

// withHub calls f with a client of the script's hub and a context that bounds what should take moments.
func (st *stage) withHub(ts *testscript.TestScript, f func(context.Context, *client.Client) error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := client.New(&client.Options{Socket: filepath.Join(ts.Getenv("DATA"), "run", "hub.sock")})
	ts.Check(err)
	defer c.Close()
	if err := f(ctx, c); err != nil {
		log, _ := os.ReadFile(st.log) // what there is
		ts.Fatalf("%v\nthe hub said:\n%s", err, log)
	}
}

// set puts an id into a variable of the script.
func (st *stage) set(ts *testscript.TestScript, name, id string) {
	ts.Setenv(name, id)
	st.ids[id] = name
}

// scriptNew makes a session.
func scriptNew(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: new VAR [-title T] [-dir D] [-model M] [-mode M] [PROMPT]")
	}
	in := api.CreateSession{Dir: ts.Getenv("PROJECT")}
	name, args := args[0], args[1:]
	for len(args) > 1 && strings.HasPrefix(args[0], "-") {
		switch args[0] {
		case "-title":
			in.Title = args[1]
		case "-dir":
			in.Dir = ts.MkAbs(args[1])
		case "-model":
			in.Options.Model = args[1]
		case "-mode":
			in.Options.PermissionMode = args[1]
		default:
			ts.Fatalf("new has no %s", args[0])
		}
		args = args[2:]
	}
	in.Prompt = strings.Join(args, "\n")
	st := stageOf(ts)
	st.withHub(ts, func(ctx context.Context, c *client.Client) error {
		created, err := c.Create(ctx, in)
		if err == nil {
			st.set(ts, name, created.ID)
		}
		return err
	})
}

// scriptSay sends a message.
func scriptSay(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: say SESSION PROMPT")
	}
	stageOf(ts).withHub(ts, func(ctx context.Context, c *client.Client) error {
		_, err := c.Send(ctx, args[0], api.SendMessage{Text: strings.Join(args[1:], "\n")})
		return err
	})
}

// until waits until a session is as f wants it: it looks again with every event.
func until(ctx context.Context, c *client.Client, id string, f func(*api.Session) bool) error {
	session, err := c.Session(ctx, id)
	if err != nil || f(session) {
		return err
	}
	for frame, err := range c.Follow(ctx, id, &client.FollowOptions{After: session.LastEventID, NoLive: true}) {
		if err != nil {
			return fmt.Errorf("waiting for session %s, which is %s with %d messages under way: %w", id, session.State, len(session.Messages), err)
		}
		if frame.Type != api.FrameEvent && frame.Type != api.FrameResume {
			continue
		}
		if session, err = c.Session(ctx, id); err != nil || f(session) {
			return err
		}
	}
	return errors.New("the stream has ended")
}

// scriptAwait waits for a state.
func scriptAwait(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: await SESSION STATE")
	}
	stageOf(ts).withHub(ts, func(ctx context.Context, c *client.Client) error {
		return until(ctx, c, args[0], func(s *api.Session) bool {
			return s.State == api.State(args[1]) && (s.State != api.StateIdle || len(s.Messages) == 0)
		})
	})
}

// scriptAsk waits for a question.
func scriptAsk(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: ask VAR SESSION")
	}
	st := stageOf(ts)
	st.withHub(ts, func(ctx context.Context, c *client.Client) error {
		return until(ctx, c, args[1], func(s *api.Session) bool {
			for i := range s.Questions {
				// One that has a name already is another.
				if _, known := st.ids[s.Questions[i].ID]; !known {
					st.set(ts, args[0], s.Questions[i].ID)
					return true
				}
			}
			return false
		})
	})
}

// scriptExits runs a command and checks its exit code.
func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	code := "0"
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		ended, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		code = fmt.Sprint(ended.ExitCode())
	}
	if code != args[0] {
		ts.Fatalf("exit code %s, want %s", code, args[0])
	}
}

// scriptSoon runs a command until it has said enough.
func scriptSoon(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: soon LINES COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	// Each try is a process, which takes its time: nothing has to wait between them.
	for begun := time.Now(); time.Since(begun) < patience; {
		if err := ts.Exec(args[1], args[2:]...); err == nil && strings.Count(ts.ReadFile("stdout"), "\n") >= want {
			return
		}
	}
	ts.Fatalf("it never says enough")
}

// scriptBegin starts a command.
func scriptBegin(ts *testscript.TestScript, neg bool, args []string) {
	st := stageOf(ts)
	if neg || len(args) == 0 || st.program != nil {
		ts.Fatalf("usage: begin COMMAND..., after the end of the last one")
	}
	path, err := exec.LookPath(args[0])
	ts.Check(err)
	cmd := exec.CommandContext(context.Background(), path, args[1:]...)
	cmd.Env, cmd.Dir = scriptEnv(ts), ts.Getenv("WORK")
	out, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	st.program, st.said = cmd, bufio.NewReader(out)
}

// scriptSays waits for a text. A command is run until it is there: what begin has
// started may not be listening yet when it is run first.
func scriptSays(ts *testscript.TestScript, neg bool, args []string) {
	st := stageOf(ts)
	if neg || len(args) == 0 || st.program == nil {
		ts.Fatalf("usage: says TEXT [COMMAND...], after begin")
	}
	if len(args) > 1 {
		path, err := exec.LookPath(args[1])
		ts.Check(err)
		env, dir := scriptEnv(ts), ts.Getenv("WORK")
		ctx, cancel := context.WithCancel(context.Background())
		var again sync.WaitGroup
		defer again.Wait()
		defer cancel()
		again.Go(func() {
			for ctx.Err() == nil {
				cmd := exec.CommandContext(ctx, path, args[2:]...)
				cmd.Env, cmd.Dir = env, dir
				_ = cmd.Run() // it is the text that counts
			}
		})
	}
	late := time.AfterFunc(patience, func() { _ = st.program.Process.Kill() })
	defer late.Stop()
	var all strings.Builder
	for {
		line, err := st.said.ReadString('\n')
		all.WriteString(line)
		if strings.Contains(line, args[0]) {
			return
		}
		if err != nil {
			ts.Fatalf("it never says %q, but:\n%s", args[0], &all)
		}
	}
}

// scriptInterrupt interrupts what was begun.
func scriptInterrupt(ts *testscript.TestScript, neg bool, args []string) {
	st := stageOf(ts)
	if neg || len(args) != 1 || st.program == nil {
		ts.Fatalf("usage: interrupt CODE, after begin")
	}
	ts.Check(st.program.Process.Signal(os.Interrupt))
	scriptEnds(ts, neg, args)
}

// scriptEnds waits until the program of begin has ended, and checks its exit code.
func scriptEnds(ts *testscript.TestScript, neg bool, args []string) {
	st := stageOf(ts)
	if neg || len(args) != 1 || st.program == nil {
		ts.Fatalf("usage: ends CODE, after begin")
	}
	cmd := st.program
	st.program = nil
	late := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	_, err := io.Copy(io.Discard, st.said) // it may still be writing
	ts.Check(err)
	_ = cmd.Wait() // the code is what counts
	if got := fmt.Sprint(cmd.ProcessState.ExitCode()); got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
}

// scriptMode checks permissions.
func scriptMode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mode MODE FILE")
	}
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := fmt.Sprintf("%o", info.Mode().Perm()); got != args[0] {
		ts.Fatalf("%s has mode %s, want %s", args[1], got, args[0])
	}
}

// scriptVisit logs in with the code of a file that leads to the console.
func scriptVisit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: visit FILE")
	}
	found := regexp.MustCompile(`url=(https?://[^#"]*)#code=([a-z0-9_]+)`).FindStringSubmatch(ts.ReadFile(args[0]))
	if found == nil {
		ts.Fatalf("%s leads nowhere", args[0])
	}
	c, err := client.New(&client.Options{BaseURL: strings.TrimSuffix(found[1], "/"), Pin: ts.Getenv("PIN")})
	ts.Check(err)
	defer c.Close()
	_, err = c.Login(context.Background(), api.Login{Code: found[2], Name: "tab"})
	ts.Check(err)
}

// scriptMask writes what can be compared.
func scriptMask(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 1 {
		ts.Fatalf("usage: mask [FILE]")
	}
	file := "stdout"
	if len(args) == 1 {
		file = args[0]
	}
	text := maskText(ts.ReadFile(file), stageOf(ts).ids, map[string]string{
		ts.Getenv("PROJECT"): "$PROJECT", ts.Getenv("DATA"): "$DATA", ts.Getenv("WORK"): "$WORK",
	})
	ts.Check(os.WriteFile(ts.MkAbs("masked"), []byte(text), 0o600))
}

// maskText returns a text without what differs from run to run: ids by their names, folders, who we are, times.
func maskText(text string, ids, folders map[string]string) string {
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		text = strings.ReplaceAll(text, id, "$"+ids[id])
		text = strings.ReplaceAll(text, naming.Short(id), "$"+ids[id])
	}
	if me, err := user.Current(); err == nil {
		text = regexp.MustCompile(`\b`+regexp.QuoteMeta(me.Username)+`\b`).ReplaceAllString(text, "$$ME")
	}
	// The longest first: others are above it.
	for _, folder := range slices.Backward(slices.Sorted(maps.Keys(folders))) {
		text = strings.ReplaceAll(text, folder, folders[folder])
	}
	for _, m := range masks {
		text = m.pattern.ReplaceAllString(text, m.with)
	}
	return text
}

// masks are what differs from run to run.
var masks = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`), "<time>"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?\b`), "<time>"},
	{regexp.MustCompile(`\b\d\d:\d\d:\d\d\b`), "<time>"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d\b`), "<day>"},
	{regexp.MustCompile(`\b(\d+[smhd] ago|just now|now)\b`), "<ago>"},
	{regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "<uuid>"},
	{regexp.MustCompile(`\b[0-9a-f]{12}:\d+\b`), "<event>"},
	{regexp.MustCompile(`\b\d+(\.\d+)?(ms|s|m \d\ds|h \d\dm)\b`), "<long>"},
	{regexp.MustCompile(` · <long> · \(`), " · ("}, // a tool that took less than a thousandth of a second is not said to have taken any
	{regexp.MustCompile(`  +`), "  "},
	// How many events there are before something else depends on the machine, and so does how long it takes.
	{regexp.MustCompile(`(?m)^(\$[A-Z]+)  \d+  <time>`), "$1  <number>  <time>"},
	{regexp.MustCompile(`  \d+\.\d  `), "  <seconds>  "},
}
