package claude

import (
	"bytes"
	"context"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/wire"
)

// A simTransport is a simulated CLI in this process. Made inside a bubble of
// synctest, its time is the bubble's.
type simTransport struct {
	StateVar
	stdin  *io.PipeWriter
	lines  chan simLine
	gone   chan struct{} // closed when the CLI has ended
	cancel context.CancelFunc
	code   int         // written before gone is closed
	end    error       // what Read returns in the end; written before lines is closed
	asked  atomic.Bool // Close was called
	once   sync.Once
	input  sync.Mutex
}

type simLine struct {
	line []byte
	err  error
}

// newSim starts a simulated CLI.
func newSim(t testing.TB, version string, o claudetest.SimOptions) *simTransport {
	t.Helper()
	quirks, err := claudetest.QuirksFor(version)
	if err != nil {
		t.Fatal(err)
	}
	o.Quirks = &quirks
	if o.Args == nil {
		o.Args = []string{
			"--print", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json",
			"--permission-prompt-tool", "stdio", "--replay-user-messages", "--include-partial-messages",
			"--allowedTools", "Read,Bash",
		}
	}
	if o.Env == nil {
		o.Env = []string{"HOME=" + t.TempDir(), "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS=1"}
	}
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	theirs, ours := io.Pipe()
	read, write := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	s := &simTransport{stdin: ours, lines: make(chan simLine), gone: make(chan struct{}), cancel: cancel}
	s.Set(StateConnected)
	go func() {
		defer close(s.gone)
		s.code = claudetest.RunSim(ctx, &o, theirs, write)
		_ = theirs.Close()
		_ = write.Close()
	}()
	go func() {
		lines := wire.NewLineReader(read, 0)
		for {
			line, err := lines.Next()
			if err == io.EOF { //nolint:errorlint // it is never wrapped
				s.end = io.EOF
				if <-s.gone; s.code != 0 && !s.asked.Load() {
					s.end = &ExitError{Code: s.code}
				}
				close(s.lines)
				return
			}
			s.lines <- simLine{bytes.Clone(line), err}
		}
	}()
	return s
}

func (s *simTransport) Read(ctx context.Context) ([]byte, error) {
	select {
	case r, ok := <-s.lines:
		if !ok {
			return nil, s.end
		}
		return r.line, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *simTransport) Write(_ context.Context, line []byte) error {
	s.input.Lock()
	defer s.input.Unlock()
	if _, err := s.stdin.Write(append(bytes.Clone(line), '\n')); err != nil {
		return ErrClosed
	}
	return nil
}

func (s *simTransport) CloseInput() error { return s.stdin.Close() }

func (s *simTransport) State() (string, <-chan struct{}) { return s.Get() }

func (s *simTransport) Close() error {
	s.once.Do(func() {
		s.Set(StateClosing)
		s.asked.Store(true)
		_ = s.stdin.Close()
		select {
		case <-s.gone:
		case <-time.After(defaultInputGrace):
			s.cancel()
			<-s.gone
		}
		s.cancel()
		s.Set(StateClosed)
	})
	return nil
}

// simSession starts a session with a simulated CLI, which takes its orders from
// the prompts unless the options have a script. The end of the test closes it.
func simSession(t testing.TB, version string, sim claudetest.SimOptions, o *Options) *Session {
	t.Helper()
	s, err := NewSession(t.Context(), newSim(t, version, sim), o)
	if err != nil {
		t.Fatalf("%s: %v", version, err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("%s: closing: %v", version, err)
		}
	})
	return s
}
