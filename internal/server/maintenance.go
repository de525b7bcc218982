package server

import (
	"context"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/api"
)

// How often things are looked at.
const (
	retainEvery = 24 * time.Hour
	seekEvery   = time.Minute
	// seekTime bounds a search for the CLI, which is started to ask for its version.
	seekTime = 30 * time.Second
)

// enforceRetention enforces the limits of what is kept, at the start and once a day.
func (s *Server) enforceRetention() {
	if s.options.Retention.MaxAge <= 0 && s.options.Retention.MaxBytes <= 0 {
		return // everything is kept
	}
	tick := time.NewTicker(retainEvery)
	defer tick.Stop()
	for {
		switch removed, err := s.hub.Retain(s.ctx, s.options.Retention); {
		case err != nil && s.ctx.Err() == nil:
			s.log.Error("removing old sessions", "err", err)
		case removed > 0:
			s.log.Info("old sessions were removed", "sessions", removed)
		}
		select {
		case <-tick.C:
		case <-s.ctx.Done():
			return
		}
	}
}

// agentInfo is what is known about the CLI that sessions run.
type agentInfo struct {
	simulated bool // static

	mu            sync.Mutex
	path, version string // guarded by mu; empty until it is found
}

// findAgent finds out which CLI sessions would run, and says so once. As long as there is none it looks again: the user may install it.
func (s *Server) findAgent() {
	tick := time.NewTicker(seekEvery)
	defer tick.Stop()
	for told := false; ; {
		ctx, cancel := context.WithTimeout(s.ctx, seekTime)
		found, err := s.launcher.Agent(ctx, "")
		cancel()
		switch {
		case s.ctx.Err() != nil:
			return
		case err == nil:
			s.agent.mu.Lock()
			s.agent.path, s.agent.version = found.Path, found.Version.String()
			s.agent.mu.Unlock()
			s.log.Info("sessions run this agent", "path", found.Path, "version", found.Version.String(), "simulated", found.Simulated)
			return
		case !told:
			told = true
			s.log.Warn("no session can be started", "err", err)
		}
		select {
		case <-tick.C:
		case <-s.ctx.Done():
			return
		}
	}
}

// capabilities names what the server can do, for clients that must know before they try.
func (s *Server) capabilities() []string {
	list := []string{
		"sessions", "messages", "questions", "interrupt", "resume", "fork", "archive", "control", "rewind", "mcp", "environment", "context",
		"sse", "websocket_events", "global_events", "filters",
		"shim", "websocket", "hybrid",
		"rules", "rules_file", "explain", "plans", "budgets", "preferences",
		"export", "timeline", "search", "audit", "costs", "drift", "transcripts", "folders", "files", "backup",
		"tokens", "codes", "relay", "direct", "metrics", "nodes",
	}
	if s.options.RawFlags {
		list = append(list, "raw_flags")
	}
	if len(s.options.OpenRelay) > 0 {
		list = append(list, "open_relay")
	}
	return list
}

// info says what the server is and can do.
func (s *Server) info(context.Context) api.Info {
	info := api.Info{
		Version:      s.options.Version,
		API:          "v1",
		Capabilities: s.capabilities(),
		Agent:        s.options.Agent,
		Simulated:    s.agent.simulated,
		Pin:          s.Pin(),
		Warnings:     s.Warnings(),
	}
	for _, n := range s.nodes.Count() {
		info.Nodes += n
	}
	for _, loss := range s.losses {
		info.Warnings = append(info.Warnings, loss.String())
	}
	if warning := s.unboxed.Load(); warning != nil {
		info.Warnings = append(info.Warnings, *warning)
	}
	s.agent.mu.Lock()
	if s.agent.path != "" && !s.agent.simulated {
		info.Agent = s.agent.path
	}
	info.AgentVersion = s.agent.version
	s.agent.mu.Unlock()
	if err := s.journal.Health(); err != nil {
		info.Storage = err.Error()
	}
	return info
}
