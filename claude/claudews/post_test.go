package claudews

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

// receive takes a line without acknowledging it.
func receive(t *testing.T, p *Peer, want string) Line {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	got, err := p.Receive(ctx)
	if err != nil || string(got.Bytes) != want {
		t.Fatalf("received %q, %v; want %q", got.Bytes, err, want)
	}
	return got
}

// unanswered checks that a POST waits. It is for tests on synctest's clock.
func unanswered(t *testing.T, posted <-chan answer) {
	t.Helper()
	synctest.Wait()
	select {
	case a := <-posted:
		t.Fatalf("the POST was answered %d, %v; it should wait", a.status, a.err)
	default:
	}
}

func answered(t *testing.T, posted <-chan answer, want int) {
	t.Helper()
	if a := <-posted; a.err != nil || a.status != want {
		t.Fatalf("the POST was answered %d, %v; want %d", a.status, a.err, want)
	}
}

// A whole conversation of a hybrid CLI: lines by POST, the rest by WebSocket.
func TestHybrid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{})
		c := l.cli()
		c.dial()
		p := l.accept()
		if err := p.Write(t.Context(), []byte(`{"type":"user"}`)); err != nil {
			t.Fatal(err)
		}
		c.expect(`{"type":"user"}`)
		one := c.posting(t.Context(), line("a1"))
		reads(t, p, line("a1"))
		answered(t, one, http.StatusOK)
		many := c.posting(t.Context(), lines("b", 1, 500)...)
		reads(t, p, lines("b", 1, 500)...)
		answered(t, many, http.StatusOK)
		// The WebSocket goes away, and nothing of it matters to the POSTs.
		c.drop(p)
		asked := c.posting(t.Context(), request("r1"))
		reads(t, p, request("r1"))
		answered(t, asked, http.StatusOK)
		c.dial()
		c.frame(1, "{\"type\":\"keep_alive\"}\n")
		reads(t, p, `{"type":"keep_alive"}`)
		if got, want := l.told(), "connected1 disconnected1 reconnected2"; got != want {
			t.Errorf("told %q, want %q", got, want)
		}
	})
}

// A POST is answered when its owner says that its lines are safe.
func TestAck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{})
		c := l.cli()
		c.dial()
		p := l.accept()
		posted := c.posting(t.Context(), line("a1"), line("a2"))
		first := receive(t, p, line("a1"))
		second := receive(t, p, line("a2"))
		unanswered(t, posted)
		second.Ack()
		second.Ack() // once is enough, twice is no more
		unanswered(t, posted)
		first.Ack()
		answered(t, posted, http.StatusOK)

		// 2.1.37 does not wait with a question; nor does its reader.
		slow := c.posting(t.Context(), line("a3"))
		held := receive(t, p, line("a3"))
		question := c.posting(t.Context(), request("r1"))
		receive(t, p, request("r1")).Ack()
		answered(t, question, http.StatusOK)
		unanswered(t, slow)
		held.Ack()
		answered(t, slow, http.StatusOK)

		empty := c.posting(t.Context())
		answered(t, empty, http.StatusOK)
		c.send(line("a4"))
		receive(t, p, line("a4")).Ack() // nobody waits for it, and that is fine
	})
}

// A POST that comes again is the same POST.
func TestPostAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{})
		c := l.cli()
		c.dial()
		p := l.accept()

		// 2.1.120 gives up after 15 s, and tries again while the first waits.
		impatient, cancel := context.WithTimeout(t.Context(), 15*time.Second)
		defer cancel()
		first := c.posting(impatient, line("a1"), line("a2"))
		one, two := receive(t, p, line("a1")), receive(t, p, line("a2"))
		if a := <-first; !errors.Is(a.err, context.DeadlineExceeded) {
			t.Fatalf("the first POST: %d, %v", a.status, a.err)
		}
		again := c.posting(t.Context(), line("a1"), line("a2"))
		unanswered(t, again)
		one.Ack()
		two.Ack()
		answered(t, again, http.StatusOK)

		// The answer was lost on its way: it was taken, and comes again.
		answered(t, c.posting(t.Context(), line("a1"), line("a2")), http.StatusOK)
		silent(t, p, time.Second)

		next := c.posting(t.Context(), line("a3"))
		reads(t, p, line("a3"))
		answered(t, next, http.StatusOK)
	})
}

// 2.1.120 sends what it was not answered for together with what came since.
func TestPostAgainWithMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{})
		c := l.cli()
		c.dial()
		p := l.accept()
		gaveUp := func(posted <-chan answer) {
			t.Helper()
			if a := <-posted; !errors.Is(a.err, context.DeadlineExceeded) {
				t.Fatalf("the POST: %d, %v", a.status, a.err)
			}
		}
		impatient := func() context.Context {
			ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
			t.Cleanup(cancel)
			return ctx
		}
		first := c.posting(impatient(), line("a1"), response("i1"))
		one := receive(t, p, line("a1"))
		two := receive(t, p, response("i1"))
		gaveUp(first)
		second := c.posting(impatient(), line("a1"), response("i1"), request("r1"))
		three := receive(t, p, request("r1"))
		one.Ack()
		two.Ack()
		unanswered(t, second)
		gaveUp(second)
		third := c.posting(t.Context(), line("a1"), response("i1"), request("r1"), line("a2"), line("a3"))
		reads(t, p, line("a2"), line("a3"))
		unanswered(t, third)
		// The question was first seen in a POST that nobody waits for any more.
		written := make(chan error, 1)
		go func() { written <- p.Write(t.Context(), []byte(response("r1"))) }()
		synctest.Wait()
		three.Ack()
		answered(t, third, http.StatusOK)
		if err := <-written; err != nil {
			t.Fatal(err)
		}
		c.expect(response("r1"))
		// The answer to the third was lost.
		fourth := c.posting(t.Context(), line("a1"), response("i1"), request("r1"), line("a2"), line("a3"), line("a4"))
		reads(t, p, line("a4"))
		answered(t, fourth, http.StatusOK)
		silent(t, p, time.Second)
	})
}

// Two equal answers to two requests under one id are two, and only one that was
// not answered is the same.
func TestEqualPosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{})
		c := l.cli()
		c.dial()
		p := l.accept()
		for range 3 {
			posted := c.posting(t.Context(), response("initialize"))
			reads(t, p, response("initialize"))
			answered(t, posted, http.StatusOK)
		}
		impatient, cancel := context.WithTimeout(t.Context(), 15*time.Second)
		defer cancel()
		first := c.posting(impatient, response("other"))
		held := receive(t, p, response("other"))
		if a := <-first; !errors.Is(a.err, context.DeadlineExceeded) {
			t.Fatalf("the first POST: %d, %v", a.status, a.err)
		}
		again := c.posting(t.Context(), response("other"))
		unanswered(t, again)
		held.Ack()
		answered(t, again, http.StatusOK)
		silent(t, p, time.Second)
	})
}

// A POST that did not get in, because nobody read, comes again and gets in.
func TestPostAgainAfterBackpressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{MaxInbox: 100})
		c := l.cli()
		c.dial()
		p := l.accept()
		first := c.posting(t.Context(), lines("a", 1, 3)...) // more than fits, but the first
		synctest.Wait()
		impatient, cancel := context.WithTimeout(t.Context(), 15*time.Second)
		defer cancel()
		second := c.posting(impatient, line("b1"))
		if a := <-second; !errors.Is(a.err, context.DeadlineExceeded) {
			t.Fatalf("the second POST: %d, %v", a.status, a.err)
		}
		again := c.posting(t.Context(), line("b1"))
		unanswered(t, again)
		reads(t, p, append(lines("a", 1, 3), line("b1"))...)
		answered(t, first, http.StatusOK)
		answered(t, again, http.StatusOK)
	})
}

// 2.1.37 drops the answer to a question whose POST has not been answered yet,
// and waits for it for ever.
func TestAnswerAfterItsPost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{})
		c := l.cli()
		c.dial()
		p := l.accept()
		write := func(ctx context.Context, line string) <-chan error {
			done := make(chan error, 1)
			go func() { done <- p.Write(ctx, []byte(line)) }()
			return done
		}
		posted := c.posting(t.Context(), line("a"), request("r1"))
		receive(t, p, line("a")).Ack()
		question := receive(t, p, request("r1"))

		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := <-write(short, response("r1")); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("an answer before the acknowledgement: %v", err)
		}
		early := write(t.Context(), response("r1"))
		if err := <-write(t.Context(), response("other")); err != nil { // it is not held up
			t.Fatal(err)
		}
		c.expect(response("other"))
		question.Ack()
		answered(t, posted, http.StatusOK)
		start := time.Now()
		c.expect(response("r1"))
		if waited := time.Since(start); waited != replyGrace {
			t.Errorf("the answer came %v after that to its POST, want %v", waited, replyGrace)
		}
		if err := <-early; err != nil {
			t.Fatal(err)
		}

		// A person takes longer anyway, and is not held up at all.
		posted = c.posting(t.Context(), request("r2"))
		reads(t, p, request("r2"))
		answered(t, posted, http.StatusOK)
		silent(t, p, time.Minute)
		start = time.Now()
		if err := <-write(t.Context(), response("r2")); err != nil || time.Since(start) != 0 {
			t.Errorf("a late answer took %v, %v", time.Since(start), err)
		}
		c.expect(response("r2"))

		// A question that came over the WebSocket is none of this.
		c.send(request("r3"))
		reads(t, p, request("r3"))
		if err := <-write(t.Context(), response("r3")); err != nil || time.Since(start) != 0 {
			t.Errorf("an answer to a question of the WebSocket took %v, %v", time.Since(start), err)
		}
		c.expect(response("r3"))

		unacknowledged := c.posting(t.Context(), request("r4"))
		receive(t, p, request("r4"))
		stuck := write(t.Context(), response("r4"))
		synctest.Wait()
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-stuck; !errors.Is(err, claude.ErrClosed) {
			t.Errorf("a held answer after Close: %v", err)
		}
		answered(t, unacknowledged, http.StatusGone)
	})
}

// After a restart of the server POSTs may be there before the WebSocket, and
// may be repetitions.
func TestPostBeforeTheWebSocket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{ReconnectWait: time.Minute})
		c := l.cli()
		posted := c.posting(t.Context(), line("a1"))
		p := l.accept()
		if state, _ := p.State(); state != claude.StateConnecting {
			t.Errorf("the state is %s, want connecting", state)
		}
		got := receive(t, p, line("a1"))
		if !got.Repeat {
			t.Error("the first POST may be a repetition, and is not marked")
		}
		got.Ack()
		answered(t, posted, http.StatusOK)
		for i := range 20 { // each is a sign of life
			timer := time.NewTimer(50 * time.Second)
			<-timer.C
			next := c.posting(t.Context(), line(fmt.Sprint("b", i)))
			got := receive(t, p, line(fmt.Sprint("b", i)))
			if got.Repeat != (i+1 < uncertainPosts) {
				t.Errorf("POST %d: Repeat is %v", i+2, got.Repeat)
			}
			got.Ack()
			answered(t, next, http.StatusOK)
		}
		c.dial()
		await(t, p, claude.StateConnected)
		c.drop(p)
		_, err := p.Read(context.Background())
		if _, ok := errors.AsType[*GoneError](err); !ok {
			t.Fatalf("Read = %v, want a GoneError", err)
		}
	})
}

// A CLI that only POSTs, because it has given its WebSocket up, lives as long as
// it does that.
func TestPostsAreSignsOfLife(t *testing.T) {
	for _, connected := range []bool{false, true} {
		t.Run(fmt.Sprintf("connected before %v", connected), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t, ServerOptions{ReconnectWait: time.Minute})
				c := l.cli()
				if connected {
					c.dial()
					c.drop(l.accept())
				}
				first := c.posting(t.Context(), line("a0"))
				synctest.Wait()
				p := l.server.peers["run"]
				reads(t, p, line("a0"))
				answered(t, first, http.StatusOK)
				for i := 1; i <= 3; i++ {
					silent(t, p, 50*time.Second)
					posted := c.posting(t.Context(), line(fmt.Sprint("a", i)))
					reads(t, p, line(fmt.Sprint("a", i)))
					answered(t, posted, http.StatusOK)
				}
				start := time.Now()
				_, err := p.Read(context.Background())
				if _, ok := errors.AsType[*GoneError](err); !ok || time.Since(start) != time.Minute {
					t.Errorf("Read = %v after %v, want a GoneError after a minute", err, time.Since(start))
				}
			})
		})
	}
}

func TestPostRefused(t *testing.T) {
	for _, tt := range []struct {
		name string
		body string
		want int
	}{
		{"not JSON", `{"events":[`, http.StatusBadRequest},
		{"no events", `{"lines":[]}`, http.StatusBadRequest},
		{"null", `{"events":null}`, http.StatusBadRequest},
		{"not a list", `{"events":{}}`, http.StatusBadRequest},
		{"too large", `{"events":["` + strings.Repeat("x", 1000) + `"]}`, http.StatusRequestEntityTooLarge},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t, ServerOptions{MaxBody: 1000})
				c := l.cli()
				status, err := c.postBody(t.Context(), []byte(tt.body))
				if err != nil || status != tt.want {
					t.Fatalf("status %d, %v; want %d", status, err, tt.want)
				}
				p := l.accept() // the CLI is there, and has lost something
				silent(t, p, time.Second)
				if got := l.told(); got != "gap(..)" {
					t.Errorf("told %q, want a gap", got)
				}
			})
		})
	}
}

// A long line in a POST is reported, and the POST is answered: it would be as
// long the next time.
func TestPostLineTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{MaxLine: 2000, MaxBody: 1 << 20})
		c := l.cli()
		long := line(strings.Repeat("y", 3000))
		posted := c.posting(t.Context(), line("a1"), long, line("a2"))
		p := l.accept()
		reads(t, p, line("a1"))
		_, err := p.Read(t.Context())
		var tooLong *wire.LineTooLongError
		if !errors.As(err, &tooLong) || tooLong.Length != int64(len(long)) || len(tooLong.Head) != headLength {
			t.Fatalf("got %v, want the long line's error", err)
		}
		reads(t, p, line("a2"))
		answered(t, posted, http.StatusOK)
	})
}

// Lines of a POST are the CLI's bytes, whatever stands around them.
func TestPostBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{})
		c := l.cli()
		raw := "{ \"type\":\"a\" ,\"n\":1.50,\"s\":\"\\u00e9\u2028\xff\",\"n\":2}"
		body := "{\"other\":[1],\n\"events\": [\n  " + raw + " ,{\"b\":\n [1,\n2]}]}"
		posted := make(chan answer, 1)
		go func() {
			status, err := c.postBody(t.Context(), []byte(body))
			posted <- answer{status, err}
		}()
		reads(t, l.accept(), raw, `{"b":[1,2]}`)
		answered(t, posted, http.StatusOK)
	})
}

// A body that does not arrive leaves nothing behind, and comes again.
func TestPostCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, ServerOptions{BodyTimeout: time.Second})
		c := l.cli()
		read, write := newSlowBody()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://hub.test/session/cli/x/events", read)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer secret")
		req.ContentLength = 100
		result := make(chan answer, 1)
		go func() {
			resp, err := l.client.Do(req)
			if err != nil {
				result <- answer{err: err}
				return
			}
			defer resp.Body.Close()
			result <- answer{status: resp.StatusCode}
		}()
		write(`{"events":[` + line("a1"))
		if a := <-result; a.err == nil && a.status != http.StatusServiceUnavailable {
			t.Errorf("a body that stops was answered %d", a.status)
		}
		write("")
		synctest.Wait()
		if n := len(l.server.peers); n != 0 {
			t.Errorf("%d peers are left of it", n)
		}
		posted := c.posting(t.Context(), line("a1"))
		reads(t, l.accept(), line("a1"))
		answered(t, posted, http.StatusOK)
	})
}

// slowBody is a request body that comes in parts.
type slowBody struct{ parts chan string }

func newSlowBody() (body *slowBody, write func(string)) {
	body = &slowBody{parts: make(chan string, 1)}
	return body, func(s string) {
		if s == "" {
			close(body.parts)
			return
		}
		body.parts <- s
	}
}

func (b *slowBody) Read(p []byte) (int, error) {
	s, ok := <-b.parts
	if !ok {
		return 0, errors.New("the body was cut")
	}
	return copy(p, s), nil
}
