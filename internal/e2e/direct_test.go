//go:build linux || darwin

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/api"
)

// A directSession is what POST /sessions answers.
type directSession struct {
	ID      string `json:"session_id"`
	URL     string `json:"ws_url"`
	WorkDir string `json:"work_dir"`
}

// A directClient is one of Direct Connect that knows nothing but lines. It must be
// used by the test's own goroutine.
type directClient struct {
	t    *testing.T
	l    *lab
	conn *websocket.Conn
	name string
}

// connect connects to a session as the hub says.
func (l *lab) connect(t *testing.T, name string, s directSession) *directClient {
	t.Helper()
	token, err := l.token()
	if err != nil {
		t.Fatal(err)
	}
	conn, response, err := websocket.Dial(l.ctx(), s.URL, &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + token}}})
	if response != nil && response.Body != nil {
		_ = response.Body.Close() // nobody reads it
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	conn.SetReadLimit(-1)
	c := &directClient{t: t, l: l, conn: conn, name: name}
	t.Cleanup(c.leave)
	return c
}

// leave goes without a word.
func (c *directClient) leave() { _ = c.conn.CloseNow() } // perhaps a second time

func (c *directClient) send(format string, args ...any) {
	c.t.Helper()
	if err := c.conn.Write(c.l.ctx(), websocket.MessageText, fmt.Appendf(nil, format+"\n", args...)); err != nil {
		c.t.Fatalf("%s: %v", c.name, err)
	}
}

// prompt sends a prompt.
func (c *directClient) prompt(text string) {
	c.t.Helper()
	c.send(`{"type":"user","message":{"role":"user","content":%s}}`, quoted(text))
}

// A directLine is what the test wants to know of a line.
type directLine struct {
	raw       string
	Type      string   `json:"type"`
	Subtype   string   `json:"subtype"`
	RequestID string   `json:"request_id"`
	Errors    []string `json:"errors"`
	Request   struct {
		Subtype  string `json:"subtype"`
		Callback string `json:"callback_id"`
	} `json:"request"`
	Response struct {
		Subtype   string `json:"subtype"`
		RequestID string `json:"request_id"`
		Error     string `json:"error"`
		Pending   []struct {
			RequestID string `json:"request_id"`
		} `json:"pending_permission_requests"`
	} `json:"response"`
}

// until reads lines to the first one of a kind, which is its type, and its request's
// subtype if it is a request. It holds that none before it is of the other kinds.
func (c *directClient) until(kind string, never ...string) directLine {
	c.t.Helper()
	for {
		line, err := c.next()
		if err != nil {
			c.t.Fatalf("%s waits for %s: %v", c.name, kind, err)
		}
		got := strings.TrimSuffix(line.Type+" "+line.Request.Subtype, " ")
		if got == kind {
			return line
		}
		for _, other := range never {
			if got == other {
				c.t.Fatalf("%s waits for %s and got %s", c.name, kind, line.raw)
			}
		}
	}
}

func (c *directClient) next() (directLine, error) {
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	_, message, err := c.conn.Read(ctx)
	if err != nil {
		return directLine{}, err
	}
	line := directLine{raw: string(message)}
	return line, json.Unmarshal(message, &line)
}

// closed reads to the end and returns its code.
func (c *directClient) closed() websocket.StatusCode {
	for {
		if _, err := c.next(); err != nil {
			if e, ok := errors.AsType[websocket.CloseError](err); ok {
				return e.Code
			}
			c.t.Errorf("%s: the connection ended with %v", c.name, err)
			return -1
		}
	}
}

// initialize registers a hook and waits for the answer.
func (c *directClient) initialize(id, hook string) directLine {
	c.t.Helper()
	c.send(`{"type":"control_request","request_id":%q,"request":{"subtype":"initialize","hooks":{"PreToolUse":[{"matcher":"Bash","hookCallbackIds":[%q]}]}}}`, id, hook)
	line := c.until("control_response")
	if line.Response.Subtype != "success" || line.Response.RequestID != id {
		c.t.Fatalf("%s: initialize is answered with %s", c.name, line.raw)
	}
	return line
}

// agree answers a hook with nothing.
func (c *directClient) agree(hook directLine) {
	c.t.Helper()
	if hook.Request.Callback != "guard" {
		c.t.Fatalf("%s is asked as %s", c.name, hook.raw)
	}
	c.send(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{}}}`, hook.RequestID)
}

// deny answers a question.
func (c *directClient) deny(question directLine) {
	c.t.Helper()
	c.send(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{"behavior":"deny","message":"No."}}}`, question.RequestID)
}

// openDirect asks for a session by a key.
func (l *lab) openDirect(t *testing.T, key, dir string) directSession {
	t.Helper()
	var s directSession
	if err := l.call(l.ctx(), http.MethodPost, "/sessions", map[string]string{"session_key": key, "cwd": dir}, &s); err != nil {
		t.Fatal(err)
	}
	if want := "ws://" + l.address + "/sessions/" + s.ID + "/ws"; s.URL != want {
		t.Fatalf("the address is %s; want %s", s.URL, want)
	}
	return s
}

// TestDirectConnect has several clients of Direct Connect at one session: the one
// that registers its hooks, others beside it and after it, over a restart of the
// hub, and to the end of the agent.
func TestDirectConnect(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	l.start()
	dir, _ := l.newDir("")

	// A session that nobody has come for has nothing to end.
	unused := l.openDirect(t, "key", dir)
	if err := l.call(l.ctx(), http.MethodDelete, "/sessions/"+unused.ID, nil, nil); err != nil {
		t.Fatal(err)
	}
	s := l.openDirect(t, "key", dir)
	if s != unused {
		t.Errorf("a session that has not begun is replaced by %+v", s)
	}
	if again := l.openDirect(t, "key", dir); again != s {
		t.Fatalf("the same key gets %+v; want %+v", again, s)
	}
	if len(l.shims()) != 0 {
		t.Error("an agent runs before a client has come")
	}

	first := l.connect(t, "the first", s)
	first.prompt("@say Too early.")
	if line := first.until("result"); line.Subtype != "error_during_execution" || !strings.Contains(strings.Join(line.Errors, ""), "initialize") {
		t.Errorf("a prompt before initialize is answered with %s", line.raw)
	}
	first.initialize("a1", "guard")
	second := l.connect(t, "the second", s)
	second.initialize("a1", "other") // ids are each client's own; what it registers is not what the CLI was told

	// The hook is for the one that registered it, the question for everybody.
	const hook, question, cancel = "control_request hook_callback", "control_request can_use_tool", "control_cancel_request"
	first.prompt(bash("touch one.txt"))
	first.agree(first.until(hook))
	asked := first.until(question)
	second.deny(second.until(question, hook))
	if line := first.until(cancel, "result"); line.RequestID != asked.RequestID {
		t.Errorf("the first is told that %s is withdrawn; want %s", line.RequestID, asked.RequestID)
	}
	first.deny(asked) // too late, and nobody's fault
	first.until("result", "system informational")
	second.until("result", cancel)

	// Without the first its hook blocks, until somebody takes its place.
	first.leave()
	k := &talk{session: &session{lab: l, id: s.ID, dir: dir, follower: l.follow(s.ID)}, t: t, c: l.client(), name: "nobody guards"}
	k.prompt(bash("touch two.txt"))
	second.until("result", hook, question)
	k.await("a call that was blocked", func(events []api.Event) bool {
		return slices.ContainsFunc(toolResults(events), func(r toolResult) bool { return r.failed && strings.Contains(r.text, "gone") })
	})
	second.initialize("a2", "guard")
	second.prompt(bash("touch three.txt"))
	second.agree(second.until(hook))
	open := second.until(question)

	// Whoever comes now is told what is asked, and in the answer to initialize too.
	third := l.connect(t, "the third", s)
	if line := third.until(question); line.RequestID != open.RequestID {
		t.Errorf("the third is shown %s; want the open question", line.raw)
	}
	if line := third.initialize("a3", "guard"); len(line.Response.Pending) != 1 || line.Response.Pending[0].RequestID != open.RequestID {
		t.Errorf("initialize is answered with %s; want the open question in it", line.raw)
	}

	// The hub goes, the agent stays, and so does the key.
	l.stop()
	for _, c := range []*directClient{second, third} {
		if code := c.closed(); code != websocket.StatusServiceRestart {
			t.Errorf("%s is told %d when the hub goes", c.name, code)
		}
	}
	l.start()
	if again := l.openDirect(t, "key", dir); again != s {
		t.Fatalf("after the restart the same key gets %+v; want %+v", again, s)
	}
	fourth := l.connect(t, "the fourth", s)
	fourth.deny(fourth.until(question))
	fourth.until("result", cancel)
	fourth.initialize("a4", "guard")
	fourth.prompt(bash("touch four.txt"))
	fourth.agree(fourth.until(hook))
	fourth.deny(fourth.until(question))
	fourth.until("result")

	// The end of the agent is the end of the connection, and of the key's session.
	if _, err := l.client().Stop(l.ctx(), s.ID, api.Stop{}); err != nil {
		t.Fatal(err)
	}
	if code := fourth.closed(); code != websocket.StatusNormalClosure {
		t.Errorf("when the agent ends the client is told %d", code)
	}
	if again := l.openDirect(t, "key", dir); again.ID == s.ID {
		t.Error("the key still names the session that has ended")
	}
}
