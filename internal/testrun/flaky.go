package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// flakyOptions are the flags of the flaky command.
type flakyOptions struct {
	count   int
	run     string
	procs   []string
	load    int
	timeout time.Duration
	dir     string   // where output is kept
	build   []string // flags of go test -c
	vitest  []string // configurations of Vitest that are run too, in web
}

// goCommand is the go command of the Makefile.
func goCommand() string { return cmp.Or(os.Getenv("GO"), "go") }

// flaky runs tests again and again. It says whether all of them passed.
func flaky(ctx context.Context, args []string, stdout, stderr io.Writer) (bool, error) {
	var o flakyOptions
	flags := flag.NewFlagSet("flaky", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&o.count, "count", 10, "how often each package is run with each value of -procs")
	flags.StringVar(&o.run, "run", "", "run only tests that match this regular expression")
	procs := flags.String("procs", "1,2,4", "values of GOMAXPROCS")
	flags.IntVar(&o.load, "load", runtime.NumCPU(), "how many goroutines keep the machine busy meanwhile")
	flags.DurationVar(&o.timeout, "timeout", 10*time.Minute, "how long one run of a package may take")
	flags.StringVar(&o.dir, "dir", "bin/flaky", "directory for the binaries, the report and the output of failures")
	build := flags.String("build", "", "flags of the build, separated by blanks")
	vitest := flags.String("vitest", "", "configurations of Vitest in web that are run too, separated by commas")
	if err := flags.Parse(args); err != nil {
		return false, err
	}
	o.procs = strings.Split(*procs, ",")
	o.build = strings.Fields(*build)
	if *vitest != "" {
		o.vitest = strings.Split(*vitest, ",")
	}
	if o.count < 1 || flags.NArg() == 0 && len(o.vitest) == 0 {
		return false, errors.New("flaky needs packages, or -vitest, and a -count of at least 1")
	}
	if err := os.RemoveAll(o.dir); err != nil {
		return false, err
	}
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return false, err
	}
	dir, err := filepath.Abs(o.dir)
	if err != nil {
		return false, err
	}
	o.dir = dir

	binaries, err := buildTests(ctx, o, flags.Args(), stdout)
	if err != nil {
		return false, err
	}
	stop := burn(o.load)
	defer stop()
	t := &tally{dir: o.dir}
	total := o.count * len(o.procs) * (len(binaries) + len(o.vitest))
	n := 0
	for round := range o.count {
		for _, procs := range o.procs {
			progress := func(name string, r runResult) {
				n++
				verdict := "ok"
				if failed := t.add(r); failed > 0 {
					verdict = fmt.Sprintf("%d FAILED", failed)
				}
				fmt.Fprintf(stdout, "%d/%d  round %d, GOMAXPROCS=%s  %s  %s in %.1f s\n", n, total, round+1, procs, name, verdict, r.took.Seconds())
			}
			for _, b := range binaries {
				r, err := b.run(ctx, o, procs)
				if err != nil {
					// What was found so far is worth as much.
					return false, errors.Join(err, t.report(stdout))
				}
				progress(b.pkg, r)
			}
			for _, config := range o.vitest {
				r, err := runVitest(ctx, o, config, procs)
				if err != nil {
					return false, errors.Join(err, t.report(stdout))
				}
				progress(config, r)
			}
		}
	}
	if err := t.report(stdout); err != nil {
		return false, err
	}
	return t.failures == 0, nil
}

// A testBinary is a package's compiled tests.
type testBinary struct {
	pkg, dir, path string
}

// buildTests compiles the tests of every package that has some.
func buildTests(ctx context.Context, o flakyOptions, patterns []string, stdout io.Writer) ([]testBinary, error) {
	if len(patterns) == 0 {
		return nil, nil
	}
	args := append([]string{"list", "-f", `{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}`}, patterns...)
	cmd := exec.CommandContext(ctx, goCommand(), args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("listing the packages: %w", err)
	}
	var list []testBinary
	for line := range strings.Lines(string(out)) {
		pkg, dir, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}
		b := testBinary{pkg: pkg, dir: dir, path: filepath.Join(o.dir, strings.ReplaceAll(pkg, "/", "-")+".test")}
		fmt.Fprintf(stdout, "building the tests of %s\n", pkg)
		args := slices.Concat([]string{"test", "-c", "-o", b.path}, o.build, []string{pkg})
		if out, err := exec.CommandContext(ctx, goCommand(), args...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("building the tests of %s: %w\n%s", pkg, err, out)
		}
		list = append(list, b)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("none of %s has tests", strings.Join(patterns, " "))
	}
	return list, nil
}

// A runResult is what came of running a package, or the console's tests, once.
type runResult struct {
	packages []*result
	output   string // all of it
	how      string // what to run to see it again
	took     time.Duration
}

// run runs all tests of a binary once, in random order.
func (b testBinary) run(ctx context.Context, o flakyOptions, procs string) (runResult, error) {
	seed := rand.Int64N(1 << 40) //nolint:gosec // the order of tests is no secret
	args := []string{"-test.v=test2json", "-test.paniconexit0", "-test.shuffle=" + strconv.FormatInt(seed, 10), "-test.timeout=" + o.timeout.String()}
	if o.run != "" {
		args = append(args, "-test.run="+o.run)
	}
	began := time.Now()
	cmd := exec.CommandContext(ctx, goCommand(), slices.Concat([]string{"tool", "test2json", "-t", "-p", b.pkg, b.path}, args)...)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), "GOMAXPROCS="+procs, "PWD="+b.dir)
	out, err := cmd.CombinedOutput()
	r := runResult{took: time.Since(began)}
	if ctx.Err() != nil {
		return r, errors.New("interrupted")
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return r, fmt.Errorf("running the tests of %s: %w", b.pkg, err)
	}
	var c collector
	var whole strings.Builder
	err = readEvents(bytes.NewReader(out), func(e event) {
		whole.WriteString(e.Output)
		if pkg := c.add(e); pkg != nil && pkg.Test == "" {
			r.packages = append(r.packages, pkg)
		}
	})
	if err != nil {
		return r, err
	}
	if len(r.packages) == 0 {
		// test2json reports none for a process that died, by a panic or the timeout.
		action := "pass"
		if exit != nil {
			action = "fail"
		}
		r.packages = append(r.packages, c.add(event{Action: action, Package: b.pkg, Elapsed: r.took.Seconds()}))
	}
	r.output = whole.String()
	r.how = fmt.Sprintf("cd %s && GOMAXPROCS=%s %s -test.v %s", b.dir, procs, b.path, strings.Join(args[1:], " "))
	return r, nil
}

// runVitest runs the console's tests once, in random order. A file of the tests in the browser tells a story, in the order of its tests:
// only the files are shuffled.
func runVitest(ctx context.Context, o flakyOptions, config, procs string) (runResult, error) {
	report := filepath.Join(o.dir, "vitest.json")
	if err := os.RemoveAll(report); err != nil {
		return runResult{}, err
	}
	seed := strconv.FormatInt(rand.Int64N(1<<31), 10) //nolint:gosec // the order of tests is no secret
	shuffled := "--sequence.shuffle.tests"
	if strings.Contains(config, "browser") {
		shuffled = "--sequence.shuffle.files"
	}
	args := []string{"vitest", "run", "--config", config, shuffled, "--sequence.seed=" + seed}
	if o.run != "" {
		args = append(args, "--testNamePattern="+o.run)
	}
	began := time.Now()
	cmd := exec.CommandContext(ctx, "npx", append(args, "--reporter=default", "--reporter=json", "--outputFile.json="+report)...)
	cmd.Dir = "web"
	cmd.Env = append(os.Environ(), "GOMAXPROCS="+procs)
	out, err := cmd.CombinedOutput()
	r := runResult{took: time.Since(began), output: string(out)}
	if ctx.Err() != nil {
		return r, errors.New("interrupted")
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return r, fmt.Errorf("running Vitest: %w", err)
	}
	data, err := os.ReadFile(report)
	if err != nil {
		return r, fmt.Errorf("running Vitest: there is no report: %w\n%s", err, out)
	}
	if r.packages, err = readVitest(data); err != nil {
		return r, fmt.Errorf("reading Vitest's report: %w", err)
	}
	r.how = "cd web && npx " + strings.Join(args, " ")
	return r, nil
}

// burn keeps n processors busy until the function that it returns is called.
func burn(n int) (stop func()) {
	var stopped atomic.Bool
	for range n {
		go func() {
			for x := uint64(1); !stopped.Load(); x = x*6364136223846793005 + 1 {
				_ = x
			}
		}()
	}
	return func() { stopped.Store(true) }
}

// A count is how a test has fared.
type count struct {
	pkg, test             string
	runs, failures, skips int
	unfinished            int
	longest               float64
	kept                  string // file with the output of the first failure
}

// A tally counts results per test.
type tally struct {
	dir      string
	counts   map[[2]string]*count
	failures int
	err      error
}

// add counts what one run has shown and returns how many tests failed in it.
func (t *tally) add(r runResult) int {
	if t.counts == nil {
		t.counts = map[[2]string]*count{}
	}
	failed := 0
	for _, pkg := range r.packages {
		blamed := false
		pkg.walk(func(test *result) {
			if test == pkg {
				return
			}
			c := t.count(test)
			c.runs++
			c.longest = max(c.longest, test.Seconds)
			switch {
			case test.Action == "skip":
				c.skips++
			case test.Action == "unfinished":
				c.unfinished++
			case test.failed():
				blamed = true
				failed++
				t.fail(c, test, r)
			}
		})
		// For instance a goroutine that was left over, which TestMain found.
		if pkg.Action == "fail" && !blamed {
			failed++
			c := t.count(&result{Package: pkg.Package, Test: "(the package as a whole)"})
			c.runs++
			t.fail(c, pkg, r)
		}
	}
	t.failures += failed
	return failed
}

func (t *tally) count(r *result) *count {
	key := [2]string{r.Package, r.Test}
	c := t.counts[key]
	if c == nil {
		c = &count{pkg: r.Package, test: r.Test}
		t.counts[key] = c
	}
	return c
}

// fail counts a failure, and keeps the output if it is the first.
func (t *tally) fail(c *count, test *result, r runResult) {
	c.failures++
	if c.kept != "" {
		return
	}
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune("/\\: ()\"'*?<>|", r) {
			return '-'
		}
		return r
	}, filepath.Base(c.pkg)+" "+c.test)
	if len(name) > 120 {
		name = name[:120]
	}
	c.kept = filepath.Join(t.dir, fmt.Sprintf("%03d-%s.txt", len(t.kept())+1, name))
	text := fmt.Sprintf("%s %s\n\nRun again with:\n%s\n\nIts output:\n%s\n\nThe whole run:\n%s", c.pkg, c.test, r.how, test.Output, r.output)
	if err := os.WriteFile(c.kept, []byte(text), 0o600); err != nil {
		t.err = errors.Join(t.err, err)
	}
}

// kept lists the tests of which output was kept.
func (t *tally) kept() []*count {
	var list []*count
	for _, c := range t.counts {
		if c.kept != "" {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b *count) int {
		return cmp.Or(cmp.Compare(b.failures, a.failures), cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.test, b.test))
	})
	return list
}

// report prints the tests that failed, and writes a table of all tests into the
// directory of the run.
func (t *tally) report(w io.Writer) error {
	var all []*count
	for _, c := range t.counts {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *count) int {
		return cmp.Or(cmp.Compare(b.failures, a.failures), cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.test, b.test))
	})
	var table bytes.Buffer
	fmt.Fprintln(&table, "runs\tfailures\tskips\tunfinished\tlongest\tpackage\ttest")
	for _, c := range all {
		fmt.Fprintf(&table, "%d\t%d\t%d\t%d\t%.2f\t%s\t%s\n", c.runs, c.failures, c.skips, c.unfinished, c.longest, c.pkg, c.test)
	}
	path := filepath.Join(t.dir, "report.tsv")
	if err := os.WriteFile(path, table.Bytes(), 0o600); err != nil {
		t.err = errors.Join(t.err, err)
	}
	failing := t.kept()
	fmt.Fprintf(w, "\n%d tests, %d of them failed; every test's figures are in %s\n", len(all), len(failing), path)
	for _, c := range failing {
		fmt.Fprintf(w, "  %d of %d failed  %s %s\n      first failure: %s\n", c.failures, c.runs, c.pkg, c.test, c.kept)
	}
	return t.err
}
