package claudews

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchboard-dev/switchboard/claude"
)

// 2.1.120 sends everything again after a reconnect.
func TestReconnectWithReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{})
		c := l.cli()
		c.dial()
		p := l.accept()
		await(t, p, claude.StateConnected)
		c.send(lines("a", 1, 3)...)
		c.send(request("r1"), response("i1"))
		reads(t, p, append(lines("a", 1, 3), request("r1"), response("i1"))...)
		c.drop(p)
		c.note(lines("a", 4, 5)...) // written while it was away
		c.dial()
		c.replay()
		c.send(line("a6"))
		reads(t, p, lines("a", 4, 6)...)
		c.drop(p)
		c.dial()
		c.replay()
		// The same request is the same question; but the answer to an initialize
		// that was sent again under its old id is an answer of its own.
		c.send(request("r1"), request("r2"), response("i1"))
		c.send(line("a7"))
		reads(t, p, request("r2"), response("i1"), line("a7"))
		silent(t, p, time.Minute)
		if got, want := l.told(), "connected1 disconnected1 reconnected2 disconnected2 reconnected3"; got != want {
			t.Errorf("told %q, want %q", got, want)
		}
	})
}

// 2.1.37 loses what it writes while it is away, and says so.
func TestReconnectWithLoss(t *testing.T) {
	for _, tt := range []struct {
		name string
		play func(c *cli, p *Peer)
		want string
	}{
		{"nothing lost", func(c *cli, p *Peer) {
			c.dial()
			c.send(line("a4"))
			reads(c.lab.t, p, line("a4"))
		}, "reconnected2"},
		{"lines lost, more come", func(c *cli, p *Peer) {
			c.note(lines("a", 4, 6)...)
			c.dial()
			c.send(line("a7"))
			reads(c.lab.t, p, line("a7"))
		}, "reconnected2 gap(a3..a6)"},
		{"lines lost, a request comes first", func(c *cli, p *Peer) {
			c.note(line("a4"))
			c.dial()
			c.send(request("r1"), line("a5"))
			reads(c.lab.t, p, request("r1"), line("a5"))
		}, "reconnected2 gap(a3..a4)"},
		{"lines lost, silence", func(c *cli, p *Peer) {
			c.note(line("a4"))
			c.dial()
			silent(c.lab.t, p, time.Minute)
		}, "reconnected2 gap(a3..a4)"},
		{"the same loss is told once", func(c *cli, p *Peer) {
			c.note(line("a4"))
			c.dial()
			silent(c.lab.t, p, time.Minute)
			c.drop(p)
			c.dial()
			c.send(line("a5"))
			reads(c.lab.t, p, line("a5"))
		}, "reconnected2 gap(a3..a4) disconnected2 reconnected3"},
		{"two losses", func(c *cli, p *Peer) {
			c.note(line("a4"))
			c.dial()
			silent(c.lab.t, p, time.Minute)
			c.drop(p)
			c.note(line("a5"))
			c.dial()
			silent(c.lab.t, p, time.Minute)
		}, "reconnected2 gap(a3..a4) disconnected2 reconnected3 gap(a3..a5)"},
		{"a replay that does not reach back", func(c *cli, p *Peer) {
			c.wrote = nil
			c.note(lines("b", 1, 1000)...)
			c.dial()
			c.replay()
			reads(c.lab.t, p, lines("b", 1, 1000)...)
			silent(c.lab.t, p, time.Minute)
		}, "reconnected2 gap(a3..b1000)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t, ServerOptions{})
				c := l.cli()
				c.dial()
				p := l.accept()
				c.send(lines("a", 1, 3)...)
				reads(t, p, lines("a", 1, 3)...)
				c.drop(p)
				tt.play(c, p)
				if got, want := l.told(), "connected1 disconnected1 "+tt.want; got != want {
					t.Errorf("told %q, want %q", got, want)
				}
			})
		})
	}
}

// The connection broke before anything came: what the CLI wrote may all come
// with the replay, or be lost.
func TestReconnectBeforeTheFirstLine(t *testing.T) {
	for _, tt := range []struct {
		name   string
		replay bool
		want   string
	}{
		{"with replay", true, "connected1 disconnected1 reconnected2"},
		{"with loss", false, "connected1 disconnected1 reconnected2 gap(..a3)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t, ServerOptions{})
				c := l.cli()
				c.dial()
				p := l.accept()
				c.drop(p)
				c.note(lines("a", 1, 3)...)
				c.dial()
				if tt.replay {
					c.replay()
					reads(t, p, lines("a", 1, 3)...)
				}
				silent(t, p, time.Minute)
				if got := l.told(); got != tt.want {
					t.Errorf("told %q, want %q", got, tt.want)
				}
			})
		})
	}
}

// Equal lines are duplicates only within a replay.
func TestEqualLinesOutsideAReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{})
		c := l.cli()
		c.dial()
		p := l.accept()
		// 2.1.37 and 2.1.120 echo a prompt with a repeated uuid twice.
		c.send(line("echo"), line("echo"), request("r"), request("r"))
		reads(t, p, line("echo"), line("echo"), request("r"), request("r"))
		c.drop(p)
		c.note(line("echo")) // a third time, while away
		c.dial()
		c.replay()
		c.send(line("new"), line("echo"))
		reads(t, p, line("echo"), line("new"), line("echo"))
		c.drop(p)
		c.dial() // like 2.1.37, without a replay: the first new line ends the wait for one
		c.send(line("newer"), line("echo"), request("r"))
		reads(t, p, line("newer"), line("echo"), request("r"))
	})
}

// A CLI that was connected to a server before this one.
func TestComesFromAnotherServer(t *testing.T) {
	for _, tt := range []struct {
		name     string
		received []string
		want     string
	}{
		{"the owner knows nothing", nil, "connected1 unknown(..a3)"},
		{"the owner has an older line", []string{"a2"}, "connected1 unknown(..a3)"},
		{"the owner has the last line", []string{"a2", "a3"}, "connected1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t, ServerOptions{Authorize: func(*http.Request) (Grant, error) {
					return Grant{Key: "run", Own: true, Received: tt.received}, nil
				}})
				c := l.cli()
				c.note(lines("a", 1, 3)...)
				c.dial()
				p := l.accept()
				c.replay()
				// The line that was written last does not end what may be repeated: it
				// may be the echo of a prompt, and come a second time.
				c.send(lines("a", 4, replayLength+1)...)
				for i, want := range lines("a", 1, replayLength+1) {
					got, err := p.Receive(t.Context())
					if err != nil || string(got.Bytes) != want {
						t.Fatalf("line %d is %q, %v; want %q", i+1, got.Bytes, err, want)
					}
					if repeat := i < replayLength; got.Repeat != repeat {
						t.Errorf("line %d: Repeat is %v, want %v", i+1, got.Repeat, repeat)
					}
				}
				silent(t, p, time.Minute)
				if got := l.told(); got != tt.want {
					t.Errorf("told %q, want %q", got, tt.want)
				}
			})
		})
	}
}

// Who may take the place of a connection that is still there.
func TestTakeover(t *testing.T) {
	for _, tt := range []struct {
		name   string
		token  string
		dead   bool   // the old connection does not answer
		last   string // X-Last-Request-Id of the new one
		status int
		takes  time.Duration
	}{
		{"the run's own token", "secret", false, "", 101, 0},
		{"a line that was received", "shared", false, "a2", 101, 0},
		{"neither, and the old one lives", "shared", false, "", 403, 0},
		{"an unknown line, and the old one lives", "shared", false, "z9", 403, 0},
		{"neither, and the old one is dead", "shared", true, "", 101, probeTimeout},
		{"the run's own token, and the old one is dead", "secret", true, "", 101, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t, ServerOptions{})
				old := l.cli()
				old.token, old.mute = tt.token, tt.dead
				old.dial()
				p := l.accept()
				old.send(line("a1"), line("a2"))
				reads(t, p, line("a1"), line("a2"))
				synctest.Wait()

				start := time.Now()
				c := l.cli()
				c.token, c.last = tt.token, tt.last
				if status := c.try(); status != tt.status {
					t.Fatalf("status %d, want %d", status, tt.status)
				}
				if took := time.Since(start); took != tt.takes {
					t.Errorf("it took %v, want %v", took, tt.takes)
				}
				if tt.status != http.StatusSwitchingProtocols {
					old.send(line("a3")) // undisturbed
					reads(t, p, line("a3"))
					if p.Conn() != 1 {
						t.Errorf("connection %d, want 1", p.Conn())
					}
					return
				}
				if !old.mute {
					<-old.gone
				}
				c.send(line("b1"))
				reads(t, p, line("b1"))
				if err := p.Write(t.Context(), []byte(`{"to":"new"}`)); err != nil {
					t.Fatal(err)
				}
				c.expect(`{"to":"new"}`)
				if p.Conn() != 2 {
					t.Errorf("connection %d, want 2", p.Conn())
				}
				if got, want := l.told(), "connected1 disconnected1 reconnected2"; got != want {
					t.Errorf("told %q, want %q", got, want)
				}
				_ = old.ws.CloseNow()
			})
		})
	}
}

// Two CLIs on two paths are two peers; one comes back to its own.
func TestSeveralPeers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{})
		one, two := l.cli(), l.cli()
		one.token, one.path = "shared", "/ws/one"
		two.token, two.path = "shared", "/ws/two"
		one.dial()
		p := l.accept()
		two.dial()
		q := l.accept()
		if p == q || p.Key() != "/session/one" || q.Key() != "/session/two" {
			t.Fatalf("peers %q and %q", p.Key(), q.Key())
		}
		one.send(line("1"))
		two.send(line("2"))
		reads(t, p, line("1"))
		reads(t, q, line("2"))
		if key, ok := l.server.KeyOf("2"); !ok || key != q.Key() {
			t.Errorf("KeyOf(2) = %q, %v", key, ok)
		}
		if key, ok := l.server.KeyOf("3"); ok {
			t.Errorf("KeyOf(3) = %q", key)
		}
		one.drop(p)
		one.dial()
		one.send(line("3"))
		reads(t, p, line("3"))
	})
}

// A connection that does not answer pings is given up.
func TestHalfOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{PingInterval: 10 * time.Second, PingTimeout: 5 * time.Second})
		c := l.cli()
		c.mute = true
		c.dial()
		p := l.accept()
		start := time.Now()
		await(t, p, claude.StateReconnecting)
		if took := time.Since(start); took != 15*time.Second {
			t.Errorf("noticed after %v, want 15s", took)
		}
		_ = c.ws.CloseNow()
		c.mute = false
		c.dial()
		await(t, p, claude.StateConnected)
		silent(t, p, time.Hour) // and one that answers is not
		await(t, p, claude.StateConnected)
	})
}

// A CLI that does not come back is given up.
func TestGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{ReconnectWait: time.Minute})
		c := l.cli()
		c.dial()
		p := l.accept()
		c.send(line("a"))
		synctest.Wait()
		c.drop(p)
		start := time.Now()
		reads(t, p, line("a"))
		_, err := p.Read(context.Background())
		var gone *GoneError
		if !errors.As(err, &gone) || gone.Key != "run" || gone.Waited != time.Minute {
			t.Fatalf("Read = %v, want a GoneError", err)
		}
		var closed *CloseError
		if !errors.As(err, &closed) || closed.Code != codeAbnormal {
			t.Errorf("the cause is %v, want the broken connection", gone.Err)
		}
		if waited := time.Since(start); waited != time.Minute {
			t.Errorf("given up after %v", waited)
		}
		await(t, p, claude.StateClosed)
		// It may still come, and is a new peer then.
		c.dial()
		if q := l.accept(); q == p {
			t.Error("a peer that was given up came back to life")
		}
	})
}

// A CLI that keeps coming and going does not fill the memory of a server whose
// owner does not read.
func TestFlapping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{})
		c := l.cli()
		c.dial()
		p := l.accept()
		for range 100 {
			c.drop(p)
			c.dial()
			await(t, p, claude.StateConnected)
		}
		if n := len(p.inbox.items); n > 4 {
			t.Errorf("%d items wait to be read", n)
		}
		c.send(line("a"))
		reads(t, p, line("a"))
		if got, want := l.told(), "connected1 disconnected1 reconnected101"; got != want {
			t.Errorf("told %q, want %q", got, want)
		}
	})
}

// A reader that is behind holds the CLI up, and the connection survives that.
func TestBackpressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{MaxInbox: 500})
		c := l.cli()
		// Its pongs would lie behind its lines, where nobody reads them.
		c.opts.OnPingReceived = func(context.Context, []byte) bool { return false }
		c.dial()
		p := l.accept()
		all := lines("a", 1, 40)
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			c.send(all...)
		}()
		// As good as for ever, and many pings.
		timer := time.NewTimer(time.Hour)
		select {
		case <-timer.C:
		case <-sent:
			t.Error("the CLI was not held up")
		}
		reads(t, p, all...)
		<-sent
		if got := p.Conn(); got != 1 {
			t.Errorf("connection %d, want 1", got)
		}
	})
}

func TestReconnectOnDemand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{})
		c := l.cli()
		c.dial()
		p := l.accept()
		p.Reconnect()
		if code := c.code(); code != CodeRestart {
			t.Errorf("closed with %d, want %d", code, CodeRestart)
		}
		p.Reconnect() // there is none: nothing happens
		await(t, p, claude.StateReconnecting)
		c.dial()
		await(t, p, claude.StateConnected)
	})
}

// A peer goes through the states of a transport, and whoever waits is told.
func TestStates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{})
		c := l.cli()
		c.dial()
		p := l.accept()
		// next waits for a change and checks what it was.
		state, changed := p.State()
		next := func(want string) {
			t.Helper()
			<-changed
			if state, changed = p.State(); state != want {
				t.Fatalf("the state is %s, want %s", state, want)
			}
		}
		if state != claude.StateConnected {
			t.Fatalf("the state is %s, want connected", state)
		}
		c.drop(p)
		next(claude.StateReconnecting)
		c.mute = true // it will not take part in the end, so that this takes a while
		c.dial()
		next(claude.StateConnected)
		closed := make(chan error, 1)
		go func() { closed <- p.Close() }()
		next(claude.StateClosing)
		next(claude.StateClosed)
		if err := <-closed; err != nil {
			t.Error(err)
		}
		_ = c.ws.CloseNow()
	})
}

func TestServerClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{})
		c := l.cli()
		c.dial()
		p := l.accept()
		hybrid := l.cli()
		hybrid.path, hybrid.token = "/ws/hybrid", "shared"
		posted := hybrid.posting(t.Context(), line("h1"))
		q := l.accept()
		accepting := make(chan error, 1)
		go func() {
			_, err := l.server.Accept(context.Background())
			accepting <- err
		}()
		synctest.Wait()
		if err := l.server.Close(); err != nil {
			t.Fatal(err)
		}
		if code := c.code(); code != CodeRestart {
			t.Errorf("the CLI was closed with %d, want %d", code, CodeRestart)
		}
		if a := <-posted; a.err != nil || a.status != http.StatusServiceUnavailable {
			t.Errorf("the POST got %d, %v; want 503", a.status, a.err)
		}
		if err := <-accepting; !errors.Is(err, ErrServerClosed) {
			t.Errorf("Accept = %v, want ErrServerClosed", err)
		}
		if _, err := p.Read(t.Context()); !errors.Is(err, ErrServerClosed) {
			t.Errorf("Read = %v, want ErrServerClosed", err)
		}
		reads(t, q, line("h1")) // unanswered, so it comes again elsewhere
		// Who comes while the program goes down is not sent away for good.
		c.dial()
		if code := c.code(); code != CodeRestart {
			t.Errorf("a late CLI was closed with %d, want %d", code, CodeRestart)
		}
		if status, err := hybrid.post(t.Context(), line("h1")); err != nil || status != http.StatusServiceUnavailable {
			t.Errorf("a late POST got %d, %v; want 503", status, err)
		}
		if err := l.server.Close(); err != nil {
			t.Errorf("the second Close: %v", err)
		}
	})
}

func TestMaxPeers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{MaxPeers: 1})
		first := l.cli()
		first.dial()
		p := l.accept()
		second := l.cli()
		second.token, second.path = "shared", "/ws/second"
		second.dial() // no HTTP error: it would end the CLI
		if code := second.code(); code != CodeBusy {
			t.Errorf("closed with %d, want %d", code, CodeBusy)
		}
		if status, err := second.post(t.Context(), line("a")); err != nil || status != http.StatusServiceUnavailable {
			t.Errorf("a POST got %d, %v; want 503", status, err)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		second.dial()
		l.accept()
	})
}
