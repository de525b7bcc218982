package claudews_test

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http/httptest"

	"github.com/switchboard-dev/switchboard/claude/claudews"
)

// A server takes a CLI in that knows its run's token. The part of the CLI is
// played by a Client here; the real one is started with
//
//	CLAUDE_CODE_SESSION_ACCESS_TOKEN=TOKEN claude --sdk-url=ws://ADDRESS/ws/cli/demo …
func ExampleServer() {
	server, err := claudews.NewServer(&claudews.ServerOptions{
		Authorize: claudews.Tokens(map[string]string{"TOKEN": "demo"}),
	})
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	web := server.HTTPServer()
	go func() { _ = web.Serve(listener) }()
	defer web.Close()
	defer server.Close()

	ctx := context.Background()
	cli, err := claudews.Dial(ctx, "ws://"+listener.Addr().String()+"/ws/cli/demo", &claudews.DialOptions{Token: "TOKEN"})
	if err != nil {
		log.Fatal(err)
	}
	defer cli.Close()
	if err := cli.Write(ctx, []byte(`{"type":"system","subtype":"init"}`)); err != nil {
		log.Fatal(err)
	}

	peer, err := server.Accept(ctx)
	if err != nil {
		log.Fatal(err)
	}
	line, err := peer.Read(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s wrote %s\n", peer.Key(), line)
	// Output: demo wrote {"type":"system","subtype":"init"}
}

// An owner that keeps a journal acknowledges a line when it is safe there, and
// is told what happens between the lines.
func ExamplePeer_Receive() {
	server, err := claudews.NewServer(&claudews.ServerOptions{
		Authorize: claudews.Tokens(map[string]string{"TOKEN": "demo"}),
		OnEvent: func(p *claudews.Peer, e claudews.Event) {
			fmt.Printf("%s: %s\n", p.Key(), e.Kind)
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	web := httptest.NewServer(server)
	defer web.Close()
	defer server.Close()

	ctx := context.Background()
	cli, err := claudews.Dial(ctx, web.URL+"/ws/cli/demo", &claudews.DialOptions{Token: "TOKEN"})
	if err != nil {
		log.Fatal(err)
	}
	defer cli.Close()
	if err := cli.Write(ctx, []byte(`{"type":"result","subtype":"success"}`)); err != nil {
		log.Fatal(err)
	}

	peer, err := server.Accept(ctx)
	if err != nil {
		log.Fatal(err)
	}
	line, err := peer.Receive(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("journal: %s\n", line.Bytes)
	line.Ack()
	// Output:
	// demo: connected
	// journal: {"type":"result","subtype":"success"}
}

// An address of a Direct Connect server holds its token, and does not show it.
func ExampleParseAddress() {
	address, err := claudews.ParseAddress("cc://127.0.0.1:8765/TOKEN")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(address)
	// Output: http://127.0.0.1:8765
}
