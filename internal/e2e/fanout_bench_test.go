//go:build linux

package e2e

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What BenchmarkRelay does by default; FANOUT_ROUNDS and FANOUT_MILLIS change it.
const (
	fanoutRounds = 3
	fanoutMillis = 700
	// fanoutPaced is how many times as long lines are written at a fixed rate: of those
	// there are few, and the slowest in a hundred is asked for.
	fanoutPaced = 3
	// Half of a window is written at once; no relay has to hold more than a whole
	// one for a front end.
	fanoutWindow = 256
	// fanoutSteady is how far the rounds of what is compared may lie apart.
	fanoutSteady = 0.25
)

// fanoutRates are how many lines per second latencies are measured at, by the
// number of front ends: far below what either relay can take.
var fanoutRates = map[int]int{1: 500, 50: 200, 500: 20}

// fanoutP50 and fanoutP99 are how many times as long as Bun the relay may take for a
// delta at those rates, by the number of front ends.
var (
	fanoutP50 = map[int]float64{1: 1.2}
	fanoutP99 = map[int]float64{1: 3, 50: 1.5}
)

// BenchmarkRelay compares the relay with a dumb pipe on Bun, which it is to
// replace: lines of 1 KiB from one CLI to 1, 50 and 500 front ends, by one load
// generator, in turns. It prints a table and which targets are met; no time makes
// it fail.
func BenchmarkRelay(b *testing.B) {
	rounds, millis := setting(b, "FANOUT_ROUNDS", fanoutRounds), setting(b, "FANOUT_MILLIS", fanoutMillis)
	for b.Loop() {
		measureRelay(b, rounds, millis)
	}
}

func setting(b *testing.B, name string, value int) int {
	b.Helper()
	text := os.Getenv(name)
	if text == "" {
		return value
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		b.Fatalf("%s is %q, want a number above 0", name, text)
	}
	return n
}

// A cell is what was measured of one relay with some front ends and one kind of
// lines, a value for each round.
type cell struct{ perSecond, cpu, p50, p99, loaded, lost []float64 }

func (c *cell) add(r fanoutResult) {
	c.perSecond = append(c.perSecond, float64(r.Deliveries)/r.Seconds)
	c.cpu = append(c.cpu, r.CPU/float64(r.Deliveries)*1e6)
	c.p50, c.p99, c.loaded = append(c.p50, r.P50), append(c.p99, r.P99), append(c.loaded, r.Loaded)
	c.lost = append(c.lost, float64(r.Lost))
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	if len(sorted) == 0 {
		return 0
	}
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// spread says how far the values of the rounds lie apart, as a share of their
// median.
func spread(values []float64) float64 {
	return (slices.Max(values) - slices.Min(values)) / median(values)
}

// ratio is the median of the rounds' own ratios: what two relays did one after
// the other is compared, whatever the machine did in other rounds.
func ratio(ours, theirs []float64) float64 {
	var list []float64
	for i := range ours {
		list = append(list, ours[i]/theirs[i])
	}
	return median(list)
}

// measureRelay does all of it once.
func measureRelay(b *testing.B, rounds, millis int) {
	program := releaseProgram(b)
	g := startGenerator(b)
	cells := map[string]*cell{}
	at := func(r *relay, n int, kind string) *cell {
		key := fmt.Sprint(r.name, n, kind)
		if cells[key] == nil {
			cells[key] = &cell{}
		}
		return cells[key]
	}
	memory := map[string][]float64{}
	for range rounds {
		for _, r := range []*relay{startPipe(b, "send"), startHub(b, program)} {
			result := g.do(r, fanoutOrder{Kind: fanoutMessage, FrontEnds: 500, Window: fanoutWindow, Idle: true})
			memory[r.name] = append(memory[r.name], float64(result.Memory)/500/1024)
			r.stop()
		}
	}
	bun, hub, limit := startPipe(b, "send"), startHub(b, program), startBlast(b)
	kinds, counts := []string{fanoutDelta, fanoutMessage}, []int{1, 50, 500}
	var bare, floor []float64
	for range rounds {
		bare = append(bare, bareAppend(b, time.Duration(millis)*time.Millisecond))
		floor = append(floor, bareFloor(b, time.Duration(millis)*time.Millisecond))
		for _, kind := range kinds {
			for _, n := range counts {
				for _, r := range []*relay{bun, hub} {
					if err := atRest(bun.pid(), hub.pid()); err != nil {
						b.Fatal(err)
					}
					at(r, n, kind).add(g.do(r, fanoutOrder{
						Kind: kind, FrontEnds: n, Window: fanoutWindow, Warm: millis / 4, Full: millis, Paced: fanoutPaced * millis, Rate: fanoutRates[n],
					}))
				}
			}
		}
		for _, n := range counts {
			at(limit, n, "").add(g.do(limit, fanoutOrder{Kind: fanoutMessage, FrontEnds: n, Window: fanoutWindow, Warm: millis / 4, Full: millis}))
		}
	}
	var text strings.Builder
	fmt.Fprintf(&text, "\nFan-out of lines of 1 KiB from one CLI, %d rounds in turns, medians; ± is the spread of the rounds.\n", rounds)
	fmt.Fprintf(&text, "%-9s %4s  %-12s %16s %6s %14s %10s %10s %10s %6s\n", "lines", "to", "relay", "deliveries/s", "±", "CPU/delivery", "p99, load", "p50", "p99", "lost")
	for _, kind := range kinds {
		for _, n := range counts {
			for _, r := range []*relay{bun, hub, limit} {
				c := at(r, n, kind)
				if r == limit {
					c = at(r, n, "")
				}
				fmt.Fprintf(&text, "%-9s %4d  %-12s %16.0f %5.0f%% %11.2f µs", kind, n, r.name, median(c.perSecond), spread(c.perSecond)*100, median(c.cpu))
				if r != limit {
					fmt.Fprintf(&text, " %7.0f µs %7.0f µs %7.0f µs %6.0f", median(c.loaded), median(c.p50), median(c.p99), slices.Max(c.lost))
				}
				text.WriteByte('\n')
			}
		}
	}
	fmt.Fprintf(&text, "SQLite alone: %.0f lines/s ± %.0f%% (a table as the journal's, %d per transaction, as durable, by database/sql)\n", median(bare), spread(bare)*100, bareGroup)
	fmt.Fprintf(&text, "its floor:    %.0f lines/s ± %.0f%% (nothing but the lines, %d per transaction, by the bare driver); we reach %.2f of that\n",
		median(floor), spread(floor)*100, 2*bareGroup, ratio(at(hub, 1, fanoutMessage).perSecond, floor))
	fmt.Fprintf(&text, "an idle front end: bun %.1f KiB, switchboard %.1f KiB\n\n", median(memory[bun.name]), median(memory[hub.name]))
	// What both sides of a comparison did must be steady for it to tell anything.
	target := func(met bool, of [][]float64, format string, args ...any) {
		verdict := "met     "
		if !met {
			verdict = "NOT MET "
		}
		if slices.ContainsFunc(of, func(v []float64) bool { return spread(v) > fanoutSteady }) {
			verdict = "UNSTEADY"
		}
		fmt.Fprintf(&text, "%s  %s\n", verdict, fmt.Sprintf(format, args...))
	}
	for _, kind := range kinds {
		x := ratio(at(hub, 50, kind).perSecond, at(bun, 50, kind).perSecond)
		target(x >= 4, [][]float64{at(hub, 50, kind).perSecond, at(bun, 50, kind).perSecond}, "%s lines, 50 front ends: %.2f times Bun's deliveries, want at least 4", kind, x)
	}
	x := ratio(at(hub, 1, fanoutDelta).perSecond, at(bun, 1, fanoutDelta).perSecond)
	target(x >= 0.9, [][]float64{at(hub, 1, fanoutDelta).perSecond, at(bun, 1, fanoutDelta).perSecond}, "%s lines, 1 front end: %.2f times Bun's deliveries, want at least 0.9", fanoutDelta, x)
	for _, n := range counts {
		ours, theirs := at(hub, n, fanoutDelta), at(bun, n, fanoutDelta)
		if want, ok := fanoutP50[n]; ok {
			x := ratio(ours.p50, theirs.p50)
			target(x <= want, [][]float64{ours.p50, theirs.p50}, "%s lines, %d front ends, %d lines/s: p50 %.2f times Bun's, want at most %.1f", fanoutDelta, n, fanoutRates[n], x, want)
		}
		if want, ok := fanoutP99[n]; ok {
			x := ratio(ours.p99, theirs.p99)
			target(x <= want, [][]float64{ours.p99, theirs.p99}, "%s lines, %d front ends, %d lines/s: p99 %.2f times Bun's, want at most %.1f", fanoutDelta, n, fanoutRates[n], x, want)
		}
	}
	x = ratio(at(hub, 1, fanoutMessage).perSecond, bare)
	target(x >= 0.6, [][]float64{at(hub, 1, fanoutMessage).perSecond, bare}, "%s lines, 1 front end: %.2f of SQLite alone, want at least 0.6", fanoutMessage, x)
	p50 := median(at(hub, 1, fanoutMessage).p50)
	target(p50 <= 500, [][]float64{at(hub, 1, fanoutMessage).p50}, "%s lines, 1 front end: p50 %.0f µs, want at most 500", fanoutMessage, p50)
	kib := median(memory[hub.name])
	target(kib <= 48, [][]float64{memory[hub.name]}, "an idle front end: %.1f KiB, want at most 48", kib)
	fmt.Fprintf(&text, "UNSTEADY: the rounds lie more than %.0f%% apart; the figure says nothing for sure, try on a quiet machine\n", 100*fanoutSteady)
	for _, n := range counts {
		x := ratio(at(hub, n, fanoutDelta).perSecond, at(limit, n, "").perSecond)
		fmt.Fprintf(&text, "         %s lines, %d front ends: %.2f of the loopback limit\n", fanoutDelta, n, x)
	}
	fmt.Print(text.String())
	for _, c := range []struct {
		name  string
		value float64
	}{
		{"x-bun-50-delta", ratio(at(hub, 50, fanoutDelta).perSecond, at(bun, 50, fanoutDelta).perSecond)},
		{"x-bun-50-message", ratio(at(hub, 50, fanoutMessage).perSecond, at(bun, 50, fanoutMessage).perSecond)},
		{"KiB/front-end", kib},
	} {
		b.ReportMetric(c.value, c.name)
	}
}
