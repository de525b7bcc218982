package claude

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/switchboard-dev/switchboard/wire"
)

// defaultStartTimeout is for a CLI of 2.1.37 on a busy machine, with plugins.
const defaultStartTimeout = 2 * time.Minute

// sessionFields are the fields of Options that only a session can carry out,
// transportFields those that a session on any transport can.
var (
	sessionFields = []string{
		"CLI", "Find", "StartTimeout",
		"SystemPrompt", "SystemPromptParts", "AppendSystemPrompt", "ExcludeDynamicSections", "SystemPromptSnapshot",
		"PlanModeInstructions", "Agents", "Skills", "ToolAliases", "Title", "PromptSuggestions", "AgentProgressSummaries",
		"PerTaskStopAffordance", "PluginsByInitialize", "VerbatimPrompts",
		"OnQuestion", "Pull", "DialogKinds", "Hooks", "MCPServers", "MCPServerConfigs", "MCPServerManifests",
		"Store", "StoreOptions", "Logger", "RequestTimeout", "Insist", "Backlog", "BackgroundLimit",
	}
	transportFields = slices.Concat([]string{"AllowBypass", "JSONSchema", "ForwardSubagentText", "PluginDirs", "PluginDirsNoMCP"}, sessionFields)
)

// forCommand refuses what a command cannot carry.
func (o *Options) forCommand() error {
	return o.refuse(func(field string) bool { return slices.Contains(sessionFields, field) },
		"it belongs to a session, which a process alone is not; use claude.Start or claude.NewSession")
}

// forTransport refuses what only the start of a process can carry: left out in
// silence, a permission mode or a limit would be believed to be in force.
func (o *Options) forTransport() error {
	if !o.PluginsByInitialize && len(o.PluginDirs)+len(o.PluginDirsNoMCP) > 0 {
		return &OptionError{"PluginDirs", "for a CLI that runs already it needs PluginsByInitialize"}
	}
	return o.refuse(func(field string) bool { return !slices.Contains(transportFields, field) },
		"it belongs to the start of a process, and NewSession is given a CLI that runs already; use it where that is started")
}

// refuse reports the first field that is set and must not be.
func (o *Options) refuse(not func(field string) bool, reason string) error {
	v := reflect.ValueOf(o).Elem()
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && not(f.Name) && !v.Field(i).IsZero() {
			return &OptionError{f.Name, reason}
		}
	}
	return nil
}

// startProcess starts the CLI of a session: the one that was given, or the one
// that is found.
func (o *Options) startProcess(ctx context.Context) (*Process, error) {
	started := *o
	started.session = true
	// Turns are told apart by the echoes of their prompts.
	started.ReplayUserMessages = true
	if o.SDKURL != "" {
		return nil, &OptionError{"SDKURL", "a session speaks to its process directly; accept the CLI's connection and use NewSession"}
	}
	cli := o.CLI
	if cli == nil {
		found, err := Find(ctx, o.Find)
		if err != nil {
			return nil, err
		}
		cli = found
	}
	if oldest := (wire.Version{Major: 2}); !cli.Version.IsZero() && cli.Version.Compare(oldest) < 0 {
		return nil, &UnsupportedError{Feature: "a session", Version: cli.Version, Since: oldest, Hint: "update " + cli.Path}
	}
	// What cannot be sent must not start a process.
	if _, err := started.initializeRequest(cli.Version, nil); err != nil {
		return nil, err
	}
	if _, err := newHookTable(&started.Hooks, cli.Version); err != nil {
		return nil, err
	}
	if started.VerbatimPrompts {
		if err := require(cli.Version, wire.FeatureMember, "user.client_composed", "option VerbatimPrompts", ""); err != nil {
			return nil, err
		}
	}
	cmd, err := cli.command(&started)
	if err != nil {
		return nil, err
	}
	started.warn(ctx)
	return cmd.Start(ctx)
}

// connOptions returns the options of the session's connection.
func (o *Options) connOptions(v wire.Version, h Handler) *ConnOptions {
	return &ConnOptions{Handler: h, Version: v, RequestTimeout: o.RequestTimeout, Backlog: o.Backlog, Insist: o.Insist}
}

// startTimeout returns how long the answer to initialize is waited for.
func (o *Options) startTimeout() time.Duration {
	if o.StartTimeout > 0 {
		return o.StartTimeout
	}
	return defaultStartTimeout
}

// initializeRequest returns the first request to a CLI of a version, or says
// what it cannot do. Without this an older one would leave out in silence what
// it does not know.
func (o *Options) initializeRequest(v wire.Version, hooks map[string][]wire.HookMatcher) (*wire.InitializeRequest, error) {
	if err := o.checkSession(); err != nil {
		return nil, err
	}
	for _, f := range []struct {
		option string
		set    bool
		member string
	}{
		{"ExcludeDynamicSections", o.ExcludeDynamicSections, "excludeDynamicSections"},
		{"PlanModeInstructions", o.PlanModeInstructions != "", "planModeInstructions"},
		{"Skills", o.Skills != nil, "skills"},
		{"Title", o.Title != "", "title"},
		{"PromptSuggestions", o.PromptSuggestions, "promptSuggestions"},
		{"AgentProgressSummaries", o.AgentProgressSummaries, "agentProgressSummaries"},
		{"ForwardSubagentText", o.ForwardSubagentText, "forwardSubagentText"},
		{"SystemPromptSnapshot", o.SystemPromptSnapshot, "systemPromptSnapshot"},
		{"ToolAliases", len(o.ToolAliases) > 0, "toolAliases"},
		{"PerTaskStopAffordance", o.PerTaskStopAffordance, "perTaskStopAffordance"},
		{"PluginsByInitialize", o.PluginsByInitialize, "plugins"},
		{"DialogKinds", len(o.DialogKinds) > 0, "supportedDialogKinds"},
		{"MCPServerConfigs", len(o.MCPServerConfigs) > 0, "sdkMcpServerConfigs"},
		{"MCPServerManifests", len(o.MCPServerManifests) > 0, "sdkMcpServerManifests"},
	} {
		if !f.set {
			continue
		}
		if err := require(v, wire.FeatureInitialize, f.member, "option "+f.option, ""); err != nil {
			return nil, err
		}
	}
	r := &wire.InitializeRequest{
		Hooks:                  hooks,
		SDKMCPServers:          slices.Sorted(maps.Keys(o.MCPServers)),
		SDKMCPServerConfigs:    o.mcpConfigs(v),
		SDKMCPServerManifests:  o.MCPServerManifests,
		JSONSchema:             o.JSONSchema,
		AppendSystemPrompt:     o.AppendSystemPrompt,
		SystemPromptSnapshot:   o.SystemPromptSnapshot,
		PlanModeInstructions:   o.PlanModeInstructions,
		ToolAliases:            o.ToolAliases,
		ExcludeDynamicSections: o.ExcludeDynamicSections,
		Agents:                 o.Agents,
		Title:                  o.Title,
		Skills:                 o.Skills,
		PromptSuggestions:      o.PromptSuggestions,
		AgentProgressSummaries: o.AgentProgressSummaries,
		ForwardSubagentText:    o.ForwardSubagentText,
		SupportedDialogKinds:   o.DialogKinds,
		PerTaskStopAffordance:  o.PerTaskStopAffordance,
	}
	if len(hooks) == 0 {
		r.Hooks = nil // an empty object would remove those of another client
	}
	if len(o.MCPServers) == 0 {
		r.SDKMCPServers = nil
	}
	if len(o.MCPServerManifests) > 0 {
		r.SDKMCPServerManifestsOrigin = "host_per_send"
	}
	if o.PluginsByInitialize {
		r.Plugins = []wire.PluginConfig{}
		for _, dir := range o.PluginDirs {
			r.Plugins = append(r.Plugins, wire.PluginConfig{Type: "local", Path: dir})
		}
		for _, dir := range o.PluginDirsNoMCP {
			r.Plugins = append(r.Plugins, wire.PluginConfig{Type: "local", Path: dir, SkipMCPDiscovery: true})
		}
	}
	return r, o.putSystemPrompt(r, v)
}

// putSystemPrompt gives the prompt the form of the version: a list, or one text for
// those that ignore a list in silence. Every version reads a text, so that is what
// one of unknown version gets.
func (o *Options) putSystemPrompt(r *wire.InitializeRequest, v wire.Version) error {
	parts := o.SystemPromptParts
	if o.SystemPrompt != "" {
		parts = []string{o.SystemPrompt}
	}
	if len(parts) == 0 {
		return nil
	}
	var form any = parts
	if wire.FeatureOf(wire.FeatureInitialize, "systemPrompt[]").In(v) != wire.Supported {
		form = strings.Join(parts, "\n\n")
	}
	raw, err := json.Marshal(form)
	if err != nil {
		return fmt.Errorf("encoding the system prompt: %w", err)
	}
	r.SystemPrompt = raw
	return nil
}

// mcpConfigs returns the wishes of the servers, over which the program's own
// go. Wishes that an older CLI does not know are left out: the server works
// without them.
func (o *Options) mcpConfigs(v wire.Version) map[string]wire.SDKMCPServerConfig {
	if wire.FeatureOf(wire.FeatureInitialize, "sdkMcpServerConfigs").In(v) != wire.Supported {
		return nil
	}
	configs := map[string]wire.SDKMCPServerConfig{}
	for name, server := range o.MCPServers {
		if c, ok := server.(MCPConfigurer); ok {
			if config := c.MCPConfig(); config.Timeout != 0 || len(config.Tools) > 0 {
				configs[name] = config
			}
		}
	}
	maps.Copy(configs, o.MCPServerConfigs)
	if len(configs) == 0 {
		return nil
	}
	return configs
}

// checkSession refuses what no version of the CLI would take.
func (o *Options) checkSession() error {
	switch {
	case o.SystemPrompt != "" && o.SystemPromptParts != nil:
		return &OptionError{"SystemPromptParts", "it excludes SystemPrompt"}
	case o.ExcludeDynamicSections && (o.SystemPrompt != "" || len(o.SystemPromptParts) > 0):
		return &OptionError{"ExcludeDynamicSections", "it is about the CLI's own system prompt, and there is a SystemPrompt"}
	case len(o.DialogKinds) > 0 && o.OnQuestion == nil && !o.Pull:
		return &OptionError{"DialogKinds", "it needs OnQuestion or Pull: the CLI would wait for an answer that nobody gives"}
	case o.AllSkills && o.Skills != nil:
		return &OptionError{"AllSkills", "it excludes Skills"}
	case o.Backlog < 0:
		return &OptionError{"Backlog", "it is negative"}
	}
	for name, server := range o.MCPServers {
		if name == "" || server == nil {
			return &OptionError{"MCPServers", fmt.Sprintf("the server %q has no name, or is nil", name)}
		}
	}
	for name := range o.MCPServerConfigs {
		if _, ok := o.MCPServers[name]; !ok {
			return &OptionError{"MCPServerConfigs", fmt.Sprintf("there is no server %q in MCPServers", name)}
		}
	}
	for name := range o.MCPServerManifests {
		if _, ok := o.MCPServers[name]; !ok {
			return &OptionError{"MCPServerManifests", fmt.Sprintf("there is no server %q in MCPServers", name)}
		}
	}
	if _, ok := o.Agents[""]; ok {
		return &OptionError{"Agents", "an agent has no name"}
	}
	for _, list := range []struct {
		option string
		values []string
	}{{"PluginDirs", o.PluginDirs}, {"PluginDirsNoMCP", o.PluginDirsNoMCP}, {"DialogKinds", o.DialogKinds}} {
		if slices.ContainsFunc(list.values, func(s string) bool { return strings.TrimSpace(s) == "" }) {
			return &OptionError{list.option, "it contains an empty entry"}
		}
	}
	if len(o.JSONSchema) > 0 {
		if raw := bytes.TrimSpace(o.JSONSchema); !json.Valid(raw) || raw[0] != '{' {
			return &OptionError{"JSONSchema", "it is not a JSON object"}
		}
	}
	for _, name := range o.Skills {
		if reason := badSkill(name); reason != "" {
			return &OptionError{"Skills", fmt.Sprintf("the name %.40q %s", name, reason)}
		}
	}
	return nil
}

// badSkill says what is wrong with the name of a skill. It becomes part of a
// permission rule, which it must not be able to end or widen.
func badSkill(name string) string {
	switch {
	case name == "":
		return "is empty"
	case name != strings.TrimSpace(name):
		return "begins or ends with space"
	case strings.HasPrefix(name, "/"):
		return "begins with a slash; skills are named without it"
	case strings.ContainsAny(name, "(),*"):
		return "contains a bracket, a comma or a star"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "contains a control character"
	}
	return ""
}

// allowed returns the permission rules of AllowedTools and of the skills.
func (o *Options) allowed(l *flagList) []string {
	rules := o.AllowedTools
	if o.AllSkills {
		if o.Skills != nil {
			l.fail("AllSkills", "it excludes Skills")
		}
		rules = slices.Concat(rules, []string{"Skill"})
	}
	for _, name := range o.Skills {
		rules = slices.Concat(rules, []string{"Skill(" + name + ")"})
	}
	return rules
}

// settings returns Settings with Sandbox in it.
func (o *Options) settings(l *flagList) json.RawMessage {
	if len(o.Sandbox) == 0 {
		return o.Settings
	}
	if o.SettingsFile != "" {
		l.fail("Sandbox", "it excludes SettingsFile; put the object into that file")
	}
	var settings, sandbox map[string]json.RawMessage
	if err := json.Unmarshal(o.Sandbox, &sandbox); err != nil || sandbox == nil {
		l.fail("Sandbox", "it is not a JSON object")
		return nil
	}
	if len(o.Settings) > 0 {
		if err := json.Unmarshal(o.Settings, &settings); err != nil || settings == nil {
			l.fail("Settings", "it is not a JSON object")
			return nil
		}
	}
	if _, said := sandbox["failIfUnavailable"]; !said && string(bytes.TrimSpace(sandbox["enabled"])) == "true" {
		sandbox["failIfUnavailable"] = json.RawMessage("true")
	}
	merged := map[string]json.RawMessage{}
	maps.Copy(merged, settings)
	raw, err := json.Marshal(sandbox)
	if err == nil {
		merged["sandbox"] = raw
		raw, err = json.Marshal(merged)
	}
	if err != nil {
		l.fail("Sandbox", err.Error())
	}
	return raw
}

// Warnings says in sentences what is allowed and yet probably not meant: above
// all, why OnQuestion would not be asked. [Start] tells them to the Logger.
func (o *Options) Warnings() []string {
	var warnings []string
	if o.OnQuestion == nil && !o.Pull {
		return nil
	}
	switch o.PermissionMode { //nolint:exhaustive // the others ask
	case wire.PermissionModeBypassPermissions:
		warnings = append(warnings, "with PermissionMode bypassPermissions nobody is asked for permission, only for choices and plans")
	case wire.PermissionModeDontAsk:
		warnings = append(warnings, "with PermissionMode dontAsk what would be asked is denied")
	case wire.PermissionModeAuto:
		warnings = append(warnings, "with PermissionMode auto the CLI decides most permissions on its own")
	}
	if o.PermissionPromptTool != "" && o.PermissionPromptTool != "stdio" && !o.ownTool(o.PermissionPromptTool) || o.PermissionPrompts == "none" {
		warnings = append(warnings, "with this PermissionPromptTool or PermissionPrompts permissions are not asked here")
	}
	for _, rule := range o.AllowedTools {
		if tool, content, scoped := strings.Cut(rule, "("); !scoped || content == "*)" || content == ")" {
			warnings = append(warnings, fmt.Sprintf("the rule %q in AllowedTools allows every use of %s without a question", rule, tool))
		}
	}
	return warnings
}

// ownTool reports whether a tool's name is that of a tool of MCPServers, which may
// ask here.
func (o *Options) ownTool(name string) bool {
	for server := range o.MCPServers {
		if strings.HasPrefix(name, "mcp__"+server+"__") {
			return true
		}
	}
	return false
}

// warn tells the logger what is probably not meant.
func (o *Options) warn(ctx context.Context) {
	for _, w := range o.Warnings() {
		o.logger().WarnContext(ctx, "an option may not do what it is meant to", slog.String("why", w))
	}
}

func (o *Options) logger() *slog.Logger {
	if o.Logger != nil {
		return o.Logger
	}
	return slog.Default()
}

const (
	// stderrLine is the longest line of standard error that Options.Stderr is
	// given; what is longer is cut.
	stderrLine = 64 << 10
	// stderrSlack is cut off in addition, because a secret whose end is cut off
	// is not recognised as one.
	stderrSlack = 4 << 10
)

// A stderrTee keeps the end of standard error and tells it line by line. One
// goroutine writes to it.
type stderrTee struct {
	tail     *tail
	redactor *redactor
	tell     func(line string) // nil without Options.Stderr

	line []byte // the beginning of a line whose end has not come
	cut  bool   // the rest of it is dropped
}

// Write never fails.
func (t *stderrTee) Write(p []byte) (int, error) {
	n := len(p)
	_, _ = t.tail.Write(p) // never fails
	if t.tell == nil {
		return n, nil
	}
	for len(p) > 0 {
		part, rest, ended := bytes.Cut(p, []byte("\n"))
		if room := stderrLine - len(t.line); len(part) > room {
			part, t.cut = part[:room], true
		}
		t.line = append(t.line, part...)
		if ended {
			t.flush()
		}
		p = rest
	}
	return n, nil
}

// flush tells the line.
func (t *stderrTee) flush() {
	if t.tell == nil {
		return
	}
	s := t.redactor.clean(bytes.TrimSuffix(t.line, []byte("\r")))
	if t.cut && len(s) > stderrLine-stderrSlack {
		s = strings.ToValidUTF8(s[:stderrLine-stderrSlack], "")
	}
	t.line, t.cut = t.line[:0], false
	t.tell(s)
}

// close tells a last line without an end.
func (t *stderrTee) close() {
	if len(t.line) > 0 {
		t.flush()
	}
}
