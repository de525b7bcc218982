package claude

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// listing is an answer to a second initialize request with these open questions.
func listing(id string, open ...string) string {
	return `{"type":"control_response","response":{"subtype":"error","request_id":"` + id + `","error":"Already initialized","pending_permission_requests":[` + strings.Join(open, ",") + `]}}`
}

const toolResult = `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}}`

// allowAll is a handler that counts.
func allowAll(asked *atomic.Int32) Handler {
	return func(_ context.Context, q *wire.ControlRequest) ([]byte, error) {
		asked.Add(1)
		return wire.NewPermission(q, &wire.Allow{})
	}
}

// nextAfter returns the next line that was written, which must come after so much time and no earlier.
func nextAfter(t *testing.T, f *fakeTransport, wait time.Duration) string {
	t.Helper()
	begin := time.Now()
	line := f.next(t)
	if waited := time.Since(begin); waited != wait {
		t.Errorf("%s came after %s, want %s", line, waited, wait)
	}
	return line
}

func TestConnInsists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		f, _ := connect(t, &ConnOptions{Handler: allowAll(&asked), Insist: time.Second})
		f.say <- ask("q", bashQuestion)
		answer := nextAfter(t, f, 0)
		// Neither a late line nor the result of another tool shows that the answer has arrived, but each shows that the CLI is not silent.
		time.Sleep(500 * time.Millisecond) // of the bubble's time
		f.say <- `{"type":"assistant","message":{"role":"assistant","content":[]}}`
		time.Sleep(500 * time.Millisecond)
		f.say <- strings.Replace(toolResult, "t1", "t2", 1)
		for range 2 { // two answers are lost
			inquiry := nextAfter(t, f, time.Second)
			if !strings.Contains(inquiry, `"subtype":"initialize"`) {
				t.Fatalf("got %s, want an inquiry", inquiry)
			}
			f.say <- listing(requestID(t, inquiry), ask("q", bashQuestion))
			if again := nextAfter(t, f, 0); again != answer {
				t.Errorf("got %s, want the same answer again", again)
			}
		}
		f.say <- toolResult
		time.Sleep(time.Minute)
		f.quiet(t)
		if n := asked.Load(); n != 1 {
			t.Errorf("the handler was asked %d times, want once", n)
		}
	})
}

func TestConnDoesNotAnswerTwice(t *testing.T) {
	tests := map[string]struct {
		insist time.Duration
		sign   func(inquiry string) string // what the CLI says
		asks   bool                        // whether an inquiry is made at all
	}{
		"the tool takes long":       {time.Second, func(id string) string { return listing(id) }, true},
		"another question is open":  {time.Second, func(id string) string { return listing(id, ask("other", bashQuestion)) }, true},
		"the turn has ended":        {time.Second, func(string) string { return `{"type":"result","subtype":"success"}` }, false},
		"the question is withdrawn": {time.Second, func(string) string { return `{"type":"control_cancel_request","request_id":"q"}` }, false},
		"nobody insists":            {0, func(string) string { return `{"type":"keep_alive"}` }, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked atomic.Int32
				f, _ := connect(t, &ConnOptions{Handler: allowAll(&asked), Insist: test.insist})
				f.say <- ask("q", bashQuestion)
				f.next(t)
				inquiry := ""
				if test.asks {
					inquiry = requestID(t, nextAfter(t, f, time.Second))
				}
				f.say <- test.sign(inquiry)
				time.Sleep(time.Hour) // of the bubble's time
				f.quiet(t)
				if n := asked.Load(); n != 1 {
					t.Errorf("the handler was asked %d times, want once", n)
				}
			})
		})
	}
}

func TestConnInquiresAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		f, c := connect(t, &ConnOptions{Handler: allowAll(&asked), Insist: time.Second, RequestTimeout: time.Second})
		f.say <- ask("q", bashQuestion)
		f.next(t)
		nextAfter(t, f, time.Second)
		// Its answer does not come.
		nextAfter(t, f, 2*time.Second)
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		f.quiet(t)
	})
}
