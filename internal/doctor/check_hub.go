package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
)

// maxSocket is how long the path of a Unix socket may be.
const maxSocket = 99

// The ports that a hub takes the first free one of.
const (
	firstPort = 8765
	lastPort  = 8774
)

// verb returns a command of this program for the data folder that was looked at.
func (m *Machine) verb(words string) string {
	text := quote(m.program()) + " " + words
	if m.ConfigNamed && m.ConfigFile != "" {
		text += " --config " + quote(m.ConfigFile)
	}
	if m.DataDirNamed && m.DataDir != "" {
		text += " --data-dir " + quote(m.DataDir)
	}
	return text
}

func (m *Machine) checkConfig(context.Context) []Finding {
	if m.ConfigErr == nil {
		if m.ConfigFile == "" {
			return []Finding{{State: OK, Found: "defaults: neither HOME nor XDG_CONFIG_HOME is set"}}
		}
		if _, err := m.stat(m.ConfigFile); errors.Is(err, fs.ErrNotExist) {
			return []Finding{{State: OK, Found: "defaults: no " + m.ConfigFile}}
		}
		return []Finding{{State: OK, Found: m.ConfigFile}}
	}
	var found []Finding
	for line := range strings.Lines(m.ConfigErr.Error()) {
		if line = strings.TrimSpace(line); line != "" {
			f := Finding{State: Fail, Found: line}
			if strings.Contains(line, m.ConfigFile) && m.ConfigFile != "" {
				f.Fix = "${EDITOR:-vi} " + quote(m.ConfigFile)
			}
			found = append(found, f)
		}
	}
	return found
}

// stat looks at a file, if that can be done.
func (m *Machine) stat(path string) (File, error) {
	if m.Stat == nil {
		return File{}, fs.ErrNotExist
	}
	return m.Stat(path)
}

func (m *Machine) checkRules(ctx context.Context) []Finding {
	if m.Policy != nil {
		if p, err := m.Policy(ctx); err == nil {
			return []Finding{m.judgeRules(p)}
		}
	}
	// Without a hub only what the last one has left can be told.
	if m.DataDir != "" {
		if _, err := m.stat(filepath.Join(m.DataDir, "rules.confirmed-pending")); err == nil {
			return []Finding{{
				State: Warn, Found: "a change of " + m.RulesFile + " waits for confirmation, and no hub is running",
				Fix: m.verb("serve"),
			}}
		}
	}
	if m.RulesFile == "" {
		return nil
	}
	if _, err := m.stat(m.RulesFile); err != nil {
		return []Finding{{State: OK, Found: "no " + m.RulesFile + ": agents ask as usual"}}
	}
	return []Finding{{State: Skip, Found: m.RulesFile + " is checked by the hub, which isn't running"}}
}

// judgeRules says what the hub's rules come to.
func (m *Machine) judgeRules(p *api.Policy) Finding {
	switch {
	case p.Problem != "":
		return Finding{
			State: Fail, Found: firstLine(p.Problem), Why: "An invalid rules file changes nothing: the old rules apply.",
			Fix: "${EDITOR:-vi} " + quote(m.RulesFile),
		}
	case p.Pending != nil:
		changes := "a change waits"
		if n := len(p.Pending.Widens); n != 1 {
			changes = fmt.Sprintf("%d changes wait", n)
		}
		return Finding{State: Warn, Found: changes + " for confirmation", Fix: m.verb("policy confirm")}
	default:
		n := len(p.Rules)
		return Finding{State: OK, Found: fmt.Sprintf("%d active, nothing waits for confirmation", n)}
	}
}

func (m *Machine) checkRuntime(context.Context) []Finding {
	if m.SocketErr != nil {
		folder, why := `"$HOME/.sb"`, "The system doesn't allow longer socket paths."
		if home := m.Getenv("HOME"); home == "" || len(home)+len("/.sb/run/hub.sock") > maxSocket {
			folder, why = lastingFolder, why+". "+weeksOnly
		}
		return []Finding{{
			State: Fail, Found: firstLine(m.SocketErr.Error()), Why: why, Fix: m.elsewhere(folder),
		}}
	}
	if m.Socket == "" {
		return nil // the settings are at fault, and said to be
	}
	dir := filepath.Dir(m.Socket)
	f := Finding{State: OK, Found: fmt.Sprintf("%s (%d of %d bytes)", m.Socket, len(m.Socket), maxSocket)}
	info, err := m.stat(dir)
	switch {
	case err != nil:
		f.Found += ", created on first start"
	case !info.Mode.IsDir():
		f.State, f.Found, f.Fix = Fail, dir+" isn't a folder", "mv "+quote(dir)+" "+quote(dir+".aside")
	}
	if run := m.Getenv("XDG_RUNTIME_DIR"); run == "" && m.OS == "linux" && !m.DataDirNamed && f.State == OK && strings.HasPrefix(m.Socket, m.DataDir) {
		f.Found += "; XDG_RUNTIME_DIR isn't set, so it is in the data folder"
	}
	return []Finding{f}
}

// program is what a shell calls this program by.
func (m *Machine) program() string {
	if m.Program == "" {
		return "switchboard"
	}
	return m.Program
}

func (m *Machine) checkHub(ctx context.Context) []Finding {
	if m.Hub == nil || m.Socket == "" {
		return nil
	}
	info, err := m.Hub(ctx)
	if errors.Is(err, ErrNoHub) {
		if pid := m.holder(); pid > 0 {
			return []Finding{{
				State: Fail, Found: fmt.Sprintf("process %d has the data folder, but nothing answers on %s", pid, m.Socket),
				Why: "It may be starting, making a backup, or listening elsewhere; if it hangs, kill -9 loses nothing.",
				Fix: m.restart(ctx),
			}}
		}
		return []Finding{{State: Skip, Found: "not running; switchboard run starts it automatically", Fix: m.verb("serve")}}
	}
	if err != nil {
		return []Finding{{
			State: Fail, Found: firstLine(err.Error()), Why: "What listens there isn't this user's hub, or has a problem.", Fix: m.verb("serve --log-level debug"),
		}}
	}
	found := []Finding{{
		State: OK, Found: fmt.Sprintf("version %s on %s", info.Version, m.Socket),
		Data: map[string]any{"version": info.Version, "socket": m.Socket, "pid": m.holder(), "agent": info.Agent, "agent_version": info.AgentVersion},
	}}
	if pid := m.holder(); pid > 0 {
		found[0].Found += fmt.Sprintf(", process %d", pid)
	}
	if info.Version != m.Version {
		found[0].State, found[0].Found = Warn, found[0].Found+"; this program is "+m.Version
		found[0].Why, found[0].Fix = "A hub keeps its version until it is restarted; agents survive that.", m.restart(ctx)
	}
	agent := "agents run " + info.Agent
	switch {
	case info.Simulated:
		agent = "agents are simulated"
	case info.AgentVersion != "":
		agent += ", version " + info.AgentVersion
	}
	if info.Agent != "" || info.Simulated {
		found = append(found, Finding{State: OK, What: "hub's agent", Found: agent})
	}
	for _, warning := range info.Warnings {
		found = append(found, Finding{State: Warn, What: "hub warning", Found: firstLine(warning), Why: "The hub reports it in /v1/info too."})
	}
	if info.Storage != "" {
		found = append(found, Finding{State: Fail, What: "hub storage", Found: firstLine(info.Storage), Why: "Agents wait until it can be written again.", Fix: "df -h " + quote(m.DataDir)})
	}
	return found
}

// holder returns the process that has the data folder.
func (m *Machine) holder() int {
	if m.Holder == nil {
		return 0
	}
	return m.Holder()
}

// running says whether a hub is there, well or not.
func (m *Machine) running(ctx context.Context) bool {
	if m.Hub == nil || m.Socket == "" {
		return false
	}
	_, err := m.Hub(ctx)
	return !errors.Is(err, ErrNoHub)
}

// namedPort looks at the address that the settings name. While a hub runs that is its own, and may speak TLS, by which no program could be recognized.
func (m *Machine) namedPort(ctx context.Context) Finding {
	f := Finding{State: OK, Found: "the settings name " + m.Address}
	host, name, err := net.SplitHostPort(m.Address)
	number, numberErr := strconv.Atoi(name)
	if err != nil || numberErr != nil || number <= 0 || m.running(ctx) {
		return f
	}
	switch host {
	case "", "0.0.0.0", "::", "127.0.0.1", "localhost":
	default:
		return f // another machine's, perhaps
	}
	if m.Port(ctx, number) != PortFree {
		f.State, f.Found, f.Fix = Fail, f.Found+", used by another program", m.verb("serve --addr 127.0.0.1:0")
	}
	return f
}

func (m *Machine) checkPorts(ctx context.Context) []Finding {
	if m.Port == nil {
		return nil
	}
	if m.Address != "" {
		return []Finding{m.namedPort(ctx)}
	}
	hubs, others := []string{}, []string{}
	free := 0
	for port := firstPort; port <= lastPort; port++ {
		switch m.Port(ctx, port) {
		case PortHub:
			hubs = append(hubs, fmt.Sprint(port))
		case PortOther:
			others = append(others, fmt.Sprint(port))
		case PortFree:
			if free == 0 {
				free = port
			}
		}
	}
	f := Finding{State: OK, Data: map[string]any{"hubs": hubs, "others": others}}
	switch {
	case len(hubs) > 0:
		f.Found = "hub on " + strings.Join(hubs, ", ")
	case free > 0:
		f.Found = fmt.Sprintf("%d is free", free)
	default:
		f.State, f.Found = Fail, fmt.Sprintf("all from %d to %d are used by other programs", firstPort, lastPort)
		f.Fix = m.verb("serve --addr 127.0.0.1:0")
	}
	if len(others) > 0 && f.State == OK {
		f.Found += "; other programs on " + strings.Join(others, ", ")
	}
	return []Finding{f}
}
