package config

import (
	"encoding"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A Setting describes one setting, for documentation.
type Setting struct {
	// Key is its name in the file, with its section: "server.addr".
	Key string
	// Env is the environment variable that overrides the file.
	Env string
	// Default is what holds if nobody sets it, in words where there are none to write.
	Default string
	// What says what it does, in a sentence without its full stop.
	What string

	// of returns where the value is kept.
	of func(*Config) any
}

// Settings returns all settings, in the order of the file.
func Settings() []Setting {
	return []Setting{
		{"server.addr", "SWITCHBOARD_ADDR", "the first free port from 8765 to 8774 on 127.0.0.1", "the TCP address for browsers and programs, on loopback only", func(c *Config) any { return &c.Server.Addr }},
		{"server.data_dir", "SWITCHBOARD_DATA_DIR", "$XDG_DATA_HOME/switchboard", "the folder of the journal, the admin token and the logs of agents", func(c *Config) any { return &c.Server.DataDir }},
		{"server.durability", "SWITCHBOARD_DURABILITY", "normal", "what the journal survives: `normal` any kill, `full` a power cut too", func(c *Config) any { return &c.Server.Durability }},
		{"claude.path", "SWITCHBOARD_CLAUDE_PATH", "looked for on PATH and in the usual places", "the Claude Code to start", func(c *Config) any { return &c.Claude.Path }},
		{"claude.model", "SWITCHBOARD_CLAUDE_MODEL", "Claude Code's own", "the model of sessions that name none", func(c *Config) any { return &c.Claude.Model }},
		{"claude.allowed_tools", "SWITCHBOARD_CLAUDE_ALLOWED_TOOLS", "none", "permission rules for every session, such as `[\"Bash(git status:*)\"]`", func(c *Config) any { return &c.Claude.AllowedTools }},
		{"claude.permission_mode", "SWITCHBOARD_CLAUDE_PERMISSION_MODE", "default", "the permission mode of sessions that name none", func(c *Config) any { return &c.Claude.PermissionMode }},
		{"claude.dangerously_skip_permissions", "SWITCHBOARD_CLAUDE_DANGEROUSLY_SKIP_PERMISSIONS", "false", "consents to sessions that ask nothing; each still has to be created so, with the right `admin`", func(c *Config) any { return &c.Claude.DangerouslySkipPermissions }},
		{"claude.use_api_billing", "SWITCHBOARD_CLAUDE_USE_API_BILLING", "false", "leaves `ANTHROPIC_API_KEY` to agents, which then bill it instead of using the login", func(c *Config) any { return &c.Claude.UseAPIBilling }},
		{"rules.file", "SWITCHBOARD_RULES_FILE", "$XDG_CONFIG_HOME/switchboard/rules.toml", "the file with [the rules](rules.md) of what agents may do; it need not exist", func(c *Config) any { return &c.Rules.File }},
		{"questions.deadline", "SWITCHBOARD_QUESTIONS_DEADLINE", "0 (never)", "how long a question may wait while somebody could see it; then it is refused, unless it is a plan", func(c *Config) any { return &c.Questions.Deadline }},
		{"limits.resume_at_reset", "SWITCHBOARD_LIMITS_RESUME_AT_RESET", "false", "sessions that a rate limit holds back go on by themselves when it is over", func(c *Config) any { return &c.Limits.ResumeAtReset }},
		{"notify.link", "SWITCHBOARD_NOTIFY_LINK", "none", "the address of the console, for links in [notifications](notifications.md)", func(c *Config) any { return &c.Notify.Link }},
		{"retention.max_age", "SWITCHBOARD_RETENTION_MAX_AGE", "0 (keep all)", "removes sessions that ended longer ago", func(c *Config) any { return &c.Retention.MaxAge }},
		{"retention.max_bytes", "SWITCHBOARD_RETENTION_MAX_BYTES", "0 (keep all)", "removes the oldest ended sessions until the rest takes no more", func(c *Config) any { return &c.Retention.MaxBytes }},
		{"shim.orphan_after", "SWITCHBOARD_SHIM_ORPHAN_AFTER", "24h", "how long an agent goes on without a server", func(c *Config) any { return &c.Shim.OrphanAfter }},
		{"shim.idle_orphan_after", "SWITCHBOARD_SHIM_IDLE_ORPHAN_AFTER", "1h", "the same for one that is idle and asks nothing", func(c *Config) any { return &c.Shim.IdleOrphanAfter }},
	}
}

// sections returns the names of the sections, and of the tables that stand by themselves.
func sections() []string {
	var names []string
	for _, s := range Settings() {
		name, _, _ := strings.Cut(s.Key, ".")
		names = append(names, name)
	}
	for _, name := range tables() {
		name, _, _ = strings.Cut(name, ".")
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return slices.Compact(names)
}

// Environment reads the variables of the environment over the settings that c has. A variable that is empty is as good as none.
func (c *Config) Environment(getenv func(string) string) error {
	for _, s := range Settings() {
		value := getenv(s.Env)
		if value == "" {
			continue
		}
		if err := set(s.of(c), value, getenv("HOME")); err != nil {
			return &Error{Source: s.Env, Reason: err.Error()}
		}
	}
	return nil
}

// set puts the text of a variable into a setting.
func set(place any, value, home string) error {
	switch p := place.(type) {
	case encoding.TextUnmarshaler:
		if err := p.UnmarshalText([]byte(value)); err != nil {
			return err
		}
		if folder, ok := p.(*Folder); ok {
			return folder.expand(home)
		}
		return nil
	case *string:
		*p = value
		return nil
	case *bool:
		parsed, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("%q is neither true nor false", value)
		}
		*p = parsed
		return nil
	case *[]string:
		var list []string
		if err := json.Unmarshal([]byte(value), &list); err != nil {
			return fmt.Errorf(`%q is no list; write it as JSON: ["Read","Bash(git status:*)"]`, value)
		}
		*p = list
		return nil
	default:
		panic(fmt.Sprintf("a setting is kept in a %T, which cannot be read from text", place))
	}
}
