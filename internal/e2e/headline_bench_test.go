//go:build linux

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
)

const (
	// headlineWindow is how many lines are under way at most, as in BenchmarkRelay.
	headlineWindow = 256
	headlineIdle   = 24 // sessions whose memory is measured
	// headlineRest is how long a shim has nothing to do before its memory is measured:
	// longer than it waits before it gives memory back.
	headlineRest = 5 * time.Second
)

// BenchmarkHeadline measures the way that the lines of today's CLIs go: from a CLI's
// standard output through shim, link and hub to followers on /v1, by WebSocket and by
// server-sent events, and on /ws. Beside it, in turns, the same CLI is read by a bare
// pipe into a bare WebSocket fan-out. FANOUT_ROUNDS and FANOUT_MILLIS change how long
// it takes. It prints a table; no time makes it fail.
func BenchmarkHeadline(b *testing.B) {
	rounds, millis := setting(b, "FANOUT_ROUNDS", fanoutRounds), setting(b, "FANOUT_MILLIS", fanoutMillis)
	for b.Loop() {
		measureHeadline(b, rounds, millis)
	}
}

// A headline is one hub with the sessions of CLIs that write what they are told, or the
// bare fan-out.
type headline struct {
	b        *testing.B
	lab      *lab
	listener net.Listener // where CLIs ask what to write
	agent    string       // the CLI
	hub      *relay
	bare     *relay
}

func startHeadline(b *testing.B, program string) *headline {
	b.Helper()
	h := &headline{b: b}
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	if h.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = h.listener.Close() })
	h.lab = newLab(b, &labOptions{agent: program})
	h.agent = h.lab.shell(roleEnv + "=" + roleWriter + " " + writerEnv + "=" + h.listener.Addr().String() + " exec '" + self + `' "$@"`)
	config := filepath.Join(h.lab.root, "config.toml")
	if err := os.WriteFile(config, []byte(manyConnections), 0o600); err != nil {
		b.Fatal(err)
	}
	h.hub = &relay{name: "switchboard", address: h.lab.address}
	h.hub.cmd = exec.Command(program, "serve", "--data-dir", h.lab.data, "--addr", h.lab.address, "--agent", h.agent, "--config", config)
	h.hub.cmd.Env, h.hub.cmd.Dir = h.lab.environment(), h.lab.root
	h.hub.start(b, "socket ")
	if h.hub.token, err = h.lab.token(); err != nil {
		b.Fatal(err)
	}
	return h
}

// accept returns the connection of the CLI that was started last.
func (h *headline) accept() net.Conn {
	h.b.Helper()
	conn, err := h.listener.Accept()
	if err != nil {
		h.b.Fatal(err)
	}
	h.b.Cleanup(func() { _ = conn.Close() })
	return conn
}

// create starts a session, and returns its id, its CLI and its shim.
func (h *headline) create() (id string, cli net.Conn, shim int) {
	h.b.Helper()
	before := h.lab.shims()
	dir := filepath.Join(h.lab.root, "w", strconv.FormatInt(h.lab.numbers.Add(1), 10))
	if err := os.Mkdir(dir, 0o700); err != nil {
		h.b.Fatal(err)
	}
	var created api.Created
	if err := h.lab.call(h.b.Context(), http.MethodPost, "/v1/sessions", api.CreateSession{Dir: dir}, &created); err != nil {
		h.b.Fatal(err)
	}
	cli = h.accept()
	if err := eventually(patience, func() error {
		var s api.Session
		if err := h.lab.call(h.b.Context(), http.MethodGet, "/v1/sessions/"+created.ID, nil, &s); err != nil {
			return err
		}
		if s.State != api.StateIdle {
			return fmt.Errorf("the session is %s", s.State)
		}
		return nil
	}); err != nil {
		h.b.Fatal(err)
	}
	now := slices.DeleteFunc(h.lab.shims(), func(pid int) bool { return slices.Contains(before, pid) })
	if len(now) != 1 {
		h.b.Fatalf("%d shims were started, want 1", len(now))
	}
	return created.ID, cli, now[0]
}

// startBare starts the bare fan-out, with a CLI of its own.
func (h *headline) startBare() (cli net.Conn) {
	h.b.Helper()
	self, err := os.Executable()
	if err != nil {
		h.b.Fatal(err)
	}
	h.bare = &relay{name: "bare"}
	h.bare.cmd = exec.Command(self, h.agent)
	h.bare.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), roleEnv + "=" + roleBare, suiteEnv + "=" + suite.id}
	h.bare.address = h.bare.start(h.b, "listening on ")
	return h.accept()
}

// A way is how lines get from a CLI to followers.
type way struct {
	name    string
	address string
	token   string
	path    string
	sse     bool
	cli     net.Conn
	next    int64 // number of the CLI's next line; the CLI's ways share it
	pids    []int // whose processor time counts: shim and hub, or the bare fan-out
}

// A group is some followers of a way.
type group struct {
	way     *way
	ends    []*headlineEnd
	readers sync.WaitGroup
	batch   int64
	left    [8]atomic.Int64 // followers that have not all of a batch
	done    chan struct{}
}

// A headlineEnd is one follower.
type headlineEnd struct {
	close func()
	begun atomic.Bool
	last  atomic.Int64 // number of the newest line
	timed atomic.Bool
	took  []int64 // owned by the follower until it has the last line
}

// join connects n followers, and waits until each is shown something.
func (w *way) join(n int) (*group, error) {
	g := &group{way: w, batch: headlineWindow / 2, done: make(chan struct{}, 8)}
	told := make(chan struct{}, n)
	for range n {
		e := &headlineEnd{}
		e.last.Store(w.next - 1)
		first := true
		take := func(frame []byte) {
			if first {
				first = false
				told <- struct{}{}
			}
			g.arrived(e, frame)
		}
		if err := g.dial(e, take); err != nil {
			g.close()
			return nil, err
		}
		g.ends = append(g.ends, e)
	}
	for range n {
		select {
		case <-told:
		case <-time.After(patience):
			g.close()
			return nil, errors.New("a follower is shown nothing")
		}
	}
	return g, nil
}

// dial connects a follower.
func (g *group) dial(e *headlineEnd, take func(frame []byte)) error {
	w := g.way
	if !w.sse {
		conn, r, err := dialRaw(w.address, w.token, w.path)
		if err != nil {
			return err
		}
		e.close = func() { _ = conn.Close() } // it has all that it wants
		g.readers.Go(func() {                 // ends with the connection
			_ = readFrames(conn, r, func(kind byte, payload []byte) bool { // the end is noticed by who waits
				if kind == framePing {
					_, _ = conn.Write(maskedFrame(nil, framePong, payload))
				} else {
					take(payload)
				}
				return true
			})
		})
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+w.address+w.path, nil)
	if err != nil {
		cancel()
		return err
	}
	request.Header.Set("Authorization", "Bearer "+w.token)
	request.Header.Set("Accept", "text/event-stream")
	answer, err := (&http.Transport{DisableKeepAlives: true, DisableCompression: true, ReadBufferSize: 64 << 10}).RoundTrip(request)
	if err != nil {
		cancel()
		return err
	}
	e.close = cancel
	g.readers.Go(func() { // ends with the request
		defer func() { _ = answer.Body.Close() }() // it was only read
		r := bufio.NewReaderSize(answer.Body, 64<<10)
		for {
			line, err := r.ReadSlice('\n')
			if err != nil {
				return
			}
			if bytes.HasPrefix(line, []byte("data: ")) {
				take(line)
			}
		}
	})
	return nil
}

// close ends the followers.
func (g *group) close() {
	for _, e := range g.ends {
		e.close()
	}
	g.readers.Wait()
}

// arrived notes what a follower got.
func (g *group) arrived(e *headlineEnd, frame []byte) {
	n, written := stampOf(frame)
	if n < 0 {
		if !e.begun.Load() && bytes.Contains(frame, []byte(beginning)) {
			e.begun.Store(true)
		}
		return
	}
	if n <= e.last.Load() {
		return // the partial message begins with a line that was shown
	}
	if e.timed.Load() {
		e.took = append(e.took, time.Now().UnixNano()-written)
	}
	for had := (e.last.Load() + 1) / g.batch; had < (n+1)/g.batch; had++ {
		if g.left[had%int64(len(g.left))].Add(-1) == 0 {
			g.done <- struct{}{}
		}
	}
	e.last.Store(n)
}

// order has the CLI write.
func (g *group) order(o writerOrder) error {
	o.From = g.way.next
	first, last := o.From/g.batch, (o.From+int64(o.Count))/g.batch
	for batch := first; batch < last; batch++ {
		g.left[batch%int64(len(g.left))].Store(int64(len(g.ends)))
	}
	g.way.next += int64(o.Count)
	return binary.Write(g.way.cli, binary.LittleEndian, &o)
}

// begin has the CLI begin a message until every follower was shown that.
func (g *group) begin() error {
	return eventually(patience, func() error {
		if err := binary.Write(g.way.cli, binary.LittleEndian, &writerOrder{Begin: true}); err != nil {
			return err
		}
		if slices.ContainsFunc(g.ends, func(e *headlineEnd) bool { return !e.begun.Load() }) {
			return errors.New("a follower is not shown the beginning of a message")
		}
		return nil
	})
}

// await waits until every follower has a batch.
func (g *group) await() error {
	select {
	case <-g.done:
		return nil
	case <-time.After(stuck):
		return fmt.Errorf("a batch did not arrive within %s", stuck)
	}
}

// A headlineCell is what was measured of a way, a value for each round: lines per
// second at one follower, processor time per line and process, and latencies.
type headlineCell struct {
	perSecond, p50, p99 []float64
	cpu                 [][]float64
}

// measure writes as many lines as all followers take, and then some at a rate.
func (g *group) measure(deltas bool, millis, rate int, c *headlineCell) error {
	if deltas {
		if err := g.begin(); err != nil {
			return err
		}
	}
	full := func(limit time.Duration) (lines int64, seconds float64, err error) {
		from := time.Now()
		underway := 0
		for first := g.way.next; ; {
			if time.Since(from) < limit {
				if err := g.order(writerOrder{Deltas: deltas, Count: int32(g.batch)}); err != nil {
					return 0, 0, err
				}
				if underway++; underway == 1 {
					continue
				}
			} else if underway == 0 {
				return g.way.next - first, time.Since(from).Seconds(), nil
			}
			if err := g.await(); err != nil {
				return 0, 0, err
			}
			underway--
		}
	}
	limit := time.Duration(millis) * time.Millisecond
	if _, _, err := full(limit / 4); err != nil {
		return err
	}
	before := make([]float64, len(g.way.pids))
	for i, pid := range g.way.pids {
		before[i] = cpuSeconds(pid)
	}
	lines, seconds, err := full(limit)
	if err != nil {
		return err
	}
	c.perSecond = append(c.perSecond, float64(lines)/seconds)
	used := make([]float64, len(before))
	for i, pid := range g.way.pids {
		used[i] = (cpuSeconds(pid) - before[i]) / float64(lines) * 1e6
	}
	c.cpu = append(c.cpu, used)
	count := int32(max(1, int64(rate)*int64(fanoutPaced*millis)/1000/g.batch) * g.batch)
	for _, e := range g.ends {
		e.timed.Store(true)
	}
	batches := int64(count) / g.batch
	if err := g.paced(deltas, count, rate, batches); err != nil {
		return err
	}
	var all []int64
	for _, e := range g.ends {
		e.timed.Store(false)
		all = append(all, e.took...)
		e.took = nil
	}
	slices.Sort(all)
	c.p50 = append(c.p50, float64(all[len(all)/2])/1000)
	c.p99 = append(c.p99, float64(all[len(all)*99/100])/1000)
	return nil
}

// paced writes lines at a rate, batch by batch, and waits for the last.
func (g *group) paced(deltas bool, count int32, rate int, batches int64) error {
	for range batches {
		if err := g.order(writerOrder{Deltas: deltas, Count: int32(int64(count) / batches), Rate: int32(rate)}); err != nil {
			return err
		}
		if err := g.await(); err != nil {
			return err
		}
	}
	return nil
}

// footprint returns how much memory a process has: resident, its share of what it has
// in common with others, and what of it is its own and no file's.
func footprint(pid int) (rss, pss, anonymous float64, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0, 0, 0, err
	}
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(line, ":")
		n, _ := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64) // the first line is none
		switch name {
		case "Rss":
			rss = n / 1024
		case "Pss":
			pss = n / 1024
		case "Anonymous":
			anonymous = n / 1024
		}
	}
	return rss, pss, anonymous, nil
}

// measureHeadline does all of it once.
func measureHeadline(b *testing.B, rounds, millis int) {
	h := startHeadline(b, releaseProgram(b))
	hubPID := h.hub.pid()
	_, _, _ = h.create() // what the first one needs is more than what one more does
	resident := func() float64 {
		<-time.After(headlineRest)
		n, err := residentBytes(hubPID)
		if err != nil {
			b.Fatal(err)
		}
		return float64(n) / (1 << 20)
	}
	before := resident()
	var shims []int
	for range headlineIdle {
		_, _, shim := h.create()
		shims = append(shims, shim)
	}
	perSession := (resident() - before) / headlineIdle
	var text strings.Builder
	tell := func(when string, pids []int) (rss, pss float64) {
		anonymous := 0.0
		for _, pid := range pids {
			r, p, a, err := footprint(pid)
			if err != nil {
				b.Fatal(err)
			}
			rss, pss, anonymous = rss+r, pss+p, anonymous+a
		}
		n := float64(len(pids))
		fmt.Fprintf(&text, "a shim %s: %.1f MiB resident, %.1f MiB with shared pages divided, %.1f MiB of it anonymous\n", when, rss/n, pss/n, anonymous/n)
		return rss / n, pss / n
	}
	idle, share := tell("that is idle", shims)
	fmt.Fprintf(&text, "an idle session takes %.2f MiB in the hub, an idle agent %.1f MiB with its shim\n", perSession, share+perSession)

	id, cli, shim := h.create()
	bareCLI := h.startBare()
	pids := []int{shim, hubPID}
	ours := []*way{
		{name: "/v1 WebSocket", path: "/v1/sessions/" + id + "/events?after=now"},
		{name: "/v1 SSE", path: "/v1/sessions/" + id + "/events?after=now", sse: true},
		{name: "/ws", path: "/ws?session=" + id},
	}
	for _, w := range ours {
		w.address, w.token, w.cli, w.pids = h.hub.address, h.hub.token, cli, pids
	}
	bare := &way{name: "bare", address: h.bare.address, path: "/", cli: bareCLI, pids: []int{h.bare.pid()}}
	cells := map[string]*headlineCell{}
	at := func(w *way, deltas bool, n int) *headlineCell {
		key := fmt.Sprint(w.name, deltas, n)
		if cells[key] == nil {
			cells[key] = &headlineCell{}
		}
		return cells[key]
	}
	counts := []int{1, 50}
	var next int64
	for range rounds {
		for _, deltas := range []bool{true, false} {
			for _, n := range counts {
				for _, w := range append([]*way{bare}, ours...) {
					if w != bare {
						w.next = next
					}
					if err := atRest(pids...); err != nil {
						b.Fatal(err)
					}
					g, err := w.join(n)
					if err == nil {
						err = g.measure(deltas, millis, fanoutRates[n], at(w, deltas, n))
						g.close()
					}
					if err != nil {
						b.Fatalf("%s, %d followers, deltas %v: %v", w.name, n, deltas, err)
					}
					if w != bare {
						next = w.next
					}
				}
			}
		}
	}
	tell("right after a flood", []int{shim})
	<-time.After(headlineRest)
	tell("some seconds after a flood", []int{shim})
	fmt.Fprintf(&text, "\nLines of a CLI by its shim, %d rounds in turns, medians; × is the median of the rounds' ratios to the bare fan-out, ± the spread of the rounds.\n", rounds)
	fmt.Fprintf(&text, "%-16s %3s  %-14s %10s %5s %6s %12s %12s %10s %6s %10s %6s\n", "lines", "to", "way", "lines/s", "±", "×", "CPU shim", "CPU hub", "p50", "×", "p99", "×")
	for _, deltas := range []bool{true, false} {
		kind := fmt.Sprintf("deltas, %d B", headlineDelta)
		if !deltas {
			kind = fmt.Sprintf("messages, %.1f kB", headlineMessage/1000.0)
		}
		for _, n := range counts {
			reference := at(bare, deltas, n)
			for _, w := range append([]*way{bare}, ours...) {
				c := at(w, deltas, n)
				var shimCPU, hubCPU []float64
				for _, used := range c.cpu {
					hubCPU = append(hubCPU, used[len(used)-1])
					if len(used) > 1 {
						shimCPU = append(shimCPU, used[0])
					}
				}
				fmt.Fprintf(&text, "%-16s %3d  %-14s %10.0f %4.0f%% %6.2f %9.2f µs %9.2f µs %7.0f µs %6.2f %7.0f µs %6.2f\n", kind, n, w.name,
					median(c.perSecond), 100*spread(c.perSecond), ratio(c.perSecond, reference.perSecond), median(shimCPU), median(hubCPU),
					median(c.p50), ratio(c.p50, reference.p50), median(c.p99), ratio(c.p99, reference.p99))
			}
		}
	}
	verdict := func(met bool) string {
		if met {
			return "met     "
		}
		return "NOT MET "
	}
	for _, w := range ours {
		for _, n := range counts {
			x := ratio(at(w, true, n).perSecond, at(bare, true, n).perSecond)
			fmt.Fprintf(&text, "%s  deltas, %d followers on %s: %.2f of the bare fan-out, want at least 0.5\n", verdict(x >= 0.5), n, w.name, x)
		}
	}
	fmt.Fprintf(&text, "%s  an idle shim: %.1f MiB resident, want at most 12\n", verdict(idle <= 12), idle)
	fmt.Print("\n" + text.String())
	b.ReportMetric(ratio(at(ours[0], true, 1).perSecond, at(bare, true, 1).perSecond), "x-bare-delta-1")
	b.ReportMetric(ratio(at(ours[0], true, 50).perSecond, at(bare, true, 50).perSecond), "x-bare-delta-50")
	b.ReportMetric(idle, "MiB/shim")
}
