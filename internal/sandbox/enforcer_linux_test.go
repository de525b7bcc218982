package sandbox

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestLayout holds which list decides about which path.
func TestLayout(t *testing.T) {
	base := folderOf(t, os.Geteuid())
	for _, dir := range []string{"work/deep", "secrets/shown/inner", "fixed/free"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	at := func(names ...string) (paths []string) {
		for _, name := range names {
			paths = append(paths, filepath.Join(base, name))
		}
		return paths
	}
	show := func(name string, write bool) []Visible { return []Visible{{filepath.Join(base, name), write}} }
	for _, test := range []struct {
		name    string
		profile Profile
		want    string
	}{
		{"hidden", Profile{Hide: at("secrets")}, "secrets:none"},
		{"hidden in hidden", Profile{Hide: at("secrets", "secrets/shown")}, "secrets:none"},
		{"shown", Profile{Hide: at("secrets"), Show: show("secrets/shown", false)}, "secrets:none+ secrets/shown:read"},
		{"shown to be written", Profile{Hide: at("secrets"), Show: show("secrets/shown", true)}, "secrets:none+ secrets/shown:write"},
		{"hidden in shown", Profile{Hide: at("secrets", "secrets/shown/inner"), Show: show("secrets/shown", true)}, "secrets:none+ secrets/shown:write secrets/shown/inner:none"},
		{"hidden and shown", Profile{Hide: at("secrets"), Show: show("secrets", true)}, "secrets:none"},
		{"shown, not to be written", Profile{ReadOnly: []string{base}, Hide: at("secrets"), Show: show("secrets/shown", true)}, ":read secrets:none+ secrets/shown:read"},
		{"read-only", Profile{ReadOnly: at("fixed")}, "fixed:read"},
		{"writable in read-only", Profile{ReadOnly: at("fixed"), Writable: at("fixed/free")}, "fixed:read fixed/free:write"},
		{"everything read-only", Profile{ReadOnly: []string{"/"}, Writable: at("work"), Hide: at("secrets"), Show: show("secrets/shown", true)}, "secrets:none+ work:write secrets/shown:write"},
		{"read-only and writable", Profile{ReadOnly: at("fixed"), Writable: at("fixed", "work")}, "fixed:read"},
		{"strict", Profile{Mode: Strict, Writable: at("work")}, "work:write"},
		{"strict, read-only in it", Profile{Mode: Strict, Writable: at("work"), ReadOnly: at("work/deep")}, "work:write work/deep:read"},
		{"strict, writable in what is denied", Profile{Mode: Strict, Writable: at("fixed/free"), ReadOnly: at("fixed")}, "fixed/free:write"},
		{"strict, writable in what is hidden", Profile{Mode: Strict, Writable: at("secrets/shown"), Hide: at("secrets")}, "secrets:none"},
		{"removed meanwhile", Profile{Hide: at("gone")}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.profile.Mode == "" {
				test.profile.Mode = DenyOnly
			}
			l, err := newLayout(&test.profile, "")
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, pl := range l.places {
				if pl.pin {
					continue
				}
				text := strings.TrimPrefix(strings.TrimPrefix(pl.path, base), "/") + ":" + [...]string{"write", "read", "none"}[pl.access]
				if pl.shows {
					text += "+"
				}
				got = append(got, text)
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestRemovedPath starts nothing if a denied path is gone where files do not come
// and go: it may just be being replaced.
func TestRemovedPath(t *testing.T) {
	for _, profile := range []*Profile{
		{Mode: DenyOnly, Hide: []string{"/usr/no-such-file"}},
		{Mode: DenyOnly, ReadOnly: []string{"/usr/no-such-file"}},
		{Mode: DenyOnly, Hide: []string{"relative"}},
		{Mode: DenyOnly, Hide: []string{"/"}},
	} {
		if l, err := newLayout(profile, ""); err == nil {
			t.Errorf("%+v became %+v", profile, l)
		}
	}
}

// both runs a test for each enforcer.
func both(t *testing.T, test func(*testing.T, Enforcer)) {
	for _, name := range []string{Bubblewrap, Landlock} {
		t.Run(name, func(t *testing.T) { test(t, enforcerFor(t, name)) })
	}
}

// TestCheck holds that an enforcer that works says so, and that Find finds it.
func TestCheck(t *testing.T) {
	both(t, func(t *testing.T, e Enforcer) {
		if err := e.Check(t.Context()); err != nil {
			t.Error(err)
		}
	})
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	found, err := Find(t.Context(), "auto", bwrapPath(t), self, DenyOnly)
	if err != nil || found.Name() != Bubblewrap {
		t.Errorf("found %v, %v", found, err)
	}
	if _, err := Find(t.Context(), "seatbelt", "", self, DenyOnly); !errors.Is(err, ErrNone) {
		t.Errorf("looking for an enforcer of another system: %v", err)
	}
}

// TestFindNone holds that programs which are no bubblewrap are refused with words.
func TestFindNone(t *testing.T) {
	dir := folderOf(t, os.Geteuid())
	t.Setenv("PATH", dir)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const script = "#!/bin/sh\n[ \"$1\" = --version ] && echo 'bubblewrap 0.6.1'\n"
	for _, test := range []struct{ name, program, want string }{
		{"missing", "", "sudo apt install bubblewrap"},
		{"gone", filepath.Join(dir, "gone"), "sudo apt install bubblewrap"},
		{"writable", write("open", script, 0o777), "other users can write"},
		{"no program", write("text", "x", 0o644), "not a program"},
		{"a folder", dir, "not a program"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Find(t.Context(), "auto", test.program, self, DenyOnly)
			if !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want ErrNone with %q", err, test.want)
			}
		})
	}
	t.Setenv("PATH", "/usr/bin:/bin")
	_, err = Find(t.Context(), Bubblewrap, write("old", script, 0o755), self, Strict)
	if !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "0.6.1 is too old") {
		t.Errorf("an old bubblewrap: %v", err)
	}
}

// TestExit holds that exit codes come through, and a signal as shells tell it.
func TestExit(t *testing.T) {
	both(t, func(t *testing.T, e Enforcer) {
		p := &Profile{Mode: DenyOnly, Dir: t.TempDir()}
		for script, want := range map[string]int{"exit 0": 0, "exit 7": 7} {
			if _, code := start(t, e, p, Command{Args: []string{"/bin/sh", "-c", script}}).wait(t); code != want {
				t.Errorf("%s ended with %d, want %d", script, code, want)
			}
		}
		s := start(t, e, p, Command{Args: []string{"/bin/sh", "-c", "kill -SEGV $$"}})
		_, code := s.wait(t)
		signalled := s.cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled()
		if e.Name() == Bubblewrap && code != 128+int(syscall.SIGSEGV) || e.Name() == Landlock && !signalled {
			t.Errorf("a process that a signal ended gave the code %d", code)
		}
		if s := start(t, e, p, Command{Args: []string{"/no/such/program"}}); true {
			if _, code := s.wait(t); code != exitInner || !strings.Contains(s.stderr.String(), "/no/such/program") {
				t.Errorf("a program that is not there gave the code %d: %s", code, s.stderr.String())
			}
		}
	})
}

// TestTerminate holds that the process which Receive tells of is the one inside,
// and that it can end in its own way; and that all inside ends with it.
func TestTerminate(t *testing.T) {
	both(t, func(t *testing.T, e Enforcer) {
		dir := t.TempDir()
		ready := filepath.Join(dir, "ready")
		if err := syscall.Mkfifo(ready, 0o600); err != nil {
			t.Fatal(err)
		}
		s := start(t, e, &Profile{Mode: DenyOnly, Dir: dir}, Command{Args: []string{"/bin/sh", "-c", `trap 'echo ended well; exit 3' TERM; echo x > ready; while :; do sleep 0.01; done`}})
		if s.err != nil {
			t.Fatal(s.err)
		}
		if _, err := os.ReadFile(ready); err != nil { // it blocks until the trap is set
			t.Fatal(err)
		}
		if err := s.listeners.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if out, code := s.wait(t); code != 3 || !strings.Contains(out, "ended well") {
			t.Errorf("it ended with %d and said %q", code, out)
		}
	})
}

// TestKilledMonitor holds that nothing in a sandbox of bubblewrap survives the
// process that was started.
func TestKilledMonitor(t *testing.T) {
	e := enforcerFor(t, Bubblewrap)
	dir := t.TempDir()
	for _, name := range []string{"ready", "held"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := start(t, e, &Profile{Mode: DenyOnly, Dir: dir}, Command{Args: []string{"/bin/sh", "-c", `setsid sh -c 'exec 9> held; sleep 600' & echo x > ready; wait`}})
	if s.err != nil {
		t.Fatal(s.err)
	}
	if _, err := os.ReadFile(filepath.Join(dir, "ready")); err != nil {
		t.Fatal(err)
	}
	held, err := os.Open(filepath.Join(dir, "held")) // blocks until the process in the background has it
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := held.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(held); err != nil {
		t.Errorf("the process in the background lives on: %v", err)
	}
	_ = s.cmd.Wait() // it was killed
}

// TestNetwork holds that the network of a sandbox leads to the listeners alone.
func TestNetwork(t *testing.T) {
	outside, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer outside.Close()
	go func() { // ends with the listener
		for {
			c, err := outside.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	_, port, _ := net.SplitHostPort(outside.Addr().String())
	both(t, func(t *testing.T, e Enforcer) {
		p := &Profile{Mode: Strict, Dir: "/", Network: NetworkListed, Forward: []string{"127.0.0.1:" + port}}
		if e.Name() == Landlock {
			p.Forward = nil
		}
		script := fmt.Sprintf(`
import os, socket, sys
def get(port):
    try:
        return socket.create_connection(("127.0.0.1", port), 20).recv(99).decode()
    except OSError as e:
        return type(e).__name__
proxy = os.environ["HTTPS_PROXY"]
print(proxy.count("@"), get(int(proxy.rsplit(":", 1)[1])), get(%s), os.environ["no_proxy"])`, port)
		s := start(t, e, p, Command{Args: []string{"python3", "-c", script}, Dir: "/"})
		if s.err != nil {
			t.Fatal(s.err, s.stderr.String())
		}
		answer := func(l net.Listener, text string) {
			c, err := l.Accept()
			if err == nil {
				_, err = io.WriteString(c, text)
				err = errors.Join(err, c.Close())
			}
			if err != nil {
				t.Error(err)
			}
		}
		answer(s.listeners.Proxy, "proxy")
		want := "1 proxy PermissionError localhost"
		if e.Name() == Bubblewrap {
			answer(s.listeners.Forward[p.Forward[0]], "forward")
			want = "0 proxy forward localhost"
		}
		if out, _ := s.wait(t); !strings.HasPrefix(out, want) {
			t.Errorf("got %q, want %q", out, want)
		}
		if secret := s.listeners.Credential != ""; secret != (e.Name() == Landlock) {
			t.Errorf("the credential is %q", s.listeners.Credential)
		}
	})
}

// TestFiles holds that a process inside gets the files that are meant for it, and
// no others, and none of the variables that it must not have.
func TestFiles(t *testing.T) {
	both(t, func(t *testing.T, e Enforcer) {
		var fds []int
		for _, text := range []string{"first", "second"} {
			fd, err := memory("test", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			fds = append(fds, fd)
		}
		p := &Profile{Mode: DenyOnly, Dir: t.TempDir(), UnsetEnv: []string{"SOCKET"}}
		s := start(t, e, p, Command{
			Args: []string{"/bin/sh", "-c", `cat <&3; cat <&4; echo " $SOCKET$OTHER"; ls /proc/self/fd | wc -l`}, Files: fds,
			Env: []string{"PATH=" + os.Getenv("PATH"), "SOCKET=x", "OTHER=y"},
		})
		if out, _ := s.wait(t); out != "firstsecond y\n6\n" { // 0 to 4, and the folder itself
			t.Errorf("got %q", out)
		}
	})
}

// TestArguments holds that lists are not among the arguments, which have a limit,
// and that nothing is started without a socket to tell of its network.
func TestArguments(t *testing.T) {
	both(t, func(t *testing.T, e Enforcer) {
		dir := folderOf(t, os.Geteuid())
		p := &Profile{Mode: DenyOnly, Dir: dir, Network: NetworkAll}
		for i := range 300 {
			path := filepath.Join(dir, fmt.Sprint("hidden", i))
			if err := os.WriteFile(path, []byte(secret), 0o600); err != nil {
				t.Fatal(err)
			}
			p.Hide = append(p.Hide, path)
		}
		c, err := e.Wrap(p, Command{Args: []string{"true"}, Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		closeFiles(c.Files)
		if slices.ContainsFunc(c.Args, func(arg string) bool { return strings.Contains(arg, "hidden") }) {
			t.Errorf("the arguments are %q", c.Args)
		}
		if out := shell(t, e, p, "cat hidden*; ls | wc -l"); strings.Contains(out, secret) {
			t.Errorf("got %q", out)
		}
		p.Network = NetworkNone
		if _, err := e.Wrap(p, Command{Args: []string{"true"}, Dir: dir}); err == nil {
			t.Error("a network without a socket was accepted")
		}
	})
}

// TestMounts holds that what is read-only or hidden is so in file systems that are
// mounted below it, too.
func TestMounts(t *testing.T) {
	e := enforcerFor(t, Bubblewrap)
	dir := folderOf(t, os.Geteuid())
	for _, name := range []string{"fixed", "fixed/mount", "hidden"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p := &Profile{Mode: DenyOnly, Dir: dir, Network: NetworkAll, ReadOnly: []string{filepath.Join(dir, "fixed")}, Hide: []string{filepath.Join(dir, "hidden")}}
	c, err := e.Wrap(p, Command{
		Args: []string{"/bin/sh", "-c", "cat fixed/mount/file; echo x > fixed/mount/file; cat hidden/file"}, Dir: dir, Env: []string{"PATH=" + os.Getenv("PATH")},
	})
	if err != nil {
		t.Fatal(err)
	}
	// Both are mounts in a namespace of the test's own.
	cmd := exec.Command("unshare", append([]string{"-Urm", "/bin/sh", "-c", `
for d in fixed/mount hidden; do mount -t tmpfs x "$d" && echo made > "$d/file" || exit 1; done
"$@"; cat fixed/mount/file`, "sh"}, c.Args...)...)
	cmd.Dir, cmd.Env = dir, c.Env
	for _, fd := range c.Files {
		cmd.ExtraFiles = append(cmd.ExtraFiles, os.NewFile(uintptr(fd), "file"))
	}
	out, err := cmd.CombinedOutput()
	for _, f := range cmd.ExtraFiles {
		_ = f.Close()
	}
	if err != nil || strings.Count(string(out), "made\n") != 2 || !strings.Contains(string(out), "Read-only file system") || !strings.Contains(string(out), "hidden/file: Permission denied") {
		t.Errorf("got %v and %s", err, out)
	}
}

// TestNested holds what Limits says of user namespaces that are left to the agent,
// and that it says so.
func TestNested(t *testing.T) {
	tools := t.TempDir()
	p := newPrey(t, DenyOnly, os.Geteuid(), compile(t, tools))
	e := enforcerFor(t, Bubblewrap)
	const script = `mkdir -p free; "$A" unmask "$PWD" .env free`
	if how := p.success(p.attack(e, script), false); how != "" {
		t.Error(how)
	}
	p.profile.Nested = true
	stated := slices.ContainsFunc(e.Limits(p.profile), func(limit string) bool { return strings.Contains(limit, "User namespaces are left to the agent") })
	if out := p.attack(e, script); !strings.Contains(out, secret) || !stated {
		t.Errorf("stated: %t, got %q", stated, out)
	}
}
