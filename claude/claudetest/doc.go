// Package claudetest simulates a Claude Code CLI and its model, so that programs that drive a CLI can be tested without an account.
//
// [Model] is a simulated model: an HTTP server on loopback that speaks the Messages API as far as the CLI uses it. A script decides what the
// model says; everything the CLI asked is recorded. [Env] is the environment that makes a real CLI talk to such a model, and to nothing else:
//
//	model := claudetest.NewModel(&claudetest.ModelOptions{
//		Script: claudetest.Steps(
//			claudetest.Say(claudetest.Tool("Bash", map[string]any{"command": "touch done"})),
//			claudetest.Say(claudetest.Text("All done.")),
//		),
//	})
//	defer model.Close()
//	cmd.Env = claudetest.Env(home, model.URL())
//
// # Scripts
//
// A script is a function from a [Request] to a [Reply]. There are three ways to get one:
//
//   - [Steps] answers one conversation with a list of replies, and [Rules] any number of them, depending on the user's prompt.
//   - [Directives] follows directives in the prompt itself, in lines such as "@say hello" or "@tool Bash {"command":"ls"}".
//   - Your own function: it sees the whole conversation, the results of the tools ([Request.ToolResults]) and whether the CLI asks
//     again after an error ([Request.Attempt]).
//
// The CLI asks a model for more than the user's turns: titles, summaries, the prefix of a shell command, whether the account works at all.
// Such side requests never reach the script; see [Kind].
//
// # Replies
//
// A reply is a message of [Text], [Thinking], [RedactedThinking], [Tool] and [Huge] blocks with a stop reason and token counts, or one of the
// ways in which a model can fail. All of them work for streamed and for complete responses:
//
//	claudetest.Fail(529, "").WithHeader("retry-after", "1")                              // an HTTP error in the API's form
//	claudetest.Reply{Blocks: blocks, Delay: 50 * time.Millisecond}                       // slow tokens
//	claudetest.Reply{Blocks: blocks, Fault: claudetest.CutAfter(3)}                      // the connection closes midway
//	claudetest.Reply{Blocks: blocks, Fault: claudetest.MalformedAfter(3, "")}            // an event that is not JSON
//	claudetest.Reply{Blocks: blocks, Fault: claudetest.ErrorAfter(3, overloaded)}        // an error event in the stream
//	claudetest.Reply{Blocks: blocks, StopReason: claudetest.StopMaxTokens}               // a response that is too long
//	claudetest.Say(claudetest.Huge(100_000_000))                                         // a great deal of text
//
// A CLI retries after most errors. A model that fails at first and then recovers is a script that looks at the attempt:
//
//	func(r claudetest.Request) claudetest.Reply {
//		if r.Attempt <= 2 {
//			return claudetest.Fail(529, "")
//		}
//		return claudetest.Say(claudetest.Text("Back again."))
//	}
//
// # Limits
//
// The model ignores max_tokens and keys, does not check whether a conversation is well formed, and estimates token counts unless the
// script gives them. It accepts requests of up to 256 MiB and remembers the last ones, see [Model.Requests].
package claudetest
