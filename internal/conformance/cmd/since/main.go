// Command since finds out which published versions of the Claude Code CLI have which flags, control requests and hook events, by bisection, and
// writes the table that package wire is generated from.
//
//	since [--help] [--max n] [--state file] [--out file] [--try version]
//
// It asks the npm registry which versions there are, installs one after the other into the user's cache folder, tries it and removes it again;
// pinned versions stay. What was found is kept in a file beside them, so that it can be interrupted and continues where it was. Exit code 0
// means that the table was written; versions that were not tried yet are named in it as an interval.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/switchboard-dev/switchboard/internal/conformance"
	"github.com/switchboard-dev/switchboard/internal/conformance/since"
	"github.com/switchboard-dev/switchboard/wire"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is main with its surroundings given; it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("since", flag.ContinueOnError)
	flags.SetOutput(stderr)
	s := search{out: stdout}
	limit := flags.Int("max", 1000, "try at most `n` versions, then write what is known")
	state := flags.String("state", "", "the `file` that keeps what was found (default: in the user's cache folder)")
	table := flags.String("out", filepath.Join("wire", "schema", "features.tsv"), "the `file` to write the table to")
	try := flags.String("try", "", "try this `version` now, print what it has and write nothing")
	flags.Usage = func() {
		_, _ = fmt.Fprint(stderr, `Usage: since [flags]

Finds out which versions of the Claude Code CLI have which flags, control requests
and hook events, with the simulated model. It downloads many versions, up to 360 MB
each, removes them again, and continues where it was interrupted.

`)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if flags.NArg() > 0 {
		_, _ = fmt.Fprintf(stderr, "since: unexpected argument %q\n", flags.Arg(0))
		return 2
	}
	if err := s.run(ctx, *state, *table, *try, *limit); err != nil {
		_, _ = fmt.Fprintf(stderr, "since: %v\n", err)
		return 1
	}
	return 0
}

// A search is one run of the program.
type search struct {
	out   io.Writer
	state *since.State
	cache string // the npm cache of this run, emptied after each version
}

func (s *search) run(ctx context.Context, stateFile, table, try string, limit int) (err error) {
	oldest, newest := parse(conformance.Oldest), parse(conformance.Newest)
	if stateFile == "" {
		dir, err := conformance.CacheDir("since")
		if err != nil {
			return err
		}
		stateFile = filepath.Join(dir, "found.json")
	}
	if s.state, err = since.Load(stateFile); err != nil {
		return err
	}
	if s.cache, err = os.MkdirTemp("", "switchboard-npm-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(s.cache)) }()
	// npm keeps every archive that it has ever fetched, and these are fetched once.
	if err := os.Setenv("npm_config_cache", s.cache); err != nil {
		return err
	}
	if err := s.removeFetched(); err != nil {
		return err
	}
	if try != "" {
		findings, err := s.try(ctx, parse(try), nil)
		for _, f := range since.Features() {
			if found, ok := findings[f.Key()]; ok {
				_, _ = fmt.Fprintf(s.out, "%s: %s\n", f.Key(), found)
			}
		}
		return err
	}
	published, err := conformance.Published(ctx)
	if err != nil {
		return err
	}
	var pinned []wire.Version
	for _, name := range conformance.Versions() {
		pinned = append(pinned, parse(name))
	}
	for range limit {
		next, more := since.Plan(published, pinned, s.state.Tried)
		if !more || ctx.Err() != nil {
			break
		}
		if err := s.step(ctx, published, pinned, next); err != nil {
			if ctx.Err() != nil {
				break // what is known is written
			}
			return err
		}
	}
	rows, returned := since.Rows(published, s.state.Tried)
	for _, key := range returned {
		_, _ = fmt.Fprintf(s.out, "%s went and came back; the table tells the last time\n", key)
	}
	if err := os.WriteFile(table, since.Table(oldest, newest, rows), 0o644); err != nil { //nolint:gosec // a source file, for everyone to read
		return fmt.Errorf("writing the table: %w", err)
	}
	count, widest := since.Open(published, s.state.Tried)
	_, _ = fmt.Fprintf(s.out, "wrote %s: %d features, %d versions tried; %d changes lie between versions that are not neighbors (at most %d untried)\n",
		table, len(rows), len(s.state.Tried), count, widest)
	return nil
}

// step tries a version and keeps what was found.
func (s *search) step(ctx context.Context, published, pinned []wire.Version, v wire.Version) error {
	begin := time.Now()
	findings, err := s.try(ctx, v, since.Needed(published, pinned, s.state.Tried, v))
	if err != nil {
		return err
	}
	if s.state.Tried[v] == nil {
		s.state.Tried[v] = since.Findings{}
	}
	maps.Copy(s.state.Tried[v], findings)
	if err := s.state.Save(); err != nil {
		return err
	}
	yes, unclear := 0, []string{}
	for key, found := range findings {
		switch found {
		case since.Yes:
			yes++
		case since.Unclear:
			unclear = append(unclear, key)
		case since.No:
		}
	}
	slices.Sort(unclear)
	count, widest := since.Open(published, s.state.Tried)
	_, _ = fmt.Fprintf(s.out, "%s: %d of %d features, in %s; %d changes to find, at most %d versions wide", v, yes, len(findings), time.Since(begin).Round(time.Second), count, widest)
	if len(unclear) > 0 {
		_, _ = fmt.Fprintf(s.out, "; unclear: %s", strings.Join(unclear, ", "))
	}
	_, _ = fmt.Fprintln(s.out)
	return nil
}

// try installs a version if need be, tries it, and removes what was installed.
func (s *search) try(ctx context.Context, v wire.Version, match func(since.Feature) bool) (findings since.Findings, err error) {
	program, err := conformance.Program(v.String())
	if err != nil {
		s.state.Fetched = append(s.state.Fetched, v.String())
		if err := s.state.Save(); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, s.removeFetched()) }()
		installer := conformance.Installer{}
		if program, err = installer.Install(ctx, v.String()); err != nil {
			return nil, err
		}
	}
	return since.Probe(ctx, program, match)
}

// removeFetched removes the versions that were installed to be tried, with what npm keeps of them.
func (s *search) removeFetched() error {
	if len(s.state.Fetched) == 0 {
		return nil
	}
	for _, version := range s.state.Fetched {
		dir, err := conformance.Dir(version)
		if err != nil {
			return err
		}
		if err := errors.Join(os.RemoveAll(dir), os.RemoveAll(dir+".lock")); err != nil {
			return fmt.Errorf("removing a version that was tried: %w", err)
		}
	}
	if err := os.RemoveAll(s.cache); err != nil {
		return fmt.Errorf("removing what npm keeps: %w", err)
	}
	s.state.Fetched = nil
	return s.state.Save()
}

// parse reads a version; one that is none is the zero version, which the installer refuses.
func parse(name string) wire.Version {
	v, err := wire.ParseVersion(name)
	if err != nil {
		return wire.Version{}
	}
	return v
}
