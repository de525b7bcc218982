package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
)

const (
	// maxPrompt bounds what is read from standard input, maxFile a file that a flag names.
	maxPrompt = 16 << 20
	maxFile   = 1 << 20
	// schemaTurns is how many rounds an agent has to bring its answer into the form of a schema: the CLI insists on a bound.
	schemaTurns = 20
)

// sessionFlags are the flags that say what kind of session is wanted.
type sessionFlags struct {
	dir, title, resume                   string
	resumeLast, fork                     bool
	model, fallback, effort, mode        string
	allow, deny, tools, addDirs          []string
	maxTurns                             int
	maxBudget                            float64
	agent, agents, mcp, settings, schema string
	strictMCP                            bool
	systemPrompt, appendSystem           string
}

// flags adds them to a command.
func (o *sessionFlags) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.dir, "dir", "C", "", "`FOLDER` to work in (default this one)")
	f.StringVar(&o.title, "title", "", "`TITLE` of the session")
	f.StringVarP(&o.resume, "resume", "r", "", "continue a `SESSION`, or a conversation of Claude Code on disk by its id")
	f.BoolVarP(&o.resumeLast, "continue", "c", false, "continue the latest session in this folder")
	f.BoolVar(&o.fork, "fork", false, "with --resume or --continue: continue a copy")
	f.StringVarP(&o.model, "model", "m", "", "`MODEL` to use")
	f.StringVar(&o.fallback, "fallback-model", "", "`MODEL` to use when the first is overloaded")
	f.StringVar(&o.effort, "effort", "", "how hard to think: low, medium, high, xhigh or max")
	f.StringVar(&o.mode, "mode", "", "`MODE`: plan, dontAsk, default, acceptEdits, auto, bypassPermissions (dangerous)")
	f.StringArrayVar(&o.allow, "allow", nil, "`RULE` to allow without asking, e.g. \"Bash(git status:*)\"; repeatable")
	f.StringArrayVar(&o.deny, "deny", nil, "`RULE` to deny; repeatable")
	f.StringSliceVar(&o.tools, "tools", nil, "built-in `TOOLS` to offer (default all)")
	f.StringArrayVar(&o.addDirs, "add-dir", nil, "another `FOLDER` that tools may use; repeatable")
	f.IntVar(&o.maxTurns, "max-turns", 0, "stop after this many rounds with the model")
	f.Float64Var(&o.maxBudget, "max-budget", 0, "stop when it has cost this many `USD`")
	f.StringVar(&o.agent, "agent", "", "`NAME` of the agent to use for the conversation")
	f.StringVar(&o.agents, "agents", "", "`FILE` with sub-agents by name, or JSON")
	f.StringVar(&o.mcp, "mcp-config", "", "`FILE` with MCP servers, or JSON")
	f.BoolVar(&o.strictMCP, "strict-mcp-config", false, "use only the MCP servers of --mcp-config")
	f.StringVar(&o.settings, "settings", "", "`FILE` with Claude Code settings, or JSON")
	f.StringVar(&o.schema, "schema", "", "`FILE` with a JSON schema for the answer, or the schema itself; implies --print")
	f.StringVar(&o.systemPrompt, "system-prompt", "", "`TEXT` to replace Claude Code's system prompt")
	f.StringVar(&o.appendSystem, "append-system-prompt", "", "`TEXT` to add to the system prompt")
	complete(cmd, "mode", modeCompletions()...)
	complete(cmd, "effort", "low", "medium", "high", "xhigh", "max")
}

// check looks for flags that make no sense together.
func (o *sessionFlags) check(cmd *cobra.Command) error {
	if o.resume != "" && o.resumeLast {
		return errors.New("use --resume or --continue, not both")
	}
	if o.fork && o.resume == "" && !o.resumeLast {
		return errors.New("--fork needs --resume or --continue")
	}
	if o.resume == "" && !o.resumeLast {
		return nil
	}
	// A process that runs already can be given another model or mode, but not these.
	for _, name := range []string{
		"fallback-model", "effort", "allow", "deny", "tools", "add-dir", "max-turns", "max-budget", "agent", "agents", "mcp-config",
		"strict-mcp-config", "settings", "schema", "system-prompt", "append-system-prompt",
	} {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s is for new sessions; a continued session keeps its own", name)
		}
	}
	return nil
}

// request returns what the flags ask for.
func (o *sessionFlags) request(prompt string) (*api.CreateSession, error) {
	dir, err := filepath.Abs(o.dir) // "" is the folder that we are in
	if err != nil {
		return nil, fmt.Errorf("--dir: %w", err)
	}
	if info, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("--dir: %w", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("--dir: %s isn't a folder", dir)
	}
	create := &api.CreateSession{
		ClientID: rand.Text(), Dir: dir, Title: o.title, Prompt: prompt,
		Options: api.SessionOptions{
			Model: o.model, FallbackModel: o.fallback, Effort: o.effort, PermissionMode: o.mode, AllowedTools: o.allow, DisallowedTools: o.deny,
			MaxTurns: o.maxTurns, MaxBudgetUSD: o.maxBudget, Agent: o.agent, StrictMCP: o.strictMCP,
			SystemPrompt: o.systemPrompt, AppendSystemPrompt: o.appendSystem,
		},
	}
	if len(o.tools) > 0 {
		create.Options.Tools = o.tools
	}
	for _, folder := range o.addDirs {
		path, err := filepath.Abs(folder)
		if err != nil {
			return nil, fmt.Errorf("--add-dir: %w", err)
		}
		create.Options.AddDirs = append(create.Options.AddDirs, path)
	}
	for _, each := range []struct {
		flag, value string
		to          *json.RawMessage
	}{
		{"agents", o.agents, &create.Options.Agents},
		{"mcp-config", o.mcp, &create.Options.MCPServers},
		{"settings", o.settings, &create.Options.Settings},
		{"schema", o.schema, &create.Options.JSONSchema},
	} {
		if *each.to, err = jsonFlag(each.value); err != nil {
			return nil, fmt.Errorf("--%s: %w", each.flag, err)
		}
	}
	// The CLI's own file has the servers in a member.
	var file struct {
		Servers json.RawMessage `json:"mcpServers"`
	}
	if json.Unmarshal(create.Options.MCPServers, &file) == nil && file.Servers != nil {
		create.Options.MCPServers = file.Servers
	}
	if o.schema != "" && o.maxTurns == 0 {
		create.Options.MaxTurns = schemaTurns
	}
	return create, nil
}

// jsonFlag reads a flag whose value is an object, or names a file with one.
func jsonFlag(value string) (json.RawMessage, error) {
	if value == "" {
		return nil, nil
	}
	text := []byte(value)
	if !strings.HasPrefix(strings.TrimSpace(value), "{") {
		file, err := os.Open(value)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }() // it was only read
		if text, err = io.ReadAll(io.LimitReader(file, maxFile+1)); err != nil {
			return nil, err
		}
		if len(text) > maxFile {
			return nil, fmt.Errorf("%s is larger than %d bytes", value, maxFile)
		}
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, fmt.Errorf("not a JSON object: %w", err)
	}
	return json.RawMessage(text), nil
}

// input returns the prompt with what comes in on standard input: what is piped to run is what the prompt is about.
func (v *runCmd) input(e *env, prompt string) (string, error) {
	if e.stdin == nil || isTerminal(e.stdin) {
		return prompt, nil
	}
	text, err := io.ReadAll(io.LimitReader(e.stdin, maxPrompt+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("reading standard input: %w", err)
	case len(text) > maxPrompt:
		return "", usageError{fmt.Errorf("standard input is longer than %d bytes; put it into a file and name that in the prompt", maxPrompt)}
	}
	piped := strings.TrimRight(string(text), "\n")
	switch {
	case strings.TrimSpace(piped) == "":
		return prompt, nil
	case prompt == "":
		return piped, nil
	default:
		return prompt + "\n\n" + piped, nil
	}
}
