package launch

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/claude"
)

// The reasons for which a flag is ours.
const (
	forProtocol     = "the hub speaks with the CLI by it"
	forQuestions    = "it says who is asked for permissions, and that is the hub"
	forRules        = "it can set the hub's own rules aside"
	forElsewhere    = "the CLI would leave this machine"
	forConversation = "it chooses the conversation, which the hub has to know; create, resume or fork the session instead"
)

// ownedFlags are the flags that a session cannot give as they like: with the
// reason why they are ours, or the option that sets them.
var ownedFlags = map[string]string{
	"input-format":                       forProtocol,
	"output-format":                      forProtocol,
	"print":                              forProtocol,
	"verbose":                            forProtocol,
	"sdk-url":                            forProtocol,
	"await-initialize":                   forProtocol,
	"await-claim":                        forProtocol,
	"replay-user-messages":               forProtocol,
	"include-partial-messages":           forProtocol,
	"session-mirror":                     forProtocol,
	"permission-prompt-tool":             forQuestions,
	"permission-prompts":                 forQuestions,
	"resume":                             forConversation,
	"continue":                           forConversation,
	"fork-session":                       forConversation,
	"session-id":                         forConversation,
	"resume-session-at":                  forConversation,
	"resume-drops-turn":                  forConversation,
	"from-pr":                            forConversation,
	"worktree":                           "it changes the folder that the agent works in, which the hub has to know; create the session in that folder",
	"dangerously-skip-permissions":       "use the option permission_mode",
	"permission-mode":                    "use the option permission_mode",
	"inherit-permission-mode":            "use the option permission_mode",
	"managed-settings":                   forRules,
	"managed-settings-in-initialize":     forRules,
	"rewind-files":                       "it restores files and ends; rewind the session instead",
	"rc":                                 forElsewhere,
	"remote":                             forElsewhere,
	"attach-serve":                       forElsewhere,
	"allow-dangerously-skip-permissions": "use the option allow_bypass",
	"add-dir":                            "use the option add_dirs",
	"agent":                              "use the option agent",
	"agents":                             "use the option agents",
	"allowedTools":                       "use the option allowed_tools",
	"allowed-tools":                      "use the option allowed_tools",
	"append-system-prompt":               "use the option append_system_prompt",
	"betas":                              "use the option betas",
	"disallowedTools":                    "use the option disallowed_tools",
	"disallowed-tools":                   "use the option disallowed_tools",
	"effort":                             "use the option effort",
	"fallback-model":                     "use the option fallback_model",
	"forward-subagent-text":              "use the option forward_subagent_text",
	"include-hook-events":                "use the option include_hook_events",
	"json-schema":                        "use the option json_schema",
	"max-budget-usd":                     "use the option max_budget_usd",
	"max-thinking-tokens":                "use the option max_thinking_tokens",
	"max-turns":                          "use the option max_turns",
	"mcp-config":                         "use the option mcp_servers",
	"model":                              "use the option model",
	"name":                               "use the option name",
	"no-session-persistence":             "use the option no_persistence",
	"plugin-dir":                         "use the option plugin_dirs",
	"setting-sources":                    "use the option setting_sources",
	"settings":                           "use the option settings",
	"strict-mcp-config":                  "use the option strict_mcp",
	"system-prompt":                      "use the option system_prompt",
	"task-budget":                        "use the option task_budget",
	"thinking":                           "use the option thinking",
	"tools":                              "use the option tools",
}

// flagName is what the name of a flag looks like, without its dashes.
var flagName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*$`)

// rawFlags adds flags that were given as they are. Those that package claude knows
// are given to it as options, so that it can say which versions have them.
func (l *Launcher) rawFlags(flags map[string]*string, o *claude.Options) error {
	if len(flags) == 0 {
		return nil
	}
	if !l.config.RawFlags {
		return &StartError{
			Code: Forbidden, Reason: "raw flags are not allowed on this hub", Hint: "set raw_flags = true in section [agents] of the configuration",
		}
	}
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		refuse := func(reason string) error {
			return &StartError{Code: BadOption, Reason: fmt.Sprintf("option extra_args: --%.40s is refused: %s", name, reason)}
		}
		if !flagName.MatchString(name) { // or a value in it would hide which flag it is
			return &StartError{Code: BadOption, Reason: fmt.Sprintf("option extra_args: %.40q is not the name of a flag", name)}
		}
		if reason, owned := ownedFlags[name]; owned {
			return refuse(reason)
		}
		if strings.Contains(name, "dangerously") { // whatever a later version calls so
			return refuse("what is not asked for any more is set by the option permission_mode")
		}
		value := flags[name]
		text, isSet := knownText(name, o), knownSwitch(name, o)
		switch {
		case text != nil && value == nil:
			return refuse("it needs a value")
		case text != nil:
			text(*value)
		case isSet != nil && value != nil:
			return refuse("it takes no value")
		case isSet != nil:
			*isSet = true
		case value == nil:
			o.ExtraArgs = append(o.ExtraArgs, "--"+name)
		default:
			o.ExtraArgs = append(o.ExtraArgs, "--"+name+"="+*value)
		}
	}
	return nil
}

// knownText returns what sets a flag with a value that package claude has an
// option for and sessions have not; nil for others.
func knownText(name string, o *claude.Options) func(string) {
	switch name {
	case "thinking-display":
		return func(v string) { o.ThinkingDisplay = v }
	case "project-config-root":
		return func(v string) { o.ProjectConfigRoot = v }
	case "plugin-dir-no-mcp":
		return func(v string) { o.PluginDirsNoMCP = []string{v} }
	case "debug-file":
		return func(v string) { o.DebugFile = v }
	}
	return nil
}

// knownSwitch is the same for a flag without a value.
func knownSwitch(name string, o *claude.Options) *bool {
	switch name {
	case "bare":
		return &o.Bare
	case "disable-slash-commands":
		return &o.DisableSlashCommands
	}
	return nil
}
