//go:build linux || darwin

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
)

// BenchmarkStart compares starting an agent through the hub, from the request to
// the answer of the agent's first request, with starting the same simulated CLI
// directly: 20 pairs, whose medians and median difference are reported.
func BenchmarkStart(b *testing.B) {
	const pairs = 20
	l := newLab(b, &labOptions{plain: true})
	l.start()
	for b.Loop() {
		var direct, through, more []time.Duration
		for range pairs {
			d := l.startDirectly(b)
			t := l.startThrough(b, nil)
			direct, through, more = append(direct, d), append(through, t), append(more, t-d)
		}
		b.ReportMetric(milliseconds(direct), "ms/direct")
		b.ReportMetric(milliseconds(through), "ms/hub")
		b.ReportMetric(milliseconds(more), "ms/difference")
	}
}

// milliseconds returns the median.
func milliseconds(times []time.Duration) float64 {
	slices.Sort(times)
	return float64(times[len(times)/2].Microseconds()) / 1000
}

// startDirectly starts a simulated CLI and returns how long it took to answer.
func (l *lab) startDirectly(b *testing.B) time.Duration {
	b.Helper()
	dir, _ := l.newDir("")
	begin := time.Now()
	cmd := exec.Command(l.options.agent, "--print", "--verbose", "--input-format=stream-json", "--output-format=stream-json", "--permission-prompt-tool=stdio")
	cmd.Dir, cmd.Env = dir, l.environment()
	input, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	if _, err := io.WriteString(input, `{"type":"control_request","request_id":"1","request":{"subtype":"initialize"}}`+"\n"); err != nil {
		b.Fatal(err)
	}
	reader := bufio.NewReader(output)
	for {
		line, err := reader.ReadBytes('\n')
		if err != nil {
			b.Fatal(err)
		}
		if bytes.Contains(line, []byte("control_response")) {
			break
		}
	}
	took := time.Since(begin)
	_ = input.Close() // that ends it
	_, _ = io.Copy(io.Discard, reader)
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	return took
}

// startThrough creates a session and returns how long it took until its agent
// had answered. It is stopped afterwards. change may be nil.
func (l *lab) startThrough(b *testing.B, change func(*api.CreateSession)) time.Duration {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), patience)
	defer cancel()
	begin := time.Now()
	s, err := l.create(ctx, change)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := s.await(ctx, "the first answer", func(events []api.Event) bool {
		return slices.ContainsFunc(events, func(e api.Event) bool {
			return e.Kind == api.KindLine && bytes.Contains(e.Line, []byte("control_response"))
		})
	}); err != nil {
		b.Fatal(err)
	}
	took := time.Since(begin)
	s.follower.close()
	if err := s.stopAgent(ctx); err != nil {
		b.Fatal(err)
	}
	if err := eventually(patience, func() error {
		if n := len(l.shims()); n > 0 {
			return fmt.Errorf("%d shims are left", n)
		}
		return nil
	}); err != nil {
		b.Fatal(err)
	}
	return took
}
