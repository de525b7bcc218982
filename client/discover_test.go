package client_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/client"
)

// portOf returns the port that a server listens on.
func portOf(t *testing.T, url string) int {
	t.Helper()
	_, port, err := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestDiscover(t *testing.T) {
	release := make(chan struct{})
	start := func(handler http.HandlerFunc) (string, int) {
		server := httptest.NewServer(handler)
		t.Cleanup(server.Close)
		return server.URL, portOf(t, server.URL)
	}
	sign := func(value string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet || r.URL.String() != "/healthz" || r.Header.Get("Authorization") != "" {
				t.Errorf("a probe %s %s %v", r.Method, r.URL, r.Header)
			}
			w.Header().Set("Switchboard", value)
			fmt.Fprintln(w, "ok")
		}
	}
	ours, first := start(sign("v1"))
	newer, second := start(sign("v2"))
	_, other := start(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	_, odd := start(sign("version <b>1"))
	_, zero := start(sign("v0"))
	_, failing := start(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Switchboard", "v1")
		w.WriteHeader(http.StatusForbidden)
	})
	_, elsewhere := start(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", ours+"/healthz")
		w.WriteHeader(http.StatusFound)
	})
	// It takes the connection and never says a word.
	_, slow := start(func(http.ResponseWriter, *http.Request) { <-release })
	t.Cleanup(func() { close(release) })
	gone := httptest.NewServer(http.NotFoundHandler())
	nobody := portOf(t, gone.URL)
	gone.Close()

	find := func(timeout time.Duration, ports ...int) []client.Found {
		t.Helper()
		found, err := client.Discover(t.Context(), &client.DiscoverOptions{Ports: ports, Sockets: []string{"/nonexistent/hub.sock"}, Timeout: timeout})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	want := []client.Found{{BaseURL: newer, API: "v2"}, {BaseURL: ours, API: "v1"}}
	if diff := cmp.Diff(want, find(time.Minute, other, second, odd, zero, failing, elsewhere, nobody, first)); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
	if found := find(50*time.Millisecond, slow); len(found) != 0 {
		t.Errorf("found %v", found)
	}
	if _, err := client.Discover(t.Context(), &client.DiscoverOptions{Ports: []int{70000}}); err == nil {
		t.Error("there is a port 70000")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := client.Discover(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}
