package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A bubblewrap is the enforcer that makes namespaces and mounts by the program of
// that name.
type bubblewrap struct {
	program string // absolute, links followed
	self    string
}

// newBubblewrap returns the enforcer, if there is a program that another user of
// the machine could not have replaced.
func newBubblewrap(program, self string) (*bubblewrap, error) {
	if program == "" {
		found, err := exec.LookPath("bwrap")
		if err != nil {
			return nil, errors.New("bubblewrap is not installed; install bubblewrap: sudo apt install bubblewrap")
		}
		program = found
	}
	program, err := filepath.Abs(program)
	if err == nil {
		program, err = filepath.EvalSymlinks(program)
	}
	if err != nil {
		return nil, fmt.Errorf("bubblewrap is not where it should be: %w; install bubblewrap: sudo apt install bubblewrap", err)
	}
	if err := trusted(program); err != nil {
		return nil, err
	}
	self, err = selfPath(self)
	if err != nil {
		return nil, err
	}
	return &bubblewrap{program, self}, nil
}

// selfPath returns where the switchboard program is.
func selfPath(self string) (string, error) {
	self, err := filepath.Abs(self)
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return "", fmt.Errorf("finding the switchboard program for the sandbox: %w", err)
	}
	return self, nil
}

// trusted returns an error if another user than this one and root could have put
// something else in the place of a program.
func trusted(program string) error {
	for path := program; ; path = filepath.Dir(path) {
		var st unix.Stat_t
		if err := unix.Stat(path, &st); err != nil {
			return fmt.Errorf("looking at %s: %w", path, err)
		}
		folder := st.Mode&unix.S_IFMT == unix.S_IFDIR
		switch {
		case path == program && (st.Mode&unix.S_IFMT != unix.S_IFREG || st.Mode&0o111 == 0):
			return fmt.Errorf("%s is not a program", program)
		case st.Uid != 0 && int(st.Uid) != os.Geteuid():
			return fmt.Errorf("%s is not used as bubblewrap: %s belongs to another user", program, path)
		case st.Mode&0o022 != 0 && !(folder && st.Mode&unix.S_ISVTX != 0):
			return fmt.Errorf("%s is not used as bubblewrap: other users can write %s", program, path)
		}
		if path == "/" {
			return nil
		}
	}
}

// Name implements [Enforcer].
func (b *bubblewrap) Name() string { return Bubblewrap }

// Program returns the path of bubblewrap.
func (b *bubblewrap) Program() string { return b.program }

// Limits implements [Enforcer].
func (b *bubblewrap) Limits(p *Profile) []string {
	limits := []string{
		"Files that appear after the start, and denied files that a program outside replaces, are not hidden before the next run.",
		"Another name of a denied file (a hard link, or a mount made before the start) is not known.",
	}
	if p.Mode != Strict {
		limits = append(limits, "What the agent writes into files that other programs run, such as the profile of a shell, runs outside of the sandbox.")
	}
	if p.Network == NetworkAll && landlockABI() < abiScopes {
		limits = append(limits, "Abstract Unix sockets can be reached: this kernel has no Landlock, or one before ABI 6.")
	}
	if p.Nested {
		limits = append(limits, "User namespaces are left to the agent, for Claude Code's own sandbox: a program made for it can move a hidden file out of a folder that it can write, and read it.")
	}
	if os.Geteuid() == 0 {
		limits = append(limits, "The agent runs as root without root's privileges: files of other users stay closed to it.")
	}
	return limits
}

// Wrap implements [Enforcer].
func (b *bubblewrap) Wrap(p *Profile, c Command) (Command, error) {
	l, err := newLayout(p, b.self)
	if err != nil {
		return Command{}, err
	}
	o := &orders{Forward: p.Forward, Proxy: p.Network != NetworkAll, Scope: true}
	if p.Network == NetworkAll {
		o.Forward = nil
	}
	if c, err = o.wrap(p, c, b.self); err != nil {
		return Command{}, err
	}
	args, err := memory("bwrap-args", []byte(strings.Join(b.options(p, l, c.Dir), "\x00")+"\x00"))
	if err != nil {
		closeFiles(c.Files[o.given:])
		return Command{}, err
	}
	fd := strconv.Itoa(firstFile + len(c.Files))
	c.Files = append(c.Files, args)
	c.Args = append([]string{b.program, "--args", fd, "--"}, c.Args...)
	return c, nil
}

// options returns bubblewrap's arguments. Mounts are made in their order, each on
// top of those before it.
func (b *bubblewrap) options(p *Profile, l *layout, dir string) []string {
	args := []string{
		"--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try",
		"--cap-drop", "ALL", "--die-with-parent",
		// A terminal of the shim, if it has one, is not the agent's to type into.
		"--new-session",
	}
	if p.Network != NetworkAll {
		args = append(args, "--unshare-net")
	}
	if !p.Nested {
		// In a user namespace of its own a process can drop the mounts that hide a
		// path from its view, and then rename what is below them.
		args = append(args, "--disable-userns")
	}
	if l.root == accessWrite {
		args = append(args, "--bind", "/", "/")
	} else {
		args = append(args, "--ro-bind", "/", "/")
	}
	args = append(args, "--dev", "/dev", "--proc", "/proc")
	for _, path := range kernelFiles(p.Nested && os.Geteuid() != 0) {
		args = append(args, "--ro-bind-try", path, path)
	}
	args = append(args, b.devices(p, l)...)
	var last []string
	for _, pl := range l.places {
		switch {
		case pl.access == accessWrite:
			args = append(args, "--bind", pl.path, pl.path)
		case pl.access == accessRead:
			args = append(args, "--ro-bind", pl.path, pl.path)
		case pl.folder:
			perms := "0000"
			if pl.shows {
				perms = "0111" // what is shown in it can be reached, by its name
			}
			args = append(args, "--perms", perms, "--tmpfs", pl.path)
			// What is shown in it is mounted first.
			last = append(last, "--remount-ro", pl.path)
		default:
			// The mount allows no devices, so that this one cannot be opened.
			args = append(args, "--ro-bind", os.DevNull, pl.path)
		}
	}
	args = append(args, last...)
	if dir != "" {
		args = append(args, "--chdir", dir)
	}
	return args
}

// kernelFiles returns what of the kernel's own files is made read-only. Root owns
// these, with or without privileges; bubblewrap covers some of them only if their
// folder can be written. The kernel lets no process in a user namespace mount
// another /proc once anything covers a part of this one, and the CLI's own sandbox
// does. If bare, /proc is left as it is: a user who is not root can write nothing
// of it that is not the sandbox's own.
func kernelFiles(bare bool) []string {
	if bare {
		return []string{"/sys"}
	}
	return []string{
		"/sys", "/proc/sys", "/proc/acpi", "/proc/driver", "/proc/dynamic_debug", "/proc/fs", "/proc/mtrr", "/proc/scsi", "/proc/sysrq-trigger",
	}
}

// devices returns what is added to bubblewrap's own /dev: memory that is shared
// with programs outside, and what computes. Disks are not among them.
func (b *bubblewrap) devices(p *Profile, l *layout) []string {
	if p.Mode == Strict {
		needed := slices.ContainsFunc(l.places, func(pl place) bool { return below(pl.path, sharedMemory) })
		if needed || below(b.self, sharedMemory) || below(p.Dir, sharedMemory) {
			return []string{"--ro-bind", sharedMemory, sharedMemory}
		}
		return nil // it has its own
	}
	args := []string{"--bind-try", sharedMemory, sharedMemory}
	nodes := []string{"/dev/dri", "/dev/kfd", "/dev/kvm", "/dev/dxg"}
	nvidia, _ := filepath.Glob("/dev/nvidia*") // the pattern is right
	for _, node := range append(nodes, nvidia...) {
		args = append(args, "--dev-bind-try", node, node)
	}
	return args
}

// Check implements [Enforcer].
func (b *bubblewrap) Check(ctx context.Context) error {
	err := try(ctx, b, &Profile{Mode: Strict, Dir: "/", Network: NetworkNone})
	if err == nil {
		return nil
	}
	if why := b.version(ctx); why != "" {
		return errors.New(why)
	}
	if why := noNamespaces(); why != "" {
		return fmt.Errorf("bubblewrap cannot make a sandbox: %s (%w)", why, err)
	}
	return fmt.Errorf("bubblewrap cannot make a sandbox: %w", err)
}

// Nests finds out whether the CLI's own sandbox can start in one of this enforcer
// that leaves user namespaces to it: by another bubblewrap, which makes what that
// of Claude Code 2.1.325 does. Root cannot have one, as it would have to give its
// own user to the inner namespace without the privilege to, and profiles of
// AppArmor may forbid it to all. The error says why.
func (b *bubblewrap) Nests(ctx context.Context) error {
	p := &Profile{Mode: Strict, Dir: "/", Network: NetworkNone, Nested: true}
	return try(ctx, b, p, b.program, "--new-session", "--die-with-parent", "--unshare-net", "--ro-bind", "/", "/", "--dev", "/dev",
		"--unshare-pid", "--unshare-user", "--proc", "/proc", "--")
}

// version returns what is to be said of a bubblewrap that is too old.
func (b *bubblewrap) version(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, b.program, "--version").Output()
	if err != nil {
		return ""
	}
	_, version, _ := bytes.Cut(bytes.TrimSpace(out), []byte(" "))
	var major, minor int
	if n, _ := fmt.Sscanf(string(version), "%d.%d", &major, &minor); n == 2 && major == 0 && minor < 8 {
		return fmt.Sprintf("bubblewrap %s is too old: 0.8.0 or later is needed", version)
	}
	return ""
}

// noNamespaces returns what the system's settings say against user namespaces.
func noNamespaces() string {
	if os.Geteuid() != 0 {
		switch {
		case setting("/proc/sys/kernel/unprivileged_userns_clone") == "0":
			return "user namespaces are forbidden; allow them: sudo sysctl -w kernel.unprivileged_userns_clone=1"
		case setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1":
			return "AppArmor forbids user namespaces to programs without a profile; give bwrap one, or: sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
		}
	}
	if setting("/proc/sys/user/max_user_namespaces") == "0" {
		return "user namespaces are forbidden; allow them: sudo sysctl -w user.max_user_namespaces=10000"
	}
	return ""
}

// setting returns what a file of the kernel says.
func setting(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(data))
}
