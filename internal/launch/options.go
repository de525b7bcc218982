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
	// [wire.PermissionModeBypassPermissions]. Whether the client that asks may do
	// so is for the hub to know.
	DangerouslySkipPermissions bool
	// UseAPIBilling passes ANTHROPIC_API_KEY on to the CLI, which then uses it
	// instead of the user's login.
	UseAPIBilling bool
}

// titles is the first version whose CLI can be given a title.
var titles = wire.Version{Major: 2, Minor: 1, Patch: 120}

// command returns the command of a run's CLI.
func (l *Launcher) command(agent *agent, spec *Spec, in *enclosure, folder string) (*claude.Command, error) {
	options, err := l.options(agent, spec, folder)
	if err != nil {
		return nil, err
	}
	if in.innerOff {
		options.Sandbox = json.RawMessage(`{"enabled":false}`)
	}
	command, err := agent.cli.Command(options)
	if err != nil {
		return nil, explainCommand(err)
	}
	return command, nil
}

// options merges the options of a run with the defaults.
func (l *Launcher) options(agent *agent, spec *Spec, folder string) (*claude.Options, error) {
	if err := checkSettings(agent, spec.Options.Settings); err != nil {
		return nil, err
	}
	mode, err := l.permissionMode(spec)
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
	// Every field of o has a place here, in permissionMode, environ, rules or rawFlags,
	// or goes into the initialize request, which the hub sends.
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
	return options, nil
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
func (l *Launcher) permissionMode(spec *Spec) (wire.PermissionMode, error) {
	o := &spec.Options
	mode := wire.PermissionMode(o.PermissionMode)
	if mode == "" {
		mode = l.config.Claude.PermissionMode
	}
	if mode == "" {
		mode = wire.PermissionModeDefault
	}
	if mode != wire.PermissionModeBypassPermissions && !o.AllowBypass && !spec.BypassingAgents && wire.BypassSetting(o.Settings) == "" {
		return mode, nil
	}
	if !l.config.Claude.DangerouslySkipPermissions {
		return "", &StartError{
			Code:   Forbidden,
			Reason: "permission mode bypassPermissions is not allowed on this hub",
			Hint:   "set dangerously_skip_permissions = true in section [claude] of the configuration if nothing is to be asked",
		}
	}
	if os.Geteuid() == 0 && !slices.Contains(l.config.Env, "IS_SANDBOX=1") && o.Env["IS_SANDBOX"] != "1" {
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
			dir = filepath.Join(get(slices.Concat(l.config.Env, spec.env()), "HOME"), rest)
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

// realPath returns where a path leads; itself if that is not known.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}
