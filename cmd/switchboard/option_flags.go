package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
)

const (
	// optionsHeading is what the help calls the flags of optionFlags.
	optionsHeading = "Session options"
	// annotationOptions is the annotation of a command with such flags: their names.
	annotationOptions = "option-flags"
)

// optionFlags are the flags of the options of a session, one for each of [api.SessionOptions]. A test holds that.
type optionFlags struct {
	preset string

	options                              api.SessionOptions // as far as flags set them themselves
	agents, mcp, settings, schema        string
	deadline                             time.Duration
	env, envFiles, aliases, raw          []string
	addDirs, pluginDirs                  []string
	tools, sources, skills, kinds, betas []string
	names                                []optionFlag // of the command that they were added to
	hubs                                 *hubFlags    // that command's
	away                                 string       // the machine that the session will run on, if it is neither the hub's nor this one
}

// An optionFlag is a flag of an option.
type optionFlag struct {
	option, flag string
	add          func(flag string)
}

// all returns the flags of all options, in the order in which the documentation has them.
func (o *optionFlags) all(cmd *cobra.Command) []optionFlag {
	f, v := cmd.Flags(), &o.options
	text := func(to *string, usage string) func(string) {
		return func(flag string) { f.StringVar(to, flag, "", usage) }
	}
	number := func(to *int, usage string) func(string) {
		return func(flag string) { f.IntVar(to, flag, 0, usage) }
	}
	truth := func(to *bool, usage string) func(string) {
		return func(flag string) { f.BoolVar(to, flag, false, usage) }
	}
	repeated := func(to *[]string, usage string) func(string) {
		return func(flag string) { f.StringArrayVar(to, flag, nil, usage+"; repeatable") }
	}
	list := func(to *[]string, usage string) func(string) {
		return func(flag string) { f.StringSliceVar(to, flag, nil, usage) }
	}
	return []optionFlag{
		{"model", "model", func(flag string) { f.StringVarP(&v.Model, flag, "m", "", "`MODEL` to use") }},
		{"fallback_model", "fallback-model", text(&v.FallbackModel, "`MODEL` to use when the first is overloaded")},
		{"effort", "effort", text(&v.Effort, "how hard to think: low, medium, high, xhigh or max")},
		{"thinking", "thinking", text(&v.Thinking, "adaptive or disabled")},
		{"max_thinking_tokens", "max-thinking-tokens", number(&v.MaxThinkingTokens, "maximum `NUMBER` of tokens to think with")},
		{"betas", "beta", repeated(&o.betas, "beta `NAME` of the API to use")},
		{"permission_mode", "mode", text(&v.PermissionMode, "`MODE`: plan, dontAsk, default, acceptEdits, auto, bypassPermissions (dangerous)")},
		{"allow_bypass", "allow-bypass", truth(&v.AllowBypass, "allow switching to bypassPermissions later (dangerous)")},
		{"allowed_tools", "allow", repeated(&v.AllowedTools, "`RULE` to allow without asking, e.g. \"Bash(git status:*)\"")},
		{"disallowed_tools", "deny", repeated(&v.DisallowedTools, "`RULE` to deny")},
		{"sandbox", "sandbox", text(&v.Sandbox, "what the system enforces: `MODE` off, deny-only or strict (default the hub's)")},
		{"sandbox_auto_allow", "sandbox-auto-allow", truth(&v.SandboxAutoAllow, "allow commands without asking in a strict sandbox")},
		{"tools", "tools", list(&o.tools, "built-in `TOOLS` to offer (default all; \"\" for none)")},
		{"tool_aliases", "tool-alias", repeated(&o.aliases, "another name for a tool, as `NAME=TOOL`")},
		{"add_dirs", "add-dir", repeated(&o.addDirs, "another `FOLDER` that tools may use")},
		{"max_turns", "max-turns", number(&v.MaxTurns, "stop after this many rounds with the model")},
		{"max_budget_usd", "max-budget", func(flag string) { f.Float64Var(&v.MaxBudgetUSD, flag, 0, "stop when it has cost this many `USD`") }},
		{"task_budget", "task-budget", number(&v.TaskBudget, "`TOKENS` that the model is told it may use for the task")},
		{"question_deadline", "question-deadline", func(flag string) {
			f.DurationVar(&o.deadline, flag, 0, "deny a question after this `TIME`, e.g. 10m (default the hub's, else never)")
		}},
		{"ask_plan_mode", "ask-plan-mode", truth(&v.AskPlanMode, "ask before the agent enters plan mode")},
		{"resume_at_reset", "resume-at-reset", truth(&v.ResumeAtReset, "continue automatically when a rate limit resets")},
		{"fresh", "fresh", truth(&v.Fresh, "start a new process and conversation for each turn")},
		{"no_persistence", "no-persistence", truth(&v.NoPersistence, "have Claude Code write no transcript; it cannot be resumed")},
		{"name", "name", text(&v.Name, "title that Claude Code shows itself")},
		{"system_prompt", "system-prompt", text(&v.SystemPrompt, "`TEXT` to replace Claude Code's system prompt")},
		{"append_system_prompt", "append-system-prompt", text(&v.AppendSystemPrompt, "`TEXT` to add to the system prompt")},
		{"exclude_dynamic_sections", "exclude-dynamic-sections", truth(&v.ExcludeDynamicSections, "keep what changes out of the system prompt")},
		{"plan_mode_instructions", "plan-mode-instructions", text(&v.PlanModeInstructions, "`TEXT` that the agent is told in plan mode")},
		{"json_schema", "schema", text(&o.schema, "`FILE` with a JSON schema for the answer, or the schema; run implies --print")},
		{"agent", "agent", text(&v.Agent, "`NAME` of the agent to use for the conversation")},
		{"agents", "agents", text(&o.agents, "`FILE` with sub-agents by name, or JSON")},
		{"agent_progress_summaries", "agent-progress-summaries", truth(&v.AgentProgressSummaries, "report what sub-agents are doing")},
		{"forward_subagent_text", "forward-subagent-text", truth(&v.ForwardSubagentText, "report what sub-agents say")},
		{"mcp_servers", "mcp-config", text(&o.mcp, "`FILE` with MCP servers, or JSON")},
		{"strict_mcp", "strict-mcp-config", truth(&v.StrictMCP, "use only the MCP servers of --mcp-config")},
		{"skills", "skill", repeated(&o.skills, "`SKILL` to offer (default all)")},
		{"plugin_dirs", "plugin-dir", repeated(&o.pluginDirs, "`FOLDER` with a plugin")},
		{"settings", "settings", text(&o.settings, "`FILE` with Claude Code settings, or JSON")},
		{"setting_sources", "setting-sources", list(&o.sources, "where to read `SETTINGS`: user, project, local (\"\" for none)")},
		{"prompt_suggestions", "prompt-suggestions", truth(&v.PromptSuggestions, "have the agent suggest the next prompt")},
		{"include_hook_events", "include-hook-events", truth(&v.IncludeHookEvents, "put what hooks do into the log")},
		{"supported_dialog_kinds", "dialog-kind", repeated(&o.kinds, "`KIND` of dialogs that can be shown")},
		{"env", "env", repeated(&o.env, "variable as `NAME=VALUE`, or NAME for the value it has here")},
		{"env", "env-file", repeated(&o.envFiles, "`FILE` with variables, one NAME=VALUE per line")},
		{"extra_args", "extra-arg", repeated(&o.raw, "flag of Claude Code that has none here, as `NAME[=VALUE]`")},
	}
}

// add adds the flags to a command, without those of the options that it has no use for.
func (o *optionFlags) add(cmd *cobra.Command, e *env, p *hubFlags, without ...string) {
	o.hubs = p
	cmd.Flags().StringVar(&o.preset, "preset", "", "`NAME` of a preset of the hub; flags win over it")
	register(cmd, "preset", completePresets(e, p))
	flags := []string{"preset"}
	for _, each := range o.all(cmd) {
		if slices.Contains(without, each.option) {
			continue
		}
		each.add(each.flag)
		o.names = append(o.names, each)
		flags = append(flags, each.flag)
		switch each.option {
		case "permission_mode":
			register(cmd, each.flag, completeModes)
		case "model", "fallback_model":
			register(cmd, each.flag, completeModels(e, p))
		case "effort":
			complete(cmd, each.flag, "low", "medium", "high", "xhigh", "max")
		case "thinking":
			complete(cmd, each.flag, "adaptive", "disabled")
		case "sandbox":
			complete(cmd, each.flag, sandboxModes()...)
		case "setting_sources":
			complete(cmd, each.flag, "user", "project", "local")
		case "add_dirs", "plugin_dirs":
			completeFolder(cmd, each.flag)
		}
	}
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[annotationOptions] = strings.Join(flags, " ")
}

// changed returns the flags that were given.
func (o *optionFlags) changed(cmd *cobra.Command) []optionFlag {
	return slices.DeleteFunc(slices.Clone(o.names), func(each optionFlag) bool { return !cmd.Flags().Changed(each.flag) })
}

// dirOf returns the path of a folder on the machine that the session will run on.
func (o *optionFlags) dirOf(e *env, flag, folder string) (string, error) {
	if o.away != "" {
		return elsewhere(flag, folder, o.away)
	}
	return o.hubs.dirOf(e, flag, folder)
}

// read returns the options that the flags ask for, and the names of those that were given, which may be zero: --fresh=false.
func (o *optionFlags) read(cmd *cobra.Command, e *env) (options api.SessionOptions, given []string, err error) {
	for _, each := range o.changed(cmd) {
		if !slices.Contains(given, each.option) {
			given = append(given, each.option)
		}
	}
	options = o.options
	options.Betas, options.Tools, options.SettingSources = o.betas, o.tools, o.sources
	options.Skills, options.SupportedDialogKinds = o.skills, o.kinds
	if o.deadline < 0 || o.deadline%time.Second != 0 {
		return options, nil, fmt.Errorf("--question-deadline is %s; use whole seconds, such as 90s or 10m", o.deadline)
	}
	options.QuestionDeadline = int(o.deadline / time.Second)
	if err := checkSandboxMode(options.Sandbox); err != nil {
		return options, nil, err
	}
	for _, each := range []struct {
		flag string
		from []string
		to   *[]string
	}{{"add-dir", o.addDirs, &options.AddDirs}, {"plugin-dir", o.pluginDirs, &options.PluginDirs}} {
		for _, folder := range each.from {
			path, err := o.dirOf(e, "--"+each.flag, folder)
			if err != nil {
				return options, nil, err
			}
			*each.to = append(*each.to, path)
		}
	}
	for _, each := range []struct {
		flag, value string
		to          *json.RawMessage
	}{
		{"agents", o.agents, &options.Agents},
		{"mcp-config", o.mcp, &options.MCPServers},
		{"settings", o.settings, &options.Settings},
		{"schema", o.schema, &options.JSONSchema},
	} {
		if *each.to, err = jsonFlag(each.value); err != nil {
			return options, nil, fmt.Errorf("--%s: %w", each.flag, err)
		}
	}
	options.MCPServers = serversOf(options.MCPServers)
	if o.schema != "" && options.MaxTurns == 0 && o.preset == "" {
		options.MaxTurns = schemaTurns
		given = append(given, "max_turns")
	}
	if options.ToolAliases, err = aliasesOf(o.aliases); err != nil {
		return options, nil, err
	}
	if options.Env, err = variables(e, o.env, o.envFiles); err != nil {
		return options, nil, err
	}
	options.ExtraArgs = rawFlags(o.raw)
	return options, given, nil
}

// serversOf returns MCP servers by name: the CLI's own file has them in a member.
func serversOf(config json.RawMessage) json.RawMessage {
	var file struct {
		Servers json.RawMessage `json:"mcpServers"`
	}
	if json.Unmarshal(config, &file) == nil && file.Servers != nil {
		return file.Servers
	}
	return config
}

// aliasesOf reads --tool-alias.
func aliasesOf(list []string) (map[string]string, error) {
	if len(list) == 0 {
		return nil, nil
	}
	aliases := map[string]string{}
	for _, each := range list {
		name, tool, found := strings.Cut(each, "=")
		if !found || name == "" || tool == "" {
			return nil, fmt.Errorf("--tool-alias is %q; write it as NAME=TOOL", each)
		}
		aliases[name] = tool
	}
	return aliases, nil
}

// variables reads --env and --env-file; the former win. No error shows a value.
func variables(e *env, list, files []string) (map[string]string, error) {
	read := map[string]string{}
	for _, name := range files {
		text, err := readFlagFile(name)
		if err != nil {
			return nil, fmt.Errorf("--env-file: %w", err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			line = strings.TrimSuffix(line, "\r")
			if trimmed := strings.TrimSpace(line); trimmed == "" || strings.HasPrefix(trimmed, "#") {
				continue
			}
			if err := setVariable(e, read, line); err != nil {
				return nil, fmt.Errorf("--env-file: %s:%d: %w", name, i+1, err)
			}
		}
	}
	for _, each := range list {
		if err := setVariable(e, read, each); err != nil {
			return nil, fmt.Errorf("--env: %w", err)
		}
	}
	if len(read) == 0 {
		return nil, nil
	}
	return read, nil
}

// setVariable reads NAME=VALUE, or NAME for the value that the variable has in our own environment, where a secret is better off than in an argument.
func setVariable(e *env, to map[string]string, text string) error {
	name, value, found := strings.Cut(text, "=")
	if name = strings.TrimSpace(name); name == "" || strings.ContainsAny(name, " \t\x00") {
		return errors.New("a variable has no proper name; write it as NAME=VALUE, or NAME alone")
	}
	if !found {
		if !slices.ContainsFunc(e.env, func(variable string) bool { return strings.HasPrefix(variable, name+"=") }) {
			return fmt.Errorf("%s isn't set here; write it as %s=VALUE", name, name)
		}
		value = e.getenv(name)
	}
	to[name] = value
	return nil
}

// rawFlags reads --extra-arg.
func rawFlags(list []string) map[string]*string {
	if len(list) == 0 {
		return nil
	}
	flags := map[string]*string{}
	for _, each := range list {
		name, value, found := strings.Cut(strings.TrimLeft(each, "-"), "=")
		flags[name] = nil
		if found {
			flags[name] = &value
		}
	}
	return flags
}

// jsonFlag reads a flag whose value is an object, or names a file with one.
func jsonFlag(value string) (json.RawMessage, error) {
	if value == "" {
		return nil, nil
	}
	text := []byte(value)
	if !strings.HasPrefix(strings.TrimSpace(value), "{") {
		var err error
		if text, err = readFlagFile(value); err != nil {
			return nil, err
		}
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, fmt.Errorf("not a JSON object: %w", err)
	}
	return json.RawMessage(text), nil
}

// readFlagFile reads a file that a flag names.
func readFlagFile(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = fmt.Errorf("%s is larger than %d bytes", name, maxFile)
	}
	return text, err
}

// option returns the field of an option by its name.
func option(o *api.SessionOptions, name string) reflect.Value {
	return reflect.ValueOf(o).Elem().Field(slices.Index(api.OptionNames(), name))
}

// exceptions returns the options that were given and are zero: they are exceptions of a preset.
func exceptions(options *api.SessionOptions, given []string) []string {
	var names []string
	for _, name := range given {
		if option(options, name).IsZero() {
			names = append(names, name)
		}
	}
	return names
}

// changedOptions returns the options of a session with those that were given; nil if none were.
func changedOptions(session *api.Session, options *api.SessionOptions, given []string) *api.SessionOptions {
	if len(given) == 0 {
		return nil
	}
	changed := api.SessionOptions{}
	if session.Options != nil {
		changed = *session.Options
	}
	for _, name := range given {
		option(&changed, name).Set(option(options, name))
	}
	return &changed
}
