//go:build linux || darwin

package e2e

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"strings"
)

// roleThief is a process of an agent that tries the socket.
const roleThief = "thief"

// thiefEnv names the order of the thief, a file.
const thiefEnv = "E2E_THIEF"

// A thiefOrder is what a thief is to try, and where it says what came of it.
type thiefOrder struct {
	Socket, Token, Result string
	// Address is where the hub listens for TCP, for the tries that are made there.
	Address string
	Tries   []thiefTry
}

// A thiefTry is a request, and the status that it was answered with.
type thiefTry struct {
	Name, Method, Path, Body string
	TCP                      bool
	Want, Got                int
}

// runThief waits for its order and carries it out.
func runThief() error {
	path := os.Getenv(thiefEnv)
	if err := eventually(2*patience, exists(path)); err != nil {
		return err
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var order thiefOrder
	if err := json.Unmarshal(raw, &order); err != nil {
		return err
	}
	byTCP := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	bySocket := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", order.Socket)
	}}}
	for i := range order.Tries {
		try := &order.Tries[i]
		c, host := bySocket, "switchboard"
		if try.TCP {
			c, host = byTCP, order.Address
		}
		request, err := http.NewRequest(try.Method, "http://"+host+try.Path, strings.NewReader(try.Body)) //nolint:noctx // the client has a timeout
		if err != nil {
			return err
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Authorization", "Bearer "+order.Token) // which it has found
		response, err := c.Do(request)
		if err != nil {
			return err
		}
		_ = response.Body.Close() // its status is enough
		try.Got = response.StatusCode
	}
	if raw, err = json.Marshal(order); err != nil {
		return err
	}
	if err := os.WriteFile(order.Result+".new", raw, 0o600); err != nil {
		return err
	}
	return os.Rename(order.Result+".new", order.Result)
}
