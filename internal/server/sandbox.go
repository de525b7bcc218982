package server

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"

	"github.com/switchboard-dev/switchboard/internal/sandbox"
)

// hidden returns the files, folders and sockets that a sandbox hides from agents: all of ours. What of it the agent needs, the launcher shows.
func (s *Server) hidden() []string {
	o := &s.options
	own := slices.Concat(o.Enforcer.Own, o.Rules.Own, []string{o.DataDir, s.socketPlace()})
	if o.Rules.File != "" {
		own = append(own, o.Rules.File)
	}
	for i := range own {
		own[i] = filepath.Clean(own[i])
	}
	slices.Sort(own)
	return slices.Compact(own)
}

// Enforcer returns the name of what enforces the default mode of sandboxes, "" if that is off. The error says why there is none. It may take some
// seconds, once.
func (s *Server) Enforcer(ctx context.Context) (string, error) {
	mode := cmp.Or(s.options.Sandbox.Mode, sandbox.Auto) // as the hub has it
	if mode == sandbox.Off {
		return "", nil
	}
	enforcer, err := s.launcher.Enforcer(ctx, mode)
	if err != nil {
		return "", err
	}
	return enforcer.Name(), nil
}

// findEnforcer looks for what enforces the default mode, so that the first session need not wait for it. The launcher logs that there is none.
func (s *Server) findEnforcer() {
	_, err := s.Enforcer(s.ctx)
	if err != nil && s.ctx.Err() == nil {
		warning := "agents run without a sandbox: " + err.Error()
		s.unboxed.Store(&warning)
	}
}
