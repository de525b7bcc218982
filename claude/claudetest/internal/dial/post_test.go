package dial

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/wire"
)

// ok takes every POST.
func ok(*post) int { return http.StatusOK }

// uuids returns the uuids of the lines of a POST, or their types where they have none.
func (p *post) uuids() string {
	var words []string
	for _, l := range p.lines {
		h, err := wire.Peek([]byte(l))
		if err != nil {
			words = append(words, err.Error())
			continue
		}
		word := string(h.UUID)
		if word == "" {
			word = string(h.Type)
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// allPosted returns the POSTs so far.
func (l *lab) allPosted() []string {
	synctest.Wait()
	var all []string
	for len(l.posts) > 0 {
		all = append(all, (<-l.posts).uuids())
	}
	return all
}

// delta writes deltas with these uuids.
func delta(t *testing.T, k *Link, uuids ...string) {
	t.Helper()
	for _, uuid := range uuids {
		writeLine(t, k, line("stream_event", uuid), uuid)
	}
}

func TestPostRequest(t *testing.T) {
	for version, agent := range map[wire.Version]string{v37: "axios/1.8.4", v120: "axios/1.13.6"} {
		t.Run(version.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				l.status = ok
				token := "first"
				k := l.link(PolicyFor(version), hybrid, func(o *Options) {
					o.URL += "?q=1"
					o.Token = func() string { return token }
				})
				s := l.accept()
				token = "second"
				write(t, k, "a1")
				p := l.posted()
				want := http.Header{
					"Accept": {"application/json, text/plain, */*"}, "Accept-Encoding": {"gzip, compress, deflate, br"},
					"Authorization": {"Bearer second"}, "Content-Length": {fmt.Sprint(len(`{"events":[]}` + line("assistant", "a1")))},
					"Content-Type": {"application/json"}, "User-Agent": {agent},
				}
				if diff := cmp.Diff(want, p.header); diff != "" {
					t.Errorf("headers (-want +got): %s", diff)
				}
				if got, want := p.path, "/session/x/events?q=1"; got != want {
					t.Errorf("posted to %s, want %s", got, want)
				}
				if diff := cmp.Diff([]string{line("assistant", "a1")}, p.lines); diff != "" {
					t.Errorf("lines (-want +got): %s", diff)
				}
				s.drop()
				s = l.accept()
				if got := s.header.Get("X-Last-Request-Id"); got != "" {
					t.Errorf("X-Last-Request-Id is %q", got)
				}
				synctest.Wait()
				if len(s.in) > 0 || len(l.posts) > 0 {
					t.Errorf("%d frames and %d POSTs after a reconnect, want nothing sent again", len(s.in), len(l.posts))
				}
			})
		})
	}
}

// Which lines go together, and in what order.
func TestPostBatches(t *testing.T) {
	for _, tt := range []struct {
		name    string
		version wire.Version
		play    func(t *testing.T, k *Link)
		want    []string
	}{
		{"one line a POST", v37, func(t *testing.T, k *Link) {
			write(t, k, "a1")
			delta(t, k, "d1", "d2")
			write(t, k, "a2")
		}, []string{"a1", "d1", "d2", "a2"}},
		{"deltas wait for the next line", v120, func(t *testing.T, k *Link) {
			delta(t, k, "d1", "d2")
			write(t, k, "a1", "a2")
			delta(t, k, "d3")
			write(t, k, "a3")
		}, []string{"d1 d2 a1", "a2", "d3 a3"}},
		{"but not for long", v120, func(t *testing.T, k *Link) {
			delta(t, k, "d1")
			<-time.After(60 * time.Millisecond)
			delta(t, k, "d2")
			<-time.After(60 * time.Millisecond)
			delta(t, k, "d3")
			write(t, k, "a1")
		}, []string{"d1 d2", "d3 a1"}},
		{"each time anew", v120, func(t *testing.T, k *Link) {
			for _, uuid := range []string{"d1", "d2", "d3"} {
				delta(t, k, uuid)
				<-time.After(time.Second)
			}
			delta(t, k, "d4")
			write(t, k, "a1")
			delta(t, k, "d5")
			<-time.After(time.Second)
		}, []string{"d1", "d2", "d3", "d4 a1", "d5"}},
		{"requests in their turn", v120, func(t *testing.T, k *Link) {
			delta(t, k, "d1")
			writeLine(t, k, line("control_request", ""), "")
			writeLine(t, k, line("control_response", ""), "")
		}, []string{"d1 control_request", "control_response"}},
	} {
		t.Run(tt.version.String()+" "+tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				l.status = ok
				k := l.link(PolicyFor(tt.version), hybrid)
				l.accept()
				tt.play(t, k)
				if diff := cmp.Diff(tt.want, l.allPosted()); diff != "" {
					t.Errorf("POSTs (-want +got): %s", diff)
				}
			})
		})
	}
}

func TestPostBatchLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		k := l.link(PolicyFor(v120), hybrid)
		l.accept()
		write(t, k, "a1")
		first := l.posted()
		for i := range 1200 {
			delta(t, k, fmt.Sprint("d", i))
		}
		write(t, k, "a2")
		first.answer <- http.StatusOK
		var sizes []int
		for range 3 {
			p := l.posted()
			sizes = append(sizes, len(p.lines))
			p.answer <- http.StatusOK
		}
		if want := []int{500, 500, 201}; !slices.Equal(sizes, want) {
			t.Errorf("POSTs of %v lines, want %v", sizes, want)
		}
	})
}

// With slow answers, a 2.1.37 sends its requests before the lines that they follow.
func TestRequestsOvertake(t *testing.T) {
	for version, want := range map[wire.Version][]string{
		v37:  {"a1", "control_request", "a2", "control_response"},
		v120: {"a1", "a2", "control_request", "control_response"},
	} {
		t.Run(version.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				k := l.link(PolicyFor(version), hybrid)
				l.accept()
				write(t, k, "a1")
				first := l.posted()
				write(t, k, "a2")
				gone, err := k.Send([]byte(line("control_request", "")), "")
				if err != nil {
					t.Fatal(err)
				}
				writeLine(t, k, line("control_response", ""), "")
				synctest.Wait()
				got := []string{first.uuids()}
				overtook := len(l.posts) == 1
				if overtook {
					p := <-l.posts
					got = append(got, p.uuids())
					select {
					case <-gone:
						t.Error("the request is gone before its POST is answered")
					default:
					}
					p.answer <- http.StatusOK
					<-gone
				}
				first.answer <- http.StatusOK
				for len(got) < 4 {
					p := l.posted()
					got = append(got, p.uuids())
					p.answer <- http.StatusOK
				}
				<-gone
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("POSTs (-want +got): %s", diff)
				}
			})
		})
	}
}

// What becomes of a line whose POSTs get these answers, after which all are taken.
func TestPostAnswers(t *testing.T) {
	const s = time.Second
	repeat := func(n, status int) []int { return slices.Repeat([]int{status}, n) }
	for _, tt := range []struct {
		name     string
		version  wire.Version
		answers  []int
		tries    int // POSTs with the first line
		from, to time.Duration
		told     string
	}{
		{"taken", v37, nil, 1, 0, 0, "posted:200*1"},
		{"204", v37, repeat(1, 204), 2, s / 2, s / 2, "retrying:204*1 posted:200*1"},
		{"503 four times", v37, repeat(4, 503), 5, 7500 * time.Millisecond, 7500 * time.Millisecond, strings.Repeat("retrying:503*1 ", 4) + "posted:200*1"},
		{"cut", v37, repeat(1, 0), 2, s / 2, s / 2, "retrying*1 posted:200*1"},
		{"503 for ever", v37, repeat(10, 503), 10, 47500 * time.Millisecond, 47500 * time.Millisecond, strings.Repeat("retrying:503*1 ", 9) + "dropped:503*1"},
		{"413", v37, repeat(1, 413), 1, 0, 0, "dropped:413*1"},
		{"204", v120, repeat(1, 204), 1, 0, 0, "posted:204*1"},
		{"503 three times", v120, repeat(3, 503), 4, 3500 * time.Millisecond, 6500 * time.Millisecond, strings.Repeat("retrying:503*1 ", 3) + "posted:200*1"},
		{"503 twenty times", v120, repeat(20, 503), 21, 135 * s, 160 * s, strings.Repeat("retrying:503*1 ", 20) + "posted:200*1"},
		{"413", v120, repeat(1, 413), 1, 0, 0, "dropped:413*1"},
	} {
		t.Run(tt.version.String()+" "+tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				k := l.link(PolicyFor(tt.version), hybrid)
				l.accept()
				l.told()
				first, err := k.Send([]byte(line("assistant", "a1")), "a1")
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				answers := tt.answers
				for {
					p := l.posted()
					if p.uuids() != "a1" {
						t.Fatalf("posted %q, want a1 alone", p.uuids())
					}
					got = append(got, p.uuids())
					status := http.StatusOK
					if len(answers) > 0 {
						status, answers = answers[0], answers[1:]
					}
					p.answer <- status
					synctest.Wait()
					if over(first) {
						break
					}
				}
				if at := l.clock(); at < tt.from || at > tt.to {
					t.Errorf("done after %v, want %v to %v", at, tt.from, tt.to)
				}
				if len(got) != tt.tries {
					t.Errorf("%d tries, want %d", len(got), tt.tries)
				}
				if told := l.told(); told != tt.told {
					t.Errorf("told %q, want %q", told, tt.told)
				}
				write(t, k, "a2") // the next line goes on as if nothing had been
				if p := l.posted(); p.uuids() != "a2" {
					t.Errorf("then posted %q, want a2", p.uuids())
				} else {
					p.answer <- http.StatusOK
				}
			})
		})
	}
}

func over(gone <-chan struct{}) bool {
	select {
	case <-gone:
		return true
	default:
		return false
	}
}

// 2.1.120 waits 15 s for an answer, and what it sends then has grown. 2.1.37 waits for ever.
func TestPostNeverAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		k := l.link(PolicyFor(v120), hybrid)
		l.accept()
		delta(t, k, "d1")
		p := l.posted()
		if at, want := l.clock(), 100*time.Millisecond; p.uuids() != "d1" || at != want {
			t.Fatalf("posted %q after %v, want d1 after %v", p.uuids(), at, want)
		}
		delta(t, k, "d2", "d3")
		write(t, k, "a1", "a2")
		began := l.clock()
		p = l.posted()
		if waited := l.clock() - began; waited < 15500*time.Millisecond || waited > 16500*time.Millisecond {
			t.Errorf("posted again after %v, want 15 s and a pause", waited)
		}
		if got, want := p.uuids(), "d1 d2 d3 a1"; got != want {
			t.Errorf("posted %q, want %q", got, want)
		}
		p.answer <- http.StatusOK
		p = l.posted()
		if got, want := p.uuids(), "a2"; got != want {
			t.Errorf("then posted %q, want %q", got, want)
		}
		p.answer <- http.StatusOK
	})
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		k := l.link(PolicyFor(v37), hybrid)
		l.accept()
		write(t, k, "a1", "a2")
		p := l.posted()
		select {
		case again := <-l.posts:
			t.Errorf("posted %q while a1 waits", again.uuids())
		case <-time.After(time.Hour):
		}
		p.answer <- http.StatusOK
		p = l.posted()
		if p.uuids() != "a2" {
			t.Errorf("then posted %q, want a2", p.uuids())
		}
		p.answer <- http.StatusOK
	})
}

// A kept-alive connection that breaks: 2.1.120 sends again at once, and pauses only then.
func TestPostConnectionCut(t *testing.T) {
	for version, pauses := range map[wire.Version][2]time.Duration{v37: {500, 1500}, v120: {0, 500}} {
		t.Run(version.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				k := l.link(PolicyFor(version), hybrid)
				l.accept()
				write(t, k, "a1")
				l.posted().answer <- http.StatusOK
				synctest.Wait()
				write(t, k, "a2")
				l.posted().answer <- 0
				began := l.clock()
				l.posted().answer <- 0
				if got, want := l.clock()-began, pauses[0]*time.Millisecond; got != want {
					t.Errorf("the second try came after %v, want %v", got, want)
				}
				p := l.posted()
				if got, least := l.clock()-began, pauses[1]*time.Millisecond; got < least || got > least+time.Second {
					t.Errorf("the third try came after %v, want %v or a little more", got, least)
				}
				p.answer <- http.StatusOK
			})
		})
	}
}

// Nothing is lost with the WebSocket: lines go on being POSTed while it is down, and when it has ended.
func TestPostWithoutWebSocket(t *testing.T) {
	for _, version := range []wire.Version{v37, v120} {
		t.Run(version.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				l.status = ok
				l.upgrade = func(n int) int {
					if n > 2 {
						return http.StatusForbidden
					}
					return http.StatusSwitchingProtocols
				}
				k := l.link(PolicyFor(version), hybrid)
				s := l.accept()
				s.drop()
				synctest.Wait()
				write(t, k, "a1")
				writeLine(t, k, line("control_request", ""), "")
				l.accept().drop()
				l.ends(k)
				write(t, k, "a2")
				got := l.allPosted()
				slices.Sort(got)
				if diff := cmp.Diff([]string{"a1", "a2", "control_request"}, got); diff != "" {
					t.Errorf("POSTs (-want +got): %s", diff)
				}
			})
		})
	}
}

// Close sends what is left, however long that takes, and keeps the WebSocket until then.
func TestPostFlush(t *testing.T) {
	for _, version := range []wire.Version{v37, v120} {
		for _, kind := range []string{"assistant", "stream_event", "control_request"} {
			t.Run(version.String()+" "+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l := newLab(t)
					l.status = func(*post) int {
						if l.clock() < time.Minute {
							return http.StatusServiceUnavailable
						}
						return http.StatusOK
					}
					k := l.link(PolicyFor(version), hybrid)
					s := l.accept()
					<-time.After(30 * time.Second)
					writeLine(t, k, line(kind, ""), "")
					closed := make(chan struct{})
					go func() {
						defer close(closed)
						if err := k.Close(); err != nil {
							t.Error(err)
						}
					}()
					<-s.end
					if at := l.clock(); at < time.Minute {
						t.Errorf("the WebSocket was closed after %v, before all was sent", at)
					}
					<-closed
					told := l.told()
					if strings.Count(told, "posted") != 1 || strings.Contains(told, "dropped") {
						t.Errorf("told %q, want the line posted", told)
					}
				})
			})
		}
	}
}

// A delta that is held back is not held any longer by Close.
func TestPostFlushHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		l.status = ok
		k := l.link(PolicyFor(v120), hybrid)
		l.accept()
		delta(t, k, "d1", "d2")
		if err := k.Close(); err != nil {
			t.Error(err)
		}
		if at := l.clock(); at != 0 {
			t.Errorf("Close took %v", at)
		}
		if diff := cmp.Diff([]string{"d1 d2"}, l.allPosted()); diff != "" {
			t.Errorf("POSTs (-want +got): %s", diff)
		}
	})
}

// The end of the process: what is not yet taken is lost.
func TestPostKilled(t *testing.T) {
	for _, version := range []wire.Version{v37, v120} {
		t.Run(version.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLab(t)
				ctx, kill := context.WithCancel(t.Context())
				k := l.linkUntil(ctx, PolicyFor(version), hybrid)
				l.accept()
				l.told()
				var all []<-chan struct{}
				for _, text := range []string{line("assistant", "a1"), line("control_request", ""), line("assistant", "a2")} {
					gone, err := k.Send([]byte(text), "")
					if err != nil {
						t.Fatal(err)
					}
					all = append(all, gone)
				}
				l.posted()
				kill()
				for _, gone := range all {
					<-gone
				}
				gone, err := k.Send([]byte("{}"), "")
				if err != nil {
					t.Fatal(err)
				}
				<-gone
				if err := k.Close(); err != nil {
					t.Error(err)
				}
				if at := l.clock(); at != 0 {
					t.Errorf("it took %v", at)
				}
				if told := l.told(); strings.Contains(told, "posted") || !strings.Contains(told, "dropped") {
					t.Errorf("told %q", told)
				}
			})
		})
	}
}
