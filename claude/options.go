package claude

import (
	"encoding/json"
	"log/slog"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// Options say how a CLI is started and what a session does with it. The zero
// value starts a new conversation in the working directory of the program, in
// mode [wire.PermissionModeDefault], with permission questions on the
// transport, which are denied unless there is an OnQuestion or Pull.
//
// What this version of the CLI cannot do is refused with an
// [*UnsupportedError], what none can do with an [*OptionError]; nothing has been
// started then.
//
// The fields up to MaxLine go into arguments, environment and files of a
// process; [CLI.Start] and [CLI.Command] take these alone. The others belong to
// a session: they are sent with the initialize request, which keeps them off
// the list of processes, or they are functions of the program. [Start] takes
// both kinds, [NewSession], for a CLI that runs already, the second kind alone.
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
	// PermissionPromptTool says what is asked for permissions: "stdio" is the
	// controller, otherwise the name of an MCP tool, and "none" leaves the flag
	// out, so that the CLI denies what it would ask. A tool of MCPServers that
	// calls [AskPermission] makes questions of the calls; package claudemcp has it
	// ready, and 2.1.120 knows such tools. If empty, "stdio".
	PermissionPromptTool string
	// AllowBypass permits switching to
	// [wire.PermissionModeBypassPermissions] later. With [NewSession] it says
	// that the CLI was started so.
	AllowBypass bool
	// PermissionPrompts says what becomes of a question that no person answered in
	// advance: host asks the controller, none denies. If empty, the CLI decides
	// by PermissionPromptTool.
	PermissionPrompts string
	// AllSkills allows every skill that the CLI finds to be used.
	AllSkills bool
	// Tools are the built-in tools to offer. Nil means the CLI's own set, as
	// does the single name "default"; an empty slice none at all.
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
	// ForwardSubagentText asks for text and thinking of sub-agents. A session
	// can have it since 2.1.119, a process alone since 2.1.211.
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
	// Sandbox is the object "sandbox" of the settings. It is merged into
	// Settings, over a sandbox object there, and excludes SettingsFile. Where
	// it enables the sandbox it also gets failIfUnavailable, unless it says
	// otherwise: a CLI that cannot have its sandbox then ends instead of running
	// without it.
	Sandbox json.RawMessage
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
	// JSONSchema is the schema of the structured output; see [SchemaOf]. A
	// session sends it with the initialize request, of any length. For a
	// process alone it is an argument, and refused if it is too long for one.
	// CLIs before 2.1.325 ask a model that answers in plain text again and
	// again, so that they need MaxTurns or MaxBudgetUSD, and those before
	// 2.1.120 MaxBudgetUSD.
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
	// Debug has the CLI write its debug log to standard error, see Stderr, and
	// DebugFile to a file.
	Debug     bool
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
	// ExtraEnv are further variables as "KEY=value". They are added to Env, or
	// to what is inherited, and win over entries of the same name.
	ExtraEnv []string
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
	// Stderr is called with each line that the CLI writes to standard error,
	// without its line end and with secrets taken out, one call at a time. It
	// must not block for long: the CLI would wait for it. A line of more than
	// 64 KiB is cut.
	Stderr func(line string)
	// MaxLine is the longest line accepted from the CLI. If zero,
	// wire.DefaultMaxLine.
	MaxLine int

	// CLI is the program that [Start] runs. If nil, the one that [Find] finds
	// with the options Find. A program that starts many sessions finds its CLI
	// once and gives it here, since Find may have to run the program to learn
	// its version.
	CLI *CLI
	// Find says where to look if CLI is nil. Nil is valid.
	Find *FindOptions
	// StartTimeout bounds the wait for the CLI's answer to the initialize
	// request if the context of Start has no deadline: it loads plugins and runs
	// hooks before. If zero, 2 min.
	StartTimeout time.Duration

	// SystemPrompt takes the place of the CLI's own system prompt. If empty,
	// Claude Code's own is used.
	SystemPrompt string
	// SystemPromptParts is a system prompt in parts, which are sent as they are
	// since 2.1.110 and joined before. It excludes SystemPrompt. A single empty
	// part means that there is no system prompt at all.
	SystemPromptParts []string
	// AppendSystemPrompt is added to the system prompt, whichever it is.
	AppendSystemPrompt string
	// ExcludeDynamicSections moves what differs from user to user, such as the
	// working directory, out of the CLI's own system prompt into the first
	// message, so that the prompt can be cached across users. Known since
	// 2.1.97.
	ExcludeDynamicSections bool
	// SystemPromptSnapshot keeps the system prompt as it is at the start.
	// Known since 2.1.257.
	SystemPromptSnapshot bool
	// PlanModeInstructions replace the phases of work that the CLI describes to
	// the model in mode plan. Known since 2.1.118.
	PlanModeInstructions string
	// Agents are sub-agents by name.
	Agents map[string]wire.AgentDefinition
	// Skills are the skills to offer, which [Start] also allows to be used. Nil
	// leaves the choice to the CLI, an empty slice offers none. Known since
	// 2.1.116.
	Skills []string
	// ToolAliases are other names for tools. Known since 2.1.142.
	ToolAliases map[string]string
	// Title is the title of the conversation, unless it is resumed: the CLI
	// then makes none of its own. Known since 2.1.113.
	Title string
	// PromptSuggestions asks for guesses of the next prompt,
	// AgentProgressSummaries for summaries of what sub-agents do. Known since
	// 2.1.48.
	PromptSuggestions, AgentProgressSummaries bool
	// PerTaskStopAffordance says that the user can stop single tasks here, so
	// that an interrupt spares background tasks. Known since 2.1.246.
	PerTaskStopAffordance bool
	// PluginsByInitialize sends PluginDirs and PluginDirsNoMCP with the
	// initialize request instead of as arguments, and has the CLI wait for it.
	// Known since 2.1.261.
	PluginsByInitialize bool
	// VerbatimPrompts has every prompt taken as it is: no slash command and no
	// mention of a file in it is acted on. Known since 2.1.248.
	VerbatimPrompts bool

	// OnQuestion answers what the CLI asks. If nil, and without Pull,
	// permissions are denied with a message that says so, forms are declined and
	// dialogs are left alone; nothing is ever allowed.
	OnQuestion QuestionHandler
	// Pull leaves questions without an OnQuestion open, for [Session.Pending]
	// and [Session.Answer].
	Pull bool
	// DialogKinds are the kinds of dialogs that OnQuestion, or the caller of
	// [Session.Answer] if Pull is set, can show; the CLI sends no others. It needs
	// one of the two.
	// Known since 2.1.169.
	DialogKinds []string
	// Hooks are functions of the program that the CLI calls on events.
	Hooks Hooks
	// MCPServers are MCP servers inside the program, by name; package claudemcp
	// makes them. Servers that are processes or addresses are in MCPConfig.
	MCPServers map[string]MCPServer
	// MCPServerConfigs are time limits and tool policies of MCPServers, by
	// name. Known since 2.1.248.
	MCPServerConfigs map[string]wire.SDKMCPServerConfig
	// MCPServerManifests are handshakes of MCPServers made in advance, by name,
	// which save the CLI some questions at its start. Known since 2.1.265.
	MCPServerManifests map[string]wire.SDKMCPServerManifest

	// Store is given a copy of what the CLI writes to the conversation's
	// transcript, and is what Resume and Continue load from; see
	// [SessionStore]. It needs 2.1.113 and excludes NoSessionPersistence and
	// FileCheckpointing.
	Store SessionStore
	// StoreOptions say how Store is used. Nil is valid.
	StoreOptions *StoreOptions

	// Logger is told what is allowed and yet probably not meant; see
	// [Options.Warnings]. If nil, [slog.Default].
	Logger *slog.Logger
	// RequestTimeout, Insist and Backlog are as in [ConnOptions].
	RequestTimeout, Insist time.Duration
	Backlog                int
	// BackgroundLimit is how long [Session.Finish] and [Query] wait for
	// background work after the last result before they close the session. If
	// zero, for as long as their context lasts.
	BackgroundLimit time.Duration

	session bool // a session sends initialize; set by startProcess
	counted bool // model calls are counted here, where the CLI does not; set by QueryAs
}
