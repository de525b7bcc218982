package shim

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/switchboard-dev/switchboard/internal/link"
)

// spool saves what no hub has taken. If that fails it is to be tried again, or a hub
// may come, for as long as the shim goes on without one; failing is since when.
func (s *shim) spool(failing *time.Time) (code int, done bool) {
	if s.spec.SpoolDir == "" {
		s.log.Error("lines that no hub has taken are lost: there is no folder for them", "lines", s.linesLeft())
		return exitLost, true
	}
	s.carrier.mu.Lock()
	path, err := writeSpool(s.spec, s.carrier.out, &s.carrier.commands)
	s.carrier.mu.Unlock()
	switch {
	case err == nil:
		s.log.Info("lines that no hub has taken are saved", "file", path)
		return exitDone, true
	case failing.IsZero():
		*failing = time.Now()
		s.log.Error("lines that no hub has taken cannot be saved, which is tried again", "error", err)
	case time.Since(*failing) >= s.spec.OrphanAfter:
		s.log.Error("lines that no hub has taken are lost", "error", err)
		return exitLost, true
	}
	return 0, false
}

// writeSpool saves what is not acknowledged in a file that only the user can
// read. The file appears when it is whole.
func writeSpool(spec *Spec, out *link.Outgoing, commands *link.Commands) (path string, err error) {
	var hello link.Hello
	commands.Fill(&hello)
	header := &link.SpoolHeader{
		Version: link.Version, Session: spec.Session, Run: spec.Run, Instance: spec.Instance,
		Oldest: out.Oldest(), Next: out.Next(),
		Written: hello.Written, Writing: hello.Writing, Failed: hello.Failed,
	}
	if err := os.MkdirAll(spec.SpoolDir, 0o700); err != nil {
		return "", fmt.Errorf("making the folder for spool files: %w", err)
	}
	path = filepath.Join(spec.SpoolDir, link.SpoolName(spec.Session, spec.Run))
	file, err := os.CreateTemp(spec.SpoolDir, ".spool-") // has mode 0600
	if err != nil {
		return "", fmt.Errorf("making a spool file: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	err = link.WriteSpool(file, header, out.Unacked())
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return "", err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return "", fmt.Errorf("naming a spool file: %w", err)
	}
	return path, nil
}
