package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"
)

// An event is a line of go test -json; go doc test2json describes it. Lines of
// the build have ImportPath instead of Package.
type event struct {
	Time       time.Time
	Action     string
	Package    string
	ImportPath string
	Test       string
	Elapsed    float64 // seconds
	Output     string
}

// ended says whether the event is the result of a test or a package.
func (e event) ended() bool {
	return e.Action == "pass" || e.Action == "fail" || e.Action == "skip"
}

// readEvents calls yield for every line of r. A line that is not an event, for
// instance a complaint of the go command, is passed as output that belongs to
// no package.
func readEvents(r io.Reader, yield func(event)) error {
	lines := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			var e event
			if !strings.HasPrefix(line, "{") || json.Unmarshal([]byte(line), &e) != nil || e.Action == "" {
				e = event{Action: "output", Output: line}
			}
			yield(e)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// A result is what one test did in one run.
type result struct {
	Package string
	Test    string // empty: the package as a whole
	Action  string // pass, fail, skip, or unfinished if the process ended first
	Seconds float64
	Output  string // without the lines with which the testing package marks its progress
	Subs    []*result
}

// failed says whether the test failed on its own account: a test whose subtest
// failed is failed too, and says nothing new.
func (r *result) failed() bool {
	if r.Action != "fail" {
		return false
	}
	for _, sub := range r.Subs {
		if sub.Action == "fail" {
			return false
		}
	}
	return true
}

// blames says whether r, or anything below it, failed on its own account.
func (r *result) blames() bool {
	found := false
	r.walk(func(r *result) { found = found || r.failed() })
	return found
}

// walk calls yield for r and everything below it.
func (r *result) walk(yield func(*result)) {
	yield(r)
	for _, sub := range r.Subs {
		sub.walk(yield)
	}
}

// A collector makes results of events. The zero value is ready for use.
type collector struct {
	packages map[string]*result
	open     map[[2]string]*result
}

// add takes the next event. When it ends a test that is not a subtest, or a
// package, it returns the result. A package's result has only what belongs to
// no test in its output, and all its tests in Subs.
func (c *collector) add(e event) *result {
	if e.Package == "" {
		return nil
	}
	if c.packages == nil {
		c.packages = map[string]*result{}
		c.open = map[[2]string]*result{}
	}
	pkg := c.packages[e.Package]
	if pkg == nil {
		pkg = &result{Package: e.Package}
		c.packages[e.Package] = pkg
	}
	if e.Test == "" {
		switch {
		case e.Action == "output":
			pkg.Output += e.Output
		case e.ended():
			pkg.Action, pkg.Seconds = e.Action, e.Elapsed
			c.abandon(pkg)
			delete(c.packages, e.Package)
			return pkg
		}
		return nil
	}
	if e.Action == "run" {
		// With -count a test runs again under the same name.
		delete(c.open, [2]string{e.Package, e.Test})
	}
	test := c.test(pkg, e.Test)
	switch {
	case e.Action == "output":
		if !marker(e.Output) {
			test.Output += e.Output
		}
	case e.ended():
		test.Action, test.Seconds = e.Action, e.Elapsed
		if !strings.Contains(e.Test, "/") {
			return test
		}
	}
	return nil
}

// abandon marks the tests that have no result when their package ends. The test
// in which the process died has one; these were running or waiting beside it.
func (c *collector) abandon(pkg *result) {
	for key, test := range c.open {
		if key[0] != pkg.Package {
			continue
		}
		if test.Action == "" {
			test.Action = "unfinished"
		}
		delete(c.open, key)
	}
}

// test finds the result of a test, and makes it and those above it if they are
// new. The name of a subtest may have a slash of its own, so the test above it
// is the longest one that is known.
func (c *collector) test(pkg *result, name string) *result {
	key := [2]string{pkg.Package, name}
	if test := c.open[key]; test != nil {
		return test
	}
	test := &result{Package: pkg.Package, Test: name}
	c.open[key] = test
	above := pkg
	for i := strings.LastIndexByte(name, '/'); i > 0; i = strings.LastIndexByte(name[:i], '/') {
		if found := c.open[[2]string{pkg.Package, name[:i]}]; found != nil {
			above = found
			break
		}
	}
	above.Subs = append(above.Subs, test)
	return test
}

// marker says whether a line is one by which the testing package tells which
// test is running, or which one has ended.
func marker(line string) bool {
	line = strings.TrimLeft(line, " ")
	for _, prefix := range []string{"=== RUN ", "=== PAUSE ", "=== CONT ", "=== NAME ", "--- PASS: ", "--- FAIL: ", "--- SKIP: "} {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return false
}
