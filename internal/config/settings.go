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
	// Default is what holds if it is not set, in words where there are none to write.
	Default string
	// What says what it does, in a sentence without its full stop.
	What string

	// of returns where the value is kept.
	of func(*Config) any
}

// Settings returns all settings, in the order of the file.
func Settings() []Setting {
	return []Setting{
		{"server.addr", "SWITCHBOARD_ADDR", "the first free port from 8765 to 8774 on 127.0.0.1", "TCP address for browsers and programs; beyond loopback only with TLS", func(c *Config) any { return &c.Server.Addr }},
		{"server.data_dir", "SWITCHBOARD_DATA_DIR", "$XDG_DATA_HOME/switchboard", "folder for the journal, the tokens and the agents' logs", func(c *Config) any { return &c.Server.DataDir }},
		{"server.durability", "SWITCHBOARD_DURABILITY", "normal", "what the journal survives: `normal` any kill, `full` also a power cut", func(c *Config) any { return &c.Server.Durability }},
		{"server.url", "SWITCHBOARD_URL", "the address it listens on", "public address of the hub, such as `https://hub.example.com`; used for links and `ws_url`, and accepted as Host and Origin", func(c *Config) any { return &c.Server.URL }},
		{"server.tls_cert", "SWITCHBOARD_TLS_CERT", "none", "certificate file for the port, with its chain", func(c *Config) any { return &c.Server.TLSCert }},
		{"server.tls_key", "SWITCHBOARD_TLS_KEY", "none", "key file for the certificate; both are reloaded when they change", func(c *Config) any { return &c.Server.TLSKey }},
		{"server.tls_self_signed", "SWITCHBOARD_TLS_SELF_SIGNED", "false", "serves the port with a certificate that the hub makes once and keeps in the data folder; logins and nodes pin its fingerprint", func(c *Config) any { return &c.Server.TLSSelfSigned }},
		{"server.behind_proxy", "SWITCHBOARD_BEHIND_PROXY", "false", "a proxy with TLS is in front of the port; needs `server.url`", func(c *Config) any { return &c.Server.BehindProxy }},
		{"server.insecure_lan", "SWITCHBOARD_INSECURE_LAN", "false", "serves beyond loopback without TLS: anyone on the network can read tokens", func(c *Config) any { return &c.Server.InsecureLAN }},
		{"server.open_relay", "SWITCHBOARD_OPEN_RELAY", "none", "origins of web pages that may view and prompt through the raw relay without a token, such as `[\"http://localhost:5173\"]`", func(c *Config) any { return &c.Server.OpenRelay }},
		{"server.open_relay_approve", "SWITCHBOARD_OPEN_RELAY_APPROVE", "false", "lets those pages answer questions too", func(c *Config) any { return &c.Server.OpenRelayApprove }},
		{"server.max_connections", "SWITCHBOARD_MAX_CONNECTIONS", "4096", "maximum number of connections to the port", func(c *Config) any { return &c.Server.MaxConnections }},
		{"server.max_connections_per_address", "SWITCHBOARD_MAX_CONNECTIONS_PER_ADDRESS", "1024", "maximum number from one address; ignored behind a proxy", func(c *Config) any { return &c.Server.MaxPerAddress }},
		{"server.max_unknown_connections", "SWITCHBOARD_MAX_UNKNOWN_CONNECTIONS", "256", "maximum number without a valid token; one more closes the oldest of them", func(c *Config) any { return &c.Server.MaxUnknown }},
		{"claude.path", "SWITCHBOARD_CLAUDE_PATH", "searched for on PATH and in the usual places", "path of the Claude Code to start", func(c *Config) any { return &c.Claude.Path }},
		{"claude.model", "SWITCHBOARD_CLAUDE_MODEL", "Claude Code's own", "default model of new sessions", func(c *Config) any { return &c.Claude.Model }},
		{"claude.allowed_tools", "SWITCHBOARD_CLAUDE_ALLOWED_TOOLS", "none", "permission rules for every session, such as `[\"Bash(git status:*)\"]`", func(c *Config) any { return &c.Claude.AllowedTools }},
		{"claude.permission_mode", "SWITCHBOARD_CLAUDE_PERMISSION_MODE", "default", "default permission mode of new sessions", func(c *Config) any { return &c.Claude.PermissionMode }},
		{"claude.dangerously_skip_permissions", "SWITCHBOARD_CLAUDE_DANGEROUSLY_SKIP_PERMISSIONS", "false", "permits sessions that ask nothing; each must still be created that way, with the scope `admin`", func(c *Config) any { return &c.Claude.DangerouslySkipPermissions }},
		{"claude.use_api_billing", "SWITCHBOARD_CLAUDE_USE_API_BILLING", "false", "passes `ANTHROPIC_API_KEY` to agents, which then bill it instead of using the login", func(c *Config) any { return &c.Claude.UseAPIBilling }},
		{"rules.file", "SWITCHBOARD_RULES_FILE", "$XDG_CONFIG_HOME/switchboard/rules.toml", "file with [the rules](rules.md) for agents; it need not exist", func(c *Config) any { return &c.Rules.File }},
		{"questions.deadline", "SWITCHBOARD_QUESTIONS_DEADLINE", "0 (never)", "how long a question may wait while someone could see it; then it is denied, unless it is a plan", func(c *Config) any { return &c.Questions.Deadline }},
		{"limits.resume_at_reset", "SWITCHBOARD_LIMITS_RESUME_AT_RESET", "false", "sessions held by a rate limit continue automatically when it resets", func(c *Config) any { return &c.Limits.ResumeAtReset }},
		{"notify.link", "SWITCHBOARD_NOTIFY_LINK", "none", "address of the console, for links in [notifications](notifications.md)", func(c *Config) any { return &c.Notify.Link }},
		{"retention.max_age", "SWITCHBOARD_RETENTION_MAX_AGE", "0 (keep all)", "deletes sessions that ended longer ago", func(c *Config) any { return &c.Retention.MaxAge }},
		{"retention.max_bytes", "SWITCHBOARD_RETENTION_MAX_BYTES", "0 (keep all)", "deletes the oldest ended sessions until the rest fits", func(c *Config) any { return &c.Retention.MaxBytes }},
		{"shim.orphan_after", "SWITCHBOARD_SHIM_ORPHAN_AFTER", "24h", "how long an agent keeps running without a hub", func(c *Config) any { return &c.Shim.OrphanAfter }},
		{"shim.idle_orphan_after", "SWITCHBOARD_SHIM_IDLE_ORPHAN_AFTER", "1h", "the same for an idle agent without open questions", func(c *Config) any { return &c.Shim.IdleOrphanAfter }},
		{"dial.silence", "SWITCHBOARD_DIAL_SILENCE", "30s", "how long a Claude Code that dialed in, lost lines and reconnected may be silent before its turn counts as over; ten times as long if its transcript shows a running turn", func(c *Config) any { return &c.Dial.Silence }},
		{"dial.open", "SWITCHBOARD_DIAL_OPEN", "false", "lets Claude Code [dial in without a token](running.md#dial-in-without-a-token), from this machine alone", func(c *Config) any { return &c.Dial.Open }},
		{"dial.max_open", "SWITCHBOARD_DIAL_MAX_OPEN", "64", "maximum number of agents without a token at a time", func(c *Config) any { return &c.Dial.MaxOpen }},
		{"dial.auto_approve", "SWITCHBOARD_DIAL_AUTO_APPROVE", "none", "what agents that dial in may do without asking: [rules](rules.md#agents-that-dial-in), sets, or `*` for everything, such as `[\"Read\", \"Bash(git status:*)\"]`", func(c *Config) any { return &c.Dial.AutoApprove }},
		{"direct.allow_bypass", "SWITCHBOARD_DIRECT_ALLOW_BYPASS", "false", "lets [Direct Connect](direct-connect.md) clients create sessions that ask nothing, if `claude.dangerously_skip_permissions` permits it", func(c *Config) any { return &c.Direct.AllowBypass }},
		{"direct.folders", "SWITCHBOARD_DIRECT_FOLDERS", "all but the hub's own", "folders, with their subfolders, that Direct Connect sessions may work in, such as `[\"~/src\"]`", func(c *Config) any { return &c.Direct.Folders }},
		{"agents.raw_flags", "SWITCHBOARD_AGENTS_RAW_FLAGS", "false", "lets sessions pass Claude Code flags that the hub does not know, with the scope `admin`", func(c *Config) any { return &c.Agents.RawFlags }},
		{"sandbox.mode", "SWITCHBOARD_SANDBOX_MODE", "auto", "what the operating system [enforces](sandbox.md) for new sessions: `off` nothing, `deny-only` what rules deny, `strict` that only the folder can be written and hosts are asked about; `auto` is `deny-only` where a sandbox works, else nothing", func(c *Config) any { return &c.Sandbox.Mode }},
		{"sandbox.enforcer", "SWITCHBOARD_SANDBOX_ENFORCER", "auto", "what enforces it: `bubblewrap`, `landlock`, `seatbelt`, or `auto` for the best that works", func(c *Config) any { return &c.Sandbox.Enforcer }},
		{"sandbox.bubblewrap", "SWITCHBOARD_SANDBOX_BUBBLEWRAP", "bwrap on PATH", "path of bubblewrap", func(c *Config) any { return &c.Sandbox.Bubblewrap }},
		{"sandbox.auto_allow", "SWITCHBOARD_SANDBOX_AUTO_ALLOW", "false", "allows commands without asking in `strict` sandboxes; rules that deny or ask still apply", func(c *Config) any { return &c.Sandbox.AutoAllow }},
		{"sandbox.network", "SWITCHBOARD_SANDBOX_NETWORK", "ask", "hosts in `strict` sandboxes: `ask` about those that no rule names, or `none` but the model", func(c *Config) any { return &c.Sandbox.Network }},
		{"sandbox.allow_hosts", "SWITCHBOARD_SANDBOX_ALLOW_HOSTS", "none", "hosts that sandboxes may reach without asking, such as `[\"proxy.golang.org\", \"*.npmjs.org\"]`", func(c *Config) any { return &c.Sandbox.AllowHosts }},
		{"sandbox.writable", "SWITCHBOARD_SANDBOX_WRITABLE", "none", "folders that can be written in `strict` sandboxes, besides the session's own, such as `[\"~/.cache/go-build\"]`", func(c *Config) any { return &c.Sandbox.Writable }},
		{"sandbox.sockets", "SWITCHBOARD_SANDBOX_SOCKETS", "none", "Unix sockets that sandboxes can use, such as `[\"/run/postgresql/.s.PGSQL.5432\"]`", func(c *Config) any { return &c.Sandbox.Sockets }},
		{"node.data_dir", "SWITCHBOARD_NODE_DATA_DIR", "$XDG_DATA_HOME/switchboard/node", "folder of this machine as [a node](nodes.md) of a hub elsewhere", func(c *Config) any { return &c.Node.DataDir }},
		{"node.max_sessions", "SWITCHBOARD_NODE_MAX_SESSIONS", "0 (as the hub says)", "maximum number of sessions with a process on this machine as a node", func(c *Config) any { return &c.Node.MaxSessions }},
	}
}

// example returns a value of a list, as it is written.
func (s *Setting) example() string {
	switch s.Key {
	case "server.open_relay":
		return `["http://localhost:5173"]`
	case "direct.folders", "sandbox.writable":
		return `["/home/ann/src"]`
	case "sandbox.allow_hosts":
		return `["proxy.golang.org", "*.npmjs.org"]`
	case "sandbox.sockets":
		return `["/run/postgresql/.s.PGSQL.5432"]`
	}
	return `["Read", "Bash(git status:*)"]`
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
	return append(slices.Compact(names), "preset")
}

// Environment reads the variables of the environment over the settings that c has. A variable that is empty is as good as none.
func (c *Config) Environment(getenv func(string) string) error {
	for _, s := range Settings() {
		value := getenv(s.Env)
		if value == "" {
			continue
		}
		if err := s.set(c, value, getenv("HOME")); err != nil {
			return &Error{Source: s.Env, Reason: err.Error()}
		}
	}
	return nil
}

// Set puts a text into the setting with this key, as a variable of the environment would. home is what "~/" stands for.
func (c *Config) Set(key, value, home string) error {
	for _, s := range Settings() {
		if s.Key == key {
			return s.set(c, value, home)
		}
	}
	return fmt.Errorf("there is no setting %s", key)
}

// set puts a text into the setting.
func (s *Setting) set(c *Config, value, home string) error {
	if err := set(s.of(c), value, home, s.example()); err != nil {
		return err
	}
	for key, list := range c.folderLists() {
		if key != s.Key {
			continue
		}
		folders, err := expandAll(*list, home)
		if err != nil {
			return err
		}
		*list = folders
	}
	return nil
}

// folderLists returns the settings that are lists of paths, by their keys.
func (c *Config) folderLists() map[string]*[]string {
	return map[string]*[]string{"direct.folders": &c.Direct.Folders, "sandbox.writable": &c.Sandbox.Writable, "sandbox.sockets": &c.Sandbox.Sockets}
}

// set puts the text of a variable into the place of a setting. example is what a list looks like.
func set(place any, value, home, example string) error {
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
	case *int:
		parsed, err := strconv.Atoi(value)
		if err != nil {
			return fmt.Errorf("%q is no whole number", value)
		}
		*p = parsed
		return nil
	case *[]string:
		var list []string
		if err := json.Unmarshal([]byte(value), &list); err != nil {
			return fmt.Errorf("%q is no list; write it as JSON: %s", value, example)
		}
		*p = list
		return nil
	default:
		panic(fmt.Sprintf("a setting is kept in a %T, which cannot be read from text", place))
	}
}
