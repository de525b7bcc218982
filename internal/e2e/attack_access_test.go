//go:build linux || darwin

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

// A door is a way in that needs a token.
type door struct {
	name, method, path string
	body               any
	upgrades           bool
	// late says that a WebSocket without a token is let in to send one.
	late bool
}

// doors are the ways into a hub, with the session of the assault.
func (a *assault) doors() []door {
	of := "/v1/sessions/" + a.s.id
	return []door{
		{name: "list", method: "GET", path: "/v1/sessions"},
		{name: "snapshot", method: "GET", path: of},
		{name: "info", method: "GET", path: "/v1/info"},
		{name: "create", method: "POST", path: "/v1/sessions", body: api.CreateSession{Dir: a.s.dir}},
		{name: "prompt", method: "POST", path: of + "/messages", body: api.SendMessage{ClientID: "evil", Text: "@say Evil."}},
		{name: "interrupt", method: "POST", path: of + "/interrupt", body: api.Interrupt{}},
		{name: "stop", method: "POST", path: of + "/stop", body: api.Stop{Force: true}},
		{name: "control", method: "POST", path: of + "/control", body: api.Control{Request: []byte(`{"subtype":"interrupt"}`)}},
		{name: "events", method: "GET", path: of + "/events"},
		{name: "export", method: "GET", path: of + "/export?format=jsonl"},
		{name: "search", method: "GET", path: "/v1/search?q=here"},
		{name: "tokens", method: "GET", path: "/v1/tokens"},
		{name: "make a token", method: "POST", path: "/v1/tokens", body: api.CreateToken{Name: "evil", Scopes: []string{"admin"}}},
		{name: "make a code", method: "POST", path: "/v1/codes", body: api.CreateCode{}},
		{name: "metrics", method: "GET", path: "/metrics"},
		{name: "Direct Connect", method: "POST", path: "/sessions", body: map[string]string{"cwd": a.s.dir}},
		{name: "end a Direct Connect", method: "DELETE", path: "/sessions/" + a.s.id},
		{name: "events by WebSocket", path: of + "/events", upgrades: true},
		{name: "all events by WebSocket", path: "/v1/events", upgrades: true},
		{name: "relay", path: "/ws?session=" + a.s.id, upgrades: true, late: true},
		{name: "Direct Connect by WebSocket", path: "/sessions/" + a.s.id + "/ws", upgrades: true, late: true},
	}
}

// tryDoor tries a door with a header and holds that it is refused with one of some
// statuses.
func (a *assault) tryDoor(d door, as string, h http.Header, want ...int) {
	a.t.Helper()
	row := d.name + ", " + as
	if d.upgrades {
		if _, status := a.upgrade(d.path, h); !slices.Contains(want, status) {
			a.t.Errorf("%s: status %d, want %v", row, status, want)
		}
		return
	}
	var body string
	if d.body != nil {
		body = toJSON(a.t, d.body)
		h.Set("Content-Type", "application/json")
	}
	status, answer := a.askWith(d.method, d.path, h, strings.NewReader(body))
	a.refuses(row, status, answer, want...)
}

// wrongSecret changes the last letters of a token.
func wrongSecret(token string) string {
	const made = "abcdabcd"
	return token[:len(token)-len(made)] + made
}

// TestAttackTokens comes to each door without a token, and with such as are not
// good.
func TestAttackTokens(t *testing.T) {
	t.Parallel()
	a := newAssault(t, nil)
	revoked := a.mint("revoked", wire.ScopeObserve, wire.ScopePrompt, wire.ScopeApprove, wire.ScopeAdmin)
	if status, body := a.ask("GET", "/v1/sessions", revoked.Text, nil); status != http.StatusOK {
		t.Fatalf("a new token is answered %d: %s", status, body)
	}
	if status, body := a.ask("DELETE", "/v1/tokens/"+revoked.ID, a.admin(), nil); status >= 300 {
		t.Fatalf("revoking: %d: %s", status, body)
	}
	expired := a.mintFor("expired", 1, wire.ScopeObserve, wire.ScopeAdmin)
	if err := eventually(patience, func() error {
		if status, _ := a.ask("GET", "/v1/sessions", expired.Text, nil); status != http.StatusUnauthorized {
			return fmt.Errorf("it is answered %d", status)
		}
		return nil
	}); err != nil {
		t.Fatalf("a token that was good for a second: %v", err)
	}
	var code api.Code
	if err := a.call(a.ctx(), "POST", "/v1/codes", api.CreateCode{}, &code); err != nil {
		t.Fatal(err)
	}
	other := a.mint("other", wire.ScopeObserve)
	id, _, _ := strings.Cut(strings.TrimPrefix(other.Text, "sb_"), "_")
	_, secret, _ := strings.Cut(strings.TrimPrefix(a.admin(), "sb_"), "_")
	browser := a.browse()
	credentials := map[string]http.Header{
		"a cookie alone":         header("", "Cookie", browser.Get("Cookie")),
		"a browser's other half": header("", "Authorization", browser.Get("Authorization")),
		"another page, by fetch": with(browser, "Sec-Fetch-Site", "cross-site"),
		"no token":               header(""),
		"a revoked token":        header(revoked.Text),
		"an expired token":       header(expired.Text),
		"a wrong secret":         header(wrongSecret(a.admin())),
		"another token's id":     header("sb_" + id + "_" + secret),
		"nonsense":               header("nonsense"),
		"an empty token":         header("", "Authorization", "Bearer "),
		"a one-time code":        header(code.Code),
		"basic authentication":   header("", "Authorization", "Basic YWRtaW46YWRtaW4="),
		"a token with more":      header(a.admin() + "x"),
		"a part of a token":      header(a.admin()[:len(a.admin())-1]),
		"a token as the user":    header("", "Authorization", "Token "+a.admin()),
		"a token in a cookie":    header("", "Cookie", "token="+a.admin()),
		"a token in a header":    header("", "X-Api-Key", a.admin()),
		"a forged socket's user": header("", "X-Forwarded-User", "root", "X-Real-Ip", "127.0.0.1"),
	}
	// Wrong tokens are answered after a while, so these knock side by side. All
	// doors get those that were good once, the rest of the table one each.
	doors := a.doors()
	var knocking sync.WaitGroup
	slots := make(chan struct{}, 16)
	n := 0
	for as, h := range credentials {
		tried := doors
		if as != "no token" && as != "a revoked token" && as != "an expired token" && as != "a cookie alone" && as != "a browser's other half" {
			n++
			tried = []door{doors[n%len(doors)], doors[(n+7)%len(doors)]}
		}
		if as == "another page, by fetch" {
			tried = slices.DeleteFunc(slices.Clone(doors), func(d door) bool { return d.upgrades }) // which have an Origin
		}
		for _, d := range tried {
			want := []int{http.StatusUnauthorized}
			if d.late && !strings.HasPrefix(h.Get("Authorization"), "Bearer sb") && h.Get("Authorization") != "Bearer nonsense" {
				continue // no token as far as the door knows; see TestAttackFirstLine
			}
			knocking.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				a.tryDoor(d, as, h.Clone(), want...)
			})
		}
	}
	knocking.Wait()
	a.survived()

	t.Run("a code is good once", func(t *testing.T) {
		status, body := a.ask("POST", "/v1/login", "", api.Login{Code: code.Code, Name: "device"})
		if status >= 300 {
			t.Fatalf("status %d: %s", status, body)
		}
		status, body = a.ask("POST", "/v1/login", "", api.Login{Code: code.Code, Name: "thief"})
		a.refuses("a code again", status, body, http.StatusUnauthorized)
		status, body = a.ask("POST", "/v1/login", "", api.Login{Code: "sbc_" + strings.Repeat("a", 32)})
		a.refuses("a code made up", status, body, http.StatusUnauthorized)
	})
	t.Run("nobody gives what he has not", func(t *testing.T) {
		weak := a.mint("weak", wire.ScopeObserve, wire.ScopePrompt)
		for _, d := range []door{
			{name: "a token", method: "POST", path: "/v1/tokens", body: api.CreateToken{Name: "strong", Scopes: []string{"observe"}}},
			{name: "a code", method: "POST", path: "/v1/codes", body: api.CreateCode{}},
			{name: "a list", method: "GET", path: "/v1/tokens"},
			{name: "an end", method: "DELETE", path: "/v1/tokens/" + weak.ID},
		} {
			a.tryDoor(d, "a token without admin", header(weak.Text), http.StatusForbidden)
		}
		// A code with less gives a token with less.
		var less api.Code
		if err := a.call(a.ctx(), "POST", "/v1/codes", api.CreateCode{Scopes: []string{"observe"}}, &less); err != nil {
			t.Fatal(err)
		}
		var device api.CreatedToken
		if err := a.call(a.ctx(), "POST", "/v1/login", api.Login{Code: less.Code}, &device); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(device.Scopes, []string{"observe"}) {
			t.Errorf("the device has %v", device.Scopes)
		}
		a.tryDoor(door{name: "prompt", method: "POST", path: "/v1/sessions/" + a.s.id + "/messages", body: api.SendMessage{Text: "@say Evil."}},
			"a device that may look", header(device.Text), http.StatusForbidden)
	})
	a.survived()
	a.noSecrets(a.admin(), revoked.Text, expired.Text, code.Code, browser.Get("Cookie"), strings.TrimPrefix(browser.Get("Authorization"), "Bearer "))
}

// browse logs a browser in with all scopes, and returns the headers that its page sends.
func (a *assault) browse() http.Header {
	a.t.Helper()
	var code api.Code
	if err := a.call(a.ctx(), "POST", "/v1/codes", api.CreateCode{}, &code); err != nil {
		a.t.Fatal(err)
	}
	got := a.fetch("POST", "/v1/login", header("", "Content-Type", "application/json"), strings.NewReader(toJSON(a.t, api.Login{Code: code.Code, Name: "browser", Cookie: true})))
	var made api.CreatedToken
	if err := json.Unmarshal(got.body, &made); err != nil || !made.Cookie {
		a.t.Fatalf("login: %d %s, %v", got.status, got.body, err)
	}
	cookie, _, _ := strings.Cut(got.header.Get("Set-Cookie"), ";")
	h := header(made.Text, "Cookie", cookie)
	if status, answer := a.askWith("GET", "/v1/info", h, http.NoBody); status != http.StatusOK {
		a.t.Fatalf("both halves are answered %d: %s", status, answer)
	}
	return h
}

// with returns headers with some more.
func with(h http.Header, more ...string) http.Header {
	h = h.Clone()
	for i := 0; i+1 < len(more); i += 2 {
		h.Set(more[i], more[i+1])
	}
	return h
}

// noSecrets holds that no log has any of some secrets in it.
func (a *assault) noSecrets(secrets ...string) {
	a.t.Helper()
	log := tail(a.root+"/serve.log", 1<<20)
	if log == "" {
		a.t.Error("there is no log")
	}
	for _, secret := range secrets {
		if strings.Contains(log, secret) {
			a.t.Error("a secret is in the log")
		}
	}
}

// TestAttackFirstLine opens WebSockets that want a token as their first line, and
// sends something else.
func TestAttackFirstLine(t *testing.T) {
	t.Parallel()
	a := newAssault(t, nil)
	revoked := a.mint("revoked", wire.ScopeObserve)
	if status, body := a.ask("DELETE", "/v1/tokens/"+revoked.ID, a.admin(), nil); status >= 300 {
		t.Fatalf("revoking: %d: %s", status, body)
	}
	blind := a.mint("blind", wire.ScopePrompt) // who may not look may not come in
	lines := map[string]string{
		"a prompt":        `{"type":"user","message":{"role":"user","content":"@say Evil."}}` + "\n",
		"a wrong token":   `{"type":"auth","token":"` + wrongSecret(a.admin()) + `"}` + "\n",
		"a revoked token": `{"type":"auth","token":"` + revoked.Text + `"}` + "\n",
		"the SDK's form":  `{"type":"auth","credential":{"type":"oauth","token":"` + wrongSecret(a.admin()) + `"}}` + "\n",
		"no token":        `{"type":"auth"}` + "\n",
		"a number":        `{"type":"auth","token":5}` + "\n",
		"not JSON":        "hello\n",
		"nothing":         "\n",
		"too long":        `{"type":"auth","token":"` + strings.Repeat("x", 1<<20) + `"}` + "\n",
		"may not look":    `{"type":"auth","token":"` + blind.Text + `"}` + "\n",
	}
	var trying sync.WaitGroup
	for _, d := range a.doors() {
		if !d.late {
			continue
		}
		for name, line := range lines {
			trying.Go(func() {
				f, status := a.upgrade(d.path, header(""))
				if f == nil {
					t.Errorf("%s: without a token it answers %d", d.name, status)
					return
				}
				if name == "nothing" {
					line += `{"type":"user","message":{"role":"user","content":"@say Evil."}}` + "\n"
				}
				// The second one would be taken if the first was.
				_ = f.Write(a.ctx(), websocket.MessageText, []byte(line))
				_ = f.Write(a.ctx(), websocket.MessageText, []byte(`{"type":"user","message":{"role":"user","content":"@say Evil."}}`+"\n"))
				shown, err := f.hear(func(line []byte) bool { return !isRefusal(line) })
				if err == nil {
					t.Errorf("%s, %s: somebody unknown is shown %s", d.name, name, brief(shown))
				}
				if code := websocket.CloseStatus(err); code != websocket.StatusPolicyViolation && code != websocket.StatusMessageTooBig && code != -1 {
					t.Errorf("%s, %s: closed with %d", d.name, name, code)
				}
			})
		}
	}
	trying.Wait()
	a.survived()
}

// TestAttackRevoked takes a token away from somebody who is connected by all ways
// there are.
func TestAttackRevoked(t *testing.T) {
	t.Parallel()
	a := newAssault(t, nil)
	thief := a.mint("thief", wire.ScopeObserve, wire.ScopePrompt, wire.ScopeApprove)
	var open []*front
	for _, d := range a.doors() {
		if !d.upgrades || strings.HasPrefix(d.path, "/sessions/") {
			continue
		}
		f, status := a.upgrade(d.path, header(thief.Text))
		if f == nil {
			t.Fatalf("%s: a good token is answered %d", d.name, status)
		}
		open = append(open, f)
	}
	late, status := a.upgrade("/ws", header(""))
	if late == nil {
		t.Fatalf("the relay answers %d", status)
	}
	late.say(`{"type":"auth","token":"` + thief.Text + `"}` + "\n")
	browser, status := a.upgrade("/v1/events", header(""), "switchboard.v1", "sb.token."+thief.Text)
	if browser == nil {
		t.Fatalf("a browser's WebSocket is answered %d", status)
	}
	if got := browser.Subprotocol(); got != "switchboard.v1" {
		t.Errorf("the sub-protocol is %q", got)
	}
	open = append(open, late, browser)
	request, err := a.request(t.Context(), "GET", "/v1/sessions/"+a.s.id+"/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+thief.Text)
	request.Header.Set("Accept", "text/event-stream")
	stream, err := a.http.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Body.Close() }() // it was only read
	if status, body := a.ask("DELETE", "/v1/tokens/"+thief.ID, a.admin(), nil); status >= 300 {
		t.Fatalf("revoking: %d: %s", status, body)
	}
	for _, f := range open {
		f.ended()
	}
	ended := make(chan error, 1)
	go func() {
		buffer := make([]byte, 4096)
		for {
			if _, err := stream.Body.Read(buffer); err != nil {
				ended <- err
				return
			}
		}
	}()
	select {
	case <-ended:
	case <-a.ctx().Done():
		t.Error("the stream of a revoked token goes on")
		_ = stream.Body.Close()
		<-ended
	}
	a.survived()
}

// TestAttackOrigins comes as a web page of another server, or under another name.
func TestAttackOrigins(t *testing.T) {
	t.Parallel()
	a := newAssault(t, nil)
	_, port, _ := strings.Cut(a.address, ":")
	foreign := map[string][]string{
		"another origin":        {"Origin", "https://evil.example"},
		"another port":          {"Origin", "http://127.0.0.1:1"},
		"another scheme":        {"Origin", "https://" + a.address},
		"a null origin":         {"Origin", "null"},
		"a name that ends so":   {"Origin", "http://evil" + a.address},
		"a name that begins so": {"Origin", "http://" + a.address + ".evil.example"},
		"a file":                {"Origin", "file://"},
		"an extension":          {"Origin", "chrome-extension://abcdefghijklmnop"},
		"a rebound name":        {"Host", "evil.example:" + port},
		"no port":               {"Host", "evil.example"},
		"another machine":       {"Host", "192.0.2.7:" + port},
		"a name with more":      {"Host", "localhost." + "evil.example:" + port},
		"a user in the name":    {"Host", a.address + "@evil.example"},
		"another local port":    {"Host", "127.0.0.1:1"},
	}
	for as, more := range foreign {
		for _, d := range a.doors() {
			if more[0] == "Host" && strings.Contains(more[1], "@") {
				continue // below
			}
			// A good token does not help: it is a browser that has it.
			a.tryDoor(d, as, header(a.admin(), more...), http.StatusForbidden)
		}
	}
	// Nor does the login of a browser, whose cookie comes with requests of any page.
	browser := a.browse()
	for _, as := range []string{"another origin", "another port", "a rebound name"} {
		for _, d := range a.doors() {
			a.tryDoor(d, as+", with a cookie", with(browser, foreign[as]...), http.StatusForbidden)
		}
	}
	// What the root shows to anybody is not shown to them either, and nobody dials
	// in as a CLI from a web page.
	for _, path := range []string{"/", "/ws/cli/" + a.s.id} {
		if _, status := a.upgrade(path, header("", "Origin", "https://evil.example")); status != http.StatusForbidden {
			t.Errorf("%s from a web page: status %d", path, status)
		}
	}
	for _, host := range []string{a.address + "@evil.example", "evil.example\x00", "", "[::1", "127.0.0.1:99999999"} {
		response, err := a.raw("GET /v1/info HTTP/1.1\r\nHost: " + host + "\r\nAuthorization: Bearer " + a.admin() + "\r\n\r\n")
		if err == nil && response.status != http.StatusForbidden && response.status != http.StatusBadRequest {
			t.Errorf("Host %q: status %d", host, response.status)
		}
	}
	// A request for somebody else, as to a proxy.
	for _, line := range []string{"GET http://evil.example/v1/info HTTP/1.1", "CONNECT evil.example:443 HTTP/1.1", "GET //evil.example/v1/info HTTP/1.1"} {
		response, err := a.raw(line + "\r\nHost: evil.example\r\nAuthorization: Bearer " + a.admin() + "\r\n\r\n")
		if err == nil && response.status < 400 {
			t.Errorf("%s: status %d", line, response.status)
		}
	}
	two, err := a.raw("GET /v1/info HTTP/1.1\r\nHost: " + a.address + "\r\nHost: evil.example\r\nAuthorization: Bearer " + a.admin() + "\r\n\r\n")
	if err == nil && two.status != http.StatusBadRequest {
		t.Errorf("two hosts: status %d", two.status)
	}
	// Without CORS a page cannot read what it may not ask either.
	status, answer := a.askWith("OPTIONS", "/v1/sessions", header("", "Origin", "https://evil.example", "Access-Control-Request-Method", "POST"), http.NoBody)
	a.refuses("a preflight", status, answer, http.StatusForbidden)
	a.survived()
}

// TestAttackURLs puts tokens into addresses.
func TestAttackURLs(t *testing.T) {
	t.Parallel()
	a := newAssault(t, nil)
	token := a.admin()
	var hidden strings.Builder // every character escaped
	for _, c := range []byte(token) {
		fmt.Fprintf(&hidden, "%%%02X", c)
	}
	for _, path := range []string{
		"/v1/sessions?token=" + token, "/v1/sessions?access_token=" + token, "/v1/sessions?x=y&q=" + url.QueryEscape("a "+token),
		"/v1/sessions/" + token, "/" + token, "/v1/sessions?token=" + hidden.String(), "/v1/search?q=" + token, "/ws?token=" + token,
		"/sessions/" + token + "/ws", "/metrics?token=" + token, "/healthz?" + token,
	} {
		for _, h := range []http.Header{header(""), header(token)} {
			status, answer := a.askWith("GET", path, h, http.NoBody)
			a.refuses(strings.ReplaceAll(path, token, "TOKEN"), status, answer, http.StatusBadRequest)
		}
		if _, status := a.upgrade(path, header("")); status != http.StatusBadRequest {
			t.Errorf("%s by WebSocket: status %d", strings.ReplaceAll(path, token, "TOKEN"), status)
		}
	}
	// As the name and password of an address they reach nobody at all.
	if status, answer := a.askWith("GET", "/v1/sessions", header("", "Authorization", "Basic "+"c2I6"+token), http.NoBody); status != http.StatusUnauthorized {
		t.Errorf("status %d: %s", status, answer)
	}
	a.survived()
	a.noSecrets(token, hidden.String())
}

// TestAttackLinks comes as an agent: with the credential of another session, with
// none, and with that of a front end.
func TestAttackLinks(t *testing.T) {
	t.Parallel()
	a := newAssault(t, nil)
	mine, theirs := a.createDialled("websocket", nil), a.createDialled("websocket", nil)
	for _, s := range []*session{mine, theirs} {
		if err := s.turn(a.ctx(), "first", "@say Here."); err != nil {
			t.Fatal(err)
		}
	}
	var spare api.Created
	if err := a.call(a.ctx(), "POST", "/v1/sessions", api.CreateSession{Dir: a.s.dir, Transport: "websocket"}, &spare); err != nil {
		t.Fatal(err)
	}
	observer := a.mint("observer", wire.ScopeObserve, wire.ScopePrompt, wire.ScopeApprove)
	for as, token := range map[string]string{
		"another session's credential": spare.Token, "none": "", "nonsense": "nonsense", "a wrong one": wrongSecret(spare.Token), "a front end's": observer.Text,
	} {
		f, status := a.upgrade("/ws/cli/"+mine.id, header(token))
		switch {
		case f == nil && status != http.StatusForbidden:
			t.Errorf("%s: status %d", as, status)
		case f != nil && token != spare.Token:
			t.Errorf("%s: it is let in", as)
		case f != nil: // as the CLI of its own session, whatever the path says
			f.say(`{"type":"assistant","message":{"content":"Evil."},"uuid":"e1","session_id":"x"}` + "\n")
			_ = f.CloseNow()
		}
		status, _ = a.askWith("POST", "/session/cli/"+mine.id+"/events", header(token, "Content-Type", "application/json"), strings.NewReader(`{"events":[]}`))
		if status < 400 && token != spare.Token {
			t.Errorf("%s by POST: status %d", as, status)
		}
	}
	// With a credential of a run one is a CLI of that run, and nothing else.
	var knocking sync.WaitGroup
	for _, d := range a.doors() {
		if d.late {
			continue
		}
		knocking.Go(func() { a.tryDoor(d, "the credential of a run", header(spare.Token), http.StatusUnauthorized) })
	}
	knocking.Wait()
	// Both go on, undisturbed.
	for _, s := range []*session{mine, theirs} {
		if err := s.turn(a.ctx(), "second", "@say Still here."); err != nil {
			t.Fatal(err)
		}
		if s.has("Evil.") {
			t.Errorf("session %s shows what was made up", s.id)
		}
	}
	a.survived()
	a.noSecrets(spare.Token, observer.Text)
}

// has says whether the subscriber was shown a text.
func (s *session) has(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.events, func(e api.Event) bool {
		return strings.Contains(string(e.Line), text) || strings.Contains(string(e.Data), text)
	})
}

// TestAttackPaths asks for folders, transcripts and exports that are none of the
// asker's business.
func TestAttackPaths(t *testing.T) {
	t.Parallel()
	a := newAssault(t, nil)
	admin := a.admin()
	outside := func(row string, status int, answer []byte) {
		t.Helper()
		if status < 400 || status >= 500 {
			t.Errorf("%s: status %d: %.300s", row, status, answer)
		}
		if strings.Contains(string(answer), "root:") || strings.Contains(string(answer), admin) {
			t.Errorf("%s: the answer has what it must not have: %.300s", row, answer)
		}
	}
	climbing := []string{
		"../../../../etc/passwd", "..%2f..%2f..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/etc/passwd", "....//....//etc/passwd", "..%5c..%5cetc",
		"%00", "a%00b", "..;/x", "/etc/passwd", "%2fetc%2fpasswd", "..", ".", "~", "~root", strings.Repeat("a", 5000), "%F0%9F%92%A3", "a b", "a%0d%0aX-Evil:%20yes",
	}
	for _, part := range climbing {
		for _, pattern := range []string{
			"/v1/sessions/%s", "/v1/sessions/%s/export?format=jsonl", "/v1/sessions/%s/events?live=false", "/v1/transcripts/%s", "/v1/questions/%s",
			"/v1/transcripts/x?dir=%s", "/v1/%s", "/sessions/%s/ws",
		} {
			path := fmt.Sprintf(pattern, part)
			response, err := a.raw("GET " + strings.ReplaceAll(path, " ", "%20") + " HTTP/1.1\r\nHost: " + a.address + "\r\nAuthorization: Bearer " + admin + "\r\nConnection: close\r\n\r\n")
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			if response.status < 300 || response.status >= 500 {
				t.Errorf("%.100s: status %d", path, response.status)
			}
			if response.header.Get("X-Evil") != "" {
				t.Errorf("%s: a header of the asker's", path)
			}
		}
	}
	for _, format := range []string{"../jsonl", "jsonl%00", "exe", "", "markdown/../jsonl"} {
		status, answer := a.ask("GET", "/v1/sessions/"+a.s.id+"/export?format="+format, admin, nil)
		if format != "" {
			outside("export as "+format, status, answer)
		}
	}
	if err := os.Symlink(a.data, filepath.Join(a.s.dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{
		"relative", "../..", "/no/such/folder", "/etc/passwd", a.data, a.data + "/run", "/proc/self/root/../" + a.data, filepath.Join(a.s.dir, "link"),
		"\x00", strings.Repeat("/a", 4000),
	} {
		status, answer := a.ask("POST", "/v1/sessions", admin, api.CreateSession{Dir: dir})
		outside(fmt.Sprintf("a session in %.40q", dir), status, answer)
		status, answer = a.ask("POST", "/sessions", admin, map[string]string{"cwd": dir})
		outside(fmt.Sprintf("Direct Connect in %.40q", dir), status, answer)
	}
	// What an adopted conversation is called becomes the name of a file.
	for _, conversation := range []string{"..%2f..%2fetc%2fpasswd", "x", "00000000-0000-0000-0000-000000000000"} {
		status, answer := a.ask("POST", "/v1/transcripts/"+conversation+"/adopt", admin, api.Adopt{Dir: a.s.dir})
		outside("adopting "+conversation, status, answer)
	}
	for _, resume := range []string{"../../x", "/etc/passwd", "a\nb", "--dangerously-skip-permissions"} {
		status, answer := a.ask("POST", "/v1/sessions", admin, map[string]any{"dir": a.s.dir, "resume": resume, "options": map[string]any{"resume": resume}})
		outside("resuming "+resume, status, answer)
	}
	// Folders are for those who may start agents in them.
	weak := a.mint("weak", wire.ScopeObserve, wire.ScopePrompt, wire.ScopeApprove)
	status, answer := a.ask("GET", "/v1/folders?prefix=/", weak.Text, nil)
	a.refuses("folders", status, answer, http.StatusForbidden)
	for _, prefix := range []string{"../", "relative", "%00", strings.Repeat("/a", 5000)} {
		status, answer := a.ask("GET", "/v1/folders?prefix="+prefix, admin, nil)
		if status >= 500 || strings.Contains(string(answer), "passwd") {
			t.Errorf("folders of %.40q: status %d: %.300s", prefix, status, answer)
		}
	}
	a.survived()
	if n := len(a.shims()); n != 1 {
		t.Errorf("%d agents run; want the one that was there", n)
	}
}

// toJSON writes a body.
func toJSON(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
