//go:build unix

package launch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchboard-dev/switchboard/internal/sandbox"
)

// A paper is an enforcer that enforces nothing.
type paper struct {
	name string
	// cannot says why no other sandbox starts in its own.
	cannot error
}

func (p paper) Name() string              { return p.name }
func (paper) Program() string             { return "/opt/paper" }
func (paper) Check(context.Context) error { return nil }

func (p paper) Nests(context.Context) error {
	if p.name != sandbox.Bubblewrap {
		return errors.New("there is one at a time")
	}
	return p.cannot
}

func (paper) Limits(*sandbox.Profile) []string {
	return []string{"It is made  of\npaper.", "It is made of paper.", strings.Repeat("é", maxLimit)}
}

func (paper) Wrap(_ *sandbox.Profile, c sandbox.Command) (sandbox.Command, error) { return c, nil }

// errNone is why there is no enforcer.
type errNone struct{}

func (errNone) Error() string        { return "bubblewrap isn't\ninstalled" }
func (errNone) Is(target error) bool { return target == sandbox.ErrNone }

// with has a launcher find an enforcer; none, if it is empty.
func with(l *Launcher, name string) {
	l.enforcers.find = func(context.Context, sandbox.Mode) (sandbox.Enforcer, error) {
		if name == "" {
			return nil, errNone{}
		}
		return paper{name: name}, nil
	}
}

func TestSandboxModes(t *testing.T) {
	for _, c := range []struct {
		mode     sandbox.Mode
		enforcer string
		told     string // mode, enforcer and reason
		failure  string
	}{
		{"", "bubblewrap", "off none ", ""},
		{sandbox.Off, "bubblewrap", "off none ", ""},
		{sandbox.Auto, "bubblewrap", "deny-only bubblewrap ", ""},
		{sandbox.DenyOnly, "seatbelt", "deny-only seatbelt ", ""},
		{sandbox.Strict, "landlock", "strict landlock ", ""},
		{sandbox.Auto, "", "deny-only none bubblewrap isn't installed", ""},
		{sandbox.DenyOnly, "", "", "asks for the sandbox deny-only, and none works on this machine: bubblewrap isn't installed"},
		{sandbox.Strict, "", "", "asks for the sandbox strict"},
		{"looser", "bubblewrap", "", `"looser" is no mode`},
	} {
		b := newLab(t, nil)
		with(b.Launcher, c.enforcer)
		in, err := b.enclose(t.Context(), &Spec{Dir: b.dir, Sandbox: sandbox.Policy{Mode: c.mode}})
		if c.failure != "" {
			failed, ok := errors.AsType[*StartError](err)
			if !ok || !strings.Contains(failed.Reason, c.failure) || !strings.Contains(failed.Hint, "off") {
				t.Errorf("%s by %q: %v", c.mode, c.enforcer, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s by %q: %v", c.mode, c.enforcer, err)
			continue
		}
		told := in.told.Mode + " " + in.told.Enforcer + " " + in.told.Reason
		if in.enforcer != nil {
			told = string(in.policy.Mode) + " " + in.enforcer.Name() + " "
		}
		if told != c.told {
			t.Errorf("%s by %q: told %q, expected %q", c.mode, c.enforcer, told, c.told)
		}
	}
}

// TestSandboxOfRun holds that the shim is told to start the CLI in the sandbox, which hides what is ours and shows the run's own files.
func TestSandboxOfRun(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "config")
	if err := os.Mkdir(secret, 0o700); err != nil {
		t.Fatal(err)
	}
	writable := t.TempDir()
	b := newLab(t, func(c *Config) { c.Sandbox = Sandbox{Own: []string{secret}, Writable: []string{writable}} })
	with(b.Launcher, "bubblewrap")
	spec, path := b.spec("tell")
	spec.Sandbox = sandbox.Policy{Mode: sandbox.Strict, Network: sandbox.NetworkNone}
	launched, r := b.startSpec(spec, path)
	p := r.Spec.Sandbox
	if p == nil || p.Mode != sandbox.Strict || p.Enforcer != "bubblewrap" || p.Program != "/opt/paper" || p.Network != sandbox.NetworkNone || p.Nested {
		t.Fatalf("the shim is told %+v", p)
	}
	data := realPath(b.config.DataDir)
	if !has(p.Hide, data, realPath(secret)) {
		t.Errorf("hidden are %q", p.Hide)
	}
	for _, shown := range []sandbox.Visible{{Path: realPath(r.Spec.PrivateDir)}, {Path: filepath.Join(data, "sim"), Write: true}} {
		if !slices.Contains(p.Show, shown) {
			t.Errorf("%+v is not among %+v", shown, p.Show)
		}
	}
	for _, dir := range []string{b.dir, writable} {
		if !slices.ContainsFunc(p.Writable, func(folder string) bool { return within(realPath(dir), folder) }) {
			t.Errorf("%s is not in %q", dir, p.Writable)
		}
	}
	told := launched.Sandbox
	if told.Mode != "strict" || told.Enforcer != "bubblewrap" || told.Network != "none" || told.Hidden != len(p.Hide) || told.ReadOnly != len(p.ReadOnly) || told.Reason != "" {
		t.Errorf("told %+v", told)
	}
	if len(told.Limits) < 2 || told.Limits[0] != "It is made of paper." || len(told.Limits[1]) > maxLimit+len("…") || !strings.HasSuffix(told.Limits[1], "é…") {
		t.Errorf("the limits are %q", told.Limits)
	}

	// Without a sandbox nothing is said of it.
	spec, path = b.spec("tell")
	if launched, r = b.startSpec(spec, path); r.Spec.Sandbox != nil || launched.Sandbox.Mode != "off" || launched.Sandbox.Enforcer != "none" {
		t.Errorf("%+v, %+v", r.Spec.Sandbox, launched.Sandbox)
	}
}

// TestSandboxHidesFolder refuses a folder that no agent could enter.
func TestSandboxHidesFolder(t *testing.T) {
	own := t.TempDir()
	b := newLab(t, func(c *Config) { c.Sandbox.Own = []string{own} })
	with(b.Launcher, "bubblewrap")
	dir := filepath.Join(own, "project")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{own, dir, link} {
		_, err := b.Explain(t.Context(), &Spec{Dir: dir, Sandbox: sandbox.Policy{Mode: sandbox.DenyOnly}})
		if failed, ok := errors.AsType[*StartError](err); !ok || failed.Code != Forbidden {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

// TestExplain holds that it changes nothing, and needs no CLI.
func TestExplain(t *testing.T) {
	b := newLab(t, func(c *Config) { c.Agent = "/no/such/claude" })
	with(b.Launcher, "bubblewrap")
	box, err := b.Explain(t.Context(), &Spec{Dir: b.dir, Sandbox: sandbox.Policy{Mode: sandbox.Auto}})
	if err != nil || box.Profile == nil || box.Told.Mode != "deny-only" || box.Told.Network != "all" {
		t.Fatalf("%+v, %v", box, err)
	}
	if left, err := os.ReadDir(b.config.DataDir); err != nil || len(left) > 0 {
		t.Errorf("%v, %v is left", left, err)
	}
}

// TestInnerSandbox holds what becomes of the CLI's own sandbox.
func TestInnerSandbox(t *testing.T) {
	const on, off = `{"sandbox":{"enabled":true}}`, `{"sandbox":{"enabled":false}}`
	for _, c := range []struct {
		name, session, local, project, user string
		sources                             []string
		mode                                sandbox.Mode
		enforcer                            string
		cannot                              bool // there is none in the enforcer's
		nested, innerOff                    bool
		words                               string // of the note, or of the reason why there is no sandbox
	}{
		{name: "nothing says so", mode: sandbox.Strict, enforcer: "bubblewrap"},
		{name: "the session", session: on, mode: sandbox.Strict, enforcer: "bubblewrap", nested: true, words: "is on (the session's settings)"},
		{name: "the session, not strict", session: on, mode: sandbox.DenyOnly, enforcer: "bubblewrap", nested: true, words: "and asks about hosts"},
		{name: "the session, where it cannot start", session: on, mode: sandbox.Strict, enforcer: "bubblewrap", cannot: true, innerOff: true, words: "(the session's settings) is off: it cannot start inside of this one: no namespaces"},
		{name: "the user, where it cannot start", user: on, mode: sandbox.DenyOnly, enforcer: "bubblewrap", cannot: true, innerOff: true, words: "settings.json) is off: it cannot start inside of this one: no namespaces"},
		{name: "the session says no", session: off, user: on, mode: sandbox.Strict, enforcer: "bubblewrap"},
		{name: "the user", user: on, mode: sandbox.DenyOnly, enforcer: "bubblewrap", nested: true, words: "settings.json"},
		{name: "the user, strict", user: on, mode: sandbox.Strict, enforcer: "bubblewrap", innerOff: true, words: "takes its place"},
		{name: "a project over the user", user: on, project: off, mode: sandbox.DenyOnly, enforcer: "bubblewrap"},
		{name: "local settings over a project", project: off, local: on, mode: sandbox.DenyOnly, enforcer: "bubblewrap", nested: true, words: "settings.local.json"},
		{name: "a source that is not read", user: on, sources: []string{"project"}, mode: sandbox.DenyOnly, enforcer: "bubblewrap"},
		{name: "another enforcer", session: on, mode: sandbox.DenyOnly, enforcer: "seatbelt", words: "cannot start inside of seatbelt: commands may fail"},
		{name: "another enforcer, optional", user: on, mode: sandbox.Auto, enforcer: "seatbelt", words: "cannot start inside of seatbelt"},
		{name: "no truth", user: `{"sandbox":{"enabled":"yes"}}`, mode: sandbox.DenyOnly, enforcer: "bubblewrap"},
		{name: "no settings", user: `[`, mode: sandbox.DenyOnly, enforcer: "bubblewrap"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newLab(t, func(config *Config) { config.Agent = "/claude" })
			with(b.Launcher, c.enforcer)
			if c.cannot {
				b.enforcers.find = func(context.Context, sandbox.Mode) (sandbox.Enforcer, error) {
					return paper{c.enforcer, errors.New("no namespaces")}, nil
				}
			}
			spec := &Spec{Dir: b.dir, Sandbox: sandbox.Policy{Mode: c.mode}}
			spec.Options.Settings, spec.Options.SettingSources = json.RawMessage(c.session), c.sources
			for path, text := range map[string]string{
				filepath.Join(b.dir, ".claude", "settings.local.json"): c.local, filepath.Join(b.dir, ".claude", "settings.json"): c.project,
				filepath.Join(b.home, ".claude", "settings.json"): c.user,
			} {
				if text == "" {
					continue
				}
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			in, err := b.enclose(t.Context(), spec)
			if err != nil {
				t.Fatal(err)
			}
			if in.nested != c.nested || in.innerOff != c.innerOff {
				t.Errorf("nested %v, off %v", in.nested, in.innerOff)
			}
			if words := in.note + in.told.Reason; !strings.Contains(words, c.words) || (words == "") != (c.words == "") {
				t.Errorf("said is %q", words)
			}
			if (in.enforcer == nil) != (c.mode == sandbox.Auto) {
				t.Errorf("the enforcer is %v", in.enforcer)
			}
		})
	}
}

// TestInnerSandboxOff holds that the CLI is told, beside the rules that it gets.
func TestInnerSandboxOff(t *testing.T) {
	b := newLab(t, nil)
	found, err := b.find(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	spec := &Spec{Dir: b.dir, Deny: []string{"Read(//secret/**)"}}
	spec.Options.Settings = json.RawMessage(`{"model":"opus"}`)
	if _, err := b.command(found, spec, &enclosure{innerOff: true}, folder); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	for _, file := range append(files, more...) {
		if read, err := os.ReadFile(file); err == nil {
			text = append(text, read...)
		}
	}
	for _, want := range []string{`"sandbox":{"enabled":false}`, `"model":"opus"`, `Read(//secret/**)`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
}

// TestFindEnforcerOnce holds that the machine is looked at once, by one caller for all, and again after a while if there was none.
func TestFindEnforcerOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var looks atomic.Int32
		works := false
		e := &enforcers{find: func(ctx context.Context, _ sandbox.Mode) (sandbox.Enforcer, error) {
			looks.Add(1)
			if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) > findGrace {
				t.Error("it is not bounded")
			}
			time.Sleep(time.Second)
			if ctx.Err() != nil {
				t.Error("the end of a caller's context reaches the others")
			}
			if !works {
				return nil, errNone{}
			}
			return paper{name: "bubblewrap"}, nil
		}}
		impatient, cancel := context.WithCancel(t.Context())
		var calls sync.WaitGroup
		for i := range 5 {
			ctx := t.Context()
			if i == 0 {
				ctx = impatient
			}
			calls.Go(func() {
				if _, err := e.get(ctx, sandbox.Strict); err == nil {
					t.Error("found one")
				}
			})
		}
		synctest.Wait()
		cancel()
		calls.Wait()
		look := func(mode sandbox.Mode, want int32, found bool) {
			t.Helper()
			if _, err := e.get(t.Context(), mode); (err == nil) != found || looks.Load() != want {
				t.Errorf("%v after %d looks, expected %d", err, looks.Load(), want)
			}
		}
		look(sandbox.Strict, 1, false)
		works = true
		time.Sleep(findAgain - 2*time.Second)
		look(sandbox.Strict, 1, false)
		time.Sleep(2 * time.Second)
		look(sandbox.Strict, 2, true)
		look(sandbox.DenyOnly, 3, true)
		works = false
		time.Sleep(time.Hour)
		look(sandbox.Strict, 3, true)
	})
}

// TestNoSandboxIsLoggedOnce holds that a machine without a sandbox is not passed over in silence.
func TestNoSandboxIsLoggedOnce(t *testing.T) {
	var log bytes.Buffer
	b := newLab(t, func(c *Config) {
		c.Logger, c.Sandbox.Enforcer = slog.New(slog.NewTextHandler(&log, nil)), "no such enforcer"
	})
	for _, mode := range []sandbox.Mode{sandbox.Auto, sandbox.Strict} {
		if _, err := b.Enforcer(t.Context(), mode); !errors.Is(err, sandbox.ErrNone) {
			t.Errorf("%s: %v", mode, err)
		}
	}
	if text := log.String(); strings.Count(text, "level=WARN") != 1 || !strings.Contains(text, "no sandbox works") {
		t.Errorf("the log is %q", text)
	}
}
