package shim

import (
	"context"
	"log/slog"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// An adopter does nothing here: only on Linux can a process be made the parent
// of orphans.
type adopter struct{}

func adopt(*slog.Logger) *adopter { return &adopter{} }

func (*adopter) started(int) {}

func (*adopter) stop() {}

// programPages returns none: only Linux says which pages of a program a process has.
func programPages() []pages { return nil }

func dropPages([]pages) {}

// peerUID returns the user of the process at the other end of a Unix socket.
func peerUID(fd int) (int, error) {
	cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}

// startTime returns when a process was started, as ps tells it. It is empty if
// that cannot be seen.
func startTime(pid int) string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/ps", "-o", "lstart=", "-p", strconv.Itoa(pid))
	// The form must depend neither on the caller's locale nor on where the machine is by then:
	// a hub takes a shim for dead whose start it sees otherwise.
	cmd.Env = []string{"LC_ALL=C", "TZ=UTC"}
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.Join(strings.Fields(string(out)), " ")
}

// attributes are those of a wrapped CLI. When this process is killed, the CLI
// finds its input closed.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
