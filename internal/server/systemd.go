package server

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"

	"github.com/switchboard-dev/switchboard/internal/server/access"
)

// firstActivated is the number of the first descriptor that a service manager hands over.
const firstActivated = 3

// Activated returns the listeners that a service manager has opened for this process, as sd_listen_fds(3) has it: none if the environment does not
// say so, or says it to another process. They must be TCP or Unix sockets; [Start] judges which addresses are well. getenv returns the value of a variable.
func Activated(getenv func(string) string) ([]net.Listener, error) {
	if getenv("LISTEN_PID") != strconv.Itoa(os.Getpid()) {
		return nil, nil
	}
	count, err := strconv.Atoi(getenv("LISTEN_FDS"))
	if err != nil || count < 1 || count > 16 {
		return nil, fmt.Errorf("LISTEN_FDS is %q; a service manager sets it to the number of sockets", getenv("LISTEN_FDS"))
	}
	files := make([]*os.File, count)
	for i := range files {
		files[i] = os.NewFile(uintptr(firstActivated+i), "LISTEN_FD_"+strconv.Itoa(firstActivated+i))
	}
	return inherit(files)
}

// inherit turns files into listeners, all of them or none.
func inherit(files []*os.File) (list []net.Listener, err error) {
	defer func() {
		for _, file := range files {
			_ = file.Close() // the listeners have their own copies
		}
		if err != nil {
			for _, l := range list {
				_ = l.Close()
			}
			list = nil
		}
	}()
	for _, file := range files {
		l, err := net.FileListener(file)
		if err != nil {
			return list, fmt.Errorf("taking over the socket %s from the service manager: %w", file.Name(), err)
		}
		list = append(list, l)
		if err := access.CheckListener(l, true); err != nil {
			return list, fmt.Errorf("taking over the socket %s from the service manager: %w", file.Name(), err)
		}
	}
	return list, nil
}

// tellManager tells a service manager how things stand, as sd_notify(3) has it. socket is the value of NOTIFY_SOCKET; if it is empty, there is
// none.
func tellManager(ctx context.Context, socket, state string) error {
	if socket == "" {
		return nil
	}
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "unixgram", socket) // a leading @ means the same to Go as to systemd
	if err != nil {
		return fmt.Errorf("telling the service manager: %w", err)
	}
	defer func() { _ = c.Close() }() // nothing is held back
	if _, err := c.Write([]byte(state)); err != nil {
		return fmt.Errorf("telling the service manager: %w", err)
	}
	return nil
}
