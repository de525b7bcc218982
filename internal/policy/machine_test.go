package policy

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

func moved(t *testing.T, base *Engine, known map[string]Link) *Engine {
	t.Helper()
	e, err := base.On(Machine{Home: "/home/agent", Own: []string{"/own/node"}}, known)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// answered answers what is missing, by links.
func answered(known map[string]Link, missing []string, links map[string]string) map[string]Link {
	all := map[string]Link{}
	maps.Copy(all, known)
	for _, path := range missing {
		leads := path
		for from, to := range links {
			if path == from || strings.HasPrefix(path, from+"/") {
				leads = to + strings.TrimPrefix(path, from)
			}
		}
		all[path] = Link{Path: leads}
	}
	return all
}

func writes(path string) Call {
	return Call{Tool: "Write", Input: json.RawMessage(fmt.Sprintf(`{"file_path":%q,"content":"x"}`, path)), Dir: "/work"}
}

func TestOnMachine(t *testing.T) {
	const text = `allow = ["Edit(//work/**)", "Edit(~/src/**)", "Bash(cat:*)"]
deny = ["Edit(//vault/**)", "Read(//vault/**)"]
ask = ["Edit(~/private/**)"]`
	links := map[string]string{"/vault": "/work/v", "/work/out": "/elsewhere", "/work/in": "/vault", "/home/agent/private": "/work/p"}
	base := quietEngine(t, text)
	e := moved(t, base, nil)
	if len(e.Missing()) == 0 {
		t.Fatal("nothing is missing of the rules")
	}
	call := writes("/work/a")
	call.Links = NewLinks(map[string]Link{"/work": {Path: "/work"}, "/work/a": {Path: "/work/a"}})
	if v := e.Decide(call); v.Decision != "" || len(call.Links.Missing()) != 0 {
		t.Errorf("before the rules' own paths are known: %+v", v)
	}
	known := map[string]Link{}
	for range 3 {
		known = answered(known, e.Missing(), links)
		e = moved(t, base, known)
	}
	if missing := e.Missing(); len(missing) != 0 {
		t.Fatalf("missing is still %q", missing)
	}
	tests := []struct {
		call    Call
		unknown Decision // before the machine has told
		want    Decision
	}{
		{writes("/work/a"), "", Allow},
		{writes("/work/out/a"), "", ""},
		{writes("/work/in/a"), "", Deny},
		{writes("/work/v/a"), Deny, Deny}, // the rule's own link is known
		{writes("/vault/a"), Deny, Deny},
		{writes("/home/agent/src/a"), "", Allow},
		{writes("/home/hub/src/a"), "", ""},
		{writes("/own/node/a"), Deny, Deny},
		{writes("/own/hub/a"), "", ""},
		{writes("/work/p/a"), Ask, Ask},
		{Call{Tool: "Bash", Dir: "/work", Input: json.RawMessage(`{"command":"cat b"}`)}, "", Allow},
		{Call{Tool: "Bash", Dir: "/work", Input: json.RawMessage(`{"command":"cat in/b"}`)}, "", Deny},
	}
	for _, test := range tests {
		c := test.call
		c.Links = NewLinks(nil)
		if v := e.Decide(c); v.Decision != test.unknown {
			t.Errorf("%s %s, before it is known: %+v", c.Tool, c.Input, v)
		}
		answers := map[string]Link{}
		var v Verdict
		for range 4 {
			c.Links = NewLinks(answers)
			v = e.Decide(c)
			answers = answered(answers, c.Links.Missing(), map[string]string{"/vault": "/work/v", "/work/out": "/elsewhere", "/work/in": "/work/v"})
		}
		if v.Decision != test.want {
			t.Errorf("%s %s: %+v", c.Tool, c.Input, v)
		}
	}
	// Without links nothing is known, and nothing is allowed.
	if v := e.Decide(writes("/work/a")); v.Decision != "" {
		t.Errorf("without links: %+v", v)
	}
	// A session's own rules are followed, too.
	with, err := e.With([]Rule{{Text: "Edit(//more/**)", Decision: Deny}})
	if err != nil || !slices.Equal(with.Missing(), []string{"/more"}) {
		t.Errorf("with a session's rule %q is missing, %v", with.Missing(), err)
	}
	c := writes("/work/a")
	c.Links = NewLinks(map[string]Link{"/work": {Path: "/work"}, "/work/a": {Path: "/work/a"}})
	if v := with.Decide(c); v.Decision != "" {
		t.Errorf("before the session's rules are known: %+v", v)
	}
	if v := e.Sealed("no").Decide(c); v.Decision != "" || v.Reason != "no" {
		t.Errorf("sealed: %+v", v)
	}
}

// quietEngine returns rules whose own machine is never asked by a test.
func quietEngine(t *testing.T, text string) *Engine {
	t.Helper()
	file, err := ParseFile("rules.toml", []byte(text), "/home/hub")
	if err != nil {
		t.Fatal(err)
	}
	base, err := New(file, Options{Home: "/home/hub", Own: []string{"/own/hub"}, Resolve: func(path string) (string, error) { return path, nil }})
	if err != nil {
		t.Fatal(err)
	}
	return base
}

// TestBoxedOnMachine allows no command in a sandbox as long as a path in it is not known.
func TestBoxedOnMachine(t *testing.T) {
	e := moved(t, quietEngine(t, ``), nil)
	e = moved(t, quietEngine(t, ``), answered(nil, e.Missing(), nil))
	call := Call{Tool: "Bash", Dir: "/work", Input: json.RawMessage(`{"command":"cat b"}`)}
	if v := e.Boxed(call); v.Decision == Allow {
		t.Errorf("before it is known: %+v", v)
	}
	call.Links = NewLinks(nil)
	e.Boxed(call)
	call.Links = NewLinks(answered(nil, call.Links.Missing(), nil))
	if v := e.Boxed(call); v.Decision != Allow {
		t.Errorf("when it is known: %+v", v)
	}
}

// TestLinks refuses what a machine must not tell, and does not ask what needs no disk.
func TestLinks(t *testing.T) {
	l := NewLinks(map[string]Link{
		"/a": {Path: "/b"}, "/bad": {Path: "relative"}, "/up": {Path: "/a/../b"}, "/nul": {Path: "/a\x00"}, "/long": {Path: "/" + strings.Repeat("x", maxPath)},
		"/err": {Path: "/b", Err: "permission denied"}, "/proc/self/cwd": {Err: errAgents.Error()}, "/empty": {},
	})
	for path, want := range map[string]string{
		"/a": "/b", "/": "/", "/bad": "", "/up": "", "/nul": "", "/long": "", "/err": "", "/proc/self/cwd": "", "/empty": "",
		"x": "", "/x\x00": "", "/" + strings.Repeat("x", maxPath): "", "/c": "", "/d": "",
	} {
		for range 2 {
			got, err := l.follow(path)
			if got != want || (err == nil) != (want != "") {
				t.Errorf("%.20q leads to %q, %v", path, got, err)
			}
		}
	}
	missing := slices.Sorted(slices.Values(l.Missing()))
	if !slices.Equal(missing, []string{"/c", "/d"}) {
		t.Errorf("missing is %q", missing)
	}
}
