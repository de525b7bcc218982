package nodeagent

import (
	"bufio"
	"bytes"
	"os"
	"strconv"
	"strings"
)

// machineLoad returns the load of the last minute, and how much memory there is and is
// available. What cannot be read is zero.
func machineLoad() (load float64, total, free int64) {
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		first, _, _ := strings.Cut(string(text), " ")
		load, _ = strconv.ParseFloat(first, 64) // zero if it is none
	}
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return load, 0, 0
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 {
			continue
		}
		kib, _ := strconv.ParseInt(fields[1], 10, 64) // zero if it is none
		switch fields[0] {
		case "MemTotal:":
			total = kib << 10
		case "MemAvailable:":
			free = kib << 10
		}
	}
	return load, total, free
}
