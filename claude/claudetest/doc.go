// Package claudetest stands in for what a Claude Code CLI talks to, so that a program that drives one can be tested without an account.
//
// [Model] is a simulated model: an HTTP server on loopback that speaks the Messages API as far as the CLI uses it. A script written in Go
// decides what the model says; everything the CLI asked is recorded. [Env] is the environment that makes a real CLI talk to such a model, and
// to nothing else:
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
// The CLI asks a model for more than the user's turns: titles, summaries, the prefix of a shell command, whether the account works at all.
// Such side requests never reach the script; see [Kind].
package claudetest
