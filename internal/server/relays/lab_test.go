package relays

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/server/servertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A pipe stands in for a relay of another program: what one front end writes it gives to
// all of them, and to the agent, which is the test.
type pipe struct {
	t      testing.TB
	server *httptest.Server
	// greeting is what a front end is told first.
	greeting string

	mu     sync.Mutex
	fronts []*websocket.Conn
	got    []string // lines of front ends
	joined int      // how many front ends have ever come
}

func newPipe(t testing.TB, greeting ...string) *pipe {
	t.Helper()
	p := &pipe{t: t, greeting: strings.Join(greeting, "\n")}
	p.server = httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(func() {
		p.cut()
		p.server.Close()
	})
	return p
}

// url returns the address for front ends.
func (p *pipe) url() string { return "ws" + strings.TrimPrefix(p.server.URL, "http") + "/ws" }

func (p *pipe) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/ws" {
		http.Error(w, "WebSocket upgrade required", http.StatusUpgradeRequired)
		return
	}
	ws, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = ws.CloseNow() }()
	ws.SetReadLimit(-1)
	if p.greeting != "" && ws.Write(r.Context(), websocket.MessageText, []byte(p.greeting)) != nil {
		return
	}
	p.mu.Lock()
	p.fronts = append(p.fronts, ws)
	p.joined++
	p.mu.Unlock()
	for {
		_, data, err := ws.Read(r.Context())
		if err != nil {
			p.mu.Lock()
			p.fronts = slices.DeleteFunc(p.fronts, func(other *websocket.Conn) bool { return other == ws })
			p.mu.Unlock()
			return
		}
		p.mu.Lock()
		p.got = append(p.got, string(bytes.TrimSuffix(data, []byte("\n"))))
		p.mu.Unlock()
		p.broadcast(string(data))
	}
}

// broadcast gives a message to all front ends.
func (p *pipe) broadcast(message string) {
	p.mu.Lock()
	fronts := slices.Clone(p.fronts)
	p.mu.Unlock()
	for _, ws := range fronts {
		ctx, cancel := context.WithTimeout(context.Background(), servertest.Patience)
		_ = ws.Write(ctx, websocket.MessageText, []byte(message)) // it may be gone
		cancel()
	}
}

// say has the agent say lines, each a message of its own.
func (p *pipe) say(lines ...string) {
	for _, line := range lines {
		p.broadcast(line + "\n")
	}
}

// cut cuts all connections off, close closes them in good order.
func (p *pipe) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, ws := range p.fronts {
		_ = ws.CloseNow()
	}
	p.fronts = nil
}

func (p *pipe) close() {
	p.mu.Lock()
	fronts := p.fronts
	p.fronts = nil
	p.mu.Unlock()
	for _, ws := range fronts {
		_ = ws.Close(websocket.StatusNormalClosure, "")
	}
}

// front waits until the n-th front end has come, and is the only one.
func (p *pipe) front(n int) {
	p.t.Helper()
	until(p.t, fmt.Sprintf("front end %d comes", n), func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.joined >= n && len(p.fronts) == 1
	})
}

// sent waits until a front end has sent a line that fits, and returns it.
func (p *pipe) sent(what string, fits func(line string) bool) (line string) {
	p.t.Helper()
	until(p.t, what, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		i := slices.IndexFunc(p.got, fits)
		if i >= 0 {
			line = p.got[i]
		}
		return i >= 0
	})
	return line
}

// all returns everything that front ends have sent.
func (p *pipe) all() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.got)
}

// until waits until something is so.
func until(t testing.TB, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(servertest.Patience); !is(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("waiting until %s", what)
		}
	}
}

// A lab is a hub with relays.
type lab struct {
	*servertest.Lab

	t      testing.TB
	relays *Relays
	opts   Options
}

func newLab(t testing.TB, o *servertest.Options, change ...func(*Options)) *lab {
	t.Helper()
	l := &lab{Lab: servertest.New(t, o), t: t}
	l.opts = Options{File: filepath.Join(l.Dir, "relays.json"), FirstWait: 10 * time.Millisecond, LastWait: 20 * time.Millisecond, Look: 10 * time.Millisecond}
	for _, f := range change {
		f(&l.opts)
	}
	l.open()
	t.Cleanup(func() { l.relays.Close() })
	return l
}

// open attaches the hub, for the first time or again.
func (l *lab) open() {
	l.t.Helper()
	var err error
	if l.relays, err = New(l.Hub, &l.opts); err != nil {
		l.t.Fatal(err)
	}
}

// attach attaches a relay and waits until it is connected.
func (l *lab) attach(p *pipe, in api.AttachRelay) *api.Relay {
	l.t.Helper()
	in.URL = p.url()
	r, err := l.relays.Attach(l.t.Context(), in)
	if err != nil {
		l.t.Fatal(err)
	}
	p.front(1)
	return r
}

// relay waits until a relay is as is says, and returns it.
func (l *lab) relay(url, what string, is func(*api.Relay) bool) (found api.Relay) {
	l.t.Helper()
	until(l.t, what, func() bool {
		list, err := l.relays.List(l.t.Context())
		if err != nil {
			l.t.Fatal(err)
		}
		i := slices.IndexFunc(list, func(r api.Relay) bool { return r.URL == url })
		if i < 0 || !is(&list[i]) {
			return false
		}
		found = list[i]
		return true
	})
	return found
}

// first waits until a relay shows a session, and returns that.
func (l *lab) first(p *pipe) string {
	l.t.Helper()
	r := l.relay(p.url(), "a session is shown", func(r *api.Relay) bool { return len(r.Sessions) > 0 })
	return r.Sessions[0]
}

// session waits until there is a session with a conversation that is as is says.
func (l *lab) session(conversation, what string, is func(*api.Session) bool) (found *api.Session) {
	l.t.Helper()
	until(l.t, conversation+": "+what, func() bool {
		id, err := l.Hub.Resolve(l.t.Context(), conversation)
		if err != nil {
			return false
		}
		if found, err = l.Hub.Snapshot(l.t.Context(), id); err != nil {
			l.t.Fatal(err)
		}
		return is(found)
	})
	return found
}

// inState reports whether a session is in a state.
func inState(state api.State) func(*api.Session) bool {
	return func(s *api.Session) bool { return s.State == state }
}

// count returns how many sessions there are.
func (l *lab) count() int {
	l.t.Helper()
	list, err := l.Hub.List(l.t.Context(), api.SessionFilter{Limit: 1000})
	if err != nil {
		l.t.Fatal(err)
	}
	return len(list.Sessions)
}

// log returns the entries of a session as text.
func (l *lab) log(session string) string {
	l.t.Helper()
	entries, err := l.Journal.Entries(l.t.Context(), session, 0, 0, 0)
	if err != nil {
		l.t.Fatal(err)
	}
	var b strings.Builder
	for i := range entries {
		e := &entries[i]
		fmt.Fprintf(&b, "%s %s %s %s\n", e.Kind, e.Source, e.Line, e.Data)
	}
	return b.String()
}

// logged waits until the log of a session holds a text.
func (l *lab) logged(session, text string) {
	l.t.Helper()
	until(l.t, "the log holds "+text, func() bool { return strings.Contains(l.log(session), text) })
}

// The lines of an agent.
func initOf(id string) string {
	return `{"type":"system","subtype":"init","session_id":"` + id + `","uuid":"i-` + id + `","cwd":"/w","model":"m","permissionMode":"default","claude_code_version":"2.1.120","tools":[]}`
}

func saidBy(id, text string) string {
	return `{"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"` + text + `"}]},"session_id":"` + id + `","uuid":"a-` + id + text + `"}`
}

func resultOf(id string) string {
	return `{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"` + id + `","uuid":"r-` + id + `","duration_ms":1,"num_turns":1,"total_cost_usd":0}`
}

func asks(request string) string {
	return `{"type":"control_request","request_id":"` + request + `","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"make"},"tool_use_id":"t-` + request + `"}}`
}

// member returns a member of a line.
func member(line string, path ...string) (value any) {
	if json.Unmarshal([]byte(line), &value) != nil {
		return nil
	}
	for _, name := range path {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	return value
}
