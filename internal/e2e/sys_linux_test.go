package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// carriers returns the processes that have one of some variables, given as
// NAME=value, in their environment. The tests look for themselves, not through
// the packages under test. Zombies carry nothing any more.
func carriers(variables ...string) []int {
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return nil
	}
	var found []int
	for _, file := range files {
		environ, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended, or is not ours
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil || pid == os.Getpid() {
			continue
		}
		if slices.ContainsFunc(bytes.Split(environ, []byte{0}), func(v []byte) bool { return slices.Contains(variables, string(v)) }) {
			found = append(found, pid)
		}
	}
	return found
}

// commandLine returns the arguments of a process, none if it has ended.
func commandLine(pid int) []string {
	command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimRight(string(command), "\x00"), "\x00")
}

// describe says what processes are.
func describe(pids []int) string {
	var text strings.Builder
	for _, pid := range pids {
		if command := commandLine(pid); command != nil {
			fmt.Fprintf(&text, "  %d: %s\n", pid, strings.Join(command, " "))
		}
	}
	return text.String()
}

// terminate ends a process at once.
func terminate(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) } // it may have ended by itself

// residentBytes returns how much memory a process has.
func residentBytes(pid int) (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if rest, found := strings.CutPrefix(line, "VmRSS:"); found {
			n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return n << 10, err
		}
	}
	return 0, fmt.Errorf("process %d does not tell its memory", pid)
}
