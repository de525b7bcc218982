package claudetest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// TestDialled lets a simulated CLI dial a server and talk to it, by WebSocket alone and with POSTs.
func TestDialled(t *testing.T) {
	for _, version := range []string{"2.1.37", "2.1.120"} {
		for _, post := range []bool{false, true} {
			name := map[bool]string{false: "websocket", true: "hybrid"}[post]
			t.Run(version+"/"+name, func(t *testing.T) { dialled(t, version, post) })
		}
	}
}

func dialled(t *testing.T, version string, post bool) {
	lines := make(chan map[string]any, 1000)
	conns := make(chan *websocket.Conn, 1)
	take := func(data []byte) {
		for raw := range bytes.Lines(data) {
			var line map[string]any
			if json.Unmarshal(raw, &line) == nil {
				lines <- line
			}
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			var batch struct{ Events []json.RawMessage }
			body, err := io.ReadAll(r.Body)
			if err != nil || json.Unmarshal(body, &batch) != nil {
				t.Errorf("a POST has the body %.200q: %v", body, err)
			}
			for _, event := range batch.Events {
				take(event)
			}
			w.WriteHeader(http.StatusOK)
			return
		}
		if got := r.Header.Get("Authorization"); got != "Bearer secret" {
			t.Errorf("the upgrade is authorized by %q", got)
		}
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Errorf("accepting: %v", err)
			return
		}
		conns <- conn
		for {
			_, data, err := conn.Read(context.Background())
			if err != nil {
				return
			}
			take(data)
		}
	}))
	defer server.Close()
	quirks, err := QuirksFor(version)
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"HOME=" + t.TempDir(), "CLAUDE_CODE_SESSION_ACCESS_TOKEN=secret"}
	if post {
		env = append(env, "CLAUDE_CODE_POST_FOR_SESSION_INGRESS_V2=1")
	}
	sim := StartSim(&SimOptions{
		Quirks: &quirks, Env: env, Dir: t.TempDir(),
		Args: []string{"--sdk-url", "ws" + strings.TrimPrefix(server.URL, "http") + "/v1/session_ingress/ws/x", "--print", "--verbose"},
	})
	defer func() { _ = sim.Close() }()
	conn := <-conns
	send := func(line string) {
		t.Helper()
		if err := conn.Write(t.Context(), websocket.MessageText, []byte(line+"\n")); err != nil {
			t.Fatalf("sending %s: %v", line, err)
		}
	}
	await := func(match func(map[string]any) bool) map[string]any {
		t.Helper()
		limit := time.NewTimer(30 * time.Second)
		defer limit.Stop()
		for {
			select {
			case line := <-lines:
				if match(line) {
					return line
				}
			case <-limit.C:
				t.Fatal("the line does not come")
			}
		}
	}
	send(`{"type":"control_request","request_id":"1","request":{"subtype":"initialize"}}`)
	await(func(line map[string]any) bool { return line["type"] == "control_response" })
	send(`{"type":"user","message":{"role":"user","content":"@tool Bash {\"command\":\"touch x\"}\n@say Done."}}`)
	question := await(func(line map[string]any) bool { return isQuestion(line, "can_use_tool") }) // without a prompt tool
	answer := `{"type":"control_response","response":{"subtype":"success","request_id":"` + question["request_id"].(string) + `","response":{"behavior":"deny","message":"No."}}}`
	// The oldest version loses an answer that overtakes that of the POST, so it is repeated until it counts.
	deadline := time.After(30 * time.Second)
	repeat := time.NewTicker(50 * time.Millisecond)
	defer repeat.Stop()
	send(answer)
	for done := false; !done; {
		select {
		case line := <-lines:
			if line["type"] == "result" {
				done = true
				if line["result"] != "Done." {
					t.Errorf("the turn ended with %v", line)
				}
			}
		case <-repeat.C:
			if post {
				send(answer)
			}
		case <-deadline:
			t.Fatal("no result came")
		}
	}
	if len(sim.Record()) == 0 {
		t.Error("nothing was recorded")
	}
}

// TestDialRefused holds that the newest version does not dial just anybody.
func TestDialRefused(t *testing.T) {
	quirks := quirks325()
	var stderr strings.Builder
	o := &SimOptions{Quirks: &quirks, Args: []string{"--sdk-url", "ws://127.0.0.1:1/x"}, Env: []string{"HOME=" + t.TempDir()}, Stderr: &stderr}
	if code := RunSim(t.Context(), o, strings.NewReader(""), io.Discard); code != 1 || stderr.Len() == 0 {
		t.Errorf("exit %d, says %q", code, &stderr)
	}
}
