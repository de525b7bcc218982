package claude

import "github.com/switchboard-dev/switchboard/wire"

// Hooks are functions of the program that the CLI calls when something happens, by
// the name of what happens. They are told to the CLI when the session starts; an
// event that its version does not have is refused then, because it would never be
// called. A field says since which version its event is known; one that says nothing
// has been there since 2.1.37. A version that is not known counts as that one; for
// [NewSession], Options.CLI can tell it.
//
// A hook is not a wall. Up to 2.1.120 the CLI goes on when a hook fails or takes too
// long, and rules of the settings can allow a tool before any person is asked; what must
// never happen belongs into deny rules ([Options.DisallowedTools]).
//
// A PermissionRequest hook and a [QuestionHandler] are asked the same, since 2.1.62 at
// the same time, and the first decision counts. If the hook was first, the question is
// withdrawn; if it was second, it is not told.
type Hooks struct {
	// PreToolUse: a tool is about to run.
	PreToolUse []Hook[wire.PreToolUseInput, wire.PreToolUseOutput]
	// PostToolUse: a tool has run.
	PostToolUse []Hook[wire.PostToolUseInput, wire.PostToolUseOutput]
	// PostToolUseFailure: a tool has failed.
	PostToolUseFailure []Hook[wire.PostToolUseFailureInput, wire.PostToolUseFailureOutput]
	// PostToolBatch: all tools of a message have run. Since 2.1.118.
	PostToolBatch []Hook[wire.PostToolBatchInput, wire.PostToolBatchOutput]
	// Notification: the CLI notifies the user.
	Notification []Hook[wire.NotificationInput, wire.NotificationOutput]
	// UserPromptSubmit: a prompt came in.
	UserPromptSubmit []Hook[wire.UserPromptSubmitInput, wire.UserPromptSubmitOutput]
	// UserPromptExpansion: a slash command or an MCP prompt was expanded. Since
	// 2.1.116.
	UserPromptExpansion []Hook[wire.UserPromptExpansionInput, wire.UserPromptExpansionOutput]
	// SessionStart: the session starts. Only a start after compaction or /clear is
	// told: the first is over before the CLI knows the hooks.
	SessionStart []Hook[wire.SessionStartInput, wire.SessionStartOutput]
	// SessionEnd: the session ends. It is not told once the CLI's input is closed,
	// which is how a session mostly ends.
	SessionEnd []Hook[wire.SessionEndInput, NoOutput]
	// Stop: the model is about to end its turn.
	Stop []Hook[wire.StopInput, wire.StopOutput]
	// StopFailure: a turn ended on an API error. Since 2.1.78.
	StopFailure []Hook[wire.StopFailureInput, NoOutput]
	// SubagentStart: a sub-agent starts.
	SubagentStart []Hook[wire.SubagentStartInput, wire.SubagentStartOutput]
	// SubagentStop: a sub-agent is about to end.
	SubagentStop []Hook[wire.SubagentStopInput, wire.SubagentStopOutput]
	// PreCompact: the conversation is about to be compacted.
	PreCompact []Hook[wire.PreCompactInput, NoOutput]
	// PostCompact: the conversation was compacted. Since 2.1.76.
	PostCompact []Hook[wire.PostCompactInput, NoOutput]
	// PreModelSwitch: the model is about to change. Since 2.1.251.
	PreModelSwitch []Hook[wire.PreModelSwitchInput, wire.PreModelSwitchOutput]
	// PostModelSwitch: the model has changed. Since 2.1.251.
	PostModelSwitch []Hook[wire.PostModelSwitchInput, wire.PostModelSwitchOutput]
	// PermissionRequest: a permission is about to be asked for.
	PermissionRequest []Hook[wire.PermissionRequestInput, wire.PermissionRequestOutput]
	// PermissionDenied: a tool call was refused. Since 2.1.88.
	PermissionDenied []Hook[wire.PermissionDeniedInput, wire.PermissionDeniedOutput]
	// Setup: the session is set up or maintained.
	// It is over before the CLI knows the hooks of a program: only those of the settings are run.
	Setup []Hook[wire.SetupInput, wire.SetupOutput]
	// TeammateIdle: another agent of the team has nothing to do.
	TeammateIdle []Hook[wire.TeammateIdleInput, NoOutput]
	// TaskCreated: a task was created. Since 2.1.84.
	TaskCreated []Hook[wire.TaskCreatedInput, NoOutput]
	// TaskCompleted: a task is about to be completed.
	TaskCompleted []Hook[wire.TaskCompletedInput, NoOutput]
	// Elicitation: an MCP server asks the user something. Since 2.1.63.
	Elicitation []Hook[wire.ElicitationInput, wire.ElicitationOutput]
	// ElicitationResult: the user reacted to that. Since 2.1.63.
	ElicitationResult []Hook[wire.ElicitationResultInput, wire.ElicitationResultOutput]
	// ConfigChange: settings changed. Since 2.1.48.
	ConfigChange []Hook[wire.ConfigChangeInput, NoOutput]
	// WorktreeCreate: a worktree is about to be made. Since 2.1.50.
	WorktreeCreate []Hook[wire.WorktreeCreateInput, wire.WorktreeCreateOutput]
	// WorktreeRemove: a worktree is about to be removed. Since 2.1.50.
	WorktreeRemove []Hook[wire.WorktreeRemoveInput, NoOutput]
	// InstructionsLoaded: an instruction file was read. Since 2.1.69.
	InstructionsLoaded []Hook[wire.InstructionsLoadedInput, NoOutput]
	// CwdChanged: the working directory changed. Since 2.1.83.
	// It is told only if the settings have a hook for it, too.
	CwdChanged []Hook[wire.CwdChangedInput, wire.CwdChangedOutput]
	// FileChanged: a watched file changed. Since 2.1.83.
	// It is told only if the settings have a hook for it, too.
	FileChanged []Hook[wire.FileChangedInput, wire.FileChangedOutput]
	// DirectoryAdded: a working directory was added. Since 2.1.219.
	DirectoryAdded []Hook[wire.DirectoryAddedInput, NoOutput]
	// MessageDisplay: a piece of an answer is about to be shown. Since 2.1.152.
	MessageDisplay []Hook[wire.MessageDisplayInput, wire.MessageDisplayOutput]

	// Any holds hooks by the name of their event, whatever it is: one function for
	// several events, or events that this package does not know. Those are taken to
	// need 2.1.325.
	Any map[wire.HookEvent][]AnyHook
}

// all returns every hook.
func (h *Hooks) all() []hookCallback {
	var all []hookCallback
	all = append(all, callbacks(wire.HookEventPreToolUse, h.PreToolUse)...)
	all = append(all, callbacks(wire.HookEventPostToolUse, h.PostToolUse)...)
	all = append(all, callbacks(wire.HookEventPostToolUseFailure, h.PostToolUseFailure)...)
	all = append(all, callbacks(wire.HookEventPostToolBatch, h.PostToolBatch)...)
	all = append(all, callbacks(wire.HookEventNotification, h.Notification)...)
	all = append(all, callbacks(wire.HookEventUserPromptSubmit, h.UserPromptSubmit)...)
	all = append(all, callbacks(wire.HookEventUserPromptExpansion, h.UserPromptExpansion)...)
	all = append(all, callbacks(wire.HookEventSessionStart, h.SessionStart)...)
	all = append(all, callbacks(wire.HookEventSessionEnd, h.SessionEnd)...)
	all = append(all, callbacks(wire.HookEventStop, h.Stop)...)
	all = append(all, callbacks(wire.HookEventStopFailure, h.StopFailure)...)
	all = append(all, callbacks(wire.HookEventSubagentStart, h.SubagentStart)...)
	all = append(all, callbacks(wire.HookEventSubagentStop, h.SubagentStop)...)
	all = append(all, callbacks(wire.HookEventPreCompact, h.PreCompact)...)
	all = append(all, callbacks(wire.HookEventPostCompact, h.PostCompact)...)
	all = append(all, callbacks(wire.HookEventPreModelSwitch, h.PreModelSwitch)...)
	all = append(all, callbacks(wire.HookEventPostModelSwitch, h.PostModelSwitch)...)
	all = append(all, callbacks(wire.HookEventPermissionRequest, h.PermissionRequest)...)
	all = append(all, callbacks(wire.HookEventPermissionDenied, h.PermissionDenied)...)
	all = append(all, callbacks(wire.HookEventSetup, h.Setup)...)
	all = append(all, callbacks(wire.HookEventTeammateIdle, h.TeammateIdle)...)
	all = append(all, callbacks(wire.HookEventTaskCreated, h.TaskCreated)...)
	all = append(all, callbacks(wire.HookEventTaskCompleted, h.TaskCompleted)...)
	all = append(all, callbacks(wire.HookEventElicitation, h.Elicitation)...)
	all = append(all, callbacks(wire.HookEventElicitationResult, h.ElicitationResult)...)
	all = append(all, callbacks(wire.HookEventConfigChange, h.ConfigChange)...)
	all = append(all, callbacks(wire.HookEventWorktreeCreate, h.WorktreeCreate)...)
	all = append(all, callbacks(wire.HookEventWorktreeRemove, h.WorktreeRemove)...)
	all = append(all, callbacks(wire.HookEventInstructionsLoaded, h.InstructionsLoaded)...)
	all = append(all, callbacks(wire.HookEventCwdChanged, h.CwdChanged)...)
	all = append(all, callbacks(wire.HookEventFileChanged, h.FileChanged)...)
	all = append(all, callbacks(wire.HookEventDirectoryAdded, h.DirectoryAdded)...)
	all = append(all, callbacks(wire.HookEventMessageDisplay, h.MessageDisplay)...)
	return append(all, anyCallbacks(h.Any)...)
}
