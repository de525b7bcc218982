package sandbox

import (
	"context"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// secret is what no attack may print, broken what one prints that got out without
// reading anything.
const (
	secret = "TOP-SECRET"
	broken = "BROKE OUT"
)

// An attack is a script. It is a success if it prints secret or broken, or changes
// something of the prey that it must not.
type attack struct {
	name, script string
	// strict attacks are none in a sandbox that leaves the machine writable.
	strict bool
	// root says that only root succeeds without a sandbox, alone that it is not
	// tried without one: it would change the machine, or not every machine has
	// what it needs.
	root, alone bool
	// landlock says which exception of Landlock makes it succeed there.
	landlock string
}

// The exceptions of Landlock, as Limits states them.
const (
	namesVisible = "names and sizes of denied files can be seen"
	socketsOpen  = "Unix sockets can be connected to by their path"
)

// attacks are run with these variables: KEY, in SECRETS, and ENV, in the working
// folder, are hidden, and so is the file TOKEN in DATA, where RUN is shown. FIXED
// cannot be written. OUT is a folder outside, with a file keep. SOCK and ABSTRACT
// are sockets of a server that tells the secret to all, VICTIM is a process which
// has the secret in its environment, as its input and in its folder. A is
// testdata/attack.c.
var attacks = []attack{
	{name: "cat", script: `cat "$KEY"`},
	{name: "cat in the folder", script: `cat "$ENV"`},
	{name: "cat sideways", script: `cat ./sub/../.env; cd "$SECRETS" && cat key; cat "$BASE"/*/*/key`},
	{name: "python", script: `python3 -c 'import os; print(open(os.environ["KEY"]).read())'`},
	{name: "perl", script: `perl -e 'open F, "<", $ENV{KEY} or die $!; print <F>'`},
	{name: "compiled", script: `"$A" read "$KEY"; "$A" read "$ENV"`},
	{name: "compiled inside", script: `printf '%s' '#include <stdio.h>
int main(int c, char **v) { FILE *f = fopen(v[1], "r"); char b[99]; if (f && fgets(b, 99, f)) puts(b); }' > x.c; "$CC" -o x x.c && ./x "$KEY"`},
	{name: "tools", script: `dd if="$KEY" 2>&1; grep -r . "$BASE" 2>&1; tar c "$BASE" 2>/dev/null; awk 1 "$KEY"; cp "$KEY" k; cat k`},
	{name: "symbolic link", script: `ln -s "$KEY" l; cat l; ln -s "$SECRETS" d; cat d/key; ln -s .env e; cat e`},
	{name: "hard link", script: `ln "$KEY" l; cat l; ln .env e; cat e`},
	{name: "proc self root", script: `cat /proc/self/root"$KEY" /proc/self/cwd/.env /proc/thread-self/root"$ENV"`},
	{name: "proc all roots", script: `for p in /proc/[0-9]*; do cat "$p/root$KEY"; done`},
	{name: "proc of a process outside", script: `cat "/proc/$VICTIM/root$KEY" "/proc/$VICTIM/cwd/key" "/proc/$VICTIM/fd/0" "/proc/$VICTIM/environ"`},
	{name: "descriptor of a folder", script: `exec 9<"$SECRETS"; cat /proc/self/fd/9/key`},
	{name: "descriptor of the folder above", script: `exec 9<"$BASE"; cat /proc/self/fd/9/vault/secrets/key`},
	{name: "inherited descriptors", script: `for f in 3 4 5 6 7 8 9; do [ -e /proc/self/fd/$f ] && echo "descriptor $f"; done; true`, alone: true},
	{name: "memory of a process outside", script: `"$A" memory "$VICTIM"`},
	{name: "trace a process outside", script: `"$A" trace "$VICTIM"`},
	{name: "steal a descriptor", script: `"$A" steal "$VICTIM"`},
	{name: "kill a process outside", script: `kill -9 "$VICTIM"`},
	{name: "run from memory", script: `"$A" from-memory "$(command -v cat)" "$KEY"`},
	{name: "file handle", script: `"$A" handle "$BASE" $HANDLE`, root: true, alone: true},
	{name: "copy of a mount", script: `"$A" tree "$BASE" vault/secrets/key`, root: true},
	{name: "move the folder", script: `mv "$SECRETS" "$SECRETS.2"; cat "$SECRETS.2/key"; mv .env e; cat e`},
	{name: "move the folder above", script: `mv "$BASE/vault" v; cat v/secrets/key; mv "$BASE/vault" "$BASE/v"; cat "$BASE/v/secrets/key"; mv sub sub2; cat sub2/.env`},
	{name: "exchange names", script: `python3 -c '
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
open("bait", "w").close()
libc.renameat2(-100, b"bait", -100, b".env", 2)
print(open("bait").read())'`},
	{name: "permissions", script: `chmod -R 777 "$SECRETS" .env; cat "$KEY" .env`},
	{name: "setuid", script: `cp "$(command -v cat)" c; chmod u+s c; ./c "$KEY"; su -c 'cat "$KEY"' </dev/null; cat .env`},
	{name: "bind mount", script: `mkdir m; mount --bind "$BASE" m; cat m/vault/secrets/key; umount "$SECRETS"; umount -l "$ENV"; cat "$KEY" "$ENV"`, alone: true},
	{name: "user namespace", script: `mkdir m; unshare -Urm sh -c 'mount --bind "$BASE" m; cat m/vault/secrets/key; umount "$SECRETS"; umount -l "$SECRETS" "$ENV"; cat "$KEY" "$ENV"'; cat "$KEY"`},
	{name: "leave the mounts", script: `mkdir free; "$A" unmask "$PWD" .env free; cat free/found; cat .env`},
	{name: "namespaces of others", script: `nsenter -t "$VICTIM" -m cat "$KEY"; nsenter -t 1 -m cat "$KEY"; nsenter -t "$VICTIM" -U -m cat "$KEY"; cat .env`},
	{name: "change the root", script: `unshare -Ur chroot "$BASE" /vault/secrets/key; chroot /proc/1/root cat "$KEY"; cat "$KEY"`},
	{name: "spread a mount", script: `mount --make-rshared /; mount -t tmpfs x "$OUT"; unshare -Urm --propagation shared mount -t tmpfs x "$OUT"; rm -f "$OUT/keep"`, strict: true, alone: true},
	{name: "disks", script: `for d in /dev/*; do [ -b "$d" ] && (: < "$d") && echo "BROKE OUT"; done; mknod disk b 254 0 && (: < disk) && echo "BROKE OUT"; true`, root: true, alone: true},
	{name: "the kernel", script: `for f in /proc/sys/kernel/core_pattern /proc/sysrq-trigger /sys/kernel/uevent_helper /sys/kernel/mm/ksm/run /sys/power/state; do (: >> $f) && echo "BROKE OUT"; done`, alone: true},
	{name: "the memory of the kernel", script: `(: < /proc/kcore) && echo "BROKE OUT"`, root: true, alone: true},
	{name: "socket", script: `"$A" unix "$SOCK"`, landlock: socketsOpen},
	{name: "socket by a link", script: `ln -s "$SOCK" s; "$A" unix s; mv "$(dirname "$SOCK")" s2; "$A" unix s2/sock`},
	{name: "abstract socket", script: `"$A" abstract "$ABSTRACT"`},
	{name: "names", script: `ls "$SECRETS" | grep -q key && echo "BROKE OUT"`, landlock: namesVisible},
	{name: "sizes", script: `[ "$(stat -c %s "$KEY")" = 11 ] && echo "BROKE OUT"`, landlock: namesVisible},
	{name: "data of the hub", script: `cat "$DATA/token"; cat "$RUN/../token"`},
	{name: "settings of the run", script: `echo x > "$RUN/settings"; rm -f "$RUN/settings"; mv "$RUN" "$RUN.2"; echo x > "$RUN/new"`},
	{name: "plant", script: `echo x > "$SECRETS/new"; mkdir "$SECRETS/d"; rm -rf "$SECRETS"; mkdir -p "$SECRETS"; echo x > "$KEY"`},
	{name: "plant above", script: `mv "$BASE/vault" "$BASE/v"; mkdir -p "$SECRETS"; echo x > "$KEY"; mv "$DATA" "$DATA.2"; mkdir "$DATA"; echo x > "$DATA/token"`},
	{name: "overwrite", script: `echo x > .env; rm -f .env; echo x > .env`},
	{name: "write what is read-only", script: `echo x > "$FIXED"; echo x >> "$FIXED"; chmod 666 "$FIXED"; sed -i s/./x/ "$FIXED"; truncate -s 0 "$FIXED"; exec 9<"$FIXED"; echo x > /proc/self/fd/9`},
	{name: "remove what is read-only", script: `rm -f "$FIXED"; mv "$FIXED" f`},
	{name: "rename over what is read-only", script: `echo x > t; mv -f t "$FIXED"; echo x > t; ln -f t "$FIXED"; python3 -c 'import os; open("t", "w").close(); os.replace("t", os.environ["FIXED"])'`},
	{name: "link to what is read-only", script: `ln "$FIXED" f && echo x > f; ln -s "$FIXED" g; echo x > g`},
	{name: "replace the folder of what is read-only", script: `mv "$(dirname "$FIXED")" d; mkdir -p "$(dirname "$FIXED")"; echo x > "$FIXED"`},
	{name: "remount", script: `mount -o remount,rw "$FIXED"; mount -o remount,rw,bind "$FIXED"; unshare -Urm mount -o remount,rw,bind "$FIXED"; umount "$FIXED"; echo x > "$FIXED"`},
	{name: "write outside", script: `echo x > "$OUT/new"; echo x > "$OUT/keep"; rm -f "$OUT/keep"; mkdir "$OUT/d"; mv "$OUT" o`, strict: true},
	{name: "write outside by links", script: `ln "$OUT/keep" k && echo x > k; ln -s "$OUT" o; echo x > o/new; echo x > "/proc/self/root$OUT/new"; exec 9<"$OUT"; echo x > /proc/self/fd/9/new`, strict: true},
	{name: "write outside by python", script: `python3 -c 'import os; open(os.environ["OUT"] + "/new", "w").write("x")'; perl -e 'unlink "$ENV{OUT}/keep"'`, strict: true},
}

// A prey is what attacks are made on.
type prey struct {
	t       *testing.T
	base    string
	profile *Profile
	env     []string
	uid     int // of the attacker
	victim  *exec.Cmd
	died    chan error
	before  string
}

// folderOf makes a folder that an attacker with another user id can use.
func folderOf(t *testing.T, uid int) string {
	t.Helper()
	// The folder of t, and the one that TMPDIR names, may be closed to others.
	dir, err := os.MkdirTemp("/tmp", "sandbox") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, uid, -1); err != nil {
		t.Fatal(err)
	}
	return dir
}

// newPrey makes files, sockets and a process to be attacked.
func newPrey(t *testing.T, mode Mode, uid int, tool string) *prey {
	t.Helper()
	p := &prey{t: t, uid: uid, base: folderOf(t, uid), died: make(chan error, 1)}
	write := func(name, text string) string {
		path := filepath.Join(p.base, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	key, dot := write("vault/secrets/key", secret+"\n"), write("work/.env", secret+"\n")
	sub, fixed := write("work/sub/.env", secret+"\n"), write("work/kept/fixed", "as it was")
	token, settings := write("data/token", secret), write("data/run/settings", "as it was")
	keep := write("out/keep", "as it was")
	sock := filepath.Join(p.base, "run", "sock")
	if err := os.Mkdir(filepath.Dir(sock), 0o755); err != nil {
		t.Fatal(err)
	}
	abstract := "switchboard-test-" + filepath.Base(p.base)
	p.serve(sock)
	p.serve("@" + abstract)
	work, secrets, run := filepath.Dir(dot), filepath.Dir(key), filepath.Dir(settings)
	p.profile = &Profile{
		Mode: mode, Dir: work, Network: NetworkAll,
		Hide:     []string{secrets, dot, sub, filepath.Dir(token), sock},
		ReadOnly: []string{fixed},
		Writable: []string{work},
		Show:     []Visible{{Path: run}},
	}
	err := filepath.WalkDir(p.base, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, uid, -1)
	})
	if err != nil {
		t.Fatal(err)
	}
	p.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + work, "BASE=" + p.base, "KEY=" + key, "SECRETS=" + secrets, "ENV=" + dot, "DATA=" + filepath.Dir(token),
		"RUN=" + run, "FIXED=" + fixed, "OUT=" + filepath.Dir(keep), "SOCK=" + sock, "ABSTRACT=" + abstract, "A=" + tool, "CC=" + compiler(),
		"HANDLE=" + handleOf(key),
	}
	p.victim = exec.Command("sleep", "600")
	p.victim.Dir, p.victim.Env = secrets, []string{"PASSWORD=" + secret}
	in, err := os.Open(key)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	p.victim.Stdin = in
	p.victim.SysProcAttr = attacker(uid)
	if err := p.victim.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.died <- p.victim.Wait() }() // ends with the process, which Cleanup ends
	t.Cleanup(func() {
		_ = p.victim.Process.Kill()
	})
	p.env = append(p.env, fmt.Sprintf("VICTIM=%d", p.victim.Process.Pid))
	p.before = p.state()
	return p
}

// attacker are the attributes of a process of another user.
func attacker(uid int) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setpgid: true}
	if uid != os.Geteuid() {
		a.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
	}
	return a
}

// handleOf returns the handle of a file, as the attack takes it.
func handleOf(path string) string {
	h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, path, 0)
	if err != nil {
		return "0 00"
	}
	return fmt.Sprintf("%d %s", h.Type(), hex.EncodeToString(h.Bytes()))
}

// serve tells the secret to every process that connects, until the test ends.
func (p *prey) serve(address string) {
	l, err := net.Listen("unix", address)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = l.Close() })
	go func() { // ends with the listener
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte(secret))
			_ = c.Close()
		}
	}()
	if address[0] == '@' {
		return
	}
	if err := os.Chmod(address, 0o777); err != nil {
		p.t.Fatal(err)
	}
}

// state describes what no attack may change.
func (p *prey) state() string {
	var b strings.Builder
	for _, name := range []string{"vault", "data", "work/kept", "work/.env"} {
		p.list(&b, name)
	}
	if p.profile.Mode == Strict {
		p.list(&b, "out")
	}
	return b.String()
}

func (p *prey) list(b *strings.Builder, name string) {
	_ = filepath.WalkDir(filepath.Join(p.base, name), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			fmt.Fprintln(b, err)
			return nil
		}
		fmt.Fprintln(b, path, entry.Type())
		if entry.Type().IsRegular() {
			data, err := os.ReadFile(path)
			fmt.Fprintln(b, string(data), err)
		}
		return nil
	})
}

// success reports how an attack has succeeded, if it has. One that should is given
// the time that a process takes to end.
func (p *prey) success(out string, should bool) string {
	switch {
	case strings.Contains(out, secret):
		return "it read the secret"
	case strings.Contains(out, broken):
		return "it got out"
	case strings.Contains(out, "descriptor "):
		return "it inherited a descriptor"
	}
	if now := p.state(); now != p.before {
		return "it changed files:\n" + now
	}
	wait := time.Duration(0)
	if should {
		wait = time.Minute
	}
	select {
	case <-p.died:
		return "it killed a process"
	case <-time.After(wait):
		return ""
	}
}

// compiler returns the name of a C compiler, if there is one.
func compiler() string {
	for _, name := range []string{"cc", "gcc", "clang"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// compile returns the compiled attack.c.
func compile(t *testing.T, dir string) string {
	t.Helper()
	cc := compiler()
	if cc == "" {
		t.Fatal("there is no C compiler (cc, gcc or clang)")
	}
	source, err := filepath.Abs(filepath.Join("testdata", "attack.c"))
	if err != nil {
		t.Fatal(err)
	}
	tool := filepath.Join(dir, "attack")
	if out, err := exec.Command(cc, "-o", tool, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return tool
}

// install copies a program to where every user can start it.
func install(t *testing.T, dir, name, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, name)
	if err := os.WriteFile(to, data, 0o755); err != nil {
		t.Fatal(err)
	}
	return to
}

// nobody is a user without privileges, for tests that root runs.
const nobody = 65534

// TestAttacks runs every attack in every kind of sandbox: none succeeds, but for
// what Limits says of Landlock. Without a sandbox all of them do.
func TestAttacks(t *testing.T) {
	tools := folderOf(t, os.Geteuid())
	if err := os.Chmod(tools, 0o755); err != nil {
		t.Fatal(err)
	}
	tool := compile(t, tools)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	self, program := install(t, tools, "switchboard", exe), install(t, tools, "bwrap", bwrapPath(t))
	users := []int{os.Geteuid()}
	if users[0] == 0 {
		users = append(users, nobody)
	}
	for _, box := range []struct {
		enforcer string
		mode     Mode
	}{{"none", Strict}, {Bubblewrap, DenyOnly}, {Bubblewrap, Strict}, {Landlock, Strict}} {
		for _, uid := range users {
			for _, a := range attacks {
				if a.strict && box.mode != Strict || box.enforcer == "none" && (a.alone || a.root && uid != 0) {
					continue
				}
				if uid != users[0] && (box.enforcer == "none" || box.enforcer == Bubblewrap && box.mode == Strict && !a.strict) {
					continue // one user is enough
				}
				t.Run(fmt.Sprintf("%s/%s/%d/%s", box.enforcer, box.mode, uid, a.name), func(t *testing.T) {
					t.Parallel()
					p := newPrey(t, box.mode, uid, tool)
					var e Enforcer
					succeeds := box.enforcer == "none"
					if !succeeds {
						var err error
						if e, err = New(box.enforcer, program, self); err != nil {
							t.Fatal(err)
						}
						succeeds = box.enforcer == Landlock && a.stated(e.Limits(p.profile))
					}
					out := p.attack(e, a.script)
					how := p.success(out, succeeds)
					switch {
					case how != "" && !succeeds:
						t.Errorf("%s\n%s", how, out)
					case how == "" && succeeds:
						t.Errorf("it failed, which it should not have:\n%s", out)
					}
				})
			}
		}
	}
}

// stated reports whether Landlock's limits say that the attack succeeds.
func (a *attack) stated(limits []string) bool {
	return a.landlock != "" && strings.Contains(strings.Join(limits, "\n"), a.landlock)
}

// attack runs a script in a sandbox, or in none, as the attacker.
func (p *prey) attack(e Enforcer, script string) string {
	p.t.Helper()
	c := Command{Args: []string{"/bin/sh", "-c", script}, Env: p.env, Dir: p.profile.Dir}
	if e != nil {
		out, _ := startAs(p.t, e, p.profile, c, p.uid).wait(p.t)
		return out
	}
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	cmd.Env, cmd.Dir, cmd.SysProcAttr = c.Env, c.Dir, attacker(p.uid)
	cmd.WaitDelay = time.Second
	out, _ := cmd.CombinedOutput() // most scripts fail in parts
	return string(out)
}
