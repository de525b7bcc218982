package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
)

// automatic returns the enforcers that are tried, the best one first.
func automatic(mode Mode) []string {
	if mode == Strict {
		return []string{Bubblewrap, Landlock}
	}
	return []string{Bubblewrap}
}

// newEnforcer returns an enforcer by its name, nil if there is none.
func newEnforcer(name, program, self string) (Enforcer, error) {
	switch name {
	case Bubblewrap:
		b, err := newBubblewrap(program, self)
		if err != nil {
			return nil, err
		}
		return b, nil
	case Landlock:
		l, err := newLandlock(self)
		if err != nil {
			return nil, err
		}
		return l, nil
	}
	return nil, nil
}

// try starts a program that does nothing in a sandbox.
func try(ctx context.Context, e Enforcer, p *Profile, before ...string) error {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	nothing, err := exec.LookPath("true")
	if err != nil {
		return fmt.Errorf("there is nothing to try it with: %w", err)
	}
	ours, theirs, err := Pair()
	if err != nil {
		return err
	}
	defer func() { _ = ours.Close() }() // nothing was written
	fd, err := syscall.Dup(int(theirs.Fd()))
	_ = theirs.Close() // there is another one
	if err != nil {
		return err
	}
	c, err := e.Wrap(p, Command{Args: append(slices.Clone(before), nothing), Env: []string{"PATH=" + os.Getenv("PATH")}, Dir: "/", Files: []int{fd}})
	if err != nil {
		closeFiles([]int{fd})
		return err
	}
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	cmd.Env, cmd.Dir = c.Env, c.Dir
	var files []*os.File
	for _, fd := range c.Files {
		files = append(files, os.NewFile(uintptr(fd), "sandbox"))
	}
	cmd.ExtraFiles = files
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err = cmd.Start()
	for _, f := range files {
		_ = f.Close() // the process has its own
	}
	if err != nil {
		return err
	}
	err = cmd.Wait()
	if err != nil {
		said := strings.TrimSpace(stderr.String())
		return errors.New(strings.TrimSpace(err.Error() + ": " + said[:min(len(said), 400)]))
	}
	listeners, err := Receive(ours)
	if err != nil {
		return err
	}
	listeners.Close()
	return nil
}

// closeFiles closes descriptors that are given to no process.
func closeFiles(files []int) {
	for _, fd := range files {
		_ = syscall.Close(fd) // nothing is to be kept
	}
}
