package nodeagent

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/internal/launch"
	"github.com/switchboard-dev/switchboard/internal/node"
	"github.com/switchboard-dev/switchboard/internal/sandbox"
)

const (
	// findEvery is how often it is looked which CLI there is: the user may install one.
	findEvery = time.Minute
	// findTime bounds that: the CLI is started to ask for its version.
	findTime = 30 * time.Second
	// spoolCut is the age at which a file that was never finished is taken for one whose
	// writer has died.
	spoolCut = time.Minute
)

// found is what was found on the machine.
type found struct {
	clis    []node.CLI
	sandbox string
}

// find finds out which CLI runs would get and what enforces sandboxes, again and again.
func (a *Agent) find() {
	tick := time.NewTicker(findEvery)
	defer tick.Stop()
	for told := false; ; {
		ctx, cancel := context.WithTimeout(a.ctx, findTime)
		var now found
		agent, err := a.launcher.Agent(ctx, "")
		switch {
		case err == nil:
			now.clis = []node.CLI{{Path: agent.Path, Version: agent.Version.String(), Simulated: agent.Simulated}}
		case a.ctx.Err() == nil && !told:
			told = true
			a.log.Warn("no session can be started", "err", err)
		}
		if enforcer, err := a.launcher.Enforcer(ctx, sandbox.DenyOnly); err == nil && enforcer != nil {
			now.sandbox = enforcer.Name()
		}
		cancel()
		if a.ctx.Err() != nil {
			return
		}
		a.mu.Lock()
		changed := !slices.Equal(a.found.clis, now.clis) || a.found.sandbox != now.sandbox
		a.found = now
		a.mu.Unlock()
		if changed {
			select {
			case a.poke <- struct{}{}:
			default: // it is poked already
			}
		}
		select {
		case <-tick.C:
		case <-a.ctx.Done():
			return
		}
	}
}

// facts returns what the hub is told about the machine.
func (a *Agent) facts() node.Facts {
	a.mu.Lock()
	now := a.found
	a.mu.Unlock()
	load, total, free := machineLoad()
	f := node.Facts{
		Version: a.options.Version, OS: runtime.GOOS, Arch: runtime.GOARCH, CLIs: now.clis, Sandbox: now.sandbox,
		CPUs: runtime.NumCPU(), Load: load / float64(max(runtime.NumCPU(), 1)), MemoryBytes: total, MemoryFree: free,
		Runs: a.runs.count(), Home: home(a.options.Env), Own: a.own(), FoldCase: runtime.GOOS == "darwin" || runtime.GOOS == "windows",
		Spools: a.spools(),
	}
	if host, err := os.Hostname(); err == nil {
		f.Hostname = host
	}
	return f
}

// home returns the home folder of an environment, "" if it names none that rules could be
// about.
func home(env []string) string {
	for _, entry := range slices.Backward(env) {
		if value, found := strings.CutPrefix(entry, "HOME="); found && filepath.IsAbs(value) {
			return filepath.Clean(value)
		}
	}
	return ""
}

// lockFile is the name of the file that one process of a node holds the lock on.
const lockFile = "lock"

// dataFiles are the names of what is in the data folder, whether it is there yet or not,
// but for the folder of the simulated agent, which is its own as ~/.claude is the real
// one's.
var dataFiles = [...]string{IdentityFile, lockFile, onceFile, "node.log", "run", "shims", "simulated", "spool", startsFolder}

// own returns the folders and files that no agent may touch.
func (a *Agent) own() []string {
	own := slices.Clone(a.options.Own)
	dir := a.options.DataDir
	if a.options.Agent != launch.Simulator {
		return append(own, dir)
	}
	for _, name := range dataFiles {
		own = append(own, filepath.Join(dir, name))
	}
	return own
}

// spools returns the names of files that shims have left for the hub.
func (a *Agent) spools() []string {
	entries, err := os.ReadDir(a.spool)
	if err != nil {
		return nil // most have none
	}
	var names []string
	for _, entry := range entries {
		name := entry.Name()
		if !entry.Type().IsRegular() || !node.IsSpool(name) || len(names) == node.MaxSpools {
			continue
		}
		switch {
		case strings.HasSuffix(name, ".spool"):
			names = append(names, name)
		case strings.HasPrefix(name, ".spool-") && !strings.HasSuffix(name, ".damaged"):
			// The shim that wrote it may have been killed; what is whole of it counts.
			if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > spoolCut {
				names = append(names, name)
			}
		}
	}
	return names
}
