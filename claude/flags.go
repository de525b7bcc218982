package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/switchboard-dev/switchboard/wire"
)

// maxArg is the longest single argument that Linux takes (MAX_ARG_STRLEN, with
// the NUL at its end). Others take more; an option must not depend on where it
// is used.
const maxArg = 128<<10 - 1

func version(patch int) wire.Version { return wire.Version{Major: 2, Minor: 1, Patch: patch} }

// A flagRule says more of a flag than the table of features, which tells the
// versions that take it ([wire.FeatureFlag]).
type flagRule struct {
	option string       // the field of Options that sets it
	since  wire.Version // first version that obeys it, by its change log; zero: those that take it do
	until  wire.Version // last version that obeys it; zero: those that take it do
	obeyed string       // the behavior ([wire.FeatureBehavior]) of versions that obey it; empty: those that take it do
	hint   string
}

// flagRules lists every flag that an option sets.
var flagRules = map[string]flagRule{
	"add-dir":                            {option: "AddDirs"},
	"agent":                              {option: "Agent"},
	"allow-dangerously-skip-permissions": {option: "AllowBypass"},
	"allowedTools":                       {option: "AllowedTools"},
	"await-initialize":                   {option: "AwaitInitialize"},
	"bare":                               {option: "Bare"},
	"betas":                              {option: "Betas"},
	"continue":                           {option: "Continue"},
	"debug-file":                         {option: "DebugFile"},
	"debug-to-stderr":                    {option: "Debug"},
	"disable-slash-commands":             {option: "DisableSlashCommands"},
	"disallowedTools":                    {option: "DisallowedTools"},
	"effort":                             {option: "Effort"},
	"fallback-model":                     {option: "FallbackModel"},
	"fork-session":                       {option: "ForkSession"},
	"forward-subagent-text":              {option: "ForwardSubagentText"},
	"include-hook-events":                {option: "IncludeHookEvents"},
	"include-partial-messages":           {option: "IncludePartialMessages"},
	"json-schema":                        {option: "JSONSchema"},
	// 2.1.120 takes the flag and does not obey it.
	"managed-settings":       {option: "ManagedSettings", obeyed: "managed_settings_obeyed", hint: "deny and ask rules in Settings are enforced by every version"},
	"max-budget-usd":         {option: "MaxBudgetUSD"},
	"max-thinking-tokens":    {option: "MaxThinkingTokens"},
	"max-turns":              {option: "MaxTurns"},
	"mcp-config":             {option: "MCPConfig"},
	"model":                  {option: "Model"},
	"name":                   {option: "Name"},
	"no-session-persistence": {option: "NoSessionPersistence"},
	"permission-mode":        {option: "PermissionMode"},
	"permission-prompt-tool": {option: "PermissionPromptTool"},
	"permission-prompts":     {option: "PermissionPrompts", hint: "PermissionPromptTool works on every version"},
	"plugin-dir":             {option: "PluginDirs"},
	"plugin-dir-no-mcp":      {option: "PluginDirsNoMCP", hint: "PluginDirs works on every version"},
	"project-config-root":    {option: "ProjectConfigRoot"},
	"replay-user-messages":   {option: "ReplayUserMessages"},
	"resume":                 {option: "Resume"},
	"resume-drops-turn":      {option: "ResumeDropsTurn"},
	"resume-session-at":      {option: "ResumeSessionAt"},
	"sdk-url":                {option: "SDKURL", until: version(120), hint: "newer CLIs dial only the vendor's own servers; start them without SDKURL, over standard input and output"},
	"session-id":             {option: "SessionID"},
	"session-mirror":         {option: "SessionMirror", since: version(113)},
	"setting-sources":        {option: "SettingSources"},
	"settings":               {option: "Settings"},
	"strict-mcp-config":      {option: "StrictMCPConfig"},
	"task-budget":            {option: "TaskBudget"},
	"thinking":               {option: "Thinking", hint: "MaxThinkingTokens works on every version"},
	"thinking-display":       {option: "ThinkingDisplay"},
	"tools":                  {option: "Tools"},
}

// reservedFlags are refused as extra arguments, with the reason.
var reservedFlags = map[string]string{
	"output-format":                "it is part of the protocol",
	"input-format":                 "it is part of the protocol",
	"verbose":                      "it is part of the protocol",
	"print":                        "it is part of the protocol",
	"help":                         "the CLI would print and end",
	"version":                      "the CLI would print and end",
	"init-only":                    "the CLI would end at once",
	"bg":                           "the CLI would leave this process",
	"background":                   "the CLI would leave this process",
	"cloud":                        "the CLI would leave this machine",
	"desktop":                      "the CLI would leave this process",
	"remote-control":               "the CLI would leave this machine",
	"teleport":                     "the CLI would leave this machine",
	"tmux":                         "the CLI would leave this process",
	"await-claim":                  "the CLI would wait for another protocol",
	"system-prompt":                "arguments can be read by everyone on the machine; send it with the initialize request",
	"append-system-prompt":         "arguments can be read by everyone on the machine; send it with the initialize request",
	"agents":                       "arguments can be read by everyone on the machine; send them with the initialize request",
	"allowed-tools":                "use the option AllowedTools",
	"disallowed-tools":             "use the option DisallowedTools",
	"dangerously-skip-permissions": "use the option PermissionMode",
}

// checkMode refuses a permission mode that the CLI does not take as a flag, or does
// not act on. Modes that were never tried are passed on: a newer CLI may know them.
func checkMode(mode wire.PermissionMode, v wire.Version) error {
	words, hint := "permission mode "+string(mode), ""
	switch mode { //nolint:exhaustive // the others are as the table says
	case wire.PermissionModeManual:
		hint = `it is another name for "default"`
	case wire.PermissionModeAuto:
		// Some versions before take the word and act on none.
		if since := version(91); v.Compare(since) < 0 {
			return &UnsupportedError{Feature: words, Version: v, Since: since}
		}
	}
	return accept(v, wire.FeatureOf(wire.FeatureMode, string(mode)), words, hint)
}

// require refuses a feature that the CLI is not known to have, because it would leave
// it out without a word.
func require(v wire.Version, kind wire.FeatureKind, name, words, hint string) error {
	f := wire.FeatureOf(kind, name)
	if f.In(v) == wire.Supported {
		return nil
	}
	return f.Refusal(words, v, hint)
}

// accept refuses a flag, or a value of one, that the CLI is known not to have. Of
// one that was not tried the CLI says so itself, and ends before it does anything.
func accept(v wire.Version, f wire.Feature, words, hint string) error {
	if support := f.In(v); support == wire.Unsupported || support == wire.Untold && !f.Until.IsZero() {
		return f.Refusal(words, v, hint)
	}
	return nil
}

// check refuses a flag that the CLI does not have or does not obey.
func (r flagRule) check(name string, v wire.Version) error {
	words := "option " + r.option + " (--" + name + ")"
	if err := accept(v, wire.FeatureOf(wire.FeatureFlag, name), words, r.hint); err != nil {
		return err
	}
	if r.obeyed != "" {
		if err := require(v, wire.FeatureBehavior, r.obeyed, words, r.hint); err != nil {
			return err
		}
	}
	if v.Compare(r.since) < 0 || !r.until.IsZero() && v.Compare(r.until) > 0 {
		return &UnsupportedError{Feature: words, Version: v, Since: r.since, Until: r.until, Hint: r.hint}
	}
	return nil
}

// A flagList builds arguments of the form --flag=value, one token each: a
// value that begins with a dash can then never be taken for a flag. The first
// problem sticks.
type flagList struct {
	version wire.Version
	args    []string
	err     error
}

func (l *flagList) add(name, arg string) {
	rule, ok := flagRules[name]
	switch {
	case l.err != nil:
	case !ok:
		l.err = fmt.Errorf("flag --%s has no rule", name)
	case strings.ContainsRune(arg, 0):
		l.err = &OptionError{rule.option, "it contains a NUL byte"}
	case len(arg) > maxArg:
		l.err = &OptionError{rule.option, fmt.Sprintf("it is %d bytes long, expected at most %d for an argument", len(arg), maxArg)}
	default:
		l.err = rule.check(name, l.version)
		l.args = append(l.args, arg)
	}
}

func (l *flagList) bool(name string, set bool) {
	if set {
		l.add(name, "--"+name)
	}
}

func (l *flagList) value(name, value string) {
	if value != "" {
		l.add(name, "--"+name+"="+value)
	}
}

// each repeats the flag: joined by commas, some lists are read as one value.
func (l *flagList) each(name string, values []string) {
	for _, value := range values {
		if strings.TrimSpace(value) == "" {
			l.fail(flagRules[name].option, "it contains an empty entry")
		}
		l.add(name, "--"+name+"="+value)
	}
}

func (l *flagList) fail(option, reason string) {
	if l.err == nil {
		l.err = &OptionError{option, reason}
	}
}

// args returns the arguments for a CLI. Files are made for what is too long,
// or too private, to be an argument.
func (o *Options) args(v wire.Version, files *privateFiles) ([]string, error) {
	l := &flagList{
		version: v,
		args:    []string{"--output-format=stream-json", "--input-format=stream-json", "--verbose"},
	}
	o.permissionFlags(l)
	o.modelFlags(l)
	o.conversationFlags(l)
	o.outputFlags(l)
	o.configFlags(l, files)
	o.sdkFlags(l)
	o.extraFlags(l)
	return l.args, l.err
}

func (o *Options) permissionFlags(l *flagList) {
	mode := o.PermissionMode
	if mode == "" {
		mode = wire.PermissionModeDefault
	}
	if err := checkMode(mode, l.version); err != nil && l.err == nil {
		l.err = err
	}
	l.value("permission-mode", string(mode))
	switch {
	case o.PermissionPromptTool == "none":
	case o.PermissionPromptTool != "":
		if o.ownTool(o.PermissionPromptTool) && l.err == nil {
			// 2.1.37 looks for the tool before it is told of the servers in the program, and ends.
			l.err = flagRule{since: version(120), hint: "a server of MCPConfig works on every version"}.check("a PermissionPromptTool of MCPServers", l.version)
		}
		l.value("permission-prompt-tool", o.PermissionPromptTool)
	case o.SDKURL == "": // a CLI that dials in asks anyway
		l.value("permission-prompt-tool", "stdio")
	}
	l.value("permission-prompts", o.PermissionPrompts)
	l.bool("allow-dangerously-skip-permissions", o.AllowBypass)
	if o.Tools != nil && len(o.Tools) == 0 {
		l.add("tools", "--tools=")
	}
	l.each("tools", o.Tools)
	l.each("allowedTools", o.allowed(l))
	l.each("disallowedTools", o.DisallowedTools)
	l.each("add-dir", o.AddDirs)
}

func (o *Options) modelFlags(l *flagList) {
	if o.FallbackModel != "" && o.FallbackModel == o.Model {
		l.fail("FallbackModel", "it must differ from Model")
	}
	if o.Thinking != "" && o.MaxThinkingTokens != 0 {
		l.fail("MaxThinkingTokens", "it excludes Thinking")
	}
	l.value("model", o.Model)
	l.value("fallback-model", o.FallbackModel)
	l.value("effort", o.Effort)
	l.value("thinking", o.Thinking)
	l.value("thinking-display", o.ThinkingDisplay)
	l.count("max-thinking-tokens", o.MaxThinkingTokens)
	l.count("max-turns", o.MaxTurns)
	l.count("task-budget", o.TaskBudget)
	switch {
	case o.MaxBudgetUSD < 0 || o.MaxBudgetUSD != o.MaxBudgetUSD || o.MaxBudgetUSD > 1e9:
		l.fail("MaxBudgetUSD", "it is not an amount of money")
	case o.MaxBudgetUSD > 0:
		l.value("max-budget-usd", strconv.FormatFloat(o.MaxBudgetUSD, 'f', -1, 64))
	}
	l.each("betas", o.Betas)
	l.value("agent", o.Agent)
}

func (l *flagList) count(name string, n int) {
	if n < 0 {
		l.fail(flagRules[name].option, "it is negative")
	}
	if n > 0 {
		l.value(name, strconv.Itoa(n))
	}
}

var uuidPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)
})

func (o *Options) conversationFlags(l *flagList) {
	old := o.Resume != "" || o.Continue
	switch {
	case o.Resume != "" && o.Continue:
		l.fail("Continue", "it excludes Resume")
	case o.ForkSession && !old:
		l.fail("ForkSession", "it needs Resume or Continue")
	case o.SessionID != "" && !uuidPattern().MatchString(o.SessionID):
		l.fail("SessionID", "it is not a UUID")
	case o.SessionID != "" && old && !o.ForkSession:
		l.fail("SessionID", "with Resume or Continue it needs ForkSession")
	case o.ResumeSessionAt != "" && o.Resume == "":
		l.fail("ResumeSessionAt", "it needs Resume")
	case o.ResumeDropsTurn != "" && o.ResumeSessionAt == "":
		l.fail("ResumeDropsTurn", "it needs ResumeSessionAt")
	}
	l.value("resume", o.Resume)
	l.bool("continue", o.Continue)
	l.bool("fork-session", o.ForkSession)
	l.value("session-id", o.SessionID)
	l.value("resume-session-at", o.ResumeSessionAt)
	l.value("resume-drops-turn", o.ResumeDropsTurn)
	l.bool("no-session-persistence", o.NoSessionPersistence)
	l.value("name", o.Name)
}

func (o *Options) outputFlags(l *flagList) {
	l.bool("include-partial-messages", o.IncludePartialMessages)
	l.bool("replay-user-messages", o.ReplayUserMessages)
	l.bool("include-hook-events", o.IncludeHookEvents)
	if !o.session { // which asks for it in its own way, on more versions
		l.bool("forward-subagent-text", o.ForwardSubagentText)
	}
	l.bool("session-mirror", o.SessionMirror)
	l.bool("debug-to-stderr", o.Debug)
	l.value("debug-file", o.DebugFile)
}

func (o *Options) configFlags(l *flagList, files *privateFiles) {
	// Settings and MCP servers carry keys more often than not, so they are
	// never arguments, however short.
	if len(o.Settings) > 0 && o.SettingsFile != "" {
		l.fail("SettingsFile", "it excludes Settings")
	}
	l.value("settings", o.SettingsFile)
	l.file("settings", o.settings(l), files)
	if o.SettingSources != nil {
		l.add("setting-sources", "--setting-sources="+strings.Join(o.SettingSources, ","))
	}
	if len(o.ManagedSettings) > 0 {
		l.value("managed-settings", l.object("ManagedSettings", o.ManagedSettings))
	}
	l.file("mcp-config", o.MCPConfig, files)
	l.each("mcp-config", o.MCPConfigFiles)
	l.bool("strict-mcp-config", o.StrictMCPConfig)
	if !o.PluginsByInitialize {
		l.each("plugin-dir", o.PluginDirs)
		l.each("plugin-dir-no-mcp", o.PluginDirsNoMCP)
	}
	l.value("project-config-root", o.ProjectConfigRoot)
	if len(o.JSONSchema) > 0 {
		if err := o.checkSchemaLimit(l.version); err != nil && l.err == nil {
			l.err = err
		}
		if schema := l.object("JSONSchema", o.JSONSchema); !o.session {
			l.value("json-schema", schema)
		}
	}
	l.bool("disable-slash-commands", o.DisableSlashCommands)
	l.bool("bare", o.Bare)
	if o.AwaitInitialize && o.SDKURL != "" {
		l.fail("AwaitInitialize", "it excludes SDKURL")
	}
	l.bool("await-initialize", o.AwaitInitialize || o.PluginsByInitialize)
}

// checkSchemaLimit refuses a schema without a limit where a model that answers
// in plain text would be asked again without end: measured, hundreds of calls
// in 15 s. 2.1.37 does not count them as turns, so that only a budget ends it.
func (o *Options) checkSchemaLimit(v wire.Version) error {
	e := &UnsupportedError{Version: v, Since: version(325)}
	switch {
	case v.Compare(version(325)) >= 0 || o.MaxBudgetUSD > 0 || o.counted:
		return nil
	case v.Compare(version(120)) < 0:
		e.Feature = "option JSONSchema without MaxBudgetUSD"
		e.Hint = "set MaxBudgetUSD: a model that answers in plain text would be asked again without end, whatever MaxTurns says"
	case o.MaxTurns == 0:
		e.Feature = "option JSONSchema without MaxTurns or MaxBudgetUSD"
		e.Hint = "set one of them: a model that answers in plain text would be asked again without end"
	default:
		return nil
	}
	return e
}

// object returns a JSON object without needless space.
func (l *flagList) object(option string, raw json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		l.fail(option, "it is not JSON: "+err.Error())
	} else if !bytes.HasPrefix(b.Bytes(), []byte("{")) {
		l.fail(option, "it is not a JSON object")
	}
	return b.String()
}

// file puts a JSON object into a private file and passes its path on.
func (l *flagList) file(name string, raw json.RawMessage, files *privateFiles) {
	if len(raw) == 0 {
		return
	}
	text := l.object(flagRules[name].option, raw)
	if l.err != nil {
		return
	}
	path, err := files.write(name+".json", text)
	if err != nil {
		l.err = fmt.Errorf("writing the file for --%s: %w", name, err)
		return
	}
	l.value(name, path)
}

func (o *Options) sdkFlags(l *flagList) {
	if o.SDKURL == "" {
		if o.SDKToken != "" {
			l.fail("SDKToken", "it needs SDKURL")
		}
		if o.SDKPost {
			l.fail("SDKPost", "it needs SDKURL")
		}
		return
	}
	u, err := url.Parse(o.SDKURL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "ws" && u.Scheme != "wss":
		l.fail("SDKURL", "it is not an address of the form ws://host/path")
	case u.User != nil:
		l.fail("SDKURL", "it contains a password, which everyone on the machine could read; use SDKToken")
	}
	l.value("sdk-url", o.SDKURL)
}

var extraPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)^--([A-Za-z][A-Za-z0-9-]*)(=.*)?$`) })

func (o *Options) extraFlags(l *flagList) {
	for _, arg := range o.ExtraArgs {
		m := extraPattern().FindStringSubmatch(arg)
		if m == nil {
			l.fail("ExtraArgs", fmt.Sprintf("%.40q is not of the form --name or --name=value", arg))
			return
		}
		name := m[1]
		if rule, ok := flagRules[name]; ok {
			l.fail("ExtraArgs", "--"+name+" is set by the option "+rule.option)
		}
		if reason, ok := reservedFlags[name]; ok {
			l.fail("ExtraArgs", "--"+name+" is refused: "+reason)
		}
		if strings.ContainsRune(arg, 0) || len(arg) > maxArg {
			l.fail("ExtraArgs", "--"+name+" is too long, or contains a NUL byte")
		}
	}
	l.args = slices.Concat(l.args, o.ExtraArgs)
}
