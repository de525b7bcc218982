package claude

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/wire"
)

// simProgram returns a simulated CLI that is started as a process: the test
// binary itself.
func simProgram(t testing.TB, version string) *CLI {
	t.Helper()
	quirks, err := claudetest.QuirksFor(version)
	if err != nil {
		t.Fatal(err)
	}
	path, err := claudetest.Install(t.TempDir(), &claudetest.InstallOptions{Quirks: &quirks})
	if err != nil {
		t.Fatal(err)
	}
	v, err := wire.ParseVersion(version)
	if err != nil {
		t.Fatal(err)
	}
	return &CLI{Path: path, Args: []string{path}, Version: v}
}

// simEnviron is the whole environment of a simulated CLI, with a home of its own.
func simEnviron(t testing.TB) []string {
	t.Helper()
	return []string{
		"PATH=" + os.Getenv("PATH"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT"), "HOME=" + t.TempDir(),
		"GOCOVERDIR=" + os.TempDir(), "GORACE=atexit_sleep_ms=0",
	}
}

// roughSession starts a session with a CLI that does what its prompts tell it, see
// roughTool. The end of the test closes it.
func roughSession(t testing.TB, version string, o *Options) *Session {
	t.Helper()
	s, err := startRough(t, version, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return s
}

// startRough is roughSession for those who close it themselves.
func startRough(t testing.TB, version string, o *Options) (*Session, error) {
	t.Helper()
	v, err := wire.ParseVersion(version)
	if err != nil {
		t.Fatal(err)
	}
	copied := Options{}
	if o != nil {
		copied = *o
	}
	copied.CLI = &CLI{Path: self(t), Args: []string{self(t)}, Version: v}
	copied.Env = append(simEnviron(t), fakeEnv+"=rough", fakeArgEnv+"="+version)
	copied.Dir = t.TempDir()
	if copied.AllowedTools == nil && copied.OnQuestion == nil && !copied.Pull {
		copied.AllowedTools = []string{"Bash", "Read"}
	}
	return Start(soon(t), &copied)
}

// roughFake is a simulated CLI of the version given whose tools really do
// something; see roughTool.
func roughFake(version string) int {
	quirks, err := claudetest.QuirksFor(version)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 98
	}
	out := &lockedStdout{}
	return claudetest.RunSim(context.Background(), &claudetest.SimOptions{
		Quirks: &quirks, Args: os.Args[1:], Env: os.Environ(), Stderr: os.Stderr, Tool: roughTool(out),
	}, os.Stdin, out)
}

// A lockedStdout is standard output for several writers.
type lockedStdout struct{ mu sync.Mutex }

func (l *lockedStdout) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return os.Stdout.Write(p)
}

// roughTool runs what the tool Read is given as its file_path: "huge N" writes a
// message of so many bytes, "noise" writes to standard output what is no message, "child" starts
// a process in a session of its own.
func roughTool(out *lockedStdout) func(claudetest.ToolCall) (claudetest.ToolOutcome, bool) {
	return func(call claudetest.ToolCall) (claudetest.ToolOutcome, bool) {
		path, _ := wire.Lookup(call.Input, "file_path")
		what, err := strconv.Unquote(string(path))
		if err != nil {
			return claudetest.ToolOutcome{}, false
		}
		word, arg, _ := strings.Cut(what, " ")
		n, _ := strconv.Atoi(arg) // what is no number is none
		switch word {
		case "huge":
			line := `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"` + strings.Repeat("x", n) + `"}]}}` + "\n"
			_, _ = out.Write([]byte(line))
			return claudetest.ToolOutcome{Text: "written"}, true
		case "noise":
			_, _ = out.Write([]byte(roughNoise))
			return claudetest.ToolOutcome{Text: "made"}, true
		case "child":
			return claudetest.ToolOutcome{Text: roughChild()}, true
		}
		return claudetest.ToolOutcome{}, false
	}
}

// roughNoise is what programs write that a CLI starts, or that have the same
// output: words, half an object, NUL, bytes that are no text, JSON of other kinds.
const roughNoise = "npm warn deprecated\n" + `{"type":"assistant","message":{"content":[{"type":"text","te` + "\n" +
	"\x00\x00\x00\n" + "\xff\xfe\x80 {\n" + "[1,2,3]\n" + "null\n" + `"text"` + "\n" + "\n\r\n" + `{}` + "\n" + `{"type":7}` + "\n" + `{"type":"result"` + "\n" +
	`{"type":"control_response"}` + "\n" + `{"type":"control_response","response":{"subtype":"success","request_id":"nobody"}}` + "\n" + `{"type":"control_cancel_request","request_id":"nobody"}` + "\n"

// toolResults returns what the tools of a session have said so far.
func toolResults(t testing.TB, s *Session) []string {
	t.Helper()
	var all []string
	for _, l := range soFar(t, s, 0) {
		m, err := l.Message()
		if err != nil {
			continue
		}
		u, ok := m.(*wire.User)
		if !ok {
			continue
		}
		for _, b := range u.Message.Content.Blocks {
			if r, ok := b.(*wire.ToolResultBlock); ok {
				text := r.Content.Text
				for _, inner := range r.Content.Blocks {
					if b, ok := inner.(*wire.TextBlock); ok {
						text += b.Text
					}
				}
				all = append(all, text)
			}
		}
	}
	return all
}

// soFar returns the lines of a session behind a number that are there.
func soFar(t testing.TB, s *Session, after int64) []Line {
	t.Helper()
	s.mu.Lock()
	newest := max(s.conn.backlog.newest(), s.seen) // what is folded is about to be shown
	s.mu.Unlock()
	var all []Line
	if newest <= after {
		return nil
	}
	for l, err := range s.Lines(context.Background(), after) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
		if l.Number >= newest {
			break
		}
	}
	return all
}
