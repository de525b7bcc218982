package claude

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

func TestConnPanicIsAnErrorAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _ := connect(t, &ConnOptions{Handler: func(context.Context, *wire.ControlRequest) ([]byte, error) { panic("boom") }})
		f.say <- ask("r1", bashQuestion)
		if line := f.next(t); !strings.Contains(line, `"subtype":"error"`) || !strings.Contains(line, "boom") || requestID(t, line) != "r1" {
			t.Errorf("got %s", line)
		}
		// The connection goes on.
		f.say <- ask("r2", bashQuestion)
		if line := f.next(t); requestID(t, line) != "r2" {
			t.Errorf("got %s", line)
		}
	})
}

// A request that makes no sense is answered, or the CLI would wait for ever.
func TestConnAnswersWhatItCannotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _ := connect(t, nil)
		for i, line := range []string{
			`{"type":"control_request","request_id":"r0"}`,
			`{"type":"control_request","request_id":"r1","request":null}`,
			`{"type":"control_request","request_id":"r2","request":[]}`,
			`{"type":"control_request","request_id":"r3","request":{}}`,
			`{"type":"control_request","request_id":"r4","request":{"subtype":7}}`,
			`{"type":"control_request","request_id":"r5","request":{"subtype":"can_use_tool","tool_name":tru}}`,
		} {
			f.say <- line
			if got := f.next(t); !strings.Contains(got, `"subtype":"error"`) || requestID(t, got) != fmt.Sprintf("r%d", i) {
				t.Errorf("%s is answered with %s", line, got)
			}
		}
	})
}

// An answer that comes when nobody waits any more changes nothing.
func TestConnLateAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := connect(t, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		got := request(ctx, c, &wire.InterruptRequest{})
		late := answerTo(f.next(t), `{}`)
		if o := <-got; !errors.Is(o.err, context.DeadlineExceeded) {
			t.Errorf("got %v", o.err)
		}
		f.say <- late
		got = request(t.Context(), c, &wire.InterruptRequest{})
		line := f.next(t)
		f.say <- late
		synctest.Wait()
		select {
		case o := <-got:
			t.Fatalf("the answer to another request was taken: %+v", o)
		default:
		}
		f.say <- answerTo(line, `{}`)
		if o := <-got; o.err != nil {
			t.Error(o.err)
		}
	})
}

func TestConnCloseFailsPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := connect(t, nil)
		got := request(t.Context(), c, &wire.InterruptRequest{})
		f.next(t)
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if o := <-got; !errors.Is(o.err, ErrClosed) {
			t.Errorf("got %v", o.err)
		}
	})
}

// The answer came with the very last lines.
func TestConnAnswerBeforeTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := connect(t, nil)
		got := request(t.Context(), c, &wire.InterruptRequest{})
		f.say <- answerTo(f.next(t), `{}`)
		_ = f.die(errors.New("gone"))
		if o := <-got; o.err != nil {
			t.Errorf("got %v", o.err)
		}
	})
}

// Whoever gives up is not kept waiting because the CLI does not read.
func TestConnGivesUpOnADeafCLI(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := connect(t, &ConnOptions{Version: version(325)})
		got := request(t.Context(), c, &wire.InterruptRequest{})
		f.next(t)
		for range cap(f.heard) {
			f.heard <- "full"
		}
		start := time.Now()
		if o := <-got; !errors.Is(o.err, ErrNoAnswer) || time.Since(start) > defaultRequestTimeout {
			t.Errorf("after %v: %v", time.Since(start), o.err)
		}
	})
}

// Questions are asked and answered while a reader of the lines sleeps.
func TestConnSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := connect(t, &ConnOptions{Backlog: 64 << 10})
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		awake, asleep := make(chan struct{}), make(chan struct{})
		end := make(chan int64)
		go func() {
			var missed int64
			for l, err := range c.Lines(ctx, 0) {
				if lagged, ok := errors.AsType[*LaggedError](err); ok {
					missed += lagged.Missed
				}
				if l.Number == 1 {
					close(asleep)
					<-awake
				}
			}
			end <- missed
		}()
		f.say <- `{"type":"system","subtype":"x"}`
		<-asleep
		pad := `{"type":"assistant","pad":"` + strings.Repeat("x", 1000) + `"}`
		start := time.Now()
		for range 1000 {
			f.say <- pad
		}
		f.say <- ask("r1", bashQuestion)
		if line := f.next(t); requestID(t, line) != "r1" {
			t.Errorf("got %s", line)
		}
		if d := time.Since(start); d > time.Second {
			t.Errorf("the question waited for %v", d)
		}
		_ = f.die(nil)
		close(awake)
		if missed := <-end; missed == 0 {
			t.Error("a reader that slept through 1 MB has missed nothing of 64 KiB")
		}
	})
}
