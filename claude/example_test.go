package claude_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

// A program asks, is asked, and is told what came of it.
func Example() {
	ctx := context.Background()
	o := &claude.Options{OnQuestion: func(_ context.Context, q claude.Question) (claude.Reply, error) {
		if q, ok := q.(*claude.PermissionQuestion); ok && q.Tool == "Write" {
			return q.Allow(), nil
		}
		return q.Decline("Only files may be written."), nil
	}}
	defer simulate(o)()

	session, err := claude.Start(ctx, o)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	done, err := session.Ask(ctx, claude.Prompt{Text: "@tool Write {\"file_path\":\"notes.txt\",\"content\":\"one\"}\n@say Noted."})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(done.Answer)
	// Output: Noted.
}

// Below the sessions there are lines: a program starts a CLI, says something and
// reads until the CLI has ended.
func ExampleCLI_Start() {
	ctx := context.Background()

	// Without a path, Find looks in the usual places. Here the test itself
	// plays the CLI, so that the example runs anywhere.
	program, err := os.Executable()
	if err != nil {
		log.Fatal(err)
	}
	cli, err := claude.Find(ctx, &claude.FindOptions{Path: program, NoProbe: true})
	if err != nil {
		log.Fatal(err)
	}

	p, err := cli.Start(ctx, &claude.Options{Env: []string{"FAKE_CLI=answer"}})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()

	err = p.Write(ctx, []byte(`{"type":"user","message":{"role":"user","content":"Say hello."}}`))
	if err != nil {
		log.Fatal(err)
	}
	if err := p.CloseInput(); err != nil {
		log.Fatal(err)
	}
	for {
		line, err := p.Read(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		header, err := wire.Peek(line)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(string(header.Type))
	}
	// Output:
	// assistant
	// result
}

// What a version cannot do is said before anything is started.
func ExampleUnsupportedError() {
	cli := &claude.CLI{Args: []string{"claude"}, Version: wire.Version{Major: 2, Minor: 1, Patch: 37}}
	_, err := cli.Command(&claude.Options{AwaitInitialize: true})

	if unsupported, ok := errors.AsType[*claude.UnsupportedError](err); ok {
		fmt.Println(unsupported)
		fmt.Println("needed:", unsupported.Since)
	}
	// Output:
	// option AwaitInitialize (--await-initialize) is not supported by CLI 2.1.37, only since 2.1.261
	// needed: 2.1.261
}

// A variable is added to those that the CLI inherits.
func ExampleEnviron() {
	env := claude.Environ([]string{"PATH=/usr/bin", "CLAUDECODE=1", "ANTHROPIC_API_KEY=x"}, false)
	options := &claude.Options{Env: append(env, "MY_VARIABLE=1")}
	fmt.Println(options.Env)
	// Output: [PATH=/usr/bin MY_VARIABLE=1]
}
