//go:build unix

package client_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/client"
)

func TestSocket(t *testing.T) {
	dir, err := os.MkdirTemp("", "client") //nolint:usetesting // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "hub.sock")
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" || r.Header.Get("Origin") != "" {
			t.Errorf("the headers are %v", r.Header)
		}
		fmt.Fprint(w, `{"version":"v9"}`)
	})}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close(); <-done })

	c, err := client.New(&client.Options{Socket: path})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := c.Info(t.Context()); err != nil || info.Version != "v9" {
		t.Errorf("Info = %v, %v", info, err)
	}
	c.Close()
	// A folder in which others could have put the socket.
	if err := os.Chmod(dir, 0o770); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Info(t.Context()); err == nil || !strings.Contains(err.Error(), "others can change the folder") {
		t.Errorf("an open folder: %v", err)
	}
	missing, err := client.New(&client.Options{Socket: filepath.Join(dir, "none", "hub.sock")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := missing.Info(t.Context()); err == nil || !strings.Contains(err.Error(), "looking for the server") {
		t.Errorf("no socket: %v", err)
	}
}
