package netproxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// Connections that want the same host share one question; one to another port
// waits as well, and then asks on its own.
func TestOneQuestion(t *testing.T) {
	j := newJudge()
	l := newLab(t, Config{Decide: j.decide}, names, echo)
	const clients = 5
	codes := make(chan int, clients)
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			_, _, code, _ := l.connect("example.com:443")
			codes <- code
		})
	}
	ssh := make(chan int, 1)
	all.Go(func() {
		first := j.next(t)
		if first.Port != 443 {
			t.Errorf("asked about port %d", first.Port)
		}
		all.Go(func() {
			_, _, code, _ := l.connect("example.com:22")
			ssh <- code
		})
		l.waiting("example.com", clients+1)
		first.answer <- Allow
	})
	for range clients {
		if code := receive(t, codes); code != 200 {
			t.Errorf("code %d", code)
		}
	}
	second := j.next(t)
	if second.Port != 22 {
		t.Errorf("asked about port %d", second.Port)
	}
	second.answer <- Refuse
	if code := receive(t, ssh); code != 403 {
		t.Errorf("code %d", code)
	}
	all.Wait()
	// Once is once: the next connection asks again, after a refusal a little later.
	if _, _, code, body := l.connect("example.com:443"); code != 403 || !strings.Contains(body, "a person has said no") {
		t.Errorf("%d %q", code, body)
	}
	if len(j.asked) != 0 {
		t.Errorf("asked about %v", (<-j.asked).Request)
	}
}

func TestOnceIsOnce(t *testing.T) {
	j := newJudge()
	l := newLab(t, Config{Decide: j.decide}, names, echo)
	for range 2 {
		codes := make(chan int, 1)
		go func() {
			_, _, code, _ := l.connect("example.com:443")
			codes <- code
		}()
		j.next(t).answer <- Allow
		if code := receive(t, codes); code != 200 {
			t.Errorf("code %d", code)
		}
	}
}

// A client that goes away does not take the question from the others. When all
// are gone it is withdrawn.
// TestOnceForACommand holds that what a command was allowed once holds for its next
// connections, to the same port, until there is a refusal.
func TestOnceForACommand(t *testing.T) {
	j := newJudge()
	pid := 1
	l := newLab(t, Config{
		Decide: j.decide, Peer: func(net.Conn) (int, string) { return pid, "" },
		Origin: func(pid int) string { return map[int]string{1: "npm", 2: "npm", 3: "other"}[pid] },
	}, names, echo)
	codes := make(chan int, 1)
	for _, step := range []struct {
		pid    int
		target string
		asked  bool
		answer Verdict
		code   int
	}{
		{1, "example.com:443", true, Allow, 200},
		{1, "example.com:443", false, Refuse, 200},
		{2, "example.com:443", false, Refuse, 200},
		{2, "example.com:22", true, Allow, 200},
		{3, "example.com:443", true, Allow, 200}, // another command
		{4, "example.com:443", true, Allow, 200}, // one that is not known
		{4, "example.com:443", true, Refuse, 403},
		{1, "example.com:443", false, Refuse, 403},
	} {
		pid = step.pid
		go func() {
			_, _, code, _ := l.connect(step.target)
			codes <- code
		}()
		if step.asked {
			j.next(t).answer <- step.answer
		}
		if code := receive(t, codes); code != step.code {
			t.Errorf("%+v: code %d", step, code)
		}
		if len(j.asked) != 0 {
			t.Errorf("%+v: asked about %v", step, (<-j.asked).Request)
		}
	}
}

func TestGoneClients(t *testing.T) {
	for _, protocol := range []string{"HTTP", "SOCKS"} {
		t.Run(protocol, func(t *testing.T) {
			j := newJudge()
			l := newLab(t, Config{Decide: j.decide, linger: time.Millisecond}, names, echo)
			open := func() io.Closer {
				conn := l.dial()
				if protocol == "HTTP" {
					_, _ = io.WriteString(conn, "CONNECT example.com:443 HTTP/1.1\r\n\r\n")
				} else {
					_, _ = conn.Write([]byte{5, 1, 0})
					_, _ = io.ReadFull(conn, make([]byte, 2))
					_, _ = conn.Write(append([]byte{5, 1, 0}, domain("example.com", 443)...))
				}
				return conn
			}
			first := open()
			a := j.next(t)
			second := open()
			l.waiting("example.com", 2)
			_ = first.Close()
			l.waiting("example.com", 1)
			if len(j.cancel) != 0 {
				t.Error("the question was withdrawn while a connection waits")
			}
			_ = second.Close()
			if r := receive(t, j.cancel); r != a.Request {
				t.Errorf("withdrawn: %v", r)
			}
			l.waiting("example.com", 0)
			if got := l.seen(&l.refused); len(got) > 0 {
				t.Errorf("told of refusals: %q", got)
			}
		})
	}
}

// A program that gives up before a person has answered finds the answer when it
// tries again.
func TestAnswerForTheNext(t *testing.T) {
	j := newJudge()
	l := newLab(t, Config{Decide: j.decide, linger: time.Hour}, names, echo)
	conn := l.dial()
	_, _ = io.WriteString(conn, "CONNECT example.com:443 HTTP/1.1\r\n\r\n")
	a := j.next(t)
	_ = conn.Close()
	l.waiting("example.com", 0)
	a.answer <- Allow
	if _, _, code, _ := l.connect("example.com:443"); code != 200 {
		t.Errorf("code %d", code)
	}
	codes := make(chan int, 1)
	go func() {
		_, _, code, _ := l.connect("example.com:443")
		codes <- code
	}()
	j.next(t).answer <- Allow // it was for one
	receive(t, codes)
}

func TestBounds(t *testing.T) {
	t.Run("header", func(t *testing.T) {
		l := newLab(t, Config{AllowHosts: []string{"*"}}, names, echo)
		conn := l.dial()
		go func() { // ends with the connection
			_, _ = fmt.Fprintf(conn, "CONNECT example.com:443 HTTP/1.1\r\nX: %s\r\n\r\n", strings.Repeat("x", 2*maxHeader))
		}()
		if code, _ := l.answer(bufio.NewReader(conn), http.MethodConnect); code != 431 {
			t.Errorf("code %d", code)
		}
	})
	t.Run("handshake", func(t *testing.T) {
		l := newLab(t, Config{AllowHosts: []string{"*"}, handshake: 20 * time.Millisecond}, names, echo)
		for _, start := range []string{"", "CONNECT ex", "\x05", "\x05\x01\x00"} {
			conn := l.dial()
			_, _ = io.WriteString(conn, start)
			_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
			if _, err := io.ReadAll(conn); err != nil && strings.Contains(err.Error(), "timeout") {
				t.Errorf("after %q it waits for ever", start)
			}
		}
	})
	t.Run("one host", func(t *testing.T) {
		l := newLab(t, Config{AllowHosts: []string{"*"}, perHost: 1}, names, echo)
		first, _, code, _ := l.connect("example.com:443")
		if code != 200 {
			t.Fatal(code)
		}
		if _, _, code, body := l.connect("EXAMPLE.com.:80"); code != 503 || !strings.Contains(body, "too many connections") {
			t.Errorf("%d %q", code, body)
		}
		if _, _, code, _ := l.connect("evil.test:80"); code != 200 {
			t.Errorf("another host: %d", code)
		}
		_ = first.Close()
		for {
			if _, _, code, _ := l.connect("example.com:443"); code == 200 {
				break
			}
		}
	})
	t.Run("connections", func(t *testing.T) {
		l := newLab(t, Config{AllowHosts: []string{"*"}, conns: 1}, names, echo)
		first, _, code, _ := l.connect("example.com:443")
		if code != 200 {
			t.Fatal(code)
		}
		codes := make(chan int, 1)
		go func() {
			_, _, code, _ := l.connect("example.com:443")
			codes <- code
		}()
		if got := l.seen(&l.dials); len(got) != 1 {
			t.Errorf("dialed %v", got)
		}
		_ = first.Close()
		if code := receive(t, codes); code != 200 {
			t.Errorf("code %d", code)
		}
	})
	t.Run("questions", func(t *testing.T) {
		j := newJudge()
		l := newLab(t, Config{Decide: j.decide}, names, echo)
		for i := range maxQuestions {
			_, _ = fmt.Fprintf(l.dial(), "CONNECT h%d.test:443 HTTP/1.1\r\n\r\n", i)
			j.next(t)
		}
		if _, _, code, body := l.connect("more.test:443"); code != 403 || !strings.Contains(body, "too many hosts") {
			t.Errorf("%d %q", code, body)
		}
	})
}

// Whatever a client sends first, nothing is reached that is not allowed.
func FuzzFirstBytes(f *testing.F) {
	for _, seed := range []string{
		"CONNECT evil.test:443 HTTP/1.1\r\n\r\n", "CONNECT allowed.test:443 HTTP/1.1\r\n\r\nrest", "GET http://evil.test/ HTTP/1.1\r\nHost: allowed.test\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\x05\x01\x00\x05\x01\x00\x03\x09evil.test\x01\xbb",
		"\x05\x01\x00\x05\x01\x00\x01\x7f\x00\x00\x01\x00\x50", "\x05\x01\x02\x01\x01a\x01b\x05", "\x04\x01\x00\x50\x7f\x00\x00\x01\x00", "\x05\xff", "",
		"POST http://allowed.test/ HTTP/1.1\r\nContent-Length: 5\r\n\r\nGET http://evil.test/ HTTP/1.1\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	l := newLab(f, Config{AllowHosts: []string{"allowed.test"}, handshake: time.Second}, map[string][]string{"allowed.test": {"93.184.216.34"}, "evil.test": {"93.184.216.35"}}, echo)
	f.Fuzz(func(t *testing.T, data []byte) {
		conn := (&lab{t: t, address: l.address}).dial()
		_, _ = conn.Write(data)
		_ = conn.CloseWrite()
		_, _ = io.Copy(io.Discard, conn) // until the proxy has ended it
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, address := range l.dials {
			if !strings.HasPrefix(address, "93.184.216.34:") {
				t.Fatalf("reached %s", address)
			}
		}
		for _, name := range l.lookups {
			if name != "allowed.test" {
				t.Fatalf("looked up %q", name)
			}
		}
		l.dials, l.lookups, l.refused = nil, nil, nil
	})
}
