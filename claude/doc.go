// Package claude starts Claude Code, or talks to one that is already running.
//
// [Text] asks one prompt and returns the answer, [Query] yields everything that
// happens because of it, and [QueryAs] returns a value of a Go type. [Start] gives
// a [Session], which takes any number of prompts:
//
//	session, err := claude.Start(ctx, &claude.Options{OnQuestion: ask})
//	if err != nil {
//		return err
//	}
//	defer session.Close()
//	done, err := session.Ask(ctx, claude.Prompt{Text: "What is in this folder?"})
//	if err != nil {
//		return err
//	}
//	fmt.Println(done.Answer, done.Err())
//
// docs/sdk.md is a guide to the package. docs/sdk-parity.md maps every option,
// method, hook and message of the official SDKs to its name here.
//
// # Messages
//
// [Session.Events] yields the messages of the CLI, for any number of readers, each
// at its own pace. [Session.Activity] yields what happens without the protocol, with
// one completion for every turn. [Session.Lines] yields the lines as they came. One
// goroutine reads the CLI, whether or not anything reads the events: a slow reader
// delays no question, no request and no other reader, and learns what it has
// missed ([ErrLagged]). Messages are types of package wire. A message of a newer
// type is a *wire.Unknown, with its bytes.
//
// A prompt sent during a turn waits in the session until the CLI is idle;
// [Prompt].Steer sends it into the turn. [Session.Interrupt] returns when the turn
// has ended. [Session.Finish] also waits for work in the background.
//
// # Questions
//
// The CLI asks for permissions, choices, approval of plans, forms and dialogs. Each
// is a [Question] with the replies that fit it. Questions go to Options.OnQuestion,
// or wait for [Session.Answer] if Options.Pull is set. Nothing is ever allowed by
// accident: without an answer, or if the callback fails or panics, permissions are
// denied with a message, forms declined and dialogs left alone.
//
// [Hooks] are called for 33 kinds of events. The program's own tools are servers
// of package claudemcp, in Options.MCPServers.
//
// # Options and environment
//
// [Find] locates the CLI and learns its version. Every option is checked against
// it before anything is started, and what a version cannot do is an
// [*UnsupportedError]. Options become arguments of the form --flag=value, or members
// of the initialize request. Prompts are never arguments, because everyone on the
// machine can read those; settings and MCP configurations go into files that only
// the user can read and that Close removes.
//
// The CLI gets the program's environment without the variables in [StrippedEnv],
// or exactly [Options].Env, plus a few variables of this package. One of them is
// the marker [MarkerEnv].
//
// # Conversations
//
// The CLI stores conversations on disk. [ListConversations], [ReadConversation],
// [ForkConversation] and others work on them without a CLI; Options.Resume continues
// one. A [SessionStore] stores them somewhere else.
//
// # Below a session
//
// A [Transport] carries lines, one JSON object each, between the program and a CLI:
// a [Process] that [CLI.Start] has started, or one of package claudews for CLIs that
// dial in. [NewSession] makes a session of any of them. A [Conn] matches requests and
// responses and knows nothing about prompts and turns.
//
// # Cleaning up
//
// On Linux, [Session.Close] and [Process.Close] leave nothing behind: they end the
// input, wait, send SIGTERM, wait, send SIGKILL, and then end what the CLI has
// started. The CLI runs shell commands in sessions of their own, which no process
// group reaches. They are found by the marker, which every process inherits with
// its environment, and by their parents as long as these can be seen. macOS has
// only the parents, so processes started by a CLI that died on its own are not
// found. On Windows the tree is ended by taskkill, but only if the CLI does not
// exit when it is asked to.
//
// If the program itself is killed on Linux, the kernel signals the CLI (PDEATHSIG)
// and it exits. 2.1.325 ends its tools too; 2.1.37 and 2.1.120 leave a running tool
// behind, and [Sweep] with the run's marker ends it. On other systems a CLI notices
// the end of its input, finishes its turn and exits. The private folder with the
// settings, named switchboard-cli-* in [Options].TempDir, also remains then.
package claude
