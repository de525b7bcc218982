package lines

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/internal/server/servertest"
	"github.com/switchboard-dev/switchboard/wire"
)

const (
	initialize = `{"type":"control_request","request_id":"i1","request":{"subtype":"initialize"}}`
	setModel   = `{"type":"control_request","request_id":"m1","request":{"subtype":"set_model","model":"x"}}`
	interrupt  = `{"type":"control_request","request_id":"n1","request":{"subtype":"interrupt"}}`
	hello      = `{"type":"user","message":{"role":"user","content":"hello"}}`
	answer     = `{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{"behavior":"allow"}}}`
)

// auth is the first line of somebody without headers.
func auth(token string) string { return `{"type":"auth","token":"` + token + `"}` }

// isLine reports whether a line has this type, subtype and request id.
func is(t *testing.T, line, kind, subtype, says string) {
	t.Helper()
	var m struct {
		Type, Subtype string
		Response      struct{ Subtype string }
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil || m.Type != kind || m.Subtype+m.Response.Subtype != subtype || !strings.Contains(line, says) {
		t.Errorf("the line is %s; want %s %s with %q", line, kind, subtype, says)
	}
}

// TestDirectConnect lets clients in by every way there is.
func TestDirectConnect(t *testing.T) {
	r := newDirectRig(t, nil)
	r.hub.add("s1").events = []api.Frame{wrote(says)}
	sdk := `{"type":"auth","credential":{"type":"oauth","token":"` + observeToken + `"}}`
	tests := map[string]struct {
		id     string
		header http.Header
		first  string
	}{
		"header":              {"s1", http.Header{"Authorization": {"Bearer " + adminToken}}, ""},
		"sub-protocol":        {"s1", http.Header{protocols: {access.Subprotocol + ", sb.token." + observeToken}}, ""},
		"first line":          {"s1", nil, auth(observeToken)},
		"the SDK's":           {"s1", nil, sdk},
		"both":                {"s1", http.Header{"Authorization": {"Bearer " + adminToken}}, sdk},
		"by its conversation": {"conv-s1", nil, auth(adminToken)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c, tried := r.tryDial(test.id, test.header)
			if tried.err != nil {
				t.Fatal(tried.err)
			}
			if (tried.protocol != "") != (test.header.Get(protocols) != "") || tried.protocol != "" && tried.protocol != access.Subprotocol {
				t.Errorf("the sub-protocol is answered with %q", tried.protocol)
			}
			c.t = t
			if test.first != "" {
				c.send(test.first)
			}
			if got := c.next(); got != says {
				t.Errorf("it is shown %q; want %q", got, says)
			}
		})
	}
	if given := r.hub.sessions["s1"].submitted; given != nil {
		t.Errorf("the hub was given %q", given)
	}
}

// TestDirectConnectRefused turns clients away, who are shown nothing before.
func TestDirectConnectRefused(t *testing.T) {
	r := newDirectRig(t, nil)
	r.hub.add("s1").events = []api.Frame{wrote(says)}
	bearer := func(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }
	tests := map[string]struct {
		id     string
		header http.Header
		first  string
		status int // of HTTP, or
		code   websocket.StatusCode
	}{
		"wrong token":             {"s1", bearer(wrongAdminToken), "", 401, 0},
		"may not look":            {"s1", bearer(approveToken), "", 403, 0},
		"no such session":         {"s9", bearer(adminToken), "", 404, 0},
		"foreign page":            {"s1", http.Header{"Authorization": {"Bearer " + adminToken}, "Origin": {"http://evil.example"}}, "", 403, 0},
		"wrong first line":        {"s1", nil, auth(wrongAdminToken), 0, websocket.StatusPolicyViolation},
		"no token first":          {"s1", nil, hello, 0, websocket.StatusPolicyViolation},
		"may not look, said late": {"s1", nil, auth(approveToken), 0, websocket.StatusPolicyViolation},
		"no such session, late":   {"s9", nil, auth(adminToken), 0, websocket.StatusPolicyViolation},
		"long first line":         {"s1", nil, auth(strings.Repeat("x", maxFirstLine)), 0, websocket.StatusMessageTooBig},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c, tried := r.tryDial(test.id, test.header)
			if test.status != 0 {
				if tried.err == nil || tried.status != test.status {
					t.Errorf("got %+v; want status %d", tried, test.status)
				}
				return
			}
			if tried.err != nil {
				t.Fatal(tried.err)
			}
			c.t = t
			c.send(test.first)
			line, err := c.read()
			if websocket.CloseStatus(err) != test.code {
				t.Errorf("it is shown %q, %v; want code %d", line, err, test.code)
			}
		})
	}
}

// TestDirectBegin shows the first client of a new session everything from its creation
// on, and a later one what is asked at present.
func TestDirectBegin(t *testing.T) {
	r := newDirectRig(t, nil)
	status, created := r.call("POST", "/sessions", adminToken, "{}")
	id, _ := created["session_id"].(string)
	if status != http.StatusCreated || id == "" {
		t.Fatal(status, created)
	}
	first := r.dial(id, adminToken)
	first.send(initialize)
	is(t, first.next(), "control_response", "success", `"i1"`)
	first.send(`{"type":"user","message":{"role":"user","content":"@tool Bash {\"command\":\"make\"}"}}`)
	var question string
	for !strings.Contains(question, "can_use_tool") {
		question = first.next()
	}
	later := r.dial(id, adminToken)
	if got := later.next(); got != question {
		t.Errorf("a later client is shown %s; want the open question", got)
	}
	h, err := wire.Peek([]byte(question))
	if err != nil {
		t.Fatal(err)
	}
	first.send(strings.Replace(answer, "r1", string(h.RequestID), 1))
	if got := later.next(); got != strings.Replace(cancels, "r1", string(h.RequestID), 1) {
		t.Errorf("when it is settled it is shown %s", got)
	}

	// What happens before the first client comes is not missed.
	_, created = r.call("POST", "/sessions", adminToken, "{}")
	id, _ = created["session_id"].(string)
	if _, err := r.hub.lab.Hub.Update(t.Context(), servertest.Admin, id, api.UpdateSession{Title: new("other")}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []bool{true, false} {
		d := &direct{conn: &conn{server: r.server}, options: &r.server.options, name: id}
		cursor, err := d.follow(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		seen := slices.ContainsFunc(begin(t.Context(), cursor), func(f api.Frame) bool { return f.Event != nil && f.Event.Kind == api.KindUpdated })
		if seen != want {
			t.Errorf("what was before is shown: %t, want %t", seen, want)
		}
		cursor.Close()
		d.leave()
	}
}

// TestDirectOrder holds that prompts wait for what was asked before them, and that
// nothing else does.
func TestDirectOrder(t *testing.T) {
	r := newDirectRig(t, nil)
	s := r.hub.add("s1")
	release := map[string]chan struct{}{"i1": make(chan struct{}), "m1": make(chan struct{}), "n1": make(chan struct{})}
	s.submit = func(ctx context.Context, _ hub.Actor, line []byte, _ hub.May) ([]byte, error) {
		h, err := wire.Peek(line)
		if err != nil {
			return nil, err
		}
		wait := release[string(h.RequestID)]
		if wait == nil {
			return nil, nil
		}
		select {
		case <-wait:
			return fmt.Appendf(nil, `{"type":"control_response","response":{"subtype":"success","request_id":%q}}`, h.RequestID), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	c := r.dial("s1", adminToken)
	submitted := func(want ...string) {
		t.Helper()
		s.await(t, "the order", func(lines []string) bool { return cmp.Equal(lines, want) })
	}
	// Everything waits for initialize but answers: the CLI may ask before it is
	// ready.
	c.send(initialize, hello, interrupt)
	submitted(initialize)
	c.send(answer)
	submitted(initialize, answer)
	close(release["i1"])
	is(t, c.next(), "control_response", "success", `"i1"`)
	s.await(t, "what has waited", func(lines []string) bool { return len(lines) == 4 })
	// The interrupt hangs; a prompt does not wait for it, but for the model.
	c.send(setModel, hello)
	s.await(t, "the model", func(lines []string) bool { return len(lines) == 5 && lines[4] == setModel })
	c.send(strings.Replace(interrupt, "n1", "n2", 1))
	s.await(t, "another interrupt", func(lines []string) bool { return len(lines) == 6 && strings.Contains(lines[5], "n2") })
	close(release["m1"])
	is(t, c.next(), "control_response", "success", `"m1"`)
	s.await(t, "the prompt", func(lines []string) bool { return len(lines) == 7 && lines[6] == hello })
	close(release["n1"])
	is(t, c.next(), "control_response", "success", `"n1"`)
}

// TestDirectCancel takes a request back.
func TestDirectCancel(t *testing.T) {
	r := newDirectRig(t, nil)
	s := r.hub.add("s1")
	ended := make(chan struct{})
	s.submit = func(ctx context.Context, _ hub.Actor, line []byte, _ hub.May) ([]byte, error) {
		if !strings.Contains(string(line), "n1") {
			return []byte(`{"type":"control_response","response":{"subtype":"success","request_id":"n2"}}`), nil
		}
		<-ctx.Done()
		close(ended)
		return nil, ctx.Err()
	}
	c := r.dial("s1", adminToken)
	c.send(interrupt)
	s.await(t, "the request", func(lines []string) bool { return len(lines) == 1 })
	// The same id again would have two answers.
	c.send(interrupt)
	is(t, c.next(), "control_response", "error", "under way")
	c.send(`{"type":"control_cancel_request","request_id":"n1"}`, `{"type":"control_cancel_request","request_id":"n7"}`)
	<-ended
	c.send(strings.Replace(interrupt, "n1", "n2", 1))
	is(t, c.next(), "control_response", "success", `"n2"`)
}

// TestDirectRefusals tells a client why its lines were not taken, and goes on.
func TestDirectRefusals(t *testing.T) {
	forbidden := api.Errorf(http.StatusForbidden, api.CodeForbidden, "this needs the scope %q", "prompt")
	tests := map[string]struct {
		line string
		err  error
		kind string
		sub  string
		says string
	}{
		"a prompt":               {hello, forbidden, "result", "error_during_execution", "needs the scope"},
		"a prompt, by a fault":   {hello, errors.New("the disk is on fire"), "result", "error_during_execution", "Something went wrong in the server"},
		"an answer":              {answer, forbidden, "system", "informational", "did not take an answer: this needs"},
		"a request":              {interrupt, forbidden, "control_response", "error", "needs the scope"},
		"an environment":         {`{"type":"update_environment_variables","variables":{}}`, forbidden, "system", "informational", "did not take a line"},
		"no line":                {`{"type":`, nil, "system", "informational", "not one complete JSON object"},
		"no JSON":                {`hello`, nil, "system", "informational", "not one complete JSON object"},
		"a type that is unknown": {`{"type":"news"}`, api.Errorf(422, api.CodeInvalid, "nobody knows it"), "system", "informational", "nobody knows it"},
	}
	lab := servertest.New(t, nil)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newDirectRigOn(t, lab, nil)
			s := r.hub.add(name)
			s.submit = func(context.Context, hub.Actor, []byte, hub.May) ([]byte, error) { return nil, test.err }
			c := r.dial(name, adminToken)
			c.send(test.line)
			line := c.next()
			is(t, line, test.kind, test.sub, test.says)
			if strings.Contains(line, "on fire") {
				t.Errorf("the client is told of a fault of ours: %s", line)
			}
			if test.kind != "control_response" {
				if m, err := wire.Decode([]byte(line)); err != nil {
					t.Errorf("%s is no line: %v", line, err)
				} else if _, unknown := m.(*wire.Unknown); unknown {
					t.Errorf("%s is no line that clients know", line)
				}
				if !strings.Contains(line, `"session_id":"conv-`+name+`"`) {
					t.Errorf("%s does not name the conversation", line)
				}
			}
			s.happen(wrote(says))
			if got := c.next(); got != says {
				t.Errorf("then it is shown %s", got)
			}
		})
	}
	// Late answers are nobody's fault.
	r := newDirectRig(t, nil)
	s := r.hub.add("s1")
	s.submit = func(_ context.Context, _ hub.Actor, line []byte, _ hub.May) ([]byte, error) {
		return nil, api.Errorf(409, map[bool]string{true: api.CodeAlreadySettled, false: api.CodeNotFound}[strings.Contains(string(line), "r1")], "too late")
	}
	c := r.dial("s1", adminToken)
	c.send(answer, strings.Replace(answer, "r1", "r2", 1), `{"type":"keep_alive"}`)
	s.await(t, "the answers", func(lines []string) bool { return len(lines) == 2 })
	s.happen(wrote(says))
	if got := c.next(); got != says {
		t.Errorf("after answers that came too late it is shown %s", got)
	}
}

// TestDirectLimits sends more than is taken.
func TestDirectLimits(t *testing.T) {
	r := newDirectRig(t, nil)
	s := r.hub.add("s1")
	s.submit = func(ctx context.Context, _ hub.Actor, _ []byte, _ hub.May) ([]byte, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	c := r.dial("s1", adminToken)
	for i := range maxRequests {
		c.send(strings.Replace(interrupt, "n1", fmt.Sprintf("n%d", i), 1))
	}
	s.await(t, "the requests", func(lines []string) bool { return len(lines) == maxRequests })
	c.send(strings.Replace(interrupt, "n1", "more", 1))
	is(t, c.next(), "control_response", "error", "Too many requests")
	// One prompt is being submitted, maxLines wait.
	c.send(hello)
	s.await(t, "the first prompt", func(lines []string) bool { return len(lines) == maxRequests+1 })
	for range maxLines {
		c.send(hello)
	}
	c.send(hello, setModel)
	is(t, c.next(), "result", "error_during_execution", "Too many lines")
	is(t, c.next(), "control_response", "error", "Too many lines")
}

// TestDirectWho checks the name under which a client acts in the hub.
func TestDirectWho(t *testing.T) {
	r := newDirectRig(t, nil)
	s := r.hub.add("s1")
	var mu sync.Mutex
	names := map[string]bool{}
	s.submit = func(_ context.Context, by hub.Actor, _ []byte, may hub.May) ([]byte, error) {
		mu.Lock()
		defer mu.Unlock()
		names[by.Name] = true
		return fmt.Appendf(nil, `{"type":"x","admin":%t,"observe":%t,"prompt":%t,"source":%q}`, by.Admin && may(wire.ScopeAdmin), may(wire.ScopeObserve), may(wire.ScopePrompt), by.Source), nil
	}
	for token, want := range map[string]string{
		adminToken:   `{"type":"x","admin":true,"observe":true,"prompt":true,"source":"person"}`,
		observeToken: `{"type":"x","admin":false,"observe":true,"prompt":false,"source":"person"}`,
	} {
		c := r.dial("s1", token)
		c.send(hello)
		if got := c.next(); got != want {
			t.Errorf("somebody is %s; want %s", got, want)
		}
	}
	if len(names) != 2 {
		t.Errorf("two clients have the names %v", names)
	}
	for name := range names {
		if !strings.HasPrefix(name, "tester (Direct Connect ") {
			t.Errorf("a client is called %q", name)
		}
	}
}

// TestDirectEnd ends connections in every way, and looks at what the client is told and
// whether its driver leaves.
func TestDirectEnd(t *testing.T) {
	state := event(api.KindState, `{"state":"ended"}`)
	tests := map[string]struct {
		end  func(r *directRig, s *directSession, c *directClient)
		code websocket.StatusCode
		says string
	}{
		"the agent has ended": {func(_ *directRig, s *directSession, _ *directClient) {
			s.happen(wrote(says), event(api.KindRunEnded, `{"reason":"it was told to","code":0}`), state)
		}, websocket.StatusNormalClosure, "ended"},
		"the agent has failed": {func(_ *directRig, s *directSession, _ *directClient) {
			s.happen(event(api.KindRunEnded, `{"reason":"it crashed: `+strings.Repeat("ä", 200)+`","code":1}`), state)
		}, websocket.StatusInternalError, "it crashed"},
		"the agent was killed": {func(_ *directRig, s *directSession, _ *directClient) {
			s.happen(event(api.KindRunEnded, `{"reason":"it was killed","signal":"KILL"}`), state)
		}, websocket.StatusInternalError, "it was killed"},
		"the server goes":    {func(r *directRig, _ *directSession, _ *directClient) { r.server.Close("an upgrade") }, websocket.StatusServiceRestart, "an upgrade"},
		"the hub has closed": {func(_ *directRig, s *directSession, _ *directClient) { s.fail(hub.ErrClosed) }, websocket.StatusServiceRestart, "shutting down"},
		"a fault":            {func(_ *directRig, s *directSession, _ *directClient) { s.fail(errors.New("the disk is on fire")) }, websocket.StatusInternalError, "Something went wrong"},
		"a reason": {func(_ *directRig, s *directSession, _ *directClient) {
			s.fail(api.Errorf(404, api.CodeNotFound, "it was removed"))
		}, websocket.StatusInternalError, "it was removed"},
		"binary": {func(_ *directRig, _ *directSession, c *directClient) {
			if err := c.conn.Write(c.t.Context(), websocket.MessageBinary, []byte("{}")); err != nil {
				c.t.Error(err)
			}
		}, websocket.StatusUnsupportedData, "text"},
		"the client goes": {func(_ *directRig, _ *directSession, c *directClient) { _ = c.conn.CloseNow() }, -1, ""},
		"the client says so": {func(_ *directRig, _ *directSession, c *directClient) {
			_ = c.conn.Close(websocket.StatusNormalClosure, "bye")
		}, -1, ""},
	}
	lab := servertest.New(t, nil)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newDirectRigOn(t, lab, nil)
			r.server.settle = time.Millisecond
			s := r.hub.add(name)
			c := r.dial(name, adminToken)
			s.happen(wrote(says))
			if got := c.next(); got != says {
				t.Fatalf("it is shown %s", got)
			}
			// A request that waits keeps nobody.
			s.mu.Lock()
			s.submit = func(ctx context.Context, _ hub.Actor, _ []byte, _ hub.May) ([]byte, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			s.mu.Unlock()
			c.send(interrupt)
			s.await(t, "the request", func(lines []string) bool { return len(lines) == 1 })
			test.end(r, s, c)
			if code, reason := c.closed(); code != test.code || !strings.Contains(reason, test.says) {
				t.Errorf("it is closed with %d %q; want %d and %q", code, reason, test.code, test.says)
			}
			select {
			case <-s.left:
			case <-time.After(patience):
				t.Error("its driver does not leave")
			}
		})
	}
}

// TestDirectLastAnswer answers what is under way before it tells that the agent has
// ended, and takes no prompt any more, which would start another.
func TestDirectLastAnswer(t *testing.T) {
	r := newDirectRig(t, nil)
	s := r.hub.add("s1")
	ended := make(chan struct{})
	s.submit = func(context.Context, hub.Actor, []byte, hub.May) ([]byte, error) {
		<-ended
		return []byte(`{"type":"control_response","response":{"subtype":"error","request_id":"i1","error":"it could not be started"}}`), nil
	}
	c := r.dial("s1", adminToken)
	c.send(initialize, hello)
	s.await(t, "initialize", func(lines []string) bool { return len(lines) == 1 })
	s.happen(event(api.KindRunEnded, `{"reason":"it could not be started"}`), event(api.KindState, `{"state":"ended"}`), wrote(says))
	if got := c.next(); got != says {
		t.Fatalf("it is shown %s", got)
	}
	close(ended)
	is(t, c.next(), "control_response", "error", "it could not be started")
	c.closed()
	s.await(t, "the end", func(lines []string) bool { return len(lines) == 1 })
}

// TestDirectRevoked cuts a client whose token was revoked.
func TestDirectRevoked(t *testing.T) {
	r := newDirectRig(t, nil)
	r.hub.add("s1")
	admin, err := access.ParseToken(adminToken, "tester", access.AllScopes())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(r.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	book, err := access.OpenTokenStore(r.dir, admin, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := book.Close(); err != nil {
			t.Error(err)
		}
	}()
	guard := access.New(&access.Options{Store: book})
	server := New(r.hub.lab.Hub, guard, nil)
	// Whoever administers tokens has to be known, too.
	type outcome struct {
		token *api.CreatedToken
		err   error
	}
	outcomes := make(chan outcome, 1)
	mux := http.NewServeMux()
	mux.Handle("/sessions/", server.Direct())
	mux.Handle("POST /token", guard.Authenticated(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		token, err := book.Create(req.Context(), api.CreateToken{Name: "friend", Scopes: []string{"observe"}})
		outcomes <- outcome{token, err}
	})))
	mux.Handle("DELETE /token/{id}", guard.Authenticated(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		outcomes <- outcome{nil, book.Revoke(req.Context(), req.PathValue("id"))}
	})))
	second := &directRig{t: t, hub: r.hub, http: httptest.NewUnstartedServer(guard.Checked(mux))}
	second.http.Config.ConnContext = guard.ConnContext
	second.http.Start()
	defer second.http.Close()
	second.call("POST", "/token", adminToken, "")
	made := <-outcomes
	if made.err != nil {
		t.Fatal(made.err)
	}
	c := second.dial("s1", made.token.Text)
	second.call("DELETE", "/token/"+made.token.ID, adminToken, "")
	if revoked := <-outcomes; revoked.err != nil {
		t.Fatal(revoked.err)
	}
	if code, reason := c.closed(); code != websocket.StatusPolicyViolation || !strings.Contains(reason, "token") {
		t.Errorf("it is closed with %d %q", code, reason)
	}
	server.Close("the test is over")
	if err := server.Wait(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestDirectStuck cuts a client that does not read.
func TestDirectStuck(t *testing.T) {
	r := newDirectRig(t, &Options{Ping: time.Millisecond, Direct: DirectOptions{WriteTimeout: 200 * time.Millisecond}})
	s := r.hub.add("s1")
	stuck := r.dial("s1", adminToken)
	big := wrote(`{"type":"assistant","text":"` + strings.Repeat("x", 8<<20) + `"}`)
	for range 8 {
		s.happen(big)
	}
	select {
	case <-s.left:
	case <-time.After(patience):
		t.Fatal("a client that does not read is kept")
	}
	if code, _ := stuck.closed(); code != -1 {
		t.Errorf("it is closed with %d", code)
	}
}

// TestDirectLong sends a line that is too long, in several frames, and a message that is.
func TestDirectLong(t *testing.T) {
	r := newDirectRig(t, nil)
	r.server.maxLine = 1000
	s := r.hub.add("s1")
	c := r.dial("s1", adminToken)
	for _, text := range []string{`{"type":"user","message":"` + strings.Repeat("x", 900), strings.Repeat("x", 900), "\"}\n"} {
		if err := c.conn.Write(t.Context(), websocket.MessageText, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	is(t, c.next(), "system", "informational", "longer than 1000 bytes")
	c.send(hello)
	s.await(t, "the next line", func(lines []string) bool { return len(lines) == 1 && lines[0] == hello })
	c.send(strings.Repeat("x", 1000+spare+1))
	if code, _ := c.closed(); code != websocket.StatusMessageTooBig {
		t.Errorf("after a message that is too long it is closed with %d", code)
	}
}
