//go:build unix

package hubstart

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/switchboard-dev/switchboard/api"
)

// roleEnv makes the test binary a hub of a kind.
const roleEnv = "HUBSTART_ROLE"

func TestMain(m *testing.M) {
	switch role := os.Getenv(roleEnv); role {
	case "":
		goleak.VerifyTestMain(m)
	case "hub":
		os.Exit(playHub(os.Args[len(os.Args)-1]))
	default: // it fails, with these words
		_, _ = fmt.Fprintln(os.Stderr, "the first line\n"+role)
		os.Exit(2)
	}
}

// playHub is a hub: it takes the lock of its folder, says who it is, and ends on SIGTERM.
func playHub(data string) int {
	lock, err := os.OpenFile(filepath.Join(data, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		panic(err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "the data folder is in use")
		return 1
	}
	if err := lock.Truncate(0); err != nil {
		panic(err)
	}
	_, _ = fmt.Fprintln(lock, os.Getpid())
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	stop, err := serveInfo(data)
	if err != nil {
		panic(err)
	}
	defer stop()
	_, _ = fmt.Fprintln(os.Stdout, "environment", strings.Join(os.Environ(), " "))
	<-ended
	return 0
}

// serveInfo answers on the socket of a data folder as a hub does.
func serveInfo(data string) (stop func(), err error) {
	folder := filepath.Join(data, "run")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	listener, err := net.Listen("unix", filepath.Join(folder, "hub.sock"))
	if err != nil {
		return nil, err
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(api.Info{Version: fmt.Sprint(os.Getpid()), API: "v1"})
	})}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) }) // it is closed
	return func() {
		_ = server.Close()
		serving.Wait()
	}, nil
}

// options returns those of a hub of a kind in a folder of its own.
func options(t *testing.T, role string) *Options {
	t.Helper()
	data, err := os.MkdirTemp("/tmp", "sb") //nolint:usetesting // its own folders have long names, and sockets short ones
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(data) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &Options{
		Program: self, Args: []string{"serve", data}, DataDir: data, Socket: filepath.Join(data, "run", "hub.sock"),
		Env: []string{roleEnv + "=" + role, "GORACE=atexit_sleep_ms=0", "NOTIFY_SOCKET=/somewhere", "LISTEN_FDS=1", "KEPT=1"},
	}
}

// end ends a hub that was started, and waits for it.
func end(t *testing.T, hub *Hub) {
	t.Helper()
	if hub == nil || !hub.Started {
		return
	}
	if err := syscall.Kill(hub.PID, syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	<-hub.Done
}

func TestEnsureStartsOne(t *testing.T) {
	o := options(t, "hub")
	told := 0
	o.Starting = func() { told++ }
	if _, err := Find(t.Context(), o.Socket); !missing(err) {
		t.Fatalf("Find: %v; there is none yet", err)
	}
	hub, err := Ensure(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer end(t, hub)
	if !hub.Started || told != 1 || hub.Info.Version != fmt.Sprint(hub.PID) || hub.Done == nil {
		t.Errorf("%+v, told %d times", hub, told)
	}
	if session, err := unix.Getsid(hub.PID); err != nil || session != hub.PID {
		t.Errorf("its session is %d, %v; want its own: a signal of the terminal would end it", session, err)
	}
	info, err := os.Stat(hub.Log)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its log has mode %v, %v", info.Mode(), err)
	}
	again, err := Ensure(t.Context(), o)
	if err != nil || again.Started || again.Info.Version != hub.Info.Version {
		t.Errorf("the second time: %+v, %v; want the first one's", again, err)
	}
	log, err := os.ReadFile(hub.Log)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(log); !strings.Contains(text, "KEPT=1") || strings.Contains(text, "NOTIFY_SOCKET") || strings.Contains(text, "LISTEN_FDS") {
		t.Errorf("its environment: %s", text)
	}
}

// TestEnsureAtOnce has many start a hub at the same time.
func TestEnsureAtOnce(t *testing.T) {
	o := options(t, "hub")
	const many = 8
	hubs := make([]*Hub, many)
	errs := make([]error, many)
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() { hubs[i], errs[i] = Ensure(t.Context(), o) })
	}
	all.Wait()
	started := 0
	for i := range many {
		if errs[i] != nil {
			t.Errorf("%d: %v", i, errs[i])
			continue
		}
		if hubs[i].Info.Version != hubs[0].Info.Version {
			t.Errorf("%d has hub %s, the first %s", i, hubs[i].Info.Version, hubs[0].Info.Version)
		}
		if hubs[i].Started {
			started++
			defer end(t, hubs[i])
		}
	}
	if started != 1 {
		t.Errorf("%d hubs were started", started)
	}
}

// TestEnsureLoses has somebody else's hub take the folder's lock before, and answer later.
func TestEnsureLoses(t *testing.T) {
	o := options(t, "hub")
	lock, err := os.OpenFile(filepath.Join(o.DataDir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Close() }()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	_, _ = fmt.Fprintln(lock, os.Getpid())
	var later sync.WaitGroup
	stop := func() {}
	later.Go(func() {
		// The one that was started says so before it gives up.
		ticker := time.NewTicker(time.Millisecond) // nobody tells when a file changes
		defer ticker.Stop()
		for {
			if text, err := os.ReadFile(filepath.Join(o.DataDir, LogName)); err == nil && strings.Contains(string(text), "in use") {
				break
			}
			select {
			case <-ticker.C:
			case <-t.Context().Done():
				return
			}
		}
		s, err := serveInfo(o.DataDir)
		if err != nil {
			t.Error(err)
			return
		}
		stop = s
	})
	hub, err := Ensure(t.Context(), o)
	later.Wait()
	defer stop()
	if err != nil || hub.Started || hub.Info.Version != fmt.Sprint(os.Getpid()) {
		t.Errorf("%+v, %v; want the winner's", hub, err)
	}
}

func TestEnsureFails(t *testing.T) {
	t.Run("it ends", func(t *testing.T) {
		o := options(t, "the setting server.addr makes no sense")
		_, err := Ensure(t.Context(), o)
		if !missing(err) {
			t.Fatalf("%v, want a NoHubError", err)
		}
		for _, part := range []string{"the setting server.addr makes no sense", "exit status 2", filepath.Join(o.DataDir, LogName)} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%v; it does not say %q", err, part)
			}
		}
		if strings.Contains(err.Error(), "first line") {
			t.Errorf("%v; want the last line only", err)
		}
	})
	t.Run("no program", func(t *testing.T) {
		o := options(t, "hub")
		o.Program = filepath.Join(o.DataDir, "nothing")
		if _, err := Ensure(t.Context(), o); !missing(err) || !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%v", err)
		}
	})
	t.Run("no folder", func(t *testing.T) {
		o := options(t, "hub")
		o.DataDir = "/dev/null/data"
		if _, err := Ensure(t.Context(), o); !missing(err) || !strings.Contains(err.Error(), "--data-dir") {
			t.Errorf("%v", err)
		}
	})
	t.Run("inside an agent", func(t *testing.T) {
		o := options(t, "hub")
		o.Env = append(o.Env, agentMarker+"=1")
		if _, err := Ensure(t.Context(), o); !missing(err) || !strings.Contains(err.Error(), "inside an agent") {
			t.Errorf("%v", err)
		}
		if _, err := os.Stat(filepath.Join(o.DataDir, LogName)); err == nil {
			t.Error("one was started")
		}
	})
	t.Run("the caller gives up", func(t *testing.T) {
		o := options(t, "hub")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := Ensure(ctx, o); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
	t.Run("it never answers", func(t *testing.T) {
		o := options(t, "hub")
		// Somebody who holds the lock that those who start a hub wait at.
		unlock, err := lock(t.Context(), filepath.Join(o.DataDir, "start.lock"))
		if err != nil {
			t.Fatal(err)
		}
		defer unlock()
		o.Patience = time.Millisecond
		if _, err := Ensure(t.Context(), o); !missing(err) || !strings.Contains(err.Error(), "none answered within") {
			t.Errorf("%v", err)
		}
	})
}

func TestLogIsSetAside(t *testing.T) {
	o := options(t, "hub")
	path := filepath.Join(o.DataDir, LogName)
	if err := os.WriteFile(path, make([]byte, maxLog+1), 0o600); err != nil {
		t.Fatal(err)
	}
	hub, err := Ensure(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer end(t, hub)
	old, err := os.Stat(path + ".old")
	if err != nil || old.Size() != maxLog+1 {
		t.Errorf("the old log: %v, %v", old, err)
	}
	if now, err := os.Stat(path); err != nil || now.Size() > maxLog {
		t.Errorf("the new log: %v, %v", now, err)
	}
}

// A descriptor that the caller was given by who started it, such as that of a
// script's lock, does not reach the hub.
func TestEnsureKeepsDescriptors(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	given, err := syscall.Dup(int(write.Fd())) // not closed in children
	if err != nil {
		t.Fatal(err)
	}
	hub, err := Ensure(t.Context(), options(t, "hub"))
	if err != nil {
		t.Fatal(err)
	}
	defer end(t, hub)
	if err := errors.Join(write.Close(), syscall.Close(given)); err != nil {
		t.Fatal(err)
	}
	if err := read.SetReadDeadline(time.Now().Add(90 * time.Second)); err != nil {
		t.Fatal(err)
	}
	// The pipe ends, since nobody else has it.
	if n, err := read.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("read %d, %v; the hub holds the descriptor", n, err)
	}
}

func TestInheritable(t *testing.T) {
	got := inheritable([]string{"A=1", "NOTIFY_SOCKET=x", "LISTEN_PID=1", "NOTIFY_SOCKETS=kept", "PWD=/here", "GPG_TTY=/dev/pts/1", "TERM=xterm"})
	if want := []string{"A=1", "NOTIFY_SOCKETS=kept", "TERM=xterm"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
