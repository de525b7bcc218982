package launch

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// processStat returns when a process was started, in the system's own form, and
// whether it has ended and only waits for its parent. Where that cannot be read,
// because this process has no descriptor left for it, start is empty.
func processStat(pid int) (start string, ended, ok bool) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return "", false, reachable(pid)
	}
	// The name comes second, in parentheses, and may contain anything.
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	const state, begun = 0, 19 // fields 3 and 22 in proc(5)
	if len(fields) <= begun {
		return "", false, false
	}
	return string(fields[begun]), bytes.ContainsAny(fields[state], "ZXx"), true
}
