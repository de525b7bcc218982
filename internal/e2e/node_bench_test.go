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
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
)

// The bars of a link that is carried by a node.
const (
	nodeLinkBar   = 0.3      // milliseconds that it adds to a line's way, p50
	nodeMemoryBar = 96 << 10 // bytes of a linked session in the hub
)

// BenchmarkNode compares the way of a line over a node and TLS with that over the
// hub's own socket: from the CLI's write to the journal, after whose commit a follower
// is shown it. Both sessions are of one hub, measured in turns. NODE_ROUNDS and
// NODE_MILLIS change how long it takes. It prints a table; no time makes it fail.
func BenchmarkNode(b *testing.B) {
	rounds, millis := setting(b, "NODE_ROUNDS", 8), setting(b, "NODE_MILLIS", 1500)
	for b.Loop() {
		measureNode(b, rounds, millis)
	}
}

// A linkWay is a session whose CLI writes what it is told, and its follower.
type linkWay struct {
	name string
	cli  net.Conn
	next int64

	mu    sync.Mutex
	took  []float64 // milliseconds
	last  atomic.Int64
	p50   map[bool][]float64 // by round; true for deltas
	p99   map[bool][]float64
	close func()
}

func measureNode(b *testing.B, rounds, millis int) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = listener.Close() }() // nobody is to come any more
	l := newNodeLab(b, &labOptions{agent: "none", plain: true})
	l.options.agent = l.shell(roleEnv + "=" + roleWriter + " " + writerEnv + "=" + listener.Addr().String() + " exec '" + self + `' "$@"`)
	l.options.args = []string{"--url", l.url()} // without the proxy, which would count
	l.start()
	m := l.enroll("bench")
	var ways []*linkWay
	for _, node := range []string{"", "bench"} {
		w := &linkWay{name: "socket", p50: map[bool][]float64{}, p99: map[bool][]float64{}}
		if node != "" {
			w.name = "node, TLS"
		}
		dir := filepath.Join(l.root, "w", w.name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			b.Fatal(err)
		}
		var created api.Created
		if err := l.call(b.Context(), http.MethodPost, "/v1/sessions", api.CreateSession{Dir: dir, Node: node}, &created); err != nil {
			b.Fatal(err)
		}
		if w.cli, err = listener.Accept(); err != nil {
			b.Fatal(err)
		}
		defer func() { _ = w.cli.Close() }() // that ends the CLI
		if err := w.follow(l.lab, created.ID); err != nil {
			b.Fatal(err)
		}
		defer w.close()
		ways = append(ways, w)
	}
	const rate = 200 // lines per second: nothing waits for the line before
	count := int32(max(rate*millis/1000, 20))
	for range rounds {
		for _, deltas := range []bool{false, true} {
			for _, w := range ways {
				if err := atRest(l.current().pid(), m.current().pid()); err != nil {
					b.Fatal(err)
				}
				if err := w.measure(deltas, count, rate); err != nil {
					b.Fatalf("%s: %v", w.name, err)
				}
			}
		}
	}
	var text strings.Builder
	fmt.Fprintf(&text, "The way of a line from the CLI to a follower, %d rounds in turns of %d lines, %d per second; medians of the rounds, ± their spread.\n", rounds, count, rate)
	fmt.Fprintf(&text, "%-18s %-12s %10s %6s %10s\n", "lines", "way", "p50", "±", "p99")
	added := map[bool]float64{}
	for _, deltas := range []bool{false, true} {
		kind := fmt.Sprintf("messages, %.1f kB", headlineMessage/1000.0)
		if deltas {
			kind = fmt.Sprintf("deltas, %d B", headlineDelta)
		}
		for _, w := range ways {
			fmt.Fprintf(&text, "%-18s %-12s %7.3f ms %5.0f%% %7.3f ms\n", kind, w.name, median(w.p50[deltas]), 100*spread(w.p50[deltas]), median(w.p99[deltas]))
		}
		var more []float64
		for i := range ways[0].p50[deltas] {
			more = append(more, ways[1].p50[deltas][i]-ways[0].p50[deltas][i])
		}
		added[deltas] = median(more)
	}
	for _, deltas := range []bool{false, true} {
		verdict, kind := "met     ", "journaled messages"
		if added[deltas] > nodeLinkBar {
			verdict = "NOT MET "
		}
		if deltas {
			kind = "deltas"
		}
		fmt.Fprintf(&text, "%s  %s: a node adds %.3f ms to p50 (median of the rounds' differences), want at most %.1f\n", verdict, kind, added[deltas], nodeLinkBar)
	}
	fmt.Print("\n" + text.String())
	b.ReportMetric(median(ways[0].p50[false]), "ms-socket")
	b.ReportMetric(median(ways[1].p50[false]), "ms-node")
	b.ReportMetric(added[false], "ms-added")
}

// follow shows the way its lines, over the hub's socket: the same for all ways.
func (w *linkWay) follow(l *lab, session string) error {
	ctx, cancel := context.WithCancel(context.Background())
	transport := &http.Transport{DisableKeepAlives: true, ReadBufferSize: 64 << 10, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", l.socket())
	}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://switchboard/v1/sessions/"+session+"/events", http.NoBody)
	if err != nil {
		cancel()
		return err
	}
	request.Header.Set("Accept", "text/event-stream")
	answer, err := transport.RoundTrip(request)
	if err != nil {
		cancel()
		return err
	}
	if answer.StatusCode != http.StatusOK {
		cancel()
		return errors.Join(errors.New(answer.Status), answer.Body.Close())
	}
	w.last.Store(-1)
	var reader sync.WaitGroup
	reader.Go(func() { // ends with the request
		defer func() { _ = answer.Body.Close() }() // it was only read
		lines := bufio.NewReaderSize(answer.Body, 64<<10)
		for {
			line, err := lines.ReadSlice('\n')
			if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
				return
			}
			if !bytes.HasPrefix(line, []byte("data: ")) {
				continue
			}
			number, written := stampOf(line)
			if number <= w.last.Load() {
				continue
			}
			w.mu.Lock()
			w.took = append(w.took, float64(time.Now().UnixNano()-written)/1e6)
			w.mu.Unlock()
			w.last.Store(number)
		}
	})
	w.close = func() {
		cancel()
		reader.Wait()
	}
	return nil
}

// measure has the CLI write lines at a rate, and notes how long they took.
func (w *linkWay) measure(deltas bool, count, rate int32) error {
	w.mu.Lock()
	w.took = w.took[:0]
	w.mu.Unlock()
	if deltas {
		if err := binary.Write(w.cli, binary.LittleEndian, &writerOrder{Begin: true}); err != nil {
			return err
		}
	}
	if err := binary.Write(w.cli, binary.LittleEndian, &writerOrder{Deltas: deltas, From: w.next, Count: count, Rate: rate}); err != nil {
		return err
	}
	w.next += int64(count)
	if err := eventually(patience, func() error {
		if w.last.Load() < w.next-1 {
			return fmt.Errorf("line %d of %d has come", w.last.Load(), w.next-1)
		}
		return nil
	}); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	sorted := slices.Sorted(slices.Values(w.took))
	w.p50[deltas] = append(w.p50[deltas], sorted[len(sorted)/2])
	w.p99[deltas] = append(w.p99[deltas], sorted[len(sorted)*99/100])
	return nil
}

// BenchmarkNodeMemory compares the memory that a linked session takes in the hub: over
// a node and TLS, and over the hub's own socket. NODE_LINKS changes how many there are.
func BenchmarkNodeMemory(b *testing.B) {
	links := setting(b, "NODE_LINKS", 300)
	for b.Loop() {
		local, remote := linkMemory(b, links, false), linkMemory(b, links, true)
		verdict := "met     "
		if remote.heap+remote.stacks > nodeMemoryBar {
			verdict = "NOT MET "
		}
		fmt.Printf("\nMemory of a linked session in the hub, %d of them:\n%-12s %9s %9s %9s\n", links, "way", "heap", "stacks", "resident")
		for name, u := range map[string]usage{"socket": local, "node, TLS": remote} {
			fmt.Printf("%-12s %5.1f KiB %5.1f KiB %5.1f KiB\n", name, float64(u.heap)/1024, float64(u.stacks)/1024, float64(u.resident)/1024)
		}
		fmt.Printf("%s  over a node: %.1f KiB of heap and stacks, want at most %d\n", verdict, float64(remote.heap+remote.stacks)/1024, nodeMemoryBar>>10)
		b.ReportMetric(float64(local.heap+local.stacks)/1024, "KiB-socket")
		b.ReportMetric(float64(remote.heap+remote.stacks)/1024, "KiB-node")
	}
}

// linkMemory returns what a linked session takes in a hub's memory: the difference
// between some and many.
func linkMemory(t testing.TB, links int, node bool) usage {
	t.Helper()
	l := newNodeLab(t, &labOptions{plain: true, config: manyConnections})
	file := filepath.Join(l.root, "memory")
	env := "SWITCHBOARD_MEMORY_FILE=" + file
	l.start(env)
	socket := l.socket()
	var at *fakeNodes
	var m *machine
	if node {
		m = l.enroll("bench")
		socket, at = m.socket(), &fakeNodes{id: m.id, name: m.name}
	}
	l.stop()
	link := func(count, want int) usage {
		runs := l.prepareOn(count, at)
		l.start(env)
		l.startLoadAt(socket, runs)
		if err := eventually(2*patience, func() error { return l.linked(want) }); err != nil {
			t.Fatal(err)
		}
		return l.memory(file, fmt.Sprintf("%d linked", want))
	}
	first := max(links/3, 10)
	some := link(first, first)
	l.stop()
	each := link(links, first+links).per(some, links)
	// What the hub needs to take links in is given back once it is done, on a busy machine later.
	for range 20 {
		later := l.memory(file, "later").per(some, links)
		if later.heap+later.stacks >= each.heap+each.stacks {
			break
		}
		each = later
	}
	return each
}

// TestNodeMemory holds the bar of BenchmarkNodeMemory, with fewer sessions.
func TestNodeMemory(t *testing.T) {
	t.Parallel()
	links := 60
	if soak() {
		links = 1000
	}
	each := linkMemory(t, links, true)
	t.Logf("a session that is linked over a node takes %d bytes of Go's heap and %d of its stacks", each.heap, each.stacks)
	if each.heap+each.stacks > nodeMemoryBar {
		t.Errorf("that is more than %d bytes", nodeMemoryBar)
	}
}
