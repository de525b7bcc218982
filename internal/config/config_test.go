package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// env returns a getenv over a few variables.
func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// whole sets everything.
const whole = `
[server]
addr = "127.0.0.1:9000"
data_dir = "~/boards"
durability = "full"
url = "https://Hub.example"
tls_cert = "~/cert.pem"
tls_key = "/key.pem"
tls_self_signed = true
behind_proxy = true
insecure_lan = true
open_relay = ["http://localhost:5173"]
open_relay_approve = true
max_connections = 10
max_connections_per_address = 9
max_unknown_connections = 8

[claude]
path = "/opt/claude"
model = "opus"
allowed_tools = ["Read", "Bash(git status:*)"]
permission_mode = "plan"
dangerously_skip_permissions = true
use_api_billing = true

[rules]
file = "~/rules.toml"

[questions]
deadline = "10m"

[limits]
resume_at_reset = true

[[budget]]
name = "a day"
per = "day"
folder = "~/src"
usd = 12
turns = 100
wall = "8h"
action = "interrupt"
warn_at = 0.5

[[budget]]
name = "idle ones"
idle = "2h"

[notify]
link = "https://hub.example/console"

[[notify.target]]
kind = "webhook"
url = "https://example.com/hook?x=1"
secret_file = "~/hook.key"
events = ["needs_input", "limit"]
detail = true

[[notify.target]]
kind = "ntfy"
url = "http://127.0.0.1:2586/agents"
token_file = "/etc/ntfy"

[retention]
max_age = "30d"
max_bytes = "20GiB"

[shim]
orphan_after = "48h"
idle_orphan_after = "90m"

[dial]
open = true
max_open = 7
auto_approve = ["Read", "Bash(git status:*)"]
silence = "2m"

[direct]
allow_bypass = true
folders = ["~/src", "/srv/"]

[agents]
raw_flags = true
`

func TestParse(t *testing.T) {
	with := func(change func(*Config)) *Config {
		c := Default()
		change(c)
		return c
	}
	tests := []struct {
		name, text string
		want       *Config
	}{
		{"nothing", "", Default()},
		{"empty sections", "[server]\n[claude]\n[retention]\n[shim]\n", Default()},
		{"whole", whole, &Config{
			Server: Server{
				Addr: "127.0.0.1:9000", DataDir: "/home/x/boards", Durability: DurabilityFull, URL: "https://hub.example",
				TLSCert: "/home/x/cert.pem", TLSKey: "/key.pem", TLSSelfSigned: true, BehindProxy: true, InsecureLAN: true,
				OpenRelay: []string{"http://localhost:5173"}, OpenRelayApprove: true, MaxConnections: 10, MaxPerAddress: 9, MaxUnknown: 8,
			},
			Claude: Claude{
				Path: "/opt/claude", Model: "opus", AllowedTools: []string{"Read", "Bash(git status:*)"}, PermissionMode: "plan",
				DangerouslySkipPermissions: true, UseAPIBilling: true,
			},
			Rules:     Rules{File: "/home/x/rules.toml"},
			Questions: Questions{Deadline: Duration(10 * time.Minute)},
			Limits:    Limits{ResumeAtReset: true},
			Budgets: []Budget{
				{Name: "a day", Per: "day", Folder: "/home/x/src", USD: 12, Turns: 100, Wall: Duration(8 * time.Hour), Action: "interrupt", WarnAt: 0.5},
				{Name: "idle ones", Per: "session", Idle: Duration(2 * time.Hour), Action: "warn", WarnAt: 0.8},
			},
			Notify: Notify{Link: "https://hub.example/console", Targets: []Target{
				{Kind: "webhook", URL: "https://example.com/hook?x=1", SecretFile: "/home/x/hook.key", Events: []string{"needs_input", "limit"}, Detail: true},
				{Kind: "ntfy", URL: "http://127.0.0.1:2586/agents", TokenFile: "/etc/ntfy"},
			}},
			Retention: Retention{MaxAge: Duration(30 * 24 * time.Hour), MaxBytes: 20 << 30},
			Shim:      Shim{Duration(48 * time.Hour), Duration(90 * time.Minute)},
			Dial:      Dial{Silence: Duration(2 * time.Minute), Open: true, MaxOpen: 7, AutoApprove: []string{"Read", "Bash(git status:*)"}},
			Direct:    Direct{AllowBypass: true, Folders: []string{"/home/x/src", "/srv"}},
			Agents:    Agents{RawFlags: true},
			Sandbox:   Default().Sandbox,
		}},
		{"a number of bytes", "retention.max_bytes = 1000", with(func(c *Config) { c.Retention.MaxBytes = 1000 })},
		{"decimal units", `retention.max_bytes = "5 MB"`, with(func(c *Config) { c.Retention.MaxBytes = 5e6 })},
		{"bytes", `retention.max_bytes = "7B"`, with(func(c *Config) { c.Retention.MaxBytes = 7 })},
		{"localhost", `server.addr = "localhost:0"`, with(func(c *Config) { c.Server.Addr = "localhost:0" })},
		{"IPv6", `server.addr = "[::1]:80"`, with(func(c *Config) { c.Server.Addr = "[::1]:80" })},
		{"an empty list", `claude.allowed_tools = []`, with(func(c *Config) { c.Claude.AllowedTools = []string{} })},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := Default()
			if err := c.Parse("config.toml", []byte(test.text), "/home/x"); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, c); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"unknown key", "[server]\naddr = \"127.0.0.1:1\"\nport = 8765\n", []string{"config.toml:3:1: unknown key server.port; section [server] has addr, data_dir, durability, url, tls_cert"}},
		{"unknown section", "[serve]\naddr = \"127.0.0.1:1\"\n", []string{"config.toml:1:", "unknown key serve", "the sections are server, claude, rules, questions, limits, notify, retention, shim, dial, direct, agents, sandbox, node, budget"}},
		{"unknown top level", "addr = \"127.0.0.1:1\"\n", []string{"config.toml:1:1: unknown key addr; the sections are"}},
		{"two unknown keys", "[shim]\na = 1\nb = 2\n", []string{"config.toml:2:1: unknown key shim.a", "config.toml:3:1: unknown key shim.b"}},
		{"no TOML", "[server\n", []string{"config.toml:1:"}},
		{"twice", "[server]\naddr = \"127.0.0.1:1\"\naddr = \"127.0.0.1:2\"\n", []string{"config.toml:3:"}},
		{"another type", "[claude]\nmodel = 3\n", []string{"config.toml:2:9: claude.model: this is of the kind integer; it has to be a text in quotes"}},
		{"another type of list", "[claude]\nallowed_tools = \"Read\"\n", []string{"config.toml:2:17: claude.allowed_tools: this is of the kind string; it has to be a list of texts"}},
		{"another type in a list", "[claude]\nallowed_tools = [\"Read\", 2]\n", []string{"config.toml:2:26: claude.allowed_tools: this is of the kind integer; it has to be a list of texts"}},
		{"a list", "[server]\naddr = [\"127.0.0.1:1\"]\n", []string{"config.toml:2:8: server.addr: this is of the kind array; it has to be a text in quotes"}},
		{"no section", "claude = 5\n", []string{"config.toml:1:10: claude: this is of the kind integer; it has to be a section, which begins with a line [claude]"}},
		{"no boolean", "[claude]\nuse_api_billing = \"yes\"\n", []string{"config.toml:2:19: claude.use_api_billing: this is of the kind string; it has to be true or false"}},
		{"address without a port", "\n[server]\naddr = \"127.0.0.1\"\n", []string{"config.toml:3:8: server.addr: ", `"127.0.0.1" is no address`}},
		{"address with a name for a port", "[server]\naddr = \"127.0.0.1:http\"\n", []string{"config.toml:2:", "no port between"}},
		{"no list of pages", "[server]\nopen_relay = \"http://localhost:1\"\n", []string{"config.toml:2:", `["http://localhost:5173"]`}},
		{"no number", "[server]\nmax_connections = \"many\"\n", []string{"config.toml:2:", "a whole number"}},
		{"no site", "[server]\nurl = \"hub.example\"\n", []string{"config.toml:2:", "https://hub.example.com"}},
		{"a site with a path", "[server]\nurl = \"https://hub.example/x\"\n", []string{"config.toml:2:", "write it as https://hub.example"}},
		{"a relative key", "[server]\ntls_key = \"key.pem\"\n", []string{"config.toml:2:", "server.tls_key", "absolute path"}},
		{"relative folders", "[direct]\nfolders = [\"src\"]\n", []string{"config.toml:2:", "direct.folders", "absolute path"}},
		{"an empty folder", "[direct]\nfolders = [\"\"]\n", []string{"config.toml:2:", "direct.folders", "no name"}},
		{"address of all", "[server]\naddr = \":8765\"\n", []string{"config.toml:2:", "this machine alone"}},
		{"address of somebody", "[server]\naddr = \"example.com:8765\"\n", []string{"config.toml:2:", "this machine alone"}},
		{"relative path", "[server]\ndata_dir = \"boards\"\n", []string{"config.toml:2:", "absolute path"}},
		{"simulator as a path", "[claude]\npath = \"sim\"\n", []string{"config.toml:2:", "absolute path"}},
		{"zero byte", "[claude]\npath = \"/a\\u0000b\"\n", []string{"config.toml:2:", "zero byte"}},
		{"durability", "[server]\ndurability = \"some\"\n", []string{"config.toml:2:", "normal (survives any kill) or full"}},
		{"mode", "[claude]\npermission_mode = \"yolo\"\n", []string{"config.toml:2:", "default, plan, acceptEdits, dontAsk, auto"}},
		{"no questions for all", "[claude]\npermission_mode = \"bypassPermissions\"\n", []string{"config.toml:2:", "session by session"}},
		{"duration without a unit", "[retention]\nmax_age = 30\n", []string{"config.toml:2:", "30d"}},
		{"negative duration", "[retention]\nmax_age = \"-1h\"\n", []string{"config.toml:2:", "less than nothing"}},
		{"negative size", "[retention]\nmax_bytes = -1\n", []string{"config.toml:2:", "20GiB"}},
		{"size that is too large", "[retention]\nmax_bytes = \"9999999999TiB\"\n", []string{"config.toml:2:", "20GiB"}},
		{"unit", "[retention]\nmax_bytes = \"3 potatoes\"\n", []string{"config.toml:2:", "20GiB"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := Default()
			err := c.Parse("config.toml", []byte(test.text), "/home/x")
			if err == nil {
				t.Fatal("it was accepted")
			}
			for _, part := range test.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("the error has no %q: %v", part, err)
				}
			}
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Errorf("the error is a %T", err)
			}
			if diff := cmp.Diff(Default(), c); diff != "" {
				t.Errorf("something was set all the same (-want +got):\n%s", diff)
			}
		})
	}
	c := Default()
	if err := c.Parse("config.toml", []byte(`server.data_dir = "~/boards"`), ""); err == nil || !strings.Contains(err.Error(), "HOME") {
		t.Errorf("~/ without a home: %v", err)
	}
}

func TestEnvironment(t *testing.T) {
	c := Default()
	if err := c.Parse("config.toml", []byte(whole), "/home/x"); err != nil {
		t.Fatal(err)
	}
	tools := c.Claude.AllowedTools
	err := c.Environment(env(
		"HOME", "/home/y", "SWITCHBOARD_DATA_DIR", "~/other", "SWITCHBOARD_CLAUDE_USE_API_BILLING", "false", "SWITCHBOARD_CLAUDE_MODEL", "haiku",
		"SWITCHBOARD_CLAUDE_ALLOWED_TOOLS", `["Edit"]`, "SWITCHBOARD_SHIM_ORPHAN_AFTER", "2d", "SWITCHBOARD_ADDR", "",
	))
	if err != nil {
		t.Fatal(err)
	}
	if c.Server.DataDir != "/home/y/other" || c.Claude.UseAPIBilling || c.Claude.Model != "haiku" || len(c.Claude.AllowedTools) != 1 ||
		c.Shim.OrphanAfter != Duration(48*time.Hour) || c.Server.Addr != "127.0.0.1:9000" {
		t.Errorf("%+v", c)
	}
	if len(tools) != 2 || tools[0] != "Read" {
		t.Errorf("the file's list is now %q", tools)
	}

	if err := c.Set("server.url", "https://h", ""); err != nil || c.Server.URL != "https://h" {
		t.Errorf("Set: %v, %s", err, c.Server.URL)
	}
	if err := c.Set("server.colour", "red", ""); err == nil {
		t.Error("a setting that there is not was set")
	}

	for name, value := range map[string]string{
		"SWITCHBOARD_ADDR": "nowhere", "SWITCHBOARD_CLAUDE_USE_API_BILLING": "perhaps", "SWITCHBOARD_CLAUDE_ALLOWED_TOOLS": "Read,Edit",
		"SWITCHBOARD_MAX_CONNECTIONS": "many", "SWITCHBOARD_DIRECT_FOLDERS": `["here"]`, "SWITCHBOARD_URL": "hub", "SWITCHBOARD_TLS_KEY": "key",
		"SWITCHBOARD_RETENTION_MAX_AGE": "long", "SWITCHBOARD_DATA_DIR": "here", "SWITCHBOARD_CLAUDE_PATH": "~/claude",
	} {
		err := Default().Environment(env(name, value))
		if err == nil || !strings.HasPrefix(err.Error(), name+": ") {
			t.Errorf("%s=%s: %v", name, value, err)
		}
	}
}

// TestSettings holds the table to the struct: every key can be set by file and by environment, and to the same effect.
func TestSettings(t *testing.T) {
	values := map[string]string{
		"server.addr": "127.0.0.1:9", "server.data_dir": "/d", "server.durability": "full", "claude.path": "/c", "claude.model": "m",
		"claude.allowed_tools": `["T"]`, "claude.permission_mode": "plan", "claude.dangerously_skip_permissions": "true",
		"claude.use_api_billing": "true", "rules.file": "/r", "questions.deadline": "7m", "limits.resume_at_reset": "true", "notify.link": "https://h",
		"server.url": "https://h", "server.tls_cert": "/t", "server.tls_key": "/k", "server.tls_self_signed": "true", "server.behind_proxy": "true", "server.insecure_lan": "true",
		"server.open_relay": `["http://localhost:1"]`, "server.open_relay_approve": "true", "server.max_connections": "7",
		"server.max_connections_per_address": "6", "server.max_unknown_connections": "5", "direct.allow_bypass": "true", "dial.open": "true", "dial.max_open": "3",
		"dial.auto_approve": `["Read"]`,
		"direct.folders":    `["/f"]`, "agents.raw_flags": "true",
		"retention.max_age": "3h", "retention.max_bytes": "4", "shim.orphan_after": "50h", "shim.idle_orphan_after": "6h",
		"dial.silence": "8s",
		"sandbox.mode": "strict", "sandbox.enforcer": "landlock", "sandbox.bubblewrap": "/b", "sandbox.auto_allow": "true", "sandbox.network": "none",
		"sandbox.allow_hosts": `["h"]`, "sandbox.writable": `["/w"]`, "sandbox.sockets": `["/s"]`,
		"node.data_dir": "/n", "node.max_sessions": "4",
	}
	seen := 0
	for _, s := range Settings() {
		value, found := values[s.Key]
		if !found {
			t.Errorf("this test has no value for %s", s.Key)
			continue
		}
		seen++
		written := value
		if value != "true" && !strings.HasPrefix(value, "[") && !strings.HasPrefix(s.Key, "server.max_") && s.Key != "dial.max_open" && s.Key != "node.max_sessions" {
			written = `"` + value + `"`
		}
		byFile, byEnv := Default(), Default()
		if err := byFile.Parse("config.toml", []byte(s.Key+" = "+written), ""); err != nil {
			t.Errorf("%s by file: %v", s.Key, err)
		}
		if err := byEnv.Environment(env(s.Env, value)); err != nil {
			t.Errorf("%s by environment: %v", s.Key, err)
		}
		if diff := cmp.Diff(byFile, byEnv); diff != "" || cmp.Equal(byFile, Default()) {
			t.Errorf("%s: file and environment differ, or set nothing:\n%s", s.Key, diff)
		}
	}
	if seen != len(values) {
		t.Errorf("the table has %d of %d settings", seen, len(values))
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "config.toml")
	if c, err := Load(file, false, env()); err != nil || !cmp.Equal(c, Default()) {
		t.Errorf("without a file: %+v, %v", c, err)
	}
	if _, err := Load(file, true, env()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that must be there: %v", err)
	}
	if c, err := Load("", false, env()); err != nil || !cmp.Equal(c, Default()) {
		t.Errorf("without a place for a file: %+v, %v", c, err)
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("[server]\naddr = \"127.0.0.1:1\"\ndurability = \"full\"\n")
	c, err := Load(file, true, env("SWITCHBOARD_ADDR", "127.0.0.1:2"))
	if err != nil || c.Server.Addr != "127.0.0.1:2" || c.Server.Durability != DurabilityFull {
		t.Errorf("%+v, %v", c, err)
	}
	for text, want := range map[string]string{
		"shim.orphan_after = \"1m\"":                             "shorter than shim.idle_orphan_after",
		"dial.silence = \"0\"":                                   "shorter than 1s",
		"# " + strings.Repeat("x", maxFile):                      "larger than 1 MiB",
		"server.addr = \"127.0.0.1:1\"\nserver.colour = \"red\"": file + ":2:",
	} {
		write(text)
		c, err := Load(file, true, env())
		if err == nil {
			err = c.Check()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v", text, err)
		}
	}
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir, true, env()); err == nil || !strings.Contains(err.Error(), "is no file") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := Load(file, true, env("SWITCHBOARD_DURABILITY", "little")); err == nil {
		t.Error("a bad file and a bad environment were accepted")
	}
}

func TestPaths(t *testing.T) {
	long := "/" + strings.Repeat("x", 90)
	tests := []struct {
		name         string
		dir          Folder
		env          []string
		data, socket string // or an error that contains data
	}{
		{"home", "", []string{"HOME", "/home/x"}, "/home/x/.local/share/switchboard", "/home/x/.local/share/switchboard/run/hub.sock"},
		{"XDG", "", []string{"HOME", "/home/x", "XDG_DATA_HOME", "/data", "XDG_RUNTIME_DIR", "/run/user/1"}, "/data/switchboard", "/run/user/1/switchboard/hub.sock"},
		{"relative XDG", "", []string{"HOME", "/home/x", "XDG_DATA_HOME", "data", "XDG_RUNTIME_DIR", "run"}, "/home/x/.local/share/switchboard", "/home/x/.local/share/switchboard/run/hub.sock"},
		{"chosen", "/d/", []string{"HOME", "/home/x", "XDG_RUNTIME_DIR", "/run/user/1"}, "/d", "/d/run/hub.sock"},
		{"nowhere", "", nil, "--data-dir", ""},
		{"too long", Folder(long), nil, "--data-dir", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p, err := (&Config{Server: Server{DataDir: test.dir}}).FindPaths(env(test.env...))
			if test.socket == "" {
				if err == nil || !strings.Contains(err.Error(), test.data) {
					t.Errorf("%+v, %v", p, err)
				}
				return
			}
			if err != nil || p.DataDir != test.data || p.Socket != test.socket {
				t.Errorf("%+v, %v", p, err)
			}
		})
	}
	if got := File(env("HOME", "/home/x")); got != "/home/x/.config/switchboard/config.toml" {
		t.Error(got)
	}
	if got := File(env("HOME", "/home/x", "XDG_CONFIG_HOME", "/c")); got != "/c/switchboard/config.toml" {
		t.Error(got)
	}
	if got := File(env()); got != "" {
		t.Error(got)
	}
	if got := RulesFile(env("HOME", "/home/x")); got != "/home/x/.config/switchboard/rules.toml" {
		t.Error(got)
	}
	if got := RulesFile(env()); got != "" {
		t.Error(got)
	}
}

// FuzzConfig feeds the reader with anything. What it accepts must keep to the rules of each type; what it refuses must say where.
func FuzzConfig(f *testing.F) {
	for _, seed := range []string{"", whole, "[server]\nport = 1\n", "a = [1, {b = 2}]\n", "[server]\naddr = \"\\U0001F600:1\"\n", "[[server]]\n", "server.addr.x = 1\n", "\xef\xbb\xbf", everyOption} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c := Default()
		err := c.Parse("config.toml", text, "/home/x")
		if err != nil {
			wrong, ok := errors.AsType[*Error](err)
			if !ok || wrong.Reason == "" || wrong.Source != "config.toml" {
				t.Fatalf("the error does not say what is wrong: %#v", err)
			}
			if !cmp.Equal(c, Default()) {
				t.Fatalf("refused with %v, and set all the same: %+v", err, c)
			}
			return
		}
		for _, value := range []interface{ UnmarshalText([]byte) error }{&c.Server.Durability, &c.Claude.PermissionMode} {
			if err := value.UnmarshalText(textOf(value)); err != nil {
				t.Errorf("accepted, but: %v", err)
			}
		}
		if c.Server.Addr != "" {
			if err := new(Address).UnmarshalText([]byte(c.Server.Addr)); err != nil {
				t.Errorf("accepted, but: %v", err)
			}
		}
		folders := []Folder{c.Server.DataDir, c.Claude.Path, c.Rules.File}
		for _, b := range c.Budgets {
			folders = append(folders, b.Folder)
			if b.Name == "" || b.USD < 0 || b.Turns < 0 || b.Wall < 0 || b.Idle < 0 || b.USD == 0 && b.Turns == 0 && b.Wall == 0 && b.Idle == 0 {
				t.Errorf("accepted the budget %+v", b)
			}
		}
		for _, target := range c.Notify.Targets {
			folders = append(folders, target.SecretFile, target.TokenFile)
			if err := new(Link).UnmarshalText([]byte(target.URL)); err != nil {
				t.Errorf("accepted, but: %v", err)
			}
		}
		for _, folder := range folders {
			if folder != "" && !filepath.IsAbs(string(folder)) {
				t.Errorf("accepted the path %q", folder)
			}
		}
		if c.Retention.MaxAge < 0 || c.Retention.MaxBytes < 0 || c.Shim.OrphanAfter < 0 || c.Shim.IdleOrphanAfter < 0 {
			t.Errorf("accepted less than nothing: %+v", c)
		}
	})
}

// textOf returns the text of a value that is kept as text.
func textOf(value any) []byte {
	switch v := value.(type) {
	case *Durability:
		return []byte(*v)
	case *Mode:
		return []byte(*v)
	default:
		return nil
	}
}

// TestDocument holds the table in docs/running.md to ours.
func TestDocument(t *testing.T) {
	document, err := os.ReadFile(filepath.FromSlash("../../docs/running.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range Settings() {
		row := "| `" + s.Key + "` | `" + s.Env + "` | " + s.Default + " | " + s.What + " |\n"
		if !strings.Contains(string(document), row) {
			t.Errorf("docs/running.md has no row for %s; it should be\n%s", s.Key, row)
		}
	}
	for _, m := range Members() {
		table, member := m.Key[:strings.LastIndexByte(m.Key, '.')], m.Key[strings.LastIndexByte(m.Key, '.')+1:]
		row := "| `[[" + table + "]]` | `" + member + "` | " + m.Default + " | " + m.What + " |\n"
		if !strings.Contains(string(document), row) {
			t.Errorf("docs/running.md has no row for %s; it should be\n%s", m.Key, row)
		}
	}
	_, example, _ := strings.Cut(string(document), "```toml\n")
	example, _, found := strings.Cut(example, "```")
	if err := Default().Parse("docs/running.md", []byte(example), "/home/ann"); !found || err != nil {
		t.Errorf("the example in docs/running.md: %v", err)
	}
}
