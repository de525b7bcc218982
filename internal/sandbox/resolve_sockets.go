package sandbox

import (
	"bufio"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// maxSockets bounds how many sockets of the machine are hidden.
const maxSockets = 4096

// socketPlaces are sockets that lead out of a sandbox, and folders of such
// sockets: a process behind them does what it is told with the rights that it has
// outside. ~ is the home folder, $UID the number of the user.
var socketPlaces = []string{
	// Engines of containers and virtual machines.
	"/run/docker.sock", "/var/run/docker.sock", "/run/docker", "/run/containerd", "/run/podman", "/run/crio", "/run/buildkit", "/run/libvirt",
	"/run/k3s", "/var/lib/incus/unix.socket", "/var/lib/lxd/unix.socket", "/var/snap/lxd/common/lxd/unix.socket",
	"~/.docker/run", "~/.docker/desktop", "~/.colima", "~/.rd/docker.sock", "~/.orbstack/run", "~/.lima", "~/.local/share/containers/podman/machine",
	// Service managers and message buses.
	"/run/dbus", "/var/run/dbus", "/run/systemd/private", "/run/snapd.socket", "/run/snapd-snap.socket",
	// Terminals that run elsewhere, and screens.
	"/tmp/tmux-$UID", "/run/screen", "/var/run/screen", "/tmp/screens", "~/.screen", "/tmp/.X11-unix",
	// The folder of the user's sockets.
	"/run/user/$UID",
}

// openSockets are sockets that stay: looking up users, and writing to the system's
// log.
var openSockets = []string{
	"/run/nscd/socket", "/var/run/nscd/socket", "/var/lib/sss/pipes/nss", "/dev/log", "/run/systemd/journal/dev-log", "/var/run/mDNSResponder", "/var/run/syslog",
}

// hideSockets adds the sockets of the machine that lead out to what is hidden.
func (r *resolver) hideSockets() error {
	agent := ""
	if name := envValue(r.machine.Env, "SSH_AUTH_SOCK"); path.IsAbs(name) {
		switch real := realPath(name); {
		case r.policy.Mode != Strict:
			agent = real
		case real != "":
			r.hideSocket(real)
		}
	}
	keep := func(real string) bool {
		return real == agent && agent != "" || slices.ContainsFunc(openSockets, func(open string) bool { return real == open || real == realPath(open) })
	}
	places := slices.Clone(socketPlaces)
	for _, name := range []string{"XDG_RUNTIME_DIR", "TMUX_TMPDIR", "SCREENDIR"} {
		if dir := envValue(r.machine.Env, name); path.IsAbs(dir) {
			if name == "TMUX_TMPDIR" {
				dir = path.Join(dir, "tmux-$UID")
			}
			places = append(places, dir)
		}
	}
	uid := strconv.Itoa(os.Getuid())
	for _, place := range places {
		place = strings.ReplaceAll(place, "$UID", uid)
		if rest, ok := strings.CutPrefix(place, "~/"); ok {
			place = path.Join(r.machine.Home, rest)
		}
		real := realPath(place)
		if real == "" || keep(real) || r.needed(real) {
			continue
		}
		r.hideSocket(real)
	}
	listening, err := r.listening()
	if err != nil {
		return err
	}
	if len(listening) >= maxSockets {
		r.note("More than %d Unix sockets of this machine are in use: some are not hidden.", maxSockets)
	}
	for _, name := range listening {
		info, err := os.Stat(name)
		if err != nil || info.Mode().Type() != fs.ModeSocket {
			continue // it cannot be reached by this name
		}
		if real := realPath(name); real != "" && !keep(real) {
			r.hideSocket(r.closedFolder(r.privateFolder(real)))
		}
	}
	if agent != "" && belowAny(r.sockets, agent) {
		r.show = append(r.show, Visible{Path: agent, Write: true})
	}
	return nil
}

func (r *resolver) hideSocket(real string) {
	if !isVirtual(real) && !slices.Contains(r.sockets, real) {
		r.sockets = append(r.sockets, real)
	}
}

// privateFolder returns the folder of a socket if it is one of the many that
// programs make for their sockets alone, below a temporary folder or /run, and that
// no other user may enter; else the socket. Such sockets come and go: a mount over
// one that has just gone would leave an empty file where its program makes the next.
func (r *resolver) privateFolder(socket string) string {
	dir := path.Dir(socket)
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || info.Mode().Perm()&0o077 != 0 || r.needed(dir) || belowAny(append(slices.Clone(r.dirs), r.dir), dir) ||
		slices.ContainsFunc(r.show, func(v Visible) bool { return isBelow(v.Path, dir) }) {
		return socket
	}
	for _, above := range append([]string{"/run", "/dev/shm"}, r.temporary...) {
		if dir != above && isBelow(above, dir) {
			return dir
		}
	}
	return socket
}

// closedFolder returns the highest folder above a path that belongs to another user,
// and that neither its group nor others may enter; else the path. Only root sees
// what is in it. In the sandbox root has no privileges: nothing in it could be
// reached, by a mount neither.
func (r *resolver) closedFolder(real string) string {
	closed := real
	for dir := path.Dir(real); dir != "/"; dir = path.Dir(dir) {
		if info, err := os.Lstat(dir); err == nil && info.Mode().Perm()&0o011 == 0 && !ownedByUser(dir) && !r.needed(dir) {
			closed = dir
		}
	}
	return closed
}

// needed reports whether a folder has something in it that the agent needs.
func (r *resolver) needed(real string) bool {
	need := slices.Concat([]string{r.dir, r.home, r.config}, r.dirs, r.program, r.temporary)
	return slices.ContainsFunc(need, func(name string) bool { return name != "" && isBelow(real, name) })
}

// realPath follows the links of a path; it returns "" if there is nothing.
func realPath(name string) string {
	real, err := filepath.EvalSymlinks(name)
	if err != nil || !path.IsAbs(real) {
		return ""
	}
	return path.Clean(real)
}

// parseUnixSockets reads the format of /proc/net/unix and returns the paths of
// sockets that other processes can connect or send to: those that listen, and
// those for datagrams.
func parseUnixSockets(r io.Reader) ([]string, error) {
	const (
		accepting = 1 << 16
		datagram  = 2
	)
	var list []string
	lines := bufio.NewScanner(r)
	lines.Scan() // the heading
	for lines.Scan() {
		// Num RefCount Protocol Flags Type St Inode Path; the path is the rest
		// of the line and may have spaces in it.
		rest, fields := lines.Text(), [7]string{}
		for i := range fields {
			fields[i], rest, _ = strings.Cut(strings.TrimLeft(rest, " "), " ")
		}
		flags, err := strconv.ParseUint(fields[3], 16, 64)
		if err != nil || !strings.HasPrefix(rest, "/") {
			continue // abstract sockets have an @, most sockets no name at all
		}
		kind, _ := strconv.ParseUint(fields[4], 16, 64)
		if flags&accepting == 0 && kind != datagram {
			continue
		}
		if list = append(list, rest); len(list) == maxSockets {
			break
		}
	}
	return list, lines.Err()
}

// unsetEnv returns the variables that name a hidden socket, or something else in a
// folder of sockets that is hidden.
func (r *resolver) unsetEnv() []string {
	var names []string
	for _, entry := range r.machine.Env {
		name, value, _ := strings.Cut(entry, "=")
		if name == "" || !r.namesSocket(name, value) {
			continue
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (r *resolver) namesSocket(name, value string) bool {
	switch name {
	case "DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS", "DBUS_STARTER_ADDRESS":
		// Addresses of other kinds are unix:path=, unix:abstract=, unixexec:.
		return !strings.HasPrefix(value, "tcp:")
	case "SSH_AUTH_SOCK", "NOTIFY_SOCKET", "TMUX", "STY", "SESSION_MANAGER":
		if name == "SSH_AUTH_SOCK" && r.policy.Mode != Strict {
			return false
		}
		return true
	case "DISPLAY":
		return strings.HasPrefix(value, ":") && belowAny(r.sockets, "/tmp/.X11-unix")
	case "WAYLAND_DISPLAY":
		return !path.IsAbs(value) || belowAny(r.sockets, path.Clean(value))
	}
	for _, prefix := range []string{"unix:path=", "unix://", "unix:", "file://", ""} {
		rest, ok := strings.CutPrefix(value, prefix)
		if !ok {
			continue
		}
		if !path.IsAbs(rest) {
			return false
		}
		rest, _, _ = strings.Cut(rest, ",")
		real := realPath(rest)
		if real == "" {
			real = path.Clean(rest)
		}
		return belowAny(r.sockets, real) && !slices.ContainsFunc(r.show, func(v Visible) bool { return isBelow(v.Path, real) })
	}
	return false
}

// envValue looks a variable up; the last one of a name counts.
func envValue(env []string, name string) string {
	value := ""
	for _, entry := range env {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v
		}
	}
	return value
}
