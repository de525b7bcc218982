//go:build linux || darwin

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

// The attack table: what somebody may try at the doors of a hub, and what comes
// of it. Each row says with what it is refused. Afterwards the hub answers, its
// agent lives, and has read nothing but what it was to read.

// An assault is a hub with an agent, and somebody who means them harm.
type assault struct {
	*lab
	t     *testing.T
	s     *session
	seen  int // how many lines the agent had read when it was last looked at
	turns int
}

// newAssault starts a hub and an agent. o may be nil.
func newAssault(t *testing.T, o *labOptions) *assault {
	t.Helper()
	l := newLab(t, o)
	l.start()
	return l.assault(t)
}

// assault creates a session to be attacked, in a hub that runs.
func (l *lab) assault(t *testing.T) *assault {
	t.Helper()
	a := &assault{lab: l, t: t, s: l.mustCreate(nil)}
	if err := a.s.turn(l.ctx(), "zeroth", "@say Here."); err != nil {
		t.Fatal(err)
	}
	a.seen = len(a.readLines())
	return a
}

// readLines returns all that the agent has read.
func (a *assault) readLines() [][]byte {
	a.t.Helper()
	records, err := readRecord(a.s.record)
	if err != nil {
		a.t.Fatal(err)
	}
	if len(records) != 1 {
		a.t.Fatalf("%d processes were started; want the one that was there", len(records))
	}
	return read(records[0])
}

// survived holds that the hub answers, that the agent lives and answers the next
// prompt, and that nothing has reached it in the meantime but what may: lines that
// hold one of some texts.
func (a *assault) survived(may ...string) {
	a.t.Helper()
	if status, body := a.ask(http.MethodGet, "/healthz", "", nil); status != http.StatusOK {
		a.t.Fatalf("afterwards /healthz answers %d: %s", status, body)
	}
	a.turns++
	name := fmt.Sprintf("survived-%d", a.turns)
	mark := a.s.mark()
	message, err := a.s.send(a.ctx(), name, "@say Alive.")
	if err != nil {
		a.t.Fatalf("afterwards no prompt is taken: %v", err)
	}
	if err := a.s.awaitTurn(a.ctx(), mark, message); err != nil {
		a.t.Fatalf("afterwards the agent does not answer: %v", err)
	}
	lines := a.readLines()
	for _, line := range lines[a.seen:] {
		if bytes.Contains(line, []byte(message.UUID)) || containsAny(line, may) {
			continue
		}
		a.t.Errorf("the agent has read: %s", brief(line))
	}
	a.seen = len(lines)
	select {
	case <-a.current().done:
		a.t.Fatal("the hub has ended")
	default:
	}
}

func containsAny(line []byte, texts []string) bool {
	for _, text := range texts {
		if bytes.Contains(line, []byte(text)) {
			return true
		}
	}
	return false
}

// header returns a header with a bearer token, none if it is empty.
func header(token string, more ...string) http.Header {
	h := http.Header{}
	if token != "" {
		h.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(more); i += 2 {
		h.Set(more[i], more[i+1])
	}
	return h
}

// ask makes a request with a token and returns the answer, or what of it comes
// at once.
func (a *assault) ask(method, path, token string, body any) (status int, content []byte) {
	a.t.Helper()
	var reader io.Reader = http.NoBody
	h := header(token)
	switch body := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(body)
		h.Set("Content-Type", "application/json")
	default:
		raw, err := json.Marshal(body)
		if err != nil {
			a.t.Fatal(err)
		}
		reader = bytes.NewReader(raw)
		h.Set("Content-Type", "application/json")
	}
	return a.askWith(method, path, h, reader)
}

// askWith is ask with headers.
func (a *assault) askWith(method, path string, h http.Header, body io.Reader) (status int, content []byte) {
	a.t.Helper()
	got := a.fetch(method, path, h, body)
	return got.status, got.body
}

// fetch is askWith with all of the answer, but for a stream.
func (a *assault) fetch(method, path string, h http.Header, body io.Reader) rawAnswer {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(a.t.Context(), patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, "http://"+a.address+path, body)
	if err != nil {
		a.t.Fatal(err)
	}
	request.Header = h
	if host := h.Get("Host"); host != "" {
		request.Host = host
		h.Del("Host")
	}
	response, err := a.http.Do(request)
	if err != nil {
		a.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	got := rawAnswer{status: response.StatusCode, header: response.Header}
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		return got
	}
	if got.body, err = io.ReadAll(response.Body); err != nil {
		a.t.Fatalf("%s %s: %v", method, path, err)
	}
	return got
}

// refuses holds that an answer refuses with a status and says so as our interface
// does.
func (a *assault) refuses(row string, status int, content []byte, want ...int) {
	a.t.Helper()
	fits := false
	for _, w := range want {
		fits = fits || w == status
	}
	if !fits {
		a.t.Errorf("%s: status %d, want %v: %.300s", row, status, want, content)
		return
	}
	var problem api.Error
	if err := json.Unmarshal(content, &problem); err != nil || problem.Code == "" || problem.Title == "" || problem.Status != status {
		a.t.Errorf("%s: the answer says not why: %.300s", row, content)
	}
}

// mint makes a token.
func (a *assault) mint(name string, scopes ...wire.Scope) *api.CreatedToken {
	a.t.Helper()
	return a.mintFor(name, 0, scopes...)
}

// mintFor makes a token that is good for some seconds, 0 for ever.
func (a *assault) mintFor(name string, seconds int64, scopes ...wire.Scope) *api.CreatedToken {
	a.t.Helper()
	request := api.CreateToken{Name: name, TTL: seconds}
	for _, s := range scopes {
		request.Scopes = append(request.Scopes, s.String())
	}
	var created api.CreatedToken
	if err := a.call(a.ctx(), http.MethodPost, "/v1/tokens", request, &created); err != nil {
		a.t.Fatalf("making a token: %v", err)
	}
	if created.Text == "" || created.ID == "" {
		a.t.Fatalf("the token is %+v", created)
	}
	return &created
}

// admin returns the admin token.
func (a *assault) admin() string {
	a.t.Helper()
	token, err := a.token()
	if err != nil {
		a.t.Fatal(err)
	}
	return token
}

// A rawAnswer is what the hub answers to a request, the first 64 KiB of its body.
type rawAnswer struct {
	status int
	header http.Header
	body   []byte
}

// raw sends bytes over TCP and returns what is answered, io.EOF if the connection
// was closed without an answer.
func (a *assault) raw(request string) (rawAnswer, error) {
	a.t.Helper()
	c := a.connect()
	defer func() { _ = c.Close() }() // there is nothing to lose
	// Who refuses early does not read all.
	_, _ = io.WriteString(c, request)
	return readRawAnswer(bufio.NewReader(c))
}

// readRawAnswer reads an answer. One behind which the connection is cut is still one.
func readRawAnswer(in *bufio.Reader) (rawAnswer, error) {
	response, err := http.ReadResponse(in, nil)
	if err != nil {
		return rawAnswer{}, err
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	got := rawAnswer{status: response.StatusCode, header: response.Header}
	if response.StatusCode != http.StatusSwitchingProtocols {
		got.body, _ = io.ReadAll(io.LimitReader(response.Body, 64<<10))
	}
	return got, nil
}

// connect connects to the hub's port.
func (a *assault) connect() net.Conn {
	a.t.Helper()
	c, err := a.tryConnect()
	if err != nil {
		a.t.Fatal(err)
	}
	return c
}

func (a *assault) tryConnect() (net.Conn, error) {
	c, err := (&net.Dialer{Timeout: patience}).DialContext(a.t.Context(), "tcp", a.address)
	if err != nil {
		return nil, err
	}
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// A front is a WebSocket to the hub.
type front struct {
	a *assault
	*websocket.Conn
}

// upgrade tries to open a WebSocket, and returns the status with which that was
// refused, or 101.
func (a *assault) upgrade(path string, h http.Header, protocols ...string) (*front, int) {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(a.t.Context(), patience)
	defer cancel()
	options := &websocket.DialOptions{HTTPHeader: h, Subprotocols: protocols, HTTPClient: a.http}
	if host := h.Get("Host"); host != "" {
		options.Host = host
		h.Del("Host")
	}
	c, response, err := websocket.Dial(ctx, "ws://"+a.address+path, options)
	if response != nil && response.Body != nil {
		defer func() { _ = response.Body.Close() }() // the library has read what there was
	}
	if err != nil {
		if response == nil {
			a.t.Fatalf("upgrading %s: %v", path, err)
		}
		return nil, response.StatusCode
	}
	c.SetReadLimit(1 << 20)
	a.t.Cleanup(func() { _ = c.CloseNow() })
	return &front{a: a, Conn: c}, http.StatusSwitchingProtocols
}

// relay opens the raw relay on the session with a token.
func (a *assault) relay(token string) *front {
	a.t.Helper()
	f, status := a.upgrade("/ws?session="+a.s.id, header(token))
	if f == nil {
		a.t.Fatalf("the relay answers %d", status)
	}
	return f
}

// say sends a text message.
func (f *front) say(text string) {
	f.a.t.Helper()
	ctx, cancel := context.WithTimeout(f.a.t.Context(), patience)
	defer cancel()
	if err := f.Write(ctx, websocket.MessageText, []byte(text)); err != nil {
		f.a.t.Fatalf("writing to a WebSocket: %v", err)
	}
}

// hear reads messages until one is what is wanted, and returns it. If the
// connection ends first it returns the error of that.
func (f *front) hear(want func(line []byte) bool) ([]byte, error) {
	ctx, cancel := context.WithTimeout(f.a.t.Context(), patience)
	defer cancel()
	for {
		_, message, err := f.Read(ctx)
		if err != nil {
			return nil, err
		}
		if line := bytes.TrimRight(message, "\n"); want(line) {
			return line, nil
		}
	}
}

// ended reads until the connection ends, and returns the code that it was closed
// with, -1 if it was cut.
func (f *front) ended() websocket.StatusCode {
	f.a.t.Helper()
	_, err := f.hear(func([]byte) bool { return false })
	if errors.Is(err, context.DeadlineExceeded) {
		f.a.t.Error("the connection does not end")
	}
	return websocket.CloseStatus(err)
}

// isAnswer says whether a line answers a request.
func isAnswer(line []byte, id string) bool {
	h, err := wire.Peek(line)
	return err == nil && string(h.Type) == "control_response" && answered(line) == id
}

// isRefusal says whether a line says that one was refused.
func isRefusal(line []byte) bool {
	h, err := wire.Peek(line)
	return err == nil && string(h.Type) == "status" && string(h.Subtype) == "refused"
}

// runVerb runs the program with arguments and no input, and returns what it prints.
func (a *assault) runVerb(args ...string) string {
	a.t.Helper()
	cmd := exec.CommandContext(a.ctx(), program(a.t), args...)
	cmd.Env = a.environment()
	output, err := cmd.CombinedOutput()
	if err != nil {
		a.t.Errorf("switchboard %s: %v: %s", strings.Join(args, " "), err, output)
	}
	return string(output)
}
