package claudetest

import (
	"fmt"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
)

// Quirks say how a version of the CLI behaves where versions differ. There is one value per pinned version, see [QuirksFor]; a test may change a
// field to see what its program does with a CLI that behaves otherwise. Each field is held to the real CLI by the conformance suite.
type Quirks struct {
	// Version is what the CLI says it is. Flags, permissions and what is kept on disk follow it too.
	Version wire.Version

	// Start and end.

	// LateInitialize answers initialize with success also after a prompt, and again and again; otherwise the second is an error.
	LateInitialize bool
	// InitializeTellsAgents puts the process id and the agents into the initialize answer.
	InitializeTellsAgents bool
	// InitializeTellsVersion puts version, mode, state and capabilities into the initialize answer.
	InitializeTellsVersion bool
	// StateLines sends session_state_changed if the environment asks for it.
	StateLines bool
	// StateLateQuestion tells requires_action only when the answer has arrived.
	StateLateQuestion bool
	// StateBusyWithTasks stays running while any background task is open, instead of only while a background agent is.
	StateBusyWithTasks bool
	// LifecycleLines sends command_lifecycle for prompts with a uuid.
	LifecycleLines bool
	// RequestingLines sends status "requesting" before each model call, where partial messages were asked for.
	RequestingLines bool
	// UserTimes gives lines in the user's role a timestamp.
	UserTimes bool
	// LineTimes gives assistant lines a timestamp and the id of the API's request, and stream events the id of their message.
	LineTimes bool
	// PromptIDs names the prompts that a turn works on in its lines: user_message_uuids.
	PromptIDs bool
	// InterruptSignalResult makes SIGINT end the turn with a result; otherwise the CLI just ends.
	InterruptSignalResult bool
	// EndWaitsForAgents finishes background tasks, and the turns they cause, after the end of input.
	EndWaitsForAgents bool
	// ExitAfterAnyError ends with 1 whenever the last result has is_error; otherwise only after an API error.
	ExitAfterAnyError bool
	// CumulativeAPITime adds up duration_api_ms over the turns of a process.
	CumulativeAPITime bool

	// Input.

	// StrictLines ends at an empty line, at a value that is no object, at an unknown type and at control_cancel_request.
	StrictLines bool
	// StrictBlank ends at a line of spaces only and at a byte order mark.
	StrictBlank bool
	// StrictContent ends at a prompt whose content is of the wrong shape; otherwise it is ignored.
	StrictContent bool
	// AnswersAfterPost loses the answer to a question that was sent by POST if it comes before that of the POST; the question stays open.
	AnswersAfterPost bool
	// StrictAnswers ends at a control_response without a response.
	StrictAnswers bool
	// PrioritySwallows drops a prompt with an unknown priority without a word.
	PrioritySwallows bool
	// PriorityNow lets a prompt with priority "now" end the running turn.
	PriorityNow bool
	// AppendOnly obeys shouldQuery false with an empty result instead of a turn.
	AppendOnly bool
	// MergesQueue works off all queued prompts in one turn; otherwise each has its own.
	MergesQueue bool
	// EnvironmentUpdates obeys update_environment_variables.
	EnvironmentUpdates bool
	// LiteralSeparators writes U+2028 and U+2029 as they are.
	LiteralSeparators bool

	// Control requests.

	// Unknown is what happens to a control request of an unknown subtype: "silent", "error" or "coded" (an error with a code).
	Unknown string
	// ModeAnswersTwice answers set_permission_mode a second time, without a body.
	ModeAnswersTwice bool
	// ModelAnswers has the resolved model in the answer to set_model.
	ModelAnswers bool
	// ModelLine writes a user line about a change of the model.
	ModelLine bool
	// ModelChecksThinking refuses thinking tokens that are no number.
	ModelChecksThinking bool
	// LongRequestsTold sends control_request_progress for a side question, and lets it be cancelled.
	LongRequestsTold bool
	// TaskStopForgiving answers stop_task for an unknown task with success.
	TaskStopForgiving bool

	// FlagRules enforces the rules that apply_flag_settings brings.
	FlagRules bool
	// RulesChecked leaves out a rule of the settings that cannot be read; otherwise these settings do not count at all.
	RulesChecked bool
	// FlagsChecked refuses apply_flag_settings with rules that are no list; otherwise they take the place of those before, as none.
	FlagsChecked bool

	// Questions and permissions.

	// AllowNeedsInput denies a tool whose allow brings no updatedInput.
	AllowNeedsInput bool
	// EmptyInputCounts runs a tool with {} if the allow brings an empty updatedInput; otherwise it runs with the original.
	EmptyInputCounts bool
	// BadUpdateDenies denies a tool whose allow brings an update of an unknown type; otherwise that update is dropped.
	BadUpdateDenies bool
	// QuestionNames has display_name and description in can_use_tool.
	QuestionNames bool
	// QuestionReasons has decision_reason_type in can_use_tool.
	QuestionReasons bool
	// QuestionInteraction marks AskUserQuestion and ExitPlanMode with requires_user_interaction.
	QuestionInteraction bool
	// DeniedLines sends system/permission_denied for what is denied without asking.
	DeniedLines bool
	// SilenceTold says so if a command printed nothing, and whether that was to be expected.
	SilenceTold bool
	// ResultMeta has tool_result_meta with the decision in the lines of tool results.
	ResultMeta bool
	// ChoicesNeedQuestions refuses an answer to AskUserQuestion that does not repeat the questions.
	ChoicesNeedQuestions bool
	// ChoicesByAnyKey passes on answers whatever they are keyed by; otherwise only the question's text counts.
	ChoicesByAnyKey bool
	// ChoicesAnnotated passes on notes and previews of the answers.
	ChoicesAnnotated bool
	// ChoicesMissed tells the model that the questions were not answered, and a free reply.
	ChoicesMissed bool

	// Plan mode.

	// PlanPathTold has planFilePath in the input of ExitPlanMode.
	PlanPathTold bool
	// PlanEditMarked tells the model that the person has edited the plan, and writes it to its file; otherwise the file counts.
	PlanEditMarked bool
	// PlanAnswerWins takes the plan of the answer even if its file was changed meanwhile and the plan was not.
	PlanAnswerWins bool

	// Interrupt.

	// InterruptTellsPartial writes the text so far as an assistant line.
	InterruptTellsPartial bool
	// AbortRejects calls a tool rejected by the person if an interrupt ends it, whatever else was said about it.
	AbortRejects bool
	// InterruptIsError has is_error and errors in the result of an interrupted turn.
	InterruptIsError bool
	// InterruptTellsQueue has still_queued in the answer, and obeys cancel_queued.
	InterruptTellsQueue bool

	// The model's failures.

	// RetryLines sends system/api_retry for each attempt.
	RetryLines bool
	// RetryOverloadedAsLimit calls an overloaded model rate_limit.
	RetryOverloadedAsLimit bool
	// CutFallsBack repeats a stream that was cut without streaming; otherwise it streams again.
	CutFallsBack bool
	// CutCloses ends the message of a broken stream with message_stop before it is asked for again.
	CutCloses bool
	// ErrorNames knows rate_limit and server_error as errors of an assistant line; otherwise they are unknown.
	ErrorNames bool
	// ErrorWords shows the words of the API's errors, and knows model_not_found; otherwise it shows the whole answer.
	ErrorWords bool
	// ErrorDetails has stop_reason, terminal_reason and the API's status in results.
	ErrorDetails bool
	// TokenLimitTold tells of stop reason max_tokens each time, as an assistant line.
	TokenLimitTold bool
	// ReminderLines shows what the CLI says to the model after stop reason max_tokens as a user line.
	ReminderLines bool
	// RefusalContinues asks the model once more after stop reason refusal.
	RefusalContinues bool
	// ResultIndex numbers the results, has their type behind other members, and says what was spent since the last one.
	ResultIndex bool
	// EmptyAsksAgain asks the model again after an empty message; otherwise the turn ends with error_during_execution.
	EmptyAsksAgain bool
	// EmptyIsSuccess ends the turn with success after an empty message.
	EmptyIsSuccess bool
	// FallbackForAll asks the fallback model instead of any that is overloaded; otherwise only instead of Opus.
	FallbackForAll bool
	// FallbackLines sends system/model_fallback.
	FallbackLines bool
	// FallbackFails ends the turn with an error instead of asking the fallback model.
	FallbackFails bool
	// ThinkingLines sends system/thinking_tokens while the model thinks.
	ThinkingLines bool
	// LimitLines sends rate_limit_event for the limits of a subscription, which the model's answers name in their headers.
	LimitLines bool
	// LimitWindows has all windows in rate_limit_event.
	LimitWindows bool

	// Limits.

	// LimitIsError has is_error and errors in the results of limits.
	LimitIsError bool
	// BudgetReason has terminal_reason in the result of a turn that has spent its budget.
	BudgetReason bool
	// SchemaReason has terminal_reason and the last mistake in the result of a turn whose structured output was wrong too often.
	SchemaReason bool
	// SchemaStops ends the turn at the StructuredOutput tool, with its JSON as the result.
	SchemaStops bool
	// SchemaReminds reminds a model that answers in plain text once; otherwise without end.
	SchemaReminds bool

	// Hooks.

	// HookPrefix puts the hook's name before the reason of a refusal.
	HookPrefix bool
	// HookAsksAnything obeys permissionDecision "ask" also for calls that need no permission; otherwise these run.
	HookAsksAnything bool
	// HookDefers obeys permissionDecision "defer".
	HookDefers bool
	// HookNotices sends system/informational for messages and failures of hooks, and for blocked prompts.
	HookNotices bool
	// HookTimeoutDenies denies the tool when a PreToolUse hook does not answer in time; otherwise it goes on to the permission check.
	HookTimeoutDenies bool
	// HookRaces asks PermissionRequest hooks and the person at the same time; otherwise the hook first.
	HookRaces bool
	// HookFields has prompt_id and effort in the input of hooks, and what runs in the background where a turn ends.
	HookFields bool
	// HookAgents has the sub-agent's id and type in the input of all its hooks; otherwise only where it starts and stops.
	HookAgents bool
	// HookDurations has duration_ms in the input of hooks about results.
	HookDurations bool
	// HookLastMessage has last_assistant_message in the input of hooks about the end of a turn.
	HookLastMessage bool
	// HookSaysAgent calls the Task tool Agent in the input of hooks.
	HookSaysAgent bool
	// HookLists takes commas and spaces in a matcher for a list of names, as bars.
	HookLists bool
	// HookBeats sends tool_progress while a hook is waited for.
	HookBeats bool
	// HookDenialsListed counts what hooks deny among the permission_denials of a result.
	HookDenialsListed bool
	// HookStopsDenied ends the turn also if a hook that says continue: false denies the call.
	HookStopsDenied bool
	// HookStopCounts counts a prompt that a hook stopped as a turn.
	HookStopCounts bool
	// HookInterrupts obeys interrupt in the denial of a PermissionRequest hook.
	HookInterrupts bool
	// HookPostCompact has the PostCompact event, and asks PreCompact hooks when it has told that it compacts; otherwise before.
	HookPostCompact bool
	// StopHookNotes sends system/notification when a Stop hook makes the model go on.
	StopHookNotes bool
	// HookEvents has the events PostToolBatch, StopFailure, UserPromptExpansion, TaskCreated, PermissionDenied, Elicitation, ElicitationResult,
	// Notification, WorktreeCreate and WorktreeRemove; otherwise hooks for them are never asked.
	HookEvents bool
	// HookModels has the events PreModelSwitch, PostModelSwitch, MessageDisplay and DirectoryAdded.
	HookModels bool

	// MCP.

	// MCPAtStart opens configured servers before anything was read; otherwise with initialize or the first prompt.
	MCPAtStart bool
	// MCPOpensTwice opens a server that was configured, or set later, again if a prompt comes before it is open.
	MCPOpensTwice bool
	// MCPListsOnce asks for the tools only once where it opens a server twice.
	MCPListsOnce bool
	// MCPBeforeAnswer opens the servers of initialize before it answers; otherwise with the first prompt.
	MCPBeforeAnswer bool
	// MCPErrorPrefix puts the code before the text of an MCP error.
	MCPErrorPrefix bool
	// MCPFollowsChanges lists the tools anew after notifications/tools/list_changed.
	MCPFollowsChanges bool
	// MCPNamesSDK knows the controller's servers in mcp_toggle and mcp_reconnect.
	MCPNamesSDK bool
	// MCPToggles obeys mcp_toggle for servers of the controller; otherwise switching one off only takes its tools away.
	MCPToggles bool
	// MCPTriesAgain opens a server that has failed again with each prompt.
	MCPTriesAgain bool
	// MCPShortLimit gives up a handshake after 30 seconds, without a word; otherwise after 60, and tells the server.
	MCPShortLimit bool
	// MCPTitled tells servers a title and a description of the CLI.
	MCPTitled bool
	// MCPDetails tells more about servers: their source, transport and own name, and the server in questions and hooks.
	MCPDetails bool
	// MCPEmptyTold says so if a server's tool has no output.
	MCPEmptyTold bool
	// Elicits hands the forms of MCP servers to the controller; otherwise they are refused.
	Elicits bool
	// FormsWithdrawn takes back an open form when the turn is interrupted; otherwise it is left open.
	FormsWithdrawn bool

	// Sub-agents and background tasks.

	// AgentsInBackground starts sub-agents in the background unless told not to.
	AgentsInBackground bool
	// TaskLines sends task_started, task_progress, task_updated and task_notification.
	TaskLines bool
	// TaskDetails sends background_tasks_changed, names the agent in its lines, and has the lines of background agents.
	TaskDetails bool
	// TaskTurns starts a turn by itself when a background task has ended.
	TaskTurns bool
	// HoldsResults keeps the result of a turn back while background agents run; the turn about their end has the only one.
	HoldsResults bool
	// InterruptStopsAgents lets an interrupt stop the background agents, also when no turn runs.
	InterruptStopsAgents bool
	// Heartbeats sends tool_progress for tools that run for 30 seconds and more.
	Heartbeats bool
	// OutputCut tells at most 30 kB of what a command printed, and the file with all of it.
	OutputCut bool
	// BackgroundAsks asks for permission in background agents; otherwise it is denied.
	BackgroundAsks bool

	// Commands.

	// CommandsWait keeps a command that comes while a tool runs for a turn of its own; otherwise the running turn takes it for a text.
	CommandsWait bool
	// CommandsSpeak answers /cost and /context with an assistant line and as the result.
	CommandsSpeak bool
	// CommandsUnknownToModel hands unknown commands to the model; otherwise the result names them.
	CommandsUnknownToModel bool
	// CommandsCountAll has the number of all messages as num_turns in the results of commands; otherwise 0.
	CommandsCountAll bool
	// ClearTold writes conversation_reset at /clear.
	ClearTold bool
	// ClearKnown obeys /clear.
	ClearKnown bool

	// Conversations.

	// ResumeFreshID reports an unknown conversation under a new id; otherwise under the one asked for.
	ResumeFreshID bool
	// ResumeErrorTold says on standard error, too, that there is no such conversation.
	ResumeErrorTold bool
	// CostsContinue goes on with the costs of the conversation that is resumed.
	CostsContinue bool
}

// QuirksFor returns the quirks of a version of the CLI: "2.1.37", "2.1.120" or "2.1.325". Others are not imitated.
func QuirksFor(version string) (Quirks, error) {
	for _, q := range []Quirks{quirks37(), quirks120(), quirks325()} {
		if q.Version.String() == version {
			return q, nil
		}
	}
	return Quirks{}, fmt.Errorf("no simulated CLI of version %q: there are %s", version, strings.Join(SimVersions(), ", "))
}

// SimVersions returns the versions that the simulated CLI imitates, oldest first.
func SimVersions() []string { return []string{"2.1.37", "2.1.120", "2.1.325"} }

func quirks37() Quirks {
	return Quirks{
		Version:            wire.Version{Major: 2, Minor: 1, Patch: 37},
		CumulativeAPITime:  true,
		StrictLines:        true,
		StrictBlank:        true,
		StrictContent:      true,
		AnswersAfterPost:   true,
		StrictAnswers:      true,
		EnvironmentUpdates: true,
		LiteralSeparators:  true,
		Unknown:            "silent",
		ModeAnswersTwice:   true,
		AllowNeedsInput:    true,
		EmptyInputCounts:   true,
		BadUpdateDenies:    true,
		ChoicesByAnyKey:    true,
		CutFallsBack:       true,
		MCPOpensTwice:      true,
		MCPErrorPrefix:     true,
		ResumeFreshID:      true,
		TokenLimitTold:     true,
		FallbackFails:      true,
		CommandsCountAll:   true,
		HookStopCounts:     true,
	}
}

func quirks120() Quirks {
	return Quirks{
		Version:                wire.Version{Major: 2, Minor: 1, Patch: 120},
		InitializeTellsAgents:  true,
		StateLines:             true,
		StateLateQuestion:      true,
		StateBusyWithTasks:     true,
		RequestingLines:        true,
		UserTimes:              true,
		CumulativeAPITime:      true,
		StrictBlank:            true,
		StrictContent:          true,
		StrictAnswers:          true,
		PrioritySwallows:       true,
		AppendOnly:             true,
		MergesQueue:            true,
		EnvironmentUpdates:     true,
		Unknown:                "error",
		ModelLine:              true,
		AllowNeedsInput:        true,
		QuestionNames:          true,
		QuestionReasons:        true,
		SilenceTold:            true,
		PlanPathTold:           true,
		InterruptTellsPartial:  true,
		InterruptIsError:       true,
		RetryLines:             true,
		RetryOverloadedAsLimit: true,
		CutFallsBack:           true,
		ErrorNames:             true,
		ErrorDetails:           true,
		LimitIsError:           true,
		HookRaces:              true,
		TaskLines:              true,
		TaskTurns:              true,
		ClearKnown:             true,
		ResumeFreshID:          true,
		ResumeErrorTold:        true,
		EmptyIsSuccess:         true,
		HoldsResults:           true,
		EndWaitsForAgents:      true,
		ExitAfterAnyError:      true,
		PriorityNow:            true,
		CommandsSpeak:          true,
		HookDefers:             true,
		HookAgents:             true,
		HookDurations:          true,
		HookLastMessage:        true,
		HookSaysAgent:          true,
		HookDenialsListed:      true,
		HookPostCompact:        true,
		StopHookNotes:          true,
		MCPAtStart:             true,
		MCPOpensTwice:          true,
		MCPErrorPrefix:         true,
		MCPNamesSDK:            true,
		MCPTriesAgain:          true,
		MCPTitled:              true,
		MCPEmptyTold:           true,
		Elicits:                true,
		ChoicesNeedQuestions:   true,
		PlanEditMarked:         true,
		PlanAnswerWins:         true,
		FlagRules:              true,
		RulesChecked:           true,
		HookAsksAnything:       true,
		CommandsWait:           true,
		OutputCut:              true,
		ChoicesAnnotated:       true,
		MCPListsOnce:           true,
		HookEvents:             true,
		LimitLines:             true,
	}
}

func quirks325() Quirks {
	return Quirks{
		Version:                wire.Version{Major: 2, Minor: 1, Patch: 325},
		LateInitialize:         true,
		InitializeTellsAgents:  true,
		InitializeTellsVersion: true,
		StateLines:             true,
		LifecycleLines:         true,
		RequestingLines:        true,
		UserTimes:              true,
		LineTimes:              true,
		PromptIDs:              true,
		InterruptSignalResult:  true,
		EndWaitsForAgents:      true,
		ExitAfterAnyError:      true,
		CumulativeAPITime:      true,
		PriorityNow:            true,
		AppendOnly:             true,
		MergesQueue:            true,
		Unknown:                "coded",
		ModelAnswers:           true,
		ModelLine:              true,
		ModelChecksThinking:    true,
		LongRequestsTold:       true,
		TaskStopForgiving:      true,
		QuestionNames:          true,
		QuestionReasons:        true,
		QuestionInteraction:    true,
		DeniedLines:            true,
		SilenceTold:            true,
		ResultMeta:             true,
		ChoicesNeedQuestions:   true,
		PlanPathTold:           true,
		PlanEditMarked:         true,
		FlagRules:              true,
		RulesChecked:           true,
		FlagsChecked:           true,
		HookAsksAnything:       true,
		FormsWithdrawn:         true,
		CommandsWait:           true,
		InterruptTellsPartial:  true,
		InterruptIsError:       true,
		AbortRejects:           true,
		InterruptTellsQueue:    true,
		RetryLines:             true,
		ErrorNames:             true,
		ErrorWords:             true,
		ErrorDetails:           true,
		ResultIndex:            true,
		EmptyAsksAgain:         true,
		LimitIsError:           true,
		SchemaStops:            true,
		SchemaReminds:          true,
		HookPrefix:             true,
		HookDefers:             true,
		HookNotices:            true,
		HookTimeoutDenies:      true,
		HookRaces:              true,
		HookFields:             true,
		MCPBeforeAnswer:        true,
		MCPFollowsChanges:      true,
		MCPToggles:             true,
		AgentsInBackground:     true,
		TaskLines:              true,
		TaskDetails:            true,
		TaskTurns:              true,
		BackgroundAsks:         true,
		CommandsSpeak:          true,
		CommandsUnknownToModel: true,
		ClearTold:              true,
		ClearKnown:             true,
		ResumeErrorTold:        true,
		CostsContinue:          true,
		ReminderLines:          true,
		RefusalContinues:       true,
		FallbackForAll:         true,
		FallbackLines:          true,
		ThinkingLines:          true,
		BudgetReason:           true,
		SchemaReason:           true,
		InterruptStopsAgents:   true,
		Heartbeats:             true,
		HookAgents:             true,
		HookDurations:          true,
		HookLastMessage:        true,
		HookSaysAgent:          true,
		HookLists:              true,
		HookBeats:              true,
		HookDenialsListed:      true,
		HookStopsDenied:        true,
		HookInterrupts:         true,
		HookPostCompact:        true,
		StopHookNotes:          true,
		MCPAtStart:             true,
		MCPNamesSDK:            true,
		MCPTriesAgain:          true,
		MCPShortLimit:          true,
		MCPTitled:              true,
		MCPDetails:             true,
		MCPEmptyTold:           true,
		Elicits:                true,
		OutputCut:              true,
		ChoicesAnnotated:       true,
		ChoicesMissed:          true,
		CutCloses:              true,
		HookEvents:             true,
		HookModels:             true,
		LimitLines:             true,
		LimitWindows:           true,
	}
}
