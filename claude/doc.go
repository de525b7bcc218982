// Package claude starts Claude Code, or talks to one that is already there.
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
// docs/sdk.md goes through all of it, and docs/sdk-parity.md has every option,
// method, hook and message of the official SDKs with what it is called here.
//
// # What is said
//
// [Session.Events] are the messages of the CLI, for any number of readers, each at
// its own pace; [Session.Activity] is what happens without the protocol, with one
// completion for every turn; [Session.Lines] are the lines as they came. One
// goroutine reads the CLI, whether anybody reads the events or not: a slow reader
// holds up no question, no request and no other reader, and is told what it has
// missed ([ErrLagged]). Messages are types of package wire. What is newer than that
// is a *wire.Unknown, with its bytes.
//
// A prompt that comes during a turn waits in the session until the CLI is idle;
// [Prompt].Steer puts it into the turn. [Session.Interrupt] returns when the turn
// has ended, [Session.Finish] waits for work in the background, too.
//
// # What is asked
//
// The CLI asks for permissions, choices, approval of plans, forms and dialogs. Each
// is a [Question] with the replies that fit it. They go to Options.OnQuestion, or
// wait for [Session.Answer] if Options.Pull is set. Nothing is ever allowed by
// accident: where nobody answers, or a function fails or panics, permissions are
// denied with a message, forms declined and dialogs left alone.
//
// [Hooks] are called at 33 kinds of events. Tools of the program's own are servers
// of package claudemcp, in Options.MCPServers.
//
// # What a CLI is told and given
//
// [Find] locates the CLI and learns its version. Every option is checked against
// it before anything is started, and what a version cannot do is an
// [*UnsupportedError]. Options become arguments of the form --flag=value, or members
// of the initialize request. Prompts are never arguments, because everyone on the
// machine can read those; settings and MCP configurations go into files that only
// the user can read and that Close removes.
//
// The environment is the one of the program without the variables that
// [StrippedEnv] lists, or exactly [Options].Env, plus a few of ours. One of
// them is the marker [MarkerEnv].
//
// # What is kept
//
// The CLI keeps conversations on disk. [ListConversations], [ReadConversation],
// [ForkConversation] and others work on them without a CLI; Options.Resume goes on
// with one. A [SessionStore] keeps them somewhere else.
//
// # Below a session
//
// A [Transport] carries lines, one JSON object each, between the program and a CLI:
// a [Process] that [CLI.Start] has started, or one of package claudews for CLIs that
// dial in. [NewSession] makes a session of any of them. A [Conn] matches requests and
// answers and knows nothing of prompts and turns.
//
// # What is left behind
//
// Nothing, if the program calls [Session.Close] or [Process.Close] on Linux: they
// end the input, wait, send SIGTERM, wait, send SIGKILL, and then end what the CLI
// has started. The CLI runs shell commands in sessions of their own, which no
// process group reaches. They are found by the marker, which every process
// inherits with its environment, and by their descent as long as it can be
// seen. On macOS there is only the descent, so that what a CLI that died by
// itself has started is not found. On Windows the tree is ended by taskkill,
// but only if the CLI does not end by itself when it is asked to.
//
// If the program itself is killed, the CLI is told so by the kernel on Linux
// (PDEATHSIG) and ends. 2.1.325 takes its tools with it; 2.1.37 and 2.1.120
// leave a running tool behind, and [Sweep] with the run's marker ends it. On
// other systems a CLI notices the end of its input, finishes its turn and ends.
// What is also left behind then is the private directory with the settings,
// named switchboard-cli-* in [Options].TempDir.
package claude
