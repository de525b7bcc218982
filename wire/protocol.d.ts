// Code generated from schema/*.wire by wire/internal/gen. DO NOT EDIT.

/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** A message's content: plain text, or blocks. */
export type Content = string | Block[];

/** PermissionMode says how the CLI decides about tools that no rule covers. */
export type PermissionMode = "default" | "acceptEdits" | "bypassPermissions" | "plan" | "dontAsk" | "auto" | "delegate" | "manual" | (string & {});

/** RuleBehavior is what a permission rule does with the calls it matches. */
export type RuleBehavior = "allow" | "deny" | "ask" | (string & {});

/** UpdateDestination is the place where a permission update is kept. */
export type UpdateDestination = "userSettings" | "projectSettings" | "localSettings" | "session" | "cliArg" | (string & {});

/** DecisionClassification tells the CLI what kind of decision a permission answer was. */
export type DecisionClassification = "user_temporary" | "user_permanent" | "user_reject" | (string & {});

/** DecisionReasonType says what made the CLI ask for a permission. */
export type DecisionReasonType = "rule" | "mode" | "subcommandResults" | "permissionPromptTool" | "hook" | "asyncAgent" | "sandboxOverride" | "workingDir" | "safetyCheck" | "classifier" | "other" | (string & {});

/** RuleSource is the layer that a permission rule in force comes from. */
export type RuleSource = "userSettings" | "projectSettings" | "localSettings" | "flagSettings" | "policySettings" | "cliArg" | "command" | "session" | "mcpMount" | "toolsNarrowing" | "mcpServerPolicy" | "hostCredential" | (string & {});

/** RuleEditability says whether a permission rule in force can be changed from here. */
export type RuleEditability = "persistent" | "session" | "readonly" | (string & {});

/** AssistantError is the class of an API failure that ended up in the conversation. */
export type AssistantError = "authentication_failed" | "oauth_org_not_allowed" | "account_on_hold" | "verification_required" | "billing_error" | "rate_limit" | "overloaded" | "invalid_request" | "model_not_found" | "server_error" | "unknown" | "max_output_tokens" | "cloud_credential_error" | (string & {});

/** ResultSubtype is the way a turn ended. It is not the whole truth: an API error is a success with is_error set. */
export type ResultSubtype = "success" | "error_during_execution" | "error_max_turns" | "error_max_budget_usd" | "error_max_structured_output_retries" | (string & {});

/** TerminalReason says in more detail than [ResultSubtype] why a turn ended. */
export type TerminalReason = "blocking_limit" | "rapid_refill_breaker" | "prompt_too_long" | "image_error" | "model_error" | "api_error" | "malformed_tool_use_exhausted" | "aborted_streaming" | "aborted_tools" | "stop_hook_prevented" | "hook_stopped" | "tool_deferred" | "max_turns" | "background_requested" | "completed" | "budget_exhausted" | "structured_output_retry_exhausted" | "tool_deferred_unavailable" | "turn_setup_failed" | (string & {});

/** StopReason is why the model stopped producing a message. */
export type StopReason = "end_turn" | "max_tokens" | "stop_sequence" | "tool_use" | "pause_turn" | "compaction" | "refusal" | "model_context_window_exceeded" | "tool_deferred" | (string & {});

/** StartupFailureReason says why a session could not start. */
export type StartupFailureReason = "org_pin_api_key_conflict" | "provider_not_allowed" | "org_verify_failed" | "org_pin_mismatch" | "managed_settings_invalid" | "remote_settings_required_unavailable" | "gateway_signin_required" | "gateway_access_denied" | "proxy_invalid" | "temp_dir_unusable" | "cwd_unavailable" | "shell_tool_missing" | "session_held_by_background" | "worktree_resume_refused" | "worktree_unverified" | "cli_version_too_old" | "bypass_root" | "org_config_required_unavailable" | "org_config_refused" | "sandbox_required_unavailable" | "initialize_not_first" | "config_file_invalid" | "managed_settings_not_delivered" | (string & {});

/** SessionState is what a session is doing, in the CLI's own words. */
export type SessionState = "idle" | "running" | "requires_action" | (string & {});

/** StatusPhase is the phase that a status line announces. */
export type StatusPhase = "compacting" | "requesting" | (string & {});

/** CompactResult is the outcome of a compaction. */
export type CompactResult = "success" | "failed" | (string & {});

/** CompactTrigger says what started a compaction. */
export type CompactTrigger = "manual" | "auto" | (string & {});

/** FastModeState is the state of fast mode. */
export type FastModeState = "off" | "cooldown" | "on" | (string & {});

/** FastModeDisabledReason says why fast mode cannot be used. */
export type FastModeDisabledReason = "free" | "preference" | "extra_usage_disabled" | "network_error" | "unknown" | "not_first_party" | "disabled_by_env" | "model_not_allowed" | "sdk_opt_in_required" | "pending" | (string & {});

/** Effort is how much work the model puts into an answer. */
export type Effort = "low" | "medium" | "high" | "xhigh" | "max" | (string & {});

/** MessagePriority says when a user message is to be worked on. */
export type MessagePriority = "now" | "next" | "later" | (string & {});

/** OriginKind says where a message or a turn came from. */
export type OriginKind = "human" | "channel" | "peer" | "task-notification" | "coordinator" | "unclassified" | "observer" | "auto-continuation" | "observer-activity" | (string & {});

/** OriginSubkind narrows the origin task-notification. */
export type OriginSubkind = "scheduled-trigger" | "peer-send-message" | "projects-relay" | "session-inbox" | (string & {});

/** QueuedBehind says what a network post had to wait for. */
export type QueuedBehind = "durable_post" | "ephemeral_post" | "retry_backoff" | "hold" | "none" | (string & {});

/** CostBasis says which prices a cost was computed with. */
export type CostBasis = "list" | "managed" | "unknown" | (string & {});

/** RefusalDirection says what a fallback after a refusal did. */
export type RefusalDirection = "retry" | "revert" | "sticky" | (string & {});

/** RefusalScope is how far a fallback after a refusal reaches. */
export type RefusalScope = "session" | "local" | (string & {});

/** ResetTrigger says what made a conversation start afresh. */
export type ResetTrigger = "clear" | "plan_mode_exit" | "fresh_session" | "onboarding" | (string & {});

/** CommandState is the fate of a queued user message. */
export type CommandState = "queued" | "started" | "completed" | "cancelled" | "discarded" | "refused" | (string & {});

/** TaskStatus is the state of a task in the background. */
export type TaskStatus = "pending" | "running" | "completed" | "failed" | "killed" | "paused" | "stopped" | (string & {});

/** HookOutcome is how a hook of the settings ended. */
export type HookOutcome = "success" | "error" | "cancelled" | (string & {});

/** PluginInstallStatus is a step of installing plugins. */
export type PluginInstallStatus = "started" | "installed" | "failed" | "completed" | (string & {});

/** ProgressStatus is a step of a long control request. */
export type ProgressStatus = "started" | "api_retry" | (string & {});

/** NotificationPriority is how urgently a notification wants to be seen. */
export type NotificationPriority = "low" | "medium" | "high" | "immediate" | (string & {});

/** InformationalLevel is the weight of an informational line. */
export type InformationalLevel = "info" | "notice" | "suggestion" | "warning" | (string & {});

/** MemoryMode is how recalled memories were prepared. */
export type MemoryMode = "select" | "synthesize" | (string & {});

/** MemoryScope is the owner of a memory. */
export type MemoryScope = "personal" | "team" | "organization" | (string & {});

/** WriteError is the error code of writes that were lost. */
export type WriteError = "ENOSPC" | "EDQUOT" | (string & {});

/** LostWrite is a kind of data that could not be saved. */
export type LostWrite = "transcript" | "global_config" | (string & {});

/** RateLimitStatus is how close an account is to its limit. */
export type RateLimitStatus = "allowed" | "allowed_warning" | "rejected" | (string & {});

/** RateLimitType is the window that a limit is counted in. */
export type RateLimitType = "five_hour" | "seven_day" | "seven_day_opus" | "seven_day_sonnet" | "seven_day_overage_included" | "overage" | "hourly" | (string & {});

/** OverageDisabledReason says why usage beyond the plan is not possible. */
export type OverageDisabledReason = "overage_not_provisioned" | "org_level_disabled" | "org_level_disabled_until" | "out_of_credits" | "seat_tier_level_disabled" | "member_level_disabled" | "seat_tier_zero_credit_limit" | "group_zero_credit_limit" | "member_zero_credit_limit" | "org_service_level_disabled" | "no_limits_configured" | "fetch_error" | "unknown" | (string & {});

/** LimitScope is what a limit is shared by. */
export type LimitScope = "service" | "channel" | "group_pool" | (string & {});

/** APIProvider is the service that runs the model. */
export type APIProvider = "firstParty" | "bedrock" | "vertex" | "foundry" | "anthropicAws" | "anthropicGoogleCloud" | "mantle" | "gateway" | (string & {});

/** ContextKind is what a part of the context window is used for. */
export type ContextKind = "used" | "free" | "buffer" | "deferred" | (string & {});

/** ContextLimitKind is the limit that the context went over. */
export type ContextLimitKind = "hard_limit" | "compaction_window" | (string & {});

/** ContextCategoryID names a part of the context window. */
export type ContextCategoryID = "system_prompt" | "system_tools" | "mcp_tools" | "mcp_instructions" | "mcp_tools_deferred" | "system_tools_deferred" | "custom_agents" | "memory_files" | "skills" | "messages" | "autocompact_buffer" | "compact_buffer" | "free_space" | (string & {});

/** ContextDetail is how much detail a request for context usage wants. */
export type ContextDetail = "summary" | "full" | (string & {});

/** ViewMode is how the terminal shows a session. */
export type ViewMode = "focus" | "default" | (string & {});

/** ThinkingDisplay is how much of the model's thinking is shown. */
export type ThinkingDisplay = "summarized" | "omitted" | "highlights" | (string & {});

/** MCPServerState is the state of the connection to an MCP server. */
export type MCPServerState = "connected" | "failed" | "needs-auth" | "pending" | "disabled" | (string & {});

/** MCPTransport is the way an MCP server is reached. */
export type MCPTransport = "stdio" | "sse" | "http" | "sdk" | "claudeai-proxy" | (string & {});

/** ToolPolicy is the host's policy for one tool of an MCP server. */
export type ToolPolicy = "always_allow" | "always_ask" | "always_deny" | (string & {});

/** OrgPermission is the most that an organisation lets a tool do. */
export type OrgPermission = "allow" | "ask" | "blocked" | (string & {});

/** ManifestFate is what became of an MCP manifest that the host sent along. */
export type ManifestFate = "parked" | "already_connected" | "protocol_version_mismatch" | "malformed" | "not_honoured" | (string & {});

/** ElicitationMode is the way an MCP server asks the user. */
export type ElicitationMode = "form" | "url" | (string & {});

/** ElicitationAction is the user's reaction to an elicitation. */
export type ElicitationAction = "accept" | "decline" | "cancel" | (string & {});

/** DialogBehavior is the way a dialog ended. */
export type DialogBehavior = "completed" | "cancelled" | (string & {});

/** SettingsSource is a layer of the CLI's settings. */
export type SettingsSource = "userSettings" | "projectSettings" | "localSettings" | "flagSettings" | "policySettings" | (string & {});

/** RenameSource says what renames a session. */
export type RenameSource = "remote" | "host" | (string & {});

/** FileEncoding is the encoding of a file's contents in an answer. */
export type FileEncoding = "utf-8" | "base64" | (string & {});

/** StagingError says why files could not be staged around a tool call. */
export type StagingError = "expired" | "input_missing" | "output_too_large" | "output_conflict" | "timeout" | "tool_error" | (string & {});

/** LSPToolChange is what reloading plugins would do to the language server tool. */
export type LSPToolChange = "adds" | "may-add" | "removes" | "may-remove" | (string & {});

/** UsageBehavior is a habit that drives up usage. */
export type UsageBehavior = "cache_miss" | "long_context" | "subagent_heavy" | "high_parallel" | "cron" | "max_effort" | "workflow" | "always_on_context" | "large_tool_results" | (string & {});

/** Assistant is one finished content block, or a few, of the model's answer. Lines that share message.id are parts of one message; on all but the last the usage is not final. */
export interface Assistant {
  type: "assistant";
  /** The message as the API knows it. */
  message: APIMessage;
  /** The tool call of the sub-agent that wrote it; empty for the main conversation. */
  parent_tool_use_id: string | null;
  /** Set when the text is not the model's but tells of an API failure. */
  error?: AssistantError;
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
  /** The API's own id of the request. */
  request_id?: string;
  /** The user message that is answered. */
  user_message_uuid?: string;
  /** All user messages that are answered, where several were merged. */
  user_message_uuids?: string[];
  /** Why the turn was resumed. */
  resume_reason?: string;
  /** The turn went on after thinking was cut off. */
  resumed_from_incomplete_thinking?: boolean;
  /** Earlier lines, by uuid, that are to be deleted. */
  supersedes?: string[];
  /** The answer was cut off by an interrupt. */
  aborted?: boolean;
  /** The sub-agent that wrote it. */
  agent_id?: string;
  /** The kind of that sub-agent. */
  subagent_type?: string;
  /** What that sub-agent was asked to do. */
  task_description?: string;
  /** When it was written. */
  timestamp?: string;
  /** How full the context is; written by the command that asks for it. */
  context_usage?: ContextUsage;
  /** What was used so far; written by the command that asks for it. */
  usage_report?: UsageReport;
}

/** User is a prompt on the way in, and on the way out whatever the CLI adds in the user's name, above all the results of tools. */
export interface User {
  type: "user";
  /** Role and content. */
  message: UserBody;
  /** The tool call of the sub-agent it belongs to; empty for the main conversation. */
  parent_tool_use_id: string | null;
  /** Written by the CLI, not by a person. */
  isSynthetic?: boolean;
  /** An echo of a message that was accepted, or the output of a local command. */
  isReplay?: boolean;
  /** What the tool returned, in the tool's own structure. */
  tool_use_result?: Json;
  /** When it is to be worked on. */
  priority?: MessagePriority;
  /** Where it came from. */
  origin?: MessageOrigin;
  /** False appends it without starting a turn. */
  shouldQuery?: boolean;
  /** When it was written. */
  timestamp?: string;
  /** Take the text literally: no file mentions, no slash commands. Known since 2.1.248. */
  client_composed?: boolean;
  /** Identifies the message; a second one with the same uuid is swallowed. */
  uuid?: string;
  /** The conversation. A client may leave it empty. */
  session_id?: string;
  /** What the user pasted. */
  pasted_content?: Content[];
  /** Pasted texts that stand within the prompt. */
  inline_pastes?: string[];
  /** Files that came with an echoed message. */
  file_attachments?: Json[];
  /** The sub-agent it belongs to. */
  agent_id?: string;
  /** The kind of that sub-agent. */
  subagent_type?: string;
  /** What that sub-agent was asked to do. */
  task_description?: string;
}

/** UserBody is the message within a user line. */
export interface UserBody {
  /** Always user. Any other role ends the CLI. */
  role: string;
  /** A text, or content blocks. */
  content: Content;
}

/** MessageOrigin tells where a message or a turn came from. Which members are set depends on the kind. */
export interface MessageOrigin {
  /** The kind. */
  kind: OriginKind;
  /** The MCP server of a channel. */
  server?: string;
  /** The sender. */
  from?: string;
  /** The sender's permission mode: bypass or prompting. */
  fromMode?: string;
  /** The sender's name. */
  name?: string;
  /** The sender's session. */
  fromSession?: string;
  /** The sender's task. */
  senderTaskId?: string;
  /** What was sent. */
  body?: string;
  /** The sender's process, if that was verified. */
  verifiedPeerPid?: number;
  /** What kind of notification. */
  subkind?: OriginSubkind;
  /** Why a trigger fired. */
  fireReason?: string;
  /** The run of the task. */
  runId?: string;
}

/** StreamEvent is a piece of a message that is still being written. It only comes with --include-partial-messages. */
export interface StreamEvent {
  type: "stream_event";
  /** The API's own event. */
  event: Event;
  /** The tool call of the sub-agent that writes; empty for the main conversation. */
  parent_tool_use_id: string | null;
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
  /** Milliseconds until the first token. */
  ttft_ms?: number;
  /** The user message that is answered. */
  user_message_uuid?: string;
  /** All user messages that are answered. */
  user_message_uuids?: string[];
  /** Why the turn was resumed. */
  resume_reason?: string;
}

/** ToolUseSummary sums up a group of tool calls in a sentence. */
export interface ToolUseSummary {
  type: "tool_use_summary";
  /** The sentence. */
  summary: string;
  /** The calls. */
  preceding_tool_use_ids: string[];
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** StreamlinedText is the text of an answer in the streamlined output of 2.1.37. Later versions do not write it. */
export interface StreamlinedText {
  type: "streamlined_text";
  /** The text. */
  text: string;
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** StreamlinedToolUseSummary sums up tool calls in the streamlined output of 2.1.37. Later versions do not write it. */
export interface StreamlinedToolUseSummary {
  type: "streamlined_tool_use_summary";
  /** The summary. */
  tool_summary: string;
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** PromptSuggestion is a guess of what the user may ask next. */
export interface PromptSuggestion {
  type: "prompt_suggestion";
  /** The prompt. */
  suggestion: string;
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** ConversationReset says that the conversation starts afresh: what was shown so far is over. */
export interface ConversationReset {
  type: "conversation_reset";
  /** Names the reset. On 2.1.325 it is this line's own uuid; the new conversation's session_id comes with the next init. */
  new_conversation_id: string;
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
  /** What caused it. */
  trigger?: ResetTrigger;
  /** The user message that caused it. */
  user_message_uuid?: string;
  /** When. */
  timestamp?: string;
}

/** ActiveGoal tells the state of the goal that the user set. */
export interface ActiveGoal {
  type: "active_goal";
  /** The goal; null when it is met or was cleared. */
  value: Goal | null;
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** Goal is a condition that the session works towards. */
export interface Goal {
  /** The condition. */
  condition: string;
  /** How often it was checked. */
  iterations: number;
  /** When it was set, in milliseconds since 1970. */
  set_at: number;
  /** The tokens used when it was set. */
  tokens_at_start: number;
  /** Why it was not yet met at the last check. */
  last_reason?: string;
}

/** CommandLifecycle tells what becomes of a user message that carried a uuid. */
export interface CommandLifecycle {
  type: "command_lifecycle";
  /** The user message. */
  command_uuid: string;
  /** Its fate. */
  state: CommandState;
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** Init opens every turn and tells what the session consists of. The newest one counts. */
export interface Init {
  type: "system";
  subtype: "init";
  /** Names of the agents. */
  agents?: string[];
  /** Where the credentials come from, for example ANTHROPIC_API_KEY, apiKeyHelper or none. */
  apiKeySource: string;
  /** Beta features in use. */
  betas?: string[];
  /** The CLI's version. */
  claude_code_version: string;
  /** The working directory. */
  cwd: string;
  /** Names of the tools. */
  tools: string[];
  /** The MCP servers and their states. */
  mcp_servers: InitMCPServer[];
  /** The model. */
  model: string;
  /** The permission mode in force. */
  permissionMode: PermissionMode;
  /** Names of the slash commands. */
  slash_commands: string[];
  /** Slash commands that only work in a terminal. */
  terminal_slash_commands?: string[];
  /** The output style. */
  output_style: string;
  /** Names of the skills. */
  skills?: string[];
  /** The plugins. */
  plugins?: InitPlugin[];
  /** Plugins that could not be loaded. */
  plugin_errors?: PluginError[];
  /** The state of fast mode. */
  fast_mode_state?: FastModeState;
  /** Why fast mode cannot be used. */
  fast_mode_disabled_reason?: FastModeDisabledReason;
  /** The effort level. */
  effort?: Effort | null;
  /** How the terminal shows the session. */
  view_mode?: ViewMode;
  /** Features of this CLI, an open set; the way to tell what it can do. */
  capabilities?: string[];
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** InitMCPServer is an MCP server as the init line lists it. */
export interface InitMCPServer {
  /** Its name. */
  name: string;
  /** The state of the connection. */
  status: MCPServerState;
  /** Where it was configured. */
  source?: string;
}

/** InitPlugin is a plugin as the init line lists it. */
export interface InitPlugin {
  /** Its name. */
  name: string;
  /** Its folder. */
  path: string;
  /** Where it came from. */
  source?: string;
  /** Its version. */
  version?: string;
}

/** PluginError tells why a plugin could not be loaded. */
export interface PluginError {
  /** The plugin. */
  plugin: string;
  /** The kind of error. */
  type: string;
  /** The error. */
  message: string;
  /** The file. */
  path?: string;
  /** The managed setting that decides about the plugin. */
  managed_lock?: PluginLock;
}

/** PluginLock is a managed setting that switches a plugin on or off. */
export interface PluginLock {
  /** On or off. */
  plugin_enabled: boolean;
  /** The plugin. */
  name: string;
  /** Its marketplace. */
  marketplace?: string;
}

/** Status tells a change of the session's phase or permission mode. */
export interface Status {
  type: "system";
  subtype: "status";
  /** The phase; null when the last one is over. */
  status: StatusPhase | null;
  /** The mode now in force, where it changed. */
  permissionMode?: PermissionMode;
  /** How a compaction ended. */
  compact_result?: CompactResult;
  /** Why a compaction failed. */
  compact_error?: string;
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** CompactBoundary marks the place where the conversation was compacted. */
export interface CompactBoundary {
  type: "system";
  subtype: "compact_boundary";
  /** About the compaction. */
  compact_metadata: CompactMetadata;
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** CompactMetadata describes a compaction. */
export interface CompactMetadata {
  /** What started it. */
  trigger: CompactTrigger;
  /** Tokens before. */
  pre_tokens: number;
  /** Tokens after. */
  post_tokens?: number;
  /** How long it took, in milliseconds. */
  duration_ms?: number;
  /** The stretch of the conversation that was kept. */
  preserved_segment?: PreservedSegment;
  /** The messages that were kept. */
  preserved_messages?: PreservedMessages;
}

/** PreservedSegment is a stretch of the conversation that a compaction kept, by uuid. */
export interface PreservedSegment {
  /** Its first message. */
  head_uuid: string;
  /** The message it hangs on. */
  anchor_uuid: string;
  /** Its last message. */
  tail_uuid: string;
}

/** PreservedMessages lists messages that a compaction kept. */
export interface PreservedMessages {
  /** The message they hang on. */
  anchor_uuid: string;
  /** The messages. */
  uuids: string[];
}

/** SessionStateChanged tells what the session is doing now. It only comes if the environment asks for it, and is the best sign that a turn is over. */
export interface SessionStateChanged {
  type: "system";
  subtype: "session_state_changed";
  /** The new state. */
  state: SessionState;
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** CommandsChanged brings the whole list of slash commands after a change. */
export interface CommandsChanged {
  type: "system";
  subtype: "commands_changed";
  /** The commands. */
  commands: SlashCommand[];
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** SlashCommand is a slash command or a skill. */
export interface SlashCommand {
  /** Its name, without the slash. */
  name: string;
  /** What it does. */
  description: string;
  /** What arguments it takes. */
  argumentHint: string;
  /** Other names. */
  aliases?: string[];
  /** Part of the CLI. */
  builtin?: boolean;
}

/** WorkerShuttingDown says that the process is about to end on purpose. */
export interface WorkerShuttingDown {
  type: "system";
  subtype: "worker_shutting_down";
  /** Why. */
  reason: string;
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** AuthStatus tells how a login is going. */
export interface AuthStatus {
  type: "auth_status";
  /** It is under way. */
  isAuthenticating: boolean;
  /** What to show. */
  output: string[];
  /** Why it failed. */
  error?: string;
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** PluginInstall tells how the installation of plugins is going. */
export interface PluginInstall {
  type: "system";
  subtype: "plugin_install";
  /** The step. */
  status: PluginInstallStatus;
  /** The marketplace. */
  name?: string;
  /** Why it failed. */
  error?: string;
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** SessionWritesLost says that parts of the transcript or the configuration could not be saved. */
export interface SessionWritesLost {
  type: "system";
  subtype: "session_writes_lost";
  /** The error. */
  error_code: WriteError;
  /** What was lost. */
  lost: LostWrite[];
  /** The conversations whose transcripts have holes. */
  transcript_session_ids?: string[];
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** MirrorError says that a copy of the transcript could not be stored. */
export interface MirrorError {
  type: "system";
  subtype: "mirror_error";
  /** The error. */
  error: string;
  /** The transcript. */
  key: SessionKey;
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** SessionKey names a transcript in a session store. */
export interface SessionKey {
  /** The project. */
  projectKey: string;
  /** The conversation. */
  sessionId: string;
  /** The part of it, for a sub-agent. */
  subpath?: string;
}

/** FilesPersisted tells which files were uploaded. */
export interface FilesPersisted {
  type: "system";
  subtype: "files_persisted";
  /** The files. */
  files: PersistedFile[];
  /** The files that could not be uploaded. */
  failed: FailedFile[];
  /** When. */
  processed_at: string;
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** PersistedFile is a file that was uploaded. */
export interface PersistedFile {
  /** Its name. */
  filename: string;
  /** Its id. */
  file_id: string;
}

/** FailedFile is a file that could not be uploaded. */
export interface FailedFile {
  /** Its name. */
  filename: string;
  /** Why. */
  error: string;
}

/** Informational is a line of text for the user, for example what a hook has to say. */
export interface Informational {
  type: "system";
  subtype: "informational";
  /** The text. */
  content: string;
  /** Its weight. */
  level: InformationalLevel;
  /** The tool call it is about. */
  tool_use_id?: string;
  /** The turn does not go on. */
  prevent_continuation?: boolean;
  /** The kind of notice. */
  tag?: string;
  /** What became of a prompt that a hook judged. Seen on 2.1.325, undocumented. */
  prompt_submit_outcome?: Json;
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** Notification is a short notice for the user. */
export interface Notification {
  type: "system";
  subtype: "notification";
  /** Notices with the same key replace each other. */
  key: string;
  /** The text. */
  text: string;
  /** How urgent it is. */
  priority: NotificationPriority;
  /** The colour to show it in. */
  color?: string;
  /** How long to show it, in milliseconds. */
  timeout_ms?: number;
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** LocalCommandOutput is the output of a slash command that the CLI runs itself. */
export interface LocalCommandOutput {
  type: "system";
  subtype: "local_command_output";
  /** The output. */
  content: string;
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** MemoryRecall tells which memories were brought into the turn. */
export interface MemoryRecall {
  type: "system";
  subtype: "memory_recall";
  /** How they were prepared. */
  mode: MemoryMode;
  /** The memories. */
  memories: Memory[];
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** Memory is a memory that was brought into a turn. */
export interface Memory {
  /** Its file. */
  path: string;
  /** Whom it belongs to. */
  scope: MemoryScope;
  /** Its text. */
  content?: string;
}

/** RateLimitEvent tells a change of the account's limits. */
export interface RateLimitEvent {
  type: "rate_limit_event";
  /** The limits. */
  rate_limit_info: RateLimitInfo;
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** RateLimitInfo describes how close an account is to a limit. */
export interface RateLimitInfo {
  /** How close. */
  status: RateLimitStatus;
  /** When the window ends, in seconds since 1970. */
  resetsAt?: number;
  /** The window. */
  rateLimitType?: RateLimitType;
  /** The share that is used, from 0 to 1. */
  utilization?: number;
  /** The same for usage beyond the plan. */
  overageStatus?: RateLimitStatus;
  /** When its window ends. */
  overageResetsAt?: number;
  /** Why it is not possible. */
  overageDisabledReason?: OverageDisabledReason;
  /** Usage beyond the plan is being charged. */
  isUsingOverage?: boolean;
  /** Usage beyond the plan is in use. */
  overageInUse?: boolean;
  /** Usage beyond the plan is possible. */
  overageEnabled?: boolean;
  /** The threshold that was passed. */
  surpassedThreshold?: number;
  /** What the limit is shared by. */
  limitScope?: LimitScope;
  /** The API's code, for example credits_required. */
  errorCode?: string;
  /** The user can buy more. */
  canUserPurchaseCredits?: boolean;
  /** There is a means of payment. */
  hasChargeableSavedPaymentMethod?: boolean;
  /** All windows by their names, with share and end. Newer versions only. */
  unifiedWindows?: Json;
}

/** APIRetry says that a request to the API failed and will be tried again. Versions before 2.1.77 stay silent. */
export interface APIRetry {
  type: "system";
  subtype: "api_retry";
  /** The number of the coming attempt. */
  attempt: number;
  /** How many there will be. */
  max_retries: number;
  /** The pause before it, in milliseconds. Some versions write a fraction. */
  retry_delay_ms: number;
  /** The HTTP status; null if there was no response. */
  error_status: number | null;
  /** The class of the failure. */
  error: AssistantError;
  /** How long the CLI waited without a response. */
  no_response?: NoResponse;
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** NoResponse tells how long the CLI waited for an API that did not respond. */
export interface NoResponse {
  /** The wait so far, in milliseconds. */
  waited_ms: number;
  /** The wait at the next attempt, in milliseconds. */
  retry_wait_ms: number;
}

/** ModelRefusalFallback says that the model refused and another one takes over. */
export interface ModelRefusalFallback {
  type: "system";
  subtype: "model_refusal_fallback";
  /** What caused it: refusal. */
  trigger: string;
  /** What was done. */
  direction: RefusalDirection;
  /** How far it reaches. */
  scope?: RefusalScope;
  /** The model that refused. */
  original_model: string;
  /** The other model. */
  fallback_model: string;
  /** The API's id of the refused request. */
  request_id: string | null;
  /** The category of the refusal. */
  api_refusal_category?: string | null;
  /** Its explanation. */
  api_refusal_explanation?: string | null;
  /** Earlier lines that are to be deleted. */
  retracted_message_uuids?: string[];
  /** The user message that was refused. */
  refused_user_message_uuid?: string | null;
  /** The text for the user. */
  content: string;
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** ModelRefusalNoFallback says that the model refused and no other one takes over. */
export interface ModelRefusalNoFallback {
  type: "system";
  subtype: "model_refusal_no_fallback";
  /** The model. */
  original_model: string;
  /** The API's id of the request. */
  request_id: string | null;
  /** The category of the refusal. */
  api_refusal_category?: string | null;
  /** Its explanation. */
  api_refusal_explanation?: string | null;
  /** The user message that was refused. */
  refused_user_message_uuid?: string | null;
  /** The text for the user. */
  content: string;
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** PermissionDenied says that a tool call was refused without asking anyone. It is a hint; the record is the result's permission_denials. */
export interface PermissionDenied {
  type: "system";
  subtype: "permission_denied";
  /** The tool. */
  tool_name: string;
  /** The call. */
  tool_use_id: string;
  /** The sub-agent that wanted it. */
  agent_id?: string;
  /** What decided. */
  decision_reason_type?: DecisionReasonType;
  /** Why. */
  decision_reason?: string;
  /** What the model was told. */
  message: string;
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** ElicitationComplete says that the user is done with the page an MCP server wanted opened. */
export interface ElicitationComplete {
  type: "system";
  subtype: "elicitation_complete";
  /** The server. */
  mcp_server_name: string;
  /** The elicitation. */
  elicitation_id: string;
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** ControlRequestProgress tells how a long control request is going. */
export interface ControlRequestProgress {
  type: "system";
  subtype: "control_request_progress";
  /** The request. */
  request_id: string;
  /** The step. */
  status: ProgressStatus;
  /** The number of the coming attempt. */
  attempt?: number;
  /** How many there will be. */
  max_retries?: number;
  /** The pause before it, in milliseconds. */
  retry_delay_ms?: number;
  /** The HTTP status of the last attempt. */
  error_status?: number | null;
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** ToolProgress says that a tool is still running. For heartbeats the tool call is in parent_tool_use_id. */
export interface ToolProgress {
  type: "tool_progress";
  /** The call, or a made-up id for a heartbeat. */
  tool_use_id: string;
  /** The tool. */
  tool_name: string;
  /** The call of the sub-agent that runs it, or of the tool itself for a heartbeat. */
  parent_tool_use_id: string | null;
  /** How long it has run. */
  elapsed_time_seconds: number;
  /** The task it became. */
  task_id?: string;
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
  /** Sent at intervals, without news. */
  heartbeat?: boolean;
  /** The kind of sub-agent. */
  subagent_type?: string;
  /** The sub-agent waits for the API. */
  subagent_retry?: SubagentRetry;
}

/** SubagentRetry says that a sub-agent's request to the API failed and will be tried again. */
export interface SubagentRetry {
  /** The sub-agent. */
  agent_id: string;
  /** The number of the coming attempt. */
  attempt: number;
  /** How many there will be. */
  max_retries: number;
  /** The pause before it, in milliseconds. */
  retry_delay_ms: number;
  /** The HTTP status; null if there was no response. */
  error_status: number | null;
  /** The class of the failure. */
  error_category: string;
}

/** HookStarted says that a hook of the settings started. */
export interface HookStarted {
  type: "system";
  subtype: "hook_started";
  /** This run of the hook. */
  hook_id: string;
  /** The hook. */
  hook_name: string;
  /** The event. */
  hook_event: HookEvent;
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** HookProgress brings what a hook of the settings has written so far. */
export interface HookProgress {
  type: "system";
  subtype: "hook_progress";
  /** This run of the hook. */
  hook_id: string;
  /** The hook. */
  hook_name: string;
  /** The event. */
  hook_event: HookEvent;
  /** Its standard output. */
  stdout: string;
  /** Its standard error. */
  stderr: string;
  /** Both. */
  output: string;
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** HookResponse says that a hook of the settings ended. */
export interface HookResponse {
  type: "system";
  subtype: "hook_response";
  /** This run of the hook. */
  hook_id: string;
  /** The hook. */
  hook_name: string;
  /** The event. */
  hook_event: HookEvent;
  /** Both outputs. */
  output: string;
  /** Its standard output. */
  stdout: string;
  /** Its standard error. */
  stderr: string;
  /** Its exit code. */
  exit_code?: number;
  /** How it ended. */
  outcome: HookOutcome;
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** TaskStarted says that a task started: a sub-agent or a long command. */
export interface TaskStarted {
  type: "system";
  subtype: "task_started";
  /** The task. */
  task_id: string;
  /** This run of it. */
  run_id?: string;
  /** The tool call that started it. */
  tool_use_id?: string;
  /** What it does. */
  description: string;
  /** The kind of sub-agent. */
  subagent_type?: string;
  /** It runs in the background. */
  is_backgrounded?: boolean;
  /** How deep it is nested. */
  spawn_depth?: number;
  /** The task that started it. */
  parent_task_id?: string;
  /** The kind of task, for example local_agent or local_bash. */
  task_type?: string;
  /** The workflow it belongs to. */
  workflow_name?: string;
  /** What the sub-agent was asked. */
  prompt?: string;
  /** Not to be shown in the transcript. */
  skip_transcript?: boolean;
  /** Part of the surroundings, nothing to wait for. */
  ambient?: boolean;
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** TaskProgress tells how a task is going. */
export interface TaskProgress {
  type: "system";
  subtype: "task_progress";
  /** The task. */
  task_id: string;
  /** This run of it. */
  run_id?: string;
  /** The tool call that started it. */
  tool_use_id?: string;
  /** What it does just now. */
  description: string;
  /** The kind of sub-agent. */
  subagent_type?: string;
  /** What it has used. */
  usage: TaskUsage;
  /** The tool it used last. */
  last_tool_name?: string;
  /** What it did so far. */
  summary?: string;
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** TaskUsage is what a task has used so far. */
export interface TaskUsage {
  /** Tokens. */
  total_tokens: number;
  /** Tool calls. */
  tool_uses: number;
  /** Time in milliseconds. */
  duration_ms: number;
}

/** TaskUpdated tells a change of a task. The end of a task may come in this form only. */
export interface TaskUpdated {
  type: "system";
  subtype: "task_updated";
  /** The task. */
  task_id: string;
  /** This run of it. */
  run_id?: string;
  /** What changed. */
  patch: TaskPatch;
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** TaskPatch holds what changed about a task; what is absent stays as it was. */
export interface TaskPatch {
  /** Its state. */
  status?: TaskStatus;
  /** What it does. */
  description?: string;
  /** When it ended, in milliseconds since 1970. */
  end_time?: number;
  /** How long it was paused, in milliseconds. */
  total_paused_ms?: number;
  /** Why it failed. */
  error?: string;
  /** Whether it runs in the background. */
  is_backgrounded?: boolean;
}

/** TaskNotification says that a task ended. */
export interface TaskNotification {
  type: "system";
  subtype: "task_notification";
  /** The task. */
  task_id: string;
  /** This run of it. */
  run_id?: string;
  /** The tool call that started it. */
  tool_use_id?: string;
  /** How it ended: completed, failed or stopped. */
  status: TaskStatus;
  /** Why it was stopped: worker_restart. */
  reason?: string;
  /** The file with its output. */
  output_file: string;
  /** What it did. */
  summary: string;
  /** What it used. */
  usage?: TaskUsage;
  /** Resources that it produced. */
  resource_links?: MCPResourceLink[];
  /** Not to be shown in the transcript. */
  skip_transcript?: boolean;
  /** Part of the surroundings, nothing to wait for. */
  ambient?: boolean;
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** BackgroundTasksChanged brings the whole set of live background tasks. It replaces the last one. */
export interface BackgroundTasksChanged {
  type: "system";
  subtype: "background_tasks_changed";
  /** The tasks. */
  tasks: BackgroundTask[];
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** BackgroundTask is a task in the background. */
export interface BackgroundTask {
  /** The task. */
  task_id: string;
  /** This run of it. */
  run_id?: string;
  /** Its kind. */
  task_type: string;
  /** The kind of sub-agent. */
  subagent_type?: string;
  /** What it does. */
  description: string;
  /** The task that started it. */
  parent_task_id?: string;
  /** Part of the surroundings, nothing to wait for. */
  ambient?: boolean;
}

/** ThinkingTokens estimates how much the model has thought while its thinking is hidden. */
export interface ThinkingTokens {
  type: "system";
  subtype: "thinking_tokens";
  /** Tokens of the current block so far. */
  estimated_tokens: number;
  /** Tokens since the last line. */
  estimated_tokens_delta: number;
  /** The user message that is answered. */
  user_message_uuid?: string;
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** ControlRequest asks the other side for something. It is answered by one [ControlResponse] with the same id. */
export interface ControlRequest {
  type: "control_request";
  /** Chosen by the sender, unique among its open requests. */
  request_id: string;
  /** What is asked. */
  request: Request;
}

/** ControlResponse answers a [ControlRequest]. */
export interface ControlResponse {
  type: "control_response";
  /** The answer. */
  response: ControlAnswer;
}

/** ControlAnswer is an answer within its envelope. */
export interface ControlAnswer {
  /** success or error. Nothing else is an answer to the CLI. */
  subtype: string;
  /** The request that is answered. */
  request_id: string;
  /** The body of a success; its form depends on the request. */
  response?: Json;
  /** What went wrong. */
  error?: string;
  /** A code for what went wrong, for example unsupported_request. Newer versions only. */
  error_code?: string;
  /** Questions still open. With answers to initialize only. */
  pending_permission_requests?: ControlRequest[];
  /** Dialogs still open. With answers to initialize only. */
  pending_user_dialog_requests?: ControlRequest[];
  /** Elicitations still open. With answers to initialize only. */
  pending_elicitation_requests?: ControlRequest[];
}

/** ControlCancel takes back one of the sender's own requests. It has no answer. Sent to a CLI up to 2.1.44 it ends the process. */
export interface ControlCancel {
  type: "control_cancel_request";
  /** The request. */
  request_id: string;
}

/** KeepAlive keeps a connection open and means nothing. */
export interface KeepAlive {
  type: "keep_alive";
}

/** EnvironmentUpdate sets environment variables of a running CLI. Those after 2.1.173 take only their own tokens over stdio. */
export interface EnvironmentUpdate {
  type: "update_environment_variables";
  /** The variables. Old versions end without this member. */
  variables: { [name: string]: string };
  /** Asks newer versions for an answer. */
  request_id?: string;
}

/** ErrorLine is an API error as a line of its own. Described by third parties, never seen; it is understood in case it comes. */
export interface ErrorLine {
  type: "error";
  /** The error. */
  error: APIErrorBody;
}

/** Result ends a turn. There may be several for one prompt, and one for several prompts: it is not the end of the run. */
export interface Result {
  type: "result";
  /** How the turn ended. A turn failed if this is not success or is_error is set. */
  subtype: ResultSubtype;
  /** How long the turn took, in milliseconds. */
  duration_ms: number;
  /** Milliseconds spent waiting for the API, counted from the start of the process, unlike duration_ms. */
  duration_api_ms: number;
  /** Milliseconds until the first token. */
  ttft_ms?: number;
  /** Milliseconds until the first token of the stream. */
  ttft_stream_ms?: number;
  /** Milliseconds until the first request to the API. */
  time_to_request_ms?: number;
  /** The user message that is answered. */
  user_message_uuid?: string;
  /** All user messages that are answered, where several were merged. */
  user_message_uuids?: string[];
  /** Why the turn was resumed. */
  resume_reason?: string;
  /** The slash command that the CLI ran itself. */
  local_command?: string;
  /** When the first request was sent, in milliseconds since 1970. */
  request_sent_wall_ms?: number;
  /** Milliseconds until the first content. */
  first_content_frame_ms?: number;
  /** Milliseconds until the first stream event was posted. This and the next ones come from cloud sessions only. */
  first_stream_post_ms?: number;
  /** Milliseconds until that post was acknowledged. */
  first_stream_post_ack_ms?: number;
  /** Milliseconds that it waited in a queue. */
  first_stream_post_queue_wait_ms?: number;
  /** What it waited for. */
  first_stream_post_queued_behind?: QueuedBehind;
  /** When it was sent, in milliseconds since 1970. */
  first_stream_post_wall_ms?: number;
  /** Milliseconds until the first text was posted. */
  first_text_post_ms?: number;
  /** Milliseconds that it waited in a queue. */
  first_text_post_queue_wait_ms?: number;
  /** What it waited for. */
  first_text_post_queued_behind?: QueuedBehind;
  /** When it was sent, in milliseconds since 1970. */
  first_text_post_wall_ms?: number;
  /** Milliseconds from the start of the process to the first request. */
  time_to_request_from_spawn_ms?: number;
  /** The process was started ahead of its use. */
  warm_spare_claimed?: boolean;
  /** The zero of the measured times, in milliseconds since 1970. */
  time_origin_ms?: number;
  /** The turn ended on an error. An interrupted turn sets it on newer versions only. */
  is_error: boolean;
  /** The HTTP status of the API error that ended the turn. */
  api_error_status?: number | null;
  /** The API's own name of that error. Seen on 2.1.325, undocumented. */
  api_error_type?: string | null;
  /** How many rounds with the model it took. */
  num_turns: number;
  /** The final text. Only successes have one. */
  result?: string;
  /** What went wrong. Texts that start with "[ede_diagnostic]" are not for people. */
  errors?: string[];
  /** Why the model stopped. */
  stop_reason: StopReason | null;
  /** What the process has cost so far: cumulative, not per turn. */
  total_cost_usd: number;
  /** The tokens of this turn's main conversation. */
  usage: Usage;
  /** The tokens of the process so far, by model: cumulative, sub-agents included. */
  modelUsage: { [name: string]: ModelUsage };
  /** The tool calls that were refused. */
  permission_denials: PermissionDenial[];
  /** How many more turns are waiting. */
  queued_turn_count?: number;
  /** The output that the given schema asked for. */
  structured_output?: Json;
  /** The tool call that a hook deferred. */
  deferred_tool_use?: DeferredToolUse;
  /** Why the turn ended, in more detail. */
  terminal_reason?: TerminalReason;
  /** Why the session could not start. */
  startup_failure_reason?: StartupFailureReason;
  /** The configuration file that is damaged. */
  invalid_config_file?: InvalidConfigFile;
  /** The number of this result; a gap means that one was lost. */
  result_index?: number;
  /** When the credentials expire. */
  credential_expires_at?: string;
  /** The state of fast mode. */
  fast_mode_state?: FastModeState;
  /** Why fast mode cannot be used. */
  fast_mode_disabled_reason?: FastModeDisabledReason;
  /** What started a turn that no user message started. */
  origin?: MessageOrigin;
  /** Identifies this line. */
  uuid: string;
  /** The conversation it belongs to. */
  session_id: string;
}

/** PermissionDenial is a tool call that was refused. */
export interface PermissionDenial {
  /** The tool. */
  tool_name: string;
  /** The call. */
  tool_use_id: string;
  /** Its input. */
  tool_input: Json;
}

/** DeferredToolUse is a tool call that is left to the host. */
export interface DeferredToolUse {
  /** The call. */
  id: string;
  /** The tool. */
  name: string;
  /** Its input. */
  input: Json;
}

/** InvalidConfigFile is a configuration file that could not be read. */
export interface InvalidConfigFile {
  /** The file. */
  path: string;
  /** It is the global one. */
  is_global: boolean;
  /** A backup was looked for. */
  backup_searched: boolean;
  /** The backup that was found. */
  backup_path?: string;
}

/** Usage counts the tokens of a message or a turn. */
export interface Usage {
  /** Tokens read, those of the cache not included. */
  input_tokens: number;
  /** Tokens written. */
  output_tokens: number;
  /** Tokens put into the cache. */
  cache_creation_input_tokens: number;
  /** Tokens read from the cache. */
  cache_read_input_tokens: number;
  /** The cached tokens by life time. */
  cache_creation?: CacheCreation | null;
  /** Requests of tools that run at the API. */
  server_tool_use?: ServerToolUsage | null;
  /** The service tier. */
  service_tier?: string | null;
  /** The region that the model ran in. */
  inference_geo?: string | null;
  /** standard or fast. */
  speed?: string | null;
  /** The usage of each round, where there were several. */
  iterations?: Json;
  /** The written tokens by kind. */
  output_tokens_details?: OutputTokensDetails | null;
  /** What was credited after a fallback. */
  fallback_credit?: Json;
}

/** CacheCreation counts cached tokens by life time. */
export interface CacheCreation {
  /** Kept for an hour. */
  ephemeral_1h_input_tokens: number;
  /** Kept for five minutes. */
  ephemeral_5m_input_tokens: number;
}

/** ServerToolUsage counts requests of tools that run at the API. */
export interface ServerToolUsage {
  /** Web searches. */
  web_search_requests: number;
  /** Pages fetched. */
  web_fetch_requests: number;
}

/** OutputTokensDetails counts written tokens by kind. */
export interface OutputTokensDetails {
  /** Tokens of thinking. */
  thinking_tokens?: number;
}

/** ModelUsage is what one model has used and cost. */
export interface ModelUsage {
  /** Tokens read, those of the cache not included. */
  inputTokens: number;
  /** Tokens written. */
  outputTokens: number;
  /** Tokens of thinking among them. */
  thinkingTokens?: number;
  /** Tokens read from the cache. */
  cacheReadInputTokens: number;
  /** Tokens put into the cache. */
  cacheCreationInputTokens: number;
  /** Of these, kept for five minutes. */
  cacheCreationEphemeral5mInputTokens?: number;
  /** Of these, kept for an hour. */
  cacheCreationEphemeral1hInputTokens?: number;
  /** Web searches. */
  webSearchRequests: number;
  /** The cost in US dollars. */
  costUSD: number;
  /** The model's context window. */
  contextWindow: number;
  /** The most it can write at once. */
  maxOutputTokens: number;
  /** The model's canonical name. */
  canonicalModel?: string;
  /** The service that answered. */
  provider?: string;
  /** The prices used. */
  costBasis?: CostBasis;
}

/** ContextUsage tells how full the context window is, as an assistant line carries it. */
export interface ContextUsage {
  /** The model. */
  model: string;
  /** Tokens in use. */
  total_tokens: number;
  /** The model's context window. */
  raw_max_tokens: number;
  /** The share in use, in percent. */
  percentage: number;
  /** By how much a limit is exceeded. */
  over_limit?: ContextOverLimit;
  /** What takes up the space. */
  categories: ContextShare[];
  /** The tools of MCP servers. */
  mcp_tools: ContextMCPTool[];
  /** The memory files. */
  memory_files: ContextMemoryFile[];
  /** The agents. */
  agents: ContextAgent[];
  /** The skills. */
  skills?: ContextSkill[];
}

/** ContextOverLimit tells by how much a limit of the context is exceeded. */
export interface ContextOverLimit {
  /** Tokens beyond it. */
  tokens_over: number;
  /** The limit. */
  kind: ContextLimitKind;
}

/** ContextShare is a part of the context window. */
export interface ContextShare {
  /** Its name. */
  name: string;
  /** Its size. */
  tokens: number;
  /** What it is used for. */
  kind: ContextKind;
}

/** ContextMCPTool is an MCP tool that takes up context. */
export interface ContextMCPTool {
  /** The tool. */
  name: string;
  /** Its server. */
  server_name: string;
  /** Its size. */
  tokens: number;
}

/** ContextMemoryFile is a memory file that takes up context. */
export interface ContextMemoryFile {
  /** The file. */
  path: string;
  /** Its kind. */
  type: string;
  /** Its size. */
  tokens: number;
}

/** ContextAgent is an agent whose description takes up context. */
export interface ContextAgent {
  /** The agent. */
  agent_type: string;
  /** Where it is defined. */
  source: string;
  /** Its size. */
  tokens: number;
}

/** ContextSkill is a skill whose description takes up context. */
export interface ContextSkill {
  /** The skill. */
  name: string;
  /** Where it is defined. */
  source: string;
  /** Its plugin. */
  plugin_name?: string;
  /** Its size. */
  tokens: number;
}

/** UsageReport tells what was used so far, as an assistant line carries it. */
export interface UsageReport {
  /** This session. */
  session: SessionUsage;
  /** The account's limits. */
  rate_limits: UsageReportLimits | null;
}

/** SessionUsage sums up a session. */
export interface SessionUsage {
  /** The cost in US dollars. */
  total_cost_usd: number;
  /** Time spent waiting for the API, in milliseconds. */
  total_api_duration_ms: number;
  /** Time, in milliseconds. */
  total_duration_ms: number;
  /** Lines added to files. */
  total_lines_added: number;
  /** Lines removed from files. */
  total_lines_removed: number;
  /** Tokens and cost by model. */
  model_usage: { [name: string]: ModelUsage };
}

/** UsageReportLimits lists an account's limits. */
export interface UsageReportLimits {
  /** The limits. */
  limits: UsageLimit[] | null;
  /** Usage beyond the plan. */
  extra_usage?: ExtraUsage | null;
}

/** UsageLimit is one limit of an account. */
export interface UsageLimit {
  /** Its kind. */
  kind: string;
  /** The group it belongs to. */
  group: string;
  /** The share that is used, in percent. */
  percent: number;
  /** When it starts anew. */
  resets_at: string | null;
  /** What it applies to. */
  scope?: UsageLimitScope | null;
  /** How serious it is. */
  severity: string;
  /** It applies now. */
  is_active: boolean;
}

/** UsageLimitScope is what a limit applies to. */
export interface UsageLimitScope {
  /** A model. */
  model?: DisplayName | null;
  /** A product. */
  surface?: DisplayName | null;
}

/** DisplayName is a name to show. */
export interface DisplayName {
  /** The name. */
  display_name: string;
}

/** ExtraUsage is an account's usage beyond its plan. */
export interface ExtraUsage {
  /** It is possible. */
  is_enabled: boolean;
  /** The limit per month. */
  monthly_limit: number;
  /** What is used of it. */
  used_credits: number;
  /** The share that is used. */
  utilization: number;
  /** The currency. */
  currency?: string | null;
}

/** APIMessage is a message as the API knows it. */
export interface APIMessage {
  /** The message; the lines of one message share it. */
  id: string;
  /** Always message. */
  type: string;
  /** Always assistant. */
  role: string;
  /** The model that wrote it, or <synthetic> for what the CLI wrote itself. */
  model: string;
  /** What it consists of. */
  content: Block[];
  /** Why the model stopped; null while it has not. */
  stop_reason: StopReason | null;
  /** The sequence that it stopped at. */
  stop_sequence: string | null;
  /** More about a refusal. */
  stop_details?: Json;
  /** The tokens. */
  usage: Usage;
  /** The container that server tools ran in. */
  container?: Json;
  /** What was cut from the context. */
  context_management?: Json;
  /** Notes on how the request was handled. */
  diagnostics?: Json;
}

/** TextBlock is text. */
export interface TextBlock {
  type: "text";
  /** The text. */
  text: string;
  /** Where it was taken from. */
  citations?: Json;
  /** Where the cache may end. */
  cache_control?: Json;
}

/** ThinkingBlock is what the model thought. */
export interface ThinkingBlock {
  type: "thinking";
  /** The thought; empty if it is hidden. */
  thinking: string;
  /** Proves to the API that the thought is genuine. */
  signature: string;
}

/** RedactedThinkingBlock is a thought that only the API can read. */
export interface RedactedThinkingBlock {
  type: "redacted_thinking";
  /** The encrypted thought. */
  data: string;
}

/** ToolUseBlock calls a tool. */
export interface ToolUseBlock {
  type: "tool_use";
  /** The call; its result refers to it. */
  id: string;
  /** The tool. */
  name: string;
  /** The tool's input. */
  input: Json;
  /** The caller: the model or a tool of the API. */
  caller?: Json;
  /** The set that the tool belongs to. */
  toolset_name?: string | null;
  /** Where the cache may end. */
  cache_control?: Json;
}

/** ServerToolUseBlock calls a tool that runs at the API. */
export interface ServerToolUseBlock {
  type: "server_tool_use";
  /** The call. */
  id: string;
  /** The tool. */
  name: string;
  /** The tool's input. */
  input: Json;
  /** The caller. */
  caller?: Json;
}

/** WebSearchToolResultBlock is the result of a web search at the API. */
export interface WebSearchToolResultBlock {
  type: "web_search_tool_result";
  /** The call. */
  tool_use_id: string;
  /** A list of hits, or an error. */
  content: Json;
  /** The caller. */
  caller?: Json;
}

/** WebFetchToolResultBlock is a page that the API fetched. */
export interface WebFetchToolResultBlock {
  type: "web_fetch_tool_result";
  /** The call. */
  tool_use_id: string;
  /** The page, or an error. */
  content: Json;
  /** The caller. */
  caller?: Json;
}

/** AdvisorToolResultBlock is the answer of an advising model. */
export interface AdvisorToolResultBlock {
  type: "advisor_tool_result";
  /** The call. */
  tool_use_id: string;
  /** The answer, or an error. */
  content: Json;
}

/** CodeExecutionToolResultBlock is the result of code that ran at the API. */
export interface CodeExecutionToolResultBlock {
  type: "code_execution_tool_result";
  /** The call. */
  tool_use_id: string;
  /** Output and exit code, or an error. */
  content: Json;
}

/** BashCodeExecutionToolResultBlock is the result of a shell command that ran at the API. */
export interface BashCodeExecutionToolResultBlock {
  type: "bash_code_execution_tool_result";
  /** The call. */
  tool_use_id: string;
  /** Output and exit code, or an error. */
  content: Json;
}

/** TextEditorCodeExecutionToolResultBlock is the result of a text editor command that ran at the API. */
export interface TextEditorCodeExecutionToolResultBlock {
  type: "text_editor_code_execution_tool_result";
  /** The call. */
  tool_use_id: string;
  /** What it did, or an error. */
  content: Json;
}

/** ToolSearchToolResultBlock is the result of a search for tools. */
export interface ToolSearchToolResultBlock {
  type: "tool_search_tool_result";
  /** The call. */
  tool_use_id: string;
  /** References to tools, or an error. */
  content: Json;
}

/** MCPToolUseBlock calls an MCP tool from the API. */
export interface MCPToolUseBlock {
  type: "mcp_tool_use";
  /** The call. */
  id: string;
  /** The tool. */
  name: string;
  /** Its server. */
  server_name: string;
  /** The tool's input. */
  input: Json;
}

/** MCPToolResultBlock is the result of an MCP tool called from the API. */
export interface MCPToolResultBlock {
  type: "mcp_tool_result";
  /** The call. */
  tool_use_id: string;
  /** The result. */
  content: Content;
  /** The tool failed. */
  is_error: boolean;
}

/** ContainerUploadBlock is a file put into the container of server tools. */
export interface ContainerUploadBlock {
  type: "container_upload";
  /** The file. */
  file_id: string;
}

/** CompactionBlock is a summary that stands for the conversation before it. */
export interface CompactionBlock {
  type: "compaction";
  /** The summary. */
  content: string | null;
  /** The same for the API only. */
  encrypted_content?: string | null;
  /** Proves to the API that it is genuine. */
  signature?: string | null;
  /** Changes of the tools that happened before. */
  tool_changes?: Json;
}

/** FallbackBlock marks the place where another model took over. */
export interface FallbackBlock {
  type: "fallback";
  /** The model that stopped. */
  from: FallbackModel;
  /** The model that went on. */
  to: FallbackModel;
  /** Why. */
  trigger: Json;
}

/** FallbackModel is a model at one side of a fallback. */
export interface FallbackModel {
  /** The model. */
  model: string;
}

/** ToolResultBlock is the result of a tool call. */
export interface ToolResultBlock {
  type: "tool_result";
  /** The call. */
  tool_use_id: string;
  /** The result: text, or blocks of text, images, documents, search results and tool references. */
  content?: Content;
  /** The tool failed or was refused. */
  is_error?: boolean;
  /** The set that the tool belongs to. */
  toolset_name?: string | null;
  /** Where the cache may end. */
  cache_control?: Json;
}

/** ImageBlock is an image. */
export interface ImageBlock {
  type: "image";
  /** The image itself or where to find it. */
  source: MediaSource;
  /** How the API may change it. */
  transformations?: Json;
  /** Where the cache may end. */
  cache_control?: Json;
}

/** DocumentBlock is a document. */
export interface DocumentBlock {
  type: "document";
  /** The document itself or where to find it. */
  source: MediaSource;
  /** Its title. */
  title?: string | null;
  /** What the model should know about it. */
  context?: string | null;
  /** Whether it may be cited. */
  citations?: Json;
  /** Where the cache may end. */
  cache_control?: Json;
}

/** MediaSource holds an image or a document, or tells where to find it. Which members are set depends on the type. */
export interface MediaSource {
  /** base64, url, file, and for documents also text and content. */
  type: string;
  /** The media type, for base64 and text. */
  media_type?: string;
  /** The data, for base64 and text. */
  data?: string;
  /** The address, for url. */
  url?: string;
  /** The uploaded file, for file. */
  file_id?: string;
  /** The blocks, for content. */
  content?: Content;
}

/** SearchResultBlock is a search result that can be cited. */
export interface SearchResultBlock {
  type: "search_result";
  /** Where it was found. */
  source: string;
  /** Its title. */
  title: string;
  /** Its text. */
  content: Block[];
  /** Whether it may be cited. */
  citations?: Json;
  /** Where the cache may end. */
  cache_control?: Json;
}

/** ToolReferenceBlock names a tool that a search found. */
export interface ToolReferenceBlock {
  type: "tool_reference";
  /** The tool. */
  tool_name: string;
  /** Where the cache may end. */
  cache_control?: Json;
}

/** MessageStartEvent opens a message. What was streamed of an unfinished one before it is void. */
export interface MessageStartEvent {
  type: "message_start";
  /** The message, still without content. */
  message: APIMessage;
}

/** ContentBlockStartEvent opens a content block. */
export interface ContentBlockStartEvent {
  type: "content_block_start";
  /** The number of the block, from 0. */
  index: number;
  /** The block, still empty. */
  content_block: Block;
}

/** ContentBlockDeltaEvent adds to a content block. */
export interface ContentBlockDeltaEvent {
  type: "content_block_delta";
  /** The number of the block. */
  index: number;
  /** What is added. */
  delta: Delta;
}

/** ContentBlockStopEvent closes a content block. Its assistant line comes before this. */
export interface ContentBlockStopEvent {
  type: "content_block_stop";
  /** The number of the block. */
  index: number;
}

/** MessageDeltaEvent brings what is only known at the end of a message. */
export interface MessageDeltaEvent {
  type: "message_delta";
  /** What changed. */
  delta: MessageChange;
  /** The tokens, cumulative. */
  usage: Usage;
  /** What was cut from the context. */
  context_management?: Json;
}

/** MessageChange is what the end of a message changes about it. */
export interface MessageChange {
  /** Why the model stopped; null while it has not. */
  stop_reason: StopReason | null;
  /** The sequence that it stopped at. */
  stop_sequence: string | null;
  /** More about a refusal. */
  stop_details?: Json;
  /** The container that server tools ran in. */
  container?: Json;
}

/** MessageStopEvent closes a message. */
export interface MessageStopEvent {
  type: "message_stop";
}

/** PingEvent keeps the stream open and means nothing. */
export interface PingEvent {
  type: "ping";
}

/** ErrorEvent ends the stream with an error. */
export interface ErrorEvent {
  type: "error";
  /** The error. */
  error: APIErrorBody;
}

/** APIErrorBody is an error of the API. */
export interface APIErrorBody {
  /** Its kind, for example overloaded_error. */
  type: string;
  /** Its text. */
  message: string;
}

/** TextDelta is more text. */
export interface TextDelta {
  type: "text_delta";
  /** The text. */
  text: string;
}

/** InputJSONDelta is more of a tool's input. */
export interface InputJSONDelta {
  type: "input_json_delta";
  /** A piece of JSON; only all pieces together are valid. */
  partial_json: string;
}

/** ThinkingDelta is more of a thought. */
export interface ThinkingDelta {
  type: "thinking_delta";
  /** The thought. */
  thinking: string;
  /** How much was thought, where the thought is hidden. */
  estimated_tokens?: number | null;
}

/** SignatureDelta is the signature of a thought. */
export interface SignatureDelta {
  type: "signature_delta";
  /** The signature. */
  signature: string;
}

/** CitationsDelta is a citation of a text. */
export interface CitationsDelta {
  type: "citations_delta";
  /** The citation. */
  citation: Json;
}

/** CompactionDelta is more of a compaction's summary. */
export interface CompactionDelta {
  type: "compaction_delta";
  /** The summary. */
  content: string | null;
  /** The same for the API only. */
  encrypted_content?: string | null;
}

/** InitializeRequest sets up the session. It must be the first line: versions up to 2.1.120 refuse it after a user message. Sent again it tells which questions are open. */
export interface InitializeRequest {
  subtype: "initialize";
  /** The hooks, keyed by event. An empty object sent again removes all of them, so leave it out instead. */
  hooks?: { [name: string]: HookMatcher[] };
  /** Names of MCP servers that the host serves through mcp_message. */
  sdkMcpServers?: string[];
  /** More about them, keyed by name. Newer versions only. */
  sdkMcpServerConfigs?: { [name: string]: SDKMCPServerConfig };
  /** Their handshakes, done in advance, keyed by name. Newer versions only. */
  sdkMcpServerManifests?: { [name: string]: SDKMCPServerManifest };
  /** How fresh the manifests are: host_per_send. Newer versions only. */
  sdkMcpServerManifestsOrigin?: string;
  /** The JSON schema that the final output has to follow. */
  jsonSchema?: Json;
  /** The system prompt: a string in 2.1.37, a list of strings in 2.1.325. */
  systemPrompt?: Json;
  /** Text to add to the system prompt. */
  appendSystemPrompt?: string;
  /** Keep the system prompt as it is now. Newer versions only. */
  systemPromptSnapshot?: boolean;
  /** Instructions for plan mode. Newer versions only. */
  planModeInstructions?: string;
  /** Other names for tools. Newer versions only. */
  toolAliases?: { [name: string]: string };
  /** Leave out the parts of the system prompt that change. Newer versions only. */
  excludeDynamicSections?: boolean;
  /** Custom agents, keyed by name. */
  agents?: { [name: string]: AgentDefinition };
  /** The session's title. Newer versions only. */
  title?: string;
  /** The skills to offer. Newer versions only. */
  skills?: string[];
  /** Send guesses of the next prompt. Newer versions only. */
  promptSuggestions?: boolean;
  /** Sum up what sub-agents do. Newer versions only. */
  agentProgressSummaries?: boolean;
  /** Send the texts of sub-agents too. Newer versions only. */
  forwardSubagentText?: boolean;
  /** The kinds of dialogs that the host can show. No others are sent. Newer versions only. */
  supportedDialogKinds?: string[];
  /** The host lets the user stop single tasks. Newer versions only. */
  perTaskStopAffordance?: boolean;
  /** Plugins to load. Newer versions only. */
  plugins?: PluginConfig[];
}

/** HookMatcher registers callbacks for the calls of one event that match. */
export interface HookMatcher {
  /** A pattern of tool names such as "Bash|Edit". Empty means all. */
  matcher?: string | null;
  /** The callbacks; each is called with a hook_callback request of its own. */
  hookCallbackIds: string[];
  /** Seconds to wait for an answer. If zero, 600. */
  timeout?: number;
  /** What a failure means. Newer versions only. */
  onFailure?: HookFailure;
}

/** SDKMCPServerConfig configures an MCP server that the host serves. */
export interface SDKMCPServerConfig {
  /** Milliseconds to wait for a tool. */
  timeout?: number;
  /** What its tools may do. */
  tools?: MCPToolPolicy[];
}

/** SDKMCPServerManifest is the handshake of an MCP server that the host serves, done in advance. */
export interface SDKMCPServerManifest {
  /** The result of the MCP request initialize. */
  initializeResult: Json;
  /** The result of the MCP request tools/list. */
  toolsListResult?: Json;
}

/** AgentDefinition defines a custom agent. */
export interface AgentDefinition {
  /** When to use it. */
  description: string;
  /** The tools it may use. If absent, all. */
  tools?: string[];
  /** The tools it may not use. */
  disallowedTools?: string[];
  /** Its system prompt. */
  prompt: string;
  /** Its model. */
  model?: string;
  /** Its MCP servers: names, or objects of configurations keyed by name. */
  mcpServers?: Json[];
  /** A reminder that is repeated to it. Experimental. */
  criticalSystemReminder_EXPERIMENTAL?: string;
  /** Its skills. */
  skills?: string[];
  /** Its first prompt. */
  initialPrompt?: string;
  /** The most rounds with the model. */
  maxTurns?: number;
  /** The size of the context at which it compacts. */
  autoCompactWindow?: number;
  /** It runs in the background. */
  background?: boolean;
  /** It does not see the project's instructions. */
  omitClaudeMd?: boolean;
  /** The memory it uses: user, project or local. */
  memory?: string;
  /** Its effort: a level or a number. */
  effort?: Json;
  /** Its permission mode. */
  permissionMode?: PermissionMode;
  /** The agent that observes it. */
  observer?: string;
  /** What the observing agent is told. */
  observerMessage?: string;
}

/** PluginConfig names a plugin to load. */
export interface PluginConfig {
  /** Always local. */
  type: string;
  /** Its folder. */
  path: string;
  /** Do not look for its MCP servers. */
  skipMcpDiscovery?: boolean;
}

/** InterruptRequest stops the running turn. When nothing runs it does no harm. */
export interface InterruptRequest {
  subtype: "interrupt";
  /** Also drops the messages that are waiting. Newer versions only; older ones run them next. */
  cancel_queued?: boolean;
}

/** EndSessionRequest ends the process with code 0. */
export interface EndSessionRequest {
  subtype: "end_session";
  /** Why. */
  reason?: string;
}

/** SetPermissionModeRequest changes the permission mode. 2.1.37 answers twice. */
export interface SetPermissionModeRequest {
  subtype: "set_permission_mode";
  /** The new mode. Versions up to 2.1.62 accept any string; 2.1.325 checks it. */
  mode: PermissionMode;
}

/** SetModelRequest changes the model, from the next request to the API on. */
export interface SetModelRequest {
  subtype: "set_model";
  /** The model. Empty means the default. Any name is accepted; a wrong one fails at the next request to the API. */
  model?: string | null;
}

/** SetMaxThinkingTokensRequest limits how much the model thinks. */
export interface SetMaxThinkingTokensRequest {
  subtype: "set_max_thinking_tokens";
  /** The limit; nil or 0 turns thinking off on 2.1.37. */
  max_thinking_tokens: number;
  /** How much of it is shown. Newer versions only. */
  thinking_display?: ThinkingDisplay | null;
}

/** ApplyFlagSettingsRequest merges settings into the layer of the command line. */
export interface ApplyFlagSettingsRequest {
  subtype: "apply_flag_settings";
  /** The settings. */
  settings: Json;
}

/** GetSettingsRequest asks for the settings in force and where they come from. */
export interface GetSettingsRequest {
  subtype: "get_settings";
}

/** UpdateSettingsRequest writes settings into a file. Most keys are refused. */
export interface UpdateSettingsRequest {
  subtype: "update_settings";
  /** The file: localSettings or userSettings. */
  source: SettingsSource;
  /** The settings. */
  settings: Json;
}

/** RenameSessionRequest gives the session a title. */
export interface RenameSessionRequest {
  subtype: "rename_session";
  /** The title. */
  title: string;
  /** What renames it. */
  source?: RenameSource;
  /** The conversation. */
  session_id?: string;
}

/** GenerateSessionTitleRequest has a title made up for the session. */
export interface GenerateSessionTitleRequest {
  subtype: "generate_session_title";
  /** What the session is about. */
  description: string;
  /** Also keep it. */
  persist?: boolean;
}

/** SetColorRequest sets the session's color. No version that was tried takes it without a screen. */
export interface SetColorRequest {
  subtype: "set_color";
  /** The colour. */
  color: string;
}

/** SetHasSubscribersRequest tells the CLI whether anyone is watching. */
export interface SetHasSubscribersRequest {
  subtype: "set_has_subscribers";
  /** Whether; nil means not known. */
  has_subscribers: boolean;
}

/** CancelAsyncMessageRequest takes back a user message that is still waiting. */
export interface CancelAsyncMessageRequest {
  subtype: "cancel_async_message";
  /** The message. */
  message_uuid: string;
}

/** RewindFilesRequest undoes changes of files since a user message. It needs CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING=1 in the environment. */
export interface RewindFilesRequest {
  subtype: "rewind_files";
  /** The uuid of the user message. */
  user_message_id: string;
  /** Only tell what would be undone. */
  dry_run?: boolean;
}

/** SideQuestionRequest asks the model something beside the conversation, which does not see it. */
export interface SideQuestionRequest {
  subtype: "side_question";
  /** The question. */
  question: string;
  /** Earlier side questions and answers. Newer versions only. */
  history?: Json;
}

/** StopTaskRequest stops a running task. */
export interface StopTaskRequest {
  subtype: "stop_task";
  /** The task. */
  task_id: string;
}

/** BackgroundTasksRequest moves running commands and sub-agents to the background. */
export interface BackgroundTasksRequest {
  subtype: "background_tasks";
  /** The tool call. If empty, all. */
  tool_use_id?: string;
}

/** GetTaskOutputRequest asks for the end of a background command's output. */
export interface GetTaskOutputRequest {
  subtype: "get_task_output";
  /** The task. */
  task_id: string;
}

/** GetContextUsageRequest asks what takes up the context window. */
export interface GetContextUsageRequest {
  subtype: "get_context_usage";
  /** How much detail is wanted. Newer versions only. */
  detail?: ContextDetail;
}

/** GetSessionCostRequest asks for a text about the cost so far. */
export interface GetSessionCostRequest {
  subtype: "get_session_cost";
}

/** GetUsageRequest asks for usage and, with a subscription, its limits. */
export interface GetUsageRequest {
  subtype: "get_usage";
  /** Leave out the habits. */
  skip_behaviors?: boolean;
}

/** ListModelsRequest asks for the models that can be chosen. */
export interface ListModelsRequest {
  subtype: "list_models";
}

/** GetBinaryVersionRequest asks for the CLI's version. */
export interface GetBinaryVersionRequest {
  subtype: "get_binary_version";
}

/** GetHooksListingRequest asks for the hooks in force. */
export interface GetHooksListingRequest {
  subtype: "get_hooks_listing";
}

/** ListPermissionRulesRequest asks for the permission rules in force. */
export interface ListPermissionRulesRequest {
  subtype: "list_permission_rules";
}

/** FileSuggestionsRequest asks for files that complete a mention. */
export interface FileSuggestionsRequest {
  subtype: "file_suggestions";
  /** The beginning of a path. */
  query: string;
}

/** ReadFileRequest asks for the contents of a file within the working directories. */
export interface ReadFileRequest {
  subtype: "read_file";
  /** The file. */
  path: string;
  /** The most to read. */
  max_bytes?: number;
  /** How to encode the contents. */
  encoding?: FileEncoding;
}

/** SeedReadStateRequest tells the CLI that the model has already read a file. */
export interface SeedReadStateRequest {
  subtype: "seed_read_state";
  /** The file. */
  path: string;
  /** When the file was last changed, in milliseconds since 1970. */
  mtime: number;
}

/** RegisterRepoRootRequest adds a working directory. */
export interface RegisterRepoRootRequest {
  subtype: "register_repo_root";
  /** The directory. */
  directory: string;
  /** Read its instructions. */
  reload_claude_md?: boolean;
  /** Read its plugins. */
  reload_plugins?: boolean;
  /** Read its skills. */
  reload_skills?: boolean;
}

/** ReloadPluginsRequest reads the plugins anew. */
export interface ReloadPluginsRequest {
  subtype: "reload_plugins";
  /** Only tell, if the prompt cache would be lost. Newer versions only. */
  hold_on_cache_impact?: boolean;
  /** Plugins to add. Newer versions only. */
  add_plugins?: PluginConfig[];
  /** Refuse while a turn runs. Newer versions only. */
  refuse_if_busy?: boolean;
}

/** ReloadSkillsRequest reads the skills anew. */
export interface ReloadSkillsRequest {
  subtype: "reload_skills";
}

/** ReloadOutputStylesRequest reads the output styles anew. */
export interface ReloadOutputStylesRequest {
  subtype: "reload_output_styles";
}

/** MCPStatusRequest asks for the MCP servers and their states. */
export interface MCPStatusRequest {
  subtype: "mcp_status";
  /** Do not answer from memory. Newer versions only. */
  liveReply?: boolean;
}

/** MCPSetServersRequest replaces the MCP servers that were added this way. */
export interface MCPSetServersRequest {
  subtype: "mcp_set_servers";
  /** The servers, keyed by name. */
  servers: { [name: string]: MCPServerConfig };
}

/** MCPReconnectRequest connects an MCP server again. Servers of the host cannot be reconnected. */
export interface MCPReconnectRequest {
  subtype: "mcp_reconnect";
  /** The server. */
  serverName: string;
}

/** MCPToggleRequest switches an MCP server on or off. */
export interface MCPToggleRequest {
  subtype: "mcp_toggle";
  /** The server. */
  serverName: string;
  /** On or off. */
  enabled: boolean;
}

/** MCPCallRequest calls an MCP tool without the model. */
export interface MCPCallRequest {
  subtype: "mcp_call";
  /** The tool, by its full name. */
  tool: string;
  /** Its input. */
  arguments?: Json;
  /** When the call is no longer wanted. */
  expires_at?: string;
  /** Milliseconds to wait. */
  timeout_ms?: number;
  /** The result will not be shown to the model. */
  result_not_for_model?: boolean;
  /** Apply the permission rules. */
  check_permissions?: boolean;
  /** Files for the tool. */
  input_files?: StagedFile[];
  /** Files from the tool. */
  output_files?: StagedFile[];
}

/** StagedFile is a file that goes to or comes from a tool. */
export interface StagedFile {
  /** Its name for the tool. */
  name: string;
  /** Where it is kept. */
  lane_path: string;
  /** The version that may be overwritten. */
  if_match?: string;
}

/** MCPReadResourceRequest reads a user interface resource of an MCP server. */
export interface MCPReadResourceRequest {
  subtype: "mcp_read_resource";
  /** The server. */
  serverName: string;
  /** The resource. */
  uri: string;
}

/** MCPMessageRequest carries a JSON-RPC message between the CLI and an MCP server of the host. */
export interface MCPMessageRequest {
  subtype: "mcp_message";
  /** The server. */
  server_name: string;
  /** The message. */
  message: JSONRPC;
}

/** CanUseToolRequest asks whether a tool may run. There is no deadline: until it is answered the tool waits. */
export interface CanUseToolRequest {
  subtype: "can_use_tool";
  /** The tool. AskUserQuestion and ExitPlanMode are questions to the user. */
  tool_name: string;
  /** The MCP server of the tool. Newer versions only. */
  mcp_server?: MCPServerRef;
  /** The tool's input. */
  input: Json;
  /** Updates that would save the question in future; to allow always, send them back. */
  permission_suggestions?: PermissionUpdate[];
  /** The path that is not allowed. */
  blocked_path?: string;
  /** Why it is asked. */
  decision_reason?: string;
  /** What made the CLI ask. Known since 2.1.120. */
  decision_reason_type?: DecisionReasonType;
  /** The event of the hook that made the CLI ask. Seen on 2.1.325, undocumented. */
  decision_reason_hook_event?: string;
  /** A policy lets this be asked only. Seen on 2.1.325, undocumented. */
  server_policy_ask_only?: boolean;
  /** A classifier may answer it. */
  classifier_approvable?: boolean;
  /** Do not offer to allow it always. */
  suppress_always_allow_rule?: boolean;
  /** The answer no should be the obvious one. */
  default_to_no?: boolean;
  /** The rule that made the CLI ask. */
  matched_ask_rule?: MatchedRule;
  /** A heading for the question. */
  title?: string;
  /** The tool's name for people. Known since 2.1.120. */
  display_name?: string;
  /** The tool call. */
  tool_use_id: string;
  /** The sub-agent that wants it. */
  agent_id?: string;
  /** What the call does. */
  description?: string;
  /** Only a person can answer it. */
  requires_user_interaction?: boolean;
}

/** MatchedRule is a permission rule that matched a tool call. */
export interface MatchedRule {
  /** The layer it comes from. */
  source: string;
  /** Its tool. */
  tool_name: string;
  /** What it matches. */
  rule_content?: string;
}

/** HookCallbackRequest calls a hook that initialize registered. */
export interface HookCallbackRequest {
  subtype: "hook_callback";
  /** The callback. */
  callback_id: string;
  /** What happened. */
  input: HookInput;
  /** The tool call, or a made-up id for events without one. */
  tool_use_id?: string;
}

/** ElicitationRequest asks the user something for an MCP server. */
export interface ElicitationRequest {
  subtype: "elicitation";
  /** The server. */
  mcp_server_name: string;
  /** The question. */
  message: string;
  /** A form or a page to open. */
  mode?: ElicitationMode;
  /** The page. */
  url?: string;
  /** The elicitation. */
  elicitation_id?: string;
  /** The JSON schema of the form. */
  requested_schema?: Json;
  /** The order of the form's fields. */
  property_order?: string[];
  /** A heading. */
  title?: string;
  /** The server's name for people. */
  display_name?: string;
  /** What it is about. */
  description?: string;
}

/** UserDialogRequest asks the host to show a dialog. A host that cannot show it must not answer. */
export interface UserDialogRequest {
  subtype: "request_user_dialog";
  /** The kind of dialog. */
  dialog_kind: string;
  /** What to show. */
  payload: Json;
  /** The tool call it belongs to. */
  tool_use_id?: string;
}

/** SDKControlInterruptRequest acknowledges an interrupt. Described by third parties, never seen; it is understood in case it comes. */
export interface SDKControlInterruptRequest {
  subtype: "sdk_control_interrupt";
}

/** InitializeAnswer tells what the session offers. */
export interface InitializeAnswer {
  /** The slash commands. */
  commands: SlashCommand[];
  /** The agents. Known since 2.1.63. */
  agents?: AgentInfo[];
  /** The output style. */
  output_style: string;
  /** The output styles that can be chosen. */
  available_output_styles: string[];
  /** The models that can be chosen. */
  models: ModelInfo[];
  /** The account that is logged in. */
  account: AccountInfo;
  /** The CLI's process. Known since 2.1.40. */
  pid?: number;
  /** The hooks that were sent are in force. */
  hooks_applied?: boolean;
  /** The member onFailure of hooks is understood. */
  hook_on_failure_supported?: boolean;
  /** The plugins that were sent are loaded. */
  plugins_applied?: boolean;
  /** What became of the manifests, keyed by server. */
  sdk_mcp_manifests_parked?: { [name: string]: ManifestFate };
  /** The CLI's version. Versions up to 2.1.120 do not tell it here. */
  claude_code_version?: string;
  /** The permission mode in force. Seen on 2.1.325, undocumented. */
  current_permission_mode?: PermissionMode;
  /** What the session is doing. Seen on 2.1.325, undocumented. */
  session_state?: SessionState;
  /** Features of this CLI. Seen on 2.1.325, undocumented. */
  capabilities?: string[];
  /** The state of fast mode. */
  fast_mode_state?: FastModeState;
  /** Why fast mode cannot be used. */
  fast_mode_disabled_reason?: FastModeDisabledReason;
}

/** AgentInfo is an agent that can be used. */
export interface AgentInfo {
  /** Its name. */
  name: string;
  /** When to use it. */
  description: string;
  /** Its model. */
  model?: string;
}

/** ModelInfo is a model that can be chosen. */
export interface ModelInfo {
  /** What set_model wants. */
  value: string;
  /** The model's full name. */
  resolvedModel?: string;
  /** Its name for people. */
  displayName: string;
  /** What it is good for. */
  description: string;
  /** The effort can be chosen. */
  supportsEffort?: boolean;
  /** The levels of effort. */
  supportedEffortLevels?: Effort[];
  /** It decides on its own how much to think. */
  supportsAdaptiveThinking?: boolean;
  /** Fast mode can be used. */
  supportsFastMode?: boolean;
  /** The permission mode auto can be used. */
  supportsAutoMode?: boolean;
}

/** AccountInfo describes the account that is logged in. */
export interface AccountInfo {
  /** The user. */
  email?: string;
  /** The organisation. */
  organization?: string;
  /** The plan. */
  subscriptionType?: string;
  /** Where the token comes from. */
  tokenSource?: string;
  /** Where the API key comes from. */
  apiKeySource?: string;
  /** The service that runs the model. */
  apiProvider?: APIProvider;
}

/** InterruptAnswer tells what is left after an interrupt. Only newer versions send it. */
export interface InterruptAnswer {
  /** The messages that wait and will run next, by uuid. */
  still_queued: string[];
  /** The messages that were dropped. */
  cancelled?: string[];
}

/** SetPermissionModeAnswer tells the mode that is now in force. */
export interface SetPermissionModeAnswer {
  /** The mode. */
  mode?: PermissionMode;
}

/** SetModelAnswer tells the model that is now in use. Only newer versions send it. */
export interface SetModelAnswer {
  /** The model's full name. */
  model?: string;
}

/** GetSettingsAnswer tells the settings in force and where they come from. */
export interface GetSettingsAnswer {
  /** All layers merged. */
  effective: Json;
  /** The layers. */
  sources: SettingsLayer[];
  /** What follows from them. */
  applied?: AppliedSettings;
  /** What could not be read. */
  errors?: SettingsError[];
  /** Parts were left out. */
  withheld?: boolean;
}

/** SettingsLayer is one layer of the settings. */
export interface SettingsLayer {
  /** The layer. */
  source: SettingsSource;
  /** Its settings. */
  settings: Json;
}

/** AppliedSettings is what follows from the settings. */
export interface AppliedSettings {
  /** The model in use. */
  model: string;
  /** The effort. */
  effort: Effort | null;
  /** The advising model. */
  advisor?: string | null;
  /** Ultracode is on. */
  ultracode?: boolean;
  /** Ultracode was asked for. */
  ultracodeRequested?: boolean;
  /** Ultracode can be used. */
  ultracodeAvailable?: boolean;
  /** Ultrathink can be used. */
  ultrathinkAvailable?: boolean;
}

/** SettingsError is an error in a settings file. */
export interface SettingsError {
  /** The file. */
  file?: string;
  /** The place within it. */
  path: string;
  /** The error. */
  message: string;
}

/** GenerateSessionTitleAnswer brings a title. */
export interface GenerateSessionTitleAnswer {
  /** The title. */
  title: string | null;
}

/** CancelAsyncMessageAnswer tells whether a message could be taken back. */
export interface CancelAsyncMessageAnswer {
  /** It could. */
  cancelled: boolean;
}

/** RewindFilesAnswer tells what was or would be undone. */
export interface RewindFilesAnswer {
  /** It is possible. */
  canRewind: boolean;
  /** Why not. */
  error?: string;
  /** The files, by path. Told by a dry run. */
  filesChanged?: string[];
  /** Lines that come back. */
  insertions?: number;
  /** Lines that go. */
  deletions?: number;
  /** Links that were left alone. */
  skippedLinks?: number;
}

/** SideQuestionAnswer is the model's reply to a side question. */
export interface SideQuestionAnswer {
  /** The reply. */
  response: string | null;
  /** The CLI wrote it, not the model. */
  synthetic?: boolean;
  /** The other model that replied after a refusal. */
  refusal_fallback?: Json;
}

/** BackgroundTasksAnswer tells whether something was moved to the background. */
export interface BackgroundTasksAnswer {
  /** It was. */
  backgrounded?: boolean;
}

/** GetTaskOutputAnswer is the end of a task's output. */
export interface GetTaskOutputAnswer {
  /** At most the last 8 KiB. */
  output: string;
  /** The size of all of it. */
  total_bytes: number;
  /** There is more. */
  truncated: boolean;
}

/** GetContextUsageAnswer tells what takes up the context window. */
export interface GetContextUsageAnswer {
  /** The parts. */
  categories: ContextCategory[];
  /** Tokens in use. */
  totalTokens: number;
  /** Tokens that can be used. */
  maxTokens: number;
  /** The model's context window. */
  rawMaxTokens: number;
  /** The share in use, in percent. */
  percentage: number;
  /** The same as a picture. */
  gridRows?: ContextCell[][];
  /** The model. */
  model: string;
  /** The memory files. */
  memoryFiles: ContextMemoryFile[];
  /** The tools of MCP servers. */
  mcpTools: ContextTool[];
  /** The instructions of MCP servers. */
  mcpInstructions?: ContextTool[];
  /** Built-in tools that are loaded on demand. */
  deferredBuiltinTools?: ContextTool[];
  /** Built-in tools. */
  systemTools?: ContextTool[];
  /** Sections of the system prompt. */
  systemPromptSections?: ContextTool[];
  /** The agents. */
  agents: ContextItem[];
  /** The slash commands. */
  slashCommands?: ContextCommands;
  /** The skills. */
  skills?: ContextSkills;
  /** The size at which compaction starts. */
  autoCompactThreshold?: number;
  /** Compaction starts automatically. */
  isAutoCompactEnabled: boolean;
  /** What the conversation consists of. */
  messageBreakdown?: ContextMessages;
  /** The tokens of the last request. */
  apiUsage: ContextAPIUsage | null;
}

/** ContextCategory is a part of the context window. */
export interface ContextCategory {
  /** What it is. */
  id?: ContextCategoryID;
  /** Its name. */
  name: string;
  /** Its size. */
  tokens: number;
  /** The colour to show it in. */
  color: string;
  /** It is loaded on demand. */
  isDeferred?: boolean;
  /** What it is used for. */
  kind?: ContextKind;
}

/** ContextCell is a cell of the picture of the context window. */
export interface ContextCell {
  /** Its colour. */
  color: string;
  /** It is in use. */
  isFilled: boolean;
  /** The part it belongs to. */
  categoryName: string;
  /** The size of that part. */
  tokens: number;
  /** The share of that part, in percent. */
  percentage: number;
  /** How full the cell is, from 0 to 1. */
  squareFullness: number;
}

/** ContextTool is a tool or a text that takes up context. */
export interface ContextTool {
  /** Its name. */
  name?: string;
  /** Its MCP server. */
  serverName?: string;
  /** Its size. */
  tokens: number;
  /** It is loaded. */
  isLoaded?: boolean;
}

/** ContextItem is an agent or a skill whose description takes up context. */
export interface ContextItem {
  /** The agent. */
  agentType?: string;
  /** The skill. */
  name?: string;
  /** Where it is defined. */
  source: string;
  /** The name of its plugin. */
  pluginName?: string;
  /** Its plugin. */
  pluginId?: string;
  /** Its file. */
  path?: string;
  /** Its size. */
  tokens: number;
}

/** ContextCommands counts slash commands. */
export interface ContextCommands {
  /** All of them. */
  totalCommands: number;
  /** Those in the context. */
  includedCommands: number;
  /** Their size. */
  tokens: number;
}

/** ContextSkills counts skills. */
export interface ContextSkills {
  /** All of them. */
  totalSkills: number;
  /** Those in the context. */
  includedSkills: number;
  /** Their size. */
  tokens: number;
  /** The skills one by one. */
  skillFrontmatter: ContextItem[];
}

/** ContextMessages tells what the conversation consists of. */
export interface ContextMessages {
  /** Tool calls. */
  toolCallTokens: number;
  /** Tool results. */
  toolResultTokens: number;
  /** Attachments. */
  attachmentTokens: number;
  /** The model's answers. */
  assistantMessageTokens: number;
  /** The user's messages. */
  userMessageTokens: number;
  /** Redirected context. */
  redirectedContextTokens?: number;
  /** The rest. */
  unattributedTokens?: number;
  /** Tool calls by tool. */
  toolCallsByType: ContextToolCalls[];
  /** Attachments by kind. */
  attachmentsByType: ContextTool[];
}

/** ContextToolCalls is the size of the calls of one tool. */
export interface ContextToolCalls {
  /** The tool. */
  name: string;
  /** The calls. */
  callTokens: number;
  /** Their results. */
  resultTokens: number;
}

/** ContextAPIUsage counts the tokens of a request. */
export interface ContextAPIUsage {
  /** Tokens read, those of the cache not included. */
  input_tokens: number;
  /** Tokens written. */
  output_tokens: number;
  /** Tokens put into the cache. */
  cache_creation_input_tokens: number;
  /** Tokens read from the cache. */
  cache_read_input_tokens: number;
}

/** GetSessionCostAnswer is a text about the cost so far. */
export interface GetSessionCostAnswer {
  /** The text. */
  text: string;
}

/** GetUsageAnswer tells usage and limits. */
export interface GetUsageAnswer {
  /** This session. */
  session: SessionUsage;
  /** The plan. */
  subscription_type: string | null;
  /** Limits are known. */
  rate_limits_available: boolean;
  /** The limits. */
  rate_limits: PlanLimits | null;
  /** The habits that drive up usage. */
  behaviors: UsageBehaviors | null;
}

/** PlanLimits lists the limits of a plan. */
export interface PlanLimits {
  /** Five hours. */
  five_hour?: LimitUse | null;
  /** Seven days, all models. */
  seven_day?: LimitUse | null;
  /** Seven days, other programs. */
  seven_day_oauth_apps?: LimitUse | null;
  /** Seven days, Opus. */
  seven_day_opus?: LimitUse | null;
  /** Seven days, Sonnet. */
  seven_day_sonnet?: LimitUse | null;
  /** Limits of single models. */
  model_scoped?: LimitUse[];
  /** Usage beyond the plan. */
  extra_usage?: ExtraUsage | null;
}

/** LimitUse tells how much of a limit is used. */
export interface LimitUse {
  /** The model, for limits of single models. */
  display_name?: string;
  /** The share that is used. */
  utilization: number;
  /** When it starts anew. */
  resets_at: string | null;
}

/** UsageBehaviors tells the habits that drive up usage. */
export interface UsageBehaviors {
  /** The last day. */
  day: UsagePeriod;
  /** The last week. */
  week: UsagePeriod;
}

/** UsagePeriod sums up the usage of a period. */
export interface UsagePeriod {
  /** Requests. */
  request_count: number;
  /** Sessions. */
  session_count: number;
  /** The habits. */
  behaviors: UsageHabit[];
  /** What could be done about them. */
  recommendations?: UsageAdvice[];
  /** What the CLI offers to do about them. */
  fix?: UsageFix;
  /** The share of each agent. */
  agents: UsageShare[];
  /** The share of each skill. */
  skills: UsageShare[];
  /** The share of each plugin. */
  plugins: UsageShare[];
  /** The share of each MCP server. */
  mcp_servers: UsageShare[];
}

/** UsageHabit is a habit that drives up usage. */
export interface UsageHabit {
  /** The habit. */
  key: UsageBehavior;
  /** Its share, in percent. */
  pct: number;
  /** How often it was seen. */
  count: number;
}

/** UsageAdvice is advice on a habit. */
export interface UsageAdvice {
  /** The habit. */
  key: string;
  /** Its share, in percent. */
  pct: number;
  /** The advice. */
  title: string;
  /** More about it. */
  detail?: string;
}

/** UsageFix is what the CLI offers to do about habits. */
export interface UsageFix {
  /** The habits. */
  keys: string[];
  /** The texts. */
  messages: string[];
}

/** UsageShare is the share that one thing has in the usage. */
export interface UsageShare {
  /** The thing. */
  name: string;
  /** Its share, in percent. */
  pct: number;
}

/** ListModelsAnswer lists the models that can be chosen. */
export interface ListModelsAnswer {
  /** The models. */
  models: ModelInfo[];
}

/** GetBinaryVersionAnswer tells the CLI's version. */
export interface GetBinaryVersionAnswer {
  /** The version. */
  version: string;
  /** When it was built. */
  buildTime?: string;
}

/** GetHooksListingAnswer lists the hooks in force. */
export interface GetHooksListingAnswer {
  /** The events that have hooks. */
  events: HookEventInfo[];
  /** The hooks. */
  hooks: HookInfo[];
  /** All events. */
  eventCatalog: HookEventInfo[];
  /** What an organisation's policy does to hooks. */
  policy: HookPolicy;
  /** The CLI runs in safe mode. */
  safeMode?: HookSafeMode;
  /** The CLI runs in bare mode. */
  bareMode?: HookBareMode;
  /** What could not be read. */
  errors?: SettingsError[];
}

/** HookEventInfo describes an event that can have hooks. */
export interface HookEventInfo {
  /** The event. */
  name: string;
  /** When it happens. */
  summary: string;
  /** Its hooks can be limited to some tools. */
  supportsMatcher: boolean;
  /** How many hooks it has. */
  hookCount?: number;
}

/** HookInfo describes a hook. */
export interface HookInfo {
  /** Its event. */
  event: string;
  /** What it is limited to. */
  matcher: string;
  /** Where it is defined. */
  source: string;
  /** The same for people. */
  sourceLabel: string;
  /** Its plugin. */
  pluginName?: string;
  /** Its kind. */
  type: string;
  /** What to show. */
  displayText: string;
  /** What it runs. */
  commandText: string;
  /** What that text is. */
  contentLabel: string;
  /** When it runs. */
  condition?: string;
  /** Seconds until it is given up. */
  timeout?: number;
  /** What is shown while it runs. */
  statusMessage?: string;
  /** It runs once. */
  runsOnce?: boolean;
  /** The turn does not wait for it. */
  runsInBackground?: boolean;
  /** It is switched off. */
  disabled?: boolean;
  /** How to change it. */
  editable?: HookEditable;
}

/** HookEditable is a hook as it stands in a settings file. */
export interface HookEditable {
  /** What it is limited to. */
  matcher: string;
  /** Its settings. */
  config: Json;
  /** Secrets were left out. */
  headersRedacted?: boolean;
}

/** HookPolicy tells what an organisation's policy does to hooks. */
export interface HookPolicy {
  /** All hooks are off. */
  disabledByPolicy: boolean;
  /** Only managed hooks run. */
  managedOnly: boolean;
  /** Only plugin hooks run. */
  pluginOnly: boolean;
  /** All hooks are off, for whatever reason. */
  allDisabled: boolean;
  /** How many managed hooks there are. */
  policyHookCount: number;
  /** The policy could not be read. */
  policyUnreadable?: boolean;
}

/** HookSafeMode says that the CLI runs in safe mode. */
export interface HookSafeMode {
  /** Managed hooks run all the same. */
  managedHooksStillApply: boolean;
  /** How to leave it. */
  exitHint: string;
}

/** HookBareMode says that the CLI runs in bare mode. */
export interface HookBareMode {
  /** How to leave it. */
  exitHint: string;
}

/** ListPermissionRulesAnswer lists the permission rules in force. */
export interface ListPermissionRulesAnswer {
  /** The rules. */
  state: PermissionRules;
}

/** PermissionRules lists permission rules and working directories. */
export interface PermissionRules {
  /** The rules. */
  rules: PermissionRuleInfo[];
  /** The working directories. */
  workspaceDirectories: WorkspaceDirectory[];
  /** The directory that the session began in. */
  originalCwd: string;
  /** Only managed rules apply. */
  managedOnly: boolean;
  /** What could not be read. */
  errors?: SettingsError[];
  /** Parts were left out. */
  withheld?: boolean;
}

/** PermissionRuleInfo is a permission rule in force. */
export interface PermissionRuleInfo {
  /** What it does. */
  behavior: RuleBehavior;
  /** Where it comes from. */
  source: RuleSource;
  /** The rule, for example Bash(git status:*). */
  rule: string;
  /** The rule in words. */
  description?: RuleDescription;
  /** Whether it can be changed. */
  editability: RuleEditability;
  /** It has no effect. */
  notInEffect?: boolean;
}

/** RuleDescription puts a permission rule into words. */
export interface RuleDescription {
  /** The beginning. */
  prefix: string;
  /** The part to stress. */
  emphasis?: string;
  /** The end. */
  suffix?: string;
}

/** WorkspaceDirectory is a working directory. */
export interface WorkspaceDirectory {
  /** The directory. */
  path: string;
  /** Where it comes from. */
  source: string;
}

/** FileSuggestionsAnswer lists files that complete a mention. */
export interface FileSuggestionsAnswer {
  /** The files, best first. */
  suggestions: FileSuggestion[];
  /** What the paths are relative to. */
  cwd?: string;
}

/** FileSuggestion is a file that completes a mention. */
export interface FileSuggestion {
  /** The file. */
  path: string;
  /** How well it fits. */
  score?: number;
}

/** ReadFileAnswer is the contents of a file. */
export interface ReadFileAnswer {
  /** The contents. */
  contents: string;
  /** The file's full path. */
  absPath: string;
  /** There is more. */
  truncated?: boolean;
  /** Set if the contents are encoded. */
  encoding?: FileEncoding;
  /** Bytes that are not text were replaced. */
  lossy?: boolean;
}

/** RegisterRepoRootAnswer tells the directory that was added. */
export interface RegisterRepoRootAnswer {
  /** The directory. */
  directory: string;
}

/** ReloadPluginsAnswer tells what there is after the plugins were read anew. */
export interface ReloadPluginsAnswer {
  /** The slash commands. */
  commands: SlashCommand[];
  /** The agents. */
  agents: AgentInfo[];
  /** The plugins. */
  plugins: InitPlugin[];
  /** The MCP servers. */
  mcpServers: MCPServerStatus[];
  /** How many plugins failed. */
  error_count: number;
  /** Nothing was done, because the prompt cache would be lost. */
  held?: boolean;
  /** What would be lost. */
  cache_impact?: CacheImpact;
}

/** CacheImpact tells what a reload would change about the tools. */
export interface CacheImpact {
  /** MCP servers that come. */
  mcp_servers_added: string[];
  /** MCP servers that go. */
  mcp_servers_removed: string[];
  /** What happens to the language server tool. */
  lsp_tool_change: LSPToolChange | null;
}

/** ReloadSkillsAnswer lists the skills. */
export interface ReloadSkillsAnswer {
  /** The skills. */
  skills: SlashCommand[];
}

/** ReloadOutputStylesAnswer lists the output styles. */
export interface ReloadOutputStylesAnswer {
  /** The output styles. */
  available_output_styles: string[];
}

/** MCPStatusAnswer lists the MCP servers. */
export interface MCPStatusAnswer {
  /** The servers. */
  mcpServers: MCPServerStatus[];
}

/** MCPSetServersAnswer tells what became of the MCP servers that were set. */
export interface MCPSetServersAnswer {
  /** Servers that were added. */
  added: string[];
  /** Servers that were removed. */
  removed: string[];
  /** Servers that failed, and why. */
  errors: { [name: string]: string };
}

/** MCPCallAnswer is the result of an MCP tool. */
export interface MCPCallAnswer {
  /** The result. */
  content: Json;
  /** The result in the tool's own structure. */
  structuredContent?: Json;
  /** Notes of the server. */
  _meta?: Json;
  /** What became of the files. */
  staging?: Staging;
}

/** Staging tells what became of the files of a tool call. */
export interface Staging {
  /** All went well. */
  ok: boolean;
  /** The files that were written. */
  outputs?: StagedOutput[];
  /** The files that were read. */
  inputs_used?: StagedOutput[];
  /** What went wrong. */
  error_code?: StagingError;
  /** More about it. */
  detail?: string;
  /** It may work the next time. */
  retryable?: boolean;
  /** It was refused too often. */
  refusal_limit?: boolean;
}

/** StagedOutput is a file that was staged. */
export interface StagedOutput {
  /** Where it is kept. */
  lane_path: string;
  /** Its version. */
  etag: string;
  /** Its size. */
  bytes?: number;
}

/** MCPReadResourceAnswer is a resource of an MCP server. */
export interface MCPReadResourceAnswer {
  /** The parts of the resource. */
  contents: MCPResource[];
}

/** MCPMessageAnswer brings the reply to a JSON-RPC message. */
export interface MCPMessageAnswer {
  /** The reply. For a notification an empty result with id 0, or nothing at all. */
  mcp_response?: JSONRPC;
}

/** HookCallbackAnswer is what a hook decides. An empty one lets everything go its way. */
export interface HookCallbackAnswer {
  /** The hook goes on in the background. The CLI treats it like an empty answer. */
  async?: boolean;
  /** Milliseconds until the background is given up. */
  asyncTimeout?: number;
  /** False ends the turn. */
  continue?: boolean;
  /** Do not show the hook's output. */
  suppressOutput?: boolean;
  /** Why the turn ends. */
  stopReason?: string;
  /** approve or block. */
  decision?: HookDecision;
  /** A text for the user. */
  systemMessage?: string;
  /** An escape sequence for the terminal. Newer versions only. */
  terminalSequence?: string;
  /** Why it was approved or blocked. */
  reason?: string;
  /** What is particular to the event. */
  hookSpecificOutput?: HookSpecific;
}

/** ElicitationAnswer is the user's reaction to an elicitation. */
export interface ElicitationAnswer {
  /** What the user did. */
  action: ElicitationAction;
  /** The form's values. */
  content?: Json;
}

/** UserDialogAnswer is the user's choice in a dialog. */
export interface UserDialogAnswer {
  /** What the user did. */
  behavior: DialogBehavior;
  /** The choice. */
  result?: Json;
}

/** HookEvent is something that hooks can be registered for. */
export type HookEvent = "PreToolUse" | "PostToolUse" | "PostToolUseFailure" | "PostToolBatch" | "Notification" | "UserPromptSubmit" | "UserPromptExpansion" | "SessionStart" | "SessionEnd" | "Stop" | "StopFailure" | "SubagentStart" | "SubagentStop" | "PreCompact" | "PostCompact" | "PreModelSwitch" | "PostModelSwitch" | "PermissionRequest" | "PermissionDenied" | "Setup" | "TeammateIdle" | "TaskCreated" | "TaskCompleted" | "Elicitation" | "ElicitationResult" | "ConfigChange" | "WorktreeCreate" | "WorktreeRemove" | "InstructionsLoaded" | "CwdChanged" | "FileChanged" | "DirectoryAdded" | "MessageDisplay" | (string & {});

/** HookDecision is the general decision of a hook. */
export type HookDecision = "approve" | "block" | (string & {});

/** HookPermissionDecision is what a hook decides about a tool call. */
export type HookPermissionDecision = "allow" | "deny" | "ask" | "defer" | (string & {});

/** HookFailure says what a failing hook means. */
export type HookFailure = "continue" | "block" | (string & {});

/** SessionStartSource says how a session starts. */
export type SessionStartSource = "startup" | "resume" | "clear" | "compact" | "fork" | (string & {});

/** SessionEndReason says why a session ends. */
export type SessionEndReason = "clear" | "resume" | "logout" | "prompt_input_exit" | "other" | (string & {});

/** PromptSource says where a prompt came from. */
export type PromptSource = "user" | "sdk" | "system" | "loop_wakeup" | "schedule_wakeup" | "poll_event" | (string & {});

/** ExpansionType is what was expanded into a prompt. */
export type ExpansionType = "slash_command" | "mcp_prompt" | (string & {});

/** ModelSwitchSource says what changes the model. */
export type ModelSwitchSource = "command" | "picker" | "sdk" | "auto" | "resume" | (string & {});

/** CacheTTL is how long the prompt cache keeps a prompt. */
export type CacheTTL = "5m" | "1h" | (string & {});

/** PricingBasis says which prices an estimate was made with. */
export type PricingBasis = "configured" | "catalog" | "default" | (string & {});

/** ConfigSource is the configuration that changed. */
export type ConfigSource = "user_settings" | "project_settings" | "local_settings" | "policy_settings" | "skills" | (string & {});

/** MemoryType is whose instructions a file holds. */
export type MemoryType = "User" | "Project" | "Local" | "Managed" | (string & {});

/** LoadReason says why an instruction file was read. */
export type LoadReason = "session_start" | "nested_traversal" | "path_glob_match" | "include" | "compact" | (string & {});

/** FileChange is what happened to a watched file. */
export type FileChange = "change" | "add" | "unlink" | (string & {});

/** DirectorySource says what added a working directory. */
export type DirectorySource = "slash_command" | "register_repo_root" | (string & {});

/** SetupTrigger says why a session is set up. */
export type SetupTrigger = "init" | "maintenance" | (string & {});

/** HookCommon holds what every hook is told. */
export interface HookCommon {
  /** The conversation. */
  session_id: string;
  /** The transcript's file. */
  transcript_path: string;
  /** The working directory. */
  cwd: string;
  /** The prompt being worked on. Newer versions only. */
  prompt_id?: string;
  /** The permission mode. */
  permission_mode?: PermissionMode;
  /** The sub-agent in which it happens. Newer versions only. */
  agent_id?: string;
  /** The kind of that agent. Newer versions only. */
  agent_type?: string;
  /** The effort. Newer versions only. */
  effort?: HookEffort;
}

/** HookEffort is the effort that a hook is told. */
export interface HookEffort {
  /** The level. */
  level: Effort;
}

/** PreToolUseInput is told before a tool runs. */
export interface PreToolUseInput extends HookCommon {
  hook_event_name: "PreToolUse";
  /** The tool. */
  tool_name: string;
  /** Its input. */
  tool_input: Json;
  /** The call. */
  tool_use_id: string;
  /** Its MCP server. Newer versions only. */
  mcp_server?: MCPServerRef;
}

/** PreToolUseOutput decides about a tool call. */
export interface PreToolUseOutput {
  hookEventName: "PreToolUse";
  /** The decision. If empty, the CLI decides. */
  permissionDecision?: HookPermissionDecision;
  /** Why. */
  permissionDecisionReason?: string;
  /** The input to run with. */
  updatedInput?: Json;
  /** A text for the model. */
  additionalContext?: string;
}

/** PostToolUseInput is told after a tool has run. */
export interface PostToolUseInput extends HookCommon {
  hook_event_name: "PostToolUse";
  /** The tool. */
  tool_name: string;
  /** Its input. */
  tool_input: Json;
  /** Its output. */
  tool_response: Json;
  /** The call. */
  tool_use_id: string;
  /** How long it ran, in milliseconds. Newer versions only. */
  duration_ms?: number;
  /** Its MCP server. Newer versions only. */
  mcp_server?: MCPServerRef;
}

/** PostToolUseOutput adds to the result of a tool. */
export interface PostToolUseOutput {
  hookEventName: "PostToolUse";
  /** A text for the model. */
  additionalContext?: string;
  /** A text for the classifier of mode auto, at most 2000 characters. Newer versions only. */
  classifierContext?: string;
  /** The output to use instead. Newer versions only. */
  updatedToolOutput?: Json;
  /** The output to use instead, for MCP tools. Deprecated in newer versions. */
  updatedMCPToolOutput?: Json;
}

/** PostToolUseFailureInput is told after a tool has failed. */
export interface PostToolUseFailureInput extends HookCommon {
  hook_event_name: "PostToolUseFailure";
  /** The tool. */
  tool_name: string;
  /** Its input. */
  tool_input: Json;
  /** The call. */
  tool_use_id: string;
  /** Why it failed. */
  error: string;
  /** It was interrupted. */
  is_interrupt?: boolean;
  /** How long it ran, in milliseconds. Newer versions only. */
  duration_ms?: number;
  /** Its MCP server. Newer versions only. */
  mcp_server?: MCPServerRef;
}

/** PostToolUseFailureOutput adds to the failure of a tool. */
export interface PostToolUseFailureOutput {
  hookEventName: "PostToolUseFailure";
  /** A text for the model. */
  additionalContext?: string;
}

/** PostToolBatchInput is told after all tools of a message have run. */
export interface PostToolBatchInput extends HookCommon {
  hook_event_name: "PostToolBatch";
  /** The calls. */
  tool_calls: BatchToolCall[];
}

/** BatchToolCall is one of several tool calls. */
export interface BatchToolCall {
  /** The tool. */
  tool_name: string;
  /** Its input. */
  tool_input: Json;
  /** The call. */
  tool_use_id: string;
  /** Its output. */
  tool_response?: Json;
}

/** PostToolBatchOutput adds to the results of several tools. */
export interface PostToolBatchOutput {
  hookEventName: "PostToolBatch";
  /** A text for the model. */
  additionalContext?: string;
}

/** PermissionRequestInput is told before a permission is asked for. */
export interface PermissionRequestInput extends HookCommon {
  hook_event_name: "PermissionRequest";
  /** The tool. */
  tool_name: string;
  /** Its input. */
  tool_input: Json;
  /** Updates that would save the question in future. */
  permission_suggestions?: PermissionUpdate[];
  /** Its MCP server. Newer versions only. */
  mcp_server?: MCPServerRef;
}

/** PermissionRequestOutput answers in place of the user. */
export interface PermissionRequestOutput {
  hookEventName: "PermissionRequest";
  /** The answer; toolUseID and decisionClassification have no place in it. */
  decision: PermissionResult;
}

/** PermissionDeniedInput is told after a tool call was refused. */
export interface PermissionDeniedInput extends HookCommon {
  hook_event_name: "PermissionDenied";
  /** The tool. */
  tool_name: string;
  /** Its input. */
  tool_input: Json;
  /** The call. */
  tool_use_id: string;
  /** Why. */
  reason: string;
  /** Its MCP server. */
  mcp_server?: MCPServerRef;
}

/** PermissionDeniedOutput reacts to a refusal. */
export interface PermissionDeniedOutput {
  hookEventName: "PermissionDenied";
  /** Let the model try again. */
  retry?: boolean;
}

/** UserPromptSubmitInput is told when a prompt came in. */
export interface UserPromptSubmitInput extends HookCommon {
  hook_event_name: "UserPromptSubmit";
  /** The prompt. */
  prompt: string;
  /** Where it came from. Newer versions only. */
  source?: PromptSource;
  /** The session's title. Newer versions only. */
  session_title?: string;
}

/** UserPromptSubmitOutput adds to a prompt. */
export interface UserPromptSubmitOutput {
  hookEventName: "UserPromptSubmit";
  /** A text for the model. */
  additionalContext?: string;
  /** A title for the session. Newer versions only. */
  sessionTitle?: string;
  /** Do not show a prompt that was blocked. Newer versions only. */
  suppressOriginalPrompt?: boolean;
}

/** UserPromptExpansionInput is told when something was expanded into a prompt. */
export interface UserPromptExpansionInput extends HookCommon {
  hook_event_name: "UserPromptExpansion";
  /** What was expanded. */
  expansion_type: ExpansionType;
  /** Its name. */
  command_name: string;
  /** Its arguments. */
  command_args: string;
  /** Where it is defined. */
  command_source?: string;
  /** The prompt. */
  prompt: string;
}

/** UserPromptExpansionOutput adds to an expanded prompt. */
export interface UserPromptExpansionOutput {
  hookEventName: "UserPromptExpansion";
  /** A text for the model. */
  additionalContext?: string;
  /** Do not show a prompt that was blocked. */
  suppressOriginalPrompt?: boolean;
}

/** StopInput is told before the model ends its turn. */
export interface StopInput extends HookCommon {
  hook_event_name: "Stop";
  /** The model already goes on because of a Stop hook. */
  stop_hook_active: boolean;
  /** The model's last text. Newer versions only. */
  last_assistant_message?: string;
  /** Tasks that are still running. Newer versions only. */
  background_tasks?: BackgroundTaskSummary[];
  /** What is scheduled. Newer versions only. */
  session_crons?: SessionCron[];
}

/** BackgroundTaskSummary is a running task, as hooks are told. */
export interface BackgroundTaskSummary {
  /** The task. */
  id: string;
  /** Its kind. */
  type: string;
  /** Its state. */
  status: TaskStatus;
  /** What it does. */
  description: string;
  /** The command. */
  command?: string;
  /** The kind of sub-agent. */
  agent_type?: string;
  /** The MCP server. */
  server?: string;
  /** The MCP tool. */
  tool?: string;
  /** Its name. */
  name?: string;
}

/** SessionCron is something scheduled in a session. */
export interface SessionCron {
  /** Its id. */
  id: string;
  /** When. */
  schedule: string;
  /** Again and again. */
  recurring: boolean;
  /** What is asked. */
  prompt: string;
}

/** StopOutput adds to the end of a turn. */
export interface StopOutput {
  hookEventName: "Stop";
  /** A text for the model. Newer versions only. */
  additionalContext?: string;
}

/** StopFailureInput is told when a turn ended on an API error. */
export interface StopFailureInput extends HookCommon {
  hook_event_name: "StopFailure";
  /** The class of the failure. */
  error: AssistantError;
  /** More about it. */
  error_details?: string;
  /** The model's last text. */
  last_assistant_message?: string;
}

/** NotificationInput is told when the CLI notifies the user. */
export interface NotificationInput extends HookCommon {
  hook_event_name: "Notification";
  /** The text. */
  message: string;
  /** The heading. */
  title?: string;
  /** The kind. */
  notification_type: string;
}

/** NotificationOutput adds to a notification. */
export interface NotificationOutput {
  hookEventName: "Notification";
  /** A text for the model. */
  additionalContext?: string;
}

/** MessageDisplayInput is told before a piece of an answer is shown. */
export interface MessageDisplayInput extends HookCommon {
  hook_event_name: "MessageDisplay";
  /** The turn. */
  turn_id: string;
  /** The message. */
  message_id: string;
  /** The number of the piece. */
  index: number;
  /** It is the last one. */
  final: boolean;
  /** The piece. */
  delta: string;
}

/** MessageDisplayOutput changes what is shown. */
export interface MessageDisplayOutput {
  hookEventName: "MessageDisplay";
  /** The text to show instead. */
  displayContent?: string;
}

/** SessionStartInput is told when the session starts. The kind of agent is in agent_type. */
export interface SessionStartInput extends HookCommon {
  hook_event_name: "SessionStart";
  /** How it starts. */
  source: SessionStartSource;
  /** The model. */
  model?: string;
  /** The session's title. Newer versions only. */
  session_title?: string;
  /** How long ago the last answer was. Newer versions only. */
  seconds_since_last_response?: number;
  /** The size of the conversation. Newer versions only. */
  context_tokens?: number;
  /** The prompt cache is probably lost. Newer versions only. */
  prompt_cache_likely_expired?: boolean;
  /** What filling it again would cost. Newer versions only. */
  estimated_cache_write_usd?: number;
}

/** SessionStartOutput adds to the start of a session. */
export interface SessionStartOutput {
  hookEventName: "SessionStart";
  /** A text for the model. */
  additionalContext?: string;
  /** A first prompt. Newer versions only. */
  initialUserMessage?: string;
  /** A title for the session. Newer versions only. */
  sessionTitle?: string;
  /** Files to watch. Newer versions only. */
  watchPaths?: string[];
  /** Read the skills anew. Newer versions only. */
  reloadSkills?: boolean;
}

/** SessionEndInput is told when the session ends. */
export interface SessionEndInput extends HookCommon {
  hook_event_name: "SessionEnd";
  /** Why. */
  reason: SessionEndReason;
}

/** SetupInput is told when the session is set up. */
export interface SetupInput extends HookCommon {
  hook_event_name: "Setup";
  /** Why. */
  trigger: SetupTrigger;
}

/** SetupOutput adds to the setup of a session. */
export interface SetupOutput {
  hookEventName: "Setup";
  /** A text for the model. */
  additionalContext?: string;
}

/** PreCompactInput is told before the conversation is compacted. */
export interface PreCompactInput extends HookCommon {
  hook_event_name: "PreCompact";
  /** What started it. */
  trigger: CompactTrigger;
  /** What the summary should keep. */
  custom_instructions: string | null;
}

/** PostCompactInput is told after the conversation was compacted. */
export interface PostCompactInput extends HookCommon {
  hook_event_name: "PostCompact";
  /** What started it. */
  trigger: CompactTrigger;
  /** The summary. */
  compact_summary: string;
}

/** PreModelSwitchInput is told before the model changes. */
export interface PreModelSwitchInput extends HookCommon {
  hook_event_name: "PreModelSwitch";
  /** The model so far. */
  from_model: string;
  /** The new one. */
  to_model: string;
  /** What was asked for. */
  requested_model: string | null;
  /** What changes it. */
  source: ModelSwitchSource;
  /** The size of the conversation. */
  context_tokens: number;
  /** There is a prompt cache to lose. */
  prompt_cache_warm: boolean;
  /** How long it lasts. */
  cache_ttl: CacheTTL;
  /** What filling a new one would cost. */
  estimated_cache_write_usd: number;
  /** The prices used. */
  pricing: PricingBasis;
}

/** PreModelSwitchOutput decides about a change of the model. */
export interface PreModelSwitchOutput {
  hookEventName: "PreModelSwitch";
  /** allow, deny or ask. */
  permissionDecision?: HookPermissionDecision;
  /** Why. */
  permissionDecisionReason?: string;
}

/** PostModelSwitchInput is told after the model has changed. */
export interface PostModelSwitchInput extends HookCommon {
  hook_event_name: "PostModelSwitch";
  /** The model so far. */
  from_model: string;
  /** The new one. */
  to_model: string;
  /** What was asked for. */
  requested_model: string | null;
  /** What changed it. */
  source: ModelSwitchSource;
  /** The size of the conversation. */
  context_tokens: number;
  /** There was a prompt cache to lose. */
  prompt_cache_warm: boolean;
  /** How long it lasted. */
  cache_ttl: CacheTTL;
  /** What filling a new one costs. */
  estimated_cache_write_usd: number;
  /** The prices used. */
  pricing: PricingBasis;
}

/** PostModelSwitchOutput adds to a change of the model. */
export interface PostModelSwitchOutput {
  hookEventName: "PostModelSwitch";
  /** A text for the model. */
  additionalContext?: string;
}

/** SubagentStartInput is told when a sub-agent starts. Which one is in agent_id and agent_type. */
export interface SubagentStartInput extends HookCommon {
  hook_event_name: "SubagentStart";
}

/** SubagentStartOutput adds to the start of a sub-agent. */
export interface SubagentStartOutput {
  hookEventName: "SubagentStart";
  /** A text for the sub-agent. */
  additionalContext?: string;
}

/** SubagentStopInput is told before a sub-agent ends. Which one is in agent_id and agent_type. */
export interface SubagentStopInput extends HookCommon {
  hook_event_name: "SubagentStop";
  /** It already goes on because of a hook. */
  stop_hook_active: boolean;
  /** Its transcript's file. */
  agent_transcript_path: string;
  /** Its last text. Newer versions only. */
  last_assistant_message?: string;
  /** Tasks that are still running. Newer versions only. */
  background_tasks?: BackgroundTaskSummary[];
  /** What is scheduled. Newer versions only. */
  session_crons?: SessionCron[];
}

/** SubagentStopOutput adds to the end of a sub-agent. */
export interface SubagentStopOutput {
  hookEventName: "SubagentStop";
  /** A text for the sub-agent. Newer versions only. */
  additionalContext?: string;
}

/** TeammateIdleInput is told when another agent of the team has nothing to do. */
export interface TeammateIdleInput extends HookCommon {
  hook_event_name: "TeammateIdle";
  /** The agent. */
  teammate_name: string;
  /** The team. */
  team_name: string;
}

/** TaskCreatedInput is told when a task was created. */
export interface TaskCreatedInput extends HookCommon {
  hook_event_name: "TaskCreated";
  /** The task. */
  task_id: string;
  /** What it is about. */
  task_subject: string;
  /** More about it. */
  task_description?: string;
  /** The agent that created it. */
  teammate_name?: string;
  /** The team. */
  team_name?: string;
}

/** TaskCompletedInput is told before a task is completed. */
export interface TaskCompletedInput extends HookCommon {
  hook_event_name: "TaskCompleted";
  /** The task. */
  task_id: string;
  /** What it is about. */
  task_subject: string;
  /** More about it. */
  task_description?: string;
  /** The agent that completes it. */
  teammate_name?: string;
  /** The team. */
  team_name?: string;
}

/** ElicitationInput is told when an MCP server asks the user something. */
export interface ElicitationInput extends HookCommon {
  hook_event_name: "Elicitation";
  /** The server. */
  mcp_server_name: string;
  /** The question. */
  message: string;
  /** A form or a page to open. */
  mode?: ElicitationMode;
  /** The page. */
  url?: string;
  /** The elicitation. */
  elicitation_id?: string;
  /** The JSON schema of the form. */
  requested_schema?: Json;
}

/** ElicitationOutput answers in place of the user. */
export interface ElicitationOutput {
  hookEventName: "Elicitation";
  /** The reaction. */
  action?: ElicitationAction;
  /** The form's values. */
  content?: Json;
}

/** ElicitationResultInput is told how the user reacted to an MCP server's question. */
export interface ElicitationResultInput extends HookCommon {
  hook_event_name: "ElicitationResult";
  /** The server. */
  mcp_server_name: string;
  /** The elicitation. */
  elicitation_id?: string;
  /** A form or a page to open. */
  mode?: ElicitationMode;
  /** The reaction. */
  action: ElicitationAction;
  /** The form's values. */
  content?: Json;
}

/** ElicitationResultOutput replaces the user's reaction. */
export interface ElicitationResultOutput {
  hookEventName: "ElicitationResult";
  /** The reaction. */
  action?: ElicitationAction;
  /** The form's values. */
  content?: Json;
}

/** ConfigChangeInput is told when settings changed. */
export interface ConfigChangeInput extends HookCommon {
  hook_event_name: "ConfigChange";
  /** Which ones. */
  source: ConfigSource;
  /** The file. */
  file_path?: string;
}

/** WorktreeCreateInput is told before a worktree is made. */
export interface WorktreeCreateInput extends HookCommon {
  hook_event_name: "WorktreeCreate";
  /** Its name. */
  name: string;
}

/** WorktreeCreateOutput tells where the hook made the worktree. */
export interface WorktreeCreateOutput {
  hookEventName: "WorktreeCreate";
  /** The folder. */
  worktreePath: string;
}

/** WorktreeRemoveInput is told before a worktree is removed. */
export interface WorktreeRemoveInput extends HookCommon {
  hook_event_name: "WorktreeRemove";
  /** The folder. */
  worktree_path: string;
}

/** InstructionsLoadedInput is told when an instruction file was read. */
export interface InstructionsLoadedInput extends HookCommon {
  hook_event_name: "InstructionsLoaded";
  /** The file. */
  file_path: string;
  /** Whose instructions they are. */
  memory_type: MemoryType;
  /** Why it was read. */
  load_reason: LoadReason;
  /** The patterns of paths it is for. */
  globs?: string[];
  /** The file that made the CLI read it. */
  trigger_file_path?: string;
  /** The file that includes it. */
  parent_file_path?: string;
}

/** CwdChangedInput is told when the working directory changed. */
export interface CwdChangedInput extends HookCommon {
  hook_event_name: "CwdChanged";
  /** The old one. */
  old_cwd: string;
  /** The new one. */
  new_cwd: string;
}

/** CwdChangedOutput reacts to a new working directory. */
export interface CwdChangedOutput {
  hookEventName: "CwdChanged";
  /** Files to watch. */
  watchPaths?: string[];
}

/** FileChangedInput is told when a watched file changed. */
export interface FileChangedInput extends HookCommon {
  hook_event_name: "FileChanged";
  /** The file. */
  file_path: string;
  /** What happened to it. */
  event: FileChange;
}

/** FileChangedOutput reacts to a changed file. */
export interface FileChangedOutput {
  hookEventName: "FileChanged";
  /** Files to watch. */
  watchPaths?: string[];
}

/** DirectoryAddedInput is told when a working directory was added. */
export interface DirectoryAddedInput extends HookCommon {
  hook_event_name: "DirectoryAdded";
  /** The directory. */
  directory: string;
  /** What added it. */
  source: DirectorySource;
}

/** PermissionRule is one rule: a tool and, optionally, which of its calls. */
export interface PermissionRule {
  /** The tool, for example Bash. */
  toolName: string;
  /** What the call must match, for example "git status:*". Empty means every call. */
  ruleContent?: string;
}

/** AddRules adds rules to the ones in force. */
export interface AddRules {
  type: "addRules";
  /** The rules to add. */
  rules: PermissionRule[];
  /** What the rules do. */
  behavior: RuleBehavior;
  /** Where they are kept. */
  destination: UpdateDestination;
}

/** ReplaceRules replaces all rules of one behaviour at one destination. */
export interface ReplaceRules {
  type: "replaceRules";
  /** The rules that remain. */
  rules: PermissionRule[];
  /** The behaviour whose rules are replaced. */
  behavior: RuleBehavior;
  /** Where they are replaced. */
  destination: UpdateDestination;
}

/** RemoveRules takes rules back. */
export interface RemoveRules {
  type: "removeRules";
  /** The rules to remove. */
  rules: PermissionRule[];
  /** What the rules did. */
  behavior: RuleBehavior;
  /** Where they were kept. */
  destination: UpdateDestination;
}

/** SetMode changes the permission mode. */
export interface SetMode {
  type: "setMode";
  /** The new mode. Versions up to 2.1.62 obey bypassPermissions even if they were not launched with it. */
  mode: PermissionMode;
  /** Where the mode is kept; only session makes sense over the wire. */
  destination: UpdateDestination;
}

/** AddDirectories adds working directories. */
export interface AddDirectories {
  type: "addDirectories";
  /** The directories to add. */
  directories: string[];
  /** Where they are kept. */
  destination: UpdateDestination;
}

/** RemoveDirectories takes working directories back. */
export interface RemoveDirectories {
  type: "removeDirectories";
  /** The directories to remove. */
  directories: string[];
  /** Where they were kept. */
  destination: UpdateDestination;
}

/** Allow lets a tool run. */
export interface Allow {
  behavior: "allow";
  /** The input to run with. Versions up to 2.1.206 refuse an answer without it, so always send it: the question's own input where nothing was edited. */
  updatedInput?: Json;
  /** Updates to apply along with the answer. 2.1.37 refuses the whole answer if one is of an unknown type. */
  updatedPermissions?: PermissionUpdate[];
  /** The tool call that is answered. The CLI ignores a wrong one. */
  toolUseID?: string;
  /** What kind of decision it was. */
  decisionClassification?: DecisionClassification;
}

/** Deny refuses a tool call. */
export interface Deny {
  behavior: "deny";
  /** What the model is told. It is required. */
  message: string;
  /** Also ends the turn, and with it every other pending call. */
  interrupt?: boolean;
  /** The tool call that is answered. The CLI ignores a wrong one. */
  toolUseID?: string;
  /** What kind of decision it was. */
  decisionClassification?: DecisionClassification;
}

/** QuestionSet is the input of AskUserQuestion, and with the answers filled in, the updated input that answers it. */
export interface QuestionSet {
  /** The questions. An answer must repeat them: 2.1.325 refuses one without. */
  questions: Question[];
  /** The answers, keyed by the question's text: a label, free text, or several labels joined by ", ". */
  answers?: { [name: string]: string };
  /** Remarks on the answers, keyed by the question's text. Newer versions only. */
  annotations?: { [name: string]: QuestionNote };
  /** A free reply in place of answers. Newer versions only. */
  response?: string;
}

/** Question is one question to the user. */
export interface Question {
  /** The text, which is also the key of its answer. */
  question: string;
  /** A short label. */
  header?: string;
  /** The choices offered. */
  options?: QuestionOption[];
  /** Several choices may be taken. */
  multiSelect?: boolean;
}

/** QuestionOption is one choice of a question. */
export interface QuestionOption {
  /** What is shown and answered. */
  label: string;
  /** What choosing it means. */
  description?: string;
  /** What choosing it would look like, as text or HTML. Newer versions only. */
  preview?: string;
}

/** QuestionNote is a remark on an answer. */
export interface QuestionNote {
  /** The user's own words. */
  notes?: string;
  /** The preview that was shown with the choice. */
  preview?: string;
}

/** PlanExit is the input of ExitPlanMode. It is empty where no plan file exists. */
export interface PlanExit {
  /** The plan, which the CLI fills in from its file. */
  plan?: string;
  /** The plan's file. Known since 2.1.120. */
  planFilePath?: string;
  /** Permissions the plan asks for. */
  allowedPrompts?: AllowedPrompt[];
}

/** AllowedPrompt is one permission that a plan asks for. */
export interface AllowedPrompt {
  /** The tool. */
  tool: string;
  /** What it would be used for. */
  prompt: string;
}

/** JSONRPC is a JSON-RPC 2.0 message: a request, a notification, a result or an error. */
export interface JSONRPC {
  /** Always 2.0. */
  jsonrpc: string;
  /** The request, a number or a string. Absent for notifications. */
  id?: Json;
  /** What a request or a notification is about. */
  method?: string;
  /** Its parameters. */
  params?: Json;
  /** The result of a request. */
  result?: Json;
  /** The error of a request. */
  error?: JSONRPCError;
}

/** JSONRPCError is the error of a JSON-RPC request. */
export interface JSONRPCError {
  /** Its code. */
  code: number;
  /** Its text. */
  message: string;
  /** More about it. */
  data?: Json;
}

/** MCPServerConfig tells how to reach an MCP server. Which members are set depends on the type. */
export interface MCPServerConfig {
  /** The way. If empty, stdio. */
  type?: MCPTransport;
  /** The program, for stdio. */
  command?: string;
  /** Its arguments. */
  args?: string[];
  /** Its environment. */
  env?: { [name: string]: string };
  /** The address, for sse and http. */
  url?: string;
  /** Headers to send to it. */
  headers?: { [name: string]: string };
  /** The server's name, for sdk. */
  name?: string;
  /** The connector, for claudeai-proxy. */
  id?: string;
  /** What its tools may do. Newer versions only. */
  tools?: MCPToolPolicy[];
  /** Milliseconds to wait for a tool. Newer versions only. */
  timeout?: number;
  /** Load its tools at once instead of on demand. Newer versions only. */
  alwaysLoad?: boolean;
}

/** MCPToolPolicy is the host's policy for a tool of an MCP server. */
export interface MCPToolPolicy {
  /** The tool. */
  name: string;
  /** The policy. */
  permission_policy?: ToolPolicy;
  /** The most that the organisation allows. */
  org_max_permission?: OrgPermission;
}

/** MCPServerRef names the MCP server that a tool belongs to. */
export interface MCPServerRef {
  /** The server. */
  name: string;
  /** Where it is configured, for example sdk. */
  source: string;
}

/** MCPServerStatus is the state of an MCP server. */
export interface MCPServerStatus {
  /** The server. */
  name: string;
  /** The state of the connection. */
  status: MCPServerState;
  /** What the server says about itself. */
  serverInfo?: MCPServerInfo;
  /** Why it failed. */
  error?: string;
  /** How it is reached. */
  config?: MCPServerConfig;
  /** The way it is reached. Seen on 2.1.325, undocumented. */
  transport?: MCPTransport;
  /** The layer it is configured in, for example dynamic. */
  scope?: string;
  /** Where it is configured. */
  source?: string;
  /** Its tools. */
  tools?: MCPTool[];
}

/** MCPServerInfo is what an MCP server says about itself. */
export interface MCPServerInfo {
  /** Its name. */
  name: string;
  /** Its version. */
  version: string;
  /** Its name for people. */
  title?: string;
}

/** MCPTool is a tool of an MCP server. */
export interface MCPTool {
  /** Its name. */
  name: string;
  /** What it does. */
  description?: string;
  /** What it may do. */
  annotations?: MCPToolAnnotations;
  /** Notes of the server. */
  _meta?: Json;
}

/** MCPToolAnnotations tells what a tool may do, in the server's own words. */
export interface MCPToolAnnotations {
  /** It changes nothing. */
  readOnly?: boolean;
  /** It may destroy something. */
  destructive?: boolean;
  /** It reaches beyond the machine. */
  openWorld?: boolean;
}

/** MCPResource is a part of a resource. */
export interface MCPResource {
  /** The resource. */
  uri: string;
  /** Its media type. */
  mimeType?: string;
  /** Its contents as text. */
  text?: string;
  /** Its contents in base64. */
  blob?: string;
  /** Notes of the server. */
  _meta?: Json;
}

/** MCPResourceLink points to a resource. */
export interface MCPResourceLink {
  /** The resource. */
  uri: string;
  /** Its name. */
  name: string;
  /** Its name for people. */
  title?: string;
  /** What it is. */
  description?: string;
  /** Its media type. */
  mimeType?: string;
  /** Its size in bytes. */
  size?: number;
  /** Notes of the server. */
  annotations?: Json;
}

/** Message is one line, in either direction. A newer CLI may send others: keep a default branch. */
export type Message =
  | Assistant
  | User
  | StreamEvent
  | ToolUseSummary
  | StreamlinedText
  | StreamlinedToolUseSummary
  | PromptSuggestion
  | ConversationReset
  | ActiveGoal
  | CommandLifecycle
  | Init
  | Status
  | CompactBoundary
  | SessionStateChanged
  | CommandsChanged
  | WorkerShuttingDown
  | AuthStatus
  | PluginInstall
  | SessionWritesLost
  | MirrorError
  | FilesPersisted
  | Informational
  | Notification
  | LocalCommandOutput
  | MemoryRecall
  | RateLimitEvent
  | APIRetry
  | ModelRefusalFallback
  | ModelRefusalNoFallback
  | PermissionDenied
  | ElicitationComplete
  | ControlRequestProgress
  | ToolProgress
  | HookStarted
  | HookProgress
  | HookResponse
  | TaskStarted
  | TaskProgress
  | TaskUpdated
  | TaskNotification
  | BackgroundTasksChanged
  | ThinkingTokens
  | ControlRequest
  | ControlResponse
  | ControlCancel
  | KeepAlive
  | EnvironmentUpdate
  | ErrorLine
  | Result;

/** Block is one piece of a message's content. A newer CLI may send others: keep a default branch. */
export type Block =
  | TextBlock
  | ThinkingBlock
  | RedactedThinkingBlock
  | ToolUseBlock
  | ServerToolUseBlock
  | WebSearchToolResultBlock
  | WebFetchToolResultBlock
  | AdvisorToolResultBlock
  | CodeExecutionToolResultBlock
  | BashCodeExecutionToolResultBlock
  | TextEditorCodeExecutionToolResultBlock
  | ToolSearchToolResultBlock
  | MCPToolUseBlock
  | MCPToolResultBlock
  | ContainerUploadBlock
  | CompactionBlock
  | FallbackBlock
  | ToolResultBlock
  | ImageBlock
  | DocumentBlock
  | SearchResultBlock
  | ToolReferenceBlock;

/** Event is one step of the model's streamed answer, as a stream_event line carries it. A newer CLI may send others: keep a default branch. */
export type Event =
  | MessageStartEvent
  | ContentBlockStartEvent
  | ContentBlockDeltaEvent
  | ContentBlockStopEvent
  | MessageDeltaEvent
  | MessageStopEvent
  | PingEvent
  | ErrorEvent;

/** Delta is what a content_block_delta event adds to a block. A newer CLI may send others: keep a default branch. */
export type Delta =
  | TextDelta
  | InputJSONDelta
  | ThinkingDelta
  | SignatureDelta
  | CitationsDelta
  | CompactionDelta;

/** PermissionUpdate is a change of the CLI's rules, mode or folders that goes with a permission answer. A newer CLI may send others: keep a default branch. */
export type PermissionUpdate =
  | AddRules
  | ReplaceRules
  | RemoveRules
  | SetMode
  | AddDirectories
  | RemoveDirectories;

/** PermissionResult is the answer to a can_use_tool request. A newer CLI may send others: keep a default branch. */
export type PermissionResult =
  | Allow
  | Deny;

/** Request is the inside of a control request. A newer CLI may send others: keep a default branch. */
export type Request =
  | InitializeRequest
  | InterruptRequest
  | EndSessionRequest
  | SetPermissionModeRequest
  | SetModelRequest
  | SetMaxThinkingTokensRequest
  | ApplyFlagSettingsRequest
  | GetSettingsRequest
  | UpdateSettingsRequest
  | RenameSessionRequest
  | GenerateSessionTitleRequest
  | SetColorRequest
  | SetHasSubscribersRequest
  | CancelAsyncMessageRequest
  | RewindFilesRequest
  | SideQuestionRequest
  | StopTaskRequest
  | BackgroundTasksRequest
  | GetTaskOutputRequest
  | GetContextUsageRequest
  | GetSessionCostRequest
  | GetUsageRequest
  | ListModelsRequest
  | GetBinaryVersionRequest
  | GetHooksListingRequest
  | ListPermissionRulesRequest
  | FileSuggestionsRequest
  | ReadFileRequest
  | SeedReadStateRequest
  | RegisterRepoRootRequest
  | ReloadPluginsRequest
  | ReloadSkillsRequest
  | ReloadOutputStylesRequest
  | MCPStatusRequest
  | MCPSetServersRequest
  | MCPReconnectRequest
  | MCPToggleRequest
  | MCPCallRequest
  | MCPReadResourceRequest
  | MCPMessageRequest
  | CanUseToolRequest
  | HookCallbackRequest
  | ElicitationRequest
  | UserDialogRequest
  | SDKControlInterruptRequest;

/** HookInput is what a hook is told. A newer CLI may send others: keep a default branch. */
export type HookInput =
  | PreToolUseInput
  | PostToolUseInput
  | PostToolUseFailureInput
  | PostToolBatchInput
  | PermissionRequestInput
  | PermissionDeniedInput
  | UserPromptSubmitInput
  | UserPromptExpansionInput
  | StopInput
  | StopFailureInput
  | NotificationInput
  | MessageDisplayInput
  | SessionStartInput
  | SessionEndInput
  | SetupInput
  | PreCompactInput
  | PostCompactInput
  | PreModelSwitchInput
  | PostModelSwitchInput
  | SubagentStartInput
  | SubagentStopInput
  | TeammateIdleInput
  | TaskCreatedInput
  | TaskCompletedInput
  | ElicitationInput
  | ElicitationResultInput
  | ConfigChangeInput
  | WorktreeCreateInput
  | WorktreeRemoveInput
  | InstructionsLoadedInput
  | CwdChangedInput
  | FileChangedInput
  | DirectoryAddedInput;

/** HookSpecific is the part of a hook's answer that is particular to its event. A newer CLI may send others: keep a default branch. */
export type HookSpecific =
  | PreToolUseOutput
  | PostToolUseOutput
  | PostToolUseFailureOutput
  | PostToolBatchOutput
  | PermissionRequestOutput
  | PermissionDeniedOutput
  | UserPromptSubmitOutput
  | UserPromptExpansionOutput
  | StopOutput
  | NotificationOutput
  | MessageDisplayOutput
  | SessionStartOutput
  | SetupOutput
  | PreModelSwitchOutput
  | PostModelSwitchOutput
  | SubagentStartOutput
  | SubagentStopOutput
  | ElicitationOutput
  | ElicitationResultOutput
  | WorktreeCreateOutput
  | CwdChangedOutput
  | FileChangedOutput;

/** Answers gives the success body of each control request by its subtype. */
export interface Answers {
  initialize: InitializeAnswer;
  interrupt: InterruptAnswer;
  set_permission_mode: SetPermissionModeAnswer;
  set_model: SetModelAnswer;
  get_settings: GetSettingsAnswer;
  generate_session_title: GenerateSessionTitleAnswer;
  cancel_async_message: CancelAsyncMessageAnswer;
  rewind_files: RewindFilesAnswer;
  side_question: SideQuestionAnswer;
  background_tasks: BackgroundTasksAnswer;
  get_task_output: GetTaskOutputAnswer;
  get_context_usage: GetContextUsageAnswer;
  get_session_cost: GetSessionCostAnswer;
  get_usage: GetUsageAnswer;
  list_models: ListModelsAnswer;
  get_binary_version: GetBinaryVersionAnswer;
  get_hooks_listing: GetHooksListingAnswer;
  list_permission_rules: ListPermissionRulesAnswer;
  file_suggestions: FileSuggestionsAnswer;
  read_file: ReadFileAnswer;
  register_repo_root: RegisterRepoRootAnswer;
  reload_plugins: ReloadPluginsAnswer;
  reload_skills: ReloadSkillsAnswer;
  reload_output_styles: ReloadOutputStylesAnswer;
  mcp_status: MCPStatusAnswer;
  mcp_set_servers: MCPSetServersAnswer;
  mcp_call: MCPCallAnswer;
  mcp_read_resource: MCPReadResourceAnswer;
  mcp_message: MCPMessageAnswer;
  hook_callback: HookCallbackAnswer;
  elicitation: ElicitationAnswer;
  request_user_dialog: UserDialogAnswer;
}
