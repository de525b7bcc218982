//go:build linux

package e2e

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// flood sends the head of a request and then bytes without end, until it is
// answered or cut off, and returns the status (0 if cut off) and how much the
// hub took.
func (a *assault) flood(head string, most int64) (status int, sent int64) {
	a.t.Helper()
	c := a.connect()
	defer func() { _ = c.Close() }() // there is nothing to lose
	answered := make(chan int, 1)
	go func() { // ends with the connection
		response, err := readRawAnswer(bufio.NewReader(c))
		if err != nil {
			answered <- 0
			return
		}
		answered <- response.status
	}()
	chunk := []byte(strings.Repeat("a", 64<<10))
	if _, err := io.WriteString(c, head); err != nil {
		return <-answered, 0
	}
	chunked := strings.Contains(head, "chunked")
	for sent < most {
		select {
		case status := <-answered:
			return status, sent
		default:
		}
		if chunked {
			if _, err := fmt.Fprintf(c, "%x\r\n", len(chunk)); err != nil {
				break
			}
		}
		n, err := c.Write(chunk)
		sent += int64(n)
		if err == nil && chunked {
			_, err = io.WriteString(c, "\r\n")
		}
		if err != nil {
			break
		}
	}
	return <-answered, sent
}

// TestAttackBodies sends a gigabyte to whoever takes a body: it is refused early,
// and memory keeps to its bounds. It has no race detector, whose memory is not
// the program's.
func TestAttackBodies(t *testing.T) {
	t.Parallel()
	a := newAssault(t, &labOptions{plain: true})
	before, err := residentBytes(a.current().pid())
	if err != nil {
		t.Fatal(err)
	}
	const (
		gigabyte = 1 << 30
		// slack is what the system's buffers take, and what is read of a body that
		// is not wanted, so that the connection can be used again.
		slack = 128 << 20
	)
	of := "/v1/sessions/" + a.s.id
	rows := []struct {
		name, path, token string
		limit             int64
	}{
		{"a prompt", of + "/messages", a.admin(), 64 << 20},
		{"a control request", of + "/control", a.admin(), 64 << 20},
		{"an interrupt", of + "/interrupt", a.admin(), 1 << 20},
		{"a new session", "/v1/sessions", a.admin(), 1 << 20},
		{"a login", "/v1/login", "", 1 << 20},
		{"Direct Connect", "/sessions", a.admin(), 1 << 20},
		{"without a token", of + "/messages", "", 0},
		{"nowhere", "/nothing/here", "", 0},
		{"the front page", "/", "", 0},
	}
	for _, row := range rows {
		head := "POST " + row.path + " HTTP/1.1\r\nHost: " + a.address + "\r\nContent-Type: application/json\r\n"
		if row.token != "" {
			head += "Authorization: Bearer " + row.token + "\r\n"
		}
		for _, form := range []string{fmt.Sprintf("Content-Length: %d\r\n\r\n{\"text\":\"", gigabyte), "Transfer-Encoding: chunked\r\n\r\n9\r\n{\"text\":\"\r\n"} {
			status, sent := a.flood(head+form, gigabyte)
			if status != 0 && (status < 400 || status >= 500) {
				t.Errorf("%s: status %d", row.name, status)
			}
			if sent > row.limit+slack {
				t.Errorf("%s: %d MiB were taken", row.name, sent>>20)
			}
		}
	}
	// A line of a gigabyte by WebSocket, in one message and in many.
	for _, path := range a.socketPaths() {
		for _, first := range []byte{0x81, 0x01} {
			s, _ := a.rawUpgrade(path, a.admin())
			part := []byte(strings.Repeat("a", 1<<20))
			head, more := rawFrame{first: first, payload: part}, part
			if first == 0x81 {
				head.length = gigabyte
			} else {
				more = rawFrame{first: 0x00, payload: part}.bytes()
			}
			sent := int64(0)
			for next := head.bytes(); sent < gigabyte; next = more {
				if _, err := s.Write(next); err != nil {
					break
				}
				sent += int64(len(part))
			}
			if sent > 64<<20+slack {
				t.Errorf("%s: %d MiB of a message were taken", path, sent>>20)
			}
			_ = s.Close() // perhaps a second time
		}
	}
	// Many at once share the same memory.
	var many sync.WaitGroup
	for range 4 {
		many.Go(func() {
			a.flood("POST "+of+"/messages HTTP/1.1\r\nHost: "+a.address+"\r\nContent-Type: application/json\r\nAuthorization: Bearer "+a.admin()+
				"\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{\"text\":\"\r\n", gigabyte)
		})
	}
	many.Wait()
	peak, err := peakBytes(a.current().pid())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("resident: %d MiB before, %d MiB at most", before>>20, peak>>20)
	// Four of 64 MiB each, held more than once while they grow, and as much again
	// for the collector.
	if peak-before > 3<<29 {
		t.Errorf("the hub took %d MiB", (peak-before)>>20)
	}
	a.survived()
}

// peakBytes returns how much memory a process had at most.
func peakBytes(pid int) (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	var kilobytes int64
	for line := range strings.Lines(string(status)) {
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kilobytes); err == nil {
			return kilobytes << 10, nil
		}
	}
	return 0, errors.New("the process does not tell its peak")
}

// TestAttackHeaders sends headers that are too long, too many, or never end.
func TestAttackHeaders(t *testing.T) {
	t.Parallel()
	a := newAssault(t, nil)
	host := "Host: " + a.address + "\r\n"
	var many strings.Builder
	for n := range 50_000 {
		fmt.Fprintf(&many, "X-%d: y\r\n", n)
	}
	var sending sync.WaitGroup
	for row, request := range map[string]string{
		"a long header":         "GET /v1/info HTTP/1.1\r\n" + host + "X-Bomb: " + strings.Repeat("a", 2<<20) + "\r\n\r\n",
		"a long name":           "GET /v1/info HTTP/1.1\r\n" + host + strings.Repeat("a", 2<<20) + ": b\r\n\r\n",
		"many headers":          "GET /v1/info HTTP/1.1\r\n" + host + many.String() + "\r\n",
		"a long token":          "GET /v1/info HTTP/1.1\r\n" + host + "Authorization: Bearer sb_" + strings.Repeat("a", 2<<20) + "\r\n\r\n",
		"a long path":           "GET /" + strings.Repeat("a", 2<<20) + " HTTP/1.1\r\n" + host + "\r\n",
		"a long query":          "GET /v1/sessions?q=" + strings.Repeat("a", 2<<20) + " HTTP/1.1\r\n" + host + "\r\n",
		"a long method":         strings.Repeat("A", 2<<20) + " / HTTP/1.1\r\n" + host + "\r\n",
		"many sub-protocols":    "GET /ws HTTP/1.1\r\n" + host + "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: " + strings.Repeat("a,", 1<<20) + "a\r\n\r\n",
		"no HTTP":               "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello\r\n\r\n",
		"another version":       "GET /v1/info HTTP/3.0\r\n" + host + "\r\n",
		"two lengths":           "POST /v1/login HTTP/1.1\r\n" + host + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
		"length and chunks":     "POST /v1/login HTTP/1.1\r\n" + host + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"a negative length":     "POST /v1/login HTTP/1.1\r\n" + host + "Content-Length: -5\r\n\r\n",
		"an odd encoding":       "POST /v1/login HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
		"a space in a name":     "GET /v1/info HTTP/1.1\r\n" + host + "Authorization : Bearer x\r\n\r\n",
		"a folded header":       "GET /v1/info HTTP/1.1\r\n" + host + "X-A: b\r\n c\r\n\r\n",
		"a NUL in a header":     "GET /v1/info HTTP/1.1\r\n" + host + "X-A: \x00\r\n\r\n",
		"nothing but newlines":  strings.Repeat("\r\n", 1<<20),
		"a chunk that is a lie": "POST /v1/login HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx\r\n0\r\n\r\n",
	} {
		sending.Go(func() {
			c, err := a.tryConnect()
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = c.Close() }()  // there is nothing to lose
			_, _ = io.WriteString(c, request) // who refuses early does not read all
			response, err := readRawAnswer(bufio.NewReader(c))
			if err != nil {
				return // cut off
			}
			if response.status < 400 || response.status == http.StatusInternalServerError {
				t.Errorf("%s: status %d", row, response.status)
			}
		})
	}
	sending.Wait()
	a.survived()
}

// TestAttackSlow sends headers and bodies that never come to their end: the
// connection is cut, and nobody else waits.
func TestAttackSlow(t *testing.T) {
	t.Parallel()
	a := newAssault(t, nil)
	of := "/v1/sessions/" + a.s.id
	beginnings := map[string]string{
		"nothing":            "",
		"half a line":        "GET /v1/in",
		"half a header":      "GET /v1/info HTTP/1.1\r\nHost: " + a.address + "\r\nX-Slow: ",
		"half a body":        "POST " + of + "/messages HTTP/1.1\r\nHost: " + a.address + "\r\nAuthorization: Bearer " + a.admin() + "\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"text\":\"",
		"half a chunk":       "POST " + of + "/messages HTTP/1.1\r\nHost: " + a.address + "\r\nAuthorization: Bearer " + a.admin() + "\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe",
		"half a login":       "POST /v1/login HTTP/1.1\r\nHost: " + a.address + "\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
		"half a Direct":      "POST /sessions HTTP/1.1\r\nHost: " + a.address + "\r\nAuthorization: Bearer " + a.admin() + "\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
		"half an upgrade":    "GET /ws HTTP/1.1\r\nHost: " + a.address + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n",
		"no token":           "GET /ws HTTP/1.1\r\nHost: " + a.address + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
		"half a token":       "GET /ws HTTP/1.1\r\nHost: " + a.address + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n\x81\xfe\x00\x80\x01\x02\x03\x04ab",
		"an unread refusal":  "GET /v1/info HTTP/1.1\r\nHost: evil.example\r\n\r\n",
		"another unread one": "GET /v1/sessions HTTP/1.1\r\nHost: " + a.address + "\r\nConnection: close\r\n\r\n",
	}
	var slow sync.WaitGroup
	const each = 6
	for row, beginning := range beginnings {
		for range each {
			slow.Go(func() {
				c, err := a.tryConnect()
				if err != nil {
					t.Error(err)
					return
				}
				defer func() { _ = c.Close() }() // perhaps a second time
				_ = c.SetDeadline(time.Now().Add(2 * patience))
				if _, err := io.WriteString(c, beginning); err != nil {
					return
				}
				if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("%s: the connection is held for ever", row)
				}
			})
		}
	}
	a.survived() // while all of them are there
	slow.Wait()
	a.survived()
}

// TestAttackConnections opens more connections than there may be.
func TestAttackConnections(t *testing.T) {
	t.Parallel()
	const most, unknown = 40, 10
	a := newAssault(t, &labOptions{config: fmt.Sprintf("[server]\nmax_connections = %d\nmax_connections_per_address = %d\nmax_unknown_connections = %d\n", 2*most, most, unknown)})
	// Those who say nothing push each other out, and nobody else.
	var idle []net.Conn
	for range 5 * unknown {
		c, err := a.tryConnect()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }() // perhaps a second time
		idle = append(idle, c)
	}
	a.survived()
	if _, err := io.Copy(io.Discard, idle[0]); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the oldest of too many unknown connections is still there")
	}
	for _, c := range idle {
		_ = c.Close()
	}
	// One who is known gets a share, and is told so.
	token := a.mint("greedy", wire.ScopeObserve)
	head := "GET /v1/sessions/" + a.s.id + "/events HTTP/1.1\r\nHost: " + a.address + "\r\nAccept: text/event-stream\r\nAuthorization: Bearer " + token.Text + "\r\n\r\n"
	var streams []net.Conn
	refused := 0
	for range 3 * most {
		c, err := a.tryConnect()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }() // perhaps a second time
		_, _ = io.WriteString(c, head)   // it may be refused before
		status := make([]byte, len("HTTP/1.1 200"))
		if _, err := io.ReadFull(c, status); err != nil || string(status) != "HTTP/1.1 200" {
			if err != nil || string(status) != "HTTP/1.1 429" {
				t.Errorf("a connection too many is answered %q", status)
			}
			refused++
			_ = c.Close()
			continue
		}
		streams = append(streams, c)
	}
	t.Logf("%d streams, %d refused", len(streams), refused)
	if len(streams) != most/4 || refused == 0 {
		t.Errorf("%d streams are open, want %d; %d were refused", len(streams), most/4, refused)
	}
	// Another token is let in over TCP meanwhile: that of the owner's browser is not locked out.
	a.survived()
	// The socket has no such limit: whoever owns the machine is not locked out.
	if list := a.runVerb("token", "list", "--data-dir", a.data); !strings.Contains(list, "greedy") {
		t.Errorf("the socket does not answer: %s", list)
	}
	for _, c := range streams {
		_ = c.Close()
	}
	if err := eventually(patience, func() error {
		c, err := a.tryConnect()
		if err != nil {
			return err
		}
		defer func() { _ = c.Close() }()
		if _, err := io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: "+a.address+"\r\nConnection: close\r\n\r\n"); err != nil {
			return err
		}
		response, err := readRawAnswer(bufio.NewReader(c))
		if err != nil {
			return err
		}
		if response.status != http.StatusOK {
			return fmt.Errorf("status %d", response.status)
		}
		return nil
	}); err != nil {
		t.Errorf("there is no room afterwards: %v", err)
	}
	a.survived()
}
