package claude

import (
	"encoding/json"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// Options say how a CLI is started. The zero value starts a new conversation
// in the working directory of the program, in mode [wire.PermissionModeDefault], with
// permission questions on the transport.
//
// What this version of the CLI cannot do is refused with an
// [*UnsupportedError], what none can do with an [*OptionError].
//
// What does not go into flags is sent with the initialize request: system
// prompts, hooks, agents, in-process MCP servers, skills.
type Options struct {
	// Dir is the working directory. If empty, the one of the program.
	Dir string
	// AddDirs are further directories that tools may use.
	AddDirs []string
	// ProjectConfigRoot is the directory whose project settings are used
	// instead of those of Dir.
	ProjectConfigRoot string

	// Model is a model's name or alias. If empty, the user's own setting.
	Model string
	// FallbackModel is used while Model is overloaded. It must differ from
	// Model.
	FallbackModel string
	// Effort is low, medium, high, xhigh or max. If empty, the CLI decides.
	Effort string
	// Thinking is adaptive or disabled. If empty, the CLI decides.
	Thinking string
	// MaxThinkingTokens is a fixed budget for thinking, for models that have
	// one. It excludes Thinking. If zero, the CLI decides.
	MaxThinkingTokens int
	// ThinkingDisplay says how thinking is shown, such as summarized.
	ThinkingDisplay string
	// Betas are beta headers for the API.
	Betas []string
	// MaxTurns limits the model calls for one user message. If zero, there is
	// no limit.
	MaxTurns int
	// MaxBudgetUSD limits the cost of the process. It is checked after each
	// call. If zero, there is no limit.
	MaxBudgetUSD float64
	// TaskBudget is the token budget that the model is told about. If zero,
	// none.
	TaskBudget int

	// PermissionMode is the mode to start in, always passed on: left to
	// itself a new CLI may start in mode auto. If empty,
	// [wire.PermissionModeDefault]. Root may use
	// [wire.PermissionModeBypassPermissions] only with IS_SANDBOX=1 in the
	// environment.
	PermissionMode wire.PermissionMode
	// PermissionPromptTool says who is asked for permissions: "stdio" is the
	// controller, otherwise the name of an MCP tool, and "none" leaves the flag
	// out, so that the CLI denies what it would ask. If empty, "stdio".
	PermissionPromptTool string
	// AllowBypass permits switching to
	// [wire.PermissionModeBypassPermissions] later.
	AllowBypass bool
	// Tools are the built-in tools to offer. Nil means the CLI's own set, an
	// empty slice none at all.
	Tools []string
	// AllowedTools and DisallowedTools are permission rules, such as
	// "Bash(git status:*)".
	AllowedTools, DisallowedTools []string

	// Resume continues the conversation with this id, Continue the most
	// recent one of Dir.
	Resume   string
	Continue bool
	// ForkSession makes Resume or Continue go on under a new id.
	ForkSession bool
	// SessionID is the id of the new conversation, a UUID that was never used.
	// With Resume or Continue it needs ForkSession.
	SessionID string
	// ResumeSessionAt drops what came after the message with this uuid.
	// It needs Resume.
	ResumeSessionAt string
	// ResumeDropsTurn is the uuid of the user message whose turn
	// ResumeSessionAt may drop; the CLI refuses to drop anything else.
	ResumeDropsTurn string
	// NoSessionPersistence keeps the conversation off the disk.
	NoSessionPersistence bool
	// Name is the title that the conversation is shown with.
	Name string

	// IncludePartialMessages asks for stream events.
	IncludePartialMessages bool
	// ReplayUserMessages asks for an echo of each user message when it is
	// picked up.
	ReplayUserMessages bool
	// IncludeHookEvents asks for the life cycle of all hooks.
	IncludeHookEvents bool
	// ForwardSubagentText asks for text and thinking of sub-agents.
	ForwardSubagentText bool
	// SessionMirror asks for transcript_mirror lines.
	SessionMirror bool
	// NoSessionStateEvents leaves out the session_state_changed lines, which
	// are otherwise asked for. CLIs before 2.1.83 have none.
	NoSessionStateEvents bool
	// FileCheckpointing keeps copies of edited files, for rewind_files.
	FileCheckpointing bool

	// Settings is a settings object, given to the CLI in a file. It excludes
	// SettingsFile.
	Settings json.RawMessage
	// SettingsFile is the path of a settings file.
	SettingsFile string
	// SettingSources are the settings files to read: user, project, local.
	// Nil means all of them, an empty slice none.
	SettingSources []string
	// ManagedSettings is a settings object that the user's own cannot
	// override.
	ManagedSettings json.RawMessage
	// MCPConfig is an object {"mcpServers": {…}}, given to the CLI in a file.
	MCPConfig json.RawMessage
	// MCPConfigFiles are paths of such objects.
	MCPConfigFiles []string
	// StrictMCPConfig uses no MCP servers but those given here.
	StrictMCPConfig bool
	// PluginDirs are plugins for this process; those of PluginDirsNoMCP are
	// not asked for MCP servers.
	PluginDirs, PluginDirsNoMCP []string
	// Agent is the agent that leads the conversation.
	Agent string
	// JSONSchema is the schema of the structured output. There is no file
	// form, so it is refused if it is too long for an argument; the initialize
	// request takes any length. CLIs before 2.1.325 ask a model that answers
	// in plain text again and again, so that they need MaxTurns or
	// MaxBudgetUSD, and those before 2.1.120 MaxBudgetUSD.
	JSONSchema json.RawMessage
	// DisableSlashCommands turns off commands and skills.
	DisableSlashCommands bool
	// Bare starts without hooks, plugins, memory and project instructions.
	Bare bool
	// AwaitInitialize makes the CLI wait for the initialize request before it
	// does anything.
	AwaitInitialize bool
	// QuestionPreviewFormat is the form of previews in questions: markdown or
	// html.
	QuestionPreviewFormat string
	// DebugFile is a file for the CLI's own debug log.
	DebugFile string

	// SDKURL makes the CLI dial this WebSocket address instead of using its
	// standard input and output, which is possible up to 2.1.120. The Process
	// then carries no lines; it only owns the process.
	SDKURL string
	// SDKToken is the bearer token that the CLI shows at SDKURL.
	SDKToken string
	// SDKPost makes the CLI send its lines to SDKURL's server with HTTP POST
	// and only receive over the WebSocket.
	SDKPost bool

	// ExtraArgs are further flags, each a single argument "--name" or
	// "--name=value". Flags that have a field here, or that would break the
	// protocol, are refused.
	ExtraArgs []string

	// Env is the whole environment of the CLI as "KEY=value", to which only
	// ours is added. If nil, it is that of the program as filtered by
	// [Environ].
	Env []string
	// PassAPIKey passes ANTHROPIC_API_KEY on to the CLI if Env is nil. By
	// default it is not: the CLI would silently use it, and be billed for it,
	// instead of the user's own login.
	PassAPIKey bool
	// ClientApp is how the program names itself to the CLI, such as
	// "my-app/1.0".
	ClientApp string
	// Marker is the value of [MarkerEnv] that finds everything the CLI has
	// started. If empty, a random one is made. It must be unique.
	Marker string
	// TempDir is where the private directory for settings files is made. If
	// empty, [os.TempDir].
	TempDir string

	// InputGrace is how long Close waits after the end of input before it
	// sends SIGTERM. If zero, 2 s.
	InputGrace time.Duration
	// TermGrace is how long Close waits after SIGTERM before it sends SIGKILL.
	// If zero, 5 s.
	TermGrace time.Duration
	// MaxLine is the longest line accepted from the CLI. If zero,
	// wire.DefaultMaxLine.
	MaxLine int
}
