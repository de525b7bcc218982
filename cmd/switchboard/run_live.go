package main

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/naming"
	"github.com/switchboard-dev/switchboard/internal/terminal"
	"github.com/switchboard-dev/switchboard/internal/terminal/compose"
	"github.com/switchboard-dev/switchboard/internal/terminal/eventlog"
	"github.com/switchboard-dev/switchboard/internal/terminal/live"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/terminal/turn"
)

const (
	// runWindow is how many events of a session that is continued are shown first.
	runWindow = 200
	// runGuard is for how long keys do not count after a question came up while the user was writing.
	runGuard = 600 * time.Millisecond
	// runRetry is how soon a server that is away is looked for again: the user sits there and waits.
	runRetry = 250 * time.Millisecond
)

// runLive shows a session until the user leaves it.
func (v *runCmd) runLive(ctx context.Context, e *env, c *client.Client, create *api.CreateSession) error {
	// Ctrl-C is a key here. A signal means that the terminal is wanted back; the agent keeps running.
	ctx, stop := signal.NotifyContext(ctx, enders()...)
	defer stop()
	defer context.AfterFunc(ctx, stop)() // a second one ends it at once
	profile := paint.Detect(e.stdout, e.getenv, e.color)
	options := live.Options{
		In: e.stdin, Out: e.stdout, Env: e.env, Profile: profile, Editor: compose.Editor(e.getenv, v.editorDir(create)), Guard: runGuard,
		HistoryFile: historyFile(e),
	}
	if options.HistoryFile != "" {
		options.History, _ = compose.LoadHistory(options.HistoryFile) // a history that cannot be read is none
	}
	// The view is told by the client when the server is away, and needs the session for its heading.
	var view *live.View
	lost := func(err error, again time.Duration) {
		if view != nil {
			view.Lost(err, again)
		} else if ctx.Err() == nil {
			fmt.Fprintf(e.stderr, "switchboard: the hub is away (%s); waiting for it\n", terminal.Clean(err.Error()))
		}
	}
	opening, cancel := lingering(ctx)
	defer cancel()
	session, err := v.open(opening, c, create, client.RemoteOptions{Lost: lost}, runFrom)
	if err != nil {
		return interruptedOr(ctx, err)
	}
	defer func() { _ = session.Close() }() // what it returns was said before
	if ctx.Err() != nil {
		// The user has left before there was anything to see.
		v.farewell(e, session.ID(), live.Left{State: session.Opened().State, Questions: len(session.Opened().Questions)})
		return exitError(codeInterrupted)
	}
	options.Heading = v.heading(profile.Styles(), session)
	view = live.New(options)
	left, err := view.Run(ctx, session)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = exitError(codeInterrupted)
	}
	v.farewell(e, session.ID(), left)
	return err
}

// runFrom returns the event after which a session that is continued is shown: ids are dense, so the last ones can be named.
func runFrom(s *api.Session) string {
	log, last := eventlog.Of(nil, s)
	return log.ID(last - runWindow) // all of it if it is shorter
}

// heading says which session this is.
func (v *runCmd) heading(styles *paint.Styles, session *turn.Session) []string {
	opened := session.Opened()
	title := naming.Short(opened.ID)
	if name := terminal.Title(opened.Title); name != "" {
		title += " · " + name
	}
	lines := []string{styles.Bold.Render("switchboard") + styles.Dim.Render(" · session "+title+" · "+v.folderOf(opened))}
	if opened.Simulated || v.simulated || v.hub.Info.Simulated {
		lines = append(lines, styles.Warn.Render("A SIMULATED agent: no account, no real tools, nothing leaves this machine."))
	}
	return append(lines, "")
}

// folderOf returns the folder of a session, with its machine if that is another one.
func (v *runCmd) folderOf(session *api.Session) string {
	dir := paint.CleanLine(session.Dir, 0)
	switch {
	case session.Node != "":
		return paint.CleanLine(session.Node, 0) + ":" + dir
	case v.at != nil:
		return paint.CleanLine(v.at.name, 0) + ":" + dir
	}
	return dir
}

// editorDir returns the folder that an editor is opened in: the session's, if it is on this machine.
func (v *runCmd) editorDir(create *api.CreateSession) string {
	if v.away != "" {
		return ""
	}
	return create.Dir
}

// farewell says what the agent is doing, how to come back, and how to stop it.
func (v *runCmd) farewell(e *env, id string, left live.Left) {
	for _, undone := range left.Undone {
		fmt.Fprintf(e.stderr, "switchboard: %s\n", terminal.Clean(undone.String()))
	}
	short := naming.Short(id)
	what := "Agent still running."
	switch left.State {
	case api.StateIdle:
		what = "Agent idle, waiting for a message."
	case api.StateEnded:
		what = "Agent stopped; the session is kept."
	case api.StateStarting, api.StateRunning, api.StateRequiresAction, api.StateBackground, api.StateOffline:
	}
	if left.Questions == 1 {
		what += " It has a question."
	} else if left.Questions > 1 {
		what += fmt.Sprintf(" It has %d questions.", left.Questions)
	}
	fmt.Fprintf(e.stdout, "%s\n  Reattach: %s\n", what, terminal.Clean(v.command("attach", short)))
	if left.State != api.StateEnded {
		fmt.Fprintf(e.stdout, "  Stop:     %s\n", terminal.Clean(v.command("stop", short)))
	}
}
