package link

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// sendAll takes all that an Outgoing has to send.
func sendAll(t *testing.T, o *Outgoing) []Record {
	t.Helper()
	var frames [][]byte
	for o.Pending() {
		frame := o.AppendFrame(nil)
		if len(frame) == 0 {
			t.Fatal("something is pending and nothing is sent")
		}
		frames = append(frames, frame)
	}
	if frame := o.AppendFrame(nil); len(frame) > 0 {
		t.Fatal("nothing is pending and something is sent")
	}
	records, err := decodeAll(&Decoder{}, frames...)
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// places writes records as their places: "1", "1.2" for a live one, with "!"
// after a hole.
func places(records []Record) string {
	var out []string
	for _, r := range records {
		s := fmt.Sprint(r.Number)
		if r.Kind == Live {
			s = fmt.Sprintf("%d.%d", r.Number, r.K)
		}
		if r.Hole {
			s = "!" + s
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func connect(t *testing.T, o *Outgoing, have int64) {
	t.Helper()
	if err := o.Connect(have); err != nil {
		t.Fatal(err)
	}
}

func TestOutgoing(t *testing.T) {
	o := NewOutgoing(0, 0)
	line := func() []byte { return []byte("line") }
	o.Add(Happened, line())
	o.AddLive(line(), "", true)
	o.AddLive(line(), "", false) // nobody is there to see it
	o.AddLive(line(), "", true)
	o.Add(Line, line())
	if o.Next() != 3 || o.Oldest() != 1 || o.Drained() || o.Pending() {
		t.Fatalf("next %d, oldest %d", o.Next(), o.Oldest())
	}
	connect(t, o, 0)
	if got := places(sendAll(t, o)); got != "1 1.1 1.3 2" {
		t.Errorf("first: %s", got)
	}
	o.AddLive(line(), "", false)
	o.AddLive(line(), "sub", true)
	if got := places(sendAll(t, o)); got != "2.1 2.2" {
		t.Errorf("then: %s", got)
	}
	if err := o.Ack(3); !errors.Is(err, ErrAhead) {
		t.Errorf("an ack of what was not sent: %v", err)
	}
	if err := o.Ack(1); err != nil || o.Oldest() != 2 {
		t.Errorf("after the ack the oldest is %d, %v", o.Oldest(), err)
	}
	o.Disconnect()
	connect(t, o, 2)
	if !o.Drained() || o.Oldest() != 3 {
		t.Errorf("the oldest is %d", o.Oldest())
	}
	if got := places(sendAll(t, o)); got != "1.1 1.3 2.2" {
		t.Errorf("repeated: %s", got)
	}
	o.Settle("")
	o.Disconnect()
	o.Add(Line, line())
	connect(t, o, 1) // a restored backup: what it has lost is lost
	if got := places(sendAll(t, o)); got != "2.2 3" {
		t.Errorf("repeated after the message is complete: %s", got)
	}
	o.SettleAll()
	o.Disconnect()
	connect(t, o, 3)
	if got := places(sendAll(t, o)); got != "" {
		t.Errorf("repeated at the end: %s", got)
	}
	o.Disconnect()
	if err := o.Connect(4); !errors.Is(err, ErrAhead) {
		t.Errorf("a hub that is ahead: %v", err)
	}
}

func TestOutgoingBounds(t *testing.T) {
	o := NewOutgoing(1000, 10*(100+recordCost))
	line := bytes.Repeat([]byte("x"), 100)
	n := 0
	for ; !o.Full(); n++ {
		o.Add(Line, line)
	}
	if n != 6 { // 196 each
		t.Errorf("full after %d lines", n)
	}
	connect(t, o, 0)
	sendAll(t, o)
	if err := o.Ack(2); err != nil || o.Full() {
		t.Errorf("full %v after an ack, %v", o.Full(), err)
	}
	// More live lines than there is room for, and nobody takes them.
	for range 15 {
		o.AddLive(line, "", true)
	}
	if got := places(sendAll(t, o)); got != "!6.6 6.7 6.8 6.9 6.10 6.11 6.12 6.13 6.14 6.15" {
		t.Errorf("sent: %s", got)
	}
	// Those that were sent are dropped first; that is only seen later.
	o.AddLive(line, "", true)
	o.AddLive(line, "", false)
	if got := places(sendAll(t, o)); got != "6.16 6.17" {
		t.Errorf("sent: %s", got)
	}
	o.Disconnect()
	connect(t, o, 6)
	if got := places(sendAll(t, o)); got != "!6.8 6.9 6.10 6.11 6.12 6.13 6.14 6.15 6.16" {
		t.Errorf("repeated: %s", got)
	}
	// A line that is longer than all the room there is.
	o.AddLive(bytes.Repeat(line, 20), "", true)
	o.AddLive(line, "", true)
	if got := places(sendAll(t, o)); got != "!6.19" {
		t.Errorf("sent: %s", got)
	}
}

// TestOutgoingLongLiveLineIsDropped drops a live line of which a part is sent:
// the rest must follow all the same.
func TestOutgoingLongLiveLineIsDropped(t *testing.T) {
	o := NewOutgoing(0, 3*MaxFrame)
	connect(t, o, 0)
	o.AddLive(bytes.Repeat([]byte("x"), 2*MaxFrame), "", true)
	first := o.AppendFrame(nil)
	o.AddLive(bytes.Repeat([]byte("y"), 2*MaxFrame), "", true)
	frames := [][]byte{first}
	for o.Pending() {
		frames = append(frames, o.AppendFrame(nil))
	}
	records, err := decodeAll(&Decoder{}, frames...)
	if err != nil || len(records) != 2 || len(records[0].Bytes) != 2*MaxFrame || records[0].Bytes[2*MaxFrame-1] != 'x' {
		t.Errorf("%v, %s", err, places(records))
	}
}

func TestIncoming(t *testing.T) {
	in := NewIncoming(5)
	if _, err := in.Hello(5, 1); !errors.Is(err, ErrAhead) {
		t.Errorf("a shim that is behind: %v", err)
	}
	for _, oldest := range []int64{0, 1, 6} {
		if gap, err := in.Hello(10, oldest); err != nil || gap.Missing() {
			t.Errorf("oldest %d: %v, %v", oldest, gap, err)
		}
	}
	if gap, err := in.Hello(10, 8); err != nil || gap != (Gap{6, 7}) || in.Have() != 7 {
		t.Errorf("a backup: %v, %v, have %d", gap, err, in.Have())
	}
	for _, step := range []struct {
		record Record
		want   Verdict
	}{
		{Record{Kind: Line, Number: 7}, Verdict{}},
		{Record{Kind: Live, Number: 6, K: 1}, Verdict{Fresh: true}}, // of an open message
		{Record{Kind: Live, Number: 7, K: 1}, Verdict{Fresh: true}},
		{Record{Kind: Line, Number: 8}, Verdict{Fresh: true}},
		{Record{Kind: Line, Number: 8}, Verdict{}},
		{Record{Kind: Live, Number: 7, K: 1}, Verdict{}},
		{Record{Kind: Live, Number: 7, K: 2}, Verdict{Fresh: true}},
		{Record{Kind: Live, Number: 8, K: 5}, Verdict{Fresh: true}},
		{Record{Kind: Live, Number: 8, K: 4}, Verdict{}},
		{Record{Kind: 'z', Number: 9}, Verdict{Fresh: true}},
		{Record{Kind: Happened, Number: 12}, Verdict{Fresh: true, Gap: Gap{10, 11}}},
		{Record{Kind: Live, Number: 14, K: 1}, Verdict{Fresh: true, Gap: Gap{13, 14}}},
		{Record{Kind: Program, Number: 15}, Verdict{Fresh: true}},
	} {
		if got := in.Accept(&step.record); got != step.want {
			t.Errorf("%c %d.%d: %+v, expected %+v", step.record.Kind, step.record.Number, step.record.K, got, step.want)
		}
	}
}

func TestCommands(t *testing.T) {
	var c Commands
	accept := func(number int64) Message { return c.Accept(Order{Number: number, Line: []byte("x")}) }
	begin := func(want int64) {
		t.Helper()
		if o, ok := c.Begin(); !ok || o.Number != want {
			t.Fatalf("began %d %v, expected %d", o.Number, ok, want)
		}
	}
	expect := func(got, want Message) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("said (-want +got):\n%s", diff)
		}
	}
	expect(accept(1), nil)
	expect(accept(3), nil)
	expect(accept(3), nil) // it waits already
	c.CloseInput()
	begin(1)
	expect(c.Done(""), &Written{1})
	expect(accept(1), &Refused{1})
	begin(3)
	expect(accept(3), nil)
	expect(c.Done("its input is closed"), &Failed{3, "its input is closed"})
	expect(accept(3), &Failed{3, "its input is closed"})
	begin(0)
	expect(c.Done(""), nil)
	if _, ok := c.Begin(); ok {
		t.Error("there is another order")
	}
	// A cut while 5 is being written and 6 waits.
	expect(accept(5), nil)
	expect(accept(6), nil)
	begin(5)
	c.Cut()
	var h Hello
	c.Fill(&h)
	if h.Written != 1 || h.Writing != 5 || len(h.Failed) != 1 || c.Waiting() != 0 {
		t.Errorf("hello: %+v", h)
	}
	expect(accept(5), nil)
	expect(accept(6), nil)
	expect(c.Done(""), &Written{5})
	begin(6)
	expect(c.Done(""), &Written{6})
	for n := int64(7); n < 7+2*keepFailed; n++ {
		expect(accept(n), nil)
		begin(n)
		c.Done("no")
	}
	if c.Fill(&h); len(h.Failed) != keepFailed || h.Failed[keepFailed-1].Number != 6+2*keepFailed {
		t.Errorf("%d failures are remembered", len(h.Failed))
	}
	c.Cut()
	expect(accept(7+2*keepFailed), nil)
}

func TestSpool(t *testing.T) {
	header := &SpoolHeader{Version: 1, Session: "s", Run: 2, Instance: "i", Oldest: 4, Next: 7, Written: 3, Failed: []Failed{{2, "no"}}}
	records := []Record{
		{Kind: Line, Number: 4, Bytes: []byte("a")},
		{Kind: Line, Number: 5, Bytes: bytes.Repeat([]byte("b"), 2*MaxFrame)},
		{Kind: Happened, Number: 6, Bytes: []byte("{}")},
	}
	var file bytes.Buffer
	if err := WriteSpool(&file, header, slices.Values(records)); err != nil {
		t.Fatal(err)
	}
	read := func(data []byte) (*SpoolHeader, []Record, error) {
		h, seq, err := ReadSpool(bytes.NewReader(data))
		if err != nil {
			return nil, nil, err
		}
		var got []Record
		for r, err := range seq {
			if err != nil {
				return h, got, err
			}
			got = append(got, r)
		}
		return h, got, nil
	}
	h, got, err := read(file.Bytes())
	if err != nil || diffRecords(records, got) != "" || cmp.Diff(header, h) != "" {
		t.Errorf("%v %s %s", err, diffRecords(records, got), cmp.Diff(header, h))
	}
	for _, cut := range []int{0, 10, bytes.IndexByte(file.Bytes(), '\n') + 1, file.Len() - 30, file.Len() - 5, file.Len() - 1} {
		_, got, err := read(file.Bytes()[:cut])
		if !errors.Is(err, io.ErrUnexpectedEOF) || len(got) > len(records) || diffRecords(records[:len(got)], got) != "" {
			t.Errorf("cut at %d: %d records, %v", cut, len(got), err)
		}
	}
	if _, _, err := read([]byte("[]\n")); !errors.Is(err, ErrMalformed) {
		t.Errorf("a list as header: %v", err)
	}
	if _, _, err := read([]byte("{}\n\xff\xff\xff\xff")); !errors.Is(err, ErrMalformed) {
		t.Errorf("a huge frame: %v", err)
	}
	if err := WriteSpool(failingWriter{}, header, slices.Values(records)); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("a full disk: %v", err)
	}
}

func FuzzSpool(f *testing.F) {
	var file bytes.Buffer
	if err := WriteSpool(&file, &SpoolHeader{Session: "s", Next: 3}, slices.Values([]Record{{Kind: Line, Number: 1, Bytes: []byte("a")}, {Kind: Line, Number: 2, Bytes: []byte("b")}})); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes())
	f.Add(file.Bytes()[:file.Len()-3])
	f.Fuzz(func(t *testing.T, data []byte) {
		header, seq, err := ReadSpool(bytes.NewReader(data))
		if err != nil {
			return
		}
		var records []Record
		for r, err := range seq {
			if err != nil {
				return
			}
			records = append(records, r)
		}
		var again bytes.Buffer
		if err := WriteSpool(&again, header, slices.Values(records)); err != nil {
			t.Fatal(err)
		}
		_, seq, err = ReadSpool(&again)
		if err != nil {
			t.Fatal(err)
		}
		var second []Record
		for r, err := range seq {
			if err != nil {
				t.Fatal(err)
			}
			second = append(second, r)
		}
		if diff := diffRecords(records, second); diff != "" {
			t.Fatal(diff)
		}
	})
}

type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// TestSpoolOfManyFailures has a shim save what became of commands that failed
// with long reasons: the file must be readable, and a hello not be too long.
func TestSpoolOfManyFailures(t *testing.T) {
	var c Commands
	for n := range int64(2 * keepFailed) {
		c.Accept(Order{Number: n + 1, Line: []byte("x")})
		c.Begin()
		c.Done("claude exited with code 1: " + strings.Repeat("<é>", 3000))
	}
	hello := &Hello{Next: 1}
	c.Fill(hello)
	if n := len(AppendMessage(nil, hello, Version)); n > MaxFrame {
		t.Errorf("a hello has %d bytes, a frame at most %d", n, MaxFrame)
	}
	for _, f := range hello.Failed {
		if !strings.HasPrefix(f.Reason, "claude exited with code 1: <é>") || !utf8.ValidString(f.Reason) {
			t.Fatalf("the reason is %.60q", f.Reason)
		}
	}
	var file bytes.Buffer
	if err := WriteSpool(&file, &SpoolHeader{Session: "s", Run: 1, Oldest: 1, Next: 2, Failed: hello.Failed}, slices.Values([]Record{{Kind: Line, Number: 1, Bytes: []byte("a")}})); err != nil {
		t.Fatal(err)
	}
	header, _, err := ReadSpool(&file)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(header.Failed, hello.Failed) {
		t.Errorf("%d failures were read, %d written", len(header.Failed), len(hello.Failed))
	}
}
