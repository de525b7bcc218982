package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// How many lines the slowest command prints.
const (
	slowestTests    = 15
	slowestPackages = 10
)

// A timing is how long a test or, without a name, a package took.
type timing struct {
	Package string  `json:"package"`
	Test    string  `json:"test,omitempty"`
	Seconds float64 `json:"seconds"`
	// Subtests counts what is below a test, and Slowest names the one of them
	// that took longest.
	Subtests int    `json:"subtests,omitempty"`
	Slowest  string `json:"slowest,omitempty"`
}

// timingsOf returns the durations of a package and of its tests. Subtests are
// counted only: their time is part of the time of the test.
func timingsOf(pkg *result) []timing {
	list := []timing{{Package: pkg.Package, Seconds: pkg.Seconds}}
	for _, test := range pkg.Subs {
		t := timing{Package: pkg.Package, Test: test.Test, Seconds: test.Seconds}
		longest := 0.0
		test.walk(func(sub *result) {
			if sub == test {
				return
			}
			t.Subtests++
			if len(sub.Subs) == 0 && sub.Seconds > longest {
				longest = sub.Seconds
				t.Slowest = strings.TrimPrefix(sub.Test, test.Test+"/")
			}
		})
		list = append(list, t)
	}
	return list
}

// writeTimes appends timings to a file, one JSON object per line.
func writeTimes(path string, list []timing) (err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	enc := json.NewEncoder(w)
	for _, t := range list {
		if err := enc.Encode(t); err != nil {
			return err
		}
	}
	return w.Flush()
}

// readTimes reads what writeTimes has written.
func readTimes(data []byte) ([]timing, error) {
	var list []timing
	dec := json.NewDecoder(bytes.NewReader(data))
	for {
		var t timing
		err := dec.Decode(&t)
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
}

// A vitestReport is the part of Vitest's JSON report that is used here.
type vitestReport struct {
	TestResults []struct {
		Name       string  `json:"name"` // the path of the file
		StartTime  float64 `json:"startTime"`
		EndTime    float64 `json:"endTime"`
		Status     string  `json:"status"`
		Message    string  `json:"message"`
		Assertions []struct {
			FullName        string   `json:"fullName"`
			Status          string   `json:"status"`
			Duration        float64  `json:"duration"` // milliseconds
			FailureMessages []string `json:"failureMessages"`
		} `json:"assertionResults"`
	} `json:"testResults"`
}

// readVitest makes a result of each file of a report of Vitest.
func readVitest(data []byte) ([]*result, error) {
	var report vitestReport
	if err := json.Unmarshal(data, &report); err != nil {
		return nil, err
	}
	var list []*result
	for _, file := range report.TestResults {
		name := file.Name
		if i := strings.LastIndex(name, "/web/"); i >= 0 {
			name = name[i+1:]
		}
		pkg := &result{Package: name, Action: vitestAction(file.Status), Seconds: (file.EndTime - file.StartTime) / 1000, Output: file.Message}
		for _, a := range file.Assertions {
			pkg.Subs = append(pkg.Subs, &result{
				Package: name, Test: a.FullName, Action: vitestAction(a.Status),
				Seconds: a.Duration / 1000, Output: strings.Join(a.FailureMessages, "\n"),
			})
		}
		list = append(list, pkg)
	}
	return list, nil
}

func vitestAction(status string) string {
	switch status {
	case "passed":
		return "pass"
	case "failed":
		return "fail"
	default: // pending, skipped, todo
		return "skip"
	}
}

// slowest prints the tests and packages that took longest of a directory of
// records: those of this program (*.jsonl) and reports of Vitest (*.json).
func slowest(args []string, stdout io.Writer) error {
	if len(args) != 1 {
		return errors.New("slowest takes one argument, the directory of the records")
	}
	var list []timing
	paths, err := filepath.Glob(filepath.Join(args[0], "*.json*"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if filepath.Ext(path) == ".jsonl" {
			times, err := readTimes(data)
			if err != nil {
				return fmt.Errorf("reading %s: %w", path, err)
			}
			list = append(list, times...)
			continue
		}
		files, err := readVitest(data)
		if err != nil {
			return fmt.Errorf("reading %s: %w", path, err)
		}
		for _, file := range files {
			list = append(list, timingsOf(file)...)
		}
	}
	printSlowest(stdout, list)
	return nil
}

// printSlowest prints the longest of a list. Tests that run in parallel wait
// for each other, so their times may sum up to more than that of their package.
func printSlowest(w io.Writer, list []timing) {
	if len(list) == 0 {
		return
	}
	slices.SortStableFunc(list, func(a, b timing) int { return cmp.Compare(b.Seconds, a.Seconds) })
	common := commonPrefix(list)
	var tests, packages []string
	for _, t := range list {
		name := strings.TrimPrefix(t.Package, common)
		switch {
		case t.Test == "" && len(packages) < slowestPackages:
			packages = append(packages, fmt.Sprintf("  %7.1f s  %s", t.Seconds, name))
		case t.Test != "" && len(tests) < slowestTests:
			line := fmt.Sprintf("  %7.1f s  %s %s", t.Seconds, name, t.Test)
			if t.Subtests > 0 {
				line += fmt.Sprintf(" (%d subtests", t.Subtests)
				if t.Slowest != "" {
					line += ", the longest " + t.Slowest
				}
				line += ")"
			}
			tests = append(tests, line)
		}
	}
	fmt.Fprintf(w, "The tests that took longest:\n%s\n", strings.Join(tests, "\n"))
	fmt.Fprintf(w, "The packages that took longest to run:\n%s\n", strings.Join(packages, "\n"))
}

// commonPrefix returns the path of the module, which would stand before every
// package's name. Files of the console do not have it.
func commonPrefix(list []timing) string {
	prefix := ""
	for _, t := range list {
		if !strings.Contains(t.Package, ".") || strings.HasSuffix(t.Package, ".ts") || strings.HasSuffix(t.Package, ".tsx") {
			continue
		}
		if prefix == "" {
			prefix = t.Package + "/"
		}
		for !strings.HasPrefix(t.Package+"/", prefix) {
			prefix = prefix[:strings.LastIndexByte(strings.TrimSuffix(prefix, "/"), '/')+1]
		}
	}
	return prefix
}
