package shim

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/switchboard-dev/switchboard/internal/link"
)

// The same flood of lines of about 240 bytes, durable or live, read from the
// CLI directly and by a hub through a shim. The difference is what the shim and
// the link cost.

func BenchmarkDirect(b *testing.B) {
	for _, kind := range []string{"durable", "live"} {
		b.Run(kind, func(b *testing.B) {
			spec := newSpec(b, "/nowhere", "flood", fmt.Sprint(b.N, " ", kind))
			b.ReportAllocs()
			b.ResetTimer()
			p, err := spec.command().Start(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			lines := 0
			for {
				if _, err = p.Read(b.Context()); err != nil {
					break
				}
				lines++
			}
			b.StopTimer()
			if err := errors.Join(p.Close()); err != nil || lines != b.N {
				b.Fatalf("%d lines of %d: %v", lines, b.N, err)
			}
			if !errors.Is(err, io.EOF) {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}

func BenchmarkShim(b *testing.B) {
	for _, kind := range []string{"durable", "live"} {
		b.Run(kind, func(b *testing.B) {
			hub := newHub(b)
			hub.counting = true
			spec := newSpec(b, hub.socket, "flood", fmt.Sprint(b.N, " ", kind))
			b.ReportAllocs()
			b.ResetTimer()
			if code := start(b, spec, nil).wait(); code != exitDone {
				b.Fatalf("the shim ended with %d", code)
			}
			b.StopTimer()
			hub.mu.Lock()
			defer hub.mu.Unlock()
			got := hub.counts[link.Line] + hub.counts[link.Live]
			if kind == "durable" && got != b.N {
				b.Fatalf("%d lines of %d", got, b.N)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "lines/s")
			b.ReportMetric(float64(b.N-got)/float64(b.N), "left-out/line")
		})
	}
}
