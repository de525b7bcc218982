//go:build linux || darwin

package e2e

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
)

// BenchmarkWrap measures what wrap adds to a line: a program and a CLI that says
// every line back take turns, directly and through wrap, in pairs within one run.
// A round has two lines, so that half of the difference of the medians is what one
// of them takes longer. With a hub everything is journaled meanwhile.
func BenchmarkWrap(b *testing.B) {
	for _, hub := range []bool{false, true} {
		name := "alone"
		if hub {
			name = "hub"
		}
		b.Run(name, func(b *testing.B) {
			l := newLab(b, &labOptions{plain: true})
			if hub {
				l.start()
			}
			cli := l.shell("exec cat")
			dir, _ := l.newDir("")
			direct := startEcho(b, dir, l.wrapEnv(), cli)
			through := startEcho(b, dir, l.wrapEnv("SWITCHBOARD_WRAP_CLAUDE="+cli), l.wrapper(), streamFlags()...)
			if hub {
				c := l.client()
				if err := eventually(patience, func() error {
					list, err := c.List(b.Context(), api.SessionFilter{})
					if err == nil && len(list.Sessions) == 0 {
						err = io.EOF // not yet
					}
					return err
				}); err != nil {
					b.Fatal(err)
				}
			}
			line := `{"type":"user","message":{"role":"user","content":"` + strings.Repeat("words ", 40) + `"}}` + "\n"
			for range 100 { // both are warm
				direct.round(line)
				through.round(line)
			}
			var one, other, more []time.Duration
			for b.Loop() {
				d, t := direct.round(line), through.round(line)
				one, other, more = append(one, d), append(other, t), append(more, t-d)
			}
			slices.Sort(more)
			b.ReportMetric(microseconds(one)/2, "µs/line-direct")
			b.ReportMetric(microseconds(other)/2, "µs/line-wrap")
			b.ReportMetric(microseconds(more)/2, "µs/line-added")
			b.ReportMetric(float64(more[len(more)*99/100].Microseconds())/2, "µs/line-added-p99")
			direct.end()
			through.end()
		})
	}
}

// BenchmarkWrapStart measures what wrap adds to the start of a CLI, up to its first
// line, in pairs within one run.
func BenchmarkWrapStart(b *testing.B) {
	const pairs = 20
	l := newLab(b, &labOptions{plain: true})
	l.start()
	cli := l.shell("exec cat")
	dir, _ := l.newDir("")
	begin := func(program string, args ...string) time.Duration {
		from := time.Now()
		e := startEcho(b, dir, l.wrapEnv("SWITCHBOARD_WRAP_CLAUDE="+cli), program, args...)
		e.round("{}\n")
		took := time.Since(from)
		e.end()
		return took
	}
	for b.Loop() {
		var direct, wrapped, plain, more []time.Duration
		for range pairs {
			d, w := begin(cli), begin(l.wrapper(), streamFlags()...)
			direct, wrapped, more = append(direct, d), append(wrapped, w), append(more, w-d)
			plain = append(plain, begin(l.wrapper()))
		}
		b.ReportMetric(milliseconds(direct), "ms/start-direct")
		b.ReportMetric(milliseconds(wrapped), "ms/start-wrap")
		b.ReportMetric(milliseconds(plain), "ms/start-exec")
		b.ReportMetric(milliseconds(more), "ms/start-added")
	}
}

// microseconds returns the median.
func microseconds(times []time.Duration) float64 {
	slices.Sort(times)
	return float64(times[len(times)/2].Nanoseconds()) / 1000
}

// An echo is a process that says every line back.
type echo struct {
	b   *testing.B
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startEcho(b *testing.B, dir string, env []string, program string, args ...string) *echo {
	b.Helper()
	e := &echo{b: b, cmd: exec.CommandContext(b.Context(), program, args...)}
	e.cmd.Dir, e.cmd.Env, e.cmd.Stderr = dir, env, os.Stderr
	var err error
	if e.in, err = e.cmd.StdinPipe(); err != nil {
		b.Fatal(err)
	}
	out, err := e.cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	e.out = bufio.NewReader(out)
	if err := e.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	return e
}

// round says a line and waits until it is back.
func (e *echo) round(line string) time.Duration {
	e.b.Helper()
	begin := time.Now()
	if _, err := io.WriteString(e.in, line); err != nil {
		e.b.Fatal(err)
	}
	got, err := e.out.ReadString('\n')
	if err != nil || got != line {
		e.b.Fatalf("%q came back as %q: %v", line, got, err)
	}
	return time.Since(begin)
}

func (e *echo) end() {
	e.b.Helper()
	_ = e.in.Close() // that ends it
	if err := e.cmd.Wait(); err != nil {
		e.b.Error(err)
	}
}
