package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/internal/config"
	"github.com/switchboard-dev/switchboard/internal/node"
	"github.com/switchboard-dev/switchboard/internal/uplink"
)

// A wrapLink carries the link of a wrapped CLI to a hub elsewhere: a private socket, as the shim knows it, and behind it the hub's door over TLS.
type wrapLink struct {
	folder string
	server *http.Server
	done   sync.WaitGroup
}

// openWrapLink opens the socket. The hub need not be there yet. Its goroutine is joined by close.
func openWrapLink(ctx context.Context, at *remote) (_ *wrapLink, err error) {
	hub, err := uplink.New(uplink.Options{URL: at.hub.URL, Pin: at.hub.Pin})
	if err != nil {
		return nil, err
	}
	// The path of a socket must be short, whatever the folder for temporary files is. The folder is closed to others (mode 0700).
	temp := os.TempDir()
	if len(temp) > config.MaxSocket/2 {
		temp = "/tmp"
	}
	l := &wrapLink{}
	if l.folder, err = os.MkdirTemp(temp, "switchboard-"); err != nil {
		return nil, fmt.Errorf("making a folder for the link: %w", err)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "unix", l.socket())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making a socket for the link: %w", err), os.RemoveAll(l.folder))
	}
	links := hub.Links(node.TeePath, func(h http.Header) bool {
		h.Set(node.HeaderToken, at.hub.Token)
		return true
	})
	mux := http.NewServeMux()
	mux.Handle("GET /link", links)
	l.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	l.done.Go(func() { _ = l.server.Serve(listener) }) // it ends with close
	return l, nil
}

// socket is the path of the socket.
func (l *wrapLink) socket() string { return filepath.Join(l.folder, "hub.sock") }

// close closes the socket and removes it.
func (l *wrapLink) close() error {
	err := l.server.Close()
	l.done.Wait()
	return errors.Join(err, os.RemoveAll(l.folder))
}
