package claude

import (
	"os"
	"syscall"
	"testing"
)

// A pipe holds what it says without anybody reading it, unless the system does not let
// an ordinary user have that much.
func TestWiden(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	size := func() uintptr {
		const getPipeSize = 1032 // F_GETPIPE_SZ
		n, _, errno := syscall.Syscall(syscall.SYS_FCNTL, r.Fd(), getPipeSize, 0)
		if errno != 0 {
			t.Fatal(errno)
		}
		return n
	}
	before := size()
	widen(r)
	after := size()
	_, _, refused := syscall.Syscall(syscall.SYS_FCNTL, r.Fd(), 1031, pipeBytes)
	if refused != 0 && after == before {
		t.Logf("the system refuses: %v", refused)
		return
	}
	if after < pipeBytes {
		t.Errorf("the pipe holds %d bytes, want %d; before it were %d", after, pipeBytes, before)
	}
}
