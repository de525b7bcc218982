package sandbox

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// firstFile is the number of the first descriptor that a process inherits
	// beside its standard ones.
	firstFile = 3
	// maxOrders bounds the orders of the last stage.
	maxOrders = 16 << 20
	// maxForward bounds the addresses that lead out, each of which is a socket in
	// one message.
	maxForward = 64
	// exitInner is the exit code of a last stage that failed.
	exitInner = 125
)

// orders are what the last stage has to do. An enforcer gives them by a file in
// memory, so that lists may be long.
type orders struct {
	// Socket says that the first inherited file is the socket of [Receive], Files
	// how many follow that are the process's own.
	Socket bool
	Files  int
	// Proxy has a listener opened for the proxy, Forward one for each address.
	Proxy   bool
	Forward []string `json:",omitempty"`
	// Secret has the proxy ask for a credential.
	Secret bool `json:",omitempty"`
	// Scope restricts signals and abstract sockets where the kernel can.
	Scope bool `json:",omitempty"`
	// Rules are Landlock's. Nil if something else holds paths back.
	Rules *rules `json:",omitempty"`

	given int // files of the command that was wrapped
}

// wrap returns the command that obeys orders and becomes c.
func (o *orders) wrap(p *Profile, c Command, self string) (Command, error) {
	switch {
	case len(c.Args) == 0:
		return Command{}, errors.New("there is no program to be started in the sandbox")
	case len(c.Files) == 0 && p.Network != NetworkAll:
		return Command{}, errors.New("a sandbox with a network of its own needs a socket to tell of it")
	case len(o.Forward) > maxForward:
		return Command{}, fmt.Errorf("the sandbox has %d addresses that lead out, more than %d", len(o.Forward), maxForward)
	}
	o.given, o.Socket, o.Files = len(c.Files), len(c.Files) > 0, max(0, len(c.Files)-1)
	data, err := json.Marshal(o)
	if err != nil {
		return Command{}, fmt.Errorf("encoding the orders of the sandbox: %w", err)
	}
	if len(data) > maxOrders {
		return Command{}, fmt.Errorf("the orders of the sandbox have %d bytes, more than %d", len(data), maxOrders)
	}
	file, err := memory("sandbox-orders", data)
	if err != nil {
		return Command{}, err
	}
	fd := strconv.Itoa(firstFile + len(c.Files))
	return Command{
		Args:  slices.Concat([]string{self, Verb, fd, "--"}, c.Args),
		Env:   environ(c.Env, p.UnsetEnv),
		Dir:   c.Dir,
		Files: append(slices.Clone(c.Files), file),
	}, nil
}

// memory returns a descriptor of a file in memory, to be read from its beginning.
func memory(name string, data []byte) (int, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return 0, fmt.Errorf("making a file in memory: %w", err)
	}
	for rest := data; err == nil && len(rest) > 0; {
		var n int
		n, err = unix.Write(fd, rest)
		rest = rest[max(n, 0):]
	}
	if err == nil {
		_, err = unix.Seek(fd, 0, io.SeekStart)
	}
	if err != nil {
		_ = unix.Close(fd) // it is of no use
		return 0, fmt.Errorf("writing a file in memory: %w", err)
	}
	return fd, nil
}

// Inner is the verb sandbox-exec: the last stage inside of the sandbox. It opens
// the listeners of the sandbox's network, gives them to the shim, applies what
// only a process itself can apply, and becomes the CLI. It returns only if that
// failed.
func Inner(args []string, stderr io.Writer) int {
	// What is applied to this thread counts for the program that it becomes.
	runtime.LockOSThread()
	err := inner(args)
	_, _ = fmt.Fprintln(stderr, "switchboard: starting in the sandbox:", err)
	return exitInner
}

func inner(args []string) error {
	if len(args) < 3 || args[1] != "--" {
		return errors.New("this is a part of Switchboard, and nothing to be called by hand")
	}
	fd, err := strconv.Atoi(args[0])
	if err != nil || fd < firstFile {
		return errors.New("there are no orders")
	}
	file := os.NewFile(uintptr(fd), "orders")
	data, err := io.ReadAll(io.LimitReader(file, maxOrders))
	_ = file.Close() // it was read
	if err != nil {
		return fmt.Errorf("reading the orders: %w", err)
	}
	var o orders
	if err := json.Unmarshal(data, &o); err != nil {
		return fmt.Errorf("decoding the orders: %w", err)
	}
	// Nothing that happens to be open is for the CLI.
	if err := unix.CloseRange(firstFile, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		if err := closeOnExec(); err != nil {
			return err
		}
	}
	err = o.obey(args[2:])
	if o.Socket {
		_ = send(firstFile, &report{Error: err.Error()}) // standard error has it, too
	}
	return err
}

// closeOnExec is for kernels that cannot do it with one call.
func closeOnExec() error {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("listing open files: %w", err)
	}
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd >= firstFile {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}

// obey carries out the orders and becomes the program.
func (o *orders) obey(args []string) error {
	env := os.Environ()
	r := &report{}
	var sockets []int
	if o.Proxy {
		// The others first: they have no choice of a port.
		for _, address := range o.Forward {
			at, err := netip.ParseAddrPort(address)
			if err != nil || !at.Addr().IsLoopback() {
				return fmt.Errorf("%.100q is no address of this machine's own", address)
			}
			fd, _, err := listen(at)
			if err != nil {
				return fmt.Errorf("listening at %s: %w", at, err)
			}
			sockets, r.Forward = append(sockets, fd), append(r.Forward, address)
		}
		fd, port, err := listen(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0))
		if err != nil {
			return fmt.Errorf("listening for the proxy: %w", err)
		}
		sockets, r.Proxy = append(sockets, fd), true
		if o.Secret {
			r.Credential = rand.Text()
		}
		env = proxyEnv(env, port, r.Credential)
		if o.Rules != nil {
			o.Rules.Ports = append(o.Rules.Ports, port)
		}
	}
	program, err := find(args[0], env)
	if err != nil {
		return err
	}
	if err := o.restrict(); err != nil {
		return err
	}
	if o.Socket {
		if err := send(firstFile, r, sockets...); err != nil {
			return fmt.Errorf("telling of the sandbox: %w", err)
		}
		o.Socket = false // nothing more is said
	}
	// What was 4, 5, … becomes 3, 4, …: the socket is not the process's own.
	for i := range o.Files {
		if err := unix.Dup3(firstFile+1+i, firstFile+i, 0); err != nil {
			return fmt.Errorf("passing on a file: %w", err)
		}
	}
	return fmt.Errorf("starting %s: %w", program, unix.Exec(program, args, env))
}

// restrict takes from this process, and so from all that follow, what can only be
// taken from oneself.
func (o *orders) restrict() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up new privileges: %w", err)
	}
	if o.Rules != nil {
		if err := dropCapabilities(); err != nil {
			return err
		}
		return o.Rules.apply()
	}
	if o.Scope {
		return restrictScopes()
	}
	return nil
}

// dropCapabilities gives up root's privileges, also for programs that are started
// later.
func dropCapabilities() error {
	for c := range uintptr(64) {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil {
			break // the kernel has no more, or there are none to give up
		}
	}
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) // old kernels have none
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("giving up privileges: %w", err)
	}
	return nil
}

// listen opens a socket at an address, and returns its port.
func listen(at netip.AddrPort) (fd int, port uint16, err error) {
	family := unix.AF_INET
	var address unix.Sockaddr
	if ip := at.Addr(); ip.Is4() {
		address = &unix.SockaddrInet4{Port: int(at.Port()), Addr: ip.As4()}
	} else {
		family, address = unix.AF_INET6, &unix.SockaddrInet6{Port: int(at.Port()), Addr: ip.As16()}
	}
	fd, err = unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, 0, err
	}
	if err = unix.Bind(fd, address); err == nil {
		err = unix.Listen(fd, unix.SOMAXCONN)
	}
	if err == nil {
		address, err = unix.Getsockname(fd)
	}
	if err != nil {
		_ = unix.Close(fd) // it is of no use
		return 0, 0, err
	}
	switch a := address.(type) {
	case *unix.SockaddrInet4:
		return fd, uint16(a.Port), nil
	case *unix.SockaddrInet6:
		return fd, uint16(a.Port), nil
	}
	return 0, 0, errors.ErrUnsupported
}

// find returns the path of a program.
func find(name string, env []string) (string, error) {
	if strings.ContainsRune(name, '/') {
		return name, nil
	}
	for _, v := range env {
		list, found := strings.CutPrefix(v, "PATH=")
		if !found {
			continue
		}
		for _, dir := range filepath.SplitList(list) {
			path := filepath.Join(dir, name)
			if filepath.IsAbs(path) && unix.Access(path, unix.X_OK) == nil {
				return path, nil
			}
		}
	}
	return "", fmt.Errorf("%q: %w", name, exec.ErrNotFound)
}
