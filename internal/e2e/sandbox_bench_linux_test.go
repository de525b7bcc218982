package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
)

// sandboxModes are what is compared, without a sandbox first.
var sandboxModes = []string{"off", sandboxDeny, sandboxStrict}

// in has a session be created in a sandbox.
func in(mode string) func(*api.CreateSession) {
	return func(c *api.CreateSession) { c.Options.Sandbox = mode }
}

// newSandboxBench starts a hub whose sessions may be in any sandbox, with a rule
// that denies something.
func newSandboxBench(b *testing.B, config string) *lab {
	b.Helper()
	l := newLab(b, &labOptions{plain: true, sandbox: sandboxAuto, away: true, config: config})
	for path, text := range map[string]string{".config/switchboard/rules.toml": `deny = ["Read(~/.ssh/**)", "Read(**/.env)"]` + "\n", ".ssh/id": lootKey} {
		path = filepath.Join(l.home, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	l.start()
	return l
}

// BenchmarkSandboxStart compares starting an agent in each sandbox with starting
// it without one, from the request to the answer of the agent's first request, in
// turn within one run. Medians are reported, and the median of the differences.
func BenchmarkSandboxStart(b *testing.B) {
	const rounds = 20
	l := newSandboxBench(b, "")
	for _, mode := range sandboxModes {
		l.startThrough(b, in(mode)) // what is found out once
	}
	for b.Loop() {
		took, more := map[string][]time.Duration{}, map[string][]time.Duration{}
		for range rounds {
			var plain time.Duration
			for _, mode := range sandboxModes {
				t := l.startThrough(b, in(mode))
				if mode == sandboxModes[0] {
					plain = t
				}
				took[mode], more[mode] = append(took[mode], t), append(more[mode], t-plain)
			}
		}
		for _, mode := range sandboxModes {
			b.ReportMetric(milliseconds(took[mode]), "ms/"+mode)
			if mode != sandboxModes[0] {
				b.ReportMetric(milliseconds(more[mode]), "ms/"+mode+"-added")
			}
		}
	}
}

// BenchmarkSandboxLines compares how fast lines come from an agent in each sandbox
// with how fast they come without one, in turn within one run.
func BenchmarkSandboxLines(b *testing.B) {
	const (
		rounds = 5
		lines  = 100_000
	)
	l := newSandboxBench(b, "")
	sessions := map[string]*session{}
	for _, mode := range sandboxModes {
		sessions[mode] = l.mustCreate(in(mode))
		if err := sessions[mode].turn(l.ctx(), "first", "@say Ready."); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		rates := map[string][]float64{}
		for round := range rounds {
			for _, mode := range sandboxModes {
				begin := time.Now()
				if err := sessions[mode].turn(l.ctx(), fmt.Sprintf("%s-%d", mode, round), fmt.Sprintf("@flood %d 200", lines)); err != nil {
					b.Fatal(err)
				}
				rates[mode] = append(rates[mode], lines/time.Since(begin).Seconds())
			}
		}
		for _, mode := range sandboxModes {
			b.ReportMetric(middle(rates[mode]), "lines/s-"+mode)
		}
	}
}

// middle returns the median.
func middle(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// sandboxWork is what people have agents run, with what has to be done before each
// time: a program that changes, so that something is compiled.
var sandboxWork = []struct{ name, before, command string }{
	{"git-status", "", "git status --short"},
	{"go-build", `echo "package main; var stamp = \"$(date +%s%N)\"; func init() { println(stamp) }" > stamp.go`, "go build -o program ."},
	{"npm-test", "", "npm test --silent"},
}

// BenchmarkSandboxWork compares git status in a clone of 2,000 files, go build of a
// small program whose packages are compiled, and npm test, in each sandbox with
// the same without one: a script that an agent runs in its folder, in turn within
// one run. Reported are the milliseconds, and how many times as long it takes.
func BenchmarkSandboxWork(b *testing.B) {
	const rounds, times = 5, 5
	l := newSandboxBench(b, "")
	l.withScript(b)
	for b.Loop() {
		took := map[string][]float64{}
		for range rounds {
			for _, mode := range sandboxModes {
				for name, each := range l.work(b, mode, times) {
					took[name+"-"+mode] = append(took[name+"-"+mode], each...)
				}
			}
		}
		for _, work := range sandboxWork {
			plain := middle(took[work.name+"-"+sandboxModes[0]])
			b.ReportMetric(plain, "ms/"+work.name)
			for _, mode := range sandboxModes[1:] {
				b.ReportMetric(middle(took[work.name+"-"+mode])/plain, "x/"+work.name+"-"+mode)
			}
		}
	}
}

// withScript has the agents of a lab run the script work.sh of their folder, if
// there is one, before they begin.
func (l *lab) withScript(b *testing.B) {
	b.Helper()
	starter := filepath.Join(l.root, "agent")
	script, err := os.ReadFile(starter)
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Replace(string(script), "\n", "\ncase \"$*\" in *--version*) ;; *) [ -f work.sh ] && bash work.sh </dev/null >work.log 2>&1 ;; esac\n", 1)
	if err := os.WriteFile(starter, []byte(text), 0o700); err != nil {
		b.Fatal(err)
	}
}

// work has an agent run the script in a sandbox, and returns what each of its
// commands took, in milliseconds.
func (l *lab) work(b *testing.B, mode string, times int) map[string][]float64 {
	b.Helper()
	var dir string
	l.startThrough(b, func(c *api.CreateSession) {
		dir = c.Dir
		c.Options.Sandbox = mode
		l.project(b, dir, times)
	})
	log, err := os.ReadFile(filepath.Join(dir, "work.log"))
	if err != nil {
		b.Fatal(err)
	}
	took := map[string][]float64{}
	for line := range strings.Lines(string(log)) {
		name, nanoseconds, found := strings.Cut(strings.TrimSpace(line), " took ")
		if !found {
			continue
		}
		n, err := strconv.ParseFloat(nanoseconds, 64)
		if err != nil {
			b.Fatal(err)
		}
		took[name] = append(took[name], n/1e6)
	}
	for _, work := range sandboxWork {
		if len(took[work.name]) != times {
			b.Fatalf("%s ran %d times; want %d:\n%s", work.name, len(took[work.name]), times, log)
		}
	}
	return took
}

// project makes a folder to work in, and its script. The compiler's cache is in the
// folder, and filled by a first build that is not measured: a strict sandbox lets
// nothing else be written.
func (l *lab) project(b *testing.B, dir string, times int) {
	b.Helper()
	files := map[string]string{
		"go.mod":       "module program\n\ngo 1.26\n",
		"main.go":      "package main\n\nfunc main() { println(\"hello\") }\n",
		"package.json": `{"name":"program","version":"1.0.0","scripts":{"test":"node --test test"}}`,
		"test/a.js":    "require('node:test')('one', () => {});\n",
		".gitignore":   ".agent\ncache\nprogram\nwork.*\nstamp.go\n",
	}
	for i := range 2000 {
		files[fmt.Sprintf("files/%d/%d.txt", i/100, i)] = fmt.Sprintf("file %d\n", i)
	}
	var script strings.Builder
	script.WriteString("set -e\nexport GOCACHE=$PWD/cache GOFLAGS= GOWORK=off GOTOOLCHAIN=local\ngit init -q\ngit add -A\n")
	for _, work := range sandboxWork {
		fmt.Fprintf(&script, "%s\n%s >/dev/null\n", work.before, work.command)
	}
	for _, work := range sandboxWork {
		fmt.Fprintf(&script, "for i in %s; do\n%s\nbegin=$(date +%%s%%N)\n%s >/dev/null\necho \"%s took $(($(date +%%s%%N) - begin))\"\ndone\n",
			strings.TrimSpace(strings.Repeat("x ", times)), work.before, work.command, work.name)
	}
	files["work.sh"] = script.String()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
}
