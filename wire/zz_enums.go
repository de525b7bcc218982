// Code generated from schema/*.wire by wire/internal/gen. DO NOT EDIT.

package wire

// PermissionMode says how the CLI decides about tools that no rule covers. The
// set is open: a newer CLI may use other values.
type PermissionMode string

// The values of PermissionMode that are known.
const (
	// PermissionModeDefault: Ask about everything that no rule decides.
	PermissionModeDefault PermissionMode = "default"
	// PermissionModeAcceptEdits: Edit files without asking, ask about the rest.
	PermissionModeAcceptEdits PermissionMode = "acceptEdits"
	// PermissionModeBypassPermissions: Run everything; only questions to the user
	// and leaving plan mode are still asked.
	PermissionModeBypassPermissions PermissionMode = "bypassPermissions"
	// PermissionModePlan: Explore without changing anything, then present a plan.
	PermissionModePlan PermissionMode = "plan"
	// PermissionModeDontAsk: Refuse without asking whatever no rule allows.
	PermissionModeDontAsk PermissionMode = "dontAsk"
	// PermissionModeAuto: Let the CLI's own classifier decide. Known since
	// 2.1.91.
	PermissionModeAuto PermissionMode = "auto"
	// PermissionModeDelegate: Restrict to coordination tools. Old versions only;
	// 2.1.325 refuses it.
	PermissionModeDelegate PermissionMode = "delegate"
	// PermissionModeManual: Input alias of default. Newer versions only.
	PermissionModeManual PermissionMode = "manual"
)

// RuleBehavior is what a permission rule does with the calls it matches. The
// set is open: a newer CLI may use other values.
type RuleBehavior string

// The values of RuleBehavior that are known.
const (
	// RuleBehaviorAllow: Run them.
	RuleBehaviorAllow RuleBehavior = "allow"
	// RuleBehaviorDeny: Refuse them.
	RuleBehaviorDeny RuleBehavior = "deny"
	// RuleBehaviorAsk: Ask about them.
	RuleBehaviorAsk RuleBehavior = "ask"
)

// UpdateDestination is the place where a permission update is kept. The set is
// open: a newer CLI may use other values.
type UpdateDestination string

// The values of UpdateDestination that are known.
const (
	// UpdateDestinationUserSettings: The user's own settings file.
	UpdateDestinationUserSettings UpdateDestination = "userSettings"
	// UpdateDestinationProjectSettings: The settings file that a project shares.
	UpdateDestinationProjectSettings UpdateDestination = "projectSettings"
	// UpdateDestinationLocalSettings: The project's settings file of this user
	// alone.
	UpdateDestinationLocalSettings UpdateDestination = "localSettings"
	// UpdateDestinationSession: Memory of this process only.
	UpdateDestinationSession UpdateDestination = "session"
	// UpdateDestinationCliArg: As if it had been given on the command line.
	UpdateDestinationCliArg UpdateDestination = "cliArg"
)

// DecisionClassification tells the CLI what kind of decision a permission
// answer was. The set is open: a newer CLI may use other values.
type DecisionClassification string

// The values of DecisionClassification that are known.
const (
	// DecisionClassificationUserTemporary: Allowed for now.
	DecisionClassificationUserTemporary DecisionClassification = "user_temporary"
	// DecisionClassificationUserPermanent: Allowed for good.
	DecisionClassificationUserPermanent DecisionClassification = "user_permanent"
	// DecisionClassificationUserReject: Refused by the user.
	DecisionClassificationUserReject DecisionClassification = "user_reject"
)

// DecisionReasonType says what made the CLI ask for a permission. The set is
// open: a newer CLI may use other values.
type DecisionReasonType string

// The values of DecisionReasonType that are known.
const (
	// DecisionReasonTypeRule: A rule of kind ask.
	DecisionReasonTypeRule DecisionReasonType = "rule"
	// DecisionReasonTypeMode: The permission mode.
	DecisionReasonTypeMode DecisionReasonType = "mode"
	// DecisionReasonTypeSubcommandResults: A part of a compound command.
	DecisionReasonTypeSubcommandResults DecisionReasonType = "subcommandResults"
	// DecisionReasonTypePermissionPromptTool: The permission prompt tool.
	DecisionReasonTypePermissionPromptTool DecisionReasonType = "permissionPromptTool"
	// DecisionReasonTypeHook: A hook that answered ask.
	DecisionReasonTypeHook DecisionReasonType = "hook"
	// DecisionReasonTypeAsyncAgent: An agent in the background.
	DecisionReasonTypeAsyncAgent DecisionReasonType = "asyncAgent"
	// DecisionReasonTypeSandboxOverride: A command that wants to leave the
	// sandbox.
	DecisionReasonTypeSandboxOverride DecisionReasonType = "sandboxOverride"
	// DecisionReasonTypeWorkingDir: A path outside the working directories.
	DecisionReasonTypeWorkingDir DecisionReasonType = "workingDir"
	// DecisionReasonTypeSafetyCheck: A safety check of the CLI.
	DecisionReasonTypeSafetyCheck DecisionReasonType = "safetyCheck"
	// DecisionReasonTypeClassifier: The classifier of mode auto.
	DecisionReasonTypeClassifier DecisionReasonType = "classifier"
	// DecisionReasonTypeOther: Anything else.
	DecisionReasonTypeOther DecisionReasonType = "other"
)

// RuleSource is the layer that a permission rule in force comes from. The set
// is open: a newer CLI may use other values.
type RuleSource string

// The values of RuleSource that are known.
const (
	// RuleSourceUserSettings: The user's settings file.
	RuleSourceUserSettings RuleSource = "userSettings"
	// RuleSourceProjectSettings: The project's shared settings file.
	RuleSourceProjectSettings RuleSource = "projectSettings"
	// RuleSourceLocalSettings: The project's settings file of this user.
	RuleSourceLocalSettings RuleSource = "localSettings"
	// RuleSourceFlagSettings: Settings given when the process was started.
	RuleSourceFlagSettings RuleSource = "flagSettings"
	// RuleSourcePolicySettings: Settings managed by an organisation.
	RuleSourcePolicySettings RuleSource = "policySettings"
	// RuleSourceCliArg: A command line flag.
	RuleSourceCliArg RuleSource = "cliArg"
	// RuleSourceCommand: A slash command's grant.
	RuleSourceCommand RuleSource = "command"
	// RuleSourceSession: An approval of this session.
	RuleSourceSession RuleSource = "session"
	// RuleSourceMCPMount: A mounted MCP server.
	RuleSourceMCPMount RuleSource = "mcpMount"
	// RuleSourceToolsNarrowing: A narrowed list of tools.
	RuleSourceToolsNarrowing RuleSource = "toolsNarrowing"
	// RuleSourceMCPServerPolicy: The host's policy for an MCP server.
	RuleSourceMCPServerPolicy RuleSource = "mcpServerPolicy"
	// RuleSourceHostCredential: A credential of the host.
	RuleSourceHostCredential RuleSource = "hostCredential"
)

// RuleEditability says whether a permission rule in force can be changed from
// here. The set is open: a newer CLI may use other values.
type RuleEditability string

// The values of RuleEditability that are known.
const (
	// RuleEditabilityPersistent: It stands in a file that can be edited.
	RuleEditabilityPersistent RuleEditability = "persistent"
	// RuleEditabilitySession: It lives in this session only.
	RuleEditabilitySession RuleEditability = "session"
	// RuleEditabilityReadOnly: It cannot be changed.
	RuleEditabilityReadOnly RuleEditability = "readonly"
)

// AssistantError is the class of an API failure that ended up in the
// conversation. The set is open: a newer CLI may use other values.
type AssistantError string

// The values of AssistantError that are known.
const (
	// AssistantErrorAuthenticationFailed: The credentials were refused.
	AssistantErrorAuthenticationFailed AssistantError = "authentication_failed"
	// AssistantErrorOAuthOrgNotAllowed: The organisation may not use this login.
	AssistantErrorOAuthOrgNotAllowed AssistantError = "oauth_org_not_allowed"
	// AssistantErrorAccountOnHold: The account is on hold.
	AssistantErrorAccountOnHold AssistantError = "account_on_hold"
	// AssistantErrorVerificationRequired: The account has to be verified first.
	AssistantErrorVerificationRequired AssistantError = "verification_required"
	// AssistantErrorBillingError: The account cannot be charged.
	AssistantErrorBillingError AssistantError = "billing_error"
	// AssistantErrorRateLimit: Too many requests.
	AssistantErrorRateLimit AssistantError = "rate_limit"
	// AssistantErrorOverloaded: The API has no capacity.
	AssistantErrorOverloaded AssistantError = "overloaded"
	// AssistantErrorInvalidRequest: The API refused the request as malformed.
	AssistantErrorInvalidRequest AssistantError = "invalid_request"
	// AssistantErrorModelNotFound: The model does not exist or is not available.
	AssistantErrorModelNotFound AssistantError = "model_not_found"
	// AssistantErrorServerError: The API failed.
	AssistantErrorServerError AssistantError = "server_error"
	// AssistantErrorUnknown: Anything else; old versions say so for most
	// failures.
	AssistantErrorUnknown AssistantError = "unknown"
	// AssistantErrorMaxOutputTokens: The answer hit the output limit.
	AssistantErrorMaxOutputTokens AssistantError = "max_output_tokens"
	// AssistantErrorCloudCredentialError: A cloud provider's credentials could
	// not be used.
	AssistantErrorCloudCredentialError AssistantError = "cloud_credential_error"
)

// ResultSubtype is the way a turn ended. It is not the whole truth: an API
// error is a success with is_error set. The set is open: a newer CLI may use
// other values.
type ResultSubtype string

// The values of ResultSubtype that are known.
const (
	// ResultSubtypeSuccess: The turn ran to its end, or ended on an API error
	// with is_error set.
	ResultSubtypeSuccess ResultSubtype = "success"
	// ResultSubtypeErrorDuringExecution: The turn broke off or was interrupted.
	ResultSubtypeErrorDuringExecution ResultSubtype = "error_during_execution"
	// ResultSubtypeErrorMaxTurns: The limit of agentic turns was reached.
	ResultSubtypeErrorMaxTurns ResultSubtype = "error_max_turns"
	// ResultSubtypeErrorMaxBudgetUSD: The budget was used up.
	ResultSubtypeErrorMaxBudgetUSD ResultSubtype = "error_max_budget_usd"
	// ResultSubtypeErrorMaxStructuredOutputRetries: No structured output that
	// fits the schema was produced.
	ResultSubtypeErrorMaxStructuredOutputRetries ResultSubtype = "error_max_structured_output_retries"
)

// TerminalReason says in more detail than [ResultSubtype] why a turn ended.
// The set is open: a newer CLI may use other values.
type TerminalReason string

// The values of TerminalReason that are known.
const (
	// TerminalReasonBlockingLimit: A limit blocks further requests.
	TerminalReasonBlockingLimit TerminalReason = "blocking_limit"
	// TerminalReasonRapidRefillBreaker: The context filled up again too fast
	// after compaction.
	TerminalReasonRapidRefillBreaker TerminalReason = "rapid_refill_breaker"
	// TerminalReasonPromptTooLong: The prompt does not fit the context window.
	TerminalReasonPromptTooLong TerminalReason = "prompt_too_long"
	// TerminalReasonImageError: An image could not be processed.
	TerminalReasonImageError TerminalReason = "image_error"
	// TerminalReasonModelError: The model failed.
	TerminalReasonModelError TerminalReason = "model_error"
	// TerminalReasonAPIError: The API failed.
	TerminalReasonAPIError TerminalReason = "api_error"
	// TerminalReasonMalformedToolUseExhausted: The model kept producing malformed
	// tool calls.
	TerminalReasonMalformedToolUseExhausted TerminalReason = "malformed_tool_use_exhausted"
	// TerminalReasonAbortedStreaming: Interrupted while the model was answering.
	TerminalReasonAbortedStreaming TerminalReason = "aborted_streaming"
	// TerminalReasonAbortedTools: Interrupted while tools were running.
	TerminalReasonAbortedTools TerminalReason = "aborted_tools"
	// TerminalReasonStopHookPrevented: A Stop hook prevented the continuation.
	TerminalReasonStopHookPrevented TerminalReason = "stop_hook_prevented"
	// TerminalReasonHookStopped: A hook ended the turn.
	TerminalReasonHookStopped TerminalReason = "hook_stopped"
	// TerminalReasonToolDeferred: A hook deferred a tool call to the host.
	TerminalReasonToolDeferred TerminalReason = "tool_deferred"
	// TerminalReasonMaxTurns: The limit of agentic turns was reached.
	TerminalReasonMaxTurns TerminalReason = "max_turns"
	// TerminalReasonBackgroundRequested: The work was moved to the background.
	TerminalReasonBackgroundRequested TerminalReason = "background_requested"
	// TerminalReasonCompleted: The model had nothing more to do.
	TerminalReasonCompleted TerminalReason = "completed"
	// TerminalReasonBudgetExhausted: The budget was used up.
	TerminalReasonBudgetExhausted TerminalReason = "budget_exhausted"
	// TerminalReasonStructuredOutputRetryExhausted: The retries for structured
	// output were used up.
	TerminalReasonStructuredOutputRetryExhausted TerminalReason = "structured_output_retry_exhausted"
	// TerminalReasonToolDeferredUnavailable: A deferred tool was not available
	// any more.
	TerminalReasonToolDeferredUnavailable TerminalReason = "tool_deferred_unavailable"
	// TerminalReasonTurnSetupFailed: The turn could not be prepared.
	TerminalReasonTurnSetupFailed TerminalReason = "turn_setup_failed"
)

// StopReason is why the model stopped producing a message. The set is open: a
// newer CLI may use other values.
type StopReason string

// The values of StopReason that are known.
const (
	// StopReasonEndTurn: It was done.
	StopReasonEndTurn StopReason = "end_turn"
	// StopReasonMaxTokens: It hit the output limit.
	StopReasonMaxTokens StopReason = "max_tokens"
	// StopReasonStopSequence: It produced a stop sequence, or the message is
	// synthetic.
	StopReasonStopSequence StopReason = "stop_sequence"
	// StopReasonToolUse: It wants a tool's result.
	StopReasonToolUse StopReason = "tool_use"
	// StopReasonPauseTurn: It paused a long turn of server tools.
	StopReasonPauseTurn StopReason = "pause_turn"
	// StopReasonCompaction: It stopped for a compaction.
	StopReasonCompaction StopReason = "compaction"
	// StopReasonRefusal: It refused to answer.
	StopReasonRefusal StopReason = "refusal"
	// StopReasonModelContextWindowExceeded: The context window was full.
	StopReasonModelContextWindowExceeded StopReason = "model_context_window_exceeded"
	// StopReasonToolDeferred: The CLI's own: a hook deferred a tool call.
	StopReasonToolDeferred StopReason = "tool_deferred"
)

// StartupFailureReason says why a session could not start. The set is open: a
// newer CLI may use other values.
type StartupFailureReason string

// The values of StartupFailureReason that are known.
const (
	// StartupFailureReasonOrgPinAPIKeyConflict: The pinned organisation conflicts
	// with an API key.
	StartupFailureReasonOrgPinAPIKeyConflict StartupFailureReason = "org_pin_api_key_conflict"
	// StartupFailureReasonProviderNotAllowed: The API provider is not allowed.
	StartupFailureReasonProviderNotAllowed StartupFailureReason = "provider_not_allowed"
	// StartupFailureReasonOrgVerifyFailed: The organisation could not be
	// verified.
	StartupFailureReasonOrgVerifyFailed StartupFailureReason = "org_verify_failed"
	// StartupFailureReasonOrgPinMismatch: The login belongs to another
	// organisation.
	StartupFailureReasonOrgPinMismatch StartupFailureReason = "org_pin_mismatch"
	// StartupFailureReasonManagedSettingsInvalid: The managed settings are
	// invalid.
	StartupFailureReasonManagedSettingsInvalid StartupFailureReason = "managed_settings_invalid"
	// StartupFailureReasonRemoteSettingsRequiredUnavailable: Required remote
	// settings could not be fetched.
	StartupFailureReasonRemoteSettingsRequiredUnavailable StartupFailureReason = "remote_settings_required_unavailable"
	// StartupFailureReasonGatewaySignInRequired: The gateway wants a sign-in.
	StartupFailureReasonGatewaySignInRequired StartupFailureReason = "gateway_signin_required"
	// StartupFailureReasonGatewayAccessDenied: The gateway refused access.
	StartupFailureReasonGatewayAccessDenied StartupFailureReason = "gateway_access_denied"
	// StartupFailureReasonProxyInvalid: The proxy setting is invalid.
	StartupFailureReasonProxyInvalid StartupFailureReason = "proxy_invalid"
	// StartupFailureReasonTempDirUnusable: The folder for temporary files cannot
	// be used.
	StartupFailureReasonTempDirUnusable StartupFailureReason = "temp_dir_unusable"
	// StartupFailureReasonCwdUnavailable: The working directory cannot be used.
	StartupFailureReasonCwdUnavailable StartupFailureReason = "cwd_unavailable"
	// StartupFailureReasonShellToolMissing: No shell was found for the shell
	// tool.
	StartupFailureReasonShellToolMissing StartupFailureReason = "shell_tool_missing"
	// StartupFailureReasonSessionHeldByBackground: A background process holds the
	// session.
	StartupFailureReasonSessionHeldByBackground StartupFailureReason = "session_held_by_background"
	// StartupFailureReasonWorktreeResumeRefused: Resuming in the worktree was
	// refused.
	StartupFailureReasonWorktreeResumeRefused StartupFailureReason = "worktree_resume_refused"
	// StartupFailureReasonWorktreeUnverified: The worktree could not be verified.
	StartupFailureReasonWorktreeUnverified StartupFailureReason = "worktree_unverified"
	// StartupFailureReasonCLIVersionTooOld: The CLI is older than what is
	// required.
	StartupFailureReasonCLIVersionTooOld StartupFailureReason = "cli_version_too_old"
	// StartupFailureReasonBypassRoot: Bypass mode was asked for as root.
	StartupFailureReasonBypassRoot StartupFailureReason = "bypass_root"
	// StartupFailureReasonOrgConfigRequiredUnavailable: A required configuration
	// of the organisation is out of reach.
	StartupFailureReasonOrgConfigRequiredUnavailable StartupFailureReason = "org_config_required_unavailable"
	// StartupFailureReasonOrgConfigRefused: The organisation's configuration was
	// refused.
	StartupFailureReasonOrgConfigRefused StartupFailureReason = "org_config_refused"
	// StartupFailureReasonSandboxRequiredUnavailable: A sandbox is required and
	// not available.
	StartupFailureReasonSandboxRequiredUnavailable StartupFailureReason = "sandbox_required_unavailable"
	// StartupFailureReasonInitializeNotFirst: The initialize request was not the
	// first line.
	StartupFailureReasonInitializeNotFirst StartupFailureReason = "initialize_not_first"
	// StartupFailureReasonConfigFileInvalid: The global configuration file is
	// damaged.
	StartupFailureReasonConfigFileInvalid StartupFailureReason = "config_file_invalid"
	// StartupFailureReasonManagedSettingsNotDelivered: Managed settings were
	// expected and did not come.
	StartupFailureReasonManagedSettingsNotDelivered StartupFailureReason = "managed_settings_not_delivered"
)

// SessionState is what a session is doing, in the CLI's own words. The set is
// open: a newer CLI may use other values.
type SessionState string

// The values of SessionState that are known.
const (
	// SessionStateIdle: Waiting for a prompt.
	SessionStateIdle SessionState = "idle"
	// SessionStateRunning: Working on a turn.
	SessionStateRunning SessionState = "running"
	// SessionStateRequiresAction: Waiting for an answer to a question.
	SessionStateRequiresAction SessionState = "requires_action"
)

// StatusPhase is the phase that a status line announces. The set is open: a
// newer CLI may use other values.
type StatusPhase string

// The values of StatusPhase that are known.
const (
	// StatusPhaseCompacting: The conversation is being compacted.
	StatusPhaseCompacting StatusPhase = "compacting"
	// StatusPhaseRequesting: A request to the API is under way.
	StatusPhaseRequesting StatusPhase = "requesting"
)

// CompactResult is the outcome of a compaction. The set is open: a newer CLI
// may use other values.
type CompactResult string

// The values of CompactResult that are known.
const (
	// CompactResultSuccess: It worked.
	CompactResultSuccess CompactResult = "success"
	// CompactResultFailed: It did not.
	CompactResultFailed CompactResult = "failed"
)

// CompactTrigger says what started a compaction. The set is open: a newer CLI
// may use other values.
type CompactTrigger string

// The values of CompactTrigger that are known.
const (
	// CompactTriggerManual: The user.
	CompactTriggerManual CompactTrigger = "manual"
	// CompactTriggerAuto: The CLI, because the context was filling up.
	CompactTriggerAuto CompactTrigger = "auto"
)

// FastModeState is the state of fast mode. The set is open: a newer CLI may
// use other values.
type FastModeState string

// The values of FastModeState that are known.
const (
	// FastModeStateOff: Not in use.
	FastModeStateOff FastModeState = "off"
	// FastModeStateCooldown: Paused after a limit was hit.
	FastModeStateCooldown FastModeState = "cooldown"
	// FastModeStateOn: In use.
	FastModeStateOn FastModeState = "on"
)

// FastModeDisabledReason says why fast mode cannot be used. The set is open: a
// newer CLI may use other values.
type FastModeDisabledReason string

// The values of FastModeDisabledReason that are known.
const (
	// FastModeDisabledReasonFree: The plan does not include it.
	FastModeDisabledReasonFree FastModeDisabledReason = "free"
	// FastModeDisabledReasonPreference: The user switched it off.
	FastModeDisabledReasonPreference FastModeDisabledReason = "preference"
	// FastModeDisabledReasonExtraUsageDisabled: Extra usage is not enabled.
	FastModeDisabledReasonExtraUsageDisabled FastModeDisabledReason = "extra_usage_disabled"
	// FastModeDisabledReasonNetworkError: Its availability could not be fetched.
	FastModeDisabledReasonNetworkError FastModeDisabledReason = "network_error"
	// FastModeDisabledReasonUnknown: No reason is known.
	FastModeDisabledReasonUnknown FastModeDisabledReason = "unknown"
	// FastModeDisabledReasonNotFirstParty: The API provider does not offer it.
	FastModeDisabledReasonNotFirstParty FastModeDisabledReason = "not_first_party"
	// FastModeDisabledReasonDisabledByEnv: The environment switches it off.
	FastModeDisabledReasonDisabledByEnv FastModeDisabledReason = "disabled_by_env"
	// FastModeDisabledReasonModelNotAllowed: The model does not offer it.
	FastModeDisabledReasonModelNotAllowed FastModeDisabledReason = "model_not_allowed"
	// FastModeDisabledReasonSDKOptInRequired: The host has to opt in.
	FastModeDisabledReasonSDKOptInRequired FastModeDisabledReason = "sdk_opt_in_required"
	// FastModeDisabledReasonPending: Not known yet.
	FastModeDisabledReasonPending FastModeDisabledReason = "pending"
)

// Effort is how much work the model puts into an answer. The set is open: a
// newer CLI may use other values.
type Effort string

// The values of Effort that are known.
const (
	// EffortLow: Least.
	EffortLow Effort = "low"
	// EffortMedium: Moderate.
	EffortMedium Effort = "medium"
	// EffortHigh: Much.
	EffortHigh Effort = "high"
	// EffortXHigh: More.
	EffortXHigh Effort = "xhigh"
	// EffortMax: Most.
	EffortMax Effort = "max"
)

// MessagePriority says when a user message is to be worked on. The set is
// open: a newer CLI may use other values.
type MessagePriority string

// The values of MessagePriority that are known.
const (
	// MessagePriorityNow: At once; a running turn is stopped.
	MessagePriorityNow MessagePriority = "now"
	// MessagePriorityNext: At the next opportunity of the running turn.
	MessagePriorityNext MessagePriority = "next"
	// MessagePriorityLater: After the running turn.
	MessagePriorityLater MessagePriority = "later"
)

// OriginKind says where a message or a turn came from. The set is open: a
// newer CLI may use other values.
type OriginKind string

// The values of OriginKind that are known.
const (
	// OriginKindHuman: A person.
	OriginKindHuman OriginKind = "human"
	// OriginKindChannel: A channel of an MCP server.
	OriginKindChannel OriginKind = "channel"
	// OriginKindPeer: Another session.
	OriginKindPeer OriginKind = "peer"
	// OriginKindTaskNotification: A task in the background that reported
	// something.
	OriginKindTaskNotification OriginKind = "task-notification"
	// OriginKindCoordinator: The coordinator of a group of agents.
	OriginKindCoordinator OriginKind = "coordinator"
	// OriginKindUnclassified: Not known.
	OriginKindUnclassified OriginKind = "unclassified"
	// OriginKindObserver: An agent that observes this one.
	OriginKindObserver OriginKind = "observer"
	// OriginKindAutoContinuation: The CLI itself, to go on.
	OriginKindAutoContinuation OriginKind = "auto-continuation"
	// OriginKindObserverActivity: The activity of an observing agent.
	OriginKindObserverActivity OriginKind = "observer-activity"
)

// OriginSubkind narrows the origin task-notification. The set is open: a newer
// CLI may use other values.
type OriginSubkind string

// The values of OriginSubkind that are known.
const (
	// OriginSubkindScheduledTrigger: A schedule.
	OriginSubkindScheduledTrigger OriginSubkind = "scheduled-trigger"
	// OriginSubkindPeerSendMessage: A message of another session.
	OriginSubkindPeerSendMessage OriginSubkind = "peer-send-message"
	// OriginSubkindProjectsRelay: A relay between projects.
	OriginSubkindProjectsRelay OriginSubkind = "projects-relay"
	// OriginSubkindSessionInbox: The session's inbox.
	OriginSubkindSessionInbox OriginSubkind = "session-inbox"
)

// QueuedBehind says what a network post had to wait for. The set is open: a
// newer CLI may use other values.
type QueuedBehind string

// The values of QueuedBehind that are known.
const (
	// QueuedBehindDurablePost: Another durable post.
	QueuedBehindDurablePost QueuedBehind = "durable_post"
	// QueuedBehindEphemeralPost: Another ephemeral post.
	QueuedBehindEphemeralPost QueuedBehind = "ephemeral_post"
	// QueuedBehindRetryBackoff: The pause before a retry.
	QueuedBehindRetryBackoff QueuedBehind = "retry_backoff"
	// QueuedBehindHold: A hold.
	QueuedBehindHold QueuedBehind = "hold"
	// QueuedBehindNone: Nothing.
	QueuedBehindNone QueuedBehind = "none"
)

// CostBasis says which prices a cost was computed with. The set is open: a
// newer CLI may use other values.
type CostBasis string

// The values of CostBasis that are known.
const (
	// CostBasisList: List prices.
	CostBasisList CostBasis = "list"
	// CostBasisManaged: Prices configured by an organisation.
	CostBasisManaged CostBasis = "managed"
	// CostBasisUnknown: Not known.
	CostBasisUnknown CostBasis = "unknown"
)

// RefusalDirection says what a fallback after a refusal did. The set is open:
// a newer CLI may use other values.
type RefusalDirection string

// The values of RefusalDirection that are known.
const (
	// RefusalDirectionRetry: The turn is retried on the fallback model.
	RefusalDirectionRetry RefusalDirection = "retry"
	// RefusalDirectionRevert: The session goes back to its own model.
	RefusalDirectionRevert RefusalDirection = "revert"
	// RefusalDirectionSticky: The session stays on the fallback model.
	RefusalDirectionSticky RefusalDirection = "sticky"
)

// RefusalScope is how far a fallback after a refusal reaches. The set is open:
// a newer CLI may use other values.
type RefusalScope string

// The values of RefusalScope that are known.
const (
	// RefusalScopeSession: The whole session.
	RefusalScopeSession RefusalScope = "session"
	// RefusalScopeLocal: This request only.
	RefusalScopeLocal RefusalScope = "local"
)

// ResetTrigger says what made a conversation start afresh. The set is open: a
// newer CLI may use other values.
type ResetTrigger string

// The values of ResetTrigger that are known.
const (
	// ResetTriggerClear: The clear command.
	ResetTriggerClear ResetTrigger = "clear"
	// ResetTriggerPlanModeExit: A plan was approved with a cleared context.
	ResetTriggerPlanModeExit ResetTrigger = "plan_mode_exit"
	// ResetTriggerFreshSession: A fresh session was asked for.
	ResetTriggerFreshSession ResetTrigger = "fresh_session"
	// ResetTriggerOnboarding: The first steps of a new user.
	ResetTriggerOnboarding ResetTrigger = "onboarding"
)

// CommandState is the fate of a queued user message. The set is open: a newer
// CLI may use other values.
type CommandState string

// The values of CommandState that are known.
const (
	// CommandStateQueued: It waits.
	CommandStateQueued CommandState = "queued"
	// CommandStateStarted: It entered a turn.
	CommandStateStarted CommandState = "started"
	// CommandStateCompleted: Its turn ended.
	CommandStateCompleted CommandState = "completed"
	// CommandStateCancelled: It was taken back or interrupted.
	CommandStateCancelled CommandState = "cancelled"
	// CommandStateDiscarded: It was dropped.
	CommandStateDiscarded CommandState = "discarded"
	// CommandStateRefused: It was not accepted at all.
	CommandStateRefused CommandState = "refused"
)

// TaskStatus is the state of a task in the background. The set is open: a
// newer CLI may use other values.
type TaskStatus string

// The values of TaskStatus that are known.
const (
	// TaskStatusPending: Not started yet.
	TaskStatusPending TaskStatus = "pending"
	// TaskStatusRunning: At work.
	TaskStatusRunning TaskStatus = "running"
	// TaskStatusCompleted: Ended well.
	TaskStatusCompleted TaskStatus = "completed"
	// TaskStatusFailed: Ended badly.
	TaskStatusFailed TaskStatus = "failed"
	// TaskStatusKilled: Ended from outside.
	TaskStatusKilled TaskStatus = "killed"
	// TaskStatusPaused: Waiting.
	TaskStatusPaused TaskStatus = "paused"
	// TaskStatusStopped: Ended on request; the word that notifications use.
	TaskStatusStopped TaskStatus = "stopped"
)

// HookOutcome is how a hook of the settings ended. The set is open: a newer
// CLI may use other values.
type HookOutcome string

// The values of HookOutcome that are known.
const (
	// HookOutcomeSuccess: It ran.
	HookOutcomeSuccess HookOutcome = "success"
	// HookOutcomeError: It failed.
	HookOutcomeError HookOutcome = "error"
	// HookOutcomeCancelled: It was cancelled.
	HookOutcomeCancelled HookOutcome = "cancelled"
)

// PluginInstallStatus is a step of installing plugins. The set is open: a
// newer CLI may use other values.
type PluginInstallStatus string

// The values of PluginInstallStatus that are known.
const (
	// PluginInstallStatusStarted: The installation began.
	PluginInstallStatusStarted PluginInstallStatus = "started"
	// PluginInstallStatusInstalled: One marketplace is done.
	PluginInstallStatusInstalled PluginInstallStatus = "installed"
	// PluginInstallStatusFailed: One marketplace failed.
	PluginInstallStatusFailed PluginInstallStatus = "failed"
	// PluginInstallStatusCompleted: The installation is over.
	PluginInstallStatusCompleted PluginInstallStatus = "completed"
)

// ProgressStatus is a step of a long control request. The set is open: a newer
// CLI may use other values.
type ProgressStatus string

// The values of ProgressStatus that are known.
const (
	// ProgressStatusStarted: The work began.
	ProgressStatusStarted ProgressStatus = "started"
	// ProgressStatusAPIRetry: A request to the API is retried.
	ProgressStatusAPIRetry ProgressStatus = "api_retry"
)

// NotificationPriority is how urgently a notification wants to be seen. The
// set is open: a newer CLI may use other values.
type NotificationPriority string

// The values of NotificationPriority that are known.
const (
	// NotificationPriorityLow: Not urgent.
	NotificationPriorityLow NotificationPriority = "low"
	// NotificationPriorityMedium: Somewhat urgent.
	NotificationPriorityMedium NotificationPriority = "medium"
	// NotificationPriorityHigh: Urgent.
	NotificationPriorityHigh NotificationPriority = "high"
	// NotificationPriorityImmediate: To be shown at once.
	NotificationPriorityImmediate NotificationPriority = "immediate"
)

// InformationalLevel is the weight of an informational line. The set is open:
// a newer CLI may use other values.
type InformationalLevel string

// The values of InformationalLevel that are known.
const (
	// InformationalLevelInfo: Plain information.
	InformationalLevelInfo InformationalLevel = "info"
	// InformationalLevelNotice: Worth noticing.
	InformationalLevelNotice InformationalLevel = "notice"
	// InformationalLevelSuggestion: A suggestion.
	InformationalLevelSuggestion InformationalLevel = "suggestion"
	// InformationalLevelWarning: A warning.
	InformationalLevelWarning InformationalLevel = "warning"
)

// MemoryMode is how recalled memories were prepared. The set is open: a newer
// CLI may use other values.
type MemoryMode string

// The values of MemoryMode that are known.
const (
	// MemoryModeSelect: They were picked as they are.
	MemoryModeSelect MemoryMode = "select"
	// MemoryModeSynthesize: They were summarised.
	MemoryModeSynthesize MemoryMode = "synthesize"
)

// MemoryScope is the owner of a memory. The set is open: a newer CLI may use
// other values.
type MemoryScope string

// The values of MemoryScope that are known.
const (
	// MemoryScopePersonal: The user.
	MemoryScopePersonal MemoryScope = "personal"
	// MemoryScopeTeam: A team.
	MemoryScopeTeam MemoryScope = "team"
	// MemoryScopeOrganization: An organisation.
	MemoryScopeOrganization MemoryScope = "organization"
)

// WriteError is the error code of writes that were lost. The set is open: a
// newer CLI may use other values.
type WriteError string

// The values of WriteError that are known.
const (
	// WriteErrorNoSpace: The disk is full.
	WriteErrorNoSpace WriteError = "ENOSPC"
	// WriteErrorQuota: The quota is used up.
	WriteErrorQuota WriteError = "EDQUOT"
)

// LostWrite is a kind of data that could not be saved. The set is open: a
// newer CLI may use other values.
type LostWrite string

// The values of LostWrite that are known.
const (
	// LostWriteTranscript: Lines of a transcript.
	LostWriteTranscript LostWrite = "transcript"
	// LostWriteGlobalConfig: The global configuration.
	LostWriteGlobalConfig LostWrite = "global_config"
)

// RateLimitStatus is how close an account is to its limit. The set is open: a
// newer CLI may use other values.
type RateLimitStatus string

// The values of RateLimitStatus that are known.
const (
	// RateLimitStatusAllowed: Within it.
	RateLimitStatusAllowed RateLimitStatus = "allowed"
	// RateLimitStatusAllowedWarning: Close to it.
	RateLimitStatusAllowedWarning RateLimitStatus = "allowed_warning"
	// RateLimitStatusRejected: Beyond it.
	RateLimitStatusRejected RateLimitStatus = "rejected"
)

// RateLimitType is the window that a limit is counted in. The set is open: a
// newer CLI may use other values.
type RateLimitType string

// The values of RateLimitType that are known.
const (
	// RateLimitTypeFiveHour: Five hours.
	RateLimitTypeFiveHour RateLimitType = "five_hour"
	// RateLimitTypeSevenDay: Seven days, all models.
	RateLimitTypeSevenDay RateLimitType = "seven_day"
	// RateLimitTypeSevenDayOpus: Seven days, Opus.
	RateLimitTypeSevenDayOpus RateLimitType = "seven_day_opus"
	// RateLimitTypeSevenDaySonnet: Seven days, Sonnet.
	RateLimitTypeSevenDaySonnet RateLimitType = "seven_day_sonnet"
	// RateLimitTypeSevenDayOverageIncluded: Seven days, overage included.
	RateLimitTypeSevenDayOverageIncluded RateLimitType = "seven_day_overage_included"
	// RateLimitTypeOverage: Usage beyond the plan.
	RateLimitTypeOverage RateLimitType = "overage"
	// RateLimitTypeHourly: One hour; described by third parties, never seen.
	RateLimitTypeHourly RateLimitType = "hourly"
)

// OverageDisabledReason says why usage beyond the plan is not possible. The
// set is open: a newer CLI may use other values.
type OverageDisabledReason string

// The values of OverageDisabledReason that are known.
const (
	// OverageDisabledReasonOverageNotProvisioned: It was never set up.
	OverageDisabledReasonOverageNotProvisioned OverageDisabledReason = "overage_not_provisioned"
	// OverageDisabledReasonOrgLevelDisabled: The organisation switched it off.
	OverageDisabledReasonOrgLevelDisabled OverageDisabledReason = "org_level_disabled"
	// OverageDisabledReasonOrgLevelDisabledUntil: The organisation switched it
	// off for a time.
	OverageDisabledReasonOrgLevelDisabledUntil OverageDisabledReason = "org_level_disabled_until"
	// OverageDisabledReasonOutOfCredits: The credits are used up.
	OverageDisabledReasonOutOfCredits OverageDisabledReason = "out_of_credits"
	// OverageDisabledReasonSeatTierLevelDisabled: The kind of seat does not
	// include it.
	OverageDisabledReasonSeatTierLevelDisabled OverageDisabledReason = "seat_tier_level_disabled"
	// OverageDisabledReasonMemberLevelDisabled: It is off for this member.
	OverageDisabledReasonMemberLevelDisabled OverageDisabledReason = "member_level_disabled"
	// OverageDisabledReasonSeatTierZeroCreditLimit: The limit of this kind of
	// seat is zero.
	OverageDisabledReasonSeatTierZeroCreditLimit OverageDisabledReason = "seat_tier_zero_credit_limit"
	// OverageDisabledReasonGroupZeroCreditLimit: The group's limit is zero.
	OverageDisabledReasonGroupZeroCreditLimit OverageDisabledReason = "group_zero_credit_limit"
	// OverageDisabledReasonMemberZeroCreditLimit: The member's limit is zero.
	OverageDisabledReasonMemberZeroCreditLimit OverageDisabledReason = "member_zero_credit_limit"
	// OverageDisabledReasonOrgServiceLevelDisabled: The organisation switched it
	// off for this service.
	OverageDisabledReasonOrgServiceLevelDisabled OverageDisabledReason = "org_service_level_disabled"
	// OverageDisabledReasonNoLimitsConfigured: No limits are configured.
	OverageDisabledReasonNoLimitsConfigured OverageDisabledReason = "no_limits_configured"
	// OverageDisabledReasonFetchError: The state could not be fetched.
	OverageDisabledReasonFetchError OverageDisabledReason = "fetch_error"
	// OverageDisabledReasonUnknown: No reason is known.
	OverageDisabledReasonUnknown OverageDisabledReason = "unknown"
)

// LimitScope is what a limit is shared by. The set is open: a newer CLI may
// use other values.
type LimitScope string

// The values of LimitScope that are known.
const (
	// LimitScopeService: The service.
	LimitScopeService LimitScope = "service"
	// LimitScopeChannel: The channel.
	LimitScopeChannel LimitScope = "channel"
	// LimitScopeGroupPool: A group's pool.
	LimitScopeGroupPool LimitScope = "group_pool"
)

// APIProvider is the service that runs the model. The set is open: a newer CLI
// may use other values.
type APIProvider string

// The values of APIProvider that are known.
const (
	// APIProviderFirstParty: Anthropic's own API.
	APIProviderFirstParty APIProvider = "firstParty"
	// APIProviderBedrock: Amazon Bedrock.
	APIProviderBedrock APIProvider = "bedrock"
	// APIProviderVertex: Google Vertex AI.
	APIProviderVertex APIProvider = "vertex"
	// APIProviderFoundry: Microsoft Foundry.
	APIProviderFoundry APIProvider = "foundry"
	// APIProviderAnthropicAWS: Anthropic's platform on AWS.
	APIProviderAnthropicAWS APIProvider = "anthropicAws"
	// APIProviderAnthropicGoogleCloud: Anthropic's platform on Google Cloud.
	APIProviderAnthropicGoogleCloud APIProvider = "anthropicGoogleCloud"
	// APIProviderMantle: Mantle.
	APIProviderMantle APIProvider = "mantle"
	// APIProviderGateway: A gateway.
	APIProviderGateway APIProvider = "gateway"
)

// ContextKind is what a part of the context window is used for. The set is
// open: a newer CLI may use other values.
type ContextKind string

// The values of ContextKind that are known.
const (
	// ContextKindUsed: Taken.
	ContextKindUsed ContextKind = "used"
	// ContextKindFree: Free.
	ContextKindFree ContextKind = "free"
	// ContextKindBuffer: Reserved.
	ContextKindBuffer ContextKind = "buffer"
	// ContextKindDeferred: Not loaded yet.
	ContextKindDeferred ContextKind = "deferred"
)

// ContextLimitKind is the limit that the context went over. The set is open: a
// newer CLI may use other values.
type ContextLimitKind string

// The values of ContextLimitKind that are known.
const (
	// ContextLimitKindHardLimit: The model's own.
	ContextLimitKindHardLimit ContextLimitKind = "hard_limit"
	// ContextLimitKindCompactionWindow: The window at which compaction starts.
	ContextLimitKindCompactionWindow ContextLimitKind = "compaction_window"
)

// ContextCategoryID names a part of the context window. The set is open: a
// newer CLI may use other values.
type ContextCategoryID string

// The values of ContextCategoryID that are known.
const (
	// ContextCategoryIDSystemPrompt: The system prompt.
	ContextCategoryIDSystemPrompt ContextCategoryID = "system_prompt"
	// ContextCategoryIDSystemTools: The built-in tools.
	ContextCategoryIDSystemTools ContextCategoryID = "system_tools"
	// ContextCategoryIDMCPTools: The tools of MCP servers.
	ContextCategoryIDMCPTools ContextCategoryID = "mcp_tools"
	// ContextCategoryIDMCPInstructions: The instructions of MCP servers.
	ContextCategoryIDMCPInstructions ContextCategoryID = "mcp_instructions"
	// ContextCategoryIDMCPToolsDeferred: MCP tools that are loaded on demand.
	ContextCategoryIDMCPToolsDeferred ContextCategoryID = "mcp_tools_deferred"
	// ContextCategoryIDSystemToolsDeferred: Built-in tools that are loaded on
	// demand.
	ContextCategoryIDSystemToolsDeferred ContextCategoryID = "system_tools_deferred"
	// ContextCategoryIDCustomAgents: Custom agents.
	ContextCategoryIDCustomAgents ContextCategoryID = "custom_agents"
	// ContextCategoryIDMemoryFiles: Memory files.
	ContextCategoryIDMemoryFiles ContextCategoryID = "memory_files"
	// ContextCategoryIDSkills: Skills.
	ContextCategoryIDSkills ContextCategoryID = "skills"
	// ContextCategoryIDMessages: The conversation.
	ContextCategoryIDMessages ContextCategoryID = "messages"
	// ContextCategoryIDAutocompactBuffer: What automatic compaction keeps free.
	ContextCategoryIDAutocompactBuffer ContextCategoryID = "autocompact_buffer"
	// ContextCategoryIDCompactBuffer: What compaction keeps free.
	ContextCategoryIDCompactBuffer ContextCategoryID = "compact_buffer"
	// ContextCategoryIDFreeSpace: What is left.
	ContextCategoryIDFreeSpace ContextCategoryID = "free_space"
)

// ContextDetail is how much detail a request for context usage wants. The set
// is open: a newer CLI may use other values.
type ContextDetail string

// The values of ContextDetail that are known.
const (
	// ContextDetailSummary: Totals.
	ContextDetailSummary ContextDetail = "summary"
	// ContextDetailFull: Everything.
	ContextDetailFull ContextDetail = "full"
)

// ViewMode is how the terminal shows a session. The set is open: a newer CLI
// may use other values.
type ViewMode string

// The values of ViewMode that are known.
const (
	// ViewModeFocus: Focused.
	ViewModeFocus ViewMode = "focus"
	// ViewModeDefault: The usual way.
	ViewModeDefault ViewMode = "default"
)

// ThinkingDisplay is how much of the model's thinking is shown. The set is
// open: a newer CLI may use other values.
type ThinkingDisplay string

// The values of ThinkingDisplay that are known.
const (
	// ThinkingDisplaySummarized: A summary.
	ThinkingDisplaySummarized ThinkingDisplay = "summarized"
	// ThinkingDisplayOmitted: Nothing.
	ThinkingDisplayOmitted ThinkingDisplay = "omitted"
	// ThinkingDisplayHighlights: The main points.
	ThinkingDisplayHighlights ThinkingDisplay = "highlights"
)

// MCPServerState is the state of the connection to an MCP server. The set is
// open: a newer CLI may use other values.
type MCPServerState string

// The values of MCPServerState that are known.
const (
	// MCPServerStateConnected: In use.
	MCPServerStateConnected MCPServerState = "connected"
	// MCPServerStateFailed: It could not be reached.
	MCPServerStateFailed MCPServerState = "failed"
	// MCPServerStateNeedsAuth: It wants a login.
	MCPServerStateNeedsAuth MCPServerState = "needs-auth"
	// MCPServerStatePending: Not connected yet.
	MCPServerStatePending MCPServerState = "pending"
	// MCPServerStateDisabled: Switched off.
	MCPServerStateDisabled MCPServerState = "disabled"
)

// MCPTransport is the way an MCP server is reached. The set is open: a newer
// CLI may use other values.
type MCPTransport string

// The values of MCPTransport that are known.
const (
	// MCPTransportStdio: A process of the CLI.
	MCPTransportStdio MCPTransport = "stdio"
	// MCPTransportSSE: HTTP with server-sent events.
	MCPTransportSSE MCPTransport = "sse"
	// MCPTransportHTTP: Streamable HTTP.
	MCPTransportHTTP MCPTransport = "http"
	// MCPTransportSDK: The host, through mcp_message requests.
	MCPTransportSDK MCPTransport = "sdk"
	// MCPTransportClaudeAIProxy: A connector of claude.ai; in status answers
	// only.
	MCPTransportClaudeAIProxy MCPTransport = "claudeai-proxy"
)

// ToolPolicy is the host's policy for one tool of an MCP server. The set is
// open: a newer CLI may use other values.
type ToolPolicy string

// The values of ToolPolicy that are known.
const (
	// ToolPolicyAlwaysAllow: Never ask.
	ToolPolicyAlwaysAllow ToolPolicy = "always_allow"
	// ToolPolicyAlwaysAsk: Always ask.
	ToolPolicyAlwaysAsk ToolPolicy = "always_ask"
	// ToolPolicyAlwaysDeny: Never run it.
	ToolPolicyAlwaysDeny ToolPolicy = "always_deny"
)

// OrgPermission is the most that an organisation lets a tool do. The set is
// open: a newer CLI may use other values.
type OrgPermission string

// The values of OrgPermission that are known.
const (
	// OrgPermissionAllow: Run.
	OrgPermissionAllow OrgPermission = "allow"
	// OrgPermissionAsk: Run after a question.
	OrgPermissionAsk OrgPermission = "ask"
	// OrgPermissionBlocked: Nothing.
	OrgPermissionBlocked OrgPermission = "blocked"
)

// ManifestFate is what became of an MCP manifest that the host sent along. The
// set is open: a newer CLI may use other values.
type ManifestFate string

// The values of ManifestFate that are known.
const (
	// ManifestFateParked: Kept for the connection.
	ManifestFateParked ManifestFate = "parked"
	// ManifestFateAlreadyConnected: Not needed.
	ManifestFateAlreadyConnected ManifestFate = "already_connected"
	// ManifestFateProtocolVersionMismatch: Made for another version.
	ManifestFateProtocolVersionMismatch ManifestFate = "protocol_version_mismatch"
	// ManifestFateMalformed: Not understood.
	ManifestFateMalformed ManifestFate = "malformed"
	// ManifestFateNotHonoured: Ignored.
	ManifestFateNotHonoured ManifestFate = "not_honoured"
)

// ElicitationMode is the way an MCP server asks the user. The set is open: a
// newer CLI may use other values.
type ElicitationMode string

// The values of ElicitationMode that are known.
const (
	// ElicitationModeForm: By a form.
	ElicitationModeForm ElicitationMode = "form"
	// ElicitationModeURL: By a page to open.
	ElicitationModeURL ElicitationMode = "url"
)

// ElicitationAction is the user's reaction to an elicitation. The set is open:
// a newer CLI may use other values.
type ElicitationAction string

// The values of ElicitationAction that are known.
const (
	// ElicitationActionAccept: Filled in.
	ElicitationActionAccept ElicitationAction = "accept"
	// ElicitationActionDecline: Refused.
	ElicitationActionDecline ElicitationAction = "decline"
	// ElicitationActionCancel: Closed without an answer.
	ElicitationActionCancel ElicitationAction = "cancel"
)

// DialogBehavior is the way a dialog ended. The set is open: a newer CLI may
// use other values.
type DialogBehavior string

// The values of DialogBehavior that are known.
const (
	// DialogBehaviorCompleted: The user chose.
	DialogBehaviorCompleted DialogBehavior = "completed"
	// DialogBehaviorCancelled: The user closed it.
	DialogBehaviorCancelled DialogBehavior = "cancelled"
)

// SettingsSource is a layer of the CLI's settings. The set is open: a newer
// CLI may use other values.
type SettingsSource string

// The values of SettingsSource that are known.
const (
	// SettingsSourceUserSettings: The user's settings file.
	SettingsSourceUserSettings SettingsSource = "userSettings"
	// SettingsSourceProjectSettings: The project's shared settings file.
	SettingsSourceProjectSettings SettingsSource = "projectSettings"
	// SettingsSourceLocalSettings: The project's settings file of this user.
	SettingsSourceLocalSettings SettingsSource = "localSettings"
	// SettingsSourceFlagSettings: Settings given when the process was started, or
	// by request.
	SettingsSourceFlagSettings SettingsSource = "flagSettings"
	// SettingsSourcePolicySettings: Settings managed by an organisation.
	SettingsSourcePolicySettings SettingsSource = "policySettings"
)

// RenameSource says what renames a session. The set is open: a newer CLI may
// use other values.
type RenameSource string

// The values of RenameSource that are known.
const (
	// RenameSourceRemote: A remote client.
	RenameSourceRemote RenameSource = "remote"
	// RenameSourceHost: The host.
	RenameSourceHost RenameSource = "host"
)

// FileEncoding is the encoding of a file's contents in an answer. The set is
// open: a newer CLI may use other values.
type FileEncoding string

// The values of FileEncoding that are known.
const (
	// FileEncodingUTF8: Text.
	FileEncodingUTF8 FileEncoding = "utf-8"
	// FileEncodingBase64: Bytes.
	FileEncodingBase64 FileEncoding = "base64"
)

// StagingError says why files could not be staged around a tool call. The set
// is open: a newer CLI may use other values.
type StagingError string

// The values of StagingError that are known.
const (
	// StagingErrorExpired: The call came too late.
	StagingErrorExpired StagingError = "expired"
	// StagingErrorInputMissing: An input file is missing.
	StagingErrorInputMissing StagingError = "input_missing"
	// StagingErrorOutputTooLarge: An output file is too large.
	StagingErrorOutputTooLarge StagingError = "output_too_large"
	// StagingErrorOutputConflict: An output file was changed by someone else.
	StagingErrorOutputConflict StagingError = "output_conflict"
	// StagingErrorTimeout: The call took too long.
	StagingErrorTimeout StagingError = "timeout"
	// StagingErrorToolError: The tool failed.
	StagingErrorToolError StagingError = "tool_error"
)

// LSPToolChange is what reloading plugins would do to the language server
// tool. The set is open: a newer CLI may use other values.
type LSPToolChange string

// The values of LSPToolChange that are known.
const (
	// LSPToolChangeAdds: It adds the tool.
	LSPToolChangeAdds LSPToolChange = "adds"
	// LSPToolChangeMayAdd: It may add the tool.
	LSPToolChangeMayAdd LSPToolChange = "may-add"
	// LSPToolChangeRemoves: It removes the tool.
	LSPToolChangeRemoves LSPToolChange = "removes"
	// LSPToolChangeMayRemove: It may remove the tool.
	LSPToolChangeMayRemove LSPToolChange = "may-remove"
)

// UsageBehavior is a habit that drives up usage. The set is open: a newer CLI
// may use other values.
type UsageBehavior string

// The values of UsageBehavior that are known.
const (
	// UsageBehaviorCacheMiss: Prompts that miss the cache.
	UsageBehaviorCacheMiss UsageBehavior = "cache_miss"
	// UsageBehaviorLongContext: Long contexts.
	UsageBehaviorLongContext UsageBehavior = "long_context"
	// UsageBehaviorSubagentHeavy: Many sub-agents.
	UsageBehaviorSubagentHeavy UsageBehavior = "subagent_heavy"
	// UsageBehaviorHighParallel: Many sessions at once.
	UsageBehaviorHighParallel UsageBehavior = "high_parallel"
	// UsageBehaviorCron: Scheduled work.
	UsageBehaviorCron UsageBehavior = "cron"
	// UsageBehaviorMaxEffort: The highest effort.
	UsageBehaviorMaxEffort UsageBehavior = "max_effort"
	// UsageBehaviorWorkflow: Workflows.
	UsageBehaviorWorkflow UsageBehavior = "workflow"
	// UsageBehaviorAlwaysOnContext: Context that is always sent.
	UsageBehaviorAlwaysOnContext UsageBehavior = "always_on_context"
	// UsageBehaviorLargeToolResults: Large tool results.
	UsageBehaviorLargeToolResults UsageBehavior = "large_tool_results"
)

// HookEvent is something that hooks can be registered for. The set is open: a
// newer CLI may use other values.
type HookEvent string

// The values of HookEvent that are known.
const (
	// HookEventPreToolUse: A tool is about to run.
	HookEventPreToolUse HookEvent = "PreToolUse"
	// HookEventPostToolUse: A tool has run.
	HookEventPostToolUse HookEvent = "PostToolUse"
	// HookEventPostToolUseFailure: A tool has failed.
	HookEventPostToolUseFailure HookEvent = "PostToolUseFailure"
	// HookEventPostToolBatch: All tools of a message have run.
	HookEventPostToolBatch HookEvent = "PostToolBatch"
	// HookEventNotification: The CLI notifies the user.
	HookEventNotification HookEvent = "Notification"
	// HookEventUserPromptSubmit: A prompt came in.
	HookEventUserPromptSubmit HookEvent = "UserPromptSubmit"
	// HookEventUserPromptExpansion: A slash command or an MCP prompt was
	// expanded.
	HookEventUserPromptExpansion HookEvent = "UserPromptExpansion"
	// HookEventSessionStart: The session starts. It never reaches a host's
	// callback: it runs before initialize.
	HookEventSessionStart HookEvent = "SessionStart"
	// HookEventSessionEnd: The session ends. It does not reach a host's callback
	// once the input is closed.
	HookEventSessionEnd HookEvent = "SessionEnd"
	// HookEventStop: The model is about to end its turn.
	HookEventStop HookEvent = "Stop"
	// HookEventStopFailure: A turn ended on an API error.
	HookEventStopFailure HookEvent = "StopFailure"
	// HookEventSubagentStart: A sub-agent starts.
	HookEventSubagentStart HookEvent = "SubagentStart"
	// HookEventSubagentStop: A sub-agent is about to end.
	HookEventSubagentStop HookEvent = "SubagentStop"
	// HookEventPreCompact: The conversation is about to be compacted.
	HookEventPreCompact HookEvent = "PreCompact"
	// HookEventPostCompact: The conversation was compacted.
	HookEventPostCompact HookEvent = "PostCompact"
	// HookEventPreModelSwitch: The model is about to change.
	HookEventPreModelSwitch HookEvent = "PreModelSwitch"
	// HookEventPostModelSwitch: The model has changed.
	HookEventPostModelSwitch HookEvent = "PostModelSwitch"
	// HookEventPermissionRequest: A permission is about to be asked for. Since
	// 2.1.62 it races with can_use_tool.
	HookEventPermissionRequest HookEvent = "PermissionRequest"
	// HookEventPermissionDenied: A tool call was refused.
	HookEventPermissionDenied HookEvent = "PermissionDenied"
	// HookEventSetup: The session is set up or maintained.
	HookEventSetup HookEvent = "Setup"
	// HookEventTeammateIdle: Another agent of the team has nothing to do.
	HookEventTeammateIdle HookEvent = "TeammateIdle"
	// HookEventTaskCreated: A task was created.
	HookEventTaskCreated HookEvent = "TaskCreated"
	// HookEventTaskCompleted: A task is about to be completed.
	HookEventTaskCompleted HookEvent = "TaskCompleted"
	// HookEventElicitation: An MCP server asks the user something.
	HookEventElicitation HookEvent = "Elicitation"
	// HookEventElicitationResult: The user reacted to that.
	HookEventElicitationResult HookEvent = "ElicitationResult"
	// HookEventConfigChange: Settings changed.
	HookEventConfigChange HookEvent = "ConfigChange"
	// HookEventWorktreeCreate: A worktree is about to be made.
	HookEventWorktreeCreate HookEvent = "WorktreeCreate"
	// HookEventWorktreeRemove: A worktree is about to be removed.
	HookEventWorktreeRemove HookEvent = "WorktreeRemove"
	// HookEventInstructionsLoaded: An instruction file was read.
	HookEventInstructionsLoaded HookEvent = "InstructionsLoaded"
	// HookEventCwdChanged: The working directory changed.
	HookEventCwdChanged HookEvent = "CwdChanged"
	// HookEventFileChanged: A watched file changed.
	HookEventFileChanged HookEvent = "FileChanged"
	// HookEventDirectoryAdded: A working directory was added.
	HookEventDirectoryAdded HookEvent = "DirectoryAdded"
	// HookEventMessageDisplay: A piece of an answer is about to be shown.
	HookEventMessageDisplay HookEvent = "MessageDisplay"
)

// HookDecision is the general decision of a hook. The set is open: a newer CLI
// may use other values.
type HookDecision string

// The values of HookDecision that are known.
const (
	// HookDecisionApprove: Go on without asking.
	HookDecisionApprove HookDecision = "approve"
	// HookDecisionBlock: Do not go on.
	HookDecisionBlock HookDecision = "block"
)

// HookPermissionDecision is what a hook decides about a tool call. The set is
// open: a newer CLI may use other values.
type HookPermissionDecision string

// The values of HookPermissionDecision that are known.
const (
	// HookPermissionDecisionAllow: Run it without asking.
	HookPermissionDecisionAllow HookPermissionDecision = "allow"
	// HookPermissionDecisionDeny: Refuse it.
	HookPermissionDecisionDeny HookPermissionDecision = "deny"
	// HookPermissionDecisionAsk: Ask about it.
	HookPermissionDecisionAsk HookPermissionDecision = "ask"
	// HookPermissionDecisionDefer: End the turn and leave the call to the host.
	// 2.1.37 does not know it.
	HookPermissionDecisionDefer HookPermissionDecision = "defer"
)

// HookFailure says what a failing hook means. The set is open: a newer CLI may
// use other values.
type HookFailure string

// The values of HookFailure that are known.
const (
	// HookFailureContinue: Go on as if it had not been called.
	HookFailureContinue HookFailure = "continue"
	// HookFailureBlock: Do not go on.
	HookFailureBlock HookFailure = "block"
)

// SessionStartSource says how a session starts. The set is open: a newer CLI
// may use other values.
type SessionStartSource string

// The values of SessionStartSource that are known.
const (
	// SessionStartSourceStartup: Anew.
	SessionStartSourceStartup SessionStartSource = "startup"
	// SessionStartSourceResume: Where it was left.
	SessionStartSourceResume SessionStartSource = "resume"
	// SessionStartSourceClear: After the conversation was cleared.
	SessionStartSourceClear SessionStartSource = "clear"
	// SessionStartSourceCompact: After the conversation was compacted.
	SessionStartSourceCompact SessionStartSource = "compact"
	// SessionStartSourceFork: As a copy of another.
	SessionStartSourceFork SessionStartSource = "fork"
)

// SessionEndReason says why a session ends. The set is open: a newer CLI may
// use other values.
type SessionEndReason string

// The values of SessionEndReason that are known.
const (
	// SessionEndReasonClear: The conversation is cleared.
	SessionEndReasonClear SessionEndReason = "clear"
	// SessionEndReasonResume: Another conversation is resumed.
	SessionEndReasonResume SessionEndReason = "resume"
	// SessionEndReasonLogout: The user logs out.
	SessionEndReasonLogout SessionEndReason = "logout"
	// SessionEndReasonPromptInputExit: The user leaves the prompt.
	SessionEndReasonPromptInputExit SessionEndReason = "prompt_input_exit"
	// SessionEndReasonOther: Anything else.
	SessionEndReasonOther SessionEndReason = "other"
)

// PromptSource says where a prompt came from. The set is open: a newer CLI may
// use other values.
type PromptSource string

// The values of PromptSource that are known.
const (
	// PromptSourceUser: A person.
	PromptSourceUser PromptSource = "user"
	// PromptSourceSDK: A program.
	PromptSourceSDK PromptSource = "sdk"
	// PromptSourceSystem: The CLI.
	PromptSourceSystem PromptSource = "system"
	// PromptSourceLoopWakeup: A loop.
	PromptSourceLoopWakeup PromptSource = "loop_wakeup"
	// PromptSourceScheduleWakeup: A schedule.
	PromptSourceScheduleWakeup PromptSource = "schedule_wakeup"
	// PromptSourcePollEvent: An event that was polled.
	PromptSourcePollEvent PromptSource = "poll_event"
)

// ExpansionType is what was expanded into a prompt. The set is open: a newer
// CLI may use other values.
type ExpansionType string

// The values of ExpansionType that are known.
const (
	// ExpansionTypeSlashCommand: A slash command.
	ExpansionTypeSlashCommand ExpansionType = "slash_command"
	// ExpansionTypeMCPPrompt: A prompt of an MCP server.
	ExpansionTypeMCPPrompt ExpansionType = "mcp_prompt"
)

// ModelSwitchSource says what changes the model. The set is open: a newer CLI
// may use other values.
type ModelSwitchSource string

// The values of ModelSwitchSource that are known.
const (
	// ModelSwitchSourceCommand: A command.
	ModelSwitchSourceCommand ModelSwitchSource = "command"
	// ModelSwitchSourcePicker: The user, from a list.
	ModelSwitchSourcePicker ModelSwitchSource = "picker"
	// ModelSwitchSourceSDK: A program.
	ModelSwitchSourceSDK ModelSwitchSource = "sdk"
	// ModelSwitchSourceAuto: The CLI.
	ModelSwitchSourceAuto ModelSwitchSource = "auto"
	// ModelSwitchSourceResume: A resumed session.
	ModelSwitchSourceResume ModelSwitchSource = "resume"
)

// CacheTTL is how long the prompt cache keeps a prompt. The set is open: a
// newer CLI may use other values.
type CacheTTL string

// The values of CacheTTL that are known.
const (
	// CacheTTLFiveMinutes: Five minutes.
	CacheTTLFiveMinutes CacheTTL = "5m"
	// CacheTTLOneHour: One hour.
	CacheTTLOneHour CacheTTL = "1h"
)

// PricingBasis says which prices an estimate was made with. The set is open: a
// newer CLI may use other values.
type PricingBasis string

// The values of PricingBasis that are known.
const (
	// PricingBasisConfigured: Configured ones.
	PricingBasisConfigured PricingBasis = "configured"
	// PricingBasisCatalog: Those of the catalogue.
	PricingBasisCatalog PricingBasis = "catalog"
	// PricingBasisDefault: Built-in ones.
	PricingBasisDefault PricingBasis = "default"
)

// ConfigSource is the configuration that changed. The set is open: a newer CLI
// may use other values.
type ConfigSource string

// The values of ConfigSource that are known.
const (
	// ConfigSourceUserSettings: The user's settings.
	ConfigSourceUserSettings ConfigSource = "user_settings"
	// ConfigSourceProjectSettings: The project's settings.
	ConfigSourceProjectSettings ConfigSource = "project_settings"
	// ConfigSourceLocalSettings: The project's settings of this user.
	ConfigSourceLocalSettings ConfigSource = "local_settings"
	// ConfigSourcePolicySettings: Managed settings.
	ConfigSourcePolicySettings ConfigSource = "policy_settings"
	// ConfigSourceSkills: The skills.
	ConfigSourceSkills ConfigSource = "skills"
)

// MemoryType is whose instructions a file holds. The set is open: a newer CLI
// may use other values.
type MemoryType string

// The values of MemoryType that are known.
const (
	// MemoryTypeUser: The user's.
	MemoryTypeUser MemoryType = "User"
	// MemoryTypeProject: The project's.
	MemoryTypeProject MemoryType = "Project"
	// MemoryTypeLocal: The project's, of this user.
	MemoryTypeLocal MemoryType = "Local"
	// MemoryTypeManaged: An organisation's.
	MemoryTypeManaged MemoryType = "Managed"
)

// LoadReason says why an instruction file was read. The set is open: a newer
// CLI may use other values.
type LoadReason string

// The values of LoadReason that are known.
const (
	// LoadReasonSessionStart: The session started.
	LoadReasonSessionStart LoadReason = "session_start"
	// LoadReasonNestedTraversal: A folder below was entered.
	LoadReasonNestedTraversal LoadReason = "nested_traversal"
	// LoadReasonPathGlobMatch: A path matched its pattern.
	LoadReasonPathGlobMatch LoadReason = "path_glob_match"
	// LoadReasonInclude: Another file includes it.
	LoadReasonInclude LoadReason = "include"
	// LoadReasonCompact: The conversation was compacted.
	LoadReasonCompact LoadReason = "compact"
)

// FileChange is what happened to a watched file. The set is open: a newer CLI
// may use other values.
type FileChange string

// The values of FileChange that are known.
const (
	// FileChangeChange: It was changed.
	FileChangeChange FileChange = "change"
	// FileChangeAdd: It was made.
	FileChangeAdd FileChange = "add"
	// FileChangeUnlink: It was removed.
	FileChangeUnlink FileChange = "unlink"
)

// DirectorySource says what added a working directory. The set is open: a
// newer CLI may use other values.
type DirectorySource string

// The values of DirectorySource that are known.
const (
	// DirectorySourceSlashCommand: A slash command.
	DirectorySourceSlashCommand DirectorySource = "slash_command"
	// DirectorySourceRegisterRepoRoot: A control request.
	DirectorySourceRegisterRepoRoot DirectorySource = "register_repo_root"
)

// SetupTrigger says why a session is set up. The set is open: a newer CLI may
// use other values.
type SetupTrigger string

// The values of SetupTrigger that are known.
const (
	// SetupTriggerInit: For the first time.
	SetupTriggerInit SetupTrigger = "init"
	// SetupTriggerMaintenance: For maintenance.
	SetupTriggerMaintenance SetupTrigger = "maintenance"
)
