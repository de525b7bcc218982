package claudetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"
)

// maxRequest bounds the body of one request. The largest prompts that a CLI sends are some tens of megabytes.
const maxRequest = 256 << 20

// ModelOptions are the choices of [NewModel].
type ModelOptions struct {
	// Script decides what the model says in a turn. It is called once per request of [KindTurn], from the request's own goroutine, so it must
	// be safe for concurrent use when sub-agents or several CLIs share the model. If nil, every turn is answered with a short text.
	Script func(Request) Reply

	// Classify tells turns from side requests: it gets every messages request and returns [KindTurn] or [KindSide]. If nil, the model goes by
	// what the known CLIs do. The one thing that misleads it is a conversation without any tools on the small model ("haiku"), which looks
	// like a side request. It must be safe for concurrent use.
	Classify func(Request) Kind

	// Side decides the answer to a request of [KindSide]. If nil, the model answers with a short harmless text. It must be safe for
	// concurrent use.
	Side func(Request) Reply

	// Count decides the answer to a request of [KindCount]: the reply's Usage.InputTokens, or its Error. If nil, or if it gives no usage, the
	// tokens are estimated from the length of the request. It must be safe for concurrent use.
	Count func(Request) Reply
}

// A Model is a simulated model behind the Messages API, on a loopback port of its own.
//
// It answers POST /v1/messages (streaming and not) and POST /v1/messages/count_tokens, and any other path with an empty JSON object, so that
// a CLI which looks around is not disturbed. Its methods are safe for concurrent use.
type Model struct {
	// Static after construction.
	script   func(Request) Reply
	side     func(Request) Reply
	count    func(Request) Reply
	classify func(Request) Kind
	url      string
	server   *http.Server
	served   chan struct{} // closed when the serving goroutine has ended

	mu      sync.Mutex
	log     requestLog    // guarded by mu
	open    []Request     // guarded by mu; those that are being answered
	changed chan struct{} // guarded by mu; closed and replaced whenever the log grows
}

var _ http.Handler = (*Model)(nil)

// NewModel starts a simulated model; options may be nil. It panics if no loopback port can be had, as there is nothing a test could do about
// it. The caller must call [Model.Close].
func NewModel(options *ModelOptions) *Model {
	m := newHandler(options)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(fmt.Sprintf("claudetest: listening on loopback for the simulated model: %v", err))
	}
	m.url = "http://" + listener.Addr().String()
	m.server = &http.Server{Handler: m, ReadHeaderTimeout: 30 * time.Second}
	// The goroutine ends with the listener; Close waits for it.
	go func() {
		defer close(m.served)
		_ = m.server.Serve(listener) // always ends with an error: the one that says that Close was called
	}()
	return m
}

// newHandler returns a model that only answers HTTP requests that it is handed.
func newHandler(options *ModelOptions) *Model {
	if options == nil {
		options = &ModelOptions{}
	}
	m := &Model{
		script:   options.Script,
		side:     options.Side,
		count:    options.Count,
		classify: options.Classify,
		served:   make(chan struct{}),
		changed:  make(chan struct{}),
	}
	if m.script == nil {
		m.script = func(Request) Reply { return Say(Text("Hello from the simulated model.")) }
	}
	if m.side == nil {
		m.side = harmless
	}
	if m.count == nil {
		m.count = func(Request) Reply { return Reply{} }
	}
	if m.classify == nil {
		m.classify = Request.kind
	}
	return m
}

// URL returns the model's address for ANTHROPIC_BASE_URL, without a slash at its end.
func (m *Model) URL() string { return m.url }

// Requests returns what has been asked so far, in the order of arrival. The model remembers the last 10 000 requests, and fewer if their
// bodies are larger than 512 MiB together; [Request.Seq] tells whether some are missing.
func (m *Model) Requests() []Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.log.requests)
}

// Answering returns the requests that are being answered: their scripts have not returned, or what they said has not been written. When a CLI
// is silent, it tells whether the CLI waits for the model.
func (m *Model) Answering() []Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.open)
}

// Await waits until enough holds for what has been asked, and returns it. It gives up when ctx ends.
func (m *Model) Await(ctx context.Context, enough func([]Request) bool) ([]Request, error) {
	for {
		m.mu.Lock()
		requests, changed := slices.Clone(m.log.requests), m.changed
		m.mu.Unlock()
		if enough(requests) {
			return requests, nil
		}
		select {
		case <-ctx.Done():
			return requests, fmt.Errorf("waiting for requests to the simulated model (%d so far): %w", len(requests), ctx.Err())
		case <-changed:
		}
	}
}

// Close stops the model, cuts what is still being answered and waits until the port is free. It may be called more than once.
func (m *Model) Close() error {
	err := m.server.Close()
	<-m.served
	if err != nil {
		return fmt.Errorf("closing the simulated model: %w", err)
	}
	return nil
}

// ServeHTTP answers one request, for programs that put the model behind a server of their own.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
			say(w, r, Request{}, Fail(http.StatusRequestEntityTooLarge, "the request is larger than the simulated model takes"))
		}
		return // otherwise the CLI has gone away
	}
	request, err := parseRequest(r, body)
	if err == nil && request.Kind == KindTurn {
		request.Kind = m.classify(request)
	}
	m.record(&request)
	defer m.answered(request.Seq)
	if err != nil {
		say(w, r, request, Fail(http.StatusBadRequest, err.Error()))
		return
	}
	switch request.Kind {
	case KindTurn:
		say(w, r, request, m.script(request))
	case KindSide:
		say(w, r, request, m.side(request))
	case KindCount:
		say(w, r, request, m.count(request))
	case KindOther:
		// HEAD / is how newer CLIs see whether the server is there.
		writeJSON(w, http.StatusOK, map[string]any{})
	}
}

// record numbers a request and keeps it.
func (m *Model) record(request *Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.log.add(request)
	m.open = append(m.open, *request)
	close(m.changed)
	m.changed = make(chan struct{})
}

// answered notes that a request is no longer being answered.
func (m *Model) answered(seq int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open = slices.DeleteFunc(m.open, func(r Request) bool { return r.Seq == seq })
}

// say writes a reply in the form the request asked for.
func say(w http.ResponseWriter, r *http.Request, request Request, reply Reply) {
	message := reply.complete(request)
	maps.Copy(w.Header(), message.header)
	switch {
	case reply.Error != nil:
		writeError(w, message.requestID, reply.Error.complete())
	case request.Kind == KindCount:
		writeJSON(w, http.StatusOK, map[string]any{"input_tokens": message.usage.InputTokens})
	case request.Stream:
		stream(r.Context(), w, message)
	default:
		answer(r.Context(), w, message)
	}
}

// apiKey is made up and no credential: no server but ours ever sees it. Its form is the real one because some CLIs look at the prefix before they use a key.
const apiKey = "sk-ant-api03-simulated-model-no-account"

// refusingProxy is a port at which nothing listens.
const refusingProxy = "http://127.0.0.1:9"

// Env returns the whole environment for a real CLI that shall talk to the simulated model at modelURL and to no other host: the caller's PATH,
// home as its home folder, a made-up API key, and everything switched off that would call out by itself (telemetry, error reports, updates).
// What calls out all the same, as 2.1.37 does when it starts, is sent to a proxy on loopback that refuses it.
//
// Nothing else is inherited, on purpose: a developer's own settings, keys and proxies must not reach the CLI under test, nor the other way
// round. Append to the result what a test needs in addition.
func Env(home, modelURL string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + home,
		"ANTHROPIC_API_KEY=" + apiKey,
		"ANTHROPIC_BASE_URL=" + modelURL,
		"DISABLE_TELEMETRY=1",
		"DISABLE_ERROR_REPORTING=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_AUTOUPDATER=1",
		"DISABLE_BUG_COMMAND=1",
		"HTTPS_PROXY=" + refusingProxy,
		"HTTP_PROXY=" + refusingProxy,
		"NO_PROXY=127.0.0.1,localhost,::1",
	}
}
