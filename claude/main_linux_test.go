package claude

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
)

// systemFakes are fakes for tests of this system alone.
func systemFakes() map[string]func(string) int {
	ownSession := func(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
	return map[string]func(string) int{
		// Lives until it is ended by SIGTERM.
		"sleeper": func(string) int { return block() },
		// Lives until it is killed.
		"deathless": func(string) int {
			signal.Ignore(syscall.SIGTERM)
			fmt.Println("ready")
			return block()
		},
		// Starts the fake of its arg in a session of its own, as the Bash tool
		// of the CLI does, and tells its number.
		"parent": func(arg string) int {
			fmt.Println(spawn(arg, "", os.Environ(), ownSession).Process.Pid)
			return echo()
		},
		// The same, but with an empty environment: only its descent shows
		// whose child it is.
		"parent-clean": func(arg string) int {
			fmt.Println(spawn(arg, "", []string{"GOCOVERDIR=" + os.TempDir()}, ownSession).Process.Pid)
			return echo()
		},
		// The same, and the child holds standard output and error.
		"parent-leaky": func(arg string) int {
			child := spawn(arg, "", os.Environ(), func(cmd *exec.Cmd) {
				ownSession(cmd)
				cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
			})
			fmt.Println(child.Process.Pid)
			return 0
		},
		// Has a child, and sweeps the marker of its arg, which it carries.
		"sweeper": func(arg string) int {
			child := spawn("sleeper", "", os.Environ(), ownSession)
			go func() { _ = child.Wait() }()
			fmt.Println(Sweep(context.Background(), arg))
			return 0
		},
		// A program that owns a CLI, which is the fake of its arg. It tells
		// the number of the CLI, the marker and what the CLI says first.
		"controller": func(arg string) int {
			fake, fakeArg, _ := strings.Cut(arg, " ")
			path, _ := os.Executable()
			cli := &CLI{Path: path, Args: []string{path}}
			p, err := cli.Start(context.Background(), &Options{Env: fakeEnviron(fake, fakeArg)})
			if err != nil {
				fmt.Println(err)
				return 1
			}
			line, err := p.Read(context.Background())
			if err != nil {
				fmt.Println(err)
				return 1
			}
			fmt.Println(p.PID(), p.Marker(), string(line))
			return block()
		},
	}
}

// spawn starts another fake from within a fake.
func spawn(fake, arg string, env []string, change func(*exec.Cmd)) *exec.Cmd {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(path)
	cmd.Env = append(env, fakeEnv+"="+fake, fakeArgEnv+"="+arg)
	if change != nil {
		change(cmd)
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	return cmd
}
