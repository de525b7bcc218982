package shim

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/internal/sandbox"
	"github.com/switchboard-dev/switchboard/internal/sandbox/netproxy"
	"github.com/switchboard-dev/switchboard/wire"
)

// A reaching is a line for a CLI that reaches for hosts.
type reaching struct {
	Type  string `json:"type"`
	Proxy string `json:"proxy,omitempty"` // if empty, that of the environment
	Host  string `json:"host"`
	Code  int    `json:"code,omitempty"`
	Text  string `json:"text,omitempty"`
}

// reach is the CLI: for each line it asks the proxy for a host, without waiting
// for the one before, and writes what became of it. Other lines it sends back.
func reach() int {
	var all sync.WaitGroup
	var mu sync.Mutex
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r reaching
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil || r.Host == "" {
			mu.Lock()
			fmt.Println(lines.Text())
			mu.Unlock()
			continue
		}
		all.Go(func() {
			r.Type = "user"
			r.Code, r.Text = tunnel(r.Proxy, r.Host)
			data, _ := json.Marshal(r)
			mu.Lock()
			defer mu.Unlock()
			fmt.Println(string(data))
		})
	}
	return 0
}

// tunnel sends a CONNECT and returns the answer.
func tunnel(proxy, host string) (int, string) {
	if proxy == "" {
		u, err := url.Parse(os.Getenv("HTTPS_PROXY"))
		if err != nil || u.Host == "" {
			return 0, "there is no proxy"
		}
		proxy = u.Host
	}
	conn, err := net.Dial("tcp", proxy)
	if err != nil {
		return 0, err.Error()
	}
	defer conn.Close()
	_, _ = fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", host, host)
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodConnect})
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	text := []byte{}
	if response.StatusCode != http.StatusOK {
		text, _ = io.ReadAll(response.Body)
	}
	return response.StatusCode, string(text)
}

// A direct enforcer holds nothing back: it starts the command as it is.
type direct struct{ err error }

func (direct) Name() string                     { return "direct" }
func (direct) Check(context.Context) error      { return nil }
func (direct) Limits(*sandbox.Profile) []string { return nil }

func (d direct) Wrap(_ *sandbox.Profile, c sandbox.Command) (sandbox.Command, error) { return c, d.err }

// A lab is a shim whose CLI is in a sandbox that is made up but for its network.
type sandboxLab struct {
	t     *testing.T
	hub   *testHub
	proxy string
	shim  *running
	next  int64

	mu    sync.Mutex
	dials []string
}

func newSandboxLab(t *testing.T, p sandbox.Profile) *sandboxLab {
	t.Helper()
	inside, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &sandboxLab{t: t, hub: newHub(t), proxy: inside.Addr().String()}
	spec := newSpec(t, l.hub.socket, "reacher", "")
	spec.Command.Env = append(spec.Command.Env, "API_TOKEN=not-for-people")
	p.Enforcer = "direct"
	if p.Network == "" {
		p.Network = sandbox.NetworkListed
	}
	spec.Sandbox = &p
	l.shim = start(t, spec, &Env{
		enforcer: func(*sandbox.Profile) (sandbox.Enforcer, error) { return direct{}, nil },
		receive: func(*os.File) (*sandbox.Listeners, error) {
			return &sandbox.Listeners{Proxy: inside}, nil
		},
		network: func(c *netproxy.Config) {
			c.Lookup = func(context.Context, string) ([]netip.Addr, error) {
				return []netip.Addr{netip.MustParseAddr("93.184.216.34")}, nil
			}
			c.Dial = func(_ context.Context, _, address string) (net.Conn, error) {
				l.mu.Lock()
				defer l.mu.Unlock()
				l.dials = append(l.dials, address)
				here, there := net.Pipe()
				_ = there.Close()
				return here, nil
			}
		},
	})
	return l
}

// say sends the CLI a line and returns its number.
func (l *sandboxLab) say(line string) int64 {
	l.t.Helper()
	l.next++
	l.hub.command(l.next, line)
	return l.next
}

func (l *sandboxLab) reach(host string) {
	l.t.Helper()
	l.say(fmt.Sprintf(`{"type":"user","proxy":%q,"host":%q}`, l.proxy, host))
}

// question waits for the n-th question of the shim's.
func (l *sandboxLab) question(n int) *wire.ControlRequest {
	l.t.Helper()
	var found *wire.ControlRequest
	l.hub.wait("a question", func() bool {
		seen := 0
		for _, line := range l.hub.linesLocked() {
			m, err := wire.Decode([]byte(line))
			if r, ok := m.(*wire.ControlRequest); ok && err == nil {
				if seen++; seen == n {
					found = r
				}
			}
		}
		return found != nil
	})
	return found
}

// outcome waits for what has become of a host.
func (l *sandboxLab) outcome(host string) reaching {
	l.t.Helper()
	var found reaching
	l.hub.wait("the outcome of "+host, func() bool {
		for _, line := range l.hub.linesLocked() {
			var r reaching
			if json.Unmarshal([]byte(line), &r) == nil && r.Host == host && (r.Code != 0 || r.Text != "") {
				found = r
			}
		}
		return found.Host != ""
	})
	return found
}

// answer answers a question as the hub does.
func (l *sandboxLab) answer(q *wire.ControlRequest, r wire.PermissionResult) int64 {
	l.t.Helper()
	line, err := wire.NewPermission(q, r)
	if err != nil {
		l.t.Fatal(err)
	}
	return l.say(string(line))
}

func (l *sandboxLab) refusals() []api.SandboxRefusal {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	return refusalsOf(l.t, l.hub.records)
}

func refusalsOf(t *testing.T, records []link.Record) (list []api.SandboxRefusal) {
	t.Helper()
	for _, r := range records {
		if r.Kind != link.Happened {
			continue
		}
		e, err := link.ParseEvent(r.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		if e.Event == link.EventRefused {
			var refusal api.SandboxRefusal
			if err := json.Unmarshal(e.Refusal, &refusal); err != nil {
				t.Fatal(err)
			}
			list = append(list, refusal)
		}
	}
	return list
}

// TestSandboxQuestion has a program reach for hosts that no list has: the hub is
// asked, and its answers go to the proxy and not to the CLI.
func TestSandboxQuestion(t *testing.T) {
	l := newSandboxLab(t, sandbox.Profile{Mode: sandbox.Strict, AskHosts: true, AllowHosts: []string{"known.test"}, DenyHosts: []string{"evil.test"}})
	l.reach("known.test:443")
	if got := l.outcome("known.test:443"); got.Code != 200 {
		t.Errorf("a known host: %+v", got)
	}
	l.reach("first.test:443")
	q := l.question(1)
	ask, ok := q.Request.(*wire.CanUseToolRequest)
	if !ok || ask.ToolName != "SandboxNetworkAccess" || !strings.HasPrefix(q.RequestID, "sandbox-") || ask.ToolUseID == "" {
		t.Fatalf("asked %+v", q)
	}
	var input networkInput
	if err := json.Unmarshal(ask.Input, &input); err != nil || input.Host != "first.test" || input.Port != 443 {
		t.Errorf("input %s: %v", ask.Input, err)
	}
	// A hub that is restarted meanwhile has the question, and answers it.
	l.hub.restart(0)
	number := l.answer(q, &wire.Allow{})
	l.hub.written(number)
	if got := l.outcome("first.test:443"); got.Code != 200 {
		t.Errorf("allowed: %+v", got)
	}
	l.reach("second.test:22")
	l.answer(l.question(2), &wire.Deny{Message: "Not today."})
	if got := l.outcome("second.test:22"); got.Code != 403 || got.Text != "Switchboard's sandbox refused the connection to second.test:22: Not today.\n" {
		t.Errorf("denied: %+v", got)
	}
	l.reach("evil.test:443")
	if got := l.outcome("evil.test:443"); got.Code != 403 {
		t.Errorf("denied by a rule: %+v", got)
	}
	// An answer that comes twice, or too late, is nothing for the CLI either.
	l.hub.written(l.answer(q, &wire.Allow{}))
	l.say(`{"type":"system","last":true}`)
	l.hub.wait("the last line", func() bool {
		return slices.ContainsFunc(l.hub.linesLocked(), func(line string) bool { return strings.Contains(line, `"last"`) })
	})
	for _, line := range l.hub.lines() {
		if strings.Contains(line, "control_response") {
			t.Errorf("the CLI was given %s", line)
		}
	}
	got := l.refusals()
	if len(got) != 2 || got[0].Host != "second.test" || got[0].Port != 22 || got[0].Reason != "Not today." || got[0].Kind != "network" || got[1].Host != "evil.test" {
		t.Errorf("refusals: %+v", got)
	}
	l.hub.check()
}

// TestForgedQuestion has a CLI write what looks like a question of the shim's:
// the answer goes to the CLI.
func TestForgedQuestion(t *testing.T) {
	l := newSandboxLab(t, sandbox.Profile{Mode: sandbox.Strict, AskHosts: true})
	forged := `{"type":"control_request","request_id":"sandbox-aaaa-1","request":{"subtype":"can_use_tool","tool_name":"SandboxNetworkAccess","input":{"host":"evil.test","port":443},"tool_use_id":"t"}}`
	l.say(forged) // it sends that back
	q := l.question(1)
	l.answer(q, &wire.Allow{})
	l.hub.wait("the CLI has its answer", func() bool {
		return slices.ContainsFunc(l.hub.linesLocked(), func(line string) bool { return strings.Contains(line, "control_response") })
	})
	l.reach("evil.test:443")
	l.answer(l.question(2), &wire.Deny{})
	if got := l.outcome("evil.test:443"); got.Code != 403 {
		t.Errorf("a forged question has opened a host: %+v", got)
	}
	// Nor can it withdraw a question whose id it does not know.
	if id := l.question(2).RequestID; len(id) < len("sandbox-")+26 {
		t.Errorf("the id %q can be guessed", id)
	}
}

// TestSandboxEnds has the CLI end while a question is open: it is withdrawn, and
// the end is the last that the hub hears.
func TestSandboxEnds(t *testing.T) {
	l := newSandboxLab(t, sandbox.Profile{Mode: sandbox.Strict, AskHosts: true})
	l.reach("first.test:443")
	q := l.question(1)
	l.hub.tell(&link.Stop{Reason: "enough"})
	l.hub.event(link.EventExited)
	if code := l.shim.wait(); code != exitDone {
		t.Errorf("the shim ended with %d", code)
	}
	lines := l.hub.lines()
	want := fmt.Sprintf(`{"type":"control_cancel_request","request_id":%q}`, q.RequestID)
	if !slices.Contains(lines, want) {
		t.Errorf("lines %q, without %s", lines, want)
	}
	l.hub.mu.Lock()
	last, err := link.ParseEvent(l.hub.records[len(l.hub.records)-1].Bytes)
	l.hub.mu.Unlock()
	if err != nil || last.Event != link.EventExited {
		t.Errorf("the last record is %+v (%v)", last, err)
	}
	l.hub.check()
}

// TestUnknownHosts has the modes that ask nothing.
func TestUnknownHosts(t *testing.T) {
	for _, c := range []struct {
		profile sandbox.Profile
		code    int
	}{
		{sandbox.Profile{Mode: sandbox.DenyOnly, DenyHosts: []string{"evil.test"}}, 200},
		{sandbox.Profile{Mode: sandbox.Strict}, 403},
		{sandbox.Profile{Mode: sandbox.Strict, Network: sandbox.NetworkNone, AskHosts: true}, 403},
	} {
		l := newSandboxLab(t, c.profile)
		l.reach("first.test:443")
		if got := l.outcome("first.test:443"); got.Code != c.code {
			t.Errorf("%+v: %+v", c.profile, got)
		}
	}
}

// TestNoSandbox has an enforcer that fails: the CLI is not started without it.
func TestNoSandbox(t *testing.T) {
	failing := errors.New("this kernel has no namespaces")
	for name, env := range map[string]*Env{
		"no enforcer": {enforcer: func(*sandbox.Profile) (sandbox.Enforcer, error) { return nil, failing }},
		"wrap":        {enforcer: func(*sandbox.Profile) (sandbox.Enforcer, error) { return direct{failing}, nil }},
	} {
		t.Run(name, func(t *testing.T) {
			hub := newHub(t)
			spec := newSpec(t, hub.socket, "echo", "")
			spec.Sandbox = &sandbox.Profile{Mode: sandbox.Strict, Enforcer: "direct", Network: sandbox.NetworkListed}
			env.start = func(context.Context, *claude.Command) (agent, error) {
				t.Error("the CLI was started")
				return nil, failing
			}
			r := start(t, spec, env)
			if e := hub.event(link.EventExited); !strings.Contains(e.Reason, failing.Error()) || !e.Silent {
				t.Errorf("exited: %+v", e)
			}
			r.wait()
		})
	}
}

// TestSandboxAgain has an enforcer that fails at first, as when a path that it is to
// hide vanishes while it works: the CLI is started all the same, and the hub hears of
// one process only. One that goes on failing is told with what it said.
func TestSandboxAgain(t *testing.T) {
	for name, test := range map[string]struct{ failures int }{"twice": {2}, "always": {sandboxAttempts}} {
		t.Run(name, func(t *testing.T) {
			hub := newHub(t)
			spec := newSpec(t, hub.socket, "echo", "")
			spec.Sandbox = &sandbox.Profile{Mode: sandbox.Strict, Enforcer: "direct", Network: sandbox.NetworkAll}
			wraps := 0
			r := start(t, spec, &Env{
				enforcer: func(*sandbox.Profile) (sandbox.Enforcer, error) {
					if wraps++; wraps <= test.failures {
						return failing{}, nil
					}
					return direct{}, nil
				},
				receive: func(*os.File) (*sandbox.Listeners, error) {
					if wraps <= test.failures {
						return nil, io.ErrUnexpectedEOF
					}
					return &sandbox.Listeners{}, nil
				},
			})
			if test.failures == sandboxAttempts {
				if e := hub.event(link.EventExited); !strings.Contains(e.Reason+e.Stderr, "no such mount") || !e.Silent {
					t.Errorf("exited: %+v", e)
				}
			} else {
				hub.command(1, `{"type":"user","n":1}`)
				hub.wait("its echo", func() bool { return len(hub.linesLocked()) == 1 })
				hub.tell(&link.Stop{Reason: "done"})
			}
			r.wait()
			if want := min(test.failures+1, sandboxAttempts); wraps != want {
				t.Errorf("%d attempts, expected %d", wraps, want)
			}
		})
	}
}

// A failing enforcer ends before the CLI is reached.
type failing struct{ direct }

func (failing) Wrap(_ *sandbox.Profile, c sandbox.Command) (sandbox.Command, error) {
	c.Args = []string{"/bin/sh", "-c", "echo no such mount >&2; exit 1"}
	return c, nil
}

// TestOutside has a sandbox whose network is the machine's own: the shim opens the
// proxy's port, and every client of it must show the credential that the CLI has.
func TestOutside(t *testing.T) {
	hub := newHub(t)
	spec := newSpec(t, hub.socket, "echo", "")
	spec.Sandbox = &sandbox.Profile{Mode: sandbox.DenyOnly, Enforcer: sandbox.Seatbelt, Network: sandbox.NetworkListed, DenyHosts: []string{"denied.test"}}
	seen := make(chan sandbox.Command, 1)
	r := start(t, spec, &Env{enforcer: func(*sandbox.Profile) (sandbox.Enforcer, error) { return recording{commands: seen}, nil }})
	hub.event(link.EventStarted)
	command := <-seen
	if len(command.Files) > 0 {
		t.Errorf("the CLI gets the files %v", command.Files)
	}
	i := slices.IndexFunc(command.Env, func(entry string) bool { return strings.HasPrefix(entry, "HTTPS_PROXY=") })
	proxy, err := url.Parse(strings.TrimPrefix(command.Env[i], "HTTPS_PROXY="))
	if err != nil {
		t.Fatal(err)
	}
	status := func(u *url.URL) string {
		t.Helper()
		client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(u), DisableKeepAlives: true}}
		response, err := client.Get("http://denied.test/")
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		return response.Status
	}
	if got := status(proxy); !strings.HasPrefix(got, "403") {
		t.Errorf("a denied host: %s", got)
	}
	if got := status(&url.URL{Scheme: "http", Host: proxy.Host}); !strings.HasPrefix(got, "407") {
		t.Errorf("without the credential: %s", got)
	}
	hub.tell(&link.Stop{Reason: "done"})
	r.wait()
	if conn, err := net.Dial("tcp", proxy.Host); err == nil {
		conn.Close()
		t.Error("the port is still open")
	}
}

// A recording enforcer tells what it was to wrap.
type recording struct {
	direct
	commands chan sandbox.Command
}

func (r recording) Wrap(_ *sandbox.Profile, c sandbox.Command) (sandbox.Command, error) {
	r.commands <- c
	return c, nil
}

// TestAskWithoutHub has no hub: a question waits for a minute, is withdrawn, and
// both are kept for the next hub.
func TestAskWithoutHub(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCarrier(link.Hello{}, link.NewOutgoing(0, 0), noHub, discard())
		a := newAsker(c)
		began := time.Now()
		verdict, _, err := a.ask(t.Context(), netproxy.Request{Host: "first.test", Port: 443})
		if verdict != netproxy.Refuse || !errors.Is(err, errHubAway) || time.Since(began) != hubAway {
			t.Errorf("%v %v after %s", verdict, err, time.Since(began))
		}
		// One that has a hub waits for as long as it takes, and for a minute after
		// that is lost.
		c.update(func() { c.connected = true })
		began = time.Now()
		time.AfterFunc(10*time.Hour+17*time.Second, func() { c.update(func() { c.connected, c.lost = false, time.Now() }) })
		if _, _, err = a.ask(t.Context(), netproxy.Request{Host: "first.test", Port: 443}); !errors.Is(err, errHubAway) {
			t.Error(err)
		}
		if got := time.Since(began); got != 10*time.Hour+17*time.Second+hubAway {
			t.Errorf("waited for %s", got)
		}
		// A client that gives up.
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		c.update(func() { c.connected = true })
		if _, _, err = a.ask(ctx, netproxy.Request{Host: "first.test", Port: 443}); !errors.Is(err, errEnded) {
			t.Error(err)
		}
		var kinds []string
		for r := range c.out.Unacked() {
			h, err := wire.Peek(r.Bytes)
			if err != nil || r.Kind != link.Line {
				t.Fatal(r, err)
			}
			kinds = append(kinds, string(h.Type))
		}
		want := slices.Repeat([]string{"control_request", "control_cancel_request"}, 3)
		if !slices.Equal(kinds, want) || len(a.open) != 0 {
			t.Errorf("lines %v, open %v", kinds, a.open)
		}
	})
}

// TestAnswers reads answers of all kinds: only a plain allowance is one.
func TestAnswers(t *testing.T) {
	for body, want := range map[string]netproxy.Verdict{
		`"subtype":"success","request_id":"r","response":{"behavior":"allow","updatedInput":{}}`: netproxy.Allow,
		`"subtype":"success","request_id":"r","response":{"behavior":"deny","message":"m"}`:      netproxy.Refuse,
		`"subtype":"success","request_id":"r","response":{"behavior":"tomorrow"}`:                netproxy.Refuse,
		`"subtype":"success","request_id":"r","response":{}`:                                     netproxy.Refuse,
		`"subtype":"success","request_id":"r"`:                                                   netproxy.Refuse,
		`"subtype":"error","request_id":"r","error":"no"`:                                        netproxy.Refuse,
	} {
		if got, reason, err := readAnswer([]byte(`{"type":"control_response","response":{` + body + `}}`)); got != want {
			t.Errorf("%s: %v %q %v", body, got, reason, err)
		}
	}
}

// TestRefusalsAreFolded has many refusals: the hub is told at once, and then how
// many followed.
func TestRefusalsAreFolded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCarrier(link.Hello{}, link.NewOutgoing(0, 0), noHub, discard())
		r := newRefusals(c)
		for range 5 {
			r.add(netproxy.Request{Host: "a.test", Port: 443}, "no")
		}
		r.add(netproxy.Request{Host: "b.test", Port: 443}, "no")
		told := func() (hosts []string, counts []int) {
			c.mu.Lock()
			defer c.mu.Unlock()
			for _, refusal := range refusalsOf(t, slices.Collect(c.out.Unacked())) {
				hosts, counts = append(hosts, refusal.Host), append(counts, refusal.Count)
			}
			return hosts, counts
		}
		if hosts, _ := told(); !slices.Equal(hosts, []string{"a.test", "b.test"}) {
			t.Errorf("told at once: %v", hosts)
		}
		time.Sleep(foldRefusals)
		synctest.Wait()
		if hosts, counts := told(); !slices.Equal(hosts, []string{"a.test", "b.test", "a.test"}) || counts[2] != 4 {
			t.Errorf("told after %s: %v %v", foldRefusals, hosts, counts)
		}
		for i := range 2 * maxRefusals {
			r.add(netproxy.Request{Host: fmt.Sprintf("%d.test", i), Port: 443}, "no")
		}
		r.close()
		if hosts, counts := told(); len(hosts) != 3+maxRefusals+2 || counts[len(counts)-1] != maxRefusals-1 {
			t.Errorf("told of %d, the last one counts %d", len(hosts), counts[len(counts)-1])
		}
		r.add(netproxy.Request{Host: "late.test"}, "no")
		r.close()
	})
}

// TestRefusalsBeforeResult has refusals that are still being counted when the call
// ends: the hub is told before it gets the call's result.
func TestRefusalsBeforeResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCarrier(link.Hello{}, link.NewOutgoing(0, 0), noHub, discard())
		s := &shim{carrier: c, box: &confinement{refusals: newRefusals(c)}}
		refuse := func() { s.box.refusals.add(netproxy.Request{Host: "a.test", Port: 443}, "no") }
		s.keepLines([][]byte{[]byte(`{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}`)})
		for range 3 {
			refuse()
		}
		s.keepLines([][]byte{[]byte(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"no"}]}}`)})
		refuse() // in another call, and so told at once
		time.Sleep(foldRefusals)
		synctest.Wait()
		var got []string
		for record := range c.out.Unacked() {
			if list := refusalsOf(t, []link.Record{record}); len(list) > 0 {
				got = append(got, fmt.Sprint("refused ", list[0].Count))
			} else {
				got = append(got, "line")
			}
		}
		if want := []string{"line", "refused 0", "refused 2", "line", "refused 0"}; !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
	})
}

func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"curl", "https://example.com"}, "curl https://example.com"},
		{[]string{"sh", "-c", "echo hi"}, "sh -c 'echo hi'"},
		{[]string{"curl", "-u", "me:secret", "x"}, "curl -u [redacted] x"},
		{[]string{"psql", "--password=secret"}, "psql --password=[redacted]"},
		{[]string{"gh", "--token", "secret", "pr"}, "gh --token [redacted] pr"},
		{[]string{"a\x1b[31mb", "\xff"}, "a [31mb ?"},
		{nil, ""},
	} {
		if got := commandLine(c.args, newFakeAgent()); got != c.want {
			t.Errorf("%q: %q, want %q", c.args, got, c.want)
		}
	}
	if got := commandLine(slices.Repeat([]string{strings.Repeat("ä", 5000)}, 100), newFakeAgent()); len(got) > maxCommandLine+3 {
		t.Errorf("%d bytes", len(got))
	}
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }
