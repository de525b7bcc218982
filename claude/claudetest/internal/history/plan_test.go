package history

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/wire"
)

// TestPromptSlug compares with names that real CLIs made.
func TestPromptSlug(t *testing.T) {
	tests := []struct{ prompt, want string }{
		{"Please add a login page to the web server!", "please-add-a-login"},
		{"@say hello\n@say x", "say-hello-say-x"},
		{"Größe ändern: the very long prompt", "gr-e-ndern-the-very"},
		{"/x 中文\n@say x", "x-say-x"},
		{"\n@say x", "say-x"},
		{"Internationalization configuration refactoring everything now", "internationalization-configuration-refac"},
		{"it's don't-do this_thing: ok", "it-s-don-t-do-this-thing-ok"},
		{"a b c d e f g h i j k l", "a-b-c-d"},
		{"中文", ""},
		{"", ""},
	}
	for _, tt := range tests {
		if got := promptSlug(tt.prompt); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.prompt, got, tt.want)
		}
	}
}

func TestPlanPath(t *testing.T) {
	words := map[string]string{"2.1.37": `^[a-z]+-[a-z]+-[a-z]+\.md$`, "2.1.120": `^add-a-page-[a-z]+-[a-z]+\.md$`, "2.1.325": `^add-a-page-[a-z]+-[a-z]+\.md$`}
	for _, version := range versions() {
		t.Run(version, func(t *testing.T) {
			w := newWorld(t, version)
			s := w.process()
			plan := s.PlanPath(first, "Add a page")
			if filepath.Dir(plan) != filepath.Join(w.home, ".claude", "plans") || !regexp.MustCompile(words[version]).MatchString(filepath.Base(plan)) {
				t.Errorf("the plan is %s", plan)
			}
			if got := s.PlanPath(first, "Something else"); got != plan {
				t.Errorf("the plan moved to %s", got)
			}
			if got := s.PlanPath("../x", ""); !s.IsPlan(got) {
				t.Errorf("the plan of a bad id is %s", got)
			}
			if text, ok, err := s.ReadPlan(plan); ok || err != nil {
				t.Errorf("there is a plan: %q %v", text, err)
			}
			w.must(s.WritePlan(plan, "1"))
			w.must(s.WritePlan(plan, "the plan"))
			w.say(s, first, "one", "1")
			s, _ = w.resume(first)
			if got := s.PlanPath(first, "x"); got != plan {
				t.Errorf("after a resume the plan is %s", got)
			}
			text, ok, err := s.ReadPlan(plan)
			if text != "the plan" || !ok || err != nil {
				t.Errorf("got %q %v %v", text, ok, err)
			}
			if got := s.PlanPath(second, ""); strings.Count(filepath.Base(got), "-") != 2 || got == plan {
				t.Errorf("the plan without a prompt is %s", got)
			}
		})
	}
}

func TestPlanOnly(t *testing.T) {
	w := newWorld(t, "2.1.325")
	s := w.process()
	plans := filepath.Join(w.home, ".claude", "plans")
	for _, path := range []string{filepath.Join(w.dir, "x.md"), filepath.Join(plans, "x.txt"), filepath.Join(plans, "sub", "x.md"), plans + "/../x.md", "x.md", ""} {
		if err := s.WritePlan(path, "x"); err == nil {
			t.Errorf("%s was written", path)
		}
		if _, ok, _ := s.ReadPlan(path); ok {
			t.Errorf("%s was read", path)
		}
	}
	w.mkdir(filepath.Join(plans, "folder.md"))
	if _, ok, err := s.ReadPlan(filepath.Join(plans, "folder.md")); ok || err == nil {
		t.Error("a folder was read")
	}
}

func TestRewind(t *testing.T) {
	for _, version := range versions() {
		t.Run(version, func(t *testing.T) {
			w := newWorld(t, version)
			w.env["CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"] = "true"
			s := w.process()
			a, b := filepath.Join(w.dir, "a.txt"), filepath.Join(w.home, "b.txt")
			prompts := []string{wire.NewUUID(), wire.NewUUID(), wire.NewUUID()}
			edits := [][]Edit{{{Path: a, Insertions: 2, Deletions: 1}, {Path: b, Insertions: 2, Created: true}}, {{Path: a, Insertions: 5, Deletions: 7}}, nil}
			for i, prompt := range prompts {
				w.must(s.Append(Entry{Session: first, Type: User, UUID: prompt, Message: says("user", "go"), PermissionMode: "default"}))
				for _, e := range edits[i] {
					e.Session, e.User, e.Assistant = first, prompt, wire.NewUUID()
					w.must(s.Checkpoint(e))
				}
				w.must(s.Append(Entry{Session: first, Type: Assistant, Message: says("assistant", "done")}))
			}
			expect := func(s *Store, session, prompt string, dry bool, want Rewound) {
				t.Helper()
				got, ok, err := s.Rewind(session, prompt, dry)
				if diff := cmp.Diff(want, got); diff != "" || !ok || err != nil {
					t.Error(ok, err, diff)
				}
			}
			all := Rewound{Files: []string{a, b}, Insertions: 8, Deletions: 9}
			expect(s, first, prompts[0], true, all)
			expect(s, first, prompts[2], true, Rewound{})
			if _, ok, err := s.Rewind(first, second, true); ok || err != nil {
				t.Errorf("an unknown prompt has a checkpoint: %v", err)
			}
			if _, ok, err := s.Rewind(third, prompts[0], true); ok || err != nil {
				t.Errorf("an unknown session has a checkpoint: %v", err)
			}
			if err := s.Checkpoint(Edit{Session: first, User: third, Path: a}); err == nil {
				t.Error("an edit of an unknown prompt was taken")
			}

			resumed, c := w.resume(first)
			expect(resumed, first, prompts[0], true, all)
			_, err := resumed.Fork(c, second)
			w.must(err)
			w.say(resumed, second, "fork", "yes")

			expect(s, first, prompts[1], false, Rewound{Files: []string{a}, Insertions: 7, Deletions: 5})
			expect(s, first, prompts[0], true, Rewound{Files: []string{a, b}, Insertions: 1, Deletions: 4})
			resumed, _ = w.resume(first)
			expect(resumed, first, prompts[0], true, Rewound{Files: []string{a, b}, Insertions: 1, Deletions: 4})
			resumed, _ = w.resume(second)
			expect(resumed, second, prompts[0], true, all)
			if _, err := os.Stat(a); err == nil {
				t.Error("a file was made for real")
			}
		})
	}
}

func TestCheckpointsOff(t *testing.T) {
	w := newWorld(t, "2.1.325")
	s := w.process()
	w.must(s.Checkpoint(Edit{Session: first, User: second, Path: "/x"}))
	w.say(s, first, "one", "1")
	if strings.Contains(w.read(s, first), "file-history") || s.CheckpointsEnabled() {
		t.Error("checkpoints are on")
	}
}

func TestDamagedEdits(t *testing.T) {
	w := newWorld(t, "2.1.325")
	path := filepath.Join(w.home, "edits.jsonl")
	w.mkdir(w.home)
	w.must(os.WriteFile(path, []byte("null\n{\n{\"user\":\"u\",\"path\":\"/a\",\"insertions\":1}\n{\"rewind\":\"nobody\"}\n[]"), 0o600))
	var tr tracker
	w.must(tr.restore(path, []string{"u"}))
	if r, ok := tr.rewind("u", false); !ok || r.Deletions != 1 {
		t.Errorf("got %+v %v", r, ok)
	}
	if err := tr.restore(w.home, nil); err == nil {
		t.Error("a folder was read")
	}
}

// TestSetPlanDir holds that plans lie where the settings say, and nowhere else.
func TestSetPlanDir(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	s, err := Open(Options{Dir: dir, Env: func(name string) string { return map[string]string{"HOME": home}[name] }})
	if err != nil {
		t.Fatal(err)
	}
	usual := s.PlanPath("a", "")
	plans := filepath.Join(dir, "plans")
	s.SetPlanDir(plans)
	path := s.PlanPath("a", "")
	if filepath.Dir(path) != plans || filepath.Base(path) != filepath.Base(usual) {
		t.Errorf("the plan is %s, want %s in %s", path, filepath.Base(usual), plans)
	}
	if err := s.WritePlan(path, "# Plan\n"); err != nil {
		t.Error(err)
	}
	if text, ok, err := s.ReadPlan(path); text != "# Plan\n" || !ok || err != nil {
		t.Errorf("got %q, %t, %v", text, ok, err)
	}
	if s.WritePlan(usual, "# Plan\n") == nil {
		t.Error("a plan was written to another folder")
	}
}
