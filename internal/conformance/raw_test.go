package conformance

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/wire"
)

// patience bounds every wait for a real CLI. The slowest takes 8 s to start on a loaded machine.
const patience = 60 * time.Second

// A rawCLI is a CLI over plain pipes that can be sent anything: package claude refuses to write what this is for.
type rawCLI struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.WriteCloser
	in    chan rawLine  // lines as they come; closed at the end of output
	out   chan struct{} // closed when the process has been waited for

	lines []rawLine // all lines received so far
	asked int       // number of requests made
	ended bool

	stderr lockedBuffer
}

// startRaw starts a version of the CLI against the model and initializes it. It ends with the test at the latest.
func startRaw(t *testing.T, version string, model *claudetest.Model) *rawCLI {
	t.Helper()
	args := []string{program(t, version)}
	if strings.HasSuffix(args[0], ".js") {
		args = append([]string{"node"}, args...)
	}
	args = append(args, "--print", "--verbose", "--input-format=stream-json", "--output-format=stream-json",
		"--permission-prompt-tool=stdio", "--permission-mode=default")
	c := &rawCLI{t: t, cmd: exec.Command(args[0], args[1:]...), in: make(chan rawLine), out: make(chan struct{})}
	home := t.TempDir()
	c.cmd.Env = claudetest.Env(home, model.URL())
	c.cmd.Dir = t.TempDir()
	c.cmd.Stderr = &c.stderr
	var err error
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatalf("starting Claude Code %s: %v", version, err)
	}
	// The reader ends with the process's output, which end makes sure of.
	go func() {
		defer close(c.out)
		defer close(c.in)
		reader := wire.NewLineReader(bufio.NewReader(stdout), 0)
		for {
			raw, err := reader.Next()
			if err != nil {
				_ = c.cmd.Wait() // the exit code is looked at where it matters
				return
			}
			line := rawLine{raw: bytes.Clone(raw)}
			if err := json.Unmarshal(raw, &line); err != nil {
				line.Type = "not JSON"
			}
			c.in <- line
		}
	}()
	t.Cleanup(c.end)
	if _, err := c.ask(`{"subtype":"initialize"}`); err != nil {
		t.Fatalf("initializing Claude Code %s: %v", version, err)
	}
	return c
}

// send writes a line. A CLI that is gone does not read it; the next wait reports that.
func (c *rawCLI) send(line string) { _, _ = io.WriteString(c.stdin, line+"\n") }

// next receives a line. The error is io.EOF after the last one.
func (c *rawCLI) next() (rawLine, error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case line, ok := <-c.in:
		if !ok {
			return rawLine{}, io.EOF
		}
		c.lines = append(c.lines, line)
		return line, nil
	case <-timer.C:
		return rawLine{}, fmt.Errorf("nothing came in %s", patience)
	}
}

// await receives lines up to the first that matches.
func (c *rawCLI) await(match func(rawLine) bool) (rawLine, error) {
	for {
		line, err := c.next()
		if errors.Is(err, io.EOF) {
			return line, fmt.Errorf("the CLI ended (%v); it said: %s", c.wait(), c.stderr.String())
		}
		if err != nil || match(line) {
			return line, err
		}
	}
}

// ask makes a control request and waits for its answer.
func (c *rawCLI) ask(request string) (rawLine, error) {
	c.asked++
	id := fmt.Sprintf(`"ask-%d"`, c.asked)
	c.send(`{"type":"control_request","request_id":` + id + `,"request":` + request + `}`)
	return c.await(func(l rawLine) bool { return l.Type == "control_response" && string(l.Response.RequestID) == id })
}

// answerTo returns the answer that came to a request, or nil.
func (c *rawCLI) answerTo(id string) json.RawMessage {
	for _, line := range c.lines {
		if line.Type == "control_response" && string(line.Response.RequestID) == id {
			return line.raw
		}
	}
	return nil
}

// exit waits until the CLI has ended by itself.
func (c *rawCLI) exit() error {
	for {
		if _, err := c.next(); errors.Is(err, io.EOF) {
			c.wait()
			return nil
		} else if err != nil {
			return fmt.Errorf("the CLI has not ended: %w", err)
		}
	}
}

// wait returns the state of the process after its end.
func (c *rawCLI) wait() *os.ProcessState {
	<-c.out
	return c.cmd.ProcessState
}

// gone reports whether the CLI's output has ended.
func (c *rawCLI) gone() bool {
	select {
	case <-c.out:
		return true
	default:
		return false
	}
}

// end closes the CLI's input and waits for its end; a CLI that does not end is killed. What it still writes is kept.
func (c *rawCLI) end() {
	if c.ended {
		return
	}
	c.ended = true
	_ = c.stdin.Close()
	kill := time.AfterFunc(10*time.Second, func() { _ = c.cmd.Process.Kill() })
	defer kill.Stop()
	for line := range c.in {
		c.lines = append(c.lines, line)
	}
	<-c.out
}

// lockedBuffer is a buffer for the goroutine of exec and the test.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
