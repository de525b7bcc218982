// Code generated from schema/features.tsv by wire/internal/gen. DO NOT EDIT.

package wire

// triedVersions returns the oldest and the newest version that were tried.
func triedVersions() (first, last Version) { return Version{2, 1, 37}, Version{2, 1, 325} }

// featureOf returns the row of a feature.
func featureOf(kind FeatureKind, name string) Feature {
	switch kind {
	case FeatureFlag:
		switch name {
		case "add-dir":
			return Feature{Since: Version{2, 1, 37}}
		case "agent":
			return Feature{Since: Version{2, 1, 37}}
		case "allow-dangerously-skip-permissions":
			return Feature{Since: Version{2, 1, 37}}
		case "allowedTools":
			return Feature{Since: Version{2, 1, 37}}
		case "await-initialize":
			return Feature{Without: Version{2, 1, 260}, Since: Version{2, 1, 261}}
		case "bare":
			return Feature{Without: Version{2, 1, 80}, Since: Version{2, 1, 81}}
		case "betas":
			return Feature{Since: Version{2, 1, 37}}
		case "continue":
			return Feature{Since: Version{2, 1, 37}}
		case "debug-file":
			return Feature{Since: Version{2, 1, 37}}
		case "debug-to-stderr":
			return Feature{Since: Version{2, 1, 37}}
		case "disable-slash-commands":
			return Feature{Since: Version{2, 1, 37}}
		case "disallowedTools":
			return Feature{Since: Version{2, 1, 37}}
		case "effort":
			return Feature{Without: Version{2, 1, 37}, Since: Version{2, 1, 38}}
		case "fallback-model":
			return Feature{Since: Version{2, 1, 37}}
		case "fork-session":
			return Feature{Since: Version{2, 1, 37}}
		case "forward-subagent-text":
			return Feature{Without: Version{2, 1, 210}, Since: Version{2, 1, 211}}
		case "include-hook-events":
			return Feature{Without: Version{2, 1, 87}, Since: Version{2, 1, 88}}
		case "include-partial-messages":
			return Feature{Since: Version{2, 1, 37}}
		case "json-schema":
			return Feature{Since: Version{2, 1, 37}}
		case "managed-settings":
			return Feature{Without: Version{2, 1, 117}, Since: Version{2, 1, 118}}
		case "max-budget-usd":
			return Feature{Since: Version{2, 1, 37}}
		case "max-thinking-tokens":
			return Feature{Since: Version{2, 1, 37}}
		case "max-turns":
			return Feature{Since: Version{2, 1, 37}}
		case "mcp-config":
			return Feature{Since: Version{2, 1, 37}}
		case "model":
			return Feature{Since: Version{2, 1, 37}}
		case "name":
			return Feature{Without: Version{2, 1, 75}, Since: Version{2, 1, 76}}
		case "no-session-persistence":
			return Feature{Since: Version{2, 1, 37}}
		case "permission-mode":
			return Feature{Since: Version{2, 1, 37}}
		case "permission-prompt-tool":
			return Feature{Since: Version{2, 1, 37}}
		case "permission-prompts":
			return Feature{Without: Version{2, 1, 258}, Since: Version{2, 1, 259}}
		case "plugin-dir":
			return Feature{Since: Version{2, 1, 37}}
		case "plugin-dir-no-mcp":
			return Feature{Without: Version{2, 1, 170}, Since: Version{2, 1, 172}}
		case "project-config-root":
			return Feature{Without: Version{2, 1, 274}, Since: Version{2, 1, 275}}
		case "replay-user-messages":
			return Feature{Since: Version{2, 1, 37}}
		case "resume":
			return Feature{Since: Version{2, 1, 37}}
		case "resume-drops-turn":
			return Feature{Without: Version{2, 1, 222}, Since: Version{2, 1, 223}}
		case "resume-session-at":
			return Feature{Since: Version{2, 1, 37}}
		case "sdk-url":
			return Feature{Since: Version{2, 1, 37}}
		case "session-id":
			return Feature{Since: Version{2, 1, 37}}
		case "session-mirror":
			return Feature{Without: Version{2, 1, 96}, Since: Version{2, 1, 97}}
		case "setting-sources":
			return Feature{Since: Version{2, 1, 37}}
		case "settings":
			return Feature{Since: Version{2, 1, 37}}
		case "strict-mcp-config":
			return Feature{Since: Version{2, 1, 37}}
		case "task-budget":
			return Feature{Without: Version{2, 1, 83}, Since: Version{2, 1, 84}}
		case "thinking":
			return Feature{Without: Version{2, 1, 45}, Since: Version{2, 1, 47}}
		case "thinking-display":
			return Feature{Without: Version{2, 1, 92}, Since: Version{2, 1, 94}}
		case "tools":
			return Feature{Since: Version{2, 1, 37}}
		}
	case FeatureMode:
		switch name {
		case "auto":
			return Feature{Without: Version{2, 1, 70}, Since: Version{2, 1, 71}}
		case "manual":
			return Feature{Without: Version{2, 1, 199}, Since: Version{2, 1, 200}}
		case "delegate":
			return Feature{Since: Version{2, 1, 37}, Until: Version{2, 1, 45}, Gone: Version{2, 1, 47}}
		case "dontAsk":
			return Feature{Since: Version{2, 1, 37}}
		}
	case FeatureRequest:
		switch name {
		case "interrupt":
			return Feature{Since: Version{2, 1, 37}}
		case "mcp_message":
			return Feature{Since: Version{2, 1, 37}}
		case "set_permission_mode":
			return Feature{Since: Version{2, 1, 37}}
		case "set_model":
			return Feature{Since: Version{2, 1, 37}}
		case "set_max_thinking_tokens":
			return Feature{Since: Version{2, 1, 37}}
		case "apply_flag_settings":
			return Feature{Without: Version{2, 1, 49}, Since: Version{2, 1, 50}}
		case "get_settings":
			return Feature{Without: Version{2, 1, 68}, Since: Version{2, 1, 69}}
		case "update_settings":
			return Feature{Without: Version{2, 1, 252}, Since: Version{2, 1, 257}}
		case "rename_session":
			return Feature{Without: Version{2, 1, 148}, Since: Version{2, 1, 149}}
		case "set_color":
			return Feature{Without: Version{2, 1, 325}}
		case "set_has_subscribers":
			return Feature{Without: Version{2, 1, 318}, Since: Version{2, 1, 319}}
		case "cancel_async_message":
			return Feature{Without: Version{2, 1, 75}, Since: Version{2, 1, 76}}
		case "rewind_files":
			return Feature{Since: Version{2, 1, 37}}
		case "stop_task":
			return Feature{Without: Version{2, 1, 40}, Since: Version{2, 1, 41}}
		case "background_tasks":
			return Feature{Without: Version{2, 1, 138}, Since: Version{2, 1, 139}}
		case "get_task_output":
			return Feature{Without: Version{2, 1, 286}, Since: Version{2, 1, 287}}
		case "get_session_cost":
			return Feature{Without: Version{2, 1, 117}, Since: Version{2, 1, 118}}
		case "list_models":
			return Feature{Without: Version{2, 1, 197}, Since: Version{2, 1, 198}}
		case "get_binary_version":
			return Feature{Without: Version{2, 1, 118}, Since: Version{2, 1, 119}}
		case "get_hooks_listing":
			return Feature{Without: Version{2, 1, 268}, Since: Version{2, 1, 269}}
		case "list_permission_rules":
			return Feature{Without: Version{2, 1, 268}, Since: Version{2, 1, 269}}
		case "file_suggestions":
			return Feature{Without: Version{2, 1, 123}, Since: Version{2, 1, 124}}
		case "read_file":
			return Feature{Without: Version{2, 1, 114}, Since: Version{2, 1, 116}}
		case "seed_read_state":
			return Feature{Without: Version{2, 1, 81}, Since: Version{2, 1, 83}}
		case "register_repo_root":
			return Feature{Without: Version{2, 1, 165}, Since: Version{2, 1, 166}}
		case "reload_plugins":
			return Feature{Without: Version{2, 1, 84}, Since: Version{2, 1, 85}}
		case "reload_skills":
			return Feature{Without: Version{2, 1, 162}, Since: Version{2, 1, 163}}
		case "reload_output_styles":
			return Feature{Without: Version{2, 1, 260}, Since: Version{2, 1, 261}}
		case "mcp_set_servers":
			return Feature{Since: Version{2, 1, 37}}
		case "mcp_reconnect":
			return Feature{Since: Version{2, 1, 37}}
		case "mcp_toggle":
			return Feature{Since: Version{2, 1, 37}}
		case "mcp_call":
			return Feature{Without: Version{2, 1, 114}, Since: Version{2, 1, 116}}
		case "mcp_read_resource":
			return Feature{Without: Version{2, 1, 278}, Since: Version{2, 1, 280}}
		case "set_mcp_permission_mode_override":
			return Feature{Without: Version{2, 1, 181}, Since: Version{2, 1, 182}}
		case "get_context_usage":
			return Feature{Without: Version{2, 1, 85}, Since: Version{2, 1, 86}}
		case "generate_session_title":
			return Feature{Without: Version{2, 1, 73}, Since: Version{2, 1, 74}}
		case "side_question":
			return Feature{Without: Version{2, 1, 78}, Since: Version{2, 1, 79}}
		case "mcp_status":
			return Feature{Since: Version{2, 1, 37}}
		case "end_session":
			return Feature{Without: Version{2, 1, 71}, Since: Version{2, 1, 72}}
		case "initialize":
			return Feature{Since: Version{2, 1, 37}}
		case "get_usage":
			return Feature{Without: Version{2, 1, 168}, Since: Version{2, 1, 169}}
		}
	case FeatureInitialize:
		switch name {
		case "excludeDynamicSections":
			return Feature{Without: Version{2, 1, 96}, Since: Version{2, 1, 97}}
		case "planModeInstructions":
			return Feature{Without: Version{2, 1, 117}, Since: Version{2, 1, 118}}
		case "skills":
			return Feature{Without: Version{2, 1, 114}, Since: Version{2, 1, 116}}
		case "systemPrompt[]":
			return Feature{Without: Version{2, 1, 109}, Since: Version{2, 1, 110}}
		case "title":
			return Feature{Without: Version{2, 1, 112}, Since: Version{2, 1, 113}}
		case "agentProgressSummaries":
			return Feature{Without: Version{2, 1, 71}, Since: Version{2, 1, 72}}
		case "forwardSubagentText":
			return Feature{Without: Version{2, 1, 118}, Since: Version{2, 1, 119}}
		case "perTaskStopAffordance":
			return Feature{Without: Version{2, 1, 245}, Since: Version{2, 1, 246}}
		case "promptSuggestions":
			return Feature{Without: Version{2, 1, 47}, Since: Version{2, 1, 48}}
		case "sdkMcpServerConfigs":
			return Feature{Without: Version{2, 1, 247}, Since: Version{2, 1, 248}}
		case "sdkMcpServerManifests":
			return Feature{Without: Version{2, 1, 263}, Since: Version{2, 1, 265}}
		case "supportedDialogKinds":
			return Feature{Without: Version{2, 1, 168}, Since: Version{2, 1, 169}}
		case "systemPromptSnapshot":
			return Feature{Without: Version{2, 1, 252}, Since: Version{2, 1, 257}}
		case "toolAliases":
			return Feature{Without: Version{2, 1, 141}, Since: Version{2, 1, 142}}
		case "plugins":
			return Feature{Without: Version{2, 1, 260}, Since: Version{2, 1, 261}}
		case "hooks.onFailure":
			return Feature{Without: Version{2, 1, 316}, Since: Version{2, 1, 317}}
		}
	case FeatureAnswer:
		switch name {
		case "pid":
			return Feature{Without: Version{2, 1, 39}, Since: Version{2, 1, 40}}
		case "agents":
			return Feature{Without: Version{2, 1, 62}, Since: Version{2, 1, 63}}
		}
	case FeatureHook:
		switch name {
		case "PreToolUse":
			return Feature{Since: Version{2, 1, 37}}
		case "PostToolUse":
			return Feature{Since: Version{2, 1, 37}}
		case "PostToolUseFailure":
			return Feature{Since: Version{2, 1, 37}}
		case "PostToolBatch":
			return Feature{Without: Version{2, 1, 117}, Since: Version{2, 1, 118}}
		case "Notification":
			return Feature{Since: Version{2, 1, 37}}
		case "UserPromptSubmit":
			return Feature{Since: Version{2, 1, 37}}
		case "UserPromptExpansion":
			return Feature{Without: Version{2, 1, 114}, Since: Version{2, 1, 116}}
		case "SessionStart":
			return Feature{Since: Version{2, 1, 37}}
		case "SessionEnd":
			return Feature{Since: Version{2, 1, 37}}
		case "Stop":
			return Feature{Since: Version{2, 1, 37}}
		case "StopFailure":
			return Feature{Without: Version{2, 1, 77}, Since: Version{2, 1, 78}}
		case "SubagentStart":
			return Feature{Since: Version{2, 1, 37}}
		case "SubagentStop":
			return Feature{Since: Version{2, 1, 37}}
		case "PreCompact":
			return Feature{Since: Version{2, 1, 37}}
		case "PostCompact":
			return Feature{Without: Version{2, 1, 75}, Since: Version{2, 1, 76}}
		case "PreModelSwitch":
			return Feature{Without: Version{2, 1, 250}, Since: Version{2, 1, 251}}
		case "PostModelSwitch":
			return Feature{Without: Version{2, 1, 250}, Since: Version{2, 1, 251}}
		case "PermissionRequest":
			return Feature{Since: Version{2, 1, 37}}
		case "PermissionDenied":
			return Feature{Without: Version{2, 1, 87}, Since: Version{2, 1, 88}}
		case "Setup":
			return Feature{Since: Version{2, 1, 37}}
		case "TeammateIdle":
			return Feature{Since: Version{2, 1, 37}}
		case "TaskCreated":
			return Feature{Without: Version{2, 1, 83}, Since: Version{2, 1, 84}}
		case "TaskCompleted":
			return Feature{Since: Version{2, 1, 37}}
		case "Elicitation":
			return Feature{Without: Version{2, 1, 62}, Since: Version{2, 1, 63}}
		case "ElicitationResult":
			return Feature{Without: Version{2, 1, 62}, Since: Version{2, 1, 63}}
		case "ConfigChange":
			return Feature{Without: Version{2, 1, 47}, Since: Version{2, 1, 48}}
		case "WorktreeCreate":
			return Feature{Without: Version{2, 1, 49}, Since: Version{2, 1, 50}}
		case "WorktreeRemove":
			return Feature{Without: Version{2, 1, 49}, Since: Version{2, 1, 50}}
		case "InstructionsLoaded":
			return Feature{Without: Version{2, 1, 68}, Since: Version{2, 1, 69}}
		case "CwdChanged":
			return Feature{Without: Version{2, 1, 81}, Since: Version{2, 1, 83}}
		case "FileChanged":
			return Feature{Without: Version{2, 1, 81}, Since: Version{2, 1, 83}}
		case "DirectoryAdded":
			return Feature{Without: Version{2, 1, 218}, Since: Version{2, 1, 219}}
		case "MessageDisplay":
			return Feature{Without: Version{2, 1, 150}, Since: Version{2, 1, 152}}
		}
	case FeatureMember:
		switch name {
		case "interrupt.cancel_queued":
			return Feature{Without: Version{2, 1, 218}, Since: Version{2, 1, 219}}
		case "user.client_composed":
			return Feature{Without: Version{2, 1, 247}, Since: Version{2, 1, 248}}
		}
	case FeatureEnv:
		switch name {
		case "CLAUDE_CODE_QUESTION_PREVIEW_FORMAT":
			return Feature{Without: Version{2, 1, 68}, Since: Version{2, 1, 69}}
		}
	case FeatureLine:
		switch name {
		case "control_cancel_request":
			return Feature{Without: Version{2, 1, 45}, Since: Version{2, 1, 47}}
		case "update_environment_variables":
			return Feature{Since: Version{2, 1, 37}, Until: Version{2, 1, 173}, Gone: Version{2, 1, 174}}
		}
	case FeatureBehavior:
		switch name {
		case "unknown_request_answered":
			return Feature{Without: Version{2, 1, 39}, Since: Version{2, 1, 40}}
		case "managed_settings_obeyed":
			return Feature{Without: Version{2, 1, 132}, Since: Version{2, 1, 133}}
		}
	}
	return Feature{}
}
