package claudews

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

func TestFraming(t *testing.T) {
	text, binary := websocket.MessageText, websocket.MessageBinary
	type frame struct {
		kind websocket.MessageType
		data string
	}
	for _, tt := range []struct {
		name   string
		frames []frame
		want   []string
	}{
		{"one line a frame", []frame{{text, "{\"a\":1}\n"}, {text, "{\"b\":2}\n"}}, []string{`{"a":1}`, `{"b":2}`}},
		{"several lines in a frame", []frame{{text, "{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n"}}, []string{`{"a":1}`, `{"b":2}`, `{"c":3}`}},
		{"a line over frames", []frame{{text, `{"a"`}, {text, ":"}, {text, "1}\n{\"b\""}, {text, ":2}\n"}}, []string{`{"a":1}`, `{"b":2}`}},
		{"a frame without line end is held back", []frame{{text, `{"a":1}`}, {text, "\n"}}, []string{`{"a":1}`}},
		{"binary frames", []frame{{binary, "{\"a\":1}\n"}, {text, `{"b"`}, {binary, ":2}\n"}}, []string{`{"a":1}`, `{"b":2}`}},
		{"CRLF and blank lines", []frame{{text, "\n \r\n{\"a\":1}\r\n\n"}, {text, ""}}, []string{`{"a":1}`}},
		{"line separators of Unicode", []frame{{text, "{\"a\":\"\u2028\u2029\"}\n"}}, []string{"{\"a\":\"\u2028\u2029\"}"}},
		{"not JSON", []frame{{text, "hello\n"}}, []string{"hello"}},
		{"not UTF-8", []frame{{binary, "{\"a\":\"\xff\"}\n"}}, []string{"{\"a\":\"\xff\"}"}},
		{"a large line", []frame{{text, `"` + strings.Repeat("x", 5<<20) + "\"\n"}}, []string{`"` + strings.Repeat("x", 5<<20) + `"`}},
	} {
		for _, compress := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, compressed %v", tt.name, compress), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l := newLab(t, ServerOptions{Compression: compress})
					c := l.cli()
					c.opts.CompressionMode = websocket.CompressionContextTakeover // as every CLI offers
					c.dial()
					p := l.accept()
					go func() {
						for _, f := range tt.frames {
							c.frame(f.kind, f.data)
						}
					}()
					reads(t, p, tt.want...)
					silent(t, p, time.Second)
				})
			})
		}
	}
}

// A line over several fragments of one message is no different.
func TestFragments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{})
		c := l.cli()
		c.dial()
		p := l.accept()
		go func() {
			w, err := c.ws.Writer(t.Context(), websocket.MessageText)
			if err != nil {
				t.Error(err)
				return
			}
			for _, part := range []string{`{"a"`, ":1}\n", `{"b":2}`, "\n"} {
				if _, err := w.Write([]byte(part)); err != nil {
					t.Error(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		}()
		reads(t, p, `{"a":1}`, `{"b":2}`)
	})
}

// A line that is too long must not end the connection: the CLI would come back
// and send it again, for ever.
func TestLineTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{MaxLine: 100})
		c := l.cli()
		c.dial()
		p := l.accept()
		long := line(strings.Repeat("y", 200000))
		c.send(line("a"), long, line("b"))
		reads(t, p, line("a"))
		_, err := p.Read(t.Context())
		var tooLong *wire.LineTooLongError
		if !errors.As(err, &tooLong) || tooLong.Length != int64(len(long)) {
			t.Fatalf("got %v, want the long line's error", err)
		}
		reads(t, p, line("b"))
		if p.Conn() != 1 {
			t.Errorf("the connection is number %d, want still 1", p.Conn())
		}
		c.drop(p)
		c.dial()
		c.replay()
		c.send(line("c"))
		reads(t, p, line("c")) // the long one is known again
	})
}

func TestWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{})
		c := l.cli()
		c.dial()
		p := l.accept()
		for _, bad := range []string{"", " \t", "\n", "{}\n", "{}\n{}", "\r"} {
			if err := p.Write(t.Context(), []byte(bad)); !errors.Is(err, claude.ErrBadLine) {
				t.Errorf("Write(%q) = %v, want ErrBadLine", bad, err)
			}
		}
		buf := []byte(`{"a":1}`)
		if err := p.Write(t.Context(), buf); err != nil {
			t.Fatal(err)
		}
		copy(buf, "XXXXXXX") // the buffer is the caller's again
		c.expect(`{"a":1}`)
		if err := p.Write(t.Context(), []byte("{\"b\":\"\xff\"}")); err != nil {
			t.Fatal(err)
		}
		c.expect("binary:{\"b\":\"\xff\"}") // in a text frame it would end the connection
		var writers sync.WaitGroup
		want := make([]string, 50)
		for i := range want {
			want[i] = line(strings.Repeat(fmt.Sprint(i%10), 1000)) + "\n"
			writers.Go(func() {
				if err := p.Write(t.Context(), []byte(want[i][:len(want[i])-1])); err != nil {
					t.Error(err)
				}
			})
		}
		writers.Wait()
		got := make([]string, len(want))
		for i := range got {
			got[i] = <-c.in
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Error("lines of several writers were mixed or lost")
		}
	})
}

func TestReadContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{})
		c := l.cli()
		c.dial()
		p := l.accept()
		silent(t, p, time.Second)
		c.send(line("a"))
		reads(t, p, line("a"))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := p.Read(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("Read with an ended context: %v", err)
		}
	})
}

func TestCloseInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{})
		c := l.cli()
		c.dial()
		if err := l.accept().CloseInput(); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("CloseInput: %v, want ErrUnsupported", err)
		}
	})
}

// Write waits for a CLI that is away, and a line that was not sent is known as
// such.
func TestWriteWhileAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{})
		c := l.cli()
		c.dial()
		p := l.accept()
		c.drop(p)

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := p.Write(ctx, []byte(`{"late":1}`)); err != context.DeadlineExceeded { //nolint:errorlint // exactly this, and nothing around it
			t.Fatalf("Write = %v, want the context's error alone", err)
		}
		if err := p.WriteOn(t.Context(), 1, []byte(`{"interrupt":1}`)); !errors.Is(err, ErrReconnected) {
			t.Fatalf("WriteOn(1) while away = %v, want ErrReconnected", err)
		}
		done := make(chan error, 1)
		go func() { done <- p.Write(t.Context(), []byte(`{"prompt":1}`)) }()
		synctest.Wait()
		select {
		case err := <-done:
			t.Fatalf("Write did not wait: %v", err)
		default:
		}
		c.dial()
		c.expect(`{"prompt":1}`)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if err := p.WriteOn(t.Context(), 1, []byte(`{"interrupt":2}`)); !errors.Is(err, ErrReconnected) {
			t.Fatalf("WriteOn(1) on connection 2 = %v, want ErrReconnected", err)
		}
		if err := p.WriteOn(t.Context(), 0, []byte(`{"interrupt":3}`)); !errors.Is(err, ErrReconnected) {
			t.Fatalf("WriteOn(0) = %v, want ErrReconnected", err)
		}
		if err := p.WriteOn(t.Context(), p.Conn(), []byte(`{"interrupt":4}`)); err != nil {
			t.Fatal(err)
		}
		c.expect(`{"interrupt":4}`)
	})
}

// The end of a context ends the wait and not the connection; and what was on its
// way when the connection broke has an uncertain fate.
func TestWriteToOneThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{PingInterval: time.Hour})
		c := l.cli()
		c.mute = true
		c.dial()
		p := l.accept()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := p.Write(ctx, []byte(`{"a":1}`))
		if !errors.Is(err, claude.ErrUnfinished) || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("Write = %v, want ErrUnfinished and DeadlineExceeded", err)
		}
		second := make(chan error, 1)
		go func() { second <- p.Write(t.Context(), []byte(`{"b":2}`)) }()
		synctest.Wait()
		if _, frame, err := c.ws.Read(t.Context()); err != nil || string(frame) != "{\"a\":1}\n" {
			t.Fatalf("the CLI read %q, %v; the unfinished line must come first", frame, err)
		}
		synctest.Wait()
		_ = c.ws.CloseNow()
		if err := <-second; !errors.Is(err, ErrLost) {
			t.Fatalf("Write on a breaking connection = %v, want ErrLost", err)
		}
	})
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{})
		c := l.cli()
		c.dial()
		p := l.accept()
		c.send(line("a"), line("b"))
		reads(t, p, line("a"))
		synctest.Wait()
		blocked := make(chan error, 1)
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		if code := c.code(); code != CodeEnd {
			t.Errorf("the CLI was closed with %d, want %d", code, CodeEnd)
		}
		await(t, p, claude.StateClosed)
		reads(t, p, line("b")) // it came before
		go func() {
			_, err := p.Read(t.Context())
			blocked <- err
		}()
		if err := <-blocked; !errors.Is(err, claude.ErrClosed) {
			t.Errorf("Read after Close = %v, want ErrClosed", err)
		}
		if err := p.Write(t.Context(), []byte("{}")); !errors.Is(err, claude.ErrClosed) {
			t.Errorf("Write after Close = %v, want ErrClosed", err)
		}
		if err := p.Close(); err != nil {
			t.Errorf("the second Close: %v", err)
		}
	})
}

// 2.1.37 comes back after it was told to end, and is sent away.
func TestComesBackAfterClose(t *testing.T) {
	for _, tt := range []struct {
		name   string
		token  string
		last   string // X-Last-Request-Id
		status int
	}{
		{"with its own token", "secret", "", 403},
		{"with its own token and a line", "secret", "a", 403},
		{"with a shared token and a line", "shared", "a", 403},
		{"with a shared token, as a new one would", "shared", "", 101},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t, ServerOptions{ReconnectWait: time.Second})
				c := l.cli()
				c.token = tt.token
				c.dial()
				p := l.accept()
				c.send(line("a"))
				reads(t, p, line("a"))
				if err := p.Close(); err != nil {
					t.Fatal(err)
				}
				<-c.gone
				if status, err := c.post(t.Context(), line("late")); err != nil || status != http.StatusGone {
					t.Errorf("a late POST gave %d, %v; want 410", status, err)
				}
				c.last = tt.last
				if status := c.try(); status != tt.status {
					t.Fatalf("coming back gave %d, want %d", status, tt.status)
				}
				if tt.status != http.StatusSwitchingProtocols {
					return
				}
				q := l.accept()
				if q == p || q.Key() != p.Key() {
					t.Error("a new CLI did not become a new peer")
				}
				// And it is not taken for the ended one from now on, not even
				// when it was given up.
				c.drop(q)
				await(t, q, claude.StateClosed)
				c.last = "whatever"
				c.dial()
				l.accept()
			})
		})
	}
}

// Close unblocks a Read and a Write that wait.
func TestCloseUnblocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{})
		c := l.cli()
		c.dial()
		p := l.accept()
		c.drop(p)
		errs := make(chan error, 2)
		go func() {
			_, err := p.Read(context.Background())
			errs <- err
		}()
		go func() { errs <- p.Write(context.Background(), []byte("{}")) }()
		synctest.Wait()
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := <-errs; !errors.Is(err, claude.ErrClosed) {
				t.Errorf("got %v, want ErrClosed", err)
			}
		}
	})
}

// A CLI that does not take part in the close handshake does not hold Close up.
func TestCloseOfOneThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{})
		c := l.cli()
		c.mute = true
		c.dial()
		p := l.accept()
		start := time.Now()
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > 2*closeTimeout {
			t.Errorf("Close took %v", took)
		}
		_ = c.ws.CloseNow()
	})
}
