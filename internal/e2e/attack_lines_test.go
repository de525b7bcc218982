//go:build linux || darwin

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/wire"
)

// deadly are the lines of the protocol facts that end one version of the CLI or
// another, or that it answers oddly, and some like them.
func deadly() []string {
	lines := []string{
		// Not JSON, half of it, two of them, or with a NUL.
		`hello`, `{"type":"user"`, `{"type":"user","message":{"role":"user","content":"a"}}{"type":"user","message":{"role":"user","content":"b"}}`,
		"{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"a\x00b\"}}", "\x00", `{'type':'user'}`, `{"type":"user",}`, `NaN`, `undefined`,
		`null`, ``, `   `, "\t", `{}`, `[]`, `[1]`, `[{"type":"user"}]`, `5`, `-0`, `1e999`, `"abc"`, `true`,
		// Types that a CLI does not read.
		`{"type":"unheard_of"}`, `{"type":5}`, `{"type":null}`, `{"type":"assistant","message":{"role":"assistant","content":"a"}}`,
		`{"type":"system","subtype":"init"}`, `{"type":"result","subtype":"success"}`, `{"type":"stream_event"}`, `{"TYPE":"user"}`,
		// Prompts.
		`{"type":"user"}`, `{"type":"user","message":null}`, `{"type":"user","message":"a"}`, `{"type":"user","message":{}}`,
		`{"type":"user","message":{"content":"a"}}`, `{"type":"user","message":{"role":"assistant","content":"a"}}`, `{"type":"user","message":{"role":5,"content":"a"}}`,
		`{"type":"user","message":{"role":"user"}}`, `{"type":"user","message":{"role":"user","content":5}}`, `{"type":"user","message":{"role":"user","content":null}}`,
		`{"type":"user","message":{"role":"user","content":{}}}`, `{"type":"user","message":{"role":"user","content":[null]}}`, `{"type":"user","message":{"role":"user","content":[5]}}`,
		`{"type":"user","message":{"role":"user","content":[{}]}}`, `{"type":"user","message":{"role":"user","content":[{"type":"text"}]}}`,
		`{"type":"user","message":{"role":"user","content":[{"type":"text","text":5}]}}`, `{"type":"user","message":{"role":"user","content":[{"type":"unheard_of"}]}}`,
		`{"type":"user","message":{"role":"user","content":[{"type":"image","source":null}]}}`, `{"type":"user","message":{"role":"user","content":""}}`,
		`{"type":"user","message":{"role":"user","content":[]}}`, `{"type":"user","message":{"role":"user","content":"a"},"message":null}`,
		`{"type":"user","message":{"role":"user","role":"assistant","content":"a"}}`,
		// Answers.
		`{"type":"control_response"}`, `{"type":"control_response","response":null}`, `{"type":"control_response","response":5}`, `{"type":"control_response","response":{}}`,
		`{"type":"control_response","request_id":"x","approved":true}`, `{"type":"control_response","response":{"subtype":"success"}}`,
		`{"type":"control_response","response":{"subtype":"success","request_id":5}}`, `{"type":"control_response","response":{"subtype":"success","request_id":"unheard-of","response":{}}}`,
		`{"type":"control_response","response":{"subtype":"error","request_id":"unheard-of","error":"no"}}`,
		// Requests.
		`{"type":"control_request"}`, `{"type":"control_request","request_id":"x"}`, `{"type":"control_request","request_id":"x","request":null}`,
		`{"type":"control_request","request_id":"x","request":5}`, `{"type":"control_request","request_id":"x","request":{}}`, `{"type":"control_request","request_id":"x","request":{"subtype":null}}`,
		`{"type":"control_request","request":{"subtype":"mcp_status"}}`, `{"type":"control_request","request_id":5,"request":{"subtype":"mcp_status"}}`,
		`{"type":"control_request","request_id":"","request":{"subtype":"mcp_status"}}`, `{"type":"control_request","request_id":"x","request":{"subtype":"unheard_of"}}`,
		`{"type":"control_request","request_id":"x","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{}}}`, `{"type":"control_request","request_id":"x","request":{"subtype":"hook_callback"}}`,
		`{"type":"control_cancel_request"}`, `{"type":"control_cancel_request","request_id":"x"}`, `{"type":"control_cancel_request","request_id":5}`,
		`{"type":"update_environment_variables"}`, `{"type":"update_environment_variables","variables":5}`, `{"type":"update_environment_variables","variables":{"A":5}}`,
		// How they are written.
		"\ufeff" + `{"type":"user","message":{"role":"user","content":"@say BOM."}}`, "   " + `{"type":"keep_alive"}`, `{"type":"keep_alive"}` + "\r",
		`{"type":"user","message":{"role":"user","content":"\ud800"}}`, `{"type":"user","message":{"role":"user","content":"a\u0000b"}}`,
		`{"type":"user","message":{"role":"user","content":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}}`,
		`{"type":"user","message":{"role":"user","content":"a"},"deep":` + strings.Repeat(`{"a":`, 5000) + `1` + strings.Repeat("}", 5000) + `}`,
		`{"\u0074ype":"user"}`, `{"type":"us\u0065r"}`, `{"type":"user","uuid":"no uuid","message":{"role":"user","content":""}}`,
		`{"type":"user","session_id":"of somebody else","message":{"role":"user","content":""}}`,
	}
	return lines
}

// newAssaultOn is newAssault with an agent of a version.
func newAssaultOn(t *testing.T, version string) *assault {
	t.Helper()
	l := newLab(t, nil)
	l.start()
	dir, record := l.newDir(version)
	a := &assault{lab: l, t: t, s: l.mustCreate(func(c *api.CreateSession) { c.Dir = dir })}
	a.s.dir, a.s.record = dir, record
	if err := a.s.turn(l.ctx(), "zeroth", "@say Here."); err != nil {
		t.Fatal(err)
	}
	a.seen = len(a.readLines())
	return a
}

// TestAttackLines sends each deadly line by each way that there is to a simulated
// CLI of each version: it lives, answers, and has read nothing that is not valid.
func TestAttackLines(t *testing.T) {
	t.Parallel()
	for _, version := range differing() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			a := newAssaultOn(t, version)
			a.dies()
			t.Run("relay", func(t *testing.T) {
				f := a.relay(a.admin())
				for n, line := range deadly() {
					for _, end := range []string{"\n", ""} {
						f.say(line + end)
						if end == "" {
							f.say("\n") // or the next one would be glued to it
						}
					}
					a.barrier(f, fmt.Sprintf("b%d", n), line)
				}
				a.alive()
			})
			t.Run("all sessions", func(t *testing.T) {
				f, status := a.upgrade("/ws", header(a.admin()))
				if f == nil {
					t.Fatalf("status %d", status)
				}
				for n, line := range deadly() {
					f.say(line + "\n")
					a.barrier(f, fmt.Sprintf("c%d", n), line)
				}
				a.alive()
			})
			t.Run("control", func(t *testing.T) {
				for _, line := range deadly() {
					for _, body := range []string{line, `{"request":` + line + `}`, `{"request":{"subtype":` + line + `}}`} {
						status, answer := a.ask(http.MethodPost, "/v1/sessions/"+a.s.id+"/control", a.admin(), body)
						if status >= 500 && status != http.StatusGatewayTimeout {
							t.Errorf("%s: status %d: %s", brief([]byte(body)), status, answer)
						}
					}
				}
				a.alive()
			})
			t.Run("messages", func(t *testing.T) {
				for _, line := range deadly() {
					bodies := []string{line, `{"text":` + line + `}`, `{"content":` + line + `}`}
					var whole struct {
						Message struct {
							Content json.RawMessage `json:"content"`
						} `json:"message"`
					}
					if json.Unmarshal([]byte(line), &whole) == nil && whole.Message.Content != nil {
						bodies = append(bodies, `{"content":`+string(whole.Message.Content)+`}`, `{"mode":"steer","content":`+string(whole.Message.Content)+`}`)
					}
					for _, body := range bodies {
						status, answer := a.ask(http.MethodPost, "/v1/sessions/"+a.s.id+"/messages", a.admin(), body)
						if status >= 500 {
							t.Errorf("%s: status %d: %s", brief([]byte(body)), status, answer)
						}
					}
				}
				a.alive()
			})
		})
	}
}

// barrier waits until the hub has dealt with what a front end said before.
func (a *assault) barrier(f *front, id, row string) {
	a.t.Helper()
	f.say(`{"type":"control_request","request_id":"` + id + `","request":{"subtype":"mcp_status"}}` + "\n")
	if _, err := f.hear(func(line []byte) bool { return isAnswer(line, id) }); err != nil {
		a.t.Fatalf("%s: nothing is answered any more: %v", brief([]byte(row)), err)
	}
}

// dies holds that the CLI would be dead if it read such a line: otherwise the test
// tests nothing.
func (a *assault) dies() {
	a.t.Helper()
	sim := claudetest.StartSim(nil)
	defer func() { _ = sim.Close() }() // always nil
	if err := sim.Write(a.ctx(), []byte("hello")); err != nil {
		a.t.Fatal(err)
	}
	if code, err := sim.Wait(a.ctx()); err != nil || code == 0 {
		a.t.Fatalf("a CLI that reads nonsense ends with %d, %v", code, err)
	}
}

// alive holds that the agent lives and answers the next prompt, that it is the
// same process, and that whatever it has read is valid.
func (a *assault) alive() {
	a.t.Helper()
	a.turns++
	if err := a.s.turn(a.ctx(), fmt.Sprintf("alive-%d", a.turns), "@say Alive."); err != nil {
		a.t.Fatalf("the agent does not answer: %v", err)
	}
	for _, line := range a.readLines() {
		if err := wire.Validate(line); err != nil {
			a.t.Errorf("the agent has read what is not valid: %v: %s", err, brief(line))
		}
	}
	if status, body := a.ask(http.MethodGet, "/healthz", "", nil); status != http.StatusOK {
		a.t.Errorf("/healthz answers %d: %s", status, body)
	}
}

// TestAttackDirect does the same over Direct Connect, and tries to have more than
// is given there.
func TestAttackDirect(t *testing.T) {
	t.Parallel()
	a := newAssault(t, nil)
	dir, record := a.newDir("")
	for row, body := range map[string]string{
		"bypass":         `{"cwd":` + quoted(dir) + `,"permission_mode":"bypassPermissions"}`,
		"our own folder": `{"cwd":` + quoted(a.data) + `}`,
		"no folder":      `{"cwd":"/no/such/folder"}`,
		"a relative one": `{"cwd":"."}`,
		"a climbing one": `{"cwd":` + quoted(dir+"/../../d") + `}`,
		"not JSON":       `{`,
		"a list":         `[]`,
		"a number":       `{"cwd":5}`,
		"a long key":     `{"cwd":` + quoted(dir) + `,"session_key":"` + strings.Repeat("x", 5000) + `"}`,
		"a long path":    `{"cwd":` + quoted(strings.Repeat("/a", 5000)) + `}`,
	} {
		status, answer := a.ask(http.MethodPost, "/sessions", a.admin(), body)
		if status < 400 || status >= 500 {
			t.Errorf("%s: status %d: %s", row, status, answer)
		}
	}
	var created struct {
		SessionID string `json:"session_id"`
		URL       string `json:"ws_url"`
	}
	// The address comes from the configuration, not from who asks.
	status, answer := a.askWith(http.MethodPost, "/sessions", header(a.admin(), "Content-Type", "application/json", "X-Forwarded-Host", "evil.example", "Forwarded", "host=evil.example"),
		strings.NewReader(`{"cwd":`+quoted(dir)+`}`))
	if err := json.Unmarshal(answer, &created); err != nil || status >= 300 || !strings.HasPrefix(created.URL, "ws://"+a.address+"/") {
		t.Fatalf("status %d, %v: %s", status, err, answer)
	}
	path := strings.TrimPrefix(created.URL, "ws://"+a.address)
	weak := a.mint("weak", wire.ScopeObserve)
	blind := a.mint("blind", wire.ScopePrompt)
	for as, h := range map[string]http.Header{
		"blind": header(blind.Text), "a web page": header(a.admin(), "Origin", "https://evil.example"), "nonsense": header("nonsense"),
	} {
		if _, status := a.upgrade(path, h); status != http.StatusForbidden && status != http.StatusUnauthorized {
			t.Errorf("%s: status %d", as, status)
		}
	}
	// Who may only look cannot start the agent of the session.
	look, status := a.upgrade(path, header(weak.Text))
	if look != nil {
		look.say(`{"type":"control_request","request_id":"i0","request":{"subtype":"initialize"}}` + "\n")
		if line, err := look.hear(func(line []byte) bool { return isAnswer(line, "i0") }); err == nil && !strings.Contains(string(line), `"subtype":"error"`) {
			t.Errorf("who may look has started an agent: %s", brief(line))
		}
		_ = look.CloseNow()
	} else if status != http.StatusForbidden {
		t.Errorf("who may look: status %d", status)
	}
	f, status := a.upgrade(path, header(a.admin()))
	if f == nil {
		t.Fatalf("status %d", status)
	}
	f.say(`{"type":"control_request","request_id":"i1","request":{"subtype":"initialize"}}` + "\n")
	if line, err := f.hear(func(line []byte) bool { return isAnswer(line, "i1") }); err != nil || strings.Contains(string(line), `"subtype":"error"`) {
		t.Fatalf("the agent does not start: %s, %v", line, err)
	}
	for n, line := range deadly() {
		f.say(line + "\n")
		a.barrier(f, fmt.Sprintf("d%d", n), line)
	}
	f.say(`{"type":"user","message":{"role":"user","content":"@say Alive, directly."}}` + "\n")
	if _, err := f.hear(func(line []byte) bool { return strings.Contains(string(line), `"result":"Alive, directly."`) }); err != nil {
		t.Fatalf("the agent does not answer: %v", err)
	}
	records, err := readRecord(record)
	if err != nil || len(records) != 1 {
		t.Fatalf("%d processes, %v", len(records), err)
	}
	for _, line := range read(records[0]) {
		if err := wire.Validate(line); err != nil {
			t.Errorf("the agent has read what is not valid: %v: %s", err, brief(line))
		}
	}
	a.survived()
}
