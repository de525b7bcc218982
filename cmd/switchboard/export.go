package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/naming"
)

// exportFormats are the formats of export.
func exportFormats() []string {
	return []string{client.ExportMarkdown, client.ExportJSONL, client.ExportEvents}
}

// An exportCmd is the flags of export.
type exportCmd struct {
	hubFlags
	format, output string
	force          bool
}

func newExport(e *env) *cobra.Command {
	v := &exportCmd{}
	cmd := &cobra.Command{
		Use:   "export SESSION",
		Short: "Export a conversation or log to a file",
		Long: `Exports a session to standard output or to a file, in one of these formats:

  markdown  the conversation for people to read
  jsonl     every line that Claude Code wrote or was sent, as recorded, except values of variables,
            servers and settings that may be secrets
  events    every entry of the log, one JSON object per line

A file is readable by you alone (mode 0600) and appears when it is complete. An existing file is kept
unless --force is given.`,
		Example: `  # the latest session, in a pager
  switchboard export - | less

  # into a file; its name sets the format
  switchboard export "Fix the slugs" -o slugs.md
  switchboard export "Fix the slugs" -o slugs.jsonl

  # for a program
  switchboard export s5k2m7 --format events`,
		Args:              oneSession,
		ValidArgsFunction: completeSessions(e, &v.hubFlags),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := v.check(); err != nil {
				return usageError{err}
			}
			return v.onSession(cmd, e, naming.Session, args[0], func(ctx context.Context, c *client.Client, session *api.Session) error {
				return v.run(ctx, e, c, session)
			})
		},
	}
	v.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&v.format, "format", "", "`FORMAT`: "+strings.Join(exportFormats(), ", ")+" (default by the file name, else markdown)")
	f.StringVarP(&v.output, "output", "o", "", "`FILE` to write to (default standard output)")
	f.BoolVar(&v.force, "force", false, "replace an existing file")
	complete(cmd, "format", exportFormats()...)
	return cmd
}

// check fills in the format.
func (v *exportCmd) check() error {
	if v.format == "" {
		v.format = client.ExportMarkdown
		if extension := filepath.Ext(v.output); extension == ".jsonl" || extension == ".ndjson" {
			v.format = client.ExportJSONL
		}
	}
	return oneOf("--format", v.format, exportFormats())
}

// run writes a session.
func (v *exportCmd) run(ctx context.Context, e *env, c *client.Client, session *api.Session) error {
	if v.output != "" && v.output != "-" {
		return writeFile(v.output, v.force, func(w io.Writer) error { return c.Export(ctx, session.ID, v.format, w) })
	}
	out := e.stdout
	if isTerminal(out) {
		out = &cleanWriter{w: out}
	}
	if err := c.Export(ctx, session.ID, v.format, out); err != nil {
		return err
	}
	if clean, ok := out.(*cleanWriter); ok {
		return clean.Close()
	}
	return nil
}

// replaceable checks that a file can be written: it is not there, or it may be replaced.
func replaceable(name string, force bool) error {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s isn't a regular file; name another one", name)
	case !force:
		return thereAlready(name)
	}
	return nil
}

func thereAlready(name string) error {
	return fmt.Errorf("%s exists; name another file, or use --force to replace it", name)
}

// writeFile writes a file that only its owner can read. It has its name only when it is whole; what is there already is replaced only with force.
func writeFile(name string, force bool, write func(io.Writer) error) (err error) {
	if err := replaceable(name, force); err != nil {
		return err
	}
	// Beside it, so that it can get its name in one step; with mode 0600.
	file, err := os.CreateTemp(filepath.Dir(name), ".switchboard-*.part")
	if err != nil {
		return fmt.Errorf("making a file: %w", err)
	}
	defer func() {
		if err != nil {
			_ = file.Close()           // the error says enough
			_ = os.Remove(file.Name()) // half of it is of no use
		}
	}()
	if err := write(file); err != nil {
		return err
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return rename(file.Name(), name, force)
}

// rename gives a file its name. Without force it first takes the name, which only one can: another process may have made such a file meanwhile.
func rename(from, name string, force bool) error {
	if !force {
		taken, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			return thereAlready(name)
		}
		if err == nil {
			err = taken.Close()
		}
		if err != nil {
			return fmt.Errorf("making %s: %w", name, err)
		}
	}
	if err := os.Rename(from, name); err != nil {
		if !force {
			_ = os.Remove(name) // it is ours, and empty
		}
		return fmt.Errorf("giving the file its name: %w", err)
	}
	return nil
}
