package v1

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/internal/server/servertest"
	"github.com/switchboard-dev/switchboard/wire"
)

// A call is what a fake was asked.
type call struct {
	Method string
	Args   []any
}

// A notebook notes what fakes are asked.
type notebook struct {
	err error // what every method returns, if not nil

	mu    sync.Mutex
	calls []call // guarded by mu
}

func (n *notebook) note(method string, args ...any) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.calls = append(n.calls, call{method, args})
	return n.err
}

// last returns the only call there was, and forgets it.
func (n *notebook) last(t *testing.T) call {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.calls) != 1 {
		t.Fatalf("the calls are %v, want one", n.calls)
	}
	c := n.calls[0]
	n.calls = nil
	return c
}

func noted[T any](v *T, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return v, nil
}

// fakeTokens keeps no tokens and opens nothing; it notes what it is asked.
type fakeTokens struct{ *notebook }

func (f fakeTokens) List(context.Context) ([]api.Token, error) {
	return nil, f.note("ListTokens")
}

func (f fakeTokens) Create(_ context.Context, in api.CreateToken) (*api.CreatedToken, error) {
	return noted(&api.CreatedToken{Token: api.Token{ID: "t1", Name: in.Name, Scopes: in.Scopes}, Text: "sb_t1_secret"}, f.note("CreateToken", in))
}

func (f fakeTokens) Revoke(_ context.Context, id string) error {
	return f.note("RevokeToken", id)
}

func (f fakeTokens) Code(_ context.Context, in api.CreateCode) (*api.Code, error) {
	return noted(&api.Code{Code: "abc"}, f.note("CreateCode", in))
}

func (f fakeTokens) Login(_ context.Context, in api.Login) (*api.CreatedToken, *http.Cookie, error) {
	var cookie *http.Cookie
	if in.Cookie {
		cookie = &http.Cookie{Name: "switchboard-1", Value: "half", HttpOnly: true}
	}
	made, err := noted(&api.CreatedToken{Token: api.Token{ID: "t2", Scopes: []string{}}, Text: "sb_t2_secret"}, f.note("Login", in))
	return made, cookie, err
}

func (f fakeTokens) OpenPhone(_ context.Context, in api.OpenPhone) (*api.Phone, error) {
	return noted(&api.Phone{URL: "https://192.168.1.20:8775", Fingerprint: "AB"}, f.note("OpenPhone", in))
}

func (f fakeTokens) ClosePhone(context.Context) error { return f.note("ClosePhone") }

// fakeRelays attaches the hub to nothing; it notes what it is asked.
type fakeRelays struct{ *notebook }

func (f fakeRelays) List(context.Context) ([]api.Relay, error) { return nil, f.note("ListRelays") }

func (f fakeRelays) Attach(_ context.Context, in api.AttachRelay) (*api.Relay, error) {
	return noted(&api.Relay{ID: "r1", URL: in.URL, State: api.RelayConnecting, Sessions: []string{}}, f.note("AttachRelay", in))
}

func (f fakeRelays) Detach(_ context.Context, id string) error { return f.note("DetachRelay", id) }

// fakeNodes knows no nodes; it notes what it is asked.
type fakeNodes struct{ *notebook }

func (f fakeNodes) List(context.Context) ([]api.Node, error) { return nil, f.note("ListNodes") }

func (f fakeNodes) Get(_ context.Context, node string) (*api.Node, error) {
	return noted(&api.Node{ID: "n1"}, f.note("GetNode", node))
}

func (f fakeNodes) Invite(_ context.Context, in api.InviteNode) (*api.NodeInvitation, error) {
	return noted(&api.NodeInvitation{Code: "abc"}, f.note("InviteNode", in))
}

func (f fakeNodes) Join(_ context.Context, in api.JoinNode) (*api.JoinedNode, error) {
	return noted(&api.JoinedNode{ID: "n1"}, f.note("JoinNode", in))
}

func (f fakeNodes) Drain(_ context.Context, node string, draining bool) (*api.Node, error) {
	return noted(&api.Node{ID: "n1"}, f.note("DrainNode", node, draining))
}

func (f fakeNodes) Revoke(_ context.Context, node string) (*api.Node, error) {
	return noted(&api.Node{ID: "n1"}, f.note("RevokeNode", node))
}

func (f fakeNodes) Forget(_ context.Context, node string) error { return f.note("ForgetNode", node) }

func (f fakeTokens) RevokeDevices(context.Context) ([]string, error) {
	return []string{"t3"}, f.note("RevokeDevices")
}

func (f fakeTokens) Logout(context.Context) (*http.Cookie, error) {
	return &http.Cookie{Name: "switchboard-1", MaxAge: -1}, f.note("Logout")
}

// A script is a cursor that gives batches of frames and then waits.
type script struct {
	batches chan []api.Frame
	fail    chan error // what Next returns instead
	closed  chan struct{}
}

func newScript(batches ...[]api.Frame) *script {
	s := &script{batches: make(chan []api.Frame, len(batches)+16), fail: make(chan error, 1), closed: make(chan struct{})}
	for _, b := range batches {
		s.batches <- b
	}
	return s
}

func (s *script) Next(ctx context.Context) ([]api.Frame, error) {
	select {
	case b := <-s.batches:
		return b, nil
	default:
	}
	select {
	case b := <-s.batches:
		return b, nil
	case err := <-s.fail:
		return nil, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *script) Close() { close(s.closed) }

func (s *script) Texts() []hub.Text { return nil }

// Tokens of the tests, each with the rights that its name says.
const (
	adminToken   = "sb_admin_0123456789012345678901234567890123456789"
	promptToken  = "sb_prompt_0123456789012345678901234567890123456789"
	observeToken = "sb_observe_0123456789012345678901234567890123456789"
	approveToken = "sb_approve_0123456789012345678901234567890123456789"
)

func guard(t testing.TB) *access.Guard {
	t.Helper()
	var tokens []access.Token
	for text, scopes := range map[string]access.Scopes{
		adminToken:   access.AllScopes(),
		promptToken:  access.ScopesOf(wire.ScopeObserve, wire.ScopePrompt),
		observeToken: access.ScopesOf(wire.ScopeObserve),
		approveToken: access.ScopesOf(wire.ScopeObserve, wire.ScopePrompt, wire.ScopeApprove),
	} {
		token, err := access.ParseToken(text, "tester", scopes)
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, token)
	}
	return access.New(&access.Options{Tokens: tokens})
}

// A rig is a server on loopback.
type rig struct {
	access *notebook // what tokens and phones were asked
	server *Server
	http   *httptest.Server
	log    *bytes.Buffer
}

// newRig serves a lab. It may be nil: then a request that reaches the hub panics, and
// fails.
func newRig(t *testing.T, lab *servertest.Lab, options *Options) *rig {
	t.Helper()
	if options == nil {
		options = &Options{}
	}
	if options.WriteTimeout == 0 {
		options.WriteTimeout = time.Hour // nobody is cut because the machine is slow
	}
	r := &rig{access: &notebook{}, log: &bytes.Buffer{}}
	options.Tokens, options.Phone, options.Relays = fakeTokens{r.access}, fakeTokens{r.access}, fakeRelays{r.access}
	options.Nodes = fakeNodes{r.access}
	options.Log = slog.New(slog.NewTextHandler(r.log, nil))
	g := guard(t)
	if lab == nil {
		r.server = New(nil, nil, g, options)
	} else {
		r.server = New(lab.Hub, lab.Reports, g, options)
	}
	r.serve(t, g)
	return r
}

// serve serves the server.
func (r *rig) serve(t testing.TB, g *access.Guard) {
	t.Helper()
	r.http = httptest.NewUnstartedServer(g.Checked(r.server))
	r.http.Config.ConnContext = g.ConnContext
	r.http.Start()
	t.Cleanup(func() {
		r.server.Close("the test is over")
		r.server.Wait(context.Background())
		r.http.Close()
	})
}

// scripted is where follow has a cursor of the test shown.
const scripted = "/v1/scripted"

// follow has those that ask for scripted shown what a cursor of the test gives, by
// either kind of stream.
func (r *rig) follow(c Cursor) {
	s := r.server
	s.operations.HandleFunc("GET "+scripted, func(w http.ResponseWriter, request *http.Request) {
		req, _ := quickly(request)
		if wantsSocket(request) {
			s.acceptSocket(w, request, c, req)
			return
		}
		defer c.Close()
		s.serveStream(w, request, c, req)
	})
}

// A response is the answer to a request, whose body is closed with the test.
type response struct {
	StatusCode int
	Header     http.Header
	Body       io.ReadCloser
}

// do sends a request as the bearer of a token.
func (r *rig) do(t *testing.T, token, method, path, body string, header ...string) *response {
	t.Helper()
	var reader io.Reader
	if body != "" {
		reader = bytes.NewReader([]byte(body))
	}
	req, err := http.NewRequestWithContext(t.Context(), method, r.http.URL+path, reader)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := r.http.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return &response{res.StatusCode, res.Header, res.Body}
}

func text(t *testing.T, res *response) string {
	t.Helper()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
