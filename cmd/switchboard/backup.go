package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/units"
)

// A backupCmd is the flags of backup.
type backupCmd struct {
	hubFlags
	force bool
}

func newBackup(e *env) *cobra.Command {
	v := &backupCmd{}
	cmd := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the journal to a file, with or without a running hub",
		Long: `Writes a copy of the journal, as it is at one moment, to a file: all sessions with everything that was
said. A running hub makes the copy while it works, also one on another machine; without one the copy is
made here, and no hub can start meanwhile.

The file is readable by you alone (mode 0600). To restore it, stop the hub and put the file in place of
journal.db in the data folder; move journal.db-wal and journal.db-shm away with the old one. Tokens, rules
and the configuration are separate files and not included.`,
		Example: `  # today's copy
  switchboard backup ~/backups/switchboard-$(date +%F).db

  # the same file again
  switchboard backup --force ~/backups/switchboard.db`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return interrupted(ctx, v.run(ctx, e, args[0]))
		},
	}
	v.flags(cmd)
	cmd.Flags().BoolVar(&v.force, "force", false, "replace an existing file")
	return cmd
}

// run makes a copy.
func (v *backupCmd) run(ctx context.Context, e *env, name string) error {
	done := e.progress("copying the journal…")
	defer done()
	err := v.withRunningHub(e, func(c *client.Client) error {
		return writeFile(name, v.force, func(w io.Writer) error { return c.Backup(ctx, w) })
	})
	if _, away := errors.AsType[*remoteError](err); !away && noServer(err) {
		err = v.alone(ctx, e, name)
	}
	if err != nil {
		return err
	}
	if info, err := os.Stat(name); err == nil && isTerminal(e.stdout) {
		done()
		_, err = fmt.Fprintf(e.stdout, "%s, %s\n", paint.CleanLine(name, 0), units.Size(info.Size()))
		return err
	}
	return nil
}

// alone makes a copy without a server, under the lock of the folder: no server can begin meanwhile.
func (v *backupCmd) alone(ctx context.Context, e *env, name string) (err error) {
	_, paths, err := v.load(e, nil)
	if err != nil {
		return usageError{err}
	}
	// Opening it would begin a new one.
	file := filepath.Join(paths.DataDir, "journal.db")
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no journal %s and no hub is running; name the folder with --data-dir", file)
	}
	if err := replaceable(name, v.force); err != nil {
		return err
	}
	j, err := journal.Open(ctx, paths.DataDir, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	// Beside it, so that it can get its name in one step.
	folder, err := os.MkdirTemp(filepath.Dir(name), ".backup-*")
	if err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	whole := filepath.Join(folder, "journal.db")
	if err := j.Backup(ctx, whole); err != nil {
		return err
	}
	return rename(whole, name, v.force)
}

// progress says on standard error, to a person, what takes longer than a second. The function that it returns ends that.
func (e *env) progress(text string) (done func()) {
	if !isTerminal(e.stderr) {
		return func() {}
	}
	timer := time.AfterFunc(time.Second, func() { fmt.Fprintln(e.stderr, text) })
	return func() { timer.Stop() }
}
