package claude

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// identify returns the process with a number.
func identify(t *testing.T, pid string) procID {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatalf("%q is not the number of a process", pid)
	}
	info, ok := readStat(n)
	if !ok {
		t.Fatalf("there is no process %d", n)
	}
	return info.procID
}

func runs(id procID) bool { return len(running([]procID{id})) == 1 }

func TestCloseEndsGrandchildren(t *testing.T) {
	tests := []struct{ parent, child string }{
		{"parent", "sleeper"},
		{"parent", "deathless"},
		{"parent-clean", "sleeper"},
		{"parent-clean", "deathless"},
	}
	for _, test := range tests {
		t.Run(test.parent+" of "+test.child, func(t *testing.T) {
			p := startFake(t, test.parent, test.child, nil)
			child := identify(t, readLine(t, p))
			if child.pid == p.PID() {
				t.Fatal("it has no child")
			}
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
			if runs(child) {
				t.Errorf("process %d was left behind", child.pid)
			}
		})
	}
}

func TestCloseEndsGrandchildrenOfTheDead(t *testing.T) {
	p := startFake(t, "parent", "sleeper", nil)
	child := identify(t, readLine(t, p))
	if err := p.process.Kill(); err != nil {
		t.Fatal(err)
	}
	var exit *ExitError
	if _, err := p.Read(soon(t)); !errors.As(err, &exit) || exit.Signal != "killed" || exit.Code != -1 {
		t.Fatalf("Read of a killed CLI = %v", err)
	}
	if !strings.Contains(exit.Error(), "was ended by a signal (killed)") {
		t.Errorf("the error says %q", exit)
	}
	if !runs(child) {
		t.Fatal("the child ended by itself: nothing is tested")
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if runs(child) {
		t.Errorf("process %d was left behind", child.pid)
	}
}

// A child that holds the CLI's output must not keep Read from its end.
func TestReadEndsThoughOutputIsHeld(t *testing.T) {
	p := startFake(t, "parent-leaky", "sleeper", nil)
	child := identify(t, readLine(t, p))
	if _, err := p.Read(soon(t)); !errors.Is(err, io.EOF) {
		t.Fatalf("Read = %v", err)
	}
	if !runs(child) {
		t.Fatal("the child ended by itself: nothing is tested")
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if runs(child) {
		t.Errorf("process %d was left behind", child.pid)
	}
}

// startController starts a program that owns a CLI, and returns it with the
// CLI, its marker and the CLI's first line.
func startController(t *testing.T, fake string) (program *exec.Cmd, cli procID, marker, line string) {
	t.Helper()
	cmd := exec.Command(self(t))
	cmd.Env = fakeEnviron("controller", fake)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	text, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.SplitN(strings.TrimSpace(text), " ", 3)
	if len(fields) != 3 {
		t.Fatalf("the program says %q", text)
	}
	t.Cleanup(func() {
		if _, err := Sweep(context.Background(), fields[1]); err != nil {
			t.Error(err)
		}
	})
	return cmd, identify(t, fields[0]), fields[1], fields[2]
}

func TestCLIEndsWithTheProgram(t *testing.T) {
	// It ignores the end of its input, so that only the signal can end it.
	program, cli, _, _ := startController(t, "stubborn")
	if err := program.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the CLI ends after its program was killed", func() bool { return !runs(cli) })
}

func TestSweepAfterTheProgramWasKilled(t *testing.T) {
	program, cli, marker, line := startController(t, "parent deathless")
	tool := identify(t, line)
	if err := program.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := program.Wait(); err == nil {
		t.Fatal("the program was not killed")
	}
	eventually(t, "the CLI ends after its program was killed", func() bool { return !runs(cli) })
	if !runs(tool) {
		t.Fatal("the tool ended by itself: nothing is tested")
	}
	killed, err := Sweep(soon(t), marker)
	if err != nil || killed != 1 {
		t.Errorf("Sweep = %d, %v", killed, err)
	}
	if runs(tool) {
		t.Error("the tool was left behind")
	}
	if killed, err = Sweep(soon(t), marker); err != nil || killed != 0 {
		t.Errorf("a second Sweep = %d, %v", killed, err)
	}
}

func TestSweepSparesOthers(t *testing.T) {
	p := startFake(t, "parent", "sleeper", &Options{Marker: "marker-of-this-test"})
	child := identify(t, readLine(t, p))
	for _, marker := range []string{"marker-of-this-tes", "marker-of-this-test2", "another-marker"} {
		if killed, err := Sweep(soon(t), marker); err != nil || killed != 0 {
			t.Errorf("Sweep(%q) = %d, %v", marker, killed, err)
		}
	}
	for _, marker := range []string{"", "short", "with space in it", "with\x00nul-in-it"} {
		var option *OptionError
		if _, err := Sweep(soon(t), marker); !errors.As(err, &option) {
			t.Errorf("Sweep(%q) = %v", marker, err)
		}
	}
	if !runs(child) {
		t.Error("a process of another run was ended")
	}
	// One that has taken over the number of a process is another one.
	reborn := procID{child.pid, child.start + "0"}
	sendSignal(reborn, true)
	if !runs(child) || runs(reborn) {
		t.Error("a process was taken for another one")
	}
}

func TestSweepKillsAtOnceWhenTheContextEnds(t *testing.T) {
	cmd := spawn("deathless", "", append(fakeEnviron("", ""), MarkerEnv+"=marker-of-the-hasty"), func(cmd *exec.Cmd) {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	})
	id := identify(t, strconv.Itoa(cmd.Process.Pid))
	gone := make(chan error, 1)
	go func() { gone <- cmd.Wait() }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	begin := time.Now()
	if killed, err := Sweep(ctx, "marker-of-the-hasty"); err != nil || killed != 1 {
		t.Errorf("Sweep = %d, %v", killed, err)
	}
	if took := time.Since(begin); took >= sweepGrace {
		t.Errorf("it took %s", took)
	}
	<-gone
	if runs(id) {
		t.Error("the process was left behind")
	}
}

// The program that sweeps may itself carry the marker.
func TestSweepSparesItself(t *testing.T) {
	cmd := exec.Command(self(t))
	cmd.Env = append(fakeEnviron("sweeper", "marker-of-the-sweeper"), MarkerEnv+"=marker-of-the-sweeper")
	out, err := cmd.Output()
	if err != nil || string(out) != "1 <nil>\n" {
		t.Errorf("it says %q, %v", out, err)
	}
}

func TestTokenIsReadFromADescriptor(t *testing.T) {
	cli, env := fakeCLI(t, "tell-token", "", version(120))
	const inputGrace = 3 * time.Minute // longer than a busy machine needs for all the rest
	p, err := cli.Start(t.Context(), &Options{Env: env, SDKURL: "ws://127.0.0.1:1/x", SDKToken: "sb_token_secret", InputGrace: inputGrace, TermGrace: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if got := readLine(t, p); got != "3 <nil> sb_token_secret" {
		t.Errorf("it read %q", got)
	}
	if s := fmt.Sprint(p.Args(), p.command.Env); strings.Contains(s, "sb_token_secret") {
		t.Errorf("the token can be seen in %s", s)
	}
	if err := p.Write(soon(t), []byte("{}")); !errors.Is(err, ErrInputClosed) {
		t.Errorf("Write to a CLI that dials out = %v", err)
	}
	begin := time.Now()
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took >= inputGrace {
		t.Errorf("Close waited %s for a CLI that has no input", took)
	}
}

func TestParseStat(t *testing.T) {
	// A name may contain anything.
	const rest = " 10 20 20 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 123456 7 8"
	tests := []struct {
		data string
		want procInfo
		ok   bool
	}{
		{"7 (claude) S" + rest, procInfo{procID{7, "123456"}, 10}, true},
		{"7 (a) S 1) (b) R" + rest, procInfo{procID{7, "123456"}, 10}, true},
		{"7 (claude) Z" + rest, procInfo{}, false},
		{"7 (claude) S 10", procInfo{}, false},
		{"7 (claude) S x" + rest, procInfo{}, false},
		{"", procInfo{}, false},
	}
	for _, test := range tests {
		if got, ok := parseStat(7, []byte(test.data)); got != test.want || ok != test.ok {
			t.Errorf("parseStat(%q) = %+v, %v", test.data, got, ok)
		}
	}
}
