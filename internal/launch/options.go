package launch

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

// Defaults are what the section [claude] of the configuration says.
type Defaults struct {
	// Model is used where a session names none. If empty, the user's own
	// setting.
	Model string
	// AllowedTools are permission rules for every session.
	AllowedTools []string
	// PermissionMode is used where a session names none. If empty,
	// [wire.PermissionModeDefault]. It cannot be
	// [wire.PermissionModeBypassPermissions], which each session has to ask
	// for.
	PermissionMode wire.PermissionMode
	// DangerouslySkipPermissions lets sessions ask for
	// [wire.PermissionModeBypassPermissions]. Whether the one who asks may do
	// so is for the hub to know.
	DangerouslySkipPermissions bool
	// UseAPIBilling passes ANTHROPIC_API_KEY on to the CLI, which then uses it
	// instead of the user's login.
	UseAPIBilling bool
}

// Options say how the CLI of one run is started. The zero value starts it as
// the defaults say. What the CLI is told by the initialize request instead of a
// flag, such as system prompts and sub-agents, is not here: the hub sends it.
type Options struct {
	Model         string
	FallbackModel string
	Effort        string
	// PermissionMode is the mode to start in.
	PermissionMode wire.PermissionMode
	// AllowBypass permits switching to
	// [wire.PermissionModeBypassPermissions] later, if the defaults allow it.
	AllowBypass bool
	// BypassingAgents says that the initialize request defines sub-agents that work
	// in [wire.PermissionModeBypassPermissions], which the defaults have to allow.
	BypassingAgents bool
	// Name is the title that the conversation is shown with, by CLIs that know
	// of titles.
	Name string
	// Tools are the built-in tools to offer. Nil means the CLI's own set.
	Tools []string
	// AllowedTools are permission rules beside those of the defaults.
	AllowedTools, DisallowedTools []string
	AddDirs                       []string
	MaxTurns                      int
	MaxBudgetUSD                  float64
	MaxThinkingTokens             int
	// Agent is the agent that leads the conversation.
	Agent string
	// MCPServers is an object of MCP servers by name.
	MCPServers json.RawMessage
	// Settings is a settings object. Like MCPServers it is given to the CLI in
	// a file that only the user can read.
	Settings json.RawMessage
	// JSONSchema is the schema of the structured output. It must not be in the
	// initialize request too: here it is checked that an old CLI cannot ask the
	// model for it without end.
	JSONSchema json.RawMessage
	// Thinking is adaptive or disabled. If empty, the CLI decides.
	Thinking string
	// SettingSources are where the CLI reads settings: user, project, local. Nil
	// means all of them.
	SettingSources []string
	Betas          []string
	// StrictMCP uses no MCP servers but those given here.
	StrictMCP bool
	// PluginDirs are folders of plugins.
	PluginDirs []string
	// IncludeHookEvents asks for the life cycle of all hooks.
	IncludeHookEvents bool
	// NoPersistence keeps the conversation off the disk: it cannot be resumed.
	NoPersistence bool
	// TaskBudget is the number of tokens that the model is told it has. If zero,
	// none.
	TaskBudget int
	// ExtraArgs are further flags by their names, with nil for one without a
	// value. The configuration has to allow them, see [Config].RawFlags, and those
	// that are ours are refused.
	ExtraArgs map[string]*string
	// Env are further variables for the CLI, as "KEY=value". Those that are
	// taken out on purpose, see docs/environment.md, are refused, but for
	// ANTHROPIC_API_KEY: who names it here wants it.
	Env []string
}

// titles is the first version whose CLI can be given a title.
var titles = wire.Version{Major: 2, Minor: 1, Patch: 120}

// command merges the options of a run with the defaults and turns them into the
// command of the CLI.
func (l *Launcher) command(agent *agent, spec *Spec, folder string) (*claude.Command, error) {
	if err := checkSettings(agent, spec.Options.Settings); err != nil {
		return nil, err
	}
	mode, err := l.permissionMode(&spec.Options)
	if err != nil {
		return nil, err
	}
	env, err := l.environ(agent, spec)
	if err != nil {
		return nil, err
	}
	o, d := &spec.Options, &l.config.Claude
	settings, disallowed, err := l.rules(agent.cli.Version, spec)
	if err != nil {
		return nil, err
	}
	options := &claude.Options{
		Dir:               spec.Dir,
		AddDirs:           o.AddDirs,
		Model:             o.Model,
		FallbackModel:     o.FallbackModel,
		Effort:            o.Effort,
		MaxThinkingTokens: o.MaxThinkingTokens,
		MaxTurns:          o.MaxTurns,
		MaxBudgetUSD:      o.MaxBudgetUSD,

		PermissionMode:       mode,
		PermissionPromptTool: "stdio",
		AllowBypass:          o.AllowBypass,
		Tools:                o.Tools,
		AllowedTools:         union(d.AllowedTools, o.AllowedTools),
		DisallowedTools:      union(o.DisallowedTools, disallowed),

		Resume:          spec.Resume,
		ForkSession:     spec.Fork,
		ResumeSessionAt: spec.ResumeAt,
		SessionID:       spec.SessionID,

		// What the hub lives on: text as it is written, an echo that tells when a
		// prompt is picked up, and copies of edited files for a rewind. The
		// session-state events come without being asked for.
		IncludePartialMessages: true,
		ReplayUserMessages:     true,
		FileCheckpointing:      true,

		Thinking:             o.Thinking,
		Betas:                o.Betas,
		TaskBudget:           o.TaskBudget,
		SettingSources:       o.SettingSources,
		StrictMCPConfig:      o.StrictMCP,
		PluginDirs:           o.PluginDirs,
		IncludeHookEvents:    o.IncludeHookEvents,
		NoSessionPersistence: o.NoPersistence,

		Settings:   settings,
		Agent:      o.Agent,
		JSONSchema: o.JSONSchema,
		Env:        env,
		ClientApp:  l.config.ClientApp,
		Marker:     spec.Marker,
		TempDir:    folder,
	}
	if options.Model == "" {
		options.Model = d.Model
	}
	if agent.cli.Version.Compare(titles) >= 0 { // the hub shows the title itself, so that a CLI without titles is no reason to fail
		options.Name = o.Name
	}
	if len(o.MCPServers) > 0 {
		if options.MCPConfig, err = mcpConfig(o.MCPServers); err != nil {
			return nil, err
		}
	}
	if err := l.rawFlags(o.ExtraArgs, options); err != nil {
		return nil, err
	}
	command, err := agent.cli.Command(options)
	if err != nil {
		return nil, explainCommand(err)
	}
	return command, nil
}

// mcpConfig puts servers into the file's form.
func mcpConfig(servers json.RawMessage) (json.RawMessage, error) {
	var byName map[string]json.RawMessage
	if err := json.Unmarshal(servers, &byName); err != nil {
		return nil, &StartError{Code: BadOption, Reason: "option MCPServers: expected an object of servers by their names", Err: err}
	}
	config, err := json.Marshal(map[string]any{"mcpServers": byName})
	if err != nil {
		return nil, &StartError{Code: BadOption, Reason: "option MCPServers: " + err.Error(), Err: err}
	}
	return config, nil
}

// permissionMode returns the mode to start in, if it may be used. Bypassing
// permissions takes the server's consent by whichever option it is asked for.
func (l *Launcher) permissionMode(o *Options) (wire.PermissionMode, error) {
	mode := o.PermissionMode
	if mode == "" {
		mode = l.config.Claude.PermissionMode
	}
	if mode == "" {
		mode = wire.PermissionModeDefault
	}
	if mode != wire.PermissionModeBypassPermissions && !o.AllowBypass && !o.BypassingAgents && wire.BypassSetting(o.Settings) == "" {
		return mode, nil
	}
	if !l.config.Claude.DangerouslySkipPermissions {
		return "", &StartError{
			Code:   Forbidden,
			Reason: "permission mode bypassPermissions is not allowed on this hub",
			Hint:   "set dangerously_skip_permissions = true in section [claude] of the configuration if nothing is to be asked",
		}
	}
	if os.Geteuid() == 0 && !slices.Contains(slices.Concat(l.config.Env, o.Env), "IS_SANDBOX=1") {
		return "", &StartError{
			Code:   Forbidden,
			Reason: "claude does not run with permission mode bypassPermissions as root",
			Hint:   "run the hub as another user, or with IS_SANDBOX=1 in its environment if the machine is a sandbox",
		}
	}
	return mode, nil
}

// union returns the entries of both lists, each once.
func union(a, b []string) []string {
	var all []string
	had := make(map[string]bool, len(a)+len(b))
	for _, entry := range slices.Concat(a, b) {
		if !had[entry] {
			had[entry] = true
			all = append(all, entry)
		}
	}
	return all
}

// checkDir says what is wrong with a working folder.
func checkDir(dir string) error {
	bad := func(reason string, err error) error {
		return &StartError{Code: BadDir, Reason: fmt.Sprintf(reason, dir), Err: err}
	}
	if !filepath.IsAbs(dir) {
		return bad("the working folder %q is not an absolute path", nil)
	}
	info, err := os.Stat(dir)
	switch {
	case os.IsNotExist(err):
		return bad("the working folder %s does not exist", err)
	case os.IsPermission(err):
		return bad("the working folder %s may not be entered: permission denied", err)
	case err != nil:
		return bad("the working folder %s cannot be used: "+strings.ReplaceAll(err.Error(), "%", "%%"), err)
	case !info.IsDir():
		return bad("the working folder %s is not a folder", nil)
	}
	return nil
}

// checkOwn refuses folders of a run that are in the hub's own, wherever links lead:
// what is there is no agent's business, and rules deny it anyway.
func (l *Launcher) checkOwn(spec *Spec) error {
	own := realPath(l.config.DataDir)
	for _, dir := range append([]string{spec.Dir}, spec.Options.AddDirs...) {
		if rest, found := strings.CutPrefix(dir, "~"); found && (rest == "" || rest[0] == filepath.Separator) { // as the CLI reads it
			dir = filepath.Join(get(slices.Concat(l.config.Env, spec.Options.Env), "HOME"), rest)
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(spec.Dir, dir)
		}
		relative, err := filepath.Rel(own, realPath(dir))
		if err == nil && filepath.IsLocal(relative) {
			return &StartError{
				Code: Forbidden, Reason: fmt.Sprintf("the folder %s is in the hub's own data folder, in which no agent may work", dir), Hint: "choose another folder",
			}
		}
	}
	return nil
}

// realPath returns where a path leads; itself if nobody knows.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}
