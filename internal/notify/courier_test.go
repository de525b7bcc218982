package notify

import (
	"crypto/tls"
	"encoding/json"
	"io"
	"log"
	"maps"
	"mime"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// everything is a notification with all that there can be in one, and with what
// does not belong into a header.
var everything = Notification{
	Kind: NeedsInput, Session: "s5k2m7q3zr4t6w8xabcdy", Title: "Grüße\r\nX-Injected: yes\x00", Dir: "/home/ann/blog", Text: "May I run\nrm -rf build?",
	Question: "q7", QuestionKind: "permission", Time: time.Date(2026, 11, 15, 12, 0, 0, 123456789, time.FixedZone("", 3600)),
}

// deliver sends one notification over loopback and returns the request.
func deliver(t *testing.T, target Target, n Notification) (*http.Request, string) {
	t.Helper()
	requests, bodies := make(chan *http.Request, 1), make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		requests <- r
		bodies <- string(body)
	}))
	defer server.Close()
	target.URL = server.URL + secretPath
	s, err := New(Options{Targets: []Target{target}, Link: "https://hub.example/", UserAgent: "switchboard/1.0"})
	if err != nil {
		t.Fatal(err)
	}
	s.Notify(n)
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := <-requests
	if r.Method != http.MethodPost || r.URL.Path != secretPath || r.UserAgent() != "switchboard/1.0" {
		t.Errorf("the request is %s %s by %s", r.Method, r.URL, r.UserAgent())
	}
	return r, <-bodies
}

func TestWebhook(t *testing.T) {
	const link = "https://hub.example/#/sessions/s5k2m7q3zr4t6w8xabcdy/questions/q7"
	for _, test := range []struct {
		name   string
		detail bool
		want   map[string]any
	}{
		{"by default", false, map[string]any{"kind": "needs_input", "session": everything.Session, "time": "2026-11-15T11:00:00.123Z", "link": link}},
		{"in detail", true, map[string]any{
			"kind": "needs_input", "session": everything.Session, "time": "2026-11-15T11:00:00.123Z", "link": link,
			"title": everything.Title, "dir": everything.Dir, "text": everything.Text, "question": "q7", "question_kind": "permission",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			target := Target{Kind: Webhook, SecretFile: private(t, testSecret+"\n"), TokenFile: private(t, testToken), Detail: test.detail}
			r, body := deliver(t, target, everything)
			if err := verify([]byte(testSecret), r.Header.Get("Switchboard-Signature"), []byte(body), time.Now()); err != nil {
				t.Error(err)
			}
			if r.Header.Get("Content-Type") != "application/json" || r.Header.Get("Authorization") != "Bearer "+testToken {
				t.Errorf("the header is %v", r.Header)
			}
			var got map[string]any
			if err := json.Unmarshal([]byte(body), &got); err != nil {
				t.Fatal(err)
			}
			id, _ := got["id"].(string)
			if len(id) < 20 || r.Header.Get("Switchboard-Id") != id {
				t.Errorf("the id is %q, in the header %q", id, r.Header.Get("Switchboard-Id"))
			}
			delete(got, "id")
			if !maps.Equal(got, test.want) {
				t.Errorf("the body is %s", body)
			}
		})
	}
}

func TestNtfy(t *testing.T) {
	target := Target{Kind: Ntfy, TokenFile: private(t, testToken+"\n")}
	want := []string{
		"Accept-Encoding", "Authorization", "Click", "Connection", "Content-Length", "Content-Type", "Priority", "Tags", "Title", "User-Agent", "X-Sequence-Id",
	}
	title := func(r *http.Request) string {
		t.Helper()
		if names := slices.Sorted(maps.Keys(r.Header)); !slices.Equal(names, want) {
			t.Errorf("the header has %q", names)
		}
		text, err := new(mime.WordDecoder).DecodeHeader(r.Header.Get("Title"))
		if err != nil {
			t.Error(err)
		}
		return text
	}

	r, body := deliver(t, target, everything)
	if got := title(r); got != "Your answer is needed" || body != "Session s5k2m7q3zr4t6w8xabcdy waits for an answer." {
		t.Errorf("%q, %q", got, body)
	}
	if h := r.Header; h.Get("Authorization") != "Bearer "+testToken || h.Get("Tags") != "question" || h.Get("Priority") != "high" ||
		h.Get("Click") != "https://hub.example/#/sessions/s5k2m7q3zr4t6w8xabcdy/questions/q7" || h.Get("Content-Type") != "text/plain; charset=utf-8" ||
		len(h.Get("X-Sequence-Id")) < 20 {
		t.Errorf("the header is %v", h)
	}

	target.Detail = true
	r, body = deliver(t, target, everything)
	if got := title(r); got != "Your answer is needed: Grüße X-Injected: yes" {
		t.Errorf("the title is %q", got)
	}
	if body != "Session s5k2m7q3zr4t6w8xabcdy waits for an answer.\nblog\n\nMay I run\nrm -rf build?" {
		t.Errorf("the body is %q", body)
	}

	long := everything
	long.Title, long.Text, long.Question = strings.Repeat("ü", 1000), strings.Repeat("€", 5000), ""
	r, body = deliver(t, target, long)
	if got := title(r); len(got) > maxTitle || !strings.HasSuffix(got, "ü…") {
		t.Errorf("the title is %q", got)
	}
	if len(body) > 4096 || !strings.HasSuffix(body, "€…") {
		t.Errorf("the body has %d bytes and ends in %q", len(body), body[len(body)-9:])
	}
	if got := r.Header.Get("Click"); got != "https://hub.example/#/sessions/s5k2m7q3zr4t6w8xabcdy" {
		t.Errorf("the link is %q", got)
	}

	looks := make(map[look]bool)
	for _, kind := range append(Kinds(), "news") {
		looks[lookOf(kind)] = true
	}
	if len(looks) != len(Kinds())+1 {
		t.Errorf("kinds look alike: %v", looks)
	}
}

func TestLinks(t *testing.T) {
	for _, test := range []struct{ link, session, question, want string }{
		{"", "s1", "q1", ""},
		{"https://hub.example", "s1", "", "https://hub.example/#/sessions/s1"},
		{"http://127.0.0.1:8765/", "s1", "q1", "http://127.0.0.1:8765/#/sessions/s1/questions/q1"},
		{"https://hub.example/under/", "s1", "", "https://hub.example/under/#/sessions/s1"},
		{"https://hüb.example", "a/b\r\n", "?", "https://h%C3%BCb.example/#/sessions/a%2Fb%0D%0A/questions/%3F"},
	} {
		link, err := parseLink(test.link)
		if err != nil {
			t.Error(err)
		}
		if got := (&courier{link: link}).linkTo(&Notification{Session: test.session, Question: test.question}); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
	for _, link := range []string{"hub.example", "ftp://hub.example", "https://", "https://hub.example/#/x", "https://hub.example?x=1", "https://a:b@hub.example", "https://hub.example/%"} {
		if _, err := New(Options{Link: link}); err == nil || !strings.Contains(err.Error(), "notify.link") {
			t.Errorf("%s: %v", link, err)
		}
	}
}

func TestEvents(t *testing.T) {
	inBubble(t, statuses(200), func(o *Options) {
		few := o.Targets[0]
		few.Events = []string{NeedsInput, Failed}
		o.Targets = append(o.Targets, few)
	}, func(b *lab) {
		for _, kind := range Kinds() {
			b.Notify(Notification{Kind: kind, Session: "s1"})
		}
		b.pass(time.Second)
		if all := b.Stats(); all[0].Sent != 4 || all[1].Sent != 2 || all[0].Kind != Webhook || all[0].Host != "127.0.0.1" {
			t.Errorf("the counters are %+v", all)
		}
		var p payload
		if err := json.Unmarshal([]byte(b.arrivals()[0].body), &p); err != nil || !p.Time.Equal(b.began) {
			t.Errorf("a notification without a time has %v, %v", p.Time, err)
		}
	})
}

func TestTargetsRefused(t *testing.T) {
	secret, token := private(t, testSecret), private(t, testToken)
	open := private(t, testSecret)
	if err := os.Chmod(open, 0o640); err != nil {
		t.Fatal(err)
	}
	const good = "https://hub.example" + secretPath
	for _, test := range []struct {
		target Target
		want   string
	}{
		{Target{}, "webhook or ntfy"},
		{Target{Kind: "Webhook", URL: good, SecretFile: secret}, "webhook or ntfy"},
		{Target{Kind: Webhook, URL: good}, "needs secret_file"},
		{Target{Kind: Ntfy, URL: good, SecretFile: secret}, "token_file"},
		{Target{Kind: Ntfy, URL: good, Events: []string{Done, "finished"}}, `"finished"`},
		{Target{Kind: Ntfy}, "url is missing"},
		{Target{Kind: Ntfy, URL: "hub.example" + secretPath}, "not an address"},
		{Target{Kind: Ntfy, URL: "https://:80" + secretPath}, "not an address"},
		{Target{Kind: Ntfy, URL: "https:" + secretPath}, "not an address"},
		{Target{Kind: Ntfy, URL: "https://hub.example" + secretPath + "\n"}, "not an address"},
		{Target{Kind: Ntfy, URL: "ftp://hub.example" + secretPath}, "https://"},
		{Target{Kind: Ntfy, URL: "http://hub.example" + secretPath}, "https://"},
		{Target{Kind: Ntfy, URL: "http://127.0.0.1.hub.example" + secretPath}, "https://"},
		{Target{Kind: Ntfy, URL: "https://u:" + testToken + "@hub.example"}, "token_file"},
		{Target{Kind: Ntfy, URL: good + "#x"}, "#"},
		{Target{Kind: Webhook, URL: good, SecretFile: filepath.Join(t.TempDir(), "gone")}, "no such file"},
		{Target{Kind: Webhook, URL: good, SecretFile: "secret"}, "absolute"},
		{Target{Kind: Webhook, URL: good, SecretFile: t.TempDir()}, "is not a file"},
		{Target{Kind: Webhook, URL: good, SecretFile: open}, "chmod 600"},
		{Target{Kind: Webhook, URL: good, SecretFile: private(t, " \n")}, "is empty"},
		{Target{Kind: Webhook, URL: good, SecretFile: private(t, "short")}, "shorter than"},
		{Target{Kind: Webhook, URL: good, SecretFile: private(t, strings.Repeat("x", 5000))}, "too long"},
		{Target{Kind: Ntfy, URL: good, TokenFile: private(t, testToken+"\nX: y")}, "more in it than one token"},
		{Target{Kind: Ntfy, URL: good, TokenFile: private(t, "tökén")}, "more in it than one token"},
	} {
		s, err := New(Options{Targets: []Target{{Kind: Ntfy, URL: good, TokenFile: token}, test.target}})
		if err == nil {
			_ = s.Close(t.Context())
			t.Errorf("%+v is taken", test.target)
			continue
		}
		if text := err.Error(); !strings.Contains(text, test.want) || !strings.Contains(text, "target 2") ||
			strings.Contains(text, secretPath) || strings.Contains(text, testSecret) || strings.Contains(text, testToken) {
			t.Errorf("%+v: %s", test.target, text)
		}
	}
	for _, address := range []string{"http://localhost:1/x", "http://[::1]/x", "http://127.0.0.2/x", good + "?token=x"} {
		s, err := New(Options{Targets: []Target{{Kind: Ntfy, URL: address}}})
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// TestCertificates has a target whose certificate nobody has signed.
func TestCertificates(t *testing.T) {
	got := make(chan struct{}, 100)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { got <- struct{}{} }))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	server.StartTLS()
	defer server.Close()
	var j journal
	s, err := New(Options{Targets: []Target{{Kind: Ntfy, URL: server.URL + secretPath, TokenFile: private(t, testToken)}}, Logger: j.logger()})
	if err != nil {
		t.Fatal(err)
	}
	s.Notify(everything)
	if err := s.Close(t.Context()); err == nil || len(got) > 0 {
		t.Errorf("the error is %v, the requests were %d", err, len(got))
	}
	if text := j.String(); !strings.Contains(text, "certificate") || strings.Contains(text, secretPath) || strings.Contains(text, testToken) {
		t.Errorf("the log is\n%s", text)
	}
}

func FuzzHeaderText(f *testing.F) {
	for _, text := range []string{"", "plain", "a\r\nb: c", "Grüße", "=?utf-8?q?=0D=0A?=", "\u2028\u0085\x7f", "\xff", strings.Repeat("é", 300), " a  b ", "=?", "a=??=", strings.Repeat("=?", maxTitle/2)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		encoded := headerText(text)
		for _, c := range []byte(encoded) {
			if c < ' ' || c > '~' {
				t.Fatalf("%q has %q", encoded, c)
			}
		}
		decoded, err := new(mime.WordDecoder).DecodeHeader(encoded)
		if err != nil || !utf8.ValidString(decoded) || len(decoded) > maxTitle || strings.ContainsAny(decoded, "\r\n\x00") {
			t.Errorf("%q is read as %q, %v", encoded, decoded, err)
		}
	})
}
