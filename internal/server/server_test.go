//go:build unix

package server

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/launch"
	"github.com/switchboard-dev/switchboard/internal/sandbox"
	"github.com/switchboard-dev/switchboard/internal/server/access"
)

// options are those of a server that can start no agent.
func options(t *testing.T, dir string) Options {
	t.Helper()
	return Options{
		DataDir: filepath.Join(dir, "d"), Socket: filepath.Join(dir, "d", "run", "hub.sock"), Addr: "127.0.0.1:0",
		Agent: filepath.Join(dir, "no-such-claude"), Env: []string{"HOME=" + t.TempDir(), "PATH="}, Version: "1.2.3",
		Sandbox: hub.SandboxDefaults{Mode: sandbox.Off}, // these tests start no agents
	}
}

// get returns the status and the body of an answer, over the socket if url begins with a slash.
func get(t *testing.T, s *Server, url string, header ...string) (status int, body string) {
	t.Helper()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	if strings.HasPrefix(url, "/") {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			var dialer net.Dialer
			return dialer.DialContext(ctx, "unix", s.Socket())
		}
		url = "http://switchboard" + url
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			request.Host = header[i+1]
		}
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(raw)
}

func TestRoutes(t *testing.T) {
	o := options(t, shortDir(t))
	o.Console = fstest.MapFS{"index.html": {Data: []byte("the page __NONCE__")}, "assets/a.js": {Data: []byte("the script")}}
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		for range 2 { // a second time does nothing
			if left, err := s.Close(t.Context(), true); err != nil || left.Agents != 0 {
				t.Errorf("%+v, %v", left, err)
			}
		}
		if _, err := os.Stat(s.Socket()); err == nil {
			t.Error("the socket is still there")
		}
	}()
	if _, err := os.Lstat(s.TokenFile()); err == nil {
		t.Error("a token with all rights was written to a file that was not asked for")
	}
	bearer := bearerOf(t, s).Get("Authorization")
	tests := []struct {
		name, url string
		header    []string
		status    int
		body      string
	}{
		{"front of the port", s.URL() + "/", nil, 200, "This is Switchboard"},
		{"front of the socket", "/", nil, 200, "This is Switchboard"},
		{"the console", s.URL() + "/", []string{"Accept", "text/html,*/*;q=0.8"}, 200, "the page"},
		{"a file of the console", s.URL() + "/assets/a.js", nil, 200, "the script"},
		{"none of its files", s.URL() + "/assets/b.js", nil, 404, "not_found"},
		{"the console under another host", s.URL() + "/", []string{"Accept", "text/html", "Host", "evil.example"}, 403, "forbidden"},
		{"the console for another page", s.URL() + "/assets/a.js", []string{"Origin", "http://evil.example"}, 403, "forbidden"},
		{"health", s.URL() + "/healthz", nil, 200, "ok"},
		{"readiness", "/readyz", nil, 200, "ready"},
		{"information by the socket", "/v1/info", nil, 200, `"1.2.3"`},
		{"information without a token", s.URL() + "/v1/info", nil, 401, "unauthorized"},
		{"information with a wrong token", s.URL() + "/v1/info", []string{"Authorization", "Bearer sb_x_y"}, 401, "unauthorized"},
		{"information with the token", s.URL() + "/v1/info", []string{"Authorization", bearer}, 200, "no-such-claude"},
		{"relay without an upgrade", s.URL() + "/ws", []string{"Authorization", bearer}, 426, "WebSockets"},
		{"relay without a token", s.URL() + "/ws", nil, 401, "unauthorized"},
		{"Direct Connect without a token", s.URL() + "/sessions/x/ws", nil, 401, "unauthorized"},
		{"metrics by the socket", "/metrics", nil, 200, "switchboard_"},
		{"metrics without a token", s.URL() + "/metrics", nil, 401, "unauthorized"},
		{"metrics with the token", s.URL() + "/metrics", []string{"Authorization", bearer}, 200, "go_goroutines"},
		{"tokens by the socket", "/v1/tokens", nil, 200, `"name":"test"`},
		{"a token in the address", s.URL() + "/v1/info?token=" + bearer[len("Bearer "):], nil, 400, "invalid"},
		{"nothing", "/favicon.ico", nil, 404, "not_found"},
		{"link on the port", s.URL() + "/link", []string{"Authorization", bearer}, 404, "not_found"},
		{"link of a node without a ticket", s.URL() + "/node/link", []string{"Authorization", bearer}, 403, "nodes only"},
		{"a tee without a token", s.URL() + "/node/tee", nil, 401, "unauthorized"},
		{"a node's control without an upgrade", s.URL() + "/node", nil, 426, ""},
		{"a node on the socket", "/node", nil, 404, "not_found"},
		{"link without an upgrade", "/link", nil, 426, ""},
		{"another host", s.URL() + "/healthz", []string{"Host", "evil.example"}, 403, "forbidden"},
		{"another origin", s.URL() + "/healthz", []string{"Origin", "http://evil.example"}, 403, "forbidden"},
		{"a CLI without a token", s.URL() + "/ws/cli/x", []string{"Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="}, 403, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if status, body := get(t, s, test.url, test.header...); status != test.status || !strings.Contains(body, test.body) {
				t.Errorf("status %d, %s; want %d and %q", status, body, test.status, test.body)
			}
		})
	}
}

// TestNoConsole: a browser is told why there is none, and a folder without one is refused at once.
func TestNoConsole(t *testing.T) {
	s, err := Start(t.Context(), options(t, shortDir(t)))
	if err != nil {
		t.Fatal(err)
	}
	status, body := get(t, s, s.URL()+"/", "Accept", "text/html")
	if _, err := s.Close(t.Context(), true); err != nil {
		t.Error(err)
	}
	if status != 200 || !strings.Contains(body, "compiled without the console") {
		t.Errorf("status %d, %s", status, body)
	}
	o := options(t, shortDir(t))
	o.Console = fstest.MapFS{}
	if _, err := Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), "reading the console") {
		t.Errorf("the error is %v", err)
	}
}

// TestLeft counts agents that go on: a place for one that has not dialled in yet is none.
func TestLeft(t *testing.T) {
	s, err := Start(t.Context(), options(t, shortDir(t)))
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.hub.Create(t.Context(), hub.Actor{Admin: true}, api.CreateSession{Dir: t.TempDir(), Transport: "websocket"})
	left, closing := s.Close(t.Context(), false)
	if err != nil || closing != nil || left.Agents != 0 {
		t.Errorf("%+v, %v, %v", left, err, closing)
	}
}

// everybody returns a listener that others can reach.
func everybody(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// damage puts a file of tokens that cannot be read into another data folder.
func damage(t *testing.T, o *Options) {
	t.Helper()
	o.DataDir = filepath.Join(filepath.Dir(o.DataDir), "damaged")
	if err := os.MkdirAll(o.DataDir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(o.DataDir, access.TokensFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestStartFails starts servers that cannot start: what was begun must be undone, or the next one would find it in its way.
func TestStartFails(t *testing.T) {
	dir := shortDir(t)
	busy, _ := taken(t, "127.0.0.1:0")
	open := filepath.Join(dir, "open")
	if err := os.Mkdir(open, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o755); err != nil { // whatever the mask says
		t.Fatal(err)
	}
	shared := filepath.Join(dir, "shared")
	if err := errors.Join(os.MkdirAll(filepath.Join(shared, "data"), 0o700), os.Chmod(shared, 0o777)); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		change func(*Options)
		want   string
	}{
		{"taken address", func(o *Options) { o.Addr = busy.Addr().String() }, "--addr"},
		{"address of everybody", func(o *Options) { o.Addr = "0.0.0.0:0" }, "loopback"},
		{"open folder", func(o *Options) { o.DataDir = open }, "chmod 700"},
		{"folder below an open one", func(o *Options) { o.DataDir = filepath.Join(shared, "data") }, "chmod go-w " + shared},
		{"linked tokens", func(o *Options) { linked(t, o, "tokens.json") }, "is a link"},
		{"linked journal", func(o *Options) { linked(t, o, "journal.db") }, "symbolic link"},
		{"linked lock", func(o *Options) { linked(t, o, "lock") }, "symbolic link"},
		{"long path", func(o *Options) { o.Socket = filepath.Join(dir, strings.Repeat("x", 100), "hub.sock") }, "too long"},
		{"socket of everybody", func(o *Options) { o.Listeners = append(o.Listeners, everybody(t)) }, "not on loopback"},
		{"half a certificate", func(o *Options) { o.TLSCert = "/cert.pem" }, "--tls-key"},
		{"no certificate", func(o *Options) { o.TLSCert, o.TLSKey = filepath.Join(dir, "none"), filepath.Join(dir, "none") }, "reading the certificate"},
		{"open relay for others", func(o *Options) {
			o.OpenRelay, o.InsecureLAN = []string{"http://localhost:1"}, true
			o.Listeners = append(o.Listeners, everybody(t))
		}, "others can reach"},
		{"open relay behind a proxy", func(o *Options) { o.OpenRelay, o.BehindProxy = []string{"http://localhost:1"}, true }, "--open-relay"},
		{"open dial-in for others", func(o *Options) {
			o.OpenDial, o.InsecureLAN = true, true
			o.Listeners = append(o.Listeners, everybody(t))
		}, "leave out --open-dial-in, or listen on 127.0.0.1"},
		{"open dial-in behind a proxy", func(o *Options) { o.OpenDial, o.BehindProxy = true, true }, "--open-dial-in"},
		{"auto-approve that is no rule", func(o *Options) { o.Rules.AutoApprove = []string{"bash"} }, "dial.auto_approve (--dial-auto-approve): \"bash\": tool names begin"},
		{"damaged tokens", func(o *Options) { damage(t, o) }, "remove it"},
		{"relative program", func(o *Options) { o.Program = "switchboard" }, "absolute"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			o := options(t, dir)
			if test.name != "taken address" && test.name != "address of everybody" {
				o.Listeners = []net.Listener{listener}
			} else {
				_ = listener.Close()
			}
			test.change(&o)
			if _, err := Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v; want %q", err, test.want)
			}
			if _, err := listener.Accept(); !errors.Is(err, net.ErrClosed) {
				t.Errorf("the service manager's socket was left open: %v", err)
			}
			s, err := Start(t.Context(), options(t, dir))
			if err != nil {
				t.Fatalf("the next one: %v", err)
			}
			if _, err := Start(t.Context(), options(t, dir)); err == nil {
				t.Error("there are two at once")
			} else if _, ok := errors.AsType[*journal.FileError](err); !ok {
				t.Errorf("the second one: %v", err)
			}
			if _, err := s.Close(t.Context(), false); err != nil {
				t.Error(err)
			}
		})
	}
}

// linked makes a file of a new data folder a link.
func linked(t *testing.T, o *Options, name string) {
	t.Helper()
	o.DataDir = shortDir(t)
	other := filepath.Join(t.TempDir(), name)
	if err := errors.Join(os.WriteFile(other, nil, 0o600), os.Symlink(other, filepath.Join(o.DataDir, name))); err != nil {
		t.Fatal(err)
	}
}

// TestLinkedFolder starts a server whose data folder is a link of the user's.
func TestLinkedFolder(t *testing.T) {
	dir := shortDir(t)
	real, link := filepath.Join(dir, "disk"), filepath.Join(dir, "d")
	if err := errors.Join(os.Mkdir(real, 0o700), os.Symlink(real, link)); err != nil {
		t.Fatal(err)
	}
	s, err := Start(t.Context(), options(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	if status, body := get(t, s, "/v1/info"); status != http.StatusOK {
		t.Errorf("%d %s", status, body)
	}
	own, err := s.own()
	if err != nil || !slices.Contains(own, link) || !slices.ContainsFunc(own, func(path string) bool { return strings.HasPrefix(path, real) }) {
		t.Errorf("what agents may not touch: %q, %v", own, err)
	}
	if _, err := s.Close(t.Context(), false); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(real, "journal.db")); err != nil {
		t.Error(err)
	}
}

// TestLoss starts a server on a journal that has lost entries: clients are told.
func TestLoss(t *testing.T) {
	dir := shortDir(t)
	s, err := Start(t.Context(), options(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	if _, body := get(t, s, "/v1/info"); strings.Contains(body, "has lost entries") {
		t.Errorf("nothing is lost: %s", body)
	}
	if _, err := s.Close(t.Context(), false); err != nil {
		t.Error(err)
	}
	// A search index that knows more than the journal does.
	db, err := sql.Open("sqlite", filepath.Join(dir, "d", "search.db"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), "UPDATE meta SET value = 22 WHERE key = 'position'")
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if s, err = Start(t.Context(), options(t, dir)); err != nil {
		t.Fatal(err)
	}
	if _, body := get(t, s, "/v1/info"); !strings.Contains(body, "has lost entries") || !strings.Contains(body, "at least 22 entries") {
		t.Errorf("the loss is not told: %s", body)
	}
	if _, err := s.Close(t.Context(), false); err != nil {
		t.Error(err)
	}
}

// TestFailed reports a listener that ends by itself.
func TestFailed(t *testing.T) {
	var log bytes.Buffer
	o := options(t, shortDir(t))
	o.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelError}))
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	_ = s.tcp[0].Close()
	if err := <-s.Failed(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("failed with %v", err)
	}
	if _, err := s.Close(t.Context(), false); err != nil {
		t.Error(err)
	}
	if log.Len() > 0 {
		t.Errorf("logged %s", &log)
	}
}

func TestExplain(t *testing.T) {
	tests := []struct {
		code   launch.Code
		status int
		want   string
	}{
		{launch.NoAgent, 502, api.CodeStartFailed},
		{launch.Failed, 502, api.CodeStartFailed},
		{launch.BadDir, 422, api.CodeInvalid},
		{launch.BadOption, 422, api.CodeInvalid},
		{launch.Forbidden, 403, api.CodeForbidden},
		{launch.Running, 409, api.CodeConflict},
	}
	for _, test := range tests {
		err := explain(&launch.StartError{Code: test.code, Reason: "because", Hint: "do this"})
		problem, ok := errors.AsType[*api.Error](err)
		if !ok || problem.Status != test.status || problem.Code != test.want || problem.Detail != "because" || problem.Hint != "do this" {
			t.Errorf("%s became %+v", test.code, err)
		}
	}
	other := errors.New("something else")
	if err := explain(other); !errors.Is(err, other) {
		t.Error(err)
	}

	dir := shortDir(t)
	l, err := launch.New(launch.Config{DataDir: dir, Socket: filepath.Join(dir, "hub.sock"), Env: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, err = launcher{l}.Start(t.Context(), hub.LaunchSpec{Session: "s1", Run: 1, Token: "t", Marker: "s1.1.random", Dir: filepath.Join(dir, "nowhere")})
	if problem, ok := errors.AsType[*api.Error](err); !ok || problem.Code != api.CodeInvalid {
		t.Errorf("a folder that is not there: %v", err)
	}
}
