package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/config"
	"github.com/switchboard-dev/switchboard/internal/hubstart"
	"github.com/switchboard-dev/switchboard/internal/launch"
	"github.com/switchboard-dev/switchboard/internal/naming"
	"github.com/switchboard-dev/switchboard/internal/terminal"
)

// simulatedFolder is the folder in the data folder that the hub of simulated agents has for its own: their conversations must not be found among
// real ones.
const simulatedFolder = "simulated"

// dialPatience is how long a hub on this machine may take to accept a connection.
const dialPatience = 2 * time.Second

// agentPatience is how long the agents of a hub that has been started again have to connect to it, agentPause how often it is looked.
const (
	agentPatience = 3 * time.Second
	agentPause    = 50 * time.Millisecond
)

// A noServerError says that no hub is running, and how to start one.
type noServerError struct{ socket string }

// Error says where a hub was looked for.
func (e *noServerError) Error() string {
	return fmt.Sprintf("no hub is running (nothing listens on %s); start one: switchboard serve, or a session: switchboard run", e.socket)
}

// noServer reports whether an error says that no hub is there to talk to.
func noServer(err error) bool {
	if _, ok := errors.AsType[*noServerError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*hubstart.NoHubError](err); ok {
		return true
	}
	dial, ok := errors.AsType[*net.OpError](err)
	return ok && dial.Op == "dial" && (errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOENT))
}

// withHub calls f with a client of the hub. Commands find it in this order: the usual hub if it runs; else that of simulated agents if that runs,
// which a person is told; else, at a terminal, one is started, as run does. A session or question that the usual hub does not know is looked for
// in the hub of simulated agents, by calling f again: f must look up names before it does anything else.
//
// A hub on another machine is only that one: see [hubFlags.remote].
func (p *hubFlags) withHub(e *env, f func(*client.Client) error) error {
	if at, err := p.remote(e); at != nil || err != nil {
		return at.callOr(err, f)
	}
	usual, simulated, err := p.hubs(e)
	if err != nil {
		return usageError{err}
	}
	switch {
	case listens(usual.Socket):
	case simulated != nil && listens(simulated.Socket):
		fmt.Fprintln(e.stderr, "No hub of real agents is running; using the simulated one.")
		return callHub(simulated.Socket, f)
	case !isTerminal(e.stderr):
		return &noServerError{usual.Socket}
	default:
		if simulated != nil && hasJournal(simulated) && !hasJournal(usual) {
			usual, simulated = simulated, nil
		}
		ctx, stop := signal.NotifyContext(context.Background(), enders()...)
		_, err := p.startHub(ctx, e, usual, simulated == nil && p.dataDir == "")
		stop()
		if err != nil {
			return interrupted(ctx, err)
		}
	}
	err = callHub(usual.Socket, f)
	if unknown(err) && simulated != nil && listens(simulated.Socket) {
		if again := callHub(simulated.Socket, f); !unknown(again) {
			return again
		}
	}
	return err
}

// withRunningHub calls f with a client of the usual hub, and starts none.
func (p *hubFlags) withRunningHub(e *env, f func(*client.Client) error) error {
	if at, err := p.remote(e); at != nil || err != nil {
		return at.callOr(err, f)
	}
	usual, _, err := p.hubs(e)
	if err != nil {
		return usageError{err}
	}
	if !listens(usual.Socket) {
		return &noServerError{usual.Socket}
	}
	return callHub(usual.Socket, f)
}

// withAnyHub calls f with a client of the first hub that runs, the usual one or that of simulated agents, and says nothing.
func (p *hubFlags) withAnyHub(e *env, f func(*client.Client) error) error {
	if at, err := p.remote(e); at != nil || err != nil {
		return at.callOr(err, f)
	}
	usual, simulated, err := p.hubs(e)
	switch {
	case err != nil:
		return usageError{err}
	case !listens(usual.Socket) && simulated != nil && listens(simulated.Socket):
		usual = simulated
	}
	return callHub(usual.Socket, f)
}

// hubs returns the paths of the usual hub, and those of the hub of simulated agents; nil if --data-dir names one hub.
func (p *hubFlags) hubs(e *env) (usual, simulated *config.Paths, err error) {
	_, paths, err := p.load(e, nil)
	if err != nil || p.dataDir != "" {
		return &paths, nil, err
	}
	beside := hubFlags{config: p.config, dataDir: filepath.Join(paths.DataDir, simulatedFolder)}
	_, other, err := beside.load(e, nil)
	if err != nil {
		return &paths, nil, nil //nolint:nilerr // its path may be too long for a socket: then there is no such hub
	}
	return &paths, &other, nil
}

// callHub calls f with a client of the hub at a socket.
func callHub(socket string, f func(*client.Client) error) error {
	c, err := connect(socket)
	if err != nil {
		return err
	}
	defer c.Close()
	err = f(c)
	if errors.Is(err, syscall.ECONNREFUSED) { // it was killed meanwhile
		return &noServerError{socket}
	}
	return err
}

// unknown reports whether a name stands for nothing, rather than for several things.
func unknown(err error) bool {
	missing, ok := errors.AsType[*naming.Error](err)
	return ok && len(missing.Candidates) == 0
}

// listens reports whether a hub accepts connections.
func listens(socket string) bool {
	conn, err := net.DialTimeout("unix", socket, dialPatience)
	if err != nil {
		return false
	}
	return conn.Close() == nil
}

// hasJournal reports whether a hub has ever run with these paths.
func hasJournal(paths *config.Paths) bool {
	_, err := os.Stat(filepath.Join(paths.DataDir, "journal.db"))
	return err == nil
}

// startHub returns the hub of a data folder, and starts it if it isn't running.
func (p *hubFlags) startHub(ctx context.Context, e *env, paths *config.Paths, simulated bool) (*hubstart.Hub, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program's own path: %w", err)
	}
	args, err := p.serveArgs(e, paths.DataDir, simulated)
	if err != nil {
		return nil, usageError{err}
	}
	hub, err := hubstart.Ensure(ctx, &hubstart.Options{Program: program, Args: args, Env: e.env, DataDir: paths.DataDir, Socket: paths.Socket})
	if err != nil || !hub.Started {
		return hub, err
	}
	if isTerminal(e.stderr) {
		fmt.Fprintf(e.stderr, "Started a background hub (pid %d, log %s).\n", hub.PID, terminal.Clean(hub.Log))
	}
	awaitAgents(ctx, paths.Socket)
	return hub, nil
}

// awaitAgents waits until the agents of a hub that has just been started are connected again, so that the command that follows does not find them
// offline. It gives up after agentPatience: an agent may really be gone.
func awaitAgents(ctx context.Context, socket string) {
	ctx, cancel := context.WithTimeout(ctx, agentPatience)
	defer cancel()
	c, err := client.New(&client.Options{Socket: socket})
	if err != nil {
		return // the command itself says what is wrong
	}
	defer c.Close()
	tick := time.NewTicker(agentPause)
	defer tick.Stop()
	for {
		list, err := c.List(ctx, api.SessionFilter{State: []api.State{api.StateOffline}, Limit: 1})
		if err != nil || len(list.Sessions) == 0 {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// serveArgs are the arguments of a hub that has the settings that we have: it works in another folder.
func (p *hubFlags) serveArgs(e *env, dataDir string, simulated bool) ([]string, error) {
	args := []string{"serve"}
	if p.dataDir != "" || simulated {
		args = append(args, "--data-dir", dataDir)
	}
	if file, named := p.file(e); named {
		path, err := filepath.Abs(file)
		if err != nil {
			return nil, fmt.Errorf("--config: %w", err)
		}
		args = append(args, "--config", path)
	}
	agent := launch.Simulator
	if !simulated {
		var err error
		if agent, err = chooseAgent(e.getenv(envAgent)); err != nil {
			return nil, err
		}
	}
	if agent != "" {
		args = append(args, "--agent", agent)
	}
	return args, nil
}

// envConfig names the configuration file, as --config does.
const envConfig = "SWITCHBOARD_CONFIG"

// hubFlags are the flags by which commands find the hub.
type hubFlags struct {
	config, dataDir string
	hub             string // the name or address of a hub on another machine, or local
}

// flags adds them to a command.
func (p *hubFlags) flags(cmd *cobra.Command) {
	p.settings(cmd)
	cmd.Flags().StringVar(&p.hub, "hub", "", "`NAME` or address of the hub to use; see switchboard hub")
}

// localFlags adds those of a command that is about this machine. --hub is there to say so; instead says what to do, if it is something else than to
// run the command on the hub's machine.
func (p *hubFlags) localFlags(cmd *cobra.Command, verb, instead string) {
	p.settings(cmd)
	cmd.Flags().Var(&onlyHere{verb, instead}, "hub", "")
	_ = cmd.Flags().MarkHidden("hub") // it is there
}

// settings adds the flags that say where this machine's hub is.
func (p *hubFlags) settings(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.config, "config", "", "`FILE` with settings (default $XDG_CONFIG_HOME/switchboard/config.toml)")
	cmd.Flags().StringVar(&p.dataDir, "data-dir", "", "data `FOLDER` with journal, token and socket (default $XDG_DATA_HOME/switchboard)")
}

// file returns the configuration file, and whether the user named it.
func (p *hubFlags) file(e *env) (name string, must bool) {
	if p.config != "" {
		return p.config, true
	}
	if named := e.getenv(envConfig); named != "" {
		return named, true
	}
	return config.File(e.getenv), false
}

// load reads the settings: the file, the environment over it, and the flags over both. change sets those of the command itself.
func (p *hubFlags) load(e *env, change func(*config.Config) error) (*config.Config, config.Paths, error) {
	file, must := p.file(e)
	c, err := config.Load(file, must, e.getenv)
	if err != nil {
		return nil, config.Paths{}, err
	}
	if p.dataDir != "" {
		folder, err := filepath.Abs(p.dataDir)
		if err != nil {
			return nil, config.Paths{}, fmt.Errorf("--data-dir: %w", err)
		}
		c.Server.DataDir = config.Folder(folder)
	}
	if change != nil {
		if err := change(c); err != nil {
			return nil, config.Paths{}, err
		}
	}
	paths, err := c.FindPaths(e.getenv)
	return c, paths, errors.Join(err, c.Check())
}
