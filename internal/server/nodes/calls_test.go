//go:build linux || darwin

package nodes

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/node"
)

// started is the outcome of a start.
type started struct {
	launched *hub.Launched
	err      error
}

// begin begins a start in another goroutine.
func (l *lab) begin(m *machine, spec hub.LaunchSpec) <-chan started {
	done := make(chan started, 1)
	go func() {
		launched, err := l.nodes.Launcher(m.id).Start(l.t.Context(), spec)
		done <- started{launched, err}
	}()
	return done
}

// TestStartIsRepeated: a start whose answer was lost is asked again, over every new
// connection and with the same body, until it is answered.
func TestStartIsRepeated(t *testing.T) {
	l := newLab(t, labSetup{})
	m := l.enroll(api.InviteNode{Name: "gpu-1"})
	m.connect()
	spec := hub.LaunchSpec{Session: "s1", Run: 2, Token: "sbr_s1_2_verysecret", Marker: "s1.2.x", Dir: "/work", Options: api.SessionOptions{Env: map[string]string{"KEY": "envsecret"}}}
	l.secrets = append(l.secrets, spec.Token, "envsecret")
	done := l.begin(m, spec)
	var first json.RawMessage
	for range 3 {
		call := m.call(node.MethodStart)
		if first == nil {
			first = call.Body
		} else if !bytes.Equal(first, call.Body) {
			t.Errorf("the start was %s, and is %s", first, call.Body)
		}
		_ = m.ws.CloseNow()
		m.connect()
	}
	m.answer(m.call(node.MethodStart), node.Launched{PID: 7, PIDStart: "p", Version: "2.1.325", ConfigDir: "/c"})
	got := <-done
	if got.err != nil || got.launched.PID != 7 || got.launched.ConfigDir != "/c" {
		t.Errorf("%+v", got)
	}
	// A connection that replaces another one does not lose it either.
	done = l.begin(m, spec)
	m.call(node.MethodStart)
	old := m.ws
	m.connect()
	_ = old.CloseNow()
	call := m.call(node.MethodStart)
	m.write(&node.Answer{ID: call.ID, Failure: &node.Failure{Code: "bad_dir", Reason: "it is not there", Hint: "make it"}})
	got = <-done
	if e := problemOf(got.err); e == nil || e.Status != http.StatusUnprocessableEntity || e.Detail != "it is not there" || e.Hint != "make it" {
		t.Errorf("%v", got.err)
	}
}

// TestStartUnanswered: it is not known what became of a start that was never answered.
func TestStartUnanswered(t *testing.T) {
	l := newLab(t, labSetup{times: times{handshake: time.Minute, ping: time.Hour, dead: time.Hour, start: 300 * time.Millisecond}})
	m := l.enroll(api.InviteNode{Name: "gpu-1"})
	spec := hub.LaunchSpec{Session: "s1", Run: 1, Token: "t", Marker: "m"}
	var unreachable *hub.UnreachableError
	if _, err := l.nodes.Launcher(m.id).Start(t.Context(), spec); !errors.As(err, &unreachable) || unreachable.Node != "gpu-1" {
		t.Errorf("of a node that is not connected: %v", err)
	}
	m.connect()
	done := l.begin(m, spec)
	m.call(node.MethodStart)
	if got := <-done; !errors.As(got.err, &unreachable) || !strings.Contains(got.err.Error(), "not known whether") {
		t.Errorf("without an answer: %v", got.err)
	}
	done = l.begin(m, spec)
	m.call(node.MethodStart)
	_ = m.ws.CloseNow()
	if got := <-done; !errors.As(got.err, &unreachable) {
		t.Errorf("after a cut: %v", got.err)
	}
	m.connect()
	spec.Options.SystemPrompt = strings.Repeat("x", node.MaxMessage)
	if _, err := l.nodes.Launcher(m.id).Start(t.Context(), spec); problemOf(err) == nil || problemOf(err).Status != http.StatusRequestEntityTooLarge {
		t.Errorf("too long: %v", err)
	}
	for _, launcher := range []hub.Launcher{l.nodes.Launcher(node.NewID()), l.nodes.Launcher("")} {
		if _, err := launcher.Start(t.Context(), spec); !errors.As(err, &unreachable) {
			t.Errorf("on no node: %v", err)
		}
		if life := launcher.Life(t.Context(), hub.Process{PID: 1}); life != hub.LifeUnknown {
			t.Errorf("on no node it is %s", life)
		}
	}
}

// problemOf returns an error as clients are told it; nil if it is none.
func problemOf(err error) *api.Error {
	e, _ := errors.AsType[*api.Error](err) // nil if it is none
	return e
}

// fill gives every field of a struct a value that comes back from JSON as it was.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1, 0).UTC()))
			return
		}
		for _, field := range v.Fields() {
			if field.CanSet() {
				fill(field)
			}
		}
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte("{}"))
			return
		}
		one := reflect.MakeSlice(v.Type(), 1, 1)
		fill(one.Index(0))
		v.Set(one)
	default: // the rest has tests of its own
	}
}

// TestSpecComesThrough: nothing of what the hub asks for or is told is lost on the way.
func TestSpecComesThrough(t *testing.T) {
	through := func(from, to any) {
		t.Helper()
		text, err := json.Marshal(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, to); err != nil {
			t.Fatal(err)
		}
	}
	var spec hub.LaunchSpec
	fill(reflect.ValueOf(&spec).Elem())
	var start node.Start
	through(node.Start(spec), &start)
	if diff := cmp.Diff(spec, hub.LaunchSpec(start)); diff != "" {
		t.Errorf("a start (-want +got):\n%s", diff)
	}
	var launched hub.Launched
	fill(reflect.ValueOf(&launched).Elem())
	var answer node.Launched
	through(node.Launched(launched), &answer)
	if diff := cmp.Diff(launched, hub.Launched(answer)); diff != "" {
		t.Errorf("its answer (-want +got):\n%s", diff)
	}
	var query hub.PlanQuery
	fill(reflect.ValueOf(&query).Elem())
	var asked node.PlanQuery
	through(node.PlanQuery(query), &asked)
	if diff := cmp.Diff(query, hub.PlanQuery(asked)); diff != "" {
		t.Errorf("a plan (-want +got):\n%s", diff)
	}
}

// TestHostileAnswers: what a node says out of turn, too much or too little harms nothing.
func TestHostileAnswers(t *testing.T) {
	l := newLab(t, labSetup{})
	m := l.enroll(api.InviteNode{Name: "gpu-1"})
	m.connect()
	m.write(&node.Answer{ID: 4711, Body: json.RawMessage(`{}`)})
	m.write(&node.Welcome{Ticket: "t"})
	m.write(&node.Unknown{})
	changes := 0
	changed := l.nodes.Changed()
	for range 1000 {
		m.write(&node.Exited{Session: "s", Run: 1})
		select {
		case <-changed:
			changes++
			changed = l.nodes.Changed()
		default:
		}
	}
	if changes > 20 {
		t.Errorf("1000 ends of runs had the hub look %d times", changes)
	}
	answers := map[string]func(*node.Call) (any, *node.Failure){
		"no process":        func(*node.Call) (any, *node.Failure) { return "x", nil },
		"too few paths":     func(*node.Call) (any, *node.Failure) { return node.Resolutions{}, nil },
		"a failure":         func(*node.Call) (any, *node.Failure) { return nil, &node.Failure{Code: node.Failed, Reason: "no"} },
		"nothing":           func(*node.Call) (any, *node.Failure) { return nil, nil },
		"what there is not": func(*node.Call) (any, *node.Failure) { return nil, &node.Failure{Code: node.NotExist, Reason: "no"} },
	}
	for name, answer := range answers {
		m.serve(answer)
		launcher := l.nodes.Launcher(m.id)
		if _, err := launcher.Resolve(t.Context(), []string{"/a", "/b"}); err == nil {
			t.Errorf("%s: paths", name)
		}
		if name == "a failure" || name == "no process" {
			if life := launcher.Life(t.Context(), hub.Process{PID: 1}); life != hub.LifeUnknown {
				t.Errorf("%s: the process is %s", name, life)
			}
		}
		if _, err := launcher.Plan(t.Context(), hub.PlanQuery{}); name == "what there is not" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
		_ = m.ws.CloseNow()
		m.connect()
	}
}

// TestPlanTime: a time of the hub's is one of the node's clock for the node.
func TestPlanTime(t *testing.T) {
	l := newLab(t, labSetup{times: times{handshake: time.Minute, ping: 10 * time.Millisecond, dead: time.Minute, start: time.Minute}})
	m := l.enroll(api.InviteNode{Name: "gpu-1"})
	m.connect()
	const ahead = 3 * time.Hour
	for range 3 { // its clock is ahead
		ping, ok := m.read().(*node.Ping)
		if !ok {
			t.Fatal("no ping")
		}
		m.write(&node.Pong{ID: ping.ID, Time: time.Now().Add(ahead)})
	}
	l.await("the clocks to be compared", func() bool {
		n, err := l.nodes.Get(t.Context(), "gpu-1")
		return err == nil && n.SkewMillis > ahead.Milliseconds()/2
	})
	since := time.Now()
	done := make(chan error, 1)
	go func() {
		_, err := l.nodes.Launcher(m.id).Plan(t.Context(), hub.PlanQuery{Since: since})
		done <- err
	}()
	call := m.call(node.MethodPlan)
	var query node.PlanQuery
	if err := decodeBody(call, &query); err != nil {
		t.Fatal(err)
	}
	if off := query.Since.Sub(since.Add(ahead)); off < -time.Minute || off > time.Minute {
		t.Errorf("the node is asked for what is newer than %s", query.Since)
	}
	m.answer(call, node.PlanFile{Path: "/p"})
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestStreams: pieces come together as lines, and a stream that lies or breaks is an error.
func TestStreams(t *testing.T) {
	l := newLab(t, labSetup{})
	m := l.enroll(api.InviteNode{Name: "gpu-1"})
	m.connect()
	frame := func(line string) string { return string([]byte{0, 0, byte(len(line) >> 8), byte(len(line))}) + line }
	var pieces []string
	var fails bool
	m.serve(func(c *node.Call) (any, *node.Failure) {
		switch c.Method {
		case node.MethodHistory:
			return node.Opened{Handle: 1}, nil
		case node.MethodNext:
			if fails {
				return nil, &node.Failure{Code: node.Failed, Reason: "the disk broke"}
			}
			piece := pieces[0]
			pieces = pieces[1:]
			return node.Piece{Bytes: []byte(piece), End: len(pieces) == 0}, nil
		}
		return nil, nil
	})
	long := frame(strings.Repeat("l", 40_000))
	for _, test := range []struct {
		name   string
		pieces []string
		want   []int // lengths of lines
		fails  bool
	}{
		{"nothing", []string{""}, nil, false},
		{"lines in one piece", []string{frame("a") + frame("") + frame("ccc")}, []int{1, 0, 3}, false},
		{"a line in pieces", []string{long[:2], long[2:30], long[30:]}, []int{40_000}, false},
		{"an end in a line", []string{long[:30]}, nil, true},
		{"an end in a length", []string{frame("a") + "\x00"}, []int{1}, true},
		{"a length beyond reason", []string{"\xff\xff\xff\xff" + "x"}, nil, true},
		{"an empty piece", []string{"", frame("a")}, nil, true},
	} {
		pieces = test.pieces
		lines, err := l.nodes.Launcher(m.id).History(t.Context(), "", "", "c")
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		var failed error
		for line, err := range lines {
			if err != nil {
				failed = err
				break
			}
			got = append(got, len(line))
		}
		if diff := cmp.Diff(test.want, got); diff != "" || (failed != nil) != test.fails {
			t.Errorf("%s: %v %v", test.name, got, failed)
		}
		for _, err := range lines {
			if !errors.Is(err, errReadAlready) {
				t.Errorf("%s: a second loop: %v", test.name, err)
			}
		}
	}
	fails = true
	lines, err := l.nodes.Launcher(m.id).History(t.Context(), "", "", "c")
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range lines {
		if err == nil || !strings.Contains(err.Error(), "the disk broke") {
			t.Errorf("%v", err)
		}
	}
	// Those that are opened and never read are given back when their caller ends.
	for range 2 * node.MaxStreams {
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := l.nodes.Launcher(m.id).History(ctx, "", "", "c"); err != nil {
			t.Fatal(err)
		}
		cancel()
	}
}

// A line that is said to be long costs memory only as it comes.
func TestLongLineCostsNothing(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 20 {
		if _, err := readLine(bufio.NewReader(strings.NewReader("\x0f\xff\xff\xff" + "x"))); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 16<<20 {
		t.Errorf("20 lines of one byte cost %d bytes", got)
	}
}
