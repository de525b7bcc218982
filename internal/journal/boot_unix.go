//go:build unix && !darwin

package journal

import (
	"os"
	"strings"
)

// bootID names the present start of the machine, "" if the system does not tell:
// only Linux has this file.
func bootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}
