package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/naming"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

// exportFormats are the formats of export.
func exportFormats() []string {
	return []string{client.ExportMarkdown, client.ExportJSONL, client.ExportEvents}
}

// An exportVerb is the flags of export.
type exportVerb struct {
	place
	format, output string
	force          bool
}

func newExport(s *surroundings) *cobra.Command {
	v := &exportVerb{}
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
		ValidArgsFunction: completeSessions(s, &v.place),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := v.check(); err != nil {
				return usageError{err}
			}
			return v.act(cmd, s, func(ctx context.Context, c *client.Client) error { return v.run(ctx, s, c, args[0]) })
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
func (v *exportVerb) check() error {
	if v.format == "" {
		v.format = client.ExportMarkdown
		if extension := filepath.Ext(v.output); extension == ".jsonl" || extension == ".ndjson" {
			v.format = client.ExportJSONL
		}
	}
	return oneOf("--format", v.format, exportFormats())
}

// run writes a session.
func (v *exportVerb) run(ctx context.Context, s *surroundings, c *client.Client, name string) error {
	session, err := naming.Session(ctx, c, name)
	if err != nil {
		return err
	}
	if v.output != "" && v.output != "-" {
		return writeFile(v.output, v.force, func(w io.Writer) error { return c.Export(ctx, session.ID, v.format, w) })
	}
	out := s.stdout
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

// A cleanWriter makes what an agent wrote harmless for a terminal, line by line. Close writes what is left of the last one.
type cleanWriter struct {
	w    io.Writer
	rest []byte
}

// cleanMost is how much of a line is kept back for its end, so that a long one needs no memory.
const cleanMost = 1 << 16

// Write writes the lines that are complete.
func (c *cleanWriter) Write(p []byte) (int, error) {
	c.rest = append(c.rest, p...)
	end := bytes.LastIndexByte(c.rest, '\n') + 1
	if end == 0 && len(c.rest) > cleanMost {
		for end = len(c.rest) - 1; end > 0 && !utf8.RuneStart(c.rest[end]); end-- { // the last character may not be complete
		}
	}
	if end > 0 {
		if _, err := io.WriteString(c.w, paint.Clean(string(c.rest[:end]))); err != nil {
			return 0, err
		}
		c.rest = append(c.rest[:0], c.rest[end:]...)
	}
	return len(p), nil
}

// Close writes the rest.
func (c *cleanWriter) Close() error {
	_, err := io.WriteString(c.w, paint.Clean(string(c.rest)))
	c.rest = nil
	return err
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

// rename gives a file its name. Without force it first takes the name, which only one can: somebody may have made such a file meanwhile.
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
