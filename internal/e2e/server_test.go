//go:build linux || darwin

package e2e

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A server is one process of switchboard serve.
type server struct {
	cmd *exec.Cmd
	// ready is closed when it accepts connections, done when it has ended.
	ready, done chan struct{}
	err         error // how it ended; read after done
}

// pid is its process.
func (s *server) pid() int { return s.cmd.Process.Pid }

// launch starts the hub with further variables in its environment and does not
// wait for it.
func (l *lab) launch(env ...string) *server {
	l.t.Helper()
	s, err := l.tryLaunch(env...)
	if err != nil {
		l.t.Fatal(err)
	}
	return s
}

// serveArgs returns the arguments of the hub, after writing its configuration file.
func (l *lab) serveArgs() ([]string, error) {
	args := []string{"serve", "--data-dir", l.data, "--addr", l.address, "--agent", l.options.agent}
	if l.options.tls {
		args = append(args, "--tls-self-signed")
	}
	if l.options.config == "" {
		return args, nil
	}
	path := filepath.Join(l.root, "config.toml")
	if err := errors.Join(os.WriteFile(path, []byte(l.options.config), 0o600), l.hand(path)); err != nil {
		return nil, err
	}
	return append(args, "--config", path), nil
}

// tryLaunch is launch for goroutines that may not end the test.
func (l *lab) tryLaunch(env ...string) (*server, error) {
	args, err := l.serveArgs()
	if err != nil {
		return nil, err
	}
	build := suite.build
	if l.options.plain {
		build = suite.plain
	}
	path, err := build()
	if err != nil {
		return nil, err
	}
	path = l.lend(path)
	log, err := os.OpenFile(filepath.Join(l.root, "serve.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // the process has its own
	s := &server{cmd: exec.Command(path, append(args, l.options.args...)...), ready: make(chan struct{}), done: make(chan struct{})}
	s.cmd.Env = l.environment(env...)
	s.cmd.Dir, s.cmd.SysProcAttr = l.root, l.attributes()
	s.cmd.Stderr = log
	output, input, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	s.cmd.Stdout = input
	if err := s.cmd.Start(); err != nil {
		return nil, errors.Join(err, output.Close(), input.Close())
	}
	_ = input.Close() // likewise
	l.mu.Lock()
	l.server = s
	l.mu.Unlock()
	go s.read(output)
	go func() { // ends with the process, which close sees to
		s.err = s.cmd.Wait()
		close(s.done)
	}()
	return s, nil
}

// read waits for the line that names the socket and drops the rest. It ends with
// the process.
func (s *server) read(output *os.File) {
	defer func() { _ = output.Close() }() // it was only read
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "socket ") {
			close(s.ready)
			_, _ = io.Copy(io.Discard, output) // until it ends
			return
		}
	}
}

// start starts the hub and waits until it accepts connections.
func (l *lab) start(env ...string) *server {
	l.t.Helper()
	s := l.launch(env...)
	if err := s.awaitReady(); err != nil {
		l.t.Fatal(err)
	}
	return s
}

func (s *server) awaitReady() error {
	select {
	case <-s.ready:
		return nil
	case <-s.done:
		return fmt.Errorf("the hub ended instead of listening: %w", errors.Join(s.err, errors.New(exitText(s))))
	case <-time.After(patience):
		return fmt.Errorf("the hub does not listen after %s", patience)
	}
}

// exitText says how a server ended.
func exitText(s *server) string { return s.cmd.ProcessState.String() }

// current returns the hub that was started last, nil if there was none.
func (l *lab) current() *server {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.server
}

// kill ends the hub as a crash would: nothing of it runs any more, nothing was
// told anyone.
func (l *lab) kill() {
	s := l.current()
	if s == nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGKILL) // it may have ended by itself
	<-s.done
}

// stop ends the hub as systemctl restart does: SIGTERM to it alone.
func (l *lab) stop() {
	l.t.Helper()
	s := l.current()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		l.t.Fatal(err)
	}
	select {
	case <-s.done:
	case <-time.After(patience):
		l.t.Fatal("the hub does not end on SIGTERM")
	}
	if s.err != nil {
		l.t.Errorf("the hub ended with %v", s.err)
	}
}
