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
	addrEnv   = "ACCESS_TEST_ADDR"  // instead of the socket
	tokenEnv  = "ACCESS_TEST_TOKEN" // the token to show there
	postEnv   = "ACCESS_TEST_POST"  // do what needs the right admin
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
		cmd.Env = []string{childEnv + "=1", "GORACE=atexit_sleep_ms=0"}
		for _, name := range []string{socketEnv, addrEnv, tokenEnv, postEnv} {
			cmd.Env = append(cmd.Env, name+"="+os.Getenv(name))
		}
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		if addr := os.Getenv(addrEnv); addr != "" {
			return d.DialContext(ctx, "tcp", addr)
		}
		return d.DialContext(ctx, "unix", os.Getenv(socketEnv))
	}}}
	method, target := http.MethodGet, "http://switchboard/who"
	if addr := os.Getenv(addrEnv); addr != "" {
		target = "http://" + addr + "/who"
		if os.Getenv(postEnv) != "" {
			method, target = http.MethodPost, "http://"+addr+"/things/1"
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, target, nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if token := os.Getenv(tokenEnv); token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := client.Do(req)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = res.Body.Close() }()
	if os.Getenv(postEnv) != "" {
		fmt.Print(res.StatusCode, " ")
	}
	if _, err := io.Copy(os.Stdout, res.Body); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
