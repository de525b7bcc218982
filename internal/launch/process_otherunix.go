//go:build unix && !linux

package launch

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// processStat returns when a process was started, as ps says it, and whether it
// has ended and only waits for its parent. Where ps cannot be asked, or takes too
// long, start is empty.
func processStat(pid int) (start string, ended, ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/ps", "-o", "stat=", "-o", "lstart=", "-p", strconv.Itoa(pid))
	// The form must depend neither on the caller's locale nor on where the machine is by now.
	cmd.Env = []string{"LC_ALL=C", "TZ=UTC"}
	out, err := cmd.Output()
	fields := strings.Fields(string(out))
	if err != nil || len(fields) < 2 {
		return "", false, reachable(pid)
	}
	return strings.Join(fields[1:], " "), strings.HasPrefix(fields[0], "Z"), true
}
