package shim

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/switchboard-dev/switchboard/internal/link"
)

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
