//go:build unix

package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/sandbox"
	"github.com/switchboard-dev/switchboard/wire"
)

// fuzzWait bounds every wait of the fuzz targets: it is a last resort, nothing
// takes a part of it.
const fuzzWait = time.Minute

// simClosed is the state of a simulated CLI that has ended.
const simClosed = "closed"

// A fuzzLab is a whole server in the process of a fuzz target, with a simulated
// CLI that has dialled in. It is used over its Unix socket, where no token and no
// name of a host stand in the way of what is tried.
type fuzzLab struct {
	server *Server
	dir    string
	log    *fuzzLog
	client *http.Client

	session, question string
	sim               *claudetest.Sim
	reads             *fuzzReads
	sessions          int
}

// newFuzzLab starts a server that ends with the fuzz target.
func newFuzzLab(f *testing.F) *fuzzLab {
	f.Helper()
	dir, err := os.MkdirTemp("", "sb-") // the path of a socket has to be short
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = os.RemoveAll(dir) })
	l := &fuzzLab{dir: dir, log: &fuzzLog{}}
	for _, name := range []string{"h", "w"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			f.Fatal(err)
		}
	}
	home := filepath.Join(dir, "h")
	l.server, err = Start(context.Background(), Options{
		DataDir: filepath.Join(dir, "d"), Socket: filepath.Join(dir, "d", "run", "hub.sock"), Addr: "127.0.0.1:0",
		Agent: filepath.Join(dir, "no-such-claude"), Env: []string{"HOME=" + home, "PATH="}, Version: "1.2.3", Logger: slog.New(l.log),
		Direct:  Direct{Folders: []string{filepath.Join(dir, "w")}},
		Sandbox: hub.SandboxDefaults{Mode: sandbox.Off},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if _, err := l.server.Close(context.Background(), true); err != nil {
			f.Error(err)
		}
	})
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return l.dial(ctx) }}
	l.client = &http.Client{Transport: transport, Timeout: fuzzWait}
	f.Cleanup(transport.CloseIdleConnections)
	f.Cleanup(func() {
		if l.sim != nil {
			_ = l.sim.Close() // always nil
		}
	})
	l.ensure(f)
	return l
}

func (l *fuzzLab) dial(ctx context.Context) (net.Conn, error) {
	var dialer net.Dialer
	return dialer.DialContext(ctx, "unix", l.server.Socket())
}

// ensure sees to it that there is a session with a live CLI and an open question:
// what is tried may end it.
func (l *fuzzLab) ensure(t testing.TB) {
	t.Helper()
	if l.sim != nil {
		if state, _ := l.sim.State(); state != simClosed {
			return
		}
		_ = l.sim.Close() // always nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), fuzzWait)
	defer cancel()
	l.sessions++
	by := hub.Actor{Admin: true}
	created, err := l.server.hub.Create(ctx, by, api.CreateSession{
		ClientID: fmt.Sprintf("fuzz-%d", l.sessions), Dir: filepath.Join(l.dir, "w"), Transport: "websocket", Prompt: "@tool Bash {\"command\":\"touch x\"}\n@say Done.",
	})
	if err != nil {
		t.Fatal(err)
	}
	quirks, err := claudetest.QuirksFor("2.1.120")
	if err != nil {
		t.Fatal(err)
	}
	l.reads = &fuzzReads{}
	l.sim = claudetest.StartSim(&claudetest.SimOptions{
		Quirks: &quirks, Dir: filepath.Join(l.dir, "w"), Record: l.reads,
		Env:  []string{"HOME=" + filepath.Join(l.dir, "h"), "CLAUDE_CODE_SESSION_ACCESS_TOKEN=" + created.Token},
		Args: []string{"--sdk-url", "ws" + strings.TrimPrefix(l.server.URL(), "http") + "/ws/cli/" + created.ID, "--print", "--verbose", "--replay-user-messages"},
	})
	l.session, l.question = created.ID, ""
	cursor, err := l.server.hub.Follow(ctx, l.session, hub.FollowOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer cursor.Close()
	for l.question == "" {
		frames, err := cursor.Next(ctx)
		if err != nil {
			t.Fatalf("the simulated CLI does not ask: %v", err)
		}
		for _, frame := range frames {
			var q api.Question
			if frame.Type == api.FrameEvent && frame.Event.Kind == api.KindQuestionOpened && json.Unmarshal(frame.Event.Data, &q) == nil {
				l.question = q.ID
			}
		}
	}
}

// fill puts the session and the question into what is tried.
func (l *fuzzLab) fill(b []byte) []byte {
	b = bytes.ReplaceAll(b, []byte("SESSION"), []byte(l.session))
	return bytes.ReplaceAll(b, []byte("QUESTION"), []byte(l.question))
}

// exchange sends bytes, says that no more come, and returns all that is answered.
func (l *fuzzLab) exchange(t *testing.T, network, address string, parts ...[]byte) []byte {
	t.Helper()
	c, err := net.Dial(network, address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }() // there is nothing to lose
	if err := c.SetDeadline(time.Now().Add(fuzzWait)); err != nil {
		t.Fatal(err)
	}
	for _, part := range parts {
		// Who refuses early does not read all.
		_, _ = c.Write(part)
	}
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // it may be closed already
	}
	answer, err := io.ReadAll(io.LimitReader(c, 8<<20))
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("no end of an answer; it begins with %.300q", answer)
	}
	return answer
}

// fuzzStatus finds the statuses of answers in what a server sent.
var fuzzStatus = regexp.MustCompile(`(?m)^HTTP/1\.[01] (\d\d\d) `)

// judge holds that nothing has panicked, that a cause was logged for each 5xx, that
// the agent has read nothing that is not valid, and that the server answers.
func (l *fuzzLab) judge(t *testing.T, statuses ...int) {
	t.Helper()
	records := l.log.take()
	causes := 0
	for _, r := range records {
		if strings.Contains(strings.ToLower(r.text), "panic") {
			t.Errorf("something panicked: %s", r.text)
		}
		if r.level >= slog.LevelWarn && r.message != "request" {
			causes++
		}
	}
	for _, status := range statuses {
		// The others say themselves what it is: no agent, no room, no time. 501 and 505
		// are what net/http itself says of a transfer coding or a version that it does
		// not know, before anybody else is asked.
		if status == http.StatusInternalServerError && causes == 0 {
			t.Errorf("status %d, and the log does not say why: %v", status, records)
		}
	}
	if bad := l.reads.bad(); bad != "" {
		t.Errorf("the agent has read what is not valid: %s", bad)
	}
	response, err := l.client.Get("http://switchboard/healthz") //nolint:noctx // the client has a timeout
	if err != nil {
		t.Fatalf("the server does not answer any more: %v", err)
	}
	_, _ = io.Copy(io.Discard, response.Body) // so that the connection can be used again
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("afterwards /healthz answers %d", response.StatusCode)
	}
}

// statusesIn returns the statuses of the answers in what a server sent.
func statusesIn(answer []byte) []int {
	var list []int
	for _, found := range fuzzStatus.FindAllSubmatch(answer, -1) {
		var status int
		_, _ = fmt.Sscan(string(found[1]), &status) // digits
		list = append(list, status)
	}
	return list
}

// upgraded opens a WebSocket and returns the connection behind the answer.
func (l *fuzzLab) upgraded(t *testing.T, path string) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := l.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SetDeadline(time.Now().Add(fuzzWait)); err != nil {
		t.Fatal(err)
	}
	request := "GET " + path + " HTTP/1.1\r\nHost: switchboard\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(c)
	response, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close() // there is none
	if response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("%s answers %d", path, response.StatusCode)
	}
	return c, in
}

// A fuzzLog keeps what is logged until it is taken. It is safe for concurrent use.
type fuzzLog struct {
	mu      sync.Mutex
	records []fuzzRecord
}

// A fuzzRecord is a line of the log.
type fuzzRecord struct {
	level         slog.Level
	message, text string
}

// Enabled takes everything: what the HTTP server itself says is at the lowest
// level.
func (*fuzzLog) Enabled(context.Context, slog.Level) bool { return true }

// Handle keeps a line.
func (l *fuzzLog) Handle(_ context.Context, r slog.Record) error {
	text := r.Message
	r.Attrs(func(a slog.Attr) bool {
		text += " " + a.String()
		return true
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.records) < 1000 {
		l.records = append(l.records, fuzzRecord{r.Level, r.Message, text})
	}
	return nil
}

// WithAttrs and WithGroup keep to the same list.
func (l *fuzzLog) WithAttrs([]slog.Attr) slog.Handler { return l }

// WithGroup does too.
func (l *fuzzLog) WithGroup(string) slog.Handler { return l }

func (l *fuzzLog) take() []fuzzRecord {
	l.mu.Lock()
	defer l.mu.Unlock()
	records := l.records
	l.records = nil
	return records
}

// fuzzReads looks at each line that the simulated CLI reads. It is the CLI's record.
type fuzzReads struct {
	mu    sync.Mutex
	wrong string
}

// Write takes one entry of the record.
func (r *fuzzReads) Write(p []byte) (int, error) {
	var entry claudetest.Entry
	if err := json.Unmarshal(p, &entry); err == nil && entry.Read {
		if err := wire.Validate([]byte(entry.Line)); err != nil {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.wrong = fmt.Sprintf("%v: %.300s", err, entry.Line)
		}
	}
	return len(p), nil
}

// bad returns a line that should not have been read, "" if there was none.
func (r *fuzzReads) bad() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.wrong
}
