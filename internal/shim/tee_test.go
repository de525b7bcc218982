package shim

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/switchboard-dev/switchboard/internal/link"
)

// A wrapped is a program and a CLI, both played by the test, with a tee between
// them.
type wrapped struct {
	t       testing.TB
	tee     *Tee
	program *os.File // the program writes here
	cli     *os.File // the CLI writes here
	toCLI   *bufio.Reader
	toProg  *bufio.Reader
	done    chan error
	once    sync.Once
}

func wrap(t testing.TB, hub *testHub, change func(*TeeSpec)) *wrapped {
	t.Helper()
	pipe := func() (r, w *os.File) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = r.Close(), w.Close() })
		return r, w
	}
	var streams Streams
	w := &wrapped{t: t, done: make(chan error, 1)}
	streams.FromProgram, w.program = pipe()
	streams.FromCLI, w.cli = pipe()
	cliIn, toCLI := pipe()
	progIn, toProg := pipe()
	streams.ToCLI, streams.ToProgram = toCLI, toProg
	w.toCLI, w.toProg = bufio.NewReader(cliIn), bufio.NewReader(progIn)
	spec := &TeeSpec{
		Registration: Registration{Session: "stest", Run: 1, Token: "sb_test_secret", Socket: "/nowhere/hub.sock"}, CLIPID: 77, Version: "2.1.325",
	}
	if hub != nil {
		spec.Socket = hub.socket
	}
	if change != nil {
		change(spec)
	}
	w.tee = NewTee(spec, streams, nil)
	go func() { w.done <- w.tee.Run() }() // ends with the CLI's output
	t.Cleanup(w.end)
	return w
}

// end is the end of the CLI.
func (w *wrapped) end() {
	w.once.Do(func() {
		_ = w.cli.Close()
		if err := <-w.done; err != nil {
			w.t.Errorf("the tee says: %v", err)
		}
		w.tee.Finish(soon(w.t), &link.Event{Code: new(int), Reason: "done"})
	})
}

func (w *wrapped) write(f *os.File, text string) {
	w.t.Helper()
	if _, err := f.WriteString(text); err != nil {
		w.t.Fatal(err)
	}
}

func (w *wrapped) expect(r *bufio.Reader, want string) {
	w.t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(r, got); err != nil || string(got) != want {
		w.t.Fatalf("got %q, %v; expected %q", got, err, want)
	}
}

func question(id, subtype string) string {
	return fmt.Sprintf(`{"type":"control_request","request_id":%q,"request":{"subtype":%q}}`, id, subtype)
}

func reply(id, who string) string {
	return fmt.Sprintf(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"by":%q}}`, id, who)
}

func withdrawal(id string) string {
	return fmt.Sprintf(`{"type":"control_cancel_request","request_id":%q}`, id)
}

// kinds returns the durable records of the hub with their kinds.
func (h *testHub) kinds() []string {
	var out []string
	for _, r := range h.records {
		out = append(out, fmt.Sprintf("%c %s", r.Kind, r.Bytes))
	}
	return out
}

// failed waits until a command has failed and returns why.
func (h *testHub) failed(number int64) (reason string) {
	h.t.Helper()
	h.wait("a command fails", func() bool {
		for _, m := range h.texts {
			if f, ok := m.(*link.Failed); ok && f.Number == number {
				reason = f.Reason
			}
		}
		return reason != ""
	})
	return reason
}

// TestTeePassesBytes passes what is no line at all, in pieces, both ways.
func TestTeePassesBytes(t *testing.T) {
	for _, name := range []string{"hub", "no hub"} {
		t.Run(name, func(t *testing.T) {
			var hub *testHub
			if name == "hub" {
				hub = newHub(t)
			}
			w := wrap(t, hub, nil)
			// A part of a line passes before its end is there.
			w.write(w.program, "half")
			w.expect(w.toCLI, "half")
			w.write(w.program, " a line\r\n\n\n{\"x\":1}\nno end")
			w.expect(w.toCLI, " a line\r\n\n\n{\"x\":1}\nno end")
			w.write(w.cli, "\xff\xfe\n\n")
			w.expect(w.toProg, "\xff\xfe\n\n")
			rng := rand.New(rand.NewPCG(1, 2))
			noise := make([]byte, 1<<16)
			for i := range noise {
				noise[i] = "ab\n\r{}\xff"[rng.IntN(7)]
			}
			go func() {
				for rest := noise; len(rest) > 0; {
					n := min(1+rng.IntN(20_000), len(rest))
					_, _ = w.cli.Write(rest[:n]) // the comparison tells
					rest = rest[n:]
				}
			}()
			got := make([]byte, len(noise))
			if _, err := io.ReadFull(w.toProg, got); err != nil || !bytes.Equal(got, noise) {
				t.Fatalf("the noise has changed: %v", err)
			}
			_ = w.program.Close()
			if rest, err := io.ReadAll(w.toCLI); err != nil || len(rest) > 0 {
				t.Errorf("at the end of the input %q, %v", rest, err)
			}
			w.end()
			if hub == nil {
				return
			}
			hub.event(link.EventExited)
			hub.mu.Lock()
			defer hub.mu.Unlock()
			if h := hub.hellos[0]; !h.Tee {
				t.Errorf("hello: %+v", h)
			}
			kinds := hub.kinds()
			for _, want := range []string{"P half a line", `P {"x":1}`, "P no end", "L \xff\xfe"} {
				if !slices.Contains(kinds, want) {
					t.Errorf("the hub has no %q", want)
				}
			}
		})
	}
}

// TestTeeHubAnswersFirst has the hub answer a question that the program is
// asked, too.
func TestTeeHubAnswersFirst(t *testing.T) {
	hub := newHub(t)
	w := wrap(t, hub, nil)
	ask := question("r1", "can_use_tool") + "\n"
	w.write(w.cli, ask)
	w.expect(w.toProg, ask)
	hub.wait("the question", func() bool { return len(hub.linesLocked()) == 1 })
	// The answer waits for the end of the program's line.
	w.write(w.program, `{"type":"user",`)
	w.expect(w.toCLI, `{"type":"user",`)
	hub.command(1, reply("r1", "hub"))
	w.write(w.program, "\"n\":1}\n")
	w.expect(w.toCLI, "\"n\":1}\n"+reply("r1", "hub")+"\n")
	w.expect(w.toProg, withdrawal("r1")+"\n")
	hub.written(1)
	// The program's own answer comes to late, in two parts, among others.
	late := reply("r1", "program") + "\n"
	w.write(w.program, "{\"type\":\"user\",\"n\":2}\n"+late[:20])
	w.expect(w.toCLI, "{\"type\":\"user\",\"n\":2}\n")
	w.write(w.program, late[20:]+reply("r2", "program")+"\n")
	w.expect(w.toCLI, reply("r2", "program")+"\n")
	// After that, parts of lines pass at once again.
	w.write(w.program, "half")
	w.expect(w.toCLI, "half")
	w.write(w.program, "\n")
	w.expect(w.toCLI, "\n")
	// A second answer of the hub's fails.
	hub.command(2, reply("r1", "hub"))
	if reason := hub.failed(2); !strings.Contains(reason, "answered") {
		t.Errorf("it failed because %s", reason)
	}
	w.end()
	hub.event(link.EventExited)
	hub.check()
	hub.mu.Lock()
	defer hub.mu.Unlock()
	if slices.Contains(hub.kinds(), "P "+reply("r1", "program")) {
		t.Error("the hub was given an answer that the CLI was not")
	}
}

// TestTeeProgramAnswersFirst has the program answer, or the CLI withdraw its
// question.
func TestTeeProgramAnswersFirst(t *testing.T) {
	hub := newHub(t)
	w := wrap(t, hub, nil)
	said := question("r1", "can_use_tool") + "\n" + question("r2", "elicitation") + "\n" + withdrawal("r2") + "\n"
	w.write(w.cli, said)
	w.expect(w.toProg, said)
	w.write(w.program, reply("r1", "program")+"\n")
	w.expect(w.toCLI, reply("r1", "program")+"\n")
	hub.wait("the answer", func() bool { return slices.Contains(hub.kinds(), "P "+reply("r1", "program")) })
	hub.command(1, reply("r1", "hub"))
	hub.command(2, reply("r2", "hub"))
	hub.failed(1)
	hub.failed(2)
	w.write(w.program, "{}\n")
	w.expect(w.toCLI, "{}\n")
}

// TestTeeRefuses has the hub send what only the program may.
func TestTeeRefuses(t *testing.T) {
	hub := newHub(t)
	w := wrap(t, hub, nil)
	said := question("h1", "hook_callback") + "\n" + question("m1", "mcp_message") + "\n" + question("u1", "of_tomorrow") + "\n"
	w.write(w.cli, said)
	w.expect(w.toProg, said)
	hub.wait("the requests", func() bool { return len(hub.linesLocked()) == 3 })
	for i, line := range []string{
		reply("h1", "hub"), reply("m1", "hub"), reply("u1", "hub"), reply("unknown", "hub"), `{"type":"user"}`,
		question("q1", "interrupt"), question("q2", "initialize"), `not JSON`,
	} {
		hub.command(int64(i)+1, line)
		hub.failed(int64(i) + 1)
	}
	hub.tell(&link.CloseInput{})
	hub.tell(&link.Stop{})
	w.write(w.program, "{}\n")
	w.expect(w.toCLI, "{}\n")
}

// TestTeeSteers has a hub that may do more. What answers it is not for the
// program.
func TestTeeSteers(t *testing.T) {
	hub := newHub(t)
	w := wrap(t, hub, func(s *TeeSpec) { s.Steer = true })
	hub.command(1, `{"type":"user","n":1}`)
	w.expect(w.toCLI, "{\"type\":\"user\",\"n\":1}\n")
	hub.command(2, question("q1", "interrupt"))
	w.expect(w.toCLI, question("q1", "interrupt")+"\n")
	hub.command(3, question("q2", "initialize"))
	hub.failed(3)
	w.write(w.cli, "{\"type\":\"user\"}\n"+reply("q1", "cli")+"\n"+reply("p1", "cli")+"\n")
	w.expect(w.toProg, "{\"type\":\"user\"}\n"+reply("p1", "cli")+"\n")
	want := []string{`{"type":"user"}`, reply("q1", "cli"), reply("p1", "cli")}
	hub.wait("the lines", func() bool { return slices.Equal(hub.linesLocked(), want) })
}

// TestTeeGap has more come than is kept while there is no hub.
func TestTeeGap(t *testing.T) {
	hub := newHub(t)
	hub.stop()
	w := wrap(t, hub, func(s *TeeSpec) { s.BufferBytes = 10_000 })
	line := `{"type":"user","fill":"` + strings.Repeat("x", 77) + "\"}\n"
	for range 500 {
		w.write(w.cli, line)
		w.expect(w.toProg, line)
	}
	hub.listen()
	hub.wait("what was kept", func() bool { return len(hub.records) > 1 })
	for range 500 {
		w.write(w.cli, line)
		w.expect(w.toProg, line)
	}
	w.end()
	hub.event(link.EventExited)
	hub.check()
	lines, left, bytes := int64(0), int64(0), int64(0)
	for _, r := range hub.records {
		switch r.Kind {
		case link.Line:
			lines++
		case link.Happened:
			if e, err := link.ParseEvent(r.Bytes); err == nil && e.Event == link.EventGap {
				left += e.Lines
				bytes += e.Bytes
			}
		default:
		}
	}
	if lines+left != 1000 || left < 400 || bytes != left*int64(len(line)-1) {
		t.Errorf("%d lines, %d left out with %d bytes, of 1000", lines, left, bytes)
	}
}

// TestTeeOversize has a line that is too long to be copied; it passes.
func TestTeeOversize(t *testing.T) {
	hub := newHub(t)
	w := wrap(t, hub, func(s *TeeSpec) { s.MaxLine = 1000 })
	long := strings.Repeat("x", 2000) + "\n"
	w.write(w.cli, long)
	w.expect(w.toProg, long)
	hub.wait("its stand-in", func() bool {
		return slices.ContainsFunc(hub.records, func(r link.Record) bool { return r.Kind == link.TooLong })
	})
}

// TestTeeGone has a hub that does not know the run: the program does not notice.
func TestTeeGone(t *testing.T) {
	hub := newHub(t)
	hub.reply = func(*link.Hello) link.Message { return &link.Gone{Reason: "ended"} }
	w := wrap(t, hub, nil)
	hub.wait("the hello", func() bool { return len(hub.hellos) == 1 })
	w.write(w.cli, "{}\n")
	w.expect(w.toProg, "{}\n")
	w.write(w.program, "{}\n")
	w.expect(w.toCLI, "{}\n")
}

// A stream is a writer and a closer.
type stream struct {
	write func([]byte) (int, error)
	close func()
}

func (s *stream) Write(b []byte) (int, error) { return s.write(b) }

func (s *stream) Close() error {
	if s.close != nil {
		s.close()
	}
	return nil
}

// between starts a tee between a program and a CLI, which the test plays.
func between(t *testing.T, hub *testHub, toCLI io.WriteCloser, toProgram io.Writer) (tee *Tee, program, cli io.WriteCloser, ran chan error) {
	t.Helper()
	fromProgram, program := io.Pipe()
	fromCLI, cli := io.Pipe()
	spec := &TeeSpec{Registration: Registration{Session: "stest", Run: 1, Token: "sb_test_secret", Socket: hub.socket}}
	tee = NewTee(spec, Streams{FromProgram: fromProgram, ToCLI: toCLI, FromCLI: fromCLI, ToProgram: toProgram}, nil)
	ran = make(chan error, 1)
	go func() { ran <- tee.Run() }() // ends with the CLI's output
	return tee, program, cli, ran
}

// TestTeeQuickAnswer has a program that has answered a question before the write has
// returned by which it was asked: for the hub, too, the answer comes after the
// question, and the question is not answered a second time.
func TestTeeQuickAnswer(t *testing.T) {
	hub := newHub(t)
	ask, answer := question("r1", "can_use_tool"), reply("r1", "program")
	passed := make(chan string, 8)
	toCLI := &stream{write: func(b []byte) (int, error) {
		passed <- string(b)
		return len(b), nil
	}}
	programs := make(chan io.Writer, 1)
	toProgram := &stream{write: func(b []byte) (int, error) {
		if string(b) != ask+"\n" {
			return len(b), nil
		}
		program := <-programs
		_, err := io.WriteString(program, answer+"\n")
		if got := <-passed; got != answer+"\n" {
			t.Errorf("the CLI got %q", got)
		}
		// The next line shows that the one before was dealt with whole.
		_, _ = io.WriteString(program, "{}\n") // what comes of it is looked at below
		<-passed
		return len(b), err
	}}
	tee, program, cli, ran := between(t, hub, toCLI, toProgram)
	programs <- program
	if _, err := io.WriteString(cli, ask+"\n"); err != nil {
		t.Fatal(err)
	}
	hub.wait("all three lines", func() bool { return len(hub.records) == 4 })
	hub.mu.Lock()
	got := hub.kinds()[1:] // the first tells of the start
	hub.mu.Unlock()
	if want := []string{"L " + ask, "P " + answer, "P {}"}; !slices.Equal(got, want) {
		t.Errorf("the hub got %q; want %q", got, want)
	}
	hub.command(1, reply("r1", "hub"))
	hub.command(2, "not JSON") // is refused in any case
	hub.failed(2)
	select {
	case line := <-passed:
		t.Errorf("the CLI was given a second answer: %s", line)
	default:
	}
	_ = cli.Close()
	if err := <-ran; err != nil {
		t.Error(err)
	}
	tee.Finish(soon(t), &link.Event{Code: new(int)})
}

// TestTeeWithdrawsFirst has a CLI that goes on writing before the write has returned by
// which the hub answered it: the program hears that its question is settled before
// it gets what the CLI wrote then.
func TestTeeWithdrawsFirst(t *testing.T) {
	hub := newHub(t)
	ask, next := question("r1", "can_use_tool"), `{"type":"result"}`
	shown := make(chan string, 8)
	toProgram := &stream{write: func(b []byte) (int, error) {
		shown <- string(b)
		return len(b), nil
	}}
	clis := make(chan io.Writer, 1)
	order := make(chan []string, 1)
	toCLI := &stream{write: func(b []byte) (int, error) {
		_, err := io.WriteString(<-clis, next+"\n")
		var got []string
		for !slices.Contains(got, next+"\n") {
			got = append(got, <-shown)
		}
		order <- got
		return len(b), err
	}}
	tee, _, cli, ran := between(t, hub, toCLI, toProgram)
	clis <- cli
	if _, err := io.WriteString(cli, ask+"\n"); err != nil {
		t.Fatal(err)
	}
	<-shown
	hub.wait("the question", func() bool { return len(hub.linesLocked()) == 1 })
	hub.command(1, reply("r1", "hub"))
	if got, want := <-order, []string{withdrawal("r1") + "\n", next + "\n"}; !slices.Equal(got, want) {
		t.Errorf("the program got %q; want %q", got, want)
	}
	hub.written(1)
	_ = cli.Close()
	if err := <-ran; err != nil {
		t.Error(err)
	}
	tee.Finish(soon(t), &link.Event{Code: new(int)})
}

// TestTeeStuckInput has a CLI end while what it has started holds its input open and
// does not read, and an answer of the hub's that waits for its place there: the program
// does not wait for that.
func TestTeeStuckInput(t *testing.T) {
	hub := newHub(t)
	ask := question("r1", "can_use_tool")
	stuck, closed := make(chan struct{}), make(chan struct{})
	toCLI := &stream{
		write: func([]byte) (int, error) {
			close(stuck)
			<-closed
			return 0, os.ErrClosed
		},
		close: sync.OnceFunc(func() { close(closed) }),
	}
	tee, program, cli, ran := between(t, hub, toCLI, io.Discard)
	if _, err := io.WriteString(cli, ask+"\n"); err != nil {
		t.Fatal(err)
	}
	hub.wait("the question", func() bool { return len(hub.linesLocked()) == 1 })
	if _, err := io.WriteString(program, "{}\n"); err != nil {
		t.Fatal(err)
	}
	<-stuck
	hub.command(1, reply("r1", "hub"))
	for ctx, begun := soon(t), false; !begun; { // until somebody is about to write it
		if runtime.Gosched(); ctx.Err() != nil {
			t.Fatal("the hub's answer is not carried out")
		}
		tee.carrier.mu.Lock()
		begun = !tee.carrier.commands.Idle() && tee.carrier.commands.Waiting() == 0
		tee.carrier.mu.Unlock()
	}
	_ = cli.Close()
	if err := <-ran; err != nil {
		t.Error(err)
	}
	tee.Finish(soon(t), &link.Event{Code: new(int)})
}

// TestTeeClosedInput has a CLI that closes its input and lives on. The program finds that
// out when it writes, and is not left waiting.
func TestTeeClosedInput(t *testing.T) {
	toCLI := &stream{write: func([]byte) (int, error) { return 0, io.ErrClosedPipe }}
	tee, program, cli, ran := between(t, newHub(t), toCLI, io.Discard)
	if _, err := io.WriteString(program, "{}\n"); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() { // ends when somebody takes or refuses it
		_, err := io.WriteString(program, "{}\n")
		written <- err
	}()
	select {
	case err := <-written:
		if err == nil {
			t.Error("what nobody can get was taken")
		}
	case <-soon(t).Done():
		t.Error("the program waits for ever")
	}
	_ = cli.Close()
	if err := <-ran; err != nil {
		t.Error(err)
	}
	_ = program.Close()
	tee.Finish(soon(t), &link.Event{Code: new(int)})
}

// TestGateLongLine has a line come in many pieces while lines are looked at: it is
// held until it is whole, and so are those around it.
func TestGateLongLine(t *testing.T) {
	var out bytes.Buffer
	looked := 0
	g := newGate(&out)
	g.passed = func([]byte) {}
	g.filter = func() func([]byte) bool {
		return func(line []byte) bool {
			looked++
			return string(line) == "no"
		}
	}
	long := strings.Repeat("x", 1<<20)
	for rest := "a\n" + long + "\nno\nb\n" + "end"; rest != ""; {
		n := min(1000, len(rest))
		if err := g.pass([]byte(rest[:n])); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
	}
	if err := g.close(); err != nil {
		t.Fatal(err)
	}
	if want := "a\n" + long + "\nb\nend"; out.String() != want || looked != 4 {
		t.Errorf("%d bytes have passed, want %d; %d lines were looked at", out.Len(), len(want), looked)
	}
}
