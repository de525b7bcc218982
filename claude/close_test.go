package claude

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"time"
)

func TestCloseLadder(t *testing.T) {
	const grace = 300 * time.Millisecond
	// What is to end by itself has all the time that a busy machine may need for it.
	tests := []struct {
		fake                  string
		inputGrace, termGrace time.Duration
		min                   time.Duration
		signal                string
	}{
		{"echo", time.Minute, time.Minute, 0, ""},
		{"stubborn", grace, time.Minute, grace, "terminated"},
		{"immortal", grace, grace, 2 * grace, "killed"},
	}
	for _, test := range tests {
		t.Run(test.fake, func(t *testing.T) {
			p := startFake(t, test.fake, "", &Options{InputGrace: test.inputGrace, TermGrace: test.termGrace})
			if test.fake != "echo" {
				readLine(t, p)
			}
			// Only what is too early is certain to be wrong: a busy machine is
			// late.
			begin := time.Now()
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begin); took < test.min {
				t.Errorf("Close took %s, expected at least %s", took, test.min)
			}
			<-p.Done()
			if err := p.Wait(soon(t)); err != nil {
				t.Errorf("Wait after Close = %v", err)
			}
			code, signal := exitStatus(p.exitState)
			if signal != test.signal || test.signal == "" && code != 0 {
				t.Errorf("it ended with code %d, signal %q", code, signal)
			}
		})
	}
}

func TestCloseStates(t *testing.T) {
	p := startFake(t, "stubborn", "", &Options{InputGrace: time.Hour, TermGrace: time.Hour})
	readLine(t, p)
	_, changed := p.State()
	done := make(chan error, 1)
	go func() { done <- p.Close() }()
	<-changed
	if state, _ := p.State(); state != StateClosing {
		t.Errorf("the state during Close is %q", state)
	}
	if err := p.process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if state, _ := p.State(); state != StateClosed {
		t.Errorf("the state after Close is %q", state)
	}
}

func TestCloseIsIdempotentAndConcurrent(t *testing.T) {
	p := startFake(t, "echo", "", nil)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			if _, err := p.Read(context.Background()); err != nil {
				if !errors.Is(err, io.EOF) {
					t.Errorf("Read during Close = %v", err)
				}
				return
			}
		}
	})
	for range 5 {
		wg.Go(func() {
			for p.Write(context.Background(), []byte(`{"type":"keep_alive"}`)) == nil {
			}
		})
		wg.Go(func() {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

func TestCloseHandsOverLastLines(t *testing.T) {
	p := startFake(t, "polite", "", nil)
	line := make(chan string, 1)
	go func() {
		got, err := p.Read(context.Background())
		if err != nil {
			t.Errorf("Read = %v", err)
		}
		line <- string(got)
	}()
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if got := <-line; got != `{"type":"goodbye"}` {
		t.Errorf("received %q", got)
	}
}

func TestCloseDoesNotWaitForASlowReader(t *testing.T) {
	p := startFake(t, "burst", "", nil)
	eventually(t, "all lines are in the pipe", func() bool { return p.Stderr() == "written" })
	done := make(chan error)
	go func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			if _, err := p.Read(context.Background()); err != nil {
				done <- err
				return
			}
			<-tick.C
		}
	}()
	// At 20 ms each it would take more than a minute.
	begin := time.Now()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("Close took %s", took)
	}
	if err := <-done; !errors.Is(err, ErrClosed) {
		t.Errorf("the reader that missed lines was told %v", err)
	}
}

func TestCloseDrainsWhenNobodyReads(t *testing.T) {
	p := startFake(t, "flood", "", &Options{InputGrace: time.Minute})
	eventually(t, "the CLI writes", func() bool { return lineWaits(p) })
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if code, signal := exitStatus(p.exitState); code != 0 {
		t.Errorf("the CLI could not finish: code %d %s", code, signal)
	}
	if _, err := p.Read(soon(t)); !errors.Is(err, ErrClosed) {
		t.Errorf("Read after lines were dropped = %v", err)
	}
}

// A connection always comes back for more, however long it is at work on what it
// has: nothing of what comes during Close is lost to it.
func TestCloseWaitsForAConnection(t *testing.T) {
	p := startFake(t, "burst", "", nil)
	eventually(t, "all lines are in the pipe", func() bool { return p.Stderr() == "written" })
	n := 0
	c := newConn(p, &ConnOptions{observer: &observer{
		lines: func(lines []Line) {
			if n == 0 {
				<-p.closing
				<-time.After(3 * handoverGrace) // much work
			}
			n += len(lines)
		},
		sending: func([]byte) func() { return func() {} },
		ended:   func(error) {},
	}})
	c.start()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if n != 40_000 {
		t.Errorf("%d lines came", n)
	}
}
