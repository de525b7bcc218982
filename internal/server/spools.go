package server

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/internal/server/ingress"
)

const (
	// spoolsEvery is how often it is looked whether agents have left something: one that ends may do so at any time.
	spoolsEvery = 2 * time.Second
	// spoolTime bounds the taking in of one file, spoolsAtStart that of all before any client can connect: the journal may not be writable for
	// long. What was taken in until then counts.
	spoolTime     = time.Minute
	spoolsAtStart = 10 * time.Second
	// spoolPause is the longest time after which a file that was not taken in is tried again.
	spoolPause = time.Minute
	// spoolCut is the age at which a file that was never finished is taken for one whose writer has died.
	spoolCut = time.Minute
)

// The names of files that are finished, and of those that are being written.
const (
	spoolEnd   = ".spool"
	spoolBegin = ".spool-"
)

// spools takes in what agents kept in files because no server took it. Its methods are safe for concurrent use.
type spools struct {
	// Static after construction.
	dir string
	log *slog.Logger

	turn chan struct{} // has room for one goroutine, which works on files; else two would give the hub the same lines

	// Owned by the goroutine that has the turn.
	failed map[string]*failedSpool // by name
}

// A failedSpool is a file that could not be taken in.
type failedSpool struct {
	told  string // why, as it was logged
	pause time.Duration
	next  time.Time
}

func newSpools(dir string, log *slog.Logger) *spools {
	return &spools{dir: dir, log: log, turn: make(chan struct{}, 1), failed: map[string]*failedSpool{}}
}

// begin waits for the turn. end gives it back.
func (s *spools) begin(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *spools) end() { <-s.turn }

// of takes in what a run has left, at once. It is no error if that is nothing.
func (s *spools) of(ctx context.Context, h *hub.Hub, session string, run int) error {
	name := link.SpoolName(session, run)
	if !regular(filepath.Join(s.dir, name)) {
		return nil // as a rule
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.end()
	return s.take(ctx, h, name)
}

// leftBy takes in what a run has left on the machine that it ran on.
func (s *Server) leftBy(ctx context.Context, h *hub.Hub, node, session string, run int) error {
	if node != "" {
		return s.nodes.Left(ctx, h, node, session, run)
	}
	return s.spools.of(ctx, h, session, run)
}

// regular reports whether there is a file of this name.
func regular(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// all takes in what there is, but not what was tried shortly before.
func (s *spools) all(ctx context.Context, h *hub.Hub) {
	if s.begin(ctx) != nil {
		return
	}
	defer s.end()
	names, err := s.list()
	if err != nil {
		s.log.Warn("what agents kept for the server cannot be listed; it is tried again", "err", err)
		return
	}
	for name := range s.failed {
		if !names[name] {
			delete(s.failed, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if failed := s.failed[name]; failed != nil && time.Now().Before(failed.next) {
			continue
		}
		if ctx.Err() != nil {
			return
		}
		one, cancel := context.WithTimeout(ctx, spoolTime)
		_ = s.take(one, h, name) // it is logged, and tried again
		cancel()
	}
}

// list returns the names of the files that can be taken in.
func (s *spools) list() (map[string]bool, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // most have none
	}
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, entry := range entries {
		if !entry.Type().IsRegular() {
			continue
		}
		switch name := entry.Name(); {
		case strings.HasSuffix(name, spoolEnd) && !strings.HasPrefix(name, "."):
			names[name] = true
		case strings.HasPrefix(name, spoolBegin) && !strings.HasSuffix(name, ".damaged"): // which was taken in
			// The shim that wrote it may have been killed; what is whole of it counts.
			if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > spoolCut {
				names[name] = true
			}
		}
	}
	return names, nil
}

// take takes in one file. The caller has the turn.
func (s *spools) take(ctx context.Context, h *hub.Hub, name string) error {
	file := filepath.Join(s.dir, name)
	err := ingress.ImportSpool(ctx, h, file)
	if err == nil {
		delete(s.failed, name)
		s.log.Info("what an agent kept for the server is taken in", "file", file)
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another process was faster, or took it away
	}
	if errors.Is(err, context.Canceled) {
		return err // the server ends; the next one takes it
	}
	failed := s.failed[name]
	if failed == nil {
		failed = &failedSpool{}
		s.failed[name] = failed
	}
	if owned := (*hub.OwnedError)(nil); errors.As(err, &owned) {
		// As a rule the shim that wrote it is about to end.
		failed.next = time.Time{}
		return err
	}
	failed.pause = min(max(spoolsEvery, 2*failed.pause), spoolPause)
	failed.next = time.Now().Add(failed.pause)
	if told := err.Error(); told != failed.told {
		failed.told = told
		s.log.Error("what an agent kept for the server was not taken in; the file is kept, and tried again", "file", file, "err", err)
	}
	return err
}

// takeSpools takes in what agents leave, until the server ends.
func (s *Server) takeSpools() {
	tick := time.NewTicker(spoolsEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.spools.all(s.ctx, s.hub)
		case <-s.ctx.Done():
			return
		}
	}
}
