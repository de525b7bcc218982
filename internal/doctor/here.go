package doctor

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/launch"
	"github.com/switchboard-dev/switchboard/internal/trust"
)

const (
	// commandPatience is how long a program of the system has to answer.
	commandPatience = 5 * time.Second
	// hubPatience is how long a hub has.
	hubPatience = 5 * time.Second
	// portPatience is how long a program on a port may take to answer.
	portPatience = time.Second
)

// Here fills in the functions of a machine that need nothing but the system that this program runs on. DataDir and Socket are those of m, which have to be
// set before. What is there already stays.
func Here(m *Machine) *Machine {
	if m.OS == "" {
		m.OS = runtime.GOOS
		m.UID = os.Getuid()
	}
	if m.Getenv == nil {
		m.Getenv = os.Getenv
	}
	if m.Stat == nil {
		m.Stat = stat
	}
	if m.Trust == nil {
		m.Trust = trust.Folder
	}
	if m.List == nil {
		m.List = list
	}
	if m.Volume == nil {
		m.Volume = volume
	}
	if m.Hub == nil {
		m.Hub = func(ctx context.Context) (*api.Info, error) { return askHub(ctx, m.Socket, (*client.Client).Info) }
	}
	if m.Policy == nil {
		m.Policy = func(ctx context.Context) (*api.Policy, error) { return askHub(ctx, m.Socket, (*client.Client).Policy) }
	}
	if m.Holder == nil {
		m.Holder = func() int { return holder(m.DataDir) }
	}
	if m.Port == nil {
		m.Port = port
	}
	if m.Runs == nil {
		m.Runs = func() ([]launch.RunFolder, error) { return launch.Runs(m.DataDir) }
	}
	if m.Command == nil {
		m.Command = command
	}
	return m
}

// stat looks at a file.
func stat(path string) (File, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return File{}, err
	}
	return File{Mode: info.Mode(), UID: owner(info)}, nil
}

// list lists a folder; one with very many files in parts.
func list(path string) ([]string, error) {
	dir, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }() // it was only read
	names, err := dir.Readdirnames(maxLooked)
	if len(names) == 0 && err != nil {
		return nil, err
	}
	return names, nil
}

// askHub asks a hub, which has to be one of this user: the client sees to that.
func askHub[T any](ctx context.Context, socket string, ask func(*client.Client, context.Context) (*T, error)) (*T, error) {
	if _, err := os.Lstat(socket); err != nil {
		return nil, ErrNoHub
	}
	ctx, cancel := context.WithTimeout(ctx, hubPatience)
	defer cancel()
	c, err := client.New(&client.Options{Socket: socket})
	if err != nil {
		return nil, err
	}
	defer c.Close()
	answer, err := ask(c, ctx)
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, os.ErrNotExist) {
		return nil, ErrNoHub
	}
	return answer, err
}

// holder returns the process that has the lock of a data folder, 0 if none has.
func holder(dir string) int {
	path := filepath.Join(dir, "lock")
	if !locked(path) {
		return 0
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, _ := strconv.Atoi(strings.TrimSpace(first)) // what is no number is no process
	return pid
}

// port finds out what listens on a port of this machine.
func port(ctx context.Context, number int) Port {
	ctx, cancel := context.WithTimeout(ctx, portPatience)
	defer cancel()
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(number))
	dialer := net.Dialer{}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		if errors.Is(err, syscall.ECONNREFUSED) {
			return PortFree
		}
		return PortOther
	}
	_ = conn.Close() // it was opened to see whether it can be
	transport := &http.Transport{DisableKeepAlives: true, MaxResponseHeaderBytes: 16 << 10}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/healthz", http.NoBody)
	if err != nil {
		return PortOther
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return PortOther
	}
	_ = response.Body.Close() // the header tells
	if response.StatusCode == http.StatusOK && strings.HasPrefix(response.Header.Get("Switchboard"), "v") {
		return PortHub
	}
	return PortOther
}

// command runs a program of the system.
func command(ctx context.Context, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, commandPatience)
	defer cancel()
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdout = &out
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	return out.String(), err
}
