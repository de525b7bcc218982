package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// stream is what go test -json wrote for a package with a test that failed in a
// subtest whose name has a slash, two tests in parallel, and a skip.
const stream = `# a complaint of the go command
{"ImportPath":"m/broken","Action":"build-output","Output":"# m/broken\n"}
{"Action":"start","Package":"m/p"}
{"Action":"output","Package":"m/p","Output":"-test.shuffle 7\n"}
{"Action":"run","Package":"m/p","Test":"TestA"}
{"Action":"output","Package":"m/p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"run","Package":"m/p","Test":"TestB"}
{"Action":"output","Package":"m/p","Test":"TestB","Output":"no newline"}
{"Action":"output","Package":"m/p","Test":"TestA","Output":"    a_test.go:1: first\n"}
{"Action":"output","Package":"m/p","Test":"TestB","Output":"--- PASS: TestB (2.00s)\n"}
{"Action":"pass","Package":"m/p","Test":"TestB","Elapsed":2}
{"Action":"run","Package":"m/p","Test":"TestA/x/y"}
{"Action":"output","Package":"m/p","Test":"TestA/x/y","Output":"    a_test.go:2: wrong\n"}
{"Action":"output","Package":"m/p","Test":"TestA/x/y","Output":"--- FAIL: TestA/x/y (0.50s)\n"}
{"Action":"fail","Package":"m/p","Test":"TestA/x/y","Elapsed":0.5}
{"Action":"run","Package":"m/p","Test":"TestA/fine"}
{"Action":"pass","Package":"m/p","Test":"TestA/fine","Elapsed":0.25}
{"Action":"fail","Package":"m/p","Test":"TestA","Elapsed":1}
{"Action":"run","Package":"m/p","Test":"TestS"}
{"Action":"output","Package":"m/p","Test":"TestS","Output":"    a_test.go:3: why\n"}
{"Action":"skip","Package":"m/p","Test":"TestS","Elapsed":0}
{"Action":"output","Package":"m/p","Output":"FAIL\n"}
{"Action":"output","Package":"m/p","Output":"FAIL\tm/p\t3.1s\n"}
{"Action":"fail","Package":"m/p","Elapsed":3.1}
{"Action":"output","Package":"m/q","Output":"PASS\n"}
{"Action":"output","Package":"m/q","Output":"ok  \tm/q\t0.1s\n"}
{"Action":"pass","Package":"m/q","Elapsed":0.1}
{"Action":"output","Package":"m/r","Output":"?   \tm/r\t[no test files]\n"}
{"Action":"skip","Package":"m/r","Elapsed":0}
`

// died is what is written when the process ends in a subtest while another test
// waits.
const died = `{"Action":"run","Package":"m/p","Test":"TestA"}
{"Action":"run","Package":"m/p","Test":"TestWaits"}
{"Action":"run","Package":"m/p","Test":"TestA/sub"}
{"Action":"output","Package":"m/p","Test":"TestA/sub","Output":"panic: boom\n"}
{"Action":"fail","Package":"m/p","Test":"TestA/sub","Elapsed":0}
{"Action":"output","Package":"m/p","Output":"FAIL\tm/p\t0.1s\n"}
{"Action":"fail","Package":"m/p","Elapsed":0.1}
`

// leaked is a package that fails although each of its tests passed.
const leaked = `{"Action":"run","Package":"m/p","Test":"TestA"}
{"Action":"pass","Package":"m/p","Test":"TestA","Elapsed":0}
{"Action":"output","Package":"m/p","Output":"a goroutine is left\n"}
{"Action":"fail","Package":"m/p","Elapsed":0.1}
`

func results(t *testing.T, stream string) []*result {
	t.Helper()
	var c collector
	var list []*result
	err := readEvents(strings.NewReader(stream), func(e event) {
		if r := c.add(e); r != nil {
			list = append(list, r)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func packages(t *testing.T, stream string) []*result {
	t.Helper()
	var list []*result
	for _, r := range results(t, stream) {
		if r.Test == "" {
			list = append(list, r)
		}
	}
	return list
}

func TestPrinter(t *testing.T) {
	tests := []struct {
		name    string
		stream  string
		verbose bool
		want    string
	}{
		{"failures only", stream, false, "" +
			"# a complaint of the go command\n" +
			"# m/broken\n" +
			"--- FAIL: TestA (1.00s)\n" +
			"    a_test.go:1: first\n" +
			"    --- FAIL: TestA/x/y (0.50s)\n" +
			"    a_test.go:2: wrong\n" +
			"-test.shuffle 7\n" +
			"FAIL\n" +
			"FAIL\tm/p\t3.1s\n" +
			"ok  \tm/q\t0.1s\n"},
		{"everything", stream, true, "" +
			"# a complaint of the go command\n" +
			"# m/broken\n" +
			"--- PASS: TestB (2.00s)\n" +
			"no newline\n" +
			"--- FAIL: TestA (1.00s)\n" +
			"    a_test.go:1: first\n" +
			"    --- FAIL: TestA/x/y (0.50s)\n" +
			"    a_test.go:2: wrong\n" +
			"    --- PASS: TestA/fine (0.25s)\n" +
			"--- SKIP: TestS (0.00s)\n" +
			"    a_test.go:3: why\n" +
			"-test.shuffle 7\n" +
			"FAIL\n" +
			"FAIL\tm/p\t3.1s\n" +
			"ok  \tm/q\t0.1s\n"},
		{"the process died", died, false, "" +
			"--- UNFINISHED: TestA (0.00s)\n" +
			"    --- FAIL: TestA/sub (0.00s)\n" +
			"panic: boom\n" +
			"FAIL\tm/p\t0.1s\n"},
		{"TestMain failed", leaked, false, "a goroutine is left\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			var c collector
			p := &printer{w: &out, verbose: test.verbose}
			err := readEvents(strings.NewReader(test.stream), func(e event) {
				p.event(e)
				if r := c.add(e); r != nil {
					p.result(r)
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, out.String()); diff != "" {
				t.Errorf("printed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRepeatedTest(t *testing.T) {
	again := `{"Action":"run","Package":"m/p","Test":"TestA"}
{"Action":"fail","Package":"m/p","Test":"TestA","Elapsed":1}
{"Action":"run","Package":"m/p","Test":"TestA"}
{"Action":"pass","Package":"m/p","Test":"TestA","Elapsed":1}
{"Action":"fail","Package":"m/p","Elapsed":2}
`
	var actions []string
	for _, test := range packages(t, again)[0].Subs {
		actions = append(actions, test.Action)
	}
	if diff := cmp.Diff([]string{"fail", "pass"}, actions); diff != "" {
		t.Errorf("results of -count=2 (-want +got):\n%s", diff)
	}
}

func TestTimes(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "go.jsonl")
	for _, pkg := range packages(t, stream) {
		if err := writeTimes(path, timingsOf(pkg)); err != nil {
			t.Fatal(err)
		}
	}
	const report = `{"testResults":[{"name":"/home/me/web/src/a.test.ts","startTime":1000,"endTime":5000,"status":"passed",
		"assertionResults":[{"fullName":"a dialog closes","status":"passed","duration":1500,"failureMessages":[]}]}]}`
	if err := os.WriteFile(filepath.Join(dir, "console.json"), []byte(report), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := slowest([]string{dir}, &out); err != nil {
		t.Fatal(err)
	}
	want := `The tests that took longest:
      2.0 s  m/p TestB
      1.5 s  web/src/a.test.ts a dialog closes
      1.0 s  m/p TestA (2 subtests, the longest x/y)
      0.0 s  m/p TestS
The packages that took longest to run:
      4.0 s  web/src/a.test.ts
      3.1 s  m/p
      0.1 s  m/q
      0.0 s  m/r
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("slowest printed (-want +got):\n%s", diff)
	}
}

func TestCommonPrefix(t *testing.T) {
	list := []timing{{Package: "example.org/m/a/b"}, {Package: "web/src/x.test.ts"}, {Package: "example.org/m/a"}, {Package: "example.org/m/c"}}
	if got, want := commonPrefix(list), "example.org/m/"; got != want {
		t.Errorf("commonPrefix = %q, want %q", got, want)
	}
}

func TestTally(t *testing.T) {
	dir := t.TempDir()
	tl := &tally{dir: dir}
	for _, s := range []string{stream, died, leaked, stream} {
		tl.add(runResult{packages: packages(t, s), output: "all of it", how: "go test again"})
	}
	type figures struct{ Runs, Failures, Skips, Unfinished int }
	got := map[string]figures{}
	for key, c := range tl.counts {
		got[key[1]] = figures{c.runs, c.failures, c.skips, c.unfinished}
	}
	want := map[string]figures{
		"TestA":                    {4, 0, 0, 1}, // its subtests failed, not the test itself
		"TestA/x/y":                {2, 2, 0, 0},
		"TestA/fine":               {2, 0, 0, 0},
		"TestA/sub":                {1, 1, 0, 0},
		"TestB":                    {2, 0, 0, 0},
		"TestS":                    {2, 0, 2, 0},
		"TestWaits":                {1, 0, 0, 1},
		"(the package as a whole)": {1, 1, 0, 0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if tl.failures != 4 {
		t.Errorf("%d failures were counted, want 4", tl.failures)
	}
	var out bytes.Buffer
	if err := tl.report(&out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "2 of 2 failed  m/p TestA/x/y\n") {
		t.Errorf("the report does not name the test that failed twice:\n%s", out.String())
	}
	kept, err := os.ReadFile(tl.counts[[2]string{"m/p", "TestA/x/y"}].kept)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"go test again", "a_test.go:2: wrong", "all of it"} {
		if !strings.Contains(string(kept), part) {
			t.Errorf("the file of the first failure has no %q:\n%s", part, kept)
		}
	}
}

// TestRunsPackage runs both commands on a package that fails now and then.
func TestRunsPackage(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"go.mod": "module flaky\n\ngo 1.26\n",
		"a_test.go": `package flaky

import (
	"fmt"
	"os"
	"testing"
)

func TestSteady(t *testing.T) { fmt.Print("half a line") }

func TestDies(t *testing.T) {
	if os.Getenv("FLAKY_DIES") != "" {
		panic("dead")
	}
}

func TestEverySecond(t *testing.T) {
	name := os.Getenv("FLAKY_STATE")
	if os.Remove(name) == nil {
		t.Fatal("the second time")
	}
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}
`,
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	t.Setenv("FLAKY_STATE", filepath.Join(dir, "state"))
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	times := t.TempDir()

	var out bytes.Buffer
	passed, err := goTest(t.Context(), []string{"-count=1", "-v", "."}, times, &out, os.Stderr)
	if err != nil || !passed {
		t.Fatalf("the first run: passed %v, %v\n%s", passed, err, out.String())
	}
	for _, part := range []string{"--- PASS: TestSteady", "--- PASS: TestEverySecond", "ok  \tflaky"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("the first run printed no %q:\n%s", part, out.String())
		}
	}
	out.Reset()
	passed, err = goTest(t.Context(), []string{"-count=1", "."}, times, &out, os.Stderr)
	if err != nil || passed {
		t.Fatalf("the second run: passed %v, %v\n%s", passed, err, out.String())
	}
	if !strings.Contains(out.String(), "the second time") || strings.Contains(out.String(), "half a line") {
		t.Errorf("the second run did not print the failure alone:\n%s", out.String())
	}

	out.Reset()
	passed, err = flaky(t.Context(), []string{"-count=2", "-procs=1,2", "-load=1", "-dir", filepath.Join(dir, "kept"), "."}, &out, os.Stderr)
	if err != nil || passed {
		t.Fatalf("flaky: passed %v, %v\n%s", passed, err, out.String())
	}
	for _, part := range []string{"2 of 4 failed  flaky TestEverySecond", "3 tests, 1 of them failed"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("flaky printed no %q:\n%s", part, out.String())
		}
	}
	t.Setenv("FLAKY_DIES", "1")
	out.Reset()
	passed, err = flaky(t.Context(), []string{"-count=1", "-procs=2", "-load=0", "-run=TestDies|TestSteady", "-dir", filepath.Join(dir, "kept"), "."}, &out, os.Stderr)
	if err != nil || passed || !strings.Contains(out.String(), "1 of 1 failed  flaky TestDies") {
		t.Errorf("with a test that ends the process: passed %v, %v\n%s", passed, err, out.String())
	}
}
