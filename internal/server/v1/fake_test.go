package v1

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/wire"
)

// A call is what the fake hub was asked.
type call struct {
	Method string
	By     hub.Actor
	Args   []any
}

// A fakeHub notes what it is asked and answers what it is told to.
type fakeHub struct {
	err       error    // what every method returns, if not nil
	answer    string   // a part of what Question returns
	response  string   // what Control returns, if not empty
	export    []string // what Export writes
	exportErr error    // what it returns then

	mu     sync.Mutex
	calls  []call
	cursor Cursor
}

func (f *fakeHub) note(method string, by hub.Actor, args ...any) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, call{method, by, args})
	return f.err
}

// last returns the only call there was, and forgets it.
func (f *fakeHub) last(t *testing.T) call {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.calls) != 1 {
		t.Fatalf("the hub was asked %v, want one call", f.calls)
	}
	c := f.calls[0]
	f.calls = nil
	return c
}

func noted[T any](v *T, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return v, nil
}

func (f *fakeHub) Create(_ context.Context, by hub.Actor, c api.CreateSession) (*api.Created, error) {
	return noted(&api.Created{Session: api.Session{ID: "s1", State: api.StateStarting}, Token: "run-token"}, f.note("Create", by, c))
}

func (f *fakeHub) List(_ context.Context, q api.SessionFilter) (*api.SessionList, error) {
	return noted(&api.SessionList{}, f.note("List", hub.Actor{}, q))
}

func (f *fakeHub) Snapshot(_ context.Context, id string) (*api.Session, error) {
	return noted(&api.Session{ID: id, State: api.StateIdle}, f.note("Snapshot", hub.Actor{}, id))
}

func (f *fakeHub) Update(_ context.Context, by hub.Actor, id string, u api.UpdateSession) (*api.Session, error) {
	return noted(&api.Session{ID: id}, f.note("Update", by, id, u))
}

func (f *fakeHub) Send(_ context.Context, by hub.Actor, id string, m api.SendMessage) (*api.Message, error) {
	return noted(&api.Message{ID: "m1", ClientID: m.ClientID, State: api.MessageQueued}, f.note("Send", by, id, m))
}

func (f *fakeHub) EditMessage(_ context.Context, by hub.Actor, id, clientID string, m api.EditMessage) (*api.Message, error) {
	return noted(&api.Message{ID: "m1", ClientID: clientID}, f.note("EditMessage", by, id, clientID, m))
}

func (f *fakeHub) TakeBack(_ context.Context, by hub.Actor, id, clientID string) (*api.Message, error) {
	return noted(&api.Message{ID: "m1", ClientID: clientID, State: api.MessageTakenBack}, f.note("TakeBack", by, id, clientID))
}

func (f *fakeHub) Interrupt(_ context.Context, by hub.Actor, id string, i api.Interrupt) (*api.Interrupted, error) {
	return noted(&api.Interrupted{Was: true, Session: &api.Session{ID: id}}, f.note("Interrupt", by, id, i))
}

func (f *fakeHub) Stop(_ context.Context, by hub.Actor, id string, s api.Stop) (*api.Session, error) {
	return noted(&api.Session{ID: id, State: api.StateEnded}, f.note("Stop", by, id, s))
}

func (f *fakeHub) Resume(_ context.Context, by hub.Actor, id string, r api.Resume) (*api.Session, error) {
	return noted(&api.Session{ID: id}, f.note("Resume", by, id, r))
}

func (f *fakeHub) Retry(_ context.Context, by hub.Actor, id string) (*api.Message, error) {
	return noted(&api.Message{ID: "m2"}, f.note("Retry", by, id))
}

func (f *fakeHub) Fork(_ context.Context, by hub.Actor, id string, k api.Fork) (*api.Created, error) {
	return noted(&api.Created{Session: api.Session{ID: "s2"}}, f.note("Fork", by, id, k))
}

func (f *fakeHub) Questions(_ context.Context, q api.QuestionFilter) (*api.QuestionList, error) {
	return noted(&api.QuestionList{}, f.note("Questions", hub.Actor{}, q))
}

func (f *fakeHub) Question(_ context.Context, id string) (*api.Question, error) {
	return noted(&api.Question{ID: id, State: api.QuestionOpen, Request: []byte(`{}`), Reason: f.answer}, f.note("Question", hub.Actor{}, id))
}

func (f *fakeHub) Answer(_ context.Context, by hub.Actor, id string, a api.Answer) (*api.Question, error) {
	return noted(&api.Question{ID: id, State: api.QuestionAnswered, Request: []byte(`{}`)}, f.note("Answer", by, id, a))
}

func (f *fakeHub) AddRule(_ context.Context, by hub.Actor, id string, in api.AddRule) (*api.SessionRule, error) {
	return noted(&api.SessionRule{ID: "r1", Rule: in.Rule, Decision: in.Decision}, f.note("AddRule", by, id, in))
}

func (f *fakeHub) RemoveRule(_ context.Context, by hub.Actor, id, rule string) (*api.SessionRule, error) {
	return noted(&api.SessionRule{ID: rule}, f.note("RemoveRule", by, id, rule))
}

func (f *fakeHub) Policy(context.Context) (*api.Policy, error) {
	return noted(&api.Policy{Pending: &api.PolicyChange{Sum: "abc"}}, f.note("Policy", hub.Actor{}))
}

func (f *fakeHub) ConfirmPolicy(_ context.Context, by hub.Actor, in api.ConfirmPolicy) (*api.Policy, error) {
	return noted(&api.Policy{}, f.note("ConfirmPolicy", by, in))
}

func (f *fakeHub) Release(_ context.Context, by hub.Actor, id string, in api.Release) (*api.Session, error) {
	return noted(&api.Session{ID: id}, f.note("Release", by, id, in))
}

func (f *fakeHub) Events(_ context.Context, id, after string, limit int) (*api.EventPage, error) {
	return noted(&api.EventPage{
		Resume: "ok", Next: "e:1", More: true,
		Events: []api.Event{{ID: "e:1", Session: id, Seq: 1, Kind: api.KindLine, Line: []byte("{\"a\" :\t1,\r\"b\":\"<\"}")}},
	}, f.note("Events", hub.Actor{}, id, after, limit))
}

func (f *fakeHub) Follow(_ context.Context, id string, o hub.FollowOptions) (Cursor, error) {
	if err := f.note("Follow", hub.Actor{}, id, o); err != nil {
		return nil, err
	}
	return f.cursor, nil
}

func (f *fakeHub) FollowAll(_ context.Context, o hub.FollowOptions) (Cursor, error) {
	if err := f.note("FollowAll", hub.Actor{}, o); err != nil {
		return nil, err
	}
	return f.cursor, nil
}

func (f *fakeHub) AllEvents(_ context.Context, after string, limit int) (*api.EventPage, error) {
	return noted(&api.EventPage{
		Resume: "ok", Next: "g:7",
		Events: []api.Event{
			{ID: "e:1", Session: "s1", Seq: 1, Kind: api.KindLine, Line: []byte(`{"type":"assistant"}`)},
			{ID: "f:1", Session: "s2", Seq: 1, Kind: api.KindState, Data: []byte(`{}`)},
		},
	}, f.note("AllEvents", hub.Actor{}, after, limit))
}

func (f *fakeHub) Control(_ context.Context, by hub.Actor, id string, r wire.Request) (json.RawMessage, error) {
	line, err := wire.NewRequest("r", r)
	if err != nil {
		return nil, err
	}
	if err := f.note("Control", by, id, string(line)); err != nil {
		return nil, err
	}
	if f.response != "" {
		return json.RawMessage(f.response), nil
	}
	return json.RawMessage(`{"b":1,"a":2}`), nil
}

func (f *fakeHub) Environment(_ context.Context, by hub.Actor, id string, variables map[string]string) error {
	return f.note("Environment", by, id, variables)
}

func (f *fakeHub) Search(_ context.Context, q api.SearchFilter) (*api.SearchResult, error) {
	return noted(&api.SearchResult{}, f.note("Search", hub.Actor{}, q))
}

func (f *fakeHub) Timeline(_ context.Context, id, after string, limit int) (*api.Timeline, error) {
	return noted(&api.Timeline{}, f.note("Timeline", hub.Actor{}, id, after, limit))
}

func (f *fakeHub) Audit(_ context.Context, q api.AuditFilter) (*api.Audit, error) {
	return noted(&api.Audit{}, f.note("Audit", hub.Actor{}, q))
}

func (f *fakeHub) Costs(_ context.Context, q api.CostFilter) (*api.Costs, error) {
	return noted(&api.Costs{}, f.note("Costs", hub.Actor{}, q))
}

func (f *fakeHub) Drift(context.Context) (*api.Drift, error) {
	return noted(&api.Drift{}, f.note("Drift", hub.Actor{}))
}

func (f *fakeHub) Budgets(context.Context) (*api.Budgets, error) {
	return noted(&api.Budgets{}, f.note("Budgets", hub.Actor{}))
}

func (f *fakeHub) Export(_ context.Context, id, format string, w io.Writer) error {
	if err := f.note("Export", hub.Actor{}, id, format); err != nil {
		return err
	}
	for _, part := range f.export {
		if _, err := io.WriteString(w, part); err != nil {
			return err
		}
	}
	return f.exportErr
}

func (f *fakeHub) Backup(_ context.Context, w io.Writer) error {
	if err := f.note("Backup", hub.Actor{}); err != nil {
		return err
	}
	for _, part := range f.export {
		if _, err := io.WriteString(w, part); err != nil {
			return err
		}
	}
	return f.exportErr
}

func (f *fakeHub) Transcripts(_ context.Context, q api.TranscriptFilter) (*api.TranscriptList, error) {
	return noted(&api.TranscriptList{}, f.note("Transcripts", hub.Actor{}, q))
}

func (f *fakeHub) Transcript(_ context.Context, conversation, dir string, from, limit int) (*api.TranscriptPage, error) {
	return noted(&api.TranscriptPage{Lines: []json.RawMessage{json.RawMessage(`{"a":1}`)}}, f.note("Transcript", hub.Actor{}, conversation, dir, from, limit))
}

func (f *fakeHub) Adopt(_ context.Context, conversation string, in api.Adopt) (api.CreateSession, error) {
	return api.CreateSession{ClientID: in.ClientID, Dir: in.Dir, Title: in.Title, Prompt: in.Prompt, Resume: conversation, Fork: in.Fork, Options: in.Options}, nil
}

func (f *fakeHub) Folders(_ context.Context, prefix string, limit int) (*api.Folders, error) {
	return noted(&api.Folders{}, f.note("Folders", hub.Actor{}, prefix, limit))
}

func (f *fakeHub) RulesFile(context.Context) (*api.RulesFile, error) {
	return noted(&api.RulesFile{Text: "x", Hash: "h"}, f.note("RulesFile", hub.Actor{}))
}

func (f *fakeHub) ReplaceRules(_ context.Context, by hub.Actor, in api.ReplaceRules) (*api.Policy, error) {
	return noted(&api.Policy{}, f.note("ReplaceRules", by, in))
}

func (f *fakeHub) Explain(_ context.Context, in api.ExplainCall) (*api.Decision, error) {
	return noted(&api.Decision{Tool: in.Tool, Rule: api.RuleRef{Rule: "Bash", Decision: api.RuleAsk}}, f.note("Explain", hub.Actor{}, in))
}

func (f *fakeHub) TestRules(_ context.Context, in api.TestRules) (*api.RulesTested, error) {
	return noted(&api.RulesTested{Calls: 3}, f.note("TestRules", hub.Actor{}, in))
}

// fakeTokens notes what it is asked in a fake hub.
type fakeTokens struct{ *fakeHub }

func (f fakeTokens) List(context.Context) ([]api.Token, error) {
	return nil, f.note("ListTokens", hub.Actor{})
}

func (f fakeTokens) Create(_ context.Context, in api.CreateToken) (*api.CreatedToken, error) {
	return noted(&api.CreatedToken{Token: api.Token{ID: "t1", Name: in.Name, Scopes: in.Scopes}, Text: "sb_t1_secret"}, f.note("CreateToken", hub.Actor{}, in))
}

func (f fakeTokens) Revoke(_ context.Context, id string) error {
	return f.note("RevokeToken", hub.Actor{}, id)
}

func (f fakeTokens) Code(_ context.Context, in api.CreateCode) (*api.Code, error) {
	return noted(&api.Code{Code: "abc"}, f.note("CreateCode", hub.Actor{}, in))
}

func (f fakeTokens) Login(_ context.Context, in api.Login) (*api.CreatedToken, *http.Cookie, error) {
	var cookie *http.Cookie
	if in.Cookie {
		cookie = &http.Cookie{Name: "switchboard-1", Value: "half", HttpOnly: true}
	}
	made, err := noted(&api.CreatedToken{Token: api.Token{ID: "t2", Scopes: []string{}}, Text: "sb_t2_secret"}, f.note("Login", hub.Actor{}, in))
	return made, cookie, err
}

func (f fakeTokens) OpenPhone(_ context.Context, in api.OpenPhone) (*api.Phone, error) {
	return noted(&api.Phone{URL: "https://192.168.1.20:8775", Fingerprint: "AB"}, f.note("OpenPhone", hub.Actor{}, in))
}

func (f fakeTokens) ClosePhone(context.Context) error { return f.note("ClosePhone", hub.Actor{}) }

func (f fakeTokens) RevokeDevices(context.Context) ([]string, error) {
	return []string{"t3"}, f.note("RevokeDevices", hub.Actor{})
}

func (f fakeTokens) Logout(context.Context) (*http.Cookie, error) {
	return &http.Cookie{Name: "switchboard-1", MaxAge: -1}, f.note("Logout", hub.Actor{})
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

func (*script) Texts() []hub.Text { return nil }

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

// A rig is a server over a fake hub, on loopback.
type rig struct {
	hub    *fakeHub
	server *Server
	http   *httptest.Server
	log    *bytes.Buffer
}

func newRig(t *testing.T, options *Options) *rig {
	t.Helper()
	if options == nil {
		options = &Options{}
	}
	r := &rig{hub: &fakeHub{}, log: &bytes.Buffer{}}
	options.Tokens, options.Phone = fakeTokens{r.hub}, fakeTokens{r.hub}
	options.Log = slog.New(slog.NewTextHandler(r.log, nil))
	g := guard(t)
	r.server = New(r.hub, r.hub, g, options)
	r.http = httptest.NewUnstartedServer(g.Checked(r.server))
	r.http.Config.ConnContext = g.ConnContext
	r.http.Start()
	t.Cleanup(func() {
		r.server.Close("the test is over")
		r.server.Wait(context.Background())
		r.http.Close()
	})
	return r
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
