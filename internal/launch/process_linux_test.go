package launch

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// TestAliveWithoutDescriptors asks after processes when this one can open nothing any more, not even what tells of them: one that lives
// must not be taken for dead, or its agent would be ended.
func TestAliveWithoutDescriptors(t *testing.T) {
	l := &Launcher{}
	start, _, ok := processStat(os.Getpid())
	if !ok || start == "" {
		t.Fatal("this very process is not found")
	}
	dead := exec.CommandContext(t.Context(), "true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	few := before
	few.Cur = 64
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	var open []*os.File
	defer func() {
		for _, file := range open {
			_ = file.Close() // nothing was written
		}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
			t.Error(err)
		}
	}()
	for {
		file, err := os.Open("/dev/null")
		if errors.Is(err, syscall.EMFILE) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, file)
	}
	if !l.Alive(os.Getpid(), start) {
		t.Error("this process is taken for dead")
	}
	if l.Alive(dead.Process.Pid, "1") {
		t.Error("a dead process is taken for alive")
	}
}
