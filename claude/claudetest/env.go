package claudetest

import "os"

// apiKey is made up and no credential: no server but ours ever sees it. Its form is the real one because some CLIs look at the prefix before they use a key.
const apiKey = "sk-ant-api03-simulated-model-no-account"

// Env returns the whole environment for a real CLI that shall talk to the simulated model at modelURL and to no other host: the caller's PATH,
// home as its home folder, a made-up API key, and everything switched off that would call out by itself (telemetry, error reports, updates).
//
// Nothing else is inherited, on purpose: a developer's own settings, keys and proxies must not reach the CLI under test, nor the other way
// round. Append to the result what a test needs in addition.
func Env(home, modelURL string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + home,
		"ANTHROPIC_API_KEY=" + apiKey,
		"ANTHROPIC_BASE_URL=" + modelURL,
		"DISABLE_TELEMETRY=1",
		"DISABLE_ERROR_REPORTING=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_AUTOUPDATER=1",
		"DISABLE_BUG_COMMAND=1",
	}
}
