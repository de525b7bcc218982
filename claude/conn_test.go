package claude

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// A fakeTransport is a CLI in memory: lines given to say are read, lines that are
// written come out of heard.
type fakeTransport struct {
	StateVar
	say   chan string
	heard chan string
	once  sync.Once
	done  chan struct{}
	err   error // what Read returns at the end
}

func newFakeTransport() *fakeTransport {
	return &fakeTransport{say: make(chan string), heard: make(chan string, 100), done: make(chan struct{}), err: io.EOF}
}

func (f *fakeTransport) Read(ctx context.Context) ([]byte, error) {
	select {
	case s := <-f.say:
		return []byte(s), nil
	case <-f.done:
		return nil, f.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (f *fakeTransport) Write(ctx context.Context, line []byte) error {
	select {
	case <-f.done:
		return ErrClosed
	case f.heard <- string(line):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *fakeTransport) CloseInput() error { return nil }

func (f *fakeTransport) State() (string, <-chan struct{}) { return f.Get() }

func (f *fakeTransport) Close() error { return f.die(nil) }

func (f *fakeTransport) die(err error) error {
	f.once.Do(func() {
		if err != nil {
			f.err = err
		}
		close(f.done)
	})
	return nil
}

// next returns the next line that was written.
func (f *fakeTransport) next(t *testing.T) string {
	t.Helper()
	select {
	case s := <-f.heard:
		return s
	case <-time.After(time.Minute): // of the bubble's time
		t.Fatal("nothing was written")
		return ""
	}
}

// quiet fails if something has been written.
func (f *fakeTransport) quiet(t *testing.T) {
	t.Helper()
	synctest.Wait()
	select {
	case s := <-f.heard:
		t.Fatalf("written: %s", s)
	default:
	}
}

func requestID(t *testing.T, line string) string {
	t.Helper()
	h, err := wire.Peek([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	return string(h.RequestID)
}

// connect returns a connection that the test's end closes. It is called inside a
// bubble, whose time is the connection's.
func connect(t *testing.T, o *ConnOptions) (*fakeTransport, *Conn) {
	t.Helper()
	f := newFakeTransport()
	c := NewConn(f, o)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return f, c
}

type outcome struct {
	answer *wire.ControlAnswer
	err    error
}

func request(ctx context.Context, c *Conn, r wire.Request) <-chan outcome {
	out := make(chan outcome, 1)
	go func() {
		a, err := c.Request(ctx, r)
		out <- outcome{a, err}
	}()
	return out
}

func TestConnRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := connect(t, nil)
		got := request(t.Context(), c, &wire.SetModelRequest{Model: "opus"})
		id := requestID(t, f.next(t))
		f.say <- `{"type":"control_response","response":{"subtype":"success","request_id":"another"}}`
		f.say <- `{"type":"control_response","response":{"subtype":"success","request_id":"` + id + `","response":{"model":"x"}}}`
		// A second answer, as 2.1.37 sends for some requests, is nobody's.
		f.say <- `{"type":"control_response","response":{"subtype":"error","request_id":"` + id + `","error":"late"}}`
		if o := <-got; o.err != nil || string(o.answer.Response) != `{"model":"x"}` {
			t.Errorf("got %+v", o)
		}

		got = request(t.Context(), c, &wire.InterruptRequest{})
		id = requestID(t, f.next(t))
		f.say <- `{"type":"control_response","response":{"subtype":"error","request_id":"` + id + `","error":"no","error_code":"busy"}}`
		o := <-got
		if e, ok := errors.AsType[*ControlError](o.err); !ok || e.Subtype != "interrupt" || e.Message != "no" || e.Code != "busy" {
			t.Errorf("got %v", o.err)
		}
	})
}

func TestConnRequestTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := connect(t, &ConnOptions{Version: wire.Version{Major: 2, Minor: 1, Patch: 325}})
		start := time.Now()
		got := request(t.Context(), c, &wire.InterruptRequest{})
		id := requestID(t, f.next(t))
		if o := <-got; !errors.Is(o.err, ErrNoAnswer) || time.Since(start) != defaultRequestTimeout {
			t.Errorf("after %v: %v", time.Since(start), o.err)
		}
		if line := f.next(t); !strings.Contains(line, "control_cancel_request") || requestID(t, line) != id {
			t.Errorf("the request was not withdrawn: %s", line)
		}
		ctx, cancel := context.WithCancel(t.Context())
		got = request(ctx, c, &wire.InterruptRequest{})
		f.next(t)
		cancel()
		if o := <-got; !errors.Is(o.err, context.Canceled) {
			t.Errorf("got %v", o.err)
		}
	})
	// A cancel would end an old CLI.
	synctest.Test(t, func(t *testing.T) {
		f, c := connect(t, nil)
		got := request(t.Context(), c, &wire.InterruptRequest{})
		f.next(t)
		<-got
		f.quiet(t)
	})
}

func TestConnRefusesWhatTheVersionCannotTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := connect(t, nil)
		_, err := c.Request(t.Context(), &wire.GetContextUsageRequest{})
		if _, ok := errors.AsType[*wire.UnsupportedError](err); !ok {
			t.Errorf("got %v", err)
		}
		if err := c.Send(t.Context(), []byte("nonsense")); err == nil {
			t.Error("a line that is not JSON was sent")
		}
		f.quiet(t)
		// The CLI tells its version, and what it can do with it.
		f.say <- `{"type":"system","subtype":"init","claude_code_version":"2.1.120"}`
		synctest.Wait()
		got := request(t.Context(), c, &wire.GetContextUsageRequest{})
		f.say <- `{"type":"control_response","response":{"subtype":"success","request_id":"` + requestID(t, f.next(t)) + `"}}`
		if o := <-got; o.err != nil {
			t.Error(o.err)
		}
		got = request(t.Context(), c, &wire.InitializeRequest{})
		f.say <- `{"type":"control_response","response":{"subtype":"success","request_id":"` + requestID(t, f.next(t)) + `","response":{"claude_code_version":"2.1.325"}}}`
		if o := <-got; o.err != nil || c.Version() != (wire.Version{Major: 2, Minor: 1, Patch: 325}) {
			t.Errorf("%v, version %v", o.err, c.Version())
		}
	})
}

func TestConnFailsPendingWithTheCause(t *testing.T) {
	cause := &ExitError{Code: 7}
	synctest.Test(t, func(t *testing.T) {
		f, c := connect(t, nil)
		got := request(t.Context(), c, &wire.InterruptRequest{})
		f.next(t)
		_ = f.die(cause)
		if o := <-got; !errors.Is(o.err, cause) {
			t.Errorf("got %v", o.err)
		}
		<-c.Done()
		if _, err := c.Request(t.Context(), &wire.InterruptRequest{}); !errors.Is(err, cause) || !errors.Is(c.Err(), cause) {
			t.Errorf("afterwards: %v, %v", err, c.Err())
		}
	})
}

func ask(id, rest string) string {
	return `{"type":"control_request","request_id":"` + id + `","request":` + rest + `}`
}

const bashQuestion = `{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"t1"}`

func TestConnHandlesRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		handler := func(ctx context.Context, q *wire.ControlRequest) ([]byte, error) {
			switch q.RequestID {
			case "slow":
				select {
				case <-release:
					return wire.NewPermission(q, &wire.Allow{})
				case <-ctx.Done():
					return wire.NewPermission(q, &wire.Deny{Message: context.Cause(ctx).Error()})
				}
			case "alone":
				return nil, nil
			case "bad":
				return nil, errors.New("broken")
			case "garbage":
				return []byte("{}"), nil
			}
			return Decline(ctx, q)
		}
		f, _ := connect(t, &ConnOptions{Handler: handler})
		f.say <- ask("slow", bashQuestion)
		// The slow one holds up nobody.
		f.say <- ask("r1", bashQuestion)
		if line := f.next(t); !strings.Contains(line, `"behavior":"deny"`) || requestID(t, line) != "r1" {
			t.Errorf("got %s", line)
		}
		// It is handled once, even if it comes again.
		f.say <- ask("slow", bashQuestion)
		f.quiet(t)
		close(release)
		if line := f.next(t); !strings.Contains(line, `"behavior":"allow"`) || requestID(t, line) != "slow" {
			t.Errorf("got %s", line)
		}
		f.quiet(t)

		for _, tt := range []struct{ id, request, want string }{
			{"form", `{"subtype":"elicitation","mcp_server_name":"s","message":"m"}`, `"action":"decline"`},
			{"new", `{"subtype":"brand_new"}`, `"error_code":"unsupported_request"`},
			{"bad", `{"subtype":"brand_new"}`, `"error":"broken"`},
			{"garbage", `{"subtype":"brand_new"}`, `could not be sent`},
		} {
			f.say <- ask(tt.id, tt.request)
			if line := f.next(t); !strings.Contains(line, tt.want) || requestID(t, line) != tt.id {
				t.Errorf("%s: got %s", tt.id, line)
			}
		}
		f.say <- ask("alone", `{"subtype":"brand_new"}`)
		f.say <- ask("dialog", `{"subtype":"request_user_dialog","dialog_kind":"k","payload":{}}`)
		f.say <- ask("remote", `{"subtype":"remote_tool_call"}`)
		f.say <- `{"type":"control_request","request":{"subtype":"brand_new"}}`
		f.quiet(t)
	})
}

func TestConnWithdrawal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		causes := make(chan error, 2)
		handler := func(ctx context.Context, q *wire.ControlRequest) ([]byte, error) {
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return wire.NewPermission(q, &wire.Allow{})
		}
		f, c := connect(t, &ConnOptions{Handler: handler})
		f.say <- ask("r1", bashQuestion)
		f.say <- `{"type":"control_cancel_request","request_id":"unknown"}`
		f.say <- `{"type":"control_cancel_request","request_id":"r1"}`
		if err := <-causes; !errors.Is(err, ErrWithdrawn) {
			t.Errorf("got %v", err)
		}
		f.quiet(t) // the CLI has its answer from elsewhere

		f.say <- ask("r2", bashQuestion)
		synctest.Wait()
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-causes; !errors.Is(err, ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
}

func TestConnKeepsMCPHandshakesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var order []string
		hold, holdCall := make(chan struct{}), make(chan struct{})
		handler := func(_ context.Context, q *wire.ControlRequest) ([]byte, error) {
			method := q.Request.(*wire.MCPMessageRequest).Message.Method
			switch {
			case method == "initialize":
				<-hold
			case q.RequestID == "call1":
				<-holdCall
			}
			mu.Lock()
			order = append(order, q.RequestID)
			mu.Unlock()
			return wire.NewAnswer(q.RequestID, nil)
		}
		message := func(server, method string) string {
			return `{"subtype":"mcp_message","server_name":"` + server + `","message":{"jsonrpc":"2.0","method":"` + method + `"}}`
		}
		f, _ := connect(t, &ConnOptions{Handler: handler})
		f.say <- ask("init", message("a", "initialize"))
		f.say <- ask("note", message("a", "notifications/initialized"))
		f.say <- ask("list", message("a", "tools/list"))
		f.say <- ask("other", message("b", "tools/list"))
		f.next(t) // another server does not wait
		f.quiet(t)
		close(hold)
		for range 3 {
			f.next(t)
		}
		f.say <- ask("call1", message("a", "tools/call"))
		f.say <- ask("call2", message("a", "tools/call"))
		f.next(t) // calls do not wait for each other
		close(holdCall)
		f.next(t)
		if got := strings.Join(order, " "); got != "other init note list call2 call1" {
			t.Errorf("order: %s", got)
		}
	})
}

func TestConnLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := connect(t, &ConnOptions{Backlog: 100 + 2*lineOverhead})
		long := `{"type":"x","pad":"` + strings.Repeat("x", 40) + `"}`
		for range 4 {
			f.say <- long
		}
		f.say <- `{"type":"last"}`
		_ = f.die(nil)
		var got []string
		for l, err := range c.Lines(t.Context(), 0) {
			if lagged, ok := errors.AsType[*LaggedError](err); ok {
				got = append(got, fmt.Sprintf("missed %d", lagged.Missed))
				continue
			}
			if err != nil {
				got = append(got, err.Error())
				continue
			}
			m, err := l.Message()
			if err != nil {
				t.Fatal(err)
			}
			typ, _ := m.MessageType()
			got = append(got, fmt.Sprintf("%d %s", l.Number, typ))
		}
		if s := strings.Join(got, ", "); s != "missed 3, 4 x, 5 last, EOF" {
			t.Errorf("got %s", s)
		}
		for l, err := range c.Lines(t.Context(), 4) {
			if err != nil || l.Number != 5 {
				t.Errorf("got %v %v", l, err)
			}
			break
		}
	})
}

func TestConnLinesWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, c := connect(t, nil)
		got := make(chan string, 10)
		ctx, cancel := context.WithCancel(t.Context())
		for range 2 { // any number of readers
			go func() {
				for l, err := range c.Lines(ctx, 0) {
					if err != nil {
						got <- err.Error()
						return
					}
					got <- string(l.Bytes)
				}
			}()
		}
		synctest.Wait()
		f.say <- `{"type":"keep_alive"}`
		for range 2 {
			if s := <-got; s != `{"type":"keep_alive"}` {
				t.Errorf("got %s", s)
			}
		}
		cancel()
		for range 2 {
			if s := <-got; s != context.Canceled.Error() {
				t.Errorf("got %s", s)
			}
		}
	})
}

// A CLI that does not tell its version is asked for what newer ones have, once its
// answer to initialize shows that it answers what it does not know.
func TestConnAsksWhatTheVersionDoesNotTell(t *testing.T) {
	for answer, asked := range map[string]bool{
		`{"commands":[]}`:                          false, // as 2.1.37 does
		`{"commands":[],"pid":7}`:                  true,
		`{"commands":[],"pid":7,"agents":[]}`:      true,
		`{"claude_code_version":"2.1.37","pid":7}`: false,
	} {
		bubble(t, answer, func(t *testing.T) {
			f, c := connect(t, nil)
			got := request(t.Context(), c, &wire.InitializeRequest{})
			f.answer(f.next(t), answer)
			if o := <-got; o.err != nil {
				t.Fatal(o.err)
			}
			got = request(t.Context(), c, &wire.GetContextUsageRequest{})
			if asked {
				f.answer(f.next(t), `{}`)
			}
			o := <-got
			if _, refused := errors.AsType[*UnsupportedError](o.err); refused == asked {
				t.Errorf("got %v", o.err)
			}
			o = <-request(t.Context(), c, &wire.SetColorRequest{Color: "red"}) // no version has it
			if _, refused := errors.AsType[*UnsupportedError](o.err); !refused {
				t.Errorf("a request that no version has: %v", o.err)
			}
			f.quiet(t)
		})
	}
}
