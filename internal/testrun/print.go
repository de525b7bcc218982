package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// goTest runs go test with args and prints the results. It says whether
// everything passed.
func goTest(ctx context.Context, args []string, timesDir string, stdout, stderr io.Writer) (bool, error) {
	// Given to go test, it would replace the marks in the output by which
	// -json tells a result from what a test printed.
	verbose := slices.Contains(args, "-v")
	args = slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return arg == "-v" })
	cmd := exec.CommandContext(ctx, goCommand(), append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = stderr
	cmd.Cancel = func() error { return nil } // an interrupt reaches the whole process group
	out, err := cmd.StdoutPipe()
	if err != nil {
		return false, fmt.Errorf("running go test: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return false, fmt.Errorf("running go test: %w", err)
	}
	var c collector
	var times []timing
	p := &printer{w: stdout, verbose: verbose}
	readErr := readEvents(out, func(e event) {
		p.event(e)
		if r := c.add(e); r != nil {
			p.result(r)
			if r.Test == "" {
				times = append(times, timingsOf(r)...)
			}
		}
	})
	err = cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return false, fmt.Errorf("running go test: %w", err)
	}
	if readErr != nil {
		return false, fmt.Errorf("reading the output of go test: %w", readErr)
	}
	if timesDir != "" {
		if err := writeTimes(filepath.Join(timesDir, "go.jsonl"), times); err != nil {
			return false, fmt.Errorf("recording the durations of tests: %w", err)
		}
	}
	return err == nil, nil
}

// A printer prints results as go test does.
type printer struct {
	w       io.Writer
	verbose bool // also print what passed or was skipped
}

// event prints what belongs to no package: the output of the build, and
// complaints of the go command.
func (p *printer) event(e event) {
	if e.Package == "" {
		fmt.Fprint(p.w, e.Output)
	}
}

// result prints a test or a package that has ended.
func (p *printer) result(r *result) {
	if r.Test != "" {
		p.test(r, 0)
		return
	}
	for _, test := range r.Subs {
		// It never ended, so it has not been printed yet.
		if test.Action == "unfinished" {
			p.test(test, 0)
		}
	}
	for line := range strings.Lines(r.Output) {
		noise := line == "PASS\n" || strings.Contains(line, "[no test files]") || strings.HasPrefix(line, "-test.shuffle ")
		if r.Action == "fail" || !noise {
			fmt.Fprint(p.w, line)
		}
	}
}

// test prints the result of a test, then what it wrote, then its subtests.
func (p *printer) test(r *result, depth int) {
	show := p.verbose || r.Action == "fail" || r.Action == "unfinished" && (r.Output != "" || r.blames())
	if !show {
		return
	}
	fmt.Fprintf(p.w, "%s--- %s: %s (%.2fs)\n", strings.Repeat("    ", depth), strings.ToUpper(r.Action), r.Test, r.Seconds)
	fmt.Fprint(p.w, r.Output)
	if r.Output != "" && !strings.HasSuffix(r.Output, "\n") {
		fmt.Fprintln(p.w)
	}
	for _, sub := range r.Subs {
		p.test(sub, depth+1)
	}
}
