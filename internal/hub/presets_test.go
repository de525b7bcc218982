package hub_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
)

// withPresets gives a hub two presets.
func withPresets(o *hub.Options) {
	o.Presets = []hub.Preset{
		{Name: "work", Description: "Everyday work", Options: api.SessionOptions{
			Model: "opus", PermissionMode: "plan", MaxTurns: 9, Fresh: true, Tools: []string{"Bash"}, AddDirs: []string{"/a"},
			Env: map[string]string{"TOKEN": "hush", "LEVEL": "1"}, MCPServers: json.RawMessage(`{"notes":{"env":{"KEY":"hush"}}}`),
			Settings: json.RawMessage(`{"apiKeyHelper":"hush"}`), ExtraArgs: map[string]*string{"token": new("hush")},
		}},
		{Name: "empty"},
	}
}

// TestPresets starts sessions with a preset: what the request has wins, and its exceptions do not apply.
func TestPresets(t *testing.T) {
	l := newLab(t, withPresets)
	for _, test := range []struct {
		name, request, want string
	}{
		{
			"all of it", `{"preset":"work"}`,
			`{"model":"opus","permission_mode":"plan","tools":["Bash"],"add_dirs":["/a"],"max_turns":9,"fresh":true,"env":{"LEVEL":"1","TOKEN":"hush"},` +
				`"mcp_servers":{"notes":{"env":{"KEY":"hush"}}},"settings":{"apiKeyHelper":"hush"},"extra_args":{"token":"hush"}}`,
		},
		{
			"options win", `{"preset":"work","options":{"model":"haiku","fresh":false,"max_turns":0,"tools":[],"env":{"LEVEL":"2","MORE":"3"},"mcp_servers":{}}}`,
			`{"model":"haiku","permission_mode":"plan","tools":[],"add_dirs":["/a"],"env":{"LEVEL":"2","MORE":"3","TOKEN":"hush"},` +
				`"mcp_servers":{},"settings":{"apiKeyHelper":"hush"},"extra_args":{"token":"hush"}}`,
		},
		{
			"exceptions", `{"preset":"work","except":["env","mcp_servers","settings","extra_args","fresh","add_dirs"],"options":{"env":{"MORE":"3"}}}`,
			`{"model":"opus","permission_mode":"plan","tools":["Bash"],"max_turns":9,"env":{"MORE":"3"}}`,
		},
		{"an empty one", `{"preset":"empty","options":{"model":"haiku"}}`, `{"model":"haiku"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var in api.CreateSession
			if err := json.Unmarshal([]byte(test.request), &in); err != nil {
				t.Fatal(err)
			}
			in.Dir, in.ClientID = t.TempDir(), test.name
			created, err := l.hub.Create(l.ctx(), person, in)
			if err != nil {
				t.Fatal(err)
			}
			l.launcher.mu.Lock()
			options := l.launcher.specs[len(l.launcher.specs)-1].Options
			starts := len(l.launcher.specs)
			l.launcher.mu.Unlock()
			raw, err := json.Marshal(options)
			if err != nil {
				t.Fatal(err)
			}
			var got, want any
			if err := errors.Join(json.Unmarshal(raw, &got), json.Unmarshal([]byte(test.want), &want)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the agent was started with other options (-want +got):\n%s", diff)
			}
			shown, err := json.Marshal(created)
			if err != nil || strings.Contains(string(shown), "hush") {
				t.Errorf("%s, %v", shown, err)
			}
			again, err := l.hub.Create(l.ctx(), person, in)
			if err != nil || again.ID != created.ID || len(l.launcher.specs) != starts {
				t.Errorf("%v, %v; the same request is to return the same session", again, err)
			}
		})
	}
	if got := l.options.Presets[0].Options; got.Env["LEVEL"] != "1" || len(got.Env) != 2 || len(got.Tools) != 1 {
		t.Errorf("a session has changed the preset: %+v", got)
	}
}

// TestBadPreset says what is wrong with a request.
func TestBadPreset(t *testing.T) {
	l := newLab(t, withPresets)
	for _, test := range []struct {
		in   api.CreateSession
		want string
	}{
		{api.CreateSession{Preset: "nosuch"}, `unknown preset "nosuch"; the hub has empty, work`},
		{api.CreateSession{Preset: "work", Except: []string{"colour"}}, `there is no option "colour"`},
		{api.CreateSession{Except: []string{"fresh"}}, "the request has no preset"},
	} {
		test.in.Dir = "/"
		if _, err := l.hub.Create(l.ctx(), person, test.in); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %q", test.in, err, test.want)
		}
	}
	// What a preset has needs the rights that it would need in a request.
	if _, err := l.hub.Create(l.ctx(), hub.Actor{Source: person.Source, Name: "bo"}, api.CreateSession{Dir: "/", Preset: "work"}); err == nil || !strings.Contains(err.Error(), "admin") {
		t.Errorf("%v", err)
	}
	bare := newLab(t)
	if _, err := bare.hub.Create(bare.ctx(), person, api.CreateSession{Dir: "/", Preset: "work"}); err == nil || !strings.Contains(err.Error(), "has none") {
		t.Errorf("%v", err)
	}
}

// TestListPresets shows names of secrets, and no values.
func TestListPresets(t *testing.T) {
	l := newLab(t, withPresets)
	raw, err := json.Marshal(l.hub.Presets())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"presets":[{"name":"empty"},{"name":"work","description":"Everyday work","options":{"model":"opus","permission_mode":"plan","tools":["Bash"],"add_dirs":["/a"],"max_turns":9,"fresh":true},` +
		`"hidden":{"env":["LEVEL","TOKEN"],"extra_args":["token"],"mcp_servers":["notes"],"settings":["apiKeyHelper"]}}]}`
	if diff := cmp.Diff(want, string(raw)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestForkWithOptions changes some options of a copy; what is not shown stays.
func TestForkWithOptions(t *testing.T) {
	l := newLab(t)
	s := l.create(api.CreateSession{Prompt: "@say one", Options: api.SessionOptions{Model: "opus", Env: map[string]string{"TOKEN": "hush"}}})
	l.awaitDone(s.ID, 1)
	if _, err := l.hub.Fork(l.ctx(), person, s.ID, api.Fork{Options: &api.SessionOptions{Model: "haiku", MaxTurns: 3}}); err != nil {
		t.Fatal(err)
	}
	l.launcher.mu.Lock()
	defer l.launcher.mu.Unlock()
	o := l.launcher.specs[len(l.launcher.specs)-1].Options
	if o.Model != "haiku" || o.MaxTurns != 3 || o.Env["TOKEN"] != "hush" {
		t.Errorf("%+v", o)
	}
}
