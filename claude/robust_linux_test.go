package claude

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
)

// roughChild starts a process in a session of its own, as the CLI does with the
// commands that it runs, and returns its number.
func roughChild() string {
	child := spawn("sleeper", "", os.Environ(), func(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} })
	return strconv.Itoa(child.Process.Pid)
}

// childrenLeft returns the children of this process that are there, ended or not:
// one that was not waited for is a zombie.
func childrenLeft(t *testing.T) []int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var left []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if info, ok := readStat(pid); ok && info.parent == os.Getpid() {
			left = append(left, pid)
		}
	}
	return left
}

// Processes of the CLI and its tools are left behind, and it is not even told which
// they are.
func TestComplaint04NoProcessLeftBehind(t *testing.T) {
	for _, kill := range []bool{false, true} {
		t.Run(fmt.Sprintf("killed %v", kill), func(t *testing.T) {
			s := roughSession(t, "2.1.325", nil)
			if c, err := s.Ask(soon(t), Prompt{Text: "@tool Read {\"file_path\":\"child\"}\n@say Started."}); err != nil || c.Answer != "Started." {
				t.Fatalf("%+v, %v", c, err)
			}
			results := toolResults(t, s)
			if len(results) != 1 {
				t.Fatalf("the tool says %q", results)
			}
			child, cli := identify(t, results[0]), identify(t, strconv.Itoa(s.PID()))
			if !runs(child) || !runs(cli) {
				t.Fatal("nothing is tested: they do not run")
			}
			if kill {
				if err := syscall.Kill(s.PID(), syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
				<-s.Done()
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if runs(child) || runs(cli) {
				t.Errorf("the tool's process runs: %v, the CLI: %v", runs(child), runs(cli))
			}
			if killed, err := Sweep(soon(t), s.process.Marker()); killed != 0 || err != nil {
				t.Errorf("the sweep found %d, %v", killed, err)
			}
		})
	}
}
