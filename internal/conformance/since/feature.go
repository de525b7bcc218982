package since

import (
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
)

// A Way says how a feature is tried.
type Way string

// The ways.
const (
	ByFlag   Way = "flag"
	ByAnswer Way = "answer"
	ByTurn   Way = "turn"
	ByName   Way = "name"
)

// A Feature is something that versions of the CLI have or do not have.
type Feature struct {
	Kind wire.FeatureKind
	Name string
	Way  Way

	// text is what the feature is tried with: a flag with its value, the members of a control request after its subtype, or the bytes that
	// the program is searched for.
	text string
}

// Key identifies the feature, in files.
func (f Feature) Key() string { return string(f.Kind) + " " + f.Name }

// A Finding is what one version says of a feature.
type Finding string

// The findings. A version of which nothing can be said is left out of the search.
const (
	Yes     Finding = "yes"
	No      Finding = "no"
	Unclear Finding = "unclear"
)

// Findings are what one version says of all features, by their keys.
type Findings map[string]Finding

// noSuchFlag and noSuchRequest are known to no version.
const (
	noSuchFlag    = "switchboard-no-such-flag"
	noSuchRequest = "switchboard_no_such_request"
)

// Names of features that are not named after a flag, request or event.
const (
	unknownAnswered = "unknown_request_answered"
	managedObeyed   = "managed_settings_obeyed"
	environmentSet  = "update_environment_variables"
	cancelTaken     = "control_cancel_request"
)

// Features returns everything that is tried, in the order of the table.
func Features() []Feature {
	return slices.Concat(flags(), modes(), requests(), initializeMembers(), answered(), hooks(), others())
}

// flags are the flags that options of package claude set. Their values are valid, so that a version that has the flag goes on to the next.
func flags() []Feature {
	var all []Feature
	for _, text := range []string{
		"add-dir=/", "agent=x", "allow-dangerously-skip-permissions", "allowedTools=Read", "await-initialize", "bare", "betas=x", "continue",
		"debug-file=/dev/null", "debug-to-stderr", "disable-slash-commands", "disallowedTools=Bash", "effort=high", "fallback-model=x", "fork-session",
		"forward-subagent-text", "include-hook-events", "include-partial-messages", "json-schema={}", "managed-settings={}", "max-budget-usd=1",
		"max-thinking-tokens=1000", "max-turns=1", "mcp-config={}", "model=x", "name=x", "no-session-persistence", "permission-mode=plan",
		"permission-prompt-tool=stdio", "permission-prompts=host", "plugin-dir=/", "plugin-dir-no-mcp=/", "project-config-root=/",
		"replay-user-messages", "resume=123e4567-e89b-42d3-a456-426614174000", "resume-drops-turn=123e4567-e89b-42d3-a456-426614174000",
		"resume-session-at=123e4567-e89b-42d3-a456-426614174000", "sdk-url=ws://127.0.0.1:1/", "session-id=123e4567-e89b-42d3-a456-426614174000",
		"session-mirror", "setting-sources=user", "settings={}", "strict-mcp-config", "task-budget=100000", "thinking=adaptive",
		"thinking-display=summarized", "tools=Read",
	} {
		name, _, _ := strings.Cut(text, "=")
		all = append(all, Feature{Kind: wire.FeatureFlag, Name: name, Way: ByFlag, text: "--" + text})
	}
	return all
}

// modes are the values of --permission-mode that not every version takes.
func modes() []Feature {
	var all []Feature
	for _, name := range []wire.PermissionMode{wire.PermissionModeAuto, wire.PermissionModeManual, wire.PermissionModeDelegate, wire.PermissionModeDontAsk} {
		all = append(all, Feature{Kind: wire.FeatureMode, Name: string(name), Way: ByFlag, text: "--permission-mode=" + string(name)})
	}
	return all
}

// requests are the control requests of a client, with bodies that do no harm in a temporary folder. They are sent in this order: those that
// take longer come last.
func requests() []Feature {
	const id = `"123e4567-e89b-42d3-a456-426614174000"`
	var all []Feature
	for _, r := range [][2]string{
		{"interrupt", ""},
		{"mcp_message", `"server_name":"nobody","message":{"jsonrpc":"2.0","method":"notifications/x"}`},
		{"set_permission_mode", `"mode":"default"`},
		{"set_model", `"model":"claude-sonnet-4-5"`},
		{"set_max_thinking_tokens", `"max_thinking_tokens":1000`},
		{"apply_flag_settings", `"settings":{}`},
		{"get_settings", ""},
		{"update_settings", `"source":"localSettings","settings":{}`},
		{"rename_session", `"title":"A title"`},
		{"set_color", `"color":"red"`},
		{"set_has_subscribers", `"has_subscribers":true`},
		{"cancel_async_message", `"message_uuid":` + id},
		{"rewind_files", `"dry_run":true,"user_message_id":` + id},
		{"stop_task", `"task_id":"nobody"`},
		{"background_tasks", ""},
		{"get_task_output", `"task_id":"nobody"`},
		{"get_session_cost", ""},
		{"list_models", ""},
		{"get_binary_version", ""},
		{"get_hooks_listing", ""},
		{"list_permission_rules", ""},
		{"file_suggestions", `"query":"x"`},
		{"read_file", `"path":"nothing"`},
		{"seed_read_state", `"path":"nothing","mtime":1`},
		{"register_repo_root", `"directory":"/nowhere"`},
		{"reload_plugins", ""},
		{"reload_skills", ""},
		{"reload_output_styles", ""},
		{"mcp_set_servers", `"servers":{}`},
		{"mcp_reconnect", `"serverName":"nobody"`},
		{"mcp_toggle", `"serverName":"nobody","enabled":true`},
		{"mcp_call", `"tool":"mcp__nobody__nothing","arguments":{}`},
		{"mcp_read_resource", `"serverName":"nobody","uri":"ui://nothing"`},
		{"set_mcp_permission_mode_override", `"serverName":"nobody","mode":"default"`},
		{"get_context_usage", ""},
		{"generate_session_title", `"description":"Nothing","persist":false`},
		{"side_question", `"question":"What time is it?"`},
		{"mcp_status", ""},
		{"end_session", ""},
	} {
		all = append(all, Feature{Kind: wire.FeatureRequest, Name: r[0], Way: ByAnswer, text: r[1]})
	}
	return append(all,
		Feature{Kind: wire.FeatureRequest, Name: "initialize", Way: ByAnswer},
		// It asks for the limits of a subscription, which a login has.
		Feature{Kind: wire.FeatureRequest, Name: "get_usage", Way: ByName, text: `"get_usage"`},
	)
}

// initializeMembers are the members of the initialize request that not every version reads. A CLI leaves out in silence what it does not know.
func initializeMembers() []Feature {
	var all []Feature
	for _, name := range []string{"excludeDynamicSections", "planModeInstructions", "skills", "systemPrompt[]", "title"} {
		all = append(all, Feature{Kind: wire.FeatureInitialize, Name: name, Way: ByTurn})
	}
	for _, name := range []string{
		"agentProgressSummaries", "forwardSubagentText", "perTaskStopAffordance", "promptSuggestions", "sdkMcpServerConfigs", "sdkMcpServerManifests",
		"supportedDialogKinds", "systemPromptSnapshot", "toolAliases",
	} {
		all = append(all, Feature{Kind: wire.FeatureInitialize, Name: name, Way: ByName, text: "." + name})
	}
	// The answer tells of these two.
	return append(all,
		Feature{Kind: wire.FeatureInitialize, Name: "plugins", Way: ByName, text: "plugins_applied"},
		Feature{Kind: wire.FeatureInitialize, Name: "hooks.onFailure", Way: ByName, text: "hook_on_failure_supported"},
	)
}

// answered are members of the answer to initialize.
func answered() []Feature {
	return []Feature{
		{Kind: wire.FeatureAnswer, Name: "pid", Way: ByAnswer},
		{Kind: wire.FeatureAnswer, Name: "agents", Way: ByAnswer},
	}
}

// hooks are the events. The program names them where it makes up what a hook is told.
func hooks() []Feature {
	var all []Feature
	for _, event := range []wire.HookEvent{
		wire.HookEventPreToolUse, wire.HookEventPostToolUse, wire.HookEventPostToolUseFailure, wire.HookEventPostToolBatch, wire.HookEventNotification,
		wire.HookEventUserPromptSubmit, wire.HookEventUserPromptExpansion, wire.HookEventSessionStart, wire.HookEventSessionEnd, wire.HookEventStop,
		wire.HookEventStopFailure, wire.HookEventSubagentStart, wire.HookEventSubagentStop, wire.HookEventPreCompact, wire.HookEventPostCompact,
		wire.HookEventPreModelSwitch, wire.HookEventPostModelSwitch, wire.HookEventPermissionRequest, wire.HookEventPermissionDenied,
		wire.HookEventSetup, wire.HookEventTeammateIdle, wire.HookEventTaskCreated, wire.HookEventTaskCompleted, wire.HookEventElicitation,
		wire.HookEventElicitationResult, wire.HookEventConfigChange, wire.HookEventWorktreeCreate, wire.HookEventWorktreeRemove,
		wire.HookEventInstructionsLoaded, wire.HookEventCwdChanged, wire.HookEventFileChanged, wire.HookEventDirectoryAdded, wire.HookEventMessageDisplay,
	} {
		all = append(all, Feature{Kind: wire.FeatureHook, Name: string(event), Way: ByName, text: `hook_event_name:"` + string(event) + `"`})
	}
	return all
}

// others are members of lines, whole lines, and what a CLI does.
func others() []Feature {
	return []Feature{
		{Kind: wire.FeatureMember, Name: "interrupt.cancel_queued", Way: ByName, text: "cancel_queued"},
		{Kind: wire.FeatureMember, Name: "user.client_composed", Way: ByName, text: "client_composed"},
		{Kind: wire.FeatureEnv, Name: "CLAUDE_CODE_QUESTION_PREVIEW_FORMAT", Way: ByName, text: "CLAUDE_CODE_QUESTION_PREVIEW_FORMAT"},
		{Kind: wire.FeatureLine, Name: cancelTaken, Way: ByAnswer},
		{Kind: wire.FeatureLine, Name: environmentSet, Way: ByTurn},
		{Kind: wire.FeatureBehavior, Name: unknownAnswered, Way: ByAnswer},
		{Kind: wire.FeatureBehavior, Name: managedObeyed, Way: ByAnswer},
	}
}
