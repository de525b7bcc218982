package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// The ids of a session and of things in it that the stand-in of a hub knows.
const (
	operationSession      = "s5k2m7q3zr4t6w8xabcdy"
	operationQuestion     = "q7h2m4n6p8r3t5v9wxyza"
	operationMessage      = "0b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9"
	operationConversation = "1b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9"
)

// operationVerbs has for each operation of /v1 a command line that makes use of it.
func operationVerbs(t *testing.T) map[string][]string {
	t.Helper()
	dir := t.TempDir()
	rules := filepath.Join(dir, "rules.toml")
	if err := os.WriteFile(rules, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const s, q = operationSession, operationQuestion
	object := `{"a":1}`
	return map[string][]string{
		"get-audit":            {"audit"},
		"get-backup":           {"backup", filepath.Join(dir, "copy.db")},
		"get-budgets":          {"budgets"},
		"create-code":          {"token", "code"},
		"get-costs":            {"cost"},
		"revoke-devices":       {"token", "revoke", "--devices"},
		"get-drift":            {"drift"},
		"get-all-events":       {"events"},
		"list-folders":         {"folders"},
		"get-info":             {"run", "--detach", "--no-start", "--dir", dir, "hello"},
		"open-phone":           {"console", "--phone", "--no-open"},
		"close-phone":          {"console", "--phone=off"},
		"get-policy":           {"policy", "show"},
		"confirm-policy":       {"policy", "confirm", "--yes", "abc"},
		"explain-call":         {"policy", "explain", "--session", s, "--tool", "Bash", "--input", object},
		"get-rules-file":       {"policy", "file"},
		"replace-rules-file":   {"policy", "replace", rules},
		"list-questions":       {"questions"},
		"get-question":         {"questions", q},
		"answer-question":      {"allow", q},
		"search":               {"search", "word"},
		"list-sessions":        {"ls"},
		"create-session":       {"run", "--detach", "--no-start", "--dir", dir, "hello"},
		"get-session":          {"show", s},
		"update-session":       {"rename", s, "Title"},
		"archive-session":      {"archive", s},
		"unarchive-session":    {"archive", "--undo", s},
		"get-context":          {"context", s},
		"control-session":      {"control", s, object},
		"get-events":           {"logs", s},
		"export-session":       {"export", s},
		"suggest-files":        {"files", s, "slug"},
		"fork-session":         {"fork", s},
		"interrupt-session":    {"interrupt", s},
		"get-mcp":              {"mcp", "ls", s},
		"set-mcp":              {"mcp", "set", s, object},
		"toggle-mcp-server":    {"mcp", "disable", s, "notes"},
		"reconnect-mcp-server": {"mcp", "reconnect", s, "notes"},
		"message-mcp-server":   {"mcp", "send", s, "notes", object},
		"send-message":         {"send", s, "hello"},
		"edit-message":         {"queue", "edit", s, "m7q3", "hello"},
		"take-back-message":    {"queue", "rm", s, "m7q3"},
		"release-session":      {"release", s},
		"resume-session":       {"resume", s},
		"retry-session":        {"retry", s},
		"rewind-session":       {"rewind", s, operationMessage, "--dry-run"},
		"add-rule":             {"rule", "add", s, "Bash(ls)"},
		"remove-rule":          {"rule", "rm", s, "r4h2m6"},
		"stop-session":         {"stop", s},
		"get-timeline":         {"timeline", s},
		"list-presets":         {"preset", "ls"},
		"get-preferences":      {"prefs"},
		"save-preferences":     {"prefs", "set", "--dir", dir, "--model", "opus"},
		"forget-preferences":   {"prefs", "forget", "--dir", dir},
		"list-relays":          {"relay", "ls"},
		"attach-relay":         {"relay", "attach", "ws://127.0.0.1:8765/ws"},
		"detach-relay":         {"relay", "detach", "ws://127.0.0.1:8765/ws"},
		"set-environment":      {"env", s, "LANG=C"},
		"list-nodes":           {"node", "ls"},
		"get-node":             {"node", "show", "gpu-1"},
		"invite-node":          {"node", "invite", "--name", "gpu-1"},
		"drain-node":           {"node", "drain", "gpu-1"},
		"revoke-node":          {"node", "revoke", "--yes", "gpu-1"},
		"forget-node":          {"node", "forget", "--yes", "gpu-1"},
		"list-tokens":          {"token", "list"},
		"create-token":         {"token", "create", "--name", "n", "--scopes", "observe"},
		"revoke-token":         {"token", "revoke", "t1"},
		"list-transcripts":     {"disk", "ls"},
		"get-transcript":       {"disk", "show", operationConversation},
		"adopt-transcript":     {"disk", "adopt", operationConversation},
	}
}

// noVerb are the operations without a verb, with the reason.
var noVerb = map[string]string{
	"login":      "switchboard login uses it, by the address of a hub elsewhere: see the script remote",
	"logout":     "switchboard logout uses it, by the address of a hub elsewhere: see the script remote",
	"join-node":  "switchboard node join uses it, by the address of the hub: see the script node",
	"test-rules": "switchboard policy test does the same by itself, also with files and without a hub",
}

// An operationHub stands in for a hub: it notes which operations are used, and answers everything with whatever a command may look for.
type operationHub struct {
	mux  *http.ServeMux
	mu   sync.Mutex
	used []string
	news func(operation string)
}

// TestOperationsHaveVerbs holds that everything the hub can do is a verb: each operation of the OpenAPI document is one that some command makes use of.
func TestOperationsHaveVerbs(t *testing.T) {
	text, err := os.ReadFile(filepath.FromSlash("../../api/openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	hub := &operationHub{mux: http.NewServeMux()}
	verbs := operationVerbs(t)
	known := map[string]bool{}
	for path, methods := range document.Paths {
		for method, operation := range methods {
			id := operation.OperationID
			known[id] = true
			hub.handle(strings.ToUpper(method)+" "+path, id)
			why, without := noVerb[id]
			if _, has := verbs[id]; has == without {
				t.Errorf("the operation %s has a verb: %v, is an exception: %v", id, has, without)
			} else if without && why == "" {
				t.Errorf("it is not said why %s has no verb", id)
			}
		}
	}
	for id := range noVerb {
		if !known[id] {
			t.Errorf("the exception %s is no operation", id)
		}
	}
	home := hub.serve(t)
	for id, args := range verbs {
		if !known[id] {
			t.Errorf("%s is no operation", id)
			continue
		}
		t.Run(id, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			hub.expect(func(operation string) {
				if operation == id {
					cancel() // whatever else it wants
				}
			})
			var output bytes.Buffer
			run(ctx, append([]string{"switchboard"}, args...), &env{
				stdin: strings.NewReader(""), stdout: &output, stderr: &output, env: []string{"HOME=" + home, "SWITCHBOARD_DATA_DIR=" + filepath.Join(home, "d"), "PATH="},
			})
			if used := hub.operations(); !slices.Contains(used, id) {
				t.Errorf("switchboard %s makes no use of %s, but of %v:\n%s", strings.Join(args, " "), id, used, &output)
			}
		})
	}
}

// serve serves it where commands look for a hub, and returns the home folder that they need for that.
func (h *operationHub) serve(t *testing.T) string {
	t.Helper()
	temp := os.TempDir()
	if len(temp) > 20 {
		temp = "/tmp"
	}
	home, err := os.MkdirTemp(temp, "sb") //nolint:usetesting // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	socket := filepath.Join(home, "d", "run", "hub.sock")
	if err := os.MkdirAll(filepath.Dir(socket), 0o700); err != nil {
		t.Fatal(err)
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: h.mux, ReadHeaderTimeout: time.Minute}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener) // until it is closed
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	return home
}

// expect forgets what was used so far, and has news told.
func (h *operationHub) expect(news func(operation string)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.used, h.news = nil, news
}

// operations returns what was used.
func (h *operationHub) operations() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.used)
}

// handle answers an operation.
func (h *operationHub) handle(pattern, operation string) {
	h.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // or the connection could not be used again
		h.mu.Lock()
		h.used = append(h.used, operation)
		news := h.news
		h.mu.Unlock()
		w.Header().Set("Switchboard", "v1")
		w.Header().Set("Content-Type", "application/json")
		answer := operationAnswer
		if operation == "get-question" {
			answer = strings.Replace(answer, `"ended"`, `"open"`, 1)
		}
		_, _ = io.WriteString(w, answer) // the command may have ended
		if news != nil {
			news(operation)
		}
	})
}

// operationAnswer has the members of all answers at once.
const operationAnswer = `{
	"id": "` + operationSession + `", "title": "A title", "dir": "/tmp", "state": "ended", "run": 1, "failed": true, "last_event_id": "e:1",
	"messages": [{"id": "m7q3zr", "state": "queued", "text": "hello"}],
	"holds": [{"id": "h1", "kind": "budget", "reason": "used up"}],
	"sessions": [{"id": "` + operationSession + `", "title": "A title", "state": "idle"}],
	"session": "` + operationSession + `", "kind": "permission", "tool": "Bash",
	"questions": [{"id": "` + operationQuestion + `", "session": "` + operationSession + `", "kind": "permission", "state": "open", "tool": "Bash"}],
	"transcripts": [{"conversation": "` + operationConversation + `", "dir": "/tmp", "title": "A title"}],
	"events": [{"id": "e:1", "seq": 1, "kind": "sent", "line": {"type": "user", "uuid": "` + operationMessage + `", "message": {"role": "user", "content": "hello"}}}],
	"tokens": [{"id": "t1", "name": "n", "kind": "token"}],
	"api": "v1", "version": "x", "capabilities": [], "pending": {"sum": "abc", "widens": ["x"]}, "rules": [], "items": [], "budgets": [],
	"folders": [], "files": [], "presets": [], "lines": [], "text": "", "hash": "h", "response": {}, "next": ""
}`
