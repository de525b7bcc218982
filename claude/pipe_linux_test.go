package claude

import (
	"errors"
	"io"
	"os"
	"syscall"
	"testing"
	"time"
)

// A pipe holds what it says without anybody reading it, unless the system does not let
// an ordinary user have that much.
func TestPipeSize(t *testing.T) {
	w, p, err := newOutPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	defer w.Close()
	size := func() uintptr {
		const getPipeSize = 1032 // F_GETPIPE_SZ
		n, _, errno := syscall.Syscall(syscall.SYS_FCNTL, w.Fd(), getPipeSize, 0)
		if errno != 0 {
			t.Fatal(errno)
		}
		return n
	}
	before := size()
	p.setSize(pipeBytes)
	after := size()
	_, _, refused := syscall.Syscall(syscall.SYS_FCNTL, w.Fd(), 1031, pipeBytes)
	if refused != 0 && after == before {
		t.Logf("the system refuses: %v", refused)
		return
	}
	if after < pipeBytes {
		t.Errorf("the pipe holds %d bytes, want %d; before it were %d", after, pipeBytes, before)
	}
}

// TestOutPipe checks what a reader of a pipe relies on: it waits and looks, for a
// while or until it is told that there is no more.
func TestOutPipe(t *testing.T) {
	w, p, err := newOutPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	defer w.Close()
	b := make([]byte, 10)
	want := func(what, text string, n int, err, wantErr error) {
		t.Helper()
		if string(b[:n]) != text || !errors.Is(err, wantErr) || (err == nil) != (wantErr == nil) {
			t.Fatalf("%s: %q, %v; want %q, %v", what, b[:n], err, text, wantErr)
		}
	}
	say := func(text string) {
		t.Helper()
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	n, err := p.look(b)
	want("an empty pipe", "", n, err, os.ErrDeadlineExceeded)
	say("one")
	n, err = p.look(b)
	want("something there", "one", n, err, nil)

	// Several times, since who has waited once must be told of the next one too.
	for range 3 {
		read := make(chan struct{})
		go func() {
			defer close(read)
			n, err = p.Read(b)
		}()
		say("two")
		<-read
		want("waiting", "two", n, err, nil)
	}
	say("many more than ten")
	n, err = p.Read(b)
	want("a part", "many more ", n, err, nil)
	n, err = p.Read(b)
	want("the rest", "than ten", n, err, nil)

	if err := p.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	n, err = p.Read(b)
	want("a deadline", "", n, err, os.ErrDeadlineExceeded)
	say("late")
	n, err = p.Read(b)
	want("something there behind a deadline", "late", n, err, nil)
	if err := p.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	say("last")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	n, err = p.Read(b)
	want("what was written last", "last", n, err, nil)
	n, err = p.Read(b)
	want("the end", "", n, err, io.EOF)
	n, err = p.look(b)
	want("the end again", "", n, err, io.EOF)
}

// TestOutPipeClose checks that Close ends a Read that waits.
func TestOutPipeClose(t *testing.T) {
	for range 20 {
		w, p, err := newOutPipe()
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		go func() {
			_, err := p.Read(make([]byte, 10))
			ended <- err
		}()
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; !errors.Is(err, os.ErrClosed) {
			t.Errorf("got %v, want that it is closed", err)
		}
		if _, err := p.look(nil); !errors.Is(err, os.ErrClosed) {
			t.Errorf("looking then gives %v", err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
