package shim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/internal/link"
)

func fakeSpec(t *testing.T) *Spec {
	t.Helper()
	spec := newSpec(t, "/nowhere", "", "")
	return spec
}

// readSpool returns the lines that a shim has saved.
func readSpool(t *testing.T, spec *Spec) (*link.SpoolHeader, []link.Record) {
	t.Helper()
	path := filepath.Join(spec.SpoolDir, link.SpoolName(spec.Session, spec.Run))
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the spool file has mode %v, %v", info.Mode(), err)
	}
	header, seq, err := link.ReadSpool(file)
	if err != nil {
		t.Fatal(err)
	}
	var records []link.Record
	for r, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	if entries, err := os.ReadDir(spec.SpoolDir); err != nil || len(entries) != 1 {
		t.Errorf("the spool folder has %v, %v", entries, err)
	}
	return header, records
}

func TestOrphan(t *testing.T) {
	const request = `{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool"}}`
	const result = `{"type":"result"}`
	const state = `{"type":"system","subtype":"session_state_changed","state":`
	tests := []struct {
		name  string
		lines map[time.Duration]string
		want  time.Duration
	}{
		{"idle", map[time.Duration]string{0: `{"type":"user"}`, 1: result}, time.Hour},
		{"never asked for anything", map[time.Duration]string{0: `{"type":"system","subtype":"status"}`}, time.Hour},
		{"idle for a while", map[time.Duration]string{30 * time.Minute: result}, 90 * time.Minute},
		{"works without a word", map[time.Duration]string{0: `{"type":"assistant"}`}, 24 * time.Hour},
		{"has come to an end after long", map[time.Duration]string{0: `{"type":"assistant"}`, 5 * time.Hour: result}, 6 * time.Hour},
		{"last words of a sub-agent", map[time.Duration]string{0: result, 1: `{"type":"user","parent_tool_use_id":"toolu_1"}`}, time.Hour},
		{"says that it works", map[time.Duration]string{0: result, 1: state + `"running"}`}, 24 * time.Hour},
		{"says that it does not", map[time.Duration]string{0: `{"type":"user"}`, 1: state + `"idle"}`}, time.Hour},
		{"a sign of life is none", map[time.Duration]string{30 * time.Minute: `{"type":"keep_alive"}`}, time.Hour},
		{"waits for an answer", map[time.Duration]string{time.Minute: request}, 24 * time.Hour},
		{"has withdrawn its question", map[time.Duration]string{
			time.Minute: request, 2 * time.Hour: `{"type":"control_cancel_request","request_id":"r1"}`,
		}, 3 * time.Hour},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			spec := fakeSpec(t)
			synctest.Test(t, func(t *testing.T) {
				a := newFakeAgent()
				began := time.Now()
				done := make(chan int, 1)
				go func() { done <- Run(t.Context(), spec, fakeEnv(a, noHub)) }()
				var times []time.Duration
				for at := range tt.lines {
					times = append(times, at)
				}
				slices.Sort(times)
				for _, at := range times {
					time.Sleep(at - time.Since(began))
					a.lines <- tt.lines[at]
				}
				if code := <-done; code != exitDone {
					t.Errorf("the shim ended with %d", code)
				}
				if took := time.Since(began); took < tt.want || took > tt.want+2*orphanCheck {
					t.Errorf("it took %s, expected %s", took, tt.want)
				}
			})
			header, records := readSpool(t, spec)
			if header.Session != spec.Session || header.Run != 1 || header.Oldest != 1 || header.Next != int64(len(records))+1 {
				t.Errorf("header %+v, %d records", header, len(records))
			}
			last, err := link.ParseEvent(records[len(records)-1].Bytes)
			if err != nil || last.Event != link.EventExited || !last.Requested || !strings.Contains(last.Reason, "no hub") {
				t.Errorf("the last record is %+v, %v", last, err)
			}
		})
	}
}

// TestHubComesBackToAnOrphan has a hub come back while the CLI is being ended
// because there was none: it gets the lines, and there is nothing to spool.
func TestHubComesBackToAnOrphan(t *testing.T) {
	spec := fakeSpec(t)
	synctest.Test(t, func(t *testing.T) {
		a := &slowAgent{newFakeAgent()}
		began := time.Now()
		c := newFakeConn()
		c.say(&link.Welcome{Version: link.Version, Next: 1})
		env := fakeEnv(a.fakeAgent, func(context.Context) (conn, error) {
			if time.Since(began) < time.Hour {
				return nil, errNoHub
			}
			return c, nil
		})
		env.start = func(context.Context, *claude.Command) (agent, error) { return a, nil }
		done := make(chan int, 1)
		go func() { done <- Run(t.Context(), spec, env) }()
		for f := range c.toHub {
			if !f.text && strings.Contains(string(f.data), `"exited"`) {
				break
			}
		}
		time.Sleep(7 * time.Second) // it takes its time to journal that
		c.say(&link.Ack{Have: 3})
		if code := <-done; code != exitDone {
			t.Errorf("the shim ended with %d", code)
		}
	})
	if entries, err := os.ReadDir(spec.SpoolDir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a spool: %v %v", entries, err)
	}
}

// A slowAgent takes some seconds to end.
type slowAgent struct{ *fakeAgent }

func (a *slowAgent) Close() error {
	select {
	case <-a.done:
	case <-time.After(7 * time.Second):
	}
	return a.fakeAgent.Close()
}

// TestEndedWithoutHub has a CLI that ends while there is no hub: somebody may
// still come for its lines.
func TestEndedWithoutHub(t *testing.T) {
	spec := fakeSpec(t)
	synctest.Test(t, func(t *testing.T) {
		a := newFakeAgent()
		began := time.Now()
		done := make(chan int, 1)
		go func() { done <- Run(t.Context(), spec, fakeEnv(a, noHub)) }()
		a.lines <- `{"type":"user"}`
		_ = a.Close()
		if code, took := <-done, time.Since(began); code != exitDone || took < time.Hour || took > time.Hour+2*orphanCheck {
			t.Errorf("it ended with %d after %s", code, took)
		}
	})
	if _, records := readSpool(t, spec); len(records) != 3 {
		t.Errorf("%d records are saved", len(records))
	}
}

// TestToldToEndWithoutHub has a shim that gets a signal: nobody waits for it.
func TestToldToEndWithoutHub(t *testing.T) {
	spec := fakeSpec(t)
	synctest.Test(t, func(t *testing.T) {
		a := newFakeAgent()
		began := time.Now()
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan int, 1)
		go func() { done <- Run(ctx, spec, fakeEnv(a, noHub)) }()
		a.lines <- `{"type":"user"}`
		cancel(errors.New("the machine goes down"))
		if code, took := <-done, time.Since(began); code != exitDone || took > farewell+time.Second {
			t.Errorf("it ended with %d after %s", code, took)
		}
	})
	_, records := readSpool(t, spec)
	if last, err := link.ParseEvent(records[len(records)-1].Bytes); err != nil || !strings.Contains(last.Reason, "the machine goes down") {
		t.Errorf("the last record is %+v, %v", last, err)
	}
}

// TestSpoolFails has a shim that can save nothing when it is to end. It tries again
// until it can; only after long are its lines lost.
func TestSpoolFails(t *testing.T) {
	for name, signalled := range map[string]bool{"an orphan": false, "one that got a signal": true} {
		for _, mended := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, mended %t", name, mended), func(t *testing.T) {
				spec := fakeSpec(t)
				blocked := filepath.Dir(spec.SpoolDir)
				if err := errors.Join(os.RemoveAll(blocked), os.WriteFile(blocked, nil, 0o600)); err != nil {
					t.Fatal(err)
				}
				synctest.Test(t, func(t *testing.T) {
					a := newFakeAgent()
					began := time.Now()
					ctx, cancel := context.WithCancelCause(t.Context())
					defer cancel(nil)
					done := make(chan int, 1)
					go func() { done <- Run(ctx, spec, fakeEnv(a, noHub)) }()
					a.lines <- `{"type":"system"}`
					if signalled {
						cancel(errors.New("the machine goes down"))
					}
					time.Sleep(2 * time.Hour)
					synctest.Wait()
					select {
					case code := <-done:
						t.Fatalf("it ended with %d and nothing saved", code)
					default:
					}
					if mended {
						if err := os.Remove(blocked); err != nil {
							t.Fatal(err)
						}
					}
					code, took := <-done, time.Since(began)
					if mended && (code != exitDone || took > 2*time.Hour+time.Minute) || !mended && (code != exitLost || took < 24*time.Hour || took > 26*time.Hour) {
						t.Errorf("it ended with %d after %s", code, took)
					}
				})
				if mended {
					if _, records := readSpool(t, spec); len(records) < 3 {
						t.Errorf("%d records are saved", len(records))
					}
				}
			})
		}
	}
}

// TestHalfOpen has hubs that fall silent: one is asked and given up.
func TestHalfOpen(t *testing.T) {
	spec := fakeSpec(t)
	synctest.Test(t, func(t *testing.T) {
		a := newFakeAgent()
		conns := make(chan *fakeConn, 10)
		env := fakeEnv(a, func(context.Context) (conn, error) {
			c := newFakeConn()
			c.say(&link.Welcome{Version: link.Version, Next: 1})
			conns <- c
			return c, nil
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan int, 1)
		go func() { done <- Run(ctx, spec, env) }()
		first := <-conns
		began := time.Now()
		select {
		case <-first.closed:
		case <-time.After(time.Hour):
			t.Fatal("a silent hub is not given up")
		}
		if took := time.Since(began); took < link.DeadAfter || took > link.DeadAfter+2*watchEvery {
			t.Errorf("it took %s to give a silent hub up", took)
		}
		pings := 0
		for len(first.toHub) > 0 {
			if f := <-first.toHub; f.text && strings.Contains(string(f.data), `"ping"`) {
				pings++
			}
		}
		if pings != 1 {
			t.Errorf("it was asked %d times", pings)
		}
		// One that answers stays, for as long as it likes.
		second := <-conns
		for range 100 {
			time.Sleep(link.PingAfter + watchEvery)
			second.say(&link.Pong{})
		}
		select {
		case <-second.closed:
			t.Error("a hub that answers was given up")
		default:
		}
		// A ping of the hub's is answered.
		for len(second.toHub) > 0 {
			<-second.toHub
		}
		second.say(&link.Ping{})
		if f := <-second.toHub; string(f.data) != `{"t":"pong"}` {
			t.Errorf("a ping is answered with %s", f.data)
		}
		cancel()
		<-done
	})
}

// TestBackoff looks at how often a hub is looked for.
func TestBackoff(t *testing.T) {
	spec := fakeSpec(t)
	synctest.Test(t, func(t *testing.T) {
		a := newFakeAgent()
		var attempts []time.Duration
		began := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		env := fakeEnv(a, func(context.Context) (conn, error) {
			attempts = append(attempts, time.Since(began))
			return nil, errNoHub
		})
		done := make(chan int, 1)
		go func() { done <- Run(ctx, spec, env) }()
		time.Sleep(10 * time.Minute)
		cancel()
		<-done
		if n := len(attempts); n < 120 || n > 250 {
			t.Errorf("%d attempts in 10 minutes", n)
		}
		if attempts[0] != 0 || attempts[3] > 400*time.Millisecond {
			t.Errorf("the first attempts came after %v", attempts[:4])
		}
	})
}

// TestLinksThatEndAtOnce has a hub that welcomes the shim and then cuts the
// link, again and again: it is not hammered.
func TestLinksThatEndAtOnce(t *testing.T) {
	spec := fakeSpec(t)
	synctest.Test(t, func(t *testing.T) {
		var attempts []time.Duration
		began := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		env := fakeEnv(newFakeAgent(), func(context.Context) (conn, error) {
			attempts = append(attempts, time.Since(began))
			c := newFakeConn()
			c.say(&link.Welcome{Version: link.Version, Next: 1})
			c.say(&link.Ack{Have: 1000}) // which never were
			return c, nil
		})
		done := make(chan int, 1)
		go func() { done <- Run(ctx, spec, env) }()
		time.Sleep(10 * time.Minute)
		cancel()
		<-done
		if n := len(attempts); n < 120 || n > 250 {
			t.Errorf("%d attempts in 10 minutes", n)
		}
	})
}

// TestCutWhileWriting cuts the link while the CLI is slow to read a command.
func TestCutWhileWriting(t *testing.T) {
	spec := fakeSpec(t)
	synctest.Test(t, func(t *testing.T) {
		a := newFakeAgent()
		a.block = make(chan struct{})
		conns := make(chan *fakeConn, 10)
		env := fakeEnv(a, func(context.Context) (conn, error) {
			c := newFakeConn()
			conns <- c
			return c, nil
		})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan int, 1)
		go func() { done <- Run(ctx, spec, env) }()
		hello := func(c *fakeConn) *link.Hello {
			m, err := link.ParseMessage((<-c.toHub).data)
			if err != nil {
				t.Fatal(err)
			}
			return m.(*link.Hello)
		}
		command := func(c *fakeConn, n int64) {
			for data := range link.Frames(slices.Values([]link.Record{{Kind: link.Outbox, Number: n, Bytes: []byte{'0' + byte(n)}}})) {
				c.toShim <- frame{false, slices.Clone(data)}
			}
		}
		first := <-conns
		if h := hello(first); h.Writing != 0 || h.Written != 0 || h.Oldest != 1 {
			t.Errorf("hello %+v", h)
		}
		first.say(&link.Welcome{Version: link.Version, Next: 1})
		command(first, 1)
		command(first, 2)
		synctest.Wait()
		first.Close(nil)
		second := <-conns
		if h := hello(second); h.Written != 0 || h.Writing != 1 {
			t.Errorf("hello %+v", h)
		}
		// It is finished before the hub has answered the hello.
		a.block <- struct{}{}
		synctest.Wait()
		second.say(&link.Welcome{Version: link.Version, Next: 3})
		if f := <-second.toHub; string(f.data) != `{"t":"written","up_to":1}` {
			t.Errorf("the shim says %s", f.data)
		}
		// 2 was forgotten; the hub has something else in mind.
		command(second, 3)
		a.block <- struct{}{}
		synctest.Wait()
		if want := []string{"1", "3"}; !slices.Equal(a.written, want) {
			t.Errorf("the CLI got %q, expected %q", a.written, want)
		}
		cancel()
		<-done
	})
}

// TestFateComesBeforeTheEnd has a CLI end while commands wait for it: the hub
// learns what became of them before it learns of the end.
func TestFateComesBeforeTheEnd(t *testing.T) {
	spec := fakeSpec(t)
	synctest.Test(t, func(t *testing.T) {
		a := newFakeAgent()
		a.block = make(chan struct{})
		c := newFakeConn()
		c.say(&link.Welcome{Version: link.Version, Next: 1})
		for n := range int64(3) {
			for data := range link.Frames(slices.Values([]link.Record{{Kind: link.Outbox, Number: n + 1, Bytes: []byte("x")}})) {
				c.toShim <- frame{false, slices.Clone(data)}
			}
		}
		done := make(chan int, 1)
		go func() {
			done <- Run(t.Context(), spec, fakeEnv(a, func(context.Context) (conn, error) { return c, nil }))
		}()
		synctest.Wait()
		_ = a.Close()
		var said []string
		for len(said) < 4 {
			f := <-c.toHub
			switch {
			case f.text && strings.Contains(string(f.data), `"failed"`):
				said = append(said, "failed")
			case !f.text && strings.Contains(string(f.data), `"exited"`):
				said = append(said, "exited")
				c.say(&link.Ack{Have: 2})
			}
		}
		if want := []string{"failed", "failed", "failed", "exited"}; !slices.Equal(said, want) {
			t.Errorf("the shim says %v, expected %v", said, want)
		}
		if code := <-done; code != exitDone {
			t.Errorf("the shim ended with %d", code)
		}
	})
}
