package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	ws "github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

// A tap is a WebSocket that a Bare scenario has accepted from a CLI.
type tap struct {
	s     *Stage
	conn  *ws.Conn
	held  [][]byte // lines of a frame that were not asked for yet
	last  string   // the uuid of the last line that had one
	whole bool     // every frame was a text that is one line
}

// comes waits for the next request of the CLI, or for its end: then it returns nil.
func comes(s *Stage) *Upgrade {
	select {
	case upgrade := <-s.host.bare.requests:
		return upgrade
	case <-s.host.process.Done():
		return nil
	case <-s.ctx.Done():
		s.Fail("waiting for the CLI to dial or to end: %w; it says: %s", s.ctx.Err(), s.Stderr())
		return nil
	}
}

// open accepts the next request as a WebSocket.
func open(s *Stage) *tap { return openIt(s, s.Accept()) }

func openIt(s *Stage, upgrade *Upgrade) *tap {
	conn, err := upgrade.Accept()
	if err != nil {
		s.Fail("accepting the WebSocket: %w", err)
	}
	return &tap{s: s, conn: conn, whole: true}
}

// frame sends a frame as it is.
func (t *tap) frame(kind ws.MessageType, data string) {
	if err := t.conn.Write(t.s.ctx, kind, []byte(data)); err != nil {
		t.s.Fail("writing a frame: %w", err)
	}
}

// next returns the next line of the CLI; nil if the connection has ended.
func (t *tap) next() []byte {
	for len(t.held) == 0 {
		kind, data, err := t.conn.Read(t.s.ctx)
		if t.s.ctx.Err() != nil {
			t.s.Fail("waiting for a frame: %w%s", t.s.ctx.Err(), t.s.said())
		}
		if err != nil {
			return nil
		}
		if kind != ws.MessageText || bytes.Count(data, []byte("\n")) != 1 || !bytes.HasSuffix(data, []byte("\n")) {
			t.whole = false
		}
		for line := range bytes.Lines(data) {
			t.held = append(t.held, bytes.TrimSuffix(line, []byte("\n")))
		}
	}
	line := t.held[0]
	t.held = t.held[1:]
	if uuid := member(line, "uuid"); uuid != "" {
		t.last = uuid
	}
	t.s.lines = append(t.s.lines, line)
	return line
}

// seen returns the next line, summed up.
func (t *tap) seen() Seen {
	line := t.next()
	if line == nil {
		t.s.Fail("the connection ended%s", t.s.said())
	}
	message, err := wire.Decode(line)
	if err != nil {
		t.s.Fail("decoding a line: %w", err)
	}
	return Seen{0, line, message, t.s.normal.line(message)}
}

// until returns the lines up to the first whose summary begins so.
func (t *tap) until(prefix string) []Seen {
	var lines []Seen
	for {
		line := t.seen()
		lines = append(lines, line)
		if line.Is(prefix) {
			return lines
		}
	}
}

// asking returns a request that every version answers.
func asking(id string) string {
	return `{"type":"control_request","request_id":"` + id + `","request":{"subtype":"mcp_status"}}`
}

// initializing returns the first request.
func initializing(id string) string {
	return `{"type":"control_request","request_id":"` + id + `","request":{"subtype":"initialize"}}`
}

// prompting returns a prompt and its tag.
func prompting(s *Stage, text string) (line, tag string) {
	tag = s.Tag()
	return string(must(wire.NewUser(wire.TextContent(text+"\n"+tag), nil))), tag
}

// ends waits for the end of the process, whatever it still sends.
func (t *tap) ends() {
	for t.next() != nil {
	}
	t.s.Note("exit %d", t.s.Exit())
}

// closes closes the connection with a code.
func (t *tap) closes(code int) {
	// What the CLI says to it does not matter here.
	_ = t.conn.Close(ws.StatusCode(code), "")
}

// webSocketScenarios are about CLIs that dial: frames, ends of connections, and POSTs.
func webSocketScenarios() []Scenario {
	return slices.Concat(framingScenarios(), closeScenarios(), lossScenarios(), slowSocketScenarios(), hybridScenarios())
}

func framingScenarios() []Scenario {
	return []Scenario{
		{
			ID: "websocket.upgrade", Facts: "§16 headers; §16 one line per frame; §17 X-Last-Request-Id; seed 000: the server replays", Where: websocketOnly, Bare: true,
			Run: func(s *Stage) {
				upgrade := s.Accept()
				r := upgrade.Request
				s.Note("%s, token %t, User-Agent %q, X-Last-Request-Id %q, compression offered: %t", strings.TrimSuffix(r.URL.Path, runKey), r.Header.Get("Authorization") == "Bearer "+runToken,
					r.UserAgent(), r.Header.Get("X-Last-Request-Id"), strings.Contains(r.Header.Get("Sec-WebSocket-Extensions"), "permessage-deflate"))
				t := openIt(s, upgrade)
				t.frame(ws.MessageText, initializing("first")+"\n")
				t.until("answers")
				prompt, _ := prompting(s, "@say Over the wire.")
				t.frame(ws.MessageText, prompt+"\n")
				s.NoteLines(t.until("result"))
				t.frame(ws.MessageText, asking("barrier")+"\n")
				t.until("answers")
				s.Note("a text frame for each line: %t", t.whole)
				t.closes(1000)
				again := s.Accept()
				s.Note("again, token %t, X-Last-Request-Id is the last line's: %t", again.Request.Header.Get("Authorization") == "Bearer "+runToken, again.Request.Header.Get("X-Last-Request-Id") == t.last)
			},
			Want: Same(`/ws/cli/, token true, User-Agent "", X-Last-Request-Id "", compression offered: true`, "system/init", "assistant text: Over the wire.", "result success: Over the wire.", "a text frame for each line: true", "again, token true, X-Last-Request-Id is the last line's: true"),
		},
		{
			ID: "websocket.frames", Facts: "§16 frames are a byte stream; §16 frames of 5 and 20 MB; rule 3", Where: websocketOnly, Bare: true,
			Run: func(s *Stage) {
				t := open(s)
				answered := func(what string, ids ...string) {
					got := 0
					for range ids {
						for {
							line := t.seen()
							if r, ok := line.Message.(*wire.ControlResponse); ok && slices.Contains(ids, r.Response.RequestID) {
								got++
								break
							}
						}
					}
					s.Note("%s: %d answers", what, got)
				}
				t.frame(ws.MessageText, initializing("init")+"\n")
				answered("one line", "init")
				t.frame(ws.MessageText, asking("a")+"\n"+asking("b")+"\n")
				answered("two lines in a frame", "a", "b")
				line := asking("c") + "\n"
				t.frame(ws.MessageText, line[:20])
				t.frame(ws.MessageText, line[20:])
				answered("a line over two frames", "c")
				t.frame(ws.MessageBinary, asking("d")+"\n")
				answered("a binary frame", "d")
				t.frame(ws.MessageText, asking("e")+"\r\n")
				answered("CRLF", "e")
				writer, err := t.conn.Writer(s.ctx, ws.MessageText)
				for _, part := range []string{`{"type":"keep_alive","padding":"` + strings.Repeat("x", 10_000), strings.Repeat("y", 10_000) + "\"}\n", asking("f") + "\n"} {
					if err == nil {
						_, err = writer.Write([]byte(part))
					}
				}
				if err = errors.Join(err, writer.Close()); err != nil {
					s.Fail("writing a message in fragments: %w", err)
				}
				answered("fragments", "f")
				for _, size := range []int{5_000_000, 20_000_000} {
					t.frame(ws.MessageText, `{"type":"keep_alive","padding":"`+strings.Repeat("x", size)+"\"}\n")
				}
				t.frame(ws.MessageText, asking("g")+"\n")
				answered("frames of 5 and 20 MB", "g")
			},
			Want: Same("one line: 1 answers", "two lines in a frame: 2 answers", "a line over two frames: 1 answers", "a binary frame: 1 answers", "CRLF: 1 answers", "fragments: 1 answers", "frames of 5 and 20 MB: 1 answers"),
		},
		{
			ID: "websocket.no-line-end", Facts: "§16 every line must end with a line end; seed 000: frames without a line end; rule 3", Where: websocketOnly, Bare: true,
			Run: func(s *Stage) {
				t := open(s)
				t.frame(ws.MessageText, initializing("first"))
				t.frame(ws.MessageText, asking("second")+"\n")
				t.ends()
			},
			Want: Same("exit 1"),
		},
		{
			ID: "websocket.two-objects", Facts: "§16 two objects on one line", Where: websocketOnly, Bare: true,
			Run: func(s *Stage) {
				t := open(s)
				t.frame(ws.MessageText, initializing("first")+asking("second")+"\n")
				t.ends()
			},
			Want: Same("exit 1"),
		},
		{
			ID: "websocket.empty-frame", Facts: "§16 an empty frame", Where: websocketOnly, Bare: true,
			Run: func(s *Stage) {
				t := open(s)
				t.frame(ws.MessageText, initializing("first")+"\n")
				t.until("answers")
				t.frame(ws.MessageText, "")
				t.frame(ws.MessageText, "\n")
				if !s.AtLeast(2, 1, 120) {
					t.ends()
					return
				}
				t.frame(ws.MessageText, asking("second")+"\n")
				s.NoteOnly(t.until("answers"), "answers")
			},
			Quirks: []string{"StrictLines"},
			Want: Per{
				"2.1.37":  {"exit 1"},
				"2.1.120": {"answers success"},
			},
		},
	}
}

func closeScenarios() []Scenario {
	all := []Scenario{
		{
			ID: "websocket.close", Facts: "§17 codes after which it comes back; seed 000: three attempts, then closed; rule 16", Where: websocketOnly, Bare: true,
			Run: func(s *Stage) {
				t := open(s)
				for _, code := range []int{1000, 1001, 1011, 1012, 3000, 4000} {
					t.closes(code)
					begin := time.Now()
					upgrade := comes(s)
					if upgrade == nil {
						s.Note("%d: exit %d", code, s.Exit())
						return
					}
					after := time.Since(begin)
					s.Note("%d: it comes back after a second or more: %t", code, after > 700*time.Millisecond)
					t = openIt(s, upgrade)
				}
				t.frame(ws.MessageText, initializing("first")+"\n")
				s.NoteOnly(t.until("answers"), "answers")
			},
			Want: Same("1000: it comes back after a second or more: true", "1001: it comes back after a second or more: true", "1011: it comes back after a second or more: true", "1012: it comes back after a second or more: true", "3000: it comes back after a second or more: true", "4000: it comes back after a second or more: true", "answers success"),
		},
		{
			ID: "websocket.cut", Facts: "§17 1006; seed 000: three attempts, then closed", Where: dialledOnly, Bare: true,
			Run: func(s *Stage) {
				t := open(s)
				if err := t.conn.CloseNow(); err != nil {
					s.Fail("cutting the connection: %w", err)
				}
				t = open(s)
				t.closes(1012)
				open(s)
				s.Note("it comes back each time")
			},
			Want: Same("it comes back each time"),
		},
	}
	for _, code := range []int{1002, 4001, 4003} {
		facts := fmt.Sprintf("§17 close %d; rule 16", code)
		if code == 4001 {
			facts += "; seed facts: close 4001"
		}
		all = append(all, Scenario{
			ID: fmt.Sprintf("websocket.close-%d", code), Facts: facts, Where: dialledOnly, Bare: true,
			Run: func(s *Stage) {
				open(s).closes(code)
				if comes(s) != nil {
					s.Note("it comes back")
					return
				}
				s.Note("exit %d, told on standard error: %t", s.Exit(), strings.TrimSpace(s.Stderr()) != "")
			},
			Want: Per{"2.1.37": {"it comes back"}, "2.1.120": {"exit 0, told on standard error: false"}},
		})
	}
	for _, status := range []int{http.StatusUnauthorized, http.StatusServiceUnavailable} {
		all = append(all, Scenario{
			ID: fmt.Sprintf("websocket.refused-%d", status), Facts: fmt.Sprintf("§17 the upgrade is answered %d; rule 16", status), Where: dialledOnly, Bare: true,
			Run: func(s *Stage) {
				if status == http.StatusServiceUnavailable { // later on it is not the same
					open(s).closes(1012)
				}
				tries := 0
				for upgrade := comes(s); upgrade != nil; upgrade = comes(s) {
					tries++
					upgrade.Answer(status, "")
				}
				s.Note("%d tries, exit %d, told on standard error: %t", tries, s.Exit(), strings.TrimSpace(s.Stderr()) != "")
			},
			Want: Per{"2.1.37": {"2 tries, exit 0, told on standard error: false"}, "2.1.120": {"1 tries, exit 0, told on standard error: false"}},
		})
	}
	return append(all, Scenario{
		ID: "websocket.gone", Facts: "§17 port closed; rule 16; rule 17", Where: both(websocketOnly, before("2.1.120", "it tries for ten minutes: websocket.gone-long")), Bare: true,
		Run: func(s *Stage) { noteGone(s, 3*time.Second, 2*time.Minute) }, Want: Same("exit 0 in the time expected: true"),
	}, Scenario{
		ID: "websocket.gone-long", Facts: "§17 port closed; rule 16", Where: both(websocketOnly, since("2.1.120", "2.1.37 gives up after 5 s: websocket.gone")), Bare: true, Slow: true,
		Run: func(s *Stage) { noteGone(s, 9*time.Minute, 12*time.Minute) }, Want: Same("exit 0 in the time expected: true"),
	})
}

// noteGone closes the port for good and notes how the CLI ends.
func noteGone(s *Stage, least, most time.Duration) {
	t := open(s)
	begin := time.Now()
	if err := errors.Join(s.host.web.Close(), s.host.bare.close(), t.conn.CloseNow()); err != nil {
		s.Fail("closing the port: %w", err)
	}
	code := s.Exit()
	took := time.Since(begin)
	s.Note("exit %d in the time expected: %t", code, took > least && took < most)
}

func lossScenarios() []Scenario {
	// down sends a prompt and cuts the connection before the model's answer has come; what comes of it is in the transcript before the CLI
	// gets its next connection.
	down := func(s *Stage, text, inTranscript string) (before, after *tap) {
		before = open(s)
		before.frame(ws.MessageText, initializing("first")+"\n")
		before.until("answers")
		prompt, tag := prompting(s, text)
		before.frame(ws.MessageText, prompt+"\n")
		before.until("system/init")
		s.AwaitModel(tag, 1)
		before.closes(1012)
		upgrade := s.Accept()
		awaitTranscript(s, inTranscript)
		return before, openIt(s, upgrade)
	}
	return []Scenario{
		{
			ID: "websocket.lost-lines", Facts: "§17 lines produced while down; seed 000: the CLI replays its buffer; rule 15", Where: websocketOnly, Bare: true,
			Run: func(s *Stage) {
				before, after := down(s, "@slow 50ms\n@say Said while nobody listened.", "Said while nobody listened.")
				after.frame(ws.MessageText, initializing("second")+"\n")
				for _, line := range after.until("answers") {
					switch {
					case line.Is("system/init"):
						s.Note("init again, the same line: %t", line.Get("uuid") == before.last)
					case !line.Is("system/session_state_changed", "keep_alive", "system/status"):
						s.Note("%s", line.Text)
					}
				}
			},
			Want: Per{
				"2.1.37":  {"answers error Already initialized"},
				"2.1.120": {"init again, the same line: true", "assistant text: Said while nobody listened.", "result success: Said while nobody listened.", "answers error Already initialized"},
			},
		},
		{
			ID: "websocket.lost-question", Facts: "§17 a control_request produced while down; rule 15", Where: websocketOnly, Bare: true,
			Run: func(s *Stage) {
				_, t := down(s, `@slow 50ms
					@tool Bash {"command":"touch asked-while-down","description":"Ask"}
					@say Done.`, "asked-while-down")
				// It asks as soon as it has written the call down, but not in the same moment.
				var open []wire.ControlRequest
				asked := false
				for try := 0; len(open) == 0; try++ {
					t.frame(ws.MessageText, initializing(fmt.Sprintf("again-%d", try))+"\n")
					lines := t.until("answers")
					asked = asked || len(Turn{Lines: lines}.Find("asks")) > 0
					open = lines[len(lines)-1].Message.(*wire.ControlResponse).Response.PendingPermissionRequests
				}
				s.Note("the question came by itself: %t, is listed: %d", asked, len(open))
				t.frame(ws.MessageText, string(must(wire.NewPermission(&open[0], &wire.Deny{Message: "No."})))+"\n")
				s.NoteOnly(t.until("result"), "user tool_result", "result")
			},
			Want: Same("the question came by itself: false, is listed: 1", "user tool_result error: No.", "result success: Done."),
		},
		{
			ID: "websocket.reconnect", Facts: "§17 reconnect; rule 15",
			Also: map[string]string{"*/hybrid": "lines are taken by POST while the WebSocket is away"}, Where: dialledOnly, Alone: true,
			Run: func(s *Stage) {
				s.NoteOnly(s.Turn("@say Before.").Lines, "result")
				conn := s.Peer().Conn()
				s.Peer().Reconnect()
				awaitThat(s, "the CLI is back", func() bool { now := s.Peer().Conn(); return now != conn && now != 0 })
				_, err := s.TryRequest(&wire.InitializeRequest{})
				refused, ok := errors.AsType[*claude.ControlError](err)
				s.Note("initialized: %t", ok && refused.Answer.Error == "Already initialized")
				s.NoteOnly(s.Turn("@say After.").Lines, "result")
			},
			Want: Same("result success: Before.", "initialized: true", "result success: After."),
		},
	}
}

func slowSocketScenarios() []Scenario {
	return []Scenario{
		{
			ID: "websocket.ping", Facts: "§7 a ping every 10 s; seed 000: no ping on Bun", Where: websocketOnly, Bare: true, Slow: true,
			Run: func(s *Stage) {
				upgrade := s.Accept()
				var pings, deaf atomic.Int64
				conn, err := ws.Accept(upgrade.w, upgrade.Request, &ws.AcceptOptions{InsecureSkipVerify: true, OnPingReceived: func(context.Context, []byte) bool {
					pings.Add(1)
					return deaf.Load() == 0
				}})
				if err != nil {
					s.Fail("accepting the WebSocket: %w", err)
				}
				close(upgrade.done)
				conn.CloseRead(s.ctx) // reads, and so answers
				begin := time.Now()
				awaitThat(s, "two pings have come", func() bool { return pings.Load() >= 2 })
				took := time.Since(begin)
				s.Note("two in 20 s: %t", took > 18*time.Second && took < 25*time.Second)
				deaf.Store(1)
				begin = time.Now()
				again := comes(s)
				took = time.Since(begin)
				s.Note("without an answer it comes back: %t, after about 20 s: %t", again != nil, took > 15*time.Second && took < 30*time.Second)
			},
			Want: Same("two in 20 s: true", "without an answer it comes back: true, after about 20 s: true"),
		},
		{
			ID: "websocket.keep_alive", Facts: "§7 keep_alive every 300 s; seed 000: keep_alive periodically", Where: websocketOnly, Bare: true, Slow: true,
			Run: func(s *Stage) {
				t := open(s)
				t.frame(ws.MessageText, initializing("first")+"\n")
				t.until("answers")
				got := make(chan []byte, 1)
				ctx, cancel := context.WithTimeout(s.ctx, 330*time.Second)
				defer cancel()
				go func() {
					_, data, _ := t.conn.Read(ctx)
					got <- data
				}()
				s.Note("%s", bytes.TrimSpace(<-got))
			},
			Want: Per{"2.1.37": {""}, "2.1.120": {`{"type":"keep_alive"}`}},
		},
		{
			ID: "websocket.unanswered", Facts: "§16 an upgrade that is never answered", Where: websocketOnly, Bare: true, Slow: true,
			Run: func(s *Stage) {
				upgrade := s.Accept()
				timer := time.NewTimer(30 * time.Second)
				defer timer.Stop()
				select {
				case <-timer.C:
					s.Note("it waits for 30 s")
				case <-s.host.process.Done():
					s.Note("exit %d", s.Exit())
				case <-s.host.bare.requests:
					s.Note("it tries again")
				}
				t := openIt(s, upgrade)
				t.frame(ws.MessageText, initializing("first")+"\n")
				s.NoteOnly(t.until("answers"), "answers")
			},
			Want: Same("it waits for 30 s", "answers success"),
		},
	}
}
