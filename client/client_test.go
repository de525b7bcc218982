package client_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
)

// serve starts a server on loopback and a client of it.
func serve(t *testing.T, handler http.HandlerFunc, options *client.Options) *client.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	if options == nil {
		options = &client.Options{}
	}
	options.BaseURL = server.URL + "/"
	if options.Retry == 0 {
		options.Retry = 40 * time.Millisecond
	}
	c, err := client.New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		server.CloseClientConnections()
		server.Close()
	})
	return c
}

func TestNew(t *testing.T) {
	for name, test := range map[string]struct {
		options *client.Options
		want    string // part of the error, empty for none
	}{
		"nothing":       {nil, "give a socket or a base URL"},
		"both":          {&client.Options{Socket: "/x", BaseURL: "http://localhost"}, "not both"},
		"socket":        {&client.Options{Socket: "/x"}, ""},
		"loopback":      {&client.Options{BaseURL: "http://127.0.0.1:8765", Token: "t"}, ""},
		"localhost":     {&client.Options{BaseURL: "http://localhost:8765/"}, ""},
		"six":           {&client.Options{BaseURL: "http://[::1]:8765"}, ""},
		"elsewhere":     {&client.Options{BaseURL: "http://192.0.2.1:8765", Token: "t"}, "only https is safe"},
		"a name":        {&client.Options{BaseURL: "http://localhost.example"}, "only https is safe"},
		"https":         {&client.Options{BaseURL: "https://example.com/hub"}, ""},
		"another":       {&client.Options{BaseURL: "ftp://127.0.0.1"}, "not of the form"},
		"no scheme":     {&client.Options{BaseURL: "127.0.0.1"}, "not of the form"},
		"token in it":   {&client.Options{BaseURL: "http://sb:secret@127.0.0.1"}, "has a place of its own"},
		"query":         {&client.Options{BaseURL: "http://127.0.0.1/?a=1"}, "more than an address"},
		"not to be had": {&client.Options{BaseURL: "http://%zz"}, "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := client.New(test.options)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("New: %v, want %q", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the error %q holds the password", err)
			}
		})
	}
}

func TestTLS(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"version":"v9"}`) }))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	for name, config := range map[string]*tls.Config{"a stranger": nil, "known": {RootCAs: roots}} {
		c, err := client.New(&client.Options{BaseURL: server.URL, Token: "sb_a_b", TLS: config})
		if err != nil {
			t.Fatal(err)
		}
		info, err := c.Info(t.Context())
		if (err == nil) != (config != nil) || err == nil && info.Version != "v9" {
			t.Errorf("%s: %v, %v", name, info, err)
		}
		c.Close()
	}
}

func TestErrors(t *testing.T) {
	for _, test := range []struct {
		name, kind, body string
		status           int
		want             api.Error
	}{
		{
			"ours", "application/problem+json", `{"status":409,"code":"already_settled","title":"T","hint":"H","question":{"id":"q","by":"anna"}}`, 409,
			api.Error{Status: 409, Code: api.CodeAlreadySettled, Title: "T", Hint: "H", Question: &api.Question{ID: "q", By: "anna"}},
		},
		{"a code of tomorrow", "application/problem+json; charset=utf-8", `{"code":"tired","title":"T","more":1}`, 418, api.Error{Status: 418, Code: "tired", Title: "T"}},
		{"a proxy", "text/html", "<h1>Bad Gateway</h1>", 502, api.Error{Status: 502, Code: api.CodeInternal, Title: "The server answered 502 Bad Gateway"}},
		{"another program", "text/plain", "404 page not found", 404, api.Error{Status: 404, Code: api.CodeNotFound, Title: "The server answered 404 Not Found"}},
		{"broken", "application/problem+json", `{"code":"inv`, 400, api.Error{Status: 400, Code: api.CodeInvalid, Title: "The server answered 400 Bad Request"}},
		{"redirect", "", "", 307, api.Error{Status: 307, Code: api.CodeInternal, Title: "The server answered 307 Temporary Redirect"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/elsewhere" {
					t.Error("the redirect was followed")
				}
				w.Header().Set("Content-Type", test.kind)
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(test.status)
				fmt.Fprint(w, test.body)
			}, nil)
			_, err := c.Session(t.Context(), "s")
			var e *api.Error
			if !errors.As(err, &e) {
				t.Fatalf("the error is %v", err)
			}
			if diff := cmp.Diff(test.want, *e); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestContextEnds(t *testing.T) {
	reached := make(chan struct{})
	c := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		// Only then does the server notice that its client leaves.
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Error(err)
		}
		close(reached)
		<-r.Context().Done()
	}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-reached; cancel() }()
	if _, err := c.Interrupt(ctx, "s", api.Interrupt{}); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

func TestNobodyThere(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	c, err := client.New(&client.Options{BaseURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Info(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "talking to the server: ") || !strings.Contains(err.Error(), "refused") {
		t.Errorf("the error is %v", err)
	}
}
