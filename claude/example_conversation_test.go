package claude_test

import (
	"context"
	"fmt"
	"log"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/wire"
)

// List earlier conversations, newest first.
func ExampleListConversations() {
	ctx := context.Background()
	o := &claude.Options{SessionID: "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"}
	defer simulate(o)()
	if _, err := claude.Text(ctx, "@say The first answer.", o); err != nil {
		log.Fatal(err)
	}
	where := claude.ConversationOptions{ConfigDir: configDir(o), Dir: o.Dir}

	if err := claude.RenameConversation(ctx, o.SessionID, "A fine talk", &where); err != nil {
		log.Fatal(err)
	}
	for c, err := range claude.ListConversations(ctx, &claude.ListOptions{ConversationOptions: where, Limit: 10}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(c.Summary(), c.ID)
	}
	// Output: A fine talk 6f9619ff-8b86-4d01-b42d-00cf4fc964ff
}

// Read a conversation, and fork it at a message.
func ExampleReadConversation() {
	ctx := context.Background()
	o := &claude.Options{SessionID: "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"}
	defer simulate(o)()
	if _, err := claude.Text(ctx, "@say The first answer.", o); err != nil {
		log.Fatal(err)
	}
	where := claude.ConversationOptions{ConfigDir: configDir(o), Dir: o.Dir}

	var last string
	for m, err := range claude.ReadConversation(ctx, o.SessionID, &claude.ReadOptions{ConversationOptions: where}) {
		if err != nil {
			log.Fatal(err)
		}
		if assistant, ok := m.Message.(*wire.Assistant); ok {
			fmt.Println(assistant.Message.Content[0].(*wire.TextBlock).Text)
		}
		last = m.UUID
	}
	id, err := claude.ForkConversation(ctx, o.SessionID, &claude.ForkOptions{ConversationOptions: where, UpTo: last, Title: "Another way"})
	if err != nil {
		log.Fatal(err)
	}
	fork, err := claude.ConversationInfoOf(ctx, id, &where)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(fork.Title)
	// Output:
	// The first answer.
	// Another way
}

// Keep a conversation in a store, and resume it from there. A session with
// Options.Store copies its transcript automatically; here an existing conversation
// is imported.
func ExampleSessionStore() {
	ctx := context.Background()
	o := &claude.Options{SessionID: "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"}
	defer simulate(o)()
	if _, err := claude.Text(ctx, "@say Remembered.", o); err != nil {
		log.Fatal(err)
	}
	where := claude.ConversationOptions{ConfigDir: configDir(o), Dir: o.Dir}

	store := &claude.MemoryStore{} // in your program, a database
	err := claude.ImportConversation(ctx, o.SessionID, store, &claude.ImportOptions{ConversationOptions: where})
	if err != nil {
		log.Fatal(err)
	}
	if err := claude.DeleteConversation(ctx, o.SessionID, &where); err != nil { // it is in the store now
		log.Fatal(err)
	}

	o.Store, o.Resume, o.SessionID = store, o.SessionID, ""
	answer, err := claude.Text(ctx, "@say Here again.", o)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer)
	// Output: Here again.
}

// A session runs on anything that carries lines: a CLI that dialed in (package
// claudews), one in a container, or, as here, a simulated one inside the program.
func ExampleNewSession() {
	ctx := context.Background()
	session, err := claude.NewSession(ctx, claudetest.StartSim(nil), nil)
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
