//go:build linux

package e2e

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The roles of the test binary in BenchmarkHeadline: the CLI, and the least that a
// program could do with its output.
const (
	roleWriter = "writer"
	roleBare   = "bare"
)

// What the CLI writes: a token delta as CLIs of today write them, and a message.
const (
	headlineDelta   = 240
	headlineMessage = 2800
	// headlineTurn is after how many deltas a message ends and the next one begins.
	headlineTurn = 500
)

// writerEnv is where the CLI is told what to write.
const writerEnv = "E2E_WRITER"

// A writerOrder has the CLI write Count lines: at once, or Rate per second. Their
// numbers follow each other.
type writerOrder struct {
	Deltas, Begin bool
	From          int64
	Count         int32
	Rate          int32
}

// runWriter is the test binary as a CLI: it answers what it is asked, and writes the
// lines that it is told to, each with a write of its own, as CLIs do.
func runWriter() error {
	if len(os.Args) > 1 && os.Args[len(os.Args)-1] == "--version" {
		fmt.Println("2.1.325 (Claude Code)")
		return nil
	}
	conn, err := net.Dial("tcp", os.Getenv(writerEnv))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // the process ends
	var mu sync.Mutex
	go func() { // ends with the process
		requests := bufio.NewScanner(os.Stdin)
		requests.Buffer(nil, 64<<20)
		for requests.Scan() {
			var request struct {
				Type string `json:"type"`
				ID   string `json:"request_id"`
			}
			if json.Unmarshal(requests.Bytes(), &request) == nil && request.Type == "control_request" {
				mu.Lock()
				fmt.Printf(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{"commands":[],"models":[],"account":{}}}}`+"\n", request.ID)
				mu.Unlock()
			}
		}
		os.Exit(0) // nobody is there any more
	}()
	w := &lineWriter{delta: stampedLine(true), message: stampedLine(false)}
	for {
		var order writerOrder
		if err := binary.Read(conn, binary.LittleEndian, &order); err != nil {
			return nil
		}
		mu.Lock()
		err := w.write(&order)
		mu.Unlock()
		if err != nil {
			return err
		}
	}
}

// A stamped is a line with places for a number and the time.
type stamped struct {
	line     []byte
	at, uuid int
}

// stampMark is what stands before number and time, uuidMark before the uuid's last
// part.
const (
	stampMark = `"text":"#`
	uuidMark  = `"uuid":"6ba7b810-9dad-41d1-80b4-`
)

func stampedLine(delta bool) *stamped {
	size, head, tail := headlineMessage, `{"type":"assistant","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-6","content":[{"type":"text","text":"`,
		`"}],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}`
	if delta {
		size, head, tail = headlineDelta, `{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"`, `"}}`
	}
	stamp := fmt.Sprintf("#%012x %016x ", 0, 0)
	tail += `,"session_id":"` + fmt.Sprintf(uuidForm, 1) + `","parent_tool_use_id":null,` + uuidMark + "000000000000\"}\n"
	words := strings.Repeat("What an agent writes is mostly words. ", 100)
	l := []byte(head + stamp + words[:max(0, size-len(head)-len(stamp)-len(tail))] + tail)
	return &stamped{line: l, at: bytes.Index(l, []byte(stampMark)) + len(stampMark), uuid: bytes.Index(l, []byte(uuidMark)) + len(uuidMark)}
}

// put writes the number and the time into the line.
func (s *stamped) put(number, now int64) {
	putHex(s.line[s.at:s.at+12], number)
	putHex(s.line[s.at+13:s.at+29], now)
	putHex(s.line[s.uuid:s.uuid+12], number)
}

func putHex(b []byte, n int64) {
	const digits = "0123456789abcdef"
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = digits[n&15]
		n >>= 4
	}
}

// stampOf returns the number of the line in a follower's frame, and when it was
// written; -1 if it has none.
func stampOf(frame []byte) (number, written int64) {
	i := bytes.Index(frame, []byte(stampMark))
	if i < 0 || len(frame) < i+len(stampMark)+29 {
		return -1, 0
	}
	i += len(stampMark)
	number, err1 := strconv.ParseInt(string(frame[i:i+12]), 16, 64)
	written, err2 := strconv.ParseInt(string(frame[i+13:i+29]), 16, 64)
	if err1 != nil || err2 != nil {
		return -1, 0
	}
	return number, written
}

// A lineWriter writes to standard output.
type lineWriter struct{ delta, message *stamped }

func (w *lineWriter) write(o *writerOrder) error {
	var ticker *time.Ticker
	if o.Rate > 0 {
		ticker = time.NewTicker(time.Second / time.Duration(o.Rate))
		defer ticker.Stop()
	}
	if o.Begin {
		return w.boundary(false)
	}
	for n := o.From; n < o.From+int64(o.Count); n++ {
		if ticker != nil {
			<-ticker.C
		}
		l := w.message
		if o.Deltas {
			l = w.delta
			if n%headlineTurn == headlineTurn-1 {
				if err := w.boundary(true); err != nil {
					return err
				}
			}
		}
		l.put(n, time.Now().UnixNano())
		if _, err := os.Stdout.Write(l.line); err != nil {
			return err
		}
	}
	return nil
}

// boundary ends a message, if there is one, and begins the next.
func (w *lineWriter) boundary(end bool) error {
	events := []string{
		`{"type":"message_stop"}`,
		`{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-6","content":[],"usage":{"input_tokens":1,"output_tokens":1}}}`,
		beginning,
	}
	if !end {
		events = events[1:]
	}
	for i, event := range events {
		if _, err := fmt.Printf(`{"type":"stream_event","event":%s,"session_id":%q,"parent_tool_use_id":null,"uuid":%q}`+"\n", event, fmt.Sprintf(uuidForm, 1), fmt.Sprintf(uuidForm, 0xffff_ffff_0000+i)); err != nil {
			return err
		}
	}
	return nil
}

// runBare is the test binary as the least that a program could do: it starts the CLI,
// reads its pipe, makes a WebSocket message of each line, and writes all that one read
// brought to each client with one call. It looks at nothing and keeps nothing.
func runBare() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	cli := exec.Command(os.Args[1])
	cli.Stderr = os.Stderr
	input, err := cli.StdinPipe()
	if err != nil {
		return err
	}
	defer func() { _ = input.Close() }() // the process ends
	output, err := cli.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cli.Start(); err != nil {
		return err
	}
	var mu sync.Mutex
	var clients []net.Conn
	server := &http.Server{ReadHeaderTimeout: patience, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if _, err := io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n\x81\x02{}"); err == nil {
			clients = append(clients, conn)
		}
	})}
	go func() { _ = server.Serve(listener) }() // ends with the process
	fmt.Println("listening on " + listener.Addr().String())
	buf, have := make([]byte, 256<<10), 0
	var frames []byte
	for {
		n, err := output.Read(buf[have:])
		if err != nil {
			return errors.Join(err, cli.Wait())
		}
		have += n
		rest := buf[:have]
		frames = frames[:0]
		for {
			end := bytes.IndexByte(rest, '\n')
			if end < 0 {
				break
			}
			frames = append(frames, 0x81)
			if end < 126 {
				frames = append(frames, byte(end))
			} else {
				frames = append(frames, 126, byte(end>>8), byte(end))
			}
			frames = append(frames, rest[:end]...)
			rest = rest[end+1:]
		}
		have = copy(buf, rest)
		mu.Lock()
		for i := 0; i < len(clients); i++ {
			if _, err := clients[i].Write(frames); err != nil {
				_ = clients[i].Close() // it has gone
				clients = append(clients[:i], clients[i+1:]...)
				i--
			}
		}
		mu.Unlock()
	}
}
