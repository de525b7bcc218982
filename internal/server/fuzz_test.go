//go:build unix

package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	v1 "github.com/switchboard-dev/switchboard/internal/server/v1"
)

// FuzzHTTP sends bytes as they are to the socket, and, where they bring no token,
// to the port.
func FuzzHTTP(f *testing.F) {
	l := newFuzzLab(f)
	for _, request := range []string{
		"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET /metrics HTTP/1.0\r\n\r\n",
		"GET /v1/info HTTP/1.1\r\nHost: a\r\n\r\nGET /v1/sessions HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET /v1/sessions?state=idle&q=x&limit=3&cursor=abc HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET /v1/sessions/SESSION HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET /v1/sessions/SESSION/events?after=now&live=false&kinds=line,state&types=user&heartbeat=5 HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\nLast-Event-ID: a:5\r\n\r\n",
		"GET /v1/events?after=a:1 HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET /v1/sessions/SESSION/export?format=markdown HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET /v1/sessions/SESSION/timeline?after=x&limit=2 HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET /v1/search?q=touch HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET /v1/costs?by=day&since=2026-01-01T00:00:00Z HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET /v1/audit?limit=5 HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET /v1/transcripts/x?dir=/tmp&from=0&limit=1 HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET /v1/folders?prefix=/ HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET /v1/questions/QUESTION HTTP/1.1\r\nHost: a\r\n\r\n",
		"POST /v1/sessions/SESSION/messages HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n{\"text\":\"hey\"}",
		"POST /v1/sessions/SESSION/messages HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\ne\r\n{\"text\":\"hey\"}\r\n0\r\n\r\n",
		"DELETE /sessions/SESSION HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET /ws?session=SESSION&after=now HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: switchboard.v1, sb.token.x\r\n\r\n",
		"GET /ws/cli/SESSION HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nX-Last-Request-Id: x\r\n\r\n",
		"POST /session/cli/SESSION/events HTTP/1.1\r\nHost: a\r\nContent-Length: 13\r\n\r\n{\"events\":[]}",
		"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	} {
		f.Add([]byte(request))
	}
	f.Fuzz(func(t *testing.T, request []byte) {
		l.ensure(t)
		request = l.fill(request)
		statuses := statusesIn(l.exchange(t, "unix", l.server.Socket(), request))
		// A wrong token would be answered after a while, each time.
		if lower := bytes.ToLower(request); !bytes.Contains(lower, []byte("authorization")) && !bytes.Contains(lower, []byte("sb.token")) {
			port := strings.TrimPrefix(l.server.URL(), "http://")
			statuses = append(statuses, statusesIn(l.exchange(t, "tcp", port, bytes.ReplaceAll(request, []byte("Host: a"), []byte("Host: "+port))))...)
		}
		l.judge(t, statuses...)
	})
}

// A fuzzOperation is one that has a body.
type fuzzOperation struct{ method, path string }

// fuzzOperations returns all operations with a body, from the server's own
// description, and the others that there are.
func fuzzOperations(f *testing.F) []fuzzOperation {
	f.Helper()
	raw, err := v1.Document()
	if err != nil {
		f.Fatal(err)
	}
	var document struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(raw, &document); err != nil {
		f.Fatal(err)
	}
	list := []fuzzOperation{{http.MethodPost, "/sessions"}}
	for path, methods := range document.Paths {
		for method, operation := range methods {
			var described struct {
				Body json.RawMessage `json:"requestBody"`
			}
			// A login that is wrong is answered after a while.
			if json.Unmarshal(operation, &described) != nil || described.Body == nil || path == "/v1/login" {
				continue
			}
			for name, value := range map[string]string{"{client_id}": "c", "{rule}": "r", "{server}": "s", "{conversation}": "00000000-0000-4000-8000-000000000000"} {
				path = strings.ReplaceAll(path, name, value)
			}
			id := "SESSION"
			if strings.Contains(path, "/questions/") {
				id = "QUESTION"
			}
			list = append(list, fuzzOperation{strings.ToUpper(method), strings.ReplaceAll(path, "{id}", id)})
		}
	}
	slices.SortFunc(list, func(a, b fuzzOperation) int { return strings.Compare(a.path+a.method, b.path+b.method) })
	if len(list) < 15 {
		f.Fatalf("the description has only %d operations with a body", len(list))
	}
	return list
}

// FuzzBody sends bodies to every operation that takes one.
func FuzzBody(f *testing.F) {
	l := newFuzzLab(f)
	operations := fuzzOperations(f)
	bodies := []string{
		`{}`, `null`, `[]`, `{"dir":"/","prompt":"x","transport":"websocket","options":{"permission_mode":"plan","mcp_servers":{"a":{"command":"x"}},"env":{"A":"b"}}}`,
		`{"client_id":"c","text":"@say Hello.","mode":"steer"}`, `{"content":[{"type":"text","text":"x"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"eA=="}}]}`,
		`{"decision":"allow","input":{"command":"x"},"always":{"rule":"Bash(x:*)","destination":"session"}}`, `{"decision":"deny","message":"no","interrupt":true}`,
		`{"outcome":"revise","message":"x"}`, `{"request":{"subtype":"set_permission_mode","mode":"plan"}}`, `{"request":{"subtype":"x"}}`, `{"title":"x","model":"y","permission_mode":"default","thinking":{"tokens":5}}`,
		`{"variables":{"A":"b"}}`, `{"servers":{"a":{"type":"stdio","command":"x"}}}`, `{"message":{"jsonrpc":"2.0","id":1,"method":"ping"}}`, `{"enabled":true}`,
		`{"user_message_id":"00000000-0000-4000-8000-000000000000","dry_run":true}`, `{"rule":"Bash(git status:*)","decision":"allow","for":60}`,
		`{"text":"deny = [\"Bash\"]\n","sum":"x"}`, `{"tool":"Bash","input":{"command":"git status && rm -rf /"},"dir":"/"}`, `{"name":"x","scopes":["observe"],"ttl":5}`, `{"cwd":"/tmp","session_key":"k","permission_mode":"plan"}`,
	}
	for i := range operations {
		f.Add(uint8(i), []byte(bodies[i%len(bodies)]))
	}
	for i, body := range bodies {
		f.Add(uint8(7*i), []byte(body))
	}
	f.Fuzz(func(t *testing.T, which uint8, body []byte) {
		l.ensure(t)
		operation := operations[int(which)%len(operations)]
		request, err := http.NewRequestWithContext(t.Context(), operation.method, "http://switchboard"+string(l.fill([]byte(operation.path))), bytes.NewReader(l.fill(body)))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		response, err := l.client.Do(request)
		if err != nil {
			t.Fatalf("%s %s: %v", operation.method, operation.path, err)
		}
		answer, err := io.ReadAll(response.Body)
		_ = response.Body.Close() // it was only read
		if err != nil {
			t.Errorf("%s %s: %v", operation.method, operation.path, err)
		}
		if response.StatusCode >= http.StatusBadRequest {
			var problem struct{ Code, Title string }
			if json.Unmarshal(answer, &problem) != nil || problem.Code == "" || problem.Title == "" {
				t.Errorf("%s %s: status %d says not why: %.300s", operation.method, operation.path, response.StatusCode, answer)
			}
		}
		l.judge(t, response.StatusCode)
	})
}

// FuzzRelay sends lines over the raw relay: the agent reads none that is not valid,
// and the relay goes on answering.
func FuzzRelay(f *testing.F) {
	l := newFuzzLab(f)
	for _, line := range []string{
		`{"type":"user","message":{"role":"user","content":"hello"}}`, `{"type":"user","message":{"role":"user","content":[{"type":"text","text":"x"}]},"uuid":"00000000-0000-4000-8000-000000000000","session_id":"x"}`,
		`{"type":"control_request","request_id":"a","request":{"subtype":"interrupt"}}`, `{"type":"control_request","request_id":"b","request":{"subtype":"set_permission_mode","mode":"plan"}}`,
		`{"type":"control_request","request_id":"c","request":{"subtype":"initialize","hooks":{}}}`, `{"type":"control_response","response":{"subtype":"success","request_id":"x","response":{"behavior":"allow","updatedInput":{}}}}`,
		`{"type":"control_response","request_id":"x","approved":true}`, `{"type":"permission_response","request_id":"x","allow":false}`, `{"type":"keep_alive"}`, `{"type":"update_environment_variables","variables":{"A":"b"}}`,
		`{"type":"control_cancel_request","request_id":"x"}`, `{"type":"auth","token":"x"}`, "{\"type\":\"user\"}\n{\"type\":\"user\"}\n", "\ufeff{}", "null", "{", "\x00", `{"type":"us\u0065r","message":{"role":"user","content":"\ud800"}}`,
	} {
		f.Add([]byte(line), false)
		f.Add([]byte(line+"\n"), true)
	}
	f.Fuzz(func(t *testing.T, line []byte, all bool) {
		l.ensure(t)
		path := "/ws?session=" + l.session
		if all {
			path = "/ws"
		}
		ws, response, err := websocket.Dial(t.Context(), "ws://switchboard"+path, &websocket.DialOptions{HTTPClient: l.client})
		if response != nil && response.Body != nil {
			defer func() { _ = response.Body.Close() }() // the library has read what there was
		}
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = ws.CloseNow() }()
		ws.SetReadLimit(1 << 24)
		const barrier = `{"type":"control_request","request_id":"barrier","request":{"subtype":"mcp_status"}}` + "\n"
		for _, message := range []string{string(l.fill(line)), "\n", barrier} {
			if err := ws.Write(t.Context(), websocket.MessageText, []byte(message)); err != nil {
				t.Fatalf("writing: %v", err)
			}
		}
		for {
			_, message, err := ws.Read(t.Context())
			if err != nil {
				t.Fatalf("the relay ends instead of answering: %v", err)
			}
			if bytes.Contains(message, []byte(`"control_response"`)) && bytes.Contains(message, []byte(`"barrier"`)) {
				break
			}
		}
		l.judge(t)
	})
}

// FuzzFrames sends bytes in the place of WebSocket frames.
func FuzzFrames(f *testing.F) {
	l := newFuzzLab(f)
	masked := func(first byte, payload string) []byte {
		b := []byte{first, 0x80 | byte(len(payload)), 0, 0, 0, 0}
		return append(b, payload...)
	}
	for _, frames := range [][]byte{
		masked(0x81, "{\"type\":\"keep_alive\"}\n"), masked(0x82, "x"), masked(0x89, "ping"), masked(0x8a, "pong"), masked(0x88, "\x03\xe8bye"),
		append(masked(0x01, "{\"type\":"), masked(0x80, "\"keep_alive\"}\n")...),
		{0x81, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0},
		{0x81, 0xfe, 0, 5, 1, 2, 3, 4, 5},
		{0xc1, 0x80, 0, 0, 0, 0},
		{0x81, 0x01, 'x'},
	} {
		for where := range uint8(4) {
			f.Add(where, frames)
		}
	}
	f.Fuzz(func(t *testing.T, where uint8, frames []byte) {
		l.ensure(t)
		paths := []string{"/ws?session=" + l.session, "/ws", "/v1/events", "/v1/sessions/" + l.session + "/events"}
		c, in := l.upgraded(t, paths[int(where)%len(paths)])
		defer func() { _ = c.Close() }() // there is nothing to lose
		_, _ = c.Write(frames)           // who refuses early does not read all
		if half, ok := c.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite() // it may be closed already
		}
		if _, err := io.Copy(io.Discard, in); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error("the connection does not end")
		}
		l.judge(t)
	})
}
