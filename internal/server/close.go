package server

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
)

// How long the steps of an end may take. A caller in a hurry ends the context of Close.
const (
	stopTime  = 30 * time.Second // for all agents
	drainTime = 5 * time.Second  // for requests under way
)

// goingAway is what clients are told when the server ends.
const goingAway = "the hub is shutting down"

// Left says what goes on after a server has ended.
type Left struct {
	// Agents is how many agents run, PIDs their shims: to end one, send TERM to it.
	Agents int
	PIDs   []int
	// Others is how many agents of other programs go on, with those, as if there had
	// never been a server.
	Others int
}

// transportTee and transportRelay are how agents of other programs are connected.
const (
	transportTee   = "tee"
	transportRelay = "relay"
)

// foreign reports whether a transport connects the agent of another program, which
// this server neither starts nor ends.
func foreign(transport string) bool { return transport == transportTee || transport == transportRelay }

// Close ends the server: it accepts no client any more, tells followers to come back, finishes what is under way and puts everything away. Agents
// go on and wait for the next server, unless stopAgents is set. ctx bounds the wait for agents and for requests; what then is not done
// is cut off, and nothing is lost by that either. Further calls do nothing.
func (s *Server) Close(ctx context.Context, stopAgents bool) (left Left, err error) {
	s.closing.Do(func() { left, err = s.end(ctx, stopAgents) })
	return left, err
}

func (s *Server) end(ctx context.Context, stopAgents bool) (Left, error) {
	if err := tellManager(ctx, s.options.NotifySocket, "STOPPING=1"); err != nil {
		s.log.Warn("the service manager was not told that the server ends", "err", err)
	}
	if stopAgents {
		s.stopAgents(ctx)
	}
	s.cancel()
	// Every client is told, and leaves, so that the servers can end.
	s.v1.Close(goingAway)
	s.lines.Close(goingAway)
	drained, cancel := context.WithTimeout(ctx, drainTime)
	defer cancel()
	var shutdowns sync.WaitGroup
	// The servers know nothing of connections that have become WebSockets.
	shutdowns.Go(func() { s.v1.Wait(drained) })
	shutdowns.Go(func() { s.warn("closing connections of front ends", s.lines.Wait(drained)) })
	for _, server := range s.servers {
		shutdowns.Go(func() {
			if err := server.Shutdown(drained); err != nil {
				s.log.Info("requests were cut off", "err", err)
				s.warn("closing connections", server.Close())
			}
		})
	}
	shutdowns.Go(func() { s.phone.drain(drained) })
	s.nodes.Close()
	s.warn("closing links", s.link.Close())
	s.warn("closing connections of CLIs", s.dial.Close())
	s.relays.Close()
	shutdowns.Wait()
	s.endPhone()
	s.tasks.Wait()

	left, err := s.left(context.WithoutCancel(ctx))
	s.putAway()
	return left, err
}

// left finds out which agents go on.
func (s *Server) left(ctx context.Context) (Left, error) {
	runs, err := s.journal.LiveRuns(ctx)
	if err != nil {
		return Left{}, fmt.Errorf("finding out which agents run: %w", err)
	}
	var left Left
	for _, run := range runs {
		switch {
		case foreign(run.Transport):
			if run.Have > 0 {
				left.Others++
			}
		case run.Node != "": // its process is on another machine
			left.Agents++
		case run.PID > 0 && s.launcher.Alive(run.PID, run.PIDStart):
			left.Agents++
			left.PIDs = append(left.PIDs, run.PID)
		case run.PID == 0 && run.Have > 0: // it has dialled in, from wherever it is
			left.Agents++
		}
	}
	slices.Sort(left.PIDs)
	return left, nil
}

// stopAgents ends all agents but those of other programs, several at a time.
func (s *Server) stopAgents(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, stopTime)
	defer cancel()
	runs, err := s.journal.LiveRuns(ctx)
	if err != nil {
		s.log.Error("finding the agents to stop", "err", err)
		return
	}
	slots := make(chan struct{}, 16)
	var stops sync.WaitGroup
	for _, run := range runs {
		if foreign(run.Transport) {
			continue
		}
		stops.Go(func() {
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return
			}
			defer func() { <-slots }()
			// The caller of Close does not wait for turns.
			if _, err := s.hub.Stop(ctx, hub.Actor{Name: "serve --stop-agents"}, run.Session, api.Stop{Force: true}); err != nil {
				s.log.Error("stopping an agent", "session", run.Session, "run", run.Run, "err", err)
				return
			}
			// Its shim still wants to hear that its last words were written down. Without a server it would wait for the next one.
			if run.Node == "" {
				s.awaitEnd(ctx, run.PID, run.PIDStart)
			}
		})
	}
	stops.Wait()
}

// awaitEnd waits until a shim is gone, or ctx ends.
func (s *Server) awaitEnd(ctx context.Context, pid int, start string) {
	if pid <= 0 {
		return // it dialled in, or is elsewhere
	}
	tick := time.NewTicker(20 * time.Millisecond) // there is no event for the end of a process that need not be our child
	defer tick.Stop()
	for s.launcher.Alive(pid, start) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
