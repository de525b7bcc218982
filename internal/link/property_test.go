package link

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// A world is a CLI, its shim, a hub and the connection between them, in one
// thread: what is on its way lies in two lists of frames.
type world struct {
	t    *testing.T
	rng  *rand.Rand
	name string

	// The CLI: all durable lines it wrote, the live ones of the messages that
	// are not complete, and the commands that it read.
	said map[int64]string
	open []string
	read []int64

	// The shim.
	out      *Outgoing
	commands Commands
	begun    bool

	// The connection.
	up      bool
	version int
	toHub   []frame
	toShim  []frame
	lines   *Decoder // the hub's
	orders  *Decoder // the shim's

	// The hub: its memory, and what is journaled.
	incoming *Incoming
	live     []string // since the hub was started
	journal  []entry
	gaps     []Gap
	have     int64
	outbox   map[int64]string // the fate: sent, written, failed
	next     int64
	restored bool
}

type frame struct {
	text bool
	data []byte
}

type entry struct {
	number int64
	line   string
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{
		t: t, rng: rand.New(rand.NewPCG(seed, 7)), name: fmt.Sprintf("seed %d", seed),
		said: map[int64]string{}, outbox: map[int64]string{}, next: 1,
		out: NewOutgoing(0, 1<<20), incoming: NewIncoming(0),
	}
	return w
}

func (w *world) fatal(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf(w.name+": "+format, args...)
}

// speak has the CLI write something.
func (w *world) speak() {
	id := w.rng.Uint32()
	switch w.rng.IntN(8) {
	case 0, 1, 2:
		length := w.rng.IntN(1 << w.rng.IntN(12))
		if w.rng.IntN(300) == 0 {
			length = 2*MaxFrame + 3
		}
		line := fmt.Sprintf("d%d %*d", id, length, 0)
		kind := []Kind{Line, Line, Program, Happened, TooLong}[w.rng.IntN(5)]
		w.said[w.out.Add(kind, []byte(line))] = string(kind) + line
	case 3:
		w.out.SettleAll()
		w.open = nil
	case 4:
		w.out.AddLive(fmt.Appendf(nil, "p%d", id), "", false) // progress
	default:
		line := fmt.Sprintf("v%d", id)
		w.out.AddLive([]byte(line), "", true)
		w.open = append(w.open, line)
	}
}

// say puts a message of the shim's on its way.
func (w *world) say(m Message) {
	if m != nil && w.up {
		w.toHub = append(w.toHub, frame{true, AppendMessage(nil, m, w.version)})
	}
}

// work has the shim write a command, which takes two steps.
func (w *world) work() {
	if w.begun {
		w.begun = false
		reason := ""
		if w.rng.IntN(10) == 0 {
			reason = "no"
		} else {
			w.read = append(w.read, w.commands.writing)
		}
		w.say(w.commands.Done(reason))
		return
	}
	_, w.begun = w.commands.Begin()
}

// send has the shim put a frame on its way.
func (w *world) send() {
	if data := w.out.AppendFrame(nil); len(data) > 0 {
		if !w.up {
			w.fatal("something is sent without a connection")
		}
		w.toHub = append(w.toHub, frame{false, data})
	}
}

// command has the hub put a command on its way. Some numbers are never sent.
func (w *world) command() {
	n := w.next
	w.next++
	if w.up && w.rng.IntN(5) > 0 {
		w.deliver(n)
	}
}

func (w *world) deliver(n int64) {
	w.outbox[n] = "sent"
	for data := range Frames(slices.Values([]Record{{Kind: Outbox, Number: n, Bytes: fmt.Appendf(nil, "c%d", n)}})) {
		w.toShim = append(w.toShim, frame{false, slices.Clone(data)})
	}
}

// hear has the hub take a frame, and journal what is new.
func (w *world) hear() {
	if len(w.toHub) == 0 {
		return
	}
	f := w.toHub[0]
	w.toHub = w.toHub[1:]
	if f.text {
		m, err := ParseMessage(f.data)
		if err != nil {
			w.fatal("%s: %v", f.data, err)
		}
		w.learn(m)
		return
	}
	w.lines.Push(f.data)
	for {
		r, ok, err := w.lines.Next()
		if err != nil {
			w.fatal("%v", err)
		}
		if !ok {
			break
		}
		v := w.incoming.Accept(&r)
		if v.Gap.Missing() {
			w.gap(v.Gap)
		}
		switch {
		case !v.Fresh:
		case r.Kind == Live:
			w.live = append(w.live, string(r.Bytes))
		default:
			w.journal = append(w.journal, entry{r.Number, string(r.Kind) + string(r.Bytes)})
			w.have = r.Number
		}
	}
	if w.rng.IntN(2) == 0 {
		w.toShim = append(w.toShim, frame{true, AppendMessage(nil, &Ack{w.have}, w.version)})
	}
}

func (w *world) gap(g Gap) {
	if !w.restored {
		w.fatal("a gap %v", g)
	}
	w.gaps = append(w.gaps, g)
	w.have = g.To
}

// learn notes the fate of commands.
func (w *world) learn(m Message) {
	written := func(upTo int64) {
		for n, fate := range w.outbox {
			if n <= upTo && fate == "sent" {
				w.outbox[n] = "written"
			}
		}
	}
	switch m := m.(type) {
	case *Written:
		if w.version == 0 { // names one
			if w.outbox[m.UpTo] == "sent" {
				w.outbox[m.UpTo] = "written"
			}
			return
		}
		written(m.UpTo)
	case *Refused:
		if w.outbox[m.Number] == "sent" {
			w.outbox[m.Number] = "written"
		}
	case *Failed:
		w.outbox[m.Number] = "failed"
	case *Hello:
		for _, f := range m.Failed {
			if _, ours := w.outbox[f.Number]; ours {
				w.outbox[f.Number] = "failed"
			}
		}
		if w.version > 0 {
			written(m.Written)
		}
	default:
		w.fatal("the shim said %T", m)
	}
}

// obey has the shim take a frame.
func (w *world) obey() {
	if len(w.toShim) == 0 {
		return
	}
	f := w.toShim[0]
	w.toShim = w.toShim[1:]
	if f.text {
		m, err := ParseMessage(f.data)
		if err != nil {
			w.fatal("%v", err)
		}
		if err := w.out.Ack(m.(*Ack).Have); err != nil {
			w.fatal("%v", err)
		}
		return
	}
	records, err := decodeAll(w.orders, f.data)
	if err != nil {
		w.fatal("%v", err)
	}
	for _, r := range records {
		w.say(w.commands.Accept(Order{Number: r.Number, Line: r.Bytes}))
	}
}

// cut breaks the connection; some of what is on its way still arrives.
func (w *world) cut() {
	if !w.up {
		return
	}
	for range w.rng.IntN(3) {
		w.hear()
	}
	for range w.rng.IntN(3) {
		w.obey()
	}
	w.up, w.toHub, w.toShim = false, nil, nil
	w.out.Disconnect()
	w.commands.Cut()
}

// connect makes a connection, of which only a part may succeed.
func (w *world) connect(version int) {
	if w.up {
		return
	}
	w.version = version
	hello := Hello{Version: Version, Next: w.out.Next(), Oldest: w.out.Oldest()}
	w.commands.Fill(&hello)
	m, err := ParseMessage(AppendMessage(nil, &hello, version))
	if err != nil {
		w.fatal("%v", err)
	}
	heard := m.(*Hello)
	gap, err := w.incoming.Hello(heard.Next, heard.Oldest)
	if err != nil {
		w.fatal("the hub is ahead")
	}
	if gap.Missing() {
		w.gap(gap)
	}
	w.learn(heard)
	w.next = max(w.next, heard.Written+1)
	if w.rng.IntN(5) == 0 {
		return // the welcome is lost
	}
	// A hub may say less than it has: the rest comes again.
	have := max(0, w.have-w.rng.Int64N(3))
	if err := w.out.Connect(have); err != nil {
		w.fatal("%v", err)
	}
	w.up, w.lines, w.orders = true, &Decoder{}, &Decoder{}
	var again []int64
	for n, fate := range w.outbox {
		if fate == "sent" && n != heard.Writing {
			again = append(again, n)
		}
	}
	slices.Sort(again)
	for _, n := range again {
		w.deliver(n)
	}
}

// crash starts the hub again: it knows what is journaled.
func (w *world) crash() {
	w.cut()
	w.incoming, w.live = NewIncoming(w.have), nil
}

// restore starts the hub with an older journal.
func (w *world) restore() {
	w.restored = true
	w.cut()
	keep := w.rng.IntN(len(w.journal) + 1)
	w.journal = w.journal[:keep]
	w.have = 0
	if keep > 0 {
		w.have = w.journal[keep-1].number
	}
	w.gaps = slices.DeleteFunc(w.gaps, func(g Gap) bool { return g.To > w.have })
	w.next = 1 + w.rng.Int64N(w.next)
	for n := range w.outbox {
		if n >= w.next {
			delete(w.outbox, n)
		}
	}
	w.incoming, w.live = NewIncoming(w.have), nil
}

// settle lets everything arrive.
func (w *world) settle(version int) {
	for !w.up {
		w.connect(version)
	}
	for range 3 {
		for w.out.Pending() || len(w.toHub) > 0 || len(w.toShim) > 0 || w.begun || w.commands.Waiting() > 0 {
			w.send()
			w.hear()
			w.obey()
			w.work()
		}
		w.toShim = append(w.toShim, frame{true, AppendMessage(nil, &Ack{w.have}, w.version)})
	}
}

func (w *world) check() {
	if !w.out.Drained() {
		w.fatal("lines are left: %d to %d", w.out.Oldest(), w.out.Next())
	}
	missing := map[int64]bool{}
	for _, g := range w.gaps {
		for n := g.From; n <= g.To; n++ {
			missing[n] = true
		}
	}
	last := int64(0)
	for _, e := range w.journal {
		if e.number <= last {
			w.fatal("%d comes after %d", e.number, last)
		}
		for n := last + 1; n < e.number; n++ {
			if !missing[n] {
				w.fatal("%d is missing", n)
			}
		}
		if w.said[e.number] != e.line {
			w.fatal("%d is %.40q, the CLI said %.40q", e.number, e.line, w.said[e.number])
		}
		last = e.number
	}
	for n := last + 1; n < w.out.Next(); n++ {
		if !missing[n] {
			w.fatal("%d is missing at the end", n)
		}
	}
	written := map[int64]int{}
	for i, n := range w.read {
		written[n]++
		if written[n] > 1 {
			w.fatal("command %d reached the CLI %d times", n, written[n])
		}
		if i > 0 && n < w.read[i-1] {
			w.fatal("command %d came after %d", n, w.read[i-1])
		}
	}
	for n, fate := range w.outbox {
		if w.restored {
			break // its numbers may stand for other commands
		}
		if truth := written[n] == 1; fate == "sent" || truth != (fate == "written") {
			w.fatal("the hub says that command %d is %s; it was written %d times", n, fate, written[n])
		}
	}
}

// TestNothingLostNothingTwice does at random what can happen to a link.
func TestNothingLostNothingTwice(t *testing.T) {
	for seed := range uint64(600) {
		w := newWorld(t, seed)
		version := Version
		if seed%10 == 9 {
			version = 0
		}
		restores := seed%3 == 0 && version > 0
		for range 50 + w.rng.IntN(400) {
			switch w.rng.IntN(40) {
			case 0:
				w.cut()
			case 1:
				if w.rng.IntN(3) == 0 {
					w.crash()
				}
			case 2:
				if restores && w.rng.IntN(10) == 0 {
					w.restore()
				}
			case 3, 4, 5:
				w.connect(version)
			case 6, 7, 8:
				w.command()
			case 9, 10, 11, 12, 13, 14:
				w.work()
			case 15, 16, 17, 18, 19, 20:
				w.send()
			case 21, 22, 23, 24, 25, 26:
				w.hear()
			case 27, 28, 29, 30, 31, 32:
				w.obey()
			default:
				w.speak()
			}
		}
		w.settle(version)
		w.check()
		// A new hub can rebuild what is being written, and nothing else comes.
		before := len(w.journal)
		w.crash()
		w.settle(version)
		if !slices.Equal(w.live, w.open) || len(w.journal) != before {
			w.fatal("a new hub got %q of the open message, expected %q", w.live, w.open)
		}
	}
}
