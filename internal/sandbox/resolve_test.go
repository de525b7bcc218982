package sandbox

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A lab is a home folder with what a user has, in which a resolver runs.
type lab struct {
	t       *testing.T
	root    string
	policy  Policy
	machine Machine
	sockets []string
}

func newLab(t *testing.T, names ...string) *lab {
	t.Helper()
	root := makeTree(t, append([]string{
		"home/.claude/settings.json", "home/.claude/projects/", "home/.claude/.credentials.json", "home/.claude.json", "home/.ssh/id", "home/.cache/", "home/.npm/", "home/.bashrc",
		"home/work/.git/hooks/", "home/work/.git/config", "home/work/.git/HEAD", "home/work/src/a.go", "home/work/.mcp.json", "home/extra/",
		"data/run/cli/s1-1/settings.json", "data/sim/", "data/journal.db", "opt/claude/cli", "tmp/",
	}, names...)...)
	return &lab{
		t: t, root: root,
		policy: Policy{Mode: DenyOnly, Network: NetworkAll},
		machine: Machine{
			Home: root + "/home", Dir: root + "/home/work", ConfigDir: root + "/home/.claude", Env: []string{"TMPDIR=" + root + "/tmp"},
			Own: []string{root + "/data"}, Show: []Visible{{Path: root + "/data/run/cli/s1-1"}, {Path: root + "/data/sim", Write: true}},
			Program: []string{root + "/opt/claude/cli"},
		},
	}
}

// resolve returns the profile, and its lists with paths relative to the lab; what
// is elsewhere on the machine is left out.
func (l *lab) resolve() (p *Profile, lists map[string][]string, notes []string) {
	l.t.Helper()
	p, notes, err := l.try(l.t.Context())
	if err != nil {
		l.t.Fatal(err)
	}
	lists = map[string][]string{}
	add := func(list string, names ...string) {
		for _, name := range names {
			if rel, ok := strings.CutPrefix(name, l.root+"/"); ok {
				lists[list] = append(lists[list], rel)
			} else if name == "/" {
				lists[list] = append(lists[list], name)
			}
		}
	}
	add("hide", p.Hide...)
	add("read", p.ReadOnly...)
	add("write", p.Writable...)
	for _, v := range p.Show {
		if v.Write {
			add("show write", v.Path)
		} else {
			add("show", v.Path)
		}
	}
	return p, lists, notes
}

func (l *lab) try(ctx context.Context) (*Profile, []string, error) {
	r := &resolver{policy: &l.policy, machine: &l.machine, entries: maxEntries, listening: func() ([]string, error) { return l.sockets, nil }}
	return r.resolve(ctx)
}

func hasNote(notes []string, words string) bool {
	return slices.ContainsFunc(notes, func(note string) bool { return strings.Contains(note, words) })
}

func TestResolveDenyOnly(t *testing.T) {
	t.Parallel()
	l := newLab(t, "home/work/sub/.env", "home/work/.env")
	l.policy.DenyRead = []string{"~/.ssh", "~/.ssh/id", "~/work/**/.env", "~/none"}
	l.policy.DenyWrite = []string{"~/.bashrc", "~/.ssh", "~/work/src/**", "~/work/src/a.go"}
	p, lists, notes := l.resolve()
	want := map[string][]string{
		"hide":       {"data", "home/.ssh", "home/work/.env", "home/work/sub/.env"},
		"read":       {"home/.bashrc", "home/work/src"},
		"show":       {"data/run/cli/s1-1"},
		"show write": {"data/sim"},
	}
	if diff := cmp.Diff(want, lists); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if p.Dir != l.root+"/home/work" || p.RootReadOnly() || p.Mode != DenyOnly {
		t.Errorf("the profile is %+v", p)
	}
	if len(notes) != 1 || !hasNote(notes, "do not exist") || !hasNote(notes, "~/none") {
		t.Errorf("notes: %q", notes)
	}
	if _, err := os.Lstat(l.root + "/home/none"); err == nil {
		t.Error("a denied path was made")
	}
}

func TestResolveStrict(t *testing.T) {
	t.Parallel()
	l := newLab(t, "home/work/.env", "home/work/.git/modules/m/hooks/", "home/work/.git/modules/m/config", "home/work/.claude/settings.local.json", "go/mod/", "home/.claude/agents/")
	l.policy.Mode, l.policy.Dirs = Strict, []string{"~/extra", "~/gone"}
	l.policy.DenyRead, l.policy.DenyWrite = []string{"~/work/**/.env"}, []string{"~/work/src", "~/.bashrc"}
	l.machine.Env = append(l.machine.Env, "GOMODCACHE="+l.root+"/go/mod", "GOCACHE="+l.root, "XDG_CACHE_HOME=relative")
	p, lists, notes := l.resolve()
	// The lab itself is in a temporary folder of the machine, where everything
	// can be written.
	temporary := realPath("/tmp")
	inTemporary := temporary != "" && isBelow(temporary, l.root)
	want := map[string][]string{
		"hide": {"data", "home/work/.env"},
		"read": {
			"home/.bashrc", "home/.claude/agents", "home/.claude/settings.json",
			"home/work/.claude/settings.local.json", "home/work/.git/config", "home/work/.git/hooks", "home/work/.git/modules/m/config", "home/work/.git/modules/m/hooks", "home/work/.mcp.json",
			"home/work/src",
		},
		"write":      {"go/mod", "home/.cache", "home/.claude", "home/.claude.json", "home/.npm", "home/extra", "home/work", "tmp"},
		"show":       {"data/run/cli/s1-1"},
		"show write": {"data/sim"},
	}
	if inTemporary {
		delete(want, "write")
	} else {
		want["read"] = want["read"][1:]
	}
	if diff := cmp.Diff(want, lists); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !p.RootReadOnly() || inTemporary && !slices.Contains(p.Writable, temporary) {
		t.Errorf("the profile is %+v", p)
	}
	if len(notes) != 1 || !hasNote(notes, "/home/gone does not exist") {
		t.Errorf("notes: %q", notes)
	}
}

// TestResolveDenyEdit: a bare deny Edit leaves what programs and the CLI need.
func TestResolveDenyEdit(t *testing.T) {
	t.Parallel()
	for _, mode := range []Mode{DenyOnly, Strict} {
		l := newLab(t)
		l.policy.Mode, l.policy.Dirs, l.policy.DenyWrite = mode, []string{"~/extra"}, []string{"/"}
		p, lists, _ := l.resolve()
		if !p.RootReadOnly() {
			t.Errorf("%s: the root can be written: %+v", mode, p)
		}
		for _, name := range []string{"home/work", "home/extra"} {
			if effectOf(p, l.root+"/"+name+"/x") != effectRead {
				t.Errorf("%s: %s can be written: %v", mode, name, lists)
			}
		}
		for _, name := range []string{"tmp/x", "home/.cache/x", "home/.claude/projects/x", "home/.claude.json"} {
			if effectOf(p, l.root+"/"+name) != effectWrite {
				t.Errorf("%s: %s cannot be written: %v", mode, name, lists)
			}
		}
		if effectOf(p, l.root+"/home/.claude/settings.json") != effectRead {
			t.Errorf("%s: the CLI's settings can be written: %v", mode, lists)
		}
	}
}

// effectOf reads a profile as its documentation says: the longest path decides.
func effectOf(p *Profile, name string) effect {
	result, longest := effectWrite, -1
	if p.RootReadOnly() {
		result = effectRead
	}
	set := func(list []string, e effect) {
		for _, folder := range list {
			if isBelow(folder, name) && len(folder) > longest {
				result, longest = e, len(folder)
			}
		}
	}
	set(p.Hide, effectNone)
	set(p.ReadOnly, effectRead)
	set(p.Writable, effectWrite)
	for _, v := range p.Show {
		if v.Write {
			set([]string{v.Path}, effectWrite)
		} else {
			set([]string{v.Path}, effectRead)
		}
	}
	return result
}

// TestResolveKeepsTheCLI: rules about the CLI's own files do not break it, and are
// told of.
func TestResolveKeepsTheCLI(t *testing.T) {
	t.Parallel()
	l := newLab(t, "other/work/")
	l.machine.Dir = l.root + "/other/work"
	l.policy.DenyRead = []string{"~", escapePattern(l.root) + "/opt"}
	_, lists, notes := l.resolve()
	want := map[string][]string{
		"hide":       {"data", "home", "opt"},
		"show":       {"data/run/cli/s1-1", "opt/claude/cli"},
		"show write": {"data/sim", "home/.claude", "home/.claude.json"},
	}
	if diff := cmp.Diff(want, lists); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(notes) != 2 || !hasNote(notes, "own program") || !hasNote(notes, "own files") {
		t.Errorf("notes: %q", notes)
	}

	l = newLab(t)
	l.policy.DenyRead = []string{"~/.claude/.credentials.json", "~/.claude.json"}
	l.policy.DenyWrite = []string{"~/.claude/**"}
	_, lists, notes = l.resolve()
	want = map[string][]string{
		"hide": {"data"}, "read": {"home/.claude/settings.json"}, "show": {"data/run/cli/s1-1"}, "show write": {"data/sim"},
	}
	if diff := cmp.Diff(want, lists); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(notes) != 1 || !hasNote(notes, "~/.claude.json, ~/.claude/**, ~/.claude/.credentials.json") {
		t.Errorf("notes: %q", notes)
	}

	l = newLab(t)
	l.policy.DenyWrite = []string{"~"}
	p, lists, _ := l.resolve()
	if effectOf(p, l.root+"/home/.claude/projects/x") != effectWrite || effectOf(p, l.root+"/home/.claude/settings.json") != effectRead || effectOf(p, l.root+"/home/work/x") != effectRead {
		t.Errorf("a rule about the home folder: %v", lists)
	}
}

func TestResolveRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, want string
		change     func(*lab)
	}{
		{"the working folder is denied", "~/work/** where", func(l *lab) { l.policy.DenyRead = []string{"~/work/**"} }},
		{"a folder above it is denied", "~, where", func(l *lab) { l.policy.DenyRead = []string{"~"} }},
		{"everything is denied", "/, where", func(l *lab) { l.policy.DenyRead = []string{"/"} }},
		{"it is denied by a pattern", "~/w*, where", func(l *lab) { l.policy.DenyRead = []string{"~/w*"} }},
		{"it is a link to what is denied", "~/.ssh, where", func(l *lab) {
			l.policy.DenyRead, l.machine.Dir = []string{"~/.ssh"}, l.root+"/link"
			if err := os.Symlink("home/.ssh", l.machine.Dir); err != nil {
				l.t.Fatal(err)
			}
		}},
		{"it is in Switchboard's own", "Switchboard's own", func(l *lab) { l.machine.Dir = l.root + "/data/run" }},
		{"it does not exist", "does not exist", func(l *lab) { l.machine.Dir = l.root + "/none" }},
		{"what is to be shown does not exist", "does not exist", func(l *lab) { l.machine.Show = []Visible{{Path: l.root + "/none"}} }},
		{"a pattern that cannot be read", "not complete", func(l *lab) { l.policy.DenyRead = []string{"/[a"} }},
		{"too many patterns", "deny 10001 paths", func(l *lab) { l.policy.DenyRead = slices.Repeat([]string{"/x"}, maxPatterns+1) }},
		{"no mode", "mode", func(l *lab) { l.policy.Mode = Off }},
		{"no network", "network", func(l *lab) { l.policy.Network = "some" }},
		{"no address", "ANTHROPIC_BASE_URL is no address", func(l *lab) {
			l.policy.Network, l.machine.Env = NetworkNone, []string{"ANTHROPIC_BASE_URL=http://user:secret@:80"}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t)
			test.change(l)
			p, _, err := l.try(t.Context())
			if err == nil {
				t.Fatalf("there is a profile: %+v", p)
			}
			if text := err.Error(); !strings.Contains(strings.ReplaceAll(text, "**,", "**"), test.want) || strings.Contains(text, "secret@") {
				t.Errorf("the error is %q, want something with %q", text, test.want)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := newLab(t).try(ctx); err == nil {
		t.Error("there is a profile although the context has ended")
	}
}

func TestResolveNotes(t *testing.T) {
	t.Parallel()
	l := newLab(t, "home/dot/bashrc", "home/.zshrc -> dot/bashrc", "home/.netrc")
	if err := os.Link(l.root+"/home/.netrc", l.root+"/home/copy"); err != nil {
		t.Fatal(err)
	}
	l.policy.Dirs = []string{"~/extra"}
	l.policy.DenyRead = []string{"~/.netrc", "~/extra", "/proc/version"}
	l.policy.DenyWrite = []string{"~/.zshrc"}
	_, lists, notes := l.resolve()
	if diff := cmp.Diff([]string{"home/dot/bashrc"}, lists["read"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want := []string{"hard links", "are links, which can be replaced", "additional directory", "/proc"}
	for _, words := range want {
		if !hasNote(notes, words) {
			t.Errorf("there is no note with %q: %q", words, notes)
		}
	}
	if len(notes) != len(want) {
		t.Errorf("notes: %q", notes)
	}
	l = newLab(t)
	if err := os.Remove(l.root + "/home/.claude.json"); err != nil {
		t.Fatal(err)
	}
	l.policy.Mode = Strict
	if _, _, notes := l.resolve(); len(notes) != 1 || !hasNote(notes, ".claude.json does not exist and cannot be made") {
		t.Errorf("notes: %q", notes)
	}
	l.machine.Env = append(l.machine.Env, "CLAUDE_CONFIG_DIR="+l.machine.ConfigDir)
	if _, _, notes := l.resolve(); len(notes) != 0 {
		t.Errorf("notes: %q", notes)
	}
	if err := os.Remove(l.root + "/home/work/.git/hooks"); err != nil {
		t.Fatal(err)
	}
	if _, _, notes := l.resolve(); len(notes) != 1 || !hasNote(notes, "has no folder hooks") {
		t.Errorf("notes: %q", notes)
	}
}

// TestResolveSockets: what listens is hidden, but for the exceptions, and variables
// that name it are unset.
func TestResolveSockets(t *testing.T) {
	t.Parallel()
	l := newLab(t, "run/", "bus/", "ssh/", "own/", "home/file")
	for _, shared := range []string{"run", "bus", "ssh"} {
		if err := os.Chmod(l.root+"/"+shared, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(l.root+"/own", 0o700); err != nil {
		t.Fatal(err)
	}
	listen := func(name string) string {
		t.Helper()
		dir := t.TempDir() // such paths must be short
		socket, err := net.Listen("unix", filepath.Join(dir, "s"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = socket.Close() })
		if err := os.Rename(filepath.Join(dir, "s"), l.root+"/"+name); err != nil {
			t.Fatal(err)
		}
		return l.root + "/" + name
	}
	l.sockets = []string{listen("bus/a"), listen("run/bus"), listen("ssh/agent"), listen("data/sim/inner"), l.root + "/home/file", l.root + "/none"}
	agent := listen("run/agent")
	l.sockets = append(l.sockets, agent)
	l.machine.Env = append(l.machine.Env,
		"XDG_RUNTIME_DIR="+l.root+"/run", "SSH_AUTH_SOCK="+agent, "DBUS_SESSION_BUS_ADDRESS=unix:path="+l.root+"/run/bus,guid=1", "DOCKER_HOST=unix://"+l.root+"/bus/a",
		"EDITOR_SOCKET="+l.root+"/bus/a", "TMUX="+l.root+"/x,1,0", "HOME="+l.root+"/home", "OTHER="+l.root+"/bus/b", "DOCKER_CONFIG=/x", "WAYLAND_DISPLAY=wayland-0",
	)
	p, lists, _ := l.resolve()
	want := map[string][]string{
		"hide": {"bus/a", "data", "data/sim/inner", "run", "ssh/agent"}, "show": {"data/run/cli/s1-1"}, "show write": {"data/sim", "run/agent"},
	}
	if diff := cmp.Diff(want, lists); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST", "EDITOR_SOCKET", "TMUX", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR"}, p.UnsetEnv); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	l.policy.Mode = Strict
	p, lists, _ = l.resolve()
	if !slices.Contains(p.UnsetEnv, "SSH_AUTH_SOCK") || slices.Contains(lists["show write"], "run/agent") {
		t.Errorf("a strict sandbox leads to the agent with keys: %v %v", p.UnsetEnv, lists)
	}

	// A socket in a folder of its own, which other users may not enter: the folder.
	l.policy.Mode = DenyOnly
	shared, env := l.sockets, l.machine.Env
	l.sockets, l.machine.Env = []string{listen("own/s")}, []string{"TMPDIR=" + l.root}
	if _, lists, _ = l.resolve(); !slices.Equal(lists["hide"], []string{"data", "own"}) {
		t.Errorf("hidden: %q", lists["hide"])
	}
	l.sockets, l.machine.Env = shared, env

	// A folder of sockets that has the working folder in it is not hidden.
	l.machine.Env = []string{"XDG_RUNTIME_DIR=" + l.root}
	p, lists, _ = l.resolve()
	if diff := cmp.Diff([]string{"bus/a", "data", "data/sim/inner", "run/agent", "run/bus", "ssh/agent"}, lists["hide"]); diff != "" || slices.Contains(p.UnsetEnv, "XDG_RUNTIME_DIR") {
		t.Errorf("(-want +got):\n%s %v", diff, p.UnsetEnv)
	}
}

func TestParseUnixSockets(t *testing.T) {
	t.Parallel()
	const text = `Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000002 00000000 00010000 0001 01 16163 /run/dbus/system_bus_socket
0000000000000000: 00000003 00000000 00000000 0001 03 16164 /run/dbus/system_bus_socket2
0000000000000000: 00000002 00000000 00010000 0001 01 16165 @/tmp/.X11-unix/X0
0000000000000000: 00000002 00000000 00000000 0002 01 16166 /run/systemd/notify
0000000000000000: 00000002 00000000 00010000 0005 01 16167 /run/udev/a control
0000000000000000: 00000003 00000000 00000000 0001 03 16168
garbage
`
	got, err := parseUnixSockets(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/run/dbus/system_bus_socket", "/run/systemd/notify", "/run/udev/a control"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	many := strings.Repeat("0: 2 0 00010000 0001 01 1 /x\n", maxSockets+5)
	if got, err := parseUnixSockets(strings.NewReader("\n" + many)); err != nil || len(got) != maxSockets {
		t.Errorf("%d sockets, %v", len(got), err)
	}
}

func TestResolveNetwork(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.policy.Network, l.policy.AskHosts = NetworkListed, true
	l.policy.AllowHosts, l.policy.DenyHosts = []string{"good.example", "claude.ai"}, []string{"*.anthropic.com", "evil.example"}
	l.machine.Env = append(l.machine.Env, "ANTHROPIC_BASE_URL=http://localhost:8080/x", "ANTHROPIC_BEDROCK_BASE_URL=https://Gate.example", "ANTHROPIC_VERTEX_BASE_URL=http://[::1]",
		"CLAUDE_CODE_USE_BEDROCK=1", "AWS_REGION=eu-west-1", "CLAUDE_CODE_USE_VERTEX=0", "CLOUD_ML_REGION=../x")
	p, _, notes := l.resolve()
	want := &Profile{
		AllowHosts: []string{
			"api.anthropic.com", "bedrock-runtime.eu-west-1.amazonaws.com", "bedrock.eu-west-1.amazonaws.com", "claude.ai", "console.anthropic.com", "gate.example", "good.example",
			"oidc.eu-west-1.amazonaws.com", "platform.claude.com", "portal.sso.eu-west-1.amazonaws.com", "sts.eu-west-1.amazonaws.com",
		},
		DenyHosts: []string{"*.anthropic.com", "evil.example"},
		Forward:   []string{"127.0.0.1:8080", "[::1]:80"},
	}
	got := &Profile{AllowHosts: p.AllowHosts, DenyHosts: p.DenyHosts, Forward: p.Forward}
	if diff := cmp.Diff(want, got); diff != "" || !p.AskHosts {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(notes) != 2 || !hasNote(notes, "denies the host api.anthropic.com") {
		t.Errorf("notes: %q", notes)
	}

	l = newLab(t)
	l.policy.Network, l.policy.AskHosts, l.policy.AllowHosts = NetworkNone, true, []string{"good.example"}
	p, _, _ = l.resolve()
	if diff := cmp.Diff([]string{"api.anthropic.com", "claude.ai", "console.anthropic.com", "platform.claude.com"}, p.AllowHosts); diff != "" || p.AskHosts {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestWorktreeRepository: git writes to the repository of a worktree, which must
// be the worktree's own, whatever the file .git says.
func TestWorktreeRepository(t *testing.T) {
	t.Parallel()
	root := makeTree(t, "main/", "evil/", "victim/worktrees/x/")
	git := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", root + "/main", "-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "init.defaultBranch=main"}, args...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + root, "GIT_CONFIG_NOSYSTEM=1"}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "x")
	git("worktree", "add", "-q", root+"/tree")
	if got := worktreeRepository(root + "/tree"); got != root+"/main/.git" {
		t.Errorf("the repository of a worktree is %q", got)
	}
	if got := worktreeRepository(root + "/main"); got != "" {
		t.Errorf("the repository of no worktree is %q", got)
	}
	for _, at := range []string{root + "/victim/worktrees/x", root + "/victim", root + "/main/.git/worktrees/tree", "../victim", ""} {
		if err := os.WriteFile(root+"/evil/.git", []byte("gitdir: "+at+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := worktreeRepository(root + "/evil"); got != "" {
			t.Errorf("with %q in .git, %s would be writable", at, got)
		}
	}
}
