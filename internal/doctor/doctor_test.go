package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/launch"
	"github.com/switchboard-dev/switchboard/internal/trust"
	"github.com/switchboard-dev/switchboard/wire"
)

// A files is a file system: modes by path; "1000" or another number before the mode is the owner.
type files map[string]File

func (f files) stat(name string) (File, error) {
	if file, ok := f[name]; ok {
		return file, nil
	}
	return File{}, &fs.PathError{Op: "lstat", Path: name, Err: fs.ErrNotExist}
}

func (f files) list(dir string) ([]string, error) {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if path.Dir(name) == dir {
			names = append(names, path.Base(name))
		}
	}
	return names, nil
}

func folder(mode fs.FileMode) File { return File{Mode: fs.ModeDir | mode, UID: 1000} }
func plain(mode fs.FileMode) File  { return File{Mode: mode, UID: 1000} }

// healthy is a machine on which all is well.
func healthy() *Machine {
	env := map[string]string{"HOME": "/home/ann", "XDG_RUNTIME_DIR": "/run/user/1000", "TERM": "xterm-256color", "LANG": "en_US.UTF-8"}
	tree := files{
		"/home/ann/.local/share/switchboard":             folder(0o700),
		"/home/ann/.local/share/switchboard/journal.db":  plain(0o600),
		"/home/ann/.local/share/switchboard/admin.token": plain(0o600),
		"/home/ann/.local/share/switchboard/run":         folder(0o700),
		"/run/user/1000/switchboard":                     folder(0o700),
		"/run/user/1000/switchboard/hub.sock":            plain(fs.ModeSocket | 0o600),
		"/home/ann/.config/switchboard":                  folder(0o755),
		"/home/ann/.config/switchboard/config.toml":      plain(0o644),
		"/home/ann/.claude/.credentials.json":            plain(0o600),
	}
	return &Machine{
		Version: "v1.2.3", OS: "linux", UID: 1000, Getenv: func(name string) string { return env[name] },
		Terminal:   Terminal{Is: true, Cols: 120, Rows: 40, Color: true},
		ConfigFile: "/home/ann/.config/switchboard/config.toml", RulesFile: "/home/ann/.config/switchboard/rules.toml",
		DataDir: "/home/ann/.local/share/switchboard", Socket: "/run/user/1000/switchboard/hub.sock",
		Stat: tree.stat, List: tree.list,
		Volume: func(string) (Volume, error) { return Volume{Type: "ext4", Free: 200 << 30}, nil },
		CLIs: func(context.Context) []CLI {
			return []CLI{
				{Path: "/home/ann/.local/bin/claude", Version: wire.Version{Major: 2, Minor: 1, Patch: 325}},
				{Path: "/usr/local/bin/claude", Version: wire.Version{Major: 2, Minor: 1, Patch: 120}},
			}
		},
		Hub: func(context.Context) (*api.Info, error) {
			return &api.Info{Version: "v1.2.3", Agent: "/home/ann/.local/bin/claude", AgentVersion: "2.1.325"}, nil
		},
		Holder:      func() int { return 4711 },
		SandboxMode: "auto",
		Sandbox: func(context.Context) *launch.SandboxCheck {
			return &launch.SandboxCheck{
				Enforcers: []launch.EnforcerCheck{{Name: "bubblewrap", DenyOnly: true, Strict: true}, {Name: "landlock", Strict: true, Why: "it can't hide paths"}},
				DenyOnly:  "bubblewrap", Strict: "bubblewrap",
			}
		},
		Policy: func(context.Context) (*api.Policy, error) { return &api.Policy{Rules: make([]api.PolicyRule, 12)}, nil },
		Port: func(_ context.Context, port int) Port {
			if port == 8765 {
				return PortHub
			}
			return PortFree
		},
		Journal: func(context.Context) (*Journal, error) {
			return &Journal{Size: 12 << 20, Sessions: 31, Entries: 40_000, Checked: true}, nil
		},
		Runs: func() ([]launch.RunFolder, error) {
			return []launch.RunFolder{{Name: "s1-1", PID: 7, Alive: true}}, nil
		},
		Command: func(_ context.Context, name string, args ...string) (string, error) {
			if name == "loginctl" {
				return "yes\n", nil
			}
			return "RestrictNamespaces=no\nProtectKernelTunables=no\nProcSubset=all\nKillMode=process\nLoadState=loaded\nActiveState=active\nFragmentPath=/home/ann/.config/systemd/user/switchboard.service\n", nil
		},
	}
}

// broken is a machine on which hardly anything is.
func broken() *Machine {
	m := healthy()
	env := map[string]string{"HOME": "/home/ann", "TERM": "dumb", "ANTHROPIC_API_KEY": "made up, and never to be shown"}
	m.Getenv = func(name string) string { return env[name] }
	m.Terminal = Terminal{Is: true, Cols: 60, Rows: 20, ASCII: true}
	m.ConfigErr = errors.Join(errors.New("/home/ann/.config/switchboard/config.toml:3:1: there is no setting claude.modle"), errors.New("SWITCHBOARD_ADDR: no port"))
	m.SecretFiles = []string{"/home/ann/key file"}
	tree := files{
		"/home/ann/.local/share/switchboard":                         folder(0o755),
		"/home/ann/.local/share/switchboard/journal.db":              plain(0o644),
		"/home/ann/.local/share/switchboard/admin.token":             {Mode: 0o600, UID: 0},
		"/home/ann/.local/share/switchboard/rules.confirmed-pending": plain(0o600),
		"/run/user/1000/switchboard":                                 folder(0o777),
		"/run/user/1000/switchboard/hub.sock":                        plain(fs.ModeSocket | 0o600),
		"/home/ann/.config/switchboard":                              folder(0o775),
		"/home/ann/.config/switchboard/config.toml":                  plain(0o666),
		"/home/ann/key file":                                         plain(0o640),
	}
	m.Stat, m.List = tree.stat, tree.list
	m.Volume = func(string) (Volume, error) { return Volume{Type: "nfs", Network: true, Free: 50 << 20}, nil }
	m.CLIs = func(context.Context) []CLI {
		return []CLI{
			{Path: "/opt/claude/cli.js", Script: true, Err: errors.New(`/opt/claude/cli.js needs "node", which is not in PATH`)},
			{Path: "/usr/bin/claude", Version: wire.Version{Major: 2, Minor: 0, Patch: 1}},
		}
	}
	m.Hub = func(context.Context) (*api.Info, error) { return nil, ErrNoHub }
	m.Policy = func(context.Context) (*api.Policy, error) { return nil, ErrNoHub }
	m.Port = func(context.Context, int) Port { return PortOther }
	m.Journal = func(context.Context) (*Journal, error) {
		return &Journal{Size: 1 << 20, Checked: true, Wrong: []string{"database disk image is malformed"}}, nil
	}
	m.Sandbox = noSandboxes
	m.Runs = func() ([]launch.RunFolder, error) {
		return []launch.RunFolder{{Name: "s1-1", PID: 7, Alive: true}, {Name: "s2-1", PID: 8}, {Name: "s3-1"}}, nil
	}
	m.Command = func(_ context.Context, name string, _ ...string) (string, error) {
		switch name {
		case "loginctl":
			return "no\n", nil
		case "bwrap":
			return "", exec.ErrNotFound
		}
		return "RestrictNamespaces=yes\nProtectKernelTunables=yes\nProcSubset=pid\nKillMode=control-group\nLoadState=loaded\nActiveState=active\n", nil
	}
	return m
}

// noSandboxes is a machine without one.
func noSandboxes(context.Context) *launch.SandboxCheck {
	why := "bubblewrap isn't installed"
	return &launch.SandboxCheck{Enforcers: []launch.EnforcerCheck{{Name: "bubblewrap", Why: why}}, DenyOnly: none, Strict: none, Why: why}
}

// TestReports compares what people and programs see of both machines.
func TestReports(t *testing.T) {
	for name, m := range map[string]*Machine{"healthy": healthy(), "broken": broken()} {
		t.Run(name, func(t *testing.T) {
			r := Run(t.Context(), m)
			if r.OK != (name == "healthy") {
				t.Errorf("ok is %v", r.OK)
			}
			var text bytes.Buffer
			if err := Draw(&text, r, DrawOptions{}); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".txt", text.Bytes())
			encoded, err := json.MarshalIndent(r, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+".json", append(encoded, '\n'))
			if strings.Contains(text.String()+string(encoded), "made up") {
				t.Error("a secret is shown")
			}
			for _, f := range r.Findings {
				bad := f.State == Warn || f.State == Fail
				if f.What == "" || f.Found == "" || bad != (f.Why != "") || f.State == Fail && f.Fix == "" && f.ID != "config" {
					t.Errorf("%+v: what, found, why and the command are not as the state wants them", f)
				}
				if f.Fix != "" {
					shell(t, f.Fix)
				}
			}
		})
	}
}

// shell has a shell read a command without running it.
func shell(t *testing.T, command string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "sh", "-n", "-c", command).CombinedOutput(); err != nil {
		t.Errorf("no shell takes %q: %v\n%s", command, err, out)
	}
}

// golden compares with a file.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is different (go test -update writes it anew):\n%s", name, got)
	}
}

// TestChecks tries one thing at a time, on a machine that is well otherwise.
func TestChecks(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Machine)
		id     string
		state  State
		words  string // in what was found
		fix    string
	}{
		{"no claude", func(m *Machine) { m.CLIs = func(context.Context) []CLI { return nil } }, "claude", Fail, "none", "npm install"},
		{"none but the simulated one", func(m *Machine) { m.Agent = "sim"; m.CLIs = func(context.Context) []CLI { return nil } }, "claude", Skip, "simulated", ""},
		{"the first cannot be used", func(m *Machine) {
			m.CLIs = func(context.Context) []CLI {
				return []CLI{{Path: "/b", Err: errors.New("no")}, {Path: "/a/claude", Version: wire.Version{Major: 2, Minor: 1, Patch: 40}}}
			}
		}, "claude", Fail, "can't be used", "SWITCHBOARD_CLAUDE_PATH=/a/claude"},
		{"the second cannot be used", func(m *Machine) {
			m.CLIs = func(context.Context) []CLI {
				return []CLI{{Path: "/a/claude", Version: wire.Version{Major: 2, Minor: 1, Patch: 40}}, {Path: "/b", Err: errors.New("no")}}
			}
		}, "claude", Warn, "can't be used", ""},
		{"dials in", func(m *Machine) {
			m.CLIs = func(context.Context) []CLI {
				return []CLI{{Path: "/a/claude", Version: wire.Version{Major: 2, Minor: 1, Patch: 120}}}
			}
		}, "transports", OK, "dial-in (--sdk-url), dial-in with HTTP POST", ""},
		{"dials nobody", nil, "transports", OK, "no dial-in: since 2.1.121", ""},
		{"not logged in", func(m *Machine) { m.Stat = files{}.stat }, "login", Warn, "no /home/ann/.claude/.credentials.json", "claude auth login"},
		{"logged in by a token", env("CLAUDE_CODE_OAUTH_TOKEN", "x"), "login", OK, "CLAUDE_CODE_OAUTH_TOKEN is set", ""},
		{"a cloud", env("CLAUDE_CODE_USE_BEDROCK", "1"), "login", OK, "CLAUDE_CODE_USE_BEDROCK", ""},
		{"a key for agents", func(m *Machine) { env("ANTHROPIC_API_KEY", "x")(m); m.UseAPIBilling = true }, "login", OK, "pass it to agents", ""},
		{"a key that agents do not get", func(m *Machine) { env("ANTHROPIC_API_KEY", "x")(m); m.Stat = files{}.stat }, "login", Warn, "ANTHROPIC_API_KEY", "USE_API_BILLING"},
		{"another folder", env("CLAUDE_CONFIG_DIR", "/elsewhere"), "login", Warn, "/elsewhere/.credentials.json", "auth login"},
		{"a keychain", func(m *Machine) { m.OS = "darwin"; m.Stat = files{}.stat }, "login", Skip, "keychain", ""},
		{"no home", func(m *Machine) { env("HOME", "")(m); m.Stat = files{}.stat }, "login", Warn, "no token in the environment", "claude auth login"},
		{"Windows", func(m *Machine) {
			env("USERPROFILE", "/users/ann")(m)
			m.OS, m.Stat = "windows", files{"/users/ann/.claude/.credentials.json": plain(0o666)}.stat
		}, "login", OK, "/users/ann/.claude/.credentials.json exists", ""},
		{"credentials for all", func(m *Machine) { mode(m, "/home/ann/.claude/.credentials.json", plain(0o644)) }, "login", Warn, "0644", "chmod 600 /home/ann/.claude/.credentials.json"},
		{"no settings", func(m *Machine) { m.Stat = files{}.stat }, "config", OK, "defaults", ""},
		{"rules wait", func(m *Machine) {
			m.Policy = func(context.Context) (*api.Policy, error) {
				return &api.Policy{Pending: &api.PolicyChange{Sum: "abc", Widens: []string{"a", "b"}}}, nil
			}
		}, "rules", Warn, "2 changes wait", "switchboard policy confirm"},
		{"rules are wrong", func(m *Machine) {
			m.Policy = func(context.Context) (*api.Policy, error) { return &api.Policy{Problem: "line 3: no such thing"}, nil }
		}, "rules", Fail, "line 3", "rules.toml"},
		{"a long path, and a long home", func(m *Machine) {
			env("HOME", "/"+strings.Repeat("h", 90))(m)
			m.SocketErr, m.Socket = errors.New("too long"), ""
		}, "runtime", Fail, "too long", `"$(mktemp -d /var/tmp/sb-XXXXXX)"`},
		{"a long path", func(m *Machine) { m.SocketErr = errors.New("too long"); m.Socket = "" }, "runtime", Fail, "too long", `export SWITCHBOARD_DATA_DIR="$HOME/.sb" && switchboard serve`},
		{"no folder", func(m *Machine) { mode(m, "/run/user/1000/switchboard", plain(0o600)) }, "runtime", Fail, "isn't a folder", "mv"},
		{"another version", func(m *Machine) { m.Version = "v1.2.4" }, "hub", Warn, "this program is v1.2.4", "systemctl --user restart switchboard.service"},
		{"another version, by hand", func(m *Machine) { m.Version = "v1.2.4"; m.Command = nil }, "hub", Warn, "v1.2.4", "kill 4711; while"},
		{"a hub that hangs", func(m *Machine) {
			m.Hub = func(context.Context) (*api.Info, error) { return nil, ErrNoHub }
			m.Command = nil
		}, "hub", Fail, "process 4711", "kill 4711; while kill -0 4711"},
		{"no hub", func(m *Machine) {
			m.Hub, m.Holder = func(context.Context) (*api.Info, error) { return nil, ErrNoHub }, nil
			m.DataDirNamed, m.DataDir = true, "/tmp/my data"
		}, "hub", Skip, "not running", "switchboard serve --data-dir '/tmp/my data'"},
		{"somebody else's hub", func(m *Machine) {
			m.Hub = func(context.Context) (*api.Info, error) { return nil, errors.New("the socket belongs to user 0") }
		}, "hub", Fail, "user 0", "serve"},
		{"a hub that cannot write", func(m *Machine) {
			m.Hub = func(context.Context) (*api.Info, error) {
				return &api.Info{Version: m.Version, Storage: "disk full", Warnings: []string{"open relay"}}, nil
			}
		}, "hub", Fail, "disk full", "df -h"},
		{"no sandbox", func(m *Machine) {
			m.Sandbox, m.Command = noSandboxes, nil
		}, "sandbox", Warn, "NONE", "apt-get install bubblewrap"},
		{"no sandbox, which the settings ask for", func(m *Machine) { m.Sandbox, m.SandboxMode = noSandboxes, "strict" }, "sandbox", Fail, "NONE", "switchboard sandbox check"},
		{"no sandbox but a strict one, which the settings ask for", func(m *Machine) {
			m.SandboxMode, m.Sandbox = "strict", func(context.Context) *launch.SandboxCheck {
				return &launch.SandboxCheck{DenyOnly: none, Strict: "landlock"}
			}
		}, "sandbox", OK, "strict by landlock", ""},
		{"a sandbox is not wanted", func(m *Machine) { m.Sandbox, m.SandboxMode = noSandboxes, "off" }, "sandbox", Skip, "off", ""},
		{"a service without namespaces", func(m *Machine) {
			m.Command = func(context.Context, string, ...string) (string, error) {
				return "LoadState=loaded\nActiveState=active\nKillMode=process\nRestrictNamespaces=cgroup ipc\n", nil
			}
		}, "service", Warn, "RestrictNamespaces", `printf '[Service]\nRestrictNamespaces=no\n'`},
		{"a port of our own", func(m *Machine) { m.Address = "127.0.0.1:9000" }, "port", OK, "127.0.0.1:9000", ""},
		{"a port of our own that is taken", func(m *Machine) {
			m.Address, m.Holder = "0.0.0.0:9000", nil
			m.Hub = func(context.Context) (*api.Info, error) { return nil, ErrNoHub }
			m.Port = func(_ context.Context, port int) Port { return map[int]Port{9000: PortOther}[port] }
		}, "port", Fail, "0.0.0.0:9000, used by another program", "switchboard serve --addr 127.0.0.1:0"},
		{"a port of our own, with TLS", func(m *Machine) {
			m.Address, m.Port = "127.0.0.1:9000", func(context.Context, int) Port { return PortOther }
		}, "port", OK, "127.0.0.1:9000", ""},
		{"another machine's port", func(m *Machine) {
			m.Address, m.Holder = "192.0.2.1:9000", nil
			m.Hub = func(context.Context) (*api.Info, error) { return nil, ErrNoHub }
			m.Port = func(context.Context, int) Port { return PortOther }
		}, "port", OK, "192.0.2.1:9000", ""},
		{"others on some ports", func(m *Machine) {
			m.Port = func(_ context.Context, port int) Port {
				if port == 8765 {
					return PortOther
				}
				return PortFree
			}
		}, "port", OK, "8766 is free; other programs on 8765", ""},
		{"a file for all", func(m *Machine) { mode(m, "/home/ann/.local/share/switchboard/journal.db", plain(0o640)) }, "modes", Fail, "0640", "chmod go-rwx /home/ann/.local/share/switchboard/journal.db"},
		{"a name for terminals", func(m *Machine) { mode(m, "/home/ann/.local/share/switchboard/\x1b[31m", plain(0o640)) }, "modes", Fail, "0640", `printf '\057`},
		{"a link", func(m *Machine) { mode(m, "/home/ann/.local/share/switchboard/link", plain(fs.ModeSymlink|0o777)) }, "modes", OK, "private to you", ""},
		{"a linked journal", func(m *Machine) {
			mode(m, "/home/ann/.local/share/switchboard/journal.db", plain(fs.ModeSymlink|0o777))
		}, "modes", Fail, "symbolic link", "cp -pL /home/ann/.local/share/switchboard/journal.db "},
		{"a linked data folder", func(m *Machine) {
			mode(m, "/home/ann/.local/share/switchboard", plain(fs.ModeSymlink|0o777))
			mode(m, "/home/ann/.local/share/switchboard/journal.db", plain(0o644))
		}, "modes", Fail, "0644", "chmod go-rwx /home/ann/.local/share/switchboard/journal.db"},
		{"a folder above that others can write", func(m *Machine) {
			m.Trust = func(dir string) error {
				if dir != "/home/ann/.config/switchboard" {
					return nil
				}
				return &trust.Error{Path: "/home/ann/.config", Reason: "this folder can be written to by every user", Command: "chmod go-w /home/ann/.config"}
			}
		}, "modes", Fail, "every user", "chmod go-w /home/ann/.config"},
		{"a folder above of another user", func(m *Machine) {
			m.Trust = func(dir string) error {
				if dir != m.DataDir {
					return nil
				}
				return &trust.Error{Path: "/home/ann/.local", Reason: "this folder belongs to another user (uid 7)"}
			}
		}, "modes", Fail, "uid 7", "export SWITCHBOARD_DATA_DIR="},
		{"a folder that cannot be looked at", func(m *Machine) {
			m.Trust = func(string) error { return fs.ErrPermission }
		}, "modes", Fail, "permission denied", ""},
		{"a loss", func(m *Machine) {
			m.Journal = func(context.Context) (*Journal, error) {
				return &Journal{Size: 9 << 20, Checked: true, Lost: []string{"the journal has lost entries: frame 7"}}, nil
			}
		}, "journal", Warn, "frame 7", ""},
		{"a link of somebody else", func(m *Machine) {
			mode(m, "/home/ann/.local/share/switchboard/link", File{Mode: fs.ModeSymlink | 0o777, UID: 1001})
		}, "modes", Fail, "user 1001", "sudo chown -h 1000 "},
		{"a rule file of root", func(m *Machine) { mode(m, "/home/ann/.config/switchboard/rules.toml", File{Mode: 0o644}) }, "modes", OK, "private to you", ""},
		{"little room", func(m *Machine) { m.Volume = func(string) (Volume, error) { return Volume{Free: 500 << 20}, nil } }, "disk", Warn, "500.0 MiB", "du"},
		{"no folder yet", func(m *Machine) {
			m.Volume = func(path string) (Volume, error) {
				if path == "/home" {
					return Volume{Free: 1 << 40}, nil
				}
				return Volume{}, fs.ErrNotExist
			}
		}, "disk", OK, "1.0 TiB", ""},
		{"a large journal", func(m *Machine) {
			m.Journal = func(context.Context) (*Journal, error) {
				return &Journal{Size: 9 << 30, Unchecked: "it is too large"}, nil
			}
		}, "journal", Warn, "not checked: it is too large", "${EDITOR:-vi} /home/ann/.config/switchboard/config.toml"},
		{"no journal", func(m *Machine) {
			m.Journal = func(context.Context) (*Journal, error) { return nil, fs.ErrNotExist }
		}, "journal", Skip, "none yet", ""},
		{"no service", func(m *Machine) {
			m.Command = func(context.Context, string, ...string) (string, error) { return "LoadState=not-found\n", nil }
		}, "service", Skip, "isn't installed", ""},
		{"no systemd", func(m *Machine) { m.Command = nil }, "linger", Skip, "no systemd", ""},
		{"a pipe", func(m *Machine) { m.Terminal = Terminal{} }, "terminal", Skip, "not a terminal", ""},
		{"a small one", func(m *Machine) { m.Terminal.Cols = 70 }, "terminal", Warn, "70×40", "printf"},
		{"no UTF-8", func(m *Machine) { m.Terminal.ASCII = true; env("LC_ALL", "C")(m) }, "terminal", Warn, "the locale C", "LC_ALL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := healthy()
			if c.change != nil {
				c.change(m)
			}
			r := Run(t.Context(), m)
			at := slices.IndexFunc(r.Findings, func(f Finding) bool {
				return f.ID == c.id && f.State == c.state && strings.Contains(f.Found, c.words) && strings.Contains(f.Fix, c.fix)
			})
			if at < 0 {
				t.Errorf("there is no finding %s %s with %q and %q in:\n%s", c.id, c.state, c.words, c.fix, show(r))
			}
			if want := c.state != Fail; r.OK != want {
				t.Errorf("ok is %v in:\n%s", r.OK, show(r))
			}
		})
	}
}

// show writes the findings that are not well, and those of the check at hand.
func show(r *Report) string {
	var b strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s %s %q %q\n", f.ID, f.State, f.Found, f.Fix)
	}
	return b.String()
}

// env returns a change that sets a variable.
func env(name, value string) func(*Machine) {
	return func(m *Machine) {
		before := m.Getenv
		m.Getenv = func(asked string) string {
			if asked == name {
				return value
			}
			return before(asked)
		}
	}
}

// mode changes a file.
func mode(m *Machine, name string, file File) {
	stat, list := m.Stat, m.List
	m.Stat = func(asked string) (File, error) {
		if asked == name {
			return file, nil
		}
		return stat(asked)
	}
	m.List = func(dir string) ([]string, error) {
		names, err := list(dir)
		if path.Dir(name) == dir && !slices.Contains(names, path.Base(name)) {
			names = append(names, path.Base(name))
		}
		return names, err
	}
}

// TestManyFiles sums up what would be a thousand findings.
func TestManyFiles(t *testing.T) {
	m := healthy()
	tree := files{m.DataDir: folder(0o700)}
	for i := range 300 {
		tree[fmt.Sprintf("%s/f%03d", m.DataDir, i)] = plain(0o644)
	}
	m.Stat, m.List = tree.stat, tree.list
	r := Run(t.Context(), m)
	n := 0
	for _, f := range r.Findings {
		if f.ID == "modes" {
			n++
			shell(t, f.Fix)
		}
	}
	if n != maxNamed+1 {
		t.Errorf("%d findings", n)
	}
}

// TestEmptyMachine shows that whatever cannot be asked is left out.
func TestEmptyMachine(t *testing.T) {
	r := Run(t.Context(), &Machine{Getenv: func(string) string { return "" }, OS: "plan9"})
	if !r.OK || len(r.Findings) == 0 {
		t.Errorf("ok is %v: %s", r.OK, show(r))
	}
}

// TestRestartSparesAgents has a service with which systemd would end all agents: the command that restarts the hub changes that first.
func TestRestartSparesAgents(t *testing.T) {
	m := healthy()
	m.Version = "v1.2.4"
	m.Command = func(context.Context, string, ...string) (string, error) {
		return "KillMode=control-group\nLoadState=loaded\nActiveState=active\n", nil
	}
	fix := m.checkHub(t.Context())[0].Fix
	mode, restart := strings.Index(fix, "KillMode=process"), strings.Index(fix, "daemon-reload && systemctl --user restart switchboard.service")
	if mode < 0 || restart < mode {
		t.Errorf("%s", fix)
	}
}
