package claudews

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// TestQuick checks that a connection is read as net reads it.
func TestQuick(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	pair := func() (client, server net.Conn) {
		t.Helper()
		client, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		server, err = listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = client.Close(), server.Close() })
		return client, server
	}
	client, server := pair()
	r := quick(server)
	b := make([]byte, 4)
	if n, err := r.Read(nil); n != 0 || err != nil {
		t.Errorf("reading nothing: %d, %v", n, err)
	}
	// It waits.
	got := make(chan string)
	go func() {
		n, err := r.Read(b)
		if err != nil {
			t.Error(err)
		}
		got <- string(b[:n])
	}()
	if _, err := io.WriteString(client, "one"); err != nil {
		t.Fatal(err)
	}
	if text := <-got; text != "one" {
		t.Errorf("read %q", text)
	}
	if err := server.SetReadDeadline(time.Now()); err != nil {
		t.Fatal(err)
	}
	if n, err := r.Read(b); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("behind the deadline: %d, %v", n, err)
	}
	if err := server.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(client, "more"); err != nil {
		t.Fatal(err)
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(r); string(text) != "more" || err != nil {
		t.Errorf("the rest: %q, %v", text, err)
	}

	// Close ends a read that waits.
	_, server = pair()
	r = quick(server)
	ended := make(chan error)
	go func() {
		_, err := r.Read(b)
		ended <- err
	}()
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("a closed connection gives %v", err)
	}

	// What a peer breaks off is told.
	client, server = pair()
	tcp, ok := client.(*net.TCPConn)
	if !ok {
		t.Fatalf("a %T", client)
	}
	if err := tcp.SetLinger(0); err != nil {
		t.Fatal(err)
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := quick(server).Read(b); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("a connection that was broken off gives %v", err)
	}
	// A connection of another kind is read as it is, and so is one that may do
	// something of its own.
	one, _ := net.Pipe()
	tcp, _ = server.(*net.TCPConn)
	for _, conn := range []net.Conn{one, busyConn{tcp}} {
		if quick(conn) != io.Reader(conn) {
			t.Errorf("a %T is read in another way", conn)
		}
	}
}

// A busyConn has all methods of a connection of the system's.
type busyConn struct{ *net.TCPConn }
