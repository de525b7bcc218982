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
	"sync/atomic"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/client"
)

// serveTLS starts a server with a certificate that no authority of this machine vouches for. It counts what it is asked.
func serveTLS(t *testing.T) (server *httptest.Server, requests *atomic.Int32) {
	t.Helper()
	requests = new(atomic.Int32)
	server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		fmt.Fprint(w, `{"version":"v9"}`)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return server, requests
}

func pinned(t *testing.T, url, pin string) *client.Client {
	t.Helper()
	c, err := client.New(&client.Options{BaseURL: url, Token: "sb_id_secret", Pin: pin, Retry: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestPin(t *testing.T) {
	server, requests := serveTLS(t)
	right := client.Fingerprint(server.Certificate())
	wrong := "sha256:" + strings.Repeat("A", 43)

	t.Run("none", func(t *testing.T) {
		var untrusted *tls.CertificateVerificationError
		if _, err := pinned(t, server.URL, "").Info(t.Context()); !errors.As(err, &untrusted) {
			t.Errorf("without a pin: %v, want a certificate that is not trusted", err)
		}
	})
	t.Run("wrong", func(t *testing.T) {
		_, err := pinned(t, server.URL, wrong).Info(t.Context())
		var refused *client.PinError
		if !errors.As(err, &refused) || refused.Want != wrong || refused.Got != right {
			t.Fatalf("with a wrong pin: %v", err)
		}
		for _, part := range []string{right, wrong, "switchboard status", "switchboard login"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("the error %q lacks %q", err, part)
			}
		}
	})
	t.Run("wrong, followed", func(t *testing.T) {
		// A pin does not become right by waiting.
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		for _, err := range pinned(t, server.URL, wrong).Follow(ctx, "s", nil) {
			if _, ok := errors.AsType[*client.PinError](err); !ok {
				t.Errorf("following with a wrong pin: %v", err)
			}
			break
		}
	})
	if n := requests.Load(); n != 0 {
		t.Errorf("%d requests, with their token, have reached a server that is not trusted", n)
	}
	t.Run("right", func(t *testing.T) {
		info, err := pinned(t, server.URL, right+"=\n").Info(t.Context())
		if err != nil || info.Version != "v9" {
			t.Errorf("with the right pin: %v, %v", info, err)
		}
	})
}

func TestNewPin(t *testing.T) {
	good := "sha256:" + strings.Repeat("A", 43)
	for name, test := range map[string]struct {
		url, pin string
		want     string // part of the error, empty for none
	}{
		"good":             {"https://hub.example", good, ""},
		"without TLS":      {"http://127.0.0.1:8765", good, "begins with https"},
		"no hash":          {"https://hub.example", strings.Repeat("A", 43), "a fingerprint is sha256:"},
		"too short":        {"https://hub.example", good[:len(good)-1], "a fingerprint is sha256:"},
		"too long":         {"https://hub.example", good + "A", "a fingerprint is sha256:"},
		"another alphabet": {"https://hub.example", good[:len(good)-1] + "+", "a fingerprint is sha256:"},
		"two for one key":  {"https://hub.example", good[:len(good)-1] + "B", "a fingerprint is sha256:"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := client.New(&client.Options{BaseURL: test.url, Pin: test.pin})
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("New: %v, want %q", err, test.want)
			}
		})
	}
	if _, err := client.New(&client.Options{Socket: "/x", Pin: good}); err == nil {
		t.Error("a pin for a socket was accepted")
	}
}

func TestLookAtCertificate(t *testing.T) {
	server, requests := serveTLS(t)
	t.Run("not trusted", func(t *testing.T) {
		got, err := client.LookAtCertificate(t.Context(), server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.Fingerprint != client.Fingerprint(server.Certificate()) || got.Untrusted == nil || len(got.Names) == 0 || got.NotAfter.IsZero() {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("trusted", func(t *testing.T) {
		roots := x509.NewCertPool()
		roots.AddCert(server.Certificate())
		got, err := client.LookAtCertificate(t.Context(), server.URL, &tls.Config{RootCAs: roots})
		if err != nil || got.Untrusted != nil {
			t.Errorf("got %+v, %v", got, err)
		}
		// The certificate is for 127.0.0.1 and example.com.
		got, err = client.LookAtCertificate(t.Context(), strings.Replace(server.URL, "127.0.0.1", "localhost", 1), &tls.Config{RootCAs: roots})
		if err != nil || got.Untrusted == nil {
			t.Errorf("for another host name: %+v, %v", got, err)
		}
	})
	t.Run("without TLS", func(t *testing.T) {
		if got, err := client.LookAtCertificate(t.Context(), "http://127.0.0.1:1", nil); got != nil || err != nil {
			t.Errorf("got %v, %v", got, err)
		}
		if _, err := client.LookAtCertificate(t.Context(), "http://hub.example", nil); err == nil {
			t.Error("http to another machine was accepted")
		}
	})
	if n := requests.Load(); n != 0 {
		t.Errorf("%d requests were made", n)
	}
}
