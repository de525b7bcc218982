package doctor

import (
	"context"
	"fmt"
	"strings"
)

// unit is the name of our service.
const unit = "switchboard.service"

func (m *Machine) checkRuns(ctx context.Context) []Finding {
	if m.Runs == nil || m.DataDir == "" {
		return nil
	}
	runs, err := m.Runs()
	if err != nil {
		return []Finding{{State: Skip, Found: firstLine(err.Error())}}
	}
	var alive, dead int
	var pids []string
	for _, run := range runs {
		if run.Alive {
			alive++
			pids = append(pids, fmt.Sprint(run.PID))
		} else {
			dead++
		}
	}
	running := m.running(ctx)
	var found []Finding
	if alive > 0 && !running {
		found = append(found, Finding{
			State: Warn, Found: fmt.Sprintf("%s without a hub (process %s)", plural(alive, "agent works", "agents work"), strings.Join(pids[:min(len(pids), maxNamed)], ", ")),
			Fix: m.verb("serve"), Data: map[string]any{"pids": pids},
		})
	}
	if dead > 0 {
		found = append(found, Finding{
			State: Warn, What: "leftovers of agents", Found: plural(dead, "run was", "runs were") + " not cleaned up: the process that owned the agent was killed",
			Why: "What the agent started may still run; the hub stops it when it starts.", Fix: m.restart(ctx),
		})
	}
	if len(found) == 0 {
		text := "none"
		if running && alive > 0 {
			text = "none; " + plural(alive, "agent works", "agents work") + " with the hub"
		}
		found = append(found, Finding{State: OK, Found: text})
	}
	return found
}

// restart is the command by which a hub starts, or starts again.
func (m *Machine) restart(ctx context.Context) string {
	if properties, _ := m.service(ctx); properties["ActiveState"] == "active" {
		again := "systemctl --user restart " + unit
		if properties["KillMode"] != "process" { // or all agents would end with it
			again = spareAgents() + " && " + again
		}
		return again
	}
	if pid := m.holder(); pid > 0 {
		// The folder is free when the old one has ended.
		return fmt.Sprintf("kill %d; while kill -0 %d 2>/dev/null; do sleep 1; done; %s", pid, pid, m.verb("serve"))
	}
	return m.verb("serve")
}

// plural writes a number with the right words.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// service asks systemd for the properties of our service; why says why there are none.
func (m *Machine) service(ctx context.Context) (properties map[string]string, why string) {
	if m.OS != "linux" || m.Command == nil {
		return nil, "this system has no systemd"
	}
	out, err := m.Command(ctx, "systemctl", "--user", "show", unit, "--property=LoadState,ActiveState,KillMode,FragmentPath,"+boxingProperties)
	if err != nil {
		return nil, "no user service manager answers"
	}
	properties = map[string]string{}
	for line := range strings.Lines(out) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		properties[name] = value
	}
	if properties["LoadState"] != "loaded" {
		return nil, unit + " isn't installed"
	}
	return properties, ""
}

func (m *Machine) checkService(ctx context.Context) []Finding {
	properties, why := m.service(ctx)
	if why != "" {
		return []Finding{{State: Skip, Found: why}}
	}
	mode := properties["KillMode"]
	f := Finding{State: OK, Found: fmt.Sprintf("%s is %s, KillMode=%s", unit, properties["ActiveState"], mode)}
	if mode != "process" {
		f.State, f.Why = Fail, "With it systemd stops all agents when the hub restarts."
		f.Fix = spareAgents()
	}
	found := []Finding{f}
	if bad := unboxable(properties); len(bad) > 0 {
		found = append(found, Finding{
			State: Warn, What: "sandbox in the service", Found: fmt.Sprintf("%s sets %s", unit, strings.Join(bad, ", ")),
			Why: "bubblewrap doesn't work in the service with it, and agents run without a sandbox.", Fix: allowSandbox(bad),
		})
	}
	return found
}

// spareAgents is the command that has systemd end the hub alone.
func spareAgents() string {
	return `mkdir -p "$HOME/.config/systemd/user/` + unit + `.d" && printf '[Service]\nKillMode=process\n' > "$HOME/.config/systemd/user/` + unit +
		`.d/killmode.conf" && systemctl --user daemon-reload`
}

func (m *Machine) checkLinger(ctx context.Context) []Finding {
	if _, why := m.service(ctx); why != "" {
		return []Finding{{State: Skip, Found: why}}
	}
	out, err := m.Command(ctx, "loginctl", "show-user", fmt.Sprint(m.UID), "--property=Linger", "--value")
	switch {
	case err != nil:
		return []Finding{{State: Skip, Found: "loginctl gives no answer"}}
	case strings.TrimSpace(out) == "yes":
		return []Finding{{State: OK, Found: "on: the service runs while you are logged out"}}
	default:
		return []Finding{{State: Warn, Found: "off", Fix: "loginctl enable-linger"}}
	}
}

func (m *Machine) checkTerminal(context.Context) []Finding {
	t := m.Terminal
	if !t.Is {
		return []Finding{{State: Skip, Found: "not a terminal"}}
	}
	term := m.Getenv("TERM")
	colors := "colours"
	if !t.Color {
		colors = "no colours"
	}
	f := Finding{State: OK, Found: fmt.Sprintf("%s, %d×%d, %s", term, t.Cols, t.Rows, colors)}
	var found []Finding
	switch {
	case term == "" || term == "dumb":
		f.State, f.Found = Warn, "TERM is "+quote(term)+": can't draw"
		f.Why, f.Fix = "run and attach use plain text.", "export TERM=xterm-256color"
	case t.Cols > 0 && (t.Cols < 80 || t.Rows < 24):
		f.State, f.Why = Warn, "attach needs 80 columns and 24 rows."
		f.Fix = `printf '\033[8;24;80t'`
	}
	found = append(found, f)
	if t.ASCII && f.State == OK {
		locale := m.Getenv("LC_ALL")
		for _, name := range []string{"LC_CTYPE", "LANG"} {
			if locale == "" {
				locale = m.Getenv(name)
			}
		}
		found = append(found, Finding{
			State: Warn, What: "characters", Found: "the locale " + quote(locale) + " has no UTF-8", Why: "Non-ASCII characters may look wrong.", Fix: "export LC_ALL=C.UTF-8",
		})
	}
	return found
}
