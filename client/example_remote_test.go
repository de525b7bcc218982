package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/wire"
)

// busy is a stand-in for a server with a session that asks something, is answered,
// and finishes.
func busy() *httptest.Server {
	const session = "s5k2m7q3zr4t6w8xabcdy"
	answered := make(chan struct{})
	event := func(n int, rest string) string {
		return fmt.Sprintf("event: event\nid: g:%d\ndata: {\"id\":\"e:%d\",\"session\":%q,\"seq\":%d,%s}\n\n", n, n, session, n, rest)
	}
	stream := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "event: resume\ndata: {\"resume\":\"ok\"}\n\n")
		if r.URL.Query().Get("kinds") != "" { // questions
			fmt.Fprint(w, event(2, `"kind":"question_opened","data":{"id":"q1","kind":"permission","state":"open","tool":"Bash","title":"Run go test ./..."}`))
		}
		if r.URL.Path == "/v1/events" {
			fmt.Fprint(w, event(1, `"kind":"state","data":{"state":"requires_action"}`))
		}
		_ = http.NewResponseController(w).Flush()
		select {
		case <-answered:
			fmt.Fprint(w, event(3, `"kind":"line","line":{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"All tests pass."}]}}`),
				event(4, `"kind":"line","line":{"type":"result","subtype":"success","result":"All tests pass."}`))
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		case <-r.Context().Done():
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Switchboard", "v1")
		fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("GET /v1/sessions/{id}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"id":%q,"state":"idle","last_event_id":"e:1"}`, session)
	})
	mux.HandleFunc("GET /v1/sessions/{id}/events", stream)
	mux.HandleFunc("GET /v1/events", stream)
	mux.HandleFunc("GET /v1/sessions/{id}/export", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "# Fix the tests\n")
	})
	mux.HandleFunc("POST /v1/sessions/{id}/messages", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusAccepted)
		fmt.Fprint(w, `{"id":"m1","state":"queued"}`)
	})
	mux.HandleFunc("POST /v1/questions/q1/answer", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"id":"q1","state":"answered"}`)
		close(answered)
	})
	return httptest.NewServer(mux)
}

func ExampleClient_Open() {
	server := busy()
	defer server.Close()
	c, err := client.New(&client.Options{BaseURL: server.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	ctx := context.Background()

	session, err := c.Open(ctx, "s5k2m7q3zr4t6w8xabcdy", &client.RemoteOptions{
		Answer: func(ctx context.Context, q api.Question) (api.Answer, error) {
			if q.Kind == api.QuestionPermission && q.Tool == "Bash" {
				fmt.Println("allowed:", q.Title)
				return api.Answer{Decision: "allow"}, nil
			}
			return api.Answer{}, errors.New("that is for a person")
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = session.Close() }()
	if _, err := session.Send(ctx, "Run the tests"); err != nil {
		fmt.Println(err)
		return
	}
	for message, err := range session.Messages(ctx) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if result, ok := message.(*wire.Result); ok {
			fmt.Println(result.Subtype)
			break
		}
	}
	// Output:
	// allowed: Run go test ./...
	// success
}

func ExampleClient_Watch() {
	server := busy()
	defer server.Close()
	c, err := client.New(&client.Options{BaseURL: server.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()

	options := &client.FollowOptions{After: "now", NoLive: true}
	for frame, err := range c.Watch(context.Background(), options) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if frame.Event != nil && frame.Event.Kind == api.KindState {
			fmt.Println(frame.Event.Session, string(frame.Event.Data))
			break // continue later with After: frame.Position
		}
	}
	// Output: s5k2m7q3zr4t6w8xabcdy {"state":"requires_action"}
}

func ExampleClient_Export() {
	server := busy()
	defer server.Close()
	c, err := client.New(&client.Options{BaseURL: server.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()

	if err := c.Export(context.Background(), "s5k2m7q3zr4t6w8xabcdy", client.ExportMarkdown, os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output: # Fix the tests
}

func ExampleDiscover() {
	server := busy()
	defer server.Close()
	var port int // yours is one of the usual ones: leave the options out
	if _, err := fmt.Sscanf(server.URL, "http://127.0.0.1:%d", &port); err != nil {
		fmt.Println(err)
		return
	}

	found, err := client.Discover(context.Background(), &client.DiscoverOptions{Ports: []int{port}, Sockets: []string{}, Timeout: time.Minute})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range found {
		fmt.Println(f.API, strings.HasPrefix(f.BaseURL, "http://127.0.0.1:"))
	}
	// Output: v1 true
}
