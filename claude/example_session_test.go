package claude_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// A session takes any number of prompts. Any number of readers can read its events,
// each at its own pace.
func ExampleStart() {
	ctx := context.Background()
	o := &claude.Options{Model: "opus"}
	defer simulate(o)()

	session, err := claude.Start(ctx, o)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	if _, err := session.Send(ctx, claude.Prompt{Text: "@say Hello."}); err != nil {
		log.Fatal(err)
	}
	for event, err := range session.Events(ctx, 0) {
		if err != nil {
			log.Fatal(err)
		}
		if event.Header.Is("assistant", "") {
			fmt.Println("it says something")
		}
		if event.Header.Is("result", "") {
			fmt.Println("the turn is over")
			break
		}
	}
	// Output:
	// it says something
	// the turn is over
}

// Ask sends a prompt and waits for its outcome.
func ExampleSession_Ask() {
	ctx := context.Background()
	o := &claude.Options{}
	defer simulate(o)()

	session, err := claude.Start(ctx, o)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	for _, text := range []string{"@say Four.", "@say Five."} {
		done, err := session.Ask(ctx, claude.Prompt{Text: text})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(done.Turn, done.Answer, done.Costs.CostUSD > 0)
	}
	// Output:
	// 1 Four. true
	// 2 Five. true
}

// Send images and documents with a prompt.
func ExampleImage() {
	ctx := context.Background()
	o := &claude.Options{}
	defer simulate(o)()

	session, err := claude.Start(ctx, o)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	var picture, report []byte // the files' contents

	done, err := session.Ask(ctx, claude.Prompt{
		Text:    "@say The chart fits the report.",
		Content: []wire.Block{claude.Image("image/png", picture), claude.Document("application/pdf", "Report", report)},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(done.Answer)
	// Output: The chart fits the report.
}

// Activity hides the protocol, with one completion for every turn.
func ExampleSession_Activity() {
	ctx := context.Background()
	o := &claude.Options{AllowedTools: []string{"Bash(go test:*)"}}
	defer simulate(o)()

	session, err := claude.Start(ctx, o)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	if _, err := session.Send(ctx, claude.Prompt{Text: "@tool Bash {\"command\":\"go test ./...\"}\n@result ok\n@say All tests pass."}); err != nil {
		log.Fatal(err)
	}

	for activity, err := range session.Activity(ctx, 0) {
		if err != nil {
			log.Fatal(err)
		}
		switch a := activity.(type) {
		case *claude.TurnStarted:
			fmt.Println("turn", a.Turn)
		case *claude.ActionChanged:
			fmt.Println(a.Kind, a.Title, a.Phase)
		case *claude.TurnCompleted:
			fmt.Println(a.Answer)
			return
		case *claude.PromptDropped:
			fmt.Println("no turn for", a.ID, a.Err)
		}
	}
	// Output:
	// turn 1
	// command go test ./... started
	// command go test ./... completed
	// All tests pass.
}

// Print text while it is being written, piece by piece.
func ExampleEvent_Delta() {
	ctx := context.Background()
	o := &claude.Options{IncludePartialMessages: true}
	defer simulate(o)()

	for event, err := range claude.Query(ctx, "@say One two three.", o) {
		if err != nil {
			log.Fatal(err)
		}
		if delta, ok := event.Delta(); ok {
			fmt.Print(string(delta.Text))
		}
	}
	fmt.Println()
	// Output: One two three.
}

// Interrupt returns when the turn has really ended. The session continues.
func ExampleSession_Interrupt() {
	ctx := context.Background()
	o := &claude.Options{AllowedTools: []string{"Bash"}}
	defer simulate(o)()

	session, err := claude.Start(ctx, o)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	if _, err := session.Send(ctx, claude.Prompt{Text: "@tool Bash {\"command\":\"sleep 600\"}\n@say Never said."}); err != nil {
		log.Fatal(err)
	}
	if _, err := session.Await(ctx, fold.PhaseRunning); err != nil {
		log.Fatal(err)
	}

	if _, err := session.Interrupt(ctx); err != nil {
		log.Fatal(err)
	}
	done, err := session.Ask(ctx, claude.Prompt{Text: "@say And now this."})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(done.Answer)
	// Output: And now this.
}

// Prompts wait for their turn and can be taken back; with Steer they go into the
// running turn.
func ExampleSession_TakeBack() {
	ctx := context.Background()
	asked := make(chan struct{})
	o := &claude.Options{OnQuestion: func(_ context.Context, q claude.Question) (claude.Reply, error) {
		<-asked
		return q.Decline("Not now."), nil
	}}
	defer simulate(o)()

	session, err := claude.Start(ctx, o)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	if _, err := session.Send(ctx, claude.Prompt{Text: "@tool Bash {\"command\":\"make\"}\n@say First."}); err != nil {
		log.Fatal(err)
	}
	if _, err := session.Await(ctx, fold.PhaseRequiresAction); err != nil {
		log.Fatal(err)
	}

	later, err := session.Send(ctx, claude.Prompt{Text: "@say Second."}) // waits for a turn of its own
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("queued:", later.Queued, len(session.Queue()))
	if _, err := session.Send(ctx, claude.Prompt{Text: "Be brief.", Steer: true}); err != nil { // goes into this turn
		log.Fatal(err)
	}
	taken, err := session.TakeBack(ctx, later.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("taken back:", taken, len(session.Queue()))
	close(asked)
	if err := session.Finish(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// queued: true 1
	// taken back: true 0
}

// Resume a conversation in another process, by its id.
func ExampleOptions_resume() {
	ctx := context.Background()
	o := &claude.Options{}
	defer simulate(o)()

	session, err := claude.Start(ctx, o)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := session.Ask(ctx, claude.Prompt{Text: "@say Noted."}); err != nil {
		log.Fatal(err)
	}
	id := session.Info().Conversation
	if err := session.Close(); err != nil { // nothing of the transcript is lost
		log.Fatal(err)
	}

	o.Resume = id
	o.ForkSession = true // the old one stays as it is
	again, err := claude.Start(ctx, o)
	if err != nil {
		log.Fatal(err)
	}
	defer again.Close()
	if _, err := again.Ask(ctx, claude.Prompt{Text: "@say Going on."}); err != nil {
		log.Fatal(err)
	}
	fmt.Println("forked:", again.Info().Conversation != id)
	// Output: forked: true
}

// Errors have types that a program can act on.
func ExampleResultError() {
	ctx := context.Background()
	o := &claude.Options{MaxTurns: 1, AllowedTools: []string{"Read"}}
	defer simulate(o)()

	_, err := claude.Text(ctx, "@tool Read {\"file_path\":\"a\"}\n@say Too late.", o)
	login, isLogin := errors.AsType[*claude.LoginError](err)
	result, isResult := errors.AsType[*claude.ResultError](err)
	switch {
	case isLogin:
		fmt.Println("log in first:", login.Reason)
	case isResult && result.Subtype == wire.ResultSubtypeErrorMaxTurns:
		fmt.Println("it took too many turns")
	case err != nil:
		fmt.Println(err)
	}
	// Output: it took too many turns
}

// Read every line of the CLI unchanged, including control lines.
func ExampleSession_Lines() {
	ctx := context.Background()
	o := &claude.Options{}
	defer simulate(o)()

	session, err := claude.Start(ctx, o)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := session.Ask(ctx, claude.Prompt{Text: "@say Hello."}); err != nil {
		log.Fatal(err)
	}
	if err := session.Close(); err != nil {
		log.Fatal(err)
	}
	for line, err := range session.Lines(ctx, 0) { // also after the end
		if err != nil {
			break
		}
		if line.Header.Is("control_response", "") || line.Header.Is("result", "") {
			fmt.Println(string(line.Header.Type), len(line.Bytes) > 0)
		}
	}
	// Output:
	// control_response true
	// result true
}

// Variables of a running CLI are changed where its version obeys: the tools that it
// starts from then on see them. The simulated CLI of this example is a newer one, which
// takes its own tokens alone.
func ExampleSession_UpdateEnvironment() {
	ctx := context.Background()
	o := &claude.Options{}
	defer simulate(o)()

	session, err := claude.Start(ctx, o)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	err = session.UpdateEnvironment(ctx, map[string]string{"LANG": "C"})
	var unsupported *claude.UnsupportedError
	fmt.Println(errors.As(err, &unsupported))
	fmt.Println(session.UpdateEnvironment(ctx, map[string]string{"CLAUDE_CODE_OAUTH_TOKEN": "from a safe place"}))
	// Output:
	// true
	// <nil>
}
