package hub_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
)

// TestPreferences keeps what people prefer apart, by folder, over a restart.
func TestPreferences(t *testing.T) {
	l := newLab(t)
	save := func(who, dir string, p api.Preferences) {
		t.Helper()
		saved, err := l.hub.SavePreferences(l.ctx(), person, who, api.SavePreferences{Dir: dir, Preferences: p})
		if err != nil || saved.Updated.IsZero() {
			t.Fatalf("%+v, %v", saved, err)
		}
	}
	read := func(who, dir string) *api.PreferenceList {
		t.Helper()
		list, err := l.hub.Preferences(l.ctx(), who, dir)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	save("ada", "", api.Preferences{PermissionMode: "plan", Model: "opus", Allow: []string{"Bash(ls:*)"}})
	save("ada", "/src/blog/", api.Preferences{PermissionMode: "acceptEdits", Allow: []string{"Bash(ls:*)", "Bash(go test:*)"}, Deny: []string{"Bash(rm:*)"}})
	save("bo", "/src/blog", api.Preferences{Model: "haiku"})
	l.restart()
	both := api.Preferences{PermissionMode: "acceptEdits", Model: "opus", Allow: []string{"Bash(ls:*)", "Bash(go test:*)"}, Deny: []string{"Bash(rm:*)"}}
	if diff := cmp.Diff(both, read("ada", "/src/./blog").Effective); diff != "" {
		t.Errorf("in the folder (-want +got):\n%s", diff)
	}
	for who, want := range map[string][]string{"ada": {"", "/src/blog"}, "bo": {"/src/blog"}, "cy": nil} {
		var got []string
		for _, saved := range read(who, "").Saved {
			got = append(got, saved.Dir)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has preferences for %q, want %q", who, got, want)
		}
	}
	if got := read("ada", "/src/blog/sub").Effective; got.PermissionMode != "plan" || got.Deny != nil {
		t.Errorf("in a folder below: %+v", got)
	}
	if got := read("bo", "/elsewhere").Effective; !got.IsZero() {
		t.Errorf("elsewhere: %+v", got)
	}

	forget := func(dir string, all bool, want int) {
		t.Helper()
		if gone, err := l.hub.ForgetPreferences(l.ctx(), person, "ada", dir, all); err != nil || len(gone.Removed) != want {
			t.Errorf("forgetting %q: %+v, %v", dir, gone, err)
		}
	}
	forget("/nowhere", false, 0)
	forget("", false, 1)
	if got := read("ada", "/src/blog").Effective; got.Model != "" || got.PermissionMode != "acceptEdits" {
		t.Errorf("without those for all folders: %+v", got)
	}
	save("ada", "/src/blog", api.Preferences{}) // the same as to forget them
	forget("", true, 0)
	if len(read("bo", "").Saved) != 1 {
		t.Error("another person's are gone too")
	}
}

// TestPreferencesRefused tries what is not remembered.
func TestPreferencesRefused(t *testing.T) {
	l := newLab(t)
	tests := []struct {
		name string
		in   api.SavePreferences
		says string
	}{
		{"bypass", api.SavePreferences{Preferences: api.Preferences{PermissionMode: "bypassPermissions"}}, "bypassPermissions is not remembered"},
		{"unknown mode", api.SavePreferences{Preferences: api.Preferences{PermissionMode: "yolo"}}, "permission_mode"},
		{"relative folder", api.SavePreferences{Dir: "blog", Preferences: api.Preferences{Model: "opus"}}, "absolute"},
		{"everything allowed", api.SavePreferences{Preferences: api.Preferences{Allow: []string{"*"}}}, "every tool"},
		{"no rule", api.SavePreferences{Preferences: api.Preferences{Deny: []string{"Bash(("}}}, "rule"},
		{"unknown sandbox", api.SavePreferences{Preferences: api.Preferences{Sandbox: "auto"}}, "off, deny-only or strict"},
		{"commands without a strict sandbox", api.SavePreferences{Preferences: api.Preferences{Sandbox: "deny-only", SandboxAutoAllow: true}}, "sandbox_auto_allow"},
		{"commands without a sandbox", api.SavePreferences{Preferences: api.Preferences{SandboxAutoAllow: true}}, "sandbox_auto_allow"},
		{"long model", api.SavePreferences{Preferences: api.Preferences{Model: strings.Repeat("m", 300)}}, "model"},
		{"model with a line break", api.SavePreferences{Preferences: api.Preferences{Model: "a\nb"}}, "model"},
		{"many rules", api.SavePreferences{Preferences: api.Preferences{Allow: slices.Repeat([]string{"Read"}, 101)}}, "at most 100"},
	}
	for _, tt := range tests {
		if _, err := l.hub.SavePreferences(l.ctx(), person, "ada", tt.in); code(err) != api.CodeInvalid || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	if _, err := l.hub.SavePreferences(l.ctx(), hub.Actor{Name: "bo"}, "bo", api.SavePreferences{Preferences: api.Preferences{Model: "opus"}}); code(err) != api.CodeForbidden {
		t.Errorf("without the right: %v", err)
	}
	if _, err := l.hub.ForgetPreferences(l.ctx(), hub.Actor{Name: "bo"}, "bo", "", true); code(err) != api.CodeForbidden {
		t.Errorf("forgetting without the right: %v", err)
	}
	for i := range 500 {
		in := api.SavePreferences{Dir: fmt.Sprintf("/src/%d", i), Preferences: api.Preferences{Model: "opus"}}
		if _, err := l.hub.SavePreferences(l.ctx(), person, "ada", in); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.hub.SavePreferences(l.ctx(), person, "ada", api.SavePreferences{Dir: "/one/more", Preferences: api.Preferences{Model: "opus"}}); code(err) != api.CodeConflict {
		t.Errorf("one folder more: %v", err)
	}
	if _, err := l.hub.SavePreferences(l.ctx(), person, "ada", api.SavePreferences{Dir: "/src/7", Preferences: api.Preferences{Model: "haiku"}}); err != nil {
		t.Errorf("one that there is: %v", err)
	}
}

// TestPreferredSandbox holds that mode and auto-allow belong together: those of a folder, or those for all folders, and never one of each.
func TestPreferredSandbox(t *testing.T) {
	strict := api.Preferences{Sandbox: "strict", SandboxAutoAllow: true}
	for _, c := range []struct {
		name        string
		here, wider api.Preferences
		options     api.SessionOptions
		want        string
		autoAllow   bool
	}{
		{"for all folders", api.Preferences{Model: "opus"}, strict, api.SessionOptions{}, "strict", true},
		{"a folder without it", api.Preferences{Sandbox: "strict"}, strict, api.SessionOptions{}, "strict", false},
		{"a folder with it", strict, api.Preferences{Sandbox: "off"}, api.SessionOptions{}, "strict", true},
		{"a session's own", strict, api.Preferences{}, api.SessionOptions{Sandbox: "deny-only"}, "deny-only", false},
		{"a session that asks for strict alone", strict, api.Preferences{}, api.SessionOptions{Sandbox: "strict"}, "strict", false},
		{"nothing", api.Preferences{}, api.Preferences{}, api.SessionOptions{}, "", false},
	} {
		p := c.here.Over(&c.wider)
		p.Apply(&c.options)
		if c.options.Sandbox != c.want || c.options.SandboxAutoAllow != c.autoAllow {
			t.Errorf("%s: %q, %v", c.name, c.options.Sandbox, c.options.SandboxAutoAllow)
		}
	}
	if strict.IsZero() || !(&api.Preferences{}).IsZero() {
		t.Error("a sandbox that is preferred is nothing")
	}
}
