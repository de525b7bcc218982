package flags

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
)

// help is our own text: the real one is not imitated.
const help = `Usage: claude [options] [prompt]

This is a simulated Claude Code CLI. It takes the flags of the version that it
imitates and speaks the protocol of --input-format=stream-json and
--output-format=stream-json over standard input and output, or over the
WebSocket that --sdk-url names. It never runs a tool.
`

var uuidPattern = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)

// check refuses what does not go together, in the order of the CLI.
func (f *Flags) check(v wire.Version) *ExitError {
	stream := f.OutputFormat == "stream-json"
	strict := v.AtLeast(2, 1, 325)
	for _, source := range f.SettingSources {
		if !slices.Contains([]string{"user", "project", "local"}, source) {
			return fail("Error processing --setting-sources: Invalid setting source: %s. Valid options are: user, project, local", source)
		}
	}
	if err := f.checkConversation(); err != nil {
		return err
	}
	if f.FallbackModel != "" && f.FallbackModel == f.Model && !strict {
		return fail("Error: Fallback model cannot be the same as the main model. Please specify a different model for --fallback-model.")
	}
	if f.AppendSystemPrompt != "" && f.Given["append-system-prompt-file"] && !strict {
		return fail("Error: Cannot use both --append-system-prompt and --append-system-prompt-file. Please use only one.")
	}
	if f.JSONSchema != "" && strict {
		switch {
		case !json.Valid([]byte(f.JSONSchema)):
			return fail("Error: --json-schema is not valid JSON")
		case !strings.HasPrefix(strings.TrimSpace(f.JSONSchema), "{"):
			return fail("Error: --json-schema must be a JSON object")
		}
	}
	if f.InputFormat == "stream-json" && !stream {
		return fail("Error: --input-format=stream-json requires output-format=stream-json.")
	}
	if err := f.checkURL(v); err != nil {
		return err
	}
	switch {
	case f.ReplayUserMessages && (!stream || f.InputFormat != "stream-json"):
		return fail("Error: --replay-user-messages requires both --input-format=stream-json and --output-format=stream-json.")
	case f.IncludePartialMessages && !stream:
		return fail("Error: --include-partial-messages requires --print and --output-format=stream-json.")
	case stream && !f.Verbose:
		return fail("Error: When using --print, --output-format=stream-json requires --verbose")
	case f.ResumeSessionAt != "" && !f.ResumeGiven:
		return fail("Error: --resume-session-at requires --resume")
	}
	return nil
}

// checkConversation refuses ids that cannot be used.
func (f *Flags) checkConversation() *ExitError {
	switch {
	case !f.Given["session-id"]:
		return nil
	case (f.ResumeGiven || f.Continue) && !f.ForkSession:
		return fail("Error: --session-id can only be used with --continue or --resume if --fork-session is also specified.")
	case !uuidPattern.MatchString(f.SessionID):
		return fail("Error: Invalid session ID. Must be a valid UUID.")
	}
	return nil
}

// checkURL refuses addresses to dial. From 2.1.121 on every one that is not the
// vendor's is refused, and the simulated CLI has no business there.
func (f *Flags) checkURL(v wire.Version) *ExitError {
	if !f.Given["sdk-url"] {
		return nil
	}
	if v.AtLeast(2, 1, 121) {
		const reserved = "This flag is reserved for Remote Control worker processes connecting to Anthropic's backend."
		u, err := url.Parse(f.SDKURL)
		if err != nil || u.Host == "" {
			return fail("Error: --sdk-url rejected: could not parse %q as a URL. %s", f.SDKURL, reserved)
		}
		return fail("Error: --sdk-url rejected: host %q is not an approved Anthropic endpoint. %s", u.Hostname(), reserved)
	}
	if f.InputFormat != "stream-json" || f.OutputFormat != "stream-json" {
		return fail("Error: --sdk-url requires both --input-format=stream-json and --output-format=stream-json.")
	}
	// Nothing is said about an address that cannot be dialled: the CLI just ends.
	if u, err := url.Parse(f.SDKURL); err != nil || u.Scheme != "ws" && u.Scheme != "wss" {
		return &ExitError{}
	}
	return nil
}

// CheckBypass refuses bypass mode for root outside a sandbox (IS_SANDBOX=1),
// with an [*ExitError]. It is nil if the launch has no bypass mode.
func (f *Flags) CheckBypass(root, sandbox bool) error {
	if f.BypassLaunched && root && !sandbox {
		return fail("--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons")
	}
	return nil
}
