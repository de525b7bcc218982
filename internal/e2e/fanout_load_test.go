//go:build linux

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// roleFanout is the process that is one CLI and all the front ends of a relay.
// It is the same for every relay that is measured: it knows of WebSockets only
// how to skip frames.
const roleFanout = "fanout"

// The kinds of lines that a CLI writes.
const (
	fanoutDelta   = "delta"   // a stream_event, which no journal keeps
	fanoutMessage = "message" // an assistant line with a uuid of its own
)

// fanoutBytes is how long a line is, with its line end.
const fanoutBytes = 1 << 10

// A fanoutOrder is one thing that the process is told to do, as a line of JSON.
type fanoutOrder struct {
	// Address is where the relay listens, Token what it wants to be shown, PID its
	// process.
	Address, Token string
	PID            int
	// Kind is that of the lines, FrontEnds how many are connected.
	Kind      string
	FrontEnds int
	// Window is how many lines are under way at most: the next ones are written
	// when every front end has the earlier ones.
	Window int
	// Warm, Full and Paced are for how many milliseconds lines are written: as many
	// as the relay takes, without and with being counted, and then Rate per second.
	Warm, Full, Paced int
	Rate              int
	// Idle says that nothing is written: how much memory the front ends take is
	// all that is asked.
	Idle bool
}

// A fanoutResult is what came of it.
type fanoutResult struct {
	Error string
	// Lines were written and Deliveries arrived in Seconds, for which the relay
	// used CPU seconds. Lost are those that a front end has not got.
	Lines, Deliveries, Lost int64
	Seconds, CPU            float64
	// P50 and P99 are microseconds from before a line is written until it is read
	// by a front end, over all deliveries of the paced part.
	P50, P99 float64
	// Loaded is the 99th percentile of what a whole batch takes, in microseconds,
	// while as many are written as the relay takes: from before it is written until a
	// front end has read its last line, over all front ends.
	Loaded float64
	// Memory is by how many bytes the relay has grown with the front ends.
	Memory int64
}

// runFanout is the test binary as the load process: orders in, results out,
// until its input ends.
func runFanout() error {
	orders := json.NewDecoder(os.Stdin)
	results := json.NewEncoder(os.Stdout)
	for orders.More() {
		var order fanoutOrder
		if err := orders.Decode(&order); err != nil {
			return err
		}
		result, err := order.run()
		if err != nil {
			result.Error = err.Error()
		}
		if err := results.Encode(result); err != nil {
			return err
		}
	}
	return nil
}

// run does what an order says.
func (o *fanoutOrder) run() (result fanoutResult, err error) {
	f := &fanout{order: o, epoch: time.Now(), conversation: fmt.Sprintf(uuidForm, time.Now().UnixMicro()&0xffff_ffff_ffff), done: make(chan struct{}, 1)}
	defer f.close()
	if err := f.connect(); err != nil {
		return result, err
	}
	if o.Idle {
		return result, f.idle(&result)
	}
	if err := f.join(o.FrontEnds); err != nil {
		return result, err
	}
	if err := f.begin(); err != nil {
		return result, err
	}
	if err := f.full(o.Warm, nil); err != nil {
		return result, err
	}
	if err := f.full(o.Full, &result); err != nil {
		return result, err
	}
	if err := f.paced(&result); err != nil {
		return result, err
	}
	for _, e := range f.ends {
		result.Lost += e.lost.Load()
	}
	return result, nil
}

// A fanout is one CLI and its front ends.
type fanout struct {
	order *fanoutOrder
	epoch time.Time
	// conversation is the CLI's: nobody has two at once.
	conversation string
	cli          net.Conn
	pen          sync.Mutex // held to write to cli
	ends         []*frontEnd
	reader       sync.WaitGroup
	next         int64  // number of the next line
	frames       []byte // those of a batch

	// left counts, for the last batches, the front ends that have not all of it;
	// done gets something when that is nobody.
	left [8]atomic.Int64
	done chan struct{}
	// written is when these batches were, and loaded says that somebody wants to know
	// how long they take.
	written [8]atomic.Int64
	loaded  atomic.Bool
	// sent is when lines were written, by their numbers, if that is asked.
	sent     []atomic.Int64
	sentFrom int64
}

// now is the time as it is measured here.
func (f *fanout) now() int64 { return int64(time.Since(f.epoch)) }

// batch is how many lines are written at once: two batches make a window.
func (f *fanout) batch() int64 { return int64(max(1, f.order.Window/2)) }

func (f *fanout) close() {
	if f.cli != nil {
		_ = f.cli.Close() // nobody waits for more
	}
	for _, e := range f.ends {
		_ = e.conn.Close() // likewise
	}
	f.reader.Wait()
}

// dialRaw connects to a path of a relay.
func dialRaw(address, token, path string) (net.Conn, *bufio.Reader, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, nil, err
	}
	request := "GET " + path + " HTTP/1.1\r\nHost: " + address + "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
	if token != "" {
		request += "Authorization: Bearer " + token + "\r\n"
	}
	if _, err := conn.Write([]byte(request + "\r\n")); err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	r := bufio.NewReaderSize(conn, 4<<10)
	for first := true; ; first = false {
		line, err := r.ReadString('\n')
		if err == nil && first && !strings.HasPrefix(line, "HTTP/1.1 101") {
			err = fmt.Errorf("%s answers %q", path, strings.TrimSpace(line))
		}
		if err != nil {
			return nil, nil, errors.Join(err, conn.Close())
		}
		if line == "\r\n" {
			return conn, r, nil
		}
	}
}

// connect is the CLI: it dials, answers what it is asked, and says what it is.
func (f *fanout) connect() error {
	conn, r, err := dialRaw(f.order.Address, f.order.Token, "/")
	if err != nil {
		return err
	}
	f.cli = conn
	asked := make(chan struct{}, 1)
	f.reader.Go(func() { // ends with the connection
		_ = readFrames(conn, r, func(kind byte, payload []byte) bool { // the end is noticed by who writes
			switch {
			case kind == frameText && bytes.Contains(payload, []byte(`"control_request"`)):
				f.answer(payload)
				select {
				case asked <- struct{}{}:
				default:
				}
			case kind == framePing:
				f.write(maskedFrame(nil, framePong, payload))
			}
			return true
		})
	})
	select {
	case <-asked:
	case <-time.After(patience):
		return errors.New("the relay does not send initialize")
	}
	init := fmt.Sprintf(`{"type":"system","subtype":"init","session_id":%q,"model":"claude-sonnet-4-6","cwd":"/","tools":[],"mcp_servers":[],"permissionMode":"default","uuid":%q}`,
		f.conversation, fmt.Sprintf(uuidForm, 0xffff_ffff_ffff)) + "\n"
	f.write(maskedFrame(nil, frameText, []byte(init)))
	f.prepare()
	return nil
}

// begin begins a message, if there are to be pieces of one, until every front end
// was shown that: who misses the beginning may be spared the rest.
func (f *fanout) begin() error {
	if f.order.Kind != fanoutDelta {
		return nil
	}
	var frames []byte
	for i, event := range []string{
		`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-6","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}`,
		beginning,
	} {
		line := fmt.Sprintf(`{"type":"stream_event","event":%s,"session_id":%q,"parent_tool_use_id":null,"uuid":%q}`, event, f.conversation, fmt.Sprintf(uuidForm, 0xffff_ffff_0000+i)) + "\n"
		frames = maskedFrame(frames, frameText, []byte(line))
	}
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	limit := time.After(patience)
	for {
		f.write(frames)
		select {
		case <-again.C:
		case <-limit:
			return errors.New("a front end is not shown the beginning of a message")
		}
		if !slices.ContainsFunc(f.ends, func(e *frontEnd) bool { return !e.begun.Load() }) {
			return nil
		}
	}
}

// beginning is what the pieces of a message follow.
const beginning = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`

// uuidForm is what all uuids look like.
const uuidForm = "6ba7b810-9dad-41d1-80b4-%012x"

// answer answers a control request of the relay.
func (f *fanout) answer(line []byte) {
	var request struct {
		ID string `json:"request_id"`
	}
	if err := json.Unmarshal(line, &request); err != nil {
		return
	}
	answer := fmt.Sprintf(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{"commands":[],"models":[],"account":{}}}}`, request.ID) + "\n"
	f.write(maskedFrame(nil, frameText, []byte(answer)))
}

// write writes frames. If the connection is gone, nothing more arrives, which is
// what everybody waits for.
func (f *fanout) write(frames []byte) {
	f.pen.Lock()
	defer f.pen.Unlock()
	_, _ = f.cli.Write(frames)
}

// prepare makes the frames of a batch. Only the numbers at their ends change.
func (f *fanout) prepare() {
	head, tail := `{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"`, `"}}`
	if f.order.Kind == fanoutMessage {
		head, tail = `{"type":"assistant","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-6","content":[{"type":"text","text":"`,
			`"}],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}`
	}
	tail += fmt.Sprintf(`,"session_id":%q,"parent_tool_use_id":null,"uuid":"`, f.conversation) + fmt.Sprintf(uuidForm, 0) + "\"}\n"
	text := strings.Repeat("What an agent writes is mostly words. ", 40)
	line := head + text[:fanoutBytes-len(head)-len(tail)] + tail
	for range f.batch() {
		f.frames = maskedFrame(f.frames, frameText, []byte(line))
	}
}

// stamp puts a number into the frame at the beginning of b and returns what
// follows the frame.
func stamp(b []byte, number int64) []byte {
	const header = 8
	key := b[4:header]
	payload := b[header : header+fanoutBytes]
	const digits = "0123456789abcdef"
	for i := range 12 {
		at := fanoutBytes - 4 - i
		payload[at] = digits[number&15] ^ key[at%4]
		number >>= 4
	}
	return b[header+fanoutBytes:]
}

// numberOf returns the number in a line that stamp has written, -1 if it is
// another.
func numberOf(line []byte) int64 {
	line = bytes.TrimSuffix(line, []byte("\n"))
	if len(line) != fanoutBytes-1 {
		return -1
	}
	number := int64(0)
	for _, c := range line[len(line)-14 : len(line)-2] {
		switch {
		case c >= '0' && c <= '9':
			number = number<<4 | int64(c-'0')
		case c >= 'a' && c <= 'f':
			number = number<<4 | int64(c-'a'+10)
		default:
			return -1
		}
	}
	return number
}

// send writes the next n lines.
func (f *fanout) send(n int64) error {
	rest := f.frames
	for range n {
		rest = stamp(rest, f.next)
		if at := f.next - f.sentFrom; f.sent != nil && at < int64(len(f.sent)) {
			f.sent[at].Store(f.now())
		}
		f.next++
	}
	f.pen.Lock()
	defer f.pen.Unlock()
	_, err := f.cli.Write(f.frames[:len(f.frames)-len(rest)])
	return err
}

// stuck is how long nothing at all may arrive. How slow a relay is does not
// matter: what is measured is how long it takes.
const stuck = 20 * time.Second

// await waits until every front end has a batch.
func (f *fanout) await() error {
	for had := f.deliveries(); ; {
		select {
		case <-f.done:
			return nil
		case <-time.After(stuck):
			now := f.deliveries()
			if now == had {
				return fmt.Errorf("nothing has arrived for %s: %d lines were written, %d deliveries came", stuck, f.next, now)
			}
			had = now
		}
	}
}

// full writes lines as fast as all front ends get them and waits until they have
// all. Lines that a front end has lost hold nothing up longer than the next batch.
func (f *fanout) full(milliseconds int, result *fanoutResult) error {
	batch := f.batch()
	if behind := f.next % batch; behind != 0 {
		return fmt.Errorf("the next line is %d, which begins no batch", f.next)
	}
	before, from, cpu := f.deliveries(), f.next, cpuSeconds(f.order.PID)
	f.loaded.Store(result != nil)
	defer f.loaded.Store(false)
	begin := f.now()
	end := begin + int64(milliseconds)*int64(time.Millisecond)
	underway := 0
	await := func(most int) error {
		for ; underway > most; underway-- {
			if err := f.await(); err != nil {
				return err
			}
		}
		return nil
	}
	for f.now() < end {
		slot := f.next / batch % int64(len(f.left))
		f.left[slot].Store(int64(len(f.ends)))
		f.written[slot].Store(f.now())
		if err := f.send(batch); err != nil {
			return err
		}
		underway++
		if err := await(1); err != nil {
			return err
		}
	}
	if err := await(0); err != nil {
		return err
	}
	if result != nil {
		result.Seconds = float64(f.now()-begin) / float64(time.Second)
		result.Lines, result.Deliveries = f.next-from, f.deliveries()-before
		result.CPU = cpuSeconds(f.order.PID) - cpu
		var all []int64
		for _, e := range f.ends {
			all = append(all, e.loaded...)
		}
		slices.Sort(all)
		if len(all) > 0 {
			result.Loaded = float64(all[len(all)*99/100]) / 1000
		}
	}
	return nil
}

func (f *fanout) deliveries() (n int64) {
	for _, e := range f.ends {
		n += e.got.Load()
	}
	return n
}

// paced writes lines at a rate and tells how long they take.
func (f *fanout) paced(result *fanoutResult) error {
	count := int64(f.order.Rate) * int64(f.order.Paced) / 1000
	if count == 0 {
		return nil
	}
	// Whole batches, so that a further part begins with one.
	batch := f.batch()
	count = (count + batch - 1) / batch * batch
	f.sentFrom, f.sent = f.next, make([]atomic.Int64, count)
	for _, e := range f.ends {
		e.times.Store(&timesheet{from: f.next, sent: f.sent, took: make([]int64, 0, count)})
	}
	for i := range f.left {
		f.left[i].Store(0)
	}
	last := (f.next + count - 1) / batch
	f.left[last%int64(len(f.left))].Store(int64(len(f.ends)))
	ticker := time.NewTicker(time.Second / time.Duration(f.order.Rate))
	defer ticker.Stop()
	for range count {
		<-ticker.C
		if err := f.send(1); err != nil {
			return err
		}
	}
	if err := f.await(); err != nil {
		return err
	}
	var all []int64
	for _, e := range f.ends {
		all = append(all, e.times.Swap(nil).took...)
	}
	slices.Sort(all)
	if len(all) > 0 {
		result.P50, result.P99 = float64(all[len(all)/2])/1000, float64(all[len(all)*99/100])/1000
	}
	return nil
}

// idle tells how much memory front ends take that get nothing.
func (f *fanout) idle(result *fanoutResult) error {
	// What the first one needs is more than what one more does.
	if err := f.join(1); err != nil {
		return err
	}
	settle := func() int64 {
		<-time.After(500 * time.Millisecond) // what was needed to connect is put away by then
		n, err := residentBytes(f.order.PID)
		if err != nil {
			return 0
		}
		return n
	}
	before := settle()
	if err := f.join(f.order.FrontEnds); err != nil {
		return err
	}
	result.Memory = settle() - before
	return nil
}

// A frontEnd is one that only counts.
type frontEnd struct {
	conn  net.Conn
	next  int64 // number of the line that should come
	begun atomic.Bool
	got   atomic.Int64
	lost  atomic.Int64
	times atomic.Pointer[timesheet] // nil if nobody wants to know
	// loaded is how long batches took, owned by the front end until it has the last.
	loaded []int64
}

// A timesheet notes how long lines took.
type timesheet struct {
	from int64
	sent []atomic.Int64
	took []int64 // owned by the front end until it has the last line
}

// join connects n front ends and waits until each was told something: from then
// on it gets what comes.
func (f *fanout) join(n int) error {
	told := make(chan struct{}, n)
	for range n {
		conn, r, err := dialRaw(f.order.Address, f.order.Token, "/ws")
		if err != nil {
			return err
		}
		e := &frontEnd{conn: conn, next: f.next}
		f.ends = append(f.ends, e)
		f.reader.Go(func() { // ends with the connection
			first := true
			_ = readFrames(conn, r, func(kind byte, payload []byte) bool { // the end is noticed by who waits
				if kind == framePing {
					_, _ = conn.Write(maskedFrame(nil, framePong, payload))
					return true
				}
				if first {
					first = false
					told <- struct{}{}
				}
				f.arrived(e, payload)
				return true
			})
		})
	}
	for range n {
		select {
		case <-told:
		case <-time.After(patience):
			return errors.New("a front end is not told that the CLI is connected")
		}
	}
	return nil
}

// arrived notes what a front end got.
func (f *fanout) arrived(e *frontEnd, line []byte) {
	n := numberOf(line)
	if n < 0 {
		if !e.begun.Load() && bytes.Contains(line, []byte(beginning)) {
			e.begun.Store(true)
		}
		return // the relay's own
	}
	if sheet := e.times.Load(); sheet != nil && n >= sheet.from {
		sheet.took = append(sheet.took, f.now()-sheet.sent[n-sheet.from].Load())
	}
	e.got.Add(1)
	if n > e.next {
		e.lost.Add(n - e.next)
	}
	batch := f.batch()
	for had := e.next / batch; had < (n+1)/batch; had++ {
		if f.loaded.Load() {
			e.loaded = append(e.loaded, f.now()-f.written[had%int64(len(f.written))].Load())
		}
		if f.left[had%int64(len(f.left))].Add(-1) == 0 {
			f.done <- struct{}{}
		}
	}
	e.next = n + 1
}

// The kinds of frames.
const (
	frameText  = 0x1
	frameClose = 0x8
	framePing  = 0x9
	framePong  = 0xa
)

// maskedFrame appends a frame as a client sends it.
func maskedFrame(b []byte, kind byte, payload []byte) []byte {
	key := [4]byte{0x37, 0xfa, 0x21, 0x3d}
	b = append(b, 0x80|kind)
	switch n := len(payload); {
	case n < 126:
		b = append(b, 0x80|byte(n))
	default:
		b = append(b, 0x80|126, byte(n>>8), byte(n))
	}
	b = append(b, key[:]...)
	for i, c := range payload {
		b = append(b, c^key[i%4])
	}
	return b
}

// readFrames gives every frame of a server to take until take has enough or the
// connection ends.
func readFrames(conn net.Conn, before *bufio.Reader, take func(kind byte, payload []byte) bool) error {
	buf := make([]byte, 64<<10)
	have, err := before.Read(buf[:before.Buffered()]) // what came with the answer to the upgrade
	if err != nil && before.Buffered() > 0 {
		return err
	}
	for {
		rest := buf[:have]
		for {
			size, header := frameSize(rest)
			if size == 0 || len(rest) < size {
				if size > len(buf) {
					buf = append(make([]byte, 0, size), rest...)[:size]
					rest = buf[:len(rest)]
				}
				break
			}
			kind := rest[0] & 0xf
			if kind == frameClose || !take(kind, rest[header:size]) {
				return nil
			}
			rest = rest[size:]
		}
		have = copy(buf, rest)
		n, err := conn.Read(buf[have:])
		if err != nil {
			return err
		}
		have += n
	}
}

// frameSize returns how long the frame at the beginning of b is and its header;
// 0 if that cannot be told yet.
func frameSize(b []byte) (size, header int) {
	if len(b) < 2 {
		return 0, 0
	}
	switch n := int(b[1] & 0x7f); {
	case n < 126:
		return 2 + n, 2
	case n == 126 && len(b) >= 4:
		return 4 + int(b[2])<<8 + int(b[3]), 4
	case n == 127 && len(b) >= 10:
		size := 0
		for _, c := range b[2:10] {
			size = size<<8 | int(c)
		}
		return 10 + size, 10
	}
	return 0, 0
}

// cpuSeconds returns how much of a processor a process has used so far.
func cpuSeconds(pid int) float64 {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	const user, system, perSecond = 11, 12, 100 // behind the name, which is in parentheses
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	ticks := 0.0
	for _, i := range []int{user, system} {
		n, err := strconv.ParseFloat(string(fields[i]), 64)
		if err != nil {
			return 0
		}
		ticks += n
	}
	return ticks / perSecond
}

// atRest waits until processes compute nothing: the hub indexes lines for some time
// after they came, which is not part of what the next measurement is about.
func atRest(pids ...int) error {
	used := func() (seconds float64) {
		for _, pid := range pids {
			seconds += cpuSeconds(pid)
		}
		return seconds
	}
	const quiet = 400 * time.Millisecond // in which at most one tick is counted
	before := used()
	for from := time.Now(); time.Since(from) < stuck; {
		<-time.After(quiet)
		now := used()
		if now-before < 0.015 {
			return nil
		}
		before = now
	}
	return fmt.Errorf("a process still computes after %s", stuck)
}
