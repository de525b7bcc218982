package doctor

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
)

// tooOld says that a version is older than any that our own tests know.
func tooOld(v wire.Version) bool { return !v.AtLeast(2, 1, 37) }

// dialsVendorOnly reports whether a version connects to its vendor's servers only, whatever --sdk-url says.
func dialsVendorOnly(v wire.Version) bool { return v.AtLeast(2, 1, 121) }

// hasAuth says that a version is known to have the verb auth; older ones may have it, too.
func hasAuth(v wire.Version) bool { return v.AtLeast(2, 1, 120) }

// install is the command that brings a Claude Code.
const install = "npm install -g @anthropic-ai/claude-code"

// A Transport is a way to talk to a Claude Code.
type Transport struct {
	// Name is stdio, sdk-url or hybrid.
	Name string `json:"name"`
	// Usable says that this version can do it, Why why not.
	Usable bool   `json:"usable"`
	Why    string `json:"why,omitempty"`
}

// Transports returns the ways to talk to a version, and why some are closed.
func Transports(v wire.Version) []Transport {
	all := []Transport{{Name: "stdio", Usable: true}, {Name: "sdk-url"}, {Name: "hybrid"}}
	for i := range all[1:] {
		t := &all[i+1]
		switch {
		case v.IsZero():
			t.Why = "unknown version"
		case dialsVendorOnly(v):
			t.Why = "since 2.1.121 it connects only to its vendor's servers"
		default:
			t.Usable = true
		}
	}
	return all
}

// clis returns the CLIs, looked for once.
func (m *Machine) clis(ctx context.Context) ([]CLI, bool) {
	if m.CLIs == nil {
		return nil, false
	}
	return m.CLIs(ctx), true
}

// simulated says that the settings name the simulated agent.
func (m *Machine) simulated() bool { return m.Agent == "sim" }

func (m *Machine) checkCLIs(ctx context.Context) []Finding {
	clis, ok := m.clis(ctx)
	if !ok {
		return nil
	}
	var found []Finding
	for i, cli := range clis {
		f := Finding{What: "Claude Code " + cli.Path, State: OK, Data: map[string]any{"path": cli.Path, "version": cli.Version.String()}}
		place := "used for agents"
		if i > 0 {
			place = "not used: " + clis[0].Path + " comes first"
		}
		if m.simulated() {
			place = "not used: the settings name the simulated agent"
		}
		switch {
		case cli.Err != nil:
			f.State, f.Found = Fail, "can't be used: "+firstLine(cli.Err.Error())
			if i > 0 || m.simulated() {
				f.State = Warn
			}
			f.Fix = install
			for _, other := range clis {
				if other.Err == nil && !m.simulated() {
					f.Fix = "export SWITCHBOARD_CLAUDE_PATH=" + quote(other.Path)
					break
				}
			}
			if cli.Script {
				f.Why = "This is a script that needs Node.js; newer versions don't."
			}
		case tooOld(cli.Version):
			f.State, f.Found = Warn, "version "+cli.Version.String()+", older than any tested version; "+place
			f.Why, f.Fix = "Old versions may behave differently.", quote(cli.Path)+" update"
		default:
			f.Found = "version " + cli.Version.String() + ", " + place
		}
		found = append(found, f)
	}
	if len(found) == 0 {
		f := Finding{State: Fail, Found: "none on PATH or in the usual folders", Fix: install}
		if m.simulated() {
			f.State = Skip
			f.Found += "; the settings name the simulated agent"
		}
		found = append(found, f)
	}
	return found
}

func (m *Machine) checkTransports(ctx context.Context) []Finding {
	clis, _ := m.clis(ctx)
	var found []Finding
	for _, cli := range clis {
		if cli.Err != nil {
			continue
		}
		transports := Transports(cli.Version)
		var can, not []string
		for _, t := range transports {
			name := map[string]string{"stdio": "standard input and output", "sdk-url": "dial-in (--sdk-url)", "hybrid": "dial-in with HTTP POST"}[t.Name]
			if t.Usable {
				can = append(can, name)
			} else if !slices.Contains(not, t.Why) {
				not = append(not, t.Why)
			}
		}
		text := strings.Join(can, ", ")
		if len(not) > 0 {
			text += "; no dial-in: " + strings.Join(not, "; ")
		}
		found = append(found, Finding{
			State: OK, What: "ways to talk to " + cli.Path, Found: text,
			Data: map[string]any{"path": cli.Path, "version": cli.Version.String(), "transports": transports},
		})
	}
	return found
}

func (m *Machine) checkLogin(ctx context.Context) []Finding {
	if m.simulated() {
		return []Finding{{State: Skip, Found: "the simulated agent needs none"}}
	}
	// Only whether they are there: their content is for the CLI alone.
	set := func(names ...string) string {
		for _, name := range names {
			if m.Getenv(name) != "" {
				return name
			}
		}
		return ""
	}
	if name := set("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"); name != "" {
		return []Finding{{State: OK, Found: name + " is set: cloud credentials are used"}}
	}
	if name := set("CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_AUTH_TOKEN"); name != "" {
		return []Finding{{State: OK, Found: name + " is set"}}
	}
	key := set("ANTHROPIC_API_KEY")
	if key != "" && m.UseAPIBilling {
		return []Finding{{State: OK, Found: key + " is set, and the settings pass it to agents"}}
	}
	file := m.credentials()
	if file != "" && m.Stat != nil {
		if info, err := m.Stat(file); err == nil {
			f := Finding{State: OK, Found: file + " exists"}
			if info.Mode.Perm()&0o077 != 0 && m.OS != "windows" {
				f.State, f.Found = Warn, fmt.Sprintf("%s exists, and others can read it (%04o)", file, info.Mode.Perm())
				f.Why, f.Fix = "Anyone who can read it can use your account.", "chmod 600 "+quote(file)
			}
			return []Finding{f}
		}
	}
	if key != "" {
		return []Finding{{
			State: Warn, Found: "only " + key + " is set, which agents don't get unless the settings say so",
			Why: "An agent that isn't logged in fails in its first turn.", Fix: "export SWITCHBOARD_CLAUDE_USE_API_BILLING=true",
		}}
	}
	if m.OS == "darwin" {
		return []Finding{{State: Skip, Found: "may be in the keychain, which isn't checked; see claude auth status"}}
	}
	f := Finding{State: Warn, Found: "no token in the environment", Fix: "claude"}
	if file != "" {
		f.Found = "no " + file + ", and " + f.Found
	}
	clis, _ := m.clis(ctx)
	for _, cli := range clis {
		if cli.Err == nil {
			f.Fix = quote(cli.Path) // its first start asks
			if hasAuth(cli.Version) {
				f.Fix += " auth login"
			}
			return []Finding{f}
		}
	}
	return []Finding{{State: Skip, Found: "no Claude Code to log in with"}}
}

// credentials returns the file that the CLI keeps its login in, where it is a file.
func (m *Machine) credentials() string {
	if dir := m.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return filepath.Join(dir, ".credentials.json")
	}
	home := m.Getenv("HOME")
	if m.OS == "windows" {
		home = m.Getenv("USERPROFILE")
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".claude", ".credentials.json")
}

// firstLine returns what stands in the first line of a text.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
