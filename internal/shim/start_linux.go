package shim

import (
	"bytes"
	"os"
	"strconv"
)

// startTime returns when a process was started, in the system's own form: field
// 22 of its stat file. It is empty if that cannot be seen.
func startTime(pid int) string {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	// The name comes second, in parentheses, and may contain anything.
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	const start = 19 // the first one here is field 3
	if len(fields) <= start {
		return ""
	}
	return string(fields[start])
}
