package conformance

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/claude/claudews"
	"github.com/switchboard-dev/switchboard/wire"
)

const (
	// patience bounds every wait for a CLI. The slowest takes 8 s to start on a loaded machine, and has taken over a minute on one that did ten times
	// more than it could.
	patience = 3 * time.Minute
	// insistence is how long a CLI that may not have got an answer is left in peace.
	insistence = 2 * time.Second

	runToken, runKey = "made-up-token", "the-run"
	usualPath        = "/ws/cli/" + runKey
)

// A launch says how a process is started.
type launch struct {
	subject Subject
	cli     *claude.CLI
	model   *claudetest.Model
	base    string // a folder for the folders of this launch
	home    string // if empty, a new one
	dir     string // if empty, a new one

	handler      func(*host) claude.Handler // who answers the CLI's requests from the start
	options      []func(*claude.Options)
	args         func([]string) []string
	initialize   *wire.InitializeRequest
	noInitialize bool
	raw          bool
	path         string
	tls          bool
	bare         bool
}

// A runner is a process: a *claude.Process or a *pipe.
type runner interface {
	PID() int
	Stderr() string
	Wait(ctx context.Context) error
	Done() <-chan struct{}
	Close() error
}

// A host is a running CLI.
type host struct {
	home, dir string
	process   runner
	transport claude.Transport
	pipe      *pipe          // nil unless raw
	peer      *claudews.Peer // nil unless the CLI dialled in
	conn      *claude.Conn   // nil if bare
	bare      *bareServer    // nil unless bare
	web       *http.Server   // nil unless the CLI dials
	initialed *wire.ControlAnswer
	stop      []func() error // in the order of starting
	spoiled   bool           // not to be used by the next scenario

	mu      sync.Mutex
	handler claude.Handler
}

// start starts a CLI, connects to it and initializes it.
func (l *launch) start(ctx context.Context) (_ *host, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	h := &host{home: l.home, dir: l.dir}
	h.setHandler(l.handler(h))
	defer func() {
		if err != nil {
			err = errors.Join(err, h.close())
		}
	}()
	for _, folder := range []*string{&h.home, &h.dir} {
		if *folder == "" {
			if *folder, err = os.MkdirTemp(l.base, ""); err != nil {
				return h, err
			}
		}
	}
	options := &claude.Options{Dir: h.dir, Env: cliEnv(h.home, l.model.URL())}
	if l.subject.Real() && l.subject.Name == Newest {
		options.Env = append(options.Env, debugEnv(h.home)...)
	}
	for _, change := range l.options {
		if change != nil {
			change(options)
		}
	}
	transport, err := l.connect(ctx, h, options)
	if err != nil || l.bare {
		return h, err
	}
	insist := time.Duration(0)
	if l.subject.Transport == hybrid {
		insist = insistence
	}
	h.transport = transport
	h.conn = claude.NewConn(transport, &claude.ConnOptions{Handler: h.handle, Version: l.cli.Version, Insist: insist})
	h.stop = append(h.stop, h.conn.Close)
	if l.noInitialize {
		return h, nil
	}
	body := l.initialize
	if body == nil {
		body = &wire.InitializeRequest{}
	}
	h.initialed, err = h.conn.Request(ctx, body)
	if err != nil {
		return h, fmt.Errorf("initializing %s: %w; it says: %s", l.subject, err, h.process.Stderr())
	}
	return h, nil
}

// connect starts the process and returns the way to it.
func (l *launch) connect(ctx context.Context, h *host, options *claude.Options) (claude.Transport, error) {
	switch {
	case l.subject.Transport != stdio:
		return l.dialled(ctx, h, options)
	case l.raw || l.args != nil:
		command, err := l.cli.Command(options)
		if err != nil {
			return nil, err
		}
		if l.args != nil {
			command.Args = l.args(command.Args)
		}
		if h.pipe, err = startPipe(command); err != nil {
			return nil, errors.Join(err, command.Discard())
		}
		h.process = h.pipe
		h.stop = append(h.stop, h.pipe.Close)
		return h.pipe, nil
	}
	process, err := l.cli.Start(ctx, options)
	if err != nil {
		return nil, err
	}
	h.process = process
	h.stop = append(h.stop, process.Close)
	return process, nil
}

// dialled has the CLI dial a server of ours.
func (l *launch) dialled(ctx context.Context, h *host, options *claude.Options) (claude.Transport, error) {
	options.SDKToken, options.SDKPost = runToken, l.subject.Transport == hybrid
	path := l.path
	if path == "" {
		path = usualPath
	}
	var handler http.Handler
	var web *http.Server
	var server *claudews.Server
	if l.bare {
		h.bare = newBareServer()
		handler = h.bare
		web = &http.Server{Handler: handler, ReadHeaderTimeout: patience}
		h.stop = append(h.stop, h.bare.close)
	} else {
		var err error
		server, err = claudews.NewServer(&claudews.ServerOptions{Authorize: claudews.Tokens(map[string]string{runToken: runKey})})
		if err != nil {
			return nil, err
		}
		web = server.HTTPServer()
		h.stop = append(h.stop, server.Close)
	}
	address, err := h.listen(web, l.tls, options)
	if err != nil {
		return nil, err
	}
	options.SDKURL = address + path
	process, err := l.cli.Start(ctx, options)
	if err != nil {
		return nil, err
	}
	h.process = process
	h.stop = append(h.stop, process.Close)
	if l.bare {
		return nil, nil
	}
	// A CLI that ends will not dial.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-process.Done():
			cancel()
		case <-stop:
		}
	}()
	if h.peer, err = server.Accept(ctx); err != nil {
		return nil, fmt.Errorf("waiting for the CLI to dial in: %w; it says: %s", err, process.Stderr())
	}
	if h.peer.Key() != runKey {
		return nil, fmt.Errorf("the CLI came as %q, want %q: its token was not recognized", h.peer.Key(), runKey)
	}
	return h.peer, nil
}

// listen serves on a loopback port and returns its address for a WebSocket.
func (h *host) listen(web *http.Server, secure bool, options *claude.Options) (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	scheme := "ws"
	if secure {
		scheme = "wss"
		certificate, ca, err := throwAwayCA(h.home)
		if err != nil {
			return "", errors.Join(err, listener.Close())
		}
		options.Env = append(options.Env, "NODE_EXTRA_CA_CERTS="+ca)
		listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12})
	}
	h.web = web
	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }() // joined by the host's close
	h.stop = append(h.stop, func() error {
		err := web.Close()
		if e := <-served; !errors.Is(e, http.ErrServerClosed) {
			err = errors.Join(err, e)
		}
		return err
	})
	return scheme + "://" + listener.Addr().String(), nil
}

// handle passes the CLI's requests on to the scenario that runs.
func (h *host) handle(ctx context.Context, q *wire.ControlRequest) ([]byte, error) {
	h.mu.Lock()
	handler := h.handler
	h.mu.Unlock()
	if handler == nil {
		return claude.Decline(ctx, q)
	}
	return handler(ctx, q)
}

// setHandler says who answers the CLI's requests. Nil means that they are declined.
func (h *host) setHandler(handler claude.Handler) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.handler = handler
}

// ended reports whether the process has ended.
func (h *host) ended() bool {
	select {
	case <-h.process.Done():
		return true
	default:
		return false
	}
}

// close ends everything, the last started first.
func (h *host) close() error {
	var errs []error
	for _, stop := range slices.Backward(h.stop) {
		if err := stop(); err != nil {
			errs = append(errs, err)
		}
	}
	h.stop = nil
	return errors.Join(errs...)
}

// find returns the CLI of a program.
func find(ctx context.Context, path, version, home string) (*claude.CLI, error) {
	cli, err := claude.Find(ctx, &claude.FindOptions{
		Path:   path,
		Env:    cliEnv(home, ""), // there is no model to talk to yet
		Prober: &claude.Prober{Timeout: patience},
	})
	if err != nil {
		return nil, err
	}
	if cli.Version.String() != version {
		return nil, fmt.Errorf("%s says it is %s, want %s", cli.Path, cli.Version, version)
	}
	return cli, nil
}

// cliEnv is the environment of every CLI here. Programs that were built with the race detector wait a second at their end unless they are told not
// to; the simulated CLI is one, and is started many hundred times.
func cliEnv(home, model string) []string {
	return append(claudetest.Env(home, model), "GORACE=atexit_sleep_ms=0", "PATH="+quickNPM(home))
}

// quickNPM returns a PATH on which npm answers at once. Up to 2.1.120 a CLI asks it for the folder of global packages whenever it starts, to learn
// how it was installed, which takes a sixth of the time of the start. If there can be no such npm, the real one is asked.
func quickNPM(home string) string {
	path := os.Getenv("PATH")
	folder := filepath.Join(home, "npm-stand-in")
	if os.MkdirAll(folder, 0o700) != nil || os.WriteFile(filepath.Join(folder, "npm"), []byte("#!/bin/sh\necho /usr/lib/node_modules\n"), 0o700) != nil {
		return path
	}
	return folder + string(os.PathListSeparator) + path
}

// newFolder makes a folder with its real path, as CLIs name it.
func newFolder(parent, name string) (string, error) {
	path := filepath.Join(parent, name)
	if err := os.MkdirAll(path, 0o700); err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}
