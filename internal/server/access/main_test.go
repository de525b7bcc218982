package access

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// These have the test binary act as a process that uses the socket: how many
// generations of it there are to be, and where the socket is.
const (
	childEnv  = "ACCESS_TEST_CHILD"
	socketEnv = "ACCESS_TEST_SOCKET"
)

func TestMain(m *testing.M) {
	if generations := os.Getenv(childEnv); generations != "" {
		os.Exit(child(generations))
	}
	goleak.VerifyTestMain(m)
}

// child asks the server who it is and prints the answer. A parent starts a child
// without the marker instead, and does not pass its environment on.
func child(generations string) int {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if generations != "1" {
		cmd := exec.CommandContext(ctx, os.Args[0])
		cmd.Env = []string{childEnv + "=1", socketEnv + "=" + os.Getenv(socketEnv), "GORACE=atexit_sleep_ms=0"}
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", os.Getenv(socketEnv))
	}}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://switchboard/who", nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	res, err := client.Do(req)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = res.Body.Close() }()
	if _, err := io.Copy(os.Stdout, res.Body); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
