package notify

import (
	"context"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func statuses(codes ...int) func(n int, w http.ResponseWriter, r *http.Request) {
	return func(n int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(codes[min(n, len(codes))-1]) }
}

// hang answers nothing until the sender goes away.
func hang(_ int, _ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func TestRetry(t *testing.T) {
	inBubble(t, func(n int, w http.ResponseWriter, r *http.Request) {
		switch n {
		case 1:
			w.WriteHeader(http.StatusInternalServerError)
		case 2:
			w.WriteHeader(http.StatusRequestTimeout)
		case 3:
			w.WriteHeader(http.StatusTooManyRequests)
		case 4:
			hang(n, w, r)
		case 5:
			panic(http.ErrAbortHandler) // the connection breaks
		}
	}, nil, func(b *lab) {
		b.Notify(Notification{Kind: Done, Session: "s1"})
		b.pass(maxAge)
		b.expect(Stats{Sent: 1, Retried: 5})
		all := b.arrivals()
		if len(all) != 6 {
			t.Fatalf("there were %d attempts", len(all))
		}
		stamps := make(map[string]bool)
		for i, a := range all {
			if a.header.Get(idHeader) != all[0].header.Get(idHeader) || a.body != all[0].body {
				t.Errorf("attempt %d is another notification: %s", i+1, a.body)
			}
			stamps[a.header.Get(signatureHeader)] = true
			if i == 0 {
				continue
			}
			longest := min(firstPause<<(i-1), maxPause)
			took := time.Duration(0)
			if i == 4 { // the one before took all of its time
				took = attemptTimeout
			}
			if pause := a.at - all[i-1].at - took; pause < longest/2 || pause > longest {
				t.Errorf("the pause before attempt %d was %s, expected %s to %s", i+1, pause, longest/2, longest)
			}
		}
		if len(stamps) != len(all) {
			t.Errorf("attempts share signatures: %v", stamps)
		}
		// Once when it began, once when it was over.
		if log := b.log.String(); strings.Count(log, "\n") != 2 || strings.Count(log, "was not delivered") != 1 || strings.Count(log, "arrive again") != 1 || !strings.Contains(log, "500") {
			t.Errorf("the log is\n%s", log)
		}
	})
}

func TestRetryAfterRefusedConnection(t *testing.T) {
	inBubble(t, statuses(200), nil, func(b *lab) {
		b.refuse(true)
		b.Notify(Notification{Kind: Done, Session: "s1"})
		b.pass(time.Minute)
		b.expect(Stats{Queued: 1, Retried: b.Stats()[0].Retried})
		if n := b.Stats()[0].Retried; n < 4 || n > 6 {
			t.Errorf("%d attempts in a minute", n)
		}
		if !strings.Contains(b.log.String(), "connection refused") {
			t.Errorf("the log is\n%s", b.log.String())
		}
		b.refuse(false)
		b.pass(5 * time.Minute)
		if s := b.Stats()[0]; s.Sent != 1 || s.Queued != 0 {
			t.Errorf("the counters are %+v", s)
		}
	})
}

func TestNoRetry(t *testing.T) {
	for _, code := range []int{300, 301, 302, 303, 307, 308, 400, 401, 403, 404, 405, 410, 413, 422, 425} {
		t.Run(strconv.Itoa(code), func(t *testing.T) {
			inBubble(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "http://127.0.0.1/elsewhere")
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(code)
			}, nil, func(b *lab) {
				b.Notify(Notification{Kind: Done, Session: "s1"})
				b.Notify(Notification{Kind: Done, Session: "s2"})
				b.pass(2 * maxAge)
				b.expect(Stats{Refused: 2})
				if n := len(b.arrivals()); n != 2 {
					t.Errorf("there were %d attempts", n)
				}
				if log := b.log.String(); strings.Count(log, "\n") != 1 || !strings.Contains(log, strconv.Itoa(code)) {
					t.Errorf("the log is\n%s", log)
				}
			})
		})
	}
}

func TestRetryAfter(t *testing.T) {
	for _, test := range []struct {
		name, value string
		least, most time.Duration
	}{
		{"seconds", "60", time.Minute, time.Minute},
		{"less than the pause", "0", firstPause / 2, firstPause},
		{"longer than is bearable", "86400", maxRetryAfter, maxRetryAfter},
		{"far too long", "99999999999999999999", firstPause / 2, firstPause},
		{"negative", "-5", firstPause / 2, firstPause},
		{"nonsense", "soon", firstPause / 2, firstPause},
		// The clock of a bubble begins at midnight.
		{"date", "Sat, 01 Jan 2000 00:02:00 GMT", 2 * time.Minute, 2 * time.Minute},
		{"past date", "Fri, 31 Dec 1999 23:00:00 GMT", firstPause / 2, firstPause},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, func(n int, w http.ResponseWriter, _ *http.Request) {
				if n == 1 {
					w.Header().Set("Retry-After", test.value)
					w.WriteHeader(http.StatusTooManyRequests)
				}
			}, nil, func(b *lab) {
				b.Notify(Notification{Kind: Done, Session: "s1"})
				synctest.Wait()
				if n := len(b.arrivals()); n != 1 {
					t.Fatalf("there were %d attempts", n)
				}
				// It speaks for the whole target.
				quiet := test.least > firstPause
				b.Notify(Notification{Kind: Done, Session: "s2"})
				synctest.Wait()
				if n := len(b.arrivals()); (n == 1) != quiet {
					t.Errorf("there were %d attempts", n)
				}
				b.pass(maxAge)
				b.expect(Stats{Sent: 2, Retried: 1})
				for _, a := range b.arrivals()[1:] {
					if (quiet || strings.Contains(a.body, "s1")) && (a.at < test.least || a.at > test.most) {
						t.Errorf("an attempt after %s, expected %s to %s", a.at, test.least, test.most)
					}
				}
			})
		})
	}
}

func TestGivesUp(t *testing.T) {
	t.Run("attempts", func(t *testing.T) {
		inBubble(t, statuses(500), nil, func(b *lab) {
			b.Notify(Notification{Kind: Done, Session: "s1"})
			b.pass(24 * time.Hour)
			b.expect(Stats{Expired: 1, Retried: maxAttempts - 1})
			if n := len(b.arrivals()); n != maxAttempts {
				t.Errorf("there were %d attempts", n)
			}
		})
	})
	t.Run("age", func(t *testing.T) {
		inBubble(t, func(n int, w http.ResponseWriter, _ *http.Request) {
			if n < 5 {
				w.Header().Set("Retry-After", "800")
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		}, nil, func(b *lab) {
			b.Notify(Notification{Kind: Done, Session: "s1"})
			b.pass(time.Minute)
			b.Notify(Notification{Kind: Done, Session: "s2"})
			b.pass(24 * time.Hour)
			// At 0, 800 and 1600 s; what is due after 1800 s comes too late for the
			// first one. The second one shares its pauses.
			for _, a := range b.arrivals() {
				if age := a.at; strings.Contains(a.body, "s1") && age > maxAge || age > maxAge+time.Minute {
					t.Errorf("an attempt after %s: %s", age, a.body)
				}
			}
			if s := b.Stats()[0]; s.Expired != 2 || s.Queued != 0 || s.Sent != 0 {
				t.Errorf("the counters are %+v", s)
			}
			b.Notify(Notification{Kind: Done, Session: "s3"})
			b.pass(time.Hour)
			if s := b.Stats()[0]; s.Sent != 1 {
				t.Errorf("the counters are %+v", s)
			}
			if !strings.Contains(b.log.String(), "arrive again") || !strings.Contains(b.log.String(), "lost=2") {
				t.Errorf("the log is\n%s", b.log.String())
			}
		})
	})
}

// TestOneDoesNotHoldUpOthers has a target that fails on one notification only.
func TestOneDoesNotHoldUpOthers(t *testing.T) {
	bodies := make(chan string, 1)
	inBubble(t, func(n int, w http.ResponseWriter, r *http.Request) {
		if n == 1 {
			bodies <- r.Header.Get(idHeader)
		}
		id := <-bodies
		bodies <- id
		if r.Header.Get(idHeader) == id {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}, nil, func(b *lab) {
		for i := range 20 {
			b.Notify(Notification{Kind: Done, Session: "s" + strconv.Itoa(i)})
		}
		synctest.Wait()
		b.expect(Stats{Sent: 19, Queued: 1})
		if took := time.Since(b.began); took != 0 {
			t.Errorf("the others took %s", took)
		}
		for i, a := range b.arrivals() {
			if !strings.Contains(a.body, `"session":"s`+strconv.Itoa(i)+`"`) {
				t.Errorf("the notification at place %d is %s", i, a.body)
			}
		}
	})
}

// TestNotifyNeverBlocks fills the queue of a target that does not answer.
func TestNotifyNeverBlocks(t *testing.T) {
	const sent = 3 * maxQueue
	works := make(chan struct{})
	inBubble(t, func(n int, w http.ResponseWriter, r *http.Request) {
		select {
		case <-works:
		default:
			hang(n, w, r)
		}
	}, nil, func(b *lab) {
		b.Notify(Notification{Kind: Done, Session: "s0"})
		synctest.Wait() // the first one is under way
		for i := range sent {
			b.Notify(Notification{Kind: Done, Session: "s" + strconv.Itoa(i+1)})
		}
		// In a bubble the clock stands still unless somebody waits.
		if took := time.Since(b.began); took != 0 {
			t.Errorf("Notify took %s", took)
		}
		b.expect(Stats{Queued: maxQueue, Dropped: sent - maxQueue})
		if n := strings.Count(b.log.String(), "the oldest are dropped"); n != 1 {
			t.Errorf("that was logged %d times", n)
		}
		close(works)
		b.pass(time.Minute)
		b.expect(Stats{Sent: maxQueue, Dropped: sent - maxQueue + 1})
		newest := b.arrivals()[1:]
		for i, a := range newest {
			if want := `"session":"s` + strconv.Itoa(sent-maxQueue+i+1) + `"`; !strings.Contains(a.body, want) {
				t.Fatalf("the notification at place %d is %s, expected %s", i, a.body, want)
			}
		}
		// A queue that was empty again is worth another word.
		b.refuse(true)
		for range 2 * maxQueue {
			b.Notify(Notification{Kind: Done, Session: "s"})
		}
		if n := strings.Count(b.log.String(), "the oldest are dropped"); n != 2 {
			t.Errorf("that was logged %d times", n)
		}
	})
}

func TestClose(t *testing.T) {
	t.Run("delivers what is due", func(t *testing.T) {
		inBubble(t, statuses(200), nil, func(b *lab) {
			for range 3 {
				b.Notify(Notification{Kind: Done, Session: "s1"})
			}
			if err := b.Close(b.t.Context()); err != nil {
				t.Error(err)
			}
			b.Notify(Notification{Kind: Done, Session: "s1"})
			if err := b.Close(b.t.Context()); err != nil {
				t.Error(err)
			}
			b.expect(Stats{Sent: 3})
		})
	})
	t.Run("does not wait for another attempt", func(t *testing.T) {
		inBubble(t, statuses(500), nil, func(b *lab) {
			b.Notify(Notification{Kind: Done, Session: "s1"})
			synctest.Wait()
			b.Notify(Notification{Kind: Done, Session: "s2"})
			if err := b.Close(b.t.Context()); err == nil || err.Error() != "2 notifications were not delivered" {
				t.Errorf("the error is %v", err)
			}
			if took := time.Since(b.began); took != 0 {
				t.Errorf("it took %s", took)
			}
			if n := len(b.arrivals()); n != 2 {
				t.Errorf("there were %d attempts", n)
			}
		})
	})
	t.Run("respects a target that wants no more", func(t *testing.T) {
		inBubble(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "5")
			w.WriteHeader(http.StatusTooManyRequests)
		}, nil, func(b *lab) {
			b.Notify(Notification{Kind: Done, Session: "s1"})
			synctest.Wait()
			b.Notify(Notification{Kind: Done, Session: "s2"})
			if err := b.Close(b.t.Context()); err == nil || len(b.arrivals()) != 1 {
				t.Errorf("the error is %v after %d attempts", err, len(b.arrivals()))
			}
		})
	})
	t.Run("no longer than its context", func(t *testing.T) {
		inBubble(t, hang, nil, func(b *lab) {
			b.Notify(Notification{Kind: Done, Session: "s1"})
			ctx, cancel := context.WithTimeout(b.t.Context(), time.Second)
			defer cancel()
			if err := b.Close(ctx); err == nil || err.Error() != "1 notification was not delivered" {
				t.Errorf("the error is %v", err)
			}
			if took := time.Since(b.began); took != time.Second {
				t.Errorf("it took %s", took)
			}
			if strings.Contains(b.log.String(), "was not delivered") {
				t.Errorf("the target is blamed:\n%s", b.log.String())
			}
		})
	})
	t.Run("no targets", func(t *testing.T) {
		s, err := New(Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.Notify(Notification{Kind: Done})
		if err := s.Close(t.Context()); err != nil || len(s.Stats()) != 0 {
			t.Errorf("%v, %v", err, s.Stats())
		}
	})
}

// TestFilesAreReadAgain exchanges the key between two attempts, and takes it away
// for a while.
func TestFilesAreReadAgain(t *testing.T) {
	var path string
	inBubble(t, statuses(200), func(o *Options) { path = o.Targets[0].SecretFile }, func(b *lab) {
		if err := os.Rename(path, path+".away"); err != nil {
			t.Fatal(err)
		}
		b.Notify(Notification{Kind: Done, Session: "s1"})
		synctest.Wait()
		b.expect(Stats{Queued: 1})
		if err := os.WriteFile(path, []byte("another-key-of-the-target\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		b.pass(time.Minute)
		b.expect(Stats{Sent: 1, Retried: 1})
		a := b.arrivals()[0]
		if err := verify([]byte("another-key-of-the-target"), a.header.Get(signatureHeader), []byte(a.body), b.began.Add(a.at)); err != nil {
			t.Error(err)
		}
	})
}
