package dial

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/wire"
)

func TestDialRefuses(t *testing.T) {
	for address, want := range map[string]string{
		"http://127.0.0.1:1/x":  "Unsupported protocol: http:",
		"https://127.0.0.1:1/x": "Unsupported protocol: https:",
		"ftp://127.0.0.1:1/x":   "Unsupported protocol: ftp:",
		"ws:///secret":          "reading the address to dial: it names no host",
		"ws://bad host/secret":  "reading the address to dial: not a URL",
	} {
		_, err := Dial(t.Context(), Options{URL: address})
		if err == nil || err.Error() != want {
			t.Errorf("%s: error %v, want %q", address, err, want)
		}
		_, unsupported := errors.AsType[*UnsupportedError](err)
		if wantType := strings.HasPrefix(want, "Unsupported"); unsupported != wantType {
			t.Errorf("%s: the error is an UnsupportedError: %v, want %v", address, unsupported, wantType)
		}
	}
}

func TestUpgradeRequest(t *testing.T) {
	for _, version := range []wire.Version{v37, v120} {
		t.Run(version.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				token := "first"
				k := l.link(PolicyFor(version), func(o *Options) {
					o.Header = http.Header{"X-Environment-Runner-Version": {"7"}}
					o.Token = func() string { return token }
				})
				s := l.accept()
				for name, want := range map[string]string{
					"Authorization": "Bearer first", "X-Environment-Runner-Version": "7", "User-Agent": "", "X-Last-Request-Id": "",
					"Accept-Encoding": "", "Origin": "", "Sec-Websocket-Version": "13",
				} {
					if got := s.header.Get(name); got != want {
						t.Errorf("header %s is %q, want %q", name, got, want)
					}
				}
				if _, sent := s.header["User-Agent"]; sent {
					t.Error("a User-Agent is sent")
				}
				if got := s.header.Get("Sec-Websocket-Extensions"); !strings.HasPrefix(got, "permessage-deflate") {
					t.Errorf("offered extensions %q, want permessage-deflate", got)
				}
				write(t, k, "a1", "a2")
				writeLine(t, k, line("control_request", ""), "")
				s.expect(line("assistant", "a1"), line("assistant", "a2"), line("control_request", ""))
				token = "second"
				s.drop()
				synctest.Wait()
				write(t, k, "a3") // while it is down
				s = l.accept()
				if got := s.header.Get("X-Last-Request-Id"); got != "a3" {
					t.Errorf("X-Last-Request-Id is %q, want a3, which was written and never arrived", got)
				}
				want := "Bearer second"
				if version == v37 {
					want = "Bearer first"
				}
				if got := s.header.Get("Authorization"); got != want {
					t.Errorf("the second attempt has %q, want %q", got, want)
				}
			})
		})
	}
}

func TestNoToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.link(PolicyFor(v120), func(o *Options) { o.Token = nil })
		if got, sent := l.accept().header["Authorization"]; sent {
			t.Errorf("Authorization %q is sent without a token", got)
		}
	})
}

func TestLinesOverALoss(t *testing.T) {
	for _, tt := range []struct {
		version wire.Version
		again   []string // what comes after the reconnect
		told    string
	}{
		{v37, nil, "connected lost dropped*1 dropped*1 waiting connected"},
		{
			v120,
			[]string{line("assistant", "a1"), line("assistant", "a2"), line("assistant", "a3")},
			"connected lost dropped*1 waiting connected replayed*3",
		},
	} {
		t.Run(tt.version.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				k := l.link(PolicyFor(tt.version))
				s := l.accept()
				write(t, k, "a1")
				writeLine(t, k, line("control_request", ""), "")
				write(t, k, "a2")
				s.expect(line("assistant", "a1"), line("control_request", ""), line("assistant", "a2"))
				s.drop()
				synctest.Wait()
				write(t, k, "a3")
				writeLine(t, k, line("control_request", ""), "")
				s = l.accept()
				s.expect(tt.again...)
				write(t, k, "a4")
				s.expect(line("assistant", "a4"))
				want := strings.Fields(tt.told)
				got := strings.Fields(l.told())
				slices.Sort(want)
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Errorf("told %q, want %q", got, want)
				}
			})
		})
	}
}

// The ring is not emptied by a replay, and holds a thousand lines.
func TestRing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		k := l.link(PolicyFor(v120))
		s := l.accept()
		var all []string
		for i := range 1051 {
			uuid := fmt.Sprint("a", i)
			write(t, k, uuid)
			all = append(all, line("assistant", uuid))
		}
		s.expect(all...)
		for range 2 {
			s.drop()
			s = l.accept()
			s.expect(all[51:]...)
			synctest.Wait()
			if n := len(s.in); n > 0 {
				t.Fatalf("%d lines more than the ring holds", n)
			}
		}
	})
}

func TestEnds(t *testing.T) {
	const never = -1
	cut := 0
	first := func(n, then int) func(int) int {
		return func(i int) int {
			if i <= n {
				return http.StatusSwitchingProtocols
			}
			return then
		}
	}
	for _, tt := range []struct {
		name     string
		version  wire.Version
		upgrade  func(int) int
		code     websocket.StatusCode // with which the first connection is closed, 0 to cut it
		from, to time.Duration        // when the link ends
		attempts int
	}{
		{"first attempt refused", v37, first(0, 503), 0, 2 * time.Second, 2 * time.Second, 2},
		{"first attempt cut", v37, first(0, cut), 0, 2 * time.Second, 2 * time.Second, 2},
		{"later refused", v37, first(1, 403), 0, 5 * time.Second, 5 * time.Second, 3},
		{"later redirected", v37, first(1, 302), 0, 5 * time.Second, 5 * time.Second, 3},
		{"later cut", v37, first(1, cut), 1012, 5 * time.Second, 5 * time.Second, 3},
		{"4001", v37, nil, 4001, never, 0, 2},
		{"4003", v37, nil, 4003, never, 0, 2},
		{"1002", v37, nil, 1002, never, 0, 2},
		{"1000", v37, nil, 1000, never, 0, 2},
		{"cut", v37, nil, 0, never, 0, 2},

		{"first attempt refused", v120, first(0, 503), 0, 0, 0, 1},
		{"first attempt redirected", v120, first(0, 302), 0, 0, 0, 1},
		{"first attempt cut", v120, first(0, cut), 0, 600 * time.Second, 640 * time.Second, 0},
		{"later refused", v120, first(1, 401), 0, 750 * time.Millisecond, 1250 * time.Millisecond, 2},
		{"later cut", v120, first(1, cut), 0, 600 * time.Second, 640 * time.Second, 0},
		{"4001", v120, nil, 4001, 0, 0, 1},
		{"4003", v120, nil, 4003, 0, 0, 1},
		{"1002", v120, nil, 1002, 0, 0, 1},
		{"1000", v120, nil, 1000, never, 0, 2},
		{"1001", v120, nil, 1001, never, 0, 2},
		{"1012", v120, nil, 1012, never, 0, 2},
		{"4002", v120, nil, 4002, never, 0, 2},
		{"cut", v120, nil, 0, never, 0, 2},
	} {
		t.Run(tt.version.String()+" "+tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				l.upgrade = tt.upgrade
				k := l.link(PolicyFor(tt.version))
				if tt.upgrade == nil || tt.upgrade(1) == http.StatusSwitchingProtocols {
					s := l.accept()
					if tt.code == 0 {
						s.drop()
					} else if err := s.Close(tt.code, ""); err != nil && websocket.CloseStatus(err) != tt.code {
						t.Errorf("closing: %v", err)
					}
				}
				if tt.from == never {
					l.accept()
					tried := l.tried()
					if pause := tried[1] - tried[0]; pause < 750*time.Millisecond || pause > 1250*time.Millisecond {
						t.Errorf("came back after %v", pause)
					}
				} else if at := l.ends(k); at < tt.from || at > tt.to {
					t.Errorf("ended after %v, want %v to %v", at, tt.from, tt.to)
				}
				if n := len(l.tried()); tt.attempts > 0 && n != tt.attempts {
					t.Errorf("%d attempts, want %d", n, tt.attempts)
				}
			})
		})
	}
}

// A port that is closed for a while: 2.1.37 is back if that is short enough.
func TestPortClosedForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		k := l.link(PolicyFor(v37))
		s := l.accept()
		l.net.refuse(true)
		s.drop()
		time.AfterFunc(4*time.Second, func() { l.net.refuse(false) })
		s = l.accept()
		if at := l.clock(); at != 5*time.Second {
			t.Errorf("back after %v, want 5 s", at)
		}
		s.send("hello\n")
		if got, err := k.Read(t.Context()); err != nil || string(got) != "hello\n" {
			t.Errorf("read %q, %v", got, err)
		}
	})
}

func TestRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		k := l.link(PolicyFor(v120))
		s := l.accept()
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if got, err := k.Read(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("read %q, %v; want nothing", got, err)
		}
		frames := []string{"one\ntwo\n", "thr", "ee\n", "", "\n", strings.Repeat("x", 100_000)}
		for _, f := range frames {
			s.send(f)
		}
		if err := s.Write(t.Context(), websocket.MessageBinary, []byte("binary\n")); err != nil {
			t.Fatal(err)
		}
		s.drop()
		s = l.accept()
		s.send("after a reconnect\n")
		if err := s.Close(4001, ""); err != nil && websocket.CloseStatus(err) != 4001 {
			t.Error(err)
		}
		for i, want := range append(frames, "binary\n", "after a reconnect\n") {
			got, err := k.Read(t.Context())
			if err != nil || string(got) != want {
				t.Fatalf("read %d: %.100q, %v; want %.100q", i, got, err, want)
			}
		}
		for range 2 {
			if got, err := k.Read(t.Context()); !errors.Is(err, io.EOF) {
				t.Fatalf("read %q, %v after the end", got, err)
			}
		}
		writeLine(t, k, "{}", "") // lost, and no error: a CLI never hears of it
	})
}

// Nothing limits how long a server may take to answer an upgrade.
func TestUpgradeNeverAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		release := make(chan struct{})
		l.upgrade = func(int) int { <-release; return 0 }
		defer close(release)
		k := l.link(PolicyFor(v120))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if _, err := k.Read(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("the link ended: %v", err)
		}
		write(t, k, "a1") // does not wait
		if err := k.Close(); err != nil {
			t.Error(err)
		}
		if at := l.clock(); at != time.Hour {
			t.Errorf("Close took %v", at-time.Hour)
		}
	})
}

func TestPing(t *testing.T) {
	for _, tt := range []struct {
		version wire.Version
		code    websocket.StatusCode
	}{{v37, websocket.StatusNoStatusRcvd}, {v120, websocket.StatusNormalClosure}} {
		t.Run(tt.version.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				k := l.link(PolicyFor(tt.version))
				s := l.accept()
				ctx, cancel := context.WithTimeout(t.Context(), 290*time.Second)
				defer cancel()
				if _, err := k.Read(ctx); !errors.Is(err, context.DeadlineExceeded) {
					t.Fatalf("the link ended: %v", err)
				}
				if n := len(l.tried()); n != 1 {
					t.Fatalf("%d attempts on a healthy connection", n)
				}
				l.mute.Store(true)
				s.drop()
				s = l.accept()
				back := l.clock()
				if err := <-s.end; websocket.CloseStatus(err) != tt.code {
					t.Errorf("a mute server was left with %v, want code %d", err, tt.code)
				}
				if got := l.clock() - back; got != 20*time.Second {
					t.Errorf("a mute server was left after %v, want 20 s", got)
				}
				l.accept()
				if got := l.clock() - back; got < 20750*time.Millisecond || got > 21250*time.Millisecond {
					t.Errorf("back after %v", got)
				}
				if told := l.told(); !strings.Contains(told, "connected lost waiting connected") {
					t.Errorf("told %q", told)
				}
			})
		})
	}
}

func TestKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		for _, version := range []wire.Version{v37, v120} {
			for _, change := range []func(*Options){func(*Options) {}, hybrid} {
				k := l.link(PolicyFor(version), change)
				began := l.clock()
				s := l.accept()
				select {
				case got := <-s.in:
					if at := l.clock() - began; version == v37 || got != keepAlive || at != 300*time.Second {
						t.Errorf("%v: got %q after %v", version, got, at)
					}
				case <-time.After(310 * time.Second):
					if version == v120 {
						t.Errorf("%v: no keep_alive", version)
					}
				}
				if err := k.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	})
}

func TestClose(t *testing.T) {
	for _, tt := range []struct {
		version wire.Version
		code    websocket.StatusCode
	}{{v37, websocket.StatusNoStatusRcvd}, {v120, websocket.StatusNormalClosure}} {
		t.Run(tt.version.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				k := l.link(PolicyFor(tt.version))
				s := l.accept()
				write(t, k, "a1", "a2", "a3")
				for range 2 {
					if err := k.Close(); err != nil {
						t.Error(err)
					}
				}
				s.expect(line("assistant", "a1"), line("assistant", "a2"), line("assistant", "a3"))
				if err := <-s.end; websocket.CloseStatus(err) != tt.code {
					t.Errorf("closed with %v, want %d", err, tt.code)
				}
				if err := k.Write([]byte("{}"), ""); !errors.Is(err, net.ErrClosed) {
					t.Errorf("writing after Close: %v", err)
				}
				if _, err := k.Send([]byte("{}"), ""); !errors.Is(err, net.ErrClosed) {
					t.Errorf("sending after Close: %v", err)
				}
				l.ends(k)
			})
		})
	}
}

// A server that does not read keeps Close only for a while.
func TestCloseWithoutAnAnswer(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lines []string
		want  time.Duration
	}{{"nothing to send", nil, 100 * time.Millisecond}, {"lines to send", []string{"a1", "a2"}, 5 * time.Second}} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				l.deaf.Store(true)
				k := l.link(PolicyFor(v120))
				l.accept()
				write(t, k, tt.lines...)
				began := l.clock()
				if err := k.Close(); err != nil {
					t.Error(err)
				}
				if took := l.clock() - began; took != tt.want {
					t.Errorf("Close took %v, want %v", took, tt.want)
				}
			})
		})
	}
}

func TestCloseBetweenAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		k := l.link(PolicyFor(v120))
		s := l.accept()
		l.net.refuse(true)
		s.drop()
		synctest.Wait()
		gone, err := k.Send([]byte(line("control_request", "")), "")
		if err != nil {
			t.Fatal(err)
		}
		<-gone // lost
		began := l.clock()
		if err := k.Close(); err != nil {
			t.Error(err)
		}
		if took := l.clock() - began; took != 0 {
			t.Errorf("Close took %v", took)
		}
		l.ends(k)
	})
}

// The end of the context is the end of the process: no close frame, and nothing is waited for.
func TestKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		ctx, kill := context.WithCancel(t.Context())
		k := l.linkUntil(ctx, PolicyFor(v120))
		s := l.accept()
		kill()
		l.ends(k)
		if err := <-s.end; websocket.CloseStatus(err) >= 0 {
			t.Errorf("a close frame came: %v", err)
		}
		write(t, k, "a1") // nobody hears it, and that is no error
		if err := k.Close(); err != nil {
			t.Error(err)
		}
		if at := l.clock(); at != 0 {
			t.Errorf("it took %v", at)
		}
	})
}

// A server that stops reading holds no Write up.
func TestStalledServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.deaf.Store(true)
		k := l.link(PolicyFor(v37))
		l.accept()
		big := `{"type":"assistant","text":"` + strings.Repeat("x", 1<<20) + `"}`
		for range 10 {
			writeLine(t, k, big, "u")
		}
		if at := l.clock(); at != 0 {
			t.Errorf("writing took %v", at)
		}
		l.accept() // after a while it gives the connection up
		if told := l.told(); !strings.Contains(told, "dropped*") {
			t.Errorf("told %q, want that lines were dropped", told)
		}
	})
}

func TestEventsURL(t *testing.T) {
	for address, want := range map[string]string{
		"ws://h:1":                          "http://h:1/events",
		"ws://h:1/":                         "http://h:1/events",
		"ws://h:1/x":                        "http://h:1/x/events",
		"ws://h:1/ws":                       "http://h:1/ws/events",
		"ws://h:1/ws/":                      "http://h:1/session/events",
		"ws://h:1/ws/x":                     "http://h:1/session/x/events",
		"ws://h:1/ws/x/":                    "http://h:1/session/x/events",
		"ws://h:1/ws/cli/ID":                "http://h:1/session/cli/ID/events",
		"ws://h:1/a/ws/b":                   "http://h:1/a/session/b/events",
		"ws://h:1/ws/a/ws/b":                "http://h:1/session/a/ws/b/events",
		"ws://h:1/v2/session_ingress/ws/ID": "http://h:1/v2/session_ingress/session/ID/events",
		"wss://h/ws/x?a=1&b=%20":            "https://h/session/x/events?a=1&b=%20",
		"ws://h/ws/a%2Fb":                   "http://h/session/a%2Fb/events",
	} {
		u, err := parse(address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		if got := eventsURL(u).String(); got != want {
			t.Errorf("%s: lines are posted to %s, want %s", address, got, want)
		}
		if got := u.String(); got != address {
			t.Errorf("%s became %s", address, got)
		}
	}
}
