package flags

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
)

// Flags is a command line that was accepted.
type Flags struct {
	// Args are the words that belong to no flag: the prompt.
	Args []string

	Print                  bool
	Verbose                bool
	OutputFormat           string // "text" if not given
	InputFormat            string // "text" if not given
	ReplayUserMessages     bool
	IncludePartialMessages bool
	IncludeHookEvents      bool
	ForwardSubagentText    bool
	AwaitInitialize        bool
	SDKURL                 string

	PermissionMode       string // empty if not given; --dangerously-skip-permissions sets bypassPermissions
	PermissionPromptTool string
	BypassLaunched       bool     // the launch makes the mode bypassPermissions available
	AllowedTools         []string // as given, each a rule or a list of rules
	DisallowedTools      []string // as given, each a rule or a list of rules
	Tools                []string // names; nil if not given or "default", empty for none
	AddDirs              []string

	Model             string
	FallbackModel     string
	Effort            string
	Thinking          string
	ThinkingDisplay   string
	MaxThinkingTokens int     // -1 if not given
	MaxTurns          int     // 0 if not given
	TaskBudget        int     // 0 if not given
	MaxBudgetUSD      float64 // 0 if not given
	Betas             []string
	Agent             string
	Agents            string // JSON

	SystemPrompt       string
	AppendSystemPrompt string

	Resume               string
	ResumeGiven          bool // --resume, with or without a value
	Continue             bool
	ForkSession          bool
	SessionID            string
	ResumeSessionAt      string
	ResumeDropsTurn      string
	NoSessionPersistence bool
	SessionMirror        bool
	Name                 string

	Settings        string   // JSON or a path, as given
	SettingSources  []string // nil if not given
	ManagedSettings string
	MCPConfig       []string // JSON or paths, as given
	StrictMCPConfig bool
	PluginDirs      []string
	JSONSchema      string
	DisableSlash    bool
	Bare            bool
	DebugFile       string

	// Given lists the flags that were given, by their long name.
	Given map[string]bool
	// Values has every value of every flag that takes one, in order, by its
	// long name, also of those without a field of their own.
	Values map[string][]string
}

// An ExitError says that the CLI prints and ends instead of starting.
type ExitError struct {
	Code   int
	Stdout string // with its line end, empty for nothing
	Stderr string // with its line end, empty for nothing
}

// Error returns what is printed.
func (e *ExitError) Error() string {
	return fmt.Sprintf("the CLI ends with code %d: %s", e.Code, strings.TrimSpace(e.Stdout+e.Stderr))
}

// fail is an end with a message and code 1, as all of them have.
func fail(format string, args ...any) *ExitError {
	return &ExitError{Code: 1, Stderr: fmt.Sprintf(format, args...) + "\n"}
}

// Parse reads the arguments (without the program's name) as the version would;
// the zero version is the oldest. An error is always an [*ExitError], also for
// --version and --help, whose code is 0.
func Parse(args []string, v wire.Version) (*Flags, error) {
	if v.IsZero() {
		v = wire.Version{Major: 2, Minor: 1, Patch: 37}
	}
	p := &parser{version: v, args: slices.Clone(args), given: map[string]bool{}, values: map[string][]string{}}
	if err := p.parse(); err != nil {
		return nil, err
	}
	f := p.flags()
	if err := f.numbers(v); err != nil {
		return nil, err
	}
	if err := f.check(v); err != nil {
		return nil, err
	}
	return f, nil
}

// parser reads a command line in the manner of the library that the CLI uses.
type parser struct {
	version wire.Version
	args    []string // still to be read

	given    map[string]bool
	values   map[string][]string
	operands []string
	unknown  string // the first unknown flag
	open     string // the flag that takes words until the next flag
}

// isFlag says whether a word looks like a flag.
func isFlag(word string) bool { return len(word) > 1 && word[0] == '-' }

func (p *parser) parse() *ExitError {
	for len(p.args) > 0 {
		word := p.args[0]
		p.args = p.args[1:]
		if word == "--" {
			p.operands = append(p.operands, p.args...)
			break
		}
		if p.open != "" && !isFlag(word) {
			if err := p.set(p.open, word); err != nil {
				return err
			}
			continue
		}
		p.open = ""
		if err := p.word(word); err != nil {
			return err
		}
	}
	switch {
	case p.given["help"]:
		return &ExitError{Stdout: help}
	case p.unknown != "":
		return &ExitError{Code: 1, Stderr: "error: unknown option '" + p.unknown + "'\n" + suggestion(p.unknown, p.version)}
	}
	return nil
}

// word reads one word that is no value.
func (p *parser) word(word string) *ExitError {
	if !isFlag(word) {
		p.operands = append(p.operands, word)
		return nil
	}
	if name, s, ok := find(word, p.version); ok {
		return p.flag(name, s)
	}
	if word[1] != '-' && len(word) > 2 {
		// Several short flags in one word, or one with its value.
		if name, s, ok := find(word[:2], p.version); ok {
			if s.kind != boolean {
				p.given[name] = true
				return p.set(name, word[2:])
			}
			p.args = slices.Insert(p.args, 0, "-"+word[2:])
			return p.flag(name, s)
		}
	}
	if left, right, found := strings.Cut(word, "="); found && strings.HasPrefix(word, "--") {
		if name, s, ok := find(left, p.version); ok && s.kind != boolean {
			p.given[name] = true
			if s.kind == variadic {
				p.open = name
			}
			return p.set(name, right)
		}
	}
	if p.unknown == "" {
		p.unknown = word
	}
	return nil
}

// flag reads a flag whose value, if it takes one, is the next word.
func (p *parser) flag(name string, s spec) *ExitError {
	p.given[name] = true
	switch s.kind {
	case boolean:
		if name == "version" {
			return &ExitError{Stdout: p.version.String() + " (Claude Code)\n"}
		}
		return nil
	case optional:
		if len(p.args) == 0 || isFlag(p.args[0]) {
			return nil
		}
	case value, variadic:
		if len(p.args) == 0 {
			return fail("error: option '%s' argument missing", s.usage(name))
		}
	}
	next := p.args[0]
	p.args = p.args[1:]
	if s.kind == variadic {
		p.open = name
	}
	return p.set(name, next)
}

// set keeps a value.
func (p *parser) set(name, given string) *ExitError {
	allowed := choices(name, p.version)
	// 2.1.325 still takes the name that it no longer tells.
	if allowed != nil && !slices.Contains(allowed, given) && (name != "permission-mode" || given != "default") {
		return p.invalid(name, given, "Allowed choices are "+strings.Join(allowed, ", ")+".")
	}
	if name == "effort" && !p.version.AtLeast(2, 1, 325) {
		if levels := []string{"low", "medium", "high", "xhigh", "max"}; !slices.Contains(levels, given) {
			return p.invalid(name, given, "It must be one of: "+strings.Join(levels, ", "))
		}
	}
	p.values[name] = append(p.values[name], given)
	return nil
}

func (p *parser) invalid(name, given, why string) *ExitError {
	return fail("error: option '%s' argument '%s' is invalid. %s", table[name].usage(name), given, why)
}

// last returns the last value of a flag.
func (p *parser) last(name string) string {
	if list := p.values[name]; len(list) > 0 {
		return list[len(list)-1]
	}
	return ""
}

// list returns the parts of all values of a flag, nil if it was not given.
func (p *parser) list(name, separators string) []string {
	if !p.given[name] {
		return nil
	}
	parts := []string{}
	for _, list := range p.values[name] {
		parts = append(parts, strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(separators, r) })...)
	}
	return parts
}

// flags gives what was read its names.
func (p *parser) flags() *Flags {
	f := &Flags{
		Args: p.operands, Given: p.given, Values: p.values,
		Print: p.given["print"], Verbose: p.given["verbose"], OutputFormat: p.last("output-format"), InputFormat: p.last("input-format"),
		ReplayUserMessages: p.given["replay-user-messages"], IncludePartialMessages: p.given["include-partial-messages"],
		IncludeHookEvents: p.given["include-hook-events"], ForwardSubagentText: p.given["forward-subagent-text"],
		AwaitInitialize: p.given["await-initialize"], SDKURL: p.last("sdk-url"),
		PermissionMode: p.last("permission-mode"), PermissionPromptTool: p.last("permission-prompt-tool"),
		AllowedTools: p.values["allowedTools"], DisallowedTools: p.values["disallowedTools"], Tools: p.list("tools", ", "), AddDirs: p.values["add-dir"],
		Model: p.last("model"), FallbackModel: p.last("fallback-model"), Effort: p.last("effort"),
		Thinking: p.last("thinking"), ThinkingDisplay: p.last("thinking-display"), Betas: p.list("betas", ", "),
		Agent: p.last("agent"), Agents: p.last("agents"), SystemPrompt: p.last("system-prompt"), AppendSystemPrompt: p.last("append-system-prompt"),
		Resume: p.last("resume"), ResumeGiven: p.given["resume"], Continue: p.given["continue"], ForkSession: p.given["fork-session"],
		SessionID: p.last("session-id"), ResumeSessionAt: p.last("resume-session-at"), ResumeDropsTurn: p.last("resume-drops-turn"),
		NoSessionPersistence: p.given["no-session-persistence"], SessionMirror: p.given["session-mirror"], Name: p.last("name"),
		Settings: p.last("settings"), SettingSources: p.list("setting-sources", ","), ManagedSettings: p.last("managed-settings"),
		MCPConfig: p.values["mcp-config"], StrictMCPConfig: p.given["strict-mcp-config"],
		PluginDirs: slices.Concat(p.values["plugin-dir"], p.values["plugin-dir-no-mcp"]), JSONSchema: p.last("json-schema"),
		DisableSlash: p.given["disable-slash-commands"], Bare: p.given["bare"], DebugFile: p.last("debug-file"),
	}
	for i, source := range f.SettingSources {
		f.SettingSources[i] = strings.TrimSpace(source)
	}
	if slices.Contains(f.Tools, "default") {
		f.Tools = nil
	}
	if p.given["dangerously-skip-permissions"] {
		f.PermissionMode = string(wire.PermissionModeBypassPermissions)
	}
	f.BypassLaunched = f.PermissionMode == string(wire.PermissionModeBypassPermissions) || p.given["allow-dangerously-skip-permissions"]
	// A CLI that dials out speaks the protocol unless told otherwise.
	if f.SDKURL != "" {
		f.Print, f.Verbose = true, true
		f.OutputFormat = or(f.OutputFormat, "stream-json")
		f.InputFormat = or(f.InputFormat, "stream-json")
	}
	f.OutputFormat = or(f.OutputFormat, "text")
	f.InputFormat = or(f.InputFormat, "text")
	return f
}

func or(given, otherwise string) string {
	if given == "" {
		return otherwise
	}
	return given
}

// numbers reads the flags that take one. Versions before 2.1.325 take a limit
// that is no number for none.
func (f *Flags) numbers(v wire.Version) *ExitError {
	strict := v.AtLeast(2, 1, 325)
	f.MaxThinkingTokens = -1
	for name, field := range map[string]*int{"max-turns": &f.MaxTurns, "max-thinking-tokens": &f.MaxThinkingTokens} {
		if n, ok, err := f.number(name); ok {
			*field = int(n)
		} else if err && strict {
			return f.refuse(name, "must be a number")
		}
	}
	f.MaxTurns = max(f.MaxTurns, 0)
	if n, ok, err := f.number("max-budget-usd"); err || ok && n <= 0 {
		return f.refuse("max-budget-usd", "--max-budget-usd must be a positive number greater than 0")
	} else if ok {
		f.MaxBudgetUSD = n
	}
	if n, ok, err := f.number("task-budget"); err || ok && (n <= 0 || n != math.Trunc(n)) {
		return f.refuse("task-budget", "--task-budget must be a positive integer")
	} else if ok {
		f.TaskBudget = int(n)
	}
	return nil
}

// number returns the last value of a flag as a number that fits any field.
func (f *Flags) number(name string) (n float64, ok, bad bool) {
	list := f.Values[name]
	if len(list) == 0 {
		return 0, false, false
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(list[len(list)-1]), 64)
	if err != nil || math.IsNaN(n) || math.Abs(n) > math.MaxInt32 {
		return 0, false, true
	}
	return n, true, false
}

func (f *Flags) refuse(name, why string) *ExitError {
	list := f.Values[name]
	return fail("error: option '%s' argument '%s' is invalid. %s", table[name].usage(name), list[len(list)-1], why)
}
