//go:build unix

package launch

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// began is when the run of a planLab began.
var began = time.Date(2026, 11, 1, 12, 0, 0, 500_000_000, time.UTC)

// A planLab is a CLI's folder and a project.
type planLab struct {
	t *testing.T
	q PlanQuery
}

func newPlanLab(t *testing.T) *planLab {
	return &planLab{t, PlanQuery{ConfigDir: t.TempDir(), Dir: t.TempDir(), Since: began}}
}

// write writes a file that was changed so long after the run began.
func (b *planLab) write(path, text string, after time.Duration) string {
	b.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
	if err := os.Chtimes(path, time.Time{}, began.Add(after)); err != nil {
		b.t.Fatal(err)
	}
	return path
}

// global and local are paths of the CLI's own folder of plans and of the
// project.
func (b *planLab) global(name string) string { return filepath.Join(b.q.ConfigDir, "plans", name) }
func (b *planLab) local(name string) string  { return filepath.Join(b.q.Dir, name) }

func (b *planLab) link(to, from string) {
	b.t.Helper()
	if err := os.MkdirAll(filepath.Dir(from), 0o700); err != nil {
		b.t.Fatal(err)
	}
	if err := os.Symlink(to, from); err != nil {
		b.t.Fatal(err)
	}
}

// found expects the plan of this path and text.
func (b *planLab) found(path, text string) {
	b.t.Helper()
	plan, err := new(Launcher).Plan(b.t.Context(), b.q)
	if err != nil {
		b.t.Fatal(err)
	}
	if plan.Path != path || plan.Text != text {
		b.t.Errorf("found %+v, expected %s with %q", plan, path, text)
	}
}

// none expects that there is no plan.
func (b *planLab) none() {
	b.t.Helper()
	if plan, err := new(Launcher).Plan(b.t.Context(), b.q); plan != nil || !errors.Is(err, fs.ErrNotExist) {
		b.t.Errorf("found %+v, %v", plan, err)
	}
}

func TestPlan(t *testing.T) {
	const second, conversation = time.Second, "11111111-1111-4111-8111-111111111111"
	transcript := func(b *planLab, dir, text string) {
		b.t.Helper()
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			b.t.Fatal(err)
		}
		project, exact := wire.ProjectDir(b.q.ConfigDir, real)
		if !exact {
			b.t.Fatalf("the test's folder %s is too deep", real)
		}
		b.write(filepath.Join(project, conversation+".jsonl"), text, 0)
		b.q.Conversation = conversation
	}
	for name, test := range map[string]func(b *planLab){
		"no folders at all": func(b *planLab) {
			b.q.ConfigDir, b.q.Dir = b.q.ConfigDir+"/gone", b.q.Dir+"/gone"
			b.none()
		},
		"the newest": func(b *planLab) {
			b.write(b.global("a.md"), "old", second)
			path := b.write(b.global("b.md"), "# Plan ü", 3*second)
			b.write(b.global("c.md"), "older", 2*second)
			b.write(b.global("d.txt"), "no plan", 4*second)
			b.found(path, "# Plan ü")
		},
		"older than the run": func(b *planLab) {
			b.write(b.global("a.md"), "another's", -time.Minute)
			b.none()
			b.q.Since = time.Time{}
			b.found(b.global("a.md"), "another's")
		},
		"a file system that keeps seconds": func(b *planLab) {
			b.found(b.write(b.global("a.md"), "x", -500*time.Millisecond), "x")
		},
		"an empty one is none": func(b *planLab) {
			path := b.write(b.global("a.md"), "x", second)
			b.write(b.global("b.md"), " \n", 2*second)
			b.found(path, "x")
			b.q.Path = b.global("b.md")
			b.none()
		},
		"bytes that are no text": func(b *planLab) {
			b.found(b.write(b.global("a.md"), "a\xffb", second), "a\uFFFDb")
		},
		"a sub-agent's": func(b *planLab) {
			main := b.write(b.global("my-agent-router.md"), "main", second)
			one := b.write(b.global("my-agent-router-agent-a1b2c3d.md"), "one", 2*second)
			two := b.write(b.global("my-agent-router-agent-lead@team.md"), "two", 3*second)
			b.write(b.global("-agent-a1b2c3d.md"), "nameless", 4*second)
			b.found(main, "main")
			b.q.Agent = "a1b2c3d"
			b.found(one, "one")
			b.q.Agent = "lead@team"
			b.found(two, "two")
			b.q.Agent = "a9999999"
			b.none()
		},
		"told": func(b *planLab) {
			b.q.Path = b.write(b.global("a.md"), "told", -time.Hour)
			b.write(b.global("b.md"), "newer", second)
			b.found(b.q.Path, "told")
			b.q.Path = b.global("gone.md")
			b.none()
			b.q.Path = "a.md"
			b.none()
		},
		"told in other words": func(b *planLab) {
			path := b.write(b.global("a.md"), "told", second)
			other := filepath.Join(b.t.TempDir(), "link")
			b.link(b.q.ConfigDir, other)
			b.q.Path = filepath.Join(other, "plans", "x", "..", "a.md")
			b.found(path, "told")
		},
		"told outside": func(b *planLab) {
			b.write(b.global("a.md"), "x", second)
			b.q.Path = b.write(b.local("secret.md"), "secret", second)
			b.none()
			b.q.Path = b.write(filepath.Join(b.q.ConfigDir, "secret.md"), "secret", second)
			b.none()
			b.q.Path = b.global("../secret.md")
			b.none()
			b.q.Path = b.write(b.global("key"), "secret", second)
			b.none()
		},
		"the project's own folder": func(b *planLab) {
			b.write(b.global("a.md"), "old", second)
			path := b.write(b.local(".claude/plans/a.md"), "new", 2*second)
			b.found(path, "new")
			b.q.Path = path
			b.found(path, "new")
		},
		"a folder of the settings": func(b *planLab) {
			for i, write := range []func(text string){
				func(text string) { b.write(filepath.Join(b.q.ConfigDir, "settings.json"), text, 0) },
				func(text string) { b.write(b.local(".claude/settings.json"), text, 0) },
				func(text string) { b.write(b.local(".claude/settings.local.json"), text, 0) },
				func(text string) { b.q.Settings = json.RawMessage(text) },
			} {
				name := "docs/" + string(rune('a'+i))
				path := b.write(b.local(name+"/p.md"), name, time.Duration(i+1)*second)
				if i == 0 {
					b.none()
				}
				write(`{"plansDirectory":"./` + name + `/","plansdirectory":"elsewhere"}`)
				b.found(path, name)
			}
		},
		"settings that are linked": func(b *planLab) {
			b.link(b.write(filepath.Join(b.t.TempDir(), "s.json"), `{"plansDirectory":"p"}`, 0), filepath.Join(b.q.ConfigDir, "settings.json"))
			b.found(b.write(b.local("p/a.md"), "x", second), "x")
		},
		"an absolute folder of the settings": func(b *planLab) {
			b.q.Settings = json.RawMessage(`{"plansDirectory":"` + b.local("p") + `"}`)
			b.found(b.write(b.local("p/a.md"), "x", second), "x")
		},
		"a folder of the settings that is not in the project": func(b *planLab) {
			other := b.t.TempDir()
			b.write(filepath.Join(other, "a.md"), "x", second)
			for _, name := range []string{other, "../" + filepath.Base(other), "gone", ""} {
				b.q.Settings = json.RawMessage(`{"plansDirectory":"` + name + `"}`)
				b.none()
			}
			b.link(other, b.local("inside"))
			b.q.Settings = json.RawMessage(`{"plansDirectory":"inside"}`)
			b.none()
			b.q.Path = b.local("inside/a.md")
			b.none()
		},
		"settings that are none": func(b *planLab) {
			path := b.write(b.global("a.md"), "x", second)
			for _, text := range []string{`{"plansDirectory":7}`, `{`, `[]`, `null`} {
				b.q.Settings = json.RawMessage(text)
				b.write(b.local(".claude/settings.json"), text, 0)
				b.found(path, "x")
			}
		},
		"links": func(b *planLab) {
			secret := b.write(filepath.Join(b.t.TempDir(), "secret.md"), "secret", 3*second)
			b.link(secret, b.global("a.md"))
			b.link("../secret.md", b.global("b.md"))
			b.write(filepath.Join(b.q.ConfigDir, "secret.md"), "secret", 3*second)
			b.none()
			b.q.Path = b.global("a.md")
			b.none()
			b.q.Path = ""
			path := b.write(b.global("text/c.md"), "inside", second)
			b.link("text/c.md", b.global("c.md"))
			b.found(filepath.Join(filepath.Dir(filepath.Dir(path)), "c.md"), "inside")
		},
		"the user's folder is a link": func(b *planLab) {
			other := b.t.TempDir()
			b.link(other, filepath.Join(b.q.ConfigDir, "plans"))
			b.write(filepath.Join(other, "a.md"), "x", second)
			b.found(b.global("a.md"), "x")
		},
		"no files": func(b *planLab) {
			if err := os.MkdirAll(b.global("folder.md"), 0o700); err != nil {
				b.t.Fatal(err)
			}
			if err := syscall.Mkfifo(b.global("pipe.md"), 0o600); err != nil {
				b.t.Fatal(err)
			}
			b.none()
			for _, name := range []string{"folder.md", "pipe.md"} {
				b.q.Path = b.global(name)
				b.none()
			}
			b.q.Path = ""
			if err := os.MkdirAll(b.local(".claude"), 0o700); err != nil {
				b.t.Fatal(err)
			}
			if err := syscall.Mkfifo(b.local(".claude/settings.json"), 0o600); err != nil {
				b.t.Fatal(err)
			}
			b.none()
		},
		"size": func(b *planLab) {
			b.write(b.global("a.md"), "small", second)
			text := strings.Repeat("x", maxFile)
			path := b.write(b.global("b.md"), text, 2*second)
			b.found(path, text)
			b.write(path, text+"x", 2*second)
			plan, err := new(Launcher).Plan(b.t.Context(), b.q)
			if plan != nil || err == nil || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) {
				b.t.Errorf("a plan that is too long: %v, %v", plan, err)
			}
		},
		"named by the transcript": func(b *planLab) {
			path := b.write(b.global("mine.md"), "mine", -time.Hour)
			b.write(b.global("other.md"), "another conversation's", second)
			transcript(b, b.q.Dir, `{"slug":"other"}`+"\n"+`{"type":"user","slug":"mine"}`+"\n"+`{"note":"\"slug\"","x":{"slug":"other"}}`+"\n"+`{"slug":`)
			b.found(path, "mine")
			b.q.Agent = "a1b2c3d"
			b.none()
			agent := b.write(b.global("mine-agent-a1b2c3d.md"), "sub", 0)
			b.write(b.global("other-agent-a1b2c3d.md"), "another's", second)
			b.found(agent, "sub")
		},
		"named by a long transcript, in a linked folder": func(b *planLab) {
			path := b.write(b.global("mine.md"), "mine", second)
			b.write(b.global("other.md"), "another conversation's", 2*second)
			transcript(b, b.q.Dir, `{"slug":"other"}`+"\n"+strings.Repeat("{}\n", maxFile/3)+`{"slug":"mine"}`+"\n")
			other := filepath.Join(b.t.TempDir(), "link")
			b.link(b.q.Dir, other)
			b.q.Dir = other
			b.found(path, "mine")
		},
		"named, and not written": func(b *planLab) {
			b.write(b.global("other.md"), "another conversation's", second)
			transcript(b, b.q.Dir, `{"slug":"mine"}`+"\n")
			b.none()
			transcript(b, b.q.Dir, `{"slug":"../plans/other"}`+"\n")
			b.none()
		},
		"not named": func(b *planLab) {
			path := b.write(b.global("a.md"), "x", second)
			b.q.Conversation = conversation
			b.found(path, "x")
			transcript(b, b.q.Dir, `{"slug":""}`+"\n")
			b.found(path, "x")
			b.q.Conversation = "../" + conversation
			b.found(path, "x")
		},
	} {
		t.Run(name, func(t *testing.T) { test(newPlanLab(t)) })
	}
}

func TestPlanRefuses(t *testing.T) {
	b := newPlanLab(t)
	b.write(b.global("a.md"), "x", time.Second)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := new(Launcher).Plan(ctx, b.q); !errors.Is(err, context.Canceled) {
		t.Errorf("a search that is given up: %v", err)
	}
	for _, q := range []PlanQuery{{ConfigDir: "x", Dir: b.q.Dir}, {ConfigDir: b.q.ConfigDir}} {
		if plan, err := new(Launcher).Plan(t.Context(), q); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%+v: found %+v, %v", q, plan, err)
		}
	}
}
