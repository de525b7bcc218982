//go:build linux || darwin

package nodeagent

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/internal/launch"
	"github.com/switchboard-dev/switchboard/internal/node"
	"github.com/switchboard-dev/switchboard/internal/sandbox"
	"github.com/switchboard-dev/switchboard/internal/shim"
)

// The test binary is also what a node starts: the shim and the simulated CLI.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "shim":
			os.Exit(shim.Main(context.Background(), os.NewFile(3, "orders")))
		case "sim":
			os.Exit(claudetest.RunSim(context.Background(), &claudetest.SimOptions{Args: os.Args[2:], Env: os.Environ(), Stderr: os.Stderr}, os.Stdin, os.Stdout))
		}
	}
	goleak.VerifyTestMain(m)
}

const (
	testHub  = "hub1"
	patience = 60 * time.Second
)

// A house is a hub of the tests, which does what a test has it do, and a node of it.
type house struct {
	t        *testing.T
	server   *httptest.Server
	dir      string
	work     string // where agents work
	identity *Identity
	agent    *Agent
	conns    chan *hubConn // control connections, before the challenge
	links    chan http.Header
	over     chan struct{} // closed when the test is
	log      *strings.Builder
	logMu    sync.Mutex
}

// A hubConn is the hub's end of a control connection.
type hubConn struct {
	t    *testing.T
	ws   *websocket.Conn
	host string
	done chan struct{}
	last uint64
}

func newHouse(t *testing.T) *house {
	t.Helper()
	dir, err := os.MkdirTemp("", "sbn-") //nolint:usetesting // a socket needs a short path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	h := &house{t: t, dir: dir, work: t.TempDir(), conns: make(chan *hubConn, 16), links: make(chan http.Header, 100), over: make(chan struct{}), log: &strings.Builder{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+node.ControlPath, func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{node.Subprotocol}})
		if err != nil {
			return
		}
		ws.SetReadLimit(node.MaxMessage)
		c := &hubConn{t: t, ws: ws, host: r.Host, done: make(chan struct{})}
		h.conns <- c
		select {
		case <-c.done:
		case <-h.over: // no test has taken it
			_ = ws.CloseNow()
		}
	})
	mux.HandleFunc("GET "+node.LinkPath, func(w http.ResponseWriter, r *http.Request) {
		select {
		case h.links <- r.Header:
		default: // a test looks at the first few
		}
		http.Error(w, "no", http.StatusForbidden)
	})
	h.server = httptest.NewServer(mux)
	t.Cleanup(func() {
		close(h.over)
		h.server.Close()
	})
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	h.identity = &Identity{ID: node.NewID(), Name: "gpu-1", URL: h.server.URL, Hub: testHub, key: key}
	if err := h.identity.save(dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // before the server is closed
		if h.agent != nil {
			h.agent.Close()
		}
		h.sweep()
	})
	return h
}

// Write takes the log.
func (h *house) Write(p []byte) (int, error) {
	h.logMu.Lock()
	defer h.logMu.Unlock()
	return h.log.Write(p)
}

func (h *house) logged() string {
	h.logMu.Lock()
	defer h.logMu.Unlock()
	return h.log.String()
}

// sweep kills what is left of the node's agents.
func (h *house) sweep() {
	runs, err := launch.Runs(h.dir)
	if err != nil {
		h.t.Error(err)
	}
	for _, r := range runs {
		if r.Alive {
			_ = syscall.Kill(r.PID, syscall.SIGKILL)
		}
	}
}

// start starts the node.
func (h *house) start(change func(*Options)) {
	h.t.Helper()
	self, err := os.Executable()
	if err != nil {
		h.t.Fatal(err)
	}
	o := Options{
		DataDir: h.dir, Program: self, Agent: launch.Simulator, Version: "1.2.3", Logger: slog.New(slog.NewTextHandler(h, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + h.dir, "GORACE=atexit_sleep_ms=0", "GOCOVERDIR=" + os.TempDir()},
	}
	if change != nil {
		change(&o)
	}
	if h.agent, err = Start(h.t.Context(), o); err != nil {
		h.t.Fatal(err)
	}
}

// dialed waits for the node to dial.
func (h *house) dialed() *hubConn {
	h.t.Helper()
	select {
	case c := <-h.conns:
		h.t.Cleanup(c.cut)
		return c
	case <-time.After(patience):
		h.t.Fatalf("the node does not dial; its log:\n%s", h.logged())
		return nil
	}
}

// connected waits for the node to dial, and lets it in.
func (h *house) connected() *hubConn {
	h.t.Helper()
	c := h.dialed()
	hello := c.challenge(testHub, node.Version)
	if hello == nil {
		h.t.Fatal("the node did not answer")
	}
	c.say(&node.Welcome{Ticket: "ticket-verysecret", Time: time.Now()})
	return c
}

// cut ends the connection.
func (c *hubConn) cut() {
	_ = c.ws.CloseNow()
	select {
	case <-c.done:
	default:
		close(c.done)
	}
}

func (c *hubConn) say(m node.Message) {
	c.t.Helper()
	text, err := node.Encode(m)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := c.ws.Write(c.t.Context(), websocket.MessageText, text); err != nil {
		c.t.Logf("writing: %v", err)
	}
}

// read reads a message; nil if the connection has ended.
func (c *hubConn) read() node.Message {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, text, err := c.ws.Read(ctx)
	if err != nil {
		if ctx.Err() != nil {
			c.t.Fatal("the node says nothing")
		}
		return nil
	}
	m, err := node.Decode(text)
	if err != nil {
		c.t.Fatal(err)
	}
	return m
}

// challenge challenges the node, and returns its hello; nil if it does not answer.
func (c *hubConn) challenge(hub string, version int) *node.Hello {
	c.t.Helper()
	c.say(&node.Challenge{Version: version, Hub: hub, Nonce: node.NewNonce()})
	hello, _ := c.read().(*node.Hello)
	return hello
}

// ask sends a call without waiting for its answer, and returns its number.
func (c *hubConn) ask(method string, body any) uint64 {
	c.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		c.t.Fatal(err)
	}
	c.last++
	c.say(&node.Call{ID: c.last, Method: method, Body: raw})
	return c.last
}

// answers waits for the answers to calls, which come in any order.
func (c *hubConn) answers(ids ...uint64) map[uint64]*node.Answer {
	c.t.Helper()
	got := map[uint64]*node.Answer{}
	for len(got) < len(ids) {
		m := c.read()
		if m == nil {
			c.t.Fatal("the connection ended before the answer")
		}
		if a, ok := m.(*node.Answer); ok && slices.Contains(ids, a.ID) {
			got[a.ID] = a
		}
	}
	return got
}

// call asks, and reads the answer. The failure is nil if there is none.
func (c *hubConn) call(method string, body, out any) *node.Failure {
	c.t.Helper()
	id := c.ask(method, body)
	a := c.answers(id)[id]
	if a.Failure == nil && out != nil {
		if err := json.Unmarshal(a.Body, out); err != nil {
			c.t.Fatal(err)
		}
	}
	return a.Failure
}

// run returns a start of a run.
func (h *house) run(session string, run int) node.Start {
	marker := session + ".1." + filepath.Base(h.dir)
	return node.Start{Session: session, Run: run, Token: "sbr_" + session + "_verysecret", Marker: marker, Dir: h.work, Sandbox: sandbox.Policy{Mode: sandbox.Off}}
}
