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
// has ended and only waits for its parent.
func processStat(pid int) (start string, ended, ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/ps", "-o", "stat=", "-o", "lstart=", "-p", strconv.Itoa(pid))
	cmd.Env = []string{"LC_ALL=C"} // the form must not depend on who asks
	out, err := cmd.Output()
	if err != nil {
		return "", false, false
	}
	fields := strings.Fields(string(out))
	if len(fields) < 2 {
		return "", false, false
	}
	return strings.Join(fields[1:], " "), strings.HasPrefix(fields[0], "Z"), true
}
