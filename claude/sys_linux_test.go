package claude

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// A CLI can write pipeBytes before it has to wait, unless the system does not let an
// ordinary user have that much.
func TestGrowPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	size := func() int {
		t.Helper()
		n, err := unix.FcntlInt(w.Fd(), unix.F_GETPIPE_SZ, 0)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := size()
	growPipe(r)
	if after := size(); after < pipeBytes {
		if _, refused := unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, pipeBytes); refused != nil && after == before {
			t.Logf("the system refuses: %v", refused)
			return
		}
		t.Errorf("the pipe holds %d bytes, want %d; before it were %d", after, pipeBytes, before)
	}
}
