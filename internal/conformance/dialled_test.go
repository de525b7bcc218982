package conformance

import (
	"errors"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/claude/claudews"
)

// dialing returns the versions that dial a server of ours.
func dialing() []string { return []string{Oldest, LastDialing} }

// startWebSocket has a CLI dial a server of the test's own.
func startWebSocket(t *testing.T, cli *claude.CLI, options *claude.Options) dialled {
	t.Helper()
	return startDialled(t, cli, options, false)
}

// startHybrid has a CLI dial a server of the test's own and send its lines by POST.
func startHybrid(t *testing.T, cli *claude.CLI, options *claude.Options) dialled {
	t.Helper()
	peer := startDialled(t, cli, options, true)
	peer.insist = 2 * time.Second
	return peer
}

func startDialled(t *testing.T, cli *claude.CLI, options *claude.Options, post bool) dialled {
	t.Helper()
	const token, key = "made-up-token", "the-run"
	server, err := claudews.NewServer(&claudews.ServerOptions{Authorize: claudews.Tokens(map[string]string{token: key})})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	web := server.HTTPServer()
	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }()
	t.Cleanup(func() {
		if err := errors.Join(server.Close(), web.Close()); err != nil {
			t.Errorf("closing the server: %v", err)
		}
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("serving: %v", err)
		}
	})

	options.SDKURL = "ws://" + listener.Addr().String() + "/ws/cli/" + key
	options.SDKToken = token
	options.SDKPost = post
	process := start(t, cli, options)
	peer, err := server.Accept(impatient(t))
	if err != nil {
		t.Fatalf("waiting for the CLI to dial in: %v; it says: %s", err, process.Stderr())
	}
	if peer.Key() != key {
		t.Errorf("the CLI came as %q, want %q: its token was not recognized", peer.Key(), key)
	}
	return dialled{transport: peer, process: process}
}

// TestNewestRefusesToDial holds what shapes the whole project: since 2.1.121 no CLI dials a server that is not the vendor's, so package claude
// refuses to try.
func TestNewestRefusesToDial(t *testing.T) {
	cli := find(t, Newest)
	_, err := cli.Command(&claude.Options{SDKURL: "ws://127.0.0.1:1/ws/cli/x"})
	if _, ok := errors.AsType[*claude.UnsupportedError](err); !ok {
		t.Errorf("got %v, want an *UnsupportedError", err)
	}
}
