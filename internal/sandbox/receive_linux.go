package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// maxReport bounds what the last stage says: its addresses and an error.
	maxReport = 16 << 10
	// receiveTime bounds the wait for it. Bubblewrap takes milliseconds, on a busy
	// machine with many paths seconds.
	receiveTime = 30 * time.Second
)

// A report is what the last stage says, with the sockets of Forward and then that
// of the proxy.
type report struct {
	Forward    []string `json:",omitempty"`
	Proxy      bool     `json:",omitempty"`
	Credential string   `json:",omitempty"`
	Error      string   `json:",omitempty"`
}

// Pair returns the two ends of a connection: ours is for [Receive], theirs the
// first file of a [Command]. Both are closed by the caller, theirs as soon as the
// process has it.
func Pair() (ours, theirs *os.File, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("making a socket for the sandbox: %w", err)
	}
	return os.NewFile(uintptr(pair[0]), "sandbox"), os.NewFile(uintptr(pair[1]), "sandbox"), nil
}

// send says what was done, with sockets, and which process says it: the kernel
// translates that for a receiver that counts processes differently.
func send(socket int, r *report, sockets ...int) error {
	r.Error = r.Error[:min(len(r.Error), maxReport/4)]
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if len(data) > maxReport {
		return errors.New("there is too much to say")
	}
	control := unix.UnixCredentials(&unix.Ucred{Pid: int32(os.Getpid()), Uid: uint32(os.Getuid()), Gid: uint32(os.Getgid())})
	if len(sockets) > 0 {
		control = append(control, unix.UnixRights(sockets...)...)
	}
	return unix.Sendmsg(socket, data, control, nil, 0)
}

// Receive takes the listeners that [Inner] sends over a [Pair]. It blocks until
// they are there, the process has ended, or 30 s have passed. The caller closes
// the socket.
func Receive(socket *os.File) (*Listeners, error) {
	conn, err := net.FileConn(socket)
	if err != nil {
		return nil, fmt.Errorf("reading from the sandbox: %w", err)
	}
	defer func() { _ = conn.Close() }() // a copy
	c, ok := conn.(*net.UnixConn)
	if !ok {
		return nil, errors.New("reading from the sandbox: this is no Unix socket")
	}
	raw, err := c.SyscallConn()
	if err == nil {
		var failed error
		err = raw.Control(func(fd uintptr) { failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_PASSCRED, 1) })
		err = errors.Join(err, failed)
	}
	if err == nil {
		err = c.SetReadDeadline(time.Now().Add(receiveTime))
	}
	if err != nil {
		return nil, fmt.Errorf("reading from the sandbox: %w", err)
	}
	data := make([]byte, maxReport)
	control := make([]byte, unix.CmsgSpace(4*(maxForward+1))+unix.CmsgSpace(unix.SizeofUcred))
	n, cn, flags, _, err := c.ReadMsgUnix(data, control)
	files, pid := opened(control[:max(cn, 0)])
	l, err := received(data[:max(n, 0)], flags, files, pid, err)
	for _, f := range files {
		_ = f.Close() // the listeners have copies
	}
	return l, err
}

// opened returns the files of a message, and the process that sent it.
func opened(control []byte) (files []*os.File, pid int) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return nil, 0
	}
	for i := range messages {
		if cred, err := unix.ParseUnixCredentials(&messages[i]); err == nil {
			pid = int(cred.Pid)
		}
		fds, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			continue
		}
		for _, fd := range fds {
			unix.CloseOnExec(fd)
			files = append(files, os.NewFile(uintptr(fd), "listener"))
		}
	}
	return files, pid
}

// received makes listeners of a message.
func received(data []byte, flags int, files []*os.File, pid int, err error) (*Listeners, error) {
	var r report
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading from the sandbox: %w", err)
	case len(data) == 0:
		return nil, errors.New("the sandbox was not made")
	case flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0:
		return nil, errors.New("reading from the sandbox: the message is too long")
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("reading from the sandbox: %w", err)
	}
	want := len(r.Forward)
	if r.Proxy {
		want++
	}
	switch {
	case r.Error != "":
		return nil, errors.New("in the sandbox: " + r.Error)
	case pid <= 0:
		return nil, errors.New("reading from the sandbox: it is not known which process said it")
	case len(files) != want:
		return nil, fmt.Errorf("reading from the sandbox: %d sockets came instead of %d", len(files), want)
	}
	l := &Listeners{Credential: r.Credential, Forward: make(map[string]net.Listener)}
	for i, f := range slices.Clone(files) {
		listener, err := net.FileListener(f)
		if err != nil {
			l.Close()
			return nil, fmt.Errorf("taking a socket of the sandbox: %w", err)
		}
		if i < len(r.Forward) {
			l.Forward[r.Forward[i]] = listener
		} else {
			l.Proxy = listener
		}
	}
	if l.Process, err = os.FindProcess(pid); err != nil {
		l.Close()
		return nil, fmt.Errorf("finding the process in the sandbox: %w", err)
	}
	return l, nil
}
