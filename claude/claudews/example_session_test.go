package claudews_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/claude/claudews"
)

// A session with a CLI that dials in. With claudews.Connect in place of Accept it
// is one on a Direct Connect server.
func ExampleServer_Accept() {
	ctx := context.Background()
	server, err := claudews.NewServer(&claudews.ServerOptions{
		Authorize: claudews.Tokens(map[string]string{"TOKEN": "demo"}),
	})
	if err != nil {
		log.Fatal(err)
	}
	web := httptest.NewServer(server)
	defer web.Close()
	defer server.Close()
	defer dial("ws" + strings.TrimPrefix(web.URL, "http") + "/ws/cli/demo")()

	peer, err := server.Accept(ctx)
	if err != nil {
		log.Fatal(err)
	}
	session, err := claude.NewSession(ctx, peer, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	done, err := session.Ask(ctx, claude.Prompt{Text: "@say Hello from far away."})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(done.Answer)
	// Output: Hello from far away.
}

// dial starts a simulated CLI that dials an address, as one of a version up to
// 2.1.120 does with --sdk-url. The function that it returns waits for its end.
func dial(address string) (wait func()) {
	home, err := os.MkdirTemp("", "claudews-example-")
	if err != nil {
		log.Fatal(err)
	}
	quirks, err := claudetest.QuirksFor("2.1.120")
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		claudetest.RunSim(ctx, &claudetest.SimOptions{
			Quirks: &quirks,
			Args:   []string{"--sdk-url", address, "--print", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json"},
			Env:    []string{"HOME=" + home, "CLAUDE_CODE_SESSION_ACCESS_TOKEN=TOKEN"},
			Dir:    home,
		}, strings.NewReader(""), io.Discard)
	}()
	return func() {
		cancel()
		<-ended
		_ = os.RemoveAll(home)
	}
}
