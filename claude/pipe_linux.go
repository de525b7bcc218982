package claude

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// An outPipe is our end of the pipe on which a CLI writes.
//
// What Go's poller knows wakes it at every single write, also while the lines before
// are being worked on and nobody waits, which in a flood takes more time than all
// else. So it does not know the pipe, but an epoll of the pipe's own, the bell, that
// rings once each time somebody begins to wait.
type outPipe struct {
	// Static after construction.
	pipe *os.File // does not block and is not polled
	bell *os.File
	raw  syscall.RawConn // of pipe
	wait syscall.RawConn // of bell

	// For the calls below, which are made once and not for each read. Owned by the
	// reader.
	readCall func(fd uintptr) bool
	waitCall func(fd uintptr) bool
	b        []byte
	n        int
	err      error
	known    bool // the bell knows the pipe
	armed    bool // it will ring
	fd       int  // of pipe
	rings    [1]syscall.EpollEvent
}

// newOutPipe makes a pipe. theirs is the CLI's end.
func newOutPipe() (theirs *os.File, ours *outPipe, err error) {
	var ends [2]int
	if err := syscall.Pipe2(ends[:], syscall.O_CLOEXEC); err != nil {
		return nil, nil, os.NewSyscallError("pipe2", err)
	}
	// What blocks is not polled.
	r, w := os.NewFile(uintptr(ends[0]), "|0"), os.NewFile(uintptr(ends[1]), "|1")
	p := &outPipe{pipe: r, fd: ends[0]}
	if err := p.init(); err != nil {
		return nil, nil, errors.Join(err, w.Close(), p.Close())
	}
	return w, p, nil
}

func (p *outPipe) init() error {
	if err := syscall.SetNonblock(p.fd, true); err != nil {
		return os.NewSyscallError("setnonblock", err)
	}
	bell, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	// What does not block is polled.
	err = syscall.SetNonblock(bell, true)
	p.bell = os.NewFile(uintptr(bell), "bell")
	if err != nil {
		return os.NewSyscallError("setnonblock", err)
	}
	if p.raw, err = p.pipe.SyscallConn(); err != nil {
		return err
	}
	if p.wait, err = p.bell.SyscallConn(); err != nil {
		return err
	}
	p.readCall = func(fd uintptr) bool {
		for {
			if p.n, p.err = syscall.Read(int(fd), p.b); !errors.Is(p.err, syscall.EINTR) {
				return true // also if there was nothing
			}
		}
	}
	p.waitCall = func(fd uintptr) bool {
		if !p.armed {
			p.arm(int(fd))
		}
		for p.err == nil {
			if p.n, p.err = syscall.EpollWait(int(fd), p.rings[:], 0); errors.Is(p.err, syscall.EINTR) {
				p.err = nil
				continue
			}
			break
		}
		return p.n > 0 || p.err != nil
	}
	return nil
}

// arm has the bell ring as soon as there is something to read, also if there is
// already.
func (p *outPipe) arm(bell int) {
	op := syscall.EPOLL_CTL_MOD
	if !p.known {
		op = syscall.EPOLL_CTL_ADD
	}
	event := syscall.EpollEvent{Events: syscall.EPOLLIN | syscall.EPOLLONESHOT, Fd: int32(p.fd)}
	p.err = syscall.EpollCtl(bell, op, p.fd, &event)
	p.known, p.armed = true, true
}

// Read waits until there is something to read, or the deadline.
func (p *outPipe) Read(b []byte) (int, error) {
	for {
		n, err := p.look(b)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		p.n, p.err, p.armed = 0, nil, false
		switch err := p.wait.Read(p.waitCall); {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return 0, err
		case err != nil:
			return 0, os.ErrClosed
		case p.err != nil:
			return 0, fmt.Errorf("waiting for output: %w", p.err)
		}
	}
}

// look is Read without waiting: it fails with os.ErrDeadlineExceeded if there is
// nothing.
func (p *outPipe) look(b []byte) (int, error) {
	p.b = b
	err := p.raw.Read(p.readCall)
	p.b = nil
	switch {
	case err != nil:
		return 0, os.ErrClosed
	case errors.Is(p.err, syscall.EAGAIN):
		return 0, os.ErrDeadlineExceeded
	case p.err != nil:
		return 0, os.NewSyscallError("read", p.err)
	case p.n == 0:
		return 0, io.EOF
	}
	return p.n, nil
}

// SetReadDeadline ends the waiting of Read at a time.
func (p *outPipe) SetReadDeadline(t time.Time) error { return p.bell.SetReadDeadline(t) }

// Close may be called while somebody reads, who gets os.ErrClosed.
func (p *outPipe) Close() error {
	err := p.pipe.Close()
	if p.bell != nil {
		err = errors.Join(err, p.bell.Close())
	}
	return err
}

// setSize has the pipe hold so many bytes. If the system does not allow it, it stays
// as it is.
func (p *outPipe) setSize(bytes int) {
	const setPipeSize = 1031             // F_SETPIPE_SZ
	_ = p.raw.Control(func(fd uintptr) { // nothing depends on it
		_, _, _ = syscall.Syscall(syscall.SYS_FCNTL, fd, setPipeSize, uintptr(bytes))
	})
}
