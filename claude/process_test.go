package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

func TestProcessConversation(t *testing.T) {
	p := startFake(t, "echo", "", nil)
	if state, _ := p.State(); state != StateConnected {
		t.Errorf("the state after the start is %q", state)
	}
	if p.PID() <= 0 || p.PID() == os.Getpid() {
		t.Errorf("PID = %d", p.PID())
	}
	for _, line := range []string{`{"a":1}`, `{"b":"\u2028 ` + "\u2028" + `"}`, strings.Repeat("x", 1<<20)} {
		if err := p.Write(soon(t), []byte(line)); err != nil {
			t.Fatal(err)
		}
		if got := readLine(t, p); got != line {
			t.Errorf("sent %.40q, received %.40q", line, got)
		}
	}
	if err := p.CloseInput(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Read(soon(t)); !errors.Is(err, io.EOF) {
		t.Errorf("Read at the end = %v", err)
	}
	if err := p.Wait(soon(t)); err != nil {
		t.Errorf("Wait = %v", err)
	}
	<-p.Done()
	if err := p.Write(soon(t), []byte("{}")); !errors.Is(err, io.ErrClosedPipe) && !errors.Is(err, ErrInputClosed) {
		t.Errorf("Write after the end = %v", err)
	}
	if err := p.Close(); err != nil {
		t.Errorf("Close = %v", err)
	}
	if state, _ := p.State(); state != StateClosed {
		t.Errorf("the state after the end is %q", state)
	}
	if err := p.Write(soon(t), []byte("{}")); !errors.Is(err, ErrClosed) {
		t.Errorf("Write after Close = %v", err)
	}
	if _, err := p.Read(soon(t)); !errors.Is(err, io.EOF) {
		t.Errorf("Read after Close = %v", err)
	}
}

func TestWriteRefuses(t *testing.T) {
	p := startFake(t, "echo", "", nil)
	for _, line := range []string{"", " ", "\t\r", "\n", "{}\n", "{}\n{}"} {
		if err := p.Write(soon(t), []byte(line)); !errors.Is(err, ErrBadLine) {
			t.Errorf("Write(%q) = %v", line, err)
		}
	}
	if err := p.Write(soon(t), []byte("{}")); err != nil {
		t.Error(err)
	}
	if got := readLine(t, p); got != "{}" {
		t.Errorf("something refused was sent: %q", got)
	}
	if err := p.CloseInput(); err != nil {
		t.Fatal(err)
	}
	if err := p.Write(soon(t), []byte("{}")); err == nil {
		t.Error("Write after CloseInput succeeded")
	}
}

func TestWritesAreNeverMixed(t *testing.T) {
	p := startFake(t, "echo", "", nil)
	const writers, each = 20, 20
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				// Longer than what a pipe takes at once.
				line := fmt.Sprintf("%d:%d|%s", w, i, strings.Repeat(string(rune('a'+w)), 10_000+1000*w))
				if err := p.Write(soon(t), []byte(line)); err != nil {
					t.Errorf("Write: %v", err)
				}
			}
		})
	}
	next := make(map[int]int)
	for range writers * each {
		line := readLine(t, p)
		var w, i int
		head, rest, _ := strings.Cut(line, "|")
		if _, err := fmt.Sscanf(head, "%d:%d", &w, &i); err != nil {
			t.Fatalf("a broken line: %.60q", line)
		}
		if rest != strings.Repeat(string(rune('a'+w)), 10_000+1000*w) {
			t.Fatalf("line %d of writer %d is mixed with another", i, w)
		}
		if i != next[w] {
			t.Fatalf("writer %d: line %d came when %d was expected", w, i, next[w])
		}
		next[w]++
	}
	wg.Wait()
}

func TestReadContextLosesNothing(t *testing.T) {
	p := startFake(t, "echo", "", nil)
	for i := range 100 {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		got := make(chan error, 1)
		var line []byte
		go func() {
			var err error
			line, err = p.Read(ctx)
			got <- err
		}()
		want := fmt.Sprintf(`{"n":%d}`, i)
		if i%2 == 0 {
			cancel() // before the line, and racing with it
		}
		if err := p.Write(soon(t), []byte(want)); err != nil {
			t.Fatal(err)
		}
		if i%2 == 1 {
			cancel()
		}
		err := <-got
		if errors.Is(err, context.Canceled) {
			line = []byte(readLine(t, p))
		} else if err != nil {
			t.Fatal(err)
		}
		if string(line) != want {
			t.Fatalf("received %q, expected %q", line, want)
		}
	}
}

func TestReadSliceIsTheCallers(t *testing.T) {
	p := startFake(t, "echo", "", nil)
	var lines [][]byte
	for i := range 50 {
		if err := p.Write(soon(t), fmt.Appendf(nil, `{"n":%d}`, i)); err != nil {
			t.Fatal(err)
		}
		line, err := p.Read(soon(t))
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	for i, line := range lines {
		if want := fmt.Sprintf(`{"n":%d}`, i); string(line) != want {
			t.Errorf("line %d became %q", i, line)
		}
	}
}

func TestLongLines(t *testing.T) {
	const length = 20 << 20
	p := startFake(t, "huge", fmt.Sprint(length), nil)
	if got := readLine(t, p); len(got) != length || strings.Trim(got, "x") != "" {
		t.Errorf("the long line came as %d bytes", len(got))
	}
	if got := readLine(t, p); got != `{"after":true}` {
		t.Errorf("after it came %.40q", got)
	}

	p = startFake(t, "huge", fmt.Sprint(length), &Options{MaxLine: 1 << 20})
	_, err := p.Read(soon(t))
	var tooLong *wire.LineTooLongError
	if !errors.As(err, &tooLong) || tooLong.Length != length || tooLong.Line != 1 {
		t.Errorf("Read of a line over the limit = %v", err)
	}
	if got := readLine(t, p); got != `{"after":true}` {
		t.Errorf("after it came %.40q", got)
	}
}

func TestSlowReaderMissesNothing(t *testing.T) {
	p := startFake(t, "flood", "", nil)
	eventually(t, "a line waits for its reader", func() bool { return lineWaits(p) })
	for i := range 20_000 {
		if got, want := readLine(t, p), fmt.Sprintf(`{"n":%d}`, i); got != want {
			t.Fatalf("received %q, expected %q", got, want)
		}
	}
	if err := p.CloseInput(); err != nil {
		t.Fatal(err)
	}
	last := ""
	for {
		line, err := p.Read(soon(t))
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		last = string(line)
	}
	if last != `{"last":true}` {
		t.Errorf("the last line was %q", last)
	}
}

// lineWaits reports whether a line waits for a Read.
func lineWaits(p *Process) bool {
	select {
	case <-p.firstLine:
		return true
	default:
		return false
	}
}

func TestWriteContext(t *testing.T) {
	p := startFake(t, "deaf", "", nil)
	readLine(t, p)
	write := func(line string) error {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		err := p.Write(ctx, []byte(line))
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("Write to a CLI that does not read = %v", err)
		}
		return err
	}
	// More than any pipe holds. On a busy machine the time may be up before
	// its turn has come; then nothing was sent, and it is tried again.
	first := strings.Repeat("a", 4<<20)
	eventually(t, "the line is on its way", func() bool { return errors.Is(write(first), ErrUnfinished) })
	if err := write("never sent"); errors.Is(err, ErrUnfinished) {
		t.Fatalf("Write behind it = %v", err)
	}
	if err := p.process.Signal(wakeSignal); err != nil {
		t.Fatal(err)
	}
	if got := readLine(t, p); got != first {
		t.Errorf("the unfinished line came as %d bytes", len(got))
	}
	if err := p.Write(soon(t), []byte("{}")); err != nil {
		t.Fatal(err)
	}
	if got := readLine(t, p); got != "{}" {
		t.Errorf("after it came %.40q", got)
	}
}

func TestWriteToTheDying(t *testing.T) {
	long := []byte(strings.Repeat("a", 4<<20))
	p := startFake(t, "fail-midway", "123", nil)
	exit, ok := errors.AsType[*ExitError](p.Write(soon(t), long))
	if !ok || exit.Code != 3 || exit.Stderr != "no more" {
		t.Errorf("Write to a CLI that fails = %v", exit)
	}
	p = startFake(t, "fail-midway", "", nil)
	if err := p.Write(soon(t), long); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Write to a CLI that ends = %v", err)
	}
}

func TestOutputEndsBeforeTheProcess(t *testing.T) {
	p := startFake(t, "mute", "", nil)
	eventually(t, "its output has ended", func() bool { return p.Stderr() == "mute" })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Wait = %v", err)
	}
	if _, err := p.Read(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Read = %v", err)
	}
	if err := p.CloseInput(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Read(soon(t)); !errors.Is(err, io.EOF) {
		t.Errorf("Read at the end = %v", err)
	}
}

func TestCloseUnblocksWriters(t *testing.T) {
	p := startFake(t, "deaf", "", &Options{InputGrace: 10 * time.Millisecond, TermGrace: 10 * time.Second})
	readLine(t, p)
	errs := make(chan error, 3)
	for range 3 {
		go func() { errs <- p.Write(context.Background(), []byte(strings.Repeat("a", 4<<20))) }()
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := <-errs; err == nil {
			t.Error("a Write that the CLI never took succeeded")
		}
	}
}

func TestExitErrors(t *testing.T) {
	const secret = "sk-ant-api03-abcdefghijk"
	tests := []struct {
		name, fake, arg string
		version         wire.Version
		write, endInput bool
		want            ExitError
		text            string
	}{
		{
			name: "at once", fake: "fail", arg: "error: unknown option '--x'\n", version: version(37),
			want: ExitError{Code: 3, Silent: true, Stderr: "error: unknown option '--x'"},
			text: "claude 2.1.37 exited with code 3 before it wrote a line: error: unknown option '--x'",
		},
		{
			name: "later", fake: "fail-later", arg: "bad key " + secret + " and\nmore", version: version(325), write: true,
			want: ExitError{Code: 3, Stderr: "bad key [redacted] and\nmore"},
			text: "claude 2.1.325 exited with code 3: bad key [redacted] and more",
		},
		{
			name: "at the end of input", fake: "fail-at-end", endInput: true,
			want: ExitError{Code: 1, Silent: true, InputClosed: true},
			text: "claude exited with code 1 at the end of its input before it wrote a line",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			cli, env := fakeCLI(t, test.fake, test.arg, test.version)
			p, err := cli.Start(t.Context(), &Options{Env: env})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			if test.write {
				if err := p.Write(soon(t), []byte("{}")); err != nil {
					t.Fatal(err)
				}
			}
			if test.endInput {
				if err := p.CloseInput(); err != nil {
					t.Fatal(err)
				}
			}
			for err == nil {
				_, err = p.Read(soon(t))
			}
			var exit *ExitError
			if !errors.As(err, &exit) {
				t.Fatalf("Read = %v", err)
			}
			test.want.PID, test.want.Version = p.PID(), test.version
			if *exit != test.want {
				t.Errorf("Read = %+v\nexpected %+v", *exit, test.want)
			}
			if exit.Error() != test.text {
				t.Errorf("the error says %q\nexpected %q", exit, test.text)
			}
			if werr := p.Wait(soon(t)); !errors.Is(werr, exit) {
				t.Errorf("Wait = %v", werr)
			}
			if werr := p.Write(soon(t), []byte("{}")); !errors.As(werr, &exit) {
				t.Errorf("Write after the end = %v", werr)
			}
			if state, _ := p.State(); state != StateClosed {
				t.Errorf("the state after the end is %q", state)
			}
			if err := p.Close(); err != nil {
				t.Errorf("Close = %v", err)
			}
			if _, rerr := p.Read(soon(t)); !errors.As(rerr, &exit) {
				t.Errorf("Read after Close = %v", rerr)
			}
		})
	}
}

func TestStderrIsDrainedAndRedacted(t *testing.T) {
	const token = "a-token-of-some-length"
	p := startFake(t, "noisy", "last words with "+token, &Options{Env: []string{"MY_SERVICE_TOKEN=" + token}})
	if got := readLine(t, p); got != `{"type":"done"}` {
		t.Errorf("received %q", got)
	}
	eventually(t, "the last words", func() bool { return strings.Contains(p.Stderr(), "last words") })
	text := p.Stderr()
	if !strings.HasSuffix(text, "last words with [redacted]") {
		t.Errorf("standard error ends in %q", text[max(0, len(text)-60):])
	}
	if len(text) > tailShown || len(text) < tailShown/2 {
		t.Errorf("%d bytes of standard error are kept", len(text))
	}
}

func TestStartErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	garbage, orphan := filepath.Join(dir, "garbage"), filepath.Join(dir, "orphan")
	if err := os.WriteFile(garbage, []byte("no program"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(orphan, []byte("#!/no/such/interpreter\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	notHere := filepath.Join(dir, "missing")
	tests := []struct {
		name    string
		command Command
		text    string
		is      error
	}{
		{"no program", Command{Args: []string{notHere}}, "starting claude: the program " + notHere + " does not exist", os.ErrNotExist},
		{"no directory", Command{Args: []string{self(t)}, Dir: notHere}, "starting claude: the working directory " + notHere + " does not exist", os.ErrNotExist},
		{"a file as directory", Command{Args: []string{self(t)}, Dir: file}, "starting claude: the working directory " + file + " is not a directory", nil},
		{"not executable", Command{Args: []string{file}}, file + " may not be run", os.ErrPermission},
		{"for another machine", Command{Args: []string{garbage}}, "starting claude: " + garbage + " is not a program for this machine", nil},
		{"no interpreter", Command{Args: []string{orphan}}, "starting claude: " + orphan + " is there, but what runs it is not", os.ErrNotExist},
		{"too long", Command{Args: []string{self(t), strings.Repeat("x", 8<<20)}}, "too long together", nil},
		{"no arguments", Command{}, "option Args: there is no program", nil},
		{"bad marker", Command{Args: []string{self(t)}, Marker: "a b"}, "option Marker:", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p, err := test.command.Start(t.Context())
			if err == nil {
				p.Close()
				t.Fatal("it was started")
			}
			if !strings.Contains(err.Error(), test.text) {
				t.Errorf("the error says %q, expected %q", err, test.text)
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("%v is not %v", err, test.is)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	cli, env := fakeCLI(t, "echo", "", version(325))
	if _, err := cli.Start(ctx, &Options{Env: env}); !errors.Is(err, context.Canceled) {
		t.Errorf("Start with a context that has ended = %v", err)
	}
}

func TestStartContextDoesNotEndTheProcess(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cli, env := fakeCLI(t, "echo", "", version(325))
	p, err := cli.Start(ctx, &Options{Env: env})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	cancel()
	if err := p.Write(soon(t), []byte("{}")); err != nil {
		t.Fatal(err)
	}
	readLine(t, p)
}

func TestProcessEnvironmentAndDirectory(t *testing.T) {
	t.Setenv("CLAUDECODE", "1")
	t.Setenv("ANTHROPIC_API_KEY", "not-for-the-cli")
	t.Setenv("MY_OWN", "kept")
	t.Setenv(fakeEnv, "tell")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cli, _ := fakeCLI(t, "tell", "", version(325))
	p, err := cli.Start(t.Context(), &Options{Dir: dir, ClientApp: "test/1"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var got told
	if err := json.Unmarshal([]byte(readLine(t, p)), &got); err != nil {
		t.Fatal(err)
	}
	if got.Dir != dir {
		t.Errorf("it runs in %s, expected %s", got.Dir, dir)
	}
	env := make(map[string]string)
	for _, kv := range got.Env {
		k, v, _ := strings.Cut(kv, "=")
		env[k] = v
	}
	for k, want := range map[string]string{
		"MY_OWN": "kept", "PWD": dir, MarkerEnv: p.Marker(), "CLAUDE_CODE_ENTRYPOINT": "sdk-go",
		"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "1", "CLAUDE_AGENT_SDK_CLIENT_APP": "test/1",
	} {
		if env[k] != want {
			t.Errorf("%s=%q, expected %q", k, env[k], want)
		}
	}
	for _, k := range []string{"CLAUDECODE", "ANTHROPIC_API_KEY"} {
		if v, ok := env[k]; ok {
			t.Errorf("%s=%q was passed on", k, v)
		}
	}
	if !strings.Contains(strings.Join(got.Args, " "), "--permission-mode=default") {
		t.Errorf("the mode is not explicit: %q", got.Args)
	}
}

func TestPrivateFiles(t *testing.T) {
	parent := t.TempDir()
	o := &Options{Settings: json.RawMessage(`{"env": {"A": "secret"}}`), TempDir: parent}
	p := startFake(t, "tell-file", "--settings", o)
	var path, mode, data string
	if _, err := fmt.Sscan(readLine(t, p), &path, &mode, &data); err != nil {
		t.Fatal(err)
	}
	if mode != "-rw-------" || data != `{"env":{"A":"secret"}}` || !strings.HasPrefix(path, parent) {
		t.Errorf("the file is %s %s %s", path, mode, data)
	}
	info, err := os.Stat(filepath.Dir(path))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its directory: %v %v", info, err)
	}
	for _, arg := range p.Args() {
		if strings.Contains(arg, "secret") {
			t.Errorf("the settings are in the argument %q", arg)
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}

	// Neither does a start that fails leave anything.
	cli := &CLI{Path: "missing", Args: []string{filepath.Join(parent, "missing")}}
	if _, err := cli.Start(t.Context(), &Options{Settings: o.Settings, TempDir: parent, Env: []string{}}); err == nil {
		t.Fatal("it was started")
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}
